// Random kernels of integers: arithmetic at the edges of every type, shapes, guards, nested loops,
// accesses of one view, requires; for what must hold of any kernel.
//
// The kernel has parameters x (a view f32[M]), n (i64) and c (i32). The same seed gives the same
// kernel. Loops may run for ever: launches need a step limit.
//
//     IrFunc *f = random_kernel(&w, seed, true);
//     IrArg args[RANDOM_ARGS];
//     random_arguments(&seed, data, args);
#ifndef TILEC_TESTS_SUPPORT_RANDOM_KERNEL_H
#define TILEC_TESTS_SUPPORT_RANDOM_KERNEL_H

#include "ir/interp/interp.h"
#include "tests/support/pass_world.h"

enum { RANDOM_ARGS = 3, RANDOM_ELEMENTS = 128 };

// With `prints`, blocks print some of the values they made.
IrFunc *random_kernel(PassWorld *w, uint64_t seed, bool prints);
uint64_t random_below(uint64_t *state, uint64_t below);
// `data` has RANDOM_ELEMENTS.
void random_arguments(uint64_t *state, float *data, IrArg *args);
// Do the requires hold for the launch?
bool random_satisfied(IrInterp *interp, const IrFunc *f, const IrLaunch *launch);

#endif
