// Modules of the device `cuda`: PTX for the driver's compiler, or machine code. The compiler's
// messages become diagnostics.
#include <stdio.h>

#include "runtime/cuda/device.h"
#include "runtime/cuda/ptx_log.h"
#include "runtime/cuda/state.h"

enum { LOG_SIZE = 16384 };

typedef struct Loading {
    tilec_device *device;
    Arena *arena;
    char *info, *error;  // LOG_SIZE bytes each
} Loading;

static GpuResult load_image(const Loading *l, const void *image, GpuModule *handle) {
    const GpuDevice *d = l->device->state;
    l->info[0] = l->error[0] = 0;
    GpuJitOption options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *size = (void *)(uintptr_t)LOG_SIZE;
    void *values[] = {l->info, size, l->error, size};
    GpuResult r = GPU_DO(d, module_load, handle, image, 4, options, values);
    l->info[LOG_SIZE - 1] = l->error[LOG_SIZE - 1] = 0;
    return r;
}

static tilec_status fail_load(const Loading *l, GpuResult code, Str ptx) {
    const GpuDevice *d = l->device->state;
    if (cuda_code(code).kind != GPU_ERROR_UNSUPPORTED)
        return gpu_fail(l->device, GPU_CALL_module_load, code);
    Sources *sources = sources_create(l->arena);
    const SourceFile *file = ptx.size ? source_add(sources, STR("kernel.ptx"), ptx) : NULL;
    const char *help =
        code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            ? arena_printf(l->arena,
                           "the driver is one for CUDA %d.%d, and the code is newer: update it",
                           d->version / 1000, d->version % 1000 / 10)
            : NULL;
    Diags *diags = gpu_bad_code(l->device, l->arena, sources, code, help);
    ptx_log_errors(str(l->error), file, diags);
    return rt_fail_diags(l->device->context, TILEC_UNSUPPORTED, diags);
}

static tilec_status load_ptx(const Loading *l, Str ptx, GpuModule *handle) {
    const char *text = arena_text(l->arena, ptx.text, ptx.size);  // it must end in a zero
    GpuResult r = load_image(l, text, handle);
    if (r) return fail_load(l, r, (Str){text, ptx.size});
    if (l->info[0])
        rt_log(l->device->context, TILEC_NOTE, "device %s: %s", l->device->name, l->info);
    return TILEC_OK;
}

// If the code is for another architecture, or newer than the driver, the PTX is used.
static tilec_status load_cubin(const Loading *l, const RtCubinImage *image, GpuModule *handle) {
    GpuResult r = load_image(l, image->bytes.text, handle);
    if (!r) return TILEC_OK;
    if (cuda_code(r).kind != GPU_ERROR_UNSUPPORTED || !image->ptx.size)
        return fail_load(l, r, STR(""));
    rt_log(l->device->context, TILEC_NOTE, "device %s does not run the machine code (%s): its PTX",
           l->device->name, cuda_code(r).name);
    return load_ptx(l, image->ptx, handle);
}

tilec_status cuda_load(tilec_device *device, Arena *arena, const RtImage *image, RtModule *m) {
    Loading l = {.device = device, .arena = arena};
    l.info = arena_alloc(arena, LOG_SIZE);
    l.error = arena_alloc(arena, LOG_SIZE);
    if (image->kind == RT_IMAGE_PTX && image->size == sizeof(RtPtxImage)) {
        const RtPtxImage *ptx = image->data;
        tilec_status s = load_ptx(&l, ptx->text, &m->handle);
        return s ? s : gpu_module_function(device, arena, m, ptx->entry);
    }
    if (image->kind == RT_IMAGE_CUBIN && image->size == sizeof(RtCubinImage)) {
        const RtCubinImage *cubin = image->data;
        tilec_status s = load_cubin(&l, cubin, &m->handle);
        return s ? s : gpu_module_function(device, arena, m, cubin->entry);
    }
    return rt_fail(device->context, TILEC_INVALID_ARGUMENT, "device %s runs PTX and cubins only",
                   device->name);
}
