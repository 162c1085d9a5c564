// Every call that takes a context, or something made from one, and refuses an argument: it leaves a
// message of its own, and not that of the call before. Not here: tilec_diagnostic_get, which reads
// what the last call left.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tilec/dlpack.h>
#include <tilec/library.h>

#include <cmocka.h>

#include "tests/support/host.h"

// Two devices of one kind in a context, and something of each.
typedef struct World {
    Host *h;
    tilec_context *context;
    tilec_device *d, *other;
    tilec_stream *own, *others;
    tilec_event *event, *other_event;
    tilec_buffer b, of_other, dead;
    tilec_kernel *kernel, *open;
    char bytes[64];
} World;

enum { SIZE = 256 };

static World begin(Host *h) {
    World w = {.h = h, .context = h->context, .d = h->device};
    assert_int_equal(tilec_device_open(w.context, h->name, &w.other), TILEC_OK);
    assert_int_equal(tilec_stream_create(w.d, &w.own), TILEC_OK);
    assert_int_equal(tilec_stream_create(w.other, &w.others), TILEC_OK);
    assert_int_equal(tilec_event_create(w.d, &w.event), TILEC_OK);
    assert_int_equal(tilec_event_create(w.other, &w.other_event), TILEC_OK);
    assert_int_equal(tilec_buffer_create(w.d, SIZE, &w.b), TILEC_OK);
    assert_int_equal(tilec_buffer_create(w.other, SIZE, &w.of_other), TILEC_OK);
    assert_int_equal(tilec_buffer_create(w.d, SIZE, &w.dead), TILEC_OK);
    assert_int_equal(tilec_buffer_destroy(w.d, w.dead), TILEC_OK);
    w.kernel = host_kernel(h, "kernel k(f32 x[N]) grid(1) { x[0] = 1; }");
    w.open = host_kernel(h, "kernel k(type T, T x[N]) grid(1) { x[0] = T(1); }");
    return w;
}

// The message that no call below leaves.
static void mark(const World *w) {
    tilec_device *none = NULL;
    host_expect(w->h, TILEC_INVALID_ARGUMENT, "no device 'mark' here",
                tilec_device_open(w->context, "mark", &none));
}

static void check(const World *w, const char *call, tilec_status s) {
    const char *text = tilec_last_error(w->context);
    if (!s || !text[0] || strstr(text, "'mark'"))
        fail_msg("%s: status %d, message '%s'", call, (int)s, text);
}

#define REFUSED(call) check(&w, #call, (mark(&w), (call)))

static void test_devices_and_streams(Host *h) {
    World w = begin(h);
    tilec_device *device = NULL;
    tilec_device_info info = {0};
    uint32_t count;
    uint64_t time;
    void *native;
    REFUSED(tilec_device_open(w.context, NULL, &device));
    REFUSED(tilec_device_open(w.context, h->name, NULL));
    REFUSED(tilec_device_open(w.context, "", &device));
    REFUSED(tilec_device_count(w.context, NULL, &count));
    REFUSED(tilec_device_count(w.context, "cpu", NULL));
    REFUSED(tilec_device_describe(w.d, NULL));
    REFUSED(tilec_device_describe(w.d, &info));
    REFUSED(tilec_stream_create(w.d, NULL));
    REFUSED(tilec_stream_from_native(w.d, NULL, NULL));
    REFUSED(tilec_stream_native(w.own, NULL));
    REFUSED(tilec_stream_native(w.own, &native));
    REFUSED(tilec_event_create(w.d, NULL));
    REFUSED(tilec_event_record(NULL, w.own));
    REFUSED(tilec_event_record(w.event, w.others));
    REFUSED(tilec_event_query(w.event, NULL));
    REFUSED(tilec_stream_wait_event(w.own, NULL));
    REFUSED(tilec_stream_wait_event(w.others, w.event));
    REFUSED(tilec_event_elapsed_ns(NULL, w.event, &time));
    REFUSED(tilec_event_elapsed_ns(w.event, NULL, &time));
    REFUSED(tilec_event_elapsed_ns(w.event, w.event, NULL));
    REFUSED(tilec_event_elapsed_ns(w.event, w.event, &time));
    REFUSED(tilec_event_elapsed_ns(w.event, w.other_event, &time));
}

static void test_memory(Host *h) {
    World w = begin(h);
    tilec_buffer b = {0};
    void *p;
    REFUSED(tilec_buffer_create(w.d, 1, NULL));
    REFUSED(tilec_buffer_create(w.d, SIZE_MAX, &b));
    REFUSED(tilec_buffer_create_async(w.d, w.own, 1, NULL));
    REFUSED(tilec_buffer_create_async(w.d, w.others, 1, &b));
    REFUSED(tilec_buffer_destroy(w.d, w.dead));
    REFUSED(tilec_buffer_destroy(w.d, w.of_other));
    REFUSED(tilec_buffer_destroy_async(w.d, w.own, w.dead));
    REFUSED(tilec_buffer_destroy_async(w.d, w.own, w.of_other));
    REFUSED(tilec_buffer_destroy_async(w.d, w.others, w.b));
    REFUSED(tilec_buffer_address(w.d, w.b, NULL, NULL));
    REFUSED(tilec_buffer_address(w.d, w.dead, &p, NULL));
    REFUSED(tilec_buffer_address(w.d, w.of_other, &p, NULL));
    REFUSED(tilec_host_alloc(w.d, 1, NULL));
    REFUSED(tilec_host_alloc(w.d, SIZE_MAX, &p));
    REFUSED(tilec_host_free(w.d, w.bytes));
    assert_int_equal(tilec_buffer_create_async(w.d, w.own, SIZE, &b), TILEC_OK);
    REFUSED(tilec_pool_limit(w.d, 1));
    assert_true(b.handle);
}

static void test_copies(Host *h) {
    World w = begin(h);
    REFUSED(tilec_buffer_write(w.d, w.own, w.b, 0, NULL, 4));
    REFUSED(tilec_buffer_write(w.d, w.others, w.b, 0, w.bytes, 4));
    REFUSED(tilec_buffer_write(w.d, w.own, w.of_other, 0, w.bytes, 4));
    REFUSED(tilec_buffer_write(w.d, w.own, w.b, SIZE, w.bytes, 4));
    REFUSED(tilec_buffer_read(w.d, w.own, w.b, 0, NULL, 4));
    REFUSED(tilec_buffer_read(w.d, w.own, w.dead, 0, w.bytes, 4));
    REFUSED(tilec_buffer_read(w.d, w.own, w.b, SIZE_MAX, w.bytes, 4));
    REFUSED(tilec_buffer_write_async(w.d, w.own, w.b, 0, NULL, 4));
    REFUSED(tilec_buffer_write_async(w.d, w.others, w.b, 0, w.bytes, 4));
    REFUSED(tilec_buffer_read_async(w.d, w.own, w.b, 0, NULL, 4));
    REFUSED(tilec_buffer_read_async(w.d, w.own, w.of_other, 0, w.bytes, 4));
    REFUSED(tilec_buffer_copy(w.d, w.own, w.b, 0, w.dead, 0, 4));
    REFUSED(tilec_buffer_copy(w.d, w.own, w.dead, 0, w.b, 0, 4));
    REFUSED(tilec_buffer_copy(w.d, w.own, w.b, 0, w.b, 0, SIZE + 1));
    REFUSED(tilec_buffer_copy(w.d, w.others, w.b, 0, w.b, 0, 4));
    REFUSED(tilec_buffer_fill(w.d, w.own, w.b, 0, NULL, 4, 8));
    REFUSED(tilec_buffer_fill(w.d, w.own, w.b, 0, w.bytes, 3, 9));
    REFUSED(tilec_buffer_fill(w.d, w.own, w.b, 1, w.bytes, 4, 8));
    REFUSED(tilec_buffer_fill(w.d, w.own, w.b, 0, w.bytes, 4, 7));
    REFUSED(tilec_buffer_fill(w.d, w.own, w.dead, 0, w.bytes, 4, 8));
}

static void test_kernels(Host *h) {
    World w = begin(h);
    tilec_kernel *k = NULL;
    tilec_param param;
    tilec_function_pointer f;
    const char *text;
    size_t count;
    const tilec_spec no_entries = {1, NULL};
    REFUSED(tilec_kernel_from_file(w.context, NULL, "x.tile", NULL, NULL, &k));
    REFUSED(tilec_kernel_from_file(w.context, w.d, NULL, NULL, NULL, &k));
    REFUSED(tilec_kernel_from_file(w.context, w.d, "no.tile", NULL, NULL, &k));
    REFUSED(tilec_kernel_from_file(w.context, w.d, "x.tile", NULL, NULL, NULL));
    REFUSED(tilec_kernel_from_source(w.context, NULL, "x", "", 0, NULL, NULL, &k));
    REFUSED(tilec_kernel_from_source(w.context, w.d, "x", NULL, 0, NULL, NULL, &k));
    REFUSED(tilec_kernel_from_source(w.context, w.d, "x", "", 0, NULL, NULL, NULL));
    REFUSED(tilec_kernel_from_source(w.context, w.d, "x", "", 0, NULL, &no_entries, &k));
    REFUSED(tilec_kernel_param_count(w.kernel, NULL));
    REFUSED(tilec_kernel_param_count(w.open, &count));
    REFUSED(tilec_kernel_param(w.kernel, 0, NULL));
    REFUSED(tilec_kernel_param(w.kernel, 1, &param));
    REFUSED(tilec_kernel_param(w.open, 0, &param));
    REFUSED(tilec_kernel_variant_count(w.kernel, NULL));
    REFUSED(tilec_kernel_variant_count(w.open, &count));
    REFUSED(tilec_kernel_metadata(w.kernel, NULL));
    REFUSED(tilec_kernel_metadata(w.open, &text));
    REFUSED(tilec_function(w.kernel, NULL));
    REFUSED(tilec_function(w.open, &f));
    REFUSED(tilec_function_signature(w.kernel, NULL));
    REFUSED(tilec_function_signature(w.open, &text));
}

static void test_launches(Host *h) {
    World w = begin(h);
    const int64_t grid[] = {1, 1, 1}, negative[] = {-1, 1, 1};
    tilec_arg x = tilec_arg_view(tilec_buffer_view1(TILEC_F32, w.b, 4));
    tilec_arg far = tilec_arg_view(tilec_buffer_view1(TILEC_F32, w.of_other, 4));
    tilec_arg none = tilec_arg_none();
    REFUSED(tilec_launch(w.kernel, w.own, NULL, 1));
    REFUSED(tilec_launch(w.kernel, w.others, &x, 1));
    REFUSED(tilec_launch(w.kernel, w.own, &x, 0));
    REFUSED(tilec_launch(w.kernel, w.own, &far, 1));
    REFUSED(tilec_launch(w.kernel, w.own, &none, 1));
    REFUSED(tilec_launch_grid(w.kernel, w.own, 0, NULL, &x, 1));
    REFUSED(tilec_launch_grid(w.kernel, w.own, 77, grid, &x, 1));
    REFUSED(tilec_launch_grid(w.kernel, w.own, 0, negative, &x, 1));
    REFUSED(tilec_kernel_prepare(w.kernel, w.own, NULL, 1));
    REFUSED(tilec_kernel_prepare(w.kernel, w.others, &x, 1));
    REFUSED(tilec_tune(w.kernel, w.own, NULL, 1, 1));
    REFUSED(tilec_tune(w.kernel, w.own, &x, 1, 0));
    REFUSED(tilec_tune(w.kernel, w.others, &x, 1, 1));
}

static void test_libraries_and_tensors(Host *h) {
    World w = begin(h);
    tilec_device *device = NULL;
    tilec_library *library = NULL;
    tilec_archive_info info;
    tilec_function_info function;
    REFUSED(tilec_library_load(w.d, NULL, 0, &library));
    REFUSED(tilec_library_load(w.d, NULL, 0, NULL));
    REFUSED(tilec_device_open_for(w.context, NULL, &device));
    REFUSED(tilec_device_open_for(w.context, NULL, NULL));
    REFUSED(tilec_archive_describe(w.context, NULL, &info));
    REFUSED(tilec_archive_describe(w.context, NULL, NULL));
    REFUSED(tilec_archive_function(w.context, NULL, 0, &function));
    REFUSED(tilec_archive_function(w.context, NULL, 0, NULL));
    REFUSED(tilec_archive_call(NULL, 0, w.own, NULL));
    tilec_view view = tilec_buffer_view1(TILEC_F32, w.of_other, 4);
    tilec_dl_managed *managed = NULL;
    tilec_dl_versioned *versioned = NULL;
    tilec_dl_tensor tensor = {0};
    tilec_dl_versioned newer = {.major = 9};
    REFUSED(tilec_view_to_dlpack(w.d, NULL, &managed));
    REFUSED(tilec_view_to_dlpack(w.d, &view, NULL));
    REFUSED(tilec_view_to_dlpack(w.d, &view, &managed));
    REFUSED(tilec_view_to_dlpack_versioned(w.d, &view, &versioned));
    REFUSED(tilec_view_from_dlpack(w.d, NULL, &view));
    REFUSED(tilec_view_from_dlpack(w.d, &tensor, NULL));
    REFUSED(tilec_view_from_dlpack(w.d, &tensor, &view));
    REFUSED(tilec_view_from_dlpack_versioned(w.d, &newer, &view));
}

int main(void) {
    static const HostTest tests[] = {
        {"devices and streams", test_devices_and_streams},
        {"memory", test_memory},
        {"copies", test_copies},
        {"kernels", test_kernels},
        {"launches", test_launches},
        {"libraries and tensors", test_libraries_and_tensors},
    };
    return host_run(tests, sizeof tests / sizeof *tests);
}
