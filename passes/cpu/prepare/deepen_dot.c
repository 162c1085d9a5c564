// cpu_deepen_dot: `for k in 0 .. K step 64: acc = dot(a[i, k +: 64], b[k +: 64, j], acc)` becomes
// the same loop in steps of 128 or more, so that accumulators are stored to memory less often.
//
// Needs: level cpu_tile. Keeps: everything except the order of a product's sums, which is
// unspecified (language rule 24). A loop is changed only if nothing but the product depends on k,
// and if both operands end at K: a longer step then reads the padding beyond, which is 0.
#include "ir/edit.h"
#include "passes/cpu/dot_form.h"
#include "passes/cpu/dot_trace.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

static bool is_extent(const IrValue *v, const IrDim *dim) {
    int64_t n;
    if (!dim->extent) return rewrite_constant_int(v, &n) && n == dim->value;
    return v->def && v->def->code == IR_EXTENT &&
           ir_attr(v->def, IR_ATTR_EXTENT)->u.name == dim->extent;
}

// Is the value used by one op only?
static bool one_use(const IrValue *v) { return v->uses && !v->uses->next; }

static bool is_private(const DotTrace *trace, const IrOp *loop) {
    for (size_t i = 0; i < trace->tile.count; i++) {
        const IrValue *v = trace->tile.data[i];
        if (!one_use(v) || v->def->block != loop->regions[0]) return false;
    }
    return true;
}

// Finds the operands of the loop's product; false if anything else depends on k.
static bool find_operands(const IrFunc *f, Arena *scratch, const IrOp *loop, const IrOp *dot,
                          DotTrace traces[2]) {
    const IrValue *k = loop->regions[0]->args[0];
    uint32_t uses = 0;
    if (!dot_trace_factors(scratch, dot, traces)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (!is_private(&traces[i], loop) || dot_trace_index(&traces[i]) != k) return false;
        if (!is_extent(ir_operand(loop, 1), dot_trace_extent(f, &traces[i]))) return false;
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

// Does the loop carry the sum and nothing else?
static bool sums_up(const IrOp *loop, const IrOp *dot) {
    const IrBlock *body = loop->regions[0];
    if (loop->result_count != 1 || dot->operand_count < 3) return false;
    return ir_operand(dot, 2) == body->args[1] && one_use(body->args[1]) &&
           ir_operand(body->last, 0) == &dot->results[0] && one_use(&dot->results[0]);
}

static void widen_trace(const DotTrace *trace, IrModule *module, uint32_t times) {
    const IrAttr *select = ir_attr(trace->load, IR_ATTR_SELECT);
    const IrAttr *inside = ir_attr(trace->load, IR_ATTR_INSIDE);
    uint32_t count = select->u.ints.count;
    int64_t widths[IR_MAX_VIEW_RANK], proven[IR_MAX_VIEW_RANK];
    for (uint32_t d = 0; d < count; d++) {
        widths[d] = select->u.ints.items[d] * (d == trace->dim ? times : 1);
        proven[d] = d == trace->dim ? 0 : inside->u.ints.items[d];
    }
    ir_attr_set_ints(trace->load, IR_ATTR_SELECT, count, widths);
    ir_attr_set_ints(trace->load, IR_ATTR_INSIDE, count, proven);
    for (size_t i = 0; i < trace->tile.count; i++) {
        IrValue *v = trace->tile.data[i];
        uint32_t shape[IR_MAX_RANK];
        for (uint32_t d = 0; d < v->type->rank; d++)
            shape[d] = v->type->shape[d] * (d == trace->along.data[i] ? times : 1);
        v->type = ir_with_shape(module, v->type, v->type->rank, shape);
    }
}

static bool deepen_loop(IrFunc *f, const PassContext *context, IrOp *loop) {
    int64_t step;
    IrOp *dot = only_dot(loop);
    if (!dot || !sums_up(loop, dot) || ir_attr_int(loop, IR_ATTR_DOWN) ||
        ir_attr_int(loop, IR_ATTR_EXIT))
        return false;
    uint32_t rank = ir_operand(dot, 0)->type->rank;
    uint32_t depth = ir_operand(dot, 0)->type->shape[rank - 1];
    if (!rewrite_constant_int(ir_operand(loop, 2), &step) || step != depth) return false;
    DotTrace traces[2];
    uint32_t wanted = dot_preferred_depth(context->machine, dot);
    if (wanted <= depth || !find_operands(f, context->scratch, loop, dot, traces)) return false;
    for (uint32_t i = 0; i < 2; i++) widen_trace(&traces[i], f->module, wanted / depth);
    IrBuilder b = ir_builder_before(loop);
    b.span = loop->span;
    ir_set_operand(loop, 2, ir_const_int(&b, DTYPE_I64, wanted));
    return true;
}

static bool deepen_block(IrFunc *f, const PassContext *context, IrBlock *block) {
    bool changed = false;
    IR_EACH_OP(op, block) {
        if (op->code == IR_FOR) changed |= deepen_loop(f, context, op);
        for (uint32_t i = 0; i < op->region_count; i++)
            changed |= deepen_block(f, context, op->regions[i]);
    }
    return changed;
}

bool pass_cpu_deepen_dot(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_CPU_TILE) return false;
    return deepen_block(f, context, body);
}
