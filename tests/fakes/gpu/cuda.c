// NVIDIA's driver without a GPU: contexts, PTX, attributes, clusters, tensor maps.
#include <stdio.h>
#include <string.h>

#include "runtime/cuda/state.h"
#include "sim/ptx/ptx.h"
#include "target/gpu_map.h"
#include "tests/fakes/gpu/state.h"

enum { STACK = 16, SHARED_MAX = 163 * 1024 };

static _Thread_local Thing *stack[STACK];
static _Thread_local unsigned depth;

const FakeFacts fake_facts = {.vendor = GPU_NVIDIA,
                              .arch = 80,
                              .version = 12020,
                              .newest = 83,
                              .host_flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP,
                              .memory_unit = 2};

int fake_current(void) { return depth ? stack[depth - 1]->device : 0; }
unsigned fake_place(void) { return depth; }
void fake_forget_place(void) { depth = 0; }
void fake_note_failure(GpuResult result) { (void)result; }

GpuResult fake_inside(GpuCall call) {
    if (depth && !stack[depth - 1]->dead) return 0;
    fake_problem("%s without a context", fake_symbol(call));
    return CUDA_ERROR_INVALID_CONTEXT;
}

bool fake_attribute(GpuAttribute attribute, int device, int *value) {
    int arch = fake_state.archs[device];
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = arch / 10; return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = arch % 10; return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = SHARED_MAX; return true;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = FAKE_MULTIPROCESSORS; return true;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; return true;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1410000; return true;
    default: return false;
    }
}

unsigned fake_memory_type(bool host) { return host ? CU_MEMORYTYPE_HOST : 2; }

GpuResult fake_fault(SimFaultKind fault) {
    switch (fault) {
    case SIM_FAULT_BOUNDS:
    case SIM_FAULT_ENDED_BLOCK:
    case SIM_FAULT_READONLY: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case SIM_FAULT_ALIGN: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case SIM_FAULT_ASSERT: return CUDA_ERROR_ASSERT;
    case SIM_FAULT_TRAP:
    case SIM_FAULT_DEADLOCK:
    case SIM_FAULT_LIMIT:
    case SIM_FAULT_USE: break;
    }
    return CUDA_ERROR_LAUNCH_FAILED;
}

// ---- Words ----

GpuResult fake_get_error_name(GpuResult code, const char **name) {
    GpuResult r = fake_begin(GPU_CALL_get_error_name, false);
    *name = cuda_code(code).name;
    return fake_end(r ? r : *name ? 0 : FAKE_INVALID_VALUE);
}

GpuResult fake_get_error_string(GpuResult code, const char **text) {
    GpuResult r = fake_begin(GPU_CALL_get_error_string, false);
    *text = cuda_code(code).name ? "words of the driver" : NULL;
    return fake_end(r ? r : *text ? 0 : FAKE_INVALID_VALUE);
}

// ---- Contexts ----

GpuResult fake_primary_retain(GpuContext *context, GpuNumber device) {
    GpuResult r = fake_begin(GPU_CALL_primary_retain, false);
    if (!r && !fake_state.ready) r = FAKE_NOT_INITIALIZED;
    if (!r && (device < 0 || device >= fake_state.device_count)) r = FAKE_INVALID_DEVICE;
    if (r) return fake_end(r);
    FakeDevice *d = &fake_state.devices[device];
    if (!d->retained++) {
        d->context = fake_make(THING_CONTEXT);
        d->context->device = device;
        fake_memory(d);
    }
    *context = (GpuContext)d->context;
    return fake_end(0);
}

GpuResult fake_primary_release(GpuNumber device) {
    GpuResult r = fake_begin(GPU_CALL_primary_release, false);
    if (r) return fake_end(r);
    FakeDevice *d = &fake_state.devices[device];
    if (!d->retained) fake_problem("a context released too often");
    if (d->retained && !--d->retained) d->context->dead = true;
    return fake_end(0);
}

GpuResult fake_push_current(GpuContext context) {
    GpuResult r = fake_begin(GPU_CALL_push_current, false);
    if (r) return fake_end(r);
    Thing *t = fake_check(context, THING_CONTEXT);
    if (!t || depth == STACK) return fake_end(FAKE_INVALID_CONTEXT);
    stack[depth++] = t;
    return fake_end(0);
}

GpuResult fake_pop_current(GpuContext *context) {
    GpuResult r = fake_begin(GPU_CALL_pop_current, false);
    if (!depth) return fake_end(FAKE_INVALID_CONTEXT);
    *context = (GpuContext)stack[--depth];
    return fake_end(r);
}

GpuResult fake_stream_context(GpuStreamHandle stream, GpuContext *context) {
    GpuResult r = fake_begin(GPU_CALL_stream_context, true);
    const Thing *s = r ? NULL : fake_find(stream, THING_STREAM);
    if (!s) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    *context = (GpuContext)fake_state.devices[s->device].context;
    return fake_end(0);
}

// ---- Modules ----

static GpuResult read_ptx(const char *text, char *log, size_t log_size,
                          const SimProgram **program) {
    Fake *f = &fake_state;
    Sources *sources = sources_create(f->arena);
    Diags *diags = diags_create(f->arena, sources);
    Str copy = {arena_text(f->arena, text, strlen(text)), strlen(text)};
    *program = ptx_read(f->arena, source_add(sources, STR("ptx"), copy), diags);
    if (!*program) {
        const Diag *d = diags_get(diags, 0);
        snprintf(log, log_size,
                 "ptxas application ptx input, line %u; error   : %.*s\n"
                 "ptxas fatal   : Ptx assembly aborted due to errors",
                 source_line(sources, d->span.begin).line, STR_ARG(d->text));
        return CUDA_ERROR_INVALID_PTX;
    }
    if ((*program)->version > f->newest) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    unsigned arch = (unsigned)f->archs[fake_current()];
    bool runs = (*program)->arch_a ? (*program)->arch == arch : (*program)->arch <= arch;
    return runs ? 0 : FAKE_NO_BINARY_FOR_GPU;
}

GpuResult fake_load(const void *image, unsigned count, GpuJitOption *options, void **values,
                    const SimProgram **program) {
    char *log = NULL, none[1];
    size_t log_size = 0, head = strlen(FAKE_CUBIN);
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) log = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) log_size = (size_t)values[i];
    }
    if (strncmp(image, FAKE_CUBIN, head) == 0)
        image = (const char *)image + head, fake_state.cubins++;
    else if (memcmp(image, "\177ELF", 4) == 0)
        return FAKE_NO_BINARY_FOR_GPU;
    return read_ptx(image, log ? log : none, log ? log_size : 1, program);
}

GpuResult fake_function_set(GpuFunction function, GpuFunctionAttribute attribute, int value) {
    GpuResult r = fake_begin(GPU_CALL_function_set, true);
    Thing *t = r ? NULL : fake_check(function, THING_FUNCTION);
    if (!t) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > SHARED_MAX)
        return fake_end(FAKE_INVALID_VALUE);
    t->shared_max = (uint32_t)value;
    return fake_end(0);
}

// ---- Launches ----

// ptxas places parameters from an address on that is a multiple of 16 only, and a buffer begins
// there. One that is aligned to more is further on, by a distance that only the driver knows.
static bool fits_in_buffer(const SimKernel *k) {
    enum { ALIGN = 16 };
    for (uint32_t i = 0; i < k->param_count; i++)
        if (k->params[i].align > ALIGN) return false;
    return true;
}

bool fake_params(GpuFunction function, void **list, void **extra, const void **buffer,
                 size_t *size) {
    const Thing *t = fake_check(function, THING_FUNCTION);
    if (!t || (list && extra)) return false;
    if (list) {
        *buffer = t->kernel->param_count == 1 ? list[0] : NULL;
        *size = t->kernel->param_bytes;
        return *buffer != NULL;
    }
    if (!fits_in_buffer(t->kernel)) {
        fake_problem("a buffer for parameters that are aligned to more than 16 bytes");
        return false;
    }
    for (size_t i = 0; extra && (uintptr_t)extra[i] != CU_LAUNCH_PARAM_END_AS_INT; i += 2) {
        if ((uintptr_t)extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT) *buffer = extra[i + 1];
        if ((uintptr_t)extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
            *size = *(size_t *)extra[i + 1];
    }
    return *buffer != NULL;
}

#ifndef FAKE_CUDA_11

// ---- Tensor maps ----

// A requirement of cuda.h that gpu_map_encode does not check, and that is not met; NULL: all are.
static const char *map_fault(const void *map, GpuTensorType type, GpuTensorInterleave interleave,
                             GpuTensorSwizzle swizzle, GpuTensorPromotion promotion,
                             GpuTensorFill fill) {
    bool real = type == GPU_MAP_F16 || type == GPU_MAP_BF16 || type == GPU_MAP_F32 ||
                type == GPU_MAP_F64 || type > GPU_MAP_BF16;
    if (fake_state.archs[fake_current()] < 90) return "the device has none";
    if ((uintptr_t)map % 64) return "its own address is a multiple of 64";
    if (interleave) return "elements are not interleaved here";
    if (swizzle > GPU_MAP_SWIZZLE_128) return "the swizzle is unknown";
    if (promotion > 3) return "the promotion is unknown";
    if (fill > 1) return "the fill is unknown";
    return fill && !real ? "only real numbers have a NaN" : NULL;
}

GpuResult fake_encode_map(GpuTensorMap *map, GpuTensorType type, uint32_t rank, void *address,
                          const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                          const uint32_t *steps, GpuTensorInterleave interleave,
                          GpuTensorSwizzle swizzle, GpuTensorPromotion promotion,
                          GpuTensorFill fill) {
    GpuResult r = fake_begin(GPU_CALL_encode_map, true);
    if (r) return fake_end(r);
    GpuMapFacts f = {.type = (GpuMapType)type,
                     .rank = rank,
                     .address = (uint64_t)(uintptr_t)address,
                     .swizzle = (GpuMapSwizzle)swizzle,
                     .l2 = promotion ? 32u << promotion : 0,
                     .nan = fill != 0};
    for (uint32_t i = 0; i < rank && i < GPU_MAP_RANK; i++) {
        f.dims[i] = dims[i], f.box[i] = box[i], f.steps[i] = steps[i];
        if (i) f.strides[i - 1] = strides[i - 1];
    }
    const char *wrong = map_fault(map, type, interleave, swizzle, promotion, fill);
    if (!wrong) wrong = gpu_map_encode(&f, map);
    if (!wrong) return fake_end(0);
    fake_problem("a tensor map that cannot be: %s", wrong);
    return fake_end(FAKE_INVALID_VALUE);
}

// Clusters are all that is known of attributes.
GpuResult fake_launch_kernel_ex(const GpuLaunchConfig *config, GpuFunction function, void **params,
                                void **extra) {
    GpuResult r = fake_begin(GPU_CALL_launch_kernel_ex, true);
    for (unsigned i = 0; !r && i < config->numAttrs; i++) {
        const GpuLaunchAttribute *a = &config->attrs[i];
        const unsigned *c = a->value.cluster;
        bool fits = a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && c[0] && c[0] <= 8 &&
                    c[1] == 1 && c[2] == 1 && config->gridDimX % c[0] == 0;
        if (!fits || fake_state.archs[fake_current()] < 90) {
            fake_problem("attributes that no launch can have");
            r = FAKE_INVALID_VALUE;
        }
    }
    const void *block = NULL;
    size_t size = 0;
    if (!r && !fake_params(function, params, extra, &block, &size)) r = FAKE_INVALID_VALUE;
    return fake_end(r ? r : fake_push_launch(config, function, block, size));
}

#endif
