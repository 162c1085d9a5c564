// State that the files of the drivers without a GPU share.
//
// An entry point is defined under our name for it, fake_mem_alloc, and has the vendor's as its
// symbol: so the files but cuda.c and hip.c serve both, built twice. Invariants: `lock` is held
// between fake_begin and fake_end; a Thing is of one kind for ever. Ownership: things are freed by
// reset.
//
//     GpuResult r = fake_begin(GPU_CALL_mem_free, true);
//     if (!r) …
//     return fake_end(r);
#ifndef TILEC_TESTS_FAKES_GPU_STATE_H
#define TILEC_TESTS_FAKES_GPU_STATE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "runtime/gpu/driver.h"
#include "sim/machine/machine.h"
#include "tests/fakes/gpu/fake.h"

#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_ENTRY(type, name, symbol, params) FAKE_EXPORT type fake_##name params __asm__(#symbol);
#ifdef FAKE_HIP
#define GPU_CALL(name, cuda, hip, params) FAKE_ENTRY(GpuResult, name, hip, params)
#define CUDA_CALL(name, symbol, params)
#define HIP_CALL(name, symbol, params) FAKE_ENTRY(GpuResult, name, symbol, params)
#define HIP_CALL_TEXT(name, symbol, params) FAKE_ENTRY(const char *, name, symbol, params)
#ifdef FAKE_HIP_5
#define HIP_CALL_NEWER(name, symbol, params)
#define GPU_CALL_NEWER(name, cuda, hip, params)
#endif
#else
#define GPU_CALL(name, cuda, hip, params) FAKE_ENTRY(GpuResult, name, cuda, params)
#define CUDA_CALL(name, symbol, params) FAKE_ENTRY(GpuResult, name, symbol, params)
#define HIP_CALL(name, symbol, params)
#ifdef FAKE_CUDA_11
#define CUDA_CALL_NEWER(name, symbol, params)
#endif
#endif
#include "runtime/gpu/driver.def"
#undef GPU_CALL
#undef CUDA_CALL
#undef HIP_CALL

// Codes that both vendors have, under the same numbers.
enum {
    FAKE_INVALID_VALUE = 1,
    FAKE_OUT_OF_MEMORY = 2,
    FAKE_NOT_INITIALIZED = 3,
    FAKE_NO_DEVICE = 100,
    FAKE_INVALID_DEVICE = 101,
    FAKE_INVALID_IMAGE = 200,
    FAKE_INVALID_CONTEXT = 201,
    FAKE_NO_BINARY_FOR_GPU = 209,
    FAKE_INVALID_HANDLE = 400,
    FAKE_NOT_FOUND = 500,
    FAKE_NOT_READY = 600,
    FAKE_ILLEGAL_ADDRESS = 700,
    FAKE_LAUNCH_FAILED = 719,
    FAKE_CAPTURE_UNSUPPORTED = 900
};

enum { FAKE_DEVICES = 4 };

typedef enum ThingKind {
    THING_CONTEXT,
    THING_STREAM,
    THING_EVENT,
    THING_MODULE,
    THING_FUNCTION
} ThingKind;

typedef struct Record {  // of an event on a stream
    struct Thing *stream;
    bool done;
    uint64_t time;
} Record;

typedef enum WorkKind {
    WORK_LAUNCH,
    WORK_COPY,
    WORK_FILL,
    WORK_HOST,
    WORK_RECORD,
    WORK_WAIT
} WorkKind;
typedef struct Work {
    WorkKind kind;
    struct Thing *function;
    uint32_t grid[3], block[3], cluster[3], shared;  // cluster: 0 first, where there are none
    uint8_t *params;
    uint64_t to, from;  // addresses of the device or the host
    int to_device, from_device;
    size_t size;       // bytes
    uint64_t pattern;  // of a fill, repeated
    size_t unit;       // bytes of the pattern
    GpuHostFunction call;
    void *data;
    Record *record;
} Work;

typedef struct Thing {
    ThingKind kind;
    int device;
    bool dead;
    VEC(Work) queue;  // of a stream
    size_t done;
    Record *last;  // of an event
    unsigned asked;
    const SimProgram *program;  // of a module
    uint64_t *variables;
    struct Thing *module;  // of a function
    const SimKernel *kernel;
    uint32_t shared_max;
    struct Thing *next;
} Thing;

typedef struct HostBlock {
    uint8_t *bytes;
    uint64_t address;
    size_t size;
    bool dead;
} HostBlock;

typedef struct FakeDevice {
    Thing *context;
    Thing *stream;  // the default one; NULL: not used yet
    unsigned retained;
    SimMemory *memory;
    GpuResult broken;
    unsigned allocations;
    VEC(HostBlock) host;
} FakeDevice;

typedef struct Fake {
    Arena *arena;
    bool ready;
    int device_count, archs[FAKE_DEVICES], version;
    unsigned newest;
    FakeDevice devices[FAKE_DEVICES];
    Thing *things;
    unsigned calls[GPU_CALLS];
    unsigned cubins;
    bool captured;  // every stream is
    int fail_call;
    GpuResult fail_code;
    unsigned fail_skip;
    StrBuf problems;
    uint64_t clock;
    GpuDisassemble *disassemble;
} Fake;

extern Fake fake_state;

// Counts the call; `inside`: it needs a device that is the thread's. Not zero: what the call gives.
GpuResult fake_begin(GpuCall call, bool inside);
GpuResult fake_end(GpuResult result);
const char *fake_symbol(GpuCall call);
FakeDevice *fake_device(void);  // the thread's
SimMemory *fake_memory(FakeDevice *d);
void fake_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));
Thing *fake_make(ThingKind kind);
// The live thing that the handle names, of any device; else NULL.
Thing *fake_find(const void *handle, ThingKind kind);
// The live thing of this kind that the handle names, of the thread's device; else NULL and a
// problem.
Thing *fake_check(const void *handle, ThingKind kind);

// work.c: a launch, with the bytes of its parameters; the lock is held.
GpuResult fake_push_launch(const GpuLaunchConfig *config, GpuFunction function, const void *params,
                           size_t size);

// queue.c
void fake_push(Thing *stream, Work work);
GpuResult fake_run(Thing *stream);  // all of it
GpuResult fake_run_to(Thing *stream, const Record *record);
GpuResult fake_run_all(int device);

// ---- cuda.c, hip.c ----

typedef struct FakeFacts {
    GpuVendor vendor;
    int arch, version;  // defaults, before anything is configured
    unsigned newest;
    unsigned host_flags;
    unsigned memory_unit;  // bytes: what an allocation is rounded up to
} FakeFacts;
extern const FakeFacts fake_facts;

GpuResult fake_inside(GpuCall call);  // 0: the thread has a device
int fake_current(void);               // its number
unsigned fake_place(void);
void fake_forget_place(void);
void fake_note_failure(GpuResult result);  // a call is about to give this
bool fake_attribute(GpuAttribute attribute, int device, int *value);
unsigned fake_memory_type(bool host);
GpuResult fake_load(const void *image, unsigned count, GpuJitOption *options, void **values,
                    const SimProgram **program);
// The block of parameters; false: it is not given as it should be.
bool fake_params(GpuFunction function, void **list, void **extra, const void **buffer,
                 size_t *size);
GpuResult fake_fault(SimFaultKind fault);

#endif
