// How a product is computed: gpu_layout decides it and writes it on the `dot`, as the attributes
// plan, instruction, elems and warps; what comes after reads it there.
//
// Invariants: every dot of a function of the gpu level has a plan, which no pass changes; a copy of
// the op has the same. It is found from the op's types, the threads, the machine, and the block
// that the op was in: products that follow one another keep rows with their warps. The layouts
// follow from the plan and the types, and are of the whole operands. By the matrix unit: c is the
// instruction's accumulator, spread over warps and registers, a and b its factors with the warps at
// the same rows and columns. Else: c alone, and a and b pass through shared memory. What lies past
// the end of a tile shorter than the instruction replicates, but never along K. Ownership: a value.
//
//     gpu_dot_plan(op, machine);     // gpu_layout, once
//     GpuDot d = gpu_dot_of(op);     // from then on
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

// Decides, and writes the attributes.
void gpu_dot_plan(IrOp *op, const Machine *machine);
// Reads them.
GpuDot gpu_dot_of(const IrOp *op);

#endif
