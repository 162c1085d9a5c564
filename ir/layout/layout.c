#include "ir/layout/layout.h"

#include <string.h>

#include "base/os/os.h"
#include "ir/layout/gf2.h"

static uint32_t log2_of(uint32_t extent) {
    CHECK(extent != 0 && (extent & (extent - 1)) == 0, "a layout of extent %u", extent);
    return (uint32_t)__builtin_ctz(extent);
}

// ---- making by hand

Layout layout_empty(uint32_t rank, const uint32_t *shape) {
    CHECK(rank <= IR_MAX_RANK, "a layout of rank %u", rank);
    Layout l = {0};
    l.rank = (uint8_t)rank;
    uint32_t total = 0;
    for (uint32_t i = 0; i < rank; i++) {
        l.axis_bits[i] = (uint8_t)log2_of(shape[i]);
        total += l.axis_bits[i];
    }
    CHECK(total <= LAYOUT_MAX_TILE_BITS, "a layout of 2^%u elements", total);
    l.tile_bits = (uint8_t)total;
    return l;
}

static void insert(Layout *l, LayoutDim dim, uint32_t place, uint32_t basis) {
    CHECK(l->bits < LAYOUT_MAX_BITS, "a layout of more than %u bits", (unsigned)LAYOUT_MAX_BITS);
    CHECK(basis >> l->tile_bits == 0, "basis %u of 2^%u elements", basis, l->tile_bits);
    memmove(l->bases + place + 1, l->bases + place, (l->bits - place) * sizeof *l->bases);
    l->bases[place] = basis;
    l->dim_bits[dim]++;
    l->bits++;
}

void layout_add(Layout *l, LayoutDim dim, uint32_t basis) {
    insert(l, dim, layout_dim_start(l, dim) + l->dim_bits[dim], basis);
}

void layout_drop(Layout *l, LayoutDim dim, uint32_t bit) {
    CHECK(bit < l->dim_bits[dim], "bit %u of %u", bit, l->dim_bits[dim]);
    uint32_t place = layout_dim_start(l, dim) + bit;
    l->bits--;
    l->dim_bits[dim]--;
    memmove(l->bases + place, l->bases + place + 1, (l->bits - place) * sizeof *l->bases);
    l->bases[l->bits] = 0;
}

void layout_add_step(Layout *l, LayoutDim dim, uint32_t axis, uint32_t step) {
    CHECK(axis < l->rank, "axis %u of a layout of rank %u", axis, l->rank);
    uint32_t inside = step < layout_extent(l, axis) ? step : 0;
    layout_add(l, dim, inside << layout_axis_start(l, axis));
}

void layout_add_steps(Layout *l, LayoutDim dim, uint32_t axis, uint32_t from, uint32_t below) {
    for (uint32_t step = from; step < below; step *= 2) layout_add_step(l, dim, axis, step);
}

Layout layout_identity(LayoutDim dim, uint32_t rank, const uint32_t *shape) {
    Layout l = layout_empty(rank, shape);
    for (uint32_t i = 0; i < l.tile_bits; i++) layout_add(&l, dim, UINT32_C(1) << i);
    return l;
}

Layout layout_zeros(LayoutDim dim, uint32_t bits, uint32_t rank, const uint32_t *shape) {
    Layout l = layout_empty(rank, shape);
    for (uint32_t i = 0; i < bits; i++) layout_add(&l, dim, 0);
    return l;
}

// ---- reading

void layout_shape(const Layout *l, uint32_t shape[IR_MAX_RANK]) {
    for (uint32_t i = 0; i < l->rank; i++) shape[i] = layout_extent(l, i);
}

uint32_t layout_dim_start(const Layout *l, LayoutDim dim) {
    uint32_t start = 0;
    for (uint32_t d = 0; d < (uint32_t)dim; d++) start += l->dim_bits[d];
    return start;
}

uint32_t layout_basis(const Layout *l, LayoutDim dim, uint32_t bit) {
    CHECK(bit < l->dim_bits[dim], "bit %u of %u", bit, l->dim_bits[dim]);
    return l->bases[layout_dim_start(l, dim) + bit];
}

uint32_t layout_axis_start(const Layout *l, uint32_t axis) {
    uint32_t start = 0;
    for (uint32_t i = axis + 1; i < l->rank; i++) start += l->axis_bits[i];
    return start;
}

uint32_t layout_apply(const Layout *l, LayoutPoint point) {
    return layout_apply_input(l, layout_input(l, point));
}

uint32_t layout_apply_input(const Layout *l, uint32_t input) {
    CHECK(l->bits == 32 || input >> l->bits == 0, "input %u of %u bits", input, l->bits);
    return gf2_apply(l->bases, input);
}

// Each bit doubles the table.
void layout_apply_all(const Layout *l, uint32_t *elements) {
    CHECK(l->bits < 32, "a table of 2^%u inputs", l->bits);
    elements[0] = 0;
    for (uint32_t i = 0; i < l->bits; i++) {
        uint32_t count = UINT32_C(1) << i;
        for (uint32_t j = 0; j < count; j++) elements[count + j] = elements[j] ^ l->bases[i];
    }
}

static uint32_t low_mask(uint32_t bits) {
    return bits >= 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
}

LayoutPoint layout_point(const Layout *l, uint32_t input) {
    LayoutPoint point = {{0}};
    uint64_t rest = input;
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        point.at[d] = (uint32_t)rest & low_mask(l->dim_bits[d]);
        rest >>= l->dim_bits[d];
    }
    return point;
}

uint32_t layout_input(const Layout *l, LayoutPoint point) {
    uint64_t input = 0;
    uint32_t start = 0;
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        CHECK((point.at[d] & ~low_mask(l->dim_bits[d])) == 0, "position %u of 2^%u", point.at[d],
              l->dim_bits[d]);
        input |= (uint64_t)point.at[d] << start;
        start += l->dim_bits[d];
    }
    return (uint32_t)input;
}

void layout_coords(const Layout *l, uint32_t element, uint32_t coords[IR_MAX_RANK]) {
    for (uint32_t i = l->rank; i-- > 0;) {
        coords[i] = element & low_mask(l->axis_bits[i]);
        element >>= l->axis_bits[i];
    }
}

uint32_t layout_element(const Layout *l, const uint32_t *coords) {
    uint32_t element = 0;
    for (uint32_t i = 0; i < l->rank; i++) element = element << l->axis_bits[i] | coords[i];
    return element;
}

bool layout_equal(const Layout *a, const Layout *b) { return memcmp(a, b, sizeof *a) == 0; }

uint64_t layout_hash(const Layout *l) {
    uint64_t words[sizeof(Layout) / 8];
    _Static_assert(sizeof words == sizeof(Layout), "a layout has no padding and is whole words");
    memcpy(words, l, sizeof words);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < sizeof words / 8; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

bool layout_same_shape(const Layout *a, const Layout *b) {
    return a->rank == b->rank && memcmp(a->axis_bits, b->axis_bits, sizeof a->axis_bits) == 0;
}

static uint32_t rank_of(const Layout *l) {
    Gf2Span span = {0};
    for (uint32_t i = 0; i < l->bits; i++) gf2_add(&span, l->bases[i], 0);
    return span.rank;
}

bool layout_injective(const Layout *l) { return rank_of(l) == l->bits; }

bool layout_surjective(const Layout *l) { return rank_of(l) == l->tile_bits; }

bool layout_distributed(const Layout *l) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < l->bits; i++) {
        uint32_t basis = l->bases[i];
        if ((basis & (basis - 1)) != 0 || (basis & seen) != 0) return false;
        seen |= basis;
    }
    return seen == low_mask(l->tile_bits);
}

uint32_t layout_free_bits(const Layout *l, LayoutDim dim) {
    Gf2Span span = {0};
    uint32_t start = layout_dim_start(l, dim);
    uint32_t free = 0;
    for (uint32_t i = 0; i < start + l->dim_bits[dim]; i++) {
        bool fresh = gf2_add(&span, l->bases[i], 0);
        if (i >= start && !fresh) free |= UINT32_C(1) << (i - start);
    }
    return free;
}

const Layout *layout_intern(Arena *arena, LayoutPool *pool, const Layout *l) {
    uint64_t key = layout_hash(l);
    for (;; key++) {
        uint64_t *found = map_find(&pool->index, key);
        if (!found) break;
        const Layout *kept = pool->layouts.data[*found];
        if (layout_equal(kept, l)) return kept;
    }
    Layout *made = arena_new(arena, Layout, 1);
    *made = *l;
    map_put(arena, &pool->index, key, pool->layouts.count);
    vec_push(arena, &pool->layouts, made);
    return made;
}

// ---- from hardware to hardware

static Gf2Span span_of_bases(const Layout *l) {
    Gf2Span span = {0};
    for (uint32_t i = 0; i < l->bits; i++) gf2_add(&span, l->bases[i], UINT32_C(1) << i);
    return span;
}

bool layout_map_between(const Layout *from, const Layout *to, LayoutMap *map) {
    if (!layout_same_shape(from, to)) return false;
    memset(map, 0, sizeof *map);
    memcpy(map->from_bits, from->dim_bits, sizeof map->from_bits);
    memcpy(map->to_bits, to->dim_bits, sizeof map->to_bits);
    Gf2Span span = span_of_bases(to);
    for (uint32_t i = 0; i < from->bits; i++) {
        if (!gf2_solve(&span, from->bases[i], &map->bases[i])) return false;
    }
    return true;
}

uint32_t layout_map_apply(const LayoutMap *map, uint32_t input) {
    return gf2_apply(map->bases, input);
}

LayoutMap layout_map_compose(const LayoutMap *first, const LayoutMap *then) {
    CHECK(memcmp(first->to_bits, then->from_bits, sizeof first->to_bits) == 0,
          "maps of different dimensions composed");
    LayoutMap map = {0};
    memcpy(map.from_bits, first->from_bits, sizeof map.from_bits);
    memcpy(map.to_bits, then->to_bits, sizeof map.to_bits);
    for (uint32_t i = 0; i < LAYOUT_MAX_BITS; i++) {
        map.bases[i] = gf2_apply(then->bases, first->bases[i]);
    }
    return map;
}

Layout layout_compose(const LayoutMap *first, const Layout *l) {
    CHECK(memcmp(first->to_bits, l->dim_bits, sizeof first->to_bits) == 0,
          "a map and a layout of different dimensions composed");
    Layout made = *l;
    memcpy(made.dim_bits, first->from_bits, sizeof made.dim_bits);
    uint32_t bits = 0;
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) bits += first->from_bits[d];
    made.bits = (uint8_t)bits;
    for (uint32_t i = 0; i < LAYOUT_MAX_BITS; i++) {
        made.bases[i] = i < bits ? gf2_apply(l->bases, first->bases[i]) : 0;
    }
    return made;
}

bool layout_invert(const Layout *l, uint32_t inverse[LAYOUT_MAX_TILE_BITS]) {
    Gf2Span span = span_of_bases(l);
    for (uint32_t i = 0; i < l->tile_bits; i++) {
        if (!gf2_solve(&span, UINT32_C(1) << i, &inverse[i])) return false;
    }
    return true;
}

Layout layout_without_free(const Layout *l, LayoutDim dim, uint32_t *kept) {
    uint32_t free = layout_free_bits(l, dim);
    uint32_t bits = l->dim_bits[dim];
    Layout made = *l;
    for (uint32_t i = bits; i-- > 0;) {
        if (free >> i & 1) layout_drop(&made, dim, i);
    }
    if (kept) *kept = low_mask(bits) & ~free;
    return made;
}

Layout layout_reorder(const Layout *l, LayoutDim dim, const uint8_t *order) {
    Layout made = *l;
    uint32_t start = layout_dim_start(l, dim);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < l->dim_bits[dim]; i++) {
        CHECK(order[i] < l->dim_bits[dim] && !(seen >> order[i] & 1), "no permutation of bits");
        seen |= UINT32_C(1) << order[i];
        made.bases[start + i] = l->bases[start + order[i]];
    }
    return made;
}
