// Row by row: softmax, layernorm, rmsnorm. A row is read from memory once; later passes find it in
// a cache.
#include <math.h>

#include "bench/hand/hand.h"
#include "bench/hand/vector.h"

enum { STEP = 4 * LANES };

static float row_max(const float *x, int64_t n) {
    Vector top[4];
    for (int k = 0; k < 4; k++) top[k] = vector_of(-INFINITY);
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP)
        for (int k = 0; k < 4; k++) top[k] = vector_max(top[k], vector_load(x + i + k * LANES));
    for (; i + LANES <= n; i += LANES) top[0] = vector_max(top[0], vector_load(x + i));
    return vector_greatest(vector_max(vector_max(top[0], top[1]), vector_max(top[2], top[3])));
}

static float row_exp(const float *x, float *y, float top, int64_t n) {
    Vector sum[4] = {{0}};
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP)
        for (int k = 0; k < 4; k++) {
            Vector e = vector_exp(vector_load(x + i + k * LANES) - top);
            vector_store(y + i + k * LANES, e);
            sum[k] += e;
        }
    for (; i + LANES <= n; i += LANES) {
        Vector e = vector_exp(vector_load(x + i) - top);
        vector_store(y + i, e);
        sum[0] += e;
    }
    return vector_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

// The same function as the kernel without options: each quotient is rounded once.
void hand_softmax_divided(const HandJob *job, int64_t first, int64_t last) {
    int64_t n = job->columns;
    for (int64_t r = first; r < last; r++) {
        const float *x = job->x + r * n;
        float *y = job->z + r * n;
        float sum = row_exp(x, y, row_max(x, n), n);
        for (int64_t i = 0; i < n; i += LANES) vector_store(y + i, vector_load(y + i) / sum);
    }
}

void hand_softmax(const HandJob *job, int64_t first, int64_t last) {
    int64_t n = job->columns;
    for (int64_t r = first; r < last; r++) {
        const float *x = job->x + r * n;
        float *y = job->z + r * n;
        float scale = 1.0f / row_exp(x, y, row_max(x, n), n);
        for (int64_t i = 0; i < n; i += LANES) vector_store(y + i, vector_load(y + i) * scale);
    }
}

// The sum of (x - shift), or of its square.
static float row_sum(const float *x, float shift, int square, int64_t n) {
    Vector sum[4] = {{0}};
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP)
        for (int k = 0; k < 4; k++) {
            Vector v = vector_load(x + i + k * LANES) - shift;
            sum[k] += square ? v * v : v;
        }
    for (; i + LANES <= n; i += LANES) {
        Vector v = vector_load(x + i) - shift;
        sum[0] += square ? v * v : v;
    }
    return vector_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void hand_layernorm(const HandJob *job, int64_t first, int64_t last) {
    int64_t n = job->columns;
    for (int64_t r = first; r < last; r++) {
        const float *x = job->x + r * n;
        float *y = job->z + r * n;
        float mean = row_sum(x, 0, 0, n) / (float)n;
        float scale = 1.0f / sqrtf(row_sum(x, mean, 1, n) / (float)n + job->eps);
        for (int64_t i = 0; i < n; i += LANES) {
            Vector v = (vector_load(x + i) - mean) * scale;
            v = v * vector_load(job->weight + i) + vector_load(job->bias + i);
            vector_store(y + i, v);
        }
    }
}

void hand_add_rmsnorm(const HandJob *job, int64_t first, int64_t last) {
    int64_t n = job->columns;
    for (int64_t r = first; r < last; r++) {
        const float *x = job->x + r * n;
        float *residual = job->in_out + r * n, *y = job->z + r * n;
        Vector squares[2] = {{0}};
        for (int64_t i = 0; i < n; i += 2 * LANES)
            for (int k = 0; k < 2 && i + k * LANES < n; k++) {
                int64_t at = i + k * LANES;
                Vector h = vector_load(x + at) + vector_load(residual + at);
                vector_store(residual + at, h);
                squares[k] += h * h;
            }
        float scale = 1.0f / sqrtf(vector_sum(squares[0] + squares[1]) / (float)n + job->eps);
        for (int64_t i = 0; i < n; i += LANES)
            vector_store(y + i, vector_load(residual + i) * scale * vector_load(job->weight + i));
    }
}
