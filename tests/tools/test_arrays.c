// Arrays of `tilec run`: .npy files in and out, extents, types, and everything that is wrong with
// them. Files are made and read here, byte by byte, apart from the code under test.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/slice.h"
#include "tests/tools/kernels.h"

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "k.tile", text_of(KERNELS));
    static const char *const types[] = {
        "bool", "i8",   "i16", "i32", "i64",    "u8",     "u16",        "u32",       "u64",
        "f16",  "bf16", "f32", "f64", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        StrBuf b = strbuf(t->arena);
        strbuf_printf(&b,
                      "kernel copy(%s x[N], %s y[N]) grid(cdiv(N, 8)) { let i = program(0) * 8;"
                      " y[i +: 8] = x[i +: 8]; }\n",
                      types[i], types[i]);
        tool_file(t, arena_printf(t->arena, "%s.tile", types[i]), strbuf_str(&b));
    }
    tool_file(t, "any.tile",
              STR("kernel copy(type T, T x[N], T y[N]) grid(1) { y[0 +: 8] = x[0 +: 8]; }\n"));
    tool_file(t, "two.tile",
              STR("kernel copy(f32 x[M, N], f32 y[M, N]) grid(M)\n"
                  "{ let m = program(0); y[m, 0 +: 8] = x[m, 0 +: 8]; }\n"));
    tool_file(t, "strided.tile",
              STR("kernel copy(strided f32 x[M, N], f32 y[M, N]) grid(M)\n"
                  "{ let m = program(0); y[m, 0 +: 8] = x[m, 0 +: 8]; }\n"
                  "kernel add(strided f32 x[M, N]) grid(M)\n"
                  "{ let m = program(0); x[m, 0 +: 8] = x[m, 0 +: 8] + 1; }\n"));
    tool_file(t, "packed.tile",
              STR("kernel read(i4 x[M, N], i8 y[M, N]) grid(M)\n"
                  "{ let m = program(0); y[m, 0 +: 8] = x[m, 0 +: 8]; }\n"
                  "kernel write(i8 x[N], i4 y[N]) grid(1)\n"
                  "{ y[0 +: 8] = x[0 +: 8]; }\n"));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

// The elements after the header of a file that must have this dictionary.
static Str data_of(Tool *t, const char *name, const char *dictionary) {
    Str file = tool_read(t, name);
    assert_true(file.size >= 10 && memcmp(file.text, "\x93NUMPY\x01\x00", 8) == 0);
    size_t length = (size_t)(uint8_t)file.text[8] | (size_t)(uint8_t)file.text[9] << 8;
    size_t start = 10 + length;
    assert_true(start <= file.size && start % 64 == 0 && file.text[start - 1] == '\n');
    Str found = str_trim((Str){file.text + 10, length});
    if (!str_equal(found, text_of(dictionary)))
        fail_msg("%s: expected %s, found %.*s", name, dictionary, STR_ARG(found));
    return (Str){file.text + start, file.size - start};
}

static void expect_bytes(Tool *t, const char *name, const char *type, const char *shape,
                         const void *bytes, size_t size) {
    Str data =
        data_of(t, name,
                arena_printf(t->arena, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                             type, shape));
    assert_int_equal(data.size, size);
    assert_memory_equal(data.text, bytes, size);
}

static const uint8_t bytes24[24] = {0x00, 0x01, 0x80, 0x7f, 0x3c, 0x40, 0x12, 0x34,
                                    0x56, 0x78, 0x9a, 0x3b, 0xde, 0x30, 0x00, 0x01,
                                    0x00, 0x80, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25};

// ---- Every type there and back ----

static void carries_every_type(void **state) {
    static const struct {
        const char *type, *descr;
        size_t size;
    } rows[] = {{"i8", "|i1", 1},        {"i16", "<i2", 2},    {"i32", "<i4", 4},
                {"i64", "<i8", 8},       {"u8", "|u1", 1},     {"u16", "<u2", 2},
                {"u32", "<u4", 4},       {"u64", "<u8", 8},    {"f16", "<f2", 2},
                {"bf16", "<u2", 2},      {"f32", "<f4", 4},    {"f64", "<f8", 8},
                {"f8e4m3", "|u1", 1},    {"f8e5m2", "|u1", 1}, {"f8e4m3fnuz", "|u1", 1},
                {"f8e5m2fnuz", "|u1", 1}};
    Tool *t = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *shape = arena_printf(t->arena, "(%zu,)", 24 / rows[i].size);
        npy(t, "x.npy", rows[i].descr, shape, bytes24, 24);
        tool_run(t, 0, "tilec run %s.tile --in x=x.npy --out x=x2.npy --out y=y.npy --check",
                 rows[i].type);
        expect_bytes(t, "y.npy", rows[i].descr, shape, bytes24, 24);
        expect_bytes(t, "x2.npy", rows[i].descr, shape, bytes24, 24);
    }
    static const uint8_t bools[4] = {0, 1, 2, 255}, trues[4] = {0, 1, 1, 1};
    npy(t, "x.npy", "|b1", "(4,)", bools, 4);
    tool_prints(t, "y: bool[4] = false true true true",
                "tilec run bool.tile --in x=x.npy --out "
                "y=y.npy");
    expect_bytes(t, "y.npy", "|b1", "(4,)", trues, 4);
}

static void infers_types(void **state) {
    Tool *t = *state;
    npy(t, "f2.npy", "<f2", "(4,)", bytes24, 8);
    npy(t, "u2.npy", "<u2", "(4,)", bytes24, 8);
    npy(t, "u1.npy", "|u1", "(8,)", bytes24, 8);
    tool_prints(t, "y: f16[4] = ", "tilec run any.tile --in x=f2.npy");
    tool_prints(t, "y: f16[4] = ", "tilec run any.tile --in x=f2.npy --set T=f16");
    tool_prints(t, "y: u16[4] = 256 32640 16444 13330", "tilec run any.tile --in x=u2.npy");
    tool_prints(t, "y: bf16[4] = ", "tilec run any.tile --in x=u2.npy --set T=bf16");
    tool_prints(t, "y: u8[8] = 0 1 128 127", "tilec run any.tile --in x=u1.npy");
    tool_prints(t, "y: f8e5m2[8] = 0.0 ", "tilec run any.tile --in x=u1.npy --set T=f8e5m2");
    tool_fails(t, 1, "'f2.npy' has elements of f16, but 'x' is of f32 (stored as f32) [npy]",
               "tilec run any.tile --in x=f2.npy --set T=f32");
    tool_fails(t, 1, "'f2.npy' has elements of f16, but 'x' is of bf16 (stored as u16)",
               "tilec run any.tile --in x=f2.npy --set T=bf16");
    tool_fails(t, 1, "'u2.npy' has elements of u16, but 'y' is of f16",
               "tilec run any.tile --in x=f2.npy --in y=u2.npy");
    tool_fails(t, 1, "'f2.npy' has elements of f16, but 'x' is of i32",
               "tilec run i32.tile --in x=f2.npy --out y=o.npy");
}

static void carries_packed_types(void **state) {
    Tool *t = *state;
    static const uint8_t packed[8] = {0x10, 0x32, 0xfe, 0x87, 0x78, 0x00, 0x0f, 0xf0};
    static const int8_t wide[16] = {0, 1, 2, 3, -2, -1, 7, -8, -8, 7, 0, 0, -1, 0, 0, -1};
    npy(t, "p.npy", "|u1", "(2, 4)", packed, 8);
    tool_run(t, 0, "tilec run packed.tile read --in x=p.npy --out y=y.npy --out x=p2.npy");
    expect_bytes(t, "y.npy", "|i1", "(2, 8)", wide, 16);
    tool_run(t, 0, "cmp p.npy p2.npy");
    npy(t, "w.npy", "|i1", "(8,)", wide, 8);
    tool_run(t, 0, "tilec run packed.tile write --in x=w.npy --out y=q.npy");
    expect_bytes(t, "q.npy", "|u1", "(4,)", packed, 4);
    tool_fails(t, 1, "must be even, found 3",
               "tilec run packed.tile read --set M=2 --set N=3 --out y=o.npy");
    npy(t, "i1.npy", "|i1", "(2, 4)", packed, 8);
    tool_fails(t, 1, "has elements of i8, but 'x' is of i4 (stored as u8)",
               "tilec run packed.tile read --in x=i1.npy");
}

static void carries_pointers(void **state) {
    Tool *t = *state;
    npy(t, "f4.npy", "<f4", "(2, 3)", bytes24, 24);
    npy(t, "f0.npy", "<f4", "()", bytes24, 4);
    const char *rest = "--set v=1 --set n=0 --out p=o.npy";
    tool_run(t, 0, "tilec run k.tile fill --in p=f4.npy %s", rest);
    expect_bytes(t, "o.npy", "<f4", "(6,)", bytes24, 24);
    tool_run(t, 0, "tilec run k.tile fill --in p=f4.npy --set p.size=6 %s", rest);
    tool_run(t, 0, "tilec run k.tile fill --in p=f0.npy %s", rest);
    expect_bytes(t, "o.npy", "<f4", "(1,)", bytes24, 4);
    tool_run(t, 0, "tilec run k.tile fill --set p.size=0 %s", rest);
    expect_bytes(t, "o.npy", "<f4", "(0,)", bytes24, 0);
    tool_fails(t, 1, "'f4.npy' has 6 elements, --set p.size says 5 [launch]",
               "tilec run k.tile fill --in p=f4.npy --set p.size=5 %s", rest);
    tool_fails(t, 2, "pointer 'p' has neither --in nor a size: --set p.size=N",
               "tilec run k.tile fill %s", rest);
    npy_raw(t, "ff.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", bytes24, 24);
    tool_fails(t, 1, "pointer 'p' has no strides", "tilec run k.tile fill --in p=ff.npy %s", rest);
}

static void carries_empty_arrays(void **state) {
    Tool *t = *state;
    npy(t, "e.npy", "<f4", "(0, 5)", "", 0);
    tool_prints(t, "y: f32[0, 5] = (empty)", "tilec run two.tile --in x=e.npy --out y=y.npy");
    expect_bytes(t, "y.npy", "<f4", "(0, 5)", "", 0);
    npy(t, "e.npy", "<f4", "(3, 0)", "", 0);
    tool_prints(t, "y: f32[3, 0] = (empty)", "tilec run two.tile --in x=e.npy --check --sanitize");
    npy(t, "e.npy", "<f4", "(0, 9223372036854775807)", "", 0);
    tool_fails(t, 1, "error: ", "tilec run two.tile --in x=e.npy --set M=0 --in y=nothing.npy");
    npy(t, "e.npy", "|u1", "(0, 9223372036854775807)", "", 0);
    tool_fails(t, 1, "more than 2^63 elements", "tilec run packed.tile read --in x=e.npy");
}

static void follows_fortran_order(void **state) {
    Tool *t = *state;
    // Columns (1, 2), (3, 4), (5, 6) of a 2 by 3 matrix.
    static const float columns[6] = {1, 2, 3, 4, 5, 6}, rows[6] = {1, 3, 5, 2, 4, 6},
                       more[6] = {2, 3, 4, 5, 6, 7};
    const char *dictionary = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
    npy_raw(t, "f.npy", dictionary, columns, sizeof columns);
    tool_prints(t, "y: f32[2, 3] = 1.0 3.0 5.0 2.0 4.0 6.0",
                "tilec run strided.tile copy --in x=f.npy --out y=y.npy --check");
    expect_bytes(t, "y.npy", "<f4", "(2, 3)", rows, sizeof rows);
    tool_prints(t, "x: f32[2, 3] = 2.0 4.0 6.0 3.0 5.0 7.0",
                "tilec run strided.tile add --in x=f.npy --out x=x.npy");
    Str data = data_of(t, "x.npy", dictionary);
    assert_memory_equal(data.text, more, sizeof more);
    tool_fails(t, 1, "column-major (Fortran) order", "tilec run two.tile --in x=f.npy");
    // One dimension has no order.
    npy_raw(t, "v.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", rows, 24);
    tool_prints(t, "y: f32[6] = 1.0 3.0", "tilec run f32.tile --in x=v.npy");
}

// ---- Shapes that do not fit ----

static void extents_agree(void **state) {
    Tool *t = *state;
    static const uint8_t zeros[256];
    npy(t, "a.npy", "<f4", "(2, 5)", zeros, 40);
    npy(t, "b.npy", "<f4", "(6, 4)", zeros, 96);
    npy(t, "b5.npy", "<f4", "(5, 4)", zeros, 80);
    npy(t, "b54.npy", "<f4", "(4, 5)", zeros, 80);
    npy(t, "v.npy", "<f4", "(5,)", zeros, 20);
    const char *pair = "tilec run k.tile pair --out c=c.npy";
    tool_run(t, 0, "%s --in a=a.npy --in b=b5.npy && rm c.npy", pair);
    tool_fails(t, 1, "extent K is 5 by a.npy and 6 by b.npy [launch]",
               "%s --in a=a.npy --in b=b.npy", pair);
    tool_fails(t, 1, "extent M is 3 by --set and 2 by a.npy [launch]", "%s --in a=a.npy --set M=3",
               pair);
    tool_fails(t, 1, "extent 1 of 'b' must be 4, 'b54.npy' has 5 [launch]",
               "%s --set M=2 --in b=b54.npy", pair);
    tool_fails(t, 1, "'v.npy' has rank 1, but 'a' has rank 2 [npy]", "%s --in a=v.npy", pair);
    npy(t, "s.npy", "<f4", "()", zeros, 4);
    tool_fails(t, 1, "'s.npy' has rank 0, but 'a' has rank 2 [npy]", "%s --in a=s.npy", pair);
    tool_fails(t, 1,
               "pair requires M <= 8, which does not hold for these arguments (M is 9) [launch]",
               "%s --set M=9 --set K=1", pair);
    tool_fails(t, 2, "extent 'K' is not known: --set K=N, or --in", "%s --set M=2", pair);
}

static void sizes_have_limits(void **state) {
    Tool *t = *state;
    tool_fails(t, 1, "array 'x' is larger than 64 GiB [too-large]",
               "tilec run two.tile --set M=4294967296 --set N=4294967296 --out y=o.npy");
    tool_fails(t, 1, "array 'x' is larger than 64 GiB",
               "tilec run two.tile --set M=9223372036854775807 --set N=9223372036854775807");
    tool_fails(t, 1, "array 'x' is larger than 64 GiB", "tilec run f64.tile --set N=9000000000");
    tool_fails(t, 2, "--set N must be at least 0, found -1", "tilec run f64.tile --set N=-1");
    tool_fails(t, 2, "--set N takes a whole number, found '9223372036854775808'",
               "tilec run f64.tile --set N=9223372036854775808");
}

// ---- Files that are none ----

static void refuses_malformed_files(void **state) {
    Tool *t = *state;
    static const struct {
        const char *says, *dictionary;
    } rows[] = {
        {"is big-endian ('>f4')", "{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }"},
        {"holds structured data",
         "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }"},
        {"of type '|O'", "{'descr': '|O', 'fortran_order': False, 'shape': (4,), }"},
        {"of type '<c8'", "{'descr': '<c8', 'fortran_order': False, 'shape': (4,), }"},
        {"of type '<U4'", "{'descr': '<U4', 'fortran_order': False, 'shape': (4,), }"},
        {"of type ''", "{'descr': '', 'fortran_order': False, 'shape': (4,), }"},
        {"is truncated: 20 bytes of data announced, 16 found",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }"},
        {"has 4 bytes after its 12 bytes of data",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"},
        {"announces more than 2^64 bytes",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': False, 'shape': (4.0,), }"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': False, 'shape': (4 4), }"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': False, 'shape': 4, }"},
        {"malformed header",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': maybe, 'shape': (4,), }"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': False, }"},
        {"malformed header", "{'descr': '<f4', 'shape': (4,), }"},
        {"malformed header", "{'fortran_order': False, 'shape': (4,), }"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'x': 1}"},
        {"malformed header",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'shape': (4,), }"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), } more"},
        {"malformed header", "{'descr': '<f4', 'fortran_order': False, 'shape': (4,"},
        {"malformed header", "{'descr': '<f4"},
        {"malformed header", "nothing of the kind"},
        {"malformed header", ""},
        {"malformed header",
         "{'descr': '<f4', 'fortran_order': False, 'shape': "
         "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1,1,1,4), }"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        npy_raw(t, "x.npy", rows[i].dictionary, bytes24, 16);
        tool_fails(t, 1, rows[i].says, "tilec run f32.tile --in x=x.npy --out y=o.npy");
    }
}

static void put(StrBuf *b, const void *bytes, size_t size) { strbuf_add(b, (Str){bytes, size}); }

static void knows_versions(void **state) {
    Tool *t = *state;
    static const char dictionary[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n";
    enum { LENGTH = sizeof dictionary - 1 };
    for (int version = 0; version < 5; version++) {
        StrBuf b = strbuf(t->arena);
        uint8_t head[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0, LENGTH, 0, 0, 0};
        put(&b, head, version == 1 ? 10 : 12);
        put(&b, dictionary, LENGTH);
        put(&b, bytes24, 16);
        tool_file(t, "x.npy", strbuf_str(&b));
        if (version >= 1 && version <= 3)
            tool_run(t, 0, "tilec run f32.tile --in x=x.npy --out y=y.npy && rm y.npy");
        else
            tool_fails(t, 1, arena_printf(t->arena, "'x.npy' has version %d.0", version),
                       "tilec run f32.tile --in x=x.npy --out y=o.npy");
    }
}

static void refuses_cut_files(void **state) {
    Tool *t = *state;
    npy(t, "whole.npy", "<f4", "(4,)", bytes24, 16);
    Str whole = tool_read(t, "whole.npy");
    static const size_t sizes[] = {0, 1, 5, 6, 8, 9, 10, 11, 40, 127, 128, 129, 143};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(sizes[i] < whole.size);
        tool_file(t, "x.npy", (Str){whole.text, sizes[i]});
        tool_fails(t, 1, sizes[i] ? "'x.npy' is " : "'x.npy' is empty",
                   "tilec run f32.tile --in x=x.npy --out y=o.npy");
    }
    StrBuf nul = strbuf(t->arena);
    put(&nul, whole.text, whole.size);
    nul.text[60] = 0;  // a NUL is not a blank
    tool_file(t, "x.npy", strbuf_str(&nul));
    tool_fails(t, 1, "malformed header", "tilec run f32.tile --in x=x.npy");
    tool_file(t, "x.npy", STR("kernel k() grid(1) { }"));
    tool_fails(t, 1, "'x.npy' is not an .npy file [npy]", "tilec run f32.tile --in x=x.npy");
    tool_fails(t, 1, "'none.npy' cannot be read: no such file or directory [npy]",
               "tilec run f32.tile --in x=none.npy --out y=o.npy");
    tool_fails(t, 1, "'.' cannot be read: is a directory", "tilec run f32.tile --in x=.");
    if (slice_has(0, 8))  // it reads 1 GiB
        tool_fails(t, 1, "cannot be read: is larger than 1024 MiB",
                   "tilec run f32.tile --in x=/dev/zero");
}

static void reads_pipes(void **state) {
    Tool *t = *state;
    npy(t, "x.npy", "<f4", "(4,)", bytes24, 16);
    tool_prints(t, "y: f32[4] = ", "cat x.npy | tilec run f32.tile --in x=/dev/stdin");
    tool_prints(t, "y: f32[4] = ",
                "mkfifo p && { cat x.npy >p & tilec run f32.tile --in x=p; wait; rm p; }");
    tool_run(t, 0, "tilec run f32.tile --in x=x.npy --out y=/dev/stdout --quiet >piped.npy");
    expect_bytes(t, "piped.npy", "<f4", "(4,)", bytes24, 16);
}

// ---- Places that cannot be written ----

static void writes_all_or_nothing(void **state) {
    Tool *t = *state;
    const char *run = "tilec run f32.tile --set N=3";
    tool_fails(t, 1, "cannot write 'no/o.npy': no such file or directory [io]",
               "%s --out y=no/o.npy", run);
    tool_fails(t, 1, "cannot write '.': is a directory [io]", "%s --out y=.", run);
    tool_fails(t, 1, "cannot write 'f32.tile/o.npy': not a directory", "%s --out y=f32.tile/o.npy",
               run);
    // The first could be written, the second cannot: neither is.
    tool_fails(t, 1, "cannot write 'no/o.npy'", "%s --out x=fine.npy --out y=no/o.npy", run);
    tool_fails(t, 1, "cannot write '/dev/full'", "%s --out x=fine.npy --out y=/dev/full", run);
    tool_fails(t, 2, "--out: 'o.npy' is given for 'x' and 'y'", "%s --out x=o.npy --out y=o.npy",
               run);
    tool_fails(t, 2, "--out y is given twice", "%s --out y=o.npy --out y=p.npy", run);
    tool_fails(t, 2, "--out takes NAME=FILE.npy, found 'y'", "%s --out y", run);
    tool_fails(t, 2, "--out takes NAME=FILE.npy, found 'y='", "%s --out y=", run);
    tool_fails(t, 2, "--in takes NAME=FILE.npy, found '=f'", "%s --in =f", run);
    tool_fails(t, 2, "has no array 'z' [usage]\nhelp: there are: x, y\n", "%s --out z=o.npy", run);
    tool_fails(t, 2, "has no array 'N'", "%s --in N=o.npy", run);
    tool_fails(t, 1, "cannot write '/proc/o.npy'", "%s --out y=/proc/o.npy", run);
    // A file keeps what it had when the command fails.
    tool_run(t, 0, "%s --out y=kept.npy && cp kept.npy copy.npy", run);
    tool_fails(t, 3, "assertion failed",
               "tilec run k.tile says --set n=9 --out y=kept.npy --quiet "
               ">/dev/null");
    tool_run(t, 0, "cmp kept.npy copy.npy");
    tool_run(t, 0, "id -u");
    if (str_equal(str_trim(t->last.output), STR("0"))) {
        print_message("not tested: a folder without write permission (the user is root)\n");
        return;
    }
    tool_run(t, 0, "mkdir closed && chmod a-w closed");
    tool_fails(t, 1, "cannot write 'closed/o.npy': permission denied", "%s --out y=closed/o.npy",
               run);
}

// NumPy itself reads what is written, where there is one.
static void numpy_reads_it(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "python3 -c 'import numpy' 2>/dev/null && echo yes || echo no");
    if (!tool_output_has(t, "yes")) {
        print_message("skipped: no python3 with NumPy here: apt-get install python3-numpy\n");
        skip();
    }
    tool_run(t, 0,
             "tilec run two.tile --set M=3 --set N=5 --out y=y.npy --out x=x.npy --quiet && "
             "tilec run f16.tile --set N=9 --out y=h.npy --quiet && "
             "tilec run i64.tile --set N=0 --out y=e.npy --quiet");
    tool_file(t, "look.py",
              STR("import numpy as n\n"
                  "x, y, h, e = (n.load(f + '.npy') for f in 'xyhe')\n"
                  "assert x.shape == (3, 5) and x.dtype == n.float32, x\n"
                  "assert (x == y).all() and abs(x).max() <= 1\n"
                  "assert h.shape == (9,) and h.dtype == n.float16\n"
                  "assert e.shape == (0,) and e.dtype == n.int64\n"
                  "n.save('v.npy', n.asfortranarray(x))\n"));
    tool_run(t, 0,
             "python3 look.py && tilec run strided.tile copy --in x=v.npy --out y=z.npy && "
             "cmp y.npy z.npy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_every_type),      cmocka_unit_test(infers_types),
        cmocka_unit_test(carries_packed_types),    cmocka_unit_test(carries_pointers),
        cmocka_unit_test(carries_empty_arrays),    cmocka_unit_test(follows_fortran_order),
        cmocka_unit_test(extents_agree),           cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(refuses_malformed_files), cmocka_unit_test(knows_versions),
        cmocka_unit_test(refuses_cut_files),       cmocka_unit_test(reads_pipes),
        cmocka_unit_test(writes_all_or_nothing),   cmocka_unit_test(numpy_reads_it),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
