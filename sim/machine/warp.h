// The state of blocks and warps while they run; only for handlers and the scheduler.
//
// Invariants: the lanes of a warp's fragments are disjoint; together they are its live lanes
// without those that have arrived at a join. A handler runs for warp->mask (never empty) and reads
// and writes those lanes only. After sim_fail nothing more runs.
// Ownership: sim_run's, freed at its end. Files compiled with -fno-strict-aliasing do not need
// may_alias, but the register file's types have it.
//
//     static void add_u32(SimWarp *w, const SimInstr *i) {
//         LaneU32 *d = SIM_REG(w, i->d, LaneU32);
//         const LaneU32 *a = SIM_REG(w, i->a, LaneU32), *b = SIM_REG(w, i->b,
//         LaneU32); SIM_EACH_LANE(w, d[l] = a[l] + b[l];)
//     }
#ifndef TILEC_SIM_MACHINE_WARP_H
#define TILEC_SIM_MACHINE_WARP_H

#include "sim/machine/machine.h"

// A register may be written as one type and read as another, so accesses may alias.
typedef uint16_t __attribute__((may_alias)) LaneU16;
typedef int16_t __attribute__((may_alias)) LaneS16;
typedef uint32_t __attribute__((may_alias)) LaneU32;
typedef int32_t __attribute__((may_alias)) LaneS32;
typedef uint64_t __attribute__((may_alias)) LaneU64;
typedef int64_t __attribute__((may_alias)) LaneS64;
typedef float __attribute__((may_alias)) LaneF32;
typedef double __attribute__((may_alias)) LaneF64;

#define SIM_REG(w, operand, T) ((T *)(void *)((w)->regs + (operand).at))
#define SIM_PRED(w, operand) (*SIM_REG(w, operand, LaneU32))

// The loop over lanes exists twice: for whole warps it has no test, so that the compiler vectorizes
// it. Lane l of a result depends on lane l of the operands only, even if they are the same
// register.
#if defined(__clang__)
#define SIM_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIM_IVDEP _Pragma("GCC ivdep")
#endif
#define SIM_EACH_LANE(w, ...) SIM_EACH_OF((w)->mask, __VA_ARGS__)
#define SIM_EACH_OF(lanes, ...)                                                \
    do {                                                                       \
        const uint32_t each_mask = (lanes);                                    \
        if (each_mask == UINT32_MAX) {                                         \
            SIM_IVDEP for (uint32_t l = 0; l < SIM_LANES; l++) { __VA_ARGS__ } \
        } else {                                                               \
            for (uint32_t l = 0; l < SIM_LANES; l++)                           \
                if (each_mask >> l & 1) {                                      \
                    __VA_ARGS__                                                \
                }                                                              \
        }                                                                      \
    } while (0)

// Hot loops are also compiled for wider vectors if the loader can choose between versions.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_THREAD__)
#define SIM_HAS_CLONES
#define SIM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SIM_CLONES
#endif

enum {
    SIM_FRAGMENTS = 32,
    SIM_JOINS = 96,
    SIM_BARRIERS = 16,
    SIM_NO_JOIN = -1,
    SIM_WARPS = 32,
    SIM_WARPGROUPS = 8
};

typedef enum SimState {
    SIM_RUNS,
    SIM_AT_BARRIER,    // until the others arrive
    SIM_AT_COLLECTIVE  // waits for the members of a collective
} SimState;

typedef struct SimFragment {
    uint32_t pc, mask;
    uint32_t stop;  // pc of the join; UINT32_MAX: none
    int32_t join;
    uint8_t state;    // SimState
    uint8_t barrier;  // number of the barrier
} SimFragment;

typedef struct SimJoin {
    uint32_t pc, expected, arrived;
    int32_t parent;
} SimJoin;

// A warp's cp.async in flight to shared memory.
typedef struct SimCopy {
    uint32_t mask;   // lanes whose bytes have not landed
    uint32_t group;  // group of these lanes
    uint32_t bytes;  // of each lane
    uint32_t to[SIM_LANES];
    uint8_t data[SIM_LANES][16];
} SimCopy;

typedef struct SimBarrier {
    uint32_t arrived[SIM_WARPS], waited[SIM_WARPS];
    uint32_t expected;  // threads; 0: all of the block
    bool busy;
    uint32_t predicates[SIM_WARPS];  // bar.red: lanes whose predicate is true
} SimBarrier;

typedef struct SimRun SimRun;
typedef struct SimBlock SimBlock;

typedef struct SimWaits {
    const SimInstr *instr;  // NULL: none
    uint64_t address;
    uint32_t lane, parity;
} SimWaits;

struct SimWarp {
    uint8_t *regs;
    uint64_t *poison;  // by register number: the lanes whose lower half is poison, then those whose
                       // upper half is; NULL: not tracked
    uint32_t mask;     // lanes that execute
    uint32_t live;
    uint32_t index;
    uint32_t carry;  // for add.cc and similar
    uint32_t pc;
    uint32_t spins;  // strong reads and atomics since lanes were last released from a join
    bool force;      // nothing else can run: barriers complete with the lanes that arrived
    bool yield;      // the handler asks to let others run
    bool retry;      // the handler of a SIM_WAIT instruction must run again later
    // The mbarrier that the warp found incomplete last, and how often since anything changed.
    SimWaits waits;
    uint32_t idle;
    uint64_t idle_since;
    SimBlock *block;
    SimRun *run;
    uint8_t *local;         // local_bytes for each lane
    uint8_t *local_poison;  // bits
    SimFragment fragments[SIM_FRAGMENTS];
    uint32_t fragment_count;
    SimJoin joins[SIM_JOINS];
    uint32_t join_count;
    uint32_t group[SIM_LANES];  // open cp.async group
    SimCopy *copies;            // starting at copy_first, in the order of issue
    uint32_t copy_first, copy_count, copy_capacity;
    uint32_t registers;     // of each lane (setmaxnreg)
    uint32_t arrived;       // lanes that have arrived at the cluster's barrier in this phase
    uint32_t arrived_only;  // lanes that have arrived and not waited
    uint32_t bulk_group[SIM_LANES];  // open group of bulk stores
    struct SimProducts *products;    // in flight (wgmma.h); NULL: there were none yet
};

struct SimBlock {
    SimRun *run;
    uint32_t ctaid[3], rank;  // in the cluster
    uint64_t linear;
    uint32_t running;  // warps that have not ended
    uint8_t *shared, *shared_poison;
    uint32_t shared_bytes;
    SimWarp *warps;
    uint32_t warp_count;
    SimBarrier barriers[SIM_BARRIERS];
    uint32_t *mbarriers;  // addresses of the objects that there are
    uint32_t mbarrier_count, mbarrier_capacity;
    uint32_t registers;           // 32-bit ones that no thread has (setmaxnreg)
    struct SimWarpgroup *groups;  // SIM_WARPGROUPS of them (wgmma.h)
};

struct SimRun {
    const SimLaunch *launch;
    SimResult *result;
    bool stop;    // a fault has ended the launch
    bool poison;  // poison is tracked
    bool step_observed, access_observed;
    uint64_t random;
    uint64_t steps, lane_steps;
    uint64_t changes;  // of anything that a warp may wait for
    SimBlock *blocks;  // of the cluster that runs
    uint32_t block_count, cluster[3];
    struct SimBulks *bulks;  // copies in flight (bulk.h); NULL: there were none
};

SimPlace sim_place(const SimWarp *w, const SimInstr *i);
// Ends the launch; `text` in lower case.
void sim_fail(SimWarp *w, const SimInstr *i, SimFault fault, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
uint32_t sim_random(SimRun *run, uint32_t below);

// Calls every observer that has the callback.
#define SIM_NOTIFY(run, member, ...)                                                     \
    do {                                                                                 \
        const SimLaunch *notify_launch = (run)->launch;                                  \
        for (uint32_t notify_index = 0; notify_index < notify_launch->observer_count;    \
             notify_index++) {                                                           \
            const SimObserver *notify_observer = notify_launch->observers[notify_index]; \
            if (notify_observer->member)                                                 \
                notify_observer->member(notify_observer->state, __VA_ARGS__);            \
        }                                                                                \
    } while (0)

static inline uint32_t sim_pred(const SimWarp *w, SimOperand p, bool negated) {
    uint32_t bits = SIM_PRED(w, p);
    return negated ? ~bits : bits;
}
static inline uint32_t sim_first_lane(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }
static inline uint32_t sim_lane_count(uint32_t mask) {
    return mask == UINT32_MAX ? SIM_LANES : (uint32_t)__builtin_popcount(mask);
}
static inline void sim_set_pred(SimWarp *w, SimOperand p, uint32_t bits) {
    LaneU32 *to = SIM_REG(w, p, LaneU32);
    *to = (*to & ~w->mask) | (bits & w->mask);
}

// ---- Poison of a register's lanes ----
// Each half of a register on its own, since vectors contain parts that are never written and never
// read. Instructions other than such moves treat a register as poison if one half is.
static inline uint64_t sim_poison_halves(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}
static inline uint32_t sim_poison_any_half(uint64_t halves) {
    return (uint32_t)(halves | halves >> 32);
}
static inline uint32_t sim_poison_of(const SimWarp *w, SimOperand o) {
    return o.number < 0 ? 0 : sim_poison_any_half(w->poison[o.number]);
}
static inline void sim_poison_put_halves(SimWarp *w, SimOperand o, uint64_t halves) {
    uint64_t mask = sim_poison_halves(w->mask, w->mask);
    if (o.number >= 0) w->poison[o.number] = (w->poison[o.number] & ~mask) | (halves & mask);
}
static inline void sim_poison_put(SimWarp *w, SimOperand o, uint32_t lanes) {
    sim_poison_put_halves(w, o, sim_poison_halves(lanes, lanes));
}
// Results are poison if any operand is.
void sim_poison_flow(SimWarp *w, const SimInstr *i);
// Reports a poisoned operand that decides something to the observers.
void sim_poison_check(SimWarp *w, const SimInstr *i, SimOperand o, SimPoisonUse use);

// ---- Memory (access.c) ----

// The lanes' access, and its place in host memory.
typedef struct SimTouch {
    SimSpace space;
    SimAccessKind kind;
    SimOrder order;
    SimScope scope;
    uint32_t mask, bytes;
    bool far;  // shared memory of other blocks of the cluster may be accessed
    uint64_t address[SIM_LANES];
    uint8_t owner[SIM_LANES];    // rank of the block whose shared memory it is
    const uint8_t *data;         // for the observers
    uint8_t *host[SIM_LANES];    // NULL for lanes without memory
    uint8_t *poison[SIM_LANES];  // bits of the region, NULL when not tracked
    uint64_t poison_at[SIM_LANES];
    SimSpace lane_space[SIM_LANES];
    bool dense;     // all lanes are active, and each begins where the previous one ends
    uint8_t *bits;  // bits of the region that holds all lanes; NULL when there is none, or poison
                    // is not tracked
    uint64_t low, high;  // the first bit, and the one after the last
} SimTouch;
// Finds the memory and calls the observers. False: a fault; the launch has ended.
bool sim_touch(SimWarp *w, const SimInstr *i, SimTouch *t);
// True: none of it is poison. False: some may be.
bool sim_touch_is_clean(const SimTouch *t);

// ---- cp.async (async.c) ----
// Lands all copies of the mask's lanes.
void sim_copies_land(SimWarp *w, const SimInstr *i);

// ---- Detail of instruction families ----

typedef enum SimAtom {
    SIM_ATOM_ADD,
    SIM_ATOM_INC,
    SIM_ATOM_DEC,
    SIM_ATOM_MIN,
    SIM_ATOM_MAX,
    SIM_ATOM_AND,
    SIM_ATOM_OR,
    SIM_ATOM_XOR,
    SIM_ATOM_EXCH,
    SIM_ATOM_CAS
} SimAtom;

typedef struct SimAccessOp {
    SimSpace space;
    SimOrder order;
    SimScope scope;
    uint8_t width;  // bytes of one element in memory
    uint8_t count;  // elements
    uint8_t slot;   // size of the register that holds an element, in bytes
    bool sign;      // a narrower integer is sign-extended
    bool wide;      // the address is a 64-bit register
    bool fixed;     // no register: the address is `offset`
    bool far;       // shared memory of other blocks, too
    SimAtom atom;
    bool no_result;  // red
    SimType type;
    int64_t offset;
    SimOperand address;
    SimOperand values[8];   // results of a load, operands of a store
    SimOperand values2[8];  // for an atomic
    SimOperand compare;     // for cas
} SimAccessOp;
// The addresses of the mask's lanes.
void sim_addresses(const SimWarp *w, const SimAccessOp *op, uint64_t *address);

typedef struct SimSwitch {
    const uint32_t *targets;
    uint32_t count;
} SimSwitch;

typedef enum SimBarrierKind {
    SIM_BAR_SYNC,
    SIM_BAR_ARRIVE,
    SIM_BAR_POPC,
    SIM_BAR_AND,
    SIM_BAR_OR
} SimBarrierKind;
typedef struct SimBarrierOp {
    SimBarrierKind kind;
    SimOperand barrier, count, predicate;  // count and predicate may be absent
    bool negated;
} SimBarrierOp;

typedef struct SimMatrixOp {
    uint16_t m, n, k;
    SimType a, b, c, d;
    uint8_t a_regs, b_regs, c_regs, d_regs;
    bool saturate;
    SimOperand ra[8], rb[4], rc[8], rd[8];
} SimMatrixOp;

typedef struct SimTileOp {  // ldmatrix, stmatrix
    SimAccessOp access;
    uint8_t matrices;
    bool transposed, store;
    SimOperand values[4];
} SimTileOp;

#endif
