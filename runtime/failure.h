// Reports of failed asserts of compiled kernels, in the same words as the interpreter's
// (ir/interp/report.c).
//
// Invariants: the report has the place and, if it is known, the source line.
// Ownership: the caller's, as for every report.
//
//     RtFailure f = {.site = 2, .place = {7, 0, 0}, .lane = 5};
//     RtReport r = rt_report_assert(variant, &f);
#ifndef TILEC_RUNTIME_FAILURE_H
#define TILEC_RUNTIME_FAILURE_H

#include "base/gpu_abi.h"
#include "runtime/meta.h"
#include "runtime/report.h"

typedef struct RtFailure {
    uint32_t site;     // number in the variant's list
    int64_t place[3];  // coordinates of the program in the grid
    int64_t lane;
    const char *note;  // about further failures; NULL: none
} RtFailure;

// Reads the failure that a GPU stored; false: no assert failed.
bool rt_failure_read(const GpuReport *left, RtFailure *failure);
RtReport rt_report_assert(const MetaVariant *variant, const RtFailure *failure);

#endif
