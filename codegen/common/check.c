#include "codegen/common/check.h"

#include <stdio.h>

// Does the machine have arithmetic of this element type?
bool check_computes(const Check *c, const IrType *t) {
    if (t->kind != IR_TILE) return false;
    if (dtype_is(t->elem, DTYPE_CLASS_INT)) return true;
    if (t->elem == DTYPE_F16) return c->machine.f16;
    return t->elem == DTYPE_F32 || t->elem == DTYPE_F64;
}

static bool compares(const Check *c, const IrType *t) {
    return t->kind == IR_PTR || t->elem == DTYPE_BOOL || check_computes(c, t);
}

static bool casts(const Check *c, Dtype to, Dtype from) {
    unsigned whole = DTYPE_CLASS_INT | DTYPE_CLASS_BOOL;
    if (to == from) return true;
    bool plain_to = dtype_is(to, whole) || to == DTYPE_F32 || to == DTYPE_F64;
    bool plain_from = dtype_is(from, whole) || from == DTYPE_F32 || from == DTYPE_F64;
    if (plain_to && plain_from) return true;
    if (c->machine.f16) return (plain_to || to == DTYPE_F16) && (plain_from || from == DTYPE_F16);
    if (!c->machine.f16_convert) return false;
    if (from == DTYPE_F16) return to == DTYPE_F32 || to == DTYPE_F64;
    return to == DTYPE_F16 && from == DTYPE_F32;
}

// The kernel's views are parameters; lowered code hands them nowhere.
static bool view_is_parameter(const IrOp *op) {
    const IrValue *v = ir_operand(op, 0);
    return !v->def && !v->block;
}

static bool extent_is_known(const Check *c, const IrOp *op) {
    Symbol name = ir_attr(op, IR_ATTR_EXTENT)->u.name;
    for (uint32_t i = 0; i < c->func->params.count; i++) {
        const IrParam *p = &c->func->params.data[i];
        for (uint32_t d = 0; p->value->type->kind == IR_VIEW && d < p->value->type->rank; d++)
            if (p->dims[d].extent == name) return true;
    }
    return false;
}

static bool atomic_is_possible(const Check *c, const IrOp *op) {
    switch ((IrRmw)ir_attr_int(op, IR_ATTR_RMW)) {
    case IR_RMW_ADD:
    case IR_RMW_SUB:
    case IR_RMW_MIN:
    case IR_RMW_MAX: return check_computes(c, op->results[0].type);
    case IR_RMW_AND:
    case IR_RMW_OR:
    case IR_RMW_XOR:
    case IR_RMW_XCHG: break;
    }
    return true;
}

const char check_common[] = "the table of all targets says";
const char check_legalize[] = "the pass legalize takes it away";
const char check_lacks[] = "the target has no such instruction";
static const char expand[] = "the pass expand_math takes it away";
static const char elsewhere[] = "it is of another level";

// NULL, or how to be rid of the op, which has no translation.
static const char *refusal(const Check *c, const IrOp *op) {
    const char *own = c->own(c, op);
    if (own != check_common) return own;
    const IrType *t = op->operand_count && ir_operand(op, 0) ? ir_operand(op, 0)->type : NULL;
    switch (op->code) {
    case IR_CONST:
    case IR_PROGRAM:
    case IR_PROGRAMS:
    case IR_IOTA:
    case IR_NEG:
    case IR_NOT:
    case IR_ABS:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_SHL:
    case IR_SHR:
    case IR_SELECT:
    case IR_BITCAST:
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_PTR_ADD:
    case IR_LOAD:
    case IR_STORE:
    case IR_ATOMIC_CAS:
    case IR_ASSUME:
    case IR_FOR:
    case IR_WHILE:
    case IR_IF:
    case IR_YIELD:
    case IR_RETURN:
    case IR_VEC_SHUFFLE:
    case IR_VEC_LANE:
    case IR_VEC_ASSERT: return NULL;
    case IR_EXTENT: return extent_is_known(c, op) ? NULL : "no view of the kernel has this extent";
    case IR_VEC_DATA:
    case IR_VEC_STRIDE: return view_is_parameter(op) ? NULL : "views are parameters here";
    case IR_FLOOR:
    case IR_CEIL:
    case IR_ROUND:
    case IR_SQRT:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_MIN:
    case IR_MAX: return check_computes(c, t) ? NULL : check_legalize;
    case IR_REM:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE: return compares(c, t) ? NULL : check_legalize;
    case IR_FMA: return check_computes(c, t) && c->machine.fma ? NULL : check_legalize;
    case IR_CAST: return casts(c, op->results[0].type->elem, t->elem) ? NULL : check_legalize;
    case IR_ATOMIC: return atomic_is_possible(c, op) ? NULL : check_legalize;
    case IR_VEC_REDUCE:
        return t->elem == DTYPE_BOOL || check_computes(c, t) ? NULL : check_legalize;
    case IR_RSQRT:
    case IR_EXP:
    case IR_EXP2:
    case IR_LOG:
    case IR_LOG2:
    case IR_SIN:
    case IR_COS:
    case IR_TAN:
    case IR_TANH:
    case IR_ERF:
    case IR_SIGMOID:
    case IR_POW:
    case IR_RANDOM: return expand;
    case IR_PERMUTE:
    case IR_JOIN:
    case IR_SPLIT:
    case IR_CAT:
    case IR_GATHER:
    case IR_DOT:
    case IR_REDUCE:
    case IR_SCAN:
    case IR_SORT:
    case IR_TOPK:
    case IR_HISTOGRAM:
    case IR_VIEW_LOAD:
    case IR_VIEW_STORE:
    case IR_VIEW_ATOMIC:
    case IR_VIEW_CAS:
    case IR_VIEW_INSIDE:
    case IR_ASSERT:
    case IR_PRINT: return c->lower;
    case IR_NOALIAS: return "it stands in requires only";
    case IR_CALL: return "the pass inline takes it away";
    case IR_CPU_SPAN:
    case IR_CPU_SCRATCH:
    case IR_CPU_LOAD:
    case IR_CPU_STORE:
    case IR_CPU_PREFETCH:
    case IR_VEC_PRINT:
    case IR_VEC_DOT2:
    case IR_CPU_DOT4:
    case IR_CPU_TILES:
    case IR_THREAD_ID:
    case IR_THREAD_SHARED:
    case IR_THREAD_BARRIER:
    case IR_THREAD_LOAD:
    case IR_THREAD_STORE:
    case IR_THREAD_SHUFFLE:
    case IR_THREAD_PACK:
    case IR_THREAD_MATRIX_LOAD:
    case IR_THREAD_MMA:
    case IR_THREAD_COPY:
    case IR_THREAD_UPDATE:
    case IR_THREAD_COMMIT:
    case IR_THREAD_WAIT:
    case IR_GPU_BARRIER:
    case IR_GPU_SHARED:
    case IR_GPU_SLOT:
    case IR_GPU_COPY:
    case IR_GPU_COMMIT:
    case IR_GPU_WAIT:
    case IR_GPU_READ:
    case IR_GPU_CONVERT: return elsewhere;
    case IR_OPCODES: break;
    }
    return "it is no op";
}

static void refuse_type(Check *c, const IrOp *op, const IrType *t) {
    const char *problem = NULL;
    char wide[64];
    if (t->kind == IR_VIEW) problem = "a view that is no parameter";
    if (t->rank > 1) problem = "a tile of more than one dimension";
    if (t->rank <= 1 && c->max_lanes && t->count > c->max_lanes) {
        snprintf(wide, sizeof wide, "a vector of more than %u lanes", c->max_lanes);
        problem = wide;
    }
    if (!problem) return;
    c->failed = true;
    diag_error(c->diags, op->span, DIAG_UNSUPPORTED, "'%s' makes %s, which target %s does not take",
               ir_op_info(op->code)->text, problem, c->target);
    diag_help(c->diags, "%s", c->lower);
}

static void check_op(Check *c, const IrOp *op) {
    const char *way = refusal(c, op);
    if (way) {
        const IrType *t = op->operand_count && ir_operand(op, 0) ? ir_operand(op, 0)->type
                          : op->result_count                     ? op->results[0].type
                                                                 : NULL;
        c->failed = true;
        diag_error(c->diags, op->span, DIAG_UNSUPPORTED, "target %s has no '%s' of %s", c->target,
                   ir_op_info(op->code)->text, t ? dtype_name(t->elem) : "this kind");
        if (op->code == IR_CAST)
            diag_note(c->diags, op->span, "it is a cast to %s",
                      dtype_name(op->results[0].type->elem));
        diag_help(c->diags, "%s", way);
    }
    for (uint32_t i = 0; i < op->result_count; i++) refuse_type(c, op, op->results[i].type);
}

static void check_block(Check *c, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        check_op(c, op);
        for (uint32_t r = 0; r < op->region_count; r++) check_block(c, op->regions[r]);
    }
}

bool check_function(Check *c) {
    if (!c->func->is_kernel || !ir_body(c->func)) {
        diag_error(c->diags, c->func->span, DIAG_UNSUPPORTED, "expected a kernel with a body");
        return false;
    }
    check_block(c, ir_body(c->func));
    return !c->failed;
}
