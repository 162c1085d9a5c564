// Threads of the pool: start, waiting, end; the lock; forks.
#include "runtime/cpu/pool.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/os_fork.h"

// ---- The lock: free, held, held and waited for ----

enum { LOCK_FREE, LOCK_HELD, LOCK_WAITED };
enum { LOCK_SPINS = 100 };

static bool try_lock(Pool *pool) {
    uint32_t seen = LOCK_FREE;
    return atomic_compare_exchange_strong_explicit(&pool->lock, &seen, LOCK_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

void pool_lock(Pool *pool) {
    if (try_lock(pool)) return;
    for (int i = 0; i < LOCK_SPINS; i++) {
        os_spin_hint();
        bool free_now = atomic_load_explicit(&pool->lock, memory_order_relaxed) == LOCK_FREE;
        if (free_now && try_lock(pool)) return;
    }
    while (atomic_exchange_explicit(&pool->lock, LOCK_WAITED, memory_order_acquire) != LOCK_FREE)
        os_park(&pool->lock, LOCK_WAITED);
}

void pool_unlock(Pool *pool) {
    if (atomic_exchange_explicit(&pool->lock, LOCK_FREE, memory_order_release) == LOCK_WAITED)
        os_unpark(&pool->lock, 1);
}

// ---- Waiting ----

// Changes the word first and then reads the count of sleepers. Sleepers do it in the opposite
// order, so that at least one of the two sees the other.
static void signal_word(_Atomic uint32_t *word, _Atomic uint32_t *parked, uint32_t count) {
    atomic_fetch_add(word, 1);
    if (atomic_load(parked)) os_unpark(word, count);
}

void pool_signal_work(Pool *pool, uint32_t workers) {
    signal_word(&pool->work, &pool->sleepers, workers);
}

void pool_signal_finished(Pool *pool) {
    signal_word(&pool->finished, &pool->waiters, POOL_THREADS_MAX);
}

static bool spin(const _Atomic uint32_t *word, uint32_t seen, uint64_t ns) {
    if (!ns) return false;
    for (uint64_t end = os_time_ns() + ns; os_time_ns() < end;)
        for (int i = 0; i < 16; i++) {
            if (atomic_load(word) != seen) return true;
            os_spin_hint();
        }
    return false;
}

void pool_wait(Pool *pool, const _Atomic uint32_t *word, uint32_t seen, _Atomic uint32_t *parked) {
    if (spin(word, seen, pool->spin_ns)) return;
    atomic_fetch_add(parked, 1);
    while (atomic_load(word) == seen) os_park(word, seen);
    atomic_fetch_sub(parked, 1);
}

// ---- Workers ----

static void worker_main(void *argument) {
    Worker *w = argument;
    Pool *pool = w->pool;
    for (;;) {
        uint32_t seen = atomic_load(&pool->work);
        pool_lock(pool);
        do {
            scratch_take_larger(w);
        } while (!pool->stop && pool_step(pool, &w->scratch));
        bool stop = pool->stop;
        pool_unlock(pool);
        if (stop) return;
        pool_wait(pool, &pool->work, seen, &pool->sleepers);
    }
}

void pool_start(Pool *pool) {
    if (pool->started) return;
    pool->started = true;
    for (uint32_t i = 0; i + 1 < pool->thread_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "tilec-cpu-%u", i + 1);
        Worker *w = &pool->workers[i];
        w->pool = pool;
        w->scratch.worker = true;
        w->thread = os_thread_start(name, worker_main, w);
        if (!w->thread) return;  // fewer threads if the system gives no more
        pool->worker_count++;
    }
}

static void stop_workers(Pool *pool) {
    pool_lock(pool);
    pool->stop = true;
    pool_unlock(pool);
    pool_signal_work(pool, POOL_THREADS_MAX);
    for (uint32_t i = 0; i < pool->worker_count; i++) os_thread_join(pool->workers[i].thread);
}

// ---- The pool ----

// Differs in each process of a chain of forks. Bit 0 says that the pool is being repaired after a
// fork.
enum { REPAIRING = 1 };
static uint32_t fork_generation_now(void) { return 2 * os_fork_generation(); }

tilec_status pool_create(tilec_context *context, uint32_t threads, Pool **pool) {
    OsMutex *print_lock = os_mutex_create_long();  // released when there is no memory
    Pool *p = aligned_alloc(_Alignof(Pool), sizeof *p);
    if (!p) os_out_of_memory();
    *p = (Pool){.context = context,
                .thread_count = threads,
                .print_lock = print_lock,
                .fork_generation = fork_generation_now()};
    p->workers = calloc(threads, sizeof *p->workers);
    if (!p->workers) {
        free(p);
        os_out_of_memory();
    }
    // On one processor a spinning thread keeps the thread it waits for from running.
    p->spin_ns = os_cpu_count() > 1 ? POOL_SPIN_NS : 0;
    *pool = p;
    return TILEC_OK;
}

static void release_memory(Pool *pool) {
    for (uint32_t i = 0; i + 1 < pool->thread_count; i++) {
        Worker *w = &pool->workers[i];
        scratch_release(pool, &w->scratch);
        if (w->larger) scratch_return(pool, w->larger);
    }
    while (pool->scratch) {
        Scratch *s = pool->scratch;
        pool->scratch = s->next;
        scratch_release(pool, s);
        free(s);
    }
    while (pool->free_commands) {
        Command *c = pool->free_commands;
        pool->free_commands = c->next;
        free(c);
    }
}

void pool_destroy(Pool *pool) {
    pool_enter(pool);
    stop_workers(pool);
    release_memory(pool);
    os_mutex_destroy(pool->print_lock);
    free(pool->workers);
    free(pool);
}

// The child has this thread only: workers, and the holders of locks, exist only in the parent.
static void repair_after_fork(Pool *pool) {
    atomic_store(&pool->lock, LOCK_FREE);
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        os_thread_forget(pool->workers[i].thread);
        pool->workers[i].scratch = (Scratch){0};  // it may have been half changed
        pool->workers[i].larger = NULL;
    }
    pool->started = false;
    pool->worker_count = 0;
    pool->busy = NULL;
    pool->free_commands = NULL;  // it may have been half changed
    atomic_store(&pool->sleepers, 0);
    atomic_store(&pool->waiters, 0);
    atomic_fetch_add(&pool->epoch, 1);
}

void pool_enter(Pool *pool) {
    uint32_t now = fork_generation_now(),
             seen = atomic_load_explicit(&pool->fork_generation, memory_order_acquire);
    while (seen != now) {
        // One thread of the child repairs the pool; the others wait for it.
        if (seen != now + REPAIRING &&
            atomic_compare_exchange_strong(&pool->fork_generation, &seen, now + REPAIRING)) {
            repair_after_fork(pool);
            atomic_store(&pool->fork_generation, now);
            return;
        }
        os_spin_hint();
        seen = atomic_load(&pool->fork_generation);
    }
}
