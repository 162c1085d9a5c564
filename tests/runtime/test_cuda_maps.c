// Tensor maps of launches, on a driver without a GPU and on the warp machine: a kernel written here
// copies the bytes of its maps to an array.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/gpu_abi.h"
#include "base/recover.h"
#include "compile/device/sim_device.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/state.h"
#include "runtime/launch_maps.h"
#include "tests/support/driver_tests.h"

enum { MAPS = 2, M = 6, K = 24, B = 3, ARRAYS = 4, PARAMS = 384, OUT = MAPS * GPU_MAP_BYTES };
#define ENCODE "cuTensorMapEncodeTiled"

// Arguments: x f16[M, K], strided y f32[B, M, K], z u64[N]. Variant 1 has a map of x and one of y.
typedef struct Fixture {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *kernel;
    MetaArg args[3];
    Str extents[4];
    MetaMap maps[MAPS], turned[MAPS];
    MetaVariant variants[2];
    LaunchInstr one;
    MetaKernel meta;
    RtModuleSlot modules[2];
    RtLoaded loaded;
    tilec_buffer x[ARRAYS], y, z;
    char log[256];
    unsigned logs;
} Fixture;

// ---- The kernel ----

static void make_args(Fixture *f) {
    f->args[0] =
        (MetaArg){.name = STR("x"), .kind = META_VIEW, .dtype = DTYPE_F16, .rank = 2, .read = true};
    f->args[0].dims[1].extent = 1;
    f->args[1] = (MetaArg){.name = STR("y"),
                           .kind = META_VIEW,
                           .dtype = DTYPE_F32,
                           .rank = 3,
                           .strided = true,
                           .read = true,
                           .dims = {{2, 0}, {0, 0}, {1, 0}}};
    f->args[2] = (MetaArg){.name = STR("z"),
                           .kind = META_VIEW,
                           .dtype = DTYPE_U64,
                           .rank = 1,
                           .written = true,
                           .dims = {{3, 0}}};
}

static void make_meta(Fixture *f) {
    make_args(f);
    f->extents[0] = STR("M"), f->extents[1] = STR("K");
    f->extents[2] = STR("B"), f->extents[3] = STR("N");
    f->maps[0] = (MetaMap){.arg = 0,
                           .rank = 2,
                           .dtype = DTYPE_F16,
                           .axes = {1, 0},
                           .box = {64, 128},
                           .swizzle = 128,
                           .promotion = 256};
    f->maps[1] =
        (MetaMap){.arg = 1, .rank = 3, .dtype = DTYPE_F32, .axes = {2, 0, 1}, .box = {4, 1, 256}};
    f->one = (LaunchInstr){.op = LAUNCH_CONST, .dtype = DTYPE_I64, .result = DTYPE_I64, .imm = 1};
    f->variants[0] = (MetaVariant){.entry = STR("k"),
                                   .guard = META_NO_VALUE,
                                   .block = {1, 1, 1},
                                   .code = {.code = &f->one, .count = 1},
                                   .grid_rank = 1};
    f->variants[1] = f->variants[0];
    f->variants[1].facts = FACT_MAPPED;
    f->variants[1].map_count = MAPS, f->variants[1].maps = f->maps;
    meta_layout(f->args, 3, &f->meta.size);
    f->meta.name = STR("k");
    f->meta.arg_count = 3, f->meta.args = f->args;
    f->meta.extent_count = 4, f->meta.extents = f->extents;
    f->meta.variant_count = 2, f->meta.variants = f->variants;
    f->loaded = (RtLoaded){f->modules, &f->meta};
}

// Copies `words` words of its parameters from byte `from` on to z; without any, stores 7.
static Str text_of(char *to, uint32_t from, uint32_t words) {
    char *at = to;
    at += sprintf(at,
                  ".version 8.0\n.target sm_90a\n.address_size 64\n"
                  ".visible .entry k(.param .align %u .b8 block[%u])\n{\n.reg .b64 %%rd<3>;\n"
                  "ld.param.u64 %%rd1, [block+80];\n",
                  words ? GPU_MAP_ALIGN : 16u, words ? PARAMS : 112u);
    for (uint32_t i = 0; i < words; i++)
        at += sprintf(at, "ld.param.u64 %%rd2, [block+%u];\nst.global.u64 [%%rd1+%u], %%rd2;\n",
                      from + 8 * i, 8 * i);
    if (!words) at += sprintf(at, "mov.u64 %%rd2, 7;\nst.global.u64 [%%rd1], %%rd2;\n");
    at += sprintf(at, "ret;\n}\n");
    return (Str){to, (size_t)(at - to)};
}

static void load(Fixture *f, uint32_t variant, Str text) {
    RtModule *module = NULL;
    RtPtxImage image = {.text = text, .entry = STR("k")};
    rt_begin(f->context);
    tilec_status s = f->device->api->module_load(
        f->device, &(RtImage){RT_IMAGE_PTX, &image, sizeof image}, &module);
    if (s) fail_msg("%s", tilec_last_error(f->context));
    atomic_init(&f->modules[variant], module);
}

static void kernel_destroy(tilec_kernel *kernel) {
    for (int i = 0; i < 2; i++)
        kernel->device->api->module_unload(kernel->device,
                                           atomic_load(&kernel->loaded->modules[i]));
}

static void open_on(Fixture *f, const char *name) {
    static char text[32 * 80 + 512];
    assert_int_equal(tilec_device_open(f->context, name, &f->device), TILEC_OK);
    for (int i = 0; i < ARRAYS; i++)
        assert_int_equal(tilec_buffer_create(f->device, M * K * 2, &f->x[i]), TILEC_OK);
    assert_int_equal(tilec_buffer_create(f->device, 2 * B * M * K * 8, &f->y), TILEC_OK);
    assert_int_equal(tilec_buffer_create(f->device, OUT, &f->z), TILEC_OK);
    make_meta(f);
    load(f, 0, text_of(text, 0, 0));
    load(f, 1, text_of(text, gpu_maps_offset(f->meta.size), OUT / 8));
    tilec_kernel *made = recover_new(sizeof *made);
    *made = (tilec_kernel){.context = f->context,
                           .device = f->device,
                           .name = "k",
                           .loaded = &f->loaded,
                           .destroy = kernel_destroy};
    rt_kernel_adopt(made);
    f->kernel = made;
}

// ---- The rig ----

static const DriverRig cuda_rig = {
    .backend = &cuda_backend, .api = &cuda_device_api, .library = TEST_FAKE_CUDA};
static const DriverRig cuda_11_rig = {
    .backend = &cuda_backend, .api = &cuda_device_api, .library = TEST_FAKE_CUDA11};

static void take_log(void *user, tilec_severity severity, const char *text) {
    Fixture *f = user;
    (void)severity;
    f->logs++;
    snprintf(f->log, sizeof f->log, "%s", text);
}

static int set_up(void **state) {
    static const RtDeviceApi *const apis[] = {&cuda_device_api, &sim_device_api};
    Fixture *f = calloc(1, sizeof *f);
    tilec_context_options o = {.size = sizeof o, .user = f, .log = take_log};
    driver_reset();
    driver_fake->configure(2, 90, 12020, 83);
    assert_int_equal(rt_context_create(&o, apis, 2, &f->context), TILEC_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    tilec_context_destroy(f->context);
    assert_string_equal(driver_fake->problems(), "");
    assert_int_equal(driver_fake->live(), 0);
    assert_int_equal(driver_fake->place(), 0);
    free(f);
    return 0;
}

// ---- Launches ----

static void args_of(const Fixture *f, int array, tilec_arg *args) {
    const int64_t x[] = {M, K}, y[] = {B, M, K}, z[] = {OUT / 8};
    args[0] = tilec_arg_view(tilec_view_of_buffer(TILEC_F16, f->x[array], 2, x));
    tilec_view strided = tilec_view_of_buffer(TILEC_F32, f->y, 3, y);
    strided.stride[0] = M * K * 2, strided.stride[1] = K * 2;
    args[1] = tilec_arg_view(strided);
    args[2] = tilec_arg_view(tilec_view_of_buffer(TILEC_U64, f->z, 1, z));
}

static tilec_status launch(const Fixture *f, int array) {
    tilec_arg args[3];
    args_of(f, array, args);
    return tilec_launch(f->kernel, NULL, args, 3);
}

static tilec_status launch_variant(const Fixture *f, int variant) {
    tilec_arg args[3];
    args_of(f, 0, args);
    return tilec_launch_grid(f->kernel, NULL, variant, (const int64_t[]){1, 1, 1}, args, 3);
}

static uint64_t address_of(const Fixture *f, tilec_buffer b) {
    void *p = NULL;
    size_t size;
    assert_int_equal(tilec_buffer_address(f->device, b, &p, &size), TILEC_OK);
    return (uint64_t)(uintptr_t)p;
}

static void expect_maps(const Fixture *f, int array) {
    GpuMap found[MAPS], expected;
    const GpuMapFacts facts[MAPS] = {{.type = GPU_MAP_F16,
                                      .rank = 2,
                                      .address = address_of(f, f->x[array]),
                                      .dims = {K, M},
                                      .strides = {K * 2},
                                      .box = {64, 128},
                                      .steps = {1, 1},
                                      .swizzle = GPU_MAP_SWIZZLE_128,
                                      .l2 = 256},
                                     {.type = GPU_MAP_F32,
                                      .rank = 3,
                                      .address = address_of(f, f->y),
                                      .dims = {K, B, M},
                                      .strides = {M * K * 8, K * 8},
                                      .box = {4, 1, 256},
                                      .steps = {1, 1, 1}}};
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->z, 0, found, OUT), TILEC_OK);
    for (int i = 0; i < MAPS; i++) {
        assert_null(gpu_map_encode(&facts[i], &expected));
        assert_memory_equal(&found[i], &expected, sizeof expected);
    }
}

static void expect_plain(const Fixture *f) {
    uint64_t found = 0;
    assert_int_equal(tilec_buffer_read(f->device, NULL, f->z, 0, &found, 8), TILEC_OK);
    assert_int_equal(found, 7);
}

static void maps_arrive(void **state) {
    Fixture *f = *state;
    open_on(f, "cuda:0");
    for (int i = 0; i < ARRAYS; i++) {
        assert_int_equal(launch(f, i), TILEC_OK);
        expect_maps(f, i);
    }
    assert_int_equal(launch_variant(f, 1), TILEC_OK);
    expect_maps(f, 0);
    assert_int_equal(launch_variant(f, 0), TILEC_OK);
    expect_plain(f);
    assert_int_equal(f->logs, 0);
}

// A grid of the host's own would compute other positions.
static void persistent_programs_have_their_own_grid(void **state) {
    Fixture *f = *state;
    open_on(f, "cuda:0");
    f->variants[1].facts |= FACT_PERSISTENT;
    assert_int_equal(launch_variant(f, 1), TILEC_LAUNCH_REFUSED);
    assert_string_equal(tilec_last_error(f->context),
                        "k: variant 1 has a grid of its own; variant 0 takes any");
    assert_int_equal(launch(f, 0), TILEC_OK);
    expect_maps(f, 0);
}

// Every device without a card has maps of target/gpu_map.h.
static void simulated_devices_have_their_own(void **state) {
    Fixture *f = *state;
    open_on(f, "sim:sm_90a");
    for (int i = 0; i < ARRAYS; i++) {
        assert_int_equal(launch(f, i), TILEC_OK);
        expect_maps(f, i);
    }
}

// Nothing is encoded for the views of an earlier launch; other views have maps of their own.
static void same_views_have_the_same_maps(void **state) {
    Fixture *f = *state;
    open_on(f, "cuda:0");
    for (int i = 0; i < 10; i++) assert_int_equal(launch(f, 0), TILEC_OK);
    expect_maps(f, 0);
    assert_int_equal(driver_fake->calls(ENCODE), MAPS);
    for (int i = 0; i < 10; i++) assert_int_equal(launch(f, 1), TILEC_OK);
    expect_maps(f, 1);
    assert_int_equal(driver_fake->calls(ENCODE), 2 * MAPS);
    tilec_arg args[3];
    args_of(f, 1, args);
    args[0].view.extent[0] = args[1].view.extent[1] = M - 1;
    for (int i = 0; i < 10; i++) assert_int_equal(tilec_launch(f->kernel, NULL, args, 3), TILEC_OK);
    assert_int_equal(driver_fake->calls(ENCODE), 3 * MAPS);
    args[1].view.stride[1] += 4;
    assert_int_equal(tilec_launch(f->kernel, NULL, args, 3), TILEC_OK);
    assert_int_equal(driver_fake->calls(ENCODE), 4 * MAPS);
    // Launches that take turns have right maps, however many are kept.
    for (int i = 0; i < 4 * ARRAYS; i++) {
        assert_int_equal(launch(f, i % ARRAYS), TILEC_OK);
        expect_maps(f, i % ARRAYS);
    }
}

// Two variants with maps of the same views.
static void variants_have_their_own_maps(void **state) {
    static char text[32 * 80 + 512];
    Fixture *f = *state;
    open_on(f, "cuda:0");
    f->device->api->module_unload(f->device, atomic_load(&f->modules[0]));
    load(f, 0, text_of(text, gpu_maps_offset(f->meta.size), OUT / 8));
    f->turned[0] = f->maps[1], f->turned[1] = f->maps[0];
    f->variants[0].map_count = MAPS, f->variants[0].maps = f->turned;
    GpuMap first;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(launch_variant(f, i % 2), TILEC_OK);
        assert_int_equal(tilec_buffer_read(f->device, NULL, f->z, 0, &first, sizeof first),
                         TILEC_OK);
        assert_true(first.address == address_of(f, i % 2 ? f->x[0] : f->y));
    }
}

// A prepared launch only pushes, launches and pops: it may be captured.
static void prepared_launches_encode_nothing(void **state) {
    Fixture *f = *state;
    tilec_arg args[3];
    open_on(f, "cuda:0");
    args_of(f, 0, args);
    assert_int_equal(tilec_kernel_prepare(f->kernel, NULL, args, 3), TILEC_OK);
    assert_int_equal(driver_fake->calls(ENCODE), MAPS);
    assert_int_equal(driver_fake->calls("cuLaunchKernel"), 0);
    unsigned before = driver_fake->calls(NULL);
    for (int i = 0; i < 10; i++) assert_int_equal(launch(f, 0), TILEC_OK);
    assert_int_equal(driver_fake->calls(NULL), before + 30);
    expect_maps(f, 0);
}

// A failure is reported, nothing is launched, and the next launch is as it should be.
static void says_that_encoding_failed(void **state) {
    static const GpuResult codes[] = {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED,
                                      CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_NOT_INITIALIZED};
    Fixture *f = *state;
    open_on(f, "cuda:0");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        for (unsigned skip = 0; skip < MAPS; skip++) {
            // Views that no launch had, so that they need maps.
            assert_int_equal(launch(f, 0), TILEC_OK);
            tilec_arg args[3];
            args_of(f, 1, args);
            args[1].view.stride[0] += 4 * (int64_t)(MAPS * i + skip + 1);
            unsigned before = driver_fake->calls("cuLaunchKernel");
            driver_fake->fail_call(ENCODE, codes[i], skip);
            tilec_status s = tilec_launch(f->kernel, NULL, args, 3);
            assert_int_equal(s, gpu_error_status(cuda_code(codes[i]).kind));
            const char *text = tilec_last_error(f->context);
            if (!strstr(text, ENCODE) || !strstr(text, cuda_code(codes[i]).name))
                fail_msg("%s", text);
            assert_int_equal(driver_fake->calls("cuLaunchKernel"), before);
            assert_int_equal(launch(f, 1), TILEC_OK);
            expect_maps(f, 1);
        }
}

// Arguments and maps beyond what a launch takes, and maps that the metadata alone knows.
static void refuses_what_does_not_fit(void **state) {
    Fixture *f = *state;
    open_on(f, "cuda:0");
    uint32_t size = f->meta.size;
    f->meta.size = GPU_PARAMS - MAPS * GPU_MAP_BYTES - 8;
    assert_int_equal(launch(f, 0), TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->context),
                           "its arguments and 2 tensor maps take 4160 bytes, device cuda:0 has "
                           "room for 4096"));
    f->meta.size = size;
    RtLaunch bare = {.module = atomic_load(&f->modules[1]),
                     .meta = &f->meta,
                     .variant = 1,
                     .grid = {1, 1, 1},
                     .block = &size};
    rt_begin(f->context);
    assert_int_equal(f->device->api->launch(f->device, f->device->first->state, &bare),
                     TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->context), "its tensor maps are missing"));
}

// ---- A driver that does not make maps ----

static void older_drivers_run_without_maps(void **state) {
    Fixture *f = *state;
    open_on(f, "cuda:0");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(launch(f, i), TILEC_OK);
        expect_plain(f);
    }
    assert_int_equal(f->logs, 1);
    assert_non_null(strstr(f->log, "device cuda:0 has no tensor maps"));
    assert_int_equal(launch_variant(f, 1), TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->context),
                           "k: variant 1 takes tensor maps, which device cuda:0 does not have; "
                           "variant 0 takes none"));
    assert_int_equal(launch_variant(f, 0), TILEC_OK);
    f->variants[0].map_count = 1, f->variants[0].maps = f->maps;  // as no compiler makes it
    assert_int_equal(launch_variant(f, 0), TILEC_UNSUPPORTED);
    f->variants[0].map_count = 0;
}

// Architectures before sm_90, and AMD's, have no maps whatever the driver.
static void older_devices_have_no_maps(void **state) {
    Fixture *f = *state;
    static const char *const names[] = {"cuda:0", "sim:sm_89", "sim:gfx942"};
    driver_fake->configure(1, 89, 12020, 83);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tilec_device *d = NULL;
        assert_int_equal(tilec_device_open(f->context, names[i], &d), TILEC_OK);
        assert_false(launch_has_maps(d));
    }
}

// ---- The driver without a GPU notices maps that cannot be ----

typedef struct Request {
    GpuTensorType type;
    uint32_t rank;
    uint64_t address, dims[5], strides[4];
    uint32_t box[5], steps[5];
    GpuTensorInterleave interleave;
    GpuTensorSwizzle swizzle;
    GpuTensorPromotion promotion;
    GpuTensorFill fill;
    size_t at;
} Request;

static GpuResult request(const GpuDriver *d, Request r) {
    _Alignas(GPU_MAP_ALIGN) uint8_t room[2 * GPU_MAP_BYTES];
    return d->encode_map(room + r.at, r.type, r.rank, (void *)(uintptr_t)r.address, r.dims,
                         r.strides, r.box, r.steps, r.interleave, r.swizzle, r.promotion, r.fill);
}

static void notices_bad_maps(void **state) {
    Fixture *f = *state;
    static const Request good = {.type = GPU_MAP_F16,
                                 .rank = 2,
                                 .address = 4096,
                                 .dims = {UINT64_C(1) << 32, 1},
                                 .strides = {(UINT64_C(1) << 40) - 16},
                                 .box = {64, 256},
                                 .steps = {1, 8},
                                 .swizzle = GPU_MAP_SWIZZLE_128,
                                 .promotion = 3,
                                 .fill = 1,
                                 .at = GPU_MAP_ALIGN};
    enum { BAD = 21 };
    Request bad[BAD];
    for (int i = 0; i < BAD; i++) bad[i] = good;
    bad[0].type = 13;
    bad[1].rank = 0;
    bad[2].rank = 6;
    bad[3].address = 4104;
    bad[4].rank = 7;
    bad[5].dims[1] = 0;
    bad[6].dims[0]++;
    bad[7].strides[0] += 16;
    bad[8].strides[0] -= 8;
    bad[9].box[1] = 0;
    bad[10].box[1] = 257;
    bad[11].box[0] = 12;
    bad[12].swizzle = GPU_MAP_SWIZZLE_64;
    bad[13].swizzle = 4;
    bad[14].steps[1] = 0;
    bad[15].steps[1] = 9;
    bad[16].interleave = 1;
    bad[17].promotion = 4;
    bad[18].fill = 2;
    bad[19].type = GPU_MAP_U16;  // with a fill of NaN
    bad[20].at = 32;
    GpuDriver d;
    GpuContext context;
    assert_int_equal(gpu_driver_open(f->context, &cuda_backend, &d), TILEC_OK);
    assert_int_equal(d.init(0), 0);
    assert_int_equal(d.primary_retain(&context, 0), 0);
    assert_int_equal(request(&d, good), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(d.push_current(context), 0);
    assert_int_equal(request(&d, good), 0);
    for (int i = 0; i < BAD; i++)
        if (request(&d, bad[i]) != CUDA_ERROR_INVALID_VALUE) fail_msg("request %d", i);
    int lines = 0;
    for (const char *p = driver_fake->problems(); *p; p++) lines += *p == '\n';
    assert_int_equal(lines, BAD + 1);
    driver_fake->configure_one(0, 89);
    assert_int_equal(request(&d, good), CUDA_ERROR_INVALID_VALUE);
    driver_fake->reset();
}

#define MAP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        MAP_TEST(maps_arrive),
        MAP_TEST(persistent_programs_have_their_own_grid),
        MAP_TEST(simulated_devices_have_their_own),
        MAP_TEST(same_views_have_the_same_maps),
        MAP_TEST(variants_have_their_own_maps),
        MAP_TEST(prepared_launches_encode_nothing),
        MAP_TEST(says_that_encoding_failed),
        MAP_TEST(refuses_what_does_not_fit),
        MAP_TEST(older_devices_have_no_maps),
        MAP_TEST(notices_bad_maps),
    };
    const struct CMUnitTest older[] = {MAP_TEST(older_drivers_run_without_maps)};
    int failed = driver_tests_run(&cuda_rig, tests, sizeof tests / sizeof *tests);
    return failed + driver_tests_run(&cuda_11_rig, older, 1);
}
