// Inside the parser of Python: the functions that its files share.
//
// Errors: py_fail reports and begins a panic: p->tok becomes TOK_PANIC, which no function accepts,
// so that all of them return at once, and nothing more is reported. py_statements, and py_block for
// the header of a statement, end it with py_skip_line. py_complain reports a mistake that the
// parser can read past, without panic. The lexer has reported a TOK_BAD, so one causes a panic
// without a message. Thus one mistake gives one error. Invariants: a parse function never returns
// NULL unless its comment says so; in a panic it returns what it has. `depth` counts what is open
// on the stack; py_close counts the height of each node: neither exceeds PY_MAX_DEPTH.
//
//     if (!py_expect(p, TOK_COLON, "after 'else'")) return;
#ifndef TILEC_FRONTEND_TRITON_SYNTAX_PARSER_H
#define TILEC_FRONTEND_TRITON_SYNTAX_PARSER_H

#include "frontend/triton/syntax/ast.h"
#include "frontend/triton/syntax/lex.h"
#include "frontend/triton/syntax/parse.h"

typedef struct PyWords {  // names with a meaning in one position of the grammar
    Symbol match, case_, type, print, exec, underscore;
} PyWords;

typedef struct PyParser {
    Arena *arena;
    Interner *names;
    Diags *diags;
    const SourceFile *file;
    PyLexer lex;
    PyToken tok;         // the next token, not yet consumed; TOK_PANIC in a panic
    PyToken stopped;     // in a panic: the token that did not fit
    VEC(PyToken) ahead;  // tokens after it, from ahead_at on
    size_t ahead_at;
    bool panic;
    bool reported;  // the last py_fail or py_complain was reported: it may have a help and notes
    int depth;
    uint32_t deep;       // the end of what was reported as nested too deep
    uint32_t statement;  // where the current statement begins
    Span previous;       // the last token consumed that is written
    PyWords words;
    PyFunc *func;  // the current function, or NULL
    Py *slab;      // zeroed nodes, of which slab_left are unused
    size_t slab_left;
} PyParser;

typedef struct PyNodes {
    Py *first;
    Py **end;
} PyNodes;

// ---- parse.c: tokens, errors, nodes
void py_advance(PyParser *p);
// The token `n` after p->tok, from 1.
const PyToken *py_peek(PyParser *p, size_t n);
bool py_accept(PyParser *p, PyTokenKind kind);
// `where` completes "expected ')' …, found 'x'".
bool py_expect(PyParser *p, PyTokenKind kind, const char *where);
// Expects the bracket that closes the one at `open`.
bool py_expect_close(PyParser *p, PyTokenKind kind, Span open, const char *where);
// Reads a name; NULL after an error. *span is its position.
Symbol py_name(PyParser *p, const char *what, Span *span);
void py_fail(PyParser *p, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void py_expected(PyParser *p, const char *what);  // "expected WHAT, found 'x'"
// In a panic returns false and reports nothing.
bool py_complain(PyParser *p, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void py_help(PyParser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void py_note(PyParser *p, Span span, const char *text);
Span py_here(const PyParser *p);  // the token found, or the end of the last one if the line ends
// The token in quotes, or "the end of the line".
const char *py_found(PyParser *p, const PyToken *t);
bool py_enter(PyParser *p);  // one level deeper; false after [too-deep]
static inline void py_leave(PyParser *p) { p->depth--; }
// Ends a panic: skips to the next line that is not indented more than the statement. Does nothing
// else if there is none.
void py_skip_line(PyParser *p);
// Can this keyword only begin a statement, or a part of one?
bool py_begins_statement(PyTokenKind kind);
Py *py_node(PyParser *p, PyKind kind, uint32_t begin);
// Ends a node at the last token consumed. A node that is too high becomes a PY_ERROR,
// a block an empty one.
Py *py_close(PyParser *p, Py *node);
Py *py_close_at(PyParser *p, Py *node, unsigned height);  // of this height
Py *py_error(PyParser *p);

static inline bool py_at(const PyParser *p, PyTokenKind kind) { return p->tok.kind == kind; }
static inline bool py_at_word(const PyParser *p, Symbol word) {
    return p->tok.kind == TOK_NAME && p->tok.u.name == word;
}
static inline PyNodes *py_list_begin(PyNodes *list) {
    list->first = NULL;
    list->end = &list->first;
    return list;
}
static inline void py_list_add(PyNodes *list, Py *node) {
    *list->end = node;
    list->end = &node->next;
}

// ---- parse_expr.c
Py *py_expression(PyParser *p);       // a choice, a lambda, or less
Py *py_disjunction(PyParser *p);      // the same without these two
Py *py_bit_or(PyParser *p);           // without comparisons, 'not', 'and', 'or'
Py *py_named(PyParser *p);            // an expression, or name := expression
Py *py_star_named(PyParser *p);       // the same, or *a
Py *py_star_expression(PyParser *p);  // an expression, or *a
Py *py_expressions(PyParser *p);      // one or more, a tuple with a comma; each may be *a
Py *py_value(PyParser *p);            // the same, or a yield
Py *py_yield(PyParser *p);
bool py_begins_expression(PyTokenKind kind);

// ---- parse_atom.c
Py *py_atom(PyParser *p);     // names, constants, brackets
Py *py_primary(PyParser *p);  // the same with calls, subscripts, attributes
PyNodes py_arguments(PyParser *p, Span open, PyTokenKind close);  // up to and with the ')'

// ---- parse_collection.c
Py *py_parenthesis(PyParser *p);  // (…)
Py *py_bracket(PyParser *p);      // […]
Py *py_brace(PyParser *p);        // {…}
bool py_at_clause(PyParser *p);   // does the 'for' of a comprehension begin here?
Py *py_clauses(PyParser *p);      // the list of its PY_CLAUSE
Py *py_targets(PyParser *p);      // of a 'for': one or more, a tuple with a comma

// ---- parse_string.c
Py *py_strings(PyParser *p);  // one or more, one after the other

// ---- parse_target.c: can this be assigned to? If not, reports.
void py_check_target(PyParser *p, const Py *target);
void py_check_deleted(PyParser *p, const Py *target);
bool py_is_single_target(const Py *target);  // a name, an attribute or a subscript
const char *py_describe(const Py *node);

// ---- parse_def.c
void py_parameters(PyParser *p, PyFunc *func, PyTokenKind close, bool annotated);
Py *py_type_params(PyParser *p);  // [T, …], or NULL when there are none
Py *py_lambda(PyParser *p);
Py *py_def(PyParser *p, Py *decorators, uint32_t begin, bool is_async);
Py *py_class(PyParser *p, Py *decorators);
Py *py_decorated(PyParser *p);

// ---- parse_simple.c: simple statements, and the lines of them
void py_simple_line(PyParser *p, PyNodes *list);

// ---- parse_stmt.c: compound statements and blocks
void py_statements(PyParser *p, PyNodes *list);  // up to the end of the block
Py *py_block(PyParser *p, const char *after);    // ':' and a block; `after` as in py_expect
// Ends the panic about a block that is nested too deep, of which INDENT is the next token.
void py_skip_block(PyParser *p);

void py_unexpected_indent(PyParser *p);  // reports it

// ---- parse_with.c
Py *py_with(PyParser *p, uint32_t begin, bool is_async);

// ---- parse_match.c
bool py_at_match(PyParser *p);  // does a match statement begin here?
Py *py_match(PyParser *p);

#endif
