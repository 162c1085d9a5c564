#include "target/occupancy.h"

#include <stdbool.h>
#include <stddef.h>

enum { PARTS = 4 };

static void limit_to(Occupancy *o, uint32_t blocks, OccupancyLimit limit) {
    if (blocks >= o->blocks) return;
    o->blocks = blocks;
    o->limit = limit;
}

static uint32_t whole(uint32_t x, uint32_t unit) { return (x + unit - 1) / unit * unit; }

// The four parts of a multiprocessor get as many warps each.
uint32_t gpu_max_registers(const Chip *chip, uint32_t threads) {
    enum { OF_THREAD = 255, UNIT = 8 };
    threads = whole(threads, PARTS * chip->warp);
    uint32_t share = threads ? chip->registers / threads / UNIT * UNIT : OF_THREAD;
    return share < OF_THREAD ? share : OF_THREAD;
}

Occupancy gpu_occupancy(const Chip *c, uint32_t threads, uint32_t registers,
                        uint32_t shared_bytes) {
    uint32_t warps = (threads + c->warp - 1) / c->warp;
    if (!warps) warps = 1;
    Occupancy o = {.blocks = c->warps / warps, .warps_max = c->warps, .limit = OCCUPANCY_WARPS};
    limit_to(&o, c->blocks, OCCUPANCY_BLOCKS);
    uint32_t own = shared_bytes ? shared_bytes + c->shared_reserved : 0;
    if (own) limit_to(&o, c->shared_bytes / own, OCCUPANCY_SHARED);
    uint32_t of_warp = whole(registers * c->warp, c->register_unit);
    if (of_warp) {
        uint32_t room = c->registers / of_warp / PARTS * PARTS;
        limit_to(&o, room / warps, OCCUPANCY_REGISTERS);
    }
    o.warps = o.blocks * warps;
    return o;
}

// ---- AMD ----------------------------------------------------------------------------------------

enum { SIMDS = 4, LANES = 64 };

// The number of waves of a SIMD for which there are registers.
static uint32_t waves_by_registers(const Chip *c, const AmdNeeds *n) {
    uint32_t waves = c->warps, halves = c->generation >= 10 && n->lanes == LANES ? 2 : 1;
    uint32_t own = whole(n->vectors ? n->vectors : 1, c->register_unit / halves);
    if (c->registers / halves / own < waves) waves = c->registers / halves / own;
    if (c->generation >= 10 || !n->scalars) return waves;
    bool old = c->generation < 8;
    uint32_t by_scalars = old ? 512 / whole(n->scalars, 8) : 800 / whole(n->scalars, 16);
    return by_scalars < waves ? by_scalars : waves;
}

Occupancy amd_occupancy(const Chip *c, const AmdNeeds *n) {
    uint32_t waves = whole(n->threads ? n->threads : 1, n->lanes) / n->lanes;
    Occupancy o = {.blocks = SIMDS * c->warps / waves,
                   .warps_max = SIMDS * c->warps,
                   .limit = OCCUPANCY_WARPS};
    // Programs of one wave need no barrier resource.
    if (waves > 1) limit_to(&o, c->blocks, OCCUPANCY_BLOCKS);
    if (n->shared_bytes)
        limit_to(&o, c->shared_bytes / whole(n->shared_bytes, c->shared_unit), OCCUPANCY_SHARED);
    limit_to(&o, SIMDS * waves_by_registers(c, n) / waves, OCCUPANCY_REGISTERS);
    o.warps = o.blocks * waves;
    return o;
}
