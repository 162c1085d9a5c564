// Converts one layout to another, by the cheapest method: renaming of registers, shuffles within
// warps, or a trip through shared memory.
#include "passes/gpu/lower/threads.h"

static IrValue *through_shared(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    ThreadsTrip *trip = threads_trip(t, x, from, to);
    threads_barrier(t);
    remark(t->remarks, t->b.span, REASON_CONVERT_SHARED, NULL,
           REMARK((int64_t)layout_elements(to) * ir_elem_size(x->type)));
    IrValue *r = threads_trip_load_all(t, trip);
    threads_barrier(t);
    return r;
}

// ---- all ----------------------------------------------------------------------------------------

IrValue *threads_move(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    const IrType *own = x->type;
    GpuConversion how =
        gpu_conversion(from, to, dtype_bits(gpu_moved_elem(own)), t->machine->banks);
    if (how.way == GPU_WAY_NONE) return x;
    if (how.way == GPU_WAY_REGISTERS) return threads_renamed(t, x, from, to);
    bool pointer = own->kind == IR_PTR, is_bool = !pointer && own->elem == DTYPE_BOOL;
    if (pointer) x = ir_bitcast(&t->b, x, threads_vector(t, DTYPE_U64, own->count));
    if (is_bool) x = ir_cast(&t->b, x, DTYPE_U8, false);
    if (how.way == GPU_WAY_SHUFFLES)
        remark(t->remarks, t->b.span, REASON_CONVERT_SHUFFLES, NULL,
               REMARK((int64_t)layout_elements(to) * ir_elem_size(x->type),
                      1 << how.shuffle.round_bits));
    x = how.way == GPU_WAY_SHUFFLES ? threads_shuffled(t, x, from, to, &how.shuffle)
                                    : through_shared(t, x, from, to);
    uint32_t count = x->type->count;
    if (is_bool) x = ir_cast(&t->b, x, DTYPE_BOOL, false);
    if (pointer) x = ir_bitcast(&t->b, x, ir_ptr(t->module, own->elem, 1, &count));
    return x;
}

void threads_convert(Threads *t, const IrOp *op) {
    threads_define(t, op, 0,
                   threads_move(t, threads_operand(t, op, 0), ir_operand(op, 0)->type->layout,
                                op->results[0].type->layout));
}
