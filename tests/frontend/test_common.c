// The parts that all front ends share, used as a language other than Tile would use them: its words
// in messages, compile-time arithmetic, loops whose names are slots, combiners that are callbacks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/common/build.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"

typedef struct World {
    Elab e;  // the first member
    Arena *arena;
    int traced;
} World;

static const char *operator_text(Operator op) { return op == OPERATOR_ADD ? "plus" : "not"; }

static const char *cast_text(Arena *arena, Dtype to) {
    return arena_printf(arena, "x.to(%s)", dtype_name(to));
}

static void trace(Elab *e) { ((World *)e)->traced++; }

static const Language language = {
    .operator_text = operator_text,
    .cast_text = cast_text,
    .dtype_text = dtype_name,
    .pointer = {"ptr<", ">"},
    .tile = "array",
    .rank_help = "write x[:, None]",
    .trace = trace,
};

static void begin(World *w) {
    *w = (World){.arena = arena_create()};
    Sources *sources = sources_create(w->arena);
    Elab *e = &w->e;
    e->language = &language;
    e->module = ir_module_create(w->arena, sources, interner_create(w->arena));
    e->diags = diags_create(w->arena, sources);
    e->scratch = w->arena;
    e->func = ir_func_create(e->module, "k", true);
    e->b = ir_builder_at_end(ir_func_add_section(e->func, IR_GRID, (Str){0}, (Span){0}));
    IrValue *one = ir_const_int(&e->b, DTYPE_I64, 1);
    ir_yield(&e->b, 1, &one);
    e->b = ir_builder_at_end(ir_func_add_section(e->func, IR_BODY, (Str){0}, (Span){0}));
}

static void says(const World *w, const char *text, const char *help) {
    assert_true(diags_count(w->e.diags) > 0);
    const Diag *d = diags_get(w->e.diags, diags_count(w->e.diags) - 1);
    assert_string_equal(arena_text(w->arena, d->text.text, d->text.size), text);
    assert_string_equal(arena_text(w->arena, d->help.text, d->help.size), help);
    assert_int_equal(w->traced, w->e.errors);
}

// The function ends here; it is right, and this is the text of its body.
static void makes(World *w, const char *body) {
    ir_return(&w->e.b, 0, NULL);
    assert_true(ir_verify(w->e.module, w->e.diags));
    StrBuf out = strbuf(w->arena), expected = strbuf(w->arena);
    ir_print_func(w->e.func, &out);
    strbuf_printf(&expected,
                  "kernel @k() {\n  grid {\n    %%0 = const {value = 1} : i64\n"
                  "    yield %%0\n  }\n  body {\n");
    for (Str rest = str(body), line; rest.size;) {
        line = str_cut(rest, '\n', &rest);
        strbuf_printf(&expected, "    %.*s\n", STR_ARG(line));
    }
    strbuf_printf(&expected, "    return\n  }\n}\n");
    assert_string_equal(out.text, expected.text);
}

static const Span none[2];
static const Span spans[2] = {{1, 2}, {3, 4}};

static IrValue *zeros(Elab *e, Dtype elem, uint32_t rank) {
    return ir_const_bits(&e->b, ir_tile(e->module, elem, rank, (const uint32_t[]){4, 4}), 0);
}

// ---- Values

static void test_messages_have_the_languages_words(void **state) {
    (void)state;
    World w;
    begin(&w);
    Elab *e = &w.e;
    Val truth = el_ir(zeros(e, DTYPE_BOOL, 1)), number = el_ir(zeros(e, DTYPE_F32, 1));
    assert_int_equal(el_operate(e, OPERATOR_ADD, truth, number, (Span){1, 4}, spans).kind,
                     VAL_POISON);
    says(&w, "'plus' needs operands of one type, found bool and f32",
         "a bool becomes a number only by a cast: x.to(f32)");
    Val square = el_ir(zeros(e, DTYPE_F32, 2));
    el_operate(e, OPERATOR_ADD, number, square, (Span){2, 4}, spans);
    says(&w, "shapes do not go together: f32[4] and f32[4, 4]",
         "operands have equal rank: write x[:, None]");
    el_operate_unary(e, OPERATOR_NOT, number, (Span){3, 4});
    says(&w, "'not' needs a bool, found f32[4]", "compare with 0, or flip bits with 'not'");
    el_operate_unary(e, OPERATOR_NOT, el_int(1), (Span){4, 5});
    says(&w, "'not' needs a bool, found the integer 1", "compare with 0");
    arena_destroy(w.arena);
}

static void test_constants_are_exact(void **state) {
    (void)state;
    World w;
    begin(&w);
    Elab *e = &w.e;
    Val most = el_int((Int128)UINT64_MAX), least = el_int((Int128)INT64_MIN);
    Val sum = el_operate(e, OPERATOR_ADD, most, least, none[0], none);
    assert_true(sum.kind == VAL_INT && sum.integer == (Int128)INT64_MAX);
    assert_int_equal(el_operate(e, OPERATOR_ADD, most, el_int(1), (Span){1, 2}, none).kind,
                     VAL_POISON);
    says(&w, "a constant needs more than 64 bits (-2^63 to 2^64-1)", "");
    assert_null(el_adopt(e, el_int(300), DTYPE_U8, 0, NULL, (Span){2, 3}));
    says(&w, "300 does not fit u8 (0 to 255)", "");
    // Untyped values take the type of the other operand, and stretch to its shape.
    Val tile = el_ir(zeros(e, DTYPE_F16, 1));
    sum = el_operate(e, OPERATOR_ADD, tile, el_int(2), none[0], none);
    assert_int_equal(sum.kind, VAL_IR);
    assert_int_equal(el_elem(sum.ir), DTYPE_F16);
    assert_int_equal(sum.ir->type->rank, 1);
    arena_destroy(w.arena);
}

// ---- Loops

static void add_one(Elab *e, Slot *slot) {
    Val one = {.kind = VAL_FLOAT, .real = 1};
    el_assign_slot(e, slot, el_operate(e, OPERATOR_ADD, slot->val, one, none[0], none));
}

static void declare(Elab *e, Slot *slot, const char *name) {
    *slot = (Slot){.name = name};
    el_declare_slot(e, slot, el_ir(ir_const_bits(&e->b, ir_scalar(e->module, DTYPE_F32), 0)));
}

static IrValue *bound(Elab *e, int64_t value) { return ir_const_int(&e->b, DTYPE_I64, value); }

static void test_a_loop_carries_what_it_assigns(void **state) {
    (void)state;
    World w;
    begin(&w);
    Elab *e = &w.e;
    Slot x, y;
    declare(e, &x, "x");
    declare(e, &y, "y");
    Slot *assigned[] = {&x, NULL, &x};
    LoopFacts facts = {3, assigned, false};
    IrValue *bounds[3] = {bound(e, 0), bound(e, 8), bound(e, 1)};
    Loop loop;
    LoopOp op;
    el_loop_begin(e, &loop);
    assert_true(el_for_begin(e, &op, &loop, bounds, &facts, none[0]));
    el_loop_enter(e, &loop);
    add_one(e, &x);
    el_loop_leave(e, &loop);
    el_for_end(e, &op, false, none[0]);
    assert_null(e->loops);
    assert_int_equal(x.val.ir->def->code, IR_FOR);
    assert_int_equal(y.val.ir->def->code, IR_CONST);
    makes(&w,
          "%1 = const {value = 0.0} : f32\n"
          "%2 = const {value = 0.0} : f32\n"
          "%3 = const {value = 0} : i64\n"
          "%4 = const {value = 8} : i64\n"
          "%5 = const {value = 1} : i64\n"
          "%6 = for %3, %4, %5, %1 : f32 (%7: i64, %8: f32) {\n"
          "  %9 = const {value = 1.0} : f32\n"
          "  %10 = add %8, %9 : f32\n"
          "  yield %10\n"
          "}\n");
    arena_destroy(w.arena);
}

// if (x == 0) break;
static void break_at_zero(Elab *e, Loop *loop, Slot *x) {
    Val zero = {.kind = VAL_FLOAT, .real = 0};
    IrValue *cond = el_operate(e, OPERATOR_EQ, x->val, zero, none[0], none).ir;
    Region then_arm, else_arm;
    assert_true(el_region_begin(e, &then_arm, ir_block_create(e->func), none[0]));
    el_assign_slot(e, &loop->active, el_bool(false));
    el_assign_slot(e, &loop->going, el_bool(false));
    el_region_end(e, &then_arm);
    assert_true(el_region_begin(e, &else_arm, ir_block_create(e->func), none[0]));
    el_region_end(e, &else_arm);
    el_merge(e, cond, &then_arm, &else_arm, none[0]);
}

typedef struct Rest {
    Slot *x;
} Rest;
static void rest_of_body(Elab *e, void *rest) { add_one(e, ((Rest *)rest)->x); }

static IrValue *always_true(Elab *e, void *user) {
    (void)user;
    return ir_const_bool(&e->b, true);
}

static void test_a_loop_is_left_early(void **state) {
    (void)state;
    World w;
    begin(&w);
    Elab *e = &w.e;
    Slot x;
    declare(e, &x, "x");
    Slot *assigned[] = {&x};
    LoopFacts facts = {1, assigned, true};
    Loop loop;
    LoopOp op;
    bool always = false;
    el_loop_begin(e, &loop);
    assert_true(el_while_condition(e, &op, &loop, &facts, always_true, NULL, none[0], &always));
    assert_true(always);
    assert_true(el_while_begin(e, &op, none[0]));
    el_loop_enter(e, &loop);
    loop.active.tail = false;
    break_at_zero(e, &loop, &x);
    el_guarded(e, &loop.active, rest_of_body, &(Rest){&x}, none[0]);
    el_loop_leave(e, &loop);
    el_while_end(e, &op, none[0]);
    makes(&w,
          "%1 = const {value = 0.0} : f32\n"
          "%2 = const {value = true} : bool\n"
          "%3, %4 = while %2, %1 : bool, f32 (%5: bool, %6: f32) {\n"
          "  %7 = const {value = true} : bool\n"
          "  %8 = and %5, %7 : bool\n"
          "  yield %8\n"
          "} (%9: bool, %10: f32) {\n"
          "  %11 = const {value = 0.0} : f32\n"
          "  %12 = eq %10, %11 : bool\n"
          "  %13, %14 = if %12 : bool, bool {\n"
          "    %15 = const {value = false} : bool\n"
          "    %16 = const {value = false} : bool\n"
          "    yield %15, %16\n"
          "  } {\n"
          "    %17 = const {value = true} : bool\n"
          "    %18 = const {value = true} : bool\n"
          "    yield %17, %18\n"
          "  }\n"
          "  %19 = if %13 : f32 {\n"
          "    %20 = const {value = 1.0} : f32\n"
          "    %21 = add %10, %20 : f32\n"
          "    yield %21\n"
          "  } {\n"
          "    yield %10\n"
          "  }\n"
          "  yield %14, %19\n"
          "}\n");
    arena_destroy(w.arena);
}

static void test_paths_must_agree(void **state) {
    (void)state;
    World w;
    begin(&w);
    Elab *e = &w.e;
    Slot x;
    declare(e, &x, "x");
    Region arms[2];
    for (int i = 0; i < 2; i++) {
        assert_true(el_region_begin(e, &arms[i], ir_block_create(e->func), none[0]));
        if (i) el_assign_slot(e, &x, el_ir(zeros(e, DTYPE_F32, 1)));
        el_region_end(e, &arms[i]);
    }
    el_merge(e, ir_const_bool(&e->b, true), &arms[0], &arms[1], (Span){1, 2});
    says(&w, "'x' is f32 on one path, and f32[4] on another", "");
    assert_int_equal(x.val.kind, VAL_POISON);
    arena_destroy(w.arena);
}

// ---- Combiners

static Val combine(Elab *e, const void *own, uint32_t count, const Val *args, Span span) {
    (void)span;
    Val sum = el_operate(e, OPERATOR_ADD, args[0], args[count / 2], none[0], none);
    return el_tuple(e, *(const uint32_t *)own, (Val[]){sum, args[count - 1]});
}

static void test_a_combiner_is_a_callback(void **state) {
    (void)state;
    World w;
    begin(&w);
    Elab *e = &w.e;
    IrValue *both[2] = {zeros(e, DTYPE_F32, 1), zeros(e, DTYPE_I32, 1)};
    Tiles t = {2, both, el_shape_of(both[0]->type)};
    uint32_t results = 1;
    FrontCombiner c = {"pick", {1, 2}, combine, &results};
    assert_null(el_combiner(e, &c, &t));
    says(&w, "'pick' must return 2 values here, found 1", "");
    results = 2;
    IrBlock *block = el_combiner(e, &c, &t);
    assert_non_null(block);
    Val v = el_reduce(e, &t, IR_REDUCE_CUSTOM, block, NULL, 0, NULL);
    assert_int_equal(v.kind, VAL_TUPLE);
    assert_int_equal(v.tuple.count, 2);
    assert_int_equal(el_elem(v.tuple.items[1].ir), DTYPE_I32);
    makes(&w,
          "%1 = const {value = 0.0} : f32[4]\n"
          "%2 = const {value = 0} : i32[4]\n"
          "%3, %4 = reduce _, %1, %2 {kind = custom, axis = 0} : f32, i32 (%5: f32, %6: i32, %7: "
          "f32, %8: i32) {\n"
          "  %9 = add %5, %7 : f32\n"
          "  yield %9, %8\n"
          "}\n");
    arena_destroy(w.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_have_the_languages_words),
        cmocka_unit_test(test_constants_are_exact),
        cmocka_unit_test(test_a_loop_carries_what_it_assigns),
        cmocka_unit_test(test_a_loop_is_left_early),
        cmocka_unit_test(test_paths_must_agree),
        cmocka_unit_test(test_a_combiner_is_a_callback),
    };
    return cmocka_run_group_tests_name("frontend/common", tests, NULL, NULL);
}
