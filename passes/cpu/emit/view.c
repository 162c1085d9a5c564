// Views: extents, strides, addresses of elements, and facts about a selection as a whole.
#include "passes/cpu/emit/access.h"

bool access_is_packed(const IrValue *view) {
    return dtype_is(view->type->elem, DTYPE_CLASS_PACKED);
}

static const IrParam *param_of(const Lower *l, const IrValue *view) {
    for (size_t i = 0; i < l->func->params.count; i++)
        if (l->func->params.data[i].value == view) return &l->func->params.data[i];
    UNREACHABLE("a view that is not a parameter");
}

static IrValue *view_op(IrBuilder *b, IrOpcode code, IrValue *view, uint32_t dim) {
    const IrType *t = ir_scalar(b->module, DTYPE_I64);
    IrOp *op = ir_op(b, code, 1, &view, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_DIM, dim);
    return ir_result(op, 0);
}

IrValue *access_extent(Lower *l, IrBuilder *b, IrValue *view, uint32_t dim) {
    const IrDim *d = &param_of(l, view)->dims[dim];
    return d->extent ? ir_extent(b, d->extent) : lower_i64(b, d->value);
}

int access_run(const Lower *l, const IrValue *view) {
    bool last = !param_of(l, view)->strided || (l->facts & FACT_CONTIGUOUS);
    if (last) return (int)view->type->rank - 1;
    return l->assumed.view == view && !access_is_packed(view) ? (int)l->assumed.dim : -1;
}

IrValue *access_stride(Lower *l, IrBuilder *b, IrValue *view, uint32_t dim) {
    uint32_t rank = view->type->rank;
    if (access_run(l, view) == (int)dim) return lower_i64(b, 1);
    if (param_of(l, view)->strided) return view_op(b, IR_VEC_STRIDE, view, dim);
    IrValue *stride = lower_i64(b, 1);
    for (uint32_t d = rank; d-- > dim + 1;)
        stride = lower_mul(b, stride, access_extent(l, b, view, d));
    return stride;
}

IrValue *access_has_stride_1(IrBuilder *b, IrValue *view, uint32_t dim) {
    return ir_binary(b, IR_EQ, view_op(b, IR_VEC_STRIDE, view, dim), lower_i64(b, 1));
}

IrValue *access_view_data(IrBuilder *b, IrValue *view) {
    Dtype elem = access_is_packed(view) ? DTYPE_U8 : view->type->elem;
    const IrType *t = ir_ptr(b->module, elem, 0, NULL);
    return ir_result(ir_op(b, IR_VEC_DATA, 1, &view, 1, &t, 0, NULL), 0);
}

// ---- indices ------------------------------------------------------------------------------------

// An index as i64. A u64 index above the range of i64 becomes the largest i64, outside of every
// extent.
IrValue *access_index(IrBuilder *b, IrValue *index) {
    if (index->type->elem == DTYPE_I64) return index;
    if (index->type->elem == DTYPE_U64)
        index = ir_binary(b, IR_MIN, index, ir_const_bits(b, index->type, INT64_MAX));
    return ir_cast(b, index, DTYPE_I64, true);
}

static IrValue *as_unsigned(IrBuilder *b, IrValue *x) {
    return ir_bitcast(b, x, ir_with_elem(b->module, x->type, DTYPE_U64));
}

// 0 <= x < extent.
IrValue *access_within(IrBuilder *b, IrValue *x, IrValue *extent) {
    IrValue *end = as_unsigned(b, extent);
    return ir_binary(b, IR_LT, as_unsigned(b, x), end);
}

// Are `count` elements from the first on inside?
IrValue *access_span_within(IrBuilder *b, IrValue *first, uint32_t count, IrValue *extent) {
    IrValue *low = ir_binary(b, IR_GE, first, lower_i64(b, 0));
    IrValue *remaining = lower_add(b, extent, lower_i64(b, -(int64_t)count));
    return lower_and(b, low, ir_binary(b, IR_LE, first, remaining));
}

IrValue *access_remaining(Lower *l, IrBuilder *b, const IrOp *op, uint32_t dim) {
    IrValue *index = ir_operand(op, ir_view_index_start(op->code) + dim);
    index = access_index(b, index);
    IrValue *remaining = ir_binary(b, IR_SUB, access_extent(l, b, ir_operand(op, 0), dim), index);
    for (size_t i = 0; i < l->reaches.count; i++) {
        const StoreReach *s = &l->reaches.data[i];
        if (s->store == op && s->dim == dim) remaining = lower_min(b, remaining, s->extent);
    }
    return remaining;
}

// ---- a selection as a whole ---------------------------------------------------------------------

bool access_is_whole(Lower *l, const IrOp *op) {
    if (op->code != IR_VIEW_LOAD) return false;
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t start = ir_view_index_start(op->code), rank = select->u.ints.count;
    for (uint32_t d = 0; d < rank; d++)
        if (ir_operand(op, start + d)->type->rank > 0) return false;
    bool neighbours = access_run(l, ir_operand(op, 0)) == (int)rank - 1;
    return neighbours && select->u.ints.items[rank - 1] > 0;
}

WholeMatrix access_whole(Lower *l, IrBuilder *b, IrOp *op) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT), *proven = ir_attr(op, IR_ATTR_INSIDE);
    uint32_t start = ir_view_index_start(op->code), at = 0;
    IrValue *view = ir_operand(op, 0), *linear = lower_i64(b, 0);
    WholeMatrix w = {0};
    for (uint32_t d = 0; d < select->u.ints.count; d++) {
        int64_t width = select->u.ints.items[d];
        IrValue *index = ir_operand(op, start + d);
        index = access_index(b, index);
        IrValue *stride = access_stride(l, b, view, d);
        if (width > 0) w.step[at++] = stride;
        linear = lower_add(b, linear, lower_mul(b, index, stride));
        if (proven->u.ints.items[d]) continue;
        IrValue *extent = access_extent(l, b, view, d);
        IrValue *fits = width > 0 ? access_span_within(b, index, (uint32_t)width, extent)
                                  : access_within(b, index, extent);
        w.inside = lower_and(b, w.inside, fits);
    }
    w.pointer = ir_ptr_add(b, access_view_data(b, view), linear);
    return w;
}

// ---- facts proven before anything changes -------------------------------------------------------

// Is the view read, or should its elements be evicted last? Then they had better stay in the
// caches.
static bool is_read(const IrValue *view) {
    for (const IrUse *use = view->uses; use; use = use->next) {
        IrOpcode code = use->user->code;
        if (ir_evicts_last(use->user)) return true;
        if (code != IR_VIEW_STORE && code != IR_VIEW_INSIDE && code != IR_NOALIAS) return true;
    }
    return false;
}

// Does the part of a row that begins at this index start at a multiple of FACT_STREAM_ALIGN bytes,
// if the row does? For packed elements: does it start with a whole byte?
static bool is_aligned(const Lower *l, const IrOp *op, const IrValue *index) {
    uint64_t size = dtype_bits(ir_operand(op, 0)->type->elem) / 8;
    IrRange r = ir_range_of(l->ranges, index);
    if (access_is_packed(ir_operand(op, 0))) return r.known && r.divisor % 2 == 0;
    bool leaves = op->code == IR_VIEW_STORE && !is_read(ir_operand(op, 0));
    return leaves && r.known && r.divisor % (FACT_STREAM_ALIGN / size) == 0;
}

// Is no lane from the index on negative? Sums wrap.
static bool never_negative(const Lower *l, const IrOp *op, const IrValue *index) {
    IrRange r = ir_range_of(l->ranges, index);
    return r.known && r.max <= INT64_MAX - UINT32_MAX &&
           ir_provably_at_least(l->ranges, op, index, 0);
}

void access_prove(Lower *l, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) access_prove(l, op->regions[i]);
        IrRule rule = ir_op_info(op->code)->rule;
        if (rule < IR_RULE_VIEW_LOAD || rule > IR_RULE_VIEW_INSIDE) continue;
        const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
        uint32_t start = ir_view_index_start(op->code);
        for (uint32_t d = 0; d < select->u.ints.count; d++) {
            bool width = select->u.ints.items[d] > 0;
            bool last = d + 1 == select->u.ints.count;
            if (width && last) l->aligned[op->id] = is_aligned(l, op, ir_operand(op, start + d));
            if (width && never_negative(l, op, ir_operand(op, start + d)))
                l->positive[op->id] |= (uint8_t)(1u << d);
        }
    }
}
