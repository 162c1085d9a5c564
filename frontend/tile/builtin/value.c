// Built-ins that make values, elementwise math, assertions and print.
#include <math.h>

#include "frontend/tile/elaborate.h"

// ---- program, iota, zeros, full, select, bitcast, cdiv

static Val value_program(Elab *e, const Args *a) {
    int64_t d;
    if (!el_const_range(e, a->at[0], "the grid's dimension", 0, 2, &d)) return EL_POISON;
    return el_ir(a->which == TILE_PROGRAM ? ir_program(&e->b, (int)d) : ir_programs(&e->b, (int)d));
}

static Val value_filled(Elab *e, const Args *a) {
    bool full = a->which == TILE_FULL;
    Dtype elem;
    Shape shape;
    bool good = el_type_arg(e, a->at[0], &elem);
    Val v = full ? el_operand(e, a->at[1]) : el_int(0);
    good = el_dims(e, a, full ? 2 : 1, &shape) && good && v.kind != VAL_POISON;
    if (!good) return EL_POISON;
    if (!full && elem == DTYPE_BOOL) v = el_bool(false);
    if (el_is_const(v)) {
        Span span = full ? a->at[1]->span : a->call->span;
        return el_ir(el_adopt(e, v, elem, shape.rank, shape.dims, span));
    }
    if (v.ir->type->rank) {
        return el_error(e, a->at[1]->span, DIAG_SHAPE, "'full' takes a scalar, found %s",
                        el_val_text(e, v));
    }
    v = el_cast(e, elem, v, true, a->at[1]->span);
    return v.kind == VAL_IR ? el_ir(el_broadcast(e, v.ir, shape.rank, shape.dims)) : v;
}

static Val value_select(Elab *e, const Args *a) {
    Val c = el_operand(e, a->at[0]), vals[2] = {el_operand(e, a->at[1]), el_operand(e, a->at[2])};
    IrValue *cond = c.kind == VAL_POISON ? NULL : el_value(e, c, a->at[0]->span), *both[2];
    if (cond && (el_is_ptr(cond) || el_elem(cond) != DTYPE_BOOL)) {
        el_error(e, a->at[0]->span, DIAG_TYPE, "'select' needs a bool condition, found %s",
                 el_val_text(e, c));
        el_help(e, "compare with 0");
        cond = NULL;
    }
    const Span spans[2] = {a->at[1]->span, a->at[2]->span};
    if (!el_unify(e, a->call->span, "select", 2, vals, spans, both) || !cond) return EL_POISON;
    IrValue *all[3] = {cond, both[0], both[1]};
    Shape shape;
    if (!el_common_shape(e, a->call->span, 3, all, &shape)) return EL_POISON;
    for (int i = cond->type->rank ? 0 : 1; i < 3; i++)
        all[i] = el_broadcast(e, all[i], shape.rank, shape.dims);
    return el_ir(ir_ternary(&e->b, IR_SELECT, all[0], all[1], all[2]));
}

static Val value_bitcast(Elab *e, const Args *a) {
    Dtype to;
    bool good = el_type_arg(e, a->at[0], &to);
    IrValue *x = el_tile(e, a->at[1]);
    if (!x || !good) return EL_POISON;
    unsigned from_bits = el_is_ptr(x) ? 64 : dtype_bits(el_elem(x));
    bool is_bool = to == DTYPE_BOOL || (!el_is_ptr(x) && el_elem(x) == DTYPE_BOOL);
    if (is_bool || from_bits != dtype_bits(to)) {
        if (is_bool)
            el_error(e, a->call->span, DIAG_TYPE, "'bitcast' does not take bool");
        else
            el_error(e, a->call->span, DIAG_TYPE,
                     "'bitcast' keeps the width: %s has %u bits, %s %u", el_type_text(e, x->type),
                     from_bits, dtype_name(to), dtype_bits(to));
        el_help(e, "%s(x) converts the value", dtype_name(to));
        return EL_POISON;
    }
    return el_ir(ir_bitcast(&e->b, x, ir_tile(e->module, to, x->type->rank, x->type->shape)));
}

static Val cdiv_const(Elab *e, Int128 a, Int128 b, const Args *args) {
    if (b == 0)
        return el_error(e, args->at[1]->span, DIAG_DIVISION_BY_ZERO,
                        "a constant is divided by zero");
    return el_int(a / b + (a % b != 0 && (a < 0) == (b < 0)));
}

// a / b rounded up, without the overflow of (a + b - 1) / b: the quotient, plus 1 if the remainder
// has the divisor's sign.
static Val value_cdiv(Elab *e, const Args *a) {
    Val vals[2] = {el_operand(e, a->at[0]), el_operand(e, a->at[1])};
    const Span spans[2] = {a->at[0]->span, a->at[1]->span};
    if (vals[0].kind == VAL_INT && vals[1].kind == VAL_INT)
        return cdiv_const(e, vals[0].integer, vals[1].integer, a);
    IrValue *both[2];
    if (!el_unify(e, a->call->span, "cdiv", 2, vals, spans, both)) return EL_POISON;
    IrValue *x = both[0], *y = both[1];
    if (el_is_ptr(x) || !dtype_is(el_elem(x), DTYPE_CLASS_INT)) {
        return el_error(e, a->call->span, DIAG_TYPE, "'cdiv' needs integers, found %s",
                        el_type_text(e, x->type));
    }
    IrValue *quotient = ir_binary(&e->b, IR_DIV, x, y), *rest = ir_binary(&e->b, IR_REM, x, y);
    IrValue *zero = ir_const_bits(&e->b, x->type, 0), *more = ir_binary(&e->b, IR_GT, rest, zero);
    if (dtype_signed(el_elem(x)) && !(vals[1].kind == VAL_INT && vals[1].integer > 0)) {
        IrValue *less = ir_binary(&e->b, IR_LT, rest, zero);
        IrValue *up = ir_binary(&e->b, IR_AND, more, ir_binary(&e->b, IR_GT, y, zero));
        IrValue *down = ir_binary(&e->b, IR_AND, less, ir_binary(&e->b, IR_LT, y, zero));
        more = ir_binary(&e->b, IR_OR, up, down);
    }
    return el_ir(ir_binary(&e->b, IR_ADD, quotient, ir_cast(&e->b, more, el_elem(x), false)));
}

Val el_builtin_value(Elab *e, const Args *a) {
    if (a->which == TILE_CDIV) return value_cdiv(e, a);
    if (a->which == TILE_ZEROS || a->which == TILE_FULL) return value_filled(e, a);
    if (a->which == TILE_SELECT) return value_select(e, a);
    if (a->which == TILE_BITCAST) return value_bitcast(e, a);
    if (a->which == TILE_IOTA) {
        uint32_t count;
        if (!el_const_extent(e, a->at[0], "the extent of 'iota'", DIAG_SHAPE, &count))
            return EL_POISON;
        return el_ir(ir_iota(&e->b, count));
    }
    if (a->which == TILE_UNITS) return el_ir(ir_units(&e->b));
    return value_program(e, a);
}

// ---- math

static IrOpcode math_opcode(TileBuiltin which) {
    static const struct {
        TileBuiltin builtin;
        IrOpcode code;
    } rows[] = {
        {TILE_EXP, IR_EXP},         {TILE_EXP2, IR_EXP2},   {TILE_LOG, IR_LOG},
        {TILE_LOG2, IR_LOG2},       {TILE_SIN, IR_SIN},     {TILE_COS, IR_COS},
        {TILE_TAN, IR_TAN},         {TILE_TANH, IR_TANH},   {TILE_ERF, IR_ERF},
        {TILE_SIGMOID, IR_SIGMOID}, {TILE_SQRT, IR_SQRT},   {TILE_RSQRT, IR_RSQRT},
        {TILE_FLOOR, IR_FLOOR},     {TILE_CEIL, IR_CEIL},   {TILE_ROUND, IR_ROUND},
        {TILE_LOG1P, IR_LOG1P},     {TILE_EXPM1, IR_EXPM1}, {TILE_LOG10, IR_LOG10},
        {TILE_SINH, IR_SINH},       {TILE_COSH, IR_COSH},   {TILE_ATAN, IR_ATAN},
        {TILE_ASIN, IR_ASIN},       {TILE_ACOS, IR_ACOS},   {TILE_CBRT, IR_CBRT},
        {TILE_ERFC, IR_ERFC},       {TILE_ATAN2, IR_ATAN2}, {TILE_COPYSIGN, IR_COPYSIGN},
        {TILE_ABS, IR_ABS},         {TILE_POW, IR_POW},     {TILE_FMA, IR_FMA},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].builtin == which) return rows[i].code;
    return IR_ABS;
}

static Val math_needs_float(Elab *e, const Args *a, const Val *vals) {
    for (uint32_t i = 0; i < a->count; i++) {
        Val v = vals[i];
        bool is_float = v.kind == VAL_FLOAT || (v.kind == VAL_IR && !el_is_ptr(v.ir) &&
                                                dtype_is(el_elem(v.ir), DTYPE_CLASS_ANYFLOAT));
        if (is_float) continue;
        el_error(e, a->at[i]->span, DIAG_TYPE, "'%s' takes floats, found %s", a->name,
                 el_val_text(e, v));
        if (v.kind == VAL_INT)
            el_help(e, "write %s.0", el_wide_text(e, v.integer));
        else
            el_help(e, "cast it: f32(…)");
        break;
    }
    return EL_POISON;
}

static Val fold_minmax(IrOpcode code, Val x, Val y) {
    bool ints = x.kind == VAL_INT && y.kind == VAL_INT;
    if (ints) return ((x.integer < y.integer) == (code == IR_MIN)) ? x : y;
    double p = x.kind == VAL_INT ? (double)x.integer : x.real;
    double q = y.kind == VAL_INT ? (double)y.integer : y.real;
    if (isnan(p) || isnan(q)) return (Val){.kind = VAL_FLOAT, .real = isnan(p) ? p : q};
    bool less = p < q || (p == q && signbit(p) && !signbit(q));
    return (Val){.kind = VAL_FLOAT, .real = less == (code == IR_MIN) ? p : q};
}

static Val minmax_values(Elab *e, const Args *a, IrOpcode code, Val x, Val y, const Span *spans) {
    bool numbers = el_is_const(x) && el_is_const(y) && x.kind != VAL_BOOL && y.kind != VAL_BOOL;
    if (numbers) return fold_minmax(code, x, y);
    IrValue *both[2];
    if (!el_unify(e, a->call->span, a->name, 2, (Val[]){x, y}, spans, both)) return EL_POISON;
    if (el_is_ptr(both[0]) || !dtype_is(el_elem(both[0]), DTYPE_CLASS_NUMBER)) {
        return el_error(e, a->call->span, DIAG_TYPE, "'%s' needs numbers, found %s", a->name,
                        el_type_text(e, both[0]->type));
    }
    return el_ir(ir_binary(&e->b, code, both[0], both[1]));
}

Val el_minmax(Elab *e, const Args *a, IrOpcode code) {
    const Ast *named = a->named[NAMED_AXIS] ? a->named[NAMED_AXIS] : a->named[NAMED_KEEP];
    if (!named) named = a->named[NAMED_WHERE];
    if (named) {
        el_error(e, named->span, DIAG_ARGUMENTS, "'%s' of two operands is elementwise", a->name);
        el_help(e, "a reduction has one operand: %s(v, axis = 0)", a->name);
        return EL_POISON;
    }
    Val x = el_operand(e, a->at[0]), y = el_operand(e, a->at[1]);
    if (x.kind == VAL_POISON || y.kind == VAL_POISON) return EL_POISON;
    return minmax_values(e, a, code, x, y, (Span[]){a->at[0]->span, a->at[1]->span});
}

static Val math_clamp(Elab *e, const Args *a, const Val *v) {
    const Span spans[2] = {a->at[0]->span, a->at[1]->span};
    Val low = minmax_values(e, a, IR_MAX, v[0], v[1], spans);
    if (low.kind == VAL_POISON) return low;
    return minmax_values(e, a, IR_MIN, low, v[2], (Span[]){a->at[0]->span, a->at[2]->span});
}

static Val math_abs(Elab *e, const Args *a, Val v) {
    if (v.kind == VAL_INT)
        return v.integer < 0 ? el_fold_unary(e, OPERATOR_NEG, v, a->call->span) : v;
    if (v.kind == VAL_FLOAT) return (Val){.kind = VAL_FLOAT, .real = fabs(v.real)};
    if (v.kind == VAL_IR && !el_is_ptr(v.ir) && dtype_is(el_elem(v.ir), DTYPE_CLASS_NUMBER))
        return el_ir(ir_unary(&e->b, IR_ABS, v.ir));
    return el_error(e, a->at[0]->span, DIAG_TYPE, "'abs' needs a number, found %s",
                    el_val_text(e, v));
}

Val el_builtin_math(Elab *e, const Args *a) {
    Val vals[3] = {EL_POISON, EL_POISON, EL_POISON};
    Span spans[3] = {{0}};
    bool good = true, floats = false;
    for (uint32_t i = 0; i < a->count; i++) {
        vals[i] = el_operand(e, a->at[i]);
        spans[i] = a->at[i]->span;
        good = good && vals[i].kind != VAL_POISON;
        floats = floats || vals[i].kind == VAL_FLOAT ||
                 (vals[i].kind == VAL_IR && dtype_is(el_elem(vals[i].ir), DTYPE_CLASS_ANYFLOAT));
    }
    if (!good) return EL_POISON;
    if (a->which == TILE_CLAMP) return math_clamp(e, a, vals);
    if (a->which == TILE_ABS) return math_abs(e, a, vals[0]);
    // An integer literal next to a float takes its type; a typed integer needs a cast.
    for (uint32_t i = 0; i < a->count; i++) {
        bool adopts = floats && vals[i].kind == VAL_INT;
        if (vals[i].kind == VAL_FLOAT || adopts) continue;
        if (vals[i].kind == VAL_IR && !el_is_ptr(vals[i].ir) &&
            dtype_is(el_elem(vals[i].ir), DTYPE_CLASS_ANYFLOAT))
            continue;
        return math_needs_float(e, a, vals);
    }
    IrValue *all[3];
    if (!el_unify(e, a->call->span, a->name, a->count, vals, spans, all)) return EL_POISON;
    if (a->which == TILE_ISNAN || a->which == TILE_ISINF || a->which == TILE_ISFINITE)
        return el_float_kind(e, a->which, all[0]);
    IrOpcode code = math_opcode(a->which);
    if (a->count == 1) return el_ir(ir_unary(&e->b, code, all[0]));
    if (a->count == 2) return el_ir(ir_binary(&e->b, code, all[0], all[1]));
    return el_ir(ir_ternary(&e->b, code, all[0], all[1], all[2]));
}

// ---- assert, assume, static_assert, noalias

static bool effect_text(Elab *e, const Args *a, Str *text) {
    *text = source_text(tile_of(e)->file->sources, a->at[0]->span);
    if (a->count < 2) return true;
    if (a->at[1]->kind == AST_STRING) {
        *text = a->at[1]->text;
        return true;
    }
    el_error(e, a->at[1]->span, DIAG_ARGUMENTS, "the text of '%s' must be a string", a->name);
    return false;
}

static Val effect_static(Elab *e, const Args *a) {
    bool truth;
    Str text;
    bool good = el_const_bool(e, a->at[0], "the condition of 'static_assert'", &truth);
    if (effect_text(e, a, &text) && good && !truth)
        el_error(e, a->call->span, DIAG_STATIC_ASSERT, "static_assert failed: %.*s", STR_ARG(text));
    return EL_NONE;
}

static IrValue *noalias_operand(Elab *e, const Ast *ast) {
    const AstDecl *decl = ast->kind == AST_NAME ? ast->decl : NULL;
    if (decl && (decl->kind == DECL_VIEW || decl->kind == DECL_POINTER)) {
        Slot *slot = el_slot(e, decl);
        if (!slot || slot->val.kind == VAL_POISON) return NULL;
        return slot->val.kind == VAL_VIEW ? slot->val.view->value : slot->val.ir;
    }
    if (ast->kind == AST_ERROR || (ast->kind == AST_NAME && !decl && ast->builtin < 0)) {
        el_silent(e);
        return NULL;
    }
    el_error(e, ast->span, DIAG_REQUIRES, "'noalias' takes names of views and pointers");
    return NULL;
}

static Val effect_noalias(Elab *e, const Args *a) {
    if (tile_of(e)->place != EL_IN_REQUIRES) {
        el_error(e, a->call->span, DIAG_MISPLACED, "'noalias' is allowed only in requires");
        el_help(e, "move it to the kernel's head");
        return EL_POISON;
    }
    IrValue *both[2] = {noalias_operand(e, a->at[0]), noalias_operand(e, a->at[1])};
    if (!both[0] || !both[1]) return EL_POISON;
    if (both[0] == both[1]) {
        return el_error(e, a->call->span, DIAG_REQUIRES, "'%s' always overlaps itself",
                        a->at[0]->name);
    }
    return el_ir(el_op1(e, IR_NOALIAS, 2, both, ir_scalar(e->module, DTYPE_BOOL)));
}

Val el_builtin_effect(Elab *e, const Args *a) {
    if (a->which == TILE_STATIC_ASSERT) return effect_static(e, a);
    if (a->which == TILE_NOALIAS) return effect_noalias(e, a);
    Str text;
    IrValue *cond = el_tile(e, a->at[0]);
    bool good = effect_text(e, a, &text);
    if (cond && (el_is_ptr(cond) || el_elem(cond) != DTYPE_BOOL)) {
        el_error(e, a->at[0]->span, DIAG_CONDITION, "'%s' needs a bool, found %s", a->name,
                 el_type_text(e, cond->type));
        el_help(e, "compare with 0");
        return EL_NONE;
    }
    if (!cond || !good) return EL_NONE;
    bool assume = a->which == TILE_ASSUME;
    IrOp *op = ir_op(&e->b, assume ? IR_ASSUME : IR_ASSERT, 1, &cond, 0, NULL, 0, NULL);
    if (!assume) {
        const char *copy = arena_text(e->module->arena, text.text, text.size);
        el_attr(op, IR_ATTR_TEXT)->u.text = (Str){copy, text.size};
    }
    return EL_NONE;
}

// ---- print

Val el_builtin_print(Elab *e, const Ast *call) {
    uint32_t count = 0, values = 0, n = 0;
    for (const Ast *arg = call->list; arg; arg = arg->next) count++;
    StrBuf text = strbuf(e->module->arena);
    IrValue **operands = arena_new(e->scratch, IrValue *, count);
    Str *texts = arena_new(e->module->arena, Str, count + 1);
    bool good = true;
    for (const Ast *arg = call->list; arg; arg = arg->next) {
        if (arg->kind == AST_STRING) {
            strbuf_add(&text, arg->text);
            continue;
        }
        if (arg->kind == AST_NAMED) {
            el_error(e, arg->span, DIAG_ARGUMENTS, "'print' takes no named arguments");
            good = false;
            continue;
        }
        texts[n++] = strbuf_str(&text);
        text = strbuf(e->module->arena);
        operands[values] = el_tile(e, arg);
        good = operands[values++] && good;
    }
    if (text.size) texts[n++] = strbuf_str(&text);
    if (!good) return EL_NONE;
    IrOp *op = ir_op(&e->b, IR_PRINT, values, operands, 0, NULL, 0, NULL);
    IrAttr *attr = el_attr(op, IR_ATTR_TEXTS);
    attr->u.texts.count = n;
    attr->u.texts.items = texts;
    return EL_NONE;
}
