// Fuzzing the reader of .npy files: any bytes are read or refused without a crash; what was read
// reads the same after it was written again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    abort();
}

static void again(Arena *arena, const NpyArray *a) {
    StrBuf file = strbuf(arena);
    strbuf_add(&file, npy_header(arena, a->dtype, a->rank, a->extent, a->fortran));
    strbuf_add(&file, (Str){a->data, a->size});
    NpyArray b;
    Str problem = {0};
    if (!npy_parse(arena, strbuf_str(&file), &b, &problem)) {
        fprintf(stderr, "%.*s\n", STR_ARG(problem));
        fail("what was written is refused");
    }
    bool same = a->dtype == b.dtype && a->rank == b.rank && a->size == b.size &&
                a->fortran == b.fortran && memcmp(a->data, b.data, a->size) == 0;
    for (uint32_t d = 0; same && d < a->rank; d++) same = a->extent[d] == b.extent[d];
    if (!same) fail("what was written reads as something else");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *arena = arena_create();
    NpyArray a;
    Str problem = {0};
    if (npy_parse(arena, (Str){(const char *)data, size}, &a, &problem))
        again(arena, &a);
    else if (!problem.size)
        fail("refused, and nothing was said");
    arena_destroy(arena);
    return 0;
}
