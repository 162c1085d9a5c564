// The state of one translation for NVIDIA's GPUs, beyond what all targets share.
//
// Invariants: nvptx_check has passed. Pointers are generic; where they come from is said by casts
// (global for arguments, shared for thread.shared), from which LLVM finds the space of each access.
// Ownership: as in codegen/common/gen.h.
//
//     NvptxGen n = {.machine = machine};
//     gen_begin(&n.g, scratch, &nvptx_gen_target, func);
#ifndef TILEC_CODEGEN_NVPTX_GEN_H
#define TILEC_CODEGEN_NVPTX_GEN_H

#include "codegen/common/gen.h"
#include "ir/machine.h"

enum { SPACE_GLOBAL = 1, SPACE_SHARED = 3 };

typedef struct NvptxGen {
    Gen g;  // first: a Gen of this target is one of these
    Machine machine;
    LLVMValueRef shared;     // the block's memory; NULL until it is asked for
    LLVMValueRef report;     // address of the report
    LLVMBasicBlockRef done;  // the end of the program
} NvptxGen;

static inline NvptxGen *nvptx_gen(Gen *g) { return (NvptxGen *)g; }

extern const GenTarget nvptx_gen_target;  // gen.c

void nvptx_function(NvptxGen *n, const char *entry);  // function.c
void nvptx_memory(Gen *g, const IrOp *op);            // memory.c
void nvptx_warp(Gen *g, const IrOp *op);    // warp.c: shuffles, ldmatrix, copies, barriers
void nvptx_mma(Gen *g, const IrOp *op);     // mma.c
void nvptx_effect(Gen *g, const IrOp *op);  // effect.c

// The space that a generic address was cast from; 0: not known.
unsigned nvptx_space_of(LLVMValueRef p);
// Under a mask, without a branch (masked.c); can_mask says whether there is such an instruction for
// so many bytes. `elem` of `bits` bits is what memory has `count` of, one after the other; `other`
// what is there where the mask is false, or NULL: zeros.
bool nvptx_can_mask(LLVMValueRef p, uint32_t bytes, uint32_t align);
void nvptx_masked_load(Gen *g, LLVMTypeRef elem, uint32_t bits, uint32_t count, LLVMValueRef p,
                       LLVMValueRef mask, LLVMValueRef const *other, LLVMValueRef *x);
void nvptx_masked_store(Gen *g, LLVMTypeRef elem, uint32_t bits, uint32_t count, LLVMValueRef p,
                        LLVMValueRef mask, LLVMValueRef const *x);
// As many integers of 8 or 16 bits as a word has, the first lowest (word.c). Apart: LLVM's own way
// might go through undefined halves; pairs that are not stored it is trusted with.
bool nvptx_apart(LLVMValueRef const *parts, uint32_t bits, bool stored);
LLVMValueRef nvptx_word(Gen *g, LLVMValueRef const *parts, uint32_t bits, bool stored);

LLVMTypeRef nvptx_pointer(const Gen *g, unsigned space);
// The same address in a space, or generic (0).
LLVMValueRef nvptx_in_space(Gen *g, LLVMValueRef p, unsigned space);

#endif
