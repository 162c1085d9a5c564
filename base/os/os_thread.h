// Threads: starting them, parking them on a word in memory.
//
// Invariants: a thread of ours blocks all signals but those that its instructions raise (SIGSEGV,
// SIGFPE, …), so that the program's handlers of the others run on threads of the program. A parked
// thread may wake without a reason: whoever parks looks again. After a fork only the thread that
// forked lives on; the handles of the others are forgotten, never joined. Ownership: os_thread_join
// or os_thread_forget frees a thread.
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
// Wakes at most `count` of those who sleep on the word.
void os_unpark(const _Atomic uint32_t *word, uint32_t count);
// A word for the processor: this thread waits in a loop.
void os_spin_hint(void);

#endif
