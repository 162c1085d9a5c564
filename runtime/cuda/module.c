// Modules of the device `cuda`: PTX by the driver's compiler, or machine code; what that compiler
// says becomes diagnostics.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/recover.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/ptx_log.h"
#include "runtime/cuda/state.h"

enum { LOG_SIZE = 16384 };

typedef struct Loading {
    tilec_device *device;
    Arena *arena;
    char *info, *error;  // of LOG_SIZE bytes each
} Loading;

static CUresult load_image(const Loading *l, const void *image, CUmodule *handle) {
    const CudaDevice *d = l->device->state;
    l->info[0] = l->error[0] = 0;
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *size = (void *)(uintptr_t)LOG_SIZE;
    void *values[] = {l->info, size, l->error, size};
    CUresult r = d->driver.module_load(handle, image, 4, options, values);
    l->info[LOG_SIZE - 1] = l->error[LOG_SIZE - 1] = 0;
    return r;
}

// ---- What the compiler said ----

static void add_help(const tilec_device *device, Diags *diags, CUresult code) {
    const CudaDevice *d = device->state;
    const char *help = cuda_code(code).help;
    if (code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        diag_help(diags, "the driver is one for CUDA %d.%d, and the code is newer: update it",
                  d->version / 1000, d->version % 1000 / 10);
    else if (help && help[0])
        diag_help(diags, "%s", help);
}

static tilec_status fail_load(const Loading *l, CUresult code, Str ptx) {
    const CudaDevice *d = l->device->state;
    if (cuda_code(code).way != CUDA_WAY_UNABLE)
        return cuda_fail(l->device, CUDA_CALL_module_load, code);
    Sources *sources = sources_create(l->arena);
    const SourceFile *file = ptx.size ? source_add(sources, STR("kernel.ptx"), ptx) : NULL;
    Diags *diags = diags_create(l->arena, sources);
    StrBuf text = strbuf(l->arena);
    const char *name = cuda_code(code).name, *words = NULL;
    strbuf_printf(&text, "%s", name);
    if (!d->driver.get_error_string(code, &words) && words) strbuf_printf(&text, " (%s)", words);
    diag_error(diags, (Span){0}, DIAG_UNSUPPORTED, "device %s does not take the code: %s",
               l->device->name, text.text);
    add_help(l->device, diags, code);
    ptx_log_errors(str(l->error), file, diags);
    return rt_fail_diags(l->device->context, TILEC_UNSUPPORTED, diags);
}

// ---- Load, unload ----

static tilec_status load_ptx(const Loading *l, Str ptx, CUmodule *handle) {
    const char *text = arena_text(l->arena, ptx.text, ptx.size);  // it must end in a zero
    CUresult r = load_image(l, text, handle);
    if (r) return fail_load(l, r, (Str){text, ptx.size});
    if (l->info[0])
        rt_log(l->device->context, TILEC_NOTE, "device %s: %s", l->device->name, l->info);
    return TILEC_OK;
}

// Of another architecture, or newer than the driver: the PTX is for that.
static tilec_status load_cubin(const Loading *l, const RtCubinImage *image, CUmodule *handle) {
    CUresult r = load_image(l, image->bytes.text, handle);
    if (!r) return TILEC_OK;
    if (cuda_code(r).way != CUDA_WAY_UNABLE || !image->ptx.size) return fail_load(l, r, STR(""));
    rt_log(l->device->context, TILEC_NOTE, "device %s does not run the machine code (%s): its PTX",
           l->device->name, cuda_code(r).name);
    return load_ptx(l, image->ptx, handle);
}

static tilec_status load_function(const Loading *l, RtModule *m, Str entry) {
    const CudaDevice *d = l->device->state;
    const char *name = arena_text(l->arena, entry.text, entry.size);
    CUresult r = d->driver.module_function(&m->function, m->handle, name);
    if (!r) return TILEC_OK;
    d->driver.module_unload(m->handle);
    if (r == CUDA_ERROR_NOT_FOUND)
        return rt_fail(l->device->context, TILEC_INVALID_ARGUMENT,
                       "device %s: the code has no kernel '%s'", l->device->name, name);
    return cuda_fail(l->device, CUDA_CALL_module_function, r);
}

static tilec_status load_any(const Loading *l, const RtImage *image, RtModule *m) {
    if (image->kind == RT_IMAGE_PTX && image->size == sizeof(RtPtxImage)) {
        const RtPtxImage *ptx = image->data;
        tilec_status s = load_ptx(l, ptx->text, &m->handle);
        return s ? s : load_function(l, m, ptx->entry);
    }
    if (image->kind == RT_IMAGE_CUBIN && image->size == sizeof(RtCubinImage)) {
        const RtCubinImage *cubin = image->data;
        tilec_status s = load_cubin(l, cubin, &m->handle);
        return s ? s : load_function(l, m, cubin->entry);
    }
    return rt_fail(l->device->context, TILEC_INVALID_ARGUMENT, "device %s runs PTX and cubins only",
                   l->device->name);
}

// In the driver's context, which is left before memory is said to have run out.
static tilec_status load_inside(const Loading *l, const RtImage *image, RtModule *m) {
    const CudaDevice *d = l->device->state;
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        if (m->handle) d->driver.module_unload(m->handle);
        cuda_leave(d);
        os_out_of_memory();
    }
    tilec_status s = load_any(l, image, m);
    recover_end(&r);
    return s;
}

tilec_status cuda_module_load(tilec_device *device, const RtImage *image, RtModule **module) {
    RtModule *m = recover_new(sizeof *m);
    Loading l = {.device = device, .arena = arena_create()};
    l.info = arena_alloc(l.arena, LOG_SIZE);
    l.error = arena_alloc(l.arena, LOG_SIZE);
    tilec_status s = cuda_enter(device);
    if (!s) {
        s = load_inside(&l, image, m);
        cuda_leave(device->state);
    }
    arena_destroy(l.arena);
    if (s)
        recover_free(m);
    else
        *module = m;
    return s;
}

// What was launched ends first; its failed asserts are told with the texts that go now.
void cuda_module_unload(tilec_device *device, RtModule *module) {
    CudaDevice *d = device->state;
    bool inside = !d->driver.push_current(d->context);
    bool fine = inside && !d->driver.synchronize();
    os_mutex_lock(d->lock);
    for (CudaStream *s = d->streams; s; s = s->next) {
        if (fine) cuda_spots_collect(s);
        cuda_spots_free(d, s, module);
    }
    os_mutex_unlock(d->lock);
    if (inside) d->driver.module_unload(module->handle);
    if (inside) cuda_leave(d);
    recover_free(module);
}
