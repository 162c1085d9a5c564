#include "compile/jit/compiler.h"

#include <stdio.h>
#include <string.h>

#include "base/recover.h"
#include "compile/device/interp_device.h"
#include "compile/device/sim_device.h"
#include "compile/jit/source.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/hip/device.h"

// A value other than 0 or 1 is reported. It counts as on, because the user probably meant that.
static bool is_on(tilec_context *context, const char *variable) {
    const char *value = os_env(variable);
    if (!value || !value[0] || strcmp(value, "0") == 0) return false;
    if (strcmp(value, "1") != 0)
        rt_log(context, TILEC_WARNING, "%s is '%s', expected 0 or 1; using 1", variable, value);
    return true;
}

static void choose_target(Compiler *c) {
    const char *wanted = os_env("TILEC_CPU_TARGET");
    CpuTarget target;
    bool asked = wanted && wanted[0];
    c->target_exists = asked && cpu_target_parse(str(wanted), &target);
    bool runs = c->target_exists && cpu_runs_here(target);
    c->target = runs ? target : cpu_native();
    if (asked && !runs) snprintf(c->bad_target, sizeof c->bad_target, "%s", wanted);
}

// The context's own option has precedence.
static void choose_seconds(Compiler *c, unsigned own) {
    const char *wanted = os_env("TILEC_COMPILE_SECONDS");
    c->services.seconds = own;
    if (own || !wanted || !wanted[0]) return;
    if (!compile_seconds_parse(str(wanted), &c->services.seconds))
        snprintf(c->bad_seconds, sizeof c->bad_seconds, "%s", wanted);
}

static void log_cache(void *user, const char *text) { rt_log(user, TILEC_WARNING, "%s", text); }

// The tool that compiles PTX for devices `cuda`. The option has already been checked.
static CubinMaker *make_cubin_maker(tilec_context *context) {
    const char *wanted = context->options.ptx_compiler;
    PtxBy by = PTX_BY_DRIVER;
    Arena *arena = arena_create();
    Str problem;
    if (wanted && wanted[0])
        ptx_by_parse(str(wanted), &by);
    else if (!wanted && !ptx_by_environment(arena, &by, &problem))
        rt_log(context, TILEC_WARNING, "%.*s; using the driver", STR_ARG(problem));
    arena_destroy(arena);
    return by == PTX_BY_DRIVER ? NULL : cubin_maker_create(by);
}

static void destroy(tilec_context *context) {
    Compiler *c = context->compiler;
    sources_close(context);
    os_mutex_destroy(c->measuring);
    os_mutex_destroy(c->rows);
    cubin_maker_destroy(c->services.cubin);
    images_destroy(c->images);
    cache_destroy(c->services.cache);
    plugin_destroy(c->services.plugin);
    arena_destroy(c->tune_arena);
    recover_free(c);
}

// Bad rows are reported and ignored: a damaged table must not fail a compilation.
static void read_tuned(Compiler *c, tilec_context *context) {
    c->rows = os_mutex_create();
    c->measuring = os_mutex_create_long();
    c->tune_arena = arena_create();
    Str path = tune_path(c->tune_arena);
    c->tuned = tune_read(c->tune_arena, path);
    for (size_t i = 0; i < c->tuned->problems.count; i++) {
        const TuneProblem *p = &c->tuned->problems.data[i];
        const char *line = p->line ? arena_printf(c->tune_arena, ", line %u", p->line) : "";
        rt_log(context, TILEC_WARNING, "tune table %.*s%s is ignored: %s", STR_ARG(path), line,
               p->text);
    }
}

static Compiler *create(tilec_context *context) {
    Compiler *c = recover_new(sizeof *c);
    c->images = images_create();
    c->services.library = context->options.compiler_library;
    c->services.plugin = plugin_create(context->options.compiler_library);
    c->services.cache = cache_create(context->options.cache_folder, log_cache, context);
    c->services.in_child =
        is_on(context, "TILEC_COMPILE_IN_CHILD") || context->options.compile_in_child;
    c->services.cubin = make_cubin_maker(context);
    choose_target(c);
    choose_seconds(c, context->options.compile_seconds);
    read_tuned(c, context);
    return c;
}

bool compiler_target_of(const tilec_device *device, CodeTarget *target) {
    *target = (CodeTarget){0};
    if (device->api->gpu) target->gpu = device->api->gpu(device);
    if (device->api == &cpu_device_api) target->cpu = compiler_of(device->context)->target;
    return device->api->gpu || device->api == &cpu_device_api;
}

Str compiler_target_name(Arena *arena, const tilec_device *device) {
    CodeTarget target;
    char name[CODE_TARGET_NAME_MAX];
    if (!compiler_target_of(device, &target)) return STR("");
    code_target_name(target, name);
    return (Str){arena_text(arena, name, strlen(name)), strlen(name)};
}

// Without libtilec_llvm the device cpu can run only kernels that are in the cache. Then "auto" is
// the interpreter, which runs everything.
static bool code_can_be_made(const Compiler *c) {
    Arena *arena = arena_create();
    bool found = plugin_find(c->services.plugin, arena).size > 0;
    arena_destroy(arena);
    return found;
}

static tilec_status create_context(const tilec_context_options *options, tilec_context **context) {
    static const RtDeviceApi *const apis[] = {&interp_device_api, &cpu_device_api, &cuda_device_api,
                                              &hip_device_api, &sim_device_api};
    tilec_context *made;
    PtxBy by;
    tilec_status s = rt_context_create(options, apis, sizeof apis / sizeof *apis, &made);
    if (s) return s;
    bool known = !made->options.ptx_compiler || ptx_by_parse(str(made->options.ptx_compiler), &by);
    if (!known || made->options.compile_in_child > 1 ||
        made->options.compile_seconds > COMPILE_SECONDS_MAX || made->options.reserved) {
        tilec_context_destroy(made);
        return TILEC_INVALID_ARGUMENT;
    }
    Compiler *c = create(made);
    made->compiler = c;
    made->best = code_can_be_made(c) ? &cpu_device_api : &interp_device_api;
    made->compiler_destroy = destroy;
    *context = made;
    return TILEC_OK;
}

tilec_status tilec_context_create(const tilec_context_options *options, tilec_context **context) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    Recovery r;
    if (RECOVER_FAILED(&r)) return TILEC_OUT_OF_MEMORY;
    tilec_status s = create_context(options, context);
    recover_end(&r);
    return s;
}
