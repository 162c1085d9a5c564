// Matrix instructions of all machines, with one interface.
#include "base/os/os.h"
#include "ir/layout/build.h"

static LayoutWmma wmma_of(MatrixShape p) {
    return (LayoutWmma){p.unit == MATRIX_UNIT_WMMA3 ? 11 : 12, 32, p.k, p.bits};
}

// Only elements with the same K are multiplied with each other, so K may be in any order that A and
// B share. This order makes a lane's elements one run, as loads bring them and RDNA4's sums have
// them.
static Layout in_one_run(const Layout *l, uint32_t k_axis) {
    static const LayoutDim dims[] = {LAYOUT_REG, LAYOUT_LANE};
    uint32_t next = 1, shape[IR_MAX_RANK];
    layout_shape(l, shape);
    Layout made = layout_empty(2, shape);
    for (uint32_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (uint32_t i = 0; i < l->dim_bits[dims[d]]; i++) {
            uint32_t at[IR_MAX_RANK];
            layout_coords(l, layout_basis(l, dims[d], i), at);
            layout_add_step(&made, dims[d], at[k_axis] ? k_axis : 1 - k_axis,
                            at[k_axis] ? next : at[1 - k_axis]);
            if (at[k_axis]) next *= 2;
        }
    return made;
}

// wgmma reads B from shared memory only. Where B is read into registers all the same, warps have it
// as for mma.sync.
static Layout of_warpgroup(MatrixShape p, LayoutOperand operand) {
    if (operand == LAYOUT_OPERAND_A) return layout_wgmma_a(p.bits);
    if (operand == LAYOUT_OPERAND_C) return layout_wgmma(p.n);
    Layout one = layout_mma((LayoutMma){16, 8, p.k, p.bits}, LAYOUT_OPERAND_B);
    return layout_tile(&one, (uint32_t[]){p.k, p.n}, 2, (int8_t[]){-1, -1}, NULL, NULL);
}

// AMD's units distribute A and B alike, so swapping A and B gives the transposed sum: a lane then
// has a run of a row, which can be stored directly, and the rows that are reduced or multiplied
// next are in the lanes that need them.
Layout layout_fragment(MatrixShape p, LayoutOperand operand) {
    Layout l;
    switch (p.unit) {
    case MATRIX_UNIT_MMA: return layout_mma((LayoutMma){p.m, p.n, p.k, p.bits}, operand);
    case MATRIX_UNIT_WGMMA: return of_warpgroup(p, operand);
    case MATRIX_UNIT_MFMA: l = layout_mfma((LayoutMfma){p.m, p.k, p.bits}, operand); break;
    case MATRIX_UNIT_WMMA3:
    case MATRIX_UNIT_WMMA4: l = layout_wmma(wmma_of(p), operand); break;
    case MATRIX_UNITS: UNREACHABLE("unit %d", (int)p.unit);
    }
    if (p.unit == MATRIX_UNIT_WMMA4 && operand != LAYOUT_OPERAND_C)
        l = in_one_run(&l, operand == LAYOUT_OPERAND_A ? 1 : 0);
    return operand == LAYOUT_OPERAND_C ? layout_permute(&l, (uint32_t[]){1, 0}) : l;
}
