// The table of launch facts: its bits are part of the archive's format.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/facts.h"

// One bit after the other, so that a new fact is added at the end.
static void bits_follow_one_another(void **state) {
    (void)state;
    for (unsigned i = 0; i < FACTS; i++) assert_int_equal(launch_facts[i].bit, 1u << i);
}

static void bits_are_those_of_archives(void **state) {
    (void)state;
    assert_int_equal(FACT_DISJOINT, 1);
    assert_int_equal(FACT_CONTIGUOUS, 2);
    assert_int_equal(FACT_STREAM, 4);
    assert_int_equal(FACT_WIDE, 8);
    assert_int_equal(FACT_NARROW, 16);
    assert_int_equal(FACT_NEAR, 32);
    assert_int_equal(FACT_MAPPED, 64);
    assert_int_equal(FACT_PERSISTENT, 128);
}

static void names_and_texts_differ(void **state) {
    (void)state;
    for (unsigned i = 0; i < FACTS; i++)
        for (unsigned k = 0; k < i; k++) {
            assert_string_not_equal(launch_facts[i].name, launch_facts[k].name);
            assert_string_not_equal(launch_facts[i].text, launch_facts[k].text);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_follow_one_another),
        cmocka_unit_test(bits_are_those_of_archives),
        cmocka_unit_test(names_and_texts_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
