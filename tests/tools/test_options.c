// Every option of every command, the exit statuses, and the one JSON object.
#define _POSIX_C_SOURCE 200809L  // setenv
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/tools/kernels.h"

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "k.tile", text_of(KERNELS));
    tool_file(t, "good.tile", text_of(COPY("f32")));
    tool_file(t, "warns.tile", STR("kernel w(f32 x[N]) grid(1) { let a = 1; x[0] = 2; }\n"));
    tool_file(t, "bad.tile", STR("kernel w(f32 x[N]) grid(1) { x[0] = y; x[0] = z; }\n"));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

// ---- What every command has ----

static const char *const commands[] = {"check", "run",   "emit", "explain", "build",
                                       "opt",   "bench", "tune", "devices", "cache"};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void tells_its_version_and_usage(void **state) {
    Tool *t = *state;
    tool_prints(t, "tilec 0.", "tilec --version");
    tool_prints(t, "exit status: 0 fine", "tilec --help");
    for (size_t i = 0; i < COMMANDS; i++) {
        tool_run(t, 0, "tilec --help");
        assert_true(tool_output_has(t, commands[i]));
        const char *usage = arena_printf(t->arena, "usage: tilec %s ", commands[i]);
        tool_prints(t, usage, "tilec %s --help", commands[i]);
        tool_prints(t, usage, "tilec %s -h", commands[i]);
        tool_prints(t, usage, "tilec help %s", commands[i]);
        tool_prints(t, "--json ", "tilec %s --json --help", commands[i]);
    }
    tool_fails(t, 2, "usage: tilec COMMAND", "tilec");
    tool_fails(
        t, 2,
        "unknown command 'bake' [usage]\nhelp: commands are: check run emit explain build opt",
        "tilec bake");
    tool_fails(t, 2, "unknown command 'bake'", "tilec help bake");
}

// The reference must contain what --help prints, for every option there is.
static void reference_names_every_option(void **state) {
    Tool *t = *state;
    Str page;
    tool_run(t, 0, "cat $S/docs/cli.md");
    page = t->last.output;
    for (size_t i = 0; i < COMMANDS; i++) {
        const char *heading = arena_printf(t->arena, "\n## tilec %s\n", commands[i]);
        const char *from = strstr(page.text, heading);
        if (!from) {
            fail_msg("docs/cli.md lacks the heading '## tilec %s'", commands[i]);
            return;
        }
        const char *end = strstr(from + 1, "\n## ");
        Str section = {from, end ? (size_t)(end - from) : strlen(from)};
        const char *part = arena_text(t->arena, section.text, section.size);
        tool_run(t, 0, "tilec %s --help | sed -n 's/^  \\(-[a-z-]*\\).*/\\1/p'", commands[i]);
        size_t seen = 0;
        for (Str rest = t->last.output; rest.size;) {
            Str option = str_cut(rest, '\n', &rest);
            if (!option.size) continue;
            seen++;
            bool common = str_equal(option, STR("--json")) || str_equal(option, STR("--quiet")) ||
                          str_equal(option, STR("--color")) || str_equal(option, STR("--help"));
            const char *where = common ? page.text : part;
            if (!strstr(where, arena_printf(t->arena, "`%.*s", STR_ARG(option))))
                fail_msg("docs/cli.md: 'tilec %s' does not mention %.*s", commands[i],
                         STR_ARG(option));
        }
        assert_true(seen >= 4);
    }
}

static void refuses_wrong_options(void **state) {
    Tool *t = *state;
    tool_fails(t, 2, "unknown option '--sanitise' [usage]\nhelp: did you mean '--sanitize'?",
               "tilec run k.tile --sanitise");
    tool_fails(t, 2, "options of tilec devices are: --targets --json",
               "tilec devices --whatever=3");
    tool_fails(t, 2, "unknown option '-seed'", "tilec run k.tile -seed 3");
    tool_fails(t, 2, "unknown option '--o'", "tilec emit k.tile --o x");
    tool_fails(t, 2, "--check takes no value", "tilec run k.tile --check=yes");
    tool_fails(t, 2, "--seed takes a value: S", "tilec run k.tile --seed");
    tool_fails(t, 2, "-o takes a value: OUT", "tilec emit good.tile -o");
    tool_fails(t, 2, "--seed is given twice", "tilec run k.tile --seed 1 --seed 1");
    tool_fails(t, 2, "a file is missing: tilec run FILE", "tilec run");
    tool_fails(t, 2, "a file is missing", "tilec check");
    tool_fails(t, 2, "a file is missing", "tilec opt --verify");
    tool_fails(t, 2, "what to do is missing: tilec cache ls|clear|verify", "tilec cache");
    tool_fails(t, 2, "unexpected 'c'", "tilec emit good.tile copy c");
    tool_fails(t, 2, "unexpected 'x'", "tilec devices x");
    tool_fails(t, 2, "--color takes auto, always or never, found 'red'",
               "tilec check good.tile --color red");
    // After -- everything is an operand.
    tool_fails(t, 1, "cannot read '--json'", "tilec check -- --json");
}

static bool colored(const Tool *t) { return tool_output_has(t, "\033["); }

static void colors_on_wish(void **state) {
    Tool *t = *state;
    tool_run(t, 1, "tilec check bad.tile");
    assert_false(colored(t));
    tool_run(t, 1, "NO_COLOR= tilec check bad.tile");
    assert_false(colored(t));  // no terminal
    tool_run(t, 1, "tilec check bad.tile --color=always");
    assert_true(colored(t));  // the option outweighs NO_COLOR, which all tests have set
    tool_run(t, 1, "tilec check bad.tile --color=never");
    assert_false(colored(t));
    tool_run(t, 2, "tilec run k.tile --color=always");
    assert_true(colored(t));
    tool_json(t, 1, "tilec check bad.tile --json --color=always");
    assert_false(colored(t));
    tool_run(t, 0, "command -v script || true");
    if (!t->last.output.size) {
        print_message("not tested on a terminal: there is no command 'script'\n");
        return;
    }
    tool_run(t, 0, "NO_COLOR= TERM=xterm script -qec 'tilec check warns.tile' /dev/null");
    assert_true(colored(t));
    tool_run(t, 0, "NO_COLOR=1 TERM=xterm script -qec 'tilec check warns.tile' /dev/null");
    assert_false(colored(t));
    tool_run(t, 0, "NO_COLOR= TERM=dumb script -qec 'tilec check warns.tile' /dev/null");
    assert_false(colored(t));
    tool_run(t, 0,
             "NO_COLOR= TERM=xterm script -qec 'tilec check --color=never warns.tile' /dev/null");
    assert_false(colored(t));
}

static void reports_lost_output(void **state) {
    Tool *t = *state;
    static const char *const lines[] = {"devices",
                                        "emit good.tile",
                                        "run good.tile --set N=4",
                                        "check good.tile --json",
                                        "run --help",
                                        "--version",
                                        "--help"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        tool_fails(t, 1, "cannot write to standard output [io]", "tilec %s >/dev/full", lines[i]);
}

// ---- check ----

static void check_reports_all_files(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec check good.tile k.tile");
    assert_int_equal(t->last.output.size + t->last.errors.size, 0);
    tool_run(t, 1, "tilec check bad.tile nothing.tile warns.tile");
    assert_true(tool_output_has(t, "bad.tile:1:37: error: unknown name 'y' [unknown-name]\n"));
    assert_true(tool_output_has(t, "unknown name 'z'"));
    assert_true(tool_output_has(t, "cannot read 'nothing.tile': no such file or directory [io]"));
    assert_true(tool_output_has(t, "warns.tile:1:34: warning: 'a' is never used [unused]\n"));
    assert_true(tool_output_has(t, "\n3 errors\n"));
    tool_run(t, 0, "tilec check warns.tile");
    assert_true(tool_output_has(t, "warning"));
    tool_run(t, 1, "tilec check --werror warns.tile");
    tool_run(t, 0, "tilec check --werror good.tile");
    tool_run(t, 0, "tilec check --quiet warns.tile");
    assert_int_equal(t->last.errors.size, 0);
    tool_run(t, 1, "tilec check --quiet bad.tile");
    assert_true(tool_output_has(t, "unknown name 'y'"));
    assert_false(tool_output_has(t, "2 errors"));
    tool_run(t, 1, "tilec check - <bad.tile");
    assert_true(tool_output_has(t, "<stdin>:1:37: error: unknown name 'y'"));
}

static void check_speaks_json(void **state) {
    Tool *t = *state;
    tool_json(t, 0, "tilec check good.tile --json");
    const JsonValue *j = tool_json(t, 1, "tilec check --json bad.tile nothing.tile warns.tile");
    assert_int_equal(tool_count(tool_at(j, "diagnostics")), 4);
    tool_text_at(j, "diagnostics.0.code", "unknown-name");
    tool_text_at(j, "diagnostics.0.file", "bad.tile");
    tool_number_at(j, "diagnostics.0.line", 1);
    tool_number_at(j, "diagnostics.0.column", 37);
    tool_number_at(j, "diagnostics.0.endLine", 1);
    tool_number_at(j, "diagnostics.0.endColumn", 38);
    tool_text_at(j, "diagnostics.2.code", "io");
    tool_text_at(j, "diagnostics.3.severity", "warning");
    tool_text_at(j, "diagnostics.3.help", "remove it, or begin its name with '_'");
    tool_number_at(j, "errors", 3);
    tool_number_at(j, "warnings", 1);
    j = tool_json(t, 2, "tilec check --json");
    tool_text_at(j, "diagnostics.0.code", "usage");
}

// ---- run ----

static void run_shows_results(void **state) {
    Tool *t = *state;
    tool_prints(t, "y: f32[3] = ", "tilec run good.tile --set N=3");
    tool_prints(t, "y: f32[3] = ", "tilec run good.tile copy --set=N=0x3 --device interp");
    tool_prints(t, "y: f32[3] = ", "tilec run - --device auto --set N=3 <good.tile");
    tool_prints(t, "y: f32[3] = ", "cat good.tile | tilec run /dev/stdin --set N=3");
    tool_prints(t, "y: f32[0] = (empty)\n", "tilec run good.tile --set N=0");
    tool_prints(t, " …\n", "tilec run good.tile --set N=9");
    tool_prints(t, "y: f16[3] = ", "tilec run k.tile twice --set T=f16 --set N=3 --set B=4");
    tool_prints(t, "y: i8[3] = ",
                "tilec run k.tile twice --set T=i8 --set N=3 --set warps=4 "
                "--set stages=2 --set ctas=1");
    tool_prints(t, "p: f32[3] = 1.5 1.5 nan\n",
                "tilec run k.tile fill --set p.size=3 --set v=1.5 --set n=2");
    tool_prints(t, "", "tilec run good.tile --set N=3 --quiet");
    assert_int_equal(t->last.output.size, 0);
    tool_prints(t, "y: i32[1] = 3\n", "tilec run k.tile says --set n=3");
    // In whatever order the programs ran.
    assert_true(tool_output_has(t, "program 0 n = 3\n") && tool_output_has(t, "program 1 n = 3\n"));
    tool_prints(t, "y: f32[3] = ", "tilec run good.tile --set N=3 --math=contract,approx");
    tool_prints(t, "2 launches, the fastest took ", "tilec run good.tile --set N=3 --repeat 2");
}

static void run_says_warnings_once(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec run warns.tile --set N=3 2>&1 | grep -c warning:");
    assert_true(tool_output_has(t, "1\n"));
    tool_run(t, 0, "tilec emit warns.tile 2>&1 | grep -c warning:");
    assert_true(tool_output_has(t, "1\n"));
    tool_run(t, 0, "tilec run warns.tile --set N=3 --quiet");
    assert_int_equal(t->last.errors.size + t->last.output.size, 0);
    const JsonValue *j = tool_json(t, 0, "tilec run warns.tile --set N=3 --json");
    tool_number_at(j, "warnings", 1);
}

static void run_launches_another_grid(void **state) {
    Tool *t = *state;
    const JsonValue *j = tool_json(t, 0, "tilec run k.tile says --set n=1 --json");
    tool_number_at(j, "grid.0", 2);
    assert_int_equal(tool_count(tool_at(j, "printed")), 2);
    j = tool_json(t, 0, "tilec run k.tile says --set n=1 --json --grid 3,2");
    tool_number_at(j, "grid.0", 3);
    tool_number_at(j, "grid.1", 2);
    tool_number_at(j, "grid.2", 1);
    assert_int_equal(tool_count(tool_at(j, "printed")), 6);
    j = tool_json(t, 0, "tilec run k.tile says --set n=1 --json --grid 0");
    assert_int_equal(tool_count(tool_at(j, "printed")), 0);
    static const char *const wrong[] = {"''", "a",           "1,", "1,2,3,4", "1,2,3,", "1.5",
                                        "-1", "99999999999", ",1", "'1 2'",   "1,,2",   "1x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tool_fails(t, 2, "--grid takes up to three numbers",
                   "tilec run k.tile says --set n=1 --grid %s", wrong[i]);
}

static void run_repeats_on_the_same_input(void **state) {
    Tool *t = *state;
    tool_file(t, "inc.tile", STR("kernel inc(i32 x[4]) grid(1) { x[0 +: 4] = x[0 +: 4] + 1; }\n"));
    tool_run(t, 0,
             "tilec run inc.tile --out x=one.npy && tilec run inc.tile --repeat 5 --out "
             "x=five.npy && cmp one.npy five.npy");
    tool_fails(t, 2, "--repeat takes a number from 1 to 1000000, found '0'",
               "tilec run inc.tile --repeat 0");
    tool_fails(t, 2, "--repeat takes a number", "tilec run inc.tile --repeat=1000001");
    tool_fails(t, 2, "--repeat takes a number", "tilec run inc.tile --repeat=-1");
    tool_fails(t, 2, "--repeat takes a number", "tilec run inc.tile --repeat=2.5");
}

static void run_fills_from_the_seed(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec run good.tile --set N=99 --out x=a.npy --out y=b.npy");
    tool_run(t, 0, "tilec run good.tile --set N=99 --seed 1 --out x=c.npy && cmp a.npy c.npy");
    tool_run(t, 0, "cmp a.npy b.npy");
    tool_run(t, 0, "tilec run good.tile --set N=99 --seed 2 --out x=d.npy");
    tool_run(t, 1, "cmp a.npy d.npy");
    tool_prints(t, "y: ", "tilec run good.tile --set N=3 --seed 9223372036854775807");
    tool_fails(t, 2, "--seed takes a number from 0", "tilec run good.tile --set N=3 --seed -1");
    tool_fails(t, 2, "--seed takes a number from 0",
               "tilec run good.tile --set N=3 --seed 9223372036854775808");
    tool_fails(t, 2, "found 'x'", "tilec run good.tile --set N=3 --seed x");
}

static void run_speaks_json(void **state) {
    Tool *t = *state;
    const JsonValue *j = tool_json(t, 0,
                                   "tilec run k.tile fill --set p.size=9 --set v=-inf --set n=1 "
                                   "--json --device interp --seed 4 "
                                   "--repeat 2 --out p=p.npy --check");
    tool_text_at(j, "kernel", "fill");
    tool_text_at(j, "device", "interp");
    tool_number_at(j, "seed", 4);
    tool_number_at(j, "repeat", 2);
    assert_true(tool_at(j, "seconds")->number >= 0);
    tool_text_at(j, "arrays.0.name", "p");
    tool_text_at(j, "arrays.0.type", "f32");
    tool_number_at(j, "arrays.0.shape.0", 9);
    assert_true(tool_at(j, "arrays.0.written")->boolean);
    tool_text_at(j, "arrays.0.out", "p.npy");
    assert_int_equal(tool_count(tool_at(j, "arrays.0.values")), 8);
    tool_text_at(j, "arrays.0.values.0", "-inf");
    tool_text_at(j, "check.0.array", "p");
    tool_number_at(j, "check.0.compared", 9);
    tool_number_at(j, "check.0.wrong", 0);
    tool_number_at(j, "check.0.undecided", 0);
    // If nothing of an array can be compared, the result is not known.
    tool_file(t, "undecided.tile",
              STR("kernel k(f32 x[N], f32 y[N]) grid(1) {\n"
                  "    let v = x[0 +: 16] or 0.0;\n"
                  "    if sum(v) * 0.1 - 0.1 * sum(v) > 0.0 { y[0 +: 16] = v; }\n"
                  "    else { y[0 +: 16] = -v; }\n"
                  "}\n"));
    tool_run(t, 3, "tilec run undecided.tile --device interp --set N=16 --check --quiet");
    assert_true(tool_output_has(t, "nothing of 'y' was compared: all 16 elements are undecided"));
    tool_number_at(j, "check.0.worstRatio", 0);
    // One thread: programs of several threads print in any order.
    j = tool_json(t, 3, "tilec run k.tile says --device cpu:1 --set n=9 --json --out y=y.npy");
    tool_text_at(j, "diagnostics.0.code", "assert");
    tool_text_at(j, "diagnostics.0.file", "k.tile");
    tool_number_at(j, "diagnostics.0.line", 14);
    tool_text_at(j, "printed.0", "program 0 n = 9");
    assert_null(json_get(j, "seconds"));
    tool_json(t, 2, "tilec run k.tile --json");
    tool_json(t, 2, "tilec run k.tile twice --json --set M=3");
    tool_json(t, 2, "tilec run k.tile --grid=x --json");
    tool_json(t, 1, "tilec run bad.tile --json");
    tool_json(t, 1, "tilec run nothing.tile --json");
    tool_json(t, 1, "tilec run good.tile --set N=3 --in x=nothing.npy --json");
    tool_json(t, 4, "tilec run good.tile --set N=3 --device cuda --json");
    tool_json(t, 4, "tilec run k.ptx --json");
    assert_null(strstr(tool_list(t), "y.npy"));
}

static void run_checks(void **state) {
    Tool *t = *state;
    tool_prints(t, "check y: 20 elements agree, worst at 0 of the bound\n",
                "tilec run good.tile --set N=20 --check");
    tool_prints(t, "", "tilec run good.tile --set N=20 --check --quiet");
    assert_int_equal(t->last.output.size, 0);
    tool_prints(t, "check c: 2 elements agree",
                "tilec run k.tile pair --set M=2 --set K=5 --check");
}

// The second launch of --check has all these numbers: kernels that refuse one of them are not run
// on them, and neither is one that would not end or would leave its memory.
static void run_checks_special_values(void **state) {
    static const char text[] =
        "kernel twice(f32 x[N], f32 y[N], const B = 256) grid(cdiv(N, B)) {\n"
        "    let at = program(0) * B;\n    y[at +: B] = x[at +: B] * 2;\n}\n"
        "kernel whole(i32 x[N], i32 y[N]) grid(1) {\n    y[0] = x[0];\n}\n"
        "kernel no_nan(f32 x[N]) grid(1) {\n"
        "    let v = x[0 +: 1024];\n    assert(all(v == v));\n}\n"
        "kernel no_infinity(f32 x[N]) grid(1) {\n"
        "    let v = x[0 +: 1024];\n    assert(!any(abs(v) == inf));\n}\n"
        "kernel no_minus_zero(f32 x[N]) grid(1) {\n"
        "    let v = bitcast(u32, x[0 +: 1024]);\n    assert(!any(v == 0x80000000));\n}\n"
        "kernel no_subnormal(f32 x[N]) grid(1) {\n    let v = abs(x[0 +: 1024]);\n"
        "    assert(!any((v > 0) & (v < 1.17549435e-38)));\n}\n"
        "kernel endless(f32 x[N], f32 y[N]) grid(1) {\n    var v = max(abs(x[0 +: 1024]), 0);\n"
        "    while any(v > 0.5) { v = v / 2; }\n    y[0 +: 1024] = v;\n}\n"
        "kernel wild(*f32 p, f32 x[N]) grid(1) {\n"
        "    store(p + i32(select(abs(x[0 +: 1024]) <= 1, 0.0, 1.0e9)), 1.0);\n}\n"
        "kernel open(f32 x[N], f32 y[N]) grid(1) {\n"
        "    let v = x[0 +: 1024];\n    let s = sum(select(isfinite(v), v, 0.0));\n"
        "    if all(isfinite(v)) | (s * 0.1 - 0.1 * s > 0) { y[0 +: 1024] = v; }\n"
        "    else { y[0 +: 1024] = -v; }\n}\n";
#define CHECKED "check with signed zeros, subnormals, infinities and NaN: "
    static const char *const refusing[] = {"no_nan",       "no_infinity", "no_minus_zero",
                                           "no_subnormal", "endless",     "wild --set p.size=1"};
    Tool *t = *state;
    tool_file(t, "special.tile", (Str){text, sizeof text - 1});
    tool_prints(t, CHECKED "all agree\n", "tilec run special.tile twice --set N=1024 --check");
    tool_prints(t, CHECKED "all agree\n",
                "tilec run special.tile twice --set N=1 --check --seed 7");
    for (size_t i = 0; i < sizeof refusing / sizeof *refusing; i++) {
        tool_prints(t, CHECKED "left out, the kernel does not accept these numbers\n",
                    "tilec run special.tile %s --set N=1024 --check", refusing[i]);
    }
    tool_prints(t, CHECKED "nothing of 'y' was compared, all its elements are undecided\n",
                "tilec run special.tile open --set N=1024 --check");
    tool_prints(t, CHECKED "left out, no floats are random\n",
                "tilec run special.tile whole --set N=4 --check");
    tool_prints(t, "\"checkSpecial\":[{\"array\":\"x\"",
                "tilec run special.tile twice --set N=1024 --check --json");
    tool_prints(t, "\"checkSpecial\":\"no floats are random\"",
                "tilec run special.tile whole --set N=4 --check --json");
}

static void run_sanitizes(void **state) {
    Tool *t = *state;
    tool_file(
        t, "san.tile",
        STR("kernel far(*f32 p, i64 n) grid(1)\n{\n    store(p + iota(8), 1.0, iota(8) < n);\n"
            "}\n"
            "kernel near(*f32 p, i64 n) grid(1)\n{\n    let v = load(p + iota(8) + n);\n"
            "    store(p, sum(v));\n}\n"
            "kernel sure(f32 x[N], i64 n) grid(1)\n{\n    assume(n > 3);\n    x[0] = 1;\n}\n"
            "kernel race(f32 x[N]) grid(2)\n{\n    x[0] = 1;\n}\n"));
    const char *fine = "tilec run san.tile far --set p.size=4 --set n=4 --sanitize";
    tool_prints(t, "p: f32[4] = 1.0 1.0 1.0 1.0\n", "%s", fine);
    tool_run(t, 3, "tilec run san.tile far --set p.size=4 --set n=6 --sanitize --out p=far.npy");
    assert_true(
        tool_output_has(t,
                        "san.tile:3:5: error: program (0, 0, 0), lane 4: writes element 4 of "
                        "'p', a buffer of 4 elements [bounds]\n"
                        "        store(p + iota(8), 1.0, iota(8) < n);\n"));
    assert_null(strstr(tool_list(t), "far.npy"));
    tool_run(t, 3, "tilec run san.tile near --set p.size=8 --set n=1 --sanitize");
    assert_true(tool_output_has(t, "san.tile:7:13: error: "));
    tool_run(t, 3, "tilec run san.tile sure --set N=1 --set n=3 --sanitize");
    assert_true(tool_output_has(t, "san.tile:12:5: error: "));
    tool_run(t, 0, "tilec run san.tile sure --set N=1 --set n=4 --sanitize");
    tool_run(t, 3, "tilec run san.tile race --set N=1 --sanitize");
    assert_true(tool_output_has(t, "san.tile:17:5: error: "));
    assert_true(tool_output_has(t, "[race]"));
    tool_run(t, 0, "tilec run san.tile race --set N=1");
    tool_run(t, 3, "tilec run k.tile says --set n=5 --out y=y.npy");
    assert_true(tool_output_has(t, "k.tile:14:5: error: assertion failed: \"n is small\""));
    assert_true(tool_output_has(t, "program 0 n = 5\n"));
    assert_null(strstr(tool_list(t), "y.npy"));
}

static void run_knows_its_devices(void **state) {
    Tool *t = *state;
    static const char *const absent[] = {"cuda", "cuda:0", "hip:1", "sim:sm_70"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        tool_fails(t, 4, "error: ", "tilec run good.tile --set N=3 --device %s", absent[i]);
    static const char *const wrong[] = {"tpu", "interp:1", "''",         "cuda:x",    "hip:x",
                                        "sim", "sim:sm_8", "sim:sm_999", "sim:gfx999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tool_fails(t, 1, "error: ", "tilec run good.tile --set N=3 --device %s", wrong[i]);
    tool_fails(t, 1, "no device 'gpu' here; GPUs are 'cuda' (NVIDIA's), 'hip' (AMD's) and 'sim:",
               "tilec run good.tile --set N=3 --device gpu");
    tool_fails(t, 1, "did you mean 'cuda', a GPU of this machine, or 'sim:sm_80', simulated?",
               "tilec run good.tile --set N=3 --device sm_80");
    tool_fails(t, 1, "did you mean 'hip', a GPU of this machine, or 'sim:gfx942', simulated?",
               "tilec run good.tile --set N=3 --device mi300x");
    tool_fails(t, 1, "no device 'SM_80' here; did you mean 'cuda', a GPU of this machine, or 'sim",
               "tilec run good.tile --set N=3 --device SM_80");
    tool_fails(t, 1, "did you mean 'cuda', a GPU of this machine, or 'sim:sm_89', simulated?",
               "tilec run good.tile --set N=3 --device 'NVIDIA GeForce RTX 4090'");
    tool_fails(t, 1, "no device 'GPU' here; GPUs are 'cuda' (NVIDIA's)",
               "tilec run good.tile --set N=3 --device GPU");
    tool_fails(t, 1, "no device 'nvidia' here; did you mean 'cuda'?",
               "tilec run good.tile --set N=3 --device nvidia");
    tool_fails(t, 1, "no device 'AVX2' here; did you mean 'cpu'?",
               "tilec run good.tile --set N=3 --device AVX2");
    tool_fails(t, 1, "no device 'CPU' here; did you mean 'cpu'?",
               "tilec run good.tile --set N=3 --device CPU");
    // The message does not claim that chips without a simulator are simulated.
    tool_fails(t, 1, "no device 'mi100' here; did you mean 'hip', a GPU of this machine? there are",
               "tilec run good.tile --set N=3 --device mi100");
    tool_fails(t, 1, "there is no simulated 'H100'; did you mean 'sim:sm_90a'? there are",
               "tilec run good.tile --set N=3 --device sim:H100");
    tool_fails(t, 1, "there is no simulated 'MI100'; there are",
               "tilec run good.tile --set N=3 --device sim:MI100");
    tool_prints(t, "sm_90a          H100, H200, GH200\n", "tilec devices --targets");
    tool_prints(t, "x86-64-v4       also with +vnni, +bf16,", "tilec devices --targets");
    tool_prints(t, "\nnative          this machine's processor\n", "tilec devices --targets");
    tool_fails(t, 1, "no device 'cpuu' here; did you mean 'cpu'? there are: interp",
               "tilec run good.tile --set N=3 --device cpuu");
    tool_fails(t, 1, "expected 1 to 1024 threads", "tilec run good.tile --set N=3 --device cpu:x");
    tool_fails(t, 4, "AMD's HIP cannot be opened", "tilec run good.tile --set N=3 --device hip");
    tool_fails(t, 4, "only simulated devices of this version run 'k.ptx'",
               "tilec run k.ptx k --device cpu --grid 1 --block 32");
    tool_fails(t, 1, "cannot read 'k.ptx'",
               "tilec run k.ptx k --device sim:sm_80 --grid 1 --block 32 --shared 4 --arg i32:5 "
               "--arg f32:2");
    tool_fails(t, 2, "--grid X,Y,Z is needed", "tilec run k.ptx k --device sim:sm_80");
    tool_fails(t, 2, "--arg 'i99:1': unknown kind",
               "tilec run k.ptx k --device sim:sm_80 --grid 1 --block 32 --arg i99:1");
    tool_fails(t, 4, "sim:gfx942", "tilec run k.hsaco k --device cpu --grid 1 --block 1");
    tool_fails(t, 2, "--block is for .ptx and .hsaco files", "tilec run k.tile --block 3");
    tool_fails(t, 2, "--shared is for", "tilec run k.tile --shared 3");
    tool_fails(t, 2, "--arg is for", "tilec run k.tile --arg i32:3");
}

// Code from anywhere: what cannot be meant, and what the device would refuse.
#define PTX(version, arch, variable, body)                                        \
    ".version " version "\n.target " arch "\n.address_size 64\n" variable         \
    "\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n" \
    "ld.param.u64 %d1, [p];\n" body "ret;\n}\n"
#define EXTERN ".extern .shared .align 16 .b8 s[];"
#define STORES                                                      \
    "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\n" \
    "add.u32 %r3, %r3, %r2;\nst.shared.u32 [%r3], %r1;\n"
#define RUN_PTX "--device sim:sm_80 --grid 1 --block 32"

// Tensor maps of arrays, which may follow the parameters.
#define MAPPED                                                                           \
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 64 " \
    ".b8 m[128])\n{\nret;\n}\n"
#define RUN_MAPPED "tilec run m.ptx --device sim:sm_90 --grid 1 --block 32 "

static void maps_are_checked(void **state) {
    Tool *t = *state;
    tool_file(t, "m.ptx", text_of(MAPPED));
    tool_run(t, 0, RUN_MAPPED "--arg map:2::8,4:0 --arg out:y.npy:f32:4:8");
    tool_run(t, 0, RUN_MAPPED "--arg map:2:16,2:16,1:32 --arg out:y.npy:u16:4:8");
    static const struct {
        const char *map, *error;
        int status;
    } rows[] = {{"0::8,4:0", "ARG is the number of an array", 2},
                {"1::8,4:0", "ARG is not an array", 2},
                {"3::8,4:0", "ARG is not an array", 2},
                {"2::8:0", "another number of dimensions", 2},
                {"2:8:8,4:0", "lists of as many numbers", 2},
                {"2::8,x:0", "lists of as many numbers", 2},
                {"2::8,4:16", "SWIZZLE is 0, 32, 64 or 128", 2},
                {"2::8,4", "SWIZZLE is 0, 32, 64 or 128", 2},
                {"2:8,5:8,4:0", "DIMS are larger than the array", 2},
                {"2::7,4:0", "a multiple of 16 bytes in dimension 0", 1},
                {"2::8,257:0", "1 to 256 elements", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tool_fails(t, rows[i].status, rows[i].error,
                   RUN_MAPPED "--arg map:%s --arg out:y.npy:f32:4:8", rows[i].map);
    tool_fails(t, 1, "2 arguments for the 1 parameters", RUN_MAPPED "--arg i32:5 --arg i32:5");
}

static void foreign_code_is_checked(void **state) {
    Tool *t = *state;
    tool_file(t, "k.ptx", text_of(PTX("8.0", "sm_80", EXTERN, STORES)));
    static const char *const settings[] = {"set N=3",    "set T=f16",   "math approx",
                                           "in x=x.npy", "out x=x.npy", "repeat 3",
                                           "check",      "time-passes", "dump-after all"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        tool_fails(t, 2, "is for sources: 'k.ptx' ", "tilec run k.ptx --%s " RUN_PTX, settings[i]);
    tool_fails(t, 2, "help: tilec run FILE.ptx [KERNEL] takes --device sim:ARCH, --grid X,Y,Z",
               "tilec run k.ptx --set T=f16 " RUN_PTX);
    tool_run(t, 0, "tilec run k.ptx " RUN_PTX " --shared 128 --sanitize");
    tool_fails(t, 3,
               "help: 'k' uses `.extern .shared`, and the launch gives it no bytes: --shared N",
               "tilec run k.ptx " RUN_PTX);
    tool_run(t, 3, "tilec run k.ptx " RUN_PTX " --shared 64");  // too few: no more to say
    assert_false(tool_output_has(t, "help"));
    tool_file(t, "new.ptx", text_of(PTX("99.0", "sm_80", "", "")));
    tool_fails(t, 1, "new.ptx:1:10: error: PTX 99.0 is newer than 9.4, the newest known here",
               "tilec run new.ptx " RUN_PTX);
    static const char *const versions[] = {"9.10", "8", "99999999999999999999.0", "8.x"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const char *text = PTX("%s", "sm_80", "", "");
        const char *at = strchr(text, '%');
        StrBuf b = strbuf(t->arena);
        strbuf_add(&b, (Str){text, (size_t)(at - text)});
        strbuf_printf(&b, "%s%s", versions[i], at + 2);
        tool_file(t, "new.ptx", strbuf_str(&b));
        tool_fails(t, 1, "new.ptx:1:10: error: ", "tilec run new.ptx " RUN_PTX);
    }
}

static void shared_memory_has_an_end(void **state) {
    Tool *t = *state;
    static const struct {
        const char *arch;
        int most;
    } rows[] = {{"sm_75", 64}, {"sm_80", 163}, {"sm_86", 99}, {"sm_90", 227}, {"sm_120", 99}};
    tool_file(t, "k.ptx", text_of(PTX("8.0", "sm_75", EXTERN, STORES)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *fits = arena_printf(
            t->arena, "tilec run k.ptx --device sim:%s --grid 1 --block 32 --shared %d",
            rows[i].arch, rows[i].most << 10);
        tool_run(t, 0, "%s", fits);
        const char *error = arena_printf(t->arena,
                                         "kernel 'k' needs %d bytes of shared memory (0 declared, "
                                         "%d of the launch), and a block of %s has at most %d",
                                         (rows[i].most << 10) + 10, (rows[i].most << 10) + 10,
                                         rows[i].arch, rows[i].most << 10);
        tool_fails(t, 1, error, "tilec run k.ptx --device sim:%s --grid 1 --block 32 --shared %d",
                   rows[i].arch, (rows[i].most << 10) + 10);
    }
    tool_file(t, "big.ptx",
              text_of(PTX("8.0", "sm_75", ".shared .align 16 .b8 s[49168];", STORES)));
    tool_fails(
        t, 1, "kernel 'k' declares 49168 bytes of shared memory, and at most 49152 can be declared",
        "tilec run big.ptx " RUN_PTX);
    tool_file(t, "both.ptx",
              text_of(PTX("8.0", "sm_75", ".shared .align 16 .b8 t[49152];\n" EXTERN,
                          STORES "st.shared.u32 [t], %r1;\n")));
    tool_run(t, 0, "tilec run both.ptx --device sim:sm_75 --grid 1 --block 1 --shared 16384");
    tool_fails(t, 1,
               "needs 65552 bytes of shared memory (49152 declared, 16400 of the launch), and a "
               "block of sm_75 has at most 65536",
               "tilec run both.ptx --device sim:sm_75 --grid 1 --block 32 --shared 16400");
}

// ---- emit ----

static void emit_prints_forms(void **state) {
    Tool *t = *state;
    tool_prints(t, "kernel @copy(%x: view f32[N]", "tilec emit good.tile");
    tool_prints(t, "kernel @copy(%x: view f32[N]", "tilec emit good.tile copy --as tile-ir");
    tool_prints(t, "f16", "tilec emit k.tile twice --set T=f16 --passes simplify,cse");
    tool_prints(t, "kernel @copy", "tilec emit good.tile --passes=none --target sm_90a");
    tool_prints(t, "", "tilec emit good.tile --as metadata");
    const JsonValue *m = json_parse(t->arena, t->last.output, NULL);
    assert_non_null(m);
    tool_text_at(m, "kernel", "copy");
    // opt reads what emit writes.
    tool_prints(t, "kernel @copy", "tilec emit good.tile -o out.tir && tilec opt out.tir");
    tool_run(t, 0, "tilec emit good.tile >two.tir && cmp out.tir two.tir");
    tool_prints(t, "kernel @copy", "tilec emit good.tile -o -");
    tool_prints(t, "kernel @copy", "tilec emit - <good.tile");
    tool_run(t, 0, "tilec emit k.tile fill --math=contract");
    assert_true(tool_output_has(t, "math"));
}

static void emit_follows_tune_lines(void **state) {
    Tool *t = *state;
    tool_file(t, "tuned.tile",
              STR("kernel k(f32 x[N], const B) grid(1) { x[0 +: B] = 1; }\n"
                  "tune k { B: 8, 16; }\ntune k for gfx942 { B: 32; }\n"));
    tool_prints(t, "B = 8", "tilec emit tuned.tile");
    tool_prints(t, "B = 32", "tilec emit tuned.tile --target gfx942");
    tool_prints(t, "B = 64", "tilec emit tuned.tile --target gfx942 --set B=64");
}

static void emit_speaks_json(void **state) {
    Tool *t = *state;
    const JsonValue *j = tool_json(t, 0, "tilec emit good.tile --json");
    tool_text_at(j, "kernel", "copy");
    tool_text_at(j, "form", "tile-ir");
    assert_true(str_starts(tool_at(j, "text")->string, STR("kernel @copy")));
    j = tool_json(t, 0, "tilec emit good.tile --json --as metadata");
    tool_text_at(j, "metadata.kernel", "copy");
    j = tool_json(t, 0, "tilec emit good.tile --json -o out.tir");
    tool_text_at(j, "out", "out.tir");
    assert_null(json_get(j, "text"));
    j = tool_json(t, 0, "tilec emit good.tile --json --dump-after=cse --time-passes");
    tool_text_at(j, "dumps.0.after", "cse");
    assert_true(tool_count(tool_at(j, "passes")) > 2);
    tool_at(j, "passes.0.pass"), tool_at(j, "passes.0.seconds"), tool_at(j, "passes.0.ops");
    tool_json(t, 2, "tilec emit k.tile --json");
    tool_json(t, 4, "tilec emit good.tile --json --as llvm --target interp");
    tool_json(t, 2, "tilec emit good.tile --json --as object");
    j = tool_json(t, 0, "tilec emit good.tile --json --as cpu-ir --target x86-64-v3");
    assert_non_null(strstr(tool_at(j, "text")->string.text, "cpu.store"));
}

// With a compiler library that makes the same text of everything.
static void emit_makes_code(void **state) {
    Tool *t = *state;
#define FAKE "TILEC_LLVM_LIBRARY=" TEST_FAKE_PLUGIN " "
#define NONE "TILEC_CACHE=off TILEC_LLVM_LIBRARY=/nowhere.so "
    static const char *const forms[] = {"llvm", "asm", "object"};
    for (size_t i = 0; i < 3; i++)
        tool_prints(t, "text of the fake\n",
                    FAKE "tilec emit good.tile --target aarch64 --as %s --variant 0", forms[i]);
    const JsonValue *j =
        tool_json(t, 0, FAKE "tilec emit good.tile --as asm --json --time-passes --variant 1");
    assert_true(tool_at(j, "codegen.build")->number > 0);
    assert_true(tool_at(j, "codegen.link")->number > 0);
    tool_fails(t, 2, "the kernel has 3 variants, counted from 0; there is no variant 3",
               FAKE "tilec emit good.tile --as asm --variant 3");
    tool_fails(t, 4, "/nowhere.so: no such file", NONE "tilec emit good.tile --as asm");
    tool_fails(t, 4, "/nowhere.so: no such file",
               NONE "tilec run good.tile --set N=3 --device cpu");
    tool_fails(t, 4, "[unavailable]",
               NONE "TILEC_COMPILE_IN_CHILD=1 tilec run good.tile --set N=3 --device cpu");
    tool_prints(t, "runs only cached kernels", NONE "tilec devices");
}

static void cache_shows_and_clears(void **state) {
    Tool *t = *state;
    tool_prints(t, "0 entries, 0.0 MiB in no-such", "tilec cache ls --folder no-such");
    tool_fails(t, 2, "tilec cache takes ls, clear or verify, found 'all'", "tilec cache all");
    tool_fails(t, 2, "", "tilec cache");
    tool_fails(t, 4, "there is no cache here", "TILEC_CACHE=off tilec cache ls");
    tool_run(t, 0, "mkdir store wide; ln -s store link; chmod 777 wide");
    tool_fails(t, 1, "is a symbolic link", "tilec cache ls --folder link");
    tool_fails(t, 1, "others may write there", "tilec cache clear --folder wide");
    tool_run(t, 0, "touch store/mine store/.x.1-0.tmp");
    tool_prints(t, "removed 1 entry, 0.0 MiB, from store", "tilec cache clear --folder store");
    tool_run(t, 0, "test -e store/mine");
    const JsonValue *j = tool_json(t, 0, "tilec cache ls --folder store --json");
    assert_true(tool_at(j, "entries")->number == 0);
    tool_run(t, 0, "echo x > store/%064d.so", 0);
    tool_prints(t, "1 entry, 0.0 MiB in store", "tilec cache ls --folder store");
    tool_run(t, 3, "tilec cache verify --folder store");
    assert_true(tool_output_has(t, "0000000000000000 is damaged: it is cut off"));
    j = tool_json(t, 3, "tilec cache verify --folder store --json");
    tool_text_at(j, "damaged.0.why", "it is cut off");
    j = tool_json(t, 0, "tilec cache clear --folder store --json");
    assert_true(tool_at(j, "removed")->number == 1);
}

static void emit_refuses(void **state) {
    Tool *t = *state;
    static const char *const later[] = {"llvm", "asm", "object"};
    for (size_t i = 0; i < 3; i++)
        tool_fails(t, 4, "this version makes no code",
                   "tilec emit good.tile --target interp --as %s", later[i]);
    tool_fails(t, 2,
               "--as takes tile-ir, metadata, cpu-ir, thread-ir, llvm, asm or object, found 'c'",
               "tilec emit good.tile --as c");
    static const char *const targets[] = {"sm_", "sm_8x", "sm80", "x86", "gfx", "''", "sm_9000000"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        tool_fails(t, 1, "help: targets are: sm_75", "tilec emit good.tile --target %s",
                   targets[i]);
    tool_fails(t, 1, "there is no target 'H100', but a card of that name: its target is sm_90a",
               "tilec emit k.tile twice --as asm --target H100");
    tool_fails(t, 2, "PTX is the assembly of NVIDIA's targets: --as asm --target sm_80",
               "tilec emit k.tile twice --as ptx");
    tool_fails(t, 2, "there is no form 'PTX'", "tilec emit k.tile twice --as PTX");
    tool_fails(t, 1, "there is no target 'AVX2'; did you mean 'x86-64-v3'?",
               "tilec emit good.tile --target AVX2");
    tool_fails(t, 1, "there is no target 'nvidia'; a target is an architecture, such as sm_90a",
               "tilec emit good.tile --target nvidia");
    tool_fails(t, 1, "there is no target 'sm80'; did you mean 'sm_80'?",
               "tilec emit good.tile --target sm80");
    tool_fails(t, 2,
               "unknown pass 'nonsense'; there are: ", "tilec emit good.tile --passes=nonsense");
    tool_fails(
        t, 2, "unknown pass 'nonsense'; there are: ", "tilec emit good.tile --dump-after=nonsense");
    tool_fails(t, 1, "cannot write '/dev/full'", "tilec emit good.tile -o /dev/full");
    tool_fails(t, 1, "cannot write 'no/out'", "tilec emit good.tile -o no/out");
    tool_fails(t, 1, "cannot write '.'", "tilec emit good.tile -o .");
    tool_fails(t, 1, "cannot write ''", "tilec emit good.tile -o ''");
    // The file that was there is unchanged.
    tool_run(t, 0, "echo old >kept && ! tilec emit bad.tile -o kept && grep -qx old kept");
    tool_fails(t, 1, "unknown name", "tilec emit bad.tile -o kept2");
}

// ---- opt ----

static void opt_runs_passes(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec emit good.tile --passes=none >in.tir");
    tool_prints(t, "kernel @copy", "tilec opt in.tir");
    tool_run(t, 0, "tilec opt in.tir | cmp - in.tir");
    tool_prints(t, "kernel @copy", "tilec opt in.tir --passes=tile --verify");
    tool_run(t, 0,
             "tilec emit good.tile >tile.tir; tilec opt in.tir --passes=tile | cmp - tile.tir");
    tool_prints(t, "kernel @copy", "tilec opt - --passes=simplify,cse,dce <in.tir");
    tool_run(t, 0, "tilec opt in.tir --passes=tile -o o.tir && cmp o.tir tile.tir");
    // Dumps and times leave the result alone.
    tool_run(t, 0, "tilec opt in.tir --passes=cse --dump-after=cse --time-passes >x.tir");
    assert_true(tool_output_has(t, "// after cse\nkernel @copy"));
    assert_true(tool_output_has(t, " us  cse "));
    tool_run(t, 0, "tilec opt x.tir");
    tool_run(t, 0, "tilec opt in.tir --passes=cse,dce --dump-after=all 2>&1 | grep -c '// after'");
    assert_true(tool_output_has(t, "2\n"));
    const JsonValue *j =
        tool_json(t, 0, "tilec opt in.tir --passes=cse,dce --dump-after=dce --time-passes --json");
    assert_true(str_starts(tool_at(j, "text")->string, STR("kernel @copy")));
    assert_int_equal(tool_count(tool_at(j, "dumps")), 1);
    assert_int_equal(tool_count(tool_at(j, "passes")), 2);
    tool_fails(t, 2, "unknown pass 'nonsense'; there are: ", "tilec opt in.tir --passes=nonsense");
    tool_json(t, 2, "tilec opt in.tir --dump-after=nonsense --json");
    tool_fails(t, 1, "cannot read 'none.tir': no such file or directory [io]",
               "tilec opt none.tir");
    tool_fails(t, 1, "by its name it is Tile source", "tilec opt good.tile");
    tool_json(t, 1, "tilec opt good.tile --json");
}

// ---- devices ----

static void devices_lists(void **state) {
    Tool *t = *state;
    tool_prints(t, "interp   the reference interpreter", "tilec devices");
    assert_true(tool_output_has(t, "cuda     NVIDIA GPUs: not available, "));
    tool_prints(t, "cpu      this machine's processor", "tilec devices --quiet");
    assert_false(tool_output_has(t, "cuda  "));
    const JsonValue *j = tool_json(t, 0, "tilec devices --json");
    tool_text_at(j, "devices.0.name", "interp");
    assert_true(tool_at(j, "devices.0.available")->boolean);
    tool_at(j, "devices.0.version"), tool_at(j, "devices.0.description");
    tool_text_at(j, "devices.1.name", "cpu");
    assert_true(tool_at(j, "devices.1.available")->boolean);
    assert_true(tool_at(j, "devices.1.processors")->number >= 1);
    tool_at(j, "devices.1.target"), tool_at(j, "devices.1.compiler");
    assert_false(tool_at(j, "devices.2.available")->boolean);
    tool_at(j, "devices.2.missing");
    assert_false(tool_at(j, "devices.3.available")->boolean);
    tool_prints(t, "hip      AMD GPUs: not available, AMD's HIP cannot be opened", "tilec devices");
}

// Those that have a driver, each card of them.
static void devices_lists_cards(void **state) {
    Tool *t = *state;
    setenv("TILEC_HIP_LIBRARY", TEST_FAKE_HIP, 1);
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    tool_prints(t, "hip      AMD GPUs (tilec ", "tilec devices");
    assert_true(tool_output_has(t, "         hip:1: gfx90a, Fake 1, HIP 6.2.24000\n"));
    assert_true(tool_output_has(t, "         cuda:0: sm_80, Fake 0, a driver for CUDA 12.2\n"));
    const JsonValue *j = tool_json(t, 0, "tilec devices --json");
    tool_text_at(j, "devices.3.cards.0.name", "hip:0");
    tool_text_at(j, "devices.3.cards.1.description", "gfx90a, Fake 1, HIP 6.2.24000");
    tool_run(t, 0, "tilec run good.tile --set N=3 --device hip:1");
    setenv("TILEC_HIP_LIBRARY", "none", 1);
    setenv("TILEC_CUDA_LIBRARY", "none", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_its_version_and_usage),
        cmocka_unit_test(reference_names_every_option),
        cmocka_unit_test(refuses_wrong_options),
        cmocka_unit_test(colors_on_wish),
        cmocka_unit_test(reports_lost_output),
        cmocka_unit_test(check_reports_all_files),
        cmocka_unit_test(check_speaks_json),
        cmocka_unit_test(run_shows_results),
        cmocka_unit_test(run_says_warnings_once),
        cmocka_unit_test(run_launches_another_grid),
        cmocka_unit_test(run_repeats_on_the_same_input),
        cmocka_unit_test(run_fills_from_the_seed),
        cmocka_unit_test(run_speaks_json),
        cmocka_unit_test(run_checks),
        cmocka_unit_test(run_checks_special_values),
        cmocka_unit_test(run_sanitizes),
        cmocka_unit_test(run_knows_its_devices),
        cmocka_unit_test(foreign_code_is_checked),
        cmocka_unit_test(maps_are_checked),
        cmocka_unit_test(shared_memory_has_an_end),
        cmocka_unit_test(emit_prints_forms),
        cmocka_unit_test(emit_follows_tune_lines),
        cmocka_unit_test(emit_speaks_json),
        cmocka_unit_test(emit_refuses),
        cmocka_unit_test(emit_makes_code),
        cmocka_unit_test(cache_shows_and_clears),
        cmocka_unit_test(opt_runs_passes),
        cmocka_unit_test(devices_lists),
        cmocka_unit_test(devices_lists_cards),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
