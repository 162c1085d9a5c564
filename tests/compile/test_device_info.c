// The facts about devices, on those that need no GPU.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

static tilec_context *context;

static int set_up(void **state) {
    (void)state;
    return (int)tilec_context_create(NULL, &context);
}

static int tear_down(void **state) {
    (void)state;
    tilec_context_destroy(context);
    return 0;
}

static void refused(tilec_status found, const char *text) {
    assert_int_equal(found, TILEC_INVALID_ARGUMENT);
    if (!strstr(tilec_last_error(context), text))
        fail_msg("expected '%s' in '%s'", text, tilec_last_error(context));
}

static tilec_device_info info_of(const char *name) {
    tilec_device *device = NULL;
    tilec_device_info info = {.size = sizeof info};
    if (tilec_device_open(context, name, &device) || tilec_device_describe(device, &info))
        fail_msg("%s", tilec_last_error(context));
    return info;
}

static void devices_say_what_they_are(void **state) {
    (void)state;
    tilec_device_info i = info_of("interp");
    assert_string_equal(i.target, "");
    assert_true(i.multiprocessors == 1 && i.warp == 1 && i.shared_memory == 0 && i.memory > 0);
    i = info_of("cpu:3");
    assert_true(i.multiprocessors == 3 && i.warp == 1 && i.memory > 0);
    assert_true(strncmp(i.target, "x86-64-v", 8) == 0 || strcmp(i.target, "aarch64") == 0);
    i = info_of("sim:sm_90a");
    assert_string_equal(i.target, "sm_90a");
    assert_string_equal(i.name, "a simulated sm_90a");
    assert_true(i.multiprocessors == 4 && i.warp == 32 && i.shared_memory == 227 << 10);
    i = info_of("sim:gfx942:7");
    assert_string_equal(i.target, "gfx942");
    assert_true(i.warp == 64 && i.shared_memory == 64 << 10);
    assert_string_equal(i.bus, "");
}

static void devices_are_counted(void **state) {
    (void)state;
    static const char *const kinds[] = {"interp", "cpu", "sim", "auto"};
    uint32_t count;
    for (int i = 0; i < 4; i++) {
        count = 77;
        assert_int_equal(tilec_device_count(context, kinds[i], &count), TILEC_OK);
        assert_int_equal(count, 1);
    }
    // The tests hide such libraries, which must not be a failure.
    assert_int_equal(tilec_device_count(context, "cuda", &count), TILEC_OK);
    assert_int_equal(count, 0);
    count = 77;
    refused(tilec_device_count(context, "cudda", &count), "did you mean 'cuda'?");
    refused(tilec_device_count(context, "cpu:1", &count), "no device 'cpu:1' here");
    refused(tilec_device_count(context, NULL, &count), "the kind of device is NULL");
    refused(tilec_device_count(context, "cpu", NULL), "the pointer for the number is NULL");
    assert_int_equal(tilec_device_count(NULL, "cpu", &count), TILEC_INVALID_ARGUMENT);
    assert_int_equal(count, 77);
}

static void refuses_a_size_that_no_version_had(void **state) {
    (void)state;
    tilec_device *device = NULL;
    assert_int_equal(tilec_device_open(context, "cpu", &device), TILEC_OK);
    tilec_device_info info = {.size = 8, .warp = 5};
    refused(tilec_device_describe(device, &info), "the size of tilec_device_info is 8");
    assert_int_equal(info.warp, 5);
    refused(tilec_device_describe(device, NULL), "the pointer for the facts is NULL");
    assert_int_equal(tilec_device_describe(NULL, &info), TILEC_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(devices_say_what_they_are),
        TEST(devices_are_counted),
        TEST(refuses_a_size_that_no_version_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
