#include "base/os/os_fork.h"

#include <pthread.h>

#include "base/os/os.h"
#include "base/os/os_private.h"
#include "base/os/os_thread.h"

// The word counts, in its low half, the threads inside the gate, and in its high half the forks
// that wait or run. A thread enters only when there are no forks, so that new work cannot starve a
// fork. We wait on a word of our own: a lock of the system records its holder, which is different
// in the child.
enum { A_THREAD = 1, A_FORK = 1 << 16, THREADS = A_FORK - 1 };
static _Atomic uint32_t gate;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local unsigned depth;
static _Atomic uint32_t generation;

static void before_fork(void) {
    if (depth) return;
    uint32_t seen = atomic_fetch_add(&gate, A_FORK) + A_FORK;
    for (; seen & THREADS; seen = atomic_load(&gate)) os_park(&gate, seen);
}

static void after_in_parent(void) {
    if (depth) return;
    if (atomic_fetch_sub(&gate, A_FORK) - A_FORK < A_FORK) os_unpark(&gate, UINT32_MAX);
}

// The child has no other threads.
static void after_in_child(void) {
    atomic_store(&gate, depth ? A_THREAD : 0);
    atomic_fetch_add(&generation, 1);
    os_mutexes_after_fork();
}

// Without memory for the handlers a fork is not protected. That is not a reason to fail.
static void watch_forks(void) { pthread_atfork(before_fork, after_in_parent, after_in_child); }

static void enter(void) {
    uint32_t seen = atomic_load(&gate);
    for (;;) {
        if (seen >= A_FORK) {
            os_park(&gate, seen);
            seen = atomic_load(&gate);
        } else if (atomic_compare_exchange_weak(&gate, &seen, seen + A_THREAD)) {
            return;
        }
    }
}

void os_fork_block(void) {
    pthread_once(&once, watch_forks);
    if (depth++ == 0) enter();
}

void os_fork_unblock(void) {
    if (--depth) return;
    if (atomic_fetch_sub(&gate, A_THREAD) - A_THREAD >= A_FORK) os_unpark(&gate, UINT32_MAX);
}

bool os_fork_is_blocked(void) { return depth != 0; }

uint32_t os_fork_generation(void) { return atomic_load(&generation); }

static void leave(Owned *owned) {
    (void)owned;
    os_fork_unblock();
}

void os_no_fork_begin(OsNoFork *work) {
    os_fork_block();
    recover_own(&work->owned, OWNED_FRAME, leave);
}

void os_no_fork_end(OsNoFork *work) {
    recover_keep(&work->owned);
    os_fork_unblock();
}
