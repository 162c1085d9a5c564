// The state of one translation, shared by the files of codegen/cpu; nothing of it is public.
//
// How values look in LLVM IR: bool is i1; integers are iN; f32 and f64 are float and double; f16,
// bf16 and the fp8 types are integers of their width, made half only around an instruction of the
// machine; pointers are ptr. A tile of rank 1 is a vector of these, a scalar the plain type. bool
// in memory is one byte, not zero for true.
// Invariants: cpu_check has passed, so that no op is unexpected; `values` is by value id.
// Ownership: LLVM things belong to `context`; arrays to the scratch arena.
//
//     LLVMValueRef a = gen_operand(g, op, 0);
//     gen_define(g, op, LLVMBuildNeg(g->b, a, ""));
#ifndef TILEC_CODEGEN_CPU_GEN_H
#define TILEC_CODEGEN_CPU_GEN_H

#include <llvm-c/Core.h>

#include "base/cpu_abi.h"
#include "ir/ir.h"
#include "ir/machine.h"

// Which memory a pointer may lead to.
enum { MEMORY_SCRATCH = 1, MEMORY_ARGUMENTS = 2, MEMORY_ANY = 3 };

typedef struct GenKinds {  // numbers of metadata kinds
    unsigned invariant, alias_scope, noalias, nontemporal;
} GenKinds;

typedef struct GenLines GenLines;  // lines.h

typedef struct Gen {
    Arena *arena;  // scratch
    const IrFunc *func;
    Machine machine;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef function;
    LLVMValueRef *values;                               // by value id
    unsigned char *memory;                              // by value id, of pointers: MEMORY_ bits
    LLVMValueRef args, first, last, scratch, services;  // the entry's parameters
    LLVMValueRef *params;  // by parameter: scalars, pointers, and the data of views
    LLVMValueRef (*extents)[IR_MAX_VIEW_RANK];  // by parameter
    LLVMValueRef (*strides)[IR_MAX_VIEW_RANK];
    LLVMValueRef grid[3], place[3];  // i64; `place` of this program
    int64_t most[2];                 // programs of a run, along a dimension; 1: no cpu.span
    LLVMValueRef span[2];            // those of this run
    LLVMValueRef linear;             // number of this program
    LLVMBasicBlockRef entry;         // allocas go to its start
    LLVMBasicBlockRef next_program;
    LLVMMetadataRef scopes[2];  // lists of one scope: scratch, arguments
    GenKinds kinds;
    GenLines *lines;  // NULL: none
    bool streams;     // some store goes past the caches
} Gen;

// types.c
LLVMTypeRef gen_elem_type(const Gen *g, Dtype elem);
LLVMTypeRef gen_type(const Gen *g, const IrType *t);
LLVMTypeRef gen_shaped(LLVMTypeRef elem, const IrType *shape);  // scalar or as many lanes
LLVMTypeRef gen_bytes_type(const Gen *g, const IrType *t);      // as in memory: bool is i8
LLVMValueRef gen_const(const Gen *g, const IrType *t, uint64_t bits);
LLVMValueRef gen_i64(const Gen *g, int64_t value);
LLVMValueRef gen_i32(const Gen *g, int32_t value);
LLVMValueRef gen_splat_of(LLVMTypeRef t, LLVMValueRef scalar);  // a constant
LLVMTypeRef gen_half_type(const Gen *g, const IrType *t);

// gen.c
LLVMValueRef gen_value(Gen *g, const IrValue *v);
LLVMValueRef gen_operand(Gen *g, const IrOp *op, uint32_t i);  // NULL when absent
void gen_define(Gen *g, const IrOp *op, LLVMValueRef v);       // result 0
LLVMValueRef gen_intrinsic(Gen *g, const char *name, uint32_t type_count, LLVMTypeRef *types,
                           uint32_t count, LLVMValueRef *args);
LLVMValueRef gen_service(Gen *g, size_t offset, LLVMTypeRef type);  // a field of the services
LLVMBasicBlockRef gen_block(Gen *g, const char *name);
LLVMValueRef gen_broadcast(Gen *g, LLVMValueRef scalar, uint32_t count);
void gen_op(Gen *g, const IrOp *op);
void gen_ops(Gen *g, const IrBlock *block);

// one file each
void gen_function(Gen *g, const char *entry);  // function.c
void gen_memory_kinds(Gen *g);                 // memory.c: fills `memory`
void gen_memory(Gen *g, const IrOp *op);       // memory.c
void gen_atomic(Gen *g, const IrOp *op);       // atomic.c
void gen_control(Gen *g, const IrOp *op);      // control.c
void gen_elementwise(Gen *g, const IrOp *op);  // arith.c
void gen_cast(Gen *g, const IrOp *op);         // cast.c
void gen_vector(Gen *g, const IrOp *op);       // vector.c
void gen_effect(Gen *g, const IrOp *op);       // effect.c

// Arithmetic of two values of one type, as the elementwise ops have it (arith.c); what reductions
// and atomics share. `t` is the operands' type.
LLVMValueRef gen_binary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a, LLVMValueRef b);
// The op by which a reduction combines two; IR_OPCODES for none.
IrOpcode gen_reduce_opcode(IrReduce kind, Dtype elem);

#endif
