// Reports: errors as text and as data, copied out of the arenas they came from.
//
// Purpose: a thread's last error, and a failure stored on a stream, outlive the call, the kernel
// and the source they are about.
// Invariants: the zeroed report is empty. All texts are in its arena, or are constant, like "out of
// memory", which replaces any report when there is no memory for it.
// Ownership: the code that made it frees it, or passes it to rt_fail_report.
//
//     RtReport r = rt_report_of(diags);
//     return rt_fail_report(context, TILEC_KERNEL_FAILED, r);
#ifndef TILEC_RUNTIME_REPORT_H
#define TILEC_RUNTIME_REPORT_H

#include <stdarg.h>
#include <tilec/tilec.h>

#include "base/diag.h"
#include "base/vec.h"

typedef struct RtReport {
    Arena *arena;
    Str text;
    VEC(tilec_diagnostic) diagnostics;
} RtReport;

RtReport rt_report_text(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
// Diagnostics as data, and as the text shown on a terminal.
RtReport rt_report_of(const Diags *diags);
// "out of memory"; needs no memory itself.
RtReport rt_report_no_memory(void);
// For a stream that had work when the process forked; needs no memory either.
RtReport rt_report_forked(void);
void rt_report_free(RtReport *report);

#endif
