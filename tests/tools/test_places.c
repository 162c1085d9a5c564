// The places of the compiler library, the order in which they are searched, and the message when it
// is in none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/tools/kernels.h"

#define FILE_NAME "libtilec_llvm.so"
// The command, somewhere where it is not installed and finds nothing of a cache.
#define HERE "env -u TILEC_LLVM_LIBRARY -u LD_LIBRARY_PATH TILEC_CACHE=off "

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "k.tile", text_of("kernel k(f32 x[N]) grid(1) { x[0] = 1; }\n"));
    tool_run(t, 0, "mkdir -p a/bin a/lib a/else a/bin/" TEST_LIBDIR_BESIDE);
    tool_run(t, 0, "cp '" TEST_TOOL "' a/bin/tilec");
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

static void put(Tool *t, const char *folder) {
    tool_run(t, 0, "cp " TEST_FAKE_PLUGIN " a/%s/" FILE_NAME, folder);
}

static void take(Tool *t, const char *folder) { tool_run(t, 0, "rm a/%s/" FILE_NAME, folder); }

// `tilec devices` opens it and says which it is: the fake has LLVM 0.0.
static void found(Tool *t, const char *variables, const char *where) {
    tool_run(t, 0, HERE "%s a/bin/tilec devices", variables);
    if (!tool_output_has(t, "LLVM 0.0, ") || !tool_output_has(t, where))
        fail_msg("%s: expected %s, found: %.*s", variables, where, STR_ARG(t->last.output));
}

// Each place hides the ones after it.
static void the_order(void **state) {
    Tool *t = *state;
    put(t, "bin"), put(t, "lib"), put(t, "else"), put(t, "bin/" TEST_LIBDIR_BESIDE);
    found(t, "TILEC_LLVM_LIBRARY=$PWD/a/else/" FILE_NAME, "/a/else/" FILE_NAME);
    found(t, "LD_LIBRARY_PATH=$PWD/a/else", "/a/bin/" FILE_NAME);
    take(t, "bin");
    found(t, "LD_LIBRARY_PATH=$PWD/a/else", "/a/bin/../lib/" FILE_NAME);
    tool_run(t, 0, "rm -f a/lib/" FILE_NAME);
    if (strcmp(TEST_LIBDIR_BESIDE, "../lib") != 0) {
        found(t, "LD_LIBRARY_PATH=$PWD/a/else", "/a/bin/" TEST_LIBDIR_BESIDE "/" FILE_NAME);
        take(t, "bin/" TEST_LIBDIR_BESIDE);
    }
    // Only by name: the loader knows where.
    found(t, "LD_LIBRARY_PATH=$PWD/a/else", "LLVM 0.0, " FILE_NAME);
    take(t, "else");
}

// A library of another build is passed over, and reported if no other is found.
static void strangers_are_passed_over(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "cp " TEST_FAKE_KERNEL " a/bin/" FILE_NAME);
    put(t, "lib");
    found(t, "", "/a/bin/../lib/" FILE_NAME);
    take(t, "lib");
    tool_run(t, 0, HERE "a/bin/tilec devices");
    assert_true(tool_output_has(t, "/a/bin/" FILE_NAME ": it is not a compiler library of tilec"));
    take(t, "bin");
}

static void nowhere_lists_the_places(void **state) {
    static const char *const places[] = {
        "/a/bin/" FILE_NAME ": no such file",
        "/a/bin/../lib/" FILE_NAME ": no such file",
        "/a/bin/" TEST_LIBDIR_BESIDE "/" FILE_NAME ": no such file",
        "note: " FILE_NAME ": ",
        "TILEC_LLVM_LIBRARY=",
    };
    Tool *t = *state;
    // A library that is installed for all users is found here.
    tool_run(t, 0, HERE "a/bin/tilec devices");
    if (tool_output_has(t, "LLVM 22")) {
        print_message("skipped: the machine has a compiler library installed\n");
        return;
    }
    tool_run(t, 4, HERE "a/bin/tilec run k.tile --set N=3 --device cpu");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!tool_output_has(t, places[i]))
            fail_msg("expected '%s', found: %.*s", places[i], STR_ARG(t->last.errors));
    // The variable is not one place among others.
    put(t, "bin");
    tool_run(t, 4,
             HERE "TILEC_LLVM_LIBRARY=/none/l.so a/bin/tilec run k.tile --set N=3 --device cpu");
    assert_true(tool_output_has(t, "note: /none/l.so: no such file"));
    assert_false(tool_output_has(t, "/a/bin/"));
    take(t, "bin");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order),
        cmocka_unit_test(strangers_are_passed_over),
        cmocka_unit_test(nowhere_lists_the_places),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
