// How a product is computed: gpu_layout decides it and writes it on the `dot`, as the attributes
// plan, instruction, elems and warps; later passes read it there.
//
// Invariants: every dot of a function of the gpu level has a plan, which no pass changes; a copy of
// the op has the same one. It depends on the op's types, the threads, the machine, and the block
// that the op was in: products that follow one another keep rows with their warps. The layouts
// follow from the plan and the types, and cover the whole operands. With the matrix unit, c is the
// instruction's accumulator, distributed over warps and registers, and a and b are its factors with
// the warps at the same rows and columns. Without it, only c has a layout, and a and b pass through
// shared memory. Parts of the instruction past the end of a shorter tile replicate, but never along
// K.
// Ownership: a value.
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
    Dtype a_elem, b_elem;  // the types that are multiplied: operands are cast to them, which is
                           // exact
    bool exact;            // factors of f32 keep all their bits
    bool split;            // a high and a low part of each, three products
    Dtype sum;             // the type of the sums; the result is cast from it
    uint32_t group;        // without the matrix unit: neighbours along K of one vec.dot2, or 1
    Layout a, b, c;
} GpuDot;

// Decides, and writes the attributes.
void gpu_dot_plan(IrOp *op, const Machine *machine);
// Reads the attributes.
GpuDot gpu_dot_of(const IrOp *op);

// Is the product computed by wgmma? Four warps then execute each instruction; it reads b from
// shared memory, and a from there or from registers.
bool gpu_dot_by_wgmma(const IrOp *op);
// Why a product is not computed by wgmma, which has an instruction for its types; NULL: it has
// none, or nothing is missing.
const char *gpu_wgmma_missing(const IrOp *op, const GpuDot *d, const Machine *machine);
// If the use is a factor of such a product, or a permutation that only products by wgmma use: the
// memory in which the value should be.
bool gpu_factor_memory(const IrUse *use, Layout *memory);
// Does wgmma take factor a from the registers that it is in?
bool gpu_factor_in_registers(const IrOp *op);

#endif
