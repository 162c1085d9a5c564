// cpu_lower: tile ops become loops over vectors, as cpu_plan has decided. See emit/lower.h.
#include "passes/cpu/emit/lower.h"

#include "passes/passes.h"

static bool waits(Lower *l, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (ir_operand(op, i) && lower_tile(l, ir_operand(op, i))->pending) return true;
    return false;
}

static bool nest_writes(const Lower *l) {
    for (size_t i = 0; l->nest && i < l->nest->roots.count; i++)
        if (l->nest->roots.data[i].kind == ROOT_STORE) return true;
    return false;
}

// ---- roots --------------------------------------------------------------------------------------

// The nest of the next root of the op; if the op names none, the root gets a nest of its own.
static uint32_t next_nest(Lower *l, const IrOp *op) {
    const IrNests *nests = ir_nests(op);
    if (l->root_op != op) l->root_op = op, l->roots = 0;
    if (nests && l->roots < nests->count) return (uint32_t)nests->items[l->roots++];
    nest_flush(l);
    return 0;
}

static void add_root(Lower *l, const Root *root, const IrType *shape, int axis, uint32_t number) {
    if (l->nest && l->nest->number != number) nest_flush(l);
    nest_add(l, root, shape, axis, number);
}

// Copies the value to a buffer for `op`.
static void copy_to(Lower *l, const IrOp *op, IrValue *value, TileBuffer buffer) {
    Root root = {.kind = ROOT_BUFFER, .value = value, .buffer = buffer};
    add_root(l, &root, value->type, -1, next_nest(l, op));
}

// ---- single ops ---------------------------------------------------------------------------------

static void lower_scalar(Lower *l, const IrOp *op) {
    if (op_ends_nest(op, waits(l, op), nest_writes(l))) nest_flush(l);
}

static void lower_reduce(Lower *l, IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (cpu_is_tile(ir_result(op, i))) lower_result_buffer(l, ir_result(op, i));
    Root root = {.kind = ROOT_REDUCE, .op = op};
    int axis = (int)ir_attr_int(op, IR_ATTR_AXIS);
    add_root(l, &root, ir_operand(op, 1)->type, axis, next_nest(l, op));
}

static void lower_store(Lower *l, IrOp *op) {
    Root root = {.kind = ROOT_STORE, .op = op};
    add_root(l, &root, op_store_shape(l->module, op), -1, next_nest(l, op));
}

static NestValue element_of(Lower *l, Nest *nest, IrOp *op, uint32_t result) {
    if (op->code == IR_VIEW_LOAD) return access_load(l, nest, op, (LanePlace){0});
    if (op->code == IR_VIEW_INSIDE) return access_inside(l, nest, op, (LanePlace){0});
    LanePlace at;
    bool placed = value_operand_place(op, ir_result(op, result), 0, (LanePlace){0}, &at);
    CHECK(placed, "no place of an operand");
    return value_at(l, nest, ir_operand(op, 0), at);
}

// One element of a view or a tile is computed at once and is a scalar from then on.
static void lower_element(Lower *l, IrOp *op) {
    if (!op_is_view_access(op) || waits(l, op) || nest_writes(l)) nest_flush(l);
    Nest nest = {.axis = -1, .lane = -1, .lanes = 1};
    nest.builder[0] = lower_builder(l);
    for (uint32_t i = 0; i < op->result_count; i++)
        ir_replace_all(ir_result(op, i), element_of(l, &nest, op, i).value);
}

static void lower_value(Lower *l, IrOp *op) {
    const IrNests *nests = ir_nests(op);
    for (uint32_t i = 0; nests && i < op->result_count; i++) {
        if (!nests->items[i]) continue;
        IrValue *r = ir_result(op, i);
        Root root = {.kind = ROOT_BUFFER, .op = op, .value = r};
        root.buffer = lower_result_buffer(l, r);
        add_root(l, &root, r->type, -1, (uint32_t)nests->items[i]);
    }
}

// join, cat: each operand goes to its part of the result's buffer.
static void lower_parts(Lower *l, IrOp *op) {
    TileBuffer whole = lower_result_buffer(l, ir_result(op, 0));
    bool join = op->code == IR_JOIN;
    const IrType *t = ir_operand(op, 0)->type;
    uint32_t dim = join ? t->rank : (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
    uint32_t half = join ? 1 : t->shape[dim];
    for (uint32_t i = 0; i < 2; i++)
        copy_to(l, op, ir_operand(op, i), buffer_part(l, whole, dim, i * half, t, join));
    nest_flush(l);
}

static void lower_whole(Lower *l, IrOp *op) {
    nest_flush(l);
    switch (op->code) {
    case IR_DOT: dot_lower(l, op); break;
    case IR_JOIN:
    case IR_CAT: lower_parts(l, op); break;
    case IR_SCAN: scan_lower(l, op); break;
    case IR_SORT:
    case IR_TOPK:
    case IR_HISTOGRAM: order_lower(l, op); break;
    default: effect_lower(l, op); break;
    }
    l->nest_number++;
}

// ---- control flow: each carried tile has one buffer ---------------------------------------------

static void lower_block(Lower *l, IrBlock *block);

static void carry(Lower *l, const IrValue *value, TileBuffer buffer) {
    lower_tile(l, value)->buffer = buffer;
}

static void put_in(Lower *l, const IrOp *op, IrValue *value, TileBuffer buffer) {
    const TileState *t = lower_tile(l, value);
    if (!(t->in_memory && t->buffer.id == buffer.id)) copy_to(l, op, value, buffer);
}

// The values that a region yields go to the buffers of the tiles that carry them (`carried`: the
// region's arguments; NULL for an `if`).
typedef struct Yields {
    IrOp *yield;
    uint32_t count;
    IrValue *const *carried;
    const TileBuffer *buffers;
} Yields;

// If the value is another carried tile (a swap), it is copied to a spare buffer first.
static TileBuffer set_aside(Lower *l, const Yields *y, uint32_t i) {
    IrValue *value = ir_operand(y->yield, i);
    for (uint32_t k = 0; y->carried && k < y->count; k++) {
        if (value != y->carried[k] || k == i) continue;
        TileBuffer spare = buffer_create(l, value->type);
        copy_to(l, y->yield, value, spare);
        nest_flush(l);
        return spare;
    }
    return (TileBuffer){0};
}

static void move_to(Lower *l, const IrOp *op, IrValue *value, TileBuffer from, TileBuffer to) {
    Root root = {.kind = ROOT_BUFFER, .value = value, .source = from, .buffer = to};
    add_root(l, &root, value->type, -1, next_nest(l, op));
}

static void keep_yields(Lower *l, const Yields *y) {
    l->insert_before = y->yield;
    TileBuffer *aside = arena_new(l->scratch, TileBuffer, y->count + 1);
    for (uint32_t i = 0; i < y->count; i++)
        if (cpu_is_tile(ir_operand(y->yield, i))) aside[i] = set_aside(l, y, i);
    for (uint32_t i = 0; i < y->count; i++) {
        IrValue *value = ir_operand(y->yield, i);
        if (!cpu_is_tile(value)) continue;
        if (aside[i].id)
            move_to(l, y->yield, value, aside[i], y->buffers[i]);
        else
            put_in(l, y->yield, value, y->buffers[i]);
    }
    nest_flush(l);
}

static void lower_loop(Lower *l, IrOp *op) {
    bool counted = op->code == IR_FOR;
    uint32_t first = counted ? 3 : 0, count = op->operand_count - first;
    IrBlock *body = op->regions[counted ? 0 : 1];
    IrValue *const *args = body->args + (counted ? 1 : 0);
    TileBuffer *buffers = arena_new(l->scratch, TileBuffer, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        IrValue *init = ir_operand(op, first + i);
        if (!cpu_is_tile(init)) continue;
        buffers[i] = lower_result_buffer(l, args[i]);
        put_in(l, op, init, buffers[i]);
    }
    nest_flush(l);
    for (uint32_t i = 0; i < count; i++) {
        if (!buffers[i].id) continue;
        carry(l, ir_result(op, i), buffers[i]);
        if (!counted) carry(l, op->regions[0]->args[i], buffers[i]);
    }
    if (!counted) {
        lower_block(l, op->regions[0]);
        l->insert_before = op->regions[0]->last;
        nest_flush(l);
    }
    lower_block(l, body);
    keep_yields(l, &(Yields){body->last, count, args, buffers});
}

static void lower_if(Lower *l, IrOp *op) {
    TileBuffer *buffers = arena_new(l->scratch, TileBuffer, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++)
        if (cpu_is_tile(ir_result(op, i))) buffers[i] = lower_result_buffer(l, ir_result(op, i));
    for (uint32_t i = 0; i < op->region_count; i++) {
        lower_block(l, op->regions[i]);
        keep_yields(l, &(Yields){op->regions[i]->last, op->result_count, NULL, buffers});
    }
}

static void lower_control(Lower *l, IrOp *op) {
    nest_flush(l);
    if (op->code == IR_IF)
        lower_if(l, op);
    else
        lower_loop(l, op);
    vec_push(l->scratch, &l->control, op);
}

// ---- the walk -----------------------------------------------------------------------------------

static void lower_tiles(Lower *l, IrOp *op) {
    vec_push(l->scratch, &l->dead, op);
    if (op_is_whole(op))
        lower_whole(l, op);
    else if (op->code == IR_REDUCE)
        lower_reduce(l, op);
    else if (op->code == IR_VIEW_STORE || op->code == IR_STORE)
        lower_store(l, op);
    else if (op->result_count && op->results[0].type->rank == 0)
        lower_element(l, op);
    else
        lower_value(l, op);
}

static void lower_op(Lower *l, IrOp *op) {
    if (op->region_count && op->code != IR_REDUCE && op->code != IR_SCAN)
        lower_control(l, op);
    else if (op_is_scalar(op))
        lower_scalar(l, op);
    else
        lower_tiles(l, op);
}

static void lower_block(Lower *l, IrBlock *block) {
    IR_EACH_OP(op, block) {
        l->insert_before = op;
        if (op == block->last) break;
        lower_op(l, op);
    }
    l->insert_before = block->last;
}

// ---- reading the plan ---------------------------------------------------------------------------

static void in_memory(Lower *l, const IrValue *value) {
    if (cpu_is_tile(value)) lower_tile(l, value)->in_memory = true;
}

static void read_block(Lower *l, const IrBlock *block);

static void read_op(Lower *l, const IrOp *op) {
    bool control = op->region_count && op->code != IR_REDUCE && op->code != IR_SCAN;
    bool always = control || op->code == IR_REDUCE || op_is_whole(op);
    const IrNests *nests = ir_nests(op);
    for (uint32_t i = 0; i < op->result_count; i++)
        if (always || (nests && nests->items[i])) in_memory(l, &op->results[i]);
    for (uint32_t r = 0; control && r < op->region_count; r++) {
        for (uint32_t i = 0; i < op->regions[r]->arg_count; i++)
            in_memory(l, op->regions[r]->args[i]);
        read_block(l, op->regions[r]);
    }
}

static void read_block(Lower *l, const IrBlock *block) { IR_EACH_OP(op, block) read_op(l, op); }

// Is the op computed only where elements of its results are needed?
static bool is_on_demand(Lower *l, const IrOp *op) {
    if (!op->result_count || op->region_count || op_is_whole(op)) return false;
    if (ir_effects(op) & ~(1u << IR_EFFECT_READ)) return false;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!cpu_is_tile(&op->results[i]) || lower_tile(l, &op->results[i])->in_memory)
            return false;
    return true;
}

// Marks the operands of all ops that code is made for, by value id. Unused values are not computed.
static void mark_needed(Lower *l, const IrBlock *block, bool *needed) {
    for (const IrOp *op = block->last; op; op = op->prev) {
        bool made = !is_on_demand(l, op);
        for (uint32_t i = 0; i < op->result_count; i++) made |= needed[op->results[i].id];
        for (uint32_t i = 0; made && i < op->operand_count; i++)
            if (ir_operand(op, i)) needed[ir_operand(op, i)->id] = true;
        for (uint32_t i = 0; i < op->region_count; i++) mark_needed(l, op->regions[i], needed);
    }
}

// A hand-written plan may lack a buffer that an op needs.
static bool is_complete(Lower *l, const IrBlock *block, const bool *needed, Diags *diags) {
    IR_EACH_OP(op, block) {
        bool made = !is_on_demand(l, op);
        for (uint32_t i = 0; i < op->result_count; i++) made |= needed[op->results[i].id];
        for (uint32_t i = 0; made && i < op->operand_count; i++) {
            const IrValue *x = ir_operand(op, i);
            if (!op_needs_buffer(op, i) || !cpu_is_tile(x)) continue;
            if (lower_tile(l, x)->in_memory) continue;
            diag_error(diags, op->span, DIAG_IR_INVALID,
                       "operand %u of '%s' is not in memory: expected it to have a nest", i,
                       ir_op_info(op->code)->text);
            return false;
        }
        for (uint32_t i = 0; i < op->region_count; i++)
            if (!is_complete(l, op->regions[i], needed, diags)) return false;
    }
    return true;
}

// ---- removing tiles -----------------------------------------------------------------------------

static void drop_uses(IrOp *op) {
    ir_set_nests(op, 0, NULL);
    for (uint32_t i = op->operand_count; i-- > 0;)
        if (cpu_is_tile(ir_operand(op, i))) ir_remove_operand(op, i);
    for (uint32_t r = 0; r < op->region_count; r++) {
        IrOp *yield = op->regions[r]->last;
        ir_set_nests(yield, 0, NULL);
        for (uint32_t i = yield->operand_count; i-- > 0;)
            if (cpu_is_tile(ir_operand(yield, i))) ir_remove_operand(yield, i);
    }
}

static void drop_carried(Lower *l, IrOp *op) {
    bool any = false;
    IrValue **operands = arena_new(l->scratch, IrValue *, op->operand_count + 1);
    const IrType **types = arena_new(l->scratch, const IrType *, op->result_count + 1);
    uint32_t result_count = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) operands[i] = ir_operand(op, i);
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (cpu_is_tile(ir_result(op, i)))
            any = true;
        else
            types[result_count++] = ir_result(op, i)->type;
    }
    if (!any) return;
    for (uint32_t r = 0; r < op->region_count; r++)
        for (uint32_t i = op->regions[r]->arg_count; i-- > 0;)
            if (cpu_is_tile(op->regions[r]->args[i])) ir_remove_block_arg(op->regions[r], i);
    IrOp *made = ir_remake(op, op->operand_count, operands, result_count, types);
    uint32_t at = 0;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!cpu_is_tile(ir_result(op, i))) ir_replace_all(ir_result(op, i), ir_result(made, at++));
}

static void clean_up(Lower *l) {
    for (size_t i = 0; i < l->control.count; i++) drop_uses(l->control.data[i]);
    for (size_t i = l->dead.count; i-- > 0;) ir_erase(l->dead.data[i]);
    for (size_t i = 0; i < l->control.count; i++) drop_carried(l, l->control.data[i]);
    buffer_drop_unread(l);
}

// ---- runs of programs ---------------------------------------------------------------------------

// The dimension of the grid in the index, which is program(g) * width.
static int64_t grid_dim_of(const IrValue *index) {
    for (uint32_t i = 0; index->def && index->def->code == IR_MUL && i < 2; i++) {
        const IrOp *factor = ir_operand(index->def, i)->def;
        if (factor && factor->code == IR_PROGRAM) return ir_attr_int(factor, IR_ATTR_DIM);
    }
    UNREACHABLE("spans along an index that is not a program's");
}

// The elements of all programs of a run; computed once for each dimension of the grid.
static IrValue *elements_of_run(IrBlock *body, int64_t grid_dim, int64_t width) {
    IrOp *span = body->first;
    while (span->code != IR_CPU_SPAN || ir_attr_int(span, IR_ATTR_DIM) != grid_dim)
        span = span->next;
    IrValue *programs = ir_result(span, 0);
    if (programs->uses) return ir_result(programs->uses->user, 0);
    IrBuilder b = ir_builder_before(span->next);
    return lower_mul(&b, programs, lower_i64(&b, width));
}

static void find_reaches(Lower *l, IrBlock *body, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) find_reaches(l, body, op->regions[i]);
        if (op->code != IR_VIEW_STORE) continue;
        const IrAttr *spans = ir_attr(op, IR_ATTR_SPANS);
        for (uint32_t d = 0; d < spans->u.ints.count; d++) {
            int64_t width = spans->u.ints.items[d];
            if (width == 0) continue;
            const IrValue *index = ir_operand(op, ir_view_index_start(op->code) + d);
            StoreReach reach = {op, d, elements_of_run(body, grid_dim_of(index), width)};
            vec_push(l->scratch, &l->reaches, reach);
        }
    }
}

static uint32_t count_asserts(const IrBlock *block) {
    uint32_t count = 0;
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) count += count_asserts(op->regions[i]);
        count += op->code == IR_VEC_ASSERT;
    }
    return count;
}

// ---- the pass -----------------------------------------------------------------------------------

bool pass_cpu_lower(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_CPU_NEST) return false;
    Lower l = {.func = f,
               .module = f->module,
               .scratch = context->scratch,
               .machine = context->machine,
               .facts = context->facts,
               .remarks = context->remarks,
               .homes = op_find_homes(context->scratch, f),
               .home_count = f->value_count};
    read_block(&l, body);
    bool *needed = arena_new(context->scratch, bool, f->value_count + 1);
    mark_needed(&l, body, needed);
    if (!is_complete(&l, body, needed, context->diags)) return false;
    f->level = IR_LEVEL_CPU;
    l.sites = count_asserts(body);
    find_reaches(&l, body, body);
    l.ranges = ir_ranges(context->scratch, f, IR_TRUST_CHECKED);
    l.positive = arena_new(context->scratch, uint8_t, f->op_count);
    l.aligned = arena_new(context->scratch, bool, f->op_count);
    access_prove(&l, body);
    demand_find(&l, body);
    l.top = ir_builder_before(body->first);
    lower_block(&l, body);
    nest_flush(&l);
    clean_up(&l);
    return true;
}
