// cpu_plan: what its two files share; nothing outside includes it.
//
//     plan.c      the walk over the body, and what is written on the ops in the end
//     values.c    what a root computes: which values must lie in memory, which roots fit together
//
// Ownership: everything is in the pass's scratch.
#ifndef TILEC_PASSES_CPU_PLAN_PLANNER_H
#define TILEC_PASSES_CPU_PLAN_PLANNER_H

#include "passes/cpu/op_kind.h"
#include "passes/pass.h"

// What is known of a tile value; by id.
typedef struct PlanTile {
    bool in_memory;   // never unset
    bool pending;     // a root of the open nest will define it
    uint32_t memory;  // equal for the same memory; 0: not defined yet
    uint32_t nest;    // the nest that last computed it, + 1
    uint32_t member;  // the nest among whose values it was counted last, + 1
    uint32_t height;  // values that it is computed from, one after the other
    uint32_t seen;    // its place in the list of the walk that met it last, + 1 (values.c)
    uint32_t time;    // when it was met
} PlanTile;

typedef struct PlanRoot {
    RootKind kind;
    IrOp *op;        // what makes or stores the value; NULL: it is copied
    IrValue *value;  // ROOT_BUFFER
    bool moves;      // ROOT_BUFFER: from other memory; nothing is computed
    uint32_t time;
} PlanRoot;

typedef struct PlanNest {
    uint32_t number;
    uint32_t rank;
    uint32_t shape[IR_MAX_RANK];
    int axis;  // that reductions run along; -1: none
    VEC(PlanRoot) roots;
    uint32_t values;  // that its roots compute
} PlanNest;

typedef struct PlanWrite {
    const IrOp *op;
    uint32_t time;
} PlanWrite;

// The nest of one root that an op makes.
typedef struct PlanChoice {
    IrOp *op;
    uint32_t nest;
} PlanChoice;

typedef struct Planner {
    IrFunc *func;
    Arena *scratch;
    unsigned facts;
    const uint32_t *homes;
    bool changed;  // a value is in memory that was not
    VEC(PlanTile) tiles;
    // ---- of one walk
    IrOp *here;
    PlanNest *nest;    // the open one; NULL
    uint32_t stretch;  // nests and whole ops that are done
    uint32_t nests;    // begun
    uint32_t memories;
    uint32_t time;
    VEC(PlanWrite) writes;  // that were met, in order
    VEC(PlanChoice) choices;
} Planner;

PlanTile *plan_tile(Planner *p, const IrValue *value);
void plan_keep(Planner *p, const IrValue *value);  // from now on in memory
// For each op in order: chains of values end somewhere.
void plan_height(Planner *p, const IrOp *op);
// The first root of a nest that is new.
void plan_begin(Planner *p, PlanNest *nest, const PlanRoot *root);
// Can the root join the open nest? If not the nest is to be ended first.
bool plan_may_join(Planner *p, PlanNest *nest, const PlanRoot *root);
// As a nest ends: loads that may not move so far, values computed too often.
void plan_nest(Planner *p, PlanNest *nest);
// A whole op that computes what it reads (dot): as plan_nest, for that value.
void plan_inline_use(Planner *p, IrValue *value);
// Does computing `value` read the memory of `what`? Or at another place than its own?
typedef enum PlanRead { PLAN_NO_READ, PLAN_SAME_PLACE, PLAN_OTHER_PLACE } PlanRead;
PlanRead plan_reads(Planner *p, const IrValue *value, const IrValue *what);
PlanRead plan_nest_reads(Planner *p, const PlanNest *nest, const IrValue *what);  // all its roots

#endif
