// Tests that every driver of GPUs passes, on the ones without a GPU (tests/fakes/gpu).
//
// A rig says which driver it is and has two kernels in its code: `add` of three views f32[N], and
// one of the same parameters that asserts that there is one program only: it leaves a report of
// site 1, lane 5, by the others. Invariants: at the end of each test everything is freed and the
// fake has seen no mistake. Ownership: the rig is the caller's, for the process.
//
//     int main(void) {
//         const struct CMUnitTest tests[] = {DRIVER_TESTS, DRIVER_TEST(own_one)};
//         return driver_tests_run(&rig, tests, sizeof tests / sizeof *tests);
//     }
#ifndef TILEC_TESTS_SUPPORT_DRIVER_TESTS_H
#define TILEC_TESTS_SUPPORT_DRIVER_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "runtime/gpu/state.h"
#include "runtime/kernel.h"
#include "tests/fakes/gpu/fake.h"

typedef struct DriverRig {
    const GpuBackend *backend;
    const RtDeviceApi *api;
    const char *library;     // the fake's path
    const char *devices[2];  // "cuda:0", "cuda:1"
    RtImageKind kind;        // of `add` and `asserts`, RtPtxImage both
    Str add, asserts;
    Str entry;                  // their kernel
    uint32_t threads;           // of a program of `add`
    void (*begin)(void);        // after each reset; NULL: nothing
    void (*configure)(void);    // for DriverFixture's scenario, after a reset
    const GpuCall *per_launch;  // what a launch that was prepared calls, once each
    size_t per_launch_count;
    const GpuCall *frees;  // what fails when something cannot be given back
    size_t free_count;
    const GpuResult *codes;  // all, the first is success
    size_t code_count;
    GpuResult illegal_address;
    void (*enter)(GpuDriver *d);  // a user of the driver takes device 0
    void (*leave)(GpuDriver *d);
    bool host_functions;     // the driver calls functions of the host
    const char *bad_stream;  // the error for a stream of device 0 on device 1; NULL: none
} DriverRig;

enum { DRIVER_N = 100 };
typedef struct DriverKernel {
    MetaArg args[3];
    Str extent;
    LaunchInstr code[4];
    MetaSite site;
    Str text;
    MetaVariant variant;
    MetaKernel meta;
    RtModuleSlot module;
    RtLoaded loaded;
} DriverKernel;

typedef struct DriverFixture {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *kernel;
    DriverKernel made;
    tilec_buffer buffers[3];
    float x[DRIVER_N], y[DRIVER_N], z[DRIVER_N], back[DRIVER_N];
} DriverFixture;

// The fake of the rig that runs.
extern const FakeGpu *driver_fake;

void driver_reset(void);  // the fake, as for a test
int driver_set_up(void **state);
int driver_tear_down(void **state);
void driver_expect_message(const DriverFixture *f, const char *text);
void driver_refused(const DriverFixture *f, tilec_status found, tilec_status expected,
                    const char *text);
tilec_status driver_load(tilec_device *device, Str code, RtModule **module);
tilec_status driver_open(DriverFixture *f, const char *name, Str code);
tilec_status driver_fill(DriverFixture *f, tilec_stream *stream);
tilec_status driver_launch(DriverFixture *f, tilec_stream *stream);
void driver_sums(const DriverFixture *f);
// All that a program does, to its end; the first failure ends it.
tilec_status driver_scenario(DriverFixture *f);
void driver_open_bare(const DriverFixture *f, GpuDriver *driver);
// A context without devices but this rig's.
tilec_context *driver_context(void);

void driver_runs(void **state);
void driver_describes_devices(void **state);
void driver_knows_how_many_run_at_once(void **state);
void driver_orders_streams(void **state);
void driver_moves_without_waiting(void **state);
void driver_pools_memory(void **state);
void driver_takes_streams_of_others(void **state);
void driver_shares_tensors(void **state);
void driver_takes_raw_pointers(void **state);
void driver_has_two_devices(void **state);
void driver_prepared_launches_do_nothing_else(void **state);
void driver_reports_asserts(void **state);
void driver_refuses_launches(void **state);
void driver_stays_lost(void **state);
void driver_fails_cleanly(void **state);

#define DRIVER_TEST(name) cmocka_unit_test_setup_teardown(name, driver_set_up, driver_tear_down)
#define DRIVER_TESTS                                                                        \
    DRIVER_TEST(driver_runs), DRIVER_TEST(driver_describes_devices),                        \
        DRIVER_TEST(driver_knows_how_many_run_at_once), DRIVER_TEST(driver_orders_streams), \
        DRIVER_TEST(driver_moves_without_waiting), DRIVER_TEST(driver_pools_memory),        \
        DRIVER_TEST(driver_takes_streams_of_others), DRIVER_TEST(driver_shares_tensors),    \
        DRIVER_TEST(driver_takes_raw_pointers), DRIVER_TEST(driver_has_two_devices),        \
        DRIVER_TEST(driver_prepared_launches_do_nothing_else),                              \
        DRIVER_TEST(driver_reports_asserts), DRIVER_TEST(driver_refuses_launches),          \
        DRIVER_TEST(driver_stays_lost), DRIVER_TEST(driver_fails_cleanly)
// Opens the fake and makes it the driver; `count` tests.
int driver_tests_run(const DriverRig *rig, const struct CMUnitTest *tests, size_t count);

#endif
