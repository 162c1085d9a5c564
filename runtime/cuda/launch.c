// Launches of the device `cuda`: shared memory that must be requested, and clusters.
#include "runtime/cuda/state.h"

enum {
    SHARED_PLAIN = 48 * 1024,
    CLUSTERS_FROM = 90,  // first architecture with clusters
    CLUSTER_MAX = 8      // programs of a cluster that every device allows
};

// Shared memory above what all devices have must be requested, once.
tilec_status cuda_allow(const tilec_device *device, const RtLaunch *l) {
    const GpuDevice *d = device->state;
    uint32_t wanted = l->meta->variants[l->variant].shared_bytes;
    if (wanted <= SHARED_PLAIN || wanted <= atomic_load(&l->module->shared)) return TILEC_OK;
    GpuResult r = GPU_DO(d, function_set, l->module->function,
                         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)wanted);
    if (r) return gpu_fail(device, GPU_CALL_function_set, r);
    atomic_store(&l->module->shared, wanted);
    return TILEC_OK;
}

// The option `ctas` asks that this many programs run together as a cluster. It is a hint: it is
// ignored if the device or driver has no clusters, or the grid is not divisible.
static bool has_clusters(const GpuDevice *d, const RtLaunch *l) {
    int32_t ctas = l->meta->variants[l->variant].ctas;
    return ctas > 1 && ctas <= CLUSTER_MAX && d->target.number >= CLUSTERS_FROM &&
           d->driver.launch_kernel_ex && l->grid[0] % ctas == 0;
}

static tilec_status launch_clusters(const tilec_device *device, const RtLaunch *l,
                                    GpuLaunchConfig *config, GpuParams params) {
    const GpuDevice *d = device->state;
    GpuLaunchAttribute cluster = {
        .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.cluster = {(unsigned)l->meta->variants[l->variant].ctas, 1, 1}};
    config->attrs = &cluster;
    config->numAttrs = 1;
    GpuResult r =
        GPU_DO(d, launch_kernel_ex, config, l->module->function, params.list, params.extra);
    return r ? gpu_fail(device, GPU_CALL_launch_kernel_ex, r) : TILEC_OK;
}

tilec_status cuda_launch(const tilec_device *device, const RtLaunch *l, GpuLaunchConfig *config,
                         GpuParams params) {
    return has_clusters(device->state, l) ? launch_clusters(device, l, config, params)
                                          : gpu_launch_plain(device, l, config, params);
}
