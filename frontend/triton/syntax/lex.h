// The lexer of Python: characters to tokens, one at a time.
//
// Invariants: every byte of the text is in a token, in white space or in a comment. A NEWLINE ends
// each logical line; INDENT and DEDENT are balanced, except that an open bracket at the end of the
// file is followed by END at once. In brackets, line ends are white space. An f-string is
// FSTRING_BEGIN, then FSTRING_TEXT and `{` … `}` in any order, then FSTRING_END. Mistakes in a
// token are reported here, once; the token is a BAD one if the parser cannot use it, which the
// parser skips without a message. After END comes END. Ownership: the arena given; tokens point
// into the source, the interner and the arena.
//
//     PyLexer l;
//     py_lex_begin(&l, arena, names, diags, file);
//     for (PyToken t = py_lex(&l); t.kind != TOK_END; t = py_lex(&l)) use(t);
#ifndef TILEC_FRONTEND_TRITON_SYNTAX_LEX_H
#define TILEC_FRONTEND_TRITON_SYNTAX_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/source.h"
#include "base/str.h"
#include "base/vec.h"
#include "frontend/triton/syntax/ast.h"

typedef enum PyTokenKind {
#define TOKEN(name, text) TOK_##name,
#define KEYWORD(name, text) TOK_##name,
#define PUNCT(name, text) TOK_##name,
#include "frontend/triton/syntax/token.def"
    TOK_COUNT
} PyTokenKind;

typedef struct PyToken {
    PyTokenKind kind;
    bool first;            // only white space precedes it on its line
    bool bytes;            // STRING
    bool imaginary, huge;  // INT, FLOAT
    bool refused;          // INDENT: the lexer has reported an error
    Span span;
    union {
        Symbol name;    // NAME and keywords
        PyInt integer;  // INT
        double real;    // FLOAT
        Str text;       // STRING, FSTRING_TEXT, with escapes replaced
    } u;
} PyToken;

typedef struct PyLexName {
    Symbol symbol;
    uint32_t hash;
    uint32_t size;
    PyTokenKind kind;
} PyLexName;

// The brackets and strings that are open at a place in the text.
typedef enum PyOpenKind {
    OPEN_PAREN,
    OPEN_BRACKET,
    OPEN_BRACE,
    OPEN_FSTRING,  // the text of an f-string
    OPEN_FIELD,    // {…} in an f-string
    OPEN_SPEC,     // after the ':' of a field
} PyOpenKind;

typedef struct PyOpen {
    PyOpenKind kind;
    char quote;          // OPEN_FSTRING and what is open in it
    uint8_t quote_size;  // 1 or 3
    bool raw;
    Span span;  // of the bracket, or of what begins the f-string
} PyOpen;

// The indentation of a line: tabs go to multiples of 8; in `narrow` they count as 1. Two lines
// compare alike in both, or their indentation depends on the size of a tab.
typedef struct PyIndent {
    uint32_t column;
    uint32_t narrow;
} PyIndent;

typedef struct PyLexer {
    const char *start;  // of the text
    const char *at;
    const char *end;
    uint32_t base;  // position of `start`
    Arena *arena;
    Interner *names;
    Diags *diags;
    PyLexName *table;  // every name read so far, and keywords; open addressing
    uint32_t table_size;
    uint32_t table_count;
    VEC(PyOpen) open;       // innermost last
    VEC(PyIndent) indents;  // of the open blocks; the first is column 0
    uint32_t dedents;       // DEDENT to be given before the next token
    bool line_begins;       // the next token begins a logical line, or the text has ended
    bool first;             // the next token that is not INDENT or DEDENT is the first on its line
    uint8_t punctuation[128];  // by first character: the first kind in token.def
} PyLexer;

void py_lex_begin(PyLexer *l, Arena *arena, Interner *names, Diags *diags, const SourceFile *file);
PyToken py_lex(PyLexer *l);
// After an error: goes on at the begin of the line of `position`, with no bracket open.
void py_lex_resume(PyLexer *l, uint32_t position);
// The indentation of the line of `position`.
uint32_t py_lex_column(const PyLexer *l, uint32_t position);
// The spelling of a token of this kind, or a phrase that describes it.
const char *py_token_text(PyTokenKind kind);
bool py_token_is_keyword(PyTokenKind kind);

// lex_number.c: reads the number at l->at into *t.
void py_lex_number(PyLexer *l, PyToken *t);

// lex_string.c: reads a string whose quote is at `quote` after its prefix, at l->at, into *t.
void py_lex_string(PyLexer *l, const char *quote, PyToken *t);
// In an f-string: its text up to a '{' or its end, that '{', or its end.
void py_lex_fstring(PyLexer *l, PyToken *t);

static inline Span py_lex_span(const PyLexer *l, const char *from, const char *to) {
    return (Span){l->base + (uint32_t)(from - l->start), l->base + (uint32_t)(to - l->start)};
}
static inline bool py_lex_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool py_lex_is_word(char c) {
    return py_lex_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 128;
}
static inline bool py_lex_is_newline(char c) { return c == '\n' || c == '\r'; }
// The place after the line end at p.
static inline const char *py_lex_after_newline(const char *p) {
    return *p == '\r' && p[1] == '\n' ? p + 2 : p + 1;
}
static inline const PyOpen *py_lex_top(const PyLexer *l) {
    return l->open.count ? &l->open.data[l->open.count - 1] : NULL;
}

#endif
