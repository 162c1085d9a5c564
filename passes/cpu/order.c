// Scans, sorts, topk, histograms.
#include "passes/cpu/lower.h"

void order_lower(Lower *l, IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (lower_is_tile(ir_result(op, i))) lower_result_buffer(l, ir_result(op, i));
    CHECK(!l->emit, "'%s' is not lowered yet", ir_op_info(op->code)->text);
}
