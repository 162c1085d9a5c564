// Messages of NVIDIA's PTX compilers as diagnostics. The driver, ptxas and nvJitLink write the same
// lines.
//
// A message that names a line of the PTX points at it. Errors are errors and warnings are warnings;
// the rest is dropped, except numbers about the kernels: registers, stack, spills. A remark
// numbered C75xx says that matrix instructions which should overlap will wait for each other; it
// counts as an error.
// Ownership: the diagnostics' own.
//
//     PtxFacts facts = {0};
//     ptx_log_read(log, source_add(sources, STR("kernel.ptx"), text), &facts, diags);
#ifndef TILEC_RUNTIME_CUDA_PTX_LOG_H
#define TILEC_RUNTIME_CUDA_PTX_LOG_H

#include "base/diag.h"

// The maximum over the kernels of the text.
typedef struct PtxFacts {
    bool known;  // the log gave numbers
    uint32_t registers, stack, spill_stores, spill_loads;
} PtxFacts;

// `file` NULL: messages point nowhere; `facts` NULL: no numbers are stored. False: there was an
// error.
bool ptx_log_read(Str log, const SourceFile *file, PtxFacts *facts, Diags *diags);
// The same for a log whose lines are all about a failure.
void ptx_log_errors(Str log, const SourceFile *file, Diags *diags);

#endif
