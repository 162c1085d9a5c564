// PoCL: OpenCL on the CPU, through the system's OpenCL library, whose functions are declared here.
// The kernels are in pocl.cl.
//
// Buffers are the bench's own arrays, and a CPU device works on them in place: nothing is copied,
// and nothing has to be mapped before other peers read the results.
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "bench/cpu/cases.h"

typedef struct ClThing *Cl;  // any handle of the library

enum { PLATFORM_NAME = 0x0902, BUILD_LOG = 0x1183, DEVICE_CPU = 2 };
enum { READ_WRITE = 1, USE_HOST_PTR = 8, PLATFORMS = 16, SOURCE_LIMIT = 1 << 20 };

struct Pocl {
    int (*clGetPlatformIDs)(unsigned room, Cl *platforms, unsigned *count);
    int (*clGetPlatformInfo)(Cl platform, unsigned what, size_t room, void *value, size_t *size);
    int (*clGetDeviceIDs)(Cl platform, uint64_t type, unsigned room, Cl *devices, unsigned *count);
    Cl (*clCreateContext)(const intptr_t *properties, unsigned count, const Cl *devices,
                          void (*notify)(const char *text, const void *, size_t, void *),
                          void *data, int *status);
    Cl (*clCreateCommandQueue)(Cl context, Cl device, uint64_t properties, int *status);
    Cl (*clCreateProgramWithSource)(Cl context, unsigned count, const char **texts,
                                    const size_t *lengths, int *status);
    int (*clBuildProgram)(Cl program, unsigned count, const Cl *devices, const char *options,
                          void (*notify)(Cl program, void *data), void *data);
    int (*clGetProgramBuildInfo)(Cl program, Cl device, unsigned what, size_t room, void *value,
                                 size_t *size);
    Cl (*clCreateKernel)(Cl program, const char *name, int *status);
    Cl (*clCreateBuffer)(Cl context, uint64_t flags, size_t size, void *host, int *status);
    int (*clSetKernelArg)(Cl kernel, unsigned index, size_t size, const void *value);
    int (*clEnqueueNDRangeKernel)(Cl queue, Cl kernel, unsigned rank, const size_t *offset,
                                  const size_t *items, const size_t *group, unsigned waits,
                                  const Cl *events, Cl *event);
    int (*clFinish)(Cl queue);
    Cl device, context, queue, program;
};

typedef struct PoclRun {
    const Pocl *cl;
    Cl kernel;
    size_t items[2], group[2];
} PoclRun;

static bool load(const OsLibrary *library, const char *name, void *pointer) {
    void *address = os_library_symbol(library, name);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}

static bool load_all(const OsLibrary *library, Pocl *cl) {
    bool good = true;
#define LOAD(name) good = load(library, #name, &cl->name) && good
    LOAD(clGetPlatformIDs);
    LOAD(clGetPlatformInfo);
    LOAD(clGetDeviceIDs);
    LOAD(clCreateContext);
    LOAD(clCreateCommandQueue);
    LOAD(clCreateProgramWithSource);
    LOAD(clBuildProgram);
    LOAD(clGetProgramBuildInfo);
    LOAD(clCreateKernel);
    LOAD(clCreateBuffer);
    LOAD(clSetKernelArg);
    LOAD(clEnqueueNDRangeKernel);
    LOAD(clFinish);
#undef LOAD
    return good;
}

// Other OpenCL platforms may be installed, too: oneDNN brings Intel's.
static bool find_device(Pocl *cl) {
    Cl platforms[PLATFORMS];
    unsigned count = 0;
    if (cl->clGetPlatformIDs(PLATFORMS, platforms, &count)) return false;
    for (unsigned i = 0; i < count && i < PLATFORMS; i++) {
        char name[256] = "";
        cl->clGetPlatformInfo(platforms[i], PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, "Portable Computing Language") == 0)
            return cl->clGetDeviceIDs(platforms[i], DEVICE_CPU, 1, &cl->device, NULL) == 0;
    }
    return false;
}

static bool build(Bench *bench, Pocl *cl) {
    Str source;
    OsError error;
    if (!os_read_file(bench->arena, "bench/cpu/pocl.cl", SOURCE_LIMIT, &source, &error)) {
        fprintf(stderr, "bench/cpu/pocl.cl: %s\n", error.text);
        return false;
    }
    int status = 0;
    cl->program =
        cl->clCreateProgramWithSource(cl->context, 1, &source.text, &source.size, &status);
    if (!status)
        status =
            cl->clBuildProgram(cl->program, 1, &cl->device, "-cl-fast-relaxed-math", NULL, NULL);
    if (!status) return true;
    char log[4096] = "";
    if (cl->program)
        cl->clGetProgramBuildInfo(cl->program, cl->device, BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "PoCL does not build bench/cpu/pocl.cl (%d): %s\n", status, log);
    return false;
}

bool pocl_start(Bench *bench, Peers *peers) {
    Pocl *cl = arena_new(bench->arena, Pocl, 1);
    int status = 0;
    if (!load_all(peers->opencl, cl) || !find_device(cl)) return false;
    cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &status);
    if (!status) cl->queue = cl->clCreateCommandQueue(cl->context, cl->device, 0, &status);
    if (status || !build(bench, cl)) return false;
    peers->pocl = cl;
    return true;
}

static int launch(const PoclRun *r) {
    int status = r->cl->clEnqueueNDRangeKernel(r->cl->queue, r->kernel, 2, NULL, r->items, r->group,
                                               0, NULL, NULL);
    return status ? status : r->cl->clFinish(r->cl->queue);
}

static void run_pocl(void *self) { launch(self); }

static int set_arg(const Pocl *cl, Cl kernel, unsigned index, const PoclArg *arg) {
    if (!arg->memory) return cl->clSetKernelArg(kernel, index, sizeof arg->number, &arg->number);
    // The library requires writable memory, even if it only reads.
    void *writable;
    memcpy(&writable, &arg->memory, sizeof writable);
    int status = 0;
    Cl buffer = cl->clCreateBuffer(cl->context, READ_WRITE | USE_HOST_PTR,
                                   (size_t)arg->count * sizeof(float), writable, &status);
    return status ? status : cl->clSetKernelArg(kernel, index, sizeof buffer, &buffer);
}

void add_pocl(Bench *bench, Row *row, const PoclJob *job) {
    const Pocl *cl = bench->peers->pocl;
    if (!cl) return;
    PoclRun *r = arena_new(bench->arena, PoclRun, 1);
    int status = 0;
    r->cl = cl;
    r->kernel = cl->clCreateKernel(cl->program, job->kernel, &status);
    for (unsigned i = 0; i < POCL_ARGS && job->args[i].given && !status; i++)
        status = set_arg(cl, r->kernel, i, &job->args[i]);
    for (int i = 0; i < 2; i++) {
        r->group[i] = job->group[i] ? (size_t)job->group[i] : 1;
        r->items[i] = job->items[i] ? (size_t)job->items[i] : 1;
    }
    // The first launch compiles it for its group size.
    if (!status) status = launch(r);
    if (status) fprintf(stderr, "PoCL does not run %s: status %d\n", job->kernel, status);
    row_add(row, "PoCL", ROLE_PEER, status ? NULL : run_pocl, r);
}
