// The information about kernels, prepared launches, and the options of contexts, on every device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "tests/support/host.h"

static const char source[] =
    "kernel k(f16 a, *i32 p, strided f32 x[M, 4], u8 y[M]) grid(M) {\n"
    "    y[program(0)] = u8(load(p));\n    x[0, 0] = f32(a) + x[1, 1];\n}\n";

static void test_params(Host *h) {
    tilec_kernel *k = host_kernel(h, source);
    assert_string_equal(tilec_kernel_name(k), "k");
    assert_string_equal(tilec_kernel_name(NULL), "");
    size_t count = 0;
    assert_int_equal(tilec_kernel_param_count(k, &count), TILEC_OK);
    assert_int_equal(count, 4);
    tilec_param p;
    assert_int_equal(tilec_kernel_param(k, 0, &p), TILEC_OK);
    assert_string_equal(p.name, "a");
    assert_true(p.kind == TILEC_PARAM_SCALAR && p.dtype == TILEC_F16 && p.read && !p.written);
    assert_int_equal(tilec_kernel_param(k, 1, &p), TILEC_OK);
    assert_true(p.kind == TILEC_PARAM_POINTER && p.dtype == TILEC_I32 && p.read && !p.written);
    assert_int_equal(tilec_kernel_param(k, 2, &p), TILEC_OK);
    assert_true(p.kind == TILEC_PARAM_VIEW && p.rank == 2 && p.strided && p.read && p.written);
    assert_string_equal(p.extent_name[0], "M");
    assert_null(p.extent_name[1]);
    assert_int_equal(p.extent[1], 4);
    assert_int_equal(tilec_kernel_param(k, 3, &p), TILEC_OK);
    assert_true(p.dtype == TILEC_U8 && !p.strided && !p.read && p.written);
    host_expect(h, TILEC_INVALID_ARGUMENT, "k has 4 parameters; there is no parameter 4",
                tilec_kernel_param(k, 4, &p));
    host_expect(h, TILEC_INVALID_ARGUMENT, "answer", tilec_kernel_param(k, 0, NULL));
    assert_int_equal(tilec_kernel_variant_count(k, &count), TILEC_OK);
    assert_true(count >= 1);
}

static void test_metadata(Host *h) {
    tilec_kernel *k = host_kernel(h, source);
    const char *json = NULL, *again = NULL;
    assert_int_equal(tilec_kernel_metadata(k, &json), TILEC_OK);
    assert_int_equal(tilec_kernel_metadata(k, &again), TILEC_OK);
    assert_ptr_equal(json, again);
    Arena *arena = arena_create();
    const JsonValue *value = json_parse(arena, str(json), NULL);
    assert_non_null(value);
    assert_true(str_equal(json_get(value, "kernel")->string, STR("k")));
    arena_destroy(arena);
}

static void test_open_types(Host *h) {
    tilec_kernel *k = host_kernel(h, "kernel o(type T, T x[N]) grid(1) {\n    x[0] = x[1];\n}\n");
    size_t count = 7;
    assert_string_equal(tilec_kernel_name(k), "o");
    host_expect(h, TILEC_INVALID_ARGUMENT, "give them with TILEC_TYPE",
                tilec_kernel_param_count(k, &count));
    assert_int_equal(count, 7);
    float x[2] = {1, 2};
    assert_int_equal(tilec_kernel_prepare(k, NULL, TILEC_ARGS(tilec_view1(TILEC_F32, x, 2))),
                     TILEC_OK);
    assert_true(x[0] == 1);
}

// After preparing, a launch asks the allocator for nothing.
static void test_prepare(Host *h) {
    tilec_kernel *k = host_kernel(
        h,
        "kernel k(f32 x[N], f32 y[N], const B = 256) grid(cdiv(N, B)) {\n"
        "    let i = program(0) * B;\n    let v = x[i +: B];\n    y[i +: B] = v / sum(v);\n}\n");
    static float x[1000], y[1000];
    for (int i = 0; i < 1000; i++) x[i] = 2, y[i] = 0;
    tilec_view in = tilec_view1(TILEC_F32, x, 1000), out = tilec_view1(TILEC_F32, y, 1000);
    tilec_stream *s = NULL;
    assert_int_equal(tilec_stream_create(h->device, &s), TILEC_OK);
    host_expect(h, TILEC_LAUNCH_REFUSED, "k takes 2 arguments, found 1",
                tilec_kernel_prepare(k, s, TILEC_ARGS(in)));
    host_expect(h, TILEC_OK, "", tilec_kernel_prepare(k, s, TILEC_ARGS(in, out)));
    assert_true(y[0] == 0);
    size_t before = h->total;
    h->left = 0;
    for (int i = 0; i < 3; i++)
        host_expect(h, TILEC_OK, "", tilec_launch(k, s, TILEC_ARGS(in, out)));
    host_expect(h, TILEC_OK, "", tilec_stream_synchronize(s));
    assert_int_equal(h->total, before);
    h->left = SIZE_MAX;
    assert_true(y[0] == 1.0f / 256 && y[999] == 1.0f / 232);
}

// Options that are shorter, longer, or half an allocator.
static void test_options(Host *h) {
    (void)h;
    struct {
        tilec_context_options known;
        uint64_t later;
    } longer = {.known = {.size = sizeof longer}};
    tilec_context *c = NULL;
    assert_int_equal(tilec_context_create(&longer.known, &c), TILEC_OK);
    tilec_context_destroy(c);
    c = NULL;
    longer.later = 1;
    assert_int_equal(tilec_context_create(&longer.known, &c), TILEC_INVALID_ARGUMENT);
    tilec_context_options shorter = {.size = offsetof(tilec_context_options, log)};
    shorter.cache_folder = (const char *)(uintptr_t)8;  // not looked at
    assert_int_equal(tilec_context_create(&shorter, &c), TILEC_OK);
    tilec_context_destroy(c);
    tilec_context_options tiny = {.size = 3};
    assert_int_equal(tilec_context_create(&tiny, &c), TILEC_INVALID_ARGUMENT);
    tilec_context_options half = {.size = sizeof half};
    half.allocator.release = (void (*)(void *, void *, size_t))(uintptr_t)8;
    assert_int_equal(tilec_context_create(&half, &c), TILEC_INVALID_ARGUMENT);
}

static void test_event_query(Host *h) {
    tilec_event *e = NULL;
    int done = 7;
    assert_int_equal(tilec_event_create(h->device, &e), TILEC_OK);
    assert_int_equal(tilec_event_query(e, &done), TILEC_OK);
    assert_int_equal(done, 1);
    assert_int_equal(tilec_event_record(e, NULL), TILEC_OK);
    assert_int_equal(tilec_event_synchronize(e), TILEC_OK);
    done = 7;
    assert_int_equal(tilec_event_query(e, &done), TILEC_OK);
    assert_int_equal(done, 1);
    host_expect(h, TILEC_INVALID_ARGUMENT, "answer", tilec_event_query(e, NULL));
    assert_int_equal(tilec_event_query(NULL, &done), TILEC_INVALID_ARGUMENT);
}

static void test_version(Host *h) {
    (void)h;
    assert_string_equal(tilec_version(), TILEC_VERSION_TEXT);
    assert_int_equal(tilec_version_number(), TILEC_VERSION_NUMBER);
    assert_int_equal(tilec_dtype_bytes(TILEC_F32, 3), 12);
    assert_int_equal(tilec_dtype_bytes(TILEC_I4, 3), 2);
    assert_int_equal(tilec_dtype_bytes(TILEC_F64, UINT64_MAX), SIZE_MAX);
    assert_int_equal(tilec_dtype_bytes((tilec_dtype)77, 3), 0);
}

int main(void) {
    static const HostTest tests[] = {
        {"params", test_params},   {"metadata", test_metadata}, {"open types", test_open_types},
        {"prepare", test_prepare}, {"options", test_options},   {"event query", test_event_query},
        {"version", test_version},
    };
    return host_run(tests, sizeof tests / sizeof *tests);
}
