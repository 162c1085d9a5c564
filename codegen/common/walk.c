// The walk over the ops of a function: it says which file translates which op.
#include "base/os/os.h"
#include "codegen/common/gen.h"
#include "codegen/common/lines.h"

static void gen_constant(Gen *g, const IrOp *op) {
    const IrType *t = op->results[0].type;
    IrType part = gen_part_type(g, t);
    LLVMValueRef v = gen_const(g, &part, ir_attr(op, IR_ATTR_VALUE)->u.bits);
    LLVMValueRef *parts = gen_define_parts(g, op);
    for (uint32_t i = 0; i < gen_part_count(g, t); i++) parts[i] = v;
}

// ---- facts of the launch ------------------------------------------------------------------------

// The views of a kernel are its parameters (the targets' checks).
static uint32_t view_of(const IrOp *op) { return ir_operand(op, 0)->index; }

static LLVMValueRef extent_named(const Gen *g, Symbol name) {
    for (uint32_t i = 0; i < g->func->params.count; i++) {
        const IrParam *param = &g->func->params.data[i];
        if (param->value->type->kind != IR_VIEW) continue;
        for (uint32_t d = 0; d < param->value->type->rank; d++)
            if (param->dims[d].extent == name) return g->extents[i][d];
    }
    UNREACHABLE("extent %s is of no view", name);
}

void gen_fact(Gen *g, const IrOp *op) {
    IrOpcode code = op->code;
    int64_t dim = code == IR_EXTENT || code == IR_VEC_DATA ? 0 : ir_attr_int(op, IR_ATTR_DIM);
    LLVMValueRef v = NULL;
    if (code == IR_PROGRAM) v = g->program_id[dim];
    if (code == IR_PROGRAMS) v = g->grid[dim];
    if (code == IR_EXTENT) v = extent_named(g, ir_attr(op, IR_ATTR_EXTENT)->u.name);
    if (code == IR_VEC_DATA) v = g->params[view_of(op)];
    if (code == IR_VEC_STRIDE) v = g->strides[view_of(op)][dim];
    gen_define(g, op, v);
}

// ---- by op --------------------------------------------------------------------------------------

// May LLVM fuse the op's result with a sum? It may not fuse a product that has other uses as well:
// its factors would stay live until the sum, and nothing would be saved.
static bool contracts(const Gen *g, const IrOp *op) {
    bool summed = false, needed = false;
    if (!(g->func->math & IR_MATH_CONTRACT) || ir_math_exact(op)) return false;
    if (op->code != IR_MUL) return true;
    for (const IrUse *use = op->results[0].uses; use; use = use->next) {
        bool sum = use->user->code == IR_ADD || use->user->code == IR_SUB;
        *(sum ? &summed : &needed) = true;
    }
    return !summed || !needed;
}

// The op is left out: nothing that is translated uses its results.
static void gen_nothing(Gen *g, const IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        const IrValue *v = &op->results[i];
        IrType part = gen_part_type(g, v->type);
        LLVMValueRef *parts = gen_set_parts(g, v);
        for (uint32_t k = 0; k < gen_part_count(g, v->type); k++)
            parts[k] = LLVMGetPoison(gen_type(g, &part));
    }
}

void gen_op(Gen *g, const IrOp *op) {
    g->contract = contracts(g, op);
    g->approx = g->func->math & IR_MATH_APPROX && !ir_math_exact(op);
    if (g->lines) lines_at(g->lines, g->b, op->span);
    switch (ir_op_family(op->code)) {
    case IR_FAMILY_CONSTANT: (op->code == IR_CONST ? gen_constant : gen_lanes)(g, op); return;
    case IR_FAMILY_LAUNCH: gen_fact(g, op); return;
    case IR_FAMILY_ARITHMETIC:
    case IR_FAMILY_COMPARE:
    case IR_FAMILY_SELECT: gen_elementwise(g, op); return;
    case IR_FAMILY_CAST: gen_cast(g, op); return;
    case IR_FAMILY_TABLE: gen_lookup(g, op); return;
    case IR_FAMILY_SHAPE: gen_lanes(g, op); return;
    case IR_FAMILY_ATOMIC: gen_atomic(g, op); return;
    case IR_FAMILY_CONTROL: gen_control(g, op); return;
    case IR_FAMILY_END: return;
    case IR_FAMILY_EFFECT:  // facts remove no check, so LLVM does not get them
        CHECK(op->code == IR_ASSUME, "%s was not refused", ir_op_info(op->code)->text);
        return;
    case IR_FAMILY_VECTOR:
        if (op->code == IR_VEC_DATA || op->code == IR_VEC_STRIDE)
            gen_fact(g, op);
        else if (op->code == IR_VEC_SHUFFLE || op->code == IR_VEC_LANE)
            gen_lanes(g, op);
        else
            g->target->op(g, op);
        return;
    case IR_FAMILY_THREAD:
        (op->code == IR_THREAD_UPDATE ? gen_atomic : g->target->op)(g, op);
        return;
    case IR_FAMILY_FUNCTION:
    case IR_FAMILY_POINTER:
    case IR_FAMILY_DOT:
    case IR_FAMILY_REDUCTION:
    case IR_FAMILY_ORDER:
    case IR_FAMILY_RANDOM:
    case IR_FAMILY_MEMORY:
    case IR_FAMILY_CALL:
    case IR_FAMILY_CONVERT:
    case IR_FAMILY_STAGE:
    case IR_FAMILY_CPU: g->target->op(g, op); return;
    }
}

void gen_ops(Gen *g, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next)
        (g->skipped && g->skipped[op->id] ? gen_nothing : gen_op)(g, op);
}
