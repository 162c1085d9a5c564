// Shared by the tests of the IR: parsing, printing and verifying texts.
//
// Ownership: everything lives in the fixture's arena until fixture_destroy.
//
//     Fixture f = fixture_create();
//     IrModule *m = fixture_parse(&f, "kernel @k() { body {\n return\n } }");
//     fixture_destroy(&f);
#ifndef TILEC_TESTS_IR_SUPPORT_H
#define TILEC_TESTS_IR_SUPPORT_H

// cmocka wants these four first.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "ir/edit.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"

typedef struct Fixture {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
} Fixture;

static inline Fixture fixture_create(void) {
    Fixture f = {.arena = arena_create()};
    f.sources = sources_create(f.arena);
    f.names = interner_create(f.arena);
    f.diags = diags_create(f.arena, f.sources);
    return f;
}

static inline void fixture_destroy(Fixture *f) { arena_destroy(f->arena); }

static inline Symbol fixture_name(Fixture *f, const char *name) {
    return intern(f->names, str(name));
}

static inline IrModule *fixture_parse_str(Fixture *f, Str text) {
    const SourceFile *file = source_add(f->sources, STR("test.tir"), text);
    assert_non_null(file);
    return ir_parse(f->arena, f->sources, f->names, file, f->diags);
}

static inline IrModule *fixture_parse(Fixture *f, const char *text) {
    return fixture_parse_str(f, str(text));
}

static inline const char *fixture_print(Fixture *f, const IrModule *m) {
    StrBuf out = strbuf(f->arena);
    strbuf_char(&out, ' ');
    out.size = 0;
    ir_print_module(m, &out);
    return out.text;
}

// Everything reported so far, one line a message.
static inline const char *fixture_messages(Fixture *f) {
    StrBuf out = strbuf(f->arena);
    strbuf_char(&out, '\n');
    for (size_t i = 0; i < diags_count(f->diags); i++) {
        const Diag *diag = diags_get(f->diags, i);
        SourceLine at = source_line(f->sources, diag->span.begin);
        strbuf_printf(&out, "%u:%u: %.*s [%s]\n", at.line, at.column, STR_ARG(diag->text),
                      diag_slug(diag->code));
    }
    return out.text;
}

// Tells the first line that differs: whole modules are too long for a message.
static inline void expect_same_text(const char *found, const char *expected) {
    size_t line = 1, start = 0, i = 0;
    for (; found[i] && found[i] == expected[i]; i++) {
        if (found[i] == '\n') line++, start = i + 1;
    }
    if (found[i] == expected[i]) return;
    fail_msg("line %zu is\n%.160s\nexpected\n%.160s", line, found + start, expected + start);
}

static inline void expect_message(Fixture *f, const char *part) {
    const char *all = fixture_messages(f);
    for (const char *p = all; *p; p++) {
        size_t i = 0;
        while (part[i] && p[i] == part[i]) i++;
        if (!part[i]) return;
    }
    fail_msg("expected a message with '%s', found:%s", part, all);
}

#endif
