// Reductions, scans, sorts, and the combiners of reductions and scans.
#include "frontend/common/build.h"
#include "ir/edit.h"

void el_tiles_flatten(Elab *e, Tiles *o, IrValue **mask) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < o->shape.rank; i++) count *= o->shape.dims[i];
    if (o->shape.rank != 1) {
        for (uint32_t i = 0; i < o->count; i++)
            o->tiles[i] = ir_reshape(&e->b, o->tiles[i], 1, &count);
        if (mask && *mask) *mask = ir_reshape(&e->b, *mask, 1, &count);
    }
    o->shape = (Shape){.rank = 1, .dims = {count}};
}

// ---- combiners

static bool combiner_result(Elab *e, Val v, const IrType *type, Span span, const char *name,
                            IrValue **out) {
    if (v.kind == VAL_POISON) return false;
    if (el_is_const(v)) return (*out = el_adopt(e, v, type->elem, 0, NULL, span)) != NULL;
    if (v.kind == VAL_IR && v.ir->type == type) {
        *out = v.ir;
        return true;
    }
    el_error(e, span, DIAG_COMBINER, "'%s' must return %s here, found %s", name,
             el_type_text(e, type), el_val_text(e, v));
    el_help(e, "a combiner's results have the types of its operands");
    return false;
}

static bool combiner_pure(Elab *e, const IrBlock *block, Span span, const char *name) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (!ir_effects(op)) continue;
        el_error(e, span, DIAG_COMBINER, "the combiner '%s' has side effects", name);
        el_note(e, op->span, "this is one");
        return false;
    }
    return true;
}

// Leaves out ops without uses: a function may make a tile only to ask for its type.
static void remove_unused(const IrBlock *block) {
    for (IrOp *op = block->last, *before; op; op = before) {
        before = op->prev;
        bool used = ir_effects(op) || ir_op_info(op->code)->effect == IR_EFFECT_END;
        for (uint32_t i = 0; i < op->result_count; i++) used = used || op->results[i].uses;
        if (!used && op->result_count) ir_erase(op);
    }
}

IrBlock *el_combiner(Elab *e, const FrontCombiner *c, const Tiles *o) {
    IrBlock *block = ir_block_create(e->func);
    Val *args = arena_new(e->scratch, Val, 2 * o->count);
    for (uint32_t i = 0; i < 2 * o->count; i++)
        args[i] =
            el_ir(ir_block_add_arg(block, ir_scalar(e->module, el_elem(o->tiles[i % o->count]))));
    Region region;
    if (!el_region_begin(e, &region, block, c->span)) return NULL;
    Val v = c->call(e, c->own, 2 * o->count, args, c->span);
    bool good = v.kind != VAL_POISON;
    if (v.kind != VAL_TUPLE) v = el_tuple(e, 1, &v);
    if (good && v.tuple.count != o->count) {
        el_error(e, c->span, DIAG_COMBINER, "'%s' must return %u value%s here, found %u", c->name,
                 o->count, o->count == 1 ? "" : "s", v.tuple.count);
        good = false;
    }
    IrValue **results = arena_new(e->scratch, IrValue *, o->count);
    for (uint32_t i = 0; good && i < o->count; i++)
        good =
            combiner_result(e, v.tuple.items[i], args[i].ir->type, c->span, c->name, &results[i]);
    good = good && combiner_pure(e, block, c->span, c->name);
    if (good) {
        ir_yield(&e->b, o->count, results);
        remove_unused(block);
    }
    el_region_end(e, &region);
    return good ? block : NULL;
}

// ---- reductions

static Shape reduced_shape(const Shape *from, uint32_t axis) {
    Shape shape = {0};
    for (uint32_t i = 0; i < from->rank; i++)
        if (i != axis) shape.dims[shape.rank++] = from->dims[i];
    return shape;
}

static Val op_results(Elab *e, const IrOp *op, const Shape *keep) {
    Val *items = arena_new(e->scratch, Val, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) {
        IrValue *v = ir_result(op, i);
        items[i] = el_ir(keep ? ir_reshape(&e->b, v, keep->rank, keep->dims) : v);
    }
    return op->result_count == 1 ? items[0] : el_tuple(e, op->result_count, items);
}

Val el_reduce(Elab *e, const Tiles *o, IrReduce kind, IrBlock *block, IrValue *mask, uint32_t axis,
              const Shape *keep) {
    Shape shape = reduced_shape(&o->shape, axis);
    IrValue **operands = arena_new(e->scratch, IrValue *, o->count + 1);
    const IrType **types = arena_new(e->scratch, const IrType *, o->count);
    operands[0] = mask;
    bool places = kind == IR_REDUCE_ARGMIN || kind == IR_REDUCE_ARGMAX;
    for (uint32_t i = 0; i < o->count; i++) {
        operands[i + 1] = o->tiles[i];
        Dtype elem = places ? DTYPE_I32 : el_elem(o->tiles[i]);
        types[i] = ir_tile(e->module, elem, shape.rank, shape.dims);
    }
    IrOp *op =
        ir_op(&e->b, IR_REDUCE, o->count + 1, operands, o->count, types, block ? 1 : 0, &block);
    ir_attr_set_int(op, IR_ATTR_REDUCE, kind);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    return op_results(e, op, keep);
}

// ---- scans and orders

static const IrType **types_of(Elab *e, const Tiles *o) {
    const IrType **types = arena_new(e->scratch, const IrType *, o->count);
    for (uint32_t i = 0; i < o->count; i++) types[i] = o->tiles[i]->type;
    return types;
}

Val el_scan(Elab *e, const Tiles *o, IrReduce kind, IrBlock *block, const ScanOptions *options) {
    IrOp *op =
        ir_op(&e->b, IR_SCAN, o->count, o->tiles, o->count, types_of(e, o), block ? 1 : 0, &block);
    ir_attr_set_int(op, IR_ATTR_REDUCE, kind);
    ir_attr_set_int(op, IR_ATTR_AXIS, options->axis);
    ir_attr_set_int(op, IR_ATTR_REVERSE, options->reverse);
    ir_attr_set_int(op, IR_ATTR_EXCLUSIVE, options->exclusive);
    return op_results(e, op, NULL);
}

Val el_sort(Elab *e, const Tiles *o, uint32_t axis, bool descending) {
    IrOp *op = ir_op(&e->b, IR_SORT, o->count, o->tiles, o->count, types_of(e, o), 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    ir_attr_set_int(op, IR_ATTR_DESCENDING, descending);
    return op_results(e, op, NULL);
}

Val el_topk(Elab *e, IrValue *v, uint32_t axis, uint32_t count) {
    Shape shape = el_shape_of(v->type);
    shape.dims[axis] = count;
    const IrType *types[2] = {ir_tile(e->module, el_elem(v), shape.rank, shape.dims),
                              ir_tile(e->module, DTYPE_I32, shape.rank, shape.dims)};
    IrOp *op = ir_op(&e->b, IR_TOPK, 1, &v, 2, types, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    ir_attr_set_int(op, IR_ATTR_COUNT, count);
    return op_results(e, op, NULL);
}

Val el_random(Elab *e, IrValue *key, IrValue *counter) {
    const IrType *word = ir_tile(e->module, DTYPE_U32, counter->type->rank, counter->type->shape);
    IrOp *op = ir_op(&e->b, IR_RANDOM, 2, (IrValue *[]){key, counter}, 4,
                     (const IrType *[]){word, word, word, word}, 0, NULL);
    return op_results(e, op, NULL);
}
