// Reports of kernels on the device `cpu`: the lowest failed assert, cancellation, lines of print.
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/cpu_rig.h"

// STR for constants.
#define TEXT(literal) \
    { literal, sizeof(literal) - 1 }

static bool cancelled(const CpuServices *services) {
    return __atomic_load_n(services->cancel, __ATOMIC_RELAXED) != 0;
}

typedef struct Fails {
    int64_t from, every;  // programs from, from + every … fail
    _Atomic int64_t ran;
    bool slow;
} Fails;

static void fail_entry(const void *args, int64_t first, int64_t last, void *scratch,
                       const CpuServices *services) {
    Fails *f = ((const CpuRigBlock *)args)->array;
    (void)scratch;
    for (int64_t p = first; p < last && !cancelled(services); p++) {
        atomic_fetch_add(&f->ran, 1);
        if (f->slow) sched_yield();
        if (p < f->from || (p - f->from) % f->every) continue;
        services->assert_failed(services, p, 5 + p % 3, 1);
    }
}

static const Str assert_texts[] = {TEXT("not \"good\"")};
static const Str other_texts[] = {TEXT("other")};
static const MetaSite assert_sites[] = {
    {.kind = META_SITE_ASSERT, .text_count = 1, .texts = other_texts},
    {.kind = META_SITE_ASSERT,
     .file = TEXT("k.tile"),
     .line = 3,
     .column = 5,
     .end_line = 3,
     .end_column = 11,
     .source = TEXT("    assert(false, \"not\");"),
     .text_count = 1,
     .texts = assert_texts}};

static void open_rig(CpuRig *rig, CpuRigKernel *k, const char *device, CpuEntry *entry,
                     const MetaSite *sites, uint32_t count) {
    cpu_rig_open(rig, device);
    cpu_rig_kernel(rig, k, entry);
    k->variant.sites = sites;
    k->variant.site_count = count;
}

static void close_rig(CpuRig *rig, CpuRigKernel *k) {
    cpu_rig_unload(rig, k);
    cpu_rig_close(rig);
}

// The same program is reported for any number of threads and any timing.
static void test_least_program(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1", "cpu:2", "cpu:6"};
    for (size_t d = 0; d < 3; d++) {
        CpuRig rig;
        CpuRigKernel k;
        open_rig(&rig, &k, devices[d], fail_entry, assert_sites, 2);
        for (int round = 0; round < 60; round++) {
            Fails f = {.from = 1 + round * 17, .every = 1 + round % 9, .slow = round % 2};
            assert_int_equal(
                cpu_rig_launch3(&rig, NULL, &k, (int64_t[3]){10, 20, 30}, (CpuRigBlock){&f, 0}),
                TILEC_OK);
            assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
            char expected[128];
            snprintf(
                expected, sizeof expected,
                "assertion failed: \"not \\\"good\\\"\" in program (%lld, %lld, %lld), lane %lld",
                (long long)f.from % 10, (long long)f.from / 10 % 20, (long long)f.from / 200,
                (long long)(5 + f.from % 3));
            tilec_diagnostic diagnostic;
            assert_int_equal(tilec_diagnostic_get(rig.context, 0, &diagnostic), TILEC_OK);
            assert_string_equal(diagnostic.message, expected);
            assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
        }
        close_rig(&rig, &k);
    }
}

#define GIVEN_UP                                                                          \
    "note: the programs after it were not run; device interp runs all, and counts those " \
    "that fail\n"

static void test_report(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    MetaSite sites[2] = {assert_sites[0], assert_sites[1]};
    open_rig(&rig, &k, "cpu:2", fail_entry, sites, 2);
    Fails f = {.from = 1, .every = 1};
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 100, (CpuRigBlock){&f, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
    assert_string_equal(tilec_last_error(rig.context),
                        "k.tile:3:5: error: assertion failed: \"not \\\"good\\\"\" in program "
                        "(1, 0, 0), lane 6 [assert]\n"
                        "        assert(false, \"not\");\n"
                        "        ^~~~~~\n" GIVEN_UP);
    tilec_diagnostic d;
    assert_int_equal(tilec_diagnostic_get(rig.context, 0, &d), TILEC_OK);
    assert_string_equal(d.code, "assert");
    assert_string_equal(d.file, "k.tile");
    assert_int_equal(d.line, 3);
    assert_int_equal(d.column, 5);
    assert_int_equal(d.end_column, 11);
    assert_int_equal(tilec_diagnostic_get(rig.context, 1, &d), TILEC_OK);
    assert_int_equal(d.severity, TILEC_NOTE);
    // The line is not known.
    sites[1].source = STR("");
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 1, (CpuRigBlock){&f, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 3, (CpuRigBlock){&f, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
    assert_string_equal(tilec_last_error(rig.context),
                        "k.tile:3:5: error: assertion failed: \"not \\\"good\\\"\" in program "
                        "(1, 0, 0), lane 6 [assert]\n" GIVEN_UP);
    // Nothing comes after the last.
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 2, (CpuRigBlock){&f, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
    assert_string_equal(tilec_last_error(rig.context),
                        "k.tile:3:5: error: assertion failed: \"not \\\"good\\\"\" in program "
                        "(1, 0, 0), lane 6 [assert]\n");
    // A site without a description.
    k.variant.site_count = 0;
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 2, (CpuRigBlock){&f, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
    assert_non_null(strstr(tilec_last_error(rig.context), "in program (1, 0, 0), lane 6"));
    close_rig(&rig, &k);
}

// After a failure most of a long grid is not run, all before it is, and the stream does nothing
// until it is synchronised; another stream is not touched.
static void test_cancel_and_sticky(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    open_rig(&rig, &k, "cpu:3", fail_entry, assert_sites, 2);
    enum { N = 10000000 };
    Fails f = {.from = 1000, .every = 1}, later = {.from = N, .every = 1}, other = later;
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, N, (CpuRigBlock){&f, 0}), TILEC_OK);
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 500, (CpuRigBlock){&later, 0}), TILEC_OK);
    tilec_stream *stream = NULL;
    assert_int_equal(tilec_stream_create(rig.device, &stream), TILEC_OK);
    assert_int_equal(cpu_rig_launch(&rig, stream, &k, 500, (CpuRigBlock){&other, 0}), TILEC_OK);
    assert_int_equal(tilec_stream_synchronize(stream), TILEC_OK);
    assert_int_equal(other.ran, 500);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
    assert_int_equal(later.ran, 0);
    assert_true(f.ran > 1000);
    assert_true(f.ran < N);
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 500, (CpuRigBlock){&later, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    assert_int_equal(later.ran, 500);
    close_rig(&rig, &k);
}

// Program 0 fails once another thread is at work; that thread goes on until it is cancelled.
static void stop_entry(const void *args, int64_t first, int64_t last, void *scratch,
                       const CpuServices *services) {
    _Atomic int *other = ((const CpuRigBlock *)args)->array;
    (void)last, (void)scratch;
    uint64_t end = os_time_ns() + 20000000000u;
    if (first == 0) {
        while (!atomic_load(other) && os_time_ns() < end) sched_yield();
        services->assert_failed(services, 0, 0, 1);
        return;
    }
    atomic_store(other, 1);
    while (!cancelled(services) && os_time_ns() < end) sched_yield();
    atomic_store(other, cancelled(services) ? 2 : 3);
}

static void test_stops_others(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    open_rig(&rig, &k, "cpu:2", stop_entry, assert_sites, 2);
    _Atomic int other = 0;
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 1000, (CpuRigBlock){&other, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
    assert_int_equal(other, 2);
    close_rig(&rig, &k);
}

static tilec_status host_fails(void *user, tilec_device *device, const RtLaunch *launch,
                               RtReport *report) {
    (void)user, (void)device, (void)launch;
    report->arena = arena_create();
    report->text = (Str){arena_text(report->arena, "planted", 7), 7};
    return TILEC_KERNEL_FAILED;
}

static void test_host_fails(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:2");
    cpu_rig_host_kernel(&rig, &k, host_fails, NULL);
    for (int64_t n = 1; n < 4; n++) {
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, n, (CpuRigBlock){NULL, 0}), TILEC_OK);
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, n, (CpuRigBlock){NULL, 0}), TILEC_OK);
        assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
        assert_string_equal(tilec_last_error(rig.context), "planted");
        assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    }
    close_rig(&rig, &k);
}

// ---- print ----

static void print_entry(const void *args, int64_t first, int64_t last, void *scratch,
                        const CpuServices *services) {
    (void)args, (void)scratch;
    for (int64_t p = first; p < last; p++) {
        int32_t number = (int32_t)p;
        float tile[2][2] = {{0.5f, -1}, {(float)p, 1e30f}};
        bool yes = true;
        uint64_t address = 0xab;
        services->print(services, p, 0, (const void *[]){&number, tile});
        services->print(services, p, 1, (const void *[]){&yes, &address});
    }
}

static const Str print_texts[2][3] = {{TEXT("p "), TEXT(": "), TEXT(" end")}, {TEXT("flag ")}};
static const MetaValue print_values[2][2] = {
    {{.dtype = DTYPE_I32}, {.dtype = DTYPE_F32, .rank = 2, .shape = {2, 2}}},
    {{.dtype = DTYPE_BOOL}, {.dtype = DTYPE_F32, .pointer = true, .rank = 1, .shape = {1}}}};
static const MetaSite print_sites[] = {{.kind = META_SITE_PRINT,
                                        .text_count = 3,
                                        .texts = print_texts[0],
                                        .value_count = 2,
                                        .values = print_values[0]},
                                       {.kind = META_SITE_PRINT,
                                        .text_count = 1,
                                        .texts = print_texts[1],
                                        .value_count = 2,
                                        .values = print_values[1]}};

static void test_print(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    open_rig(&rig, &k, "cpu:4", print_entry, print_sites, 2);
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 1, (CpuRigBlock){NULL, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    assert_string_equal(rig.lines, "p 0: [[0.5, -1.0], [0.0, 1e+30]] end\nflag true[0xab]\n");
    // Several threads: lines are whole, and those of one program in order.
    memset(rig.lines, 0, sizeof rig.lines);
    rig.lines_size = 0;
    enum { N = 40 };
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, N, (CpuRigBlock){NULL, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    for (int p = 0; p < N; p++) {
        char line[80];
        snprintf(line, sizeof line, "p %d: [[0.5, -1.0], [%d.0, 1e+30]] end\n", p, p);
        assert_non_null(strstr(rig.lines, line));
    }
    close_rig(&rig, &k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_program),     cmocka_unit_test(test_report),
        cmocka_unit_test(test_cancel_and_sticky), cmocka_unit_test(test_host_fails),
        cmocka_unit_test(test_stops_others),      cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
