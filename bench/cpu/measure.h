// Interleaved measuring: A, B, A, B, … in one process, so that drifting speed of the machine
// affects all of them equally. Ratios compare neighbours in time; the figures are medians.
//
// Invariants: a sample is several consecutive runs and takes at least some milliseconds. Before it,
// a pause lets the previous contestant's spinning threads fall asleep, and one untimed run wakes
// its own threads. A row is measured once and then printed.
// Ownership: the data of contestants is the caller's; samples are in the bench's arena.
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
    ROLE_STREAM,  // moves the same number of bytes and does nothing else
    ROLE_PEAK     // does arithmetic on registers only
} Role;

enum { ROW_MAX = 12, SAMPLES_MAX = 41 };

typedef struct Contestant {
    const char *name;
    Role role;
    void (*run)(void *self);
    void *self;
    double operations;  // of one run, for ROLE_PEAK
    bool unlike;        // produces a different output by design: not compared
    bool differs;       // differs from tilec's output
    double times[SAMPLES_MAX];
    double median, least, greatest;
    unsigned repeats;  // runs of one sample
} Contestant;

typedef struct Row {
    const char *name;
    double bytes;         // read and written by one run; 0: no fraction of the stream is printed
    double flops;         // 0: FLOP/s are not printed
    const char *failure;  // the reason why tilec is left out
    const float *output;  // tilec's output, compared with the peers' if given
    size_t output_count;
    Contestant contestants[ROW_MAX];
    size_t count, samples;
    bool differs;
} Row;

bool bench_is_selected(const Bench *bench, const char *name);
// Does nothing if `run` is NULL: the peer is not available.
void row_add(Row *row, const char *name, Role role, void (*run)(void *self), void *self);
void row_measure(Bench *bench, Row *row);
// The median of the ratios of `a`'s times to `b`'s, sample by sample: how many times faster b is.
double row_ratio(const Row *row, const Contestant *a, const Contestant *b);
const Contestant *row_find(const Row *row, Role role);  // the fastest with this role
// tilec's first: the kernel without options
const Contestant *row_first(const Row *row, Role role);
double bench_median(double *values, size_t count);  // sorts them

#endif
