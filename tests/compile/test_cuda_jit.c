// Kernels from source on the device `cuda`, whose driver is the one without a GPU.
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

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    assert_int_equal(tilec_context_create(NULL, &w->context), TILEC_OK);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    tilec_context_destroy(w->context);
    free(w);
    return 0;
}

static bool can_generate(void) {
#ifdef TEST_CODEGEN
    return true;
#else
    print_message("skipped: libtilec_llvm was not built\n");
    return false;
#endif
}

static void open_device(World *w, const char *name) {
    if (tilec_device_open(w->context, name, &w->device))
        fail_msg("%s", tilec_last_error(w->context));
}

static tilec_kernel *kernel_of(World *w, const char *text) {
    tilec_kernel *k = NULL;
    if (tilec_kernel_from_source(w->context, w->device, "k.tile", text, strlen(text), NULL, NULL,
                                 &k))
        fail_msg("%s", tilec_last_error(w->context));
    return k;
}

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

static void runs_from_source(void **state) {
    if (!can_generate()) return;
    World *w = *state;
    for (int i = 0; i < 2; i++) {
        open_device(w, i ? "cuda:1" : "cuda:0");
        scales(w);
    }
}

// ---- prints -------------------------------------------------------------------------------------

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

// Lines come when the stream is waited for: of one launch program by program, of several as they
// came; what does not fit is told.
static void prints_when_waited_for(void **state) {
    static const char text[] =
        "kernel p(i64 n, i64 times, const B = 4) grid(n) {\n"
        "    for i in 0 .. times\n"
        "        print(program(0), \": \", iota(B) * i32(i));\n"
        "}\n";
    if (!can_generate()) return;
    World *w = *state;
    Lines lines = {.count = 0};
    tilec_context_options o = {.size = sizeof o, .print = keep_line, .user = &lines};
    tilec_context_destroy(w->context);
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    open_device(w, "cuda:0");
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

// Programs hand it the host's memory.
static void auto_stays_on_the_host(void **state) {
    if (!can_generate()) return;
    World *w = *state;
    open_device(w, "auto");
    assert_string_equal(tilec_device_name(w->device), "cpu");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {TEST(runs_from_source), TEST(prints_when_waited_for),
                                       TEST(auto_stays_on_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
