// Products.
#include "passes/cpu/lower.h"

void dot_lower(Lower *l, IrOp *op) {
    lower_result_buffer(l, ir_result(op, 0));
    CHECK(!l->emit, "'%s' is not lowered yet", ir_op_info(op->code)->text);
}
