// Results of `tilec tune`: consts for a kernel on a target, for a class of shapes; a text table.
//
//     tilec-tune 1
//     # kernel  source            target        types  shape                   consts
//     matmul    0123456789abcdef  x86-64-v4     T=f32  M=1024,N=1024,K=1024    BM=64,BN=128,BK=64
//
// One row a line, six fields separated by blanks, "-" for an empty one; '#' begins a comment.
// `source` is a hash of the kernel and of all that it uses, without comments and blanks, since a
// result is valid only for the kernel it was measured with. `shape` names the extents, each rounded
// up to a power of two. docs/cli.md describes the format for users. Invariants: reading never
// fails: invalid lines are listed in `problems` and give no rows; of two rows with the same key the
// later one counts. Ownership: the arena given; texts of rows point into the text read.
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
// Adds the row, or replaces the one with its key.
void tune_put(Arena *arena, TuneTable *table, const TuneRow *row);
// NULL: not found. Later rows win. A key without a source finds a row of any version of the kernel.
const TuneRow *tune_find(const TuneTable *table, const TuneRow *key);
// Is there a row for this kernel, source and target, with any types and shape?
bool tune_knows(const TuneTable *table, const TuneRow *key);

// The target names of rows that apply to a device, the nearest first. Results of a simulator say
// nothing about a GPU and apply to that simulator only: "sim:sm_90a", "sm_90a", "sm_90".
enum { TUNE_NAMES = 3, TUNE_NAME_MAX = 64 };
typedef struct TuneNames {
    uint32_t count;
    char text[TUNE_NAMES][TUNE_NAME_MAX];
} TuneNames;
#define TUNE_SIMULATED "sim:"
TuneNames tune_names(const char *target, bool simulated);
bool tune_is_simulated(Str target);
// An extent's size class: the least power of two that is not below it; 0 stays 0.
int64_t tune_bucket(int64_t extent);

#endif
