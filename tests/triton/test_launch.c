// Kernels in Python files, in the style of the code that users have, launched through the public
// API and compared with references in C. Without an argument a slice of the pairs of case and
// device; TILEC_TEST_WHOLE=1 runs all.
//
//     triton_test_launch [CASE [DEVICE]]
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "tests/support/slice.h"
#include "tests/triton/cases.h"

static const char *const devices[] = {"interp",     "cpu",        "sim:sm_80",
                                      "sim:sm_90a", "sim:gfx942", "sim:gfx1100"};
enum { DEVICES = sizeof devices / sizeof *devices };

#define RIG_CASE(name) {#name, case_##name},
static const RigCase cases[] = {
#include "tests/triton/cases.def"
};
#undef RIG_CASE
enum { CASES = sizeof cases / sizeof *cases, PARTS = 6 };

typedef struct Test {
    const RigCase *which;
    const char *device;
} Test;

// A build without the compiler library runs kernels on interp only.
static bool can_compile(Rig *r) {
    static const char any[] = "kernel k() grid(1) { }";
    tilec_kernel *k = NULL;
    tilec_status s = tilec_kernel_from_source(r->context, r->device, "any.tile", any,
                                              sizeof any - 1, NULL, NULL, &k);
    if (!s) tilec_kernel_destroy(k);
    return s != TILEC_UNAVAILABLE;
}

static void run_case(void **state) {
    const Test *t = *state;
    Rig r = {.name = t->device, .own_memory = strncmp(t->device, "sim:", 4) == 0, .seed = 1};
    tilec_context_options options = {.size = sizeof options, .cpu_threads = 2};
    assert_int_equal(tilec_context_create(&options, &r.context), TILEC_OK);
    assert_int_equal(tilec_device_open(r.context, r.name, &r.device), TILEC_OK);
    if (can_compile(&r)) t->which->run(&r);
    for (size_t i = 0; i < r.count; i++) free(r.arrays[i].data);
    tilec_context_destroy(r.context);
}

int main(int argc, char **argv) {
    static Test tests[CASES * DEVICES];
    static struct CMUnitTest units[CASES * DEVICES];
    static char names[CASES * DEVICES][64];
    const char *whole = os_env("TILEC_TEST_WHOLE");
    bool all = argc > 1 || (whole && strcmp(whole, "1") == 0);
    size_t count = 0;
    for (size_t c = 0; c < CASES; c++)
        for (size_t d = 0; d < DEVICES; d++) {
            if (argc > 1 && strcmp(argv[1], cases[c].name) != 0) continue;
            if (argc > 2 && strcmp(argv[2], devices[d]) != 0) continue;
            // Each slice has every case, on one device.
            if (!all && !slice_has(c + d, PARTS)) continue;
            tests[count] = (Test){&cases[c], devices[d]};
            snprintf(names[count], sizeof names[count], "%s on %s", cases[c].name, devices[d]);
            units[count] = (struct CMUnitTest){
                .name = names[count], .test_func = run_case, .initial_state = &tests[count]};
            count++;
        }
    return _cmocka_run_group_tests("launch", units, count, NULL, NULL);
}
