// What a loop's last turn left under way, before the next turn begins.
//
// LLVM 22 drops a fence's wait at a loop's head where nothing is under way on the first way in, and
// does not ask again for the way back. Loops with fences that release global memory wait at their
// ends, then, where what there is to wait for stands before the fence.
#include "base/vec.h"
#include "codegen/amdgpu/gen.h"

typedef VEC(LLVMBasicBlockRef) Blocks;

// All memory, not the shared one alone.
static bool releases(LLVMBasicBlockRef block) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    unsigned about = LLVMGetMDKindIDInContext(context, "mmra", 4);
    for (LLVMValueRef v = LLVMGetFirstInstruction(block); v; v = LLVMGetNextInstruction(v))
        if (LLVMIsAFenceInst(v) && LLVMGetOrdering(v) == LLVMAtomicOrderingRelease &&
            !LLVMGetMetadata(v, about))
            return true;
    return false;
}

static bool has(const Blocks *blocks, LLVMBasicBlockRef block) {
    for (size_t i = 0; i < blocks->count; i++)
        if (blocks->data[i] == block) return true;
    return false;
}

// The blocks from which `end` is reached without another pass through `head`, and these two.
static Blocks blocks_between(Gen *g, LLVMBasicBlockRef head, LLVMBasicBlockRef end) {
    Blocks all = {0};
    vec_push(g->arena, &all, head);
    if (end != head) vec_push(g->arena, &all, end);
    for (size_t i = 1; i < all.count; i++) {
        LLVMValueRef block = LLVMBasicBlockAsValue(all.data[i]);
        for (LLVMUseRef u = LLVMGetFirstUse(block); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            if (!LLVMIsATerminatorInst(user)) continue;
            LLVMBasicBlockRef from = LLVMGetInstructionParent(user);
            if (!has(&all, from)) vec_push(g->arena, &all, from);
        }
    }
    return all;
}

// Is the way from `end` back to `head` a loop's that releases? The entry reaches no loop's end but
// through its head.
static bool waits_between(Gen *g, LLVMBasicBlockRef head, LLVMBasicBlockRef end) {
    Blocks loop = blocks_between(g, head, end);
    if (has(&loop, LLVMGetEntryBasicBlock(g->function))) return false;
    for (size_t i = 0; i < loop.count; i++)
        if (releases(loop.data[i])) return true;
    return false;
}

static bool any_releases(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        if (releases(b)) return true;
    return false;
}

void amdgpu_latches(Gen *g) {
    Blocks ends = {0};
    if (!any_releases(g->function)) return;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g->function); b;
         b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
        bool loops = false;
        for (unsigned i = 0; last && i < LLVMGetNumSuccessors(last); i++)
            loops = loops || waits_between(g, LLVMGetSuccessor(last, i), b);
        if (loops) vec_push(g->arena, &ends, b);
    }
    for (size_t i = 0; i < ends.count; i++) {
        LLVMPositionBuilderBefore(g->b, LLVMGetBasicBlockTerminator(ends.data[i]));
        amdgpu_release(g);
    }
}
