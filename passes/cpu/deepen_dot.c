// Products made deeper: `for k in 0 .. K step 64: acc = dot(a[i, k +: 64], b[k +: 64, j], acc)`
// becomes the same loop in steps of 128 or more, so that accumulators go to memory less often.
//
// Only where nothing but the product depends on k, and where both operands end at K: what a longer
// step reads beyond is the pad, 0. The order of a product's sums is open (language rule 24).
#include "passes/cpu/dot.h"
#include "passes/rewrite.h"

// A load on the way to an operand of the product, and the ops between.
typedef struct Way {
    IrOp *load;
    uint32_t dim;         // of the selection (of the view's dimensions): k
    VEC(IrValue *) tile;  // load's result … operand
    VEC(uint32_t) along;  // which dimension of each runs along k
} Way;

static uint32_t selected_dim(const IrOp *load, uint32_t tile_dim) {
    const IrAttr *select = ir_attr(load, IR_ATTR_SELECT);
    uint32_t at = 0;
    for (uint32_t d = 0; d < select->u.ints.count; d++)
        if (select->u.ints.items[d] > 0 && at++ == tile_dim) return d;
    return select->u.ints.count;
}

static bool is_zero_pad(const IrValue *pad) {
    return !pad || (pad->def && pad->def->code == IR_CONST &&
                    ir_attr(pad->def, IR_ATTR_VALUE)->u.bits == 0);
}

static bool has_tile_index(const IrOp *load) {
    for (uint32_t i = ir_view_index_start(load->code); i < load->operand_count; i++)
        if (lower_is_tile(ir_operand(load, i))) return true;
    return false;
}

// From the operand back to the load that it is, converted or turned.
static bool find_way(Lower *l, IrValue *v, uint32_t along, Way *way) {
    for (IrOp *op = v->def; op; v = ir_operand(op, 0), op = v->def) {
        vec_push(l->scratch, &way->tile, v);
        vec_push(l->scratch, &way->along, along);
        IrRule rule = ir_op_info(op->code)->rule;
        if (op->code == IR_VIEW_LOAD) {
            way->load = op;
            way->dim = selected_dim(op, along);
            return is_zero_pad(ir_operand(op, 1)) && !has_tile_index(op);
        }
        if (op->code == IR_PERMUTE)
            along = (uint32_t)ir_attr(op, IR_ATTR_PERM)->u.ints.items[along];
        else if (rule != IR_RULE_UNARY && rule != IR_RULE_CAST)
            return false;
    }
    return false;
}

static IrValue *index_of(const IrOp *load, uint32_t dim) {
    return ir_operand(load, ir_view_index_start(load->code) + dim);
}

static const IrDim *extent_of(const Lower *l, const IrOp *load, uint32_t dim) {
    for (size_t i = 0; i < l->func->params.count; i++)
        if (l->func->params.data[i].value == ir_operand(load, 0))
            return &l->func->params.data[i].dims[dim];
    UNREACHABLE("a view that is no parameter");
}

static bool same_extent(const IrDim *a, const IrDim *b) {
    return a->extent == b->extent && (a->extent || a->value == b->value);
}

static bool is_extent(const IrValue *v, const IrDim *dim) {
    int64_t n;
    if (!dim->extent) return rewrite_constant_int(v, &n) && n == dim->value;
    return v->def && v->def->code == IR_EXTENT &&
           ir_attr(v->def, IR_ATTR_EXTENT)->u.name == dim->extent;
}

// cos(0) is 1: what a pad becomes on the way must be 0 again.
static bool keeps_zero(const Way *way) {
    for (size_t i = 0; i < way->tile.count; i++) {
        const IrOp *op = way->tile.data[i]->def;
        bool keeps = op->code == IR_VIEW_LOAD || op->code == IR_PERMUTE || op->code == IR_CAST ||
                     op->code == IR_NEG;
        if (!keeps) return false;
    }
    return true;
}

IrValue *dot_room(Lower *l, IrBuilder *b, const IrOp *op) {
    uint32_t rank = ir_operand(op, 0)->type->rank;
    Way ways[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        if (!find_way(l, ir_operand(op, i), rank - 1 - i, &ways[i])) return NULL;
        if (!keeps_zero(&ways[i])) return NULL;
    }
    const IrOp *x = ways[0].load, *y = ways[1].load;
    if (index_of(x, ways[0].dim) != index_of(y, ways[1].dim)) return NULL;
    if (!same_extent(extent_of(l, x, ways[0].dim), extent_of(l, y, ways[1].dim))) return NULL;
    bool inside = ir_attr(x, IR_ATTR_INSIDE)->u.ints.items[ways[0].dim] ||
                  ir_attr(y, IR_ATTR_INSIDE)->u.ints.items[ways[1].dim];
    return inside ? NULL : access_room(l, b, x, ways[0].dim);
}

// ---- loops --------------------------------------------------------------------------------------

// Is the value used by one op only?
static bool one_use(const IrValue *v) { return v->uses && !v->uses->next; }

static bool way_is_private(const Way *way, const IrOp *loop) {
    for (size_t i = 0; i < way->tile.count; i++) {
        const IrValue *v = way->tile.data[i];
        if (!one_use(v) || v->def->block != loop->regions[0]) return false;
    }
    return true;
}

// The product of the loop's body, when there is nothing else that depends on k.
static bool find_ways(Lower *l, IrOp *loop, IrOp *dot, Way ways[2]) {
    IrValue *k = loop->regions[0]->args[0];
    uint32_t rank = ir_operand(dot, 0)->type->rank, uses = 0;
    for (uint32_t i = 0; i < 2; i++) {
        if (!find_way(l, ir_operand(dot, i), rank - 1 - i, &ways[i])) return false;
        const Way *w = &ways[i];
        if (!way_is_private(w, loop) || !keeps_zero(w) || index_of(w->load, w->dim) != k)
            return false;
        if (!is_extent(ir_operand(loop, 1), extent_of(l, w->load, w->dim))) return false;
    }
    for (const IrUse *u = k->uses; u; u = u->next) uses++;
    return uses == 2;
}

static IrOp *only_dot(const IrOp *loop) {
    IrOp *dot = NULL;
    IR_EACH_OP(op, loop->regions[0]) {
        if (op->region_count || (op->code == IR_DOT && dot)) return NULL;
        if (op->code == IR_DOT) dot = op;
        unsigned effects = ir_effects(op);
        if (effects & (1u << IR_EFFECT_WRITE | 1u << IR_EFFECT_KEEP)) return NULL;
    }
    return dot;
}

// The loop carries the sum and nothing else.
static bool sums_up(const IrOp *loop, const IrOp *dot) {
    const IrBlock *body = loop->regions[0];
    if (loop->result_count != 1 || dot->operand_count < 3) return false;
    return ir_operand(dot, 2) == body->args[1] && one_use(body->args[1]) &&
           ir_operand(body->last, 0) == &dot->results[0] && one_use(&dot->results[0]);
}

static void widen_way(Lower *l, const Way *way, uint32_t times) {
    const IrAttr *select = ir_attr(way->load, IR_ATTR_SELECT);
    const IrAttr *inside = ir_attr(way->load, IR_ATTR_INSIDE);
    uint32_t count = select->u.ints.count;
    int64_t widths[IR_MAX_VIEW_RANK], proven[IR_MAX_VIEW_RANK];
    for (uint32_t d = 0; d < count; d++) {
        widths[d] = select->u.ints.items[d] * (d == way->dim ? times : 1);
        proven[d] = d == way->dim ? 0 : inside->u.ints.items[d];
    }
    ir_attr_set_ints(way->load, IR_ATTR_SELECT, count, widths);
    ir_attr_set_ints(way->load, IR_ATTR_INSIDE, count, proven);
    for (size_t i = 0; i < way->tile.count; i++) {
        IrValue *v = way->tile.data[i];
        uint32_t shape[IR_MAX_RANK];
        for (uint32_t d = 0; d < v->type->rank; d++)
            shape[d] = v->type->shape[d] * (d == way->along.data[i] ? times : 1);
        v->type = ir_with_shape(l->module, v->type, v->type->rank, shape);
    }
}

static void widen_loop(Lower *l, IrOp *loop) {
    int64_t step;
    IrOp *dot = only_dot(loop);
    if (!dot || !sums_up(loop, dot) || ir_attr_int(loop, IR_ATTR_DOWN) ||
        ir_attr_int(loop, IR_ATTR_EXIT))
        return;
    uint32_t rank = ir_operand(dot, 0)->type->rank;
    uint32_t depth = ir_operand(dot, 0)->type->shape[rank - 1];
    if (!rewrite_constant_int(ir_operand(loop, 2), &step) || step != depth) return;
    Way ways[2] = {0};
    uint32_t wanted = dot_wanted_depth(l, dot);
    if (wanted <= depth || !find_ways(l, loop, dot, ways)) return;
    for (uint32_t i = 0; i < 2; i++) widen_way(l, &ways[i], wanted / depth);
    IrBuilder b = ir_builder_before(loop);
    b.span = loop->span;
    ir_set_operand(loop, 2, lower_i64(&b, wanted));
}

void widen_products(Lower *l, IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_FOR) widen_loop(l, op);
        for (uint32_t i = 0; i < op->region_count; i++) widen_products(l, op->regions[i]);
    }
}
