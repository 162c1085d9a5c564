// The greatest (least) of several numbers, NaN if one of them is, where the machine's own
// instruction drops NaNs: each step would need a comparison and a select. So of a tree of them the
// elements are compared two by two, and one select stands at its end.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "codegen/gpu/gen.h"

typedef VEC(LLVMValueRef) Values;

typedef struct Extremes {
    Gen *g;
    unsigned id;           // of the intrinsic
    const char *dropping;  // the one that drops NaNs
    LLVMTypeKind kind;
    bool threes;  // the machine takes three at once, where one is the result of two others
} Extremes;

static bool is_extreme(const Extremes *e, LLVMValueRef v) {
    if (!LLVMIsACallInst(v)) return false;
    LLVMValueRef called = LLVMGetCalledValue(v);
    return LLVMIsAFunction(called) && LLVMGetIntrinsicID(called) == e->id &&
           LLVMGetTypeKind(LLVMTypeOf(v)) == e->kind;
}

// Of its block, and of one other alone?
static bool is_inner(const Extremes *e, LLVMValueRef v, LLVMBasicBlockRef block) {
    LLVMUseRef use = LLVMGetFirstUse(v);
    return is_extreme(e, v) && LLVMGetInstructionParent(v) == block && use && !LLVMGetNextUse(use);
}

static void collect(const Extremes *e, LLVMValueRef v, Values *leaves) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(v);
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef x = LLVMGetOperand(v, i);
        if (is_inner(e, x, block))
            collect(e, x, leaves);
        else
            vec_push(e->g->arena, leaves, x);
    }
}

static bool is_root(const Extremes *e, LLVMValueRef v) {
    if (!is_extreme(e, v)) return false;
    LLVMUseRef use = LLVMGetFirstUse(v);
    if (!use || LLVMGetNextUse(use)) return use != NULL;
    LLVMValueRef user = LLVMGetUser(use);
    return !is_extreme(e, user) || LLVMGetInstructionParent(user) != LLVMGetInstructionParent(v);
}

// A chain where threes are taken, else as short a way as there is.
static LLVMValueRef drop(const Extremes *e, LLVMValueRef const *x, size_t count) {
    size_t half = e->threes ? count - 1 : count / 2;
    if (count == 1) return x[0];
    LLVMValueRef two[] = {drop(e, x, half), drop(e, x + half, count - half)};
    LLVMTypeRef type = LLVMTypeOf(x[0]);
    return gen_intrinsic(e->g, e->dropping, 1, &type, 2, two);
}

static void replace(const Extremes *e, LLVMValueRef root) {
    Gen *g = e->g;
    Values leaves = {0};
    collect(e, root, &leaves);
    LLVMPositionBuilderBefore(g->b, root);
    LLVMValueRef r = drop(e, leaves.data, leaves.count), any = NULL;
    for (size_t i = 0; i < leaves.count; i += 2) {
        LLVMValueRef b = leaves.data[i + 1 < leaves.count ? i + 1 : i];
        LLVMValueRef unordered = LLVMBuildFCmp(g->b, LLVMRealUNO, leaves.data[i], b, "");
        any = any ? LLVMBuildOr(g->b, any, unordered, "") : unordered;
    }
    r = LLVMBuildSelect(g->b, any, LLVMConstReal(LLVMTypeOf(root), (double)NAN), r, "");
    LLVMReplaceAllUsesWith(root, r);
}

static void each(GpuGen *n, LLVMTypeKind kind, const char *name, const char *dropping) {
    Gen *g = &n->g;
    Extremes e = {g, LLVMLookupIntrinsicID(name, strlen(name)), dropping, kind,
                  n->machine.gpu.vendor == GPU_AMD};
    Values roots = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (is_root(&e, v)) vec_push(g->arena, &roots, v);
    for (size_t i = 0; i < roots.count; i++) replace(&e, roots.data[i]);
}

void gpu_extremes(GpuGen *n) {
    static const LLVMTypeKind kinds[] = {LLVMFloatTypeKind, LLVMDoubleTypeKind};
    for (int i = 0; i < 2; i++) {
        if (n->machine.nan_extremes[i]) continue;
        each(n, kinds[i], "llvm.maximum", "llvm.maximumnum");
        each(n, kinds[i], "llvm.minimum", "llvm.minimumnum");
    }
}
