// Elements of 8 and 16 bits as words.
//
// LLVM 22 shares parts of vectors between words, through words of which only these parts are
// defined. That is correct, but the code then reads registers that are partly undefined. The warp
// machine tracks whole registers only, so it would report them. LLVM leaves adjacent elements of
// one vector as they are; other elements are joined here.
#include "codegen/nvptx/gen.h"

// Are all parts adjacent elements of one vector, or constants?
static bool are_together(LLVMValueRef const *parts, uint32_t count) {
    LLVMValueRef from = NULL;
    bool constant = true;
    for (uint32_t i = 0; i < count; i++) constant = constant && LLVMIsConstant(parts[i]);
    for (uint32_t i = 0; !constant && i < count; i++) {
        if (!LLVMIsAExtractElementInst(parts[i])) return false;
        LLVMValueRef vector = LLVMGetOperand(parts[i], 0), at = LLVMGetOperand(parts[i], 1);
        if (i && vector != from) return false;
        from = vector;
        LLVMValueRef first = LLVMGetOperand(parts[0], 1);
        if (LLVMConstIntGetZExtValue(at) != LLVMConstIntGetZExtValue(first) + i) return false;
    }
    return true;
}

bool nvptx_separate_parts(LLVMValueRef const *parts, uint32_t bits, bool stored) {
    if (bits == 8 || stored) return !are_together(parts, 32 / bits);
    return parts[0] == parts[1] && !LLVMIsConstant(parts[0]);
}

static LLVMValueRef chosen_bytes(Gen *g, LLVMValueRef a, LLVMValueRef b, int32_t selector) {
    LLVMValueRef args[] = {a, b, gen_i32(g, selector)};
    return gen_intrinsic(g, "llvm.nvvm.prmt", 0, NULL, 3, args);
}

LLVMValueRef nvptx_word(Gen *g, LLVMValueRef const *parts, uint32_t bits, bool stored) {
    enum { LOW_BYTES = 0x3340, LOW_HALVES = 0x5410 };
    uint32_t per = 32 / bits;
    LLVMTypeRef word = LLVMInt32TypeInContext(g->context);
    if (!nvptx_separate_parts(parts, bits, stored)) {
        LLVMValueRef all =
            LLVMGetPoison(LLVMVectorType(LLVMIntTypeInContext(g->context, bits), per));
        for (uint32_t i = 0; i < per; i++)
            all = LLVMBuildInsertElement(g->b, all, parts[i], gen_i32(g, (int32_t)i), "");
        return LLVMBuildBitCast(g->b, all, word, "");
    }
    LLVMValueRef wide[4] = {NULL};
    for (uint32_t i = 0; i < per; i++) wide[i] = LLVMBuildZExt(g->b, parts[i], word, "");
    if (bits == 16) return chosen_bytes(g, wide[0], wide[1], LOW_HALVES);
    return chosen_bytes(g, chosen_bytes(g, wide[0], wide[1], LOW_BYTES),
                        chosen_bytes(g, wide[2], wide[3], LOW_BYTES), LOW_HALVES);
}
