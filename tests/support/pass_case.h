// Pass cases: a function in the text form, the passes to run, and what must come of it.
//
// pass_cases_check parses both texts, runs the passes on the first, and compares the printed forms;
// running the passes again must change nothing. Then it wraps both functions into kernels that load
// the arguments and store the results, runs these on the interpreter with values that are likely to
// show a difference, and compares the bits (all NaNs count as equal, language rule 23).
//
//     static const PassCase cases[] = {{"x + 0", "simplify,dce", "func …", "func …"}};
//     pass_cases_check(cases, 1);
#ifndef TILEC_TESTS_SUPPORT_PASS_CASE_H
#define TILEC_TESTS_SUPPORT_PASS_CASE_H

#include "ir/ir.h"

typedef struct PassCase {
    const char *name;
    const char *passes;
    const char *before;
    const char *after;  // NULL: unchanged
} PassCase;

typedef struct PassWorld {
    Arena *arena;
    Sources *sources;
    Interner *names;
    struct Diags *diags;
} PassWorld;

PassWorld pass_world(void);
void pass_world_free(PassWorld *w);
// Parsed and verified; the test fails with the diagnostics when there are any.
IrModule *pass_parse(PassWorld *w, const char *text);
// True when a pass changed something; every pass is verified.
bool pass_run(PassWorld *w, IrModule *m, const char *passes);
const char *pass_print(PassWorld *w, const IrModule *m);
void pass_cases_check(const PassCase *cases, size_t count);

#endif
