// Reads PTX text into a program of the warp machine.
//
// Purpose: reads the output of clang, Triton and our own code generator, and refuses everything
// else by name and line.
// Invariants: any text ends in a program or in diagnostics. Nothing is skipped silently except
// debug sections, .pragma and hints without effect here. Every entry of the text is decoded.
// Ownership: program and texts are in the arena.
//
//     const SimProgram *p = ptx_read(arena, source_add(sources, path, text), diags);
//     if (!p) …                                    // diags says what and where
#ifndef TILEC_SIM_PTX_PTX_H
#define TILEC_SIM_PTX_PTX_H

#include "base/diag.h"
#include "sim/machine/program.h"

const SimProgram *ptx_read(Arena *arena, const SourceFile *file, Diags *diags);

#endif
