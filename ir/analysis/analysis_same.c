// Do two analyses of one function agree? If so, the kept analysis equals what a new one would find.
#include <string.h>

#include "ir/analysis/analysis_internal.h"

static bool same_range(const IrRange *a, const IrRange *b) {
    return a->known == b->known && a->min == b->min && a->max == b->max &&
           a->divisor == b->divisor &&
           !memcmp(a->contiguous, b->contiguous, sizeof a->contiguous) &&
           !memcmp(a->constant, b->constant, sizeof a->constant) &&
           !memcmp(a->first, b->first, sizeof a->first);
}

static bool same_value(const IrRanges *a, const IrRanges *b, uint32_t id) {
    bool seen = id < a->count && a->seen[id], also = id < b->count && b->seen[id];
    if (!seen || !also) return seen == also;
    return a->exact[id] == b->exact[id] && same_range(&a->facts[id], &b->facts[id]);
}

static bool same_facts(const RangeFacts *a, const RangeFacts *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        const RangeFact *x = &a->data[i], *y = &b->data[i];
        if (x->a != y->a || x->b != y->b || x->add != y->add || x->divisor != y->divisor)
            return false;
    }
    return true;
}

bool ir_ranges_same(const IrRanges *a, const IrRanges *b) {
    uint32_t most = a->count > b->count ? a->count : b->count;
    if (a->func != b->func || a->trust != b->trust || a->asserted.count != b->asserted.count ||
        !same_facts(&a->required, &b->required))
        return false;
    for (size_t i = 0; i < a->asserted.count; i++)
        if (a->asserted.data[i] != b->asserted.data[i]) return false;
    for (size_t i = 0; i < a->func->extents.count; i++)
        if (!same_range(&a->extents[i], &b->extents[i])) return false;
    for (uint32_t id = 0; id < most; id++)
        if (!same_value(a, b, id)) return false;
    return true;
}
