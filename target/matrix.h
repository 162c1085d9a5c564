// Matrix instructions of all chips: the rows of matrix.def.
//
// Invariants: constant. A chip's unit supports exactly the products in its rows.
//
//     const MatrixOp *op = matrix_choose(chip, DTYPE_F16, DTYPE_F16, DTYPE_F32, false, 64);
//     if (!op) …          // no instruction of the chip multiplies these
//     op->m, op->n, op->k, op->intrinsic
#ifndef TILEC_TARGET_MATRIX_H
#define TILEC_TARGET_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"

// The numbers are part of IR texts (`select` of thread.mma): add at the end only.
typedef enum MatrixUnit {
    MATRIX_UNIT_MMA,    // NVIDIA's
    MATRIX_UNIT_MFMA,   // CDNA's
    MATRIX_UNIT_WMMA3,  // RDNA3's
    MATRIX_UNIT_WMMA4,  // RDNA4's
    MATRIX_UNIT_WGMMA,  // NVIDIA's of four warps. In a row n stands for the powers of two from it
                        // to 256
    MATRIX_UNITS,
    MATRIX_UNIT_NONE = MATRIX_UNITS
} MatrixUnit;
const char *matrix_unit_name(MatrixUnit unit);

// m by n by k; `bits` of an element of the operands.
typedef struct MatrixShape {
    MatrixUnit unit;
    uint32_t m, n, k, bits;
} MatrixShape;

typedef struct MatrixOp {
    MatrixShape shape;
    uint32_t first, last;  // range of the chips' numbers
    Dtype a, b, sum;
    bool exact;   // f32 operands keep all their bits, not only those of tf32
    bool chosen;  // matrix_choose may take it
    const char *intrinsic;
} MatrixOp;

// `chip` may be NULL, which means no matrix unit: GPU passes run for any machine.
struct Chip;
// The instruction for a product of length k of these types; NULL: the chip has none.
const MatrixOp *matrix_choose(const struct Chip *chip, Dtype a, Dtype b, Dtype sum, bool exact,
                              uint32_t k);
// The instruction of four warps for these types; NULL: the chip has none.
const MatrixOp *matrix_choose_wgmma(const struct Chip *chip, Dtype a, Dtype b, Dtype sum);
// The least k that matrix_choose accepts for these operand types, whatever the sum; 0: none.
uint32_t matrix_least_k(const struct Chip *chip, Dtype a, Dtype b);
// The instruction of exactly this shape and these types; NULL: the chip does not have it.
const MatrixOp *matrix_find(const struct Chip *chip, MatrixShape shape, Dtype a, Dtype b,
                            Dtype sum);
// Is it an instruction of the row?
bool matrix_is_of(const MatrixOp *row, MatrixShape shape);
// Row number `index`; NULL beyond the last.
const MatrixOp *matrix_at(size_t index);
// Does any chip have it, or do layouts know it at least?
bool matrix_shape_exists(MatrixShape shape);

#endif
