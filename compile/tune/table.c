#include "compile/tune/table.h"

#include <string.h>

#include "base/hash.h"
#include "base/os/os.h"
#include "base/os/os_folder.h"

enum { FILE_MAX = 1 << 20, SOURCE_DIGITS = 16 };

TuneTable *tune_read(Arena *arena, Str path) {
    Str text = {0};
    OsError error = {0};
    char *name = arena_text(arena, path.text, path.size);
    if (!path.size || !os_path_exists(name)) return tune_parse(arena, text);
    bool waits = os_path_may_block(name);
    if (!waits && os_read_file(arena, name, FILE_MAX, &text, &error))
        return tune_parse(arena, text);
    TuneTable *table = arena_new(arena, TuneTable, 1);
    TuneProblem p = {0,
                     waits ? "it is a pipe or a terminal" : arena_printf(arena, "%s", error.text)};
    vec_push(arena, &table->problems, p);
    return table;
}

Str tune_path(Arena *arena) {
    const char *named = os_env("TILEC_TUNE_FILE");
    if (named) return (Str){arena_text(arena, named, strlen(named)), strlen(named)};
    const char *xdg = os_env("XDG_CONFIG_HOME"), *home = os_env("HOME");
    StrBuf path = strbuf(arena);
    if (xdg && xdg[0] == '/')  // the XDG specification says to ignore relative ones
        strbuf_printf(&path, "%s/tilec/tune.txt", xdg);
    else if (home && home[0])
        strbuf_printf(&path, "%s/.config/tilec/tune.txt", home);
    return strbuf_str(&path);
}

// ---- Keeping ----

const char *tune_fault(Arena *arena, const TuneTable *table) {
    if (!table->problems.count) return NULL;
    const TuneProblem *p = &table->problems.data[0];
    return p->line ? arena_printf(arena, "line %u: %s", p->line, p->text) : p->text;
}

static void make_folder(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    OsError error;
    if (!slash || slash == path) return;
    const char *folder = arena_text(arena, path, (size_t)(slash - path));
    os_folder_close(os_folder_open(arena, folder, true, &error));
}

// The table is read again, because another process may have written it.
static TuneKept put_row(Arena *arena, const char *path, const TuneRow *row) {
    OsError error = {0};
    TuneTable *table = tune_read(arena, str(path));
    TuneKept kept = {.fault = tune_fault(arena, table)};
    if (kept.fault) return kept;
    tune_put(arena, table, row);
    StrBuf text = strbuf(arena);
    tune_print(table, &text);
    if (!os_write_file(arena, path, strbuf_str(&text), &error))
        kept.error = arena_printf(arena, "%s", error.text);
    return kept;
}

TuneKept tune_keep(Arena *arena, Str where, bool user, const TuneRow *row) {
    // seconds; after that we go on even if another process still holds the folder
    enum { PATIENCE = 10 };
    const char *path = arena_text(arena, where.text, where.size);
    if (user) make_folder(arena, path);
    OsLock lock;
    os_lock_folder_of(arena, path, PATIENCE, &lock);
    TuneKept kept = put_row(arena, path, row);
    os_unlock_folder(&lock);
    return kept;
}

// ---- Keys ----

TuneRow tune_key(Arena *arena, const FrontKernel *kernel, Str target) {
    char hex[HASH_HEX + 1];
    Arena *scratch = arena_create();
    Str plain = frontend_canonical_text(kernel, scratch);
    HashKey key = hash_of(plain.text, plain.size);
    arena_destroy(scratch);
    hash_hex(&key, hex);
    return (TuneRow){.kernel = str(kernel->name),
                     .source = {arena_text(arena, hex, SOURCE_DIGITS), SOURCE_DIGITS},
                     .target = target.size ? target : STR("interp"),
                     .types = STR("-")};
}

Str tune_types(Arena *arena, const FrontKernel *kernel, const FrontSpec *spec) {
    StrBuf out = strbuf(arena);
    for (const FrontParam *p = kernel->params; p; p = p->next) {
        const IrBinding *b = p->kind == FRONT_TYPE ? frontend_spec_find(spec, p->name) : NULL;
        if (b) strbuf_printf(&out, "%s%s=%s", out.size ? "," : "", p->name, dtype_name(b->type));
    }
    return out.size ? strbuf_str(&out) : STR("-");
}

static bool may_set(const FrontKernel *kernel, Symbol name) {
    if (frontend_is_option(name)) return true;
    for (const FrontParam *p = kernel->params; p; p = p->next)
        if (p->kind == FRONT_CONST && p->name == name) return true;
    return false;
}

bool tune_apply(Arena *arena, Interner *names, const FrontKernel *kernel, const TuneRow *row,
                FrontSpec *spec) {
    bool any = false;
    for (size_t i = 0; i < row->consts.count; i++) {
        IrBinding b = {.name = intern(names, row->consts.data[i].name),
                       .value = row->consts.data[i].value};
        if (!may_set(kernel, b.name) || frontend_spec_find(spec, b.name)) continue;
        vec_push(arena, &spec->bindings, b);
        any = true;
    }
    return any;
}

static Str copied(Arena *arena, Str text) {
    return (Str){arena_text(arena, text.text, text.size), text.size};
}

static TuneSettings copy_settings(Arena *arena, const TuneSettings *from) {
    TuneSettings to = {0};
    for (size_t i = 0; i < from->count; i++) {
        TuneSetting s = {copied(arena, from->data[i].name), from->data[i].value};
        vec_push(arena, &to, s);
    }
    return to;
}

TuneRow tune_copy(Arena *arena, const TuneRow *row) {
    return (TuneRow){.kernel = copied(arena, row->kernel),
                     .source = copied(arena, row->source),
                     .target = copied(arena, row->target),
                     .types = copied(arena, row->types),
                     .shape = copy_settings(arena, &row->shape),
                     .consts = copy_settings(arena, &row->consts)};
}
