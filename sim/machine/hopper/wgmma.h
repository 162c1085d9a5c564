// wgmma: products of a warpgroup, which read shared memory and registers while they are in flight.
//
// Purpose: state of the products in flight, and the algebra of matrix descriptors.
// Invariants: each warp of a warpgroup computes the 16 rows of its own, from its issue of the
// instruction on; the products of a warp are computed in their order. A product is computed when
// it is issued, committed or waited for, as the seed chooses; its results count from the wait on.
// All wgmma instructions of a warpgroup's warps must be the same, in the same order, with the same
// descriptors.
// Ownership: the warp and block, as everything in warp.h.
//
//     SimDescriptor d = sim_descriptor(bits);
//     uint32_t at = sim_descriptor_chunk(&d, false, 9, 1);   // bytes 16 to 31 of row 9
#ifndef TILEC_SIM_MACHINE_HOPPER_WGMMA_H
#define TILEC_SIM_MACHINE_HOPPER_WGMMA_H

#include "sim/machine/warp.h"

enum {
    SIM_GROUP_WARPS = 4,
    SIM_CHUNK = 16,         // bytes of a row, or of a column, that are neighbours in memory
    SIM_CHUNKS_OF_8 = 16,   // chunks of 8 lines of a factor
    SIM_FACTOR_BYTES = 32,  // of a line
    SIM_WGMMA_COLUMNS = 256,
    SIM_WGMMA_RESULTS = SIM_WGMMA_COLUMNS / 2,  // registers
    SIM_A_CHUNKS = 2 * SIM_CHUNKS_OF_8,
    SIM_B_CHUNKS = SIM_WGMMA_COLUMNS / 8 * SIM_CHUNKS_OF_8
};

// A matrix descriptor. PTX ISA, "Matrix descriptor format".
typedef struct SimDescriptor {
    uint32_t address, leading, stride;  // bytes
    uint32_t base;                      // offset of the pattern's beginning from where it belongs
    uint32_t width;                     // of the swizzle: 128, 64, 32 bytes; 16: none
    bool reserved;                      // a bit is set that must be 0
} SimDescriptor;
SimDescriptor sim_descriptor(uint64_t bits);
// The address of a chunk of 16 bytes. Turned (MN-major): 8 lines from 8 * line on, at `step` along
// k; else bytes 16 * step to 16 * step + 15 of the line.
uint32_t sim_descriptor_chunk(const SimDescriptor *d, bool transposed, uint32_t line,
                              uint32_t step);
// The addresses of the chunks of groups of 8 lines, SIM_CHUNKS_OF_8 of each. Turned: by k; else by
// line and step.
void sim_descriptor_chunks(const SimDescriptor *d, bool transposed, uint32_t first, uint32_t groups,
                           uint32_t *chunks);
// NULL, or what is wrong with the descriptor's address.
const char *sim_descriptor_fault(const SimDescriptor *d);

typedef struct SimWgmmaOp {
    uint16_t n, k;
    SimType a, b, d;
    bool registers;  // A
    bool transposed_a, transposed_b;
    bool negative;  // the product is subtracted
    bool saturate;
    uint8_t results;
    SimOperand rd[SIM_WGMMA_RESULTS], ra[4];
    SimOperand da, db;  // descriptors
    SimOperand adds;    // predicate
    bool adds_negated;
    int32_t numbers[SIM_WGMMA_RESULTS + 4];  // of the registers, for observers
} SimWgmmaOp;

typedef enum SimMoment { SIM_AT_ISSUE, SIM_AT_COMMIT, SIM_AT_WAIT } SimMoment;

// A warp's part of a product.
typedef struct SimProduct {
    const SimInstr *instr;
    bool adds, computed;
    uint8_t moment;  // SimMoment
    uint32_t group;
    uint32_t rows;  // of A in registers: poison
    uint32_t a[SIM_A_CHUNKS], b[SIM_B_CHUNKS];
} SimProduct;

typedef struct SimProducts {
    SimProduct *list;
    uint32_t count, capacity;
    uint32_t open;    // the group that the next commit closes
    uint16_t *users;  // by register: products in flight that write it
    uint32_t *real;   // by register: its poison apart from being in flight
} SimProducts;

// The steps of a warpgroup's warps, from number `base` on. Warp n has executed those before
// next[n].
typedef struct SimGroupStep {
    const SimInstr *instr;
    uint64_t a, b;
    bool adds;
} SimGroupStep;
typedef struct SimWarpgroup {
    SimGroupStep *steps;
    uint64_t base, next[SIM_GROUP_WARPS];
    uint32_t count, capacity;
} SimWarpgroup;

// Adds a step of the warp. False: it differs from the other warps', and the launch has ended.
bool sim_group_step(SimWarp *w, const SimGroupStep *step);
// Called at a block's end: all warps of a warpgroup have executed the same.
void sim_groups_end(SimBlock *b);

// The product of a warp's 16 rows, from memory and registers as they are now.
void sim_product_compute(SimWarp *w, const SimProduct *p);

void sim_products_begin(SimWarp *w);
void sim_products_free(SimWarp *w);

#endif
