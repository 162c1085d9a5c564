// thread.mma: the warp's matrix instruction of its shape and types.
#include "codegen/gpu/check.h"
#include "codegen/nvptx/gen.h"

enum { MAX_WORDS = 32 };

// Elements in the form that the instruction takes: 32-bit words, pairs of halves, or unchanged.
static uint32_t words_of(Gen *g, const IrValue *v, bool factor, LLVMValueRef *words) {
    Dtype elem = v->type->elem;
    LLVMValueRef *parts = gen_parts(g, v);
    uint32_t bits = dtype_bits(elem), count = v->type->count;
    LLVMTypeRef word = LLVMInt32TypeInContext(g->context);
    bool halves = elem == DTYPE_F16;
    if (bits >= 32) {
        for (uint32_t i = 0; i < count; i++)
            words[i] = factor && bits == 32 ? LLVMBuildBitCast(g->b, parts[i], word, "") : parts[i];
        return count;
    }
    uint32_t per = 32 / bits;
    LLVMTypeRef pair = LLVMVectorType(LLVMHalfTypeInContext(g->context), 2);
    for (uint32_t i = 0; i < count / per; i++) {
        LLVMValueRef all = nvptx_word(g, parts + (size_t)i * per, bits, false);
        words[i] = halves ? LLVMBuildBitCast(g->b, all, pair, "") : all;
    }
    return count / per;
}

// The fields of the result, back to elements.
static void results_of(Gen *g, const IrOp *op, LLVMValueRef all) {
    const IrType *t = op->results[0].type;
    LLVMValueRef *r = gen_define_parts(g, op);
    if (dtype_bits(t->elem) >= 32) {
        for (uint32_t i = 0; i < t->count; i++) r[i] = LLVMBuildExtractValue(g->b, all, i, "");
        return;
    }
    LLVMTypeRef pair = LLVMVectorType(LLVMInt16TypeInContext(g->context), 2);
    for (uint32_t i = 0; i < t->count; i++) {
        LLVMValueRef word = LLVMBuildExtractValue(g->b, all, i / 2, "");
        word = LLVMBuildBitCast(g->b, word, pair, "");
        r[i] = LLVMBuildExtractElement(g->b, word, gen_i32(g, (int32_t)(i % 2)), "");
    }
}

void nvptx_mma(Gen *g, const IrOp *op) {
    const char *name = gpu_matrix_op(&gpu_gen(g)->machine, op)->intrinsic;
    LLVMValueRef words[3 * MAX_WORDS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 3; i++) count += words_of(g, ir_operand(op, i), i < 2, words + count);
    results_of(g, op, gen_intrinsic(g, name, 0, NULL, count, words));
}
