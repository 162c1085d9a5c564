#include "sim/machine/memory.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 512, NAME_MAX_BYTES = 64 };
#define FIRST (UINT64_C(1) << 32)

struct SimMemory {
    SimRegion *regions;  // in order of allocation, which is also the order of addresses
    uint32_t count, capacity;
    uint32_t last;  // where the last search ended
    uint64_t next;  // the next address to allocate
    bool poison;
};

SimMemory *sim_memory_create(bool poison) { return sim_memory_create_at(poison, SIM_GLOBAL_BASE); }

SimMemory *sim_memory_create_at(bool poison, uint64_t base) {
    SimMemory *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->next = base + FIRST + GAP;
    m->poison = poison;
    return m;
}

static void drop(SimRegion *r) {
    free(r->bytes);
    free(r->poison);
    r->bytes = r->poison = NULL;
}

void sim_memory_destroy(SimMemory *m) {
    if (!m) return;
    for (uint32_t i = 0; i < m->count; i++) {
        drop(&m->regions[i]);
        char *name;
        memcpy(&name, &m->regions[i].name, sizeof name);
        free(name);
    }
    free(m->regions);
    free(m);
}

static bool grow(SimMemory *m) {
    if (m->count < m->capacity) return true;
    uint32_t capacity = m->capacity ? m->capacity * 2 : 16;
    SimRegion *regions = realloc(m->regions, capacity * sizeof *regions);
    if (!regions) return false;
    m->regions = regions, m->capacity = capacity;
    return true;
}

static bool fill(SimMemory *m, SimRegion *r, uint64_t size, const char *name) {
    r->bytes = calloc(1, size ? (size_t)size : 1);
    if (!r->bytes) return false;
    if (m->poison) {
        size_t bits = SIM_POISON_BYTES(size);
        r->poison = malloc(bits);
        if (!r->poison) return false;
        memset(r->poison, 0xff, bits);
    }
    char *copy = calloc(1, NAME_MAX_BYTES);
    if (!copy) return false;
    strncpy(copy, name ? name : "memory", NAME_MAX_BYTES - 1);
    r->name = copy;
    return true;
}

bool sim_memory_alloc(SimMemory *m, uint64_t size, const char *name, uint64_t *address) {
    if (size > UINT64_C(1) << 46 || !grow(m)) return false;
    SimRegion r = {.base = m->next, .size = size, .number = m->count};
    if (!fill(m, &r, size, name)) {
        drop(&r);
        return false;
    }
    *address = r.base;
    m->next += (size + 2 * GAP - 1) / GAP * GAP;
    m->regions[m->count++] = r;
    return true;
}

// The last region that begins at or before the address, or the count.
static uint32_t search(const SimMemory *m, uint64_t address) {
    uint32_t low = 0, high = m->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->regions[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : m->count;
}

static bool holds(const SimRegion *r, uint64_t address, uint64_t size) {
    uint64_t offset = address - r->base;
    return r->bytes && address >= r->base && offset <= r->size && size <= r->size - offset;
}

SimRegion *sim_memory_find(SimMemory *m, uint64_t address, uint64_t size) {
    if (m->last < m->count && holds(&m->regions[m->last], address, size))
        return &m->regions[m->last];
    uint32_t i = search(m, address);
    if (i == m->count || !holds(&m->regions[i], address, size)) return NULL;
    m->last = i;
    return &m->regions[i];
}

bool sim_memory_free(SimMemory *m, uint64_t address) {
    uint32_t i = search(m, address);
    if (i == m->count || m->regions[i].base != address || !m->regions[i].bytes) return false;
    drop(&m->regions[i]);
    return true;
}

const SimRegion *sim_memory_nearest(const SimMemory *m, uint64_t address) {
    if (!m->count) return NULL;
    uint32_t i = search(m, address);
    if (i == m->count) return &m->regions[0];
    const SimRegion *r = &m->regions[i];
    if (i + 1 == m->count || address < r->base + r->size) return r;
    uint64_t after = address - (r->base + r->size), before = r[1].base - address;
    return before < after ? r + 1 : r;
}

SimRegion *sim_memory_region(const SimMemory *m, uint32_t number) { return &m->regions[number]; }
uint32_t sim_memory_count(const SimMemory *m) { return m->count; }

bool sim_memory_write(SimMemory *m, uint64_t address, const void *from, uint64_t size) {
    SimRegion *r = sim_memory_find(m, address, size);
    if (!r) return false;
    if (size) memmove(r->bytes + (address - r->base), from, (size_t)size);
    if (r->poison) sim_poison_set(r->poison, address - r->base, size, false);
    return true;
}

bool sim_memory_read(SimMemory *m, uint64_t address, void *to, uint64_t size) {
    const SimRegion *r = sim_memory_find(m, address, size);
    if (!r) return false;
    if (size) memmove(to, r->bytes + (address - r->base), (size_t)size);
    return true;
}

// ---- Bits: whole bytes, and partial bytes at the ends ----

enum { FEW = 32 };

bool sim_poison_any(const uint8_t *bits, uint64_t at, uint64_t size) {
    for (; size > FEW; at += FEW, size -= FEW)
        if (sim_poison_any_few(bits, at, FEW)) return true;
    return sim_poison_any_few(bits, at, (uint32_t)size);
}

void sim_poison_set(uint8_t *bits, uint64_t at, uint64_t size, bool poison) {
    uint64_t first = at & 7 ? 8 - (at & 7) : 0;
    if (size <= FEW) {
        sim_poison_set_few(bits, at, (uint32_t)size, poison);
        return;
    }
    sim_poison_set_few(bits, at, (uint32_t)first, poison);
    at += first, size -= first;
    memset(bits + (at >> 3), poison ? 0xff : 0, (size_t)(size >> 3));
    sim_poison_set_few(bits, at + (size & ~UINT64_C(7)), size & 7, poison);
}
