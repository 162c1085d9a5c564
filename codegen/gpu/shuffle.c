// Exchanges between threads, in words of 32 bits; packing and reduction of vectors.
#include <string.h>

#include "codegen/gpu/gen.h"

// Any value as an integer of its bits, and back.
static LLVMValueRef to_bits(Gen *g, const IrType *t, LLVMValueRef v) {
    if (t->kind == IR_PTR) return LLVMBuildPtrToInt(g->b, v, gpu_int(g, 64), "");
    return LLVMBuildBitCast(g->b, v, gpu_int(g, t->elem == DTYPE_BOOL ? 1 : dtype_bits(t->elem)),
                            "");
}

static LLVMValueRef from_bits(Gen *g, const IrType *t, LLVMValueRef v) {
    IrType part = gen_part_type(g, t);
    if (t->kind == IR_PTR) return gen_pointer(g, v, gen_type(g, &part));
    return LLVMBuildBitCast(g->b, v, gen_type(g, &part), "");
}

static LLVMValueRef shuffle_one(Gen *g, const IrType *t, LLVMValueRef v, LLVMValueRef lane,
                                uint32_t by) {
    LLVMValueRef bits = to_bits(g, t, v);
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(bits));
    LLVMTypeRef word = gpu_int(g, 32);
    if (width <= 32) {
        LLVMValueRef x = LLVMBuildZExt(g->b, bits, word, "");
        x = gpu_gen(g)->ops->shuffle(g, x, lane, by);
        return from_bits(g, t, LLVMBuildTrunc(g->b, x, gpu_int(g, width), ""));
    }
    LLVMTypeRef pair = LLVMVectorType(word, 2);
    LLVMValueRef halves = LLVMBuildBitCast(g->b, bits, pair, ""), r = LLVMGetPoison(pair);
    for (int32_t i = 0; i < 2; i++) {
        LLVMValueRef x = LLVMBuildExtractElement(g->b, halves, gen_i32(g, i), "");
        r = LLVMBuildInsertElement(g->b, r, gpu_gen(g)->ops->shuffle(g, x, lane, by), gen_i32(g, i),
                                   "");
    }
    return from_bits(g, t, LLVMBuildBitCast(g->b, r, gpu_int(g, 64), ""));
}

// Shuffles several narrow elements, which share a word.
static void shuffle_packed(Gen *g, const IrType *t, uint32_t count, const LLVMValueRef *parts,
                           LLVMValueRef lane, uint32_t by, LLVMValueRef *r) {
    unsigned bits = dtype_bits(t->elem);
    LLVMTypeRef type = LLVMVectorType(gpu_int(g, bits), 32 / bits);
    LLVMValueRef word = LLVMConstNull(type);
    for (uint32_t i = 0; i < count; i++)
        word =
            LLVMBuildInsertElement(g->b, word, to_bits(g, t, parts[i]), gen_i32(g, (int32_t)i), "");
    word = LLVMBuildBitCast(g->b, word, gpu_int(g, 32), "");
    word = LLVMBuildBitCast(g->b, gpu_gen(g)->ops->shuffle(g, word, lane, by), type, "");
    for (uint32_t i = 0; i < count; i++)
        r[i] = from_bits(g, t, LLVMBuildExtractElement(g->b, word, gen_i32(g, (int32_t)i), ""));
}

static uint32_t per_word(const IrType *t) {
    if (t->kind == IR_PTR || t->elem == DTYPE_BOOL || dtype_bits(t->elem) > 16) return 1;
    return 32 / dtype_bits(t->elem);
}

void gpu_shuffle(Gen *g, const IrOp *op) {
    const IrType *t = op->results[0].type;
    LLVMValueRef *r = gen_define_parts(g, op), lane = gen_operand(g, op, 1), some[32];
    uint32_t by = (uint32_t)ir_attr_int(op, IR_ATTR_LANE);
    for (uint32_t i = 0; i < t->count;) {
        uint32_t count = per_word(t) < t->count - i ? per_word(t) : t->count - i;
        for (uint32_t k = 0; k < count; k++) some[k] = gen_operand_part(g, op, 0, i + k);
        if (count == 1)
            r[i] = shuffle_one(g, t, some[0], lane, by);
        else
            shuffle_packed(g, t, count, some, lane, by, r + i);
        i += count;
    }
}

void gpu_pack(Gen *g, const IrOp *op) {
    LLVMValueRef *r = gen_define_parts(g, op);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *x = ir_operand(op, i);
        memcpy(r, gen_parts(g, x), x->type->count * sizeof *r);
        r += x->type->count;
    }
}

// Combines halves until one register is left, which is the order that the op defines.
void gpu_reduce(Gen *g, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0);
    IrType t = gen_part_type(g, x->type);
    IrOpcode code = gen_reduce_opcode((IrReduce)ir_attr_int(op, IR_ATTR_REDUCE), t.elem);
    LLVMValueRef *parts = arena_new(g->arena, LLVMValueRef, x->type->count);
    memcpy(parts, gen_parts(g, x), x->type->count * sizeof *parts);
    for (uint32_t n = x->type->count / 2; n; n /= 2)
        for (uint32_t i = 0; i < n; i++) parts[i] = gen_binary(g, code, &t, parts[i], parts[i + n]);
    gen_define(g, op, parts[0]);
}
