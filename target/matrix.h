// Matrix instructions of all chips: the rows of matrix.def.
//
// Invariants: constant; a chip's unit multiplies what its rows say and nothing else.
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

// The numbers stand in IR texts (`select` of thread.mma): add at the end only.
typedef enum MatrixUnit {
    MATRIX_UNIT_MMA,    // NVIDIA's
    MATRIX_UNIT_MFMA,   // CDNA's
    MATRIX_UNIT_WMMA3,  // RDNA3's
    MATRIX_UNIT_WMMA4,  // RDNA4's
    MATRIX_UNITS,
    MATRIX_UNIT_NONE = MATRIX_UNITS
} MatrixUnit;
const char *matrix_unit_name(MatrixUnit unit);

// m by n by k; `bits` of an element of the factors.
typedef struct MatrixShape {
    MatrixUnit unit;
    uint32_t m, n, k, bits;
} MatrixShape;

typedef struct MatrixOp {
    MatrixShape shape;
    uint32_t first, last;  // numbers of chips
    Dtype a, b, sum;
    bool exact;   // factors of f32 keep all their bits, not those of tf32
    bool chosen;  // by matrix_choose
    const char *intrinsic;
} MatrixOp;

// The chip of these may be NULL, which has no matrix unit: passes of GPUs run for any machine.
struct Chip;
// For a product along k of these types; NULL: the chip has none.
const MatrixOp *matrix_choose(const struct Chip *chip, Dtype a, Dtype b, Dtype sum, bool exact,
                              uint32_t k);
// The least k that matrix_choose takes for such factors, whatever the sum; 0: it takes none.
uint32_t matrix_least_k(const struct Chip *chip, Dtype a, Dtype b);
// The instruction of just this shape and these types; NULL: the chip does not have it.
const MatrixOp *matrix_find(const struct Chip *chip, MatrixShape shape, Dtype a, Dtype b,
                            Dtype sum);
// The rows one after another; NULL behind the last.
const MatrixOp *matrix_at(size_t index);
// Does any chip have it, or is a layout known at least?
bool matrix_shape_exists(MatrixShape shape);

#endif
