// The files, the time limit and the kernels of a unit.
#include "compile/pipeline/unit.h"

#include "base/os/os.h"

Unit *unit_create(void) {
    Arena *arena = arena_create();
    Unit *u = arena_new(arena, Unit, 1);
    u->arena = arena;
    u->sources = sources_create(arena);
    u->names = interner_create(arena);
    u->diags = diags_create(arena, u->sources);
    return u;
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
    if (number < 1 || number > COMPILE_SECONDS_MAX) return false;
    *seconds = (unsigned)number;
    return true;
}

// ---- Files

const SourceFile *unit_file(Unit *u, Str path, Span span, Diags *diags) {
    const SourceFile *known = source_find(u->sources, path);
    if (known) return known;
    const SourceFile *given = u->given ? source_find(u->given, path) : NULL;
    if (given) return source_add(u->sources, path, given->text);
    Str text;
    OsError error;
    char *name = arena_text(u->arena, path.text, path.size);
    if (!os_read_file(u->arena, name, SOURCE_MAX, &text, &error)) {
        diag_error(diags, span, DIAG_IO, "cannot read '%s': %s", name, error.text);
        return NULL;
    }
    return source_add(u->sources, path, text);
}

// Reading a pipe or a terminal may wait forever. Only a file that a command names may be one.
const SourceFile *unit_import(void *user, Str path, Span span, Diags *diags) {
    Unit *u = user;
    const char *name = arena_text(u->arena, path.text, path.size);
    if (!os_path_may_block(name)) return unit_file(u, path, span, diags);
    diag_error(diags, span, DIAG_IMPORT, "'%s' is a pipe or a terminal: an import reads files",
               name);
    return NULL;
}

// ---- Kernels

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
    if (n) {
        diag_error(unit->diags, (Span){0}, DIAG_KERNEL, "there are %zu kernels, and none is named",
                   n);
        list_kernels(unit);
        return NULL;
    }
    diag_error(unit->diags, (Span){0}, DIAG_KERNEL, "there is no kernel");
    diag_help(unit->diags, "%s", unit->file->frontend->is_kernel);
    return NULL;
}
