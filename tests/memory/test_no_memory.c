// Memory runs out at each allocation of a session in rotation: each call succeeds or reports it,
// and does its work when it is repeated. At the end the sanitizer finds anything that was not
// freed.
#define _GNU_SOURCE  // mkdtemp, setenv
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "tests/memory/failing.h"
#include "tests/memory/session.h"
#include "tests/support/portion.h"
#include "tests/support/slice.h"

static void forget(const char *folder) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

// Every `step`-th allocation, each in a session with a cache of its own where it is not kept.
static void run_all(SessionPlan plan, bool keep_cache, size_t step) {
    char folder[64], cache[80];
    snprintf(folder, sizeof folder, "%s/tilec-test-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(folder));
    snprintf(cache, sizeof cache, "%s/cache", folder);
    plan.cache = cache;
    plan.nth = 0;
    session_run(&plan);  // the caches of the C library and of tilec are warm
    size_t count = session_run(&plan), tried = 0;
    if (!keep_cache) forget(cache), count = session_run(&plan);
    Portion part = portion();
    for (size_t n = 1 + slice_number() % step; n <= count; n += step, tried++) {
        if (!portion_has(part, n / step)) continue;
        if (!keep_cache) forget(cache);
        plan.nth = n;
        session_run(&plan);
    }
    forget(folder);
    print_message("%s, manner %u: %zu of %zu allocations\n", plan.device, plan.how, tried, count);
}

static size_t sampled(size_t step) { return getenv("TILEC_TEST_WHOLE") ? 1 : step; }

static void on_interp(void **state) {
    (void)state;
    run_all((SessionPlan){.device = "interp", .how = FAILING_ONCE}, true, sampled(2));
    run_all((SessionPlan){.device = "interp", .how = FAILING_ON}, true, sampled(2));
    run_all((SessionPlan){.device = "interp", .how = FAILING_BLOCKS}, true, sampled(3));
    run_all((SessionPlan){.device = "interp", .how = FAILING_BLOCKS | FAILING_ON}, true,
            sampled(7));
    run_all((SessionPlan){.device = "interp", .how = FAILING_ONCE, .tunes = true}, true,
            sampled(5));
    run_all((SessionPlan){.device = "interp", .how = FAILING_ON, .tunes = true}, true, sampled(9));
}

static void on_cpu(void **state) {
    (void)state;
    setenv("FAKE_KERNEL", TEST_FAKE_KERNEL, 1);
    SessionPlan plan = {.device = "cpu", .library = TEST_FAKE_PLUGIN};
    run_all(plan, false, sampled(2));
    plan.how = FAILING_ON;
    run_all(plan, false, sampled(2));
    run_all(plan, true, sampled(2));
    plan.how = FAILING_BLOCKS;
    run_all(plan, false, sampled(3));
    plan.how = FAILING_BLOCKS | FAILING_ON;
    run_all(plan, true, sampled(7));
}

static void on_sim(void **state) {
    (void)state;
#ifdef TEST_CODEGEN
    SessionPlan plan = {.device = "sim:sm_80"};
    run_all(plan, true, sampled(2));
    plan.how = FAILING_BLOCKS;
    run_all(plan, true, sampled(31));
#else
    print_message("no libtilec_llvm here\n");
    skip();
#endif
}

int main(void) {
    static const char table[] = TEST_BINARY_DIR "/no-memory-tune.txt";
    setenv("TILEC_TUNE_FILE", table, 1);
    remove(table);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_interp),
        cmocka_unit_test(on_cpu),
        cmocka_unit_test(on_sim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
