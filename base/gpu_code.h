// Machine code of a GPU as text, one line an instruction: what the disassembler of libtilec_llvm
// makes and the warp machine reads.
//
// Invariants: lines ascend and are whole instructions; bytes between them are padding. Texts are
// LLVM's: "v_add_f32_e32 v0, s1, v2". Ownership: the arena given to the function.
//
//     GpuCode code;
//     if (!d.run(d.user, arena, &(GpuCodeJob){bytes, STR("gfx942"), 0, 64}, &code)) …
#ifndef TILEC_BASE_GPU_CODE_H
#define TILEC_BASE_GPU_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct GpuCodeLine {
    uint32_t offset, size;  // bytes, from the first of the code
    Str text;               // empty: these bytes are no instruction
} GpuCodeLine;

typedef struct GpuCode {
    const GpuCodeLine *lines;
    uint32_t count;
} GpuCode;

typedef struct GpuCodeJob {
    Str bytes;
    Str processor;   // "gfx942"
    uint64_t begin;  // address of the first byte
    uint32_t lanes;  // of a wave: 32 or 64
} GpuCodeJob;

// False: there is no such processor.
typedef bool GpuDisassemble(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code);
typedef struct GpuDisassembler {
    GpuDisassemble *run;  // NULL: there is none
    void *user;
} GpuDisassembler;

#endif
