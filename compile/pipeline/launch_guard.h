// Variants by facts: the same kernel, compiled for arguments about which more is known.
//
// Facts (runtime/meta.h): `disjoint`: no array that the kernel writes overlaps another one, except
// for two that are the same: equal address, extents and strides; `contiguous`: the innermost stride
// of every strided view is 1; `stream`: the outputs are large and aligned; on GPUs `narrow`: all
// extents and the index of every element of a view are below 2^31, and the kernel's own grid has 1
// to LIMIT_NARROW_GRID programs along each dimension (a host's own grid may have fewer, not more:
// runtime/launch.c), and `wide`: every array begins, and every row of a view with a named extent
// ends, at 16 bytes; on GPUs with buffer loads `near`: every view ends at most 2^31 bytes after its
// first element; on GPUs with tensor maps `mapped`: hardware takes the views that the code may copy
// by maps, and the device has maps, which the launcher asks it. A fact that holds for all possible
// arguments belongs to variant 0, which has no guard. Each of the others adds a variant, whose
// guard is launch code. Pointers into unknown memory (no buffer) are never disjoint from an array.
// Invariants: each guard implies the guards of the variants before it; requires and grid are the
// same in all. Ownership: the arena.
//
//     launch_add_variants(arena, meta);   // of launch_build_meta: one variant; now up to four
#ifndef TILEC_COMPILE_PIPELINE_LAUNCH_GUARD_H
#define TILEC_COMPILE_PIPELINE_LAUNCH_GUARD_H

#include "runtime/meta.h"

void launch_add_variants(Arena *arena, MetaKernel *meta);
// The same for GPUs: general, narrow, disjoint as well, wide as well; then near or mapped as well.
typedef struct LaunchGpuFacts {
    bool buffers;     // loads take buffers with 32-bit offsets: near
    uint64_t mapped;  // views that may be copied by maps: bit i stands for argument i; 0: no
                      // variant for maps
    bool persistent;  // programs of that variant compute several positions of the grid
} LaunchGpuFacts;
void launch_add_gpu_variants(Arena *arena, MetaKernel *meta, LaunchGpuFacts facts);
// Is it a view that maps can describe, for some extents and strides?
bool launch_can_map(const MetaArg *arg);
// The variant that most launches choose: the one with the most facts, without the one for large
// outputs.
uint32_t launch_likely_variant(const MetaKernel *meta);

#endif
