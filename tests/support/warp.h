// Kernels in PTX on the warp machine, for tests: read, give memory, launch, look.
//
//     Warp w;
//     warp_open(&w, text);
//     uint64_t x = warp_upload(&w, data, sizeof data);
//     SimResult r = warp_run(&w, "k", 1, 32, 0, (uint64_t[]){x}, 1);
//     warp_download(&w, x, data, sizeof data);
//     warp_close(&w);
#ifndef TILEC_TESTS_SUPPORT_WARP_H
#define TILEC_TESTS_SUPPORT_WARP_H

#include "base/diag.h"
#include "sim/machine/machine.h"
#include "sim/observe/observe.h"
#include "sim/ptx/ptx.h"
#include "target/gpu_map.h"

typedef struct Warp {
    Arena *arena;
    Sources *sources;
    Diags *diags;
    const SimProgram *program;
    SimMemory *memory;
    uint64_t *variables;
    const SimObserver *observers[8];
    uint32_t observer_count;
    SimFindings *findings;
    uint64_t seed, step_limit;
    const GpuMap *maps[8];  // by parameter: tensor maps
    uint32_t grid[3], block[3], cluster[3];
    StrBuf printed;
} Warp;

// Reads the text; ends the test with the diagnostics when that fails.
void warp_open(Warp *w, const char *text);
// The diagnostics of a text that must fail.
Str warp_refused(Arena *arena, const char *text);
// All observers of checks, with findings in w->findings.
void warp_watch(Warp *w);
void warp_close(Warp *w);
uint64_t warp_upload(Warp *w, const void *data, size_t size);
uint64_t warp_alloc(Warp *w, size_t size);
void warp_download(Warp *w, uint64_t address, void *data, size_t size);
// One launch of a grid of w->grid or (blocks, 1, 1); arguments in order, 8 bytes each, of which
// each parameter takes what its size is.
SimResult warp_run(Warp *w, const char *kernel, uint32_t blocks, uint32_t threads, uint32_t shared,
                   const uint64_t *args, uint32_t count);
// The same, and it must end well.
void warp_run_ok(Warp *w, const char *kernel, uint32_t blocks, uint32_t threads, uint32_t shared,
                 const uint64_t *args, uint32_t count);
bool warp_found(const Warp *w, SimFindingKind kind);

// A kernel of one parameter, `out`, around a body: registers %r, %rd, %f, %p, %h, %fd to 63; %rd63
// is the address of the thread's 16 bytes of `out`, %r63 the thread.
const char *warp_kernel(Arena *arena, const char *arch, const char *body);

#endif
