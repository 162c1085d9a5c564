// Limits of a launch: the compiler's proofs rest on them, and the runtime enforces them.
//
// Invariants: a launch with a longer grid or a longer extent is refused. So indices built from
// program ids and extents by small factors do not wrap in 64 bits (ir/analysis/analysis.h). In
// practice no memory is that large, and a grid of that size would never finish.
//
//     if (n > LIMIT_GRID) return refuse(…);
#ifndef TILEC_BASE_LIMITS_H
#define TILEC_BASE_LIMITS_H

#include <stdint.h>

#define LIMIT_GRID INT64_C(0x7fffffff)  // programs along one dimension of a grid: 2^31 - 1
// The limit where numbers have 32 bits: tiles of up to 256 elements begin below 2^31.
#define LIMIT_NARROW_GRID (INT64_C(1) << 23)
#define LIMIT_EXTENT (INT64_C(1) << 56)  // elements of a view along one dimension

#endif
