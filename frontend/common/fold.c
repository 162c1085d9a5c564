// Compile-time arithmetic: exact integers up to 64 bits, floats as doubles, bools.
#include <math.h>

#include "frontend/common/elab.h"

static bool wide_in_range(Int128 v) { return v >= (Int128)INT64_MIN && v <= (Int128)UINT64_MAX; }

static Val fold_result(Elab *e, Int128 v, Span span) {
    if (wide_in_range(v)) return el_int(v);
    return el_error(e, span, DIAG_CONSTANT_VALUE,
                    "a constant needs more than 64 bits (-2^63 to 2^64-1)");
}

Val el_fold_unary(Elab *e, Operator op, Val a, Span span) {
    if (op == OPERATOR_NOT) {
        if (a.kind == VAL_BOOL) return el_bool(!a.truth);
        el_error(e, span, DIAG_TYPE, "'%s' needs a bool, found %s", el_operator_text(e, op),
                 el_val_text(e, a));
        el_help(e, "compare with 0");
        return EL_POISON;
    }
    if (op == OPERATOR_BITNOT) {
        if (a.kind == VAL_INT) return fold_result(e, -a.integer - 1, span);
        if (a.kind == VAL_BOOL) return el_bool(!a.truth);
    }
    if (op == OPERATOR_NEG) {
        if (a.kind == VAL_INT) return fold_result(e, -a.integer, span);
        if (a.kind == VAL_FLOAT) return (Val){.kind = VAL_FLOAT, .real = -a.real};
    }
    return el_error(e, span, DIAG_TYPE, "'%s' does not take %s", el_operator_text(e, op),
                    el_val_text(e, a));
}

static Val fold_shift(Elab *e, Operator op, Int128 a, Int128 n, Span span, Span right) {
    if (n < 0) {
        return el_error(e, right, DIAG_CONSTANT_VALUE, "a constant is shifted by %s",
                        el_wide_text(e, n));
    }
    if (op == OPERATOR_SHR) return el_int(a >> (n > 100 ? 100 : n));
    if (a == 0) return el_int(0);
    if (n > 63) return fold_result(e, (Int128)UINT64_MAX + 1, span);
    return fold_result(e, a * ((Int128)1 << n), span);
}

static Val fold_integers(Elab *e, Operator op, Int128 a, Int128 b, Span span, Span right) {
    switch (op) {
    case OPERATOR_ADD: return fold_result(e, a + b, span);
    case OPERATOR_SUB: return fold_result(e, a - b, span);
    case OPERATOR_MUL: {
        Int128 product;
        if (__builtin_mul_overflow(a, b, &product)) product = (Int128)UINT64_MAX + 1;
        return fold_result(e, product, span);
    }
    case OPERATOR_DIV:
    case OPERATOR_REM:
        if (b == 0)
            return el_error(e, right, DIAG_DIVISION_BY_ZERO, "a constant is divided by zero");
        return fold_result(e, op == OPERATOR_DIV ? a / b : a % b, span);
    case OPERATOR_SHL:
    case OPERATOR_SHR: return fold_shift(e, op, a, b, span, right);
    case OPERATOR_AND: return fold_result(e, a & b, span);
    case OPERATOR_OR: return fold_result(e, a | b, span);
    case OPERATOR_XOR: return fold_result(e, a ^ b, span);
    case OPERATOR_LT: return el_bool(a < b);
    case OPERATOR_LE: return el_bool(a <= b);
    case OPERATOR_GT: return el_bool(a > b);
    case OPERATOR_GE: return el_bool(a >= b);
    case OPERATOR_EQ: return el_bool(a == b);
    case OPERATOR_NE: return el_bool(a != b);
    case OPERATOR_NONE:
    case OPERATOR_LAND:
    case OPERATOR_LOR:
    case OPERATOR_NEG:
    case OPERATOR_NOT:
    case OPERATOR_BITNOT: break;
    }
    return EL_POISON;
}

static Val fold_real(double value) { return (Val){.kind = VAL_FLOAT, .real = value}; }

static Val fold_floats(Elab *e, Operator op, double a, double b, Span span) {
    switch (op) {
    case OPERATOR_ADD: return fold_real(a + b);
    case OPERATOR_SUB: return fold_real(a - b);
    case OPERATOR_MUL: return fold_real(a * b);
    case OPERATOR_DIV: return fold_real(a / b);
    case OPERATOR_REM: return fold_real(fmod(a, b));
    case OPERATOR_LT: return el_bool(a < b);
    case OPERATOR_LE: return el_bool(a <= b);
    case OPERATOR_GT: return el_bool(a > b);
    case OPERATOR_GE: return el_bool(a >= b);
    case OPERATOR_EQ: return el_bool(a == b);
    case OPERATOR_NE: return el_bool(a != b);
    case OPERATOR_SHL:
    case OPERATOR_SHR:
    case OPERATOR_AND:
    case OPERATOR_OR:
    case OPERATOR_XOR:
    case OPERATOR_NONE:
    case OPERATOR_LAND:
    case OPERATOR_LOR:
    case OPERATOR_NEG:
    case OPERATOR_NOT:
    case OPERATOR_BITNOT: break;
    }
    return el_error(e, span, DIAG_TYPE, "'%s' needs integers, found a float",
                    el_operator_text(e, op));
}

static Val fold_bools(Elab *e, Operator op, bool a, bool b, Span span) {
    if (op == OPERATOR_EQ) return el_bool(a == b);
    if (op == OPERATOR_NE || op == OPERATOR_XOR) return el_bool(a != b);
    if (op == OPERATOR_AND) return el_bool(a && b);
    if (op == OPERATOR_OR) return el_bool(a || b);
    return el_error(e, span, DIAG_TYPE, "'%s' does not take bools", el_operator_text(e, op));
}

static double val_real(Val v) { return v.kind == VAL_INT ? (double)v.integer : v.real; }

Val el_fold_binary(Elab *e, Operator op, Val a, Val b, Span span, Span right) {
    if (a.kind == VAL_BOOL && b.kind == VAL_BOOL) return fold_bools(e, op, a.truth, b.truth, span);
    if (a.kind == VAL_BOOL || b.kind == VAL_BOOL) {
        el_error(e, span, DIAG_TYPE, "'%s' needs operands of one type, found %s and %s",
                 el_operator_text(e, op), el_val_text(e, a), el_val_text(e, b));
        el_help(e, "a bool becomes a number only by a cast");
        return EL_POISON;
    }
    if (a.kind == VAL_INT && b.kind == VAL_INT)
        return fold_integers(e, op, a.integer, b.integer, span, right);
    return fold_floats(e, op, val_real(a), val_real(b), span);
}
