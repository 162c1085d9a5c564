// The sanitizer through the public API, on every device: memory that overlaps against `noalias`,
// memory of the host and of buffers, and that a kernel without mistakes gives its usual results.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/host.h"

static tilec_kernel *sanitized(Host *h, const char *source) {
    return host_kernel_spec(h, source, TILEC_SPEC(TILEC_OPTION("sanitize", 1)));
}

static const char apart[] =
    "kernel apart(*f32 p, *f32 q) requires noalias(p, q) grid(1) {\n"
    "    let i = iota(4);\n"
    "    store(q + i, load(p + i) + 1.0);\n"
    "}\n";

static void pointers_that_overlap(Host *h) {
    tilec_kernel *k = sanitized(h, apart);
    tilec_buffer one, other;
    host_expect(h, TILEC_OK, "", tilec_buffer_create(h->device, 64, &one));
    host_expect(h, TILEC_OK, "", tilec_buffer_create(h->device, 64, &other));
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(one, other)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    // The same address is refused; what overlaps from another on, is found.
    host_expect(h, TILEC_LAUNCH_REFUSED, "noalias(p, q)",
                tilec_launch(k, NULL, TILEC_ARGS(one, one)));
    host_expect(
        h, TILEC_OK, "",
        tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_buffer(one, 0), tilec_arg_buffer(one, 8))));
    host_expect(h, TILEC_KERNEL_FAILED, "[noalias]", tilec_device_synchronize(h->device));
    // The next one works, and has what the first left.
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(other, one)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    float left[4];
    host_expect(h, TILEC_OK, "", tilec_buffer_read(h->device, NULL, one, 0, left, sizeof left));
    for (int i = 0; i < 4; i++) assert_true(left[i] == 2);
}

// Two halves of one buffer are apart, whatever the kernel could reach.
static void halves_of_a_buffer(Host *h) {
    tilec_kernel *k = sanitized(h, apart), *plain = host_kernel(h, apart);
    tilec_buffer b;
    float left[8];
    host_expect(h, TILEC_OK, "", tilec_buffer_create(h->device, 32, &b));
    tilec_arg args[] = {tilec_arg_buffer(b, 0), tilec_arg_buffer(b, 16)};
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, args, 2));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    tilec_arg back[] = {args[1], args[0]};
    host_expect(h, TILEC_OK, "", tilec_launch(plain, NULL, back, 2));
    host_expect(h, TILEC_OK, "", tilec_buffer_read(h->device, NULL, b, 0, left, sizeof left));
    for (int i = 0; i < 8; i++) assert_true(left[i] == (i < 4 ? 2 : 1));
}

static void views_that_overlap(Host *h) {
    tilec_kernel *k = sanitized(h,
                                "kernel views(f32 x[N], f32 y[N]) requires noalias(x, y) grid(1) {"
                                "    y[0 +: 8] = x[0 +: 8];\n}\n");
    float x[12] = {3, 4};
    host_expect(
        h, TILEC_LAUNCH_REFUSED, "noalias(x, y)",
        tilec_launch(k, NULL,
                     TILEC_ARGS(tilec_view1(TILEC_F32, x, 8), tilec_view1(TILEC_F32, x + 4, 8))));
    float y[8] = {0};
    host_expect(
        h, TILEC_OK, "",
        tilec_launch(k, NULL,
                     TILEC_ARGS(tilec_view1(TILEC_F32, x, 8), tilec_view1(TILEC_F32, y, 8))));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_true(y[0] == 3 && y[1] == 4);
}

static void programs_that_race(Host *h) {
    tilec_kernel *k = sanitized(h,
                                "kernel race(i32 y[N]) grid(N) {\n"
                                "    y[program(0) / 2] = i32(program(0));\n}\n");
    int32_t y[1024] = {0};
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_I32, y, 1))));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    host_expect(h, TILEC_OK, "",
                tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_I32, y, 1024))));
    host_expect(h, TILEC_KERNEL_FAILED,
                "program (1, 0, 0), lane 0: writes element 0 of 'y', which program 0 touches too",
                tilec_device_synchronize(h->device));
}

static void findings_are_data(Host *h) {
    tilec_kernel *k = sanitized(h,
                                "kernel far(*f32 p, i64 n) grid(1) {\n    store(p + n, 1.0);\n"
                                "    assume(n < 2);\n}\n");
    tilec_buffer b;
    host_expect(h, TILEC_OK, "", tilec_buffer_create(h->device, 16, &b));
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(b, 5)));
    host_expect(h, TILEC_KERNEL_FAILED, "[bounds]", tilec_device_synchronize(h->device));
    tilec_diagnostic first, second;
    host_expect(h, TILEC_OK, "", tilec_diagnostic_get(h->context, 0, &first));
    host_expect(h, TILEC_OK, "", tilec_diagnostic_get(h->context, 1, &second));
    assert_string_equal(first.code, "bounds");
    assert_int_equal(first.line, 2);
    assert_string_equal(second.code, "assume");
    assert_int_equal(second.line, 3);
}

int main(void) {
    static const HostTest tests[] = {
        {"pointers_that_overlap", pointers_that_overlap},
        {"halves_of_a_buffer", halves_of_a_buffer},
        {"views_that_overlap", views_that_overlap},
        {"programs_that_race", programs_that_race},
        {"findings_are_data", findings_are_data},
    };
    return host_run(tests, sizeof tests / sizeof *tests);
}
