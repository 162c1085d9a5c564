// The interface between the two halves of gpu_pipeline: the plan (pipeline_plan.c), and its
// execution (pipeline.c).
//
// Invariants: a plan is valid until its loop is changed; feeds are in the order of their loads.
// Ownership: the scratch arena.
//
//     PipelinePlan plan = pipeline_plan(f, context, &facts, loop);
//     if (plan.feeds.count) …
#ifndef TILEC_PASSES_GPU_PIPELINE_PIPELINE_PLAN_H
#define TILEC_PASSES_GPU_PIPELINE_PIPELINE_PLAN_H

#include "passes/gpu/gpu.h"

typedef struct PipelineFeed {
    IrOp *load;
    bool copied;         // else kept in registers
    uint32_t map;        // of a plan by maps: the function's map that copies it
    bool changed;        // of a loop of products: it becomes a factor only after other ops
    bool needs_map;      // threads cannot copy it, for a reason
    Reason without;      // that reason
    Layout memory;       // of its slots
    Layout load_layout;  // of the load that is copied there
    bool *needed;  // by op id: the load, and the ops of the loop that its address, mask and pad
                   // need
} PipelineFeed;

typedef struct PipelinePlan {
    IrOp *loop;
    uint32_t stages;    // of copies: slots of a ring
    uint32_t distance;  // of copies: steps between a load and its use
    bool by_map;        // all copies are made by tensor maps
    int producers;      // additional warps, of which one begins these copies; 0: none
    IrOp *tiles;        // of copies by maps: the loop over the program's tiles around this one, if
                        // the first copies of a tile are made during the tile before; else NULL
    bool *around;       // by op id: the ops of that loop that the copies need
    VEC(PipelineFeed) feeds;
    VEC(uint32_t) ahead;  // carried values that feeds need: arguments of the body
    bool *advances;       // by op id: the ops that compute their values for the next step
    IrOp *ahead_dot;      // a product that may still run in the next step; NULL: there is none. It
                          // keeps its slot for one step more
} PipelinePlan;

PipelinePlan pipeline_plan(IrFunc *f, const PassContext *context, const GpuFacts *facts,
                           IrOp *loop);
// The layout in which a use of a load needs it, if the user is a product, a permutation that only
// products use, or a conversion. False: the layout of the load.
bool pipeline_use(const IrUse *use, Layout *wanted);

// producers.c: the number of additional warps, of which one begins the loop's copies; 0: none.
int pipeline_producers(const IrFunc *f, const GpuFacts *facts, const PipelinePlan *plan,
                       Arena *scratch);

// The bytes that are copied for a step.
uint64_t pipeline_step_bytes(const PipelinePlan *plan);
// Registers of 32 bits that a thread needs for such a tile.
uint32_t pipeline_registers(const IrType *type);
// The bytes of all shared memory of a body.
uint64_t pipeline_place_bytes(const IrBlock *body);

#endif
