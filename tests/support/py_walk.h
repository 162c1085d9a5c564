// The invariants of a Python tree: for tests that parse any bytes.
//
// Purpose: walks a whole tree, and finds the first node that breaks what
// frontend/triton/syntax/ast.h promises: its place is in the file, its height is at most
// PY_MAX_DEPTH and more than that of each part. Invariants: its own stack is as deep as the tree is
// high. Ownership: none.
//
//     const char *problem = py_walk(module, file);  // NULL if all is well
#ifndef TILEC_TESTS_SUPPORT_PY_WALK_H
#define TILEC_TESTS_SUPPORT_PY_WALK_H

#include "frontend/triton/syntax/ast.h"

const char *py_walk(const Py *module, const SourceFile *file);

#endif
