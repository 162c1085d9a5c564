// Pass world: a module and passes on it, for tests in C that look at what became of the module.
// Where the text says it all, a .tir file with RUN-PASSES is shorter (docs/testing.md).
//
//     PassWorld w = pass_world();
//     IrModule *m = pass_parse(&w, "func …");
//     assert_true(pass_run(&w, m, "simplify,dce"));
//     pass_world_free(&w);
#ifndef TILEC_TESTS_SUPPORT_PASS_WORLD_H
#define TILEC_TESTS_SUPPORT_PASS_WORLD_H

#include "ir/ir.h"

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

#endif
