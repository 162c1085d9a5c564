// Choices that look like min or max with a zero.
//
// Of `x < 0 ? x : 0` instruction selection of LLVM 22 makes a minimum, though the sign of zero may
// differ: -0 is not below 0, so the choice is +0, the minimum -0. It does so of strict comparisons
// only. They become their inverse here, behind LLVM's passes over IR: `!(x >= 0) ? …`.
#include "codegen/common/module.h"

static bool is_any_zero(LLVMValueRef v) {
    if (!LLVMIsConstant(v)) return false;
    LLVMTypeRef t = LLVMTypeOf(v);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) {
        for (unsigned i = 0; i < LLVMGetVectorSize(t); i++) {
            LLVMValueRef one = LLVMGetAggregateElement(v, i);
            if (one && is_any_zero(one)) return true;
        }
        return false;
    }
    LLVMBool loses;
    return LLVMIsAConstantFP(v) && LLVMConstRealGetDouble(v, &loses) == 0;
}

static LLVMRealPredicate inverse(LLVMRealPredicate p) {
    switch (p) {
    case LLVMRealOLT: return LLVMRealUGE;
    case LLVMRealOGT: return LLVMRealULE;
    case LLVMRealULT: return LLVMRealOGE;
    case LLVMRealUGT: return LLVMRealOLE;
    default: return LLVMRealPredicateFalse;  // not strict
    }
}

static void keep_choice(LLVMBuilderRef b, LLVMValueRef select) {
    LLVMValueRef compare = LLVMGetOperand(select, 0);
    LLVMValueRef chosen = LLVMGetOperand(select, 1), other = LLVMGetOperand(select, 2);
    if (!LLVMIsAFCmpInst(compare) || (!is_any_zero(chosen) && !is_any_zero(other))) return;
    LLVMValueRef x = LLVMGetOperand(compare, 0), y = LLVMGetOperand(compare, 1);
    LLVMRealPredicate p = inverse(LLVMGetFCmpPredicate(compare));
    if (p == LLVMRealPredicateFalse || (!is_any_zero(x) && !is_any_zero(y))) return;
    LLVMPositionBuilderBefore(b, select);
    LLVMSetOperand(select, 0, LLVMBuildFCmp(b, p, x, y, ""));
    LLVMSetOperand(select, 1, other);
    LLVMSetOperand(select, 2, chosen);
}

void module_keep_choices(Module *m) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef v = LLVMGetFirstInstruction(k); v; v = LLVMGetNextInstruction(v))
                if (LLVMGetInstructionOpcode(v) == LLVMSelect) keep_choice(b, v);
    LLVMDisposeBuilder(b);
}
