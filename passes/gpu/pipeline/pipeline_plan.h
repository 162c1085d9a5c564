// The two halves of gpu_pipeline: what is done early (pipeline_plan.c), and doing it (pipeline.c).
//
// Invariants: a plan holds as long as its loop is not changed; feeds are in the order of their
// loads. Ownership: the scratch arena.
//
//     PipelinePlan plan = pipeline_plan(f, context, &facts, loop);
//     if (plan.feeds.count) …
#ifndef TILEC_PASSES_GPU_PIPELINE_PIPELINE_PLAN_H
#define TILEC_PASSES_GPU_PIPELINE_PIPELINE_PLAN_H

#include "passes/gpu/gpu.h"

typedef struct PipelineFeed {
    IrOp *load;
    bool copied;    // else kept in registers
    Layout memory;  // of its places
    Layout spread;  // of the load that is copied there
    bool *needed;   // by op id: it, and what its address, mask and pad need of the loop
} PipelineFeed;

typedef struct PipelinePlan {
    IrOp *loop;
    uint32_t stages;  // of copies: steps between a load and its use, and one
    VEC(PipelineFeed) feeds;
    VEC(uint32_t) ahead;  // carried values that feeds need: arguments of the body
    bool *advances;       // by op id: what they become from step to step
} PipelinePlan;

PipelinePlan pipeline_plan(IrFunc *f, const PassContext *context, const GpuFacts *facts,
                           IrOp *loop);
// A use of a load: the layout in which it is wanted, where the user is a product, a permutation
// that only products use, or a conversion. False: as it is loaded.
bool pipeline_use(const IrUse *use, Layout *wanted);

// Registers of 32 bits that a thread has of such a tile.
uint32_t pipeline_words(const IrType *type);
// All places of a body in shared memory.
uint64_t pipeline_place_bytes(const IrBlock *body);

#endif
