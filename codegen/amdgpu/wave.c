// What the threads of a wave and of a block do together: shuffles, barriers.
#include <string.h>

#include "codegen/amdgpu/gen.h"

// ---- shuffles: words of 32 bits -----------------------------------------------------------------

// Generations from which there are a crossbar and primitives, masks of primitives.
enum { CROSSBAR_SINCE = 8, MASKS_SINCE = 10, WAVE = 64 };

// Data-parallel primitives read a register of another lane of the same row of 16, at the price of a
// move. The controls that are an xor, as the ISA documents number them.
static int32_t row_control(uint32_t generation, uint32_t by) {
    enum { QUAD = 0x0, ROW_ROR = 0x120, ROW_MIRROR = 0x140, HALF_MIRROR = 0x141, XMASK = 0x160 };
    static const uint8_t quads[] = {0xe4, 0xb1, 0x4e, 0x1b};  // lanes 0 to 3 xor by, two bits each
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

// Through the crossbar of the shared memory, of which none is used.
static LLVMValueRef by_crossbar(Gen *g, LLVMValueRef word, LLVMValueRef lane) {
    LLVMValueRef bytes = LLVMBuildShl(g->b, lane, gen_i32(g, 2), "");
    return gen_intrinsic(g, "llvm.amdgcn.ds.bpermute", 0, NULL, 2, (LLVMValueRef[]){bytes, word});
}

// The same within 32 lanes, the pattern in the instruction.
static LLVMValueRef by_pattern(Gen *g, LLVMValueRef word, uint32_t by) {
    enum { KEEP_ALL = 0x1f, XOR_SHIFT = 10 };
    LLVMValueRef pattern = gen_i32(g, (int32_t)(by << XOR_SHIFT | KEEP_ALL));
    return gen_intrinsic(g, "llvm.amdgcn.ds.swizzle", 0, NULL, 2, (LLVMValueRef[]){word, pattern});
}

// The other half of 32 lanes, without the shared memory's crossbar (from gfx1010 on).
static LLVMValueRef other_row(Gen *g, LLVMValueRef word) {
    LLVMTypeRef type = LLVMTypeOf(word);
    LLVMValueRef no = LLVMConstNull(gpu_int(g, 1));
    // Lane l of a row reads lane l of the other: nibbles 0 to 15 in order.
    LLVMValueRef args[] = {
        LLVMGetPoison(type), word, gen_i32(g, 0x76543210), gen_i32(g, (int32_t)0xfedcba98), no, no};
    return gen_intrinsic(g, "llvm.amdgcn.permlanex16", 1, &type, 6, args);
}

// Through a word of each thread, behind what the program has: a wave's instructions go through
// shared memory one after another. That they are one program for all lanes says the barrier, which
// is no instruction.
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

// ---- barriers -----------------------------------------------------------------------------------

// Which memory the fence is about: the shared one, or (NULL) all.
static void fence(Gen *g, LLVMAtomicOrdering order, const char *space) {
    unsigned scope = LLVMGetSyncScopeID(g->context, "workgroup", 9);
    LLVMValueRef v = LLVMBuildFenceSyncScope(g->b, order, scope, "");
    if (!space) return;
    static const char about[] = "amdgpu-synchronize-as";
    LLVMMetadataRef tag[] = {LLVMMDStringInContext2(g->context, about, sizeof about - 1),
                             LLVMMDStringInContext2(g->context, space, strlen(space))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, tag, 2);
    LLVMSetMetadata(v, LLVMGetMDKindIDInContext(g->context, "mmra", 4),
                    LLVMMetadataAsValue(g->context, node));
}

// s_waitcnt: a field of so many bits for each kind, all ones being no wait. Exports are not waited
// for.
static uint32_t wait_code(uint32_t generation, uint32_t global, uint32_t shared) {
    if (generation >= 11) return global << 10 | shared << 4 | 7;
    uint32_t most = generation < 10 ? 15 : 63;
    return (global & 15) | (global >> 4) << 14 | 7 << 4 | (shared < most ? shared : most) << 8;
}

static void wait_for(Gen *g, const char *name, LLVMTypeRef type, uint32_t code) {
    LLVMValueRef n = LLVMConstInt(type, code, false);
    gen_intrinsic(g, name, 0, NULL, 1, &n);
}

void amdgpu_wait_until(Gen *g, uint32_t global, uint32_t shared) {
    uint32_t generation = gpu_gen(g)->machine.chip->generation;
    LLVMTypeRef half = gpu_int(g, 16), word = gpu_int(g, 32);
    if (generation < 12) {
        wait_for(g, "llvm.amdgcn.s.waitcnt", word, wait_code(generation, global, shared));
        return;
    }
    if (shared != AMDGPU_ANY) wait_for(g, "llvm.amdgcn.s.wait.dscnt", half, shared);
    if (global != AMDGPU_ANY) wait_for(g, "llvm.amdgcn.s.wait.loadcnt", half, global);
}

// A fence, and what it waits for once more as an instruction of its own: LLVM 22 moves a fence's
// wait out of a loop, to before its first turn. For stores, which gfx10 and later count apart,
// latch.c sees to it.
static void release(Gen *g, bool global) {
    fence(g, LLVMAtomicOrderingRelease, global ? NULL : "local");
    amdgpu_wait_until(g, global ? 0 : AMDGPU_ANY, 0);
}

void amdgpu_release(Gen *g) { release(g, true); }

void amdgpu_barrier(Gen *g, bool global) {
    if (gpu_gen(g)->copies && !global) {
        amdgpu_copying_barrier(g);
        return;
    }
    release(g, global);
    gen_intrinsic(g, "llvm.amdgcn.s.barrier", 0, NULL, 0, NULL);
    fence(g, LLVMAtomicOrderingAcquire, global ? NULL : "local");
}
