// Expressions in brackets: tuples, lists, sets, dicts, comprehensions.
#include "frontend/triton/syntax/parser.h"

// ---- comprehensions

bool py_at_clause(PyParser *p) {
    return py_at(p, TOK_FOR) || (py_at(p, TOK_ASYNC) && py_peek(p, 1)->kind == TOK_FOR);
}

static Py *target(PyParser *p) {
    if (!py_at(p, TOK_STAR)) return py_bit_or(p);
    Py *node = py_node(p, PY_STARRED, p->tok.span.begin);
    py_advance(p);
    node->a = py_bit_or(p);
    return py_close(p, node);
}

Py *py_targets(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *first = target(p);
    if (py_at(p, TOK_COMMA)) {
        Py *node = py_node(p, PY_TUPLE, begin);
        PyNodes list;
        py_list_add(py_list_begin(&list), first);
        while (py_accept(p, TOK_COMMA) && py_begins_expression(p->tok.kind))
            py_list_add(&list, target(p));
        node->list = list.first;
        first = py_close(p, node);
    }
    py_check_target(p, first);
    return first;
}

static Py *clause(PyParser *p) {
    Py *node = py_node(p, PY_CLAUSE, p->tok.span.begin);
    node->is_async = py_accept(p, TOK_ASYNC);
    py_advance(p);
    node->a = py_targets(p);
    py_expect(p, TOK_IN, "after the variables of 'for'");
    node->b = py_disjunction(p);
    PyNodes list;
    py_list_begin(&list);
    while (py_accept(p, TOK_IF)) py_list_add(&list, py_disjunction(p));
    node->list = list.first;
    return py_close(p, node);
}

Py *py_clauses(PyParser *p) {
    PyNodes list;
    py_list_begin(&list);
    while (py_at_clause(p)) py_list_add(&list, clause(p));
    return list.first;
}

static Py *comprehension(PyParser *p, Py *node, PyKind kind, Py *element) {
    node->kind = kind;
    if (element->kind == PY_STARRED)
        py_complain(p, element->span, DIAG_SYNTAX, "a comprehension has no '*' before its item");
    node->a = element;
    node->list = py_clauses(p);
    return node;
}

// ---- (…) and […]

// The items after the first, up to the bracket.
static Py *items(PyParser *p, Py *first, PyTokenKind close) {
    PyNodes list;
    py_list_add(py_list_begin(&list), first);
    while (py_accept(p, TOK_COMMA) && !py_at(p, close)) py_list_add(&list, py_star_named(p));
    return list.first;
}

// An expression in parentheses is `value` itself, without a node of its own.
static Py *group(PyParser *p, Py *value, Span open) {
    if (value->kind == PY_STARRED)
        py_complain(p, value->span, DIAG_SYNTAX, "a '*' needs a tuple or a list around it");
    py_expect_close(p, TOK_RPAREN, open, "after the expression");
    value->parenthesized = true;
    return value;
}

static Py *parenthesis(PyParser *p) {
    Py *node = py_node(p, PY_TUPLE, p->tok.span.begin);
    Span open = p->tok.span;
    py_advance(p);
    if (py_at(p, TOK_YIELD)) return group(p, py_yield(p), open);
    if (!py_at(p, TOK_RPAREN)) {
        Py *first = py_star_named(p);
        if (py_at_clause(p)) {
            comprehension(p, node, PY_GENERATOR, first);
        } else if (py_at(p, TOK_COMMA)) {
            node->list = items(p, first, TOK_RPAREN);
        } else {
            return group(p, first, open);
        }
    }
    py_expect_close(p, TOK_RPAREN, open, "after the items");
    node->parenthesized = true;
    return py_close(p, node);
}

Py *py_parenthesis(PyParser *p) {
    if (!py_enter(p)) return py_error(p);
    Py *node = parenthesis(p);
    py_leave(p);
    return node;
}

Py *py_bracket(PyParser *p) {
    Py *node = py_node(p, PY_LIST, p->tok.span.begin);
    Span open = p->tok.span;
    if (!py_enter(p)) return py_error(p);
    py_advance(p);
    if (!py_at(p, TOK_RBRACKET)) {
        Py *first = py_star_named(p);
        if (py_at_clause(p)) {
            comprehension(p, node, PY_LIST_COMP, first);
        } else {
            node->list = items(p, first, TOK_RBRACKET);
        }
    }
    py_expect_close(p, TOK_RBRACKET, open, "after the items");
    py_leave(p);
    return py_close(p, node);
}

// ---- {…}

static Py *pair(PyParser *p) {
    Py *node = py_node(p, PY_PAIR, p->tok.span.begin);
    if (py_accept(p, TOK_POW)) {
        node->b = py_bit_or(p);
    } else {
        node->a = py_expression(p);
        py_expect(p, TOK_COLON, "after a key of the dict");
        node->b = py_expression(p);
    }
    return py_close(p, node);
}

static void dict_items(PyParser *p, Py *node, Py *first) {
    PyNodes list;
    py_list_add(py_list_begin(&list), first);
    while (py_accept(p, TOK_COMMA) && !py_at(p, TOK_RBRACE)) py_list_add(&list, pair(p));
    node->list = list.first;
}

static void dict_comprehension(PyParser *p, Py *node, const Py *first) {
    node->kind = PY_DICT_COMP;
    node->a = first->a;
    node->b = first->b;
    if (!first->a)
        py_complain(p, first->span, DIAG_SYNTAX, "a comprehension has no '**' before its item");
    node->list = py_clauses(p);
}

// The rest of a set or a dict whose first item begins here.
static void brace_items(PyParser *p, Py *node) {
    uint32_t begin = p->tok.span.begin;
    Py *first = py_at(p, TOK_POW) ? pair(p) : py_star_named(p);
    if (first->kind != PY_PAIR && py_at(p, TOK_COLON)) {
        if (first->kind == PY_STARRED || (first->kind == PY_WALRUS && !first->parenthesized))
            py_complain(p, first->span, DIAG_SYNTAX, "the key of a dict cannot be %s",
                        py_describe(first));
        Py *key = first;
        first = py_node(p, PY_PAIR, begin);
        py_advance(p);
        first->a = key;
        first->b = py_expression(p);
        py_close(p, first);
    }
    bool is_dict = first->kind == PY_PAIR;
    if (py_at_clause(p)) {
        if (is_dict) {
            dict_comprehension(p, node, first);
        } else {
            comprehension(p, node, PY_SET_COMP, first);
        }
    } else if (is_dict) {
        dict_items(p, node, first);
    } else {
        node->kind = PY_SET;
        node->list = items(p, first, TOK_RBRACE);
    }
}

Py *py_brace(PyParser *p) {
    Py *node = py_node(p, PY_DICT, p->tok.span.begin);
    Span open = p->tok.span;
    if (!py_enter(p)) return py_error(p);
    py_advance(p);
    if (!py_at(p, TOK_RBRACE)) brace_items(p, node);
    py_expect_close(p, TOK_RBRACE, open, "after the items");
    py_leave(p);
    return py_close(p, node);
}
