// Limits of the memory traffic of examples, counted by the warp machine: bytes of global memory in
// accesses of 16 bytes a lane and whole sectors, and shared memory without bank conflicts.
#define _GNU_SOURCE  // setenv, mkdtemp
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/arena.h"
#include "base/os/os.h"
#include "compile/device/sim_device.h"

enum { T = -1, MOST_ARRAYS = 5, WARP_ACCESS = 32 * 16, SECTOR = 32 };

typedef struct Shape {
    int dtype;  // T: the kernel's type parameter
    int64_t extent[4];
} Shape;

typedef struct Row {
    const char *file, *kernel;
    tilec_dtype type;  // TILEC_BOOL: the kernel has no type parameter
    Shape arrays[MOST_ARRAYS];
    bool scalar;  // an f32 after the arrays
    // Bytes of global memory, read and written, that the algorithm needs.
    uint64_t bytes;
    // Wavefronts of shared memory: each value goes through it once at 128 bytes a wavefront. A
    // value that the warps of a program reduce together adds one cross-warp reduction (the enum
    // below).
    uint64_t wavefronts;
} Row;

enum {
    R = 4,
    C = 4096,
    W = 1024,  // of rows in one tile, C / W of them
    SIDE = 256,
    WARPS = 4,
    PHASES = 4,  // of an access of 16 bytes a lane
    // Each leaves its share; each reads all of them in one access. Bools are bytes.
    MEETING = WARPS + WARPS * PHASES,
};

static const Row rows[] = {
    // There and back, each element once.
    {"transpose",
     "transposed",
     TILEC_F32,
     {{T, {SIDE, SIDE}}, {T, {SIDE, SIDE}}},
     false,
     2 * SIDE *SIDE * 4,
     2 * SIDE *SIDE * 4 / 128},
    {"transpose",
     "transposed",
     TILEC_F16,
     {{T, {SIDE, SIDE}}, {T, {SIDE, SIDE}}},
     false,
     2 * SIDE *SIDE * 2,
     2 * SIDE *SIDE * 2 / 128},
    // The greatest and the sum.
    {"softmax",
     "softmax",
     TILEC_BOOL,
     {{TILEC_F32, {R, W}}, {TILEC_F32, {R, W}}},
     false,
     2 * R *W * 4,
     R * 2 * MEETING},
    // x twice.
    {"softmax",
     "softmax_long",
     TILEC_F16,
     {{T, {R, C}}, {T, {R, C}}},
     false,
     3 * R *C * 2,
     R *C / W * 2 * MEETING},
    {"softmax",
     "softmax_long",
     TILEC_F32,
     {{T, {R, C}}, {T, {R, C}}},
     false,
     3 * R *C * 4,
     R *C / W * 2 * MEETING},
    // x three times; weight and bias for each row.
    {"layernorm",
     "layernorm",
     TILEC_F16,
     {{T, {R, C}}, {T, {C}}, {T, {C}}, {T, {R, C}}},
     true,
     6 * R *C * 2,
     R *C / W * 2 * MEETING},
    {"layernorm",
     "layernorm",
     TILEC_F32,
     {{T, {R, C}}, {T, {C}}, {T, {C}}, {T, {R, C}}},
     true,
     6 * R *C * 4,
     R *C / W * 2 * MEETING},
    // x and residual twice.
    {"rmsnorm",
     "add_rmsnorm",
     TILEC_F16,
     {{T, {R, C}}, {T, {R, C}}, {T, {C}}, {T, {R, C}}},
     true,
     6 * R *C * 2,
     R *C / W *MEETING},
    {"gelu", "bias_gelu", TILEC_F16, {{T, {R, C}}, {T, {C}}, {T, {R, C}}}, false, 3 * R *C * 2, 0},
    {"vector_add", "add", TILEC_F16, {{T, {C}}, {T, {C}}, {T, {C}}}, false, 3 * C * 2, 0},
};

typedef struct World {
    Arena *arena;
    char folder[64];
    tilec_context *context;
    tilec_device *device;
} World;

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    snprintf(w->folder, sizeof w->folder, "%s/tilec-test-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(w->folder));
    setenv("TILEC_CACHE_DIR", arena_printf(w->arena, "%s/cache", w->folder), 1);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    unsetenv("TILEC_CACHE_DIR");
    assert_int_equal(system(arena_printf(w->arena, "rm -rf '%s'", w->folder)), 0);
    arena_destroy(w->arena);
    free(w);
    return 0;
}

static tilec_kernel *kernel_of(World *w, const Row *row) {
    char *path = arena_printf(w->arena, "%s/examples/%s.tile", TEST_SOURCE_DIR, row->file);
    Str text;
    OsError error;
    tilec_kernel *k;
    assert_true(os_read_file(w->arena, path, 1 << 20, &text, &error));
    const tilec_spec *spec =
        row->type == TILEC_BOOL ? NULL : TILEC_SPEC(TILEC_TYPE("T", row->type));
    if (tilec_kernel_from_source(w->context, w->device, path, text.text, text.size, row->kernel,
                                 spec, &k))
        fail_msg("%s", tilec_last_error(w->context));
    return k;
}

static tilec_view view_of(World *w, const Shape *s, tilec_dtype type) {
    tilec_view v = {.dtype = s->dtype == T ? type : (tilec_dtype)s->dtype};
    int64_t count = 1;
    while (v.rank < 4 && s->extent[v.rank]) v.extent[v.rank] = s->extent[v.rank], v.rank++;
    for (int d = v.rank; d-- > 0; count *= v.extent[d]) v.stride[d] = count;
    size_t size = (size_t)count * 4;
    void *zeros = arena_alloc(w->arena, size);
    memset(zeros, 0, size);
    assert_int_equal(tilec_buffer_create(w->device, size, &v.buffer), TILEC_OK);
    assert_int_equal(tilec_buffer_write(w->device, NULL, v.buffer, 0, zeros, size), TILEC_OK);
    return v;
}

static SimTally counted(World *w, const Row *row) {
    tilec_arg args[MOST_ARRAYS + 1];
    SimTally tally = {0};
    size_t count = 0;
    tilec_kernel *k = kernel_of(w, row);
    for (; count < MOST_ARRAYS && row->arrays[count].extent[0]; count++)
        args[count] = tilec_arg_view(view_of(w, &row->arrays[count], row->type));
    if (row->scalar) args[count++] = tilec_arg_double(1e-5);
    sim_device_tally(w->device, &tally);
    tilec_status s = tilec_launch(k, NULL, args, count);
    if (!s) s = tilec_device_synchronize(w->device);
    if (s) fail_msg("%s: %s", row->kernel, tilec_last_error(w->context));
    sim_device_tally(w->device, NULL);
    tilec_kernel_destroy(k);
    return tally;
}

static bool is(const char *device, const Row *row, const char *what, uint64_t found,
               uint64_t expected) {
    if (found == expected) return true;
    print_error("%s, %s (%s, %s): expected %llu, found %llu\n", what, row->kernel,
                row->type == TILEC_F16 ? "f16" : "f32", device, (unsigned long long)expected,
                (unsigned long long)found);
    return false;
}

static bool check(World *w, const Row *row, const char *device) {
    SimTally t = counted(w, row);
    bool good = is(device, row, "bytes of global memory", t.bytes, row->bytes);
    good &= is(device, row, "accesses of global memory", t.accesses, row->bytes / WARP_ACCESS);
    good &= is(device, row, "sectors", t.sectors, row->bytes / SECTOR);
    good &= is(device, row, "wavefronts without conflicts", t.wavefronts, t.least_wavefronts);
    return good & is(device, row, "wavefronts", t.wavefronts, row->wavefronts);
}

static void budgets(void **state) {
    static const char *const devices[] = {"sim:sm_75", "sim:sm_80", "sim:sm_90", "sim:sm_120"};
    World *w = *state;
    bool good = true;
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        tilec_context_options o = {.size = sizeof o};
        assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
        if (tilec_device_open(w->context, devices[d], &w->device))
            fail_msg("%s", tilec_last_error(w->context));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            good &= check(w, &rows[i], devices[d]);
        tilec_context_destroy(w->context);
    }
    assert_true(good);
}

int main(void) {
#ifndef TEST_CODEGEN
    print_message(
        "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
    return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(budgets, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
