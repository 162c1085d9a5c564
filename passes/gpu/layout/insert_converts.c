// Inserts conversions where an op has an operand in another layout than it needs.
#include "passes/gpu/layout/solver.h"

static IrValue *convert_at(IrBuilder *b, IrValue *v, const Layout *wanted) {
    const IrType *t = ir_with_layout(b->module, v->type, wanted);
    return ir_result(ir_op(b, IR_GPU_CONVERT, 1, &v, 1, &t, 0, NULL), 0);
}

static void convert_operand(IrOp *op, uint32_t i, const Layout *wanted) {
    IrValue *v = ir_operand(op, i);
    if (!ir_value_is_tile(v) || layout_equal(v->type->layout, wanted)) return;
    IrBuilder b = ir_builder_before(op);
    b.span = op->span;
    ir_set_operand(op, i, convert_at(&b, v, wanted));
}

// A result is computed in the layout `natural`; uses that need another one get a conversion.
static void convert_result(LayoutSolver *s, IrOp *op, uint32_t i, const Layout *natural) {
    IrValue *r = ir_result(op, i);
    Layout wanted = *r->type->layout;
    if (layout_equal(natural, &wanted)) return;
    const IrType *t = r->type;
    r->type = ir_with_layout(s->func->module, t, natural);
    IrBuilder b = ir_builder_at_end(op->block);
    b.before = op->next;
    b.span = op->span;
    IrValue *none = NULL;
    IrOp *convert = ir_op(&b, IR_GPU_CONVERT, 1, &none, 1, &t, 0, NULL);
    ir_replace_all(r, ir_result(convert, 0));
    ir_set_operand(convert, 0, r);
}

static void convert_results(LayoutSolver *s, IrOp *op, const Layout *operand) {
    Layout natural;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const IrValue *r = ir_result(op, i);
        if (!ir_value_is_tile(r) || layout_infer_allows(op, i, operand, r->type->layout)) continue;
        if (layout_infer_result(op, i, operand, &natural)) convert_result(s, op, i, &natural);
    }
}

static void fit_shape(LayoutSolver *s, IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *r = ir_result(op, 0);
    if (!ir_value_is_tile(x)) return;
    Layout operand = *x->type->layout;
    if (ir_value_is_tile(r))
        layouts_shape_cost(s, op, 0, x->type->layout, r->type->layout, &operand);
    for (uint32_t i = 0; i < op->operand_count; i++) convert_operand(op, i, &operand);
    convert_results(s, op, &operand);
}

// A split to scalars, which every thread gets.
static void fit_split(LayoutSolver *s, IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *r = ir_result(op, 0);
    uint32_t bit;
    Layout half;
    if (!ir_value_is_tile(r) && !layout_split(x->type->layout, &half, &bit)) {
        half = gpu_blocked(r->type, s->threads, ir_elem_size(r->type));
        Layout pair = layout_join(&half);
        convert_operand(op, 0, &pair);
    }
    fit_shape(s, op);
}

static void fit_access(LayoutSolver *s, IrOp *op) {
    const IrValue *v = layouts_moved(op);
    Layout wide;
    if (!ir_value_is_tile(v)) return;
    wide = *v->type->layout;
    layouts_access_cost(s, op, &wide, &wide);
    if (op->code == IR_VIEW_STORE) convert_operand(op, 1, &wide);
    if (op->code == IR_VIEW_LOAD) convert_result(s, op, 0, &wide);
}

static void fit_view(IrOp *op) {
    const IrValue *v = layouts_moved(op);
    if (op->code == IR_VIEW_INSIDE) v = ir_result(op, 0);
    if (!ir_value_is_tile(v)) return;
    const Layout *wanted = v->type->layout;
    for (uint32_t i = 1; i < op->operand_count; i++) {
        Layout index;
        if (i < ir_view_index_start(op->code))
            convert_operand(op, i, wanted);
        else if (layout_infer_index(op, i, wanted, &index))
            convert_operand(op, i, &index);
    }
}

static void fit(LayoutSolver *s, IrOp *op) {
    switch (layout_rule(op)) {
    case LAYOUT_RULE_SHAPE:
        if (op->code == IR_SPLIT)
            fit_split(s, op);
        else
            fit_shape(s, op);
        return;
    case LAYOUT_RULE_REDUCE:
        if (ir_value_is_tile(ir_operand(op, 1)))
            convert_results(s, op, ir_operand(op, 1)->type->layout);
        return;
    case LAYOUT_RULE_DOT: gpu_fit_dot(op); return;
    case LAYOUT_RULE_NONE:
        if (op->code == IR_VIEW_LOAD || op->code == IR_VIEW_STORE) fit_access(s, op);
        if (op->operand_count && ir_operand(op, 0) && ir_operand(op, 0)->type->kind == IR_VIEW)
            fit_view(op);
        return;
    case LAYOUT_RULE_SAME:
    case LAYOUT_RULE_CONTROL: return;
    }
}

void layouts_insert_converts(LayoutSolver *s) {
    for (size_t i = 0; i < s->ops.count; i++) fit(s, s->ops.data[i]);
}
