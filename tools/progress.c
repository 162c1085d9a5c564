#include "tools/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#include "base/os/os.h"
#include "base/os/os_mutex.h"
#include "base/os/os_thread.h"

enum { TEXT_MAX = 120 };
static const long TICK_NS = 20000000;
static const uint64_t QUIET_NS = 1000000000, REDRAW_NS = 250000000;

struct Progress {
    OsThread *thread;
    OsMutex *lock;
    char text[TEXT_MAX];
    _Atomic bool ended;
    uint64_t begin;
    bool shown;  // of the thread
};

static void draw(Progress *p, uint64_t now) {
    os_mutex_lock(p->lock);
    fprintf(stderr, "\r\033[K%s … %llu s", p->text,
            (unsigned long long)((now - p->begin) / 1000000000));
    os_mutex_unlock(p->lock);
    fflush(stderr);
    p->shown = true;
}

static void watch(void *argument) {
    Progress *p = argument;
    uint64_t drawn = 0;
    while (!atomic_load(&p->ended)) {
        thrd_sleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
        uint64_t now = os_time_ns();
        if (now - p->begin < QUIET_NS || now - drawn < REDRAW_NS || atomic_load(&p->ended))
            continue;
        draw(p, now);
        drawn = now;
    }
    if (p->shown) fprintf(stderr, "\r\033[K"), fflush(stderr);
}

Progress *progress_begin(const Cli *cli, const char *format, ...) {
    if (cli->json || cli->quiet || !os_is_terminal(stderr)) return NULL;
    Progress *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(p->text, sizeof p->text, format, args);
    va_end(args);
    p->lock = os_mutex_create_long();
    p->begin = os_time_ns();
    p->thread = os_thread_start("tilec-progress", watch, p);
    return p;
}

void progress_print(Progress *p, const char *format, ...) {
    if (!p) return;
    va_list args;
    va_start(args, format);
    os_mutex_lock(p->lock);
    vsnprintf(p->text, sizeof p->text, format, args);
    os_mutex_unlock(p->lock);
    va_end(args);
}

void progress_end(Progress *p) {
    if (!p) return;
    atomic_store(&p->ended, true);
    if (p->thread) os_thread_join(p->thread);
    os_mutex_destroy(p->lock);
    free(p);
}
