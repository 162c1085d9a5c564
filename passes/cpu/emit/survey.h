// The survey of a nest: read-only; it comes before lanes and squares are chosen.
//
//     survey(l, nest);
//     if (nest->survey.work > TUNE_LONG_CHAIN) …
#ifndef TILEC_PASSES_CPU_EMIT_SURVEY_H
#define TILEC_PASSES_CPU_EMIT_SURVEY_H

#include "passes/cpu/emit/lower.h"

// Fills nest->survey, for a nest whose order and lanes are chosen.
void survey(Lower *l, Nest *nest);

#endif
