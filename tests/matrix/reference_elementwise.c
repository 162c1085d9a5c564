// References of the elementwise ops that are exact or correctly rounded: integers in 128 bits,
// floats as exact fractions rounded once.
#include "tests/matrix/matrix.h"

typedef Answer (*Scalar)(Dtype t, const uint64_t *in);

static Answer none(void) { return (Answer){.kind = ANSWER_NONE}; }
static Answer rounded(Dtype t, Number n) { return answer_value(number_round(t, n, true)); }
// A result that the format has: infinities stay.
static Answer kept(Dtype t, Number n) { return answer_value(number_round(t, n, false)); }
static Answer wrapped(Dtype t, Int128 value) { return answer_bits(integer_wrap(t, value)); }
static Answer truth(bool b) { return answer_bits(b); }
static bool is_bool(Dtype t) { return t == DTYPE_BOOL; }

// ---- one operand --------------------------------------------------------------------------------

static uint64_t sign_of(Dtype t) { return UINT64_C(1) << (type_width(t) - 1); }

static Answer neg(Dtype t, const uint64_t *in) {
    if (!type_is_float(t)) return wrapped(t, -integer_of(t, in[0]));
    bool one_sign = format_of(t)->one_nan && (in[0] & ~sign_of(t)) == 0;
    return answer_bits(one_sign ? in[0] : in[0] ^ sign_of(t));
}

static Answer not_(Dtype t, const uint64_t *in) {
    return is_bool(t) ? truth(in[0] == 0) : answer_bits(in[0] ^ type_mask(t));
}

static Answer abs_(Dtype t, const uint64_t *in) {
    if (type_is_float(t)) {
        bool one_sign = format_of(t)->one_nan && (in[0] & ~sign_of(t)) == 0;
        return answer_bits(one_sign ? in[0] : in[0] & ~sign_of(t));
    }
    Int128 x = integer_of(t, in[0]);
    return wrapped(t, x < 0 ? -x : x);
}

static Answer floor_(Dtype t, const uint64_t *in) {
    return kept(t, number_whole(number_of(t, in[0]), -1));
}
static Answer ceil_(Dtype t, const uint64_t *in) {
    return kept(t, number_whole(number_of(t, in[0]), 1));
}
static Answer round_(Dtype t, const uint64_t *in) {
    return kept(t, number_whole(number_of(t, in[0]), 0));
}
static Answer sqrt_(Dtype t, const uint64_t *in) {
    return rounded(t, number_root(number_of(t, in[0])));
}

// ---- arithmetic ---------------------------------------------------------------------------------

static Answer add(Dtype t, const uint64_t *in) {
    if (!type_is_float(t)) return wrapped(t, integer_of(t, in[0]) + integer_of(t, in[1]));
    return rounded(t, number_add(number_of(t, in[0]), number_of(t, in[1])));
}

static Answer sub(Dtype t, const uint64_t *in) {
    if (!type_is_float(t)) return wrapped(t, integer_of(t, in[0]) - integer_of(t, in[1]));
    return rounded(t, number_add(number_of(t, in[0]), number_negate(number_of(t, in[1]))));
}

static Answer mul(Dtype t, const uint64_t *in) {
    if (type_is_float(t))
        return rounded(t, number_multiply(number_of(t, in[0]), number_of(t, in[1])));
    Uint128 product = (Uint128)integer_of(t, in[0]) * (Uint128)integer_of(t, in[1]);
    return answer_bits((uint64_t)product & type_mask(t));
}

static Answer div_(Dtype t, const uint64_t *in) {
    if (type_is_float(t))
        return rounded(t, number_divide(number_of(t, in[0]), number_of(t, in[1])));
    Int128 b = integer_of(t, in[1]);
    return wrapped(t, b == 0 ? 0 : integer_of(t, in[0]) / b);
}

static Answer rem(Dtype t, const uint64_t *in) {
    if (type_is_float(t))
        return kept(t, number_remainder(number_of(t, in[0]), number_of(t, in[1])));
    Int128 a = integer_of(t, in[0]), b = integer_of(t, in[1]);
    return wrapped(t, b == 0 ? a : a % b);
}

static Answer fma_(Dtype t, const uint64_t *in) {
    Number product = number_multiply(number_of(t, in[0]), number_of(t, in[1]));
    return rounded(t, number_add(product, number_of(t, in[2])));
}

// ---- order --------------------------------------------------------------------------------------

// -1, 0, 1; 2 when a NaN takes part.
static int order(Dtype t, const uint64_t *in) {
    if (!type_is_float(t)) {
        Int128 a = integer_of(t, in[0]), b = integer_of(t, in[1]);
        return (a > b) - (a < b);
    }
    Number a = number_of(t, in[0]), b = number_of(t, in[1]);
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return 2;
    return number_compare(a, b);
}

// The same with -0 below +0.
static int strict_order(Dtype t, const uint64_t *in) {
    int side = order(t, in);
    if (side != 0 || !type_is_float(t)) return side;
    return (int)number_of(t, in[1]).negative - (int)number_of(t, in[0]).negative;
}

static Answer min(Dtype t, const uint64_t *in) {
    int side = strict_order(t, in);
    return answer_value(side == 2 ? nan_bits(t) : side <= 0 ? in[0] : in[1]);
}
static Answer max(Dtype t, const uint64_t *in) {
    int side = strict_order(t, in);
    return answer_value(side == 2 ? nan_bits(t) : side >= 0 ? in[0] : in[1]);
}

static Answer minnum(Dtype t, const uint64_t *in) {
    if (bits_are_nan(t, in[0])) return answer_value(in[1]);
    return bits_are_nan(t, in[1]) ? answer_value(in[0]) : min(t, in);
}
static Answer maxnum(Dtype t, const uint64_t *in) {
    if (bits_are_nan(t, in[0])) return answer_value(in[1]);
    return bits_are_nan(t, in[1]) ? answer_value(in[0]) : max(t, in);
}

static Answer eq(Dtype t, const uint64_t *in) { return truth(order(t, in) == 0); }
static Answer ne(Dtype t, const uint64_t *in) { return truth(order(t, in) != 0); }
static Answer lt(Dtype t, const uint64_t *in) { return truth(order(t, in) == -1); }
static Answer gt(Dtype t, const uint64_t *in) { return truth(order(t, in) == 1); }
static Answer le(Dtype t, const uint64_t *in) {
    int side = order(t, in);
    return truth(side == -1 || side == 0);
}
static Answer ge(Dtype t, const uint64_t *in) {
    int side = order(t, in);
    return truth(side == 1 || side == 0);
}

// ---- bits ---------------------------------------------------------------------------------------

static Answer and_(Dtype t, const uint64_t *in) { return (void)t, answer_bits(in[0] & in[1]); }
static Answer or_(Dtype t, const uint64_t *in) { return (void)t, answer_bits(in[0] | in[1]); }
static Answer xor_(Dtype t, const uint64_t *in) { return (void)t, answer_bits(in[0] ^ in[1]); }

static Answer copysign_(Dtype t, const uint64_t *in) {
    uint64_t size = in[0] & ~sign_of(t), sign = in[1] & sign_of(t);
    if (format_of(t)->one_nan && size == 0) return answer_bits(in[0]);
    if (format_of(t)->one_nan && in[1] == sign_of(t)) sign = 0;
    return answer_bits(size | sign);
}

static Answer popcount(Dtype t, const uint64_t *in) {
    uint64_t n = 0;
    for (int i = 0; i < type_width(t); i++) n += in[0] >> i & 1;
    return answer_bits(n);
}

static Answer clz(Dtype t, const uint64_t *in) {
    uint64_t n = 0;
    for (int i = type_width(t) - 1; i >= 0 && !(in[0] >> i & 1); i--) n++;
    return answer_bits(n);
}

static Answer ctz(Dtype t, const uint64_t *in) {
    uint64_t n = 0;
    for (int i = 0; i < type_width(t) && !(in[0] >> i & 1); i++) n++;
    return answer_bits(n);
}

static Answer brev(Dtype t, const uint64_t *in) {
    uint64_t r = 0;
    for (int i = 0; i < type_width(t); i++) r = r << 1 | (in[0] >> i & 1);
    return answer_bits(r);
}

static Answer mulhi(Dtype t, const uint64_t *in) {
    // An unsigned product of 64 bits does not fit into the signed type.
    Int128 a = integer_of(t, in[0]), b = integer_of(t, in[1]);
    Uint128 product = (Uint128)a * (Uint128)b;
    return answer_bits((uint64_t)(product >> type_width(t)) & type_mask(t));
}

static const Scalar scalars[IR_OPCODES] = {
    [IR_NEG] = neg,
    [IR_NOT] = not_,
    [IR_ABS] = abs_,
    [IR_FLOOR] = floor_,
    [IR_CEIL] = ceil_,
    [IR_ROUND] = round_,
    [IR_SQRT] = sqrt_,
    [IR_ADD] = add,
    [IR_SUB] = sub,
    [IR_MUL] = mul,
    [IR_DIV] = div_,
    [IR_REM] = rem,
    [IR_MIN] = min,
    [IR_MAX] = max,
    [IR_MINNUM] = minnum,
    [IR_MAXNUM] = maxnum,
    [IR_AND] = and_,
    [IR_OR] = or_,
    [IR_XOR] = xor_,
    [IR_EQ] = eq,
    [IR_NE] = ne,
    [IR_LT] = lt,
    [IR_LE] = le,
    [IR_GT] = gt,
    [IR_GE] = ge,
    [IR_FMA] = fma_,
    [IR_COPYSIGN] = copysign_,
    [IR_POPCOUNT] = popcount,
    [IR_CLZ] = clz,
    [IR_CTZ] = ctz,
    [IR_BREV] = brev,
    [IR_MULHI] = mulhi,
};

static Answer scalar_answer(IrOpcode code, Dtype t, const uint64_t *in) {
    unsigned classes = ir_op_info(code)->classes;
    bool pointers = (classes & IR_CLASS_POINTER) && t == DTYPE_U64;
    return (classes & dtype_class(t)) || pointers ? scalars[code](t, in) : none();
}

static bool elementwise(Case *c) {
    for (uint32_t i = 0; i < c->out[0].count; i++) {
        uint64_t in[3] = {0};
        for (uint32_t k = 0; k < c->operand_count; k++) in[k] = c->in[k].bits[i];
        c->want[0][i] = scalar_answer(c->code, c->in[0].elem, in);
    }
    return true;
}

// ---- ops whose operands differ in type ----------------------------------------------------------

static bool shift(Case *c) {
    Dtype t = c->in[0].elem;
    int width = type_width(t);
    for (uint32_t i = 0; i < c->out[0].count; i++) {
        Int128 a = integer_of(t, c->in[0].bits[i]), n = integer_of(c->in[1].elem, c->in[1].bits[i]);
        bool over = n < 0 || n >= width;
        Int128 result;
        if (c->code == IR_SHL)
            result = over ? 0 : a * ((Int128)1 << n);
        else
            result = over ? (a < 0 ? -1 : 0) : a >> n;
        c->want[0][i] = wrapped(t, result);
    }
    return true;
}

static bool select(Case *c) {
    for (uint32_t i = 0; i < c->out[0].count; i++) {
        bool chosen = c->in[0].bits[c->in[0].rank == 0 ? 0 : i] != 0;
        c->want[0][i] = answer_bits(c->in[chosen ? 1 : 2].bits[i]);
    }
    return true;
}

static Answer cast_one(Dtype to, Dtype from, uint64_t bits, bool saturate) {
    if (is_bool(to)) {
        if (!type_is_float(from)) return truth(bits != 0);
        return truth(!number_is_zero(number_of(from, bits)));
    }
    if (type_is_float(from)) {
        Number n = number_of(from, bits);
        if (type_is_float(to)) return answer_value(number_round(to, n, saturate));
        return answer_bits(number_to_integer(to, n));
    }
    Int128 value = integer_of(from, bits);
    if (!type_is_float(to)) return wrapped(to, value);
    return answer_value(number_round(to, number_from_integer(value), saturate));
}

static bool cast(Case *c) {
    for (uint32_t i = 0; i < c->out[0].count; i++) {
        Dtype to = c->out[0].elem, from = c->in[0].elem;
        c->want[0][i] = cast_one(to, from, c->in[0].bits[i], c->saturate);
        if (to == from) c->want[0][i].kind = ANSWER_VALUE;
    }
    return true;
}

static bool bitcast(Case *c) {
    for (uint32_t i = 0; i < c->out[0].count; i++) c->want[0][i] = answer_bits(c->in[0].bits[i]);
    return true;
}

static bool lookup(Case *c) {
    const Tile *in = &c->in[0];
    for (uint32_t i = 0; i < c->out[0].count; i++) {
        bool negative = type_is_signed(in->elem) && integer_of(in->elem, in->bits[i]) < 0;
        bool inside = !negative && in->bits[i] < c->table.count;
        c->want[0][i] = answer_bits(inside ? c->table.bits[in->bits[i]] : 0);
    }
    return true;
}

Reference reference_elementwise_of(IrOpcode code) {
    if (scalars[code]) return elementwise;
    if (code == IR_SHL || code == IR_SHR) return shift;
    if (code == IR_SELECT) return select;
    if (code == IR_CAST) return cast;
    if (code == IR_BITCAST) return bitcast;
    if (code == IR_LOOKUP) return lookup;
    return NULL;
}
