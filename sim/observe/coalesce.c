// Global memory: the 32-byte sectors that a request touches, compared with the least for its bytes.
#include <stdlib.h>

#include "sim/observe/observe.h"

enum { SECTOR = 32, PIECES = SIM_LANES_MAX * 2 };

typedef struct Coalesce {
    SimObserver observer;
    Arena *arena;
    SimFindings *findings;  // may be NULL
    SimTrafficTable table;
} Coalesce;

static void launch_begin(void *state, const SimLaunchFacts *launch) {
    Coalesce *c = state;
    c->table = (SimTrafficTable){.kernel = launch->kernel};
    c->table.rows = arena_new(c->arena, SimTraffic, launch->kernel->code_count);
}

static int ascending(const void *a, const void *b) {
    uint64_t x, y;
    x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// The distinct sectors; also counts the bytes accessed, each once.
static uint32_t sectors(const SimAccess *a, uint64_t *distinct_bytes) {
    uint64_t begins[SIM_LANES_MAX], seen[PIECES];
    uint32_t n = 0, count = 0;
    bool sorted = true;
    for (uint32_t l = 0; l < a->lanes; l++)
        if (a->mask >> l & 1) {
            begins[n++] = a->address[l];
            sorted &= n < 2 || begins[n - 1] >= begins[n - 2];
        }
    if (!sorted) qsort(begins, n, sizeof *begins, ascending);
    uint64_t end = 0;
    *distinct_bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t from = begins[i] > end ? begins[i] : end, to = begins[i] + a->bytes;
        if (to > from) *distinct_bytes += to - from;
        end = to > end ? to : end;
        for (uint64_t s = begins[i] / SECTOR; s <= (to - 1) / SECTOR; s++)
            if (!count || seen[count - 1] < s) seen[count++] = s;
    }
    return count;
}

static void add(SimTraffic *t, const SimTraffic *more) {
    t->requests += more->requests, t->bytes += more->bytes;
    t->units += more->units, t->ideal += more->ideal;
}

static void access(void *state, const SimAccess *a) {
    Coalesce *c = state;
    if (a->space != SIM_SPACE_GLOBAL) return;
    uint64_t distinct;
    uint32_t units = sectors(a, &distinct);
    SimTraffic t = {.requests = 1,
                    .bytes = distinct,
                    .units = units,
                    .ideal = (distinct + SECTOR - 1) / SECTOR};
    bool write = a->kind == SIM_ACCESS_STORE || a->kind == SIM_ACCESS_ATOMIC;
    add(&c->table.rows[a->at.pc], &t);
    add(write ? &c->table.store : &c->table.load, &t);
    if (c->findings && t.units > t.ideal)
        sim_findings_add(c->findings, SIM_FINDING_UNCOALESCED, &a->at,
                         "'%s' touches %u sectors of 32 bytes for %llu bytes; %llu would do",
                         a->at.instr->name, units, (unsigned long long)distinct,
                         (unsigned long long)t.ideal);
}

const SimObserver *sim_observe_coalescing(Arena *arena, SimFindings *f, SimTrafficTable **table) {
    Coalesce *c = arena_new(arena, Coalesce, 1);
    c->arena = arena, c->findings = f;
    if (table) *table = &c->table;
    c->observer = (SimObserver){.state = c, .launch_begin = launch_begin, .access = access};
    return &c->observer;
}
