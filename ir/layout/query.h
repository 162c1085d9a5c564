// Queries of layouts: the cost of memory accesses, and the moves from one layout to another.
//
// Purpose: every decision of lowering about a tile on hardware is computed here from the bases:
// vector widths, sectors, bank conflicts, the class of a conversion, the rounds of shuffles, the
// swizzle of a trip through shared memory.
// Invariants: answers hold for every warp and register group, since the maps are linear (sectors
// are counted, since strides are not).
// Ownership: values only.
//
//     switch (layout_conversion(&from, &to)) { … }
//     LayoutTrip trip;
//     layout_trip(&(LayoutSide){&from}, &(LayoutSide){&to}, 16, &banks_nvidia, &trip);
#ifndef TILEC_IR_LAYOUT_QUERY_H
#define TILEC_IR_LAYOUT_QUERY_H

#include "ir/layout/layout.h"
#include "target/banks.h"

// ---- global memory

// Contiguous elements along `axis` that one lane holds, from any aligned position: a power of two.
uint32_t layout_contiguity(const Layout *l, uint32_t axis);
// Register numbers, one for each bit of 0 … run - 1: the register distance of i elements along
// `axis` is the xor of those of the bits of i. False if a lane does not hold such a run.
bool layout_run_registers(const Layout *l, uint32_t axis, uint32_t run, uint32_t registers[]);

// Known facts about the view's memory that a tile is in.
typedef struct LayoutMemory {
    uint32_t element_bytes;
    uint32_t fast_axis;       // its stride is one element
    uint64_t base_divisor;    // bytes: it divides the address of the tile's first element
    uint64_t stride_divisor;  // elements: it divides all other strides; 0: there are none
    uint64_t edge_divisor;    // elements: seen from the tile, the inside of the view ends at
                              // multiples of it on the fast axis; 0: the whole tile is inside
    uint32_t max_bytes;       // of one access: 16
} LayoutMemory;
// Elements in the widest access that is always aligned and entirely inside or outside.
uint32_t layout_vector(const Layout *l, const LayoutMemory *memory);

// 32-byte sectors touched by one warp's access of `vector` elements per lane (of the run along
// fast_axis that contains `reg`), with the tile's first element at byte `base`; strides in bytes.
uint32_t layout_sectors(const Layout *l, uint32_t reg, uint32_t warp, uint32_t vector,
                        uint32_t fast_axis, uint32_t element_bytes, int64_t base,
                        const int64_t *strides);

// ---- shared memory

// The cost of one access of all lanes of a warp: different words of one bank are served one after
// another.
typedef struct LayoutConflicts {
    uint32_t phases;      // into which the width splits the access
    uint32_t wavefronts;  // everything that is served one after another; at best equal to phases
} LayoutConflicts;
// Registers of `l` are moved to or from the memory of layout `shared`, at once `vector` elements of
// `bits` per lane, which are the lowest offset bits.
LayoutConflicts layout_conflicts(const Layout *l, const Layout *shared, uint32_t vector,
                                 uint32_t bits, const SharedBanks *banks, bool store);
// The elements of a lane that are contiguous (and aligned) in the memory, at most max_bytes.
uint32_t layout_shared_vector(const Layout *l, const Layout *shared, uint32_t bits,
                              uint32_t max_bytes);

// ---- ldmatrix and stmatrix

// Can registers of `l` (elements of `bits`) be moved by ldmatrix? Each row of an 8 by 8 matrix must
// be 16 contiguous bytes in `shared`. The matrices of one instruction follow the register bits
// above the packed ones: matrix bit i is register bit matrix_bits[i].
typedef struct LayoutMatrix {
    uint32_t count;          // 1, 2 or 4 matrices per instruction
    uint8_t matrix_bits[2];  // of the register number
    uint32_t packed;         // register bits inside a 32-bit register
    uint32_t row_lanes[5];   // offset that each bit of the addressing lane adds
} LayoutMatrix;
bool layout_matrix(const Layout *l, const Layout *shared, uint32_t bits, bool transposed,
                   uint32_t max_count, LayoutMatrix *matrix);
// Wavefronts of one such instruction.
uint32_t layout_matrix_wavefronts(const LayoutMatrix *matrix, uint32_t bits);

// ---- conversions

// The move that brings a tile of layout `from` into layout `to`.
typedef enum LayoutConversion {
    LAYOUT_CONVERT_NONE,       // none: they are equal
    LAYOUT_CONVERT_REGISTERS,  // each lane holds what it needs, in other registers
    LAYOUT_CONVERT_LANES,      // each warp holds what it needs: shuffles
    LAYOUT_CONVERT_WARPS,      // each block does: through shared memory
    LAYOUT_CONVERT_BLOCKS,     // each cluster does
} LayoutConversion;
LayoutConversion layout_conversion(const Layout *from, const Layout *to);
// For each register of `to` (in a lane), the register of `from` in the same lane. Lane, warp and
// block may shift it: the result is the xor of the entries of all set bits. Only for conversions of
// class NONE and REGISTERS; false for others.
typedef struct LayoutMoves {
    uint32_t by_register[LAYOUT_MAX_BITS];
    uint32_t by_lane[LAYOUT_MAX_BITS];
    uint32_t by_warp[LAYOUT_MAX_BITS];
    uint32_t by_block[LAYOUT_MAX_BITS];
} LayoutMoves;
bool layout_moves(const Layout *from, const Layout *to, LayoutMoves *moves);

// A conversion within warps as rounds of shuffles. In a round every lane offers one (packed)
// register, reads one from a lane it names, and keeps it in a register. All of this is linear: each
// answer is the xor of the bases of the set bits of the round, the lane (the offering one for
// `offer`, else the reading one) and the warp. A packed register is 1 << pack_bits registers: the
// one named, xored with from_pack (kept: with to_pack) for the set bits of the position in the
// pack. If too few lanes of `from` hold the elements that a warp needs, the readers alternate: in
// each round the others keep nothing.
typedef struct LayoutShuffle {
    uint32_t round_bits;
    uint32_t pack_bits;
    uint32_t from_pack[5], to_pack[5];
    uint32_t offer_round[LAYOUT_MAX_BITS], offer_lane[8], offer_warp[LAYOUT_MAX_BITS];
    uint32_t source_round[LAYOUT_MAX_BITS], source_lane[8], source_warp[LAYOUT_MAX_BITS];
    uint32_t keep_round[LAYOUT_MAX_BITS], keep_lane[8];
    // A lane keeps in the rounds whose top `alternate_bits` bits are the xor of its alternate_lane.
    uint32_t alternate_bits, alternate_lane[8];
} LayoutShuffle;
// False if the conversion is of a class above LANES, or blocks differ. `bits` of an element: as
// many as fill 32 are packed if both sides allow it.
bool layout_shuffle(const Layout *from, const Layout *to, uint32_t bits, LayoutShuffle *shuffle);
uint32_t layout_shuffle_offer(const LayoutShuffle *s, uint32_t round, uint32_t lane, uint32_t warp);
uint32_t layout_shuffle_source(const LayoutShuffle *s, uint32_t round, uint32_t lane,
                               uint32_t warp);
uint32_t layout_shuffle_keep(const LayoutShuffle *s, uint32_t round, uint32_t lane);
bool layout_shuffle_alternate(const LayoutShuffle *s, uint32_t round, uint32_t lane);

// ---- trips through shared memory

typedef enum LayoutMove {
    LAYOUT_MOVE_PLAIN,       // vectors of each lane's own registers
    LAYOUT_MOVE_MATRIX,      // ldmatrix or stmatrix
    LAYOUT_MOVE_TRANSPOSED,  // … .trans
} LayoutMove;
typedef struct LayoutSide {
    const Layout *layout;
    LayoutMove move;
    uint32_t max_bytes;  // of a lane's access; 0: 16
    uint32_t min_bytes;  // of a plain access: no narrower ones; 0: of an element
} LayoutSide;
// The memory for a tile that one layout stores and another loads. It is free of bank conflicts on
// both sides if the widths allow that (always, if both accesses are of full width), and needs the
// fewest instructions.
typedef struct LayoutTrip {
    Layout memory;          // offsets to elements
    uint32_t store_vector;  // elements of an access
    uint32_t load_vector;
    LayoutConflicts store, load;  // of one access
} LayoutTrip;
bool layout_trip(const LayoutSide *store, const LayoutSide *load, uint32_t bits,
                 const SharedBanks *banks, LayoutTrip *trip);

#endif
