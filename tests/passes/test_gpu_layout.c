// gpu_layout: the time for bodies that were unrolled to tens of thousands of ops, and that a limit
// of time ends the pass.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/recover.h"
#include "passes/pass.h"
#include "tests/support/pass_world.h"

// Seconds of this processor. The pass takes 0.1, and took 7 when it visited all ops once for each
// class that no layout reaches.
static const double SECONDS_MOST = 2;
enum { GATHERS = 12000 };

// Each index is a class of its own, which no layout reaches; its layout depends on no other one.
static const char *gathers(Arena *arena) {
    StrBuf b = strbuf(arena);
    strbuf_printf(&b,
                  "kernel @k(%%x: view i32[N], %%n: i64) {lanes = 64} { body {\n"
                  "%%0 = const {value = 0} : i64\n"
                  "%%1 = view_load %%x, _, %%0 {select = [8]} : i32[8]\n");
    int v = 1;
    for (int i = 0; i < GATHERS; i++, v += 4)
        strbuf_printf(&b,
                      "%%%d = broadcast %%n : i64[1]\n"
                      "%%%d = gather %%%d, %%%d {axis = 0} : i32[1]\n"
                      "%%%d = broadcast %%%d : i32[8]\n"
                      "%%%d = add %%%d, %%%d : i32[8]\n",
                      v + 1, v + 2, v, v + 1, v + 3, v + 2, v + 4, v, v + 3);
    strbuf_printf(&b, "view_store %%x, %%%d, _, %%0 {select = [8]}\nreturn\n} }\n", v);
    return b.text;
}

static void long_bodies_take_linear_time(void **state) {
    static const PassStep steps[] = {{PASS_GPU_LAYOUT, "what is tested"}};
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w, gathers(w.arena));
    Machine machine = machine_of_gpu((GpuTarget){.vendor = GPU_AMD, .number = 0x942});
    clock_t before = clock();
    assert_true(passes_run(m, steps, 1, &(PassOptions){.machine = &machine}, w.diags));
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    print_message("%d gathers: %.2f s\n", GATHERS, seconds);
    if (seconds > SECONDS_MOST) fail_msg("%d gathers take %.2f s", GATHERS, seconds);
    pass_world_free(&w);
}

static void a_limit_ends_it(void **state) {
    static const PassStep steps[] = {{PASS_GPU_LAYOUT, "what is tested"}};
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w, gathers(w.arena));
    Machine machine = machine_of_gpu((GpuTarget){.vendor = GPU_AMD, .number = 0x942});
    PassAnalyses *analyses = pass_analyses_create();
    PassOptions o = {.machine = &machine, .limit = {.end = 1, .seconds = 1}, .analyses = analyses};
    assert_false(passes_run(m, steps, 1, &o, w.diags));
    assert_int_equal(m->funcs.data[0]->level, IR_LEVEL_TILE);  // the pass did not reach its end
    assert_int_equal(diags_errors(w.diags), 1);
    assert_string_equal(diags_get(w.diags, 0)->text.text,
                        "compiling 'k' took more than 1 second (in the pass 'gpu_layout')");
    assert_false(recover_possible());
    pass_analyses_destroy(analyses);
    pass_world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_bodies_take_linear_time),
        cmocka_unit_test(a_limit_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
