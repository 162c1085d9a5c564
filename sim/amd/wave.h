// The state of a workgroup's waves while they run; only for handlers and the scheduler.
//
// Invariants: exec is scalars[AMD_EXEC]; with 32 lanes it is the low half. Vector registers have
// room for AMD_LANES lanes, even if the wave has fewer. Each register has a shadow: a bit is set
// where the register's bit is poison; `dirty` says whether any bit of a vector register is. The
// data of a load lands in its registers when a wait covers the load. Until then the registers are
// poison, and they stay poison if another instruction wrote them meanwhile. After amd_fail nothing
// more runs.
// Ownership: the launch's.
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

// Counters of accesses in flight, as s_waitcnt names them. In generations that have fewer, several
// share one (amd_counter_of).
typedef enum AmdCounter {
    AMD_COUNT_LOAD,
    AMD_COUNT_STORE,
    AMD_COUNT_LDS,
    AMD_COUNT_SCALAR,
    AMD_COUNTERS
} AmdCounter;

// A load or store in flight. Accesses of one class complete in order, except those of
// AMD_CLASS_SCALAR.
typedef enum AmdClass {
    AMD_CLASS_VECTOR,
    AMD_CLASS_STORE,
    AMD_CLASS_LDS,
    AMD_CLASS_SCALAR,
    AMD_CLASS_FLAT
} AmdClass;

// The access to report to observers if it is late; several if the lanes access several spaces.
typedef struct AmdLate {
    struct AmdLate *next;
    SimAccess access;
    uint64_t address[AMD_LANES];
    uint8_t *there[AMD_LANES];
    uint8_t data[];  // for stores
} AmdLate;

typedef struct AmdPending {
    uint8_t class, counters;  // AmdClass; one bit for each AmdCounter that counts it
    uint8_t kind;             // AmdOperandKind of the registers it fills
    uint8_t words;            // 0: a store
    bool half, high;          // fills only this half
    bool lds;                 // fills LDS
    bool lost;                // another access to the same place may complete before or after it
    uint16_t number;
    uint64_t mask;
    uint32_t bytes;              // of LDS, for each lane
    uint32_t *data;              // words * AMD_LANES values, then their poison
    uint32_t places[AMD_LANES];  // offsets in LDS
    const AmdInstr *instr;
    AmdLate *late;
} AmdPending;

typedef enum AmdState { AMD_RUNS, AMD_AT_BARRIER, AMD_ENDED } AmdState;

struct AmdWave {
    uint32_t *vectors, *shadows;  // AMD_LANES words a register
    uint8_t *dirty;
    uint32_t scalars[AMD_SCALARS], scalar_shadows[AMD_SCALARS];
    bool scc, scc_poison;
    uint32_t lanes, index, pc;
    uint64_t live;  // lanes that exist
    AmdState state;
    uint32_t signaled;  // the barrier's phase + 1 when the wave arrived; 0: it has not
    uint32_t mode;      // bits of the MODE register: rounding, denormals
    bool ieee;          // min and max of a signalling NaN are NaN; gfx12 has no such mode
    bool dx10_clamp;    // clamp turns NaN into 0
    AmdGroup *group;
    AmdLaunch *run;
    const AmdKernel *kernel;
    uint8_t *scratch, *scratch_poison;
    uint32_t scratch_bytes;  // for each lane
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
    uint32_t phase;  // number of completed barriers
};

struct AmdLaunch {
    const SimLaunch *launch;
    SimResult *result;
    const AmdKernel *kernel;
    uint64_t image;    // address of the code object
    uint64_t kernarg;  // address of the arguments
    uint64_t packet;   // address of the dispatch packet
    bool stop, step_observed, access_observed, late_observed;
    uint64_t random, steps, lane_steps;
    void *product;  // room for matrix products (matrix.c)
    AmdGroup group;
};

SimPlace amd_place(const AmdWave *w, const AmdInstr *i);
void amd_fail(AmdWave *w, const AmdInstr *i, SimFault fault, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Reports poisoned bits in a value that decides something.
void amd_report_poison(AmdWave *w, const AmdInstr *i, SimPoisonUse use, uint64_t lanes);

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

// Lanes of a source, with its modifiers applied: 4 bytes each, or 8 for 64-bit types. The data is
// in *buffer or in the register itself.
const void *amd_fetch(const AmdWave *w, const AmdInstr *i, uint32_t source, AmdBuffer *buffer);
// Their poison; false: none in the mask's lanes.
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

// Registers without conversion: word n of lane l.
uint32_t amd_word(const AmdWave *w, const AmdOperand *o, uint32_t n, uint32_t l);
uint32_t amd_word_poison(const AmdWave *w, const AmdOperand *o, uint32_t n, uint32_t l);
void amd_put_word(AmdWave *w, const AmdOperand *o, uint32_t n, uint64_t mask,
                  const uint32_t *values, const uint32_t *poison);

// Stores the results of a lane function: `values` in slots of the type, `poison` in the same layout
// or NULL.
void amd_store(AmdWave *w, const AmdInstr *i, uint32_t result, uint64_t mask, const void *values,
               const void *poison);

// ---- Poison (poison.c) ----
// The poison of a lane function's first result, in slots of its type. `poison` has up to four
// sources, NULL for a source without poison in the mask's lanes.
void amd_poison_lanes(const AmdInstr *i, const AmdLanes *x, uint64_t mask,
                      const AmdBuffer *const *poison, AmdBuffer *result);
// The poison of a scalar function's result.
uint64_t amd_poison_scalar(const AmdInstr *i, const AmdScalars *x, const uint64_t *poison);

// ---- Lane functions ----

struct AmdLanes {
    uint32_t count;  // 32 or 64
    void *d, *e;     // results
    const void *a, *b, *c, *c2;
    const AmdWave *wave;
    const AmdInstr *instr;
};

// d, a, b, c are in scope with their types.
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
    uint8_t *poison[AMD_LANES];  // bits; NULL: not tracked
    uint64_t poison_at[AMD_LANES];
    SimSpace lane_space[AMD_LANES];
} AmdTouch;
bool amd_touch(AmdWave *w, const AmdInstr *i, AmdTouch *t);

// Room for a load's data: words * AMD_LANES values and as many words of poison, which the caller
// fills in.
AmdPending *amd_pending_new(AmdWave *w, const AmdInstr *i, AmdClass class, uint32_t words);
// Adds an access to the newest pending one, to be reported if that is late. Scalar loads are left
// out: LLVM's fences do not wait for them on gfx12.
void amd_pending_note_access(AmdWave *w, const SimAccess *access);
// Its registers are poison from now on.
void amd_pending_issue(AmdWave *w, AmdPending *p);
// Called when a barrier completes: accesses still in flight are late.
void amd_pending_report_late(const AmdWave *w);
void amd_pending_free(AmdWave *w);
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
