// Math functions after expand_math, on the interpreter, against MPFR.
//
// The bulk is judged against long double (f64) and double (f32 and narrower), whose own errors are
// thousandths of an ulp; every point that looks worse than an ulp, and one in SPARSE, is judged
// against MPFR. Without MPFR: apt-get install libmpfr-dev these two are left out, and it says so.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef TEST_HAS_MPFR
#include <mpfr.h>
#endif

#include "tests/support/dice.h"
#include "tests/support/jitted.h"
#include "tests/support/op_kernel.h"
#include "tests/support/portion.h"
#include "tests/support/slice.h"

#ifdef TEST_LONG
enum { SAMPLES = 1 << 24 };
#else
enum { SAMPLES = 1 << 20 };
#endif
enum { SAMPLES_F64 = SAMPLES / 4, QUARTERS = SAMPLES / 16, SPARSE = 64, SLICES = 16 };
static const double bound = 2.0;  // ulp

typedef struct Function {
    const char *name;
    long double (*wide)(long double);
    double (*narrow)(double);
    double low, high;  // the range of half of the samples
    // Functions of two operands have these instead:
    long double (*wide_two)(long double, long double);
    double (*narrow_two)(double, double);
} Function;

static long double rsqrtl(long double x) { return 1 / sqrtl(x); }
static double rsqrt(double x) { return 1 / sqrt(x); }
static long double sigmoidl(long double x) {
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}
static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

#define ONE(name, low, high) \
    { #name, name##l, name, low, high, NULL, NULL }
static const Function functions[] = {
    ONE(exp, -110, 90),  ONE(exp2, -152, 129), ONE(sigmoid, -110, 40), ONE(tanh, -12, 12),
    ONE(erf, -6.5, 6.5), ONE(rsqrt, 0, 100),   ONE(expm1, -110, 90),   ONE(sinh, -110, 90),
    ONE(cosh, -110, 90), ONE(cbrt, -100, 100), ONE(erfc, -6, 27.5),    ONE(atan, -8, 8),
    ONE(asin, -1, 1),    ONE(acos, -1, 1),     ONE(log1p, -1, 4),      ONE(log10, 0, 4),
    ONE(log, 0, 4),      ONE(log2, 0, 4),      ONE(sin, -30, 30),      ONE(cos, -30, 30),
    ONE(tan, -30, 30),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };
#undef ONE
static const Function power = {"pow", .wide_two = powl, .narrow_two = pow};
static const Function angle = {"atan2", .wide_two = atan2l, .narrow_two = atan2};

// ---- the exact value ----------------------------------------------------------------------------

#ifdef TEST_HAS_MPFR
static void exact_sigmoid(mpfr_t r, mpfr_t x) {
    mpfr_neg(r, x, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_add_ui(r, r, 1, MPFR_RNDN);
    mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

static long double exact_value(const char *name, double a, double b) {
    mpfr_t x, y, r;
    mpfr_init2(x, 53), mpfr_init2(y, 53), mpfr_init2(r, 160);
    mpfr_set_d(x, a, MPFR_RNDN), mpfr_set_d(y, b, MPFR_RNDN);
    if (!strcmp(name, "exp")) mpfr_exp(r, x, MPFR_RNDN);
    if (!strcmp(name, "exp2")) mpfr_exp2(r, x, MPFR_RNDN);
    if (!strcmp(name, "sigmoid")) exact_sigmoid(r, x);
    if (!strcmp(name, "tanh")) mpfr_tanh(r, x, MPFR_RNDN);
    if (!strcmp(name, "erf")) mpfr_erf(r, x, MPFR_RNDN);
    if (!strcmp(name, "rsqrt")) mpfr_rec_sqrt(r, x, MPFR_RNDN);
    if (!strcmp(name, "log")) mpfr_log(r, x, MPFR_RNDN);
    if (!strcmp(name, "log2")) mpfr_log2(r, x, MPFR_RNDN);
    if (!strcmp(name, "sin")) mpfr_sin(r, x, MPFR_RNDN);
    if (!strcmp(name, "cos")) mpfr_cos(r, x, MPFR_RNDN);
    if (!strcmp(name, "tan")) mpfr_tan(r, x, MPFR_RNDN);
    if (!strcmp(name, "expm1")) mpfr_expm1(r, x, MPFR_RNDN);
    if (!strcmp(name, "sinh")) mpfr_sinh(r, x, MPFR_RNDN);
    if (!strcmp(name, "cosh")) mpfr_cosh(r, x, MPFR_RNDN);
    if (!strcmp(name, "cbrt")) mpfr_cbrt(r, x, MPFR_RNDN);
    if (!strcmp(name, "erfc")) mpfr_erfc(r, x, MPFR_RNDN);
    if (!strcmp(name, "atan")) mpfr_atan(r, x, MPFR_RNDN);
    if (!strcmp(name, "asin")) mpfr_asin(r, x, MPFR_RNDN);
    if (!strcmp(name, "acos")) mpfr_acos(r, x, MPFR_RNDN);
    if (!strcmp(name, "log1p")) mpfr_log1p(r, x, MPFR_RNDN);
    if (!strcmp(name, "log10")) mpfr_log10(r, x, MPFR_RNDN);
    if (!strcmp(name, "atan2")) mpfr_atan2(r, x, y, MPFR_RNDN);
    if (!strcmp(name, "pow")) mpfr_pow(r, x, y, MPFR_RNDN);
    long double value = mpfr_get_ld(r, MPFR_RNDN);
    if (!strcmp(name, "rsqrt") && a == 0) value = 1 / (long double)a;  // MPFR's has no sign
    mpfr_clear(x), mpfr_clear(y), mpfr_clear(r);
    return value;
}
#endif

static long double rough_value(const Function *f, Dtype t, double a, double b) {
    if (f->wide_two && t == DTYPE_F64) return f->wide_two((long double)a, (long double)b);
    if (f->wide_two) return (long double)f->narrow_two(a, b);
    return t == DTYPE_F64 ? f->wide((long double)a) : (long double)f->narrow(a);
}

// ---- errors -------------------------------------------------------------------------------------

// |got - exact| in units of the type's last place at `exact`; infinity where the kind differs.
static double distance(Dtype t, double got, long double exact) {
    if (isnan(exact)) return isnan(got) ? 0 : HUGE_VAL;
    if (isnan(got)) return HUGE_VAL;
    if (exact == 0) return got == 0 && !signbit(got) == !signbit(exact) ? 0 : HUGE_VAL;
    if (isinf(exact)) return (long double)got == exact ? 0 : HUGE_VAL;
    const DtypeFloat *type = dtype_float(t);
    int exponent = ilogbl(exact);
    if (exponent > type->max_exponent) exponent = type->max_exponent;
    if (exponent < type->min_exponent) exponent = type->min_exponent;
    // An infinity stands for the number after the greatest.
    long double value = isinf(got) ? copysignl(ldexpl(1, type->max_exponent + 1), (long double)got)
                                   : (long double)got;
    if (isinf(got) && fabsl(exact) > fabsl(value))
        return !signbit(got) == !signbit(exact) ? 0 : HUGE_VAL;
    return (double)ldexpl(fabsl(value - exact), type->precision - 1 - exponent);
}

// Narrower types: the bound is 2 ulp of f32 before the rounding to the type: in ulps of the type
// half of one and what 2 ulp of f32 come to.
static double limit_of(Dtype t) {
    if (t == DTYPE_F64 || t == DTYPE_F32) return bound;
    return 0.5 + ldexp(bound, dtype_float(t)->precision - 24);
}

typedef struct Worst {
    double error, a, b, got;
} Worst;

static void judge(const Function *f, Dtype t, double a, double b, double got, uint64_t number,
                  Worst *worst) {
    double error = distance(t, got, rough_value(f, t, a, b));
    (void)number;
#ifdef TEST_HAS_MPFR
    bool narrow = t != DTYPE_F64 && t != DTYPE_F32;
    if (number % SPARSE == 0 || (narrow ? error > 0.5 : !(error <= 1)))
        error = distance(t, got, exact_value(f->name, a, b));
#endif
    if (error > worst->error) *worst = (Worst){error, a, b, got};
}

// ---- running ------------------------------------------------------------------------------------

typedef struct Batch {
    size_t count;
    unsigned char *x, *y, *r;
} Batch;

static Batch batch(Dtype t, size_t count) {
    size_t size = dtype_size(t);
    Batch b = {count, malloc(count * size), malloc(count * size), malloc(count * size)};
    assert_true(b.x && b.y && b.r);
    return b;
}

static void batch_free(Batch *b) { free(b->x), free(b->y), free(b->r); }

static Worst run_batch(const Function *f, Dtype t, Batch *b) {
    StrBuf line;
    Worst worst = {-1, 0, 0, 0};
    Arena *arena = arena_create();
    line = strbuf(arena);
    strbuf_printf(&line, "%%9 = %s %%3%s : %s[%d]", f->name, f->wide_two ? ", %4" : "",
                  dtype_name(t), OP_LANES);
    OpKernel k = op_kernel(line.text, t, t, "expand_math,simplify,cse,dce", NULL);
    op_kernel_run(&k, b->count, b->x, b->y, NULL, b->r);
    for (size_t i = 0; i < b->count; i++)
        judge(f, t, dtype_to_double(t, dtype_load(t, b->x, i)),
              dtype_to_double(t, dtype_load(t, b->y, i)),
              dtype_to_double(t, dtype_load(t, b->r, i)), i, &worst);
    op_kernel_free(&k);
    arena_destroy(arena);
    return worst;
}

static uint64_t any_bits(Dtype t, Dice *dice, size_t i, size_t count) {
    if (t == DTYPE_F64) return dice_next(dice);
    // Even steps through all bits.
    uint64_t step = (UINT64_C(1) << 32) / count;
    return i * step + (step > 1 ? dice_below(dice, step) : 0);
}

static double between(Dice *dice, double low, double high) {
    return low + (high - low) * ((double)(dice_next(dice) >> 11) * 0x1p-53);
}

static void fill(Dtype t, unsigned char *data, size_t count, double low, double high, Dice *dice) {
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = i % 2 ? dtype_from_double(t, between(dice, low, high), true)
                              : any_bits(t, dice, i, count);
        dtype_store(t, data, i, bits);
    }
}

// Prints the worst of a function; the test goes on, and fails at its end.
static void check_worst(const char *name, Dtype t, const Worst *worst, int *failures) {
    bool good = worst->error <= limit_of(t);
    print_message("%-8s %-5s %.4f ulp at %a, %a: %a%s\n", name, dtype_name(t), worst->error,
                  worst->a, worst->b, worst->got, good ? "" : "  TOO MUCH");
    *failures += !good;
}

static void sampled(Dtype t, size_t count) {
    int failures = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        const Function *f = &functions[i];
        Dice dice = dice_roll((uint64_t)i + 1 + slice_begin(SLICES, 1000));
        Batch b = batch(t, count);
        bool scaled = t == DTYPE_F64 && f->low < -100;  // the exponents of f64 reach farther
        fill(t, b.x, count, scaled ? 7 * f->low : f->low, scaled ? 8 * f->high : f->high, &dice);
        memcpy(b.y, b.x, count * dtype_size(t));
        Worst worst = run_batch(f, t, &b);
        check_worst(f->name, t, &worst, &failures);
        batch_free(&b);
    }
    assert_int_equal(failures, 0);
}

static void samples_f32(void **state) {
    (void)state;
    sampled(DTYPE_F32, SAMPLES);
}

#ifdef TEST_LONG
// As code of this machine, which is fast enough for all floats.
static void run_compiled(const Function *f, Batch *b) {
    char line[64];
    snprintf(line, sizeof line, "%%9 = %s %%3 : f32[%d]", f->name, OP_LANES);
    OpKernel k = op_kernel(line, DTYPE_F32, DTYPE_F32, "", NULL);
    void *data[] = {b->x, b->y, b->y, b->r};
    IrArg args[4] = {{0}};
    for (int i = 0; i < 4; i++) {
        args[i].data = data[i];
        args[i].extent[0] = (int64_t)b->count;
        args[i].stride[0] = 1;
    }
    IrLaunch launch = {
        .args = args, .arg_count = 4, .grid = {(int64_t)(b->count / OP_LANES), 1, 1}};
    IrOutcome outcome = IR_RUN_DONE;
    const JittedOptions o = {.target = cpu_native(), .facts = FACT_DISJOINT};
    assert_true(jitted_run(k.module, k.func, &o, &launch, &outcome, k.w.diags));
    assert_int_equal(outcome, IR_RUN_DONE);
    op_kernel_free(&k);
}

// At most one ulp from the reference in double, whose own error is negligible here. Most results
// are the nearest float, which is checked first.
static bool is_near(double want, float got) {
    if ((float)want == got) return want != 0 || !signbit(want) == !signbit(got);
    if (isnan(want)) return isnan(got);
    if (!isfinite(got) || !isfinite((float)want)) return false;
    float away = nextafterf(got, want > (double)got ? HUGE_VALF : -HUGE_VALF);
    return fabs(want - (double)got) <= fabs((double)away - (double)got);
}

static void judge_slice(const Function *f, const Batch *b, Worst *worst) {
    const float *x = (const void *)b->x, *r = (const void *)b->r;
    for (size_t k = 0; k < b->count; k++) {
        bool exact = k % (SPARSE * 1024) == 0;
        if (!exact && is_near(f->narrow((double)x[k]), r[k])) continue;
        judge(f, DTYPE_F32, (double)x[k], (double)x[k], (double)r[k], exact ? 0 : 1, worst);
    }
}

// TILEC_TEST_OP=tanh runs that one.
static bool is_wanted(const Function *f) {
    const char *only = getenv("TILEC_TEST_OP");
    return !only || strcmp(only, f->name) == 0;
}

// Every f32, a slice at a time. Errors below an ulp are not looked at closely.
static void whole_f32(void **state) {
    (void)state;
    if (!jitted_possible()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    enum { PARTS = 256 };
    int failures = 0;
    uint64_t ran = 0;
    Portion p = portion();
    Batch b = batch(DTYPE_F32, 1 << 24);
    for (int i = 0; i < FUNCTIONS; i++) {
        if (!is_wanted(&functions[i])) continue;
        Worst worst = {-1, 0, 0, 0};
        for (uint64_t slice = 0; slice < PARTS; slice++) {
            if (!portion_has(p, slice)) continue;
            for (size_t k = 0; k < b.count; k++) dtype_store(DTYPE_F32, b.x, k, slice << 24 | k);
            run_compiled(&functions[i], &b);
            judge_slice(&functions[i], &b, &worst);
            ran += b.count;
        }
        check_worst(functions[i].name, DTYPE_F32, &worst, &failures);
    }
    batch_free(&b);
    print_message("every f32: %llu points judged\n", (unsigned long long)ran);
    assert_int_equal(failures, 0);
}
#endif

static void samples_f64(void **state) {
    (void)state;
    sampled(DTYPE_F64, SAMPLES_F64);
}

static void every_narrow_value(void **state) {
    (void)state;
    int failures = 0;
    static const Dtype types[] = {DTYPE_F16, DTYPE_BF16};
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < FUNCTIONS; i++) {
            Batch b = batch(types[n], 1 << 16);
            for (size_t k = 0; k < b.count; k++) dtype_store(types[n], b.x, k, k);
            memcpy(b.y, b.x, 2 * b.count);
            Worst worst = run_batch(&functions[i], types[n], &b);
            check_worst(functions[i].name, types[n], &worst, &failures);
            batch_free(&b);
        }
    assert_int_equal(failures, 0);
}

// ---- special values -----------------------------------------------------------------------------

static const double specials[] = {
    0.0,
    -0.0,
    INFINITY,
    -INFINITY,
    NAN,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    0.5,
    -0.5,
    1.5,
    -1.5,
    0x1p-149,
    -0x1p-149,
    0x1p-126,
    0x1p-127,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    0x1p1023,
    -0x1p1023,
    0x1p127,
    0x1.fffffep127,
    -0x1.fffffep127,
    0x1.fffffffffffffp1023,
    0x1p24,
    0x1.fffffep23,
    0x1p53,
    0x1.fffffffffffffp52,
    -0x1p53,
    0x1.fffffep-1,
    0x1.000002p0,
    0x1.fffffffffffffp-1,
    0x1.0000000000001p0,
    88.72283935546875,
    88.722846984863281,
    -87.33654022216797,
    -103.972076416015625,
    -103.97208404541015625,
    709.782712893384,
    709.7827128933841,
    -708.3964185322641,
    -745.1332191019411,
    -745.1332191019412,
    128,
    127.99999237060547,
    -149,
    -150,
    -149.5,
    1024,
    -1074,
    -1075,
    0x1.921fb6p0,
    0x1.921fb54442d18p0,
    0x1.921fb54442d18p1,
    0x1.2d97c7f3321d2p2,
    0x1.d12ed2p36,  // the last: nearly a multiple of pi/2
    // Near multiples of pi/2, the nearest of the type first (found by continued fractions).
    0x1.6ac5b262ca1ffp849,
    0x1.ce47d2p-1,
    0x1.9c3ddp92,
    0x1.f7ec4cp99,
    1e22,
    1e300,
    1e38,
    // The ends of expm1, sinh and cosh, erfc, asin and acos, and where their parts meet.
    0x1.65a9f8p6,
    0x1.65a9fap6,
    -0x1.65a9fap6,
    710.4758600739439,
    710.475860073944,
    64,
    0x1.000002p6,
    80,
    512,
    700,
    -20,
    -40,
    10.0546875,
    10.06,
    10.25,
    26.543,
    27.2263,
    27.5,
    -0x1.fffffep-1,
    -0x1.fffffffffffffp-1,
    0x1p-60,
    -0x1p-600,
    0x1.000002p-1,
    0x1.fffffep-2,
};
enum { SPECIALS = sizeof specials / sizeof *specials };

static void specials_of(Dtype t) {
    int failures = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        Batch b = batch(t, OP_LANES);
        for (size_t k = 0; k < b.count; k++)
            dtype_store(t, b.x, k, dtype_from_double(t, specials[k % SPECIALS], false));
        memcpy(b.y, b.x, b.count * dtype_size(t));
        Worst worst = run_batch(&functions[i], t, &b);
        check_worst(functions[i].name, t, &worst, &failures);
        batch_free(&b);
    }
    assert_int_equal(failures, 0);
}

static void special_values(void **state) {
    (void)state;
    specials_of(DTYPE_F32);
    specials_of(DTYPE_F64);
}

// The floats next to multiples of pi/2, small and huge. There must be many: a carry between the
// words of the reduction comes with one argument in 4096 of f64, and it shows only in the small
// rest next to such a multiple.
static void beside_quarter_turns(void **state) {
    (void)state;
    int failures = 0;
    static const Dtype types[] = {DTYPE_F32, DTYPE_F64};
    for (int n = 0; n < 2; n++) {
        Dtype t = types[n];
        Batch b = batch(t, QUARTERS);
        Dice dice = dice_roll(77 + slice_begin(SLICES, 1000));
        for (size_t k = 0; k < b.count; k++) {
            long double turns =
                floorl(ldexpl(1, (int)dice_below(&dice, 50)) * (long double)between(&dice, 1, 2));
            double x = (double)(turns * 1.57079632679489661923132169163975144L);
            uint64_t bits = dtype_from_double(t, x, true) + dice_below(&dice, 3) - 1;
            dtype_store(t, b.x, k, bits);
        }
        memcpy(b.y, b.x, b.count * dtype_size(t));
        for (int i = FUNCTIONS - 3; i < FUNCTIONS; i++) {
            Worst worst = run_batch(&functions[i], t, &b);
            check_worst(functions[i].name, t, &worst, &failures);
        }
        batch_free(&b);
    }
    assert_int_equal(failures, 0);
}

// ---- pow ----------------------------------------------------------------------------------------

static void pow_samples(void **state) {
    (void)state;
    int failures = 0;
    static const Dtype types[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16};
    for (int n = 0; n < 4; n++) {
        Dtype t = types[n];
        Batch b = batch(t, SAMPLES_F64);
        Dice dice = dice_roll(5 + slice_begin(SLICES, 1000));
        double most = t == DTYPE_F64 ? 1075 : 150;
        for (size_t k = 0; k < b.count; k++) {
            // x anywhere, y such that the result's exponent is anywhere in the type's range.
            double x = k % 2
                           ? between(&dice, 0, 4)
                           : dtype_to_double(t, dice_next(&dice) >> 1 >> (63 - dtype_bits(t) + 1));
            double y = between(&dice, -most, most) / log2(x);
            if (k % 8 == 0) x = -x, y = rint(y);
            dtype_store(t, b.x, k, dtype_from_double(t, x, false));
            dtype_store(t, b.y, k, dtype_from_double(t, y, false));
        }
        Worst worst = run_batch(&power, t, &b);
        check_worst("pow", t, &worst, &failures);
        batch_free(&b);
    }
    assert_int_equal(failures, 0);
}

// Points of every size and direction: y of any size, x such that the angle is anywhere.
static void atan2_samples(void **state) {
    (void)state;
    int failures = 0;
    static const Dtype types[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16};
    for (int n = 0; n < 4; n++) {
        Dtype t = types[n];
        Batch b = batch(t, SAMPLES_F64);
        Dice dice = dice_roll(6 + slice_begin(SLICES, 1000));
        for (size_t k = 0; k < b.count; k++) {
            uint64_t bits = dice_next(&dice) >> (64 - dtype_bits(t));
            double y = k % 2 ? between(&dice, -4, 4) : dtype_to_double(t, bits);
            double x =
                y * between(&dice, -3, 3) * (k % 4 < 2 ? ldexp(1, (int)(k / 4 % 64) - 32) : 1);
            dtype_store(t, b.x, k, dtype_from_double(t, y, false));
            dtype_store(t, b.y, k, dtype_from_double(t, x, false));
        }
        Worst worst = run_batch(&angle, t, &b);
        check_worst("atan2", t, &worst, &failures);
        batch_free(&b);
    }
    assert_int_equal(failures, 0);
}

static void two_specials(void **state) {
    (void)state;
    int failures = 0;
    static const Dtype types[] = {DTYPE_F32, DTYPE_F64};
    for (int n = 0; n < 2; n++) {
        Dtype t = types[n];
        Batch b = batch(t, (SPECIALS * SPECIALS / OP_LANES + 1) * OP_LANES);
        for (size_t k = 0; k < b.count; k++) {
            dtype_store(t, b.x, k, dtype_from_double(t, specials[k / SPECIALS % SPECIALS], false));
            dtype_store(t, b.y, k, dtype_from_double(t, specials[k % SPECIALS], false));
        }
        Worst worst = run_batch(&power, t, &b);
        check_worst("pow", t, &worst, &failures);
        worst = run_batch(&angle, t, &b);
        check_worst("atan2", t, &worst, &failures);
        batch_free(&b);
    }
    assert_int_equal(failures, 0);
}

// ---- math(approx) -------------------------------------------------------------------------------

// Within 2^-20 for |x| <= pi, as docs/numerics.md says.
static void approximate_waves(void **state) {
    (void)state;
    static const Dtype types[] = {DTYPE_F32, DTYPE_F64};
    for (int n = 0; n < 2; n++)
        for (int i = FUNCTIONS - 3; i < FUNCTIONS; i++) {
            Batch b = batch(types[n], 16 * OP_LANES);
            Dice dice = dice_roll(8);
            for (size_t k = 0; k < b.count; k++) {
                double x = between(&dice, -3.14159, 3.14159);
                dtype_store(types[n], b.x, k, dtype_from_double(types[n], x, false));
            }
            char line[64];
            snprintf(line, sizeof line, "%%9 = %s %%3 : %s[%d]", functions[i].name,
                     dtype_name(types[n]), OP_LANES);
            OpKernel kernel = op_kernel(line, types[n], types[n], "", NULL);
            kernel.func->math = IR_MATH_APPROX;
            assert_true(pass_run(&kernel.w, kernel.module, "expand_math"));
            op_kernel_run(&kernel, b.count, b.x, NULL, NULL, b.r);
            op_kernel_free(&kernel);
            for (size_t k = 0; k < b.count; k++) {
                double x = dtype_to_double(types[n], dtype_load(types[n], b.x, k));
                double got = dtype_to_double(types[n], dtype_load(types[n], b.r, k));
                double want = functions[i].narrow(x);
                // Relative where the tangent is large.
                double slack = 0x1p-20 * fmax(1, want * want);
                if (!(fabs(got - want) <= slack))
                    fail_msg("%s of %a: %a, not %a", functions[i].name, x, got, want);
            }
            batch_free(&b);
        }
}

// ---- random -------------------------------------------------------------------------------------

// The same bits as the interpreter's own, which tests/interp holds against published vectors.
static void random_bits(void **state) {
    (void)state;
    static const Dtype types[] = {DTYPE_I64, DTYPE_U64, DTYPE_I32, DTYPE_U32, DTYPE_I8, DTYPE_U16};
    for (int n = 0; n < 6; n++)
        for (int r = 0; r < 4; r++) {
            Batch b = batch(types[n], OP_LANES);
            Dice dice = dice_roll((uint64_t)r);
            for (size_t k = 0; k < b.count; k++) dtype_store(types[n], b.x, k, dice_next(&dice));
            Arena *arena = arena_create();
            StrBuf line = strbuf(arena);
            int first = 9 - r;  // so that result r is %9
            strbuf_printf(&line,
                          "%%20 = const {value = -81985529216486896} : i64\n"
                          "    %%%d, %%%d, %%%d, %%%d = random %%20, %%3 : u32[%d], u32[%d], "
                          "u32[%d], u32[%d]",
                          first, first + 1, first + 2, first + 3, OP_LANES, OP_LANES, OP_LANES,
                          OP_LANES);
            uint32_t *want = malloc(OP_LANES * 4), *got = malloc(OP_LANES * 4);
            OpKernel plain = op_kernel(line.text, types[n], DTYPE_U32, "", NULL);
            OpKernel passed = op_kernel(line.text, types[n], DTYPE_U32, "expand_math,tile", NULL);
            op_kernel_run(&plain, OP_LANES, b.x, NULL, NULL, want);
            op_kernel_run(&passed, OP_LANES, b.x, NULL, NULL, got);
            assert_memory_equal(want, got, OP_LANES * 4);
            op_kernel_free(&plain), op_kernel_free(&passed);
            free(want), free(got);
            arena_destroy(arena);
            batch_free(&b);
        }
}

int main(void) {
#ifndef TEST_HAS_MPFR
    print_message("without MPFR (libmpfr-dev): judged against long double alone\n");
#endif
#ifdef TEST_LONG
    const struct CMUnitTest whole[] = {cmocka_unit_test(whole_f32)};
    int failures = cmocka_run_group_tests(whole, NULL, NULL);
    if (failures || portion().place > 0) return failures;  // the rest is of the first portion
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values),     cmocka_unit_test(beside_quarter_turns),
        cmocka_unit_test(samples_f32),        cmocka_unit_test(samples_f64),
        cmocka_unit_test(every_narrow_value), cmocka_unit_test(two_specials),
        cmocka_unit_test(pow_samples),        cmocka_unit_test(atan2_samples),
        cmocka_unit_test(random_bits),        cmocka_unit_test(approximate_waves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
