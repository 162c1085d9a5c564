// AMD machine code to text, by LLVM's disassembler.
//
// Purpose: what the warp machine has of LLVM. Invariants: any bytes are fine; those that are no
// instruction give a line without text. Thread-safe. Ownership: the arena given.
//
//     GpuCode code;
//     if (!codegen_amd_disassemble(NULL, arena, &job, &code)) …   // no such processor
#ifndef TILEC_CODEGEN_AMDGPU_DISASSEMBLE_H
#define TILEC_CODEGEN_AMDGPU_DISASSEMBLE_H

#include "base/gpu_code.h"

GpuDisassemble codegen_amd_disassemble;

#endif
