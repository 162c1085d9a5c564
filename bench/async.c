// How long asynchronous calls take while a kernel of their stream runs: on `cpu`, and on a
// simulated device whose kernel another thread runs. Prints medians and the slowest; asserts
// nothing.
//
//     build/release/bench_async [rounds]
//
// The kernel takes 100 ms. While it runs, the calls of a stream are timed one by one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <tilec/tilec.h>

#include "base/os/os.h"
#include "base/os/os_thread.h"

enum { SIZE = 1 << 20, ROUNDS = 9, ROUNDS_MAX = 101 };
static const uint64_t LONG_NS = 100000000;

static const char source[] =
    "kernel wait(i32 y[8], i32 n) grid(8)\n{\n"
    "    var i = 0;\n    while i < n { i += 1 + i32(y[program(0)] == 77); }\n"
    "    y[program(0)] = i;\n}\n";

typedef enum Call {
    CALL_WRITE,
    CALL_READ,
    CALL_FILL,
    CALL_COPY,
    CALL_CREATE,
    CALL_DESTROY,
    CALLS
} Call;
static const char *const call_names[CALLS] = {"write_async", "read_async",   "fill",
                                              "copy",        "create_async", "destroy_async"};

typedef struct Bench {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *kernel;
    tilec_stream *stream;
    tilec_buffer a, b, y;
    int32_t turns;  // of the loop, for the whole time
    _Atomic bool begun;
    void *from, *to;
    uint64_t times[CALLS][ROUNDS_MAX];
} Bench;

static void need(const Bench *b, tilec_status status) {
    if (!status) return;
    fprintf(stderr, "bench_async: %s\n", tilec_last_error(b->context));
    exit(1);
}

static void launch(const Bench *b, int32_t turns) {
    need(b, tilec_launch(b->kernel, b->stream,
                         TILEC_ARGS(tilec_buffer_view1(TILEC_I32, b->y, 8), turns)));
}

static double seconds_of(const Bench *b, int32_t turns) {
    uint64_t begin = os_time_ns();
    launch(b, turns);
    need(b, tilec_stream_synchronize(b->stream));
    return (double)(os_time_ns() - begin) * 1e-9;
}

// Finds the turns of the loop that take the time.
static void calibrate(Bench *b) {
    int32_t turns = 1000;
    seconds_of(b, turns);  // compiles
    double once;
    while ((once = seconds_of(b, turns)) < 0.02) turns *= 2;
    b->turns = (int32_t)((double)turns * (double)LONG_NS * 1e-9 / once);
}

static void run_kernel(void *bench) {
    Bench *b = bench;
    atomic_store(&b->begun, true);
    launch(b, b->turns);
}

static void time_calls(Bench *b, size_t round) {
    const uint64_t zero = 0;
    tilec_buffer made;
    uint64_t at = os_time_ns(), now;
#define TIMED(call, ...)              \
    need(b, __VA_ARGS__);             \
    now = os_time_ns();               \
    b->times[call][round] = now - at; \
    at = os_time_ns()
    TIMED(CALL_WRITE, tilec_buffer_write_async(b->device, b->stream, b->a, 0, b->from, SIZE));
    TIMED(CALL_FILL, tilec_buffer_fill(b->device, b->stream, b->b, 0, &zero, 8, SIZE / 2));
    TIMED(CALL_COPY, tilec_buffer_copy(b->device, b->stream, b->b, 0, b->a, 0, SIZE / 2));
    TIMED(CALL_READ, tilec_buffer_read_async(b->device, b->stream, b->b, 0, b->to, SIZE));
    TIMED(CALL_CREATE, tilec_buffer_create_async(b->device, b->stream, SIZE / 4, &made));
    TIMED(CALL_DESTROY, tilec_buffer_destroy_async(b->device, b->stream, made));
}

// On a simulated device a launch runs within its call, so another thread makes it.
static uint64_t play(Bench *b, size_t round, bool apart) {
    const struct timespec pause = {0, 20000000};
    OsThread *thread = NULL;
    uint64_t begin = os_time_ns();
    atomic_store(&b->begun, false);
    if (apart)
        thread = os_thread_start("bench", run_kernel, b);
    else
        run_kernel(b);
    while (!atomic_load(&b->begun)) os_spin_hint();
    if (apart) thrd_sleep(&pause, NULL);
    time_calls(b, round);
    if (thread) os_thread_join(thread);
    need(b, tilec_stream_synchronize(b->stream));
    return os_time_ns() - begin;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void bench(const char *device, bool apart, size_t rounds) {
    Bench b = {.from = calloc(1, SIZE), .to = calloc(1, SIZE)};
    if (!b.from || !b.to || tilec_context_create(NULL, &b.context)) exit(1);
    need(&b, tilec_device_open(b.context, device, &b.device));
    need(&b, tilec_kernel_from_source(b.context, b.device, "wait", source, strlen(source), NULL,
                                      NULL, &b.kernel));
    need(&b, tilec_stream_create(b.device, &b.stream));
    need(&b, tilec_buffer_create(b.device, SIZE, &b.a));
    need(&b, tilec_buffer_create(b.device, SIZE, &b.b));
    need(&b, tilec_buffer_create(b.device, 32, &b.y));
    need(&b, tilec_buffer_fill(b.device, b.stream, b.y, 0, "", 1, 32));
    calibrate(&b);
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < rounds; i++) {
        uint64_t took = play(&b, i, apart);
        if (took < least) least = took;
    }
    printf("%s, after a kernel of at least %.0f ms:\n", device, (double)least * 1e-6);
    for (int c = 0; c < CALLS; c++) {
        qsort(b.times[c], rounds, sizeof b.times[c][0], compare);
        printf("  %-14s %7.1f us, at most %.1f us\n", call_names[c],
               (double)b.times[c][rounds / 2] * 1e-3, (double)b.times[c][rounds - 1] * 1e-3);
    }
    tilec_context_destroy(b.context);
    free(b.from);
    free(b.to);
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = ROUNDS;
    bench("cpu:2", false, (size_t)rounds);
    bench("sim:sm_80", true, (size_t)rounds);
    return 0;
}
