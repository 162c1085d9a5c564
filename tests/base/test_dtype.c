// dtype.c against references that share nothing with it: values decoded from the fields of the
// published formats, and rounding by search over all values of a format.
#include "base/dtype.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// ---- The reference ----

typedef struct Layout {
    Dtype type;
    int exponent_bits;
    int fraction_bits;
    int bias;
    uint64_t greatest;  // bits of the greatest finite value
    uint64_t infinity;  // 0: none
    bool one_nan;       // fnuz: 0x80 alone, and no negative zero
} Layout;

static const Layout layouts[] = {
    {DTYPE_F16, 5, 10, 15, 0x7bff, 0x7c00, false}, {DTYPE_BF16, 8, 7, 127, 0x7f7f, 0x7f80, false},
    {DTYPE_F8E4M3, 4, 3, 7, 0x7e, 0, false},       {DTYPE_F8E5M2, 5, 2, 15, 0x7b, 0x7c, false},
    {DTYPE_F8E4M3FNUZ, 4, 3, 8, 0x7f, 0, true},    {DTYPE_F8E5M2FNUZ, 5, 2, 16, 0x7f, 0, true},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static int width_of(const Layout *l) { return 1 + l->exponent_bits + l->fraction_bits; }
static uint64_t sign_of(const Layout *l) { return UINT64_C(1) << (width_of(l) - 1); }

// The value of positive finite bits.
static double magnitude_value(const Layout *l, uint64_t bits) {
    int exponent = (int)(bits >> l->fraction_bits);
    double fraction = (double)(bits & ((UINT64_C(1) << l->fraction_bits) - 1));
    if (exponent == 0) return ldexp(fraction, 1 - l->bias - l->fraction_bits);
    return ldexp(fraction + ldexp(1, l->fraction_bits), exponent - l->bias - l->fraction_bits);
}

static double reference_value(const Layout *l, uint64_t bits) {
    uint64_t magnitude = bits & ~sign_of(l);
    bool negative = (bits & sign_of(l)) != 0;
    if (l->one_nan && negative && magnitude == 0) return (double)NAN;
    double value = magnitude <= l->greatest                  ? magnitude_value(l, magnitude)
                   : l->infinity && magnitude == l->infinity ? (double)INFINITY
                                                             : (double)NAN;
    return negative ? -value : value;
}

static uint64_t reference_overflow(const Layout *l, bool saturate) {
    bool clamps = saturate && width_of(l) == 8;
    if (clamps) return l->greatest;
    return l->infinity ? l->infinity : UINT64_MAX;  // UINT64_MAX: NaN
}

// The nearest magnitude, ties to the even pattern; long double holds every value and midpoint.
static uint64_t reference_magnitude(const Layout *l, long double value, bool saturate) {
    if (isinf(value)) return reference_overflow(l, saturate);
    uint64_t low = 0;
    uint64_t high = l->greatest + 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        *((long double)magnitude_value(l, middle) <= value ? &low : &high) = middle;
    }
    // One step past the greatest value is where the format would go on, were its exponents
    // unbounded.
    long double below = (long double)magnitude_value(l, low);
    long double above = (long double)magnitude_value(l, low + 1);
    long double middle = below + (above - below) / 2;
    uint64_t nearest = value > middle || (value == middle && (low & 1)) ? low + 1 : low;
    return nearest > l->greatest ? reference_overflow(l, saturate) : nearest;
}

static bool is_reference(const Layout *l, long double value, bool saturate, uint64_t bits) {
    if (isnan(value)) return isnan(reference_value(l, bits));
    uint64_t magnitude = reference_magnitude(l, fabsl(value), saturate);
    if (magnitude == UINT64_MAX) return isnan(reference_value(l, bits));
    bool negative = signbit(value) && !(l->one_nan && magnitude == 0);
    return bits == (magnitude | (negative ? sign_of(l) : 0));
}

static void check_encode(const Layout *l, double value) {
    for (int saturate = 0; saturate < 2; saturate++) {
        uint64_t bits = dtype_from_double(l->type, value, saturate != 0);
        if (!is_reference(l, (long double)value, saturate != 0, bits)) {
            fail_msg("%s from %a: %#llx", dtype_name(l->type), value, (unsigned long long)bits);
        }
    }
}

// Both signs, and the neighbours on both sides.
static void check_around(const Layout *l, double value) {
    double near[] = {value, nextafter(value, 0), nextafter(value, (double)INFINITY)};
    for (int i = 0; i < 3; i++) {
        check_encode(l, near[i]);
        check_encode(l, -near[i]);
    }
}

static uint64_t next_random(uint64_t *state) {
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

// ---- Float formats ----

static void every_pattern_decodes_and_returns(void **state) {
    (void)state;
    for (int i = 0; i < LAYOUTS; i++) {
        const Layout *l = &layouts[i];
        for (uint64_t bits = 0; bits < UINT64_C(1) << width_of(l); bits++) {
            double expected = reference_value(l, bits);
            double found = dtype_to_double(l->type, bits);
            assert_int_equal(dtype_is_nan(l->type, bits), isnan(expected));
            uint64_t back = dtype_from_double(l->type, found, false);
            if (isnan(expected)) {
                assert_true(isnan(found) && dtype_is_nan(l->type, back));
                assert_int_equal(back & sign_of(l), bits & sign_of(l));
                continue;
            }
            assert_true(found == expected && !signbit(found) == !signbit(expected));
            assert_int_equal(back, bits);
            assert_true((double)dtype_to_float(l->type, bits) == expected);
            assert_int_equal(dtype_from_float(l->type, (float)expected, false), bits);
        }
    }
}

static void rounds_to_nearest_around_every_midpoint(void **state) {
    (void)state;
    for (int i = 0; i < LAYOUTS; i++) {
        const Layout *l = &layouts[i];
        for (uint64_t bits = 0; bits <= l->greatest; bits++) {
            double low = magnitude_value(l, bits);
            double high = magnitude_value(l, bits + 1);
            check_around(l, low);
            check_around(l, low + (high - low) / 2);
        }
    }
}

static void rounds_any_double(void **state) {
    (void)state;
    const double special[] = {0,         (double)INFINITY, (double)NAN, DBL_MIN, DBL_MAX,
                              0x1p-1074, FLT_MAX,          FLT_MIN,     464,     480,
                              61440,     65519.99,         65520};
    for (int i = 0; i < LAYOUTS; i++) {
        const Layout *l = &layouts[i];
        for (size_t k = 0; k < sizeof special / sizeof special[0]; k++) {
            check_encode(l, special[k]);
            check_encode(l, -special[k]);
        }
        uint64_t random = 1;
        for (int k = 0; k < 50000; k++) {
            uint64_t bits = next_random(&random);
            double value = 0;
            memcpy(&value, &bits, sizeof value);
            check_encode(l, value);
            int range = l->bias + l->fraction_bits + 4;  // most random doubles are out of range
            int exponent = (int)(bits % (unsigned)(2 * range)) - range;
            check_encode(l, ldexp(1 + (double)(bits >> 12) * 0x1p-52, exponent));
        }
    }
}

static void formats_have_their_published_facts(void **state) {
    (void)state;
    const double greatest[] = {65504, 0x1.fep127, 448, 57344, 240, 57344};
    const double least[] = {0x1p-24, 0x1p-133, 0x1p-9, 0x1p-16, 0x1p-10, 0x1p-17};
    for (int i = 0; i < LAYOUTS; i++) {
        const Layout *l = &layouts[i];
        const DtypeFloat *f = dtype_float(l->type);
        assert_true(f->greatest == greatest[i]);
        assert_true(dtype_to_double(l->type, l->greatest) == greatest[i]);
        assert_true(dtype_to_double(l->type, 1) == least[i]);
        assert_int_equal(f->precision, l->fraction_bits + 1);
        assert_int_equal(f->min_exponent, 1 - l->bias);
        assert_int_equal(f->max_exponent, ilogb(greatest[i]));
        assert_int_equal(f->has_inf, l->infinity != 0);
        assert_int_equal(f->has_negative_zero, !l->one_nan);
    }
    assert_true(dtype_float(DTYPE_F64)->greatest == DBL_MAX);
    assert_true(dtype_float(DTYPE_F32)->greatest == (double)FLT_MAX);
    assert_null(dtype_float(DTYPE_I32));
}

static void overflow_and_nan_by_format(void **state) {
    (void)state;
    double inf = (double)INFINITY;
    assert_int_equal(dtype_from_double(DTYPE_F8E4M3, 1e9, true), 0x7e);
    assert_int_equal(dtype_from_double(DTYPE_F8E4M3, -inf, true), 0xfe);
    assert_int_equal(dtype_from_double(DTYPE_F8E4M3, -1e9, false), 0xff);
    assert_int_equal(dtype_from_double(DTYPE_F8E4M3, 464, false), 0x7e);  // a tie, to even
    assert_int_equal(dtype_from_double(DTYPE_F8E5M2, inf, true), 0x7b);
    assert_int_equal(dtype_from_double(DTYPE_F8E5M2, -1e9, false), 0xfc);
    assert_int_equal(dtype_from_double(DTYPE_F8E4M3FNUZ, inf, false), 0x80);
    assert_int_equal(dtype_from_double(DTYPE_F8E5M2FNUZ, -inf, true), 0xff);
    assert_int_equal(dtype_from_double(DTYPE_F8E4M3FNUZ, -0.0, true), 0);
    assert_int_equal(dtype_from_double(DTYPE_F8E4M3FNUZ, -1e-9, true), 0);
    assert_int_equal(dtype_from_double(DTYPE_F16, 1e9, true), 0x7c00);
    assert_int_equal(dtype_from_double(DTYPE_F32, 1e300, true), 0x7f800000);
}

static void f64_bits_pass_unchanged(void **state) {
    (void)state;
    uint64_t payload = UINT64_C(0xfff0000000001234);
    assert_true(dtype_from_double(DTYPE_F64, dtype_to_double(DTYPE_F64, payload), false) ==
                payload);
    assert_true(dtype_is_nan(DTYPE_F64, payload));
    assert_true(dtype_cast(DTYPE_F64, DTYPE_F64, payload, true) == payload);
    assert_int_equal(dtype_cast(DTYPE_F16, DTYPE_F16, 0x7c01, true), 0x7c01);
    assert_int_equal(dtype_cast(DTYPE_F16, DTYPE_F64, payload, true) & 0x8000, 0x8000);
}

// ---- Casts ----

static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }

static const Layout *layout_of(Dtype t) {
    for (int i = 0; i < LAYOUTS; i++) {
        if (layouts[i].type == t) return &layouts[i];
    }
    return NULL;
}

// Every value of every type fits a long double (64 bits of significand or more).
static long double wide_value(Dtype t, uint64_t bits) {
    if (is_float(t)) return (long double)dtype_to_double(t, bits);
    if (!dtype_signed(t)) return (long double)bits;
    return (long double)(int64_t)(bits << (64 - dtype_bits(t))) /
           ldexpl(1, 64 - (int)dtype_bits(t));
}

static uint64_t mask_of(Dtype t) { return UINT64_MAX >> (64 - dtype_bits(t)); }

static uint64_t reference_to_int(Dtype to, Dtype from, uint64_t bits, long double value) {
    if (to == DTYPE_BOOL) return value != 0;  // NaN is not 0
    if (!is_float(from)) {
        uint64_t extended = value < 0 ? 0 - (uint64_t)-value : (uint64_t)value;
        (void)bits;
        return extended & mask_of(to);
    }
    if (isnan(value)) return 0;
    int value_bits = (int)dtype_bits(to) - (dtype_signed(to) ? 1 : 0);
    long double limit = ldexpl(1, value_bits);
    long double least = dtype_signed(to) ? -limit : 0;
    if (value >= limit) return mask_of(to) >> (dtype_signed(to) ? 1 : 0);
    if (value <= least) return dtype_signed(to) ? UINT64_C(1) << value_bits : 0;
    long double whole = truncl(value);
    return (whole < 0 ? 0 - (uint64_t)-whole : (uint64_t)whole) & mask_of(to);
}

static bool is_cast(Dtype to, Dtype from, uint64_t bits, bool saturate, uint64_t found) {
    long double value = wide_value(from, bits);
    const Layout *l = layout_of(to);
    if (l) return is_reference(l, value, saturate, found);
    if (!is_float(to)) return found == reference_to_int(to, from, bits, value);
    double back = dtype_to_double(to, found);
    if (isnan(value)) return isnan(back);
    double expected = to == DTYPE_F32 ? (double)(float)value : (double)value;
    return back == expected && !signbit(back) == !signbit(expected);
}

static void check_cast(Dtype to, Dtype from, uint64_t bits) {
    for (int saturate = 0; saturate < 2; saturate++) {
        uint64_t found = dtype_cast(to, from, bits, saturate != 0);
        if (to == from && found == bits) continue;
        if (!is_cast(to, from, bits, saturate != 0, found)) {
            fail_msg("%s from %s %#llx: %#llx", dtype_name(to), dtype_name(from),
                     (unsigned long long)bits, (unsigned long long)found);
        }
    }
}

static void casts_of_every_small_pattern(void **state) {
    (void)state;
    for (int from = 0; from < DTYPES; from++) {
        if (dtype_bits((Dtype)from) > 16) continue;
        uint64_t end = from == DTYPE_BOOL ? 2 : mask_of((Dtype)from) + 1;
        for (int to = 0; to < DTYPES; to++) {
            for (uint64_t bits = 0; bits < end; bits++) check_cast((Dtype)to, (Dtype)from, bits);
        }
    }
}

// Wide integers at and around every power of two and every midpoint of 8, 11 and 24 bits.
static uint64_t interesting_int(uint64_t random) {
    unsigned shift = (unsigned)(random % 64);
    uint64_t pattern = random >> 6 & 3;
    uint64_t top = UINT64_C(1) << 63 | (random >> 10 & 7) << 52 | (random >> 20 & 1) << 39;
    uint64_t value = top >> shift;
    return pattern == 0 ? value : pattern == 1 ? value + 1 : pattern == 2 ? value - 1 : 0 - value;
}

static uint64_t interesting_bits(Dtype from, uint64_t random) {
    if (!is_float(from)) return interesting_int(random) & mask_of(from);
    if (random % 4 == 0) return random & mask_of(from);
    double value = ldexp((double)interesting_int(random), -(int)(random >> 58));
    return dtype_from_double(from, random % 4 == 1 ? -value : value, false);
}

static void casts_of_wide_types(void **state) {
    (void)state;
    const Dtype wide[] = {DTYPE_I32, DTYPE_I64, DTYPE_U32, DTYPE_U64, DTYPE_F32, DTYPE_F64};
    for (int i = 0; i < 6; i++) {
        for (int to = 0; to < DTYPES; to++) {
            uint64_t random = (uint64_t)(i * DTYPES + to);
            for (int k = 0; k < 10000; k++) {
                check_cast((Dtype)to, wide[i], interesting_bits(wide[i], next_random(&random)));
            }
        }
    }
}

static void integers_round_once(void **state) {
    (void)state;
    // Ties, and one above them: by way of f64 the second would become the first.
    uint64_t tie = UINT64_C(0x8080000000000000);
    assert_true(dtype_to_double(DTYPE_BF16, dtype_cast(DTYPE_BF16, DTYPE_U64, tie, true)) ==
                0x1p63);
    assert_true(dtype_to_double(DTYPE_BF16, dtype_cast(DTYPE_BF16, DTYPE_U64, tie + 1, true)) ==
                0x1.02p63);
    uint64_t tie32 = UINT64_C(0x8000008000000000);
    assert_int_equal(dtype_cast(DTYPE_F32, DTYPE_U64, tie32, true), 0x5f000000);
    assert_int_equal(dtype_cast(DTYPE_F32, DTYPE_U64, tie32 + 1, true), 0x5f000001);
    assert_int_equal(dtype_cast(DTYPE_F16, DTYPE_I64, (uint64_t)INT64_MIN, true), 0xfc00);
}

// ---- The rest ----

static void integers_wrap_and_extend(void **state) {
    (void)state;
    assert_int_equal(dtype_to_i64(DTYPE_I8, 0x80), -128);
    assert_int_equal(dtype_to_i64(DTYPE_U8, 0x80), 128);
    assert_int_equal(dtype_to_i64(DTYPE_I4, 0xf), -1);
    assert_int_equal(dtype_wrap(DTYPE_I16, 0x12345), 0x2345);
    assert_int_equal(dtype_wrap(DTYPE_BOOL, 3), 1);
    assert_true(dtype_int_min(DTYPE_I64) == INT64_MIN && dtype_int_max(DTYPE_I64) == INT64_MAX);
    assert_true(dtype_int_min(DTYPE_U64) == 0 && dtype_int_max(DTYPE_U64) == UINT64_MAX);
    assert_true(dtype_int_min(DTYPE_I4) == -8 && dtype_int_max(DTYPE_I4) == 7);
    assert_true(dtype_int_max(DTYPE_U4) == 15 && dtype_int_max(DTYPE_BOOL) == 1);
}

static void names_return(void **state) {
    (void)state;
    for (int i = 0; i < DTYPES; i++) {
        Dtype t = DTYPES;
        assert_true(dtype_from_name(str(dtype_name((Dtype)i)), &t));
        assert_int_equal(t, i);
    }
    Dtype t = DTYPES;
    assert_false(dtype_from_name(STR("f17"), &t));
    assert_false(dtype_from_name(STR("f1"), &t));
    assert_false(dtype_from_name(STR(""), &t));
}

static void elements_in_memory(void **state) {
    (void)state;
    for (int i = 0; i < DTYPES; i++) {
        Dtype t = (Dtype)i;
        uint8_t memory[64];
        memset(memory, 0xA5, sizeof memory);
        uint64_t value = UINT64_C(0x8899AABBCCDDEEFF) & mask_of(t);
        if (t == DTYPE_BOOL) value = 1;
        uint64_t before = dtype_load(t, memory, 2);
        uint64_t after = dtype_load(t, memory, 4);
        dtype_store(t, memory, 3, value);
        assert_true(dtype_load(t, memory, 3) == value);
        assert_true(dtype_load(t, memory, 2) == before && dtype_load(t, memory, 4) == after);
    }
    uint8_t packed[] = {0x21, 0x43};
    assert_int_equal(dtype_load(DTYPE_U4, packed, 0), 1);
    assert_int_equal(dtype_load(DTYPE_U4, packed, 3), 4);
    uint8_t odd = 0x40;
    assert_int_equal(dtype_load(DTYPE_BOOL, &odd, 0), 1);
    const uint8_t word[] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_int_equal(dtype_load(DTYPE_U32, word, 1), 0x08070605);
    assert_int_equal(dtype_load(DTYPE_U16, word, 1), 0x0403);
    assert_int_equal(dtype_storage(DTYPE_I4, 5), 3);
    assert_int_equal(dtype_storage(DTYPE_F64, 5), 40);
    assert_true(dtype_storage(DTYPE_F64, UINT64_MAX / 4) == SIZE_MAX);
}

static void check_text(Arena *arena, Dtype t, uint64_t bits, const char *expected) {
    StrBuf b = strbuf(arena);
    dtype_text(t, bits, &b);
    assert_string_equal(b.text, expected);
}

static void texts(void **state) {
    (void)state;
    Arena *a = arena_create();
    check_text(a, DTYPE_BOOL, 1, "true");
    check_text(a, DTYPE_I8, 0xfd, "-3");
    check_text(a, DTYPE_U64, UINT64_MAX, "18446744073709551615");
    check_text(a, DTYPE_I4, 8, "-8");
    check_text(a, DTYPE_F16, dtype_from_double(DTYPE_F16, 0.1, true), "0.1");
    check_text(a, DTYPE_F16, 0x7bff, "65504.0");
    check_text(a, DTYPE_BF16, dtype_from_double(DTYPE_BF16, -1e30, true), "-1e+30");
    check_text(a, DTYPE_F32, dtype_from_double(DTYPE_F32, 0.1, true), "0.1");
    check_text(a, DTYPE_F64, dtype_from_double(DTYPE_F64, 1.5, true), "1.5");
    check_text(a, DTYPE_F16, 0x8000, "-0.0");
    check_text(a, DTYPE_F32, 0xff800000, "-inf");
    check_text(a, DTYPE_F8E4M3FNUZ, 0x80, "nan");
    arena_destroy(a);
}

static void every_float_text_reads_back(void **state) {
    (void)state;
    Arena *a = arena_create();
    StrBuf b = strbuf(a);
    for (int i = 0; i < LAYOUTS; i++) {
        for (uint64_t bits = 0; bits < UINT64_C(1) << width_of(&layouts[i]); bits += 7) {
            double value = 0;
            b.size = 0;
            dtype_text(layouts[i].type, bits, &b);
            assert_true(str_to_double(strbuf_str(&b), &value));
            if (dtype_is_nan(layouts[i].type, bits)) continue;
            assert_int_equal(dtype_from_double(layouts[i].type, value, false), bits);
        }
    }
    arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_decodes_and_returns),
        cmocka_unit_test(rounds_to_nearest_around_every_midpoint),
        cmocka_unit_test(rounds_any_double),
        cmocka_unit_test(formats_have_their_published_facts),
        cmocka_unit_test(overflow_and_nan_by_format),
        cmocka_unit_test(f64_bits_pass_unchanged),
        cmocka_unit_test(casts_of_every_small_pattern),
        cmocka_unit_test(casts_of_wide_types),
        cmocka_unit_test(integers_round_once),
        cmocka_unit_test(integers_wrap_and_extend),
        cmocka_unit_test(names_return),
        cmocka_unit_test(elements_in_memory),
        cmocka_unit_test(texts),
        cmocka_unit_test(every_float_text_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
