// Rules of arithmetic; rules.def says what each requires.
#include "passes/simplify.h"

// Floats whose arithmetic returns every value unchanged: f8e5m2 rounds infinities to its greatest
// number.
static bool is_safe_float(Dtype t) {
    return dtype_is(t, DTYPE_CLASS_FLOAT) ||
           (dtype_is(t, DTYPE_CLASS_FP8) && !dtype_float(t)->has_inf);
}

static bool is_zero_of(Dtype t, uint64_t bits, bool negative) {
    if (!negative) return bits == 0;
    return dtype_float(t)->has_negative_zero && bits == (uint64_t)1 << (dtype_bits(t) - 1);
}

static bool is_one(Dtype t, uint64_t bits) {
    if (dtype_is(t, DTYPE_CLASS_INT)) return bits == 1;
    return is_safe_float(t) && dtype_to_double(t, bits) == 1.0;
}

bool edit_commute(Simplify *s, IrOp *op) {
    (void)s;
    uint64_t bits;
    IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1);
    if (!rewrite_constant(a, &bits) || rewrite_constant(b, &bits)) return false;
    ir_set_operand(op, 0, b);
    ir_set_operand(op, 1, a);
    return true;
}

IrValue *rule_same_operands(Simplify *s, IrOp *op) {
    (void)s;
    return ir_operand(op, 0) == ir_operand(op, 1) ? ir_operand(op, 0) : NULL;
}

IrValue *rule_add_zero(Simplify *s, IrOp *op) {
    (void)s;
    uint64_t bits;
    Dtype t = simplify_elem(op);
    if (!rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    bool gone = simplify_is_int(op)
                    ? bits == 0
                    : is_safe_float(t) && is_zero_of(t, bits, dtype_float(t)->has_negative_zero);
    return gone ? ir_operand(op, 0) : NULL;
}

// x op1 c op1 d with both constants in one; `op1` associates.
static IrValue *merge_constants(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, op->code);
    uint64_t bits;
    if (!inner || !rewrite_constant(ir_operand(op, 1), &bits) ||
        !rewrite_constant(ir_operand(inner, 1), &bits)) {
        return NULL;
    }
    IrValue *both = ir_binary(&s->b, op->code, ir_operand(inner, 1), ir_operand(op, 1));
    return ir_binary(&s->b, op->code, ir_operand(inner, 0), both);
}

IrValue *rule_add_add(Simplify *s, IrOp *op) {
    return simplify_is_int(op) ? merge_constants(s, op) : NULL;
}

IrValue *rule_mul_mul(Simplify *s, IrOp *op) {
    return simplify_is_int(op) ? merge_constants(s, op) : NULL;
}

IrValue *rule_bits_bits(Simplify *s, IrOp *op) { return merge_constants(s, op); }

IrValue *rule_add_neg(Simplify *s, IrOp *op) {
    IrOp *right = simplify_operand_op(op, 1, IR_NEG), *left = simplify_operand_op(op, 0, IR_NEG);
    if (right) return ir_binary(&s->b, IR_SUB, ir_operand(op, 0), ir_operand(right, 0));
    if (left) return ir_binary(&s->b, IR_SUB, ir_operand(op, 1), ir_operand(left, 0));
    return NULL;
}

IrValue *rule_sub_zero(Simplify *s, IrOp *op) {
    (void)s;
    if (!simplify_is_int(op) && !is_safe_float(simplify_elem(op))) return NULL;
    return rewrite_is_zero(ir_operand(op, 1)) ? ir_operand(op, 0) : NULL;
}

IrValue *rule_sub_self(Simplify *s, IrOp *op) {
    if (!simplify_is_int(op) || ir_operand(op, 0) != ir_operand(op, 1)) return NULL;
    return simplify_constant(s, op, 0);
}

IrValue *rule_sub_neg(Simplify *s, IrOp *op) {
    IrOp *right = simplify_operand_op(op, 1, IR_NEG);
    return right ? ir_binary(&s->b, IR_ADD, ir_operand(op, 0), ir_operand(right, 0)) : NULL;
}

IrValue *rule_zero_sub(Simplify *s, IrOp *op) {
    if (!simplify_is_int(op) || !rewrite_is_zero(ir_operand(op, 0))) return NULL;
    return ir_unary(&s->b, IR_NEG, ir_operand(op, 1));
}

// One form for both, so that constants can be merged. Unsigned ones stay: x + (2^n - c) would look
// as if it wrapped.
IrValue *rule_sub_constant(Simplify *s, IrOp *op) {
    int64_t c;
    Dtype t = simplify_elem(op);
    if (!dtype_is(t, DTYPE_CLASS_SINT) || !rewrite_constant_int(ir_operand(op, 1), &c)) return NULL;
    if (c == dtype_int_min(t)) return NULL;
    IrValue *negated = ir_const_bits(&s->b, ir_operand(op, 1)->type, dtype_wrap(t, (uint64_t)-c));
    return ir_binary(&s->b, IR_ADD, ir_operand(op, 0), negated);
}

IrValue *rule_mul_one(Simplify *s, IrOp *op) {
    (void)s;
    uint64_t bits;
    if (!rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    return is_one(simplify_elem(op), bits) ? ir_operand(op, 0) : NULL;
}

IrValue *rule_mul_zero(Simplify *s, IrOp *op) {
    if (!simplify_is_int(op) || !rewrite_is_zero(ir_operand(op, 1))) return NULL;
    return simplify_constant(s, op, 0);
}

IrValue *rule_mul_minus_one(Simplify *s, IrOp *op) {
    int64_t c;
    if (!dtype_is(simplify_elem(op), DTYPE_CLASS_SINT)) return NULL;
    if (!rewrite_constant_int(ir_operand(op, 1), &c) || c != -1) return NULL;
    return ir_unary(&s->b, IR_NEG, ir_operand(op, 0));
}

IrValue *rule_div_one(Simplify *s, IrOp *op) { return rule_mul_one(s, op); }

IrValue *rule_zero_div(Simplify *s, IrOp *op) {
    if (!simplify_is_int(op) || !rewrite_is_zero(ir_operand(op, 0))) return NULL;
    return simplify_constant(s, op, 0);
}

// Both sides are the same real number, rounded once. Only if the inverse is a normal number: a
// target may be slow with subnormal constants.
IrValue *rule_div_power(Simplify *s, IrOp *op) {
    uint64_t bits;
    Dtype t = simplify_elem(op);
    if (!dtype_is(t, DTYPE_CLASS_ANYFLOAT) || !rewrite_constant(ir_operand(op, 1), &bits)) {
        return NULL;
    }
    union {
        double value;
        uint64_t bits;
    } c = {dtype_to_double(t, bits)};
    uint64_t exponent = c.bits >> 52 & 0x7ff;
    if ((c.bits & 0xfffffffffffffu) != 0 || exponent == 0 || exponent == 0x7ff) return NULL;
    int power = 1023 - (int)exponent;  // of the inverse
    const DtypeFloat *format = dtype_float(t);
    if (power < format->min_exponent || power > format->max_exponent) return NULL;
    uint64_t inverse = dtype_from_double(t, 1.0 / c.value, true);
    return ir_binary(&s->b, IR_MUL, ir_operand(op, 0),
                     ir_const_bits(&s->b, ir_operand(op, 1)->type, inverse));
}

IrValue *rule_rem_one(Simplify *s, IrOp *op) {
    uint64_t bits;
    if (!simplify_is_int(op) || !rewrite_constant(ir_operand(op, 1), &bits) || bits != 1) {
        return NULL;
    }
    return simplify_constant(s, op, 0);
}

static IrValue *limit(IrOp *op, bool least_gives_constant) {
    uint64_t bits;
    Dtype t = simplify_elem(op);
    if (!simplify_is_int(op) || !rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    bool least = bits == dtype_wrap(t, (uint64_t)dtype_int_min(t)), most = bits == dtype_int_max(t);
    if (!least && !most) return NULL;
    return ir_operand(op, least == least_gives_constant ? 1 : 0);
}

IrValue *rule_min_limit(Simplify *s, IrOp *op) {
    (void)s;
    return limit(op, true);
}

IrValue *rule_max_limit(Simplify *s, IrOp *op) {
    (void)s;
    return limit(op, false);
}

IrValue *rule_neg_neg(Simplify *s, IrOp *op) {
    (void)s;
    IrOp *inner = simplify_operand_op(op, 0, IR_NEG);
    return inner ? ir_operand(inner, 0) : NULL;
}

IrValue *rule_abs_abs(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_ABS), *negated = simplify_operand_op(op, 0, IR_NEG);
    if (inner) return ir_operand(op, 0);
    if (dtype_is(simplify_elem(op), DTYPE_CLASS_UINT))
        return NULL;  // -x is not a mirror image of
                      // x there
    return negated ? ir_unary(&s->b, IR_ABS, ir_operand(negated, 0)) : NULL;
}
