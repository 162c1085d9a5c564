#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/tile/internal.h"
#include "tests/support/tile_text.h"

static void check_diags(const char *source, const char *expected) {
    TileText t = tile_text(source);
    assert_string_equal(tile_text_diags(&t), expected);
    tile_text_free(&t);
}

static void test_bindings_and_slots(void **state) {
    (void)state;
    TileText t = tile_text(
        "fn f(a) { return a; }\n"
        "kernel k(f32 x[M, N], f32 y[N], const W = 2) grid(M)\n"
        "{\n    let a = f(W);\n    { let a = a + 1; y[a] = x[0, a]; }\n"
        "    for i in 0 .. 4 y[i] = a;\n}\n");
    assert_string_equal(tile_text_diags(&t), "");
    const AstKernel *k = tile_kernel(t.file, 0);
    assert_string_equal(k->extents->name, "M");
    assert_string_equal(k->extents->next->name, "N");
    assert_null(k->extents->next->next);
    const AstDecl *y = k->params->next;
    assert_ptr_equal(y->dims->decl, k->extents->next);
    const Ast *outer = k->body->list, *inner = outer->next->list, *loop = outer->next->next;
    assert_ptr_equal(outer->a->a->decl->owner, tile_ast(t.file)->fns.data[0]);
    assert_ptr_equal(inner->a->a->decl, outer->decl);
    assert_ptr_equal(inner->next->a->list->decl, inner->decl);
    assert_ptr_equal(loop->d->b->decl, outer->decl);
    assert_int_equal(k->slots, 8);  // W x M N y a a i
    bool seen[8] = {false};
    const AstDecl *all[] = {k->params,        y,           y->next,     k->extents,
                            k->extents->next, outer->decl, inner->decl, loop->decl};
    for (size_t i = 0; i < 8; i++) {
        assert_true(all[i]->slot < 8);
        assert_false(seen[all[i]->slot]);
        seen[all[i]->slot] = true;
    }
    tile_text_free(&t);
}

static void test_builtins_are_found_last(void **state) {
    (void)state;
    TileText t = tile_text(
        "fn cdiv(a, b) { return a / b; }\n"
        "kernel k(f32 x[N]) grid(cdiv(N, 2)) { let max = exp(1.0); x[0] = max; }\n");
    assert_string_equal(tile_text_diags(&t), "");
    const AstKernel *k = tile_kernel(t.file, 0);
    assert_int_equal(k->grid->a->decl->kind, DECL_FN);
    assert_int_equal(k->grid->a->builtin, -1);
    const Ast *let = k->body->list;
    assert_null(let->a->a->decl);
    assert_int_equal(let->a->a->builtin, TILE_EXP);
    assert_ptr_equal(let->next->b->decl, let->decl);
    tile_text_free(&t);
}

static void test_words_of_named_arguments(void **state) {
    (void)state;
    TileText t = tile_text(
        "kernel k(f32 x[N]) grid(1) {\n"
        "    let device = 1;\n"
        "    atomic_add(x[device], 1.0, order = acq_rel, scope = device);\n}\n");
    assert_string_equal(tile_text_diags(&t), "");
    const Ast *named = tile_kernel(t.file, 0)->body->list->next->a->list->next->next;
    assert_string_equal(named->a->name, "acq_rel");
    assert_null(named->a->decl);
    assert_null(named->next->a->decl);
    tile_text_free(&t);
}

static void test_names_that_errors_cut_off(void **state) {
    (void)state;
    // No follow-ups: the names are declared, or may be.
    check_diags("kernel k(f32 @x[N], f32 y[N]) grid(1) { y[0] = x[0] + z; }\n",
                "1:14: unexpected character '@' [bad-character]");
    check_diags("kernel k(f32 y[N]) grid(1) { let a = ; y[0] = a; y[1] = b; }\n",
                "1:38: expected an expression, found ';' [syntax]\n"
                "1:57: unknown name 'b' [unknown-name]");
    check_diags("fn f(3) { return a; }\nfn g(a) { return f(a); }\n",
                "1:6: expected the name of a parameter, found '3' [syntax]");
}

static void test_scopes(void **state) {
    (void)state;
    check_diags(
        "kernel k(f32 x[N]) grid(1) {\n"
        "    if (N > 1) let a = 1; else x[0] = a;\n"
        "    while (N > 2) { let b = 1; x[b] = 1; let b = 2; }\n}\n",
        "2:20: 'a' is never used [unused]\n2:39: unknown name 'a' [unknown-name]\n"
        "3:46: 'b' is declared twice [duplicate-name]");
    check_diags("kernel k(f32 x[N]) grid(1) { let (_, _, a) = topk(x[0 +: 4], 2); x[0] = a; }\n",
                "");
    check_diags("kernel k(f32 x[N]) grid(1) { let _a = 1; }\n", "1:14: 'x' is never used [unused]");
}

static void test_consts(void **state) {
    (void)state;
    TileText t = tile_text(
        "const A = 2;\nconst B = A * 2;\n"
        "kernel k(f32 x[A, N], const C = B, const D = C) grid(D) { x[0, 0] = 1; }\n");
    assert_string_equal(tile_text_diags(&t), "");
    const AstKernel *k = tile_kernel(t.file, 0);
    assert_int_equal(k->params->dims->decl->kind, DECL_CONST);
    assert_int_equal(k->params->dims->decl->slot, 0);
    assert_int_equal(tile_ast(t.file)->consts.data[1]->value->a->decl->slot, 0);
    tile_text_free(&t);
    check_diags("kernel k(f32 x[N], const C = D, const D = C) grid(D) { x[0] = C; }\n",
                "1:30: const 'D' is used before it is declared [unknown-name]");
}

static void test_paths_of_a_fn(void **state) {
    (void)state;
    check_diags("fn f(a) { if (a > 0) return 1; else { return 2; } }\n", "");
    check_diags("fn f(a) { while true { if (a > 0) return 1; } }\n", "");
    check_diags("fn f(_a) { while true { while true { break; } } }\n", "");
    check_diags("fn f(a) { if (a > 0) { return 1; } else if (a < 0) return 2; }\n",
                "1:4: fn 'f' does not return on every path [missing-return]");
    check_diags("fn f(a) { for i in 0 .. a { return i; } }\n",
                "1:4: fn 'f' does not return on every path [missing-return]");
}

static void test_recursion(void **state) {
    (void)state;
    TileText t = tile_text(
        "fn a(n) { return b(n) + c(n); }\nfn b(n) { return c(n); }\n"
        "fn c(n) { return select(n > 0, b(n), d(n)); }\nfn d(n) { return n; }\n");
    assert_string_equal(tile_text_diags(&t), "3:32: fn 'b' calls itself: b → c → b [recursion]");
    assert_int_equal(diags_get(t.diags, 0)->notes->span.begin - t.source->base, 49);
    const Ast *select = tile_ast(t.file)->fns.data[2]->body->list->a;
    assert_null(select->list->next->a->decl);  // unbound: inlining ends
    assert_non_null(select->list->next->next->a->decl);
    tile_text_free(&t);
}

static void test_a_long_chain_of_fns(void **state) {
    (void)state;
    enum { FNS = 20000 };
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    for (int i = 0; i < FNS; i++) strbuf_printf(&text, "fn g%d(a) { return g%d(a); }\n", i, i + 1);
    strbuf_printf(&text, "fn g%d(a) { return g0(a); }\n", FNS);
    TileText t = tile_text_bytes(strbuf_str(&text));
    assert_int_equal(diags_errors(t.diags), 1);
    assert_int_equal(diags_get(t.diags, 0)->code, DIAG_RECURSION);
    tile_text_free(&t);
    arena_destroy(arena);
}

static void test_warnings_only_when_sure(void **state) {
    (void)state;
    check_diags("kernel k(f32 x[N]) grid(1) { let a = 1; x[0] = ; }\n",
                "1:48: expected an expression, found ';' [syntax]");
    check_diags("const A = 1;\nfn f(a) { return a; }\n", "");
    check_diags("kernel k(f32 x[N], type T, const warps = 2) grid(1) { x[0] = 1; }\n",
                "1:34: 'warps' is the name of an option and cannot be a const parameter "
                "[reserved-name]\n1:34: 'warps' is never used [unused]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bindings_and_slots),
        cmocka_unit_test(test_builtins_are_found_last),
        cmocka_unit_test(test_words_of_named_arguments),
        cmocka_unit_test(test_names_that_errors_cut_off),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_consts),
        cmocka_unit_test(test_paths_of_a_fn),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_a_long_chain_of_fns),
        cmocka_unit_test(test_warnings_only_when_sure),
    };
    return cmocka_run_group_tests_name("frontend/resolve", tests, NULL, NULL);
}
