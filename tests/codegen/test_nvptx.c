// PTX from thread-level IR: every op on every architecture compiles, or is refused by name; and
// ptxas, where it is installed, takes what comes out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os_folder.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/process.h"
#include "tests/support/tir.h"

static const char *const architectures[] = {"sm_75",  "sm_80",  "sm_86",   "sm_89",  "sm_90",
                                            "sm_90a", "sm_100", "sm_100a", "sm_120", "sm_120a"};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

static bool ptx_of(Tir *t, const char *arch, Str *text) {
    GpuTarget target;
    assert_true(gpu_target_parse(str(arch), &target));
    CodegenOptions options = {
        .target.gpu = target, .output = CODEGEN_ASM, .entry = STR("kernel_entry")};
    return codegen_plugin()->compile(t->arena, t->module->funcs.data[0], &options, text, t->diags);
}

static void said(const Tir *t) {
    StrBuf text = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &text);
    printf("%s", text.text);
}

// The shell finds ptxas in the usual places; without it nothing is assembled, which is said once.
static void assemble(Tir *t, Str text, const char *arch) {
    static const char find[] = "PATH=\"$PATH:/usr/local/cuda/bin\"; ";
    OsError error;
    const char *path = os_keep_temporary(t->arena, "tilec_ptx_", ".ptx", text, &error);
    assert_non_null(path);
    Process process = {.folder = ".", .tool_folder = TEST_BINARY_DIR, .seconds = 60};
    process.command = arena_printf(t->arena,
                                   "%sif ! command -v ptxas >/dev/null; then echo no ptxas; else "
                                   "ptxas -arch=%s -o /dev/null %s; fi; rm -f %s",
                                   find, arch, path, path);
    ProcessResult result;
    assert_true(process_run(t->arena, &process, &result));
    if (str_equal(result.output, STR("no ptxas\n"))) {
        print_message("not assembled for %s: there is no ptxas here\n", arch);
        return;
    }
    if (result.output.size)
        fail_msg("ptxas says %.*s of\n%.*s", STR_ARG(result.output), STR_ARG(text));
}

static void compiles(const char *body, uint32_t least) {
    for (int i = 0; i < ARCHITECTURES; i++) {
        if ((uint32_t)atoi(architectures[i] + 3) < least) continue;
        Tir *t = tir_load("%s", body);
        Str text;
        if (!ptx_of(t, architectures[i], &text)) {
            said(t);
            fail_msg("it does not compile for %s", architectures[i]);
        }
        assemble(t, text, architectures[i]);
        tir_free(t);
    }
}

static void file_compiles(const char *path, uint32_t least) {
    Arena *arena = arena_create();
    compiles(tir_read(arena, path), least);
    arena_destroy(arena);
}

static void vector_add(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    file_compiles("tests/codegen/data/double.tir", 75);
}

// Short values are divided in 32 bits, and a divisor that is known not to be 0 needs no guard.
static void divisions(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    static const struct {
        const char *facts, *program;
        bool guarded;
    } cases[] = {
        {"N range 1 2147483647", "dim = 0, narrow = true", false},
        {"N range 0 2147483647", "dim = 0, narrow = true", true},
        {"N range 1 2147483647", "dim = 0", false},  // 31 bits
        {"N divisor 8", "dim = 0, narrow = true", true},
        {"N divisor 8", "dim = 0", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Tir *t = tir_load(
            "kernel @k(%%x: view i64[N]) {level = thread, warps = 1, facts = [%s]} { body {\n"
            "%%0 = program {%s} : i64\n%%1 = extent {extent = N} : i64\n"
            "%%2 = div %%0, %%1 : i64\n%%3 = rem %%0, %%1 : i64\n%%4 = add %%2, %%3 : i64\n"
            "%%5 = vec.data %%x : *i64\nthread.store %%5, %%4, _ {align = 8}\nreturn } }",
            cases[i].facts, cases[i].program);
        Str text;
        if (!ptx_of(t, "sm_80", &text)) {
            said(t);
            fail_msg("case %zu does not compile", i);
        }
        const char *ptx = arena_text(t->arena, text.text, text.size);
        bool wide = strstr(ptx, "div.u64") || strstr(ptx, "div.s64");
        if (wide || !strstr(ptx, "div.u32")) fail_msg("case %zu: %s", i, ptx);
        if ((strstr(ptx, "selp") != NULL) != cases[i].guarded) fail_msg("case %zu: %s", i, ptx);
        tir_free(t);
    }
}

static void warp_ops(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    file_compiles("tests/codegen/data/warp.tir", 75);
}

static void matrix_units(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    static const struct {
        const char *a, *b, *c;
        int m, n, k;
        uint32_t least;
    } forms[] = {
        {"f16", "f16", "f32", 16, 8, 16, 80},       {"f16", "f16", "f16", 16, 8, 16, 80},
        {"f16", "f16", "f32", 16, 8, 8, 75},        {"bf16", "bf16", "f32", 16, 8, 16, 80},
        {"f32", "f32", "f32", 16, 8, 8, 80},        {"f64", "f64", "f64", 8, 8, 4, 80},
        {"i8", "i8", "i32", 16, 8, 32, 80},         {"u8", "i8", "i32", 16, 8, 32, 80},
        {"f8e4m3", "f8e4m3", "f32", 16, 8, 32, 89}, {"f8e5m2", "f8e4m3", "f32", 16, 8, 32, 89},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[1024];
        int a = forms[i].m * forms[i].k / 32, b = forms[i].k * forms[i].n / 32;
        int c = forms[i].m * forms[i].n / 32;
        snprintf(
            text, sizeof text,
            "kernel @mma(%%x: *%s, %%y: *%s, %%z: *%s) {level = thread, warps = 1} { body {\n"
            "%%0 = thread.load %%x, _, _ {align = 0} : %s[%d]\n"
            "%%1 = thread.load %%y, _, _ {align = 0} : %s[%d]\n"
            "%%2 = thread.load %%z, _, _ {align = 0} : %s[%d]\n"
            "%%3 = thread.mma %%0, %%1, %%2 {select = [%d, %d, %d], precision = ieee} : %s[%d]\n"
            "thread.store %%z, %%3, _ {align = 0}\nreturn } }",
            forms[i].a, forms[i].b, forms[i].c, forms[i].a, a, forms[i].b, b, forms[i].c, c,
            forms[i].m, forms[i].n, forms[i].k, forms[i].c, c);
        compiles(text, forms[i].least);
    }
}

static void copies(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    static const char path[] = "tests/codegen/data/copies.tir";
    file_compiles(path, 80);
    Tir *t = tir_load_file(path);
    Str ptx;
    assert_false(ptx_of(t, "sm_75", &ptx));
    StrBuf message = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &message);
    assert_non_null(strstr(message.text, "target sm_75 has no 'thread.copy'"));
    tir_free(t);
}

// The code asks ptxas for the schedule that was chosen.
static void blocks_are_asked_for(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    static const char body[] = "kernel @k(%x: *i8) {level = thread, warps = 4} { body {return} }";
    for (uint32_t count = 0; count < 3; count++) {
        Tir *t = tir_load("%s", body);
        CodegenOptions options = {.output = CODEGEN_ASM, .entry = STR("kernel_entry")};
        assert_true(gpu_target_parse(STR("sm_80"), &options.target.gpu));
        if (count) options.schedule = (CodegenSchedule){CODEGEN_BLOCKS, count};
        Str ptx;
        assert_true(codegen_plugin()->compile(t->arena, t->module->funcs.data[0], &options, &ptx,
                                              t->diags));
        const char *told = strstr(arena_text(t->arena, ptx.text, ptx.size), ".minnctapersm ");
        assert_int_equal(told ? atoi(told + strlen(".minnctapersm ")) : 0, count);
        tir_free(t);
    }
}

static uint32_t occurrences(const char *text, const char *of) {
    uint32_t count = 0;
    for (; (text = strstr(text, of)); text++) count++;
    return count;
}

// Where the machine's max drops NaN, one test covers two elements of a lane. A vote replaces the
// test after each exchange if all lanes exchange and the values between have no other use.
static void nan_is_voted_on(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    static const char head[] =
        "kernel @k(%x: *f32, %y: *f32) {level = thread, warps = 1} { body {\n"
        "%0 = thread.load %x, _, _ {align = 16} : f32[4]\n"
        "%20 = vec.shuffle %0, _ {lanes = [0, 2]} : f32[2]\n"
        "%21 = vec.shuffle %0, _ {lanes = [1, 3]} : f32[2]\n%22 = max %20, %21 : f32[2]\n"
        "%23 = vec.shuffle %22, _ {lanes = [0]} : f32[1]\n"
        "%24 = vec.shuffle %22, _ {lanes = [1]} : f32[1]\n%1 = max %23, %24 : f32[1]\n";
    static const char ends[] = "thread.store %y, %11, _ {align = 4}\nreturn } }";
    static const struct {
        const char *arch;
        int lanes[5];
        const char *more;  // another use of a value between
        uint32_t votes, questions;
    } rows[] = {{"sm_75", {1, 2, 4, 8, 16}, "", 1, 2},
                {"sm_75", {16, 1, 8, 2, 4}, "", 1, 2},
                {"sm_75", {1, 2, 4, 8, 8}, "", 0, 7},
                {"sm_75", {1, 2, 4, 8, 16}, "thread.store %y, %5, _ {align = 4}\n", 0, 7},
                {"sm_80", {1, 2, 4, 8, 16}, "", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        int size = snprintf(text, sizeof text, "%s", head);
        for (int k = 0; k < 5; k++)
            size +=
                snprintf(text + size, sizeof text - (size_t)size,
                         "%%%d = thread.shuffle %%%d, _ {lane = %d} : f32[1]\n"
                         "%%%d = max %%%d, %%%d : f32[1]\n",
                         2 * k + 2, 2 * k + 1, rows[i].lanes[k], 2 * k + 3, 2 * k + 1, 2 * k + 2);
        snprintf(text + size, sizeof text - (size_t)size, "%s%s", rows[i].more, ends);
        Tir *t = tir_load("%s", text);
        Str made;
        assert_true(ptx_of(t, rows[i].arch, &made));
        const char *ptx = arena_text(t->arena, made.text, made.size);
        uint32_t votes = occurrences(ptx, "vote.sync.any");
        uint32_t questions = occurrences(ptx, "setp.nan");
        if (votes != rows[i].votes || questions != rows[i].questions)
            fail_msg("row %zu: %u votes, %u questions in\n%s", i, votes, questions, ptx);
        assemble(t, made, rows[i].arch);
        tir_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_add),      cmocka_unit_test(divisions),
        cmocka_unit_test(warp_ops),        cmocka_unit_test(matrix_units),
        cmocka_unit_test(copies),          cmocka_unit_test(blocks_are_asked_for),
        cmocka_unit_test(nan_is_voted_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
