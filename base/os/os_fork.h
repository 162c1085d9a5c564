// Gate of forks: work that a fork must not cut in two.
//
// The child of a fork has one thread; a lock that another one held is held there for ever, and what
// it was changing stays half changed. Locks of ours are free in the child (base/os/os_mutex.h); of
// a library that knows nothing of forks (LLVM, the loader running its constructors) nobody frees
// them. So a fork, whoever calls it, waits until no thread is within such work, and begins none
// meanwhile (pthread_atfork). Invariants: within, nothing is called that belongs to the program,
// and nothing waits for a thread that is not within: a fork waits for as long as the work takes,
// and not longer. A fork by the thread that is within (a handler of a signal) waits for nobody.
// Work may nest. Ownership: a frame's, which ends it, or its region of recovery does.
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

// The same for those who see to its end themselves, a region's failure included.
void os_fork_hold(void);
void os_fork_let_go(void);
bool os_fork_is_held(void);  // by this thread
// How many forks this process is away from the one that loaded tilec: another number than when a
// thing was made says that the thing is of a parent.
uint32_t os_fork_generation(void);

#endif
