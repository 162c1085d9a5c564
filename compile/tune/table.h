// The place of the tables of `tilec tune` (runtime/tune.h reads them), and their rows as the
// compiler uses them.
//
// Invariants: a table that cannot be read has a problem in its list. Ownership: the arena given.
//
//     TuneTable *t = tune_read(arena, tune_path(arena));
//     TuneRow key = tune_key(arena, kernel, target);    // a row without types, shape and consts
#ifndef TILEC_COMPILE_TUNE_TABLE_H
#define TILEC_COMPILE_TUNE_TABLE_H

#include "compile/pipeline/compile.h"
#include "runtime/tune.h"

// The file for results: $TILEC_TUNE_FILE (empty: none), else tilec/tune.txt in $XDG_CONFIG_HOME or
// ~/.config. Empty if there is no place.
Str tune_path(Arena *arena);
// A missing file is an empty table.
TuneTable *tune_read(Arena *arena, Str path);

// The reason why a file is not overwritten: it is not a table, or has lines that would be lost.
// NULL: there is none.
const char *tune_fault(Arena *arena, const TuneTable *table);
// Puts a row into the table of a file. Another process that keeps a row at the same time waits; its
// row is preserved. `user`: the file is the user's table, whose folder is made.
typedef struct TuneKept {
    const char *fault;  // the file is left as it is, for this reason
    const char *error;  // it cannot be written
} TuneKept;
TuneKept tune_keep(Arena *arena, Str path, bool user, const TuneRow *row);

// The key of a kernel: name, source and target. The caller adds types and shape.
TuneRow tune_key(Arena *arena, const FrontKernel *kernel, Str target);
// The types that the specialisation binds, in the order of the parameters.
Str tune_types(Arena *arena, const FrontKernel *kernel, const FrontSpec *spec);
// The row, with texts and settings of its own in the arena.
TuneRow tune_copy(Arena *arena, const TuneRow *row);
// Adds the row's consts that the kernel has and the specialisation leaves open. False if there are
// none.
bool tune_apply(Arena *arena, Interner *names, const FrontKernel *kernel, const TuneRow *row,
                FrontSpec *spec);

#endif
