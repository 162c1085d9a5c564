// Bad input: files that are not sources, sources made to break the compiler, and settings that do
// not fit. Each gets an error and its status, quickly, and leaves no file.
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
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

// The commands that read a source; after an error there must be no file of -o and --out.
static const char *const readers[] = {"check", "emit -o left.tir", "run --out y=left.npy"};
enum { READERS = sizeof readers / sizeof *readers };

static void all_fail(Tool *t, const char *file, const char *error) {
    for (size_t i = 0; i < READERS; i++) {
        tool_fails(t, 1, error, "tilec %s %s", readers[i], file);
        tool_json(t, 1, "tilec %s %s --json", readers[i], file);
    }
}

// ---- Files ----

static void refuses_what_is_no_source(void **state) {
    Tool *t = *state;
    all_fail(t, "nothing.tile", "cannot read 'nothing.tile': no such file or directory [io]");
    all_fail(t, ".", "cannot read '.': is a directory [io]");
    all_fail(t, "k.tile/x", "not a directory [io]");
    tool_file(t, "empty.tile", STR(""));
    all_fail(t, "empty.tile", "empty.tile:1:1: error: the file declares nothing");
    tool_file(t, "blank.tile", STR("// nothing\n\n"));
    all_fail(t, "blank.tile", "the file declares nothing");
    tool_file(t, "nul.tile", STR("kernel k(f32 x[N]) grid(1) {\0 x[0] = 1; }\n"));
    all_fail(t, "nul.tile", "nul.tile:1:29: error: ");
    tool_file(t, "nuls.tile", (Str){"\0\0\0\0\0\0\0\0", 8});
    all_fail(t, "nuls.tile", "nuls.tile:1:1: error: ");
    tool_file(t, "utf.tile", STR("\xff\xfe\x80 kernel \xed\xa0\x80\n"));
    all_fail(t, "utf.tile", "utf.tile:1:1: error: ");
    tool_file(t, "k.cu", text_of(KERNELS));
    all_fail(t, "k.cu", "'k.cu' is not a source file: no front end reads '.cu' [unsupported]");
    tool_fails(t, 1, "help: source files are named: .tile (Tile)", "tilec check k.cu");
    tool_file(t, "functions.tile", STR("fn f(x) { return x; }\n"));
    tool_fails(t, 1, "there is no kernel", "tilec run functions.tile");
    tool_run(t, 0, "tilec check functions.tile");
    static const char *const wrong[] = {"nothing.tile", ".", "empty.tile", "nul.tile", "utf.tile"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tool_fails(t, 1, "error: ", "tilec opt --passes=tile -o left.tir %s", wrong[i]);
    // The writer of a pipe may never come.
    tool_run(t, 0, "mkfifo lib.pipe");
    tool_fails(t, 1, "'lib.pipe' is a pipe or a terminal: an import reads files",
               "printf 'import \"lib.pipe\";\\n' | timeout 20 tilec check -");
    tool_run(t, 0, "rm lib.pipe");
    tool_fails(t, 1, "cannot read 'lib.tile'", "printf 'import \"lib.tile\"\\n' | tilec check -");
}

static uint32_t next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static Str garbage(size_t size, const char *alphabet) {
    char *text = malloc(size);
    assert_non_null(text);
    uint32_t state = 7;
    size_t letters = strlen(alphabet);
    for (size_t i = 0; i < size; i++)
        text[i] = letters ? alphabet[next(&state) % letters] : (char)next(&state);
    return (Str){text, size};
}

static void free_text(Str s) {
    const void *bytes = s.text;
    free((void *)(uintptr_t)bytes);
}

// 100 MB are refused by size, before they are read; what is just not refused is diagnosed.
static void survives_much_garbage(void **state) {
    Tool *t = *state;
    static const char *const alphabets[] = {"", "(){}[];,+-*/<=>&|~!.:x1 \n", "{\n", "a b\n"};
    for (size_t i = 0; i < 4; i++) {
        Str big = garbage(100 << 20, alphabets[i]);
        if (i == 0) {
            tool_file(t, "big.tile", big);
            all_fail(t, "big.tile", "cannot read 'big.tile': is larger than 64 MiB [io]");
            tool_fails(t, 1, "is larger than 64 MiB", "tilec opt big.tile");
            tool_fails(t, 1, "is larger than 64 MiB", "cat big.tile | tilec check -");
        }
        tool_file(t, "some.tile", (Str){big.text, 3 << 20});
        tool_run(t, 1, "tilec check some.tile >/dev/null 2>&1");
        tool_run(t, 1, "tilec opt some.tile >/dev/null 2>&1");
        free_text(big);
    }
    tool_run(t, 0, "rm big.tile some.tile");
    tool_fails(t, 1, "is larger than 64 MiB", "tilec check /dev/zero");
}

// ---- Nesting ----

static void add_times(StrBuf *b, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) strbuf_add(b, str(text));
}

static void nesting_has_an_end(void **state) {
    Tool *t = *state;
    static const struct {
        const char *before, *open, *middle, *close, *after;
    } rows[] = {
        {"kernel k(f32 x[N]) grid(1) { x[0] = ", "(", "1.0", ")", "; }"},
        {"kernel k(f32 x[N]) grid(1) ", "{", "", "}", ""},
        {"kernel k(f32 x[N]) grid(1) { x[0] = ", "-", "1.0", "", "; }"},
        {"kernel k(f32 x[N]) grid(1) { x[0] = ", "x[i64(", "0", ")]", "; }"},
        {"kernel k(f32 x[N]) grid(1) { x[0] = ", "exp(", "1.0", ")", "; }"},
        {"kernel k(f32 x[N], i64 n) grid(1) { ", "if n > 0 { ", "", "}", " }"},
        {"kernel k(f32 x[N], i64 n) grid(1) { ", "if n > 0 x[0] = 1; else ", "x[0] = 2;", "", " }"},
        {"kernel k(f32 x[N], i64 n) grid(1) { ", "while n > 0 ", "x[0] = 1;", "", " }"},
        {"kernel k(f32 x[N], i64 n) grid(1) { ", "for i in 0 .. 2 ", "x[0] = 1;", "", " }"},
        {"kernel k(f32 x[N]) grid(1) { if true", " && true", "", "", " x[0] = 1.0; }"},
        {"kernel k(f32 x[N], bool b) grid(1) { if ", "!", "b", "", " x[0] = 1; }"},
        {"kernel k(f32 x[N]) grid(", "(", "1", ")", ") { x[0] = 1; }"},
        {"kernel k(f32 x[N]) requires ", "(", "N > 1", ")", " grid(1) { x[0] = 1; }"},
        {"kernel k(f32 x[N]) grid(1) { x[0] = ", "x[0] or ", "1.0", "", "; }"},
        {"kernel k(f32 x", "[", "N", "]", ") grid(1) { }"},
    };
    enum { DEEP = 100000 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        StrBuf b = strbuf(t->arena);
        strbuf_add(&b, str(rows[i].before));
        add_times(&b, rows[i].open, DEEP);
        strbuf_add(&b, str(rows[i].middle));
        add_times(&b, rows[i].close, DEEP);
        strbuf_add(&b, str(rows[i].after));
        tool_file(t, "deep.tile", strbuf_str(&b));
        tool_fails(t, 1, "deep.tile:1:", "tilec check deep.tile");
        tool_fails(t, 1, "deep.tile:1:", "tilec run deep.tile --set N=1 --out x=left.npy");
        // Unclosed, too.
        tool_file(t, "open.tile", (Str){b.text, b.size / 2});
        tool_fails(t, 1, "open.tile:1:", "tilec check open.tile");
    }
}

static void ir_nesting_has_an_end(void **state) {
    Tool *t = *state;
    StrBuf b = strbuf(t->arena);
    strbuf_add(&b, STR("func @f(%c: bool) {\n"));
    add_times(&b, "if %c {\n", 100000);
    add_times(&b, "yield\n}\n", 100000);
    strbuf_add(&b, STR("return\n}\n"));
    tool_file(t, "deep.tir", strbuf_str(&b));
    tool_fails(t, 1, "deep.tir:", "tilec opt --passes=tile -o left.tir deep.tir");
}

static void shapes_do_not_overflow(void **state) {
    Tool *t = *state;
    static const char *const bodies[] = {
        "x[0 +: 4611686018427387904] = 1.0;",
        "let v = zeros(f32, 1073741824, 1073741824, 1073741824);",
        "let v = iota(2147483648);",
        "let v = iota(9223372036854775808);",
        "let v = broadcast(reshape(iota(2), 2, 1), 2, 4611686018427387904);",
        "let v = reshape(zeros(f32, 65536), 4294967296, 4294967296);",
        "let v = zeros(f32, -8);",
        "let v = zeros(f32, 0);",
        "let v = zeros(f32, 3);",
        "let v = zeros(f32, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2);",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        tool_file(t, "s.tile",
                  text_of(arena_printf(t->arena, "kernel k(f32 x[N]) grid(1) { x[0] = 1; %s }\n",
                                       bodies[i])));
        tool_fails(t, 1, "s.tile:1:", "tilec check s.tile");
        tool_fails(t, 1, "s.tile:1:", "tilec emit s.tile -o left.tir");
    }
}

// ---- Kernels and settings ----

static void kernels_are_named(void **state) {
    Tool *t = *state;
    static const char *const verbs[] = {"run", "emit"};
    for (size_t i = 0; i < 2; i++) {
        tool_fails(t, 2,
                   "there are 4 kernels, and none is named [kernel]\n"
                   "help: the kernels here are: twice, fill, says, pair\n",
                   "tilec %s k.tile", verbs[i]);
        tool_fails(t, 2,
                   "there is no kernel 'tvice'; did you mean 'twice'? [kernel]\n"
                   "help: the kernels here are: twice, fill, says, pair\n",
                   "tilec %s k.tile tvice", verbs[i]);
        tool_fails(t, 2, "and none is named", "tilec %s k.tile ''", verbs[i]);
    }
}

static void settings_name_what_there_is(void **state) {
    Tool *t = *state;
    const char *twice = "tilec run k.tile twice --out y=left.npy";
    tool_fails(t, 2,
               "--set: kernel 'twice' has nothing named 'Q' [usage]\n"
               "help: there are: T (type), B (const), N (extent), warps, stages, ctas, "
               "chiplets, turns, direct, producers\n",
               "%s --set Q=1", twice);
    tool_fails(t, 2, "there are: p (pointer: .size), v (scalar), n (scalar), B (const), warps",
               "tilec run k.tile fill --set N=1");
    tool_fails(t, 2, "has nothing named 'q.size'", "tilec run k.tile fill --set q.size=1");
    tool_fails(t, 2, "has nothing named 'v.size'", "tilec run k.tile fill --set v.size=1");
    tool_fails(t, 2, "has nothing named 'x.size'", "%s --set x.size=1", twice);
    tool_fails(t, 2, "has nothing named 'Q'", "tilec emit k.tile twice --set Q=1");
    static const char *const forms[] = {"N", "''", "=3", "="};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        tool_fails(t, 2, "--set takes NAME=VALUE", "%s --set %s", twice, forms[i]);
    static const char *const doubles[] = {"N=3 --set N=3", "T=f32 --set T=f16", "B=8 --set B=8",
                                          "warps=1 --set warps=2"};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        tool_fails(t, 2, "is given twice", "%s --set %s", twice, doubles[i]);
    tool_fails(t, 2, "--set v is given twice", "tilec run k.tile fill --set v=1 --set v=2");
    tool_fails(t, 2, "--set p.size is given twice",
               "tilec run k.tile fill --set p.size=1 --set p.size=1");
}

static void settings_must_be_there(void **state) {
    Tool *t = *state;
    tool_fails(t, 2, "type 'T' is not known: --set T=f32, for example", "tilec run k.tile twice");
    tool_fails(t, 2, "type 'T' is not known", "tilec emit k.tile twice");
    tool_fails(t, 2, "extent 'N' is not known", "tilec run k.tile twice --set T=f32");
    tool_fails(t, 2, "pointer 'p' has neither --in nor a size",
               "tilec run k.tile fill --set v=1 --set n=1");
    tool_fails(t, 2, "scalar 'v' is not given: --set v=VALUE",
               "tilec run k.tile fill --set n=1 --set p.size=1 --out p=left.npy");
    tool_file(t, "c.tile", STR("kernel c(f32 x[N], const B) grid(1) { x[0 +: B] = 1; }\n"));
    tool_fails(t, 2, "const 'B' has no default: --set B=VALUE", "tilec run c.tile --set N=1");
    tool_fails(t, 2, "const 'B' has no default", "tilec emit c.tile");
    tool_run(t, 0, "tilec check c.tile");
    tool_fails(t, 1, "power of two", "tilec run c.tile --set N=1 --set B=3 --out x=left.npy");
    tool_fails(t, 1, "error: ", "tilec run c.tile --set N=1 --set B=-4 --out x=left.npy");
    tool_fails(t, 1, "error: ", "tilec run c.tile --set N=1 --set B=4611686018427387904");
    tool_fails(t, 1, "error: ", "tilec run c.tile --set N=1 --set B=-9223372036854775808");
}

static void settings_have_types(void **state) {
    Tool *t = *state;
    tool_fails(t, 2,
               "--set T takes an element type, found 'float' [usage]\n"
               "help: element types are: bool i8 ",
               "tilec run k.tile twice --set T=float");
    tool_fails(t, 2, "--set x: an array comes with --in x=F.npy",
               "tilec run k.tile twice --set x=1");
    tool_fails(t, 2, "--set p: a pointer takes its size: --set p.size=N",
               "tilec run k.tile fill --set p=1");
    static const char *const integers[] = {"1.5",
                                           "x",
                                           "''",
                                           "1e3",
                                           "0x",
                                           "--1",
                                           "' 1'",
                                           "1k",
                                           "9223372036854775808",
                                           "+1",
                                           "99999999999999999999999"};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        tool_fails(t, 2, "takes a whole number", "tilec run k.tile twice --set B=%s", integers[i]);
        tool_fails(t, 2, "takes a whole number", "tilec run k.tile twice --set N=%s", integers[i]);
        tool_fails(t, 2, "takes a whole number", "tilec run k.tile fill --set p.size=%s",
                   integers[i]);
        tool_fails(t, 2, "takes a whole number", "tilec run k.tile twice --set warps=%s",
                   integers[i]);
    }
    tool_fails(t, 2, "--set N must be at least 0", "tilec run k.tile twice --set N=-1");
    tool_fails(t, 2, "--set p.size must be at least 0", "tilec run k.tile fill --set p.size=-1");
    tool_fails(t, 2, "--set warps must be at least 1, found 0",
               "tilec emit k.tile says --set warps=0");
    tool_fails(t, 2, "--set chiplets must be 0 to 64, found 65",
               "tilec emit k.tile says --set chiplets=65");
    tool_fails(t, 2, "--set turns must be at least 0, found -1",
               "tilec emit k.tile says --set turns=-1");
    tool_fails(t, 2, "--set direct must be 0 to 1, found 2",
               "tilec emit k.tile says --set direct=2");
    tool_fails(t, 2, "--set ctas must be 1 to 1024, found 1025",
               "tilec emit k.tile says --set ctas=1025");
    tool_fails(t, 2, "--math takes contract and approx, found 'fast'",
               "tilec run k.tile says --set n=1 --math fast");
    tool_fails(t, 2, "--math takes contract and approx, found ''",
               "tilec emit k.tile says --math=contract,");
}

// One kernel for each type: the scalar is stored and shown.
static void scalar(Tool *t, const char *type, const char *value, const char *shown) {
    tool_file(t, "s.tile",
              text_of(arena_printf(t->arena, "kernel s(%s y[1], %s v) grid(1) { y[0] = v; }\n",
                                   type, type)));
    if (shown)
        tool_prints(t, arena_printf(t->arena, "y: %s[1] = %s\n", type, shown),
                    "tilec run s.tile --set v=%s", value);
    else
        tool_fails(t, 2, arena_printf(t->arena, "is not a value of %s [usage]", type),
                   "tilec run s.tile --out y=left.npy --set v=%s", value);
}

static void scalars_fit_their_types(void **state) {
    static const struct {
        const char *type, *value, *shown;  // NULL: refused
    } rows[] = {
        {"f32", "1.5", "1.5"},
        {"f32", "-inf", "-inf"},
        {"f32", "inf", "inf"},
        {"f32", "nan", "nan"},
        {"f32", "0x1.8p1", "3.0"},
        {"f32", "-2", "-2.0"},
        {"f32", "1e39", NULL},
        {"f32", "1.5x", NULL},
        {"f32", "''", NULL},
        {"f32", "one", NULL},
        {"f32", "true", NULL},
        {"f64", "1e39", "1e+39"},
        {"f64", "1e400", NULL},
        {"f64", "-0.0", "-0.0"},
        {"f16", "65504", "65504.0"},
        {"f16", "65519", "65504.0"},
        {"f16", "65520", NULL},
        {"f16", "inf", "inf"},
        {"bf16", "1", "1.0"},
        {"bf16", "3.5e38", NULL},
        {"f8e4m3", "448", "448.0"},
        {"f8e4m3", "1000", NULL},
        {"f8e4m3", "inf", NULL},
        {"f8e4m3", "nan", "nan"},
        {"f8e5m2", "inf", NULL},
        {"f8e5m2", "1e6", NULL},
        {"f8e5m2fnuz", "-inf", NULL},
        {"i8", "127", "127"},
        {"i8", "-128", "-128"},
        {"i8", "128", NULL},
        {"i8", "-129", NULL},
        {"i8", "0x7f", "127"},
        {"i8", "0xff", NULL},
        {"i8", "1.0", NULL},
        {"u8", "255", "255"},
        {"u8", "256", NULL},
        {"u8", "-1", NULL},
        {"u8", "-0", "0"},
        {"u8", "0b11", "3"},
        {"i32", "2_000_000", "2000000"},
        {"i32", "2147483648", NULL},
        {"i32", "inf", NULL},
        {"i64", "-9223372036854775808", "-9223372036854775808"},
        {"i64", "9223372036854775808", NULL},
        {"u64", "18446744073709551615", "18446744073709551615"},
        {"u64", "18446744073709551616", NULL},
        {"u64", "-1", NULL},
        {"bool", "true", "true"},
        {"bool", "0", "false"},
        {"bool", "2", NULL},
        {"bool", "yes", NULL},
    };
    Tool *t = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        scalar(t, rows[i].type, rows[i].value, rows[i].shown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_no_source),   cmocka_unit_test(survives_much_garbage),
        cmocka_unit_test(nesting_has_an_end),          cmocka_unit_test(ir_nesting_has_an_end),
        cmocka_unit_test(shapes_do_not_overflow),      cmocka_unit_test(kernels_are_named),
        cmocka_unit_test(settings_name_what_there_is), cmocka_unit_test(settings_must_be_there),
        cmocka_unit_test(settings_have_types),         cmocka_unit_test(scalars_fit_their_types),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
