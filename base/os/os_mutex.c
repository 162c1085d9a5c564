#include "base/os/os_mutex.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/os/os.h"
#include "base/os/os_fork.h"
#include "base/os/os_private.h"
#include "base/recover.h"

typedef _Atomic(OsMutex *) Link;

struct OsMutex {
    Owned made;
    Owned held;  // on the list of the thread that holds the mutex
    bool is_long;
    _Atomic bool abandoned;
    _Atomic(const void *) holder;  // thread_name of the holder; NULL: free
    Link next, *link;              // of all mutexes
    pthread_mutex_t mutex;
};

// All mutexes, for the child of a fork. The links are consistent at every moment, since a fork by a
// thread inside the gate does not wait.
static Link all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char thread_name;  // its address is the thread's name

static void list(OsMutex *m) {
    os_fork_block();
    pthread_mutex_lock(&all_lock);
    OsMutex *first = atomic_load(&all);
    atomic_store(&m->next, first);
    m->link = &all;
    if (first) first->link = &m->next;
    atomic_store(&all, m);
    pthread_mutex_unlock(&all_lock);
    os_fork_unblock();
}

static void unlist(OsMutex *m) {
    os_fork_block();
    pthread_mutex_lock(&all_lock);
    OsMutex *next = atomic_load(&m->next);
    atomic_store(m->link, next);
    if (next) next->link = m->link;
    pthread_mutex_unlock(&all_lock);
    os_fork_unblock();
}

void os_mutexes_after_fork(void) {
    pthread_mutex_init(&all_lock, NULL);
    for (OsMutex *m = atomic_load(&all); m; m = atomic_load(&m->next)) {
        const void *holder = atomic_load(&m->holder);
        if (holder == &thread_name) continue;
        if (holder) atomic_store(&m->abandoned, true);
        atomic_store(&m->holder, NULL);
        pthread_mutex_init(&m->mutex, NULL);  // has no reason to fail for a plain mutex
    }
}

static void release_made(Owned *made) { os_mutex_destroy((OsMutex *)made); }

static void release_held(Owned *held) {
    os_mutex_unlock((OsMutex *)(void *)((char *)held - offsetof(OsMutex, held)));
}

static OsMutex *create(bool is_long) {
    OsMutex *mutex = calloc(1, sizeof *mutex);
    if (!mutex || pthread_mutex_init(&mutex->mutex, NULL) != 0) {
        free(mutex);
        os_out_of_memory();
    }
    mutex->is_long = is_long;
    list(mutex);
    recover_own(&mutex->made, OWNED_MADE, release_made);
    return mutex;
}

OsMutex *os_mutex_create(void) { return create(false); }

OsMutex *os_mutex_create_long(void) { return create(true); }

void os_mutex_destroy(OsMutex *mutex) {
    if (!mutex) return;
    recover_keep(&mutex->made);
    unlist(mutex);
    pthread_mutex_destroy(&mutex->mutex);
    free(mutex);
}

static void begin_lock(const OsMutex *mutex) {
    if (!mutex->is_long)
        os_fork_block();
    else
        CHECK(!os_fork_is_blocked(), "a long mutex is taken while a fork waits for this thread");
}

// `holder` is set before the guarded data changes, and cleared after the last change.
static void locked(OsMutex *mutex) {
    atomic_store_explicit(&mutex->holder, &thread_name, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    recover_own(&mutex->held, OWNED_FRAME, release_held);
}

void os_mutex_lock(OsMutex *mutex) {
    begin_lock(mutex);
    CHECK(pthread_mutex_lock(&mutex->mutex) == 0, "a mutex cannot be locked");
    locked(mutex);
}

bool os_mutex_try(OsMutex *mutex) {
    begin_lock(mutex);
    int busy = pthread_mutex_trylock(&mutex->mutex);
    CHECK(busy == 0 || busy == EBUSY, "a mutex cannot be locked");
    if (!busy) locked(mutex);
    if (busy && !mutex->is_long) os_fork_unblock();
    return !busy;
}

void os_mutex_unlock(OsMutex *mutex) {
    recover_keep(&mutex->held);
    atomic_store_explicit(&mutex->holder, NULL, memory_order_release);
    CHECK(pthread_mutex_unlock(&mutex->mutex) == 0, "a mutex cannot be unlocked");
    if (!mutex->is_long) os_fork_unblock();
}

bool os_mutex_abandoned(const OsMutex *mutex) { return atomic_load(&mutex->abandoned); }

void os_mutex_mark_consistent(OsMutex *mutex) { atomic_store(&mutex->abandoned, false); }
