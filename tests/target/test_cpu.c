// Names of CPUs, what runs what, and what this machine has.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "target/cpu.h"

static const char everything[] = "x86-64-v4+vnni+bf16+fp16+amx-bf16+amx-int8";

static void names_parse_back(void **state) {
    (void)state;
    for (unsigned extras = 0; extras < 32; extras++) {
        CpuTarget t = {CPU_X86_64_V4, extras}, back;
        char name[CPU_NAME_MAX];
        assert_true(cpu_target_parse(str(cpu_target_name(t, name)), &back));
        assert_int_equal(back.level, t.level);
        assert_int_equal(back.extras, t.extras);
    }
    char name[CPU_NAME_MAX];
    assert_string_equal(cpu_target_name((CpuTarget){CPU_X86_64_V4, 31}, name), everything);
}

static void others_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "x86-64-v3+amx-bf16",
                                      "aarch64+amx-int8",
                                      "x86-64-v4+amx",
                                      "x86-64-v4+amx-bf16+amx-bf16",
                                      "x86-64-v4+amx-int8+",
                                      "x86-64-v4+amx-tile"};
    CpuTarget t;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cpu_target_parse(str(bad[i]), &t));
}

static void more_runs_less(void **state) {
    (void)state;
    CpuTarget all = {CPU_X86_64_V4, 31};
    for (unsigned extras = 0; extras < 32; extras++) {
        CpuTarget t = {CPU_X86_64_V4, extras};
        assert_true(cpu_runs(all, t));
        assert_int_equal(cpu_runs(t, all), extras == 31);
    }
}

static void what_runs_here_is_the_same_both_ways(void **state) {
    (void)state;
    CpuTarget native = cpu_native();
    assert_true(cpu_runs_here(native));
    for (unsigned extras = 0; extras < 32; extras++) {
        CpuTarget t = {CPU_X86_64_V4, extras};
        assert_int_equal(cpu_runs_here(t), cpu_runs(native, t));
    }
}

// The permission is the process's: once given, it is given again.
static void tile_registers_are_asked_for(void **state) {
    (void)state;
    bool first = os_tile_registers_ask();
    if (cpu_native().extras & CPU_AMX) assert_true(first);
    assert_int_equal(os_tile_registers_ask(), first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_parse_back),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(more_runs_less),
        cmocka_unit_test(what_runs_here_is_the_same_both_ways),
        cmocka_unit_test(tile_registers_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
