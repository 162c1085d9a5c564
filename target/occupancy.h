// Occupancy: how many programs a multiprocessor of an NVIDIA GPU, or a compute unit of an AMD GPU
// (of RDNA a pair of them, a work-group processor) runs at once, and what limits it.
//
// The numbers are those of chips.def; registers of NVIDIA's come in portions of a warp.
// Ownership: values.
//
//     Occupancy o = gpu_occupancy(chip, 256, 168, 49152);
//     o.blocks;    // 1
//     o.limit;     // OCCUPANCY_REGISTERS
#ifndef TILEC_TARGET_OCCUPANCY_H
#define TILEC_TARGET_OCCUPANCY_H

#include "target/chip.h"

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
uint32_t gpu_registers_most(const Chip *chip, uint32_t threads);
// `registers` of a thread; 0: not known, and no limit.
Occupancy gpu_occupancy(const Chip *chip, uint32_t threads, uint32_t registers,
                        uint32_t shared_bytes);

// What a program of AMD code takes; registers of a lane with accumulators, scalar ones of a wave.
typedef struct AmdNeeds {
    uint32_t threads, lanes;  // lanes: of a wave
    uint32_t vectors, scalars, shared_bytes;
} AmdNeeds;
Occupancy amd_occupancy(const Chip *chip, const AmdNeeds *needs);

#endif
