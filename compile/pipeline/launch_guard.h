// Variants by facts: the same kernel, compiled for arguments about which more is known.
//
// Facts (runtime/meta.h): `disjoint`: no array that the kernel writes overlaps another one, except
// for two that are the same: equal address, extents and strides; `contiguous`: the innermost stride
// of every strided view is 1; `stream`: the outputs are large and aligned; on GPUs `narrow`: all
// extents and the index of every element of a view are below 2^31, and the kernel's own grid has 1
// to LIMIT_NARROW_GRID programs along each dimension (a host's own grid may have fewer, not more:
// runtime/launch.c), and `wide`: every array begins, and every row of a view with a named extent
// ends, at 16 bytes; on GPUs with buffer loads `near`: every view ends at most 2^31 bytes after its
// first element. A fact that holds for all possible arguments belongs to variant 0, which has no
// guard. Each of the others adds a variant, whose guard is launch code. Pointers into unknown
// memory (no buffer) are never disjoint from an array. Invariants: each guard implies the guards of
// the variants before it; requires and grid are the same in all. Ownership: the arena.
//
//     launch_add_variants(arena, meta);   // of launch_build_meta: one variant; now up to four
#ifndef TILEC_COMPILE_PIPELINE_LAUNCH_GUARD_H
#define TILEC_COMPILE_PIPELINE_LAUNCH_GUARD_H

#include "runtime/meta.h"

void launch_add_variants(Arena *arena, MetaKernel *meta);
// The same for GPUs: general, narrow, disjoint as well, wide as well, and with `buffers` near as
// well.
void launch_add_gpu_variants(Arena *arena, MetaKernel *meta, bool buffers);
// The variant that most launches choose: the one with the most facts, without the one for large
// outputs.
uint32_t launch_likeliest(const MetaKernel *meta);

#endif
