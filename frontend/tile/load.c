// tile_load: reads, parses and resolves a file and its imports; and the functions that query a
// TileFile.
#include "base/os/os.h"
#include "frontend/tile/internal.h"

// ---- imports

// `path` without "." and without "name/..", so that each file has exactly one path.
static Str path_clean(Arena *arena, Str path) {
    StrBuf out = strbuf(arena);
    bool absolute = str_starts(path, STR("/"));
    size_t up = 0;  // bytes of leading "../", which cannot be removed
    for (Str rest = path; rest.size;) {
        Str part = str_cut(rest, '/', &rest);
        if (part.size == 0 || str_equal(part, STR("."))) continue;
        bool back = str_equal(part, STR(".."));
        if (back && out.size > up) {
            while (out.size > up && out.text[out.size - 1] != '/') out.size--;
            if (out.size > up) out.size--;
            out.text[out.size] = 0;
            continue;
        }
        if (back && absolute) continue;
        if (out.size) strbuf_char(&out, '/');
        strbuf_add(&out, part);
        if (back) up = out.size;
    }
    Str clean = strbuf_str(&out);
    return absolute ? str(arena_printf(arena, "/%.*s", STR_ARG(clean))) : clean;
}

static void report_cycle(TileFile *t, size_t target, Span span) {
    StrBuf chain = strbuf(t->arena);
    VEC(Str) names = {0};
    for (size_t i = t->current;; i = t->sources_read.data[i].importer) {
        vec_push(t->arena, &names, t->sources_read.data[i].path);
        if (i == target) break;
    }
    for (size_t i = names.count; i-- > 0;) strbuf_printf(&chain, "%.*s → ", STR_ARG(names.data[i]));
    diag_error(t->diags, span, DIAG_IMPORT, "files import each other: %.*s%.*s",
               STR_ARG(strbuf_str(&chain)), STR_ARG(t->sources_read.data[target].path));
    diag_help(t->diags, "move what both need to a file of its own");
}

static bool source_known(TileFile *t, Str path, const SourceFile *file, size_t *found) {
    for (size_t i = 0; i < t->sources_read.count; i++) {
        const TileSource *s = &t->sources_read.data[i];
        if ((file && s->file == file) || str_equal(s->path, path)) {
            *found = i;
            return true;
        }
    }
    return false;
}

static bool import_known(TileFile *t, Str path, const SourceFile *file, Span span) {
    size_t found = 0;
    if (!source_known(t, path, file, &found)) return false;
    if (t->sources_read.data[found].loading) report_cycle(t, found, span);
    return true;
}

static void source_enter(TileFile *t, const SourceFile *file, Str path, Span import) {
    TileSource source = {
        .file = file, .path = path, .importer = t->current, .import = import, .loading = true};
    size_t outer = t->current;
    vec_push(t->arena, &t->sources_read, source);
    t->current = t->sources_read.count - 1;
    size_t self = t->current;
    tile_parse(t, file);
    t->sources_read.data[self].loading = false;
    t->current = outer;
}

static size_t import_depth(const TileFile *t) {
    size_t depth = 0;
    for (size_t i = t->current; i != 0; i = t->sources_read.data[i].importer) depth++;
    return depth;
}

void tile_import(TileFile *t, const SourceFile *importer, Str path, Span span) {
    enum { MOST = 60 };  // maximum of files that are open at once
    if (path.size == 0) {
        diag_error(t->diags, span, DIAG_IMPORT, "the path of an import is empty");
        return;
    }
    if (!t->import) {
        diag_error(t->diags, span, DIAG_IMPORT,
                   "this text comes from no file, so it cannot import");
        return;
    }
    Str beside = path_clean(t->arena, os_path_resolve(t->arena, importer->path, path));
    if (import_known(t, beside, NULL, span)) return;
    if (import_depth(t) >= MOST) {
        diag_error(t->diags, span, DIAG_TOO_DEEP, "files import each other more than %d deep",
                   (int)MOST);
        return;
    }
    const SourceFile *file = t->import(t->import_user, beside, span, t->diags);
    if (!file || import_known(t, beside, file, span)) return;
    vec_push(t->arena, &t->module.imports, beside);
    source_enter(t, file, beside, span);
}

// ---- globals

static const char *global_kind(const AstDecl *decl) {
    return decl->kind == DECL_KERNEL ? "kernel" : decl->kind == DECL_FN ? "fn" : "const";
}

void tile_global_add(TileFile *t, AstDecl *decl) {
    uint64_t *place = map_at(t->arena, &t->globals, map_key(decl->name));
    if (!*place) {
        *place = map_key(decl);
        return;
    }
    const AstDecl *other = (const AstDecl *)(uintptr_t)*place;
    diag_error(t->diags, decl->span, DIAG_DUPLICATE_NAME, "the name '%s' is taken by a %s",
               decl->name, global_kind(other));
    diag_note(t->diags, other->span, "'%s' is declared here", decl->name);
}

// ---- the file

static void check_empty(TileFile *t, size_t errors) {
    if (t->globals.count || t->module.imports.count || t->module.tunes.count ||
        diags_errors(t->diags) != errors)
        return;
    uint32_t at = t->main->base;
    diag_error(t->diags, (Span){at, at}, DIAG_SYNTAX, "the file declares nothing");
    diag_help(t->diags,
              "a file holds kernels, fns and consts, such as 'kernel k(f32 x[N]) grid(1) { … }'");
}

TileFile *tile_load(Arena *arena, Sources *sources, Interner *names, const SourceFile *file,
                    FrontImport import, void *user, Diags *diags) {
    TileFile *t = arena_new(arena, TileFile, 1);
    t->arena = arena;
    t->sources = sources;
    t->names = names;
    t->diags = diags;
    t->import = import;
    t->import_user = user;
    t->main = file;
    size_t errors = diags_errors(diags);
    source_enter(t, file, path_clean(arena, file->path), (Span){0});
    check_empty(t, errors);
    tile_resolve(t);
    diags_sort(diags);
    return t;
}

const AstModule *tile_ast(const TileFile *file) { return &file->module; }

size_t tile_kernel_count(const TileFile *file) { return file->module.kernels.count; }

const AstKernel *tile_kernel(const TileFile *file, size_t i) {
    return i < file->module.kernels.count ? file->module.kernels.data[i] : NULL;
}

const AstKernel *tile_kernel_find(const TileFile *file, Str name) {
    for (size_t i = 0; i < file->module.kernels.count; i++) {
        const AstKernel *k = file->module.kernels.data[i];
        if (str_equal(str(k->decl->name), name)) return k;
    }
    return NULL;
}
