// The table of `tilec tune`: reading, good and bad; keys; which consts a launch then takes.
#define _GNU_SOURCE  // setenv
#include "compile/tune/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

#include <cmocka.h>

#include "base/os/os.h"

#define GOOD "k 0123456789abcdef interp T=f32 M=8,N=0 B=16,C=-2\n"

static int set_up(void **state) {
    *state = arena_create();
    return 0;
}

static int tear_down(void **state) {
    arena_destroy(*state);
    unsetenv("TILEC_TUNE_FILE");
    unsetenv("XDG_CONFIG_HOME");
    return 0;
}

static TuneTable *parse(Arena *arena, const char *text) { return tune_parse(arena, str(text)); }

static void reads_rows(void **state) {
    TuneTable *t = parse(*state, "# tuned\n\ntilec-tune 1  # the format\r\n" GOOD
                                 "\tk2 0 gfx942 - - W=1 # blanks, a comment, no newline");
    assert_int_equal(t->problems.count, 0);
    assert_int_equal(t->rows.count, 2);
    const TuneRow *r = &t->rows.data[0];
    assert_true(str_equal(r->types, STR("T=f32")));
    assert_int_equal(r->shape.count, 2);
    assert_true(str_equal(r->shape.data[1].name, STR("N")));
    assert_int_equal(r->shape.data[1].value, 0);
    assert_int_equal(r->consts.data[1].value, -2);
    assert_int_equal(t->rows.data[1].shape.count, 0);
    assert_int_equal(parse(*state, "")->problems.count, 0);
    assert_int_equal(parse(*state, "# only words\n")->problems.count, 0);
}

// Each bad line is named with its number and left out; the rows around it stay.
static void reports_bad_rows(void **state) {
    static const char *const bad[] = {
        "k",
        "k 0 interp - -",
        "k 0 interp - - B=1 more",
        "k 0 interp - - -",
        "k 0 interp - - B",
        "k 0 interp - - B=",
        "k 0 interp - - =1",
        "k 0 interp - - B=x",
        "k 0 interp - - B=1,",
        "k 0 interp - - B=1,,C=2",
        "k 0 interp - - B=1,B=2",
        "k 0 interp - - B=99999999999999999999",
        "k 0 interp - N=7 B=1",
        "k 0 interp - N=-8 B=1",
        "\x01\xff\xfe",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, "tilec-tune 1\n" GOOD "%s\nk 1 interp - - B=1\n", bad[i]);
        TuneTable *t = parse(*state, text);
        assert_int_equal(t->rows.count, 2);
        assert_int_equal(t->problems.count, 1);
        assert_int_equal(t->problems.data[0].line, 3);
    }
    static const char *const headless[] = {GOOD, "tilec-tune 2\n" GOOD, "tilec-tune\n" GOOD};
    for (size_t i = 0; i < sizeof headless / sizeof *headless; i++) {
        TuneTable *t = parse(*state, headless[i]);
        assert_int_equal(t->rows.count, 0);
        assert_int_equal(t->problems.count, 1);
        assert_int_equal(t->problems.data[0].line, 1);
    }
}

static void reads_files(void **state) {
    TuneTable *t = tune_read(*state, STR("no/such/file"));
    assert_int_equal(t->rows.count + t->problems.count, 0);
    t = tune_read(*state, STR(""));
    assert_int_equal(t->rows.count + t->problems.count, 0);
    t = tune_read(*state, STR("tests"));  // a folder
    assert_int_equal(t->problems.count, 1);
    assert_int_equal(t->problems.data[0].line, 0);
}

static void finds_its_place(void **state) {
    setenv("TILEC_TUNE_FILE", "a b", 1);
    assert_true(str_equal(tune_path(*state), STR("a b")));
    setenv("TILEC_TUNE_FILE", "", 1);
    assert_int_equal(tune_path(*state).size, 0);
    unsetenv("TILEC_TUNE_FILE");
    setenv("XDG_CONFIG_HOME", "/c", 1);
    assert_true(str_equal(tune_path(*state), STR("/c/tilec/tune.txt")));
    setenv("XDG_CONFIG_HOME", "relative", 1);
    assert_false(str_equal(tune_path(*state), STR("relative/tilec/tune.txt")));
}

static void later_rows_win(void **state) {
    TuneTable *t = parse(*state, "tilec-tune 1\n" GOOD
                                 "k 0123456789abcdef interp T=f32 M=8,N=0 B=32\n"
                                 "k 0123456789abcdef interp T=f16 M=8,N=0 B=64\n");
    assert_int_equal(t->rows.count, 2);
    TuneRow key = t->rows.data[0];
    assert_int_equal(tune_find(t, &key)->consts.data[0].value, 32);
    assert_true(tune_knows(t, &key));
    key.types = STR("T=f16");
    assert_int_equal(tune_find(t, &key)->consts.data[0].value, 64);
    key.types = STR("T=f64");
    assert_null(tune_find(t, &key));
    assert_true(tune_knows(t, &key));
    key.target = STR("sm_80");
    assert_false(tune_knows(t, &key));
    key = t->rows.data[0];
    key.source = STR("of another version");
    assert_null(tune_find(t, &key));
    key.source = (Str){0};  // of any
    assert_ptr_equal(tune_find(t, &key), &t->rows.data[0]);
    key.shape.count = 1;
    assert_null(tune_find(t, &key));
}

// A large table takes time in proportion to its size, and a row has a limit of settings.
static void large_tables_are_read(void **state) {
    enum { ROWS = 100000 };
    StrBuf text = strbuf(*state);
    strbuf_add(&text, STR("tilec-tune 1\n"));
    for (int i = 0; i < 2 * ROWS; i++)
        strbuf_printf(&text, "k %d interp - - B=%d\n", i % ROWS, i / ROWS);
    uint64_t begin = os_time_ns();
    const TuneTable *t = tune_parse(*state, strbuf_str(&text));
    uint64_t seconds = (os_time_ns() - begin) / 1000000000;
    assert_int_equal(t->rows.count, ROWS);
    for (int i = 0; i < ROWS; i++) assert_int_equal(t->rows.data[i].consts.data[0].value, 1);
    assert_true(seconds < 20);  // 40 and more where each row is compared with all before it
    text = strbuf(*state);
    strbuf_add(&text, STR("tilec-tune 1\nk 0 interp - - B=0"));
    for (int i = 0; i < 1000; i++) strbuf_printf(&text, ",C%d=1", i);
    t = tune_parse(*state, strbuf_str(&text));
    assert_int_equal(t->rows.count, 0);
    assert_int_equal(t->problems.count, 1);
}

// A GPU does not use rows that a simulator found. A device uses rows of its plain architecture.
static void rows_are_of_devices(void **state) {
    (void)state;
    TuneNames n = tune_names("sm_90a", true);
    assert_int_equal(n.count, 3);
    assert_string_equal(n.text[0], "sim:sm_90a");
    assert_string_equal(n.text[1], "sm_90a");
    assert_string_equal(n.text[2], "sm_90");
    n = tune_names("gfx90a", false);
    assert_int_equal(n.count, 1);
    assert_string_equal(n.text[0], "gfx90a");
    assert_true(tune_is_simulated(STR("sim:sm_80")));
    assert_false(tune_is_simulated(STR("sm_80")));
}

static void prints_what_it_reads(void **state) {
    TuneTable *t = parse(*state, "tilec-tune 1\n" GOOD "k2 0 gfx942 - - W=1\n");
    StrBuf first = strbuf(*state), second = strbuf(*state);
    tune_print(t, &first);
    tune_print(tune_parse(*state, strbuf_str(&first)), &second);
    assert_true(str_equal(strbuf_str(&first), strbuf_str(&second)));
    assert_non_null(strstr(first.text, "\n" GOOD));
}

static void rounds_extents_up(void **state) {
    (void)state;
    static const int64_t pairs[][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 4}, {1000, 1024}, {1024, 1024}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_int_equal(tune_bucket(pairs[i][0]), pairs[i][1]);
    assert_true(tune_bucket(INT64_MAX) > 0);
}

// ---- Launches ----

// Every program writes the const that it was compiled with.
static const char tells[] =
    "kernel tells(type T, T x[N], i64 y[N], const B = 4, const C = 1)\n"
    "    requires N % B == 0\n"
    "    grid(N)\n"
    "{ static_assert(B != 13); y[program(0)] = B * 100 + C; }\n"
    "tune tells { B: 2, 4; C: 3; }\n";

typedef struct Launched {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *kernel;
    unsigned warnings;
} Launched;

static void count_warning(void *user, tilec_severity severity, const char *text) {
    (void)severity, (void)text;
    ((Launched *)user)->warnings++;
}

// A context that reads this table, and the kernel; %s stands for the hash of its source.
static void open_with(Arena *arena, const char *rows, const tilec_spec *spec, Launched *l) {
    const FrontKernel *k;
    Unit *u = unit_load_text(STR("tells.tile"), (Str){tells, sizeof tells - 1});
    k = unit_kernel(u, STR("tells"));
    TuneRow key = tune_key(arena, k, STR(""));
    unit_destroy(u);
    const char *path = "tune-test.txt";
    StrBuf text = strbuf(arena);
    strbuf_add(&text, STR("tilec-tune 1\n"));
    for (const char *c = rows; *c; c++) {
        if (*c == '$')
            strbuf_printf(&text, "tells %.*s interp", STR_ARG(key.source));
        else
            strbuf_char(&text, *c);
    }
    OsError error;
    assert_true(os_write_file(arena, path, strbuf_str(&text), &error));
    setenv("TILEC_TUNE_FILE", path, 1);
    tilec_context_options o = {.size = sizeof o, .log = count_warning, .user = l};
    *l = (Launched){0};
    assert_int_equal(tilec_context_create(&o, &l->context), TILEC_OK);
    remove(path);
    assert_int_equal(tilec_device_open(l->context, "interp", &l->device), TILEC_OK);
    assert_int_equal(tilec_kernel_from_source(l->context, l->device, "tells.tile", tells,
                                              sizeof tells - 1, "tells", spec, &l->kernel),
                     TILEC_OK);
}

static int64_t launched(Launched *l, int64_t n) {
    float x[64] = {0};
    int64_t y[64] = {0};
    assert_int_equal(
        tilec_launch(l->kernel, NULL,
                     TILEC_ARGS(tilec_view1(TILEC_F32, x, n), tilec_view1(TILEC_I64, y, n))),
        TILEC_OK);
    assert_int_equal(tilec_device_synchronize(l->device), TILEC_OK);
    assert_string_equal(tilec_last_error(l->context), "");
    return y[0];
}

static void launches_take_what_is_tuned(void **state) {
    Launched l;
    open_with(*state, "$ T=f32 N=16 B=8,C=5\n$ T=f32 N=64 C=7\n$ T=f64 N=32 B=16\n", NULL, &l);
    assert_int_equal(launched(&l, 16), 805);
    assert_int_equal(launched(&l, 64), 207);  // B: the first value of the tune block
    assert_int_equal(launched(&l, 32), 203);  // a row of other types
    assert_int_equal(launched(&l, 2), 203);
    assert_int_equal(launched(&l, 16), 805);
    assert_int_equal(l.warnings, 0);
    tilec_context_destroy(l.context);
}

// A value that the host sets stays, whether its types are known at once or not.
static void settings_come_first(void **state) {
    Launched l;
    open_with(*state, "$ T=f32 N=16 B=8,C=5\n",
              TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_CONST("B", 4)), &l);
    assert_int_equal(launched(&l, 16), 405);
    tilec_context_destroy(l.context);
}

// A host that brings its own grid knows the consts that it is for.
static void own_grids_are_left_alone(void **state) {
    Launched l;
    open_with(*state, "$ T=f32 N=16 B=8,C=5\n", NULL, &l);
    float x[16] = {0};
    int64_t y[16] = {0};
    assert_int_equal(
        tilec_launch_grid(l.kernel, NULL, 0, (int64_t[]){1, 1, 1},
                          TILEC_ARGS(tilec_view1(TILEC_F32, x, 16), tilec_view1(TILEC_I64, y, 16))),
        TILEC_OK);
    assert_int_equal(tilec_device_synchronize(l.device), TILEC_OK);
    assert_int_equal(y[0], 203);
    tilec_context_destroy(l.context);
}

// Rows that do not compile, rows that break `requires`, rows with names that the kernel lacks, and
// lines that do not parse: the launch ignores them.
static void bad_rows_harm_nothing(void **state) {
    Launched l;
    open_with(*state, "$ T=f32 N=16 B=13\n$ T=f32 N=64 B=32\n$ T=f32 N=32 Q=1\nnonsense\n", NULL,
              &l);
    assert_int_equal(l.warnings, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(launched(&l, 16), 203);
        assert_int_equal(launched(&l, 48), 203);   // 48 % 32 != 0
        assert_int_equal(launched(&l, 64), 3203);  // the same row
        assert_int_equal(launched(&l, 32), 203);
    }
    tilec_context_destroy(l.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rows),
        cmocka_unit_test(reports_bad_rows),
        cmocka_unit_test(reads_files),
        cmocka_unit_test(finds_its_place),
        cmocka_unit_test(later_rows_win),
        cmocka_unit_test(large_tables_are_read),
        cmocka_unit_test(rows_are_of_devices),
        cmocka_unit_test(prints_what_it_reads),
        cmocka_unit_test(rounds_extents_up),
        cmocka_unit_test(launches_take_what_is_tuned),
        cmocka_unit_test(settings_come_first),
        cmocka_unit_test(own_grids_are_left_alone),
        cmocka_unit_test(bad_rows_harm_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
