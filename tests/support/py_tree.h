// A Python source in memory, parsed, and its tree as a text: for tests of the parser.
//
// Purpose: tests compare texts; tests/frontend/triton/python_trees.py writes the tree of CPython's
// parser in the same form. Invariants: with places, each node that has a place in CPython is
// followed by "@begin-end", and reals are written as bits. Ownership: py_text_free frees
// everything.
//
//     PyText t = py_text("x = a + 1\n");
//     assert_string_equal(py_text_tree(&t), "(assign x = (+ a 1))");
//     py_text_free(&t);
#ifndef TILEC_TESTS_SUPPORT_PY_TREE_H
#define TILEC_TESTS_SUPPORT_PY_TREE_H

#include "frontend/triton/syntax/parse.h"

typedef struct PyText {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
    const SourceFile *source;
    Py *tree;
} PyText;

PyText py_text(const char *text);
PyText py_text_bytes(Str text);
PyText py_text_expression(const char *text);
void py_text_free(PyText *t);

// A source and the text that it must give.
typedef struct PyCase {
    const char *text;
    const char *expected;
} PyCase;
void py_text_check_trees(const PyCase *cases, size_t count);   // trees without diagnostics
void py_text_check_errors(const PyCase *cases, size_t count);  // diagnostics
// "line:column: text [code]" of every diagnostic in order of position, one a line, with its notes
// ("  note line:column: text") and its help ("  help: text").
const char *py_text_diags(const PyText *t);
// The statements, one a line.
const char *py_text_tree(const PyText *t);

// With places in `places` if that is not NULL.
void py_tree_write(StrBuf *out, const Py *node, const SourceFile *places);

#endif
