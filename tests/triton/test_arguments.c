// Arguments of kernels in Python files: views for pointers, types from values, None, and the grid.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/host.h"

enum { N = 24 };

#define HEAD "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"

static const char fill[] = HEAD
    "def fill(x_ptr, bias_ptr, n, value, B: tl.constexpr = 8):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    v = tl.full([B], 1, x_ptr.dtype.element_ty) * value\n"
    "    if bias_ptr is not None:\n"
    "        v += tl.load(bias_ptr)\n"
    "    tl.store(x_ptr + at, v, mask=at < n)\n";

static tilec_kernel *make(Host *h, const char *source, const tilec_spec *spec) {
    tilec_kernel *k = NULL;
    host_expect(h, TILEC_OK, "",
                tilec_kernel_from_source(h->context, h->device, "k.py", source, strlen(source),
                                         NULL, spec, &k));
    return k;
}

#define FILL_GRID TILEC_GRID("triton.cdiv(n, B)")

// The host's view says what the pointer reaches; nothing else of its shape matters.
static void test_views(Host *h) {
    float x[N] = {0}, b = 0.5f;
    tilec_kernel *k = make(h, fill, TILEC_SPEC(FILL_GRID));
    tilec_view v = tilec_view2(TILEC_F32, x, 2, N / 2),
               bias = tilec_view_of(TILEC_F32, &b, 0, NULL);
    bias.rank = 0;
    for (int i = 1; i <= 4; i++) {  // the third time from a memo
        host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(v, bias, N - 1, 3.0)));
        host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
        for (int j = 0; j < N; j++) assert_true(x[j] == (j < N - 1 ? 3.5f : 0));
        memset(x, 0, sizeof x);
    }
    v.stride[0] = 1;  // transposed, with gaps
    v.stride[1] = 2;
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(v, bias, 9, 3.0)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_true(x[8] == 3.5f && x[9] == 0);
    tilec_kernel_destroy(k);
}

static void test_bad_views(Host *h) {
    float x[N] = {0}, b = 0;
    tilec_kernel *k = make(h, fill, TILEC_SPEC(FILL_GRID, TILEC_TYPE("bias_ptr", TILEC_F32)));
    tilec_view v = tilec_view1(TILEC_F32, x, N);
#define REFUSED(text, ...) \
    host_expect(h, TILEC_LAUNCH_REFUSED, text, tilec_launch(k, NULL, TILEC_ARGS(__VA_ARGS__)))
    tilec_view other = tilec_view1(TILEC_F16, &b, 1);
    REFUSED("argument 'bias_ptr' is of fp16, but was given fp32", v, other, N, 1.0);
    v.flags = TILEC_VIEW_READ_ONLY;
    REFUSED("argument 'x_ptr' is written, and the view is read-only", v, (void *)&b, N, 1.0);
    v.flags = 0;
    v.rank = TILEC_MAX_RANK + 1;
    REFUSED("argument 'x_ptr' is a view of rank 6; ranks are 0 to 5", v, (void *)&b, N, 1.0);
    v.rank = 1;
    v.extent[0] = -1;
    REFUSED("extent 0 of argument 'x_ptr' is negative (-1)", v, (void *)&b, N, 1.0);
    v.extent[0] = N;
    v.dtype = (tilec_dtype)99;
    REFUSED("argument 'x_ptr' expects elements of some type, found no type (99)", v, (void *)&b, N,
            1.0);
    REFUSED(
        "the type of argument 'x_ptr' is not known from a pointer: pass a view, or give it with "
        "TILEC_TYPE(\"x_ptr\", …)",
        (void *)x, (void *)&b, N, 1.0);
    v.dtype = TILEC_F32;
    host_expect(h, TILEC_INVALID_SOURCE, "'n' is a pointer here: memory is passed for it",
                tilec_launch(k, NULL, TILEC_ARGS(v, (void *)&b, v, 1.0)));
    REFUSED("fill takes 4 arguments, found 3", v, (void *)&b, N);
    tilec_kernel_destroy(k);
}

// A view of a buffer is checked against it, and its own part of it is what the pointer reaches.
static void test_buffer_views(Host *h) {
    tilec_buffer buffer;
    float x[N];
    host_expect(h, TILEC_OK, "", tilec_buffer_create(h->device, sizeof x, &buffer));
    tilec_kernel *k = make(h, fill, TILEC_SPEC(FILL_GRID, TILEC_VALUE("bias_ptr", "None")));
    tilec_view v = tilec_buffer_view1(TILEC_F32, buffer, N / 2);
    v.offset = N / 2;
    for (int i = 0; i < 3; i++) {
        memset(x, 0, sizeof x);
        host_expect(h, TILEC_OK, "", tilec_buffer_write(h->device, NULL, buffer, 0, x, sizeof x));
        host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(v, N / 2, 2)));
        host_expect(h, TILEC_OK, "", tilec_buffer_read(h->device, NULL, buffer, 0, x, sizeof x));
        for (int j = 0; j < N; j++) assert_true(x[j] == (j < N / 2 ? 0 : 2));
    }
    v.offset++;
    host_expect(h, TILEC_LAUNCH_REFUSED,
                "argument 'x_ptr' reaches bytes 52 to 100 of a buffer of 96",
                tilec_launch(k, NULL, TILEC_ARGS(v, N / 2, 2)));
    tilec_kernel_destroy(k);
}

// Memory that the view does not cover is out of bounds, although it exists.
static void test_reach(Host *h) {
    float x[N] = {0};
    tilec_kernel *k =
        make(h, fill,
             TILEC_SPEC(FILL_GRID, TILEC_VALUE("bias_ptr", "None"), TILEC_OPTION("sanitize", 1)));
    tilec_view v = tilec_view1(TILEC_F32, x, N - 1);
    for (int i = 0; i < 3; i++) {
        host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(v, N - 1, 2.0)));
        host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
        tilec_status s = tilec_launch(k, NULL, TILEC_ARGS(v, N, 2.0));
        if (!s) s = tilec_device_synchronize(h->device);
        host_expect(h, TILEC_KERNEL_FAILED, "writes element 23 of 'x_ptr', a buffer of 23 elements",
                    s);
    }
    tilec_kernel_destroy(k);
}

// ---- scalars

static const char sizes[] = HEAD
    "def sizes(out_ptr, x):\n"
    "    tl.store(out_ptr, x.dtype.primitive_bitwidth)\n"
    "    tl.store(out_ptr + 1, x.dtype.is_floating())\n"
    "    tl.store(out_ptr + 2, x.dtype.is_int_unsigned())\n";

static void expect_type(Host *h, tilec_kernel *k, tilec_arg x, int bits, int is_float,
                        int is_unsigned) {
    int32_t out[3] = {-1, -1, -1};
    host_expect(h, TILEC_OK, "",
                tilec_launch_grid(k, NULL, -1, (const int64_t[3]){1, 1, 1},
                                  TILEC_ARGS(tilec_view1(TILEC_I32, out, 3), x)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_int_equal(out[0], bits);
    assert_int_equal(out[1], is_float);
    assert_int_equal(out[2], is_unsigned);
}

static void test_scalars(Host *h) {
    tilec_kernel *k = make(h, sizes, TILEC_SPEC(TILEC_TYPE("out_ptr", TILEC_I32)));
    for (int i = 0; i < 3; i++) {
        expect_type(h, k, tilec_arg_int(7), 32, 0, 0);
        expect_type(h, k, tilec_arg_int(INT32_MIN), 32, 0, 0);
        expect_type(h, k, tilec_arg_uint(INT32_MAX), 32, 0, 0);
        expect_type(h, k, tilec_arg_int(INT64_C(1) << 31), 64, 0, 0);
        expect_type(h, k, tilec_arg_uint(UINT64_C(1) << 63), 64, 0, 1);
        expect_type(h, k, tilec_arg_double(7), 32, 1, 0);
    }
    tilec_kernel_destroy(k);
    k = make(h, sizes, TILEC_SPEC(TILEC_TYPE("out_ptr", TILEC_I32), TILEC_TYPE("x", TILEC_F16)));
    expect_type(h, k, tilec_arg_double(7), 16, 1, 0);
    expect_type(h, k, tilec_arg_int(7), 16, 1, 0);
    tilec_kernel_destroy(k);
}

// The same number as an integer and as a float, also when the launch is remembered.
static void test_same_number(Host *h) {
    static const char is_float[] = HEAD
        "def k(out_ptr, x):\n"
        "    tl.store(out_ptr, x.dtype.is_floating())\n";
    int32_t out = -1;
    tilec_kernel *k = make(h, is_float, TILEC_SPEC(TILEC_GRID("1")));
    tilec_view v = tilec_view1(TILEC_I32, &out, 1);
    for (int i = 0; i < 12; i++) {
        bool real = i / 3 % 2;
        host_expect(h, TILEC_OK, "",
                    real ? tilec_launch(k, NULL, TILEC_ARGS(v, 0.0))
                         : tilec_launch(k, NULL, TILEC_ARGS(v, 0)));
        host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
        assert_int_equal(out, real);
    }
    tilec_kernel_destroy(k);
}

// ---- None

static void test_none(Host *h) {
    float x[N] = {0}, b = 0.5f;
    tilec_kernel *k = make(h, fill, TILEC_SPEC(FILL_GRID));
    tilec_view v = tilec_view1(TILEC_F32, x, N), bias = tilec_view1(TILEC_F32, &b, 1);
    for (int i = 0; i < 6; i++) {
        tilec_arg last = i % 2 ? tilec_arg_none() : tilec_arg_view(bias);
        host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(v, last, N, 3.0)));
        host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
        assert_true(x[N - 1] == (i % 2 ? 3 : 3.5f));
    }
    host_expect(h, TILEC_LAUNCH_REFUSED, "fill takes 4 arguments, found 3",
                tilec_launch(k, NULL, TILEC_ARGS(v, tilec_arg_none(), N)));
    tilec_kernel_destroy(k);
    static const char tile[] = "kernel t(*f32 p) grid(1) { store(p, 1.0); }\n";
    k = host_kernel(h, tile);
    host_expect(h, TILEC_LAUNCH_REFUSED,
                "t: argument 'p' is None, which only kernels of Python files take",
                tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_none())));
    tilec_kernel_destroy(k);
}

// ---- tensor descriptors: views with a block

static const char blocks[] = HEAD
    "def blocks(x, y):\n"
    "    r = tl.program_id(0) * 4\n"
    "    if isinstance(x, tl.tensor_descriptor):\n"
    "        y.store([r + 1, 0], x.load([r, 2]) * 2 + x.shape[1])\n";

enum { ROWS = 6, X_COLUMNS = 7, Y_COLUMNS = 5, PITCH = 9 };

// Elements outside are 0, and are not written. `pitch`: of both arrays' rows; 0: they are dense.
static void expect_blocks(Host *h, tilec_kernel *k, int pitch) {
    float x[ROWS * PITCH], y[ROWS * PITCH];
    int x_row = pitch ? pitch : X_COLUMNS, y_row = pitch ? pitch : Y_COLUMNS;
    for (int i = 0; i < ROWS * PITCH; i++) x[i] = (float)i, y[i] = -1;
    tilec_view from = tilec_view2(TILEC_F32, x, ROWS, X_COLUMNS);
    tilec_view to = tilec_view2(TILEC_F32, y, ROWS, Y_COLUMNS);
    from.stride[0] = x_row, to.stride[0] = y_row;
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(from, to)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < y_row; j++) {
            float read = i && j + 2 < X_COLUMNS ? x[(i - 1) * x_row + j + 2] : 0;
            bool written = i && j < Y_COLUMNS;
            assert_true(y[i * y_row + j] == (written ? 2 * read + (float)X_COLUMNS : -1));
        }
}

#define BLOCKS(type, grid) \
    TILEC_SPEC(TILEC_VALUE("x", type), TILEC_VALUE("y", type), TILEC_GRID(grid))
#define BLOCK_GRID "triton.cdiv(x.shape[0], 4)"

static void test_descriptors(Host *h) {
    tilec_kernel *k = make(h, blocks, BLOCKS("tensordesc<fp32[4, 8]>", BLOCK_GRID));
    for (int i = 0; i < 3; i++) expect_blocks(h, k, 0);
    static float x[ROWS * PITCH];
    tilec_view v = tilec_view2(TILEC_F32, x, ROWS, PITCH), wrong = v;
#define NOT_TAKEN(text, ...) \
    host_expect(h, TILEC_LAUNCH_REFUSED, text, tilec_launch(k, NULL, TILEC_ARGS(__VA_ARGS__)))
    wrong.stride[0] = PITCH + 1;
    NOT_TAKEN("argument 'x' must be contiguous in row-major order: stride 0 is 10, expected 9",
              wrong, v);
    NOT_TAKEN("argument 'x' expects elements of f32, found f16",
              tilec_view2(TILEC_F16, x, ROWS, PITCH), v);
    NOT_TAKEN("argument 'x' expects rank 2, found rank 1", tilec_view1(TILEC_F32, x, ROWS), v);
    NOT_TAKEN("argument 'y' expects a view of f32, found a pointer", v, (void *)x);
    wrong = v;
    wrong.flags = TILEC_VIEW_READ_ONLY;
    NOT_TAKEN("argument 'y' is written, and the view is read-only", v, wrong);
    tilec_kernel_destroy(k);
    k = make(h, blocks, BLOCKS("tensordesc< strided f32[2 * 2, 8]>", BLOCK_GRID));
    for (int i = 0; i < 3; i++) expect_blocks(h, k, i % 2 ? 0 : PITCH);
    tilec_kernel_destroy(k);
}

static void test_wrong_descriptors(Host *h) {
    tilec_kernel *k = NULL;
#define NOT_MADE(type, text)                                                                    \
    host_expect(h, TILEC_INVALID_SOURCE, text,                                                  \
                tilec_kernel_from_source(h->context, h->device, "k.py", blocks, strlen(blocks), \
                                         NULL, BLOCKS(type, "1"), &k))
    static const char expected[] = "expected a tensor descriptor such as tensordesc<fp16[64, 64]>";
    NOT_MADE("tensordesc<fp17[4, 8]>", expected);
    NOT_MADE("tensordesc<fp32>", expected);
    NOT_MADE("tensordesc<fp32[]>", expected);
    NOT_MADE("tensordesc<fp32[4, 8]", expected);
    NOT_MADE("tensordesc<fp32[4, 6]>", "an extent must be a power of two, found 6");
    NOT_MADE("tensordesc<fp32[4, what]>", "what");
    NOT_MADE("tensordesc<fp32[1, 1, 1, 1, 1, 8]>", "a tensor descriptor has at most 5 dimensions");
    NOT_MADE("tensordesc<i4[4, 8]>", "'x' is of i4, which is a storage type");
    NOT_MADE("tensordesc<fp32[4]>", "expected 1 values, one for each dimension, found 2");
    static const char strides[] =
        HEAD "def k(x, y):\n    y.store([0], x.load([0]) + x.strides[0])\n";
    host_expect(h, TILEC_UNSUPPORTED,
                "the strides of a descriptor that the host gives are not known here",
                tilec_kernel_from_source(h->context, h->device, "k.py", strides, strlen(strides),
                                         NULL, BLOCKS("tensordesc<strided i64[4]>", "1"), &k));
    assert_null(k);
}

// Rows that a tensor names, atomics, and helpers that get the descriptor.
static void test_descriptor_rows(Host *h) {
    static const char rows[] = HEAD
        "def add(sums, v):\n    sums.atomic_add([2], v)\n\n\n"
        "@triton.jit\n"
        "def rows(source, out, sums):\n"
        "    i = tl.arange(0, 4)\n"
        "    v = source.gather(3 - i, 6)\n"
        "    out.scatter(v * out.strides[0], i * 2 - 2, 1)\n"
        "    add(sums, tl.arange(0, 8) + 1)\n";
    int32_t source[32], out[16], sums[6] = {0};
    for (int i = 0; i < 32; i++) source[i] = i;
    for (int i = 0; i < 16; i++) out[i] = -1;
    tilec_kernel *k = make(h, rows,
                           TILEC_SPEC(TILEC_VALUE("source", "tensordesc<i32[1, 4]>"),
                                      TILEC_VALUE("out", "tensordesc<i32[1, 4]>"),
                                      TILEC_VALUE("sums", "tensordesc<i32[8]>"), TILEC_GRID("1")));
    host_expect(h, TILEC_OK, "",
                tilec_launch(k, NULL,
                             TILEC_ARGS(tilec_view2(TILEC_I32, source, 4, 8),
                                        tilec_view2(TILEC_I32, out, 4, 4),
                                        tilec_view1(TILEC_I32, sums, 6))));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    static const int32_t expected[16] = {-1, 88, 92, 0, -1, -1, -1, -1,
                                         -1, 56, 60, 0, -1, -1, -1, -1};
    assert_memory_equal(out, expected, sizeof out);
    for (int i = 0; i < 6; i++) assert_int_equal(sums[i], i < 2 ? 0 : i - 1);
    tilec_kernel_destroy(k);
}

// ---- types that only a launch knows

static void test_late_types(Host *h) {
    static const char picky[] = HEAD
        "def k(x_ptr):\n"
        "    tl.static_assert(x_ptr.dtype.element_ty == tl.uint16, 'only uint16')\n"
        "    tl.store(x_ptr, 7)\n";
    uint16_t x = 0;
    int16_t y = 0;
    tilec_kernel *k = make(h, picky, TILEC_SPEC(TILEC_GRID("1")));
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_U16, &x, 1))));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_int_equal(x, 7);
    host_expect(h, TILEC_INVALID_SOURCE, "only uint16",
                tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_I16, &y, 1))));
    tilec_kernel_destroy(k);
    static const char wrong[] = HEAD "def k(x_ptr):\n    tl.store(x_ptr, nothing)\n";
    host_expect(h, TILEC_INVALID_SOURCE, "unknown name 'nothing'",
                tilec_kernel_from_source(h->context, h->device, "k.py", wrong, strlen(wrong), NULL,
                                         NULL, &k));
}

// ---- the grid

static void test_no_grid(Host *h) {
    float x[N] = {0};
    tilec_kernel *k = make(h, fill, TILEC_SPEC(TILEC_VALUE("bias_ptr", "None")));
    tilec_view v = tilec_view1(TILEC_F32, x, N);
    host_expect(h, TILEC_LAUNCH_REFUSED,
                "fill has no grid: give it with TILEC_GRID, or call tilec_launch_grid",
                tilec_launch(k, NULL, TILEC_ARGS(v, N, 1.0)));
    host_expect(
        h, TILEC_OK, "",
        tilec_kernel_prepare_grid(k, NULL, -1, (const int64_t[3]){2, 1, 1}, TILEC_ARGS(v, N, 1.0)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_true(x[0] == 0);
    host_expect(h, TILEC_OK, "",
                tilec_launch_grid(k, NULL, -1, (const int64_t[3]){2, 1, 1}, TILEC_ARGS(v, N, 1.0)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_true(x[15] == 1 && x[16] == 0);
    host_expect(h, TILEC_INVALID_ARGUMENT, "the grid is NULL",
                tilec_kernel_prepare_grid(k, NULL, -1, NULL, TILEC_ARGS(v, N, 1.0)));
    host_expect(h, TILEC_LAUNCH_REFUSED, "there is no variant -2",
                tilec_launch_grid(k, NULL, -2, (const int64_t[3]){2, 1, 1}, TILEC_ARGS(v, N, 1.0)));
    tilec_kernel_destroy(k);
}

// Grids that change from launch to launch, some of them empty, when the rest is remembered.
static void test_host_grids(Host *h) {
    float x[N];
    tilec_kernel *k = make(h, fill, TILEC_SPEC(TILEC_VALUE("bias_ptr", "None"), FILL_GRID));
    tilec_view v = tilec_view1(TILEC_F32, x, N);
    for (int i = 0; i < 24; i++) {
        memset(x, 0, sizeof x);
        int64_t programs = i % 4;
        bool own = i % 12 == 11;
        host_expect(h, TILEC_OK, "",
                    own ? tilec_launch(k, NULL, TILEC_ARGS(v, N, 1.0))
                        : tilec_launch_grid(k, NULL, -1, (const int64_t[3]){programs, 1, 1},
                                            TILEC_ARGS(v, N, 1.0)));
        host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
        for (int j = 0; j < N; j++) assert_true(x[j] == (own || j < programs * 8));
    }
    host_expect(h, TILEC_LAUNCH_REFUSED, "dimension 1 has more than 2^31 - 1 programs",
                tilec_launch_grid(k, NULL, -1, (const int64_t[3]){1, INT64_C(1) << 31, 1},
                                  TILEC_ARGS(v, N, 1.0)));
    host_expect(
        h, TILEC_LAUNCH_REFUSED, "dimension 2 is negative (-1)",
        tilec_launch_grid(k, NULL, -1, (const int64_t[3]){1, 1, -1}, TILEC_ARGS(v, N, 1.0)));
    tilec_kernel_destroy(k);
}

int main(void) {
    static const HostTest tests[] = {
        {"test_views", test_views},
        {"test_bad_views", test_bad_views},
        {"test_buffer_views", test_buffer_views},
        {"test_reach", test_reach},
        {"test_scalars", test_scalars},
        {"test_same_number", test_same_number},
        {"test_late_types", test_late_types},
        {"test_none", test_none},
        {"test_descriptors", test_descriptors},
        {"test_wrong_descriptors", test_wrong_descriptors},
        {"test_descriptor_rows", test_descriptor_rows},
        {"test_no_grid", test_no_grid},
        {"test_host_grids", test_host_grids},
    };
    return host_run(tests, sizeof tests / sizeof *tests);
}
