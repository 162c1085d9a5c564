// Failed asserts of compiled kernels as reports, in the words that the interpreter has for them
// (ir/interp/report.c).
//
// Invariants: the report has the place and, where it is known, the line of the source. Ownership:
// the caller's, as of every report.
//
//     RtFailure f = {.site = 2, .place = {7, 0, 0}, .lane = 5};
//     RtReport r = rt_report_assert(variant, &f);
#ifndef TILEC_RUNTIME_FAILURE_H
#define TILEC_RUNTIME_FAILURE_H

#include "base/gpu_abi.h"
#include "runtime/meta.h"
#include "runtime/report.h"

typedef struct RtFailure {
    uint32_t site;     // of the variant's
    int64_t place[3];  // of the program, in the grid
    int64_t lane;
    const char *note;  // of what else there may be; NULL: nothing
} RtFailure;

// What GPUs left; false: no assert failed.
bool rt_failure_left(const GpuReport *left, RtFailure *failure);
RtReport rt_report_assert(const MetaVariant *variant, const RtFailure *failure);

#endif
