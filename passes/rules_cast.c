// Rules of casts; rules.def says what each requires.
#include "passes/simplify.h"

static bool is_int(Dtype t) { return dtype_is(t, DTYPE_CLASS_INT); }
static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }

// Does a cast to `t` change an infinity that t has?
static bool loses_infinity(const IrOp *cast, Dtype t) {
    return dtype_is(t, DTYPE_CLASS_FP8) && dtype_float(t)->has_inf &&
           ir_attr_int(cast, IR_ATTR_SATURATE) != 0;
}

static IrValue *recast(Simplify *s, const IrOp *op, IrValue *x) {
    return ir_cast(&s->b, x, op->results[0].type->elem, ir_attr_int(op, IR_ATTR_SATURATE) != 0);
}

IrValue *rule_cast_same(Simplify *s, IrOp *op) {
    (void)s;
    Dtype t = simplify_elem(op);
    if (ir_operand(op, 0)->type != op->results[0].type || loses_infinity(op, t)) return NULL;
    return ir_operand(op, 0);
}

IrValue *rule_cast_bool(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_CAST);
    if (!inner || simplify_elem(inner) != DTYPE_BOOL) return NULL;
    if (op->results[0].type->elem == DTYPE_BOOL) return ir_operand(inner, 0);
    return recast(s, op, ir_operand(inner, 0));
}

// a -> b -> c. Either c needs no more bits than b kept, or b holds every value of a.
IrValue *rule_cast_cast_int(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_CAST);
    if (!inner) return NULL;
    Dtype a = simplify_elem(inner), b = simplify_elem(op), c = op->results[0].type->elem;
    if (!is_int(a) || !is_int(b) || !is_int(c)) return NULL;
    bool kept = dtype_bits(b) >= dtype_bits(c);
    bool holds = dtype_bits(a) < dtype_bits(b) && (!dtype_signed(a) || dtype_signed(b));
    return kept || holds ? recast(s, op, ir_operand(inner, 0)) : NULL;
}

// Is every value of `a`, infinities, zeros and subnormal numbers included, a value of float type
// `b`?
static bool float_holds(Dtype b, Dtype a) {
    const DtypeFloat *to = dtype_float(b);
    if (is_int(a)) {
        int bits = (int)dtype_bits(a) - (dtype_signed(a) ? 1 : 0);
        return bits <= to->precision && bits <= to->max_exponent;
    }
    const DtypeFloat *from = dtype_float(a);
    int least_from = from->min_exponent - from->precision;
    int least_to = to->min_exponent - to->precision;
    return from->precision <= to->precision && from->max_exponent <= to->max_exponent &&
           least_from >= least_to && (!from->has_inf || to->has_inf) &&
           (!from->has_negative_zero || to->has_negative_zero);
}

IrValue *rule_cast_cast_exact(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_CAST);
    if (!inner) return NULL;
    Dtype a = simplify_elem(inner), b = simplify_elem(op), c = op->results[0].type->elem;
    if (!is_float(b) || !(is_int(a) || is_float(a)) || !float_holds(b, a)) return NULL;
    if (loses_infinity(inner, b)) return NULL;
    if (c == a) return loses_infinity(op, c) ? NULL : ir_operand(inner, 0);
    // An integer converted to a float and then to another integer saturates; converted directly, it
    // wraps.
    if (is_int(a) && is_int(c)) return NULL;
    return recast(s, op, ir_operand(inner, 0));
}

IrValue *rule_bitcast_bitcast(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_BITCAST);
    if (ir_operand(op, 0)->type == op->results[0].type) return ir_operand(op, 0);
    return inner ? ir_bitcast(&s->b, ir_operand(inner, 0), op->results[0].type) : NULL;
}
