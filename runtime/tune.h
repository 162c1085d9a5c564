// What `tilec tune` found: consts for a kernel on a target, for shapes of a size; a text table.
//
//     tilec-tune 1
//     # kernel  source            target        types  shape                   consts
//     matmul    0123456789abcdef  x86-64-v4     T=f32  M=1024,N=1024,K=1024    BM=64,BN=128,BK=64
//
// One row a line, six fields between blanks, "-" for an empty one, '#' begins a comment. `source`
// is a hash of the text of the kernel's file: a result is of the text it was found with. `shape`
// names the extents, each rounded up to a power of two. docs/cli.md describes the format to users.
// Invariants: reading never fails: lines that are no rows are listed in `problems` and are not
// among the rows; of two rows with the same key the later counts. Ownership: the arena given; texts
// of rows point into the text read.
//
//     TuneTable *t = tune_parse(arena, text);
//     const TuneRow *row = tune_find(t, &key);    // key: a row without consts
#ifndef TILEC_RUNTIME_TUNE_H
#define TILEC_RUNTIME_TUNE_H

#include "base/str.h"
#include "base/vec.h"

typedef struct TuneSetting {
    Str name;
    int64_t value;
} TuneSetting;
typedef VEC(TuneSetting) TuneSettings;

typedef struct TuneRow {
    Str kernel, source, target, types;
    TuneSettings shape, consts;
} TuneRow;

typedef struct TuneProblem {
    uint32_t line;  // from 1; 0: the whole file
    const char *text;
} TuneProblem;

typedef struct TuneTable {
    VEC(TuneRow) rows;
    VEC(TuneProblem) problems;
} TuneTable;

TuneTable *tune_parse(Arena *arena, Str text);
void tune_print(const TuneTable *table, StrBuf *out);
// Adds the row, or takes the place of the one with its key.
void tune_put(Arena *arena, TuneTable *table, const TuneRow *row);
// NULL: there is none. Later rows win.
const TuneRow *tune_find(const TuneTable *table, const TuneRow *key);
// Is there a row of this kernel, source and target, whatever its types and shape?
bool tune_knows(const TuneTable *table, const TuneRow *key);

// The names that rows for a device may have, the nearest first. Those found on a simulator, which
// say nothing of a GPU, hold on that simulator only: "sim:sm_90a", "sm_90a", "sm_90".
enum { TUNE_NAMES = 3, TUNE_NAME_MAX = 64 };
typedef struct TuneNames {
    uint32_t count;
    char text[TUNE_NAMES][TUNE_NAME_MAX];
} TuneNames;
#define TUNE_SIMULATED "sim:"
TuneNames tune_names(const char *target, bool simulated);
bool tune_is_simulated(Str target);
// An extent's size class: the least power of two that is not below it; 0 stays.
int64_t tune_bucket(int64_t extent);

#endif
