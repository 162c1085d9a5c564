// Links objects with lld, in process, without leaving a file.
//
// Invariants: one link at a time (lld has globals); the same input gives the same bytes. Ownership:
// the output is in the arena given.
//
//     const char *args[] = {"-m", "elf64_amdgpu", "-shared"};
//     if (!link_in_memory(arena, 3, args, 1, &object, &output, &log)) …
#ifndef TILEC_CODEGEN_COMMON_LINK_H
#define TILEC_CODEGEN_COMMON_LINK_H

#include "codegen/common/target.h"

// `args`: arguments for lld in addition to threads, build id, output and input; at most
// LINK_ARGS_MAX.
enum { LINK_ARGS_MAX = 24 };
bool link_in_memory(Arena *arena, uint32_t count, const char *const *args, uint32_t object_count,
                    const Str *objects, Str *output, TargetLog *log);

#endif
