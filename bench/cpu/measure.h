// Interleaved measuring: A, B, A, B, … in one process, so that a machine that drifts drifts for
// all of them; ratios are of neighbours in time, the figures medians.
//
// Invariants: a sample is several runs in a row, at least some milliseconds; before it a pause lets
// the spinning threads of the one before fall asleep, and one run untimed wakes its own. A row is
// measured once and then printed. Ownership: what contestants point to is the caller's; samples
// live in the bench's arena.
//
//     Row row = {.name = "vector add 64M", .bytes = 3 * size};
//     row_add(&row, "tilec", ROLE_TILEC, run_kernel, &kernel);
//     row_add(&row, "C", ROLE_PEER, run_hand, &hand);
//     row_measure(bench, &row);
#ifndef TILEC_BENCH_MEASURE_H
#define TILEC_BENCH_MEASURE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"

typedef struct Bench {
    Arena *arena;
    unsigned threads;
    bool quick, json;
    double budget;  // seconds for one row
    const char *filter;
    struct Peers *peers;
    struct Kernels *kernels;
    float *x, *y, *z;  // BENCH_ELEMENTS each, in big pages
    Json out;          // under --json: an array of rows
} Bench;

enum { BENCH_ELEMENTS = 1 << 26 };

typedef enum Role {
    ROLE_TILEC,
    ROLE_PEER,
    ROLE_STREAM,  // moves the same bytes and does nothing else
    ROLE_PEAK     // does arithmetic on registers only
} Role;

enum { ROW_MAX = 12, SAMPLES_MAX = 41 };

typedef struct Contestant {
    const char *name;
    Role role;
    void (*run)(void *self);
    void *self;
    double operations;  // of one run, of ROLE_PEAK
    bool unlike;        // leaves something else in the row's output: not compared
    bool differs;       // from tilec
    double times[SAMPLES_MAX];
    double median, least, greatest;
    unsigned repeats;  // runs of one sample
} Contestant;

typedef struct Row {
    const char *name;
    double bytes;         // read and written by one run; 0: no share of a stream is shown
    double flops;         // 0: no FLOP/s are shown
    const char *failure;  // why tilec is left out
    const float *output;  // of tilec, which the peers' are compared with, if given
    size_t output_count;
    Contestant contestants[ROW_MAX];
    size_t count, samples;
    bool differs;
} Row;

bool bench_wants(const Bench *bench, const char *name);
// Nothing happens when `run` is NULL: a peer that is not there.
void row_add(Row *row, const char *name, Role role, void (*run)(void *self), void *self);
void row_measure(Bench *bench, Row *row);
// The median of `a`'s times over `b`'s, sample by sample: how many times faster b is.
double row_ratio(const Row *row, const Contestant *a, const Contestant *b);
const Contestant *row_find(const Row *row, Role role);   // the quickest of them
const Contestant *row_first(const Row *row, Role role);  // of tilec's: the kernel as it is
double bench_median(double *values, size_t count);       // sorts them

#endif
