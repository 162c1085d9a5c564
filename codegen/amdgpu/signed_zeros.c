// Keeps the sign of zero where LLVM 22's instruction selection loses it. This runs after LLVM's
// passes over IR, which would undo it.
//
// - Selection turns a product of f32 that is rounded to f16 into one mixed fma, a * b + 0, and -0
//   becomes +0. Here the product is written as a * b + -0, which keeps the sign and becomes the
//   same instruction. A quotient by infinity becomes such a product, too; the infinity is hidden.
// - 0 - x becomes -x if it is an operand, so 0 - 0 is -0; and x * -y + 0 becomes 0 - x * y. The 0
//   is hidden from selection.
//
// Selection also breaks integers: it turns bytes that are put together into one v_perm, and treats
// the sign bits that a right shift fills in as zeros. The count of such a shift is hidden.
#include <math.h>

#include "base/dtype.h"
#include "base/vec.h"
#include "codegen/amdgpu/gen.h"

// ---- products that are rounded ------------------------------------------------------------------

typedef VEC(LLVMValueRef) Values;

static bool is_f32(LLVMValueRef v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    return LLVMGetTypeKind(t) == LLVMFloatTypeKind;
}

// The f32 products and quotients that selection may combine with their rounding, through moves of
// lanes and changes of sign.
static Values rounded_products(Module *m, LLVMValueRef rounding) {
    Values from = {0}, products = {0};
    vec_push(m->scratch, &from, LLVMGetOperand(rounding, 0));
    while (from.count) {
        LLVMValueRef v = vec_pop(&from);
        if (!LLVMIsAInstruction(v) || !is_f32(v)) continue;
        LLVMOpcode op = LLVMGetInstructionOpcode(v);
        if (op == LLVMFMul || op == LLVMFDiv) vec_push(m->scratch, &products, v);
        bool moves = op == LLVMFNeg || op == LLVMExtractElement || op == LLVMInsertElement ||
                     op == LLVMShuffleVector;
        for (int i = 0; moves && i < LLVMGetNumOperands(v); i++)
            vec_push(m->scratch, &from, LLVMGetOperand(v, (unsigned)i));
    }
    return products;
}

// If the product is rounded directly, its other uses keep the plain product, which is cheaper.
static void keep_sign(Module *m, LLVMBuilderRef b, LLVMValueRef product, LLVMValueRef rounding) {
    static const char name[] = "llvm.fma";
    LLVMTypeRef t = LLVMTypeOf(product);
    LLVMValueRef f =
        LLVMGetIntrinsicDeclaration(m->module, LLVMLookupIntrinsicID(name, sizeof name - 1), &t, 1);
    LLVMValueRef x[] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1),
                        gen_splat_of(t, LLVMConstReal(LLVMFloatTypeInContext(m->context), -0.0))};
    LLVMPositionBuilderBefore(b, product);
    LLVMValueRef fused = LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, x, 3, "");
    LLVMSetFastMathFlags(fused, LLVMGetFastMathFlags(product));
    if (LLVMGetOperand(rounding, 0) == product)
        LLVMSetOperand(rounding, 0, fused);
    else
        LLVMReplaceAllUsesWith(product, fused);  // stays, unused: it may be listed twice
}

// ---- differences from zero ----------------------------------------------------------------------

static LLVMTypeRef elem_of(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

// A constant whose value LLVM does not know.
static LLVMValueRef hidden(Module *m, LLVMBuilderRef b, LLVMTypeRef t, uint64_t bits) {
    bool wide = LLVMGetTypeKind(t) == LLVMDoubleTypeKind;
    unsigned width = LLVMGetTypeKind(t) == LLVMHalfTypeKind ? 16 : wide ? 64 : 32;
    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind) width = LLVMGetIntTypeWidth(t);
    LLVMTypeRef word = LLVMIntTypeInContext(m->context, width == 64 ? 64 : 32);
    LLVMValueRef x = gen_opaque(b, "=s,0", false, LLVMConstInt(word, bits, false));
    if (width < 32) x = LLVMBuildTrunc(b, x, LLVMIntTypeInContext(m->context, width), "");
    return LLVMBuildBitCast(b, x, t, "");
}

static bool is_zero(LLVMValueRef v) {
    return LLVMIsConstant(v) && v == LLVMConstNull(LLVMTypeOf(v));
}

// A shift by such a count makes whole bytes of sign bits.
static bool is_count(LLVMValueRef v) {
    enum { BYTE = 8 };
    if (!LLVMIsAConstantInt(v)) return false;
    unsigned long long count = LLVMConstIntGetZExtValue(v);
    return count && count % BYTE == 0;
}

// Has the divisor an exact reciprocal?
static bool is_divisor(LLVMValueRef v) {
    const double half = 0.5;
    LLVMBool loses;
    int exponent;
    if (!LLVMIsAConstantFP(v)) return false;
    double x = LLVMConstRealGetDouble(v, &loses);
    return isinf(x) || fabs(frexp(x, &exponent)) == half;
}

static uint64_t bits_of(LLVMValueRef v) {
    LLVMBool loses;
    if (LLVMIsAConstantInt(v)) return LLVMConstIntGetZExtValue(v);
    if (!LLVMIsAConstantFP(v) || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMFloatTypeKind) return 0;
    return dtype_from_double(DTYPE_F32, LLVMConstRealGetDouble(v, &loses), false);
}

// Hides the elements of a constant operand for which `which` is true.
static void hide(Module *m, LLVMBuilderRef b, LLVMValueRef op, unsigned operand,
                 bool (*which)(LLVMValueRef)) {
    LLVMValueRef from = LLVMGetOperand(op, operand), now = from;
    LLVMTypeRef t = LLVMTypeOf(from), elem = elem_of(t);
    if (!LLVMIsConstant(from)) return;
    LLVMPositionBuilderBefore(b, op);
    for (unsigned i = 0; i < (elem == t ? 1 : LLVMGetVectorSize(t)); i++) {
        LLVMValueRef one = elem == t ? from : LLVMGetAggregateElement(from, i), h;
        if (!one || !which(one)) continue;
        h = hidden(m, b, elem, bits_of(one));
        LLVMValueRef at = LLVMConstInt(LLVMInt32TypeInContext(m->context), i, false);
        now = elem == t ? h : LLVMBuildInsertElement(b, now, h, at, "");
    }
    LLVMSetOperand(op, operand, now);
}

// ---- signs that are shifted in ------------------------------------------------------------------

// Selection does not take values apart into bytes that are used as numbers only.
static bool is_taken_apart(LLVMValueRef shift) {
    for (LLVMUseRef use = LLVMGetFirstUse(shift); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user)) continue;
        LLVMOpcode op = LLVMGetInstructionOpcode(user);
        bool number = op == LLVMAdd || op == LLVMSub || op == LLVMMul || op == LLVMICmp ||
                      op == LLVMSIToFP || op == LLVMGetElementPtr;
        if (!number) return true;
    }
    return false;
}

// ---- the pass -----------------------------------------------------------------------------------

static void keep_signs_in(Module *m, LLVMBuilderRef b, LLVMBasicBlockRef block) {
    enum { FIRST_MIXED = 9 };
    for (LLVMValueRef v = LLVMGetFirstInstruction(block); v; v = LLVMGetNextInstruction(v)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(v);
        if (op == LLVMFSub || op == LLVMFAdd) hide(m, b, v, 0, is_zero);
        if (op == LLVMFAdd) hide(m, b, v, 1, is_zero);
        if (op == LLVMAShr && is_taken_apart(v)) hide(m, b, v, 1, is_count);
        if (op != LLVMFPTrunc || chip_of(m->options->target.gpu)->generation < FIRST_MIXED)
            continue;
        Values products = rounded_products(m, v);
        for (size_t i = 0; i < products.count; i++)
            if (LLVMGetInstructionOpcode(products.data[i]) == LLVMFMul)
                keep_sign(m, b, products.data[i], v);
            else
                hide(m, b, products.data[i], 1, is_divisor);
    }
}

void amdgpu_keep_signed_zeros(Module *m) {
    module_protect_selects(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            keep_signs_in(m, b, k);
    LLVMDisposeBuilder(b);
}
