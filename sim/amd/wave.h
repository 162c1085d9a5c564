// The state of a workgroup's waves while they run: for handlers and the scheduler, nobody else.
//
// Invariants: exec is scalars[AMD_EXEC], of 32 lanes the low half; vector registers have AMD_LANES
// places each, whatever the wave has. Beside each register lies its shadow: a bit of it is set
// where the bit of the register is poison; `dirty` says whether a vector register has any. What a
// load gets lands in the registers when a wait covers it; until then they are poison, and after it
// where somebody else wrote them meanwhile. After amd_fail nothing more runs. Ownership: the
// launch's.
//
//     static void add_u32(const AmdLanes *x) { AMD_EACH(x, d[l] = a[l] + b[l]) }
#ifndef TILEC_SIM_AMD_WAVE_H
#define TILEC_SIM_AMD_WAVE_H

#include "sim/amd/program.h"
#include "sim/machine/machine.h"
#include "sim/machine/warp.h"

typedef struct AmdGroup AmdGroup;
typedef struct AmdLaunch AmdLaunch;

enum { AMD_WAVES = 32 };

// Counters of what is under way; s_waitcnt names them. Of the generations that have fewer, several
// count in one (amd_counter_of).
typedef enum AmdCounter {
    AMD_COUNT_LOAD,
    AMD_COUNT_STORE,
    AMD_COUNT_LDS,
    AMD_COUNT_SCALAR,
    AMD_COUNTERS
} AmdCounter;

// A load or store under way. Those of one class come in order, those of AMD_CLASS_SCALAR in any.
typedef enum AmdClass {
    AMD_CLASS_VECTOR,
    AMD_CLASS_STORE,
    AMD_CLASS_LDS,
    AMD_CLASS_SCALAR,
    AMD_CLASS_FLAT
} AmdClass;

// What it touches, for whoever hears of accesses that are late; several if lanes meet several
// spaces.
typedef struct AmdLate {
    struct AmdLate *next;
    SimAccess access;
    uint64_t address[AMD_LANES];
    uint8_t *there[AMD_LANES];
    uint8_t data[];  // of stores
} AmdLate;

typedef struct AmdPending {
    uint8_t class, counters;  // AmdClass; a bit for each AmdCounter it is counted by
    uint8_t kind;             // AmdOperandKind of what it fills
    uint8_t words;            // 0: a store
    bool half, high;          // lands in this half only
    bool lds;                 // lands in LDS
    bool lost;                // another one may come before or after it, to the same place
    uint16_t number;
    uint64_t mask;
    uint32_t bytes;              // of LDS, each lane
    uint32_t *data;              // words * AMD_LANES values, then as many of their poison
    uint32_t places[AMD_LANES];  // of LDS
    const AmdInstr *instr;
    AmdLate *late;
} AmdPending;

typedef enum AmdState { AMD_RUNS, AMD_AT_BARRIER, AMD_ENDED } AmdState;

struct AmdWave {
    uint32_t *vectors, *shadows;  // AMD_LANES a register
    uint8_t *dirty;
    uint32_t scalars[AMD_SCALARS], scalar_shadows[AMD_SCALARS];
    bool scc, scc_poison;
    uint32_t lanes, index, pc;
    uint64_t live;  // lanes that there are
    AmdState state;
    uint32_t signaled;  // the barrier's phase + 1 when the wave came to it; 0: it did not
    uint32_t mode;      // bits of the MODE register: rounding, denormals
    bool ieee;          // minima and maxima of a signalling NaN are NaN; gfx12 has no such mode
    bool dx10_clamp;    // clamp makes NaN 0
    AmdGroup *group;
    AmdLaunch *run;
    const AmdKernel *kernel;
    uint8_t *scratch, *scratch_poison;
    uint32_t scratch_bytes;  // of each lane
    AmdPending *pending;     // in the order of issue
    uint32_t pending_count, pending_capacity;
};

struct AmdGroup {
    AmdLaunch *run;
    uint32_t place[3];
    uint64_t linear;
    uint8_t *lds, *lds_poison;
    uint32_t lds_bytes;
    AmdWave *waves;
    uint32_t wave_count;
    uint32_t phase;  // how many barriers are complete
};

struct AmdLaunch {
    const SimLaunch *launch;
    SimResult *result;
    const AmdKernel *kernel;
    uint64_t image;    // where the code object is
    uint64_t kernarg;  // where the arguments are
    uint64_t packet;   // where the dispatch packet is
    bool stop, step_asked, access_asked, late_asked;
    uint64_t random, steps, lane_steps;
    void *product;  // room for products of matrices (matrix.c)
    AmdGroup group;
};

SimPlace amd_place(const AmdWave *w, const AmdInstr *i);
void amd_fail(AmdWave *w, const AmdInstr *i, SimFault fault, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Poisoned bits decide something.
void amd_tell_poison(AmdWave *w, const AmdInstr *i, SimPoisonUse use, uint64_t lanes);

static inline uint64_t amd_wave_mask(const AmdWave *w) {
    return w->lanes == 64 ? UINT64_MAX : UINT32_MAX;
}
static inline uint64_t amd_exec(const AmdWave *w) {
    uint64_t low = w->scalars[AMD_EXEC];
    return w->lanes == 64 ? low | (uint64_t)w->scalars[AMD_EXEC + 1] << 32 : low;
}
static inline uint32_t *amd_vector(const AmdWave *w, uint32_t number) {
    return w->vectors + (size_t)number * AMD_LANES;
}
static inline uint32_t *amd_shadow(const AmdWave *w, uint32_t number) {
    return w->shadows + (size_t)number * AMD_LANES;
}

// ---- Operands (fetch.c) ----

typedef struct AmdBuffer {
    _Alignas(64) uint64_t slots[AMD_LANES];
} AmdBuffer;

// Lanes of a source, with its modifiers: 4 bytes each, 8 of the types of 64 bits. In *buffer, or
// the register itself.
const void *amd_fetch(const AmdWave *w, const AmdInstr *i, uint32_t source, AmdBuffer *buffer);
// Their poison; false: none in the lanes of the mask.
bool amd_fetch_poison(const AmdWave *w, const AmdInstr *i, uint32_t source, uint64_t mask,
                      AmdBuffer *buffer);
// The lanes that a DPP instruction writes.
uint64_t amd_dpp_mask(const AmdWave *w, const AmdInstr *i, uint64_t exec);
static inline uint32_t amd_slot(uint32_t type) {
    return type == AMD_B64 || type == AMD_F64 || type == AMD_F32X2 ? 8 : 4;
}

// Scalars: 1 or 2 words.
uint64_t amd_scalar(const AmdWave *w, const AmdOperand *o, uint32_t words);
uint64_t amd_scalar_poison(const AmdWave *w, const AmdOperand *o, uint32_t words);
void amd_scalar_put(AmdWave *w, const AmdInstr *i, const AmdOperand *o, uint32_t words,
                    uint64_t value, uint64_t poison);

// Registers as they are: word n of lane l.
uint32_t amd_word(const AmdWave *w, const AmdOperand *o, uint32_t n, uint32_t l);
uint32_t amd_word_poison(const AmdWave *w, const AmdOperand *o, uint32_t n, uint32_t l);
void amd_put_word(AmdWave *w, const AmdOperand *o, uint32_t n, uint64_t mask,
                  const uint32_t *values, const uint32_t *poison);

// Results of a lane function: `values` in slots of the type, `poison` in the same or NULL.
void amd_store(AmdWave *w, const AmdInstr *i, uint32_t result, uint64_t mask, const void *values,
               const void *poison);

// ---- Poison (poison.c) ----
// Of a lane function's first result, in slots of its type; `poison`: of up to four sources, NULL
// where there is none in the mask's lanes.
void amd_poison_lanes(const AmdInstr *i, const AmdLanes *x, uint64_t mask,
                      const AmdBuffer *const *poison, AmdBuffer *result);
// Of a scalar function's result.
uint64_t amd_poison_scalar(const AmdInstr *i, const AmdScalars *x, const uint64_t *poison);

// ---- Lane functions ----

struct AmdLanes {
    uint32_t count;  // 32 or 64
    void *d, *e;     // results
    const void *a, *b, *c, *c2;
    const AmdWave *wave;
    const AmdInstr *instr;
};

// d, a, b, c of their types are in scope.
#define AMD_EACH(x, ...)                                                    \
    {                                                                       \
        const uint32_t each_count = (x)->count;                             \
        SIM_IVDEP for (uint32_t l = 0; l < each_count; l++) { __VA_ARGS__ } \
    }

struct AmdScalars {
    uint64_t a, b, c;
    bool scc;
    AmdWave *wave;
    const AmdInstr *instr;
};

// ---- Memory (access.c, pending.c) ----

typedef struct AmdTouch {
    SimSpace space;
    SimAccessKind kind;
    SimOrder order;
    SimScope scope;
    uint64_t mask;
    uint32_t bytes, align;
    uint64_t address[AMD_LANES];
    const uint8_t *data;
    uint8_t *host[AMD_LANES];
    uint8_t *poison[AMD_LANES];  // bits, NULL: not kept
    uint64_t poison_at[AMD_LANES];
    SimSpace met[AMD_LANES];
} AmdTouch;
bool amd_touch(AmdWave *w, const AmdInstr *i, AmdTouch *t);

// A load's data: words * AMD_LANES values and as many of poison, to be filled in.
AmdPending *amd_pend(AmdWave *w, const AmdInstr *i, AmdClass class, uint32_t words);
// The newest one touches this, too: what it is told of when it is late. Not of scalar loads: LLVM's
// fences do not wait for them on gfx12.
void amd_pend_touch(AmdWave *w, const SimAccess *access);
// Its registers are poison from now on.
void amd_pend_begin(AmdWave *w, AmdPending *p);
// A barrier is complete: what is still under way is late.
void amd_pend_late(const AmdWave *w);
void amd_pend_free(AmdWave *w);
void amd_land(AmdWave *w, const uint8_t *counts);
void amd_land_all(AmdWave *w);

// ---- Handlers ----
AmdRun amd_run_lanes, amd_run_pair, amd_run_scalar, amd_run_access, amd_run_smem, amd_run_matrix;
#define AMD_LANE_ROW(name, roles, function, poison) AmdLaneFunction amd_##function;
#define AMD_SCALAR_ROW(name, roles, function, poison) AmdScalarFunction amd_##function;
#define AMD_OWN_ROW(name, roles, function) AmdRun amd_##function;
#define AMD_IGNORED_ROW(name)
#include "sim/amd/amd.def"
#undef AMD_LANE_ROW
#undef AMD_SCALAR_ROW
#undef AMD_OWN_ROW
#undef AMD_IGNORED_ROW

#endif
