// Expressions that must be compile-time.
#include "frontend/tile/elaborate.h"

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

Val el_const_expr(Elab *e, const Ast *ast) {
    bool outer = tile_of(e)->constant;
    tile_of(e)->constant = true;
    Val v = el_expr(e, ast);
    tile_of(e)->constant = outer;
    return v;
}

bool el_const_int(Elab *e, const Ast *ast, const char *what, Int128 *value) {
    Val v = el_const_expr(e, ast);
    if (v.kind != VAL_INT) return const_expected(e, ast, what, v, "an integer");
    *value = v.integer;
    return true;
}

bool el_const_range_of(Elab *e, Val v, const Ast *ast, const char *what, int64_t low, int64_t high,
                       int64_t *value) {
    if (v.kind != VAL_INT) return const_expected(e, ast, what, v, "an integer");
    if (v.integer < low || v.integer > high) {
        el_error(e, ast->span, DIAG_CONSTANT_VALUE, "%s must be from %lld to %lld, found %s", what,
                 (long long)low, (long long)high, el_wide_text(e, v.integer));
        return false;
    }
    *value = (int64_t)v.integer;
    return true;
}

bool el_const_range(Elab *e, const Ast *ast, const char *what, int64_t low, int64_t high,
                    int64_t *value) {
    return el_const_range_of(e, el_const_expr(e, ast), ast, what, low, high, value);
}

bool el_const_bool(Elab *e, const Ast *ast, const char *what, bool *value) {
    Val v = el_const_expr(e, ast);
    if (v.kind != VAL_BOOL) return const_expected(e, ast, what, v, "a bool");
    *value = v.truth;
    return true;
}

bool el_const_extent(Elab *e, const Ast *ast, const char *what, DiagCode code, uint32_t *value) {
    Int128 wide = 0;
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
