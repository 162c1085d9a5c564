// The device `interp`: the reference interpreter behind the device table.
//
// Work is done while the call runs; failures wait on the stream until it is synchronised, as on
// every device. Its images are InterpImage structs in memory, made by compile/ in the same process.
// Invariants: one launch at a time per stream and per module (mutexes); buffers are host memory.
#ifndef TILEC_COMPILE_INTERP_DEVICE_H
#define TILEC_COMPILE_INTERP_DEVICE_H

#include "ir/ir.h"
#include "runtime/device.h"

typedef struct InterpImage {
    const IrFunc *func;
    bool sanitize;
} InterpImage;

extern const RtDeviceApi interp_device_api;

#endif
