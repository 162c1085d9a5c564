// The devices `sim:sm_75` … `sim:sm_120` and `sim:gfx90a` … `sim:gfx1201`: the warp machine behind
// the device table, and launches of PTX and code objects from anywhere.
//
// A buffer lies in the machine's own space of addresses, which no host pointer can be in. Work is
// done while the call runs; failures wait on the stream until it is synchronised. Images are
// RtPtxImage structs; the observers that check always watch: what they find fails the launch.
// "sim:sm_80:7" takes warps and blocks in another order, by the seed 7. Invariants: one launch at a
// time on a device (a mutex).
//
//     tilec_device_open(context, "sim:sm_80", &device);
#ifndef TILEC_COMPILE_DEVICE_SIM_DEVICE_H
#define TILEC_COMPILE_DEVICE_SIM_DEVICE_H

#include "base/diag.h"
#include "runtime/device.h"

extern const RtDeviceApi sim_device_api;

// Whether "sm_80", "sm_90a", "gfx942" and so on is one of the machine's.
bool sim_arch_parse(Str name, GpuTarget *target);

// ---- What launches do, counted ----

typedef struct SimTally {
    uint64_t instructions, lane_instructions, matrix, barriers;
    uint64_t accesses, bytes;         // of global memory: warp instructions, and what they ask for
    uint64_t sectors, least_sectors;  // of global memory
    uint64_t wavefronts, least_wavefronts;  // of shared memory
} SimTally;
// Launches on this device, one of sim_device_api, add to *tally from now on; NULL: no longer. The
// tally stays the caller's.
void sim_device_tally(tilec_device *device, SimTally *tally);

// ---- Code from anywhere: one launch with arguments in order ----

typedef struct SimForeignArg {
    bool is_buffer;
    uint64_t bits;  // a number
    uint8_t *data;  // a buffer: read before, and written after the launch
    uint64_t size;
    bool undefined;  // its contents before the launch count as never written
} SimForeignArg;
typedef struct SimForeign {
    Str path, text, kernel, arch;  // an empty kernel: the only one
    uint32_t grid[3], block[3];
    uint32_t shared;
    uint64_t seed, step_limit;
    bool watch;
    const SimForeignArg *args;
    uint32_t arg_count;
    void (*print)(void *user, Str text);
    void *user;
    SimTally tally;  // what was counted
} SimForeign;

// False: diagnostics say why; `failed` tells a kernel that failed or findings from bad input.
bool sim_run_foreign(Arena *arena, SimForeign *f, Sources *sources, Diags *diags, bool *failed);

#endif
