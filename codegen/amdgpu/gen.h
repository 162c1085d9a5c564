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
// schedule.c: sets LLVM's scheduling options; reads the facts that it reports about the code.
void amdgpu_schedule(Gen *g);
void amdgpu_facts(const Module *m, Str code, CodegenFacts *facts);
// signed_zeros.c: rewrites code that would lose the sign of zero in instruction selection.
void amdgpu_keep_signed_zeros(Module *m);
void amdgpu_divide(Module *m);  // quotients.c: f64, correct for subnormals
// wide_rows.c: keeps 64-bit instructions from reading another lane's value directly (DPP).
void amdgpu_keep_rows_narrow(Module *m);
LLVMValueRef amdgpu_thread_id(Gen *g);
void amdgpu_program_ids(Gen *g);
LLVMValueRef amdgpu_shared_memory(Gen *g);
LLVMValueRef amdgpu_exchange_words(Gen *g);  // in shared memory, one for each thread
LLVMValueRef amdgpu_shuffle(Gen *g, LLVMValueRef word, LLVMValueRef lane,
                            uint32_t by);  // shuffle.c
void amdgpu_barrier(Gen *g, bool global);
// Waits until at most this many accesses of global memory (from gfx10 on: loads) and of shared
// memory are in flight; AMDGPU_ANY: no wait for that kind.
enum { AMDGPU_ANY = 63 };
void amdgpu_wait_until(Gen *g, uint32_t global, uint32_t shared);
void amdgpu_release(Gen *g);              // releases memory to this program's threads
void amdgpu_wait_at_latches(Gen *g);      // latch.c: after the whole function is built
void amdgpu_mma(Gen *g, const IrOp *op);  // mma.c
void amdgpu_dot(Gen *g, const IrOp *op);
// copy.c: functions with direct-to-LDS copies have other barriers. After the function is built,
// alias scopes say that no other access overlaps the copies.
void amdgpu_find_copies(GpuGen *n);
void amdgpu_copy(Gen *g, const IrOp *op);
void amdgpu_commit(Gen *g);
void amdgpu_wait(Gen *g, const IrOp *op);
void amdgpu_copying_barrier(Gen *g);
void amdgpu_copy_scopes(Gen *g);
// ping_pong.c: before and after each matrix instruction.
void amdgpu_phase_begins(Gen *g, const IrOp *op);
void amdgpu_phase_ends(Gen *g, const IrOp *op);
// buffer.c The offset of p from the data of its view, in bytes; outside of the resource where the
// mask is false. NULL: no mask.
LLVMValueRef amdgpu_buffer_offset(Gen *g, LLVMValueRef p, LLVMValueRef mask,
                                  LLVMValueRef *resource);
bool amdgpu_can_mask(Gen *g, const IrOp *op, LLVMValueRef p, uint32_t bytes, uint32_t align);
void amdgpu_masked_load(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                        LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *other,
                        LLVMValueRef *x);
void amdgpu_masked_store(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                         LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *x);

#endif
