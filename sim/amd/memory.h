// Shared by loads, stores and atomics.
//
// Invariants: a lane's address is valid if its bit in the mask is set; for buffers `words` says
// which of a lane's words are within the buffer.
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
    bool local;  // a buffer that is the scratch memory of lanes
} AmdLanesTouched;

bool amd_addresses(AmdWave *w, const AmdInstr *i, const AmdAccess *a, uint32_t piece,
                   AmdLanesTouched *t);
bool amd_touch_lanes(AmdWave *w, const AmdInstr *i, const AmdAccess *a,
                     const AmdLanesTouched *lanes, SimAccessKind kind, const uint8_t *data,
                     AmdTouch *t);
// Reports poison in the addresses of the mask's lanes.
void amd_check_address(AmdWave *w, const AmdInstr *i, const AmdAccess *a, uint64_t mask);
AmdRun amd_run_atomic;

#endif
