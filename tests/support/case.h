// Case: one filetest file, run and compared or blessed.
//
// Invariants: the file is run in its own folder under its bare name, so that what it writes names
// no folder; "%s" in a command is that name, "%t" a temporary file, which reads "%t" in the output.
// Blessing never accepts a crash, a defect (status 70 and up) or a timeout, nor passes that leave
// invalid IR, change their own result again, or change what a function computes.
//
//     StrBuf report = strbuf(arena);
//     if (!case_run(arena, &options, "tests/files/a.tile", &report)) print(report);
#ifndef TILEC_TESTS_SUPPORT_CASE_H
#define TILEC_TESTS_SUPPORT_CASE_H

#include <stdbool.h>

#include "base/str.h"

typedef struct CaseOptions {
    const char *tool_folder;  // absolute; the folder of the `tilec` to test
    const char *scratch;      // absolute; a folder for %t
    unsigned seconds;         // time limit of one command
    bool bless;
} CaseOptions;

bool case_run(Arena *arena, const CaseOptions *options, const char *path, StrBuf *report);

#endif
