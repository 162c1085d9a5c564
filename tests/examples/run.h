// One launch of an example: its arguments, and what they must hold afterwards.
//
// Purpose: an example's `make` function declares consts, types and arguments in the kernel's order,
// and computes with plain loops what the kernel must write (`want`); the harness launches and
// compares. Invariants: an element that no `want` was given for must keep its bytes. Inputs come
// from a generator that depends on the run's seed alone. Packed types (i4) hold two elements a
// byte. Ownership: the run owns its arrays; run_free.
//
//     Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(n[0]));
//     Array *y = run_output(run, "y", t, EXTENTS(n[0]));
//     for (int64_t i = 0; i < n[0]; i++)
//         want(y, i, num_neg(num_at(x, i)));
#ifndef TILEC_TESTS_EXAMPLES_RUN_H
#define TILEC_TESTS_EXAMPLES_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/examples/num.h"

enum { RUN_MAX_RANK = 5, RUN_MAX_ARGS = 16, RUN_MAX_SPECS = 8, RUN_MAX_OTHERS = 8 };

typedef enum Fill {
    FILL_REAL,      // floats in [-2, 2)
    FILL_FACTOR,    // the same; of a wild run some rows have NaN
    FILL_EXPONENT,  // the same; of a wild run one in 16 is 200 times as large
    FILL_POSITIVE,  // floats in [0.25, 2)
    FILL_ZERO,
    FILL_CANARY,  // bytes that no kernel writes by chance
    FILL_INT,     // integers over the whole type
} Fill;

typedef struct Array {
    const char *name;
    Dtype type;
    int rank;
    int64_t extent[RUN_MAX_RANK], stride[RUN_MAX_RANK];
    int64_t count;
    uint8_t *data, *before;  // before: the bytes at launch, NULL until then
    Num *wanted;             // NULL: an input, must keep all bytes; e < 0: keeps its bytes
    Num *others;             // RUN_MAX_OTHERS of each element, right as well; e < 0: none
} Array;

typedef struct Arg {
    enum { ARG_ARRAY, ARG_POINTER, ARG_INT, ARG_REAL } kind;
    Array *array;
    int64_t integer;
    double real;
} Arg;

typedef struct Spec {
    const char *name;
    bool is_type;
    Dtype type;
    int64_t value;
} Spec;

typedef struct Run {
    uint64_t seed;
    bool wild;
    bool flushes_halves;  // the device takes subnormal f16 and bf16 as 0 in dots
    bool short_sums;      // it keeps 13 bits of the sums of fp8
    Array arrays[RUN_MAX_ARGS];
    Arg args[RUN_MAX_ARGS];
    Spec specs[RUN_MAX_SPECS];
    int array_count, arg_count, spec_count;
    int64_t undecided;  // elements that may have an infinite bound
} Run;

#define EXTENTS(...)                                                                     \
    (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { \
        __VA_ARGS__                                                                      \
    }

// An empty dot whose factors have this type.
NumDot run_dot(const Run *run, Dtype factor);
void run_type(Run *run, const char *name, Dtype type);
void run_const(Run *run, const char *name, int64_t value);
void run_int(Run *run, int64_t value);
void run_real(Run *run, double value);
// An array that the kernel reads, writes, or both (fill it, then call want_all_kept on it).
Array *run_input(Run *run, const char *name, Dtype type, Fill fill, int rank,
                 const int64_t *extent);
Array *run_output(Run *run, const char *name, Dtype type, int rank, const int64_t *extent);
void run_updates(Array *a);       // the kernel writes this input, too
void run_column_major(Array *a);  // before anything is stored in it
void run_as_pointers(Run *run);   // all arrays declared so far are passed as raw pointers
void run_free(Run *run);

uint64_t run_random(Run *run);                           // 64 bits
int64_t run_below(Run *run, int64_t low, int64_t high);  // low <= result < high
double run_scalar(Dtype type, double value);             // as the kernel sees the scalar

// Elements by place: the offset that strides give; at2 and so on compute it.
int64_t at2(const Array *a, int64_t i, int64_t j);
int64_t at3(const Array *a, int64_t i, int64_t j, int64_t k);
int64_t at4(const Array *a, int64_t i, int64_t j, int64_t k, int64_t l);
double get(const Array *a, int64_t place);
void put(Array *a, int64_t place, double value);
Num num_at(const Array *a, int64_t place);
void want(Array *a, int64_t place, Num value);
void want_exact(Array *a, int64_t place, double value);
// Any of these, at most 1 + RUN_MAX_OTHERS: what follows from each value that an operand may have.
void want_any(Array *a, int64_t place, const Num *values, int count);

// NULL if all is as wanted, else what is not, in static storage of `text`.
const char *run_compare(const Run *run, char *text, size_t size);
void run_before(Run *run);  // keeps the bytes; right before the launch

#endif
