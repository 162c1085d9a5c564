// The translation for AMD's GPUs, beyond what all GPUs share.
//
// Invariants: gpu_check has passed. Ownership: as in codegen/gpu/gen.h.
//
//     GpuGen n = {.ops = &amdgpu_ops, .machine = machine};
//     gen_begin(&n.g, scratch, &amdgpu_gen_target, func, NULL);
#ifndef TILEC_CODEGEN_AMDGPU_GEN_H
#define TILEC_CODEGEN_AMDGPU_GEN_H

#include "codegen/common/module.h"
#include "codegen/gpu/gen.h"

extern const GenTarget amdgpu_gen_target;  // gen.c
extern const GpuOps amdgpu_ops;

void amdgpu_function(Gen *g, const char *entry);  // function.c
// schedule.c: tells LLVM how to schedule; reads what it says of the code.
void amdgpu_schedule(Gen *g);
void amdgpu_facts(const Module *m, Str code, CodegenFacts *facts);
// signed_zeros.c: what would lose the sign of zero in selection is written otherwise.
void amdgpu_keep_signed_zeros(Module *m);
void amdgpu_divide(Module *m);  // quotients.c: f64, rounded right also where it is subnormal
// wide_rows.c: no instruction of 64 bits reads a value of another lane of its row.
void amdgpu_keep_rows_narrow(Module *m);
LLVMValueRef amdgpu_thread_id(Gen *g);
void amdgpu_places(Gen *g);
LLVMValueRef amdgpu_shared_memory(Gen *g);
LLVMValueRef amdgpu_exchange_words(Gen *g);  // of shared memory, one of each thread
LLVMValueRef amdgpu_shuffle(Gen *g, LLVMValueRef word, LLVMValueRef lane,
                            uint32_t by);  // shuffle.c
void amdgpu_barrier(Gen *g, bool global);
// Until so many accesses of global memory (from gfx10 on: loads) and of shared memory, at most, are
// under way; AMDGPU_ANY: that kind is not waited for.
enum { AMDGPU_ANY = 63 };
void amdgpu_wait_until(Gen *g, uint32_t global, uint32_t shared);
void amdgpu_release(Gen *g);              // of this program's memory to its threads
void amdgpu_latches(Gen *g);              // latch.c: once all is there
void amdgpu_mma(Gen *g, const IrOp *op);  // mma.c
void amdgpu_dot(Gen *g, const IrOp *op);
// copy.c: of functions that copy straight to shared memory, barriers are others, and LLVM is told
// once all is there that nothing else meets the copies.
void amdgpu_find_copies(GpuGen *n);
void amdgpu_copy(Gen *g, const IrOp *op);
void amdgpu_commit(Gen *g);
void amdgpu_wait(Gen *g, const IrOp *op);
void amdgpu_copying_barrier(Gen *g);
void amdgpu_copy_scopes(Gen *g);
// turns.c: before and behind each matrix instruction.
void amdgpu_turn_begins(Gen *g, const IrOp *op);
void amdgpu_turn_ends(Gen *g, const IrOp *op);
// buffer.c
// Bytes of p, which leads from a view's data, behind it; beyond the resource where the mask (NULL:
// there is none) is false.
LLVMValueRef amdgpu_buffer_offset(Gen *g, LLVMValueRef p, LLVMValueRef mask,
                                  LLVMValueRef *resource);
bool amdgpu_can_mask(Gen *g, const IrOp *op, LLVMValueRef p, uint32_t bytes, uint32_t align);
void amdgpu_masked_load(Gen *g, LLVMTypeRef elem, uint32_t bits, uint32_t count, LLVMValueRef p,
                        LLVMValueRef mask, LLVMValueRef const *other, LLVMValueRef *x);
void amdgpu_masked_store(Gen *g, LLVMTypeRef elem, uint32_t bits, uint32_t count, LLVMValueRef p,
                         LLVMValueRef mask, LLVMValueRef const *x);

#endif
