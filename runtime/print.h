// Prints of kernels: lines of their sites' texts and values, in the same format as the
// interpreter's (ir/interp/report.c).
//
// Invariants: lines do not end in a newline; lines of one program are in its order. No lock may be
// held when lines are passed on, since `options.print` is the user's code.
// Ownership: RtPrints has its lines until rt_prints_flush, which empties it.
//
//     rt_prints_take(report, variant, &prints);     // under a lock
//     rt_prints_flush(context, &prints);              // without
#ifndef TILEC_RUNTIME_PRINT_H
#define TILEC_RUNTIME_PRINT_H

#include <tilec/tilec.h>

#include "base/gpu_abi.h"
#include "base/vec.h"
#include "runtime/meta.h"

// Formats print number `site`; `values` points to its values. False: the variant has no such print.
bool rt_print_line(const MetaVariant *variant, uint32_t site, const void *const *values,
                   StrBuf *line);
void rt_print_write(const tilec_context *context, Str line);

#define RT_PRINT_LOST "(out of memory: a line of print is lost)"

typedef struct RtPrintBatch RtPrintBatch;
typedef struct RtPrints {
    RtPrintBatch *first, *last;
    bool lost;  // memory ran out for some lines
} RtPrints;

// Size of a variant's report with the room for its prints, in bytes; 0 if it needs no report.
uint64_t rt_gpu_report_size(const MetaVariant *variant);
void rt_gpu_report_clear(GpuReport *report, uint64_t size);
// Adds the records of a report as lines: sorted by program if `by_program` (all from one launch),
// else in the order of arrival. One more line says how much did not fit.
void rt_prints_take(const GpuReport *report, const MetaVariant *variant, bool by_program,
                    RtPrints *prints);
void rt_prints_flush(const tilec_context *context, RtPrints *prints);

#endif
