// Typing rules of effects on the program, control and calls.
#include "ir/verify/verifier.h"

static bool is_scalar(const IrType *t, Dtype elem) { return ir_is_tile(t, elem) && t->rank == 0; }

static bool want_scalar(Verifier *v, const IrOp *op, uint32_t i, Dtype elem) {
    if (is_scalar(ir_operand(op, i)->type, elem)) return true;
    IrType expected = verifier_scalar(elem);
    return verifier_operand(v, op, i, &expected);
}

// ---- effects ------------------------------------------------------------------------------------

static bool rule_assert(Verifier *v, const IrOp *op) {
    return verifier_class(v, op, 0, DTYPE_CLASS_BOOL);
}

static bool rule_print(Verifier *v, const IrOp *op) {
    uint32_t texts = ir_attr(op, IR_ATTR_TEXTS)->u.texts.count;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        TRY(verifier_class(v, op, i, DTYPE_CLASS_ANY));
    }
    if (texts == op->operand_count || texts == op->operand_count + 1) return true;
    return verifier_fail(v, op, "expected %u or %u texts, found %u", op->operand_count,
                         op->operand_count + 1, texts);
}

static bool rule_noalias(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < 2; i++) {
        const IrValue *value = ir_operand(op, i);
        bool memory = value->type->kind == IR_VIEW || value->type->kind == IR_PTR;
        if (memory && !value->def && !value->block) continue;
        return verifier_fail(v, op, "expected parameters that are views or pointers");
    }
    if (!v->section || v->section->kind != IR_REQUIRES) {
        return verifier_fail(v, op, "expected noalias in requires only");
    }
    IrType truth = verifier_scalar(DTYPE_BOOL);
    return verifier_result(v, op, 0, &truth);
}

// ---- loops and branches -------------------------------------------------------------------------

// The results, and the arguments of a region from `from` on, have the types of the inits.
static bool carried(Verifier *v, const IrOp *op, uint32_t first) {
    uint32_t count = op->operand_count - first;
    if (op->result_count != count) {
        return verifier_fail(v, op, "expected %u results, found %u", count, op->result_count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const IrType *t = ir_operand(op, first + i)->type;
        if (t->kind == IR_VIEW)
            return verifier_fail(v, op, "expected no view among carried values");
        TRY(verifier_result(v, op, i, t));
    }
    return true;
}

static bool region_args(Verifier *v, const IrOp *op, uint32_t region, uint32_t from,
                        uint32_t first) {
    const IrBlock *block = op->regions[region];
    uint32_t count = op->operand_count - first;
    if (block->arg_count != from + count) {
        return verifier_fail(v, op, "expected %u arguments of region %u, found %u", from + count,
                             region, block->arg_count);
    }
    for (uint32_t i = 0; i < count; i++) {
        TRY(verifier_same(v, op,
                          arena_printf(v->scratch, "argument %u of region %u", from + i, region),
                          block->args[from + i]->type, ir_operand(op, first + i)->type));
    }
    return true;
}

static bool rule_for(Verifier *v, const IrOp *op) {
    bool narrow =
        v->func->level == IR_LEVEL_THREAD && is_scalar(ir_operand(op, 0)->type, DTYPE_I32);
    Dtype elem = narrow ? DTYPE_I32 : DTYPE_I64;
    for (uint32_t i = 0; i < 3; i++) TRY(want_scalar(v, op, i, elem));
    TRY(carried(v, op, 3));
    TRY(region_args(v, op, 0, 1, 3));
    IrType counter = verifier_scalar(elem);
    TRY(verifier_same(v, op, "argument 0 of region 0", op->regions[0]->args[0]->type, &counter));
    if (!ir_attr_int(op, IR_ATTR_EXIT)) return true;
    if (op->operand_count == 3) {
        return verifier_fail(v, op, "expected a carried bool for exit, found none");
    }
    return want_scalar(v, op, 3, DTYPE_BOOL);
}

static bool rule_while(Verifier *v, const IrOp *op) {
    TRY(carried(v, op, 0));
    return region_args(v, op, 0, 0, 0) && region_args(v, op, 1, 0, 0);
}

static bool rule_if(Verifier *v, const IrOp *op) {
    TRY(want_scalar(v, op, 0, DTYPE_BOOL));
    return region_args(v, op, 0, 0, 1) && region_args(v, op, 1, 0, 1);
}

// ---- ends of blocks -----------------------------------------------------------------------------

static bool want_count(Verifier *v, const IrOp *op, uint32_t count) {
    if (op->operand_count == count) return true;
    return verifier_fail(v, op, "expected %u values, found %u", count, op->operand_count);
}

static bool yield_bool(Verifier *v, const IrOp *op) {
    return want_count(v, op, 1) && want_scalar(v, op, 0, DTYPE_BOOL);
}

static bool yield_grid(Verifier *v, const IrOp *op) {
    if (op->operand_count < 1 || op->operand_count > 3) {
        return verifier_fail(v, op, "expected 1 to 3 extents of a grid, found %u",
                             op->operand_count);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) TRY(want_scalar(v, op, i, DTYPE_I64));
    return true;
}

static bool yield_section(Verifier *v, const IrOp *op) {
    switch (v->section->kind) {
    case IR_REQUIRES: return yield_bool(v, op);
    case IR_GRID: return yield_grid(v, op);
    case IR_BODY: break;
    }
    return verifier_fail(v, op, "expected 'return' at the end of a body");
}

static bool rule_yield(Verifier *v, const IrOp *op) {
    const IrOp *parent = op->block->parent;
    if (!parent) return yield_section(v, op);
    if (parent->code == IR_WHILE && op->block == parent->regions[0]) return yield_bool(v, op);
    TRY(want_count(v, op, parent->result_count));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrType *expected = parent->results[i].type;
        IrType scalar = verifier_scalar(expected->elem);
        bool combiner = parent->code == IR_REDUCE || parent->code == IR_SCAN ||
                        parent->code == IR_THREAD_UPDATE;
        TRY(verifier_operand(v, op, i, combiner ? &scalar : expected));
    }
    return true;
}

static bool rule_return(Verifier *v, const IrOp *op) {
    if (op->block->parent || v->section->kind != IR_BODY) {
        return verifier_fail(v, op,
                             "expected 'yield' at the end of a region, a grid or a requires");
    }
    TRY(want_count(v, op, (uint32_t)v->func->results.count));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        TRY(verifier_operand(v, op, i, v->func->results.data[i]));
    }
    return true;
}

// ---- calls (V11; recursion is a matter of the module) -------------------------------------------

static bool call_results(Verifier *v, const IrOp *op, const IrFunc *callee) {
    if (op->result_count != callee->results.count) {
        return verifier_fail(v, op, "expected %zu results, found %u", callee->results.count,
                             op->result_count);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        TRY(verifier_result(v, op, i, callee->results.data[i]));
    }
    return true;
}

static bool rule_call(Verifier *v, const IrOp *op) {
    Symbol name = ir_attr(op, IR_ATTR_CALLEE)->u.name;
    const uint64_t *found = map_find(&v->functions, map_key(name));
    if (!found) return verifier_fail(v, op, "expected a function of the module, found '%s'", name);
    const IrFunc *callee = v->module->funcs.data[*found];
    if (callee->is_kernel) {
        return verifier_fail(v, op, "expected a function to call, found kernel '%s'", name);
    }
    if (op->operand_count != callee->params.count) {
        return verifier_fail(v, op, "expected %zu arguments, found %u", callee->params.count,
                             op->operand_count);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        TRY(verifier_operand(v, op, i, callee->params.data[i].value->type));
    }
    return call_results(v, op, callee);
}

bool verifier_control_rule(Verifier *v, const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    if (rule == IR_RULE_ASSERT) return rule_assert(v, op);
    if (rule == IR_RULE_PRINT) return rule_print(v, op);
    if (rule == IR_RULE_NOALIAS) return rule_noalias(v, op);
    if (rule == IR_RULE_FOR) return rule_for(v, op);
    if (rule == IR_RULE_WHILE) return rule_while(v, op);
    if (rule == IR_RULE_IF) return rule_if(v, op);
    if (rule == IR_RULE_YIELD) return rule_yield(v, op);
    if (rule == IR_RULE_RETURN) return rule_return(v, op);
    if (rule == IR_RULE_CALL) return rule_call(v, op);
    return true;  // IR_RULE_NOTHING: the counts are all there is to check
}
