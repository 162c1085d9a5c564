// Maps the drivers' failures to ours, and switches the calling thread's device.
#include <string.h>

#include "base/recover.h"
#include "runtime/gpu/state.h"

void gpu_code_name(const GpuDevice *d, GpuResult code, StrBuf *out) {
    GpuErrorInfo known = d->backend->code(code);
    const char *name = known.name ? known.name : d->backend->words(&d->driver, code, true);
    const char *text = d->backend->words(&d->driver, code, false);
    strbuf_printf(out, "%s", name ? name : "an unknown error");
    if (!known.name) strbuf_printf(out, " %u", code);
    if (text && !(name && strcmp(text, name) == 0)) strbuf_printf(out, " (%s)", text);
}

void gpu_code_text(const GpuDevice *d, GpuResult code, StrBuf *out) {
    GpuErrorInfo known = d->backend->code(code);
    gpu_code_name(d, code, out);
    if (known.help && known.help[0]) strbuf_printf(out, ": %s", known.help);
}

tilec_status gpu_code_status(const GpuDevice *d, GpuResult code) {
    return gpu_error_status(d->backend->code(code).kind);
}

// ---- Failures ----

tilec_status gpu_fail_open(tilec_context *context, const GpuDevice *d, GpuCall call,
                           GpuResult code) {
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(context);
    tilec_status s = gpu_code_status(d, code);
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    gpu_code_text(d, code, &text);
    if (d->backend->missing) d->backend->missing(d, (GpuFailed){call, code}, &text);
    s = rt_fail(context, s == TILEC_OUT_OF_MEMORY ? s : TILEC_UNAVAILABLE, "device %s:%d: %s: %s",
                d->backend->kind, d->ordinal, gpu_call_symbol(d->backend->vendor, call), text.text);
    arena_destroy(arena);
    recover_end(&r);
    return s;
}

tilec_status gpu_fail_about(const tilec_device *device, GpuCall call, GpuResult code,
                            const char *about) {
    GpuDevice *d = device->state;
    bool lost = d->backend->code(code).kind == GPU_ERROR_LOST;
    if (lost) atomic_store(&d->lost, code);
    Recovery r;
    if (RECOVER_FAILED(&r))
        return rt_fail_report(device->context, gpu_code_status(d, code), rt_report_no_memory());
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    char target[GPU_NAME_MAX];
    gpu_code_text(d, code, &text);
    if (lost)
        strbuf_printf(
            &text,
            "; the process cannot use the device any more; run the kernel on device sim:%s "
            "to see where it fails",
            gpu_target_name(d->target, target));
    tilec_status s =
        rt_fail(device->context, gpu_code_status(d, code), "device %s: %s%s: %s", device->name,
                gpu_call_symbol(d->backend->vendor, call), about, text.text);
    arena_destroy(arena);
    recover_end(&r);
    return s;
}

tilec_status gpu_fail(const tilec_device *device, GpuCall call, GpuResult code) {
    return gpu_fail_about(device, call, code, "");
}

tilec_status gpu_fail_lost(const tilec_device *device, GpuResult code) {
    const GpuDevice *d = device->state;
    Recovery r;
    if (RECOVER_FAILED(&r))
        return rt_fail_report(device->context, TILEC_UNAVAILABLE, rt_report_no_memory());
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    gpu_code_text(d, code, &text);
    tilec_status s =
        rt_fail(device->context, TILEC_UNAVAILABLE,
                "device %s was lost before: %s; start the process again", device->name, text.text);
    arena_destroy(arena);
    recover_end(&r);
    return s;
}

// ---- The calling thread's device ----

tilec_status gpu_enter(const tilec_device *device, GpuSavedDevice *saved) {
    GpuDevice *d = device->state;
    GpuResult lost = atomic_load(&d->lost);
    if (lost) return gpu_fail_lost(device, lost);
    GpuFailed failed = d->backend->enter(d, saved);
    return failed.code ? gpu_fail(device, failed.call, failed.code) : TILEC_OK;
}

void gpu_leave(const GpuDevice *d, GpuSavedDevice saved) { d->backend->leave(d, saved); }
