// The lexer: characters to tokens, one at a time.
//
// Invariants: every byte of the text lies in a token, in white space or in a comment; whatever is
// wrong with a token is reported here, once: a run of bad bytes gives one error and one TOK_BAD,
// which the parser passes over in silence; a malformed number or text is still a TOK_INT, TOK_FLOAT
// or TOK_STRING. After TOK_END comes TOK_END. Ownership: the arena given; tokens point into the
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
    bool first;   // nothing but white space and comments before it on its line
    Dtype dtype;  // TOK_TYPE
    Span span;
    union {
        Symbol name;       // TOK_NAME, TOK_TYPE and keywords
        uint64_t integer;  // TOK_INT
        double real;       // TOK_FLOAT
        Str text;          // TOK_STRING, escapes replaced
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
    LexName *table;  // every name met, keywords and types among them; open addressing
    uint32_t table_size;
    uint32_t table_count;
    bool open_comment;  // one that is not closed reached the end: what it hides is not missing
    const char *comment_begin;  // the comments directly before the next token, or NULL
    const char *comment_end;
    Str kernel_comment;  // those directly before the last `kernel`
} Lexer;

void lex_begin(Lexer *l, Arena *arena, Interner *names, Diags *diags, const SourceFile *file);
Token lex_next(Lexer *l);
// How a token of this kind is written, or a phrase for it.
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
