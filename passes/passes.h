// The entry point of every pass, one for each row of passes.def; only the manager uses it.
//
//     PassContext c = {.scratch = scratch, .diags = diags};
//     bool changed = pass_cse(f, &c);
#ifndef TILEC_PASSES_PASSES_H
#define TILEC_PASSES_PASSES_H

#include "passes/pass.h"

#define PASS(name, function, levels, doc) bool pass_##function(IrFunc *f, PassContext *context);
#include "passes/passes.def"
#undef PASS

#endif
