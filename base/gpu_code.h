// Machine code of a GPU as text, one instruction a line. The disassembler of libtilec_llvm produces
// it and the warp machine reads it.
//
// Invariants: offsets ascend, and each line is one whole instruction; bytes between lines are
// padding. Texts are LLVM's: "v_add_f32_e32 v0, s1, v2".
// Ownership: the arena given to the function.
//
//     GpuCode code;
//     if (!d.run(d.user, arena, &(GpuCodeJob){bytes, STR("gfx942"), 0, 64}, &code)) …
#ifndef TILEC_BASE_GPU_CODE_H
#define TILEC_BASE_GPU_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct GpuCodeLine {
    uint32_t offset, size;  // bytes, from the beginning of the code
    Str text;               // empty: these bytes are not an instruction
} GpuCodeLine;

typedef struct GpuCode {
    const GpuCodeLine *lines;
    uint32_t count;
} GpuCode;

typedef struct GpuCodeJob {
    Str bytes;
    Str processor;   // "gfx942"
    uint64_t begin;  // address of the first byte
    uint32_t lanes;  // lanes of a wave: 32 or 64
} GpuCodeJob;

// False: the processor does not exist.
typedef bool GpuDisassemble(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code);
typedef struct GpuDisassembler {
    GpuDisassemble *run;  // NULL: no disassembler
    void *user;
} GpuDisassembler;

#endif
