// Simple statements: those of one line, separated by ';'.
#include <string.h>

#include "frontend/triton/syntax/parser.h"

// ---- words that are almost right

// The help for a name that is followed by something that cannot follow it.
static void help_statement(PyParser *p, const Py *first) {
    static const char *const keywords[] = {
        "assert", "break", "class",  "continue", "def",   "del",    "elif",  "else",
        "except", "for",   "from",   "global",   "if",    "import", "match", "nonlocal",
        "pass",   "raise", "return", "try",      "while", "with",   "yield", "async",
    };
    enum { COUNT = sizeof keywords / sizeof *keywords };
    if (!first || first->kind != PY_NAME || first->parenthesized) return;
    if (first->name == p->words.print || first->name == p->words.exec) {
        py_help(p, "'%s' is a function: write '%s(…)'", first->name, first->name);
        return;
    }
    Str words[COUNT];
    for (size_t i = 0; i < COUNT; i++) words[i] = str(keywords[i]);
    Str nearest = str_nearest(str(first->name), words, COUNT);
    if (nearest.size) py_help(p, "did you mean '%.*s'?", STR_ARG(nearest));
}

// ---- assignments and expressions

static Py *assign(PyParser *p, Py *first, uint32_t begin) {
    Py *node = py_node(p, PY_ASSIGN, begin);
    PyNodes targets;
    py_list_begin(&targets);
    Py *value = first;
    while (py_accept(p, TOK_ASSIGN)) {
        py_check_target(p, value);
        if (value->kind == PY_COMPARE || value->kind == PY_CALL || value->kind == PY_BINARY ||
            value->kind == PY_BOOL_OP)
            py_help(p, "did you mean '=='?");
        py_list_add(&targets, value);
        value = py_value(p);
    }
    node->list = targets.first;
    node->a = value;
    return py_close(p, node);
}

static PyOp augmented(PyTokenKind kind) {
    switch (kind) {
    case TOK_ADD_ASSIGN: return PY_ADD;
    case TOK_SUB_ASSIGN: return PY_SUB;
    case TOK_MUL_ASSIGN: return PY_MUL;
    case TOK_DIV_ASSIGN: return PY_DIV;
    case TOK_FLOOR_DIV_ASSIGN: return PY_FLOOR_DIV;
    case TOK_MOD_ASSIGN: return PY_MOD;
    case TOK_POW_ASSIGN: return PY_POW;
    case TOK_MATMUL_ASSIGN: return PY_MATMUL;
    case TOK_BIT_AND_ASSIGN: return PY_BIT_AND;
    case TOK_BIT_OR_ASSIGN: return PY_BIT_OR;
    case TOK_BIT_XOR_ASSIGN: return PY_BIT_XOR;
    case TOK_LSHIFT_ASSIGN: return PY_LSHIFT;
    case TOK_RSHIFT_ASSIGN: return PY_RSHIFT;
    default: return PY_OP_NONE;
    }
}

static Py *augment(PyParser *p, Py *target, PyOp op, uint32_t begin) {
    Py *node = py_node(p, PY_AUGMENTED, begin);
    if (!py_is_single_target(target))
        py_complain(p, target->span, DIAG_ASSIGN, "'%s=' cannot assign to %s", py_op_text(op),
                    py_describe(target));
    py_advance(p);
    node->op = op;
    node->a = target;
    node->b = py_value(p);
    return py_close(p, node);
}

static Py *annotate(PyParser *p, Py *target, uint32_t begin) {
    Py *node = py_node(p, PY_ANNOTATED, begin);
    py_advance(p);
    if (!py_begins_expression(p->tok.kind)) {
        py_expected(p, "the type of the variable after ':'");
        help_statement(p, target);
        return node;
    }
    node->a = target;
    node->b = py_expression(p);
    if (py_accept(p, TOK_ASSIGN)) node->c = py_value(p);
    return py_close(p, node);
}

static Py *expression_statement(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *first = py_value(p);
    if (py_at(p, TOK_ASSIGN)) return assign(p, first, begin);
    PyOp op = augmented(p->tok.kind);
    if (op != PY_OP_NONE) return augment(p, first, op, begin);
    if (py_at(p, TOK_COLON) && py_is_single_target(first)) return annotate(p, first, begin);
    Py *node = py_node(p, PY_EXPR, begin);
    node->a = first;
    return py_close(p, node);
}

// ---- statements with a keyword

static Py *keyword_only(PyParser *p, PyKind kind) {
    Py *node = py_node(p, kind, p->tok.span.begin);
    py_advance(p);
    return node;
}

static Py *return_statement(PyParser *p) {
    Py *node = keyword_only(p, PY_RETURN);
    if (py_begins_expression(p->tok.kind)) node->a = py_expressions(p);
    return py_close(p, node);
}

static Py *raise_statement(PyParser *p) {
    Py *node = keyword_only(p, PY_RAISE);
    if (py_begins_expression(p->tok.kind)) {
        node->a = py_expression(p);
        if (py_accept(p, TOK_FROM)) node->b = py_expression(p);
    }
    return py_close(p, node);
}

static Py *assert_statement(PyParser *p) {
    Py *node = keyword_only(p, PY_ASSERT);
    node->a = py_expression(p);
    if (py_accept(p, TOK_COMMA)) node->b = py_expression(p);
    return py_close(p, node);
}

static Py *del_statement(PyParser *p) {
    Py *node = keyword_only(p, PY_DEL);
    PyNodes list;
    py_list_begin(&list);
    do {
        Py *target = py_bit_or(p);
        py_check_deleted(p, target);
        py_list_add(&list, target);
    } while (py_accept(p, TOK_COMMA) && py_begins_expression(p->tok.kind));
    node->list = list.first;
    return py_close(p, node);
}

static Py *names_statement(PyParser *p, PyKind kind) {
    Py *node = keyword_only(p, kind);
    PyNodes list;
    py_list_begin(&list);
    do {
        Py *name = py_node(p, PY_NAME, p->tok.span.begin);
        name->name = py_name(p, "the name of a variable", &name->name_span);
        py_list_add(&list, name);
    } while (py_accept(p, TOK_COMMA));
    node->list = list.first;
    return py_close(p, node);
}

// ---- import

// "a.b.c", without the spaces that it may be written with.
static Str dotted_name(PyParser *p) {
    Span span;
    Symbol name = py_name(p, "the name of a module", &span);
    if (!name) return STR("");
    if (!py_at(p, TOK_DOT)) return str(name);
    StrBuf text = strbuf(p->arena);
    strbuf_add(&text, str(name));
    while (py_accept(p, TOK_DOT)) {
        name = py_name(p, "a name after '.'", &span);
        if (!name) break;
        strbuf_char(&text, '.');
        strbuf_add(&text, str(name));
    }
    return strbuf_str(&text);
}

static Py *alias(PyParser *p, bool dotted) {
    Py *node = py_node(p, PY_ALIAS, p->tok.span.begin);
    Span span;
    if (dotted) {
        node->text = dotted_name(p);
    } else {
        Symbol name = py_name(p, "a name to import", &span);
        node->text = name ? str(name) : STR("");
    }
    if (py_accept(p, TOK_AS)) node->name = py_name(p, "a name after 'as'", &node->name_span);
    return py_close(p, node);
}

static Py *import_statement(PyParser *p) {
    Py *node = keyword_only(p, PY_IMPORT);
    PyNodes list;
    py_list_begin(&list);
    do {
        py_list_add(&list, alias(p, true));
    } while (py_accept(p, TOK_COMMA));
    node->list = list.first;
    return py_close(p, node);
}

static Py *from_names(PyParser *p) {
    Span open = p->tok.span;
    bool bracket = py_accept(p, TOK_LPAREN);
    PyNodes list;
    py_list_begin(&list);
    do {
        py_list_add(&list, alias(p, false));
    } while (py_accept(p, TOK_COMMA) && !(bracket && py_at(p, TOK_RPAREN)));
    if (bracket) py_expect_close(p, TOK_RPAREN, open, "after the names");
    return list.first;
}

static Py *from_statement(PyParser *p) {
    enum { DOTS_MAX = UINT8_MAX };
    Py *node = keyword_only(p, PY_FROM);
    unsigned dots = 0;
    while (py_at(p, TOK_DOT) || py_at(p, TOK_ELLIPSIS)) {
        dots += py_at(p, TOK_DOT) ? 1 : 3;
        py_advance(p);
    }
    if (dots > DOTS_MAX)
        py_complain(p, p->previous, DIAG_TOO_LARGE,
                    "at most %d dots are before the name of a module", DOTS_MAX);
    node->dots = (uint8_t)(dots > DOTS_MAX ? DOTS_MAX : dots);
    node->text = STR("");
    if (!dots || !py_at(p, TOK_IMPORT)) node->text = dotted_name(p);
    py_expect(p, TOK_IMPORT, "after the name of the module");
    if (!py_accept(p, TOK_STAR) && !p->panic) node->list = from_names(p);
    return py_close(p, node);
}

// ---- type X = …

static bool at_type_alias(PyParser *p) {
    return py_at_word(p, p->words.type) && py_peek(p, 1)->kind == TOK_NAME;
}

static Py *type_statement(PyParser *p) {
    Py *node = keyword_only(p, PY_TYPE_ALIAS);
    node->name = py_name(p, "the name of the type", &node->name_span);
    node->b = py_type_params(p);
    py_expect(p, TOK_ASSIGN, "after the name of the type");
    node->a = py_expression(p);
    return py_close(p, node);
}

// ---- lines

static Py *simple_statement(PyParser *p) {
    switch (p->tok.kind) {
    case TOK_ASSERT: return assert_statement(p);
    case TOK_BREAK: return keyword_only(p, PY_BREAK);
    case TOK_CONTINUE: return keyword_only(p, PY_CONTINUE);
    case TOK_DEL: return del_statement(p);
    case TOK_FROM: return from_statement(p);
    case TOK_GLOBAL: return names_statement(p, PY_GLOBAL);
    case TOK_IMPORT: return import_statement(p);
    case TOK_NONLOCAL: return names_statement(p, PY_NONLOCAL);
    case TOK_PASS: return keyword_only(p, PY_PASS);
    case TOK_RAISE: return raise_statement(p);
    case TOK_RETURN: return return_statement(p);
    default: return at_type_alias(p) ? type_statement(p) : expression_statement(p);
    }
}

static void expect_line_end(PyParser *p, const Py *last) {
    if (py_accept(p, TOK_NEWLINE) || py_at(p, TOK_END) || p->panic) return;
    PyTokenKind found = p->tok.kind;
    py_expected(p, "the end of the line");
    if (found == TOK_WALRUS) {
        py_help(p, "write '=', or put the assignment with ':=' in parentheses");
    } else if (found == TOK_RPAREN || found == TOK_RBRACKET || found == TOK_RBRACE) {
        py_help(p, "no bracket is open that it could close");
    } else if (found == TOK_COLON) {
        py_help(p, "a ':' is at the end of the head of 'if', 'for', 'def' and others");
    } else if (last->kind == PY_EXPR) {
        help_statement(p, last->a);
    } else if (last->kind == PY_RAISE && found == TOK_COMMA) {
        py_help(p, "write 'raise Error(…)'");
    }
}

void py_simple_line(PyParser *p, PyNodes *list) {
    Py *last;
    do {
        last = simple_statement(p);
        py_list_add(list, last);
    } while (py_accept(p, TOK_SEMICOLON) && !py_at(p, TOK_NEWLINE) && !py_at(p, TOK_END));
    expect_line_end(p, last);
}
