// Every elementwise op of the table on every type it allows, through kernels: the interpreter's
// loops give ir_eval's bits. Also casts, selects, shapes and pointers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/tir.h"

enum { COUNT = 1024 };

static uint64_t random_state = 0x9e3779b97f4a7c15U;
static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static const double specials[] = {0.0, -0.0, 1.0,   -1.0, 0.5,   -1.5, 2.0,  3.5,
                                  7.0, 8.0,  1e-40, 1e30, -1e30, 31.0, 32.0, 64.0};

static uint64_t any_element(Dtype t, int i) {
    if (t == DTYPE_BOOL) return random_bits() & 1;
    if (dtype_is(t, DTYPE_CLASS_INT)) {
        uint64_t v = (i & 1) ? random_bits() : random_bits() % 80 - 8;
        return dtype_wrap(t, v);
    }
    if (i % 13 == 0) return dtype_from_double(t, (double)NAN, false);
    if (i % 17 == 0) return dtype_from_double(t, (i & 1) ? HUGE_VAL : -HUGE_VAL, false);
    if (i & 1) return dtype_from_double(t, specials[random_bits() % 16], false);
    uint64_t mask = dtype_bits(t) == 64 ? UINT64_MAX : (UINT64_C(1) << dtype_bits(t)) - 1;
    return random_bits() & mask;
}

static void fill(Dtype t, void *data) {
    for (int i = 0; i < COUNT; i++) dtype_store(t, data, (uint64_t)i, any_element(t, i));
}

static bool allowed(const IrOpInfo *info, Dtype t) {
    return dtype_is(t, DTYPE_CLASS_ANY) && (info->classes & (unsigned)dtype_class(t)) != 0;
}

static int operands_of(const IrOpInfo *info) {
    switch (info->rule) {
    case IR_RULE_UNARY: return 1;
    case IR_RULE_BINARY:
    case IR_RULE_SHIFT:
    case IR_RULE_COMPARE: return 2;
    case IR_RULE_TERNARY: return 3;
    default: return 0;  // not elementwise
    }
}

static Tir *elementwise_kernel(const IrOpInfo *info, Dtype t, int operands) {
    const char *elem = dtype_name(t);
    const char *result = info->rule == IR_RULE_COMPARE ? "bool" : elem;
    static const char *const lists[] = {"", "%1", "%1, %2", "%1, %2, %3"};
    return tir_load(
        "kernel @k(%%a: view %s[N], %%b: view %s[N], %%c: view %s[N], %%r: view %s[N]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%a, _, %%0 {select = [1024]} : %s[1024]\n"
        "%%2 = view_load %%b, _, %%0 {select = [1024]} : %s[1024]\n"
        "%%3 = view_load %%c, _, %%0 {select = [1024]} : %s[1024]\n"
        "%%4 = %s %s : %s[1024]\n"
        "view_store %%r, %%4, _, %%0 {select = [1024]}\n"
        "return\n} }",
        elem, elem, elem, result, elem, elem, elem, info->text, lists[operands], result);
}

static void check_op(IrOpcode code, Dtype t) {
    const IrOpInfo *info = ir_op_info(code);
    int operands = operands_of(info);
    static uint64_t data[3][COUNT], result[COUNT];
    for (int k = 0; k < 3; k++) fill(t, data[k]);
    Tir *kernel = elementwise_kernel(info, t, operands);
    int64_t n = COUNT;
    IrArg args[] = {tir_view(data[0], 1, &n), tir_view(data[1], 1, &n), tir_view(data[2], 1, &n),
                    tir_view(result, 1, &n)};
    assert_int_equal(tir_run(kernel, args, 4, 1), IR_RUN_DONE);
    Dtype to = info->rule == IR_RULE_COMPARE ? DTYPE_BOOL : t;
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t in[3], want = 0;
        for (int k = 0; k < 3; k++) in[k] = dtype_load(t, data[k], i);
        assert_true(ir_eval(code, t, in, &want));
        uint64_t got = dtype_load(to, result, i);
        if (got != want)
            fail_msg("%s %s(%llx, %llx): %llx, expected %llx", dtype_name(t), info->text,
                     (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)got,
                     (unsigned long long)want);
    }
    tir_free(kernel);
}

static void loops_agree_with_eval(void **state) {
    (void)state;
    int cells = 0;
    for (int code = 0; code < IR_OPCODES; code++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)code);
        if (operands_of(info) == 0) continue;
        for (int t = 0; t < DTYPES; t++)
            if (allowed(info, (Dtype)t)) {
                check_op((IrOpcode)code, (Dtype)t);
                cells++;
            }
    }
    assert_true(cells > 350);  // the table really was walked
}

// ---- casts --------------------------------------------------------------------------------------

static void check_cast(Dtype to, Dtype from, bool saturate) {
    static uint64_t data[COUNT], result[COUNT];
    fill(from, data);
    Tir *t = tir_load(
        "kernel @k(%%a: view %s[N], %%r: view %s[N]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%a, _, %%0 {select = [1024]} : %s[1024]\n"
        "%%2 = cast %%1 {saturate = %s} : %s[1024]\n"
        "view_store %%r, %%2, _, %%0 {select = [1024]}\n"
        "return\n} }",
        dtype_name(from), dtype_name(to), dtype_name(from), saturate ? "true" : "false",
        dtype_name(to));
    int64_t n = COUNT;
    IrArg args[] = {tir_view(data, 1, &n), tir_view(result, 1, &n)};
    assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_DONE);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t want = dtype_cast(to, from, dtype_load(from, data, i), saturate);
        assert_int_equal(dtype_load(to, result, i), want);
    }
    tir_free(t);
}

static void casts_between_all_types(void **state) {
    (void)state;
    for (int to = 0; to < DTYPES; to++)
        for (int from = 0; from < DTYPES; from++)
            if (dtype_is((Dtype)to, DTYPE_CLASS_ANY) && dtype_is((Dtype)from, DTYPE_CLASS_ANY)) {
                check_cast((Dtype)to, (Dtype)from, true);
                if (dtype_is((Dtype)to, DTYPE_CLASS_FP8)) check_cast((Dtype)to, (Dtype)from, false);
            }
}

// ---- select, bitcast ----------------------------------------------------------------------------

static void select_and_bitcast_move_bits(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/select_bitcast.tir");
    uint8_t c[8] = {0, 1, 0, 1, 1, 1, 0, 0};
    uint32_t a[8], b[8], r[16], u[8];
    for (uint32_t i = 0; i < 8; i++) {
        a[i] = 0x7fc00001U + i;  // NaNs with payloads
        b[i] = 0xff800001U + i;  // signalling ones
    }
    int64_t eight = 8, two_rows[2] = {2, 8};
    for (uint64_t s = 0; s < 2; s++) {
        IrArg args[] = {tir_view(c, 1, &eight),   tir_scalar(s),
                        tir_view(a, 1, &eight),   tir_view(b, 1, &eight),
                        tir_view(r, 2, two_rows), tir_view(u, 1, &eight)};
        assert_int_equal(tir_run(t, args, 6, 1), IR_RUN_DONE);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(r[i], c[i] ? a[i] : b[i]);
            assert_int_equal(r[8 + i], s ? a[i] : b[i]);
            assert_int_equal(u[i], a[i]);
        }
    }
    tir_free(t);
}

// ---- shapes -------------------------------------------------------------------------------------

// One kernel with all of them; each result is compared with its definition.
static void shapes_follow_their_definitions(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/shapes.tir");
    int32_t r[9][32];
    memset(r, 0, sizeof r);
    IrArg args[] = {tir_view(r, 2, (int64_t[]){9, 32})};
    assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_DONE);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(r[0][i], (i % 2) * 8 + i / 2);
        assert_int_equal(r[1][i], ((i / 2) % 2) * 8 + (i % 2) * 4 + i / 4);
    }
    for (int i = 0; i < 32; i++) {
        assert_int_equal(r[2][i], (i / 8) * 4 + i % 4);
        assert_int_equal(r[3][i], (i % 2) ? -(i / 2) : i / 2);
        assert_int_equal(r[4][i], i < 16 ? -i : i - 16);
        assert_int_equal(r[5][i], (i % 16) < 8 ? (i / 16) * 8 + i % 16 : -((i / 16) * 8 + i % 8));
        assert_int_equal(r[6][i], 9);
    }
    tir_free(t);
}

static void gather_gives_zero_outside(void **state) {
    (void)state;
    for (int axis = 0; axis < 2; axis++) {
        Tir *t = tir_load(
            "kernel @k(%%x: view f32[4, 8], %%i: view i64[4, 8], %%r: view f32[4, 8]) { body {\n"
            "%%0 = const {value = 0} : i64\n"
            "%%1 = view_load %%x, _, %%0, %%0 {select = [4, 8]} : f32[4,8]\n"
            "%%2 = view_load %%i, _, %%0, %%0 {select = [4, 8]} : i64[4,8]\n"
            "%%3 = gather %%1, %%2 {axis = %d} : f32[4,8]\n"
            "view_store %%r, %%3, _, %%0, %%0 {select = [4, 8]}\n"
            "return\n} }",
            axis);
        float x[4][8], r[4][8];
        int64_t index[4][8], shape[2] = {4, 8};
        static const int64_t choices[] = {0, 1, 3, 7, -1, 4, 8, INT64_MIN, INT64_MAX, 2};
        for (int k = 0; k < 32; k++) {
            x[k / 8][k % 8] = (float)k + 1;
            index[k / 8][k % 8] = choices[(k * 7) % 10];
        }
        IrArg args[] = {tir_view(x, 2, shape), tir_view(index, 2, shape), tir_view(r, 2, shape)};
        assert_int_equal(tir_run(t, args, 3, 1), IR_RUN_DONE);
        for (int k = 0; k < 32; k++) {
            int64_t at = index[k / 8][k % 8], extent = axis ? 8 : 4;
            float want = 0;
            if (at >= 0 && at < extent) want = axis ? x[k / 8][at] : x[at][k % 8];
            assert_true(r[k / 8][k % 8] == want);
        }
        tir_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_agree_with_eval),
        cmocka_unit_test(casts_between_all_types),
        cmocka_unit_test(select_and_bitcast_move_bits),
        cmocka_unit_test(shapes_follow_their_definitions),
        cmocka_unit_test(gather_gives_zero_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
