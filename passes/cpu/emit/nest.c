// A nest of loops over one shape: outer dimensions one by one, the lanes' dimension in vectors, the
// axis of a reduction innermost unless it is the lanes' dimension.
//
//     for row …                       depth 1
//         for lanes 0 … interior      depth 2: all accesses known to be inside
//             (for k along the axis)  depth 3
//         for lanes interior … end    depth 2 again: accesses with masks
//
// A value that does not depend on a loop is computed before it: each value goes to the shallowest
// depth at which its coordinates are known. Invariants: lanes divide the dimension, as both are
// powers of two; within one iteration all roots' values are computed before any is stored, so that
// a root may write memory that another one reads at the same place.
#include <string.h>

#include "passes/cpu/emit/survey.h"
#include "passes/cpu/emit/transpose.h"
#include "passes/cpu/tuning.h"

// ---- the shape of the loops ---------------------------------------------------------------------

static void choose_order(Nest *nest) {
    nest->lane = nest->pack ? (int)nest->pack->lane : -1;
    for (uint32_t d = nest->rank; d-- > 0 && nest->lane < 0;)
        if (nest->shape[d] > 1) nest->lane = (int)d;
    uint8_t depth = 0;
    for (uint32_t d = 0; d < nest->rank; d++) {
        if (nest->shape[d] == 1 || (int)d == nest->lane || (int)d == nest->axis) continue;
        nest->depth_of[d] = ++depth;
    }
    if (nest->lane >= 0) nest->depth_of[nest->lane] = ++depth;
    if (nest->axis >= 0 && nest->axis != nest->lane && nest->shape[nest->axis] > 1)
        nest->depth_of[nest->axis] = ++depth;
}

static bool along_lanes(const Nest *nest) { return nest->axis == nest->lane; }

static bool has_axis_loop(const Nest *nest) {
    return nest->axis >= 0 && !along_lanes(nest) && nest->shape[nest->axis] > 1;
}

static const IrType *element_type(const Root *root) {
    const IrType *t = root->kind == ROOT_BUFFER ? root->buffer.type : NULL;
    if (root->kind == ROOT_STORE) t = ir_operand(root->op, 1)->type;
    if (root->kind == ROOT_REDUCE) t = ir_operand(root->op, 1)->type;
    return t;
}

// Narrow floats are computed in f32, but moved unconverted.
static uint32_t largest_element(const Nest *nest, bool computed) {
    uint32_t size = 1;
    for (size_t i = 0; i < nest->roots.count; i++) {
        const IrType *t = element_type(&nest->roots.data[i]);
        uint32_t s = t ? ir_elem_size(t) : 4;
        if (computed && t && dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT) && s < 4) s = 4;
        if (s > size) size = s;
    }
    return size;
}

// Four registers of the widest type keep the units busy; long chains of ops need the registers.
static uint32_t choose_lanes(const Lower *l, const Nest *nest) {
    if (nest->lane < 0) return 1;
    if (nest->pack) return nest->pack->lanes;
    uint32_t size = largest_element(nest, true), registers = TUNE_VECTOR_REGISTERS;
    if (nest->survey.work > TUNE_LONG_CHAIN) registers = TUNE_VECTOR_REGISTERS / 2;
    if (nest->survey.work > TUNE_VERY_LONG_CHAIN) registers = 1;
    uint32_t lanes = l->machine->vector_bytes / size * registers;
    if (lanes > l->machine->vector_bytes) lanes = l->machine->vector_bytes;
    for (size_t i = 0; i < nest->roots.count; i++) {
        const IrOp *op = nest->roots.data[i].op;
        if (!reduce_needs_scalars(op) && !access_needs_scalars(l, op)) continue;
        remark(l->remarks, op->span, REASON_LOOP_SCALAR, NULL, REMARK(0));
        return 1;
    }
    uint32_t extent = nest->shape[nest->lane];
    return lanes < extent ? lanes : extent;
}

// ---- loops --------------------------------------------------------------------------------------

// Opens a loop at the end of the open block; `tail` continues after it.
static IrOp *open_loop(Nest *nest, IrBuilder *tail, uint32_t dim, IrValue *lo, IrValue *hi,
                       int64_t step, uint32_t carried, IrValue *const *init) {
    IrOp *loop = lower_for(tail, lo, hi, step, carried, init);
    IrBuilder *outside = &nest->builder[nest->depth];
    if (outside->before == tail->before) outside->before = loop;
    nest->depth++;
    nest->variable[dim] = loop->regions[0]->args[0];
    nest->builder[nest->depth] = ir_builder_at_end(loop->regions[0]);
    nest->builder[nest->depth].span = tail->span;
    return loop;
}

static bool is_outside(const Nest *nest, const ValueMemo *memo) {
    return memo->val.depth < nest->depth;
}

static void close_loop(Lower *l, Nest *nest, IrBuilder *inside, uint32_t carried,
                       IrValue *const *values) {
    ir_yield(inside, carried, values);
    value_forget(l, nest, is_outside);
    nest->depth--;
}

typedef struct CarriedValues {
    uint32_t count;
    IrValue **value;
} CarriedValues;

// `first`, unless it is NULL, and then the accumulators of all reductions.
static CarriedValues carried(Lower *l, const Nest *nest, IrValue *first) {
    uint32_t count = first ? 1 : 0;
    for (size_t i = 0; i < nest->roots.count; i++) count += nest->roots.data[i].accumulator_count;
    CarriedValues c = {.value = arena_new(l->scratch, IrValue *, count + 1)};
    if (first) c.value[c.count++] = first;
    for (size_t i = 0; i < nest->roots.count; i++) {
        const Root *r = &nest->roots.data[i];
        for (uint32_t k = 0; k < r->accumulator_count; k++)
            c.value[c.count++] = r->accumulators[k].value;
    }
    return c;
}

static CarriedValues take_accumulators(Lower *l, const Nest *nest) {
    return carried(l, nest, NULL);
}

static void put_accumulators(Nest *nest, IrValue *const *values, uint8_t depth) {
    uint32_t at = 0;
    for (size_t i = 0; i < nest->roots.count; i++) {
        Root *r = &nest->roots.data[i];
        for (uint32_t k = 0; k < r->accumulator_count; k++)
            r->accumulators[k] = (NestValue){values[at++], depth};
    }
}

static void put_arguments(Nest *nest, const IrOp *loop) {
    put_accumulators(nest, loop->regions[0]->args + 1, nest->depth);
}

// The accumulators are the loop's results from `first` on.
static void put_results(Lower *l, Nest *nest, IrOp *loop, uint32_t first) {
    IrValue **values = arena_new(l->scratch, IrValue *, loop->result_count + 1);
    for (uint32_t i = first; i < loop->result_count; i++) values[i - first] = ir_result(loop, i);
    put_accumulators(nest, values, nest->depth);
}

static void begin_reductions(Lower *l, Nest *nest) {
    for (size_t i = 0; i < nest->roots.count; i++)
        if (nest->roots.data[i].kind == ROOT_REDUCE) reduce_begin(l, nest, &nest->roots.data[i]);
}

static void end_reductions(Lower *l, Nest *nest, LanePlace place) {
    for (size_t i = 0; i < nest->roots.count; i++)
        if (nest->roots.data[i].kind == ROOT_REDUCE)
            reduce_end(l, nest, &nest->roots.data[i], place);
}

// ---- the body -----------------------------------------------------------------------------------

static NestValue root_value(Lower *l, Nest *nest, const Root *root, LanePlace place) {
    if (root->source.id) return access_buffer_load(l, nest, root->source, place);
    if (root->kind == ROOT_BUFFER) return value_at(l, nest, root->value, place);
    IrValue *x = ir_operand(root->op, 1);
    return value_at(l, nest, x, x->type->rank ? place : (LanePlace){0});
}

static void emit_packed(Lower *l, Nest *nest) {
    const Pack *pack = nest->pack;
    NestValue x = value_at(l, nest, pack->tile, pack->place);
    pack->store(l, nest, x, pack->user);
}

static void emit_body(Lower *l, Nest *nest) {
    if (nest->pack) {
        emit_packed(l, nest);
        return;
    }
    LanePlace place = nest_place(nest);
    NestValue *values = arena_new(l->scratch, NestValue, nest->roots.count);
    for (size_t i = 0; i < nest->roots.count; i++) {
        Root *root = &nest->roots.data[i];
        if (root->kind == ROOT_REDUCE)
            reduce_step(l, nest, root, place);
        else
            values[i] = root_value(l, nest, root, place);
    }
    for (size_t i = 0; i < nest->roots.count; i++) {
        Root *root = &nest->roots.data[i];
        if (root->kind == ROOT_BUFFER) {
            access_buffer_store(l, nest, root->buffer, place, values[i]);
            if (nest->no_loops && root->op)
                lower_tile(l, root->value)->vector = value_splat(nest, values[i]).value;
        } else if (root->kind == ROOT_STORE)
            access_store(l, nest, root->op, place, values[i]);
    }
}

// Emits the body for each coordinate of the side. Transposed loads read all coordinates before the
// first store; this keeps more of the program's order, not less.
static void emit_transposed_block(Lower *l, Nest *nest) {
    uint32_t side = (uint32_t)nest->side;
    IrValue *base = nest->variable[side];
    nest->side_base = base;
    nest->transpose_blocks.count = nest->stepped.count = 0;
    for (uint32_t r = 0; r < nest->sides; r++) {
        IrBuilder *b = nest_builder(nest, nest->depth_of[side]);
        nest->side_at = r;
        nest->variable[side] = lower_add(b, base, lower_i64(b, r));
        transpose_drop_memos(l, nest);
        emit_body(l, nest);
    }
    nest->variable[side] = base;
    nest->side_base = NULL;
    transpose_drop_memos(l, nest);
}

static void emit_axis_loop(Lower *l, Nest *nest) {
    begin_reductions(l, nest);
    IrBuilder tail = nest->builder[nest->depth];
    CarriedValues init = take_accumulators(l, nest);
    uint32_t axis = (uint32_t)nest->axis;
    IrOp *loop = open_loop(nest, &tail, axis, lower_i64(&tail, 0),
                           lower_i64(&tail, nest->shape[axis]), 1, init.count, init.value);
    put_arguments(nest, loop);
    emit_body(l, nest);
    CarriedValues next = take_accumulators(l, nest);
    close_loop(l, nest, nest_builder(nest, nest->depth), next.count, next.value);
    put_results(l, nest, loop, 0);
    // Code that follows goes after the loop.
    nest->builder[nest->depth] = tail;
    end_reductions(l, nest, nest_place(nest));
}

static void emit_in_lanes(Lower *l, Nest *nest) {
    if (has_axis_loop(nest)) {
        emit_axis_loop(l, nest);
        return;
    }
    if (nest->sides > 1 && !nest->masked) {
        emit_transposed_block(l, nest);
        return;
    }
    bool ends_here = nest->axis >= 0 && !along_lanes(nest);
    if (ends_here) begin_reductions(l, nest);
    emit_body(l, nest);
    if (ends_here) end_reductions(l, nest, nest_place(nest));
}

static IrValue *as_bits(IrBuilder *b, IrValue *x) {
    static const Dtype of_size[] = {
        [1] = DTYPE_U8, [2] = DTYPE_U16, [4] = DTYPE_U32, [8] = DTYPE_U64};
    if (x->type->elem == DTYPE_BOOL) return x;
    return ir_bitcast(b, x, ir_with_elem(b->module, x->type, of_size[ir_elem_size(x->type)]));
}

static IrValue *any_of(IrBuilder *b, IrValue *x) {
    if (x->type->rank == 0) return x;
    const IrType *t = ir_scalar(b->module, DTYPE_BOOL);
    IrOp *op = ir_op(b, IR_VEC_REDUCE, 1, &x, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_REDUCE, IR_REDUCE_ANY);
    return ir_result(op, 0);
}

static IrValue *differ(IrBuilder *b, const CarriedValues *before, const CarriedValues *after) {
    IrValue *moved = NULL;
    for (uint32_t i = 0; i < after->count; i++) {
        IrValue *x = as_bits(b, before->value[i]), *y = as_bits(b, after->value[i]);
        IrValue *differs = ir_binary(b, x->type->elem == DTYPE_BOOL ? IR_XOR : IR_NE, x, y);
        if (moved && moved->type != differs->type) {
            moved = any_of(b, moved);
            differs = any_of(b, differs);
        }
        moved = moved ? ir_binary(b, IR_OR, moved, differs) : differs;
    }
    return any_of(b, moved);
}

static void emit_lane_loop(Lower *l, Nest *nest, IrBuilder *tail, IrValue *lo, IrValue *hi) {
    bool along = along_lanes(nest);
    CarriedValues init = {0}, next = {0};
    if (along) init = take_accumulators(l, nest);
    IrOp *loop =
        open_loop(nest, tail, (uint32_t)nest->lane, lo, hi, nest->lanes, init.count, init.value);
    if (along) put_arguments(nest, loop);
    emit_in_lanes(l, nest);
    if (along) next = take_accumulators(l, nest);
    close_loop(l, nest, nest_builder(nest, nest->depth), next.count, next.value);
    if (along) put_results(l, nest, loop, 0);
}

// Beyond the end of all views every lane has the same value, that of the padding, so nothing is
// loaded. Once a step leaves the accumulators unchanged, all later ones will do so, too: the loop
// ends.
static void emit_padding_loop(Lower *l, Nest *nest, IrBuilder *tail, IrValue *lo, IrValue *hi) {
    size_t memos = nest->memo.count;
    CarriedValues init = carried(l, nest, ir_const_bool(tail, true));
    IrOp *loop =
        open_loop(nest, tail, (uint32_t)nest->lane, lo, hi, nest->lanes, init.count, init.value);
    ir_attr_set_int(loop, IR_ATTR_EXIT, true);
    put_accumulators(nest, loop->regions[0]->args + 2, nest->depth);
    CarriedValues before = take_accumulators(l, nest);
    nest->outside = true;
    for (size_t i = 0; i < nest->roots.count; i++) {
        Root *root = &nest->roots.data[i];
        if (root->kind == ROOT_REDUCE) reduce_step(l, nest, root, nest_place(nest));
    }
    nest->outside = false;
    CarriedValues after = take_accumulators(l, nest);
    IrBuilder *b = nest_builder(nest, nest->depth);
    CarriedValues next = carried(l, nest, differ(b, &before, &after));
    close_loop(l, nest, b, next.count, next.value);
    value_forget_from(l, nest, memos);
    put_results(l, nest, loop, 1);
}

// ---- how far the loops run ----------------------------------------------------------------------

// The view's dimension for a dimension of the selection.
static uint32_t selected_dim(const IrOp *op, uint32_t dim) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t at = 0;
    for (uint32_t d = 0; d < select->u.ints.count; d++)
        if (select->u.ints.items[d] > 0 && at++ == dim) return d;
    return select->u.ints.count;
}

// The number of elements of a store along a dimension that may be inside its view; NULL: all.
static IrValue *store_limit(Lower *l, IrBuilder *b, const IrOp *op, uint32_t dim) {
    if (op->code != IR_VIEW_STORE) return NULL;
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT), *inside = ir_attr(op, IR_ATTR_INSIDE);
    uint32_t start = ir_view_index_start(op->code), at = 0;
    for (uint32_t d = 0; d < select->u.ints.count; d++) {
        const IrType *t = ir_operand(op, start + d)->type;
        if (t->rank > 0) return NULL;
        if (select->u.ints.items[d] == 0 || at++ != dim) continue;
        if (inside->u.ints.items[d]) return NULL;
        return access_remaining(l, b, op, d);
    }
    return NULL;
}

static IrValue *root_limit(Lower *l, IrBuilder *b, const Root *root, uint32_t dim) {
    switch (root->kind) {
    case ROOT_BUFFER: return demand_limit(l, b, root->value, dim);
    case ROOT_STORE: return store_limit(l, b, root->op, dim);
    case ROOT_REDUCE: {
        int64_t axis = ir_attr_int(root->op, IR_ATTR_AXIS);
        if ((int64_t)dim == axis) return NULL;
        const IrValue *result = ir_result(root->op, 0);
        return result->type->rank ? demand_limit(l, b, result, dim > axis ? dim - 1 : dim) : NULL;
    }
    }
    return NULL;
}

// The number of elements along a dimension that belong to the programs of this run: no more are
// needed.
static IrValue *span_limit(Lower *l, const Nest *nest, uint32_t dim) {
    for (size_t i = 0; i < nest->roots.count; i++) {
        const IrOp *op = nest->roots.data[i].op;
        if (nest->roots.data[i].kind != ROOT_STORE || op->code != IR_VIEW_STORE) continue;
        for (size_t k = 0; k < l->reaches.count; k++) {
            const StoreReach *s = &l->reaches.data[k];
            if (s->store == op && selected_dim(op, dim) == s->dim) return s->extent;
        }
    }
    return NULL;
}

// Where the loop along a dimension may end: the largest limit of all roots. NULL: at the full
// extent.
static IrValue *nest_limit(Lower *l, Nest *nest, uint32_t dim) {
    IrBuilder *b = nest_builder(nest, 0);
    IrValue *limit = nest->pack ? nest->pack->limit[dim] : NULL;
    for (size_t i = 0; i < nest->roots.count; i++) {
        IrValue *one = root_limit(l, b, &nest->roots.data[i], dim);
        limit = limit && one ? lower_max(b, limit, one) : one;
        if (!one) break;
    }
    IrValue *span = span_limit(l, nest, dim);
    if (span) limit = limit ? lower_min(b, limit, span) : span;
    if (!limit) return NULL;
    limit = lower_max(b, limit, lower_i64(b, 0));
    return lower_min(b, limit, lower_i64(b, nest->shape[dim]));
}

static IrValue *round_down(IrBuilder *b, IrValue *x, int64_t step) {
    return ir_binary(b, IR_AND, x, lower_i64(b, -step));
}

// The lane coordinate from which on all lanes have the same value, and no root but reductions needs
// any; NULL: unknown.
static IrValue *find_padding(Lower *l, Nest *nest, const Interior *in, uint32_t lane) {
    IrValue *start = in->farthest;
    if (nest->survey.lanes_differ || !along_lanes(nest)) return NULL;
    IrBuilder *b = nest_builder(nest, nest->depth);
    for (size_t i = 0; i < nest->roots.count && start; i++) {
        const Root *root = &nest->roots.data[i];
        if (root->kind == ROOT_REDUCE) continue;
        IrBuilder *top = nest_builder(nest, 0);
        IrValue *limit = root->kind == ROOT_BUFFER && root->op
                             ? demand_limit_outside(l, top, nest, root->value, lane)
                             : root_limit(l, top, root, lane);
        start = limit ? lower_max(b, start, limit) : NULL;
    }
    return start;
}

// The edge of squares: the coordinates of the side one by one, in a loop within the outer ones.
static void emit_transpose_edge(Lower *l, Nest *nest, IrBuilder *tail, IrValue *lo, IrValue *hi) {
    uint32_t side = (uint32_t)nest->side, lane = (uint32_t)nest->lane, sides = nest->sides;
    uint8_t side_depth = nest->depth_of[side], lane_depth = nest->depth_of[lane];
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrValue *base = nest->variable[side], *end = lower_add(b, base, lower_i64(b, sides));
    end = lower_min(b, end, nest->side_limit);
    nest->sides = 1;
    nest->depth_of[side] = nest->depth + 1;
    nest->depth_of[lane] = nest->depth + 2;
    transpose_drop_memos(l, nest);
    open_loop(nest, tail, side, base, end, 1, 0, NULL);
    IrBuilder inside = nest->builder[nest->depth];
    emit_lane_loop(l, nest, &inside, lo, hi);
    transpose_drop_memos(l, nest);
    close_loop(l, nest, &inside, 0, NULL);
    nest->depth_of[side] = side_depth;
    nest->depth_of[lane] = lane_depth;
    nest->variable[side] = base;
    nest->sides = sides;
}

// From the interior's end on.
static void emit_edge(Lower *l, Nest *nest, IrBuilder *tail, IrValue *interior, IrValue *end,
                      const Interior *in) {
    nest->masked = true;
    IrValue *padding = nest->sides > 1 ? NULL : find_padding(l, nest, in, (uint32_t)nest->lane);
    if (nest->sides > 1) {
        emit_transpose_edge(l, nest, tail, interior, end);
    } else if (padding) {
        IrBuilder *b = nest_builder(nest, nest->depth);
        padding = lower_add(b, lower_min(b, padding, end), lower_i64(b, nest->lanes - 1));
        padding = lower_max(b, round_down(b, padding, nest->lanes), interior);
        emit_lane_loop(l, nest, tail, interior, padding);
        emit_padding_loop(l, nest, tail, padding, end);
    } else {
        emit_lane_loop(l, nest, tail, interior, end);
    }
    nest->masked = false;
}

// Does one vector cover the whole row? Then there is no loop, and accesses that may be outside have
// masks.
static bool fits_one_vector(const Lower *l, const Nest *nest) {
    return nest->lane >= 0 && nest->lanes == nest->shape[nest->lane] && l->machine->masks &&
           nest->lanes > 1 && nest->sides <= 1 && !nest->pack && !has_axis_loop(nest);
}

// Are there no loops around it either? Then its values stay in registers for the nests that follow.
static bool has_no_loops(const Lower *l, const Nest *nest) {
    for (uint32_t d = 0; d < nest->rank; d++)
        if ((int)d != nest->lane && nest->shape[d] > 1) return false;
    return fits_one_vector(l, nest);
}

static void emit_one_vector(Lower *l, Nest *nest, const Interior *in) {
    nest->variable[nest->lane] = lower_i64(nest_builder(nest, 0), 0);
    nest->builder[nest->depth + 1] = nest->builder[nest->depth];
    nest->depth++;
    nest->masked = in->from_start || in->end;
    nest->one_vector = along_lanes(nest);
    emit_in_lanes(l, nest);
    nest->masked = nest->one_vector = false;
    nest->depth--;
    if (along_lanes(nest)) end_reductions(l, nest, nest_place(nest));
}

static void emit_lanes(Lower *l, Nest *nest) {
    uint32_t lane = (uint32_t)nest->lane;
    IrBuilder *hoist = nest_builder(nest, nest->depth);
    if (along_lanes(nest)) begin_reductions(l, nest);
    Interior in = access_interior(l, nest);
    if (fits_one_vector(l, nest)) {
        emit_one_vector(l, nest, &in);
        return;
    }
    IrBuilder *top = nest_builder(nest, 0);
    IrValue *limit = nest_limit(l, nest, lane), *end = lower_i64(top, nest->shape[lane]);
    if (limit && nest->lanes > 1) {
        limit = lower_add(top, limit, lower_i64(top, nest->lanes - 1));
        end = round_down(top, limit, nest->lanes);
    } else if (limit) {
        end = limit;
    }
    bool edge = in.from_start || in.end;
    IrValue *interior = end;
    if (in.end) {
        IrValue *left = lower_min(hoist, lower_max(hoist, in.end, lower_i64(hoist, 0)), end);
        interior = round_down(hoist, left, nest->lanes);
    }
    if (in.from_start)
        interior = ir_ternary(hoist, IR_SELECT, in.from_start, interior, lower_i64(hoist, 0));
    IrBuilder tail = *hoist;
    nest->masked = false;
    emit_lane_loop(l, nest, &tail, lower_i64(hoist, 0), interior);
    if (edge) emit_edge(l, nest, &tail, interior, end, &in);
    if (!along_lanes(nest)) return;
    nest->builder[nest->depth] = tail;
    end_reductions(l, nest, nest_place(nest));
}

static void emit_outer(Lower *l, Nest *nest, uint32_t from) {
    uint32_t d = from;
    while (d < nest->rank && (nest->shape[d] == 1 || (int)d == nest->lane || (int)d == nest->axis))
        d++;
    if (d == nest->rank) {
        emit_lanes(l, nest);
        return;
    }
    IrBuilder tail = nest->builder[nest->depth];
    IrValue *limit = nest_limit(l, nest, d);
    IrBuilder *top = nest_builder(nest, 0);
    if (!limit) limit = lower_i64(top, nest->shape[d]);
    if (nest->depth == 0) tail = nest->builder[0];
    bool side = transpose_is_side(nest, d);
    if (side) nest->side_limit = limit;
    open_loop(nest, &tail, d, lower_i64(top, 0), limit, side ? nest->sides : 1, 0, NULL);
    uint8_t depth = nest->depth;
    IrBlock *block = nest->builder[depth].block;
    emit_outer(l, nest, d + 1);
    IrBuilder end = ir_builder_at_end(block);
    end.span = tail.span;
    close_loop(l, nest, &end, 0, NULL);
}

// A nest of single elements: no loops.
static void emit_single(Lower *l, Nest *nest) {
    if (nest->axis >= 0) begin_reductions(l, nest);
    emit_body(l, nest);
    if (nest->axis >= 0) end_reductions(l, nest, nest_place(nest));
}

static void keep_early(Lower *l, Nest *nest) {
    for (size_t i = 0; i < nest->roots.count; i++) {
        Root *root = &nest->roots.data[i];
        root->buffer.view = store_early_find(l, nest, root);
        if (root->buffer.view) lower_tile(l, root->value)->buffer.view = root->buffer.view;
    }
}

static void emit(Lower *l, Nest *nest) {
    choose_order(nest);
    nest->depth = 0;
    // First with as many lanes as possible, so that all values that may move do; then with the
    // chosen number.
    nest->lanes = nest->lane >= 0 ? nest->shape[nest->lane] : 1;
    survey(l, nest);
    nest->lanes = choose_lanes(l, nest);
    transpose_choose(l, nest, largest_element(nest, false));
    nest->no_loops = has_no_loops(l, nest);
    if (!nest->no_loops && nest->sides <= 1) keep_early(l, nest);
    survey(l, nest);
    if (nest->lane < 0)
        emit_single(l, nest);
    else
        emit_outer(l, nest, 0);
}

void nest_pack(Lower *l, const IrBuilder *b, const Pack *pack) {
    Nest nest = {.rank = pack->rank, .axis = -1, .pack = pack};
    memcpy(nest.shape, pack->shape, pack->rank * sizeof *pack->shape);
    nest.builder[0] = *b;
    emit(l, &nest);
}

typedef void EachElement(Lower *l, Nest *nest, LanePlace place, void *user);

static void each_from(Lower *l, Nest *nest, uint32_t d, EachElement *each, void *user) {
    while (d < nest->rank && nest->shape[d] == 1) d++;
    if (d == nest->rank) {
        each(l, nest, nest_place(nest), user);
        return;
    }
    IrBuilder tail = nest->builder[nest->depth];
    IrValue *zero = lower_i64(&tail, 0), *end = lower_i64(&tail, nest->shape[d]);
    nest->depth_of[d] = nest->depth + 1;
    open_loop(nest, &tail, d, zero, end, 1, 0, NULL);
    IrBuilder body = nest->builder[nest->depth];
    each_from(l, nest, d + 1, each, user);
    close_loop(l, nest, &body, 0, NULL);
}

void nest_each(Lower *l, uint32_t rank, const uint32_t *shape, EachElement *each, void *user) {
    Nest nest = {.rank = rank, .axis = -1, .lane = -1, .lanes = 1};
    memcpy(nest.shape, shape, rank * sizeof *shape);
    nest.builder[0] = lower_builder(l);
    each_from(l, &nest, 0, each, user);
}

// ---- the open nest ------------------------------------------------------------------------------

static void set_pending(Lower *l, const Root *root, bool pending) {
    for (uint32_t i = 0; root->kind == ROOT_REDUCE && i < root->op->result_count; i++)
        lower_tile(l, ir_result(root->op, i))->pending = pending;
    if (root->kind == ROOT_BUFFER && root->op) lower_tile(l, root->value)->pending = pending;
}

void nest_add(Lower *l, const Root *root, const IrType *shape, int axis, uint32_t number) {
    if (!l->nest) {
        l->nest = arena_new(l->scratch, Nest, 1);
        l->nest->number = number;
        l->nest->rank = shape->rank;
        l->nest->axis = -1;
        memcpy(l->nest->shape, shape->shape, shape->rank * sizeof *shape->shape);
    }
    if (axis >= 0) l->nest->axis = axis;
    vec_push(l->scratch, &l->nest->roots, *root);
    set_pending(l, root, true);
}

void nest_flush(Lower *l) {
    Nest *nest = l->nest;
    if (!nest) return;
    l->nest = NULL;
    l->nest_number++;
    nest->builder[0] = lower_builder(l);
    emit(l, nest);
    for (size_t i = 0; i < nest->roots.count; i++) set_pending(l, &nest->roots.data[i], false);
}
