// Pass check: a module in the text form and the passes to run on it, checked without knowing what
// should come of it.
//
// It holds when the module verifies before and after every pass; when the passes, run again, report
// no change and leave the same text; and when every function gives the same bits before and after
// them. For the last, a kernel around each function loads its arguments and stores its results, and
// runs on the interpreter with values that are likely to show a difference (all NaNs count as
// equal, language rule 23). Kernels of the module, and functions with views, are not run.
// Invariants: needs no test framework; what went wrong is added to `report`.
//
//     PassCheck check = {"a.tir", text, STR("simplify,dce")};
//     if (pass_check(arena, &check, &report)) compare(check.printed, …);
//
// FILETEST_PLANT in the environment plants a defect, so that selftest.sh can show that it is found:
// `bits` puts another op into what is run after the passes, `verify` leaves invalid IR, `change`
// reports a change where there was none, `silent` reports none where there was one, and `crash`
// ends the process.
#ifndef TILEC_TESTS_SUPPORT_PASS_CHECK_H
#define TILEC_TESTS_SUPPORT_PASS_CHECK_H

#include <stdbool.h>

#include "base/str.h"

typedef struct PassCheck {
    const char *file;  // its name in diagnostics
    Str text;
    Str passes;
    Str printed;  // result: the module after the passes; empty when they could not be run
} PassCheck;

bool pass_check(Arena *arena, PassCheck *check, StrBuf *report);

#endif
