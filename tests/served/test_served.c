// The server of commands (served.h): a command that it runs says, does and leaves what one that a
// shell starts does, and what a sanitizer finds in it ends it.
#define _GNU_SOURCE  // setenv
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/tools/kernels.h"

#ifdef TEST_SERVER
static const bool has_server = true;
#else
static const bool has_server = false;
#endif

static int set_up(void **state) {
    setenv("TILEC_TEST_SLICE", "0", 1);  // without it there is no server
    Tool *t = tool_open();
    tool_file(t, "k.tile", STR("kernel k(f32 x[N]) grid(1) { x[0] = 1; }\n"));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

static void streams_status_and_folder_are_the_callers(void **state) {
    Tool *t = *state;
    tool_prints(t, "tilec ", "tilec --version");
    tool_fails(t, 2, "unknown command 'nothing'", "tilec nothing");
    tool_run(t, 0, "mkdir -p sub; cd sub; tilec check ../k.tile");
    tool_run(t, 0, "cat k.tile | tilec check -");
    tool_fails(t, 1, "cannot read 'no.tile'", "cat no.tile 2>/dev/null; tilec check no.tile");
    tool_run(t, 0, "tilec --version >&-; test $? = 1");
}

static void variables_mask_and_limits_are_the_callers(void **state) {
    Tool *t = *state;
    tool_run(t, 0,
             "NO_COLOR= tilec check no.tile --color always 2>&1 | grep -q \"$(printf '\\33')\"");
    tool_prints(t, "600", "umask 077; tilec emit k.tile -o a.tir; stat -c %%a a.tir");
    tool_prints(t, "640", "umask 027; tilec emit k.tile -o b.tir; stat -c %%a b.tir");
    tool_run(t, 0, "trap '' PIPE; { tilec emit --help; echo $? >status; } | true; test -s status");
    tool_run(t, 0, "sh -c 'ulimit -f 0; tilec emit k.tile -o c.tir' 2>/dev/null; test $? -gt 0");
}

// A command ends when the program that asked for it is killed: otherwise `cat` would wait for its
// output.
static void a_command_ends_with_its_caller(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "mkfifo p; exec 3<>p; timeout -s KILL 0.2 tilec check - <p | cat");
    tool_run(t, 0, "tilec emit k.tile --help | true");
}

// Only the server's command knows the variable.
static void a_leak_ends_a_command(void **state) {
    Tool *t = *state;
    ProcessResult r;
    unsigned found = 0;
    for (int i = 0; i < 2; i++) {  // every second command is searched
        Process p = {"TILEC_TEST_LEAK=1 tilec --version", t->folder, TEST_BINARY_DIR, 60, true};
        assert_true(process_run(t->arena, &p, &r));
        found += r.status == PROCESS_SANITIZER;
    }
    assert_int_equal(found, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_status_and_folder_are_the_callers),
        cmocka_unit_test(variables_mask_and_limits_are_the_callers),
        cmocka_unit_test(a_command_ends_with_its_caller),
        cmocka_unit_test(a_leak_ends_a_command),
    };
    if (has_server) return cmocka_run_group_tests(tests, set_up, tear_down);
    print_message("skipped: only builds with the address sanitizer have a server\n");
    return 0;
}
