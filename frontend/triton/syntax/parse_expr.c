// Operators.
//
// Precedence, loosest first: lambda, choices; or; and; not; comparisons; | ; ^ ; & ; << >> ; + - ;
// * @ / // % ; the unary - + ~ ; ** ; await; and last calls, subscripts and attributes.
#include "frontend/triton/syntax/parser.h"

static const struct {
    uint8_t strength;
    uint8_t op;
} binary[TOK_COUNT] = {
    [TOK_BIT_OR] = {1, PY_BIT_OR},   [TOK_BIT_XOR] = {2, PY_BIT_XOR},
    [TOK_BIT_AND] = {3, PY_BIT_AND}, [TOK_LSHIFT] = {4, PY_LSHIFT},
    [TOK_RSHIFT] = {4, PY_RSHIFT},   [TOK_PLUS] = {5, PY_ADD},
    [TOK_MINUS] = {5, PY_SUB},       [TOK_STAR] = {6, PY_MUL},
    [TOK_SLASH] = {6, PY_DIV},       [TOK_FLOOR_DIV] = {6, PY_FLOOR_DIV},
    [TOK_PERCENT] = {6, PY_MOD},     [TOK_AT] = {6, PY_MATMUL},
};

bool py_begins_expression(PyTokenKind kind) {
    switch (kind) {
    case TOK_NAME:
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_FSTRING_BEGIN:
    case TOK_FALSE:
    case TOK_NONE:
    case TOK_TRUE:
    case TOK_AWAIT:
    case TOK_LAMBDA:
    case TOK_NOT:
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_LBRACE:
    case TOK_ELLIPSIS:
    case TOK_PLUS:
    case TOK_MINUS:
    case TOK_STAR:
    case TOK_BIT_NOT: return true;
    default: return false;
    }
}

// ---- arithmetic

static Py *unary(PyParser *p);

static Py *prefix(PyParser *p, PyOp op, Py *(*operand)(PyParser *p)) {
    Py *node = py_node(p, PY_UNARY, p->tok.span.begin);
    node->op = op;
    if (!py_enter(p)) return py_error(p);
    py_advance(p);
    node->a = operand(p);
    py_leave(p);
    return py_close(p, node);
}

static Py *power(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *left;
    if (py_at(p, TOK_AWAIT)) {
        left = py_node(p, PY_AWAIT, begin);
        py_advance(p);
        left->a = py_primary(p);
        py_close(p, left);
    } else {
        left = py_primary(p);
    }
    if (!py_at(p, TOK_POW) || !py_enter(p)) return left;
    Py *node = py_node(p, PY_BINARY, begin);
    py_advance(p);
    node->op = PY_POW;
    node->a = left;
    node->b = unary(p);
    py_leave(p);
    return py_close(p, node);
}

static Py *unary(PyParser *p) {
    switch (p->tok.kind) {
    case TOK_MINUS: return prefix(p, PY_NEG, unary);
    case TOK_PLUS: return prefix(p, PY_POS, unary);
    case TOK_BIT_NOT: return prefix(p, PY_INVERT, unary);
    default: return power(p);
    }
}

// Operators of at least this strength; the loop walks a chain of any length.
static Py *arithmetic(PyParser *p, unsigned least) {
    uint32_t begin = p->tok.span.begin;
    Py *left = unary(p);
    for (;;) {
        unsigned strength = binary[p->tok.kind].strength;
        if (!strength || strength < least) return left;
        Py *node = py_node(p, PY_BINARY, begin);
        node->op = binary[p->tok.kind].op;
        py_advance(p);
        node->a = left;
        node->b = strength == 6 ? unary(p) : arithmetic(p, strength + 1);
        left = py_close(p, node);
    }
}

Py *py_bit_or(PyParser *p) { return arithmetic(p, 1); }

// ---- comparisons, not, and, or

// The comparison at p->tok; its first word is consumed if it has two.
static PyOp comparison(PyParser *p) {
    switch (p->tok.kind) {
    case TOK_LT: return PY_LT;
    case TOK_LE: return PY_LE;
    case TOK_GT: return PY_GT;
    case TOK_GE: return PY_GE;
    case TOK_EQ: return PY_EQ;
    case TOK_NE: return PY_NE;
    case TOK_IN: return PY_IN;
    case TOK_IS:
        if (py_peek(p, 1)->kind != TOK_NOT) return PY_IS;
        py_advance(p);
        return PY_IS_NOT;
    case TOK_NOT:
        if (py_peek(p, 1)->kind != TOK_IN) return PY_OP_NONE;
        py_advance(p);
        return PY_NOT_IN;
    default: return PY_OP_NONE;
    }
}

static bool at_comparison(const PyParser *p) {
    PyTokenKind k = p->tok.kind;
    return k == TOK_LT || k == TOK_LE || k == TOK_GT || k == TOK_GE || k == TOK_EQ || k == TOK_NE ||
           k == TOK_IN || k == TOK_IS || k == TOK_NOT;
}

static Py *compare(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *left = py_bit_or(p);
    if (!at_comparison(p)) return left;
    PyNodes list;
    py_list_begin(&list);
    while (at_comparison(p)) {
        Py *step = py_node(p, PY_COMPARE_STEP, p->tok.span.begin);
        step->op = comparison(p);
        if (step->op == PY_OP_NONE) break;
        py_advance(p);
        if (step->op == PY_LT && py_at(p, TOK_GT)) {
            py_fail(p, span_join(step->span, p->tok.span), DIAG_SYNTAX,
                    "there is no operator '<>'");
            py_help(p, "write '!='");
        }
        step->a = py_bit_or(p);
        py_list_add(&list, py_close(p, step));
    }
    if (!list.first) return left;
    Py *node = py_node(p, PY_COMPARE, begin);
    node->a = left;
    node->list = list.first;
    return py_close(p, node);
}

static Py *negation(PyParser *p) {
    return py_at(p, TOK_NOT) ? prefix(p, PY_NOT, negation) : compare(p);
}

static Py *bool_op(PyParser *p, PyTokenKind token, PyOp op, Py *(*operand)(PyParser *p)) {
    uint32_t begin = p->tok.span.begin;
    Py *first = operand(p);
    if (!py_at(p, token)) return first;
    Py *node = py_node(p, PY_BOOL_OP, begin);
    PyNodes list;
    py_list_add(py_list_begin(&list), first);
    while (py_accept(p, token)) py_list_add(&list, operand(p));
    node->op = op;
    node->list = list.first;
    return py_close(p, node);
}

static Py *conjunction(PyParser *p) { return bool_op(p, TOK_AND, PY_AND, negation); }

Py *py_disjunction(PyParser *p) { return bool_op(p, TOK_OR, PY_OR, conjunction); }

// ---- choices, names for values, lists without brackets

Py *py_expression(PyParser *p) {
    if (py_at(p, TOK_LAMBDA)) return py_lambda(p);
    uint32_t begin = p->tok.span.begin;
    Py *value = py_disjunction(p);
    if (!py_at(p, TOK_IF) || !py_enter(p)) return value;
    Py *node = py_node(p, PY_TERNARY, begin);
    py_advance(p);
    node->b = value;
    node->a = py_disjunction(p);
    py_expect(p, TOK_ELSE, "after the condition of 'a if condition else b'");
    node->c = py_expression(p);
    py_leave(p);
    return py_close(p, node);
}

Py *py_named(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *name = py_expression(p);
    if (!py_at(p, TOK_WALRUS)) return name;
    if (name->kind != PY_NAME || name->parenthesized)
        py_complain(p, name->span, DIAG_ASSIGN, "':=' assigns to a name only, found %s",
                    py_describe(name));
    Py *node = py_node(p, PY_WALRUS, begin);
    py_advance(p);
    node->a = name;
    node->b = py_expression(p);
    return py_close(p, node);
}

static Py *starred(PyParser *p) {
    Py *node = py_node(p, PY_STARRED, p->tok.span.begin);
    py_advance(p);
    node->a = py_bit_or(p);
    return py_close(p, node);
}

Py *py_star_named(PyParser *p) { return py_at(p, TOK_STAR) ? starred(p) : py_named(p); }

Py *py_star_expression(PyParser *p) { return py_at(p, TOK_STAR) ? starred(p) : py_expression(p); }

Py *py_expressions(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *first = py_star_expression(p);
    if (!py_at(p, TOK_COMMA)) return first;
    Py *node = py_node(p, PY_TUPLE, begin);
    PyNodes list;
    py_list_add(py_list_begin(&list), first);
    while (py_accept(p, TOK_COMMA) && py_begins_expression(p->tok.kind))
        py_list_add(&list, py_star_expression(p));
    node->list = list.first;
    return py_close(p, node);
}

Py *py_yield(PyParser *p) {
    Py *node = py_node(p, PY_YIELD, p->tok.span.begin);
    py_advance(p);
    if (py_accept(p, TOK_FROM)) {
        node->from = true;
        node->a = py_expression(p);
    } else if (py_begins_expression(p->tok.kind)) {
        node->a = py_expressions(p);
    }
    return py_close(p, node);
}

Py *py_value(PyParser *p) { return py_at(p, TOK_YIELD) ? py_yield(p) : py_expressions(p); }
