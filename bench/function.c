// The cost of calling a kernel as a C function, compared with the launch and synchronisation that
// it makes.
//
//     build/release/bench_function [DEVICE]
//
// The grid is empty, so no program runs: the times are those of argument checking and libffi.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

#include "base/os/os.h"

enum { ROUNDS = 21, CALLS = 100000 };

typedef tilec_status Axpy(float a, const float *x, int64_t n, float *y);

typedef struct Bench {
    tilec_context *context;
    tilec_device *device;
    tilec_stream *stream;
    tilec_kernel *kernel;
    Axpy *function;
    float memory[4];
} Bench;

static double by_launch(Bench *b, bool synchronize) {
    uint64_t begin = os_time_ns();
    for (int i = 0; i < CALLS; i++) {
        tilec_view x = tilec_view1(TILEC_F32, b->memory, 0);
        if (tilec_launch(b->kernel, NULL, TILEC_ARGS(2.0f, x, x))) exit(1);
        if (synchronize && tilec_stream_synchronize(b->stream)) exit(1);
    }
    return (double)(os_time_ns() - begin) / (double)CALLS;
}

static double by_function(Bench *b) {
    uint64_t begin = os_time_ns();
    for (int i = 0; i < CALLS; i++)
        if (b->function(2.0f, b->memory, 0, b->memory)) exit(1);
    return (double)(os_time_ns() - begin) / (double)CALLS;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static const char source[] =
        "kernel axpy(f32 a, f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B)) {\n"
        "    let i = program(0) * B;\n    y[i +: B] = a * x[i +: B] + y[i +: B];\n}\n";
    Bench b = {0};
    tilec_function_pointer f;
    if (tilec_context_create(NULL, &b.context)) return 1;
    if (tilec_device_open(b.context, argc > 1 ? argv[1] : "auto", &b.device) ||
        tilec_stream_create(b.device, &b.stream) ||
        tilec_kernel_from_source(b.context, b.device, "axpy.tile", source, strlen(source), NULL,
                                 NULL, &b.kernel) ||
        tilec_function(b.kernel, &f)) {
        fprintf(stderr, "%s\n", tilec_last_error(b.context));
        return 1;
    }
    b.function = (Axpy *)f;
    double alone[ROUNDS], launches[ROUNDS], functions[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {  // interleaved, so that disturbances affect all alike
        alone[i] = by_launch(&b, false);
        launches[i] = by_launch(&b, true);
        functions[i] = by_function(&b);
    }
    qsort(alone, ROUNDS, sizeof *alone, compare);
    qsort(launches, ROUNDS, sizeof *launches, compare);
    qsort(functions, ROUNDS, sizeof *functions, compare);
    printf("device %s, medians of %d times %d calls\n", tilec_device_name(b.device), ROUNDS, CALLS);
    printf("launch                  %7.1f ns\n", alone[ROUNDS / 2]);
    printf("launch and synchronise  %7.1f ns\n", launches[ROUNDS / 2]);
    printf("the same as a function  %7.1f ns\n", functions[ROUNDS / 2]);
    tilec_context_destroy(b.context);
    return 0;
}
