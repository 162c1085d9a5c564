// Launch code: the arithmetic of rules 21 and 22 on hand-made programs, and the validity check.
#include "runtime/launch_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t binary(LaunchOp op, Dtype t, uint64_t a, uint64_t b) {
    LaunchInstr code[] = {
        {.op = LAUNCH_CONST, .dtype = (uint8_t)t, .result = (uint8_t)t, .imm = a},
        {.op = LAUNCH_CONST, .dtype = (uint8_t)t, .result = (uint8_t)t, .imm = b},
        {.op = (uint8_t)op, .dtype = (uint8_t)t, .result = (uint8_t)t, .a = 0, .b = 1},
    };
    LaunchCode program = {3, code};
    uint64_t values[3];
    assert_true(launch_code_valid(&program, 0));
    launch_code_run(&program, NULL, values);
    return values[2];
}

static void test_integers(void **state) {
    (void)state;
    assert_int_equal(binary(LAUNCH_ADD, DTYPE_U8, 250, 10), 4);
    assert_int_equal(binary(LAUNCH_SUB, DTYPE_I16, 0, 1), 0xffff);
    assert_int_equal(binary(LAUNCH_MUL, DTYPE_I64, 1ull << 63, 2), 0);
    assert_int_equal(binary(LAUNCH_DIV, DTYPE_I32, 7, 0), 0);
    assert_int_equal(binary(LAUNCH_REM, DTYPE_I32, 7, 0), 7);
    assert_int_equal(binary(LAUNCH_DIV, DTYPE_I64, 1ull << 63, UINT64_MAX), 1ull << 63);
    assert_int_equal(binary(LAUNCH_REM, DTYPE_I64, 1ull << 63, UINT64_MAX), 0);
    assert_int_equal(binary(LAUNCH_DIV, DTYPE_I8, 0xf9, 2), 0xfd);  // -7 / 2 = -3
    assert_int_equal(binary(LAUNCH_REM, DTYPE_I8, 0xf9, 2), 0xff);  // -7 % 2 = -1
    assert_int_equal(binary(LAUNCH_SHL, DTYPE_U32, 1, 31), 1u << 31);
    assert_int_equal(binary(LAUNCH_SHL, DTYPE_U32, 1, 32), 0);
    assert_int_equal(binary(LAUNCH_SHR, DTYPE_I32, 0x80000000, 40), 0xffffffff);
    assert_int_equal(binary(LAUNCH_SHR, DTYPE_U64, 1ull << 63, 64), 0);
    assert_int_equal(binary(LAUNCH_LT, DTYPE_I32, 0xffffffff, 1), 1);
    assert_int_equal(binary(LAUNCH_LT, DTYPE_U32, 0xffffffff, 1), 0);
    assert_int_equal(binary(LAUNCH_MAX, DTYPE_I8, 0x80, 1), 1);
    assert_int_equal(binary(LAUNCH_MIN, DTYPE_I8, 0x80, 1), 0x80);
}

static bool wraps(LaunchOp op, Dtype t, int64_t a, int64_t b) {
    LaunchInstr code[] = {
        {.op = LAUNCH_CONST, .dtype = (uint8_t)t, .result = (uint8_t)t},
        {.op = LAUNCH_CONST, .dtype = (uint8_t)t, .result = (uint8_t)t},
        {.op = (uint8_t)op, .dtype = (uint8_t)t, .result = (uint8_t)t, .a = 0, .b = 1},
    };
    code[0].imm = dtype_wrap(t, (uint64_t)a);
    code[1].imm = dtype_wrap(t, (uint64_t)b);
    LaunchCode program = {3, code};
    uint64_t values[3];
    launch_code_run(&program, NULL, values);
    return launch_code_wraps(&program, values, 2);
}

static void test_wraps(void **state) {
    (void)state;
    const int64_t e40 = INT64_C(1) << 40;
    assert_true(wraps(LAUNCH_MUL, DTYPE_I64, e40, e40));
    assert_false(wraps(LAUNCH_MUL, DTYPE_I64, e40, -1024));
    assert_true(wraps(LAUNCH_MUL, DTYPE_I32, 1 << 16, 1 << 16));
    assert_false(wraps(LAUNCH_MUL, DTYPE_I32, 1 << 15, 1 << 15));
    assert_true(wraps(LAUNCH_ADD, DTYPE_I64, INT64_MAX, 1));
    assert_true(wraps(LAUNCH_ADD, DTYPE_I8, 100, 28));
    assert_false(wraps(LAUNCH_ADD, DTYPE_I8, 100, 27));
    assert_true(wraps(LAUNCH_SUB, DTYPE_I64, INT64_MIN, 1));
    assert_false(wraps(LAUNCH_SUB, DTYPE_I64, 1, INT64_MAX));
    assert_true(wraps(LAUNCH_NEG, DTYPE_I16, INT16_MIN, 0));
    assert_false(wraps(LAUNCH_NEG, DTYPE_I16, 5, 0));
    assert_true(wraps(LAUNCH_SHL, DTYPE_I64, e40, 23));
    assert_false(wraps(LAUNCH_SHL, DTYPE_I64, e40, 22));
    assert_true(wraps(LAUNCH_SHL, DTYPE_I32, 1, 32));
    assert_false(wraps(LAUNCH_ADD, DTYPE_U32, -1, 1));  // unsigned integers may
    assert_false(wraps(LAUNCH_DIV, DTYPE_I32, 7, 0));
}

// Only what the value is made of counts, and of a select only the part that was chosen.
static void test_wraps_by_the_way(void **state) {
    (void)state;
    enum { I64 = DTYPE_I64 };
    LaunchInstr code[] = {
        {.op = LAUNCH_CONST, .dtype = I64, .result = I64, .imm = 1ull << 40},
        {.op = LAUNCH_CONST, .dtype = DTYPE_BOOL, .result = DTYPE_BOOL, .imm = 1},
        {.op = LAUNCH_MUL, .dtype = I64, .result = I64, .a = 0, .b = 0},
        {.op = LAUNCH_SELECT, .dtype = I64, .result = I64, .a = 1, .b = 0, .c = 2},
        {.op = LAUNCH_MIN, .dtype = I64, .result = I64, .a = 3, .b = 2},
    };
    LaunchCode program = {5, code};
    uint64_t values[5];
    assert_true(launch_code_valid(&program, 0));
    launch_code_run(&program, NULL, values);
    assert_false(launch_code_wraps(&program, values, 1));
    assert_true(launch_code_wraps(&program, values, 2));
    assert_false(launch_code_wraps(&program, values, 3));
    assert_true(launch_code_wraps(&program, values, 4));
    code[1].imm = 0;
    launch_code_run(&program, NULL, values);
    assert_true(launch_code_wraps(&program, values, 3));
}

static uint64_t d(double x) { return dtype_from_double(DTYPE_F64, x, false); }

static void test_floats(void **state) {
    (void)state;
    assert_int_equal(binary(LAUNCH_DIV, DTYPE_F64, d(1), d(0)), d(1.0 / 0.0));
    assert_int_equal(binary(LAUNCH_MIN, DTYPE_F64, d(-0.0), d(0.0)), d(-0.0));
    assert_int_equal(binary(LAUNCH_MAX, DTYPE_F64, d(-0.0), d(0.0)), d(0.0));
    assert_true(dtype_is_nan(DTYPE_F64, binary(LAUNCH_MAX, DTYPE_F64, d(1), d(0.0 / 0.0))));
    assert_int_equal(binary(LAUNCH_LT, DTYPE_F64, d(1), d(0.0 / 0.0)), 0);
    assert_int_equal(binary(LAUNCH_NE, DTYPE_F64, d(0.0 / 0.0), d(0.0 / 0.0)), 1);
    assert_int_equal(binary(LAUNCH_ADD, DTYPE_F16, 0x7bff, 0x7bff), 0x7c00);  // 65504 + 65504 = inf
}

static void test_inputs(void **state) {
    (void)state;
    LaunchInput in[2] = {
        {.scalar = 7, .extent = {3, 4}, .stride = {4, 1}, .first = 100, .last = 148},
        {.first = 147, .last = 150}};
    LaunchInstr code[] = {
        {.op = LAUNCH_ARG_SCALAR, .dtype = DTYPE_I32, .result = DTYPE_I32, .a = 0},
        {.op = LAUNCH_ARG_EXTENT, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 0, .b = 1},
        {.op = LAUNCH_ARG_STRIDE, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 0, .b = 0},
        {.op = LAUNCH_ARG_BYTES, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 0},
        {.op = LAUNCH_ARG_DISJOINT, .dtype = DTYPE_BOOL, .result = DTYPE_BOOL, .a = 0, .b = 1},
        {.op = LAUNCH_CAST, .dtype = DTYPE_I32, .result = DTYPE_F64, .a = 0},
        {.op = LAUNCH_SELECT, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 4, .b = 1, .c = 3},
    };
    LaunchCode program = {7, code};
    uint64_t v[7];
    assert_true(launch_code_valid(&program, 2));
    launch_code_run(&program, in, v);
    assert_int_equal(v[0], 7);
    assert_int_equal(v[1], 4);
    assert_int_equal(v[2], 4);
    assert_int_equal(v[3], 48);
    assert_int_equal(v[4], 0);
    assert_int_equal(v[5], d(7));
    assert_int_equal(v[6], 48);
    in[1].first = 148;
    launch_code_run(&program, in, v);
    assert_int_equal(v[4], 1);
}

static void test_invalid(void **state) {
    (void)state;
    LaunchInstr self = {.op = LAUNCH_NEG, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 0};
    LaunchInstr unknown = {.op = LAUNCH_OPS, .dtype = DTYPE_I64, .result = DTYPE_I64};
    LaunchInstr packed = {.op = LAUNCH_CONST, .dtype = DTYPE_I4, .result = DTYPE_I4};
    LaunchInstr outside = {
        .op = LAUNCH_ARG_SCALAR, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 2};
    LaunchInstr dimension = {
        .op = LAUNCH_ARG_EXTENT, .dtype = DTYPE_I64, .result = DTYPE_I64, .b = 5};
    const LaunchInstr *bad[] = {&self, &unknown, &packed, &outside, &dimension};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(launch_code_valid(&(LaunchCode){1, bad[i]}, 2));
    assert_false(launch_code_valid(&(LaunchCode){LAUNCH_CODE_MAX + 1, NULL}, 0));
    // The fast path reads a second operand, also of an operation that has one.
    const LaunchInstr wide[] = {
        {.op = LAUNCH_CONST, .dtype = DTYPE_BOOL, .result = DTYPE_BOOL},
        {.op = LAUNCH_CAST, .dtype = DTYPE_BOOL, .result = DTYPE_I64, .b = UINT32_MAX}};
    assert_false(launch_code_valid(&(LaunchCode){2, wide}, 0));
}

// The number of programs that run at once is given by the caller; without one it is 1.
static void test_units(void **state) {
    (void)state;
    const LaunchInstr code[] = {
        {.op = LAUNCH_CONST, .dtype = DTYPE_I64, .result = DTYPE_I64, .imm = 100},
        {.op = LAUNCH_UNITS, .dtype = DTYPE_I64, .result = DTYPE_I64},
        {.op = LAUNCH_MIN, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 0, .b = 1}};
    const LaunchCode all = {3, code}, one = {1, code};
    uint64_t values[3];
    assert_true(launch_code_valid(&all, 0));
    assert_true(launch_code_asks_units(&all));
    assert_false(launch_code_asks_units(&one));
    launch_code_run(&all, NULL, values);
    assert_int_equal(values[2], 1);
    launch_code_run_with(&all, NULL, 528, values);
    assert_int_equal(values[1], 528);
    assert_int_equal(values[2], 100);
    assert_string_equal(launch_op_text(LAUNCH_UNITS), "units");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_wraps),
        cmocka_unit_test(test_wraps_by_the_way),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
