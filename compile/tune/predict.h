// Estimates of a tune space's candidates (model.h), and the choice by them for a launch of a
// shape that was not measured.
//
// Invariants: the first candidate, which is the default, is chosen unless another one promises
// much: an estimate is not worth a second compilation for a few percent. Nothing is estimated on
// the interpreter and on simulated devices, whose times mean nothing.
//
//     TuneSearch s = {.arena = arena, .device = device};
//     tune_space(&s, file, kernel, spec);
//     if (tune_predict(&s, &launch)) best = tune_promising(&s);
#ifndef TILEC_COMPILE_TUNE_PREDICT_H
#define TILEC_COMPILE_TUNE_PREDICT_H

#include "compile/pipeline/unit.h"
#include "compile/tune/search.h"

typedef struct TuneLaunch {
    const Unit *unit;
    const FrontKernel *kernel;
    const FrontSpec *spec;
    const tilec_arg *args;
    size_t count;
} TuneLaunch;

// Can candidates of kernels on this device be estimated?
bool tune_can_predict(const tilec_device *device);
// Fills in the candidates' estimates. False: there are none.
bool tune_predict(TuneSearch *s, const TuneLaunch *launch);
// After tune_predict.
const TuneCandidate *tune_promising(const TuneSearch *s);

#endif
