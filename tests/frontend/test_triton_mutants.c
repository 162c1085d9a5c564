// Kernels of Triton with tokens dropped, doubled, exchanged: nothing crashes, what elaborates
// verifies, and what is refused says why. Deterministic; one run takes a slice, TILEC_TEST_WHOLE=1
// all of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "frontend/frontend.h"
#include "ir/verify/verify.h"
#include "tests/support/slice.h"
#include "tests/support/token_mutator.h"

enum { MUTANTS = 24000, PARTS = 60, TEXT_MAX = 1 << 16 };

// Lines' ends and indentations are tokens, too.
static void find_tokens(TokenMutator *m) {
    m->count = 0;
    for (size_t i = 0; i < m->size;) {
        size_t begin = i++;
        if (m->text[begin] == ' ')
            while (i < m->size && m->text[i] == ' ') i++;
        else if (str_word_char(m->text[begin]))
            while (i < m->size && str_word_char(m->text[i])) i++;
        if (i == begin + 1 && m->text[begin] == ' ') continue;
        token_mutator_add(m, begin, i);
    }
}

static const char *const words[] = {
    "0",
    "1",
    "-1",
    "3",
    "16",
    "0.5",
    "1e40",
    "18446744073709551615",
    "2 ** 70",
    "True",
    "None",
    "'abc'",
    "\"*fp32\"",
    "f\"{n}\"",
    "()",
    "(1, 2)",
    "[1]",
    "{}",
    "lambda q: q",
    "tl",
    "tl.float16",
    "tl.int1",
    "tl.float8e5",
    "tl.bfloat16",
    "float",
    "int",
    "tl.load",
    "tl.sum",
    "tl.zeros([16], tl.int8)",
    "tl.arange(0, 16)",
    "tl.arange(0, 4)[:, None]",
    "tl.program_id(0)",
    "tl.constexpr",
    "n",
    "x",
    "BLOCK",
    "combine",
    "pair",
    "activation",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "<<",
    "&",
    "|",
    "~",
    "not",
    "and",
    "in",
    "is",
    "<",
    "==",
    "=",
    "+=",
    ":=",
    ",",
    ".",
    ":",
    "(",
    ")",
    "[",
    "]",
    "if",
    "else",
    "for i in range(n):",
    "for i in tl.static_range(4):",
    "while True:",
    "return",
    "break",
    "continue",
    "pass",
    "def",
    "import",
    "from",
    "\n",
    "    ",
    "\t",
    "*",
    ".T",
    ".to(tl.float32)",
    ".shape",
    ".dtype",
    "[:, None]",
    "[0]",
    "axis=1",
    "mask=None",
    "range(3)",
    "len",
    "max",
    "isinstance",
    "global",
    "yield",
    "class",
    "with",
    "match",
};

static void mutate(TokenMutator *m) {
    const TokenChange change = {words, sizeof words / sizeof *words, 7, " ", true};
    find_tokens(m);
    token_mutator_change(m, &change);
}

static const char *first_error(Arena *arena, const Diags *diags) {
    StrBuf out = strbuf(arena);
    diags_text(diags, (DiagStyle){.quiet = true}, &out);
    return arena_text(arena, out.text ? out.text : "", out.size);
}

// All kernels of a file: each must be right, or the reason is said.
static void try_kernels(const FrontInput *in, const FrontFile *f, const char *text) {
    for (size_t i = 0; i < f->kernel_count; i++) {
        Diags *diags = diags_create(in->arena, in->sources);
        IrModule *module = ir_module_create(in->arena, in->sources, in->names);
        const FrontKernel *k = &f->kernels[i];
        const IrFunc *made =
            frontend_elaborate((FrontFile *)(uintptr_t)f, module, k, &(FrontSpec){0}, diags);
        if (!made && !diags_errors(diags)) fail_msg("no reason for %s:\n%s", k->name, text);
        if (made && !ir_verify(module, diags))
            fail_msg("%s\n%s", first_error(in->arena, diags), text);
    }
}

static void try_text(Str text, bool must_be_right) {
    Arena *arena = arena_create();
    Sources *sources = sources_create(arena);
    FrontInput in = {.arena = arena, .sources = sources, .names = interner_create(arena)};
    Diags *diags = diags_create(arena, sources);
    const SourceFile *file = source_add(sources, STR("mutant.py"), text);
    assert_non_null(file);
    FrontFile *f = frontend_load(&in, file, diags);
    bool read = f && !diags_errors(diags);
    bool good = read && frontend_check(f, diags);
    if (good != !diags_errors(diags)) fail_msg("refused without an error:\n%s", text.text);
    if (must_be_right && !good) fail_msg("%s", first_error(arena, diags));
    if (read) try_kernels(&in, f, text.text);
    arena_destroy(arena);
}

static void test_mutants(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str text;
    OsError error;
    assert_true(os_read_file(arena, "tests/frontend/triton/kernels.py", TEXT_MAX, &text, &error));
    assert_true(text.size < TEXT_MAX / 2);
    try_text(text, true);
    TokenMutator *m = token_mutator(arena, TEXT_MAX);
    const char *whole = getenv("TILEC_TEST_WHOLE");
    uint64_t parts = whole ? 1 : PARTS, count = MUTANTS / parts;
    uint64_t first = slice_begin(parts, count);
    for (uint64_t i = first; i < first + count; i++) {
        token_mutator_begin(m, text, 0x9e3779b97f4a7c15ull * (i + 1));
        for (size_t n = 1 + (token_mutator_pick(m, 5) == 0); n > 0; n--) mutate(m);
        try_text((Str){m->text, m->size}, false);
    }
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
