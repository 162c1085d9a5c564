// Numbers in text: which are ones, and their values.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

static void whole_numbers(void **state) {
    (void)state;
    const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"0", 0},
        {"007", 7},
        {"1_000_000", 1000000},
        {"0xfF", 255},
        {"0XA", 10},
        {"0b1010", 10},
        {"0b1_0", 2},
        {"18446744073709551615", UINT64_MAX},
        {"0xffff_ffff_ffff_ffff", UINT64_MAX},
        {"000000000000000000000000000000000001", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 99;
        bool overflow = true;
        assert_true(str_to_u64(str(cases[i].text), &value, &overflow));
        assert_true(value == cases[i].value && !overflow);
    }
}

static void whole_numbers_too_large(void **state) {
    (void)state;
    const char *const texts[] = {"18446744073709551616", "0x10000000000000000",
                                 "99999999999999999999999999", "36893488147419103232"};
    for (int i = 0; i < 4; i++) {
        uint64_t value = 0;
        bool overflow = false;
        assert_true(str_to_u64(str(texts[i]), &value, &overflow));
        assert_true(overflow && value == UINT64_MAX);
        assert_true(str_to_u64(str(texts[i]), &value, NULL));
    }
}

static void no_whole_numbers(void **state) {
    (void)state;
    const char *const texts[] = {"",    "_",   "1_", "_1", "1__0", "0x", "0b", "0x_1",
                                 "0b2", "0xg", "1a", "-1", "+1",   " 1", "1 ", "1.0"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint64_t value = 0;
        bool overflow = false;
        assert_false(str_to_u64(str(texts[i]), &value, &overflow));
    }
}

static void fractions(void **state) {
    (void)state;
    const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"1.5", 1.5},
        {"-2.25e3", -2250},
        {"+.5", 0.5},
        {"5.", 5},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"1e-22", 1e-22},
        {"123456789012345678", 123456789012345678.0},
        {"9007199254740993", 9007199254740992.0},
        {"0.1", 0.1},
        {"1_000.5", 1000.5},
        {"0x1.8p1", 3},
        {"0x10", 16},
        {"0x.8", 0.5},
        {"-0x1p-1074", -0x1p-1074},
        {"1e400", (double)INFINITY},
        {"1e-400", 0},
        {"1e99999999999999999999", (double)INFINITY},
        {"0e99999999999999999999", 0},
        {"inf", (double)INFINITY},
        {"-inf", -(double)INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 99;
        assert_true(str_to_double(str(cases[i].text), &value));
        assert_true(value == cases[i].value);
    }
    double zero = 1;
    assert_true(str_to_double(STR("-0"), &zero) && zero == 0 && signbit(zero));
    assert_true(str_to_double(STR("nan"), &zero) && isnan(zero));
}

static void no_fractions(void **state) {
    (void)state;
    const char *const texts[] = {"",    ".",   "-",      "e5",       "1e",   "1e+",   "1.e+",
                                 "0x",  "0x.", "0x1p",   "0x1.8p+",  "1..2", "1.2.3", "--1",
                                 "+-1", "1f",  "nan(1)", "infinity", "INF",  " 1",    "1 ",
                                 "1_",  "_1",  "1__2",   "1_.5",     "1._5", "1.5_",  "1e5_"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 0;
        if (str_to_double(str(texts[i]), &value)) fail_msg("'%s' is read", texts[i]);
    }
    double value = 0;
    assert_false(str_to_double(STR("1\0"), &value));
}

// The fast path and the copy, long texts included, against the C library's own conversion.
static void agrees_with_strtod(void **state) {
    (void)state;
    uint64_t random = 7;
    char text[64];
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned long long digits = random >> (random % 60);
        int size = snprintf(text, sizeof text, "%llu.%llue%d", digits % 1000000007, digits,
                            (int)(random >> 40 & 63) - 32);
        double value = 0;
        assert_true(str_to_double((Str){text, (size_t)size}, &value));
        assert_true(value == strtod(text, NULL));
    }
    static char large[100000];
    memset(large, '3', sizeof large - 1);
    large[1] = '.';
    double value = 0;
    assert_true(str_to_double(str(large), &value));
    assert_true(value == 10.0 / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),    cmocka_unit_test(whole_numbers_too_large),
        cmocka_unit_test(no_whole_numbers), cmocka_unit_test(fractions),
        cmocka_unit_test(no_fractions),     cmocka_unit_test(agrees_with_strtod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
