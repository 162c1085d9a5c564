// AMD's HIP without a GPU: each thread's device, properties, code objects.
#undef FAKE_HIP
#define FAKE_HIP 1  // also where the file is looked at alone
#include <stdio.h>
#include <string.h>

#include "compile/jit/plugin.h"
#include "runtime/hip/state.h"
#include "sim/amd/amd.h"
#include "tests/fakes/gpu/state.h"

static _Thread_local int current;
static _Thread_local GpuResult last_error;

const FakeFacts fake_facts = {
    .vendor = GPU_AMD,
    .arch = 0x90a,
#ifdef FAKE_HIP_5
    .version = 50221153,
#else
    .version = 60224000,
#endif
    .newest = 5,
    .host_flags = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent,
    .memory_unit = 4};

int fake_current(void) { return current; }
unsigned fake_place(void) { return (unsigned)current; }
void fake_forget_place(void) { current = 0, last_error = 0; }
void fake_note_failure(GpuResult result) { last_error = result; }

// Every thread begins on the first device. Other code of the program must not see the last error
// that our calls leave.
GpuResult fake_inside(GpuCall call) {
    (void)call;
    return fake_state.device_count ? 0 : FAKE_NO_DEVICE;
}

bool fake_attribute(GpuAttribute attribute, int device, int *value) {
    switch (attribute) {
    case hipDeviceAttributeMaxThreadsPerBlock: *value = 1024; return true;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
        *value = fake_state.archs[device] == 0x950 ? 160 * 1024 : 64 * 1024;
        return true;
    case hipDeviceAttributeMultiprocessorCount: *value = FAKE_MULTIPROCESSORS; return true;
    case hipDeviceAttributeWarpSize:
        *value = fake_state.archs[device] >= 0x1010 ? 32 : 64;
        return true;
    case hipDeviceAttributeClockRate: *value = 1700000; return true;
    default: return false;
    }
}

unsigned fake_memory_type(bool host) {
    unsigned first = fake_state.version < 60000000 ? 0 : 1;
    return host ? first : first + 1;
}

GpuResult fake_fault(SimFaultKind fault) {
    switch (fault) {
    case SIM_FAULT_BOUNDS:
    case SIM_FAULT_READONLY:
    case SIM_FAULT_ENDED_BLOCK:
    case SIM_FAULT_ALIGN: return hipErrorIllegalAddress;
    case SIM_FAULT_ASSERT: return hipErrorAssert;
    case SIM_FAULT_TRAP:
    case SIM_FAULT_DEADLOCK:
    case SIM_FAULT_LIMIT:
    case SIM_FAULT_USE: break;
    }
    return hipErrorLaunchFailure;
}

// ---- Words, and the thread's last failure ----

const char *fake_error_name(GpuResult code) {
    fake_end(fake_begin(GPU_CALL_error_name, false));
    return hip_code(code).name;
}

const char *fake_error_text(GpuResult code) {
    fake_end(fake_begin(GPU_CALL_error_text, false));
    return hip_code(code).name ? "words of the driver" : NULL;
}

GpuResult fake_forget_error(void) {
    GpuResult r = fake_begin(GPU_CALL_forget_error, false), last = last_error;
    fake_end(0);
    last_error = 0;
    return r ? r : last;
}

// ---- The thread's device ----

GpuResult fake_get_current(int *device) {
    GpuResult r = fake_begin(GPU_CALL_get_current, true);
    if (r) return fake_end(r);
    *device = current;
    return fake_end(0);
}

GpuResult fake_set_current(int device) {
    GpuResult r = fake_begin(GPU_CALL_set_current, false);
    if (!r && (device < 0 || device >= fake_state.device_count)) r = FAKE_INVALID_DEVICE;
    if (!r) current = device;
    return fake_end(r);
}

// ---- Properties: both layouts ----

static GpuResult fill(GpuCall call, GpuProperties *properties, int device, size_t at) {
    GpuResult r = fake_begin(call, false);
    if (!r && !fake_state.ready) r = FAKE_NOT_INITIALIZED;
    if (!r && (device < 0 || device >= fake_state.device_count)) r = FAKE_INVALID_DEVICE;
    if (r) return fake_end(r);
    snprintf((char *)properties + at, HIP_PROPERTIES_NAME_SIZE, "gfx%x:sramecc+:xnack-",
             (unsigned)fake_state.archs[device]);
    return fake_end(0);
}

GpuResult fake_properties(GpuProperties *properties, int device) {
    return fill(GPU_CALL_properties, properties, device, HIP_PROPERTIES_NAME_5);
}

// ---- What the first of HIP 5 have not ----

#ifndef FAKE_HIP_5
GpuResult fake_properties_6(GpuProperties *properties, int device) {
    return fill(GPU_CALL_properties_6, properties, device, HIP_PROPERTIES_NAME_6);
}

GpuResult fake_stream_device(GpuStreamHandle stream, GpuNumber *device) {
    GpuResult r = fake_begin(GPU_CALL_stream_device, true);
    const Thing *s = r ? NULL : fake_find(stream, THING_STREAM);
    if (!s) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    *device = s->device;
    return fake_end(0);
}
#endif

// ---- Modules ----

static uint64_t field(const uint8_t *image, size_t at, size_t size) {
    uint64_t value = 0;
    memcpy(&value, image + at, size);
    return value;
}

// To the end of its sections' table, which linkers write last.
static size_t object_size(const uint8_t *image) {
    return (size_t)(field(image, 40, 8) + field(image, 58, 2) * field(image, 60, 2));
}

static GpuDisassembler disassembler(Diags *diags) {
    static Plugin *plugin;
    if (fake_state.disassemble) return (GpuDisassembler){fake_state.disassemble, NULL};
    if (!plugin) plugin = plugin_create(NULL);
    const CodegenApi *api = plugin_open(plugin, diags);
    return (GpuDisassembler){api ? api->amd_disassemble : NULL, NULL};
}

GpuResult fake_load(const void *image, unsigned count, GpuJitOption *options, void **values,
                    const SimProgram **program) {
    Fake *f = &fake_state;
    (void)options, (void)values;
    if (count || memcmp(image, "\177ELF", 4) != 0) return hipErrorInvalidKernelFile;
    if (field(image, 8, 1) + 2 > f->newest) return FAKE_INVALID_IMAGE;
    Diags *diags = diags_create(f->arena, sources_create(f->arena));
    GpuDisassembler disassemble = disassembler(diags);
    Str bytes = {image, object_size(image)};
    bytes.text = arena_text(f->arena, bytes.text, bytes.size);
    *program = disassemble.run ? amd_read(f->arena, bytes, disassemble, diags) : NULL;
    if (!*program) {
        StrBuf text = strbuf(f->arena);
        diags_text(diags, (DiagStyle){0}, &text);
        fake_problem("%s", text.text);
        return hipErrorInvalidKernelFile;
    }
    GpuTarget code = {
        .vendor = GPU_AMD, .number = (*program)->arch, .generic = (*program)->arch_generic};
    GpuTarget device = {.vendor = GPU_AMD, .number = (unsigned)f->archs[current]};
    return gpu_target_runs(code, device) ? 0 : FAKE_NO_BINARY_FOR_GPU;
}

// ---- Launches ----

// HIP looks at the places, not for the keys.
bool fake_params(GpuFunction function, void **list, void **extra, const void **buffer,
                 size_t *size) {
    (void)function;
    if (list || !extra || (uintptr_t)extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER ||
        (uintptr_t)extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
        (uintptr_t)extra[4] != HIP_LAUNCH_PARAM_END)
        return false;
    *buffer = extra[1];
    *size = *(size_t *)extra[3];
    return true;
}
