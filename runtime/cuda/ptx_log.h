// What NVIDIA's compilers of PTX say, as diagnostics: the driver's, ptxas and nvJitLink write the
// same lines.
//
// Lines that name a line of the PTX point at it. Errors are errors, warnings are warnings, all else
// is not kept, but for numbers about the kernels: registers, stack, spills. A remark numbered C75xx
// says that matrix instructions which should overlap will wait for each other, and is an error.
// Ownership: the diagnostics' own.
//
//     PtxFacts facts = {0};
//     ptx_log_read(log, source_add(sources, STR("kernel.ptx"), text), &facts, diags);
#ifndef TILEC_RUNTIME_CUDA_PTX_LOG_H
#define TILEC_RUNTIME_CUDA_PTX_LOG_H

#include "base/diag.h"

// Of the greediest kernel of the text.
typedef struct PtxFacts {
    bool known;  // the log has said
    uint32_t registers, stack, spill_stores, spill_loads;
} PtxFacts;

// `file` NULL: nothing is pointed at; `facts` NULL: they are not wanted. False: there was an error.
bool ptx_log_read(Str log, const SourceFile *file, PtxFacts *facts, Diags *diags);
// As above, of a log whose lines are all about a failure.
void ptx_log_errors(Str log, const SourceFile *file, Diags *diags);

#endif
