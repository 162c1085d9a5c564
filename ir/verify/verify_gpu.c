// Typing rules of gpu.*: tiles with layouts, and memory that the threads of a program share.
#include "ir/analysis/spread.h"
#include "ir/verify/verifier.h"

enum { MAX_SHARED = 1 << 24 };  // elements of one allocation

static bool is_memory(Verifier *v, const IrOp *op, const IrValue *p) {
    if (spread_is_memory(p) && !dtype_is(p->type->elem, DTYPE_CLASS_PACKED)) return true;
    return verifier_fail(v, op, "expected shared memory of whole bytes, found %s",
                         verifier_type(v, p->type));
}

static bool rule_shared(Verifier *v, const IrOp *op) {
    TRY(is_memory(v, op, &op->results[0]));
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT), most = MAX_SHARED / op->results[0].type->count;
    if (count >= 1 && count <= most) return true;
    return verifier_fail(v, op, "expected a count from 1 to %lld, found %lld", (long long)most,
                         (long long)count);
}

static bool rule_slot(Verifier *v, const IrOp *op) {
    IrType number = verifier_scalar(DTYPE_I32);
    TRY(is_memory(v, op, ir_operand(op, 0)));
    TRY(verifier_operand(v, op, 1, &number));
    return verifier_result(v, op, 0, ir_operand(op, 0)->type);
}

static bool rule_copy(Verifier *v, const IrOp *op) {
    const IrType *p = ir_operand(op, 0)->type;
    TRY(is_memory(v, op, ir_operand(op, 0)));
    IrType x = verifier_tile_like(p, p->elem);
    return verifier_operand(v, op, 1, &x);
}

static bool rule_read(Verifier *v, const IrOp *op) {
    const IrType *p = ir_operand(op, 0)->type;
    TRY(is_memory(v, op, ir_operand(op, 0)));
    IrType x = verifier_tile_like(p, p->elem);
    return verifier_result(v, op, 0, &x);
}

bool verifier_gpu_rule(Verifier *v, const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    if (rule == IR_RULE_GPU_SHARED) return rule_shared(v, op);
    if (rule == IR_RULE_GPU_SLOT) return rule_slot(v, op);
    if (rule == IR_RULE_GPU_COPY) return rule_copy(v, op);
    if (rule == IR_RULE_GPU_READ) return rule_read(v, op);
    return verifier_result(v, op, 0, ir_operand(op, 0)->type);
}
