#include "runtime/kernel.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/recover.h"
#include "runtime/launch.h"

void tilec_kernel_destroy(tilec_kernel *kernel) {
    if (!kernel) return;
    rt_disown(kernel->context, &kernel->owned);
    if (kernel->function) kernel->function_destroy(kernel->function);
    kernel->destroy(kernel);
    arena_destroy(kernel->texts);
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

// What the checks of a call find: where and what to launch.
typedef struct Ready {
    tilec_stream *stream;
    LaunchPlan plan;
    RtLaunch launch;
} Ready;

static tilec_status get_ready(tilec_kernel *kernel, tilec_stream *stream,
                              const LaunchOverride *override, const tilec_arg *args, size_t count,
                              Ready *r) {
    tilec_context *c = kernel->context;
    r->stream = stream ? stream : kernel->device->first;
    if (r->stream->device != kernel->device)
        return rt_fail(c, TILEC_INVALID_ARGUMENT,
                       "the stream belongs to device %s, the kernel to another device, %s",
                       stream->device->name, kernel->device->name);
    const RtLoaded *loaded = kernel->loaded;
    if (!loaded || (kernel->by_shape && !override)) {
        tilec_status s = kernel->resolve(kernel, args, count, !override, &loaded);
        if (s) return s;
    }
    LaunchPlan *plan = &r->plan;
    tilec_status s = launch_prepare(c, kernel->device, loaded->meta, args, count, override, plan);
    if (s) return s;
    r->launch = (RtLaunch){.meta = loaded->meta,
                           .variant = plan->variant,
                           .grid = {plan->grid[0], plan->grid[1], plan->grid[2]},
                           .block = plan->block,
                           .ranges = plan->ranges};
    if (plan->empty) return TILEC_OK;
    return rt_kernel_module(kernel, loaded, plan->variant, &r->launch.module);
}

typedef enum What { CALL_LAUNCH, CALL_PREPARE } What;

typedef struct Call {
    What what;
    tilec_kernel *kernel;
    tilec_stream *stream;
    const LaunchOverride *override;
    const tilec_arg *args;
    size_t count;
} Call;

static tilec_status call_in(const Call *call, LaunchPlan plan) {
    Ready r = {.plan = plan};
    const RtDeviceApi *api = call->kernel->device->api;
    tilec_status s =
        get_ready(call->kernel, call->stream, call->override, call->args, call->count, &r);
    if (s || r.plan.empty) return s;
    if (call->what == CALL_LAUNCH)
        return api->launch(call->kernel->device, r.stream->state, &r.launch);
    return api->prepare ? api->prepare(call->kernel->device, r.stream->state, &r.launch) : s;
}

// A thread may have little stack: many arguments take room there only where they are.
__attribute__((noinline)) static tilec_status call_with_many(const Call *call) {
    LaunchRoom room;
    return call_in(call, launch_plan(&room));
}

__attribute__((noinline)) static tilec_status call_with_few(const Call *call) {
    LaunchCorner room;
    return call_in(call, launch_plan_small(&room));
}

static tilec_status make_call(const Call *call) {
    uint64_t mode = cpu_float_mode_usual();
    tilec_status s = call->count > LAUNCH_FEW_ARGS ? call_with_many(call) : call_with_few(call);
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
    return make_call(&(Call){CALL_LAUNCH, kernel, stream, NULL, args, count});
}

tilec_status tilec_launch_grid(tilec_kernel *kernel, tilec_stream *stream, int variant,
                               const int64_t grid[3], const tilec_arg *args, size_t count) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(kernel, args, count);
    if (s) return s;
    if (!grid) return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT, "the grid is NULL");
    LaunchOverride override = {.variant = variant, .grid = {grid[0], grid[1], grid[2]}};
    return make_call(&(Call){CALL_LAUNCH, kernel, stream, &override, args, count});
}

tilec_status tilec_kernel_prepare(tilec_kernel *kernel, tilec_stream *stream, const tilec_arg *args,
                                  size_t count) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(kernel, args, count);
    if (s) return s;
    return make_call(&(Call){CALL_PREPARE, kernel, stream, NULL, args, count});
}
