// Transforms, math functions, gathers, batches of small products, noise, descriptors in loops.
#include <math.h>
#include <stddef.h>

#include "tests/triton/cases.h"

// Reshapes, permutations, split and join: a transform of Walsh and Hadamard.
void case_hadamard(Rig *r) {
    enum { ROWS = 2, N = 32, LOG = 5 };
    Array *x = array_random(r, TILEC_F16, ROWS * N, -1, 1), *y = array_new(r, TILEC_F32, ROWS * N);
    run(r, "math.py", "hadamard", TILEC_SPEC(TILEC_CONST("N", N), TILEC_CONST("LOG", LOG)),
        GRID(ROWS, 1, 1), TILEC_ARGS(view1(x), view1(y)));
    for (int64_t i = 0; i < ROWS * N; i++) {
        double sum = 0;
        for (int64_t j = 0; j < N; j++) {
            int odd = __builtin_popcountll((uint64_t)(i % N & j)) & 1;
            sum += odd ? -get(x, i / N * N + j) : get(x, i / N * N + j);
        }
        near(y, i, sum / sqrt(N), 1e-5, 1e-5);
    }
}

void case_atomic_max(Rig *r) {
    enum { N = 200 };
    Array *x = array_random(r, TILEC_F32, N, -9, -1), *most = array_new(r, TILEC_F32, 1);
    Array *count = array_new(r, TILEC_I32, 1);
    double expected = -INFINITY;
    set(most, 0, -INFINITY);
    run(r, "math.py", "reduce_kernel",
        TILEC_SPEC(TILEC_CONST("BLOCK", 32), TILEC_GRID("triton.cdiv(n, BLOCK)")), NULL,
        TILEC_ARGS(view1(x), view1(most), view1(count), N));
    for (int64_t i = 0; i < N; i++) expected = fmax(expected, get(x, i));
    near(most, 0, expected, 0, 0);
    same(count, 0, 7);
}

void case_libdevice(Rig *r) {
    enum { N = 100 };
    Array *x = array_random(r, TILEC_F32, N, -3, 3), *y = array_new(r, TILEC_F32, N);
    run(r, "math.py", "libm",
        TILEC_SPEC(TILEC_CONST("BLOCK", 64), TILEC_GRID("triton.cdiv(n, BLOCK)")), NULL,
        TILEC_ARGS(view1(x), view1(y), N));
    for (int64_t i = 0; i < N; i++) {
        double v = get(x, i);
        near(y, i, tanh(v) + 2 * erf(v) + pow(fabs(v), 1.5) + exp(v), 1e-4, 1e-5);
    }
}

void case_gather(Rig *r) {
    enum { M = 8, N = 16 };
    Array *x = array_random(r, TILEC_F16, M * N, -1, 1);
    Array *index = array_ints(r, TILEC_I32, M * N, 0, N), *y = array_new(r, TILEC_F16, M * N);
    run(r, "math.py", "gather2", TILEC_SPEC(TILEC_CONST("N", N), TILEC_CONST("M", M)),
        GRID(1, 1, 1), TILEC_ARGS(view1(x), view1(index), view1(y)));
    for (int64_t i = 0; i < M * N; i++) near(y, i, get(x, i / N * N + get_int(index, i)), 0, 0);
}

void case_small_products(Rig *r) {
    enum { B = 2, M = 16, K = 32 };
    Array *a = array_random(r, TILEC_F32, B * M * K, -1, 1);
    Array *b = array_random(r, TILEC_F32, B * M * K, -1, 1),
          *c = array_new(r, TILEC_F32, B * M * M);
    run(r, "math.py", "batched_dot",
        TILEC_SPEC(TILEC_CONST("B", B), TILEC_CONST("M", M), TILEC_CONST("K", K)), GRID(1, 1, 1),
        TILEC_ARGS(view1(a), view1(b), view1(c)));
    for (int64_t i = 0; i < B * M * M; i++) {
        double sum = 0;
        int64_t batch = i / (M * M);
        for (int64_t k = 0; k < K; k++)
            sum += get(a, (i / M) * K + k) * get(b, batch * M * K + k * M + i % M);
        near(c, i, sum, 1e-5, 1e-5);
    }
}

// Normal numbers from the first two of four uniform ones.
void case_noise(Rig *r) {
    enum { N = 100 };
    const uint64_t seed = 42;
    Array *bits = array_new(r, TILEC_I32, N), *y = array_new(r, TILEC_F32, N);
    run(r, "math.py", "noise",
        TILEC_SPEC(TILEC_CONST("BLOCK", 64), TILEC_GRID("triton.cdiv(n, BLOCK)")), NULL,
        TILEC_ARGS((int64_t)seed, view1(bits), view1(y), N));
    for (uint32_t i = 0; i < N; i++) {
        double u[4], sum = 0;
        for (int k = 0; k < 4; k++) sum += u[k] = philox_uniform_of(seed, i, k);
        same(bits, i, (int32_t)philox_bits(seed, i, 0));
        near(y, i, sum + sqrt(-2 * log(fmax(u[0], 1e-7))) * cos(6.283185307179586 * u[1]), 1e-4,
             1e-4);
    }
}

void case_descriptor_loop(Rig *r) {
    enum { M = 40, N = 64 };
    Array *x = array_random(r, TILEC_BF16, M * N, -1, 1), *out = array_new(r, TILEC_F32, M);
    run(r, "math.py", "desc_loop",
        TILEC_SPEC(TILEC_CONST("BM", 16), TILEC_CONST("BN", 16),
                   TILEC_GRID("lambda META: (triton.cdiv(M, META['BM']), )")),
        NULL, TILEC_ARGS(view2(x, M, N), view1(out), M, N));
    for (int64_t i = 0; i < M; i++) {
        double sum = 0;
        for (int64_t j = 0; j < N; j++) sum += get(x, i * N + j);
        near(out, i, sum, 1e-5, 1e-5);
    }
}

// Functions named so round once, although the kernel may contract and approximate.
void case_rounded_once(Rig *r) {
    enum { N = 64 };
    static const float given = 3.7f;
    Array *x = array_random(r, TILEC_F32, N, 0.1, 100), *d = array_new(r, TILEC_F32, 1);
    Array *out = array_new(r, TILEC_F32, 8 * N);
    set(d, 0, given);
    run(r, "math.py", "rounded_once", TILEC_SPEC(TILEC_CONST("N", N)), GRID(1, 1, 1),
        TILEC_ARGS(view1(x), view1(d), view1(out)));
    for (int i = 0; i < N; i++) {
        float v = (float)get(x, i), square = v * v;
        const float expected[] = {v / given, v / given,      v / given,      sqrtf(v),
                                  1 / v,     square - given, square - given, square + given};
        for (int k = 0; k < 8; k++) exact(out, k * N + i, expected[k]);
    }
}

static double cut(double v, int bits, int least, double most) {
    int e;
    frexp(v, &e);
    e = e - 1 < least ? least : e - 1;
    double unit = ldexp(1, e - bits), cut_off = trunc(v / unit) * unit;
    return fabs(cut_off) > most ? copysign(most, v) : cut_off;
}

// fp_downcast_rounding="rtz"
void case_cast_to_zero(Rig *r) {
    enum { N = 256 };
    Array *x = array_random(r, TILEC_F32, N, -9, 9), *half = array_new(r, TILEC_F16, N);
    Array *brain = array_new(r, TILEC_BF16, N), *bytes = array_new(r, TILEC_F8E5M2, N);
    for (int i = 0; i < N / 2; i++) set(x, i, ldexp(get(x, i), i - 64));
    set(x, 0, 0.0), set(x, 1, -0.0), set(x, 2, 65519), set(x, 3, -3e38);
    run(r, "math.py", "narrow", TILEC_SPEC(TILEC_CONST("N", N)), GRID(1, 1, 1),
        TILEC_ARGS(view1(x), view1(half), view1(brain), view1(bytes)));
    for (int i = 0; i < N; i++) {
        double v = get(x, i);
        exact(half, i, cut(v, 10, -14, 65504));
        exact(brain, i, cut(v, 7, -126, 0x1.fep127));
        exact(bytes, i, cut(v, 2, -14, 57344));
    }
}

// A branch that returns does not decide the type of a name.
void case_different_types(Rig *r) {
    enum { N = 16 };
    Array *whole = array_new(r, TILEC_I32, N), *real = array_new(r, TILEC_F32, N);
    run(r, "math.py", "different_types", TILEC_SPEC(TILEC_CONST("N", N)), GRID(2, 1, 1),
        TILEC_ARGS(view1(whole), view1(real)));
    for (int i = 0; i < N; i++) {
        same(whole, i, i + 2);
        exact(real, i, i * 0.5);
    }
}
