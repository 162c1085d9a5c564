// Control flow: slots for names, regions and the merge of their changes, loops, early exits.
//
// Purpose: a region of the IR has one block that yields its results; languages have variables,
// break, continue and return. A Slot holds the value of a name. Slots that change inside a region
// (a branch, a loop's body) are logged; a merge turns the changes into results of the region's op.
// An early exit sets flags, which are slots, too: `active` of a loop's iteration or of a body,
// `going` of a loop. A front end that walks statements emits the ones that follow under the flag
// (el_guarded). Invariants: begin and end come in pairs; a begin that returns false has begun
// nothing. Ownership: the scratch of the Elab.
//
//     Region then_arm, else_arm;
//     if (!el_region_begin(e, &then_arm, ir_block_create(e->func), span)) return;
//     el_assign_slot(e, slot, value);
//     el_region_end(e, &then_arm);
//     …
//     el_merge(e, cond, &then_arm, &else_arm, span);
#ifndef TILEC_FRONTEND_COMMON_CONTROL_H
#define TILEC_FRONTEND_COMMON_CONTROL_H

#include "frontend/common/elab.h"

enum { EL_NEST_DEPTH = 200 };  // regions within regions

// The purpose of a slot. Merges treat the kinds that are not names differently.
typedef enum SlotKind {
    SLOT_NAME,    // the variable of a declaration
    SLOT_ACTIVE,  // true while the statements of this loop iteration or body still run
    SLOT_GOING,   // true while a loop may start another iteration
    SLOT_RESULT,  // a return value of a function; NONE until set
} SlotKind;

struct Slot {
    Val val;
    SlotKind kind;
    bool tail;          // ACTIVE: no statement follows that would read the flag
    bool whole;         // ACTIVE: of a body; where it is false, no name of the body is read again
    uint32_t region;    // the region in which it was last declared or logged
    uint32_t declared;  // order of its declaration, set by the front end
    uint32_t mark;      // number of the merge or loop that handled it last
    uint32_t place;     // its index in that merge or loop
    Symbol name;
};

struct LogEntry {
    Slot *slot;
    Val old;
    uint32_t old_region;
};

typedef struct Change {
    Slot *slot;
    Val val;
} Change;

// ---- region.c
void el_assign_slot(Elab *e, Slot *slot, Val v);
void el_declare_slot(Elab *e, Slot *slot, Val v);

typedef struct Region {
    IrBlock *block, *outer_block;
    IrOp *outer_before;
    uint32_t outer_region;
    size_t log_start;
    Change *changes;  // after the end: the assignments made inside
    uint32_t count;
} Region;
// Emits into `block` from here on. Returns false, and opens no region, after an error: the nesting
// is too deep.
bool el_region_begin(Elab *e, Region *r, IrBlock *block, Span span);
void el_region_end(Elab *e, Region *r);
void el_merge(Elab *e, IrValue *cond, Region *then_arm, Region *else_arm, Span span);
// Runs `run` under `if (flag)`. The flag is true inside; afterwards it has the value that `run`
// gave it.
void el_guarded(Elab *e, Slot *flag, void (*run)(Elab *e, void *user), void *user, Span span);
// The common type of two values of one slot. NULL when they need none (they are equal or unset), or
// after an error, which sets *wrong.
const IrType *el_common_type(Elab *e, const Slot *slot, Val a, Val b, Span span, bool *wrong);
// A value as IR of `type`, at the builder's position. Unset values become zeros that are never
// read.
IrValue *el_materialize(Elab *e, Val v, const IrType *type, Span span);
bool el_same(Val a, Val b);
// left && right (or ||). The ops of `block` compute right; they run only if left does not decide.
IrValue *el_join_conditions(Elab *e, bool is_and, IrValue *left, IrBlock *block, IrValue *right);

// ---- loop.c
struct Loop {
    Loop *outer;      // within the same body; set by the front end
    Loop *outer_any;  // the enclosing loop, also across calls
    Slot active, going;
    IrValue *var, *low, *step;  // for a run-time `for`
};

// Facts about a loop's body that are known before it is elaborated.
typedef struct LoopFacts {
    uint32_t count;
    Slot *const *assigned;  // declared outside, assigned inside; NULLs and duplicates are skipped
    bool exits;             // it has a break or a return
} LoopFacts;

typedef struct LoopCarried {
    Slot *slot;
    IrValue *init, *next;
    const IrType *type;
} LoopCarried;

// A loop that is being built.
typedef struct LoopOp {
    VEC(LoopCarried) carried;
    IrBlock *blocks[2];  // both regions of a while take all carried values
    IrBlock *body;       // the last of the blocks
    IrValue *bounds[3];  // for a `for`
    Region region;
    uint32_t mark;
    bool exits;  // carried[0] is `going`
} LoopOp;

// Between enter and leave the loop is the innermost one. At its begin `going` and `active` are
// true.
void el_loop_begin(Elab *e, Loop *loop);
void el_loop_enter(Elab *e, Loop *loop);
void el_loop_leave(Elab *e, Loop *loop);

// for loop->var = bounds[0] .. bounds[1] step bounds[2]. The ops emitted between begin and end are
// the body.
bool el_for_begin(Elab *e, LoopOp *op, Loop *loop, IrValue *const *bounds, const LoopFacts *facts,
                  Span span);
void el_for_end(Elab *e, LoopOp *op, bool down, Span span);

// while: first the condition, then the body between begin and end. `ask` returns the condition as a
// scalar bool, or NULL after an error; *always is set when it is the constant true.
bool el_while_condition(Elab *e, LoopOp *op, Loop *loop, const LoopFacts *facts,
                        IrValue *(*ask)(Elab *e, void *user), void *user, Span span, bool *always);
bool el_while_begin(Elab *e, LoopOp *op, Span span);
void el_while_end(Elab *e, LoopOp *op, Span span);

#endif
