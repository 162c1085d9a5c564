// One block of a product: its accumulators are vectors that the loop along k carries.
#include "passes/cpu/emit/dot.h"

enum { MAX_BLOCK = 64 };

// Vectors of one lane are scalars.
static const IrType *vector_of(Lower *l, Dtype elem, uint32_t lanes) {
    return ir_tile(l->module, elem, lanes > 1 ? 1 : 0, &lanes);
}

IrValue *dot_load(Lower *l, IrBuilder *b, IrValue *pointer, uint32_t lanes) {
    const IrType *t = vector_of(l, pointer->type->elem, lanes);
    IrValue *operands[3] = {pointer, NULL, NULL};
    return ir_result(ir_op(b, lanes > 1 ? IR_CPU_LOAD : IR_LOAD, 3, operands, 1, &t, 0, NULL), 0);
}

void dot_store(IrBuilder *b, IrValue *pointer, IrValue *x) {
    IrValue *operands[3] = {pointer, x, NULL};
    ir_op(b, x->type->rank ? IR_CPU_STORE : IR_STORE, 3, operands, 0, NULL, 0, NULL);
}

static IrValue *at(IrBuilder *b, IrValue *pointer, int64_t elements) {
    return elements ? ir_ptr_add(b, pointer, lower_i64(b, elements)) : pointer;
}

static IrValue *converted(IrBuilder *b, IrValue *x, Dtype to) {
    return x->type->elem == to ? x : ir_cast(b, x, to, true);
}

// The address of the block in acc or the result.
static IrValue *corner(const Dot *d, IrBuilder *b, TileBuffer buffer, IrValue *i, IrValue *j) {
    uint32_t row = buffer.type->rank - 2;
    IrValue *linear = lower_mul(b, i, lower_i64(b, buffer.step[row]));
    if (d->item) linear = lower_add(b, linear, lower_mul(b, d->item, lower_i64(b, buffer.step[0])));
    CHECK(buffer.step[row + 1] == 1, "an accumulator whose rows are not contiguous");
    return ir_ptr_add(b, buffer.data, lower_add(b, linear, j));
}

static int64_t place_in_block(const Dot *d, TileBuffer buffer, uint32_t row, uint32_t vector) {
    return row * buffer.step[buffer.type->rank - 2] + (int64_t)vector * d->form.block.lanes;
}

static void load_block(Lower *l, const Dot *d, IrBuilder *b, IrValue *i, IrValue *j, uint32_t rows,
                       IrValue **sums) {
    DotBlock block = d->form.block;
    if (!d->acc.id) {
        IrValue *zero = ir_const_bits(b, vector_of(l, d->form.sum, block.lanes), 0);
        for (uint32_t n = 0; n < rows * block.vectors; n++) sums[n] = zero;
        return;
    }
    IrValue *from = corner(d, b, d->acc, i, j);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t v = 0; v < block.vectors; v++) {
            IrValue *p = at(b, from, place_in_block(d, d->acc, r, v));
            sums[r * block.vectors + v] = converted(b, dot_load(l, b, p, block.lanes), d->form.sum);
        }
}

static void take_shift(const Dot *d, IrBuilder *b, uint32_t rows, IrValue **sums) {
    uint32_t vectors = d->form.block.vectors;
    for (uint32_t n = 0; n < rows * vectors; n++)
        sums[n] = ir_binary(b, IR_SUB, sums[n], d->shift[n % vectors]);
}

static void store_block(const Dot *d, IrBuilder *b, IrValue *i, IrValue *j, uint32_t rows,
                        IrOp *loop) {
    IrValue *to = corner(d, b, d->result, i, j);
    Dtype elem = d->result.type->elem;
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t v = 0; v < d->form.block.vectors; v++) {
            IrValue *x = ir_result(loop, r * d->form.block.vectors + v);
            dot_store(b, at(b, to, place_in_block(d, d->result, r, v)), converted(b, x, elem));
        }
}

// ---- a step -------------------------------------------------------------------------------------

// Broadcasts a group of a's neighbours along k to all lanes.
static IrValue *spread(Lower *l, const Dot *d, IrBuilder *b, IrValue *pointer) {
    uint32_t lanes = d->form.block.lanes, group = d->form.group;
    IrValue *x = dot_load(l, b, pointer, group);
    if (group == 1) return lanes > 1 ? ir_broadcast(b, x, 1, &lanes) : x;
    uint32_t count = lanes * group;
    int64_t *from = arena_new(l->scratch, int64_t, count);
    for (uint32_t i = 0; i < count; i++) from[i] = i % group;
    return dot_shuffle(l, b, x, NULL, count, from);
}

static IrValue *add_groups(const Dot *d, IrBuilder *b, IrValue *sum, IrValue *x, IrValue *y) {
    // The instruction for four bytes takes the unsigned ones first.
    bool swap = d->form.group == 4 && y->type->elem == DTYPE_U8;
    IrValue *operands[3] = {sum, swap ? y : x, swap ? x : y};
    IrOpcode code = d->form.group == 2 ? IR_VEC_DOT2 : IR_CPU_DOT4;
    return ir_result(ir_op(b, code, 3, operands, 1, &sum->type, 0, NULL), 0);
}

static IrValue *add_product(Lower *l, const Dot *d, IrBuilder *b, IrValue *sum, IrValue *x,
                            IrValue *y) {
    if (d->form.group > 1) return add_groups(d, b, sum, x, y);
    bool is_float = dtype_is(d->form.sum, DTYPE_CLASS_ANYFLOAT);
    if (is_float && l->machine->fma) return ir_ternary(b, IR_FMA, x, y, sum);
    return ir_binary(b, IR_ADD, sum, ir_binary(b, IR_MUL, x, y));
}

static IrValue *row_of_b(Lower *l, const Dot *d, IrBuilder *b, IrValue *row, uint32_t vector) {
    uint32_t lanes = d->form.block.lanes * d->form.group;
    return dot_load(l, b, at(b, row, (int64_t)vector * lanes), lanes);
}

static void step(Lower *l, const Dot *d, IrBuilder *b, IrValue *a, IrValue *row, uint32_t rows,
                 IrValue **sums) {
    DotBlock block = d->form.block;
    IrValue *y[MAX_BLOCK];
    for (uint32_t v = 0; v < block.vectors; v++) {
        y[v] = row_of_b(l, d, b, row, v);
    }
    for (uint32_t r = 0; r < rows; r++) {
        IrValue *p = ir_ptr_add(b, a, lower_mul(b, lower_i64(b, r), d->a.across));
        IrValue *x = spread(l, d, b, p);
        for (uint32_t v = 0; v < block.vectors; v++) {
            IrValue **sum = &sums[r * block.vectors + v];
            *sum = add_product(l, d, b, *sum, x, y[v]);
        }
    }
}

// Computes the block in tile registers, for all of k.
static void tiles_block(const Dot *d, IrBuilder *b, IrValue *i, IrValue *j, uint32_t rows) {
    uint32_t row = d->result.type->rank - 2;
    bool acc = d->acc.id != 0;
    IrValue *operands[9] = {corner(d, b, d->result, i, j), lower_i64(b, d->result.step[row])};
    if (acc) operands[2] = corner(d, b, d->acc, i, j);
    if (acc) operands[3] = lower_i64(b, d->acc.step[row]);
    operands[4] = ir_ptr_add(b, d->a.data, lower_mul(b, i, d->a.across));
    operands[5] = d->a.across;
    operands[6] = ir_ptr_add(b, d->b.data, lower_mul(b, j, d->b.across));
    operands[7] = lower_mul(b, d->b.step, lower_i64(b, d->form.group));
    operands[8] = d->depth_end;
    IrOp *op = ir_op(b, IR_CPU_TILES, 9, operands, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ROWS, rows);
    ir_attr_set_int(op, IR_ATTR_COLUMNS, dot_columns(&d->form));
}

void dot_block(Lower *l, const Dot *d, IrBuilder *b, IrValue *i, IrValue *j, uint32_t rows) {
    if (d->form.tiles) {
        tiles_block(d, b, i, j, rows);
        return;
    }
    IrValue *sums[MAX_BLOCK];
    uint32_t count = rows * d->form.block.vectors;
    CHECK(count <= MAX_BLOCK, "a block of %u vectors", count);
    load_block(l, d, b, i, j, rows, sums);
    if (d->form.flipped) take_shift(d, b, rows, sums);
    IrValue *a = ir_ptr_add(b, d->a.data, lower_mul(b, i, d->a.across));
    IrValue *panel = ir_ptr_add(b, d->b.data, lower_mul(b, j, d->b.across));
    // Several steps for each iteration: otherwise the loop's own arithmetic displaces products.
    uint32_t times = dot_steps(&d->form);
    IrOp *loop = lower_for(b, lower_i64(b, 0), d->depth_end, d->form.group * times, count, sums);
    IrBlock *body = loop->regions[0];
    IrBuilder inside = ir_builder_at_end(body);
    inside.span = b->span;
    for (uint32_t n = 0; n < count; n++) sums[n] = body->args[1 + n];
    IrValue *k = body->args[0];
    IrValue *column = ir_ptr_add(&inside, a, lower_mul(&inside, k, d->a.step));
    IrValue *row = ir_ptr_add(&inside, panel, lower_mul(&inside, k, d->b.step));
    for (uint32_t n = 0; n < times; n++) {
        IrValue *by = lower_i64(&inside, n * d->form.group);
        IrValue *x = n ? ir_ptr_add(&inside, column, lower_mul(&inside, by, d->a.step)) : column;
        IrValue *y = n ? ir_ptr_add(&inside, row, lower_mul(&inside, by, d->b.step)) : row;
        step(l, d, &inside, x, y, rows, sums);
    }
    ir_yield(&inside, count, sums);
    store_block(d, b, i, j, rows, loop);
}

// Shifting a's bytes by 128 adds the same sums as one more row of a, all 128 (signed: -128).
void dot_find_shift(Lower *l, Dot *d, IrBuilder *b, IrValue *j) {
    DotBlock block = d->form.block;
    IrValue *sums[DOT_MAX_VECTORS];
    IrValue *zero = ir_const_bits(b, vector_of(l, d->form.sum, block.lanes), 0);
    IrValue *by = ir_const_bits(b, vector_of(l, d->form.part_a, block.lanes * d->form.group), 128);
    for (uint32_t v = 0; v < block.vectors; v++) sums[v] = zero;
    IrValue *panel = ir_ptr_add(b, d->b.data, lower_mul(b, j, d->b.across));
    IrOp *loop = lower_for(b, lower_i64(b, 0), d->depth_end, d->form.group, block.vectors, sums);
    IrBlock *body = loop->regions[0];
    IrBuilder inside = ir_builder_at_end(body);
    inside.span = b->span;
    IrValue *row = ir_ptr_add(&inside, panel, lower_mul(&inside, body->args[0], d->b.step));
    for (uint32_t v = 0; v < block.vectors; v++)
        sums[v] = add_groups(d, &inside, body->args[1 + v], by, row_of_b(l, d, &inside, row, v));
    ir_yield(&inside, block.vectors, sums);
    for (uint32_t v = 0; v < block.vectors; v++) d->shift[v] = ir_result(loop, v);
}
