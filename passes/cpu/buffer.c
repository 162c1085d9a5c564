// Scratch memory, and small steps of scalar arithmetic.
#include "passes/cpu/transpose.h"
#include "passes/rewrite.h"

const IrType *buffer_elem_type(Lower *l, const IrType *type) {
    return ir_scalar(l->module, type->kind == IR_PTR ? DTYPE_U64 : type->elem);
}

TileBuffer buffer_as(TileBuffer buffer, const IrType *type) {
    int64_t step = 1;
    buffer.type = type;
    for (uint32_t d = type->rank; d-- > 0; step *= type->shape[d]) buffer.step[d] = step;
    return buffer;
}

TileBuffer buffer_create(Lower *l, const IrType *type) {
    TileBuffer buffer = buffer_as((TileBuffer){.id = ++l->buffers}, type);
    if (!l->emit) return buffer;
    Dtype elem = buffer_elem_type(l, type)->elem;
    const IrType *pointer = ir_ptr(l->module, elem, 0, NULL);
    IrOp *op = ir_op(&l->top, IR_CPU_SCRATCH, 0, NULL, 1, &pointer, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ELEM, elem);
    ir_attr_set_int(op, IR_ATTR_COUNT, type->count);
    buffer.data = ir_result(op, 0);
    return buffer;
}

TileBuffer buffer_part(Lower *l, TileBuffer buffer, uint32_t dim, uint32_t from, const IrType *type,
                       bool drop) {
    TileBuffer part = {.id = ++l->buffers, .type = type};
    uint32_t at = 0;
    for (uint32_t d = 0; d < buffer.type->rank; d++)
        if (!(drop && d == dim)) part.step[at++] = buffer.step[d];
    if (!l->emit) return part;
    IrBuilder b = lower_builder(l);
    part.data = ir_ptr_add(&b, buffer.data, lower_i64(&b, from * buffer.step[dim]));
    return part;
}

TileBuffer lower_buffer_of(Lower *l, const IrValue *tile) {
    TileBuffer buffer = lower_tile(l, tile)->buffer;
    CHECK(buffer.id, "a value without its buffer");
    return buffer;
}

IrValue *buffer_element(IrBuilder *b, TileBuffer buffer, IrValue *linear) {
    return ir_ptr_add(b, buffer.data, linear);
}

// ---- scratch memory that nobody reads -----------------------------------------------------------

static bool is_only_written(const IrValue *pointer) {
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        const IrOp *op = use->user;
        bool write = (op->code == IR_CPU_STORE || op->code == IR_STORE) &&
                     ir_operand(op, 1) != pointer && ir_operand(op, 2) != pointer;
        bool moved = op->code == IR_PTR_ADD && is_only_written(&op->results[0]);
        if (!write && !moved) return false;
    }
    return true;
}

static void drop_writes(IrValue *pointer) {
    while (pointer->uses) {
        IrOp *op = pointer->uses->user;
        if (op->code == IR_PTR_ADD) drop_writes(ir_result(op, 0));
        ir_erase(op);
    }
}

void buffer_drop_unread(Lower *l) {
    for (IrOp *op = ir_body(l->func)->first, *next; op; op = next) {
        next = op->next;
        if (op->code != IR_CPU_SCRATCH || !is_only_written(ir_result(op, 0))) continue;
        drop_writes(ir_result(op, 0));
        next = op->next;
        ir_erase(op);
    }
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

// ---- buffers ------------------------------------------------------------------------------------

static AccessLanes buffer_lanes(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place) {
    AccessLanes lanes = {0};
    IrValue *linear = NULL;
    for (uint32_t d = buffer.type->rank; d-- > 0;) {
        Coord c = place.at[d];
        int64_t step = buffer.step[d];
        if (buffer.type->shape[d] == 1 || c.kind == COORD_ZERO) continue;
        NestValue at = nest_coord(l, nest, c);
        bool lane = nest_is_lane(nest, c);
        lanes.vector = lanes.vector || lane;
        lanes.neighbours = lanes.neighbours || (lane && step == 1);
        lanes.depth = at.depth > lanes.depth ? at.depth : lanes.depth;
        if (nest->collecting) continue;
        IrBuilder *b = nest_builder(nest, lanes.depth);
        IrValue *index = at.value;
        if (lane && step != 1) {
            IrValue *iota = ir_cast(b, ir_iota(b, nest->lanes), DTYPE_I64, true);
            index = ir_binary(b, IR_ADD, ir_broadcast(b, index, 1, &nest->lanes), iota);
        }
        linear = access_sum(nest, b, linear, access_scaled(nest, b, index, lower_i64(b, step)));
    }
    if (nest->collecting) return lanes;
    IrBuilder *b = nest_builder(nest, lanes.depth);
    if (!linear) linear = lower_i64(b, 0);
    lanes.pointer = access_element_pointer(nest, b, buffer.data, linear);
    return lanes;
}

// Lanes along one dimension, neighbours along another: the dimensions of both; false: not so.
static bool is_turned(const Nest *nest, TileBuffer buffer, LanePlace place, uint32_t *lane,
                      uint32_t *side) {
    uint32_t lanes = 0, sides = 0;
    for (uint32_t d = 0; d < buffer.type->rank; d++) {
        Coord c = place.at[d];
        if (buffer.type->shape[d] == 1) continue;
        if (nest_is_lane(nest, c)) *lane = d, lanes++;
        if (buffer.step[d] == 1 && square_fits(nest, c)) *side = d, sides++;
    }
    for (uint32_t d = 0; sides == 1 && d < buffer.type->rank; d++)
        if (d != *side && place.at[d].kind == COORD_LOOP &&
            place.at[d].loop == place.at[*side].loop && buffer.type->shape[d] > 1)
            return false;
    return lanes == 1 && sides == 1 && *lane != *side;
}

static Far far_of(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place, uint32_t lane) {
    IrValue *now = nest->variable[nest->side];
    nest->variable[nest->side] = nest->side_base;
    IrBuilder *top = nest_builder(nest, 0);
    Far far = {.of = buffer.id, .buffer = true, .elem = buffer.data->type->elem};
    IrValue *linear = lower_i64(top, 0);
    for (uint32_t d = 0; d < buffer.type->rank; d++) {
        if (buffer.type->shape[d] == 1 || place.at[d].kind == COORD_ZERO) continue;
        NestValue at = nest_coord(l, nest, place.at[d]);
        if (at.depth > far.depth) far.depth = at.depth;
        IrBuilder *b = nest_builder(nest, far.depth);
        linear = lower_add(b, linear, lower_mul(b, at.value, lower_i64(top, buffer.step[d])));
    }
    nest->variable[nest->side] = now;
    far.pointer = ir_ptr_add(nest_builder(nest, far.depth), buffer.data, linear);
    far.stride = lower_i64(top, buffer.step[lane]);
    return far;
}

// A vector of a square, which is loaded for the first of them.
static IrValue *load_turned(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place) {
    uint32_t lane = 0, side = 0;
    if (!nest->collecting && (nest->sides < 2 || nest->masked)) return NULL;
    if (!is_turned(nest, buffer, place, &lane, &side)) return NULL;
    if (nest->collecting) {
        Dtype elem = buffer_elem_type(l, buffer.type)->elem;
        if (elem != DTYPE_BOOL) square_collect(nest, place.at[side].loop, elem);
        return NULL;
    }
    if (!square_is_side(nest, place.at[side].loop) || buffer.data->type->elem == DTYPE_BOOL)
        return NULL;
    const Square *known = square_find(nest, &place, buffer.id, true);
    if (!known) {
        Far far = far_of(l, nest, buffer, place, lane);
        known = square_load(l, nest, &far, place);
    }
    return known->row[nest->side_at];
}

// What the store would drop is read as 0: nobody wants it.
static NestValue early_load(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place) {
    AccessLanes lanes = access_view_lanes(l, nest, buffer.view, place);
    if (nest->collecting) return (NestValue){NULL, lanes.depth};
    IrBuilder *b = nest_builder(nest, lanes.depth);
    Dtype elem = buffer.type->elem;
    ahead_fetch_owed(l, nest, place);
    return (NestValue){
        access_load_op(l, nest, b, &lanes, lanes.pointer, elem, nest->lanes, lanes.mask, NULL),
        lanes.depth};
}

NestValue access_buffer_load(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place) {
    if (buffer.view) return early_load(l, nest, buffer, place);
    AccessLanes lanes = buffer_lanes(l, nest, buffer, place);
    nest->lanes_differ = nest->lanes_differ || lanes.vector;
    IrValue *x = load_turned(l, nest, buffer, place);
    if (nest->collecting) return (NestValue){NULL, lanes.depth};
    IrBuilder *b = nest_builder(nest, lanes.depth);
    Dtype elem = buffer.data->type->elem;
    if (!x) x = access_load_op(l, nest, b, &lanes, lanes.pointer, elem, nest->lanes, NULL, NULL);
    if (buffer.type->kind == IR_PTR)
        x = ir_bitcast(b, x, value_type(l, nest, buffer.type, lanes.vector));
    return (NestValue){x, lanes.depth};
}

void access_buffer_store(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place, NestValue x) {
    if (buffer.view) {
        access_store(l, nest, buffer.view, place, x);
        return;
    }
    AccessLanes lanes = buffer_lanes(l, nest, buffer, place);
    if (nest->collecting) return;
    IrBuilder *b = nest_builder(nest, nest->depth);
    if (lanes.vector) x = value_splat(l, nest, x);
    IrValue *value = x.value;
    if (buffer.type->kind == IR_PTR)
        value = ir_bitcast(b, value,
                           ir_tile(l->module, DTYPE_U64, value->type->rank, value->type->shape));
    access_store_op(b, &lanes, lanes.pointer, value, NULL, false);
}
