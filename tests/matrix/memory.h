// Parts of programs that touch memory: guarded buffers, tiles in them, the text that moves them.
//
// Invariants: a buffer begins with random bytes and stands between guards; a copy of what must be
// there after the run is kept apart, guards included. Elements are read and written byte by byte.
// Ownership: the arena of the matrix, as everything of a cell.
//
//     Program p = {0};
//     program_tile(m, &p, &x);      // an argument that holds x and must not change
//     program_result(m, &p, &y);    // one that must hold y after the run
#ifndef TILEC_TESTS_MATRIX_MEMORY_H
#define TILEC_TESTS_MATRIX_MEMORY_H

#include "tests/matrix/matrix.h"

// The memory of a new buffer; its number is buffer_count - 1.
uint8_t *buffer_add(Matrix *m, Program *p, Dtype elem, uint64_t size);
uint8_t *buffer_expected(const Program *p, uint32_t index);
uint32_t element_size(Dtype t);
uint64_t bytes_get(Dtype t, const uint8_t *memory, uint64_t i);
void bytes_put(Dtype t, uint8_t *memory, uint64_t i, uint64_t bits);

void program_tile(Matrix *m, Program *p, const Tile *t);
void program_result(Matrix *m, Program *p, const Tile *t);
const char *tile_param(Matrix *m, const Tile *t, const char *name);
// %0 must be the i64 0.
const char *tile_loaded(Matrix *m, const Tile *t, const char *name, int value);
const char *tile_store(Matrix *m, const Tile *t, const char *name, int value);
Tile tile_mask(Matrix *m, uint32_t rank, const uint32_t *shape, bool there);

// The type that elements have once they are read: i8 for i4.
Dtype held_as(Dtype t);
bool rmw_fits(IrRmw rmw, Dtype t);
const char *matrix_hint(Matrix *m);  // the text of one of the hints of accesses
uint64_t rmw_result(Matrix *m, IrRmw rmw, Dtype t, uint64_t old, uint64_t x);
Maker maker_of_views(IrRule rule);

#endif
