// Analyses: facts about values. They are computed on demand and dropped when the function changes.
//
// ir_ranges: for every scalar or tile of integers, the least and greatest value of any element, a
// number that divides all elements, and, along each dimension, the length of the aligned groups in
// which elements are contiguous (each one more than the last) or equal. Facts flow from constants,
// iota, program ids, extents and parameters (their IrFacts), loop bounds, `requires` conditions,
// comparisons that guard an `if` or a `while`, asserts (a program stops at one that fails), and
// arithmetic that provably does not wrap. There are relations as well as numbers: `x + 3 <= M` is
// proven from guards, requires, loop bounds and divisibility, by adding up inequalities.
// Invariants: the analysis is sound: every run of the kernel that satisfies its requires obeys the
// facts. Values that are not integers have no facts (known = false). Facts of `assume` are used
// only on request: a bounds check is never removed because of them (language rule 28). The limits
// IR_MAX_GRID and IR_MAX_EXTENT hold in every launch: a launch beyond them is refused.
// Ownership: the arena given.
//
//     IrRanges *r = ir_ranges(arena, f, IR_TRUST_CHECKED);
//     IrRange x = ir_range_of(r, value);   // x.known, x.min, x.max, x.divisor
#ifndef TILEC_IR_ANALYSIS_ANALYSIS_H
#define TILEC_IR_ANALYSIS_ANALYSIS_H

#include "base/limits.h"
#include "ir/ir.h"

#define IR_ZERO_DIVISOR \
    (UINT64_C(1) << 63)  // the divisor of a value that is always 0: everything divides it

typedef struct IrRange {
    bool known;                        // false: nothing is known (not an integer)
    int64_t min, max;                  // a u64 that may pass INT64_MAX has the full range of
                                       // int64_t
    uint64_t divisor;                  // divides all elements; >= 1, or IR_ZERO_DIVISOR
    uint32_t contiguous[IR_MAX_RANK];  // length of the runs x, x+1, x+2 … along the dimension; >= 1
    uint32_t constant[IR_MAX_RANK];    // length of the runs of equal elements along the dimension;
                                       // >= 1
    // A divisor of the first element of every contiguous run along the dimension; >= 1.
    uint64_t first[IR_MAX_RANK];
} IrRange;

typedef enum IrTrust {
    IR_TRUST_CHECKED,  // only checked facts: memory safety may rest on them
    IR_TRUST_ASSUMED,  // facts of `assume` as well
} IrTrust;

typedef struct IrRanges IrRanges;
IrRanges *ir_ranges(Arena *arena, const IrFunc *f, IrTrust trust);
// Are the facts about all values the same, and the functions as well?
bool ir_ranges_same(const IrRanges *a, const IrRanges *b);
// The facts that hold wherever the value is defined.
IrRange ir_range_of(const IrRanges *ranges, const IrValue *value);
// Is the result of the op the mathematical result of its operands, without wrapping?
bool ir_is_exact(const IrRanges *ranges, const IrValue *result);
// Is a + add <= b provable at `at` (NULL: anywhere), for a scalar or for every element? The sum is
// mathematical: it does not wrap. Tiles must have the same shape, or one of them is a scalar.
bool ir_provably_le(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t add,
                    const IrValue *b);
// The same against an extent of a view of the function, a + add <= dim, and against a number.
bool ir_provably_within(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t add,
                        const IrDim *dim);
bool ir_provably_at_least(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t least);

// Liveness within the structured form: for every value, the last op that needs it (in the linear
// order of its function). A value from outside a loop that is used inside it lives to the loop's
// end.
//
//     IrLiveness *l = ir_liveness(arena, f);
//     if (!ir_live_overlap(l, a, b)) …   // may share memory
typedef struct IrLiveness IrLiveness;
IrLiveness *ir_liveness(Arena *arena, const IrFunc *f);
uint32_t ir_live_begin(const IrLiveness *l, const IrValue *v);  // position in the linear order
uint32_t ir_live_end(const IrLiveness *l, const IrValue *v);
bool ir_live_overlap(const IrLiveness *l, const IrValue *a, const IrValue *b);

#endif
