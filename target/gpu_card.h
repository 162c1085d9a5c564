// Cards by the names under which they are sold, and the target of each.
//
// People know what card they have, not its architecture: messages and `tilec devices --targets`
// tell the one from the other. Invariants: a target here is one that gpu_target_parse knows; no
// name is there twice. Not complete, and not asked by anything that runs code: drivers tell that.
//
//     const char *target = gpu_card_target(STR("h100"));   // "sm_90a"
#ifndef TILEC_TARGET_GPU_CARD_H
#define TILEC_TARGET_GPU_CARD_H

#include "base/str.h"

// Texts, not pointers: a program that links the table needs no relocations for it.
typedef struct GpuCard {
    char name[20], target[8];
} GpuCard;

// NULL behind the last. Of a vendor's the older architectures first.
const GpuCard *gpu_card_at(size_t index);
// Whatever its letters' case, blanks and dashes; NULL: it is not known.
const char *gpu_card_target(Str name);
// The same of a name as drivers write it, with the maker before it and the memory behind it. For
// the command alone: the runtime is to stay small.
const char *gpu_card_told(Str name);

#endif
