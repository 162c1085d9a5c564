// Every mistake a caller can make with a launch, on every device: a status and a message that names
// the argument, nothing run, and the next call works.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/host.h"

enum { M = 3, N = 6, ARGS = 5 };

static const char source[] =
    "kernel k(f32 x[M, N], strided f32 y[M, 4], *i32 p, u8 s, f16 h)\n"
    "    requires N % 2 == 0 grid(M) {\n"
    "    let i = program(0);\n"
    "    for j in 0 .. 4 y[i, j] = x[i, j] + f32(load(p)) + f32(s) + f32(h);\n}\n";

typedef struct Launch {
    Host *host;
    tilec_kernel *kernel;
    float x[M * N + 2], y[M * 4 + 2];
    int32_t p;
    tilec_buffer buffer;  // as large as x
    tilec_arg args[ARGS + 1];
} Launch;

// Arguments that are in order; what a test spoils, it spoils from here.
static void reset(Launch *l) {
    memset(l->args, 0, sizeof l->args);
    l->args[0] = tilec_arg_view(tilec_view2(TILEC_F32, l->x, M, N));
    l->args[1] = tilec_arg_view(tilec_view2(TILEC_F32, l->y, M, 4));
    l->args[2] = tilec_arg_pointer(&l->p);
    l->args[3] = tilec_arg_int(200);
    l->args[4] = tilec_arg_double(0.5);
}

static void works(Launch *l) {
    reset(l);
    memset(l->y, 0, sizeof l->y);
    host_expect(l->host, TILEC_OK, "", tilec_launch(l->kernel, NULL, l->args, ARGS));
    host_expect(l->host, TILEC_OK, "", tilec_device_synchronize(l->host->device));
    for (int i = 0; i < M * 4; i++)
        assert_true(l->y[i] == l->x[i / 4 * N + i % 4] + 7 + 200 + 0.5f);
    assert_true(l->y[M * 4] == 0);
}

static void refused_as(Launch *l, tilec_status status, const char *text, size_t count) {
    memset(l->y, 0, sizeof l->y);
    host_expect(l->host, status, text, tilec_launch(l->kernel, NULL, l->args, count));
    host_expect(l->host, TILEC_OK, "", tilec_device_synchronize(l->host->device));
    for (size_t i = 0; i < sizeof l->y / sizeof *l->y; i++) assert_true(l->y[i] == 0);
    works(l);
}

static void refused(Launch *l, const char *text) {
    refused_as(l, TILEC_LAUNCH_REFUSED, text, ARGS);
}

static Launch begin(Host *h) {
    Launch l = {.host = h, .kernel = host_kernel(h, source), .p = 7};
    for (int i = 0; i < M * N; i++) l.x[i] = (float)i;
    assert_int_equal(tilec_buffer_create(h->device, sizeof(float) * M * N, &l.buffer), TILEC_OK);
    return l;
}

static void test_counts(Host *h) {
    Launch l = begin(h);
    works(&l);
    refused_as(&l, TILEC_LAUNCH_REFUSED, "k takes 5 arguments, found 4", ARGS - 1);
    refused_as(&l, TILEC_LAUNCH_REFUSED, "k takes 5 arguments, found 6", ARGS + 1);
    refused_as(&l, TILEC_LAUNCH_REFUSED, "k takes 5 arguments, found 0", 0);
    host_expect(h, TILEC_LAUNCH_REFUSED, "k takes 5 arguments",
                tilec_launch(l.kernel, NULL, l.args, SIZE_MAX));
    host_expect(h, TILEC_INVALID_ARGUMENT, "the arguments are NULL",
                tilec_launch(l.kernel, NULL, NULL, ARGS));
    assert_int_equal(tilec_launch(NULL, NULL, l.args, ARGS), TILEC_INVALID_ARGUMENT);
    works(&l);
}

// Before the types are known the arguments are looked at by the source; the words are the same.
static void test_open_types(Host *h) {
    static const char open[] = "kernel g(type T, T x[N], T y[N]) grid(1) { y[0] = x[0]; }\n";
    tilec_kernel *g = host_kernel(h, open);
    host_expect(h, TILEC_LAUNCH_REFUSED, "g takes 2 arguments, found 0",
                tilec_launch(g, NULL, TILEC_NO_ARGS));
    host_expect(h, TILEC_LAUNCH_REFUSED, "g takes 2 arguments, found 1",
                tilec_launch(g, NULL, TILEC_ARGS(1)));
    host_expect(h, TILEC_LAUNCH_REFUSED, "g: argument 'x' expects a view, found an integer",
                tilec_launch(g, NULL, TILEC_ARGS(1, 2)));
    tilec_kernel_destroy(g);
}

static void test_kinds(Host *h) {
    Launch l = begin(h);
    reset(&l), l.args[0] = tilec_arg_int(3);
    refused(&l, "k: argument 'x' expects a view of f32, found an integer");
    l.args[0] = tilec_arg_pointer(l.x);
    refused(&l, "k: argument 'x' expects a view of f32, found a pointer");
    l.args[2] = l.args[0];
    refused(&l, "k: argument 'p' expects elements of i32, found f32");
    l.args[3] = tilec_arg_double(3);
    refused(&l, "k: argument 's' expects a number of type u8, found a floating-point number");
    l.args[4] = tilec_arg_buffer(l.buffer, 0);
    refused(&l, "k: argument 'h' expects a number of type f16, found a pointer");
    l.args[1].kind = (tilec_arg_kind)77;
    refused(&l, "k: argument 'y' expects a view of f32, found an unknown kind");
    l.args[3] = tilec_arg_int(256);
    refused(&l, "k: argument 's' is u8; 256 does not fit");
    l.args[3] = tilec_arg_int(-1);
    refused(&l, "k: argument 's' is u8; -1 does not fit");
    l.args[3] = tilec_arg_uint(UINT64_MAX);
    refused(&l, "k: argument 's' is u8; 18446744073709551615 does not fit");
}

static void test_views(Host *h) {
    Launch l = begin(h);
    reset(&l), l.args[0].view.dtype = TILEC_F64;
    refused(&l, "k: argument 'x' expects elements of f32, found f64");
    l.args[0].view.dtype = (tilec_dtype)99;
    refused(&l, "k: argument 'x' expects elements of f32, found no type");
    l.args[0].view.rank = 1;
    refused(&l, "k: argument 'x' expects rank 2, found rank 1");
    l.args[0].view.rank = INT32_MAX;
    refused(&l, "k: argument 'x' expects rank 2, found rank 2147483647");
    l.args[0].view.stride[0] = N + 1;
    refused(&l, "argument 'x' must be contiguous in row-major order: stride 0 is 7, expected 6");
    l.args[1].view.stride[0] = 0;
    refused(&l, "argument 'y' is written, so its stride 0 must not be 0");
    l.args[1].view.flags = TILEC_VIEW_READ_ONLY;
    refused(&l, "argument 'y' is written, and the view is read-only");
    l.args[0].view.buffer = l.buffer;
    refused(&l, "k: argument 'x' has both a buffer and a pointer; leave one out");
    l.args[2].buffer = l.buffer;
    refused(&l, "k: argument 'p' has both a buffer and a pointer; leave one out");
    l.args[0].view.flags = 0x101;
    refused_as(&l, TILEC_INVALID_ARGUMENT, "k: the view of argument 'x' has unknown flags (0x101)",
               ARGS);
    l.args[1].view.stride[0] = INT64_MAX / 2;
    refused(&l, "argument 'y' reaches over more than 2^63 bytes");
}

static void test_extents(Host *h) {
    Launch l = begin(h);
    reset(&l), l.args[0].view.extent[1] = -2;
    refused(&l, "extent 1 of argument 'x' is negative (-2)");
    l.args[0] = tilec_arg_view(tilec_view2(TILEC_F32, l.x, M, 5));
    refused(&l, "k requires N % 2 == 0, which does not hold for these arguments (N is 5)");
    l.args[1].view.extent[1] = 3;
    refused(&l, "extent 1 of argument 'y' must be 4, found 3");
    l.args[1].view.extent[0] = 2;
    refused(&l, "extent M is 3 in argument 'x' and 2 in 'y'");
    l.args[0] = tilec_arg_view(tilec_view2(TILEC_F32, l.x, INT64_MAX, 2));
    refused(&l, "argument 'x'");
    l.args[0] = tilec_arg_view(tilec_view2(TILEC_F32, l.x, (INT64_C(1) << 56) + 1, 2));
    refused(&l, "extent 0 of argument 'x' is over 2^56");
    l.args[0] = tilec_arg_view(tilec_view_of(TILEC_F32, l.x, 9, (int64_t[9]){1}));
    refused(&l, "k: argument 'x' expects rank 2, found rank 9");
    l.args[0] = tilec_arg_view(tilec_view_of(TILEC_F32, l.x, 2, NULL));
    refused(&l, "k: argument 'x' has no extents (tilec_view_of was given NULL for them");
}

static void test_memory(Host *h) {
    Launch l = begin(h);
    reset(&l), l.args[0].view.data = NULL;
    refused(&l, "k: argument 'x' has no memory (a NULL pointer and no buffer)");
    l.args[0].view.data = (char *)l.x + 1;
    refused(&l, "k: argument 'x' is not aligned to the 4 bytes of f32");
    l.args[2] = tilec_arg_pointer((char *)&l.p + 2);
    refused(&l, "k: argument 'p' is not aligned to the 4 bytes of i32");
    l.args[0] = tilec_arg_view(tilec_buffer_view2(TILEC_F32, l.buffer, M, N + 2));
    refused(&l, "k: argument 'x' reaches bytes 0 to 96 of a buffer of 72");
    l.args[0] = tilec_arg_view(tilec_buffer_view2(TILEC_F32, l.buffer, M, N));
    l.args[0].view.offset = 1;
    refused(&l, "k: argument 'x' reaches bytes 4 to 76 of a buffer of 72");
    l.args[0] = tilec_arg_view(tilec_buffer_view2(TILEC_F32, l.buffer, M, N));
    l.args[0].view.offset = -1;
    refused(&l, "k: argument 'x' reaches bytes -4 to 68 of a buffer of 72");
    l.args[0].view.buffer = l.buffer, l.args[0].view.offset = INT64_MIN;
    refused(&l, "k: argument 'x' reaches");
    l.args[2] = tilec_arg_buffer(l.buffer, 73);
    refused(&l, "k: argument 'p' begins at byte 73 of a buffer of 72");
    l.args[2] = tilec_arg_buffer((tilec_buffer){0x1234567800000009}, 0);
    refused(&l, "k: argument 'p' names a buffer that does not exist (any more)");
}

// The message gives the values that the condition names, and no others.
static void test_requires(Host *h) {
    tilec_kernel *k = host_kernel(h,
                                  "kernel k(f32 x[N, NN], i32 n, u64 big, f32 f, i32 other)\n"
                                  "    requires n + 2 <= N * NN, big < 10, f > 0.0, other == 0\n"
                                  "    grid(1) { }\n");
    float x[6];
    tilec_view v = tilec_view2(TILEC_F32, x, 2, 3);
    static const char hold[] = ", which does not hold for these arguments";
    char text[256];
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(v, 4, 9, 1.0, 0)));
    snprintf(text, sizeof text, "k requires n + 2 <= N * NN%s (N is 2, NN is 3, n is 5)", hold);
    host_expect(h, TILEC_LAUNCH_REFUSED, text, tilec_launch(k, NULL, TILEC_ARGS(v, 5, 9, 1.0, 0)));
    snprintf(text, sizeof text, "k requires big < 10%s (big is 18446744073709551615)", hold);
    host_expect(h, TILEC_LAUNCH_REFUSED, text,
                tilec_launch(k, NULL, TILEC_ARGS(v, 4, UINT64_MAX, 1.0, 0)));
    snprintf(text, sizeof text, "k requires other == 0%s (other is -3)", hold);
    host_expect(h, TILEC_LAUNCH_REFUSED, text, tilec_launch(k, NULL, TILEC_ARGS(v, 4, 9, 1.0, -3)));
    host_expect(h, TILEC_LAUNCH_REFUSED, "k requires f > 0.0, which does not hold for these",
                tilec_launch(k, NULL, TILEC_ARGS(v, 4, 9, -1.0, 0)));
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(v, 4, 9, 1.0, 0)));
}

// A NULL pointer may be one that the kernel does not follow; where every program follows it, it is
// a mistake.
static void test_null_pointers(Host *h) {
    tilec_kernel *k = host_kernel(h,
                                  "kernel maybe(*i32 p, *i32 q, i32 n) grid(n) {\n"
                                  "    var v = iota(4) * 0 + 1;\n"
                                  "    if bitcast(u64, p) != 0 v = load(p + iota(4));\n"
                                  "    store(q + iota(4), v);\n"
                                  "}\n");
    int32_t p[4] = {5, 6, 7, 8}, q[4] = {0}, *none = NULL;
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(none, q, 1)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_true(q[0] == 1 && q[3] == 1);
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(p, q, 1)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_memory_equal(p, q, sizeof p);
    host_expect(h, TILEC_LAUNCH_REFUSED,
                "maybe: argument 'q' is a NULL pointer, and every program writes through it",
                tilec_launch(k, NULL, TILEC_ARGS(p, none, 1)));
    // No program, no mistake.
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(none, none, 0)));
    k = host_kernel(h,
                    "kernel masked(*i32 p, *i32 q, i32 n) grid(1) {\n"
                    "    let i = iota(4);\n"
                    "    store(q + i, load(p + i, i < n) + load(q + i));\n"
                    "    for j in 0 .. n store(p + j, 0);\n"
                    "}\n");
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(none, q, 0)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_memory_equal(p, q, sizeof p);
    k = host_kernel(h, "kernel add(*i32 p) grid(1) { atomic_add(p, 1); }\n");
    host_expect(h, TILEC_LAUNCH_REFUSED, "add: argument 'p' is a NULL pointer",
                tilec_launch(k, NULL, TILEC_ARGS(none)));
    k = host_kernel(h, "kernel get(*i32 p, i32 y[1]) grid(1) { y[0] = load(p); }\n");
    host_expect(h, TILEC_LAUNCH_REFUSED,
                "get: argument 'p' is a NULL pointer, and every program reads through it",
                tilec_launch(k, NULL, TILEC_ARGS(none, tilec_view1(TILEC_I32, q, 1))));
}

// Views without elements need no memory.
static void test_null_views(Host *h) {
    tilec_kernel *k = host_kernel(h,
                                  "kernel copy(strided f32 x[N], f32 y[N]) grid(2) {\n"
                                  "    y[0 +: 4] = x[0 +: 4];\n"
                                  "}\n");
    float y[4] = {0};
    tilec_view x = tilec_view1(TILEC_F32, NULL, 0), to = tilec_view1(TILEC_F32, NULL, 0);
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(x, to)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    to = tilec_view1(TILEC_F32, y, 4), x = tilec_view1(TILEC_F32, NULL, 4);
    x.offset = 100;  // does not make memory of it
    host_expect(h, TILEC_LAUNCH_REFUSED, "copy: argument 'x' has no memory",
                tilec_launch(k, NULL, TILEC_ARGS(x, to)));
    host_expect(h, TILEC_LAUNCH_REFUSED, "copy: argument 'y' has no memory",
                tilec_launch(k, NULL, TILEC_ARGS(to, tilec_view1(TILEC_F32, NULL, 4))));
}

static void test_dead_buffers(Host *h) {
    Launch l = begin(h);
    tilec_buffer dead, foreign;
    assert_int_equal(tilec_buffer_create(h->device, 72, &dead), TILEC_OK);
    assert_int_equal(tilec_buffer_destroy(h->device, dead), TILEC_OK);
    host_expect(h, TILEC_INVALID_ARGUMENT, "does not exist (any more)",
                tilec_buffer_destroy(h->device, dead));
    reset(&l), l.args[0] = tilec_arg_view(tilec_buffer_view2(TILEC_F32, dead, M, N));
    refused(&l, "k: argument 'x' names a buffer that does not exist (any more)");
    l.args[2] = tilec_arg_buffer(dead, 0);
    refused(&l, "k: argument 'p' names a buffer that does not exist (any more)");
    // The slot's next owner is another buffer.
    tilec_buffer next;
    assert_int_equal(tilec_buffer_create(h->device, 72, &next), TILEC_OK);
    l.args[2] = tilec_arg_buffer(dead, 0);
    refused(&l, "k: argument 'p' names a buffer that does not exist (any more)");
    tilec_device *other = NULL;
    assert_int_equal(tilec_device_open(h->context, h->name, &other), TILEC_OK);
    assert_int_equal(tilec_buffer_create(other, 72, &foreign), TILEC_OK);
    l.args[0] = tilec_arg_view(tilec_buffer_view2(TILEC_F32, foreign, M, N));
    // Two devices have one name: the message says which of them it means.
    char said[160];
    snprintf(said, sizeof said,
             "k: argument 'x' is a buffer of device %s (opened as number 2), the kernel runs on %s "
             "(opened as number 1)",
             h->name, h->name);
    refused(&l, said);
    float value = 0;
    host_expect(h, TILEC_INVALID_ARGUMENT, "the buffer belongs to another device",
                tilec_buffer_read(h->device, NULL, foreign, 0, &value, sizeof value));
    host_expect(h, TILEC_INVALID_ARGUMENT, "the buffer belongs to another device",
                tilec_buffer_destroy(h->device, foreign));
    host_expect(h, TILEC_INVALID_ARGUMENT, "the pointer to host memory is NULL",
                tilec_buffer_address(h->device, next, NULL, NULL));
    void *address = NULL;
    host_expect(h, TILEC_INVALID_ARGUMENT, "the buffer belongs to another device",
                tilec_buffer_address(h->device, foreign, &address, NULL));
    host_expect(h, TILEC_INVALID_ARGUMENT, "does not exist (any more)",
                tilec_buffer_address(h->device, dead, &address, NULL));
    assert_null(address);
    tilec_stream *stream = NULL;
    assert_int_equal(tilec_stream_create(other, &stream), TILEC_OK);
    reset(&l);
    host_expect(h, TILEC_INVALID_ARGUMENT, "the stream belongs to device",
                tilec_launch(l.kernel, stream, l.args, ARGS));
    works(&l);
    tilec_device_close(other);
    l.args[0] = tilec_arg_view(tilec_buffer_view2(TILEC_F32, foreign, M, N));
    refused(&l, "k: argument 'x' names a buffer that does not exist (any more)");
}

static void test_grids(Host *h) {
    Launch l = begin(h);
    static const struct {
        int variant;
        int64_t grid[3];
        const char *text;
    } rows[] = {
        {0, {-1, 1, 1}, "k: the grid's dimension 0 is negative (-1)"},
        {0, {1, INT64_C(1) << 31, 1}, "k: the grid's dimension 1 has more than 2^31 - 1 programs"},
        {0, {INT64_MAX, INT64_MAX, 2}, "k: the grid"},
        {-2, {1, 1, 1}, "there is no variant -2"},
        {1000, {1, 1, 1}, "there is no variant 1000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reset(&l);
        host_expect(h, TILEC_LAUNCH_REFUSED, rows[i].text,
                    tilec_launch_grid(l.kernel, NULL, rows[i].variant, rows[i].grid, l.args, ARGS));
        works(&l);
    }
    host_expect(h, TILEC_INVALID_ARGUMENT, "the grid is NULL",
                tilec_launch_grid(l.kernel, NULL, 0, NULL, l.args, ARGS));
    const int64_t empty[3] = {1, 0, 1};
    host_expect(h, TILEC_OK, "", tilec_launch_grid(l.kernel, NULL, 0, empty, l.args, ARGS));
    host_expect(h, TILEC_OK, "", tilec_launch_grid(l.kernel, NULL, -1, empty, l.args, ARGS));
    works(&l);
}

// A grid whose own arithmetic wraps does not count as a small or empty grid. Nothing is read, so
// the extent may be anything.
static void test_grids_that_wrap(Host *h) {
    static float x[1];
    tilec_kernel *cube =
        host_kernel(h, "kernel cube(f32 x[N]) grid(N, N * N * N) {\n    x[program(0)] = 1.0;\n}\n");
    tilec_arg many = tilec_arg_view(tilec_view1(TILEC_F32, x, INT64_C(1) << 40));
    host_expect(h, TILEC_LAUNCH_REFUSED, "dimension 0 has more than 2^31 - 1 programs",
                tilec_launch(cube, NULL, &many, 1));
    many.view.extent[0] = INT64_C(1) << 30;  // its cube is 2^90, which wraps to 0
    host_expect(h, TILEC_LAUNCH_REFUSED, "cube: the grid's dimension 1 overflows",
                tilec_launch(cube, NULL, &many, 1));
    host_expect(h, TILEC_OK, "",
                tilec_launch(cube, NULL, TILEC_ARGS(tilec_view1(TILEC_F32, x, 1))));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_true(x[0] == 1);
}

// A kernel that fails: its stream does nothing more until it is asked, the others go on.
static void test_after_failure(Host *h) {
    Launch l = begin(h);
    tilec_kernel *bad = host_kernel(
        h, "kernel bad(i32 x[N]) grid(N) {\n    assert(x[program(0)] == 0, \"not zero\");\n}\n");
    tilec_stream *s = NULL;
    assert_int_equal(tilec_stream_create(h->device, &s), TILEC_OK);
    int32_t x[2] = {0, 1};
    host_expect(h, TILEC_OK, "", tilec_launch(bad, s, TILEC_ARGS(tilec_view1(TILEC_I32, x, 2))));
    // On another stream, and so that the failure is not asked for.
    reset(&l);
    tilec_stream *other = NULL;
    assert_int_equal(tilec_stream_create(h->device, &other), TILEC_OK);
    host_expect(h, TILEC_OK, "", tilec_launch(l.kernel, other, l.args, ARGS));
    host_expect(h, TILEC_OK, "", tilec_stream_synchronize(other));
    assert_true(l.y[0] == 207.5f);
    host_expect(h, TILEC_KERNEL_FAILED, "not zero", tilec_stream_synchronize(s));
    host_expect(h, TILEC_OK, "", tilec_stream_synchronize(s));
    x[1] = 0;
    host_expect(h, TILEC_OK, "", tilec_launch(bad, s, TILEC_ARGS(tilec_view1(TILEC_I32, x, 2))));
    host_expect(h, TILEC_OK, "", tilec_stream_synchronize(s));
    works(&l);
}

static void test_out_of_memory(Host *h) {
    Launch l = begin(h);
    tilec_buffer b = {77};
    h->left = 0;
    host_expect(h, TILEC_OUT_OF_MEMORY, "the context's allocator has no 100 bytes",
                tilec_buffer_create(h->device, 100, &b));
    assert_int_equal(b.handle, 77);
    // A launch that needs memory beyond its arguments says so; one that does not, works.
    tilec_kernel *k = host_kernel(
        h, "kernel big(f32 x[N], f32 y[N]) grid(1) { y[0 +: 4096] = sort(x[0 +: 4096]); }\n");
    static float x[4096], y[4096];
    for (int i = 0; i < 4096; i++) x[i] = (float)((i * 7) % 4096);
    tilec_view vx = tilec_view1(TILEC_F32, x, 4096), vy = tilec_view1(TILEC_F32, y, 4096);
    tilec_status s = tilec_launch(k, NULL, TILEC_ARGS(vx, vy));
    if (!s) s = tilec_device_synchronize(h->device);
    if (s) host_expect(h, TILEC_OUT_OF_MEMORY, " bytes", s);
    h->left = SIZE_MAX;
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(vx, vy)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_true(y[0] == 0 && y[4095] == 4095);
    host_expect(h, TILEC_OUT_OF_MEMORY, "", tilec_buffer_create(h->device, SIZE_MAX - 7, &b));
    works(&l);
}

int main(void) {
    static const HostTest tests[] = {
        {"counts", test_counts},
        {"open types", test_open_types},
        {"kinds", test_kinds},
        {"views", test_views},
        {"extents", test_extents},
        {"memory", test_memory},
        {"requires", test_requires},
        {"null pointers", test_null_pointers},
        {"null views", test_null_views},
        {"dead buffers", test_dead_buffers},
        {"grids", test_grids},
        {"grids that wrap", test_grids_that_wrap},
        {"after a failure", test_after_failure},
        {"out of memory", test_out_of_memory},
    };
    return host_run(tests, sizeof tests / sizeof *tests);
}
