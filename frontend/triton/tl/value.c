// Functions of triton.language: values, casts, elementwise operations.
#include <math.h>

#include "frontend/triton/elaborate.h"

// ---- programs, ranges of numbers, constants

Val tl_program(Elab *e, const TlCall *c) {
    int64_t axis;
    if (!tr_call_int(e, c, 0, "the axis", 0, &axis)) return EL_POISON;
    if (axis < 0 || axis > 2)
        return el_error(e, c->at[0], DIAG_ARGUMENTS, "the axis of a grid is 0, 1 or 2, found %lld",
                        (long long)axis);
    IrValue *v =
        c->tl->which == IR_PROGRAM ? ir_program(&e->b, (int)axis) : ir_programs(&e->b, (int)axis);
    return el_ir(ir_cast(&e->b, v, DTYPE_I32, false));
}

Val tl_arange(Elab *e, const TlCall *c) {
    int64_t start, end;
    if (!tr_call_int(e, c, 0, "the start of tl.arange", 0, &start) ||
        !tr_call_int(e, c, 1, "the end of tl.arange", 0, &end))
        return EL_POISON;
    int64_t count = end - start;
    if (count < 1) {
        el_error(e, c->span, DIAG_SHAPE, "tl.arange counts up: its end %lld must be above %lld",
                 (long long)end, (long long)start);
        return EL_POISON;
    }
    if (start < INT32_MIN || end > INT32_MAX || (count & (count - 1)) || count > IR_MAX_COUNT) {
        el_error(e, c->span, DIAG_SHAPE,
                 "tl.arange needs a number of elements that is a power of two, found %lld",
                 (long long)count);
        el_help(e, "take tl.arange(0, %llu), and mask what is beyond the end",
                (unsigned long long)el_next_power((uint64_t)count));
        return EL_POISON;
    }
    IrValue *v = ir_iota(&e->b, (uint32_t)count);
    if (!start) return el_ir(v);
    Shape shape = el_shape_of(v->type);
    IrValue *first = ir_const_int(&e->b, DTYPE_I32, start);
    return el_ir(ir_binary(&e->b, IR_ADD, v, el_broadcast(e, first, shape.rank, shape.dims)));
}

static Val filled(Elab *e, const Shape *shape, Val value, Dtype type, Span span) {
    IrValue *v = tr_cast(e, value, type, span);
    if (!v) return EL_POISON;
    if (v->type->rank)
        return el_error(e, span, DIAG_SHAPE, "the value must be a scalar, found %s",
                        tr_text(e, value));
    return el_ir(el_broadcast(e, v, shape->rank, shape->dims));
}

Val tl_zeros(Elab *e, const TlCall *c) {
    Shape shape;
    Dtype type;
    if (!tr_call_shape(e, c, 0, &shape) || !tr_call_type(e, c, 1, DTYPE_F32, &type))
        return EL_POISON;
    return filled(e, &shape, el_int(0), type, c->span);
}

Val tl_full(Elab *e, const TlCall *c) {
    Shape shape;
    IrValue *v = tr_tensor(e, c->arg[1], c->at[1]);
    Dtype type;
    if (!v || !tr_call_shape(e, c, 0, &shape) || !tr_call_type(e, c, 2, el_elem(v), &type))
        return EL_POISON;
    return filled(e, &shape, c->arg[1], type, c->at[1]);
}

Val tl_zeros_like(Elab *e, const TlCall *c) {
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    Shape shape = el_shape_of(v->type);
    return filled(e, &shape, el_int(0), el_elem(v), c->span);
}

Val tl_full_like(Elab *e, const TlCall *c) {
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    Shape shape = el_shape_of(v->type);
    return filled(e, &shape, c->arg[1], el_elem(v), c->span);
}

Val tl_to_tensor(Elab *e, const TlCall *c) { return el_ir(tr_tensor(e, c->arg[0], c->at[0])); }

// ---- casts

static Val cast_pointer(Elab *e, const TlCall *c, IrValue *v, Dtype elem) {
    if (!el_is_ptr(v) && el_elem(v) != DTYPE_I64 && el_elem(v) != DTYPE_U64)
        return el_error(e, c->at[0], DIAG_TYPE, "a pointer is made of a 64-bit integer, found %s",
                        tr_text(e, c->arg[0]));
    return el_ir(ir_bitcast(&e->b, v, ir_ptr(e->module, elem, v->type->rank, v->type->shape)));
}

// Rounds to the nearest, and goes back by one where that is beyond the number.
static IrValue *cast_to_zero(Elab *e, IrValue *v, Dtype to, Span span) {
    Dtype elem = el_elem(v), wide = dtype_bits(elem) == 64 ? DTYPE_F64 : DTYPE_F32;
    if (!dtype_is(elem, DTYPE_CLASS_ANYFLOAT) || !dtype_is(to, DTYPE_CLASS_ANYFLOAT) ||
        dtype_bits(to) >= dtype_bits(elem))
        return tr_cast(e, el_ir(v), to, span);
    const IrType *t = v->type;
    Dtype bits_type = dtype_bits(to) == 8 ? DTYPE_U8 : dtype_bits(to) == 16 ? DTYPE_U16 : DTYPE_U32;
    const IrType *integers = ir_tile(e->module, bits_type, t->rank, t->shape);
    IrValue *near = el_convert(e, v, to);
    IrValue *found = ir_unary(&e->b, IR_ABS, el_convert(e, near, wide));
    IrValue *given = ir_unary(&e->b, IR_ABS, el_convert(e, v, wide));
    IrValue *bits = ir_bitcast(&e->b, near, integers);
    IrValue *back = ir_binary(&e->b, IR_SUB, bits, ir_const_bits(&e->b, integers, 1));
    IrValue *beyond = ir_binary(&e->b, IR_GT, found, given);
    bits = ir_ternary(&e->b, IR_SELECT, beyond, back, bits);
    return ir_bitcast(&e->b, bits, ir_tile(e->module, to, t->rank, t->shape));
}

Val tl_cast(Elab *e, const TlCall *c) {
    bool bitcast;
    Dtype to;
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v || !tr_call_bool(e, c, 3, false, &bitcast)) return EL_POISON;
    const Object *o = tr_object_of(c->arg[1]);
    if (o && o->kind == OBJECT_POINTER) return cast_pointer(e, c, v, o->type);
    if (!tr_call_type(e, c, 1, DTYPE_F32, &to)) return EL_POISON;
    if (el_is_ptr(v)) {
        if (to != DTYPE_I64 && to != DTYPE_U64)
            return el_error(e, c->span, DIAG_TYPE, "a pointer becomes int64 or uint64, not %s",
                            tr_type_name(to));
        return el_ir(ir_bitcast(&e->b, v, ir_tile(e->module, to, v->type->rank, v->type->shape)));
    }
    if (bitcast && el_elem(v) != to) {
        if (dtype_bits(el_elem(v)) != dtype_bits(to) || to == DTYPE_BOOL ||
            el_elem(v) == DTYPE_BOOL)
            return el_error(e, c->span, DIAG_TYPE,
                            "bitcast=True needs types of one size, found %s and %s",
                            tr_text(e, c->arg[0]), tr_type_name(to));
        return el_ir(ir_bitcast(&e->b, v, ir_tile(e->module, to, v->type->rank, v->type->shape)));
    }
    Str rounding = tr_call_text(c, 2);
    if (str_equal(rounding, STR("rtz"))) return el_ir(cast_to_zero(e, v, to, c->span));
    if (rounding.size && !str_equal(rounding, STR("rtne"))) {
        el_error(e, c->at[2], DIAG_ARGUMENTS, "fp_downcast_rounding '%.*s' is unknown",
                 STR_ARG(rounding));
        return el_help(e, "it is 'rtne' or 'rtz'"), EL_POISON;
    }
    return el_ir(tr_cast(e, c->arg[0].kind == VAL_IR ? c->arg[0] : el_ir(v), to, c->span));
}

// ---- arithmetic

static Val operate(Elab *e, const TlCall *c, PyOp op, Val a, Val b) {
    return tr_binary(e, op, a, b, c->span, (Span[]){c->at[0], c->at[1]});
}

Val tl_operator(Elab *e, const TlCall *c) {
    return operate(e, c, (PyOp)c->tl->which, c->arg[0], c->arg[1]);
}

// The op rounds once, whatever freedom the other ops of the kernel have.
static Val exact(Val v) {
    if (v.kind == VAL_IR && !el_is_ptr(v.ir) && dtype_is(el_elem(v.ir), DTYPE_CLASS_FLOAT))
        ir_set_math_exact(v.ir);
    return v;
}

Val tl_rounded(Elab *e, const TlCall *c) { return exact(tl_operator(e, c)); }

Val tl_fdiv(Elab *e, const TlCall *c) {
    bool ieee;
    if (!tr_call_bool(e, c, 2, false, &ieee)) return EL_POISON;
    Val v = operate(e, c, PY_DIV, c->arg[0], c->arg[1]);
    return ieee ? exact(v) : v;
}

Val tl_cdiv(Elab *e, const TlCall *c) {
    Val x = c->arg[0], y = c->arg[1];
    if (el_is_const(x) && el_is_const(y)) {
        Val q = tr_fold(e, PY_FLOOR_DIV, tr_unary(e, PY_NEG, x, c->span), y, c->span);
        return q.kind == VAL_POISON ? q : tr_unary(e, PY_NEG, q, c->span);
    }
    // (x + (div - 1)) // div
    Val sum = operate(e, c, PY_ADD, x, operate(e, c, PY_SUB, y, el_int(1)));
    return operate(e, c, PY_FLOOR_DIV, sum, y);
}

Val tl_next_power(Elab *e, const TlCall *c) {
    Int128 n;
    if (!tr_const_int(e, c->arg[0], "the argument of next_power_of_2", c->at[0], &n))
        return EL_POISON;
    Int128 power = 1;
    while (power < n && power < ((Int128)1 << 62)) power *= 2;
    return el_int(n <= 0 ? 0 : power);
}

Val tl_log2_of(Elab *e, const TlCall *c) {
    Int128 n, log = 0;
    if (!tr_const_int(e, c->arg[0], "the argument of _log2", c->at[0], &n)) return EL_POISON;
    while (n > 1) {
        n >>= 1;
        log++;
    }
    return el_int(log);
}

Val tl_int_type(Elab *e, const TlCall *c) {
    int64_t bits;
    bool is_signed;
    if (!tr_call_int(e, c, 0, "the width", 32, &bits) || !tr_call_bool(e, c, 1, true, &is_signed))
        return EL_POISON;
    Dtype type;
    const char *name = arena_printf(e->scratch, "%sint%d", is_signed ? "" : "u", (int)bits);
    if (bits == 1) name = "int1";
    if (tr_type_named(str(name), &type)) return (Val){.kind = VAL_TYPE, .type = type};
    return el_error(e, c->at[0], DIAG_TYPE, "there is no integer of %lld bits", (long long)bits);
}

// ---- the lesser and the greater

// Without propagate_nan a number wins over a NaN.
static bool nan_wins(Elab *e, const TlCall *c, uint32_t at, bool *wins) {
    Int128 way = TR_NUMBER_WINS;
    if (tr_given(c, at) && !tr_const_int(e, c->arg[at], "propagate_nan", c->at[at], &way))
        return false;
    *wins = way == TR_NAN_WINS;
    return true;
}

static bool is_nan(Val v) { return v.kind == VAL_FLOAT && isnan(v.real); }

static Val extreme_number(Elab *e, IrOpcode code, bool nan, Val a, Val b, Span span) {
    Val less = tr_fold(e, PY_LT, a, b, span);
    if (less.kind == VAL_POISON) return less;
    Val v = less.truth == (code == IR_MIN) ? a : b;
    if (is_nan(a) || is_nan(b)) v = is_nan(a) == nan ? a : b;
    if (v.kind == VAL_FLOAT || (a.kind != VAL_FLOAT && b.kind != VAL_FLOAT)) return v;
    return (Val){.kind = VAL_FLOAT, .real = v.kind == VAL_INT ? (double)v.integer : v.truth};
}

static IrValue *extreme_of(Elab *e, IrOpcode code, bool nan, IrValue *a, IrValue *b) {
    bool least = code == IR_MIN;
    if (el_elem(a) == DTYPE_BOOL) code = least ? IR_AND : IR_OR;
    if (dtype_is(el_elem(a), DTYPE_CLASS_ANYFLOAT) && !nan) code = least ? IR_MINNUM : IR_MAXNUM;
    return ir_binary(&e->b, code, a, b);
}

Val tl_minmax(Elab *e, const TlCall *c) {
    IrOpcode code = (IrOpcode)c->tl->which;
    IrValue *both[2];
    Val a = c->arg[0], b = c->arg[1];
    bool nan;
    if (!nan_wins(e, c, 2, &nan)) return EL_POISON;
    if (el_is_const(a) && el_is_const(b)) return extreme_number(e, code, nan, a, b, c->span);
    if (!tr_promote(e, a, b, false, c->span, (Span[]){c->at[0], c->at[1]}, both)) return EL_POISON;
    return el_ir(extreme_of(e, code, nan, both[0], both[1]));
}

Val tl_clamp(Elab *e, const TlCall *c) {
    IrValue *three[3];
    const Val *v = c->arg;
    bool nan;
    if (!nan_wins(e, c, 3, &nan)) return EL_POISON;
    if (el_is_const(v[0]) && el_is_const(v[1]) && el_is_const(v[2])) {
        Val least = extreme_number(e, IR_MAX, nan, v[0], v[1], c->span);
        if (least.kind == VAL_POISON) return least;
        return extreme_number(e, IR_MIN, nan, least, v[2], c->span);
    }
    if (!tr_promote_three(e, v, c->span, c->at, three)) return EL_POISON;
    IrValue *least = extreme_of(e, IR_MAX, nan, three[0], three[1]);
    return el_ir(extreme_of(e, IR_MIN, nan, least, three[2]));
}

// ---- choices

Val tl_where(Elab *e, const TlCall *c) {
    IrValue *cond = tr_truth(e, c->arg[0], c->at[0]), *three[3];
    Val x = c->arg[1], y = c->arg[2];
    if (!cond) return EL_POISON;
    bool pointers = (x.kind == VAL_IR && el_is_ptr(x.ir)) || (y.kind == VAL_IR && el_is_ptr(y.ir));
    three[0] = cond;
    if (pointers) {
        three[1] = tr_tensor(e, x, c->at[1]);
        three[2] = tr_tensor(e, y, c->at[2]);
        if (!three[1] || !three[2]) return EL_POISON;
        if (!el_is_ptr(three[1]) || !el_is_ptr(three[2]) || el_elem(three[1]) != el_elem(three[2]))
            return el_error(e, c->span, DIAG_TYPE, "tl.where does not take %s and %s",
                            tr_text(e, x), tr_text(e, y));
    } else if (!tr_promote(e, x, y, false, c->span, (Span[]){c->at[1], c->at[2]}, &three[1])) {
        return EL_POISON;
    }
    if (!tr_same_shape(e, c->span, 3, three)) return EL_POISON;
    return el_ir(ir_ternary(&e->b, IR_SELECT, three[0], three[1], three[2]));
}

Val tl_logical(Elab *e, const TlCall *c) {
    IrValue *both[2] = {tr_truth(e, c->arg[0], c->at[0]), tr_truth(e, c->arg[1], c->at[1])};
    if (!both[0] || !both[1] || !tr_same_shape(e, c->span, 2, both)) return EL_POISON;
    return el_ir(ir_binary(&e->b, (IrOpcode)c->tl->which, both[0], both[1]));
}

Val tl_fma(Elab *e, const TlCall *c) {
    IrValue *three[3];
    if (!tr_promote_three(e, c->arg, c->span, c->at, three)) return EL_POISON;
    if (dtype_is(el_elem(three[0]), DTYPE_CLASS_FLOAT))
        return el_ir(ir_ternary(&e->b, IR_FMA, three[0], three[1], three[2]));
    Val product = operate(e, c, PY_MUL, el_ir(three[0]), el_ir(three[1]));
    return operate(e, c, PY_ADD, product, el_ir(three[2]));
}

// ---- functions of one number

Val tl_math(Elab *e, const TlCall *c) {
    IrOpcode code = (IrOpcode)c->tl->which;
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    Dtype elem = el_elem(v);
    if (code == IR_ABS && (elem == DTYPE_BOOL || dtype_is(elem, DTYPE_CLASS_UINT))) return el_ir(v);
    if (dtype_is(elem, ir_op_info(code)->classes)) return el_ir(ir_unary(&e->b, code, v));
    el_error(e, c->at[0], DIAG_TYPE, "tl.%s does not take %s", c->tl->name, tr_text(e, c->arg[0]));
    el_help(e, "convert it: x.to(tl.float32)");
    return EL_POISON;
}

Val tl_rounded_root(Elab *e, const TlCall *c) {
    TlFunction root = {c->tl->name, c->tl->signature, tl_math, IR_SQRT};
    TlCall own = *c;
    own.tl = &root;
    return exact(tl_math(e, &own));
}

Val tl_math2(Elab *e, const TlCall *c) {
    IrOpcode code = (IrOpcode)c->tl->which;
    IrValue *both[2];
    if (!tr_promote(e, c->arg[0], c->arg[1], false, c->span, (Span[]){c->at[0], c->at[1]}, both))
        return EL_POISON;
    Dtype elem = el_elem(both[0]);
    if (code == IR_MULHI && dtype_is(elem, DTYPE_CLASS_SINT))  // umulhi: of the bits, unsigned
        for (int i = 0; i < 2; i++)
            both[i] = el_convert(e, both[i], dtype_bits(elem) == 64 ? DTYPE_U64 : DTYPE_U32);
    if (dtype_is(el_elem(both[0]), ir_op_info(code)->classes))
        return el_ir(el_convert(e, ir_binary(&e->b, code, both[0], both[1]), elem));
    return el_error(e, c->span, DIAG_TYPE, "tl.%s does not take %s", c->tl->name,
                    tr_text(e, el_ir(both[0])));
}

Val tl_float_kind(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    if (!dtype_is(el_elem(v), DTYPE_CLASS_ANYFLOAT))
        return el_error(e, c->at[0], DIAG_TYPE, "tl.%s does not take %s", c->tl->name,
                        tr_text(e, c->arg[0]));
    if (c->tl->which == 0) return el_ir(ir_binary(&e->b, IR_NE, v, v));
    IrValue *size = ir_unary(&e->b, IR_ABS, v);
    IrValue *inf =
        ir_const_bits(&e->b, v->type, dtype_from_double(el_elem(v), (double)INFINITY, false));
    return el_ir(ir_binary(&e->b, c->tl->which == 1 ? IR_EQ : IR_LT, size, inf));
}

Val tl_trunc(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    if (!dtype_is(el_elem(v), DTYPE_CLASS_FLOAT))
        return el_error(e, c->at[0], DIAG_TYPE, "tl.trunc does not take %s", tr_text(e, c->arg[0]));
    IrValue *whole = ir_unary(&e->b, IR_FLOOR, ir_unary(&e->b, IR_ABS, v));
    return el_ir(ir_binary(&e->b, IR_COPYSIGN, whole, v));
}
