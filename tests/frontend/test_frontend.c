// The interface of the front ends: which one reads a file, and how it describes kernels.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/frontend.h"

typedef struct World {
    Arena *arena;
    FrontInput in;
    Diags *diags;
    FrontFile *file;
} World;

static World load(const char *name, const char *text, bool any_name) {
    World w = {.arena = arena_create()};
    Sources *sources = sources_create(w.arena);
    w.in = (FrontInput){.arena = w.arena,
                        .sources = sources,
                        .names = interner_create(w.arena),
                        .any_name = any_name};
    w.diags = diags_create(w.arena, sources);
    w.file = frontend_load(&w.in, source_add(sources, str(name), str(text)), w.diags);
    return w;
}

static void says(const World *w, size_t i, const char *text) {
    assert_true(i < diags_count(w->diags));
    Str found = diags_get(w->diags, i)->text;
    assert_string_equal(arena_text(w->arena, found.text, found.size), text);
}

#define KERNEL "kernel k(f32 x[N]) grid(1) { x[0] = 1; }\n"

// ---- Which one

static void test_suffixes(void **state) {
    (void)state;
    const Frontend *tile = frontend_of(STR("softmax.tile"));
    assert_non_null(tile);
    assert_string_equal(tile->language, "Tile");
    // Without a suffix, and where only a folder has one.
    static const char *const first[] = {"/dev/stdin", "<stdin>", "", "v1.2/kernels", "a.b.tile"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        assert_ptr_equal(frontend_of(str(first[i])), tile);
    static const char *const none[] = {"k.txt", "k.tile.txt", "k.", "k.TILE", ".hidden", "k.tiles"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_null(frontend_of(str(none[i])));
}

static void test_unknown_suffixes_are_listed(void **state) {
    (void)state;
    World w = load("lib/k.cu", KERNEL, false);
    assert_null(w.file);
    assert_int_equal(diags_count(w.diags), 1);
    const Diag *d = diags_get(w.diags, 0);
    assert_int_equal(d->severity, DIAG_ERROR);
    assert_int_equal(d->code, DIAG_UNSUPPORTED);
    says(&w, 0, "'lib/k.cu' is not a source file: no front end reads '.cu'");
    assert_string_equal(arena_text(w.arena, d->help.text, d->help.size),
                        "source files are named: .tile (Tile), .py (Triton)");
    arena_destroy(w.arena);
}

static void test_a_label_may_have_any_suffix(void **state) {
    (void)state;
    World w = load("program.c:12", KERNEL, true);
    assert_non_null(w.file);
    assert_int_equal(diags_count(w.diags), 0);
    assert_ptr_equal(w.file->frontend, frontend_of(STR("k.tile")));
    arena_destroy(w.arena);
}

// ---- Descriptions

static const char described[] =
    "// Not of the kernel.\n"
    "\n"
    "fn one() { return 1; }\n"
    "/* Copies.\n"
    " *\n"
    " * Twice. */\n"
    "kernel first(type T, const W = 4, const V, T x[N, W, 8], strided f16 y[M, N], *T p, i32 n)\n"
    "grid(1) { x[0, 0, 0] = cast(n); }\n"
    "kernel second(f32 z[K]) grid(1) { z[0] = 1; }\n";

static const FrontParam *param_at(const FrontKernel *k, int i) {
    const FrontParam *p = k->params;
    for (; i; i--) p = p->next;
    return p;
}

static void test_kernels_are_described(void **state) {
    (void)state;
    World w = load("k.tile", described, false);
    assert_int_equal(w.file->kernel_count, 2);
    const FrontKernel *k = frontend_find(w.file, STR("first"));
    assert_ptr_equal(k, &w.file->kernels[0]);
    assert_null(frontend_find(w.file, STR("one")));
    assert_string_equal(k->name, "first");
    assert_true(str_equal(source_text(w.in.sources, k->span), STR("first")));
    assert_true(str_equal(k->file->path, STR("k.tile")));
    static const struct {
        FrontParamKind kind;
        const char *name;
    } rows[] = {{FRONT_TYPE, "T"}, {FRONT_CONST, "W"},   {FRONT_CONST, "V"}, {FRONT_VIEW, "x"},
                {FRONT_VIEW, "y"}, {FRONT_POINTER, "p"}, {FRONT_SCALAR, "n"}};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(param_at(k, i)->kind, rows[i].kind);
        assert_string_equal(param_at(k, i)->name, rows[i].name);
    }
    assert_null(param_at(k, 6)->next);
    assert_true(param_at(k, 1)->has_default);
    assert_false(param_at(k, 2)->has_default);
    arena_destroy(w.arena);
}

static void test_views_are_described(void **state) {
    (void)state;
    World w = load("k.tile", described, false);
    const FrontKernel *k = &w.file->kernels[0];
    const FrontParam *x = param_at(k, 3), *y = param_at(k, 4), *n = param_at(k, 6);
    assert_int_equal(x->rank, 3);
    assert_string_equal(x->extents[0], "N");
    assert_null(x->extents[1]);  // a const
    assert_null(x->extents[2]);  // a number
    assert_string_equal(x->type_param, "T");
    assert_false(x->strided);
    assert_true(y->strided);
    assert_null(y->type_param);
    assert_int_equal(y->dtype, DTYPE_F16);
    assert_int_equal(n->dtype, DTYPE_I32);
    assert_string_equal(k->extents->name, "N");
    assert_string_equal(k->extents->next->name, "M");
    assert_null(k->extents->next->next);
    arena_destroy(w.arena);
}

static void test_comments_are_described(void **state) {
    (void)state;
    World w = load("k.tile", described, false);
    const Str *lines;
    size_t count = frontend_doc(w.file, &w.file->kernels[0], w.arena, &lines);
    assert_int_equal(count, 3);
    assert_true(str_equal(str_trim(lines[0]), STR("Copies.")));
    assert_true(str_equal(str_trim(lines[1]), STR("")));
    assert_true(str_equal(str_trim(lines[2]), STR("Twice.")));
    assert_int_equal(frontend_doc(w.file, &w.file->kernels[1], w.arena, &lines), 0);
    arena_destroy(w.arena);
}

// ---- Plain texts

static const char plain_text[] =
    "const A = 2;\nconst i16 V[1] = {5};\nconst B = A + V[0];\nconst C = 9;\n"
    "fn f(x) { return x * B; }\nfn g(x) { return f(x); }\nfn h(x) { return x; }\n"
    "kernel k(f32 x[N], const W = 4) grid(1) { x[0 +: W] = g(x[0 +: W]); }\n"
    "tune k { W: 4, 8; }\nkernel other(f32 x[N]) grid(1) { x[0] = 1.0; }\n";

static bool same_plain(const char *a, const char *b) {
    World w = load("k.tile", a, true), v = load("k.tile", b, true);
    bool same = str_equal(frontend_canonical_text(&w.file->kernels[0], w.arena),
                          frontend_canonical_text(&v.file->kernels[0], v.arena));
    arena_destroy(w.arena);
    arena_destroy(v.arena);
    return same;
}

static const char *replaced(Arena *arena, const char *from, const char *to) {
    const char *at = strstr(plain_text, from);
    assert_non_null(at);
    return arena_printf(arena, "%.*s%s%s", (int)(at - plain_text), plain_text, to,
                        at + strlen(from));
}

// Functions and consts that the kernel uses count, through others, too; nothing else does.
static void test_plain_texts(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        bool same;
    } rows[] = {
        {"kernel k", "// a word\nkernel   k", true},
        {"grid(1) { x[0 +: W]", "grid(1)\n{ /* a word */\n x[0 +: W]", true},
        {"return x; }", "return x + 1; }", true},
        {"C = 9", "C = 10", true},
        {"W: 4, 8", "W: 8, 4", true},
        {"= 1.0", "= 2.0", true},
        {"A = 2", "A = 3", false},
        {"{5}", "{6}", false},
        {"i16 V", "i32 V", false},
        {"B = A + V[0]", "B = 1 + A", false},
        {"x * B", "B * x", false},
        {"return f(x)", "return f(x + 0)", false},
        {"W = 4", "W = 8", false},
        {"grid(1) { x[0 +: W]", "grid(2) { x[0 +: W]", false},
    };
    Arena *arena = arena_create();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (same_plain(plain_text, replaced(arena, rows[i].from, rows[i].to)) != rows[i].same)
            fail_msg("'%s' as '%s'", rows[i].from, rows[i].to);
    arena_destroy(arena);
}

// ---- Types from arguments

static void test_types_come_from_arguments(void **state) {
    (void)state;
    World w = load("k.tile", described, false);
    const FrontKernel *k = &w.file->kernels[0];
    FrontSpec spec = {0};
    FrontArg types[4] = {
        {.type = DTYPES}, {.type = DTYPE_F16}, {.type = DTYPE_F64}, {.type = DTYPE_I32}};
    assert_true(frontend_specialize(w.file, w.arena, k, types, 4, &spec, w.diags));
    assert_int_equal(spec.bindings.count, 1);  // by p: x says nothing, y and n have their types
    const IrBinding *b = frontend_spec_find(&spec, intern(w.in.names, STR("T")));
    assert_non_null(b);
    assert_int_equal(b->type, DTYPE_F64);
    types[0].type = DTYPE_F32;
    assert_false(frontend_specialize(w.file, w.arena, k, types, 4, &spec, w.diags));
    says(&w, diags_count(w.diags) - 1, "argument 'x' is of f32, but T is f64");
    arena_destroy(w.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suffixes),
        cmocka_unit_test(test_unknown_suffixes_are_listed),
        cmocka_unit_test(test_a_label_may_have_any_suffix),
        cmocka_unit_test(test_kernels_are_described),
        cmocka_unit_test(test_views_are_described),
        cmocka_unit_test(test_comments_are_described),
        cmocka_unit_test(test_plain_texts),
        cmocka_unit_test(test_types_come_from_arguments),
    };
    return cmocka_run_group_tests_name("frontend/frontend", tests, NULL, NULL);
}
