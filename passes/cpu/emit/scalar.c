// Arithmetic on scalars, loops, and halves of vectors.
#include "passes/cpu/emit/lower.h"
#include "passes/rewrite.h"

IrValue *lower_i64(IrBuilder *b, int64_t value) { return ir_const_int(b, DTYPE_I64, value); }

IrValue *lower_add(IrBuilder *b, IrValue *x, IrValue *y) {
    int64_t m, n;
    bool first = rewrite_constant_int(x, &m), second = rewrite_constant_int(y, &n);
    if (first && m == 0) return y;
    if (second && n == 0) return x;
    if (first && second) return lower_i64(b, (int64_t)((uint64_t)m + (uint64_t)n));
    return ir_binary(b, IR_ADD, x, y);
}

IrValue *lower_mul(IrBuilder *b, IrValue *x, IrValue *y) {
    int64_t m, n;
    bool first = rewrite_constant_int(x, &m), second = rewrite_constant_int(y, &n);
    if (first && m == 1) return y;
    if (second && n == 1) return x;
    if (first && second) return lower_i64(b, (int64_t)((uint64_t)m * (uint64_t)n));
    return ir_binary(b, IR_MUL, x, y);
}

IrValue *lower_min(IrBuilder *b, IrValue *x, IrValue *y) {
    int64_t m, n;
    if (x == y) return x;
    if (rewrite_constant_int(x, &m) && rewrite_constant_int(y, &n)) return m < n ? x : y;
    return ir_binary(b, IR_MIN, x, y);
}

IrValue *lower_max(IrBuilder *b, IrValue *x, IrValue *y) {
    int64_t m, n;
    if (x == y) return x;
    if (rewrite_constant_int(x, &m) && rewrite_constant_int(y, &n)) return m > n ? x : y;
    return ir_binary(b, IR_MAX, x, y);
}

IrValue *lower_and(IrBuilder *b, IrValue *x, IrValue *y) {
    if (!x || !y) return x ? x : y;
    return ir_binary(b, IR_AND, x, y);
}

IrOp *lower_for(IrBuilder *b, IrValue *lo, IrValue *hi, int64_t step, uint32_t carried,
                IrValue *const *init) {
    Arena *arena = b->module->arena;
    IrValue **operands = arena_new(arena, IrValue *, 3 + carried);
    const IrType **types = arena_new(arena, const IrType *, carried + 1);
    operands[0] = lo, operands[1] = hi, operands[2] = lower_i64(b, step);
    IrBlock *block = ir_block_create(b->func);
    ir_block_add_arg(block, ir_scalar(b->module, DTYPE_I64));
    for (uint32_t i = 0; i < carried; i++) {
        operands[3 + i] = init[i];
        types[i] = init[i]->type;
        ir_block_add_arg(block, types[i]);
    }
    return ir_op(b, IR_FOR, 3 + carried, operands, carried, types, 1, &block);
}

IrBuilder lower_open(IrBuilder *b, int64_t count, int64_t step, IrValue **index) {
    IrValue *zero = lower_i64(b, 0);
    if (count <= step) {
        *index = zero;
        return *b;
    }
    IrOp *loop = lower_for(b, zero, lower_i64(b, count), step, 0, NULL);
    IrBuilder body = ir_builder_at_end(loop->regions[0]);
    body.span = b->span;
    *index = loop->regions[0]->args[0];
    return body;
}

void lower_close(IrBuilder *body, const IrBuilder *outside) {
    if (body->block != outside->block) ir_yield(body, 0, NULL);
}

// ---- vectors ------------------------------------------------------------------------------------

IrValue *reduce_half(Lower *l, IrBuilder *b, IrValue *x, bool second) {
    if (!x) return NULL;
    uint32_t half = x->type->count / 2;
    int64_t *lanes = arena_new(l->scratch, int64_t, half);
    for (uint32_t i = 0; i < half; i++) lanes[i] = i + (second ? half : 0);
    const IrType *t = ir_with_shape(l->module, x->type, 1, &half);
    IrValue *operands[2] = {x, NULL};
    IrOp *op = ir_op(b, IR_VEC_SHUFFLE, 2, operands, 1, &t, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_LANES, half, lanes);
    return ir_result(op, 0);
}
