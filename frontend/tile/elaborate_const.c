// Compile-time arithmetic: exact integers up to 64 bits, floats as doubles, bools.
#include <math.h>

#include "frontend/tile/elaborate.h"

static bool wide_in_range(Wide v) { return v >= (Wide)INT64_MIN && v <= (Wide)UINT64_MAX; }

static Val fold_result(Elab *e, Wide v, Span span) {
    if (wide_in_range(v)) return el_int(v);
    return el_error(e, span, DIAG_CONSTANT_VALUE,
                    "a constant needs more than 64 bits (-2^63 to 2^64-1)");
}

Val el_fold_unary(Elab *e, AstOp op, Val a, Span span) {
    if (op == AST_OP_NOT) {
        if (a.kind == VAL_BOOL) return el_bool(!a.truth);
        el_error(e, span, DIAG_TYPE, "'!' needs a bool, found %s", el_val_text(e, a));
        el_help(e, "compare with 0");
        return EL_POISON;
    }
    if (op == AST_OP_BITNOT) {
        if (a.kind == VAL_INT) return fold_result(e, -a.integer - 1, span);
        if (a.kind == VAL_BOOL) return el_bool(!a.truth);
    }
    if (op == AST_OP_NEG) {
        if (a.kind == VAL_INT) return fold_result(e, -a.integer, span);
        if (a.kind == VAL_FLOAT) return (Val){.kind = VAL_FLOAT, .real = -a.real};
    }
    return el_error(e, span, DIAG_TYPE, "'%s' does not take %s", ast_op_text(op),
                    el_val_text(e, a));
}

static Val fold_shift(Elab *e, AstOp op, Wide a, Wide n, Span span, Span right) {
    if (n < 0) {
        return el_error(e, right, DIAG_CONSTANT_VALUE, "a constant is shifted by %s",
                        el_wide_text(e, n));
    }
    if (op == AST_OP_SHR) return el_int(a >> (n > 100 ? 100 : n));
    if (a == 0) return el_int(0);
    if (n > 63) return fold_result(e, (Wide)UINT64_MAX + 1, span);
    return fold_result(e, a * ((Wide)1 << n), span);
}

static Val fold_integers(Elab *e, AstOp op, Wide a, Wide b, Span span, Span right) {
    switch (op) {
    case AST_OP_ADD: return fold_result(e, a + b, span);
    case AST_OP_SUB: return fold_result(e, a - b, span);
    case AST_OP_MUL: {
        Wide product;
        if (__builtin_mul_overflow(a, b, &product)) product = (Wide)UINT64_MAX + 1;
        return fold_result(e, product, span);
    }
    case AST_OP_DIV:
    case AST_OP_REM:
        if (b == 0)
            return el_error(e, right, DIAG_DIVISION_BY_ZERO, "a constant is divided by zero");
        return fold_result(e, op == AST_OP_DIV ? a / b : a % b, span);
    case AST_OP_SHL:
    case AST_OP_SHR: return fold_shift(e, op, a, b, span, right);
    case AST_OP_AND: return fold_result(e, a & b, span);
    case AST_OP_OR: return fold_result(e, a | b, span);
    case AST_OP_XOR: return fold_result(e, a ^ b, span);
    case AST_OP_LT: return el_bool(a < b);
    case AST_OP_LE: return el_bool(a <= b);
    case AST_OP_GT: return el_bool(a > b);
    case AST_OP_GE: return el_bool(a >= b);
    case AST_OP_EQ: return el_bool(a == b);
    case AST_OP_NE: return el_bool(a != b);
    case AST_OP_NONE:
    case AST_OP_LAND:
    case AST_OP_LOR:
    case AST_OP_NEG:
    case AST_OP_NOT:
    case AST_OP_BITNOT: break;
    }
    return EL_POISON;
}

static Val fold_real(double value) { return (Val){.kind = VAL_FLOAT, .real = value}; }

static Val fold_floats(Elab *e, AstOp op, double a, double b, Span span) {
    switch (op) {
    case AST_OP_ADD: return fold_real(a + b);
    case AST_OP_SUB: return fold_real(a - b);
    case AST_OP_MUL: return fold_real(a * b);
    case AST_OP_DIV: return fold_real(a / b);
    case AST_OP_REM: return fold_real(fmod(a, b));
    case AST_OP_LT: return el_bool(a < b);
    case AST_OP_LE: return el_bool(a <= b);
    case AST_OP_GT: return el_bool(a > b);
    case AST_OP_GE: return el_bool(a >= b);
    case AST_OP_EQ: return el_bool(a == b);
    case AST_OP_NE: return el_bool(a != b);
    case AST_OP_SHL:
    case AST_OP_SHR:
    case AST_OP_AND:
    case AST_OP_OR:
    case AST_OP_XOR:
    case AST_OP_NONE:
    case AST_OP_LAND:
    case AST_OP_LOR:
    case AST_OP_NEG:
    case AST_OP_NOT:
    case AST_OP_BITNOT: break;
    }
    return el_error(e, span, DIAG_TYPE, "'%s' needs integers, found a float", ast_op_text(op));
}

static Val fold_bools(Elab *e, AstOp op, bool a, bool b, Span span) {
    if (op == AST_OP_EQ) return el_bool(a == b);
    if (op == AST_OP_NE || op == AST_OP_XOR) return el_bool(a != b);
    if (op == AST_OP_AND) return el_bool(a && b);
    if (op == AST_OP_OR) return el_bool(a || b);
    return el_error(e, span, DIAG_TYPE, "'%s' does not take bools", ast_op_text(op));
}

static double val_real(Val v) { return v.kind == VAL_INT ? (double)v.integer : v.real; }

Val el_fold_binary(Elab *e, AstOp op, Val a, Val b, Span span, Span right) {
    if (a.kind == VAL_BOOL && b.kind == VAL_BOOL) return fold_bools(e, op, a.truth, b.truth, span);
    if (a.kind == VAL_BOOL || b.kind == VAL_BOOL) {
        el_error(e, span, DIAG_TYPE, "'%s' needs operands of one type, found %s and %s",
                 ast_op_text(op), el_val_text(e, a), el_val_text(e, b));
        el_help(e, "a bool is no number without a cast");
        return EL_POISON;
    }
    if (a.kind == VAL_INT && b.kind == VAL_INT)
        return fold_integers(e, op, a.integer, b.integer, span, right);
    return fold_floats(e, op, val_real(a), val_real(b), span);
}

// ---- expressions that must be compile-time

static bool const_expected(Elab *e, const Ast *ast, const char *what, Val v, const char *kind) {
    if (v.kind == VAL_POISON) return false;
    if (v.kind == VAL_IR) {
        el_error(e, ast->span, DIAG_NOT_CONSTANT, "%s must be known at compile time", what);
        el_help(e, "use a literal, a const or a let of those");
    } else {
        el_error(e, ast->span, DIAG_TYPE, "%s must be %s, found %s", what, kind, el_val_text(e, v));
    }
    return false;
}

bool el_const_int(Elab *e, const Ast *ast, const char *what, Wide *value) {
    Val v = el_expr(e, ast);
    if (v.kind != VAL_INT) return const_expected(e, ast, what, v, "an integer");
    *value = v.integer;
    return true;
}

bool el_const_range(Elab *e, const Ast *ast, const char *what, int64_t low, int64_t high,
                    int64_t *value) {
    Wide wide = 0;
    TRY(el_const_int(e, ast, what, &wide));
    if (wide < low || wide > high) {
        el_error(e, ast->span, DIAG_CONSTANT_VALUE, "%s must be from %lld to %lld, found %s", what,
                 (long long)low, (long long)high, el_wide_text(e, wide));
        return false;
    }
    *value = (int64_t)wide;
    return true;
}

bool el_const_bool(Elab *e, const Ast *ast, const char *what, bool *value) {
    Val v = el_expr(e, ast);
    if (v.kind != VAL_BOOL) return const_expected(e, ast, what, v, "a bool");
    *value = v.truth;
    return true;
}

bool el_const_extent(Elab *e, const Ast *ast, const char *what, DiagCode code, uint32_t *value) {
    Wide wide = 0;
    TRY(el_const_int(e, ast, what, &wide));
    if (wide < 1) {
        el_error(e, ast->span, code, "%s must be a power of two, found %s", what,
                 el_wide_text(e, wide));
        return false;
    }
    if (wide > IR_MAX_COUNT) {
        el_error(e, ast->span, code, "%s is at most %d, found %s", what, IR_MAX_COUNT,
                 el_wide_text(e, wide));
        return false;
    }
    *value = (uint32_t)wide;
    if ((*value & (*value - 1)) == 0) return true;
    el_error(e, ast->span, code, "%s must be a power of two, found %u", what, *value);
    el_help(e, "the next one is %llu", (unsigned long long)el_next_power(*value));
    return false;
}
