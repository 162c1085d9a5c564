// Layouts of tiles that are combined, split or reshaped (layout.h).
#include <string.h>

#include "base/os/os.h"
#include "ir/layout/layout.h"

// An element number of `from`, with its coordinate on each axis shifted up (or down), as one of
// `to`.
static uint32_t moved(const Layout *from, const Layout *to, uint32_t element, const int *shift) {
    uint32_t coords[IR_MAX_RANK];
    layout_coords(from, element, coords);
    for (uint32_t i = 0; i < from->rank; i++) {
        coords[i] = shift[i] < 0 ? coords[i] >> -shift[i] : coords[i] << shift[i];
    }
    return layout_element(to, coords);
}

static Layout empty_of_bits(uint32_t rank, const int *axis_bits) {
    uint32_t shape[IR_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        CHECK(axis_bits[i] >= 0 && axis_bits[i] < 32, "an axis of %d bits", axis_bits[i]);
        shape[i] = UINT32_C(1) << axis_bits[i];
    }
    return layout_empty(rank, shape);
}

Layout layout_product(const Layout *a, const Layout *b) {
    CHECK(a->rank == b->rank, "a product of layouts of rank %u and %u", a->rank, b->rank);
    int axis_bits[IR_MAX_RANK] = {0}, none[IR_MAX_RANK] = {0}, above[IR_MAX_RANK] = {0};
    for (uint32_t i = 0; i < a->rank; i++) {
        above[i] = a->axis_bits[i];
        axis_bits[i] = a->axis_bits[i] + b->axis_bits[i];
    }
    Layout l = empty_of_bits(a->rank, axis_bits);
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        LayoutDim dim = (LayoutDim)d;
        for (uint32_t i = 0; i < a->dim_bits[d]; i++) {
            layout_add(&l, dim, moved(a, &l, layout_basis(a, dim, i), none));
        }
        for (uint32_t i = 0; i < b->dim_bits[d]; i++) {
            layout_add(&l, dim, moved(b, &l, layout_basis(b, dim, i), above));
        }
    }
    return l;
}

// A division. The quotient's bits of each dimension are those of l from `skip` on (as many as the
// divisor's leave), with shifted coordinates. Multiplying back shows whether the division is exact.
static bool divide(const Layout *l, const Layout *divisor, bool left, Layout *quotient) {
    if (l->rank != divisor->rank) return false;
    int axis_bits[IR_MAX_RANK] = {0}, shift[IR_MAX_RANK] = {0};
    for (uint32_t i = 0; i < l->rank; i++) {
        axis_bits[i] = l->axis_bits[i] - divisor->axis_bits[i];
        if (axis_bits[i] < 0) return false;
        shift[i] = left ? -(int)divisor->axis_bits[i] : 0;
    }
    Layout made = empty_of_bits(l->rank, axis_bits);
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        if (l->dim_bits[d] < divisor->dim_bits[d]) return false;
        uint32_t skip = left ? divisor->dim_bits[d] : 0;
        uint32_t count = (uint32_t)(l->dim_bits[d] - divisor->dim_bits[d]);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t basis = layout_basis(l, (LayoutDim)d, skip + i);
            uint32_t coords[IR_MAX_RANK];
            layout_coords(l, basis, coords);
            for (uint32_t a = 0; a < l->rank && !left; a++) {
                if (coords[a] >= layout_extent(&made, a)) return false;
            }
            layout_add(&made, (LayoutDim)d, moved(l, &made, basis, shift));
        }
    }
    Layout back = left ? layout_product(divisor, &made) : layout_product(&made, divisor);
    if (!layout_equal(&back, l)) return false;
    *quotient = made;
    return true;
}

bool layout_divide_left(const Layout *l, const Layout *a, Layout *b) {
    return divide(l, a, true, b);
}

bool layout_divide_right(const Layout *l, const Layout *b, Layout *a) {
    return divide(l, b, false, a);
}

// l's bits, with each basis replaced by the image of its coordinates.
typedef struct Recast {
    uint32_t rank;
    uint32_t shape[IR_MAX_RANK];
    int8_t source[IR_MAX_RANK];  // the axis of l that becomes this axis, or -1: always 0
} Recast;

static Layout recast(const Layout *l, const Recast *how) {
    Layout made = layout_empty(how->rank, how->shape);
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        for (uint32_t i = 0; i < l->dim_bits[d]; i++) {
            uint32_t coords[IR_MAX_RANK], seen[IR_MAX_RANK];
            layout_coords(l, layout_basis(l, (LayoutDim)d, i), coords);
            for (uint32_t a = 0; a < how->rank; a++) {
                seen[a] = how->source[a] < 0 ? 0 : coords[how->source[a]];
            }
            layout_add(&made, (LayoutDim)d, layout_element(&made, seen));
        }
    }
    return made;
}

Layout layout_slice(const Layout *l, uint32_t axis) {
    CHECK(axis < l->rank, "axis %u of a layout of rank %u", axis, l->rank);
    Recast how = {.rank = l->rank - 1u};
    for (uint32_t i = 0; i < how.rank; i++) {
        how.source[i] = (int8_t)(i < axis ? i : i + 1);
        how.shape[i] = layout_extent(l, (uint32_t)how.source[i]);
    }
    return recast(l, &how);
}

Layout layout_expand(const Layout *l, uint32_t axis) {
    CHECK(axis <= l->rank && l->rank < IR_MAX_RANK, "axis %u put into rank %u", axis, l->rank);
    uint32_t shape[IR_MAX_RANK];
    for (uint32_t i = 0; i <= l->rank; i++) {
        shape[i] = i == axis ? 1 : layout_extent(l, i < axis ? i : i - 1);
    }
    return layout_reshape(l, l->rank + 1u, shape);
}

Layout layout_broadcast(const Layout *l, uint32_t axis, uint32_t extent) {
    CHECK(axis < l->rank && l->axis_bits[axis] == 0, "axis %u is not of extent 1", axis);
    Recast how = {.rank = l->rank};
    layout_shape(l, how.shape);
    how.shape[axis] = extent;
    for (uint32_t i = 0; i < how.rank; i++) how.source[i] = (int8_t)i;
    Layout made = recast(l, &how);
    for (uint32_t step = 1; step < extent; step *= 2) {
        layout_add_step(&made, LAYOUT_REG, axis, step);
    }
    return made;
}

Layout layout_reshape(const Layout *l, uint32_t rank, const uint32_t *shape) {
    Layout made = layout_empty(rank, shape);
    CHECK(made.tile_bits == l->tile_bits, "2^%u elements reshaped to 2^%u", l->tile_bits,
          made.tile_bits);
    made.bits = l->bits;
    memcpy(made.dim_bits, l->dim_bits, sizeof made.dim_bits);
    memcpy(made.bases, l->bases, sizeof made.bases);
    return made;
}

Layout layout_permute(const Layout *l, const uint32_t *order) {
    Recast how = {.rank = l->rank};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < l->rank; i++) {
        CHECK(order[i] < l->rank && !(seen >> order[i] & 1), "no permutation of axes");
        seen |= UINT32_C(1) << order[i];
        how.source[i] = (int8_t)order[i];
        how.shape[i] = layout_extent(l, order[i]);
    }
    return recast(l, &how);
}

Layout layout_join(const Layout *l) {
    CHECK(l->rank < IR_MAX_RANK, "a join of rank %u", l->rank);
    uint32_t shape[IR_MAX_RANK];
    layout_shape(l, shape);
    shape[l->rank] = 2;
    Layout made = layout_empty(l->rank + 1u, shape);
    layout_add(&made, LAYOUT_REG, 1);
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        for (uint32_t i = 0; i < l->dim_bits[d]; i++) {
            layout_add(&made, (LayoutDim)d, layout_basis(l, (LayoutDim)d, i) << 1);
        }
    }
    return made;
}

bool layout_halve(const Layout *l, uint32_t element_bit, Layout *half, LayoutDim *dim,
                  uint32_t *bit) {
    uint32_t chosen = UINT32_C(1) << element_bit, chooser = UINT32_MAX, axis = l->rank;
    for (uint32_t i = 0; i < l->bits; i++) {
        if (!(l->bases[i] & chosen)) continue;
        if (l->bases[i] != chosen || chooser != UINT32_MAX) return false;
        chooser = i;
    }
    if (chooser == UINT32_MAX) return false;
    Layout made = *l;
    *dim = LAYOUT_REG, *bit = chooser;
    while (*bit >= l->dim_bits[*dim]) *bit -= l->dim_bits[(*dim)++];
    if (*dim == LAYOUT_REG)
        layout_drop(&made, LAYOUT_REG, *bit);
    else
        made.bases[chooser] = 0;
    while (axis > 0 && layout_axis_start(l, axis - 1) <= element_bit) axis--;
    made.axis_bits[axis]--;
    made.tile_bits--;
    for (uint32_t i = 0; i < made.bits; i++)
        made.bases[i] = (made.bases[i] & (chosen - 1)) | (made.bases[i] >> 1 & ~(chosen - 1));
    *half = made;
    return true;
}

bool layout_split(const Layout *l, Layout *half, uint32_t *bit) {
    if (l->rank == 0 || l->axis_bits[l->rank - 1] != 1) return false;
    uint32_t chooser = UINT32_MAX;
    for (uint32_t i = 0; i < l->bits; i++) {
        if (!(l->bases[i] & 1)) continue;
        if (i >= l->dim_bits[LAYOUT_REG] || l->bases[i] != 1 || chooser != UINT32_MAX) return false;
        chooser = i;
    }
    if (chooser == UINT32_MAX) return false;
    uint32_t shape[IR_MAX_RANK];
    layout_shape(l, shape);
    Layout made = layout_empty(l->rank - 1u, shape);
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        for (uint32_t i = 0; i < l->dim_bits[d]; i++) {
            if (d == LAYOUT_REG && i == chooser) continue;
            layout_add(&made, (LayoutDim)d, layout_basis(l, (LayoutDim)d, i) >> 1);
        }
    }
    *half = made;
    *bit = chooser;
    return true;
}
