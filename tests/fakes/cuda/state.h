// What the files of the fake libcuda share.
//
// Invariants: `lock` is held between fake_begin and fake_end; a Thing is of one kind for ever.
// Ownership: things are freed by reset.
//
//     CUresult r = fake_begin(CUDA_CALL_mem_free, true);
//     if (!r) …
//     return fake_end(r);
#ifndef TILEC_TESTS_FAKES_CUDA_STATE_H
#define TILEC_TESTS_FAKES_CUDA_STATE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "runtime/cuda/driver.h"
#include "sim/machine/machine.h"
#include "tests/fakes/cuda/fake.h"

#define FAKE_EXPORT __attribute__((visibility("default")))
#define CUDA_CALL(name, symbol, params) FAKE_EXPORT CUresult symbol params;
#include "runtime/cuda/driver.def"
#undef CUDA_CALL

enum { FAKE_DEVICES = 4, FAKE_STACK = 16 };

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

typedef enum WorkKind { WORK_LAUNCH, WORK_COPY, WORK_RECORD, WORK_WAIT } WorkKind;
typedef struct Work {
    WorkKind kind;
    struct Thing *function;
    uint32_t grid[3], block[3], shared;
    uint8_t *params;
    uint64_t to, from;  // addresses of the device or the host
    size_t size;
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
    CUresult broken;
    unsigned allocations;
    VEC(HostBlock) host;
} FakeDevice;

typedef struct Fake {
    Arena *arena;
    bool ready;
    int device_count, arch, version;
    unsigned ptx;
    FakeDevice devices[FAKE_DEVICES];
    Thing *things;
    unsigned calls[CUDA_CALLS];
    unsigned cubins;
    int fail_call;
    CUresult fail_code;
    unsigned fail_skip;
    StrBuf problems;
    uint64_t clock;
} Fake;

extern Fake fake_state;

// Counts the call; `inside`: it needs a current context. Not zero: what the call gives.
CUresult fake_begin(CudaCall call, bool inside);
CUresult fake_end(CUresult result);
FakeDevice *fake_device(void);  // of the current context
int fake_current(void);         // its number
void fake_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));
Thing *fake_make(ThingKind kind);
// The thing behind a handle, alive, of any context; else NULL.
Thing *fake_find(const void *handle, ThingKind kind);
// The thing behind a handle, of this kind, alive, of the current context; else NULL and a problem.
Thing *fake_check(const void *handle, ThingKind kind);

// queue.c
void fake_push(Thing *stream, Work work);
CUresult fake_run(Thing *stream);  // all of it
CUresult fake_run_to(Thing *stream, const Record *record);
CUresult fake_run_all(int device);

#endif
