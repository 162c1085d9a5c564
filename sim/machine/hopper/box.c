// Tensor maps: where the elements of a box are in global and shared memory.
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "sim/machine/hopper/bulk.h"

enum { UNIT = 16 };

void sim_bulk_add_piece(SimBulk *b, SimPiece piece) {
    if (b->count == b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 64;
        SimPiece *pieces = realloc(b->pieces, b->capacity * sizeof *pieces);
        if (!pieces) os_out_of_memory();
        b->pieces = pieces;
    }
    b->pieces[b->count++] = piece;
}

// ---- Maps ----

static const uint8_t *map_bytes(SimWarp *w, uint64_t address, uint64_t *at) {
    const SimLaunch *n = w->run->launch;
    *at = address & ~SIM_WINDOW_MASK;
    if ((address & SIM_WINDOW_MASK) == SIM_PARAM_BASE) {
        bool within = *at + GPU_MAP_BYTES <= n->kernel->param_bytes;
        return within ? (const uint8_t *)n->params + *at : NULL;
    }
    const SimRegion *r = sim_memory_find(n->memory, address, GPU_MAP_BYTES);
    return r ? r->bytes + (address - r->base) : NULL;
}

bool sim_map_read(SimWarp *w, const SimInstr *i, uint64_t address, uint32_t rank,
                  GpuMapFacts *map) {
    uint64_t at;
    GpuMap copy;
    const uint8_t *bytes = map_bytes(w, address, &at);
    if (bytes) memcpy(&copy, bytes, sizeof copy);
    const char *wrong = !bytes ? "it is neither in global memory nor a parameter of the kernel"
                        : at % GPU_MAP_ALIGN          ? "its address is not a multiple of 64"
                        : !gpu_map_decode(&copy, map) ? "these 128 bytes are not a tensor map"
                        : map->rank != rank           ? "it has another number of dimensions"
                                                      : NULL;
    if (!wrong) return true;
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
             "'%s': the tensor map at %#llx: %s", i->name, (unsigned long long)address, wrong);
    return false;
}

// ---- Boxes ----

typedef struct Box {
    SimBulk *bulk;
    const GpuMapFacts *map;
    const int32_t *first;  // coordinates
    uint32_t shared, size, width;
} Box;

// The swizzle exchanges units by bits of their address.
static uint32_t swizzled(const Box *b, uint32_t address) {
    return b->width ? address ^ (address >> 3 & (b->width - UNIT)) : address;
}

// Adds bytes [from, to) of a row, unit by unit where they are exchanged.
static void add_bytes(const Box *b, uint64_t global, uint32_t row, uint32_t from, uint32_t to,
                      bool outside) {
    while (from < to) {
        uint32_t stop = b->width ? (from / UNIT + 1) * UNIT : to;
        if (stop > to) stop = to;
        uint32_t at = row + from, unit = at & ~(uint32_t)(UNIT - 1);
        SimPiece piece = {global, swizzled(b, unit) + (at - unit), stop - from, outside};
        sim_bulk_add_piece(b->bulk, piece);
        global += stop - from, from = stop;
    }
}

// A row along dimension 0. `base`: the address of its element 0.
static void add_row(const Box *b, uint64_t base, uint32_t row, bool outside) {
    int64_t first = b->first[0], extent = (int64_t)b->map->dims[0];
    uint32_t step = b->map->steps[0], count = (b->map->box[0] + step - 1) / step;
    for (uint32_t n = 0; n < count;) {
        int64_t at = first + (int64_t)n * step;
        bool out = outside || at < 0 || at >= extent;
        uint32_t run = 1;
        while (n + run < count && step == 1) {
            int64_t next = at + run;
            if ((outside || next < 0 || next >= extent) != out) break;
            run++;
        }
        add_bytes(b, base + (uint64_t)at * b->size, row, n * b->size, (n + run) * b->size, out);
        n += run;
    }
}

uint64_t sim_box_bytes(const GpuMapFacts *m) {
    uint64_t bytes = gpu_map_type_bytes(m->type);
    for (uint32_t d = 0; d < m->rank; d++) bytes *= (m->box[d] + m->steps[d] - 1) / m->steps[d];
    return bytes;
}

void sim_box_pieces(SimBulk *bulk, const GpuMapFacts *m, const int32_t *coordinates,
                    uint32_t shared) {
    Box b = {bulk,
             m,
             coordinates,
             shared,
             gpu_map_type_bytes(m->type),
             gpu_map_swizzle_bytes(m->swizzle)};
    uint32_t counts[GPU_MAP_RANK], rows = 1;
    for (uint32_t d = 0; d < m->rank; d++) {
        counts[d] = (m->box[d] + m->steps[d] - 1) / m->steps[d];
        if (d) rows *= counts[d];
    }
    bulk->nan = m->nan;
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t base = m->address;
        bool outside = false;
        for (uint32_t d = 1, left = row; d < m->rank; left /= counts[d++]) {
            int64_t at = coordinates[d] + (int64_t)(left % counts[d]) * m->steps[d];
            outside |= at < 0 || at >= (int64_t)m->dims[d];
            base += (uint64_t)at * m->strides[d - 1];
        }
        add_row(&b, base, shared + row * counts[0] * b.size, outside);
    }
}
