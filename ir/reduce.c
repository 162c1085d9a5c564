#include "ir/reduce.h"

#include <math.h>

#include "base/os/os.h"

static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }

static uint64_t extreme(Dtype t, bool greatest) {
    if (is_float(t)) {
        bool saturate = !dtype_float(t)->has_inf;
        return dtype_from_double(t, greatest ? HUGE_VAL : -HUGE_VAL, saturate);
    }
    if (t == DTYPE_BOOL) return greatest;
    return greatest ? dtype_int_max(t) : dtype_wrap(t, (uint64_t)dtype_int_min(t));
}

uint64_t ir_reduce_identity(IrReduce kind, Dtype t) {
    switch (kind) {
    case IR_REDUCE_SUM: return is_float(t) ? dtype_from_double(t, -0.0, true) : 0;
    case IR_REDUCE_PROD: return is_float(t) ? dtype_from_double(t, 1, true) : 1;
    case IR_REDUCE_MIN:
    case IR_REDUCE_ARGMIN: return extreme(t, true);
    case IR_REDUCE_MAX:
    case IR_REDUCE_ARGMAX: return extreme(t, false);
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return dtype_from_double(t, (double)NAN, true);
    case IR_REDUCE_ANY:
    case IR_REDUCE_CUSTOM: return 0;
    case IR_REDUCE_ALL: return 1;
    }
    UNREACHABLE("reduction %d", (int)kind);
}

IrOpcode ir_reduce_opcode(IrReduce kind, Dtype t) {
    bool logical = t == DTYPE_BOOL;
    switch (kind) {
    case IR_REDUCE_SUM: return logical ? IR_XOR : IR_ADD;
    case IR_REDUCE_PROD: return logical ? IR_AND : IR_MUL;
    case IR_REDUCE_MIN: return logical ? IR_AND : IR_MIN;
    case IR_REDUCE_MAX: return logical ? IR_OR : IR_MAX;
    case IR_REDUCE_MINNUM: return IR_MINNUM;
    case IR_REDUCE_MAXNUM: return IR_MAXNUM;
    case IR_REDUCE_ANY: return IR_OR;
    case IR_REDUCE_ALL: return IR_AND;
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_CUSTOM: break;
    }
    UNREACHABLE("reduction %d has no single op", (int)kind);
}
