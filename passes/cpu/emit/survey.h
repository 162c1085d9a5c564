// The survey of a nest: read-only, and asked before lanes and squares are chosen.
//
//     survey(l, nest);
//     if (nest->survey.work > TUNE_LONG_CHAIN) …
#ifndef TILEC_PASSES_CPU_EMIT_SURVEY_H
#define TILEC_PASSES_CPU_EMIT_SURVEY_H

#include "passes/cpu/emit/lower.h"

// Of a nest whose order and lanes are chosen: fills nest->survey.
void survey(Lower *l, Nest *nest);

#endif
