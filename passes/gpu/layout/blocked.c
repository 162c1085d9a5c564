#include "passes/gpu/gpu.h"

enum { LINE_BYTES = 128, WORD_BYTES = 4 };

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The layout with the steps along an axis in another order: those of `late` last.
static Layout with_late(const Layout *l, uint32_t axis, uint32_t late) {
    uint32_t steps[LAYOUT_MAX_BITS], count = 0, shape[IR_MAX_RANK], coords[IR_MAX_RANK];
    layout_shape(l, shape);
    for (int wanted = 0; wanted < 2; wanted++)
        for (uint32_t step = 1; step < shape[axis]; step *= 2)
            if (((late & step) != 0) == (wanted != 0)) steps[count++] = step;
    Layout r = layout_empty(l->rank, shape);
    for (LayoutDim dim = LAYOUT_REG; dim <= LAYOUT_WARP; dim++)
        for (uint32_t i = 0; i < l->dim_bits[dim]; i++) {
            layout_coords(l, layout_basis(l, dim, i), coords);
            if (coords[axis]) coords[axis] = steps[__builtin_ctz(coords[axis])];
            layout_add(&r, dim, layout_element(l, coords));
        }
    return r;
}

Layout gpu_blocked_deep(const IrType *t, GpuThreads threads, uint32_t bytes, GpuDepth deep) {
    uint32_t depth = deep.elements ? deep.elements : 1;
    if (!t->rank) {  // one element, which all threads have
        Layout one = layout_empty(0, NULL);
        for (uint32_t i = 1; i < threads.lanes; i *= 2) layout_add(&one, LAYOUT_LANE, 0);
        for (uint32_t i = 1; i < threads.warps; i *= 2) layout_add(&one, LAYOUT_WARP, 0);
        return one;
    }
    uint32_t total = gpu_thread_count(threads), last = t->rank - 1;
    LayoutBlocked b = {.rank = t->rank};
    uint32_t share = t->count > total ? t->count / total : 1;
    if (t->rank < 2) depth = 1;
    while (depth > 1 && (depth > share || depth > t->shape[last - 1])) depth /= 2;
    // One word of neighbours is worth narrower accesses; more of them are not.
    while (depth > 1 && depth * bytes > WORD_BYTES && share / depth * bytes < GPU_ACCESS_BYTES)
        depth /= 2;
    share /= depth;
    uint32_t vector = least(least(bytes < GPU_ACCESS_BYTES ? GPU_ACCESS_BYTES / bytes : 1, share),
                            t->shape[last]);
    uint32_t lanes = threads.lanes, warps = threads.warps;
    for (uint32_t d = t->rank; d-- > 0;) {
        b.shape[d] = t->shape[d];
        b.order[t->rank - 1 - d] = (uint8_t)d;
        b.elements[d] = d == last ? vector : d + 1 == last ? depth : 1;
        b.lanes[d] = least(lanes, t->shape[d] / b.elements[d]);
        // A deep tile is transposed in shared memory, where lanes of one column share a row of
        // banks.
        if (d == last && depth > 1 && t->rank > 1)
            b.lanes[d] = least(b.lanes[d], LINE_BYTES / (vector * bytes));
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
    Layout l = layout_blocked(&b);
    return depth > 1 ? with_late(&l, last - 1, deep.late) : l;
}

Layout gpu_blocked(const IrType *t, GpuThreads threads, uint32_t bytes) {
    return gpu_blocked_deep(t, threads, bytes, (GpuDepth){1, 0});
}
