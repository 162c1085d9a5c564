// Functions of libdevice that read bits, round to integers, or are a few operations.
#include "frontend/triton/elaborate.h"

// The argument, which must be a float; NULL after an error.
static IrValue *real_argument(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    if (!v || dtype_is(el_elem(v), DTYPE_CLASS_FLOAT)) return v;
    el_error(e, c->at[0], DIAG_TYPE, "tl.%s does not take %s", c->tl->name, tr_text(e, c->arg[0]));
    el_help(e, "convert it: x.to(tl.float32)");
    return NULL;
}

static IrValue *real_like(Elab *e, IrValue *v, double value) {
    return ir_const_bits(&e->b, v->type, dtype_from_double(el_elem(v), value, false));
}

static IrValue *bits_of(Elab *e, IrValue *v, Dtype to) {
    return ir_bitcast(&e->b, v, ir_tile(e->module, to, v->type->rank, v->type->shape));
}

// ---- rounding

// Half away from zero: exact, as x - floor(x) is.
static IrValue *half_away(Elab *e, IrValue *v) {
    IrValue *size = ir_unary(&e->b, IR_ABS, v), *whole = ir_unary(&e->b, IR_FLOOR, size);
    IrValue *rest = ir_binary(&e->b, IR_SUB, size, whole);
    IrValue *up = ir_binary(&e->b, IR_GE, rest, real_like(e, v, 0.5));
    IrValue *next = ir_binary(&e->b, IR_ADD, whole, real_like(e, v, 1));
    whole = ir_ternary(&e->b, IR_SELECT, up, next, whole);
    return ir_binary(&e->b, IR_COPYSIGN, whole, v);
}

Val tl_round(Elab *e, const TlCall *c) {
    IrValue *v = real_argument(e, c);
    return v ? el_ir(half_away(e, v)) : EL_POISON;
}

Val tl_to_round(Elab *e, const TlCall *c) {
    IrValue *v = real_argument(e, c);
    return v ? el_ir(el_convert(e, half_away(e, v), (Dtype)c->tl->which)) : EL_POISON;
}

static Val rounded(Elab *e, const TlCall *c, IrOpcode code) {
    IrValue *v = real_argument(e, c);
    if (!v) return EL_POISON;
    return el_ir(el_convert(e, ir_unary(&e->b, code, v), (Dtype)c->tl->which));
}

Val tl_to_nearest(Elab *e, const TlCall *c) { return rounded(e, c, IR_ROUND); }
Val tl_to_floor(Elab *e, const TlCall *c) { return rounded(e, c, IR_FLOOR); }
Val tl_to_ceil(Elab *e, const TlCall *c) { return rounded(e, c, IR_CEIL); }

// A cast of a float to an integer rounds to zero.
Val tl_to_zero(Elab *e, const TlCall *c) {
    IrValue *v = real_argument(e, c);
    return v ? el_ir(el_convert(e, v, (Dtype)c->tl->which)) : EL_POISON;
}

Val tl_convert(Elab *e, const TlCall *c) {
    return el_ir(tr_cast(e, c->arg[0], (Dtype)c->tl->which, c->at[0]));
}

// ---- bits

Val tl_as_bits(Elab *e, const TlCall *c) {
    Dtype to = (Dtype)c->tl->which;
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    if (dtype_bits(el_elem(v)) == dtype_bits(to)) return el_ir(bits_of(e, v, to));
    return el_error(e, c->at[0], DIAG_TYPE, "the bits of %s are not those of %s",
                    tr_text(e, c->arg[0]), tr_type_name(to));
}

// 1 for negative numbers, -0 and negative NaNs.
Val tl_signbit(Elab *e, const TlCall *c) {
    IrValue *v = real_argument(e, c);
    if (!v) return EL_POISON;
    unsigned bits = dtype_bits(el_elem(v));
    v = bits_of(e, v, bits == 64 ? DTYPE_I64 : bits == 32 ? DTYPE_I32 : DTYPE_I16);
    IrValue *negative = ir_binary(&e->b, IR_LT, v, ir_const_bits(&e->b, v->type, 0));
    return el_ir(el_convert(e, negative, DTYPE_I32));
}

// ---- a few operations

// To [0, 1]; a NaN becomes 0.
Val tl_saturate(Elab *e, const TlCall *c) {
    IrValue *v = real_argument(e, c);
    if (!v) return EL_POISON;
    IrValue *zero = real_like(e, v, 0);
    IrValue *positive = ir_binary(&e->b, IR_GT, v, zero);
    v = ir_ternary(&e->b, IR_SELECT, positive, v, zero);
    return el_ir(ir_binary(&e->b, IR_MIN, v, real_like(e, v, 1)));
}

// x - y if it is positive, else 0; a NaN stays.
Val tl_fdim(Elab *e, const TlCall *c) {
    IrValue *both[2];
    if (!tr_promote(e, c->arg[0], c->arg[1], false, c->span, c->at, both)) return EL_POISON;
    if (!dtype_is(el_elem(both[0]), DTYPE_CLASS_FLOAT))
        return el_error(e, c->span, DIAG_TYPE, "tl.fdim does not take %s",
                        tr_text(e, el_ir(both[0])));
    IrValue *less = ir_binary(&e->b, IR_LE, both[0], both[1]);
    IrValue *rest = ir_binary(&e->b, IR_SUB, both[0], both[1]);
    return el_ir(ir_ternary(&e->b, IR_SELECT, less, real_like(e, rest, 0), rest));
}

Val tl_reciprocal(Elab *e, const TlCall *c) {
    IrValue *v = real_argument(e, c);
    if (!v) return EL_POISON;
    IrValue *r = ir_binary(&e->b, IR_DIV, real_like(e, v, 1), v);
    if (c->tl->which) ir_set_math_exact(r);
    return el_ir(r);
}
