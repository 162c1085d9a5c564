// Unit: one source with its imports, and the state that its compilations share.
//
// Invariants: a unit may compile many kernels and specialisations, one thread at a time. All
// diagnostics of a unit are in its `diags`. Ownership: unit_destroy frees everything, compiled
// kernels included.
//
//     Unit *u = unit_load_file("softmax.tile");       // compile.h
//     const FrontKernel *k = unit_kernel(u, STR("softmax"));
//     if (!k) diags_text(u->diags, …);
#ifndef TILEC_COMPILE_PIPELINE_UNIT_H
#define TILEC_COMPILE_PIPELINE_UNIT_H

#include "base/diag.h"
#include "frontend/frontend.h"
#include "passes/pass.h"
#include "runtime/meta.h"

typedef struct Unit {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
    FrontFile *file;       // NULL when the source could not be read
    const Sources *given;  // NULL: files are read from disk
    bool is_text;          // the source does not come from a file: its name is a label
    PassLimit limit;       // of the current compilation
} Unit;

// A unit without a source: unit_load_file and the like (compile.h) give it one.
Unit *unit_create(void);
void unit_destroy(Unit *unit);
// Begins a compilation that may take `seconds`; 0: no limit.
void unit_begin(Unit *unit, unsigned seconds);
// TILEC_COMPILE_SECONDS, --compile-seconds: 1 to COMPILE_SECONDS_MAX. False if the text is not one
// of these numbers.
enum { COMPILE_SECONDS_MAX = 86400 };
#define COMPILE_SECONDS_TEXT "a number of seconds from 1 to 86400"
bool compile_seconds_parse(Str text, unsigned *seconds);

// The file of this path; it is read once. NULL after reporting why it cannot be read.
const SourceFile *unit_file(Unit *unit, Str path, Span span, Diags *diags);
// The same for an import; `user` is the unit.
const SourceFile *unit_import(void *user, Str path, Span span, Diags *diags);
// The kernel of this name; with an empty name the only one. NULL after reporting which kernels
// there are.
const FrontKernel *unit_kernel(Unit *unit, Str name);

// One specialisation of a kernel.
typedef struct Compiled {
    IrModule *module;
    IrFunc *func;
    MetaKernel *meta;
} Compiled;

#endif
