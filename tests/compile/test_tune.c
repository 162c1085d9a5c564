// Measuring while the program runs: TILEC_TUNE and tilec_tune.
#define _GNU_SOURCE  // setenv
#include <pthread.h>
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

#include "base/os/os.h"
#include "tests/support/codegen_plugin.h"

static const char *const names[] = {"interp", "cpu:2", "sim:sm_80", "sim:gfx90a"};
enum { NAMES = sizeof names / sizeof *names, N = 128, SLOW = 3000, LOG_MAX = 4096 };
static const char table[] = TEST_BINARY_DIR "/tune-test-rows.txt";

// The default takes 3000 steps, the best choice one, which ends a search early. Each launch adds x
// to y, and leaves in z which choice it was. No estimate is made of a `while`.
static const char source[] =
    "kernel steps(f32 x[N], f32 y[N], i32 z[N], const SLOW = 3000, const B = 32) grid(cdiv(N, B))\n"
    "{\n"
    "    let i = program(0) * B;\n"
    "    var s = i32(x[i +: B]);\n"
    "    var k = 0;\n"
    "    while (k < SLOW) { s = s * 1664525 + 1013904223; k += 1; }\n"
    "    z[i +: B] = s;\n"
    "    y[i +: B] = y[i +: B] + x[i +: B];\n"
    "}\n"
    "tune steps { SLOW: 3000, 1; }\n";

typedef struct World {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *kernel;
    tilec_buffer x, y, z;
    pthread_mutex_t lock;
    char logged[LOG_MAX];
} World;

static void keep_log(void *user, tilec_severity severity, const char *text) {
    World *w = user;
    (void)severity;
    pthread_mutex_lock(&w->lock);
    size_t used = strlen(w->logged);
    snprintf(w->logged + used, sizeof w->logged - used, "%s\n", text);
    pthread_mutex_unlock(&w->lock);
}

static unsigned times_logged(World *w, const char *text) {
    unsigned n = 0;
    for (const char *at = w->logged; (at = strstr(at, text)); at++) n++;
    return n;
}

static void fine(const World *w, tilec_status status) {
    if (status) fail_msg("%d: %s", (int)status, tilec_last_error(w->context));
}

static void refused(const World *w, tilec_status found, tilec_status expected, const char *text) {
    if (found != expected)
        fail_msg("expected status %d, found %d: %s", (int)expected, (int)found,
                 tilec_last_error(w->context));
    if (!strstr(tilec_last_error(w->context), text))
        fail_msg("expected '%s' in '%s'", text, tilec_last_error(w->context));
}

static tilec_kernel *kernel_of(World *w, const char *text, const tilec_spec *spec) {
    tilec_kernel *k = NULL;
    fine(w, tilec_kernel_from_source(w->context, w->device, "k.tile", text, strlen(text), NULL,
                                     spec, &k));
    return k;
}

static void fill(const World *w) {
    float x[2 * N], y[2 * N];
    for (int i = 0; i < 2 * N; i++) x[i] = (float)i, y[i] = 1000;
    fine(w, tilec_buffer_write(w->device, NULL, w->x, 0, x, sizeof x));
    fine(w, tilec_buffer_write(w->device, NULL, w->y, 0, y, sizeof y));
}

static World *open_world(const char *device, const tilec_spec *spec) {
    World *w = calloc(1, sizeof *w);
    assert_non_null(w);
    pthread_mutex_init(&w->lock, NULL);
    tilec_context_options o = {.size = sizeof o, .log = keep_log, .user = w};
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    fine(w, tilec_device_open(w->context, device, &w->device));
    fine(w, tilec_buffer_create(w->device, 2 * N * sizeof(float), &w->x));
    fine(w, tilec_buffer_create(w->device, 2 * N * sizeof(float), &w->y));
    fine(w, tilec_buffer_create(w->device, 2 * N * sizeof(int32_t), &w->z));
    fill(w);
    w->kernel = kernel_of(w, source, spec);
    return w;
}

static void close_world(World *w) {
    tilec_context_destroy(w->context);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

typedef struct Args {
    tilec_arg items[3];
} Args;

static Args args_of(const World *w, int64_t n) {
    return (Args){{tilec_arg_view(tilec_buffer_view1(TILEC_F32, w->x, n)),
                   tilec_arg_view(tilec_buffer_view1(TILEC_F32, w->y, n)),
                   tilec_arg_view(tilec_buffer_view1(TILEC_I32, w->z, n))}};
}

// The number of steps that the last launch took: 1 or SLOW; else the test fails.
static int steps_taken(const World *w, int64_t n) {
    int32_t z[2 * N];
    fine(w, tilec_buffer_read(w->device, NULL, w->z, 0, z, (size_t)n * sizeof *z));
    for (int slow = 0; slow < 2; slow++) {
        bool same = true;
        for (int64_t i = 0; i < n && same; i++) {
            uint32_t s = (uint32_t)i;
            for (int k = 0; k < (slow ? SLOW : 1); k++) s = s * 1664525 + 1013904223;
            same = s == (uint32_t)z[i];
        }
        if (same) return slow ? SLOW : 1;
    }
    fail_msg("z has the steps of no choice");
    return 0;
}

static void launches_were(const World *w, int64_t n, int launches) {
    float y[2 * N];
    fine(w, tilec_buffer_read(w->device, NULL, w->y, 0, y, (size_t)n * sizeof *y));
    for (int64_t i = 0; i < n; i++)
        if (y[i] != (float)(1000 + launches * i))
            fail_msg("y[%lld] is %g after %d launches", (long long)i, (double)y[i], launches);
}

static bool can_run(const char *device) { return strcmp(device, "interp") == 0 || codegen_built(); }

// ---- tilec_tune ----

static void tunes_ahead(void **state) {
    (void)state;
    for (int d = 0; d < NAMES; d++) {
        if (!can_run(names[d])) continue;
        World *w = open_world(names[d], NULL);
        Args a = args_of(w, N);
        fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
        fine(w, tilec_launch(w->kernel, NULL, a.items, 3));  // it is remembered
        assert_int_equal(steps_taken(w, N), SLOW);
        fine(w, tilec_tune(w->kernel, NULL, a.items, 3, 60));
        assert_int_equal(steps_taken(w, N), SLOW);  // the arrays are as before
        launches_were(w, N, 2);
        fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
        fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
        assert_int_equal(steps_taken(w, N), 1);
        launches_were(w, N, 4);
        assert_int_equal(times_logged(w, "SLOW=1 is the best of 2 that were measured"), 1);
        Args other = args_of(w, 2 * N);  // another size, which runs the default
        fine(w, tilec_launch(w->kernel, NULL, other.items, 3));
        assert_int_equal(steps_taken(w, 2 * N), SLOW);
        close_world(w);
        remove(table);
    }
}

// A row is in the user's table as well: another context, or process, finds it.
static void keeps_rows_in_the_file(void **state) {
    (void)state;
    World *w = open_world("interp", NULL);
    Args a = args_of(w, N);
    fine(w, tilec_tune(w->kernel, NULL, a.items, 3, 60));
    close_world(w);
    w = open_world("interp", NULL);
    a = args_of(w, N - 1);  // the same size class
    fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
    assert_int_equal(steps_taken(w, N - 1), 1);
    close_world(w);
    remove(table);
}

static void leaves_other_files_alone(void **state) {
    (void)state;
    static const char other[] = "rows of another program\n";
    Arena *arena = arena_create();
    OsError error;
    Str text;
    assert_true(os_write_file(arena, table, str(other), &error));
    World *w = open_world("interp", NULL);
    Args a = args_of(w, N);
    fine(w, tilec_tune(w->kernel, NULL, a.items, 3, 60));
    fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
    assert_int_equal(steps_taken(w, N), 1);
    assert_int_equal(times_logged(w, "is not kept in"), 1);
    assert_true(os_read_file(arena, table, sizeof other, &text, &error));
    assert_true(str_equal(text, str(other)));
    close_world(w);
    arena_destroy(arena);
    remove(table);
}

static void keeps_nothing_without_a_file(void **state) {
    (void)state;
    setenv("TILEC_TUNE_FILE", "", 1);
    World *w = open_world("interp", NULL);
    Args a = args_of(w, N);
    fine(w, tilec_tune(w->kernel, NULL, a.items, 3, 60));
    fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
    assert_int_equal(steps_taken(w, N), 1);
    close_world(w);
    setenv("TILEC_TUNE_FILE", table, 1);
    assert_false(os_path_exists(table));
}

// The default is always measured, however short the time is.
static void ends_in_time(void **state) {
    (void)state;
    World *w = open_world("interp", NULL);
    Args a = args_of(w, N);
    uint64_t begin = os_time_ns();
    fine(w, tilec_tune(w->kernel, NULL, a.items, 3, 1e-6));
    assert_true(os_time_ns() - begin < UINT64_C(20000000000));
    fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
    launches_were(w, N, 1);
    close_world(w);
    remove(table);
}

// ---- TILEC_TUNE ----

static void measures_at_the_first_launch(void **state) {
    (void)state;
    for (int d = 0; d < NAMES; d++) {
        if (!can_run(names[d])) continue;
        World *w = open_world(names[d], TILEC_SPEC(TILEC_TUNE(60)));
        for (int launches = 1; launches < 4; launches++) {
            Args a = args_of(w, N);
            fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
            assert_int_equal(steps_taken(w, N), 1);
            launches_were(w, N, launches);
        }
        assert_int_equal(times_logged(w, "is the best of"), 1);
        fill(w);
        Args a = args_of(w, 2 * N);
        fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
        assert_int_equal(steps_taken(w, 2 * N), 1);
        launches_were(w, 2 * N, 1);
        assert_int_equal(times_logged(w, "is the best of"), 2);
        close_world(w);
        remove(table);
    }
}

// A prepared launch has been measured.
static void measures_in_prepare(void **state) {
    (void)state;
    World *w = open_world("interp", TILEC_SPEC(TILEC_TUNE(60)));
    Args a = args_of(w, N);
    fine(w, tilec_kernel_prepare(w->kernel, NULL, a.items, 3));
    assert_int_equal(times_logged(w, "is the best of"), 1);
    launches_were(w, N, 0);
    fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
    assert_int_equal(times_logged(w, "is the best of"), 1);
    assert_int_equal(steps_taken(w, N), 1);
    close_world(w);
    remove(table);
}

// A host that brings its own grid knows the consts that it is for.
static void leaves_own_grids_alone(void **state) {
    (void)state;
    World *w = open_world("interp", TILEC_SPEC(TILEC_TUNE(60)));
    Args a = args_of(w, N);
    fine(w, tilec_launch_grid(w->kernel, NULL, 0, (int64_t[]){N / 32, 1, 1}, a.items, 3));
    assert_int_equal(steps_taken(w, N), SLOW);
    assert_string_equal(w->logged, "");
    close_world(w);
}

typedef struct Launcher {
    World *world;
    pthread_t thread;
    tilec_buffer x, y, z;
    tilec_status status;
} Launcher;

static void *launch_often(void *given) {
    Launcher *l = given;
    for (int i = 0; i < 20 && !l->status; i++) {
        tilec_stream *stream = NULL;
        l->status = tilec_stream_create(l->world->device, &stream);
        if (!l->status)
            l->status = tilec_launch(l->world->kernel, stream,
                                     TILEC_ARGS(tilec_buffer_view1(TILEC_F32, l->x, N),
                                                tilec_buffer_view1(TILEC_F32, l->y, N),
                                                tilec_buffer_view1(TILEC_I32, l->z, N)));
        if (!l->status) l->status = tilec_stream_synchronize(stream);
        tilec_stream_destroy(stream);
    }
    return NULL;
}

// One thread measures; the others run the default meanwhile, and the best choice later.
static void threads_wait_for_no_other(void **state) {
    enum { THREADS = 4 };
    (void)state;
    for (int d = 0; d < NAMES; d++) {
        Launcher l[THREADS];
        if (!can_run(names[d])) continue;
        World *w = open_world(names[d], TILEC_SPEC(TILEC_TUNE(60)));
        for (int t = 0; t < THREADS; t++) {
            const float zero = 0;
            l[t] = (Launcher){.world = w, .x = w->x};
            fine(w, tilec_buffer_create(w->device, N * sizeof(float), &l[t].y));
            fine(w, tilec_buffer_create(w->device, N * sizeof(int32_t), &l[t].z));
            fine(w, tilec_buffer_fill(w->device, NULL, l[t].y, 0, &zero, sizeof zero,
                                      N * sizeof zero));
        }
        fine(w, tilec_device_synchronize(w->device));
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(pthread_create(&l[t].thread, NULL, launch_often, &l[t]), 0);
        for (int t = 0; t < THREADS; t++) {
            float y[N];
            pthread_join(l[t].thread, NULL);
            assert_int_equal(l[t].status, TILEC_OK);
            fine(w, tilec_buffer_read(w->device, NULL, l[t].y, 0, y, sizeof y));
            for (int i = 0; i < N; i++) assert_true(y[i] == (float)(20 * i));
        }
        assert_int_equal(times_logged(w, "is the best of"), 1);
        Args a = args_of(w, N);
        fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
        assert_int_equal(steps_taken(w, N), 1);
        close_world(w);
        remove(table);
    }
}

// ---- What is not measured ----

typedef struct Refusal {
    const char *source, *reason;
} Refusal;
static const Refusal refusals[] = {
    {"kernel k(f32 x[N], f32 y[N], i32 z[N], const B = 4) grid(1) { print(\"hello\"); }\n"
     "tune k { B: 4, 8; }\n",
     "it prints"},
    {"kernel k(f32 x[N], *f32 y, i32 z[N], const B = 4) grid(1) { if N > 0 { store(y, 1.0); } }\n"
     "tune k { B: 4, 8; }\n",
     "it writes through pointers"},
    {"kernel k(f32 x[N], f32 y[N], i32 z[N], const B = 4) grid(1)\n"
     "{ let old = atomic_add(z[0], 1, scope = system); }\n"
     "tune k { B: 4, 8; }\n",
     "atomics of the system's scope"},
};

static void says_what_is_not_measured(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        World *w = open_world("interp", NULL);
        Args a = args_of(w, N);
        if (strstr(refusals[i].source, "*f32")) a.items[1] = tilec_arg_buffer(w->y, 0);
        tilec_kernel *k = kernel_of(w, refusals[i].source, NULL);
        refused(w, tilec_tune(k, NULL, a.items, 3, 1), TILEC_UNSUPPORTED, refusals[i].reason);
        k = kernel_of(w, refusals[i].source, TILEC_SPEC(TILEC_TUNE(60)));
        fine(w, tilec_launch(k, NULL, a.items, 3));
        assert_string_equal(tilec_last_error(w->context), "");
        fine(w, tilec_launch(k, NULL, a.items, 3));
        assert_int_equal(times_logged(w, refusals[i].reason), 1);
        close_world(w);
    }
    World *w = open_world("interp", TILEC_SPEC(TILEC_OPTION("sanitize", 1)));
    Args a = args_of(w, N);
    refused(w, tilec_tune(w->kernel, NULL, a.items, 3, 1), TILEC_UNSUPPORTED, "with sanitize");
    close_world(w);
    assert_false(os_path_exists(table));
}

// Consts are conditions: other choices may write, print or use what the default does not.
static void choices_have_effects_of_their_own(void **state) {
    static const char text[] =
        "kernel k(f32 x[N], f32 y[N], i32 z[N], const W = 0) grid(1)\n"
        "{\n"
        "    if const W == 1 { z[0 +: 64] = z[0 +: 64] + 7; }\n"
        "    if const W == 2 { print(\"hello\"); }\n"
        "    y[0 +: 64] = x[0 +: 64] * 2.0;\n"
        "}\n"
        "tune k { W: 0, 1, 2; }\n";
    (void)state;
    for (int d = 0; d < NAMES; d++) {
        if (!can_run(names[d])) continue;
        int32_t z[N];
        World *w = open_world(names[d], NULL);
        Args a = args_of(w, N);
        for (int i = 0; i < N; i++) z[i] = i;
        fine(w, tilec_buffer_write(w->device, NULL, w->z, 0, z, sizeof z));
        tilec_kernel *k = kernel_of(w, text, NULL);
        fine(w, tilec_tune(k, NULL, a.items, 3, 1));
        fine(w, tilec_buffer_read(w->device, NULL, w->z, 0, z, sizeof z));
        for (int i = 0; i < N; i++) assert_int_equal(z[i], i);
        assert_int_equal(times_logged(w, "1 cannot be used, such as W=2: it prints"), 1);
        close_world(w);
        remove(table);
    }
}

// Memory between the rows of a view is not the kernel's.
static void gaps_are_left_alone(void **state) {
    static const char text[] =
        "kernel k(strided f32 y[M, N], const B = 4) grid(1) { y[0 +: 4, 0 +: B] = 1; }\n"
        "tune k { B: 4, 8; }\n";
    (void)state;
    World *w = open_world("interp", NULL);
    tilec_kernel *k = kernel_of(w, text, NULL);
    tilec_view v = tilec_buffer_view2(TILEC_F32, w->y, 4, 8);
    v.stride[0] = 16;
    refused(w, tilec_tune(k, NULL, TILEC_ARGS(v), 1), TILEC_UNSUPPORTED,
            "it writes 'y', between whose rows is other memory");
    v.stride[0] = 1, v.stride[1] = 4;
    fine(w, tilec_tune(k, NULL, TILEC_ARGS(v), 1));
    close_world(w);
    remove(table);
}

// Kernels that were made before a result is known use it as well.
static void all_kernels_use_the_result(void **state) {
    (void)state;
    World *w = open_world("interp", TILEC_SPEC(TILEC_TUNE(60)));
    tilec_kernel *plain = kernel_of(w, source, NULL);
    Args a = args_of(w, N);
    fine(w, tilec_launch(plain, NULL, a.items, 3));
    fine(w, tilec_launch(plain, NULL, a.items, 3));
    assert_int_equal(steps_taken(w, N), SLOW);
    fine(w, tilec_launch(w->kernel, NULL, a.items, 3));
    fine(w, tilec_launch(plain, NULL, a.items, 3));
    assert_int_equal(steps_taken(w, N), 1);
    close_world(w);
    remove(table);
}

// A result for some consts does not replace one for more of them.
static void partial_results_replace_nothing(void **state) {
    static const char text[] =
        "kernel k(f32 x[N], f32 y[N], i32 z[N], const S = 300, const B = 8) grid(1)\n"
        "{ var s = 1; for i in 0 .. S + B s = s * 3; z[0] = S * 1000 + B; y[0] = f32(s); }\n"
        "tune k { S: 3000, 1; B: 3000, 2; }\n";
    (void)state;
    int32_t z;
    World *w = open_world("interp", NULL);
    Args a = args_of(w, N);
    tilec_kernel *k = kernel_of(w, text, NULL);
    tilec_kernel *fixed = kernel_of(w, text, TILEC_SPEC(TILEC_CONST("B", 2000)));
    fine(w, tilec_tune(k, NULL, a.items, 3, 60));
    fine(w, tilec_tune(fixed, NULL, a.items, 3, 60));
    assert_int_equal(times_logged(w, "is not kept, since a result for more consts exists"), 1);
    fine(w, tilec_launch(k, NULL, a.items, 3));
    fine(w, tilec_buffer_read(w->device, NULL, w->z, 0, &z, sizeof z));
    assert_int_equal(z, 1002);
    close_world(w);
    remove(table);
}

// Saving arrays takes time as well: the budget holds all the same, and a single measured choice is
// not a result.
static void budgets_hold_with_large_arrays(void **state) {
    static const char text[] =
        "kernel k(f32 x[N], f32 y[N], i32 z[N], const S = 1) grid(1)\n"
        "{ var i = 0; while i < 30000 + S { i += 1; } y[0 +: 8] = y[0 +: 8] + f32(i); }\n"
        "tune k { S: 1, 2, 3, 4, 5, 6, 7, 8; }\n";
    (void)state;
    enum { MANY = 1 << 22 };
    World *w = open_world("interp", NULL);
    tilec_kernel *k = kernel_of(w, text, NULL);
    float *y = calloc(MANY, sizeof *y);
    int32_t *z = calloc(MANY, sizeof *z);
    assert_true(y && z);
    uint64_t begin = os_time_ns();
    fine(w, tilec_tune(k, NULL,
                       TILEC_ARGS(tilec_view1(TILEC_F32, y, MANY), tilec_view1(TILEC_F32, y, MANY),
                                  tilec_view1(TILEC_I32, z, MANY)),
                       0.01));
    assert_true(os_time_ns() - begin < UINT64_C(10000000000));
    assert_int_equal(times_logged(w, "for 7 the time was over"), 1);
    assert_true(y[0] == 0);
    assert_false(os_path_exists(table));
    close_world(w);
    free(y);
    free(z);
}

static void nothing_to_choose(void **state) {
    (void)state;
    World *w = open_world("interp", TILEC_SPEC(TILEC_CONST("SLOW", 1)));
    Args a = args_of(w, N), none = args_of(w, 0);
    fine(w, tilec_tune(w->kernel, NULL, a.items, 3, 1));
    fine(w, tilec_tune(w->kernel, NULL, none.items, 3, 1));  // a grid without programs
    assert_string_equal(w->logged, "");
    close_world(w);
    assert_false(os_path_exists(table));
}

static void bad_calls_are_refused(void **state) {
    (void)state;
    World *w = open_world("interp", NULL);
    Args a = args_of(w, N);
    tilec_device *other;
    tilec_kernel *k = NULL;
    assert_int_equal(tilec_tune(NULL, NULL, a.items, 3, 1), TILEC_INVALID_ARGUMENT);
    refused(w, tilec_tune(w->kernel, NULL, NULL, 3, 1), TILEC_INVALID_ARGUMENT, "NULL");
    static const double times[] = {0, -1, 1e9, (double)__builtin_nanf("")};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        refused(w, tilec_tune(w->kernel, NULL, a.items, 3, times[i]), TILEC_INVALID_ARGUMENT,
                "seconds");
    refused(w, tilec_tune(w->kernel, NULL, a.items, 2, 1), TILEC_LAUNCH_REFUSED, "3 arguments");
    fine(w, tilec_device_open(w->context, "interp", &other));
    refused(w, tilec_tune(w->kernel, tilec_device_stream(other), a.items, 3, 1),
            TILEC_INVALID_ARGUMENT, "another device");
    a.items[1] = tilec_arg_int(1);
    refused(w, tilec_tune(w->kernel, NULL, a.items, 3, 1), TILEC_LAUNCH_REFUSED, "expects a view");
    for (int i = 0; i < 2; i++)
        refused(w,
                tilec_kernel_from_source(w->context, w->device, "k.tile", source, sizeof source - 1,
                                         NULL, TILEC_SPEC(TILEC_TUNE(i ? 1e6 : 0)), &k),
                TILEC_INVALID_SOURCE, "(tune.ms) must be 1 to 86400000");
    launches_were(w, N, 0);
    close_world(w);
}

static int set_up(void **state) {
    (void)state;
    setenv("TILEC_TUNE_FILE", table, 1);
    remove(table);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tunes_ahead, set_up),
        cmocka_unit_test_setup(keeps_rows_in_the_file, set_up),
        cmocka_unit_test_setup(leaves_other_files_alone, set_up),
        cmocka_unit_test_setup(keeps_nothing_without_a_file, set_up),
        cmocka_unit_test_setup(ends_in_time, set_up),
        cmocka_unit_test_setup(measures_at_the_first_launch, set_up),
        cmocka_unit_test_setup(measures_in_prepare, set_up),
        cmocka_unit_test_setup(leaves_own_grids_alone, set_up),
        cmocka_unit_test_setup(threads_wait_for_no_other, set_up),
        cmocka_unit_test_setup(says_what_is_not_measured, set_up),
        cmocka_unit_test_setup(choices_have_effects_of_their_own, set_up),
        cmocka_unit_test_setup(gaps_are_left_alone, set_up),
        cmocka_unit_test_setup(all_kernels_use_the_result, set_up),
        cmocka_unit_test_setup(partial_results_replace_nothing, set_up),
        cmocka_unit_test_setup(budgets_hold_with_large_arrays, set_up),
        cmocka_unit_test_setup(nothing_to_choose, set_up),
        cmocka_unit_test_setup(bad_calls_are_refused, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
