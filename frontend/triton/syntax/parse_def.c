// Functions, lambdas and classes: parameters, type parameters, decorators.
#include "frontend/triton/syntax/parser.h"

// ---- parameters

typedef struct PyParams {
    PyFunc *func;
    PyParam **end;
    PyTokenKind close;
    bool annotated;
    bool slash, star, last;  // there was a '/', a '*', a '**'
    bool bare;               // the '*' has no name, and nothing came after it
    bool valued;             // the one before has a default
} PyParams;

static PyParam *add_param(PyParser *p, PyParams *s, PyParamKind kind, const char *what) {
    Span span;
    Symbol name = py_name(p, what, &span);
    PyParam *param = arena_new(p->arena, PyParam, 1);
    param->kind = kind;
    param->name = name ? name : p->words.underscore;
    param->span = span;
    *s->end = param;
    s->end = &param->next;
    if (s->annotated && py_accept(p, TOK_COLON)) {
        bool star = kind == PY_PARAM_ARGS && py_at(p, TOK_STAR);
        param->annotation = star ? py_star_expression(p) : py_expression(p);
    }
    if (!py_at(p, TOK_ASSIGN)) return param;
    if (kind == PY_PARAM_ARGS || kind == PY_PARAM_KWARGS)
        py_complain(p, p->tok.span, DIAG_SYNTAX, "a '%s' parameter has no default",
                    kind == PY_PARAM_ARGS ? "*" : "**");
    py_advance(p);
    param->value = py_expression(p);
    return param;
}

static void slash_param(PyParser *p, PyParams *s) {
    if (s->slash)
        py_complain(p, p->tok.span, DIAG_SYNTAX, "there is only one '/' among the parameters");
    else if (s->star)
        py_complain(p, p->tok.span, DIAG_SYNTAX, "the '/' comes before the '*' of the parameters");
    else if (!s->func->params)
        py_complain(p, p->tok.span, DIAG_SYNTAX, "expected a parameter before '/'");
    s->slash = true;
    for (PyParam *a = s->func->params; a; a = a->next)
        if (a->kind == PY_PARAM_NORMAL) a->kind = PY_PARAM_POSITIONAL;
    py_advance(p);
}

static void star_param(PyParser *p, PyParams *s) {
    if (s->star)
        py_complain(p, p->tok.span, DIAG_SYNTAX, "there is only one '*' among the parameters");
    s->star = true;
    py_advance(p);
    s->bare = py_at(p, TOK_COMMA) || py_at(p, s->close);
    if (!s->bare) add_param(p, s, PY_PARAM_ARGS, "the name of a parameter after '*'");
}

static void plain_param(PyParser *p, PyParams *s) {
    Span at = p->tok.span;
    const PyParam *param =
        add_param(p, s, s->star ? PY_PARAM_KEYWORD : PY_PARAM_NORMAL, "the name of a parameter");
    s->bare = false;
    if (!s->star && s->valued && !param->value)
        py_complain(p, at, DIAG_SYNTAX,
                    "a parameter without a default is after one with a default");
    s->valued = s->valued || param->value;
}

void py_parameters(PyParser *p, PyFunc *func, PyTokenKind close, bool annotated) {
    PyParams s = {.func = func, .end = &func->params, .close = close, .annotated = annotated};
    while (!py_at(p, close) && !p->panic) {
        Span at = p->tok.span;
        if (s.last) py_complain(p, at, DIAG_SYNTAX, "no parameter is after the '**' one");
        if (py_at(p, TOK_SLASH)) {
            slash_param(p, &s);
        } else if (py_at(p, TOK_STAR)) {
            star_param(p, &s);
        } else if (py_accept(p, TOK_POW)) {
            if (s.bare)
                py_complain(p, at, DIAG_SYNTAX, "expected a parameter with a name after '*'");
            s.bare = false;
            add_param(p, &s, PY_PARAM_KWARGS, "the name of a parameter after '**'");
            s.last = true;
        } else {
            plain_param(p, &s);
        }
        if (!py_accept(p, TOK_COMMA)) break;
    }
    if (s.bare && !p->panic)
        py_complain(p, p->previous, DIAG_SYNTAX, "expected a parameter with a name after '*'");
}

static Py *type_param(PyParser *p) {
    Py *node = py_node(p, PY_TYPE_PARAM, p->tok.span.begin);
    if (py_accept(p, TOK_STAR)) {
        node->op = PY_MUL;
    } else if (py_accept(p, TOK_POW)) {
        node->op = PY_POW;
    }
    node->name = py_name(p, "the name of a type parameter", &node->name_span);
    if (node->op == PY_OP_NONE && py_accept(p, TOK_COLON)) node->a = py_expression(p);
    if (py_accept(p, TOK_ASSIGN))
        node->b = node->op == PY_MUL ? py_star_expression(p) : py_expression(p);
    return py_close(p, node);
}

Py *py_type_params(PyParser *p) {
    if (!py_at(p, TOK_LBRACKET)) return NULL;
    Span open = p->tok.span;
    py_advance(p);
    PyNodes list;
    py_list_begin(&list);
    do {
        py_list_add(&list, type_param(p));
    } while (py_accept(p, TOK_COMMA) && !py_at(p, TOK_RBRACKET));
    py_expect_close(p, TOK_RBRACKET, open, "after the type parameters");
    return list.first;
}

// ---- functions

static PyFunc *func_begin(PyParser *p, bool is_async) {
    PyFunc *func = arena_new(p->arena, PyFunc, 1);
    func->is_async = is_async;
    func->outer = p->func;
    func->file = p->file;
    func->span = p->tok.span;
    return func;
}

Py *py_lambda(PyParser *p) {
    Py *node = py_node(p, PY_LAMBDA, p->tok.span.begin);
    if (!py_enter(p)) return py_error(p);
    PyFunc *func = func_begin(p, false);
    node->func = func;
    py_advance(p);
    py_parameters(p, func, TOK_COLON, false);
    py_expect(p, TOK_COLON, "after the parameters of the lambda");
    func->body = py_node(p, PY_BLOCK, p->tok.span.begin);
    Py *result = py_node(p, PY_RETURN, p->tok.span.begin);
    p->func = func;
    result->a = py_expression(p);
    p->func = func->outer;
    func->body->list = py_close(p, result);
    py_close(p, func->body);
    py_leave(p);
    py_close(p, node);
    func->span = node->span;
    return node;
}

static void find_doc(PyFunc *func) {
    const Py *first = func->body->list;
    if (first && first->kind == PY_EXPR && first->a->kind == PY_STRING && !first->a->bytes)
        func->doc = first->a->text;
    else
        func->doc = STR("");
}

Py *py_def(PyParser *p, Py *decorators, uint32_t begin, bool is_async) {
    Py *node = py_node(p, PY_DEF, begin);
    node->is_async = is_async;
    py_advance(p);
    PyFunc *func = func_begin(p, is_async);
    node->func = func;
    func->decorators = decorators;
    func->name = py_name(p, "the name of the function after 'def'", &func->span);
    node->name = func->name;
    node->name_span = func->span;
    func->type_params = py_type_params(p);
    Span open = p->tok.span;
    if (py_expect(p, TOK_LPAREN, "after the name of the function")) {
        py_parameters(p, func, TOK_RPAREN, true);
        py_expect_close(p, TOK_RPAREN, open, "after the parameters");
    }
    if (py_accept(p, TOK_ARROW)) func->returns = py_expression(p);
    p->func = func;
    func->body = py_block(p, "after the head of the function");
    p->func = func->outer;
    find_doc(func);
    return py_close(p, node);
}

Py *py_class(PyParser *p, Py *decorators) {
    Py *node = py_node(p, PY_CLASS, p->tok.span.begin);
    py_advance(p);
    node->name = py_name(p, "the name of the class after 'class'", &node->name_span);
    node->c = decorators;
    node->d = py_type_params(p);
    Span open = p->tok.span;
    if (py_accept(p, TOK_LPAREN)) node->list = py_arguments(p, open, TOK_RPAREN).first;
    node->b = py_block(p, "after the head of the class");
    return py_close(p, node);
}

Py *py_decorated(PyParser *p) {
    PyNodes list;
    py_list_begin(&list);
    uint32_t begin = p->tok.span.begin;
    while (py_accept(p, TOK_AT)) {
        py_list_add(&list, py_named(p));
        if (!py_accept(p, TOK_NEWLINE)) py_expected(p, "the end of the line after the decorator");
        if (p->panic) {  // the function is still read
            py_skip_line(p);
            begin = p->tok.span.begin;
        }
    }
    begin = p->tok.span.begin;
    if (py_at(p, TOK_DEF)) return py_def(p, list.first, begin, false);
    if (py_at(p, TOK_CLASS)) return py_class(p, list.first);
    if (py_at(p, TOK_ASYNC) && py_peek(p, 1)->kind == TOK_DEF) {
        py_advance(p);
        return py_def(p, list.first, begin, true);
    }
    py_expected(p, "a function or a class after the decorator");
    return py_error(p);
}
