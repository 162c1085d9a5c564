// Compiling in a child process: results come back whole, and no end of the child harms this one.
#define _GNU_SOURCE  // setenv
#include "compile/jit/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/os/os.h"
#include "ir/text/text.h"

typedef struct World {
    Arena *arena;
    Diags *diags;
    ChildJob job;
    CodegenOptions options;
    CodegenTimes times;
} World;

static const char kernel_text[] =
    "kernel @planted(%x: view f32[N]) {level = cpu} {\n"
    "  grid {\n"
    "    %0 = const {value = 1} : i64\n"
    "    yield %0\n"
    "  }\n"
    "  body {\n"
    "    return\n"
    "  }\n"
    "}\n";

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    Sources *sources = sources_create(w->arena);
    w->diags = diags_create(w->arena, sources);
    const SourceFile *file = source_add(sources, STR("k.tir"), str(kernel_text));
    IrModule *m = ir_parse(w->arena, sources, interner_create(w->arena), file, w->diags);
    assert_non_null(m);
    w->options = (CodegenOptions){.output = CODEGEN_ASM, .entry = STR("k"), .times = &w->times};
    w->job = (ChildJob){.func = m->funcs.data[0], .options = &w->options};
    setenv("TILEC_LLVM_LIBRARY", TEST_FAKE_PLUGIN, 1);
    setenv("TMPDIR", TEST_BINARY_DIR, 1);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    arena_destroy(w->arena);
    free(w);
    unsetenv("FAKE_PLUGIN");
    return 0;
}

static bool compile(World *w, const char *mode, Str *output) {
    setenv("FAKE_PLUGIN", mode, 1);
    return child_compile(w->arena, &w->job, output, w->diags);
}

static Str all_said(World *w) {
    StrBuf all = strbuf(w->arena);
    diags_text(w->diags, (DiagStyle){0}, &all);
    return strbuf_str(&all);
}

static void expect(World *w, const char *text) {
    Str all = all_said(w);
    if (!strstr(all.text, text)) fail_msg("expected '%s', found: %s", text, all.text);
}

static void results_come_back(void **state) {
    World *w = *state;
    Str output = {0};
    assert_true(compile(w, "", &output));
    assert_true(str_equal(output, STR("text of the fake\n")));
    assert_int_equal(w->times.build, 1);
    assert_int_equal(w->times.link, 4);
    assert_int_equal(diags_count(w->diags), 0);
}

static void diagnostics_come_back(void **state) {
    World *w = *state;
    Str output;
    assert_false(compile(w, "refuse", &output));
    assert_int_equal(diags_errors(w->diags), 1);
    assert_int_equal(diags_warnings(w->diags), 1);
    expect(w, "k.tir:1:");
    expect(w, "'planted' is refused [unsupported]");
    expect(w, "note: it was planted");
    expect(w, "help: plant less");
}

// The file that the message names holds the kernel as the code generator had it.
static void expect_reproducer(World *w) {
    static const char before[] = "its input is saved in ";
    const char *at = strstr(all_said(w).text, before);
    assert_non_null(at);
    at += strlen(before);
    const char *path = arena_text(w->arena, at, strcspn(at, "\n"));
    Str text;
    OsError e;
    assert_true(os_read_file(w->arena, path, 1 << 20, &text, &e));
    assert_non_null(strstr(text.text, "kernel @planted"));
    assert_int_equal(remove(path), 0);
}

static void an_abort_is_a_message(void **state) {
    World *w = *state;
    Str output;
    assert_false(compile(w, "abort", &output));
    expect(w, "the code generator crashed (signal 6) on kernel 'planted' [defect]");
    expect(w, "it said: LLVM ERROR: Cannot select: t5: i32 = planted");
    expect_reproducer(w);
    // And the next one works.
    assert_true(compile(w, "", &output));
}

static void so_is_a_crash(void **state) {
    World *w = *state;
    Str output;
    assert_false(compile(w, "crash", &output));
    expect(w, "the code generator crashed (signal 11)");
    expect_reproducer(w);
}

static void so_is_an_exit(void **state) {
    World *w = *state;
    Str output;
    assert_false(compile(w, "exit", &output));
    expect(w, "the code generator ended early (status 70)");
    expect_reproducer(w);
}

static void so_is_an_endless_loop(void **state) {
    World *w = *state;
    Str output;
    w->job.seconds = 1;
    assert_false(compile(w, "hang", &output));
    expect(w, "the code generator did not end within 1 seconds");
    expect_reproducer(w);
}

// Nothing is wrong with it, then: no file is kept.
static void a_limit_of_time_is_no_defect(void **state) {
    World *w = *state;
    Str output;
    w->job.limit = (PassLimit){os_time_ns() + 1000000000, 5};
    assert_false(compile(w, "hang", &output));
    expect(w, "compiling 'planted' took more than 5 seconds (in LLVM) [limit]");
    assert_null(strstr(all_said(w).text, "is kept in"));
    w->job.limit = (PassLimit){0};
    assert_true(compile(w, "", &output));
}

static void a_missing_library_is_told(void **state) {
    World *w = *state;
    Str output;
    setenv("TILEC_LLVM_LIBRARY", "/no/such/file.so", 1);
    assert_false(compile(w, "", &output));
    expect(w, "/no/such/file.so: no such file");
    expect(w, "[unavailable]");
}

#define CHILD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CHILD_TEST(results_come_back),
        CHILD_TEST(diagnostics_come_back),
        CHILD_TEST(an_abort_is_a_message),
        CHILD_TEST(so_is_a_crash),
        CHILD_TEST(so_is_an_exit),
        CHILD_TEST(so_is_an_endless_loop),
        CHILD_TEST(a_limit_of_time_is_no_defect),
        CHILD_TEST(a_missing_library_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
