// The C++ side of codegen, as C functions. lld's entry has no C interface, and neither has the
// choice of LLVM's passes that make machine code.
//
// Invariants: lld keeps state of its own, so the shim's lock lets one link run at a time;
// codegen_start does its work in the first call only. Ownership: `messages` of a failed link is
// malloc'ed for the caller, who frees it.
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
// Cuts blocks into blocks of at most `instructions`, which jump to one another. The time of LLVM's
// work on single blocks is then proportional to the number of instructions.
void codegen_cut_blocks(struct LLVMOpaqueModule *module, size_t instructions);
// Sinks instructions that only compute to their first use, within their block. Code that does one
// step for many values and then the next step for all of them becomes code that does all steps of
// one value and then those of the next: few registers are live at a time. A block stays as it is if
// the new order does not make fewer values live at once. The time is proportional to the number of
// instructions.
void codegen_order_blocks(struct LLVMOpaqueModule *module);
// AMD: if another block continues arithmetic on scalars, the value goes through a vector register
// first. LLVM follows this arithmetic from each loaded scalar to its end, and keeps all values that
// it finds: time and memory would grow with the square of its length.
void codegen_break_chains(struct LLVMOpaqueTargetMachine *machine, struct LLVMOpaqueModule *module);
// From now on the machine makes code without optimisation, in the least time.
void codegen_hurry(struct LLVMOpaqueTargetMachine *machine);
// Makes machine code like LLVMTargetMachineEmitToMemoryBuffer, without the passes in `without`
// (NULL-terminated; NULL: with all passes): NAME is every pass of that name, NAME#2 only the second
// one. A pass that LLVM does not have is a failure, unless `machine` does not optimise: LLVM's
// passes have changed. `message` is as for codegen_lld.
int codegen_emit(struct LLVMOpaqueTargetMachine *machine, struct LLVMOpaqueModule *module,
                 int assembly, const char *const *without, char **message,
                 struct LLVMOpaqueMemoryBuffer **output);
// LLVM cannot continue: ends the process with status 70, after on_defect of this thread's
// compilation; in api.c.
void codegen_fatal(const char *reason);
// LLVM has no memory: leaves this thread's compilation without freeing LLVM's unfinished objects.
// Returns if no compilation is running. In api.c.
void codegen_no_memory(void);
// Has this thread's compilation been left while LLVM was running?
int codegen_llvm_is_broken(void);

#ifdef __cplusplus
}
#endif
#endif
