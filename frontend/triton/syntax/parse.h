// Reading Python: text to tokens, tokens to a tree.
//
// Purpose: reads any file of Python 3.13. Invariants: every file that CPython's parser accepts is
// read without an error; what only CPython's later stages refuse ("'return' outside function") may
// be accepted. All errors of a file are reported in one run; after one, the parser goes on at the
// next line of the same or an outer indentation. No input crashes it. Ownership: the arena given;
// texts point into the source, the interner or the arena.
//
//     Py *module = py_parse(arena, names, diags, file);  // a PY_BLOCK, never NULL
#ifndef TILEC_FRONTEND_TRITON_SYNTAX_PARSE_H
#define TILEC_FRONTEND_TRITON_SYNTAX_PARSE_H

#include "base/diag.h"
#include "frontend/triton/syntax/ast.h"

Py *py_parse(Arena *arena, Interner *names, Diags *diags, const SourceFile *file);
// Reads one expression that stands alone, such as the text of `--grid`.
Py *py_parse_expression(Arena *arena, Interner *names, Diags *diags, const SourceFile *file);

#endif
