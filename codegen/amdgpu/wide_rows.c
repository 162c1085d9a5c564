// Keeps instructions of 64 bits from reading values of other lanes of a row (DPP). Processors do
// not have these instructions, except for a few from gfx90a on. LLVM 22 makes them nevertheless: it
// folds the 32-bit move into v_cvt_f64_f32 and v_cvt_f64_i32 (gfx8, gfx900, gfx12), v_lshlrev_b64
// (gfx11, gfx12) and v_mad_u64_u32 (gfx12). The resulting bytes are not a valid instruction; some
// do not even have a name. See LLVM's pull requests 220834 and 222216.
//
// The value is hidden here, so that its move stays a separate instruction. Sums, minima and bit
// operations of 64-bit numbers are done by halves, and keep the fold.
#include <string.h>

#include "base/vec.h"
#include "codegen/amdgpu/gen.h"

enum { MOST = 64 };

typedef VEC(LLVMValueRef) Values;

static LLVMTypeRef elem_of(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

static bool is_double(LLVMValueRef v) {
    return LLVMGetTypeKind(elem_of(LLVMTypeOf(v))) == LLVMDoubleTypeKind;
}

static unsigned int_width(LLVMValueRef v) {
    LLVMTypeRef t = elem_of(LLVMTypeOf(v));
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t) : 0;
}

static bool calls(LLVMValueRef v, const char *intrinsic) {
    LLVMValueRef f = LLVMIsACallInst(v) ? LLVMGetCalledValue(v) : NULL;
    unsigned id = f && LLVMIsAFunction(f) ? LLVMGetIntrinsicID(f) : 0;
    return id && id == LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
}

// May `user` become an instruction of 64 bits that has x as an operand of 32 bits? Products of 32
// bits may: followed by a sum, they become v_mad_u64_u32.
static bool is_wide(LLVMValueRef user, LLVMValueRef x) {
    enum { WORD = 32, WIDE = 64 };
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMMul: return int_width(user) >= WORD;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: return int_width(user) == WIDE && LLVMGetOperand(user, 1) == x;
    case LLVMGetElementPtr: return LLVMGetOperand(user, 0) != x;
    case LLVMSIToFP:
    case LLVMUIToFP:
    case LLVMFPExt:
    case LLVMCall: return is_double(user);
    default: return false;
    }
}

// Instructions that selection looks through.
static bool moves(LLVMValueRef user) {
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMBitCast:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector:
    case LLVMAnd:
    case LLVMOr:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMFNeg: return true;
    case LLVMCall: return calls(user, "llvm.fabs");
    default: return false;
    }
}

// True if too many steps are needed to find out.
static bool is_read_wide(Module *m, LLVMValueRef row) {
    Values from = {0};
    vec_push(m->scratch, &from, row);
    for (uint32_t steps = 0; from.count; steps++) {
        LLVMValueRef x = vec_pop(&from);
        for (LLVMUseRef use = LLVMGetFirstUse(x); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            if (!LLVMIsAInstruction(user)) continue;
            if (steps > MOST || is_wide(user, x)) return true;
            if (moves(user)) vec_push(m->scratch, &from, user);
        }
    }
    return false;
}

static void hide_rows(Module *m, LLVMBuilderRef b, LLVMBasicBlockRef block) {
    for (LLVMValueRef v = LLVMGetFirstInstruction(block), next; v; v = next) {
        next = LLVMGetNextInstruction(v);
        if (!calls(v, "llvm.amdgcn.update.dpp") || !is_read_wide(m, v)) continue;
        LLVMPositionBuilderBefore(b, next);  // not NULL: v is not a terminator
        LLVMValueRef hidden = gen_opaque(b, "=v,0", false, v);
        LLVMReplaceAllUsesWith(v, hidden);
        LLVMSetOperand(hidden, 0, v);
    }
}

void amdgpu_keep_rows_narrow(Module *m) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            hide_rows(m, b, k);
    LLVMDisposeBuilder(b);
}
