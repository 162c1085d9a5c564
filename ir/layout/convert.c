// Conversions between layouts inside a lane and inside a warp: classes, moves, shuffles (query.h).
#include <string.h>

#include "base/os/os.h"
#include "ir/layout/gf2.h"
#include "ir/layout/query.h"

static uint32_t basis_or_zero(const Layout *l, LayoutDim dim, uint32_t bit) {
    return bit < l->dim_bits[dim] ? layout_basis(l, dim, bit) : 0;
}

static uint32_t more_bits(const Layout *a, const Layout *b, LayoutDim dim) {
    return a->dim_bits[dim] > b->dim_bits[dim] ? a->dim_bits[dim] : b->dim_bits[dim];
}

// The elements that the dimensions up to `last` of a layout reach.
static Gf2Span reach(const Layout *l, LayoutDim last) {
    Gf2Span span = {0};
    uint32_t end = layout_dim_start(l, last) + l->dim_bits[last];
    for (uint32_t i = 0; i < end; i++) gf2_add(&span, l->bases[i], UINT32_C(1) << i);
    return span;
}

// Are the elements of `to` in its dimensions up to `last` among those of `from` in the same
// dimensions, if the higher dimensions are equal?
static bool stays_within(const Layout *from, const Layout *to, LayoutDim last) {
    Gf2Span span = reach(from, last);
    for (uint32_t d = 0; d < LAYOUT_OFFSET; d++) {
        LayoutDim dim = (LayoutDim)d;
        for (uint32_t i = 0; i < more_bits(from, to, dim); i++) {
            uint32_t need = basis_or_zero(to, dim, i);
            if (dim > last) need ^= basis_or_zero(from, dim, i);
            if (!gf2_has(&span, need)) return false;
        }
    }
    return true;
}

LayoutConversion layout_conversion(const Layout *from, const Layout *to) {
    CHECK(layout_same_shape(from, to), "a conversion between tiles of different shapes");
    if (layout_equal(from, to)) return LAYOUT_CONVERT_NONE;
    if (stays_within(from, to, LAYOUT_REG)) return LAYOUT_CONVERT_REGISTERS;
    if (stays_within(from, to, LAYOUT_LANE)) return LAYOUT_CONVERT_LANES;
    if (stays_within(from, to, LAYOUT_WARP)) return LAYOUT_CONVERT_WARPS;
    return LAYOUT_CONVERT_BLOCKS;
}

bool layout_moves(const Layout *from, const Layout *to, LayoutMoves *moves) {
    if (!layout_same_shape(from, to) || !stays_within(from, to, LAYOUT_REG)) return false;
    memset(moves, 0, sizeof *moves);
    Gf2Span span = reach(from, LAYOUT_REG);
    uint32_t *const out[] = {moves->by_register, moves->by_lane, moves->by_warp, moves->by_block};
    for (uint32_t d = 0; d < LAYOUT_OFFSET; d++) {
        for (uint32_t i = 0; i < more_bits(from, to, (LayoutDim)d); i++) {
            uint32_t need = basis_or_zero(to, (LayoutDim)d, i);
            if (d != LAYOUT_REG) need ^= basis_or_zero(from, (LayoutDim)d, i);
            gf2_solve(&span, need, &out[d][i]);
        }
    }
    return true;
}

// ---- shuffles
//
// Let E be the elements that `to` holds in a warp. A round moves one element (or pack) to every
// lane: those of a coset of a space T. Each lane must offer only one, and keep only one: T meets
// the elements that come from one lane (K) and those that go to one lane (B) in 0 only. A common
// complement is such a T, so there are as many rounds as registers to fill; fewer are impossible.
// Only if too few lanes of `from` hold the elements that a warp needs is T too small; the lanes
// then alternate (`turn`).

typedef struct Plan {
    const Layout *from, *to;
    LayoutShuffle *out;
    Gf2Span source;    // element → input number of `from` that offers it
    Gf2List pack;      // elements that travel together: in one lane on both sides
    Gf2List kept;      // B: the span of `to`'s registers
    Gf2List in_lane;   // K: the elements of E that lane 0 offers
    Gf2List whole;     // E
    Gf2List together;  // T
    uint32_t lane_start;
    Gf2Span together_of;  // offering lane → the element of T that it offers
} Plan;

static uint32_t lane_of(const Plan *p, uint32_t element) {
    uint32_t input;
    CHECK(gf2_solve(&p->source, element, &input), "an element that no lane of the warp holds");
    return input >> p->lane_start;
}

static uint32_t register_of(const Plan *p, uint32_t element) {
    uint32_t input;
    CHECK(gf2_solve(&p->source, element, &input), "an element that no lane of the warp holds");
    return input & ((UINT32_C(1) << p->lane_start) - 1);
}

static Gf2List registers_list(const Layout *l) {
    Gf2List list = {0};
    for (uint32_t i = 0; i < l->dim_bits[LAYOUT_REG]; i++) {
        gf2_list_add(&list, layout_basis(l, LAYOUT_REG, i));
    }
    return list;
}

// Packs: register bits that are one bit on both sides come first, the lowest of them first.
static void choose_pack(Plan *p, uint32_t bits) {
    Gf2List from = registers_list(p->from);
    Gf2List shared = gf2_intersect(&from, &p->kept);
    Gf2Span both = gf2_span(&shared);
    uint32_t room = 0;
    while (bits << room < 32) room++;
    for (uint32_t i = 0; i < from.count && p->pack.count < room; i++) {
        if (gf2_has(&both, from.v[i])) gf2_list_add(&p->pack, from.v[i]);
    }
    for (uint32_t i = 0; i < shared.count && p->pack.count < room; i++) {
        gf2_list_add(&p->pack, shared.v[i]);
    }
    Gf2Span of_from = reach(p->from, LAYOUT_REG), of_to = reach(p->to, LAYOUT_REG);
    p->out->pack_bits = p->pack.count;
    for (uint32_t i = 0; i < p->pack.count; i++) {
        gf2_solve(&of_from, p->pack.v[i], &p->out->from_pack[i]);
        gf2_solve(&of_to, p->pack.v[i], &p->out->to_pack[i]);
        gf2_add(&p->source, p->pack.v[i], p->out->from_pack[i]);
    }
}

// Chooses which of the positions that hold an element offers it. Lanes that only replicate take
// over some registers from the lanes they replicate, so that no lane has to offer more than
// necessary.
static void choose_sources(Plan *p) {
    const Layout *l = p->from;
    uint32_t idle[LAYOUT_MAX_BITS];
    uint32_t idle_count = 0;
    for (uint32_t i = 0; i < l->dim_bits[LAYOUT_LANE]; i++) {
        uint32_t name = UINT32_C(1) << (p->lane_start + i);
        if (!gf2_add(&p->source, layout_basis(l, LAYOUT_LANE, i), name)) idle[idle_count++] = i;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < l->dim_bits[LAYOUT_REG]; i++) {
        uint32_t element = layout_basis(l, LAYOUT_REG, i);
        uint32_t name = UINT32_C(1) << i;
        if (gf2_has(&p->source, element)) continue;
        if (used < idle_count) {
            element ^= layout_basis(l, LAYOUT_LANE, idle[used]);
            name |= UINT32_C(1) << (p->lane_start + idle[used++]);
        }
        gf2_add(&p->source, element, name);
    }
}

// E, with the lanes that are the same on both sides first: those should not move. K is the kernel
// of lane_of on E.
static void choose_spaces(Plan *p) {
    const Layout *to = p->to;
    for (uint32_t i = 0; i < to->dim_bits[LAYOUT_LANE]; i++) {
        uint32_t basis = layout_basis(to, LAYOUT_LANE, i);
        if (basis == basis_or_zero(p->from, LAYOUT_LANE, i)) gf2_list_add(&p->whole, basis);
    }
    for (uint32_t i = 0; i < to->dim_bits[LAYOUT_LANE]; i++) {
        gf2_list_add(&p->whole, layout_basis(to, LAYOUT_LANE, i));
    }
    for (uint32_t i = 0; i < p->kept.count; i++) gf2_list_add(&p->whole, p->kept.v[i]);
    Gf2Span lanes = {0};
    for (uint32_t i = 0; i < p->whole.count; i++) {
        uint32_t combo;
        uint32_t lane = lane_of(p, p->whole.v[i]);
        if (gf2_solve(&lanes, lane, &combo)) {
            gf2_list_add(&p->in_lane, p->whole.v[i] ^ gf2_apply(p->whole.v, combo));
        } else {
            gf2_add(&lanes, lane, UINT32_C(1) << i);
        }
    }
    p->together = gf2_common_complement(&p->whole, &p->in_lane, &p->kept);
    for (uint32_t i = 0; i < p->together.count; i++) {
        gf2_add(&p->together_of, lane_of(p, p->together.v[i]), UINT32_C(1) << i);
    }
}

// The register that a lane offers for T: 0 for lanes that offer no element of it.
static uint32_t offered(const Plan *p, uint32_t lane) {
    uint32_t combo;
    gf2_reduce(&p->together_of, lane, &combo);
    return register_of(p, gf2_apply(p->together.v, combo));
}

static void add_round(Plan *p, uint32_t element, uint32_t source, uint32_t keep) {
    LayoutShuffle *s = p->out;
    s->offer_round[s->round_bits] = register_of(p, element) ^ offered(p, lane_of(p, element));
    s->source_round[s->round_bits] = source;
    s->keep_round[s->round_bits] = keep;
    s->round_bits++;
}

// Splits each lane's element into the register that keeps it, its place in T, and its round.
static void write_plan(Plan *p) {
    LayoutShuffle *s = p->out;
    Gf2Span parts = {0};
    Gf2List names = {0};  // elements by name bit: B, then T, then the rounds of alternating lanes
    for (uint32_t i = 0; i < p->kept.count; i++) names.v[names.count++] = p->kept.v[i];
    for (uint32_t i = 0; i < p->together.count; i++) names.v[names.count++] = p->together.v[i];
    uint32_t turns = names.count;
    for (uint32_t i = 0; i < names.count; i++) gf2_add(&parts, names.v[i], UINT32_C(1) << i);
    for (uint32_t i = 0; i < p->whole.count; i++) {
        if (gf2_add(&parts, p->whole.v[i], UINT32_C(1) << names.count)) {
            names.v[names.count++] = p->whole.v[i];
        }
    }
    Gf2Span to_registers = reach(p->to, LAYOUT_REG);
    Gf2Span packed = gf2_span(&p->pack);
    for (uint32_t i = 0; i < p->kept.count; i++) {
        uint32_t keep;
        if (!gf2_add(&packed, p->kept.v[i], 0)) continue;
        gf2_solve(&to_registers, p->kept.v[i], &keep);
        add_round(p, p->kept.v[i], lane_of(p, p->kept.v[i]), keep);
    }
    s->alternate_bits = names.count - turns;
    for (uint32_t i = turns; i < names.count; i++) add_round(p, names.v[i], 0, 0);
    uint32_t kept_mask = (UINT32_C(1) << p->kept.count) - 1;
    for (uint32_t i = 0; i < p->to->dim_bits[LAYOUT_LANE]; i++) {
        uint32_t basis = layout_basis(p->to, LAYOUT_LANE, i);
        uint32_t combo;
        gf2_solve(&parts, basis, &combo);
        uint32_t own = gf2_apply(names.v, combo & kept_mask);
        gf2_solve(&to_registers, own, &s->keep_lane[i]);
        s->source_lane[i] = lane_of(p, basis ^ own);
        s->alternate_lane[i] = combo >> turns;
    }
}

bool layout_shuffle(const Layout *from, const Layout *to, uint32_t bits, LayoutShuffle *shuffle) {
    if (!layout_same_shape(from, to) || !stays_within(from, to, LAYOUT_LANE)) return false;
    for (uint32_t i = 0; i < more_bits(from, to, LAYOUT_BLOCK); i++) {
        if (basis_or_zero(from, LAYOUT_BLOCK, i) != basis_or_zero(to, LAYOUT_BLOCK, i)) {
            return false;
        }
    }
    CHECK(more_bits(from, to, LAYOUT_LANE) <= 6, "a warp of more than 64 lanes");
    memset(shuffle, 0, sizeof *shuffle);
    Plan p = {.from = from, .to = to, .out = shuffle, .lane_start = from->dim_bits[LAYOUT_REG]};
    p.kept = registers_list(to);
    choose_pack(&p, bits);
    choose_sources(&p);
    choose_spaces(&p);
    write_plan(&p);
    for (uint32_t i = 0; i < from->dim_bits[LAYOUT_LANE]; i++) {
        shuffle->offer_lane[i] = offered(&p, UINT32_C(1) << i);
    }
    for (uint32_t i = 0; i < more_bits(from, to, LAYOUT_WARP); i++) {
        uint32_t shift = basis_or_zero(from, LAYOUT_WARP, i) ^ basis_or_zero(to, LAYOUT_WARP, i);
        shuffle->offer_warp[i] = register_of(&p, shift) ^ offered(&p, lane_of(&p, shift));
        shuffle->source_warp[i] = lane_of(&p, shift);
    }
    return true;
}

uint32_t layout_shuffle_offer(const LayoutShuffle *s, uint32_t round, uint32_t lane,
                              uint32_t warp) {
    return gf2_apply(s->offer_round, round) ^ gf2_apply(s->offer_lane, lane) ^
           gf2_apply(s->offer_warp, warp);
}

uint32_t layout_shuffle_source(const LayoutShuffle *s, uint32_t round, uint32_t lane,
                               uint32_t warp) {
    return gf2_apply(s->source_round, round) ^ gf2_apply(s->source_lane, lane) ^
           gf2_apply(s->source_warp, warp);
}

uint32_t layout_shuffle_keep(const LayoutShuffle *s, uint32_t round, uint32_t lane) {
    return gf2_apply(s->keep_round, round) ^ gf2_apply(s->keep_lane, lane);
}

bool layout_shuffle_alternate(const LayoutShuffle *s, uint32_t round, uint32_t lane) {
    return gf2_apply(s->alternate_lane, lane) == round >> (s->round_bits - s->alternate_bits);
}
