// C's fmod where neither the machine nor a library has it: an exact long division of the
// significands, some bits at a time. Both numbers are whole multiples of the smaller one's last
// place, so the remainder of these whole numbers is the result's significand.
#include "codegen/common/gen.h"

// The numbers of a format. `fraction`: bits after the hidden one. `chunk`: how far a significand
// below the divisor's can be shifted left in 64 bits.
typedef struct RemainderFormat {
    LLVMTypeRef bits;
    unsigned width, fraction, chunk;
} RemainderFormat;

static LLVMValueRef float_const(const RemainderFormat *f, uint64_t value) {
    return LLVMConstInt(f->bits, value, false);
}

static LLVMValueRef less(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(g->b, LLVMIntULT, a, b, "");
}

static LLVMValueRef pick(Gen *g, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(g->b, c, a, b, "");
}

static uint64_t low_bits(unsigned count) { return (UINT64_C(1) << count) - 1; }

// The exponent, 1 for subnormals, and the significand of a positive number.
static LLVMValueRef exponent(Gen *g, const RemainderFormat *f, LLVMValueRef x) {
    LLVMValueRef e = LLVMBuildLShr(g->b, x, float_const(f, f->fraction), "");
    return pick(g, LLVMBuildICmp(g->b, LLVMIntEQ, e, float_const(f, 0), ""), float_const(f, 1), e);
}

static LLVMValueRef significand(Gen *g, const RemainderFormat *f, LLVMValueRef x) {
    uint64_t hidden = UINT64_C(1) << f->fraction;
    LLVMValueRef rest = LLVMBuildAnd(g->b, x, float_const(f, hidden - 1), "");
    LLVMValueRef whole = LLVMBuildOr(g->b, rest, float_const(f, hidden), "");
    return pick(g, less(g, x, float_const(f, hidden)), rest, whole);
}

// m · 2^places mod divisor, in 64 bits.
static LLVMValueRef divide(Gen *g, const RemainderFormat *f, LLVMValueRef m, LLVMValueRef places,
                           LLVMValueRef divisor) {
    LLVMTypeRef wide = LLVMInt64TypeInContext(g->context);
    LLVMValueRef d = LLVMBuildZExt(g->b, divisor, wide, ""), zero = gen_i64(g, 0);
    LLVMValueRef top = gen_dividend(g, LLVMBuildZExt(g->b, m, wide, ""));
    LLVMValueRef first = LLVMBuildURem(g->b, top, d, "");
    LLVMValueRef left = LLVMBuildZExt(g->b, places, wide, "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef loop = gen_block(g, "rem"), after = gen_block(g, "end");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, left, zero, ""), loop, after);
    LLVMPositionBuilderAtEnd(g->b, loop);
    LLVMValueRef r = LLVMBuildPhi(g->b, wide, ""), n = LLVMBuildPhi(g->b, wide, "");
    LLVMValueRef chunk = gen_i64(g, f->chunk), step = pick(g, less(g, n, chunk), n, chunk);
    LLVMValueRef next = LLVMBuildURem(g->b, LLVMBuildShl(g->b, r, step, ""), d, "");
    LLVMValueRef rest = LLVMBuildSub(g->b, n, step, "");
    LLVMAddIncoming(r, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMAddIncoming(n, (LLVMValueRef[]){left, rest}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, rest, zero, ""), loop, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    LLVMValueRef result = LLVMBuildPhi(g->b, wide, "");
    LLVMAddIncoming(result, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    return LLVMBuildTrunc(g->b, result, f->bits, "");
}

// Encodes m · 2^(e - 1) in units of the least positive number. m is shifted left until it has the
// hidden bit or e is 1; then (e - 1) is added at the place of the exponent.
static LLVMValueRef encode(Gen *g, const RemainderFormat *f, LLVMValueRef m, LLVMValueRef e) {
    LLVMTypeRef type = f->bits;
    LLVMValueRef none = LLVMConstInt(LLVMInt1TypeInContext(g->context), 0, false);
    LLVMValueRef zeros = gen_intrinsic(g, "llvm.ctlz", 1, &type, 2, (LLVMValueRef[]){m, none});
    LLVMValueRef free = LLVMBuildSub(g->b, zeros, float_const(f, f->width - 1 - f->fraction), "");
    LLVMValueRef most = LLVMBuildSub(g->b, e, float_const(f, 1), "");
    LLVMValueRef by = pick(g, less(g, free, most), free, most);
    LLVMValueRef high =
        LLVMBuildShl(g->b, LLVMBuildSub(g->b, most, by, ""), float_const(f, f->fraction), "");
    LLVMValueRef bits = LLVMBuildAdd(g->b, LLVMBuildShl(g->b, m, by, ""), high, "");
    return pick(g, LLVMBuildICmp(g->b, LLVMIntEQ, m, float_const(f, 0), ""), float_const(f, 0),
                bits);
}

LLVMValueRef gen_remainder(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    bool wide = t->elem == DTYPE_F64;
    RemainderFormat f = {
        .width = wide ? 64 : 32, .fraction = wide ? 52 : 23, .chunk = wide ? 11 : 40};
    f.bits = LLVMIntTypeInContext(g->context, f.width);
    uint64_t infinite = (low_bits(f.width - 1) >> f.fraction) << f.fraction;
    LLVMValueRef whole = LLVMBuildBitCast(g->b, a, f.bits, "");
    LLVMValueRef mask = float_const(&f, low_bits(f.width - 1));
    LLVMValueRef x = LLVMBuildAnd(g->b, whole, mask, "");
    LLVMValueRef y = LLVMBuildAnd(g->b, LLVMBuildBitCast(g->b, b, f.bits, ""), mask, "");
    LLVMValueRef sign = LLVMBuildXor(g->b, whole, x, "");
    LLVMValueRef good = LLVMBuildAnd(g->b, less(g, x, float_const(&f, infinite)),
                                     less(g, y, float_const(&f, infinite + 1)), "");
    good = LLVMBuildAnd(g->b, good, LLVMBuildICmp(g->b, LLVMIntNE, y, float_const(&f, 0), ""), "");
    LLVMValueRef divides = LLVMBuildAnd(g->b, good, LLVMBuildICmp(g->b, LLVMIntUGE, x, y, ""), "");
    // If nothing is divided, the loop computes 1 mod 1, which is short.
    LLVMValueRef one = float_const(&f, UINT64_C(1) << f.fraction);
    LLVMValueRef top = pick(g, divides, x, one), bottom = pick(g, divides, y, one);
    LLVMValueRef e = exponent(g, &f, bottom);
    LLVMValueRef places = LLVMBuildSub(g->b, exponent(g, &f, top), e, "");
    LLVMValueRef m = divide(g, &f, significand(g, &f, top), places, significand(g, &f, bottom));
    LLVMValueRef r = LLVMBuildOr(g->b, encode(g, &f, m, e), sign, "");
    r = pick(g, divides, r, pick(g, good, whole, float_const(&f, infinite | infinite >> 1)));
    return LLVMBuildBitCast(g->b, r, LLVMTypeOf(a), "");
}
