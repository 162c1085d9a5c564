// The with statement, whose parentheses may be around its items or be a part of one.
#include "frontend/triton/syntax/parser.h"

// In the parentheses at p->tok: are they around items? They are, if there is an 'as' in them, or if
// a ':' follows them and each item is one that stands without parentheses, too.
static bool around_items(PyParser *p) {
    bool has_as = false, other = false, begins = true;
    size_t depth = 0;
    const PyToken *t = &p->tok;
    for (size_t n = 1;; n++) {
        switch (t->kind) {
        case TOK_LPAREN:
        case TOK_LBRACKET:
        case TOK_LBRACE: depth++; break;
        case TOK_RPAREN:
        case TOK_RBRACKET:
        case TOK_RBRACE: depth--; break;
        case TOK_AS: has_as = has_as || depth == 1; break;
        case TOK_FOR:
        case TOK_WALRUS:
        case TOK_YIELD: other = other || depth == 1; break;
        case TOK_STAR: other = other || (depth == 1 && begins); break;
        default: break;
        }
        if (t->kind == TOK_END || t->kind == TOK_NEWLINE ||
            (t->first && py_begins_statement(t->kind)))
            return has_as;
        begins = t->kind == TOK_LPAREN || t->kind == TOK_COMMA;
        bool empty = n == 2 && depth == 0;
        t = py_peek(p, n);
        if (depth == 0) return has_as || (!other && !empty && t->kind == TOK_COLON);
    }
}

static Py *with_item(PyParser *p) {
    Py *node = py_node(p, PY_WITH_ITEM, p->tok.span.begin);
    node->a = py_expression(p);
    if (py_accept(p, TOK_AS)) {
        bool star = py_at(p, TOK_STAR);
        node->b = star ? py_star_expression(p) : py_bit_or(p);
        py_check_target(p, node->b);
    }
    return py_close(p, node);
}

Py *py_with(PyParser *p, uint32_t begin, bool is_async) {
    Py *node = py_node(p, PY_WITH, begin);
    node->is_async = is_async;
    py_advance(p);
    PyNodes list;
    py_list_begin(&list);
    Span open = p->tok.span;
    bool inside = py_at(p, TOK_LPAREN) && around_items(p);
    if (inside) py_advance(p);
    do {
        py_list_add(&list, with_item(p));
    } while (py_accept(p, TOK_COMMA) && !(inside && py_at(p, TOK_RPAREN)));
    if (inside) py_expect_close(p, TOK_RPAREN, open, "after the items");
    node->list = list.first;
    node->b = py_block(p, "after the items of 'with'");
    return py_close(p, node);
}
