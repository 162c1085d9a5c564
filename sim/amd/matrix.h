// The positions of elements in matrix instructions.
//
// Invariants: an operand's elements are counted along its registers, the lowest bits first. For an
// element of a line (a row of A, a column of B), `row` is the number of the line and `column` the
// depth.
//
//     AmdCell c = amd_matrix_result(m, lane, n);   // d's n-th element of the lane is row, column
#ifndef TILEC_SIM_AMD_MATRIX_H
#define TILEC_SIM_AMD_MATRIX_H

#include "sim/amd/wave.h"

typedef struct AmdCell {
    uint32_t block, row, column;
} AmdCell;

// The position of the lane's element `element`; `lines`: m for A, n for B.
AmdCell amd_matrix_operand(const AmdMatrix *m, uint32_t lines, uint32_t lane, uint32_t element);
// The number of elements in a lane.
uint32_t amd_matrix_elements(const AmdMatrix *m, uint32_t lines);
AmdCell amd_matrix_result(const AmdMatrix *m, uint32_t lane, uint32_t n);

uint32_t amd_element_bits(uint32_t element);
// The room for products that a launch allocates.
size_t amd_product_size(void);

#endif
