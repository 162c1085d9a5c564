// Layouts: how the elements of a tile are distributed over hardware, as linear maps over GF(2).
//
// Purpose: one value says which element each register of each lane of each warp holds (or each
// offset of shared memory). The bits of a hardware position go in, the bits of an element's number
// come out, and every output is the xor of the values that the set input bits map to: their bases.
// Blocked tiles, matrix fragments, swizzled memory, slices and broadcasts are values of this one
// type. The idea and its proofs: "Linear Layouts: Robust Code Generation of Efficient Tensor
// Computation Using F2" (2025).
//
// An element's number is its row-major index in the tile: the last axis has the low bits. An input
// number concatenates the bits of all dimensions in the order of LayoutDim, registers lowest.
// Invariants: extents are powers of two; tile_bits is the sum of axis_bits and at most
// LAYOUT_MAX_TILE_BITS; bits is the sum of dim_bits and at most LAYOUT_MAX_BITS; bases[i] belongs
// to bit i of the input number and is below 1 << tile_bits; bases from `bits` on are 0. A basis of
// 0 is a broadcast: both values of that bit hold the same element. So two layouts are equal maps of
// the same shapes exactly when their bytes are equal.
// Ownership: a plain value of 144 bytes; layout_intern keeps one copy of each in an arena, so that
// types compare pointers. Functions that get impossible arguments (a bug of the caller) end in
// os_defect; text from outside goes through layout_parse, which reports.
//
//     // f32[8,8] on 32 lanes: lanes run along the rows, each holds two neighbours.
//     Layout l = layout_empty(2, (uint32_t[]){8, 8});
//     layout_add_step(&l, LAYOUT_REG, 1, 1);          // (0,1)
//     layout_add_steps(&l, LAYOUT_LANE, 1, 2, 8);     // (0,2) (0,4)
//     layout_add_steps(&l, LAYOUT_LANE, 0, 1, 8);     // (1,0) (2,0) (4,0)
//     uint32_t e = layout_apply(&l, layout_at(1, 5, 0));  // 11: row 1, column 3
//
// As text: layout[8,8](reg=(0,1) lane=(0,2)(0,4)(1,0)(2,0)(4,0))
// docs/layouts.md shows more.
#ifndef TILEC_IR_LAYOUT_LAYOUT_H
#define TILEC_IR_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "ir/type.h"

enum { LAYOUT_MAX_BITS = 32, LAYOUT_MAX_TILE_BITS = 24 };

// Dimensions of hardware. OFFSET is the position in shared memory, in elements.
typedef enum LayoutDim {
    LAYOUT_REG,    // values of one lane, in order; packed ones count individually
    LAYOUT_LANE,   // of a warp (a wave)
    LAYOUT_WARP,   // of a block
    LAYOUT_BLOCK,  // of a cluster
    LAYOUT_OFFSET,
    LAYOUT_DIMS
} LayoutDim;

typedef struct IrLayout {
    uint8_t rank;
    uint8_t axis_bits[IR_MAX_RANK];  // log2 of the extents
    uint8_t dim_bits[LAYOUT_DIMS];
    uint8_t tile_bits;
    uint8_t bits;
    uint32_t bases[LAYOUT_MAX_BITS];
} Layout;

// A hardware position.
typedef struct LayoutPoint {
    uint32_t at[LAYOUT_DIMS];
} LayoutPoint;

static inline LayoutPoint layout_at(uint32_t reg, uint32_t lane, uint32_t warp) {
    return (LayoutPoint){{reg, lane, warp, 0, 0}};
}

// ---- making by hand (constructors by name: ir/layout/build.h)

// A tile without any hardware: no bits yet.
Layout layout_empty(uint32_t rank, const uint32_t *shape);
// Adds one bit on top of those of `dim`, which maps to an element number (0: a broadcast) …
void layout_add(Layout *l, LayoutDim dim, uint32_t basis);
// … or to a coordinate on one axis; a step past the extent is a broadcast.
void layout_add_step(Layout *l, LayoutDim dim, uint32_t axis, uint32_t step);
// Adds a bit with that step for each power of two from `from` to below `below`.
void layout_add_steps(Layout *l, LayoutDim dim, uint32_t axis, uint32_t from, uint32_t below);
// Removes one bit.
void layout_drop(Layout *l, LayoutDim dim, uint32_t bit);
// The bits of `dim` count the elements in row-major order.
Layout layout_identity(LayoutDim dim, uint32_t rank, const uint32_t *shape);
// All 1 << bits positions of `dim` hold element 0.
Layout layout_zeros(LayoutDim dim, uint32_t bits, uint32_t rank, const uint32_t *shape);

// ---- reading

static inline uint32_t layout_extent(const Layout *l, uint32_t axis) {
    return UINT32_C(1) << l->axis_bits[axis];
}
static inline uint32_t layout_size(const Layout *l, LayoutDim dim) {
    return UINT32_C(1) << l->dim_bits[dim];
}
static inline uint32_t layout_elements(const Layout *l) { return UINT32_C(1) << l->tile_bits; }
void layout_shape(const Layout *l, uint32_t shape[IR_MAX_RANK]);
// The number of the lowest input bit of `dim`; the basis of one of its bits.
uint32_t layout_dim_start(const Layout *l, LayoutDim dim);
uint32_t layout_basis(const Layout *l, LayoutDim dim, uint32_t bit);
// The position of an axis's lowest bit in an element number.
uint32_t layout_axis_start(const Layout *l, uint32_t axis);

uint32_t layout_apply(const Layout *l, LayoutPoint point);
uint32_t layout_apply_input(const Layout *l, uint32_t input);
// elements[input] for all inputs: `elements` needs 1 << bits entries.
void layout_apply_all(const Layout *l, uint32_t *elements);
LayoutPoint layout_point(const Layout *l, uint32_t input);
uint32_t layout_input(const Layout *l, LayoutPoint point);
void layout_coords(const Layout *l, uint32_t element, uint32_t coords[IR_MAX_RANK]);
uint32_t layout_element(const Layout *l, const uint32_t *coords);

bool layout_equal(const Layout *a, const Layout *b);
uint64_t layout_hash(const Layout *l);
bool layout_same_shape(const Layout *a, const Layout *b);
bool layout_injective(const Layout *l);   // no element is held twice
bool layout_surjective(const Layout *l);  // every element is held
// Every element is held, and each bit moves along one axis by a power of two or not at all, no two
// by the same: what registers hold.
bool layout_distributed(const Layout *l);
// The bits of `dim` that only replicate: what they reach is reached by lower input bits.
uint32_t layout_free_bits(const Layout *l, LayoutDim dim);

// Layouts that were kept: equal ones are one pointer. A zeroed pool is empty and ready for use.
typedef struct LayoutPool {
    Map index;  // by hash; layouts that collide take the keys that follow
    VEC(const Layout *) layouts;
} LayoutPool;
const Layout *layout_intern(Arena *arena, LayoutPool *pool, const Layout *l);

// ---- combining

// a spread inside, b outside: each dimension and each axis has a's bits below b's. Same rank.
Layout layout_product(const Layout *a, const Layout *b);
// The b (the a) with product(a, b) equal to l; false when there is none.
bool layout_divide_left(const Layout *l, const Layout *a, Layout *b);
bool layout_divide_right(const Layout *l, const Layout *b, Layout *a);

// ---- the tile changes, the data stays where it is

// Axis dropped: what each position held along it becomes one element (the result of a reduction).
// Broadcast bits stay; layout_without_free drops the registers among them.
Layout layout_slice(const Layout *l, uint32_t axis);
// A new axis of extent 1 before `axis` (rank: at the end).
Layout layout_expand(const Layout *l, uint32_t axis);
// Lengthens an axis of extent 1: new high register bits run along it.
Layout layout_broadcast(const Layout *l, uint32_t axis, uint32_t extent);
// The same elements, row-major, in another shape of the same size.
Layout layout_reshape(const Layout *l, uint32_t rank, const uint32_t *shape);
// Axis i of the result is axis order[i] of l.
Layout layout_permute(const Layout *l, const uint32_t *order);
// A last axis of 2, chosen by a new lowest register bit: registers of two such tiles interleaved.
Layout layout_join(const Layout *l);
// The halves of a last axis of 2: *bit is the register bit that selects one, which the result does
// not have; false if no single register bit does.
bool layout_split(const Layout *l, Layout *half, uint32_t *bit);
// The half of the tile whose elements have a 0 in that bit of their numbers: the axis is half as
// long. *dim and *bit are the input bit that selects a half: the result lacks a register's bit, a
// bit of another dimension becomes a broadcast. False if not exactly one bit selects.
bool layout_halve(const Layout *l, uint32_t element_bit, Layout *half, LayoutDim *dim,
                  uint32_t *bit);
// The layout without the free bits of `dim`. *kept, unless NULL, gets the bits that stay.
Layout layout_without_free(const Layout *l, LayoutDim dim, uint32_t *kept);
// The bits of one dimension in another order: bit i of the result is bit order[i] of l.
Layout layout_reorder(const Layout *l, LayoutDim dim, const uint8_t *order);

// ---- from hardware to hardware

// A linear map of input numbers to input numbers.
typedef struct LayoutMap {
    uint8_t from_bits[LAYOUT_DIMS];
    uint8_t to_bits[LAYOUT_DIMS];
    uint32_t bases[LAYOUT_MAX_BITS];
} LayoutMap;

// For every position of `from`, a position of `to` that holds the same element; if there is a
// choice, free bits of `to` are 0. False if `to` lacks an element of `from`, or shapes differ.
bool layout_map_between(const Layout *from, const Layout *to, LayoutMap *map);
uint32_t layout_map_apply(const LayoutMap *map, uint32_t input);
LayoutMap layout_map_compose(const LayoutMap *first, const LayoutMap *then);
// position → l(map(position))
Layout layout_compose(const LayoutMap *first, const Layout *l);
// For each bit of an element number, an input that holds just that bit, with free bits 0; false if
// some element is not held. The preimage of an element is the xor of those of its bits.
bool layout_invert(const Layout *l, uint32_t inverse[LAYOUT_MAX_TILE_BITS]);

// ---- text

// The whole text, as above; or without the word and shape, for types that have a shape of their
// own: (reg=(0,1) lane=…). Dimensions without bits are left out. Every character is a token of the
// IR.
void layout_text(const Layout *l, StrBuf *out);
void layout_bases_text(const Layout *l, StrBuf *out);

typedef struct LayoutMistake {
    size_t at;         // in the text
    const char *what;  // "expected '('"
} LayoutMistake;

// Reads the output of layout_text (blanks are allowed) from the beginning of `text`; *used is how
// much was read. False if it is malformed.
bool layout_parse(Str text, Layout *l, size_t *used, LayoutMistake *mistake);
bool layout_parse_bases(Str text, uint32_t rank, const uint32_t *shape, Layout *l, size_t *used,
                        LayoutMistake *mistake);

// A line for each lane of each warp (or for each 32 offsets), a column for each register: the
// element's coordinates. After `max_lines` lines (0: no limit) a note says that the rest is left
// out.
void layout_table(const Layout *l, uint32_t max_lines, StrBuf *out);
// A drawing of the tile, at most 128 by 128 elements of it: each cell shows which lane and register
// hold it, and is coloured by warp.
void layout_svg(const Layout *l, StrBuf *out);

#endif
