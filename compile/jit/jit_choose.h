// The choice of consts for launches of shapes that were not measured, by estimates
// (compile/tune/predict.h).
//
//     launch of a shape without a row ─▶ estimates of the kernel's candidates ─▶ the promising one
//
// It takes some hundredths of a millisecond a candidate, once for each class of shapes: extents are
// rounded up to powers of two, as in the table of tuned rows, which goes first.
// Invariants: the kernel's default is chosen unless another candidate promises much. Ownership:
// choices are the kernel's.
//
//     if (!jit_tune_row(…, &row) && !jit_choose(kernel, args, count, &spec, &row)) …   // default
#ifndef TILEC_COMPILE_JIT_JIT_CHOOSE_H
#define TILEC_COMPILE_JIT_JIT_CHOOSE_H

#include "compile/jit/jit.h"

// Is there anything to choose for launches of this kernel?
bool jit_can_choose(const tilec_kernel *kernel);
// The consts for these arguments; false: the default ones. The source's lock is held.
bool jit_choose(const tilec_kernel *kernel, const tilec_arg *args, size_t count,
                const FrontSpec *spec, TuneRow *row);
// The consts of the row do not compile: they are not chosen again.
void jit_choose_default(const tilec_kernel *kernel, const TuneRow *row);

#endif
