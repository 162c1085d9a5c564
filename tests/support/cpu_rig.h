// A context with the device `cpu` alone, and kernels written in C for it.
//
// A kernel's block is a CpuRigBlock. Invariants: lines of print are kept in order; everything is
// freed by cpu_rig_close. Ownership: the test's.
//
//     CpuRig rig;   cpu_rig_open(&rig, "cpu:2");
//     CpuRigKernel k;   cpu_rig_kernel(&rig, &k, entry);
//     cpu_rig_launch(&rig, NULL, &k, 1000, (CpuRigBlock){.array = counts});
#ifndef TILEC_TESTS_SUPPORT_CPU_RIG_H
#define TILEC_TESTS_SUPPORT_CPU_RIG_H

#include <stdatomic.h>

#include "runtime/context.h"
#include "runtime/cpu/device.h"

typedef struct CpuRigBlock {
    void *array;
    int64_t number;
} CpuRigBlock;

typedef struct CpuRig {
    tilec_context *context;
    tilec_device *device;
    char lines[4096];  // what was printed, each line with its '\n'
    size_t lines_size;
} CpuRig;

typedef struct CpuRigKernel {
    MetaVariant variant;
    MetaKernel meta;
    RtModule *module;
} CpuRigKernel;

void cpu_rig_open(CpuRig *rig, const char *name);
void cpu_rig_close(CpuRig *rig);
// The metadata may be changed before a launch.
void cpu_rig_kernel(CpuRig *rig, CpuRigKernel *kernel, CpuEntry *entry);
void cpu_rig_host_kernel(CpuRig *rig, CpuRigKernel *kernel, RtHostRun *run, void *user);
void cpu_rig_unload(CpuRig *rig, CpuRigKernel *kernel);
tilec_status cpu_rig_launch(CpuRig *rig, tilec_stream *stream, const CpuRigKernel *kernel,
                            int64_t programs, CpuRigBlock block);
tilec_status cpu_rig_prepare(CpuRig *rig, const CpuRigKernel *kernel, int64_t programs);
tilec_status cpu_rig_launch3(CpuRig *rig, tilec_stream *stream, const CpuRigKernel *kernel,
                             const int64_t grid[3], CpuRigBlock block);

#endif
