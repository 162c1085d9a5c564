// Diagnostics: what is wrong with the input, collected as data, shown as text or JSON.
//
// Invariants: every diagnostic has a stable code from diag.def, a severity, a span (or none), a
// message in lower case without a final full stop, any number of notes and at most one help ("how
// to fix it"). They are kept in order of report; diags_sort puts them in order of position. Up to
// DIAGS_MAX errors and as many warnings are collected; after that one last row says how many more
// there are. A diagnostic is dropped if its span already carries one with the same code and
// severity (unless the span is nowhere).
//
// Ownership: the list's arena owns all texts. One thread at a time.
//
//     diag_error(d, span, DIAG_UNKNOWN_NAME, "unknown name '%s'", name);
//     diag_note(d, other, "'%s' is declared here", nearest);
//     diag_help(d, "did you mean '%s'?", nearest);
//     if (diags_errors(d)) …
//
// The text form of one diagnostic:
//     k.tile:3:9: error: unknown name 'sofmax' [unknown-name]
//         let v = sofmax(x);
//                 ^~~~~~
//     k.tile:1:4: note: 'softmax' is declared here
//         fn softmax(x) {
//            ^~~~~~~
//     help: did you mean 'softmax'?
// Without a span it begins "tilec: error: ".
#ifndef TILEC_BASE_DIAG_H
#define TILEC_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/str.h"

typedef enum DiagCode {
#define DIAG(code, slug) DIAG_##code,
#include "base/diag.def"
#undef DIAG
    DIAG_CODES
} DiagCode;

typedef enum DiagSeverity { DIAG_ERROR, DIAG_WARNING, DIAG_INFO } DiagSeverity;

enum { DIAGS_MAX = 10000 };

typedef struct DiagNote {
    Span span;  // may be nowhere
    Str text;
    struct DiagNote *next;
} DiagNote;

typedef struct Diag {
    DiagSeverity severity;
    DiagCode code;
    Span span;
    Str text;
    Str help;         // empty when there is none
    DiagNote *notes;  // in order of report
} Diag;

typedef struct Diags Diags;

Diags *diags_create(Arena *arena, const Sources *sources);
void diag_error(Diags *d, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_warning(Diags *d, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// These apply to the diagnostic reported last, and do nothing if that one was dropped.
void diag_note(Diags *d, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_help(Diags *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Copies a diagnostic of another list, with its notes and help. Texts are copied; spans are taken
// as they are.
void diag_copy(Diags *d, const Diag *from);

// The number of diagnostics kept. The counts of errors and warnings include those beyond DIAGS_MAX.
size_t diags_count(const Diags *d);
size_t diags_errors(const Diags *d);
size_t diags_warnings(const Diags *d);
const Diag *diags_get(const Diags *d, size_t i);
const Sources *diags_sources(const Diags *d);
void diags_sort(Diags *d);
// Drops everything reported after the first `count` (for a tentative analysis).
void diags_truncate(Diags *d, size_t count);
const char *diag_slug(DiagCode code);
bool diag_code_from_slug(Str slug, DiagCode *code);

typedef struct DiagStyle {
    bool color;
    bool quiet;  // errors only
} DiagStyle;
void diags_text(const Diags *d, DiagStyle style, StrBuf *out);
// Prints a place as diagnostics show it: "k.tile:3:9: ", and the line with a mark below it. Prints
// nothing for the span "nowhere".
void diag_show_place(const Sources *sources, Span span, DiagStyle style, StrBuf *out);
void diag_show_source(const Sources *sources, Span span, DiagSeverity severity, DiagStyle style,
                      StrBuf *out);
// A JSON array of objects {severity, code, message, file, line, column, endLine, endColumn, help,
// notes}.
void diags_json(const Diags *d, StrBuf *out);

#endif
