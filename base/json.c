// A streaming writer, and a strict recursive-descent reader with bounded depth.
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/os/os.h"

enum { DEPTH_MAX = 64 };  // size of Json's `comma`

Json json_begin(StrBuf *out) { return (Json){.out = out}; }

static void separate(Json *j) {
    if (!j->after_key && j->comma[j->depth]) strbuf_char(j->out, ',');
    j->comma[j->depth] = true;
    j->after_key = false;
}

void json_open(Json *j, char bracket) {
    separate(j);
    strbuf_char(j->out, bracket);
    CHECK(j->depth < DEPTH_MAX - 1, "JSON nested deeper than %d", DEPTH_MAX - 1);
    j->comma[++j->depth] = false;
}

void json_close(Json *j, char bracket) {
    CHECK(j->depth > 0, "JSON closed more often than opened");
    j->depth--;
    strbuf_char(j->out, bracket);
}

void json_key(Json *j, const char *key) {
    separate(j);
    strbuf_quoted(j->out, str(key));
    strbuf_char(j->out, ':');
    j->after_key = true;
}

void json_str(Json *j, Str value) {
    separate(j);
    strbuf_quoted(j->out, value);
}

void json_int(Json *j, int64_t value) {
    separate(j);
    strbuf_printf(j->out, "%lld", (long long)value);
}

void json_uint(Json *j, uint64_t value) {
    separate(j);
    strbuf_printf(j->out, "%llu", (unsigned long long)value);
}

void json_double(Json *j, double value) {
    separate(j);
    if (isfinite(value)) {
        strbuf_double(j->out, value, false);
        return;
    }
    strbuf_add(j->out, isnan(value) ? STR("\"nan\"")
                       : value > 0  ? STR("\"inf\"")
                                    : STR("\"-inf\""));
}

void json_bool(Json *j, bool value) {
    separate(j);
    strbuf_add(j->out, value ? STR("true") : STR("false"));
}

void json_null(Json *j) {
    separate(j);
    strbuf_add(j->out, STR("null"));
}

void json_raw(Json *j, Str value) {
    separate(j);
    strbuf_add(j->out, value);
}

// ---- Reading -----------------------------------------------------------------------------------

typedef struct JsonReader {
    Arena *arena;
    const char *at, *end;
    int depth;
} JsonReader;

static void skip_space(JsonReader *r) {
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) r->at++;
}

static bool take(JsonReader *r, char c) {
    skip_space(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool hex4(JsonReader *r, uint32_t *value) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    *value = 0;
    if (r->end - r->at < 4) return false;
    for (int i = 0; i < 4; i++) {
        const char *found = *r->at ? strchr(digits, *r->at) : NULL;
        if (!found) return false;
        r->at++;
        *value = *value << 4 | ((uint32_t)(found - digits) & 15);
    }
    return true;
}

static void add_utf8(StrBuf *b, uint32_t c) {
    if (c < 0x80) {
        strbuf_char(b, (char)c);
        return;
    }
    unsigned tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;  // bytes that follow the first
    strbuf_char(b, (char)((0xFF00U >> (tail + 1) & 0xFF) | c >> (6 * tail)));
    while (tail--) strbuf_char(b, (char)(0x80 | (c >> (6 * tail) & 0x3f)));
}

// Reads the part of an escape after "\u": a code point, or a surrogate pair. A lone surrogate is an
// error.
static bool read_code_point(JsonReader *r, uint32_t *point) {
    if (!hex4(r, point)) return false;
    if (*point < 0xD800 || *point > 0xDFFF) return true;
    uint32_t low = 0;
    bool pair = *point < 0xDC00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u';
    if (!pair) return false;
    r->at += 2;
    if (!hex4(r, &low) || low < 0xDC00 || low > 0xDFFF) return false;
    *point = 0x10000 + ((*point - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

static bool read_escape(JsonReader *r, StrBuf *b) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end || !*r->at) return false;
    char c = *r->at++;
    const char *found = strchr(from, c);
    if (found) {
        strbuf_char(b, to[found - from]);
        return true;
    }
    uint32_t point = 0;
    if (c != 'u' || !read_code_point(r, &point)) return false;
    add_utf8(b, point);
    return true;
}

static bool read_string(JsonReader *r, Str *s) {
    if (!take(r, '"')) return false;
    StrBuf b = strbuf(r->arena);
    while (r->at < r->end && *r->at != '"') {
        if (*r->at == '\\') {
            r->at++;
            if (!read_escape(r, &b)) return false;
            continue;
        }
        if ((unsigned char)*r->at < 0x20) return false;
        strbuf_char(&b, *r->at++);
    }
    *s = strbuf_str(&b);
    return take(r, '"');
}

static JsonValue *read_value(JsonReader *r);

static bool read_members(JsonReader *r, JsonValue *v, char close) {
    JsonValue **tail = &v->first;
    if (take(r, close)) return true;
    do {
        Str key = {0};
        if (close == '}' && (!read_string(r, &key) || !take(r, ':'))) return false;
        if (!(*tail = read_value(r))) return false;
        (*tail)->key = key;
        tail = &(*tail)->next;
    } while (take(r, ','));
    return take(r, close);
}

static bool read_word(JsonReader *r, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n)) return false;
    r->at += n;
    return true;
}

static bool take_digits(JsonReader *r) {
    const char *begin = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
    return r->at > begin;
}

static bool take_either(JsonReader *r, char a, char b) {
    if (r->at == r->end || (*r->at != a && *r->at != b)) return false;
    r->at++;
    return true;
}

static bool read_number(JsonReader *r, double *value) {
    const char *begin = r->at;
    (void)take_either(r, '-', '-');
    if (!take_either(r, '0', '0') && !take_digits(r)) return false;
    if (take_either(r, '.', '.') && !take_digits(r)) return false;
    if (take_either(r, 'e', 'E')) {
        (void)take_either(r, '+', '-');
        if (!take_digits(r)) return false;
    }
    return str_to_double((Str){begin, (size_t)(r->at - begin)}, value);
}

static bool read_into(JsonReader *r, JsonValue *v) {
    skip_space(r);
    if (r->at == r->end) return false;
    if (*r->at == '"') {
        v->kind = JSON_STRING;
        return read_string(r, &v->string);
    }
    if (*r->at == '{' || *r->at == '[') {
        v->kind = *r->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        r->at++;
        return read_members(r, v, v->kind == JSON_OBJECT ? '}' : ']');
    }
    if (read_word(r, "null")) return true;
    v->kind = JSON_BOOL;
    v->boolean = read_word(r, "true");
    if (v->boolean || read_word(r, "false")) return true;
    v->kind = JSON_NUMBER;
    return read_number(r, &v->number);
}

static JsonValue *read_value(JsonReader *r) {
    if (r->depth == DEPTH_MAX) return NULL;
    r->depth++;
    JsonValue *v = arena_new(r->arena, JsonValue, 1);
    bool good = read_into(r, v);
    r->depth--;
    return good ? v : NULL;
}

JsonValue *json_parse(Arena *arena, Str text, size_t *error_at) {
    JsonReader r = {arena, text.text, text.text + text.size, 0};
    JsonValue *v = read_value(&r);
    skip_space(&r);
    if (error_at) *error_at = (size_t)(r.at - text.text);
    return v && r.at == r.end ? v : NULL;
}

const JsonValue *json_get(const JsonValue *object, const char *key) {
    if (!object || object->kind != JSON_OBJECT) return NULL;
    for (const JsonValue *v = object->first; v; v = v->next)
        if (str_equal(v->key, str(key))) return v;
    return NULL;
}
