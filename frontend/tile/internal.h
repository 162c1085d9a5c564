// Inside the Tile front end: what its files share.
//
// Invariants: parse fills AstModule; resolve binds names; elaborate never changes the tree.
// Ownership: the arena of the TileFile.
//
//     tile_parse(t, file); tile_resolve(t);
#ifndef TILEC_FRONTEND_TILE_INTERNAL_H
#define TILEC_FRONTEND_TILE_INTERNAL_H

#include "frontend/tile/tile.h"

struct TileFile {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;      // of tile_load only
    AstModule module;  // the file's own and everything imported; kernels: the file's own only
    Map globals;       // Symbol → AstDecl *: kernels, fns, consts
    TileImport import;
    void *import_user;
};

// parse.c: reads one file into t->module; imports are loaded through t->import as they are met.
void tile_parse(TileFile *t, const SourceFile *file);
// resolve.c: binds every name, reports unknown and duplicate names, recursion, unused and
// unreachable.
void tile_resolve(TileFile *t);

// builtin.def: BUILTIN(enum, text, …): the built-in functions and their named arguments.
typedef enum TileBuiltin {
#define BUILTIN(name, text) TILE_##name,
#include "frontend/tile/builtin.def"
#undef BUILTIN
    TILE_BUILTINS
} TileBuiltin;
bool tile_builtin_find(Str name, TileBuiltin *builtin);
const char *tile_builtin_name(TileBuiltin builtin);

#endif
