// A libcuda.so.1 without a GPU: the same entry points, and the warp machine (sim/) behind them.
//
// Every call is counted; handles are checked for being alive, of the right kind and of the current
// context; work waits on its stream until somebody synchronises it, so that what relies on the
// device being fast fails. Memory of the device has addresses that no memory of the host has.
// Kernels are the PTX that was loaded; machine code is of another architecture, but for PTX behind
// the bytes FAKE_CUBIN. What a program does wrong is a line of problems(). Invariants: nothing is
// freed before reset, so that dead handles are recognised. Ownership: the fake's, all of it.
//
//     const FakeCuda *fake = ((const FakeCuda *(*)(void))os_library_symbol(l, "fake_cuda"))();
//     fake->fail_call("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY, 0);     the next one fails
#ifndef TILEC_TESTS_FAKES_CUDA_FAKE_H
#define TILEC_TESTS_FAKES_CUDA_FAKE_H

#include <stdbool.h>

#include "runtime/cuda/types.h"

// What passes for machine code of its devices: this, then PTX to its end.
#define FAKE_CUBIN "\177ELFfake\n"

typedef struct FakeCuda {
    void (*reset)(void);  // as when the process began
    // Before the first call: devices, their architecture (80), CUDA's version (12020), the newest
    // version of PTX that is taken (83).
    void (*configure)(int devices, int arch, int version, unsigned ptx);
    // The call after `skip` more of this entry point gives the code and does nothing; NULL: none.
    void (*fail_call)(const char *symbol, CUresult code, unsigned skip);
    unsigned (*calls)(const char *symbol);  // since reset; NULL: of all entry points
    unsigned (*cubins)(void);               // modules of machine code loaded since reset
    unsigned (*live)(void);                 // contexts, streams, events, modules, memory
    const char *(*problems)(void);          // lines; "" when there are none
    unsigned (*depth)(void);                // of the calling thread's stack of contexts
} FakeCuda;

#endif
