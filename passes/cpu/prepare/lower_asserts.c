// cpu_lower_asserts: from here on the kernel is one for CPUs, of level cpu_tile. An assert of a
// tile becomes tile code for the lowest failing lane, and a `vec.assert` of that lane. Assumptions
// are removed, because only proofs use them.
//
// Needs: tile IR after its pipeline. Keeps: everything; asserts are numbered in program order.
#include "ir/build.h"
#include "ir/edit.h"
#include "passes/passes.h"

static void vec_assert(IrBuilder *b, const IrOp *from, IrValue *lane, int64_t site) {
    IrOp *op = ir_op(b, IR_VEC_ASSERT, 1, &lane, 0, NULL, 0, NULL);
    ir_attr_set_text(op, IR_ATTR_TEXT, ir_attr(from, IR_ATTR_TEXT)->u.text);
    ir_attr_set_int(op, IR_ATTR_SITE, site);
}

static IrValue *reduce_min(IrBuilder *b, IrValue *x) {
    uint32_t axis = x->type->rank - 1;
    const IrType *t = ir_with_shape(b->module, x->type, axis, x->type->shape);
    IrValue *operands[2] = {NULL, x};
    IrOp *op = ir_op(b, IR_REDUCE, 2, operands, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_REDUCE, IR_REDUCE_MIN);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    return ir_result(op, 0);
}

// A tile with the row-major number of each element: sums of iotas along the dimensions.
static IrValue *numbers(IrBuilder *b, const IrType *shape) {
    const IrType *whole = ir_tile(b->module, DTYPE_I32, shape->rank, shape->shape);
    IrValue *sum = ir_const_bits(b, whole, 0);
    uint32_t step = 1;
    for (uint32_t d = shape->rank; d-- > 0; step *= shape->shape[d]) {
        if (shape->shape[d] == 1) continue;
        uint32_t flat[IR_MAX_RANK];
        for (uint32_t k = 0; k < shape->rank; k++) flat[k] = k == d ? shape->shape[d] : 1;
        IrValue *at = ir_iota(b, shape->shape[d]);
        at = ir_binary(b, IR_MUL, at, ir_const_bits(b, at->type, step));
        at = ir_reshape(b, at, shape->rank, flat);
        sum = ir_binary(b, IR_ADD, sum, ir_broadcast(b, at, shape->rank, shape->shape));
    }
    return sum;
}

static void lower_assert(IrOp *op, int64_t site) {
    IrBuilder b = ir_builder_before(op);
    b.span = op->span;
    IrValue *c = ir_operand(op, 0);
    IrValue *none = ir_const_int(&b, DTYPE_I64, -1);
    if (c->type->rank == 0) {
        IrValue *zero = ir_const_int(&b, DTYPE_I64, 0);
        vec_assert(&b, op, ir_ternary(&b, IR_SELECT, c, none, zero), site);
    } else {
        const IrType *t = ir_with_elem(b.module, c->type, DTYPE_I32);
        IrValue *fine = ir_const_bits(&b, t, INT32_MAX);
        IrValue *least = ir_ternary(&b, IR_SELECT, c, fine, numbers(&b, c->type));
        while (least->type->rank > 0) least = reduce_min(&b, least);
        IrValue *held = ir_binary(&b, IR_EQ, least, ir_const_int(&b, DTYPE_I32, INT32_MAX));
        IrValue *lane = ir_cast(&b, least, DTYPE_I64, true);
        vec_assert(&b, op, ir_ternary(&b, IR_SELECT, held, none, lane), site);
    }
    ir_erase(op);
}

static void lower_block(IrBlock *block, int64_t *site) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) lower_block(op->regions[i], site);
        if (op->code == IR_ASSERT) lower_assert(op, (*site)++);
        if (op->code == IR_ASSUME) ir_erase(op);
    }
}

bool pass_cpu_lower_asserts(IrFunc *f, PassContext *context) {
    (void)context;
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_TILE) return false;
    f->level = IR_LEVEL_CPU_TILE;
    int64_t site = 0;
    lower_block(body, &site);
    return true;
}
