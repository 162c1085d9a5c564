#include "codegen/cpu/check.h"

#include "codegen/common/check.h"

static const char *own(const TargetCheck *c, const IrOp *op) {
    switch (op->code) {
    case IR_CPU_SPAN:
    case IR_CPU_SCRATCH:
    case IR_CPU_LOAD:
    case IR_CPU_STORE:
    case IR_CPU_PREFETCH:
    case IR_VEC_PRINT: return NULL;
    case IR_VEC_DOT2: {
        Dtype factor = ir_operand(op, 1)->type->elem;
        bool has =
            factor == DTYPE_I16 ? c->machine.i16_dot : factor == DTYPE_BF16 && c->machine.bf16_dot;
        return has ? NULL : check_lacks;
    }
    case IR_CPU_DOT4: return c->machine.i8_dot ? NULL : check_lacks;
    case IR_CPU_TILES: {
        bool floats = ir_operand(op, 0)->type->elem == DTYPE_F32;
        return (floats ? c->machine.bf16_tiles : c->machine.i8_tiles) ? NULL : check_lacks;
    default: break;
    }
    case IR_REM: {
        const IrType *t = op->results[0].type;
        return check_computes(c, t) && t->elem != DTYPE_F16 ? NULL : check_legalize;
    }
    }
    return check_common;
}

bool cpu_check(const IrFunc *func, CpuTarget target, Diags *diags) {
    char name[CPU_NAME_MAX];
    TargetCheck c = {.func = func,
                     .machine = machine_of_cpu(target),
                     .target = cpu_target_name(target, name),
                     .lower = "the pass cpu_lower removes it",
                     .max_lanes = CPU_MAX_LANES,
                     .own = own,
                     .diags = diags};
    return check_function(&c);
}
