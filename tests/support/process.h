// Process: runs one shell command of a filetest and collects what it wrote.
//
// Invariants: the command runs in `folder` with the tool's folder first in PATH and without a
// terminal or colours; sanitizers end it with status PROCESS_SANITIZER; after the time limit its
// whole process group is killed. At most PROCESS_OUTPUT_MAX bytes of each stream are kept.
// Ownership: the texts belong to the arena given.
//
//     ProcessResult r;
//     if (process_run(arena, &(Process){"tilec check a.tile", "tests/files/x", "build/debug", 10,
//                                       false}, &r)) compare(r.output, r.status);
#ifndef TILEC_TESTS_SUPPORT_PROCESS_H
#define TILEC_TESTS_SUPPORT_PROCESS_H

#include <stdbool.h>

#include "base/str.h"

enum {
    PROCESS_OUTPUT_MAX = 8 << 20,
    PROCESS_DEFECT = 70,     // the tool's own status for a defect; so is everything above
    PROCESS_SANITIZER = 99,  // what sanitizers exit with
};

typedef struct Process {
    const char *command;      // for the shell
    const char *folder;       // to run in
    const char *tool_folder;  // first in PATH; absolute
    unsigned seconds;         // time limit
    bool separate;            // errors apart from output, or both in one stream
} Process;

typedef struct ProcessResult {
    int status;  // exit status; 128 + signal when it was killed by one
    bool timed_out;
    Str output;
    Str errors;  // empty unless separate
} ProcessResult;

// False when no process could be started.
bool process_run(Arena *arena, const Process *process, ProcessResult *result);

#endif
