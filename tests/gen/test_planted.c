// Comparing random kernels as code with the interpreter finds defects out: planted ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/gen/gen.h"

enum { SEEDS = 30, ENOUGH = 8 };  // one in ENOUGH is to be found out

static const char *const names[JITTED_PLANTS] = {
    "", "another sum", "another order", "select swapped", "another constant", "lost store"};

static void check_plant(JittedPlant plant) {
    uint32_t found = 0, missed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        GenPlanted p = gen_check_planted(seed * 7919, (GenSize){20, 2}, plant);
        found += p == GEN_FOUND_OUT;
        missed += p == GEN_MISSED;
    }
    print_message("%s: %u of %u found out\n", names[plant], found, found + missed);
    assert_true(found && found * ENOUGH >= found + missed);
}

static void defects_are_found_out(void **state) {
    (void)state;
    if (!jitted_possible()) {
        print_message("skipped: libtilec_llvm was not built\n");
        skip();
    }
    for (int plant = JITTED_NO_PLANT + 1; plant < JITTED_PLANTS; plant++)
        check_plant((JittedPlant)plant);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(defects_are_found_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
