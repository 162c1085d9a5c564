// Typing rules of gpu.*: tiles with layouts, and memory that the threads of a program share.
#include "ir/analysis/layout_infer.h"
#include "ir/verify/verifier.h"

enum { MAX_SHARED = 1 << 24 };  // elements of one allocation

static bool is_memory(Verifier *v, const IrOp *op, const IrValue *p) {
    if (ir_is_shared_pointer(p) && !dtype_is(p->type->elem, DTYPE_CLASS_PACKED)) return true;
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

// ---- copies by maps -----------------------------------------------------------------------------

static bool is_barriers(Verifier *v, const IrOp *op, const IrValue *p) {
    const IrType *t = p->type;
    if (t->kind == IR_PTR && t->rank == 0 && t->elem == DTYPE_U64) return true;
    return verifier_fail(v, op, "expected a pointer to barriers, *u64, found %s",
                         verifier_type(v, t));
}

bool verifier_arrivals(Verifier *v, const IrOp *op) {
    enum { MOST = 1 << 20 };
    int64_t arrivals = ir_attr_int(op, IR_ATTR_ARRIVALS);
    if (arrivals >= 1 && arrivals < MOST) return true;
    return verifier_fail(v, op, "expected 1 to %d arrivals, found %lld", MOST - 1,
                         (long long)arrivals);
}

static bool rule_mbarrier(Verifier *v, const IrOp *op) {
    enum { MOST = 64 };
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT);
    TRY(is_barriers(v, op, &op->results[0]));
    if (count < 1 || count > MOST)
        return verifier_fail(v, op, "expected 1 to %d barriers, found %lld", MOST,
                             (long long)count);
    return verifier_arrivals(v, op);
}

static bool rule_mbarrier_arrive(Verifier *v, const IrOp *op) {
    IrType number = verifier_scalar(DTYPE_I32);
    return is_barriers(v, op, ir_operand(op, 0)) && verifier_operand(v, op, 1, &number);
}

// A barrier counts less than 2^20 bytes.
static bool rule_mbarrier_expect(Verifier *v, const IrOp *op) {
    IrType number = verifier_scalar(DTYPE_I32);
    int64_t bytes = ir_attr_int(op, IR_ATTR_COUNT);
    TRY(is_barriers(v, op, ir_operand(op, 0)) && verifier_operand(v, op, 1, &number));
    if (bytes >= 0 && bytes < 1 << 20) return true;
    return verifier_fail(v, op, "expected a number of bytes below 2^20, found %lld",
                         (long long)bytes);
}

static bool rule_tma_load(Verifier *v, const IrOp *op) {
    IrType number = verifier_scalar(DTYPE_I32);
    const IrOp *load = ir_operand(op, 1)->def;
    TRY(rule_copy(v, op));
    TRY(is_barriers(v, op, ir_operand(op, 2)) && verifier_operand(v, op, 3, &number));
    if (!load || load->code != IR_VIEW_LOAD || ir_operand(op, 1)->uses->next)
        return verifier_fail(v, op, "expected a view_load that nothing else uses");
    return verifier_map(v, op, ir_operand(load, 0));
}

static bool rule_mbarrier_wait(Verifier *v, const IrOp *op) {
    IrType number = verifier_scalar(DTYPE_I32);
    TRY(is_barriers(v, op, ir_operand(op, 0)) && verifier_operand(v, op, 1, &number));
    return verifier_operand(v, op, 2, &number);
}

bool verifier_gpu_rule(Verifier *v, const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    if (rule == IR_RULE_GPU_SHARED) return rule_shared(v, op);
    if (rule == IR_RULE_GPU_SLOT) return rule_slot(v, op);
    if (rule == IR_RULE_GPU_COPY) return rule_copy(v, op);
    if (rule == IR_RULE_GPU_READ) return rule_read(v, op);
    if (rule == IR_RULE_GPU_MBARRIER) return rule_mbarrier(v, op);
    if (rule == IR_RULE_GPU_MBARRIER_EXPECT) return rule_mbarrier_expect(v, op);
    if (rule == IR_RULE_GPU_MBARRIER_ARRIVE) return rule_mbarrier_arrive(v, op);
    if (rule == IR_RULE_GPU_TMA_LOAD) return rule_tma_load(v, op);
    if (rule == IR_RULE_GPU_MBARRIER_WAIT) return rule_mbarrier_wait(v, op);
    if (rule == IR_RULE_GPU_MBARRIER_END) return is_barriers(v, op, ir_operand(op, 0));
    return verifier_result(v, op, 0, ir_operand(op, 0)->type);
}
