// Expressions that match a compiler's pattern, and differ from it where a zero has a sign, a sum
// rounds, or an operand is NaN.
#include "tests/gen/gen_chain.h"

static uint64_t roll(GenChain *c, uint64_t n) { return dice_below(&c->g.dice, n); }
static IrValue *un(GenChain *c, IrOpcode op, IrValue *x) { return ir_unary(&c->g.b, op, x); }
static IrValue *bin(GenChain *c, IrOpcode op, IrValue *x, IrValue *y) {
    return ir_binary(&c->g.b, op, x, y);
}
static IrValue *fused(GenChain *c, IrValue *x, IrValue *y, IrValue *z) {
    return ir_ternary(&c->g.b, IR_FMA, x, y, z);
}
static IrValue *choose(GenChain *c, IrValue *when, IrValue *x, IrValue *y) {
    return ir_ternary(&c->g.b, IR_SELECT, when, x, y);
}
static IrValue *to(GenChain *c, IrValue *x, Dtype t) {
    return ir_cast(&c->g.b, x, t, dice_chance(&c->g.dice, 80));
}
static IrValue *either(GenChain *c, IrOpcode op, IrValue *x, IrValue *y) {
    return roll(c, 2) ? bin(c, op, x, y) : bin(c, op, y, x);
}
static IrValue *perhaps_neg(GenChain *c, IrValue *x) { return roll(c, 4) ? x : un(c, IR_NEG, x); }

// A constant that is neutral to some op, or nearly.
static IrValue *plain_constant(GenChain *c, Dtype t) {
    static const double numbers[] = {0, -0.0, 1, -1, 2, -2, 0.5, 4, 0.25, 3, -0.5, 0};
    if (roll(c, 6) == 0) return chain_constant(c, t);
    return chain_number(c, t, numbers[roll(c, 12)]);
}

static IrOpcode some_compare(GenChain *c) {
    static const IrOpcode codes[] = {IR_EQ, IR_NE, IR_LT, IR_LE, IR_GT, IR_GE};
    return codes[roll(c, 6)];
}

// ---- casts --------------------------------------------------------------------------------------

static Dtype wider(GenChain *c, Dtype t) {
    if (t == DTYPE_F32 || t == DTYPE_F64) return DTYPE_F64;
    if (t == DTYPE_F16 || t == DTYPE_BF16) return roll(c, 5) ? DTYPE_F32 : DTYPE_F64;
    return roll(c, 2) ? DTYPE_F32 : DTYPE_F16;
}

// f16(f32(x) * f32(y)): one instruction of some machines, with a sum of its own.
static IrValue *narrowed(GenChain *c, Dtype t) {
    static const IrOpcode codes[] = {IR_MUL, IR_MUL, IR_MUL, IR_ADD, IR_SUB, IR_DIV, IR_MIN};
    Dtype wide = wider(c, t);
    IrValue *x = to(c, chain_value(c, t), wide), *y, *r;
    switch (roll(c, 4)) {
    case 0: y = to(c, chain_value(c, t), wide); break;
    case 1: y = plain_constant(c, wide); break;
    default: y = chain_value(c, wide);
    }
    x = perhaps_neg(c, x);
    if (roll(c, 4) == 0)
        r = fused(c, x, y, roll(c, 2) ? to(c, chain_value(c, t), wide) : plain_constant(c, wide));
    else
        r = either(c, codes[roll(c, 7)], x, y);
    if (roll(c, 6) == 0) r = either(c, IR_MUL, r, chain_value(c, wide));
    return to(c, perhaps_neg(c, r), roll(c, 6) ? t : chain_float(c));
}

// f16(s * s), f16(s * t): the operands are wide from the beginning.
static IrValue *narrowed_wide(GenChain *c, Dtype t) {
    static const IrOpcode codes[] = {IR_MUL, IR_MUL, IR_ADD, IR_SUB, IR_MAX};
    Dtype wide = wider(c, t);
    IrValue *x = chain_value(c, wide), *y = roll(c, 3) ? chain_value(c, wide) : x;
    IrValue *r = bin(c, codes[roll(c, 5)], x, y);
    if (roll(c, 4) == 0) r = either(c, IR_ADD, r, to(c, chain_value(c, t), wide));
    return to(c, r, t);
}

static IrValue *widened(GenChain *c, Dtype t) {
    static const IrOpcode codes[] = {IR_MUL, IR_MUL, IR_ADD, IR_SUB};
    Dtype wide = wider(c, t);
    IrValue *r = bin(c, codes[roll(c, 4)], chain_value(c, t), chain_value(c, t));
    r = to(c, perhaps_neg(c, r), wide);
    return roll(c, 2) ? r : either(c, codes[roll(c, 4)], r, chain_value(c, wide));
}

static IrValue *there_and_back(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t);
    for (uint64_t n = roll(c, 3) + 1; n > 0; n--)
        x = to(c, x, roll(c, 3) ? chain_float(c) : chain_int(c));
    return to(c, x, t);
}

// ---- sums and products --------------------------------------------------------------------------

static IrValue *product_sum(GenChain *c, Dtype t) {
    IrValue *x = perhaps_neg(c, chain_value(c, t)), *y = perhaps_neg(c, chain_value(c, t));
    IrValue *p = perhaps_neg(c, bin(c, IR_MUL, x, y)), *z = chain_value(c, t);
    if (roll(c, 4) == 0) z = bin(c, IR_MUL, z, chain_value(c, t));
    if (roll(c, 5) == 0) z = plain_constant(c, t);
    return perhaps_neg(c, either(c, roll(c, 2) ? IR_ADD : IR_SUB, p, z));
}

static IrValue *neutral(GenChain *c, Dtype t) {
    static const IrOpcode codes[] = {IR_ADD, IR_SUB, IR_MUL, IR_DIV, IR_ADD,
                                     IR_SUB, IR_MUL, IR_MIN, IR_MAX, IR_REM};
    IrValue *x = chain_value(c, t), *n = plain_constant(c, t);
    switch (roll(c, 8)) {
    case 0: return fused(c, x, n, chain_value(c, t));
    case 1: return fused(c, x, chain_value(c, t), n);
    case 2: return fused(c, n, plain_constant(c, t), x);
    case 3: return fused(c, x, n, plain_constant(c, t));
    }
    return perhaps_neg(c, either(c, codes[roll(c, 10)], x, n));
}

static IrValue *cancelled(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t), *y = chain_value(c, t);
    IrValue *k = plain_constant(c, t), *l = plain_constant(c, t);
    switch (roll(c, 14)) {
    case 0: return bin(c, IR_SUB, x, x);
    case 1: return bin(c, IR_DIV, x, x);
    case 2: return bin(c, IR_ADD, x, un(c, IR_NEG, y));
    case 3: return bin(c, IR_SUB, x, un(c, IR_NEG, y));
    case 4: return bin(c, IR_SUB, bin(c, IR_ADD, x, y), y);
    case 5: return bin(c, IR_ADD, bin(c, IR_SUB, x, y), y);
    case 6: return bin(c, IR_ADD, bin(c, IR_MUL, x, k), bin(c, IR_MUL, y, k));
    case 7: return bin(c, IR_MUL, bin(c, IR_MUL, x, k), l);
    case 8: return bin(c, IR_ADD, bin(c, IR_ADD, x, k), l);
    case 9: return bin(c, IR_MUL, bin(c, IR_DIV, x, k), l);
    case 10: return un(c, IR_NEG, bin(c, IR_SUB, x, y));
    case 11: return un(c, IR_NEG, bin(c, IR_ADD, x, y));
    case 12: return bin(c, IR_SUB, k, bin(c, IR_SUB, l, x));
    }
    return bin(c, IR_ADD, x, x);
}

static IrValue *roots(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t), *y = chain_value(c, t), *one = chain_number(c, t, 1);
    switch (roll(c, 6)) {
    case 0: return bin(c, IR_DIV, one, un(c, IR_SQRT, x));
    case 1: return bin(c, IR_DIV, y, un(c, IR_SQRT, x));
    case 2: return bin(c, IR_MUL, un(c, IR_SQRT, x), un(c, IR_SQRT, x));
    case 3: return un(c, IR_SQRT, bin(c, IR_MUL, x, x));
    case 4: return bin(c, IR_DIV, one, bin(c, IR_DIV, one, x));
    }
    return bin(c, IR_DIV, bin(c, IR_DIV, x, y), chain_value(c, t));
}

static IrValue *parts(GenChain *c, Dtype t) {
    static const IrOpcode codes[] = {IR_FLOOR, IR_CEIL, IR_ROUND};
    IrOpcode code = codes[roll(c, 3)];
    IrValue *x = chain_value(c, t);
    switch (roll(c, 7)) {
    case 0: return bin(c, IR_SUB, x, un(c, code, x));
    case 1: return un(c, code, bin(c, IR_ADD, x, chain_number(c, t, 0.5)));
    case 2: return un(c, IR_NEG, un(c, code, un(c, IR_NEG, x)));
    case 3: return to(c, un(c, code, x), chain_int(c));
    case 4: return bin(c, IR_REM, x, chain_number(c, t, 1));
    case 5: return un(c, code, un(c, IR_ABS, x));
    }
    return un(c, code, to(c, to(c, x, wider(c, t)), t));
}

// ---- comparisons and choices --------------------------------------------------------------------

// An expression that looks like min, max or abs.
static IrValue *chosen(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t), *y = roll(c, 3) ? chain_value(c, t) : plain_constant(c, t);
    IrOpcode code = some_compare(c);
    IrValue *zero = chain_number(c, t, roll(c, 2) ? 0.0 : -0.0);
    switch (roll(c, 8)) {
    case 0: return choose(c, bin(c, code, x, zero), x, un(c, IR_NEG, x));
    case 1: return choose(c, bin(c, code, x, zero), zero, x);
    case 2: return choose(c, bin(c, IR_NE, x, x), y, x);
    case 3: return choose(c, bin(c, code, x, y), y, x);
    case 4: return choose(c, bin(c, code, y, x), bin(c, IR_SUB, x, y), bin(c, IR_SUB, y, x));
    case 5: return choose(c, bin(c, code, x, zero), bin(c, IR_ADD, x, y), y);
    }
    return choose(c, bin(c, code, x, y), x, y);
}

static IrValue *clamped(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t);
    IrValue *low = roll(c, 2) ? chain_number(c, t, 0) : plain_constant(c, t);
    IrValue *high = roll(c, 2) ? chain_number(c, t, 1) : plain_constant(c, t);
    if (roll(c, 3) == 0) low = chain_value(c, t), high = chain_value(c, t);
    if (roll(c, 3) == 0) x = bin(c, roll(c, 2) ? IR_ADD : IR_MUL, x, chain_value(c, t));
    switch (roll(c, 4)) {
    case 0: return bin(c, IR_MIN, bin(c, IR_MAX, x, low), high);
    case 1: return bin(c, IR_MAX, bin(c, IR_MIN, x, high), low);
    case 2: {
        IrValue *above = choose(c, bin(c, IR_GT, x, high), high, x);
        return choose(c, bin(c, IR_LT, x, low), low, above);
    }
    }
    return bin(c, IR_MAX, bin(c, IR_MIN, x, low), bin(c, IR_MIN, bin(c, IR_MAX, x, low), high));
}

static IrValue *compared(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t), *y = chain_value(c, t), *k = plain_constant(c, t);
    IrOpcode code = some_compare(c);
    Dtype wide = wider(c, t);
    switch (roll(c, 8)) {
    case 0: return bin(c, code, to(c, x, wide), chain_constant(c, wide));
    case 1: return bin(c, code, to(c, x, wide), to(c, y, wide));
    case 2: return bin(c, code, bin(c, IR_SUB, x, y), chain_number(c, t, 0));
    case 3: return bin(c, code, bin(c, IR_MUL, x, k), chain_number(c, t, 0));
    case 4: return bin(c, code, un(c, IR_NEG, x), roll(c, 2) ? un(c, IR_NEG, y) : k);
    case 5: return bin(c, code, un(c, IR_ABS, x), k);
    case 6:
        return bin(c, roll(c, 2) ? IR_AND : IR_OR, bin(c, code, x, k),
                   bin(c, some_compare(c), x, roll(c, 2) ? y : k));
    }
    return bin(c, code, bin(c, IR_ADD, x, k), y);
}

// A bool as a number: a product with it is not a select.
static IrValue *gated(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t), *when = compared(c, t), *one = chain_number(c, t, 1);
    IrValue *bit = to(c, when, t), *not = to(c, un(c, IR_NOT, when), t);
    switch (roll(c, 4)) {
    case 0: return bin(c, IR_MUL, x, bit);
    case 1: return bin(c, IR_MUL, x, choose(c, when, one, chain_number(c, t, roll(c, 2) ? 0 : -1)));
    case 2: return bin(c, IR_ADD, bin(c, IR_MUL, x, bit), bin(c, IR_MUL, chain_value(c, t), not ));
    }
    return either(c, roll(c, 2) ? IR_ADD : IR_SUB, x, bit);
}

// ---- bits ---------------------------------------------------------------------------------------

static Dtype bits_of(Dtype t) {
    static const Dtype bits[] = {[1] = DTYPE_U8, [2] = DTYPE_U16, [4] = DTYPE_U32, [8] = DTYPE_U64};
    return bits[dtype_size(t)];
}

static IrValue *signs(GenChain *c, Dtype t) {
    Dtype u = bits_of(t);
    uint64_t top = UINT64_C(1) << (dtype_bits(t) - 1);
    IrValue *x = gen_no_nan(&c->g, chain_value(c, t));
    IrValue *n = ir_bitcast(&c->g.b, x, ir_with_elem(c->g.m, x->type, u));
    switch (roll(c, 5)) {
    case 0: n = bin(c, IR_AND, n, chain_bits(c, u, top - 1)); break;
    case 1: n = bin(c, IR_XOR, n, chain_bits(c, u, top)); break;
    case 2: n = bin(c, IR_OR, n, chain_bits(c, u, top)); break;
    case 3: {
        IrValue *y = gen_no_nan(&c->g, chain_value(c, t));
        y = ir_bitcast(&c->g.b, y, n->type);
        n = bin(c, IR_OR, bin(c, IR_AND, n, chain_bits(c, u, top - 1)),
                bin(c, IR_AND, y, chain_bits(c, u, top)));
        break;
    }
    default: return choose(c, bin(c, IR_LT, n, chain_bits(c, u, top)), x, chain_constant(c, t));
    }
    return ir_bitcast(&c->g.b, n, x->type);
}

// x times a power of two, made from its exponent.
static IrValue *scaled(GenChain *c, Dtype t) {
    if (t != DTYPE_F32 && t != DTYPE_F64 && t != DTYPE_F16) return neutral(c, t);
    Dtype u = bits_of(t);
    int digits = dtype_float(t)->precision - 1;
    IrValue *e = bin(c, IR_AND, chain_value(c, u), chain_bits(c, u, 15));
    e = bin(c, IR_ADD, e, chain_bits(c, u, (uint64_t)dtype_float(t)->max_exponent - 8));
    e = bin(c, IR_SHL, e, chain_bits(c, u, (uint64_t)digits));
    return bin(c, roll(c, 3) ? IR_MUL : IR_DIV, chain_value(c, t),
               ir_bitcast(&c->g.b, e, ir_with_elem(c->g.m, e->type, t)));
}

// ---- integers -----------------------------------------------------------------------------------

static IrValue *saturated(GenChain *c, Dtype t) {
    Dtype wide = dtype_is(t, DTYPE_CLASS_SINT) ? DTYPE_I64 : DTYPE_U64;
    if (dtype_bits(t) < 16 && roll(c, 2)) wide = DTYPE_I32;
    IrValue *x = to(c, chain_value(c, t), wide), *y = to(c, chain_value(c, t), wide);
    IrValue *r = bin(c, roll(c, 2) ? IR_ADD : IR_SUB, x, y);
    r = bin(c, IR_MAX, r, chain_bits(c, wide, dtype_wrap(wide, (uint64_t)dtype_int_min(t))));
    r = bin(c, IR_MIN, r, chain_bits(c, wide, dtype_wrap(wide, dtype_int_max(t))));
    return to(c, r, t);
}

static IrValue *turned(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t);
    uint64_t n = roll(c, dtype_bits(t));
    IrValue *left = bin(c, IR_SHL, x, chain_bits(c, t, n));
    IrValue *right =
        bin(c, IR_SHR, roll(c, 3) ? x : chain_value(c, t), chain_bits(c, t, dtype_bits(t) - n));
    return bin(c, IR_OR, left, right);
}

static IrValue *int_idiom(GenChain *c, Dtype t) {
    IrValue *x = chain_value(c, t), *y = chain_value(c, t), *z = chain_value(c, t);
    IrValue *k = chain_constant(c, t), *n = chain_bits(c, t, roll(c, dtype_bits(t)));
    switch (roll(c, 12)) {
    case 0: return saturated(c, t);
    case 1: return turned(c, t);
    case 2: return bin(c, IR_ADD, bin(c, IR_MUL, x, y), z);
    case 3: return bin(c, roll(c, 2) ? IR_DIV : IR_REM, x, k);
    case 4: return choose(c, bin(c, IR_LT, x, y), bin(c, IR_SUB, y, x), bin(c, IR_SUB, x, y));
    case 5: return bin(c, IR_AND, bin(c, IR_SHR, x, n), k);
    case 6: return bin(c, IR_MAX, bin(c, IR_MIN, x, y), bin(c, IR_MIN, bin(c, IR_MAX, x, y), z));
    case 7: return bin(c, IR_XOR, bin(c, IR_AND, x, y), bin(c, IR_OR, z, un(c, IR_NOT, x)));
    case 8: return bin(c, IR_ADD, bin(c, IR_SHL, x, n), y);
    case 9: return bin(c, IR_SHR, bin(c, IR_SHL, x, n), roll(c, 2) ? n : chain_value(c, t));
    case 10: {
        IrValue *wide = bin(c, IR_MUL, to(c, x, DTYPE_I64), to(c, y, DTYPE_I64));
        return to(c, bin(c, IR_SHR, wide, chain_bits(c, DTYPE_I64, dtype_bits(t) % 64)), t);
    }
    }
    return bin(c, some_compare(c), bin(c, IR_SUB, x, y), k);
}

IrValue *chain_idiom(GenChain *c) {
    typedef IrValue *Idiom(GenChain * c, Dtype t);
    static Idiom *const idioms[] = {
        narrowed,       narrowed,  narrowed, narrowed_wide, narrowed_wide, widened,
        there_and_back, neutral,   neutral,  neutral,       product_sum,   product_sum,
        cancelled,      cancelled, roots,    parts,         chosen,        chosen,
        clamped,        clamped,   compared, gated,         signs,         scaled};
    if (roll(c, 10) == 0) return int_idiom(c, chain_int(c));
    return idioms[roll(c, sizeof idioms / sizeof *idioms)](c, chain_float(c));
}
