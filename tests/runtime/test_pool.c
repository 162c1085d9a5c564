// Buffers that are made and destroyed in the order of streams, on the device `cpu`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os_thread.h"
#include "tests/support/cpu_rig.h"
#include "tests/support/fake_device.h"

enum { KIB = 1024, MIB = KIB * KIB };

typedef struct Fixture {
    CpuRig rig;
    CpuRigKernel gate;
    tilec_device *device;
    tilec_stream *streams[2];
    _Atomic int open;
} Fixture;

static void gate_entry(const void *args, int64_t first, int64_t last, void *scratch,
                       const CpuServices *services) {
    const _Atomic int *gate = ((const CpuRigBlock *)args)->array;
    (void)first, (void)last, (void)scratch, (void)services;
    while (!atomic_load(gate)) os_spin_hint();
}

static void set_up(Fixture *f) {
    memset(f, 0, sizeof *f);
    cpu_rig_open(&f->rig, "cpu:2");
    cpu_rig_kernel(&f->rig, &f->gate, gate_entry);
    f->device = f->rig.device;
    for (int i = 0; i < 2; i++)
        assert_int_equal(tilec_stream_create(f->device, &f->streams[i]), TILEC_OK);
}

static void tear_down(Fixture *f) {
    cpu_rig_unload(&f->rig, &f->gate);
    cpu_rig_close(&f->rig);
}

// Two programs, so that they do not run within the launch.
static void close_gate(Fixture *f, int stream) {
    CpuRigBlock block = {&f->open, 0};
    assert_int_equal(cpu_rig_launch(&f->rig, f->streams[stream], &f->gate, 2, block), TILEC_OK);
}

static tilec_buffer make(const Fixture *f, int stream, size_t size) {
    tilec_buffer b = {0};
    if (tilec_buffer_create_async(f->device, f->streams[stream], size, &b))
        fail_msg("%s", tilec_last_error(f->rig.context));
    return b;
}

static void end(const Fixture *f, int stream, tilec_buffer b) {
    if (tilec_buffer_destroy_async(f->device, f->streams[stream], b))
        fail_msg("%s", tilec_last_error(f->rig.context));
}

static void *place(const Fixture *f, tilec_buffer b) {
    void *address = NULL;
    assert_int_equal(tilec_buffer_address(f->device, b, &address, NULL), TILEC_OK);
    return address;
}

static void refused(const Fixture *f, tilec_status found, tilec_status expected, const char *text) {
    assert_int_equal(found, expected);
    if (!strstr(tilec_last_error(f->rig.context), text))
        fail_msg("expected '%s' in '%s'", text, tilec_last_error(f->rig.context));
}

// ---- Reuse ----

// Nothing waits for the gate: any of these calls would hang.
static void test_same_stream(void **state) {
    (void)state;
    Fixture f;
    set_up(&f);
    close_gate(&f, 0);
    tilec_buffer a = make(&f, 0, 1000), b = make(&f, 0, 3 * MIB);
    void *first = place(&f, a), *second = place(&f, b);
    memset(first, 1, 1000);
    end(&f, 0, a);
    end(&f, 0, b);
    tilec_buffer c = make(&f, 0, 3 * MIB - 100), d = make(&f, 0, 900), e = make(&f, 0, 900);
    assert_ptr_equal(place(&f, c), second);
    assert_ptr_equal(place(&f, d), first);
    assert_ptr_not_equal(place(&f, e), first);
    atomic_store(&f.open, 1);
    tear_down(&f);
}

static void test_other_stream(void **state) {
    (void)state;
    Fixture f;
    set_up(&f);
    close_gate(&f, 0);
    tilec_buffer a = make(&f, 0, 5000);
    void *first = place(&f, a);
    end(&f, 0, a);
    tilec_buffer b = make(&f, 1, 5000);
    assert_ptr_not_equal(place(&f, b), first);  // the gate's stream may still use it
    atomic_store(&f.open, 1);
    assert_int_equal(tilec_stream_synchronize(f.streams[0]), TILEC_OK);
    tilec_buffer c = make(&f, 1, 5000);
    assert_ptr_equal(place(&f, c), first);
    tear_down(&f);
}

static void test_stream_that_is_gone(void **state) {
    (void)state;
    Fixture f;
    set_up(&f);
    tilec_buffer a = make(&f, 0, 5000);
    void *first = place(&f, a);
    end(&f, 0, a);
    tilec_stream_destroy(f.streams[0]);
    assert_int_equal(tilec_stream_create(f.device, &f.streams[0]), TILEC_OK);
    tilec_buffer b = make(&f, 1, 5000);
    assert_ptr_equal(place(&f, b), first);
    tear_down(&f);
}

// A buffer of tilec_buffer_create joins the pool, and one of the pool may be destroyed with a wait.
static void test_both_kinds(void **state) {
    (void)state;
    Fixture f;
    set_up(&f);
    tilec_buffer a;
    assert_int_equal(tilec_buffer_create(f.device, 4096, &a), TILEC_OK);
    void *first = place(&f, a);
    end(&f, 0, a);
    tilec_buffer b = make(&f, 0, 4096);
    assert_ptr_equal(place(&f, b), first);
    assert_int_equal(f.device->pool.total, 4096);
    assert_int_equal(tilec_buffer_destroy(f.device, b), TILEC_OK);
    assert_int_equal(f.device->pool.total, 0);
    refused(&f, tilec_buffer_destroy_async(f.device, f.streams[0], b), TILEC_INVALID_ARGUMENT,
            "does not exist");
    refused(&f, tilec_buffer_destroy_async(f.device, f.streams[0], a), TILEC_INVALID_ARGUMENT,
            "does not exist");
    assert_int_equal(tilec_buffer_destroy_async(f.device, NULL, (tilec_buffer){0}), TILEC_OK);
    tear_down(&f);
}

// ---- Limits ----

static void test_limit(void **state) {
    (void)state;
    Fixture f;
    set_up(&f);
    tilec_buffer a, b, c = {7};
    assert_int_equal(tilec_pool_limit(f.device, 2 * MIB), TILEC_OK);
    a = make(&f, 0, MIB), b = make(&f, 0, MIB - 1);
    refused(&f, tilec_buffer_create_async(f.device, NULL, 1, &c), TILEC_OUT_OF_MEMORY,
            "the pool of device cpu:2 is exhausted: 2097152 of its 2097152 bytes are in use, and "
            "512 more are needed; destroy buffers, or raise the limit (tilec_pool_limit)");
    assert_int_equal(c.handle, 7);
    end(&f, 0, a);
    refused(&f, tilec_buffer_create_async(f.device, NULL, 3 * MIB, &c), TILEC_OUT_OF_MEMORY,
            "1048576 of its 2097152 bytes are in use");
    refused(&f, tilec_pool_limit(f.device, 1000), TILEC_INVALID_ARGUMENT,
            "cannot be limited to 1000 bytes: 1048576 are in use");
    a = make(&f, 0, 600 * KIB);  // the free block does not fit, and makes room
    assert_int_equal(f.device->pool.free_bytes, 0);
    end(&f, 0, b);
    end(&f, 0, a);
    assert_int_equal(tilec_pool_limit(f.device, 0), TILEC_OK);
    assert_int_equal(f.device->pool.total, 0);
    refused(&f, tilec_buffer_create_async(f.device, NULL, 0, &c), TILEC_OUT_OF_MEMORY, "exhausted");
    // Without room in the pool a buffer of its own is freed, with a wait.
    assert_int_equal(tilec_buffer_create(f.device, 100, &a), TILEC_OK);
    end(&f, 1, a);
    assert_int_equal(f.device->pool.total, 0);
    assert_int_equal(tilec_pool_limit(f.device, SIZE_MAX), TILEC_OK);
    make(&f, 0, MIB);
    refused(&f, tilec_buffer_create_async(f.device, NULL, SIZE_MAX - 3, &c), TILEC_OUT_OF_MEMORY,
            "exhausted");
    refused(&f, tilec_buffer_create_async(f.device, NULL, SIZE_MAX / 4, &c), TILEC_OUT_OF_MEMORY,
            "out of memory");
    tear_down(&f);
}

static void test_trim(void **state) {
    (void)state;
    Fixture f;
    set_up(&f);
    tilec_buffer buffers[4];
    for (int i = 0; i < 4; i++) buffers[i] = make(&f, 0, MIB);
    for (int i = 0; i < 4; i++) end(&f, i % 2, buffers[i]);
    assert_int_equal(f.device->pool.free_bytes, 4 * MIB);
    assert_int_equal(tilec_pool_trim(f.device, 2 * MIB), TILEC_OK);
    assert_int_equal(f.device->pool.total, 2 * MIB);
    assert_int_equal(tilec_pool_trim(f.device, 0), TILEC_OK);
    assert_int_equal(f.device->pool.total, 0);
    tear_down(&f);
}

static void test_refusals(void **state) {
    (void)state;
    Fixture f;
    set_up(&f);
    tilec_device *other;
    tilec_buffer b = make(&f, 0, 8), c;
    assert_int_equal(tilec_device_open(f.rig.context, "cpu:1", &other), TILEC_OK);
    refused(&f, tilec_buffer_create_async(other, f.streams[0], 8, &c), TILEC_INVALID_ARGUMENT,
            "the stream belongs to another device, cpu:2, not to cpu:1");
    refused(&f, tilec_buffer_destroy_async(f.device, tilec_device_stream(other), b),
            TILEC_INVALID_ARGUMENT, "the stream belongs to another device");
    refused(&f, tilec_buffer_destroy_async(other, NULL, b), TILEC_INVALID_ARGUMENT,
            "the buffer belongs to another device");
    refused(&f, tilec_buffer_create_async(f.device, NULL, 8, NULL), TILEC_INVALID_ARGUMENT,
            "the pointer for the buffer is NULL");
    assert_int_equal(tilec_buffer_create_async(NULL, NULL, 8, &c), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_buffer_destroy_async(NULL, NULL, b), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_pool_limit(NULL, 0), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_pool_trim(NULL, 0), TILEC_INVALID_ARGUMENT);
    end(&f, 0, b);
    tear_down(&f);
}

// ---- A device that fails ----

// Memory that the pool keeps is given back before a call fails for want of it.
static void test_no_memory(void **state) {
    (void)state;
    FakeLog log = {0};
    tilec_context *c = fake_context(&log);
    tilec_device *d;
    tilec_buffer a, b;
    assert_int_equal(tilec_device_open(c, "fake", &d), TILEC_OK);
    for (int kind = 0; kind < 2; kind++) {
        assert_int_equal(tilec_buffer_create_async(d, NULL, 1000, &a), TILEC_OK);
        assert_int_equal(tilec_buffer_destroy_async(d, NULL, a), TILEC_OK);
        int frees = log.frees;
        log.fail_next = TILEC_OUT_OF_MEMORY;
        tilec_status s =
            kind ? tilec_buffer_create(d, 5000, &b) : tilec_buffer_create_async(d, NULL, 5000, &b);
        assert_int_equal(s, TILEC_OK);
        assert_string_equal(tilec_last_error(c), "");
        assert_int_equal(log.frees, frees + 1);
        log.fail_next = TILEC_OUT_OF_MEMORY;
        assert_int_equal(tilec_buffer_create_async(d, NULL, 5000, &a), TILEC_OUT_OF_MEMORY);
        assert_int_equal(tilec_buffer_destroy(d, b), TILEC_OK);
        assert_int_equal(d->pool.total, 0);
    }
    // Without an event the block stays with its stream.
    tilec_stream *s;
    assert_int_equal(tilec_stream_create(d, &s), TILEC_OK);
    assert_int_equal(tilec_buffer_create_async(d, s, 1000, &a), TILEC_OK);
    log.fail_next = TILEC_INTERNAL;
    assert_int_equal(tilec_buffer_destroy_async(d, s, a), TILEC_OK);
    int allocs = log.allocs;
    assert_int_equal(tilec_buffer_create_async(d, NULL, 1000, &a), TILEC_OK);
    assert_int_equal(log.allocs, allocs + 1);
    assert_int_equal(tilec_buffer_create_async(d, s, 1000, &a), TILEC_OK);
    assert_int_equal(log.allocs, allocs + 1);
    tilec_context_destroy(c);
    assert_int_equal(log.allocs, log.frees);
    assert_int_equal(log.events, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_stream),
        cmocka_unit_test(test_other_stream),
        cmocka_unit_test(test_stream_that_is_gone),
        cmocka_unit_test(test_both_kinds),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
