// PTX text to a program of the warp machine.
//
// Purpose: reads what clang, Triton and our own code generator write, and refuses the rest by name
// and line. Invariants: any text, however bad, ends in a program or in diagnostics; nothing is
// skipped silently but debug sections, .pragma and hints without effect here. Every entry of the
// text is decoded. Ownership: program and texts live in the arena.
//
//     const SimProgram *p = ptx_read(arena, source_add(sources, path, text), diags);
//     if (!p) …                                    // diags says what and where
#ifndef TILEC_SIM_PTX_PTX_H
#define TILEC_SIM_PTX_PTX_H

#include "base/diag.h"
#include "sim/machine/program.h"

const SimProgram *ptx_read(Arena *arena, const SourceFile *file, Diags *diags);

#endif
