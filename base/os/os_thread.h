// Threads: starting them, parking them on a word in memory.
//
// Invariants: a thread of ours blocks all signals but those that its own instructions raise
// (SIGSEGV, SIGFPE, …), so that the program's handlers of other signals run on the program's
// threads. A parked thread may wake without a reason, so the caller checks its condition again.
// After a fork only the thread that forked exists; handles of the others are dropped, never joined.
// Ownership: os_thread_join or os_thread_forget frees a thread.
//
//     OsThread *t = os_thread_start("tilec-1", work, &state);   // NULL: the system has no more
//     while (atomic_load(&word) == seen) os_park(&word, seen);
//     os_thread_join(t);
#ifndef TILEC_BASE_OS_OS_THREAD_H
#define TILEC_BASE_OS_OS_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct OsThread OsThread;
// At most 15 characters of the name are shown by debuggers.
OsThread *os_thread_start(const char *name, void (*run)(void *argument), void *argument);
void os_thread_join(OsThread *thread);
void os_thread_forget(OsThread *thread);

// Sleeps while the word has the value `seen`, until os_unpark on it.
void os_park(const _Atomic uint32_t *word, uint32_t seen);
// Wakes at most `count` of the threads that sleep on the word.
void os_unpark(const _Atomic uint32_t *word, uint32_t count);
// Hints to the processor that this thread waits in a loop.
void os_spin_hint(void);

#endif
