// Analyses that are kept from pass to pass.
#include "base/recover.h"
#include "passes/pass.h"

// Lives in the arena of its ranges.
typedef struct KeptRanges {
    struct KeptRanges *next;
    const IrFunc *func;
    Arena *arena;
    IrRanges *ranges;
} KeptRanges;

struct PassAnalyses {
    KeptRanges *kept;
};

PassAnalyses *pass_analyses_create(void) { return recover_new(sizeof(PassAnalyses)); }

// NULL: of all functions.
static void drop(PassAnalyses *a, const IrFunc *f) {
    for (KeptRanges **link = &a->kept; *link;) {
        KeptRanges *k = *link;
        if (f && k->func != f) {
            link = &k->next;
            continue;
        }
        *link = k->next;
        arena_destroy(k->arena);
    }
}

void pass_analyses_drop(PassAnalyses *a, const IrFunc *f) { drop(a, f); }

void pass_analyses_move(PassAnalyses *to, PassAnalyses *from) {
    drop(to, NULL);
    to->kept = from->kept;
    from->kept = NULL;
}

void pass_analyses_destroy(PassAnalyses *a) {
    if (a) drop(a, NULL);
    recover_free(a);
}

IrRanges *pass_analyses_ranges(const PassAnalyses *a, const IrFunc *f) {
    for (const KeptRanges *k = a ? a->kept : NULL; k; k = k->next)
        if (k->func == f) return k->ranges;
    return NULL;
}

IrRanges *pass_ranges(PassContext *context, const IrFunc *f) {
    PassAnalyses *a = context->analyses;
    IrRanges *known = pass_analyses_ranges(a, f);
    if (known) return known;
    if (!a) return ir_ranges(context->scratch, f, IR_TRUST_CHECKED);
    Arena *arena = arena_create();
    KeptRanges *k = arena_new(arena, KeptRanges, 1);
    *k = (KeptRanges){.next = a->kept, .func = f, .arena = arena};
    k->ranges = ir_ranges(arena, f, IR_TRUST_CHECKED);
    a->kept = k;
    return k->ranges;
}
