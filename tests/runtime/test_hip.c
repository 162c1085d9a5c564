// The device `hip` on a HIP without a GPU (tests/fakes/gpu): kernels in instructions written here,
// and every failure of every call.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/cuda/device.h"
#include "runtime/hip/device.h"
#include "runtime/hip/state.h"
#include "tests/support/amd.h"
#include "tests/support/driver_tests.h"

// z[i] = x[i] + y[i]; block of 48 bytes: three views of f32[N], then the report.
static const char add_text[] =
    "s_load_dwordx4 s[8:11], s[0:1], 0x0\n"
    "s_load_dwordx2 s[12:13], s[0:1], 0x10\n"
    "s_load_dwordx2 s[14:15], s[0:1], 0x20\n"
    "v_and_b32_e32 v0, 0x3ff, v0\n"
    "s_lshl_b32 s5, s2, 6\n"
    "v_add_u32_e32 v0, s5, v0\n"
    "s_waitcnt lgkmcnt(0)\n"
    "v_cmp_gt_u32_e32 vcc, s10, v0\n"
    "s_and_saveexec_b64 s[6:7], vcc\n"
    "v_lshlrev_b32_e32 v1, 2, v0\n"
    "global_load_dword v2, v1, s[8:9]\n"
    "global_load_dword v3, v1, s[12:13]\n"
    "s_waitcnt vmcnt(0)\n"
    "v_add_f32_e32 v2, v2, v3\n"
    "global_store_dword v1, v2, s[14:15]\n"
    "s_endpgm";
// Asserts that there is one program only: the others leave a report.
static const char assert_text[] =
    "s_load_dwordx4 s[8:11], s[0:1], 0x30\n"
    "v_and_b32_e32 v0, 0x3ff, v0\n"
    "s_waitcnt lgkmcnt(0)\n"
    "v_cmp_eq_u32_e32 vcc, 0, v0\n"
    "s_and_saveexec_b64 s[6:7], vcc\n"
    "s_cmp_eq_u32 s2, 0\n"
    "s_cbranch_scc1 20\n"
    "v_mov_b32_e32 v1, 0\n"
    "v_mov_b32_e32 v2, s10\n"
    "v_mov_b32_e32 v3, s11\n"
    "v_mov_b32_e32 v4, 0\n"
    "v_mov_b32_e32 v5, 0\n"
    "global_atomic_cmpswap_x2 v[8:9], v1, v[2:5], s[8:9] glc\n"
    "s_waitcnt vmcnt(0)\n"
    "v_cmp_eq_u32_e32 vcc, 0, v8\n"
    "s_and_saveexec_b64 s[6:7], vcc\n"
    "v_mov_b32_e32 v6, 0x400\n"
    "v_mov_b32_e32 v7, 0\n"
    "global_store_dwordx2 v1, v[6:7], s[8:9] offset:8\n"
    "global_store_dwordx2 v1, v[6:7], s[8:9] offset:16\n"
    "s_lshl_b32 s5, s2, 16\n"
    "v_mov_b32_e32 v6, s5\n"
    "global_store_dwordx2 v1, v[6:7], s[8:9] offset:32\n"
    "global_store_dwordx2 v1, v[6:7], s[8:9] offset:40\n"
    "v_or_b32_e32 v6, 5, v6\n"
    "global_store_dwordx2 v1, v[6:7], s[8:9] offset:24\n"
    "s_waitcnt vmcnt(0)\n"
    "s_endpgm";

enum { GFX90A = 0x90a, HIP_5 = 50221153, HIP_6 = 60224000, ABI_AT = 8 };

static DriverRig rig;
static Arena *objects;

static void begin(void) { driver_fake->disassemble(amd_object_disassemble); }
static void configure(void) { driver_fake->configure(2, GFX90A, HIP_6, 5); }
static void configure_5(void) { driver_fake->configure(2, GFX90A, HIP_5, 5); }
static void configure_one(int arch, int version) { driver_fake->configure(1, arch, version, 5); }

static Str object_of(const char *processor, const char *text) {
    AmdSource source = {processor, text, .args = 8};
    return amd_object_bytes(objects, &source);
}

// ---- Tests ----

// The caller's device is current again after each call, and the caller does not see our failures.
static void restores_the_device(void **state) {
    DriverFixture *f = *state;
    GpuDriver d;
    int current = 7;
    driver_open_bare(f, &d);
    assert_int_equal(d.init(0), 0);
    assert_int_equal(d.set_current(1), 0);
    assert_int_equal(driver_scenario(f), TILEC_OK);
    assert_int_equal(d.get_current(&current), 0);
    assert_int_equal(current, 1);
    tilec_buffer b;
    driver_refused(f, tilec_buffer_create(f->device, (size_t)1 << 40, &b), TILEC_OUT_OF_MEMORY,
                   "hipMalloc of 1099511627776 bytes: hipErrorOutOfMemory");
    assert_int_equal(d.forget_error(), 0);
    tilec_device_close(f->device);
    assert_int_equal(d.get_current(&current), 0);
    assert_int_equal(current, 1);
    assert_int_equal(d.set_current(0), 0);
}

static void names_processors(void **state) {
    DriverFixture *f = *state;
    static const struct {
        int arch, version;
        const char *name, *described;
    } rows[] = {{0x90a, HIP_6, "gfx90a", "gfx90a, Fake 0, HIP 6.2.24000"},
                {0x942, 71460850, "gfx942", "gfx942, Fake 0, HIP 7.14.60850"},
                {0x1103, HIP_5, "gfx1103", "gfx1103, Fake 0, HIP 5.2.21153"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[GPU_NAME_MAX];
        Arena *arena = arena_create();
        StrBuf text = strbuf(arena);
        driver_reset();
        configure_one(rows[i].arch, rows[i].version);
        assert_int_equal(tilec_device_open(f->context, "hip", &f->device), TILEC_OK);
        gpu_target_name(hip_device_api.gpu(f->device), name);
        assert_string_equal(name, rows[i].name);
        hip_device_api.describe(f->device, &text);
        assert_string_equal(text.text, rows[i].described);
        tilec_device_close(f->device);
        arena_destroy(arena);
    }
}

// From properties of the old layout, which are all that there is.
static void names_processors_of_5(void **state) {
    DriverFixture *f = *state;
    configure_one(0x1030, HIP_5);
    assert_int_equal(tilec_device_open(f->context, "hip", &f->device), TILEC_OK);
    assert_int_equal(hip_device_api.gpu(f->device).number, 0x1030);
    assert_int_equal(hip_device_api.object_newest(f->device), 4);
    assert_int_equal(driver_fake->calls("hipGetDeviceProperties"), 1);
}

// Kinds of memory have other numbers before HIP 6.
static void copies_with_every_version(void **state) {
    DriverFixture *f = *state;
    static const int versions[] = {HIP_5, HIP_6, 71460850};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        driver_reset();
        configure_one(GFX90A, versions[i]);
        assert_int_equal(driver_open(f, "hip:0", rig.add), TILEC_OK);
        memset(f->z, 0, sizeof f->z);
        assert_int_equal(driver_fill(f, NULL), TILEC_OK);
        assert_int_equal(driver_launch(f, NULL), TILEC_OK);
        assert_int_equal(tilec_buffer_read(f->device, NULL, f->buffers[2], 0, f->z, sizeof f->z),
                         TILEC_OK);
        driver_sums(f);
        tilec_device_close(f->device);
    }
}

static void explains_bad_code(void **state) {
    DriverFixture *f = *state;
    RtModule *m = NULL;
    assert_int_equal(tilec_device_open(f->context, "hip:0", &f->device), TILEC_OK);
    driver_refused(f, driver_load(f->device, object_of("gfx942", add_text), &m), TILEC_UNSUPPORTED,
                   "hipErrorNoBinaryForGpu");
    driver_expect_message(f, "the code is for another processor");
    Str bytes = object_of("gfx90a", add_text);
    char *newer = arena_alloc(objects, bytes.size);
    memcpy(newer, bytes.text, bytes.size);
    newer[ABI_AT] = 4;
    driver_refused(f, driver_load(f->device, (Str){newer, bytes.size}, &m), TILEC_UNSUPPORTED,
                   "HIP 6.2.24000 reads code objects up to version 5, and this one is of version 6:"
                   " update ROCm");
    for (size_t size = 0; size < bytes.size; size += bytes.size / 7)
        driver_refused(f, driver_load(f->device, (Str){bytes.text, size}, &m), TILEC_UNSUPPORTED,
                       "the code is not a complete code object");
    driver_refused(f, driver_load(f->device, STR(".version 7.0\n.target sm_80\n"), &m),
                   TILEC_UNSUPPORTED, "the code is not a complete code object");
    RtPtxImage other = {.text = bytes, .entry = STR("other")};
    RtImage image = {RT_IMAGE_HSACO, &other, sizeof other};
    driver_refused(f, hip_device_api.module_load(f->device, &image, &m), TILEC_INVALID_ARGUMENT,
                   "the code has no kernel 'other'");
    image.kind = RT_IMAGE_PTX;
    driver_refused(f, hip_device_api.module_load(f->device, &image, &m), TILEC_INVALID_ARGUMENT,
                   "runs code objects only");
    assert_null(m);
    assert_int_equal(driver_fake->live(), 1);  // the first stream
}

static void knows_what_versions_read(void **state) {
    (void)state;
    assert_int_equal(hip_object_newest(HIP_5), 4);
    assert_int_equal(hip_object_newest(50631061), 5);
    assert_int_equal(hip_object_newest(60342134), 5);
    assert_int_equal(hip_object_newest(60443482), 6);
    assert_int_equal(hip_object_newest(71460850), 6);
}

static void says_what_is_missing(void **state) {
    DriverFixture *f = *state;
    tilec_device *d = NULL;
    setenv("TILEC_HIP_LIBRARY", "no/such.so", 1);
    driver_refused(f, tilec_device_open(f->context, "hip", &d), TILEC_UNAVAILABLE,
                   "AMD's HIP cannot be opened");
    driver_expect_message(f, "or name its library in TILEC_HIP_LIBRARY");
    setenv("TILEC_HIP_LIBRARY", TEST_FAKE_PLUGIN, 1);
    driver_refused(f, tilec_device_open(f->context, "hip", &d), TILEC_UNAVAILABLE,
                   "is not AMD's HIP: it has no hipInit; name its library in TILEC_HIP_LIBRARY");
    setenv("TILEC_HIP_LIBRARY", TEST_FAKE_OLD, 1);
    driver_refused(f, tilec_device_open(f->context, "hip", &d), TILEC_UNAVAILABLE,
                   "is too old: it has no hipRuntimeGetVersion");
    setenv("TILEC_HIP_LIBRARY", TEST_FAKE_HIP, 1);
    driver_fake->configure(0, GFX90A, HIP_6, 5);
    driver_refused(f, tilec_device_open(f->context, "hip", &d), TILEC_UNAVAILABLE,
                   "hipErrorNoDevice");
    driver_expect_message(f, "HIP 6.2.24000 finds no GPU: ");
    configure_one(0x1107, HIP_6);
    driver_refused(f, tilec_device_open(f->context, "hip", &d), TILEC_UNAVAILABLE,
                   "device hip:0 is a gfx1107, which is not supported; it may run code of a "
                   "gfx1100: set HSA_OVERRIDE_GFX_VERSION=11.0.0");
    configure_one(0x1300, HIP_6);
    driver_refused(f, tilec_device_open(f->context, "hip", &d), TILEC_UNAVAILABLE,
                   "device hip:0 is a gfx1300, which is not supported");
    assert_null(d);
}

// A grid's row has fewer threads than 2^32, whatever its programs are.
static void refuses_long_rows(void **state) {
    DriverFixture *f = *state;
    assert_int_equal(driver_open(f, "hip:0", rig.add), TILEC_OK);
    tilec_arg x = tilec_arg_view(tilec_buffer_view1(TILEC_F32, f->buffers[0], DRIVER_N));
    const tilec_arg args[] = {x, x, x};
    driver_refused(f, tilec_launch_grid(f->kernel, NULL, 0, (int64_t[]){INT32_MAX, 1, 1}, args, 3),
                   TILEC_LAUNCH_REFUSED, "device hip:0 has at most 67108863 of 64 threads there");
    assert_int_equal(driver_fake->calls("hipModuleLaunchKernel"), 0);
}

// NVIDIA's and AMD's cards in one machine, in one context.
static void lives_beside_cuda(void **state) {
    DriverFixture *f = *state;
    static const RtDeviceApi *const apis[] = {&cuda_device_api, &hip_device_api};
    tilec_context *context = NULL;
    tilec_device *devices[2];
    tilec_buffer buffers[2];
    float back[DRIVER_N];
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    assert_int_equal(rt_context_create(NULL, apis, 2, &context), TILEC_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tilec_device_open(context, i ? "hip:1" : "cuda:1", &devices[i]), 0);
        assert_int_equal(tilec_buffer_create(devices[i], sizeof f->x, &buffers[i]), TILEC_OK);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            tilec_buffer_write(devices[i], NULL, buffers[i], 0, i ? f->y : f->x, sizeof f->x),
            TILEC_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tilec_buffer_read(devices[i], NULL, buffers[i], 0, back, sizeof back), 0);
        assert_memory_equal(back, i ? f->y : f->x, sizeof back);
    }
    assert_int_not_equal(tilec_buffer_write(devices[0], NULL, buffers[1], 0, f->x, 4), TILEC_OK);
    tilec_context_destroy(context);
}

// The driver without a GPU notices what a program must not do: else the tests above prove little.
static void notices_misuse(void **state) {
    DriverFixture *f = *state;
    GpuDriver d;
    GpuStreamHandle stream;
    GpuAddress p;
    driver_open_bare(f, &d);
    assert_int_equal(d.mem_alloc(&p, 4), hipErrorNotInitialized);
    assert_int_equal(d.init(0), 0);
    assert_int_equal(d.forget_error(), hipErrorNotInitialized);
    assert_int_equal(d.forget_error(), 0);
    assert_int_equal(d.stream_create(&stream, 1), 0);
    assert_int_equal(d.set_current(1), 0);
    assert_int_equal(d.stream_synchronize(stream), hipErrorInvalidHandle);
    assert_int_equal(d.set_current(2), hipErrorInvalidDevice);
    assert_int_equal(driver_fake->live(), 1);
    assert_string_equal(driver_fake->problems(), "a stream of another device\n");
    driver_reset();
}

// ---- The rig ----

static void enter(GpuDriver *d) { assert_int_equal(d->set_current(0), 0); }
static void leave(GpuDriver *d) { (void)d; }

static const GpuResult codes[] = {
#define GPU_CODE(name, value, way, help) value,
#include "runtime/hip/code.def"
#undef GPU_CODE
};
static const GpuCall per_launch[] = {GPU_CALL_launch_kernel, GPU_CALL_get_current};
static const GpuCall frees[] = {
    GPU_CALL_mem_free,      GPU_CALL_host_free,   GPU_CALL_stream_destroy, GPU_CALL_event_destroy,
    GPU_CALL_module_unload, GPU_CALL_get_current, GPU_CALL_set_current};
static DriverRig rig = {
    .backend = &hip_backend,
    .api = &hip_device_api,
    .library = TEST_FAKE_HIP,
    .devices = {"hip:0", "hip:1"},
    .kind = RT_IMAGE_HSACO,
    .entry = {"k", 1},
    .threads = 64,
    .begin = begin,
    .configure = configure,
    .per_launch = per_launch,
    .per_launch_count = sizeof per_launch / sizeof *per_launch,
    .frees = frees,
    .free_count = sizeof frees / sizeof *frees,
    .codes = codes,
    .code_count = sizeof codes / sizeof *codes,
    .illegal_address = hipErrorIllegalAddress,
    .enter = enter,
    .leave = leave,
    .host_functions = true,
    .bad_stream = "the stream belongs to device hip:0, not to device hip:1",
};

int main(void) {
    const struct CMUnitTest tests[] = {
        DRIVER_TESTS,
        DRIVER_TEST(restores_the_device),
        DRIVER_TEST(names_processors),
        DRIVER_TEST(copies_with_every_version),
        DRIVER_TEST(explains_bad_code),
        DRIVER_TEST(knows_what_versions_read),
        DRIVER_TEST(says_what_is_missing),
        DRIVER_TEST(refuses_long_rows),
        DRIVER_TEST(lives_beside_cuda),
        DRIVER_TEST(notices_misuse),
    };
    const struct CMUnitTest of_5[] = {DRIVER_TESTS, DRIVER_TEST(names_processors_of_5)};
    objects = arena_create();
    rig.add = object_of("gfx90a", add_text);
    rig.asserts = object_of("gfx90a", assert_text);
    int failed = driver_tests_run(&rig, tests, sizeof tests / sizeof *tests);
    DriverRig rig_5 = rig;
    rig_5.library = TEST_FAKE_HIP5;
    rig_5.configure = configure_5;
    rig_5.code_count = 4;
    rig_5.host_functions = false;
    rig_5.bad_stream = NULL;
    failed += driver_tests_run(&rig_5, of_5, sizeof of_5 / sizeof *of_5);
    arena_destroy(objects);
    return failed;
}
