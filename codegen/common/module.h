// One LLVM module on its way from IR to code: what all targets share of it. Modules that are not of
// IR begin and end the same way.
//
// Invariants: one LLVM context for each, so that compilations of several threads do not meet; a
// module that LLVM does not find well formed is a defect of ours, reported as one; what the target
// cannot translate has been refused before. Ownership: the output is in the arena given; all else
// is gone at the end.
//
//     static const ModuleTarget target = {.machine = machine_of, .gen = gen_create, …};
//     if (!module_compile(arena, func, options, &target, &output, diags)) …
#ifndef TILEC_CODEGEN_COMMON_MODULE_H
#define TILEC_CODEGEN_COMMON_MODULE_H

#include "base/recover.h"
#include "codegen/codegen.h"
#include "codegen/common/gen.h"
#include "codegen/common/target.h"

typedef struct Module Module;

// A target's own part.
typedef struct ModuleTarget {
    LLVMTargetMachineRef (*machine)(const Module *m);
    // The translation, in the module's scratch, with what is the target's own of it.
    Gen *(*gen)(Module *m);
    const GenTarget *ops;
    void (*function)(Gen *g, const char *entry);
    bool directives;     // lines.h
    const char *passes;  // of LLVM, behind those of all targets; NULL: none
    // Changes IR behind all passes over it, where selection would get it wrong. NULL: nothing.
    void (*before_selection)(Module *m);
    // Passes of LLVM's way to machine code that are left out, up to a NULL; NULL: none is.
    const char *const *without;
    // Those that are left out of long code (module.c) as well, for their time grows with the square
    // of its length.
    const char *const *without_long;
    // Code of more than so many instructions is put in another order (codegen_order_blocks); 0:
    // none is.
    uint32_t ordered_from;
    bool chains;  // of scalars are broken in long code (codegen_break_chains)
    // Longer code than so many instructions or blocks is made in a hurry (codegen_hurry); 0: none.
    uint32_t hurried_from, hurried_blocks;
    // Fills in what the code says of itself. NULL: it says nothing.
    void (*facts)(const Module *m, Str code, CodegenFacts *facts);
    // What becomes of an object, *code: looked through, linked. NULL: it stays.
    bool (*finish)(Module *m, Str *code);
} ModuleTarget;

struct Module {
    Owned owned;                 // ends it when memory runs out in our own code
    Arena *arena;                // of the output
    Arena *scratch;              // gone at the end
    const ModuleTarget *target;  // this and the next two: NULL of a module that is not of IR
    const IrFunc *func;
    const CodegenOptions *options;
    CodegenTimes times;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    TargetLog log;
    bool is_long, is_ordered;
};

// choices.c: for before_selection, on targets other than x86-64. For `select(x < y, x, y)` LLVM
// takes minnum where it knows that one of the two is no NaN. The select gives y where x is -0 and y
// is +0, and where x is a signaling NaN; the instructions for minnum of AArch64 and of GPUs give -0
// and NaN. (Those of x86-64 are the select itself.) Such a choice becomes one between integers of
// the same bits. The passes over IR would turn it back.
void module_keep_choices(Module *m);

bool module_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                    const ModuleTarget *target, Str *output, Diags *diags);

// Of a module that somebody else fills: `arena` and `log` are set. It has the machine from then on.
void module_begin(Module *m, const char *name, LLVMTargetMachineRef machine);
bool module_verify(Module *m);  // false after reporting
void module_end(Module *m);

#endif
