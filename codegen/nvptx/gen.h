// The translation for NVIDIA's GPUs, beyond what all GPUs share.
//
// Invariants: gpu_check has passed. Ownership: as in codegen/gpu/gen.h.
//
//     GpuGen n = {.ops = &nvptx_ops, .machine = machine};
//     gen_begin(&n.g, scratch, &nvptx_gen_target, func, NULL);
#ifndef TILEC_CODEGEN_NVPTX_GEN_H
#define TILEC_CODEGEN_NVPTX_GEN_H

#include "codegen/common/module.h"
#include "codegen/gpu/gen.h"

extern const GenTarget nvptx_gen_target;  // gen.c
extern const GpuOps nvptx_ops;

void nvptx_function(Gen *g, const char *entry);  // function.c
void nvptx_program_ids(Gen *g);
void nvptx_warp(Gen *g, const IrOp *op);  // warp.c: ldmatrix, copies
void nvptx_barrier(Gen *g, const IrOp *op);
LLVMValueRef nvptx_shuffle(Gen *g, LLVMValueRef word, LLVMValueRef lane, uint32_t by);
LLVMValueRef nvptx_exchanged(LLVMValueRef call, uint32_t *by);
LLVMValueRef nvptx_any_lane(Gen *g, LLVMValueRef bit);
void nvptx_mma(Gen *g, const IrOp *op);    // mma.c
void nvptx_wgmma(Gen *g, const IrOp *op);  // wgmma.c
void nvptx_wgmma_commit(Gen *g);
void nvptx_wgmma_begin(Gen *g, const IrOp *op);
void nvptx_wgmma_wait(Gen *g, const IrOp *op);
void nvptx_leave_loop(Gen *g, const IrOp *loop);

// A pointer into shared memory as a number of 32 bits, without the constants that it adds, which
// are added to `more`.
LLVMValueRef nvptx_shared_number(Gen *g, LLVMValueRef p, int64_t *more);
void nvptx_map(Gen *g, const IrOp *op);  // map.c: copies by tensor maps, and their barriers
void nvptx_specialize_warps(Gen *g);     // roles.c: the body
void nvptx_continue_as_leader(Gen *g);
// Do the producers of copies give registers to the program's warps?
bool nvptx_trades_registers(const IrFunc *f);

void nvptx_keep_signs(Module *m);  // signs.c: for before_selection

// masked.c; word.c
bool nvptx_hinted(const IrOp *op, LLVMValueRef p);
bool nvptx_can_mask(Gen *g, const IrOp *op, LLVMValueRef p, uint32_t bytes, uint32_t align);
void nvptx_masked_load(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                       LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *other,
                       LLVMValueRef *x);
void nvptx_masked_store(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                        LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *x);
bool nvptx_separate_parts(LLVMValueRef const *parts, uint32_t bits, bool stored);
LLVMValueRef nvptx_word(Gen *g, LLVMValueRef const *parts, uint32_t bits, bool stored);

#endif
