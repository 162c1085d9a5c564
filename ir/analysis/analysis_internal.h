// The interfaces between the parts of the range analysis.
//
// analysis_ranges.c walks the function and keeps the state; analysis_transfer.c computes the range
// of each op's result from its operands' ranges; analysis_condition.c takes conditions apart into
// facts; analysis_symbolic.c proves inequalities from facts.
// Invariants: `facts` and `exact` are indexed by value id. `overlay` holds the facts known at the
// current position of the walk; outside of the walk it is empty.
// Ownership: everything is in the arena given to ir_ranges.
//
//     IrRange sum = range_of_op(r, op, 0);
#ifndef TILEC_IR_ANALYSIS_ANALYSIS_INTERNAL_H
#define TILEC_IR_ANALYSIS_ANALYSIS_INTERNAL_H

#include "ir/analysis/analysis.h"

// a + add <= b; or, with b NULL, `a` is a multiple of `divisor`.
typedef struct RangeFact {
    const IrValue *a, *b;
    int64_t add;
    uint64_t divisor;
} RangeFact;
typedef VEC(RangeFact) RangeFacts;

// A refinement of the facts about an atom, see range_atom.
typedef struct RangeOverlay {
    const void *atom;
    int64_t min, max;
    uint64_t divisor;
} RangeOverlay;

struct IrRanges {
    Arena *arena;
    const IrFunc *func;
    uint32_t count;  // the number of values at the start: nothing is known about later ones
    IrTrust trust;
    IrRange *facts;
    bool *seen;   // a range has been computed
    bool *exact;  // the op that made it did not wrap: its result is the mathematical one
    IrRange *extents;
    VEC(RangeOverlay) overlay;
    RangeFacts required;         // from requires: they hold everywhere
    VEC(const IrOp *) asserted;  // asserts, and assumes when trusted; their facts hold after them
    const IrValue *programs[6];  // the first op seen of program(d) and programs(d): their atoms
    int sweep;
    bool changed;
};

// ---- ranges as values ---------------------------------------------------------------------------
IrRange range_nothing(void);
IrRange range_full(const IrType *type);  // the range that the type allows
IrRange range_between(const IrType *type, Int128 min, Int128 max, uint64_t divisor);
IrRange range_constant(const IrType *type, int64_t value);
IrRange range_join(const IrRange *a, const IrRange *b);
bool range_is_full_u64(const IrType *type, const IrRange *range);
uint64_t range_gcd(uint64_t a, uint64_t b);  // of divisors
uint64_t range_divisor_of(int64_t value);
bool range_is_integer(const IrValue *value);

// ---- the state ----------------------------------------------------------------------------------
// The thing that represents a value in facts: one for all ops of the same extent or program id.
const void *range_atom(const IrRanges *r, const IrValue *value);
IrRange range_get(const IrRanges *r, const IrValue *value);  // the overlay included
IrRange *range_extent(const IrRanges *r, Symbol name);  // NULL when the function has no such extent
bool range_is_constant(const IrRanges *r, const IrValue *value, int64_t *number);

// ---- transfer -----------------------------------------------------------------------------------
// The range of result `i`; sets *exact. Not for control ops.
IrRange range_of_op(const IrRanges *r, const IrOp *op, uint32_t i, bool *exact);

// ---- conditions ---------------------------------------------------------------------------------
// The facts that follow when a bool value is `holds`, pushed onto `facts`.
void range_condition(const IrRanges *r, const IrValue *condition, bool holds, RangeFacts *facts);
// The facts that guard a region of `op`.
void range_guards(const IrRanges *r, const IrOp *op, const IrBlock *region, RangeFacts *facts);
// The interval and divisor that a fact gives its sides. They are pushed onto the overlay (the
// result is how many), or, when `global`, put into parameters and extents for good.
void range_refine(IrRanges *r, const RangeFact *fact, bool global);

#endif
