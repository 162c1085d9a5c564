// The command `tilec build`: what it writes, what it refuses, and that the commands that messages
// tell can be typed.
#define _GNU_SOURCE  // setenv
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tilec/library.h>
#include <tilec/version.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/os/os_dl.h"
#include "tests/support/codegen_plugin.h"
#include "tests/tools/kernels.h"

#define ANY                                                               \
    "// Copies.\n"                                                        \
    "kernel any(type T, T x[N], T y[N], const B = 64) grid(cdiv(N, B))\n" \
    "{\n"                                                                 \
    "    y[program(0) * B +: B] = x[program(0) * B +: B];\n"              \
    "}\n"                                                                 \
    "kernel set(f32 x[N], const B) grid(cdiv(N, 64)) { x[program(0) * 64 +: 64] = B; }\n"
#define ANY_ALL "--set B=64 --set T=f16"

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "any.tile", text_of(ANY));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

static void expect_list(Tool *t, const char *expected) {
    const char *found = tool_list(t);
    if (strcmp(found, expected) != 0) fail_msg("expected '%s', found '%s'", expected, found);
}

static bool contains(Str text, const char *part) {
    size_t size = strlen(part);
    for (size_t i = 0; i + size <= text.size; i++)
        if (memcmp(text.text + i, part, size) == 0) return true;
    return false;
}

static void expect_in(Tool *t, const char *file, const char *part) {
    Str text = tool_read(t, file);
    if (!contains(text, part)) fail_msg("%s lacks '%s':\n%.*s", file, part, STR_ARG(text));
}

// ---- What is written ----

static void writes_what_it_is_asked_for(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_run(t, 0,
             "tilec build any.tile -o libmy-k.a --shared libmy-k.so --header k.h --target "
             "sm_80,gfx942 --target x86-64-v2 " ANY_ALL
             " --manifest k.json --depfile k.d --codes codes -j 2 --lines --math contract,approx");
    assert_true(tool_output_has(t, "my_k: 2 functions for 3 targets, "));
    expect_list(t, "any.tile codes k.d k.h k.json libmy-k.a libmy-k.so");
    assert_true(str_starts(tool_read(t, "libmy-k.a"), STR("!<arch>\n")));
    assert_true(str_starts(tool_read(t, "libmy-k.so"), STR("\177ELF")));
    expect_in(t, "k.h",
              "// Copies.\n//   x: f16[N], read\n//   y: f16[N], written\n"
              "// Consts of sm_80: B = 64\n"
              "tilec_status any_f16(tilec_stream *stream, tilec_view x, tilec_view y);");
    expect_in(t, "k.h", "static inline tilec_status my_k_load(tilec_device *device, ");
    expect_in(t, "k.h", "#define MY_K_INTERFACE UINT64_C(0x");
    tool_run(t, 0,
             "cat k.d && test \"$(cat k.d)\" = \"$(printf 'libmy-k.a: \\\\\\n  any.tile\\n"
             "any.tile:')\"");
    tool_run(t, 0,
             "ls codes | sed 's/.*\\.//' | sort -u | tr '\\n' ' ' | grep '^\\(cubin \\)\\?hsaco "
             "o ptx $'");
    const JsonValue *j = json_parse(t->arena, tool_read(t, "k.json"), NULL);
    assert_non_null(j);
    tool_text_at(j, "library", "my_k");
    tool_text_at(j, "targets.2", "x86-64-v2");
    tool_text_at(j, "functions.1.name", "set");
    tool_text_at(j, "functions.1.metadata.kernel", "set");
    assert_int_equal(tool_at(j, "archiveBytes")->number > 1000, true);
    tool_run(t, 0, "test $(ls codes | wc -l) = $(grep -o '\"form\"' k.json | wc -l)");
}

// The library is made all the same: its PTX is for drivers, which may be newer.
static void says_that_ptxas_refuses_the_code(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "ptxas",
              text_of("#!/bin/sh\n"
                      "if [ \"$1\" = --version ]; then\n"
                      "echo 'Cuda compilation tools, release 1.0, V13.0.1'; exit 0; fi\n"
                      "echo \"ptxas fatal   : no room for 'any'\" >&2\nexit 255\n"));
    tool_run(t, 0,
             "chmod +x ptxas; TILEC_CACHE=off TILEC_PTXAS=$PWD/ptxas tilec build any.tile -o l.a "
             "--target sm_80 " ANY_ALL);
    assert_true(tool_output_has(t,
                                "warning: ptxas 13.0.1 does not accept the code of 'any_f16' for "
                                "sm_80: "));
    assert_true(tool_output_has(t, "no room for 'any'; the library has only PTX, "));
    expect_list(t, "any.tile l.a ptxas");
}

static void json_says_what_was_built(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    const char *command =
        "TILEC_CACHE_DIR=$PWD/cache tilec build any.tile -o l.a --target "
        "sm_80,gfx942 " ANY_ALL " --json";
    const JsonValue *j = tool_json(t, 0, "%s", command);
    tool_text_at(j, "built.library", "l");
    tool_number_at(j, "cached", 0);
    size_t codes = tool_count(tool_at(j, "built.codes"));
    Str first = tool_read(t, "l.a");
    j = tool_json(t, 0, "rm l.a; %s", command);
    tool_number_at(j, "cached", (double)codes);
    assert_true(str_equal(first, tool_read(t, "l.a")));
    j = tool_json(t, 2, "tilec build any.tile -o l.a --target sm_80 --json");
    tool_text_at(j, "diagnostics.0.code", "usage");
    j = tool_json(t, 1, "tilec build none.tile -o l.a --target sm_80 --json");
    tool_text_at(j, "diagnostics.0.code", "io");
}

// The bytes are the same for any number of jobs, wherever the sources are.
static void the_same_input_gives_the_same_bytes(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    static const char tail[] = "--target sm_80,gfx1100,x86-64-v3 " ANY_ALL;
    tool_run(t, 0, "mkdir one two; cp any.tile two");
    tool_run(t, 0,
             "TILEC_CACHE=off tilec build any.tile -o one/libk.a --shared one/k.so --header "
             "one/k.h --manifest one/k.json -j 1 %s",
             tail);
    tool_run(t, 0,
             "cd two; TILEC_CACHE=off tilec build any.tile -o libk.a --shared k.so --header "
             "k.h --manifest k.json -j 4 %s",
             tail);
    tool_run(t, 0, "rm two/any.tile; diff -r one two");
}

static void names_of_the_library(void **state) {
    static const struct {
        const char *output, *name;
    } rows[] = {{"libfoo.a", "foo"},  {"foo.x.a", "foo"},   {"lib9.a", "kernels"},
                {"lib.a", "kernels"}, {"a-b+c.a", "a_b_c"}, {"liblib.a", "lib"}};
    Tool *t = *state;
    if (!codegen_built()) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tool_run(t, 0,
                 "tilec build any.tile -o %s --header k.h --target sm_80 --kernels set --set "
                 "B=1 --quiet",
                 rows[i].output);
        expect_in(t, "k.h", arena_printf(t->arena, "tilec_archive %s_archive;", rows[i].name));
    }
    tool_run(t, 0,
             "tilec build any.tile --shared x.so --header k.h --target sm_80 --kernels set "
             "--set B=1 --name other_1 --prefix pre_");
    expect_in(t, "k.h", "extern const tilec_archive other_1_archive;");
    expect_in(t, "k.h", "tilec_status pre_set(");
}

static void depfiles_name_imports(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_run(t, 0, "mkdir 'a b'");
    tool_file(t, "a b/one.tile",
              text_of("import \"two $.tile\";\nimport \"three#.tile\";\n"
                      "kernel k(f32 x[N]) grid(1) { x[0] = two(1.0); }\n"));
    tool_file(t, "a b/two $.tile", text_of("fn two(x) { return x + 1.0; }\n"));
    tool_file(t, "a b/three#.tile", text_of("fn three(x) { return x + 1.0; }\n"));
    tool_run(t, 0,
             "tilec build 'a b/one.tile' any.tile " ANY_ALL
             " -o 'my lib.a' --depfile k.d --target sm_80");
    // As make reads it: nothing to do, until an import is newer.
    tool_file(t, "Makefile", text_of("my\\ lib.a:\n\t@echo rebuilt\ninclude k.d\n"));
    tool_run(t, 0, "command -v make >/dev/null || exit 0; make 'my lib.a' | grep 'up to date'");
    tool_run(t, 0,
             "command -v make >/dev/null || exit 0; for f in 'two $' 'three#' one; do touch -d "
             "'+1 minute' \"a b/$f.tile\"; make 'my lib.a' | grep 'rebuilt' || exit 1; touch "
             "-d '-1 minute' \"a b/$f.tile\"; done");
    tool_run(t, 0,
             "command -v make >/dev/null || exit 0; rm 'a b/two $.tile'; make 'my lib.a' | "
             "grep 'rebuilt'");
}

// ---- The header ----

static void headers_compile_anywhere(void **state) {
    static const char *const compilers[] = {"gcc -std=c99 -x c",         "clang -std=c99 -x c",
                                            "gcc -std=gnu17 -x c",       "g++ -std=c++11 -x c++",
                                            "clang++ -std=c++11 -x c++", "g++ -std=c++20 -x c++"};
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "odd.tile",
              text_of("// Ends in a backslash \\\n"
                      "// and has */ and /* in it, and ends in ?"
                      "?/ \\\n"
                      "//\n"
                      "// \tA tab, \x01 and \x7f.\r\n"
                      "kernel int(f32 x[N], f32 stream[N], f32 stream_[N], *f32 class, f32 new,\n"
                      "           f16 half_t, i8 tilec_view, u64 linux, bool template)\n"
                      "    requires N % 2 == 0, // why \\\n"
                      "             N > 0\n"
                      "    grid(1) { x[0] = new; }\n"
                      "kernel exp(f32 x[N]) grid(1) { x[0] = 1.0; }\n"
                      "kernel main(f32 x[N]) grid(1) { x[0] = 1.0; }\n"
                      "kernel delete(f32 x[N]) grid(1) { x[0] = 1.0; }\n"
                      "kernel sinf(f32 x[N]) grid(1) { x[0] = 1.0; }\n"
                      "kernel tilec_launch(f32 x[N]) grid(1) { x[0] = 1.0; }\n"
                      "kernel getpid(f32 NULL[N], f32 errno) requires N % 2 == 0 && // why\n"
                      "    /* and */ N > 1\n"
                      "    grid(1) { NULL[0] = errno; }\n"
                      "// Not of it.\n"
                      "/* In a block:\n"
                      " * two lines. */\n"
                      "kernel blocked(f32 x[N], const B = 8, const C = 3) grid(1) { x[0] = B; }\n"
                      "fn one() { return 1.0; } /* not of it, either */\n"
                      "kernel size_t(f32 x[N]) grid(1) { x[0] = one(); }\n"
                      "// Not right above.\n"
                      "\n"
                      "kernel no_arguments() grid(1) { }\n"));
    tool_run(t, 0,
             "tilec build odd.tile any.tile " ANY_ALL
             " --specialize 'blocked B=16,32' -o libodd.a --shared libodd.so --header odd.h "
             "--target x86-64-v2,sm_80");
    expect_in(t, "odd.h",
              "// Ends in a backslash\n// and has */ and /* in it, and ends in\n//\n"
              "// A tab,   and  .\n");
    expect_in(t, "odd.h",
              "tilec_status int_(tilec_stream *stream, tilec_view x, tilec_view stream__,"
              " tilec_view stream_,\n    const float *class_, float new_, float half_t_, "
              "int8_t tilec_view_, uint64_t linux_,\n    bool template_);");
    expect_in(t, "odd.h", "// Requires: N % 2 == 0\n// Requires: N > 0\n");
    expect_in(t, "odd.h",
              "// Requires: N % 2 == 0 && N > 1\n"
              "tilec_status getpid_(tilec_stream *stream, tilec_view NULL_, float errno_);");
    expect_in(
        t, "odd.h",
        "\n\n// In a block:\n// two lines.\n//   x: f32[N], written\n"
        "// Consts of x86-64-v2: B = 16, C = 3\n"
        "// This is the first of 2; a launch takes the first that fits, or the one that a tune "
        "table names:\n//   B = 16\n//   B = 32\ntilec_status blocked(");
    expect_in(t, "odd.h", "\n\n//   x: f32[N], written\ntilec_status size_t_(");
    static const char *const names[] = {"exp_", "main_", "delete_", "sinf_", "tilec_launch_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_in(t, "odd.h",
                  arena_printf(t->arena, "tilec_status %s(tilec_stream *stream, ", names[i]));
    assert_false(contains(tool_read(t, "odd.h"), "Not right above"));
    tool_file(t, "user.c",
              text_of("#include \"odd.h\"\n#include \"odd.h\"\n"
                      "int main(void) { tilec_library *l; return odd_load(0, &l) ? 0 : "
                      "(int)no_arguments(0); }\n"));
    unsigned tried = 0;
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        tool_run(t, 0,
                 "command -v %s >/dev/null || { echo none; exit 0; }; %s -Wall -Wextra "
                 "-Wpedantic -Wshadow -Werror -I$S/include -fsyntax-only user.c",
                 arena_printf(t->arena, "%.*s", (int)strcspn(compilers[i], " "), compilers[i]),
                 compilers[i]);
        tried += !tool_output_has(t, "none");
    }
    if (!tried) print_message("no compiler here: the header is not compiled\n");
}

// In the order of the lines; a function that only one line makes has no others.
static void lines_of_one_function_are_alternatives(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_run(t, 0,
             "tilec build any.tile --specialize 'any T=f16 B=64 warps=4' --specialize "
             "'any T=f16,f32 B=128' --specialize 'set B=1' -o liba.a --header a.h --target sm_80");
    expect_in(t, "a.h",
              "// This is the first of 2; a launch takes the first that fits, or the one that a "
              "tune table names:\n//   B = 64, warps = 4\n//   B = 128\n"
              "tilec_status any_f16(");
    expect_in(t, "a.h", "// Consts of sm_80: B = 128\ntilec_status any_f32(");
    tool_run(t, 2,
             "tilec build any.tile --specialize 'any T=f16 B=1,2,4,8,16,32,64,128 warps=1,2,4,8' "
             "--specialize 'any T=f16 B=1,2,4,8,16,32,64,128,256 warps=1,2,4,8' -o l.a "
             "--target sm_80");
    assert_true(
        tool_output_has(t, "kernel 'any': the values combine to more than 64 alternatives"));
}

// Libraries that are linked whole have the same code.
static void libraries_are_linked_whole(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_run(t, 0, "tilec build any.tile " ANY_ALL " -o liba.a --target x86-64-v2");
    tool_run(t, 0, "tilec build any.tile " ANY_ALL " -o libb.a --prefix b_ --target x86-64-v2");
    tool_run(t, 0,
             "command -v ld >/dev/null || exit 0; ld -r -o both.o --whole-archive liba.a libb.a");
}

// ---- What is refused; nothing is left behind ----

#define ALL_TYPES "f16,f32,f64,bf16,i8,i16,i32,i64,u8,u16"
#define FIVE \
    "kernel five(type T, type U, type V, type W, type X, T x[N]) grid(1) { x[0] = x[1]; }\n"

static void wrong_uses_are_refused(void **state) {
    static const struct {
        const char *arguments, *error;
        int status;
    } rows[] = {
        {"", "a file is missing", 2},
        {"any.tile --target sm_80 " ANY_ALL, "where is the library to go? -o libNAME.a", 2},
        {"any.tile -o l.a " ANY_ALL, "--target is missing", 2},
        {"any.tile -o l.a --target sm_999 " ANY_ALL, "there is no target 'sm_999'; did you mean",
         1},
        {"any.tile -o l.a --target sm_80,,gfx942 " ANY_ALL, "there is no target ''", 1},
        {"any.tile -o l.a --target interp " ANY_ALL, "this version makes no code for 'interp'", 4},
        {"any.tile -o l.a --target x86-64-v2,aarch64 " ANY_ALL,
         "build x86-64 and AArch64 separately", 2},
        {"any.tile -o l.a --target aarch64 --host x86-64-v2 " ANY_ALL, "another architecture", 2},
        {"any.tile -o l.a --target sm_80 --host sm_80 " ANY_ALL, "--host takes x86-64-v2 or", 2},
        {"any.tile -o l.a --target sm_80", "kernel 'any' leaves type 'T' open", 2},
        {"any.tile -o l.a --target sm_80 --set T=f32", "kernel 'set': const 'B' has no default", 2},
        {"any.tile -o l.a --target sm_80 --set T=f33 --set B=1", "T takes an element type (bool",
         2},
        {"any.tile -o l.a --target sm_80 --set T=f32 --set B=x",
         "B takes a whole number, found 'x'", 2},
        {"any.tile -o l.a --target sm_80 --set T", "--set takes NAME=VALUE", 2},
        {"any.tile -o l.a --target sm_80 --set T= ", "--set takes NAME=VALUE", 2},
        {"any.tile -o l.a --target sm_80 --set T=f32 --set T=f16", "'T' is given twice", 2},
        {"any.tile -o l.a --target sm_80 " ANY_ALL " --set Q=1",
         "--set Q: no kernel has a type or const of that name", 2},
        {"any.tile -o l.a --target sm_80 " ANY_ALL " --set warps=2000", "warps takes 1 to 1024", 2},
        {"any.tile -o l.a --target sm_80 --specialize 'ani T=f16'", "did you mean 'any'?", 2},
        {"any.tile -o l.a --target sm_80 --specialize 'any Q=1'",
         "kernel 'any' has no type, const or option named 'Q'", 2},
        {"any.tile -o l.a --target sm_80 --specialize ' '", "--specialize takes 'KERNEL", 2},
        {"any.tile -o l.a --target sm_80 --specialize 'a-b=set B=1' --set T=f16",
         "'a-b' is not a name of a C function", 2},
        {"any.tile -o l.a --target sm_80 --kernels set,none --set B=1", "no kernel is named 'none'",
         2},
        {"any.tile -o l.a --target sm_80 --set B=1 --set T=f16,f16",
         "two functions would be named 'any_f16'", 2},
        {"any.tile -o l.a --target sm_80 --kernels set --set B=1 --specialize 'l_load=set'",
         "'l_load' is a name of the library itself", 2},
        {"any.tile -o l.a --target sm_80 --set T=f32 --set B=1,2,3,4,5,6,7,8 --set "
         "warps=1,2,4,8,16,32,64,128,256",
         "kernel 'any': the values combine to more than 64 alternatives", 2},
        {"five.tile -o l.a --target sm_80 --set T=" ALL_TYPES " --set U=" ALL_TYPES
         " --set V=" ALL_TYPES " --set W=" ALL_TYPES " --set X=" ALL_TYPES,
         "kernel 'five': the types combine to more than 65536 functions", 2},
        {"any.tile any.tile -o l.a --target sm_80 " ANY_ALL, "'any.tile' is given twice", 2},
        {"any.tile ./any.tile -o l.a --target sm_80 " ANY_ALL,
         "two functions would be named 'any_f16' (of", 2},
        {"- -o l.a --target sm_80", "build reads files, not standard input", 2},
        {"any.tile -o any.tile --target sm_80 " ANY_ALL, "'any.tile' is an input", 2},
        {"any.tile -o l.a --header ./any.tile --target sm_80 " ANY_ALL, "'./any.tile' is an input",
         2},
        {"any.tile -o l.a --shared l.a --target sm_80 " ANY_ALL, "'l.a' is asked for as two", 2},
        {"any.tile -o l.a --header ./l.a --target sm_80 " ANY_ALL, "'./l.a' is asked for as two",
         2},
        {"any.tile -o l.a --codes ./l.a --target sm_80 " ANY_ALL, "'l.a' is asked for as two", 2},
        {"any.tile -o ./t.txt --tune t.txt --target sm_80 " ANY_ALL, "'./t.txt' is an input", 2},
        {"any.tile -o no/l.a --target sm_80 " ANY_ALL, "cannot write 'no/l.a': no such file", 1},
        {"any.tile -o l.a --shared . --target sm_80 " ANY_ALL, "cannot write '.': is a directory",
         1},
        {"any.tile -o l.a --header no/k.h --target sm_80 " ANY_ALL, "cannot write 'no/k.h'", 1},
        {"any.tile -o l.a --manifest no/k --target sm_80 " ANY_ALL, "cannot write 'no/k'", 1},
        {"any.tile -o l.a --depfile no/k --target sm_80 " ANY_ALL, "cannot write 'no/k'", 1},
        {"any.tile -o l.a --codes any.tile --target sm_80 " ANY_ALL,
         "cannot make the folder 'any.tile': file exists", 1},
        {"any.tile -o l.a --codes no/k --target sm_80 " ANY_ALL, "cannot make the folder 'no/k'",
         1},
        {"any.tile -o l.a --target sm_80 --name 9x " ANY_ALL, "--name takes a C identifier", 2},
        {"any.tile -o l.a --target sm_80 --prefix 9 " ANY_ALL, "'9any_f16' is not a name", 2},
        {"any.tile -o l.a --target sm_80 --math fast " ANY_ALL, "--math takes contract and approx",
         2},
        {"any.tile -o l.a --target sm_80 -j 0 " ANY_ALL, "-j takes a number from 1 to 256", 2},
        {"any.tile -o l.a --target gfx942 --object-version 3 " ANY_ALL, "from 4 to 6", 2},
        {"any.tile -o l.a --target sm_80 --tune no.txt " ANY_ALL, "cannot read 'no.txt'", 1},
        {"any.tile -o l.a --target sm_80 --tune any.tile " ANY_ALL,
         "any.tile:1: the table does not begin with", 1},
        {"no.tile -o l.a --target sm_80", "cannot read 'no.tile': no such file or directory", 1},
        {"any.tile -o l.a --target sm_80 --wrong " ANY_ALL, "--wrong", 2},
    };
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "five.tile", text_of(FIVE));
    tool_file(t, "t.txt", text_of("tilec-tune 1\n"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tool_fails(t, rows[i].status, rows[i].error, "tilec build %s", rows[i].arguments);
    assert_true(str_equal(tool_read(t, "any.tile"), text_of(ANY)));
}

// Errors are reported for all files, and for functions that compile for no target, or only for
// some.
static void all_errors_are_told(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "e1.tile", text_of("kernel e1(f32 x[N]) grid(1) { x[0] = q; }\n"));
    tool_file(t, "e2.tile", text_of("kernel e2(f32 x[N]) grid(1) { x[0] = z; y = 1; }\n"));
    tool_run(t, 1,
             "tilec build e1.tile no.tile e2.tile any.tile " ANY_ALL
             " -o l.a --header l.h --target sm_80");
    static const char *const told[] = {
        "e1.tile:1:38: error: unknown name 'q'", "e2.tile:1:38: error: unknown name 'z'",
        "e2.tile:1:41: error: unknown name 'y'", "cannot read 'no.tile'"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        assert_true(tool_output_has(t, told[i]));
    expect_list(t, "any.tile e1.tile e2.tile");
    tool_file(t, "a.tile",
              text_of("kernel a(f32 x[N], const B = 1) grid(1)\n"
                      "{ static_assert(B == 2, \"of a\"); x[0] = 1.0; }\n"));
    tool_file(t, "b.tile",
              text_of("kernel b(f32 x[N], const B = 1) grid(1)\n"
                      "{ static_assert(B == 2, \"of b\"); x[0] = 1.0; }\n"));
    tool_run(t, 1,
             "tilec build a.tile b.tile any.tile " ANY_ALL
             " --specialize 'a B=1' -o l.a --header l.h --depfile l.d --codes codes --target "
             "sm_80,gfx942 -j 3");
    assert_true(tool_output_has(t, "of a"));
    assert_true(tool_output_has(t, "building a for sm_80"));
    assert_false(tool_output_has(t, "building a for gfx942"));
    expect_list(t, "a.tile any.tile b.tile e1.tile e2.tile");
}

// An error of a single target names the target.
static void targets_may_refuse(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "big.tile",
              text_of("kernel big(f32 a[M, K], f32 b[K, N], f32 c[M, N], const B = 128) grid(1) {\n"
                      "    var acc = zeros(f32, B, B);\n"
                      "    for k in 0 .. K step B\n"
                      "        acc = dot(a[0 +: B, k +: B], b[k +: B, 0 +: B], acc);\n"
                      "    c[0 +: B, 0 +: B] = acc;\n}\n"));
    tool_fails(t, 1, "and gfx942 has 65536",
               "tilec build big.tile -o l.a --header l.h --codes c --target sm_80,gfx942");
    assert_true(tool_output_has(t, "note: building big for gfx942"));
}

// ---- The commands that messages tell ----

typedef struct Opened {
    OsLibrary *runtime, *library;
    tilec_context *context;
    tilec_device *device;
    const tilec_archive *archive;
} Opened;

#define VERSION_TEXT(x) VERSION_TEXT_(x)
#define VERSION_TEXT_(x) #x

static Opened open_library(Tool *t, const char *file, const char *symbol, const char *device) {
    OsError error;
    Opened o = {0};
    o.runtime = os_library_open(
        TEST_BINARY_DIR "/libtilec_rt.so." VERSION_TEXT(TILEC_VERSION_MAJOR), &error);
    if (!o.runtime) fail_msg("%s", error.text);
    o.library = os_library_open(arena_printf(t->arena, "%s/%s", t->folder, file), &error);
    if (!o.library) fail_msg("%s", error.text);
    o.archive = os_library_symbol(o.library, symbol);
    assert_non_null(o.archive);
    assert_int_equal(tilec_context_create(NULL, &o.context), TILEC_OK);
    assert_int_equal(tilec_device_open(o.context, device, &o.device), TILEC_OK);
    return o;
}

static void close_library(const Opened *o) {
    tilec_context_destroy(o->context);
    os_library_close(o->library);
    os_library_close(o->runtime);
}

static const char *told_command(Tool *t, const Opened *o) {
    const char *text = strstr(tilec_last_error(o->context), "tilec build ");
    if (!text) fail_msg("no command in: %s", tilec_last_error(o->context));
    return arena_text(t->arena, text, strlen(text));
}

static void told_commands_can_be_typed(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "it's a $k.tile", text_of(ANY));
    tool_file(t, "t.txt", text_of("tilec-tune 1\n"));
    tool_run(t, 0,
             "tilec build \"it's a \\$k.tile\" --shared libmine.so --target sm_80 --specialize "
             "'any T=f16,f32 B=64,128' --specialize 'fill=set B=7' --set warps=4 --prefix p_ "
             "--math contract --tune t.txt --lines --object-version 5 --kernels any");
    Opened o = open_library(t, "libmine.so", "mine_archive", "sim:gfx942");
    tilec_library *l = NULL;
    assert_int_equal(tilec_library_load(o.device, o.archive, 0, &l), TILEC_UNAVAILABLE);
    const char *command = told_command(t, &o);
    tilec_archive_info before, after;
    assert_int_equal(tilec_archive_describe(o.context, o.archive, &before), TILEC_OK);
    close_library(&o);
    tool_run(t, 0, "rm libmine.so; %s", command);
    expect_list(t, "any.tile it's a $k.tile libmine.so t.txt");
    o = open_library(t, "libmine.so", "mine_archive", "sim:gfx942");
    assert_int_equal(tilec_archive_describe(o.context, o.archive, &after), TILEC_OK);
    assert_true(before.interface_number == after.interface_number);
    assert_int_equal(after.target_count, 2);
    if (tilec_library_load(o.device, o.archive, 0, &l)) fail_msg("%s", tilec_last_error(o.context));
    // A type that is missing.
    tilec_kernel *k = NULL;
    assert_int_equal(tilec_library_kernel(l, "p_any_bf16", &k), TILEC_INVALID_ARGUMENT);
    command = told_command(t, &o);
    close_library(&o);
    tool_run(t, 0, "%s", command);
    o = open_library(t, "libmine.so", "mine_archive", "sim:gfx942");
    assert_int_equal(tilec_library_load(o.device, o.archive, 0, &l), TILEC_OK);
    if (tilec_library_kernel(l, "p_any_bf16", &k)) fail_msg("%s", tilec_last_error(o.context));
    close_library(&o);
}

// A product of the matrix unit, of whole numbers: one code object runs on all of its processors,
// and is not taken where there is a better one.
static void multiply(Opened *o, const char *device) {
    enum { M = 32 };
    static const uint16_t bits[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};  // -3 to 3
    static uint16_t a[M * M], b[M * M];
    static float c[M * M];
    const size_t halves = sizeof a, words = sizeof c;
    tilec_buffer to[3];
    tilec_library *l;
    tilec_kernel *k;
    for (int i = 0; i < M * M; i++) {
        a[i] = bits[i % 7];
        b[i] = bits[1 + i % 5];
    }
    if (tilec_library_load(o->device, o->archive, 0, &l) || tilec_library_kernel(l, "mm", &k))
        fail_msg("%s: %s", device, tilec_last_error(o->context));
    for (int i = 0; i < 3; i++)
        assert_false(tilec_buffer_create(o->device, i < 2 ? halves : words, &to[i]));
    assert_false(tilec_buffer_write(o->device, NULL, to[0], 0, a, halves));
    assert_false(tilec_buffer_write(o->device, NULL, to[1], 0, b, halves));
    tilec_status s = tilec_launch(k, NULL,
                                  TILEC_ARGS(tilec_buffer_view2(TILEC_F16, to[0], M, M),
                                             tilec_buffer_view2(TILEC_F16, to[1], M, M),
                                             tilec_buffer_view2(TILEC_F32, to[2], M, M)));
    if (s || tilec_buffer_read(o->device, NULL, to[2], 0, c, words))
        fail_msg("%s: %s", device, tilec_last_error(o->context));
    for (int i = 0; i < M * M; i++) {
        int sum = 0;
        for (int j = 0; j < M; j++) sum += ((i / M * M + j) % 7 - 3) * ((j * M + i % M) % 5 - 2);
        if (c[i] != (float)sum) fail_msg("%s: c[%d] is %g, not %d", device, i, (double)c[i], sum);
    }
}

static void code_is_for_several(void **state) {
    static const char *const devices[] = {"sim:gfx942",  "sim:gfx950",  "sim:gfx1030",
                                          "sim:gfx1100", "sim:gfx1151", "sim:gfx1200",
                                          "sim:gfx1201"};
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "mm.tile",
              text_of("kernel mm(f16 a[M, K], f16 b[K, N], f32 c[M, N]) grid(1)\n"
                      "{ c[0 +: 32, 0 +: 32] = dot(a[0 +: 32, 0 +: 32], b[0 +: 32, 0 +: 32], "
                      "0.0); }\n"));
    tool_run(t, 0,
             "tilec build mm.tile --shared libmm.so --target "
             "gfx9-4-generic,gfx10-3-generic,gfx11-generic,gfx12-generic");
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        Opened o = open_library(t, "libmm.so", "mm_archive", devices[i]);
        multiply(&o, devices[i]);
        close_library(&o);
    }
    Opened o = open_library(t, "libmm.so", "mm_archive", "sim:gfx90a");
    tilec_library *l;
    assert_int_equal(tilec_library_load(o.device, o.archive, 0, &l), TILEC_UNAVAILABLE);
    close_library(&o);
    tool_fails(t, 4, "there are code objects for 'gfx12-generic' from version 6 on",
               "tilec build mm.tile --shared l.so --target gfx12-generic --object-version 5");
}

// A kernel's own name may end like a type.
static void names_may_end_like_types(void **state) {
    Tool *t = *state;
    if (!codegen_built()) return;
    tool_file(t, "like.tile",
              text_of("kernel a_f16(f32 x[N]) grid(1) { x[0] = 1.0; }\n"
                      "kernel b(type T, type U, T x[N], U y[N]) grid(1)\n"
                      "{ x[0] = 1; y[0] = 2; }\n"));
    tool_run(t, 0, "tilec build like.tile --set T=f32 --set U=i8 --shared like.so --target sm_80");
    Opened o = open_library(t, "like.so", "like_archive", "sim:sm_80");
    tilec_library *l = NULL;
    tilec_kernel *k = NULL;
    assert_int_equal(tilec_library_load(o.device, o.archive, 0, &l), TILEC_OK);
    assert_int_equal(tilec_library_kernel(l, "a_f32", &k), TILEC_INVALID_ARGUMENT);
    assert_null(strstr(tilec_last_error(o.context), "--specialize"));
    assert_int_equal(tilec_library_kernel(l, "b_f64_i32", &k), TILEC_INVALID_ARGUMENT);
    const char *command = told_command(t, &o);
    close_library(&o);
    tool_run(t, 0, "%s", command);
    o = open_library(t, "like.so", "like_archive", "sim:sm_80");
    assert_int_equal(tilec_library_load(o.device, o.archive, 0, &l), TILEC_OK);
    assert_int_equal(tilec_library_kernel(l, "b_f64_i32", &k), TILEC_OK);
    assert_int_equal(tilec_library_kernel(l, "b_f32_i8", &k), TILEC_OK);
    close_library(&o);
    // With a prefix, under another name, of consts of its own.
    tool_file(t, "given.tile",
              text_of("kernel b(type T, T x[N], const B) grid(1) { x[0] = B; }\n"));
    tool_run(t, 0,
             "tilec build given.tile --prefix ops_ --specialize ' bb=b T=f32 B=3,5' --shared "
             "given.so --target sm_80");
    o = open_library(t, "given.so", "given_archive", "sim:sm_80");
    assert_int_equal(tilec_library_load(o.device, o.archive, 0, &l), TILEC_OK);
    assert_int_equal(tilec_library_kernel(l, "ops_bb_i64", &k), TILEC_INVALID_ARGUMENT);
    assert_non_null(strstr(tilec_last_error(o.context), " --specialize 'bb=b B=3,5 T=i64'"));
    command = told_command(t, &o);
    close_library(&o);
    tool_run(t, 0, "%s", command);
    o = open_library(t, "given.so", "given_archive", "sim:sm_80");
    assert_int_equal(tilec_library_load(o.device, o.archive, 0, &l), TILEC_OK);
    assert_int_equal(tilec_library_kernel(l, "ops_bb_i64", &k), TILEC_OK);
    assert_int_equal(tilec_library_kernel(l, "ops_bb_f32", &k), TILEC_OK);
    close_library(&o);
}

#define BUILD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        BUILD_TEST(writes_what_it_is_asked_for),
        BUILD_TEST(says_that_ptxas_refuses_the_code),
        BUILD_TEST(json_says_what_was_built),
        BUILD_TEST(the_same_input_gives_the_same_bytes),
        BUILD_TEST(names_of_the_library),
        BUILD_TEST(depfiles_name_imports),
        BUILD_TEST(headers_compile_anywhere),
        BUILD_TEST(wrong_uses_are_refused),
        BUILD_TEST(all_errors_are_told),
        BUILD_TEST(targets_may_refuse),
        BUILD_TEST(lines_of_one_function_are_alternatives),
        BUILD_TEST(libraries_are_linked_whole),
        BUILD_TEST(told_commands_can_be_typed),
        BUILD_TEST(code_is_for_several),
        BUILD_TEST(names_may_end_like_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
