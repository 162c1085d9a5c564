// Operators and casts. Compile-time values are folded; for others an operation is emitted.
#include <string.h>

#include "frontend/common/elab.h"

IrOpcode operator_opcode(Operator op) {
    switch (op) {
    case OPERATOR_ADD: return IR_ADD;
    case OPERATOR_SUB: return IR_SUB;
    case OPERATOR_MUL: return IR_MUL;
    case OPERATOR_DIV: return IR_DIV;
    case OPERATOR_REM: return IR_REM;
    case OPERATOR_SHL: return IR_SHL;
    case OPERATOR_SHR: return IR_SHR;
    case OPERATOR_AND: return IR_AND;
    case OPERATOR_OR: return IR_OR;
    case OPERATOR_XOR: return IR_XOR;
    case OPERATOR_LT: return IR_LT;
    case OPERATOR_LE: return IR_LE;
    case OPERATOR_GT: return IR_GT;
    case OPERATOR_GE: return IR_GE;
    case OPERATOR_EQ: return IR_EQ;
    case OPERATOR_NE: return IR_NE;
    case OPERATOR_LAND: return IR_AND;
    case OPERATOR_LOR: return IR_OR;
    case OPERATOR_NONE:
    case OPERATOR_NEG:
    case OPERATOR_NOT:
    case OPERATOR_BITNOT: break;
    }
    return IR_ADD;
}

static bool binary_takes(Elab *e, Operator op, Dtype elem, Span span) {
    if (dtype_is(elem, ir_op_info(operator_opcode(op))->classes)) return true;
    if (elem == DTYPE_BOOL) {
        el_error(e, span, DIAG_TYPE, "'%s' does not take bools", el_operator_text(e, op));
        el_help(e, "a bool becomes a number only by a cast: %s", el_cast_text(e, DTYPE_I32));
    } else {
        el_error(e, span, DIAG_TYPE, "'%s' needs integers, found %s", el_operator_text(e, op),
                 el_dtype_text(e, elem));
    }
    return false;
}

// p + n, n + p, p - n, p == q, p != q
static Val binary_pointer(Elab *e, Operator op, Val a, Val b, Span span, const Span *spans) {
    bool left = a.kind == VAL_IR && el_is_ptr(a.ir), right = b.kind == VAL_IR && el_is_ptr(b.ir);
    IrValue *both[2];
    if (op == OPERATOR_EQ || op == OPERATOR_NE) {
        if (!el_unify(e, span, el_operator_text(e, op), 2, (Val[]){a, b}, spans, both))
            return EL_POISON;
        return el_ir(ir_binary(&e->b, operator_opcode(op), both[0], both[1]));
    }
    if ((left && right) || (op != OPERATOR_ADD && (op != OPERATOR_SUB || right))) {
        el_error(e, span, DIAG_TYPE, "'%s' does not take %s and %s", el_operator_text(e, op),
                 el_val_text(e, a), el_val_text(e, b));
        el_help(e, "the operations of pointers are p + n, p - n, == and !=");
        return EL_POISON;
    }
    Val p = left ? a : b, n = left ? b : a;
    IrValue *offset = n.kind == VAL_INT ? el_adopt(e, n, DTYPE_I64, 0, NULL, spans[left]) : NULL;
    if (n.kind == VAL_INT && !offset) return EL_POISON;
    if (!offset && (n.kind != VAL_IR || !dtype_is(el_elem(n.ir), DTYPE_CLASS_INT))) {
        return el_error(e, spans[left], DIAG_TYPE, "a pointer moves by an integer, found %s",
                        el_val_text(e, n));
    }
    if (!offset) offset = el_convert(e, n.ir, DTYPE_I64);
    if (op == OPERATOR_SUB) offset = ir_unary(&e->b, IR_NEG, offset);
    Shape shape;
    if (!el_common_shape(e, span, 2, (IrValue *[]){p.ir, offset}, &shape)) return EL_POISON;
    IrValue *base = el_broadcast(e, p.ir, shape.rank, shape.dims);
    return el_ir(ir_ptr_add(&e->b, base, el_broadcast(e, offset, shape.rank, shape.dims)));
}

// The result has the left operand's type; the shift count may be any integer.
static Val binary_shift(Elab *e, Operator op, Val a, Val b, Span span, const Span *spans) {
    Val vals[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        bool integer = vals[i].kind == VAL_INT ||
                       (vals[i].kind == VAL_IR && dtype_is(el_elem(vals[i].ir), DTYPE_CLASS_INT));
        if (integer) continue;
        return el_error(e, spans[i], DIAG_TYPE, "'%s' needs integers, found %s",
                        el_operator_text(e, op), el_val_text(e, vals[i]));
    }
    Shape shape;
    IrValue *both[2] = {a.kind == VAL_IR ? a.ir : NULL, b.kind == VAL_IR ? b.ir : NULL};
    if (!el_common_shape(e, span, 2, both, &shape)) return EL_POISON;
    for (int i = 0; i < 2; i++) {
        Dtype elem = i == 0 ? el_elem(both[1] ? both[1] : both[0]) : el_default_dtype(b);
        both[i] = both[i] ? el_broadcast(e, both[i], shape.rank, shape.dims)
                          : el_adopt(e, vals[i], elem, shape.rank, shape.dims, spans[i]);
        if (!both[i]) return EL_POISON;
    }
    return el_ir(ir_binary(&e->b, operator_opcode(op), both[0], both[1]));
}

Val el_operate(Elab *e, Operator op, Val a, Val b, Span span, const Span *spans) {
    if (el_is_const(a) && el_is_const(b)) return el_fold_binary(e, op, a, b, span, spans[1]);
    if ((a.kind == VAL_IR && el_is_ptr(a.ir)) || (b.kind == VAL_IR && el_is_ptr(b.ir)))
        return binary_pointer(e, op, a, b, span, spans);
    if (op == OPERATOR_SHL || op == OPERATOR_SHR) return binary_shift(e, op, a, b, span, spans);
    IrValue *both[2] = {a.ir, b.ir};
    if (a.kind != VAL_IR || b.kind != VAL_IR || a.ir->type != b.ir->type) {
        if (!el_unify(e, span, el_operator_text(e, op), 2, (Val[]){a, b}, spans, both))
            return EL_POISON;
    }
    if (!binary_takes(e, op, el_elem(both[0]), span)) return EL_POISON;
    return el_ir(ir_binary(&e->b, operator_opcode(op), both[0], both[1]));
}

Val el_operate_unary(Elab *e, Operator op, Val v, Span span) {
    if (el_is_const(v)) return el_fold_unary(e, op, v, span);
    IrOpcode code = op == OPERATOR_NEG ? IR_NEG : IR_NOT;
    unsigned takes = op == OPERATOR_NOT ? DTYPE_CLASS_BOOL : ir_op_info(code)->classes;
    if (!el_is_ptr(v.ir) && dtype_is(el_elem(v.ir), takes))
        return el_ir(ir_unary(&e->b, code, v.ir));
    if (op == OPERATOR_NOT) {
        el_error(e, span, DIAG_TYPE, "'%s' needs a bool, found %s", el_operator_text(e, op),
                 el_val_text(e, v));
        el_help(e, "compare with 0, or flip bits with '%s'", el_operator_text(e, OPERATOR_BITNOT));
        return EL_POISON;
    }
    return el_error(e, span, DIAG_TYPE, "'%s' does not take %s", el_operator_text(e, op),
                    el_val_text(e, v));
}

// ---- casts

static Val cast_const(Elab *e, Dtype to, Val v, bool saturate) {
    uint64_t bits;
    if (v.kind == VAL_BOOL) {
        bits = dtype_cast(to, DTYPE_BOOL, v.truth, saturate);
    } else if (v.kind == VAL_FLOAT) {
        double real = v.real;
        uint64_t raw;
        memcpy(&raw, &real, sizeof raw);
        bits = dtype_cast(to, DTYPE_F64, raw, saturate);
    } else {
        bool negative = v.integer < 0;
        bits = dtype_cast(to, negative ? DTYPE_I64 : DTYPE_U64,
                          negative ? (uint64_t)(int64_t)v.integer : (uint64_t)v.integer, saturate);
    }
    return el_ir(ir_const_bits(&e->b, ir_scalar(e->module, to), bits));
}

Val el_cast_value(Elab *e, Dtype to, Val v, bool saturate) {
    if (el_is_const(v)) {
        if (to == DTYPE_BOOL)
            return el_bool(v.kind == VAL_BOOL  ? v.truth
                           : v.kind == VAL_INT ? v.integer != 0
                                               : v.real != 0);
        return cast_const(e, to, v, saturate);
    }
    bool fp8 = dtype_is(to, DTYPE_CLASS_FP8);
    // A saturating cast makes infinities finite even when the type stays the same (rule 22).
    if (el_elem(v.ir) == to && !(saturate && fp8)) return v;
    return el_ir(ir_cast(&e->b, v.ir, to, saturate && fp8));
}
