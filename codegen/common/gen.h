// The state of one translation to LLVM IR, and what all targets share: types, elementwise
// arithmetic, casts, control, lanes.
//
// How values look in LLVM IR: bool is i1; integers are iN; f32 and f64 are float and double; f16,
// bf16 and the fp8 types are integers of their width, and f16 becomes half only around an
// instruction of the machine; pointers are ptr. In memory bool is one byte, which is not zero for
// true. A value has parts. With `splits_vectors` (GPUs, where each thread holds a vector in
// registers) it has one part for each lane of a tile of rank 1; else (CPUs) it has one part, a
// vector. A scalar is one part.
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

// The target-specific part of the translation.
typedef struct GenTarget {
    unsigned global_space;  // LLVM's address space for the targets of pointers
    unsigned table_space;   // the same for constant tables
    unsigned table_zeros;   // that follow the values of a table; at least 1
    bool splits_vectors;
    // Parts of 8 and 16 bits share words of 32 bits in phis, because registers have no halves.
    bool joins_narrow;
    // Translates every op that walk.c does not know itself.
    void (*op)(Gen *g, const IrOp *op);
    // The least or greatest of two floats of a part's type `t` (f16 as half); NaN if one of them
    // is.
    LLVMValueRef (*min_max)(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b, bool greatest);
    // The same, but a number wins over a NaN. NULL: LLVM's intrinsic.
    LLVMValueRef (*min_max_number)(Gen *g, LLVMValueRef a, LLVMValueRef b, bool greatest);
    // a / b under math(approx). NULL, or a NULL result: LLVM's instruction.
    LLVMValueRef (*fast_quotient)(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b);
    // x, an integer of one part, with its range hidden from LLVM. NULL: LLVM may know it, because
    // its divisions of small numbers are correct.
    LLVMValueRef (*hide_range)(Gen *g, LLVMValueRef x);
    // a / b or its rest, for unsigned words: a is below 2^31, b is not 0. NULL: LLVM's
    // instructions.
    LLVMValueRef (*unsigned_quotient)(Gen *g, LLVMValueRef a, LLVMValueRef b, bool rest);
    // C's fmod.
    LLVMValueRef (*remainder)(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b);
    // Compares and swaps integers if LLVM's instruction is not suitable; returns the old bits.
    // NULL, or a NULL result: LLVM's instruction.
    LLVMValueRef (*swap)(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                         IrScope scope);
    // Adds x, of an element's type, to the float at p; returns the old value. NULL, or a NULL
    // result: the machine has no instruction for it that rounds like an addition.
    LLVMValueRef (*add)(Gen *g, LLVMValueRef p, Dtype elem, LLVMValueRef x, IrScope scope);
    // Names of LLVM's scopes by IrScope. NULL: LLVM's read-modify-writes ignore scopes.
    const char *const *scopes;
    // The same of loads and stores.
    const char *const *plain_scopes;
    // LLVM's approximate f64 divisions and roots are wrong for zeros, infinities or subnormals.
    bool exact_double;
    // Does the instruction of a relaxed atomic store say that it is one? The simulator needs it.
    // NULL: it does.
    bool (*marks_stores)(Gen *g);
    // A lookup at these places by other means than loads from each of them. NULL, or a NULL
    // result: there are none.
    LLVMValueRef (*lookup)(Gen *g, const IrOp *op, LLVMValueRef i);
    // Builds what comes between the last iteration of a loop and the code after it. NULL: nothing.
    void (*leave_loop)(Gen *g, const IrOp *loop);
    // Called before a release, or after an acquire.
    void (*fence)(Gen *g, bool release, IrScope scope);
} GenTarget;

// The values of lookups, as a constant of the module.
typedef struct GenTable {
    const IrOp *first;  // a lookup in them
    LLVMValueRef global;
} GenTable;

struct Gen {
    Arena *arena;  // scratch
    const GenTarget *target;
    const IrFunc *func;
    const IrRanges *ranges;  // of checked facts
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef function;
    LLVMValueRef **values;  // by value id: its parts
    VEC(GenTable) tables;
    const bool *skipped;   // by op id: ops that are not translated, with all that is in them;
                           // NULL: none
    bool contract;         // the current op may be fused with others
    bool approx;           // it may be approximate
    LLVMValueRef block;    // the address of the arguments
    LLVMValueRef *params;  // by parameter: scalars, pointers, and the data of views
    LLVMValueRef (*extents)[IR_MAX_VIEW_RANK];  // by parameter
    LLVMValueRef (*strides)[IR_MAX_VIEW_RANK];
    LLVMValueRef grid[3], program_id[3];  // i64; `program_id` of this program
    GenKinds kinds;
    bool pairs;        // the machine adds and multiplies f32 in pairs
    GenLines *lines;   // NULL: none
    Remarks *remarks;  // NULL: not wanted
};

// Sets everything except the target's fields, the parameters' values and lines; the rest of `g` is
// zeroed. `ranges` of the function, or NULL.
void gen_begin(Gen *g, Arena *scratch, const GenTarget *target, const IrFunc *func,
               IrRanges *ranges);

// types.c
LLVMTypeRef gen_elem_type(const Gen *g, Dtype elem);
LLVMTypeRef gen_type(const Gen *g, const IrType *t);
// A pointer of this type with these bits, into the target's global space.
LLVMValueRef gen_pointer(Gen *g, LLVMValueRef bits, LLVMTypeRef type);
LLVMTypeRef gen_shaped(LLVMTypeRef elem, const IrType *shape);  // a scalar or a vector
LLVMTypeRef gen_bytes_type(const Gen *g, const IrType *t);      // as in memory: bool is i8
LLVMValueRef gen_const(const Gen *g, const IrType *t, uint64_t bits);
LLVMValueRef gen_i64(const Gen *g, int64_t value);
LLVMValueRef gen_i32(const Gen *g, int32_t value);
LLVMValueRef gen_splat_of(LLVMTypeRef t, LLVMValueRef scalar);  // a constant
LLVMTypeRef gen_half_type(const Gen *g, const IrType *t);
// The number of parts, and the type of one: the type itself, or a scalar of its element.
uint32_t gen_part_count(const Gen *g, const IrType *t);
IrType gen_part_type(const Gen *g, const IrType *t);

// gen.c
LLVMValueRef *gen_parts(const Gen *g, const IrValue *v);
LLVMValueRef gen_value(const Gen *g, const IrValue *v);              // of one part
LLVMValueRef gen_operand(const Gen *g, const IrOp *op, uint32_t i);  // NULL when absent
// Part i of an operand, or its only part. NULL when it is absent.
LLVMValueRef gen_operand_part(const Gen *g, const IrOp *op, uint32_t operand, uint32_t i);
void gen_set(Gen *g, const IrValue *v, LLVMValueRef one);
LLVMValueRef *gen_set_parts(Gen *g, const IrValue *v);    // to be filled by the caller
void gen_define(Gen *g, const IrOp *op, LLVMValueRef v);  // result 0
LLVMValueRef *gen_define_parts(Gen *g, const IrOp *op);   // to be filled by the caller
// Defines result 0 by its lanes: as separate parts, or as a vector.
void gen_define_lanes(Gen *g, const IrOp *op, LLVMValueRef const *lanes);
LLVMValueRef gen_intrinsic(Gen *g, const char *name, uint32_t type_count, LLVMTypeRef *types,
                           uint32_t count, LLVMValueRef *args);
// Passes x through an empty instruction. LLVM only knows its constraints and whether it has
// effects, so it knows nothing about the result.
LLVMValueRef gen_opaque(LLVMBuilderRef b, const char *constraints, bool effects, LLVMValueRef x);
// Marks a load or store as one whose memory the caches need not keep.
void gen_nontemporal(Gen *g, LLVMValueRef access);
LLVMBasicBlockRef gen_block(Gen *g, const char *name);
// Builds before another instruction until gen_restore_position, with the debug line of that place.
typedef struct GenInsertPoint {
    LLVMBasicBlockRef block;
    LLVMMetadataRef line;
} GenInsertPoint;
GenInsertPoint gen_insert_before(Gen *g, LLVMValueRef instruction);
void gen_restore_position(Gen *g, GenInsertPoint spot);
void gen_op(Gen *g, const IrOp *op);
void gen_ops(Gen *g, const IrBlock *block);
// Ops that name views and extents of a kernel; params, extents and strides must be set.
void gen_fact(Gen *g, const IrOp *op);

// Reads all parameters from their block; returns its size in bytes (arguments.c).
uint32_t gen_arguments(Gen *g, LLVMValueRef block);

// one file each
void gen_control(Gen *g, const IrOp *op);      // control.c
void gen_elementwise(Gen *g, const IrOp *op);  // arith.c
void gen_cast(Gen *g, const IrOp *op);         // cast.c
void gen_lookup(Gen *g, const IrOp *op);       // table.c
void gen_lanes(Gen *g, const IrOp *op);        // lanes.c
void gen_atomic(Gen *g, const IrOp *op);       // atomic.c

// table.c: do ranges prove that no index is outside? A load of neighbours, from element `at` on; t
// is the type of the result.
bool gen_lookup_inside(const Gen *g, const IrOp *op);
LLVMValueRef gen_lookup_load(Gen *g, const IrOp *op, const IrType *t, LLVMValueRef at);

// Arithmetic of two values of one type, like the elementwise ops (arith.c); reductions and atomics
// use it as well. `t` is the type of a part of the operands.
LLVMValueRef gen_binary(Gen *g, IrOpcode code, const IrType *t, LLVMValueRef a, LLVMValueRef b);
// A dividend that may reach 2^22, for LLVM's divisions by a divisor that is not constant.
LLVMValueRef gen_dividend(Gen *g, LLVMValueRef x);
// C's fmod of scalars, f32 or f64, in integers (remainder.c).
LLVMValueRef gen_remainder(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b);
// The op with which a reduction combines two values; IR_OPCODES for none.
IrOpcode gen_reduce_opcode(IrReduce kind, Dtype elem);
LLVMValueRef gen_broadcast(Gen *g, LLVMValueRef scalar, uint32_t count);  // a vector

#endif
