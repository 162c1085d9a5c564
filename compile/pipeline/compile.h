// The pipeline, source to launchable code, on one page (compile.c).
//
//     unit_load_…     source → kernels, their names bound       frontend
//     unit_compile    kernel → tile IR of one specialisation    frontend
//                     tile IR → optimised tile IR               passes
//                     grid, requires → launch code; parameters → metadata    launch_build.c
//     code_make       tile IR → IR of the target                passes
//                     IR of the target → code of one variant    code.c, codegen
//
// Invariants: code_make changes the function from which it makes code, so each Compiled can be used
// once. Ownership: the unit's arena (unit.h).
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

// Never returns NULL; check diags_errors(unit->diags).
Unit *unit_load_file(const char *path);
Unit *unit_load_text(Str name, Str text);
// Makes another unit from the same texts; the files are not read again.
Unit *unit_load_again(const Unit *unit);

// Metadata with a variant for each set of facts, for targets with code. VARIANTS_BUFFERS: for GPUs
// whose loads have bounds and take buffers with 32-bit offsets. VARIANTS_MAPS: for GPUs that copy
// by tensor maps.
typedef enum CompileVariants {
    VARIANTS_NONE,
    VARIANTS_CPU,
    VARIANTS_GPU,
    VARIANTS_BUFFERS,
    VARIANTS_MAPS
} CompileVariants;
CompileVariants compile_variants_of(CodeTarget target);

typedef struct CompileOptions {
    const PassStep *steps;  // NULL: the pipeline `tile`
    size_t step_count;
    PassOptions passes;
    bool elaborate_only;  // return tile IR as the front end made it
    CompileVariants variants;
} CompileOptions;

// NULL after reporting errors. `options` may be NULL.
const Compiled *unit_compile(Unit *unit, const FrontKernel *kernel, const FrontSpec *spec,
                             const CompileOptions *options);

// Lowers: the function becomes one of the target's level. Afterwards `analyses` has the facts that
// are known about it (NULL if the caller does not need them).
bool code_lower(Unit *unit, const Compiled *compiled, const CodeOptions *options,
                PassAnalyses *analyses);
// Lowers, generates, and stores code for devices, and objects, on disk under the key (NULL: does
// not store).
bool code_make(Unit *unit, const Compiled *compiled, const CodeOptions *options,
               const CodeServices *services, const HashKey *key, Code *code);

#endif
