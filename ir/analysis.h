// Analyses: facts about values, computed on demand, thrown away when the function changes.
//
// ir_ranges: for every scalar or tile of integers the least and greatest value of any element, a
// number all elements are a multiple of, and along each dimension whether elements run contiguously
// (each one more than the last) or are equal, in aligned groups of how many. Facts flow from
// constants, iota, program ids (>= 0), extents (>= 0, and their IrFacts), loop bounds, `requires`
// and `assume` conditions, comparisons guarding an `if`, and arithmetic that provably does not
// wrap.
// Invariants: sound: every run of the kernel that satisfies its requires obeys them. Values that
// are no integers have no facts (known = false).
// Ownership: the arena given.
//
//     IrRanges *r = ir_ranges(arena, f);
//     IrRange x = ir_range_of(r, value);   // x.known, x.min, x.max, x.divisor
#ifndef TILEC_IR_ANALYSIS_H
#define TILEC_IR_ANALYSIS_H

#include "ir/ir.h"

typedef struct IrRange {
    bool known;                        // false: nothing (no integer)
    int64_t min, max;                  // u64 beyond INT64_MAX: the full range, known = true
    uint64_t divisor;                  // all elements are multiples of it; >= 1; 0 value: 1 << 63
    uint32_t contiguous[IR_MAX_RANK];  // run length along the dimension of x, x+1, x+2 …; >= 1
    uint32_t constant[IR_MAX_RANK];    // run length along the dimension of equal elements; >= 1
} IrRange;

typedef struct IrRanges IrRanges;
IrRanges *ir_ranges(Arena *arena, const IrFunc *f);
IrRange ir_range_of(const IrRanges *ranges, const IrValue *value);
// Is `a <= b` (a scalar or every element) provable? Also symbolically: x <= extent M etc.
bool ir_provably_le(const IrRanges *ranges, const IrValue *a, int64_t add_a, const IrValue *b);

// Liveness within the structured form: for every value the last op (by order in its function's
// linearisation) that needs it, loops holding what they use from outside to their end.
typedef struct IrLiveness IrLiveness;
IrLiveness *ir_liveness(Arena *arena, const IrFunc *f);
uint32_t ir_live_begin(const IrLiveness *l, const IrValue *v);  // position in the linear order
uint32_t ir_live_end(const IrLiveness *l, const IrValue *v);
bool ir_live_overlap(const IrLiveness *l, const IrValue *a, const IrValue *b);

#endif
