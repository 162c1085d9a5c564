// Shared memory: wavefronts that a request takes against the least for its bytes.
//
// 32 banks of 4 bytes. Lanes go in groups: all 32 for up to 4 bytes each, halves for 8, quarters
// for 16 (so does ldmatrix: a matrix's 8 rows). Within a group, different words of one bank take
// one wavefront each; lanes with the same word share it.
#include <string.h>

#include "sim/observe/observe.h"

enum { BANKS = 32 };

typedef struct Banks {
    SimObserver observer;
    Arena *arena;
    SimFindings *findings;  // may be NULL
    SimTrafficTable table;
} Banks;

static void launch_begin(void *state, const SimLaunchFacts *launch) {
    Banks *b = state;
    b->table = (SimTrafficTable){.kernel = launch->kernel};
    b->table.rows = arena_new(b->arena, SimTraffic, launch->kernel->code_count);
}

// Wavefronts of one group, and its distinct words.
static uint32_t group_waves(const SimAccess *a, uint32_t first, uint32_t lanes, uint32_t *words) {
    uint64_t seen[BANKS][SIM_LANES];
    uint32_t counts[BANKS] = {0}, most = 0;
    *words = 0;
    for (uint32_t l = first; l < first + lanes; l++) {
        if (!(a->mask >> l & 1)) continue;
        uint64_t end = (a->address[l] + a->bytes - 1) / 4;
        for (uint64_t word = a->address[l] / 4; word <= end; word++) {
            uint32_t bank = (uint32_t)word % BANKS, n = 0;
            while (n < counts[bank] && seen[bank][n] != word) n++;
            if (n < counts[bank] || n == SIM_LANES) continue;
            seen[bank][counts[bank]++] = word;
            ++*words;
            most = counts[bank] > most ? counts[bank] : most;
        }
    }
    return most;
}

// What most groups are: straight addresses of words that all lie in banks of their own.
static bool is_free(const SimAccess *a, uint32_t first, uint32_t lanes, uint32_t *words) {
    uint32_t taken = 0, crooked = 0, count = 0, slots = BANKS * 4 / a->bytes;
    for (uint32_t l = first; l < first + lanes; l++) {
        if (!(a->mask >> l & 1)) continue;
        taken |= 1u << (a->address[l] / a->bytes % slots);
        crooked |= (uint32_t)a->address[l] & (a->bytes - 1);
        count++;
    }
    *words = count * (a->bytes / 4);
    return !crooked && (uint32_t)__builtin_popcount(taken) == count;
}

static void access(void *state, const SimAccess *a) {
    Banks *b = state;
    if (a->space != SIM_SPACE_SHARED || a->kind == SIM_ACCESS_ASYNC_LAND) return;
    uint32_t lanes = a->bytes <= 4 ? 32 : a->bytes == 8 ? 16 : 8;
    bool words_whole = a->bytes == 4 || a->bytes == 8 || a->bytes == 16;
    SimTraffic t = {.requests = 1};
    for (uint32_t first = 0; first < SIM_LANES; first += lanes) {
        uint32_t words, waves;
        if (words_whole && is_free(a, first, lanes, &words))
            waves = words != 0;
        else
            waves = group_waves(a, first, lanes, &words);
        t.units += waves;
        t.bytes += 4 * (uint64_t)words;
        t.ideal += (words + BANKS - 1) / BANKS;
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
