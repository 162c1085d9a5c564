// Contexts of the runtime without the compiler: libtilec_rt alone has this file.
#include "base/recover.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/hip/device.h"

tilec_status tilec_context_create(const tilec_context_options *options, tilec_context **context) {
    static const RtDeviceApi *const apis[] = {&cpu_device_api, &cuda_device_api, &hip_device_api};
    if (!context) return TILEC_INVALID_ARGUMENT;
    Recovery r;
    if (RECOVER_FAILED(&r)) return TILEC_OUT_OF_MEMORY;
    tilec_status s = rt_context_create(options, apis, sizeof apis / sizeof *apis, context);
    recover_end(&r);
    return s;
}
