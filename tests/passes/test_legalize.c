// legalize: the interpreter before and after it, op by op and type by type, for every machine.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/interp.h"
#include "tests/support/dice.h"
#include "tests/support/op_kernel.h"
#include "tests/support/slice.h"

#ifdef TEST_LONG
enum { PAIRS = 1 << 20, FMAS = 1 << 22 };
#else
enum { PAIRS = 1 << 15, FMAS = 1 << 16 };
#endif

static const CpuTarget targets[] = {
    {CPU_X86_64_V2, 0}, {CPU_X86_64_V3, 0}, {CPU_X86_64_V4, CPU_FP16}, {CPU_AARCH64, 0}};
enum { TARGETS = sizeof targets / sizeof *targets, SLICES = 16 };
static const Dtype narrow[] = {DTYPE_F16,    DTYPE_BF16,       DTYPE_F8E4M3,
                               DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ};
enum { NARROW = sizeof narrow / sizeof *narrow };

// ---- comparing ----------------------------------------------------------------------------------

static void *room(size_t count, Dtype t) {
    void *data = calloc(count, dtype_size(t));
    assert_non_null(data);
    return data;
}

static bool is_narrow(const IrValue *x) {
    if (!x || x->type->kind != IR_TILE) return false;
    for (int i = 0; i < NARROW; i++)
        if (x->type->elem == narrow[i]) return true;
    return false;
}

// Nothing is left that codegen has no translation for.
static bool is_legal(const IrOp *op, const Machine *m) {
    if (op->code == IR_FMA && !m->fma) return false;
    IrRule rule = ir_op_info(op->code)->rule;
    bool computes = rule == IR_RULE_UNARY || rule == IR_RULE_BINARY || rule == IR_RULE_COMPARE ||
                    rule == IR_RULE_TERNARY || rule == IR_RULE_CAST;
    bool touches = is_narrow(ir_result(op, 0)) || is_narrow(ir_operand(op, 0));
    if (!computes || !touches) return true;
    Dtype from = ir_operand(op, 0)->type->elem, to = ir_result(op, 0)->type->elem;
    if (op->code != IR_CAST) return m->f16 && from == DTYPE_F16;
    bool plain = from == DTYPE_F32 || to == DTYPE_F32;
    bool wide = to == DTYPE_F64 || (from == DTYPE_F64 && m->f16);
    bool half = from == DTYPE_F16 || to == DTYPE_F16;
    return half && (plain || wide) && (m->f16_convert || m->f16);
}

static void check_legal(const OpKernel *k, const Machine *m, const char *line) {
    IR_EACH_OP(op, ir_body(k->func)) {
        if (op->result_count == 0 || op->operand_count == 0 || !ir_operand(op, 0)) continue;
        if (!is_legal(op, m)) fail_msg("%s: %s is left", line, ir_op_info(op->code)->text);
    }
}

typedef struct Data {
    size_t count;
    void *x, *y, *z;
} Data;

static void check(const char *line, Dtype in, Dtype out, const Data *d) {
    void *want = room(d->count, out), *got = room(d->count, out);
    OpKernel plain = op_kernel(line, in, out, "", NULL);
    op_kernel_run(&plain, d->count, d->x, d->y, d->z, want);
    op_kernel_free(&plain);
    for (int t = 0; t < TARGETS; t++) {
        Machine m = machine_of_cpu(targets[t]);
        OpKernel legal = op_kernel(line, in, out, "legalize,cse,dce", &m);
        check_legal(&legal, &m, line);
        op_kernel_run(&legal, d->count, d->x, d->y, d->z, got);
        op_kernel_free(&legal);
        for (size_t i = 0; i < d->count; i++) {
            uint64_t a = dtype_load(out, want, i), b = dtype_load(out, got, i);
            if (a == b || (dtype_is_nan(out, a) && dtype_is_nan(out, b))) continue;
            fail_msg("%s, target %d: of 0x%llx, 0x%llx, 0x%llx expected 0x%llx, found 0x%llx", line,
                     t, (unsigned long long)dtype_load(in, d->x, i),
                     (unsigned long long)dtype_load(in, d->y, i),
                     (unsigned long long)dtype_load(in, d->z, i), (unsigned long long)a,
                     (unsigned long long)b);
        }
    }
    free(want), free(got);
}

static void data_free(Data *d) { free(d->x), free(d->y), free(d->z); }

// Every value of an 8- or 16-bit type; of 8-bit ones with every other as second operand.
static Data every(Dtype t) {
    Data d = {1 << 16, room(1 << 16, t), room(1 << 16, t), room(1 << 16, t)};
    Dice dice = dice_roll(3);
    bool byte = dtype_bits(t) == 8;
    for (size_t i = 0; i < d.count; i++) {
        uint64_t bits = t == DTYPE_BOOL ? i & 1 : i;
        dtype_store(t, d.x, i, byte && t != DTYPE_BOOL ? bits & 0xff : bits);
        dtype_store(t, d.y, i, byte ? bits >> 8 & (t == DTYPE_BOOL ? 1 : 0xff) : dice_next(&dice));
        dtype_store(t, d.z, i, t == DTYPE_BOOL ? 0 : dice_next(&dice));
    }
    return d;
}

// ---- narrow types -------------------------------------------------------------------------------

static void unary_ops(void **state) {
    (void)state;
    static const char *const ops[] = {"neg", "abs", "floor", "ceil", "round", "sqrt"};
    for (int n = 0; n < NARROW; n++) {
        Data d = every(narrow[n]);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            char line[96];
            snprintf(line, sizeof line, "%%9 = %s %%3 : %s[%d]", ops[i], dtype_name(narrow[n]),
                     OP_LANES);
            check(line, narrow[n], narrow[n], &d);
        }
        data_free(&d);
    }
}

// Operands of 16-bit types: any bits, near ones, those whose products and sums are subnormal or
// tie.
static Data pairs_of(Dtype t, uint64_t seed) {
    Data d = {PAIRS, room(PAIRS, t), room(PAIRS, t), room(PAIRS, t)};
    Dice dice = dice_roll(seed + slice_begin(SLICES, 1000));
    uint64_t mask = (UINT64_C(1) << (dtype_bits(t) - 1)) - 1;
    for (size_t i = 0; i < d.count; i++) {
        uint64_t x = dice_next(&dice), y = dice_next(&dice), z = dice_next(&dice);
        if (i % 4 == 1) y = x ^ (dice_next(&dice) & 0xf);
        if (i % 4 == 2) x &= mask >> 4, z &= mask >> 5;  // small
        if (i % 8 == 3) z = dice_next(&dice) & ~mask;    // zeros
        dtype_store(t, d.x, i, x), dtype_store(t, d.y, i, y), dtype_store(t, d.z, i, z);
    }
    return d;
}

static void binary_ops(void **state) {
    (void)state;
    static const char *const ops[] = {"add", "sub", "mul", "div", "rem", "min", "max",
                                      "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "fma"};
    for (int n = 0; n < NARROW; n++) {
        Dtype t = narrow[n];
        Data d = dtype_bits(t) == 8 ? every(t) : pairs_of(t, (uint64_t)n + 9);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            bool compares = i >= 7 && i < 13;
            char line[96];
            snprintf(line, sizeof line, "%%9 = %s %%3, %%4%s : %s[%d]", ops[i],
                     i == 13 ? ", %5" : "", compares ? "bool" : dtype_name(t), OP_LANES);
            check(line, t, compares ? DTYPE_BOOL : t, &d);
        }
        data_free(&d);
    }
}

// ---- casts --------------------------------------------------------------------------------------

// Any bits of a wide type; floats near the narrow types' numbers and the middles between them.
static Data wide_values(Dtype from, Dtype to) {
    Data d = {PAIRS, room(PAIRS, from), room(PAIRS, from), room(PAIRS, from)};
    Dice dice = dice_roll((uint64_t)from * 31 + (uint64_t)to);
    for (size_t i = 0; i < d.count; i++) {
        uint64_t bits = dice_next(&dice);
        if (dtype_is(from, DTYPE_CLASS_FLOAT)) {
            uint64_t low = dtype_wrap(to, dice_next(&dice));
            double a = dtype_to_double(to, low), b = dtype_to_double(to, dtype_wrap(to, low + 1));
            uint64_t near = dtype_from_double(from, i % 2 ? a : a + (b - a) / 2, false);
            if (i % 4) bits = near + dice_below(&dice, 3) - 1;
        } else {
            bits >>= dice_below(&dice, 64);
            if (i % 3 == 0)
                bits = (UINT64_C(1) << dice_below(&dice, 64)) + dice_below(&dice, 3) - 1;
            if (i % 3 == 1) bits = 0 - bits;
        }
        dtype_store(from, d.x, i, dtype_wrap(from, bits));
    }
    return d;
}

static void check_casts(Dtype from, Dtype to, const Data *d) {
    for (int saturate = 0; saturate < 2; saturate++) {
        char line[96];
        snprintf(line, sizeof line, "%%9 = cast %%3%s : %s[%d]",
                 saturate ? " {saturate = true}" : "", dtype_name(to), OP_LANES);
        check(line, from, to, d);
    }
}

static const Dtype others[] = {DTYPE_BOOL, DTYPE_I8,  DTYPE_U8,  DTYPE_I16, DTYPE_U16, DTYPE_I32,
                               DTYPE_U32,  DTYPE_I64, DTYPE_U64, DTYPE_F32, DTYPE_F64};
enum { OTHERS = sizeof others / sizeof *others };

static void casts_from_narrow(void **state) {
    (void)state;
    for (int n = 0; n < NARROW; n++) {
        Data d = every(narrow[n]);
        for (int i = 0; i < OTHERS; i++) check_casts(narrow[n], others[i], &d);
        for (int i = 0; i < NARROW; i++) check_casts(narrow[n], narrow[i], &d);
        data_free(&d);
    }
}

static void casts_to_narrow(void **state) {
    (void)state;
    for (int n = 0; n < NARROW; n++)
        for (int i = 0; i < OTHERS; i++) {
            Dtype from = others[i];
            Data d = dtype_bits(from) <= 16 ? every(from) : wide_values(from, narrow[n]);
            check_casts(from, narrow[n], &d);
            data_free(&d);
        }
}

// ---- fma of f32 and f64 -------------------------------------------------------------------------

static double any_double(Dice *dice, int kind, int spread) {
    static const double edges[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0x1p-1074,
                                   -0x1p-1074,
                                   0x1p-1022,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   0x1.fffffffffffffp1023,
                                   -0x1.fffffffffffffp1023,
                                   0x1p-149,
                                   0x1.fffffep127,
                                   0x1.fffffffffffffp-1,
                                   0x1p-537};
    if (kind == 0) return edges[dice_below(dice, sizeof edges / sizeof *edges)];
    uint64_t bits = dice_next(dice);
    if (kind == 1) bits &= ~UINT64_C(0) << dice_below(dice, 53);  // few bits: ties
    double r;
    bits = (bits & UINT64_C(0x800fffffffffffff)) | UINT64_C(1023) << 52;
    memcpy(&r, &bits, sizeof r);
    return ldexp(r, (int)dice_below(dice, 2 * (uint64_t)spread) - spread);
}

static void fill_fma(Dtype t, Data *d) {
    Dice dice = dice_roll(12);
    int reach = t == DTYPE_F64 ? 1075 : 150, precision = dtype_float(t)->precision;
    for (size_t i = 0; i < d->count; i++) {
        int spread = i % 2 ? reach : reach / 2;
        double x = any_double(&dice, (int)dice_below(&dice, 24), spread);
        double y = any_double(&dice, (int)dice_below(&dice, 24), spread);
        double z = any_double(&dice, (int)dice_below(&dice, 24), reach);
        // c near the product, to the last place below it and beyond.
        if (i % 3 == 0) z = ldexp(-x * y, 0);
        // c cancels the high part of the product, and the low part is a power of two.
        if (i == 3) x = 0x1.fffffep127, y = 0x0.00009dda5ba7ep-1022, z = -0x1.3bb4b6140b48bp-911;
        if (i % 33 == 6) {
            x = ldexp(1 + ldexp(1, -(int)dice_below(&dice, 53)), spread / 4);
            y = 1 + ldexp(1, -(int)dice_below(&dice, 53)), z = -x * y;
        }
        if (i % 3 == 1)
            z = ldexp(any_double(&dice, 1, 1) * x * y,
                      (int)dice_below(&dice, 4 * (uint64_t)precision) - 2 * precision);
        // Products at the subnormals' edge.
        if (i % 5 == 0) {
            int at = dtype_float(t)->min_exponent - (int)dice_below(&dice, (uint64_t)precision + 3);
            y = any_double(&dice, 1 + (int)dice_below(&dice, 2), 1);
            x = ldexp(any_double(&dice, 1 + (int)dice_below(&dice, 2), 1), at);
            z = i % 2 ? 0 : ldexp(any_double(&dice, 1, 2), at - (int)dice_below(&dice, 60));
        }
        dtype_store(t, d->x, i, dtype_from_double(t, x, false));
        dtype_store(t, d->y, i, dtype_from_double(t, y, false));
        dtype_store(t, d->z, i, dtype_from_double(t, z, false));
    }
}

static void fused(void **state) {
    (void)state;
    static const Dtype types[] = {DTYPE_F32, DTYPE_F64};
    for (int n = 0; n < 2; n++) {
        Dtype t = types[n];
        Data d = {FMAS, room(FMAS, t), room(FMAS, t), room(FMAS, t)};
        fill_fma(t, &d);
        char line[96];
        snprintf(line, sizeof line, "%%9 = fma %%3, %%4, %%5 : %s[%d]", dtype_name(t), OP_LANES);
        check(line, t, t, &d);
        data_free(&d);
    }
}

// ---- ops of the level ---------------------------------------------------------------------------

enum { LANES = 16 };

static const char level_kernel[] =
    "kernel @k(%%x: *%s, %%r: *%s) {level = cpu} {\n"
    "  body {\n"
    "    %%0 = cpu.load %%x, _, _ : %s[16]\n"
    "    %%1 = vec.reduce %%0 {kind = %s} : %s\n"
    "    store %%r, %%1, _\n"
    "    %%2 = load %%x, _, _ : %s\n"
    "    %%3 = atomic %%r, %%2, _ {op = %s, order = acq_rel, scope = device} : %s\n"
    "    %%4 = const {value = 1} : i64\n"
    "    %%5 = ptr_add %%r, %%4 : *%s\n"
    "    store %%5, %%3, _\n"
    "    %%6 = const {value = false} : bool\n"
    "    %%7 = atomic %%5, %%2, %%6 {op = %s, order = relaxed, scope = system} : %s\n"
    "    %%8 = ptr_add %%5, %%4 : *%s\n"
    "    store %%8, %%7, _\n"
    "    return\n"
    "  }\n"
    "}\n";

// The kernel's results: the reduction after an atomic, the value that the atomic found, and that of
// a masked one.
static void run_level(Dtype t, const char *reduce, const char *rmw, const char *passes,
                      const void *x, void *r) {
    PassWorld w = pass_world();
    const char *n = dtype_name(t);
    char text[1200];
    snprintf(text, sizeof text, level_kernel, n, n, n, reduce, n, n, rmw, n, n, rmw, n, n);
    IrModule *m = pass_parse(&w, text);
    bool changed = pass_run(&w, m, passes);
    assert_true(changed || !*passes);
    union {
        const void *given;
        void *data;
    } in = {x};
    IrArg args[2] = {{.data = in.data}, {.data = r}};
    args[0].base = x, args[0].size = LANES * dtype_size(t);
    args[1].base = r, args[1].size = 4 * dtype_size(t);
    IrLaunch launch = {.args = args, .arg_count = 2, .grid = {1, 1, 1}};
    IrInterp *interp = ir_interp_create(w.arena, m->funcs.data[0]);
    assert_int_equal(ir_interp_run(interp, &launch, w.diags), IR_RUN_DONE);
    ir_interp_destroy(interp);
    pass_world_free(&w);
}

static void reductions_and_atomics(void **state) {
    (void)state;
    static const char *const reduces[] = {"sum", "prod", "min", "max"};
    static const char *const rmws[] = {"add", "sub", "min", "max"};
    for (int n = 0; n < NARROW; n++)
        for (int i = 0; i < 4; i++)
            for (uint64_t round = 0; round < 8; round++) {
                uint64_t x[LANES] = {0}, want[4] = {0}, got[4] = {0};
                Dice dice = dice_roll(slice_begin(SLICES, 8) + round);
                for (int k = 0; k < LANES; k++) {
                    double v = ldexp((double)dice_below(&dice, 64) - 31, -4);
                    dtype_store(narrow[n], x, (uint64_t)k, dtype_from_double(narrow[n], v, true));
                }
                run_level(narrow[n], reduces[i], rmws[i], "", x, want);
                run_level(narrow[n], reduces[i], rmws[i], "legalize", x, got);
                for (uint64_t k = 0; k < 3; k++)
                    assert_int_equal(dtype_load(narrow[n], want, k), dtype_load(narrow[n], got, k));
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary_ops),
        cmocka_unit_test(binary_ops),
        cmocka_unit_test(casts_from_narrow),
        cmocka_unit_test(casts_to_narrow),
        cmocka_unit_test(fused),
        cmocka_unit_test(reductions_and_atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
