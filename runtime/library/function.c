// A function of a built library on its device: from the archive's group to a kernel.
#include <string.h>

#include "base/recover.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/launch.h"
#include "runtime/library/library.h"
#include "runtime/values.h"

// ---- Modules ----

static LibraryAlternative *alternative_of(LibraryFunction *f, const RtLoaded *loaded) {
    LibraryAlternative *a = f->alternatives;
    while (&a->loaded != loaded) a++;
    return a;
}

static tilec_status load_cpu(const LibraryFunction *f, const ArchiveCode *code, RtModule **module) {
    const struct tilec_archive *data = f->library->archive.data;
    RtCpuFunction entry = {.abi = data->cpu_abi, .target = f->library->targets[f->target].cpu};
    entry.entry = data->entries[code->entry];
    RtImage image = {RT_IMAGE_CPU_ENTRY, &entry, sizeof entry};
    return f->kernel.device->api->module_load(f->kernel.device, &image, module);
}

static tilec_status load_gpu(const LibraryFunction *f, const ArchiveCode *code, Str entry,
                             RtModule **module) {
    tilec_device *device = f->kernel.device;
    RtPtxImage text = {.text = code->bytes, .entry = entry};
    RtCubinImage cubin = {.entry = entry, .bytes = code->cubin, .ptx = code->bytes};
    RtImage image = {RT_IMAGE_PTX, &text, sizeof text};
    if (f->library->targets[f->target].gpu.vendor == GPU_AMD) image.kind = RT_IMAGE_HSACO;
    if (code->cubin.size && device->api == &cuda_device_api)
        image = (RtImage){RT_IMAGE_CUBIN, &cubin, sizeof cubin};
    return device->api->module_load(device, &image, module);
}

// The library's mutex must be held.
static tilec_status load_module(LibraryFunction *f, LibraryAlternative *a, uint32_t variant) {
    const ArchiveCode *code = &a->codes[variant];
    RtModule *module = NULL;
    Recovery r;
    if (RECOVER_FAILED(&r)) os_out_of_memory();
    tilec_status s = f->kernel.device->api->gpu
                         ? load_gpu(f, code, a->loaded.meta->variants[variant].entry, &module)
                         : load_cpu(f, code, &module);
    if (!s) atomic_store_explicit(&a->modules[variant], module, memory_order_release);
    recover_keep_all();
    recover_end(&r);
    return s;
}

static tilec_status prepare_locked(LibraryFunction *f, const RtLoaded *loaded, uint32_t variant,
                                   RtModule **module) {
    LibraryAlternative *a = alternative_of(f, loaded);
    tilec_status s = TILEC_OK;
    if (!atomic_load(&a->modules[variant])) s = load_module(f, a, variant);
    *module = atomic_load(&a->modules[variant]);
    return s;
}

static tilec_status prepare(tilec_kernel *kernel, const RtLoaded *loaded, uint32_t variant,
                            RtModule **module) {
    LibraryFunction *f = (LibraryFunction *)kernel;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(kernel->context);
    tilec_status s = library_lock(f->library, true);
    if (!s) {
        s = prepare_locked(f, loaded, variant, module);
        os_mutex_unlock(f->library->lock);
    }
    recover_end(&r);
    return s;
}

// ---- Which alternative ----

// The extents of the arguments by name, rounded up; false when a name has no extent.
static bool shape_of(Arena *arena, const MetaKernel *meta, const tilec_arg *args, size_t count,
                     TuneRow *key) {
    for (uint32_t e = 0; e < meta->extent_count; e++) {
        TuneSetting found = {.name = meta->extents[e], .value = -1};
        for (uint32_t i = 0; i < meta->arg_count && i < count; i++)
            for (uint32_t d = 0; meta->args[i].kind == META_VIEW && d < meta->args[i].rank; d++)
                if (meta->args[i].dims[d].extent == (int32_t)e && args[i].kind == TILEC_ARG_VIEW)
                    found.value = args[i].view.extent[d];
        if (found.value < 0) return false;
        found.value = tune_bucket(found.value);
        vec_push(arena, &key->shape, found);
    }
    return true;
}

static bool has_setting(const MetaVariant *v, const TuneSetting *s) {
    for (uint32_t i = 0; i < v->binding_count; i++)
        if (str_equal(v->bindings[i].name, s->name))
            return !v->bindings[i].is_type && v->bindings[i].value == s->value;
    for (uint32_t i = 0; i < v->option_count; i++)
        if (str_equal(str(v->options[i].name), s->name)) return v->options[i].value == s->value;
    return false;
}

static bool is_as_tuned(const MetaKernel *meta, const TuneRow *row) {
    for (size_t i = 0; i < row->consts.count; i++)
        if (!has_setting(&meta->variants[0], &row->consts.data[i])) return false;
    return true;
}

typedef struct FunctionChoice {
    LibraryFunction *f;
    Arena *scratch;
    const tilec_arg *args;
    size_t count;
    bool own_grid;
    LaunchPlan plan;
} FunctionChoice;

// A caller's grid is checked when the alternative is known; any will do here.
static tilec_status attempt(FunctionChoice *c, const LibraryAlternative *a) {
    static const LaunchOverride any = {LAUNCH_ANY_VARIANT, {1, 1, 1}};
    const tilec_kernel *k = &c->f->kernel;
    rt_begin(k->context);
    return launch_prepare(k->context, k->device, a->loaded.meta, c->args, c->count,
                          c->own_grid ? NULL : &any, &c->plan);
}

static bool fits(FunctionChoice *c, const LibraryAlternative *a) {
    return attempt(c, a) == TILEC_OK;
}

// The table's row for the target, and the alternative that is built with its consts.
static const LibraryAlternative *tuned_for(FunctionChoice *c, TuneRow *key, Str target) {
    const LibraryFunction *f = c->f;
    key->target = target;
    const TuneRow *row = tune_find(f->library->tuned, key);
    for (uint32_t i = 0; row && i < f->count; i++)
        if (is_as_tuned(f->alternatives[i].loaded.meta, row) && fits(c, &f->alternatives[i]))
            return &f->alternatives[i];
    return NULL;
}

// The alternative tuned on this kind of device, else the one tuned for the code's target.
static const LibraryAlternative *tuned(FunctionChoice *c) {
    const LibraryFunction *f = c->f;
    TuneRow key = f->tune_key;
    char device[CPU_NAME_MAX];
    if (!shape_of(c->scratch, f->alternatives[0].loaded.meta, c->args, c->count, &key)) return NULL;
    TuneNames names = tune_names(library_place_target(&f->library->place, device),
                                 f->kernel.device->api->simulated);
    const LibraryAlternative *found = NULL;
    for (uint32_t i = 0; !found && i < names.count; i++)
        found = tuned_for(c, &key, str(names.text[i]));
    return found ? found : tuned_for(c, &key, f->tune_key.target);
}

// Do all alternatives have this setting?
static bool is_common(const LibraryFunction *f, const TuneSetting *s) {
    for (uint32_t i = 0; i < f->count; i++)
        if (!has_setting(&f->alternatives[i].loaded.meta->variants[0], s)) return false;
    return true;
}

static bool is_common_type(const LibraryFunction *f, uint32_t arg, Dtype type) {
    for (uint32_t i = 0; i < f->count; i++)
        if (f->alternatives[i].loaded.meta->args[arg].dtype != type) return false;
    return true;
}

static bool requires_it(const MetaVariant *v, Str text) {
    for (uint32_t i = 0; i < v->requires_count; i++)
        if (str_equal(v->requires[i].text, text)) return true;
    return false;
}

static bool is_common_promise(const LibraryFunction *f, Str text) {
    for (uint32_t i = 0; i < f->count; i++)
        if (!requires_it(&f->alternatives[i].loaded.meta->variants[0], text)) return false;
    return true;
}

static void add_setting(const LibraryFunction *f, Str name, int64_t value, StrBuf *out) {
    TuneSetting s = {name, value};
    if (!is_common(f, &s)) strbuf_printf(out, " %.*s=%lld", STR_ARG(name), (long long)value);
}

// Adds " n=i32 (n % 16 == 0) | n=i64 BM=128 warps=8": in what they differ.
static void add_alternatives(const LibraryFunction *f, StrBuf *out) {
    for (uint32_t i = 0; i < f->count; i++) {
        const MetaKernel *meta = f->alternatives[i].loaded.meta;
        const MetaVariant *v = &meta->variants[0];
        if (i) strbuf_add(out, STR(" |"));
        for (uint32_t k = 0; k < meta->arg_count; k++)
            if (!is_common_type(f, k, meta->args[k].dtype))
                strbuf_printf(out, " %.*s=%s%s", STR_ARG(meta->args[k].name),
                              meta->args[k].kind == META_POINTER ? "*" : "",
                              dtype_name(meta->args[k].dtype));
        for (uint32_t k = 0; k < v->binding_count; k++)
            if (!v->bindings[k].is_type)
                add_setting(f, v->bindings[k].name, v->bindings[k].value, out);
        for (uint32_t k = 0; k < v->option_count; k++)
            add_setting(f, str(v->options[k].name), v->options[k].value, out);
        for (uint32_t k = 0; k < v->requires_count; k++)
            if (!is_common_promise(f, v->requires[k].text))
                strbuf_printf(out, " (%.*s)", STR_ARG(v->requires[k].text));
    }
}

// Do the alternatives refuse the arguments because of their consts? They do if their messages
// differ, or the common message names a const in which they differ.
static bool is_for_consts(FunctionChoice *c, Str first) {
    const LibraryFunction *f = c->f;
    const MetaVariant *v = &f->alternatives[0].loaded.meta->variants[0];
    for (uint32_t k = 0; k < v->binding_count; k++) {
        TuneSetting s = {v->bindings[k].name, v->bindings[k].value};
        if (!v->bindings[k].is_type && !is_common(f, &s) && str_has_word(first, s.name))
            return true;
    }
    for (uint32_t i = 1; i < f->count; i++)
        if (attempt(c, &f->alternatives[i]) &&
            !str_equal(str(tilec_last_error(f->kernel.context)), first))
            return true;
    return false;
}

// The refusal when no alternative fits; `said` is the first one's message.
static tilec_status none_fits(FunctionChoice *c, tilec_status status, Str said) {
    tilec_context *context = c->f->kernel.context;
    StrBuf text = strbuf(c->scratch);
    strbuf_add(&text, said);
    if (is_for_consts(c, said)) {
        strbuf_printf(&text, ". It is built for");
        add_alternatives(c->f, &text);
        strbuf_printf(&text, ", and none fits. Build it for another value, too: ");
        library_add_command(&c->f->library->archive, &text);
    }
    rt_begin(context);
    return rt_fail(context, status, "%s", text.text);
}

// Does the alternative have the consts of the first one?
static bool has_first_consts(const LibraryFunction *f, uint32_t number) {
    const MetaVariant *v = &f->alternatives[0].loaded.meta->variants[0];
    const MetaVariant *other = &f->alternatives[number].loaded.meta->variants[0];
    for (uint32_t k = 0; k < v->binding_count; k++) {
        TuneSetting s = {v->bindings[k].name, v->bindings[k].value};
        if (!v->bindings[k].is_type && !has_setting(other, &s)) return false;
    }
    return true;
}

// A caller's own grid depends on consts, and is for those of the first alternative.
static tilec_status choose(FunctionChoice *c, const LibraryAlternative **found) {
    tilec_context *context = c->f->kernel.context;
    tilec_status first = TILEC_OK;
    Str said = {0};
    *found = c->own_grid ? tuned(c) : NULL;
    for (uint32_t i = 0; !*found && i < c->f->count; i++) {
        if (!c->own_grid && !has_first_consts(c->f, i)) continue;
        tilec_status s = attempt(c, &c->f->alternatives[i]);
        if (!s) *found = &c->f->alternatives[i];
        if (!s || i) continue;
        first = s;
        said = str(tilec_last_error(context));
        said.text = arena_text(c->scratch, said.text, said.size);
    }
    if (!*found) return none_fits(c, first, said);
    rt_begin(context);
    return TILEC_OK;
}

static tilec_status resolve_locked(LibraryFunction *f, const tilec_arg *args, size_t count,
                                   bool own_grid, const RtLoaded **loaded) {
    const LibraryAlternative *found;
    arena_reset(f->scratch, (ArenaMark){0});
    FunctionChoice c = {
        .f = f, .scratch = f->scratch, .args = args, .count = count, .own_grid = own_grid};
    c.plan = launch_plan(arena_new(c.scratch, LaunchBuffers, 1));
    tilec_status s = choose(&c, &found);
    if (!s) *loaded = &found->loaded;
    return s;
}

static tilec_status resolve(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            bool own_grid, const RtLoaded **loaded) {
    LibraryFunction *f = (LibraryFunction *)kernel;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(kernel->context);
    tilec_status s = library_lock(f->library, false);
    if (!s) {
        s = resolve_locked(f, args, count, own_grid, loaded);
        os_mutex_unlock(f->library->lock);
    }
    recover_end(&r);
    return s;
}

// ---- Making ----

// The function's group that fits best; false: none fits.
static bool best_group(const tilec_library *l, const ArchiveFunction *from, uint32_t *group,
                       uint32_t *target) {
    uint32_t best = 0, t;
    for (uint32_t i = 0; i < from->group_count; i++) {
        if (!archive_group_target(&l->archive, from->first_group + i, &t)) continue;
        uint32_t fit = library_fit(&l->targets[t], &l->place);
        if (fit <= best) continue;
        best = fit;
        *group = from->first_group + i;
        *target = t;
    }
    return best > 0;
}

static tilec_status no_code(const tilec_library *l, const ArchiveFunction *from) {
    char name[CPU_NAME_MAX];
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    const char *target = library_place_target(&l->place, name);
    library_add_targets(&l->archive, target, &text);
    tilec_status s = rt_fail(l->device->context, TILEC_UNAVAILABLE,
                             "library %s has no code of %s for device %s (%s)%s", l->name,
                             from->name.text, l->device->name, target, text.text);
    arena_destroy(arena);
    return s;
}

// The chosen types in the order of the parameters, as `tilec tune` writes them.
static Str types_of(Arena *arena, const MetaKernel *meta) {
    StrBuf out = strbuf(arena);
    const MetaVariant *v = &meta->variants[0];
    for (uint32_t i = 0; i < v->binding_count; i++)
        if (v->bindings[i].is_type)
            strbuf_printf(&out, "%s%.*s=%s", out.size ? "," : "", STR_ARG(v->bindings[i].name),
                          dtype_name(v->bindings[i].type));
    return out.size ? strbuf_str(&out) : STR("-");
}

static void add_alternative(LibraryFunction *f, uint32_t number, const ArchiveAlternative *from) {
    LibraryAlternative *a = &f->alternatives[number];
    uint32_t count = from->meta->variant_count;
    a->modules = arena_array(f->arena, sizeof(RtModuleSlot), count);
    for (uint32_t i = 0; i < count; i++) atomic_init(&a->modules[i], NULL);
    a->codes = from->codes;
    a->loaded = (RtLoaded){.modules = a->modules, .meta = from->meta};
}

// How the C function takes the arguments of all alternatives; NULL: the group is damaged.
static const MetaKernel *params_of(Arena *arena, const ArchiveGroup *group) {
    const MetaKernel *first = group->alternatives[0].meta;
    MetaKernel *params = arena_copy(arena, first, sizeof *first);
    MetaArg *args = arena_copy(arena, first->args, first->arg_count * sizeof *args);
    uint32_t wrong;
    params->args = args;
    for (uint32_t i = 1; i < group->count; i++)
        if (!rt_values_join(args, params->arg_count, group->alternatives[i].meta, &wrong))
            return NULL;
    return params;
}

static bool entries_exist(const tilec_library *l, const ArchiveGroup *group, bool on_gpu) {
    for (uint32_t i = 0; i < group->count; i++)
        for (uint32_t v = 0; v < group->alternatives[i].meta->variant_count; v++) {
            const ArchiveCode *code = &group->alternatives[i].codes[v];
            if (on_gpu ? !code->bytes.size : code->entry >= l->archive.data->entry_count)
                return false;
        }
    return true;
}

// The library's mutex must be held. False: the archive's table is damaged.
static bool has_table(tilec_library *l) {
    Str text;
    if (l->tuned) return true;
    ArchiveResult result = archive_tuned(&l->archive, l->arena, &text);
    if (result == ARCHIVE_NO_MEMORY) os_out_of_memory();
    if (result) return false;
    l->tuned = tune_parse(l->arena, text);
    return true;
}

static tilec_status damaged(const tilec_library *l, const ArchiveFunction *from) {
    Arena *arena = arena_create();
    StrBuf command = strbuf(arena);
    library_add_command(&l->archive, &command);
    tilec_status s = rt_fail(l->device->context, TILEC_IO,
                             "the archive of library %s is damaged: its code of %s does not have "
                             "its checksum. Rebuild it: %s",
                             l->name, from->name.text, command.text);
    arena_destroy(arena);
    return s;
}

tilec_status library_function_make(tilec_library *library, uint32_t number,
                                   LibraryFunction **function) {
    ArchiveFunction from;
    uint32_t group = 0, target = 0;
    if (!archive_function_whole(&library->archive, number, &from))
        return rt_fail(library->device->context, TILEC_IO,
                       "the archive of library %s is damaged; rebuild it", library->name);
    if (!best_group(library, &from, &group, &target)) return no_code(library, &from);
    Arena *arena = arena_create();
    ArchiveGroup code;
    ArchiveResult result = archive_group(&library->archive, group, arena, &code);
    if (result == ARCHIVE_NO_MEMORY) os_out_of_memory();
    bool on_gpu = library->device->api->gpu != NULL;
    const MetaKernel *params = result ? NULL : params_of(arena, &code);
    if (!params || !entries_exist(library, &code, on_gpu) ||
        (code.count > 1 && !has_table(library))) {
        arena_destroy(arena);
        return damaged(library, &from);
    }
    LibraryFunction *f = arena_new(arena, LibraryFunction, 1);
    f->library = library;
    f->arena = arena;
    f->scratch = arena_create();
    f->target = target;
    f->count = code.count;
    f->alternatives = arena_new(arena, LibraryAlternative, code.count);
    for (uint32_t i = 0; i < code.count; i++) add_alternative(f, i, &code.alternatives[i]);
    f->tune_key = (TuneRow){.kernel = code.kernel,
                            .source = code.source,
                            .target = library->targets[target].name,
                            .types = types_of(arena, code.alternatives[0].meta)};
    f->kernel = (tilec_kernel){.context = library->device->context,
                               .device = library->device,
                               .of_library = true,
                               .by_shape = code.count > 1,
                               .name = arena_text(arena, from.name.text, from.name.size),
                               .loaded = &f->alternatives[0].loaded,
                               .params = params,
                               .resolve = resolve,
                               .prepare = prepare};
    *function = f;
    return TILEC_OK;
}

static tilec_status find_or_make(tilec_library *library, uint32_t number,
                                 LibraryFunction **function) {
    LibrarySlot *slot = &library->functions[number];
    *function = atomic_load(slot);
    if (*function) return TILEC_OK;
    tilec_status s = library_function_make(library, number, function);
    if (s) return s;
    arena_keep((*function)->arena);
    arena_keep((*function)->scratch);
    atomic_store_explicit(slot, *function, memory_order_release);
    return TILEC_OK;
}

tilec_status library_function(tilec_library *library, uint32_t number, LibraryFunction **function) {
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(library->device->context);
    tilec_status s = library_lock(library, true);
    if (!s) {
        s = find_or_make(library, number, function);
        os_mutex_unlock(library->lock);
    }
    recover_end(&r);
    return s;
}

static void unload(const LibraryFunction *f, RtModule *module) {
    const RtDeviceApi *api = f->kernel.device->api;
    if (api->module_finish) api->module_finish(f->kernel.device, module);
    api->module_unload(f->kernel.device, module);
}

void library_function_destroy(LibraryFunction *f) {
    if (!f) return;
    rt_kernel_end(&f->kernel);
    for (uint32_t i = 0; i < f->count; i++) {
        LibraryAlternative *a = &f->alternatives[i];
        for (uint32_t v = 0; v < a->loaded.meta->variant_count; v++) {
            RtModule *module = atomic_load(&a->modules[v]);
            if (module) unload(f, module);
        }
    }
    arena_destroy(f->scratch);
    arena_destroy(f->arena);
}
