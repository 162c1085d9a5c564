// Waits at the end of a loop's iteration for accesses that are still in flight.
//
// LLVM 22 drops a fence's wait at the head of a loop if nothing is in flight when the loop is
// entered. It does not look again at accesses that come over the back edge. So loops with fences
// that release global memory wait at their ends as well.
#include "base/map.h"
#include "base/vec.h"
#include "codegen/amdgpu/gen.h"

typedef VEC(LLVMBasicBlockRef) Blocks;

// Does it have a fence that releases all memory, not only shared memory?
static bool releases(LLVMBasicBlockRef block) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    unsigned about = LLVMGetMDKindIDInContext(context, "mmra", 4);
    for (LLVMValueRef v = LLVMGetFirstInstruction(block); v; v = LLVMGetNextInstruction(v))
        if (LLVMIsAFenceInst(v) && LLVMGetOrdering(v) == LLVMAtomicOrderingRelease &&
            !LLVMGetMetadata(v, about))
            return true;
    return false;
}

// The blocks from which `end` is reached without passing through `head`, and these two.
static Blocks blocks_between(Gen *g, LLVMBasicBlockRef head, LLVMBasicBlockRef end) {
    Blocks all = {0};
    Map known = {0};
    vec_push(g->arena, &all, head);
    map_put(g->arena, &known, map_key(head), 1);
    if (end != head) vec_push(g->arena, &all, end);
    map_put(g->arena, &known, map_key(end), 1);
    for (size_t i = 1; i < all.count; i++) {
        LLVMValueRef block = LLVMBasicBlockAsValue(all.data[i]);
        for (LLVMUseRef u = LLVMGetFirstUse(block); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            if (!LLVMIsATerminatorInst(user)) continue;
            LLVMBasicBlockRef from = LLVMGetInstructionParent(user);
            if (map_find(&known, map_key(from))) continue;
            map_put(g->arena, &known, map_key(from), 1);
            vec_push(g->arena, &all, from);
        }
    }
    return all;
}

static bool waits_between(Gen *g, LLVMBasicBlockRef head, LLVMBasicBlockRef end) {
    Blocks loop = blocks_between(g, head, end);
    for (size_t i = 0; i < loop.count; i++)
        if (releases(loop.data[i])) return true;
    return false;
}

// ---- ends of loops ------------------------------------------------------------------------------

typedef enum LatchMark { ON_STACK = 1, DONE } LatchMark;
typedef struct Step {
    LLVMBasicBlockRef block;
    unsigned next;  // of its successors
} Step;

typedef struct LatchWalk {
    Gen *g;
    Map marks;
    VEC(Step) way;  // from the entry
    Blocks ends;    // of loops that release
} LatchWalk;

static void enter(LatchWalk *w, LLVMBasicBlockRef block) {
    Step step = {.block = block};
    map_put(w->g->arena, &w->marks, map_key(block), ON_STACK);
    vec_push(w->g->arena, &w->way, step);
}

static bool is_noted(const LatchWalk *w, LLVMBasicBlockRef block) {
    return w->ends.count && vec_last(&w->ends) == block;
}

// Visits one successor. A successor that is on the current path is the head of a loop that ends
// here: control is structured, so a loop has only one entry.
static void go_on(LatchWalk *w) {
    Step *step = &vec_last(&w->way);
    LLVMBasicBlockRef block = step->block;
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    if (!last || step->next == LLVMGetNumSuccessors(last)) {
        map_put(w->g->arena, &w->marks, map_key(block), DONE);
        (void)vec_pop(&w->way);
        return;
    }
    LLVMBasicBlockRef to = LLVMGetSuccessor(last, step->next++);
    const uint64_t *mark = map_find(&w->marks, map_key(to));
    if (!mark)
        enter(w, to);
    else if (*mark == ON_STACK && !is_noted(w, block) && waits_between(w->g, to, block))
        vec_push(w->g->arena, &w->ends, block);
}

static bool any_releases(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        if (releases(b)) return true;
    return false;
}

void amdgpu_wait_at_latches(Gen *g) {
    LatchWalk w = {.g = g};
    if (!any_releases(g->function)) return;
    enter(&w, LLVMGetEntryBasicBlock(g->function));
    while (w.way.count) go_on(&w);
    for (size_t i = 0; i < w.ends.count; i++) {
        LLVMPositionBuilderBefore(g->b, LLVMGetBasicBlockTerminator(w.ends.data[i]));
        amdgpu_release(g);
    }
}
