#include "tests/support/cpu_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// Calls come one at a time: that is what is tested, too.
static void keep_line(void *user, const char *line, size_t length) {
    CpuRig *rig = user;
    if (length + 1 > sizeof rig->lines - rig->lines_size) return;
    memcpy(rig->lines + rig->lines_size, line, length);
    rig->lines_size += length;
    rig->lines[rig->lines_size++] = '\n';
}

void cpu_rig_open(CpuRig *rig, const char *name) {
    static const RtDeviceApi *const apis[] = {&cpu_device_api};
    memset(rig, 0, sizeof *rig);
    tilec_context_options options = {.size = sizeof options, .print = keep_line, .user = rig};
    assert_int_equal(rt_context_create(&options, apis, 1, &rig->context), TILEC_OK);
    assert_int_equal(tilec_device_open(rig->context, name, &rig->device), TILEC_OK);
}

void cpu_rig_close(CpuRig *rig) { tilec_context_destroy(rig->context); }

static void make_meta(CpuRigKernel *kernel) {
    kernel->variant = (MetaVariant){.entry = STR("k"), .guard = META_NO_VALUE};
    kernel->meta = (MetaKernel){.name = STR("k"),
                                .size = sizeof(CpuRigBlock),
                                .variant_count = 1,
                                .variants = &kernel->variant};
}

void cpu_rig_kernel(CpuRig *rig, CpuRigKernel *kernel, CpuEntry *entry) {
    make_meta(kernel);
    RtCpuFunction function = {CPU_ABI_VERSION, cpu_native(), entry};
    RtImage image = {RT_IMAGE_CPU_ENTRY, &function, sizeof function};
    assert_int_equal(cpu_device_api.module_load(rig->device, &image, &kernel->module), TILEC_OK);
}

void cpu_rig_host_kernel(CpuRig *rig, CpuRigKernel *kernel, RtHostRun *run, void *user) {
    make_meta(kernel);
    RtHostImage host = {run, user};
    RtImage image = {RT_IMAGE_HOST, &host, sizeof host};
    assert_int_equal(cpu_device_api.module_load(rig->device, &image, &kernel->module), TILEC_OK);
}

void cpu_rig_unload(CpuRig *rig, CpuRigKernel *kernel) {
    cpu_device_api.module_unload(rig->device, kernel->module);
}

static RtLaunch launch_of(const CpuRigKernel *kernel, const int64_t grid[3],
                          const CpuRigBlock *block) {
    return (RtLaunch){.module = kernel->module,
                      .meta = &kernel->meta,
                      .grid = {grid[0], grid[1], grid[2]},
                      .block = block};
}

tilec_status cpu_rig_launch3(CpuRig *rig, tilec_stream *stream, const CpuRigKernel *kernel,
                             const int64_t grid[3], CpuRigBlock block) {
    if (!stream) stream = rig->device->first;
    RtLaunch l = launch_of(kernel, grid, &block);
    rt_begin(rig->context);
    return cpu_device_api.launch(rig->device, stream->state, &l);
}

tilec_status cpu_rig_prepare(CpuRig *rig, const CpuRigKernel *kernel, int64_t programs) {
    CpuRigBlock block = {0};
    RtLaunch l = launch_of(kernel, (int64_t[3]){programs, 1, 1}, &block);
    rt_begin(rig->context);
    return cpu_device_api.prepare(rig->device, rig->device->first->state, &l);
}

tilec_status cpu_rig_launch(CpuRig *rig, tilec_stream *stream, const CpuRigKernel *kernel,
                            int64_t programs, CpuRigBlock block) {
    return cpu_rig_launch3(rig, stream, kernel, (int64_t[3]){programs, 1, 1}, block);
}
