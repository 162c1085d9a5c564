// What moving data costs: one table, for the pass that chooses layouts and the one that moves.
//
// Purpose: gpu_layout weighs conversions against accesses by these numbers, and gpu_threads
// converts in the very way that was weighed. Invariants: costs are for one warp, in quarters of a
// clock of a multiprocessor; they compare, they predict no times. Ownership: values.
//
//     GpuConversion how = gpu_conversion(&from, &to, 16, machine->banks);
//     if (how.way == GPU_WAY_SHUFFLES) …   // as how.shuffle says
#ifndef TILEC_PASSES_GPU_COST_H
#define TILEC_PASSES_GPU_COST_H

#include "ir/ir.h"
#include "ir/layout/query.h"

// A multiprocessor issues four instructions a clock and serves one wavefront of shared memory, one
// shuffle, or one line of its cache, from which lanes that are scattered take a sector.
typedef enum GpuCost {
    GPU_COST_ISSUE = 1,  // any instruction: a select, a move, arithmetic
    GPU_COST_WAVEFRONT = 4,
    GPU_COST_SHUFFLE = GPU_COST_ISSUE + GPU_COST_WAVEFRONT,
    GPU_COST_SECTOR = 4,    // of global memory
    GPU_COST_ADDRESS = 8,   // of a global access: address and edge; of a whole trip
    GPU_COST_LATENCY = 16,  // of a round of shuffles until the first comes back
    GPU_COST_BARRIER = 40,
} GpuCost;

typedef enum GpuWay {
    GPU_WAY_NONE,
    GPU_WAY_REGISTERS,  // by other names, which may differ by thread
    GPU_WAY_SHUFFLES,
    GPU_WAY_SHARED,  // stores, a barrier, loads
} GpuWay;

typedef struct GpuConversion {
    GpuWay way;
    uint64_t cost;
    LayoutShuffle shuffle;  // of GPU_WAY_SHUFFLES
} GpuConversion;

// The cheapest way of a tile whose elements have so many bits.
GpuConversion gpu_conversion(const Layout *from, const Layout *to, uint32_t bits,
                             const SharedBanks *banks);
// What is moved of such a tile: bools as bytes, pointers as words of 64 bits.
Dtype gpu_moved_elem(const IrType *type);

#endif
