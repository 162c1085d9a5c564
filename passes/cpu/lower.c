// cpu_lower: the walk over the body, and control flow with carried tiles. See lower.h.
#include "passes/cpu/lower.h"

#include <string.h>

#include "passes/passes.h"

// ---- which ops are what -------------------------------------------------------------------------

static bool touches_tiles(const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (lower_is_tile(ir_operand(op, i))) return true;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (lower_is_tile(ir_result(op, i))) return true;
    return false;
}

static bool is_view_op(const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    return rule >= IR_RULE_VIEW_LOAD && rule <= IR_RULE_VIEW_INSIDE;
}

static bool is_whole_op(const IrOp *op) {
    switch (op->code) {
    case IR_DOT:
    case IR_SCAN:
    case IR_SORT:
    case IR_TOPK:
    case IR_HISTOGRAM:
    case IR_PRINT:
    case IR_JOIN:
    case IR_CAT:
    case IR_ATOMIC:
    case IR_ATOMIC_CAS:
    case IR_VIEW_ATOMIC:
    case IR_VIEW_CAS: return true;
    default: return false;
    }
}

static bool is_scalar_only(const IrOp *op) {
    bool kept = ir_op_info(op->code)->level != IR_LEVEL_TILE && op->code != IR_PRINT;
    return kept && !touches_tiles(op) && !is_view_op(op);
}

static bool uses_pending(Lower *l, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (ir_operand(op, i) && lower_tile(l, ir_operand(op, i))->pending) return true;
    return false;
}

static bool nest_writes(const Lower *l) {
    for (size_t i = 0; l->nest && i < l->nest->roots.count; i++)
        if (l->nest->roots.data[i].kind == ROOT_STORE) return true;
    return false;
}

static void note_write(Lower *l, const IrOp *op) {
    PastWrite w = {op, l->time};
    vec_push(l->scratch, &l->writes, w);
}

// ---- buffers of values --------------------------------------------------------------------------

static TileBuffer buffer_for(Lower *l, const IrValue *value) {
    const TileState *t = lower_tile(l, value);
    if (t->home) {
        const TileState *home = &l->tiles.data[t->home - 1];
        if (home->buffer.id) return home->buffer;
    }
    return buffer_create(l, value->type);
}

static void add_root(Lower *l, Root root, const IrType *shape, int axis) {
    root.time = l->time;
    Nest *nest = l->nest;
    bool fits = nest && nest->rank == shape->rank &&
                memcmp(nest->shape, shape->shape, shape->rank * sizeof *shape->shape) == 0 &&
                (axis < 0 || nest->axis < 0 || nest->axis == axis) && plan_may_join(l, nest, &root);
    if (!fits) nest_flush(l);
    nest_add(l, &root, shape->rank, shape->shape, axis);
}

// The value is to lie in this buffer: computed into it, or copied from another one.
static void keep_in(Lower *l, IrValue *value, TileBuffer buffer, const IrOp *made_by) {
    Root root = {.kind = ROOT_BUFFER, .value = value, .buffer = buffer};
    root.op = value->def == made_by ? value->def : NULL;
    add_root(l, root, value->type, -1);
}

TileBuffer lower_result_buffer(Lower *l, IrValue *value) {
    TileBuffer buffer = buffer_for(l, value);
    TileState *t = lower_tile(l, value);
    t->mode = MODE_BUFFER;
    t->buffer = buffer;
    return buffer;
}

static void need_buffers(Lower *l, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (plan_needs_buffer(op, i) && lower_is_tile(ir_operand(op, i)))
            plan_buffer(l, ir_operand(op, i));
}

// ---- single ops ---------------------------------------------------------------------------------

static void lower_scalar(Lower *l, IrOp *op) {
    unsigned effects = ir_effects(op);
    bool writes = effects & (1u << IR_EFFECT_WRITE), kept = effects & (1u << IR_EFFECT_KEEP);
    bool reads = effects & (1u << IR_EFFECT_READ);
    if (uses_pending(l, op) || writes || kept || (reads && nest_writes(l))) nest_flush(l);
    if (writes) note_write(l, op);
}

static void lower_reduce(Lower *l, IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        IrValue *r = ir_result(op, i);
        if (r->type->rank == 0) continue;
        lower_result_buffer(l, r);
    }
    Root root = {.kind = ROOT_REDUCE, .op = op};
    add_root(l, root, ir_operand(op, 1)->type, (int)ir_attr_int(op, IR_ATTR_AXIS));
}

// The shape a store's lanes have; a store of one element has rank 0.
static const IrType *store_shape(Lower *l, const IrOp *op) {
    if (op->code == IR_STORE) {
        const IrType *p = ir_operand(op, 0)->type;
        return ir_tile(l->module, DTYPE_BOOL, p->rank, p->shape);
    }
    uint32_t rank, shape[IR_MAX_RANK];
    CHECK(ir_selection_shape(op, &rank, shape), "a selection without a shape");
    return ir_tile(l->module, DTYPE_BOOL, rank, shape);
}

static void lower_store(Lower *l, IrOp *op) {
    Root root = {.kind = ROOT_STORE, .op = op};
    add_root(l, root, store_shape(l, op), -1);
    note_write(l, op);
}

static NestValue element_of(Lower *l, Nest *nest, IrOp *op, uint32_t result) {
    if (op->code == IR_VIEW_LOAD) return access_load(l, nest, op, (LanePlace){0});
    if (op->code == IR_VIEW_INSIDE) return access_inside(l, nest, op, (LanePlace){0});
    LanePlace at;
    bool placed = value_operand_place(l, nest, op, ir_result(op, result), 0, (LanePlace){0}, &at);
    CHECK(placed, "no place of an operand");
    return value_at(l, nest, ir_operand(op, 0), at);
}

// One element of a view or a tile: at once, and a scalar from then on.
static void lower_element(Lower *l, IrOp *op) {
    bool view = is_view_op(op);
    if (!view || uses_pending(l, op) || nest_writes(l)) nest_flush(l);
    if (!view && !l->emit) plan_inline_use(l, ir_operand(op, 0));
    if (!l->emit) return;
    Nest nest = {.axis = -1, .lane = -1, .lanes = 1};
    nest.builder[0] = lower_builder(l);
    for (uint32_t i = 0; i < op->result_count; i++)
        ir_replace_all(ir_result(op, i), element_of(l, &nest, op, i).value);
}

static void lower_value(Lower *l, IrOp *op) {
    if (!l->emit) plan_height(l, op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        IrValue *r = ir_result(op, i);
        TileState *t = lower_tile(l, r);
        t->time = l->time;
        if (t->mode != MODE_BUFFER) continue;
        need_buffers(l, op);
        keep_in(l, r, lower_result_buffer(l, r), op);
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
        keep_in(l, ir_operand(op, i), buffer_part(l, whole, dim, i * half, t, join), NULL);
    nest_flush(l);
}

static void plan_whole(Lower *l, IrOp *op) {
    need_buffers(l, op);
    for (uint32_t i = 0; !l->emit && i < op->operand_count; i++) {
        IrValue *x = ir_operand(op, i);
        if (x && x->type->kind != IR_VIEW) plan_inline_use(l, x);
    }
}

static void lower_whole(Lower *l, IrOp *op) {
    nest_flush(l);
    // Before its operands are looked at: they are read as a whole before it writes.
    if (ir_op_info(op->code)->effect == IR_EFFECT_WRITE) note_write(l, op);
    plan_whole(l, op);
    for (uint32_t i = 0; i < op->result_count; i++)
        if (lower_is_tile(ir_result(op, i))) lower_tile(l, ir_result(op, i))->mode = MODE_BUFFER;
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

// ---- control flow: carried tiles live in one buffer each ----------------------------------------

static void carry(Lower *l, const IrValue *value, TileBuffer buffer) {
    TileState *t = lower_tile(l, value);
    t->mode = MODE_BUFFER;
    t->buffer = buffer;
}

static void put_in(Lower *l, IrValue *value, TileBuffer buffer) {
    const TileState *t = lower_tile(l, value);
    if (!(t->mode == MODE_BUFFER && t->buffer.id == buffer.id)) keep_in(l, value, buffer, NULL);
}

// What a region yields goes to the buffers of what it is carried as (`carried`: the region's
// arguments; NULL for an `if`).
typedef struct Yields {
    IrOp *yield;
    uint32_t count;
    IrValue *const *carried;
    const TileBuffer *buffers;
} Yields;

// A value computed from another carried tile, or from other elements of its own, must be kept
// before any of them is overwritten.
static void plan_yield(Lower *l, const Yields *y, uint32_t i) {
    IrValue *value = ir_operand(y->yield, i);
    for (uint32_t k = 0; y->carried && k < y->count; k++) {
        if (!lower_is_tile(y->carried[k]) || value == y->carried[k]) continue;
        PlanRead read = plan_reads(l, value, y->carried[k]);
        if (read == PLAN_OTHER_PLACE || (read == PLAN_SAME_PLACE && k != i)) plan_buffer(l, value);
    }
}

// One that is another carried tile (they change places) is copied aside first.
static TileBuffer set_aside(Lower *l, const Yields *y, uint32_t i) {
    IrValue *value = ir_operand(y->yield, i);
    for (uint32_t k = 0; y->carried && k < y->count; k++) {
        if (value != y->carried[k] || k == i) continue;
        TileBuffer spare = buffer_create(l, value->type);
        keep_in(l, value, spare, NULL);
        return spare;
    }
    return (TileBuffer){0};
}

// What is still open and reads a carried tile at other places than its own is done first: within
// one nest the tile would change under it.
static void flush_readers(Lower *l, const Yields *y) {
    for (uint32_t k = 0; y->carried && l->nest && k < y->count; k++)
        if (lower_is_tile(y->carried[k]) &&
            plan_nest_reads(l, l->nest, y->carried[k]) == PLAN_OTHER_PLACE)
            nest_flush(l);
}

static void keep_yields(Lower *l, const Yields *y) {
    l->here = y->yield;
    l->time++;
    TileBuffer *aside = arena_new(l->scratch, TileBuffer, y->count);
    for (uint32_t i = 0; i < y->count; i++) {
        if (!lower_is_tile(ir_operand(y->yield, i))) continue;
        plan_yield(l, y, i);
        aside[i] = set_aside(l, y, i);
        if (aside[i].id) nest_flush(l);
    }
    flush_readers(l, y);
    for (uint32_t i = 0; i < y->count; i++) {
        IrValue *value = ir_operand(y->yield, i);
        if (!lower_is_tile(value)) continue;
        if (aside[i].id) {
            Root root = {
                .kind = ROOT_BUFFER, .value = value, .source = aside[i], .buffer = y->buffers[i]};
            add_root(l, root, value->type, -1);
        } else {
            put_in(l, value, y->buffers[i]);
        }
    }
    nest_flush(l);
}

static void lower_loop(Lower *l, IrOp *op) {
    bool counted = op->code == IR_FOR;
    uint32_t first = counted ? 3 : 0, count = op->operand_count - first;
    IrBlock *body = op->regions[counted ? 0 : 1];
    IrValue *const *args = body->args + (counted ? 1 : 0);
    TileBuffer *buffers = arena_new(l->scratch, TileBuffer, count);
    for (uint32_t i = 0; i < count; i++) {
        IrValue *init = ir_operand(op, first + i);
        if (!lower_is_tile(init)) continue;
        buffers[i] = lower_result_buffer(l, args[i]);
        put_in(l, init, buffers[i]);
    }
    nest_flush(l);
    for (uint32_t i = 0; i < count; i++) {
        if (!buffers[i].id) continue;
        carry(l, ir_result(op, i), buffers[i]);
        if (!counted) carry(l, op->regions[0]->args[i], buffers[i]);
    }
    if (!counted) {
        lower_block(l, op->regions[0]);
        l->here = op->regions[0]->last;
        nest_flush(l);
    }
    lower_block(l, body);
    Yields y = {body->last, count, args, buffers};
    keep_yields(l, &y);
}

static void lower_if(Lower *l, IrOp *op) {
    TileBuffer *buffers = arena_new(l->scratch, TileBuffer, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++)
        if (lower_is_tile(ir_result(op, i))) buffers[i] = lower_result_buffer(l, ir_result(op, i));
    for (uint32_t i = 0; i < op->region_count; i++) {
        lower_block(l, op->regions[i]);
        Yields y = {op->regions[i]->last, op->result_count, NULL, buffers};
        keep_yields(l, &y);
    }
}

static void lower_control(Lower *l, IrOp *op) {
    nest_flush(l);
    if (op->code == IR_IF)
        lower_if(l, op);
    else
        lower_loop(l, op);
    l->time++;
    if (l->emit) vec_push(l->scratch, &l->control, op);
}

// ---- the walk -----------------------------------------------------------------------------------

static void lower_op(Lower *l, IrOp *op) {
    if (op->region_count && op->code != IR_REDUCE && op->code != IR_SCAN) {
        lower_control(l, op);
        return;
    }
    if (is_scalar_only(op)) {
        lower_scalar(l, op);
        return;
    }
    if (l->emit) vec_push(l->scratch, &l->dead, op);
    if (is_whole_op(op))
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

void lower_block(Lower *l, IrBlock *block) {
    IR_EACH_OP(op, block) {
        l->here = op;
        l->time++;
        if (op == block->last) break;
        lower_op(l, op);
    }
    l->here = block->last;
}

// ---- homes: values that may take the buffer of the carried tile they replace --------------------

static IrOp *only_user(const IrValue *v, uint32_t *operand) {
    if (!v->uses || v->uses->next) return NULL;
    IrOp *user = v->uses->user;
    for (uint32_t i = 0; i < user->operand_count; i++)
        if (ir_operand(user, i) == v) *operand = i;
    return user;
}

static bool replaces(const IrOp *op, uint32_t operand, const IrValue *v) {
    IrRule rule = ir_op_info(op->code)->rule;
    bool elementwise = rule == IR_RULE_UNARY || rule == IR_RULE_BINARY || rule == IR_RULE_TERNARY ||
                       (rule == IR_RULE_SELECT && operand > 0);
    return (elementwise || (op->code == IR_DOT && operand == 2)) && op->result_count == 1 &&
           op->results[0].type == v->type;
}

// From a loop's argument along single uses to the place it is yielded to.
static void find_home(Lower *l, const IrOp *loop, const IrBlock *body, uint32_t i) {
    uint32_t first = loop->code == IR_FOR ? 1 : 0, operand = 0;
    const IrValue *arg = body->args[first + i], *v = arg;
    VEC(const IrValue *) way = {0};
    for (;;) {
        const IrOp *user = only_user(v, &operand);
        if (!user) return;
        if (user == body->last) break;
        if (user->block != body || !replaces(user, operand, v)) return;
        v = &user->results[0];
        vec_push(l->scratch, &way, v);
    }
    if (operand != i) return;
    for (size_t k = 0; k < way.count; k++) lower_tile(l, way.data[k])->home = arg->id + 1;
}

static void find_homes(Lower *l, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) find_homes(l, op->regions[i]);
        if (op->code != IR_FOR) continue;
        for (uint32_t i = 0; i < op->result_count; i++)
            if (lower_is_tile(ir_result(op, i))) find_home(l, op, op->regions[0], i);
    }
}

// ---- what is left of tiles goes -----------------------------------------------------------------

static void drop_uses(IrOp *op) {
    for (uint32_t i = op->operand_count; i-- > 0;)
        if (lower_is_tile(ir_operand(op, i))) ir_remove_operand(op, i);
    for (uint32_t r = 0; r < op->region_count; r++) {
        IrOp *yield = op->regions[r]->last;
        for (uint32_t i = yield->operand_count; i-- > 0;)
            if (lower_is_tile(ir_operand(yield, i))) ir_remove_operand(yield, i);
    }
}

static void drop_carried(Lower *l, IrOp *op) {
    bool any = false;
    IrValue **operands = arena_new(l->scratch, IrValue *, op->operand_count + 1);
    const IrType **types = arena_new(l->scratch, const IrType *, op->result_count + 1);
    uint32_t result_count = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) operands[i] = ir_operand(op, i);
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (lower_is_tile(ir_result(op, i)))
            any = true;
        else
            types[result_count++] = ir_result(op, i)->type;
    }
    if (!any) return;
    for (uint32_t r = 0; r < op->region_count; r++)
        for (uint32_t i = op->regions[r]->arg_count; i-- > 0;)
            if (lower_is_tile(op->regions[r]->args[i])) ir_remove_block_arg(op->regions[r], i);
    IrOp *made = ir_remake(op, op->operand_count, operands, result_count, types);
    uint32_t at = 0;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!lower_is_tile(ir_result(op, i)))
            ir_replace_all(ir_result(op, i), ir_result(made, at++));
}

static void clean_up(Lower *l) {
    for (size_t i = 0; i < l->control.count; i++) drop_uses(l->control.data[i]);
    for (size_t i = l->dead.count; i-- > 0;) ir_erase(l->dead.data[i]);
    for (size_t i = 0; i < l->control.count; i++) drop_carried(l, l->control.data[i]);
    buffer_drop_unread(l);
}

// ---- remarks ------------------------------------------------------------------------------------

// Planning is over: which tiles lie in memory is known.
static void say_buffers(Lower *l, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t r = 0; r < op->region_count; r++) say_buffers(l, op->regions[r]);
        for (uint32_t i = 0; i < op->result_count; i++) {
            const IrValue *v = ir_result(op, i);
            if (!lower_is_tile(v) || lower_tile(l, v)->mode != MODE_BUFFER) continue;
            remark(l->remarks, op->span, REASON_TILE_IN_MEMORY, ir_op_info(op->code)->text,
                   REMARK((int64_t)v->type->count * ir_elem_size(v->type)));
        }
    }
}

// ---- the pass -----------------------------------------------------------------------------------

static void start_walk(Lower *l, IrBlock *body) {
    l->nest = NULL;
    l->nest_number = l->time = l->buffers = 0;
    l->writes.count = 0;
    l->rows.count = 0;
    l->owed = NULL;
    l->changed = false;
    for (size_t i = 0; i < l->tiles.count; i++) {
        TileState *t = &l->tiles.data[i];
        *t = (TileState){.mode = t->mode, .home = t->home};
    }
    l->here = body->first;
}

static void walk(Lower *l, IrBlock *body) {
    start_walk(l, body);
    lower_block(l, body);
    nest_flush(l);
}

// ---- runs of programs ---------------------------------------------------------------------------

// Which dimension of the grid begins at the index: it is program(g) * width.
static int64_t grid_dim_of(const IrValue *index) {
    for (uint32_t i = 0; index->def && index->def->code == IR_MUL && i < 2; i++) {
        const IrOp *factor = ir_operand(index->def, i)->def;
        if (factor && factor->code == IR_PROGRAM) return ir_attr_int(factor, IR_ATTR_DIM);
    }
    UNREACHABLE("spans along an index that is no program's");
}

// The elements of all programs of a run: there once for each dimension of the grid.
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
    if (!body || f->level != IR_LEVEL_CPU_TILE) return false;
    Lower l = {.func = f,
               .module = f->module,
               .scratch = context->scratch,
               .diags = context->diags,
               .machine = context->machine,
               .facts = context->facts,
               .remarks = context->remarks};
    f->level = IR_LEVEL_CPU;
    l.sites = count_asserts(body);
    find_reaches(&l, body, body);
    l.ranges = ir_ranges(context->scratch, f, IR_TRUST_CHECKED);
    l.positive = arena_new(context->scratch, uint8_t, f->op_count);
    l.aligned = arena_new(context->scratch, bool, f->op_count);
    access_prove(&l, body);
    find_homes(&l, body);
    demand_find(&l, body);
    // Values only ever become BUFFER, so this ends.
    do walk(&l, body);
    while (l.changed);
    if (l.remarks) say_buffers(&l, body);
    l.emit = true;
    l.top = ir_builder_before(body->first);
    walk(&l, body);
    clean_up(&l);
    return true;
}
