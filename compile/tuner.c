#include "compile/tuner.h"

#include <string.h>

#include "base/hash.h"
#include "base/os.h"
#include "base/status.h"

enum { FIELDS = 6, FILE_MAX = 1 << 20, SOURCE_DIGITS = 16 };
#define HEADER "tilec-tune 1"

// ---- Reading ----

static void problem(Arena *arena, TuneTable *table, uint32_t line, const char *text) {
    TuneProblem p = {line, text};
    vec_push(arena, &table->problems, p);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static Str next_field(Str *line) {
    while (line->size && is_blank(line->text[0])) line->text++, line->size--;
    Str field = {line->text, 0};
    while (line->size && !is_blank(line->text[0])) line->text++, line->size--, field.size++;
    return field;
}

static bool parse_value(Str text, int64_t *value) {
    bool negative = text.size && text.text[0] == '-', overflow = false;
    if (negative) text.text++, text.size--;
    uint64_t magnitude;
    TRY(str_to_u64(text, &magnitude, &overflow));
    TRY(!overflow && magnitude <= INT64_MAX);
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

// NAME=NUMBER,NAME=NUMBER… or "-".
static bool parse_settings(Arena *arena, Str text, TuneSettings *settings) {
    if (str_equal(text, STR("-"))) return true;
    for (bool more = true; more;) {
        Str rest, number, item = str_cut(text, ',', &rest);
        more = item.size < text.size;
        TuneSetting s = {.name = str_cut(item, '=', &number)};
        TRY(s.name.size && s.name.size < item.size && parse_value(number, &s.value));
        for (size_t i = 0; i < settings->count; i++)
            TRY(!str_equal(settings->data[i].name, s.name));
        vec_push(arena, settings, s);
        text = rest;
    }
    return true;
}

static const char *parse_row(Arena *arena, Str line, TuneRow *row) {
    Str fields[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = next_field(&line);
        if (!fields[i].size)
            return "a row has six fields: kernel, source, target, types, shape, consts";
    }
    if (next_field(&line).size) return "a row has six fields, found more";
    *row = (TuneRow){
        .kernel = fields[0], .source = fields[1], .target = fields[2], .types = fields[3]};
    if (!parse_settings(arena, fields[4], &row->shape))
        return "the shape is no list of NAME=NUMBER,…";
    if (!parse_settings(arena, fields[5], &row->consts))
        return "the consts are no list of NAME=NUMBER,…";
    for (size_t i = 0; i < row->shape.count; i++)
        if (row->shape.data[i].value != tune_bucket(row->shape.data[i].value))
            return "an extent of the shape is no power of two";
    return row->consts.count ? NULL : "there are no consts";
}

TuneTable *tune_parse(Arena *arena, Str text) {
    TuneTable *table = arena_new(arena, TuneTable, 1);
    bool headed = false;
    for (uint32_t number = 1; text.size; number++) {
        Str rest, comment, line = str_trim(str_cut(str_cut(text, '\n', &rest), '#', &comment));
        text = rest;
        if (!line.size) continue;
        TuneRow row;
        const char *wrong = NULL;
        if (!headed && !str_equal(line, STR(HEADER))) {
            problem(arena, table, number, "the table does not begin with '" HEADER "'");
            return table;
        }
        if (headed) wrong = parse_row(arena, line, &row);
        if (wrong)
            problem(arena, table, number, wrong);
        else if (headed)
            tune_put(arena, table, &row);
        headed = true;
    }
    return table;
}

TuneTable *tune_read(Arena *arena, Str path) {
    Str text = {0};
    OsError error = {0};
    char *name = arena_text(arena, path.text, path.size);
    if (!path.size || !os_path_exists(name)) return tune_parse(arena, text);
    bool waits = os_path_waits(name);
    if (!waits && os_read_file(arena, name, FILE_MAX, &text, &error))
        return tune_parse(arena, text);
    TuneTable *table = arena_new(arena, TuneTable, 1);
    problem(arena, table, 0, waits ? "it is a pipe" : arena_printf(arena, "%s", error.text));
    return table;
}

Str tune_path(Arena *arena) {
    const char *named = os_env("TILEC_TUNE_FILE");
    if (named) return (Str){arena_text(arena, named, strlen(named)), strlen(named)};
    const char *xdg = os_env("XDG_CONFIG_HOME"), *home = os_env("HOME");
    StrBuf path = strbuf(arena);
    if (xdg && xdg[0] == '/')  // others are to be ignored, says the specification
        strbuf_printf(&path, "%s/tilec/tune.txt", xdg);
    else if (home && home[0])
        strbuf_printf(&path, "%s/.config/tilec/tune.txt", home);
    return strbuf_str(&path);
}

// ---- Writing ----

static void print_settings(const TuneSettings *settings, StrBuf *out) {
    for (size_t i = 0; i < settings->count; i++)
        strbuf_printf(out, "%s%.*s=%lld", i ? "," : "", STR_ARG(settings->data[i].name),
                      (long long)settings->data[i].value);
    if (!settings->count) strbuf_char(out, '-');
}

void tune_print(const TuneTable *table, StrBuf *out) {
    strbuf_add(out, STR(HEADER "\n# kernel source target types shape consts\n"));
    for (size_t i = 0; i < table->rows.count; i++) {
        const TuneRow *r = &table->rows.data[i];
        strbuf_printf(out, "%.*s %.*s %.*s %.*s ", STR_ARG(r->kernel), STR_ARG(r->source),
                      STR_ARG(r->target), STR_ARG(r->types));
        print_settings(&r->shape, out);
        strbuf_char(out, ' ');
        print_settings(&r->consts, out);
        strbuf_char(out, '\n');
    }
}

// ---- Looking up ----

bool tune_knows(const TuneTable *table, const TuneRow *key) {
    for (size_t i = 0; i < table->rows.count; i++) {
        const TuneRow *r = &table->rows.data[i];
        if (str_equal(r->kernel, key->kernel) && str_equal(r->source, key->source) &&
            str_equal(r->target, key->target))
            return true;
    }
    return false;
}

static bool same_key(const TuneRow *a, const TuneRow *b) {
    if (!str_equal(a->kernel, b->kernel) || !str_equal(a->source, b->source) ||
        !str_equal(a->target, b->target) || !str_equal(a->types, b->types) ||
        a->shape.count != b->shape.count)
        return false;
    for (size_t i = 0; i < a->shape.count; i++)
        if (a->shape.data[i].value != b->shape.data[i].value ||
            !str_equal(a->shape.data[i].name, b->shape.data[i].name))
            return false;
    return true;
}

const TuneRow *tune_find(const TuneTable *table, const TuneRow *key) {
    for (size_t i = 0; i < table->rows.count; i++)
        if (same_key(&table->rows.data[i], key)) return &table->rows.data[i];
    return NULL;
}

void tune_put(Arena *arena, TuneTable *table, const TuneRow *row) {
    for (size_t i = 0; i < table->rows.count; i++)
        if (same_key(&table->rows.data[i], row)) {
            table->rows.data[i] = *row;
            return;
        }
    vec_push(arena, &table->rows, *row);
}

// ---- Keys ----

TuneRow tune_key(Arena *arena, const AstKernel *kernel, Str target) {
    char hex[HASH_HEX + 1];
    HashKey key = hash_of(kernel->file->text.text, kernel->file->text.size);
    hash_hex(&key, hex);
    return (TuneRow){.kernel = str(kernel->decl->name),
                     .source = {arena_text(arena, hex, SOURCE_DIGITS), SOURCE_DIGITS},
                     .target = target.size ? target : STR("interp"),
                     .types = STR("-")};
}

Str tune_types(Arena *arena, const AstKernel *kernel, const TileSpec *spec) {
    StrBuf out = strbuf(arena);
    for (const AstDecl *p = kernel->params; p; p = p->next) {
        const IrBinding *b = p->kind == DECL_TYPE_PARAM ? tile_spec_find(spec, p->name) : NULL;
        if (b) strbuf_printf(&out, "%s%s=%s", out.size ? "," : "", p->name, dtype_name(b->type));
    }
    return out.size ? strbuf_str(&out) : STR("-");
}

int64_t tune_bucket(int64_t extent) {
    int64_t bucket = extent > 0;
    while (bucket < extent && bucket <= INT64_MAX / 2) bucket *= 2;
    return bucket;
}

static bool may_set(const AstKernel *kernel, Symbol name) {
    if (tile_is_option(name)) return true;
    for (const AstDecl *p = kernel->params; p; p = p->next)
        if (p->kind == DECL_CONST_PARAM && p->name == name) return true;
    return false;
}

bool tune_apply(Arena *arena, Interner *names, const AstKernel *kernel, const TuneRow *row,
                TileSpec *spec) {
    bool any = false;
    for (size_t i = 0; i < row->consts.count; i++) {
        IrBinding b = {.name = intern(names, row->consts.data[i].name),
                       .value = row->consts.data[i].value};
        if (!may_set(kernel, b.name) || tile_spec_find(spec, b.name)) continue;
        vec_push(arena, &spec->bindings, b);
        any = true;
    }
    return any;
}
