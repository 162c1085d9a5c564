// The passes' table of reductions (ir/reduce.h) says what the interpreter, which has its own, does:
// every built-in kind, on every type that it takes.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/reduce.h"
#include "tests/support/tir.h"

enum { MOST = 64 };

static const struct {
    const char *name;
    IrReduce kind;
    bool place, logic;
} kinds[] = {
    {"sum", IR_REDUCE_SUM, false, false},       {"prod", IR_REDUCE_PROD, false, false},
    {"min", IR_REDUCE_MIN, false, false},       {"max", IR_REDUCE_MAX, false, false},
    {"minnum", IR_REDUCE_MINNUM, false, false}, {"maxnum", IR_REDUCE_MAXNUM, false, false},
    {"argmin", IR_REDUCE_ARGMIN, true, false},  {"argmax", IR_REDUCE_ARGMAX, true, false},
    {"any", IR_REDUCE_ANY, false, true},        {"all", IR_REDUCE_ALL, false, true},
};
_Static_assert(sizeof kinds / sizeof *kinds == IR_REDUCE_CUSTOM, "all but custom are here");

static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }
static bool is_nan(Dtype t, uint64_t bits) {
    return is_float(t) && isnan(dtype_to_double(t, bits));
}

// Limits, zeros, ones, small and odd values; NaNs are left to the interpreter's own tests.
static uint32_t values_of(Dtype t, uint64_t *values) {
    static const double floats[] = {0,        -0.0,      1,    -1,    2,      -3,  0.5,  100,
                                    HUGE_VAL, -HUGE_VAL, 1e-3, -1e-3, 6.1e-5, 240, -448, 1e30};
    static const int64_t integers[] = {0, 1, -1, 2, -2, 7, 100, -100, INT64_MAX, INT64_MIN, 12345};
    uint32_t n = 0;
    if (t == DTYPE_BOOL) {
        values[n++] = 0, values[n++] = 1;
        return n;
    }
    if (is_float(t)) {
        for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
            uint64_t bits = dtype_from_double(t, floats[i], true);
            if (!is_nan(t, bits)) values[n++] = bits;
        }
        return n;
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        values[n++] = dtype_wrap(t, (uint64_t)integers[i]);
    values[n++] = dtype_int_max(t), values[n++] = dtype_wrap(t, (uint64_t)dtype_int_min(t));
    return n;
}

// Reduces pairs x[i], y[i]; `on` as the mask of all.
static void interpret(const char *kind, Dtype t, Dtype to, uint8_t on, const uint64_t *x,
                      const uint64_t *y, uint64_t *out) {
    Tir *k = tir_load(
        "kernel @k(%%x: view %s[2, 64], %%m: bool, %%r: view %s[64]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%x, _, %%0, %%0 {select = [2, 64]} : %s[2,64]\n"
        "%%2 = broadcast %%m : bool[2,64]\n"
        "%%3 = reduce %%2, %%1 {kind = %s, axis = 0} : %s[64]\n"
        "view_store %%r, %%3, _, %%0 {select = [64]}\n"
        "return\n} }",
        dtype_name(t), dtype_name(to), dtype_name(t), kind, dtype_name(to));
    uint64_t data[2 * MOST] = {0}, results[MOST];
    for (uint32_t i = 0; i < MOST; i++) {
        dtype_store(t, data, i, x[i]);
        dtype_store(t, data, MOST + i, y[i]);
    }
    IrArg args[] = {tir_view(data, 2, (int64_t[]){2, MOST}), tir_scalar(on),
                    tir_view(results, 1, (int64_t[]){MOST})};
    assert_int_equal(tir_run(k, args, 3, 1), IR_RUN_DONE);
    for (uint32_t i = 0; i < MOST; i++) out[i] = dtype_load(to, results, i);
    tir_free(k);
}

// In which two values are joined: narrow floats' sums and products in f32, rounded once.
static uint64_t joined(IrReduce kind, Dtype t, uint64_t x, uint64_t y) {
    bool adds = kind == IR_REDUCE_SUM || kind == IR_REDUCE_PROD;
    Dtype wide = adds && is_float(t) && t != DTYPE_F64 ? DTYPE_F32 : t;
    uint64_t operands[2] = {x, y}, result = 0;
    if (wide != t)
        for (int i = 0; i < 2; i++)
            operands[i] = dtype_from_float(wide, dtype_to_float(t, operands[i]), true);
    assert_true(ir_eval(ir_reduce_opcode(kind, wide), wide, operands, &result));
    return wide == t ? result : dtype_from_float(t, dtype_to_float(wide, result), true);
}

static bool same(Dtype t, uint64_t x, uint64_t y) {
    return x == y || (is_nan(t, x) && is_nan(t, y));
}

static void check_nothing(size_t c, Dtype t) {
    uint64_t zero[MOST] = {0}, out[MOST], shown = ir_reduce_identity(kinds[c].kind, t);
    if (kinds[c].kind == IR_REDUCE_SUM && is_float(t)) shown = 0;  // -0 is not shown
    if (kinds[c].place) shown = 0;
    interpret(kinds[c].name, t, kinds[c].place ? DTYPE_I32 : t, 0, zero, zero, out);
    if (out[0] != shown)
        fail_msg("%s of %s over nothing: %llx, expected %llx", kinds[c].name, dtype_name(t),
                 (unsigned long long)out[0], (unsigned long long)shown);
}

static void check_identity(size_t c, Dtype t, const uint64_t *values, uint32_t n) {
    uint64_t none = ir_reduce_identity(kinds[c].kind, t), x[MOST], nones[MOST], out[MOST];
    for (uint32_t i = 0; i < MOST; i++) x[i] = values[i % n], nones[i] = none;
    if (kinds[c].place) {  // nothing is worse than the identity
        interpret(kinds[c].name, t, DTYPE_I32, 1, x, nones, out);
        for (uint32_t i = 0; i < n; i++) assert_int_equal(out[i], 0);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t first = joined(kinds[c].kind, t, none, x[i]);
        uint64_t second = joined(kinds[c].kind, t, x[i], none);
        if (first != x[i] || second != x[i])
            fail_msg("%s of %s: the identity makes %llx and %llx of %llx", kinds[c].name,
                     dtype_name(t), (unsigned long long)first, (unsigned long long)second,
                     (unsigned long long)x[i]);
    }
}

static void check_pairs(size_t c, Dtype t, const uint64_t *values, uint32_t n) {
    uint64_t x[MOST], y[MOST], out[MOST];
    for (uint32_t first = 0; first < n; first++) {
        for (uint32_t i = 0; i < MOST; i++) x[i] = values[first], y[i] = values[i % n];
        interpret(kinds[c].name, t, t, 1, x, y, out);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t want = joined(kinds[c].kind, t, x[i], y[i]);
            if (!same(t, out[i], want))
                fail_msg("%s of %s of %llx and %llx: %llx, the op makes %llx", kinds[c].name,
                         dtype_name(t), (unsigned long long)x[i], (unsigned long long)y[i],
                         (unsigned long long)out[i], (unsigned long long)want);
        }
    }
}

static void both_tables_agree(void **state) {
    (void)state;
    uint64_t values[MOST];
    for (size_t c = 0; c < sizeof kinds / sizeof *kinds; c++)
        for (int type = 0; type < DTYPES; type++) {
            Dtype t = (Dtype)type;
            if (!dtype_is(t, ir_reduce_classes(kinds[c].kind))) continue;
            uint32_t n = values_of(t, values);
            check_nothing(c, t);
            check_identity(c, t, values, n);
            if (!kinds[c].place) check_pairs(c, t, values, n);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_tables_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
