#define _GNU_SOURCE  // pthread_setname_np
#include "base/os/os_thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/os/os_private.h"

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
    CHECK(pthread_join(thread->thread, NULL) == 0, "a thread cannot be joined");
    free(thread);
}

void os_thread_forget(OsThread *thread) { free(thread); }

// ---- Parking: Linux futexes, private to the process ----

static void futex(const _Atomic uint32_t *word, int op, uint32_t value) {
    // Neither call can fail for a reason that the caller could handle.
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
