// wgmma: fragments, and the memory that it reads (build.h).
//
// A descriptor tells where the parts of a factor are. Along the neighbours in memory a part is as
// wide as the swizzle, and 8 rows are one atom. With K along the neighbours, SBO is the distance of
// atoms along M or N, and an instruction reads 32 bytes of each row. With M or N along them, SBO is
// the distance of atoms along K, and LBO the distance of parts along M or N. Then each address a
// becomes a ^ (a >> 3 & mask): the mask has the bits of 16 bytes up to the width. (PTX ISA, "Shared
// Memory Matrix Layout".)
#include "base/os/os.h"
#include "ir/layout/build.h"

enum { CHUNK = 16, ATOM_ROWS = 8, WIDEST = 128, NARROWEST = 32 };

// ---- fragments ----------------------------------------------------------------------------------

// Four warps with 16 rows each.
Layout layout_wgmma(uint32_t n) {
    CHECK(n >= 8 && n <= 256, "wgmma of n %u", n);
    Layout l = layout_empty(2, (uint32_t[]){64, n});
    layout_add_steps(&l, LAYOUT_REG, 1, 1, 2);
    layout_add_steps(&l, LAYOUT_LANE, 1, 2, 8);
    layout_add_steps(&l, LAYOUT_LANE, 0, 1, 8);
    layout_add_steps(&l, LAYOUT_REG, 0, 8, 16);
    layout_add_steps(&l, LAYOUT_WARP, 0, 16, 64);
    layout_add_steps(&l, LAYOUT_REG, 1, 8, n);
    return l;
}

// Each warp has the fragment of mma.sync.
Layout layout_wgmma_a(uint32_t bits) {
    CHECK(bits == 8 || bits == 16 || bits == 32, "wgmma of %u bits", bits);
    LayoutMma mma = {16, 8, 256 / bits, bits};
    Layout warp = layout_mma(mma, LAYOUT_OPERAND_A);
    return layout_tile(&warp, (uint32_t[]){64, mma.k}, 2, (int8_t[]){0, 0}, NULL, NULL);
}

// ---- memory -------------------------------------------------------------------------------------

static uint32_t mask_of(uint32_t swizzle) { return swizzle - CHUNK; }

bool layout_box(uint32_t rank, const uint32_t *shape, uint32_t bits, Layout *box) {
    uint32_t columns = rank - 1, rows = rank - 2, width = shape[columns] * bits / 8;
    if (rank < 2 || width < NARROWEST || shape[rows] < ATOM_ROWS) return false;
    if (width > WIDEST) width = WIDEST;
    *box = layout_empty(rank, shape);
    layout_add_steps(box, LAYOUT_OFFSET, columns, 1, width * 8 / bits);
    for (uint32_t row = 1; row < shape[rows]; row *= 2) {
        uint32_t coords[IR_MAX_RANK] = {0}, chunk = (row * width) >> 3 & mask_of(width);
        coords[rows] = row;
        coords[columns] = chunk * 8 / bits;
        layout_add(box, LAYOUT_OFFSET, layout_element(box, coords));
    }
    layout_add_steps(box, LAYOUT_OFFSET, columns, width * 8 / bits, shape[columns]);
    for (uint32_t axis = rows; axis-- > 0;)
        layout_add_steps(box, LAYOUT_OFFSET, axis, 1, shape[axis]);
    return true;
}

// ---- descriptors --------------------------------------------------------------------------------

uint32_t layout_descriptor_at(const LayoutDescriptor *d, uint32_t start, uint32_t i, uint32_t k,
                              uint32_t bits) {
    uint32_t bytes = bits / 8, width = d->swizzle / bytes, a = start;
    if (d->transposed)
        a += i % width * bytes + i / width * d->lbo + k % ATOM_ROWS * d->swizzle +
             k / ATOM_ROWS * d->sbo;
    else
        a += k * bytes + i % ATOM_ROWS * d->swizzle + i / ATOM_ROWS * d->sbo;
    return a ^ (a >> 3 & mask_of(d->swizzle));
}

// A factor's memory: the byte that each bit of i, or of k, is at.
typedef struct FactorMemory {
    uint32_t inverse[LAYOUT_MAX_TILE_BITS];
    uint32_t i_start, k_start;  // of the bits of an element's number
    uint32_t i_bits, k_bits;    // of an instruction
    uint32_t bits;
} FactorMemory;

static uint32_t byte_of(const FactorMemory *m, uint32_t bit) {
    return m->inverse[bit] * (m->bits / 8);
}

// The formula and the memory are linear, so the steps of single bits prove all of it.
static bool reads_all(const FactorMemory *m, const LayoutDescriptor *d) {
    for (uint32_t b = 0; b < m->i_bits; b++)
        if (layout_descriptor_at(d, 0, 1u << b, 0, m->bits) != byte_of(m, m->i_start + b))
            return false;
    for (uint32_t b = 0; b < m->k_bits; b++)
        if (layout_descriptor_at(d, 0, 0, 1u << b, m->bits) != byte_of(m, m->k_start + b))
            return false;
    return true;
}

// The distance of the bit's step; an instruction without that bit takes no such step.
static uint32_t distance(const FactorMemory *m, uint32_t start, uint32_t bits, uint32_t step) {
    uint32_t bit = (uint32_t)__builtin_ctz(step);
    return bit < bits ? byte_of(m, start + bit) : 0;
}

bool layout_descriptor(const Layout *memory, LayoutOperand operand, uint32_t side, uint32_t bits,
                       LayoutDescriptor *descriptor) {
    FactorMemory m = {.bits = bits};
    uint32_t rows = memory->rank - 2u, columns = memory->rank - 1u, k = 256 / bits;
    bool a = operand == LAYOUT_OPERAND_A;
    if (memory->rank < 2 || !layout_invert(memory, m.inverse)) return false;
    m.i_start = layout_axis_start(memory, a ? rows : columns);
    m.k_start = layout_axis_start(memory, a ? columns : rows);
    m.i_bits = (uint32_t)__builtin_ctz(side);
    m.k_bits = (uint32_t)__builtin_ctz(k);
    if (layout_extent(memory, a ? rows : columns) < side) return false;
    if (layout_extent(memory, a ? columns : rows) < k) return false;
    for (uint32_t swizzle = WIDEST; swizzle >= NARROWEST; swizzle /= 2) {
        LayoutDescriptor along = {.swizzle = swizzle}, across = {.swizzle = swizzle};
        along.sbo = distance(&m, m.i_start, m.i_bits, ATOM_ROWS);
        across.transposed = true;
        across.sbo = distance(&m, m.k_start, m.k_bits, ATOM_ROWS);
        across.lbo = distance(&m, m.i_start, m.i_bits, swizzle * 8 / bits);
        *descriptor = along;
        if (reads_all(&m, &along)) return true;
        *descriptor = across;
        if (bits == 16 && reads_all(&m, &across)) return true;
    }
    return false;
}
