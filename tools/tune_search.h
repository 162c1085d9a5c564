// The search of `tilec tune`: candidates, and which of them is the fastest.
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
// tune_search_end.
//
//     TuneSearch s = {.run = &r};
//     … s.names, s.candidates …
//     Candidate *best = tune_search(&s, progress);
#ifndef TILEC_TOOLS_TUNE_SEARCH_H
#define TILEC_TOOLS_TUNE_SEARCH_H

#include "base/os/os_interrupt.h"
#include "base/os/os_mutex.h"
#include "tools/measure.h"
#include "tools/progress.h"

typedef struct TuneCandidate {
    int64_t *values;  // one for each name
    tilec_kernel *kernel;
    const char *failure;  // why it cannot be used: it does not compile, or requires fails
    bool left_out;        // the time was over, or Ctrl-C came, before it was measured
    bool active;          // takes part in the next round
    unsigned repeats;     // launches of a sample
    unsigned rounds;
    unsigned room;  // for times
    double *times;  // seconds of one launch, for each round
    // The result: medians of the rounds; `spread`: half the interquartile range, as a part of it.
    double seconds, spread, ratio;
    double cost;  // on a simulated device
} TuneCandidate;

typedef enum TuneEnd {
    TUNE_SEPARATED,    // the fastest is faster for sure
    TUNE_EQUAL,        // others are equal within TUNE_SAME
    TUNE_TIME_OVER,    // the budget, or the number of rounds
    TUNE_INTERRUPTED,  // Ctrl-C
    TUNE_COUNTED       // on a simulated device: no time was measured
} TuneEnd;

typedef struct TuneSearch {
    Run *run;
    const FrontTune **names;
    size_t name_count;
    TuneCandidate *candidates;
    size_t count;
    double budget;  // seconds for measuring
    Progress *progress;
    OsMutex *lock;        // protects the arena
    _Atomic size_t next;  // to compile
    OsInterrupt interrupt;
    TuneEnd end;
    unsigned rounds;
    double seconds;  // that measuring took
} TuneSearch;

#define TUNE_SAME 0.01

// NULL: no candidate can be launched.
TuneCandidate *tune_search(TuneSearch *s);
void tune_search_end(TuneSearch *s);
// "BM=64 BN=128"
void tune_candidate_text(const TuneSearch *s, const TuneCandidate *c, char *text, size_t size);
const char *tune_end_name(TuneEnd end);  // "separated"

#endif
