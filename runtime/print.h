// What kernels print: lines of their sites' texts and values, in the words that the interpreter has
// for them (ir/interp/report.c).
//
// Invariants: a line has no end of line; lines of one program are in its order. Nobody's lock may
// be held where they are said: `options.print` is the user's. Ownership: RtPrints has its lines
// until rt_prints_say, which empties it.
//
//     rt_prints_take(report, variant, &prints);     // under a lock
//     rt_prints_say(context, &prints);              // without
#ifndef TILEC_RUNTIME_PRINT_H
#define TILEC_RUNTIME_PRINT_H

#include <tilec/tilec.h>

#include "base/gpu_abi.h"
#include "base/vec.h"
#include "runtime/meta.h"

// Print number `site`: its values where they lie. False: the variant has no such print.
bool rt_print_line(const MetaVariant *variant, uint32_t site, const void *const *values,
                   StrBuf *line);
void rt_print_say(const tilec_context *context, Str line);

#define RT_PRINT_LOST "(out of memory: a line of print is lost)"

typedef struct RtPrintBatch RtPrintBatch;
typedef struct RtPrints {
    RtPrintBatch *first, *last;
    bool lost;  // memory ran out for some
} RtPrints;

// Bytes of a variant's report with the room for its prints; an empty one.
uint64_t rt_gpu_report_size(const MetaVariant *variant);
void rt_gpu_report_clear(GpuReport *report, uint64_t size);
// The records of a report as lines: `by_program`, where all are of one launch, or as they came.
// One more line says how much did not fit.
void rt_prints_take(const GpuReport *report, const MetaVariant *variant, bool by_program,
                    RtPrints *prints);
void rt_prints_say(const tilec_context *context, RtPrints *prints);

#endif
