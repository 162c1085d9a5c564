// Comparing random kernels as code with the interpreter finds defects out: planted ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/gen/gen.h"
#include "tests/support/foreign.h"

enum { SEEDS = 30, ENOUGH = 8 };  // one in ENOUGH is to be found out

static const char *const names[JITTED_PLANTS] = {
    "",           "another sum", "another order", "select swapped", "another constant",
    "lost store", "sign of zero"};

static void check_plant(JittedPlant plant, const char *foreign) {
    uint32_t found = 0, missed = 0;
    GenCode how = {{.statements = 20, .depth = 2}, .quick = !foreign, .foreign = foreign};
    how.chain = plant == JITTED_ZERO_SIGN;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        GenPlanted p = gen_check_planted(seed * 7919, how, plant);
        found += p == GEN_FOUND_OUT;
        missed += p == GEN_MISSED;
    }
    print_message("%s: %u of %u found out\n", names[plant], found, found + missed);
    assert_true(found && found * ENOUGH >= found + missed);
}

static void need(const char *why) {
    if (!why) return;
    print_message("skipped: %s\n", why);
    skip();
}

static void defects_are_found_out(void **state) {
    (void)state;
    need(jitted_possible() ? NULL : "libtilec_llvm was not built");
    for (int plant = JITTED_NO_PLANT + 1; plant < JITTED_PLANTS; plant++)
        check_plant((JittedPlant)plant, NULL);
}

static void defects_of_another_machine_are_found_out(void **state) {
    (void)state;
    for (size_t i = 0; i < GEN_TARGETS; i++) {
        const GenTarget *t = &gen_targets[i];
        if (t->kind != GEN_CPU || !foreign_is(t->cpu)) continue;
        const char *why = gen_target_missing(t);
        print_message("%s%s%s\n", t->name, why ? " skipped: " : "", why ? why : "");
        if (!why) check_plant(JITTED_SWAPPED, t->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defects_are_found_out),
        cmocka_unit_test(defects_of_another_machine_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
