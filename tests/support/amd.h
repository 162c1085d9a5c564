// Kernels of AMD code on the warp machine, for tests: from instructions written as LLVM writes
// them, without LLVM.
//
// The text has one instruction a line, of four bytes each (so branches count lines, from the next
// one on); a code object is made around it and read by amd_read with a disassembler that gives the
// text back. The kernel is named "k" and has 8-byte arguments. Everything else is as in warp.h.
//
//     Warp w;
//     amd_open(&w, &(AmdSource){"gfx942", "v_mov_b32_e32 v1, 0\ns_endpgm", .args = 1});
//     warp_run_ok(&w, "k", 1, 64, 0, args, 1);
#ifndef TILEC_TESTS_SUPPORT_AMD_H
#define TILEC_TESTS_SUPPORT_AMD_H

#include "tests/support/amd_object.h"
#include "tests/support/warp.h"

void amd_open(Warp *w, const AmdSource *source);
// A whole code object, with the caller's disassembler.
void amd_open_object(Warp *w, Str bytes, GpuDisassemble *disassemble);
// The message on reading it, which must fail.
Str amd_refused(Arena *arena, const AmdSource *source);

// A kernel around a body: v0 is the thread, v[10:11] the address of its 16 bytes of the buffer that
// is argument 0, and v[12:15] what the buffer held; v[16:19] is stored there at the end. s[20:21]
// is argument 0, s[22:23] argument 1.
const char *amd_kernel(Arena *arena, const char *processor, const char *body);

#endif
