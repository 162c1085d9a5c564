#include "runtime/kernel.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/recover.h"
#include "runtime/context.h"
#include "runtime/launch_maps.h"
#include "runtime/launch_memo.h"
#include "runtime/values.h"
#include "target/cpu.h"

void rt_kernel_end(tilec_kernel *kernel) {
    launch_memos_free(kernel);
    launch_maps_free(kernel);
    if (kernel->function) kernel->function_destroy(kernel->function);
    arena_destroy(kernel->texts);
}

void tilec_kernel_destroy(tilec_kernel *kernel) {
    if (!kernel || kernel->of_library) return;
    rt_disown(kernel->context, &kernel->owned);
    rt_kernel_end(kernel);
    kernel->destroy(kernel);
    recover_free(kernel);
}

void rt_kernel_adopt(tilec_kernel *kernel) {
    rt_own(kernel->context, &kernel->device->kernels, &kernel->owned);
}

tilec_status rt_kernel_module(tilec_kernel *kernel, const RtLoaded *loaded, uint32_t variant,
                              RtModule **module) {
    *module = atomic_load_explicit(&loaded->modules[variant], memory_order_acquire);
    return *module ? TILEC_OK : kernel->prepare(kernel, loaded, variant, module);
}

static tilec_status units_of(void *user, uint32_t variant, uint64_t *units) {
    const RtUnits *u = user;
    tilec_device *device = u->kernel->device;
    RtLaunch launch = {.meta = u->loaded->meta, .variant = variant};
    tilec_status s = rt_kernel_module(u->kernel, u->loaded, variant, &launch.module);
    return s || !device->api->units ? s : device->api->units(device, &launch, units);
}

void rt_kernel_units(RtUnits *units, struct LaunchPlan *plan) {
    plan->units = units_of;
    plan->user = units;
}

typedef enum What { CALL_LAUNCH, CALL_PREPARE } What;

typedef struct Call {
    What what;
    tilec_kernel *kernel;
    tilec_stream *stream;
    const LaunchOverride *override;
    LaunchGiven given;
} Call;

static void log_unmapped(tilec_device *device) {
    if (atomic_exchange(&device->maps_missed, true)) return;
    rt_log(device->context, TILEC_NOTE,
           "device %s has no tensor maps, because its driver cannot make them: kernels run without "
           "them; a newer driver makes them faster",
           device->name);
}

// None changes the code, even of a kernel whose types are known.
static bool any_none(const tilec_arg *args, size_t count) {
    for (size_t i = 0; count <= LAUNCH_MAX_ARGS && i < count; i++)
        if (args[i].kind == TILEC_ARG_NONE) return true;
    return false;
}

// The slow path: chooses the code and makes all checks that launch_recall could skip.
static tilec_status prepare_whole(const Call *call, const tilec_arg *args, LaunchPlan *plan,
                                  const RtLoaded **loaded) {
    tilec_kernel *kernel = call->kernel;
    size_t count = call->given.count;
    bool own_grid = !call->override, settled = true, waits = call->what == CALL_PREPARE;
    tilec_status s = kernel->tune && own_grid
                         ? kernel->tune(kernel, call->stream, args, count, waits, &settled)
                         : TILEC_OK;
    LaunchState before = launch_state(kernel);
    *loaded = kernel->loaded;
    bool chooses = kernel->by_shape && (own_grid || call->given.grid);
    if (!s && (!*loaded || chooses || (kernel->resolve && any_none(args, count))))
        s = kernel->resolve(kernel, args, count, own_grid, loaded);
    if (s) return s;
    RtUnits units = {kernel, *loaded};
    rt_kernel_units(&units, plan);
    s = launch_prepare(kernel->context, kernel->device, (*loaded)->meta, args, count,
                       call->override, plan);
    if (!s && plan->unmapped) log_unmapped(kernel->device);
    const LaunchGiven given = {.count = count, .args = args, .grid = call->given.grid};
    if (!s && (own_grid || given.grid) && settled)
        launch_remember(kernel, &given, *loaded, plan, &before);
    return s;
}

__attribute__((noinline)) static tilec_status prepare_many(const Call *call, LaunchPlan *plan,
                                                           const RtLoaded **loaded) {
    tilec_arg args[LAUNCH_MAX_ARGS];
    const LaunchGiven *g = &call->given;
    for (size_t i = 0; i < g->count; i++) args[i] = rt_value_of(&g->meta->args[i], g->values[i]);
    return prepare_whole(call, args, plan, loaded);
}

__attribute__((noinline)) static tilec_status prepare_few(const Call *call, LaunchPlan *plan,
                                                          const RtLoaded **loaded) {
    tilec_arg args[LAUNCH_FEW_ARGS];
    const LaunchGiven *g = &call->given;
    for (size_t i = 0; i < g->count; i++) args[i] = rt_value_of(&g->meta->args[i], g->values[i]);
    return prepare_whole(call, args, plan, loaded);
}

static tilec_status prepare(const Call *call, LaunchPlan *plan, const RtLoaded **loaded) {
    const LaunchGiven *g = &call->given;
    if ((!call->override || g->grid) && launch_recall(call->kernel, g, plan, loaded))
        return TILEC_OK;
    if (g->args || !g->count) return prepare_whole(call, g->args, plan, loaded);
    return g->count > LAUNCH_FEW_ARGS ? prepare_many(call, plan, loaded)
                                      : prepare_few(call, plan, loaded);
}

tilec_status rt_kernel_other_device(const tilec_kernel *kernel, const tilec_stream *stream) {
    RtDeviceText texts[2];
    return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT,
                   "the stream belongs to device %s, the kernel to another device, %s",
                   rt_device_label(stream->device, kernel->device, &texts[0]),
                   rt_device_label(kernel->device, stream->device, &texts[1]));
}

static tilec_status start(const Call *call, const tilec_stream *stream, const RtLaunch *launch) {
    tilec_device *device = call->kernel->device;
    if (call->what == CALL_LAUNCH) return device->api->launch(device, stream->state, launch);
    return device->api->prepare ? device->api->prepare(device, stream->state, launch) : TILEC_OK;
}

// The room for maps is in a separate frame, as is that for many arguments.
__attribute__((noinline)) static tilec_status start_with_maps(const Call *call,
                                                              const tilec_stream *stream,
                                                              RtLaunch *launch) {
    LaunchMaps maps;
    tilec_status s = launch_maps_begin(call->kernel, launch, &maps);
    if (s) return s;
    s = start(call, stream, launch);
    launch_maps_end(&maps);
    return s;
}

static tilec_status call_in(const Call *call, LaunchPlan plan) {
    tilec_kernel *kernel = call->kernel;
    tilec_device *device = kernel->device;
    tilec_stream *stream = call->stream ? call->stream : device->first;
    const RtLoaded *loaded;
    if (stream->device != device) return rt_kernel_other_device(kernel, stream);
    tilec_status s = prepare(call, &plan, &loaded);
    if (s || plan.empty) return s;
    RtLaunch launch = {.meta = loaded->meta,
                       .variant = plan.variant,
                       .grid = {plan.grid[0], plan.grid[1], plan.grid[2]},
                       .block = plan.block,
                       .ranges = plan.ranges};
    s = rt_kernel_module(kernel, loaded, plan.variant, &launch.module);
    if (s) return s;
    return launch.meta->variants[launch.variant].map_count ? start_with_maps(call, stream, &launch)
                                                           : start(call, stream, &launch);
}

// A thread's stack may be small, so the room for many arguments is in a separate frame that is used
// only if needed.
__attribute__((noinline)) static tilec_status call_with_many(const Call *call) {
    LaunchBuffers buffers;
    return call_in(call, launch_plan(&buffers));
}

__attribute__((noinline)) static tilec_status call_with_few(const Call *call) {
    LaunchBuffersSmall buffers;
    return call_in(call, launch_plan_small(&buffers));
}

static tilec_status make_call(const Call *call) {
    uint64_t mode = cpu_float_mode_usual();
    tilec_status s =
        call->given.count > LAUNCH_FEW_ARGS ? call_with_many(call) : call_with_few(call);
    cpu_float_mode_restore(mode);
    return s;
}

static tilec_status check_call(const tilec_kernel *kernel, const void *args, size_t count) {
    rt_begin(kernel->context);
    if (args || !count) return TILEC_OK;
    return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT, "the arguments are NULL");
}

tilec_status tilec_launch(tilec_kernel *kernel, tilec_stream *stream, const tilec_arg *args,
                          size_t count) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(kernel, args, count);
    if (s) return s;
    return make_call(&(Call){CALL_LAUNCH, kernel, stream, NULL, {.count = count, .args = args}});
}

tilec_status rt_kernel_call(tilec_kernel *kernel, tilec_stream *stream, const void *const *values) {
    const MetaKernel *meta = kernel->params ? kernel->params : kernel->loaded->meta;
    bool host_grid = kernel->of_library && !kernel->loaded->meta->variants[0].grid_rank;
    uint32_t count = meta->arg_count + (host_grid ? 3 : 0);
    rt_begin(kernel->context);
    if (!values && count)
        return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT, "%s: the values are NULL",
                       kernel->name);
    for (uint32_t i = 0; i < count; i++)
        if (!values[i])
            return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT,
                           "%s: the pointer to value %u is NULL", kernel->name, i);
    LaunchGiven given = {.count = meta->arg_count, .values = values, .meta = meta};
    if (!host_grid) return make_call(&(Call){CALL_LAUNCH, kernel, stream, NULL, given});
    LaunchOverride override = {.variant = LAUNCH_ANY_VARIANT};
    for (int d = 0; d < 3; d++)
        override.grid[d] = *(const int64_t *)values[meta->arg_count + (uint32_t)d];
    given.grid = override.grid;
    return make_call(&(Call){CALL_LAUNCH, kernel, stream, &override, given});
}

static tilec_status call_with_grid(What what, tilec_kernel *kernel, tilec_stream *stream,
                                   int variant, const int64_t grid[3], const tilec_arg *args,
                                   size_t count) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(kernel, args, count);
    if (s) return s;
    if (!grid) return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT, "the grid is NULL");
    LaunchOverride override = {.variant = variant, .grid = {grid[0], grid[1], grid[2]}};
    LaunchGiven given = {.count = count, .args = args};
    if (variant == LAUNCH_ANY_VARIANT) given.grid = override.grid;
    return make_call(&(Call){what, kernel, stream, &override, given});
}

tilec_status tilec_launch_grid(tilec_kernel *kernel, tilec_stream *stream, int variant,
                               const int64_t grid[3], const tilec_arg *args, size_t count) {
    return call_with_grid(CALL_LAUNCH, kernel, stream, variant, grid, args, count);
}

tilec_status tilec_kernel_prepare_grid(tilec_kernel *kernel, tilec_stream *stream, int variant,
                                       const int64_t grid[3], const tilec_arg *args, size_t count) {
    return call_with_grid(CALL_PREPARE, kernel, stream, variant, grid, args, count);
}

tilec_status tilec_kernel_prepare(tilec_kernel *kernel, tilec_stream *stream, const tilec_arg *args,
                                  size_t count) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(kernel, args, count);
    if (s) return s;
    return make_call(&(Call){CALL_PREPARE, kernel, stream, NULL, {.count = count, .args = args}});
}
