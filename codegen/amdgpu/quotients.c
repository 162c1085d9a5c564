// Quotients of f64, with one more step than LLVM 22 makes.
//
// Before its last step, LLVM's quotient is the numerator times the reciprocal, rounded. It may be
// one unit off even if the true quotient is a double. The sum of the last step is then within
// 2^-105 of that double, which is good enough for all normal results. If the result is subnormal,
// the double can be a tie. The sum is then on one side of the tie by chance, and about one tie in
// twenty is rounded incorrectly. One more remainder and correction make the quotient the nearest
// double. If that is the true quotient, the last step adds 0, and ties go to even.
//
// The first GPUs (gfx6) have a defect in v_div_scale, and LLVM has a workaround; we leave their
// code as it is.
#include <string.h>

#include "codegen/amdgpu/gen.h"

enum { FIRST_WHOLE = 7 };  // generation

typedef struct AmdQuotient {
    Module *m;
    LLVMBuilderRef b;
    LLVMTypeRef type;  // double
} AmdQuotient;

static LLVMValueRef call(const AmdQuotient *q, const char *name, unsigned count,
                         LLVMValueRef *args) {
    LLVMTypeRef t = q->type;
    LLVMValueRef f =
        LLVMGetIntrinsicDeclaration(q->m->module, LLVMLookupIntrinsicID(name, strlen(name)), &t, 1);
    return LLVMBuildCall2(q->b, LLVMGlobalGetValueType(f), f, args, count, "");
}

static LLVMValueRef fused(const AmdQuotient *q, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
    return call(q, "llvm.fma", 3, (LLVMValueRef[]){x, y, z});
}

// The numerator or the denominator, scaled so that no intermediate result leaves the range.
static LLVMValueRef scaled(const AmdQuotient *q, LLVMValueRef x, LLVMValueRef y, bool numerator) {
    LLVMTypeRef bit = LLVMInt1TypeInContext(q->m->context);
    return call(q, "llvm.amdgcn.div.scale", 3,
                (LLVMValueRef[]){x, y, LLVMConstInt(bit, numerator, false)});
}

static LLVMValueRef divided(const AmdQuotient *q, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef below = LLVMBuildExtractValue(q->b, scaled(q, x, y, false), 0, "");
    LLVMValueRef minus = LLVMBuildFNeg(q->b, below, ""), one = LLVMConstReal(q->type, 1);
    LLVMValueRef r = call(q, "llvm.amdgcn.rcp", 1, &below);
    for (int i = 0; i < 2; i++) r = fused(q, r, fused(q, minus, r, one), r);
    LLVMValueRef top = scaled(q, x, y, true), above = LLVMBuildExtractValue(q->b, top, 0, "");
    LLVMValueRef by = LLVMBuildExtractValue(q->b, top, 1, "");
    LLVMValueRef n = LLVMBuildFMul(q->b, above, r, "");
    n = fused(q, fused(q, minus, n, above), r, n);
    LLVMValueRef rest = fused(q, minus, n, above);
    n = call(q, "llvm.amdgcn.div.fmas", 4, (LLVMValueRef[]){rest, r, n, by});
    return call(q, "llvm.amdgcn.div.fixup", 3, (LLVMValueRef[]){n, y, x});
}

static void divide(const AmdQuotient *q, LLVMValueRef division) {
    LLVMValueRef x = LLVMGetOperand(division, 0), y = LLVMGetOperand(division, 1);
    LLVMTypeRef t = LLVMTypeOf(division), index = LLVMInt32TypeInContext(q->m->context);
    LLVMPositionBuilderBefore(q->b, division);
    LLVMValueRef r = NULL;
    if (t == q->type) {
        r = divided(q, x, y);
    } else {
        r = LLVMGetPoison(t);
        for (unsigned i = 0; i < LLVMGetVectorSize(t); i++) {
            LLVMValueRef at = LLVMConstInt(index, i, false);
            LLVMValueRef one = divided(q, LLVMBuildExtractElement(q->b, x, at, ""),
                                       LLVMBuildExtractElement(q->b, y, at, ""));
            r = LLVMBuildInsertElement(q->b, r, one, at, "");
        }
    }
    LLVMReplaceAllUsesWith(division, r);
    LLVMInstructionEraseFromParent(division);
}

// LLVM translates divisions that may be approximate.
static bool is_exact_division(const AmdQuotient *q, LLVMValueRef v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    if (LLVMGetInstructionOpcode(v) != LLVMFDiv) return false;
    if (t != q->type &&
        !(LLVMGetTypeKind(t) == LLVMVectorTypeKind && LLVMGetElementType(t) == q->type))
        return false;
    return !(LLVMGetFastMathFlags(v) & (LLVMFastMathAllowReciprocal | LLVMFastMathApproxFunc));
}

void amdgpu_divide(Module *m) {
    if (chip_of(m->options->target.gpu)->generation < FIRST_WHOLE) return;
    AmdQuotient q = {m, LLVMCreateBuilderInContext(m->context),
                     LLVMDoubleTypeInContext(m->context)};
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef v = LLVMGetFirstInstruction(k), next; v; v = next) {
                next = LLVMGetNextInstruction(v);
                if (is_exact_division(&q, v)) divide(&q, v);
            }
    LLVMDisposeBuilder(q.b);
}
