#include "sim/machine/product.h"

#include "sim/machine/exact.h"
#include "sim/machine/warp.h"

enum { DOUBLE_BITS = 53, SUM_BITS = 8 };  // of a sum of products beyond those of one

#define EACH(count, ...)                     \
    for (uint32_t n = 0; n < (count); n++) { \
        __VA_ARGS__                          \
    }

// The span of exponents of what is not zero: from the greatest down to the least's last bit.
SIM_CLONES static int span(const float *x, uint32_t count, int precision) {
    uint32_t most = 0, least = UINT32_MAX;
    EACH(count, uint32_t u = sim_bits_f32(x[n]) & 0x7fffffff; uint32_t v = u - 1;
         most = u > most ? u : most; least = v < least ? v : least;)
    if (!most) return 0;
    least++;
    if (most >= 0x7f800000 || least < 0x800000) return 1000;
    return (int)(most >> 23) - (int)(least >> 23) + precision;
}

// A row of results.
typedef double Row __attribute__((vector_size(SIM_COLUMNS * sizeof(double))));
typedef int64_t Flags __attribute__((vector_size(SIM_COLUMNS * sizeof(int64_t))));
typedef union Factors {
    double at[SIM_DEPTH][SIM_COLUMNS];
    Row row[SIM_DEPTH];
} Factors;
typedef union Sums {
    double at[SIM_RESULTS];
    Row row[SIM_ROWS];
} Sums;
typedef union Lost {
    int64_t at[SIM_RESULTS];
    Flags row[SIM_ROWS];
} Lost;
static void turn(const SimFloats *p, Factors *b) {
    for (uint32_t c = 0; c < SIM_COLUMNS; c++)
        for (uint32_t n = 0; n < p->k; n++) b->at[n][c] = (double)p->b[c * p->k + n];
}

// Sums that plain double arithmetic holds whole. They begin at -0, which changes none.
SIM_CLONES static void plain_sums(const SimFloats *p, const Factors *b, Sums *sums) {
    for (uint32_t r = 0; r < p->m; r += 2) {
        const float *a = &p->a[r * p->k], *next = a + p->k;
        Row first = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0}, second = first;
        for (uint32_t n = 0; n < p->k; n++) {
            first += (double)a[n] * b->row[n];
            second += (double)next[n] * b->row[n];
        }
        sums->row[r] = first, sums->row[r + 1] = second;
    }
}

// What a sum of two doubles lost (Knuth).
#define LOST(a, b, sum) (((a) - ((sum) - ((sum) - (a)))) + ((b) - ((sum) - (a))))

// Sums of c and products as pairs of doubles, `high` the sum and `low` what it lost; `worse` is 0
// where the pair holds the whole sum.
SIM_CLONES static void pair_sums(const SimFloats *p, const Factors *b, Sums *high, Sums *low,
                                 Lost *worse) {
    for (uint32_t r = 0; r < p->m; r++) {
        Row h = high->row[r], l = {0};
        Flags bad = {0};
        for (uint32_t n = 0; n < p->k; n++) {
            Row product = (double)p->a[r * p->k + n] * b->row[n], sum = h + product;
            Row error = LOST(h, product, sum), rest = l + error;
            bad |= LOST(l, error, rest) != 0;  // of NaN, too
            h = sum, l = rest;
        }
        high->row[r] = h, low->row[r] = l, worse->row[r] = bad;
    }
}

static uint32_t exact_element(const SimFloats *p, uint32_t row, uint32_t column, double c,
                              const SimFormat *to) {
    SimExact e;
    sim_exact_clear(&e);
    sim_exact_add(&e, c, 1.0);
    for (uint32_t n = 0; n < p->k; n++)
        sim_exact_add(&e, (double)p->a[row * p->k + n], (double)p->b[column * p->k + n]);
    return (uint32_t)sim_exact_round(&e, to, SIM_RN);
}

// From doubles that were rounded to odd.
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
         high[n] = low[n] == 0 ? high[n] : odd;)  // keeps a zero's sign
}

SIM_CLONES static void read_c(SimType type, const uint32_t *c, uint32_t count, double *to) {
    if (type == SIM_F32)
        EACH(count, to[n] = (double)sim_f32_bits(c[n]);)
    else
        EACH(count, to[n] = (double)sim_f16_value(c[n]);)
}

void sim_product_floats(const SimFloats *p, SimType a, SimType b, SimType c_type, const uint32_t *c,
                        SimType d_type, uint32_t *d) {
    uint32_t count = p->m * SIM_COLUMNS;
    Factors factors;
    Sums add, sums, low;
    Lost worse;
    int bits = span(p->a, p->m * p->k, sim_format(a)->precision) +
               span(p->b, SIM_COLUMNS * p->k, sim_format(b)->precision) + SUM_BITS;
    turn(p, &factors);
    read_c(c_type, c, count, add.at);
    if (bits <= DOUBLE_BITS) {
        plain_sums(p, &factors, &sums);
        add_c(add.at, count, sums.at);
        round_to(d_type, sums.at, count, d);
        return;
    }
    sums = add;
    pair_sums(p, &factors, &sums, &low, &worse);
    join_pairs(low.at, count, sums.at);
    round_to(d_type, sums.at, count, d);
    for (uint32_t n = 0; n < count; n++)
        if (worse.at[n])
            d[n] =
                exact_element(p, n / SIM_COLUMNS, n % SIM_COLUMNS, add.at[n], sim_format(d_type));
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

// Sums of products of 8 bits need 22 of the 32 they have. Static, because what has clones is seen
// from outside, whatever its visibility.
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
