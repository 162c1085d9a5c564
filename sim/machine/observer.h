// Observers: callbacks of the machine while it runs.
//
// Purpose: every check and counter is an observer, one file each in sim/observe; the executor has
// none.
// Invariants: callbacks may be NULL. They are called in the order of the run, before the effect
// they announce (access: before memory changes). They must not change the machine. All pointers are
// valid during the call only. `mask` has the lanes that an event is about.
// Ownership: the creator of the observer owns its state.
//
//     SimObserver o = {.state = &count, .step = count_step};
#ifndef TILEC_SIM_MACHINE_OBSERVER_H
#define TILEC_SIM_MACHINE_OBSERVER_H

#include "sim/machine/memory.h"
#include "sim/machine/program.h"

typedef enum SimSpace {
    SIM_SPACE_GENERIC,
    SIM_SPACE_GLOBAL,
    SIM_SPACE_SHARED,
    SIM_SPACE_LOCAL,
    SIM_SPACE_PARAM,
    SIM_SPACE_CONST
} SimSpace;

typedef enum SimAccessKind {
    SIM_ACCESS_LOAD,
    SIM_ACCESS_STORE,
    SIM_ACCESS_ATOMIC,       // reads and writes, or (red) only writes
    SIM_ACCESS_ASYNC_READ,   // the global side of cp.async and bulk copies
    SIM_ACCESS_ASYNC_START,  // the shared side, when it is issued: a write that may land from now
                             // on
    SIM_ACCESS_ASYNC_LAND,   // the shared side, when a wait of the same thread lands it
    SIM_ACCESS_MATRIX_LOAD,  // ldmatrix: 16 bytes at each address given by a lane
    SIM_ACCESS_MATRIX_STORE,
    SIM_ACCESS_MBARRIER,     // of an mbarrier, which is ordered by its own events
    SIM_ACCESS_FLIGHT_READ,  // of the async proxy, at any time of a flight (SimFlight)
    SIM_ACCESS_FLIGHT_WRITE,
    SIM_ACCESS_FLIGHT_LAND  // of the mbarrier where a flight ends
} SimAccessKind;

typedef enum SimOrder {
    SIM_ORDER_WEAK,
    SIM_ORDER_VOLATILE,
    SIM_ORDER_RELAXED,
    SIM_ORDER_ACQUIRE,
    SIM_ORDER_RELEASE,
    SIM_ORDER_ACQ_REL,
    SIM_ORDER_SEQ_CST
} SimOrder;
typedef enum SimScope { SIM_SCOPE_CTA, SIM_SCOPE_CLUSTER, SIM_SCOPE_GPU, SIM_SCOPE_SYS } SimScope;

// A place in a launch: warp `warp` of block `block` (linear), at code[pc].
typedef struct SimPlace {
    const SimKernel *kernel;
    const SimInstr *instr;
    uint32_t pc;
    uint64_t block;
    uint32_t warp, rank;  // of the block in its cluster
} SimPlace;

// One instruction's memory access. Generic addresses are resolved: `space` is the space that the
// mask's lanes access (an instruction that accesses several spaces gives several events). Global
// addresses are those of memory.h, shared ones are offsets in the block's memory, local ones
// offsets in the thread's.
typedef struct SimAccess {
    SimPlace at;
    SimSpace space;
    SimAccessKind kind;
    SimOrder order;
    SimScope scope;
    uint64_t mask;
    uint32_t lanes;           // of the warp
    uint32_t bytes;           // bytes of each lane, for vectors all of them
    uint32_t owner;           // rank of the block whose shared memory it is
    const uint64_t *address;  // `lanes` of them
    const uint8_t *data;      // for stores: lane l's bytes at data + 32 * l; else NULL
    // The present host address of lane l's bytes, or NULL: no memory. NULL for all: not given.
    uint8_t *const *there;
} SimAccess;

typedef enum SimFaultKind {
    SIM_FAULT_BOUNDS,       // outside every live allocation
    SIM_FAULT_ALIGN,        // not a multiple of the access size
    SIM_FAULT_READONLY,     // a write to constant memory
    SIM_FAULT_ENDED_BLOCK,  // shared memory of a block that has ended
    SIM_FAULT_TRAP,
    SIM_FAULT_ASSERT,    // with text
    SIM_FAULT_DEADLOCK,  // text says who waits for what
    SIM_FAULT_LIMIT,     // too many steps
    SIM_FAULT_USE        // an operand that the ISA forbids; with text
} SimFaultKind;
typedef struct SimFault {
    SimPlace at;
    SimFaultKind kind;
    SimSpace space;
    uint64_t mask;     // lanes with the fault
    uint64_t address;  // address of the first of these lanes
    uint32_t bytes;
    const char *text;
} SimFault;

typedef enum SimPoisonUse {
    SIM_POISON_ADDRESS,  // address of an access
    SIM_POISON_BRANCH,   // guard or index of a branch
    SIM_POISON_STORE,    // stored to global memory
    SIM_POISON_MEMBERS,  // a mask of lanes, or the number of a barrier
    SIM_POISON_RESULT,   // of a load: another instruction wrote the register before the wait
} SimPoisonUse;
typedef struct SimPoison {
    SimPlace at;
    SimPoisonUse use;
    uint64_t mask;
    int32_t number;  // the register
} SimPoison;

// A completed barrier of the block or cluster: everything before the arrivals happens before
// everything after it in the warps that waited. Arrivals are events of their own, if `arrivals`
// says so.
typedef struct SimBarrierDone {
    uint64_t block;
    uint32_t rank;  // of the block; a cluster's barrier: 0
    uint32_t barrier;
    const uint32_t *arrived;  // the lanes of each warp that arrived
    const uint32_t *waited;   // … and those that continue from here (bar.arrive does not wait)
    uint32_t warp_count;
    // A warp's fence before the barrier also covers other threads: their relaxed accesses after the
    // barrier release its stores beyond the block, since those stores have completed, no matter
    // which thread signals. In PTX each thread needs its own fence.
    bool hands_on;
    bool arrivals;  // SimArrival has named those that release; else all of `arrived` do
} SimBarrierDone;

// Lanes arrive at a barrier; their accesses until now are released to those that will wait. A
// cluster's barrier has the number SIM_CLUSTER_BARRIER.
enum { SIM_CLUSTER_BARRIER = 16 };
typedef struct SimArrival {
    SimPlace at;
    uint64_t mask;
    uint32_t barrier;
} SimArrival;

typedef enum SimFence {
    SIM_FENCE_MEMORY,        // both of the next two
    SIM_FENCE_RELEASE,       // all stores before it are visible; within a block it acquires, too
    SIM_FENCE_ACQUIRE,       // loads after it see what accesses before it have met
    SIM_FENCE_PROXY_ASYNC,   // between generic accesses and those of flights
    SIM_FENCE_PROXY_SHARED,  // the same for shared memory only
    SIM_FENCE_PROXY_GLOBAL,  // and for global memory only
    SIM_FENCE_INIT,    // between the init of mbarriers and their use by flights and other blocks
    SIM_FENCE_PRODUCT  // wgmma.fence: between uses of registers and products in flight
} SimFence;

// An .aligned bar.sync or similar that only some of a warp's lanes reach, or a collective without
// all of its members.
typedef struct SimDiverged {
    SimPlace at;
    uint64_t mask, expected;
} SimDiverged;

typedef struct SimSpan {
    uint64_t address;
    uint32_t bytes;
} SimSpan;

// The accesses of an asynchronous instruction to one space of memory and to registers: they happen
// at any time from its beginning to its end. The warp that began it knows of its end.
typedef struct SimFlight {
    SimPlace at;
    uint64_t mask;  // the lanes that began it
    SimSpace space;
    uint32_t owner;  // rank of the block whose shared memory it is
    bool writes;     // to memory; else it reads
    const SimSpan *spans;
    uint32_t span_count;
    const int32_t *results, *sources;  // numbers of registers that it writes and reads
    uint32_t result_count, source_count;
    bool adds;    // it reads the results' registers, too
    bool atomic;  // its writes are reductions
    // Its end is an event of an mbarrier, in the shared memory of the block of that rank.
    bool lands;
    uint64_t mbarrier;
    uint32_t mbarrier_owner;
} SimFlight;

// mbarrier: an arrival releases the lanes' earlier accesses to those that see the phase complete.
typedef enum SimMbarrierStep {
    SIM_MBARRIER_BEGINS,  // init
    SIM_MBARRIER_ENDS,    // inval
    SIM_MBARRIER_COUNTS,  // bytes only
    SIM_MBARRIER_ARRIVES,
    SIM_MBARRIER_PASSES  // a successful test or try_wait
} SimMbarrierStep;
typedef struct SimMbarrierEvent {
    SimPlace at;
    uint64_t mask;
    uint64_t address;  // offset in the shared memory of the block of rank `owner`
    uint32_t owner;
    SimMbarrierStep step;
} SimMbarrierEvent;

typedef struct SimLaunchFacts {
    const SimKernel *kernel;
    SimMemory *memory;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t ranks;          // blocks of a cluster, which are resident together
    uint32_t warps;          // in a block
    uint32_t lanes;          // in a warp, at most SIM_LANES_MAX
    bool in_step;            // the lanes of a warp run in lockstep, and its accesses are ordered
    uint32_t shared_bytes;   // static and dynamic
    uint32_t banks;          // of shared memory, 4 bytes wide
    const uint8_t *loads16;  // the order of lanes in which 16-byte loads are served; NULL:
                             // ascending
} SimLaunchFacts;

typedef struct SimObserver {
    void *state;
    bool poison;  // poison must be tracked
    void (*launch_begin)(void *state, const SimLaunchFacts *launch);
    void (*launch_end)(void *state);
    // The blocks of a cluster begin, and end, together.
    void (*block_begin)(void *state, uint64_t block, uint32_t rank);
    void (*block_end)(void *state, uint64_t block);
    void (*step)(void *state, const SimPlace *at, uint64_t mask);  // before each instruction
    void (*access)(void *state, const SimAccess *access);
    // Called when a barrier completes but an earlier access is not complete: an access that no wait
    // has covered may still happen after the barrier. The access was reported before, and is
    // reported again at each such barrier.
    void (*late)(void *state, const SimAccess *access);
    void (*arrive)(void *state, const SimArrival *arrival);
    void (*barrier)(void *state, const SimBarrierDone *done);
    void (*warp_sync)(void *state, const SimPlace *at, uint64_t mask);  // bar.warp.sync
    void (*fence)(void *state, const SimPlace *at, uint64_t mask, SimFence fence, SimScope scope);
    void (*mbarrier)(void *state, const SimMbarrierEvent *event);
    void (*flight_begin)(void *state, const SimFlight *flight);
    void (*flight_end)(void *state, const SimFlight *flight);
    void (*poisoned)(void *state, const SimPoison *poison);
    void (*fault)(void *state, const SimFault *fault);
    void (*diverged)(void *state, const SimDiverged *diverged);
} SimObserver;

#endif
