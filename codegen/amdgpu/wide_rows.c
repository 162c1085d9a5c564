// Values of other lanes of a row (DPP), where an instruction of 64 bits would read them. Processors
// have no such instructions, but for a few from gfx90a on. LLVM 22 makes them all the same: it
// folds the move of 32 bits into v_cvt_f64_f32 and v_cvt_f64_i32 (gfx8, gfx900, gfx12),
// v_lshlrev_b64 (gfx11, gfx12) and v_mad_u64_u32 (gfx12). The bytes are no instruction, or it has
// not even a name. LLVM's pull requests 220834 and 222216 are about this.
//
// The value is hidden here, so that its move stays a move. Sums, minima and bits of 64-bit numbers
// go by halves, and keep the fold.
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

// May `user` become an instruction of 64 bits of which x is an operand of 32? Products of 32 bits
// may: with a sum behind them they are v_mad_u64_u32, too.
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

// What selection looks through.
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

// Where that takes too many steps to tell, it is so.
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
        LLVMPositionBuilderBefore(b, next);  // a block ends with something else
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
