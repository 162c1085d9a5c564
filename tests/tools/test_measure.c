// `tilec bench` and `tilec tune`: the form of what they say, and what tune keeps. No time is looked
// at.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/codegen_plugin.h"
#include "tests/tools/kernels.h"

#define PRODUCT                                                                             \
    "kernel product(type T, T a[M, K], T b[K, N], T c[M, N], const BM = 8, const BK = 4)\n" \
    "    requires M % BM == 0\n"                                                            \
    "    grid(cdiv(M, BM), cdiv(N, 8))\n"                                                   \
    "{\n"                                                                                   \
    "    let i = program(0) * BM;\n"                                                        \
    "    let j = program(1) * 8;\n"                                                         \
    "    var acc = zeros(f32, BM, 8);\n"                                                    \
    "    for k in 0 .. K step BK\n"                                                         \
    "        acc = dot(a[i +: BM, k +: BK], b[k +: BK, j +: 8], acc);\n"                    \
    "    c[i +: BM, j +: 8] = T(acc);\n"                                                    \
    "}\n"                                                                                   \
    "tune product { BM: 16, 4, 8; BK: 4, 8; warps: 4, 8; }\n"
#define SHAPE "--set T=f32 --set M=16 --set N=10 --set K=12 --device interp"

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "k.tile", text_of(KERNELS));
    tool_file(t, "product.tile", text_of(PRODUCT));
    tool_file(t, "fixed.tile",
              text_of("kernel f(f32 x[N], const B = 4) requires N % B == 1\n"
                      "    grid(1) { x[0 +: B] = 1.0; }\n"
                      "tune f { B: 2, 4; }\n"));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

static void bench_prints_text(void **state) {
    Tool *t = *state;
    tool_prints(t, "product on interp: ", "TILEC_TUNE_FILE= tilec bench product.tile " SHAPE);
    assert_true(tool_output_has(t, " a launch ("));
    assert_true(tool_output_has(t, " MB read and written: "));
    // 16 x 10 x 12: what tiles have outside of the arrays does not count.
    assert_true(tool_output_has(t, "  0.00384 million operations: "));
    tool_prints(
        t, "twice on interp: ", "tilec bench k.tile twice --set T=f32 --set N=9 --device interp");
    assert_false(tool_output_has(t, "operations"));
}

static void bench_speaks_json(void **state) {
    Tool *t = *state;
    const JsonValue *j =
        tool_json(t, 0, "TILEC_TUNE_FILE= tilec bench product.tile --json " SHAPE " --seed 3");
    tool_text_at(j, "kernel", "product");
    tool_text_at(j, "device", "interp");
    tool_number_at(j, "grid.1", 2);
    tool_number_at(j, "bytes", 4 * (16 * 12 + 12 * 10 + 16 * 10));
    tool_number_at(j, "flops", 3840);
    assert_true(tool_at(j, "seconds")->number > 0);
    assert_true(tool_at(j, "least")->number <= tool_at(j, "seconds")->number);
    assert_true(tool_at(j, "greatest")->number >= tool_at(j, "seconds")->number);
    assert_true(tool_at(j, "samples")->number >= 3);
    assert_true(tool_at(j, "repeats")->number >= 1);
    j = tool_json(t, 0, "tilec bench product.tile --json --grid 0 " SHAPE);
    tool_number_at(j, "bytes", 0);
    j = tool_json(t, 0, "tilec bench product.tile --json --flops 5 " SHAPE);
    tool_number_at(j, "flops", 5);
}

static void bench_refuses(void **state) {
    Tool *t = *state;
    tool_fails(t, 2, "type 'T' is not known", "tilec bench product.tile");
    tool_fails(t, 2, "--flops takes a number", "tilec bench product.tile --flops x");
    tool_fails(t, 2, "unknown option '--repeat'", "tilec bench product.tile --repeat 3");
    tool_fails(t, 1, "requires", "tilec bench fixed.tile --set N=8 --device interp");
    tool_fails(t, 4, "", "tilec bench fixed.tile --set N=9 --device cuda");
}

static void tune_keeps_the_fastest(void **state) {
    Tool *t = *state;
    const JsonValue *j =
        tool_json(t, 0, "tilec tune product.tile product --json --table t.txt " SHAPE);
    tool_text_at(j, "table", "t.txt");
    assert_int_equal(tool_count(tool_at(j, "candidates")), 6);  // warps are not tried
    tool_number_at(j, "candidates.0.consts.BM", 16);
    tool_number_at(j, "candidates.1.consts.BK", 8);
    assert_true(tool_at(j, "candidates.5.seconds")->number > 0);
    size_t best = (size_t)tool_at(j, "best")->number;
    Str table = tool_read(t, "t.txt");
    static const char *const values[] = {"BM=16,BK=4", "BM=16,BK=8", "BM=4,BK=4",
                                         "BM=4,BK=8",  "BM=8,BK=4",  "BM=8,BK=8"};
    assert_true(best < 6);
    // The ratios say why it is the best, and the search why it ended.
    for (size_t i = 0; i < 6; i++) {
        double ratio = tool_at(j, arena_printf(t->arena, "candidates.%zu.ratio", i))->number;
        assert_true(i == best ? ratio == 1 : ratio >= 1);
        assert_true(tool_at(j, arena_printf(t->arena, "candidates.%zu.rounds", i))->number >= 3);
        assert_true(tool_at(j, arena_printf(t->arena, "candidates.%zu.spread", i))->number >= 0);
    }
    Str ended = tool_at(j, "ended")->string;
    assert_true(str_equal(ended, STR("separated")) || str_equal(ended, STR("equal")) ||
                str_equal(ended, STR("budget")));
    assert_true(str_starts(table, STR("tilec-tune 1\n")));
    assert_true(str_ends(
        table, str(arena_printf(t->arena, " interp T=f32 M=16,K=16,N=16 %s\n", values[best]))));
    // Found once more, the row is replaced; with one const given, only the other is tried.
    tool_prints(t, "BM=4 ", "tilec tune product.tile product --table t.txt --set BK=8 " SHAPE);
    assert_true(tool_output_has(t, "BM=16 "));
    assert_false(tool_output_has(t, "BK="));
    assert_true(tool_output_has(t, "kept in t.txt"));
    table = tool_read(t, "t.txt");
    size_t lines = 0;
    for (size_t i = 0; i < table.size; i++) lines += table.text[i] == '\n';
    assert_int_equal(lines, 3);
    tool_run(t, 0, "TILEC_TUNE_FILE=t.txt tilec run product.tile --check " SHAPE);
}

// The grid is that of the launch: the table's consts, those that were set, or the one given.
static void runs_say_the_grid_launched(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec tune product.tile product --table t.txt " SHAPE);
    tool_run(t, 0, "sed -i s/BM=[0-9]*/BM=4/ t.txt");
    tool_prints(t, "  with BM=4", "TILEC_TUNE_FILE=t.txt tilec bench product.tile " SHAPE);
    tool_number_at(tool_json(t, 0, "TILEC_TUNE_FILE=t.txt tilec bench product.tile --json " SHAPE),
                   "consts.BM", 4);
    static const struct {
        const char *before, *options;
        int programs;
    } rows[] = {{"", "", 1},
                {"TILEC_TUNE_FILE=t.txt ", "", 4},
                {"TILEC_TUNE_FILE=t.txt ", "--set BM=8", 2},
                {"", "--set BM=8", 2},
                {"TILEC_TUNE_FILE=t.txt ", "--grid 3", 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const JsonValue *j = tool_json(t, 0, "%stilec run product.tile --json %s " SHAPE,
                                       rows[i].before, rows[i].options);
        tool_number_at(j, "grid.0", rows[i].programs);
    }
}

// A row is of the kernel, not of the file's text: a comment keeps it, another kernel changes it.
static void rows_are_of_the_kernel(void **state) {
    Tool *t = *state;
    const char *run =
        "TILEC_TUNE_FILE=t.txt tilec run product.tile product --json " SHAPE " --set BK=8";
    tool_run(t, 0, "tilec tune product.tile product --table t.txt " SHAPE " --set BK=8");
    tool_run(t, 0, "sed -i s/BM=[0-9]*/BM=4/ t.txt; cp product.tile kept.tile");
    tool_run(t, 0, "echo 'kernel more(f32 x[N]) grid(1) { x[0] = 1; }' >>product.tile");
    tool_run(t, 0, "sed -i 's/let i/ let  i/' product.tile");
    tool_number_at(tool_json(t, 0, "%s", run), "grid.0", 4);
    tool_run(t, 0, "sed -i 's/T(acc)/T(acc + 0.0)/' product.tile");
    const JsonValue *j = tool_json(t, 0, "%s", run);
    tool_number_at(j, "grid.0", 1);
    tool_number_at(j, "warnings", 1);
    tool_run(t, 0, "TILEC_TUNE_FILE=t.txt tilec run product.tile product " SHAPE " --set BK=8");
    assert_true(
        tool_output_has(t,
                        "the row of product for interp in t.txt is not used: the kernel has "
                        "changed since: run tilec tune again"));
    tool_run(t, 0,
             "TILEC_TUNE_FILE=t.txt tilec run product.tile product --device interp "
             "--set T=f32 --set M=16 --set N=300 --set K=12 --set BK=8");
    assert_false(tool_output_has(t, "is not used"));
    tool_run(t, 0, "mv kept.tile product.tile; rm t.txt");
}

static void tuners_at_once_keep_all_rows(void **state) {
    Tool *t = *state;
    tool_run(t, 0,
             "rm -f all.txt; for i in 8 16 32 64 128 256; do tilec tune product.tile product "
             "--table all.txt --device interp --set T=f32 --set M=4 --set N=$i --set K=4 "
             "--set BM=4 --quiet & p=\"$p $!\"; done; for q in $p; do wait $q || exit 9; done; "
             "grep -c product all.txt");
    assert_true(tool_output_has(t, "6\n"));
    tool_run(t, 0, "rm all.txt");
}

static void tune_takes_many_names(void **state) {
    Tool *t = *state;
    tool_run(t, 0,
             "{ echo 'kernel k(f32 x[N], const _A0 = 0'; for i in `seq 16`; do "
             "echo \", const _A$i = $i\"; done; echo ') grid(1) { x[0] = _A0 + _A16; }'; "
             "echo 'tune k {'; for i in `seq 0 15`; do echo \"_A$i: 1;\"; done; "
             "echo '_A16: 3, 4; }'; } > names.tile");
    tool_prints(t, "_A15=1 _A16=4",
                "tilec tune names.tile k --device interp --set N=1 --table t.txt");
    tool_run(t, 0, "rm names.tile t.txt");
}

static void tune_keeps_nowhere_or_in_a_new_folder(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "TILEC_TUNE_FILE= tilec tune product.tile product " SHAPE);
    assert_false(tool_output_has(t, "kept in"));
    tool_run(t, 0, "TILEC_TUNE_FILE=new/deep/t.txt tilec tune product.tile product " SHAPE);
    tool_run(t, 0, "cat new/deep/t.txt");
    assert_true(tool_output_has(t, "product "));
    tool_run(t, 0, "rm -r new");
}

// Each line of a file of settings is tuned for, and keeps its row.
static void tune_takes_a_file_of_shapes(void **state) {
    Tool *t = *state;
    tool_file(t, "shapes.txt", STR("# two\nM=16 N=10 K=12\n\n  M=32 N=10   K=8 # and this\n"));
    const char *command =
        "tilec tune product.tile product --device interp --set T=f32 --set BK=8 --seconds 1 "
        "--table h.txt --shapes shapes.txt";
    tool_run(t, 0, "%s", command);
    assert_true(tool_output_has(t, "M=16 N=10 K=12\n"));
    assert_true(tool_output_has(t, "M=32 N=10   K=8\n"));
    Str table = tool_read(t, "h.txt");
    assert_non_null(strstr(table.text, " M=16,K=16,N=16 BM="));
    assert_non_null(strstr(table.text, " M=32,K=8,N=16 BM="));
    const JsonValue *j = tool_json(t, 0, "%s --json", command);
    assert_int_equal(tool_count(tool_at(j, "tuned")), 2);
    assert_int_equal(tool_count(tool_at(j, "tuned.1.candidates")), 3);
    tool_file(t, "none.txt", STR("# nothing\n"));
    tool_fails(t, 1, "'none.txt' has no line with settings",
               "tilec tune product.tile product --device interp --shapes none.txt");
    tool_fails(t, 1, "cannot read 'absent.txt'",
               "tilec tune product.tile product --device interp --shapes absent.txt");
    tool_file(t, "wrong.txt", STR("M=16 Q=3\n"));
    tool_fails(t, 2, "Q", "tilec tune product.tile product --device interp --shapes wrong.txt");
    tool_fails(t, 2, "--seconds", "tilec tune product.tile product --seconds 0 " SHAPE);
    tool_run(t, 0, "rm h.txt");
}

// Ctrl-C ends the search and keeps what it found.
static void an_interrupt_keeps_the_best(void **state) {
    Tool *t = *state;
    tool_file(t, "long.tile",
              text_of("kernel wait(i32 y[1], const S = 1) grid(1)\n"
                      "{ var i = 0; while i < 20000 + S { i += 1; } y[0] = i; }\n"
                      "tune wait { S: 1, 2, 3, 4, 5, 6, 7, 8; }\n"));
    tool_run(t, 0,
             "timeout -s INT 3 tilec tune long.tile wait --device interp --seconds 600 "
             "--table w.txt; test $? -eq 124");
    assert_true(tool_output_has(t, "it is the best so far: interrupted after "));
    assert_true(tool_output_has(t, "kept in w.txt"));
    assert_non_null(strstr(tool_read(t, "w.txt").text, "wait "));
    tool_run(t, 0, "rm w.txt long.tile");
}

// The budget ends a search that goes on, and the command says so.
static void the_budget_ends_a_search(void **state) {
    Tool *t = *state;
    tool_file(t, "long.tile",
              text_of("kernel wait(i32 y[1], const S = 1) grid(1)\n"
                      "{ var i = 0; while i < 100000 + S { i += 1; } y[0] = i; }\n"
                      "tune wait { S: 1, 2, 3, 4; }\n"));
    const JsonValue *j = tool_json(
        t, 0, "TILEC_TUNE_FILE= tilec tune long.tile wait --device interp --seconds 1 --json");
    Str ended = tool_at(j, "ended")->string;
    assert_true(str_equal(ended, STR("budget")) || str_equal(ended, STR("equal")));
    tool_run(t, 0, "rm long.tile");
}

// Only options that mean something to the device are tried, and launches take the best: other warps
// are other instructions.
static void tune_tries_options_on_gpus(void **state) {
    Tool *t = *state;
    const char *sim =
        "--set T=f16 --set M=16 --set N=8 --set K=8 --set BM=16 --set BK=8 "
        "--device sim:sm_80";
    const JsonValue *j =
        tool_json(t, 0, "tilec tune product.tile product --json --table g.txt %s", sim);
    assert_int_equal(tool_count(tool_at(j, "candidates")), 2);
    assert_true(tool_at(j, "simulated")->boolean);
    tool_text_at(j, "ended", "counted");
    // Counts are the same every time, and so is their order.
    assert_true(tool_at(j, "candidates.0.cost")->number < tool_at(j, "candidates.1.cost")->number);
    tool_number_at(j, "best", 0);
    tool_number_at(j, "candidates.0.consts.warps", 4);
    tool_number_at(j, "candidates.1.consts.warps", 8);
    double instructions[2];
    for (int i = 0; i < 2; i++) {
        Str table = tool_read(t, "g.txt");
        assert_true(str_ends(table, STR("warps=4\n")) || str_ends(table, STR("warps=8\n")));
        const char *head = arena_printf(t->arena, "%.*s", (int)(table.size - 2), table.text);
        tool_file(t, "w.txt", str(arena_printf(t->arena, "%s%d\n", head, i ? 8 : 4)));
        j = tool_json(t, 0, "TILEC_TUNE_FILE=w.txt tilec run product.tile product --json %s", sim);
        instructions[i] = tool_at(j, "counts.instructions")->number;
    }
    assert_true(instructions[0] < instructions[1]);
}

// A simulator's time does not hold for a GPU: the text says so, and the row is for the simulator
// alone.
static void the_simulator_is_no_gpu(void **state) {
    Tool *t = *state;
    const char *fixed = "--set T=f16 --set BM=16 --set BK=8";
    const char *sim = "--set M=16 --set N=8 --set K=8 --device sim:sm_80";
    tool_prints(t,
                "counts of the simulator, not times of a GPU; the result is kept for this device",
                "tilec tune product.tile product --table s.txt %s %s", fixed, sim);
    assert_true(tool_output_has(t, "ranked by counted cost, not by time"));
    assert_non_null(strstr(tool_read(t, "s.txt").text, " sim:sm_80 T=f16 "));
    tool_prints(t, "times of the simulator on this machine, not of a GPU",
                "tilec bench product.tile product %s %s", fixed, sim);
    tool_run(t, 0, "tilec build product.tile -o libs.a --target sm_80 %s --tune s.txt", fixed);
    assert_true(
        tool_output_has(t, "row of product for sim:sm_80 is not used: times of the simulator"));
}

// S = 400 takes 400 times as long as S = 1, and the default is measured in any case.
static void tune_leaves_out_what_estimates_tell(void **state) {
    Tool *t = *state;
    if (!codegen_built()) skip();
    tool_file(t, "steps.tile",
              text_of("kernel steps(f32 x[N], const S = 1) grid(cdiv(N, 64)) {\n"
                      "    var s = x[program(0) * 64 +: 64];\n"
                      "    for i in 0 .. 1000 * S s = s * 0.5 + 1.0;\n"
                      "    x[program(0) * 64 +: 64] = s;\n"
                      "}\n"
                      "tune steps { S: 2, 400, 1, 401; }\n"));
#define STEPS "TILEC_TUNE_FILE= tilec tune steps.tile steps --device cpu --set N=4096 --seconds 1"
    tool_prints(t, "2 of 4 candidates were not tried: they are slow by their estimates", STEPS);
    tool_prints(t, "steps on cpu: S=1\n", STEPS);
    assert_false(tool_output_has(t, "S=400"));
    tool_prints(t, "S=400 ", STEPS " --all");
    const JsonValue *j = tool_json(t, 0, STEPS " --json");
    assert_true(tool_at(j, "candidates.1.estimate")->number >
                100 * tool_at(j, "candidates.0.estimate")->number);
    assert_false(tool_at(j, "candidates.1.measured")->boolean);
    tool_text_at(j, "ended", "separated");
    // The default is measured although it is hopeless.
    tool_run(t, 0, "sed -i 's/S: 2, 400, 1, 401/S: 400, 1/' steps.tile");
    tool_prints(t, "S=400 ", STEPS);
#undef STEPS
}

static void tune_refuses(void **state) {
    Tool *t = *state;
    tool_fails(t, 2, "the kernel is missing: tilec tune FILE KERNEL", "tilec tune product.tile");
    tool_fails(t, 2, "a file is missing: tilec tune", "tilec tune");
    tool_fails(t, 1, "kernel 'twice' has no consts to try that are not set",
               "tilec tune k.tile twice --set T=f32 --set N=3 --device interp");
    tool_fails(t, 1, "none of 2 candidates can be launched",
               "tilec tune fixed.tile f --set N=8 --device interp");
    tool_fails(t, 1, "cannot write 'no/t.txt'",
               "tilec tune product.tile product --table no/t.txt " SHAPE);
    tool_file(t, "notes.txt", STR("my notes\n"));
    tool_fails(t, 1,
               "'notes.txt' is left as it is: line 1: the table does not begin with 'tilec-tune 1'",
               "tilec tune product.tile product --table notes.txt " SHAPE);
    tool_fails(t, 1, "'notes.txt' is left as it is",
               "TILEC_TUNE_FILE=notes.txt tilec tune product.tile product " SHAPE);
    assert_true(str_equal(tool_read(t, "notes.txt"), STR("my notes\n")));
    tool_file(t, "rows.txt", STR("tilec-tune 1\na row of mine\n"));
    tool_fails(t, 1, "'rows.txt' is left as it is: line 2: a row has six fields",
               "tilec tune product.tile product --table rows.txt " SHAPE);
    assert_true(str_equal(tool_read(t, "rows.txt"), STR("tilec-tune 1\na row of mine\n")));
    tool_run(t, 0, "mkfifo pipe");
    tool_fails(t, 1, "'pipe' is left as it is: it is a pipe or a terminal",
               "tilec tune product.tile product --table pipe " SHAPE);
}

// A const that breaks requires is left out and counted.
static void tune_leaves_out_what_fails(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "TILEC_TUNE_FILE= tilec tune fixed.tile f --set N=7 --device interp");
    assert_true(tool_output_has(t, "1 of 2 candidates cannot be used here"));
    assert_true(tool_output_has(t, "cannot be used: f requires N % B == 1"));
    assert_true(tool_output_has(t, "f on interp: B=2\n"));
}

// A line about work longer than a second, on a terminal and nowhere else.
static void progress_is_for_terminals(void **state) {
    Tool *t = *state;
    tool_file(t, "slow.tile",
              text_of("kernel slow(i32 y[1]) grid(1)\n"
                      "{ var i = 0; while i < 350000 { i += 1; } y[0] = i; }\n"));
    tool_run(t, 0, "tilec bench slow.tile --device interp");
    assert_false(tool_output_has(t, "measuring"));
    tool_run(t, 0, "command -v script || true");
    if (!t->last.output.size) {
        print_message("not tested on a terminal: there is no command 'script'\n");
        return;
    }
    tool_run(t, 0, "script -qec 'tilec bench slow.tile --device interp' /dev/null");
    assert_true(tool_output_has(t, "measuring slow … 1 s"));
    tool_run(t, 0, "script -qec 'tilec bench slow.tile --device interp --quiet' /dev/null");
    assert_false(tool_output_has(t, "measuring"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bench_prints_text),
        cmocka_unit_test(bench_speaks_json),
        cmocka_unit_test(bench_refuses),
        cmocka_unit_test(tune_keeps_the_fastest),
        cmocka_unit_test(runs_say_the_grid_launched),
        cmocka_unit_test(rows_are_of_the_kernel),
        cmocka_unit_test(tuners_at_once_keep_all_rows),
        cmocka_unit_test(tune_takes_many_names),
        cmocka_unit_test(tune_keeps_nowhere_or_in_a_new_folder),
        cmocka_unit_test(tune_takes_a_file_of_shapes),
        cmocka_unit_test(an_interrupt_keeps_the_best),
        cmocka_unit_test(the_budget_ends_a_search),
        cmocka_unit_test(tune_tries_options_on_gpus),
        cmocka_unit_test(the_simulator_is_no_gpu),
        cmocka_unit_test(tune_leaves_out_what_estimates_tell),
        cmocka_unit_test(tune_refuses),
        cmocka_unit_test(tune_leaves_out_what_fails),
        cmocka_unit_test(progress_is_for_terminals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
