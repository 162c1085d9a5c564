// Constructors of layouts: those that the hardware's instructions prescribe, and common patterns.
//
// Invariants: an instruction's layout covers its own small tile ([M,K], [K,N] or [M,N]);
// layout_tile repeats it over a whole one. Registers count elements, even if several are packed in
// one 32-bit register: those are the low bits. Sources: the PTX ISA's matrix fragments, and the ISA
// documents of CDNA and RDNA with AMD's matrix instruction calculator.
// Ownership: values. A shape that the hardware does not have is a bug of the caller.
//
//     LayoutMma mma = {16, 8, 16, 16};                       // m16n8k16 of 16-bit operands
//     Layout one = layout_mma(mma, LAYOUT_OPERAND_C);
//     int8_t warps[] = {0, 0, 1};                            // 4 warps along M, 2 along N
//     Layout acc = layout_tile(&one, (uint32_t[]){128, 128}, 3, warps, NULL, NULL);
#ifndef TILEC_IR_LAYOUT_BUILD_H
#define TILEC_IR_LAYOUT_BUILD_H

#include "ir/layout/layout.h"
#include "target/matrix.h"

// ---- blocked: for loads, stores and elementwise work

typedef struct LayoutBlocked {
    uint32_t rank;
    uint32_t shape[IR_MAX_RANK];
    uint32_t elements[IR_MAX_RANK];  // of a lane, contiguous
    uint32_t lanes[IR_MAX_RANK];     // of a warp along each axis
    uint32_t warps[IR_MAX_RANK];     // of a block along each axis
    uint8_t order[IR_MAX_RANK];      // axes, the fastest first; for lanes and warps as well
} LayoutBlocked;
// A longer axis repeats the pattern in registers; on a shorter one lanes and warps replicate.
Layout layout_blocked(const LayoutBlocked *b);

// An instruction's layout over a whole tile. Warp bit i runs along axis warps[i], or replicates if
// that is -1; then registers repeat along the axes by `order` (the fastest first; NULL: the last
// axis first). `inner` (NULL: 1 each) is the number of instruction tiles along an axis that are
// adjacent in one warp, before the next warp's begin.
Layout layout_tile(const Layout *instruction, const uint32_t *shape, uint32_t warp_bits,
                   const int8_t *warps, const uint32_t *inner, const uint8_t *order);

// ---- NVIDIA

typedef enum LayoutOperand { LAYOUT_OPERAND_A, LAYOUT_OPERAND_B, LAYOUT_OPERAND_C } LayoutOperand;

// mma.sync of m by n by k; `bits` of an element of A and B (tf32: 32).
typedef struct LayoutMma {
    uint32_t m, n, k, bits;
} LayoutMma;
// Does this instruction exist (dense, on any architecture)?
Layout layout_mma(LayoutMma mma, LayoutOperand operand);

// ldmatrix (stmatrix) of 1, 2 or 4 matrices of 8 by 8 16-bit elements: the elements that the lanes
// receive, over the tile [count, 8, 8] of matrix, row, column as stored in shared memory …
Layout layout_ldmatrix(uint32_t count, bool transposed);
// … and the row whose address each lane has to give, over the tile [count, 8].
Layout layout_ldmatrix_rows(uint32_t count);

// wgmma of four warps: the accumulator [64, n]; A from registers [64, k] of `bits` (k is 256 /
// bits).
Layout layout_wgmma(uint32_t n);
Layout layout_wgmma_a(uint32_t bits);

// ---- AMD

// MFMA of 64 lanes, one block: mn by mn by k (mn is 16 or 32), `bits` of an element of A and B. The
// scaled forms of gfx950 (k 128 and 64, 8 bits and fewer) take 32 elements per lane.
typedef struct LayoutMfma {
    uint32_t mn, k, bits;
} LayoutMfma;
Layout layout_mfma(LayoutMfma mfma, LayoutOperand operand);

// WMMA 16 by 16 by k on RDNA3 (generation 11: both halves of a wave hold the operands) and RDNA4
// (12), on 32 or 64 lanes. 16-bit accumulators of RDNA3 use every second half register; here they
// count as 32-bit ones do.
typedef struct LayoutWmma {
    uint32_t generation, lanes, k, bits;
} LayoutWmma;
Layout layout_wmma(LayoutWmma wmma, LayoutOperand operand);

// ---- matrix instructions of any machine

Layout layout_fragment(MatrixShape p, LayoutOperand operand);

// ---- shared memory: offsets, in elements, to elements of the tile

// The memory of a tile, with elements of `bits`, as TMA writes it and wgmma reads
// it: columns of up to 128 bytes of the last axis, one after the other, each with all rows. 16
// bytes are the unit of the swizzle, which is as wide as a column. False: a row has less than 32
// bytes, or the last axis but one is shorter than 8.
bool layout_box(uint32_t rank, const uint32_t *shape, uint32_t bits, Layout *box);

// How wgmma reads a factor from memory: the fields of its descriptor, distances in bytes. `swizzle`
// is the width: 32, 64 or 128 bytes. `transposed`: neighbours in memory are along M or N, not K.
typedef struct LayoutDescriptor {
    uint32_t swizzle, lbo, sbo;
    bool transposed;
} LayoutDescriptor;
// The descriptor for a factor in this memory, for instructions of `side` rows of A or columns of B;
// the tile is [M, K] or [K, N], or has batches before these. False: the unit cannot read it so.
bool layout_descriptor(const Layout *memory, LayoutOperand operand, uint32_t side, uint32_t bits,
                       LayoutDescriptor *descriptor);
// The address that an instruction reads element (i, k) from, if it begins at `start`; i counts
// along M or N. This is the PTX ISA's rule, not the layout.
uint32_t layout_descriptor_at(const LayoutDescriptor *d, uint32_t start, uint32_t i, uint32_t k,
                              uint32_t bits);

// order: axes, the fastest first (NULL: the last axis first). Vectors of `vec` elements along the
// fastest axis are xored with the phase: the index on the second fastest axis, divided by
// `per_phase`, modulo `max_phase`.
Layout layout_swizzled(uint32_t rank, const uint32_t *shape, const uint8_t *order, uint32_t vec,
                       uint32_t per_phase, uint32_t max_phase);
// The same without a swizzle.
Layout layout_plain(uint32_t rank, const uint32_t *shape, const uint8_t *order);

#endif
