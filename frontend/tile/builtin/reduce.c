// Reductions, scans, sorts, histogram, random.
#include "frontend/tile/elaborate.h"

// One tile, or a tuple of tiles of one shape, as operands of an op.
static bool operands_of(Elab *e, const Ast *ast, Tiles *o) {
    Val v = el_expr(e, ast);
    if (v.kind != VAL_TUPLE) v = el_tuple(e, 1, &v);
    *o = (Tiles){.count = v.tuple.count};
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

// ---- combiners

static Val combiner_call(Elab *e, const void *fn, uint32_t count, const Val *args, Span span) {
    return el_call_fn(e, fn, count, args, span, "combiner");
}

static IrBlock *combiner(Elab *e, const Ast *ast, const Tiles *o) {
    Val f = el_expr(e, ast);
    if (f.kind == VAL_POISON) return NULL;
    if (f.kind == VAL_FN)
        return el_combiner(e, &(FrontCombiner){f.fn.name, ast->span, combiner_call, f.fn.own}, o);
    el_error(e, ast->span, DIAG_COMBINER, "expected a function, found %s", el_val_text(e, f));
    el_help(e, "fn combine(a, b) { return a + b; } is named here without arguments");
    return NULL;
}

// ---- reductions

static const struct {
    TileBuiltin builtin;
    IrReduce kind;
} reductions[] = {
    {TILE_SUM, IR_REDUCE_SUM},    {TILE_PROD, IR_REDUCE_PROD},     {TILE_MIN, IR_REDUCE_MIN},
    {TILE_MAX, IR_REDUCE_MAX},    {TILE_ARGMIN, IR_REDUCE_ARGMIN}, {TILE_ARGMAX, IR_REDUCE_ARGMAX},
    {TILE_ANY, IR_REDUCE_ANY},    {TILE_ALL, IR_REDUCE_ALL},       {TILE_REDUCE, IR_REDUCE_CUSTOM},
    {TILE_CUMSUM, IR_REDUCE_SUM}, {TILE_CUMPROD, IR_REDUCE_PROD},  {TILE_SCAN, IR_REDUCE_CUSTOM},
};

static bool reduction_kind(Elab *e, const Args *a, const Tiles *o, IrReduce *kind) {
    size_t row = 0;
    while (reductions[row].builtin != a->which) row++;
    *kind = reductions[row].kind;
    bool custom = *kind == IR_REDUCE_CUSTOM;
    if (o->count != 1 && !custom) {
        el_error(e, a->at[0]->span, DIAG_TYPE, "'%s' takes one tile, found a tuple of %u", a->name,
                 o->count);
        return false;
    }
    unsigned classes = ir_reduce_classes(*kind);
    if (custom || dtype_is(el_elem(o->tiles[0]), classes)) return true;
    bool wants_bool = classes == DTYPE_CLASS_BOOL;
    el_error(e, a->at[0]->span, DIAG_TYPE, "'%s' needs %s, found %s", a->name,
             wants_bool ? "bools" : "numbers", el_type_text(e, o->tiles[0]->type));
    if (wants_bool)
        el_help(e, "compare with 0");
    else
        el_help(e, "a bool becomes a number only by a cast: i32(…)");
    return false;
}

static bool where_mask(Elab *e, const Args *a, const Shape *shape, IrValue **mask) {
    *mask = NULL;
    if (!a->named[NAMED_WHERE]) return true;
    *mask = el_mask(e, a->named[NAMED_WHERE], shape);
    return *mask != NULL;
}

Val el_builtin_reduce(Elab *e, const Args *a) {
    if (a->count == 2 && a->which == TILE_MIN) return el_minmax(e, a, IR_MIN);
    if (a->count == 2 && a->which == TILE_MAX) return el_minmax(e, a, IR_MAX);
    Tiles o;
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
    if (!given) el_tiles_flatten(e, &o, &mask);
    return el_reduce(e, &o, kind, block, mask, given ? axis : 0, keep && kept.rank ? &kept : NULL);
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

static Val scan_scan(Elab *e, const Args *a, Tiles *o) {
    IrReduce kind;
    ScanOptions options = {0};
    bool good = el_named_bool(e, a, NAMED_REVERSE, &options.reverse);
    good = el_named_bool(e, a, NAMED_EXCLUSIVE, &options.exclusive) && good;
    good = scan_axis(e, a, o->shape.rank, false, &options.axis) && good;
    if (!reduction_kind(e, a, o, &kind)) return EL_POISON;
    IrBlock *block = kind == IR_REDUCE_CUSTOM ? combiner(e, a->at[1], o) : NULL;
    if (!good || (kind == IR_REDUCE_CUSTOM && !block)) return EL_POISON;
    return el_scan(e, o, kind, block, &options);
}

static Val scan_sort(Elab *e, const Args *a, Tiles *o) {
    uint32_t axis;
    bool descending = false;
    bool good = el_named_bool(e, a, NAMED_DESCENDING, &descending);
    if (!scan_axis(e, a, o->shape.rank, true, &axis) || !good) return EL_POISON;
    return el_sort(e, o, axis, descending);
}

static bool one_tile(Elab *e, const Args *a, const Tiles *o, unsigned classes, const char *what) {
    if (o->count == 1 && dtype_is(el_elem(o->tiles[0]), classes)) return true;
    el_error(e, a->at[0]->span, DIAG_TYPE, "'%s' needs a tile of %s, found %s", a->name, what,
             o->count == 1 ? el_type_text(e, o->tiles[0]->type) : "a tuple");
    return false;
}

static Val scan_topk(Elab *e, const Args *a, Tiles *o) {
    uint32_t axis, count;
    bool good = el_const_extent(e, a->at[1], "K of 'topk'", DIAG_SHAPE, &count);
    if (!one_tile(e, a, o, DTYPE_CLASS_NUMBER, "numbers")) return EL_POISON;
    if (!scan_axis(e, a, o->shape.rank, true, &axis) || !good) return EL_POISON;
    if (count > o->shape.dims[axis]) {
        return el_error(e, a->at[1]->span, DIAG_SHAPE, "the %u greatest of %u elements", count,
                        o->shape.dims[axis]);
    }
    return el_topk(e, o->tiles[0], axis, count);
}

static Val scan_histogram(Elab *e, const Args *a, Tiles *o) {
    uint32_t bins;
    IrValue *mask;
    bool good = el_const_extent(e, a->at[1], "the number of bins", DIAG_SHAPE, &bins);
    good = where_mask(e, a, &o->shape, &mask) && good;
    if (!one_tile(e, a, o, DTYPE_CLASS_INT, "integers") || !good) return EL_POISON;
    el_tiles_flatten(e, o, &mask);
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
    // A negative literal wraps like a typed one.
    IrValue *key = seed.kind == VAL_INT ? el_cast(e, DTYPE_U64, seed, true, a->at[0]->span).ir
                                        : el_convert(e, seed.ir, DTYPE_U64);
    IrValue *counter = el_value(e, offset, a->at[1]->span);
    Val words = el_random(e, key, counter);
    return a->which == TILE_RANDOM ? words.tuple.items[0] : words;
}

Val el_builtin_scan(Elab *e, const Args *a) {
    if (a->which == TILE_RANDOM || a->which == TILE_RANDOM4) return scan_random(e, a);
    Tiles o;
    if (!operands_of(e, a->at[0], &o)) return EL_POISON;
    if (a->which == TILE_SORT) return scan_sort(e, a, &o);
    if (a->which == TILE_TOPK) return scan_topk(e, a, &o);
    if (a->which == TILE_HISTOGRAM) return scan_histogram(e, a, &o);
    return scan_scan(e, a, &o);
}
