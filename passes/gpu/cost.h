// The cost of moving data: one table, for the pass that chooses layouts and the pass that moves
// data.
//
// Purpose: gpu_layout weighs conversions against accesses by these numbers, and gpu_threads
// converts by exactly the method that was weighed.
// Invariants: costs are for one warp, in quarters of a clock of a multiprocessor; they are for
// comparisons and do not predict times.
// Ownership: values.
//
//     GpuConversion how = gpu_conversion(&from, &to, 16, machine->banks);
//     if (how.kind == GPU_CONVERT_SHUFFLES) …   // as how.shuffle says
#ifndef TILEC_PASSES_GPU_COST_H
#define TILEC_PASSES_GPU_COST_H

#include "ir/ir.h"
#include "ir/layout/query.h"

// A multiprocessor issues four instructions per clock and serves one wavefront of shared memory,
// one shuffle, or one line of its cache, from which scattered lanes take a sector each.
typedef enum GpuCost {
    GPU_COST_ISSUE = 1,  // any instruction: a select, a move, arithmetic
    GPU_COST_WAVEFRONT = 4,
    GPU_COST_SHUFFLE = GPU_COST_ISSUE + GPU_COST_WAVEFRONT,
    GPU_COST_SECTOR = 4,    // of global memory
    GPU_COST_ADDRESS = 8,   // of a global access: address and mask; of a whole trip
    GPU_COST_LATENCY = 16,  // of a round of shuffles, until the first result arrives
    GPU_COST_BARRIER = 40,
} GpuCost;

typedef enum GpuConversionKind {
    GPU_CONVERT_NONE,
    GPU_CONVERT_REGISTERS,  // renaming, which may differ by thread
    GPU_CONVERT_SHUFFLES,
    GPU_CONVERT_SHARED,  // stores, a barrier, loads
} GpuConversionKind;

typedef struct GpuConversion {
    GpuConversionKind kind;
    uint64_t cost;
    LayoutShuffle shuffle;  // of GPU_CONVERT_SHUFFLES
} GpuConversion;

// The cheapest method for a tile with elements of this many bits.
GpuConversion gpu_conversion(const Layout *from, const Layout *to, uint32_t bits,
                             const SharedBanks *banks);
// The type that is moved for such a tile: bools as bytes, pointers as words of 64 bits.
Dtype gpu_moved_elem(const IrType *type);

#endif
