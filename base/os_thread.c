#define _GNU_SOURCE  // pthread_setname_np, MADV_WIPEONFORK
#include "base/os_thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_private.h"

struct OsThread {
    pthread_t thread;
    void (*run)(void *argument);
    void *argument;
    char name[16];
};

static void *thread_main(void *given) {
    OsThread *t = given;
    pthread_setname_np(pthread_self(), t->name);
    t->run(t->argument);
    return NULL;
}

OsThread *os_thread_start(const char *name, void (*run)(void *argument), void *argument) {
    OsThread *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->run = run;
    t->argument = argument;
    snprintf(t->name, sizeof t->name, "%s", name);
    OsQuiet quiet;
    os_quiet_begin(&quiet);
    int failed = pthread_create(&t->thread, NULL, thread_main, t);
    os_quiet_end(&quiet);
    if (!failed) return t;
    free(t);
    return NULL;
}

void os_thread_join(OsThread *thread) {
    CHECK(pthread_join(thread->thread, NULL) == 0, "a thread can't be joined");
    free(thread);
}

void os_thread_forget(OsThread *thread) { free(thread); }

// ---- Parking: Linux futexes, private to the process ----

static void futex(const _Atomic uint32_t *word, int op, uint32_t value) {
    // Neither call fails for a reason that the caller could do anything about.
    (void)syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void os_park(const _Atomic uint32_t *word, uint32_t seen) { futex(word, FUTEX_WAIT, seen); }

void os_unpark(const _Atomic uint32_t *word, uint32_t count) {
    futex(word, FUTEX_WAKE, count > INT_MAX ? INT_MAX : count);
}

void os_spin_hint(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

// ---- Forks: a page that the kernel wipes in the child; the process id where it can't ----

enum { FORK_NEW, FORK_MENDING, FORK_KNOWN };
enum { MARK_PAGE = 4096 };

struct OsForkMark {
    void *page;
    _Atomic uint32_t *state;  // in the page
    bool wiped;               // the kernel wipes the page
    _Atomic pid_t process;
};

OsForkMark *os_fork_mark_create(void) {
    OsForkMark *mark = calloc(1, sizeof *mark);
    if (!mark) return NULL;
    void *page = mmap(NULL, MARK_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        free(mark);
        return NULL;
    }
    mark->page = page;
    mark->state = page;
    mark->wiped = madvise(page, MARK_PAGE, MADV_WIPEONFORK) == 0;
    atomic_store(mark->state, FORK_KNOWN);
    atomic_store(&mark->process, getpid());
    return mark;
}

void os_fork_mark_destroy(OsForkMark *mark) {
    if (!mark) return;
    munmap(mark->page, MARK_PAGE);
    free(mark);
}

static void wipe_by_process(OsForkMark *mark) {
    pid_t known = atomic_load(&mark->process), now = getpid();
    // One of the child's threads is the first to see it.
    if (known != now && atomic_compare_exchange_strong(&mark->process, &known, now))
        atomic_store(mark->state, FORK_NEW);
}

bool os_fork_happened(OsForkMark *mark) {
    if (!mark->wiped) wipe_by_process(mark);
    for (;;) {
        uint32_t state = atomic_load_explicit(mark->state, memory_order_acquire);
        if (state == FORK_KNOWN) return false;
        if (state == FORK_NEW && atomic_compare_exchange_strong(mark->state, &state, FORK_MENDING))
            return true;
        sched_yield();
    }
}

void os_fork_mended(OsForkMark *mark) { atomic_store(mark->state, FORK_KNOWN); }
