// Observers of the warp machine and the findings they make.
//
// Purpose: one observer a file; each is made with the findings it reports to.
// Invariants: findings of one kind at one instruction are one finding with a count; they are in the
// order of the run. The text describes the first occurrence.
// Ownership: the arena given.
//
//     SimFindings *f = sim_findings_create(arena);
//     const SimObserver *o[] = {sim_observe_bounds(arena, f), sim_observe_races(arena, f)};
#ifndef TILEC_SIM_OBSERVE_OBSERVE_H
#define TILEC_SIM_OBSERVE_OBSERVE_H

#include "base/arena.h"
#include "base/vec.h"
#include "sim/machine/observer.h"

#define SIM_FINDINGS(X)                                                                          \
    X(BOUNDS, "out-of-bounds", true)       /* an access outside every allocation */              \
    X(ALIGNMENT, "misaligned", true)       /* an address that is not a multiple of the size */   \
    X(POISON, "uninitialized", true)       /* an unwritten value decides something */            \
    X(RACE, "race", true)                  /* two unordered accesses to one place */             \
    X(FENCE, "missing-fence", true)        /* a fence is missing between two accesses */         \
    X(PROXY, "missing-proxy-fence", true)  /* two proxies access one place without a fence */    \
    X(INIT, "missing-init-fence", true)    /* an mbarrier's init is not fenced from such uses */ \
    X(FLIGHT, "in-flight", true)           /* a register that a product in flight uses */        \
    X(DIVERGED, "divergent-barrier", true) /* a barrier that not all lanes reach */              \
    X(UNCOALESCED, "uncoalesced", false)   /* more sectors than the bytes need */                \
    X(CONFLICT, "bank-conflict", false)    /* more wavefronts than the bytes need */
typedef enum SimFindingKind {
#define SIM_FINDING(name, slug, error) SIM_FINDING_##name,
    SIM_FINDINGS(SIM_FINDING)
#undef SIM_FINDING
        SIM_FINDING_KINDS
} SimFindingKind;
const char *sim_finding_slug(SimFindingKind kind);
// Is the program wrong? Otherwise it is only slow.
bool sim_finding_is_error(SimFindingKind kind);

typedef struct SimFinding {
    SimFindingKind kind;
    const SimKernel *kernel;
    uint32_t pc;
    SimLine line;
    uint64_t count;
    Str text;
} SimFinding;
typedef struct SimFindings {
    Arena *arena;
    VEC(SimFinding) list;
} SimFindings;

SimFindings *sim_findings_create(Arena *arena);
// Adds a finding, or increments the count of the one of its kind at its place.
void sim_findings_add(SimFindings *f, SimFindingKind kind, const SimPlace *at, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
// "kernel.tile:7:21", or the line of the PTX text if the source is unknown.
void sim_line_text(const SimLine *line, StrBuf *out);

const SimObserver *sim_observe_bounds(Arena *arena, SimFindings *f);
const SimObserver *sim_observe_poison(Arena *arena, SimFindings *f);
const SimObserver *sim_observe_races(Arena *arena, SimFindings *f);
const SimObserver *sim_observe_registers(Arena *arena, SimFindings *f);
const SimObserver *sim_observe_divergence(Arena *arena, SimFindings *f);

// Counters, with a row for each instruction of the kernel that ran last.
typedef struct SimTraffic {
    uint64_t requests;  // warp instructions that accessed the space
    uint64_t bytes;     // bytes requested
    uint64_t units;     // sectors of 32 bytes (global), wavefronts (shared)
    uint64_t ideal;     // the least possible for these bytes
} SimTraffic;
typedef struct SimCounts {
    const SimKernel *kernel;
    uint64_t *instructions;  // by pc: warp instructions
    uint64_t *lanes;         // by pc
    uint64_t total, total_lanes, matrix, barriers;
} SimCounts;
typedef struct SimTrafficTable {
    const SimKernel *kernel;
    SimTraffic *rows;  // by pc
    SimTraffic load, store;
} SimTrafficTable;

// If `f` is given, it gets a finding for each access that is not ideal.
const SimObserver *sim_observe_coalescing(Arena *arena, SimFindings *f, SimTrafficTable **table);
const SimObserver *sim_observe_banks(Arena *arena, SimFindings *f, SimTrafficTable **table);
const SimObserver *sim_observe_counts(Arena *arena, SimCounts **counts);

#endif
