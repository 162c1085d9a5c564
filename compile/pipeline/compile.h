// The pipeline, source to binary, on one page (compile.c).
//
//     unit_load       text → tree, names bound               frontend
//     unit_compile    tree → tile IR of one specialisation    frontend
//                     tile IR → optimised tile IR             passes
//                     grid, requires → launch code            launch_build.c
//                     parameters → metadata                   compile.c
//     code_make       tile IR → code of one variant            code.h
//
// Invariants: a Unit is one source with its imports; it may compile many kernels and
// specialisations, one thread at a time. All diagnostics of a unit are in its `diags`. Ownership:
// unit_destroy frees everything, compiled kernels included.
//
//     Unit *u = unit_load_file("softmax.tile");
//     const Compiled *k = unit_compile(u, unit_kernel(u, STR("softmax")), &spec, NULL);
//     if (!k) diags_text(u->diags, …);
#ifndef TILEC_COMPILE_PIPELINE_COMPILE_H
#define TILEC_COMPILE_PIPELINE_COMPILE_H

#include "base/diag.h"
#include "frontend/frontend.h"
#include "ir/ir.h"
#include "passes/pass.h"
#include "runtime/meta.h"
#include "target/target.h"

typedef struct Unit {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
    FrontFile *file;       // NULL when the source could not be read
    const Sources *given;  // NULL: files are read
    bool is_text;          // comes from no file: its name is a label
    PassLimit limit;       // of the compilation that is under way
} Unit;

// Never NULL; look at diags_errors(unit->diags).
Unit *unit_load_file(const char *path);
Unit *unit_load_text(Str name, Str text);
// Another of the same texts, whatever became of the files.
Unit *unit_load_again(const Unit *unit);
void unit_destroy(Unit *unit);
// A compilation begins that may take so long; 0: any time.
void unit_begin(Unit *unit, unsigned seconds);
// TILEC_COMPILE_SECONDS, --compile-seconds: 1 to COMPILE_SECONDS_MOST. False: it is no such number.
enum { COMPILE_SECONDS_MOST = 86400 };
#define COMPILE_SECONDS_TEXT "a number of seconds from 1 to 86400"
bool compile_seconds_parse(Str text, unsigned *seconds);

typedef struct Compiled {
    IrModule *module;
    IrFunc *func;
    MetaKernel *meta;
} Compiled;

// Metadata with a variant for each set of facts, for targets with code.
// VARIANTS_BUFFERS: of a GPU whose loads have bounds, of buffers of 32-bit offsets.
typedef enum CompileVariants {
    VARIANTS_NONE,
    VARIANTS_CPU,
    VARIANTS_GPU,
    VARIANTS_BUFFERS
} CompileVariants;
CompileVariants compile_variants_of(CodeTarget target);

typedef struct CompileOptions {
    const PassStep *steps;  // NULL: the pipeline `tile`
    size_t step_count;
    PassOptions passes;
    bool elaborate_only;  // tile IR as the front end made it
    CompileVariants variants;
} CompileOptions;

// The kernel of this name; with an empty name the only one. NULL after reporting what there is.
const FrontKernel *unit_kernel(Unit *unit, Str name);
// NULL after reporting errors. `options` may be NULL.
const Compiled *unit_compile(Unit *unit, const FrontKernel *kernel, const FrontSpec *spec,
                             const CompileOptions *options);

#endif
