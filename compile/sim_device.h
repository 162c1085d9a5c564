// The devices `sim:sm_75` … `sim:sm_120`: the warp machine behind the device table, and launches of
// PTX from anywhere.
//
// A buffer lies in the machine's own space of addresses, which no host pointer can be in. Work is
// done while the call runs; failures wait on the stream until it is synchronised. Images are
// SimImage structs: PTX text, and whether all observers of checks watch. The kernel's parameters
// are the launch's argument block as it is: its layout and that of PTX parameters of the same types
// in the same order are one. Invariants: one launch at a time on a device (a mutex).
//
//     SimImage image = {.ptx = text, .entry = STR("softmax")};
//     api->module_load(device, &(RtImage){RT_IMAGE_PTX, &image, sizeof image}, &module);
#ifndef TILEC_COMPILE_SIM_DEVICE_H
#define TILEC_COMPILE_SIM_DEVICE_H

#include "base/diag.h"
#include "runtime/device.h"

typedef struct SimImage {
    Str ptx;
    Str entry;  // empty: the variant's
    bool watch;
} SimImage;

extern const RtDeviceApi sim_device_api;

// Whether "sm_80", "sm_90a" and so on is one of the machine's; `code` is 80, 90.
bool sim_arch_parse(Str name, unsigned *code);

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
    // Results: what was counted.
    uint64_t instructions, lane_instructions, matrix, barriers;
    uint64_t sectors, least_sectors, wavefronts, least_wavefronts;
} SimForeign;

// False: diagnostics say why; `failed` tells a kernel that failed or findings from bad input.
bool sim_run_foreign(Arena *arena, SimForeign *f, Sources *sources, Diags *diags, bool *failed);

#endif
