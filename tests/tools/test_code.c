// The command with the real code generator: code in every form, and a warm cache without LLVM.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/tools/kernels.h"

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "good.tile", text_of(COPY("f32")));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

static bool can_generate(void) {
#ifdef TEST_CODEGEN
    return true;
#else
    print_message("skipped: libtilec_llvm was not built\n");
    return false;
#endif
}

#define KEPT "TILEC_CACHE_DIR=$PWD/store "
#define COUNT_LLVM "LD_DEBUG=files tilec run good.tile --set N=3 --device cpu 2>&1 | grep -ci llvm"

// The loader lists what it opens: LLVM on the first run, not on the second.
static void a_warm_cache_opens_no_llvm(void **state) {
    Tool *t = *state;
    if (!can_generate()) return;
    tool_run(t, 0, KEPT COUNT_LLVM);
    tool_run(t, 1, KEPT COUNT_LLVM);
    assert_true(tool_said(t, "0\n"));
    tool_run(t, 0, KEPT "tilec cache ls");
    assert_true(tool_said(t, "1 entries, "));
    // Damaged on disk, it is made again, and runs.
    tool_run(t, 0, "for f in store/*.so; do printf x | dd of=$f bs=1 seek=99 conv=notrunc; done");
    tool_run(t, 3, KEPT "tilec cache verify");
    tool_run(t, 0, KEPT COUNT_LLVM);
    tool_run(t, 0, KEPT "tilec cache verify");
    assert_true(tool_said(t, "1 entries, 0 damaged"));
}

static void the_same_input_gives_the_same_bytes(void **state) {
    Tool *t = *state;
    if (!can_generate()) return;
    tool_run(t, 0, "TILEC_CACHE_DIR=$PWD/a tilec run good.tile --set N=3 --device cpu");
    tool_run(t, 0,
             "TILEC_CACHE_DIR=$PWD/b TILEC_COMPILE_IN_CHILD=1 "
             "tilec run good.tile --set N=3 --device cpu");
    tool_run(t, 0, "diff -r a b");
}

static void code_has_many_forms(void **state) {
    Tool *t = *state;
    if (!can_generate()) return;
    tool_prints(t, "define void @copy", "tilec emit good.tile --as llvm");
    tool_prints(t, "vmovups", "tilec emit good.tile --as asm --target x86-64-v3");
    tool_prints(t, "\tret\n", "tilec emit good.tile --as asm --target aarch64 --variant 0");
    tool_run(t, 0, "tilec emit good.tile --as object -o k.o && head -c 4 k.o | grep -c ELF");
    tool_prints(t, "\"facts\":[\"disjoint\",\"contiguous\"]",
                "tilec emit good.tile --as metadata --target native");
    tool_prints(t, "cpu.store", "tilec emit good.tile --as cpu-ir -o k.tir && tilec opt k.tir");
    tool_run(t, 0, "tilec run good.tile --set N=3 --device cpu --time-passes");
    assert_true(tool_said(t, "codegen.emit"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_cache_opens_no_llvm),
        cmocka_unit_test(the_same_input_gives_the_same_bytes),
        cmocka_unit_test(code_has_many_forms),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
