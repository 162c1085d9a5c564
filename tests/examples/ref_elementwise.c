// References of the examples that work element by element.
#include <math.h>

#include "tests/examples/examples.h"

static const int64_t small = 64;

static void add_reference(Run *run, Dtype t, int64_t n) {
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(n));
    Array *y = run_input(run, "y", t, FILL_REAL, EXTENTS(n));
    Array *z = run_output(run, "z", t, EXTENTS(n));
    for (int64_t i = 0; i < n; i++) want(z, i, num_add(t, num_at(x, i), num_at(y, i)));
}

void make_add(Run *run, const Shape *shape) {
    run_type(run, "T", shape->type);
    tile(run, shape, "B", small);
    add_reference(run, shape->type, shape->n[0]);
}

void make_add_pointers(Run *run, const Shape *shape) {
    run_type(run, "T", shape->type);
    tile(run, shape, "B", small);
    add_reference(run, shape->type, shape->n[0]);
    run_as_pointers(run);
    run_int(run, shape->n[0]);
}

// One rounding of a·b + c: the sum in double is rounded to odd, by its error, so that no second
// rounding to T comes from a first (Boldo, Melquiond: Emulation of FMA and correctly rounded sums,
// 2008). A product of two T is exact.
static Num fused(Dtype t, Num a, Num b, Num c) {
    double product = a.v * b.v, sum = product + c.v, part = sum - product;
    double error = (product - (sum - part)) + (c.v - part);
    if (t == DTYPE_F64) return num_fma(t, a, b, c);
    bool even = !(dtype_from_double(DTYPE_F64, sum, true) & 1);
    if (error != 0 && even) sum = nextafter(sum, error > 0 ? INFINITY : -INFINITY);
    return num_rounded(t, sum);
}

// A product of numbers with 8 and 9 bits, halfway between two of bf16, and a sum so little above or
// below it that a rounding to f32 or f64 would lose the difference.
static void put_near_tie(Run *run, Array *x, Array *y, int64_t i) {
    double sign = run_below(run, 0, 2) ? 1 : -1;
    put(x, i, (85 + 2 * (double)run_below(run, 0, 8)) / 64);
    put(y, i, sign * 0.75 * (run_below(run, 0, 2) ? 0x1p-23 : 0x1p-52));
}

void make_axpy(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t n = shape->n[0];
    run_type(run, "T", t);
    tile(run, shape, "B", small);
    Num alpha = num_exact(run_scalar(t, 0.75));
    run_real(run, alpha.v);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(n));
    Array *y = run_input(run, "y", t, FILL_REAL, EXTENTS(n));
    run_updates(y);
    for (int64_t i = 0; i < n; i++) {
        if (i % 4 == 1) put_near_tie(run, x, y, i);
        want(y, i, fused(t, alpha, num_at(x, i), num_at(y, i)));
    }
}

// 0.5 h (1 + erf(h / √2)), the constant rounded to f32
static Num gelu(Num h) {
    Num inner = f32_mul(h, num_exact((double)0.70710678F));
    Num gate = f32_add(num_exact(1), num_erf(DTYPE_F32, inner));
    return f32_mul(f32_mul(num_exact(0.5), h), gate);
}

void make_bias_gelu(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "W", small);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(rows, columns));
    Array *bias = run_input(run, "bias", t, FILL_REAL, EXTENTS(columns));
    Array *y = run_output(run, "y", t, EXTENTS(rows, columns));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            Num h = f32_add(num_at(x, at2(x, r, c)), num_at(bias, c));
            want(y, at2(y, r, c), num_cast(t, gelu(h)));
        }
}

void make_swiglu(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], half = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "W", small);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(rows, 2 * half));
    Array *y = run_output(run, "y", t, EXTENTS(rows, half));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < half; c++) {
            Num gate = num_at(x, at2(x, r, c)), up = num_at(x, at2(x, r, half + c));
            Num silu = f32_mul(gate, num_sigmoid(DTYPE_F32, gate));
            want(y, at2(y, r, c), num_cast(t, f32_mul(silu, up)));
        }
}

// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; 2011).
static void philox(uint64_t seed, uint64_t offset, uint32_t word[4]) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    word[0] = (uint32_t)offset;
    word[1] = (uint32_t)(offset >> 32);
    word[2] = word[3] = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xd2511f53U * word[0], b = (uint64_t)0xcd9e8d57U * word[2];
        uint32_t next0 = (uint32_t)(b >> 32) ^ word[1] ^ key0;
        uint32_t next2 = (uint32_t)(a >> 32) ^ word[3] ^ key1;
        word[0] = next0;
        word[1] = (uint32_t)b;
        word[2] = next2;
        word[3] = (uint32_t)a;
        key0 += 0x9e3779b9U;
        key1 += 0xbb67ae85U;
    }
}

void make_dropout(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t n = shape->n[0];
    const uint64_t seed = 0x123456789abcdefU;
    run_type(run, "T", t);
    tile(run, shape, "B", small);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(n));
    Array *y = run_output(run, "y", t, EXTENTS(n));
    Num p = num_exact((double)0.3F);
    run_real(run, p.v);
    run_int(run, (int64_t)seed);
    Num scale = f32_div(num_exact(1), f32_sub(num_exact(1), p));
    for (int64_t i = 0; i < n; i++) {
        uint32_t word[4];
        philox(seed, (uint64_t)(i / 4), word);
        if (ldexp(word[i % 4] >> 8, -24) < p.v)
            want_exact(y, i, 0);
        else
            want(y, i, num_cast(t, f32_mul(num_at(x, i), scale)));
    }
}

// The floats that conform to a bound, which a math function's result is one of. 1: the bound itself
// stands for all of them.
static int floats_within(Num a, Num *all, int most) {
    float x = (float)(a.v - a.e), end = (float)(a.v + a.e);
    int count = 0;
    all[0] = a;
    if (!isfinite(a.v) || a.e == 0) return 1;
    if ((double)x < a.v - a.e) x = nextafterf(x, INFINITY);
    for (; x <= end && (double)x <= a.v + a.e; x = nextafterf(x, INFINITY)) {
        if (count == most) return all[0] = a, 1;
        all[count++] = num_exact((double)x);
    }
    return count;
}

// A pair of elements by one of the angles that it may turn by.
static void rotate(Dtype t, Num angle, Num a, Num b, Num *first, Num *second) {
    *first = *second = num_exact((double)NAN);
    if (!isfinite(angle.v)) return;
    Num cosine = num_cos(DTYPE_F32, angle), sine = num_sin(DTYPE_F32, angle);
    *first = num_cast(t, f32_sub(f32_mul(a, cosine), f32_mul(b, sine)));
    *second = num_cast(t, f32_add(f32_mul(a, sine), f32_mul(b, cosine)));
}

// A position's product with a frequency, which is rounded before the sine: of large angles nothing
// is left but by each float that the frequency may be.
static int angles_of(double position, Num frequency, Num *angles) {
    Num exact = num_rounded(DTYPE_F32, position);
    int count = floats_within(frequency, angles, 1 + RUN_MAX_OTHERS);
    for (int i = 0; i < count; i++)
        angles[i] = angles[i].e == 0 && isfinite(angles[i].v)
                        ? num_rounded(DTYPE_F32, exact.v * angles[i].v)
                        : f32_mul(exact, angles[i]);
    return count;
}

// Pairs x[2i], x[2i + 1] turn by the angle position · base^(-2i / D). An even number of heads has
// angles of all magnitudes, and negative ones; every other then shows the sine by itself, of which
// a sum would hide the last bits.
void make_rope(Run *run, const Shape *shape) {
    enum { WAYS = 1 + RUN_MAX_OTHERS };
    Dtype t = shape->type;
    int64_t length = shape->n[0], heads = shape->n[1], width = 2 * shape->n[2];
    run_type(run, "T", t);
    tile(run, shape, "W", 16);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(length, heads, width));
    Array *position = run_input(run, "position", DTYPE_I32, FILL_ZERO, EXTENTS(length));
    Array *y = run_output(run, "y", t, EXTENTS(length, heads, width));
    const double bases[] = {(double)INFINITY, 0, -3, -(double)INFINITY, 1, -1};
    bool far = !run->wild && heads % 2 == 0;
    Num base = num_exact(run->wild ? bases[(length + width / 2) % 6] : far ? 0x1p-120 : 10000);
    run_real(run, base.v);
    for (int64_t s = 0; s < length; s++) {
        int64_t reach = INT64_C(1) << run_below(run, 0, 31);
        put(position, s, (double)(far ? run_below(run, -reach, reach) : run_below(run, 0, 2000)));
        for (int64_t d = 0; d < width; d += 2) {
            Num angles[WAYS], first[WAYS], second[WAYS];
            Num exponent = num_rounded(DTYPE_F32, (double)d / (double)width);
            Num frequency = num_pow(DTYPE_F32, base, num_neg(exponent));
            int count = angles_of(get(position, s), frequency, angles);
            for (int64_t h = 0; h < heads; h++) {
                if (far && h % 2 == 1) put(x, at3(x, s, h, d), 0);
                Num a = num_at(x, at3(x, s, h, d)), b = num_at(x, at3(x, s, h, d + 1));
                for (int i = 0; i < count; i++) rotate(t, angles[i], a, b, &first[i], &second[i]);
                want_any(y, at3(y, s, h, d), first, count);
                want_any(y, at3(y, s, h, d + 1), second, count);
            }
        }
    }
}

void make_adam(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t n = shape->n[0];
    Num one = num_exact(1), rate = num_exact((double)0.001F), decay = num_exact((double)0.01F);
    Num beta1 = num_exact((double)0.9F), beta2 = num_exact((double)0.999F);
    // Powers of a late step are 0; odd ones of a negative number are negative. Below a half
    // logarithms have other exponents.
    bool late = n / 16 % 4 == 1, negative = n / 16 % 4 == 2,
         small_bases = n / 16 % 4 == 0 && !(n % 2);
    if (negative) beta1 = num_exact(-(double)0.9F), beta2 = num_exact(-(double)0.001F);
    if (small_bases) beta1 = num_exact((double)0.55F), beta2 = num_exact((double)0.14F);
    Num eps = num_exact((double)1e-8F), step = num_exact(late ? 1000000 : negative ? 1 : 3);
    run_type(run, "T", t);
    tile(run, shape, "B", small);
    Array *param = run_input(run, "param", DTYPE_F32, FILL_REAL, EXTENTS(n));
    Array *gradient = run_input(run, "gradient", t, FILL_REAL, EXTENTS(n));
    Array *moment1 = run_input(run, "moment1", DTYPE_F32, FILL_REAL, EXTENTS(n));
    Array *moment2 = run_input(run, "moment2", DTYPE_F32, FILL_POSITIVE, EXTENTS(n));
    run_updates(param);
    run_updates(moment1);
    run_updates(moment2);
    run_real(run, rate.v);
    run_real(run, beta1.v);
    run_real(run, beta2.v);
    run_real(run, eps.v);
    run_real(run, decay.v);
    run_int(run, (int64_t)step.v);
    for (int64_t i = 0; negative && i < n; i++)  // of what would be negative there is no root
        if (fabs(get(gradient, i)) < 0.125) put(gradient, i, 0.5);
    Num bias1 = f32_sub(one, num_pow(DTYPE_F32, beta1, step));
    Num bias2 = f32_sub(one, num_pow(DTYPE_F32, beta2, step));
    for (int64_t i = 0; i < n; i++) {
        Num g = num_at(gradient, i);
        Num m = f32_add(f32_mul(beta1, num_at(moment1, i)), f32_mul(f32_sub(one, beta1), g));
        Num squared = f32_mul(f32_mul(f32_sub(one, beta2), g), g);
        Num v = f32_add(f32_mul(beta2, num_at(moment2, i)), squared);
        Num below = f32_add(num_sqrt(DTYPE_F32, f32_div(v, bias2)), eps);
        Num move = f32_div(f32_mul(rate, f32_div(m, bias1)), below);
        Num p = f32_mul(num_at(param, i), f32_sub(one, f32_mul(rate, decay)));
        want(param, i, f32_sub(p, move));
        want(moment1, i, m);
        want(moment2, i, v);
    }
}

void make_complex_multiply(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t n = shape->n[0];
    run_type(run, "T", t);
    tile(run, shape, "B", 16);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(n, 2));
    Array *y = run_input(run, "y", t, FILL_REAL, EXTENTS(n, 2));
    Array *z = run_output(run, "z", t, EXTENTS(n, 2));
    for (int64_t i = 0; i < n; i++) {
        Num a = num_at(x, at2(x, i, 0)), b = num_at(x, at2(x, i, 1));
        Num c = num_at(y, at2(y, i, 0)), d = num_at(y, at2(y, i, 1));
        want(z, at2(z, i, 0), num_sub(t, num_mul(t, a, c), num_mul(t, b, d)));
        want(z, at2(z, i, 1), num_add(t, num_mul(t, a, d), num_mul(t, b, c)));
    }
}

static Num temperature(const Array *x, int64_t i, int64_t j, Num edge) {
    bool inside = i >= 0 && i < x->extent[0] && j >= 0 && j < x->extent[1];
    return inside ? num_at(x, at2(x, i, j)) : edge;
}

void make_heat(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t height = shape->n[0], width = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "BH", 8);
    tile(run, shape, "BW", 16);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(height, width));
    Array *y = run_output(run, "y", t, EXTENTS(height, width));
    Num rate = num_exact(run_scalar(t, 0.6)), edge = num_exact(run_scalar(t, 1.3));
    run_real(run, rate.v);
    run_real(run, edge.v);
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++) {
            Num sum = num_add(t, temperature(x, i - 1, j, edge), temperature(x, i + 1, j, edge));
            sum = num_add(t, sum, temperature(x, i, j - 1, edge));
            sum = num_add(t, sum, temperature(x, i, j + 1, edge));
            Num here = num_at(x, at2(x, i, j));
            Num change = num_sub(t, num_mul(t, num_exact(0.25), sum), here);
            want(y, at2(y, i, j), num_add(t, here, num_mul(t, rate, change)));
        }
}

// Every step is an f32 operation that is the same everywhere, so the count is exact.
static int mandelbrot_count(float cr, float ci, int limit) {
    float zr = 0, zi = 0;
    int n = 0;
    while (n < limit) {
        float rr = zr * zr, ii = zi * zi;
        float size = rr + ii;
        if (!(size <= 4)) break;
        n++;
        float twice = 2 * zr;
        float cross = twice * zi;
        float next = rr - ii;
        zi = cross + ci;
        zr = next + cr;
    }
    return n;
}

void make_mandelbrot(Run *run, const Shape *shape) {
    int64_t height = shape->n[0], width = shape->n[1];
    const float left = -2, bottom = -1.25F, step = 0.0078125F * 2.5F;
    const int limit = (height + width) % 4 == 1 ? 0 : 30;
    tile(run, shape, "BH", 4);
    tile(run, shape, "BW", 8);
    Array *count = run_output(run, "count", DTYPE_I32, EXTENTS(height, width));
    run_real(run, (double)left);
    run_real(run, (double)bottom);
    run_real(run, (double)step);
    run_int(run, limit);
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++) {
            float dx = step * (float)j, dy = step * (float)i;
            float cr = left + dx, ci = bottom + dy;
            want_exact(count, at2(count, i, j), mandelbrot_count(cr, ci, limit));
        }
}
