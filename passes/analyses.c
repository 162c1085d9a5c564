// Analyses that are kept from pass to pass.
#include "passes/pass.h"

typedef struct KeptRanges {
    const IrFunc *func;
    Arena *arena;  // of the ranges
    IrRanges *ranges;
} KeptRanges;

struct PassAnalyses {
    Arena *arena;
    VEC(KeptRanges) kept;
};

PassAnalyses *pass_analyses_create(void) {
    Arena *arena = arena_create();
    PassAnalyses *a = arena_new(arena, PassAnalyses, 1);
    a->arena = arena;
    return a;
}

static void drop(PassAnalyses *a, size_t i) {
    arena_destroy(a->kept.data[i].arena);
    a->kept.data[i] = vec_last(&a->kept);
    a->kept.count--;
}

void pass_analyses_destroy(PassAnalyses *a) {
    if (!a) return;
    while (a->kept.count) drop(a, 0);
    arena_destroy(a->arena);
}

void pass_analyses_drop(PassAnalyses *a, const IrFunc *f) {
    for (size_t i = a->kept.count; i--;)
        if (a->kept.data[i].func == f) drop(a, i);
}

IrRanges *pass_analyses_ranges(const PassAnalyses *a, const IrFunc *f) {
    for (size_t i = 0; a && i < a->kept.count; i++)
        if (a->kept.data[i].func == f) return a->kept.data[i].ranges;
    return NULL;
}

IrRanges *pass_ranges(PassContext *context, const IrFunc *f) {
    PassAnalyses *a = context->analyses;
    IrRanges *known = pass_analyses_ranges(a, f);
    if (known) return known;
    if (!a) return ir_ranges(context->scratch, f, IR_TRUST_CHECKED);
    KeptRanges k = {.func = f, .arena = arena_create()};
    k.ranges = ir_ranges(k.arena, f, IR_TRUST_CHECKED);
    vec_push(a->arena, &a->kept, k);
    return k.ranges;
}
