// Specialisation: types, consts, tune, options, extents; tile_check and tile_tune_space. The form
// of the IR is in tests/files/frontend.
#include <stdlib.h>

#include "tests/frontend/elaborate_case.h"

static IrBinding bind_type(TileText *t, const char *name, Dtype type) {
    return (IrBinding){.name = intern(t->names, str(name)), .is_type = true, .type = type};
}

static IrBinding bind_value(TileText *t, const char *name, int64_t value) {
    return (IrBinding){.name = intern(t->names, str(name)), .value = value};
}

// ---- what a spec says

static const char tuned[] =
    "kernel k(type T, T x[N], const A = 2, const B) grid(cdiv(N, A * B)) { x[A] = T(B); }\n"
    "tune k { B: 4, 8; warps: 4; }\n"
    "tune k for gfx942 { B: 16; warps: 8, 2; }\n"
    "tune k for amd { B: 32; A: 64; stages: 3; }\n"
    "tune k for \"sm_90\" { B: 128; }\n";

static void check_consts(const char *target, int64_t a, int64_t b, int warps, int stages) {
    TileText t = tile_text(tuned);
    assert_string_equal(tile_text_diags(&t), "");
    FrontSpec spec = {.target = str(target)};
    IrBinding type = bind_type(&t, "T", DTYPE_F16);
    vec_push(t.arena, &spec.bindings, type);
    IrModule *m = ir_module_create(t.arena, t.sources, t.names);
    IrFunc *f = tile_elaborate(t.file, m, tile_kernel(t.file, 0), &spec, t.diags);
    assert_string_equal(tile_text_diags(&t), "");
    assert_non_null(f);
    assert_int_equal(f->bindings.count, 3);
    assert_int_equal(f->bindings.data[0].type, DTYPE_F16);
    assert_int_equal(f->bindings.data[1].value, a);
    assert_int_equal(f->bindings.data[2].value, b);
    assert_int_equal(f->warps, warps);
    assert_int_equal(f->stages, stages);
    assert_int_equal(f->ctas, 0);
    assert_int_equal(f->params.data[0].value->type->elem, DTYPE_F16);
    tile_text_free(&t);
}

static void test_tune_by_target(void **state) {
    (void)state;
    check_consts("", 2, 4, 4, 0);
    check_consts("gfx942", 64, 16, 8, 3);
    check_consts("gfx1100", 64, 32, 4, 3);
    check_consts("sm_90a", 2, 128, 4, 0);
    check_consts("x86-64-v4", 2, 4, 4, 0);
}

static void test_spec_wins(void **state) {
    (void)state;
    TileText t = tile_text(tuned);
    FrontSpec spec = {.target = STR("gfx942"), .math = IR_MATH_CONTRACT};
    IrBinding all[] = {bind_type(&t, "T", DTYPE_I8), bind_value(&t, "B", 1),
                       bind_value(&t, "ctas", 2), bind_value(&t, "warps", 1)};
    for (size_t i = 0; i < 4; i++) vec_push(t.arena, &spec.bindings, all[i]);
    map_put(t.arena, &spec.fixed_extents, map_key(intern(t.names, STR("N"))), 77);
    IrModule *m = ir_module_create(t.arena, t.sources, t.names);
    IrFunc *f = tile_elaborate(t.file, m, tile_kernel(t.file, 0), &spec, t.diags);
    assert_non_null(f);
    assert_int_equal(f->bindings.data[2].value, 1);
    assert_int_equal(f->warps, 1);
    assert_int_equal(f->ctas, 2);
    assert_int_equal(f->math, IR_MATH_CONTRACT);
    assert_true(f->extents.data[0].facts.has_range);
    assert_int_equal(f->extents.data[0].facts.min, 77);
    assert_int_equal(f->extents.data[0].facts.max, 77);
    tile_text_free(&t);
}

static void spec_fails(const char *source, const char *name, int64_t value, const char *expected) {
    TileText t = tile_text(source);
    FrontSpec spec = {0};
    IrBinding b = bind_value(&t, name, value);
    vec_push(t.arena, &spec.bindings, b);
    IrModule *m = ir_module_create(t.arena, t.sources, t.names);
    assert_null(tile_elaborate(t.file, m, tile_kernel(t.file, 0), &spec, t.diags));
    assert_int_equal(m->funcs.count, 0);
    assert_string_equal(tile_text_diags(&t), expected);
    tile_text_free(&t);
}

static void test_spec_errors(void **state) {
    (void)state;
    spec_fails("kernel k(type T, T x[N]) grid(1) { x[0] = 0; }", "warps", 1,
               "1:15: the type 'T' is not given [specialize]");
    spec_fails("kernel k(type T, T x[N]) grid(1) { x[0] = 0; }", "T", 1,
               "1:15: the type 'T' is given a number [specialize]");
    spec_fails("kernel k(f32 x[N], const W) grid(W) { x[0] = 0; }", "warps", 4,
               "1:26: the const 'W' has no value [specialize]");
    spec_fails("kernel k(f32 x[N]) grid(1) { x[0] = 0; }", "Q", 4,
               "1:8: kernel 'k' has no type or const 'Q' [specialize]");
    spec_fails("kernel k(f32 x[N]) grid(1) { x[0] = 0; }", "warps", 4096,
               "1:8: 'warps' must be from 1 to 1024, found 4096 [tune]");
}

static void test_tune_space(void **state) {
    (void)state;
    TileText t = tile_text(tuned);
    const FrontTune *space;
    assert_int_equal(tile_tune_space(t.file, tile_kernel(t.file, 0), STR("gfx942"), &space), 4);
    assert_string_equal(space[0].name, "B");
    assert_int_equal(space[0].count, 1);
    assert_int_equal(space[0].values[0], 16);
    assert_string_equal(space[1].name, "warps");
    assert_int_equal(space[1].count, 2);
    assert_int_equal(space[1].values[1], 2);
    assert_string_equal(space[2].name, "A");
    assert_int_equal(tile_tune_space(t.file, tile_kernel(t.file, 0), STR(""), &space), 2);
    assert_int_equal(space[0].count, 2);
    assert_int_equal(space[0].values[1], 8);
    tile_text_free(&t);
}

// ---- tile_check

static void checks(const char *source, const char *expected) {
    TileText t = tile_text(source);
    bool good = tile_check(t.file, t.diags);
    assert_string_equal(tile_text_diags(&t), expected);
    assert_int_equal(good, expected[0] == 0);
    tile_text_free(&t);
}

static void test_check_candidates(void **state) {
    (void)state;
    checks("kernel k(type T, T x[N]) grid(1) { x[0] = x[1] & x[2]; }", "");
    checks("kernel k(type T, T x[N]) grid(1) { x[0] = exp(x[1]); }", "");
    checks("kernel k(type T, T x[N]) grid(1) { x[0] = !x[1]; }", "");
    checks(
        "kernel k(type T, T x[N]) grid(1) { static_assert(W > 100); x[0] = T(W); }"
        "const W = 128;",
        "");
    checks("kernel k(f32 x[N], const W) grid(1) { static_assert(W > 100); x[W] = 0.0; }", "");
    // Wrong for every candidate: the errors of the one with the fewest.
    checks("kernel k(type T, T x[N]) grid(1) { x[0] = exp(x[1]); x[0] = x[1] & 1; }",
           "1:61: '&' needs integers, found f32 [type]");
    checks(
        "fn f(a) { return exp(a); }\n"
        "kernel a(i32 x[N]) grid(1) { x[0] = f(x[1]); }\n"
        "kernel b(i32 x[N]) grid(1) { x[0] = f(x[1]); }",
        "1:22: 'exp' takes floats, found i32 [type]");
}

static void test_limits(void **state) {
    (void)state;
    StrBuf out = strbuf(arena_create());
    strbuf_add(&out, STR("kernel k(f32 x[N]) grid(1)\n{\n"));
    for (int i = 0; i < 400; i++) strbuf_printf(&out, "if (x[%d] > 0.0) return;\n", i);
    strbuf_add(&out, STR("}\n"));
    checks(out.text, "203:1: branches, loops and early exits nest deeper than 200 [too-deep]");
    out.size = 0;
    strbuf_add(&out, STR("kernel k(f32 x[N]) grid(1) { x[0] = g0(x[1]); }\n"));
    for (int i = 0; i < 70; i++)
        strbuf_printf(&out, "fn g%d(a) { return g%d(a + 1.0) * 2.0; }\n", i, i + 1);
    strbuf_add(&out, STR("fn g70(a) { return a; }\n"));
    checks(out.text, "65:20: calls nest deeper than 64 [too-deep]");
    arena_destroy(out.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tune_by_target),   cmocka_unit_test(test_spec_wins),
        cmocka_unit_test(test_spec_errors),      cmocka_unit_test(test_tune_space),
        cmocka_unit_test(test_check_candidates), cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
