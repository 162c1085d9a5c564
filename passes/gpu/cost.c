#include "passes/gpu/cost.h"

#include "passes/gpu/gpu.h"

Dtype gpu_moved_elem(const IrType *type) {
    if (type->kind == IR_PTR) return DTYPE_U64;
    return type->elem == DTYPE_BOOL ? DTYPE_U8 : type->elem;
}

// ---- shuffles -----------------------------------------------------------------------------------

// The number of independent steps by which threads move registers: the rank of a list of bases.
static uint32_t rank_of(const uint32_t *bases, uint32_t count, const uint32_t *more,
                        uint32_t more_count) {
    uint32_t basis[LAYOUT_MAX_BITS + GPU_LANE_BITS_MAX], rank = 0;
    for (uint32_t i = 0; i < count + more_count; i++) {
        uint32_t left = i < count ? bases[i] : more[i - count];
        for (uint32_t k = 0; k < rank; k++)
            if ((left ^ basis[k]) < left) left ^= basis[k];
        if (left) basis[rank++] = left;
    }
    return rank;
}

static uint64_t shuffle_cost(const LayoutShuffle *s, const Layout *from, const Layout *to,
                             uint32_t bits) {
    uint32_t rounds = 1u << s->round_bits, pack = 1u << s->pack_bits;
    uint32_t words = bits > 32 ? 2 : 1, kept = layout_size(to, LAYOUT_REG) << s->alternate_bits;
    uint32_t keep[GPU_LANE_BITS_MAX], lane_bits = to->dim_bits[LAYOUT_LANE];
    for (uint32_t i = 0; i < lane_bits; i++)
        keep[i] = s->keep_lane[i] | s->alternate_lane[i] << to->dim_bits[LAYOUT_REG];
    uint64_t selects =
        rank_of(s->offer_lane, lane_bits, s->offer_warp, from->dim_bits[LAYOUT_WARP]) *
        layout_size(from, LAYOUT_REG);
    selects += rank_of(keep, lane_bits, NULL, 0) * kept;
    uint64_t packing = pack > 1 ? 2 * (uint64_t)rounds * pack : 0;
    return GPU_COST_LATENCY + (uint64_t)rounds * words * GPU_COST_SHUFFLE +
           (selects * words + packing) * GPU_COST_ISSUE;
}

static uint64_t rename_cost(const Layout *from, const Layout *to) {
    LayoutMoves m;
    if (!layout_moves(from, to, &m)) return UINT64_MAX;
    uint32_t steps =
        rank_of(m.by_lane, from->dim_bits[LAYOUT_LANE], m.by_warp, from->dim_bits[LAYOUT_WARP]);
    return (uint64_t)steps * layout_size(from, LAYOUT_REG) * GPU_COST_ISSUE;
}

// ---- trips --------------------------------------------------------------------------------------

static uint64_t side_cost(const Layout *l, uint32_t vector, LayoutConflicts c) {
    uint64_t accesses = (layout_size(l, LAYOUT_REG) + vector - 1) / vector;
    return accesses * (GPU_COST_ISSUE + (uint64_t)c.wavefronts * GPU_COST_WAVEFRONT);
}

static uint64_t shared_cost(const Layout *from, const Layout *to, uint32_t bits,
                            const SharedBanks *banks) {
    LayoutTrip trip;
    LayoutSide store = {.layout = from}, load = {.layout = to};
    if (!layout_trip(&store, &load, bits, banks, &trip)) return UINT64_MAX;
    return side_cost(from, trip.store_vector, trip.store) +
           side_cost(to, trip.load_vector, trip.load) + 2 * GPU_COST_BARRIER + GPU_COST_ADDRESS;
}

GpuConversion gpu_conversion(const Layout *from, const Layout *to, uint32_t bits,
                             const SharedBanks *banks) {
    GpuConversion r = {.kind = GPU_CONVERT_SHARED};
    switch (layout_conversion(from, to)) {
    case LAYOUT_CONVERT_NONE: return (GpuConversion){.kind = GPU_CONVERT_NONE};
    case LAYOUT_CONVERT_REGISTERS:
        return (GpuConversion){.kind = GPU_CONVERT_REGISTERS, .cost = rename_cost(from, to)};
    case LAYOUT_CONVERT_LANES:
    case LAYOUT_CONVERT_WARPS:
    case LAYOUT_CONVERT_BLOCKS: break;
    }
    r.cost = shared_cost(from, to, bits, banks);
    if (!layout_shuffle(from, to, bits, &r.shuffle)) return r;
    uint64_t cost = shuffle_cost(&r.shuffle, from, to, bits);
    if (cost > r.cost) return r;
    r.cost = cost;
    r.kind = GPU_CONVERT_SHUFFLES;
    return r;
}
