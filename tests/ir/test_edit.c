// Building and editing: use lists, order, cloning. The verifier is the judge of the invariants.
#include "tests/ir/support.h"

typedef struct Setup {
    Fixture fixture;
    IrModule *module;
    IrFunc *func;
    IrBuilder b;
} Setup;

// A kernel @k(%a: f32, %n: i64) with an empty body at whose end the builder stands.
static Setup setup_create(void) {
    Setup s = {.fixture = fixture_create()};
    s.module = ir_module_create(s.fixture.arena, s.fixture.sources, s.fixture.names);
    s.func = ir_func_create(s.module, fixture_name(&s.fixture, "k"), true);
    ir_func_add_param(s.func, fixture_name(&s.fixture, "a"), ir_scalar(s.module, DTYPE_F32));
    ir_func_add_param(s.func, fixture_name(&s.fixture, "n"), ir_scalar(s.module, DTYPE_I64));
    s.b = ir_builder_at_end(ir_func_add_section(s.func, IR_BODY, (Str){0}, (Span){0}));
    return s;
}

static IrValue *param(Setup *s, size_t i) { return s->func->params.data[i].value; }

static void expect_valid(Setup *s) {
    if (!ir_verify(s->module, s->fixture.diags)) {
        fail_msg("%s%s", fixture_messages(&s->fixture), fixture_print(&s->fixture, s->module));
    }
}

static void expect_print(Setup *s, const char *text) {
    assert_string_equal(fixture_print(&s->fixture, s->module), text);
}

static void expect_print_file(Setup *s, const char *path) {
    Str text;
    OsError error;
    assert_true(os_read_file(s->fixture.arena, path, 1 << 20, &text, &error));
    expect_print(s, arena_text(s->fixture.arena, text.text, text.size));
}

static uint32_t use_count(const IrValue *value) {
    uint32_t count = 0;
    for (const IrUse *use = value->uses; use; use = use->next) count++;
    return count;
}

static void built_ops_print_and_verify(void **state) {
    (void)state;
    Setup s = setup_create();
    IrBuilder *b = &s.b;
    IrValue *lanes = ir_iota(b, 8);
    IrValue *wide = ir_cast(b, lanes, DTYPE_F32, false);
    IrValue *a = ir_broadcast(b, param(&s, 0), 1, (uint32_t[]){8});
    IrValue *less = ir_binary(b, IR_LT, wide, a);
    IrValue *chosen = ir_ternary(b, IR_SELECT, less, wide, a);
    IrValue *fused = ir_ternary(b, IR_FMA, chosen, a, wide);
    IrValue *square = ir_reshape(b, ir_unary(b, IR_NEG, fused), 2, (uint32_t[]){2, 4});
    ir_permute(b, square, (int64_t[]){1, 0});
    ir_bitcast(b, square, ir_with_elem(s.module, square->type, DTYPE_I32));
    ir_const_int(b, DTYPE_I8, 255);
    ir_const_int(b, DTYPE_F16, 3);
    ir_const_float(b, DTYPE_F32, 0.5);
    ir_const_bool(b, true);
    ir_program(b, 1);
    ir_programs(b, 2);
    ir_return(b, 0, NULL);
    expect_valid(&s);
    expect_print_file(&s, "tests/ir/data/built.tir");
    fixture_destroy(&s.fixture);
}

static void operands_change(void **state) {
    (void)state;
    Setup s = setup_create();
    IrValue *a = param(&s, 0);
    IrValue *x = ir_const_float(&s.b, DTYPE_F32, 1);
    IrOp *sum = ir_binary(&s.b, IR_ADD, a, a)->def;
    IrOp *print = ir_op(&s.b, IR_PRINT, 0, NULL, 0, NULL, 0, NULL);
    ir_attr_set_texts(print, IR_ATTR_TEXTS, 3, (Str[]){STR("a"), STR("b"), STR("c")});
    ir_return(&s.b, 0, NULL);
    assert_int_equal(use_count(a), 2);
    ir_set_operand(sum, 0, x);
    assert_int_equal(use_count(a), 1);
    assert_int_equal(use_count(x), 1);
    for (int i = 0; i < 3; i++) ir_add_operand(print, i == 1 ? x : a);
    expect_valid(&s);
    ir_remove_operand(print, 0);
    assert_ptr_equal(ir_operand(print, 0), x);
    assert_ptr_equal(ir_operand(print, 1), a);
    expect_valid(&s);
    ir_replace_all(a, x);
    assert_int_equal(use_count(a), 0);
    assert_int_equal(use_count(x), 4);
    expect_valid(&s);
    ir_replace_all(x, x);
    expect_valid(&s);
    fixture_destroy(&s.fixture);
}

// In a block each op dominates those after it, wherever they stand.
static void ops_dominate_those_behind(void **state) {
    enum { OPS = 9 };
    (void)state;
    Setup s = setup_create();
    IrOp *ops[OPS];
    for (int i = 0; i < OPS - 1; i++) ops[i] = ir_const_int(&s.b, DTYPE_I64, i)->def;
    ops[OPS - 1] = ir_return(&s.b, 0, NULL);
    for (int a = 0; a < OPS; a++)
        for (int b = 0; b < OPS; b++) assert_int_equal(ir_dominates(ops[a], ops[b]), a < b);
    fixture_destroy(&s.fixture);
}

static void ops_move_and_go(void **state) {
    (void)state;
    Setup s = setup_create();
    IrOp *one = ir_const_int(&s.b, DTYPE_I64, 1)->def;
    IrOp *two = ir_const_int(&s.b, DTYPE_I64, 2)->def;
    IrOp *sum = ir_binary(&s.b, IR_ADD, ir_result(one, 0), ir_result(two, 0))->def;
    IrOp *end = ir_return(&s.b, 0, NULL);
    assert_true(ir_dominates(one, end) && ir_dominates(one, two) && !ir_dominates(two, one));
    assert_false(ir_dominates(one, one));
    ir_move_before(two, one);
    assert_true(ir_dominates(two, one));
    expect_valid(&s);
    ir_move_before(one, one);
    assert_false(ir_unused(one));
    ir_erase(sum);
    assert_null(sum->block);
    assert_true(ir_unused(one) && ir_unused(two));
    ir_erase(two);
    ir_move_to_end(end, end->block);
    expect_valid(&s);
    expect_print(&s,
                 "kernel @k(%a: f32, %n: i64) {\n  body {\n    %0 = const {value = 1} : i64\n"
                 "    return\n  }\n}\n");
    fixture_destroy(&s.fixture);
}

// for i in 0 .. n step 1, carrying x = a; the body yields x + x.
static IrOp *build_loop(Setup *s) {
    IrValue *zero = ir_const_int(&s->b, DTYPE_I64, 0), *one = ir_const_int(&s->b, DTYPE_I64, 1);
    IrBlock *block = ir_block_create(s->func);
    ir_block_add_arg(block, ir_scalar(s->module, DTYPE_I64));
    IrValue *x = ir_block_add_arg(block, param(s, 0)->type);
    IrBuilder inner = ir_builder_at_end(block);
    IrValue *sum = ir_binary(&inner, IR_ADD, x, x);
    ir_yield(&inner, 1, &sum);
    IrValue *operands[] = {zero, param(s, 1), one, param(s, 0)};
    IrOp *loop = ir_op(&s->b, IR_FOR, 4, operands, 1, &x->type, 1, &block);
    IrValue *result = ir_result(loop, 0);
    IrOp *print = ir_op(&s->b, IR_PRINT, 1, &result, 0, NULL, 0, NULL);
    ir_attr_set_texts(print, IR_ATTR_TEXTS, 1, &STR("x"));
    ir_return(&s->b, 0, NULL);
    return loop;
}

static void loops_are_remade(void **state) {
    (void)state;
    Setup s = setup_create();
    IrOp *loop = build_loop(&s);
    expect_valid(&s);
    assert_int_equal(ir_effects(loop), 0);
    IrBlock *block = loop->regions[0];
    assert_true(ir_block_within(block, loop->block));
    assert_false(ir_block_within(loop->block, block));
    assert_true(ir_dominates(loop->prev, block->first));
    assert_false(ir_dominates(block->first, loop));
    // One more carried value.
    IrValue *operands[5];
    for (uint32_t i = 0; i < 4; i++) operands[i] = ir_operand(loop, i);
    operands[4] = param(&s, 1);
    const IrType *types[] = {param(&s, 0)->type, param(&s, 1)->type};
    IrValue *n = ir_block_add_arg(block, types[1]);
    ir_add_operand(block->last, n);
    IrOp *made = ir_remake(loop, 5, operands, 2, types);
    ir_replace_all(ir_result(loop, 0), ir_result(made, 0));
    expect_valid(&s);
    // And without it again.
    ir_remove_operand(block->last, 1);
    ir_remove_block_arg(block, 2);
    IrOp *again = ir_remake(made, 4, operands, 1, types);
    ir_replace_all(ir_result(made, 0), ir_result(again, 0));
    expect_valid(&s);
    ir_replace_all(ir_result(again, 0), param(&s, 0));
    ir_erase(again);
    assert_int_equal(use_count(param(&s, 1)), 0);
    expect_valid(&s);
    fixture_destroy(&s.fixture);
}

static void block_arguments_shift(void **state) {
    (void)state;
    Setup s = setup_create();
    IrBlock *block = ir_block_create(s.func);
    IrValue *args[9];
    for (uint32_t i = 0; i < 9; i++) args[i] = ir_block_add_arg(block, param(&s, 0)->type);
    for (uint32_t i = 0; i < 5; i++) ir_remove_block_arg(block, 0);
    assert_int_equal(block->arg_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_ptr_equal(block->args[i], args[i + 5]);
        assert_int_equal(block->args[i]->index, i);
    }
    for (uint32_t i = 0; i < 9; i++) ir_block_add_arg(block, param(&s, 1)->type);
    assert_int_equal(block->arg_count, 13);
    assert_ptr_equal(block->args[3], args[8]);
    fixture_destroy(&s.fixture);
}

static void clones_stand_alone(void **state) {
    (void)state;
    Setup s = setup_create();
    IrOp *loop = build_loop(&s);
    Map map = {0};
    map_put(s.fixture.arena, &map, map_key(param(&s, 0)), map_key(ir_result(loop, 0)));
    IrBuilder b = ir_builder_before(loop->next);
    IrOp *copy = ir_clone(&b, loop, &map, s.fixture.arena);
    assert_ptr_equal(ir_operand(copy, 3), ir_result(loop, 0));
    assert_ptr_not_equal(copy->regions[0], loop->regions[0]);
    assert_ptr_equal(copy->regions[0]->parent, copy);
    expect_valid(&s);
    IrFunc *twin = ir_func_clone(s.func, fixture_name(&s.fixture, "twin"));
    expect_valid(&s);
    StrBuf one = strbuf(s.fixture.arena), two = strbuf(s.fixture.arena);
    ir_print_func(s.func, &one);
    ir_print_func(twin, &two);
    Str rest_one, rest_two;
    str_cut(strbuf_str(&one), '(', &rest_one);
    str_cut(strbuf_str(&two), '(', &rest_two);
    assert_true(str_equal(rest_one, rest_two));
    // The twin is of no consequence to the first.
    ir_erase(ir_body(twin)->first->next->next->next);
    expect_valid(&s);
    fixture_destroy(&s.fixture);
}

static void all_ops_clone(void **state) {
    (void)state;
    Fixture f = fixture_create();
    Str text;
    OsError error;
    assert_true(os_read_file(f.arena, "tests/ir/all_ops.tir", 1 << 20, &text, &error));
    IrModule *m = fixture_parse_str(&f, text);
    assert_non_null(m);
    for (size_t i = 0, count = m->funcs.count; i < count; i++) {
        const IrFunc *from = m->funcs.data[i];
        StrBuf name = strbuf(f.arena);
        strbuf_printf(&name, "%s_twin", from->name);
        IrFunc *twin = ir_func_clone(from, fixture_name(&f, name.text));
        StrBuf one = strbuf(f.arena), two = strbuf(f.arena);
        ir_print_func(from, &one);
        ir_print_func(twin, &two);
        Str rest_one, rest_two;
        str_cut(strbuf_str(&one), '(', &rest_one);
        str_cut(strbuf_str(&two), '(', &rest_two);
        assert_true(str_equal(rest_one, rest_two));
    }
    if (!ir_verify(m, f.diags)) fail_msg("%s", fixture_messages(&f));
    fixture_destroy(&f);
}

static void clones_keep_maps(void **state) {
    (void)state;
    Fixture f = fixture_create();
    const IrModule *m =
        fixture_parse(&f,
                      "kernel @k(%x: view f16[M, K]) {level = thread, maps = [x [1, 0] box [64, 8] "
                      "swizzle 128 promotion 64]} {\n  body {\n    return\n  }\n}\n");
    assert_non_null(m);
    const IrFunc *twin = ir_func_clone(m->funcs.data[0], fixture_name(&f, "twin"));
    assert_int_equal(twin->maps.count, 1);
    const IrMap *map = &twin->maps.data[0];
    assert_int_equal(map->param, 0);
    assert_int_equal(map->rank, 2);
    assert_int_equal(map->axes[0], 1);
    assert_int_equal(map->box[0], 64);
    assert_int_equal(map->box[1], 8);
    assert_int_equal(map->swizzle, 128);
    assert_int_equal(map->promotion, 64);
    fixture_destroy(&f);
}

static void selections_have_shapes(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = fixture_parse(&f,
                                "kernel @k(%x: view f32[A, B, C, D], %i: i64) {\n"
                                "  body {\n"
                                "    %0 = iota : i32[8]\n"
                                "    %1 = reshape %0 : i32[8,1]\n"
                                "    %2 = reshape %0 : i32[1,8]\n"
                                "    %3 = view_inside %x, %i, %1, %i, %2 {select = [4, 0, 0, 0]}"
                                " : bool[4,8,8]\n"
                                "    return\n"
                                "  }\n"
                                "}\n");
    assert_non_null(m);
    IrOp *op = ir_body(m->funcs.data[0])->last->prev;
    uint32_t rank, shape[IR_MAX_RANK];
    assert_true(ir_selection_shape(op, &rank, shape));
    assert_int_equal(rank, 3);
    assert_int_equal(shape[0], 4);
    assert_int_equal(shape[1], 8);
    assert_int_equal(shape[2], 8);
    ir_set_operand(op, 4, op->prev->prev->prev->results);  // ranks 1 and 2
    assert_false(ir_selection_shape(op, &rank, shape));
    ir_attr_set_ints(op, IR_ATTR_SELECT, 3, (int64_t[]){4, 0, 0});
    assert_false(ir_selection_shape(op, &rank, shape));
    fixture_destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_ops_print_and_verify), cmocka_unit_test(operands_change),
        cmocka_unit_test(ops_dominate_those_behind),  cmocka_unit_test(ops_move_and_go),
        cmocka_unit_test(loops_are_remade),           cmocka_unit_test(block_arguments_shift),
        cmocka_unit_test(clones_stand_alone),         cmocka_unit_test(all_ops_clone),
        cmocka_unit_test(clones_keep_maps),           cmocka_unit_test(selections_have_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
