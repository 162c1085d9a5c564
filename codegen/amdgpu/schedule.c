// Options for LLVM's scheduling and register allocation, and the facts that it reports about the
// code.
#include <stdio.h>

#include "codegen/amdgpu/gen.h"
#include "target/amd_object.h"

void amdgpu_schedule(Gen *g) {
    static const char *const strategies[] = {
        [CODEGEN_REGISTERS] = "iterative-minreg", [CODEGEN_CLAUSES] = "max-memory-clause"};
    const unsigned at = (unsigned)LLVMAttributeFunctionIndex;
    CodegenSchedule s = gpu_gen(g)->schedule;
    char waves[12];
    switch (s.strategy) {
    case CODEGEN_DEFAULT:
    case CODEGEN_BLOCKS: return;
    case CODEGEN_WAVES:
        snprintf(waves, sizeof waves, "%u", s.count);
        gpu_text_attribute(g, at, "amdgpu-waves-per-eu", waves);
        return;
    case CODEGEN_REGISTERS:
    case CODEGEN_CLAUSES:
        gpu_text_attribute(g, at, "amdgpu-sched-strategy", strategies[s.strategy]);
        return;
    }
}

void amdgpu_facts(const Module *m, Str code, CodegenFacts *facts) {
    AmdObjectKernel kernel;
    bool text = m->options->output == CODEGEN_ASM;
    if (!(text ? amd_assembly_facts(code, &kernel)
               : amd_object_facts(m->scratch, code, m->options->entry, &kernel)))
        return;
    facts->known = true;
    facts->vectors = kernel.vgprs;
    facts->scalars = kernel.sgprs;
    facts->vector_spills = kernel.vgpr_spills;
    facts->scalar_spills = kernel.sgpr_spills;
    facts->scratch_bytes = kernel.scratch;
    facts->shared_bytes = kernel.lds;
}
