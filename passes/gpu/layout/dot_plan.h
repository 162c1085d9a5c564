// How a product is computed: what gpu_layout and gpu_threads agree on.
//
// Invariants: the plan follows from the op's types, the threads and the machine alone, so that both
// passes find the same; layouts are of the whole operands. By the matrix unit: c is the
// instruction's accumulator, spread over warps and registers, a and b its factors with the warps at
// the same rows and columns. Else: c alone, and a and b pass through shared memory. What lies past
// the end of a tile shorter than the instruction replicates, but never along K. Ownership: a value.
//
//     GpuDot d = gpu_dot_plan(op, gpu_team(f), machine);
//     if (d.matrix) … d.product.m
#ifndef TILEC_PASSES_GPU_LAYOUT_DOT_PLAN_H
#define TILEC_PASSES_GPU_LAYOUT_DOT_PLAN_H

#include "passes/gpu/gpu.h"

typedef struct GpuDot {
    bool matrix;
    MatrixShape product;
    Dtype a_elem, b_elem;  // what is multiplied: operands are cast to it, which is exact
    bool exact;            // factors of f32 keep all their bits
    bool split;            // a high and a low part of each, three products
    Dtype sum;             // what adds up; the result is cast from it
    uint32_t group;        // not by the matrix unit: neighbours along K of one vec.dot2, or 1
    Layout a, b, c;
} GpuDot;

GpuDot gpu_dot_plan(const IrOp *op, GpuTeam team, const Machine *machine);

#endif
