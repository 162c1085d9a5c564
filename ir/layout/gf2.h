// Vectors of up to 32 bits over GF(2): spans, membership, complements. Only for ir/layout.
//
// Invariants: at[p], if it is not 0, is a vector whose highest bit is p: the xor of the added
// vectors that combo[p] names. Vectors that depended on earlier ones are in no combo.
// Ownership: values.
//
//     Gf2Span span = {0};
//     gf2_add(&span, 0x3, 1 << 0);
//     uint32_t combo;
//     if (gf2_solve(&span, v, &combo)) …   // v is the xor of the vectors in combo
#ifndef TILEC_IR_LAYOUT_GF2_H
#define TILEC_IR_LAYOUT_GF2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Gf2Span {
    uint32_t at[32];
    uint32_t combo[32];
    uint32_t rank;
} Gf2Span;

// A list of independent vectors, in order.
typedef struct Gf2List {
    uint32_t count;
    uint32_t v[32];
} Gf2List;

// Reduces v by vectors of the span; the result is 0 if v is in the span. *combo, unless NULL, gets
// the names of the vectors used.
uint32_t gf2_reduce(const Gf2Span *span, uint32_t v, uint32_t *combo);
// False, and nothing is added, if v was in the span already.
bool gf2_add(Gf2Span *span, uint32_t v, uint32_t name);
static inline bool gf2_has(const Gf2Span *span, uint32_t v) {
    return gf2_reduce(span, v, NULL) == 0;
}
static inline bool gf2_solve(const Gf2Span *span, uint32_t v, uint32_t *combo) {
    return gf2_reduce(span, v, combo) == 0;
}

// The xor of the columns named by the bits of `input`.
uint32_t gf2_apply(const uint32_t *columns, uint32_t input);

Gf2Span gf2_span(const Gf2List *list);
// Adds v to the list if it is outside the span of the list.
bool gf2_list_add(Gf2List *list, uint32_t v);
// A basis of the intersection of two spans.
Gf2List gf2_intersect(const Gf2List *a, const Gf2List *b);
// A space of the largest dimension inside `whole` whose intersections with a and b (subspaces of
// it) are 0: its dimension is whole's less the larger one of a's and b's.
Gf2List gf2_common_complement(const Gf2List *whole, const Gf2List *a, const Gf2List *b);

#endif
