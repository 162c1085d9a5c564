// Occupancy: how many programs a multiprocessor of an NVIDIA GPU, or a compute unit of an AMD GPU
// (of RDNA a pair of them, a work-group processor) runs at once, and what limits it.
//
// Facts of each architecture are from the tables of "Compute Capabilities" in the CUDA C++
// Programming Guide, where registers come in portions of 256 a warp, and from AMD's documents of
// each instruction set. Invariants: limits are constant; an architecture that is not listed has
// those of the next lower one. Ownership: values.
//
//     Occupancy o = gpu_occupancy(80, 256, 168, 49152);
//     o.blocks;    // 1
//     o.limit;     // OCCUPANCY_REGISTERS
#ifndef TILEC_IR_OCCUPANCY_H
#define TILEC_IR_OCCUPANCY_H

#include <stdint.h>

// Of one multiprocessor.
typedef struct GpuLimits {
    uint32_t number;  // of the architecture
    uint32_t warps, blocks, registers;
    uint32_t shared_bytes, shared_reserved;  // what each block takes beyond its own
    uint32_t f64_ratio;                      // f32 operations in the time of one of f64
} GpuLimits;
const GpuLimits *gpu_limits(uint32_t number);

typedef enum OccupancyLimit {
    OCCUPANCY_WARPS,
    OCCUPANCY_BLOCKS,
    OCCUPANCY_SHARED,
    OCCUPANCY_REGISTERS
} OccupancyLimit;

typedef struct Occupancy {
    uint32_t blocks, warps;  // at once
    uint32_t warps_most;     // that the machine has places for
    OccupancyLimit limit;
} Occupancy;
// The most registers that a thread of a block of so many can have.
uint32_t gpu_registers_most(uint32_t threads);
// `registers` of a thread; 0: not known, and no limit.
Occupancy gpu_occupancy(uint32_t number, uint32_t threads, uint32_t registers,
                        uint32_t shared_bytes);

// What a program of AMD code takes; registers of a lane with accumulators, scalar ones of a wave.
typedef struct AmdNeeds {
    uint32_t threads, lanes;  // lanes: of a wave
    uint32_t vectors, scalars, shared_bytes;
} AmdNeeds;
// The number is hexadecimal: 0x942.
Occupancy amd_occupancy(uint32_t number, const AmdNeeds *needs);

#endif
