// Variants by facts: the same kernel, compiled for arguments of which more is known.
//
// Facts (runtime/meta.h): `disjoint`: no array that the kernel writes overlaps another one, but
// for two that are the same: equal address, extents and strides; `contiguous`: the innermost
// stride of every strided view is 1; `stream`: what is written is large and aligned; of GPUs
// `narrow`: all extents and the number of every element of a view are below 2^31, and the kernel's
// own grid has 1 to LIMIT_NARROW_GRID programs along each dimension (a host's own grid may have
// fewer, not more: runtime/launch.c), and `wide`: every array begins, and every row of a view with
// a named extent ends, at 16 bytes; of GPUs with buffer loads `near`: every view ends at most 2^31
// bytes behind its first element. A fact that holds for all arguments there can be is one of
// variant 0, which has no guard; each of the others adds a variant, whose guard is launch code.
// Pointers into unknown memory (no buffer) are disjoint from nothing. Invariants: guards imply
// those of the variants before them; requires and grid are the same in all. Ownership: the arena.
//
//     launch_add_variants(arena, meta);   // of launch_build_meta: one variant; now up to four
#ifndef TILEC_COMPILE_PIPELINE_LAUNCH_GUARD_H
#define TILEC_COMPILE_PIPELINE_LAUNCH_GUARD_H

#include "runtime/meta.h"

void launch_add_variants(Arena *arena, MetaKernel *meta);
// The same for GPUs: the general one, narrow, disjoint as well, wide as well, and with `buffers`
// near as well.
void launch_add_gpu_variants(Arena *arena, MetaKernel *meta, bool buffers);
// The variant that most launches choose: of the most facts, but for that of large outputs.
uint32_t launch_likeliest(const MetaKernel *meta);

#endif
