// The parser's base: tokens, errors, nodes, and the whole of a file.
#include "frontend/triton/syntax/parse.h"

#include "frontend/triton/syntax/parser.h"

// ---- tokens

void py_advance(PyParser *p) {
    if (p->tok.kind > TOK_DEDENT) p->previous = p->tok.span;
    if (p->ahead_at < p->ahead.count) {
        p->tok = p->ahead.data[p->ahead_at++];
    } else {
        p->tok = py_lex(&p->lex);
    }
}

const PyToken *py_peek(PyParser *p, size_t n) {
    if (p->ahead_at == p->ahead.count) p->ahead_at = p->ahead.count = 0;
    while (p->ahead.count - p->ahead_at < n) vec_push(p->arena, &p->ahead, py_lex(&p->lex));
    return &p->ahead.data[p->ahead_at + n - 1];
}

bool py_accept(PyParser *p, PyTokenKind kind) {
    if (!py_at(p, kind)) return false;
    py_advance(p);
    return true;
}

const char *py_found(PyParser *p, const PyToken *t) {
    enum { SHOWN = 40 };
    switch (t->kind) {
    case TOK_END:
    case TOK_NEWLINE:
    case TOK_INDENT:
    case TOK_DEDENT:
    case TOK_STRING:
    case TOK_FSTRING_BEGIN:
    case TOK_FSTRING_TEXT:
    case TOK_FSTRING_END: return py_token_text(t->kind);
    default: break;
    }
    size_t size = t->span.end - t->span.begin;
    return arena_printf(p->arena, "'%.*s%s'", size > SHOWN ? SHOWN : (int)size,
                        p->file->text.text + (t->span.begin - p->file->base),
                        size > SHOWN ? "…" : "");
}

// ---- lines that end a bracket which is not closed

bool py_begins_statement(PyTokenKind kind) {
    switch (kind) {
    case TOK_ASSERT:
    case TOK_BREAK:
    case TOK_CLASS:
    case TOK_CONTINUE:
    case TOK_DEF:
    case TOK_DEL:
    case TOK_ELIF:
    case TOK_EXCEPT:
    case TOK_FINALLY:
    case TOK_GLOBAL:
    case TOK_IMPORT:
    case TOK_NONLOCAL:
    case TOK_PASS:
    case TOK_RAISE:
    case TOK_RETURN:
    case TOK_TRY:
    case TOK_WHILE:
    case TOK_WITH: return true;
    default: return false;
    }
}

static bool is_closing(PyTokenKind kind) {
    return kind == TOK_RPAREN || kind == TOK_RBRACKET || kind == TOK_RBRACE;
}

// Does this token, in an open bracket, show that the bracket is not closed?
static bool line_is_outside(const PyParser *p) {
    if (!p->tok.first || p->tok.span.begin <= p->statement || is_closing(p->tok.kind)) return false;
    if (py_begins_statement(p->tok.kind)) return true;
    return py_lex_column(&p->lex, p->tok.span.begin) <= vec_last(&p->lex.indents).column;
}

// ---- errors

__attribute__((format(printf, 4, 0))) static void report(PyParser *p, Span span, DiagCode code,
                                                         const char *format, va_list args) {
    StrBuf text = strbuf(p->arena);
    strbuf_vprintf(&text, format, args);
    diag_error(p->diags, span, code, "%.*s", STR_ARG(strbuf_str(&text)));
    p->reported = true;
}

void py_fail(PyParser *p, Span span, DiagCode code, const char *format, ...) {
    p->reported = false;
    if (p->panic) return;
    p->panic = true;
    p->stopped = p->tok;
    p->tok.kind = TOK_PANIC;
    if (p->stopped.kind == TOK_BAD) return;
    va_list args;
    va_start(args, format);
    report(p, span, code, format, args);
    va_end(args);
}

bool py_complain(PyParser *p, Span span, DiagCode code, const char *format, ...) {
    p->reported = false;
    if (p->panic) return false;
    va_list args;
    va_start(args, format);
    report(p, span, code, format, args);
    va_end(args);
    return true;
}

void py_help(PyParser *p, const char *format, ...) {
    if (!p->reported) return;
    StrBuf text = strbuf(p->arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    diag_help(p->diags, "%.*s", STR_ARG(strbuf_str(&text)));
}

void py_note(PyParser *p, Span span, const char *text) {
    if (p->reported) diag_note(p->diags, span, "%s", text);
}

Span py_here(const PyParser *p) {
    PyTokenKind kind = p->panic ? p->stopped.kind : p->tok.kind;
    bool between = kind == TOK_END || kind == TOK_NEWLINE || kind == TOK_DEDENT;
    return between ? (Span){p->previous.end, p->previous.end} : p->tok.span;
}

void py_expected(PyParser *p, const char *what) {
    p->reported = false;
    if (p->panic) return;
    py_fail(p, py_here(p), DIAG_SYNTAX, "expected %s, found %s", what, py_found(p, &p->tok));
    const PyOpen *open = py_lex_top(&p->lex);
    if (p->stopped.kind == TOK_END && open) py_note(p, open->span, "the bracket is opened here");
}

bool py_expect(PyParser *p, PyTokenKind kind, const char *where) {
    p->reported = false;
    if (p->panic) return false;
    if (py_accept(p, kind)) return true;
    PyTokenKind found = p->tok.kind;
    py_fail(p, py_here(p), DIAG_SYNTAX, "expected '%s' %s, found %s", py_token_text(kind), where,
            py_found(p, &p->tok));
    if (kind == TOK_COLON && found == TOK_ASSIGN) py_help(p, "did you mean '=='?");
    return false;
}

bool py_expect_close(PyParser *p, PyTokenKind kind, Span open, const char *where) {
    p->reported = false;
    if (p->panic) return false;
    if (py_accept(p, kind)) return true;
    PyTokenKind found = p->tok.kind;
    bool comma = py_begins_expression(found) && !line_is_outside(p);
    py_fail(p, py_here(p), DIAG_SYNTAX, "expected '%s' %s, found %s", py_token_text(kind), where,
            py_found(p, &p->tok));
    py_note(p, open, "the bracket is opened here");
    if (found == TOK_ASSIGN) py_help(p, "did you mean '=='?");
    if (comma) py_help(p, "is a ',' missing?");
    return false;
}

Symbol py_name(PyParser *p, const char *what, Span *span) {
    *span = p->tok.span;
    if (!py_at(p, TOK_NAME)) {
        bool keyword = py_token_is_keyword(p->tok.kind);
        py_expected(p, what);
        if (keyword) py_help(p, "'%s' is a keyword", p->stopped.u.name);
        return NULL;
    }
    Symbol name = p->tok.u.name;
    py_advance(p);
    return name;
}

bool py_enter(PyParser *p) {
    if (p->panic) return false;
    if (p->depth < PY_MAX_DEPTH) {
        p->depth++;
        return true;
    }
    p->deep = p->tok.span.end;
    py_fail(p, p->tok.span, DIAG_TOO_DEEP, "this is nested more than %d deep", (int)PY_MAX_DEPTH);
    return false;
}

// ---- the end of a panic

void py_skip_line(PyParser *p) {
    p->tok = p->stopped;
    p->panic = false;
    for (;; py_advance(p)) {
        switch (p->tok.kind) {
        case TOK_END:
        case TOK_INDENT:
        case TOK_DEDENT: return;
        case TOK_NEWLINE: py_advance(p); return;
        default: break;
        }
        if (p->lex.open.count == 0 || !line_is_outside(p)) continue;
        py_lex_resume(&p->lex, p->tok.span.begin);
        p->ahead.count = p->ahead_at = 0;
        py_advance(p);
        return;
    }
}

// ---- nodes

Py *py_node(PyParser *p, PyKind kind, uint32_t begin) {
    enum { SLAB = 64 };
    if (p->slab_left == 0) {
        p->slab = arena_new(p->arena, Py, SLAB);
        p->slab_left = SLAB;
    }
    Py *node = p->slab++;
    p->slab_left--;
    node->kind = kind;
    node->span = (Span){begin, p->tok.span.end};
    node->height = 1;
    return node;
}

Py *py_error(PyParser *p) { return py_node(p, PY_ERROR, p->tok.span.begin); }

static unsigned over(unsigned height, const Py *child) {
    return child && child->height > height ? child->height : height;
}

static unsigned over_list(unsigned height, const Py *list) {
    for (; list; list = list->next) height = over(height, list);
    return height;
}

static unsigned over_func(unsigned height, const PyFunc *f) {
    for (const PyParam *a = f->params; a; a = a->next)
        height = over(over(height, a->annotation), a->value);
    height = over_list(over_list(height, f->type_params), f->decorators);
    return over(over(height, f->returns), f->body);
}

// The greatest height of a child. A left side counts one less, so that a chain counts once.
static unsigned height_below(const Py *n) {
    switch (n->kind) {
    case PY_INT:
    case PY_FLOAT:
    case PY_STRING: return 0;
    case PY_FROM:
    case PY_ALIAS: return over_list(0, n->list);
    case PY_DEF:
    case PY_LAMBDA: return over_func(0, n->func);
    case PY_CLASS: return over_list(over_list(over_list(over(0, n->b), n->c), n->d), n->list);
    case PY_TYPE_ALIAS: return over_list(over(0, n->a), n->b);
    case PY_BINARY: return over((unsigned)n->a->height - 1, n->b);
    case PY_CALL: return over_list((unsigned)n->a->height - 1, n->list);
    case PY_ATTRIBUTE: return (unsigned)n->a->height - 1;
    case PY_SUBSCRIPT: return over((unsigned)n->a->height - 1, n->b);
    default: return over_list(over(over(over(over(0, n->a), n->b), n->c), n->d), n->list);
    }
}

Py *py_close(PyParser *p, Py *node) { return py_close_at(p, node, height_below(node) + 1); }

Py *py_close_at(PyParser *p, Py *node, unsigned height) {
    uint32_t begin = node->span.begin;
    if (p->previous.end > begin) node->span.end = p->previous.end;
    if (node->span.end < begin) node->span.end = begin;
    node->height = (uint8_t)height;
    if (height <= PY_MAX_DEPTH) return node;
    if (begin >= p->deep)  // nothing in it was reported
        py_complain(p, node->span, DIAG_TOO_DEEP, "this is nested more than %d deep",
                    (int)PY_MAX_DEPTH);
    p->deep = node->span.end;
    PyKind kind = node->kind == PY_BLOCK ? PY_BLOCK : PY_ERROR;
    *node = (Py){.kind = kind, .span = node->span, .height = 1};
    return node;
}

// ---- the whole

static PyParser *parser_begin(Arena *arena, Interner *names, Diags *diags, const SourceFile *file) {
    PyParser *p = arena_new(arena, PyParser, 1);
    p->arena = arena;
    p->names = names;
    p->diags = diags;
    p->file = file;
    p->words = (PyWords){.match = intern(names, STR("match")),
                         .case_ = intern(names, STR("case")),
                         .type = intern(names, STR("type")),
                         .print = intern(names, STR("print")),
                         .exec = intern(names, STR("exec")),
                         .underscore = intern(names, STR("_"))};
    py_lex_begin(&p->lex, arena, names, diags, file);
    p->previous = (Span){file->base, file->base};
    p->tok = py_lex(&p->lex);
    return p;
}

Py *py_parse(Arena *arena, Interner *names, Diags *diags, const SourceFile *file) {
    PyParser *p = parser_begin(arena, names, diags, file);
    Py *module = py_node(p, PY_BLOCK, p->tok.span.begin);
    PyNodes list;
    py_list_begin(&list);
    while (!py_at(p, TOK_END)) {
        py_statements(p, &list);
        if (py_at(p, TOK_DEDENT)) py_advance(p);
    }
    module->list = list.first;
    module->span = (Span){file->base, file->base + (uint32_t)file->text.size};
    return module;
}

Py *py_parse_expression(Arena *arena, Interner *names, Diags *diags, const SourceFile *file) {
    PyParser *p = parser_begin(arena, names, diags, file);
    while (py_at(p, TOK_INDENT)) py_advance(p);
    Py *value = py_expressions(p);
    while (py_at(p, TOK_NEWLINE) || py_at(p, TOK_DEDENT)) py_advance(p);
    if (!py_at(p, TOK_END)) py_expected(p, "the end of the expression");
    return value;
}
