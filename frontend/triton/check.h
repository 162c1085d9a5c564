// Checking kernels whose types and constexprs are open (check.c).
//
// Invariants: a kernel is right if some of the candidates elaborate without an error; the search
// does not try all of them, so that it may miss some. Ownership: nothing is kept.
//
//     if (!tr_check(file, kernel, NULL, diags)) report(diags);
#ifndef TILEC_FRONTEND_TRITON_CHECK_H
#define TILEC_FRONTEND_TRITON_CHECK_H

#include "frontend/triton/elaborate.h"

bool tr_check(TritonFile *file, const FrontKernel *kernel, const FrontSpec *given, Diags *diags);

#endif
