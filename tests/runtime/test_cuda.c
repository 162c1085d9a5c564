// The device `cuda` on a driver without a GPU (tests/fakes/cuda): kernels in PTX written here, and
// every failure of every call.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/dlpack.h>

#include <cmocka.h>

#include "base/os_dl.h"
#include "base/recover.h"
#include "runtime/context.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/kernel.h"
#include "tests/fakes/cuda/fake.h"

#define HEAD          \
    ".version 7.0\n"  \
    ".target sm_75\n" \
    ".address_size 64\n"
#define PLACE                         \
    "mov.u32 %r1, %ctaid.x;\n"        \
    "mov.u32 %r2, %tid.x;\n"          \
    "mad.lo.s32 %r3, %r1, 32, %r2;\n" \
    "cvt.u64.u32 %rd5, %r3;\n"
// z[i] = x[i] + y[i]; block of 48 bytes: three views of f32[N], then the report.
static const char add_text[] = HEAD
    ".visible .entry add(.param .align 16 .b8 block[56])\n"
    ".reqntid 32, 1, 1\n"
    "{\n"
    ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<12>;\n.reg .f32 %f<4>;\n"
    "ld.param.u64 %rd1, [block];\n"
    "ld.param.u64 %rd2, [block+16];\n"
    "ld.param.u64 %rd3, [block+32];\n"
    "ld.param.u64 %rd4, [block+8];\n" PLACE
    "setp.ge.s64 %p1, %rd5, %rd4;\n"
    "@%p1 bra END;\n"
    "shl.b64 %rd6, %rd5, 2;\n"
    "add.s64 %rd7, %rd1, %rd6;\n"
    "add.s64 %rd8, %rd2, %rd6;\n"
    "add.s64 %rd9, %rd3, %rd6;\n"
    "ld.global.f32 %f1, [%rd7];\n"
    "ld.global.f32 %f2, [%rd8];\n"
    "add.f32 %f3, %f1, %f2;\n"
    "st.global.f32 [%rd9], %f3;\n"
    "END:\nret;\n"
    "}\n";
// Asserts that there is one program only: the others leave a report.
static const char assert_text[] = HEAD
    ".visible .entry add(.param .align 16 .b8 block[56])\n"
    "{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<12>;\n"
    "ld.param.u64 %rd1, [block+48];\n"
    "mov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, %tid.x;\n"
    "or.b32 %r3, %r1, 0;\n"
    "setp.eq.s32 %p1, %r3, 0;\n"
    "@%p1 bra END;\n"
    "setp.ne.s32 %p2, %r2, 0;\n"
    "@%p2 bra END;\n"
    "atom.cas.b32 %r4, [%rd1], 0, 1;\n"
    "setp.ne.s32 %p1, %r4, 0;\n"
    "@%p1 bra END;\n"
    "cvt.u64.u32 %rd2, %r1;\n"
    "mov.u64 %rd3, 0;\n"
    "st.u64 [%rd1+8], %rd2;\n"
    "st.u64 [%rd1+16], %rd3;\n"
    "st.u64 [%rd1+24], %rd3;\n"
    "mov.u64 %rd4, 5;\n"
    "st.u64 [%rd1+32], %rd4;\n"
    "END:\nret;\n"
    "}\n";

static const FakeCuda *fake;

// ---- Kernels made by hand ----

enum { N = 100 };
typedef struct Kernel {
    MetaArg args[3];
    Str extent;
    LaunchInstr code[4];
    MetaSite site;
    Str text;
    MetaVariant variant;
    MetaKernel meta;
    RtModuleSlot module;
    RtLoaded loaded;
} Kernel;

static void make_meta(Kernel *k) {
    static const char *const names[] = {"x", "y", "z"};
    *k = (Kernel){.extent = STR("N"), .text = STR("one program")};
    for (int i = 0; i < 3; i++)
        k->args[i] = (MetaArg){.name = str(names[i]),
                               .kind = META_VIEW,
                               .dtype = DTYPE_F32,
                               .rank = 1,
                               .written = i == 2,
                               .dims = {{0, 0}}};
    meta_layout(k->args, 3, &k->meta.size);
    k->code[0] = (LaunchInstr){.op = LAUNCH_ARG_EXTENT, .dtype = DTYPE_I64, .result = DTYPE_I64};
    k->code[1] =
        (LaunchInstr){.op = LAUNCH_CONST, .dtype = DTYPE_I64, .result = DTYPE_I64, .imm = 4};
    k->site = (MetaSite){.kind = META_SITE_ASSERT,
                         .file = STR("k.tile"),
                         .line = 3,
                         .column = 5,
                         .end_line = 3,
                         .end_column = 9,
                         .text_count = 1,
                         .texts = &k->text};
    k->variant = (MetaVariant){.entry = STR("add"),
                               .guard = META_NO_VALUE,
                               .code = {2, k->code},
                               .grid_rank = 1,
                               .grid = {1},
                               .block = {32, 1, 1}};
    k->meta.name = STR("add");
    k->meta.arg_count = 3, k->meta.args = k->args;
    k->meta.extent_count = 1, k->meta.extents = &k->extent;
    k->meta.variant_count = 1, k->meta.variants = &k->variant;
    k->loaded = (RtLoaded){&k->module, &k->meta};
}

static void kernel_destroy(tilec_kernel *kernel) {
    kernel->device->api->module_unload(kernel->device, atomic_load(kernel->loaded->modules));
}

static tilec_status load(tilec_device *device, const char *text, RtModule **module) {
    RtPtxImage ptx = {.text = str(text), .entry = STR("add")};
    rt_begin(device->context);
    return device->api->module_load(device, &(RtImage){RT_IMAGE_PTX, &ptx, sizeof ptx}, module);
}

static tilec_status make_kernel(tilec_device *device, const char *text, Kernel *k,
                                tilec_kernel **out) {
    RtModule *module = NULL;
    make_meta(k);
    tilec_status s = load(device, text, &module);
    if (s) return s;
    atomic_init(&k->module, module);
    tilec_kernel *made = recover_new(sizeof *made);
    *made = (tilec_kernel){.context = device->context,
                           .device = device,
                           .name = "add",
                           .loaded = &k->loaded,
                           .destroy = kernel_destroy};
    rt_kernel_adopt(made);
    *out = made;
    return TILEC_OK;
}

// ---- Fixture ----

typedef struct Fixture {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *kernel;
    Kernel made;
    tilec_buffer buffers[3];
    float x[N], y[N], z[N];
} Fixture;

static tilec_context *make_context(void) {
    static const RtDeviceApi *const apis[] = {&cuda_device_api};
    tilec_context *c = NULL;
    assert_int_equal(rt_context_create(NULL, apis, 1, &c), TILEC_OK);
    return c;
}

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    fake->reset();
    f->context = make_context();
    for (int i = 0; i < N; i++) f->x[i] = (float)i, f->y[i] = (float)(1000 * i);
    *state = f;
    return 0;
}

// Nothing is left behind, and nothing was wrong.
static int tear_down(void **state) {
    Fixture *f = *state;
    tilec_context_destroy(f->context);
    assert_string_equal(fake->problems(), "");
    assert_int_equal(fake->live(), 0);
    assert_int_equal(fake->depth(), 0);
    free(f);
    return 0;
}

static void said(const Fixture *f, const char *text) {
    if (!strstr(tilec_last_error(f->context), text))
        fail_msg("expected '%s' in '%s'", text, tilec_last_error(f->context));
}
static void refused(const Fixture *f, tilec_status found, tilec_status expected, const char *text) {
    if (found != expected) fail_msg("status %d: %s", (int)found, tilec_last_error(f->context));
    said(f, text);
}

static tilec_status launch(Fixture *f, tilec_stream *stream) {
    return tilec_launch(
        f->kernel, stream,
        (const tilec_arg[]){tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[0], N)),
                            tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[1], N)),
                            tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[2], N))},
        3);
}

static tilec_status open_with(Fixture *f, const char *name, const char *text) {
    tilec_status s = tilec_device_open(f->context, name, &f->device);
    for (int i = 0; i < 3 && !s; i++)
        s = tilec_buffer_create(f->device, sizeof f->x, &f->buffers[i]);
    return s ? s : make_kernel(f->device, text, &f->made, &f->kernel);
}

static tilec_status fill(Fixture *f, tilec_stream *stream) {
    tilec_status s = tilec_buffer_write(f->device, stream, f->buffers[0], 0, f->x, sizeof f->x);
    return s ? s : tilec_buffer_write(f->device, stream, f->buffers[1], 0, f->y, sizeof f->y);
}

static void sums(const Fixture *f) {
    for (int i = 0; i < N; i++) assert_true(f->z[i] == (float)(1001 * i));
}

// All that a program does, to its end; the first failure ends it.
static tilec_status scenario(Fixture *f) {
    tilec_stream *stream = NULL;
    tilec_event *begin = NULL, *end = NULL;
    tilec_buffer copy;
    uint64_t ns = 0;
    memset(f->z, 0, sizeof f->z);
    fake->configure(2, 90, 12020, 83);
    tilec_status s = open_with(f, "cuda:0", add_text);
    tilec_stream *theirs = NULL;
    if (!s) s = tilec_stream_create(f->device, &stream);
    if (!s) s = tilec_stream_from_native(f->device, NULL, &theirs);
    if (!s) s = tilec_event_create(f->device, &begin);
    if (!s) s = tilec_event_create(f->device, &end);
    if (!s) s = tilec_buffer_create(f->device, sizeof f->z, &copy);
    if (!s) s = fill(f, NULL);
    if (!s) s = tilec_event_record(begin, NULL);
    if (!s) s = launch(f, NULL);
    f->made.variant.ctas = 2;
    if (!s) s = launch(f, theirs);
    f->made.variant.ctas = 0;
    if (!s) s = tilec_stream_synchronize(theirs);
    if (!s) s = tilec_event_record(end, NULL);
    if (!s) s = tilec_stream_wait_event(stream, end);
    if (!s) s = tilec_buffer_copy(f->device, stream, copy, 0, f->buffers[2], 0, sizeof f->z);
    if (!s) s = tilec_buffer_read(f->device, stream, copy, 0, f->z, sizeof f->z);
    int done = 0;
    if (!s) s = tilec_event_query(end, &done);
    if (!s) s = tilec_event_synchronize(end);
    if (!s) s = tilec_event_elapsed_ns(begin, end, &ns);
    if (!s) s = tilec_stream_synchronize(stream);
    if (!s) s = tilec_device_synchronize(f->device);
    if (!s) sums(f);
    return s;
}

// ---- Tests ----

static void runs(void **state) {
    Fixture *f = *state;
    tilec_status s = scenario(f);
    if (s) fail_msg("%s", tilec_last_error(f->context));
    assert_string_equal(tilec_device_name(f->device), "cuda:0");
}

// What context the caller had is its again.
static void restores_the_context(void **state) {
    Fixture *f = *state;
    OsError e;
    OsLibrary *l = os_library_open(TEST_FAKE_CUDA, &e);
    CudaDriver driver;
    assert_int_equal(cuda_driver_open(f->context, &driver), TILEC_OK);
    CUcontext theirs = NULL, found = NULL;
    assert_int_equal(driver.init(0), 0);
    assert_int_equal(driver.primary_retain(&theirs, 1), 0);
    assert_int_equal(driver.push_current(theirs), 0);
    assert_int_equal(scenario(f), TILEC_OK);
    refused(f, tilec_stream_wait_event(f->device->first, NULL), TILEC_INVALID_ARGUMENT,
            "the event is NULL");
    assert_int_equal(fake->depth(), 1);
    tilec_device_close(f->device);
    assert_int_equal(fake->depth(), 1);
    assert_int_equal(driver.pop_current(&found), 0);
    assert_ptr_equal(found, theirs);
    assert_int_equal(driver.primary_release(1), 0);
    os_library_close(l);
}

// Work waits on its streams: without the event the other stream would read nothing.
static void orders_streams(void **state) {
    Fixture *f = *state;
    assert_int_equal(open_with(f, "cuda", add_text), TILEC_OK);
    tilec_stream *streams[3];
    tilec_event *event;
    for (int i = 0; i < 3; i++)
        assert_int_equal(tilec_stream_create(f->device, &streams[i]), TILEC_OK);
    assert_int_equal(tilec_event_create(f->device, &event), TILEC_OK);
    assert_int_equal(fill(f, streams[0]), TILEC_OK);
    for (int round = 0; round < 3; round++) {
        memset(f->z, 0, sizeof f->z);
        assert_int_equal(launch(f, streams[round]), TILEC_OK);
        assert_int_equal(tilec_event_record(event, streams[round]), TILEC_OK);
        int done = 7;
        assert_int_equal(tilec_event_query(event, &done), TILEC_OK);
        assert_int_equal(done, 0);
        uint64_t ns;
        refused(f, tilec_event_elapsed_ns(event, event, &ns), TILEC_INVALID_ARGUMENT,
                "has not been reached yet");
        tilec_stream *other = streams[(round + 1) % 3];
        assert_int_equal(tilec_stream_wait_event(other, event), TILEC_OK);
        assert_int_equal(tilec_buffer_read(f->device, other, f->buffers[2], 0, f->z, sizeof f->z),
                         TILEC_OK);
        sums(f);
        assert_int_equal(tilec_event_query(event, &done), TILEC_OK);
        assert_int_equal(done, 1);
    }
}

// A stream of somebody else's: work is on it, and it stays when ours goes.
static void takes_streams_of_others(void **state) {
    Fixture *f = *state;
    CudaDriver d;
    CUstream theirs = NULL;
    tilec_stream *ours = NULL, *none = NULL;
    void *native = NULL;
    CUcontext context;
    assert_int_equal(open_with(f, "cuda:0", add_text), TILEC_OK);
    assert_int_equal(cuda_driver_open(f->context, &d), TILEC_OK);
    assert_int_equal(d.primary_retain(&context, 0), 0);
    assert_int_equal(d.push_current(context), 0);
    assert_int_equal(d.stream_create(&theirs, 1), 0);
    assert_int_equal(fill(f, NULL), TILEC_OK);
    assert_int_equal(tilec_stream_from_native(f->device, theirs, &ours), TILEC_OK);
    assert_int_equal(tilec_stream_native(ours, &native), TILEC_OK);
    assert_ptr_equal(native, theirs);
    assert_int_equal(launch(f, ours), TILEC_OK);
    assert_int_equal(d.stream_synchronize(theirs), 0);  // by its owner
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z), 0);
    sums(f);
    unsigned waited = fake->calls("cuStreamSynchronize");
    tilec_stream_destroy(ours);  // it may be in a capture, where nobody may wait
    assert_int_equal(fake->calls("cuStreamSynchronize"), waited);
    assert_int_equal(d.stream_synchronize(theirs), 0);
    // The device's own streams are the driver's, too.
    assert_int_equal(tilec_stream_native(f->device->first, &native), TILEC_OK);
    assert_int_equal(d.stream_synchronize(native), 0);
    refused(f, tilec_stream_native(f->device->first, NULL), TILEC_INVALID_ARGUMENT, "is NULL");
    assert_int_equal(tilec_stream_native(NULL, &native), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_stream_from_native(NULL, theirs, &none), TILEC_INVALID_ARGUMENT);
    refused(f, tilec_stream_from_native(f->device, theirs, NULL), TILEC_INVALID_ARGUMENT,
            "is NULL");
    Fixture g = *f;
    assert_int_equal(tilec_device_open(f->context, "cuda:1", &g.device), TILEC_OK);
    refused(f, tilec_stream_from_native(g.device, theirs, &none), TILEC_INVALID_ARGUMENT,
            "the stream is of another device or context; device cuda:1 works in the primary");
    assert_null(none);
    assert_int_equal(d.stream_destroy(theirs), 0);
    assert_int_equal(d.pop_current(&context), 0);
    assert_int_equal(d.primary_release(0), 0);
}

// Programs beside each other where the device and the grid allow it.
static void asks_for_clusters(void **state) {
    Fixture *f = *state;
    static const struct {
        int arch;
        int32_t ctas;
        unsigned calls;
    } rows[] = {{90, 2, 1}, {90, 3, 0}, {90, 16, 0}, {90, 1, 0}, {80, 2, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fake->reset();
        fake->configure(2, rows[i].arch, 12020, 83);
        assert_int_equal(open_with(f, "cuda:0", add_text), TILEC_OK);
        f->made.variant.ctas = rows[i].ctas;
        memset(f->z, 0, sizeof f->z);
        assert_int_equal(fill(f, NULL), TILEC_OK);
        assert_int_equal(launch(f, NULL), TILEC_OK);
        assert_int_equal(fake->calls("cuLaunchKernelEx"), rows[i].calls);
        assert_int_equal(fake->calls("cuLaunchKernel"), 1 - rows[i].calls);
        assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z),
                         0);
        sums(f);
        tilec_device_close(f->device);
    }
}

// Tensors of this GPU and no other; memory that every GPU reaches is as good.
static void shares_tensors(void **state) {
    Fixture *f = *state;
    tilec_device *other;
    int64_t shape[] = {N};
    void *p;
    tilec_arg args[3];
    assert_int_equal(open_with(f, "cuda:1", add_text), TILEC_OK);
    assert_int_equal(fill(f, NULL), TILEC_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tilec_buffer_address(f->device, f->buffers[i], &p, NULL), TILEC_OK);
        tilec_dl_tensor t = {.data = p,
                             .device = {TILEC_DL_CUDA, 1},
                             .ndim = 1,
                             .dtype = {TILEC_DL_FLOAT, 32, 1},
                             .shape = shape};
        tilec_view v;
        assert_int_equal(tilec_view_from_dlpack(f->device, &t, &v), TILEC_OK);
        args[i] = tilec_arg_view(v);
        t.device = (tilec_dl_device){TILEC_DL_CUDA_MANAGED, 0};
        assert_int_equal(tilec_view_from_dlpack(f->device, &t, &v), TILEC_OK);
        t.device = (tilec_dl_device){TILEC_DL_CUDA_HOST, 0};
        assert_int_equal(tilec_view_from_dlpack(f->device, &t, &v), TILEC_OK);
        t.device = (tilec_dl_device){TILEC_DL_CUDA, 0};
        refused(f, tilec_view_from_dlpack(f->device, &t, &v), TILEC_UNSUPPORTED,
                "is in memory of DLPack device 2:0, that of device cuda:1 is 2:1");
        t.device = (tilec_dl_device){TILEC_DL_CPU, 0};
        refused(f, tilec_view_from_dlpack(f->device, &t, &v), TILEC_UNSUPPORTED,
                "is in memory of DLPack device 1, that of device cuda:1 is 2");
    }
    assert_int_equal(tilec_launch(f->kernel, NULL, args, 3), TILEC_OK);
    // Out again, to the device that it is on.
    tilec_dl_managed *out = NULL;
    tilec_view z = tilec_buffer_view1(TILEC_F32, f->buffers[2], N);
    assert_int_equal(tilec_view_to_dlpack(f->device, &z, &out), TILEC_OK);
    assert_int_equal(out->tensor.device.type, TILEC_DL_CUDA);
    assert_int_equal(out->tensor.device.id, 1);
    assert_ptr_equal(out->tensor.data, p);
    assert_int_equal(tilec_device_open(f->context, "cuda:0", &other), TILEC_OK);
    tilec_view v;
    refused(f, tilec_view_from_dlpack(other, &out->tensor, &v), TILEC_UNSUPPORTED, "cuda:0 is 2:0");
    out->deleter(out);
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z), 0);
    sums(f);
}

static void takes_raw_pointers(void **state) {
    Fixture *f = *state;
    assert_int_equal(open_with(f, "cuda:0", add_text), TILEC_OK);
    assert_int_equal(fill(f, NULL), TILEC_OK);
    void *p[3];
    tilec_arg args[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tilec_buffer_address(f->device, f->buffers[i], &p[i], NULL), TILEC_OK);
        args[i] = tilec_arg_view(tilec_view1(TILEC_F32, p[i], N));
    }
    assert_int_equal(tilec_launch(f->kernel, NULL, args, 3), TILEC_OK);
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z),
                     TILEC_OK);
    sums(f);
}

static void has_two_devices(void **state) {
    Fixture *f = *state;
    Fixture *g = calloc(1, sizeof *g);
    *g = *f;
    assert_int_equal(open_with(f, "cuda:0", add_text), TILEC_OK);
    assert_int_equal(open_with(g, "cuda:1", add_text), TILEC_OK);
    assert_int_equal(fill(f, NULL), TILEC_OK);
    assert_int_equal(fill(g, NULL), TILEC_OK);
    assert_int_equal(launch(f, NULL), TILEC_OK);
    assert_int_equal(launch(g, NULL), TILEC_OK);
    refused(f, launch(f, g->device->first), TILEC_INVALID_ARGUMENT, "belongs to device cuda:1");
    tilec_buffer own = f->buffers[0];
    f->buffers[0] = g->buffers[0];
    refused(f, launch(f, NULL), TILEC_LAUNCH_REFUSED, "is a buffer of device cuda:1");
    f->buffers[0] = own;
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z), 0);
    assert_int_equal(tilec_buffer_read(g->device, NULL, g->buffers[2], 0, g->z, sizeof g->z), 0);
    sums(f);
    sums(g);
    tilec_device *none = NULL;
    refused(f, tilec_device_open(f->context, "cuda:2", &none), TILEC_UNAVAILABLE,
            "there is no device cuda:2; the driver has 2");
    refused(f, tilec_device_open(f->context, "cuda:x", &none), TILEC_INVALID_ARGUMENT,
            "expected the number of a device, found 'x'");
    tilec_device_close(g->device);
    free(g);
}

// A prepared launch gives the device one thing, the kernel, and asks the driver for nothing else:
// so it may stand in a capture, on a stream of others, too.
static void prepared_launches_do_nothing_else(void **state) {
    Fixture *f = *state;
    tilec_stream *streams[2];
    assert_int_equal(open_with(f, "cuda:0", assert_text), TILEC_OK);
    f->made.variant.site_count = 1, f->made.variant.sites = &f->made.site;
    f->made.variant.shared_bytes = 64 * 1024;
    assert_int_equal(tilec_stream_create(f->device, &streams[0]), TILEC_OK);
    assert_int_equal(tilec_stream_from_native(f->device, NULL, &streams[1]), TILEC_OK);
    const tilec_arg args[] = {tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[0], N)),
                              tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[1], N)),
                              tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[2], N))};
    for (int k = 0; k < 2; k++)
        assert_int_equal(tilec_kernel_prepare(f->kernel, streams[k], args, 3), TILEC_OK);
    assert_int_equal(fake->calls("cuLaunchKernel"), 0);
    assert_int_equal(fake->calls("cuFuncSetAttribute"), 1);
    unsigned before[CUDA_CALLS];
    for (int i = 0; i < CUDA_CALLS; i++) before[i] = fake->calls(cuda_call_symbol((CudaCall)i));
    for (int i = 0; i < 10; i++) assert_int_equal(launch(f, streams[i % 2]), TILEC_OK);
    for (int i = 0; i < CUDA_CALLS; i++) {
        bool made = i == CUDA_CALL_launch_kernel || i == CUDA_CALL_push_current ||
                    i == CUDA_CALL_pop_current;
        assert_int_equal(fake->calls(cuda_call_symbol((CudaCall)i)) - before[i], made ? 10 : 0);
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(tilec_stream_synchronize(streams[k]), TILEC_KERNEL_FAILED);
}

static void reports_asserts(void **state) {
    Fixture *f = *state;
    assert_int_equal(open_with(f, "cuda:0", assert_text), TILEC_OK);
    f->made.variant.site_count = 1, f->made.variant.sites = &f->made.site;
    assert_int_equal(launch(f, NULL), TILEC_OK);
    refused(f, tilec_stream_synchronize(f->device->first), TILEC_KERNEL_FAILED,
            "k.tile:3:5: error: assertion failed: \"one program\" in program (1, 0, 0), lane 5");
    assert_int_equal(tilec_diagnostic_count(f->context) >= 1, 1);
    assert_int_equal(tilec_stream_synchronize(f->device->first), TILEC_OK);
    // What a kernel left is told though the kernel is gone.
    assert_int_equal(launch(f, NULL), TILEC_OK);
    tilec_kernel_destroy(f->kernel);
    refused(f, tilec_stream_synchronize(f->device->first), TILEC_KERNEL_FAILED, "one program");
}

static void refuses_launches(void **state) {
    Fixture *f = *state;
    assert_int_equal(open_with(f, "cuda:0", add_text), TILEC_OK);
    const tilec_arg args[] = {tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[0], N)),
                              tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[1], N)),
                              tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[2], N))};
    refused(f, tilec_launch_grid(f->kernel, NULL, 0, (int64_t[]){1, 65536, 1}, args, 3),
            TILEC_LAUNCH_REFUSED, "make the first dimension the long one");
    refused(f, tilec_launch_grid(f->kernel, NULL, 0, (int64_t[]){1, 1, 65536}, args, 3),
            TILEC_LAUNCH_REFUSED, "dimension 2 has 65536 programs");
    f->made.variant.shared_bytes = 200 * 1024;
    refused(f, launch(f, NULL), TILEC_LAUNCH_REFUSED, "smaller tiles or fewer stages");
    f->made.variant.shared_bytes = 0;
    f->made.variant.block[0] = 2048;
    refused(f, launch(f, NULL), TILEC_LAUNCH_REFUSED, "2048 threads");
    f->made.variant.block[0] = 32;
    assert_int_equal(fake->calls("cuLaunchKernel"), 0);
}

static void explains_bad_code(void **state) {
    Fixture *f = *state;
    RtModule *m = NULL;
    assert_int_equal(tilec_device_open(f->context, "cuda:0", &f->device), TILEC_OK);
    refused(f, load(f->device, HEAD ".visible .entry add()\n{\nnonsense.u32 1;\nret;\n}\n", &m),
            TILEC_UNSUPPORTED, "CUDA_ERROR_INVALID_PTX");
    tilec_diagnostic d;
    assert_true(tilec_diagnostic_count(f->context) >= 2);
    assert_int_equal(tilec_diagnostic_get(f->context, 1, &d), TILEC_OK);
    assert_string_equal(d.file, "kernel.ptx");
    assert_int_equal(d.line, 6);
    refused(f, load(f->device, HEAD ".visible .entry other()\n{\nret;\n}\n", &m),
            TILEC_INVALID_ARGUMENT, "the code has no kernel 'add'");
    refused(f,
            load(f->device,
                 ".version 8.0\n.target sm_90\n.address_size 64\n"
                 ".visible .entry add()\n{\nret;\n}\n",
                 &m),
            TILEC_UNSUPPORTED, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    fake->configure(2, 80, 11080, 60);
    tilec_device_close(f->device);
    assert_int_equal(tilec_device_open(f->context, "cuda:0", &f->device), TILEC_OK);
    refused(f, load(f->device, add_text, &m), TILEC_UNSUPPORTED,
            "the driver is one for CUDA 11.8, and the code is newer: update it");
    assert_null(m);
    assert_int_equal(fake->live(), 2);  // the context and the first stream
}

// Machine code of another architecture: its PTX is taken where there is one.
static void falls_back_to_ptx(void **state) {
    Fixture *f = *state;
    RtModule *m = NULL;
    assert_int_equal(tilec_device_open(f->context, "cuda:0", &f->device), TILEC_OK);
    RtCubinImage cubin = {.bytes = STR("\177ELF and more"), .entry = STR("add")};
    RtImage image = {RT_IMAGE_CUBIN, &cubin, sizeof cubin};
    refused(f, cuda_device_api.module_load(f->device, &image, &m), TILEC_UNSUPPORTED,
            "the code is for another architecture");
    cubin.ptx = str(add_text);
    assert_int_equal(cuda_device_api.module_load(f->device, &image, &m), TILEC_OK);
    cuda_device_api.module_unload(f->device, m);
    image = (RtImage){RT_IMAGE_IR, NULL, 0};
    refused(f, cuda_device_api.module_load(f->device, &image, &m), TILEC_INVALID_ARGUMENT,
            "PTX and cubins only");
}

// A kernel that goes astray ends the device for the process; every later call says so.
static void stays_lost(void **state) {
    Fixture *f = *state;
    assert_int_equal(open_with(f, "cuda:0", add_text), TILEC_OK);
    tilec_arg bad = tilec_arg_view(tilec_view1(TILEC_F32, f->x, N));  // the host's memory
    assert_int_equal(tilec_launch(f->kernel, NULL, (const tilec_arg[]){bad, bad, bad}, 3),
                     TILEC_OK);
    refused(f, tilec_stream_synchronize(f->device->first), TILEC_KERNEL_FAILED,
            "CUDA_ERROR_ILLEGAL_ADDRESS");
    said(f, "raw pointers must be of the device's memory");
    tilec_buffer b;
    refused(f, tilec_buffer_create(f->device, 4, &b), TILEC_UNAVAILABLE, "was lost before");
    refused(f, launch(f, NULL), TILEC_UNAVAILABLE, "start the process again");
    refused(f, tilec_stream_synchronize(f->device->first), TILEC_UNAVAILABLE, "was lost before");
    tilec_context_destroy(f->context);
    fake->reset();  // the driver gives nothing back then
    f->context = make_context();
}

static void says_what_is_missing(void **state) {
    Fixture *f = *state;
    tilec_device *d = NULL;
    setenv("TILEC_CUDA_LIBRARY", "no/such.so", 1);
    refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE, "TILEC_CUDA_LIBRARY");
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_PLUGIN, 1);
    refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE, "is too old");
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    fake->configure(0, 80, 12020, 83);
    refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE,
            "CUDA_ERROR_NO_DEVICE");
    fake->configure(1, 61, 12020, 83);
    refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE,
            "is of architecture sm_61");
    fake->configure(1, 88, 12020, 83);  // one that nothing is made for: the next older one
    assert_int_equal(tilec_device_open(f->context, "cuda", &d), TILEC_OK);
    GpuTarget target = cuda_device_api.gpu(d);
    assert_int_equal(target.number, 87);
    tilec_buffer b;
    refused(f, tilec_buffer_create(d, (size_t)1 << 40, &b), TILEC_OUT_OF_MEMORY,
            "of 1099511627776 bytes: CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(tilec_buffer_create(d, 0, &b), TILEC_OK);
}

// The driver without a GPU notices what a program must not do: else the tests above prove little.
static void notices_misuse(void **state) {
    Fixture *f = *state;
    CudaDriver d;
    CUcontext contexts[2], popped;
    CUstream stream;
    CUdeviceptr p;
    assert_int_equal(cuda_driver_open(f->context, &d), TILEC_OK);
    assert_int_equal(d.primary_retain(&contexts[0], 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(d.init(0), 0);
    assert_int_equal(d.mem_alloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
    for (int i = 0; i < 2; i++) assert_int_equal(d.primary_retain(&contexts[i], i), 0);
    assert_int_equal(d.push_current(contexts[0]), 0);
    assert_int_equal(d.stream_create(&stream, 1), 0);
    assert_int_equal(d.mem_alloc(&p, 4), 0);
    assert_int_equal(d.copy_to_device(p, &p, 8, stream), 0);  // too long
    assert_int_equal(d.push_current(contexts[1]), 0);
    assert_int_equal(d.stream_synchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(d.pop_current(&popped), 0);
    assert_int_equal(d.mem_free(p + 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(d.stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(fake->live(), 4);
    assert_string_equal(fake->problems(),
                        "cuMemAlloc_v2 without a context\na stream of another device\n");
    fake->reset();
    assert_int_equal(d.init(0), 0);
    assert_int_equal(d.primary_retain(&contexts[0], 0), 0);
    assert_int_equal(d.push_current(contexts[0]), 0);
    assert_int_equal(d.stream_create(&stream, 1), 0);
    assert_int_equal(d.mem_alloc(&p, 4), 0);
    assert_int_equal(d.mem_free(p), 0);
    assert_int_equal(d.mem_free(p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(d.stream_destroy(stream), 0);
    assert_int_equal(d.stream_destroy(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(d.event_query((CUevent)stream), CUDA_ERROR_INVALID_HANDLE);
    assert_string_equal(fake->problems(),
                        "memory freed that is not there\na dead stream\nno event\n");
    fake->reset();
}

// ---- Every failure ----

static bool frees(const char *symbol) {
    static const char *const list[] = {"cuMemFree_v2",       "cuMemFreeHost",
                                       "cuStreamDestroy_v2", "cuEventDestroy_v2",
                                       "cuModuleUnload",     "cuDevicePrimaryCtxRelease_v2",
                                       "cuCtxPushCurrent_v2"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(list[i], symbol) == 0) return true;
    return false;
}

// One call fails; then all is well again.
static void fail_once(Fixture *f, const char *symbol, CUresult code, unsigned skip) {
    fake->reset();
    fake->fail_call(symbol, code, skip);
    tilec_status s = scenario(f);
    const char *text = tilec_last_error(f->context);
    if (s && !strlen(text)) fail_msg("%s failed with %u, and nothing was said", symbol, code);
    // That the driver knows nothing of an address is an answer: the memory is the host's.
    bool side = code == CUDA_ERROR_INVALID_VALUE && strcmp(symbol, "cuPointerGetAttribute") == 0;
    bool words = code == CUDA_ERROR_NOT_READY || code == CUDA_ERROR_NOT_FOUND;  // of our own
    if (s && !words && !side && !strstr(text, cuda_code(code).name))
        fail_msg("%s failed with %s: '%s'", symbol, cuda_code(code).name, text);
    while (f->context->devices) tilec_device_close(f->context->devices);
    if (fake->live() && !frees(symbol))
        fail_msg("%s failed with %u: %u things are left", symbol, code, fake->live());
    if (!side) assert_string_equal(fake->problems(), "");
    assert_int_equal(fake->depth(), 0);
    fake->reset();
    s = scenario(f);
    if (s) fail_msg("after %s failed with %u: %s", symbol, code, tilec_last_error(f->context));
    while (f->context->devices) tilec_device_close(f->context->devices);
    assert_int_equal(fake->live(), 0);
}

static const CUresult codes[] = {
#define CUDA_CODE(name, value, way, help) value,
#include "runtime/cuda/code.def"
#undef CUDA_CODE
};

static void fails_cleanly(void **state) {
    Fixture *f = *state;
    assert_int_equal(scenario(f), TILEC_OK);
    unsigned counts[CUDA_CALLS], tried = 0;
    while (f->context->devices) tilec_device_close(f->context->devices);
    for (int i = 0; i < CUDA_CALLS; i++) counts[i] = fake->calls(cuda_call_symbol((CudaCall)i));
    for (int i = 0; i < CUDA_CALLS; i++) {
        const char *symbol = cuda_call_symbol((CudaCall)i);
        for (size_t c = 1; c < sizeof codes / sizeof *codes; c++, tried++)
            fail_once(f, symbol, codes[c], 0);
        for (unsigned skip = 1; skip < counts[i]; skip++, tried += 2) {
            fail_once(f, symbol, CUDA_ERROR_INVALID_VALUE, skip);
            fail_once(f, symbol, CUDA_ERROR_ILLEGAL_ADDRESS, skip);
        }
    }
    fake->reset();
    print_message("%u failures, each of one call\n", tried);
}

static int start(void **state) {
    (void)state;
    OsError e;
    OsLibrary *l = os_library_open(TEST_FAKE_CUDA, &e);
    if (!l) fail_msg("%s", e.text);
    void *symbol = os_library_symbol(l, "fake_cuda");
    const FakeCuda *(*get)(void);
    memcpy(&get, &symbol, sizeof get);
    fake = get();
    os_library_keep(l);
    return setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
}

static int end(void **state) {
    (void)state;
    fake->reset();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(runs),
        TEST(restores_the_context),
        TEST(orders_streams),
        TEST(takes_streams_of_others),
        TEST(asks_for_clusters),
        TEST(shares_tensors),
        TEST(takes_raw_pointers),
        TEST(has_two_devices),
        TEST(prepared_launches_do_nothing_else),
        TEST(reports_asserts),
        TEST(refuses_launches),
        TEST(explains_bad_code),
        TEST(falls_back_to_ptx),
        TEST(stays_lost),
        TEST(says_what_is_missing),
        TEST(notices_misuse),
        TEST(fails_cleanly),
    };
    return cmocka_run_group_tests(tests, start, end);
}
