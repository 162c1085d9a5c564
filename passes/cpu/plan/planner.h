// cpu_plan: declarations that its two files share; no other file includes this.
//
//     plan.c      the walk over the body, and the result that is written on the ops
//     values.c    the values of a root: which must be in memory, which roots fit together
//
// Ownership: everything is in the pass's scratch.
#ifndef TILEC_PASSES_CPU_PLAN_PLANNER_H
#define TILEC_PASSES_CPU_PLAN_PLANNER_H

#include "passes/cpu/op_kind.h"
#include "passes/pass.h"

// Facts about a tile value; by id.
typedef struct PlanTile {
    bool in_memory;   // never reset
    bool pending;     // a root of the open nest will define it
    uint32_t memory;  // equal for the same memory; 0: not defined yet
    uint32_t nest;    // the nest that computed it last, + 1
    uint32_t member;  // the nest in whose values it was counted last, + 1
    uint32_t height;  // length of the longest chain of values that it is computed from
    uint32_t seen;    // its place in the list of the walk that met it last, + 1 (values.c)
    uint32_t time;    // when the walk met it
} PlanTile;

typedef struct PlanRoot {
    RootKind kind;
    IrOp *op;        // the op that makes or stores the value; NULL: the value is copied
    IrValue *value;  // ROOT_BUFFER
    bool moves;      // ROOT_BUFFER: copied from other memory; nothing is computed
    uint32_t time;
} PlanRoot;

typedef struct PlanNest {
    uint32_t number;
    uint32_t rank;
    uint32_t shape[IR_MAX_RANK];
    int axis;  // the axis of its reductions; -1: none
    VEC(PlanRoot) roots;
    uint32_t values;  // values that its roots compute
} PlanNest;

typedef struct PlanWrite {
    const IrOp *op;
    uint32_t time;
} PlanWrite;

// The nest of one root of an op.
typedef struct PlanChoice {
    IrOp *op;
    uint32_t nest;
} PlanChoice;

typedef struct Planner {
    IrFunc *func;
    Arena *scratch;
    unsigned facts;
    const uint32_t *homes;
    bool changed;     // a value has moved to memory
    PlanTile *tiles;  // by value id; the planner makes no values
    // ---- the state of one walk
    IrOp *here;
    PlanNest *nest;    // the open nest; NULL: none
    uint32_t stretch;  // finished nests and whole ops
    uint32_t nests;    // nests begun so far
    uint32_t memories;
    uint32_t time;
    VEC(PlanWrite) writes;  // the writes met so far, in order
    VEC(PlanChoice) choices;
} Planner;

static inline PlanTile *plan_tile(const Planner *p, const IrValue *value) {
    return &p->tiles[value->id];
}
void plan_put_in_memory(Planner *p, const IrValue *value);  // in memory from now on
// Called for each op in order: very long chains of values are cut.
void plan_height(Planner *p, const IrOp *op);
// Adds the first root of a new nest.
void plan_begin(Planner *p, PlanNest *nest, const PlanRoot *root);
// Can the root join the open nest? If not, the nest must be ended first.
bool plan_may_join(Planner *p, PlanNest *nest, const PlanRoot *root);
// Called when a nest ends: keeps loads that may not move that far, and values computed too often.
void plan_nest(Planner *p, PlanNest *nest);
// The same as plan_nest, for one operand that a whole op (dot) computes as it reads.
void plan_inline_use(Planner *p, IrValue *value);
// Does computing `value` read the memory of `what`, and at the value's own place or at another one?
typedef enum PlanRead { PLAN_NO_READ, PLAN_SAME_PLACE, PLAN_OTHER_PLACE } PlanRead;
PlanRead plan_reads(Planner *p, const IrValue *value, const IrValue *what);
PlanRead plan_nest_reads(Planner *p, const PlanNest *nest, const IrValue *what);  // any root

#endif
