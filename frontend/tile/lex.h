// The lexer: characters to tokens, one at a time.
//
// Invariants: every byte of the text is in a token, in white space or in a comment. Mistakes in a
// token are reported here, once: a run of bad bytes gives one error and one TOK_BAD, which the
// parser skips without a message; a malformed number or text is still a TOK_INT, TOK_FLOAT or
// TOK_STRING. After TOK_END comes TOK_END. Ownership: the arena given; tokens point into the
// source, the interner and the arena.
//
//     Lexer l;
//     lex_begin(&l, arena, names, diags, file);
//     for (Token t = lex_next(&l); t.kind != TOK_END; t = lex_next(&l)) use(t);
#ifndef TILEC_FRONTEND_TILE_LEX_H
#define TILEC_FRONTEND_TILE_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/dtype.h"
#include "base/source.h"
#include "base/str.h"

typedef enum TokenKind {
#define TOKEN(name, text) TOK_##name,
#define KEYWORD(name, text) TOK_##name,
#define PUNCT(name, text) TOK_##name,
#include "frontend/tile/token.def"
    TOK_COUNT
} TokenKind;

typedef struct Token {
    TokenKind kind;
    bool first;   // only white space and comments precede it on its line
    Dtype dtype;  // TOK_TYPE
    Span span;
    union {
        Symbol name;       // TOK_NAME, TOK_TYPE and keywords
        uint64_t integer;  // TOK_INT
        double real;       // TOK_FLOAT
        Str text;          // TOK_STRING, with escapes replaced
    } u;
} Token;

typedef struct LexName {
    Symbol symbol;
    uint32_t hash;
    uint32_t size;
    TokenKind kind;
    Dtype dtype;
} LexName;

typedef struct Lexer {
    const char *start;  // of the text
    const char *at;
    const char *end;
    uint32_t base;  // position of `start`
    Arena *arena;
    Interner *names;
    Diags *diags;
    LexName *table;  // every name read so far, and keywords and types; open addressing
    uint32_t table_size;
    uint32_t table_count;
    bool open_comment;  // an unclosed comment reached the end: it may hide what seems to be missing
    const char *comment_begin;  // the comments directly before the next token, or NULL
    const char *comment_end;
    Str kernel_comment;  // the comments directly before the last `kernel`
} Lexer;

void lex_begin(Lexer *l, Arena *arena, Interner *names, Diags *diags, const SourceFile *file);
Token lex_next(Lexer *l);
// The spelling of a token of this kind, or a phrase that describes it.
const char *token_text(TokenKind kind);
bool token_is_keyword(TokenKind kind);

// lex_number.c: reads the number at l->at into *t.
void lex_number(Lexer *l, Token *t);

static inline Span lex_span(const Lexer *l, const char *from, const char *to) {
    return (Span){l->base + (uint32_t)(from - l->start), l->base + (uint32_t)(to - l->start)};
}
static inline bool lex_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool lex_is_word(char c) {
    return lex_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

#endif
