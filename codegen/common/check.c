#include "codegen/common/check.h"

#include <stdio.h>

// Does the machine have arithmetic of this element type?
bool check_computes(const TargetCheck *c, const IrType *t) {
    if (t->kind != IR_TILE) return false;
    if (dtype_is(t->elem, DTYPE_CLASS_INT)) return true;
    if (t->elem == DTYPE_F16) return c->machine.f16;
    return t->elem == DTYPE_F32 || t->elem == DTYPE_F64;
}

static bool compares(const TargetCheck *c, const IrType *t) {
    return t->kind == IR_PTR || t->elem == DTYPE_BOOL || check_computes(c, t);
}

static bool casts(const TargetCheck *c, Dtype to, Dtype from) {
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

// The kernel's views are parameters; lowered code does not pass them on.
static bool view_is_parameter(const IrOp *op) {
    const IrValue *v = ir_operand(op, 0);
    return !v->def && !v->block;
}

static bool extent_is_known(const TargetCheck *c, const IrOp *op) {
    Symbol name = ir_attr(op, IR_ATTR_EXTENT)->u.name;
    for (uint32_t i = 0; i < c->func->params.count; i++) {
        const IrParam *p = &c->func->params.data[i];
        for (uint32_t d = 0; p->value->type->kind == IR_VIEW && d < p->value->type->rank; d++)
            if (p->dims[d].extent == name) return true;
    }
    return false;
}

static bool atomic_is_possible(const TargetCheck *c, const IrOp *op) {
    switch ((IrRmw)ir_attr_int(op, IR_ATTR_RMW)) {
    case IR_RMW_ADD:
    case IR_RMW_SUB:
    case IR_RMW_MIN:
    case IR_RMW_MAX: return check_computes(c, op->results[0].type);
    case IR_RMW_AND:
    case IR_RMW_OR:
    case IR_RMW_XOR:
    case IR_RMW_XCHG:
    case IR_RMW_LOAD:
    case IR_RMWS: break;
    }
    return true;
}

const char check_common[] = "the table of all targets says";
const char check_legalize[] = "the pass legalize removes it";
const char check_lacks[] = "the target has no such instruction";
static const char expand[] = "the pass expand_math removes it";
static const char elsewhere[] = "it is of another level";

static const char *arithmetic_refusal(const TargetCheck *c, const IrOp *op, const IrType *t) {
    switch (op->code) {
    case IR_NEG:
    case IR_NOT:
    case IR_ABS:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_SHL:
    case IR_SHR: return NULL;
    case IR_REM: return compares(c, t) ? NULL : check_legalize;
    case IR_FMA: return check_computes(c, t) && c->machine.fma ? NULL : check_legalize;
    default: return check_computes(c, t) ? NULL : check_legalize;
    }
}

static const char *launch_refusal(const TargetCheck *c, const IrOp *op) {
    if (op->code == IR_NOALIAS) return "it is allowed in requires only";
    if (op->code == IR_UNITS) return "it is allowed in grid only";
    if (op->code != IR_EXTENT || extent_is_known(c, op)) return NULL;
    return "no view of the kernel has this extent";
}

static const char *atomic_refusal(const TargetCheck *c, const IrOp *op) {
    if (op->code == IR_ATOMIC_CAS) return NULL;
    if (op->code == IR_ATOMIC) return atomic_is_possible(c, op) ? NULL : check_legalize;
    return c->lower;
}

static const char *vector_refusal(const TargetCheck *c, const IrOp *op, const IrType *t) {
    switch (op->code) {
    case IR_VEC_SHUFFLE:
    case IR_VEC_LANE:
    case IR_VEC_ASSERT: return NULL;
    case IR_VEC_DATA:
    case IR_VEC_STRIDE: return view_is_parameter(op) ? NULL : "views are parameters here";
    case IR_VEC_REDUCE:
        return t->elem == DTYPE_BOOL || check_computes(c, t) ? NULL : check_legalize;
    default: return elsewhere;
    }
}

// NULL, or how to remove the op, which has no translation.
static const char *refusal(const TargetCheck *c, const IrOp *op) {
    const char *own = c->own(c, op);
    if (own != check_common) return own;
    const IrType *t = op->operand_count && ir_operand(op, 0) ? ir_operand(op, 0)->type : NULL;
    IrOpcode code = op->code;
    switch (ir_op_family(code)) {
    case IR_FAMILY_CONSTANT:
    case IR_FAMILY_SELECT:
    case IR_FAMILY_TABLE:
    case IR_FAMILY_POINTER:
    case IR_FAMILY_CONTROL:
    case IR_FAMILY_END: return NULL;
    case IR_FAMILY_LAUNCH: return launch_refusal(c, op);
    case IR_FAMILY_ARITHMETIC: return arithmetic_refusal(c, op, t);
    case IR_FAMILY_COMPARE: return compares(c, t) ? NULL : check_legalize;
    case IR_FAMILY_CAST:
        if (code == IR_BITCAST) return NULL;
        return casts(c, op->results[0].type->elem, t->elem) ? NULL : check_legalize;
    case IR_FAMILY_FUNCTION:
    case IR_FAMILY_RANDOM: return expand;
    case IR_FAMILY_SHAPE: return code == IR_BROADCAST || code == IR_RESHAPE ? NULL : c->lower;
    case IR_FAMILY_MEMORY: return code == IR_LOAD || code == IR_STORE ? NULL : c->lower;
    case IR_FAMILY_ATOMIC: return atomic_refusal(c, op);
    case IR_FAMILY_EFFECT: return code == IR_ASSUME ? NULL : c->lower;
    case IR_FAMILY_DOT:
    case IR_FAMILY_REDUCTION:
    case IR_FAMILY_ORDER: return c->lower;
    case IR_FAMILY_CALL: return "the pass inline removes it";
    case IR_FAMILY_VECTOR: return vector_refusal(c, op, t);
    case IR_FAMILY_CONVERT:
    case IR_FAMILY_STAGE:
    case IR_FAMILY_THREAD:
    case IR_FAMILY_CPU: return elsewhere;
    }
    return "it is not an op";
}

static void refuse_type(TargetCheck *c, const IrOp *op, const IrType *t) {
    const char *problem = NULL;
    char wide[64];
    if (t->kind == IR_VIEW) problem = "a view that is not a parameter";
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

static void check_op(TargetCheck *c, const IrOp *op) {
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

static void check_block(TargetCheck *c, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        check_op(c, op);
        for (uint32_t r = 0; r < op->region_count; r++) check_block(c, op->regions[r]);
    }
}

bool check_function(TargetCheck *c) {
    if (!c->func->is_kernel || !ir_body(c->func)) {
        diag_error(c->diags, c->func->span, DIAG_UNSUPPORTED, "expected a kernel with a body");
        return false;
    }
    check_block(c, ir_body(c->func));
    return !c->failed;
}
