// Tensor maps of a launch: made from the views in its block of arguments, and kept.
//
// A variant with maps (MetaVariant.maps) takes them by value, so a launch needs their bytes only
// until the device has it. Making them asks the driver; a launch with the same views as an earlier
// one takes the bytes from a memo.
// Invariants: the memo's key is the views as they are in the block (address, extents, strides). One
// thread writes a memo while no thread reads it. No thread waits: a launch that finds it in use
// makes its own maps.
// Ownership: the kernel owns the memos, made at its first launch with maps, unless there is no
// memory. LaunchMaps is the caller's, in the frame of the launch.
//
//     LaunchMaps maps;
//     tilec_status s = launch_maps_begin(kernel, &launch, &maps);
//     if (s) return s;
//     s = device->api->launch(device, stream, &launch);
//     launch_maps_end(&maps);
#ifndef TILEC_RUNTIME_LAUNCH_MAPS_H
#define TILEC_RUNTIME_LAUNCH_MAPS_H

#include "base/gpu_abi.h"
#include "runtime/kernel.h"

typedef struct LaunchMaps {
    struct MapMemo *memo;  // the launch uses its bytes; NULL: `storage`
    _Alignas(GPU_MAP_ALIGN) uint8_t storage[GPU_MAPS * GPU_MAP_BYTES];
} LaunchMaps;

// Does the device have maps? If not, variants that need them are not chosen.
bool launch_has_maps(const tilec_device *device);
// Sets the launch's maps, those of its variant. If it fails, there is nothing to end.
tilec_status launch_maps_begin(tilec_kernel *kernel, RtLaunch *launch, LaunchMaps *maps);
void launch_maps_end(LaunchMaps *maps);
// The same without a memo; `storage` as in LaunchMaps.
tilec_status launch_maps_make(tilec_device *device, RtLaunch *launch, uint8_t *storage);
// Frees the memos; no thread may launch meanwhile.
void launch_maps_free(tilec_kernel *kernel);

#endif
