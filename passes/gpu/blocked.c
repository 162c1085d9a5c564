#include "passes/gpu/gpu.h"

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

Layout gpu_blocked_deep(const IrType *t, GpuTeam team, uint32_t bytes, uint32_t depth) {
    if (!t->rank) {  // one element, which all have
        Layout one = layout_empty(0, NULL);
        for (uint32_t i = 1; i < team.lanes; i *= 2) layout_add(&one, LAYOUT_LANE, 0);
        for (uint32_t i = 1; i < team.warps; i *= 2) layout_add(&one, LAYOUT_WARP, 0);
        return one;
    }
    uint32_t threads = gpu_threads(team), last = t->rank - 1;
    LayoutBlocked b = {.rank = t->rank};
    uint32_t share = t->count > threads ? t->count / threads : 1;
    if (t->rank < 2) depth = 1;
    while (depth > 1 && (depth > share || depth > t->shape[last - 1])) depth /= 2;
    share /= depth;
    uint32_t vector = least(least(bytes < GPU_ACCESS_BYTES ? GPU_ACCESS_BYTES / bytes : 1, share),
                            t->shape[last]);
    uint32_t lanes = team.lanes, warps = team.warps;
    for (uint32_t d = t->rank; d-- > 0;) {
        b.shape[d] = t->shape[d];
        b.order[t->rank - 1 - d] = (uint8_t)d;
        b.elements[d] = d == last ? vector : d + 1 == last ? depth : 1;
        b.lanes[d] = least(lanes, t->shape[d] / b.elements[d]);
        lanes /= b.lanes[d];
        b.warps[d] = 1;
    }
    b.lanes[last] *= lanes;  // a small tile: lanes replicate
    for (uint32_t d = 0; d < t->rank; d++) {
        uint32_t room = t->shape[d] / least(t->shape[d], b.elements[d] * b.lanes[d]);
        b.warps[d] = least(warps, room);
        warps /= b.warps[d];
    }
    b.warps[last] *= warps;
    return layout_blocked(&b);
}

Layout gpu_blocked(const IrType *t, GpuTeam team, uint32_t bytes) {
    return gpu_blocked_deep(t, team, bytes, 1);
}
