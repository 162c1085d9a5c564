#include "tests/gen/gen_claims.h"

#include "ir/analysis/analysis.h"
#include "ir/build.h"

typedef struct Claim {
    IrValue *value;
    IrRange range;
} Claim;
typedef VEC(Claim) Claims;

typedef struct Collector {
    Arena *arena;
    const IrRanges *ranges;
    Claims claims;
} Collector;

static void collect(Collector *c, IrValue *value) {
    const IrType *t = value->type;
    if (t->kind != IR_TILE || !dtype_is(t->elem, DTYPE_CLASS_INT)) return;
    Claim claim = {value, ir_range_of(c->ranges, value)};
    if (claim.range.known) vec_push(c->arena, &c->claims, claim);
}

static void collect_block(Collector *c, IrBlock *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) collect(c, block->args[i]);
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->result_count; i++) collect(c, ir_result(op, i));
        if (op->code == IR_REDUCE || op->code == IR_SCAN) continue;
        for (uint32_t i = 0; i < op->region_count; i++) collect_block(c, op->regions[i]);
    }
}

static IrValue *fill(IrBuilder *b, const IrType *like, Dtype elem, int64_t value) {
    const IrType *t = ir_tile(b->module, elem, like->rank, like->shape);
    return ir_const_bits(b, t, dtype_wrap(elem, (uint64_t)value));
}

static void claim_true(IrBuilder *b, IrValue *c, const char *what, const IrValue *value) {
    Arena *arena = b->module->arena;
    IrOp *op = ir_op(b, IR_ASSERT, 1, &c, 0, NULL, 0, NULL);
    ir_attr_set_text(op, IR_ATTR_TEXT, str(arena_printf(arena, "%s of value %u", what, value->id)));
}

static void claim_multiple(IrBuilder *b, IrValue *x, uint64_t divisor, const char *what,
                           const IrValue *value) {
    const IrType *t = x->type;
    if (divisor <= 1) return;
    IrValue *rest = x;
    if (divisor <= INT64_MAX) rest = ir_binary(b, IR_REM, x, fill(b, t, t->elem, (int64_t)divisor));
    claim_true(b, ir_binary(b, IR_EQ, rest, fill(b, t, t->elem, 0)), what, value);
}

// Lane numbers along a dimension, in the tile's shape.
static IrValue *lanes(IrBuilder *b, const IrType *t, uint32_t dim) {
    uint32_t shape[IR_MAX_RANK];
    for (uint32_t d = 0; d < t->rank; d++) shape[d] = d == dim ? t->shape[d] : 1;
    IrValue *x = ir_reshape(b, ir_iota(b, t->shape[dim]), t->rank, shape);
    return ir_broadcast(b, x, t->rank, t->shape);
}

// The first element of the aligned run of `length` along the dimension that each element is in.
static IrValue *first_of_run(IrBuilder *b, IrValue *x, uint32_t dim, IrValue *rest, IrValue *lane) {
    IrValue *operands[] = {x, ir_binary(b, IR_SUB, lane, rest)};
    IrOp *op = ir_op(b, IR_GATHER, 2, operands, 1, &x->type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, dim);
    return ir_result(op, 0);
}

static void claim_runs(IrBuilder *b, IrValue *x, const IrRange *r, uint32_t dim,
                       const IrValue *value) {
    const IrType *t = x->type;
    uint32_t length[2] = {r->contiguous[dim], r->constant[dim]};
    for (int constant = 0; constant < 2; constant++) {
        IrValue *lane = lanes(b, t, dim);
        IrValue *rest = ir_binary(b, IR_REM, lane, fill(b, t, DTYPE_I32, length[constant]));
        IrValue *first = first_of_run(b, x, dim, rest, lane);
        IrValue *expected = first;
        if (!constant) {
            claim_multiple(b, first, r->first[dim], "first elements", value);
            expected = ir_binary(b, IR_ADD, first, ir_cast(b, rest, t->elem, true));
        }
        if (length[constant] > 1)
            claim_true(b, ir_binary(b, IR_EQ, x, expected), constant ? "constant" : "contiguous",
                       value);
    }
}

static void claim(IrBuilder *b, const Claim *c) {
    IrValue *x = c->value;
    const IrRange *r = &c->range;
    bool is_u64 = x->type->elem == DTYPE_U64;
    // All of u64 has the range of i64, which says nothing; below that the numbers are the same.
    if (!is_u64 || r->min != INT64_MIN) {
        IrValue *wide = ir_cast(b, x, DTYPE_I64, true);
        const IrType *t = x->type;
        claim_true(b, ir_binary(b, IR_GE, wide, fill(b, t, DTYPE_I64, r->min)), "least", x);
        claim_true(b, ir_binary(b, IR_LE, wide, fill(b, t, DTYPE_I64, r->max)), "greatest", x);
    }
    IrValue *wide = is_u64 ? x : ir_cast(b, x, DTYPE_I64, true);
    claim_multiple(b, wide, r->divisor, "divisor", x);
    for (uint32_t d = 0; d < x->type->rank; d++) claim_runs(b, wide, r, d, x);
}

// After the value is there.
static IrBuilder place_of(IrFunc *f, const IrValue *value) {
    if (value->def && value->def->next) return ir_builder_before(value->def->next);
    IrBlock *block = value->block ? value->block : ir_body(f);
    return ir_builder_before(block->first);
}

void gen_claims(IrFunc *f) {
    IrBlock *body = ir_body(f);
    Collector c = {.arena = f->module->arena};
    c.ranges = ir_ranges(c.arena, f, IR_TRUST_ASSUMED);
    for (size_t i = 0; i < f->params.count; i++) collect(&c, f->params.data[i].value);
    collect_block(&c, body);
    for (size_t i = 0; i < c.claims.count; i++) {
        IrBuilder b = place_of(f, c.claims.data[i].value);
        claim(&b, &c.claims.data[i]);
    }
}
