#include "tests/support/match.h"

#include <string.h>

#include "base/json.h"

static Str text_of(const JsonValue *object, const char *key) {
    const JsonValue *v = json_get(object, key);
    return v && v->kind == JSON_STRING ? v->string : (Str){"", 0};
}

static uint32_t number_of(const JsonValue *object, const char *key) {
    const JsonValue *v = json_get(object, key);
    if (!v || v->kind != JSON_NUMBER || !(v->number >= 0 && v->number <= UINT32_MAX)) return 0;
    return (uint32_t)v->number;
}

static bool contains(Str s, Str what) {
    for (size_t i = 0; i + what.size <= s.size; i++)
        if (memcmp(s.text + i, what.text, what.size) == 0) return true;
    return false;
}

static bool meets(const JsonValue *d, const ScriptExpectation *e) {
    return number_of(d, "line") == e->line && number_of(d, "column") == e->column &&
           str_equal(text_of(d, "severity"), e->severity) &&
           str_equal(text_of(d, "code"), e->code) && contains(text_of(d, "message"), e->fragment);
}

static void report_one(StrBuf *report, const char *what, const ScriptExpectation *e) {
    strbuf_printf(report, "  line %u: %s: //! %.*s: %.*s [%.*s] @", e->line, what,
                  STR_ARG(e->severity), STR_ARG(e->fragment), STR_ARG(e->code));
    if (e->column > 0)
        strbuf_printf(report, "%u\n", e->column);
    else
        strbuf_printf(report, "-\n");
}

// If a diagnostic meets several expectations, it takes the longest fragment: the others stay for
// diagnostics that say less.
static ScriptExpectation *find_met(Script *script, const JsonValue *d) {
    ScriptExpectation *best = NULL;
    for (size_t i = 0; i < script->expectations.count; i++) {
        ScriptExpectation *e = &script->expectations.data[i];
        if (!e->met && meets(d, e) && (!best || e->fragment.size > best->fragment.size)) best = e;
    }
    return best;
}

static bool match_one(const JsonValue *d, Str file, Script *script, StrBuf *report) {
    Str where = text_of(d, "file");
    bool here = number_of(d, "line") == 0 || str_equal(where, file);
    ScriptExpectation *e = here ? find_met(script, d) : NULL;
    if (e) {
        e->met = true;
        return true;
    }
    ScriptExpectation found = {.line = number_of(d, "line"),
                               .column = number_of(d, "column"),
                               .severity = text_of(d, "severity"),
                               .code = text_of(d, "code"),
                               .fragment = text_of(d, "message")};
    report_one(report, "not expected", &found);
    if (!here) strbuf_printf(report, "    in another file: %.*s\n", STR_ARG(where));
    return false;
}

bool match_diagnostics(Arena *arena, Str json, Str file, Script *script, StrBuf *report) {
    size_t error_at = 0;
    const JsonValue *root = json_parse(arena, json, &error_at);
    const JsonValue *list =
        root && root->kind == JSON_OBJECT ? json_get(root, "diagnostics") : NULL;
    if (!list || list->kind != JSON_ARRAY) {
        strbuf_printf(report, "  the output is not a JSON object with an array \"diagnostics\"");
        if (!root) strbuf_printf(report, " (reading stopped at byte %zu)", error_at);
        strbuf_printf(report, ":\n%.*s\n", STR_ARG(json));
        return false;
    }
    for (size_t i = 0; i < script->expectations.count; i++)
        script->expectations.data[i].met = false;
    bool ok = true;
    for (const JsonValue *d = list->first; d; d = d->next) ok &= match_one(d, file, script, report);
    for (size_t i = 0; i < script->expectations.count; i++) {
        const ScriptExpectation *e = &script->expectations.data[i];
        if (e->met) continue;
        report_one(report, "not reported", e);
        ok = false;
    }
    return ok;
}

size_t match_errors_expected(const Script *script) {
    size_t errors = 0;
    for (size_t i = 0; i < script->expectations.count; i++)
        errors += str_equal(script->expectations.data[i].severity, STR("error"));
    return errors;
}
