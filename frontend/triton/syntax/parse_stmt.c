// Compound statements and blocks.
#include "frontend/triton/syntax/parser.h"

// ---- blocks

static void expected_block(PyParser *p, const char *after) {
    py_complain(p, py_here(p), DIAG_SYNTAX, "expected an indented block %s, found %s", after,
                py_found(p, &p->tok));
    py_help(p, "indent its lines more than this one; an empty block is 'pass'");
}

// The lines of an indented block, of which INDENT is the next token.
static void indented(PyParser *p, PyNodes *list) {
    py_advance(p);
    py_statements(p, list);
    py_accept(p, TOK_DEDENT);
}

void py_skip_block(PyParser *p) {
    py_skip_line(p);
    for (size_t open = 0; !py_at(p, TOK_END); py_advance(p)) {
        if (py_at(p, TOK_INDENT)) open++;
        if (py_at(p, TOK_DEDENT) && --open == 0) break;
    }
    py_accept(p, TOK_DEDENT);
}

Py *py_block(PyParser *p, const char *after) {
    Py *block = py_node(p, PY_BLOCK, p->tok.span.begin);
    PyNodes list;
    py_list_begin(&list);
    py_expect(p, TOK_COLON, after);
    bool broken = p->panic;
    if (broken) {
        py_skip_line(p);  // the block after a head with an error is still read
    } else if (!py_accept(p, TOK_NEWLINE)) {
        block->span.begin = p->tok.span.begin;
        py_simple_line(p, &list);
        block->list = list.first;
        return py_close(p, block);
    }
    if (!py_at(p, TOK_INDENT)) {
        if (!broken) expected_block(p, after);
        return block;
    }
    if (!py_enter(p)) {
        py_skip_block(p);
        return block;
    }
    p->depth++;  // a statement and its block are two nodes
    block->span.begin = p->tok.span.begin;
    indented(p, &list);
    p->depth -= 2;
    block->list = list.first;
    return py_close(p, block);
}

// ---- if, while, for

static unsigned higher(unsigned height, const Py *child) {
    return child && child->height >= height ? (unsigned)child->height + 1 : height;
}

// The nodes of a chain of `count` elif end where the chain ends; it has one height.
static Py *close_chain(PyParser *p, Py *top, size_t count, unsigned height) {
    for (Py *node = top; count > 0; count--) {
        py_close_at(p, node->c, height);
        node = node->c->list;
        py_close_at(p, node, height);
    }
    return py_close_at(p, top, height);
}

static Py *else_block(PyParser *p) {
    if (!py_accept(p, TOK_ELSE)) return NULL;
    if (py_at(p, TOK_IF)) {
        py_expected(p, "':' after 'else'");
        py_help(p, "write 'elif'");
    }
    return py_block(p, "after 'else'");
}

static Py *if_statement(PyParser *p) {
    Py *top = NULL, *last = NULL;
    unsigned height = 1;
    size_t count = 0;
    do {
        Py *node = py_node(p, PY_IF, p->tok.span.begin);
        py_advance(p);
        node->a = py_named(p);
        node->b = py_block(p, "after the condition");
        height = higher(higher(height, node->a), node->b);
        if (last) {
            last->c = py_node(p, PY_BLOCK, node->span.begin);
            last->c->list = node;
            count++;
        } else {
            top = node;
        }
        last = node;
    } while (py_at(p, TOK_ELIF));
    last->c = else_block(p);
    height = higher(height, last->c);
    return close_chain(p, top, count, height);
}

static Py *while_statement(PyParser *p) {
    Py *node = py_node(p, PY_WHILE, p->tok.span.begin);
    py_advance(p);
    node->a = py_named(p);
    node->b = py_block(p, "after the condition");
    node->c = else_block(p);
    return py_close(p, node);
}

static Py *for_statement(PyParser *p, uint32_t begin, bool is_async) {
    Py *node = py_node(p, PY_FOR, begin);
    node->is_async = is_async;
    py_advance(p);
    node->a = py_targets(p);
    py_expect(p, TOK_IN, "after the variables of 'for'");
    node->b = py_expressions(p);
    node->c = py_block(p, "after the values of 'for'");
    node->d = else_block(p);
    return py_close(p, node);
}

// ---- try

static Py *except_clause(PyParser *p, Py *whole) {
    Py *node = py_node(p, PY_EXCEPT, p->tok.span.begin);
    py_advance(p);
    bool star = py_accept(p, TOK_STAR);
    if (whole->list && star != (whole->op == PY_MUL))
        py_complain(p, node->span, DIAG_SYNTAX, "'except' and 'except*' are in one 'try'");
    if (star) whole->op = PY_MUL;
    if (star || !py_at(p, TOK_COLON)) node->a = py_expression(p);
    if (py_accept(p, TOK_AS)) node->name = py_name(p, "a name after 'as'", &node->name_span);
    if (py_at(p, TOK_COMMA)) {
        py_expected(p, "':' after the exception");
        py_help(p, "write 'except A as name:', or 'except (A, B):'");
    }
    node->b = py_block(p, "after the exception");
    return py_close(p, node);
}

static Py *try_statement(PyParser *p) {
    Py *node = py_node(p, PY_TRY, p->tok.span.begin);
    py_advance(p);
    node->a = py_block(p, "after 'try'");
    PyNodes list;
    py_list_begin(&list);
    while (py_at(p, TOK_EXCEPT)) {
        py_list_add(&list, except_clause(p, node));
        node->list = list.first;
    }
    if (list.first) node->b = else_block(p);
    if (py_accept(p, TOK_FINALLY)) node->c = py_block(p, "after 'finally'");
    if (!node->list && !node->c && !p->panic)
        py_complain(p, py_here(p), DIAG_SYNTAX,
                    "expected 'except' or 'finally' after the block of 'try', found %s",
                    py_found(p, &p->tok));
    return py_close(p, node);
}

// ---- any statement

static Py *async_statement(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    switch (py_peek(p, 1)->kind) {
    case TOK_DEF: py_advance(p); return py_def(p, NULL, begin, true);
    case TOK_FOR: py_advance(p); return for_statement(p, begin, true);
    case TOK_WITH: py_advance(p); return py_with(p, begin, true);
    default: break;
    }
    py_advance(p);
    py_expected(p, "'def', 'for' or 'with' after 'async'");
    return py_error(p);
}

// The rest of a statement that did not begin: "else:", "except E:".
static bool is_rest(const PyParser *p) {
    return py_at(p, TOK_ELSE) || py_at(p, TOK_ELIF) || py_at(p, TOK_EXCEPT) ||
           py_at(p, TOK_FINALLY);
}

static Py *misplaced_clause(PyParser *p) {
    Py *node = py_error(p);
    py_fail(p, p->tok.span, DIAG_SYNTAX, "this '%s' belongs to no %s", p->tok.u.name,
            py_at(p, TOK_ELIF)   ? "'if'"
            : py_at(p, TOK_ELSE) ? "'if', 'for', 'while' or 'try'"
                                 : "'try'");
    py_help(p, "its indentation is that of the statement to which it belongs");
    return node;
}

static void statement(PyParser *p, PyNodes *list) {
    uint32_t begin = p->tok.span.begin;
    Py *node;
    switch (p->tok.kind) {
    case TOK_IF: node = if_statement(p); break;
    case TOK_WHILE: node = while_statement(p); break;
    case TOK_FOR: node = for_statement(p, begin, false); break;
    case TOK_TRY: node = try_statement(p); break;
    case TOK_WITH: node = py_with(p, begin, false); break;
    case TOK_DEF: node = py_def(p, NULL, begin, false); break;
    case TOK_CLASS: node = py_class(p, NULL); break;
    case TOK_AT: node = py_decorated(p); break;
    case TOK_ASYNC: node = async_statement(p); break;
    case TOK_ELSE:
    case TOK_ELIF:
    case TOK_EXCEPT:
    case TOK_FINALLY: node = misplaced_clause(p); break;
    default:
        if (!py_at_match(p)) {
            py_simple_line(p, list);
            return;
        }
        node = py_match(p);
    }
    py_list_add(list, node);
}

void py_unexpected_indent(PyParser *p) {
    py_complain(p, p->tok.span, DIAG_SYNTAX,
                "this line is indented more than the one before, but begins no block");
}

// Indented lines that belong to no block are read as lines of the block around them: without an
// error if the statement before them had one, which may have been their head.
void py_statements(PyParser *p, PyNodes *list) {
    enum { NONE = -1 };
    long inner = 0, failed = NONE;  // at which depth of these lines a statement had an error
    while (!py_at(p, TOK_END)) {
        if (py_at(p, TOK_DEDENT)) {
            if (inner == 0) return;
            inner--;
            py_advance(p);
        } else if (py_at(p, TOK_INDENT)) {
            if (failed == NONE && !p->tok.refused) py_unexpected_indent(p);
            inner++;
            py_advance(p);
        } else if (failed != NONE && is_rest(p)) {
            p->stopped = p->tok;
            py_skip_line(p);
        } else {
            p->statement = p->tok.span.begin;
            statement(p, list);
            if (p->panic) {
                failed = inner;
                py_skip_line(p);
            } else if (failed >= inner) {
                failed = NONE;
            }
        }
    }
}
