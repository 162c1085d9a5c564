// Float instructions and conversions: against the host's own arithmetic in each rounding mode, and
// the formats of base/dtype.
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "tests/support/warp.h"

enum { LANES = 32, ROUNDS = 20 };

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static float float_of(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}

// Numbers of all sizes; many close to one another; special ones.
static uint32_t random_float(uint32_t *s) {
    static const uint32_t special[] = {0,          0x80000000, 1,          0x807fffff, 0x7f800000,
                                       0xff800000, 0x7fc00000, 0x7f7fffff, 0x3f800000, 0x00800000};
    *s = *s * 1664525u + 1013904223u;
    uint32_t v = *s >> 4 ^ *s << 11;
    if (v % 11 == 0) return special[v / 11 % 10];
    if (v % 3 == 0) return (v & 0x807fffff) | (uint32_t)(120 + v / 3 % 16) << 23;
    return v;
}

static void run_lanes(const char *arch, const char *body, uint32_t (*in)[4], uint64_t (*out)[2]) {
    Arena *arena = arena_create();
    const char *text = arena_printf(
        arena,
        "add.s64 %%rd61, %%rd61, %%rd62; ld.global.v4.b32 {%%r0, %%r1, %%r2, %%r3}, [%%rd61];"
        "mov.b32 %%f0, %%r0; mov.b32 %%f1, %%r1; mov.b32 %%f2, %%r2;"
        "mov.b64 %%rd0, {%%r0, %%r1}; mov.b64 %%rd1, {%%r2, %%r3}; mov.u64 %%rd4, 0;\n%s\n"
        "st.global.u64 [%%rd63], %%rd4;",
        body);
    Warp w;
    warp_open(&w, warp_kernel(arena, arch, text));
    uint64_t args[] = {warp_alloc(&w, LANES * 16), warp_upload(&w, in, LANES * 16)};
    warp_run_ok(&w, "k", 1, LANES, 0, args, 2);
    warp_download(&w, args[0], out, LANES * 16);
    warp_close(&w);
    arena_destroy(arena);
}

typedef enum Op { ADD, SUB, MUL, DIV, FMA, SQRT } Op;
static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static const char *const mode_names[] = {"rn", "rz", "rm", "rp"};

static float host32(Op op, int mode, float x, float y, float z) {
    volatile float a = x, b = y, c = z, r = 0;
    fesetround(modes[mode]);
    switch (op) {
    case ADD: r = a + b; break;
    case SUB: r = a - b; break;
    case MUL: r = a * b; break;
    case DIV: r = a / b; break;
    case FMA: r = fmaf(a, b, c); break;
    case SQRT: r = sqrtf(a); break;
    }
    fesetround(FE_TONEAREST);
    return r;
}
static double host64(Op op, int mode, double x, double y, double z) {
    volatile double a = x, b = y, c = z, r = 0;
    fesetround(modes[mode]);
    switch (op) {
    case ADD: r = a + b; break;
    case SUB: r = a - b; break;
    case MUL: r = a * b; break;
    case DIV: r = a / b; break;
    case FMA: r = fma(a, b, c); break;
    case SQRT: r = sqrt(a); break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static void test_f32(void **state) {
    (void)state;
    static const char *const texts[] = {"add", "sub", "mul", "div", "fma", "sqrt"};
    static const char *const operands[] = {"%f0, %f1", "%f0, %f1",      "%f0, %f1",
                                           "%f0, %f1", "%f0, %f1, %f2", "%f0"};
    uint32_t seed = 11, in[LANES][4];
    uint64_t out[LANES][2];
    for (int op = 0; op < 6; op++)
        for (int mode = 0; mode < 4; mode++)
            for (int round = 0; round < ROUNDS; round++) {
                char body[128];
                snprintf(body, sizeof body,
                         "%s.%s.f32 %%f4, %s; mov.b32 %%r4, %%f4;"
                         "cvt.u64.u32 %%rd4, %%r4;",
                         texts[op], mode_names[mode], operands[op]);
                for (int i = 0; i < 4 * LANES; i++) in[i / 4][i % 4] = random_float(&seed);
                run_lanes("sm_80", body, in, out);
                for (int l = 0; l < LANES; l++) {
                    float want = host32((Op)op, mode, float_of(in[l][0]), float_of(in[l][1]),
                                        float_of(in[l][2]));
                    uint32_t got = (uint32_t)out[l][0];
                    uint32_t expected = want != want ? 0x7fffffff : bits_of(want);
                    if (got != expected)
                        fail_msg("%s of %08x %08x %08x: %08x, wanted %08x", body, in[l][0],
                                 in[l][1], in[l][2], got, expected);
                }
            }
}

// The results of f32 on narrow operands that have been widened.
static void test_widened(void **state) {
    (void)state;
    static const char *const types[] = {"f16", "bf16"}, *const texts[] = {"add", "sub", "fma"};
    uint32_t seed = 17, in[LANES][4];
    uint64_t out[LANES][2];
    for (int t = 0; t < 2; t++)
        for (int op = 0; op < 3; op++)
            for (int mode = 0; mode < 4; mode++) {
                char body[512];
                const char *name = texts[op], *round = mode_names[mode], *type = types[t];
                bool two = op == 2;
                snprintf(body, sizeof body,
                         "{.reg .b16 %%x, %%y, %%z; mov.b32 {%%x, %%z}, %%r0; mov.b32 {%%y, %%z}, "
                         "%%r1; cvt.f32.%s %%f0, %%x; cvt.f32.%s %%f1, %%y;"
                         "%s.%s.f32 %%f4, %%f0, %s%%f2; mov.b32 %%r4, %%f4;"
                         "%s.%s.f32.%s %%f4, %%x, %s%%f2; mov.b32 %%r5, %%f4;"
                         "mov.b64 %%rd4, {%%r4, %%r5};}",
                         type, type, name, round, two ? "%f1, " : "", name, round, type,
                         two ? "%y, " : "");
                for (int i = 0; i < 4 * LANES; i++) in[i / 4][i % 4] = random_float(&seed);
                run_lanes("sm_100", body, in, out);
                uint32_t different = 0;
                for (int l = 0; l < LANES; l++) {
                    assert_int_equal((uint32_t)out[l][0], out[l][0] >> 32);
                    different += (uint32_t)out[l][0] != in[l][2];
                }
                assert_true(different > LANES / 8);  // not just the last operand
            }
}

static void test_f64(void **state) {
    (void)state;
    static const char *const texts[] = {"add", "sub", "mul", "div", "fma", "sqrt"};
    static const char *const operands[] = {"%rd0, %rd1", "%rd0, %rd1",       "%rd0, %rd1",
                                           "%rd0, %rd1", "%rd0, %rd1, %rd0", "%rd0"};
    uint32_t seed = 12, in[LANES][4];
    uint64_t out[LANES][2];
    for (int op = 0; op < 6; op++)
        for (int mode = 0; mode < 4; mode++)
            for (int round = 0; round < ROUNDS; round++) {
                char body[128];
                snprintf(body, sizeof body, "%s.%s.f64 %%rd4, %s;", texts[op], mode_names[mode],
                         operands[op]);
                for (int i = 0; i < LANES; i++) {
                    double v[2];
                    for (int n = 0; n < 2; n++) {
                        // Products and rests of them stay within the normal numbers.
                        uint64_t m = (uint64_t)random_float(&seed) << 32 | random_float(&seed);
                        m = (m & 0x800fffffffffffff) | (uint64_t)(1000 + (m >> 52) % 40) << 52;
                        memcpy(&v[n], &m, 8);
                    }
                    memcpy(in[i], v, 16);
                }
                run_lanes("sm_80", body, in, out);
                for (int l = 0; l < LANES; l++) {
                    double v[2], got;
                    memcpy(v, in[l], 16), memcpy(&got, &out[l][0], 8);
                    double want = host64((Op)op, mode, v[0], v[1], v[0]);
                    if (!(got == want || (got != got && want != want)))
                        fail_msg("%s of %a %a: %a, wanted %a", body, v[0], v[1], got, want);
                }
            }
}

// f16 and bf16 through the exact double and one rounding.
static void test_half(void **state) {
    (void)state;
    static const struct {
        const char *type;
        Dtype dtype;
    } types[] = {{"f16", DTYPE_F16}, {"bf16", DTYPE_BF16}};
    static const char *const ops[] = {"add", "sub", "mul", "fma"};
    uint32_t seed = 13, in[LANES][4];
    uint64_t out[LANES][2];
    for (int t = 0; t < 2; t++)
        for (int op = 0; op < 4; op++)
            for (int round = 0; round < ROUNDS; round++) {
                char body[160];
                snprintf(body, sizeof body,
                         "%s.rn.%sx2 %%r4, %%r0, %%r1%s; cvt.u64.u32 %%rd4, %%r4;", ops[op],
                         types[t].type, op == 3 ? ", %r2" : "");
                for (int i = 0; i < 4 * LANES; i++) in[i / 4][i % 4] = random_float(&seed);
                run_lanes("sm_90", body, in, out);
                for (int l = 0; l < LANES; l++)
                    for (int h = 0; h < 2; h++) {
                        double v[3];
                        for (int n = 0; n < 3; n++)
                            v[n] = dtype_to_double(types[t].dtype, in[l][n] >> (16 * h) & 0xffff);
                        // long double holds these sums whole, or far enough
                        long double r =
                            op == 0   ? (long double)v[0] + (long double)v[1]
                            : op == 1 ? (long double)v[0] - (long double)v[1]
                            : op == 2 ? (long double)v[0] * (long double)v[1]
                                      : (long double)v[0] * (long double)v[1] + (long double)v[2];
                        double d = (double)r;
                        if (d == d && (long double)d != r && d - d == 0) {
                            // to odd, so that the second rounding is right
                            uint64_t u;
                            memcpy(&u, &d, 8);
                            if (!(u & 1)) u += ((long double)d < r) == (d > 0) ? 1 : UINT64_MAX;
                            memcpy(&d, &u, 8);
                        }
                        uint64_t want = dtype_from_double(types[t].dtype, d, false);
                        uint64_t got = out[l][0] >> (16 * h) & 0xffff;
                        if (d != d) want = 0x7fff;
                        if (got != want)
                            fail_msg("%s of %a %a %a: %llx, wanted %llx", body, v[0], v[1], v[2],
                                     (unsigned long long)got, (unsigned long long)want);
                    }
            }
}

static void test_flush_and_extremes(void **state) {
    (void)state;
    uint32_t in[LANES][4] = {{0x00000001, 0x3f800000},
                             {0x7fc00000, 0x3f800000},
                             {0x80000000, 0x00000000},
                             {0x3f800000, 0xbf800000}};
    uint64_t out[LANES][2];
    run_lanes("sm_80", "mul.ftz.f32 %f4, %f0, %f1; mov.b32 %r4, %f4; cvt.u64.u32 %rd4, %r4;", in,
              out);
    assert_int_equal(out[0][0], 0);
    run_lanes("sm_80", "min.f32 %f4, %f0, %f1; mov.b32 %r4, %f4; cvt.u64.u32 %rd4, %r4;", in, out);
    assert_int_equal(out[0][0], 1);
    assert_int_equal(out[1][0], 0x3f800000);
    assert_int_equal(out[2][0], 0x80000000);
    run_lanes("sm_80", "max.NaN.f32 %f4, %f0, %f1; mov.b32 %r4, %f4; cvt.u64.u32 %rd4, %r4;", in,
              out);
    assert_int_equal(out[1][0], 0x7fffffff);
    assert_int_equal(out[2][0], 0);
    run_lanes("sm_80", "add.sat.f32 %f4, %f0, %f0; mov.b32 %r4, %f4; cvt.u64.u32 %rd4, %r4;", in,
              out);
    assert_int_equal(out[1][0], 0);
    assert_int_equal(out[3][0], 0x3f800000);
}

// Results that the ISA leaves open, or that surprise, as an H100 has them.
static void test_as_on_a_card(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t in[4], out;
    } rows[] = {
        {"neg.f32 %f4, %f0; mov.b32 %r4, %f4;", {0x7fa44ef7}, 0x7fffffff},
        {"abs.f32 %f4, %f0; mov.b32 %r4, %f4;", {0xffa44ef7}, 0x7fffffff},
        {"neg.f32 %f4, %f0; mov.b32 %r4, %f4;", {0x80000001}, 0x00000001},
        {"cvt.u16.u32 %h0, %r0; neg.f16 %h1, %h0; cvt.u32.u16 %r4, %h1;", {0x7eb0}, 0x7fff},
        {"cvt.u16.u32 %h0, %r0; abs.bf16 %h1, %h0; cvt.u32.u16 %r4, %h1;", {0xff9b}, 0x7fff},
        {"cvt.u16.u32 %h0, %r0; cvt.f32.bf16 %f4, %h0; mov.b32 %r4, %f4;", {0xff9b}, 0xff9b0000},
        {"mul.rn.ftz.f32 %f4, %f0, %f1; mov.b32 %r4, %f4;", {0x3f7fffff, 0x00800000}, 0},
        {"mul.rn.f32 %f4, %f0, %f1; mov.b32 %r4, %f4;", {0x3f7fffff, 0x00800000}, 0x00800000},
        {"fma.rn.ftz.f32 %f4, %f0, %f1, %f2; mov.b32 %r4, %f4;",
         {0x3f7fffff, 0x80800000, 0x80000000},
         0x80000000},
        {"cvt.u16.u32 %h0, %r0; cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; "
         "fma.rn.ftz.f16 %h3, %h0, %h1, %h2; cvt.u32.u16 %r4, %h3;",
         {0x0409, 0xc056, 0x04c0},
         0x8000},
        {"cvt.u16.u32 %h0, %r0; cvt.u16.u32 %h1, %r1; "
         "max.xorsign.abs.f16 %h2, %h0, %h1; cvt.u32.u16 %r4, %h2;",
         {0x0000, 0xfc01},
         0x8000},
        {"testp.normal.f32 %p0, %f0; selp.b32 %r4, 1, 0, %p0;", {0x80000000}, 1},
        {"testp.subnormal.f32 %p0, %f0; selp.b32 %r4, 1, 0, %p0;", {0x80000000}, 0},
        {"rem.u32 %r4, %r0, %r1;", {0x100, 0}, 0xffffffff},
        {"rem.s32 %r4, %r0, %r1;", {0x40, 0}, 0xffffffff},
        {"st.global.b32 [%rd61], 1; atom.global.add.f32 %f4, [%rd61], 0f00000001; "
         "ld.global.b32 %r4, [%rd61];",
         {0},
         0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t in[LANES][4] = {{0}};
        uint64_t out[LANES][2];
        memcpy(in[0], rows[i].in, sizeof in[0]);
        const char *text = rows[i].text;
        char body[400];
        snprintf(body, sizeof body, "%s cvt.u64.u32 %%rd4, %%r4;", text);
        run_lanes("sm_90", body, in, out);
        if (out[0][0] != rows[i].out)
            fail_msg("%s: 0x%llx, expected 0x%x", text, (unsigned long long)out[0][0], rows[i].out);
    }
}

// Zeros are ordered by their signs, whichever operand is which.
static void test_zeros(void **state) {
    (void)state;
    static const char *const rows[] = {"min.f64 %rd4, %rd0, %rd1;", "min.f64 %rd4, %rd1, %rd0;",
                                       "max.f64 %rd4, %rd0, %rd1;", "max.f64 %rd4, %rd1, %rd0;"};
    uint32_t in[LANES][4] = {{0, 0x80000000, 0, 0}};
    uint64_t out[LANES][2];
    for (int r = 0; r < 4; r++) {
        run_lanes("sm_80", rows[r], in, out);
        assert_true(out[0][0] == (r < 2 ? UINT64_C(1) << 63 : 0));
    }
}

// The documented result: the nearest f32.
static void test_approximate(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double (*f)(double);
    } rows[] = {{"ex2.approx.f32", exp2}, {"lg2.approx.f32", log2},  {"sin.approx.f32", sin},
                {"cos.approx.f32", cos},  {"tanh.approx.f32", tanh}, {"sqrt.approx.f32", sqrt}};
    uint32_t in[LANES][4] = {{0}};
    uint64_t out[LANES][2];
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char body[128];
        snprintf(body, sizeof body, "%s %%f4, %%f0; mov.b32 %%r4, %%f4; cvt.u64.u32 %%rd4, %%r4;",
                 rows[r].text);
        for (int l = 0; l < LANES; l++) in[l][0] = bits_of(0.01f + 0.37f * (float)l);
        run_lanes("sm_80", body, in, out);
        for (int l = 0; l < LANES; l++) {
            float want = (float)rows[r].f((double)float_of(in[l][0]));
            int64_t apart = (int64_t)(uint32_t)out[l][0] - bits_of(want);
            if (apart < -1 || apart > 1)
                fail_msg("%s of %a: %a, wanted %a", body, (double)float_of(in[l][0]),
                         (double)float_of((uint32_t)out[l][0]), (double)want);
        }
    }
}

// ---- cvt ----

static void check_cvt(const char *name, Dtype to, Dtype from, bool saturate) {
    uint32_t seed = 17, in[LANES][4];
    uint64_t out[LANES][2];
    unsigned from_bits = dtype_bits(from), to_bits = dtype_bits(to);
    const char *source = from_bits == 64 ? "%rd0" : from_bits == 32 ? "%r0" : "%h0";
    const char *target = to_bits == 64 ? "%rd4" : to_bits == 32 ? "%r4" : "%h4";
    char body[256];
    snprintf(body, sizeof body, "cvt.u16.u32 %%h0, %%r0; cvt.%s %s, %s; %s", name, target, source,
             to_bits == 64   ? ""
             : to_bits == 32 ? "cvt.u64.u32 %rd4, %r4;"
                             : "cvt.u64.u16 %rd4, %h4;");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 4 * LANES; i++) in[i / 4][i % 4] = random_float(&seed);
        run_lanes("sm_90", body, in, out);
        for (int l = 0; l < LANES; l++) {
            uint64_t v = (uint64_t)in[l][1] << 32 | in[l][0];
            if (from_bits < 64) v &= (UINT64_C(1) << from_bits) - 1;
            uint64_t want = dtype_cast(to, from, v, saturate), got = out[l][0];
            if (to_bits < 64) got &= (UINT64_C(1) << to_bits) - 1;
            if (dtype_is(to, DTYPE_CLASS_FLOAT) && dtype_is_nan(to, want)) {
                assert_true(dtype_is_nan(to, got));
                continue;
            }
            // NaN to 64 bits is the machine's own: the ISA's 2^63.
            if (dtype_is(from, DTYPE_CLASS_FLOAT) && dtype_is_nan(from, v) && to_bits == 64)
                continue;
            if (dtype_is(from, DTYPE_CLASS_FLOAT) && dtype_is_nan(from, v) && from == DTYPE_F64)
                continue;
            if (got != want)
                fail_msg("cvt.%s of %llx: %llx, wanted %llx", name, (unsigned long long)v,
                         (unsigned long long)got, (unsigned long long)want);
        }
    }
}

static void test_cvt(void **state) {
    (void)state;
    check_cvt("rn.f16.f32", DTYPE_F16, DTYPE_F32, false);
    check_cvt("rn.bf16.f32", DTYPE_BF16, DTYPE_F32, false);
    check_cvt("f32.f16", DTYPE_F32, DTYPE_F16, false);
    check_cvt("f32.bf16", DTYPE_F32, DTYPE_BF16, false);
    check_cvt("rn.f32.f64", DTYPE_F32, DTYPE_F64, false);
    check_cvt("f64.f32", DTYPE_F64, DTYPE_F32, false);
    check_cvt("rn.f16.f64", DTYPE_F16, DTYPE_F64, false);
    check_cvt("rzi.s32.f32", DTYPE_I32, DTYPE_F32, false);
    check_cvt("rzi.u32.f32", DTYPE_U32, DTYPE_F32, false);
    check_cvt("rzi.s64.f32", DTYPE_I64, DTYPE_F32, false);
    check_cvt("rzi.u64.f64", DTYPE_U64, DTYPE_F64, false);
    check_cvt("rzi.s16.f16", DTYPE_I16, DTYPE_F16, false);
    check_cvt("rn.f32.s32", DTYPE_F32, DTYPE_I32, false);
    check_cvt("rn.f32.u32", DTYPE_F32, DTYPE_U32, false);
    check_cvt("rn.f32.s64", DTYPE_F32, DTYPE_I64, false);
    check_cvt("rn.f32.u64", DTYPE_F32, DTYPE_U64, false);
    check_cvt("rn.f64.s64", DTYPE_F64, DTYPE_I64, false);
    check_cvt("rn.f64.u64", DTYPE_F64, DTYPE_U64, false);
    check_cvt("rn.f16.s32", DTYPE_F16, DTYPE_I32, false);
    check_cvt("s64.s32", DTYPE_I64, DTYPE_I32, false);
    check_cvt("u64.u32", DTYPE_U64, DTYPE_U32, false);
    check_cvt("s32.s64", DTYPE_I32, DTYPE_I64, false);
    check_cvt("s32.s16", DTYPE_I32, DTYPE_I16, false);
}

// Two f32 to a pair of fp8, and each fp8 back by way of f16.
static void test_fp8(void **state) {
    (void)state;
    static const struct {
        const char *name;
        Dtype type;
    } rows[] = {{"e4m3x2", DTYPE_F8E4M3}, {"e5m2x2", DTYPE_F8E5M2}};
    uint32_t seed = 19, in[LANES][4];
    uint64_t out[LANES][2];
    for (int r = 0; r < 2; r++) {
        char body[256];
        snprintf(body, sizeof body,
                 "cvt.rn.satfinite.%s.f32 %%h0, %%f0, %%f1; cvt.u64.u16 %%rd4, %%h0;",
                 rows[r].name);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < 4 * LANES; i++) in[i / 4][i % 4] = random_float(&seed);
            run_lanes("sm_90", body, in, out);
            for (int l = 0; l < LANES; l++)
                for (int n = 0; n < 2; n++) {
                    float x = float_of(in[l][n]);
                    uint64_t got = out[l][0] >> (n ? 0 : 8) & 255;
                    uint64_t want = dtype_from_float(rows[r].type, x, true);
                    if (x != x) want = 0x7f;
                    assert_int_equal(got, want);
                }
        }
        snprintf(body, sizeof body,
                 "cvt.u16.u32 %%h0, %%r0; cvt.rn.f16x2.%s %%r4, %%h0;"
                 "cvt.u64.u32 %%rd4, %%r4;",
                 rows[r].name);
        for (uint32_t base = 0; base < 256; base += LANES) {
            for (uint32_t l = 0; l < LANES; l++) in[l][0] = (base + l) | ((255 - base - l) << 8);
            run_lanes("sm_90", body, in, out);
            for (uint32_t l = 0; l < LANES; l++) {
                double want = dtype_to_double(rows[r].type, base + l);
                double got = dtype_to_double(DTYPE_F16, out[l][0] & 0xffff);
                assert_true(got == want || (got != got && want != want));
                want = dtype_to_double(rows[r].type, 255 - base - l);
                got = dtype_to_double(DTYPE_F16, out[l][0] >> 16 & 0xffff);
                assert_true(got == want || (got != got && want != want));
            }
        }
    }
}

static void test_rounding_of_cvt(void **state) {
    (void)state;
    uint32_t seed = 23, in[LANES][4];
    uint64_t out[LANES][2];
    static const char *const whole[] = {"rni", "rzi", "rmi", "rpi"};
    double (*const functions[])(double) = {rint, trunc, floor, ceil};
    for (int m = 0; m < 4; m++) {
        char body[160];
        snprintf(body, sizeof body,
                 "cvt.%s.f32.f32 %%f4, %%f0; mov.b32 %%r4, %%f4;"
                 "cvt.u64.u32 %%rd4, %%r4;",
                 whole[m]);
        for (int l = 0; l < LANES; l++)
            in[l][0] = bits_of((float)(int)(random_float(&seed) % 4001) / 8.0f - 250.0f);
        run_lanes("sm_80", body, in, out);
        for (int l = 0; l < LANES; l++)
            assert_true((double)float_of((uint32_t)out[l][0]) ==
                        functions[m]((double)float_of(in[l][0])));
        snprintf(body, sizeof body,
                 "cvt.%s.f32.f64 %%f4, %%rd0; mov.b32 %%r4, %%f4;"
                 "cvt.u64.u32 %%rd4, %%r4;",
                 mode_names[m]);
        for (int l = 0; l < LANES; l++) {
            double v = 1.0 + (double)random_float(&seed) * 0x1p-40 - 2.0 * (l & 1);
            memcpy(in[l], &v, 8);
        }
        run_lanes("sm_80", body, in, out);
        for (int l = 0; l < LANES; l++) {
            volatile double v;
            double plain;
            memcpy(&plain, in[l], 8);
            v = plain;
            fesetround(modes[m]);
            volatile float want = (float)v;
            fesetround(FE_TONEAREST);
            assert_int_equal((uint32_t)out[l][0], bits_of(want));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_f32),
                                       cmocka_unit_test(test_widened),
                                       cmocka_unit_test(test_f64),
                                       cmocka_unit_test(test_half),
                                       cmocka_unit_test(test_flush_and_extremes),
                                       cmocka_unit_test(test_as_on_a_card),
                                       cmocka_unit_test(test_zeros),
                                       cmocka_unit_test(test_approximate),
                                       cmocka_unit_test(test_cvt),
                                       cmocka_unit_test(test_fp8),
                                       cmocka_unit_test(test_rounding_of_cvt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
