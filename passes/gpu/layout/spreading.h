// Shared by the files of gpu_layout: classes of values, and the ties between them.
//
//     layout.c            classes, and the layouts they prefer
//     settle.c            the layouts of the other classes, to begin with
//     choose_layouts.c    the cheapest layout for each class
//     insert_converts.c   conversions where an op needs another layout
//     rematerialize.c     cheap values recomputed instead of converted
//
// Invariants: classes are by value id and joined by parents; a root's layout is the one that all
// its values get. Values with ids from `known` on were created by the pass: conversions and
// repeated ops, whose types have their layouts.
// Ownership: the pass's scratch.
//
//     SpreadClass *c = spreading_class(s, v);
//     uint64_t cost = spreading_access_cost(s, op, &c->layout, NULL);
#ifndef TILEC_PASSES_GPU_LAYOUT_SPREADING_H
#define TILEC_PASSES_GPU_LAYOUT_SPREADING_H

#include "passes/gpu/cost.h"
#include "passes/gpu/gpu.h"

typedef struct SpreadClass {
    uint32_t parent;  // by value id; itself: a root
    uint32_t bytes;   // of the narrowest element that is loaded or stored in it; 0: none
    GpuDepth depth;   // of a lane's loads, gpu_blocked_deep
    bool known, dot;  // dot: its layout is the matrix unit's, and does not change
    Layout layout;
    uint64_t work;  // elementwise ops, each weighted by how often it runs
    VEC(struct SpreadTie *) ties;
    VEC(IrOp *) accesses;  // and reductions
    VEC(uint32_t) follow;  // ops through which a layout may follow, by index
} SpreadClass;

// An op between two classes: if their layouts do not fit, a value is converted.
typedef enum SpreadTieKind {
    SPREAD_TIE_SHAPE,   // a: operand 0, b: a result
    SPREAD_TIE_REDUCE,  // a: operand 1, b: a result
    SPREAD_TIE_INDEX,   // a: the value loaded or stored, b: an index tile
    SPREAD_TIE_SCAN,    // a: operand and result, in the layout `inside` of the scan
    SPREAD_TIE_ALIKE,   // a: the result, b: an operand that needs the layout of the result
} SpreadTieKind;

typedef struct SpreadTie {
    SpreadTieKind kind;
    IrOp *op;
    uint32_t at;  // result or operand number
    const IrValue *a, *b;
    Layout inside;
    uint64_t times;  // how often it runs, roughly
} SpreadTie;

typedef struct Spreading {
    IrFunc *func;
    Arena *scratch;
    GpuThreads threads;
    const Machine *machine;
    SpreadClass *classes;  // by value id
    GpuKnown facts;        // from before the pass
    uint32_t known;        // values with higher numbers were created by the pass
    VEC(IrOp *) ops;
    VEC(IrValue *) values;  // tiles
} Spreading;

// How often an op runs, roughly: each loop around it counts as this many iterations.
uint64_t spreading_times(const IrOp *op);
// The value that an access moves: loaded, stored or exchanged; NULL for other ops.
const IrValue *spreading_moved(const IrOp *op);

// ---- settle.c -----------------------------------------------------------------------------------

SpreadClass *spreading_class(Spreading *s, const IrValue *v);
void spreading_settle(Spreading *s);

// ---- choose_layouts.c ---------------------------------------------------------------------------

// The cost of one access in this layout; *wide (unless NULL) gets the layout to access memory in,
// if that and a conversion cost less.
uint64_t spreading_access_cost(const Spreading *s, const IrOp *op, const Layout *l, Layout *wide);
// The cost of a conversion of the value.
uint64_t spreading_convert_cost(const Spreading *s, const IrValue *v, const Layout *from,
                                const Layout *to);
// The cost of a shape op from one layout to another: *operand (unless NULL) is the layout that its
// operands are converted to first.
uint64_t spreading_shape_cost(const Spreading *s, const IrOp *op, uint32_t result,
                              const Layout *from, const Layout *to, Layout *operand);
void spreading_relax(Spreading *s);

// ---- insert_converts.c, rematerialize.c ---------------------------------------------------------

void spreading_fit(Spreading *s);
void spreading_rematerialize(Spreading *s);

#endif
