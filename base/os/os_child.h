// Child: work done in a copy of this process, so that a crash, an abort or an endless loop does not
// hurt the caller.
//
// The child is forked: it has a copy of this process's memory, and one thread. The bytes it writes
// through OsChildOut come back to the parent as `output`. Its standard error comes back as `errors`
// (cut at OS_CHILD_ERRORS); its standard output is dropped.
// Invariants: the child never returns from os_child_run and runs no exit handlers; it does not run
// the program's signal handlers. The parent waits at most `seconds`.
// Ownership: texts are the arena's.
//
// Programs are run in the same manner, as separate processes with the given bytes as standard
// input.
//
//     OsChildEnd end;
//     if (os_child_run(arena, compile, &job, 60, &end, &e) && end.outcome == OS_CHILD_DONE) …
#ifndef TILEC_BASE_OS_OS_CHILD_H
#define TILEC_BASE_OS_OS_CHILD_H

#include "base/os/os.h"

enum {
    OS_CHILD_ERRORS = 8 << 10,
    OS_CHILD_NO_MEMORY = 77,  // the status of a child whose work ran out of memory
};

typedef struct OsChildOut OsChildOut;
bool os_child_write(OsChildOut *out, const void *bytes, size_t size);

typedef enum OsChildOutcome {
    OS_CHILD_DONE,       // `work` returned
    OS_CHILD_EXITED,     // something called exit
    OS_CHILD_SIGNAL,     // a signal ended it
    OS_CHILD_TIMED_OUT,  // the time ran out and we ended it
} OsChildOutcome;

typedef struct OsChildEnd {
    OsChildOutcome outcome;
    int number;  // the exit status or the signal
    Str output;
    Str errors;
} OsChildEnd;

// False when no child could be made.
bool os_child_run(Arena *arena, void (*work)(void *argument, OsChildOut *out), void *argument,
                  unsigned seconds, OsChildEnd *end, OsError *error);

// Starts the program at the path argv[0] (a NULL ends argv) and waits. Both outputs come back as
// above. `outcome` is never OS_CHILD_DONE: a program that ended by itself has OS_CHILD_EXITED and
// its status. The status is 127 when the program could not be started, and `errors` then says why.
// False when no process could be made.
bool os_program_run(Arena *arena, const char *const *argv, Str input, unsigned seconds,
                    OsChildEnd *end, OsError *error);
// Looks a bare name up in the folders of $PATH; empty: no executable file of that name.
Str os_program_find(Arena *arena, const char *name);
bool os_program_exists(const char *path);

#endif
