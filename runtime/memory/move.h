// Copies and fills of host memory, for devices that use it.
//
// Invariants: a copy may overlap itself. A fill writes whole patterns (device.h: RtMove).
// Ownership: none.
//
//     rt_move_run(&(RtMove){.kind = RT_MOVE_FILL, .to = p, .size = 64, .pattern = 7, .unit = 4});
#ifndef TILEC_RUNTIME_MEMORY_MOVE_H
#define TILEC_RUNTIME_MEMORY_MOVE_H

#include "runtime/device.h"

void rt_move_run(const RtMove *move);

#endif
