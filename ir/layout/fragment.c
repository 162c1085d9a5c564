// Matrix instructions of all machines behind one name.
#include "base/os.h"
#include "ir/layout/build.h"

const char *layout_unit_name(LayoutUnit unit) {
    static const char *const names[] = {"mma", "mfma", "wmma", "wmma"};
    return names[unit];
}

static LayoutWmma wmma_of(LayoutProduct p) {
    return (LayoutWmma){p.unit == LAYOUT_UNIT_WMMA3 ? 11 : 12, 32, p.k, p.bits};
}

bool layout_fragment_exists(LayoutProduct p) {
    switch (p.unit) {
    case LAYOUT_UNIT_MMA: return layout_mma_exists((LayoutMma){p.m, p.n, p.k, p.bits});
    case LAYOUT_UNIT_MFMA: return p.m == p.n && layout_mfma_exists((LayoutMfma){p.m, p.k, p.bits});
    case LAYOUT_UNIT_WMMA3:
    case LAYOUT_UNIT_WMMA4: return p.m == 16 && p.n == 16 && layout_wmma_exists(wmma_of(p));
    case LAYOUT_UNITS: break;
    }
    return false;
}

// Of AMD's units A and B are spread alike, so that what is given B and A in each other's place
// gives the sum turned: a lane has a run of a row, which is stored as it is, and the rows of what
// is reduced or multiplied next lie in the lanes where those are wanted.
Layout layout_fragment(LayoutProduct p, LayoutOperand operand) {
    Layout l;
    switch (p.unit) {
    case LAYOUT_UNIT_MMA: return layout_mma((LayoutMma){p.m, p.n, p.k, p.bits}, operand);
    case LAYOUT_UNIT_MFMA: l = layout_mfma((LayoutMfma){p.m, p.k, p.bits}, operand); break;
    case LAYOUT_UNIT_WMMA3:
    case LAYOUT_UNIT_WMMA4: l = layout_wmma(wmma_of(p), operand); break;
    case LAYOUT_UNITS: UNREACHABLE("unit %d", (int)p.unit);
    }
    return operand == LAYOUT_OPERAND_C ? layout_permute(&l, (uint32_t[]){1, 0}) : l;
}
