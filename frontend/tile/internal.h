// Inside the Tile front end: the types and functions that its files share.
//
// Invariants: parse fills AstModule; resolve binds names; elaborate never changes the tree.
// Ownership: the arena of the TileFile.
//
//     tile_parse(t, file); tile_resolve(t);
#ifndef TILEC_FRONTEND_TILE_INTERNAL_H
#define TILEC_FRONTEND_TILE_INTERNAL_H

#include "base/map.h"
#include "frontend/tile/tile.h"

// A file that was read or is being read.
typedef struct TileSource {
    const SourceFile *file;
    Str path;
    size_t importer;  // index in TileFile.sources_read
    Span import;      // where the importing file names it
    bool loading;
    bool used;  // the main file uses a name of it
} TileSource;

struct TileFile {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;  // used by tile_load only
    AstModule
        module;   // the file's own and everything imported; kernels and tunes: the file's own only
    Map globals;  // Symbol → AstDecl *: kernels (imported ones too), fns, consts
    FrontImport import;
    void *import_user;
    const SourceFile *main;
    VEC(AstKernel *) imported_kernels;
    VEC(AstTune *) imported_tunes;
    VEC(TileSource) sources_read;  // the first one is `main`
    size_t current;                // in sources_read
    bool broken;  // there were errors of text or grammar: do not warn about unused names
};

// parse.c: reads one file into t->module; loads imports through t->import when it reaches them.
void tile_parse(TileFile *t, const SourceFile *file);
// load.c: parses another file unless that was done; reports errors at `span`.
void tile_import(TileFile *t, const SourceFile *importer, Str path, Span span);
// load.c: enters a kernel, fn or const in t->globals, or reports that its name is taken.
void tile_global_add(TileFile *t, AstDecl *decl);
// resolve.c: binds every name, reports unknown and duplicate names, recursion, unused and
// unreachable.
void tile_resolve(TileFile *t);

// elaborate_tune.c: can `tune … for` name this? True for a target, a prefix of one, or a family.
bool tile_tune_target_known(Str name);

// builtin.def: BUILTIN(enum, text): the built-in functions.
typedef enum TileBuiltin {
#define BUILTIN(name, text) TILE_##name,
#include "frontend/tile/builtin/builtin.def"
#undef BUILTIN
    TILE_BUILTINS
} TileBuiltin;
bool tile_builtin_find(Str name, TileBuiltin *builtin);
const char *tile_builtin_name(TileBuiltin builtin);
// The name in this language of a type of C, CUDA or NumPy ("float": "f32"), or NULL.
const char *tile_foreign_type(Str name);
// The words that a named argument accepts as its value ("order": relaxed, acquire, …), or NULL. The
// list ends with NULL.
const char *const *tile_argument_words(Str argument);

#endif
