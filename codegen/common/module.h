// One LLVM module on its way from IR to code: what all targets share of it.
//
// Invariants: one LLVM context for each, so that compilations of several threads do not meet; a
// module that LLVM does not find well formed is a defect of ours, reported as one. Ownership: the
// output is in `arena`; all else goes with module_end.
//
//     Module m = {.arena = arena, .func = func, .log = {diags, func->span, 0}};
//     module_begin(&m, "entry", machine, triple);
//     …                                            // functions are made in m.module
//     bool fine = module_verify(&m) && target_optimise(m.machine, m.module, &m.log) && …;
//     module_end(&m);
#ifndef TILEC_CODEGEN_COMMON_MODULE_H
#define TILEC_CODEGEN_COMMON_MODULE_H

#include "base/recover.h"
#include "codegen/codegen.h"
#include "codegen/common/target.h"

typedef struct Module {
    Owned owned;     // ends it when memory runs out in our own code
    Arena *arena;    // of the output
    Arena *scratch;  // gone at the end
    const IrFunc *func;
    CodegenTimes times;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    TargetLog log;
} Module;

// Takes the target machine over.
void module_begin(Module *m, const char *name, LLVMTargetMachineRef machine, const char *triple);
bool module_verify(Module *m);
void module_text(Module *m, Str *output);  // LLVM IR
void module_end(Module *m);
// Nanoseconds since *from, which becomes now.
uint64_t module_lap(uint64_t *from);

#endif
