// Types: interning, limits, text.
#include "tests/ir/support.h"

static void interned_types_are_one_pointer(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = ir_module_create(f.arena, f.sources, f.names);
    const IrType *a = ir_tile(m, DTYPE_F32, 2, (uint32_t[]){16, 32});
    assert_ptr_equal(a, ir_tile(m, DTYPE_F32, 2, (uint32_t[]){16, 32}));
    assert_ptr_not_equal(a, ir_tile(m, DTYPE_F32, 2, (uint32_t[]){32, 16}));
    assert_ptr_not_equal(a, ir_tile(m, DTYPE_I32, 2, (uint32_t[]){16, 32}));
    assert_ptr_not_equal(a, ir_ptr(m, DTYPE_F32, 2, (uint32_t[]){16, 32}));
    assert_ptr_not_equal(ir_scalar(m, DTYPE_F32), ir_tile(m, DTYPE_F32, 1, (uint32_t[]){1}));
    assert_ptr_equal(ir_scalar(m, DTYPE_F32), ir_tile(m, DTYPE_F32, 0, NULL));
    assert_ptr_equal(ir_view(m, DTYPE_U4, 3), ir_view(m, DTYPE_U4, 3));
    assert_ptr_not_equal(ir_view(m, DTYPE_U4, 3), ir_view(m, DTYPE_U4, 2));
    assert_int_equal(a->count, 512);
    for (size_t i = 0; i < m->types.count; i++) assert_int_equal(m->types.data[i]->id, i);
    fixture_destroy(&f);
}

static void many_types_stay_apart(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = ir_module_create(f.arena, f.sources, f.names);
    const IrType *first[DTYPES][20][20];
    for (int pass = 0; pass < 2; pass++) {
        for (int e = 0; e < DTYPES; e++) {
            for (uint32_t i = 0; i < 400; i++) {
                uint32_t shape[] = {1u << i / 20, 1u << i % 20};
                const IrType *t = ir_tile(m, (Dtype)e, 2, shape);
                const IrType **place = &first[e][i / 20][i % 20];
                if (pass == 0) *place = t;
                assert_ptr_equal(*place, t);
                assert_int_equal(t->elem, e);
                assert_int_equal(t->shape[1], shape[1]);
            }
        }
    }
    assert_int_equal(m->types.count, DTYPES * 400);
    fixture_destroy(&f);
}

static void derived_types(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = ir_module_create(f.arena, f.sources, f.names);
    const IrType *p = ir_ptr(m, DTYPE_F16, 1, (uint32_t[]){8});
    assert_ptr_equal(ir_with_elem(m, p, DTYPE_F32), ir_ptr(m, DTYPE_F32, 1, (uint32_t[]){8}));
    assert_ptr_equal(ir_with_shape(m, p, 0, NULL), ir_ptr(m, DTYPE_F16, 0, NULL));
    assert_true(ir_is_scalar(ir_ptr(m, DTYPE_F16, 0, NULL)));
    assert_false(ir_is_scalar(p));
    assert_false(ir_is_scalar(ir_view(m, DTYPE_F16, 1)));
    assert_true(ir_is_tile(ir_scalar(m, DTYPE_I8), DTYPE_I8));
    assert_false(ir_is_tile(ir_ptr(m, DTYPE_I8, 0, NULL), DTYPE_I8));
    assert_int_equal(ir_elem_size(p), 8);
    assert_int_equal(ir_elem_size(ir_scalar(m, DTYPE_BOOL)), 1);
    assert_int_equal(ir_elem_size(ir_view(m, DTYPE_I4, 1)), 1);
    assert_int_equal(ir_elem_size(ir_scalar(m, DTYPE_F64)), 8);
    fixture_destroy(&f);
}

static void shapes_that_no_type_has(void **state) {
    (void)state;
    uint64_t many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_null(ir_shape_problem(0, NULL));
    assert_null(ir_shape_problem(8, many));
    assert_non_null(ir_shape_problem(9, many));
    assert_null(ir_shape_problem(2, (uint64_t[]){1024, 1024}));
    assert_non_null(ir_shape_problem(2, (uint64_t[]){1024, 2048}));
    assert_non_null(ir_shape_problem(1, (uint64_t[]){0}));
    assert_non_null(ir_shape_problem(1, (uint64_t[]){3}));
    assert_non_null(ir_shape_problem(2, (uint64_t[]){UINT64_C(1) << 63, 4}));
    assert_non_null(ir_shape_problem(1, (uint64_t[]){UINT64_MAX}));
}

static void types_as_text(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = ir_module_create(f.arena, f.sources, f.names);
    StrBuf out = strbuf(f.arena);
    ir_type_text(ir_tile(m, DTYPE_F32, 2, (uint32_t[]){16, 32}), &out);
    strbuf_char(&out, ' ');
    ir_type_text(ir_scalar(m, DTYPE_BF16), &out);
    strbuf_char(&out, ' ');
    ir_type_text(ir_ptr(m, DTYPE_F16, 1, (uint32_t[]){64}), &out);
    strbuf_char(&out, ' ');
    ir_type_text(ir_view(m, DTYPE_I4, 2), &out);
    assert_string_equal(out.text, "f32[16,32] bf16 *f16[64] view i4 2");
    fixture_destroy(&f);
}

static void the_op_table_is_whole(void **state) {
    (void)state;
    for (int i = 0; i < IR_OPCODES; i++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)i);
        IrOpcode code;
        assert_true(ir_op_from_text(str(info->text), &code));
        assert_int_equal(code, i);
        assert_true(info->doc && *info->doc);
        assert_true(info->attr_count <= IR_MAX_ATTRS);
        assert_true(info->max_operands < 0 || info->max_operands >= info->min_operands);
    }
    IrOpcode code;
    assert_false(ir_op_from_text(STR("ad"), &code));
    assert_true(ir_operand_optional(IR_DOT, 2));
    assert_false(ir_operand_optional(IR_DOT, 1));
    assert_true(ir_operand_optional(IR_REDUCE, 0));
    assert_false(ir_operand_optional(IR_REDUCE, 5));
    assert_true(ir_operand_optional(IR_VIEW_CAS, 3));
    assert_false(ir_operand_optional(IR_CONST, 0));
    int64_t value;
    assert_true(ir_enum_from_text(IR_KIND_REDUCE, STR("custom"), &value));
    assert_int_equal(value, IR_REDUCE_CUSTOM);
    assert_null(ir_enum_text(IR_KIND_REDUCE, IR_REDUCE_CUSTOM + 1));
    assert_null(ir_enum_text(IR_KIND_SCOPE, -1));
    assert_string_equal(ir_enum_text(IR_KIND_RMW, IR_RMW_XCHG), "xchg");
    assert_string_equal(ir_enum_text(IR_KIND_PRECISION, IR_PRECISION_BF16X3), "bf16x3");
    assert_string_equal(ir_enum_text(IR_KIND_ORDER, IR_ORDER_ACQ_REL), "acq_rel");
    assert_string_equal(ir_enum_text(IR_KIND_DTYPE, DTYPE_F64), "f64");
}

static void each_op_has_one_family(void **state) {
    (void)state;
    unsigned met = 0;
    for (int i = 0; i < IR_OPCODES; i++) {
        unsigned family = ir_op_family((IrOpcode)i);
        assert_true(family && (family & (family - 1)) == 0);
        assert_true(ir_op_is((IrOpcode)i, family) && !ir_op_is((IrOpcode)i, ~family));
        met |= family;
        // Elementwise ops have no effects and are typed by their operands.
        if (ir_op_is((IrOpcode)i, IR_FAMILIES_ELEMENTWISE)) {
            assert_int_equal(ir_op_info((IrOpcode)i)->effect, IR_EFFECT_PURE);
            assert_int_equal(ir_op_info((IrOpcode)i)->results, 1);
        }
        assert_int_equal(ir_op_is((IrOpcode)i, IR_FAMILY_END),
                         ir_op_info((IrOpcode)i)->effect == IR_EFFECT_END);
    }
    assert_int_equal(met, 2 * IR_FAMILY_TABLE - 1);  // none is without an op
    assert_true(ir_op_is(IR_POW, IR_FAMILY_FUNCTION) && !ir_op_is(IR_FMA, IR_FAMILY_FUNCTION));
    assert_true(ir_op_is(IR_VIEW_CAS, IR_FAMILY_ATOMIC | IR_FAMILY_MEMORY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_op_has_one_family),  cmocka_unit_test(interned_types_are_one_pointer),
        cmocka_unit_test(many_types_stay_apart),   cmocka_unit_test(derived_types),
        cmocka_unit_test(shapes_that_no_type_has), cmocka_unit_test(types_as_text),
        cmocka_unit_test(the_op_table_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
