// The contract between compiled CPU kernels and the runtime: the entry, and the services it is
// given.
//
// An entry runs the programs first … last - 1 of a launch on the calling thread. It runs them in
// this order, or several neighbours at once where the result is the same (matrix products:
// passes/cpu/prepare/merge_programs.c). Program p is (p % g0, p / g0 % g1, p / g0 / g1) of the grid
// g. `args` is the packed argument block (runtime/meta.h). `scratch` is memory of this thread,
// 64-byte aligned, of the size that the kernel's metadata names; it is not initialised. Kernel code
// has no undefined symbols: everything it needs from outside comes through `services`. Invariants:
// the layout is frozen within CPU_ABI_VERSION, which is part of every image and cache key; services
// are const while the launch runs. Ownership: the runtime's.
//
//     CpuEntry *entry = …;   entry(block, 0, 64, scratch, &services);
#ifndef TILEC_BASE_CPU_ABI_H
#define TILEC_BASE_CPU_ABI_H

#include <stdint.h>

enum { CPU_ABI_VERSION = 1, CPU_SCRATCH_ALIGN = 64 };

typedef struct CpuServices CpuServices;
struct CpuServices {
    int64_t grid[3];
    // A lane of `assert` number `site` (of the kernel's metadata) was false; the entry then goes on
    // with the next program. `lane` is the element's row-major index in the tile.
    void (*assert_failed)(const CpuServices *services, int64_t program, int64_t lane,
                          uint32_t site);
    // `print` number `site`. `values` points to the elements of each value, row-major, at their own
    // size.
    void (*print)(const CpuServices *services, int64_t program, uint32_t site,
                  const void *const *values);
    // C's fmod: the exact remainder of floats.
    double (*fmod)(double a, double b);
    float (*fmodf)(float a, float b);
    void *user;  // the runtime's own
    // Not 0: the launch has failed or is cancelled. Entries check it between programs. Another
    // thread may set it meanwhile, so each check is a relaxed atomic read of memory.
    const int32_t *cancel;
};

typedef void CpuEntry(const void *args, int64_t first, int64_t last, void *scratch,
                      const CpuServices *services);

#endif
