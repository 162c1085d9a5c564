#include "runtime/tune.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

enum { FIELDS = 6 };
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

// Parses NAME=NUMBER,NAME=NUMBER… or "-".
static bool parse_settings(Arena *arena, Str text, TuneSettings *settings) {
    if (str_equal(text, STR("-"))) return true;
    for (Str item, number; str_item(&text, &item);) {
        TuneSetting s = {.name = str_cut(item, '=', &number)};
        TRY(s.name.size && s.name.size < item.size && str_to_i64(number, &s.value));
        for (size_t i = 0; i < settings->count; i++)
            TRY(!str_equal(settings->data[i].name, s.name));
        vec_push(arena, settings, s);
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
        return "the shape is not a list of NAME=NUMBER,…";
    if (!parse_settings(arena, fields[5], &row->consts))
        return "the consts are not a list of NAME=NUMBER,…";
    for (size_t i = 0; i < row->shape.count; i++)
        if (row->shape.data[i].value != tune_bucket(row->shape.data[i].value))
            return "an extent of the shape is not a power of two";
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

bool tune_is_simulated(Str target) { return str_starts(target, STR(TUNE_SIMULATED)); }

TuneNames tune_names(const char *target, bool simulated) {
    TuneNames n = {0};
    size_t size = strlen(target);
    if (simulated) snprintf(n.text[n.count++], TUNE_NAME_MAX, TUNE_SIMULATED "%s", target);
    snprintf(n.text[n.count++], TUNE_NAME_MAX, "%s", target);
    // A result for all architectures is a starting point for architecture-specific code.
    bool own = str_starts(str(target), STR("sm_")) && target[size - 1] == 'a';
    if (own) snprintf(n.text[n.count++], TUNE_NAME_MAX, "%.*s", (int)size - 1, target);
    return n;
}

int64_t tune_bucket(int64_t extent) {
    int64_t bucket = extent > 0;
    while (bucket < extent && bucket <= INT64_MAX / 2) bucket *= 2;
    return bucket;
}
