// The driver's failures as ours, and its contexts.
#include <stdio.h>

#include "base/recover.h"
#include "runtime/cuda/state.h"

void cuda_code_text(const CudaDriver *driver, CUresult code, StrBuf *out) {
    CudaCode known = cuda_code(code);
    const char *name = known.name, *text = NULL;
    if (!name && (driver->get_error_name(code, &name) || !name)) name = "an unknown error";
    strbuf_printf(out, "%s", name);
    if (!known.name) strbuf_printf(out, " %u", code);
    if (!driver->get_error_string(code, &text) && text) strbuf_printf(out, " (%s)", text);
    if (known.help && known.help[0]) strbuf_printf(out, ": %s", known.help);
}

tilec_status cuda_fail_about(const tilec_device *device, CudaCall call, CUresult code,
                             const char *about) {
    CudaDevice *d = device->state;
    if (cuda_code(code).way == CUDA_WAY_LOST) atomic_store(&d->lost, code);
    Recovery r;
    if (RECOVER_FAILED(&r))
        return rt_fail_report(device->context, cuda_code_status(code), rt_report_no_memory());
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    cuda_code_text(&d->driver, code, &text);
    if (cuda_code(code).way == CUDA_WAY_LOST)
        strbuf_printf(&text,
                      "; the process can use the device no more; run the kernel on device "
                      "sim:sm_%u to see where it fails",
                      d->target.number);
    tilec_status s = rt_fail(device->context, cuda_code_status(code), "device %s: %s%s: %s",
                             device->name, cuda_call_symbol(call), about, text.text);
    arena_destroy(arena);
    recover_end(&r);
    return s;
}

tilec_status cuda_fail(const tilec_device *device, CudaCall call, CUresult code) {
    return cuda_fail_about(device, call, code, "");
}

static tilec_status fail_lost(const tilec_device *device, CUresult code) {
    const CudaDevice *d = device->state;
    Recovery r;
    if (RECOVER_FAILED(&r))
        return rt_fail_report(device->context, TILEC_UNAVAILABLE, rt_report_no_memory());
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    cuda_code_text(&d->driver, code, &text);
    tilec_status s =
        rt_fail(device->context, TILEC_UNAVAILABLE,
                "device %s was lost before: %s; start the process again", device->name, text.text);
    arena_destroy(arena);
    recover_end(&r);
    return s;
}

tilec_status cuda_enter(const tilec_device *device) {
    CudaDevice *d = device->state;
    CUresult lost = atomic_load(&d->lost);
    if (lost) return fail_lost(device, lost);
    CUresult r = d->driver.push_current(d->context);
    return r ? cuda_fail(device, CUDA_CALL_push_current, r) : TILEC_OK;
}

void cuda_leave(const CudaDevice *d) {
    CUcontext ours;
    d->driver.pop_current(&ours);
}
