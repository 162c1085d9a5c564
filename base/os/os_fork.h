// Gate of forks: protects work that a fork must not interrupt.
//
// The child of a fork has one thread. If another thread held a lock at that moment, it is held in
// the child for ever, and the data it guards may be half changed. Our own locks are freed in the
// child (base/os/os_mutex.h), but the locks of a library that knows nothing of forks (LLVM, the
// loader while it runs constructors) cannot be freed. So a fork, no matter which code calls it,
// waits until no thread is inside such work, and new work waits for the fork (pthread_atfork).
// Invariants: inside the gate no function of the program is called, and nothing waits for a thread
// outside the gate: a fork waits for as long as the work takes, and not longer. A fork by the
// thread that is itself inside (in a signal handler) does not wait. Work may nest.
// Ownership: a frame's, which ends it, or its region of recovery does.
//
//     OsNoFork whole;
//     os_no_fork_begin(&whole);   compile();   os_no_fork_end(&whole);
#ifndef TILEC_BASE_OS_OS_FORK_H
#define TILEC_BASE_OS_OS_FORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/recover.h"

typedef struct OsNoFork {
    Owned owned;
} OsNoFork;
void os_no_fork_begin(OsNoFork *work);
void os_no_fork_end(OsNoFork *work);

// The same for callers that end it themselves, also when a region fails.
void os_fork_block(void);
void os_fork_unblock(void);
bool os_fork_is_blocked(void);  // does this thread hold the gate?
// The number of forks between the process that loaded tilec and this one. If it differs from the
// number at which an object was made, a parent process made the object.
uint32_t os_fork_generation(void);

#endif
