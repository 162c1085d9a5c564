// AMD machine code to text, by LLVM's disassembler.
//
// Purpose: the only part of LLVM that the warp machine uses. Invariants: any bytes are fine; bytes
// that are not an instruction give a line without text. Thread-safe. Ownership: the arena given.
//
//     GpuCode code;
//     if (!codegen_amd_disassemble(NULL, arena, &job, &code)) …   // no such processor
#ifndef TILEC_CODEGEN_AMDGPU_DISASSEMBLE_H
#define TILEC_CODEGEN_AMDGPU_DISASSEMBLE_H

#include "base/gpu_code.h"

GpuDisassemble codegen_amd_disassemble;

#endif
