// The C++ side of codegen, as C: what has no C interface is lld's entry, and which passes LLVM's
// way to machine code is made of.
//
// Invariants: lld keeps state of its own, so that links run one at a time, under a lock that the
// shim owns; codegen_start does its work once, whoever calls it first.
// Ownership: `messages` of a failed link is malloc'ed for the caller, who frees it.
//
//     codegen_start();
//     char *messages = NULL;
//     if (!codegen_lld(count, arguments, &messages)) … free(messages);
//     if (!codegen_emit(machine, module, false, without, &messages, &buffer)) … free(messages);
#ifndef TILEC_CODEGEN_LLVM_SHIM_H
#define TILEC_CODEGEN_LLVM_SHIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The library has been opened: the calls that follow may run out of memory.
void codegen_opened(void);
// Registers LLVM's targets and the handler of its fatal errors.
void codegen_start(void);
// ld.lld with these arguments (without the program's name).
int codegen_lld(size_t count, const char *const *arguments, char **messages);
struct LLVMOpaqueTargetMachine;
struct LLVMOpaqueModule;
struct LLVMOpaqueMemoryBuffer;
// Cuts blocks of instructions into ones of about so many, which jump to one another: what LLVM does
// block by block then takes time in proportion to their number.
void codegen_cut_blocks(struct LLVMOpaqueModule *module, size_t instructions);
// Moves what only computes down to its first use, within its block. Code that does one step for
// many values and then the next step for all of them becomes code that does all steps of one value
// and then those of the next: few registers are live at a time. A block stays as it is where that
// would not make fewer values live at once. Takes time in proportion to the number of instructions.
void codegen_order_blocks(struct LLVMOpaqueModule *module);
// Of AMD: arithmetic on scalars that goes on in another block goes through a vector register first.
// From each scalar that was loaded LLVM follows such arithmetic to its end, and keeps what it met:
// time and memory grow with the square of its length.
void codegen_break_chains(struct LLVMOpaqueTargetMachine *machine, struct LLVMOpaqueModule *module);
// The machine makes code in the least time from now on.
void codegen_hurry(struct LLVMOpaqueTargetMachine *machine);
// Machine code, as LLVMTargetMachineEmitToMemoryBuffer makes it, without the passes named (a NULL
// at the end; NULL: with all). A name that LLVM does not know is a failure, unless `machine` does
// not optimise: it says that passes have changed. `message` as of codegen_lld.
int codegen_emit(struct LLVMOpaqueTargetMachine *machine, struct LLVMOpaqueModule *module,
                 int assembly, const char *const *without, char **message,
                 struct LLVMOpaqueMemoryBuffer **output);
// LLVM has met what it cannot go on from: ends the process with status 70, after on_defect of the
// compilation on this thread; in api.c.
void codegen_fatal(const char *reason);
// LLVM has no memory: leaves the compilation on this thread, and LLVM's half-made objects where
// they are; returns where there is none. In api.c.
void codegen_no_memory(void);
// Is the compilation of this thread left in the midst of LLVM?
int codegen_llvm_is_broken(void);

#ifdef __cplusplus
}
#endif
#endif
