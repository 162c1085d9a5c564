// Facts about a jit function from its text alone: which parameters are pointers, whether it is a
// kernel.
//
// Invariants: nothing is evaluated, but files are read from which a function imports others; a
// guess that is wrong gives an error of types later, never wrong code. Ownership: maps are
// allocated in the arena given.
//
//     Map pointers = tr_pointers_of(file, module, func, arena, 0);
//     if (map_find(&pointers, map_key(param->name))) …
#ifndef TILEC_FRONTEND_TRITON_INFER_H
#define TILEC_FRONTEND_TRITON_INFER_H

#include "frontend/triton/elaborate.h"

// The names that are addresses, parameters among them (Symbol → 1).
Map tr_pointers_of(TritonFile *file, const TritonModule *module, const PyFunc *func, Arena *arena,
                   int depth);
bool tr_is_constexpr_param(const PyParam *p);
// Is it annotated as a pointer ("*fp32")? *type: its elements, DTYPES if that is open.
bool tr_is_pointer_param(const PyParam *p, Dtype *type);
// The type that an annotation gives a scalar ("i64", tl.int64), or DTYPES.
Dtype tr_scalar_annotation(const PyParam *p);
bool tr_returns_value(const PyFunc *func);
// Adds the names at the top of the file that the function mentions, without its own.
void tr_find_called(const TritonModule *module, const PyFunc *func, Arena *arena, Map *called);

#endif
