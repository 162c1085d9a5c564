// The shadow: every rule is tried on operands moved about inside their bounds, and no result may
// leave the bound that the rule gives; bounds are tight enough to notice 4 ulp; what is undecided
// says so.
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/internal.h"
#include "tests/support/tir.h"

static uint64_t random_state = 0xdeadbeefcafef00dU;
static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
static double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

static const Dtype floats[] = {DTYPE_F16,    DTYPE_BF16,   DTYPE_F32,        DTYPE_F64,
                               DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ};
enum { FLOATS = 8 };

// Does a target's element agree with the shadow? docs/numerics.md §6.
static bool accepted(Dtype t, uint64_t bits, ShadowValue s) {
    if (isinf(s.e)) return true;
    double x = shadow_exact(t, bits).v;
    if (isnan(s.v)) return isnan(x);
    if (isinf(s.v)) return x == s.v;
    return fabs(x - s.v) <= s.e;
}

// ---- single operations --------------------------------------------------------------------------

static uint64_t some_float(Dtype t) {
    double scale = ldexp(1, (int)(random_bits() % 14) - 7);
    double v = (random_unit() * 2 - 1) * scale;
    unsigned pick = (unsigned)(random_bits() % 40);
    if (pick == 0) v = 0;
    if (pick == 1) v = HUGE_VAL;
    if (pick == 2) v = (double)NAN;
    if (pick == 3) v = dtype_float(t)->greatest;
    if (pick == 4) v = ldexp(1, dtype_float(t)->min_exponent);
    if (pick == 5) v = rint(v);
    if (pick == 6) v = ldexp(v, dtype_float(t)->min_exponent);
    return dtype_from_double(t, v, false);
}

// A shadow that holds the element: often exact, else some ulp wide and off its middle.
static ShadowValue some_shadow(Dtype t, uint64_t bits) {
    ShadowValue s = shadow_exact(t, bits);
    if (!isfinite(s.v) || random_bits() % 4 == 0) return s;
    double width = half_ulp(t, s.v) * ldexp(1, (int)(random_bits() % 8));
    double off = (random_unit() * 2 - 1) * width;
    if (off == 0) return s;
    s.v += off;
    s.e = fabs(off) * (1 + 0x1p-50) + width * random_unit();
    s.e = fmax(s.e, fabs(shadow_exact(t, bits).v - s.v));  // in f64 the middle itself is rounded
    return s;
}

// An element of the type within the shadow: its ends, or anywhere between.
static uint64_t element_within(Dtype t, ShadowValue s, uint64_t own) {
    if (s.e == 0) return own;  // the sign of a zero, too
    static const double at[] = {-1, 1, 0, 2};
    double where = at[random_bits() % 4];
    if (where == 2) where = random_unit() * 2 - 1;
    uint64_t bits = dtype_from_double(t, s.v + where * s.e, false);
    return accepted(t, bits, s) ? bits : own;
}

static bool float_ops(const IrOpInfo *info, uint32_t *n) {
    *n = info->rule == IR_RULE_UNARY ? 1 : info->rule == IR_RULE_TERNARY ? 3 : 2;
    bool rule = info->rule == IR_RULE_UNARY || info->rule == IR_RULE_BINARY ||
                info->rule == IR_RULE_TERNARY || info->rule == IR_RULE_COMPARE;
    return rule && (info->classes & DTYPE_CLASS_FLOAT);
}

static void try_lane(const IrOpInfo *info, IrOpcode code, uint32_t n, Dtype t) {
    Dtype to = info->rule == IR_RULE_COMPARE ? DTYPE_BOOL : t;
    ShadowLane lane = {.code = code, .from = t, .to = to, .n = n};
    for (uint32_t k = 0; k < n; k++) {
        lane.bits[k] = some_float(t);
        lane.in[k] = some_shadow(t, lane.bits[k]);
    }
    assert_true(ir_eval(code, t, lane.bits, &lane.result));
    ShadowValue s = shadow_lane(&lane);
    for (int i = 0; i < 12; i++) {
        uint64_t in[3], other = 0;
        for (uint32_t k = 0; k < n; k++) in[k] = element_within(t, lane.in[k], lane.bits[k]);
        assert_true(ir_eval(code, t, in, &other));
        if (!accepted(to, other, s))
            fail_msg("%s %s: (%a ± %a), (%a ± %a), (%a ± %a) gives %a ± %a, but %a, %a, %a give %a",
                     dtype_name(t), info->text, lane.in[0].v, lane.in[0].e, lane.in[1].v,
                     lane.in[1].e, lane.in[2].v, lane.in[2].e, s.v, s.e, shadow_exact(t, in[0]).v,
                     n > 1 ? shadow_exact(t, in[1]).v : 0, n > 2 ? shadow_exact(t, in[2]).v : 0,
                     shadow_exact(to, other).v);
    }
}

static void rules_hold_what_operands_may_be(void **state) {
    (void)state;
    for (int code = 0; code < IR_OPCODES; code++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)code);
        uint32_t n;
        if (!float_ops(info, &n)) continue;
        for (int d = 0; d < FLOATS; d++)
            for (int i = 0; i < 1500; i++) try_lane(info, (IrOpcode)code, n, floats[d]);
    }
}

static void try_cast(Dtype to, Dtype from) {
    ShadowLane lane = {.code = IR_CAST, .from = from, .to = to, .n = 1};
    lane.saturate = random_bits() & 1;
    bool is_float = dtype_is(from, DTYPE_CLASS_ANYFLOAT);
    if (is_float) {
        lane.bits[0] = some_float(from);
        lane.in[0] = some_shadow(from, lane.bits[0]);
    } else {
        lane.bits[0] = dtype_wrap(from, random_bits() % 100);
        lane.in[0] = shadow_exact(from, lane.bits[0]);
        lane.in[0].e = (double)(random_bits() % 3);
    }
    lane.result = dtype_cast(to, from, lane.bits[0], lane.saturate);
    ShadowValue s = shadow_lane(&lane);
    for (int i = 0; i < 12; i++) {
        uint64_t in = is_float ? element_within(from, lane.in[0], lane.bits[0])
                               : lane.bits[0] + (lane.in[0].e > 0 ? random_bits() % 2 : 0);
        uint64_t other = dtype_cast(to, from, in, lane.saturate);
        if (!accepted(to, other, s))
            fail_msg("%s to %s: %a ± %a gives %a ± %a, but %llx gives %llx", dtype_name(from),
                     dtype_name(to), lane.in[0].v, lane.in[0].e, s.v, s.e, (unsigned long long)in,
                     (unsigned long long)other);
    }
}

static void casts_hold_what_the_operand_may_be(void **state) {
    (void)state;
    for (int to = 0; to < DTYPES; to++)
        for (int from = 0; from < DTYPES; from++) {
            bool number = dtype_is((Dtype)from, DTYPE_CLASS_NUMBER);
            if (!number || !dtype_is((Dtype)to, DTYPE_CLASS_ANY)) continue;
            for (int i = 0; i < 200; i++) try_cast((Dtype)to, (Dtype)from);
        }
}

// Exact operands: a result that is 4 ulp off is not accepted, by no rule.
static void four_ulp_are_noticed(void **state) {
    (void)state;
    for (int code = 0; code < IR_OPCODES; code++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)code);
        uint32_t n;
        if (!float_ops(info, &n) || info->rule == IR_RULE_COMPARE) continue;
        double reach = code == IR_ASIN || code == IR_ACOS ? 0.75 : 3;
        for (int d = 0; d < 4; d++) {
            int tried = 0;
            for (int i = 0; i < 300; i++) {
                Dtype t = floats[d];
                ShadowLane lane = {.code = (IrOpcode)code, .from = t, .to = t, .n = n};
                for (uint32_t k = 0; k < n; k++) {
                    lane.bits[k] = dtype_from_double(t, random_unit() * reach + 0.125, false);
                    lane.in[k] = shadow_exact(t, lane.bits[k]);
                }
                ir_eval((IrOpcode)code, t, lane.bits, &lane.result);
                ShadowValue s = shadow_lane(&lane);
                double v = shadow_exact(t, lane.result).v;
                if (v == 0 || !isfinite(v)) continue;
                tried++;
                assert_true(accepted(t, lane.result, s));
                if (accepted(t, lane.result + 4, s) || accepted(t, lane.result - 4, s))
                    fail_msg("%s %s: %a ± %a accepts 4 ulp from %a", dtype_name(t), info->text, s.v,
                             s.e, v);
            }
            assert_true(tried > 100);
        }
    }
}

// ---- chains -------------------------------------------------------------------------------------

static long double chain_step(IrOpcode code, long double a, long double b) {
    switch (code) {
    case IR_ADD: return a + b;
    case IR_SUB: return a - b;
    case IR_MUL: return a * b;
    case IR_DIV: return a / b;
    case IR_MAX: return a > b ? a : b;
    case IR_EXP: return expl(a);
    case IR_TANH: return tanhl(a);
    case IR_SIN: return sinl(a);
    case IR_SIGMOID: return 1 / (1 + expl(-a));
    default: return sqrtl(a);
    }
}

static const IrOpcode steps[] = {IR_ADD, IR_SUB,  IR_MUL, IR_DIV,     IR_MAX,
                                 IR_EXP, IR_TANH, IR_SIN, IR_SIGMOID, IR_SQRT};

enum { LANES = 64, LENGTH = 6 };

typedef struct Chain {
    IrOpcode code[LENGTH];
    int left[LENGTH], right[LENGTH];
} Chain;

static Tir *chain_kernel(const Chain *c, Dtype t) {
    Arena *arena = arena_create();
    StrBuf b = strbuf(arena);
    const char *e = dtype_name(t);
    strbuf_printf(&b,
                  "kernel @k(%%x: view %s[64], %%y: view %s[64], %%r: view %s[64]) "
                  "{math = [contract]} { body {\n"
                  "%%0 = view_load %%x, _, %%9 {select = [64]} : %s[64]\n"
                  "%%1 = view_load %%y, _, %%9 {select = [64]} : %s[64]\n",
                  e, e, e, e, e);
    for (int i = 0; i < LENGTH; i++) {
        const IrOpInfo *info = ir_op_info(c->code[i]);
        strbuf_printf(&b, "%%%d = %s %%%d", i + 2, info->text, c->left[i]);
        if (info->rule == IR_RULE_BINARY) strbuf_printf(&b, ", %%%d", c->right[i]);
        strbuf_printf(&b, " : %s[64]\n", e);
    }
    strbuf_printf(&b, "view_store %%r, %%%d, _, %%9 {select = [64]}\nreturn\n} }", LENGTH + 1);
    Str text = strbuf_str(&b);
    char *start = strstr(text.text, "body {\n") + 7;
    Tir *k = tir_load("%.*s%%9 = const {value = 0} : i64\n%s", (int)(start - text.text), text.text,
                      start);
    arena_destroy(arena);
    return k;
}

// With math(contract) rule E is off: every op adds its error. The long double result must be within
// the bound around the shadow, and so must the interpreter's own.
static void chains_stay_within_their_bounds(void **state) {
    (void)state;
    int decided = 0, noticed = 0, total = 0;
    for (int round = 0; round < 120; round++) {
        Dtype t = floats[round % 4];
        Chain c;
        for (int i = 0; i < LENGTH; i++) {
            c.code[i] = steps[random_bits() % 10];
            c.left[i] = (int)(random_bits() % (unsigned)(i + 2));
            c.right[i] = (int)(random_bits() % (unsigned)(i + 2));
        }
        c.left[LENGTH - 1] = LENGTH;
        static uint64_t x[LANES], y[LANES], r[LANES];
        for (uint64_t i = 0; i < LANES; i++) {
            dtype_store(t, x, i, dtype_from_double(t, random_unit() * 4 - 1, false));
            dtype_store(t, y, i, dtype_from_double(t, random_unit() * 2 + 0.5, false));
        }
        Tir *k = chain_kernel(&c, t);
        int64_t n = LANES;
        IrArg args[] = {tir_view(x, 1, &n), tir_view(y, 1, &n), tir_view(r, 1, &n)};
        k->launch.shadow = true;
        assert_int_equal(tir_run(k, args, 3, 1), IR_RUN_DONE);
        for (uint64_t i = 0; i < LANES; i++) {
            long double v[LENGTH + 2] = {dtype_to_double(t, dtype_load(t, x, i)),
                                         dtype_to_double(t, dtype_load(t, y, i))};
            for (int s = 0; s < LENGTH; s++)
                v[s + 2] = chain_step(c.code[s], v[c.left[s]], v[c.right[s]]);
            long double want = v[LENGTH + 1];
            IrShadow shadow;
            char *at = (char *)r + i * dtype_size(t);
            assert_true(ir_interp_shadow(k->interp, at, &shadow));
            total++;
            if (shadow.undecided) continue;
            decided++;
            ShadowValue s = {shadow.value, shadow.bound};
            uint64_t bits = dtype_load(t, r, i);
            assert_true(accepted(t, bits, s));
            // A value that overflows the type (rule O) does not overflow the long double.
            if (!isfinite(want) || !isfinite(s.v)) continue;
            assert_true(fabsl(want - (long double)s.v) <= (long double)s.e);
            // 4 ulp of a whole chain of six: most of the time visible, too.
            bool near_zero = fabs(s.v) < ldexp(1, dtype_float(t)->min_exponent + 4);
            noticed += near_zero || !accepted(t, bits + 16, s) || !accepted(t, bits - 16, s);
        }
        tir_free(k);
    }
    assert_true(decided > total * 7 / 10);
    assert_true(noticed > decided / 2);
}

// ---- sums ---------------------------------------------------------------------------------------

static void sums_in_any_order_are_within_the_bound(void **state) {
    (void)state;
    enum { N = 37 };
    for (int d = 0; d < FLOATS; d++)
        for (int round = 0; round < 40; round++) {
            Dtype t = floats[d];
            uint64_t bits[N];
            ShadowValue shadows[N];
            double values[N];
            for (int i = 0; i < N; i++) {
                bits[i] = dtype_from_double(t, random_unit() * 2 - 1, false);
                shadows[i] = (round & 1) ? some_shadow(t, bits[i]) : shadow_exact(t, bits[i]);
                values[i] = shadow_exact(t, bits[i]).v;
            }
            ShadowTerms terms = {t, N, bits, shadows};
            ShadowValue s = shadow_reduce(&terms, IR_REDUCE_SUM, 0);
            bool rule_s = (round & 1) == 0 && s.e == 0;
            for (int order = 0; order < 20 && !rule_s; order++) {
                for (int i = N - 1; i > 0; i--) {
                    int j = (int)(random_bits() % (unsigned)(i + 1));
                    double swap = values[i];
                    values[i] = values[j];
                    values[j] = swap;
                }
                float narrow = 0;
                double wide = 0;
                for (int i = 0; i < N; i++) {
                    narrow += (float)values[i];
                    wide += values[i];
                }
                uint64_t sum = dtype_from_double(t, t == DTYPE_F64 ? wide : (double)narrow, true);
                assert_true(accepted(t, sum, s));
            }
        }
}

static void whole_numbers_sum_exactly(void **state) {
    (void)state;
    uint64_t bits[100];
    ShadowValue shadows[100];
    for (int i = 0; i < 100; i++) {
        bits[i] = dtype_from_double(DTYPE_F32, i - 30, false);
        shadows[i] = shadow_exact(DTYPE_F32, bits[i]);
    }
    ShadowTerms terms = {DTYPE_F32, 100, bits, shadows};
    ShadowValue s = shadow_reduce(&terms, IR_REDUCE_SUM, dtype_from_double(DTYPE_F32, 1950, false));
    assert_true(s.e == 0 && s.v == 1950);
    shadows[0].v = 0x1p-23;  // now 30 bits are needed
    s = shadow_reduce(&terms, IR_REDUCE_SUM, dtype_from_double(DTYPE_F32, 1980, false));
    assert_true(s.e > 0);
}

// ---- through memory and control -----------------------------------------------------------------

// y = sum(x) in one program, z = 2 y in the next; the bound comes along through memory.
static void bounds_pass_through_memory(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/memory_bounds.tir");
    float x[64], y = 0, z[3] = {0};
    double sum = 0, magnitude = 0;
    for (int i = 0; i < 64; i++) {
        x[i] = (float)(random_unit() - 0.25);
        sum += (double)x[i];
        magnitude += fabs((double)x[i]);
    }
    IrArg args[] = {tir_view(x, 1, (int64_t[]){64}), tir_view(&y, 1, (int64_t[]){1}),
                    tir_view(z, 1, (int64_t[]){3})};
    t->launch.shadow = true;
    assert_int_equal(tir_run(t, args, 3, 2), IR_RUN_DONE);
    IrShadow s, twice;
    assert_true(ir_interp_shadow(t->interp, &y, &s));
    assert_true(fabs(s.value - sum) < 1e-12 && !s.undecided);
    double bound = 2 * 64 * 0x1p-24 * magnitude;
    assert_true(s.bound >= bound && s.bound < bound * 1.001);
    assert_true(ir_interp_shadow(t->interp, &z[0], &twice));
    assert_true(twice.value == 2 * s.value && twice.bound >= 2 * s.bound);
    assert_true(twice.bound < 2.1 * s.bound + 1e-6);
    assert_true(ir_interp_shadow(t->interp, &z[1], &s));
    assert_true(s.value == (double)x[1] && s.bound == 0);
    assert_false(ir_interp_shadow(t->interp, &z[2], &s));  // never written
    assert_false(ir_interp_shadow(t->interp, &x[0], &s));
    tir_free(t);
}

// A comparison that the bound can't decide: what hangs on it is not compared.
static void undecided_conditions_say_so(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/undecided.tir");
    float x[64], r[4], q[2], sum = 0;
    for (int i = 0; i < 64; i++) {
        x[i] = (float)random_unit();
        sum += x[i];
    }
    IrArg args[] = {tir_view(x, 1, (int64_t[]){64}), tir_scalar(0), tir_view(r, 1, (int64_t[]){4}),
                    tir_view(q, 1, (int64_t[]){2})};
    t->launch.shadow = true;
    for (int near = 0; near < 2; near++) {
        args[1] = tir_scalar(dtype_from_float(DTYPE_F32, near ? sum : sum + 1, false));
        assert_int_equal(tir_run(t, args, 4, 1), IR_RUN_DONE);
        IrShadow s[4], other;
        for (int i = 0; i < 4; i++) assert_true(ir_interp_shadow(t->interp, &r[i], &s[i]));
        assert_false(s[0].undecided);  // either value is near the other: select joins them
        assert_false(s[1].undecided);
        // A value that the branch not taken would have written is as unknown as one that was
        // written.
        bool known = ir_interp_shadow(t->interp, &q[1], &other);
        assert_true(known && other.undecided == (near != 0));
        assert_int_equal(s[2].undecided, near);
        assert_false(s[3].undecided);
        assert_true(near ? s[0].bound > 0 : s[0].bound == 0);
    }
    tir_free(t);
}

static void undecided_places_spoil_their_argument_only(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view f32[64], %%r: view f32[100], %%q: view f32[1]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%x, _, %%0 {select = [64]} : f32[64]\n"
        "%%2 = reduce _, %%1 {kind = sum, axis = 0} : f32\n"
        "%%3 = cast %%2 : i64\n"
        "view_store %%r, %%2, _, %%3 {select = [0]}\n"
        "view_store %%q, %%2, _, %%0 {select = [0]}\n"
        "return\n} }");
    float x[64], r[100], q;
    for (int i = 0; i < 64; i++) x[i] = i < 63 ? 0.1F : 0;
    float rest = 0;
    for (int i = 0; i < 63; i++) rest += x[i];
    x[63] = 7.0F - rest;  // the sum is 7, about
    IrArg args[] = {tir_view(x, 1, (int64_t[]){64}), tir_view(r, 1, (int64_t[]){100}),
                    tir_view(&q, 1, (int64_t[]){1})};
    args[1].base = r;
    args[1].size = sizeof r;
    t->launch.shadow = true;
    assert_int_equal(tir_run(t, args, 3, 1), IR_RUN_DONE);
    IrShadow s;
    assert_true(ir_interp_shadow(t->interp, &r[50], &s) && s.undecided);
    assert_true(ir_interp_shadow(t->interp, &q, &s) && !s.undecided);
    tir_free(t);
}

// Float atomics: the sum of all, in any order, and rule S for those that sum exactly.
static void atomic_sums_have_the_bound_of_sums(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view f32[N], %%r: view f32[1]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = program {dim = 0} : i64\n"
        "%%2 = view_load %%x, _, %%1 {select = [0]} : f32\n"
        "%%3 = view_atomic %%r, %%2, _, %%0 {select = [0], op = add, order = relaxed, scope = "
        "device}"
        " : f32\n"
        "return\n} }");
    float x[50], r = 0;
    double sum = 0, magnitude = 0;
    t->launch.shadow = true;
    IrArg args[] = {tir_view(x, 1, (int64_t[]){50}), tir_view(&r, 1, (int64_t[]){1})};
    for (int i = 0; i < 50; i++) x[i] = (float)(i - 20);
    assert_int_equal(tir_run(t, args, 2, 50), IR_RUN_DONE);
    IrShadow s;
    assert_true(ir_interp_shadow(t->interp, &r, &s));
    assert_true(s.bound == 0 && s.value == 225 && r == 225);
    r = 0;
    for (int i = 0; i < 50; i++) {
        x[i] = (float)(random_unit() * 2 - 1);
        sum += (double)x[i];
        magnitude += fabs((double)x[i]);
    }
    assert_int_equal(tir_run(t, args, 2, 50), IR_RUN_DONE);
    assert_true(ir_interp_shadow(t->interp, &r, &s));
    double bound = 2 * 50 * 0x1p-24 * magnitude;
    assert_true(fabs(s.value - sum) < 1e-12);
    assert_true(s.bound >= bound && s.bound < 1.001 * bound);
    tir_free(t);
}

// Atomics after a plain store add to the stored value.
static void a_store_ends_the_sum_of_atomics(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%r: view f32[N]) { body {\n"
        "%%0 = program {dim = 0} : i64\n"
        "%%1 = const {value = 0.1} : f32\n"
        "%%2 = const {value = 8.0} : f32\n"
        "%%3 = view_atomic %%r, %%1, _, %%0 {select = [0], op = add, order = relaxed, scope = "
        "device} : f32\n"
        "view_store %%r, %%2, _, %%0 {select = [0]}\n"
        "%%4 = view_atomic %%r, %%1, _, %%0 {select = [0], op = add, order = relaxed, scope = "
        "device} : f32\n"
        "return\n} }");
    float r[3] = {0, 100, -5};
    IrArg args[] = {tir_view(r, 1, (int64_t[]){3})};
    t->launch.shadow = true;
    assert_int_equal(tir_run(t, args, 1, 3), IR_RUN_DONE);
    for (int i = 0; i < 3; i++) {
        IrShadow s;
        assert_true(ir_interp_shadow(t->interp, &r[i], &s) && !s.undecided);
        assert_true(s.value == 8 + (double)0.1F && s.bound > 0 && s.bound < 1e-5);
        assert_true(fabs((double)r[i] - s.value) <= s.bound);
    }
    tir_free(t);
}

static float flushed(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }

// Products of bf16 on a device that takes subnormals as 0: numbers so small that it matters.
typedef struct SmallDot {
    Tir *t;
    uint16_t a[64], b[64];  // 8 by 8
    float c[64];
} SmallDot;

static void small_dot_fill(SmallDot *d, int exponent) {
    for (int i = 0; i < 64; i++) {
        double x = random_unit() * 2 - 1, y = random_unit() * 2 - 1;
        d->a[i] = (uint16_t)dtype_from_double(DTYPE_BF16, ldexp(x, exponent), false);
        d->b[i] =
            (uint16_t)dtype_from_double(DTYPE_BF16, ldexp(y, random_unit() < 0.5 ? 0 : 9), false);
    }
}

static float small_dot_on_device(const SmallDot *d, int row, int column) {
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        float x = flushed(dtype_to_float(DTYPE_BF16, d->a[row * 8 + k]));
        float y = flushed(dtype_to_float(DTYPE_BF16, d->b[k * 8 + column]));
        sum = flushed(fmaf(x, y, sum));
    }
    return sum;
}

// How many of the device's results the bounds refuse, for a device that flushes or one that does
// not; `widest` is the greatest bound.
static int small_dot_refused(SmallDot *d, bool flushes, double *widest) {
    IrArg args[] = {tir_view(d->a, 2, (int64_t[]){8, 8}), tir_view(d->b, 2, (int64_t[]){8, 8}),
                    tir_view(d->c, 2, (int64_t[]){8, 8})};
    d->t->launch.shadow = true;
    d->t->launch.flushes = flushes ? IR_FLUSHES_BF16 : IR_FLUSHES_NONE;
    assert_int_equal(tir_run(d->t, args, 3, 1), IR_RUN_DONE);
    int refused = 0;
    *widest = 0;
    for (int i = 0; i < 64; i++) {
        IrShadow s;
        assert_true(ir_interp_shadow(d->t->interp, &d->c[i], &s));
        assert_false(s.undecided);
        refused += fabs((double)small_dot_on_device(d, i / 8, i % 8) - s.value) > s.bound;
        *widest = fmax(*widest, s.bound);
    }
    return refused;
}

static void flushed_products_are_within_their_bound(void **state) {
    (void)state;
    SmallDot d = {0};
    d.t = tir_load(
        "kernel @k(%%a: view bf16[8, 8], %%b: view bf16[8, 8], %%c: view f32[8, 8]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%a, _, %%0, %%0 {select = [8, 8]} : bf16[8,8]\n"
        "%%2 = view_load %%b, _, %%0, %%0 {select = [8, 8]} : bf16[8,8]\n"
        "%%3 = dot %%1, %%2 {precision = ieee} : f32[8,8]\n"
        "view_store %%c, %%3, _, %%0, %%0 {select = [8, 8]}\n"
        "return\n} }");
    int plainly = 0;
    double flushing, keeping;
    // Operands about the least normal number, then sums only.
    for (int exponent = -133; exponent < -110; exponent++)
        for (int round = 0; round < 20; round++) {
            small_dot_fill(&d, exponent);
            plainly += small_dot_refused(&d, false, &keeping);
            assert_int_equal(small_dot_refused(&d, true, &flushing), 0);
            assert_true(flushing >= keeping);
            // No wider than what may be lost: all products with the operand, and each sum.
            assert_true(flushing <= keeping + (8 * 512 + 9) * 0x1p-126);
        }
    assert_true(plainly > 1000);  // it does matter
    // Numbers of usual size have the bound that they have anywhere.
    for (int i = 0; i < 64; i++) d.a[i] = d.b[i] = (uint16_t)(0x3f80 + (i & 1) * 0x80);
    assert_int_equal(small_dot_refused(&d, true, &flushing), 0);
    assert_true(flushing == 0);
    tir_free(d.t);
}

// A sum of three on the grid of the greatest: what is finer is cut off, and what has not the sign
// of the first lands a unit further from zero.
static double added_on_a_grid(const double x[3]) {
    int greatest = INT_MIN;
    double sum = 0;
    for (int i = 0; i < 3; i++)
        if (x[i] != 0) greatest = ilogb(x[i]) > greatest ? ilogb(x[i]) : greatest;
    if (greatest == INT_MIN) return 0;
    for (int i = 0; i < 3; i++) {
        double units = floor(ldexp(fabs(x[i]), 23 - greatest));
        bool opposes = x[i] != 0 && !signbit(x[i]) != !signbit(x[0]);
        sum += copysign(ldexp(units + opposes, greatest - 23), x[i]);
    }
    return (double)(float)sum;
}

static double pairs_on_device(const SmallDot *d, int row, int column) {
    double sum = 0;
    for (int k = 0; k < 8; k += 2) {
        double x[3] = {sum};
        for (int i = 0; i < 2; i++)
            x[i + 1] = dtype_to_double(DTYPE_F16, d->a[row * 8 + k + i]) *
                       dtype_to_double(DTYPE_F16, d->b[(k + i) * 8 + column]);
        sum = added_on_a_grid(x);
    }
    return sum;
}

static int pairs_refused(SmallDot *d, bool loose) {
    IrArg args[] = {tir_view(d->a, 2, (int64_t[]){8, 8}), tir_view(d->b, 2, (int64_t[]){8, 8}),
                    tir_view(d->c, 2, (int64_t[]){8, 8})};
    d->t->launch.shadow = true;
    d->t->launch.loose_pairs = loose;
    assert_int_equal(tir_run(d->t, args, 3, 1), IR_RUN_DONE);
    int refused = 0;
    for (int i = 0; i < 64; i++) {
        IrShadow s;
        assert_true(ir_interp_shadow(d->t->interp, &d->c[i], &s));
        double found = pairs_on_device(d, i / 8, i % 8);
        refused += fabs(found - s.value) > s.bound;
        // Not so wide that a product could be left out.
        assert_true(s.bound < 0x1p-16 * 8 * 64 * 64);
    }
    return refused;
}

// Small whole numbers, whose sums are exact everywhere else, and any numbers.
static void pairs_added_loosely_are_within_their_bound(void **state) {
    (void)state;
    SmallDot d = {0};
    d.t = tir_load(
        "kernel @k(%%a: view f16[8, 8], %%b: view f16[8, 8], %%c: view f32[8, 8]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%a, _, %%0, %%0 {select = [8, 8]} : f16[8,8]\n"
        "%%2 = view_load %%b, _, %%0, %%0 {select = [8, 8]} : f16[8,8]\n"
        "%%3 = dot %%1, %%2 {precision = ieee} : f32[8,8]\n"
        "view_store %%c, %%3, _, %%0, %%0 {select = [8, 8]}\n"
        "return\n} }");
    int strictly[2] = {0};
    for (int round = 0; round < 400; round++) {
        bool whole = round % 2;
        for (int i = 0; i < 64; i++) {
            double x = random_unit() * 128 - 64, y = random_unit() * 128 - 64;
            d.a[i] = (uint16_t)dtype_from_double(DTYPE_F16, whole ? floor(x) : x, false);
            d.b[i] = (uint16_t)dtype_from_double(DTYPE_F16, whole ? floor(y) : y, false);
        }
        strictly[whole] += pairs_refused(&d, false);
        assert_int_equal(pairs_refused(&d, true), 0);
    }
    assert_true(strictly[1] > 1000);  // it does matter
    tir_free(d.t);
}

// The same kernel with and without shadow: the same bits.
static void the_shadow_changes_no_result(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/shadow_mix.tir");
    uint16_t x[256], r[16], plain[16];
    for (int i = 0; i < 256; i++)
        x[i] = (uint16_t)dtype_from_double(DTYPE_F16, random_unit() * 0.5 - 0.25, false);
    IrArg args[] = {tir_view(x, 2, (int64_t[]){16, 16}), tir_view(r, 1, (int64_t[]){16})};
    assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_DONE);
    memcpy(plain, r, sizeof r);
    t->launch.shadow = true;
    assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_DONE);
    assert_memory_equal(plain, r, sizeof r);
    for (int i = 0; i < 16; i++) {
        IrShadow s;
        assert_true(ir_interp_shadow(t->interp, &r[i], &s));
        assert_false(s.undecided);
        assert_true(accepted(DTYPE_F16, r[i], (ShadowValue){s.value, s.bound}));
        assert_true(s.bound < 0.02 * s.value);
    }
    tir_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold_what_operands_may_be),
        cmocka_unit_test(casts_hold_what_the_operand_may_be),
        cmocka_unit_test(four_ulp_are_noticed),
        cmocka_unit_test(chains_stay_within_their_bounds),
        cmocka_unit_test(sums_in_any_order_are_within_the_bound),
        cmocka_unit_test(whole_numbers_sum_exactly),
        cmocka_unit_test(bounds_pass_through_memory),
        cmocka_unit_test(undecided_conditions_say_so),
        cmocka_unit_test(undecided_places_spoil_their_argument_only),
        cmocka_unit_test(atomic_sums_have_the_bound_of_sums),
        cmocka_unit_test(a_store_ends_the_sum_of_atomics),
        cmocka_unit_test(flushed_products_are_within_their_bound),
        cmocka_unit_test(pairs_added_loosely_are_within_their_bound),
        cmocka_unit_test(the_shadow_changes_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
