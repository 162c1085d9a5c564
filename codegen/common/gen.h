// The state of one translation to LLVM IR, and what all targets share: types, elementwise
// arithmetic, casts, control, lanes.
//
// How values look in LLVM IR: bool is i1; integers are iN; f32 and f64 are float and double; f16,
// bf16 and the fp8 types are integers of their width, made half only around an instruction of the
// machine; pointers are ptr. bool in memory is one byte, not zero for true.
// A value has parts: with `lanes_apart` (GPUs, where a vector is so many registers of each thread)
// one for each lane of a tile of rank 1, else (CPUs) one, a vector. A scalar is one part.
// Invariants: the target's check has passed, so that no op is unexpected; `values` is by value id.
// Ownership: LLVM things belong to `context`; arrays to the scratch arena.
//
//     LLVMValueRef a = gen_operand(g, op, 0);
//     gen_define(g, op, LLVMBuildNeg(g->b, a, ""));
#ifndef TILEC_CODEGEN_COMMON_GEN_H
#define TILEC_CODEGEN_COMMON_GEN_H

#include <llvm-c/Core.h>

#include "ir/analysis/analysis.h"
#include "ir/ir.h"
#include "ir/remark.h"

typedef struct GenKinds {  // numbers of metadata kinds
    unsigned invariant, alias_scope, noalias, nontemporal, range;
} GenKinds;

typedef struct GenLines GenLines;  // lines.h
typedef struct Gen Gen;

// What a target does its own way.
typedef struct GenTarget {
    unsigned global_space;  // LLVM's address space of what pointers point to
    bool lanes_apart;
    // Parts of 8 and 16 bits share words of 32 where blocks meet: registers have no halves.
    bool joins_narrow;
    // Every op that gen.c does not know itself.
    void (*op)(Gen *g, const IrOp *op);
    // Of two floats of a part's type `t` (f16 as half): the least or greatest, NaN if one of them
    // is.
    LLVMValueRef (*extreme)(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b, bool greatest);
    // a / b where math(approx) has another way. NULL, or a NULL result: LLVM's instruction.
    LLVMValueRef (*quotient)(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b);
    // An integer of one part, itself, of which LLVM knows nothing. NULL: LLVM may know all, for it
    // divides small numbers as rightly as great ones.
    LLVMValueRef (*hidden)(Gen *g, LLVMValueRef x);
    // a / b, or its rest, of words without signs: a below 2^31, b not 0. NULL: LLVM's instructions.
    LLVMValueRef (*whole_quotient)(Gen *g, LLVMValueRef a, LLVMValueRef b, bool rest);
    // C's fmod.
    LLVMValueRef (*remainder)(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b);
    // Compares and swaps integers where LLVM's own instruction will not do: the bits that were
    // there. NULL, or a NULL result: LLVM's instruction.
    LLVMValueRef (*swap)(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                         IrScope scope);
    // Adds x, of an element's type, to the float at p: what was there. NULL, or a NULL result: the
    // machine has no such instruction that rounds as additions do.
    LLVMValueRef (*add)(Gen *g, LLVMValueRef p, Dtype elem, LLVMValueRef x, IrScope scope);
    // Names of LLVM's scopes by IrScope, where its read-modify-writes keep them; NULL: they do not.
    const char *const *scopes;
    // Before a release, or after an acquire.
    void (*fence)(Gen *g, bool release, IrScope scope);
} GenTarget;

struct Gen {
    Arena *arena;  // scratch
    const GenTarget *target;
    const IrFunc *func;
    const IrRanges *ranges;  // of what was checked
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef function;
    LLVMValueRef **values;  // by value id: its parts
    bool contract;          // the op that is compiled may be fused with others
    LLVMValueRef block;     // where the arguments are
    LLVMValueRef *params;   // by parameter: scalars, pointers, and the data of views
    LLVMValueRef (*extents)[IR_MAX_VIEW_RANK];  // by parameter
    LLVMValueRef (*strides)[IR_MAX_VIEW_RANK];
    LLVMValueRef grid[3], place[3];  // i64; `place` of this program
    GenKinds kinds;
    bool pairs;        // of f32 the machine adds and multiplies two at once
    GenLines *lines;   // NULL: none
    Remarks *remarks;  // NULL: nobody asks
};

// Everything but target, params' values and lines; `g` is zeroed otherwise.
// `ranges` of the function, or NULL.
void gen_begin(Gen *g, Arena *scratch, const GenTarget *target, const IrFunc *func,
               IrRanges *ranges);

// types.c
LLVMTypeRef gen_elem_type(const Gen *g, Dtype elem);
LLVMTypeRef gen_type(const Gen *g, const IrType *t);
// Of such a type, with these bits: into the target's global space.
LLVMValueRef gen_pointer(Gen *g, LLVMValueRef bits, LLVMTypeRef type);
LLVMTypeRef gen_shaped(LLVMTypeRef elem, const IrType *shape);  // scalar or as many lanes
LLVMTypeRef gen_bytes_type(const Gen *g, const IrType *t);      // as in memory: bool is i8
LLVMValueRef gen_const(const Gen *g, const IrType *t, uint64_t bits);
LLVMValueRef gen_i64(const Gen *g, int64_t value);
LLVMValueRef gen_i32(const Gen *g, int32_t value);
LLVMValueRef gen_splat_of(LLVMTypeRef t, LLVMValueRef scalar);  // a constant
LLVMTypeRef gen_half_type(const Gen *g, const IrType *t);
// Of this type, one part: the type itself, or a scalar of its element.
uint32_t gen_part_count(const Gen *g, const IrType *t);
IrType gen_part_type(const Gen *g, const IrType *t);

// gen.c
LLVMValueRef *gen_parts(const Gen *g, const IrValue *v);
LLVMValueRef gen_value(const Gen *g, const IrValue *v);              // of one part
LLVMValueRef gen_operand(const Gen *g, const IrOp *op, uint32_t i);  // NULL when absent
// Part i of an operand; of an operand with one part that one. NULL when it is absent.
LLVMValueRef gen_operand_part(const Gen *g, const IrOp *op, uint32_t operand, uint32_t i);
void gen_set(Gen *g, const IrValue *v, LLVMValueRef one);
LLVMValueRef *gen_set_parts(Gen *g, const IrValue *v);    // to be filled
void gen_define(Gen *g, const IrOp *op, LLVMValueRef v);  // result 0
LLVMValueRef *gen_define_parts(Gen *g, const IrOp *op);   // to be filled
// Result 0 of its lanes: as they are, or as a vector.
void gen_define_lanes(Gen *g, const IrOp *op, LLVMValueRef const *lanes);
LLVMValueRef gen_intrinsic(Gen *g, const char *name, uint32_t type_count, LLVMTypeRef *types,
                           uint32_t count, LLVMValueRef *args);
// x by an empty instruction, of which LLVM knows these constraints and whether it has effects, so
// that it knows nothing of the result.
LLVMValueRef gen_opaque(LLVMBuilderRef b, const char *constraints, bool effects, LLVMValueRef x);
LLVMBasicBlockRef gen_block(Gen *g, const char *name);
// Builds before another instruction for a while, of the line that it was at.
typedef struct GenSpot {
    LLVMBasicBlockRef block;
    LLVMMetadataRef line;
} GenSpot;
GenSpot gen_go_before(Gen *g, LLVMValueRef instruction);
void gen_go_back(Gen *g, GenSpot spot);
void gen_op(Gen *g, const IrOp *op);
void gen_ops(Gen *g, const IrBlock *block);
// The views and extents of a kernel, once params, extents and strides are there.
void gen_fact(Gen *g, const IrOp *op);

// Reads all parameters from their block; returns its bytes (arguments.c).
uint32_t gen_arguments(Gen *g, LLVMValueRef block);

// one file each
void gen_control(Gen *g, const IrOp *op);      // control.c
void gen_elementwise(Gen *g, const IrOp *op);  // arith.c
void gen_cast(Gen *g, const IrOp *op);         // cast.c
void gen_lanes(Gen *g, const IrOp *op);        // lanes.c
void gen_atomic(Gen *g, const IrOp *op);       // atomic.c

// Arithmetic of two values of one type, as the elementwise ops have it (arith.c); what reductions
// and atomics share. `t` is the operands' type, of a part.
LLVMValueRef gen_binary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a, LLVMValueRef b);
// A dividend for LLVM's divisions by what is not constant, where it may reach 2^22.
LLVMValueRef gen_dividend(Gen *g, LLVMValueRef x);
// C's fmod of scalars, f32 or f64, in integers (remainder.c).
LLVMValueRef gen_remainder(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b);
// The op by which a reduction combines two; IR_OPCODES for none.
IrOpcode gen_reduce_opcode(IrReduce kind, Dtype elem);
LLVMValueRef gen_broadcast(Gen *g, LLVMValueRef scalar, uint32_t count);  // a vector

#endif
