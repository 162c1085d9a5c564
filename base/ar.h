// Static libraries: the `ar` format of System V and GNU, with the index that linkers want.
//
// Invariants: the same members give the same bytes: no times, owners or modes but 0644; an index of
// 32-bit offsets (a library of 4 GiB or more is refused); long names in the GNU table. Names are
// those of files, without a folder. Ownership: the result is in the arena given.
//
//     ArMember members[] = {{STR("softmax.o"), object, 1, &symbol}};
//     if (!ar_write(arena, members, 1, &library)) …   // too large
#ifndef TILEC_BASE_AR_H
#define TILEC_BASE_AR_H

#include "base/arena.h"
#include "base/str.h"

typedef struct ArMember {
    Str name;
    Str bytes;
    uint32_t symbol_count;
    const Str *symbols;  // that it defines for others
} ArMember;

bool ar_write(Arena *arena, const ArMember *members, uint32_t count, Str *out);

#endif
