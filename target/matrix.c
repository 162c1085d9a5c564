#include "target/matrix.h"

#include "target/chip.h"

#define ANY UINT32_MAX

enum {
#define DTYPE(name, text, bits, class) BITS_##name = bits,
#include "base/dtype.def"
#undef DTYPE
};

typedef enum Use { USE_SPARE, USE_SPARE_EXACT, USE_CHOSEN, USE_EXACT } Use;

static const MatrixOp rows[] = {
#define MATRIX(unit, first, last, a, b, sum, m, n, k, use, intrinsic) \
    {{MATRIX_UNIT_##unit, m, n, k, BITS_##a},                         \
     first,                                                           \
     last,                                                            \
     DTYPE_##a,                                                       \
     DTYPE_##b,                                                       \
     DTYPE_##sum,                                                     \
     USE_##use == USE_EXACT || USE_##use == USE_SPARE_EXACT,          \
     USE_##use == USE_EXACT || USE_##use == USE_CHOSEN,               \
     "llvm." intrinsic},
#include "target/matrix.def"
#undef MATRIX
};
enum { ROWS = sizeof rows / sizeof *rows };

static const MatrixShape more_shapes[] = {
#define MATRIX_SHAPE(unit, m, n, k, bits) {MATRIX_UNIT_##unit, m, n, k, bits},
#include "target/matrix.def"
#undef MATRIX_SHAPE
};
enum { MORE_SHAPES = sizeof more_shapes / sizeof *more_shapes };

const char *matrix_unit_name(MatrixUnit unit) {
    static const char *const names[] = {"mma", "mfma", "wmma", "wmma", "wgmma"};
    return names[unit];
}

const MatrixOp *matrix_at(size_t index) { return index < ROWS ? &rows[index] : NULL; }

static bool has(const Chip *chip, const MatrixOp *op) {
    if (!chip || chip->number < op->first || op->last < chip->number) return false;
    if (op->shape.unit == MATRIX_UNIT_WGMMA) return (chip->flags & CHIP_WGMMA) != 0;
    return chip->unit == op->shape.unit;
}

const MatrixOp *matrix_choose(const Chip *chip, Dtype a, Dtype b, Dtype sum, bool exact,
                              uint32_t k) {
    for (size_t i = 0; i < ROWS; i++) {
        const MatrixOp *r = &rows[i];
        if (r->chosen && r->a == a && r->b == b && r->sum == sum && r->exact == exact &&
            r->shape.k <= k && has(chip, r))
            return r;
    }
    return NULL;
}

const MatrixOp *matrix_choose_wgmma(const Chip *chip, Dtype a, Dtype b, Dtype sum) {
    for (size_t i = 0; i < ROWS; i++) {
        const MatrixOp *r = &rows[i];
        bool types = r->a == a && r->b == b && r->sum == sum;
        if (r->shape.unit == MATRIX_UNIT_WGMMA && types && has(chip, r)) return r;
    }
    return NULL;
}

uint32_t matrix_least_k(const Chip *chip, Dtype a, Dtype b) {
    uint32_t least = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const MatrixOp *r = &rows[i];
        if (!r->chosen || r->exact || r->a != a || r->b != b || !has(chip, r)) continue;
        if (!least || r->shape.k < least) least = r->shape.k;
    }
    return least;
}

enum { WGMMA_N_MAX = 256 };

static bool equal(MatrixShape row, MatrixShape b) {
    bool n = row.n == b.n, power = b.n && !(b.n & (b.n - 1));
    if (row.unit == MATRIX_UNIT_WGMMA) n = power && b.n >= row.n && b.n <= WGMMA_N_MAX;
    return row.unit == b.unit && row.m == b.m && n && row.k == b.k && row.bits == b.bits;
}

const MatrixOp *matrix_find(const Chip *chip, MatrixShape shape, Dtype a, Dtype b, Dtype sum) {
    for (size_t i = 0; i < ROWS; i++) {
        const MatrixOp *r = &rows[i];
        if (equal(r->shape, shape) && r->a == a && r->b == b && r->sum == sum && has(chip, r))
            return r;
    }
    return NULL;
}

bool matrix_is_of(const MatrixOp *row, MatrixShape shape) { return equal(row->shape, shape); }

bool matrix_shape_exists(MatrixShape shape) {
    for (size_t i = 0; i < ROWS; i++)
        if (equal(rows[i].shape, shape)) return true;
    for (size_t i = 0; i < MORE_SHAPES; i++)
        if (equal(more_shapes[i], shape)) return true;
    return false;
}
