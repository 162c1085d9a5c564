// Rematerializes values that are cheap to recompute in the layout that is needed, instead of
// converting them: numbers, masks, index arithmetic, loads of a few elements.
//
// How: starting at a conversion, ops are repeated next to the originals (where all their operands
// are available, and memory is the same), back to ops without operands or to values that already
// have the needed layout. This is done if it costs less than the conversion. dce removes the ops
// that are then unused.
#include "base/os/os.h"
#include "passes/gpu/layout/solver.h"
#include "passes/gpu/tuning.h"

typedef struct RematCopy {
    const IrValue *of;
    IrValue *made;
} RematCopy;

typedef struct Remat {
    LayoutSolver *s;
    VEC(RematCopy) copies;
    uint32_t ops;  // visited for one conversion
} Remat;

static uint64_t cost(Remat *g, const IrValue *v, const Layout *l);

static uint64_t sum(uint64_t a, uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }

// Issue slots of one instruction, or an equivalent number.
static uint64_t op_price(const IrOp *op) {
    if (op->code == IR_DIV || op->code == IR_REM) return TUNE_PRICE_DIVISION;
    if (op->code == IR_LOOKUP) return TUNE_PRICE_FUNCTION;
    if (ir_op_info(op->code)->rule != IR_RULE_UNARY) return 1;
    return op->code == IR_NEG || op->code == IR_NOT || op->code == IR_ABS ? 1 : TUNE_PRICE_FUNCTION;
}

static uint64_t operands_cost(Remat *g, const IrOp *op, const Layout *l) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (ir_value_is_tile(ir_operand(op, i))) all = sum(all, cost(g, ir_operand(op, i), l));
    return all;
}

// The layout of operand 0 for which the result of a shape op gets this layout.
static bool operand_of(const IrOp *op, const Layout *l, Layout *operand) {
    return layout_infer_operand(op, l, operand) && layout_infer_allows(op, 0, operand, l);
}

static uint64_t load_cost(Remat *g, const IrOp *op, const Layout *l) {
    if (op->results[0].type->count > TUNE_REMAT_LOADED) return UINT64_MAX;
    uint64_t all = layouts_access_cost(g->s, op, l, NULL);
    for (uint32_t i = 1; i < op->operand_count; i++) {
        Layout index;
        if (!ir_value_is_tile(ir_operand(op, i))) continue;
        if (!layout_infer_index(op, i, l, &index)) return UINT64_MAX;
        all = sum(all, cost(g, ir_operand(op, i), &index));
    }
    return all;
}

// Ops without operands, elementwise ops that only compute, and shapes with one operand.
static bool is_repeatable(const IrOp *op) {
    if (ir_op_info(op->code)->effect != IR_EFFECT_PURE || op->result_count != 1) return false;
    if (op->code == IR_IOTA || op->code == IR_RESHAPE || op->code == IR_PERMUTE ||
        op->code == IR_BROADCAST)
        return true;
    return layout_rule(op) == LAYOUT_RULE_SAME && op->results[0].type->kind != IR_PTR;
}

static uint64_t cost(Remat *g, const IrValue *v, const Layout *l) {
    const IrOp *op = v->def;
    Layout operand;
    if (layout_equal(v->type->layout, l)) return 0;
    if (!op || g->ops++ > TUNE_REMAT_OPS) return UINT64_MAX;
    uint64_t times = layouts_times(op), own;
    if (op->code == IR_VIEW_LOAD) {
        own = load_cost(g, op, l);
        return own == UINT64_MAX ? own : own * times;
    }
    if (op->code == IR_GPU_CONVERT) return cost(g, ir_operand(op, 0), l);
    if (!is_repeatable(op)) return UINT64_MAX;
    own = layout_size(l, LAYOUT_REG) * op_price(op) * times;
    if (layout_rule(op) != LAYOUT_RULE_SHAPE) return sum(own, operands_cost(g, op, l));
    if (!ir_value_is_tile(ir_operand(op, 0))) return 0;
    if (!operand_of(op, l, &operand)) return UINT64_MAX;
    return cost(g, ir_operand(op, 0), &operand);
}

static IrValue *rematerialize(Remat *g, IrValue *v, const Layout *l);

static IrValue *rematerialized_operand(Remat *g, const IrOp *op, uint32_t i, const Layout *l) {
    IrValue *x = ir_operand(op, i);
    Layout other = *l;
    if (!ir_value_is_tile(x)) return x;
    if (op->code == IR_VIEW_LOAD) CHECK(layout_infer_index(op, i, l, &other), "an index");
    if (layout_rule(op) == LAYOUT_RULE_SHAPE) CHECK(operand_of(op, l, &other), "an operand");
    return rematerialize(g, x, &other);
}

static IrValue *repeat(const IrOp *op, IrValue *const *operands, const Layout *l) {
    IrBuilder b = ir_builder_at_end(op->block);
    b.before = op->next;
    b.span = op->span;
    const IrType *type = ir_with_layout(b.module, op->results[0].type, l);
    IrOp *copy = ir_op(&b, op->code, op->operand_count, operands, 1, &type, 0, NULL);
    for (int i = 0; i < ir_op_info(op->code)->attr_count; i++) copy->attrs[i] = op->attrs[i];
    return ir_result(copy, 0);
}

static IrValue *rematerialize(Remat *g, IrValue *v, const Layout *l) {
    if (layout_equal(v->type->layout, l)) return v;
    for (size_t i = 0; i < g->copies.count; i++) {
        const RematCopy *c = &g->copies.data[i];
        if (c->of == v && layout_equal(c->made->type->layout, l)) return c->made;
    }
    IrOp *op = v->def;
    if (op->code == IR_GPU_CONVERT) return rematerialize(g, ir_operand(op, 0), l);
    IrValue **operands = arena_new(g->s->scratch, IrValue *, op->operand_count + 1);
    for (uint32_t i = 0; i < op->operand_count; i++)
        operands[i] = rematerialized_operand(g, op, i, l);
    RematCopy made = {v, repeat(op, operands, l)};
    vec_push(g->s->scratch, &g->copies, made);
    return made.made;
}

static void replace_convert(Remat *g, IrOp *convert) {
    IrValue *x = ir_operand(convert, 0);
    const Layout *l = convert->results[0].type->layout;
    // The conversion of a value that a loop does not change moves out of the loop.
    uint64_t times = x->def ? layouts_times(x->def) : layouts_times(convert);
    uint64_t own = layouts_convert_cost(g->s, x, x->type->layout, l) * times;
    g->ops = 0;
    if (own == 0 || cost(g, x, l) >= own) return;
    ir_replace_all(ir_result(convert, 0), rematerialize(g, x, l));
    ir_erase(convert);
}

static void walk(Remat *g, const IrBlock *block) {
    IrOp *next;
    for (IrOp *op = block->first; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->region_count; i++) walk(g, op->regions[i]);
        if (op->code == IR_GPU_CONVERT) replace_convert(g, op);
    }
}

void layouts_rematerialize(LayoutSolver *s) {
    Remat g = {.s = s};
    walk(&g, ir_body(s->func));
}
