// Elementwise arithmetic, by language rules 20 to 23.
#include "base/os/os.h"
#include "codegen/common/gen.h"

static LLVMValueRef zero(LLVMValueRef like) { return LLVMConstNull(LLVMTypeOf(like)); }

static LLVMValueRef int_const(LLVMTypeRef t, uint64_t value) {
    LLVMTypeRef elem = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
    return gen_splat_of(t, LLVMConstInt(elem, value, false));
}

static LLVMValueRef pick(Gen *g, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(g->b, c, a, b, "");
}

static bool is_float(const IrType *t) {
    return t->kind == IR_TILE && dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT);
}

static bool is_signed(const IrType *t) { return t->kind == IR_TILE && dtype_signed(t->elem); }

// ---- integers -----------------------------------------------------------------------------------

// Facts about the operands of a division: possible divisors, and numbers of bits.
typedef struct ArithQuotient {
    bool divides;    // it is a division of integers
    bool remainder;  // the remainder is wanted
    bool no_signs;   // neither operand is negative
    bool not_zero;   // the divisor is not 0
    bool below;      // the dividend has bits that are 0
    bool short_a;    // the dividend is below 2^32 - 1
    bool short_b;    // the divisor is below 2^32
    bool small;      // the dividend's magnitude is below 2^22
    bool half;       // the dividend is below 2^31 and not negative
} ArithQuotient;

LLVMValueRef gen_dividend(Gen *g, LLVMValueRef x) {
    return g->target->hide_range ? g->target->hide_range(g, x) : x;
}

// The dividend for LLVM's division. Dividends of 8 and 16 bits need no hiding: they are small
// enough for LLVM's divisions of small numbers.
static LLVMValueRef dividend(Gen *g, const ArithQuotient *q, LLVMValueRef a, LLVMValueRef divisor) {
    LLVMTypeRef type = LLVMTypeOf(a);
    bool word = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > 16;
    return !word || q->small || LLVMIsConstant(divisor) ? a : gen_dividend(g, a);
}

// x/0 = 0, x%0 = x, and MIN/-1 wraps. Divisors that trap on the machine are replaced.
static LLVMValueRef divide_signed(Gen *g, const ArithQuotient *q, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef one = int_const(type, 1), by_zero = LLVMBuildICmp(g->b, LLVMIntEQ, b, zero(a), "");
    LLVMValueRef by_minus = LLVMBuildICmp(g->b, LLVMIntEQ, b, LLVMConstAllOnes(type), "");
    LLVMValueRef unsafe = q->not_zero ? by_minus : LLVMBuildOr(g->b, by_zero, by_minus, "");
    LLVMValueRef safe = pick(g, unsafe, one, b);
    LLVMValueRef x = dividend(g, q, a, b);
    LLVMValueRef r =
        q->remainder ? LLVMBuildSRem(g->b, x, safe, "") : LLVMBuildSDiv(g->b, x, safe, "");
    if (!q->remainder)
        r = pick(g, by_minus, LLVMBuildNeg(g->b, a, ""), r);  // by -1 as by 1: rest 0
    return q->not_zero ? r : pick(g, by_zero, q->remainder ? a : zero(a), r);
}

// Unsigned division; the divisor is not 0.
static LLVMValueRef unsigned_quotient(Gen *g, const ArithQuotient *q, LLVMValueRef a,
                                      LLVMValueRef b) {
    bool word = LLVMTypeOf(a) == LLVMInt32TypeInContext(g->context);
    if (g->target->unsigned_quotient && word && q->half && !q->small && !LLVMIsConstant(b))
        return g->target->unsigned_quotient(g, a, b, q->remainder);
    LLVMValueRef x = dividend(g, q, a, b);
    return q->remainder ? LLVMBuildURem(g->b, x, b, "") : LLVMBuildUDiv(g->b, x, b, "");
}

// A divisor of 0 is replaced by the greatest number if the dividend is always below it: the
// quotient is then 0, and the rest is a.
static LLVMValueRef divide_unsigned(Gen *g, const ArithQuotient *q, LLVMValueRef a,
                                    LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef by_zero = LLVMBuildICmp(g->b, LLVMIntEQ, b, zero(b), "");
    LLVMValueRef other = q->below ? LLVMConstAllOnes(type) : int_const(type, 1);
    LLVMValueRef safe = q->not_zero ? b : pick(g, by_zero, other, b);
    LLVMValueRef r = unsigned_quotient(g, q, a, safe);
    return q->not_zero || q->below ? r : pick(g, by_zero, q->remainder ? a : zero(a), r);
}

static LLVMTypeRef words_like(Gen *g, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x), word = LLVMInt32TypeInContext(g->context);
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    return vector ? LLVMVectorType(word, LLVMGetVectorSize(type)) : word;
}

// Divides 64-bit numbers as words, where the upper half of the dividend is 0. If the divisor has
// upper bits, the greatest word gives the same result.
static LLVMValueRef divide_words(Gen *g, const ArithQuotient *q, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a), words = words_like(g, a);
    if (!q->short_b)
        b = gen_intrinsic(g, "llvm.umin", 1, &type, 2,
                          (LLVMValueRef[]){b, int_const(type, UINT32_MAX)});
    ArithQuotient words_too = *q;
    words_too.below = true;
    LLVMValueRef r = divide_unsigned(g, &words_too, LLVMBuildTrunc(g->b, a, words, ""),
                                     LLVMBuildTrunc(g->b, b, words, ""));
    return LLVMBuildZExt(g->b, r, type, "");
}

static LLVMValueRef divide(Gen *g, const IrType *t, const ArithQuotient *q, LLVMValueRef a,
                           LLVMValueRef b) {
    if (q->short_a && q->no_signs && dtype_bits(t->elem) == 64) return divide_words(g, q, a, b);
    return q->no_signs || !is_signed(t) ? divide_unsigned(g, q, a, b) : divide_signed(g, q, a, b);
}

static LLVMValueRef of_two(Gen *g, const char *name, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef t = LLVMTypeOf(a);
    return gen_intrinsic(g, name, 1, &t, 2, (LLVMValueRef[]){a, b});
}

static LLVMValueRef of_one(Gen *g, const char *name, LLVMValueRef x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    return gen_intrinsic(g, name, 1, &t, 1, &x);
}

// The upper half of the 128 bits of a product of vectors, which no target has in one piece: four
// products of words.
static LLVMValueRef upper_of_words(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef mask = int_const(type, UINT32_MAX), by = int_const(type, 32);
    LLVMValueRef a0 = LLVMBuildAnd(g->b, a, mask, ""), a1 = LLVMBuildLShr(g->b, a, by, "");
    LLVMValueRef b0 = LLVMBuildAnd(g->b, b, mask, ""), b1 = LLVMBuildLShr(g->b, b, by, "");
    LLVMValueRef low = LLVMBuildLShr(g->b, LLVMBuildMul(g->b, a0, b0, ""), by, "");
    LLVMValueRef middle = LLVMBuildAdd(g->b, LLVMBuildMul(g->b, a0, b1, ""), low, "");
    LLVMValueRef rest = LLVMBuildAnd(g->b, middle, mask, "");
    LLVMValueRef other = LLVMBuildAdd(g->b, LLVMBuildMul(g->b, a1, b0, ""), rest, "");
    LLVMValueRef high =
        LLVMBuildAdd(g->b, LLVMBuildMul(g->b, a1, b1, ""), LLVMBuildLShr(g->b, middle, by, ""), "");
    return LLVMBuildAdd(g->b, high, LLVMBuildLShr(g->b, other, by, ""), "");
}

// A negative factor counts as 2^64 more in the unsigned product.
static LLVMValueRef upper_signed(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef last = int_const(LLVMTypeOf(a), 63), r = upper_of_words(g, a, b);
    LLVMValueRef more_a = LLVMBuildAnd(g->b, LLVMBuildAShr(g->b, a, last, ""), b, "");
    LLVMValueRef more_b = LLVMBuildAnd(g->b, LLVMBuildAShr(g->b, b, last, ""), a, "");
    return LLVMBuildSub(g->b, LLVMBuildSub(g->b, r, more_a, ""), more_b, "");
}

static LLVMValueRef upper_half(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    unsigned bits = dtype_bits(t->elem);
    if (bits == 64 && LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        return is_signed(t) ? upper_signed(g, a, b) : upper_of_words(g, a, b);
    LLVMTypeRef wide = gen_shaped(LLVMIntTypeInContext(g->context, 2 * bits), t);
    LLVMValueRef x = LLVMBuildIntCast2(g->b, a, wide, is_signed(t), "");
    LLVMValueRef y = LLVMBuildIntCast2(g->b, b, wide, is_signed(t), "");
    LLVMValueRef product = LLVMBuildMul(g->b, x, y, "");
    return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, product, int_const(wide, bits), ""), type, "");
}

static LLVMValueRef integer_binary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a,
                                   LLVMValueRef b) {
    switch (code) {
    case IR_ADD: return LLVMBuildAdd(g->b, a, b, "");
    case IR_SUB: return LLVMBuildSub(g->b, a, b, "");
    case IR_MUL: return LLVMBuildMul(g->b, a, b, "");
    case IR_MULHI: return upper_half(g, t, a, b);
    case IR_DIV: return divide(g, t, &(ArithQuotient){0}, a, b);
    case IR_REM: return divide(g, t, &(ArithQuotient){.remainder = true}, a, b);
    case IR_MIN: return of_two(g, is_signed(t) ? "llvm.smin" : "llvm.umin", a, b);
    case IR_MAX: return of_two(g, is_signed(t) ? "llvm.smax" : "llvm.umax", a, b);
    case IR_AND: return LLVMBuildAnd(g->b, a, b, "");
    case IR_OR: return LLVMBuildOr(g->b, a, b, "");
    case IR_XOR: return LLVMBuildXor(g->b, a, b, "");
    default: break;
    }
    UNREACHABLE("%s of integers", ir_op_info(code)->text);
}

// The type of the count may be wider or narrower than a's. As unsigned, a negative count is large.
static LLVMValueRef shift(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a, LLVMValueRef n) {
    LLVMTypeRef count_type = LLVMTypeOf(n), type = LLVMTypeOf(a);
    uint64_t bits = dtype_bits(t->elem);
    bool signed_right = code == IR_SHR && is_signed(t);
    // On GPUs, LLVM 22 merges the comparison of a wide count and the shift into one instruction,
    // and drops the bits of the count that the instruction ignores: it reads at most 32.
    bool wide = LLVMGetTypeKind(count_type) == LLVMIntegerTypeKind &&
                (LLVMGetIntTypeWidth(count_type) > bits || LLVMGetIntTypeWidth(count_type) > 32);
    if (g->target->splits_vectors && wide)
        n = of_two(g, "llvm.umin", n, int_const(count_type, bits));
    LLVMValueRef fits = LLVMBuildICmp(g->b, LLVMIntULT, n, int_const(count_type, bits), "");
    if (signed_right) n = of_two(g, "llvm.umin", n, int_const(count_type, bits - 1));
    LLVMValueRef count = LLVMBuildIntCast2(g->b, n, type, false, "");
    if (signed_right) return LLVMBuildAShr(g->b, a, count, "");
    LLVMValueRef r =
        code == IR_SHL ? LLVMBuildShl(g->b, a, count, "") : LLVMBuildLShr(g->b, a, count, "");
    return pick(g, fits, r, zero(a));
}

// ---- floats -------------------------------------------------------------------------------------

static bool is_double(LLVMValueRef v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    return LLVMGetTypeKind(t) == LLVMDoubleTypeKind;
}

static LLVMValueRef loosen(Gen *g, LLVMValueRef v) {
    unsigned flags = LLVMFastMathNone;
    bool exact = g->target->exact_double && is_double(v);
    if (g->contract) flags |= LLVMFastMathAllowContract;
    if (g->approx && !exact) flags |= LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal;
    if (flags && LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v))
        LLVMSetFastMathFlags(v, flags);
    return v;
}

// f16 is an integer except around floating-point instructions.
static LLVMValueRef enter_half(Gen *g, const IrType *t, LLVMValueRef v) {
    return t->elem == DTYPE_F16 ? LLVMBuildBitCast(g->b, v, gen_half_type(g, t), "") : v;
}

static LLVMValueRef leave_half(Gen *g, const IrType *t, LLVMValueRef v) {
    return t->elem == DTYPE_F16 ? LLVMBuildBitCast(g->b, v, gen_type(g, t), "") : v;
}

static LLVMValueRef quotient(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef r = NULL;
    if (g->approx && g->target->fast_quotient) r = g->target->fast_quotient(g, t, a, b);
    return r ? r : LLVMBuildFDiv(g->b, a, b, "");
}

static LLVMValueRef min_max_number(Gen *g, LLVMValueRef a, LLVMValueRef b, bool greatest) {
    if (g->target->min_max_number) return g->target->min_max_number(g, a, b, greatest);
    return of_two(g, greatest ? "llvm.maximumnum" : "llvm.minimumnum", a, b);
}

static LLVMValueRef float_binary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a,
                                 LLVMValueRef b) {
    switch (code) {
    case IR_ADD: return LLVMBuildFAdd(g->b, a, b, "");
    case IR_SUB: return LLVMBuildFSub(g->b, a, b, "");
    case IR_MUL: return LLVMBuildFMul(g->b, a, b, "");
    case IR_DIV: return quotient(g, t, a, b);
    case IR_REM: return g->target->remainder(g, t, a, b);
    case IR_MIN: return g->target->min_max(g, t, a, b, false);
    case IR_MAX: return g->target->min_max(g, t, a, b, true);
    case IR_MINNUM: return min_max_number(g, a, b, false);
    case IR_MAXNUM: return min_max_number(g, a, b, true);
    default: break;
    }
    UNREACHABLE("%s of floats", ir_op_info(code)->text);
}

LLVMValueRef gen_binary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    if (!is_float(t)) return integer_binary(g, code, t, a, b);
    LLVMValueRef r = float_binary(g, code, t, enter_half(g, t, a), enter_half(g, t, b));
    return leave_half(g, t, loosen(g, r));
}

IrOpcode gen_reduce_opcode(IrReduce kind, Dtype elem) {
    (void)elem;
    switch (kind) {
    case IR_REDUCE_SUM: return IR_ADD;
    case IR_REDUCE_PROD: return IR_MUL;
    case IR_REDUCE_MIN: return IR_MIN;
    case IR_REDUCE_MAX: return IR_MAX;
    case IR_REDUCE_MINNUM: return IR_MINNUM;
    case IR_REDUCE_MAXNUM: return IR_MAXNUM;
    case IR_REDUCE_ANY: return IR_OR;
    case IR_REDUCE_ALL: return IR_AND;
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_CUSTOM: break;
    }
    return IR_OPCODES;
}

// Clears or flips the sign bit. Formats without a negative zero use its bits for their only NaN.
static LLVMValueRef change_sign(Gen *g, const IrType *t, LLVMValueRef x, bool clear) {
    LLVMTypeRef bits_type = gen_shaped(LLVMIntTypeInContext(g->context, dtype_bits(t->elem)), t);
    LLVMValueRef bits = LLVMBuildBitCast(g->b, x, bits_type, "");
    uint64_t sign = UINT64_C(1) << (dtype_bits(t->elem) - 1);
    LLVMValueRef r = clear ? LLVMBuildAnd(g->b, bits, int_const(bits_type, sign - 1), "")
                           : LLVMBuildXor(g->b, bits, int_const(bits_type, sign), "");
    if (!dtype_float(t->elem)->has_negative_zero) {
        LLVMValueRef rest = LLVMBuildAnd(g->b, bits, int_const(bits_type, sign - 1), "");
        r = pick(g, LLVMBuildICmp(g->b, LLVMIntEQ, rest, zero(rest), ""), bits, r);
    }
    return LLVMBuildBitCast(g->b, r, LLVMTypeOf(x), "");
}

// ---- by op --------------------------------------------------------------------------------------

// The operation on bits, or NULL for another one. A zero has as many zeros as bits.
static LLVMValueRef of_bits(Gen *g, IrOpcode code, LLVMValueRef x) {
    if (code == IR_POPCOUNT) return of_one(g, "llvm.ctpop", x);
    if (code == IR_BREV) return of_one(g, "llvm.bitreverse", x);
    if (code != IR_CLZ && code != IR_CTZ) return NULL;
    LLVMTypeRef type = LLVMTypeOf(x), flag = LLVMInt1TypeInContext(g->context);
    return gen_intrinsic(g, code == IR_CLZ ? "llvm.ctlz" : "llvm.cttz", 1, &type, 2,
                         (LLVMValueRef[]){x, LLVMConstInt(flag, 0, false)});
}

static LLVMValueRef unary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef x) {
    bool clear = code == IR_ABS;
    LLVMValueRef bits = of_bits(g, code, x);
    if (bits) return bits;
    if (code == IR_NOT) return LLVMBuildNot(g->b, x, "");
    if (code == IR_NEG || clear) {
        if (is_float(t)) return change_sign(g, t, x, clear);
        LLVMValueRef minus = LLVMBuildNeg(g->b, x, "");
        if (!clear) return minus;
        if (!is_signed(t)) return x;
        return pick(g, LLVMBuildICmp(g->b, LLVMIntSLT, x, zero(x), ""), minus, x);
    }
    const char *name = code == IR_FLOOR   ? "llvm.floor"
                       : code == IR_CEIL  ? "llvm.ceil"
                       : code == IR_ROUND ? "llvm.roundeven"
                                          : "llvm.sqrt";
    return leave_half(g, t, loosen(g, of_one(g, name, enter_half(g, t, x))));
}

static LLVMIntPredicate integer_predicate(IrOpcode code, bool with_sign) {
    switch (code) {
    case IR_EQ: return LLVMIntEQ;
    case IR_NE: return LLVMIntNE;
    case IR_LT: return with_sign ? LLVMIntSLT : LLVMIntULT;
    case IR_LE: return with_sign ? LLVMIntSLE : LLVMIntULE;
    case IR_GT: return with_sign ? LLVMIntSGT : LLVMIntUGT;
    default: break;
    }
    return with_sign ? LLVMIntSGE : LLVMIntUGE;
}

static LLVMRealPredicate float_predicate(IrOpcode code) {
    switch (code) {
    case IR_EQ: return LLVMRealOEQ;
    case IR_NE: return LLVMRealUNE;
    case IR_LT: return LLVMRealOLT;
    case IR_LE: return LLVMRealOLE;
    case IR_GT: return LLVMRealOGT;
    default: break;
    }
    return LLVMRealOGE;
}

static LLVMValueRef comparison(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a,
                               LLVMValueRef b) {
    if (!is_float(t)) return LLVMBuildICmp(g->b, integer_predicate(code, is_signed(t)), a, b, "");
    return LLVMBuildFCmp(g->b, float_predicate(code), enter_half(g, t, a), enter_half(g, t, b), "");
}

static LLVMValueRef fused(Gen *g, const IrType *t, LLVMValueRef const *operands) {
    LLVMValueRef x[3];
    for (uint32_t i = 0; i < 3; i++) x[i] = enter_half(g, t, operands[i]);
    LLVMTypeRef type = LLVMTypeOf(x[0]);
    return leave_half(g, t, gen_intrinsic(g, "llvm.fma", 1, &type, 3, x));
}

// `t` is the type of a part of the first operand.
static LLVMValueRef elementwise(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef const *x) {
    switch (ir_op_info(code)->rule) {
    case IR_RULE_UNARY: return unary(g, code, t, x[0]);
    case IR_RULE_SHIFT: return shift(g, code, t, x[0], x[1]);
    case IR_RULE_COMPARE: return comparison(g, code, t, x[0], x[1]);
    case IR_RULE_TERNARY: return fused(g, t, x);
    case IR_RULE_SELECT: return pick(g, x[0], x[1], x[2]);
    default: break;
    }
    return gen_binary(g, code, t, x[0], x[1]);
}

// Is it known from its range, or because it is x / y with 0 < y <= x?
static bool is_not_zero(const Gen *g, const IrOp *at, const IrValue *value) {
    IrRange range = ir_range_of(g->ranges, value);
    if (!range.known || range.min > 0 || range.max < 0) return range.known;
    if (!value->def || value->def->code != IR_DIV) return false;
    const IrValue *x = ir_operand(value->def, 0), *y = ir_operand(value->def, 1);
    IrRange below = ir_range_of(g->ranges, y);
    return below.known && below.min > 0 && ir_provably_le(g->ranges, at, y, 0, x);
}

static ArithQuotient known_quotient(const Gen *g, const IrOp *op) {
    const IrType *t = ir_operand(op, 0)->type;
    bool divides = (op->code == IR_DIV || op->code == IR_REM) && !is_float(t);
    if (!divides) return (ArithQuotient){0};
    IrRange a = ir_range_of(g->ranges, ir_operand(op, 0));
    IrRange b = ir_range_of(g->ranges, ir_operand(op, 1));
    bool known = a.known && b.known, no_signs = known && a.min >= 0 && b.min >= 0;
    uint64_t ones = UINT64_MAX >> (64 - dtype_bits(t->elem));
    int64_t large = INT64_C(1) << 22;
    return (ArithQuotient){.divides = true,
                           .remainder = op->code == IR_REM,
                           .no_signs = no_signs,
                           .not_zero = known && is_not_zero(g, op, ir_operand(op, 1)),
                           .below = no_signs && (uint64_t)a.max < ones,
                           .short_a = no_signs && a.max < UINT32_MAX,
                           .short_b = no_signs && b.max <= UINT32_MAX,
                           .small = a.known && a.max < large && a.min > -large,
                           .half = a.known && a.min >= 0 && a.max <= INT32_MAX};
}

// ---- two at once --------------------------------------------------------------------------------

// Do the pairs of the value come from pairs, or from one element each? Other pairs would have to be
// joined first.
static bool is_paired(const IrValue *v) {
    if (!v->def || v->def->code != IR_VEC_SHUFFLE) return true;
    const int64_t *lanes = ir_attr(v->def, IR_ATTR_LANES)->u.ints.items;
    for (uint32_t i = 0; i + 1 < v->type->count; i += 2)
        if (lanes[i + 1] != lanes[i] && (lanes[i] % 2 || lanes[i + 1] != lanes[i] + 1))
            return false;
    return true;
}

static bool goes_in_pairs(const Gen *g, const IrOp *op, const IrType *t) {
    bool has = op->code == IR_ADD || op->code == IR_SUB || op->code == IR_MUL || op->code == IR_FMA;
    if (!g->pairs || !has || t->elem != DTYPE_F32 ||
        gen_part_count(g, op->results[0].type) % 2 != 0)
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!is_paired(ir_operand(op, i))) return false;
    return true;
}

static LLVMValueRef pair_of(Gen *g, LLVMValueRef const x[2]) {
    LLVMValueRef v = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(x[0]), 2));
    for (int32_t i = 0; i < 2; i++) v = LLVMBuildInsertElement(g->b, v, x[i], gen_i32(g, i), "");
    return v;
}

static void elementwise_pair(Gen *g, const IrOp *op, const IrType *t, uint32_t at,
                             LLVMValueRef r[2]) {
    LLVMValueRef x[3] = {0};
    for (uint32_t k = 0; k < op->operand_count; k++) {
        LLVMValueRef both[2];
        for (uint32_t i = 0; i < 2; i++) both[i] = gen_operand_part(g, op, k, at + i);
        x[k] = pair_of(g, both);
    }
    LLVMValueRef v = elementwise(g, op->code, t, x);
    for (int32_t i = 0; i < 2; i++) r[i] = LLVMBuildExtractElement(g->b, v, gen_i32(g, i), "");
}

void gen_elementwise(Gen *g, const IrOp *op) {
    IrType t = gen_part_type(g, ir_operand(op, 0)->type);
    LLVMValueRef *r = gen_define_parts(g, op);
    if (goes_in_pairs(g, op, &t)) {
        for (uint32_t i = 0; i < gen_part_count(g, op->results[0].type); i += 2)
            elementwise_pair(g, op, &t, i, r + i);
        return;
    }
    ArithQuotient known = known_quotient(g, op);
    for (uint32_t i = 0; i < gen_part_count(g, op->results[0].type); i++) {
        LLVMValueRef x[3] = {0};
        for (uint32_t k = 0; k < op->operand_count; k++) x[k] = gen_operand_part(g, op, k, i);
        r[i] = known.divides ? divide(g, &t, &known, x[0], x[1]) : elementwise(g, op->code, &t, x);
    }
}
