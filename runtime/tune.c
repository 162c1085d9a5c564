#include "runtime/tune.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/status.h"

// More settings than any kernel has extents or consts; each is compared with those before it.
enum { FIELDS = 6, SETTINGS_MAX = 512 };
#define HEADER "tilec-tune 1"

// ---- Rows ----

static bool has_key(const TuneRow *row, const TuneRow *key) {
    if (!str_equal(row->kernel, key->kernel) ||
        (key->source.size && !str_equal(row->source, key->source)) ||
        !str_equal(row->target, key->target) || !str_equal(row->types, key->types) ||
        row->shape.count != key->shape.count)
        return false;
    for (size_t i = 0; i < row->shape.count; i++)
        if (row->shape.data[i].value != key->shape.data[i].value ||
            !str_equal(row->shape.data[i].name, key->shape.data[i].name))
            return false;
    return true;
}

// As tune_put, among the rows from `first` on.
static void put_from(Arena *arena, TuneTable *table, size_t first, const TuneRow *row) {
    for (size_t i = first; i < table->rows.count; i++)
        if (has_key(&table->rows.data[i], row)) {
            table->rows.data[i] = *row;
            return;
        }
    vec_push(arena, &table->rows, *row);
}

void tune_put(Arena *arena, TuneTable *table, const TuneRow *row) {
    put_from(arena, table, 0, row);
}

static uint64_t key_hash(const TuneRow *row) {
    Hash h = hash_begin();
    const Str texts[] = {row->kernel, row->source, row->target, row->types};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) hash_text(&h, texts[i]);
    for (size_t i = 0; i < row->shape.count; i++) {
        hash_text(&h, row->shape.data[i].name);
        hash_number(&h, (uint64_t)row->shape.data[i].value);
    }
    HashKey key = hash_end(&h);
    uint64_t number;
    memcpy(&number, key.bytes, sizeof number);
    return number;
}

// As tune_put, in time that does not grow with the table. `places`: from hashes of keys to numbers
// of rows, from 1.
static void put_parsed(Arena *arena, TuneTable *table, Map *places, const TuneRow *row) {
    uint64_t *place = map_at(arena, places, key_hash(row));
    put_from(arena, table, *place ? *place - 1 : table->rows.count, row);
    if (!*place) *place = table->rows.count;
}

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
        TRY(settings->count < SETTINGS_MAX);
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
    Map places = {0};
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
            put_parsed(arena, table, &places, &row);
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

const TuneRow *tune_find(const TuneTable *table, const TuneRow *key) {
    for (size_t i = 0; i < table->rows.count; i++)
        if (has_key(&table->rows.data[i], key)) return &table->rows.data[i];
    return NULL;
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
