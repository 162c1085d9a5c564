// Explains from system files why HIP finds no device, and what helps.
//
// Invariants: it opens no device and changes nothing. An override is named only if the processor
// runs the code of a processor that ROCm supports.
// Ownership: the caller's, plain structs.
//
//     const HipPlaces places = {"/dev/kfd", "/dev/dri", "/sys/class/kfd/kfd/topology/nodes"};
//     HipSystem s = hip_probe(&places);
//     hip_missing_text(&s, &text);    // "there is no /dev/kfd: …"
#ifndef TILEC_RUNTIME_HIP_MISSING_H
#define TILEC_RUNTIME_HIP_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { HIP_CARDS = 16 };

typedef enum HipNode { HIP_NODE_ABSENT, HIP_NODE_DENIED, HIP_NODE_OK } HipNode;
typedef struct HipPlaces {
    const char *node, *renders, *topology;
} HipPlaces;
typedef struct HipCard {
    uint32_t processor;  // the same as in GpuTarget: 0x1103
    uint32_t minor;      // minor number of its node in `renders`: 128; 0: unknown
    HipNode render;
} HipCard;
typedef struct HipSystem {
    HipNode node;              // /dev/kfd, the device file of the kernel driver
    HipCard cards[HIP_CARDS];  // GPUs that the driver knows
    uint32_t count;
} HipSystem;

HipSystem hip_probe(const HipPlaces *places);
void hip_missing_text(const HipSystem *system, StrBuf *out);

// The value of HSA_OVERRIDE_GFX_VERSION for a processor, and the processor it stands for; NULL:
// none.
const char *hip_override(uint32_t number, uint32_t *becomes);

#endif
