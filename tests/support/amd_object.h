// Code objects around instructions that are text, one a line, of four bytes each: an ELF file that
// amd_read takes, and a disassembler that gives the text back. Nothing of LLVM's, nothing of
// cmocka's.
//
// Invariants: the text has ROOM / 8 lines at most. Ownership: the arena; the text must outlive the
// reading.
//
//     AmdSource s = {"gfx942", "v_mov_b32_e32 v1, 0\ns_endpgm", .args = 1};
//     GpuDisassembler d = {amd_object_disassemble, NULL};
//     amd_read(arena, amd_object_bytes(arena, &s), d, diags);
#ifndef TILEC_TESTS_SUPPORT_AMD_OBJECT_H
#define TILEC_TESTS_SUPPORT_AMD_OBJECT_H

#include "base/gpu_code.h"

typedef struct AmdSource {
    const char *processor, *text;
    uint32_t args;
    uint32_t lds, scratch;
    uint32_t lanes;  // 0: 64 up to gfx950, then 32
} AmdSource;

// The bytes of the code object, and the disassembler that knows the text of the last ones made.
Str amd_object_bytes(Arena *arena, const AmdSource *source);
GpuDisassemble amd_object_disassemble;

#endif
