// References of the examples that multiply matrices.
#include <math.h>

#include "tests/examples/examples.h"

static const Dtype f32 = DTYPE_F32;

static void matmul_tiles(Run *run, const Shape *shape) {
    tile(run, shape, "BM", 16);
    tile(run, shape, "BN", 32);
    tile(run, shape, "BK", 32);
}

void make_matmul(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t m = shape->n[0], n = shape->n[1], inner = shape->n[2];
    run_type(run, "T", t);
    matmul_tiles(run, shape);
    Array *a = run_input(run, "a", t, FILL_FACTOR, EXTENTS(m, inner));
    Array *b = run_input(run, "b", t, FILL_FACTOR, EXTENTS(inner, n));
    Array *c = run_output(run, "c", t, EXTENTS(m, n));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            NumDot dot = run_dot(run, t);
            for (int64_t k = 0; k < inner; k++)
                num_dot_add(&dot, num_at(a, at2(a, i, k)), num_at(b, at2(b, k, j)));
            want(c, at2(c, i, j), num_cast(t, num_dot(f32, &dot)));
        }
}

void make_matmul_i8(Run *run, const Shape *shape) {
    int64_t m = shape->n[0], n = shape->n[1], inner = shape->n[2];
    matmul_tiles(run, shape);
    Array *a = run_input(run, "a", DTYPE_I8, FILL_INT, EXTENTS(m, inner));
    Array *b = run_input(run, "b", DTYPE_I8, FILL_INT, EXTENTS(inner, n));
    Array *c = run_output(run, "c", DTYPE_I32, EXTENTS(m, n));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < inner; k++) sum += get(a, at2(a, i, k)) * get(b, at2(b, k, j));
            want_exact(c, at2(c, i, j), sum);
        }
}

void make_batched_matmul(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t batch = shape->n[0], m = shape->n[1], n = shape->n[2], inner = shape->n[3];
    run_type(run, "T", t);
    matmul_tiles(run, shape);
    Array *a = run_input(run, "a", t, FILL_FACTOR, EXTENTS(batch, m, inner));
    Array *b = run_input(run, "b", t, FILL_FACTOR, EXTENTS(batch, inner, n));
    Array *c = run_output(run, "c", t, EXTENTS(batch, m, n));
    for (int64_t e = 0; e < batch; e++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                NumDot dot = run_dot(run, t);
                for (int64_t k = 0; k < inner; k++)
                    num_dot_add(&dot, num_at(a, at3(a, e, i, k)), num_at(b, at3(b, e, k, j)));
                want(c, at3(c, e, i, j), num_cast(t, num_dot(f32, &dot)));
            }
}

// x is column-major here: the kernel takes any strides.
void make_linear_relu(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t m = shape->n[0], n = shape->n[1], inner = shape->n[2];
    run_type(run, "T", t);
    matmul_tiles(run, shape);
    Array *x = run_input(run, "x", t, FILL_FACTOR, EXTENTS(m, inner));
    run_column_major(x);
    Array *weight = run_input(run, "weight", t, FILL_FACTOR, EXTENTS(n, inner));
    Array *bias = run_input(run, "bias", t, FILL_REAL, EXTENTS(n));
    Array *y = run_output(run, "y", t, EXTENTS(m, n));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            NumDot dot = run_dot(run, t);
            for (int64_t k = 0; k < inner; k++)
                num_dot_add(&dot, num_at(x, at2(x, i, k)), num_at(weight, at2(weight, j, k)));
            Num shifted = f32_add(num_dot(f32, &dot), num_at(bias, j));
            want(y, at2(y, i, j), num_cast(t, num_max(shifted, num_exact(0))));
        }
}

// a in the shape's type, b always f8e4m3: the formats mix in half of the runs.
static void scaled_products(Run *run, const Shape *shape, bool by_columns) {
    int64_t m = shape->n[0], n = shape->n[1], inner = shape->n[2];
    run_type(run, "A", shape->type);
    run_type(run, "B", DTYPE_F8E4M3);
    run_type(run, "C", DTYPE_BF16);
    matmul_tiles(run, shape);
    Array *a = run_input(run, by_columns ? "x" : "a", shape->type, FILL_FACTOR, EXTENTS(m, inner));
    Array *b = by_columns ? run_input(run, "w", DTYPE_F8E4M3, FILL_FACTOR, EXTENTS(n, inner))
                          : run_input(run, "b", DTYPE_F8E4M3, FILL_FACTOR, EXTENTS(inner, n));
    Array *rows = run_input(run, "row_scale", f32, FILL_POSITIVE, EXTENTS(m));
    Array *columns = run_input(run, "column_scale", f32, FILL_POSITIVE, EXTENTS(n));
    Array *c = run_output(run, by_columns ? "y" : "c", DTYPE_BF16, EXTENTS(m, n));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            NumDot dot = run_dot(run, shape->type);
            for (int64_t k = 0; k < inner; k++)
                num_dot_add(&dot, num_at(a, at2(a, i, k)),
                            num_at(b, by_columns ? at2(b, j, k) : at2(b, k, j)));
            Num scaled = f32_mul(num_dot(f32, &dot), num_at(rows, i));
            scaled = f32_mul(scaled, num_at(columns, j));
            want(c, at2(c, i, j), num_cast(DTYPE_BF16, scaled));
        }
}

void make_fp8_matmul(Run *run, const Shape *shape) { scaled_products(run, shape, false); }
void make_fp8_linear(Run *run, const Shape *shape) { scaled_products(run, shape, true); }

void make_int4_matvec(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    const int64_t group = 32;
    int64_t rows = shape->n[0], groups = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "BN", 4);
    Array *w = run_input(run, "w", DTYPE_I4, FILL_INT, EXTENTS(rows, groups * group));
    Array *scale = run_input(run, "scale", DTYPE_F16, FILL_POSITIVE, EXTENTS(rows, groups));
    Array *x = run_input(run, "x", t, FILL_FACTOR, EXTENTS(groups * group));
    Array *y = run_output(run, "y", t, EXTENTS(rows));
    for (int64_t r = 0; r < rows; r++) {
        NumSum all = {0};
        for (int64_t g = 0; g < groups; g++) {
            NumSum sum = {0};
            for (int64_t k = g * group; k < (g + 1) * group; k++)
                num_sum_add(&sum, f32_mul(num_at(w, at2(w, r, k)), num_at(x, k)));
            num_sum_add(&all, f32_mul(num_at(scale, at2(scale, r, g)), num_sum(f32, &sum)));
        }
        want(y, r, num_cast(t, num_sum(f32, &all)));
    }
}

// A block: f16 scale (low byte first), 32 signed bytes.
void make_q8_0_matvec(Run *run, const Shape *shape) {
    int64_t rows = shape->n[0], blocks = shape->n[1];
    tile(run, shape, "BN", 4);
    tile(run, shape, "BK", 2);
    Array *w = run_input(run, "w", DTYPE_U8, FILL_INT, EXTENTS(rows, blocks, 34));
    Array *x = run_input(run, "x", f32, FILL_FACTOR, EXTENTS(blocks, 32));
    Array *y = run_output(run, "y", f32, EXTENTS(rows));
    for (int64_t r = 0; r < rows; r++) {
        NumSum all = {0};
        for (int64_t b = 0; b < blocks; b++) {
            double scale = run_scalar(DTYPE_F16, (double)run_below(run, 1, 1000) / 1000);
            uint64_t bits = dtype_from_double(DTYPE_F16, scale, true);
            put(w, at3(w, r, b, 0), (double)(bits & 255));
            put(w, at3(w, r, b, 1), (double)(bits >> 8));
            NumSum sum = {0};
            for (int64_t k = 0; k < 32; k++) {
                double quant = get(w, at3(w, r, b, 2 + k));
                quant = quant > 127 ? quant - 256 : quant;
                num_sum_add(&sum, f32_mul(num_exact(quant), num_at(x, at2(x, b, k))));
            }
            num_sum_add(&all, f32_mul(num_exact(scale), num_sum(f32, &sum)));
        }
        want(y, r, num_sum(f32, &all));
    }
}

typedef struct Image {  // of the output, and the window over it
    int64_t height, width, rows, columns, stride, pad;
} Image;

static Num conv_pixel(const Run *run, const Array *x, const Array *w, const Image *image,
                      const int64_t at[4]) {
    NumDot dot = run_dot(run, x->type);
    for (int64_t r = 0; r < image->rows; r++)
        for (int64_t s = 0; s < image->columns; s++) {
            int64_t i = at[1] * image->stride - image->pad + r;
            int64_t j = at[2] * image->stride - image->pad + s;
            bool outside = i < 0 || i >= x->extent[1] || j < 0 || j >= x->extent[2];
            for (int64_t c = 0; c < x->extent[3]; c++) {
                int64_t tap = ((r * image->columns + s) * w->extent[2] + c) * w->extent[3] + at[3];
                if (outside && isnan(get(w, tap)))  // 0 times it
                    num_dot_add(&dot, num_exact(0), num_at(w, tap));
                if (outside) continue;
                num_dot_add(&dot, num_at(x, at4(x, at[0], i, j, c)), num_at(w, tap));
            }
        }
    return num_dot(f32, &dot);
}

// Extents: the side of the image, input channels, output channels. A side that is odd takes
// stride 2.
void make_conv2d(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t side = shape->n[0], height = side < 16 ? side : 5, channels = shape->n[1];
    int64_t filters = shape->n[2], stride = side % 2 ? 2 : 1, pad = 1;
    int64_t rows = side % 8 == 5 ? 0 : 3, columns = side % 8 == 2 ? 0 : 3;  // of the window
    Image image = {(height + 2 * pad - rows) / stride + 1,
                   (side + 2 * pad - columns) / stride + 1,
                   rows,
                   columns,
                   stride,
                   pad};
    run_type(run, "T", t);
    matmul_tiles(run, shape);
    Array *x = run_input(run, "x", t, FILL_FACTOR, EXTENTS(2, height, side, channels));
    Array *w = run_input(run, "w", t, FILL_FACTOR, EXTENTS(rows, columns, channels, filters));
    Array *y = run_output(run, "y", t, EXTENTS(2, image.height, image.width, filters));
    run_int(run, stride);
    run_int(run, pad);
    for (int64_t i = 0; i < y->count; i++) {
        int64_t pixel = i / filters, row = pixel / image.width;
        int64_t at[4] = {row / image.height, row % image.height, pixel % image.width, i % filters};
        want(y, i, num_cast(t, conv_pixel(run, x, w, &image, at)));
    }
}
