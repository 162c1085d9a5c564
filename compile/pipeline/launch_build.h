// From the `requires` and `grid` sections of a kernel to launch code and metadata.
//
// Invariants: a section is straight-line except for `if`, which becomes a select (sections have no
// effects). Anything that launch code cannot express (loops, tiles, functions such as exp) is an
// error with its place. Ownership: the arena given.
#ifndef TILEC_COMPILE_PIPELINE_LAUNCH_BUILD_H
#define TILEC_COMPILE_PIPELINE_LAUNCH_BUILD_H

#include "base/diag.h"
#include "ir/ir.h"
#include "runtime/meta.h"

// Returns NULL after reporting what cannot be expressed.
MetaKernel *launch_build_meta(Arena *arena, const IrFunc *kernel, Diags *diags);

#endif
