// Libraries compiled ahead of time: makes the object with a library's functions and data, and links
// objects to a shared library.
//
// Invariants: functions take arguments as C compilers pass them on the architecture (System V's
// x86-64, AArch64's AAPCS); the object is position independent and fits in every kind of program;
// the same input gives the same bytes. Ownership: outputs are in the arena given.
//
//     if (!codegen_cpu_library(arena, &library, &object, diags)) …
//     if (!codegen_cpu_link_shared(arena, &shared_library, &shared, diags)) …
#ifndef TILEC_CODEGEN_CPU_LIBRARY_H
#define TILEC_CODEGEN_CPU_LIBRARY_H

#include "codegen/codegen.h"

bool codegen_cpu_library(Arena *arena, const CodegenLibrary *library, Str *object, Diags *diags);
// In shared.c. The runtime itself is not needed: undefined symbols that begin with "tilec_" are
// assumed to be in it, and all others are refused.
bool codegen_cpu_link_shared(Arena *arena, const CodegenSharedLibrary *library, Str *shared,
                             Diags *diags);

#endif
