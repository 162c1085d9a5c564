#include "tests/examples/test_parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/examples/examples.h"

static const Dtype f32 = DTYPE_F32;

static void assert_near(double a, double b) {
    if (fabs(a - b) > 1e-12 * fabs(b)) fail_msg("%.17g is not %.17g", a, b);
}

static void test_half_ulp(void **state) {
    (void)state;
    assert_near(num_half(f32, 1), ldexp(1, -24));
    assert_near(num_half(f32, 1.999), ldexp(1, -24));
    assert_near(num_half(f32, 2), ldexp(1, -23));
    assert_near(num_half(f32, 0), ldexp(1, -150));
    assert_near(num_half(DTYPE_F16, ldexp(1, -20)), ldexp(1, -25));
    assert_near(num_half(DTYPE_BF16, 3), ldexp(1, -7));
    assert_near(num_unit(DTYPE_F8E4M3), 0.0625);
}

static void test_elementwise_bounds(void **state) {
    (void)state;
    Num a = {3, 0.5}, b = {4, 0.25}, sum = f32_add(a, b), product = f32_mul(a, b);
    assert_near(sum.v, 7);
    assert_near(sum.e, 0.75 + ldexp(1, -22) + 7 * ldexp(1, -53));
    assert_near(product.e, 3 * 0.25 + 4 * 0.5 + 0.125 + ldexp(1, -21) + 12 * ldexp(1, -53));
    // 3.5 / 3.75 is the quotient furthest away.
    Num quotient = f32_div(a, b);
    assert_true(quotient.e >= 3.5 / 3.75 - 0.75 && quotient.e < 0.1834);
    assert_true(isinf(f32_div(a, (Num){0.1, 0.2}).e));
    assert_near(f32_exp(num_exact(0)).e, 4 * ldexp(1, -24) + ldexp(1, -53));
    assert_true(isinf(num_log(f32, (Num){1, 1}).e));
    assert_near(num_max((Num){1, 0.5}, (Num){1.25, 0.125}).e, 0.25);
    assert_near(num_round((Num){1.4, 0.2}).e, 1);
    assert_true(num_round((Num){1.4, 0.05}).e == 0);
    assert_near(num_cast_int(DTYPE_I8, (Num){126.5, 4}).e, 4);
    assert_true(num_cast_int(DTYPE_I8, (Num){300, 4}).e == 0);
}

static void test_overflow(void **state) {
    (void)state;
    assert_true(isinf(num_cast(DTYPE_F16, num_exact(70000)).v));
    assert_true(num_cast(DTYPE_F16, num_exact(70000)).e == 0);
    assert_true(isinf(num_cast(DTYPE_F16, (Num){65500, 100}).e));
    assert_true(num_cast(DTYPE_F16, num_exact(65504)).e == 0);
}

static void test_sums(void **state) {
    (void)state;
    NumSum sum = {0};
    num_sum_add(&sum, (Num){1, 0.25});
    num_sum_add(&sum, num_exact(-3));
    Num total = num_sum(f32, &sum);
    assert_near(total.v, -2);
    assert_near(total.e, 0.25 + 2 * 2 * ldexp(1, -24) * 4.25 + 2 * 4.25 * ldexp(1, -53));
    NumDot dot = {0};
    num_dot_add(&dot, num_exact(2), num_exact(-3));
    assert_near(num_dot(f32, &dot).v, -6);
    assert_near(num_dot(f32, &dot).e,
                2 * 3 * ldexp(1, -24) * 6 + ldexp(1, -150) + 2 * 6 * ldexp(1, -53));
}

// References on cases small enough to do by hand.
static void test_softmax_by_hand(void **state) {
    (void)state;
    Run run = {.seed = 1};
    make_softmax(&run, &(Shape){.type = f32, .n = {1, 2}});
    const Array *x = &run.arrays[0], *y = &run.arrays[1];
    double p = 1 / (1 + exp(get(x, 1) - get(x, 0)));
    assert_near(y->wanted[0].v, p);
    assert_near(y->wanted[1].v, 1 - p);
    assert_true(y->wanted[0].e > 0 && y->wanted[0].e < 1e-5);
    run_free(&run);
}

static void test_matmul_by_hand(void **state) {
    (void)state;
    Run run = {.seed = 2};
    make_matmul(&run, &(Shape){.type = DTYPE_F16, .n = {2, 1, 2}});
    const Array *a = &run.arrays[0], *b = &run.arrays[1], *c = &run.arrays[2];
    assert_near(c->wanted[1].v, get(a, 2) * get(b, 0) + get(a, 3) * get(b, 1));
    run_free(&run);
}

static void test_attention_by_hand(void **state) {
    (void)state;
    Run run = {.seed = 3};
    // One query, one key: the result is the key's value.
    make_attention(&run, &(Shape){.type = f32, .n = {1, 1, 2}});
    const Array *v = &run.arrays[2], *y = &run.arrays[3];
    for (int64_t h = 0; h < 4; h++) assert_near(y->wanted[h * 2 + 1].v, get(v, h / 2 * 2 + 1));
    run_free(&run);
}

// An output that holds the reference's own values is accepted; one that is off by more than its
// bound is not, nor is a byte written that should have been kept.
static void check_detection(const Example *example, Dtype type) {
    char text[512];
    Run run = {.seed = 4};
    example->make(&run, &(Shape){.type = type, .n = {7, 7, 7, 7}});
    run_before(&run);
    Array *wrong = NULL;
    for (int n = 0; n < run.array_count; n++) {
        Array *a = &run.arrays[n];
        for (int64_t i = 0; a->wanted && i < a->count; i++)
            if (a->wanted[i].e >= 0) put(a, i, a->wanted[i].v);
        wrong = a->wanted ? a : wrong;
    }
    const char *said = run_compare(&run, text, sizeof text);
    if (said) fail_msg("%s: %s", example->kernel, said);
    assert_non_null(wrong);
    int64_t last = wrong->count - 1;
    double off =
        wrong->wanted[last].e < 0 ? 1 : wrong->wanted[last].v + 2.5 * wrong->wanted[last].e;
    off += num_half(dtype_is(wrong->type, DTYPE_CLASS_ANYFLOAT) ? wrong->type : f32, fabs(off)) * 3;
    put(wrong, last, dtype_is(wrong->type, DTYPE_CLASS_INT) ? wrong->wanted[last].v + 2 : off);
    if (!run_compare(&run, text, sizeof text))
        fail_msg("%s: a wrong element passed", example->kernel);
    run_free(&run);
}

static void test_detection(void **state) {
    (void)state;
    for (size_t i = 0; i < example_count; i++)
        for (int t = 0; t < example_table[i].type_count; t++)
            check_detection(&example_table[i], example_table[i].types[t]);
}

// A bound that is as great as the values would accept anything.
static void check_sharpness(const Example *example, Dtype type) {
    Run run = {.seed = 5};
    example->make(&run, &(Shape){.type = type, .n = {7, 127, 7, 7}});
    for (int n = 0; n < run.array_count; n++) {
        const Array *a = &run.arrays[n];
        double greatest = 0, bound = 0;
        for (int64_t i = 0; a->wanted && i < a->count; i++) {
            greatest = fmax(greatest, fabs(a->wanted[i].v));
            bound = fmax(bound, a->wanted[i].e);
        }
        if (a->wanted && bound > 0.02 * greatest)
            fail_msg("%s, %s: bound %g for values up to %g", example->kernel, a->name, bound,
                     greatest);
    }
    run_free(&run);
}

static void test_sharpness(void **state) {
    (void)state;
    for (size_t i = 0; i < example_count; i++)
        for (int t = 0; t < example_table[i].type_count; t++)
            check_sharpness(&example_table[i], example_table[i].types[t]);
}

int test_parts(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_ulp),          cmocka_unit_test(test_elementwise_bounds),
        cmocka_unit_test(test_overflow),          cmocka_unit_test(test_sums),
        cmocka_unit_test(test_softmax_by_hand),   cmocka_unit_test(test_matmul_by_hand),
        cmocka_unit_test(test_attention_by_hand), cmocka_unit_test(test_detection),
        cmocka_unit_test(test_sharpness),
    };
    return cmocka_run_group_tests_name("examples: the harness", tests, NULL, NULL);
}
