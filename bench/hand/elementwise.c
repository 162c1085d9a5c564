// One pass over memory: streams, sums, maps.
#include "bench/hand/hand.h"
#include "bench/hand/vector.h"

enum { STEP = 4 * LANES };

// STEP elements at a time, then the rest one by one (LANES wide, on a copy).
#define MAP(name, store, expression)                             \
    void name(const HandJob *job, int64_t first, int64_t last) { \
        const float *x = job->x;                                 \
        float *z = job->z;                                       \
        int64_t i = first;                                       \
        for (; i + STEP <= last; i += STEP)                      \
            for (int k = 0; k < 4; k++) {                        \
                int64_t at = i + k * LANES;                      \
                Vector v = vector_load(x + at);                  \
                store(z + at, expression);                       \
            }                                                    \
        for (; i < last; i++) {                                  \
            Vector v = vector_of(x[i]);                          \
            v = expression;                                      \
            z[i] = v[0];                                         \
        }                                                        \
    }

// x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3): 0.5 x (1 + tanh u).
static inline Vector gelu_tanh(Vector x) {
    Vector u = x * (x * x * 0.0356774081f + 0.797884561f);
    return x / (1.0f + vector_exp(u * -2.0f));
}
static inline Vector gelu_erf(Vector x) { return x * 0.5f * (1.0f + vector_erf(x * 0.707106781f)); }

MAP(hand_copy, vector_store, v)
MAP(hand_copy_nt, vector_store_nt, v)
MAP(hand_exp, vector_store, vector_exp(v))
MAP(hand_exp_nt, vector_store_nt, vector_exp(v))
MAP(hand_gelu_tanh, vector_store, gelu_tanh(v))
MAP(hand_gelu_tanh_nt, vector_store_nt, gelu_tanh(v))
MAP(hand_gelu_erf, vector_store, gelu_erf(v))
MAP(hand_gelu_erf_nt, vector_store_nt, gelu_erf(v))

#define ADD(name, store)                                                  \
    void name(const HandJob *job, int64_t first, int64_t last) {          \
        const float *x = job->x, *y = job->y;                             \
        float *z = job->z;                                                \
        int64_t i = first;                                                \
        for (; i + STEP <= last; i += STEP)                               \
            for (int k = 0; k < 4; k++) {                                 \
                int64_t at = i + k * LANES;                               \
                store(z + at, vector_load(x + at) + vector_load(y + at)); \
            }                                                             \
        for (; i < last; i++) z[i] = x[i] + y[i];                         \
    }
ADD(hand_add, vector_store)
ADD(hand_add_nt, vector_store_nt)

void hand_axpy(const HandJob *job, int64_t first, int64_t last) {
    const float *x = job->x;
    float *y = job->in_out, alpha = job->alpha;
    int64_t i = first;
    for (; i + STEP <= last; i += STEP)
        for (int k = 0; k < 4; k++) {
            int64_t at = i + k * LANES;
            vector_store(y + at, vector_load(x + at) * alpha + vector_load(y + at));
        }
    for (; i < last; i++) y[i] += alpha * x[i];
}

// The sum of a range goes to z[first / HAND_CHUNK], so that threads do not share an element.
void hand_sum(const HandJob *job, int64_t first, int64_t last) {
    const float *x = job->x;
    Vector sum[8] = {{0}};
    int64_t i = first;
    for (; i + 8 * LANES <= last; i += 8 * LANES)
        for (int k = 0; k < 8; k++) sum[k] += vector_load(x + i + k * LANES);
    float rest = 0;
    for (; i < last; i++) rest += x[i];
    Vector all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    job->z[first / HAND_CHUNK] = vector_sum(all) + rest;
}

// Reads all bytes, with as little arithmetic as possible.
void hand_read(const HandJob *job, int64_t first, int64_t last) {
    const float *x = job->x;
    VectorInt all[8] = {{0}};
    for (int64_t i = first; i + 8 * LANES <= last; i += 8 * LANES)
        for (int k = 0; k < 8; k++) all[k] |= vector_bits(vector_load(x + i + k * LANES));
    for (int k = 1; k < 8; k++) all[0] |= all[k];
    job->z[first / HAND_CHUNK] = vector_from_bits(all[0])[0];
}
