// Facts about devices: how many there are, and what they are.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/recover.h"
#include "runtime/context.h"

tilec_status tilec_device_count(tilec_context *context, const char *kind, uint32_t *count) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (!kind) return rt_fail(context, TILEC_INVALID_ARGUMENT, "the kind of device is NULL");
    if (!count)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "the pointer for the number is NULL");
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(context);
    const RtDeviceApi *api = rt_device_api(context, str(kind));
    tilec_status s = TILEC_OK;
    uint32_t found = 1;
    if (!api)
        s = rt_device_unknown(context, kind, str(kind));
    else if (api->count)
        s = api->count(context, &found);
    recover_end(&r);
    if (!s) *count = found;
    return s;
}

// The device's facts do not change, and their texts are handed out: they are asked for once.
static tilec_status find_info(tilec_device *device, const RtDeviceInfo **info) {
    RtDeviceInfo *known = atomic_load_explicit(&device->info, memory_order_acquire);
    if (!known) {
        RtDeviceInfo *made = calloc(1, sizeof *made);
        if (!made) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
        tilec_status s = device->api->info(device, made);
        if (!s && atomic_compare_exchange_strong(&device->info, &known, made)) {
            *info = made;
            return TILEC_OK;
        }
        free(made);  // another thread was first, or it failed
        if (s) return s;
    }
    *info = known;
    return TILEC_OK;
}

tilec_status tilec_device_describe(tilec_device *device, tilec_device_info *info) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = device->context;
    rt_begin(c);
    if (!info) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer for the facts is NULL");
    if (info->size < sizeof *info)
        return rt_fail(c, TILEC_INVALID_ARGUMENT,
                       "the size of tilec_device_info is %zu, expected at least %zu: begin with "
                       "tilec_device_info info = {sizeof info}",
                       info->size, sizeof *info);
    const RtDeviceInfo *known = NULL;
    tilec_status s = find_info(device, &known);
    if (s) return s;
    size_t size = info->size;
    memset(info, 0, size);
    *info = (tilec_device_info){.size = size,
                                .name = known->name,
                                .target = known->target,
                                .driver = known->driver,
                                .bus = known->bus,
                                .memory = known->memory,
                                .shared_memory = known->shared_memory,
                                .multiprocessors = known->multiprocessors,
                                .warp = known->warp,
                                .clock_khz = known->clock_khz};
    return TILEC_OK;
}
