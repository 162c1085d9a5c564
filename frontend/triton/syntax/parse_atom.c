// Names and constants; calls, subscripts and attributes.
#include "frontend/triton/syntax/parser.h"

// ---- atoms

static Py *constant(PyParser *p, PyKind kind) {
    Py *node = py_node(p, kind, p->tok.span.begin);
    py_advance(p);
    return node;
}

static Py *number(PyParser *p) {
    Py *node = py_node(p, py_at(p, TOK_INT) ? PY_INT : PY_FLOAT, p->tok.span.begin);
    node->imaginary = p->tok.imaginary;
    node->huge = p->tok.huge;
    if (node->kind == PY_INT) {
        node->integer = p->tok.u.integer;
    } else {
        node->real = p->tok.u.real;
    }
    py_advance(p);
    return node;
}

static Py *name(PyParser *p) {
    Py *node = py_node(p, PY_NAME, p->tok.span.begin);
    node->name = p->tok.u.name;
    node->name_span = node->span;
    py_advance(p);
    return node;
}

// The help for what other languages write where an expression begins.
static void help_no_expression(PyParser *p) {
    switch (p->stopped.kind) {
    case TOK_BIT_AND: py_help(p, "'and' joins two conditions"); break;
    case TOK_BIT_OR: py_help(p, "'or' joins two conditions"); break;
    case TOK_BANG: py_help(p, "write 'not'"); break;
    case TOK_ASSIGN: py_help(p, "did you mean '=='?"); break;
    case TOK_YIELD: py_help(p, "a 'yield' in an expression is in parentheses"); break;
    case TOK_FSTRING_TEXT: py_help(p, "a lambda in an f-string is in parentheses"); break;
    case TOK_IF:
    case TOK_ELSE: py_help(p, "a choice is written 'a if condition else b'"); break;
    default:
        if (py_token_is_keyword(p->stopped.kind))
            py_help(p, "'%s' is a keyword", p->stopped.u.name);
    }
}

// Was the last operator one half of '++' or '--'?
static char half_of_step(const PyParser *p) {
    const char *text = p->file->text.text + (p->previous.begin - p->file->base);
    bool one = p->previous.end == p->previous.begin + 1 && text > p->file->text.text;
    return one && (*text == '+' || *text == '-') && text[-1] == *text ? *text : 0;
}

static Py *no_expression(PyParser *p) {
    Py *node = py_error(p);
    bool starred = py_at(p, TOK_STAR) || py_at(p, TOK_POW);
    char step = half_of_step(p);
    py_expected(p, "an expression");
    if (step) {
        py_help(p, "there is no '%c%c'; write '%c= 1'", step, step, step);
    } else if (starred) {
        py_help(p, "'*' before a value is for arguments, and for the items of tuples and lists");
    } else {
        help_no_expression(p);
    }
    return node;
}

Py *py_atom(PyParser *p) {
    switch (p->tok.kind) {
    case TOK_NAME: return name(p);
    case TOK_INT:
    case TOK_FLOAT: return number(p);
    case TOK_STRING:
    case TOK_FSTRING_BEGIN: return py_strings(p);
    case TOK_TRUE: return constant(p, PY_TRUE);
    case TOK_FALSE: return constant(p, PY_FALSE);
    case TOK_NONE: return constant(p, PY_NONE);
    case TOK_ELLIPSIS: return constant(p, PY_ELLIPSIS);
    case TOK_LPAREN: return py_parenthesis(p);
    case TOK_LBRACKET: return py_bracket(p);
    case TOK_LBRACE: return py_brace(p);
    default: return no_expression(p);
    }
}

// ---- calls

typedef struct PyArguments {
    PyNodes list;
    bool keyword;         // there was a name=…
    bool unpacked;        // there was a **…
    const Py *generator;  // (…) without its own parentheses
} PyArguments;

static Py *keyword_argument(PyParser *p, PyArguments *args, Py *left) {
    Py *node = py_node(p, PY_KEYWORD, left->span.begin);
    if (left->kind != PY_NAME || left->parenthesized) {
        py_complain(p, left->span, DIAG_ASSIGN,
                    "expected a name before '=' in an argument, found %s", py_describe(left));
        py_help(p, "did you mean '=='?");
    }
    py_advance(p);
    node->name = left->kind == PY_NAME ? left->name : NULL;
    node->name_span = left->span;
    node->a = py_expression(p);
    args->keyword = true;
    return py_close(p, node);
}

static Py *unpacked_argument(PyParser *p, PyArguments *args, bool mapping) {
    Py *node = py_node(p, mapping ? PY_KEYWORD : PY_STARRED, p->tok.span.begin);
    py_advance(p);
    if (!mapping && args->unpacked)
        py_complain(p, node->span, DIAG_SYNTAX, "a '*' argument cannot be after a '**' one");
    node->a = py_expression(p);
    args->unpacked = args->unpacked || mapping;
    return py_close(p, node);
}

static Py *generator(PyParser *p, PyArguments *args, Span open, Py *element, uint32_t begin) {
    Py *node = py_node(p, PY_GENERATOR, begin);
    node->a = element;
    node->list = py_clauses(p);
    py_close(p, node);
    bool alone = !args->list.first && py_at(p, TOK_RPAREN);
    if (alone) {
        node->span = (Span){open.begin, p->tok.span.end};
    } else if (py_complain(p, node->span, DIAG_SYNTAX,
                           "a generator that is not the only argument needs parentheses")) {
        py_help(p, "write '(… for … in …)'");
    }
    return node;
}

static Py *argument(PyParser *p, PyArguments *args, Span open) {
    if (py_at(p, TOK_STAR) || py_at(p, TOK_POW))
        return unpacked_argument(p, args, py_at(p, TOK_POW));
    uint32_t begin = p->tok.span.begin;
    Py *value = py_named(p);
    if (py_at(p, TOK_ASSIGN)) return keyword_argument(p, args, value);
    if (py_at_clause(p)) value = generator(p, args, open, value, begin);
    if (args->keyword || args->unpacked)
        py_complain(p, value->span, DIAG_SYNTAX,
                    args->unpacked ? "a positional argument cannot be after a '**' one"
                                   : "a positional argument cannot be after one with a name");
    return value;
}

PyNodes py_arguments(PyParser *p, Span open, PyTokenKind close) {
    PyArguments args = {0};
    py_list_begin(&args.list);
    while (!py_at(p, close) && !p->panic) {
        py_list_add(&args.list, argument(p, &args, open));
        if (!py_accept(p, TOK_COMMA)) break;
    }
    py_expect_close(p, close, open, "after the arguments");
    if (!args.list.first) args.list.end = NULL;
    return args.list;
}

static Py *call(PyParser *p, Py *left, uint32_t begin) {
    Py *node = py_node(p, PY_CALL, begin);
    Span open = p->tok.span;
    if (!py_enter(p)) return left;
    py_advance(p);
    node->a = left;
    node->list = py_arguments(p, open, TOK_RPAREN).first;
    py_leave(p);
    return py_close(p, node);
}

// ---- subscripts

static bool at_slice_end(const PyParser *p) {
    return py_at(p, TOK_COLON) || py_at(p, TOK_COMMA) || py_at(p, TOK_RBRACKET);
}

static Py *slice(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    if (py_at(p, TOK_STAR)) return py_star_named(p);
    Py *from = py_at(p, TOK_COLON) ? NULL : py_named(p);
    if (!py_at(p, TOK_COLON)) return from ? from : py_error(p);
    if (from && from->kind == PY_WALRUS && !from->parenthesized)
        py_complain(p, from->span, DIAG_SYNTAX, "':=' in a slice needs parentheses");
    Py *node = py_node(p, PY_SLICE, begin);
    py_advance(p);
    node->a = from;
    if (!at_slice_end(p)) node->b = py_expression(p);
    if (py_accept(p, TOK_COLON) && !at_slice_end(p)) node->c = py_expression(p);
    return py_close(p, node);
}

static Py *slices(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *first = slice(p);
    if (!py_at(p, TOK_COMMA) && first->kind != PY_STARRED) return first;
    Py *node = py_node(p, PY_TUPLE, begin);
    PyNodes list;
    py_list_add(py_list_begin(&list), first);
    while (py_accept(p, TOK_COMMA) && !py_at(p, TOK_RBRACKET)) py_list_add(&list, slice(p));
    node->list = list.first;
    return py_close(p, node);
}

static Py *subscript(PyParser *p, Py *left, uint32_t begin) {
    Py *node = py_node(p, PY_SUBSCRIPT, begin);
    Span open = p->tok.span;
    if (!py_enter(p)) return left;
    py_advance(p);
    node->a = left;
    node->b = slices(p);
    py_expect_close(p, TOK_RBRACKET, open, "after the index");
    py_leave(p);
    return py_close(p, node);
}

static Py *attribute(PyParser *p, Py *left, uint32_t begin) {
    Py *node = py_node(p, PY_ATTRIBUTE, begin);
    py_advance(p);
    node->a = left;
    node->name = py_name(p, "the name of an attribute after '.'", &node->name_span);
    return py_close(p, node);
}

Py *py_primary(PyParser *p) {
    uint32_t begin = p->tok.span.begin;
    Py *left = py_atom(p);
    for (;;) {
        switch (p->tok.kind) {
        case TOK_DOT: left = attribute(p, left, begin); break;
        case TOK_LPAREN: left = call(p, left, begin); break;
        case TOK_LBRACKET: left = subscript(p, left, begin); break;
        default: return left;
        }
    }
}
