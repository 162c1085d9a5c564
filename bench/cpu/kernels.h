// tilec's side: kernels through the public C API on the device cpu.
//
// Invariants: if a kernel does not compile or launch, its row has no tilec and gives the reason.
// Ownership: the context owns devices and kernels until kernels_close.
//
//     kernels_add(bench, &row, &(KernelJob){.file = "examples/axpy.tile", .kernel = "axpy", …});
#ifndef TILEC_BENCH_KERNELS_H
#define TILEC_BENCH_KERNELS_H

#include <tilec/tilec.h>

#include "bench/cpu/measure.h"

typedef struct Kernels {
    tilec_context *context;
    tilec_device *device;
    const char *failure;  // why there is no device
} Kernels;

Kernels *kernels_open(Bench *bench);
void kernels_close(Kernels *kernels);

typedef struct KernelJob {
    const char *name;  // of the contestant; NULL: "tilec"
    const char *file;  // path in the repository; NULL: `source`
    const char *source;
    const char *kernel;
    const tilec_spec *spec;
    const tilec_arg *args;
    size_t arg_count;
} KernelJob;
void kernels_add(Bench *bench, Row *row, const KernelJob *job);

#endif
