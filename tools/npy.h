// Npy: NumPy's array files. Reads formats 1.0 to 3.0, writes 1.0.
//
// Types: b1, i1 … i8, u1 … u8, f2, f4, f8, little endian (or one byte). bf16 and fp8 are stored as
// raw bits in u2 and u1 arrays, i4 and u4 as u1 arrays of packed pairs with half the innermost
// extent. Invariants: the result of npy_read is checked: the header is well formed and the file has
// exactly the bytes that it announces. A Fortran-ordered array of rank > 1 keeps its bytes and sets
// `fortran`. Ownership: the data is part of the file's bytes, which npy_read keeps in the arena.
//
//     NpyArray a;
//     if (!npy_read(arena, "x.npy", &a, &problem)) …
#ifndef TILEC_TOOLS_NPY_H
#define TILEC_TOOLS_NPY_H

#include "base/dtype.h"
#include "base/os/os.h"

enum { NPY_MAX_RANK = 32 };

typedef struct NpyArray {
    Dtype dtype;
    bool fortran;
    uint32_t rank;
    int64_t extent[NPY_MAX_RANK];
    const void *data;
    size_t size;
} NpyArray;

// False with *problem set: "is truncated: 400 bytes of data announced, 100 found".
bool npy_read(Arena *arena, const char *path, NpyArray *array, Str *problem);
// The same from the bytes of a file.
bool npy_parse(Arena *arena, Str file, NpyArray *array, Str *problem);
// The type under which elements of `t` are stored in a file: u2 for bf16 and so on.
Dtype npy_storage_type(Dtype t);
// The header before the elements.
Str npy_header(Arena *arena, Dtype stored, uint32_t rank, const int64_t *extent, bool fortran);

#endif
