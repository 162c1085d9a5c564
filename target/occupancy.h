// Occupancy: how many programs run at once on a multiprocessor of an NVIDIA GPU, or on a compute
// unit of an AMD GPU (on RDNA a pair of them, a work-group processor), and what limits it.
//
// The numbers are those of chips.def; NVIDIA allocates registers in units per warp.
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
    uint32_t warps_max;      // the most that the machine can hold
    OccupancyLimit limit;
} Occupancy;
// The most registers per thread for a block of `threads` threads.
uint32_t gpu_max_registers(const Chip *chip, uint32_t threads);
// `registers` per thread; 0: unknown, and not a limit.
Occupancy gpu_occupancy(const Chip *chip, uint32_t threads, uint32_t registers,
                        uint32_t shared_bytes);

// The resources that a program of AMD code needs: registers of a lane, accumulators included, and
// scalar registers of a wave.
typedef struct AmdNeeds {
    uint32_t threads, lanes;  // lanes: of one wave
    uint32_t vectors, scalars, shared_bytes;
} AmdNeeds;
Occupancy amd_occupancy(const Chip *chip, const AmdNeeds *needs);

#endif
