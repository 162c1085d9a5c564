// Streams and events of the device `cpu`: order, asynchrony, waits, failures, ends.
#define _GNU_SOURCE  // nanosleep
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/support/cpu_rig.h"

typedef struct Fixture {
    CpuRig rig;
    CpuRigKernel add, gate;
    tilec_stream *streams[2];
    _Atomic int open;  // what gates wait for
    int64_t values[1000];
} Fixture;

// Element p becomes 3 * itself + number: the order of launches shows.
static void add_entry(const void *args, int64_t first, int64_t last, void *scratch,
                      const CpuServices *services) {
    const CpuRigBlock *b = args;
    (void)scratch, (void)services;
    int64_t *values = b->array;
    for (int64_t p = first; p < last; p++) values[p] = (3 * values[p] + b->number) % 1000003;
}

static void gate_entry(const void *args, int64_t first, int64_t last, void *scratch,
                       const CpuServices *services) {
    const _Atomic int *gate = ((const CpuRigBlock *)args)->array;
    (void)first, (void)last, (void)scratch, (void)services;
    while (!atomic_load(gate)) sched_yield();
}

static void set_up_device(Fixture *f, const char *device) {
    memset(f, 0, sizeof *f);
    cpu_rig_open(&f->rig, device);
    cpu_rig_kernel(&f->rig, &f->add, add_entry);
    cpu_rig_kernel(&f->rig, &f->gate, gate_entry);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tilec_stream_create(f->rig.device, &f->streams[i]), TILEC_OK);
}

static void tear_down_device(Fixture *f) {
    cpu_rig_unload(&f->rig, &f->add);
    cpu_rig_unload(&f->rig, &f->gate);
    cpu_rig_close(&f->rig);
}

static void launch_add(Fixture *f, int stream, int64_t programs, int64_t number) {
    assert_int_equal(cpu_rig_launch(&f->rig, f->streams[stream], &f->add, programs,
                                    (CpuRigBlock){f->values, number}),
                     TILEC_OK);
}

// Two programs, so that it does not run within the launch.
static void launch_gate(Fixture *f, int stream) {
    assert_int_equal(
        cpu_rig_launch(&f->rig, f->streams[stream], &f->gate, 2, (CpuRigBlock){&f->open, 0}),
        TILEC_OK);
}

static void synchronize(Fixture *f, int stream) {
    assert_int_equal(tilec_stream_synchronize(f->streams[stream]), TILEC_OK);
}

static void in_order(const char *device) {
    Fixture f;
    set_up_device(&f, device);
    int64_t expected = 0;
    for (int64_t i = 1; i <= 400; i++) {
        launch_add(&f, 0, 1000, i);
        expected = (3 * expected + i) % 1000003;
        if (i % 50 == 0) synchronize(&f, 0);
    }
    synchronize(&f, 0);
    for (int i = 0; i < 1000; i++) assert_int_equal(f.values[i], expected);
    tear_down_device(&f);
}

static void test_order(void **state) {
    (void)state;
    in_order("cpu:1");
    in_order("cpu:2");
    in_order("cpu:5");
}

static void test_launch_returns_first(void **state) {
    (void)state;
    Fixture f;
    set_up_device(&f, "cpu:3");
    launch_gate(&f, 0);  // would hang if it were run within
    launch_add(&f, 0, 1000, 7);
    launch_add(&f, 0, 1, 7);
    launch_add(&f, 1, 1, 1);  // another stream gets on
    synchronize(&f, 1);
    assert_int_equal(f.values[0], 1);
    atomic_store(&f.open, 1);
    synchronize(&f, 0);
    assert_int_equal(f.values[0], 3 * (3 * 1 + 7) + 7);
    assert_int_equal(f.values[999], 7);
    tear_down_device(&f);
}

// The work is done although no call waits for it.
static void test_progress(void **state) {
    (void)state;
    Fixture f;
    set_up_device(&f, "cpu:2");
    tilec_event *e = NULL;
    assert_int_equal(tilec_event_create(f.rig.device, &e), TILEC_OK);
    launch_gate(&f, 0);
    assert_int_equal(cpu_rig_launch(&f.rig, f.streams[0], &f.gate, 2, (CpuRigBlock){&f.open, 0}),
                     0);
    atomic_store(&f.open, 1);
    uint64_t end = os_time_ns() + 20000000000u;
    launch_add(&f, 0, 2, 5);
    const volatile int64_t *value = &f.values[1];
    // The value is polled as another process would: the synchronize below is what orders it.
#if !defined __SANITIZE_THREAD__
    while (*value != 5 && os_time_ns() < end) sched_yield();
    assert_int_equal(*value, 5);
#else
    (void)value, (void)end;
#endif
    synchronize(&f, 0);
    assert_int_equal(f.values[1], 5);
    tear_down_device(&f);
}

// ---- copies ----

static void test_copies(void **state) {
    (void)state;
    Fixture f;
    set_up_device(&f, "cpu:2");
    tilec_buffer b;
    assert_int_equal(tilec_buffer_create(f.rig.device, sizeof f.values, &b), TILEC_OK);
    void *address = NULL;
    assert_int_equal(tilec_buffer_address(f.rig.device, b, &address, NULL), TILEC_OK);
    assert_int_equal((uintptr_t)address % 64, 0);
    int64_t host[1000];
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 1000; i++) host[i] = i;
        assert_int_equal(tilec_buffer_write(f.rig.device, f.streams[0], b, 0, host, sizeof host),
                         0);
        for (int i = 0; i < 1000; i++) host[i] = -1;
        for (int64_t i = 0; i < 3; i++)
            assert_int_equal(
                cpu_rig_launch(&f.rig, f.streams[0], &f.add, 1000, (CpuRigBlock){address, i}),
                TILEC_OK);
        assert_int_equal(tilec_buffer_read(f.rig.device, f.streams[0], b, 0, host, sizeof host), 0);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(host[i], (3 * (3 * (3 * i + 0) + 1) + 2) % 1000003);
    }
    tear_down_device(&f);
}

// Nothing waits for the gate but the synchronize: any of these calls would hang.
static void test_moves_return_first(void **state) {
    (void)state;
    Fixture f;
    set_up_device(&f, "cpu:2");
    enum { LONG = 1 << 20 };
    static unsigned char from[LONG], to[LONG];
    tilec_buffer a, b;
    assert_int_equal(tilec_buffer_create(f.rig.device, LONG, &a), TILEC_OK);
    assert_int_equal(tilec_buffer_create(f.rig.device, LONG, &b), TILEC_OK);
    memset(from, 3, LONG);
    memset(to, 0, LONG);
    tilec_device *d = f.rig.device;
    tilec_stream *s = f.streams[0];
    const uint64_t pattern = UINT64_C(0x0706050403020100);
    launch_gate(&f, 0);
    assert_int_equal(tilec_buffer_write_async(d, s, a, 0, from, LONG), TILEC_OK);
    assert_int_equal(tilec_buffer_fill(d, s, a, 8, &pattern, 8, LONG / 2), TILEC_OK);
    assert_int_equal(tilec_buffer_copy(d, s, b, 0, a, 0, LONG), TILEC_OK);
    assert_int_equal(tilec_buffer_read_async(d, s, b, 0, to, LONG), TILEC_OK);
    assert_int_equal(to[0], 0);
    atomic_store(&f.open, 1);
    synchronize(&f, 0);
    for (size_t i = 0; i < LONG; i++)
        if (to[i] != (i < 8 || i >= LONG / 2 + 8 ? 3 : i % 8)) fail_msg("byte %zu", i);
    tear_down_device(&f);
}

// Big buffers are zeroed, too, and a buffer is freed only once what uses it is done.
static void test_buffers(void **state) {
    (void)state;
    Fixture f;
    set_up_device(&f, "cpu:2");
    static const size_t sizes[] = {0, 1, 63, 4096, (1 << 20) - 1, 1 << 20, (5 << 20) + 3};
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            tilec_buffer b;
            void *at = NULL;
            assert_int_equal(tilec_buffer_create(f.rig.device, sizes[i], &b), TILEC_OK);
            assert_int_equal(tilec_buffer_address(f.rig.device, b, &at, NULL), TILEC_OK);
            const uint8_t *bytes = at;
            for (size_t k = 0; k < sizes[i]; k++)
                if (bytes[k]) fail_msg("byte %zu of %zu is %u", k, sizes[i], bytes[k]);
            if (sizes[i]) memset(at, 0xee, sizes[i]);
            assert_int_equal(tilec_buffer_destroy(f.rig.device, b), TILEC_OK);
        }
    tilec_buffer b;
    assert_int_equal(tilec_buffer_create(f.rig.device, SIZE_MAX, &b), TILEC_OUT_OF_MEMORY);
    assert_int_equal(tilec_buffer_create(f.rig.device, SIZE_MAX / 2, &b), TILEC_OUT_OF_MEMORY);
    tear_down_device(&f);
}

static void *open_later(void *gate) {
    struct timespec t = {0, 20000000};
    nanosleep(&t, NULL);
    atomic_store((_Atomic int *)gate, 1);
    return NULL;
}

static void test_free_waits(void **state) {
    (void)state;
    Fixture f;
    set_up_device(&f, "cpu:2");
    tilec_buffer b;
    void *at = NULL;
    assert_int_equal(tilec_buffer_create(f.rig.device, 8000, &b), TILEC_OK);
    assert_int_equal(tilec_buffer_address(f.rig.device, b, &at, NULL), TILEC_OK);
    pthread_t opener;
    assert_int_equal(pthread_create(&opener, NULL, open_later, &f.open), 0);
    launch_gate(&f, 0);
    assert_int_equal(cpu_rig_launch(&f.rig, f.streams[0], &f.add, 1000, (CpuRigBlock){at, 1}), 0);
    assert_int_equal(tilec_buffer_destroy(f.rig.device, b), TILEC_OK);
    assert_int_equal(f.open, 1);
    pthread_join(opener, NULL);
    tear_down_device(&f);
}

// ---- events ----

static void events(const char *device) {
    Fixture f;
    set_up_device(&f, device);
    tilec_event *a = NULL, *b = NULL;
    assert_int_equal(tilec_event_create(f.rig.device, &a), TILEC_OK);
    assert_int_equal(tilec_event_create(f.rig.device, &b), TILEC_OK);
    // Each stream goes on from what the other one left.
    int64_t expected = 0;
    for (int64_t i = 0; i < 100; i++) {
        int s = (int)(i % 2);
        launch_add(&f, s, i % 10 == 3 ? 1 : 500, i);
        if (i % 10 == 3) launch_add(&f, s, 1, i);
        if (i % 10 != 3) expected = (3 * expected + i) % 1000003;
        assert_int_equal(tilec_event_record(s ? b : a, f.streams[s]), TILEC_OK);
        assert_int_equal(tilec_stream_wait_event(f.streams[!s], s ? b : a), TILEC_OK);
    }
    assert_int_equal(tilec_event_synchronize(b), TILEC_OK);
    for (int i = 1; i < 500; i++) assert_int_equal(f.values[i], expected);
    uint64_t ns = UINT64_MAX;
    assert_int_equal(tilec_event_elapsed_ns(a, b, &ns), TILEC_OK);
    assert_true(ns < 60000000000u);
    assert_int_equal(tilec_event_elapsed_ns(b, a, &ns), TILEC_OK);
    assert_int_equal(ns, 0);
    tear_down_device(&f);
}

static void test_events(void **state) {
    (void)state;
    events("cpu:1");
    events("cpu:2");
    events("cpu:4");
}

// A wait is for the work that was recorded then; recording again, or destroying the event, changes
// nothing.
static void test_wait_keeps_its_record(void **state) {
    (void)state;
    Fixture f;
    set_up_device(&f, "cpu:4");
    tilec_event *e = NULL;
    assert_int_equal(tilec_event_create(f.rig.device, &e), TILEC_OK);
    launch_add(&f, 0, 2, 1);
    assert_int_equal(tilec_event_record(e, f.streams[0]), TILEC_OK);
    assert_int_equal(tilec_stream_wait_event(f.streams[1], e), TILEC_OK);
    assert_int_equal(tilec_stream_wait_event(NULL, e), TILEC_OK);  // the device's first stream
    launch_gate(&f, 0);
    assert_int_equal(tilec_event_record(e, f.streams[0]), TILEC_OK);  // after the gate
    uint64_t ns = 0;
    int done = 1;
    assert_int_equal(tilec_event_query(e, &done), TILEC_OK);
    assert_int_equal(done, 0);
    assert_int_equal(tilec_event_elapsed_ns(e, e, &ns), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_event_elapsed_ns(NULL, e, &ns), TILEC_INVALID_ARGUMENT);
    assert_string_equal(tilec_last_error(f.rig.context), "the event is NULL");
    launch_add(&f, 1, 2, 1);
    synchronize(&f, 1);
    assert_int_equal(f.values[1], 4);
    assert_int_equal(tilec_stream_wait_event(f.streams[1], e), TILEC_OK);
    launch_add(&f, 1, 2, 1);
    tilec_event_destroy(e);
    const volatile int64_t *value = &f.values[1];
#if !defined __SANITIZE_THREAD__
    assert_int_equal(*value, 4);
#else
    (void)value;
#endif
    atomic_store(&f.open, 1);
    synchronize(&f, 1);
    assert_int_equal(f.values[1], 13);
    tear_down_device(&f);
}

// ---- ends ----

static void test_destroy_waits(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        Fixture f;
        set_up_device(&f, "cpu:3");
        pthread_t opener;
        assert_int_equal(pthread_create(&opener, NULL, open_later, &f.open), 0);
        launch_gate(&f, 0);
        for (int64_t i = 1; i <= 20; i++) launch_add(&f, 0, 1000, 0);
        launch_add(&f, 0, 1000, 9);
        if (way == 0) tilec_stream_destroy(f.streams[0]);
        if (way == 1) cpu_rig_unload(&f.rig, &f.add);
        if (way == 2) tilec_device_close(f.rig.device);
        assert_int_equal(f.open, 1);
        for (int i = 0; i < 1000; i++) assert_int_equal(f.values[i], 9);
        pthread_join(opener, NULL);
        if (way == 0) tear_down_device(&f);
        if (way == 1) {
            cpu_rig_unload(&f.rig, &f.gate);
            cpu_rig_close(&f.rig);
        }
        if (way == 2) {
            // Modules go before their device in the runtime; here they are let go by another one.
            tilec_device *other = NULL;
            assert_int_equal(tilec_device_open(f.rig.context, "cpu:1", &other), TILEC_OK);
            f.rig.device = other;
            tear_down_device(&f);
        }
    }
}

// ---- host functions ----

static tilec_status host_run(void *user, tilec_device *device, const RtLaunch *launch,
                             RtReport *report) {
    Fixture *f = user;
    const CpuRigBlock *b = launch->block;
    (void)device, (void)report;
    assert_ptr_equal(b->array, f->values);
    for (int64_t p = 0; p < launch->grid[0]; p++) f->values[p] += b->number;
    return TILEC_OK;
}

static void test_host(void **state) {
    (void)state;
    Fixture f;
    set_up_device(&f, "cpu:3");
    CpuRigKernel host;
    cpu_rig_host_kernel(&f.rig, &host, host_run, &f);
    int64_t expected = 0;
    for (int64_t i = 0; i < 40; i++) {
        launch_add(&f, 0, 1000, 1);
        assert_int_equal(
            cpu_rig_launch(&f.rig, f.streams[0], &host, 1000, (CpuRigBlock){f.values, i}),
            TILEC_OK);
        expected = (3 * expected + 1) % 1000003 + i;
    }
    synchronize(&f, 0);
    for (int i = 0; i < 1000; i++) assert_int_equal(f.values[i], expected);
    cpu_rig_unload(&f.rig, &host);
    tear_down_device(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_launch_returns_first),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_moves_return_first),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_free_waits),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_wait_keeps_its_record),
        cmocka_unit_test(test_destroy_waits),
        cmocka_unit_test(test_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
