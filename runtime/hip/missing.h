// Why HIP finds no device, and what helps: from what the system shows of its GPUs.
//
// Invariants: looking opens no device and changes nothing; an override is named only for a
// processor whose code one that ROCm is tested on runs. Ownership: the caller's, plain structs.
//
//     const HipPlaces places = {"/dev/kfd", "/dev/dri", "/sys/class/kfd/kfd/topology/nodes"};
//     HipSystem s = hip_look(&places);
//     hip_missing_text(&s, &text);    // "there is no /dev/kfd: …"
#ifndef TILEC_RUNTIME_HIP_MISSING_H
#define TILEC_RUNTIME_HIP_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { HIP_CARDS = 16 };

typedef enum HipNode { HIP_NODE_ABSENT, HIP_NODE_DENIED, HIP_NODE_FINE } HipNode;
typedef struct HipPlaces {
    const char *node, *renders, *topology;
} HipPlaces;
typedef struct HipCard {
    uint32_t processor;  // as GpuTarget has it: 0x1103
    uint32_t minor;      // of its node in `renders`: 128; 0: not said
    HipNode render;
} HipCard;
typedef struct HipSystem {
    HipNode node;              // the door to the kernel's driver
    HipCard cards[HIP_CARDS];  // GPUs that the driver has
    uint32_t count;
} HipSystem;

HipSystem hip_look(const HipPlaces *places);
void hip_missing_text(const HipSystem *system, StrBuf *out);

// What HSA_OVERRIDE_GFX_VERSION may be for a processor, and which one it then is; NULL: nothing.
const char *hip_override(uint32_t number, uint32_t *becomes);

#endif
