// Elementwise arithmetic, by language rules 20 to 23.
#include <stddef.h>

#include "base/os.h"
#include "codegen/cpu/gen.h"

static LLVMValueRef zero(LLVMValueRef like) { return LLVMConstNull(LLVMTypeOf(like)); }

static LLVMValueRef number(LLVMTypeRef t, uint64_t value) {
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

// x/0 = 0, x%0 = x; MIN/-1 wraps: no divisor that the machine would stop at.
static LLVMValueRef divide(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b, bool rest) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef none = zero(a), one = number(type, 1);
    LLVMValueRef by_zero = LLVMBuildICmp(g->b, LLVMIntEQ, b, none, "");
    if (!is_signed(t)) {
        LLVMValueRef safe = pick(g, by_zero, one, b);
        LLVMValueRef r = rest ? LLVMBuildURem(g->b, a, safe, "") : LLVMBuildUDiv(g->b, a, safe, "");
        return pick(g, by_zero, rest ? a : none, r);
    }
    LLVMValueRef by_minus = LLVMBuildICmp(g->b, LLVMIntEQ, b, LLVMConstAllOnes(type), "");
    LLVMValueRef safe = pick(g, LLVMBuildOr(g->b, by_zero, by_minus, ""), one, b);
    LLVMValueRef r = rest ? LLVMBuildSRem(g->b, a, safe, "") : LLVMBuildSDiv(g->b, a, safe, "");
    if (rest) return pick(g, by_zero, a, r);  // by -1 as by 1: 0
    r = pick(g, by_minus, LLVMBuildNeg(g->b, a, ""), r);
    return pick(g, by_zero, none, r);
}

static LLVMValueRef of_two(Gen *g, const char *name, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef t = LLVMTypeOf(a);
    return gen_intrinsic(g, name, 1, &t, 2, (LLVMValueRef[]){a, b});
}

static LLVMValueRef of_one(Gen *g, const char *name, LLVMValueRef x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    return gen_intrinsic(g, name, 1, &t, 1, &x);
}

static LLVMValueRef integer_binary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a,
                                   LLVMValueRef b) {
    switch ((unsigned)code) {
    case IR_ADD: return LLVMBuildAdd(g->b, a, b, "");
    case IR_SUB: return LLVMBuildSub(g->b, a, b, "");
    case IR_MUL: return LLVMBuildMul(g->b, a, b, "");
    case IR_DIV: return divide(g, t, a, b, false);
    case IR_REM: return divide(g, t, a, b, true);
    case IR_MIN: return of_two(g, is_signed(t) ? "llvm.smin" : "llvm.umin", a, b);
    case IR_MAX: return of_two(g, is_signed(t) ? "llvm.smax" : "llvm.umax", a, b);
    case IR_AND: return LLVMBuildAnd(g->b, a, b, "");
    case IR_OR: return LLVMBuildOr(g->b, a, b, "");
    case IR_XOR: return LLVMBuildXor(g->b, a, b, "");
    }
    UNREACHABLE("%s of integers", ir_op_info(code)->text);
}

// The count's type may be wider or narrower than a's; seen as unsigned, a negative one is large.
static LLVMValueRef shift(Gen *g, const IrOp *op) {
    LLVMValueRef a = gen_operand(g, op, 0), n = gen_operand(g, op, 1);
    const IrType *t = ir_operand(op, 0)->type;
    LLVMTypeRef count_type = LLVMTypeOf(n), type = LLVMTypeOf(a);
    uint64_t bits = dtype_bits(t->elem);
    bool signed_right = op->code == IR_SHR && is_signed(t);
    LLVMValueRef fits = LLVMBuildICmp(g->b, LLVMIntULT, n, number(count_type, bits), "");
    if (signed_right) n = of_two(g, "llvm.umin", n, number(count_type, bits - 1));
    LLVMValueRef count = LLVMBuildIntCast2(g->b, n, type, false, "");
    if (signed_right) return LLVMBuildAShr(g->b, a, count, "");
    LLVMValueRef r =
        op->code == IR_SHL ? LLVMBuildShl(g->b, a, count, "") : LLVMBuildLShr(g->b, a, count, "");
    return pick(g, fits, r, zero(a));
}

// ---- floats -------------------------------------------------------------------------------------

static LLVMValueRef loosen(Gen *g, LLVMValueRef v) {
    unsigned flags = LLVMFastMathNone;
    if (g->func->math & IR_MATH_CONTRACT) flags |= LLVMFastMathAllowContract;
    if (g->func->math & IR_MATH_APPROX)
        flags |= LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal;
    if (flags && LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v))
        LLVMSetFastMathFlags(v, flags);
    return v;
}

// f16 is an integer but around instructions.
static LLVMValueRef enter_half(Gen *g, const IrType *t, LLVMValueRef v) {
    return t->elem == DTYPE_F16 ? LLVMBuildBitCast(g->b, v, gen_half_type(g, t), "") : v;
}

static LLVMValueRef leave_half(Gen *g, const IrType *t, LLVMValueRef v) {
    return t->elem == DTYPE_F16 ? LLVMBuildBitCast(g->b, v, gen_type(g, t), "") : v;
}

// C's fmod is the runtime's, lane by lane.
static LLVMValueRef float_remainder(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    bool wide = t->elem == DTYPE_F64;
    LLVMTypeRef elem = gen_elem_type(g, t->elem);
    LLVMTypeRef type = LLVMFunctionType(elem, (LLVMTypeRef[]){elem, elem}, 2, false);
    size_t field = wide ? offsetof(CpuServices, fmod) : offsetof(CpuServices, fmodf);
    LLVMValueRef f = gen_service(g, field, LLVMPointerTypeInContext(g->context, 0));
    if (!t->rank) return LLVMBuildCall2(g->b, type, f, (LLVMValueRef[]){a, b}, 2, "");
    LLVMValueRef r = LLVMGetPoison(LLVMTypeOf(a));
    for (uint32_t i = 0; i < t->count; i++) {
        LLVMValueRef lane = gen_i32(g, (int32_t)i);
        LLVMValueRef pair[] = {LLVMBuildExtractElement(g->b, a, lane, ""),
                               LLVMBuildExtractElement(g->b, b, lane, "")};
        LLVMValueRef one = LLVMBuildCall2(g->b, type, f, pair, 2, "");
        r = LLVMBuildInsertElement(g->b, r, one, lane, "");
    }
    return r;
}

static LLVMValueRef some_lanes(Gen *g, LLVMValueRef a, LLVMValueRef b, uint32_t first,
                               uint32_t count) {
    LLVMValueRef *lanes = arena_new(g->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) lanes[i] = gen_i32(g, (int32_t)(first + i));
    if (!b) b = LLVMGetPoison(LLVMTypeOf(a));
    return LLVMBuildShuffleVector(g->b, a, b, LLVMConstVector(lanes, count), "");
}

// AVX-512's vrange knows that -0 is below +0; of a number and a NaN it gives the number.
static LLVMValueRef range_512(Gen *g, bool wide, LLVMValueRef a, LLVMValueRef b, bool greatest) {
    enum { LEAST = 4, GREATEST = 5, THIS_ROUNDING = 4 };
    uint32_t count = LLVMGetVectorSize(LLVMTypeOf(a)), lanes = wide ? 8 : 16;
    if (count > lanes) {
        uint32_t half = count / 2;
        LLVMValueRef low = range_512(g, wide, some_lanes(g, a, NULL, 0, half),
                                     some_lanes(g, b, NULL, 0, half), greatest);
        LLVMValueRef high = range_512(g, wide, some_lanes(g, a, NULL, half, half),
                                      some_lanes(g, b, NULL, half, half), greatest);
        return some_lanes(g, low, high, 0, count);
    }
    LLVMTypeRef mask = LLVMIntTypeInContext(g->context, lanes);
    LLVMValueRef x[6] = {a,
                         b,
                         gen_i32(g, greatest ? GREATEST : LEAST),
                         zero(a),
                         LLVMConstAllOnes(mask),
                         gen_i32(g, THIS_ROUNDING)};
    return gen_intrinsic(
        g, wide ? "llvm.x86.avx512.mask.range.pd.512" : "llvm.x86.avx512.mask.range.ps.512", 0,
        NULL, 6, x);
}

// The least or greatest, NaN if one of them is.
static LLVMValueRef extreme(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b,
                            bool greatest) {
    bool wide = t->elem == DTYPE_F64;
    bool fills = t->rank && t->count >= (wide ? 8u : 16u) && (wide || t->elem == DTYPE_F32);
    if (g->machine.cpu.level != CPU_X86_64_V4 || !fills)
        return of_two(g, greatest ? "llvm.maximum" : "llvm.minimum", a, b);
    LLVMValueRef r = range_512(g, wide, a, b, greatest);
    LLVMValueRef unordered = LLVMBuildFCmp(g->b, LLVMRealUNO, a, b, "");
    return pick(g, unordered, LLVMBuildFAdd(g->b, a, b, ""), r);
}

static LLVMValueRef float_binary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a,
                                 LLVMValueRef b) {
    switch ((unsigned)code) {
    case IR_ADD: return LLVMBuildFAdd(g->b, a, b, "");
    case IR_SUB: return LLVMBuildFSub(g->b, a, b, "");
    case IR_MUL: return LLVMBuildFMul(g->b, a, b, "");
    case IR_DIV: return LLVMBuildFDiv(g->b, a, b, "");
    case IR_REM: return float_remainder(g, t, a, b);
    case IR_MIN: return extreme(g, t, a, b, false);
    case IR_MAX: return extreme(g, t, a, b, true);
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
    case IR_REDUCE_ANY: return IR_OR;
    case IR_REDUCE_ALL: return IR_AND;
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_CUSTOM: break;
    }
    return IR_OPCODES;
}

// Of the sign bit; the formats without a negative zero use its bits for their one NaN.
static LLVMValueRef change_sign(Gen *g, const IrType *t, LLVMValueRef x, bool clear) {
    LLVMTypeRef bits_type = gen_shaped(LLVMIntTypeInContext(g->context, dtype_bits(t->elem)), t);
    LLVMValueRef bits = LLVMBuildBitCast(g->b, x, bits_type, "");
    uint64_t sign = UINT64_C(1) << (dtype_bits(t->elem) - 1);
    LLVMValueRef r = clear ? LLVMBuildAnd(g->b, bits, number(bits_type, sign - 1), "")
                           : LLVMBuildXor(g->b, bits, number(bits_type, sign), "");
    if (!dtype_float(t->elem)->has_negative_zero) {
        LLVMValueRef rest = LLVMBuildAnd(g->b, bits, number(bits_type, sign - 1), "");
        r = pick(g, LLVMBuildICmp(g->b, LLVMIntEQ, rest, zero(rest), ""), bits, r);
    }
    return LLVMBuildBitCast(g->b, r, LLVMTypeOf(x), "");
}

// ---- by op --------------------------------------------------------------------------------------

static LLVMValueRef unary(Gen *g, const IrOp *op) {
    const IrType *t = ir_operand(op, 0)->type;
    LLVMValueRef x = gen_operand(g, op, 0);
    bool clear = op->code == IR_ABS;
    if (op->code == IR_NOT) return LLVMBuildNot(g->b, x, "");
    if (op->code == IR_NEG || clear) {
        if (is_float(t)) return change_sign(g, t, x, clear);
        LLVMValueRef minus = LLVMBuildNeg(g->b, x, "");
        if (!clear) return minus;
        if (!is_signed(t)) return x;
        return pick(g, LLVMBuildICmp(g->b, LLVMIntSLT, x, zero(x), ""), minus, x);
    }
    const char *name = op->code == IR_FLOOR   ? "llvm.floor"
                       : op->code == IR_CEIL  ? "llvm.ceil"
                       : op->code == IR_ROUND ? "llvm.roundeven"
                                              : "llvm.sqrt";
    return leave_half(g, t, loosen(g, of_one(g, name, enter_half(g, t, x))));
}

static LLVMIntPredicate integer_predicate(IrOpcode code, bool with_sign) {
    switch ((unsigned)code) {
    case IR_EQ: return LLVMIntEQ;
    case IR_NE: return LLVMIntNE;
    case IR_LT: return with_sign ? LLVMIntSLT : LLVMIntULT;
    case IR_LE: return with_sign ? LLVMIntSLE : LLVMIntULE;
    case IR_GT: return with_sign ? LLVMIntSGT : LLVMIntUGT;
    }
    return with_sign ? LLVMIntSGE : LLVMIntUGE;
}

static LLVMRealPredicate float_predicate(IrOpcode code) {
    switch ((unsigned)code) {
    case IR_EQ: return LLVMRealOEQ;
    case IR_NE: return LLVMRealUNE;
    case IR_LT: return LLVMRealOLT;
    case IR_LE: return LLVMRealOLE;
    case IR_GT: return LLVMRealOGT;
    }
    return LLVMRealOGE;
}

static LLVMValueRef comparison(Gen *g, const IrOp *op) {
    const IrType *t = ir_operand(op, 0)->type;
    LLVMValueRef a = gen_operand(g, op, 0), b = gen_operand(g, op, 1);
    if (!is_float(t))
        return LLVMBuildICmp(g->b, integer_predicate(op->code, is_signed(t)), a, b, "");
    return LLVMBuildFCmp(g->b, float_predicate(op->code), enter_half(g, t, a), enter_half(g, t, b),
                         "");
}

static LLVMValueRef fused(Gen *g, const IrOp *op) {
    const IrType *t = ir_operand(op, 0)->type;
    LLVMValueRef x[3];
    for (uint32_t i = 0; i < 3; i++) x[i] = enter_half(g, t, gen_operand(g, op, i));
    LLVMTypeRef type = LLVMTypeOf(x[0]);
    return leave_half(g, t, gen_intrinsic(g, "llvm.fma", 1, &type, 3, x));
}

void gen_elementwise(Gen *g, const IrOp *op) {
    LLVMValueRef r;
    switch (ir_op_info(op->code)->rule) {
    case IR_RULE_UNARY: r = unary(g, op); break;
    case IR_RULE_SHIFT: r = shift(g, op); break;
    case IR_RULE_COMPARE: r = comparison(g, op); break;
    case IR_RULE_TERNARY: r = fused(g, op); break;
    case IR_RULE_SELECT:
        r = pick(g, gen_operand(g, op, 0), gen_operand(g, op, 1), gen_operand(g, op, 2));
        break;
    default:  // of two operands of one type
        r = gen_binary(g, op->code, ir_operand(op, 0)->type, gen_operand(g, op, 0),
                       gen_operand(g, op, 1));
    }
    gen_define(g, op, r);
}
