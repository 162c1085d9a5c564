// Where the tables of `tilec tune` are kept (runtime/tune.h reads them), and what their rows are to
// the compiler.
//
// Invariants: a table that cannot be read is one with a problem. Ownership: the arena given.
//
//     TuneTable *t = tune_read(arena, tune_path(arena));
//     TuneRow key = tune_key(arena, kernel, target);    // a row without types, shape and consts
#ifndef TILEC_COMPILE_REPORT_TUNER_H
#define TILEC_COMPILE_REPORT_TUNER_H

#include "compile/pipeline/compile.h"
#include "runtime/tune.h"

// Where results are kept: $TILEC_TUNE_FILE (empty: nowhere), else tilec/tune.txt in
// $XDG_CONFIG_HOME or ~/.config. Empty when there is no place.
Str tune_path(Arena *arena);
// A file that is not there is an empty table.
TuneTable *tune_read(Arena *arena, Str path);

// The key of a kernel: name, source and target; types and shape are still to come.
TuneRow tune_key(Arena *arena, const FrontKernel *kernel, Str target);
// The types that the specialisation binds, in the order of the parameters.
Str tune_types(Arena *arena, const FrontKernel *kernel, const FrontSpec *spec);
// Adds the row's consts that the kernel has and the specialisation leaves open. False: none.
bool tune_apply(Arena *arena, Interner *names, const FrontKernel *kernel, const TuneRow *row,
                FrontSpec *spec);

#endif
