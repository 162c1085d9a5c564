#include "sim/machine/product.h"

#include "sim/machine/number/exact.h"
#include "sim/machine/warp.h"

enum { DOUBLE_BITS = 53 };

#define EACH(count, ...)                     \
    for (uint32_t n = 0; n < (count); n++) { \
        __VA_ARGS__                          \
    }

// The range of numbers: magnitudes below 2^top, multiples of 2^bottom.
typedef struct Range {
    int top, bottom;
    bool known;  // else some are infinities, NaN or f32 subnormals
} Range;

// The range of f32 numbers given as bits, with `precision` bits of significand; zeros do not count.
SIM_CLONES static Range range_of(const void *x, uint32_t count, int precision) {
    const uint8_t *from = x;
    uint32_t most = 0, least = UINT32_MAX;
    EACH(count, uint32_t u; memcpy(&u, from + (size_t)4 * n, sizeof u); u &= 0x7fffffff;
         uint32_t v = u - 1; most = u > most ? u : most; least = v < least ? v : least;)
    if (!most) return (Range){-10000, 10000, true};
    int last = (int)((least + 1) >> 23);
    return (Range){.top = (int)(most >> 23) - 126,
                   .bottom = last - 127 - (precision - 1),
                   .known = most < 0x7f800000 && last};
}

// The range of complete and partial sums of k products of these numbers.
static Range range_of_sums(const SimFloats *p, SimType a, SimType b) {
    Range x = range_of(p->a, p->m * p->k, sim_format(a)->precision);
    Range y = range_of(p->b, SIM_COLUMNS * p->k, sim_format(b)->precision);
    return (Range){.top = x.top + y.top + 32 - __builtin_clz(p->k - 1),
                   .bottom = x.bottom + y.bottom,
                   .known = x.known && y.known};
}
static Range range_with(Range a, Range b) {
    return (Range){.top = (a.top > b.top ? a.top : b.top) + 1,
                   .bottom = a.bottom < b.bottom ? a.bottom : b.bottom,
                   .known = a.known && b.known};
}
// Do doubles hold all of them exactly?
static bool is_exact(Range r) { return r.known && r.top - r.bottom <= DOUBLE_BITS; }

// A row of results.
typedef double ResultRow __attribute__((vector_size(SIM_COLUMNS * sizeof(double))));
typedef int64_t Flags __attribute__((vector_size(SIM_COLUMNS * sizeof(int64_t))));
typedef union Factors {
    double at[SIM_DEPTH][SIM_COLUMNS];
    ResultRow row[SIM_DEPTH];
} Factors;
typedef union Sums {
    double at[SIM_RESULTS];
    ResultRow row[SIM_ROWS];
} Sums;
typedef union Lost {
    int64_t at[SIM_RESULTS];
    Flags row[SIM_ROWS];
} Lost;
typedef double WideLines[SIM_ROWS * SIM_DEPTH];

// Transposes eight by eight in three passes, each of which shuffles lines n and n + 4 into lines 2n
// and 2n + 1.
typedef float Eight __attribute__((vector_size(8 * sizeof(float))));
#define SHUFFLED(x, y, i) \
    __builtin_shufflevector(x, y, i, i + 8, i + 1, i + 9, i + 2, i + 10, i + 3, i + 11)
static inline void shuffle(const Eight *from, Eight *to) {
    for (int n = 0; n < 4; n++) {
        to[2 * n] = SHUFFLED(from[n], from[n + 4], 0);
        to[2 * n + 1] = SHUFFLED(from[n], from[n + 4], 4);
    }
}

// Transposes the columns of b into rows.
SIM_CLONES static void transpose(const SimFloats *p, Factors *b) {
    for (uint32_t k = 0; p->k % 8 == 0 && k < p->k; k += 8) {
        Eight line[8], half[8];
        for (uint32_t c = 0; c < 8; c++) memcpy(&line[c], &p->b[c * p->k + k], sizeof line[c]);
        shuffle(line, half), shuffle(half, line), shuffle(line, half);
        for (uint32_t n = 0; n < 8; n++)
            b->row[k + n] = __builtin_convertvector(half[n], ResultRow);
    }
    for (uint32_t c = 0; p->k % 8 && c < SIM_COLUMNS; c++)
        for (uint32_t n = 0; n < p->k; n++) b->at[n][c] = (double)p->b[c * p->k + n];
}

SIM_CLONES static void widen(const float *from, uint32_t count, double *to) {
    EACH(count, to[n] = (double)from[n];)
}

// Adds the products to sums that plain double arithmetic holds exactly.
SIM_CLONES static void plain_sums(const SimFloats *p, const double *a, const Factors *b,
                                  Sums *sums) {
    const uint32_t k = p->k;
    for (uint32_t r = 0; r < p->m; r += 4, a += (size_t)4 * k) {
        ResultRow s0 = sums->row[r], s1 = sums->row[r + 1], s2 = sums->row[r + 2],
                  s3 = sums->row[r + 3];
        for (uint32_t n = 0; n < k; n++) {
            const ResultRow factor = b->row[n];
            s0 += a[n] * factor;
            s1 += a[n + k] * factor;
            s2 += a[n + 2 * k] * factor;
            s3 += a[n + 3 * k] * factor;
        }
        sums->row[r] = s0, sums->row[r + 1] = s1, sums->row[r + 2] = s2, sums->row[r + 3] = s3;
    }
}

// The rounding error of a sum of two doubles (Knuth).
#define LOST(a, b, sum) (((a) - ((sum) - ((sum) - (a)))) + ((b) - ((sum) - (a))))

// Sums of c and products as pairs of doubles: `high` is the sum and `low` its rounding error;
// `worse` is 0 if the pair holds the exact sum.
SIM_CLONES static void pair_sums(const SimFloats *p, const double *a, const Factors *b, Sums *high,
                                 Sums *low, Lost *worse) {
    for (uint32_t r = 0; r < p->m; r++) {
        ResultRow h = high->row[r], l = {0};
        Flags bad = {0};
        for (uint32_t n = 0; n < p->k; n++) {
            ResultRow product = a[r * p->k + n] * b->row[n], sum = h + product;
            ResultRow error = LOST(h, product, sum), rest = l + error;
            bad |= LOST(l, error, rest) != 0;  // also true for NaN
            h = sum, l = rest;
        }
        high->row[r] = h, low->row[r] = l, worse->row[r] = bad;
    }
}

static uint32_t exact_element(const SimFloats *p, uint32_t row, uint32_t column, SimType c_type,
                              uint32_t c, const SimFormat *to) {
    SimExact e;
    sim_exact_clear(&e);
    sim_exact_add(&e, c_type == SIM_F32 ? (double)sim_f32_bits(c) : (double)sim_f16_value(c), 1.0);
    for (uint32_t n = 0; n < p->k; n++)
        sim_exact_add(&e, (double)p->a[row * p->k + n], (double)p->b[column * p->k + n]);
    return (uint32_t)sim_exact_round(&e, to, SIM_RN);
}

// Rounds doubles that were rounded to odd.
SIM_CLONES static void round_f32(const double *odd, uint32_t count, uint32_t *d) {
    EACH(count, d[n] = sim_bits_f32(sim_canonical((float)odd[n]));)
}
SIM_CLONES static void round_f16(const double *odd, uint32_t count, uint32_t *d) {
    EACH(count, float near = (float)odd[n]; double error = odd[n] - (double)near;
         uint32_t u = sim_bits_f32(near), even = ~u & 1;
         even &= (error != 0) & (error == error) & (near - near == 0);
         uint32_t up = (error > 0) == (near > 0); u += (even & up) - (even & ~up & 1);
         d[n] = sim_f16_round(sim_f32_bits(u));)
}
static void round_to(SimType type, const double *odd, uint32_t count, uint32_t *d) {
    if (type == SIM_F32)
        round_f32(odd, count, d);
    else
        round_f16(odd, count, d);
}

SIM_CLONES static void add_c(const double *c, uint32_t count, double *sums) {
    EACH(count, sums[n] = sim_add_odd(sums[n], c[n]);)
}
SIM_CLONES static void join_pairs(const double *low, uint32_t count, double *high) {
    EACH(count, double odd = sim_add_odd(high[n], low[n]);
         high[n] = low[n] == 0 ? high[n] : odd;)  // keeps the sign of a zero
}

SIM_CLONES static void read_c(SimType type, const uint32_t *c, uint32_t count, double *to) {
    if (type == SIM_F32)
        EACH(count, to[n] = (double)sim_f32_bits(c[n]);)
    else
        EACH(count, to[n] = (double)sim_f16_value(c[n]);)
}

static void pairs(const SimFloats *p, const double *lines, const Factors *factors, SimType c_type,
                  const uint32_t *c, SimType d_type, uint32_t *d) {
    uint32_t count = p->m * SIM_COLUMNS;
    Sums sums, low;
    Lost worse;
    read_c(c_type, c, count, sums.at);
    pair_sums(p, lines, factors, &sums, &low, &worse);
    join_pairs(low.at, count, sums.at);
    round_to(d_type, sums.at, count, d);
    for (uint32_t n = 0; n < count; n++)
        if (worse.at[n])
            d[n] = exact_element(p, n / SIM_COLUMNS, n % SIM_COLUMNS, c_type, c[n],
                                 sim_format(d_type));
}

void sim_product_floats(const SimFloats *p, SimType a, SimType b, SimType c_type, const uint32_t *c,
                        SimType d_type, uint32_t *d) {
    uint32_t count = p->m * SIM_COLUMNS;
    WideLines lines;
    Factors factors;
    Sums sums, add;
    widen(p->a, p->m * p->k, lines);
    transpose(p, &factors);
    Range range = range_of_sums(p, a, b);
    if (!is_exact(range)) {
        pairs(p, lines, &factors, c_type, c, d_type, d);
    } else if (c_type == SIM_F32 && is_exact(range_with(range, range_of(c, count, 24)))) {
        read_c(c_type, c, count, sums.at);
        plain_sums(p, lines, &factors, &sums);
        round_to(d_type, sums.at, count, d);
    } else {
        for (uint32_t n = 0; n < count; n++) sums.at[n] = -0.0;  // adding -0 changes no sum
        plain_sums(p, lines, &factors, &sums);
        read_c(c_type, c, count, add.at);
        add_c(add.at, count, sums.at);
        round_to(d_type, sums.at, count, d);
    }
}

// ---- 8-bit floats: what wgmma keeps of a sum (docs/hopper.md, "How sums are formed") ----

enum { KEPT_BELOW = 13, NO_EXPONENT = -10000 };  // bits below the greatest exponent

// The exponent as the format stores it: that of subnormal numbers is the least one.
static int stored_exponent(SimType type, float x) {
    const SimFormat *f = sim_format(type);
    int exponent = (int)(sim_bits_f32(x) >> 23 & 255) - 127, least = 1 - f->bias;
    return x == 0 ? NO_EXPONENT : exponent < least ? least : exponent;
}
static bool is_finite(float x) { return x - x == 0; }

// The exponents of the numbers; false: one is not finite.
static bool read_exponents(SimType type, const float *x, uint32_t count, int *to) {
    bool finite = true;
    for (uint32_t n = 0; n < count; n++)
        finite &= is_finite(x[n]), to[n] = stored_exponent(type, x[n]);
    return finite;
}

// The sum of k products and c, each cut below the last bit kept, and cut to as many bits.
static double cut_sum(const float *a, const float *b, const int *ea, const int *eb, uint32_t k,
                      float c) {
    int most = c == 0 ? NO_EXPONENT : stored_exponent(SIM_F32, c);
    for (uint32_t n = 0; n < k; n++) most = ea[n] + eb[n] > most ? ea[n] + eb[n] : most;
    if (most <= NO_EXPONENT / 2) return 0;
    double unit = sim_f64_bits((uint64_t)(1023 + most - KEPT_BELOW) << 52), scale = 1 / unit;
    int64_t sum = (int64_t)((double)c * scale);
    for (uint32_t n = 0; n < k; n++) sum += (int64_t)((double)(a[n] * b[n]) * scale);
    uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
    int over = size ? 63 - __builtin_clzll(size) - KEPT_BELOW : 0;
    if (over > 0) size = size >> over << over;
    return (sum < 0 ? -(double)size : (double)size) * unit;
}

void sim_product_narrow(const SimFloats *p, SimType a, SimType b, SimType type, const uint32_t *c,
                        uint32_t *d) {
    int ea[SIM_ROWS * SIM_DEPTH], eb[SIM_COLUMNS * SIM_DEPTH];
    bool finite = read_exponents(a, p->a, p->m * p->k, ea);
    finite &= read_exponents(b, p->b, SIM_COLUMNS * p->k, eb);
    for (uint32_t n = 0; n < p->m * SIM_COLUMNS; n++) {
        uint32_t row = n / SIM_COLUMNS * p->k, column = n % SIM_COLUMNS * p->k;
        float old = type == SIM_F32 ? sim_f32_bits(c[n]) : sim_f16_value(c[n]);
        if (!finite || !is_finite(old)) {
            d[n] = exact_element(p, row / p->k, column / p->k, type, c[n], sim_format(type));
            continue;
        }
        double sum = cut_sum(p->a + row, p->b + column, ea + row, eb + column, p->k, old);
        round_to(type, &sum, 1, &d[n]);
    }
}

void sim_product_doubles(const SimDoubles *p, const uint64_t *c, uint64_t *d) {
    for (uint32_t r = 0; r < p->m; r++)
        for (uint32_t n = 0; n < SIM_COLUMNS; n++) {
            SimExact e;
            sim_exact_clear(&e);
            sim_exact_add(&e, sim_f64_bits(c[r * SIM_COLUMNS + n]), 1.0);
            for (uint32_t k = 0; k < p->k; k++)
                sim_exact_add(&e, p->a[r * p->k + k], p->b[n * p->k + k]);
            d[r * SIM_COLUMNS + n] = sim_exact_round(&e, &sim_f64, SIM_RN);
        }
}

static uint32_t add_saturated(int32_t sum, uint32_t c) {
    int64_t whole = (int64_t)sum + (int32_t)c;
    return (uint32_t)(whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole);
}

// Sums of products of 8-bit integers need 22 of the 32 bits. Static, because functions with clones
// are visible outside, whatever their visibility attribute.
SIM_CLONES static void sum_ints(const SimInts *p, const uint32_t *c, uint32_t *d) {
    int32_t b[SIM_DEPTH][SIM_COLUMNS];
    for (uint32_t n = 0; n < SIM_COLUMNS; n++)
        for (uint32_t k = 0; k < p->k; k++) b[k][n] = p->b[n * p->k + k];
    for (uint32_t r = 0; r < p->m; r++) {
        int32_t sum[SIM_COLUMNS] = {0};
        for (uint32_t k = 0; k < p->k; k++)
            for (uint32_t n = 0; n < SIM_COLUMNS; n++) sum[n] += p->a[r * p->k + k] * b[k][n];
        for (uint32_t n = 0; n < SIM_COLUMNS; n++) {
            uint32_t at = r * SIM_COLUMNS + n;
            d[at] = p->saturate ? add_saturated(sum[n], c[at]) : (uint32_t)sum[n] + c[at];
        }
    }
}

void sim_product_ints(const SimInts *p, const uint32_t *c, uint32_t *d) { sum_ints(p, c, d); }
