#include "compile/jit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "compile/interp_device.h"
#include "runtime/context.h"
#include "runtime/launch.h"

typedef struct Specialization {
    TileSpec spec;
    InterpImage image;
    RtLoaded loaded;
    RtModuleSlot modules[1];
    struct Specialization *next;
} Specialization;

typedef struct Jit {
    Unit *unit;
    const AstKernel *kernel;
    TileSpec spec;
    bool sanitize;
    OsMutex *lock;
    Arena *scratch;  // of one look-up
    Specialization *made;
} Jit;

tilec_status tilec_context_create(const tilec_context_options *options, tilec_context **context) {
    static const RtDeviceApi *const apis[] = {&interp_device_api};
    return rt_context_create(options, apis, sizeof apis / sizeof *apis, context);
}

static const AstDecl *find_param(const AstKernel *kernel, Str name, AstDeclKind kind) {
    for (const AstDecl *p = kernel->params; p; p = p->next)
        if (p->kind == kind && str_equal(str(p->name), name)) return p;
    return NULL;
}

static void unknown_entry(Unit *u, const AstKernel *kernel, const char *what, Str name,
                          AstDeclKind kind) {
    diag_error(u->diags, kernel->decl->span, DIAG_SPECIALIZE, "kernel '%s' has no %s '%.*s'",
               kernel->decl->name, what, STR_ARG(name));
    StrBuf b = strbuf(u->arena);
    for (const AstDecl *p = kernel->params; p; p = p->next)
        if (p->kind == kind) strbuf_printf(&b, "%s%s", b.size ? ", " : "", p->name);
    diag_help(u->diags, b.size ? "it has: %s" : "it has none%s", b.text);
}

static bool option(Unit *u, const AstKernel *kernel, Str name, int64_t value, TileSpec *spec,
                   bool *sanitize) {
    static const char *const numbers[] = {"warps", "stages", "ctas"};
    unsigned math = str_equal(name, STR("math.contract")) ? IR_MATH_CONTRACT
                    : str_equal(name, STR("math.approx")) ? IR_MATH_APPROX
                                                          : 0;
    bool is_switch = math || str_equal(name, STR("sanitize"));
    if (is_switch && value != 0 && value != 1) {
        diag_error(u->diags, kernel->decl->span, DIAG_SPECIALIZE, "%.*s must be 0 or 1, found %lld",
                   STR_ARG(name), (long long)value);
        return false;
    }
    if (math) {
        if (value) spec->math |= math;
        return true;
    }
    if (str_equal(name, STR("sanitize"))) {
        *sanitize = value != 0;
        return true;
    }
    for (size_t i = 0; i < 3; i++) {
        if (!str_equal(name, str(numbers[i]))) continue;
        if (value < 1 || value > 1024) {
            diag_error(u->diags, kernel->decl->span, DIAG_SPECIALIZE,
                       "%s must be 1 to 1024, found %lld", numbers[i], (long long)value);
            return false;
        }
        IrBinding b = {.name = intern(u->names, name), .value = value};
        vec_push(u->arena, &spec->bindings, b);
        return true;
    }
    diag_error(u->diags, kernel->decl->span, DIAG_SPECIALIZE, "there is no option '%.*s'",
               STR_ARG(name));
    diag_help(u->diags, "options are: warps, stages, ctas, sanitize, math.contract, math.approx");
    return false;
}

static bool spec_entry(Unit *u, const AstKernel *kernel, const tilec_spec_entry *e, TileSpec *spec,
                       bool *sanitize) {
    if (!e->name) {
        diag_error(u->diags, kernel->decl->span, DIAG_SPECIALIZE,
                   "a specialisation entry has no name");
        return false;
    }
    Str name = str(e->name);
    IrBinding b = {.name = intern(u->names, name), .value = e->value};
    if (tile_spec_find(spec, b.name)) {
        diag_error(u->diags, kernel->decl->span, DIAG_SPECIALIZE, "'%s' is specialised twice",
                   b.name);
        return false;
    }
    switch (e->kind) {
    case TILEC_SPEC_OPTION: return option(u, kernel, name, e->value, spec, sanitize);
    case TILEC_SPEC_TYPE:
        if (!find_param(kernel, name, DECL_TYPE_PARAM)) {
            unknown_entry(u, kernel, "type parameter", name, DECL_TYPE_PARAM);
            return false;
        }
        if (!tilec_dtype_name(e->dtype)) {
            diag_error(u->diags, kernel->decl->span, DIAG_SPECIALIZE,
                       "%s: no element type has number %d", e->name, (int)e->dtype);
            return false;
        }
        b.is_type = true;
        b.type = (Dtype)e->dtype;
        break;
    case TILEC_SPEC_CONST:
        if (!find_param(kernel, name, DECL_CONST_PARAM)) {
            unknown_entry(u, kernel, "const parameter", name, DECL_CONST_PARAM);
            return false;
        }
        break;
    default:  // a number that no enumerator has: the caller's memory, not ours
        diag_error(u->diags, kernel->decl->span, DIAG_SPECIALIZE,
                   "'%s': no kind of entry has number %d", b.name, (int)e->kind);
        return false;
    }
    vec_push(u->arena, &spec->bindings, b);
    return true;
}

bool jit_spec(Unit *unit, const AstKernel *kernel, const tilec_spec *from, TileSpec *spec,
              bool *sanitize) {
    bool good = true;
    if (from && from->count && !from->entries) {
        diag_error(unit->diags, kernel->decl->span, DIAG_SPECIALIZE,
                   "the specialisation's entries are NULL");
        return false;
    }
    for (size_t i = 0; from && i < from->count; i++)
        good = spec_entry(unit, kernel, &from->entries[i], spec, sanitize) && good;
    return good;
}

static bool types_known(const AstKernel *kernel, const TileSpec *spec) {
    for (const AstDecl *p = kernel->params; p; p = p->next)
        if (p->kind == DECL_TYPE_PARAM && !tile_spec_find(spec, p->name)) return false;
    return true;
}

static bool same_types(const AstKernel *kernel, const TileSpec *a, const TileSpec *b) {
    for (const AstDecl *p = kernel->params; p; p = p->next)
        if (p->kind == DECL_TYPE_PARAM &&
            tile_spec_find(a, p->name)->type != tile_spec_find(b, p->name)->type)
            return false;
    return true;
}

// The bindings of `from`, copied for as long as the arena lives.
static TileSpec copy_spec(Arena *arena, const TileSpec *from) {
    TileSpec spec = {.target = from->target, .math = from->math};
    for (size_t i = 0; i < from->bindings.count; i++)
        vec_push(arena, &spec.bindings, from->bindings.data[i]);
    return spec;
}

// Compiles and loads one specialisation, or finds it; the kernel's mutex is held.
static tilec_status specialize(tilec_kernel *kernel, const TileSpec *wanted,
                               const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    for (Specialization *s = jit->made; s; s = s->next)
        if (same_types(jit->kernel, &s->spec, wanted)) {
            *loaded = &s->loaded;
            return TILEC_OK;
        }
    TileSpec spec = copy_spec(jit->unit->arena, wanted);
    // A sanitizer looks at what was written: an access that passes would drop is looked at, too.
    CompileOptions options = {.elaborate_only = jit->sanitize};
    const Compiled *compiled = unit_compile(jit->unit, jit->kernel, &spec, &options);
    if (!compiled) return rt_fail_diags(kernel->context, TILEC_INVALID_SOURCE, jit->unit->diags);
    Specialization *s = arena_new(jit->unit->arena, Specialization, 1);
    s->spec = spec;
    s->image = (InterpImage){.func = compiled->func, .sanitize = jit->sanitize};
    s->loaded.meta = compiled->meta;
    s->loaded.modules = s->modules;
    RtImage image = {RT_IMAGE_IR, &s->image, sizeof s->image};
    RtModule *module;
    tilec_status status = kernel->device->api->module_load(kernel->device, &image, &module);
    if (status) return status;
    atomic_init(&s->modules[0], module);
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

static tilec_status resolve_locked(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                                   const RtLoaded **loaded) {
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
    }
    diags_truncate(jit->unit->diags, before);
    arena_reset(jit->scratch, mark);
    return s;
}

static tilec_status resolve(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            const RtLoaded **loaded) {
    Jit *jit = kernel->source;
    os_mutex_lock(jit->lock);
    tilec_status s = resolve_locked(kernel, args, count, loaded);
    os_mutex_unlock(jit->lock);
    return s;
}

static void destroy(tilec_kernel *kernel) {
    Jit *jit = kernel->source;
    for (Specialization *s = jit->made; s; s = s->next)
        kernel->device->api->module_unload(kernel->device, atomic_load(&s->modules[0]));
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
    CHECK(jit && k, "out of memory");
    *k = (tilec_kernel){.context = context,
                        .device = device,
                        .resolve = resolve,
                        .destroy = destroy,
                        .source = jit};
    jit->unit = unit;
    jit->lock = os_mutex_create();
    jit->scratch = arena_create();
    tilec_status s = TILEC_OK;
    if (!diags_errors(unit->diags)) jit->kernel = unit_kernel(unit, name ? str(name) : STR(""));
    k->name = jit->kernel ? jit->kernel->decl->name : "";
    if (!jit->kernel || !jit_spec(unit, jit->kernel, spec, &jit->spec, &jit->sanitize)) {
        bool io = diags_count(unit->diags) && diags_get(unit->diags, 0)->code == DIAG_IO;
        s = rt_fail_diags(context, io ? TILEC_IO : TILEC_INVALID_SOURCE, unit->diags);
    } else if (types_known(jit->kernel, &jit->spec)) {
        s = specialize(k, &jit->spec, &k->loaded);
    }
    if (s) {
        tilec_kernel_destroy(k);
        return s;
    }
    rt_keep_diags(context, unit->diags);
    rt_kernel_adopt(k);
    *out = k;
    return TILEC_OK;
}

static tilec_status check_call(tilec_context *context, const tilec_device *device,
                               const void *source, tilec_kernel **out) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (!source || !out || !device)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "%s is NULL",
                       !source ? "the source"
                       : !out  ? "the place for the kernel"
                               : "the device");
    if (device->context != context)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "the device belongs to another context");
    return TILEC_OK;
}

tilec_status tilec_kernel_from_file(tilec_context *context, tilec_device *device, const char *path,
                                    const char *kernel, const tilec_spec *spec,
                                    tilec_kernel **out) {
    tilec_status s = check_call(context, device, path, out);
    return s ? s : make_kernel(context, device, unit_load_file(path), kernel, spec, out);
}

tilec_status tilec_kernel_from_source(tilec_context *context, tilec_device *device,
                                      const char *name, const char *text, size_t length,
                                      const char *kernel, const tilec_spec *spec,
                                      tilec_kernel **out) {
    tilec_status s = check_call(context, device, text, out);
    if (s) return s;
    Str path = name ? str(name) : STR("source");
    return make_kernel(context, device, unit_load_text(path, (Str){text, length}), kernel, spec,
                       out);
}
