// The device `interp`: the reference interpreter, called through the device table.
//
// Work is done during the call; a failure stays with the stream until it is synchronised, as on
// every device. Its images are InterpImage structs in memory, made by compile/ in the same process.
// Invariants: one launch at a time per stream and per module (mutexes); buffers are host memory.
#ifndef TILEC_COMPILE_DEVICE_INTERP_DEVICE_H
#define TILEC_COMPILE_DEVICE_INTERP_DEVICE_H

#include "ir/ir.h"
#include "runtime/device.h"
#include "runtime/report.h"

typedef struct InterpImage {
    const IrFunc *func;
    bool sanitize;
} InterpImage;

extern const RtDeviceApi interp_device_api;

// The same for a device that shares the host's memory and runs functions of the host: `module` is
// one that interp_device_api loaded. A failure is written into the report.
tilec_status interp_host_run(void *module, tilec_device *device, const RtLaunch *launch,
                             RtReport *report);

#endif
