#include "compile/pipeline/compile.h"

#include "base/os/os.h"
#include "base/status.h"
#include "compile/pipeline/launch_build.h"
#include "compile/pipeline/launch_guard.h"
#include "ir/verify/verify.h"

static const SourceFile *add_file(Unit *u, Str path, Span span) {
    const SourceFile *known = source_find(u->sources, path);
    if (known) return known;
    const SourceFile *given = u->given ? source_find(u->given, path) : NULL;
    if (given) return source_add(u->sources, path, given->text);
    Str text;
    OsError error;
    char *name = arena_text(u->arena, path.text, path.size);
    if (!os_read_file(u->arena, name, SOURCE_MAX, &text, &error)) {
        diag_error(u->diags, span, DIAG_IO, "cannot read '%s': %s", name, error.text);
        return NULL;
    }
    return source_add(u->sources, path, text);
}

// Reading a pipe or a terminal may wait for ever. Only the file that a command names may be one.
static const SourceFile *read_import(void *user, Str path, Span span, Diags *diags) {
    Unit *u = user;
    const char *name = arena_text(u->arena, path.text, path.size);
    if (!os_path_waits(name)) return add_file(u, path, span);
    diag_error(diags, span, DIAG_IMPORT, "'%s' is a pipe or a terminal: an import reads files",
               name);
    return NULL;
}

static Unit *unit_create(void) {
    Arena *arena = arena_create();
    Unit *u = arena_new(arena, Unit, 1);
    u->arena = arena;
    u->sources = sources_create(arena);
    u->names = interner_create(arena);
    u->diags = diags_create(arena, u->sources);
    return u;
}

static Unit *load(Unit *u, const SourceFile *file) {
    FrontInput in = {.arena = u->arena,
                     .sources = u->sources,
                     .names = u->names,
                     .import = read_import,
                     .user = u,
                     .any_name = u->is_text};
    if (file) u->file = frontend_load(&in, file, u->diags);
    // Nothing is compiled of a wrong file: all that is wrong with it is said at once.
    if (u->file && diags_errors(u->diags)) {
        frontend_check(u->file, u->diags);
        diags_sort(u->diags);
    }
    return u;
}

Unit *unit_load_file(const char *path) {
    Unit *u = unit_create();
    return load(u, add_file(u, str(path), (Span){0}));
}

Unit *unit_load_text(Str name, Str text) {
    Unit *u = unit_create();
    u->is_text = true;
    const SourceFile *file = source_add(u->sources, name, text);
    if (!file)
        diag_error(u->diags, (Span){0}, DIAG_TOO_LARGE, "'%.*s' is larger than %d MiB",
                   STR_ARG(name), SOURCE_MAX >> 20);
    return load(u, file);
}

Unit *unit_load_again(const Unit *unit) {
    Unit *u = unit_create();
    const SourceFile *first = sources_count(unit->sources) ? sources_get(unit->sources, 0) : NULL;
    u->given = unit->sources;
    u->is_text = unit->is_text;
    return load(u, first ? add_file(u, first->path, (Span){0}) : NULL);
}

void unit_destroy(Unit *unit) {
    if (unit) arena_destroy(unit->arena);
}

void unit_begin(Unit *unit, unsigned seconds) {
    unit->limit = (PassLimit){0};
    if (seconds) unit->limit = (PassLimit){os_time_ns() + seconds * UINT64_C(1000000000), seconds};
}

bool compile_seconds_parse(Str text, unsigned *seconds) {
    uint64_t number;
    bool overflow = false;
    if (!str_to_u64(text, &number, &overflow) || overflow) return false;
    if (number < 1 || number > COMPILE_SECONDS_MOST) return false;
    *seconds = (unsigned)number;
    return true;
}

static void list_kernels(Unit *u) {
    size_t n = u->file->kernel_count;
    StrBuf b = strbuf(u->arena);
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, "%s%s", i ? ", " : "", u->file->kernels[i].name);
    if (n) diag_help(u->diags, "the kernels here are: %s", b.text);
}

static Str nearest_kernel(Unit *u, Str name) {
    size_t n = u->file->kernel_count;
    Str *names = arena_new(u->arena, Str, n + 1);
    for (size_t i = 0; i < n; i++) names[i] = str(u->file->kernels[i].name);
    return str_nearest(name, names, n);
}

const FrontKernel *unit_kernel(Unit *unit, Str name) {
    if (!unit->file) return NULL;
    size_t n = unit->file->kernel_count;
    if (name.size) {
        const FrontKernel *k = frontend_find(unit->file, name);
        if (k) return k;
        Str nearest = nearest_kernel(unit, name);
        diag_error(unit->diags, (Span){0}, DIAG_KERNEL, "there is no kernel '%.*s'%s%.*s%s",
                   STR_ARG(name), nearest.size ? "; did you mean '" : "", STR_ARG(nearest),
                   nearest.size ? "'?" : "");
        list_kernels(unit);
        return NULL;
    }
    if (n == 1) return &unit->file->kernels[0];
    diag_error(unit->diags, (Span){0}, DIAG_KERNEL,
               n ? "there are %zu kernels, and none is named" : "there is no kernel (%zu)", n);
    list_kernels(unit);
    return NULL;
}

CompileVariants compile_variants_of(CodeTarget target) {
    if (!code_target_is_gpu(target)) return VARIANTS_CPU;
    return target.gpu.vendor == GPU_AMD ? VARIANTS_BUFFERS : VARIANTS_GPU;
}

const Compiled *unit_compile(Unit *unit, const FrontKernel *kernel, const FrontSpec *spec,
                             const CompileOptions *options) {
    static const CompileOptions defaults = {0};
    if (!options) options = &defaults;
    Compiled *c = arena_new(unit->arena, Compiled, 1);
    // Source to tile IR.
    c->module = ir_module_create(unit->arena, unit->sources, unit->names);
    c->func = frontend_elaborate(unit->file, c->module, kernel, spec, unit->diags);
    if (!c->func) return NULL;
    if (!ir_verify(c->module, unit->diags)) return NULL;
    if (!pass_limit_holds(&unit->limit, c->func, "the front end", unit->diags)) return NULL;
    // Tile IR, made better by passes.
    if (!options->elaborate_only) {
        size_t count = options->step_count;
        const PassStep *steps =
            options->steps ? options->steps : pipeline_steps(PIPELINE_TILE, &count);
        PassOptions passes = options->passes;
        passes.limit = unit->limit;
        if (!passes_run(c->module, steps, count, &passes, unit->diags)) return NULL;
    }
    // What a launch needs to know.
    c->meta = launch_build_meta(unit->arena, c->func, unit->diags);
    if (!c->meta) return NULL;
    if (options->variants == VARIANTS_CPU) launch_add_variants(unit->arena, c->meta);
    bool buffers = options->variants == VARIANTS_BUFFERS;
    if (buffers || options->variants == VARIANTS_GPU)
        launch_add_gpu_variants(unit->arena, c->meta, buffers);
    return c;
}
