// Ranges are sound: random kernels, in which every claim becomes an assert, run on the interpreter.
//
// For each integer value the claimed interval, divisor and runs are checked where the value is
// made; for pairs of scalars, and for view accesses marked inside, the claimed relations where they
// are said to hold. No assert may fail, whatever the arguments that satisfy the requires.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/analysis/analysis.h"
#include "ir/edit.h"
#include "ir/interp/interp.h"
#include "tests/support/random_kernel.h"
#include "tests/support/slice.h"

enum { KERNELS = 400, SLICES = 16, LAUNCHES = 12 };

// ---- claims as asserts --------------------------------------------------------------------------

typedef struct Claims {
    IrBuilder b;
    const IrRanges *ranges;
    int count;      // asserts made
    int relations;  // of them, between two values
} Claims;

static void claim(Claims *c, IrValue *holds, const char *what, const IrValue *value) {
    IrOp *op = ir_op(&c->b, IR_ASSERT, 1, &holds, 0, NULL, 0, NULL);
    Arena *arena = c->b.module->arena;
    op->attrs[0].u.text = str(arena_printf(arena, "%s of value %u", what, value->id));
    c->count++;
}

static IrValue *like(Claims *c, const IrValue *value, int64_t number) {
    return ir_const_bits(&c->b, value->type, dtype_wrap(value->type->elem, (uint64_t)number));
}

static void claim_multiple(Claims *c, IrValue *value, uint64_t divisor, const char *what) {
    if (divisor <= 1) return;
    if (divisor == IR_ZERO_DIVISOR) {
        claim(c, ir_binary(&c->b, IR_EQ, value, like(c, value, 0)), what, value);
    } else if (divisor <= dtype_int_max(value->type->elem)) {
        IrValue *rest = ir_binary(&c->b, IR_REM, value, like(c, value, (int64_t)divisor));
        claim(c, ir_binary(&c->b, IR_EQ, rest, like(c, value, 0)), what, value);
    }
}

static IrValue *reduced(Claims *c, IrValue *value, IrReduce kind, uint32_t axis) {
    uint32_t shape[IR_MAX_RANK], rank = 0;
    for (uint32_t d = 0; d < value->type->rank; d++) {
        if (d != axis) shape[rank++] = value->type->shape[d];
    }
    const IrType *type = ir_with_shape(c->b.module, value->type, rank, shape);
    IrOp *op = ir_op(&c->b, IR_REDUCE, 2, (IrValue *[]){NULL, value}, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_REDUCE, kind);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    return ir_result(op, 0);
}

// Groups of `run` along `d`, minus 0, 1, 2 … when `counting`, have one value each.
static void claim_run(Claims *c, IrValue *value, uint32_t d, uint32_t run, bool counting,
                      uint64_t first) {
    if (run <= 1) return;
    uint32_t rank = value->type->rank, shape[IR_MAX_RANK], ones[IR_MAX_RANK];
    for (uint32_t i = 0, k = 0; i < rank; i++) {
        ones[k] = 1;
        shape[k++] = i == d ? value->type->shape[i] / run : value->type->shape[i];
        if (i != d) continue;
        ones[k] = run;
        shape[k++] = run;
    }
    IrValue *groups = ir_reshape(&c->b, value, rank + 1, shape);
    if (counting) {
        IrValue *count = ir_cast(&c->b, ir_iota(&c->b, run), value->type->elem, true);
        count = ir_broadcast(&c->b, ir_reshape(&c->b, count, rank + 1, ones), rank + 1, shape);
        groups = ir_binary(&c->b, IR_SUB, groups, count);
    }
    IrValue *low = reduced(c, groups, IR_REDUCE_MIN, d + 1);
    IrValue *high = reduced(c, groups, IR_REDUCE_MAX, d + 1);
    claim(c, ir_binary(&c->b, IR_EQ, low, high), counting ? "contiguity" : "constancy", value);
    if (counting) claim_multiple(c, low, first, "first of a run");
}

static void claim_range(Claims *c, IrValue *value) {
    IrRange r = ir_range_of(c->ranges, value);
    if (!r.known) return;
    assert_true(r.min <= r.max);
    if (value->type->elem != DTYPE_U64 || r.min >= 0) {
        claim(c, ir_binary(&c->b, IR_GE, value, like(c, value, r.min)), "minimum", value);
        claim(c, ir_binary(&c->b, IR_LE, value, like(c, value, r.max)), "maximum", value);
    }
    claim_multiple(c, value, r.divisor, "divisor");
    for (uint32_t d = 0; d < value->type->rank; d++) {
        claim_run(c, value, d, r.contiguous[d], true, r.first[d]);
        claim_run(c, value, d, r.constant[d], false, 1);
    }
}

static bool is_scalar_int(const IrValue *value) {
    return value->type->kind == IR_TILE && value->type->rank == 0 &&
           dtype_is(value->type->elem, DTYPE_CLASS_INT) && value->type->elem != DTYPE_U64;
}

// a + add <= b at `at`: numbers here are far from where i64 ends, or the proof was wrong.
static void claim_relation(Claims *c, const IrOp *at, IrValue *a, int64_t add, IrValue *b) {
    if (!ir_provably_le(c->ranges, at, a, add, b)) return;
    IrValue *left = ir_cast(&c->b, a, DTYPE_I64, true), *right = ir_cast(&c->b, b, DTYPE_I64, true);
    IrValue *distance = ir_binary(&c->b, IR_SUB, right, left);
    claim(c, ir_binary(&c->b, IR_LE, left, right), "order", a);
    IrValue *least = ir_const_int(&c->b, DTYPE_I64, add);
    // The distance of two i64 may wrap: then it is great, and the first claim said all.
    IrValue *wraps = ir_binary(&c->b, IR_LT, distance, ir_const_int(&c->b, DTYPE_I64, 0));
    IrValue *enough = ir_binary(&c->b, IR_GE, distance, least);
    claim(c, ir_binary(&c->b, IR_OR, wraps, enough), "distance", a);
    c->relations++;
}

typedef VEC(IrValue *) Values;

static void claim_relations(Claims *c, const IrOp *at, IrValue *value, const Values *scope) {
    if (!is_scalar_int(value)) return;
    size_t begin = scope->count > 6 ? scope->count - 6 : 0;
    for (size_t i = begin; i < scope->count; i++) {
        for (int64_t add = 0; add < 3; add++) {
            claim_relation(c, at, value, add ? 1 << (5 * add - 5) : 0, scope->data[i]);
            claim_relation(c, at, scope->data[i], add ? 1 << (5 * add - 5) : 0, value);
        }
    }
}

static void claim_access(Claims *c, const IrOp *op, IrValue *extent) {
    const IrAttr *inside = ir_attr(op, IR_ATTR_INSIDE);
    if (inside->u.ints.count == 0 || !inside->u.ints.items[0]) return;
    IrValue *index = ir_cast(&c->b, ir_operand(op, 2), DTYPE_I64, true);
    int64_t width = ir_attr(op, IR_ATTR_SELECT)->u.ints.items[0];
    IrValue *top =
        ir_binary(&c->b, IR_SUB, extent, ir_const_int(&c->b, DTYPE_I64, width ? width : 1));
    if (index->type->rank) top = ir_broadcast(&c->b, top, index->type->rank, index->type->shape);
    claim(c, ir_binary(&c->b, IR_GE, index, like(c, index, 0)), "inside, below", index);
    claim(c, ir_binary(&c->b, IR_LE, index, top), "inside, above", index);
    c->relations++;
}

static void claim_value(Claims *c, const IrOp *at, IrValue *value, Values *scope) {
    claim_range(c, value);
    claim_relations(c, at, value, scope);
    if (is_scalar_int(value)) vec_push(c->b.module->arena, scope, value);
}

static void claim_block(Claims *c, IrBlock *block, Values *scope, IrValue *extent) {
    size_t known = scope->count;
    c->b = ir_builder_before(block->first);
    for (uint32_t i = 0; i < block->arg_count; i++) {
        claim_value(c, c->b.before, block->args[i], scope);
    }
    for (IrOp *op = c->b.before, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->region_count; i++) {
            claim_block(c, op->regions[i], scope, extent);
        }
        c->b = ir_builder_before(op);
        if (op->code == IR_VIEW_LOAD) claim_access(c, op, extent);
        if (!next) break;
        c->b = ir_builder_before(next);
        for (uint32_t i = 0; i < op->result_count; i++)
            claim_value(c, next, ir_result(op, i), scope);
    }
    scope->count = known;
}

// ---- running ------------------------------------------------------------------------------------

static int run_claims(PassWorld *w, IrFunc *f, uint64_t seed) {
    static float data[RANDOM_ELEMENTS];
    uint64_t state = seed;
    IrInterp *interp = ir_interp_create(w->arena, f);
    int runs = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        IrArg args[RANDOM_ARGS];
        random_arguments(&state, data, args);
        IrLaunch launch = {
            .args = args, .arg_count = RANDOM_ARGS, .grid = {3, 1, 1}, .step_limit = 20000};
        if (!random_satisfied(interp, f, &launch)) continue;
        if (ir_interp_run(interp, &launch, w->diags) == IR_RUN_ASSERT) {
            StrBuf out = strbuf(w->arena);
            diags_text(w->diags, (DiagStyle){0}, &out);
            fail_msg("seed %llu, M = %lld, n = %lld, c = %d: %s\n%s", (unsigned long long)seed,
                     (long long)args[0].extent[0], (long long)args[1].bits, (int)args[2].bits,
                     out.text, pass_print(w, f->module));
        }
        runs++;
    }
    ir_interp_destroy(interp);
    return runs;
}

static void every_claim_holds(void **state) {
    (void)state;
    int runs = 0, claims = 0, relations = 0;
    uint64_t first = 1 + slice_begin(SLICES, KERNELS);
    for (uint64_t seed = first; seed < first + KERNELS; seed++) {
        PassWorld w = pass_world();
        IrFunc *f = random_kernel(&w, seed, false);
        pass_run(&w, f->module, "bounds");
        Claims c = {.ranges = ir_ranges(w.arena, f, IR_TRUST_CHECKED)};
        Values scope = {0};
        // The first ops of the body: the extent, the iota.
        claim_block(&c, ir_body(f), &scope, ir_result(ir_body(f)->first, 0));
        pass_run(&w, f->module, "");
        claims += c.count;
        relations += c.relations;
        runs += run_claims(&w, f, seed);
        pass_world_free(&w);
    }
    // Kernels about which nothing is claimed, or which never run, would test nothing.
    assert_true(claims > 20 * KERNELS);
    assert_true(relations > KERNELS);
    assert_true(runs > 2 * KERNELS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_claim_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
