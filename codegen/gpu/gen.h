// What translations for GPUs share beyond codegen/common: memory, shuffles, the report.
//
// Purpose: ops of the thread level are the same on all GPUs; a vendor's own way is in its GpuOps.
// Invariants: the target's check has passed. Pointers are generic (space 0); where they come from
// is said by casts (global for arguments, shared for thread.shared), from which LLVM finds the
// space of each access. Ownership: as in codegen/common/gen.h.
//
//     GpuGen n = {.ops = &ops, .machine = machine};
//     gen_begin(&n.g, scratch, &target, func, NULL);
#ifndef TILEC_CODEGEN_GPU_GEN_H
#define TILEC_CODEGEN_GPU_GEN_H

#include "codegen/codegen.h"
#include "codegen/common/gen.h"
#include "target/machine.h"

enum { SPACE_GLOBAL = 1, SPACE_SHARED = 3 };

// Where a function is NULL, LLVM has a way of its own.
typedef struct GpuOps {
    // The block's memory, as a global of space SPACE_SHARED.
    LLVMValueRef (*shared_memory)(Gen *g);
    LLVMValueRef (*thread_id)(Gen *g);  // i32
    // The number x, of which LLVM does not know that it is x. NULL: x itself.
    LLVMValueRef (*again)(Gen *g, LLVMValueRef x);
    void (*places)(Gen *g);  // fills g->place and g->grid
    void (*barrier)(Gen *g, bool global);
    // A word of 32 bits of the lane `lane`, or (NULL) of this one's number xor `by`.
    LLVMValueRef (*shuffle)(Gen *g, LLVMValueRef word, LLVMValueRef lane, uint32_t by);
    // The word that such a call gives the lane whose number xor *by is its own; NULL: it is another
    // one. And whether the bit is set in some lane of the warp. Both NULL: nothing is made of it.
    LLVMValueRef (*exchanged)(LLVMValueRef call, uint32_t *by);
    LLVMValueRef (*any_lane)(Gen *g, LLVMValueRef bit);
    // Under a mask, without a branch; can_mask says whether there is such an instruction for so
    // many bytes of `op`. `elem` of `bits` bits is what memory has `count` of, one after the other;
    // `other` what is there where the mask is false, or NULL: zeros.
    bool (*can_mask)(Gen *g, const IrOp *op, LLVMValueRef p, uint32_t bytes, uint32_t align);
    void (*masked_load)(Gen *g, LLVMTypeRef elem, uint32_t bits, uint32_t count, LLVMValueRef p,
                        LLVMValueRef mask, LLVMValueRef const *other, LLVMValueRef *x);
    void (*masked_store)(Gen *g, LLVMTypeRef elem, uint32_t bits, uint32_t count, LLVMValueRef p,
                         LLVMValueRef mask, LLVMValueRef const *x);
    // As many integers of 8 or 16 bits as a word has, the first lowest. Apart: LLVM's own way might
    // go through undefined halves; pairs that are not stored it is trusted with.
    bool (*apart)(LLVMValueRef const *parts, uint32_t bits, bool stored);
    LLVMValueRef (*word)(Gen *g, LLVMValueRef const *parts, uint32_t bits, bool stored);
} GpuOps;

typedef struct GpuGen {
    Gen g;  // first: a Gen of a GPU is one of these
    const GpuOps *ops;
    Machine machine;
    LLVMValueRef shared;     // the block's memory; NULL until it is asked for
    LLVMValueRef report;     // address of the report
    LLVMValueRef launch;     // the number of this launch, in the report
    LLVMBasicBlockRef done;  // the end of the program
    // Where failed asserts go, and which failed: site and lane; NULL until there is one.
    LLVMBasicBlockRef failure;
    LLVMValueRef failed;
    CodegenSchedule schedule;
    // Of functions with thread.copy, what AMD's GPUs wait for: copies of a group, at least.
    bool copies;
    uint32_t group_copies;
} GpuGen;

static inline GpuGen *gpu_gen(Gen *g) { return (GpuGen *)g; }

void gpu_memory(Gen *g, const IrOp *op);     // memory.c
void gpu_shuffle(Gen *g, const IrOp *op);    // shuffle.c
void gpu_pack(Gen *g, const IrOp *op);       // shuffle.c
void gpu_reduce(Gen *g, const IrOp *op);     // shuffle.c: of one thread's registers
void gpu_effect(Gen *g, const IrOp *op);     // effect.c
void gpu_thread_id(Gen *g, const IrOp *op);  // function.c

// function.c: bytes of the block of arguments, which a GpuTail (base/gpu_abi.h) follows: known
// before the parameters are read.
uint32_t gpu_block_size(const IrFunc *f);
// Do programs run in another order than they come, so that the grid must be known?
bool gpu_renumbers(Gen *g);
void gpu_text_attribute(Gen *g, unsigned index, const char *name, const char *value);
// extreme.c: trees of the greatest and the least, where NaN costs instructions of its own.
void gpu_extremes(GpuGen *n);
// The body of the function that has been declared; `block` is where the arguments are.
void gpu_body(GpuGen *n, LLVMValueRef block);
// Bytes of thread.shared in all.
uint32_t gpu_shared_size(const IrFunc *f);

// swap.c: compares and swaps within a wider unit of so many bits, which `swap` does; the bits that
// were there. Memory is given out in whole units.
typedef LLVMValueRef GpuSwap(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                             IrScope scope);
LLVMValueRef gpu_swap_within(Gen *g, unsigned unit, GpuSwap *swap, LLVMValueRef p,
                             LLVMValueRef expected, LLVMValueRef x, IrScope scope);

// The space that a generic address was cast from; 0: not known.
unsigned gpu_space_of(LLVMValueRef p);
LLVMTypeRef gpu_pointer(const Gen *g, unsigned space);
// The same address in a space, or generic (0).
LLVMValueRef gpu_in_space(Gen *g, LLVMValueRef p, unsigned space);
LLVMTypeRef gpu_int(const Gen *g, unsigned bits);

#endif
