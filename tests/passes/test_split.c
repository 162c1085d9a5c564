// split: which comparisons are left out of a loop's first steps, and that the two loops take the
// steps of one, in order, and compute the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/interp.h"
#include "passes/pass.h"
#include "tests/support/dice.h"
#include "tests/support/pass_world.h"

// The sum of a product of what is under the mask %50, and a hash of every step and its mask. %49 is
// the counter and 0 to 7, %40 and %41 are numbers that the kernel is given.
#define HEAD                                                                                       \
    "kernel @k(%lo: i32, %hi: i32, %x: i32, %y: i32, %out: view f32[R, S], %hash: view i64[H]) "   \
    "{ body {\n"                                                                                   \
    "%0 = cast %lo : i64\n%1 = cast %hi : i64\n%40 = cast %x : i64\n%41 = cast %y : i64\n"         \
    "%2 = const {value = 0} : i64\n%3 = const {value = 0.0} : f32[4,8]\n"                          \
    "%4 = iota : i32[8]\n%5 = cast %4 : i64[8]\n%6 = const {value = 1} : i64[8]\n"                 \
    "%7 = shl %6, %5 : i64[8]\n%8 = const {value = 0} : i64[8]\n"                                  \
    "%9 = const {value = 1.5} : f32[4,8]\n%10 = const {value = 2.0} : f32[8,8]\n"                  \
    "%11 = const {value = 31} : i64\n%42 = broadcast %40 : i64[8]\n%43 = broadcast %41 : i64[8]\n" \
    "%44 = const {value = 5} : i64\n%45 = const {value = 3} : i64[8]\n"                            \
    "%46 = const {value = 2} : i64[8]\n"                                                           \
    "%12, %13 = for %0, %1, %44, %3, %2 : f32[4,8], i64 "                                          \
    "(%47: i64, %14: f32[4,8], %15: i64) {\n"                                                      \
    "%48 = broadcast %47 : i64[8]\n%49 = add %48, %5 : i64[8]\n"
#define TAIL                                                                      \
    "%20 = reshape %50 : bool[1,8]\n%21 = broadcast %20 : bool[4,8]\n"            \
    "%22 = select %21, %9, %3 : f32[4,8]\n"                                       \
    "%23 = dot %22, %10, %14 {precision = ieee} : f32[4,8]\n"                     \
    "%24 = select %50, %7, %8 : i64[8]\n%25 = reduce _, %24 {kind = sum, axis = " \
    "0} : i64\n%26 = mul %15, %11 : i64\n%27 = add %26, %25 : i64\n"              \
    "%28 = add %27, %47 : i64\nyield %23, %28\n}\n"                               \
    "view_store %out, %12, _, %2, %2 {select = [4, 8]}\n"                         \
    "view_store %hash, %13, _, %2 {select = [0]}\nreturn\n} }\n"

typedef struct Case {
    const char *name, *mask;  // the ops that make %50 : bool[8]
    uint32_t left;            // comparisons of tiles that are in the first loop still
    bool splits;
} Case;

static const Case cases[] = {
    {"<", "%50 = lt %49, %42 : bool[8]\n", 0, true},
    {"<=", "%50 = le %49, %42 : bool[8]\n", 0, true},
    {"> with sides swapped", "%50 = gt %42, %49 : bool[8]\n", 0, true},
    {">= with sides swapped", "%50 = ge %42, %49 : bool[8]\n", 0, true},
    {"sums on both sides",
     "%51 = add %49, %45 : i64[8]\n%52 = sub %42, %46 : i64[8]\n"
     "%50 = lt %51, %52 : bool[8]\n",
     0, true},
    {"a difference", "%51 = sub %49, %42 : i64[8]\n%50 = lt %51, %8 : bool[8]\n", 0, true},
    {"a rest that is taken off", "%51 = sub %48, %5 : i64[8]\n%50 = le %51, %42 : bool[8]\n", 0,
     true},
    {"two limits",
     "%51 = lt %49, %42 : bool[8]\n%52 = le %49, %43 : bool[8]\n%50 = and %51, %52 : bool[8]\n", 0,
     true},
    {"one limit, and one that begins",
     "%51 = lt %49, %42 : bool[8]\n%52 = gt %49, %43 : bool[8]\n%50 = and %51, %52 : bool[8]\n", 1,
     true},
    {"added to its counter", "%51 = add %49, %43 : i64[8]\n%50 = lt %51, %42 : bool[8]\n", 0, true},
    {"holds at last", "%50 = gt %49, %42 : bool[8]\n", 1, false},
    {"twice the counter", "%51 = add %49, %48 : i64[8]\n%50 = lt %51, %42 : bool[8]\n", 1, false},
    {"no counter", "%50 = lt %5, %42 : bool[8]\n", 1, false},
    {"equal", "%50 = eq %49, %42 : bool[8]\n", 1, false},
    {"narrow, may wrap",
     "%51 = cast %49 : i32[8]\n%52 = cast %42 : i32[8]\n%53 = add %51, %4 : i32[8]\n"
     "%50 = lt %53, %52 : bool[8]\n",
     1, false},
};

static void split(PassWorld *w, IrModule *m) {
    static const PassStep steps[] = {{PASS_SPLIT, "what is tested"}};
    assert_true(passes_run(m, steps, 1, &(PassOptions){.verify = true}, w->diags));
}

static uint32_t comparisons(const IrOp *loop) {
    uint32_t count = 0;
    for (const IrOp *op = loop->regions[0]->first; op; op = op->next)
        count += ir_op_info(op->code)->rule == IR_RULE_COMPARE;
    return count;
}

static const char *text_of(PassWorld *w, const Case *c) {
    return arena_printf(w->arena, "%s%s%s", HEAD, c->mask, TAIL);
}

static void left_out(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PassWorld w = pass_world();
        IrModule *m = pass_parse(&w, text_of(&w, &cases[i]));
        split(&w, m);
        const IrOp *loops[3] = {0};
        uint32_t count = 0;
        IR_EACH_OP(op, ir_body(m->funcs.data[0])) {
            if (op->code == IR_FOR && count < 3) loops[count++] = op;
        }
        if (count != 1u + cases[i].splits || comparisons(loops[0]) != cases[i].left)
            fail_msg("%s: %u loops, %u comparisons in the first", cases[i].name, count,
                     comparisons(loops[0]));
        pass_world_free(&w);
    }
}

// ---- what they compute --------------------------------------------------------------------------

typedef struct Numbers {
    int32_t lo, hi, c, d;
} Numbers;

typedef struct Results {
    float out[4 * 8];
    int64_t hash;
} Results;

static void run(PassWorld *w, IrModule *m, Numbers n, Results *to) {
    memset(to, 0, sizeof *to);
    IrArg args[] = {
        {.bits = (uint32_t)n.lo},
        {.bits = (uint32_t)n.hi},
        {.bits = (uint32_t)n.c},
        {.bits = (uint32_t)n.d},
        {.data = to->out,
         .base = to->out,
         .size = sizeof to->out,
         .extent = {4, 8},
         .stride = {8, 1}},
        {.data = &to->hash, .base = &to->hash, .size = 8, .extent = {1}, .stride = {1}}};
    IrInterp *interp = ir_interp_create(w->arena, m->funcs.data[0]);
    IrLaunch launch = {.args = args, .arg_count = 6, .grid = {1, 1, 1}, .sanitize = true};
    assert_int_equal(ir_interp_run(interp, &launch, w->diags), IR_RUN_DONE);
    ir_interp_destroy(interp);
}

// Around the loop's bounds mostly; bounds and limits as far out as they go, too.
static int32_t near(Dice *dice, int32_t at, uint32_t way) {
    int64_t number = at + (int64_t)dice_below(dice, 2 * way + 1) - way;
    return number > INT32_MAX ? INT32_MAX : number < INT32_MIN ? INT32_MIN : (int32_t)number;
}

static Numbers roll(Dice *dice) {
    static const int32_t ends[] = {INT32_MIN, INT32_MAX, 0};
    Numbers n = {.lo = near(dice, dice_chance(dice, 80) ? 0 : ends[dice_below(dice, 2)], 40)};
    n.hi = near(dice, n.lo, 60);
    n.c = dice_chance(dice, 85) ? near(dice, n.hi, 40) : ends[dice_below(dice, 3)];
    n.d = dice_chance(dice, 85) ? near(dice, n.lo, 60) : ends[dice_below(dice, 3)];
    return n;
}

static void agree(const char *text, const char *name, uint64_t seed) {
    enum { ROLLS = 300 };
    PassWorld w = pass_world();
    IrModule *plain = pass_parse(&w, text), *twice = pass_parse(&w, text);
    split(&w, twice);
    Dice dice = dice_roll(seed);
    for (int k = 0; k < ROLLS; k++) {
        Numbers n = roll(&dice);
        Results a, b;
        run(&w, plain, n, &a);
        run(&w, twice, n, &b);
        if (memcmp(&a, &b, sizeof a) != 0)
            fail_msg("%s: %d to %d, %d and %d: other steps", name, n.lo, n.hi, n.c, n.d);
    }
    pass_world_free(&w);
}

static void the_same_steps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PassWorld w = pass_world();
        agree(text_of(&w, &cases[i]), cases[i].name, i + 1);
        pass_world_free(&w);
    }
}

// ---- which loops --------------------------------------------------------------------------------

static uint32_t count_after(const char *text, IrOpcode code) {
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w, text);
    split(&w, m);
    uint32_t count = 0;
    IR_EACH_OP(op, ir_body(m->funcs.data[0])) count += op->code == code;
    pass_world_free(&w);
    return count;
}

static uint32_t loops_after(const char *text) { return count_after(text, IR_FOR); }

// `from` is in the text once.
static const char *changed(Arena *arena, const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void products_that_go_upwards(void **state) {
    (void)state;
    PassWorld w = pass_world();
    const char *text = text_of(&w, &cases[0]);
    assert_int_equal(loops_after(text), 2);
    // No product, a step that is not known, bounds that may be anything.
    const char *dot = "dot %22, %10, %14 {precision = ieee} : f32[4,8]";
    assert_int_equal(loops_after(changed(w.arena, text, dot, "add %22, %14 : f32[4,8]")), 1);
    const char *step = changed(w.arena, text, "for %0, %1, %44", "for %0, %1, %41");
    assert_int_equal(loops_after(step), 1);
    const char *wide = changed(w.arena, text, "%hi: i32", "%hi: i64");
    assert_int_equal(loops_after(changed(w.arena, wide, "cast %hi", "add %hi, %0")), 1);
    pass_world_free(&w);
}

// Up to the loop's end, of tiles no longer than a step: what is left is one step, or none.
static void one_step_is_left(void **state) {
    (void)state;
    static const struct {
        const char *step, *mask;
        uint32_t ifs;
    } ends[] = {
        {"8", "lt %49, %51", 1}, {"9", "lt %49, %51", 1},  {"7", "lt %49, %51", 1},
        {"6", "lt %49, %51", 0}, {"8", "le %49, %51", 1},  {"6", "le %49, %51", 1},
        {"5", "le %49, %51", 0}, {"64", "gt %51, %49", 1},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        PassWorld w = pass_world();
        const char *mask = arena_printf(
            w.arena, "%%51 = broadcast %%1 : i64[8]\n%%50 = %s : bool[8]\n", ends[i].mask);
        const char *text = text_of(&w, &(Case){.mask = mask});
        const char *step = arena_printf(w.arena, "%%44 = const {value = %s}", ends[i].step);
        text = changed(w.arena, text, "%44 = const {value = 5}", step);
        assert_int_equal(count_after(text, IR_IF), ends[i].ifs);
        assert_int_equal(loops_after(text), 2 - ends[i].ifs);
        agree(text, ends[i].mask, i + 1);
        pass_world_free(&w);
    }
}

// To an end that is a multiple of the step every tile is whole.
static void all_tiles_are_whole(void **state) {
    (void)state;
    PassWorld w = pass_world();
    const char *text =
        text_of(&w, &(Case){.mask = "%51 = broadcast %1 : i64[8]\n%50 = lt %49, %51 : bool[8]\n"});
    text = changed(w.arena, text, "%44 = const {value = 5}", "%44 = const {value = 8}");
    text = changed(w.arena, text, "%0 = cast %lo : i64", "%0 = const {value = 16} : i64");
    text = changed(w.arena, text, "%1 = cast %hi : i64",
                   "%60 = cast %hi : i64\n%61 = const {value = 24} : i64\n"
                   "%1 = mul %60, %61 : i64");
    IrModule *plain = pass_parse(&w, text), *without = pass_parse(&w, text);
    split(&w, without);
    uint32_t loops = 0;
    IR_EACH_OP(op, ir_body(without->funcs.data[0])) {
        loops += op->code == IR_FOR;
        assert_true(op->code != IR_FOR || comparisons(op) == 0);
        assert_true(op->code != IR_IF);
    }
    assert_int_equal(loops, 1);
    for (int32_t hi = -2; hi < 5; hi++) {
        Results a, b;
        run(&w, plain, (Numbers){.hi = hi}, &a);
        run(&w, without, (Numbers){.hi = hi}, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
    pass_world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_out),
        cmocka_unit_test(the_same_steps),
        cmocka_unit_test(products_that_go_upwards),
        cmocka_unit_test(one_step_is_left),
        cmocka_unit_test(all_tiles_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
