// The memory of the races observer: cells of 16 bytes, or fewer if accesses are narrower.
//
// Invariants: a cell records its last write; for shared memory also each warp's last read, and
// those of the async proxy apart; for global memory the last reads of two different warps.
// Ownership: the arena given.
//
//     Shadow s = {.shift = SHADOW_SHIFT, .bytes = 4096};
//     shadow_make(arena, &s, true, warps);
#ifndef TILEC_SIM_OBSERVE_SHADOW_H
#define TILEC_SIM_OBSERVE_SHADOW_H

#include "base/arena.h"
#include "sim/machine/observer.h"

enum { SHADOW_SHIFT = 4, SHADOW_READERS = 2 };
#define SHADOW_IN_FLIGHT UINT32_MAX  // the clock of a write in flight: nothing has seen it

typedef enum Strength { WEAK, STRONG_IN_BLOCK, STRONG } Strength;

// `cluster` and `actor`: as in order.h.
typedef struct RaceWrite {
    uint64_t cluster;
    uint32_t clock;  // 0: none
    unsigned actor : 12, lane : 8;
    unsigned strength : 4, kind : 8;  // SimAccessKind
} RaceWrite;
typedef struct ShadowRead {
    uint64_t cluster;
    uint32_t clock;  // 0: none
    uint32_t actor;
} ShadowRead;
// The last warp that read, to check writes of its own lanes.
typedef struct RaceReader {
    uint32_t sync_count;  // value of RaceTouch.sync_count at the read; 0: none
    uint16_t actor;
    uint8_t lane;
} RaceReader;
// A warp's reads by the async proxy.
typedef struct ShadowFlight {
    uint32_t clock;   // at the end of the last one; 0: none has ended
    uint32_t flying;  // reads in flight
} ShadowFlight;

typedef struct Shadow {
    uint64_t base;
    uint32_t shift;  // bytes of a cell: 1 << shift
    uint32_t bytes;
    RaceWrite *writes;
    uint32_t *clocks;       // for shared memory: clock of the last read, by cell and warp
    ShadowFlight *flights;  // the same by the async proxy; NULL: there were none
    RaceReader *own;        // for shared memory
    // For global memory: the last read, and the last of another warp.
    ShadowRead (*readers)[SHADOW_READERS];
} Shadow;

uint32_t shadow_cells(const Shadow *s);
void shadow_make(Arena *arena, Shadow *s, bool shared, uint32_t warps);
void shadow_make_flights(Arena *arena, Shadow *s, uint32_t warps);
void shadow_clear(Shadow *s, uint32_t warps);  // of shared memory
// Splits each cell into several.
void shadow_split(Arena *arena, Shadow *s, uint32_t shift, uint32_t warps);

#endif
