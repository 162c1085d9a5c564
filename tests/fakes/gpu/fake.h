// Drivers without a GPU: the entry points of libcuda.so.1 or of libamdhip64.so, on top of the warp
// machine (sim/). Both are made from one source; cuda.c and hip.c hold the differences.
// libfake_hip5.so lacks the functions that the first versions of HIP 5 lack, and libfake_cuda11.so
// those that NVIDIA's driver for CUDA 11 lacks.
//
// Every call is counted. Handles are checked: alive, of the right kind and of the calling thread's
// device. Work waits on its stream until a caller synchronises it, so that code which relies on a
// fast device fails. Memory of the device has addresses that no memory of the host has. Kernels are
// the PTX that was loaded (machine code is of another architecture, but for PTX after the bytes
// FAKE_CUBIN), or the very code object. Each mistake of a program is a line of problems().
// Invariants: nothing is freed before reset, so that dead handles are recognised. Ownership: the
// fake owns everything.
//
//     const FakeGpu *fake = ((const FakeGpu *(*)(void))os_library_symbol(l, "fake_gpu"))();
//     fake->fail_call("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY, 0);     the next one fails
#ifndef TILEC_TESTS_FAKES_GPU_FAKE_H
#define TILEC_TESTS_FAKES_GPU_FAKE_H

#include <stdbool.h>

#include "base/gpu_code.h"
#include "runtime/gpu/types.h"

// Stands for machine code of NVIDIA's devices: these bytes, then PTX to the end.
#define FAKE_CUBIN "\177ELFfake\n"

enum { FAKE_MULTIPROCESSORS = 3 };

typedef struct FakeGpu {
    void (*reset)(void);  // as when the process began
    // Before the first call: devices; their architecture (80; 0x90a); the version that the driver
    // says (12020; 60200000); the newest version that it takes, of PTX (83) or of code objects (5).
    void (*configure)(int devices, int arch, int version, unsigned newest);
    void (*configure_one)(int device, int arch);  // the other devices stay as they are
    // The call after `skip` more of this entry point gives the code and does nothing; NULL: none.
    void (*fail_call)(const char *symbol, GpuResult code, unsigned skip);
    void (*capture)(bool on);               // from now on all streams are captured, or none is
    unsigned (*calls)(const char *symbol);  // since reset; NULL: of all entry points
    unsigned (*cubins)(void);               // modules of machine code loaded since reset
    unsigned (*live)(void);                 // contexts, streams, events, modules, memory
    const char *(*problems)(void);          // lines; "" when there are none
    // The state of the calling thread: NVIDIA's depth of the stack of contexts, or AMD's device.
    unsigned (*place)(void);
    // The disassembler of AMD's code, until reset; NULL: libtilec_llvm's.
    void (*disassemble)(GpuDisassemble *disassemble);
} FakeGpu;

#endif
