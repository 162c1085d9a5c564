// Layouts of the gpu level: every tile has one, and ops distribute their results as
// ir/analysis/layout_infer.h says.
#include "ir/analysis/layout_infer.h"
#include "ir/verify/verifier.h"

// Memory of the program's threads: each element has an offset of its own; only these ops may use
// it.
static bool memory_fits(Verifier *v, const IrOp *op, const IrValue *value) {
    const Layout *l = value->type->layout;
    bool first = op->operand_count > 0 && ir_operand(op, 0) == value;
    bool known = op->code == IR_GPU_SHARED || op->code == IR_GPU_SLOT || op->code == IR_PERMUTE ||
                 (first && (op->code == IR_GPU_COPY || op->code == IR_GPU_TMA_LOAD ||
                            op->code == IR_GPU_READ));
    if (!known)
        return verifier_fail(v, op, "expected gpu.copy or gpu.read to reach what is shared: %s",
                             verifier_type(v, value->type));
    if (l->bits == l->dim_bits[LAYOUT_OFFSET] && layout_injective(l) && layout_surjective(l))
        return true;
    return verifier_fail(v, op, "expected one offset for each element, found %s",
                         verifier_type(v, value->type));
}

static bool layout_fits(Verifier *v, const IrOp *op, const IrValue *value) {
    if (!ir_value_is_tile(value)) return true;
    const Layout *l = value->type->layout;
    if (!l) return verifier_fail(v, op, "expected a layout on %s", verifier_type(v, value->type));
    if (ir_is_shared_pointer(value)) return memory_fits(v, op, value);
    uint32_t threads = layout_size(l, LAYOUT_LANE) * layout_size(l, LAYOUT_WARP);
    if (threads != ir_thread_count(v->func))
        return verifier_fail(v, op, "expected a layout over %u threads, found %s",
                             ir_thread_count(v->func), verifier_type(v, value->type));
    if (layout_surjective(l)) return true;
    return verifier_fail(v, op, "a layout leaves elements out: %s", verifier_type(v, value->type));
}

static bool is_laid(Verifier *v, const IrOp *op, const IrValue *value, const Layout *expected) {
    if (!ir_value_is_tile(value) || layout_equal(value->type->layout, expected)) return true;
    StrBuf text = strbuf(v->scratch);
    layout_bases_text(expected, &text);
    return verifier_fail(v, op, "expected layout %s, found %s", text.text,
                         verifier_type(v, value->type));
}

static bool all_same(Verifier *v, const IrOp *op) {
    const Layout *first = NULL;
    for (uint32_t i = 0; i < op->operand_count + op->result_count; i++) {
        const IrValue *x =
            i < op->operand_count ? ir_operand(op, i) : &op->results[i - op->operand_count];
        if (!ir_value_is_tile(x)) continue;
        if (first) TRY(is_laid(v, op, x, first));
        first = x->type->layout;
    }
    return true;
}

static bool follows(Verifier *v, const IrOp *op, uint32_t operand) {
    const IrValue *x = ir_operand(op, operand);
    if (!ir_value_is_tile(x)) return true;
    for (uint32_t i = 0; i < op->result_count; i++) {
        Layout expected;
        if (!ir_value_is_tile(&op->results[i])) continue;
        if (!layout_infer_result(op, i, x->type->layout, &expected))
            return verifier_fail(v, op, "no layout of result %u follows from operand %u", i,
                                 operand);
        if (layout_infer_allows(op, i, x->type->layout, op->results[i].type->layout)) continue;
        TRY(is_laid(v, op, &op->results[i], &expected));
    }
    return true;
}

static bool carried(Verifier *v, const IrOp *op) {
    uint32_t first = op->code == IR_FOR ? 3 : 0, skip = op->code == IR_FOR ? 1 : 0;
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!ir_value_is_tile(&op->results[i])) continue;
        const Layout *l = op->results[i].type->layout;
        if (op->code != IR_IF) TRY(is_laid(v, op, ir_operand(op, first + i), l));
        for (uint32_t r = 0; r < op->region_count; r++) {
            const IrBlock *block = op->regions[r];
            if (op->code != IR_IF) TRY(is_laid(v, op, block->args[skip + i], l));
            if (op->code == IR_WHILE && r == 0) continue;
            TRY(is_laid(v, op, ir_operand(block->last, i), l));
        }
    }
    return true;
}

bool verifier_layouts(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) TRY(layout_fits(v, op, ir_operand(op, i)));
    for (uint32_t i = 0; i < op->result_count; i++) TRY(layout_fits(v, op, &op->results[i]));
    switch (layout_rule(op)) {
    case LAYOUT_RULE_NONE: return true;
    case LAYOUT_RULE_SAME: return all_same(v, op);
    case LAYOUT_RULE_SHAPE: return follows(v, op, 0);
    case LAYOUT_RULE_REDUCE: return follows(v, op, 1);
    case LAYOUT_RULE_DOT:
        return op->operand_count < 3 || !ir_operand(op, 2) ||
               is_laid(v, op, ir_operand(op, 2), op->results[0].type->layout);
    case LAYOUT_RULE_CONTROL: return carried(v, op);
    }
    return true;
}
