// Inside the parser: the functions that parse.c (files, kernels), parse_stmt.c and parse_expr.c
// share.
//
// Errors: parse_fail reports and sets `panic`. From then on nothing is reported or consumed until a
// function that can continue (for a statement, a parameter, the top of a file) skips to its end and
// clears it. parse_complain reports a mistake that the parser can read past, without panic. The
// lexer has reported a TOK_BAD, so one causes a panic without a message. Thus one mistake gives one
// error. Invariants: a parse function never returns NULL unless its comment says so; after a panic
// it returns what it has, with AST_ERROR in the gaps. `depth` counts open statements and brackets,
// so that neither the parser's stack nor the tree's height exceeds AST_MAX_DEPTH.
//
//     if (!parse_expect(p, TOK_LPAREN, "after 'grid'")) return;
#ifndef TILEC_FRONTEND_TILE_PARSE_H
#define TILEC_FRONTEND_TILE_PARSE_H

#include "frontend/tile/internal.h"
#include "frontend/tile/lex.h"

typedef struct Words {  // names with a meaning in one position of the grammar
    Symbol requires, grid, math, step, type, strided, tune, import, contract, approx, and, not ;
} Words;

typedef struct Parser {
    TileFile *t;
    Arena *arena;
    Diags *diags;
    const SourceFile *file;
    Lexer lex;
    Token tok;    // the next token, not yet consumed
    Token ahead;  // the token after it, if has_ahead
    bool has_ahead;
    bool panic;
    bool reported;      // the last parse_fail or parse_complain was reported: it may have a help
    bool deep;          // the panic is about depth: skip the whole statement
    bool lost;          // a name that this kernel or fn declares could not be read
    bool cut;           // recovery reached the end of the file: open brackets were already reported
    unsigned mistakes;  // errors reported so far, except a missing ';' between good statements
    int depth;
    int statement_depth;  // `depth` at the begin of the current statement
    Span previous;        // end of the last token consumed
    Words words;
    AstKernel *kernel;  // the current kernel, or NULL
    Ast *slab;          // zeroed nodes, of which slab_left are unused
    size_t slab_left;
} Parser;

typedef struct AstList {
    Ast *first;
    Ast **end;
} AstList;

// ---- tokens and errors: parse.c
void parse_advance(Parser *p);
const Token *parse_peek(Parser *p);  // the token after p->tok
bool parse_accept(Parser *p, TokenKind kind);
// `where` completes "expected ')' …, found 'x'". A missing ';' is reported at the end of the token
// before it, everything else at the token found.
bool parse_expect(Parser *p, TokenKind kind, const char *where);
// Reads a name; NULL after an error. *span is its position.
Symbol parse_name(Parser *p, const char *what, Span *span);
void parse_fail(Parser *p, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
Span parse_here(const Parser *p);  // the token found, or the end of the last one if the file ends
void parse_expected(Parser *p, const char *what);  // "expected WHAT, found 'x'"
// During a panic returns false and reports nothing.
bool parse_complain(Parser *p, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void parse_help(Parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The token in quotes, or "the end of the file".
const char *parse_found(Parser *p, const Token *t);
bool parse_enter(Parser *p);  // one level deeper; false after [too-deep]
static inline void parse_leave(Parser *p) { p->depth--; }
void parse_too_deep(Parser *p, Span span);
void parse_skip_braces(Parser *p);  // from '{' to after its '}'
Ast *parse_node(Parser *p, AstKind kind, Span span);
AstDecl *parse_decl(Parser *p, AstDeclKind kind, Symbol name, Span span);

static inline bool parse_at(const Parser *p, TokenKind kind) { return p->tok.kind == kind; }
static inline bool parse_at_word(const Parser *p, Symbol word) {
    return p->tok.kind == TOK_NAME && p->tok.u.name == word;
}
static inline AstList *list_begin(AstList *list) {
    list->first = NULL;
    list->end = &list->first;
    return list;
}
// Adds a node, or a chain of nodes.
static inline void list_add(AstList *list, Ast *node) {
    *list->end = node;
    while (*list->end) list->end = &(*list->end)->next;
}

// ---- parse_expr.c
Ast *parse_expr(Parser *p);      // never AST_TUPLE
Ast *parse_returned(Parser *p);  // an expression or a tuple
// Expressions separated by commas.
Ast *parse_list(Parser *p);
Ast *parse_braces(Parser *p);  // '{' … '}'

// ---- parse_table.c
// Is this a type and a name, of which the type is read into *type?
bool parse_typed_name(Parser *p, AstTypeName *type);
// Does a table begin here, with its name?
bool parse_at_table(Parser *p);
// Reads name, extents and values. `type` is NULL if there was none.
AstDecl *parse_table(Parser *p, const AstTypeName *type);

// Is this a type parameter of the current kernel, or a type of another language?
bool parse_is_type(const Parser *p, Symbol name);

// ---- parse_stmt.c
Ast *parse_block(Parser *p, const char *what);  // '{' … '}'; `what` names it in errors

// ---- parse_kernel.c
void parse_kernel(Parser *p);
void parse_fn(Parser *p);
void parse_tune(Parser *p);

#endif
