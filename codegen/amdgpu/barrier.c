// Barriers of a program, fences, and waits for memory.
#include <string.h>

#include "codegen/amdgpu/gen.h"

// `space` limits the fence to the shared memory; NULL: all memory.
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

// s_waitcnt has a field for each kind of access; all ones mean no wait. We do not wait for exports.
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

// A fence, followed by its wait as a separate instruction: LLVM 22 hoists a fence's wait out of a
// loop, to before its first iteration. gfx10 and later count stores separately; latch.c handles
// these.
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
