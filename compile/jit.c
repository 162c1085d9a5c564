#include "compile/jit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "compile/compiler.h"
#include "compile/interp_device.h"
#include "compile/launch_guard.h"
#include "compile/sim_device.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/launch.h"

typedef struct Specialization {
    TileSpec spec;
    RtLoaded loaded;
    const Compiled *fresh;  // not lowered yet; NULL once code was made of it
    InterpImage interp;
    RtModule *interpreted;  // where the interpreter runs it: interp_device's
    Image **images;         // of each variant that has code
    MetaVariant *variants;  // the metadata's: one gets its notes before its module is shown
    RtModuleSlot *modules;
    struct Specialization *next;
} Specialization;

typedef struct Jit {
    Unit *unit;
    const AstKernel *kernel;
    TileSpec spec;
    JitSwitches switches;
    OsMutex *lock;
    Arena *scratch;          // of one look-up
    TuneRow tune_key;        // in the unit's arena; rows of it exist when the kernel is by_shape
    const TuneRow *refused;  // the last row whose consts do not compile: not tried at each launch
    Specialization *made;
} Jit;

static bool types_known(const AstKernel *kernel, const TileSpec *spec) {
    for (const AstDecl *p = kernel->params; p; p = p->next)
        if (p->kind == DECL_TYPE_PARAM && !tile_spec_find(spec, p->name)) return false;
    return true;
}

// Types, and consts that were chosen for a shape; all else is the same for all of a kernel.
static bool same_bindings(const TileSpec *a, const TileSpec *b) {
    if (a->bindings.count != b->bindings.count) return false;
    for (size_t i = 0; i < a->bindings.count; i++) {
        const IrBinding *x = &a->bindings.data[i], *y = tile_spec_find(b, x->name);
        if (!y || (x->is_type ? x->type != y->type : x->value != y->value)) return false;
    }
    return true;
}

// The bindings of `from`, copied for as long as the arena lives.
static TileSpec copy_spec(Arena *arena, const TileSpec *from) {
    TileSpec spec = {.target = from->target, .math = from->math};
    for (size_t i = 0; i < from->bindings.count; i++)
        vec_push(arena, &spec.bindings, from->bindings.data[i]);
    return spec;
}

static bool makes_code(const tilec_kernel *kernel) {
    const Jit *jit = kernel->source;
    CodeTarget target;
    return !jit->switches.sanitize && compiler_target_of(kernel->device, &target);
}

// What was wrong decides the status: the source, the place, or tilec.
static tilec_status fail_diags(tilec_kernel *kernel) {
    const Diags *diags = ((Jit *)kernel->source)->unit->diags;
    tilec_status s = TILEC_INVALID_SOURCE;
    for (size_t i = diags_count(diags); i-- > 0;) {
        const Diag *d = diags_get(diags, i);
        if (d->severity != DIAG_ERROR) continue;
        if (d->code == DIAG_UNAVAILABLE) s = TILEC_UNAVAILABLE;
        if (d->code == DIAG_UNSUPPORTED) s = TILEC_UNSUPPORTED;
        if (d->code == DIAG_DEFECT || d->code == DIAG_PASS) s = TILEC_INTERNAL;
    }
    return rt_fail_diags(kernel->context, s, diags);
}

static CompileVariants variants_of(const tilec_kernel *kernel) {
    if (!makes_code(kernel)) return VARIANTS_NONE;
    return kernel->device->api->gpu ? VARIANTS_GPU : VARIANTS_CPU;
}

static const Compiled *compile(const tilec_kernel *kernel, const TileSpec *spec) {
    const Jit *jit = kernel->source;
    // A sanitizer looks at what was written: an access that passes would drop is looked at, too.
    // But functions have the bits that they have on every device.
    static const PassStep functions[] = {{PASS_EXPAND_MATH, "all that a sanitized kernel gets"}};
    CompileOptions options = {.variants = variants_of(kernel)};
    CodeTarget target;
    Machine machine;
    if (options.variants != VARIANTS_NONE && compiler_target_of(kernel->device, &target)) {
        machine = code_target_machine(target);
        options.passes.machine = &machine;
    }
    if (jit->switches.sanitize) options.steps = functions, options.step_count = 1;
    return unit_compile(jit->unit, jit->kernel, spec, &options);
}

// ---- Run by the interpreter ----

static tilec_status load_interpreted(tilec_kernel *kernel, Specialization *s) {
    RtImage image = {RT_IMAGE_IR, &s->interp, sizeof s->interp};
    tilec_status status = interp_device_api.module_load(kernel->device, &image, &s->interpreted);
    if (status) return status;
    RtModule *module = s->interpreted;
    if (kernel->device->api != &interp_device_api) {
        RtHostImage host = {interp_host_run, s->interpreted};
        image = (RtImage){RT_IMAGE_HOST, &host, sizeof host};
        status = kernel->device->api->module_load(kernel->device, &image, &module);
    }
    for (uint32_t i = 0; !status && i < s->loaded.meta->variant_count; i++)
        atomic_store_explicit(&s->modules[i], module, memory_order_release);
    if (status) interp_device_api.module_unload(kernel->device, s->interpreted);
    return status;
}

static void unload_interpreted(tilec_kernel *kernel, Specialization *s) {
    if (kernel->device->api != &interp_device_api)
        kernel->device->api->module_unload(kernel->device, atomic_load(&s->modules[0]));
    interp_device_api.module_unload(kernel->device, s->interpreted);
}

// ---- Run as code ----

// What a tool says of code that it makes nothing of is no failure: the driver has the last word.
static bool find_cubin(const tilec_kernel *kernel, const HashKey *key, Str ptx, Cubin *cubin) {
    Unit *unit = ((Jit *)kernel->source)->unit;
    const Compiler *c = compiler_of(kernel->context);
    if (!c->services.cubin || kernel->device->api != &cuda_device_api) return false;
    size_t before = diags_count(unit->diags);
    bool made = code_cubin(unit, &c->services, key, ptx, cubin);
    for (size_t i = before; i < diags_count(unit->diags); i++)
        rt_log(kernel->context, TILEC_WARNING, "%s: %.*s", kernel->name,
               STR_ARG(diags_get(unit->diags, i)->text));
    diags_truncate(unit->diags, before);
    return made;
}

static tilec_status load_for_gpu(tilec_kernel *kernel, const HashKey *key, const Code *code,
                                 RtModule **module) {
    RtPtxImage ptx = {.text = code->bytes, .entry = code->notes.entry};
    RtImage wrapped = {RT_IMAGE_PTX, &ptx, sizeof ptx};
    RtCubinImage image = {.entry = ptx.entry, .ptx = ptx.text};
    Cubin cubin;
    if (find_cubin(kernel, key, ptx.text, &cubin)) {
        image.bytes = cubin.bytes;
        wrapped = (RtImage){RT_IMAGE_CUBIN, &image, sizeof image};
    }
    return kernel->device->api->module_load(kernel->device, &wrapped, module);
}

static tilec_status load_code(tilec_kernel *kernel, const HashKey *key, const Code *code,
                              RtModule **module) {
    if (kernel->device->api->gpu) return load_for_gpu(kernel, key, code, module);
    const Compiler *c = compiler_of(kernel->context);
    RtCpuImage image = {.abi = CPU_ABI_VERSION,
                        .target = c->target,
                        .entry = code->notes.entry.text,
                        .path = code->path,
                        .name = code->notes.entry.text,
                        .bytes = code->bytes};
    RtImage wrapped = {RT_IMAGE_CPU, &image, sizeof image};
    const RtDeviceApi *api = kernel->device->api;
    tilec_status s = api->module_load(kernel->device, &wrapped, module);
    if (!s || !code->path) return s;
    image.path = NULL;  // the file may have gone: another process makes room
    return api->module_load(kernel->device, &wrapped, module);
}

// The image from memory, from the disk, or made.
static tilec_status find_image(tilec_kernel *kernel, Specialization *s, const Compiled *compiled,
                               uint32_t variant, Image **image) {
    Jit *jit = kernel->source;
    const Compiler *c = compiler_of(kernel->context);
    CodeOptions options = {.variant = variant, .lines = jit->switches.debug};
    compiler_target_of(kernel->device, &options.target);
    options.output = code_output(options.target);
    HashKey key = code_key(jit->unit->arena, compiled, &options);
    *image = images_take(c->images, kernel->device, &key);
    if (*image) return TILEC_OK;
    Code code;
    if (!code_find(jit->unit->arena, &c->services, options.target, &key, &code)) {
        s->fresh = NULL;
        if (!code_make(jit->unit, compiled, &options, &c->services, &key, &code))
            return fail_diags(kernel);
    }
    RtModule *module;
    tilec_status status = load_code(kernel, &key, &code, &module);
    if (!status) *image = images_put(c->images, kernel->device, &key, module, &code.notes);
    return status;
}

static tilec_status fail_target(tilec_context *context, const Compiler *c) {
    if (c->target_exists)
        return rt_fail(context, TILEC_UNAVAILABLE,
                       "TILEC_CPU_TARGET is '%s', which this machine does not run", c->bad_target);
    return rt_fail(context, TILEC_INVALID_ARGUMENT,
                   "TILEC_CPU_TARGET is '%s', and there is no such target; there are: %s",
                   c->bad_target, CPU_TARGETS_TEXT);
}

// The variant's module; the kernel's mutex is held.
static tilec_status make_variant(tilec_kernel *kernel, Specialization *s, uint32_t variant) {
    const Compiler *c = compiler_of(kernel->context);
    if (c->bad_target[0] && !kernel->device->api->gpu) return fail_target(kernel->context, c);
    const Compiled *compiled = s->fresh ? s->fresh : compile(kernel, &s->spec);
    if (!compiled) return fail_diags(kernel);
    tilec_status status = find_image(kernel, s, compiled, variant, &s->images[variant]);
    if (status) return status;
    code_note_variant(&s->images[variant]->notes, &s->variants[variant]);
    atomic_store_explicit(&s->modules[variant], s->images[variant]->module, memory_order_release);
    return TILEC_OK;
}

// A variant that no launch had chosen so far.
static tilec_status prepare(tilec_kernel *kernel, const RtLoaded *loaded, uint32_t variant,
                            RtModule **module) {
    Jit *jit = kernel->source;
    os_mutex_lock(jit->lock);
    Specialization *s = jit->made;
    while (&s->loaded != loaded) s = s->next;
    size_t before = diags_count(jit->unit->diags);
    tilec_status status = TILEC_OK;
    if (!atomic_load(&s->modules[variant])) status = make_variant(kernel, s, variant);
    diags_truncate(jit->unit->diags, before);
    *module = atomic_load(&s->modules[variant]);
    os_mutex_unlock(jit->lock);
    return status;
}

// ---- Specialisations ----

static Specialization *new_specialization(const Jit *jit, const TileSpec *spec,
                                          const Compiled *compiled) {
    Arena *arena = jit->unit->arena;
    Specialization *s = arena_new(arena, Specialization, 1);
    uint32_t count = compiled->meta->variant_count;
    s->spec = *spec;
    s->fresh = compiled;
    s->variants = arena_copy(arena, compiled->meta->variants, count * sizeof *s->variants);
    compiled->meta->variants = s->variants;
    s->interp = (InterpImage){.func = compiled->func, .sanitize = jit->switches.sanitize};
    s->images = arena_array(arena, sizeof(Image *), count);
    s->modules = arena_array(arena, sizeof(RtModuleSlot), count);
    for (uint32_t i = 0; i < count; i++) atomic_init(&s->modules[i], NULL);
    s->loaded.meta = compiled->meta;
    s->loaded.modules = s->modules;
    return s;
}

// Compiles and loads one specialisation, or finds it; the kernel's mutex is held.
static tilec_status specialize(tilec_kernel *kernel, const TileSpec *wanted,
                               const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    for (Specialization *s = jit->made; s; s = s->next)
        if (same_bindings(&s->spec, wanted)) {
            *loaded = &s->loaded;
            return TILEC_OK;
        }
    TileSpec spec = copy_spec(jit->unit->arena, wanted);
    const Compiled *compiled = compile(kernel, &spec);
    if (!compiled) return fail_diags(kernel);
    Specialization *s = new_specialization(jit, &spec, compiled);
    uint32_t likeliest = launch_likeliest(s->loaded.meta);
    tilec_status status =
        makes_code(kernel) ? make_variant(kernel, s, likeliest) : load_interpreted(kernel, s);
    if (status) return status;
    s->next = jit->made;
    jit->made = s;
    *loaded = &s->loaded;
    return TILEC_OK;
}

static Dtype arg_type(const tilec_arg *arg) {
    if (arg->kind != TILEC_ARG_VIEW || !tilec_dtype_name(arg->view.dtype)) return DTYPES;
    return (Dtype)arg->view.dtype;
}

// A generic kernel's types come from its views: something else in a view's place is the mistake.
static bool views_given(const tilec_kernel *kernel, const tilec_arg *args, size_t count,
                        tilec_status *status) {
    const Jit *jit = kernel->source;
    size_t i = 0;
    for (const AstDecl *p = jit->kernel->params; p; p = p->next) {
        if (p->kind == DECL_TYPE_PARAM || p->kind == DECL_CONST_PARAM) continue;
        if (p->kind == DECL_VIEW && i < count && args[i].kind != TILEC_ARG_VIEW) {
            *status = rt_fail(kernel->context, TILEC_LAUNCH_REFUSED,
                              "%s: argument '%s' expects a view, found something else",
                              jit->kernel->decl->name, p->name);
            return false;
        }
        i++;
    }
    return true;
}

// ---- Consts that `tilec tune` found for a shape ----

// The named extents of the arguments, rounded up; false when the arguments do not fit the kernel,
// which the launch then says.
static bool tune_shape(const Jit *jit, const tilec_arg *args, size_t count, TuneRow *key) {
    for (const AstDecl *e = jit->kernel->extents; e; e = e->next) {
        TuneSetting found = {.name = str(e->name), .value = -1};
        size_t i = 0;
        for (const AstDecl *p = jit->kernel->params; p; p = p->next) {
            if (p->kind == DECL_TYPE_PARAM || p->kind == DECL_CONST_PARAM) continue;
            if (i == count) return false;
            const tilec_arg *arg = &args[i++];
            if (p->kind != DECL_VIEW) continue;
            int d = 0;
            for (const Ast *dim = p->dims; dim; dim = dim->next, d++)
                if (dim->kind == AST_NAME && dim->name == e->name && d < TILEC_MAX_RANK &&
                    arg->kind == TILEC_ARG_VIEW)
                    found.value = arg->view.extent[d];
        }
        if (found.value < 0) return false;
        found.value = tune_bucket(found.value);
        vec_push(jit->scratch, &key->shape, found);
    }
    return true;
}

// The specialisation that the table names for these arguments. What it names and cannot be made or
// launched leaves the one without it, so that a table changes times and nothing else.
static void choose_tuned(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                         const TileSpec *spec, const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    TuneRow key = jit->tune_key;
    key.types = tune_types(jit->scratch, jit->kernel, spec);
    if (!tune_shape(jit, args, count, &key)) return;
    const TuneRow *row = tune_find(compiler_of(kernel->context)->tuned, &key);
    TileSpec tuned = copy_spec(jit->scratch, spec);
    const RtLoaded *better = NULL;
    LaunchPlan plan;
    if (!row || row == jit->refused ||
        !tune_apply(jit->scratch, jit->unit->names, jit->kernel, row, &tuned))
        return;
    if (specialize(kernel, &tuned, &better))
        jit->refused = row;
    else if (!launch_prepare(kernel->context, kernel->device, better->meta, args, count, NULL,
                             &plan))
        *loaded = better;
    if (*loaded != better) rt_begin(kernel->context);
}

static tilec_status resolve_locked(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                                   bool own_grid, const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    size_t before = diags_count(jit->unit->diags);
    ArenaMark mark = arena_mark(jit->scratch);
    TileSpec spec = copy_spec(jit->scratch, &jit->spec);
    Dtype types[LAUNCH_MAX_ARGS];
    if (count > LAUNCH_MAX_ARGS) count = LAUNCH_MAX_ARGS;
    for (size_t i = 0; i < count; i++) types[i] = arg_type(&args[i]);
    tilec_status s;
    if (!unit_infer_types(jit->scratch, jit->kernel, types, count, &spec, jit->unit->diags)) {
        s = rt_fail_diags(kernel->context, TILEC_LAUNCH_REFUSED, jit->unit->diags);
    } else if (!types_known(jit->kernel, &spec) && !views_given(kernel, args, count, &s)) {
        // s says which argument should be a view
    } else if (!types_known(jit->kernel, &spec)) {
        s = rt_fail(kernel->context, TILEC_LAUNCH_REFUSED,
                    "%s: the arguments leave a type parameter open; give it with TILEC_TYPE",
                    jit->kernel->decl->name);
    } else {
        s = specialize(kernel, &spec, loaded);
        if (!s && own_grid && kernel->by_shape) choose_tuned(kernel, args, count, &spec, loaded);
    }
    diags_truncate(jit->unit->diags, before);
    arena_reset(jit->scratch, mark);
    return s;
}

static tilec_status resolve(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            bool own_grid, const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    os_mutex_lock(jit->lock);
    tilec_status s = resolve_locked(kernel, args, count, own_grid, loaded);
    os_mutex_unlock(jit->lock);
    return s;
}

static void unload(tilec_kernel *kernel, Specialization *s) {
    if (s->interpreted) unload_interpreted(kernel, s);
    for (uint32_t i = 0; i < s->loaded.meta->variant_count; i++)
        if (s->images[i]) images_drop(compiler_of(kernel->context)->images, s->images[i]);
}

static void destroy(tilec_kernel *kernel) {
    Jit *jit = kernel->source;
    for (Specialization *s = jit->made; s; s = s->next) unload(kernel, s);
    unit_destroy(jit->unit);
    arena_destroy(jit->scratch);
    os_mutex_destroy(jit->lock);
    free(jit);
}

// Takes the unit over, also on failure.
static tilec_status make_kernel(tilec_context *context, tilec_device *device, Unit *unit,
                                const char *name, const tilec_spec *spec, tilec_kernel **out) {
    Jit *jit = calloc(1, sizeof *jit);
    tilec_kernel *k = calloc(1, sizeof *k);
    if (!jit || !k) {
        free(jit);
        free(k);
        unit_destroy(unit);
        return rt_fail(context, TILEC_OUT_OF_MEMORY, "out of memory");
    }
    *k = (tilec_kernel){.context = context,
                        .device = device,
                        .resolve = resolve,
                        .prepare = prepare,
                        .destroy = destroy,
                        .source = jit};
    jit->unit = unit;
    jit->lock = os_mutex_create();
    jit->scratch = arena_create();
    jit->switches.debug = true;
    jit->spec.target = compiler_target_name(unit->arena, device);
    tilec_status s = TILEC_OK;
    if (!diags_errors(unit->diags)) jit->kernel = unit_kernel(unit, name ? str(name) : STR(""));
    k->name = jit->kernel ? jit->kernel->decl->name : "";
    if (!jit->kernel || !jit_spec(unit, jit->kernel, spec, &jit->spec, &jit->switches)) {
        bool io = diags_count(unit->diags) && diags_get(unit->diags, 0)->code == DIAG_IO;
        s = rt_fail_diags(context, io ? TILEC_IO : TILEC_INVALID_SOURCE, unit->diags);
    } else if (jit->switches.sanitize && device->api->gpu) {
        s = rt_fail(
            context, TILEC_UNSUPPORTED, "device '%s' has no sanitize: run it on interp or cpu%s",
            device->name,
            device->api == &sim_device_api ? "; what the simulator finds is an error anyway" : "");
    } else if (types_known(jit->kernel, &jit->spec)) {
        s = specialize(k, &jit->spec, &k->loaded);
    }
    if (s) {
        tilec_kernel_destroy(k);
        return s;
    }
    jit->tune_key = tune_key(unit->arena, jit->kernel, jit->spec.target);
    k->by_shape = tune_knows(compiler_of(context)->tuned, &jit->tune_key);
    rt_keep_diags(context, unit->diags);
    rt_kernel_adopt(k);
    *out = k;
    return TILEC_OK;
}

static tilec_status check_call(tilec_context *context, const tilec_device *device, const char *what,
                               const void *source, tilec_kernel **out) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (!source || !out || !device)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "%s is NULL",
                       !source ? what
                       : !out  ? "the place for the kernel"
                               : "the device");
    if (device->context != context)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "the device belongs to another context");
    return TILEC_OK;
}

tilec_status tilec_kernel_from_file(tilec_context *context, tilec_device *device, const char *path,
                                    const char *kernel, const tilec_spec *spec,
                                    tilec_kernel **out) {
    tilec_status s = check_call(context, device, "the path", path, out);
    return s ? s : make_kernel(context, device, unit_load_file(path), kernel, spec, out);
}

tilec_status tilec_kernel_from_source(tilec_context *context, tilec_device *device,
                                      const char *name, const char *text, size_t length,
                                      const char *kernel, const tilec_spec *spec,
                                      tilec_kernel **out) {
    tilec_status s = check_call(context, device, "the source", text, out);
    if (s) return s;
    Str path = name ? str(name) : STR("source");
    return make_kernel(context, device, unit_load_text(path, (Str){text, length}), kernel, spec,
                       out);
}
