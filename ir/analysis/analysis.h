// Analyses: facts about values, computed on demand, thrown away when the function changes.
//
// ir_ranges: for every scalar or tile of integers the least and greatest value of any element, a
// number all elements are a multiple of, and along each dimension whether elements run contiguously
// (each one more than the last) or are equal, in aligned groups of how many. Facts flow from
// constants, iota, program ids, extents and parameters (their IrFacts), loop bounds, `requires`
// conditions, comparisons guarding an `if` or a `while`, asserts (a program does not pass one that
// fails), and arithmetic that provably does not wrap. Beside the numbers there are relations: `x +
// 3 <= M` is proven from guards, requires, loop bounds and divisibility, by adding up inequalities.
// Invariants: sound: every run of the kernel that satisfies its requires obeys them. Values that
// are no integers have no facts (known = false). What `assume` says counts only when asked for: a
// bounds check never goes because of it (language rule 28). The limits IR_MAX_GRID and
// IR_MAX_EXTENT are part of every launch: one beyond them is refused. Ownership: the arena given.
//
//     IrRanges *r = ir_ranges(arena, f, IR_TRUST_CHECKED);
//     IrRange x = ir_range_of(r, value);   // x.known, x.min, x.max, x.divisor
#ifndef TILEC_IR_ANALYSIS_ANALYSIS_H
#define TILEC_IR_ANALYSIS_ANALYSIS_H

#include "base/limits.h"
#include "ir/ir.h"

#define IR_ZERO_DIVISOR \
    (UINT64_C(1) << 63)  // the divisor of what is always 0: everything divides it

typedef struct IrRange {
    bool known;                        // false: nothing (no integer)
    int64_t min, max;                  // u64 that may pass INT64_MAX: the full range of int64_t
    uint64_t divisor;                  // all elements are multiples of it; >= 1; or IR_ZERO_DIVISOR
    uint32_t contiguous[IR_MAX_RANK];  // run length along the dimension of x, x+1, x+2 …; >= 1
    uint32_t constant[IR_MAX_RANK];    // run length along the dimension of equal elements; >= 1
    // The first element of every contiguous run along the dimension is a multiple of it; >= 1.
    uint64_t first[IR_MAX_RANK];
} IrRange;

typedef enum IrTrust {
    IR_TRUST_CHECKED,  // what was checked: memory safety may rest on it
    IR_TRUST_ASSUMED,  // what `assume` says as well
} IrTrust;

typedef struct IrRanges IrRanges;
IrRanges *ir_ranges(Arena *arena, const IrFunc *f, IrTrust trust);
// Do they say the same of all values, and of the same function?
bool ir_ranges_same(const IrRanges *a, const IrRanges *b);
// What holds wherever the value is.
IrRange ir_range_of(const IrRanges *ranges, const IrValue *value);
// Is the integer that the op computes the number that its operands' make, without wrapping?
bool ir_is_exact(const IrRanges *ranges, const IrValue *result);
// Is a + add <= b provable where `at` stands (NULL: anywhere), for a scalar or for every element?
// The sum is that of numbers: it does not wrap. The tiles have one shape, or one is a scalar.
bool ir_provably_le(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t add,
                    const IrValue *b);
// The same against an extent of a view of the function, a + add <= dim, and against a number.
bool ir_provably_within(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t add,
                        const IrDim *dim);
bool ir_provably_at_least(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t least);

// Liveness within the structured form: for every value the last op (by order in its function's
// linearisation) that needs it, loops holding what they use from outside to their end.
//
//     IrLiveness *l = ir_liveness(arena, f);
//     if (!ir_live_overlap(l, a, b)) …   // may share a place
typedef struct IrLiveness IrLiveness;
IrLiveness *ir_liveness(Arena *arena, const IrFunc *f);
uint32_t ir_live_begin(const IrLiveness *l, const IrValue *v);  // position in the linear order
uint32_t ir_live_end(const IrLiveness *l, const IrValue *v);
bool ir_live_overlap(const IrLiveness *l, const IrValue *a, const IrValue *b);

#endif
