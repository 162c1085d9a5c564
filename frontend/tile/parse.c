// The parser's base: tokens, errors, nodes, and the top of a file.
#include "frontend/tile/parse.h"

// ---- tokens

void parse_advance(Parser *p) {
    p->previous = p->tok.span;
    if (p->has_ahead) {
        p->tok = p->ahead;
        p->has_ahead = false;
    } else {
        p->tok = lex_next(&p->lex);
    }
}

const Token *parse_peek(Parser *p) {
    if (!p->has_ahead) p->ahead = lex_next(&p->lex);
    p->has_ahead = true;
    return &p->ahead;
}

bool parse_accept(Parser *p, TokenKind kind) {
    if (!parse_at(p, kind)) return false;
    parse_advance(p);
    return true;
}

const char *parse_found(Parser *p, const Token *t) {
    enum { SHOWN = 40 };
    if (t->kind == TOK_END) return token_text(TOK_END);
    size_t size = t->span.end - t->span.begin;
    if (t->kind == TOK_STRING) return "a text";
    return arena_printf(p->arena, "'%.*s%s'", size > SHOWN ? SHOWN : (int)size,
                        p->file->text.text + (t->span.begin - p->file->base),
                        size > SHOWN ? "…" : "");
}

// ---- errors

static void report(Parser *p, Span span, DiagCode code, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));
static void report(Parser *p, Span span, DiagCode code, const char *format, va_list args) {
    StrBuf text = strbuf(p->arena);
    strbuf_vprintf(&text, format, args);
    diag_error(p->diags, span, code, "%.*s", STR_ARG(strbuf_str(&text)));
    p->reported = true;
}

void parse_fail(Parser *p, Span span, DiagCode code, const char *format, ...) {
    p->reported = false;
    if (p->panic) return;
    p->panic = true;
    p->mistakes++;
    if (parse_at(p, TOK_BAD)) return;
    if (parse_at(p, TOK_END) && (p->cut || p->lex.open_comment)) return;
    va_list args;
    va_start(args, format);
    report(p, span, code, format, args);
    va_end(args);
    if (parse_at(p, TOK_END)) p->cut = true;
}

bool parse_complain(Parser *p, Span span, DiagCode code, const char *format, ...) {
    p->reported = false;
    if (p->panic) return false;
    p->mistakes++;
    va_list args;
    va_start(args, format);
    report(p, span, code, format, args);
    va_end(args);
    return true;
}

void parse_help(Parser *p, const char *format, ...) {
    if (!p->reported) return;
    StrBuf text = strbuf(p->arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    diag_help(p->diags, "%.*s", STR_ARG(strbuf_str(&text)));
}

Span parse_here(const Parser *p) {
    return parse_at(p, TOK_END) ? (Span){p->previous.end, p->previous.end} : p->tok.span;
}

void parse_expected(Parser *p, const char *what) {
    parse_fail(p, parse_here(p), DIAG_SYNTAX, "expected %s, found %s", what,
               p->panic ? "" : parse_found(p, &p->tok));
}

bool parse_expect(Parser *p, TokenKind kind, const char *where) {
    if (p->panic) return false;
    if (parse_accept(p, kind)) return true;
    // A token that is missing at the end of a line is reported there, not on the next line.
    Span end = {p->previous.end, p->previous.end};
    bool here = kind != TOK_SEMICOLON && !p->tok.first && !parse_at(p, TOK_END);
    parse_fail(p, here ? p->tok.span : end, DIAG_SYNTAX, "expected '%s' %s, found %s",
               token_text(kind), where, parse_found(p, &p->tok));
    return false;
}

Symbol parse_name(Parser *p, const char *what, Span *span) {
    *span = p->tok.span;
    if (p->panic) return NULL;
    if (!parse_at(p, TOK_NAME)) {
        parse_expected(p, what);
        if (token_is_keyword(p->tok.kind)) parse_help(p, "'%s' is a keyword", p->tok.u.name);
        if (parse_at(p, TOK_TYPE)) parse_help(p, "'%s' is the name of a type", p->tok.u.name);
        return NULL;
    }
    Symbol name = p->tok.u.name;
    parse_advance(p);
    return name;
}

void parse_too_deep(Parser *p, Span span) {
    if (!p->panic) p->deep = true;
    parse_fail(p, span, DIAG_TOO_DEEP, "this is nested more than %d deep", (int)AST_MAX_DEPTH);
}

bool parse_enter(Parser *p) {
    if (p->depth < AST_MAX_DEPTH) {
        p->depth++;
        return true;
    }
    parse_too_deep(p, p->tok.span);
    return false;
}

void parse_skip_braces(Parser *p) {
    size_t open = 0;
    while (!parse_at(p, TOK_END)) {
        if (parse_at(p, TOK_LBRACE)) open++;
        if (parse_at(p, TOK_RBRACE)) open--;
        parse_advance(p);
        if (open == 0) return;
    }
    p->cut = true;
}

// ---- nodes

Ast *parse_node(Parser *p, AstKind kind, Span span) {
    enum { SLAB = 64 };
    if (p->slab_left == 0) {
        p->slab = arena_new(p->arena, Ast, SLAB);
        p->slab_left = SLAB;
    }
    Ast *node = p->slab++;
    p->slab_left--;
    node->kind = kind;
    node->span = span;
    node->height = 1;
    node->builtin = -1;
    return node;
}

AstDecl *parse_decl(Parser *p, AstDeclKind kind, Symbol name, Span span) {
    AstDecl *decl = arena_new(p->arena, AstDecl, 1);
    decl->kind = kind;
    decl->name = name;
    decl->span = span;
    return decl;
}

// ---- the top of a file

// The name and the value of a const; NULL after an error.
static AstDecl *parse_value(Parser *p, Span type, bool typed) {
    Span span;
    typed = typed || parse_at(p, TOK_TYPE);
    if (typed && parse_complain(p, type, DIAG_SYNTAX, "a const has no type"))
        parse_help(p, "consts are integers known at compile time; write 'const N = 4;'");
    if (parse_at(p, TOK_TYPE)) parse_advance(p);
    Symbol name = parse_name(p, "the name of a const", &span);
    if (!name) return NULL;
    AstDecl *decl = parse_decl(p, DECL_CONST, name, span);
    bool value = parse_expect(p, TOK_ASSIGN, "and a value after the name of the const");
    decl->value = value ? parse_expr(p) : parse_node(p, AST_ERROR, p->tok.span);
    return decl;
}

static void parse_const(Parser *p) {
    AstTypeName type;
    parse_advance(p);
    bool typed = parse_typed_name(p, &type);
    AstDecl *decl = parse_at_table(p) ? parse_table(p, typed ? &type : NULL)
                                      : parse_value(p, typed ? type.span : p->tok.span, typed);
    if (!decl) return;
    decl->slot = (uint32_t)p->t->module.consts.count;
    vec_push(p->arena, &p->t->module.consts, decl);
    tile_global_add(p->t, decl);
    parse_expect(p, TOK_SEMICOLON, "after the const");
}

static void parse_import(Parser *p) {
    parse_advance(p);
    if (!parse_at(p, TOK_STRING)) {
        parse_expected(p, "the path of a file in double quotes");
        return;
    }
    Token path = p->tok;
    parse_advance(p);
    bool ended = parse_expect(p, TOK_SEMICOLON, "after the path");
    tile_import(p->t, p->file, path.u.text, path.span);
    if (!ended && p->tok.first) p->panic = false;
}

static bool begins_item(Parser *p) {
    if (parse_at(p, TOK_KERNEL) || parse_at(p, TOK_FN) || parse_at(p, TOK_END)) return true;
    if (parse_at(p, TOK_CONST)) return p->tok.first;
    if (parse_at_word(p, p->words.tune)) return p->tok.first && parse_peek(p)->kind == TOK_NAME;
    return parse_at_word(p, p->words.import) && parse_peek(p)->kind == TOK_STRING;
}

// Skips to the next token that can begin an item at the top of a file; whole {…} are skipped.
static void sync_item(Parser *p) {
    p->panic = false;
    while (!begins_item(p)) {
        if (parse_at(p, TOK_LBRACE)) {
            parse_skip_braces(p);
        } else {
            parse_advance(p);
        }
    }
}

static void parse_item(Parser *p) {
    if (parse_at(p, TOK_KERNEL)) {
        parse_kernel(p);
    } else if (parse_at(p, TOK_FN)) {
        parse_fn(p);
    } else if (parse_at(p, TOK_CONST)) {
        parse_const(p);
    } else if (parse_at_word(p, p->words.tune)) {
        parse_tune(p);
    } else if (parse_at_word(p, p->words.import)) {
        parse_import(p);
    } else if (!parse_accept(p, TOK_SEMICOLON)) {
        bool brace = parse_at(p, TOK_RBRACE);
        parse_expected(p, "'kernel', 'fn', 'const', 'tune' or 'import'");
        if (brace) parse_help(p, "there is one '}' too many before it");
        if (!brace || parse_peek(p)->kind == TOK_END) parse_advance(p);
    }
    if (p->panic) sync_item(p);
}

static void words_begin(Words *w, Interner *names) {
    w->requires = intern(names, STR("requires"));
    w->grid = intern(names, STR("grid"));
    w->math = intern(names, STR("math"));
    w->step = intern(names, STR("step"));
    w->type = intern(names, STR("type"));
    w->strided = intern(names, STR("strided"));
    w->tune = intern(names, STR("tune"));
    w->import = intern(names, STR("import"));
    w->contract = intern(names, STR("contract"));
    w->approx = intern(names, STR("approx"));
    w->and = intern(names, STR("and"));
    w->not = intern(names, STR("not"));
}

void tile_parse(TileFile *t, const SourceFile *file) {
    size_t before = diags_errors(t->diags);
    Parser *p = arena_new(t->arena, Parser, 1);
    p->t = t;
    p->arena = t->arena;
    p->diags = t->diags;
    p->file = file;
    words_begin(&p->words, t->names);
    lex_begin(&p->lex, t->arena, t->names, t->diags, file);
    p->tok = lex_next(&p->lex);
    p->previous = (Span){file->base, file->base};
    while (!parse_at(p, TOK_END)) parse_item(p);
    if (diags_errors(t->diags) != before) t->broken = true;
}
