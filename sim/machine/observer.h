// Observers: what the machine tells while it runs, to whoever asked.
//
// Purpose: every check and counter is an observer, one file each in sim/observe; the executor has
// none. Invariants: callbacks may be NULL; they are called in the order of the run, before the
// effect they announce (access: before memory changes). They must not change the machine. All
// pointers are valid during the call only. An event's `mask` are the lanes it is about.
// Ownership: the observer's state belongs to whoever made it.
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
    SIM_ACCESS_ATOMIC,       // reads and writes, or (red) writes
    SIM_ACCESS_ASYNC_READ,   // the global side of cp.async and bulk copies
    SIM_ACCESS_ASYNC_START,  // the shared side, at the time of issue: a write that may land from
                             // now
    SIM_ACCESS_ASYNC_LAND,   // … and when a wait of the same thread made it land
    SIM_ACCESS_MATRIX_LOAD,  // ldmatrix: 16 bytes at each address given by a lane
    SIM_ACCESS_MATRIX_STORE
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

// Where in a launch: warp `warp` of block `block` (linear), at code[pc].
typedef struct SimPlace {
    const SimKernel *kernel;
    const SimInstr *instr;
    uint32_t pc;
    uint64_t block;
    uint32_t warp;
} SimPlace;

// One instruction's touch of memory. Generic addresses have been resolved: `space` is what the
// lanes of the mask meet (an instruction that meets several spaces gives several events); global
// addresses are those of memory.h, shared ones offsets within the block's memory, local ones
// offsets within the thread's.
typedef struct SimAccess {
    SimPlace at;
    SimSpace space;
    SimAccessKind kind;
    SimOrder order;
    SimScope scope;
    uint64_t mask;
    uint32_t lanes;           // of the warp
    uint32_t bytes;           // of each lane, vectors whole
    const uint64_t *address;  // `lanes` of them
    const uint8_t *data;      // stores: lane l's bytes at data + 32 * l; else NULL
    // Where lane l's bytes are now, or NULL: nowhere. NULL for all: not said.
    uint8_t *const *there;
} SimAccess;

typedef enum SimFaultKind {
    SIM_FAULT_BOUNDS,    // not within one live allocation
    SIM_FAULT_ALIGN,     // not a multiple of the access size
    SIM_FAULT_READONLY,  // a write to constant memory
    SIM_FAULT_TRAP,
    SIM_FAULT_ASSERT,    // text
    SIM_FAULT_DEADLOCK,  // text says who waits for what
    SIM_FAULT_LIMIT,     // too many steps
    SIM_FAULT_USE        // an operand that the ISA forbids; text
} SimFaultKind;
typedef struct SimFault {
    SimPlace at;
    SimFaultKind kind;
    SimSpace space;
    uint64_t mask;     // lanes at fault
    uint64_t address;  // of the first of them
    uint32_t bytes;
    const char *text;
} SimFault;

typedef enum SimPoisonUse {
    SIM_POISON_ADDRESS,  // of an access
    SIM_POISON_BRANCH,   // a guard or the index of a branch
    SIM_POISON_STORE,    // stored to global memory
    SIM_POISON_MEMBERS,  // a mask of lanes, a barrier's number
    SIM_POISON_RESULT,   // of a load: written by others before it was waited for
} SimPoisonUse;
typedef struct SimPoison {
    SimPlace at;
    SimPoisonUse use;
    uint64_t mask;
    int32_t number;  // the register
} SimPoison;

// A barrier of the block that is now complete: everything before it, in the warps that arrived,
// happens before what follows in those that waited.
typedef struct SimBarrierDone {
    uint64_t block;
    uint32_t barrier;
    const uint32_t *arrived;  // for each warp: its lanes
    const uint32_t *waited;   // … those that go on from here (bar.arrive does not wait)
    uint32_t warp_count;
    // What a warp's fence made seen beyond the block is released by relaxed accesses of the others
    // behind the barrier, too: stores that were waited for are there, whoever tells of them. In
    // PTX each thread needs a fence of its own.
    bool hands_on;
} SimBarrierDone;

typedef enum SimFence { SIM_FENCE_MEMORY, SIM_FENCE_PROXY_ASYNC } SimFence;

// bar.sync and the like reached by only some of a warp's lanes, though it is .aligned; or a
// collective whose members did not all come.
typedef struct SimDiverged {
    SimPlace at;
    uint64_t mask, expected;
} SimDiverged;

// mbarrier: `arrive` releases what the lanes did before to those that see the phase complete.
typedef struct SimMbarrierEvent {
    SimPlace at;
    uint64_t mask;
    uint64_t address;  // offset in shared memory
    bool acquire;      // a test or try_wait that succeeded; else an arrive
} SimMbarrierEvent;

typedef struct SimLaunchFacts {
    const SimKernel *kernel;
    SimMemory *memory;
    uint32_t grid[3], block[3];
    uint32_t warps;          // of a block
    uint32_t lanes;          // of a warp, at most SIM_LANES_MOST
    bool in_step;            // a warp's lanes go together, its accesses in their order
    uint32_t shared_bytes;   // static and dynamic
    uint32_t banks;          // of shared memory, 4 bytes wide
    const uint8_t *loads16;  // lanes in the order that loads of 16 bytes take them; NULL: theirs
} SimLaunchFacts;

typedef struct SimObserver {
    void *state;
    bool poison;  // wants poison to be tracked
    void (*launch_begin)(void *state, const SimLaunchFacts *launch);
    void (*launch_end)(void *state);
    void (*block_begin)(void *state, uint64_t block);
    void (*block_end)(void *state, uint64_t block);
    void (*step)(void *state, const SimPlace *at, uint64_t mask);  // before each instruction
    void (*access)(void *state, const SimAccess *access);
    // A barrier is complete, an access of before it is not: that no wait has covered may come
    // after. It has been told of before, and is told of again at each such barrier.
    void (*late)(void *state, const SimAccess *access);
    void (*barrier)(void *state, const SimBarrierDone *done);
    void (*warp_sync)(void *state, const SimPlace *at, uint64_t mask);  // bar.warp.sync
    void (*fence)(void *state, const SimPlace *at, uint64_t mask, SimFence fence, SimScope scope);
    void (*mbarrier)(void *state, const SimMbarrierEvent *event);
    void (*poisoned)(void *state, const SimPoison *poison);
    void (*fault)(void *state, const SimFault *fault);
    void (*diverged)(void *state, const SimDiverged *diverged);
} SimObserver;

#endif
