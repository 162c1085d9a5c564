// Products: types, blocks, and the loops around a block. See dot.h.
#include "passes/cpu/dot.h"

#include "passes/rewrite.h"

static uint32_t at_most(uint32_t x, uint32_t limit) { return x < limit ? x : limit; }

// As many accumulators as leave registers for a row of b, an element of a and a product.
static Block choose_block(const Lower *l, const Dot *d) {
    const Machine *m = l->machine;
    uint32_t size = (uint32_t)dtype_size(d->sum);
    Block block = {.lanes = at_most(d->n, m->vector_bytes / size)};
    uint32_t vectors = d->n / block.lanes;
    block.rows = m->vector_registers >= 32 ? 12 : m->fma ? 6 : 4;
    block.vectors = at_most(vectors, 2);
    // One row alone keeps the units busy only with many columns.
    if (d->m <= 2) block.vectors = at_most(vectors, m->vector_registers / 4 / d->m);
    if (d->tiles) block.vectors = at_most(vectors, 2), block.rows = 2 * TILE_ROWS;
    CHECK(block.vectors <= MAX_VECTORS, "%u vectors in a row", block.vectors);
    block.rows = at_most(d->m, block.rows);
    return block;
}

static Block thin_block(const Lower *l, const Dot *d) {
    enum { ROWS = 2 };
    Block block = d->block;
    uint32_t vectors = d->n / block.lanes;
    block.rows = ROWS;
    block.vectors = at_most(vectors, l->machine->vector_registers / (2 * ROWS));
    return block;
}

static bool is_byte(Dtype t) { return t == DTYPE_I8 || t == DTYPE_U8; }

static Dtype other_sign(Dtype t) { return t == DTYPE_I8 ? DTYPE_U8 : DTYPE_I8; }

// Whole tile registers only; sums of other types are converted, which none does.
static bool fits_tiles(const Lower *l, const Dot *d, Dtype a, Dtype b) {
    bool pairs = l->machine->bf16_tiles && a == DTYPE_BF16 && b == DTYPE_BF16;
    bool fours = l->machine->i8_tiles && is_byte(a) && is_byte(b);
    Dtype sum = pairs ? DTYPE_F32 : DTYPE_I32;
    if ((!pairs && !fours) || d->op->results[0].type->elem != sum) return false;
    return d->m >= TILE_ROWS && d->n >= TILE_ROWS && d->k * dtype_size(a) >= TILE_BYTES;
}

// Instructions that multiply several neighbours take the operands as they are; else both are
// converted to the type of the sum.
static void choose_parts(const Lower *l, Dot *d, Dtype a, Dtype b) {
    const Machine *m = l->machine;
    if (d->tiles) {
        d->part_a = a;
        d->part_b = b;
        d->group = TILE_BYTES / TILE_ROWS / (uint32_t)dtype_size(a);
        return;
    }
    d->part_a = d->part_b = d->sum;
    if (d->block.lanes < m->vector_bytes / 4) return;
    // Pairs take subnormals as 0, which docs/numerics.md allows results of f32 alone.
    bool wide = d->op->results[0].type->elem == DTYPE_F32;
    bool pairs = m->bf16_dot && a == DTYPE_BF16 && wide && d->k >= 2;
    bool fours = m->i8_dot && is_byte(a) && is_byte(b) && d->k >= 4;
    if (!pairs && !fours) return;
    d->group = pairs ? 2 : 4;
    d->flipped = fours && a == b;
    d->part_a = d->flipped ? other_sign(a) : a;
    d->part_b = b;
}

static Dot dot_of(const Lower *l, IrOp *op) {
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type;
    uint32_t r = a->rank;
    Dot d = {.op = op, .batch = r == 3 ? a->shape[0] : 1, .group = 1};
    d.m = a->shape[r - 2];
    d.k = a->shape[r - 1];
    d.n = b->shape[r - 1];
    Dtype result = op->results[0].type->elem;
    d.sum = result == DTYPE_F16 ? DTYPE_F32 : result;
    d.tiles = fits_tiles(l, &d, a->elem, b->elem);
    d.block = choose_block(l, &d);
    choose_parts(l, &d, a->elem, b->elem);
    return d;
}

uint32_t dot_wanted_depth(const Lower *l, IrOp *op) {
    enum { BYTES = 512, TILES_BYTES = 1024 };  // then a panel of b fits into the first cache
    Dot d = dot_of(l, op);
    return (d.tiles ? TILES_BYTES : BYTES) / (uint32_t)dtype_size(d.part_a);
}

bool dot_has_tiles(const Lower *l, IrOp *op) { return dot_of(l, op).tiles; }

// ---- loops --------------------------------------------------------------------------------------

// Blocks of rows from `from` on, as many whole ones as fit before `to`. Returns where they end.
static IrValue *blocks_of(Lower *l, const Dot *d, IrBuilder *b, IrValue *from, IrValue *to,
                          IrValue *j, uint32_t rows) {
    int64_t first, last;
    IrValue *end = to;
    if (rewrite_constant_int(from, &first) && rewrite_constant_int(to, &last)) {
        last = first + (last - first) / rows * rows;
        if (last == first) return from;
        end = lower_i64(b, last);
    } else if (rows > 1) {
        IrValue *size = lower_i64(b, rows), *count = ir_binary(b, IR_SUB, to, from);
        end = lower_add(b, from, lower_mul(b, ir_binary(b, IR_DIV, count, size), size));
    }
    IrOp *loop = lower_for(b, from, end, rows, 0, NULL);
    IrBuilder inside = ir_builder_at_end(loop->regions[0]);
    inside.span = b->span;
    dot_block(l, d, &inside, loop->regions[0]->args[0], j, rows);
    ir_yield(&inside, 0, NULL);
    return end;
}

static bool is_constant(const IrValue *v) {
    int64_t n;
    return rewrite_constant_int(v, &n);
}

// Tall blocks, then short ones for the rows that are left.
static void all_rows(Lower *l, const Dot *d, IrBuilder *b, IrValue *j) {
    uint32_t tall = d->block.rows, small = d->tiles ? TILE_ROWS : tall >= 8 ? 4 : 2;
    IrValue *end = d->row_end, *at = lower_i64(b, 0);
    if (d->tiles || (tall > small && !is_constant(end))) {
        // Rows of the tile beyond those that matter are as good as none: no need to single them.
        end = lower_add(b, end, lower_i64(b, small - 1));
        end = ir_binary(b, IR_AND, end, lower_i64(b, -(int64_t)small));
    }
    at = blocks_of(l, d, b, at, end, j, tall);
    if (tall > small) at = blocks_of(l, d, b, at, end, j, small);
    bool single = !d->tiles && tall > 1 && (tall <= small || is_constant(end));
    if (single) blocks_of(l, d, b, at, end, j, 1);
}

static void emit_columns(Lower *l, Dot *d, IrBuilder *b, IrValue *j) {
    if (d->flipped) dot_find_shift(l, d, b, j);
    all_rows(l, d, b, j);
}

static void all_columns(Lower *l, Dot *d, IrBuilder *b) {
    IrOp *loop = lower_for(b, lower_i64(b, 0), d->column_end, dot_columns(d), 0, NULL);
    IrBuilder inside = ir_builder_at_end(loop->regions[0]);
    inside.span = b->span;
    emit_columns(l, d, &inside, loop->regions[0]->args[0]);
    ir_yield(&inside, 0, NULL);
}

static void packed_matrix(Lower *l, Dot *d, IrBuilder *b) {
    dot_pack_b(l, d, b);
    all_columns(l, d, b);
}

// Few rows of a meet each element of b a few times only: reading b from memory is the work. Blocks
// are wide then, so that it is read in long pieces of its rows.
static void thin_or_packed(Lower *l, Dot *d, IrBuilder *b, Dot *thin, IrValue *inside) {
    IrValue *few = ir_binary(b, IR_LE, d->row_end, lower_i64(b, thin->block.rows));
    IrValue *condition = lower_and(b, inside, few);
    IrBlock *regions[2] = {ir_block_create(b->func), ir_block_create(b->func)};
    IrBuilder in_place = ir_builder_at_end(regions[0]), packed = ir_builder_at_end(regions[1]);
    in_place.span = packed.span = b->span;
    all_columns(l, thin, &in_place);
    ir_yield(&in_place, 0, NULL);
    packed_matrix(l, d, &packed);
    ir_yield(&packed, 0, NULL);
    ir_op(b, IR_IF, 1, &condition, 0, NULL, 2, regions);
}

static void emit_matrix(Lower *l, Dot *d, IrBuilder *b) {
    dot_pack_a(l, d, b);
    Dot thin = *d;
    thin.block = thin_block(l, d);
    IrValue *inside;
    bool wider = d->m > thin.block.rows && thin.block.vectors > d->block.vectors;
    if (wider && dot_b_in_place(l, d, b, &thin.b, &inside))
        thin_or_packed(l, d, b, &thin, inside);
    else
        packed_matrix(l, d, b);
}

static IrValue *end_of(Lower *l, IrBuilder *b, const IrValue *result, uint32_t dim) {
    IrValue *whole = lower_i64(b, result->type->shape[dim]);
    IrValue *limit = demand_limit(l, b, result, dim);
    if (!limit) return whole;
    return lower_min(b, lower_max(b, limit, lower_i64(b, 0)), whole);
}

// Past what both operands have, whole turns of the loop are left out.
static IrValue *depth_of(Lower *l, const Dot *d, IrBuilder *b) {
    IrValue *whole = lower_i64(b, d->k), *room = dot_room(l, b, d->op);
    if (!room) return whole;
    int64_t turn = (int64_t)d->group * dot_steps(d);
    room = lower_max(b, lower_add(b, room, lower_i64(b, turn - 1)), lower_i64(b, 0));
    return lower_min(b, ir_binary(b, IR_AND, room, lower_i64(b, -turn)), whole);
}

static void say_dot(const Lower *l, const Dot *d) {
    if (!l->remarks) return;
    const IrOp *op = d->op;
    const char *type = dtype_name(d->group > 1 ? d->part_b : d->sum);
    remark(l->remarks, op->span, d->tiles ? REASON_DOT_TILES : REASON_DOT_BLOCK, type,
           REMARK(d->block.rows, dot_columns(d), d->group));
    Dtype a = ir_operand(op, 0)->type->elem;
    if (d->group == 1 && a != d->sum && (a == DTYPE_BF16 || is_byte(a)))
        remark(l->remarks, op->span, REASON_DOT_CONVERTED, dtype_name(a), REMARK(0));
    uint32_t most = l->machine->vector_bytes / (uint32_t)dtype_size(d->sum);
    if (d->block.lanes < most)
        remark(l->remarks, op->span, REASON_DOT_NARROW, NULL, REMARK(d->n, most));
}

void dot_lower(Lower *l, IrOp *op) {
    IrValue *result = ir_result(op, 0);
    IrValue *acc = op->operand_count == 3 ? ir_operand(op, 2) : NULL;
    Buffer to = lower_result_buffer(l, result);
    if (!l->emit) return;
    Dot d = dot_of(l, op);
    d.result = to;
    say_dot(l, &d);
    if (acc) d.acc = lower_buffer_of(l, acc);
    IrBuilder b = lower_builder(l);
    uint32_t first = result->type->rank - 2;
    d.row_end = end_of(l, &b, result, first);
    d.column_end = end_of(l, &b, result, first + 1);
    d.depth_end = depth_of(l, &d, &b);
    if (result->type->rank == 2) {
        emit_matrix(l, &d, &b);
        return;
    }
    IrOp *loop = lower_for(&b, lower_i64(&b, 0), lower_i64(&b, d.batch), 1, 0, NULL);
    IrBuilder inside = ir_builder_at_end(loop->regions[0]);
    inside.span = op->span;
    d.item = loop->regions[0]->args[0];
    emit_matrix(l, &d, &inside);
    ir_yield(&inside, 0, NULL);
}
