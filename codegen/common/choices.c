// Keeps selects that look like min or max from becoming one: module.h.
#include "codegen/common/module.h"

unsigned module_float_bits(LLVMTypeRef elem) {
    switch (LLVMGetTypeKind(elem)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return 16;
    case LLVMFloatTypeKind: return 32;
    case LLVMDoubleTypeKind: return 64;
    default: return 0;
    }
}

// The type of integers of the same width; NULL if the type is not a float.
static LLVMTypeRef bits_type(LLVMContextRef context, LLVMTypeRef type) {
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    unsigned bits = module_float_bits(vector ? LLVMGetElementType(type) : type);
    if (!bits) return NULL;
    LLVMTypeRef elem = LLVMIntTypeInContext(context, bits);
    return vector ? LLVMVectorType(elem, LLVMGetVectorSize(type)) : elem;
}

// Constants count as the same: LLVM treats zeros of both signs so, and it does no harm to keep one
// select too many.
static bool is_same(LLVMValueRef x, LLVMValueRef y) {
    return x == y || (LLVMIsConstant(x) && LLVMIsConstant(y));
}

static bool is_min_max_select(LLVMValueRef select) {
    LLVMValueRef when = LLVMIsAFCmpInst(LLVMGetOperand(select, 0));
    if (!when) return false;
    LLVMValueRef x = LLVMGetOperand(when, 0), y = LLVMGetOperand(when, 1);
    LLVMValueRef then = LLVMGetOperand(select, 1), other = LLVMGetOperand(select, 2);
    return (is_same(x, then) && is_same(y, other)) || (is_same(x, other) && is_same(y, then));
}

static void select_as_bits(LLVMContextRef context, LLVMBuilderRef b, LLVMValueRef select) {
    LLVMTypeRef type = LLVMTypeOf(select), bits = bits_type(context, type);
    if (!bits || !is_min_max_select(select)) return;
    LLVMPositionBuilderBefore(b, select);
    LLVMValueRef x = LLVMBuildBitCast(b, LLVMGetOperand(select, 1), bits, "");
    LLVMValueRef y = LLVMBuildBitCast(b, LLVMGetOperand(select, 2), bits, "");
    LLVMValueRef choice = LLVMBuildSelect(b, LLVMGetOperand(select, 0), x, y, "");
    LLVMReplaceAllUsesWith(select, LLVMBuildBitCast(b, choice, type, ""));
    LLVMInstructionEraseFromParent(select);
}

void module_protect_selects(Module *m) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
             block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef op = LLVMGetFirstInstruction(block), next; op; op = next) {
                next = LLVMGetNextInstruction(op);
                if (LLVMGetInstructionOpcode(op) == LLVMSelect) select_as_bits(m->context, b, op);
            }
    LLVMDisposeBuilder(b);
}
