// Products: the loops around a block. See dot.h.
#include "passes/cpu/emit/dot.h"
#include "passes/cpu/dot_trace.h"
#include "passes/rewrite.h"

// ---- loops --------------------------------------------------------------------------------------

// Emits as many whole blocks of rows from `from` on as fit before `to`; returns their end.
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

// Tall blocks, then short ones for the remaining rows.
static void all_rows(Lower *l, const Dot *d, IrBuilder *b, IrValue *j) {
    uint32_t tall = d->form.block.rows, small = d->form.tiles ? DOT_TILE_ROWS : tall >= 8 ? 4 : 2;
    IrValue *end = d->row_end, *at = lower_i64(b, 0);
    if (d->form.tiles || (tall > small && !is_constant(end))) {
        // Computing unused rows of the tile does no harm, so no single rows are needed.
        end = lower_add(b, end, lower_i64(b, small - 1));
        end = ir_binary(b, IR_AND, end, lower_i64(b, -(int64_t)small));
    }
    at = blocks_of(l, d, b, at, end, j, tall);
    if (tall > small) at = blocks_of(l, d, b, at, end, j, small);
    bool single = !d->form.tiles && tall > 1 && (tall <= small || is_constant(end));
    if (single) blocks_of(l, d, b, at, end, j, 1);
}

static void emit_columns(Lower *l, Dot *d, IrBuilder *b, IrValue *j) {
    if (d->form.flipped) dot_find_shift(l, d, b, j);
    all_rows(l, d, b, j);
}

static void all_columns(Lower *l, Dot *d, IrBuilder *b) {
    IrOp *loop = lower_for(b, lower_i64(b, 0), d->column_end, dot_columns(&d->form), 0, NULL);
    IrBuilder inside = ir_builder_at_end(loop->regions[0]);
    inside.span = b->span;
    emit_columns(l, d, &inside, loop->regions[0]->args[0]);
    ir_yield(&inside, 0, NULL);
}

static void packed_matrix(Lower *l, Dot *d, IrBuilder *b) {
    dot_pack_b(l, d, b);
    all_columns(l, d, b);
}

// With few rows of a, each element of b is used only a few times, so reading b from memory
// dominates. Blocks are wide then, so that b is read in long pieces of its rows.
static void thin_or_packed(Lower *l, Dot *d, IrBuilder *b, Dot *thin, IrValue *inside) {
    IrValue *few = ir_binary(b, IR_LE, d->row_end, lower_i64(b, thin->form.block.rows));
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
    thin.form.block = dot_thin_block(l->machine, &d->form);
    IrValue *inside;
    bool wider =
        d->form.m > thin.form.block.rows && thin.form.block.vectors > d->form.block.vectors;
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

static bool same_extent(const IrDim *a, const IrDim *b) {
    return a->extent == b->extent && (a->extent || a->value == b->value);
}

// The number of steps along k after which both operands stay 0: an i64. NULL: never, or unknown.
static IrValue *remaining_along_k(Lower *l, const Dot *d, IrBuilder *b) {
    DotTrace traces[2];
    if (!dot_trace_factors(l->scratch, d->op, traces)) return NULL;
    if (dot_trace_index(&traces[0]) != dot_trace_index(&traces[1])) return NULL;
    if (!same_extent(dot_trace_extent(l->func, &traces[0]), dot_trace_extent(l->func, &traces[1])))
        return NULL;
    bool inside = ir_attr(traces[0].load, IR_ATTR_INSIDE)->u.ints.items[traces[0].dim] ||
                  ir_attr(traces[1].load, IR_ATTR_INSIDE)->u.ints.items[traces[1].dim];
    return inside ? NULL : access_remaining(l, b, traces[0].load, traces[0].dim);
}

// Whole iterations beyond the ends of both operands are left out.
static IrValue *depth_of(Lower *l, const Dot *d, IrBuilder *b) {
    IrValue *whole = lower_i64(b, d->form.k), *remaining = remaining_along_k(l, d, b);
    if (!remaining) return whole;
    int64_t iteration = (int64_t)d->form.group * dot_steps(&d->form);
    remaining = lower_max(b, lower_add(b, remaining, lower_i64(b, iteration - 1)), lower_i64(b, 0));
    return lower_min(b, ir_binary(b, IR_AND, remaining, lower_i64(b, -iteration)), whole);
}

static void remark_dot(const Lower *l, const Dot *d) {
    if (!l->remarks) return;
    const IrOp *op = d->op;
    const char *type = dtype_name(d->form.group > 1 ? d->form.part_b : d->form.sum);
    remark(l->remarks, op->span, d->form.tiles ? REASON_DOT_TILES : REASON_DOT_BLOCK, type,
           REMARK(d->form.block.rows, dot_columns(&d->form), d->form.group));
    Dtype a = ir_operand(op, 0)->type->elem;
    if (d->form.group == 1 && a != d->form.sum && (a == DTYPE_BF16 || dot_is_byte(a)))
        remark(l->remarks, op->span, REASON_DOT_CONVERTED, dtype_name(a), REMARK(0));
    uint32_t most = l->machine->vector_bytes / (uint32_t)dtype_size(d->form.sum);
    if (d->form.block.lanes < most)
        remark(l->remarks, op->span, REASON_DOT_NARROW, NULL, REMARK(d->form.n, most));
}

void dot_lower(Lower *l, IrOp *op) {
    IrValue *result = ir_result(op, 0);
    IrValue *acc = op->operand_count == 3 ? ir_operand(op, 2) : NULL;
    TileBuffer to = lower_result_buffer(l, result);
    Dot d = {.op = op, .form = dot_form(l->machine, op)};
    d.result = to;
    remark_dot(l, &d);
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
    IrOp *loop = lower_for(&b, lower_i64(&b, 0), lower_i64(&b, d.form.batch), 1, 0, NULL);
    IrBuilder inside = ir_builder_at_end(loop->regions[0]);
    inside.span = op->span;
    d.item = loop->regions[0]->args[0];
    emit_matrix(l, &d, &inside);
    ir_yield(&inside, 0, NULL);
}
