// The verifier on what no text can say, made by editing. The messages that a text can reach are in
// tests/files/ir/verify.
#include "tests/ir/support.h"

// Ill-typed IR prints and reads back as well: dumps of defects are texts like any other.
static void what_is_invalid_reads_back(void **state) {
    (void)state;
    static const char *const names[] = {"combiners",
                                        "counts_and_attributes",
                                        "effects_and_control",
                                        "functions",
                                        "maps",
                                        "nested",
                                        "pointers",
                                        "products_and_reductions",
                                        "recursion",
                                        "shapes",
                                        "values_and_elementwise",
                                        "views"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Fixture f = fixture_create();
        const char *path = arena_printf(f.arena, "tests/files/ir/verify/%s.tir", names[i]);
        Str text;
        OsError error;
        assert_true(os_read_file(f.arena, path, 1 << 20, &text, &error));
        IrModule *m = fixture_parse_str(&f, text);
        if (!m) fail_msg("%s does not parse:%s", path, fixture_messages(&f));
        const char *before = fixture_print(&f, m);
        assert_false(ir_verify(m, f.diags));
        IrModule *again = fixture_parse(&f, before);
        if (!again) fail_msg("%s does not read back:%s", path, fixture_messages(&f));
        expect_same_text(fixture_print(&f, again), before);
        fixture_destroy(&f);
    }
}

// ---- what no text can say -----------------------------------------------------------------------

static IrFunc *sample(Fixture *f) {
    IrModule *m = fixture_parse(f,
                                "kernel @k(%a: f32) {\n  body {\n    %0 = neg %a : f32\n"
                                "    %1 = add %0, %a : f32\n    %2 = iota : i32[8]\n"
                                "    %3 = permute %2 {perm = [0]} : i32[8]\n    return\n  }\n}\n");
    assert_non_null(m);
    assert_true(ir_verify(m, f->diags));
    return m->funcs.data[0];
}

static bool verifies(const IrFunc *func, Diags *diags) {
    Arena *scratch = arena_create();
    bool fine = ir_verify_func(func, scratch, diags);
    arena_destroy(scratch);
    return fine;
}

static void expect_broken(Fixture *f, const IrFunc *func, const char *message) {
    assert_false(verifies(func, f->diags));
    expect_message(f, message);
    fixture_destroy(f);
    *f = fixture_create();
}

static void broken_links_are_found(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrFunc *func = sample(&f);
    IrOp *add = ir_body(func)->first->next;
    add->operands[0].value->uses = NULL;
    expect_broken(&f, func, "operand 0 is not in its value's list of uses");
    func = sample(&f);
    IrOp *neg = ir_body(func)->first;
    neg->operands[0].next = NULL;
    func->params.data[0].value->uses = &neg->operands[0];
    neg->operands[0].link = &func->params.data[0].value->uses;
    expect_broken(&f, func, "the listed uses of argument 0 are not its operands");
    func = sample(&f);
    neg = ir_body(func)->first;
    neg->results[0].uses->next = neg->results[0].uses;
    expect_broken(&f, func, "the listed uses of result 0 are not its operands");
    func = sample(&f);
    ir_body(func)->first->id = 1;
    expect_broken(&f, func, "op id 1 is taken or not below 5");
    func = sample(&f);
    ir_body(func)->first->results[0].id = 99;
    expect_broken(&f, func, "value id 99 is taken or not below 5");
    func = sample(&f);
    ir_body(func)->first->results[0].def = NULL;
    expect_broken(&f, func, "links of the op do not fit its place");
    func = sample(&f);
    ir_body(func)->last->prev = NULL;
    expect_broken(&f, func, "links of the op do not fit its place");
    func = sample(&f);
    func->params.data[0].value->index = 7;
    expect_broken(&f, func, "links of parameter 'a' do not fit");
    func = sample(&f);
    ir_block_add_arg(ir_body(func), ir_scalar(func->module, DTYPE_I64));
    expect_broken(&f, func, "expected a section without arguments, found 1");
    func = sample(&f);
    ir_body(func)->first->code = (IrOpcode)(IR_OPCODES + 3);
    expect_broken(&f, func, "is not in the table");
    func = sample(&f);
    ir_func_add_section(func, IR_GRID, (Str){0}, (Span){0});
    func->is_kernel = false;
    expect_broken(&f, func, "expected a body only, of a function");
    func = sample(&f);
    vec_push(f.arena, &func->results, ir_scalar(func->module, DTYPE_I64));
    expect_broken(&f, func, "expected a kernel without results, found 1");
    func = sample(&f);
    ir_func_create(func->module, func->name, false);
    expect_broken(&f, func, "function 'k' is defined twice");
    fixture_destroy(&f);
}

static void broken_attributes_are_found(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrFunc *func = sample(&f);
    IrBuilder b = ir_builder_before(ir_body(func)->last);
    IrValue *made = ir_const_bits(&b, ir_scalar(func->module, DTYPE_I8), 256);
    expect_broken(&f, func, "expected 8 bits, found 0x100");
    func = sample(&f);
    b = ir_builder_before(ir_body(func)->last);
    made = ir_cast(&b, func->params.data[0].value, DTYPE_F16, true);
    ir_attr_set_int(made->def, IR_ATTR_SATURATE, 2);
    expect_broken(&f, func, "attribute 'saturate' can't be 2");
    func = sample(&f);
    b = ir_builder_before(ir_body(func)->last);
    ir_extent(&b, NULL);
    expect_broken(&f, func, "attribute 'extent' is missing");
    func = sample(&f);
    b = ir_builder_before(ir_body(func)->last);
    IrValue *operands[] = {NULL, ir_result(ir_body(func)->first->next->next, 0)};
    const IrType *type = ir_scalar(func->module, DTYPE_I32);
    IrOp *reduce = ir_op(&b, IR_REDUCE, 2, operands, 1, &type, 0, NULL);
    assert_true(verifies(func, f.diags));
    ir_attr_set_int(reduce, IR_ATTR_REDUCE, 77);
    expect_broken(&f, func, "attribute 'kind' can't be 77");
    func = sample(&f);
    func->params.data[0].value->type = ir_view(func->module, DTYPE_F32, 1);
    func->params.data[0].dims[0].value = -1;
    expect_broken(&f, func, "expected an extent of 0 or more, found -1");
    func = sample(&f);
    func->params.data[0].value->type = ir_view(func->module, DTYPE_F32, 7);
    expect_broken(&f, func, "type view f32 7 has no rank from 1 to 5");
    fixture_destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_invalid_reads_back),
        cmocka_unit_test(broken_links_are_found),
        cmocka_unit_test(broken_attributes_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
