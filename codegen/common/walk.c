// The walk over the ops of a function: which file makes which.
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

// ---- what the launch says -----------------------------------------------------------------------

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
    if (code == IR_PROGRAM) v = g->place[dim];
    if (code == IR_PROGRAMS) v = g->grid[dim];
    if (code == IR_EXTENT) v = extent_named(g, ir_attr(op, IR_ATTR_EXTENT)->u.name);
    if (code == IR_VEC_DATA) v = g->params[view_of(op)];
    if (code == IR_VEC_STRIDE) v = g->strides[view_of(op)][dim];
    gen_define(g, op, v);
}

// ---- by op --------------------------------------------------------------------------------------

// May LLVM fuse what the op computes with a sum? Not a product that is needed by itself as well:
// its factors would have to stay until the sum, and nothing would be saved.
static bool contracts(const Gen *g, const IrOp *op) {
    bool summed = false, needed = false;
    if (!(g->func->math & IR_MATH_CONTRACT)) return false;
    if (op->code != IR_MUL) return true;
    for (const IrUse *use = op->results[0].uses; use; use = use->next) {
        bool sum = use->user->code == IR_ADD || use->user->code == IR_SUB;
        *(sum ? &summed : &needed) = true;
    }
    return !summed || !needed;
}

void gen_op(Gen *g, const IrOp *op) {
    g->contract = contracts(g, op);
    if (g->lines) lines_at(g->lines, g->b, op->span);
    switch ((unsigned)op->code) {
    case IR_CONST: gen_constant(g, op); return;
    case IR_PROGRAM:
    case IR_PROGRAMS:
    case IR_EXTENT:
    case IR_VEC_DATA:
    case IR_VEC_STRIDE: gen_fact(g, op); return;
    case IR_CAST:
    case IR_BITCAST: gen_cast(g, op); return;
    case IR_IOTA:
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_VEC_SHUFFLE:
    case IR_VEC_LANE: gen_lanes(g, op); return;
    case IR_ATOMIC:
    case IR_ATOMIC_CAS:
    case IR_THREAD_UPDATE: gen_atomic(g, op); return;
    case IR_FOR:
    case IR_WHILE:
    case IR_IF: gen_control(g, op); return;
    case IR_YIELD:
    case IR_RETURN:
    case IR_ASSUME: return;  // facts remove no check, so nothing is said to LLVM
    case IR_NEG:
    case IR_NOT:
    case IR_ABS:
    case IR_FLOOR:
    case IR_CEIL:
    case IR_ROUND:
    case IR_SQRT:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_REM:
    case IR_MIN:
    case IR_MAX:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_SHL:
    case IR_SHR:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_FMA:
    case IR_SELECT: gen_elementwise(g, op); return;
    default: g->target->op(g, op);
    }
}

void gen_ops(Gen *g, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) gen_op(g, op);
}
