#include "tests/examples/num.h"

#include <math.h>

static double larger(double a, double b) { return a > b ? a : b; }

double num_half(Dtype t, double w) {
    const DtypeFloat *f = dtype_float(t);
    int exponent = f->min_exponent;
    if (w > 0 && isfinite(w)) {
        int found;
        frexp(w, &found);
        if (found - 1 > exponent) exponent = found - 1;
    }
    return ldexp(1, exponent - f->precision);
}

double num_unit(Dtype t) { return ldexp(1, -dtype_float(t)->precision); }

// Rule O, and the last lines of "Rounding": a NaN bound does not bound anything.
static Num overflow(Dtype t, Num a) {
    double greatest = dtype_float(t)->greatest;
    double top = greatest + num_half(t, greatest);
    if (isnan(a.v) || isinf(a.v))
        return (Num){a.v, isnan(a.e) || isinf(a.e) ? (double)INFINITY : 0};
    if (isnan(a.e) || fabs(a.v) + a.e >= top) {
        if (fabs(a.v) - a.e >= top)
            return num_exact(a.v < 0 ? -(double)INFINITY : (double)INFINITY);
        return (Num){a.v, (double)INFINITY};
    }
    return a;
}

Num num_round_to(Dtype t, double v, double p) {
    return overflow(t, (Num){v, p + num_half(t, fabs(v) + p) + ldexp(fabs(v), -53)});
}

// M(v, p): a math function, 2 ulp in f32 and f64, through f32 in narrower types.
static Num math_round(Dtype t, double v, double p) {
    bool narrow = dtype_float(t)->precision < 24;
    double e = 4 * num_half(narrow ? DTYPE_F32 : t, fabs(v) + p);
    if (narrow) e += num_half(t, fabs(v) + p);
    return overflow(t, (Num){v, p + e + ldexp(fabs(v), -53)});
}

Num num_rounded(Dtype t, double v) {
    return num_exact(dtype_to_double(t, dtype_from_double(t, v, true)));
}

Num num_more(Dtype t, Num a, double count) {
    return (Num){a.v, a.e + count * num_unit(t) * fabs(a.v)};
}

Num num_neg(Num a) { return (Num){-a.v, a.e}; }

Num num_add(Dtype t, Num a, Num b) { return num_round_to(t, a.v + b.v, a.e + b.e); }

Num num_sub(Dtype t, Num a, Num b) { return num_round_to(t, a.v - b.v, a.e + b.e); }

static double product_bound(Num a, Num b) { return fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e; }

Num num_mul(Dtype t, Num a, Num b) { return num_round_to(t, a.v * b.v, product_bound(a, b)); }

Num num_div(Dtype t, Num a, Num b) {
    double v = a.v / b.v;
    if (b.e > 0 && fabs(b.v) <= b.e) return (Num){v, (double)INFINITY};
    return num_round_to(t, v, (a.e + fabs(v) * b.e) / (fabs(b.v) - b.e));
}

Num num_fma(Dtype t, Num a, Num b, Num c) {
    // fma: the product's own rounding must not enter v, which for f64 would be wrong by it.
    return num_round_to(t, fma(a.v, b.v, c.v), product_bound(a, b) + c.e);
}

Num num_sqrt(Dtype t, Num a) {
    double low = a.v - a.e;
    if (a.e > 0 && low < 0) return (Num){sqrt(a.v), (double)INFINITY};
    return num_round_to(t, sqrt(a.v), sqrt(a.v) - sqrt(low));
}

// A function that is monotone over the operand's interval.
static Num monotone(Dtype t, double (*f)(double), Num a) {
    double v = f(a.v);
    if (a.e == 0) return math_round(t, v, 0);
    return math_round(t, v, larger(fabs(f(a.v + a.e) - v), fabs(v - f(a.v - a.e))));
}

static double reciprocal_root(double x) { return 1 / sqrt(x); }

static double logistic(double x) { return 1 / (1 + exp(-x)); }

Num num_exp(Dtype t, Num a) { return monotone(t, exp, a); }

Num num_erf(Dtype t, Num a) { return monotone(t, erf, a); }

Num num_sigmoid(Dtype t, Num a) { return monotone(t, logistic, a); }

Num num_rsqrt(Dtype t, Num a) {
    if (a.e > 0 && a.v - a.e <= 0) return (Num){reciprocal_root(a.v), (double)INFINITY};
    return monotone(t, reciprocal_root, a);
}

Num num_log(Dtype t, Num a) {
    if (a.e > 0 && a.v - a.e <= 0) return (Num){log(a.v), (double)INFINITY};
    return monotone(t, log, a);
}

static double wave_bound(double slope, double e) {
    double p = fabs(slope) * e + e * e / 2;
    return p < 2 ? p : 2;
}

Num num_sin(Dtype t, Num a) { return math_round(t, sin(a.v), wave_bound(cos(a.v), a.e)); }

Num num_cos(Dtype t, Num a) { return math_round(t, cos(a.v), wave_bound(sin(a.v), a.e)); }

Num num_pow(Dtype t, Num a, Num b) {
    double v = pow(a.v, b.v), p = 0;
    for (int corner = 0; corner < 4; corner++) {
        double x = corner & 1 ? a.v + a.e : a.v - a.e;
        double y = corner & 2 ? b.v + b.e : b.v - b.e;
        p = larger(p, fabs(pow(x, y) - v));
    }
    return math_round(t, v, p);
}

Num num_round(Num a) {
    double v = rint(a.v);
    return (Num){v, larger(rint(a.v + a.e) - v, v - rint(a.v - a.e))};
}

Num num_max(Num a, Num b) {
    if (isnan(a.v) || isnan(b.v)) return num_exact((double)NAN);
    double v = larger(a.v, b.v);
    double high = larger(a.v + a.e, b.v + b.e), low = larger(a.v - a.e, b.v - b.e);
    return (Num){v, larger(high - v, v - low)};
}

Num num_cast(Dtype t, Num a) {
    double v = dtype_to_double(t, dtype_from_double(t, a.v, true));
    if (a.e == 0 && v == a.v) return a;
    return overflow(t, (Num){a.v, a.e + num_half(t, fabs(a.v) + a.e)});
}

static double truncated(Dtype t, double v) {
    double low = (double)dtype_int_min(t), high = (double)dtype_int_max(t);
    v = trunc(v);
    return v < low ? low : v > high ? high : v;
}

Num num_cast_int(Dtype t, Num a) {
    double v = truncated(t, a.v);
    return (Num){v, larger(truncated(t, a.v + a.e) - v, v - truncated(t, a.v - a.e))};
}

void num_sum_add(NumSum *s, Num a) {
    s->v += a.v;
    s->e += a.e;
    s->magnitude += fabs(a.v) + a.e;
    s->n += 1;
}

// Σe + 2·n·u(A)·Σ(|v| + e) + 2^-53·n·Σ|v|
Num num_sum(Dtype accumulator, const NumSum *s) {
    double order = 2 * s->n * num_unit(accumulator) * s->magnitude;
    return overflow(accumulator, (Num){s->v, s->e + order + ldexp(s->n * s->magnitude, -53)});
}

// The part of an operand that may count as 0.
static double flushed(double least, Num a) {
    double reach = fabs(a.v) + a.e;
    return fabs(a.v) - a.e >= least ? 0 : reach < least ? reach : least;
}

void num_dot_add(NumDot *d, Num a, Num b) {
    d->v += a.v * b.v;
    d->e += product_bound(a, b);
    d->e += flushed(d->least, a) * (fabs(b.v) + b.e) + flushed(d->least, b) * (fabs(a.v) + a.e);
    d->magnitude += (fabs(a.v) + a.e) * (fabs(b.v) + b.e);
    d->k += 1;
}

// Σ(operands) + 2·(K + 2)·u(A)·(|A|·|B|) + K·half(A, 0) + 2^-53·(K + 1)·|A|·|B|
Num num_dot(Dtype accumulator, const NumDot *d) {
    double unit = d->unit > 0 ? d->unit : num_unit(accumulator);
    double order = 2 * (d->k + 2) * unit * d->magnitude;
    double small = d->k * num_half(accumulator, 0) + ldexp((d->k + 1) * d->magnitude, -53);
    return overflow(accumulator, (Num){d->v, d->e + order + small});
}
