// Kernels from source on the devices `cuda` and `hip`, whose drivers are the ones without a GPU:
// the code that is made is the code that runs.
#define _GNU_SOURCE  // setenv
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/os/os_dl.h"
#include "tests/fakes/gpu/fake.h"
#include "tests/support/codegen_plugin.h"

static const char source[] =
    "kernel scale(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B))\n"
    "{\n"
    "    let i = program(0) * B;\n"
    "    y[i +: B] = 2.0 * x[i +: B];\n"
    "}\n";
typedef struct World {
    tilec_context *context;
    tilec_device *device;
} World;

static const FakeGpu *fake_of(const char *path) {
    OsError e;
    OsLibrary *l = os_library_open(path, &e);
    if (!l) fail_msg("%s", e.text);
    void *symbol = os_library_symbol(l, "fake_gpu");
    const FakeGpu *(*get)(void);
    memcpy(&get, &symbol, sizeof get);
    os_library_keep(l);
    return get();
}

static const char *const fakes[] = {TEST_FAKE_CUDA, TEST_FAKE_HIP};
enum { FAKES = sizeof fakes / sizeof *fakes };

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    setenv("TILEC_HIP_LIBRARY", TEST_FAKE_HIP, 1);
    for (int i = 0; i < FAKES; i++) fake_of(fakes[i])->reset();
    assert_int_equal(tilec_context_create(NULL, &w->context), TILEC_OK);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    tilec_context_destroy(w->context);
    for (int i = 0; i < FAKES; i++) {
        const FakeGpu *fake = fake_of(fakes[i]);
        assert_string_equal(fake->problems(), "");
        assert_int_equal(fake->live(), 0);
        assert_int_equal(fake->place(), 0);
    }
    free(w);
    return 0;
}

static void open_device(World *w, const char *name) {
    if (tilec_device_open(w->context, name, &w->device))
        fail_msg("%s", tilec_last_error(w->context));
}

static tilec_kernel *kernel_with(World *w, const char *text, const tilec_spec *spec) {
    tilec_kernel *k = NULL;
    if (tilec_kernel_from_source(w->context, w->device, "k.tile", text, strlen(text), NULL, spec,
                                 &k))
        fail_msg("%s", tilec_last_error(w->context));
    return k;
}

static tilec_kernel *kernel_of(World *w, const char *text) { return kernel_with(w, text, NULL); }

enum { N = 1000 };

static void scales(World *w) {
    float x[N], y[N];
    tilec_buffer from, to;
    for (int i = 0; i < N; i++) x[i] = (float)i;
    assert_int_equal(tilec_buffer_create(w->device, sizeof x, &from), TILEC_OK);
    assert_int_equal(tilec_buffer_create(w->device, sizeof y, &to), TILEC_OK);
    assert_int_equal(tilec_buffer_write(w->device, NULL, from, 0, x, sizeof x), TILEC_OK);
    tilec_kernel *k = kernel_of(w, source);
    if (tilec_launch(k, NULL,
                     TILEC_ARGS(tilec_buffer_view1(TILEC_F32, from, N),
                                tilec_buffer_view1(TILEC_F32, to, N))))
        fail_msg("%s", tilec_last_error(w->context));
    assert_int_equal(tilec_buffer_read(w->device, NULL, to, 0, y, sizeof y), TILEC_OK);
    for (int i = 0; i < N; i++) assert_true(y[i] == (float)(2 * i));
}

// Each card gets code for its own processor, with cards of two vendors in one process.
static void runs_from_source(void **state) {
    static const int archs[] = {0x90a, 0x942, 0x1100, 0x1201};
    static const char *const names[] = {"hip:0", "hip:1", "hip:2", "cuda:0", "hip:3", "cuda:1"};
    if (!codegen_built()) return;
    World *w = *state;
    const FakeGpu *fake = fake_of(TEST_FAKE_HIP);
    fake->configure(4, 0, 60224000, 5);
    for (int i = 0; i < 4; i++) fake->configure_one(i, archs[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        open_device(w, names[i]);
        scales(w);
    }
    assert_int_equal(fake->calls("hipModuleLoadDataEx"), 4);
}

// A HIP that is old gets code objects of a version that it reads.
static void makes_what_is_read(void **state) {
    static const struct {
        int version;
        unsigned newest;
    } rows[] = {{50221153, 4}, {50631061, 5}, {71460850, 6}};
    if (!codegen_built()) return;
    World *w = *state;
    const FakeGpu *fake = fake_of(TEST_FAKE_HIP);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fake->reset();
        fake->configure(1, 0x1030, rows[i].version, rows[i].newest);
        open_device(w, "hip");
        scales(w);
        tilec_device_close(w->device);
    }
}

// ---- prints and asserts ----

typedef struct Lines {
    char text[4096];
    unsigned count;
} Lines;

static void keep_line(void *user, const char *line, size_t length) {
    Lines *lines = user;
    size_t at = strlen(lines->text);
    lines->count++;
    if (at + length + 2 > sizeof lines->text) return;
    memcpy(lines->text + at, line, length);
    memcpy(lines->text + at + length, "\n", 2);
}

// A device of a context that keeps what is printed.
static void open_with_lines(World *w, const char *name, Lines *lines) {
    tilec_context_options o = {.size = sizeof o, .print = keep_line, .user = lines};
    tilec_context_destroy(w->context);
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    open_device(w, name);
}

static void keep_log(void *user, tilec_severity severity, const char *text) {
    (void)severity;
    keep_line(user, text, strlen(text));
}

static void open_with_log(World *w, const char *name, Lines *lines) {
    tilec_context_options o = {.size = sizeof o, .log = keep_log, .user = lines};
    tilec_context_destroy(w->context);
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    open_device(w, name);
}

// Printed lines arrive when the stream is synchronised: those of one launch program by program,
// those of several launches in the order in which they came. The host reports lines that did not
// fit.
static void prints_when_waited_for(void **state) {
    static const char text[] =
        "kernel p(i64 n, i64 times, const B = 4) grid(n) {\n"
        "    for i in 0 .. times\n"
        "        print(program(0), \": \", iota(B) * i32(i));\n"
        "}\n";
    if (!codegen_built()) return;
    World *w = *state;
    Lines lines = {.count = 0};
    open_with_lines(w, "cuda:0", &lines);
    tilec_kernel *k = kernel_of(w, text);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(2), tilec_arg_int(2))),
                     TILEC_OK);
    assert_int_equal(lines.count, 0);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_OK);
    assert_string_equal(lines.text,
                        "0: [0, 0, 0, 0]\n0: [0, 1, 2, 3]\n"
                        "1: [0, 0, 0, 0]\n1: [0, 1, 2, 3]\n");
    lines = (Lines){.count = 0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(1), tilec_arg_int(1))),
                         TILEC_OK);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_OK);
    assert_string_equal(lines.text, "0: [0, 0, 0, 0]\n0: [0, 0, 0, 0]\n");
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_OK);
    assert_int_equal(lines.count, 2);
    // 56 bytes a line: a head of 32, 8 for the number, 16 for the tile.
    lines = (Lines){.count = 0};
    enum { ROOM = 1 << 20, LINE = 56, FITTING = ROOM / LINE };
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(1), tilec_arg_int(20000))),
                     TILEC_OK);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_OK);
    assert_int_equal(lines.count, FITTING + 1);
}

// Lines that were printed before a program failed are delivered, and the failure after them.
static void prints_before_it_fails(void **state) {
    static const char text[] =
        "kernel p(i64 n, const B = 4) grid(n) {\n"
        "    print(program(0), \": \", iota(B));\n"
        "    assert(program(0) < 2, \"two at most\");\n"
        "}\n";
    if (!codegen_built()) return;
    World *w = *state;
    Lines lines = {.count = 0};
    open_with_lines(w, "hip:0", &lines);
    tilec_kernel *k = kernel_of(w, text);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(2))), TILEC_OK);
    assert_int_equal(lines.count, 0);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_OK);
    assert_string_equal(lines.text, "0: [0, 1, 2, 3]\n1: [0, 1, 2, 3]\n");
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(3))), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_KERNEL_FAILED);
    assert_non_null(strstr(tilec_last_error(w->context), "\"two at most\" in program (2, 0, 0)"));
}

// Among several launches the first failed one is reported, even if a later one has a lower program
// number.
static void tells_the_first_launch(void **state) {
    static const char text[] =
        "kernel p(i64 n) grid(9, n) {\n"
        "    assert(program(0) + 9 * program(1) < n, \"below\");\n"
        "}\n";
    if (!codegen_built()) return;
    World *w = *state;
    open_device(w, "hip:0");
    tilec_kernel *k = kernel_of(w, text);
    for (int64_t n = 7; n > 3; n--)
        assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(n))), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_KERNEL_FAILED);
    assert_non_null(strstr(tilec_last_error(w->context), "\"below\" in program (7, 0, 0), lane 0"));
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(5))), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_KERNEL_FAILED);
    assert_non_null(strstr(tilec_last_error(w->context), "\"below\" in program (5, 0, 0), lane 0"));
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_OK);
}

// A tile in shared memory, and products on the matrix unit.
static void multiplies(void **state) {
    static const char text[] =
        "kernel mm(f16 a[M, K], f16 b[K, N], f32 c[M, N], const T = 32)\n"
        "    grid(cdiv(M, T), cdiv(N, T))\n"
        "{\n"
        "    let m = program(0) * T;\n"
        "    let n = program(1) * T;\n"
        "    var acc = zeros(f32, T, T);\n"
        "    for k in 0 .. K step T\n"
        "        acc = dot(a[m +: T, k +: T], b[k +: T, n +: T], acc);\n"
        "    c[m +: T, n +: T] = acc;\n"
        "}\n";
    enum { S = 64 };
    if (!codegen_built()) return;
    World *w = *state;
    static uint16_t a[S * S], b[S * S];
    static float c[S * S];
    tilec_buffer buffers[3];
    for (int i = 0; i < S * S; i++) a[i] = i % 3 ? 0x3c00 : 0, b[i] = i % 2 ? 0x4000 : 0xbc00;
    open_device(w, "hip:0");
    for (int i = 0; i < 3; i++)
        assert_int_equal(tilec_buffer_create(w->device, i < 2 ? sizeof a : sizeof c, &buffers[i]),
                         TILEC_OK);
    assert_int_equal(tilec_buffer_write(w->device, NULL, buffers[0], 0, a, sizeof a), TILEC_OK);
    assert_int_equal(tilec_buffer_write(w->device, NULL, buffers[1], 0, b, sizeof b), TILEC_OK);
    tilec_kernel *k = kernel_of(w, text);
    if (tilec_launch(k, NULL,
                     TILEC_ARGS(tilec_buffer_view2(TILEC_F16, buffers[0], S, S),
                                tilec_buffer_view2(TILEC_F16, buffers[1], S, S),
                                tilec_buffer_view2(TILEC_F32, buffers[2], S, S))))
        fail_msg("%s", tilec_last_error(w->context));
    assert_int_equal(tilec_buffer_read(w->device, NULL, buffers[2], 0, c, sizeof c), TILEC_OK);
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++) {
            float sum = 0;
            for (int l = 0; l < S; l++)
                sum += (a[i * S + l] ? 1.0f : 0.0f) * (b[l * S + j] == 0x4000 ? 2.0f : -1.0f);
            assert_true(c[i * S + j] == sum);
        }
}

// A launch that is captured is not measured, since measuring waits and allocates; a later one is.
static void captures_are_not_measured(void **state) {
    static const char text[] =
        "kernel scale(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B))\n"
        "{ y[program(0) * B +: B] = 2.0 * x[program(0) * B +: B]; }\n"
        "tune scale { B: 64, 128; }\n";
    static const char *const devices[] = {"cuda:0", "hip:0"};
    if (!codegen_built()) return;
    World *w = *state;
    setenv("TILEC_TUNE_FILE", "", 1);
    for (int d = 0; d < FAKES; d++) {
        Lines lines = {.count = 0};
        const FakeGpu *fake = fake_of(fakes[d]);
        tilec_buffer b[2];
        open_with_log(w, devices[d], &lines);
        for (int i = 0; i < 2; i++)
            assert_int_equal(tilec_buffer_create(w->device, N * sizeof(float), &b[i]), TILEC_OK);
        const float one = 1;
        assert_int_equal(
            tilec_buffer_fill(w->device, NULL, b[0], 0, &one, sizeof one, N * sizeof one),
            TILEC_OK);
        tilec_view x = tilec_buffer_view1(TILEC_F32, b[0], N);
        tilec_view y = tilec_buffer_view1(TILEC_F32, b[1], N);
        tilec_kernel *k = kernel_with(w, text, TILEC_SPEC(TILEC_TUNE(0.2)));
        fake->capture(true);
        assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(x, y)), TILEC_OK);
        assert_int_equal(tilec_tune(k, NULL, TILEC_ARGS(x, y), 0.2), TILEC_UNSUPPORTED);
        fake->capture(false);
        assert_non_null(strstr(lines.text, "its stream is captured"));
        assert_int_equal(lines.count, 1);
        assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(x, y)), TILEC_OK);
        assert_int_equal(lines.count, 2);
        assert_non_null(strstr(lines.text, "the best of"));
        assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(x, y)), TILEC_OK);
        assert_int_equal(lines.count, 2);
    }
    unsetenv("TILEC_TUNE_FILE");
}

// Programs hand it the host's memory.
static void auto_stays_on_the_host(void **state) {
    if (!codegen_built()) return;
    World *w = *state;
    open_device(w, "auto");
    assert_string_equal(tilec_device_name(w->device), "cpu");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(runs_from_source),       TEST(makes_what_is_read),       TEST(prints_when_waited_for),
        TEST(prints_before_it_fails), TEST(tells_the_first_launch),   TEST(multiplies),
        TEST(auto_stays_on_the_host), TEST(captures_are_not_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
