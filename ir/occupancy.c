#include "ir/occupancy.h"

#include <stddef.h>

enum { WARP = 32, KIB = 1024, REGISTER_UNIT = 256, PARTS = 4 };

static const GpuLimits limits[] = {
    {75, 32, 16, 64 * KIB, 64 * KIB, 0, 32},     {80, 64, 32, 64 * KIB, 164 * KIB, KIB, 2},
    {86, 48, 16, 64 * KIB, 100 * KIB, KIB, 64},  {87, 48, 16, 64 * KIB, 164 * KIB, KIB, 64},
    {89, 48, 24, 64 * KIB, 100 * KIB, KIB, 64},  {90, 64, 32, 64 * KIB, 228 * KIB, KIB, 2},
    {100, 64, 32, 64 * KIB, 228 * KIB, KIB, 2},  {103, 64, 32, 64 * KIB, 228 * KIB, KIB, 64},
    {120, 48, 24, 64 * KIB, 100 * KIB, KIB, 64},
};

const GpuLimits *gpu_limits(uint32_t number) {
    size_t at = 0;
    while (at + 1 < sizeof limits / sizeof *limits && limits[at + 1].number <= number) at++;
    return &limits[at];
}

static void limit_to(Occupancy *o, uint32_t blocks, OccupancyLimit limit) {
    if (blocks >= o->blocks) return;
    o->blocks = blocks;
    o->limit = limit;
}

uint32_t gpu_registers_most(uint32_t threads) {
    enum { OF_BLOCK = 65536, OF_THREAD = 255, UNIT = 8 };
    uint32_t share = threads ? OF_BLOCK / threads / UNIT * UNIT : OF_THREAD;
    return share < OF_THREAD ? share : OF_THREAD;
}

Occupancy gpu_occupancy(uint32_t number, uint32_t threads, uint32_t registers,
                        uint32_t shared_bytes) {
    const GpuLimits *l = gpu_limits(number);
    uint32_t warps = (threads + WARP - 1) / WARP;
    if (!warps) warps = 1;
    Occupancy o = {.blocks = l->warps / warps, .warps_most = l->warps, .limit = OCCUPANCY_WARPS};
    limit_to(&o, l->blocks, OCCUPANCY_BLOCKS);
    uint32_t own = shared_bytes ? shared_bytes + l->shared_reserved : 0;
    if (own) limit_to(&o, l->shared_bytes / own, OCCUPANCY_SHARED);
    uint32_t of_warp = (registers * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
    if (of_warp) {
        uint32_t room = l->registers / of_warp / PARTS * PARTS;
        limit_to(&o, room / warps, OCCUPANCY_REGISTERS);
    }
    o.warps = o.blocks * warps;
    return o;
}
