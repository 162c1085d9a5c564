// Loads from global memory directly to shared memory (direct-to-LDS loads): thread.copy.
//
// The instruction writes lane l's bytes at M0 + l * bytes. The pass has arranged the bytes of a
// warp's lanes in a row, so M0 is the address for the first lane. Where the mask is false, the
// buffer load is issued as well, and brings zeros. Loads complete in order, so a wait for a group
// of copies counts instructions. Other loads in between only make it wait longer.
//
// LLVM would wait for all copies before any access of shared memory, and at each fence. Alias
// scopes say that copies and other accesses do not overlap between two barriers. Our barriers wait
// themselves for this wave's other accesses of shared memory.
#include <string.h>

#include "codegen/amdgpu/gen.h"

enum { STEPS_MAX = 16 };

// ---- groups -------------------------------------------------------------------------------------

// *least: the smallest number of copies in a group of the block and its regions; *any: they have
// copies.
static void count_groups(const IrBlock *block, uint32_t *least, bool *any) {
    uint32_t copies = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->region_count; i++) count_groups(op->regions[i], least, any);
        copies += op->code == IR_THREAD_COPY;
        *any |= op->code == IR_THREAD_COPY;
        if (op->code != IR_THREAD_COMMIT) continue;
        if (copies < *least) *least = copies;
        copies = 0;
    }
}

void amdgpu_find_copies(GpuGen *n) {
    n->group_copies = UINT32_MAX;
    count_groups(ir_body(n->g.func), &n->group_copies, &n->copies);
}

// A fence for LLVM only: it moves nothing across.
static void keep_order(Gen *g) {
    unsigned scope = LLVMGetSyncScopeID(g->context, "singlethread", 12);
    LLVMBuildFenceSyncScope(g->b, LLVMAtomicOrderingSequentiallyConsistent, scope, "");
}

void amdgpu_commit(Gen *g) { keep_order(g); }

void amdgpu_wait(Gen *g, const IrOp *op) {
    uint64_t loads = (uint64_t)ir_attr_int(op, IR_ATTR_COUNT) * gpu_gen(g)->group_copies;
    amdgpu_wait_until(g, loads < AMDGPU_ANY ? (uint32_t)loads : AMDGPU_ANY, AMDGPU_ANY);
}

void amdgpu_copying_barrier(Gen *g) {
    keep_order(g);
    amdgpu_wait_until(g, AMDGPU_ANY, 0);
    gen_intrinsic(g, "llvm.amdgcn.s.barrier", 0, NULL, 0, NULL);
    keep_order(g);
}

// ---- a copy -------------------------------------------------------------------------------------

static LLVMValueRef of_first_lane(Gen *g, LLVMValueRef x) {
    LLVMTypeRef word = gpu_int(g, 32);
    return gen_intrinsic(g, "llvm.amdgcn.readfirstlane", 1, &word, 1, &x);
}

// The first lane's step, in bytes. readfirstlane is placed where the step is computed, because LLVM
// does not hoist it out of a loop.
static LLVMValueRef first_step(Gen *g, LLVMValueRef step) {
    uint32_t size = LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(step)) / 8;
    LLVMValueRef n = LLVMGetOperand(step, 1), by = gen_i32(g, __builtin_ctz(size));
    LLVMTypeRef word = gpu_int(g, 32);
    if (LLVMIsAConstantInt(n))
        return LLVMConstInt(word, (uint64_t)LLVMConstIntGetSExtValue(n) * size, false);
    bool extends = LLVMIsASExtInst(n) || LLVMIsAZExtInst(n);
    if (extends) n = LLVMGetOperand(n, 0);
    GenInsertPoint here = {0};
    bool early = LLVMIsAInstruction(n) && !LLVMIsAPHINode(n);
    if (early) here = gen_insert_before(g, LLVMGetNextInstruction(n));
    if (LLVMGetIntTypeWidth(LLVMTypeOf(n)) > 32) n = LLVMBuildTrunc(g->b, n, word, "");
    LLVMValueRef bytes = of_first_lane(g, LLVMBuildShl(g->b, n, by, ""));
    if (early) gen_restore_position(g, here);
    return bytes;
}

// The address in shared memory of the first lane's bytes; it is the same in all lanes.
static LLVMValueRef row_of(Gen *g, LLVMValueRef p) {
    LLVMValueRef offset = gen_i32(g, 0);
    for (uint32_t i = 0; i < STEPS_MAX && LLVMIsAGetElementPtrInst(p); i++) {
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(p)) != 0) break;
        offset = LLVMBuildAdd(g->b, offset, first_step(g, p), "");
        p = LLVMGetOperand(p, 0);
    }
    p = gpu_in_space(g, p, SPACE_SHARED);
    if (!LLVMIsConstant(p)) {
        LLVMTypeRef word = gpu_int(g, 32);
        LLVMValueRef at = of_first_lane(g, LLVMBuildPtrToInt(g->b, p, word, ""));
        p = LLVMBuildIntToPtr(g->b, at, LLVMTypeOf(p), "");
    }
    return LLVMBuildGEP2(g->b, gpu_int(g, 8), p, &offset, 1, "");
}

void amdgpu_copy(Gen *g, const IrOp *op) {
    Dtype elem = ir_operand(op, 0)->type->elem;
    uint32_t bytes = (uint32_t)ir_attr_int(op, IR_ATTR_COUNT) * (uint32_t)dtype_size(elem);
    LLVMValueRef resource, none = gen_i32(g, 0), mask = gen_operand(g, op, 2);
    LLVMValueRef offset = amdgpu_buffer_offset(g, gen_operand(g, op, 1), mask, &resource);
    LLVMValueRef args[] = {
        resource, row_of(g, gen_operand(g, op, 0)), gen_i32(g, (int32_t)bytes), offset, none, none,
        none};
    gen_intrinsic(g, "llvm.amdgcn.raw.ptr.buffer.load.lds", 0, NULL, 7, args);
}

// ---- scopes -------------------------------------------------------------------------------------

static LLVMValueRef scope(Gen *g, const char *name, LLVMMetadataRef domain) {
    LLVMMetadataRef of[] = {LLVMMDStringInContext2(g->context, name, strlen(name)), domain};
    LLVMMetadataRef one = LLVMMDNodeInContext2(g->context, of, 2);
    return LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, &one, 1));
}

static bool is_copy(LLVMValueRef v) {
    static const char name[] = "llvm.amdgcn.raw.ptr.buffer.load.lds";
    size_t size;
    if (!LLVMIsACallInst(v)) return false;
    const char *called = LLVMGetValueName2(LLVMGetCalledValue(v), &size);
    return size == sizeof name - 1 && memcmp(called, name, size) == 0;
}

static bool is_shared_access(LLVMValueRef v) {
    if (LLVMIsALoadInst(v)) return gpu_space_of(LLVMGetOperand(v, 0)) == SPACE_SHARED;
    return LLVMIsAStoreInst(v) && gpu_space_of(LLVMGetOperand(v, 1)) == SPACE_SHARED;
}

void amdgpu_copy_scopes(Gen *g) {
    static const char name[] = "shared memory";
    LLVMMetadataRef text = LLVMMDStringInContext2(g->context, name, sizeof name - 1);
    LLVMMetadataRef domain = LLVMMDNodeInContext2(g->context, &text, 1);
    LLVMValueRef copies = scope(g, "copies", domain), others = scope(g, "others", domain);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
            bool copy = is_copy(v);
            if (!copy && !is_shared_access(v)) continue;
            LLVMSetMetadata(v, g->kinds.alias_scope, copy ? copies : others);
            if (!copy) LLVMSetMetadata(v, g->kinds.noalias, copies);
        }
}
