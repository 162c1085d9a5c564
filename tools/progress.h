// Progress: a line on the terminal while something takes longer than a second.
//
// Invariants: nothing is written unless standard error is a terminal and neither --json nor --quiet
// is given; the line is gone when progress_end returns, and before anything else is printed the
// caller ends it. Ownership: progress_begin's result is freed by progress_end, which takes NULL.
//
//     Progress *p = progress_begin(cli, "running %s", name);
//     progress_say(p, "running %s, %d of %d", name, i, n);   // any number of times
//     progress_end(p);
#ifndef TILEC_TOOLS_PROGRESS_H
#define TILEC_TOOLS_PROGRESS_H

#include "tools/cli.h"

typedef struct Progress Progress;
// NULL when nothing is to be shown, which the others take.
Progress *progress_begin(const Cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void progress_say(Progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(Progress *p);

#endif
