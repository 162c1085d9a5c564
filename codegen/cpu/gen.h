// The state of one translation for a CPU, beyond what all targets share (codegen/common/gen.h).
//
// Invariants: cpu_check has passed, so that no op is unexpected. Ownership: as there.
//
//     static const GenTarget cpu_target = {.op = cpu_op, …};
//     CpuGen c = {.machine = machine};
//     gen_begin(&c.g, scratch, &cpu_target, func, NULL);
#ifndef TILEC_CODEGEN_CPU_GEN_H
#define TILEC_CODEGEN_CPU_GEN_H

#include "base/cpu_abi.h"
#include "codegen/common/module.h"
#include "target/machine.h"

// The memories to which a pointer may lead.
enum { MEMORY_SCRATCH = 1, MEMORY_ARGUMENTS = 2, MEMORY_ANY = 3 };

typedef struct CpuGen {
    Gen g;  // first: the Gen of a CPU is a CpuGen
    Machine machine;
    bool object;                                        // the code goes into a library
    unsigned char *memory;                              // by value id, of pointers: MEMORY_ bits
    LLVMValueRef args, first, last, scratch, services;  // the entry's parameters
    int program_dims;         // number of dimensions in which the body uses its place
    int64_t span_max[2];      // programs of a run, along a dimension; 1: no cpu.span
    LLVMValueRef span[2];     // programs of this run
    LLVMValueRef linear;      // number of this program
    LLVMBasicBlockRef entry;  // allocas go to its start
    LLVMBasicBlockRef next_program;
    LLVMMetadataRef scopes[2];  // lists of one scope: scratch, arguments
    bool streams;               // some store is non-temporal
    LLVMValueRef tiles;         // the configuration of tile registers; NULL: none are used
} CpuGen;

static inline CpuGen *cpu_gen(Gen *g) { return (CpuGen *)g; }

extern const GenTarget cpu_gen_target;  // gen.c

LLVMValueRef cpu_service(Gen *g, size_t offset, LLVMTypeRef type);  // a field of the services

// one file each
void cpu_function(CpuGen *c, const char *entry);  // function.c
void cpu_memory_kinds(CpuGen *c);                 // memory.c: fills `memory`
void cpu_memory(Gen *g, const IrOp *op);          // memory.c
void cpu_vector(Gen *g, const IrOp *op);          // vector.c
void cpu_effect(Gen *g, const IrOp *op);          // effect.c
void cpu_tiles(Gen *g, const IrOp *op);           // tiles.c
// lookup.c: a lookup without a gather; NULL: it needs one.
LLVMValueRef cpu_lookup(Gen *g, const IrOp *op, LLVMValueRef i);
// Configure the tile registers for this function, and release them before it returns. Both do
// nothing if the function has no tiles.
void cpu_tiles_begin(CpuGen *c);
void cpu_tiles_end(CpuGen *c);
void cpu_keep_exact(Module *m);  // exact.c: keeps floats exact, on AArch64
LLVMValueRef cpu_min_max(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b, bool greatest);
LLVMValueRef cpu_min_max_number(Gen *g, LLVMValueRef a, LLVMValueRef b, bool greatest);
LLVMValueRef cpu_remainder(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b);  // floats.c

#endif
