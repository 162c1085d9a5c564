// Compare: what --check calls equal and what it calls wrong.
#include "compile/report/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// math(contract): without it even the quotient has the same bits everywhere, and no bound.
static const char source[] =
    "kernel k(f32 x[4], f32 moved[4], f32 scaled[4], i32 count[4], bool flag[4], f32 pick[4],\n"
    "         i32 raw[4], f32 zero[4]) math(contract) grid(1)\n"
    "{\n"
    "    let v = x[0 +: 4];\n"
    "    moved[0 +: 4] = v;\n"
    "    scaled[0 +: 4] = v / 3;\n"
    "    count[0 +: 4] = iota(4);\n"
    "    flag[0 +: 4] = iota(4) > 1;\n"
    "    pick[0 +: 4] = select(v / 3 * 3 > v, 1.0, 2.0);\n"
    "    raw[0 +: 4] = bitcast(i32, v / 3);\n"
    "    zero[0 +: 4] = select(iota(4) == 0, -0.0, select(iota(4) == 1, 0.0, v / 3 * 0));\n"
    "}\n";

typedef struct Fixture {
    Unit *unit;
    Arena *arena;
    Compare *compare;
    float x[4], moved[4], scaled[4], pick[4], zero[4];
    int32_t count[4], raw[4];
    uint8_t flag[4];
} Fixture;

static IrArg view_of(void *data, size_t size) {
    return (IrArg){.data = data, .base = data, .size = size, .extent = {4}, .stride = {1}};
}

static int set_up(void **state) {
    static Fixture f;
    memset(&f, 0, sizeof f);
    f.x[0] = 1, f.x[1] = -0.7F, f.x[2] = INFINITY, f.x[3] = NAN;
    f.unit = unit_load_text(STR("k.tile"), (Str){source, sizeof source - 1});
    f.arena = arena_create();
    const FrontSpec spec = {0};
    const CompileOptions written = {.elaborate_only = true};
    const FrontKernel *kernel = unit_kernel(f.unit, STR("k"));
    const Compiled *compiled = kernel ? unit_compile(f.unit, kernel, &spec, &written) : NULL;
    if (!compiled) return -1;
    IrArg args[] = {view_of(f.x, 16),     view_of(f.moved, 16), view_of(f.scaled, 16),
                    view_of(f.count, 16), view_of(f.flag, 4),   view_of(f.pick, 16),
                    view_of(f.raw, 16),   view_of(f.zero, 16)};
    const CompareLaunch launch = {.args = args, .grid = {1, 1, 1}};
    f.compare = compare_run(f.arena, compiled, &launch, f.unit->diags);
    *state = &f;
    return f.compare ? 0 : -1;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    compare_destroy(f->compare);
    arena_destroy(f->arena);
    unit_destroy(f->unit);
    return 0;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

// One element of `data` against a device's value.
static CompareReport judge(const Fixture *f, const float *data, uint64_t index, float value) {
    CompareReport r = {0};
    compare_element(f->compare, DTYPE_F32, data, index, bits_of(value), &r);
    return r;
}

static void the_same_is_right(void **state) {
    Fixture *f = *state;
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(judge(f, f->moved, i, f->moved[i]).wrong, 0);
        CompareReport r = judge(f, f->scaled, i, f->scaled[i]);
        assert_int_equal(r.wrong, 0);
        assert_true(r.worst_ratio <= 1);
        assert_int_equal(r.elements, 1);
    }
    assert_true(isnan(f->moved[3]));  // the reference ran: NaN against NaN was compared
}

static void what_was_moved_has_no_bound(void **state) {
    Fixture *f = *state;
    CompareReport r = judge(f, f->moved, 0, nextafterf(1, 2));
    assert_int_equal(r.wrong, 1);
    assert_true(isinf(r.worst_ratio));
    assert_true(r.worst_bound == 0 && r.worst_expected == 1);
}

static void what_was_rounded_has_a_small_one(void **state) {
    Fixture *f = *state;
    float third = f->scaled[0];
    CompareReport r = judge(f, f->scaled, 0, third);
    assert_true(r.worst_bound > 0 && r.worst_bound < 1e-6);
    r = judge(f, f->scaled, 0, third + (float)(4 * r.worst_bound));
    assert_int_equal(r.wrong, 1);
    assert_true(r.worst_ratio > 1 && isfinite(r.worst_ratio));
    assert_int_equal(judge(f, f->scaled, 1, -f->scaled[1]).wrong, 1);
}

// As --check goes over an array: each planted mistake is counted, and nothing else is.
static void planted_mistakes_are_counted(void **state) {
    Fixture *f = *state;
    float off = f->x[1];
    for (int i = 0; i < 4; i++) off = nextafterf(off, 1);
    const float found[][4] = {
        {f->x[0], f->x[1], f->x[2], f->x[3]},
        {f->x[0], off, f->x[2], f->x[3]},
        {NAN, f->x[1], -INFINITY, f->x[3]},
        {INFINITY, off, 0, 1},
    };
    const uint64_t wrong[] = {0, 1, 2, 4}, worst[] = {0, 1, 0, 0};
    for (int k = 0; k < 4; k++) {
        CompareReport r = {0};
        for (uint64_t i = 0; i < 4; i++)
            compare_element(f->compare, DTYPE_F32, f->moved, i, bits_of(found[k][i]), &r);
        assert_int_equal(r.elements, 4);
        assert_int_equal(r.undecided, 0);
        assert_int_equal(r.wrong, wrong[k]);
        assert_int_equal(r.worst_index, worst[k]);
    }
    // A number with a bound, 4 units in the last place off.
    CompareReport r = {0};
    float third = f->scaled[0], far = third;
    for (int i = 0; i < 4; i++) far = nextafterf(far, 1);
    compare_element(f->compare, DTYPE_F32, f->scaled, 0, bits_of(third), &r);
    assert_int_equal(r.wrong, 0);
    compare_element(f->compare, DTYPE_F32, f->scaled, 0, bits_of(far), &r);
    assert_int_equal(r.wrong, 1);
    assert_true(r.worst_ratio > 1 && isfinite(r.worst_ratio));
}

// The sign of a zero counts if it is certain. A product of 0 and a bounded value has a certain
// sign, too.
static void the_sign_of_zero_counts(void **state) {
    Fixture *f = *state;
    assert_true(signbit(f->zero[0]) && !signbit(f->zero[1]));
    assert_int_equal(judge(f, f->zero, 0, -0.0F).wrong, 0);
    CompareReport r = judge(f, f->zero, 0, 0.0F);
    assert_int_equal(r.wrong, 1);
    assert_true(isinf(r.worst_ratio));
    assert_int_equal(judge(f, f->zero, 1, 0.0F).wrong, 0);
    assert_int_equal(judge(f, f->zero, 1, -0.0F).wrong, 1);
}

static void classes_must_agree(void **state) {
    Fixture *f = *state;
    assert_int_equal(judge(f, f->scaled, 2, INFINITY).wrong, 0);
    assert_int_equal(judge(f, f->scaled, 2, -INFINITY).wrong, 1);
    assert_int_equal(judge(f, f->scaled, 2, 3e38F).wrong, 1);
    assert_int_equal(judge(f, f->scaled, 2, NAN).wrong, 1);
    assert_int_equal(judge(f, f->scaled, 3, -NAN).wrong, 0);
    assert_int_equal(judge(f, f->scaled, 3, 0).wrong, 1);
    assert_int_equal(judge(f, f->scaled, 0, NAN).wrong, 1);
    assert_int_equal(judge(f, f->scaled, 0, INFINITY).wrong, 1);
}

static void integers_are_exact(void **state) {
    Fixture *f = *state;
    CompareReport r = {0};
    for (uint64_t i = 0; i < 4; i++)
        compare_element(f->compare, DTYPE_I32, f->count, i, (uint64_t)i, &r);
    assert_int_equal(r.wrong, 0);
    compare_element(f->compare, DTYPE_I32, f->count, 2, 3, &r);
    compare_element(f->compare, DTYPE_I32, f->count, 3, 0xffffffff, &r);
    assert_int_equal(r.wrong, 2);
    assert_int_equal(r.elements, 6);
    assert_int_equal(r.worst_index, 2);  // the first of equal ratios
    compare_element(f->compare, DTYPE_BOOL, f->flag, 1, 0, &r);
    assert_int_equal(r.wrong, 2);
    compare_element(f->compare, DTYPE_BOOL, f->flag, 1, 1, &r);
    assert_int_equal(r.wrong, 3);
}

// A comparison within the bound may go either way on a device: both choices are right.
static void either_choice_is_right(void **state) {
    Fixture *f = *state;
    assert_int_equal(judge(f, f->pick, 0, 1).wrong, 0);
    assert_int_equal(judge(f, f->pick, 0, 2).wrong, 0);
    assert_int_equal(judge(f, f->pick, 0, 77).wrong, 1);
}

// The bits of an inexact number are not judged, and that is counted.
static void the_undecided_is_counted(void **state) {
    Fixture *f = *state;
    CompareReport r = {0};
    compare_element(f->compare, DTYPE_I32, f->raw, 0, 77, &r);
    assert_int_equal(r.undecided, 1);
    assert_int_equal(r.wrong + r.elements, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_right),
        cmocka_unit_test(what_was_moved_has_no_bound),
        cmocka_unit_test(what_was_rounded_has_a_small_one),
        cmocka_unit_test(planted_mistakes_are_counted),
        cmocka_unit_test(the_sign_of_zero_counts),
        cmocka_unit_test(classes_must_agree),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(either_choice_is_right),
        cmocka_unit_test(the_undecided_is_counted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
