#include "compile/jit/jit.h"

#include <stdatomic.h>
#include <string.h>

#include "base/os/os.h"
#include "base/os/os_mutex.h"
#include "base/recover.h"
#include "base/status.h"
#include "compile/device/interp_device.h"
#include "compile/device/sim_device.h"
#include "compile/jit/compiler.h"
#include "compile/jit/jit_choose.h"
#include "compile/jit/jit_tune.h"
#include "compile/pipeline/launch_guard.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/launch.h"
#include "runtime/launch_maps.h"
#include "target/cpu.h"

typedef struct Specialization {
    Arena *arena;  // holds all of the specialisation
    FrontSpec spec;
    RtLoaded loaded;
    const Compiled *fresh;  // not lowered yet; NULL once code was made from it
    InterpImage interp;
    RtModule *interpreted;  // the module of interp_device, if the interpreter runs it
    Image **images;         // for each variant that has code
    // of the metadata; notes are added to a variant before its module is published
    MetaVariant *variants;
    RtModuleSlot *modules;
    struct Specialization *next;
} Specialization;

// The source's unit, with an arena and diagnostics for one compilation; they are freed with it.
static Unit unit_in(const tilec_kernel *kernel, Arena *arena, Diags *diags) {
    const Jit *jit = kernel->source;
    return source_unit(jit->source, arena, diags);
}

static Diags *diags_in(const tilec_kernel *kernel, Arena *arena) {
    const Jit *jit = kernel->source;
    return diags_create(arena, jit->source->unit->sources);
}

// Compares types, and consts that were chosen for a shape; all else is the same for all
// specialisations of a kernel.
static bool same_bindings(const FrontSpec *a, const FrontSpec *b) {
    if (a->bindings.count != b->bindings.count) return false;
    for (size_t i = 0; i < a->bindings.count; i++) {
        const IrBinding *x = &a->bindings.data[i], *y = frontend_spec_find(b, x->name);
        if (!y || x->is_type != y->is_type || x->text != y->text) return false;
        if (x->value != y->value || (x->is_type && x->type != y->type)) return false;
        if (x->pointer != y->pointer || x->number != y->number) return false;
    }
    return true;
}

static bool makes_code(const tilec_kernel *kernel) {
    const Jit *jit = kernel->source;
    CodeTarget target;
    return !jit->switches.sanitize && compiler_target_of(kernel->device, &target);
}

// The status depends on who is at fault: the source, the environment, or tilec.
static tilec_status fail_diags(tilec_kernel *kernel, const Diags *diags) {
    tilec_status s = TILEC_INVALID_SOURCE;
    for (size_t i = diags_count(diags); i-- > 0;) {
        const Diag *d = diags_get(diags, i);
        if (d->severity != DIAG_ERROR) continue;
        if (d->code == DIAG_IO) s = TILEC_IO;
        if (d->code == DIAG_UNAVAILABLE) s = TILEC_UNAVAILABLE;
        if (d->code == DIAG_UNSUPPORTED || d->code == DIAG_LIMIT) s = TILEC_UNSUPPORTED;
        if (d->code == DIAG_DEFECT || d->code == DIAG_PASS) s = TILEC_INTERNAL;
    }
    return rt_fail_diags(kernel->context, s, diags);
}

static CompileVariants variants_of(const tilec_kernel *kernel) {
    CodeTarget target;
    if (!makes_code(kernel)) return VARIANTS_NONE;
    if (compiler_target_of(kernel->device, &target)) return compile_variants_of(target);
    return kernel->device->api->gpu ? VARIANTS_GPU : VARIANTS_CPU;
}

static const Compiled *compile(const tilec_kernel *kernel, Unit *unit, const FrontSpec *spec) {
    const Jit *jit = kernel->source;
    // A sanitizer checks the kernel as written, so also accesses that passes would remove. But math
    // functions must give the same bits as on every device.
    static const PassStep functions[] = {{PASS_EXPAND_MATH, "all that a sanitized kernel gets"}};
    CompileOptions options = {.variants = variants_of(kernel)};
    CodeTarget target;
    Machine machine;
    if (options.variants != VARIANTS_NONE && compiler_target_of(kernel->device, &target)) {
        machine = code_target_machine(target);
        options.passes.machine = &machine;
    }
    if (jit->switches.sanitize) options.steps = functions, options.step_count = 1;
    return unit_compile(unit, jit->kernel, spec, &options);
}

// ---- Run by the interpreter ----

// On the device interp, or on a device for which the interpreter runs the kernel.
static tilec_status load_modules(tilec_kernel *kernel, Specialization *s, RtModule **module) {
    RtImage image = {RT_IMAGE_IR, &s->interp, sizeof s->interp};
    tilec_status status = interp_device_api.module_load(kernel->device, &image, &s->interpreted);
    if (status) return status;
    *module = s->interpreted;
    if (kernel->device->api == &interp_device_api) return TILEC_OK;
    RtHostImage host = {interp_host_run, s->interpreted};
    image = (RtImage){RT_IMAGE_HOST, &host, sizeof host};
    status = kernel->device->api->module_load(kernel->device, &image, module);
    if (status) interp_device_api.module_unload(kernel->device, s->interpreted);
    return status;
}

static tilec_status load_interpreted(tilec_kernel *kernel, Specialization *s) {
    Recovery r;
    if (RECOVER_FAILED(&r)) os_out_of_memory();
    RtModule *module;
    tilec_status status = load_modules(kernel, s, &module);
    for (uint32_t i = 0; !status && i < s->loaded.meta->variant_count; i++)
        atomic_store_explicit(&s->modules[i], module, memory_order_release);
    recover_keep_all();
    recover_end(&r);
    return status;
}

static void unload_interpreted(tilec_kernel *kernel, Specialization *s) {
    if (kernel->device->api != &interp_device_api)
        kernel->device->api->module_unload(kernel->device, atomic_load(&s->modules[0]));
    interp_device_api.module_unload(kernel->device, s->interpreted);
}

// ---- Run as code ----

// Logs one diagnostic; for a missing tool also the places that were searched.
static void log_tool(const tilec_kernel *kernel, const Unit *unit, size_t number) {
    const Diag *d = diags_get(unit->diags, number);
    StrBuf text = strbuf(unit->arena);
    strbuf_add(&text, d->text);
    if (d->code == DIAG_UNAVAILABLE) {
        for (const DiagNote *n = d->notes; n; n = n->next)
            strbuf_printf(&text, "%s%.*s", n == d->notes ? " (" : "; ", STR_ARG(n->text));
        strbuf_printf(
            &text, "%sTILEC_PTX_COMPILER or the context asks for it; the driver compiles instead",
            d->notes ? "): " : ": ");
    }
    rt_log(kernel->context, TILEC_WARNING, "%s: %s", kernel->name, text.text);
}

// Errors of a tool that makes no code are only logged: the driver tries next.
static bool find_cubin(const tilec_kernel *kernel, Unit *unit, const HashKey *key, Str ptx,
                       Cubin *cubin) {
    const Compiler *c = compiler_of(kernel->context);
    if (!c->services.cubin || kernel->device->api != &cuda_device_api) return false;
    size_t before = diags_count(unit->diags);
    bool made = code_cubin(unit, &c->services, key, ptx, cubin);
    for (size_t i = before; i < diags_count(unit->diags); i++) log_tool(kernel, unit, i);
    diags_truncate(unit->diags, before);
    return made;
}

static tilec_status load_for_gpu(tilec_kernel *kernel, Unit *unit, const HashKey *key,
                                 const Code *code, RtModule **module) {
    RtPtxImage ptx = {.text = code->bytes, .entry = code->notes.entry};
    CodeTarget target;
    compiler_target_of(kernel->device, &target);
    RtImage wrapped = {RT_IMAGE_PTX, &ptx, sizeof ptx};
    if (!code_target_takes_ptx(target)) {
        wrapped.kind = RT_IMAGE_HSACO;
        return kernel->device->api->module_load(kernel->device, &wrapped, module);
    }
    RtCubinImage image = {.entry = ptx.entry, .ptx = ptx.text};
    Cubin cubin;
    if (find_cubin(kernel, unit, key, ptx.text, &cubin)) {
        image.bytes = cubin.bytes;
        wrapped = (RtImage){RT_IMAGE_CUBIN, &image, sizeof image};
    }
    return kernel->device->api->module_load(kernel->device, &wrapped, module);
}

static tilec_status load_code(tilec_kernel *kernel, Unit *unit, const HashKey *key,
                              const Code *code, RtModule **module) {
    if (kernel->device->api->gpu) return load_for_gpu(kernel, unit, key, code, module);
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
    image.path = NULL;  // another process may have removed the file to make room
    return api->module_load(kernel->device, &wrapped, module);
}

// Only the image owns loaded code. So the memory for both is allocated before the code is loaded,
// and kept from then on.
static tilec_status load_image(tilec_kernel *kernel, Unit *unit, const Code *code,
                               const HashKey *key, Image **image) {
    Recovery r;
    if (RECOVER_FAILED(&r)) os_out_of_memory();
    Images *images = compiler_of(kernel->context)->images;
    Image *made = images_prepare(kernel->device, key, &code->notes);
    RtModule *module;
    tilec_status status = load_code(kernel, unit, key, code, &module);
    if (status)
        images_forget(made);
    else
        *image = images_put(images, made, module);
    recover_keep_all();
    recover_end(&r);
    return status;
}

// The version of code objects that the device's HIP reads: older than usual if HIP is old.
static uint32_t object_version(const tilec_device *device) {
    const RtDeviceApi *api = device->api;
    uint32_t newest = api->object_newest ? api->object_newest(device) : CODEGEN_OBJECT_VERSION;
    return newest < CODEGEN_OBJECT_VERSION ? newest : 0;
}

// The image from memory or from the disk; if neither has it, it is compiled.
static tilec_status find_image(tilec_kernel *kernel, Unit *unit, Specialization *s,
                               const Compiled *compiled, uint32_t variant, Image **image) {
    Jit *jit = kernel->source;
    const Compiler *c = compiler_of(kernel->context);
    CodeOptions options = {.variant = variant,
                           .lines = jit->switches.debug,
                           .object_version = object_version(kernel->device)};
    compiler_target_of(kernel->device, &options.target);
    options.output = code_output(options.target);
    HashKey key = code_key(unit->arena, compiled, &options);
    *image = images_take(c->images, kernel->device, &key);
    if (*image) return TILEC_OK;
    Code code;
    if (!code_find(unit->arena, &c->services, &options, &key, &code)) {
        s->fresh = NULL;
        if (!code_make(unit, compiled, &options, &c->services, &key, &code))
            return fail_diags(kernel, unit->diags);
    }
    return load_image(kernel, unit, &code, &key, image);
}

static tilec_status fail_target(tilec_context *context, const Compiler *c) {
    if (c->target_exists)
        return rt_fail(context, TILEC_UNAVAILABLE,
                       "TILEC_CPU_TARGET is '%s', which this machine does not run", c->bad_target);
    return rt_fail(context, TILEC_INVALID_ARGUMENT,
                   "TILEC_CPU_TARGET is '%s', and there is no such target; there are: %s",
                   c->bad_target, CPU_TARGETS_TEXT);
}

// Makes the variant's module; the kernel's mutex is held. The unit's arena may be freed afterwards.
static tilec_status make_variant(tilec_kernel *kernel, Unit *unit, Specialization *s,
                                 uint32_t variant) {
    const Compiler *c = compiler_of(kernel->context);
    if (c->bad_target[0] && !kernel->device->api->gpu) return fail_target(kernel->context, c);
    const Compiled *compiled = s->fresh ? s->fresh : compile(kernel, unit, &s->spec);
    if (!compiled) return fail_diags(kernel, unit->diags);
    tilec_status status = find_image(kernel, unit, s, compiled, variant, &s->images[variant]);
    if (status) return status;
    code_note_variant(&s->images[variant]->notes, &s->variants[variant]);
    atomic_store_explicit(&s->modules[variant], s->images[variant]->module, memory_order_release);
    return TILEC_OK;
}

static tilec_status prepare_locked(tilec_kernel *kernel, Specialization *s, uint32_t variant) {
    if (atomic_load(&s->modules[variant])) return TILEC_OK;
    Jit *jit = kernel->source;
    jit->source->compiling = true;
    Arena *arena = arena_create();
    Unit unit = unit_in(kernel, arena, diags_in(kernel, arena));
    tilec_status status = make_variant(kernel, &unit, s, variant);
    arena_destroy(arena);
    return status;
}

// Prepares a variant that no launch has chosen before.
static tilec_status prepare(tilec_kernel *kernel, const RtLoaded *loaded, uint32_t variant,
                            RtModule **module) {
    Jit *jit = kernel->source;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(kernel->context);
    tilec_status status = source_lock(jit->source);
    if (!status) {
        Specialization *s = jit->made;
        while (&s->loaded != loaded) s = s->next;
        status = prepare_locked(kernel, s, variant);
        *module = atomic_load(&s->modules[variant]);
        os_mutex_unlock(jit->source->lock);
    }
    recover_end(&r);
    return status;
}

// ---- Specialisations ----

static Specialization *new_specialization(const Jit *jit, Arena *arena, const FrontSpec *spec,
                                          const Compiled *compiled) {
    Specialization *s = arena_new(arena, Specialization, 1);
    s->arena = arena;
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

// The variant that most launches on the device choose.
static uint32_t likeliest_on(const tilec_device *device, const MetaKernel *meta) {
    uint32_t variant = launch_likely_variant(meta);
    bool mapped = (meta->variants[variant].facts & FACT_MAPPED) != 0;
    return mapped && !launch_has_maps(device) ? variant - 1 : variant;
}

// The specialisation has an arena of its own, which the caller destroys after a failure. `diags`
// may be NULL: then diagnostics are in that arena.
static tilec_status make_specialization(tilec_kernel *kernel, const FrontSpec *wanted, Diags *diags,
                                        Arena *arena, Specialization **made) {
    Jit *jit = kernel->source;
    Unit unit = unit_in(kernel, arena, diags ? diags : diags_in(kernel, arena));
    FrontSpec spec = jit_copy_spec(arena, wanted);
    const Compiled *compiled = compile(kernel, &unit, &spec);
    if (!compiled) return fail_diags(kernel, unit.diags);
    Specialization *s = *made = new_specialization(jit, arena, &spec, compiled);
    uint32_t likeliest = likeliest_on(kernel->device, s->loaded.meta);
    return makes_code(kernel) ? make_variant(kernel, &unit, s, likeliest)
                              : load_interpreted(kernel, s);
}

// Finds one specialisation, or compiles and loads it.
static tilec_status specialize(tilec_kernel *kernel, const FrontSpec *wanted, Diags *diags,
                               const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    for (Specialization *s = jit->made; s; s = s->next)
        if (same_bindings(&s->spec, wanted)) {
            *loaded = &s->loaded;
            return TILEC_OK;
        }
    jit->source->compiling = true;
    Arena *arena = arena_create();
    Specialization *s = NULL;
    tilec_status status = make_specialization(kernel, wanted, diags, arena, &s);
    if (status) {
        arena_destroy(arena);
        return status;
    }
    arena_keep(arena);
    s->next = jit->made;
    jit->made = s;
    *loaded = &s->loaded;
    return TILEC_OK;
}

// ---- Consts that were chosen for a shape, by measurements or estimates ----

// Does the default take the launch? An estimate chooses among candidates for speed alone, so what
// is refused does not depend on it.
static bool default_accepts(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            const FrontSpec *spec) {
    const Jit *jit = kernel->source;
    const RtLoaded *loaded;
    LaunchPlan plan = launch_plan(arena_new(jit->source->scratch, LaunchBuffers, 1));
    return !specialize(kernel, spec, NULL, &loaded) &&
           !launch_prepare(kernel->context, kernel->device, loaded->meta, args, count, NULL, &plan);
}

// The specialisation that the table, or else an estimate, names for these arguments. If it cannot
// be compiled or launched, `loaded` stays as it is, and the default one is used: the choice changes
// only times.
static void choose_consts(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                          const FrontSpec *spec, const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    TuneRow row;
    FrontSpec tuned = jit_copy_spec(jit->source->scratch, spec);
    const RtLoaded *better = NULL;
    LaunchPlan plan = launch_plan(arena_new(jit->source->scratch, LaunchBuffers, 1));
    bool measured = jit_tune_row(kernel, args, count, spec, &row);
    if (!measured && !jit_choose(kernel, args, count, spec, &row)) return;
    if (row.consts.data == jit->refused ||
        !tune_apply(jit->source->scratch, jit->source->unit->names, jit->kernel, &row, &tuned))
        return;
    if (specialize(kernel, &tuned, NULL, &better)) {
        jit->refused = row.consts.data;
        jit_choose_default(kernel, &row);
    } else if (!launch_prepare(kernel->context, kernel->device, better->meta, args, count, NULL,
                               &plan)) {
        bool checked = measured || !better->meta->variants[0].requires_count;
        if (checked || default_accepts(kernel, args, count, spec)) *loaded = better;
    }
    if (*loaded != better) rt_begin(kernel->context);
}

tilec_status jit_specialize(tilec_kernel *kernel, const FrontSpec *spec, const RtLoaded **loaded) {
    return specialize(kernel, spec, NULL, loaded);
}

const IrFunc *jit_tile_ir(const tilec_kernel *kernel, Arena *arena, const FrontSpec *spec) {
    Unit unit = unit_in(kernel, arena, diags_in(kernel, arena));
    const Compiled *compiled = compile(kernel, &unit, spec);
    return compiled ? compiled->func : NULL;
}

static tilec_status resolve_locked(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                                   bool own_grid, const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    FrontSpec spec;
    arena_reset(jit->source->scratch, (ArenaMark){0});
    tilec_status s = jit_bind(kernel, jit->source->scratch, args, count, &spec);
    *loaded = NULL;
    if (!s && own_grid && kernel->by_shape) choose_consts(kernel, args, count, &spec, loaded);
    return s || *loaded ? s : specialize(kernel, &spec, NULL, loaded);
}

static tilec_status resolve(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            bool own_grid, const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(kernel->context);
    tilec_status s = source_lock(jit->source);
    if (!s) {
        s = resolve_locked(kernel, args, count, own_grid, loaded);
        os_mutex_unlock(jit->source->lock);
    }
    recover_end(&r);
    return s;
}

static void unload(tilec_kernel *kernel, Specialization *s) {
    if (s->interpreted) unload_interpreted(kernel, s);
    for (uint32_t i = 0; i < s->loaded.meta->variant_count; i++)
        if (s->images[i]) images_drop(compiler_of(kernel->context)->images, s->images[i]);
}

// A thread that exists only in the parent of a fork may have changed anything of the source.
static void destroy(tilec_kernel *kernel) {
    Jit *jit = kernel->source;
    bool whole = !os_mutex_abandoned(jit->source->lock);
    for (Specialization *s = whole ? jit->made : NULL, *next; s; s = next) {
        next = s->next;
        unload(kernel, s);
        arena_destroy(s->arena);
    }
    source_leave(jit->source);
    if (!whole) return;
    arena_destroy(jit->arena);
    recover_free(jit);
}

// A kernel that can be destroyed by tilec_kernel_destroy; it is not yet visible to the caller.
static tilec_kernel *new_kernel(tilec_device *device, tilec_source *source) {
    Jit *jit = recover_new(sizeof *jit);
    tilec_kernel *k = recover_new(sizeof *k);
    *k = (tilec_kernel){.context = device->context,
                        .device = device,
                        .resolve = resolve,
                        .prepare = prepare,
                        .destroy = destroy,
                        .name = "",
                        .source = jit};
    jit->source = source;
    jit->arena = arena_create();
    jit->switches.debug = true;
    return k;
}

static tilec_status choose_kernel(tilec_kernel *k, const char *name, const tilec_spec *spec,
                                  Diags *diags) {
    Jit *jit = k->source;
    Unit unit = unit_in(k, jit->arena, diags);
    jit->spec.target = compiler_target_name(jit->arena, k->device);
    if (!diags_errors(diags)) jit->kernel = unit_kernel(&unit, name ? str(name) : STR(""));
    k->name = jit->kernel ? jit->kernel->name : "";
    if (!jit->kernel || !jit_spec(&unit, jit->kernel, spec, &jit->spec, &jit->switches))
        return source_fail(k->context, diags);
    if (!jit->switches.sanitize || !k->device->api->gpu) return TILEC_OK;
    bool sim = k->device->api == &sim_device_api;
    return rt_fail(k->context, TILEC_UNSUPPORTED,
                   "device '%s' has no sanitize: run it on interp or cpu%s", k->device->name,
                   sim ? "; what the simulator finds is an error anyway" : "");
}

// Compiles the kernel if its types are known; else checks it as far as possible.
static tilec_status check_kernel(tilec_kernel *k, Diags *diags) {
    const Jit *jit = k->source;
    if (jit_is_complete(jit)) return specialize(k, &jit->spec, diags, &k->loaded);
    if (frontend_check_open(jit->source->unit->file, jit->kernel, &jit->spec, diags))
        return TILEC_OK;
    return rt_fail_diags(k->context, TILEC_INVALID_SOURCE, diags);
}

static tilec_status begin_locked(tilec_kernel *k, const char *name, const tilec_spec *spec,
                                 Diags *diags) {
    Jit *jit = k->source;
    jit->source->compiling = true;
    tilec_status s = choose_kernel(k, name, spec, diags);
    if (!s) s = check_kernel(k, diags);
    if (s) return s;
    jit->tune_key = tune_key(jit->arena, jit->kernel, jit->spec.target);
    jit->tune_names = tune_names(arena_printf(jit->arena, "%.*s", STR_ARG(jit->tune_key.target)),
                                 k->device->api->simulated);
    jit->chooses = jit_can_choose(k);
    k->by_shape = jit_is_tuned(k) || jit->chooses || jit->switches.tune_ms;
    if (jit->switches.tune_ms) k->tune = jit_tune;
    rt_keep_diags(k->context, diags);
    return TILEC_OK;
}

// `diags` may be NULL: then the kernel has its own.
static tilec_status begin_kernel(tilec_kernel *k, const char *name, const tilec_spec *spec,
                                 Diags *diags) {
    Jit *jit = k->source;
    const Compiler *c = compiler_of(k->context);
    if (c->bad_seconds[0])
        return rt_fail(k->context, TILEC_INVALID_ARGUMENT,
                       "TILEC_COMPILE_SECONDS is '%s', expected " COMPILE_SECONDS_TEXT,
                       c->bad_seconds);
    tilec_status s = source_lock(jit->source);
    if (s) return s;
    s = begin_locked(k, name, spec, diags ? diags : diags_in(k, jit->arena));
    os_mutex_unlock(jit->source->lock);
    return s;
}

// The input of a kernel: an open source, a file, or a text with a name.
typedef struct Origin {
    tilec_source *open;
    const char *path;
    Str name, text;
} Origin;

static tilec_source *source_of(tilec_context *context, const Origin *from) {
    if (from->open) return from->open;
    return source_new(
        context, from->path ? unit_load_file(from->path) : unit_load_text(from->name, from->text));
}

static tilec_status make_kernel(tilec_device *device, const Origin *from, const char *name,
                                const tilec_spec *spec, tilec_kernel **out) {
    Recovery r;
    tilec_kernel *volatile made = NULL;
    if (RECOVER_FAILED(&r)) {
        tilec_kernel_destroy(made);
        return rt_no_memory(device->context);
    }
    tilec_source *source = source_of(device->context, from);
    tilec_kernel *k = new_kernel(device, source);
    if (from->open) source_join(source);
    recover_keep_all();
    made = k;
    tilec_status s = begin_kernel(k, name, spec, from->open ? NULL : source->unit->diags);
    recover_end(&r);
    if (s) {
        tilec_kernel_destroy(k);
        return s;
    }
    rt_kernel_adopt(k);
    *out = k;
    return TILEC_OK;
}

// Elaboration computes constants, so the caller's floating-point modes must not affect it.
static tilec_status make_usually(tilec_device *device, const Origin *from, const char *name,
                                 const tilec_spec *spec, tilec_kernel **out) {
    uint64_t mode = cpu_float_mode_usual();
    tilec_status s = make_kernel(device, from, name, spec, out);
    cpu_float_mode_restore(mode);
    return s;
}

static tilec_status check_call(tilec_context *context, const tilec_device *device, const char *what,
                               const void *source, tilec_kernel **out) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (!source || !out || !device)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "%s is NULL",
                       !source ? what
                       : !out  ? "the pointer for the kernel"
                               : "the device");
    if (device->context != context)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "the device belongs to another context");
    return TILEC_OK;
}

tilec_status tilec_kernel_from_file(tilec_context *context, tilec_device *device, const char *path,
                                    const char *kernel, const tilec_spec *spec,
                                    tilec_kernel **out) {
    tilec_status s = check_call(context, device, "the path", path, out);
    Origin from = {.path = path};
    return s ? s : make_usually(device, &from, kernel, spec, out);
}

tilec_status tilec_kernel_from_source(tilec_context *context, tilec_device *device,
                                      const char *name, const char *text, size_t length,
                                      const char *kernel, const tilec_spec *spec,
                                      tilec_kernel **out) {
    tilec_status s = check_call(context, device, "the source", text, out);
    if (s) return s;
    Origin from = {.name = source_name(name), .text = {text, length}};
    return make_usually(device, &from, kernel, spec, out);
}

tilec_status tilec_kernel_from_open(tilec_source *source, tilec_device *device, const char *kernel,
                                    const tilec_spec *spec, tilec_kernel **out) {
    tilec_context *context = source ? source->context : device ? device->context : NULL;
    tilec_status s = check_call(context, device, "the source", source, out);
    Origin from = {.open = source};
    return s ? s : make_usually(device, &from, kernel, spec, out);
}
