// The tree of well-formed sources, written as a text; its spans; and that nothing breaks the
// parser.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/tile/lex.h"
#include "tests/support/tile_text.h"

static const char *const operators[] = {
    "?", "+",  "-", "*",  "/",  "%",  "<<", ">>", "&",   "|",   "^",
    "<", "<=", ">", ">=", "==", "!=", "&&", "||", "neg", "not", "inv",
};

static void write_node(StrBuf *out, const Ast *e);

static void write_list(StrBuf *out, const Ast *list) {
    for (const Ast *e = list; e; e = e->next) {
        strbuf_char(out, ' ');
        write_node(out, e);
    }
}

static void write_names(StrBuf *out, const AstDecl *list) {
    for (const AstDecl *d = list; d; d = d->next) strbuf_printf(out, " %s", d->name);
}

static void write_form(StrBuf *out, const char *head, const Ast *a, const Ast *b, const Ast *c) {
    strbuf_printf(out, "(%s", head);
    const Ast *parts[] = {a, b, c};
    for (size_t i = 0; i < 3; i++) {
        if (!parts[i]) continue;
        strbuf_char(out, ' ');
        write_node(out, parts[i]);
    }
    strbuf_char(out, ')');
}

static void write_with_list(StrBuf *out, const char *head, const Ast *e) {
    strbuf_printf(out, "(%s ", head);
    if (e->kind == AST_CALL || e->kind == AST_INDEX) write_node(out, e->a);
    write_list(out, e->list);
    if ((e->kind == AST_CALL || e->kind == AST_INDEX) && e->b) {
        strbuf_printf(out, " or ");
        write_node(out, e->b);
    }
    strbuf_char(out, ')');
}

static void write_declaration(StrBuf *out, const char *head, const Ast *e) {
    strbuf_printf(out, "(%s", head);
    write_names(out, e->decl);
    strbuf_printf(out, " = ");
    write_node(out, e->a);
    strbuf_char(out, ')');
}

static void write_for(StrBuf *out, const Ast *e) {
    strbuf_printf(out, "(for%s %s ", e->is_const ? " const" : "", e->decl->name);
    write_node(out, e->a);
    strbuf_printf(out, " .. ");
    write_node(out, e->b);
    if (e->c) {
        strbuf_printf(out, " step ");
        write_node(out, e->c);
    }
    strbuf_char(out, ' ');
    write_node(out, e->d);
    strbuf_char(out, ')');
}

static void write_assign(StrBuf *out, const Ast *e) {
    char head[8] = "=";
    if (e->op != OPERATOR_NONE) strcat(strcpy(head, operators[e->op]), "=");
    write_form(out, head, e->a, e->b, e->c);
}

static void write_node(StrBuf *out, const Ast *e) {
    switch (e->kind) {
    case AST_INT: strbuf_printf(out, "%llu", (unsigned long long)e->integer); break;
    case AST_FLOAT: strbuf_add(out, e->text); break;
    case AST_BOOL: strbuf_printf(out, e->integer ? "true" : "false"); break;
    case AST_STRING: strbuf_quoted(out, e->text); break;
    case AST_NAME: strbuf_printf(out, "%s", e->name); break;
    case AST_UNARY: write_form(out, operators[e->op], e->a, NULL, NULL); break;
    case AST_BINARY: write_form(out, operators[e->op], e->a, e->b, NULL); break;
    case AST_CALL: write_with_list(out, "call", e); break;
    case AST_NAMED: write_form(out, e->name, e->a, NULL, NULL); break;
    case AST_INDEX: write_with_list(out, "at", e); break;
    case AST_SELECT: write_form(out, "+:", e->a, e->b, NULL); break;
    case AST_TYPE: strbuf_printf(out, "%s", dtype_name(e->dtype)); break;
    case AST_TUPLE: write_with_list(out, "tuple", e); break;
    case AST_BRACES: write_with_list(out, "braces", e); break;
    case AST_ERROR: strbuf_printf(out, "ERROR"); break;
    case AST_LET: write_declaration(out, "let", e); break;
    case AST_VAR: write_declaration(out, "var", e); break;
    case AST_ASSIGN: write_assign(out, e); break;
    case AST_EXPR: write_node(out, e->a); break;
    case AST_IF: write_form(out, e->is_const ? "if const" : "if", e->a, e->b, e->c); break;
    case AST_FOR: write_for(out, e); break;
    case AST_WHILE: write_form(out, "while", e->a, e->b, NULL); break;
    case AST_BREAK: strbuf_printf(out, "break"); break;
    case AST_CONTINUE: strbuf_printf(out, "continue"); break;
    case AST_RETURN: write_form(out, "return", e->a, NULL, NULL); break;
    case AST_BLOCK: write_with_list(out, "do", e); break;
    }
}

// The tree of a kernel's body with this statement in it.
static void check_statement(const char *statement, const char *expected) {
    Arena *arena = arena_create();
    const char *source = arena_printf(
        arena, "kernel k(f32 x[N], *f32 p, f32 s, i32 a, i32 b, i32 c) grid(1)\n{ %s }", statement);
    TileText t = tile_text(source);
    StrBuf out = strbuf(t.arena);
    write_list(&out, tile_kernel(t.file, 0)->body->list);
    assert_string_equal(strbuf_str(&out).text, arena_printf(arena, " %s", expected));
    for (size_t i = 0; i < diags_count(t.diags); i++) {
        DiagCode code = diags_get(t.diags, i)->code;
        assert_true(code == DIAG_UNUSED || code == DIAG_UNREACHABLE || code == DIAG_UNKNOWN_NAME ||
                    code == DIAG_MISPLACED || code == DIAG_ASSIGN);
    }
    tile_text_free(&t);
    arena_destroy(arena);
}

static void check_expression(const char *expression, const char *expected) {
    Arena *arena = arena_create();
    check_statement(arena_printf(arena, "s = %s;", expression),
                    arena_printf(arena, "(= s %s)", expected));
    arena_destroy(arena);
}

static void test_precedence(void **state) {
    (void)state;
    check_expression("a + b * c", "(+ a (* b c))");
    check_expression("a * b + c", "(+ (* a b) c)");
    check_expression("a - b - c", "(- (- a b) c)");
    check_expression("a / b % c", "(% (/ a b) c)");
    check_expression("a << b + c", "(<< a (+ b c))");
    check_expression("a & b << c", "(& a (<< b c))");
    check_expression("a ^ b & c", "(^ a (& b c))");
    check_expression("a | b ^ c", "(| a (^ b c))");
    check_expression("a & b == c", "(== (& a b) c)");
    check_expression("a | b < c", "(< (| a b) c)");
    check_expression("a == b < c", "(== a (< b c))");
    check_expression("a != b >= c", "(!= a (>= b c))");
    check_expression("a && b == c", "(&& a (== b c))");
    check_expression("a || b && c", "(|| a (&& b c))");
    check_expression("a <= b > c", "(> (<= a b) c)");
    check_expression("(a + b) * c", "(* (+ a b) c)");
    check_expression("-a * b", "(* (neg a) b)");
    check_expression("!a && ~b >> c", "(&& (not a) (>> (inv b) c))");
    check_expression("- - a", "(neg (neg a))");
    check_expression("-x[a]", "(neg (at x a))");
}

static void test_operands(void **state) {
    (void)state;
    check_expression("0x1F + 1_000", "(+ 31 1000)");
    check_expression("-inf", "(neg inf)");
    check_expression("nan + 1e-5", "(+ nan 1e-5)");
    check_expression("true", "true");
    check_expression("f32(a)", "(call f32 a)");
    check_expression("exp()", "(call exp)");
    check_expression("sum(a, axis = 1, keep = true)", "(call sum a (axis 1) (keep true))");
    check_expression("reduce((a, b), f, axis = 0)", "(call reduce (tuple  a b) f (axis 0))");
    check_expression("x[a, b +: 8]", "(at x a (+: b 8))");
    check_expression("x[a + 1 +: 2 * b]", "(at x (+: (+ a 1) (* 2 b)))");
    check_expression("x[a] or -inf", "(at x a or (neg inf))");
    check_expression("x[a] or b + c", "(+ (at x a or b) c)");
    check_expression("x[a] or (b + c)", "(at x a or (+ b c))");
    check_expression("x[a] or x[b] or 0", "(at x a or (at x b or 0))");
    check_expression("load(p, a) or 1.0", "(call load p a or 1.0)");
    check_expression("x[x[a]]", "(at x (at x a))");
}

static void test_statements(void **state) {
    (void)state;
    check_statement("let v = 1;", "(let v = 1)");
    check_statement("var v = 1;;", "(var v = 1)");
    check_statement("const f32 W[2] = {1, 2,};", "(let W = (braces  1 2))");
    check_statement("const f32 W[2, 1] = {{1}, {a}};",
                    "(let W = (braces  (braces  1) (braces  a)))");
    check_statement("let v = tile(f32, {});", "(let v = (call tile f32 (braces )))");
    check_statement("let (v, w) = split(a);", "(let v w = (call split a))");
    check_statement("var (v, w) = split(a);", "(var v w = (call split a))");
    check_statement("x[a] = 1;", "(= (at x a) 1)");
    check_statement("x[a +: 8] = s if b < c;", "(= (at x (+: a 8)) s (< b c))");
    check_statement("x[a +: 8] += s if b < c;", "(+= (at x (+: a 8)) s (< b c))");
    check_statement("a += 1; a -= 1; a *= 1; a /= 1; a %= 1;",
                    "(+= a 1) (-= a 1) (*= a 1) (/= a 1) (%= a 1)");
    check_statement("a &= 1; a |= 1; a ^= 1; a <<= 1; a >>= 1;",
                    "(&= a 1) (|= a 1) (^= a 1) (<<= a 1) (>>= a 1)");
    check_statement("store(p, s);", "(call store p s)");
    check_statement("if a x[0] = 1;", "(if a (= (at x 0) 1))");
    check_statement("if (a) x[0] = 1; else x[1] = 1;", "(if a (= (at x 0) 1) (= (at x 1) 1))");
    check_statement("if a { return; } else if b { } else { }",
                    "(if a (do  (return)) (if b (do ) (do )))");
    check_statement("if (a) if (b) return; else { }", "(if a (if b (return) (do )))");
    check_statement("if const a == 4 { }", "(if const (== a 4) (do ))");
    check_statement("while a < 4 a += 1;", "(while (< a 4) (+= a 1))");
    check_statement("while (a) ;", "(while a (do ))");
    check_statement("for i in 0 .. a { break; }", "(for i 0 .. a (do  break))");
    check_statement("for i in a+1..b step -2 continue;",
                    "(for i (+ a 1) .. b step (neg 2) continue)");
    check_statement("for const i in 0..4 { }", "(for const i 0 .. 4 (do ))");
    check_statement("{ { } }", "(do  (do ))");
    check_statement("print(\"a = \", a);", "(call print \"a = \" a)");
    check_statement("let step = 1; let grid = step; let type = grid;",
                    "(let step = 1) (let grid = step) (let type = grid)");
}

static void test_returns_of_a_fn(void **state) {
    (void)state;
    TileText t = tile_text("fn f(a, b) { if (a) return a; return (a, b + 1); }");
    StrBuf out = strbuf(t.arena);
    write_list(&out, tile_ast(t.file)->fns.data[0]->body->list);
    assert_string_equal(out.text, " (if a (return a)) (return (tuple  a (+ b 1)))");
    assert_int_equal(diags_count(t.diags), 0);
    tile_text_free(&t);
}

static void test_kernel_heads(void **state) {
    (void)state;
    TileText t = tile_text(
        "// Scales.\n//   Twice.\n"
        "kernel k(type T, const W = 4 * 2, T alpha, *f16 p, strided T x[M, 3, W], f32 y[])\n"
        "    math(approx, contract) grid(M, 1, W) requires M > 0, noalias(x, y)\n{ }\n");
    const AstKernel *k = tile_kernel(t.file, 0);
    static const AstDeclKind kinds[] = {DECL_TYPE_PARAM, DECL_CONST_PARAM, DECL_SCALAR,
                                        DECL_POINTER,    DECL_VIEW,        DECL_VIEW};
    size_t n = 0;
    for (const AstDecl *d = k->params; d; d = d->next) assert_int_equal(d->kind, kinds[n++]);
    assert_int_equal(n, 6);
    const AstDecl *x = k->params->next->next->next->next;
    assert_true(x->strided);
    assert_ptr_equal(x->type.decl, k->params);
    assert_int_equal(x->dims->decl->kind, DECL_EXTENT);
    assert_int_equal(x->dims->next->integer, 3);
    assert_ptr_equal(x->dims->next->next->decl, k->params->next);
    assert_int_equal(k->params->next->next->next->type.dtype, DTYPE_F16);
    assert_int_equal(k->math, IR_MATH_CONTRACT | IR_MATH_APPROX);
    StrBuf out = strbuf(t.arena);
    write_list(&out, k->grid);
    write_list(&out, k->requires);
    assert_string_equal(out.text, " M 1 W (> M 0) (call noalias x y)");
    assert_int_equal(k->comment.size, strlen("Scales.\nTwice."));
    assert_memory_equal(k->comment.text, "Scales.\nTwice.", k->comment.size);
    tile_text_free(&t);
}

static void check_span(const TileText *t, const Ast *node, const char *text) {
    Str found = source_text(t->sources, node->span);
    assert_int_equal(found.size, strlen(text));
    assert_memory_equal(found.text, text, found.size);
}

static void test_spans(void **state) {
    (void)state;
    TileText t =
        tile_text("kernel k(f32 x[N]) grid(N + 1) { let v = (x[0 +: 8] or -inf) * exp( N ) ; }");
    const AstKernel *k = tile_kernel(t.file, 0);
    const Ast *let = k->body->list, *product = let->a;
    check_span(&t, k->grid, "N + 1");
    check_span(&t, let, "let v = (x[0 +: 8] or -inf) * exp( N )");
    check_span(&t, product, "(x[0 +: 8] or -inf) * exp( N )");
    check_span(&t, product->a, "(x[0 +: 8] or -inf)");
    check_span(&t, product->a->list, "0 +: 8");
    check_span(&t, product->a->b, "-inf");
    check_span(&t, product->b, "exp( N )");
    check_span(&t, k->body, "{ let v = (x[0 +: 8] or -inf) * exp( N ) ; }");
    assert_int_equal(product->height, 4);
    tile_text_free(&t);
}

static void test_tune_blocks(void **state) {
    (void)state;
    TileText t = tile_text(
        "kernel k(f32 x[N], const B = 4) grid(B) { x[0] = 1; }\n"
        "tune k { B: 4, 2 * 4; warps: 1; }\n"
        "tune k for gfx942 { B: 8; }\ntune k for \"x86-64-v4\" { }\n");
    assert_int_equal(diags_count(t.diags), 0);
    const AstKernel *k = tile_kernel(t.file, 0);
    assert_int_equal(k->tunes.count, 3);
    const AstTune *all = k->tunes.data[0];
    assert_int_equal(all->target.size, 0);
    assert_int_equal(all->entries.count, 2);
    assert_int_equal(all->entries.data[0].values.count, 2);
    assert_string_equal(all->entries.data[1].name, "warps");
    assert_true(str_equal(k->tunes.data[1]->target, STR("gfx942")));
    assert_true(str_equal(k->tunes.data[2]->target, STR("x86-64-v4")));
    tile_text_free(&t);
}

// --- whatever comes in
// ----------------------------------------------------------------------------

static size_t depth_of(const Ast *e);

static size_t deepest(const Ast *list) {
    size_t most = 0;
    for (const Ast *e = list; e; e = e->next) {
        size_t depth = depth_of(e);
        if (depth > most) most = depth;
    }
    return most;
}

static size_t depth_of(const Ast *e) {
    if (e->kind == AST_INT || e->kind == AST_FLOAT || e->kind == AST_BOOL || e->kind == AST_STRING)
        return 1;
    size_t chained = 0;  // counts once, whatever its length
    for (; ast_chain(e) && ast_chain(e->a); e = e->a) {
        size_t right = 1 + depth_of(e->b);
        if (right > chained) chained = right;
    }
    bool named = e->kind == AST_NAME || e->kind == AST_NAMED || e->kind == AST_TYPE;
    // The third child is a list in some kinds, and the fourth a name in others.
    const Ast *parts[] = {e->a, e->b, named ? NULL : e->d};
    size_t most = deepest(e->list);
    for (size_t i = 0; i < 3; i++) {
        size_t depth = parts[i] ? depth_of(parts[i]) : 0;
        if (depth > most) most = depth;
    }
    return most + 1 > chained ? most + 1 : chained;
}

static void check_depths(const TileText *t) {
    for (size_t i = 0; i < tile_kernel_count(t->file); i++)
        assert_true(depth_of(tile_kernel(t->file, i)->body) <= AST_MAX_DEPTH + 2);
}

// Random tokens, well mixed: the parser ends, keeps its depth, and reports texts that are not
// programs.
static void test_token_soup(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 1500; round++) {
        Arena *arena = arena_create();
        StrBuf text = strbuf(arena);
        if (round % 2) strbuf_printf(&text, "kernel k(f32 x[N]) grid(1) { ");
        int length = 1 + round % 120;
        for (int i = 0; i < length; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            unsigned pick = (unsigned)(seed >> 33);
            static const char *const words[] = {"x",     "a",    "f32",   "1",        "2.5",
                                                "\"s\"", "@",    "grid",  "requires", "tune",
                                                "step",  "type", "float", "\n"};
            if (pick % 2) {
                strbuf_printf(&text, "%s ", words[(pick >> 1) % 14]);
            } else {
                int kind = TOK_STRING + 1 + (int)((pick >> 1) % (TOK_COUNT - TOK_STRING - 1));
                strbuf_printf(&text, "%s ", token_text((TokenKind)kind));
            }
        }
        TileText t = tile_text_bytes(strbuf_str(&text));
        check_depths(&t);
        tile_text_free(&t);
        arena_destroy(arena);
    }
}

static void check_deep(const char *open, const char *middle, const char *close) {
    enum { DEPTH = 100000 };
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    strbuf_printf(&text, "kernel k(f32 x[N]) grid(1) {\n");
    for (int i = 0; i < DEPTH; i++) strbuf_printf(&text, "%s", open);
    strbuf_printf(&text, "%s", middle);
    for (int i = 0; i < DEPTH; i++) strbuf_printf(&text, "%s", close);
    strbuf_printf(&text, "\n}\nfn f() { return g(); }\n");
    TileText t = tile_text_bytes(strbuf_str(&text));
    check_depths(&t);
    assert_int_equal(diags_errors(t.diags), 2);
    assert_int_equal(diags_get(t.diags, 0)->code, DIAG_TOO_DEEP);
    assert_int_equal(diags_get(t.diags, 1)->code, DIAG_UNKNOWN_NAME);
    tile_text_free(&t);
    arena_destroy(arena);
}

static void test_deep_nesting_is_one_error(void **state) {
    (void)state;
    check_deep("{", "", "}");
    check_deep("if (N > 0) ", "x[0] = 1;", "");
    check_deep("if (N > 0) x[0] = 1; else ", "x[0] = 1;", "");
    check_deep("while (N > 0) ", "x[0] = 1;", "");
    check_deep("for i in 0 .. 1 {", "x[0] = 1;", "}");
    Arena *arena = arena_create();
    StrBuf sum = strbuf(arena);
    strbuf_printf(&sum, "kernel k(f32 x[N]) grid(1) { x[0] = 1");
    for (int i = 0; i < 100000; i++) strbuf_printf(&sum, " %c 1", "+-*/%|^&"[i % 8]);
    strbuf_printf(&sum, "; }");
    const char *assignments[] = {"(",        "-",     "exp(", "x[",
                                 "x[0] or ", "(f32)", "! ~",  "max(1, axis = "};
    const char *closes[] = {")", "", ")", "]", "", "", "", ")"};
    for (size_t i = 0; i < 8; i++) {
        StrBuf text = strbuf(arena);
        strbuf_printf(&text, "kernel k(f32 x[N]) grid(1) {\nx[0] = ");
        for (int n = 0; n < 100000; n++) strbuf_printf(&text, "%s ", assignments[i]);
        strbuf_printf(&text, "1");
        for (int n = 0; n < 100000; n++) strbuf_printf(&text, "%s", closes[i]);
        strbuf_printf(&text, ";\n}\n");
        TileText t = tile_text_bytes(strbuf_str(&text));
        check_depths(&t);
        size_t deep = 0;
        for (size_t n = 0; n < diags_count(t.diags); n++)
            deep += diags_get(t.diags, n)->code == DIAG_TOO_DEEP;
        assert_int_equal(deep, 1);
        tile_text_free(&t);
    }
    StrBuf all = strbuf(arena);
    strbuf_printf(&all, "if true");
    for (int i = 0; i < 100000; i++) strbuf_printf(&all, " && true");
    strbuf_printf(&all, " x[0] = 1;");
    check_deep("", strbuf_str(&all).text, "");
    TileText t = tile_text_bytes(strbuf_str(&sum));  // is long, not deep
    check_depths(&t);
    assert_int_equal(diags_count(t.diags), 0);
    tile_text_free(&t);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_returns_of_a_fn),
        cmocka_unit_test(test_kernel_heads),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_tune_blocks),
        cmocka_unit_test(test_token_soup),
        cmocka_unit_test(test_deep_nesting_is_one_error),
    };
    return cmocka_run_group_tests_name("frontend/parse", tests, NULL, NULL);
}
