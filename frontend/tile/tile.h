// The Tile front end: source text to tile IR.
//
// Steps: lex.c (characters to tokens) → parse.c (tokens to the tree of ast.h, recovering at
// statement ends) → resolve.c (names, scopes, unused, unreachable, recursion; once per file) →
// elaborate*.c (types, shapes, compile-time values and IR, once per kernel and specialisation).
//
// Invariants: tile_load reports every error of text, grammar and names in one run; tile_elaborate
// reports every error of types and shapes of one kernel. Neither crashes on any input. A function
// (fn) is elaborated at each call: it is generic and inlined, and its errors carry a note for each
// call site. tile_elaborate yields no IR when it reported an error. A generic kernel whose types
// are not given is checked by tile_check with candidate types: it is correct when one of them
// works. Ownership: all trees and IR are allocated in the arena given to tile_load.
//
//     TileFile *t = tile_load(arena, sources, names, file, read_import, NULL, diags);
//     IrModule *m = ir_module_create(arena, sources, names);
//     IrFunc *f = tile_elaborate(t, m, kernel, &(FrontSpec){…}, diags);
#ifndef TILEC_FRONTEND_TILE_TILE_H
#define TILEC_FRONTEND_TILE_TILE_H

#include "base/diag.h"
#include "frontend/frontend.h"
#include "frontend/tile/ast.h"
#include "ir/ir.h"

// The row in the table of front ends (frontend.c). It consists of the functions below.
extern const Frontend tile_frontend;

typedef struct TileFile TileFile;

// Never returns NULL; check diags_errors.
TileFile *tile_load(Arena *arena, Sources *sources, Interner *names, const SourceFile *file,
                    FrontImport import, void *user, Diags *diags);

const AstModule *tile_ast(const TileFile *file);
size_t tile_kernel_count(const TileFile *file);
const AstKernel *tile_kernel(const TileFile *file, size_t i);
const AstKernel *tile_kernel_find(const TileFile *file, Str name);

// A type parameter is given, or the caller infers it from arguments.
IrFunc *tile_elaborate(TileFile *file, IrModule *module, const AstKernel *kernel,
                       const FrontSpec *spec, Diags *diags);

// Checks all kernels (all errors reported), with candidates for open types and consts.
bool tile_check(TileFile *file, Diags *diags);
// False if no element types make the kernel correct with what is given; some of the errors are then
// reported. This is decided for kernels that leave up to three types open; others can be checked
// only when their types are given.
bool tile_check_open(TileFile *file, const AstKernel *kernel, const FrontSpec *given, Diags *diags);

// Its tokens and those of what it uses (canonical.c), in the arena given.
Str tile_canonical_text(const TileFile *file, const AstKernel *kernel, Arena *arena);

// The tune space of a kernel for a target, the most specific line first.
size_t tile_tune_space(TileFile *file, const AstKernel *kernel, Str target,
                       const FrontTune **space);

#endif
