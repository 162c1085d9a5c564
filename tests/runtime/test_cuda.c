// The device `cuda` on a driver without a GPU (tests/fakes/cuda): kernels in PTX written here, and
// every failure of every call.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/cuda/device.h"
#include "runtime/cuda/state.h"
#include "tests/support/driver_tests.h"

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
    ".visible .entry add(.param .align 16 .b8 block[64])\n"
    "{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<12>;\n"
    "ld.param.u64 %rd1, [block+48];\n"
    "ld.param.u64 %rd5, [block+56];\n"
    "mov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, %tid.x;\n"
    "or.b32 %r3, %r1, 0;\n"
    "setp.eq.s32 %p1, %r3, 0;\n"
    "@%p1 bra END;\n"
    "setp.ne.s32 %p2, %r2, 0;\n"
    "@%p2 bra END;\n"
    "atom.cas.b64 %rd2, [%rd1], 0, %rd5;\n"
    "setp.ne.u64 %p1, %rd2, 0;\n"
    "@%p1 bra END;\n"
    "mov.u32 %r4, %nctaid.x;\n"
    "cvt.u64.u32 %rd3, %r4;\n"
    "st.u64 [%rd1+8], %rd3;\n"
    "mov.u64 %rd4, 1;\n"
    "st.u64 [%rd1+16], %rd4;\n"
    "cvt.u64.u32 %rd3, %r1;\n"
    "shl.b64 %rd3, %rd3, 16;\n"
    "st.u64 [%rd1+32], %rd3;\n"
    "st.u64 [%rd1+40], %rd3;\n"
    "or.b64 %rd3, %rd3, 5;\n"
    "st.u64 [%rd1+24], %rd3;\n"
    "END:\nret;\n"
    "}\n";

// ---- Tests ----

// The caller's context is current again after each call.
static void restores_the_context(void **state) {
    DriverFixture *f = *state;
    GpuDriver driver;
    assert_int_equal(gpu_driver_open(f->context, &cuda_backend, &driver), TILEC_OK);
    GpuContext theirs = NULL, found = NULL;
    assert_int_equal(driver.init(0), 0);
    assert_int_equal(driver.primary_retain(&theirs, 1), 0);
    assert_int_equal(driver.push_current(theirs), 0);
    assert_int_equal(driver_scenario(f), TILEC_OK);
    driver_refused(f, tilec_stream_wait_event(f->device->first, NULL), TILEC_INVALID_ARGUMENT,
                   "the event is NULL");
    assert_int_equal(driver_fake->place(), 1);
    tilec_device_close(f->device);
    assert_int_equal(driver_fake->place(), 1);
    assert_int_equal(driver.pop_current(&found), 0);
    assert_ptr_equal(found, theirs);
    assert_int_equal(driver.primary_release(1), 0);
}

// Programs run in clusters where the device and the grid allow it.
static void asks_for_clusters(void **state) {
    DriverFixture *f = *state;
    static const struct {
        int arch;
        int32_t ctas;
        unsigned calls;
    } rows[] = {{90, 2, 1}, {90, 3, 0}, {90, 16, 0}, {90, 1, 0}, {80, 2, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        driver_fake->reset();
        driver_fake->configure(2, rows[i].arch, 12020, 83);
        assert_int_equal(driver_open(f, "cuda:0", str(add_text)), TILEC_OK);
        f->made.variant.ctas = rows[i].ctas;
        memset(f->z, 0, sizeof f->z);
        assert_int_equal(driver_fill(f, NULL), TILEC_OK);
        assert_int_equal(driver_launch(f, NULL), TILEC_OK);
        assert_int_equal(driver_fake->calls("cuLaunchKernelEx"), rows[i].calls);
        assert_int_equal(driver_fake->calls("cuLaunchKernel"), 1 - rows[i].calls);
        assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z),
                         0);
        driver_sums(f);
        tilec_device_close(f->device);
    }
}

static void asks_for_shared_memory_once(void **state) {
    DriverFixture *f = *state;
    assert_int_equal(driver_open(f, "cuda:0", str(add_text)), TILEC_OK);
    assert_int_equal(driver_fill(f, NULL), TILEC_OK);
    f->made.variant.shared_bytes = 64 * 1024;
    for (int i = 0; i < 3; i++) assert_int_equal(driver_launch(f, NULL), TILEC_OK);
    assert_int_equal(driver_fake->calls("cuFuncSetAttribute"), 1);
}

static void explains_bad_code(void **state) {
    DriverFixture *f = *state;
    RtModule *m = NULL;
    assert_int_equal(tilec_device_open(f->context, "cuda:0", &f->device), TILEC_OK);
    driver_refused(
        f,
        driver_load(f->device, STR(HEAD ".visible .entry add()\n{\nnonsense.u32 1;\nret;\n}\n"),
                    &m),
        TILEC_UNSUPPORTED, "CUDA_ERROR_INVALID_PTX");
    tilec_diagnostic d;
    assert_true(tilec_diagnostic_count(f->context) >= 2);
    assert_int_equal(tilec_diagnostic_get(f->context, 1, &d), TILEC_OK);
    assert_string_equal(d.file, "kernel.ptx");
    assert_int_equal(d.line, 6);
    driver_refused(f, driver_load(f->device, STR(HEAD ".visible .entry other()\n{\nret;\n}\n"), &m),
                   TILEC_INVALID_ARGUMENT, "the code has no kernel 'add'");
    driver_refused(f,
                   driver_load(f->device,
                               STR(".version 8.0\n.target sm_90\n.address_size 64\n"
                                   ".visible .entry add()\n{\nret;\n}\n"),
                               &m),
                   TILEC_UNSUPPORTED, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    driver_fake->configure(2, 80, 11080, 60);
    tilec_device_close(f->device);
    assert_int_equal(tilec_device_open(f->context, "cuda:0", &f->device), TILEC_OK);
    driver_refused(f, driver_load(f->device, str(add_text), &m), TILEC_UNSUPPORTED,
                   "the driver is one for CUDA 11.8, and the code is newer: update it");
    assert_null(m);
    assert_int_equal(driver_fake->live(), 2);  // the context and the first stream
}

// Machine code of another architecture: its PTX is taken where there is one.
static void falls_back_to_ptx(void **state) {
    DriverFixture *f = *state;
    RtModule *m = NULL;
    assert_int_equal(tilec_device_open(f->context, "cuda:0", &f->device), TILEC_OK);
    RtCubinImage cubin = {.bytes = STR("\177ELF and more"), .entry = STR("add")};
    RtImage image = {RT_IMAGE_CUBIN, &cubin, sizeof cubin};
    driver_refused(f, cuda_device_api.module_load(f->device, &image, &m), TILEC_UNSUPPORTED,
                   "the code is for another architecture");
    cubin.ptx = str(add_text);
    assert_int_equal(cuda_device_api.module_load(f->device, &image, &m), TILEC_OK);
    cuda_device_api.module_unload(f->device, m);
    image = (RtImage){RT_IMAGE_IR, NULL, 0};
    driver_refused(f, cuda_device_api.module_load(f->device, &image, &m), TILEC_INVALID_ARGUMENT,
                   "PTX and cubins only");
}

static void says_what_is_missing(void **state) {
    DriverFixture *f = *state;
    tilec_device *d = NULL;
    setenv("TILEC_CUDA_LIBRARY", "no/such.so", 1);
    driver_refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE,
                   "TILEC_CUDA_LIBRARY");
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_PLUGIN, 1);
    driver_refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE,
                   "is not NVIDIA's driver: it has no cuInit; name its library in TILEC_CUDA_LIB");
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_OLD, 1);
    driver_refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE,
                   "is too old: it has no cuDriverGetVersion");
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    driver_fake->configure(0, 80, 12020, 83);
    driver_refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE,
                   "CUDA_ERROR_NO_DEVICE");
    driver_fake->configure(1, 61, 12020, 83);
    driver_refused(f, tilec_device_open(f->context, "cuda", &d), TILEC_UNAVAILABLE,
                   "is of architecture sm_61");
    driver_fake->configure(1, 88, 12020, 83);  // one that nothing is made for: the next older one
    assert_int_equal(tilec_device_open(f->context, "cuda", &d), TILEC_OK);
    GpuTarget target = cuda_device_api.gpu(d);
    assert_int_equal(target.number, 87);
    tilec_buffer b;
    driver_refused(f, tilec_buffer_create(d, (size_t)1 << 40, &b), TILEC_OUT_OF_MEMORY,
                   "of 1099511627776 bytes: CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(tilec_buffer_create(d, 0, &b), TILEC_OK);
}

// Code of its own architecture, where there is one: it has what the plain form lacks.
static void devices_take_their_own_code(void **state) {
    static const struct {
        int arch, version;
        const char *target;
    } rows[] = {{75, 12020, "sm_75"},    {89, 12020, "sm_89"},    {90, 12020, "sm_90a"},
                {90, 11080, "sm_90"},    {100, 12080, "sm_100a"}, {103, 12090, "sm_103a"},
                {120, 12080, "sm_120a"}, {121, 12090, "sm_121a"}, {101, 12080, "sm_100"},
                {122, 13000, "sm_121"}};
    DriverFixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tilec_device *d = NULL;
        char name[GPU_NAME_MAX];
        driver_fake->reset();
        driver_fake->configure(1, rows[i].arch, rows[i].version, 83);
        assert_int_equal(tilec_device_open(f->context, "cuda", &d), TILEC_OK);
        assert_string_equal(gpu_target_name(cuda_device_api.gpu(d), name), rows[i].target);
        tilec_device_close(d);
    }
}

// The driver without a GPU notices what a program must not do: else the tests above prove little.
static void notices_misuse(void **state) {
    DriverFixture *f = *state;
    GpuDriver d;
    GpuContext contexts[2], popped;
    GpuStreamHandle stream;
    GpuAddress p;
    assert_int_equal(gpu_driver_open(f->context, &cuda_backend, &d), TILEC_OK);
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
    assert_int_equal(driver_fake->live(), 4);
    assert_string_equal(driver_fake->problems(),
                        "cuMemAlloc_v2 without a context\na stream of another device\n");
    driver_fake->reset();
    assert_int_equal(d.init(0), 0);
    assert_int_equal(d.primary_retain(&contexts[0], 0), 0);
    assert_int_equal(d.push_current(contexts[0]), 0);
    assert_int_equal(d.stream_create(&stream, 1), 0);
    assert_int_equal(d.mem_alloc(&p, 4), 0);
    assert_int_equal(d.mem_free(p), 0);
    assert_int_equal(d.mem_free(p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(d.stream_destroy(stream), 0);
    assert_int_equal(d.stream_destroy(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(d.event_query((GpuEvent)stream), CUDA_ERROR_INVALID_HANDLE);
    assert_string_equal(driver_fake->problems(),
                        "memory freed that is not there\na dead stream\nno event\n");
    driver_fake->reset();
}

// ---- The rig ----

static void configure(void) { driver_fake->configure(2, 90, 12020, 83); }

static void enter(GpuDriver *d) {
    GpuContext context;
    assert_int_equal(d->primary_retain(&context, 0), 0);
    assert_int_equal(d->push_current(context), 0);
}

static void leave(GpuDriver *d) {
    GpuContext context;
    assert_int_equal(d->pop_current(&context), 0);
    assert_int_equal(d->primary_release(0), 0);
}

static const GpuResult codes[] = {
#define GPU_CODE(name, value, way, help) value,
#include "runtime/cuda/code.def"
#undef GPU_CODE
};
static const GpuCall per_launch[] = {GPU_CALL_launch_kernel, GPU_CALL_push_current,
                                     GPU_CALL_pop_current};
static const GpuCall frees[] = {GPU_CALL_mem_free,       GPU_CALL_host_free,
                                GPU_CALL_stream_destroy, GPU_CALL_event_destroy,
                                GPU_CALL_module_unload,  GPU_CALL_primary_release,
                                GPU_CALL_push_current};
static const DriverRig rig = {
    .backend = &cuda_backend,
    .api = &cuda_device_api,
    .library = TEST_FAKE_CUDA,
    .devices = {"cuda:0", "cuda:1"},
    .kind = RT_IMAGE_PTX,
    .add = {add_text, sizeof add_text - 1},
    .asserts = {assert_text, sizeof assert_text - 1},
    .entry = {"add", 3},
    .threads = 32,
    .configure = configure,
    .per_launch = per_launch,
    .per_launch_count = sizeof per_launch / sizeof *per_launch,
    .frees = frees,
    .free_count = sizeof frees / sizeof *frees,
    .codes = codes,
    .code_count = sizeof codes / sizeof *codes,
    .illegal_address = CUDA_ERROR_ILLEGAL_ADDRESS,
    .enter = enter,
    .leave = leave,
    .host_functions = true,
    .bad_stream =
        "the stream belongs to another device or context; device cuda:1 works in the primary",
};

int main(void) {
    const struct CMUnitTest tests[] = {
        DRIVER_TESTS,
        DRIVER_TEST(restores_the_context),
        DRIVER_TEST(asks_for_clusters),
        DRIVER_TEST(asks_for_shared_memory_once),
        DRIVER_TEST(explains_bad_code),
        DRIVER_TEST(falls_back_to_ptx),
        DRIVER_TEST(says_what_is_missing),
        DRIVER_TEST(devices_take_their_own_code),
        DRIVER_TEST(notices_misuse),
    };
    return driver_tests_run(&rig, tests, sizeof tests / sizeof *tests);
}
