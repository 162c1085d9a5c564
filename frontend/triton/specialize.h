// Specialisation by the arguments of a launch (specialize.c).
//
// Invariants: bindings that the caller gave are never changed. Ownership: new bindings are in the
// arena given.
//
//     if (!tr_specialize(arena, kernel, args, count, &spec, diags)) report(diags);
#ifndef TILEC_FRONTEND_TRITON_SPECIALIZE_H
#define TILEC_FRONTEND_TRITON_SPECIALIZE_H

#include "frontend/triton/elaborate.h"

bool tr_specialize(Arena *arena, const FrontKernel *kernel, const FrontArg *args, size_t count,
                   FrontSpec *spec, Diags *diags);
// The function by which @triton.heuristics computes the constexpr; NULL: it does not.
const Py *tr_heuristic(const TritonFile *file, const PyFunc *func, Symbol name);

#endif
