// The public API on the device interp, as a host program uses it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tilec/tilec.h>

#include <cmocka.h>

typedef struct Fixture {
    tilec_context *context;
    tilec_device *device;
    char printed[256];
} Fixture;

static void keep_line(void *user, const char *line, size_t length) {
    Fixture *f = user;
    size_t used = strlen(f->printed);
    if (used + length + 2 > sizeof f->printed) return;
    memcpy(f->printed + used, line, length);
    f->printed[used + length] = '\n';
    f->printed[used + length + 1] = 0;
}

static int set_up(void **state) {
    Fixture *f = test_calloc(1, sizeof *f);
    tilec_context_options options = {.size = sizeof options, .print = keep_line, .user = f};
    assert_int_equal(tilec_context_create(&options, &f->context), TILEC_OK);
    assert_int_equal(tilec_device_open(f->context, "interp", &f->device), TILEC_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    tilec_context_destroy(f->context);
    test_free(f);
    return 0;
}

static tilec_status make(Fixture *f, const char *source, const tilec_spec *spec, tilec_kernel **k) {
    return tilec_kernel_from_source(f->context, f->device, "test.tile", source, strlen(source),
                                    NULL, spec, k);
}

static const char scale_source[] =
    "kernel scale(type T, T x[N], T a, const B = 4) requires N < 1000 grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    x[i +: B] = x[i +: B] * a;\n"
    "}\n";

static void test_launch(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    assert_int_equal(
        make(f, scale_source, TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_CONST("B", 8)), &k),
        TILEC_OK);
    float x[7] = {1, 2, 3, 4, 5, 6, 7};
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_F32, x, 7), 0.5f)),
                     TILEC_OK);
    assert_int_equal(tilec_device_synchronize(f->device), TILEC_OK);
    for (int i = 0; i < 7; i++) assert_true(x[i] == (float)(i + 1) * 0.5f);
    tilec_kernel_destroy(k);
}

// Types left open are taken from the arguments; one kernel serves several.
static void test_inference(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    assert_int_equal(make(f, scale_source, NULL, &k), TILEC_OK);
    double d[3] = {1, 2, 3};
    int32_t n[3] = {1, 2, 3};
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_F64, d, 3), 3.0)),
                     TILEC_OK);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_I32, n, 3), 5)), TILEC_OK);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_F64, d, 3), 2.0)),
                     TILEC_OK);
    assert_true(d[2] == 18 && n[2] == 15);
    tilec_view no_type = tilec_view1((tilec_dtype)99, d, 3);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(no_type, 2.0)), TILEC_LAUNCH_REFUSED);
    assert_string_equal(tilec_last_error(f->context),
                        "scale: argument 'x' expects elements of some type, found no type (99)");
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_I32, n, 3), 1.5)),
                     TILEC_LAUNCH_REFUSED);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_BOOL, n, 3), 1)),
                     TILEC_INVALID_SOURCE);
    assert_non_null(strstr(tilec_last_error(f->context), "test.tile:3:"));
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(3, 4)), TILEC_LAUNCH_REFUSED);
    tilec_kernel_destroy(k);
}

static void test_refusals(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    static float x[1000];
    assert_int_equal(make(f, scale_source, TILEC_SPEC(TILEC_TYPE("T", TILEC_F32)), &k), TILEC_OK);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_F32, x, 1000), 1)),
                     TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->context), "requires N < 1000"));
    // An empty grid is a success; an own grid is taken.
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_F32, NULL, 0), 1)),
                     TILEC_OK);
    const int64_t one[3] = {1, 1, 1};
    for (int i = 0; i < 9; i++) x[i] = 1;
    assert_int_equal(
        tilec_launch_grid(k, NULL, 0, one, TILEC_ARGS(tilec_view1(TILEC_F32, x, 9), 2)), TILEC_OK);
    assert_true(x[3] == 2 && x[4] == 1);
    tilec_kernel_destroy(k);
}

static void test_diagnostics(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    assert_int_equal(
        make(f, "kernel k(f32 x[N]) grid(1) {\n    x[0] = yy;\n    x[1] = 1 +;\n}\n", NULL, &k),
        TILEC_INVALID_SOURCE);
    assert_null(k);
    assert_int_equal(tilec_diagnostic_count(f->context), 2);
    tilec_diagnostic d;
    assert_int_equal(tilec_diagnostic_get(f->context, 0, &d), TILEC_OK);
    assert_int_equal(d.severity, TILEC_ERROR);
    assert_int_equal(d.line == 2 || d.line == 3, 1);
    assert_string_equal(d.file, "test.tile");
    assert_int_equal(tilec_diagnostic_get(f->context, 2, &d), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_kernel_from_file(f->context, f->device, NULL, NULL, NULL, &k),
                     TILEC_INVALID_ARGUMENT);
    assert_string_equal(tilec_last_error(f->context), "the path is NULL");
    assert_int_equal(tilec_kernel_from_source(f->context, f->device, "x", NULL, 0, NULL, NULL, &k),
                     TILEC_INVALID_ARGUMENT);
    assert_string_equal(tilec_last_error(f->context), "the source is NULL");
    assert_int_equal(tilec_kernel_from_file(f->context, f->device, "no/such.tile", NULL, NULL, &k),
                     TILEC_IO);
    assert_int_equal(make(f, scale_source, TILEC_SPEC(TILEC_CONST("C", 1)), &k),
                     TILEC_INVALID_SOURCE);
    assert_non_null(strstr(tilec_last_error(f->context), "has no const parameter 'C'"));
    assert_int_equal(make(f, scale_source, TILEC_SPEC(TILEC_OPTION("warp", 1)), &k),
                     TILEC_INVALID_SOURCE);
    assert_int_equal(tilec_device_open(f->context, "cuda:0", &f->device), TILEC_UNAVAILABLE);
    assert_int_equal(tilec_device_open(f->context, "interp:1", &f->device), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_device_open(f->context, "auto:2", &f->device), TILEC_INVALID_ARGUMENT);
    assert_non_null(strstr(tilec_last_error(f->context),
                           "device 'auto:2': nothing may follow 'auto'; name the kind"));
}

static void test_null_arguments(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    assert_int_equal(tilec_context_create(NULL, NULL), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_kernel_from_source(f->context, NULL, "x", "", 0, NULL, NULL, &k),
                     TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_kernel_from_source(f->context, f->device, NULL, NULL, 0, NULL, NULL, &k),
                     TILEC_INVALID_ARGUMENT);
    assert_int_equal(make(f, "", NULL, &k), TILEC_INVALID_SOURCE);
    assert_int_equal(tilec_launch(NULL, NULL, NULL, 0), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_device_open(f->context, NULL, &f->device), TILEC_INVALID_ARGUMENT);
    tilec_kernel_destroy(NULL);
    tilec_device_close(NULL);
    tilec_stream_destroy(NULL);
    tilec_event_destroy(NULL);
    tilec_context_destroy(NULL);
}

static void test_failures_wait(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    assert_int_equal(
        make(f,
             "kernel k(i32 x[N]) grid(N) {\n    let i = program(0);\n    print(\"i = \", i);\n"
             "    assert(x[i] < 2, \"too big\");\n    x[i] = 0;\n}\n",
             NULL, &k),
        TILEC_OK);
    int32_t x[4] = {1, 5, 1, 7};
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_I32, x, 4))), TILEC_OK);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_I32, x, 4))), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(f->device), TILEC_KERNEL_FAILED);
    assert_non_null(strstr(tilec_last_error(f->context), "too big"));
    assert_non_null(strstr(tilec_last_error(f->context), "test.tile:4:"));
    assert_int_equal(tilec_device_synchronize(f->device), TILEC_OK);
    assert_int_equal(x[0], 0);
    assert_int_equal(x[1], 5);
    assert_non_null(strstr(f->printed, "i = 3\n"));
    tilec_kernel_destroy(k);
}

static void test_sanitize(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    static const char source[] = "kernel k(*f32 p, i64 n) grid(1) {\n    store(p + n, 1.0);\n}\n";
    tilec_buffer b;
    assert_int_equal(tilec_buffer_create(f->device, 16, &b), TILEC_OK);
    assert_int_equal(make(f, source, TILEC_SPEC(TILEC_OPTION("sanitize", 1)), &k), TILEC_OK);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(b, 3)), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(f->device), TILEC_OK);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(b, 4)), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(f->device), TILEC_KERNEL_FAILED);
    assert_non_null(strstr(tilec_last_error(f->context), "test.tile:2:"));
    float out[4];
    assert_int_equal(tilec_buffer_read(f->device, NULL, b, 0, out, 16), TILEC_OK);
    assert_true(out[3] == 1);
    assert_int_equal(tilec_buffer_read(f->device, NULL, b, 4, out, 16), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_buffer_destroy(f->device, b), TILEC_OK);
    assert_int_equal(tilec_buffer_destroy(f->device, b), TILEC_INVALID_ARGUMENT);
    tilec_kernel_destroy(k);
}

static void test_events(void **state) {
    Fixture *f = *state;
    tilec_stream *s = NULL;
    tilec_event *a = NULL, *b = NULL;
    uint64_t ns = 0;
    assert_int_equal(tilec_stream_create(f->device, &s), TILEC_OK);
    assert_int_equal(tilec_event_create(f->device, &a), TILEC_OK);
    assert_int_equal(tilec_event_create(f->device, &b), TILEC_OK);
    assert_int_equal(tilec_event_elapsed_ns(a, b, &ns), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_event_record(a, s), TILEC_OK);
    assert_int_equal(tilec_stream_wait_event(s, a), TILEC_OK);
    assert_int_equal(tilec_event_record(b, NULL), TILEC_OK);
    assert_int_equal(tilec_event_synchronize(b), TILEC_OK);
    assert_int_equal(tilec_event_elapsed_ns(a, b, &ns), TILEC_OK);
    assert_int_equal(tilec_stream_synchronize(s), TILEC_OK);
    tilec_event_destroy(a);
    tilec_event_destroy(b);
    tilec_stream_destroy(s);
}

// The source and the kernel may be gone when the failure is asked for.
static void test_failure_outlives_kernel(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    tilec_stream *s = NULL;
    int32_t x[1] = {0};
    assert_int_equal(
        make(f, "kernel k(i32 x[N]) grid(1) {\n    assert(x[0] == 1, \"one\");\n}\n", NULL, &k),
        TILEC_OK);
    assert_int_equal(tilec_stream_create(f->device, &s), TILEC_OK);
    assert_int_equal(tilec_launch(k, s, TILEC_ARGS(tilec_view1(TILEC_I32, x, 1))), TILEC_OK);
    tilec_kernel_destroy(k);
    // The device's own word covers all its streams.
    assert_int_equal(tilec_device_synchronize(f->device), TILEC_KERNEL_FAILED);
    assert_non_null(strstr(tilec_last_error(f->context), "test.tile:2:"));
    assert_int_equal(tilec_stream_synchronize(s), TILEC_OK);
}

static void test_specialisations(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    const tilec_spec *wrong[] = {
        TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_TYPE("T", TILEC_F16)),
        TILEC_SPEC(TILEC_CONST("B", 4), TILEC_CONST("B", 4)),
        TILEC_SPEC(TILEC_OPTION("sanitize", 7)),
        TILEC_SPEC(TILEC_OPTION("warps", 0)),
        TILEC_SPEC(TILEC_OPTION("warps", 1025)),
        TILEC_SPEC(TILEC_OPTION("chiplets", 65)),
        TILEC_SPEC(TILEC_OPTION("turns", -1)),
        TILEC_SPEC(TILEC_OPTION("direct", 2)),
        TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_CONST("B", 3)),
        TILEC_SPEC(TILEC_TYPE(NULL, TILEC_F32)),
        TILEC_SPEC(TILEC_TYPE("T", (tilec_dtype)99)),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(make(f, scale_source, wrong[i], &k), TILEC_INVALID_SOURCE);
    assert_int_equal(make(f, scale_source, &(tilec_spec){2, NULL}, &k), TILEC_INVALID_SOURCE);
    assert_null(k);
}

static void test_no_parameters(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    assert_int_equal(make(f, "kernel k() grid(1) {\n    print(\"ran\");\n}\n", NULL, &k), TILEC_OK);
    assert_int_equal(tilec_launch(k, NULL, TILEC_NO_ARGS), TILEC_OK);
    assert_string_equal(f->printed, "ran\n");
    assert_int_equal(tilec_launch(k, NULL, NULL, 1), TILEC_INVALID_ARGUMENT);
    assert_string_equal(tilec_last_error(f->context), "the arguments are NULL");
    tilec_view none = tilec_view_of(TILEC_F32, NULL, 2, NULL);
    assert_int_equal(none.rank, -1);
}

static void test_too_many_arguments(void **state) {
    Fixture *f = *state;
    tilec_kernel *k = NULL;
    char source[2048] = "kernel k(i32 x[N]";
    for (int i = 0; i < 64; i++) sprintf(source + strlen(source), ", i32 a%d", i);
    strcat(source, ") grid(1) { x[0] = a0; }");
    assert_int_equal(make(f, source, NULL, &k), TILEC_INVALID_SOURCE);
    assert_non_null(strstr(tilec_last_error(f->context), "at most 64 arguments, found 65"));
}

// A mistake that no type can fix is refused while the type is open, and not at the first launch.
static void open_types_hide_no_mistake(void **state) {
    static const char text[] =
        "kernel k(type T, T x[N], const B = 16) grid(cdiv(N, B))\n"
        "{ static_assert(B < 64 || T == f64); x[program(0) * B +: B] = T(1); }\n";
    static const struct {
        int64_t b;
        int fine;
    } rows[] = {{16, 1}, {32, 1}, {64, 1}, {0, 0}, {-3, 0}, {17, 0}};
    (void)state;
    tilec_context *c = NULL;
    tilec_device *d = NULL;
    assert_int_equal(tilec_context_create(NULL, &c), TILEC_OK);
    assert_int_equal(tilec_device_open(c, "interp", &d), TILEC_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tilec_kernel *k = NULL;
        tilec_status s = tilec_kernel_from_source(c, d, "k.tile", text, sizeof text - 1, NULL,
                                                  TILEC_SPEC(TILEC_CONST("B", rows[i].b)), &k);
        assert_int_equal(s, rows[i].fine ? TILEC_OK : TILEC_INVALID_SOURCE);
        if (!rows[i].fine)
            assert_non_null(strstr(tilec_last_error(c), "must be a power of two, found"));
    }
    // Two types are open. Only i8 with f16 is right for 64.
    static const char pair[] =
        "kernel k(type T, type U, T x[N], U y[N], const B = 16) grid(cdiv(N, B))\n"
        "{ static_assert(B < 64 || (T == i8 && U == f16)); y[program(0) * B +: B] = U(1);\n"
        "  x[program(0) * B +: B] = T(1); }\n";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tilec_kernel *k = NULL;
        tilec_status s = tilec_kernel_from_source(c, d, "k.tile", pair, sizeof pair - 1, NULL,
                                                  TILEC_SPEC(TILEC_CONST("B", rows[i].b)), &k);
        assert_int_equal(s, rows[i].fine ? TILEC_OK : TILEC_INVALID_SOURCE);
        if (!rows[i].fine)
            assert_non_null(strstr(tilec_last_error(c), "'U'; no other types are right either"));
    }
    // Three types are open, and for 64 only these are right.
    static const char three[] =
        "kernel k(type T, type U, type V, T x[N], U y[N], V z[N], const B = 16) grid(1)\n"
        "{ static_assert(B < 64 || (T == i8 && U == f16 && V == u64)); x[0 +: B] = T(1);\n"
        "  y[0 +: B] = U(1); z[0 +: B] = V(1); }\n";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tilec_kernel *k = NULL;
        tilec_status s = tilec_kernel_from_source(c, d, "k.tile", three, sizeof three - 1, NULL,
                                                  TILEC_SPEC(TILEC_CONST("B", rows[i].b)), &k);
        assert_int_equal(s, rows[i].fine ? TILEC_OK : TILEC_INVALID_SOURCE);
        if (!rows[i].fine)
            assert_non_null(strstr(tilec_last_error(c),
                                   "with f32 for 'T', f32 for 'U' and f32 "
                                   "for 'V'; no other types are right"));
    }
    tilec_context_destroy(c);
}

static size_t counted(const tilec_arg *args, size_t count) {
    for (size_t i = 0; i < count; i++) assert_int_equal(args[i].integer, i);
    return count;
}

// A kernel with the most arguments that it may have.
static void args_go_to_the_limit(void **state) {
    (void)state;
    assert_int_equal(counted(TILEC_ARGS(0)), 1);
    assert_int_equal(counted(TILEC_ARGS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
                     17);
    assert_int_equal(
        counted(TILEC_ARGS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                           21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
                           39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56,
                           57, 58, 59, 60, 61, 62, 63)),
        64);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(args_go_to_the_limit),
        cmocka_unit_test(open_types_hide_no_mistake),
        TEST(test_launch),
        TEST(test_inference),
        TEST(test_refusals),
        TEST(test_diagnostics),
        TEST(test_null_arguments),
        TEST(test_failures_wait),
        TEST(test_failure_outlives_kernel),
        TEST(test_specialisations),
        TEST(test_no_parameters),
        TEST(test_too_many_arguments),
        TEST(test_sanitize),
        TEST(test_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
