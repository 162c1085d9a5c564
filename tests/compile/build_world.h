// Shared by the tests of built libraries: a context, a folder, and kernels that report their
// consts.
//
//     static void test(void **state) { … load(world, open_device(world, "cpu"), &m->data) … }
#ifndef TILEC_TESTS_COMPILE_BUILD_WORLD_H
#define TILEC_TESTS_COMPILE_BUILD_WORLD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // setenv, mkdtemp
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/library.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "runtime/library/library.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/made_library.h"

typedef struct World {
    Arena *arena;
    char folder[64];
    tilec_context *context;
} World;

static inline int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    snprintf(w->folder, sizeof w->folder, "%s/tilec-test-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(w->folder));
    assert_int_equal(tilec_context_create(NULL, &w->context), TILEC_OK);
    *state = w;
    return 0;
}

static inline int tear_down(void **state) {
    World *w = *state;
    tilec_context_destroy(w->context);
    unsetenv("TILEC_CPU_TARGET");
    assert_int_equal(system(arena_printf(w->arena, "rm -rf '%s'", w->folder)), 0);
    arena_destroy(w->arena);
    free(w);
    return 0;
}

static inline const char *write_source(World *w, const char *name, const char *text) {
    OsError error;
    const char *path = arena_printf(w->arena, "%s/%s", w->folder, name);
    assert_true(os_write_file(w->arena, path, str(text), &error));
    return path;
}

static inline tilec_device *open_device(World *w, const char *name) {
    tilec_device *device = NULL;
    if (tilec_device_open(w->context, name, &device)) fail_msg("%s", tilec_last_error(w->context));
    return device;
}

static inline tilec_library *load(World *w, tilec_device *device,
                                  const struct tilec_archive *archive) {
    tilec_library *library = NULL;
    if (tilec_library_load(device, archive, 0, &library))
        fail_msg("%s", tilec_last_error(w->context));
    return library;
}

static inline void said(const World *w, const char *part) {
    if (!strstr(tilec_last_error(w->context), part))
        fail_msg("expected '%s' in: %s", part, tilec_last_error(w->context));
}

// Writes its consts.
#define TELLS                                                      \
    "kernel tells(f32 x[N], i64 y[M], const B = 4, const C = 1)\n" \
    "    requires N % B == 0\n"                                    \
    "    grid(1)\n"                                                \
    "{ y[0] = B * 100 + C; }\n"

enum { TOLD = 128 };

static inline int64_t told(tilec_library *l, int64_t n) {
    int64_t y = 0;
    tilec_buffer x, out;
    tilec_kernel *k = NULL;
    tilec_device *device = l->device;
    assert_int_equal(tilec_buffer_create(device, TOLD * sizeof(float), &x), TILEC_OK);
    assert_int_equal(tilec_buffer_create(device, sizeof y, &out), TILEC_OK);
    assert_int_equal(tilec_buffer_write(device, NULL, out, 0, &y, sizeof y), TILEC_OK);
    assert_int_equal(tilec_library_kernel(l, "tells", &k), TILEC_OK);
    tilec_status s = tilec_launch(
        k, NULL,
        TILEC_ARGS(tilec_buffer_view1(TILEC_F32, x, n), tilec_buffer_view1(TILEC_I64, out, 1)));
    if (s) return -1;  // the message is of use
    s = tilec_buffer_read(device, NULL, out, 0, &y, sizeof y);
    assert_int_equal(s, TILEC_OK);
    tilec_buffer_destroy(device, x);
    tilec_buffer_destroy(device, out);
    return y;
}

#define BUILD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
