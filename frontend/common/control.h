// Control flow: slots of names, regions, the merge of what they changed, loops, early exits.
//
// Purpose: IR has regions of one block whose results are yielded; languages have variables,
// break, continue and return. A name's value lives in a Slot. Slots changed inside a region (a
// branch, a loop's body) are logged, so that their merge with the outside becomes results of the
// region's op. Leaving early sets flags that are slots, too: `active` of a loop's iteration or of a
// body, `going` of a loop; whoever walks statements runs what follows under the flag (el_guarded).
// Invariants: begin and end come in pairs; a begin that returns false began nothing.
// Ownership: the scratch of the Elab.
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

// What a slot is for: merges treat the hidden ones differently.
typedef enum SlotKind {
    SLOT_NAME,    // of a declaration
    SLOT_ACTIVE,  // true while the statements of this loop iteration or body still run
    SLOT_GOING,   // true while a loop may start another iteration
    SLOT_RESULT,  // a return value of a function; NONE until set
} SlotKind;

struct Slot {
    Val val;
    SlotKind kind;
    bool tail;          // ACTIVE: nothing follows that would ask for it
    uint32_t region;    // in which it was last declared or logged
    uint32_t declared;  // order of its declaration: the front end's
    uint32_t mark;      // of the merge or loop that handled it last
    uint32_t place;     // its index there
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
    Change *changes;  // once ended: what was assigned inside
    uint32_t count;
} Region;
// Emits into `block` from here on; false (and no region) after an error: nested too deep.
bool el_region_begin(Elab *e, Region *r, IrBlock *block, Span span);
void el_region_end(Elab *e, Region *r);
void el_merge(Elab *e, IrValue *cond, Region *then_arm, Region *else_arm, Span span);
// Runs something under `if (flag)`; the flag is true inside, and stays what `run` leaves it.
void el_guarded(Elab *e, Slot *flag, void (*run)(Elab *e, void *user), void *user, Span span);
// The type in which two values of one slot meet: NULL when they need none (equal, or unset), or
// after an error, which sets *wrong.
const IrType *el_meet(Elab *e, Val a, Val b, Span span, bool *wrong);
// A value as IR of `type`, at the builder's place: unset ones become zeros nobody reads.
IrValue *el_materialize(Elab *e, Val v, const IrType *type, Span span);
bool el_same(Val a, Val b);
// left && right (or ||), right computed by the ops of `block`, which run only where they matter.
IrValue *el_join_conditions(Elab *e, bool is_and, IrValue *left, IrBlock *block, IrValue *right);

// ---- loop.c
struct Loop {
    Loop *outer;      // within the same body: the front end's
    Loop *outer_any;  // also across calls
    Slot active, going;
    IrValue *var, *low, *step;  // of a run-time `for`
};

// What a loop's body does, which is known before it is walked.
typedef struct LoopFacts {
    uint32_t count;
    Slot *const *assigned;  // declared outside, assigned inside; NULLs and doubles are skipped
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
    IrBlock *body;       // the last of them
    IrValue *bounds[3];  // of a `for`
    Region region;
    uint32_t mark;
    bool exits;  // carried[0] is `going`
} LoopOp;

// The loop is the innermost one between enter and leave; it goes on, and its iteration is active.
void el_loop_begin(Elab *e, Loop *loop);
void el_loop_enter(Elab *e, Loop *loop);
void el_loop_leave(Elab *e, Loop *loop);

// for loop->var = bounds[0] .. bounds[1] step bounds[2]. What is emitted between begin and end is
// the body.
bool el_for_begin(Elab *e, LoopOp *op, Loop *loop, IrValue *const *bounds, const LoopFacts *facts,
                  Span span);
void el_for_end(Elab *e, LoopOp *op, bool down, Span span);

// while: first the condition, then the body between begin and end. `ask` gives the condition as a
// scalar bool, NULL after an error; *always: it is the constant true.
bool el_while_condition(Elab *e, LoopOp *op, Loop *loop, const LoopFacts *facts,
                        IrValue *(*ask)(Elab *e, void *user), void *user, Span span, bool *always);
bool el_while_begin(Elab *e, LoopOp *op, Span span);
void el_while_end(Elab *e, LoopOp *op, Span span);

#endif
