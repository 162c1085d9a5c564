// Asynchronous copies and fills on the devices that need no GPU.
#define _GNU_SOURCE  // MAP_ANONYMOUS
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "compile/device/at_once.h"
#include "compile/device/host_watch.h"

static const char *const names[] = {"interp", "cpu:1", "cpu:2", "sim:sm_80", "sim:gfx90a"};
enum { NAMES = sizeof names / sizeof *names, SIZE = 100000 };

typedef struct World {
    tilec_context *context;
    tilec_device *device;
    tilec_stream *stream;
    tilec_buffer a, b;
    unsigned char host[SIZE], back[SIZE];
} World;

static void fine(const World *w, tilec_status status) {
    if (status) fail_msg("%d: %s", (int)status, tilec_last_error(w->context));
}

static void refused(const World *w, tilec_status found, tilec_status expected, const char *text) {
    assert_int_equal(found, expected);
    if (!strstr(tilec_last_error(w->context), text))
        fail_msg("expected '%s' in '%s'", text, tilec_last_error(w->context));
}

static World *open_world(const char *name) {
    World *w = calloc(1, sizeof *w);
    assert_non_null(w);
    assert_int_equal(tilec_context_create(NULL, &w->context), TILEC_OK);
    fine(w, tilec_device_open(w->context, name, &w->device));
    fine(w, tilec_stream_create(w->device, &w->stream));
    fine(w, tilec_buffer_create(w->device, SIZE, &w->a));
    fine(w, tilec_buffer_create(w->device, SIZE, &w->b));
    for (size_t i = 0; i < SIZE; i++) w->host[i] = (unsigned char)(i * 7 + i / 251);
    return w;
}

static void close_world(World *w) {
    tilec_context_destroy(w->context);
    free(w);
}

// ---- Order and bytes ----

static void copies_go_there_and_back(World *w) {
    fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, w->host, SIZE));
    fine(w, tilec_buffer_copy(w->device, w->stream, w->b, 3, w->a, 5, SIZE - 5));
    fine(w, tilec_buffer_copy(w->device, w->stream, w->b, 0, w->a, 0, 3));
    fine(w, tilec_buffer_read_async(w->device, w->stream, w->b, 0, w->back, SIZE - 2));
    fine(w, tilec_buffer_read_async(w->device, w->stream, w->b, 0, w->back, 0));
    fine(w, tilec_stream_synchronize(w->stream));
    assert_memory_equal(w->back, w->host, 3);
    assert_memory_equal(w->back + 3, w->host + 5, SIZE - 5);
}

// The same bytes of the host, there and back again without a wait in between.
static void copies_share_the_host(World *w) {
    memcpy(w->back, w->host, SIZE);
    for (int i = 0; i < 3; i++) {
        fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, w->back, SIZE));
        fine(w, tilec_buffer_read_async(w->device, w->stream, w->a, 1, w->back, SIZE - 1));
    }
    fine(w, tilec_stream_synchronize(w->stream));
    assert_memory_equal(w->back, w->host + 3, SIZE - 3);
}

static void fills_with(World *w, size_t unit) {
    static const unsigned char pattern[] = {1, 2, 3, 4, 5, 6, 7, 8};
    size_t from = 24, size = 70000;
    unsigned char copy[8];
    memcpy(copy, pattern, sizeof copy);
    fine(w, tilec_buffer_write(w->device, w->stream, w->a, 0, w->host, SIZE));
    fine(w, tilec_buffer_fill(w->device, w->stream, w->a, from, copy, unit, size));
    memset(copy, 0, sizeof copy);  // it is the caller's again
    fine(w, tilec_buffer_fill(w->device, w->stream, w->a, from, copy, unit, 0));
    fine(w, tilec_buffer_read(w->device, w->stream, w->a, 0, w->back, SIZE));
    assert_memory_equal(w->back, w->host, from);
    for (size_t i = 0; i < size; i++)
        if (w->back[from + i] != pattern[i % unit]) fail_msg("byte %zu of unit %zu", i, unit);
    assert_memory_equal(w->back + from + size, w->host + from + size, SIZE - from - size);
}

static void moves_are_in_order(void **state) {
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        World *w = open_world(names[i]);
        copies_go_there_and_back(w);
        copies_share_the_host(w);
        for (size_t unit = 1; unit <= 8; unit *= 2) fills_with(w, unit);
        close_world(w);
    }
}

// An event says that the host's memory is free again, and orders two streams.
static void events_cover_moves(void **state) {
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        World *w = open_world(names[i]);
        tilec_stream *other;
        tilec_event *event;
        fine(w, tilec_stream_create(w->device, &other));
        fine(w, tilec_event_create(w->device, &event));
        fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, w->host, SIZE));
        fine(w, tilec_event_record(event, w->stream));
        fine(w, tilec_stream_wait_event(other, event));
        fine(w, tilec_buffer_read_async(w->device, other, w->a, 0, w->back, SIZE));
        fine(w, tilec_event_record(event, other));
        fine(w, tilec_event_synchronize(event));
        assert_memory_equal(w->back, w->host, SIZE);
        memset(w->host, 0, SIZE);
        fine(w, tilec_device_synchronize(w->device));
        close_world(w);
    }
}

// Nothing waits for the streams but what ends: the copies are made first.
static void ends_wait_for_moves(void **state) {
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        World *w = open_world(names[i]);
        fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, w->host, SIZE));
        fine(w, tilec_buffer_copy(w->device, w->stream, w->b, 0, w->a, 0, SIZE));
        fine(w, tilec_buffer_destroy(w->device, w->a));
        fine(w, tilec_buffer_read_async(w->device, w->stream, w->b, 0, w->back, SIZE));
        tilec_stream_destroy(w->stream);
        assert_memory_equal(w->back, w->host, SIZE);
        refused(w, tilec_buffer_read_async(w->device, NULL, w->a, 0, w->back, 1),
                TILEC_INVALID_ARGUMENT, "does not exist");
        fine(w, tilec_buffer_fill(w->device, NULL, w->b, 0, "x", 1, SIZE));
        close_world(w);
    }
}

// Two devices of one kind; the one that does not copy is closed first.
static void copies_cross_devices(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"cpu:1", "cpu:2"}, {"cpu:2", "cpu:2"}, {"interp", "interp"}, {"sim:sm_80", "sim:gfx90a"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        World *w = open_world(pairs[i][0]);
        tilec_device *other;
        tilec_buffer there;
        fine(w, tilec_device_open(w->context, pairs[i][1], &other));
        for (int round = 0; round < 5; round++) {
            fine(w, tilec_buffer_create(other, SIZE, &there));
            fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, w->host, SIZE));
            fine(w, tilec_buffer_copy(w->device, w->stream, there, 10, w->a, 0, SIZE - 10));
            fine(w, tilec_buffer_copy(w->device, w->stream, w->b, 0, there, 10, SIZE - 10));
            if (round % 2) fine(w, tilec_buffer_destroy(other, there));
        }
        tilec_device_close(other);
        fine(w, tilec_buffer_read(w->device, w->stream, w->b, 0, w->back, SIZE - 10));
        assert_memory_equal(w->back, w->host, SIZE - 10);
        close_world(w);
    }
}

static void host_memory_is_there_for_copies(void **state) {
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        World *w = open_world(names[i]);
        void *memory = NULL, *left = NULL;
        fine(w, tilec_host_alloc(w->device, SIZE, &memory));
        fine(w, tilec_host_alloc(w->device, 0, &left));
        assert_int_equal((uintptr_t)memory % 64, 0);
        assert_memory_equal(memory, w->back, SIZE);  // zeros
        memcpy(memory, w->host, SIZE);
        fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, memory, SIZE));
        fine(w, tilec_host_free(w->device, memory));
        fine(w, tilec_buffer_read(w->device, w->stream, w->a, 0, w->back, SIZE));
        assert_memory_equal(w->back, w->host, SIZE);
        refused(w, tilec_host_free(w->device, memory), TILEC_INVALID_ARGUMENT,
                "is not from tilec_host_alloc of device");
        refused(w, tilec_host_free(w->device, w->host), TILEC_INVALID_ARGUMENT,
                "is not from tilec_host_alloc of device");
        refused(w, tilec_host_alloc(w->device, 1, NULL), TILEC_INVALID_ARGUMENT, "is NULL");
        bool asked = strncmp(names[i], "cpu", 3) == 0;  // AddressSanitizer ends malloc's callers
        if (asked)
            refused(w, tilec_host_alloc(w->device, SIZE_MAX / 2, &memory), TILEC_OUT_OF_MEMORY,
                    "out of memory");
        fine(w, tilec_host_free(w->device, NULL));
        close_world(w);
    }
    assert_int_equal(tilec_host_alloc(NULL, 1, NULL), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_host_free(NULL, NULL), TILEC_INVALID_ARGUMENT);
}

// Devices that look for reads of undefined memory use none twice, and know the limit.
static void buffers_are_made_on_streams(void **state) {
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        World *w = open_world(names[i]);
        tilec_buffer made, more;
        fine(w, tilec_pool_limit(w->device, 128 << 10));
        for (int round = 0; round < 20; round++) {
            fine(w, tilec_buffer_create_async(w->device, w->stream, SIZE, &made));
            fine(w, tilec_buffer_write_async(w->device, w->stream, made, 0, w->host, SIZE));
            fine(w, tilec_buffer_copy(w->device, w->stream, w->a, 0, made, 0, SIZE));
            refused(w, tilec_buffer_create_async(w->device, w->stream, SIZE, &more),
                    TILEC_OUT_OF_MEMORY, "exhausted");
            fine(w, tilec_buffer_destroy_async(w->device, w->stream, made));
        }
        fine(w, tilec_buffer_read(w->device, w->stream, w->a, 0, w->back, SIZE));
        assert_memory_equal(w->back, w->host, SIZE);
        close_world(w);
    }
}

// ---- Refusals ----

static void refuses_bad_patterns(const World *w) {
    tilec_device *d = w->device;
    refused(w, tilec_buffer_fill(d, NULL, w->a, 0, "abc", 3, 6), TILEC_INVALID_ARGUMENT,
            "a pattern has 1, 2, 4 or 8 bytes, found 3");
    refused(w, tilec_buffer_fill(d, NULL, w->a, 0, NULL, 4, 8), TILEC_INVALID_ARGUMENT,
            "the pointer to the pattern is NULL");
    refused(w, tilec_buffer_fill(d, NULL, w->a, 2, "abcd", 4, 8), TILEC_INVALID_ARGUMENT,
            "8 bytes from byte 2 on are not whole patterns of 4 bytes");
    refused(w, tilec_buffer_fill(d, NULL, w->a, 0, "ab", 2, 7), TILEC_INVALID_ARGUMENT,
            "not whole patterns");
    refused(w, tilec_buffer_fill(d, NULL, w->a, SIZE, "a", 1, 1), TILEC_INVALID_ARGUMENT,
            "not all inside the buffer");
    refused(w, tilec_buffer_fill(d, NULL, (tilec_buffer){77}, 0, "a", 1, 1), TILEC_INVALID_ARGUMENT,
            "does not exist");
}

static void refuses_what_is_not_there(void **state) {
    (void)state;
    World *w = open_world("interp");
    tilec_device *d = w->device, *other;
    refuses_bad_patterns(w);
    refused(w, tilec_buffer_write_async(d, NULL, w->a, 0, NULL, 1), TILEC_INVALID_ARGUMENT,
            "the pointer to host memory is NULL");
    refused(w, tilec_buffer_read_async(d, NULL, w->a, 0, NULL, 1), TILEC_INVALID_ARGUMENT,
            "the pointer to host memory is NULL");
    refused(w, tilec_buffer_write_async(d, NULL, w->a, SIZE_MAX, w->host, 2),
            TILEC_INVALID_ARGUMENT, "not all inside the buffer");
    refused(w, tilec_buffer_read_async(d, NULL, w->a, 1, w->back, SIZE), TILEC_INVALID_ARGUMENT,
            "not all inside the buffer");
    fine(w, tilec_device_open(w->context, "cpu:2", &other));
    tilec_stream *s = tilec_device_stream(other);
    refused(w, tilec_buffer_write_async(d, s, w->a, 0, w->host, 1), TILEC_INVALID_ARGUMENT,
            "the stream belongs to another device, cpu:2, not to interp");
    refused(w, tilec_buffer_read_async(d, s, w->a, 0, w->back, 1), TILEC_INVALID_ARGUMENT,
            "the stream belongs to another device");
    refused(w, tilec_buffer_fill(d, s, w->a, 0, "a", 1, 1), TILEC_INVALID_ARGUMENT,
            "the stream belongs to another device");
    tilec_buffer there;
    fine(w, tilec_buffer_create(other, SIZE, &there));
    refused(w, tilec_buffer_copy(d, NULL, there, 0, w->a, 0, 1), TILEC_INVALID_ARGUMENT,
            "the buffer belongs to device cpu:2; interp copies only to and from devices of its "
            "kind: read the bytes to the host, and write them from there");
    refused(w, tilec_buffer_copy(d, NULL, w->a, 0, w->b, 1, SIZE), TILEC_INVALID_ARGUMENT,
            "not all inside the buffer");
    refused(w, tilec_buffer_copy(d, NULL, w->a, 0, (tilec_buffer){3}, 1, SIZE),
            TILEC_INVALID_ARGUMENT, "does not exist");
    assert_int_equal(tilec_buffer_write_async(NULL, NULL, w->a, 0, w->host, 1),
                     TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_buffer_read_async(NULL, NULL, w->a, 0, w->back, 1),
                     TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_buffer_fill(NULL, NULL, w->a, 0, "a", 1, 1), TILEC_INVALID_ARGUMENT);
    close_world(w);
}

// ---- Host memory that goes too early ----

static void early(const char *name, bool read) {
    World *w = open_world(name);
    const char *text = read ? "an asynchronous read of 100000 bytes: its host memory was freed or "
                              "changed before the stream had passed it"
                            : "an asynchronous write of 100000 bytes: its host memory was freed or "
                              "changed before the stream had passed it";
    unsigned char *memory = read ? w->back : w->host;
    if (read)
        fine(w, tilec_buffer_read_async(w->device, w->stream, w->a, 0, memory, SIZE));
    else
        fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, memory, SIZE));
    if (read)
        assert_int_equal(memory[0],
                         HOST_WATCH_MARK);  // a program that reads it too early sees that
    memory[3] = 99;
    refused(w, tilec_stream_synchronize(w->stream), TILEC_KERNEL_FAILED, text);
    fine(w, tilec_stream_synchronize(w->stream));
    copies_go_there_and_back(w);
    close_world(w);
}

static void finds_memory_changed_too_early(void **state) {
    (void)state;
    static const char *const devices[] = {"interp", "sim:sm_80", "sim:gfx90a"};
    for (int i = 0; i < 3; i++) {
        early(devices[i], false);
        early(devices[i], true);
    }
}

static void gone(const char *name, bool read) {
    World *w = open_world(name);
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    if (read)
        fine(w, tilec_buffer_read_async(w->device, w->stream, w->a, 0, memory, SIZE));
    else
        fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, memory, SIZE));
    munmap(memory, SIZE);
    refused(w, tilec_stream_synchronize(w->stream), TILEC_KERNEL_FAILED,
            "its host memory was freed before the stream had passed it");
    copies_go_there_and_back(w);
    close_world(w);
}

static void finds_memory_that_is_gone(void **state) {
    (void)state;
    gone("interp", false);
    gone("sim:sm_80", false);
    gone("sim:sm_80", true);
}

// ---- Behind a kernel ----

// The stream's lock is what a running kernel holds. With it held here, a call that waited for the
// kernel would never return.
static void moves_do_not_wait_for_a_kernel(void **state) {
    (void)state;
    static const char *const devices[] = {"interp", "sim:sm_80", "sim:gfx90a"};
    for (int i = 0; i < 3; i++) {
        World *w = open_world(devices[i]);
        AtOnceStream *s = ((struct tilec_stream *)w->stream)->state;
        os_mutex_lock(s->lock);
        fine(w, tilec_buffer_write_async(w->device, w->stream, w->a, 0, w->host, SIZE));
        fine(w, tilec_buffer_fill(w->device, w->stream, w->a, 0, "z", 1, 10));
        fine(w, tilec_buffer_copy(w->device, w->stream, w->b, 0, w->a, 0, SIZE));
        fine(w, tilec_buffer_read_async(w->device, w->stream, w->b, 0, w->back, SIZE));
        os_mutex_unlock(s->lock);
        fine(w, tilec_stream_synchronize(w->stream));
        assert_memory_equal(w->back, "zzzzzzzzzz", 10);
        assert_memory_equal(w->back + 10, w->host + 10, SIZE - 10);
        close_world(w);
    }
}

enum { THREADS = 4, ROUNDS = 200 };
static void *move_often(void *argument) {
    World *w = argument;
    unsigned char bytes[256];
    tilec_buffer mine;
    for (int i = 0; i < ROUNDS; i++) {
        tilec_stream *s;
        memset(bytes, i, sizeof bytes);
        tilec_status bad = tilec_stream_create(w->device, &s);
        if (!bad) bad = tilec_buffer_create(w->device, sizeof bytes, &mine);
        if (!bad) bad = tilec_buffer_write_async(w->device, s, mine, 0, bytes, sizeof bytes);
        if (!bad && i % 3) bad = tilec_stream_synchronize(s);
        if (!bad) bad = tilec_buffer_destroy(w->device, mine);
        if (!bad) tilec_stream_destroy(s);
        if (bad) return "failed";
    }
    return NULL;
}

static void threads_move_at_once(void **state) {
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        World *w = open_world(names[i]);
        pthread_t threads[THREADS];
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, move_often, w), 0);
        for (int t = 0; t < THREADS; t++) {
            void *result = w;
            assert_int_equal(pthread_join(threads[t], &result), 0);
            assert_null(result);
        }
        close_world(w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_are_in_order),
        cmocka_unit_test(events_cover_moves),
        cmocka_unit_test(ends_wait_for_moves),
        cmocka_unit_test(copies_cross_devices),
        cmocka_unit_test(host_memory_is_there_for_copies),
        cmocka_unit_test(buffers_are_made_on_streams),
        cmocka_unit_test(refuses_what_is_not_there),
        cmocka_unit_test(finds_memory_changed_too_early),
        cmocka_unit_test(finds_memory_that_is_gone),
        cmocka_unit_test(moves_do_not_wait_for_a_kernel),
        cmocka_unit_test(threads_move_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
