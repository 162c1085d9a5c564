#include "check.h"

#include <stdio.h>
#include <string.h>

static const double u = 1.0 / (1 << 24);  // of f32: the largest relative error of one rounding
// Lanes of a tile, as in the kernels. Fewer lanes give smaller errors.
enum { LANES = 1024, BLOCK = 64, BLOCK_LEAST = 32 };

// ---- Numbers. Without libm: these programs need the C library alone. ----

static void fill_bits(float *to, size_t count, uint32_t seed, int bits) {
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (float)(state >> (32 - bits)) / (float)(1 << (bits - 1)) - 1;
    }
}

void fill(float *to, size_t count, uint32_t seed) { fill_bits(to, count, seed, 24); }

void fill_coarse(float *to, size_t count, uint32_t seed) { fill_bits(to, count, seed, 9); }

uint16_t half_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest) rest = (rest >> 13) - ((127 - 15) << 10);
    return (uint16_t)(sign | rest);
}

float float_of(uint16_t half) {
    int exponent = half >> 10 & 31;
    float value = (float)(half & 1023) + (exponent ? 1024 : 0);
    for (int e = exponent ? exponent : 1; e < 25; e++) value /= 2;
    for (int e = 25; e < exponent; e++) value *= 2;
    return half & 0x8000 ? -value : value;
}

static double absolute(double x) { return x < 0 ? -x : x; }

// exp of x <= 0: halves x until the series is short.
static double exponential(double x) {
    int halves = 0;
    double term = 1, sum = 1;
    for (; x < -0.5; x /= 2) halves++;
    for (int i = 1; i < 20; i++) sum += term *= x / i;
    while (halves--) sum *= sum;
    return sum;
}

static double square_root(double x) {
    double root = x > 1 ? x : 1;
    for (int i = 0; i < 64; i++) root = (root + x / root) / 2;
    return root;
}

// ---- Verdicts ----

typedef struct Verdict {
    size_t count, wrong;
    double worst;  // difference as a fraction of its bound
} Verdict;

static void judge(Verdict *v, double found, double expected, double bound) {
    double part = absolute(found - expected) / bound;
    v->count++;
    if (!(part <= 1)) v->wrong++;  // a NaN is wrong, too
    if (part > v->worst) v->worst = part;
}

static int verdict(const Verdict *v, const char *name) {
    if (v->wrong) {
        printf("%s: %lu of %lu numbers are wrong\n", name, (unsigned long)v->wrong,
               (unsigned long)v->count);
        return 0;
    }
    printf("%s: %lu numbers, the worst at %.2g %% of its bound\n", name, (unsigned long)v->count,
           100 * v->worst);
    return 1;
}

// ---- Kernels ----

static float sum_of(double a, double b) { return (float)(a + b); }

int check_softmax(const float *x, const float *y, int rows, int columns) {
    Verdict v = {0};
    for (int r = 0; r < rows; r++) {
        const float *row = x + r * columns;
        double top = row[0], least = row[0], total = 0;
        for (int c = 0; c < columns; c++) {
            if (row[c] > top) top = row[c];
            if (row[c] < least) least = row[c];
        }
        for (int c = 0; c < columns; c++) total += exponential(row[c] - top);
        // The rounded difference and exp within 2 ulp, in the numerator and in the sum; the sum;
        // the quotient.
        double relative = 2 * ((top - least) + 4) + 2 * LANES + 1;
        for (int c = 0; c < columns; c++) {
            double expected = exponential(row[c] - top) / total;
            judge(&v, y[r * columns + c], expected, expected * relative * u * 1.01);
        }
    }
    return verdict(&v, "softmax");
}

int check_rmsnorm(const float *x, const float *before, const float *after, const float *weight,
                  const float *y, int rows, int columns, float eps) {
    Verdict v = {0};
    // The root halves the error of the sum of squares and adds at most 2 ulp; then two products.
    double relative = 0.5 * (2 * LANES + columns / LANES + 4) + 4 + 2;
    for (int r = 0; r < rows; r++) {
        double squares = 0;
        for (int c = 0; c < columns; c++) {
            double h = sum_of(x[r * columns + c], before[r * columns + c]);
            judge(&v, after[r * columns + c], h, 1e-40);  // a single sum is rounded correctly
            squares += h * h;
        }
        for (int c = 0; c < columns; c++) {
            double h = sum_of(x[r * columns + c], before[r * columns + c]);
            double expected = h * weight[c] / square_root(squares / columns + eps);
            judge(&v, y[r * columns + c], expected,
                  absolute(expected) * relative * u * 1.01 + 1e-40);
        }
    }
    return verdict(&v, "add_rmsnorm");
}

// The error of a sum of k products, in units of u times the sum of their magnitudes: one block
// after another, each with the bound of `dot`.
static double dot_error(int k) { return 2.0 * (k + BLOCK + 2 * (k / BLOCK_LEAST + 1)); }

int check_matmul(const char *name, const float *a, const float *b, const float *c, Matmul s) {
    Verdict v = {0};
    for (int i = 0; i < s.m; i++)
        for (int j = 0; j < s.n; j++) {
            double sum = 0, size = 0;
            for (int k = 0; k < s.k; k++) {
                double product = (double)a[i * s.k + k] * b[k * s.n + j];
                sum += product;
                size += absolute(product);
            }
            double bound = (dot_error(s.k) + s.parts - 1) * u * size * 1.01;
            if (s.unit > 0) bound += (absolute(sum) + bound) * s.unit + 1.0 / (1 << 25);
            judge(&v, c[i * s.n + j], sum, bound + 1e-40);
        }
    return verdict(&v, name);
}

// One query: its row of y, judged column by column.
static void judge_query(Verdict *v, const float *query, const float *k, const float *values,
                        const float *y, const Attention *s) {
    double weights[1024], top = -1e300, least = 1e300, total = 0, wrong = 0;
    for (int j = 0; j < s->n; j++) {
        double score = 0, size = 0;
        for (int d = 0; d < s->d; d++) {
            double product = (double)query[d] * k[j * s->d + d];
            score += product;
            size += absolute(product);
        }
        double error = (dot_error(s->d) + 1) * u * size * s->scale;
        if (error > wrong) wrong = error;
        weights[j] = score * s->scale;
        if (weights[j] > top) top = weights[j];
        if (weights[j] < least) least = weights[j];
    }
    for (int j = 0; j < s->n; j++) total += weights[j] = exponential(weights[j] - top);
    // The error of a weight, in units of u: from its score, its exp, and each later block that
    // rescales it.
    int blocks = s->n / BLOCK_LEAST + 1;
    double weight = wrong / u + (top - least + 5) * (blocks + 1);
    double relative = 2 * weight + 2 * s->n + dot_error(s->n) + 2 * blocks + 1;
    for (int d = 0; d < s->d; d++) {
        double sum = 0, size = 0;
        for (int j = 0; j < s->n; j++) {
            sum += weights[j] * values[j * s->d + d];
            size += weights[j] * absolute(values[j * s->d + d]);
        }
        judge(v, y[d], sum / total, size / total * relative * u * 1.01 + 1e-40);
    }
}

int check_attention(const float *q, const float *k, const float *v, const float *y, Attention s) {
    Verdict found = {0};
    int query = s.m * s.d, key = s.n * s.d;
    for (int b = 0; b < s.b; b++)
        for (int h = 0; h < s.h; h++)
            for (int i = 0; i < s.m; i++) {
                int at = (b * s.h + h) * query + i * s.d;
                int group = (b * s.g + h / (s.h / s.g)) * key;
                judge_query(&found, q + at, k + group, v + group, y + at, &s);
            }
    return verdict(&found, "attention");
}
