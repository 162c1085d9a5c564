// The packed block of a launch's arguments, for code that is called without the runtime's launch.
//
// The layout is runtime/meta.h's. Invariants: one argument for each parameter, of its kind.
// Ownership: the arena.
//
//     uint32_t size;
//     const unsigned char *block = arg_block(arena, func, args, count, &size);
#ifndef TILEC_TESTS_SUPPORT_ARG_BLOCK_H
#define TILEC_TESTS_SUPPORT_ARG_BLOCK_H

#include "ir/interp/interp.h"
#include "runtime/meta.h"

unsigned char *arg_block(Arena *arena, const IrFunc *func, const IrArg *args, uint32_t count,
                         uint32_t *block_size);

// The parameters as metadata has them, without names and extents.
MetaArg *arg_metas(Arena *arena, const IrFunc *func, uint32_t count, uint32_t *block_size);

#endif
