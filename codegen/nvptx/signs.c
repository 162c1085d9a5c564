// Keeps the sign and payload of NaN through negation and magnitude: gen.h.
//
// Our code flips and clears sign bits of integers. LLVM makes `fneg` and `fabs` of that, since for
// it these keep every bit. ptxas makes additions of them, which turn every NaN of f32, f16 and bf16
// into one. Where only arithmetic reads the result, that is of no importance, and the instruction
// that reads it changes the sign for free. All other uses get the operation on integers back.
#include <string.h>

#include "codegen/common/module.h"
#include "codegen/nvptx/gen.h"

static bool begins(const char *name, size_t size, const char *with) {
    size_t length = strlen(with);
    return size >= length && !memcmp(name, with, length);
}

// The name of the intrinsic that `v` calls; "" if it calls none.
static const char *intrinsic_of(LLVMValueRef v, size_t *size) {
    LLVMValueRef called = LLVMIsACallInst(v) ? LLVMGetCalledValue(v) : NULL;
    *size = 0;
    if (!called || !LLVMIsAFunction(called) || !LLVMGetIntrinsicID(called)) return "";
    return LLVMGetValueName2(called, size);
}

static bool is_magnitude(LLVMValueRef v) {
    size_t size;
    const char *name = intrinsic_of(v, &size);
    return begins(name, size, "llvm.fabs.");
}

// Does it read its operand as a number, so that one NaN is like another?
static bool reads_number(LLVMValueRef user) {
    static const char *const numeric[] = {
        "llvm.fma.",       "llvm.fmuladd.",   "llvm.sqrt.",      "llvm.minnum.", "llvm.maxnum.",
        "llvm.minimum",    "llvm.maximum",    "llvm.floor.",     "llvm.ceil.",   "llvm.trunc.",
        "llvm.rint.",      "llvm.roundeven.", "llvm.nearbyint.", "llvm.fabs.",   "llvm.fptosi.sat",
        "llvm.fptoui.sat", "llvm.is.fpclass"};
    if (!LLVMIsAInstruction(user)) return false;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMFNeg:
    case LLVMFCmp:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMFPTrunc:
    case LLVMFPExt: return true;
    case LLVMCall: break;
    default: return false;
    }
    size_t size;
    const char *name = intrinsic_of(user, &size);
    for (size_t i = 0; i < sizeof numeric / sizeof *numeric; i++)
        if (begins(name, size, numeric[i])) return true;
    return false;
}

static LLVMValueRef first_reader_of_bits(LLVMValueRef v) {
    LLVMUseRef use = LLVMGetFirstUse(v);
    while (use && reads_number(LLVMGetUser(use))) use = LLVMGetNextUse(use);
    return use ? LLVMGetUser(use) : NULL;
}

// Instruction selection, too, makes `fneg` and `fabs` of operations on integers that it sees to be
// a float's bits.
static LLVMValueRef hidden_word(LLVMBuilderRef b, LLVMTypeRef word, LLVMValueRef x) {
    unsigned bits = LLVMGetIntTypeWidth(word);
    const char *same = bits == 64 ? "=l,0" : bits == 32 ? "=r,0" : "=h,0";
    return gen_opaque(b, same, false, LLVMBuildBitCast(b, x, word, ""));
}

// Changes the sign of a float, or of two halves that are one word.
static LLVMValueRef word_on_bits(LLVMContextRef context, LLVMBuilderRef b, LLVMValueRef x,
                                 bool clear) {
    LLVMTypeRef type = LLVMTypeOf(x);
    bool two = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    unsigned bits = two ? 32 : module_float_bits(type);
    uint64_t sign = two ? 0x80008000 : UINT64_C(1) << (bits - 1);
    LLVMTypeRef word = LLVMIntTypeInContext(context, bits);
    LLVMValueRef mask = LLVMConstInt(word, clear ? ~sign : sign, false);
    LLVMValueRef r = hidden_word(b, word, x);
    r = clear ? LLVMBuildAnd(b, r, mask, "") : LLVMBuildXor(b, r, mask, "");
    return LLVMBuildBitCast(b, r, type, "");
}

// The operation on integers, after `v`.
static LLVMValueRef on_bits(LLVMContextRef context, LLVMBuilderRef b, LLVMValueRef v) {
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef x = LLVMGetOperand(v, 0);
    bool clear = is_magnitude(v), vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(v));
    unsigned count = vector ? LLVMGetVectorSize(type) : 1;
    if (count == 1 || (count == 2 && module_float_bits(LLVMGetElementType(type)) == 16))
        return word_on_bits(context, b, x, clear);
    LLVMValueRef r = LLVMGetPoison(type);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef at = LLVMConstInt(LLVMInt32TypeInContext(context), i, false);
        LLVMValueRef one = word_on_bits(context, b, LLVMBuildExtractElement(b, x, at, ""), clear);
        r = LLVMBuildInsertElement(b, r, one, at, "");
    }
    return r;
}

static bool keep_bits(LLVMContextRef context, LLVMBuilderRef b, LLVMValueRef v) {
    LLVMValueRef kept = NULL;
    for (LLVMValueRef user; (user = first_reader_of_bits(v));) {
        if (!kept) kept = on_bits(context, b, v);
        for (int i = 0; i < LLVMGetNumOperands(user); i++)
            if (LLVMGetOperand(user, (unsigned)i) == v) LLVMSetOperand(user, (unsigned)i, kept);
    }
    return kept != NULL;
}

static bool keep_in(LLVMContextRef context, LLVMBuilderRef b, LLVMBasicBlockRef block) {
    bool changed = false;
    for (LLVMValueRef v = LLVMGetLastInstruction(block); v; v = LLVMGetPreviousInstruction(v))
        if (LLVMGetInstructionOpcode(v) == LLVMFNeg || is_magnitude(v))
            changed |= keep_bits(context, b, v);
    return changed;
}

// A change makes users of what it reads: again, until nothing changes.
void nvptx_keep_signs(Module *m) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    for (bool changed = true; changed;) {
        changed = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
            for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
                changed |= keep_in(m->context, b, k);
    }
    LLVMDisposeBuilder(b);
}
