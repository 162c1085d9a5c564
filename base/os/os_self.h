// Self: the paths of the program and of the library that this code is in.
//
// Invariants: empty texts where the system does not say. Ownership: the arena given.
//
//     Str folder = os_self_library(arena);   // "/usr/lib/libtilec.so.0", or the program's path
#ifndef TILEC_BASE_OS_OS_SELF_H
#define TILEC_BASE_OS_OS_SELF_H

#include "base/os/os.h"

Str os_self_program(Arena *arena);
// The file that holds this code: a shared library, or the program.
Str os_self_library(Arena *arena);

#endif
