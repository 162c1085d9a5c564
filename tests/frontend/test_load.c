#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/tile_text.h"

#define KERNEL "kernel k(f32 x[N]) grid(1) { x[0] = 1; }\n"

static void check_files(const TileTextFile *files, size_t count, const char *expected) {
    TileText t = tile_text_files(files, count);
    assert_string_equal(tile_text_diags(&t), expected);
    tile_text_free(&t);
}

static void test_an_imported_fn_is_visible(void **state) {
    (void)state;
    const TileTextFile files[] = {
        {"a/main.tile",
         "import \"../lib/half.tile\";\nkernel k(f32 x[N]) grid(W) { x[0] = half(1.0); }\n"},
        {"lib/half.tile",
         "const W = 2;\nfn half(x) { return x / 2; }\n"
         "kernel other(f32 x[N]) grid(1) { let unused = 1; x[0] = 1; }\n"},
    };
    TileText t = tile_text_files(files, 2);
    assert_string_equal(tile_text_diags(&t), "");
    assert_int_equal(tile_kernel_count(t.file), 1);
    assert_non_null(tile_kernel_find(t.file, STR("k")));
    assert_null(tile_kernel_find(t.file, STR("other")));
    assert_null(tile_kernel(t.file, 1));
    assert_int_equal(tile_ast(t.file)->imports.count, 1);
    assert_true(str_equal(tile_ast(t.file)->imports.data[0], STR("lib/half.tile")));
    assert_int_equal(tile_ast(t.file)->fns.count, 1);
    tile_text_free(&t);
}

static void test_a_file_is_read_once(void **state) {
    (void)state;
    const TileTextFile files[] = {
        {"main.tile",
         "import \"b.tile\";\nimport \"./c.tile\";\nimport \"x/../b.tile\";\n"
         "fn e(x) { return b(x) + c(x); }\n" KERNEL},
        {"b.tile", "import \"d.tile\";\nfn b(x) { return d(x); }\n"},
        {"c.tile", "import \"d.tile\";\nfn c(x) { return d(x); }\n"},
        {"d.tile", "fn d(x) { return x; }\n"},
    };
    TileText t = tile_text_files(files, 4);
    assert_string_equal(tile_text_diags(&t), "");
    assert_int_equal(tile_ast(t.file)->imports.count, 3);
    tile_text_free(&t);
}

static void test_cycles(void **state) {
    (void)state;
    const TileTextFile files[] = {
        {"main.tile", "import \"b.tile\";\n" KERNEL},
        {"b.tile", "fn b(x) { return x; }\nimport \"c.tile\";\n"},
        {"c.tile", "import \"b.tile\";\n"},
    };
    check_files(files, 3, "1:8: files import each other: b.tile → c.tile → b.tile [import]");
    const TileTextFile back[] = {
        {"main.tile", "import \"b.tile\";\n" KERNEL},
        {"b.tile", "import \"main.tile\";\n"},
    };
    check_files(back, 2, "1:8: files import each other: main.tile → b.tile → main.tile [import]");
}

static void test_errors_in_imports(void **state) {
    (void)state;
    const TileTextFile files[] = {
        {"main.tile", "import \"b.tile\";\nimport \"none.tile\";\nfn twice(x) { return x; }\n"},
        {"b.tile", "fn f(x) { return y; }\nfn twice(x) { return x; }\n"},
    };
    TileText t = tile_text_files(files, 2);
    assert_string_equal(tile_text_diags(&t),
                        "2:8: no file 'none.tile' [io]\n"
                        "3:4: the name 'twice' is taken by a fn [duplicate-name]\n"
                        "1:18: unknown name 'y' [unknown-name]");
    assert_non_null(diags_get(t.diags, 1)->notes);
    tile_text_free(&t);
}

static void test_tune_of_another_file(void **state) {
    (void)state;
    const TileTextFile files[] = {
        {"main.tile", "import \"b.tile\";\ntune k { B: 4; }\nfn f(x) { return x; }\n"},
        {"b.tile", "kernel k(f32 x[N], const B = 2) grid(B) { x[0] = 1; }\ntune k { B: 8; }\n"},
    };
    check_files(files, 2, "2:6: kernel 'k' belongs to another file [tune]");
}

static void test_long_chains_of_imports(void **state) {
    (void)state;
    enum { FILES = 200 };
    Arena *arena = arena_create();
    TileTextFile *files = arena_new(arena, TileTextFile, FILES);
    for (int i = 0; i < FILES; i++) {
        files[i].path = arena_printf(arena, "f%d.tile", i);
        files[i].text = arena_printf(arena, "import \"f%d.tile\";\nconst C%d = 1;\n", i + 1, i);
    }
    TileText t = tile_text_files(files, FILES);
    assert_int_equal(diags_errors(t.diags), 1);
    assert_int_equal(diags_get(t.diags, 0)->code, DIAG_TOO_DEEP);
    tile_text_free(&t);
    arena_destroy(arena);
}

static void test_without_files(void **state) {
    (void)state;
    TileText t = tile_text("import \"b.tile\";\n" KERNEL);
    assert_string_equal(tile_text_diags(&t),
                        "1:8: this text comes from no file, so it cannot import [import]");
    tile_text_free(&t);
    t = tile_text("");
    assert_string_equal(tile_text_diags(&t), "1:1: the file declares nothing [syntax]");
    tile_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_imported_fn_is_visible),
        cmocka_unit_test(test_a_file_is_read_once),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_errors_in_imports),
        cmocka_unit_test(test_tune_of_another_file),
        cmocka_unit_test(test_long_chains_of_imports),
        cmocka_unit_test(test_without_files),
    };
    return cmocka_run_group_tests_name("frontend/load", tests, NULL, NULL);
}
