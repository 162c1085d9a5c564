// The translation for AMD's GPUs, beyond what all GPUs share.
//
// Invariants: amdgpu_check has passed. Ownership: as in codegen/gpu/gen.h.
//
//     GpuGen n = {.ops = &amdgpu_ops, .machine = machine};
//     gen_begin(&n.g, scratch, &amdgpu_gen_target, func);
#ifndef TILEC_CODEGEN_AMDGPU_GEN_H
#define TILEC_CODEGEN_AMDGPU_GEN_H

#include "codegen/gpu/gen.h"

extern const GenTarget amdgpu_gen_target;  // gen.c
extern const GpuOps amdgpu_ops;

void amdgpu_function(GpuGen *n, const char *entry);  // function.c
LLVMValueRef amdgpu_thread_id(Gen *g);
void amdgpu_places(Gen *g);
LLVMValueRef amdgpu_shared_memory(Gen *g);
LLVMValueRef amdgpu_shuffle(Gen *g, LLVMValueRef word, LLVMValueRef lane, uint32_t by);  // wave.c
void amdgpu_barrier(Gen *g, bool global);
void amdgpu_mma(Gen *g, const IrOp *op);  // mma.c

#endif
