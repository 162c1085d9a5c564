// Fragments of mma.sync and ldmatrix (PTX ISA, matrix fragments).
//
// One pattern serves all of mma.sync. For an operand, four neighbouring lanes run along K, each
// with as many elements as fill 32 bits (one of 64), and eight such groups along M or N; further
// registers take the second half of M, then the rest of K. For the accumulator, a lane holds two
// neighbours along N.
#include "base/os/os.h"
#include "ir/layout/build.h"

// An operand whose long side (M or N) is `axis`; K is the other axis.
static Layout operand(uint32_t axis, uint32_t side, uint32_t k, uint32_t bits) {
    uint32_t k_axis = 1 - axis;
    uint32_t shape[2];
    shape[axis] = side;
    shape[k_axis] = k;
    uint32_t packed = bits < 32 ? 32 / bits : 1;
    Layout l = layout_empty(2, shape);
    layout_add_steps(&l, LAYOUT_REG, k_axis, 1, packed);
    layout_add_steps(&l, LAYOUT_LANE, k_axis, packed, 4 * packed);
    layout_add_steps(&l, LAYOUT_LANE, axis, 1, 8);
    layout_add_steps(&l, LAYOUT_REG, axis, 8, side);
    layout_add_steps(&l, LAYOUT_REG, k_axis, 4 * packed, k);
    return l;
}

static Layout accumulator(uint32_t m, uint32_t n) {
    Layout l = layout_empty(2, (uint32_t[]){m, n});
    layout_add_steps(&l, LAYOUT_REG, 1, 1, 2);
    layout_add_steps(&l, LAYOUT_LANE, 1, 2, 8);
    layout_add_steps(&l, LAYOUT_LANE, 0, 1, 8);
    layout_add_steps(&l, LAYOUT_REG, 0, 8, m);
    return l;
}

Layout layout_mma(LayoutMma mma, LayoutOperand which) {
    CHECK(matrix_shape_exists((MatrixShape){MATRIX_UNIT_MMA, mma.m, mma.n, mma.k, mma.bits}),
          "no mma.m%un%uk%u of %u bits", mma.m, mma.n, mma.k, mma.bits);
    switch (which) {
    case LAYOUT_OPERAND_A: return operand(0, mma.m, mma.k, mma.bits);
    case LAYOUT_OPERAND_B: return operand(1, mma.n, mma.k, mma.bits);
    case LAYOUT_OPERAND_C: return accumulator(mma.m, mma.n);
    }
    UNREACHABLE("operand %d", (int)which);
}

Layout layout_ldmatrix(uint32_t count, bool transposed) {
    CHECK(count == 1 || count == 2 || count == 4, "ldmatrix of %u matrices", count);
    Layout l = layout_empty(3, (uint32_t[]){count, 8, 8});
    uint32_t along = transposed ? 1 : 2;
    layout_add_steps(&l, LAYOUT_REG, along, 1, 2);
    layout_add_steps(&l, LAYOUT_LANE, along, 2, 8);
    layout_add_steps(&l, LAYOUT_LANE, 3 - along, 1, 8);
    layout_add_steps(&l, LAYOUT_REG, 0, 1, count);
    return l;
}

// Eight lanes for each matrix; the addresses of further lanes are not used.
Layout layout_ldmatrix_rows(uint32_t count) {
    CHECK(count == 1 || count == 2 || count == 4, "ldmatrix of %u matrices", count);
    Layout l = layout_empty(2, (uint32_t[]){count, 8});
    layout_add_steps(&l, LAYOUT_LANE, 1, 1, 8);
    layout_add_steps(&l, LAYOUT_LANE, 0, 1, 4);
    return l;
}
