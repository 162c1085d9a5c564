#include "ir/occupancy.h"

#include <stdbool.h>
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

// ---- AMD ----------------------------------------------------------------------------------------

enum { SIMDS = 4, LANES = 64, GENERATION_8 = 0x800, GENERATION_10 = 0x1000 };

// Registers and their portions are those of a lane, where waves have 64 lanes up to gfx950 and 32
// from gfx10 on; LDS and programs are of a compute unit, or of a work-group processor.
typedef struct AmdLimits {
    uint32_t number, waves;  // of a SIMD
    uint32_t registers, unit;
    uint32_t shared_bytes, shared_unit, blocks;
} AmdLimits;

static const AmdLimits amd_limits[] = {
    {0x600, 10, 256, 4, 64 * KIB, 256, 16},      {0x700, 10, 256, 4, 64 * KIB, 512, 16},
    {0x800, 10, 256, 4, 64 * KIB, 512, 16},      {0x90a, 8, 512, 8, 64 * KIB, 512, 16},
    {0x90c, 10, 256, 4, 64 * KIB, 512, 16},      {0x940, 8, 512, 8, 64 * KIB, 512, 16},
    {0x950, 8, 512, 8, 160 * KIB, 1280, 16},     {0x1010, 20, 1024, 8, 128 * KIB, 512, 32},
    {0x1030, 16, 1024, 16, 128 * KIB, 1024, 32}, {0x1100, 16, 1536, 24, 128 * KIB, 1024, 32},
    {0x1102, 16, 1024, 16, 128 * KIB, 1024, 32}, {0x1151, 16, 1536, 24, 128 * KIB, 1024, 32},
    {0x1152, 16, 1024, 16, 128 * KIB, 1024, 32}, {0x1200, 16, 1536, 24, 128 * KIB, 1024, 32},
    {0x1250, 16, 1024, 16, 320 * KIB, 1024, 32},
};

static const AmdLimits *limits_of_amd(uint32_t number) {
    size_t at = 0;
    while (at + 1 < sizeof amd_limits / sizeof *amd_limits && amd_limits[at + 1].number <= number)
        at++;
    return &amd_limits[at];
}

static uint32_t whole(uint32_t x, uint32_t unit) { return (x + unit - 1) / unit * unit; }

// Waves of a SIMD that find registers.
static uint32_t waves_by_registers(const AmdLimits *l, const AmdNeeds *n) {
    uint32_t waves = l->waves, halves = l->number >= GENERATION_10 && n->lanes == LANES ? 2 : 1;
    uint32_t own = whole(n->vectors ? n->vectors : 1, l->unit / halves);
    if (l->registers / halves / own < waves) waves = l->registers / halves / own;
    if (l->number >= GENERATION_10 || !n->scalars) return waves;
    bool old = l->number < GENERATION_8;
    uint32_t by_scalars = old ? 512 / whole(n->scalars, 8) : 800 / whole(n->scalars, 16);
    return by_scalars < waves ? by_scalars : waves;
}

Occupancy amd_occupancy(uint32_t number, const AmdNeeds *n) {
    const AmdLimits *l = limits_of_amd(number);
    uint32_t waves = whole(n->threads ? n->threads : 1, n->lanes) / n->lanes;
    Occupancy o = {.blocks = SIMDS * l->waves / waves,
                   .warps_most = SIMDS * l->waves,
                   .limit = OCCUPANCY_WARPS};
    // Programs of one wave need no place for a barrier.
    if (waves > 1) limit_to(&o, l->blocks, OCCUPANCY_BLOCKS);
    if (n->shared_bytes)
        limit_to(&o, l->shared_bytes / whole(n->shared_bytes, l->shared_unit), OCCUPANCY_SHARED);
    limit_to(&o, SIMDS * waves_by_registers(l, n) / waves, OCCUPANCY_REGISTERS);
    o.warps = o.blocks * waves;
    return o;
}
