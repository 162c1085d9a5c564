// Kernels for the tests of the command, and .npy files made by hand.
#ifndef TILEC_TESTS_TOOLS_KERNELS_H
#define TILEC_TESTS_TOOLS_KERNELS_H

#include <stdio.h>
#include <string.h>

#include "tests/support/tool.h"

// One of each kind of parameter; kernels that fail while they run.
#define KERNELS                                                                 \
    "kernel twice(type T, T x[N], T y[N], const B = 8) grid(cdiv(N, B))\n"      \
    "{\n"                                                                       \
    "    let i = program(0) * B;\n"                                             \
    "    y[i +: B] = x[i +: B] + x[i +: B];\n"                                  \
    "}\n"                                                                       \
    "kernel fill(*f32 p, f32 v, i64 n, const B = 8) grid(cdiv(n, B))\n"         \
    "{\n"                                                                       \
    "    let i = program(0) * B + iota(B);\n"                                   \
    "    store(p + i, v, i < n);\n"                                             \
    "}\n"                                                                       \
    "kernel says(i32 y[1], i32 n) grid(2)\n"                                    \
    "{\n"                                                                       \
    "    print(\"program \", program(0), \" n = \", n);\n"                      \
    "    assert(n < 5, \"n is small\");\n"                                      \
    "    if program(0) == 0 { y[0] = n; }\n"                                    \
    "}\n"                                                                       \
    "kernel pair(f32 a[M, K], f32 b[K, 4], f32 c[M]) requires M <= 8 grid(M)\n" \
    "{\n"                                                                       \
    "    let m = program(0);\n"                                                 \
    "    c[m] = sum(a[m, 0 +: 8]) + sum(b[0 +: 8, 0 +: 4]);\n"                  \
    "}\n"

// A kernel whose one parameter is `T x[N]` copied to `T y[N]`.
#define COPY(T)                                          \
    "kernel copy(" T " x[N], " T                         \
    " y[N]) grid(cdiv(N, 8)) { let i = program(0) * 8; " \
    "y[i +: 8] = x[i +: 8]; }\n"

static inline Str text_of(const char *text) { return (Str){text, strlen(text)}; }

// A file of version 1.0 with this dictionary, padded as NumPy does.
static inline void npy_raw(Tool *t, const char *name, const char *dictionary, const void *data,
                           size_t size) {
    StrBuf b = strbuf(t->arena);
    size_t length = strlen(dictionary), padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    strbuf_add(&b, (Str){"\x93NUMPY\x01\x00", 8});
    strbuf_char(&b, (char)(padded & 0xff));
    strbuf_char(&b, (char)(padded >> 8));
    strbuf_add(&b, (Str){dictionary, length});
    while (b.size < 10 + padded - 1) strbuf_char(&b, ' ');
    strbuf_char(&b, '\n');
    if (size) strbuf_add(&b, (Str){data, size});
    tool_file(t, name, strbuf_str(&b));
}

static inline void npy(Tool *t, const char *name, const char *type, const char *shape,
                       const void *data, size_t size) {
    npy_raw(t, name,
            arena_printf(t->arena, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type,
                         shape),
            data, size);
}

#endif
