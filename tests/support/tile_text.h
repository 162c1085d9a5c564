// A Tile source in memory, loaded: for tests of the front end.
//
// Invariants: imports come from `files`, by path. Ownership: tile_text_free frees everything.
//
//     TileText t = tile_text("kernel k(f32 x[N]) grid(1) { x[0] = 1; }");
//     assert_int_equal(diags_errors(t.diags), 0);
//     tile_text_free(&t);
#ifndef TILEC_TESTS_SUPPORT_TILE_TEXT_H
#define TILEC_TESTS_SUPPORT_TILE_TEXT_H

#include "frontend/tile/tile.h"

typedef struct TileTextFile {
    const char *path;
    const char *text;
} TileTextFile;

typedef struct TileText {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
    const SourceFile *source;
    TileFile *file;
} TileText;

TileText tile_text(const char *text);
TileText tile_text_bytes(Str text);
// The first file, which may import the others.
TileText tile_text_files(const TileTextFile *files, size_t count);
void tile_text_free(TileText *t);
// "line:column: text [code]" of every diagnostic, one a line, without its end.
const char *tile_text_diags(const TileText *t);

#endif
