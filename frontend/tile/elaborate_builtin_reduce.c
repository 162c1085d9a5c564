// Reductions, scans, orders, histogram, random.
#include "frontend/tile/elaborate.h"

// One tile or a tuple of tiles of one shape, as operands of an op.
typedef struct ReduceOperands {
    uint32_t count;
    IrValue **tiles;
    Shape shape;
} ReduceOperands;

static bool operands_of(Elab *e, const Ast *ast, ReduceOperands *o) {
    Val v = el_expr(e, ast);
    if (v.kind != VAL_TUPLE) v = el_tuple(e, 1, &v);
    *o = (ReduceOperands){.count = v.tuple.count};
    o->tiles = arena_new(e->scratch, IrValue *, o->count + 1);
    bool good = true;
    for (uint32_t i = 0; i < o->count; i++) {
        o->tiles[i] = el_value(e, v.tuple.items[i], ast->span);
        good = good && o->tiles[i];
        if (!o->tiles[i] || !el_is_ptr(o->tiles[i])) continue;
        el_error(e, ast->span, DIAG_TYPE, "expected a tile of elements, found %s",
                 el_type_text(e, o->tiles[i]->type));
        good = false;
    }
    if (!good || !el_common_shape(e, ast->span, o->count, o->tiles, &o->shape)) return false;
    for (uint32_t i = 0; i < o->count; i++)
        o->tiles[i] = el_broadcast(e, o->tiles[i], o->shape.rank, o->shape.dims);
    return true;
}

static void operands_flatten(Elab *e, ReduceOperands *o, IrValue **mask) {
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

// The fn elaborated on 2n scalars into a region of its own; NULL after an error.
static IrBlock *combiner(Elab *e, const Ast *ast, const ReduceOperands *o) {
    Val f = el_expr(e, ast);
    if (f.kind == VAL_POISON) return NULL;
    if (f.kind != VAL_FN) {
        el_error(e, ast->span, DIAG_COMBINER, "expected a function, found %s", el_val_text(e, f));
        el_help(e, "fn combine(a, b) { return a + b; } is named here without arguments");
        return NULL;
    }
    const char *name = f.fn->decl->name;
    IrBlock *block = ir_block_create(e->func);
    Val *args = arena_new(e->scratch, Val, 2 * o->count);
    for (uint32_t i = 0; i < 2 * o->count; i++)
        args[i] =
            el_ir(ir_block_add_arg(block, ir_scalar(e->module, el_elem(o->tiles[i % o->count]))));
    Region region;
    if (!el_region_begin(e, &region, block, ast->span)) return NULL;
    Val v = el_call_fn(e, f.fn, 2 * o->count, args, ast->span, "combiner");
    bool good = v.kind != VAL_POISON;
    if (v.kind != VAL_TUPLE) v = el_tuple(e, 1, &v);
    if (good && v.tuple.count != o->count) {
        el_error(e, ast->span, DIAG_COMBINER, "'%s' must return %u value%s here, found %u", name,
                 o->count, o->count == 1 ? "" : "s", v.tuple.count);
        good = false;
    }
    IrValue **results = arena_new(e->scratch, IrValue *, o->count);
    for (uint32_t i = 0; good && i < o->count; i++)
        good = combiner_result(e, v.tuple.items[i], args[i].ir->type, ast->span, name, &results[i]);
    good = good && combiner_pure(e, block, ast->span, name);
    if (good) ir_yield(&e->b, o->count, results);
    el_region_end(e, &region);
    return good ? block : NULL;
}

// ---- reductions

static const struct {
    TileBuiltin builtin;
    IrReduce kind;
    unsigned classes;
} reductions[] = {
    {TILE_SUM, IR_REDUCE_SUM, DTYPE_CLASS_NUMBER},
    {TILE_PROD, IR_REDUCE_PROD, DTYPE_CLASS_NUMBER},
    {TILE_MIN, IR_REDUCE_MIN, DTYPE_CLASS_NUMBER},
    {TILE_MAX, IR_REDUCE_MAX, DTYPE_CLASS_NUMBER},
    {TILE_ARGMIN, IR_REDUCE_ARGMIN, DTYPE_CLASS_NUMBER},
    {TILE_ARGMAX, IR_REDUCE_ARGMAX, DTYPE_CLASS_NUMBER},
    {TILE_ANY, IR_REDUCE_ANY, DTYPE_CLASS_BOOL},
    {TILE_ALL, IR_REDUCE_ALL, DTYPE_CLASS_BOOL},
    {TILE_REDUCE, IR_REDUCE_CUSTOM, DTYPE_CLASS_ANY},
    {TILE_CUMSUM, IR_REDUCE_SUM, DTYPE_CLASS_NUMBER},
    {TILE_CUMPROD, IR_REDUCE_PROD, DTYPE_CLASS_NUMBER},
    {TILE_SCAN, IR_REDUCE_CUSTOM, DTYPE_CLASS_ANY},
};

static bool reduction_kind(Elab *e, const Args *a, const ReduceOperands *o, IrReduce *kind) {
    size_t row = 0;
    while (reductions[row].builtin != a->which) row++;
    *kind = reductions[row].kind;
    bool custom = *kind == IR_REDUCE_CUSTOM;
    if (o->count != 1 && !custom) {
        el_error(e, a->at[0]->span, DIAG_TYPE, "'%s' takes one tile, found a tuple of %u", a->name,
                 o->count);
        return false;
    }
    if (custom || dtype_is(el_elem(o->tiles[0]), reductions[row].classes)) return true;
    bool wants_bool = reductions[row].classes == DTYPE_CLASS_BOOL;
    el_error(e, a->at[0]->span, DIAG_TYPE, "'%s' needs %s, found %s", a->name,
             wants_bool ? "bools" : "numbers", el_type_text(e, o->tiles[0]->type));
    if (wants_bool)
        el_help(e, "compare with 0");
    else
        el_help(e, "a bool is no number without a cast: i32(…)");
    return false;
}

static bool where_mask(Elab *e, const Args *a, const Shape *shape, IrValue **mask) {
    *mask = NULL;
    if (!a->named[NAMED_WHERE]) return true;
    *mask = el_mask(e, a->named[NAMED_WHERE], shape);
    return *mask != NULL;
}

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

static Val reduce_emit(Elab *e, ReduceOperands *o, IrReduce kind, IrBlock *block, IrValue *mask,
                       uint32_t axis, const Shape *keep) {
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

Val el_builtin_reduce(Elab *e, const Args *a) {
    if (a->count == 2 && a->which == TILE_MIN) return el_minmax(e, a, IR_MIN);
    if (a->count == 2 && a->which == TILE_MAX) return el_minmax(e, a, IR_MAX);
    ReduceOperands o;
    IrReduce kind;
    uint32_t axis = 0;
    bool given = false, keep = false;
    IrValue *mask;
    bool good = el_named_bool(e, a, NAMED_KEEP, &keep);
    if (!operands_of(e, a->at[0], &o)) {
        if (a->named[NAMED_WHERE]) el_operand(e, a->named[NAMED_WHERE]);
        return EL_POISON;
    }
    good = where_mask(e, a, &o.shape, &mask) && good;
    good = el_named_axis(e, a, o.shape.rank, &axis, &given) && good;
    if (!reduction_kind(e, a, &o, &kind)) return EL_POISON;
    IrBlock *block = kind == IR_REDUCE_CUSTOM ? combiner(e, a->at[1], &o) : NULL;
    if (!good || (kind == IR_REDUCE_CUSTOM && !block)) return EL_POISON;
    Shape kept = o.shape;
    for (uint32_t i = 0; i < kept.rank; i++)
        if (!given || i == axis) kept.dims[i] = 1;
    if (!given) operands_flatten(e, &o, &mask);
    return reduce_emit(e, &o, kind, block, mask, given ? axis : 0,
                       keep && kept.rank ? &kept : NULL);
}

// ---- scans, sort, topk

static bool scan_axis(Elab *e, const Args *a, uint32_t rank, bool last, uint32_t *axis) {
    bool given;
    *axis = rank ? rank - 1 : 0;
    if (!rank) {
        el_error(e, a->at[0]->span, DIAG_SHAPE, "'%s' needs a tile, found a scalar", a->name);
        return false;
    }
    TRY(el_named_axis(e, a, rank, axis, &given));
    if (given || last || rank == 1) return true;
    el_error(e, a->call->span, DIAG_ARGUMENTS, "'%s' of a tile of rank %u needs an axis", a->name,
             rank);
    el_help(e, "as in axis = %u", rank - 1);
    return false;
}

static const IrType **types_of(Elab *e, const ReduceOperands *o) {
    const IrType **types = arena_new(e->scratch, const IrType *, o->count);
    for (uint32_t i = 0; i < o->count; i++) types[i] = o->tiles[i]->type;
    return types;
}

static Val scan_scan(Elab *e, const Args *a, ReduceOperands *o) {
    IrReduce kind;
    uint32_t axis;
    bool reverse = false, exclusive = false;
    bool good = el_named_bool(e, a, NAMED_REVERSE, &reverse);
    good = el_named_bool(e, a, NAMED_EXCLUSIVE, &exclusive) && good;
    good = scan_axis(e, a, o->shape.rank, false, &axis) && good;
    if (!reduction_kind(e, a, o, &kind)) return EL_POISON;
    IrBlock *block = kind == IR_REDUCE_CUSTOM ? combiner(e, a->at[1], o) : NULL;
    if (!good || (kind == IR_REDUCE_CUSTOM && !block)) return EL_POISON;
    IrOp *op =
        ir_op(&e->b, IR_SCAN, o->count, o->tiles, o->count, types_of(e, o), block ? 1 : 0, &block);
    ir_attr_set_int(op, IR_ATTR_REDUCE, kind);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    ir_attr_set_int(op, IR_ATTR_REVERSE, reverse);
    ir_attr_set_int(op, IR_ATTR_EXCLUSIVE, exclusive);
    return op_results(e, op, NULL);
}

static Val scan_sort(Elab *e, const Args *a, ReduceOperands *o) {
    uint32_t axis;
    bool descending = false;
    bool good = el_named_bool(e, a, NAMED_DESCENDING, &descending);
    if (!scan_axis(e, a, o->shape.rank, true, &axis) || !good) return EL_POISON;
    IrOp *op = ir_op(&e->b, IR_SORT, o->count, o->tiles, o->count, types_of(e, o), 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    ir_attr_set_int(op, IR_ATTR_DESCENDING, descending);
    return op_results(e, op, NULL);
}

static bool one_tile(Elab *e, const Args *a, const ReduceOperands *o, unsigned classes,
                     const char *what) {
    if (o->count == 1 && dtype_is(el_elem(o->tiles[0]), classes)) return true;
    el_error(e, a->at[0]->span, DIAG_TYPE, "'%s' needs a tile of %s, found %s", a->name, what,
             o->count == 1 ? el_type_text(e, o->tiles[0]->type) : "a tuple");
    return false;
}

static Val scan_topk(Elab *e, const Args *a, ReduceOperands *o) {
    uint32_t axis, count;
    bool good = el_const_extent(e, a->at[1], "K of 'topk'", DIAG_SHAPE, &count);
    if (!one_tile(e, a, o, DTYPE_CLASS_NUMBER, "numbers")) return EL_POISON;
    if (!scan_axis(e, a, o->shape.rank, true, &axis) || !good) return EL_POISON;
    if (count > o->shape.dims[axis]) {
        return el_error(e, a->at[1]->span, DIAG_SHAPE, "the %u greatest of %u elements", count,
                        o->shape.dims[axis]);
    }
    Shape shape = o->shape;
    shape.dims[axis] = count;
    const IrType *types[2] = {ir_tile(e->module, el_elem(o->tiles[0]), shape.rank, shape.dims),
                              ir_tile(e->module, DTYPE_I32, shape.rank, shape.dims)};
    IrOp *op = ir_op(&e->b, IR_TOPK, 1, o->tiles, 2, types, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    ir_attr_set_int(op, IR_ATTR_COUNT, count);
    return op_results(e, op, NULL);
}

static Val scan_histogram(Elab *e, const Args *a, ReduceOperands *o) {
    uint32_t bins;
    IrValue *mask;
    bool good = el_const_extent(e, a->at[1], "the number of bins", DIAG_SHAPE, &bins);
    good = where_mask(e, a, &o->shape, &mask) && good;
    if (!one_tile(e, a, o, DTYPE_CLASS_INT, "integers") || !good) return EL_POISON;
    operands_flatten(e, o, &mask);
    IrValue *operands[2] = {mask, o->tiles[0]};
    return el_ir(el_op1(e, IR_HISTOGRAM, 2, operands, ir_tile(e->module, DTYPE_I32, 1, &bins)));
}

// ---- random

static Val scan_random(Elab *e, const Args *a) {
    Val seed = el_operand(e, a->at[0]), offset = el_operand(e, a->at[1]);
    if (seed.kind == VAL_POISON || offset.kind == VAL_POISON) return EL_POISON;
    const Val vals[2] = {seed, offset};
    for (int i = 0; i < 2; i++) {
        bool integer =
            vals[i].kind == VAL_INT || (vals[i].kind == VAL_IR && !el_is_ptr(vals[i].ir) &&
                                        dtype_is(el_elem(vals[i].ir), DTYPE_CLASS_INT));
        if (integer && (i || vals[i].kind == VAL_INT || !vals[i].ir->type->rank)) continue;
        return el_error(e, a->at[i]->span, DIAG_TYPE, "the %s of '%s' must be %s, found %s",
                        i ? "offset" : "seed", a->name, i ? "integers" : "a scalar integer",
                        el_val_text(e, vals[i]));
    }
    // A negative literal wraps as a typed one would.
    IrValue *key = seed.kind == VAL_INT ? el_cast(e, DTYPE_U64, seed, true, a->at[0]->span).ir
                                        : el_convert(e, seed.ir, DTYPE_U64);
    IrValue *counter = el_value(e, offset, a->at[1]->span);
    const IrType *word = ir_tile(e->module, DTYPE_U32, counter->type->rank, counter->type->shape);
    IrOp *op = ir_op(&e->b, IR_RANDOM, 2, (IrValue *[]){key, counter}, 4,
                     (const IrType *[]){word, word, word, word}, 0, NULL);
    return a->which == TILE_RANDOM ? el_ir(ir_result(op, 0)) : op_results(e, op, NULL);
}

Val el_builtin_scan(Elab *e, const Args *a) {
    if (a->which == TILE_RANDOM || a->which == TILE_RANDOM4) return scan_random(e, a);
    ReduceOperands o;
    if (!operands_of(e, a->at[0], &o)) return EL_POISON;
    if (a->which == TILE_SORT) return scan_sort(e, a, &o);
    if (a->which == TILE_TOPK) return scan_topk(e, a, &o);
    if (a->which == TILE_HISTOGRAM) return scan_histogram(e, a, &o);
    return scan_scan(e, a, &o);
}
