// Packing: the other side of base/unpack.h.
//
// Invariants: the same bytes give the same packed bytes, whatever the machine; unpack(pack(x)) is
// x. Ownership: the result is in the arena given; what liblzma allocates is gone on return.
//
//     Str packed = pack(arena, bytes);
#ifndef TILEC_COMPILE_AOT_PACK_H
#define TILEC_COMPILE_AOT_PACK_H

#include "base/arena.h"
#include "base/str.h"

// Never fails but by memory, which is told to the region of recovery.
Str pack(Arena *arena, Str bytes);

#endif
