// Objects through lld, in process, without a file that stays.
//
// Invariants: one link at a time (lld has globals); the same input gives the same bytes. Ownership:
// the output is in the arena given.
//
//     const char *args[] = {"-m", "elf64_amdgpu", "-shared"};
//     if (!link_in_memory(arena, 3, args, 1, &object, &output, &log)) …
#ifndef TILEC_CODEGEN_COMMON_LINK_H
#define TILEC_CODEGEN_COMMON_LINK_H

#include "codegen/common/target.h"

// `args`: of lld beyond threads, build id, output and input. At most LINK_ARGS_MAX of them.
enum { LINK_ARGS_MAX = 24 };
bool link_in_memory(Arena *arena, uint32_t count, const char *const *args, uint32_t object_count,
                    const Str *objects, Str *output, TargetLog *log);

#endif
