#define _POSIX_C_SOURCE 200809L  // setenv
#include "tests/support/driver_tests.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/dlpack.h>

#include "base/os/os_dl.h"
#include "base/recover.h"
#include "tests/support/slice.h"

const FakeGpu *driver_fake;
static const DriverRig *rig;

static const char *symbol_of(GpuCall call) { return gpu_call_symbol(rig->backend->vendor, call); }
static unsigned calls_of(GpuCall call) {
    return symbol_of(call) ? driver_fake->calls(symbol_of(call)) : 0;
}
static bool is_in(GpuCall call, const GpuCall *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == call) return true;
    return false;
}

// ---- Kernels made by hand ----

enum { N = DRIVER_N };
typedef DriverKernel Kernel;
typedef DriverFixture Fixture;

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
    k->variant = (MetaVariant){.entry = rig->entry,
                               .guard = META_NO_VALUE,
                               .code = {2, k->code},
                               .grid_rank = 1,
                               .grid = {1},
                               .block = {rig->threads, 1, 1}};
    k->meta.name = STR("add");
    k->meta.arg_count = 3, k->meta.args = k->args;
    k->meta.extent_count = 1, k->meta.extents = &k->extent;
    k->meta.variant_count = 1, k->meta.variants = &k->variant;
    k->loaded = (RtLoaded){&k->module, &k->meta};
}

static void kernel_destroy(tilec_kernel *kernel) {
    kernel->device->api->module_unload(kernel->device, atomic_load(kernel->loaded->modules));
}

tilec_status driver_load(tilec_device *device, Str code, RtModule **module) {
    RtPtxImage image = {.text = code, .entry = rig->entry};
    rt_begin(device->context);
    return device->api->module_load(device, &(RtImage){rig->kind, &image, sizeof image}, module);
}

void driver_reset(void) {
    driver_fake->reset();
    if (rig->begin) rig->begin();
}

static tilec_status make_kernel(tilec_device *device, Str code, Kernel *k, tilec_kernel **out) {
    RtModule *module = NULL;
    make_meta(k);
    tilec_status s = driver_load(device, code, &module);
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

tilec_context *driver_context(void) {
    static const RtDeviceApi *apis[1];
    apis[0] = rig->api;
    tilec_context *c = NULL;
    assert_int_equal(rt_context_create(NULL, apis, 1, &c), TILEC_OK);
    return c;
}

int driver_set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    driver_reset();
    f->context = driver_context();
    for (int i = 0; i < N; i++) f->x[i] = (float)i, f->y[i] = (float)(1000 * i);
    *state = f;
    return 0;
}

// Everything was freed, and there were no mistakes.
int driver_tear_down(void **state) {
    Fixture *f = *state;
    tilec_context_destroy(f->context);
    assert_string_equal(driver_fake->problems(), "");
    assert_int_equal(driver_fake->live(), 0);
    assert_int_equal(driver_fake->place(), 0);
    free(f);
    return 0;
}

void driver_expect_message(const Fixture *f, const char *text) {
    if (!strstr(tilec_last_error(f->context), text))
        fail_msg("expected '%s' in '%s'", text, tilec_last_error(f->context));
}
void driver_refused(const Fixture *f, tilec_status found, tilec_status expected, const char *text) {
    if (found != expected) fail_msg("status %d: %s", (int)found, tilec_last_error(f->context));
    driver_expect_message(f, text);
}

tilec_status driver_launch(Fixture *f, tilec_stream *stream) {
    return tilec_launch(
        f->kernel, stream,
        (const tilec_arg[]){tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[0], N)),
                            tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[1], N)),
                            tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[2], N))},
        3);
}

tilec_status driver_open(Fixture *f, const char *name, Str code) {
    tilec_status s = tilec_device_open(f->context, name, &f->device);
    for (int i = 0; i < 3 && !s; i++)
        s = tilec_buffer_create(f->device, sizeof f->x, &f->buffers[i]);
    return s ? s : make_kernel(f->device, code, &f->made, &f->kernel);
}

tilec_status driver_fill(Fixture *f, tilec_stream *stream) {
    tilec_status s = tilec_buffer_write(f->device, stream, f->buffers[0], 0, f->x, sizeof f->x);
    return s ? s : tilec_buffer_write(f->device, stream, f->buffers[1], 0, f->y, sizeof f->y);
}

void driver_sums(const Fixture *f) {
    for (int i = 0; i < N; i++) assert_true(f->z[i] == (float)(1001 * i));
}

// Fills of every unit, and asynchronous copies of pages, on a stream; x and y come back as they
// were.
static tilec_status move_around(Fixture *f, tilec_stream *stream, tilec_buffer room) {
    void *pinned = NULL;
    static const uint64_t pattern = UINT64_C(0x3f80000040000000);
    float *back = f->back;
    tilec_status s = TILEC_OK;
    for (size_t unit = 1; !s && unit <= 8; unit *= 2)
        s = tilec_buffer_fill(f->device, stream, room, 0, &pattern, unit, sizeof f->z);
    if (!s) s = tilec_buffer_read_async(f->device, stream, room, 8, back, 24);
    if (!s) s = tilec_buffer_write_async(f->device, stream, room, 0, f->x, sizeof f->x);
    if (!s) s = tilec_buffer_read_async(f->device, stream, room, 40, back + 10, 4 * (N - 10));
    if (!s) s = tilec_host_alloc(f->device, sizeof f->x, &pinned);
    if (!s) s = tilec_buffer_read_async(f->device, stream, room, 0, pinned, sizeof f->x);
    if (!s) s = tilec_buffer_write_async(f->device, stream, room, 0, pinned, sizeof f->x);
    if (!s) s = tilec_stream_synchronize(stream);
    if (!s) assert_memory_equal(pinned, f->x, sizeof f->x);
    if (!s) s = tilec_host_free(f->device, pinned);
    tilec_buffer made;
    for (int round = 0; !s && round < 3; round++) {
        tilec_stream *on = round == 1 ? stream : NULL;
        s = tilec_buffer_create_async(f->device, on, sizeof f->x, &made);
        if (!s) s = tilec_buffer_write_async(f->device, on, made, 0, f->x, sizeof f->x);
        if (!s) s = tilec_buffer_destroy_async(f->device, on, made);
    }
    for (int i = 0; !s && i < N; i++)
        assert_true(back[i] == (i >= 10 ? f->x[i] : i >= 6 ? 0 : i % 2 ? 1 : 2));
    return s;
}

// To the other device and back. The fixture has the memory that is read into, since a copy whose
// wait fails is made later.
static tilec_status move_between(Fixture *f, tilec_stream *stream, tilec_buffer room) {
    enum { SIZE = 4 * sizeof *f->x };
    tilec_device *other = NULL;
    tilec_buffer there;
    tilec_status s = tilec_device_open(f->context, rig->devices[1], &other);
    if (!s) s = tilec_buffer_create(other, SIZE, &there);
    if (!s) s = tilec_buffer_copy(f->device, stream, there, 0, f->buffers[0], 8, SIZE);
    if (!s) s = tilec_buffer_copy(f->device, stream, room, 0, there, 0, SIZE);
    if (!s) s = tilec_buffer_destroy(other, there);
    if (!s) s = tilec_buffer_read(f->device, stream, room, 0, f->back, SIZE);
    if (!s) assert_memory_equal(f->back, f->x + 2, SIZE);
    tilec_device_close(other);
    return s;
}

// All that a program does, to its end; the first failure ends it.
tilec_status driver_scenario(Fixture *f) {
    tilec_stream *stream = NULL;
    tilec_event *begin = NULL, *end = NULL;
    tilec_buffer copy;
    uint64_t ns = 0;
    memset(f->z, 0, sizeof f->z), memset(f->back, 0, sizeof f->back);
    rig->configure();
    tilec_status s = driver_open(f, rig->devices[0], rig->add);
    tilec_stream *theirs = NULL;
    if (!s) s = tilec_stream_create(f->device, &stream);
    if (!s) s = tilec_stream_from_native(f->device, NULL, &theirs);
    if (!s) s = tilec_event_create(f->device, &begin);
    if (!s) s = tilec_event_create(f->device, &end);
    if (!s) s = tilec_buffer_create(f->device, sizeof f->z, &copy);
    if (!s) s = driver_fill(f, NULL);
    if (!s) s = move_around(f, stream, copy);
    if (!s) s = tilec_stream_synchronize(f->device->first);
    if (!s) s = move_between(f, stream, copy);
    tilec_device_info info = {.size = sizeof info};
    uint32_t count;
    if (!s) s = tilec_device_describe(f->device, &info);
    if (!s) s = tilec_device_count(f->context, rig->backend->kind, &count);
    if (!s) s = tilec_event_record(begin, NULL);
    if (!s) s = driver_launch(f, NULL);
    f->made.variant.ctas = 2;
    if (!s) s = driver_launch(f, theirs);
    f->made.variant.ctas = 0;
    if (!s) s = tilec_stream_synchronize(theirs);
    if (!s) s = tilec_event_record(end, NULL);
    if (!s) s = tilec_stream_wait_event(stream, end);
    if (!s) s = tilec_buffer_copy(f->device, stream, copy, 0, f->buffers[2], 0, sizeof f->z);
    if (!s) s = tilec_buffer_read(f->device, stream, copy, 0, f->z, sizeof f->z);
    uint64_t units;
    RtLaunch l = {.module = atomic_load(&f->made.module), .meta = &f->made.meta};
    if (!s) s = f->device->api->units(f->device, &l, &units);
    int done = 0;
    if (!s) s = tilec_event_query(end, &done);
    if (!s) s = tilec_event_synchronize(end);
    if (!s) s = tilec_event_elapsed_ns(begin, end, &ns);
    if (!s) s = tilec_stream_synchronize(stream);
    if (!s) s = tilec_device_synchronize(f->device);
    if (!s) driver_sums(f);
    return s;
}

void driver_open_bare(const Fixture *f, GpuDriver *driver) {
    assert_int_equal(gpu_driver_open(f->context, rig->backend, driver), TILEC_OK);
}

// ---- Tests ----

void driver_runs(void **state) {
    Fixture *f = *state;
    tilec_status s = driver_scenario(f);
    if (s) fail_msg("%s", tilec_last_error(f->context));
    assert_string_equal(tilec_device_name(f->device), rig->devices[0]);
}

void driver_describes_devices(void **state) {
    Fixture *f = *state;
    uint32_t count = 7;
    assert_int_equal(tilec_device_count(f->context, rig->backend->kind, &count), TILEC_OK);
    assert_int_equal(count, 2);
    assert_int_equal(driver_open(f, rig->devices[1], rig->add), TILEC_OK);
    struct {
        tilec_device_info known;
        uint64_t later;  // a member that this library does not know
    } info = {{.size = sizeof info}, 7};
    assert_int_equal(tilec_device_describe(f->device, &info.known), TILEC_OK);
    const tilec_device_info *i = &info.known;
    assert_int_equal(i->size, sizeof info);
    assert_int_equal(info.later, 0);
    assert_string_equal(i->name, "Fake 1");
    assert_string_equal(i->bus, "0000:11:00.0");
    assert_true(strstr(i->driver, "CUDA 12.2") || strstr(i->driver, "HIP "));
    assert_true(strncmp(i->target, "sm_", 3) == 0 || strncmp(i->target, "gfx", 3) == 0);
    assert_true(i->memory == (uint64_t)1 << 32 && i->shared_memory >= 64 << 10);
    assert_true(i->multiprocessors == FAKE_MULTIPROCESSORS && i->warp >= 32 && i->clock_khz > 1000);
    tilec_device_info again = {.size = sizeof again};
    assert_int_equal(tilec_device_describe(f->device, &again), TILEC_OK);
    assert_ptr_equal(again.name, i->name);
    tilec_device_close(f->device);
    driver_fake->configure(0, 0, 0, 0);
    assert_int_equal(tilec_device_count(f->context, rig->backend->kind, &count), TILEC_OK);
    assert_int_equal(count, 0);
    assert_string_equal(tilec_last_error(f->context), "");
    assert_int_equal(setenv(rig->backend->variable, "no/such/library", 1), 0);
    count = 7;
    assert_int_equal(tilec_device_count(f->context, rig->backend->kind, &count), TILEC_OK);
    assert_int_equal(count, 0);
    assert_int_equal(setenv(rig->backend->variable, rig->library, 1), 0);
}

// A grid that asks how many programs run at once: the driver is asked once for each module.
void driver_knows_how_many_run_at_once(void **state) {
    Fixture *f = *state;
    uint64_t units = 0;
    assert_int_equal(driver_open(f, rig->devices[0], rig->add), TILEC_OK);
    f->made.code[1].op = LAUNCH_UNITS;
    assert_int_equal(driver_fill(f, NULL), TILEC_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(driver_launch(f, NULL), TILEC_OK);
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z), 0);
    driver_sums(f);
    assert_int_equal(calls_of(GPU_CALL_occupancy), 1);
    RtLaunch l = {.module = atomic_load(&f->made.module), .meta = &f->made.meta};
    assert_int_equal(f->device->api->units(f->device, &l, &units), TILEC_OK);
    assert_int_equal(units, FAKE_MULTIPROCESSORS * (1024 / rig->threads));
}

// Work waits on its streams: without the event the other stream would read nothing.
void driver_orders_streams(void **state) {
    Fixture *f = *state;
    assert_int_equal(driver_open(f, rig->backend->kind, rig->add), TILEC_OK);
    tilec_stream *streams[3];
    tilec_event *event;
    for (int i = 0; i < 3; i++)
        assert_int_equal(tilec_stream_create(f->device, &streams[i]), TILEC_OK);
    assert_int_equal(tilec_event_create(f->device, &event), TILEC_OK);
    assert_int_equal(driver_fill(f, streams[0]), TILEC_OK);
    for (int round = 0; round < 3; round++) {
        memset(f->z, 0, sizeof f->z);
        assert_int_equal(driver_launch(f, streams[round]), TILEC_OK);
        assert_int_equal(tilec_event_record(event, streams[round]), TILEC_OK);
        int done = 7;
        assert_int_equal(tilec_event_query(event, &done), TILEC_OK);
        assert_int_equal(done, 0);
        uint64_t ns;
        driver_refused(f, tilec_event_elapsed_ns(event, event, &ns), TILEC_INVALID_ARGUMENT,
                       "has not been reached yet");
        tilec_stream *other = streams[(round + 1) % 3];
        assert_int_equal(tilec_stream_wait_event(other, event), TILEC_OK);
        assert_int_equal(tilec_buffer_read(f->device, other, f->buffers[2], 0, f->z, sizeof f->z),
                         TILEC_OK);
        driver_sums(f);
        assert_int_equal(tilec_event_query(event, &done), TILEC_OK);
        assert_int_equal(done, 1);
    }
}

// Pages of the host, more than the stage holds, there and back: nothing is done until the stream is
// synchronised. Drivers that call no functions of the host have to wait.
void driver_moves_without_waiting(void **state) {
    Fixture *f = *state;
    enum { PAGES = (5 << 20) / 2 + 12 };
    unsigned char *from = malloc(PAGES), *to = calloc(1, PAGES);
    tilec_buffer a, b;
    assert_int_equal(driver_open(f, rig->devices[0], rig->add), TILEC_OK);
    assert_int_equal(tilec_buffer_create(f->device, PAGES, &a), TILEC_OK);
    assert_int_equal(tilec_buffer_create(f->device, PAGES, &b), TILEC_OK);
    for (size_t i = 0; i < PAGES; i++) from[i] = (unsigned char)(i % 251);
    bool waits = !rig->host_functions;
    unsigned before = calls_of(GPU_CALL_stream_synchronize);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(tilec_buffer_write_async(f->device, NULL, a, 0, from, PAGES), TILEC_OK);
        assert_int_equal(tilec_buffer_copy(f->device, NULL, b, 0, a, 0, PAGES), TILEC_OK);
        assert_int_equal(tilec_buffer_fill(f->device, NULL, b, 4, "ab", 2, 4), TILEC_OK);
        assert_int_equal(tilec_buffer_read_async(f->device, NULL, b, 0, to, PAGES), TILEC_OK);
    }
    assert_int_equal(calls_of(GPU_CALL_stream_synchronize) - before, waits ? 4 : 0);
    assert_int_equal(to[1], waits);
    assert_int_equal(tilec_stream_synchronize(tilec_device_stream(f->device)), TILEC_OK);
    memcpy(from + 4, "abab", 4);
    assert_memory_equal(to, from, PAGES);
    free(from);
    free(to);
}

// A stream uses memory again that another one freed only when that one has come so far.
void driver_pools_memory(void **state) {
    Fixture *f = *state;
    tilec_stream *streams[2];
    tilec_buffer a, b;
    void *first, *second;
    assert_int_equal(driver_open(f, rig->devices[0], rig->add), TILEC_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tilec_stream_create(f->device, &streams[i]), TILEC_OK);
    unsigned allocs = calls_of(GPU_CALL_mem_alloc), frees = calls_of(GPU_CALL_mem_free);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(tilec_buffer_create_async(f->device, streams[0], 4096, &a), TILEC_OK);
        assert_int_equal(tilec_buffer_fill(f->device, streams[0], a, 0, "z", 1, 4096), TILEC_OK);
        assert_int_equal(tilec_buffer_address(f->device, a, &first, NULL), TILEC_OK);
        assert_int_equal(tilec_buffer_destroy_async(f->device, streams[0], a), TILEC_OK);
    }
    assert_int_equal(calls_of(GPU_CALL_mem_alloc) - allocs, 1);
    assert_int_equal(tilec_buffer_create_async(f->device, streams[1], 4096, &b), TILEC_OK);
    assert_int_equal(tilec_buffer_address(f->device, b, &second, NULL), TILEC_OK);
    assert_ptr_not_equal(first, second);
    assert_int_equal(tilec_stream_synchronize(streams[0]), TILEC_OK);
    assert_int_equal(tilec_buffer_create_async(f->device, streams[1], 4096, &a), TILEC_OK);
    assert_int_equal(tilec_buffer_address(f->device, a, &second, NULL), TILEC_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(calls_of(GPU_CALL_mem_alloc) - allocs, 2);
    assert_int_equal(calls_of(GPU_CALL_mem_free) - frees, 0);
}

// A stream of another owner: work is on it, and it stays when ours goes.
void driver_takes_streams_of_others(void **state) {
    Fixture *f = *state;
    GpuDriver d;
    GpuStreamHandle theirs = NULL;
    tilec_stream *ours = NULL, *none = NULL;
    void *native = NULL;
    assert_int_equal(driver_open(f, rig->devices[0], rig->add), TILEC_OK);
    driver_open_bare(f, &d);
    rig->enter(&d);
    assert_int_equal(d.stream_create(&theirs, 1), 0);
    assert_int_equal(driver_fill(f, NULL), TILEC_OK);
    assert_int_equal(tilec_stream_from_native(f->device, theirs, &ours), TILEC_OK);
    assert_int_equal(tilec_stream_native(ours, &native), TILEC_OK);
    assert_ptr_equal(native, theirs);
    assert_int_equal(driver_launch(f, ours), TILEC_OK);
    assert_int_equal(d.stream_synchronize(theirs), 0);  // by its owner
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z), 0);
    driver_sums(f);
    unsigned waited = driver_fake->calls(symbol_of(GPU_CALL_stream_synchronize));
    tilec_stream_destroy(ours);  // it may be in a capture, which forbids waiting
    assert_int_equal(driver_fake->calls(symbol_of(GPU_CALL_stream_synchronize)), waited);
    assert_int_equal(d.stream_synchronize(theirs), 0);
    // The device's own streams are the driver's, too.
    assert_int_equal(tilec_stream_native(f->device->first, &native), TILEC_OK);
    assert_int_equal(d.stream_synchronize(native), 0);
    driver_refused(f, tilec_stream_native(f->device->first, NULL), TILEC_INVALID_ARGUMENT,
                   "is NULL");
    assert_int_equal(tilec_stream_native(NULL, &native), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_stream_from_native(NULL, theirs, &none), TILEC_INVALID_ARGUMENT);
    driver_refused(f, tilec_stream_from_native(f->device, theirs, NULL), TILEC_INVALID_ARGUMENT,
                   "is NULL");
    Fixture g = *f;
    assert_int_equal(tilec_device_open(f->context, rig->devices[1], &g.device), TILEC_OK);
    if (rig->bad_stream)
        driver_refused(f, tilec_stream_from_native(g.device, theirs, &none), TILEC_INVALID_ARGUMENT,
                       rig->bad_stream);
    assert_null(none);
    assert_int_equal(d.stream_destroy(theirs), 0);
    rig->leave(&d);
}

// Tensors of this GPU and no other; memory that every GPU reaches is as good.
void driver_shares_tensors(void **state) {
    Fixture *f = *state;
    tilec_device *other;
    int64_t shape[] = {N};
    int32_t own = rig->api->memory;
    char text[128];
    void *p;
    tilec_arg args[3];
    assert_int_equal(driver_open(f, rig->devices[1], rig->add), TILEC_OK);
    assert_int_equal(driver_fill(f, NULL), TILEC_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tilec_buffer_address(f->device, f->buffers[i], &p, NULL), TILEC_OK);
        tilec_dl_tensor t = {.data = p,
                             .device = {own, 1},
                             .ndim = 1,
                             .dtype = {TILEC_DL_FLOAT, 32, 1},
                             .shape = shape};
        tilec_view v;
        assert_int_equal(tilec_view_from_dlpack(f->device, &t, &v), TILEC_OK);
        args[i] = tilec_arg_view(v);
        for (int k = 0; k < 2 && rig->api->memory_also[k]; k++) {
            t.device = (tilec_dl_device){rig->api->memory_also[k], 0};
            assert_int_equal(tilec_view_from_dlpack(f->device, &t, &v), TILEC_OK);
        }
        t.device = (tilec_dl_device){own, 0};
        snprintf(text, sizeof text,
                 "is in memory of DLPack device %d:0; the memory of device %s is %d:1", own,
                 rig->devices[1], own);
        driver_refused(f, tilec_view_from_dlpack(f->device, &t, &v), TILEC_UNSUPPORTED, text);
        t.device = (tilec_dl_device){TILEC_DL_CPU, 0};
        snprintf(text, sizeof text,
                 "is in memory of DLPack device 1; the memory of device %s is %d", rig->devices[1],
                 own);
        driver_refused(f, tilec_view_from_dlpack(f->device, &t, &v), TILEC_UNSUPPORTED, text);
    }
    assert_int_equal(tilec_launch(f->kernel, NULL, args, 3), TILEC_OK);
    // Out again, to the device that it is on.
    tilec_dl_managed *out = NULL;
    tilec_view z = tilec_buffer_view1(TILEC_F32, f->buffers[2], N);
    assert_int_equal(tilec_view_to_dlpack(f->device, &z, &out), TILEC_OK);
    assert_int_equal(out->tensor.device.type, own);
    assert_int_equal(out->tensor.device.id, 1);
    assert_ptr_equal(out->tensor.data, p);
    assert_int_equal(tilec_device_open(f->context, rig->devices[0], &other), TILEC_OK);
    tilec_view v;
    snprintf(text, sizeof text, "%s is %d:0", rig->devices[0], own);
    driver_refused(f, tilec_view_from_dlpack(other, &out->tensor, &v), TILEC_UNSUPPORTED, text);
    out->deleter(out);
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z), 0);
    driver_sums(f);
}

void driver_takes_raw_pointers(void **state) {
    Fixture *f = *state;
    assert_int_equal(driver_open(f, rig->devices[0], rig->add), TILEC_OK);
    assert_int_equal(driver_fill(f, NULL), TILEC_OK);
    void *p[3];
    tilec_arg args[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tilec_buffer_address(f->device, f->buffers[i], &p[i], NULL), TILEC_OK);
        args[i] = tilec_arg_view(tilec_view1(TILEC_F32, p[i], N));
    }
    assert_int_equal(tilec_launch(f->kernel, NULL, args, 3), TILEC_OK);
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z),
                     TILEC_OK);
    driver_sums(f);
}

// Each with a copy, from either side; the buffer of the other device waits for it when it goes.
static void copies_between(Fixture *f, Fixture *g) {
    tilec_stream *s;
    tilec_buffer there;
    assert_int_equal(tilec_stream_create(f->device, &s), TILEC_OK);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(tilec_buffer_create(g->device, sizeof f->x, &there), TILEC_OK);
        memset(f->back, 0, sizeof f->back);
        assert_int_equal(tilec_buffer_fill(f->device, s, f->buffers[2], 0, "abcd", 4, 16), 0);
        assert_int_equal(
            tilec_buffer_copy(f->device, s, there, 16, f->buffers[0], 16, sizeof f->x - 16), 0);
        assert_int_equal(tilec_buffer_copy(f->device, s, f->buffers[2], 16, there, 16, 4 * 60), 0);
        assert_int_equal(tilec_buffer_destroy(g->device, there), TILEC_OK);
        assert_int_equal(
            tilec_buffer_read_async(f->device, s, f->buffers[2], 0, f->back, sizeof f->back), 0);
        assert_int_equal(tilec_stream_synchronize(s), TILEC_OK);
        assert_memory_equal(f->back, "abcdabcdabcdabcd", 16);
        assert_memory_equal(f->back + 4, f->x + 4, 4 * 60);
    }
    driver_refused(f, tilec_buffer_copy(f->device, s, g->buffers[0], 0, g->buffers[1], 0, 4),
                   TILEC_INVALID_ARGUMENT, "neither buffer belongs to device");
    driver_refused(f, tilec_buffer_copy(g->device, s, g->buffers[0], 0, f->buffers[1], 0, 4),
                   TILEC_INVALID_ARGUMENT, "the stream belongs to another device");
    // The device that copies goes first.
    assert_int_equal(tilec_buffer_copy(f->device, s, g->buffers[2], 0, f->buffers[0], 0, 4), 0);
    tilec_stream_destroy(s);
}

void driver_has_two_devices(void **state) {
    Fixture *f = *state;
    Fixture *g = calloc(1, sizeof *g);
    *g = *f;
    assert_int_equal(driver_open(f, rig->devices[0], rig->add), TILEC_OK);
    assert_int_equal(driver_open(g, rig->devices[1], rig->add), TILEC_OK);
    assert_int_equal(driver_fill(f, NULL), TILEC_OK);
    assert_int_equal(driver_fill(g, NULL), TILEC_OK);
    assert_int_equal(driver_launch(f, NULL), TILEC_OK);
    assert_int_equal(driver_launch(g, NULL), TILEC_OK);
    driver_refused(f, driver_launch(f, g->device->first), TILEC_INVALID_ARGUMENT, rig->devices[1]);
    tilec_buffer own = f->buffers[0];
    f->buffers[0] = g->buffers[0];
    driver_refused(f, driver_launch(f, NULL), TILEC_LAUNCH_REFUSED, rig->devices[1]);
    f->buffers[0] = own;
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z), 0);
    assert_int_equal(tilec_buffer_read(g->device, NULL, g->buffers[2], 0, g->z, sizeof g->z), 0);
    driver_sums(f);
    driver_sums(g);
    copies_between(f, g);
    tilec_device *none = NULL;
    char name[16];
    snprintf(name, sizeof name, "%s:2", rig->backend->kind);
    driver_refused(f, tilec_device_open(f->context, name, &none), TILEC_UNAVAILABLE,
                   ":2; the driver has 2, numbered from 0");
    snprintf(name, sizeof name, "%s:x", rig->backend->kind);
    driver_refused(f, tilec_device_open(f->context, name, &none), TILEC_INVALID_ARGUMENT,
                   "expected the number of a device, found 'x'");
    tilec_device_close(g->device);
    free(g);
}

// A prepared launch gives the device one thing, the kernel, and asks the driver for nothing else:
// so it may stand in a capture, on a stream of others, too.
void driver_prepared_launches_do_nothing_else(void **state) {
    Fixture *f = *state;
    tilec_stream *streams[2];
    assert_int_equal(driver_open(f, rig->devices[0], rig->asserts), TILEC_OK);
    f->made.variant.site_count = 1, f->made.variant.sites = &f->made.site;
    f->made.variant.shared_bytes = 64 * 1024;
    assert_int_equal(tilec_stream_create(f->device, &streams[0]), TILEC_OK);
    assert_int_equal(tilec_stream_from_native(f->device, NULL, &streams[1]), TILEC_OK);
    const tilec_arg args[] = {tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[0], N)),
                              tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[1], N)),
                              tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[2], N))};
    for (int k = 0; k < 2; k++)
        assert_int_equal(tilec_kernel_prepare(f->kernel, streams[k], args, 3), TILEC_OK);
    assert_int_equal(calls_of(GPU_CALL_launch_kernel), 0);
    unsigned before[GPU_CALLS];
    for (int i = 0; i < GPU_CALLS; i++) before[i] = calls_of((GpuCall)i);
    for (int i = 0; i < 10; i++) assert_int_equal(driver_launch(f, streams[i % 2]), TILEC_OK);
    for (int i = 0; i < GPU_CALLS; i++) {
        bool made = is_in((GpuCall)i, rig->per_launch, rig->per_launch_count);
        assert_int_equal(calls_of((GpuCall)i) - before[i], made ? 10 : 0);
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(tilec_stream_synchronize(streams[k]), TILEC_KERNEL_FAILED);
}

void driver_reports_asserts(void **state) {
    Fixture *f = *state;
    assert_int_equal(driver_open(f, rig->devices[0], rig->asserts), TILEC_OK);
    f->made.variant.site_count = 1, f->made.variant.sites = &f->made.site;
    assert_int_equal(driver_launch(f, NULL), TILEC_OK);
    driver_refused(
        f, tilec_stream_synchronize(f->device->first), TILEC_KERNEL_FAILED,
        "k.tile:3:5: error: assertion failed: \"one program\" in program (1, 0, 0), lane 5");
    assert_int_equal(tilec_diagnostic_count(f->context) >= 1, 1);
    assert_int_equal(tilec_stream_synchronize(f->device->first), TILEC_OK);
    // The report of a kernel arrives though the kernel is gone.
    assert_int_equal(driver_launch(f, NULL), TILEC_OK);
    tilec_kernel_destroy(f->kernel);
    driver_refused(f, tilec_stream_synchronize(f->device->first), TILEC_KERNEL_FAILED,
                   "one program");
}

void driver_refuses_launches(void **state) {
    Fixture *f = *state;
    assert_int_equal(driver_open(f, rig->devices[0], rig->add), TILEC_OK);
    const tilec_arg args[] = {tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[0], N)),
                              tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[1], N)),
                              tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[2], N))};
    driver_refused(f, tilec_launch_grid(f->kernel, NULL, 0, (int64_t[]){1, 65536, 1}, args, 3),
                   TILEC_LAUNCH_REFUSED, "make the first dimension the long one");
    driver_refused(f, tilec_launch_grid(f->kernel, NULL, 0, (int64_t[]){1 << 20, 4097, 1}, args, 3),
                   TILEC_LAUNCH_REFUSED, "4296015872 programs together");
    driver_refused(f, tilec_launch_grid(f->kernel, NULL, 0, (int64_t[]){1, 1, 65536}, args, 3),
                   TILEC_LAUNCH_REFUSED, "dimension 2 has 65536 programs");
    f->made.variant.shared_bytes = 200 * 1024;
    driver_refused(f, driver_launch(f, NULL), TILEC_LAUNCH_REFUSED,
                   "smaller tiles or fewer stages");
    f->made.variant.shared_bytes = 0;
    f->made.variant.block[0] = 2048;
    driver_refused(f, driver_launch(f, NULL), TILEC_LAUNCH_REFUSED, "2048 threads");
    f->made.variant.block[0] = 32;
    assert_int_equal(calls_of(GPU_CALL_launch_kernel), 0);
}

// A kernel that goes astray ends the device for the process; every later call says so.
void driver_stays_lost(void **state) {
    Fixture *f = *state;
    assert_int_equal(driver_open(f, rig->devices[0], rig->add), TILEC_OK);
    tilec_arg bad = tilec_arg_view(tilec_view1(TILEC_F32, f->x, N));  // the host's memory
    assert_int_equal(tilec_launch(f->kernel, NULL, (const tilec_arg[]){bad, bad, bad}, 3),
                     TILEC_OK);
    driver_refused(f, tilec_stream_synchronize(f->device->first), TILEC_KERNEL_FAILED,
                   rig->backend->code(rig->illegal_address).name);
    driver_expect_message(f, "raw pointers must be of the device's memory");
    tilec_buffer b;
    driver_refused(f, tilec_buffer_create(f->device, 4, &b), TILEC_UNAVAILABLE, "was lost before");
    driver_refused(f, driver_launch(f, NULL), TILEC_UNAVAILABLE, "start the process again");
    driver_refused(f, tilec_stream_synchronize(f->device->first), TILEC_UNAVAILABLE,
                   "was lost before");
    tilec_context_destroy(f->context);
    driver_reset();  // the driver gives nothing back then
    f->context = driver_context();
}

// ---- Every failure ----

// One call fails; then all is well again.
static void fail_once(Fixture *f, GpuCall call, GpuResult code, unsigned skip) {
    const GpuNumbers *n = &rig->backend->numbers;
    const char *symbol = symbol_of(call);
    driver_reset();
    driver_fake->fail_call(symbol, code, skip);
    tilec_status s = driver_scenario(f);
    const char *text = tilec_last_error(f->context);
    if (s && !strlen(text)) fail_msg("%s failed with %u, and nothing was said", symbol, code);
    // That the driver knows nothing of an address is an answer: the memory is the host's.
    bool side = code == n->invalid_value && call == GPU_CALL_pointer_get_attribute;
    bool words = code == n->not_ready || code == n->not_found;  // of our own
    if (s && !words && !side && !strstr(text, rig->backend->code(code).name))
        fail_msg("%s failed with %s: '%s'", symbol, rig->backend->code(code).name, text);
    while (f->context->devices) tilec_device_close(f->context->devices);
    if (driver_fake->live() && !is_in(call, rig->frees, rig->free_count))
        fail_msg("%s failed with %u: %u things are left", symbol, code, driver_fake->live());
    if (!side) assert_string_equal(driver_fake->problems(), "");
    bool stays = call == GPU_CALL_set_current;  // the way back from the other device may fail
    if (!stays) assert_int_equal(driver_fake->place(), 0);
    driver_reset();
    s = driver_scenario(f);
    if (s) fail_msg("after %s failed with %u: %s", symbol, code, tilec_last_error(f->context));
    while (f->context->devices) tilec_device_close(f->context->devices);
    assert_int_equal(driver_fake->live(), 0);
}

// A third of the failures in each slice: the numbers of an entry point's failures are neighbours.
static bool is_due(int call, unsigned number) {
    const char *whole = getenv("TILEC_TEST_WHOLE");
    return (whole && whole[0] == '1') || slice_has((uint64_t)call + number, 3);
}

void driver_fails_cleanly(void **state) {
    Fixture *f = *state;
    assert_int_equal(driver_scenario(f), TILEC_OK);
    unsigned counts[GPU_CALLS], tried = 0;
    while (f->context->devices) tilec_device_close(f->context->devices);
    for (int i = 0; i < GPU_CALLS; i++) counts[i] = calls_of((GpuCall)i);
    for (int i = 0; i < GPU_CALLS; i++) {
        if (!symbol_of((GpuCall)i)) continue;
        for (unsigned c = 1; c < rig->code_count; c++) {
            if (!is_due(i, c)) continue;
            fail_once(f, (GpuCall)i, rig->codes[c], 0);
            tried++;
        }
        // Later calls fail with one of two codes: both codes at each call would take minutes.
        for (unsigned skip = 1; skip < counts[i]; skip++) {
            if (!is_due(i, skip)) continue;
            fail_once(f, (GpuCall)i,
                      skip % 2 ? rig->backend->numbers.invalid_value : rig->illegal_address, skip);
            tried++;
        }
    }
    driver_reset();
    print_message("%u failures, each of one call\n", tried);
}

static int start(void **state) {
    (void)state;
    OsError e;
    OsLibrary *l = os_library_open(rig->library, &e);
    if (!l) fail_msg("%s", e.text);
    void *symbol = os_library_symbol(l, "fake_gpu");
    const FakeGpu *(*get)(void);
    memcpy(&get, &symbol, sizeof get);
    driver_fake = get();
    os_library_keep(l);
    return setenv(rig->backend->variable, rig->library, 1);
}

static int end(void **state) {
    (void)state;
    driver_reset();
    return 0;
}

int driver_tests_run(const DriverRig *of, const struct CMUnitTest *tests, size_t count) {
    rig = of;
    return _cmocka_run_group_tests(rig->backend->kind, tests, count, start, end);
}
