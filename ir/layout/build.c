// Constructors of layouts that are not an instruction's: blocked layouts, and tilings of an
// instruction's layout.
#include <string.h>

#include "base/os/os.h"
#include "ir/layout/build.h"

// The part of each axis that is filled already, in bits.
typedef struct Cursor {
    uint32_t bits[IR_MAX_RANK];
} Cursor;

static void walk(Layout *l, LayoutDim dim, uint32_t axis, Cursor *cursor) {
    bool inside = cursor->bits[axis] < l->axis_bits[axis];
    layout_add(l, dim,
               inside ? UINT32_C(1) << (layout_axis_start(l, axis) + cursor->bits[axis]) : 0);
    if (inside) cursor->bits[axis]++;
}

// Registers run along the part of the axes that is not covered yet.
static void fill(Layout *l, const uint8_t *order, Cursor *cursor) {
    for (uint32_t i = 0; i < l->rank; i++) {
        uint32_t axis = order ? order[i] : l->rank - 1u - i;
        while (cursor->bits[axis] < l->axis_bits[axis]) walk(l, LAYOUT_REG, axis, cursor);
    }
}

static uint32_t log2_of(uint32_t count, const char *what) {
    CHECK(count != 0 && (count & (count - 1)) == 0, "%u %s along an axis", count, what);
    return (uint32_t)__builtin_ctz(count);
}

Layout layout_blocked(const LayoutBlocked *b) {
    Layout l = layout_empty(b->rank, b->shape);
    Cursor cursor = {{0}};
    for (uint32_t i = 0; i < b->rank; i++) {
        uint32_t axis = b->order[i];
        CHECK(axis < b->rank, "axis %u in the order of rank %u", axis, b->rank);
        uint32_t bits = log2_of(b->elements[axis], "elements");
        if (bits > l.axis_bits[axis]) bits = l.axis_bits[axis];  // no registers beyond the axis
        while (bits-- > 0) walk(&l, LAYOUT_REG, axis, &cursor);
    }
    for (uint32_t i = 0; i < b->rank; i++) {
        uint32_t bits = log2_of(b->lanes[b->order[i]], "lanes");
        while (bits-- > 0) walk(&l, LAYOUT_LANE, b->order[i], &cursor);
    }
    for (uint32_t i = 0; i < b->rank; i++) {
        uint32_t bits = log2_of(b->warps[b->order[i]], "warps");
        while (bits-- > 0) walk(&l, LAYOUT_WARP, b->order[i], &cursor);
    }
    fill(&l, b->order, &cursor);
    return l;
}

// The instruction's own bits; those past the end of a shorter tile replicate.
static Layout placed(const Layout *instruction, const uint32_t *shape, Cursor *cursor) {
    Layout l = layout_empty(instruction->rank, shape);
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        for (uint32_t i = 0; i < instruction->dim_bits[d]; i++) {
            uint32_t coords[IR_MAX_RANK];
            layout_coords(instruction, layout_basis(instruction, (LayoutDim)d, i), coords);
            for (uint32_t a = 0; a < l.rank; a++) coords[a] &= shape[a] - 1;
            layout_add(&l, (LayoutDim)d, layout_element(&l, coords));
        }
    }
    for (uint32_t a = 0; a < l.rank; a++) {
        uint32_t bits = instruction->axis_bits[a];
        cursor->bits[a] = bits < l.axis_bits[a] ? bits : l.axis_bits[a];
    }
    return l;
}

Layout layout_tile(const Layout *instruction, const uint32_t *shape, uint32_t warp_bits,
                   const int8_t *warps, const uint32_t *inner, const uint8_t *order) {
    Cursor cursor;
    Layout l = placed(instruction, shape, &cursor);
    for (uint32_t i = 0; i < l.rank && inner; i++) {
        uint32_t axis = order ? order[i] : l.rank - 1u - i;
        uint32_t bits = log2_of(inner[axis], "instructions");
        while (bits-- > 0 && cursor.bits[axis] < l.axis_bits[axis]) {
            walk(&l, LAYOUT_REG, axis, &cursor);
        }
    }
    for (uint32_t i = 0; i < warp_bits; i++) {
        CHECK(warps[i] < (int)l.rank, "axis %d of rank %u", warps[i], l.rank);
        if (warps[i] < 0) {
            layout_add(&l, LAYOUT_WARP, 0);
        } else {
            walk(&l, LAYOUT_WARP, (uint32_t)warps[i], &cursor);
        }
    }
    fill(&l, order, &cursor);
    return l;
}
