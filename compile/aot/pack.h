// Packing: the reverse of base/unpack.h.
//
// Invariants: the same bytes give the same packed bytes on each machine; unpack(pack(x)) is x.
// Ownership: the result is in the arena given; memory that liblzma allocates is freed before the
// return.
//
//     Str packed = pack(arena, bytes);
#ifndef TILEC_COMPILE_AOT_PACK_H
#define TILEC_COMPILE_AOT_PACK_H

#include "base/arena.h"
#include "base/str.h"

// Fails only for lack of memory, which it reports through the recovery region.
Str pack(Arena *arena, Str bytes);

#endif
