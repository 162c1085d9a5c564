// The search of a tuner: candidates, and which of them is the fastest.
//
//     compile all ─▶ rounds: each candidate that is left once ─▶ the ratio to the fastest, from the
//                      ▲                                          rounds that both took part in
//                      └── those that are slower for sure leave; again, until one is left, the rest
//                          is equal within a percent, or the time is over
//
// In a round all candidates meet the same machine: other work of it slows all of them. A ratio is
// the median over rounds. A candidate is slower for sure when the confidence interval of the median
// (95 %, by ranks) says so, and the least times, which other work slows least, agree. On a
// simulated device one launch of each candidate is counted instead, since a simulator's time means
// nothing. Invariants: a candidate takes part in the first `rounds` rounds and in no later one.
// Each has either a failure or a result. Ownership: kernels are the search's, until
// tune_search_end; all else is in the arena.
//
//     TuneSearch s = {.arena = arena, .device = device, .timed = {…}, .budget = 10};
//     if (tune_space(&s, file, kernel, &spec) == 1) …    // nothing to choose
//     const TuneCandidate *best = tune_search(&s);
//     tune_search_end(&s);
#ifndef TILEC_COMPILE_TUNE_SEARCH_H
#define TILEC_COMPILE_TUNE_SEARCH_H

#include "base/os/os_interrupt.h"
#include "base/os/os_mutex.h"
#include "compile/tune/table.h"
#include "compile/tune/timing.h"

typedef struct TuneCandidate {
    int64_t *values;  // one for each name
    tilec_kernel *kernel;
    const char *failure;  // why it cannot be used: it does not compile, or requires fails
    tilec_status status;  // of the failure
    bool left_out;        // the time was over, or Ctrl-C came, before it was measured
    bool pruned;          // left out because its estimate is far above the least
    bool active;          // takes part in the next round
    unsigned repeats;     // launches of a sample
    unsigned rounds;
    unsigned capacity;  // for times
    double *times;      // seconds of one launch, for each round
    // The result: medians of the rounds; `spread`: half the interquartile range, as a part of it.
    double seconds, spread, ratio;
    double cost;      // on a simulated device
    double estimate;  // seconds, by predict.h; 0: not known; INFINITY: it cannot be launched
} TuneCandidate;

typedef enum TuneEnd {
    TUNE_SEPARATED,    // the fastest is faster for sure
    TUNE_EQUAL,        // others are equal within TUNE_SAME
    TUNE_TIME_OVER,    // the budget
    TUNE_ROUNDS_OVER,  // the most rounds: no more would tell
    TUNE_INTERRUPTED,  // Ctrl-C
    TUNE_COUNTED       // on a simulated device: no time was measured
} TuneEnd;

// The source of the candidates, and what is the same for all of them.
typedef struct TuneSource {
    const char *path;  // the text's name in messages
    Str text;
    const char *kernel;
    tilec_spec given;
} TuneSource;

typedef struct TuneSearch {
    Arena *arena;
    tilec_device *device;
    TuneSource source;
    Timed timed;  // launches a candidate; its user is also that of `ready`
    // Called when all candidates are compiled, before the first launch: may fail candidates, and
    // change `before`. A failure of its own ends the search. NULL: nothing is to be done.
    tilec_status (*ready)(void *user);
    tilec_status ready_status;
    double budget;    // seconds for measuring
    bool whole;       // the budget is for compiling, too, which takes about half of it at most
    bool interrupts;  // Ctrl-C ends the search
    bool exhaustive;  // candidates are measured whatever their estimates are
    // Called with a line about what is done now, by several threads; NULL: not called.
    void (*progress)(void *user, const char *text);
    void *progress_user;
    // of tune_space
    const FrontTune **names;
    size_t name_count;
    TuneCandidate *candidates;
    size_t count;
    // of tune_search
    OsMutex *lock;        // protects the arena
    uint64_t begin;       // of compiling
    _Atomic size_t next;  // to compile
    OsInterrupt interrupt;
    TuneEnd end;
    unsigned rounds;
    double seconds;  // that measuring took
} TuneSearch;

enum { TUNE_CANDIDATES_MAX = 4096 };

// Fills in the names and candidates for what the specialisation leaves open: consts, and on GPUs
// options. False: there are more than TUNE_CANDIDATES_MAX. Without anything to choose there are no
// names and one candidate.
bool tune_space(TuneSearch *s, FrontFile *file, const FrontKernel *kernel, const FrontSpec *spec);
// The specialisation in the form of the public API, with its math; there is room for one entry
// more.
tilec_spec tune_given(Arena *arena, const FrontKernel *kernel, const FrontSpec *spec);
// The candidate's row has the consts that it chose.
void tune_consts(Arena *arena, const TuneSearch *s, const TuneCandidate *c, TuneRow *row);

#define TUNE_SAME 0.01

// NULL: no candidate can be launched.
TuneCandidate *tune_search(TuneSearch *s);
void tune_search_end(TuneSearch *s);
// "BM=64 BN=128"
void tune_candidate_text(const TuneSearch *s, const TuneCandidate *c, char *text, size_t size);
const char *tune_end_name(TuneEnd end);  // "separated"

#endif
