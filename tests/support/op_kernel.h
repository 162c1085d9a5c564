// Op kernels: one elementwise op over arrays, on the interpreter, as it stands or after passes.
//
// The kernel reads up to three arrays of one type, a tile of OP_LANES elements at a time, and
// writes one. Invariants: counts are multiples of OP_LANES. Ownership: the OpKernel owns what it
// made; op_kernel_free gives it back.
//
//     OpKernel k = op_kernel("%9 = exp %3 : f32[4096]", DTYPE_F32, DTYPE_F32, "expand_math", NULL);
//     op_kernel_run(&k, 4096, x, NULL, NULL, r);
#ifndef TILEC_TESTS_SUPPORT_OP_KERNEL_H
#define TILEC_TESTS_SUPPORT_OP_KERNEL_H

#include "passes/pass.h"
#include "tests/support/pass_world.h"

enum { OP_LANES = 4096 };

typedef struct OpKernel {
    PassWorld w;
    IrModule *module;
    IrFunc *func;
} OpKernel;

// `line`: ops from %3, %4, %5 (tiles of `in`) to %9 (a tile of `out`). `passes` may be "".
OpKernel op_kernel(const char *line, Dtype in, Dtype out, const char *passes,
                   const Machine *machine);
void op_kernel_run(OpKernel *k, size_t count, const void *x, const void *y, const void *z, void *r);
void op_kernel_free(OpKernel *k);

#endif
