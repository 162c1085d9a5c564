// Transposition: blocks of 64x64, so that both sides stay in a cache. Inside a block, 16x16
// elements are transposed in registers if a vector has 16 lanes, else element by element.
#include "bench/hand/hand.h"
#include "bench/hand/vector.h"

enum { BLOCK = 64, SMALL = 16 };

#if VECTOR_BYTES == 64
#define PICK(a, b, ...) __builtin_shufflevector((a), (b), __VA_ARGS__)
#define LOW1(a, b) PICK(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH1(a, b) PICK(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW2(a, b) PICK(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH2(a, b) PICK(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define EVEN(a, b) PICK(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define ODD(a, b) PICK(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)

// Interleaves four rows by pairs, then by pairs of pairs: each 128-bit part is then a transposed
// 4x4.
static inline void four(Vector *r) {
    Vector a = LOW1(r[0], r[1]), b = HIGH1(r[0], r[1]);
    Vector c = LOW1(r[2], r[3]), d = HIGH1(r[2], r[3]);
    r[0] = LOW2(a, c), r[1] = HIGH2(a, c), r[2] = LOW2(b, d), r[3] = HIGH2(b, d);
}

static inline void small_transpose(const float *x, int64_t x_row, float *y, int64_t y_row, int nt) {
    Vector r[SMALL], out[SMALL];
    for (int i = 0; i < SMALL; i++) r[i] = vector_load(x + i * x_row);
    for (int i = 0; i < SMALL; i += 4) four(r + i);
    for (int i = 0; i < 4; i++) {
        Vector a = EVEN(r[i], r[4 + i]), b = ODD(r[i], r[4 + i]);
        Vector c = EVEN(r[8 + i], r[12 + i]), d = ODD(r[8 + i], r[12 + i]);
        out[i] = EVEN(a, c), out[8 + i] = ODD(a, c);
        out[4 + i] = EVEN(b, d), out[12 + i] = ODD(b, d);
    }
    for (int i = 0; i < SMALL; i++) {
        if (nt)
            vector_store_nt(y + i * y_row, out[i]);
        else
            vector_store(y + i * y_row, out[i]);
    }
}
#else
static inline void small_transpose(const float *x, int64_t x_row, float *y, int64_t y_row, int nt) {
    (void)nt;
    for (int i = 0; i < SMALL; i++)
        for (int j = 0; j < SMALL; j++) y[j * y_row + i] = x[i * x_row + j];
}
#endif

static inline void bands(const HandJob *job, int64_t first, int64_t last, int nt) {
    int64_t n = job->columns, m = job->rows;
    for (int64_t i = first * BLOCK; i < last * BLOCK; i += BLOCK)
        for (int64_t j = 0; j < n; j += BLOCK)
            for (int64_t jj = j; jj < j + BLOCK; jj += SMALL)
                for (int64_t ii = i; ii < i + BLOCK; ii += SMALL)
                    small_transpose(job->x + ii * n + jj, n, job->z + jj * m + ii, m, nt);
}

void hand_transpose(const HandJob *job, int64_t first, int64_t last) { bands(job, first, last, 0); }
void hand_transpose_nt(const HandJob *job, int64_t first, int64_t last) {
    bands(job, first, last, 1);
}
