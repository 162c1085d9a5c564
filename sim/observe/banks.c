// Shared memory: the wavefronts that a request takes, compared with the least for its bytes.
//
// Banks are 4 bytes wide; the launch gives their number. Lanes go in groups whose bytes all banks
// could serve at once: with 32 banks, 32 lanes for up to 4 bytes each, 16 for 8 bytes, 8 for 16
// (also for ldmatrix: the 8 rows of a matrix). Within a group, different words of one bank take one
// wavefront each; lanes with the same word share it.
#include <string.h>

#include "sim/observe/observe.h"

enum { BANKS_MAX = 64 };

typedef struct Banks {
    SimObserver observer;
    Arena *arena;
    SimFindings *findings;  // may be NULL
    SimTrafficTable table;
    uint32_t banks;
    const uint8_t *loads16;
} Banks;

static void launch_begin(void *state, const SimLaunchFacts *launch) {
    Banks *b = state;
    b->table = (SimTrafficTable){.kernel = launch->kernel};
    b->banks = launch->banks, b->loads16 = launch->loads16;
    b->table.rows = arena_new(b->arena, SimTraffic, launch->kernel->code_count);
}

// Lanes of a request that are served together.
typedef struct BankGroup {
    const SimAccess *access;
    uint32_t first, count, banks;
    const uint8_t *order;  // NULL: ascending
} BankGroup;

// The n-th lane, or `lanes` if it is inactive.
static inline uint32_t lane_of(const BankGroup *g, uint32_t n) {
    uint32_t l = g->order ? g->order[g->first + n] : g->first + n;
    return l < g->access->lanes && g->access->mask >> l & 1 ? l : g->access->lanes;
}

// Wavefronts of one group, and its number of distinct words.
static uint32_t group_waves(const BankGroup *g, uint32_t *words) {
    const SimAccess *a = g->access;
    uint64_t seen[BANKS_MAX][SIM_LANES_MAX];
    uint32_t counts[BANKS_MAX] = {0}, most = 0;
    *words = 0;
    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t l = lane_of(g, k);
        if (l == a->lanes) continue;
        uint64_t end = (a->address[l] + a->bytes - 1) / 4;
        for (uint64_t word = a->address[l] / 4; word <= end; word++) {
            uint32_t bank = (uint32_t)word % g->banks, n = 0;
            while (n < counts[bank] && seen[bank][n] != word) n++;
            if (n < counts[bank] || n == SIM_LANES_MAX) continue;
            seen[bank][counts[bank]++] = word;
            ++*words;
            most = counts[bank] > most ? counts[bank] : most;
        }
    }
    return most;
}

// The common case: aligned addresses of words that are all in different banks.
static bool is_free(const BankGroup *g, uint32_t *words) {
    const SimAccess *a = g->access;
    uint32_t misaligned = 0, count = 0, slots = g->banks * 4 / a->bytes;
    uint64_t taken = 0;
    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t l = lane_of(g, k);
        if (l == a->lanes) continue;
        taken |= UINT64_C(1) << (a->address[l] / a->bytes % slots);
        misaligned |= (uint32_t)a->address[l] & (a->bytes - 1);
        count++;
    }
    *words = count * (a->bytes / 4);
    return !misaligned && (uint32_t)__builtin_popcountll(taken) == count;
}

static void access(void *state, const SimAccess *a) {
    Banks *b = state;
    if (a->space != SIM_SPACE_SHARED || a->kind == SIM_ACCESS_ASYNC_LAND) return;
    uint32_t lanes = a->bytes <= 4 ? b->banks : a->bytes == 8 ? b->banks / 2 : b->banks / 4;
    BankGroup g = {.access = a, .count = lanes, .banks = b->banks};
    if (a->bytes == 16 && a->kind == SIM_ACCESS_LOAD) g.order = b->loads16;
    bool words_whole = a->bytes == 4 || a->bytes == 8 || a->bytes == 16;
    SimTraffic t = {.requests = 1};
    for (uint32_t first = 0; first < a->lanes; first += lanes) {
        uint32_t words, waves;
        g.first = first;
        if (words_whole && is_free(&g, &words))
            waves = words != 0;
        else
            waves = group_waves(&g, &words);
        t.units += waves;
        t.bytes += 4 * (uint64_t)words;
        t.ideal += (words + b->banks - 1) / b->banks;
    }
    SimTraffic *rows[] = {&b->table.rows[a->at.pc],
                          a->kind == SIM_ACCESS_LOAD || a->kind == SIM_ACCESS_MATRIX_LOAD
                              ? &b->table.load
                              : &b->table.store};
    for (int n = 0; n < 2; n++) {
        rows[n]->requests++;
        rows[n]->bytes += t.bytes, rows[n]->units += t.units, rows[n]->ideal += t.ideal;
    }
    if (b->findings && t.units > t.ideal)
        sim_findings_add(b->findings, SIM_FINDING_CONFLICT, &a->at,
                         "'%s' takes %llu wavefronts of shared memory; %llu would do",
                         a->at.instr->name, (unsigned long long)t.units,
                         (unsigned long long)t.ideal);
}

const SimObserver *sim_observe_banks(Arena *arena, SimFindings *f, SimTrafficTable **table) {
    Banks *b = arena_new(arena, Banks, 1);
    b->arena = arena, b->findings = f;
    if (table) *table = &b->table;
    b->observer = (SimObserver){.state = b, .launch_begin = launch_begin, .access = access};
    return &b->observer;
}
