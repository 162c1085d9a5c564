// Prevents changes of floats by LLVM 22's instruction selection for AArch64. This runs after LLVM's
// passes over IR.
//
// Selection turns a fused -(a * b + c) into -a * b - c, which is +0 instead of -0 if the sum is
// exactly 0. The sum is hidden from the negation.
#include "codegen/common/module.h"
#include "codegen/cpu/gen.h"

static LLVMTypeRef elem_of(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

static bool is_fused_sum(LLVMValueRef v) {
    static const char name[] = "llvm.fma";
    if (!LLVMIsACallInst(v)) return false;
    LLVMValueRef called = LLVMGetCalledValue(v);
    return LLVMIsAFunction(called) &&
           LLVMGetIntrinsicID(called) == LLVMLookupIntrinsicID(name, sizeof name - 1);
}

static void hide_sum(LLVMBuilderRef b, LLVMValueRef minus) {
    LLVMValueRef sum = LLVMGetOperand(minus, 0);
    if (!is_fused_sum(sum) || elem_of(LLVMTypeOf(sum)) != LLVMTypeOf(sum)) return;
    LLVMPositionBuilderBefore(b, minus);
    LLVMSetOperand(minus, 0, gen_opaque(b, "=w,0", false, sum));
}

void cpu_keep_exact(Module *m) {
    module_protect_selects(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef v = LLVMGetFirstInstruction(k); v; v = LLVMGetNextInstruction(v))
                if (LLVMGetInstructionOpcode(v) == LLVMFNeg) hide_sum(b, v);
    LLVMDisposeBuilder(b);
}
