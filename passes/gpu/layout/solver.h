// Shared by the files of gpu_layout: classes of values, and the ties between them.
//
//     layout.c            classes, and the layouts they prefer
//     propagate.c            the layouts of the other classes, to begin with
//     choose_layouts.c    the cheapest layout for each class
//     insert_converts.c   conversions where an op needs another layout
//     rematerialize.c     cheap values recomputed instead of converted
//
// Invariants: classes are by value id and joined by parents; a root's layout is the one that all
// its values get. Values with ids from `known` on were created by the pass: conversions and
// repeated ops, whose types have their layouts.
// Ownership: the pass's scratch.
//
//     LayoutClass *c = layouts_class(s, v);
//     uint64_t cost = layouts_access_cost(s, op, &c->layout, NULL);
#ifndef TILEC_PASSES_GPU_LAYOUT_SOLVER_H
#define TILEC_PASSES_GPU_LAYOUT_SOLVER_H

#include "passes/gpu/cost.h"
#include "passes/gpu/gpu.h"

typedef struct LayoutClass {
    uint32_t parent;  // by value id; itself: a root
    uint32_t bytes;   // of the narrowest element that is loaded or stored in it; 0: none
    GpuDepth depth;   // of a lane's loads, gpu_blocked_deep
    bool known, dot;  // dot: its layout is the matrix unit's, and does not change
    Layout layout;
    uint64_t work;  // elementwise ops, each weighted by how often it runs
    VEC(struct LayoutTie *) ties;
    VEC(IrOp *) accesses;  // and reductions
    VEC(uint32_t) follow;  // ops through which a layout may follow, by index
} LayoutClass;

// An op between two classes: if their layouts do not fit, a value is converted.
typedef enum LayoutTieKind {
    LAYOUT_TIE_SHAPE,   // a: operand 0, b: a result
    LAYOUT_TIE_REDUCE,  // a: operand 1, b: a result
    LAYOUT_TIE_INDEX,   // a: the value loaded or stored, b: an index tile
    LAYOUT_TIE_SCAN,    // a: operand and result, in the layout `inside` of the scan
    LAYOUT_TIE_SAME,    // a: the result, b: an operand that needs the layout of the result
} LayoutTieKind;

typedef struct LayoutTie {
    LayoutTieKind kind;
    IrOp *op;
    uint32_t at;  // result or operand number
    const IrValue *a, *b;
    Layout inside;
    uint64_t times;  // how often it runs, roughly
} LayoutTie;

typedef struct LayoutSolver {
    IrFunc *func;
    Arena *scratch;
    GpuThreads threads;
    const Machine *machine;
    LayoutClass *classes;  // by value id
    GpuFuncFacts facts;    // from before the pass
    uint32_t known;        // values with higher numbers were created by the pass
    VEC(IrOp *) ops;
    VEC(IrValue *) values;  // tiles
} LayoutSolver;

// How often an op runs, roughly: each loop around it counts as this many iterations.
uint64_t layouts_times(const IrOp *op);
// The value that an access moves: loaded, stored or exchanged; NULL for other ops.
const IrValue *layouts_moved(const IrOp *op);

// ---- propagate.c --------------------------------------------------------------------------------

LayoutClass *layouts_class(LayoutSolver *s, const IrValue *v);
void layouts_propagate(LayoutSolver *s);

// ---- choose_layouts.c ---------------------------------------------------------------------------

// The cost of one access in this layout; *wide (unless NULL) gets the layout to access memory in,
// if that and a conversion cost less.
uint64_t layouts_access_cost(const LayoutSolver *s, const IrOp *op, const Layout *l, Layout *wide);
// The cost of a conversion of the value.
uint64_t layouts_convert_cost(const LayoutSolver *s, const IrValue *v, const Layout *from,
                              const Layout *to);
// The cost of a shape op from one layout to another: *operand (unless NULL) is the layout that its
// operands are converted to first.
uint64_t layouts_shape_cost(const LayoutSolver *s, const IrOp *op, uint32_t result,
                            const Layout *from, const Layout *to, Layout *operand);
void layouts_relax(LayoutSolver *s);

// ---- insert_converts.c, rematerialize.c ---------------------------------------------------------

void layouts_insert_converts(LayoutSolver *s);
void layouts_rematerialize(LayoutSolver *s);

#endif
