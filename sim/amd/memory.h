// What loads, stores and atomics share.
//
// Invariants: a lane's address counts where the mask has it; of a buffer's lanes `words` says which
// words lie within it.
//
//     AmdLanesTouched lanes;
//     if (!amd_addresses(w, i, a, 0, &lanes)) return;   // a fault
//     if (!amd_touch_lanes(w, i, a, &lanes, SIM_ACCESS_LOAD, NULL, &touch)) return;
#ifndef TILEC_SIM_AMD_MEMORY_H
#define TILEC_SIM_AMD_MEMORY_H

#include "sim/amd/wave.h"

typedef struct AmdLanesTouched {
    uint64_t mask, address[AMD_LANES];
    uint16_t words[AMD_LANES];
    bool local;  // a buffer that is the lanes' scratch
} AmdLanesTouched;

bool amd_addresses(AmdWave *w, const AmdInstr *i, const AmdAccess *a, uint32_t piece,
                   AmdLanesTouched *t);
bool amd_touch_lanes(AmdWave *w, const AmdInstr *i, const AmdAccess *a,
                     const AmdLanesTouched *lanes, SimAccessKind kind, const uint8_t *data,
                     AmdTouch *t);
// Tells of poison in the address of lanes of the mask.
void amd_check_address(AmdWave *w, const AmdInstr *i, const AmdAccess *a, uint64_t mask);
AmdRun amd_run_atomic;

#endif
