// Matrix instructions of all machines behind one name.
#include "base/os/os.h"
#include "ir/layout/build.h"

static LayoutWmma wmma_of(MatrixShape p) {
    return (LayoutWmma){p.unit == MATRIX_UNIT_WMMA3 ? 11 : 12, 32, p.k, p.bits};
}

// What an element along K is multiplied with is all that counts, so K's order is free where A and B
// have the same: a lane's elements become one run, as loads bring them and RDNA4's sums have them.
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

// Of AMD's units A and B are spread alike, so that what is given B and A in each other's place
// gives the sum turned: a lane has a run of a row, which is stored as it is, and the rows of what
// is reduced or multiplied next lie in the lanes where those are wanted.
Layout layout_fragment(MatrixShape p, LayoutOperand operand) {
    Layout l;
    switch (p.unit) {
    case MATRIX_UNIT_MMA: return layout_mma((LayoutMma){p.m, p.n, p.k, p.bits}, operand);
    case MATRIX_UNIT_MFMA: l = layout_mfma((LayoutMfma){p.m, p.k, p.bits}, operand); break;
    case MATRIX_UNIT_WMMA3:
    case MATRIX_UNIT_WMMA4: l = layout_wmma(wmma_of(p), operand); break;
    case MATRIX_UNITS: UNREACHABLE("unit %d", (int)p.unit);
    }
    if (p.unit == MATRIX_UNIT_WMMA4 && operand != LAYOUT_OPERAND_C)
        l = in_one_run(&l, operand == LAYOUT_OPERAND_A ? 1 : 0);
    return operand == LAYOUT_OPERAND_C ? layout_permute(&l, (uint32_t[]){1, 0}) : l;
}
