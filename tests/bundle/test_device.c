// The public API on a device of this machine, as a host program uses it: streams, events, copies,
// asynchronous ones, pools, prints, asserts, threads, captured graphs, faults, arrays beyond 4 GiB,
// tuning.
//
//     test_device [--device NAME]        default: cpu
//
// It calls public functions of tilec only, so it runs on any device that has memory of its own or
// shares the host's. A test that a device cannot run is skipped with its reason. The test of a
// fault runs in a child, since a fault ends the process's use of the device.
#define _POSIX_C_SOURCE 200809L  // setenv
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "base/os/os_dl.h"
#include "base/os/os_thread.h"
#include "tests/support/process.h"

static const char *device_name = "cpu", *program;
static const char source[] =
    "kernel fill(f32 x[N], f32 value, const B = 256) grid(cdiv(N, B)) {\n"
    "    x[program(0) * B +: B] = value;\n"
    "}\n"
    "kernel add(f32 x[N], f32 y[N], const B = 256) grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    y[i +: B] = x[i +: B] + y[i +: B];\n"
    "}\n"
    "kernel slow(f32 x[N], i32 rounds, const B = 256) grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    var s = x[i +: B];\n"
    "    for j in 0 .. rounds { s = s * 0.5 + 1.0; }\n"
    "    x[i +: B] = s;\n"
    "}\n"
    "kernel say(i32 x[N]) grid(N) {\n"
    "    let p = program(0);\n"
    "    print(\"program \", p, \" \", x[p]);\n"
    "}\n"
    "kernel small(i32 x[N]) grid(N) {\n"
    "    let p = program(0);\n"
    "    assert(x[p] < 100, \"a small number\");\n"
    "    x[p] = x[p] + 1;\n"
    "}\n"
    "kernel wild(*f32 p) grid(1) {\n"
    "    store(p + i64(1) * 1099511627776, 1.0);\n"
    "}\n"
    "kernel shares(f32 x[N], f32 y[N], const B = 256) grid(min(units(), cdiv(N, B))) {\n"
    "    for k in program(0) .. cdiv(N, B) step programs(0)\n"
    "        y[k * B +: B] = x[k * B +: B] + 1.0;\n"
    "}\n"
    "kernel counts(i32 y[1]) grid(units()) {\n"
    "    if program(0) == 0 { y[0] = i32(programs(0)); }\n"
    "}\n"
    "kernel last(u8 x[N], u8 value) grid(1) {\n"
    "    x[N - 1] = value;\n"
    "}\n"
    "kernel grow(f32 x[N], const B = 256) grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    x[i +: B] = x[i +: B] * 2.0 + 1.0;\n"
    "}\n"
    "tune grow { B: 256, 128, 1024;  warps: 4, 8; }\n"
    "kernel square(f16 a[N, N], f32 c[N, N], const BM = 64, const BK = 64)\n"
    "    grid(cdiv(N, BM), cdiv(N, BM)) {\n"
    "    let i = program(0) * BM;\n"
    "    let j = program(1) * BM;\n"
    "    var sum = zeros(f32, BM, BM);\n"
    "    for k in 0 .. N step BK\n"
    "        sum = dot(a[i +: BM, k +: BK], a[k +: BK, j +: BM], sum);\n"
    "    c[i +: BM, j +: BM] += sum;\n"
    "}\n"
    "tune square { BM: 64, 128;  BK: 64, 32;  warps: 4, 8; }\n";
enum { N = 1 << 14, LINES = 1 << 14 };

typedef struct Fixture {
    tilec_context *context;
    tilec_device *device;
    char lines[LINES];
} Fixture;

static void keep_line(void *user, const char *line, size_t length) {
    Fixture *f = user;
    size_t used = strlen(f->lines);
    if (used + length + 2 > LINES) return;
    memcpy(f->lines + used, line, length);
    memcpy(f->lines + used + length, "\n", 2);
}

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    tilec_context_options options = {.size = sizeof options, .print = keep_line, .user = f};
    if (!f || tilec_context_create(&options, &f->context)) return 1;
    if (tilec_device_open(f->context, device_name, &f->device)) {
        fprintf(stderr, "%s\n", tilec_last_error(f->context));
        return 1;
    }
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    tilec_context_destroy(f->context);
    free(f);
    return 0;
}

#define OK(call) is_ok(f, (call), #call, __LINE__)
static void is_ok(Fixture *f, tilec_status s, const char *what, int line) {
    if (s) fail_msg("line %d: %s: %s", line, what, tilec_last_error(f->context));
}

static tilec_kernel *kernel_with(Fixture *f, const char *name, const tilec_spec *spec) {
    tilec_kernel *k = NULL;
    OK(tilec_kernel_from_source(f->context, f->device, "device.tile", source, strlen(source), name,
                                spec, &k));
    return k;
}

static tilec_kernel *kernel(Fixture *f, const char *name) { return kernel_with(f, name, NULL); }

static tilec_buffer buffer(Fixture *f, size_t size) {
    tilec_buffer b = {0};
    OK(tilec_buffer_create(f->device, size, &b));
    return b;
}

static bool is_driver(void) {
    return !strncmp(device_name, "cuda", 4) || !strncmp(device_name, "hip", 3);
}

// Not on a driver without a GPU, which is slow.
static bool is_gpu(void) {
    return is_driver() && !getenv("TILEC_CUDA_LIBRARY") && !getenv("TILEC_HIP_LIBRARY");
}

// ---- streams ------------------------------------------------------------------------------------

// Each round's sum needs what the other stream filled last.
static void streams_wait_for_events(void **state) {
    Fixture *f = *state;
    enum { ROUNDS = 100, LARGE = 1 << 20 };
    int64_t n = is_gpu() ? LARGE : N;
    tilec_buffer x = buffer(f, (size_t)n * 4), y = buffer(f, (size_t)n * 4);
    tilec_view vx = tilec_buffer_view1(TILEC_F32, x, n), vy = tilec_buffer_view1(TILEC_F32, y, n);
    tilec_kernel *fill = kernel(f, "fill"), *add = kernel(f, "add");
    tilec_stream *left, *right;
    tilec_event *filled, *added;
    OK(tilec_stream_create(f->device, &left));
    OK(tilec_stream_create(f->device, &right));
    OK(tilec_event_create(f->device, &filled));
    OK(tilec_event_create(f->device, &added));
    OK(tilec_launch(fill, right, TILEC_ARGS(vy, 0.0f)));
    double expected = 0;
    for (int i = 1; i <= ROUNDS; i++) {
        OK(tilec_launch(fill, left, TILEC_ARGS(vx, (float)i)));
        OK(tilec_event_record(filled, left));
        OK(tilec_stream_wait_event(right, filled));
        OK(tilec_launch(add, right, TILEC_ARGS(vx, vy)));
        OK(tilec_event_record(added, right));
        OK(tilec_stream_wait_event(left, added));
        expected += i;
    }
    float *host = malloc((size_t)n * 4);
    OK(tilec_buffer_read(f->device, right, y, 0, host, (size_t)n * 4));
    for (int64_t i = 0; i < n; i++)
        if (host[i] != (float)expected) fail_msg("y[%" PRId64 "] = %g", i, (double)host[i]);
    free(host);
}

static void events_measure_time(void **state) {
    Fixture *f = *state;
    tilec_buffer x = buffer(f, N * 4);
    tilec_view v = tilec_buffer_view1(TILEC_F32, x, N);
    tilec_kernel *fill = kernel(f, "fill"), *slow = kernel(f, "slow");
    tilec_event *begin, *end;
    int done = 0;
    uint64_t ns[2];
    OK(tilec_event_create(f->device, &begin));
    OK(tilec_event_create(f->device, &end));
    OK(tilec_launch(fill, NULL, TILEC_ARGS(v, 1.0f)));
    for (int i = 0; i < 2; i++) {
        int rounds = is_gpu() ? 1000000 << 2 * i : 100 << 2 * i;
        OK(tilec_kernel_prepare(slow, NULL, TILEC_ARGS(v, rounds)));
        OK(tilec_event_record(begin, NULL));
        OK(tilec_launch(slow, NULL, TILEC_ARGS(v, rounds)));
        OK(tilec_event_record(end, NULL));
        OK(tilec_event_query(end, &done));
        if (is_gpu() && i) assert_false(done);
        OK(tilec_event_synchronize(end));
        OK(tilec_event_query(end, &done));
        assert_true(done);
        OK(tilec_event_elapsed_ns(begin, end, &ns[i]));
    }
    print_message("%" PRIu64 " and %" PRIu64 " ns\n", ns[0], ns[1]);
    if (is_gpu()) assert_true(ns[1] > 2 * ns[0]);
}

static void launches_pile_up(void **state) {
    Fixture *f = *state;
    int count = is_gpu() ? 5000 : 50;
    tilec_buffer x = buffer(f, N * 4), y = buffer(f, N * 4);
    tilec_view vx = tilec_buffer_view1(TILEC_F32, x, N), vy = tilec_buffer_view1(TILEC_F32, y, N);
    tilec_kernel *fill = kernel(f, "fill"), *add = kernel(f, "add");
    OK(tilec_launch(fill, NULL, TILEC_ARGS(vx, 1.0f)));
    OK(tilec_launch(fill, NULL, TILEC_ARGS(vy, 0.0f)));
    for (int i = 0; i < count; i++) OK(tilec_launch(add, NULL, TILEC_ARGS(vx, vy)));
    float host[2];
    OK(tilec_buffer_read(f->device, NULL, y, 4 * (N - 2), host, 8));
    assert_true(host[0] == (float)count && host[1] == (float)count);
}

// ---- memory -------------------------------------------------------------------------------------

static void copies_keep_every_byte(void **state) {
    Fixture *f = *state;
    size_t size = is_gpu() ? (size_t)64 << 20 : 1 << 20;
    unsigned char *from = malloc(size), *to = malloc(size);
    for (size_t i = 0; i < size; i++) from[i] = (unsigned char)(i * 2654435761u >> 13);
    tilec_buffer a = buffer(f, size), b = buffer(f, size);
    OK(tilec_buffer_write(f->device, NULL, a, 0, from, size));
    OK(tilec_buffer_write(f->device, NULL, b, 0, to, size));
    OK(tilec_buffer_copy(f->device, NULL, b, 3, a, 0, size - 3));
    OK(tilec_buffer_read(f->device, NULL, b, 3, to, size - 3));
    assert_memory_equal(from, to, size - 3);
    for (size_t odd = 1; odd < 40; odd += 7) {
        OK(tilec_buffer_write(f->device, NULL, b, odd, from + 5, odd));
        OK(tilec_buffer_read(f->device, NULL, b, odd, to, odd));
        assert_memory_equal(from + 5, to, odd);
    }
    assert_int_equal(tilec_buffer_read(f->device, NULL, b, size - 3, to, 4),
                     TILEC_INVALID_ARGUMENT);
    OK(tilec_buffer_destroy(f->device, a));
    assert_int_equal(tilec_buffer_read(f->device, NULL, a, 0, to, 4), TILEC_INVALID_ARGUMENT);
    free(from);
    free(to);
}

static void arrays_go_beyond_4_gib(void **state) {
    Fixture *f = *state;
    int64_t n = (INT64_C(5) << 30) + 7;
    if (!is_gpu()) {
        print_message("skipped: only on a GPU\n");
        skip();
    }
    tilec_buffer x = {0};
    tilec_status s = tilec_buffer_create(f->device, (size_t)n, &x);
    if (s == TILEC_OUT_OF_MEMORY) {
        print_message("skipped: %s\n", tilec_last_error(f->context));
        skip();
    }
    OK(s);
    OK(tilec_launch(kernel(f, "last"), NULL, TILEC_ARGS(tilec_buffer_view1(TILEC_U8, x, n), 77)));
    unsigned char byte = 0;
    OK(tilec_buffer_read(f->device, NULL, x, (size_t)n - 1, &byte, 1));
    assert_int_equal(byte, 77);
    OK(tilec_buffer_destroy(f->device, x));
}

static void too_much_memory_is_refused(void **state) {
    Fixture *f = *state;
    tilec_buffer x = {0};
    tilec_status s = tilec_buffer_create(f->device, (size_t)1 << 50, &x);
    assert_int_equal(s, TILEC_OUT_OF_MEMORY);
    print_message("%s\n", tilec_last_error(f->context));
    OK(tilec_buffer_create(f->device, 64, &x));
}

// ---- reports ------------------------------------------------------------------------------------

static void programs_print(void **state) {
    Fixture *f = *state;
    enum { COUNT = 20 };
    int32_t host[COUNT];
    for (int i = 0; i < COUNT; i++) host[i] = i * i - 50;
    tilec_buffer x = buffer(f, sizeof host);
    OK(tilec_buffer_write(f->device, NULL, x, 0, host, sizeof host));
    tilec_kernel *k = kernel(f, "say");
    for (int round = 0; round < 3; round++) {
        f->lines[0] = 0;
        OK(tilec_launch(k, NULL, TILEC_ARGS(tilec_buffer_view1(TILEC_I32, x, COUNT))));
        OK(tilec_device_synchronize(f->device));
        for (int i = 0; i < COUNT; i++) {
            char line[64];
            snprintf(line, sizeof line, "program %d %d\n", i, host[i]);
            if (!strstr(f->lines, line)) fail_msg("'%s' is not in:\n%s", line, f->lines);
        }
    }
}

// The lowest program that fails is reported; the device works on.
static void asserts_are_reported(void **state) {
    Fixture *f = *state;
    int32_t host[N];
    for (int i = 0; i < N; i++) host[i] = i % 5000 == 4321 ? 100 : 5;
    tilec_buffer x = buffer(f, sizeof host);
    tilec_kernel *k = kernel(f, "small");
    for (int round = 0; round < 3; round++) {
        OK(tilec_buffer_write(f->device, NULL, x, 0, host, sizeof host));
        tilec_status s = tilec_launch(k, NULL, TILEC_ARGS(tilec_buffer_view1(TILEC_I32, x, N)));
        if (!s) s = tilec_device_synchronize(f->device);
        assert_int_equal(s, TILEC_KERNEL_FAILED);
        const char *text = tilec_last_error(f->context);
        if (!strstr(text, "a small number") || !strstr(text, "4321")) fail_msg("%s", text);
        OK(tilec_device_synchronize(f->device));
    }
    print_message("%s\n", "reported each time");
    OK(tilec_launch(k, NULL, TILEC_ARGS(tilec_buffer_view1(TILEC_I32, x, 4000))));
    OK(tilec_device_synchronize(f->device));
    int32_t first = 0;
    OK(tilec_buffer_read(f->device, NULL, x, 0, &first, 4));
    assert_int_equal(first, 7);
}

// In the child: a store to nowhere, and what the calls say then.
static int fault(void) {
    Fixture *f = NULL;
    void *state = NULL;
    if (set_up(&state)) return 1;
    f = state;
    tilec_buffer x = buffer(f, 64);
    tilec_status s = tilec_launch(kernel(f, "wild"), NULL, TILEC_ARGS(tilec_arg_buffer(x, 0)));
    printf("launch: %s\n", tilec_status_text(s));
    s = tilec_device_synchronize(f->device);
    printf("synchronize: %s: %s\n", tilec_status_text(s), tilec_last_error(f->context));
    if (s != TILEC_KERNEL_FAILED) return 1;
    s = tilec_buffer_create(f->device, 64, &x);
    printf("later: %s: %s\n", tilec_status_text(s), tilec_last_error(f->context));
    if (s != TILEC_UNAVAILABLE) return 1;
    tear_down(&state);
    return 0;
}

static void faults_end_the_device(void **state) {
    (void)state;
    if (!is_driver()) {
        print_message("skipped: only drivers of GPUs take memory on trust\n");
        skip();
    }
    Arena *arena = arena_create();
    const char *command = arena_printf(arena, "'%s' --device '%s' --fault", program, device_name);
    Process process = {.command = command, .folder = ".", .tool_folder = "/", .seconds = 120};
    ProcessResult result;
    assert_true(process_run(arena, &process, &result));
    print_message("%.*s", STR_ARG(result.output));
    assert_int_equal(result.status, 0);
    arena_destroy(arena);
}

// ---- threads ------------------------------------------------------------------------------------

typedef struct Job {
    Fixture *f;
    int number;
    bool fine;
} Job;

static bool launches(Fixture *f, int number) {
    tilec_buffer x, y;
    tilec_stream *stream;
    tilec_kernel *fill, *add;
    float host[2] = {0};
    int rounds = is_gpu() ? 200 : 10;
    bool fine = !tilec_buffer_create(f->device, N * 4, &x) &&
                !tilec_buffer_create(f->device, N * 4, &y) &&
                !tilec_stream_create(f->device, &stream) &&
                !tilec_kernel_from_source(f->context, f->device, "device.tile", source,
                                          strlen(source), "fill", NULL, &fill) &&
                !tilec_kernel_from_source(f->context, f->device, "device.tile", source,
                                          strlen(source), "add", NULL, &add);
    if (!fine) return false;
    tilec_view vx = tilec_buffer_view1(TILEC_F32, x, N), vy = tilec_buffer_view1(TILEC_F32, y, N);
    fine = !tilec_launch(fill, stream, TILEC_ARGS(vx, (float)number)) &&
           !tilec_launch(fill, stream, TILEC_ARGS(vy, 0.0f));
    for (int i = 0; i < rounds && fine; i++)
        fine = !tilec_launch(add, stream, TILEC_ARGS(vx, vy)) &&
               (i % 10 || !tilec_stream_synchronize(stream));
    fine = fine && !tilec_buffer_read(f->device, stream, y, 4 * (N - 2), host, 8);
    tilec_kernel_destroy(fill);
    tilec_kernel_destroy(add);
    return fine && host[0] == (float)(rounds * number) && host[1] == host[0];
}

static void work(void *argument) {
    Job *job = argument;
    job->fine = launches(job->f, job->number);
}

static void threads_launch_at_once(void **state) {
    enum { THREADS = 8 };
    Job jobs[THREADS];
    OsThread *threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (Job){*state, i + 1, false};
        threads[i] = os_thread_start("test-device", work, &jobs[i]);
        assert_non_null(threads[i]);
    }
    for (int i = 0; i < THREADS; i++) os_thread_join(threads[i]);
    for (int i = 0; i < THREADS; i++) assert_true(jobs[i].fine);
}

// ---- the driver beside tilec --------------------------------------------------------------------

typedef struct Driver {
    OsLibrary *library;
    int (*begin)(void *stream, int mode);
    int (*end)(void *stream, void **graph);
    int (*instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*launch)(void *exec, void *stream);
    int (*push)(void *context), (*pop)(void **context);
    int (*retain)(void **context, int device);
} Driver;

static bool find(const Driver *d, const char *name, void *into) {
    void *symbol = os_library_symbol(d->library, name);
    memcpy(into, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool driver_open(Driver *d) {
    const char *path = getenv("TILEC_CUDA_LIBRARY");
    OsError error;
    d->library = os_library_open(path ? path : "libcuda.so.1", &error);
    return d->library && find(d, "cuStreamBeginCapture_v2", &d->begin) &&
           find(d, "cuStreamEndCapture", &d->end) &&
           find(d, "cuGraphInstantiateWithFlags", &d->instantiate) &&
           find(d, "cuGraphLaunch", &d->launch) && find(d, "cuCtxPushCurrent_v2", &d->push) &&
           find(d, "cuCtxPopCurrent_v2", &d->pop) &&
           find(d, "cuDevicePrimaryCtxRetain", &d->retain);
}

static void graphs_replay(void **state) {
    Fixture *f = *state;
    Driver d = {0};
    if (strncmp(device_name, "cuda", 4) || !driver_open(&d)) {
        print_message("skipped: no CUDA driver with graphs\n");
        skip();
    }
    void *context, *graph, *exec, *native;
    tilec_stream *own, *stream;
    tilec_buffer x = buffer(f, N * 4), y = buffer(f, N * 4);
    tilec_view vx = tilec_buffer_view1(TILEC_F32, x, N), vy = tilec_buffer_view1(TILEC_F32, y, N);
    tilec_kernel *fill = kernel(f, "fill"), *add = kernel(f, "add");
    OK(tilec_launch(fill, NULL, TILEC_ARGS(vx, 2.0f)));
    OK(tilec_launch(fill, NULL, TILEC_ARGS(vy, 0.0f)));
    OK(tilec_device_synchronize(f->device));
    OK(tilec_stream_create(f->device, &own));
    OK(tilec_stream_native(own, &native));
    OK(tilec_stream_from_native(f->device, native, &stream));
    OK(tilec_kernel_prepare(add, stream, TILEC_ARGS(vx, vy)));
    assert_int_equal(d.retain(&context, 0), 0);
    assert_int_equal(d.push(context), 0);
    assert_int_equal(d.begin(native, 1), 0);
    for (int i = 0; i < 5; i++) OK(tilec_launch(add, stream, TILEC_ARGS(vx, vy)));
    assert_int_equal(d.end(native, &graph), 0);
    assert_int_equal(d.instantiate(&exec, graph, 0), 0);
    for (int i = 0; i < 10; i++) assert_int_equal(d.launch(exec, native), 0);
    OK(tilec_stream_synchronize(stream));
    assert_int_equal(d.pop(&context), 0);
    float host[2];
    OK(tilec_buffer_read(f->device, NULL, y, 4 * (N - 2), host, 8));
    assert_true(host[0] == 100 && host[1] == 100);
}

static void functions_take_device_pointers(void **state) {
    Fixture *f = *state;
    tilec_function_pointer any;
    tilec_buffer x = buffer(f, N * 4);
    void *address;
    size_t size;
    OK(tilec_buffer_address(f->device, x, &address, &size));
    tilec_kernel *k = kernel(f, "fill");
    tilec_status s = tilec_function(k, &any);
    if (s == TILEC_UNAVAILABLE) {
        print_message("skipped: %s\n", tilec_last_error(f->context));
        skip();
    }
    OK(s);
    tilec_status (*fill)(float *, int64_t, float) = (tilec_status(*)(float *, int64_t, float))any;
    OK(fill(address, N, 2.5f));
    float last = 0;
    OK(tilec_buffer_read(f->device, NULL, x, 4 * (N - 1), &last, 4));
    assert_true(last == 2.5f);
}

// ---- large programs -----------------------------------------------------------------------------

// The value of a whole number in f16.
static int whole_number(uint16_t bits) {
    int exponent = bits >> 10 & 31, significand = (bits & 1023) | 1024;
    if (!exponent) return 0;
    int n = exponent >= 25 ? significand << (exponent - 25) : significand >> (25 - exponent);
    return bits >> 15 ? -n : n;
}

static void matmul(Fixture *f, int64_t bm, int64_t bn, int64_t bk, int64_t warps, int64_t stages,
                   int64_t ctas) {
    enum { SIDE = 384 };
    static int16_t host[SIDE * SIDE];
    tilec_buffer b[3];
    for (int i = 0; i < 3; i++) b[i] = buffer(f, sizeof host);
    // Small whole numbers in f16: sums are exact.
    static const int16_t numbers[] = {0, 0x3c00, (int16_t)0xbc00, 0x4000, (int16_t)0xc000};
    static const int values[] = {0, 1, -1, 2, -2};
    static unsigned char which[2][SIDE * SIDE];
    for (int i = 0; i < 2; i++) {
        for (int e = 0; e < SIDE * SIDE; e++) {
            which[i][e] = (unsigned char)((unsigned)(e + 77 * i) * 2654435761u >> 11) % 5;
            host[e] = numbers[which[i][e]];
        }
        OK(tilec_buffer_write(f->device, NULL, b[i], 0, host, sizeof host));
    }
    tilec_kernel *k = NULL;
    OK(tilec_kernel_from_file(
        f->context, f->device, "examples/matmul.tile", "matmul",
        TILEC_SPEC(TILEC_TYPE("T", TILEC_F16), TILEC_CONST("BM", bm), TILEC_CONST("BN", bn),
                   TILEC_CONST("BK", bk), TILEC_OPTION("warps", warps),
                   TILEC_OPTION("stages", stages), TILEC_OPTION("ctas", ctas)),
        &k));
    OK(tilec_launch(k, NULL,
                    TILEC_ARGS(tilec_buffer_view2(TILEC_F16, b[0], SIDE, SIDE),
                               tilec_buffer_view2(TILEC_F16, b[1], SIDE, SIDE),
                               tilec_buffer_view2(TILEC_F16, b[2], SIDE, SIDE))));
    OK(tilec_buffer_read(f->device, NULL, b[2], 0, host, sizeof host));
    for (int r = 0; r < SIDE; r += 5) {
        for (int c = 0; c < SIDE; c++) {
            int sum = 0;
            for (int i = 0; i < SIDE; i++)
                sum += values[which[0][r * SIDE + i]] * values[which[1][i * SIDE + c]];
            int got = whole_number((uint16_t)host[r * SIDE + c]);
            if (got != sum) fail_msg("c[%d, %d] = %d, expected %d", r, c, got, sum);
        }
    }
    tilec_kernel_destroy(k);
    for (int i = 0; i < 3; i++) OK(tilec_buffer_destroy(f->device, b[i]));
}

static void need_driver(void) {
    if (is_driver()) return;
    print_message("skipped: only GPUs have shared memory and clusters\n");
    skip();
}

static void programs_use_much_shared_memory(void **state) {
    need_driver();
    matmul(*state, 128, 128, 64, 8, 4, 1);
    matmul(*state, 128, 128, 64, 4, 3, 1);
    matmul(*state, 64, 128, 32, 4, 5, 1);
}

static void programs_form_clusters(void **state) {
    need_driver();
    matmul(*state, 64, 64, 32, 4, 3, 2);
    matmul(*state, 128, 64, 32, 4, 2, 3);
}

// ---- all ----------------------------------------------------------------------------------------

// ---- asynchronous copies, fills, the pool -------------------------------------------------------

typedef struct Moved {
    tilec_stream *stream;
    tilec_buffer a, b;
    unsigned char *from, *to;
    size_t size;
} Moved;

// There and back while the stream is busy: pages and pinned memory, more than any stage holds.
static void move_back(Fixture *f, Moved *m, tilec_kernel *slow, tilec_buffer busy) {
    memset(m->to, 0, m->size);
    OK(tilec_launch(slow, m->stream,
                    TILEC_ARGS(tilec_buffer_view1(TILEC_F32, busy, N), is_gpu() ? 100000 : 10)));
    OK(tilec_buffer_write_async(f->device, m->stream, m->a, 0, m->from, m->size));
    OK(tilec_buffer_copy(f->device, m->stream, m->b, 0, m->a, 0, m->size));
    OK(tilec_buffer_read_async(f->device, m->stream, m->b, 0, m->to, m->size));
    OK(tilec_stream_synchronize(m->stream));
    assert_memory_equal(m->from, m->to, m->size);
}

static void fill_with_units(Fixture *f, Moved *m) {
    static const unsigned char pattern[] = {1, 2, 3, 4, 5, 6, 7, 8};
    enum { SIZE = 4096 };
    for (size_t unit = 1; unit <= 8; unit *= 2) {
        OK(tilec_buffer_fill(f->device, m->stream, m->a, 16, pattern, unit, SIZE));
        OK(tilec_buffer_read(f->device, m->stream, m->a, 0, m->to, SIZE + 32));
        for (size_t i = 0; i < SIZE; i++) assert_int_equal(m->to[16 + i], pattern[i % unit]);
        assert_memory_equal(m->to, m->from, 16);
        assert_memory_equal(m->to + 16 + SIZE, m->from + 16 + SIZE, 16);
    }
}

static void copies_need_no_wait(void **state) {
    Fixture *f = *state;
    Moved m = {.size = is_gpu() ? 50000001 : 100001};
    tilec_buffer busy = buffer(f, N * 4);
    tilec_kernel *slow = kernel(f, "slow");
    void *pinned[2];
    OK(tilec_stream_create(f->device, &m.stream));
    OK(tilec_buffer_create_async(f->device, m.stream, m.size, &m.a));
    OK(tilec_buffer_create_async(f->device, m.stream, m.size, &m.b));
    OK(tilec_buffer_fill(f->device, m.stream, busy, 0, "", 1, N * 4));
    unsigned char *from = m.from = malloc(m.size), *to = m.to = malloc(m.size);
    assert_true(from && to);
    for (size_t i = 0; i < m.size; i++) from[i] = (unsigned char)(i * 7 + i / 251);
    move_back(f, &m, slow, busy);
    fill_with_units(f, &m);
    for (int i = 0; i < 2; i++) OK(tilec_host_alloc(f->device, m.size, &pinned[i]));
    m.from = memcpy(pinned[0], from, m.size), m.to = pinned[1];
    move_back(f, &m, slow, busy);
    OK(tilec_buffer_destroy_async(f->device, m.stream, m.a));
    OK(tilec_buffer_create_async(f->device, m.stream, m.size, &m.a));
    move_back(f, &m, slow, busy);
    for (int i = 0; i < 2; i++) OK(tilec_host_free(f->device, pinned[i]));
    free(from);
    free(to);
}

// A persistent kernel, and what its grid is made of.
static void grids_ask_the_device(void **state) {
    Fixture *f = *state;
    tilec_device_info info = {.size = sizeof info};
    tilec_buffer x = buffer(f, N * 4), y = buffer(f, N * 4), count = buffer(f, 4);
    const float one = 1;
    float *found = malloc(N * sizeof *found);
    int32_t programs = 0;
    OK(tilec_device_describe(f->device, &info));
    OK(tilec_buffer_fill(f->device, NULL, x, 0, &one, sizeof one, N * 4));
    OK(tilec_launch(
        kernel(f, "shares"), NULL,
        TILEC_ARGS(tilec_buffer_view1(TILEC_F32, x, N), tilec_buffer_view1(TILEC_F32, y, N))));
    OK(tilec_launch(kernel(f, "counts"), NULL,
                    TILEC_ARGS(tilec_buffer_view1(TILEC_I32, count, 1))));
    OK(tilec_buffer_read(f->device, NULL, y, 0, found, N * 4));
    OK(tilec_buffer_read(f->device, NULL, count, 0, &programs, 4));
    for (int i = 0; i < N; i++) assert_true(found[i] == 2);
    print_message("%s (%s, %s, %s): %u multiprocessors, %d programs at once\n", info.name,
                  info.target, info.driver, info.bus, info.multiprocessors, programs);
    assert_true(info.multiprocessors > 0 && programs >= (int32_t)info.multiprocessors);
    assert_int_equal(programs % (int32_t)info.multiprocessors, 0);
    free(found);
}

// ---- tuning -------------------------------------------------------------------------------------

static void expect_floats(Fixture *f, tilec_buffer x, int count, float expected) {
    float *found = malloc((size_t)count * sizeof *found);
    OK(tilec_buffer_read(f->device, NULL, x, 0, found, (size_t)count * sizeof *found));
    for (int i = 0; i < count; i++)
        if (found[i] != expected)
            fail_msg("element %d is %g, not %g", i, (double)found[i], (double)expected);
    free(found);
}

// Measuring leaves no trace in arrays that the kernel reads and writes.
static void tuning_restores_arrays(void **state) {
    Fixture *f = *state;
    tilec_buffer x = buffer(f, N * 4);
    const tilec_arg args[] = {tilec_arg_view(tilec_buffer_view1(TILEC_F32, x, N))};
    tilec_kernel *ahead = kernel(f, "grow");
    tilec_kernel *first = kernel_with(f, "grow", TILEC_SPEC(TILEC_TUNE(0.5)));
    const float three = 3;
    OK(tilec_buffer_fill(f->device, NULL, x, 0, &three, sizeof three, N * 4));
    OK(tilec_tune(ahead, NULL, args, 1, 0.5));
    expect_floats(f, x, N, 3);
    OK(tilec_launch(ahead, NULL, args, 1));
    expect_floats(f, x, N, 7);
    OK(tilec_launch(first, NULL, args, 1));
    expect_floats(f, x, N, 15);
    OK(tilec_launch(first, NULL, args, 1));
    expect_floats(f, x, N, 31);
}

// Products with other tiles, warps and rings: each choice computes the same.
static void products_are_tuned(void **state) {
    Fixture *f = *state;
    const int64_t n = is_gpu() ? 1024 : 128;
    size_t count = (size_t)(n * n);
    tilec_buffer a = buffer(f, count * 2), c = buffer(f, count * 4);
    const tilec_arg args[] = {tilec_arg_view(tilec_buffer_view2(TILEC_F16, a, n, n)),
                              tilec_arg_view(tilec_buffer_view2(TILEC_F32, c, n, n))};
    tilec_kernel *square = kernel_with(f, "square", TILEC_SPEC(TILEC_TUNE(2)));
    const uint16_t half = 0x3800;
    OK(tilec_buffer_fill(f->device, NULL, a, 0, &half, sizeof half, count * 2));
    OK(tilec_buffer_fill(f->device, NULL, c, 0, "", 1, count * 4));
    for (int i = 1; i <= 3; i++) {
        OK(tilec_launch(square, NULL, args, 2));
        expect_floats(f, c, (int)count, (float)i * (float)n / 4);
    }
}

int main(int argc, char **argv) {
    bool faults = false;
    program = argv[0];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--device") && i + 1 < argc)
            device_name = argv[++i];
        else if (!strcmp(argv[i], "--fault"))
            faults = true;
        else
            return fputs("usage: test_device [--device NAME]\n", stderr), 2;
    }
    setenv("TILEC_TUNE_FILE", "", 1);  // the user's table is left alone
    if (faults) return fault();
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(streams_wait_for_events),
        TEST(events_measure_time),
        TEST(launches_pile_up),
        TEST(copies_keep_every_byte),
        TEST(arrays_go_beyond_4_gib),
        TEST(too_much_memory_is_refused),
        TEST(programs_print),
        TEST(asserts_are_reported),
        TEST(faults_end_the_device),
        TEST(threads_launch_at_once),
        TEST(graphs_replay),
        TEST(functions_take_device_pointers),
        TEST(programs_use_much_shared_memory),
        TEST(programs_form_clusters),
        TEST(copies_need_no_wait),
        TEST(grids_ask_the_device),
        TEST(tuning_restores_arrays),
        TEST(products_are_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
