// Fuzzing the parser of Python: any bytes become a tree that keeps its invariants, and errors that
// can be shown.
#include <stdio.h>
#include <stdlib.h>

#include "frontend/triton/syntax/parse.h"
#include "tests/support/py_walk.h"

enum { INPUT_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > INPUT_MAX) return -1;
    Arena *arena = arena_create();
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    Interner *names = interner_create(arena);
    const SourceFile *file = source_add(sources, STR("fuzz.py"), (Str){(const char *)data, size});
    const Py *module = py_parse(arena, names, diags, file);
    const char *problem = py_walk(module, file);
    if (problem) {
        fprintf(stderr, "%s\n", problem);
        abort();
    }
    (void)py_parse_expression(arena, names, diags, file);
    StrBuf said = strbuf(arena);
    diags_sort(diags);
    diags_text(diags, (DiagStyle){0}, &said);
    arena_destroy(arena);
    return 0;
}
