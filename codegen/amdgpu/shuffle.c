// Shuffles: words of 32 bits from one lane of a wave to another.
#include "codegen/amdgpu/gen.h"

// The first generations with the crossbar and data-parallel primitives, and with xor masks of
// these.
enum { CROSSBAR_SINCE = 8, MASKS_SINCE = 10, WAVE = 64 };

// Data-parallel primitives (DPP) read a register of another lane of the same row of 16, at the cost
// of a move. Returns the control whose effect is an xor of lane numbers, as the ISA documents
// number it; -1: there is none.
static int32_t row_control(uint32_t generation, uint32_t by) {
    enum { QUAD = 0x0, ROW_ROR = 0x120, ROW_MIRROR = 0x140, HALF_MIRROR = 0x141, XMASK = 0x160 };
    static const uint8_t quads[] = {0xe4, 0xb1, 0x4e, 0x1b};  // lanes 0 to 3 xor by, 2 bits each
    if (generation < CROSSBAR_SINCE) return -1;
    if (by < 4) return QUAD | quads[by];
    if (generation >= MASKS_SINCE && by < 16) return (int32_t)(XMASK | by);
    if (by == 7) return HALF_MIRROR;
    if (by == 8) return ROW_ROR | 8;
    return by == 15 ? ROW_MIRROR : -1;
}

static LLVMValueRef by_row(Gen *g, LLVMValueRef word, int32_t control) {
    enum { ALL_ROWS = 0xf };
    LLVMTypeRef type = LLVMTypeOf(word), bit = gpu_int(g, 1);
    LLVMValueRef all = gen_i32(g, ALL_ROWS), yes = LLVMConstInt(bit, 1, false);
    LLVMValueRef args[] = {LLVMGetPoison(type), word, gen_i32(g, control), all, all, yes};
    return gen_intrinsic(g, "llvm.amdgcn.update.dpp", 1, &type, 6, args);
}

// Uses the crossbar of the shared memory, without accessing the memory itself.
static LLVMValueRef by_crossbar(Gen *g, LLVMValueRef word, LLVMValueRef lane) {
    LLVMValueRef bytes = LLVMBuildShl(g->b, lane, gen_i32(g, 2), "");
    return gen_intrinsic(g, "llvm.amdgcn.ds.bpermute", 0, NULL, 2, (LLVMValueRef[]){bytes, word});
}

// The same within 32 lanes; the pattern is in the instruction.
static LLVMValueRef by_pattern(Gen *g, LLVMValueRef word, uint32_t by) {
    enum { KEEP_ALL = 0x1f, XOR_SHIFT = 10 };
    LLVMValueRef pattern = gen_i32(g, (int32_t)(by << XOR_SHIFT | KEEP_ALL));
    return gen_intrinsic(g, "llvm.amdgcn.ds.swizzle", 0, NULL, 2, (LLVMValueRef[]){word, pattern});
}

// Reads the other half of 32 lanes, without the shared memory's crossbar (from gfx1010 on).
static LLVMValueRef other_row(Gen *g, LLVMValueRef word) {
    LLVMTypeRef type = LLVMTypeOf(word);
    LLVMValueRef no = LLVMConstNull(gpu_int(g, 1));
    // Lane l of a row reads lane l of the other: nibbles 0 to 15 in order.
    LLVMValueRef args[] = {
        LLVMGetPoison(type), word, gen_i32(g, 0x76543210), gen_i32(g, (int32_t)0xfedcba98), no, no};
    return gen_intrinsic(g, "llvm.amdgcn.permlanex16", 1, &type, 6, args);
}

// Exchanges through one word of shared memory for each thread, after the program's own memory. A
// wave's accesses of shared memory are executed in order. The wave barrier emits no instruction; it
// keeps LLVM from moving the accesses.
static LLVMValueRef by_memory(Gen *g, LLVMValueRef word, LLVMValueRef lane) {
    LLVMTypeRef type = gpu_int(g, 32);
    LLVMValueRef thread = amdgpu_thread_id(g), first = gen_i32(g, ~(WAVE - 1));
    LLVMValueRef from = LLVMBuildAnd(g->b, lane, gen_i32(g, WAVE - 1), "");
    from = LLVMBuildOr(g->b, LLVMBuildAnd(g->b, thread, first, ""), from, "");
    LLVMValueRef words = amdgpu_exchange_words(g);
    LLVMValueRef own = LLVMBuildInBoundsGEP2(g->b, type, words, &thread, 1, "");
    LLVMSetVolatile(LLVMBuildStore(g->b, word, own), true);
    gen_intrinsic(g, "llvm.amdgcn.wave.barrier", 0, NULL, 0, NULL);
    LLVMValueRef other = LLVMBuildInBoundsGEP2(g->b, type, words, &from, 1, "");
    LLVMValueRef r = LLVMBuildLoad2(g->b, type, other, "");
    LLVMSetVolatile(r, true);
    gen_intrinsic(g, "llvm.amdgcn.wave.barrier", 0, NULL, 0, NULL);
    return r;
}

static LLVMValueRef by_lane(Gen *g, LLVMValueRef word, LLVMValueRef lane) {
    if (gpu_gen(g)->machine.chip->generation < CROSSBAR_SINCE) return by_memory(g, word, lane);
    return by_crossbar(g, word, lane);
}

static LLVMValueRef lane_number(Gen *g) {
    LLVMValueRef thread = amdgpu_thread_id(g);
    int32_t lanes = (int32_t)gpu_gen(g)->machine.warp;
    return LLVMBuildAnd(g->b, thread, gen_i32(g, lanes - 1), "");
}

LLVMValueRef amdgpu_shuffle(Gen *g, LLVMValueRef word, LLVMValueRef lane, uint32_t by) {
    uint32_t generation = gpu_gen(g)->machine.chip->generation;
    if (lane) return by_lane(g, word, lane);
    if (!by) return word;
    int32_t control = row_control(generation, by);
    if (control >= 0) return by_row(g, word, control);
    if (by == 16 && generation >= MASKS_SINCE) return other_row(g, word);
    if (by < 32) return by_pattern(g, word, by);
    return by_lane(g, word, LLVMBuildXor(g->b, lane_number(g), gen_i32(g, (int32_t)by), ""));
}
