#include "codegen/gpu/check.h"

#include "ir/analysis/layout_infer.h"

const MatrixOp *gpu_matrix_op(const Machine *machine, const IrOp *op) {
    Dtype a = ir_operand(op, 0)->type->elem, b = ir_operand(op, 1)->type->elem;
    return matrix_find(machine->chip, ir_mma_shape(op), a, b, op->results[0].type->elem);
}

// Copies read a view's data, like buffers, in widths that the machine supports.
static bool copies_directly(const TargetCheck *c, const IrOp *op) {
    enum { STEPS_MAX = 16 };
    const IrValue *p = ir_operand(op, 1);
    int64_t bytes =
        ir_attr_int(op, IR_ATTR_COUNT) * (int64_t)dtype_size(ir_operand(op, 0)->type->elem);
    for (int i = 0; i < STEPS_MAX && p->def && p->def->code == IR_PTR_ADD; i++)
        p = ir_operand(p->def, 0);
    bool fits = bytes == 4 || bytes == c->machine.direct_bytes;
    return c->machine.direct_bytes && fits && p->def && p->def->code == IR_VEC_DATA;
}

static const char *own(const TargetCheck *c, const IrOp *op) {
    switch (op->code) {
    case IR_THREAD_ID:
    case IR_THREAD_SHARED:
    case IR_THREAD_BARRIER:
    case IR_THREAD_LOAD:
    case IR_THREAD_STORE:
    case IR_THREAD_SHUFFLE:
    case IR_THREAD_PACK:
    case IR_THREAD_UPDATE:
    case IR_VEC_PRINT: return NULL;
    case IR_VEC_DOT2:
        return c->machine.f16_dot && ir_operand(op, 1)->type->elem == DTYPE_F16 ? NULL
                                                                                : check_lacks;
    case IR_THREAD_MATRIX_LOAD: return c->machine.matrix_load ? NULL : check_lacks;
    case IR_THREAD_COPY:
        return c->machine.async_copy || copies_directly(c, op) ? NULL : check_lacks;
    case IR_THREAD_COMMIT:
    case IR_THREAD_WAIT:
        return c->machine.async_copy || c->machine.direct_bytes ? NULL : check_lacks;
    case IR_THREAD_MBARRIER_INIT:
    case IR_THREAD_MBARRIER_EXPECT:
    case IR_THREAD_MBARRIER_ARRIVE:
    case IR_THREAD_MBARRIER_WAIT:
    case IR_THREAD_MBARRIER_END:
    case IR_THREAD_TMA_LOAD: return c->machine.wgmma ? NULL : check_lacks;
    case IR_THREAD_MMA: return gpu_matrix_op(&c->machine, op) ? NULL : check_lacks;
    case IR_THREAD_WGMMA:
        return c->machine.wgmma && gpu_matrix_op(&c->machine, op) ? NULL : check_lacks;
    case IR_THREAD_WGMMA_BEGIN:
    case IR_THREAD_WGMMA_COMMIT:
    case IR_THREAD_WGMMA_WAIT: return c->machine.wgmma ? NULL : check_lacks;
    case IR_EXP2:
    case IR_RSQRT:
    case IR_SIN:
    case IR_COS:
        return op->results[0].type->elem == DTYPE_F32 && c->func->math & IR_MATH_APPROX
                   ? NULL
                   : check_common;
    default: break;
    }
    return check_common;
}

bool gpu_check(const IrFunc *func, GpuTarget target, Diags *diags) {
    char name[GPU_NAME_MAX];
    TargetCheck c = {.func = func,
                     .machine = machine_of_gpu(target),
                     .target = gpu_target_name(target, name),
                     .lower = "the pass gpu_threads removes it",
                     .own = own,
                     .diags = diags};
    return check_function(&c);
}
