// What instruction selection of LLVM 22 makes of floats on AArch64 that has other bits. This runs
// behind LLVM's passes over IR.
//
// - Of -(a * b + c), fused, selection makes -a * b - c, which is +0 and not -0 where the sum is an
//   exact 0. The sum is hidden from the change of sign.
// - Of `x > 0 ? x : 0` and its like, with a constant, selection makes fmaxnm, which is NaN and not
//   the constant where x is a signaling NaN. The constant that is chosen is hidden.
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

// The constant with at least one element of which LLVM knows nothing.
static LLVMValueRef hidden(LLVMBuilderRef b, LLVMValueRef constant) {
    LLVMTypeRef t = LLVMTypeOf(constant);
    if (elem_of(t) == t) return gen_opaque(b, "=w,0", false, constant);
    LLVMValueRef zero = LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(t)), 0, false);
    LLVMValueRef first = gen_opaque(b, "=w,0", false, LLVMGetAggregateElement(constant, 0));
    LLVMValueRef one = LLVMBuildInsertElement(b, constant, first, zero, "");
    for (unsigned i = 1; i < LLVMGetVectorSize(t); i++)
        if (LLVMGetAggregateElement(constant, i) != LLVMGetAggregateElement(constant, 0))
            return one;
    LLVMTypeRef lanes = LLVMVectorType(LLVMTypeOf(zero), LLVMGetVectorSize(t));
    return LLVMBuildShuffleVector(b, one, one, LLVMConstNull(lanes), "");
}

// Where the function begins, so that loops do not make the constant again.
static void hide_choice(LLVMBuilderRef b, LLVMValueRef select) {
    LLVMValueRef compare = LLVMGetOperand(select, 0);
    LLVMTypeKind kind = LLVMGetTypeKind(elem_of(LLVMTypeOf(select)));
    if (!LLVMIsAFCmpInst(compare) || (kind != LLVMFloatTypeKind && kind != LLVMDoubleTypeKind))
        return;
    for (unsigned i = 1; i <= 2; i++) {
        LLVMValueRef chosen = LLVMGetOperand(select, i), other = LLVMGetOperand(select, 3 - i);
        LLVMValueRef x = LLVMGetOperand(compare, 0), y = LLVMGetOperand(compare, 1);
        if (!LLVMIsConstant(chosen) || (chosen != x && chosen != y)) continue;
        if (other != x && other != y) continue;
        LLVMBasicBlockRef block = LLVMGetInstructionParent(select);
        LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block));
        LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(entry));
        LLVMSetOperand(select, i, hidden(b, chosen));
    }
}

void cpu_keep_exact(Module *m) {
    module_keep_choices(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef v = LLVMGetFirstInstruction(k); v; v = LLVMGetNextInstruction(v)) {
                LLVMOpcode op = LLVMGetInstructionOpcode(v);
                if (op == LLVMFNeg) hide_sum(b, v);
                if (op == LLVMSelect) hide_choice(b, v);
            }
    LLVMDisposeBuilder(b);
}
