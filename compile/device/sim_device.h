// The devices `sim:sm_75` … `sim:sm_120` and `sim:gfx90a` … `sim:gfx1201`: the warp machine, called
// through the device table; and launches of any PTX and code objects.
//
// A buffer is at an address in the machine's own address space, which no host pointer can have.
// Work is done during the call; a failure stays with the stream until it is synchronised. Images
// are RtPtxImage structs. The observers that check always run, and a finding fails the launch.
// "sim:sm_80:7" runs warps and blocks in another order, chosen by the seed 7. Invariants: one
// launch at a time on a device (a mutex).
//
//     tilec_device_open(context, "sim:sm_80", &device);
#ifndef TILEC_COMPILE_DEVICE_SIM_DEVICE_H
#define TILEC_COMPILE_DEVICE_SIM_DEVICE_H

#include "base/diag.h"
#include "runtime/device.h"
#include "target/gpu_map.h"

extern const RtDeviceApi sim_device_api;

// Is "sm_80", "sm_90a", "gfx942" and so on simulated?
bool sim_arch_parse(Str name, GpuTarget *target);

// ---- What launches do, counted ----

typedef struct SimTally {
    uint64_t instructions, lane_instructions, matrix, barriers;
    // accesses to global memory: warp instructions, and the bytes that they request
    uint64_t accesses, bytes;
    uint64_t sectors, least_sectors;        // of global memory
    uint64_t wavefronts, least_wavefronts;  // of shared memory
} SimTally;
// From now on launches on this device, which must be one of sim_device_api, are added to *tally;
// NULL ends that. The caller owns the tally.
void sim_device_tally(tilec_device *device, SimTally *tally);

// ---- Code from anywhere: one launch with arguments in order ----
// Buffers may follow the parameters' arguments: those that only maps name.

typedef struct SimForeignArg {
    bool is_buffer;
    uint64_t bits;  // a number
    uint8_t *data;  // a buffer: read before the launch, and written after it
    uint64_t size;
    bool undefined;  // its contents before the launch count as never written
    // A tensor map of the buffer that argument `array` is, from 0; its address is filled in. NULL:
    // no map.
    GpuMapFacts *map;
    uint32_t array;
} SimForeignArg;
typedef struct SimForeign {
    Str path, text, kernel, arch;  // empty if the text has only one kernel
    uint32_t grid[3], block[3];
    uint32_t shared;
    uint64_t seed, step_limit;
    bool watch;
    const SimForeignArg *args;
    uint32_t arg_count;
    void (*print)(void *user, Str text);
    void *user;
    SimTally tally;  // the counts
} SimForeign;

// False: diagnostics give the reason; `failed` distinguishes a kernel that failed, or findings,
// from bad input.
bool sim_run_foreign(Arena *arena, SimForeign *f, Sources *sources, Diags *diags, bool *failed);

#endif
