// Scratch memory, and small steps of scalar arithmetic.
#include "passes/cpu/lower.h"
#include "passes/rewrite.h"

const IrType *buffer_elem_type(Lower *l, const IrType *type) {
    return ir_scalar(l->module, type->kind == IR_PTR ? DTYPE_U64 : type->elem);
}

Buffer buffer_as(Buffer buffer, const IrType *type) {
    int64_t step = 1;
    buffer.type = type;
    for (uint32_t d = type->rank; d-- > 0; step *= type->shape[d]) buffer.step[d] = step;
    return buffer;
}

Buffer buffer_create(Lower *l, const IrType *type) {
    Buffer buffer = buffer_as((Buffer){.id = ++l->buffers}, type);
    if (!l->emit) return buffer;
    Dtype elem = buffer_elem_type(l, type)->elem;
    const IrType *pointer = ir_ptr(l->module, elem, 0, NULL);
    IrOp *op = ir_op(&l->top, IR_CPU_SCRATCH, 0, NULL, 1, &pointer, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ELEM, elem);
    ir_attr_set_int(op, IR_ATTR_COUNT, type->count);
    buffer.data = ir_result(op, 0);
    return buffer;
}

Buffer buffer_part(Lower *l, Buffer buffer, uint32_t dim, uint32_t from, const IrType *type,
                   bool drop) {
    Buffer part = {.id = ++l->buffers, .type = type};
    uint32_t at = 0;
    for (uint32_t d = 0; d < buffer.type->rank; d++)
        if (!(drop && d == dim)) part.step[at++] = buffer.step[d];
    if (!l->emit) return part;
    IrBuilder b = lower_builder(l);
    part.data = ir_ptr_add(&b, buffer.data, lower_i64(&b, from * buffer.step[dim]));
    return part;
}

Buffer lower_buffer_of(Lower *l, const IrValue *tile) {
    Buffer buffer = lower_tile(l, tile)->buffer;
    CHECK(buffer.id, "a value without its buffer");
    return buffer;
}

IrValue *buffer_element(IrBuilder *b, Buffer buffer, IrValue *linear) {
    return ir_ptr_add(b, buffer.data, linear);
}

// ---- scalars ------------------------------------------------------------------------------------

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
    enum { CARRIED = 64 };
    CHECK(carried <= CARRIED, "%u carried values", carried);
    IrValue *operands[3 + CARRIED] = {lo, hi, lower_i64(b, step)};
    const IrType *types[CARRIED];
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
