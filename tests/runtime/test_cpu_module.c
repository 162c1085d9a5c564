// Images of the device `cpu`: shared objects from files and bytes, refused when they don't fit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/cpu_rig.h"

#define LIBRARY TEST_BINARY_DIR "/tests/libtest_twice.so"

typedef struct Fixture {
    CpuRig rig;
    Arena *arena;
    Str bytes;
    RtCpuImage image;
} Fixture;

static int set_up(void **state) {
    Fixture *f = test_calloc(1, sizeof *f);
    cpu_rig_open(&f->rig, "cpu:2");
    f->arena = arena_create();
    OsError e;
    if (!os_read_file(f->arena, LIBRARY, 1 << 24, &f->bytes, &e)) fail_msg("%s", e.text);
    f->image = (RtCpuImage){.abi = CPU_ABI_VERSION,
                            .target = cpu_native(),
                            .entry = "twice",
                            .name = "twice",
                            .bytes = f->bytes};
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    arena_destroy(f->arena);
    cpu_rig_close(&f->rig);
    test_free(f);
    return 0;
}

static tilec_status load(Fixture *f, RtModule **module) {
    RtImage image = {RT_IMAGE_CPU, &f->image, sizeof f->image};
    rt_begin(f->rig.context);
    return cpu_device_api.module_load(f->rig.device, &image, module);
}

static void refused(Fixture *f, tilec_status status, const char *text) {
    RtModule *m = NULL;
    assert_int_equal(load(f, &m), status);
    assert_null(m);
    if (!strstr(tilec_last_error(f->rig.context), text))
        fail_msg("expected '%s' in '%s'", text, tilec_last_error(f->rig.context));
}

static void check_runs(Fixture *f, RtModule *module, int64_t factor) {
    MetaVariant variant = {.guard = META_NO_VALUE};
    MetaKernel meta = {.name = STR("twice"),
                       .size = sizeof(CpuRigBlock),
                       .variant_count = 1,
                       .variants = &variant};
    int64_t values[100];
    CpuRigBlock block = {values, 7};
    RtLaunch l = {.module = module, .meta = &meta, .grid = {100, 1, 1}, .block = &block};
    assert_int_equal(cpu_device_api.launch(f->rig.device, f->rig.device->first->state, &l), 0);
    assert_int_equal(tilec_device_synchronize(f->rig.device), TILEC_OK);
    for (int i = 0; i < 100; i++) assert_int_equal(values[i], factor * i + 7);
}

static void test_from_bytes_and_file(void **state) {
    Fixture *f = *state;
    RtModule *modules[6] = {0};
    for (int i = 0; i < 6; i++) {  // several at once
        f->image.path = i % 2 ? LIBRARY : NULL;
        f->image.entry = i < 3 ? "twice" : "thrice";
        assert_int_equal(load(f, &modules[i]), TILEC_OK);
    }
    for (int i = 0; i < 6; i++) check_runs(f, modules[i], i < 3 ? 2 : 3);
    for (int i = 0; i < 5; i++) cpu_device_api.module_unload(f->rig.device, modules[i]);
    check_runs(f, modules[5], 3);
    cpu_device_api.module_unload(f->rig.device, modules[5]);
}

// The system's names of files in memory are shorter than kernels' may be.
static void test_long_name(void **state) {
    Fixture *f = *state;
    char name[1000];
    RtModule *module = NULL;
    memset(name, 'q', sizeof name - 1);
    name[sizeof name - 1] = 0;
    f->image.name = name;
    assert_int_equal(load(f, &module), TILEC_OK);
    check_runs(f, module, 2);
    cpu_device_api.module_unload(f->rig.device, module);
}

static void test_refused(void **state) {
    Fixture *f = *state;
    f->image.abi = CPU_ABI_VERSION + 1;
    refused(f, TILEC_UNAVAILABLE, "version 2 of the kernels' interface; this is version 1");
    f->image.abi = CPU_ABI_VERSION;
    bool arm = cpu_native().level == CPU_AARCH64;
    f->image.target = (CpuTarget){arm ? CPU_X86_64_V2 : CPU_AARCH64, 0};
    refused(f, TILEC_UNAVAILABLE, arm ? "compiled for x86-64-v2" : "compiled for aarch64");
    f->image.target = cpu_native();
    f->image.entry = "fourfold";
    refused(f, TILEC_IO, "twice: has no entry 'fourfold'");
    f->image.entry = "twice";
    f->image.path = "/nowhere/k.so";
    refused(f, TILEC_IO, "/nowhere/k.so: no such file");
}

// Any beginning of the file is refused, as is one with other bytes in its header; nothing crashes.
static void test_damaged(void **state) {
    Fixture *f = *state;
    for (size_t size = 0; size < f->bytes.size; size += size < 512 ? 1 : 251) {
        f->image.bytes = (Str){arena_copy(f->arena, f->bytes.text, size), size};
        refused(f, TILEC_IO, "twice: is ");
    }
    for (size_t i = 0; i < 20; i++) {
        if (i >= 6 && i < 16) continue;  // says nothing that the loader needs
        char *copy = arena_copy(f->arena, f->bytes.text, f->bytes.size);
        copy[i] = (char)(copy[i] ^ 0x15);
        f->image.bytes = (Str){copy, f->bytes.size};
        refused(f, TILEC_IO, "twice: is ");
    }
}

static void test_other_kinds(void **state) {
    Fixture *f = *state;
    static const RtImageKind kinds[] = {RT_IMAGE_IR, RT_IMAGE_PTX, RT_IMAGE_CUBIN, RT_IMAGE_HSACO};
    for (size_t i = 0; i < 4; i++) {
        RtImage image = {kinds[i], &f->image, sizeof f->image};
        RtModule *m = NULL;
        assert_int_equal(cpu_device_api.module_load(f->rig.device, &image, &m),
                         TILEC_INVALID_ARGUMENT);
    }
    RtImage image = {RT_IMAGE_CPU, &f->image, 1};
    RtModule *m = NULL;
    assert_int_equal(cpu_device_api.module_load(f->rig.device, &image, &m), TILEC_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_from_bytes_and_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_kinds, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
