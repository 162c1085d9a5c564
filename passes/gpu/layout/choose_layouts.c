// Chooses the cheapest layout for each class, given its neighbours', until no class gains.
//
// How: a class may take the layouts that its own accesses prefer, or those that follow through an
// op from the layout of another class. The price of a layout is the sum of all costs that depend on
// it: elementwise work (as many instructions as registers, so replicas cost), accesses, reductions,
// and the conversions between the class and its neighbours, each weighted by how often it runs. A
// class changes its layout if that lowers its price, and so the sum of all. If nothing changes any
// more, a conversion between two classes moves on, upwards in one round and downwards in the next,
// until it reaches an op that makes it unnecessary: a load or a store.
#include "passes/gpu/layout/solver.h"
#include "passes/gpu/tuning.h"

enum { ROUNDS = 4, TIMES_MAX = TUNE_LOOP_TIMES * TUNE_LOOP_TIMES * TUNE_LOOP_TIMES };

uint64_t layouts_times(const IrOp *op) {
    uint64_t times = 1;
    for (; op; op = op->block->parent)
        if ((op->code == IR_FOR || op->code == IR_WHILE) && times < TIMES_MAX)
            times *= TUNE_LOOP_TIMES;
    return times;
}

// The number of registers that hold different elements.
static uint32_t registers(const Layout *l) {
    uint32_t repeated = layout_free_bits(l, LAYOUT_REG);
    return layout_size(l, LAYOUT_REG) >> __builtin_popcount(repeated);
}

// ---- accesses -----------------------------------------------------------------------------------

static const IrParam *view_of(const IrOp *op) {
    const IrValue *view = op->operand_count ? ir_operand(op, 0) : NULL;
    if (!view || view->type->kind != IR_VIEW) return NULL;
    return &op->block->func->params.data[view->index];
}

// Bytes between neighbours on each axis of the tile; a large number if unknown. False: no axis runs
// along neighbours in memory.
static bool strides_of(const IrOp *op, const IrType *type, int64_t *strides) {
    const IrParam *view = view_of(op);
    int64_t bytes = ir_elem_size(type);
    for (uint32_t d = 0; d < type->rank; d++) strides[d] = INT64_C(1) << (28 + d);
    if (!view) {
        strides[type->rank - 1] = bytes;
        return true;
    }
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t axis = type->rank;
    int64_t stride = bytes;
    for (uint32_t d = select->u.ints.count; d-- > 0 && axis > 0;) {
        // Before an index tile, axes and dimensions do not correspond.
        if (ir_operand(op, ir_view_index_start(op->code) + d)->type->rank) break;
        if (select->u.ints.items[d] > 0) strides[--axis] = stride;
        if (view->dims[d].extent) break;
        stride *= view->dims[d].value;
    }
    return strides[type->rank - 1] == bytes;
}

static bool is_plain_access(const IrOp *op) {
    return op->code == IR_VIEW_LOAD || op->code == IR_VIEW_STORE;
}

static uint64_t direct_cost(const LayoutSolver *s, const IrOp *op, const IrType *type,
                            const Layout *l) {
    int64_t strides[IR_MAX_RANK];
    bool neighbours = strides_of(op, type, strides);
    uint32_t bytes = ir_elem_size(type), fast = type->rank - 1, vector = 1;
    if (neighbours && is_plain_access(op)) vector = layout_contiguity(l, fast);
    if (op->code == IR_LOAD || op->code == IR_STORE) {
        uint32_t run = gpu_pointer_run(&s->facts, op, fast), most = layout_contiguity(l, fast);
        vector = run < most ? run : most;
    }
    while (vector > 1 && vector * bytes > GPU_ACCESS_BYTES) vector /= 2;
    uint32_t sectors = layout_sectors(l, 0, 0, vector, fast, bytes, 0, strides);
    uint64_t one = GPU_COST_ISSUE + GPU_COST_ADDRESS + GPU_COST_WAVEFRONT;
    one += (uint64_t)sectors * GPU_COST_SECTOR;
    return registers(l) / vector * one;
}

uint64_t layouts_access_cost(const LayoutSolver *s, const IrOp *op, const Layout *l, Layout *wide) {
    const IrType *type = layouts_moved(op)->type;
    uint64_t direct = direct_cost(s, op, type, l);
    if (!is_plain_access(op)) return direct;
    Layout best = gpu_blocked(type, s->threads, ir_elem_size(type));
    uint64_t around = direct_cost(s, op, type, &best);
    if (around >= direct) return direct;
    bool loads = op->code == IR_VIEW_LOAD;
    around += layouts_convert_cost(s, layouts_moved(op), loads ? &best : l, loads ? l : &best);
    if (around >= direct) return direct;
    if (wide) *wide = best;
    return around;
}

// ---- conversions, reductions --------------------------------------------------------------------

uint64_t layouts_convert_cost(const LayoutSolver *s, const IrValue *v, const Layout *from,
                              const Layout *to) {
    return gpu_conversion(from, to, dtype_bits(gpu_moved_elem(v->type)), s->machine->banks).cost;
}

// The cost of a reduction's or shape's result if the operand has this layout; UINT64_MAX:
// impossible.
static uint64_t result_cost(const LayoutSolver *s, const IrOp *op, uint32_t result,
                            const Layout *operand, const Layout *to) {
    Layout natural;
    if (layout_infer_allows(op, result, operand, to)) return 0;
    if (!layout_infer_result(op, result, operand, &natural)) return UINT64_MAX;
    return layouts_convert_cost(s, &op->results[result], &natural, to);
}

uint64_t layouts_shape_cost(const LayoutSolver *s, const IrOp *op, uint32_t result,
                            const Layout *from, const Layout *to, Layout *operand) {
    uint64_t best = result_cost(s, op, result, from, to), after;
    Layout before;
    if (operand) *operand = *from;
    if (!best || !layout_infer_operand(op, to, &before)) return best;
    after = result_cost(s, op, result, &before, to);
    if (after == UINT64_MAX) return best;
    after += layouts_convert_cost(s, ir_operand(op, 0), from, &before) * op->operand_count;
    if (after >= best) return best;
    if (operand) *operand = before;
    return after;
}

static uint64_t reduce_cost(const IrOp *op, const Layout *l) {
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS), start = layout_axis_start(l, axis);
    uint32_t ends = start + l->axis_bits[axis], left = registers(l), lanes = 0, warps = 0;
    uint64_t cost = left;
    for (LayoutDim dim = LAYOUT_REG; dim <= LAYOUT_WARP; dim++) {
        for (uint32_t i = 0; i < l->dim_bits[dim]; i++) {
            uint32_t basis = layout_basis(l, dim, i);
            if (basis >> start == 0 || basis >> ends) continue;
            if (dim == LAYOUT_REG) left /= 2;
            if (dim == LAYOUT_LANE) lanes++;
            if (dim == LAYOUT_WARP) warps++;
        }
    }
    if (!left) left = 1;
    cost += (uint64_t)lanes * left * (GPU_COST_SHUFFLE + GPU_COST_ISSUE);
    if (!warps) return cost;
    return cost + 2 * GPU_COST_BARRIER +
           ((uint64_t)left + ((uint64_t)left << warps)) * (GPU_COST_ISSUE + GPU_COST_WAVEFRONT);
}

// ---- ties ---------------------------------------------------------------------------------------

static uint64_t tie_cost(const LayoutSolver *s, const LayoutTie *tie, const Layout *a,
                         const Layout *b) {
    Layout way;
    switch (tie->kind) {
    case LAYOUT_TIE_SHAPE: return layouts_shape_cost(s, tie->op, tie->at, a, b, NULL);
    case LAYOUT_TIE_REDUCE:
        if (!layout_infer_result(tie->op, tie->at, a, &way)) return 0;
        return layouts_convert_cost(s, tie->b, &way, b);
    case LAYOUT_TIE_INDEX:
        if (!layout_infer_index(tie->op, tie->at, a, &way)) return 0;
        return layouts_convert_cost(s, tie->b, b, &way);
    case LAYOUT_TIE_SCAN:
        return layouts_convert_cost(s, tie->a, a, &tie->inside) +
               layouts_convert_cost(s, tie->b, &tie->inside, b);
    case LAYOUT_TIE_SAME: return layouts_convert_cost(s, tie->b, b, a);
    }
    return 0;
}

// The layout that one side must have so that no conversion from the other's is needed.
static bool image_of(const LayoutTie *tie, bool of_a, const Layout *other, Layout *image) {
    switch (tie->kind) {
    case LAYOUT_TIE_SHAPE:
        return of_a ? layout_infer_operand(tie->op, other, image)
                    : layout_infer_result(tie->op, tie->at, other, image);
    case LAYOUT_TIE_REDUCE: return !of_a && layout_infer_result(tie->op, tie->at, other, image);
    case LAYOUT_TIE_INDEX: return !of_a && layout_infer_index(tie->op, tie->at, other, image);
    case LAYOUT_TIE_SCAN: *image = tie->inside; return true;
    case LAYOUT_TIE_SAME: *image = *other; return true;
    }
    return false;
}

// ---- classes ------------------------------------------------------------------------------------

// A layout that costs too much. Thousands of ties may propose the same one, and each price is a sum
// over all ties.
typedef struct LayoutRefusal {
    Layout layout;
    bool even;
} LayoutRefusal;

typedef struct LayoutChoice {
    LayoutSolver *s;
    LayoutClass *c;
    Layout best;
    uint64_t price;
    VEC(LayoutRefusal) refused;  // by this class
} LayoutChoice;

static uint64_t price_of(const LayoutChoice *k, const Layout *l, uint64_t most) {
    LayoutClass *c = k->c;
    uint64_t sum = c->work * registers(l);
    for (size_t i = 0; i < c->accesses.count && sum < most; i++) {
        const IrOp *op = c->accesses.data[i];
        uint64_t one =
            op->code == IR_REDUCE ? reduce_cost(op, l) : layouts_access_cost(k->s, op, l, NULL);
        sum += one * layouts_times(op);
    }
    for (size_t i = 0; i < c->ties.count && sum < most; i++) {
        const LayoutTie *tie = c->ties.data[i];
        const LayoutClass *a = layouts_class(k->s, tie->a), *b = layouts_class(k->s, tie->b);
        uint64_t one = tie_cost(k->s, tie, a == c ? l : &a->layout, b == c ? l : &b->layout);
        sum = one == UINT64_MAX ? one : sum + one * tie->times;
    }
    return sum;
}

// The price that a layout must be below only falls, so what was refused is refused for good.
static bool was_refused(const LayoutChoice *k, const Layout *l, bool even) {
    for (size_t i = 0; i < k->refused.count; i++)
        if (k->refused.data[i].even == even && layout_equal(&k->refused.data[i].layout, l))
            return true;
    return false;
}

// `even`: also for the same price.
static void try(LayoutChoice *k, const Layout *l, bool even) {
    if (layout_equal(l, &k->best) || layout_equal(l, &k->c->layout)) return;
    if (was_refused(k, l, even)) return;
    uint64_t most = k->price + even, price = price_of(k, l, most);
    if (price >= most) {
        vec_push(k->s->scratch, &k->refused, ((LayoutRefusal){*l, even}));
        return;
    }
    k->price = price;
    k->best = *l;
}

static bool choose(LayoutChoice *k, const IrValue *v, LayoutClass *c, bool upwards) {
    LayoutSolver *s = k->s;
    Layout l;
    k->c = c;
    k->best = c->layout;
    k->price = price_of(k, &c->layout, UINT64_MAX);
    k->refused.count = 0;
    for (size_t i = 0; i < c->accesses.count; i++) {
        const IrOp *op = c->accesses.data[i];
        const IrValue *moved = layouts_moved(op);
        if (!moved) continue;
        uint32_t bytes = is_plain_access(op) ? ir_elem_size(moved->type) : GPU_ACCESS_BYTES;
        l = gpu_blocked_deep(v->type, s->threads, bytes, c->depth);
        try(k, &l, false);
    }
    for (size_t i = 0; i < c->ties.count; i++) {
        const LayoutTie *tie = c->ties.data[i];
        const LayoutClass *a = layouts_class(s, tie->a), *b = layouts_class(s, tie->b);
        // In the ties of an access, b comes before a.
        bool transposed = tie->kind == LAYOUT_TIE_INDEX || tie->kind == LAYOUT_TIE_SAME;
        if (a == c && image_of(tie, true, &b->layout, &l)) try(k, &l, upwards != transposed);
        if (b == c && image_of(tie, false, &a->layout, &l)) try(k, &l, upwards == transposed);
    }
    bool better = !layout_equal(&k->best, &c->layout);
    c->layout = k->best;
    return better;
}

void layouts_relax(LayoutSolver *s) {
    bool changed = true;
    size_t count = s->values.count;
    LayoutChoice k = {.s = s};
    for (int round = 0; round < ROUNDS && changed; round++) {
        bool upwards = round % 2 == 0;
        changed = false;
        for (size_t i = 0; i < count; i++) {
            const IrValue *v = s->values.data[upwards ? count - 1 - i : i];
            LayoutClass *c = &s->classes[v->id];
            if (c->parent == v->id && !c->dot) changed |= choose(&k, v, c, upwards);
        }
    }
}
