// Gate of forks: work that a fork must not cut in two.
//
// The child of a fork has one thread; a lock that another one held is held there for ever, and what
// it was changing stays half changed. Of memory that is ours a context knows what to do; of a
// library that knows nothing of forks (LLVM, the loader running its constructors) nobody does. So a
// fork, whoever calls it, waits until no thread is within such work, and begins none meanwhile
// (pthread_atfork). Invariants: within, nothing is called that belongs to the program, and nothing
// waits for a thread that is not within: a fork waits for as long as the work takes, and not
// longer. A fork by the thread that is within (a handler of a signal) waits for nobody. Work may
// nest. Ownership: a frame's, which ends it, or its region of recovery does.
//
//     OsNoFork whole;
//     os_no_fork_begin(&whole);   compile();   os_no_fork_end(&whole);
#ifndef TILEC_BASE_OS_FORK_H
#define TILEC_BASE_OS_FORK_H

#include "base/recover.h"

typedef struct OsNoFork {
    Owned owned;
} OsNoFork;
void os_no_fork_begin(OsNoFork *work);
void os_no_fork_end(OsNoFork *work);

#endif
