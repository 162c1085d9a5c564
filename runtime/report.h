// Reports: what went wrong, as text and as data, copied out of whatever arenas it came from.
//
// Purpose: a thread's last error, and the failure that waits on a stream, outlive the call, the
// kernel and the source they speak of. Invariants: the zeroed report is empty; all texts live in
// its arena, or are constant, as "out of memory" is, which every other becomes when there is no
// memory for it. Ownership: whoever made it frees it, or hands it on to rt_fail_report.
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
// Diagnostics as data, and as the text that a terminal would show.
RtReport rt_report_of(const Diags *diags);
// "out of memory": takes none.
RtReport rt_report_no_memory(void);
// Of a stream that had work as the process forked; takes no memory either.
RtReport rt_report_forked(void);
void rt_report_free(RtReport *report);

#endif
