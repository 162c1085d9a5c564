// The pipeline, source to launchable code, on one page (compile.c).
//
//     unit_load_…     source → kernels, their names bound       frontend
//     unit_compile    kernel → tile IR of one specialisation    frontend
//                     tile IR → optimised tile IR               passes
//                     grid, requires → launch code; parameters → metadata    launch_build.c
//     code_make       tile IR → IR of the target                passes
//                     IR of the target → code of one variant    code.c, codegen
//
// Invariants: making code changes the function it is made from, so one Compiled serves one call.
// Ownership: the unit's arena (unit.h).
//
//     Unit *u = unit_load_file("softmax.tile");
//     const Compiled *k = unit_compile(u, unit_kernel(u, STR("softmax")), &spec, NULL);
//     if (!k) diags_text(u->diags, …);
#ifndef TILEC_COMPILE_PIPELINE_COMPILE_H
#define TILEC_COMPILE_PIPELINE_COMPILE_H

#include "compile/pipeline/code.h"
#include "compile/pipeline/unit.h"
#include "passes/pass.h"
#include "target/target.h"

// Never NULL; look at diags_errors(unit->diags).
Unit *unit_load_file(const char *path);
Unit *unit_load_text(Str name, Str text);
// Another of the same texts, whatever became of the files.
Unit *unit_load_again(const Unit *unit);

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

// NULL after reporting errors. `options` may be NULL.
const Compiled *unit_compile(Unit *unit, const FrontKernel *kernel, const FrontSpec *spec,
                             const CompileOptions *options);

// Lowers: the function becomes one of the target's level. What is known of it then is in `analyses`
// (NULL: nobody goes on).
bool code_lower(Unit *unit, const Compiled *compiled, const CodeOptions *options,
                PassAnalyses *analyses);
// Lowers, generates, and keeps what devices load, and objects, on disk under the key (NULL: not
// kept).
bool code_make(Unit *unit, const Compiled *compiled, const CodeOptions *options,
               const CodeServices *services, const HashKey *key, Code *code);

#endif
