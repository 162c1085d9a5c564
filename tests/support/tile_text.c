#include "tests/support/tile_text.h"

#include <string.h>

typedef struct Files {
    Sources *sources;
    const TileTextFile *files;
    size_t count;
} Files;

static const SourceFile *import(void *user, Str path, Span span, Diags *diags) {
    const Files *f = user;
    for (size_t i = 0; i < f->count; i++)
        if (str_equal(path, str(f->files[i].path)))
            return source_add(f->sources, path, str(f->files[i].text));
    diag_error(diags, span, DIAG_IO, "no file '%.*s'", STR_ARG(path));
    return NULL;
}

static TileText begin(void) {
    TileText t = {.arena = arena_create()};
    t.sources = sources_create(t.arena);
    t.names = interner_create(t.arena);
    t.diags = diags_create(t.arena, t.sources);
    return t;
}

TileText tile_text_bytes(Str text) {
    TileText t = begin();
    t.source = source_add(t.sources, STR("test.tile"), text);
    t.file = tile_load(t.arena, t.sources, t.names, t.source, NULL, NULL, t.diags);
    return t;
}

TileText tile_text(const char *text) { return tile_text_bytes(str(text)); }

TileText tile_text_files(const TileTextFile *files, size_t count) {
    TileText t = begin();
    Files f = {t.sources, files, count};
    t.source = source_add(t.sources, str(files[0].path), str(files[0].text));
    t.file = tile_load(t.arena, t.sources, t.names, t.source, import, &f, t.diags);
    return t;
}

void tile_text_free(TileText *t) { arena_destroy(t->arena); }

const char *tile_text_diags(const TileText *t) {
    StrBuf out = strbuf(t->arena);
    for (size_t i = 0; i < diags_count(t->diags); i++) {
        const Diag *d = diags_get(t->diags, i);
        SourceLine at = source_line(t->sources, d->span.begin);
        strbuf_printf(&out, "%s%u:%u: %.*s [%s]", i ? "\n" : "", at.line, at.column,
                      STR_ARG(d->text), diag_slug(d->code));
    }
    return strbuf_str(&out).size ? arena_text(t->arena, out.text, out.size) : "";
}
