// The cost of accesses to global memory, by layout (query.h).
#include "ir/layout/query.h"

#include "base/os/os.h"
#include "ir/layout/gf2.h"

static Gf2Span register_span(const Layout *l) {
    Gf2Span span = {0};
    for (uint32_t i = 0; i < l->dim_bits[LAYOUT_REG]; i++) {
        gf2_add(&span, layout_basis(l, LAYOUT_REG, i), UINT32_C(1) << i);
    }
    return span;
}

uint32_t layout_contiguity(const Layout *l, uint32_t axis) {
    if (l->rank == 0) return 1;
    Gf2Span span = register_span(l);
    uint32_t start = layout_axis_start(l, axis);
    uint32_t run = 1;
    while (run < layout_extent(l, axis) && gf2_has(&span, run << start)) run *= 2;
    return run;
}

bool layout_run_registers(const Layout *l, uint32_t axis, uint32_t run, uint32_t registers[]) {
    Gf2Span span = register_span(l);
    uint32_t bit = 0;
    for (uint32_t step = 1; step < run; step *= 2, bit++) {
        if (step >= layout_extent(l, axis)) return false;
        if (!gf2_solve(&span, step << layout_axis_start(l, axis), &registers[bit])) return false;
    }
    return true;
}

uint32_t layout_vector(const Layout *l, const LayoutMemory *memory) {
    uint32_t vector = layout_contiguity(l, memory->fast_axis);
    uint64_t base = memory->base_divisor ? memory->base_divisor : 1;
    for (; vector > 1; vector /= 2) {
        uint64_t bytes = (uint64_t)vector * memory->element_bytes;
        if (bytes <= memory->max_bytes && base % bytes == 0 &&
            memory->stride_divisor % vector == 0 && memory->edge_divisor % vector == 0) {
            break;
        }
    }
    return vector;
}

static int64_t floor_sector(int64_t address) {
    return address >= 0 ? address / 32 : -((31 - address) / 32);
}

// Adds each sector once to `seen`.
static uint32_t note_sectors(int64_t *seen, uint32_t count, int64_t first, int64_t last) {
    for (int64_t sector = first; sector <= last; sector++) {
        uint32_t i = 0;
        while (i < count && seen[i] != sector) i++;
        if (i == count) seen[count++] = sector;
    }
    return count;
}

uint32_t layout_sectors(const Layout *l, uint32_t reg, uint32_t warp, uint32_t vector,
                        uint32_t fast_axis, uint32_t element_bytes, int64_t base,
                        const int64_t *strides) {
    enum { MAX_LANES = 64, MAX_SECTORS = 3 };  // of one access: up to 64 bytes, not aligned
    uint32_t lanes = layout_size(l, LAYOUT_LANE);
    CHECK(lanes <= MAX_LANES && vector * element_bytes <= 64, "an access of %u lanes by %u bytes",
          lanes, vector * element_bytes);
    int64_t seen[MAX_LANES * MAX_SECTORS];
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint32_t coords[IR_MAX_RANK];
        layout_coords(l, layout_apply(l, layout_at(reg, lane, warp)), coords);
        if (l->rank) coords[fast_axis] &= ~(vector - 1);
        int64_t address = base;
        for (uint32_t i = 0; i < l->rank; i++) address += (int64_t)coords[i] * strides[i];
        count = note_sectors(seen, count, floor_sector(address),
                             floor_sector(address + (int64_t)vector * element_bytes - 1));
    }
    return count;
}
