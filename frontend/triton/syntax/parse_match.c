// The match statement. A pattern is read as the expression that it looks like; `x as y` in it is a
// PY_WITH_ITEM, `A | B` a PY_BINARY, `*rest` a PY_STARRED, `{**rest}` a PY_PAIR without a key.
#include "frontend/triton/syntax/parser.h"

static Py *pattern(PyParser *p);

// Does the logical line end with ':'? Only a line of another statement shows that it does not end.
static bool line_ends_with_colon(PyParser *p) {
    PyTokenKind last = TOK_NAME;
    for (size_t n = 1;; n++) {
        const PyToken *t = py_peek(p, n);
        bool word = t->kind == TOK_NAME && t->u.name == p->words.match;
        if (t->kind == TOK_NEWLINE || t->kind == TOK_END) return last == TOK_COLON;
        if (t->first && (word || py_begins_statement(t->kind))) return false;
        last = t->kind;
    }
}

bool py_at_match(PyParser *p) {
    if (!py_at_word(p, p->words.match)) return false;
    switch (py_peek(p, 1)->kind) {
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_MINUS:
    case TOK_PLUS:
    case TOK_STAR: return line_ends_with_colon(p);
    case TOK_NOT: return py_peek(p, 2)->kind != TOK_IN;
    default: return py_begins_expression(py_peek(p, 1)->kind);
    }
}

// ---- the parts of patterns

static bool begins_pattern(PyTokenKind kind) {
    switch (kind) {
    case TOK_NAME:
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_FSTRING_BEGIN:
    case TOK_TRUE:
    case TOK_FALSE:
    case TOK_NONE:
    case TOK_MINUS:
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_LBRACE:
    case TOK_STAR: return true;
    default: return false;
    }
}

static Py *literal(PyParser *p) {
    switch (p->tok.kind) {
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_FSTRING_BEGIN:  // which CPython refuses after its parser
    case TOK_TRUE:
    case TOK_FALSE:
    case TOK_NONE: return py_atom(p);
    default: break;
    }
    Py *node = py_error(p);
    py_expected(p, "a pattern");
    return node;
}

static Py *number(PyParser *p, bool imaginary, const char *what) {
    Py *node = py_error(p);
    if ((py_at(p, TOK_INT) || py_at(p, TOK_FLOAT)) && p->tok.imaginary == imaginary)
        return py_atom(p);
    py_expected(p, what);
    return node;
}

// A constant, -1, 2+3j
static Py *literal_pattern(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *left;
    if (py_at(p, TOK_MINUS)) {
        left = py_node(p, PY_UNARY, begin);
        left->op = PY_NEG;
        py_advance(p);
        left->a = number(p, p->tok.imaginary, "a number after '-' in a pattern");
        py_close(p, left);
    } else {
        left = literal(p);
    }
    if (!py_at(p, TOK_PLUS) && !py_at(p, TOK_MINUS)) return left;
    const Py *real = left->kind == PY_UNARY ? left->a : left;
    if ((real->kind != PY_INT && real->kind != PY_FLOAT) || real->imaginary)
        py_complain(p, left->span, DIAG_SYNTAX,
                    "expected a real number before '%s' in a pattern, found %s",
                    py_token_text(p->tok.kind), py_describe(real));
    Py *node = py_node(p, PY_BINARY, begin);
    node->op = py_at(p, TOK_PLUS) ? PY_ADD : PY_SUB;
    py_advance(p);
    node->a = left;
    node->b = number(p, true, "an imaginary number such as '1j' in a pattern");
    return py_close(p, node);
}

static Py *star_pattern(PyParser *p) {
    if (!py_at(p, TOK_STAR)) return pattern(p);
    Py *node = py_node(p, PY_STARRED, p->tok.span.begin);
    py_advance(p);
    Py *name = py_node(p, PY_NAME, p->tok.span.begin);
    name->name = py_name(p, "a name after '*' in a pattern", &name->name_span);
    node->a = py_close(p, name);
    return py_close(p, node);
}

static Py *patterns(PyParser *p, PyTokenKind close, bool *comma) {
    PyNodes list;
    py_list_begin(&list);
    *comma = false;
    while (!py_at(p, close) && !p->panic) {
        py_list_add(&list, star_pattern(p));
        if (!py_accept(p, TOK_COMMA)) break;
        *comma = true;
    }
    return list.first;
}

static Py *sequence_pattern(PyParser *p) {
    bool bracket = py_at(p, TOK_LBRACKET), comma;
    PyTokenKind close = bracket ? TOK_RBRACKET : TOK_RPAREN;
    Py *node = py_node(p, bracket ? PY_LIST : PY_TUPLE, p->tok.span.begin);
    Span open = p->tok.span;
    py_advance(p);
    node->list = patterns(p, close, &comma);
    py_expect_close(p, close, open, "after the patterns");
    node->parenthesized = !bracket;
    if (bracket || !node->list || comma) return py_close(p, node);
    if (node->list->kind == PY_STARRED)
        py_complain(p, node->list->span, DIAG_SYNTAX, "a '*' needs a tuple or a list around it");
    if (node->list->kind == PY_STARRED) return py_close(p, node);
    node->list->parenthesized = true;
    return node->list;
}

// name, a.b
static Py *dotted_pattern(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *left = py_node(p, PY_NAME, begin);
    left->name = py_name(p, "a name", &left->name_span);
    while (py_at(p, TOK_DOT)) {
        Py *node = py_node(p, PY_ATTRIBUTE, begin);
        py_advance(p);
        node->a = left;
        node->name = py_name(p, "a name after '.'", &node->name_span);
        left = py_close(p, node);
    }
    return left;
}

static Py *mapping_item(PyParser *p) {
    Py *node = py_node(p, PY_PAIR, p->tok.span.begin);
    if (py_accept(p, TOK_POW)) {
        Py *name = py_node(p, PY_NAME, p->tok.span.begin);
        name->name = py_name(p, "a name after '**' in a pattern", &name->name_span);
        node->b = py_close(p, name);
    } else {
        node->a = py_at(p, TOK_NAME) ? dotted_pattern(p) : literal_pattern(p);
        if (node->a->kind == PY_NAME) {
            py_complain(p, node->a->span, DIAG_SYNTAX,
                        "a key of a pattern is a constant, found a name");
            py_help(p, "the value of a name is written with a point, as in 'module.name'");
        }
        py_expect(p, TOK_COLON, "after a key of the pattern");
        node->b = pattern(p);
    }
    return py_close(p, node);
}

static Py *mapping_pattern(PyParser *p) {
    Py *node = py_node(p, PY_DICT, p->tok.span.begin);
    Span open = p->tok.span;
    py_advance(p);
    PyNodes list;
    py_list_begin(&list);
    while (!py_at(p, TOK_RBRACE) && !p->panic) {
        py_list_add(&list, mapping_item(p));
        if (!py_accept(p, TOK_COMMA)) break;
    }
    py_expect_close(p, TOK_RBRACE, open, "after the items of the pattern");
    node->list = list.first;
    return py_close(p, node);
}

static Py *class_argument(PyParser *p, bool *keyword) {
    if (!py_at(p, TOK_NAME) || py_peek(p, 1)->kind != TOK_ASSIGN) {
        Py *value = pattern(p);
        if (*keyword)
            py_complain(p, value->span, DIAG_SYNTAX,
                        "a positional pattern cannot be after one with a name");
        return value;
    }
    Py *node = py_node(p, PY_KEYWORD, p->tok.span.begin);
    *keyword = true;
    node->name = py_name(p, "a name", &node->name_span);
    py_advance(p);
    node->a = pattern(p);
    return py_close(p, node);
}

// name, a.b, Class(…)
static Py *name_pattern(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *left = dotted_pattern(p);
    if (!py_at(p, TOK_LPAREN)) return left;
    Py *node = py_node(p, PY_CALL, begin);
    Span open = p->tok.span;
    bool keyword = false;
    py_advance(p);
    PyNodes list;
    py_list_begin(&list);
    while (!py_at(p, TOK_RPAREN) && !p->panic) {
        py_list_add(&list, class_argument(p, &keyword));
        if (!py_accept(p, TOK_COMMA)) break;
    }
    py_expect_close(p, TOK_RPAREN, open, "after the patterns of the class");
    node->a = left;
    node->list = list.first;
    return py_close(p, node);
}

static Py *closed_pattern(PyParser *p) {
    switch (p->tok.kind) {
    case TOK_NAME: return name_pattern(p);
    case TOK_LPAREN:
    case TOK_LBRACKET: return sequence_pattern(p);
    case TOK_LBRACE: return mapping_pattern(p);
    default: return literal_pattern(p);
    }
}

static Py *pattern(PyParser *p) {
    if (!py_enter(p)) return py_error(p);
    uint32_t begin = p->tok.span.begin;
    Py *left = closed_pattern(p);
    while (py_at(p, TOK_BIT_OR)) {
        Py *node = py_node(p, PY_BINARY, begin);
        py_advance(p);
        node->op = PY_BIT_OR;
        node->a = left;
        node->b = closed_pattern(p);
        left = py_close(p, node);
    }
    if (py_at(p, TOK_AS)) {
        Py *node = py_node(p, PY_WITH_ITEM, begin);
        py_advance(p);
        Py *name = py_node(p, PY_NAME, p->tok.span.begin);
        name->name = py_name(p, "a name after 'as'", &name->name_span);
        node->a = left;
        node->b = py_close(p, name);
        left = py_close(p, node);
    }
    py_leave(p);
    return left;
}

// ---- match and case

static Py *open_pattern(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *first = star_pattern(p);
    if (first->kind == PY_STARRED && !py_at(p, TOK_COMMA)) py_expected(p, "',' after '*name'");
    if (!py_at(p, TOK_COMMA)) return first;
    Py *node = py_node(p, PY_TUPLE, begin);
    PyNodes list;
    py_list_add(py_list_begin(&list), first);
    while (py_accept(p, TOK_COMMA) && begins_pattern(p->tok.kind))
        py_list_add(&list, star_pattern(p));
    node->list = list.first;
    return py_close(p, node);
}

static Py *case_block(PyParser *p) {
    Py *node = py_node(p, PY_CASE, p->tok.span.begin);
    py_advance(p);
    node->b = open_pattern(p);
    if (py_accept(p, TOK_IF)) node->a = py_named(p);
    node->c = py_block(p, "after the pattern");
    return py_close(p, node);
}

static Py *subject(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *first = py_star_named(p);
    if (first->kind == PY_STARRED && !py_at(p, TOK_COMMA)) py_expected(p, "',' after '*…'");
    if (!py_at(p, TOK_COMMA)) return first;
    Py *node = py_node(p, PY_TUPLE, begin);
    PyNodes list;
    py_list_add(py_list_begin(&list), first);
    while (py_accept(p, TOK_COMMA) && py_begins_expression(p->tok.kind))
        py_list_add(&list, py_star_named(p));
    node->list = list.first;
    return py_close(p, node);
}

// The cases, in a block.
static Py *cases(PyParser *p) {
    PyNodes list;
    py_list_begin(&list);
    while (!py_at(p, TOK_DEDENT) && !py_at(p, TOK_END)) {
        p->statement = p->tok.span.begin;
        if (py_at_word(p, p->words.case_)) {
            py_list_add(&list, case_block(p));
        } else {
            py_expected(p, "'case' in the block of 'match'");
        }
        bool broken = p->panic;
        if (broken) py_skip_line(p);
        if (py_at(p, TOK_INDENT)) {
            PyNodes lines;
            if (!broken) py_unexpected_indent(p);
            py_advance(p);
            py_statements(p, py_list_begin(&lines));
            py_accept(p, TOK_DEDENT);
        }
    }
    return list.first;
}

Py *py_match(PyParser *p) {
    Py *node = py_node(p, PY_MATCH, p->tok.span.begin);
    py_advance(p);
    node->a = subject(p);
    py_expect(p, TOK_COLON, "after the value of 'match'");
    if (!py_accept(p, TOK_NEWLINE)) py_expected(p, "a line end and 'case' after 'match …:'");
    bool broken = p->panic;
    if (broken) py_skip_line(p);
    if (!py_at(p, TOK_INDENT)) {
        if (!broken)
            py_complain(p, py_here(p), DIAG_SYNTAX,
                        "expected an indented block of 'case' after 'match', found %s",
                        py_found(p, &p->tok));
    } else if (!py_enter(p)) {
        py_skip_block(p);
    } else {
        py_advance(p);
        node->list = cases(p);
        py_accept(p, TOK_DEDENT);
        py_leave(p);
    }
    return py_close(p, node);
}
