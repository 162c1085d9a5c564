// A defect of ours leaves the IR that was being worked on in a file, and says where.
#define _GNU_SOURCE  // setenv
#include "compile/pipeline/defect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/os/os_child.h"
#include "ir/text/text.h"

static const char kernel_text[] =
    "kernel @%s(%%x: view f32[N]) {level = cpu} {\n"
    "  grid {\n"
    "    %%0 = const {value = 1} : i64\n"
    "    yield %%0\n"
    "  }\n"
    "  body {\n"
    "    return\n"
    "  }\n"
    "}\n";

static IrModule *module_of(Arena *arena, const char *name) {
    Sources *sources = sources_create(arena);
    Str text = str(arena_printf(arena, kernel_text, name));
    Diags *diags = diags_create(arena, sources);
    IrModule *m = ir_parse(arena, sources, interner_create(arena),
                           source_add(sources, STR("k.tir"), text), diags);
    assert_non_null(m);
    return m;
}

static Defect defect_of(Arena *arena, const char *name) {
    return (Defect){.arena = arena,
                    .func = module_of(arena, name)->funcs.data[0],
                    .target = {.cpu = {.level = CPU_X86_64_V3}},
                    .entry = STR("k_v1"),
                    .facts = 5};
}

// Defects in defects: the passes change the inner one, and break.
static void breaks(void *argument, OsChildOut *out) {
    Arena *arena = argument;
    (void)out;
    Defect outer = defect_of(arena, "outer"), inner = defect_of(arena, "inner"),
           ended = defect_of(arena, "ended");
    defect_begin(&outer);
    defect_begin(&ended);
    defect_end(&ended);
    defect_begin(&inner);
    // The file holds the module as it was before this change.
    IrModule *module = module_of(arena, "changed");
    inner.func = module->funcs.data[0];
    CHECK(inner.facts == 0, "planted: %u", inner.facts);
}

static void works(void *argument, OsChildOut *out) {
    Defect d = defect_of(argument, "fine");
    defect_begin(&d);
    defect_end(&d);
    os_child_write(out, "done", 4);
}

static OsChildEnd run(Arena *arena, void (*work)(void *, OsChildOut *)) {
    OsChildEnd end;
    OsError e;
    setenv("TMPDIR", TEST_BINARY_DIR, 1);
    assert_true(os_child_run(arena, work, arena, 20, &end, &e));
    return end;
}

static void expect_file(Arena *arena, const char *name, const char **rest) {
    static const char before[] = "tilec: its input is saved in ";
    const char *at = strstr(*rest, before);
    if (!at) fail_msg("no file of %s: %s", name, *rest);
    at += strlen(before);
    const char *path = arena_text(arena, at, strcspn(at, ";"));
    *rest = at;
    Str text;
    OsError e;
    assert_true(os_read_file(arena, path, 1 << 20, &text, &e));
    assert_non_null(strstr(text.text, "while it lowered it"));
    assert_non_null(strstr(text.text, "// Target: x86-64-v3, entry: k_v1, facts: 0x5\n"));
    assert_non_null(strstr(text.text, arena_printf(arena, "kernel @%s(", name)));
    assert_null(strstr(text.text, "@changed"));
    assert_int_equal(remove(path), 0);
}

static void a_failed_check_leaves_files(void **state) {
    (void)state;
    Arena *arena = arena_create();
    OsChildEnd end = run(arena, breaks);
    assert_int_equal(end.outcome, OS_CHILD_EXITED);
    assert_int_equal(end.number, 70);
    const char *said = arena_text(arena, end.errors.text, end.errors.size);
    assert_non_null(strstr(said, "tilec: internal defect at "));
    assert_non_null(strstr(said, "planted: 5"));
    expect_file(arena, "inner", &said);
    expect_file(arena, "outer", &said);
    assert_null(strstr(said, "kept in"));
    arena_destroy(arena);
}

static void what_works_leaves_none(void **state) {
    (void)state;
    Arena *arena = arena_create();
    OsChildEnd end = run(arena, works);
    assert_int_equal(end.outcome, OS_CHILD_DONE);
    assert_int_equal(end.errors.size, 0);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_check_leaves_files),
        cmocka_unit_test(what_works_leaves_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
