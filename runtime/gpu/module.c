// Modules of a GPU driver.
#include <stdio.h>
#include <stdlib.h>

#include "base/recover.h"
#include "runtime/gpu/state.h"

Diags *gpu_bad_code(const tilec_device *device, Arena *arena, Sources *sources, GpuResult code,
                    const char *help) {
    const GpuDevice *d = device->state;
    Diags *diags = diags_create(arena, sources);
    StrBuf text = strbuf(arena);
    gpu_code_name(d, code, &text);
    diag_error(diags, (Span){0}, DIAG_UNSUPPORTED, "device %s does not take the code: %s",
               device->name, text.text);
    if (!help) help = d->backend->code(code).help;
    if (help && help[0]) diag_help(diags, "%s", help);
    return diags;
}

tilec_status gpu_module_function(tilec_device *device, Arena *arena, RtModule *m, Str entry) {
    const GpuDevice *d = device->state;
    const char *name = arena_text(arena, entry.text, entry.size);
    GpuResult r = GPU_DO(d, module_function, &m->function, m->handle, name);
    if (!r) return TILEC_OK;
    GPU_DO(d, module_unload, m->handle);
    m->handle = NULL;
    if (r == d->backend->numbers.not_found)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "device %s: the code has no kernel '%s'", device->name, name);
    return gpu_fail(device, GPU_CALL_module_function, r);
}

// Runs in the device's context, which is left before running out of memory is reported.
static tilec_status load_inside(tilec_device *device, GpuSavedDevice saved, Arena *arena,
                                const RtImage *image, RtModule *m) {
    const GpuDevice *d = device->state;
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        if (m->handle) GPU_DO(d, module_unload, m->handle);
        gpu_leave(d, saved);
        os_out_of_memory();
    }
    tilec_status s = d->backend->load(device, arena, image, m);
    recover_end(&r);
    return s;
}

tilec_status gpu_module_load(tilec_device *device, const RtImage *image, RtModule **module) {
    RtModule *m = recover_new(sizeof *m);
    Arena *arena = arena_create();
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (!s) {
        s = load_inside(device, saved, arena, image, m);
        gpu_leave(device->state, saved);
    }
    arena_destroy(arena);
    if (!s) {
        *module = m;
        return TILEC_OK;
    }
    recover_free(m->image);
    recover_free(m);
    return s;
}

// Waits for launches first; their failed asserts are reported with texts that are freed here.
void gpu_module_unload(tilec_device *device, RtModule *module) {
    GpuDevice *d = device->state;
    GpuSavedDevice saved;
    bool inside = !d->backend->enter(d, &saved).code;
    bool fine = inside && !gpu_result(d, d->driver.synchronize());
    os_mutex_lock(d->lock);
    for (GpuStream *s = d->streams; s; s = s->next) {
        if (fine) gpu_report_slots_collect(s);
        gpu_report_slots_free(d, s, module);
    }
    os_mutex_unlock(d->lock);
    if (inside) GPU_DO(d, module_unload, module->handle);
    if (inside) gpu_leave(d, saved);
    recover_free(module->image);
    recover_free(module);
}
