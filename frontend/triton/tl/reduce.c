// Functions of triton.language: products, reductions, scans, orders.
#include "frontend/triton/elaborate.h"

// ---- dot

static const Dtype *accumulators(Dtype elem) { return el_dot_accumulators(elem); }

static bool precision_of(Elab *e, const TlCall *c, Dtype elem, int64_t *precision) {
    static const struct {
        const char *name;
        IrPrecision precision;
    } known[] = {{"tf32", IR_PRECISION_TF32},
                 {"tf32x3", IR_PRECISION_TF32X3},
                 {"ieee", IR_PRECISION_IEEE},
                 {"bf16x3", IR_PRECISION_BF16X3},
                 {"bf16x6", IR_PRECISION_IEEE}};
    *precision = IR_PRECISION_IEEE;
    Str target = triton_of(e)->spec->target, asked = tr_call_text(c, 3);
    bool allowed;
    if (!tr_call_bool(e, c, 4, true, &allowed)) return false;
    // Triton takes tf32 on NVIDIA's GPUs unless the kernel asks for something else.
    bool single = elem == DTYPE_F32;
    if (single && allowed && str_starts(target, STR("sm_"))) *precision = IR_PRECISION_TF32;
    if (!asked.size) return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!str_equal(asked, str(known[i].name))) continue;
        if (single) *precision = known[i].precision;
        return true;
    }
    el_error(e, c->at[3], DIAG_ARGUMENTS, "input_precision '%.*s' is unknown", STR_ARG(asked));
    el_help(e, "it is 'tf32', 'tf32x3', 'ieee', 'bf16x3' or 'bf16x6'");
    return false;
}

// All dimensions but the last two become one.
static IrValue *as_batch(Elab *e, IrValue *v) {
    Shape shape = el_shape_of(v->type), to = {.rank = 3, .dims = {1}};
    for (uint32_t i = 0; i + 2 < shape.rank; i++) to.dims[0] *= shape.dims[i];
    to.dims[1] = shape.dims[shape.rank - 2];
    to.dims[2] = shape.dims[shape.rank - 1];
    return ir_reshape(&e->b, v, to.rank, to.dims);
}

static bool same_batches(const IrType *x, const IrType *y) {
    if (x->rank != y->rank || x->rank <= 3) return false;
    for (uint32_t i = 0; i + 2 < x->rank; i++)
        if (x->shape[i] != y->shape[i]) return false;
    return true;
}

// A product of more than three dimensions: those in front become one.
static Val dot_of_batches(Elab *e, const TlCall *c, IrValue *x, IrValue *y, IrValue *acc) {
    Shape shape = el_shape_of(x->type);
    shape.dims[shape.rank - 1] = y->type->shape[shape.rank - 1];
    TlCall dot = *c;
    dot.arg[0] = el_ir(as_batch(e, x));
    dot.arg[1] = el_ir(as_batch(e, y));
    if (acc && !(acc = tr_stretch(e, acc, &shape, c->at[2]))) return EL_POISON;
    if (acc) dot.arg[2] = el_ir(as_batch(e, acc));
    Val v = tl_dot(e, &dot);
    return v.kind == VAL_IR ? el_ir(ir_reshape(&e->b, v.ir, shape.rank, shape.dims)) : v;
}

Val tl_dot(Elab *e, const TlCall *c) {
    IrValue *x = tr_numbers(e, c->arg[0], c->at[0]), *y = tr_numbers(e, c->arg[1], c->at[1]);
    IrValue *acc = tr_given(c, 2) ? tr_numbers(e, c->arg[2], c->at[2]) : NULL;
    if (!x || !y || (tr_given(c, 2) && !acc)) return EL_POISON;
    if (same_batches(x->type, y->type)) return dot_of_batches(e, c, x, y, acc);
    Shape shape;
    int64_t precision;
    Dtype out;
    if (!el_dot_operands(e, x, y, c->span) || !el_dot_shape(e, x->type, y->type, c->span, &shape) ||
        !precision_of(e, c, el_elem(x), &precision) ||
        !tr_call_type(e, c, 6, *accumulators(el_elem(x)), &out))
        return EL_POISON;
    if (dtype_is(el_elem(x), DTYPE_CLASS_INT)) out = DTYPE_I32;
    if (acc) out = el_elem(acc);
    const Dtype *allowed = accumulators(el_elem(x));
    while (*allowed != DTYPES && *allowed != out) allowed++;
    Dtype sums = *allowed == DTYPES ? *accumulators(el_elem(x)) : out;
    if (acc) {
        acc = tr_cast(e, el_ir(acc), sums, c->at[2]);
        if (!acc || !(acc = tr_stretch(e, acc, &shape, c->at[2]))) return EL_POISON;
    } else if (sums != *accumulators(el_elem(x))) {
        acc = ir_const_bits(&e->b, ir_tile(e->module, sums, shape.rank, shape.dims), 0);
    }
    IrValue *v = el_dot(e, x, y, acc, &shape, precision);
    return el_ir(tr_cast(e, el_ir(v), out, c->span));
}

// ---- reductions

typedef struct ReduceAxis {
    IrValue *tile;
    uint32_t axis;
    Shape kept;  // the shape of the result with keep_dims
    bool keeps;
} ReduceAxis;

// Reads the axis, where None means all dimensions; reshapes to one dimension then.
static bool reduced(Elab *e, const TlCall *c, IrValue *v, int axis_at, int keep_at, ReduceAxis *r) {
    *r = (ReduceAxis){.tile = v};
    if (!v) return false;
    if (!tr_call_bool(e, c, (uint32_t)keep_at, false, &r->keeps)) return false;
    uint32_t rank = v->type->rank;
    if (!rank) {
        el_error(e, c->at[0], DIAG_SHAPE, "tl.%s needs a tensor with dimensions, found %s",
                 c->tl->name, tr_text(e, el_ir(v)));
        return false;
    }
    r->kept = el_shape_of(v->type);
    if (!tr_given(c, (uint32_t)axis_at)) {
        uint32_t count = 1;
        for (uint32_t i = 0; i < rank; i++) {
            count *= v->type->shape[i];
            r->kept.dims[i] = 1;
        }
        if (rank > 1) r->tile = ir_reshape(&e->b, v, 1, &count);
        return true;
    }
    Int128 axis;
    if (!tr_const_int(e, c->arg[axis_at], "the axis", c->at[axis_at], &axis)) return false;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) {
        el_error(e, c->at[axis_at], DIAG_ARGUMENTS, "the axis %s is outside of %s",
                 tr_text(e, c->arg[axis_at]), tr_text(e, el_ir(v)));
        return false;
    }
    r->axis = (uint32_t)axis;
    r->kept.dims[axis] = 1;
    return true;
}

static Val reduce(Elab *e, const ReduceAxis *r, IrReduce kind) {
    Tiles t = {.count = 1, .tiles = (IrValue *[]){r->tile}, .shape = el_shape_of(r->tile->type)};
    return el_reduce(e, &t, kind, NULL, NULL, r->axis, r->keeps ? &r->kept : NULL);
}

// Integers below 32 bits are summed as 32 bits; int1 counts as an unsigned one.
static IrValue *for_sums(Elab *e, const TlCall *c, IrValue *v) {
    Dtype t = el_elem(v);
    if (t == DTYPE_BOOL) return tr_cast(e, el_ir(v), DTYPE_U32, c->at[0]);
    if (!dtype_is(t, DTYPE_CLASS_INT) || dtype_bits(t) >= 32) return v;
    return tr_cast(e, el_ir(v), dtype_signed(t) ? DTYPE_I32 : DTYPE_U32, c->at[0]);
}

// The greatest of numbers below 32 bits is looked for among int32 or fp32.
static IrValue *for_extremes(Elab *e, const TlCall *c, IrValue *v) {
    if (!v || dtype_bits(el_elem(v)) >= 32) return v;
    bool floats = dtype_is(el_elem(v), DTYPE_CLASS_ANYFLOAT);
    return tr_cast(e, el_ir(v), floats ? DTYPE_F32 : DTYPE_I32, c->at[0]);
}

Val tl_sum(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    Dtype to;
    if (!v || !tr_call_type(e, c, 3, DTYPES, &to)) return EL_POISON;
    v = to == DTYPES ? for_sums(e, c, v) : tr_cast(e, el_ir(v), to, c->at[0]);
    bool bits = v && el_elem(v) == DTYPE_BOOL;  // 1 + 1 is 0
    if (bits) v = for_sums(e, c, v);
    ReduceAxis r;
    if (!reduced(e, c, v, 1, 2, &r)) return EL_POISON;
    Val sum = reduce(e, &r, IR_REDUCE_SUM);
    if (!bits || sum.kind != VAL_IR) return sum;
    Span spans[2] = {c->span, c->span};
    return el_ir(tr_truth(e, tr_binary(e, PY_BIT_AND, sum, el_int(1), c->span, spans), c->span));
}

// The kind by which a number wins over a NaN, if there are NaNs.
static IrReduce number_wins(IrReduce kind, Dtype elem) {
    if (!dtype_is(elem, DTYPE_CLASS_ANYFLOAT)) return kind;
    return kind == IR_REDUCE_MAX ? IR_REDUCE_MAXNUM : IR_REDUCE_MINNUM;
}

// Floats as integers in the same order, where both zeros are equal and a NaN is beyond the end at
// which no number is chosen.
static IrValue *ordered(Elab *e, IrValue *v, bool greatest) {
    Dtype elem = el_elem(v), to = dtype_bits(elem) == 64 ? DTYPE_I64 : DTYPE_I32;
    Shape s = el_shape_of(v->type);
    const IrType *floats = v->type, *type = ir_tile(e->module, to, s.rank, s.dims);
    uint64_t most = to == DTYPE_I64 ? INT64_MAX : INT32_MAX;
    v = ir_binary(&e->b, IR_ADD, v, ir_const_bits(&e->b, floats, 0));
    IrValue *bits = ir_bitcast(&e->b, v, type);
    IrValue *sign = ir_const_bits(&e->b, type, dtype_bits(elem) - 1);
    IrValue *flip = ir_binary(&e->b, IR_AND, ir_binary(&e->b, IR_SHR, bits, sign),
                              ir_const_bits(&e->b, type, most));
    IrValue *last = ir_const_bits(&e->b, type, greatest ? most + 1 : most);
    return ir_ternary(&e->b, IR_SELECT, ir_binary(&e->b, IR_NE, v, v), last,
                      ir_binary(&e->b, IR_XOR, bits, flip));
}

static IrReduce argument_kind(IrReduce kind) {
    return kind == IR_REDUCE_MAX ? IR_REDUCE_ARGMAX : IR_REDUCE_ARGMIN;
}

// The place of the greatest or least. A number wins over a NaN, the first one over its equals.
static Val place_of(Elab *e, ReduceAxis r, IrReduce kind) {
    if (dtype_is(el_elem(r.tile), DTYPE_CLASS_ANYFLOAT))
        r.tile = ordered(e, r.tile, kind == IR_REDUCE_ARGMAX);
    return reduce(e, &r, kind);
}

Val tl_extreme(Elab *e, const TlCall *c) {
    IrValue *given = tr_numbers(e, c->arg[0], c->at[0]), *v = for_extremes(e, c, given);
    bool places;
    ReduceAxis r;
    if (!tr_call_bool(e, c, 2, false, &places) || !reduced(e, c, v, 1, 4, &r)) return EL_POISON;
    IrReduce kind = (IrReduce)c->tl->which;
    Val best = reduce(e, &r, number_wins(kind, el_elem(r.tile)));
    if (!places) return best;
    // With its place, the value keeps the type that was given.
    best = el_ir(tr_cast(e, best, el_elem(given), c->span));
    return el_tuple(e, 2, (Val[]){best, place_of(e, r, argument_kind(kind))});
}

Val tl_argument(Elab *e, const TlCall *c) {
    IrValue *v = for_extremes(e, c, tr_numbers(e, c->arg[0], c->at[0]));
    ReduceAxis r;
    return reduced(e, c, v, 1, 3, &r) ? place_of(e, r, (IrReduce)c->tl->which) : EL_POISON;
}

static Val combine_bits(Elab *e, const void *own, uint32_t count, const Val *args, Span span) {
    (void)count;
    (void)span;
    return el_ir(ir_binary(&e->b, *(const IrOpcode *)own, args[0].ir, args[1].ir));
}

Val tl_bit_reduce(Elab *e, const TlCall *c) {
    ReduceAxis r;
    if (!reduced(e, c, tr_numbers(e, c->arg[0], c->at[0]), 1, 2, &r)) return EL_POISON;
    if (dtype_is(el_elem(r.tile), DTYPE_CLASS_ANYFLOAT))
        return el_error(e, c->at[0], DIAG_TYPE, "tl.%s takes integers, found %s", c->tl->name,
                        tr_text(e, c->arg[0]));
    IrOpcode code = (IrOpcode)c->tl->which;
    Tiles t = {.count = 1, .tiles = &r.tile, .shape = el_shape_of(r.tile->type)};
    IrBlock *block =
        el_combiner(e, &(FrontCombiner){c->tl->name, c->span, combine_bits, &code}, &t);
    if (!block) return EL_POISON;
    return el_reduce(e, &t, IR_REDUCE_CUSTOM, block, NULL, r.axis, r.keeps ? &r.kept : NULL);
}

// ---- reductions and scans with functions

static Val combine(Elab *e, const void *own, uint32_t count, const Val *args, Span span) {
    const Object *o = own;
    Arguments a = {.count = count,
                   .vals = arena_new(e->scratch, Val, count + 1),
                   .names = arena_new(e->scratch, Symbol, count + 1),
                   .spans = arena_new(e->scratch, Span, count + 1)};
    for (uint32_t i = 0; i < count; i++) {
        a.vals[i] = args[i];
        a.spans[i] = span;
    }
    return tr_call_func(e, o->func, &a, false, span);
}

// One tensor or a tuple of tensors of one shape.
static bool tiles_of(Elab *e, const TlCall *c, Tiles *t) {
    Val v = c->arg[0].kind == VAL_TUPLE ? c->arg[0] : el_tuple(e, 1, &c->arg[0]);
    *t = (Tiles){.count = v.tuple.count};
    t->tiles = arena_new(e->scratch, IrValue *, t->count + 1);
    for (uint32_t i = 0; i < t->count; i++)
        if (!(t->tiles[i] = tr_numbers(e, v.tuple.items[i], c->at[0]))) return false;
    if (!t->count || !tr_same_shape(e, c->at[0], t->count, t->tiles)) return false;
    t->shape = el_shape_of(t->tiles[0]->type);
    return true;
}

// A tuple of one tensor gives a tuple of one result.
static Val as_given(Elab *e, const TlCall *c, Val v) {
    bool one = c->arg[0].kind == VAL_TUPLE && v.kind == VAL_IR;
    return one ? el_tuple(e, 1, &v) : v;
}

static IrBlock *combiner_of(Elab *e, const TlCall *c, const Tiles *t) {
    const Object *o = tr_object_of(c->arg[2]);
    if (o && (o->kind == OBJECT_JIT || o->kind == OBJECT_HOST))
        return el_combiner(e, &(FrontCombiner){o->func->name, c->at[2], combine, o}, t);
    el_error(e, c->at[2], DIAG_COMBINER, "expected a jit function, found %s",
             tr_text(e, c->arg[2]));
    return NULL;
}

Val tl_reduce(Elab *e, const TlCall *c) {
    Tiles t;
    ReduceAxis r;
    if (!tiles_of(e, c, &t) || !reduced(e, c, t.tiles[0], 1, 3, &r)) return EL_POISON;
    if (!tr_given(c, 1)) el_tiles_flatten(e, &t, NULL);
    IrBlock *block = combiner_of(e, c, &t);
    if (!block) return EL_POISON;
    return as_given(
        e, c, el_reduce(e, &t, IR_REDUCE_CUSTOM, block, NULL, r.axis, r.keeps ? &r.kept : NULL));
}

static bool scan_options(Elab *e, const TlCall *c, uint32_t rank, int reverse_at,
                         ScanOptions *options) {
    int64_t axis;
    *options = (ScanOptions){0};
    if (!tr_call_int(e, c, 1, "the axis", 0, &axis) ||
        !tr_call_bool(e, c, (uint32_t)reverse_at, false, &options->reverse))
        return false;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) {
        el_error(e, c->at[1], DIAG_ARGUMENTS, "the axis %s is outside of %u dimension%s",
                 tr_text(e, c->arg[1]), rank, rank == 1 ? "" : "s");
        return false;
    }
    options->axis = (uint32_t)axis;
    return true;
}

Val tl_scan(Elab *e, const TlCall *c) {
    Tiles t;
    ScanOptions options;
    if (!tiles_of(e, c, &t) || !scan_options(e, c, t.shape.rank, 3, &options)) return EL_POISON;
    IrBlock *block = combiner_of(e, c, &t);
    return block ? as_given(e, c, el_scan(e, &t, IR_REDUCE_CUSTOM, block, &options)) : EL_POISON;
}

Val tl_cumulative(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    Dtype to;
    if (!v || !tr_call_type(e, c, 3, DTYPES, &to)) return EL_POISON;
    v = to == DTYPES ? for_sums(e, c, v) : tr_cast(e, el_ir(v), to, c->at[0]);
    ScanOptions options;
    if (!v || !scan_options(e, c, v->type->rank, 2, &options)) return EL_POISON;
    Tiles t = {.count = 1, .tiles = &v, .shape = el_shape_of(v->type)};
    return el_scan(e, &t, (IrReduce)c->tl->which, NULL, &options);
}

// exp(x - max) / sum
Val tl_softmax(Elab *e, const TlCall *c) {
    static const TlFunction exponential = {"softmax", "x", tl_math, IR_EXP};
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    TlCall own = *c;
    own.arg[1] = tr_given(c, 1) ? c->arg[1] : el_int(0);
    own.arg[2] = el_bool(true);
    ReduceAxis r;
    if (!reduced(e, &own, for_extremes(e, c, v), 1, 2, &r)) return EL_POISON;
    Span spans[2] = {c->span, c->span};
    Val most = reduce(e, &r, number_wins(IR_REDUCE_MAX, el_elem(r.tile)));
    Val moved = tr_binary(e, PY_SUB, el_ir(v), most, c->span, spans);
    Val up = tl_math(
        e, &(TlCall){.tl = &exponential, .span = c->span, .arg = {moved}, .at = {c->at[0]}});
    if (up.kind != VAL_IR) return EL_POISON;
    r.tile = up.ir;
    return tr_binary(e, PY_DIV, up, reduce(e, &r, IR_REDUCE_SUM), c->span, spans);
}

// ---- orders

static bool order_axis(Elab *e, const TlCall *c, uint32_t at, IrValue *v, uint32_t *axis) {
    int64_t n;
    if (!v || !tr_call_int(e, c, at, "the dimension", -1, &n)) return false;
    if (n < 0) n += v->type->rank;
    if (n < 0 || n >= v->type->rank) {
        el_error(e, c->at[at], DIAG_ARGUMENTS, "the dimension %lld is outside of %s",
                 (long long)(n < 0 ? n - v->type->rank : n), tr_text(e, el_ir(v)));
        return false;
    }
    *axis = (uint32_t)n;
    return true;
}

Val tl_sort(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    uint32_t axis;
    bool descending;
    if (!order_axis(e, c, 1, v, &axis) || !tr_call_bool(e, c, 2, false, &descending))
        return EL_POISON;
    Tiles t = {.count = 1, .tiles = &v, .shape = el_shape_of(v->type)};
    return el_sort(e, &t, axis, descending);
}

// The k least, in ascending order.
static Val least(Elab *e, IrValue *v, uint32_t axis, uint32_t k) {
    Shape shape = el_shape_of(v->type), line = {.rank = shape.rank};
    Tiles t = {.count = 1, .tiles = &v, .shape = shape};
    Val sorted = el_sort(e, &t, axis, false);
    if (sorted.kind != VAL_IR) return sorted;
    shape.dims[axis] = k;
    for (uint32_t i = 0; i < line.rank; i++) line.dims[i] = i == axis ? k : 1;
    IrValue *index = ir_reshape(&e->b, ir_iota(&e->b, k), line.rank, line.dims);
    IrValue *both[2] = {sorted.ir, el_broadcast(e, index, shape.rank, shape.dims)};
    IrValue *r =
        el_op1(e, IR_GATHER, 2, both, ir_tile(e->module, el_elem(v), shape.rank, shape.dims));
    ir_attr_set_int(r->def, IR_ATTR_AXIS, axis);
    return el_ir(r);
}

Val tl_topk(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    uint32_t axis;
    int64_t k;
    bool descending;
    if (!tr_call_bool(e, c, 3, true, &descending)) return EL_POISON;
    if (!order_axis(e, c, 2, v, &axis) || !tr_call_int(e, c, 1, "k", 1, &k)) return EL_POISON;
    if (k < 1 || k > v->type->shape[axis] || (k & (k - 1)))
        return el_error(e, c->at[1], DIAG_ARGUMENTS,
                        "k must be a power of two up to %u, found %lld", v->type->shape[axis],
                        (long long)k);
    if (!descending) return least(e, v, axis, (uint32_t)k);
    return el_topk(e, v, axis, (uint32_t)k).tuple.items[0];
}

Val tl_histogram(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]), *mask = NULL;
    int64_t bins;
    if (!v || !tr_call_int(e, c, 1, "num_bins", 1, &bins)) return EL_POISON;
    if (bins < 1 || bins > IR_MAX_COUNT || (bins & (bins - 1)) || v->type->rank != 1)
        return el_error(e, c->span, DIAG_ARGUMENTS,
                        "tl.histogram counts a tensor of one dimension in a power of two of bins, "
                        "found %s and %lld bins",
                        tr_text(e, el_ir(v)), (long long)bins);
    if (tr_given(c, 2)) {
        mask = tr_truth(e, c->arg[2], c->at[2]);
        Shape shape = el_shape_of(v->type);
        if (!mask || !(mask = tr_stretch(e, mask, &shape, c->at[2]))) return EL_POISON;
    }
    uint32_t count = (uint32_t)bins;
    return el_ir(el_op1(e, IR_HISTOGRAM, 2, (IrValue *[]){mask, v},
                        ir_tile(e->module, DTYPE_I32, 1, &count)));
}
