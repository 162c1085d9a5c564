// Instructions of PTX on registers, as ops of tile IR. `.ftz` keeps subnormals, and approximate
// functions have the freedom of the kernel's other ops.
#include "frontend/triton/tl/asm.h"

static IrBuilder *b_of(AsmState *s) { return &s->e->b; }

static IrValue *binary(AsmState *s, IrOpcode op, IrValue *x, IrValue *y) {
    return ir_binary(b_of(s), op, x, y);
}
static IrValue *with(AsmState *s, IrOpcode op, IrValue *x, uint64_t bits) {
    return binary(s, op, x, asm_const(s, el_elem(x), bits));
}
static IrValue *pick(AsmState *s, IrValue *cond, IrValue *x, IrValue *y) {
    return ir_ternary(b_of(s), IR_SELECT, cond, x, y);
}
static IrValue *real_const(AsmState *s, Dtype elem, double value) {
    return asm_const(s, elem, dtype_from_double(elem, value, false));
}

static bool is_one_of(Str name, const char *names) {
    Str list = str(names);
    for (Str item; str_item(&list, &item);)
        if (str_equal(name, item)) return true;
    return false;
}

static bool is_real(Dtype t) { return dtype_is(t, DTYPE_CLASS_FLOAT); }

static AsmType type_at(const AsmInstruction *in, uint32_t i) {
    static const AsmType bits = {.elem = DTYPE_U32};
    return in->type_count > i ? in->types[i] : in->type_count ? in->types[0] : bits;
}

// ---- one element -------------------------------------------------------------------------------

static IrValue *saturated(AsmState *s, IrValue *v) {
    Dtype t = el_elem(v);
    v = binary(s, IR_MAXNUM, v, real_const(s, t, 0));
    return binary(s, IR_MINNUM, v, real_const(s, t, 1));
}

// min and max: the number wins over NaN, except with .NaN; .xorsign.abs compares magnitudes and
// multiplies the signs.
static IrValue *extreme(AsmState *s, const AsmInstruction *in, IrValue *x, IrValue *y) {
    bool least = str_equal(in->opcode, STR("min")), nan = asm_has(in, "NaN");
    Dtype t = el_elem(x);
    if (!is_real(t)) return binary(s, least ? IR_MIN : IR_MAX, x, y);
    IrOpcode op = nan ? (least ? IR_MIN : IR_MAX) : (least ? IR_MINNUM : IR_MAXNUM);
    if (!asm_has(in, "abs")) return binary(s, op, x, y);
    IrValue *v = binary(s, op, ir_unary(b_of(s), IR_ABS, x), ir_unary(b_of(s), IR_ABS, y));
    if (!asm_has(in, "xorsign")) return v;
    Dtype word = dtype_bits(t) == 16 ? DTYPE_U16 : DTYPE_U32;
    uint64_t sign = UINT64_C(1) << (dtype_bits(t) - 1);
    IrValue *signs = binary(s, IR_XOR, asm_as(s, x, word), asm_as(s, y, word));
    return asm_as(s, binary(s, IR_XOR, asm_as(s, v, word), with(s, IR_AND, signs, sign)), t);
}

static IrValue *sum_of(AsmState *s, const AsmInstruction *in, IrValue *const *x) {
    static const struct {
        const char *name;
        IrOpcode op;
    } known[] = {{"add", IR_ADD}, {"sub", IR_SUB}, {"mul", IR_MUL}, {"div", IR_DIV}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!str_equal(in->opcode, str(known[i].name))) continue;
        IrOpcode op = known[i].op;
        Dtype t = el_elem(x[0]);
        if (op == IR_MUL && asm_has(in, "hi") && !is_real(t)) op = IR_MULHI;
        IrValue *v = binary(s, op, x[0], x[1]);
        if (is_real(t) && asm_has(in, "rn")) ir_set_math_exact(v);
        return v;
    }
    return NULL;
}

static IrValue *function_of(AsmState *s, const AsmInstruction *in, IrValue *x) {
    static const struct {
        const char *name;
        IrOpcode op;
    } known[] = {{"sqrt", IR_SQRT}, {"rsqrt", IR_RSQRT}, {"ex2", IR_EXP2},      {"lg2", IR_LOG2},
                 {"tanh", IR_TANH}, {"sin", IR_SIN},     {"cos", IR_COS},       {"neg", IR_NEG},
                 {"abs", IR_ABS},   {"not", IR_NOT},     {"popc", IR_POPCOUNT}, {"clz", IR_CLZ},
                 {"brev", IR_BREV}};
    if (str_equal(in->opcode, STR("rcp"))) {
        IrValue *v = binary(s, IR_DIV, real_const(s, el_elem(x), 1), x);
        if (asm_has(in, "rn")) ir_set_math_exact(v);
        return v;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!str_equal(in->opcode, str(known[i].name))) continue;
        IrValue *v = ir_unary(b_of(s), known[i].op, x);
        if (known[i].op == IR_SQRT && asm_has(in, "rn")) ir_set_math_exact(v);
        return v;
    }
    return NULL;
}

// Does a function of one operand take elements of the type?
static bool takes(Str opcode, Dtype t) {
    if (is_one_of(opcode, "rcp,sqrt,rsqrt,ex2,lg2,tanh,sin,cos")) return is_real(t);
    return !is_real(t) || is_one_of(opcode, "neg,abs");
}

// The instruction on single elements of its type; NULL: it is another one.
static IrValue *element(AsmState *s, const AsmInstruction *in, IrValue *const *x, uint32_t count) {
    IrValue *v = NULL;
    Dtype t = el_elem(x[0]);
    if (count == 1 && takes(in->opcode, t)) v = function_of(s, in, x[0]);
    if (count == 2) v = sum_of(s, in, x);
    if (count == 2 && is_one_of(in->opcode, "min,max")) v = extreme(s, in, x[0], x[1]);
    if (count == 3 && is_real(t) && is_one_of(in->opcode, "fma,mad"))
        v = ir_ternary(b_of(s), IR_FMA, x[0], x[1], x[2]);
    if (count == 3 && !is_real(t) && str_equal(in->opcode, STR("mad")))
        v = binary(s, IR_ADD, binary(s, asm_has(in, "hi") ? IR_MULHI : IR_MUL, x[0], x[1]), x[2]);
    if (v && is_real(t) && asm_has(in, "sat")) v = saturated(s, v);
    if (v && is_real(t) && asm_has(in, "relu")) v = binary(s, IR_MAXNUM, v, real_const(s, t, 0));
    return v;
}

// Element k of a pair, whose register is `v`.
static IrValue *half_of(AsmState *s, IrValue *v, Dtype elem, unsigned k) {
    unsigned bits = dtype_bits(elem);
    IrValue *x = k ? with(s, IR_SHR, v, bits) : v;
    return asm_as(s, el_convert(s->e, x, bits == 8 ? DTYPE_U8 : DTYPE_U16), elem);
}

static IrValue *pair_of(AsmState *s, IrValue *low, IrValue *high) {
    unsigned bits = dtype_bits(el_elem(low));
    Dtype part = bits == 8 ? DTYPE_U8 : DTYPE_U16, whole = bits == 8 ? DTYPE_U16 : DTYPE_U32;
    low = el_convert(s->e, asm_as(s, low, part), whole);
    high = el_convert(s->e, asm_as(s, high, part), whole);
    return binary(s, IR_OR, low, with(s, IR_SHL, high, bits));
}

static bool elementwise(AsmState *s, const AsmInstruction *in) {
    AsmType type = type_at(in, 0);
    IrValue *x[4], *half[2][4];
    uint32_t count = in->operand_count - 1;
    if (in->operand_count < 2 || count > 3) return false;
    bool flag = type.elem == DTYPE_BOOL && !str_equal(in->opcode, STR("not"));
    if (flag || dtype_bits(type.elem) < 16) return false;  // pairs of narrow formats: cvt only
    for (uint32_t i = 0; i < count; i++) x[i] = asm_read(s, &in->operands[1 + i], type);
    if (!type.pair) {
        IrValue *v = element(s, in, x, count);
        if (v) asm_write(s, in, &in->operands[0], v);
        return v;
    }
    IrValue *parts[2];
    for (unsigned k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < count; i++) half[k][i] = half_of(s, x[i], type.elem, k);
        if (!(parts[k] = element(s, in, half[k], count))) return false;
    }
    asm_write(s, in, &in->operands[0], pair_of(s, parts[0], parts[1]));
    return true;
}

// ---- bits ---------------------------------------------------------------------------------------

static bool logic(AsmState *s, const AsmInstruction *in) {
    static const struct {
        const char *name;
        IrOpcode op;
    } known[] = {{"and", IR_AND}, {"or", IR_OR}, {"xor", IR_XOR}};
    AsmType type = type_at(in, 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!str_equal(in->opcode, str(known[i].name)) || in->operand_count != 3) continue;
        if (type.pair || is_real(type.elem)) return false;
        IrValue *x = asm_read(s, &in->operands[1], type), *y = asm_read(s, &in->operands[2], type);
        asm_write(s, in, &in->operands[0], binary(s, known[i].op, x, y));
        return true;
    }
    bool left = str_equal(in->opcode, STR("shl"));
    if ((!left && !str_equal(in->opcode, STR("shr"))) || in->operand_count != 3) return false;
    if (type.elem == DTYPE_BOOL || type.pair || is_real(type.elem)) return false;
    IrValue *x = asm_read(s, &in->operands[1], type);
    IrValue *n = asm_read(s, &in->operands[2], (AsmType){.elem = DTYPE_U32});
    n = with(s, IR_MIN, n, dtype_bits(type.elem));  // beyond the width: zeros, or the sign
    n = el_convert(s->e, n, type.elem);
    asm_write(s, in, &in->operands[0], binary(s, left ? IR_SHL : IR_SHR, x, n));
    return true;
}

// Each nibble of the selector takes one of eight bytes; its highest bit spreads the byte's sign.
static void permute(AsmState *s, const AsmInstruction *in) {
    AsmType word = {.elem = DTYPE_U32};
    IrValue *a = el_convert(s->e, asm_read(s, &in->operands[1], word), DTYPE_U64);
    IrValue *b = el_convert(s->e, asm_read(s, &in->operands[2], word), DTYPE_U64);
    IrValue *selector = asm_read(s, &in->operands[3], word);
    IrValue *bytes = binary(s, IR_OR, a, with(s, IR_SHL, b, 32));
    IrValue *sum = asm_const(s, DTYPE_U32, 0);
    for (unsigned i = 0; i < 4; i++) {
        IrValue *nibble = with(s, IR_SHR, selector, 4 * i);
        IrValue *at = el_convert(s->e, with(s, IR_SHL, with(s, IR_AND, nibble, 7), 3), DTYPE_U64);
        IrValue *byte =
            with(s, IR_AND, el_convert(s->e, binary(s, IR_SHR, bytes, at), DTYPE_U32), 0xff);
        IrValue *sign = pick(s, with(s, IR_GE, byte, 0x80), asm_const(s, DTYPE_U32, 0xff),
                             asm_const(s, DTYPE_U32, 0));
        IrValue *spreads = with(s, IR_NE, with(s, IR_AND, nibble, 8), 0);
        byte = pick(s, spreads, sign, byte);
        sum = binary(s, IR_OR, sum, with(s, IR_SHL, byte, 8 * i));
    }
    asm_write(s, in, &in->operands[0], sum);
}

// Any function of three bits: bit i of the table is its value for the bits a, b, c of i.
static bool lookup(AsmState *s, const AsmInstruction *in) {
    AsmType word = {.elem = DTYPE_U32};
    IrValue *x[3], *table = asm_read(s, &in->operands[4], word);
    for (uint32_t i = 0; i < 3; i++) x[i] = asm_read(s, &in->operands[1 + i], word);
    if (!table->def || table->def->code != IR_CONST) return asm_unsupported(s, in->text);
    uint64_t bits = ir_attr(table->def, IR_ATTR_VALUE)->u.bits;
    IrValue *sum = asm_const(s, DTYPE_U32, 0);
    for (unsigned i = 0; i < 8; i++) {
        if (!(bits >> i & 1)) continue;
        IrValue *term = NULL;
        for (unsigned k = 0; k < 3; k++) {
            IrValue *v = i >> (2 - k) & 1 ? x[k] : ir_unary(b_of(s), IR_NOT, x[k]);
            term = term ? binary(s, IR_AND, term, v) : v;
        }
        sum = binary(s, IR_OR, sum, term);
    }
    asm_write(s, in, &in->operands[0], sum);
    return true;
}

// shf: 32 bits of the pair {b, a}, where b is the upper half.
static void funnel(AsmState *s, const AsmInstruction *in) {
    AsmType word = {.elem = DTYPE_U32};
    IrValue *low = el_convert(s->e, asm_read(s, &in->operands[1], word), DTYPE_U64);
    IrValue *high = el_convert(s->e, asm_read(s, &in->operands[2], word), DTYPE_U64);
    IrValue *n = asm_read(s, &in->operands[3], word);
    n = asm_has(in, "wrap") ? with(s, IR_AND, n, 31) : with(s, IR_MIN, n, 32);
    IrValue *both = binary(s, IR_OR, low, with(s, IR_SHL, high, 32));
    n = el_convert(s->e, n, DTYPE_U64);
    IrValue *v = asm_has(in, "l") ? with(s, IR_SHR, binary(s, IR_SHL, both, n), 32)
                                  : binary(s, IR_SHR, both, n);
    asm_write(s, in, &in->operands[0], el_convert(s->e, v, DTYPE_U32));
}

// bfe: `length` bits from `at` on; of signed integers with the sign of the last of them.
static void extract(AsmState *s, const AsmInstruction *in) {
    AsmType type = type_at(in, 0), byte = {.elem = DTYPE_U32};
    if (type.pair || !dtype_is(type.elem, DTYPE_CLASS_INT)) {
        asm_unsupported(s, in->text);
        return;
    }
    unsigned bits = dtype_bits(type.elem);
    bool sign = dtype_signed(type.elem);
    Dtype wide = sign ? DTYPE_I64 : DTYPE_U64;
    IrValue *x = el_convert(s->e, asm_read(s, &in->operands[1], type), wide);
    IrValue *at = with(s, IR_AND, asm_read(s, &in->operands[2], byte), 0xff);
    IrValue *length = with(s, IR_AND, asm_read(s, &in->operands[3], byte), 0xff);
    at = el_convert(s->e, with(s, IR_MIN, at, bits), wide);
    length = el_convert(s->e, with(s, IR_MIN, length, bits), wide);
    IrValue *up = binary(s, IR_SUB, asm_const(s, wide, 64), length);
    IrValue *v = binary(s, IR_SHL, binary(s, IR_SHR, x, at), up);
    asm_write(s, in, &in->operands[0], el_convert(s->e, binary(s, IR_SHR, v, up), type.elem));
}

// ---- predicates ---------------------------------------------------------------------------------

static bool compare(AsmState *s, const AsmInstruction *in) {
    static const struct {
        const char *name;
        IrOpcode op;
    } known[] = {{"eq", IR_EQ}, {"ne", IR_NE}, {"lt", IR_LT}, {"le", IR_LE}, {"gt", IR_GT},
                 {"ge", IR_GE}, {"lo", IR_LT}, {"ls", IR_LE}, {"hi", IR_GT}, {"hs", IR_GE}};
    if (in->operand_count != 3) return asm_unsupported(s, in->text);
    AsmType type = type_at(in, 0);
    if (type.pair || type.elem == DTYPE_BOOL) return asm_unsupported(s, in->text);
    IrValue *x = asm_read(s, &in->operands[1], type), *y = asm_read(s, &in->operands[2], type);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (asm_has(in, known[i].name)) {
            IrValue *v = binary(s, known[i].op, x, y);
            // != of a NaN is false in PTX.
            if (known[i].op == IR_NE && is_real(type.elem)) {
                v = binary(s, IR_AND, v, binary(s, IR_EQ, x, x));
                v = binary(s, IR_AND, v, binary(s, IR_EQ, y, y));
            }
            asm_write(s, in, &in->operands[0], v);
            return true;
        }
    return asm_unsupported(s, in->text);
}

static void choose(AsmState *s, const AsmInstruction *in) {
    AsmType type = type_at(in, 0);
    IrValue *x = asm_read(s, &in->operands[1], type), *y = asm_read(s, &in->operands[2], type);
    IrValue *p = asm_read(s, &in->operands[3], (AsmType){.elem = DTYPE_BOOL});
    asm_write(s, in, &in->operands[0], pick(s, p, x, y));
}

// ---- conversions --------------------------------------------------------------------------------

// The code of the nearest value of e2m1, ties to the even code; beyond 6 and NaN: 6.
static IrValue *to_e2m1(AsmState *s, IrValue *v) {
    static const struct {
        double middle;
        bool up;  // the middle itself goes up
    } steps[] = {{0.25, false}, {0.75, true}, {1.25, false}, {1.75, true},
                 {2.5, false},  {3.5, true},  {5, false}};
    IrValue *size = ir_unary(b_of(s), IR_ABS, v), *code = asm_const(s, DTYPE_U8, 0);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        IrValue *above = binary(s, steps[i].up ? IR_GE : IR_GT, size,
                                real_const(s, el_elem(v), steps[i].middle));
        code = binary(s, IR_ADD, code, el_convert(s->e, above, DTYPE_U8));
    }
    code = pick(s, binary(s, IR_NE, v, v), asm_const(s, DTYPE_U8, 7), code);
    IrValue *sign = with(s, IR_SHR, asm_as(s, v, DTYPE_U32), 31);
    sign = pick(s, binary(s, IR_NE, v, v), asm_const(s, DTYPE_U32, 0), sign);
    sign = with(s, IR_SHL, el_convert(s->e, sign, DTYPE_U8), 3);
    return binary(s, IR_OR, code, sign);
}

// The exponent of e8m0: rounded up with .rp, else down; NaN is 255.
static IrValue *to_ue8m0(AsmState *s, const AsmInstruction *in, IrValue *v) {
    IrValue *bits = with(s, IR_AND, asm_as(s, v, DTYPE_U32), 0x7fffffff);
    IrValue *power = with(s, IR_SHR, bits, 23);
    if (asm_has(in, "rp")) {
        IrValue *rest = with(s, IR_NE, with(s, IR_AND, bits, 0x7fffff), 0);
        // A subnormal up to 2^-127 rounds to it, which is the code 0.
        rest = binary(s, IR_AND, rest, with(s, IR_GT, bits, 0x400000));
        power = binary(s, IR_ADD, power, el_convert(s->e, rest, DTYPE_U32));
    }
    power = with(s, IR_MIN, power, 254);
    power = pick(s, with(s, IR_GT, bits, 0x7f800000), asm_const(s, DTYPE_U32, 255), power);
    return el_convert(s->e, power, DTYPE_U8);
}

static IrValue *narrowed(AsmState *s, const AsmInstruction *in, IrValue *v, Dtype to) {
    if (asm_has(in, "relu")) v = binary(s, IR_MAXNUM, v, real_const(s, el_elem(v), 0));
    if (dtype_is(to, DTYPE_CLASS_FP8)) return ir_cast(b_of(s), v, to, true);
    return el_convert(s->e, v, to);
}

// cvt.T2.f32 d, a, b: a is the upper half.
static bool to_pair(AsmState *s, const AsmInstruction *in, AsmType to, AsmType from) {
    if (in->operand_count != 3 || from.pair || from.elem != DTYPE_F32 || asm_has(in, "rs"))
        return asm_unsupported(s, in->text);
    IrValue *half[2];
    for (uint32_t i = 0; i < 2; i++) {
        IrValue *v = asm_read(s, &in->operands[2 - i], from);
        half[i] = to.e2m1    ? to_e2m1(s, v)
                  : to.ue8m0 ? to_ue8m0(s, in, v)
                             : narrowed(s, in, v, to.elem);
    }
    IrValue *v = to.e2m1 ? binary(s, IR_OR, half[0], with(s, IR_SHL, half[1], 4))
                         : pair_of(s, half[0], half[1]);
    asm_write(s, in, &in->operands[0], v);
    return true;
}

// cvt.f16x2.e4m3x2 d, a and the like
static bool from_pair(AsmState *s, const AsmInstruction *in, AsmType to, AsmType from) {
    if (in->operand_count != 2 || !to.pair || to.e2m1 || to.ue8m0)
        return asm_unsupported(s, in->text);
    AsmType holder = from.e2m1 ? (AsmType){.elem = DTYPE_U8} : from;
    IrValue *v = asm_read(s, &in->operands[1], holder), *half[2];
    for (unsigned k = 0; k < 2; k++) {
        IrValue *x = from.e2m1 ? with(s, IR_AND, k ? with(s, IR_SHR, v, 4) : v, 15)
                               : half_of(s, v, from.elem, k);
        x = from.e2m1    ? tr_from_e2m1(s->e, x, DTYPE_F16)
            : from.ue8m0 ? tr_from_ue8m0(s->e, x, DTYPE_BF16)
                         : x;
        half[k] = narrowed(s, in, x, to.elem);
    }
    asm_write(s, in, &in->operands[0], pair_of(s, half[0], half[1]));
    return true;
}

static bool convert(AsmState *s, const AsmInstruction *in) {
    if (in->type_count != 2) return asm_unsupported(s, in->text);
    AsmType to = in->types[0], from = in->types[1];
    if (from.pair) return from_pair(s, in, to, from);
    if (to.pair) return to_pair(s, in, to, from);
    if (in->operand_count != 2) return asm_unsupported(s, in->text);
    IrValue *v = asm_read(s, &in->operands[1], from);
    bool real = is_real(from.elem), whole = real && !is_real(to.elem);
    bool to_itself = real && from.elem == to.elem;
    if (whole || to_itself) {
        if (asm_has(in, "rni")) v = ir_unary(b_of(s), IR_ROUND, v);
        if (asm_has(in, "rmi")) v = ir_unary(b_of(s), IR_FLOOR, v);
        if (asm_has(in, "rpi")) v = ir_unary(b_of(s), IR_CEIL, v);
    }
    if (real && is_real(to.elem) && asm_has(in, "rz") &&
        dtype_bits(to.elem) < dtype_bits(from.elem))
        return asm_unsupported(s, in->text);
    v = is_real(to.elem) ? narrowed(s, in, v, to.elem) : el_convert(s->e, v, to.elem);
    if (is_real(to.elem) && asm_has(in, "sat")) v = saturated(s, v);
    asm_write(s, in, &in->operands[0], v);
    return true;
}

// ---- all of them --------------------------------------------------------------------------------

void asm_run(AsmState *s, const AsmInstruction *in) {
    static const struct {
        const char *name;
        uint32_t operands;
        void (*run)(AsmState *s, const AsmInstruction *in);
    } known[] = {
        {"prmt", 4, permute}, {"shf", 4, funnel}, {"bfe", 4, extract}, {"selp", 4, choose}};
    Str op = in->opcode;
    // Waiting for other kernels has no meaning here.
    if (str_equal(op, STR("griddepcontrol"))) return;
    if (str_equal(op, STR("mov")) && in->operand_count == 2) {
        AsmType type = type_at(in, 0);
        if (str_starts(in->operands[1].text, STR("%")) && !in->operands[1].count) {
            bool own = false;  // of the text; else %tid and the like
            for (size_t i = 0; i < s->registers.count; i++)
                own = own || str_equal(s->registers.data[i].name, in->operands[1].text);
            if (!own) {
                asm_unsupported(s, in->operands[1].text);
                return;
            }
        }
        asm_write(s, in, &in->operands[0], asm_read(s, &in->operands[1], type));
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_equal(op, str(known[i].name)) && in->operand_count == known[i].operands) {
            known[i].run(s, in);
            return;
        }
    if (str_equal(op, STR("lop3")) && in->operand_count == 5) {
        lookup(s, in);
        return;
    }
    if (str_equal(op, STR("setp"))) {
        compare(s, in);
        return;
    }
    if (str_equal(op, STR("cvt"))) {
        convert(s, in);
        return;
    }
    if (!logic(s, in) && !elementwise(s, in)) asm_unsupported(s, in->text);
}
