// The sign of zero, where instruction selection of LLVM 22 loses it. This runs behind LLVM's passes
// over IR, which would undo it.
//
// - Of a product of f32 that is rounded to f16 selection makes one mixed fma, a * b + 0, so that -0
//   becomes +0. The product is written as a * b + -0 here, which is the product with its sign: it
//   becomes the same instruction.
// - 0 - x becomes -x where it is an operand, so that 0 - 0 is -0. The 0 is hidden from selection.
#include "base/vec.h"
#include "codegen/amdgpu/gen.h"

// ---- products that are rounded ------------------------------------------------------------------

typedef VEC(LLVMValueRef) Values;

static bool is_f32(LLVMValueRef v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    return LLVMGetTypeKind(t) == LLVMFloatTypeKind;
}

// The f32 products whose rounding selection may see, through moves of lanes and changes of sign.
static Values rounded_products(Module *m, LLVMValueRef rounding) {
    Values from = {0}, products = {0};
    vec_push(m->scratch, &from, LLVMGetOperand(rounding, 0));
    while (from.count) {
        LLVMValueRef v = vec_pop(&from);
        if (!LLVMIsAInstruction(v) || !is_f32(v)) continue;
        LLVMOpcode op = LLVMGetInstructionOpcode(v);
        if (op == LLVMFMul) vec_push(m->scratch, &products, v);
        bool moves = op == LLVMFNeg || op == LLVMExtractElement || op == LLVMInsertElement ||
                     op == LLVMShuffleVector;
        for (int i = 0; moves && i < LLVMGetNumOperands(v); i++)
            vec_push(m->scratch, &from, LLVMGetOperand(v, (unsigned)i));
    }
    return products;
}

// Other uses of a product that is rounded at once keep it: a product alone is the cheaper one.
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
        LLVMReplaceAllUsesWith(product, fused);  // it may be listed twice: it stays, unused
}

// ---- differences from zero ----------------------------------------------------------------------

static LLVMTypeRef elem_of(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

// +0 of a float type, of which LLVM knows nothing.
static LLVMValueRef hidden_zero(Module *m, LLVMBuilderRef b, LLVMTypeRef t) {
    bool wide = LLVMGetTypeKind(t) == LLVMDoubleTypeKind;
    LLVMTypeRef word = LLVMIntTypeInContext(m->context, wide ? 64 : 32);
    LLVMValueRef zero = gen_opaque(b, "=s,0", false, LLVMConstNull(word));
    if (LLVMGetTypeKind(t) == LLVMHalfTypeKind)
        zero = LLVMBuildTrunc(b, zero, LLVMInt16TypeInContext(m->context), "");
    return LLVMBuildBitCast(b, zero, t, "");
}

static bool is_zero(LLVMValueRef v) {
    return LLVMIsConstant(v) && v == LLVMConstNull(LLVMTypeOf(v));
}

static void hide_zeros(Module *m, LLVMBuilderRef b, LLVMValueRef difference) {
    LLVMValueRef from = LLVMGetOperand(difference, 0);
    LLVMTypeRef t = LLVMTypeOf(from);
    if (!LLVMIsConstant(from)) return;
    LLVMPositionBuilderBefore(b, difference);
    if (is_zero(from) && elem_of(t) == t) LLVMSetOperand(difference, 0, hidden_zero(m, b, t));
    for (unsigned i = 0; elem_of(t) != t && i < LLVMGetVectorSize(t); i++) {
        LLVMValueRef one = LLVMGetAggregateElement(LLVMGetOperand(difference, 0), i);
        LLVMValueRef at = LLVMConstInt(LLVMInt32TypeInContext(m->context), i, false);
        if (!one || !is_zero(one)) continue;
        from = LLVMBuildInsertElement(b, from, hidden_zero(m, b, elem_of(t)), at, "");
    }
    if (elem_of(t) != t) LLVMSetOperand(difference, 0, from);
}

// ---- all ----------------------------------------------------------------------------------------

static void keep_signs_in(Module *m, LLVMBuilderRef b, LLVMBasicBlockRef block) {
    enum { FIRST_MIXED = 0x900 };
    for (LLVMValueRef v = LLVMGetFirstInstruction(block); v; v = LLVMGetNextInstruction(v)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(v);
        if (op == LLVMFSub) hide_zeros(m, b, v);
        if (op != LLVMFPTrunc || m->options->target.gpu.number < FIRST_MIXED) continue;
        Values products = rounded_products(m, v);
        for (size_t i = 0; i < products.count; i++) keep_sign(m, b, products.data[i], v);
    }
}

void amdgpu_keep_signed_zeros(Module *m) {
    module_keep_choices(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            keep_signs_in(m, b, k);
    LLVMDisposeBuilder(b);
}
