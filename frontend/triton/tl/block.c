// Functions of triton.language for block pointers and tensor descriptors: a block of an array, by
// its base, extents, strides and offsets.
#include "base/os/os.h"
#include "frontend/triton/elaborate.h"

// The fields of an OBJECT_BLOCK of rank n: the base, n extents, n strides, n offsets.
static Val extent_of(const Object *o, uint32_t d) { return o->fields[1 + d]; }
static Val stride_of(const Object *o, uint32_t d) { return o->fields[1 + o->block.rank + d]; }
static uint32_t offset_at(const Object *o, uint32_t d) { return 1 + 2 * o->block.rank + d; }

static Val as_i64(Elab *e, Val v, Span span) {
    IrValue *x = tr_numbers(e, v, span);
    if (!x) return EL_POISON;
    if (x->type->rank || !dtype_is(el_elem(x), DTYPE_CLASS_INT | DTYPE_CLASS_BOOL))
        return el_error(e, span, DIAG_TYPE, "expected a scalar integer, found %s", tr_text(e, v));
    return el_ir(el_convert(e, x, DTYPE_I64));
}

static Val as_list(Elab *e, Val v) { return v.kind == VAL_TUPLE ? v : el_tuple(e, 1, &v); }

static bool fill(Elab *e, const TlCall *c, uint32_t at, Val list, uint32_t rank, Val *fields) {
    list = as_list(e, list);
    if (list.tuple.count != rank) {
        el_error(e, c->at[at], DIAG_SHAPE, "expected %u values, one for each dimension, found %u",
                 rank, list.tuple.count);
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        fields[i] = as_i64(e, list.tuple.items[i], c->at[at]);
        if (fields[i].kind == VAL_POISON) return false;
    }
    return true;
}

static Val made(Elab *e, const TlCall *c, const uint32_t at[5], bool descriptor) {
    Val base = c->arg[at[0]];
    Shape block;
    if (base.kind == VAL_POISON) return base;
    if (base.kind != VAL_IR || !el_is_ptr(base.ir) || base.ir->type->rank)
        return el_error(e, c->at[at[0]], DIAG_TYPE, "expected a scalar pointer, found %s",
                        tr_text(e, base));
    if (!tr_call_shape(e, c, at[4], &block)) return EL_POISON;
    uint32_t n = block.rank;
    Object o = {.kind = OBJECT_BLOCK,
                .is_static = descriptor,
                .type = el_elem(base.ir),
                .block = block,
                .count = 1 + 3 * n,
                .fields = arena_new(e->scratch, Val, 2 + 3 * n)};
    o.fields[0] = base;
    Val zero = el_int(0), *zeros = arena_new(e->scratch, Val, n + 1);
    for (uint32_t i = 0; i < n; i++) zeros[i] = zero;
    Val offsets = descriptor ? el_tuple(e, n, zeros) : c->arg[at[3]];
    if (!fill(e, c, at[1], c->arg[at[1]], n, o.fields + 1) ||
        !fill(e, c, at[2], c->arg[at[2]], n, o.fields + 1 + n) ||
        !fill(e, c, at[3], offsets, n, o.fields + 1 + 2 * n))
        return EL_POISON;
    return tr_object(e, o);
}

Val tl_make_block_ptr(Elab *e, const TlCall *c) {
    return made(e, c, (const uint32_t[]){0, 1, 2, 3, 4}, false);
}

Val tl_make_descriptor(Elab *e, const TlCall *c) {
    Val v = made(e, c, (const uint32_t[]){0, 1, 2, 3, 3}, true);
    const Object *o = tr_object_of(v);
    if (!o || !str_equal(tr_call_text(c, 4), STR("nan"))) return v;
    if (dtype_is(o->type, DTYPE_CLASS_INT | DTYPE_CLASS_BOOL))
        return el_error(e, c->at[4], DIAG_TYPE, "an integer is never NaN: padding_option='zero'");
    Object padded = *o;
    padded.pads_nan = true;
    return tr_object(e, padded);
}

Val tl_advance(Elab *e, const TlCall *c) {
    const Object *o = tr_object_of(c->arg[0]);
    if (!o || o->kind != OBJECT_BLOCK)
        return el_error(e, c->at[0], DIAG_TYPE, "tl.advance needs a block pointer, found %s",
                        tr_text(e, c->arg[0]));
    Object next = *o;
    next.fields = arena_new(e->scratch, Val, o->count + 1);
    for (uint32_t i = 0; i < o->count; i++) next.fields[i] = o->fields[i];
    Val *by = arena_new(e->scratch, Val, o->block.rank + 1);
    if (!fill(e, c, 1, c->arg[1], o->block.rank, by)) return EL_POISON;
    for (uint32_t d = 0; d < o->block.rank; d++) {
        Val *offset = &next.fields[offset_at(o, d)];
        *offset = el_ir(ir_binary(&e->b, IR_ADD, offset->ir, by[d].ir));
    }
    return tr_object(e, next);
}

// ---- accesses

// The numbers offset … offset + extent - 1 along one dimension, of the block's rank; or those that
// are given.
static IrValue *numbers_along(Elab *e, const Object *o, uint32_t d, IrValue *offset) {
    uint32_t n = o->block.dims[d];
    Shape line = {.rank = o->block.rank};
    for (uint32_t i = 0; i < line.rank; i++) line.dims[i] = i == d ? n : 1;
    if (offset->type->rank) return ir_reshape(&e->b, offset, line.rank, line.dims);
    IrValue *at = el_convert(e, ir_iota(&e->b, n), DTYPE_I64);
    at = ir_binary(&e->b, IR_ADD, at, el_broadcast(e, offset, 1, &n));
    return ir_reshape(&e->b, at, line.rank, line.dims);
}

// The addresses of the block's elements; *mask: those inside along the dimensions of `checks`.
static IrValue *addresses(Elab *e, const Object *o, const Val *offsets, unsigned checks,
                          IrValue **mask) {
    const Shape *shape = &o->block;
    IrValue *sum = NULL;
    *mask = NULL;
    for (uint32_t d = 0; d < shape->rank; d++) {
        IrValue *at = numbers_along(e, o, d, offsets[d].ir);
        const IrType *t = at->type;
        IrValue *stride = el_broadcast(e, stride_of(o, d).ir, t->rank, t->shape);
        IrValue *part =
            el_broadcast(e, ir_binary(&e->b, IR_MUL, at, stride), shape->rank, shape->dims);
        sum = sum ? ir_binary(&e->b, IR_ADD, sum, part) : part;
        if (!(checks & 1u << d)) continue;
        IrValue *extent = el_broadcast(e, extent_of(o, d).ir, t->rank, t->shape);
        IrValue *zero = ir_const_bits(&e->b, t, 0);
        IrValue *inside = ir_binary(&e->b, IR_AND, ir_binary(&e->b, IR_GE, at, zero),
                                    ir_binary(&e->b, IR_LT, at, extent));
        inside = el_broadcast(e, inside, shape->rank, shape->dims);
        *mask = *mask ? ir_binary(&e->b, IR_AND, *mask, inside) : inside;
    }
    IrValue *base = el_broadcast(e, o->fields[0].ir, shape->rank, shape->dims);
    return sum ? ir_ptr_add(&e->b, base, sum) : base;
}

// The dimensions of boundary_check=(0, 1), as bits.
static bool checked_dims(Elab *e, const TlCall *c, uint32_t at, const Object *o, unsigned *bits) {
    *bits = 0;
    if (!tr_given(c, at)) return true;
    Val list = as_list(e, c->arg[at]);
    for (uint32_t i = 0; i < list.tuple.count; i++) {
        Int128 d;
        if (!tr_const_int(e, list.tuple.items[i], "a dimension", c->at[at], &d)) return false;
        if (d < 0) d += o->block.rank;
        if (d < 0 || d >= o->block.rank) {
            el_error(e, c->at[at], DIAG_ARGUMENTS, "the block has no dimension %s",
                     el_wide_text(e, d));
            return false;
        }
        *bits |= 1u << (unsigned)d;
    }
    return true;
}

// The block of a view: a part of each dimension, or the rows that a tensor names.
static Access access_of(Elab *e, const TlCall *c, const Object *o, const Val *offsets) {
    Access a = {.view = o->view, .span = c->span, .count = o->block.rank};
    for (uint32_t d = 0; d < a.count; d++) {
        a.index[d] = offsets[d].ir;
        a.select[d] = a.index[d]->type->rank ? 0 : o->block.dims[d];
    }
    CHECK(el_access_shape(e, &a), "the block of a descriptor has no shape");
    return a;
}

static Val load_view(Elab *e, const TlCall *c, const Object *o, const Val *offsets) {
    Access a = access_of(e, c, o, offsets);
    return el_ir(el_view_read(e, &a, NULL));
}

static Val store_view(Elab *e, const TlCall *c, const Object *o, const Val *offsets, IrValue *x) {
    Access a = access_of(e, c, o, offsets);
    el_view_op(e, &a, IR_VIEW_STORE, 2, (IrValue *[]){x, NULL});
    return tr_none();
}

static Val load(Elab *e, const Object *o, const Val *offsets, unsigned checks, bool nan) {
    IrValue *mask, *p = addresses(e, o, offsets, checks, &mask), *other = NULL;
    if (mask && nan && dtype_is(o->type, DTYPE_CLASS_FLOAT))
        other = ir_const_bits(&e->b, ir_tile(e->module, o->type, o->block.rank, o->block.dims),
                              dtype_from_double(o->type, __builtin_nan(""), false));
    const IrType *type = ir_tile(e->module, o->type, o->block.rank, o->block.dims);
    return el_ir(
        ir_result(ir_op(&e->b, IR_LOAD, 3, (IrValue *[]){p, mask, other}, 1, &type, 0, NULL), 0));
}

static Val store(Elab *e, const TlCall *c, const Object *o, const Val *offsets, unsigned checks,
                 uint32_t value_at) {
    IrValue *mask, *x = tr_stored(e, c->arg[value_at], o->type, c->at[value_at]);
    if (!x || !(x = tr_stretch(e, x, &o->block, c->at[value_at]))) return EL_POISON;
    if (o->kind == OBJECT_VIEW) return store_view(e, c, o, offsets, x);
    IrValue *p = addresses(e, o, offsets, checks, &mask);
    ir_op(&e->b, IR_STORE, 3, (IrValue *[]){p, x, mask}, 0, NULL, 0, NULL);
    return tr_none();
}

Val tr_block_load(Elab *e, const TlCall *c, const Object *o) {
    unsigned checks;
    if (!checked_dims(e, c, 3, o, &checks)) return EL_POISON;
    return load(e, o, o->fields + offset_at(o, 0), checks,
                str_equal(tr_call_text(c, 4), STR("nan")));
}

Val tr_block_store(Elab *e, const TlCall *c, const Object *o) {
    unsigned checks;
    if (!checked_dims(e, c, 3, o, &checks)) return EL_POISON;
    return store(e, c, o, o->fields + offset_at(o, 0), checks, 1);
}

static const Object *descriptor_of(Elab *e, const TlCall *c, Val *offsets) {
    const Object *o = tr_object_of(c->arg[0]);
    if (!o || (o->kind != OBJECT_BLOCK && o->kind != OBJECT_VIEW)) {
        el_error(e, c->at[0], DIAG_TYPE, "expected a tensor descriptor, found %s",
                 tr_text(e, c->arg[0]));
        return NULL;
    }
    return fill(e, c, 1, c->arg[1], o->block.rank, offsets) ? o : NULL;
}

Val tl_descriptor_load(Elab *e, const TlCall *c) {
    Val offsets[IR_MAX_RANK];
    const Object *o = descriptor_of(e, c, offsets);
    if (o && o->kind == OBJECT_VIEW) return load_view(e, c, o, offsets);
    return o ? load(e, o, offsets, ~0u, o->pads_nan) : EL_POISON;
}

Val tl_descriptor_store(Elab *e, const TlCall *c) {
    Val offsets[IR_MAX_RANK];
    const Object *o = descriptor_of(e, c, offsets);
    return o ? store(e, c, o, offsets, ~0u, 2) : EL_POISON;
}

// Rows that a tensor names, of a descriptor whose block is one row: *rows is the descriptor of all.
static bool rows_of(Elab *e, const TlCall *c, uint32_t at, Object *rows, Val *offsets) {
    const Object *o = tr_object_of(c->arg[0]);
    bool is_block = o && (o->kind == OBJECT_BLOCK || o->kind == OBJECT_VIEW);
    if (!is_block || o->block.rank != 2 || o->block.dims[0] != 1) {
        el_error(e, c->at[0], DIAG_TYPE,
                 "expected a tensor descriptor with the block [1, N], found %s",
                 tr_text(e, c->arg[0]));
        return false;
    }
    IrValue *x = tr_numbers(e, c->arg[at], c->at[at]);
    offsets[1] = as_i64(e, c->arg[at + 1], c->at[at + 1]);
    if (!x || offsets[1].kind == VAL_POISON) return false;
    if (x->type->rank != 1 || !dtype_is(el_elem(x), DTYPE_CLASS_INT)) {
        el_error(e, c->at[at], DIAG_TYPE, "the rows are a tensor of integers, found %s",
                 tr_text(e, c->arg[at]));
        return false;
    }
    offsets[0] = el_ir(el_convert(e, x, DTYPE_I64));
    *rows = *o;
    rows->block.dims[0] = x->type->shape[0];
    return true;
}

Val tl_descriptor_gather(Elab *e, const TlCall *c) {
    Object rows;
    Val offsets[2];
    if (!rows_of(e, c, 1, &rows, offsets)) return EL_POISON;
    if (rows.kind == OBJECT_VIEW) return load_view(e, c, &rows, offsets);
    return load(e, &rows, offsets, ~0u, rows.pads_nan);
}

Val tl_descriptor_scatter(Elab *e, const TlCall *c) {
    Object rows;
    Val offsets[2];
    return rows_of(e, c, 2, &rows, offsets) ? store(e, c, &rows, offsets, ~0u, 1) : EL_POISON;
}

Val tl_descriptor_atomic(Elab *e, const TlCall *c) {
    Val offsets[IR_MAX_RANK];
    const Object *o = descriptor_of(e, c, offsets);
    AtomicOp a = {.rmw = (IrRmw)c->tl->which, .order = IR_ORDER_RELAXED, .scope = IR_SCOPE_DEVICE};
    if (!o) return EL_POISON;
    if (!dtype_is(o->type, ir_rmw_classes(a.rmw)))
        return el_error(e, c->span, DIAG_ATOMIC, "%s does not take %s", c->tl->name,
                        tr_type_name(o->type));
    IrValue *mask, *x = tr_stored(e, c->arg[2], o->type, c->at[2]);
    if (!x || !(x = tr_stretch(e, x, &o->block, c->at[2]))) return EL_POISON;
    Access access;
    if (o->kind == OBJECT_VIEW) {
        access = access_of(e, c, o, offsets);
        a.access = &access;
        mask = NULL;
    } else {
        a.pointer = addresses(e, o, offsets, ~0u, &mask);
    }
    el_atomic(e, &a, 1, &x, mask);
    return tr_none();
}
