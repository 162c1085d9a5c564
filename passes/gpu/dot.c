// Products.
#include "passes/gpu/threads.h"

Layout gpu_dot_layout(const IrOp *op, uint32_t warps) {
    const IrType *type = op->results[0].type;
    return gpu_blocked(type, warps, ir_elem_size(type));
}

void gpu_fit_dot(IrOp *op, uint32_t warps,
                 void (*convert)(IrOp *op, uint32_t operand, const Layout *wanted)) {
    (void)op, (void)warps, (void)convert;
}

void threads_dot(Threads *t, const IrOp *op) { threads_unsupported(t, op, "products"); }
