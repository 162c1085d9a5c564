#include "ir/layout/gf2.h"

static uint32_t high_bit(uint32_t v) { return 31u - (uint32_t)__builtin_clz(v); }

uint32_t gf2_reduce(const Gf2Span *span, uint32_t v, uint32_t *combo) {
    uint32_t names = 0;
    uint32_t rest = 0;
    while (v) {
        uint32_t p = high_bit(v);
        if (span->at[p]) {
            v ^= span->at[p];
            names ^= span->combo[p];
        } else {
            rest |= UINT32_C(1) << p;
            v ^= UINT32_C(1) << p;
        }
    }
    if (combo) *combo = names;
    return rest;
}

bool gf2_add(Gf2Span *span, uint32_t v, uint32_t name) {
    uint32_t combo;
    uint32_t rest = gf2_reduce(span, v, &combo);
    if (!rest) return false;
    uint32_t p = high_bit(rest);
    span->at[p] = rest;
    span->combo[p] = combo ^ name;
    span->rank++;
    return true;
}

uint32_t gf2_apply(const uint32_t *columns, uint32_t input) {
    uint32_t out = 0;
    for (uint32_t rest = input; rest; rest &= rest - 1) out ^= columns[__builtin_ctz(rest)];
    return out;
}

Gf2Span gf2_span(const Gf2List *list) {
    Gf2Span span = {0};
    for (uint32_t i = 0; i < list->count; i++) gf2_add(&span, list->v[i], UINT32_C(1) << i);
    return span;
}

bool gf2_list_add(Gf2List *list, uint32_t v) {
    Gf2Span span = gf2_span(list);
    if (gf2_has(&span, v)) return false;
    list->v[list->count++] = v;
    return true;
}

// Zassenhaus' algorithm: a vector of b that depends on earlier vectors of a and b shows a vector
// that both spans contain.
Gf2List gf2_intersect(const Gf2List *a, const Gf2List *b) {
    Gf2List both = {0};
    Gf2Span span = gf2_span(a);
    Gf2List names = *a;  // of vectors of a only: those of b do not occur in the result
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t combo;
        if (gf2_reduce(&span, b->v[i], &combo)) {
            // b's vector has an empty name: it does not take part in the combos of a.
            gf2_add(&span, b->v[i], 0);
        } else {
            gf2_list_add(&both, gf2_apply(names.v, combo));
        }
    }
    return both;
}

// The vectors of `more` outside the span of `base`, which they extend step by step.
static Gf2List beyond(Gf2Span base, const Gf2List *more) {
    Gf2List list = {0};
    for (uint32_t i = 0; i < more->count; i++) {
        if (gf2_add(&base, more->v[i], 0)) list.v[list.count++] = more->v[i];
    }
    return list;
}

Gf2List gf2_common_complement(const Gf2List *whole, const Gf2List *a, const Gf2List *b) {
    Gf2List shared = gf2_intersect(a, b);
    Gf2List only_a = beyond(gf2_span(&shared), a);
    Gf2List only_b = beyond(gf2_span(&shared), b);
    // First sums of one vector of each, which are outside of both; then the vectors outside of the
    // sum of both.
    Gf2Span sum = gf2_span(a);
    for (uint32_t i = 0; i < only_b.count; i++) gf2_add(&sum, only_b.v[i], 0);
    Gf2List result = {0};
    for (uint32_t i = 0; i < only_a.count && i < only_b.count; i++) {
        result.v[result.count++] = only_a.v[i] ^ only_b.v[i];
    }
    Gf2List outside = beyond(sum, whole);
    for (uint32_t i = 0; i < outside.count; i++) result.v[result.count++] = outside.v[i];
    return result;
}
