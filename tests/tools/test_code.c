// The command with the real code generator: code in every form, and a warm cache without LLVM.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/codegen_plugin.h"
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

#define KEPT "TILEC_CACHE_DIR=$PWD/store "
#define COUNT_LLVM \
    "LD_DEBUG=files '" TEST_TOOL "' run good.tile --set N=3 --device cpu 2>&1 | grep -ci llvm"

// The loader lists what it opens: LLVM on the first run, not on the second.
static void a_warm_cache_opens_no_llvm(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_run(t, 0, KEPT COUNT_LLVM);
    tool_run(t, 1, KEPT COUNT_LLVM);
    assert_true(tool_output_has(t, "0\n"));
    tool_run(t, 0, KEPT "tilec cache ls");
    assert_true(tool_output_has(t, "1 entry, "));
    // If the file is damaged on disk, the kernel is compiled again, and runs.
    tool_run(t, 0, "for f in store/*.so; do printf x | dd of=$f bs=1 seek=99 conv=notrunc; done");
    tool_run(t, 3, KEPT "tilec cache verify");
    tool_run(t, 0, KEPT COUNT_LLVM);
    tool_run(t, 0, KEPT "tilec cache verify");
    assert_true(tool_output_has(t, "1 entry, 0 damaged"));
}

static void the_same_input_gives_the_same_bytes(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_run(t, 0, "TILEC_CACHE_DIR=$PWD/a tilec run good.tile --set N=3 --device cpu");
    tool_run(t, 0,
             "TILEC_CACHE_DIR=$PWD/b TILEC_COMPILE_IN_CHILD=1 "
             "tilec run good.tile --set N=3 --device cpu");
    tool_run(t, 0, "diff -r a b");
}

static void code_has_many_forms(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_prints(t, "define void @copy", "tilec emit good.tile --as llvm");
    tool_prints(t, "vmovups", "tilec emit good.tile --as asm --target x86-64-v3");
    tool_prints(t, "\tret\n", "tilec emit good.tile --as asm --target aarch64 --variant 0");
    tool_run(t, 0, "tilec emit good.tile --as object -o k.o && head -c 4 k.o | grep -c ELF");
    tool_prints(t, "\"facts\":[\"disjoint\",\"contiguous\"]",
                "tilec emit good.tile --as metadata --target native");
    tool_prints(t, "cpu.store", "tilec emit good.tile --as cpu-ir -o k.tir && tilec opt k.tir");
    tool_run(t, 0, "tilec run good.tile --set N=3 --device cpu --time-passes");
    assert_true(tool_output_has(t, "codegen.emit"));
}

// A ptxas that does as a test says.
#define PTXAS "TILEC_PTXAS=$PWD/ptxas TILEC_NVJITLINK=/none/link.so "
#define OBJECT "tilec emit good.tile --as object --target sm_80 -o k.cubin"

static void objects_of_gpus_need_a_tool(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_fails(t, 4, "error: machine code for sm_80 needs ptxas or libnvJitLink that knows PTX",
               PTXAS OBJECT);
    assert_true(tool_output_has(t, "/ptxas: no such program"));
    assert_true(
        tool_output_has(t, "help: install NVIDIA's toolkit (Debian, Ubuntu: apt-get install"));
    tool_file(t, "ptxas",
              STR("#!/bin/sh\n"
                  "[ \"$1\" = --version ] && echo 'release 13.0, V13.0.88' && exit 0\n"
                  "echo \"$SAYS\" >&2\n"
                  "grep -q '^.target sm_80' && printf '\\177ELF of sm_80'\n"));
    tool_run(t, 0, "chmod u+x ptxas; SAYS= " PTXAS OBJECT " && cat k.cubin");
    assert_true(tool_output_has(t, "ELF of sm_80"));
    const JsonValue *j =
        tool_json(t, 0,
                  "SAYS='ptxas info : Used 40 registers, used 1 barriers\n"
                  "   8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads' " PTXAS OBJECT
                  " --json");
    tool_number_at(j, "registers", 40);
    tool_number_at(j, "stack", 8);
    tool_number_at(j, "spillStores", 4);
    tool_number_at(j, "spillLoads", 0);
    tool_number_at(j, "warnings", 1);
    tool_run(t, 4, "rm k.cubin; SAYS='ptxas /dev/stdin, line 2; error   : bad' " PTXAS OBJECT);
    assert_true(
        tool_output_has(t, "kernel.ptx:2:1: error: ptxas /dev/stdin, line 2; error   : bad"));
    tool_run(t, 0, "rm -f k.cubin; SAYS= TILEC_PTX_COMPILER=gcc " PTXAS OBJECT);
    assert_true(
        tool_output_has(t,
                        "warning: TILEC_PTX_COMPILER is 'gcc', expected one of driver, auto, "
                        "ptxas and nvjitlink (TILEC_PTXAS names the program ptxas)"));
    tool_fails(t, 4, "needs libnvJitLink that knows PTX",
               "TILEC_PTX_COMPILER=nvjitlink " PTXAS OBJECT);
    tool_run(t, 0, "TILEC_PTX_COMPILER=gcc " PTXAS "tilec explain good.tile --target sm_80");
    assert_true(tool_output_has(t, "warning: TILEC_PTX_COMPILER is 'gcc'"));
    tool_run(t, 4, "SAYS='(C7514) they wait' " PTXAS OBJECT "; s=$?; ls k.cubin; exit $s");
    assert_true(tool_output_has(t, "error: (C7514) they wait"));
}

// More than a GPU has is a mistake of the kernel's consts, not of the machine's.
static void limits_are_bad_input(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "turn.tile",
              text_of("kernel turn(f32 a[M, N], f32 b[N, M], const B = 64)\n"
                      "    grid(cdiv(M, B), cdiv(N, B))\n{\n"
                      "    let tile = a[program(0) * B +: B, program(1) * B +: B];\n"
                      "    let to = gather(tile, i32(tile), axis = 0);\n"
                      "    b[program(1) * B +: B, program(0) * B +: B] = to;\n}\n"));
    static const char *const commands[] = {"run turn.tile --device sim:sm_86 --set M=1 --set N=1",
                                           "emit turn.tile --target sm_86 --as asm",
                                           "explain turn.tile --target sm_86"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        tool_fails(t, 1,
                   "turn.tile:1:8: error: kernel 'turn' asks for 3 warps of 32 threads; there "
                   "may be 1, 2, 4, 8, 16 or 32 [limit]",
                   "tilec %s --set warps=3", commands[i]);
        assert_true(tool_output_has(t, "help: set the option warps"));
        tool_fails(t, 1, "asks for 64 warps", "tilec %s --set warps=64", commands[i]);
        tool_fails(t, 1,
                   "turn.tile:5:14: error: kernel 'turn' needs 262144 bytes of shared memory for "
                   "each program, and sm_86 has 101376; 262144 are for this [limit]",
                   "tilec %s --set B=256", commands[i]);
        assert_true(tool_output_has(t, "help: smaller tiles or fewer stages need less"));
    }
}

// Processors with an instruction for pairs of bf16 take subnormals as 0: --check knows it, where
// the code is for them, and only there.
static void check_knows_what_is_flushed(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "fill.tile",
              text_of("kernel fill(bf16 a[16, 16], bf16 b[16, 16]) grid(1) {\n"
                      "    let i = u16(iota(16));\n"
                      "    for r in 0 .. 16 {\n"
                      "        a[r, 0 +: 16] = bitcast(bf16, i + u16(r * 13));\n"
                      "        b[r, 0 +: 16] = bitcast(bf16, i + u16(r + 0x3f80));\n"
                      "    }\n"
                      "}\n"));
    tool_file(t, "dot.tile",
              text_of("kernel d(bf16 a[16, 16], bf16 b[16, 16], f32 c[16, 16]) grid(1) {\n"
                      "    c[0 +: 16, 0 +: 16] = dot(a[0 +: 16, 0 +: 16], b[0 +: 16, 0 +: 16]);\n"
                      "}\n"));
#define DOT "tilec run dot.tile --device cpu --in a=a.npy --in b=b.npy --check"
    tool_run(t, 0, "tilec run fill.tile --device interp --out a=a.npy --out b=b.npy");
    tool_run(t, 0, "TILEC_CPU_TARGET=x86-64-v2 " DOT " || test $? = 4");
    if (!tool_output_has(t, "is 'x86-64-v2', which")) {
        assert_true(tool_output_has(t, "check c: 256 elements agree, worst at 0 of the bound"));
        assert_false(tool_output_has(t, "c: f32[16, 16] = 0.0 "));
    }
    tool_run(t, 0, "tilec devices");
    if (!tool_output_has(t, "+bf16")) {
        print_message("skipped: this processor has no instruction for pairs of bf16\n");
        return;
    }
    tool_run(t, 0, DOT);
    assert_true(tool_output_has(t, "c: f32[16, 16] = 0.0 "));
    assert_true(tool_output_has(t, "check c: 256 elements agree"));
    assert_false(tool_output_has(t, "worst at 0 of the bound\nc:"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_cache_opens_no_llvm),
        cmocka_unit_test(the_same_input_gives_the_same_bytes),
        cmocka_unit_test(code_has_many_forms),
        cmocka_unit_test(objects_of_gpus_need_a_tool),
        cmocka_unit_test(limits_are_bad_input),
        cmocka_unit_test(check_knows_what_is_flushed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
