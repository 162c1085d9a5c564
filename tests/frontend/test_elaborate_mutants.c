// The examples with tokens dropped, doubled, exchanged: nothing crashes, what elaborates verifies,
// and what does not says why. Deterministic; the number of mutants of each file is MUTANTS.
#include <stdlib.h>

#include "base/os/os.h"
#include "tests/frontend/elaborate_case.h"
#include "tests/support/token_mutator.h"

enum { MUTANTS = 150, TEXT_MAX = 1 << 16 };

static void find_tokens(TokenMutator *m) {
    m->count = 0;
    for (size_t i = 0; i < m->size;) {
        if (m->text[i] == ' ' || m->text[i] == '\n') {
            i++;
            continue;
        }
        if (m->text[i] == '/' && m->text[i + 1] == '/') {
            while (i < m->size && m->text[i] != '\n') i++;
            continue;
        }
        size_t begin = i++;
        while (str_word_char(m->text[begin]) && i < m->size && str_word_char(m->text[i])) i++;
        token_mutator_add(m, begin, i);
    }
}

static const char *const words[] = {
    "f16",
    "i32",
    "u8",
    "f8e4m3",
    "f64",
    "bool",
    "i4",
    "0",
    "16",
    "-1",
    "0.5",
    "true",
    "inf",
    "return;",
    "break;",
    "continue;",
    "if (true) return;",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    "&",
    "|",
    "&&",
    "==",
    "<",
    "sum",
    "max",
    "exp",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "axis = 0",
    "or 0",
    "program(0)",
    "const",
    "var",
    "T",
    "iota(16)",
    "zeros(f32, 16)",
    "i64(3)",
    "300",
    "18446744073709551615",
    "u64(1)",
    "split(v)",
    "reduce",
    "~",
    "!",
    "3.5e38",
    "for i in 0 .. 4",
    "while (true)",
    "not",
    ";",
};

static void mutate(TokenMutator *m) {
    const TokenChange change = {words, sizeof words / sizeof *words, 6, " ", false};
    find_tokens(m);
    token_mutator_change(m, &change);
}

// Elaborates with candidate types and consts until one goes through.
static bool elaborate_any(TileText *t, IrModule *m, const AstKernel *kernel) {
    static const Dtype types[] = {DTYPE_F32,    DTYPE_I32, DTYPE_F16, DTYPE_U8,
                                  DTYPE_F8E4M3, DTYPE_F64, DTYPE_BOOL};
    size_t start = diags_count(t->diags);
    for (size_t i = 0; i < sizeof types / sizeof *types * 4; i++) {
        FrontSpec spec = {0};
        for (const AstDecl *p = kernel->params; p; p = p->next) {
            IrBinding b = {.name = p->name, .is_type = p->kind == DECL_TYPE_PARAM};
            if (b.is_type)
                b.type = types[i / 4];
            else
                b.value = 16 << i % 4;
            if (b.is_type || (p->kind == DECL_CONST_PARAM && !p->value))
                vec_push(t->arena, &spec.bindings, b);
        }
        diags_truncate(t->diags, start);
        if (tile_elaborate(t->file, m, kernel, &spec, t->diags)) return true;
    }
    return false;
}

static void try_mutant(const TokenMutator *m, const char *path) {
    TileText t = tile_text_bytes((Str){m->text, m->size});
    bool good = tile_check(t.file, t.diags);
    if (!good && !diags_errors(t.diags))
        fail_msg("%s: refused without an error:\n%s", path, m->text);
    if (good && !diags_errors(t.diags)) {
        IrModule *module = ir_module_create(t.arena, t.sources, t.names);
        for (size_t i = 0; i < tile_kernel_count(t.file); i++)
            if (!elaborate_any(&t, module, tile_kernel(t.file, i)))
                fail_msg("%s: checked, but not elaborated:\n%s", path, m->text);
        if (!ir_verify(module, t.diags))
            fail_msg("%s:\n%s\n%s", path, tile_text_diags(&t), m->text);
    }
    tile_text_free(&t);
}

static void mutate_file(const char *path) {
    Arena *arena = arena_create();
    Str text;
    OsError error;
    assert_true(os_read_file(arena, path, TEXT_MAX, &text, &error));
    assert_true(text.size < TEXT_MAX / 2);
    TokenMutator *m = token_mutator(arena, TEXT_MAX);
    for (uint64_t i = 0; i < MUTANTS; i++) {
        token_mutator_begin(m, text, 0x9e3779b97f4a7c15ull * (i + 1) ^ str_hash(str(path)));
        for (size_t n = i ? 1 + (token_mutator_pick(m, 5) == 0) : 0; n > 0; n--)
            mutate(m);  // the first is as it is
        try_mutant(m, path);
    }
    arena_destroy(arena);
}

static const char *const examples[] = {
#define EXAMPLE(file, ...) "examples/" #file ".tile",
#include "tests/examples/examples.def"
#undef EXAMPLE
};

static void test_mutants(void **state) {
    (void)state;
    const char *last = "";
    size_t count = 0;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        if (strcmp(last, examples[i]) == 0) continue;  // a file of several kernels
        last = examples[i];
        mutate_file(examples[i]);
        count++;
    }
    assert_true(count >= 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
