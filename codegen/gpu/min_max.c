// The greatest (least) of several numbers, which is NaN if one of them is. If the machine's
// instruction drops NaNs, each step would need a comparison and a select. So in a tree of these ops
// the elements are tested for NaN in pairs, and there is one select at the end. If all lanes of a
// warp then exchange their results in five steps, the select comes after that: a vote says whether
// any lane has a NaN.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "codegen/gpu/gen.h"

typedef VEC(LLVMValueRef) Values;

typedef struct MinMaxRewrite {
    Gen *g;
    unsigned id;           // of the intrinsic that keeps NaNs
    const char *dropping;  // the one that drops NaNs
    LLVMTypeKind kind;
    bool threes;  // the machine has an instruction of three operands for two steps of a chain
} MinMaxRewrite;

static bool is_min_max(const MinMaxRewrite *e, LLVMValueRef v) {
    if (!LLVMIsACallInst(v)) return false;
    LLVMValueRef called = LLVMGetCalledValue(v);
    return LLVMIsAFunction(called) && LLVMGetIntrinsicID(called) == e->id &&
           LLVMGetTypeKind(LLVMTypeOf(v)) == e->kind;
}

// Is it in the same block, with only one use?
static bool is_inner(const MinMaxRewrite *e, LLVMValueRef v, LLVMBasicBlockRef block) {
    LLVMUseRef use = LLVMGetFirstUse(v);
    return is_min_max(e, v) && LLVMGetInstructionParent(v) == block && use && !LLVMGetNextUse(use);
}

static void collect(const MinMaxRewrite *e, LLVMValueRef v, Values *leaves) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(v);
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef x = LLVMGetOperand(v, i);
        if (is_inner(e, x, block))
            collect(e, x, leaves);
        else
            vec_push(e->g->arena, leaves, x);
    }
}

static bool is_root(const MinMaxRewrite *e, LLVMValueRef v) {
    if (!is_min_max(e, v)) return false;
    LLVMUseRef use = LLVMGetFirstUse(v);
    if (!use || LLVMGetNextUse(use)) return use != NULL;
    LLVMValueRef user = LLVMGetUser(use);
    return !is_min_max(e, user) || LLVMGetInstructionParent(user) != LLVMGetInstructionParent(v);
}

// A chain if the machine takes three operands at once, else a balanced tree, which is the shortest
// path.
static LLVMValueRef drop(const MinMaxRewrite *e, LLVMValueRef const *x, size_t count) {
    size_t half = e->threes ? count - 1 : count / 2;
    if (count == 1) return x[0];
    LLVMValueRef two[] = {drop(e, x, half), drop(e, x + half, count - half)};
    LLVMTypeRef type = LLVMTypeOf(x[0]);
    return gen_intrinsic(e->g, e->dropping, 1, &type, 2, two);
}

static LLVMValueRef any_nan(const MinMaxRewrite *e, const Values *leaves) {
    LLVMBuilderRef b = e->g->b;
    LLVMValueRef any = NULL;
    for (size_t i = 0; i < leaves->count; i += 2) {
        LLVMValueRef other = leaves->data[i + 1 < leaves->count ? i + 1 : i];
        LLVMValueRef unordered = LLVMBuildFCmp(b, LLVMRealUNO, leaves->data[i], other, "");
        any = any ? LLVMBuildOr(b, any, unordered, "") : unordered;
    }
    return any;
}

static LLVMValueRef or_nan(const MinMaxRewrite *e, LLVMValueRef any, LLVMValueRef r) {
    LLVMValueRef nan = LLVMConstReal(LLVMTypeOf(r), (double)NAN);
    return LLVMBuildSelect(e->g->b, any, nan, r, "");
}

static void replace(const MinMaxRewrite *e, LLVMValueRef root) {
    Values leaves = {0};
    collect(e, root, &leaves);
    LLVMPositionBuilderBefore(e->g->b, root);
    LLVMValueRef r = drop(e, leaves.data, leaves.count);
    LLVMReplaceAllUsesWith(root, or_nan(e, any_nan(e, &leaves), r));
}

// ---- over a warp --------------------------------------------------------------------------------

enum { LANE_BITS = 5 };

// greatest = extreme(x, other), where `other` is the other lane's x; `bits` is x as a word.
typedef struct Exchange {
    LLVMValueRef x, bits, other, greatest;
} Exchange;

static bool is_exchange(const MinMaxRewrite *e, LLVMValueRef v, Exchange *to, uint32_t *by) {
    const GpuOps *ops = gpu_gen(e->g)->ops;
    for (unsigned i = 0; ops->exchanged && is_min_max(e, v) && i < 2; i++) {
        LLVMValueRef other = LLVMGetOperand(v, i), x = LLVMGetOperand(v, 1 - i);
        if (!LLVMIsABitCastInst(other)) continue;
        LLVMValueRef bits = ops->exchanged(LLVMGetOperand(other, 0), by);
        if (!bits || !LLVMIsABitCastInst(bits) || LLVMGetOperand(bits, 0) != x) continue;
        *to = (Exchange){x, bits, other, v};
        return LLVMGetInstructionParent(bits) == LLVMGetInstructionParent(v);
    }
    return false;
}

// Does only the exchange use x: once to send it, once to combine it with the other lane's?
static bool goes_no_further(const Exchange *s) {
    LLVMUseRef first = LLVMGetFirstUse(s->x), second = first ? LLVMGetNextUse(first) : NULL;
    LLVMUseRef use = LLVMGetFirstUse(s->bits);
    return second && !LLVMGetNextUse(second) && use && !LLVMGetNextUse(use);
}

// Finds the exchanges that end in v, in order. False if they do not combine all lanes of a warp.
static bool find_exchanges(const MinMaxRewrite *e, LLVMValueRef v, Exchange steps[LANE_BITS]) {
    uint32_t seen = 0, by;
    for (uint32_t i = LANE_BITS; i-- > 0; v = steps[i].x) {
        if (!is_exchange(e, v, &steps[i], &by) || !goes_no_further(&steps[i])) return false;
        if (LLVMGetInstructionParent(v) != LLVMGetInstructionParent(steps[LANE_BITS - 1].greatest))
            return false;
        seen |= by;
    }
    return seen == (1u << LANE_BITS) - 1;
}

// Is the first exchanged value a tree as well, which becomes part of the whole?
static bool begins_with_tree(const MinMaxRewrite *e, const Exchange *s) {
    return is_min_max(e, s->x) &&
           LLVMGetInstructionParent(s->x) == LLVMGetInstructionParent(s->bits);
}

// The shuffles stay where they are; the values that they exchange have dropped their NaNs.
static void replace_over_warp(const MinMaxRewrite *e, const Exchange steps[LANE_BITS]) {
    Gen *g = e->g;
    Values leaves = {0};
    if (begins_with_tree(e, &steps[0]))
        collect(e, steps[0].x, &leaves);
    else
        vec_push(g->arena, &leaves, steps[0].x);
    LLVMPositionBuilderBefore(g->b, steps[0].bits);
    LLVMValueRef r = drop(e, leaves.data, leaves.count), any = any_nan(e, &leaves);
    for (uint32_t i = 0; i < LANE_BITS; i++) {
        LLVMTypeRef type = LLVMTypeOf(r);
        LLVMSetOperand(steps[i].bits, 0, r);
        LLVMPositionBuilderBefore(g->b, steps[i].greatest);
        r = gen_intrinsic(g, e->dropping, 1, &type, 2, (LLVMValueRef[]){r, steps[i].other});
    }
    any = gpu_gen(g)->ops->any_lane(g, any);
    LLVMReplaceAllUsesWith(steps[LANE_BITS - 1].greatest, or_nan(e, any, r));
}

// ---- the pass -----------------------------------------------------------------------------------

static void forget(Values *roots, LLVMValueRef v) {
    for (size_t i = 0; i < roots->count; i++)
        if (roots->data[i] == v) roots->data[i] = NULL;
}

static void each(GpuGen *n, LLVMTypeKind kind, const char *name, const char *dropping) {
    Gen *g = &n->g;
    MinMaxRewrite e = {g, LLVMLookupIntrinsicID(name, strlen(name)), dropping, kind,
                       n->machine.gpu.vendor == GPU_AMD};
    Values roots = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (is_root(&e, v)) vec_push(g->arena, &roots, v);
    for (size_t i = roots.count; i-- > 0;) {  // the end of an exchange comes before its start
        Exchange steps[LANE_BITS];
        if (!roots.data[i]) continue;
        if (!find_exchanges(&e, roots.data[i], steps)) {
            replace(&e, roots.data[i]);
            continue;
        }
        for (uint32_t k = begins_with_tree(&e, &steps[0]) ? 0 : 1; k < LANE_BITS; k++)
            forget(&roots, steps[k].x);
        replace_over_warp(&e, steps);
    }
}

void gpu_rewrite_min_max(GpuGen *n) {
    static const LLVMTypeKind kinds[] = {LLVMFloatTypeKind, LLVMDoubleTypeKind};
    for (int i = 0; i < 2; i++) {
        if (n->machine.nan_extremes[i]) continue;
        each(n, kinds[i], "llvm.maximum", "llvm.maximumnum");
        each(n, kinds[i], "llvm.minimum", "llvm.minimumnum");
    }
}
