// Progress: a line on the terminal while something takes longer than a second.
//
// Invariants: nothing is written unless standard error is a terminal and neither --json nor --quiet
// is given. The line is gone when progress_end returns; the caller must end it before anything else
// is printed. Ownership: progress_end frees the result of progress_begin, and accepts NULL.
//
//     Progress *p = progress_begin(cli, "running %s", name);
//     progress_print(p, "running %s, %d of %d", name, i, n);   // any number of times
//     progress_end(p);
#ifndef TILEC_TOOLS_PROGRESS_H
#define TILEC_TOOLS_PROGRESS_H

#include "tools/cli.h"

typedef struct Progress Progress;
// Returns NULL when nothing should be shown; the other functions accept NULL.
Progress *progress_begin(const Cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void progress_print(Progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(Progress *p);

#endif
