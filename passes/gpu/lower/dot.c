// Products: operands are moved to the layouts of the plan, and the result to its own layout.
#include "passes/gpu/lower/dot.h"

void threads_dot(Threads *t, const IrOp *op) {
    GpuDot d = gpu_dot_of(op);
    gpu_dot_remarks(t->remarks, op, &d, t->machine);
    const Layout *l = op->results[0].type->layout;
    Dtype result = op->results[0].type->elem;
    IrValue *acc = threads_operand(t, op, 2);
    if (acc) acc = threads_move(t, acc, l, &d.c);
    if (acc && result != d.sum) acc = ir_cast(&t->b, acc, d.sum, false);
    IrValue *r = gpu_dot_by_wgmma(op) ? threads_dot_wgmma(t, op, &d, acc)
                 : d.matrix           ? threads_dot_matrix(t, op, &d, acc)
                                      : threads_dot_plain(t, op, &d, acc);
    if (result != d.sum) r = ir_cast(&t->b, r, result, false);
    threads_define(t, op, 0, threads_move(t, r, &d.c, l));
}
