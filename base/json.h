// Json: a writer of well-formed JSON, and a small reader for tests and manifests.
//
// Invariants: the writer places commas and quotes itself; nesting is checked by assertion. Doubles
// are written so that they read back; infinities and NaN become the texts "inf", "-inf", "nan".
// Ownership: the StrBuf given.
//
//     Json j = json_begin(&buf);
//     json_open(&j, '{'); json_key(&j, "rank"); json_int(&j, 2); json_close(&j, '}');
#ifndef TILEC_BASE_JSON_H
#define TILEC_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct Json {
    StrBuf *out;
    int depth;
    bool comma[64];
    bool after_key;
} Json;

Json json_begin(StrBuf *out);
void json_open(Json *j, char bracket);   // '{' or '['
void json_close(Json *j, char bracket);  // '}' or ']'
void json_key(Json *j, const char *key);
void json_str(Json *j, Str value);
void json_int(Json *j, int64_t value);
void json_uint(Json *j, uint64_t value);
void json_double(Json *j, double value);
void json_bool(Json *j, bool value);
void json_null(Json *j);
// Writes text that is JSON already.
void json_raw(Json *j, Str value);

typedef enum JsonKind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} JsonKind;
typedef struct JsonValue {
    JsonKind kind;
    bool boolean;
    double number;
    Str string;
    Str key;                  // within an object
    struct JsonValue *first;  // elements or members
    struct JsonValue *next;
} JsonValue;
// NULL when the text is not a JSON document, or is nested deeper than 64; *error_at (may be NULL)
// is then the byte where reading stopped.
JsonValue *json_parse(Arena *arena, Str text, size_t *error_at);
const JsonValue *json_get(const JsonValue *object, const char *key);  // NULL if absent

#endif
