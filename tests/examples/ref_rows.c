// References of the examples that reduce, scan or normalise rows.
#include <math.h>
#include <stdlib.h>

#include "tests/examples/examples.h"

static const Dtype f32 = DTYPE_F32;

static int64_t chunks(const Shape *shape, int64_t n, int64_t small, int64_t own) {
    int64_t width = shape->own_tiles ? own : small;
    return (n + width - 1) / width;
}

static double greatest(const Array *x, int64_t row) {
    double top = -(double)INFINITY;
    for (int64_t c = 0; c < x->extent[1]; c++) top = fmax(top, get(x, at2(x, row, c)));
    return top;
}

// Σ exp(x - top); an online sum takes it through `rescales` factors, each of which costs one exp
// (4 roundings at 2 ulp), one product and one addition.
static Num sum_of_exponentials(const Array *x, int64_t row, Num top, int64_t rescales) {
    NumSum sum = {0};
    for (int64_t c = 0; c < x->extent[1]; c++)
        num_sum_add(&sum, f32_exp(f32_sub(num_at(x, at2(x, row, c)), top)));
    return num_more(f32, num_sum(f32, &sum), 6.0 * (double)rescales);
}

static void softmax_rows(Run *run, Dtype t, int64_t rows, int64_t columns, int64_t rescales) {
    Array *x = run_input(run, "x", t, FILL_EXPONENT, EXTENTS(rows, columns));
    Array *y = run_output(run, "y", t, EXTENTS(rows, columns));
    for (int64_t r = 0; r < rows; r++) {
        Num top = num_exact(greatest(x, r));
        Num total = sum_of_exponentials(x, r, top, rescales);
        for (int64_t c = 0; c < columns; c++) {
            Num e = f32_exp(f32_sub(num_at(x, at2(x, r, c)), top));
            want(y, at2(y, r, c), num_cast(t, f32_div(e, total)));
        }
    }
}

void make_softmax(Run *run, const Shape *shape) {
    tile(run, shape, "W", next_power(shape->n[1], 1));
    softmax_rows(run, f32, shape->n[0], shape->n[1], 0);
}

void make_softmax_long(Run *run, const Shape *shape) {
    run_type(run, "T", shape->type);
    tile(run, shape, "W", 64);
    softmax_rows(run, shape->type, shape->n[0], shape->n[1], chunks(shape, shape->n[1], 64, 1024));
}

void make_layernorm(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    Num eps = num_exact((double)1e-5F), count = num_exact((double)columns);
    run_type(run, "T", t);
    tile(run, shape, "W", 64);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(rows, columns));
    Array *weight = run_input(run, "weight", t, FILL_REAL, EXTENTS(columns));
    Array *bias = run_input(run, "bias", t, FILL_REAL, EXTENTS(columns));
    Array *y = run_output(run, "y", t, EXTENTS(rows, columns));
    run_real(run, eps.v);
    for (int64_t r = 0; r < rows; r++) {
        NumSum total = {0}, squares = {0};
        for (int64_t c = 0; c < columns; c++) num_sum_add(&total, num_at(x, at2(x, r, c)));
        Num mean = f32_div(num_sum(f32, &total), count);
        for (int64_t c = 0; c < columns; c++) {
            Num d = f32_sub(num_at(x, at2(x, r, c)), mean);
            num_sum_add(&squares, f32_mul(d, d));
        }
        Num variance = f32_div(num_sum(f32, &squares), count);
        Num scale = num_rsqrt(f32, f32_add(variance, eps));
        for (int64_t c = 0; c < columns; c++) {
            Num v = f32_mul(f32_sub(num_at(x, at2(x, r, c)), mean), scale);
            Num shifted = f32_add(f32_mul(v, num_at(weight, c)), num_at(bias, c));
            want(y, at2(y, r, c), num_cast(t, shifted));
        }
    }
}

void make_add_rmsnorm(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    Num eps = num_exact((double)1e-6F), count = num_exact((double)columns);
    run_type(run, "T", t);
    tile(run, shape, "W", 64);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(rows, columns));
    Array *residual = run_input(run, "residual", t, FILL_REAL, EXTENTS(rows, columns));
    Array *weight = run_input(run, "weight", t, FILL_REAL, EXTENTS(columns));
    Array *y = run_output(run, "y", t, EXTENTS(rows, columns));
    run_updates(residual);
    run_real(run, eps.v);
    for (int64_t r = 0; r < rows; r++) {
        NumSum squares = {0};
        for (int64_t c = 0; c < columns; c++) {
            int64_t place = at2(x, r, c);
            Num h = num_rounded(t, get(x, place) + get(residual, place));
            want(residual, place, h);
            num_sum_add(&squares, f32_mul(h, h));
        }
        Num mean = f32_div(num_sum(f32, &squares), count);
        Num scale = num_rsqrt(f32, f32_add(mean, eps));
        for (int64_t c = 0; c < columns; c++) {
            Num h = residual->wanted[at2(x, r, c)];
            Num v = f32_mul(f32_mul(h, scale), num_at(weight, c));
            want(y, at2(y, r, c), num_cast(t, v));
        }
    }
}

// Pixels are rows here: x[B = 2, S, G, D].
void make_groupnorm(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t pixels = shape->n[0], groups = shape->n[1], width = shape->n[2];
    Num eps = num_exact((double)1e-5F), count = num_exact((double)(pixels * width));
    run_type(run, "T", t);
    tile(run, shape, "BS", 8);
    tile(run, shape, "BD", 4);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(2, pixels, groups, width));
    Array *weight = run_input(run, "weight", t, FILL_REAL, EXTENTS(groups, width));
    Array *bias = run_input(run, "bias", t, FILL_REAL, EXTENTS(groups, width));
    Array *y = run_output(run, "y", t, EXTENTS(2, pixels, groups, width));
    run_real(run, eps.v);
    for (int64_t b = 0; b < 2; b++)
        for (int64_t g = 0; g < groups; g++) {
            NumSum total = {0}, squares = {0};
            for (int64_t i = 0; i < pixels * width; i++)
                num_sum_add(&total, num_at(x, at4(x, b, i / width, g, i % width)));
            Num mean = f32_div(num_sum(f32, &total), count);
            for (int64_t i = 0; i < pixels * width; i++) {
                Num d = f32_sub(num_at(x, at4(x, b, i / width, g, i % width)), mean);
                num_sum_add(&squares, f32_mul(d, d));
            }
            Num variance = f32_div(num_sum(f32, &squares), count);
            Num scale = num_rsqrt(f32, f32_add(variance, eps));
            for (int64_t i = 0; i < pixels * width; i++) {
                int64_t place = at4(x, b, i / width, g, i % width);
                int64_t channel = at2(weight, g, i % width);
                Num v = f32_mul(f32_sub(num_at(x, place), mean), scale);
                v = f32_add(f32_mul(v, num_at(weight, channel)), num_at(bias, channel));
                want(y, place, num_cast(t, v));
            }
        }
}

void make_cross_entropy(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "W", 64);
    Array *x = run_input(run, "logits", t, FILL_EXPONENT, EXTENTS(rows, columns));
    Array *label = run_input(run, "label", DTYPE_I32, FILL_ZERO, EXTENTS(rows));
    Array *loss = run_output(run, "loss", f32, EXTENTS(rows));
    Array *gradient = run_output(run, "gradient", t, EXTENTS(rows, columns));
    for (int64_t r = 0; r < rows; r++) {
        int64_t hit = columns ? run_below(run, r % 3 == 1 ? -1 : 0, columns) : -1;
        put(label, r, (double)hit);
        if (!columns) {
            want_exact(loss, r, 0);
            continue;
        }
        Num top = num_exact(greatest(x, r));
        Num total = sum_of_exponentials(x, r, top, chunks(shape, columns, 64, 1024));
        if (hit < 0)
            want_exact(loss, r, 0);
        else
            want(loss, r, f32_add(num_log(f32, total), f32_sub(top, num_at(x, at2(x, r, hit)))));
        for (int64_t c = 0; c < columns; c++) {
            Num p = f32_div(f32_exp(f32_sub(num_at(x, at2(x, r, c)), top)), total);
            Num g = f32_sub(p, num_exact(c == hit));
            want(gradient, at2(x, r, c), hit < 0 ? num_exact(0) : num_cast(t, g));
        }
    }
}

void make_row_sum(Run *run, const Shape *shape) {
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", shape->type);
    tile(run, shape, "W", 64);
    Array *x = run_input(run, "x", shape->type, FILL_REAL, EXTENTS(rows, columns));
    Array *y = run_output(run, "y", f32, EXTENTS(rows));
    for (int64_t r = 0; r < rows; r++) {
        NumSum sum = {0};
        for (int64_t c = 0; c < columns; c++) num_sum_add(&sum, num_at(x, at2(x, r, c)));
        want(y, r, num_sum(f32, &sum));
    }
}

void make_column_max(Run *run, const Shape *shape) {
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", shape->type);
    tile(run, shape, "BR", 4);
    tile(run, shape, "BC", 16);
    Array *x = run_input(run, "x", shape->type, FILL_REAL, EXTENTS(rows, columns));
    Array *y = run_output(run, "y", shape->type, EXTENTS(columns));
    for (int64_t c = 0; c < columns; c++) {
        double top = -(double)INFINITY;
        for (int64_t r = 0; r < rows; r++) top = fmax(top, get(x, at2(x, r, c)));
        want_exact(y, c, top);
    }
}

void make_inner_product(Run *run, const Shape *shape) {
    int64_t n = shape->n[0];
    run_type(run, "T", shape->type);
    tile(run, shape, "B", 64);
    Array *x = run_input(run, "x", shape->type, FILL_REAL, EXTENTS(n));
    Array *y = run_input(run, "y", shape->type, FILL_REAL, EXTENTS(n));
    Array *total = run_input(run, "total", f32, FILL_ZERO, EXTENTS(1));
    run_updates(total);
    NumSum sum = {0};
    for (int64_t i = 0; i < n; i++) num_sum_add(&sum, f32_mul(num_at(x, i), num_at(y, i)));
    want(total, 0, num_sum(f32, &sum));
}

typedef struct Moments {
    double n;
    Num mean, squares;
} Moments;

// The combiner of the kernel, for its bound.
static Moments merge(Moments a, Moments b) {
    double n = a.n + b.n;
    Num part = f32_div(num_exact(b.n), num_exact(n));
    Num d = f32_sub(b.mean, a.mean);
    Num mean = f32_add(a.mean, f32_mul(d, part));
    Num between = f32_mul(f32_mul(f32_mul(d, d), num_exact(a.n)), part);
    return (Moments){n, mean, f32_add(f32_add(a.squares, b.squares), between)};
}

static Moments moments_of_one(const Array *x, int64_t place) {
    return (Moments){1, num_at(x, place), num_exact(0)};
}

static Moments moments_in_a_tree(const Array *x, int64_t place, int64_t n) {
    if (n == 1) return moments_of_one(x, place);
    return merge(moments_in_a_tree(x, place, n / 2),
                 moments_in_a_tree(x, place + n / 2, n - n / 2));
}

// The value by the textbook's two passes. The bound of a reduction with a combiner is twice the
// greater of the bounds of the sequential order and of a balanced tree.
void make_moments(Run *run, const Shape *shape) {
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", shape->type);
    tile(run, shape, "W", 64);
    Array *x = run_input(run, "x", shape->type, FILL_REAL, EXTENTS(rows, columns));
    Array *mean = run_output(run, "mean", f32, EXTENTS(rows));
    Array *variance = run_output(run, "variance", f32, EXTENTS(rows));
    for (int64_t r = 0; r < rows; r++) {
        double total = 0, squares = 0, count = (double)columns;
        if (!columns) {
            want_exact(mean, r, 0);
            want_exact(variance, r, (double)NAN);
            continue;
        }
        Moments row = moments_of_one(x, at2(x, r, 0));
        for (int64_t c = 0; c < columns; c++) total += get(x, at2(x, r, c));
        for (int64_t c = 0; c < columns; c++)
            squares += pow(get(x, at2(x, r, c)) - total / count, 2);
        for (int64_t c = 1; c < columns; c++) row = merge(row, moments_of_one(x, at2(x, r, c)));
        Moments tree = moments_in_a_tree(x, at2(x, r, 0), columns);
        want(mean, r, (Num){total / count, 2 * fmax(row.mean.e, tree.mean.e)});
        Num all = {squares, 2 * fmax(row.squares.e, tree.squares.e)};
        want(variance, r, f32_div(all, num_exact(count)));
    }
}

void make_row_argmax(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "W", 64);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(rows, columns));
    Array *value = run_output(run, "value", t, EXTENTS(rows));
    Array *place = run_output(run, "place", DTYPE_I32, EXTENTS(rows));
    for (int64_t r = 0; r < rows; r++) {
        if (!columns) {
            want_exact(value, r, -(double)INFINITY);
            want_exact(place, r, 0);
            continue;
        }
        // The greatest comes twice; the first place counts.
        int64_t twin = run_below(run, 0, columns);
        put(x, at2(x, r, twin), greatest(x, r));
        int64_t best = 0;
        for (int64_t c = 1; c < columns; c++)
            if (get(x, at2(x, r, c)) > get(x, at2(x, r, best))) best = c;
        want_exact(value, r, get(x, at2(x, r, best)));
        want_exact(place, r, (double)best);
    }
}

void make_row_cumsum(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "W", 64);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(rows, columns));
    Array *y = run_output(run, "y", t, EXTENTS(rows, columns));
    for (int64_t r = 0; r < rows; r++) {
        NumSum sum = {0};
        for (int64_t c = 0; c < columns; c++) {
            num_sum_add(&sum, num_at(x, at2(x, r, c)));
            want(y, at2(y, r, c), num_cast(t, num_sum(f32, &sum)));
        }
    }
}

void make_row_remaining(Run *run, const Shape *shape) {
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", shape->type);
    tile(run, shape, "W", next_power(columns, 1));
    Array *x = run_input(run, "x", shape->type, FILL_REAL, EXTENTS(rows, columns));
    Array *y = run_output(run, "y", f32, EXTENTS(rows, columns));
    for (int64_t r = 0; r < rows; r++) {
        NumSum sum = {0};
        for (int64_t c = columns - 1; c >= 0; c--) {
            want(y, at2(y, r, c), num_sum(f32, &sum));
            num_sum_add(&sum, num_at(x, at2(x, r, c)));
        }
    }
}

// h = a h + b. Any order of composition takes each term b[s] · Π a through no more roundings than
// the sequential one, so that with the magnitudes M = |a| M + |b| the bound of one order is E = |a|
// E + u (2 |a| M + M), and a scan's is twice that; tiles add 3 roundings each.
void make_recurrence(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], length = shape->n[1];
    double u = num_unit(f32);
    run_type(run, "T", t);
    tile(run, shape, "W", 32);
    Array *a = run_input(run, "a", t, FILL_POSITIVE, EXTENTS(rows, length));
    Array *b = run_input(run, "b", t, FILL_REAL, EXTENTS(rows, length));
    Array *h = run_output(run, "h", t, EXTENTS(rows, length));
    int64_t width = shape->own_tiles ? 128 : 32;
    for (int64_t r = 0; r < rows; r++) {
        double state = 0, magnitude = 0, bound = 0;
        for (int64_t s = 0; s < length; s++) {
            int64_t place = at2(a, r, s);
            put(a, place, get(a, place) / 2);  // in [0.125, 1)
            double gain = get(a, place), carried = s % width == 0 ? 3 : 0;
            state = gain * state + get(b, place);
            bound = gain * bound + (2 + carried) * u * gain * magnitude;
            magnitude = gain * magnitude + fabs(get(b, place));
            bound += u * magnitude + num_half(f32, 0);
            want(h, place, num_cast(t, (Num){state, 2 * bound}));
        }
    }
}

void make_quantize(Run *run, const Shape *shape) {
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", shape->type);
    tile(run, shape, "W", 64);
    Array *x = run_input(run, "x", shape->type, FILL_REAL, EXTENTS(rows, columns));
    Array *q = run_output(run, "q", DTYPE_I8, EXTENTS(rows, columns));
    Array *scale = run_output(run, "scale", f32, EXTENTS(rows));
    for (int64_t r = 0; r < rows; r++) {
        double top = 0;
        for (int64_t c = 0; c < columns; c++) {
            if (r % 5 == 4) put(x, at2(x, r, c), 0);  // a row of zeros has the scale 0
            top = fmax(top, fabs(get(x, at2(x, r, c))));
        }
        Num unit = num_rounded(f32, top / 127);
        want(scale, r, unit);
        for (int64_t c = 0; c < columns; c++) {
            // Both divisions are rounded correctly, so the quotient is known to the bit.
            Num v = unit.v > 0 ? num_rounded(f32, get(x, at2(x, r, c)) / unit.v) : num_exact(0);
            want(q, at2(q, r, c), num_cast_int(DTYPE_I8, num_round(v)));
        }
    }
}

void make_dequantize(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "W", 64);
    Array *q = run_input(run, "q", DTYPE_I8, FILL_INT, EXTENTS(rows, columns));
    Array *scale = run_input(run, "scale", f32, FILL_REAL, EXTENTS(rows));
    Array *x = run_output(run, "x", t, EXTENTS(rows, columns));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            Num v = f32_mul(num_at(q, at2(q, r, c)), num_at(scale, r));
            want(x, at2(x, r, c), num_cast(t, v));
        }
}

void make_nf4_dequantize(Run *run, const Shape *shape) {
    static const double quantiles[16] = {
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    };
    Dtype t = shape->type;
    const int64_t group = 64;
    int64_t rows = shape->n[0], groups = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "GB", 2);
    Array *q = run_input(run, "q", DTYPE_U4, FILL_INT, EXTENTS(rows, groups * group));
    Array *scale = run_input(run, "scale", f32, FILL_REAL, EXTENTS(rows, groups));
    Array *x = run_output(run, "x", t, EXTENTS(rows, groups * group));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < groups * group; c++) {
            double quantile = quantiles[(int)get(q, at2(q, r, c))];
            Num v = f32_mul(num_exact(run_scalar(f32, quantile)),
                            num_at(scale, at2(scale, r, c / group)));
            want(x, at2(x, r, c), num_cast(t, v));
        }
}
