// Steady launches of vector add through a built library: the rows below on the bare driver
// (driver.c), of which callgrind counts the instructions within `steady` and the clock, without
// callgrind, says the nanoseconds; and how long the first launch on the CPU takes.
//
//     launch ROW COUNT       a row's launches, once
//     launch                 each row's time, the best of some samples
//     launch first           milliseconds of the processor since the process began
//
// The program is linked with --wrap of the functions that allocate: a steady launch calls none.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <va.h>

enum { N = 100000, SETS = 2, WARM = 4, SAMPLES = 21, COUNT = 20000 };

// ---- What is allocated ----

static long allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size) { return allocations++, __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return allocations++, __real_calloc(count, size); }
void *__wrap_realloc(void *block, size_t size) {
    return allocations++, __real_realloc(block, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return allocations++, __real_aligned_alloc(alignment, size);
}

// ---- Launches ----

typedef struct Bench {
    tilec_context *context;
    tilec_stream *stream;
    tilec_kernel *kernel;
    tilec_view pointers[SETS][3], buffers[3];
    const float *memory[3];
} Bench;

typedef tilec_status Launch(const Bench *b, int i);

static tilec_status views(const Bench *b, int i) {
    const tilec_view *v = b->pointers[0];
    (void)i;
    return add_f32(b->stream, v[0], v[1], v[2]);
}

// Other arrays each time.
static tilec_status moving(const Bench *b, int i) {
    const tilec_view *v = b->pointers[i % SETS];
    return add_f32(b->stream, v[0], v[1], v[2]);
}

// Other extents each time: what is remembered helps none.
static tilec_status shapes(const Bench *b, int i) {
    tilec_view v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = b->pointers[0][k];
        v[k].extent[0] = 1 + i % N;
    }
    return add_f32(b->stream, v[0], v[1], v[2]);
}

static tilec_status buffers(const Bench *b, int i) {
    const tilec_view *v = b->buffers;
    (void)i;
    return add_f32(b->stream, v[0], v[1], v[2]);
}

static tilec_status pointers(const Bench *b, int i) {
    (void)i;
    return add_pointers_f32(b->stream, b->memory[0], b->memory[1], (float *)b->memory[2], N);
}

static tilec_status kernel(const Bench *b, int i) {
    const tilec_view *v = b->pointers[0];
    (void)i;
    return tilec_launch(
        b->kernel, b->stream,
        TILEC_ARGS(tilec_arg_view(v[0]), tilec_arg_view(v[1]), tilec_arg_view(v[2])));
}

static const struct {
    const char *name;
    Launch *launch;
} rows[] = {
    {"views", views},     {"moving", moving},     {"shapes", shapes},
    {"buffers", buffers}, {"pointers", pointers}, {"kernel", kernel},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void must(tilec_context *c, tilec_status s) {
    if (!s) return;
    fprintf(stderr, "launch: %s\n", tilec_last_error(c));
    exit(1);
}

__attribute__((noinline)) static void steady(const Bench *b, Launch *launch, int count) {
    tilec_status s = TILEC_OK;
    for (int i = 0; i < count && !s; i++) s = launch(b, i);
    must(b->context, s);
}

static void run_row(const Bench *b, Launch *launch, int count) {
    for (int i = 0; i < WARM; i++) must(b->context, launch(b, i));
    long before = allocations;
    steady(b, launch, count);
    if (allocations == before) return;
    fprintf(stderr, "launch: %ld allocations in %d launches\n", allocations - before, count);
    exit(1);
}

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double best_time(const Bench *b, Launch *launch) {
    double best = 1;
    for (int k = 0; k < SAMPLES; k++) {
        double begin = seconds(CLOCK_MONOTONIC);
        run_row(b, launch, COUNT);
        double found = (seconds(CLOCK_MONOTONIC) - begin) / COUNT;
        if (found < best) best = found;
    }
    return best;
}

static tilec_device *open_with_library(Bench *b, const char *name) {
    tilec_device *device = NULL;
    tilec_library *library = NULL;
    if (tilec_context_create(NULL, &b->context)) exit(1);
    must(b->context, tilec_device_open(b->context, name, &device));
    must(b->context, va_load(device, &library));
    must(b->context, tilec_library_kernel(library, "add_f32", &b->kernel));
    must(b->context, tilec_stream_create(device, &b->stream));
    return device;
}

static int first(void) {
    enum { FEW = 1000 };
    static float x[FEW], y[FEW], z[FEW];
    Bench b = {0};
    open_with_library(&b, "cpu");
    must(b.context, add_f32(b.stream, tilec_view1(TILEC_F32, x, FEW),
                            tilec_view1(TILEC_F32, y, FEW), tilec_view1(TILEC_F32, z, FEW)));
    must(b.context, tilec_stream_synchronize(b.stream));
    printf("%.3f\n", seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e3);
    tilec_context_destroy(b.context);
    return 0;
}

int main(int argc, char **argv) {
    Bench b = {0};
    if (argc == 2 && strcmp(argv[1], "first") == 0) return first();
    tilec_device *device = open_with_library(&b, "cuda");
    for (uintptr_t i = 0; i < 3; i++) {
        tilec_buffer buffer;
        must(b.context, tilec_buffer_create(device, N * sizeof(float), &buffer));
        b.buffers[i] = tilec_buffer_view1(TILEC_F32, buffer, N);
        b.memory[i] = (const float *)((i + 1) << 30);
        for (uintptr_t k = 0; k < SETS; k++)
            b.pointers[k][i] = tilec_view1(TILEC_F32, (void *)((i + 1) << 30 | k << 20), N);
    }
    for (int i = 0; i < ROWS; i++) {
        if (argc == 3 && strcmp(argv[1], rows[i].name) == 0)
            run_row(&b, rows[i].launch, atoi(argv[2]));
        else if (argc == 1)
            printf("%-10s %6.1f ns\n", rows[i].name, best_time(&b, rows[i].launch) * 1e9);
    }
    tilec_context_destroy(b.context);
    return 0;
}
