// Ranges in exact numbers, relations, what assume is worth, liveness.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/analysis/analysis.h"
#include "ir/build.h"
#include "tests/support/pass_world.h"

typedef struct RangeCase {
    const char *name;
    const char *ops;     // of a kernel of x: view f32[M], n: i64 {divisor = 8}, s: i8, u: u64
    const char *wanted;  // of the last value before `return`: "min..max %divisor", runs of tiles
} RangeCase;

static const RangeCase cases[] = {
    {"a constant", "%0 = const {value = -12} : i8\n", "-12..-12 %12"},
    {"zero is a multiple of anything", "%0 = const {value = 0} : i8\n", "0..0 %0"},
    {"a parameter's facts", "%0 = neg %n : i64\n", "full %8"},
    {"an extent", "%0 = extent {extent = M} : i64\n", "0..72057594037927936 %16"},
    {"a program id", "%0 = program {dim = 0} : i64\n", "0..2147483646 %1"},
    {"iota", "%0 = iota : i32[16]\n", "0..15 %1 runs 16 of %0 equal 1"},
    {"sums that fit",
     "%0 = cast %s : i32\n%1 = const {value = 1000} : i32\n%2 = add %0, %1 : i32\n",
     "872..1127 %1"},
    {"sums that may wrap", "%0 = const {value = 1} : i8\n%1 = add %s, %0 : i8\n", "full %1"},
    {"what wraps keeps a power of two", "%0 = const {value = 24} : i64\n%1 = mul %n, %0 : i64\n",
     "full %64"},
    {"products", "%0 = cast %s : i64\n%1 = const {value = -6} : i64\n%2 = mul %0, %1 : i64\n",
     "-762..768 %6"},
    {"quotients",
     "%0 = extent {extent = M} : i64\n%1 = const {value = 4} : i64\n%2 = div %0, %1 : i64\n",
     "0..18014398509481984 %4"},
    {"rests", "%0 = const {value = 12} : i64\n%1 = rem %n, %0 : i64\n", "-11..11 %4"},
    {"who divides without a rest is not 0, nor above",
     "%0 = const {value = 12} : i64\n%1 = const {value = 0} : i64\n%2 = cast %s : i64\n"
     "%3 = max %2, %1 : i64\n%4 = rem %0, %3 : i64\n%5 = eq %4, %1 : bool\n"
     "assert %5 {text = \"even\"}\n%6 = add %3, %1 : i64\n",
     "1..12 %1"},
    {"rests that are 0", "%0 = const {value = 8} : i64\n%1 = rem %n, %0 : i64\n", "0..0 %0"},
    {"rests of u64", "%0 = const {value = 10} : u64\n%1 = rem %u, %0 : u64\n", "0..9 %1"},
    {"a u64 that is not known is full", "%0 = const {value = 1} : u64\n%1 = max %u, %0 : u64\n",
     "full %1"},
    {"half of a u64", "%0 = const {value = 2} : u64\n%1 = div %u, %0 : u64\n",
     "0..9223372036854775807 %1"},
    {"the least by -1", "%0 = const {value = -1} : i8\n%1 = div %s, %0 : i8\n", "full %1"},
    {"bits", "%0 = const {value = 12} : i8\n%1 = and %s, %0 : i8\n", "0..12 %4"},
    {"shifts", "%0 = cast %s : i32\n%1 = const {value = 4} : i8\n%2 = shl %0, %1 : i32\n",
     "-2048..2032 %16"},
    {"narrowing", "%0 = cast %n : i16\n", "full %8"},
    {"blocks of a program",
     "%0 = program {dim = 0} : i64\n%1 = const {value = 32} : i64\n%2 = mul %0, %1 : i64\n"
     "%3 = iota : i32[8]\n%4 = cast %3 : i64[8]\n%5 = broadcast %2 : i64[8]\n"
     "%6 = add %5, %4 : i64[8]\n",
     "0..68719476679 %1 runs 8 of %32 equal 1"},
    {"quotients of runs",
     "%0 = iota : i32[16]\n%1 = const {value = 4} : i32[16]\n%2 = div %0, %1 : i32[16]\n",
     "0..3 %1 runs 1 of %1 equal 4"},
    {"quotients of runs below 0: rounded to 0, so groups end elsewhere",
     "%0 = iota : i32[16]\n%1 = const {value = -8} : i32[16]\n%2 = add %0, %1 : i32[16]\n"
     "%3 = const {value = 4} : i32[16]\n%4 = div %2, %3 : i32[16]\n",
     "-2..1 %1 runs 1 of %1 equal 1"},
    {"rests of runs",
     "%0 = iota : i32[16]\n%1 = const {value = 4} : i32[16]\n%2 = rem %0, %1 : i32[16]\n",
     "0..3 %1 runs 4 of %4 equal 1"},
    {"stretching", "%0 = iota : i32[4]\n%1 = reshape %0 : i32[4,1]\n%2 = broadcast %1 : i32[4,8]\n",
     "0..3 %1 runs 4 of %0 equal 1 runs 1 of %1 equal 8"},
    {"a choice of all lanes keeps runs",
     "%0 = iota : i32[16]\n%1 = const {value = 16} : i32[16]\n%2 = add %0, %1 : i32[16]\n"
     "%3 = const {value = 0} : i64\n%4 = lt %n, %3 : bool\n%5 = select %4, %0, %2 : i32[16]\n",
     "0..31 %1 runs 16 of %16 equal 1"},
    {"of a choice by lanes neighbours come from either side",
     "%0 = iota : i32[16]\n%1 = const {value = 16} : i32[16]\n%2 = add %0, %1 : i32[16]\n"
     "%3 = const {value = 5} : i32[16]\n%4 = lt %0, %3 : bool[16]\n"
     "%5 = select %4, %0, %2 : i32[16]\n",
     "0..31 %1 runs 1 of %1 equal 1"},
    {"a choice of constants by lanes",
     "%0 = iota : i32[16]\n%1 = const {value = 8} : i32[16]\n%2 = const {value = 24} : i32[16]\n"
     "%3 = lt %0, %1 : bool[16]\n%4 = select %3, %1, %2 : i32[16]\n",
     "8..24 %8 runs 1 of %8 equal 1"},
    {"a loop's variable",
     "%0 = const {value = 0} : i64\n%1 = const {value = 100} : i64\n%2 = const {value = 32} : i64\n"
     "%3 = for %0, %1, %2, %0 : i64 (%4: i64, %5: i64) {\nyield %4\n}\n",
     "0..96 %32"},
    {"a loop downwards",
     "%0 = const {value = 0} : i64\n%1 = const {value = 100} : i64\n%2 = const {value = -25} : "
     "i64\n"
     "%3 = for %1, %0, %2, %1 {down = true} : i64 (%4: i64, %5: i64) {\nyield %4\n}\n",
     "25..100 %25"},
    {"a carried value that grows: its divisor stays",
     "%0 = const {value = 0} : i64\n%1 = const {value = 1} : i64\n%2 = const {value = 6} : i64\n"
     "%3 = for %0, %n, %1, %0 : i64 (%4: i64, %5: i64) {\n%6 = add %5, %2 : i64\nyield %6\n}\n",
     "full %2"},
    {"a carried value that a mask bounds: only its sign is found",
     "%0 = const {value = 0} : i64\n%1 = const {value = 1} : i64\n%2 = const {value = 7} : i64\n"
     "%3 = for %0, %n, %1, %0 : i64 (%4: i64, %5: i64) {\n%6 = add %5, %1 : i64\n"
     "%7 = and %6, %2 : i64\nyield %7\n}\n",
     "0..9223372036854775807 %1"},
    {"a guard",
     "%0 = const {value = 0} : i64\n%1 = lt %n, %0 : bool\n"
     "%2 = if %1 : i64 {\nyield %0\n} {\nyield %n\n}\n",
     "0..9223372036854775807 %8"},
    {"a divisor from a guard",
     "%0 = const {value = 0} : i64\n%1 = const {value = 48} : i64\n%2 = rem %n, %1 : i64\n"
     "%3 = eq %2, %0 : bool\n%4 = if %3 : i64 {\nyield %n\n} {\nyield %0\n}\n",
     "full %48"},
    {"argmax, and a masked sum",
     "%0 = iota : i32[16]\n%1 = reduce _, %0 {kind = argmax, axis = 0} : i32\n", "0..15 %1"},
};

static const IrValue *last_value(const IrFunc *f) {
    const IrOp *op = ir_body(f)->last->prev;
    return &op->results[0];
}

static void describe(const IrValue *value, IrRange r, char *out, size_t size) {
    int64_t low = value->type->elem == DTYPE_U64 ? INT64_MIN : dtype_int_min(value->type->elem);
    int64_t high =
        value->type->elem == DTYPE_U64 ? INT64_MAX : (int64_t)dtype_int_max(value->type->elem);
    bool full = r.min == low && r.max == high;
    unsigned long long divisor = r.divisor == IR_ZERO_DIVISOR ? 0 : r.divisor;
    int n = full ? snprintf(out, size, "full %%%llu", divisor)
                 : snprintf(out, size, "%lld..%lld %%%llu", (long long)r.min, (long long)r.max,
                            divisor);
    for (uint32_t d = 0; d < value->type->rank; d++) {
        unsigned long long first = r.first[d] == IR_ZERO_DIVISOR ? 0 : r.first[d];
        n += snprintf(out + n, size - (size_t)n, " runs %u of %%%llu equal %u", r.contiguous[d],
                      first, r.constant[d]);
    }
}

static void ranges_are_exact(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        PassWorld w = pass_world();
        char *text =
            arena_printf(w.arena,
                         "kernel @k(%%x: view f32[M], %%n: i64 {divisor = 8}, %%s: i8, %%u: u64) "
                         "{facts = [M divisor 16]} {\nbody {\n%sreturn\n}\n}\n",
                         cases[i].ops);
        IrFunc *f = pass_parse(&w, text)->funcs.data[0];
        IrRanges *r = ir_ranges(w.arena, f, IR_TRUST_CHECKED);
        char found[300];
        describe(last_value(f), ir_range_of(r, last_value(f)), found, sizeof found);
        if (strcmp(found, cases[i].wanted) != 0) {
            wrong++;
            print_error("%s: expected '%s', found '%s'\n", cases[i].name, cases[i].wanted, found);
        }
        pass_world_free(&w);
    }
    assert_int_equal(wrong, 0);
}

static void what_is_no_integer_has_no_facts(void **state) {
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w,
                             "kernel @k(%x: f32, %p: *i32) {\nbody {\n"
                             "%0 = add %x, %x : f32\nreturn\n}\n}\n");
    const IrFunc *f = m->funcs.data[0];
    IrRanges *r = ir_ranges(w.arena, f, IR_TRUST_CHECKED);
    assert_false(ir_range_of(r, last_value(f)).known);
    assert_false(ir_range_of(r, f->params.data[1].value).known);
    pass_world_free(&w);
}

// Passes ask while they change the function: what they made since then has no facts.
static void later_values_have_no_facts(void **state) {
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w,
                             "func @f(%x: i32, %y: i32) -> i32 {\n"
                             "%0 = const {value = 3} : i32\n%1 = add %x, %0 : i32\n"
                             "return %1\n}\n");
    IrFunc *f = m->funcs.data[0];
    IrRanges *r = ir_ranges(w.arena, f, IR_TRUST_CHECKED);
    IrValue *known = ir_result(ir_body(f)->first, 0);
    IrBuilder b = ir_builder_before(ir_body(f)->last);
    assert_true(ir_range_of(r, known).known);
    for (int64_t i = 0; i < 300; i++) {  // far beyond what the facts have room for
        IrValue *later = ir_const_int(&b, i % 2 ? DTYPE_I32 : DTYPE_I64, i);
        IrValue *sum = ir_binary(&b, IR_ADD, later, later);
        assert_false(ir_range_of(r, later).known || ir_is_exact(r, later));
        assert_false(ir_range_of(r, sum).known || ir_is_exact(r, sum));
    }
    assert_true(ir_range_of(r, known).known);
    pass_world_free(&w);
}

static void assume_counts_only_when_it_is_asked_for(void **state) {
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w,
                             "kernel @k(%n: i64, %m: i64) {\nbody {\n"
                             "%0 = const {value = 1} : i64\n%1 = lt %n, %m : bool\n"
                             "%2 = ge %n, %0 : bool\n%3 = and %1, %2 : bool\nassume %3\n"
                             "%4 = max %n, %0 : i64\nreturn\n}\n}\n");
    const IrFunc *f = m->funcs.data[0];
    const IrOp *at = ir_body(f)->last;
    const IrValue *n = f->params.data[0].value, *limit = f->params.data[1].value;
    IrRanges *checked = ir_ranges(w.arena, f, IR_TRUST_CHECKED);
    IrRanges *assumed = ir_ranges(w.arena, f, IR_TRUST_ASSUMED);
    assert_false(ir_provably_le(checked, at, n, 1, limit));
    assert_true(ir_provably_le(assumed, at, n, 1, limit));
    assert_false(ir_provably_le(assumed, at, n, 2, limit));
    assert_false(ir_provably_le(assumed, ir_body(f)->first, n, 1, limit));
    assert_false(ir_provably_at_least(checked, at, n, 1));
    assert_true(ir_provably_at_least(assumed, at, n, 1));
    pass_world_free(&w);
}

// ---- liveness -----------------------------------------------------------------------------------

static const IrOp *nth(const IrBlock *block, int n) {
    const IrOp *op = block->first;
    while (n-- > 0) op = op->next;
    return op;
}

static void values_live_to_their_last_use(void **state) {
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w,
                             "func @f(%x: i32, %y: i32) -> i32 {\n"
                             "%0 = add %x, %y : i32\n%1 = mul %0, %x : i32\n"
                             "%2 = sub %1, %1 : i32\nreturn %2\n}\n");
    const IrFunc *f = m->funcs.data[0];
    const IrBlock *body = ir_body(f);
    IrLiveness *l = ir_liveness(w.arena, f);
    const IrValue *x = f->params.data[0].value, *y = f->params.data[1].value;
    const IrValue *sum = &nth(body, 0)->results[0], *product = &nth(body, 1)->results[0];
    assert_true(ir_live_overlap(l, x, y));
    assert_true(ir_live_overlap(l, x, sum));
    assert_false(ir_live_overlap(l, y, sum));  // y was read when the sum was made
    assert_false(ir_live_overlap(l, sum, product));
    assert_true(ir_live_end(l, x) == ir_live_begin(l, product));
    pass_world_free(&w);
}

static void loops_hold_what_they_use_from_outside(void **state) {
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w,
                             "func @f(%n: i64, %x: i32, %y: i32) -> i32 {\n"
                             "%0 = const {value = 0} : i64\n%1 = const {value = 1} : i64\n"
                             "%2 = for %0, %n, %1, %y : i32 (%3: i64, %4: i32) {\n"
                             "%5 = add %4, %x : i32\n%6 = mul %5, %5 : i32\nyield %6\n}\n"
                             "return %2\n}\n");
    const IrFunc *f = m->funcs.data[0];
    const IrOp *loop = nth(ir_body(f), 2);
    IrLiveness *l = ir_liveness(w.arena, f);
    const IrValue *x = f->params.data[1].value, *y = f->params.data[2].value;
    const IrValue *square = &nth(loop->regions[0], 1)->results[0];
    assert_true(ir_live_overlap(l, x, square));   // the next iteration needs x again
    assert_false(ir_live_overlap(l, y, square));  // y went into the carried value
    assert_true(ir_live_overlap(l, f->params.data[0].value, square));  // as does the bound
    assert_true(ir_live_end(l, x) == ir_live_begin(l, &loop->results[0]));
    pass_world_free(&w);
}

static void a_while_hands_its_arguments_on(void **state) {
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w,
                             "func @f(%x: i32, %y: i32) -> i32 {\n"
                             "%0 = while %x : i32 (%1: i32) {\n"
                             "%2 = lt %1, %y : bool\n%3 = not %2 : bool\nyield %3\n"
                             "} (%4: i32) {\n%5 = add %4, %y : i32\nyield %5\n}\nreturn %0\n}\n");
    const IrFunc *f = m->funcs.data[0];
    const IrOp *loop = ir_body(f)->first;
    IrLiveness *l = ir_liveness(w.arena, f);
    const IrValue *handed = loop->regions[0]->args[0];
    const IrValue *turned = &nth(loop->regions[0], 1)->results[0];
    assert_true(ir_live_overlap(l, handed, turned));
    assert_true(ir_live_end(l, handed) == ir_live_begin(l, loop->regions[1]->args[0]));
    pass_world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_exact),
        cmocka_unit_test(what_is_no_integer_has_no_facts),
        cmocka_unit_test(later_values_have_no_facts),
        cmocka_unit_test(assume_counts_only_when_it_is_asked_for),
        cmocka_unit_test(values_live_to_their_last_use),
        cmocka_unit_test(loops_hold_what_they_use_from_outside),
        cmocka_unit_test(a_while_hands_its_arguments_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
