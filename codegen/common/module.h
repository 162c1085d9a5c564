// One LLVM module from IR to code: the part that all targets share. Modules that are not made from
// IR begin and end in the same way.
//
// Invariants: each module has its own LLVM context, so compilations of several threads share
// nothing; a module that LLVM rejects as not well formed is a defect of ours, and reported as one;
// code that the target cannot translate has been refused before. Ownership: the output is in the
// arena given; everything else is freed at the end.
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

// The target-specific part.
typedef struct ModuleTarget {
    LLVMTargetMachineRef (*machine)(const Module *m);
    // Creates the translation, with its target-specific part, in the module's scratch arena.
    Gen *(*gen)(Module *m);
    const GenTarget *ops;
    void (*function)(Gen *g, const char *entry);
    bool directives;     // lines.h
    const char *passes;  // of LLVM, after those of all targets; NULL: none
    // Changes IR after all passes over it, where instruction selection would translate it
    // incorrectly. NULL: nothing.
    void (*before_selection)(Module *m);
    // LLVM's passes to machine code that are left out, NULL-terminated; NULL: none.
    const char *const *skipped_passes;
    // The passes that are left out for long code (module.c), because their time grows with the
    // square of its length.
    const char *const *skipped_passes_long;
    // Code of more than this many instructions is reordered (codegen_order_blocks); 0: never.
    uint32_t ordered_from;
    bool chains;  // in long code, chains of scalars are broken (codegen_break_chains)
    // Code of more than this many instructions or blocks is not optimised (codegen_hurry); 0:
    // never.
    uint32_t hurried_from, hurried_blocks;
    // Fills in the facts that the code's metadata have. NULL: none.
    void (*facts)(const Module *m, Str code, CodegenFacts *facts);
    // Inspects or links the object *code. NULL: it stays as it is.
    bool (*finish)(Module *m, Str *code);
} ModuleTarget;

struct Module {
    Owned owned;                 // frees it when memory runs out in our own code
    Arena *arena;                // of the output
    Arena *scratch;              // freed at the end
    const ModuleTarget *target;  // this and the next two: NULL if the module is not from IR
    const IrFunc *func;
    const CodegenOptions *options;
    CodegenTimes times;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    TargetLog log;
    bool is_long, is_hurried, is_ordered;
};

// choices.c: for before_selection, on targets other than x86-64. LLVM turns `select(x < y, x, y)`
// into minnum if it knows that one of the two is not NaN. The select gives y where x is -0 and y is
// +0, and where x is a signaling NaN; the instructions for minnum of AArch64 and of GPUs give -0
// and NaN. (Those of x86-64 are the select itself.) So the select becomes one between integers of
// the same bits. The passes over IR would undo this.
void module_protect_selects(Module *m);
unsigned module_float_bits(LLVMTypeRef elem);  // 0: it is not a float

bool module_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                    const ModuleTarget *target, Str *output, Diags *diags);

// Begins a module that the caller fills; `arena` and `log` are set. It owns the machine from then
// on.
void module_begin(Module *m, const char *name, LLVMTargetMachineRef machine);
bool module_verify(Module *m);  // false after reporting
void module_end(Module *m);

#endif
