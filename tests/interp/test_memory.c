// Pointers and atomics: loads and stores lane by lane, every atomic on every type, scratch memory;
// and what sanitize has to find, each finding with a control that it must not report.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/tir.h"

// ---- loads and stores ---------------------------------------------------------------------------

static void loads_and_stores_by_pointers(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/masked_copy.tir");
    float x[8], y[16];
    for (int n = 0; n <= 8; n++) {
        for (int i = 0; i < 8; i++) x[i] = (float)i + 0.5F;
        memset(y, 0, sizeof y);
        IrArg args[] = {tir_pointer(x, 0), tir_pointer(y, sizeof y), tir_scalar((uint64_t)n)};
        assert_int_equal(tir_run(t, args, 3, 1), IR_RUN_DONE);
        for (int i = 0; i < 16; i++) {
            float want = i >= n && i < 2 * n ? 9 : i < n ? x[i] : i < 8 ? -1 : 0;
            assert_true(y[i] == want);
        }
    }
    tir_free(t);
}

// ---- atomics ------------------------------------------------------------------------------------

typedef struct Rmw {
    const char *name;
    IrOpcode op;  // IR_OPCODES: exchange
    unsigned classes;
} Rmw;
static const Rmw rmws[] = {
    {"add", IR_ADD, DTYPE_CLASS_NUMBER},
    {"sub", IR_SUB, DTYPE_CLASS_NUMBER},
    {"and", IR_AND, DTYPE_CLASS_INT | DTYPE_CLASS_BOOL},
    {"or", IR_OR, DTYPE_CLASS_INT | DTYPE_CLASS_BOOL},
    {"xor", IR_XOR, DTYPE_CLASS_INT | DTYPE_CLASS_BOOL},
    {"min", IR_MIN, DTYPE_CLASS_NUMBER},
    {"max", IR_MAX, DTYPE_CLASS_NUMBER},
    {"xchg", IR_OPCODES, DTYPE_CLASS_ANY},
};

static Tir *rmw_kernel(const char *op, const char *attrs, const char *operands, Dtype t,
                       bool view) {
    const char *e = dtype_name(t), *zero = t == DTYPE_BOOL ? "false" : "0";
    if (view)
        return tir_load(
            "kernel @k(%%p: view %s[4], %%x: view %s[8], %%i: view i64[8], %%m: view bool[8], "
            "%%r: view %s[8]) { body {\n"
            "%%0 = const {value = 0} : i64\n"
            "%%1 = view_load %%x, _, %%0 {select = [8]} : %s[8]\n"
            "%%2 = view_load %%i, _, %%0 {select = [8]} : i64[8]\n"
            "%%3 = view_load %%m, _, %%0 {select = [8]} : bool[8]\n"
            "%%4 = const {value = %s} : %s[8]\n"
            "%%5 = view_%s %%p, %s, %%2 {select = [0], %sorder = relaxed, scope = device} : %s[8]\n"
            "view_store %%r, %%5, _, %%0 {select = [8]}\n"
            "return\n} }",
            e, e, e, e, zero, e, op, operands, attrs, e);
    return tir_load(
        "kernel @k(%%p: *%s, %%x: view %s[8], %%i: view i64[8], %%m: view bool[8], "
        "%%r: view %s[8]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%x, _, %%0 {select = [8]} : %s[8]\n"
        "%%2 = view_load %%i, _, %%0 {select = [8]} : i64[8]\n"
        "%%3 = view_load %%m, _, %%0 {select = [8]} : bool[8]\n"
        "%%4 = const {value = %s} : %s[8]\n"
        "%%6 = broadcast %%p : *%s[8]\n"
        "%%7 = ptr_add %%6, %%2 : *%s[8]\n"
        "%%5 = atomic%s %%7, %s {%sorder = relaxed, scope = device} : %s[8]\n"
        "view_store %%r, %%5, _, %%0 {select = [8]}\n"
        "return\n} }",
        e, e, e, e, zero, e, e, e, op[6] ? op + 6 : "", operands, attrs, e);
}

static uint64_t some_number(Dtype t, int i) {
    int64_t v = (i * 5) % 7 - (dtype_signed(t) || dtype_is(t, DTYPE_CLASS_ANYFLOAT) ? 3 : 0);
    if (t == DTYPE_BOOL) return (uint64_t)v & 1;
    return dtype_is(t, DTYPE_CLASS_ANYFLOAT) ? dtype_from_double(t, (double)v, false)
                                             : dtype_wrap(t, (uint64_t)v);
}

// Eight lanes, pairs of which meet at one address; lanes 6 and 7 are masked off.
static void check_rmw(Tir *t, Dtype elem, IrOpcode op, bool cas, bool view) {
    uint64_t memory[4], x[8], r[8], want[4];
    int64_t index[8] = {0, 1, 2, 3, 0, 1, 0, 1}, four = 4, eight = 8;
    uint8_t mask[8] = {1, 1, 1, 1, 1, 1, 0, 0};
    memset(r, 0x77, sizeof r);
    for (int i = 0; i < 4; i++) {
        want[i] = some_number(elem, i + 1);
        if (cas && i < 2) want[i] = 0;
        dtype_store(elem, memory, (uint64_t)i, want[i]);
    }
    for (int i = 0; i < 8; i++) dtype_store(elem, x, (uint64_t)i, some_number(elem, 3 * i + 2));
    size_t size = 4 * dtype_size(elem);
    IrArg args[] = {view ? tir_view(memory, 1, &four) : tir_pointer(memory, size),
                    tir_view(x, 1, &eight), tir_view(index, 1, &eight), tir_view(mask, 1, &eight),
                    tir_view(r, 1, &eight)};
    assert_int_equal(tir_run(t, args, 5, 1), IR_RUN_DONE);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t *cell = &want[index[i]], value = dtype_load(elem, x, i);
        assert_int_equal(dtype_load(elem, r, i), mask[i] ? *cell : 0);
        if (!mask[i]) continue;
        uint64_t in[2] = {*cell, value};
        if (cas)
            *cell = *cell == 0 ? value : *cell;
        else if (op == IR_OPCODES)
            *cell = value;
        else
            assert_true(ir_eval(op, elem, in, cell));
    }
    for (uint64_t i = 0; i < 4; i++) assert_int_equal(dtype_load(elem, memory, i), want[i]);
}

static void atomics_on_every_type(void **state) {
    (void)state;
    for (int t = 0; t < DTYPES; t++)
        for (size_t k = 0; k <= sizeof rmws / sizeof *rmws; k++)
            for (int view = 0; view < 2; view++) {
                bool cas = k == sizeof rmws / sizeof *rmws;
                unsigned classes = cas ? (unsigned)DTYPE_CLASS_ANY : rmws[k].classes;
                if (!dtype_is((Dtype)t, classes)) continue;
                Arena *arena = arena_create();
                const char *attrs = cas ? "" : arena_printf(arena, "op = %s, ", rmws[k].name);
                const char *op = !cas ? "atomic" : view ? "cas" : "atomic_cas";
                Tir *kernel = rmw_kernel(op, attrs, cas ? "%4, %1, %3" : "%1, %3", (Dtype)t, view);
                check_rmw(kernel, (Dtype)t, cas ? IR_OPCODES : rmws[k].op, cas, view);
                tir_free(kernel);
                arena_destroy(arena);
            }
}

// ---- scratch ------------------------------------------------------------------------------------

static void scratch_is_poison_and_each_programs_own(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/scratch.tir");
    uint8_t r[3][2];
    IrArg args[] = {tir_view(r, 2, (int64_t[]){3, 2})};
    assert_int_equal(tir_run(t, args, 1, 3), IR_RUN_DONE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(r[i][0], 0xa5);
        assert_int_equal(r[i][1], 3);
    }
    t->launch.sanitize = true;
    assert_int_equal(tir_run(t, args, 1, 3), IR_RUN_FINDINGS);
    assert_true(tir_reported(t, "scratch.tir:5:"));
    assert_true(tir_reported(t, "scratch memory that nothing has written"));
    assert_int_equal(diags_errors(t->diags), 1);
    tir_free(t);
}

// ---- sanitize -----------------------------------------------------------------------------------

static void bounds_of_pointers(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%p: *i32, %%i: i64, %%r: view i32[1]) { body {\n"
        "%%0 = ptr_add %%p, %%i : *i32\n"
        "%%1 = load %%0, _, _ : i32\n"
        "%%2 = const {value = 5} : i32\n"
        "store %%0, %%2, _\n"
        "%%3 = const {value = 0} : i64\n"
        "view_store %%r, %%1, _, %%3 {select = [0]}\n"
        "return\n} }");
    static const int64_t places[] = {0,         7,         -1,        8,        INT64_MAX,
                                     INT64_MIN, 1LL << 40, 1LL << 61, 1LL << 62};
    for (int sanitize = 0; sanitize < 2; sanitize++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            int32_t memory[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, r = -1;
            int64_t one = 1;
            bool inside = ((uint64_t)places[k] * 4) / 4 < 8 && (uint64_t)places[k] * 4 < 32;
            IrArg args[] = {tir_pointer(memory + 1, 32), tir_scalar((uint64_t)places[k]),
                            tir_view(&r, 1, &one)};
            t->launch.sanitize = sanitize;
            tir_forget(t);
            IrOutcome outcome = tir_run(t, args, 3, 1);
            assert_int_equal(outcome, inside || !sanitize ? IR_RUN_DONE : IR_RUN_FINDINGS);
            assert_int_equal(r, inside ? 1 : 0);
            for (int i = 0; i < 10; i++) {
                bool hit = inside && i == 1 + (int)((uint64_t)places[k] * 4 / 4);
                assert_int_equal(memory[i], hit ? 5 : 1);
            }
            assert_int_equal(diags_errors(t->diags), outcome == IR_RUN_DONE ? 0 : 2);
        }
    int32_t memory[8] = {0}, r;
    int64_t one = 1;
    IrArg args[] = {tir_pointer(memory, 32), tir_scalar(11), tir_view(&r, 1, &one)};
    tir_run(t, args, 3, 2);
    assert_true(tir_reported(t, "test.tir:3:"));
    assert_true(tir_reported(t, "reads element 11 of 'p', a buffer of 8 elements"));
    assert_true(tir_reported(t, "writes element 11 of 'p'"));
    assert_true(tir_reported(t, "and 1 more like this"));
    assert_true(tir_reported(t, "[bounds]"));
    tir_free(t);
}

static void null_pointers_are_empty_buffers(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%p: *i32) { body {\n"
        "%%0 = load %%p, _, _ : i32\nstore %%p, %%0, _\nreturn\n} }");
    IrArg args[] = {tir_pointer(NULL, 0)};
    assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_DONE);
    t->launch.sanitize = true;
    assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_FINDINGS);
    tir_free(t);
}

static void misaligned_pointers(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%p: *i32) { body {\n"
        "%%0 = load %%p, _, _ : i32\nreturn\n} }");
    _Alignas(8) char memory[16] = {0};
    t->launch.sanitize = true;
    IrArg args[] = {{.data = memory, .base = memory, .size = 16}};
    assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_DONE);
    args[0].data = memory + 2;
    assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_FINDINGS);
    assert_true(tir_reported(t, "2 bytes past a multiple of 4"));
    tir_free(t);
}

static void assumptions(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%n: i64) { body {\n"
        "%%0 = const {value = 5} : i64\n"
        "%%1 = lt %%n, %%0 : bool\n"
        "assume %%1\nreturn\n} }");
    IrArg holds[] = {tir_scalar(4)}, fails[] = {tir_scalar(5)};
    assert_int_equal(tir_run(t, fails, 1, 1), IR_RUN_DONE);  // not looked at
    t->launch.sanitize = true;
    assert_int_equal(tir_run(t, holds, 1, 1), IR_RUN_DONE);
    assert_int_equal(tir_run(t, fails, 1, 3), IR_RUN_FINDINGS);
    assert_true(tir_reported(t, "test.tir:4:"));
    assert_true(tir_reported(t, "[assume]"));
    assert_true(tir_reported(t, "2 more"));
    tir_free(t);
}

// Program p does `op` at (p * stride) / divisor; is there a race?
static IrOutcome race(const char *body, int64_t programs, const char *said) {
    Tir *t = tir_load(
        "kernel @k(%%x: view i32[16], %%y: view i32[16]) { body {\n"
        "%%0 = program {dim = 0} : i64\n"
        "%%1 = const {value = 1} : i32\n"
        "%%2 = const {value = 0} : i64\n"
        "%%3 = const {value = 2} : i64\n"
        "%s"
        "return\n} }",
        body);
    int32_t x[16] = {0}, y[16] = {0};
    int64_t n = 16;
    IrArg args[] = {tir_view(x, 1, &n), tir_view(y, 1, &n)};
    t->launch.sanitize = true;
    IrOutcome outcome = tir_run(t, args, 2, programs);
    if (said) {
        assert_true(tir_reported(t, said));
        assert_true(tir_reported(t, "[race]"));
        assert_true(tir_reported(t, "test.tir:"));
    } else {
        assert_int_equal(diags_count(t->diags), 0);
    }
    tir_free(t);
    return outcome;
}

#define STORE(where) "view_store %x, %1, _, " where " {select = [0]}\n"
#define LOAD(to, where) to " = view_load %x, _, " where " {select = [0]} : i32\n"
#define ATOMIC(to, what, where, order)                                                     \
    to " = view_atomic " what ", %1, _, " where " {select = [0], op = add, order = " order \
       ", scope = device} : i32\n"

static void races_between_programs(void **state) {
    (void)state;
    // Each its own element; then all the same one; then halves that overlap.
    assert_int_equal(race(STORE("%0"), 4, NULL), IR_RUN_DONE);
    assert_int_equal(race(STORE("%2"), 1, NULL), IR_RUN_DONE);
    assert_int_equal(race(STORE("%2"), 4, "writes element 0 of 'x', which program 0 touches"),
                     IR_RUN_FINDINGS);
    assert_int_equal(race("%4 = div %0, %3 : i64\n" STORE("%4"), 4, "and 1 more"), IR_RUN_FINDINGS);
    // Reading what another writes, either way round; reading what all read.
    assert_int_equal(race(LOAD("%4", "%2"), 4, NULL), IR_RUN_DONE);
    assert_int_equal(race(LOAD("%4", "%2") STORE("%0"), 4, "reads element 0"), IR_RUN_FINDINGS);
    assert_int_equal(race(LOAD("%4", "%3") STORE("%0"), 3, "writes element 2"), IR_RUN_FINDINGS);
    // Atomics among themselves, and mixed with plain accesses.
    assert_int_equal(race(ATOMIC("%4", "%x", "%2", "relaxed"), 4, NULL), IR_RUN_DONE);
    assert_int_equal(race(ATOMIC("%4", "%x", "%2", "relaxed") LOAD("%5", "%2"), 4, "element 0"),
                     IR_RUN_FINDINGS);
    assert_int_equal(race(ATOMIC("%4", "%x", "%2", "relaxed") STORE("%2"), 4, "element 0"),
                     IR_RUN_FINDINGS);
}

// The last program may read what the others wrote, if they say so and it listens.
static void atomics_order_programs(void **state) {
    (void)state;
    assert_int_equal(
        race(STORE("%0") ATOMIC("%4", "%y", "%2", "acq_rel") LOAD("%5", "%2"), 4, NULL),
        IR_RUN_DONE);
    assert_int_equal(race(STORE("%0") ATOMIC("%4", "%y", "%2", "relaxed") LOAD("%5", "%2"), 4,
                          "reads element 0"),
                     IR_RUN_FINDINGS);
    assert_int_equal(race(STORE("%0") ATOMIC("%4", "%y", "%2", "acquire") LOAD("%5", "%2"), 4,
                          "reads element 0"),
                     IR_RUN_FINDINGS);
    // Released before the write: not ordered.
    assert_int_equal(race(ATOMIC("%4", "%y", "%2", "acq_rel") STORE("%0") LOAD("%5", "%2"), 4,
                          "reads element 0"),
                     IR_RUN_FINDINGS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_by_pointers),
        cmocka_unit_test(atomics_on_every_type),
        cmocka_unit_test(scratch_is_poison_and_each_programs_own),
        cmocka_unit_test(bounds_of_pointers),
        cmocka_unit_test(null_pointers_are_empty_buffers),
        cmocka_unit_test(misaligned_pointers),
        cmocka_unit_test(assumptions),
        cmocka_unit_test(races_between_programs),
        cmocka_unit_test(atomics_order_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
