// Sources: the texts that spans point into, files or strings, all in one 32-bit space of positions.
//
// Invariants: a Span is [begin, end) in that space, which also determines its file; the zeroed Span
// is "nowhere". Texts do not change once added, end in NUL, and have at most SOURCE_MAX bytes.
// Ownership: the Sources' arena owns copies of path and text.
//
//     Sources *s = sources_create(arena);
//     const SourceFile *f = source_add(s, str("a.tile"), text);
//     SourceLine at = source_line(s, span.begin);   // at.file, at.line, at.column, at.text
#ifndef TILEC_BASE_SOURCE_H
#define TILEC_BASE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { SOURCE_MAX = 64 << 20 };  // bytes of one file; more is refused with a clear error

typedef struct Span {
    uint32_t begin;
    uint32_t end;
} Span;

typedef struct SourceFile {
    Str path;
    Str text;
    uint32_t base;  // position of its first byte
} SourceFile;

typedef struct SourceLine {
    const SourceFile *file;  // NULL for "nowhere"
    uint32_t line;           // from 1
    uint32_t column;         // from 1, in bytes
    Str text;                // the line without its end
} SourceLine;

typedef struct Sources Sources;

Sources *sources_create(Arena *arena);
// NULL when the text is over SOURCE_MAX or the space of positions is used up.
const SourceFile *source_add(Sources *sources, Str path, Str text);
// The file already added under this path, or NULL.
const SourceFile *source_find(const Sources *sources, Str path);
// The number of files; they are in the order in which they were added.
size_t sources_count(const Sources *sources);
const SourceFile *sources_get(const Sources *sources, size_t number);
SourceLine source_line(const Sources *sources, uint32_t position);
Str source_text(const Sources *sources, Span span);

static inline bool span_known(Span s) { return s.end != 0; }
static inline Span span_join(Span a, Span b) {
    if (!span_known(a)) return b;
    if (!span_known(b)) return a;
    return (Span){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

#endif
