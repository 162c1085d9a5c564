// Banks of shared memory, and which lanes of a warp it serves at once.
//
// Invariants: constant. An access of a warp is divided into phases: one phase is all xors of
// `lanes`, and the others are its cosets.
//
//     const SharedBanks *b = chip_find(target)->banks;
//     b->load[2].count;   // log2 of the lanes that one phase of a 16-byte load serves
#ifndef TILEC_TARGET_BANKS_H
#define TILEC_TARGET_BANKS_H

#include <stdint.h>

typedef struct SharedPhase {
    uint8_t count;
    uint8_t lanes[6];
} SharedPhase;

typedef struct SharedBanks {
    uint32_t banks;       // each 4 bytes wide
    SharedPhase load[3];  // indexed by the bytes of a lane's access: up to 4, 8, 16
    SharedPhase store[3];
} SharedBanks;

extern const SharedBanks banks_nvidia;  // 32 lanes: whole, half and quarter warps
extern const SharedBanks banks_gfx9;    // 64 lanes, 32 banks: gfx90a, gfx942
extern const SharedBanks banks_gfx950;  // 64 lanes, 64 banks
extern const SharedBanks banks_rdna;    // 32 lanes

#endif
