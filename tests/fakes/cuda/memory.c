// The fake's devices and memory.
#include <stdio.h>
#include <string.h>

#include "tests/fakes/cuda/state.h"

enum { HOST_MAX = 1 << 21 };  // bytes of one piece

CUresult cuInit(unsigned flags) {
    CUresult r = fake_begin(CUDA_CALL_init, false);
    if (!r && flags) r = CUDA_ERROR_INVALID_VALUE;
    if (!r && !fake_state.device_count) r = CUDA_ERROR_NO_DEVICE;
    if (!r) fake_state.ready = true;
    return fake_end(r);
}

CUresult cuDriverGetVersion(int *version) {
    CUresult r = fake_begin(CUDA_CALL_driver_get_version, false);
    *version = fake_state.version;
    return fake_end(r);
}

CUresult cuGetErrorName(CUresult code, const char **name) {
    CUresult r = fake_begin(CUDA_CALL_get_error_name, false);
    *name = cuda_code(code).name;
    return fake_end(r ? r : *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGetErrorString(CUresult code, const char **text) {
    CUresult r = fake_begin(CUDA_CALL_get_error_string, false);
    *text = cuda_code(code).name ? "words of the driver" : NULL;
    return fake_end(r ? r : *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

static CUresult begin_ready(CudaCall call) {
    CUresult r = fake_begin(call, false);
    return r ? r : fake_state.ready ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuDeviceGetCount(int *count) {
    CUresult r = begin_ready(CUDA_CALL_device_get_count);
    if (!r) *count = fake_state.device_count;
    return fake_end(r);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    CUresult r = begin_ready(CUDA_CALL_device_get);
    if (!r && (ordinal < 0 || ordinal >= fake_state.device_count)) r = CUDA_ERROR_INVALID_DEVICE;
    if (!r) *device = ordinal;
    return fake_end(r);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    CUresult r = begin_ready(CUDA_CALL_device_get_name);
    if (!r) snprintf(name, (size_t)size, "Fake %d", device);
    return fake_end(r);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    CUresult r = begin_ready(CUDA_CALL_device_get_attribute);
    if (!r && (device < 0 || device >= fake_state.device_count)) r = CUDA_ERROR_INVALID_DEVICE;
    if (r) return fake_end(r);
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = fake_state.arch / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = fake_state.arch % 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 163 * 1024; break;
    default: return fake_end(CUDA_ERROR_INVALID_VALUE);
    }
    return fake_end(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize(void) {
    CUresult r = fake_begin(CUDA_CALL_synchronize, true);
    return fake_end(r ? r : fake_run_all(fake_current()));
}

// ---- Memory ----

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
    CUresult r = fake_begin(CUDA_CALL_mem_alloc, true);
    if (!r && !size) r = CUDA_ERROR_INVALID_VALUE;
    uint64_t at = 0;
    if (!r && (size > (size_t)1 << 32 ||
               !sim_memory_alloc(fake_device()->memory, size + size % 2, "m", &at)))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    static const uint8_t zero = 0;  // drivers give out whole words
    if (!r && size % 2) sim_memory_write(fake_device()->memory, at + size, &zero, 1);
    if (r) return fake_end(r);
    fake_device()->allocations++;
    *address = at;
    return fake_end(CUDA_SUCCESS);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    CUresult r = fake_begin(CUDA_CALL_mem_free, true);
    if (!r) r = fake_run_all(fake_current());
    if (r) return fake_end(r);
    if (!sim_memory_free(fake_device()->memory, address)) {
        fake_problem("memory freed that is not there");
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    }
    fake_device()->allocations--;
    return fake_end(CUDA_SUCCESS);
}

// Memory of the machine's, whose bytes the host can reach: both have it.
CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    CUresult r = fake_begin(CUDA_CALL_host_alloc, true);
    if (!r && flags != 3) r = CUDA_ERROR_INVALID_VALUE;
    if (r) return fake_end(r);
    FakeDevice *d = fake_device();
    HostBlock b = {.size = size};
    if (size > HOST_MAX || !sim_memory_alloc(d->memory, size, "h", &b.address))
        return fake_end(CUDA_ERROR_OUT_OF_MEMORY);
    static const uint8_t zeros[256];
    for (size_t at = 0; at < size; at += sizeof zeros)
        sim_memory_write(d->memory, b.address + at, zeros,
                         size - at < sizeof zeros ? size - at : sizeof zeros);
    b.bytes = sim_memory_find(d->memory, b.address, size)->bytes;
    vec_push(fake_state.arena, &d->host, b);
    *memory = b.bytes;
    return fake_end(CUDA_SUCCESS);
}

static HostBlock *find_host(const void *memory) {
    FakeDevice *d = fake_device();
    for (size_t i = 0; i < d->host.count; i++)
        if (d->host.data[i].bytes == memory && !d->host.data[i].dead) return &d->host.data[i];
    return NULL;
}

CUresult cuMemFreeHost(void *memory) {
    CUresult r = fake_begin(CUDA_CALL_host_free, true);
    if (r) return fake_end(r);
    HostBlock *b = find_host(memory);
    if (!b) {
        fake_problem("memory of the host freed that is not there");
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    }
    b->dead = true;
    sim_memory_free(fake_device()->memory, b->address);
    return fake_end(CUDA_SUCCESS);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags) {
    CUresult r = fake_begin(CUDA_CALL_host_address, true);
    const HostBlock *b = r || flags ? NULL : find_host(memory);
    if (!r && !b) r = CUDA_ERROR_INVALID_VALUE;
    if (!r) *address = b->address;
    return fake_end(r);
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr pointer) {
    CUresult r = fake_begin(CUDA_CALL_pointer_get_attribute, true);
    if (!r && attribute != CU_POINTER_ATTRIBUTE_MEMORY_TYPE) r = CUDA_ERROR_INVALID_VALUE;
    if (r) return fake_end(r);
    unsigned type = 2;
    if (find_host((const void *)(uintptr_t)pointer))
        type = CU_MEMORYTYPE_HOST;
    else if (!sim_memory_find(fake_device()->memory, pointer, 1))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    *(unsigned *)value = type;
    return fake_end(CUDA_SUCCESS);
}

static CUresult copy(CudaCall call, uint64_t to, uint64_t from, size_t size, CUstream stream) {
    CUresult r = fake_begin(call, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    if (!r && !s) r = CUDA_ERROR_INVALID_HANDLE;
    if (!r && !size) r = CUDA_ERROR_INVALID_VALUE;
    bool host_to = call == CUDA_CALL_copy_to_host, host_from = call == CUDA_CALL_copy_to_device;
    if (!r && (sim_address_is_global(to) == host_to || sim_address_is_global(from) == host_from)) {
        fake_problem("%s: memory of the wrong side", cuda_call_symbol(call));
        r = CUDA_ERROR_INVALID_VALUE;
    }
    if (!r) fake_push(s, (Work){.kind = WORK_COPY, .to = to, .from = from, .size = size});
    return fake_end(r);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    return copy(CUDA_CALL_copy_to_device, to, (uint64_t)(uintptr_t)from, size, stream);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy(CUDA_CALL_copy_to_host, (uint64_t)(uintptr_t)to, from, size, stream);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy(CUDA_CALL_copy_within, to, from, size, stream);
}
