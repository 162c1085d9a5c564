// The device `cpu`: compiled kernels on a pool of threads, streams and events. Needs no compiler.
//
// Names: "cpu", or "cpu:N" for N threads (1 to 1024; the caller's thread is one of them). Without
// N: the context's cpu_threads, else the environment's TILEC_CPU_THREADS, else the number of
// processors that this process may run on. There are three kinds of images; each is one variant of
// a kernel.
// Invariants: launches on one stream run in order, and may run after the call has returned; see
// pool.h.
// Ownership: module_load copies or opens the data of an image; entries that are linked in, and a
// host function's `user`, live until module_unload has returned.
//
//     RtCpuImage image = {CPU_ABI_VERSION, target, "k", .path = "…/ab12.so"};
//     api->module_load(device, &(RtImage){RT_IMAGE_CPU, &image, sizeof image}, &module);
#ifndef TILEC_RUNTIME_CPU_DEVICE_H
#define TILEC_RUNTIME_CPU_DEVICE_H

#include "base/cpu_abi.h"
#include "runtime/device.h"
#include "runtime/report.h"
#include "target/cpu.h"

// RT_IMAGE_CPU: a shared object, in a file (of a cache) or in memory.
typedef struct RtCpuImage {
    uint32_t abi;       // CPU_ABI_VERSION of the compiler
    CpuTarget target;   // what it was compiled for
    const char *entry;  // the symbol
    const char *path;   // of a file that begins with the bytes, if there are any; NULL: load the
                        // bytes
    const char *name;   // name of the bytes, for debuggers and profilers
    Str bytes;
} RtCpuImage;

// RT_IMAGE_CPU_ENTRY
typedef struct RtCpuFunctions {
    uint32_t abi;
    CpuTarget target;
    CpuEntry *entry;
} RtCpuFunction;

// RT_IMAGE_HOST: runs the whole launch on one thread, in stream order. Its failure becomes the
// stream's, with the report as its message. Block and ranges of the launch are copies.
typedef tilec_status RtHostRun(void *user, tilec_device *device, const RtLaunch *launch,
                               RtReport *report);
typedef struct RtHostImage {
    RtHostRun *run;
    void *user;
} RtHostImage;

extern const RtDeviceApi cpu_device_api;

#endif
