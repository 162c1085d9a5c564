// Fragments of AMD's matrix instructions: MFMA of CDNA 2 to 4, WMMA of RDNA 3 and 4.
//
// Lanes run along M (or N) first, the remaining lanes along K (or, for an accumulator, along M);
// each holds a run of neighbours there.
#include "base/os/os.h"
#include "ir/layout/build.h"

// A's side is axis 0, B's axis 1. A lane's elements run along K; in the forms that take 32 bytes
// per lane they are two runs of 16, half of K apart.
static Layout mfma_operand(LayoutMfma mfma, uint32_t axis) {
    uint32_t k_axis = 1 - axis;
    uint32_t shape[2];
    shape[axis] = mfma.mn;
    shape[k_axis] = mfma.k;
    uint32_t each = mfma.k * mfma.mn / 64;
    uint32_t run = each * mfma.bits > 128 ? 128 / mfma.bits : each;
    Layout l = layout_empty(2, shape);
    layout_add_steps(&l, LAYOUT_REG, k_axis, 1, run);
    layout_add_steps(&l, LAYOUT_LANE, axis, 1, mfma.mn);
    layout_add_steps(&l, LAYOUT_LANE, k_axis, run, run * (64 / mfma.mn));
    layout_add_steps(&l, LAYOUT_REG, k_axis, run * (64 / mfma.mn), mfma.k);
    return l;
}

// Four rows per lane, then the other lanes' rows, then the same again; for f64 the lanes' rows come
// first.
static Layout mfma_accumulator(LayoutMfma mfma) {
    uint32_t run = mfma.bits == 64 ? 1 : 4;
    uint32_t round = run * (64 / mfma.mn);
    Layout l = layout_empty(2, (uint32_t[]){mfma.mn, mfma.mn});
    layout_add_steps(&l, LAYOUT_REG, 0, 1, run);
    layout_add_steps(&l, LAYOUT_LANE, 1, 1, mfma.mn);
    layout_add_steps(&l, LAYOUT_LANE, 0, run, round);
    layout_add_steps(&l, LAYOUT_REG, 0, round, mfma.mn);
    return l;
}

Layout layout_mfma(LayoutMfma mfma, LayoutOperand operand) {
    CHECK(matrix_shape_exists((MatrixShape){MATRIX_UNIT_MFMA, mfma.mn, mfma.mn, mfma.k, mfma.bits}),
          "no mfma %ux%ux%u of %u bits", mfma.mn, mfma.mn, mfma.k, mfma.bits);
    switch (operand) {
    case LAYOUT_OPERAND_A: return mfma_operand(mfma, 0);
    case LAYOUT_OPERAND_B: return mfma_operand(mfma, 1);
    case LAYOUT_OPERAND_C: return mfma_accumulator(mfma);
    }
    UNREACHABLE("operand %d", (int)operand);
}

static bool wmma_exists(LayoutWmma wmma) {
    bool rdna3 = wmma.generation == 11, rdna4 = wmma.generation == 12;
    MatrixUnit unit = rdna3 ? MATRIX_UNIT_WMMA3 : MATRIX_UNIT_WMMA4;
    return (rdna3 || rdna4) && (wmma.lanes == 32 || wmma.lanes == 64) &&
           matrix_shape_exists((MatrixShape){unit, 16, 16, wmma.k, wmma.bits});
}

// On RDNA3 every part of the wave holds all of K. On RDNA4, lanes hold runs of 64 bits of K in
// rotation.
static Layout wmma_operand_32(LayoutWmma wmma, uint32_t axis) {
    uint32_t k_axis = 1 - axis;
    uint32_t shape[2];
    shape[axis] = 16;
    shape[k_axis] = wmma.k;
    Layout l = layout_empty(2, shape);
    uint32_t run = wmma.k;
    if (wmma.generation == 12) run = 64 / wmma.bits < wmma.k / 2 ? 64 / wmma.bits : wmma.k / 2;
    layout_add_steps(&l, LAYOUT_REG, k_axis, 1, run);
    layout_add_steps(&l, LAYOUT_LANE, axis, 1, 16);
    layout_add_step(&l, LAYOUT_LANE, k_axis, run);
    layout_add_steps(&l, LAYOUT_REG, k_axis, 2 * run, wmma.k);
    return l;
}

// RDNA3 distributes rows alternately over the halves of the wave; RDNA4 gives each a run of them.
static Layout wmma_accumulator_32(LayoutWmma wmma) {
    uint32_t run = wmma.generation == 11 ? 1 : 8;
    Layout l = layout_empty(2, (uint32_t[]){16, 16});
    layout_add_steps(&l, LAYOUT_REG, 0, 1, run);
    layout_add_steps(&l, LAYOUT_LANE, 1, 1, 16);
    layout_add_step(&l, LAYOUT_LANE, 0, run);
    layout_add_steps(&l, LAYOUT_REG, 0, 2 * run, 16);
    return l;
}

// With 64 lanes, the other half holds the registers above (RDNA4, if a register is entirely within
// it) or below (accumulators of RDNA3), or a copy.
static Layout wmma_64(Layout l, uint32_t bit) {
    uint32_t basis = layout_basis(&l, LAYOUT_REG, bit);
    Layout made = l;
    layout_drop(&made, LAYOUT_REG, bit);
    layout_add(&made, LAYOUT_LANE, basis);
    return made;
}

static Layout wmma_operand(LayoutWmma wmma, uint32_t axis) {
    Layout l = wmma_operand_32(wmma, axis);
    if (wmma.lanes == 32) return l;
    bool split = wmma.generation == 12 && layout_size(&l, LAYOUT_REG) * wmma.bits > 32;
    if (split) return wmma_64(l, l.dim_bits[LAYOUT_REG] - 1u);
    layout_add(&l, LAYOUT_LANE, 0);
    return l;
}

static Layout wmma_accumulator(LayoutWmma wmma) {
    Layout l = wmma_accumulator_32(wmma);
    if (wmma.lanes == 32) return l;
    return wmma_64(l, wmma.generation == 12 ? l.dim_bits[LAYOUT_REG] - 1u : 0);
}

Layout layout_wmma(LayoutWmma wmma, LayoutOperand operand) {
    CHECK(wmma_exists(wmma), "no wmma k %u of %u bits on %u lanes of RDNA", wmma.k, wmma.bits,
          wmma.lanes);
    switch (operand) {
    case LAYOUT_OPERAND_A: return wmma_operand(wmma, 0);
    case LAYOUT_OPERAND_B: return wmma_operand(wmma, 1);
    case LAYOUT_OPERAND_C: return wmma_accumulator(wmma);
    }
    UNREACHABLE("operand %d", (int)operand);
}
