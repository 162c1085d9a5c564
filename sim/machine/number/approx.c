#include "sim/machine/number/approx.h"

#include "sim/machine/number/number.h"

static double scale(double x, int e) {
    // In two steps, so that results below the least normal double still round once.
    if (e < -1000) return x * sim_f64_bits((uint64_t)(e + 200 + 1023) << 52) * 0x1p-200;
    return x * sim_f64_bits((uint64_t)(e + 1023) << 52);
}

// exp(x * ln 2) for |x| <= 1/2, by its Taylor series.
static double exp2_small(double x) {
    double y = x * 0.693147180559945309417, term = 1, sum = 1;
    for (int n = 1; n < 16; n++) term = term * y / n, sum += term;
    return sum;
}

static double exp2_of(double x) {
    if (x != x) return x;
    if (x > 2000) return (double)__builtin_inff();
    if (x < -400) return 0;
    int whole = (int)(x + (x < 0 ? -0.5 : 0.5));
    if (whole > 1000) return (double)__builtin_inff();
    return scale(exp2_small(x - whole), whole);
}

float sim_approx_ex2(float x) { return sim_canonical((float)exp2_of(x)); }

float sim_approx_lg2(float x) {
    if (x == 0) return -__builtin_inff();
    if (x < 0 || x != x) return sim_f32_bits(0x7fffffff);
    if (x == __builtin_inff()) return x;
    uint64_t u = sim_bits_f64(x);
    int e = (int)(u >> 52) - 1023;
    double m = sim_f64_bits((u & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52);
    if (m > 1.4142135623730951) m /= 2, e++;
    // ln m = 2 artanh((m - 1) / (m + 1))
    double s = (m - 1) / (m + 1), square = s * s, term = s, sum = 0;
    for (int n = 1; n < 40; n += 2) sum += term / n, term *= square;
    return (float)(e + sum * 2.88539008177792681472);
}

// x minus the nearest multiple of pi/2; *quadrant is that multiple. Accurate for |x| up to about
// 2^20; beyond that as meaningless as the hardware's.
static double reduce(double x, int *quadrant) {
    double k = x * 0.636619772367581343076;
    if (k > 0x1p30 || k < -0x1p30) k -= 0x1p30 * (double)(int64_t)(k * 0x1p-30);
    int64_t whole = (int64_t)(k + (k < 0 ? -0.5 : 0.5));
    *quadrant = (int)(whole & 3);
    return (x - (double)whole * 1.57079632679489655800) -
           (double)whole * 6.12323399573676603587e-17;
}
static double sine(double x) {
    double square = x * x, term = x, sum = 0;
    for (int n = 1; n < 24; n += 2) sum += term, term *= -square / ((n + 1) * (n + 2));
    return sum;
}
static double cosine(double x) {
    double square = x * x, term = 1, sum = 0;
    for (int n = 0; n < 24; n += 2) sum += term, term *= -square / ((n + 1) * (n + 2));
    return sum;
}
static float circle(float x, int ahead) {
    if (x - x != 0) return sim_f32_bits(0x7fffffff);
    if (x > 0x1p60f || x < -0x1p60f) return 0;
    int quadrant;
    double y = reduce(x, &quadrant);
    quadrant = (quadrant + ahead) & 3;
    double r = quadrant & 1 ? cosine(y) : sine(y);
    return (float)(quadrant & 2 ? -r : r);
}
float sim_approx_sin(float x) { return x == 0 ? x : circle(x, 0); }
float sim_approx_cos(float x) { return circle(x, 1); }

float sim_approx_tanh(float x) {
    if (x != x) return sim_f32_bits(0x7fffffff);
    if (x > 30 || x < -30) return x > 0 ? 1.0f : -1.0f;
    if (x < 1e-3f && x > -1e-3f) {
        double y = x;
        return (float)(y - y * y * y / 3 + 2 * y * y * y * y * y / 15);
    }
    double e = exp2_of((double)x * 2.88539008177792681472);
    return (float)((e - 1) / (e + 1));
}
