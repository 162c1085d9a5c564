// The interpreter: runs a grid of a kernel's tile IR, at every level, exactly. It is the oracle of
// every pass and target: plain loops, and nothing clever that could be wrong.
//
// Invariants: memory is accessed only inside the buffers of the arguments, if their size is known:
// a load outside gives 0, a store is dropped, and under `sanitize` both are findings; a pointer of
// unknown size is trusted, NULL has no elements. Views never access memory outside their extents,
// which the caller has checked against the buffer. Programs run one after another in the order of
// the grid (first dimension fastest), so a run is repeatable bit for bit. Float NaNs made by
// arithmetic are the positive quiet NaN. With `shadow` every float element has a double value and a
// first-order bound (docs/numerics.md); memory keeps those of stored elements by address, and
// ir_interp_shadow returns them.
// Ownership: the arena given to ir_interp_create; only the shadows are kept between runs.
//
//     IrInterp *in = ir_interp_create(arena, f);
//     IrLaunch launch = {.args = args, .arg_count = 2, .grid = {8, 1, 1}};
//     IrOutcome r = ir_interp_run(in, &launch, diags);
#ifndef TILEC_IR_INTERP_INTERP_H
#define TILEC_IR_INTERP_INTERP_H

#include "base/diag.h"
#include "ir/ir.h"

// One argument; the parameter's type decides which fields are used.
typedef struct IrArg {
    uint64_t bits;                     // scalar: bits of its element type
    void *data;                        // pointer, view: element 0
    int64_t extent[IR_MAX_VIEW_RANK];  // views
    int64_t stride[IR_MAX_VIEW_RANK];  // views, in elements
    // The allocation that `data` points into, for sanitize; size 0: unknown, not checked.
    const void *base;
    uint64_t size;
} IrArg;

// Which subnormal operands of dots count as 0.
typedef enum IrFlushes {
    IR_FLUSHES_NONE,
    IR_FLUSHES_BF16,    // products of bf16 that are summed up in f32, and their sums
    IR_FLUSHES_HALVES,  // f16, bf16, and operands that are multiplied as these
} IrFlushes;

typedef struct IrLaunch {
    const IrArg *args;  // one for each parameter
    uint32_t arg_count;
    int64_t grid[3];
    bool sanitize;  // bounds of pointers, assumes, noalias, writes of two programs to one element
    bool shadow;
    IrFlushes flushes;  // of the device that the shadow is for
    bool loose_pairs;   // the device loses bits when it adds the products of f16 and bf16
    bool short_sums;    // and those of fp8, where the precision is `unit`
    // AxisLines of `print`; NULL: dropped.
    void (*print)(void *user, Str line);
    void *user;
    uint64_t step_limit;  // ops executed before the run is aborted; 0: no limit
} IrLaunch;

typedef enum IrOutcome {
    IR_RUN_DONE,
    IR_RUN_ASSERT,    // a failed assert: the diagnostic names program, lane, text
    IR_RUN_FINDINGS,  // sanitize reported something
    IR_RUN_LIMIT,
} IrOutcome;

typedef struct IrInterp IrInterp;
IrInterp *ir_interp_create(Arena *arena, const IrFunc *f);
void ir_interp_destroy(IrInterp *interp);
IrOutcome ir_interp_run(IrInterp *interp, const IrLaunch *launch, Diags *diags);
// The number of ops that the last run executed, as step_limit counts them.
uint64_t ir_interp_steps(const IrInterp *interp);

// Evaluates a pure section or function on scalars: the grid (1 to 3 i64), a requires (one bool).
// False if it needs memory or a program.
bool ir_interp_section(IrInterp *interp, const IrSection *section, const IrLaunch *launch,
                       uint32_t count, uint64_t *results);

// The shadow of an element in memory after a run. False if the kernel did not write it, or wrote an
// integer or bool that is certain. For an uncertain integer, `value` is the integer itself and
// `bound` how far others may be from it. `undecided`: the value depends on a comparison that the
// bound could not decide; it must not be compared.
typedef struct IrShadow {
    double value;
    double bound;
    bool undecided;
} IrShadow;
bool ir_interp_shadow(const IrInterp *interp, const void *address, IrShadow *shadow);

// One elementwise op on raw bits, for constant folding and the interpreter (eval.c). `elem` is the
// type of the first operand (of select: bool); false for ops that are not elementwise arithmetic,
// and for casts: dtype_cast does those.
bool ir_eval(IrOpcode code, Dtype elem, const uint64_t *operands, uint64_t *result);

#endif
