// A HIP that is installed (Debian has one: libamdhip64-5), most likely without a GPU: every entry
// point is found, and what is missing is said.
#define _POSIX_C_SOURCE 200809L  // unsetenv
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/gpu/state.h"
#include "runtime/hip/device.h"
#include "runtime/hip/state.h"

static void skip_without(const char *why) {
    print_message("skipped: %s\n", why);
    skip();
}

static void finds_its_entry_points(void **state) {
    (void)state;
    static const RtDeviceApi *const apis[] = {&hip_device_api};
    tilec_context *context = NULL;
    tilec_device *device = NULL;
    GpuDriver driver;
    int version = 0;
    assert_int_equal(rt_context_create(NULL, apis, 1, &context), TILEC_OK);
    tilec_status s = gpu_driver_open(context, &hip_backend, &driver);
    if (s && strstr(tilec_last_error(context), "cannot be opened")) {
        tilec_context_destroy(context);
        skip_without("no HIP here: apt-get install libamdhip64-5");
        return;
    }
    if (s) fail_msg("%s", tilec_last_error(context));
    assert_int_equal(driver.get_version(&version), 0);
    assert_true(version >= 50000000 && version < 100000000);
    assert_string_equal(driver.error_name(hipErrorNoDevice), "hipErrorNoDevice");
    s = tilec_device_open(context, "hip", &device);
    if (!s) {
        print_message("there is a GPU: what is said without one is not seen\n");
    } else {
        const char *text = tilec_last_error(context);
        print_message("%s\n", text);
        assert_int_equal(s, TILEC_UNAVAILABLE);
        assert_non_null(strstr(text, " finds no GPU: "));
        assert_null(strstr(text, "an unknown error"));
    }
    tilec_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_its_entry_points)};
    unsetenv("TILEC_HIP_LIBRARY");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
