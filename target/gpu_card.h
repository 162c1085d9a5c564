// Cards by their product names, and the target of each.
//
// Users know which card they have, but not its architecture. Messages and `tilec devices --targets`
// map the one to the other.
// Invariants: every target here is one that gpu_target_parse knows; no name occurs twice. The table
// is not complete, and no code that runs kernels uses it: drivers report the architecture.
//
//     const char *target = gpu_card_target(STR("h100"));   // "sm_90a"
#ifndef TILEC_TARGET_GPU_CARD_H
#define TILEC_TARGET_GPU_CARD_H

#include "base/str.h"

// Arrays, not pointers: a program that links the table needs no relocations for it.
typedef struct GpuCard {
    char name[20], target[8];
} GpuCard;

// NULL beyond the last. Older architectures of a vendor come first.
const GpuCard *gpu_card_at(size_t index);
// Ignores case, blanks and dashes; NULL: unknown. The maker may stand before the name and the
// memory size after it, as drivers report it.
const char *gpu_card_target(Str name);

#endif
