// docs/language.md against the compiler: its examples are run, and its tables are complete.
//
// A fenced block is an example by its tag:
//     ```tile check          `tilec check` finds nothing but what //! comments name
//     ```tile error          the same, and errors are named
//     ```tile run ARGS       `tilec run` with these arguments prints the ```output that follows
//     ```tile fail N ARGS    the same, ending with status N
//     ```tile file NAME      a file beside the next example, for import
// Other tags may be text, ebnf, sh and c: they are not run. Each example is written into a folder
// of its own below the build's docs/language/, as a filetest that can be run again by hand.
//
//     test_language [--bless]     --bless rewrites output blocks by what comes out: read the diff

// cmocka.h needs the first four.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "tests/support/case.h"
#include "tests/support/process.h"
#include "tests/support/script.h"

enum { RULES = 33, SECONDS = 60, SIZE_LIMIT = 8 << 20 };

static const char page_path[] = "docs/language.md";

typedef struct Block {
    uint32_t line;      // of its fence
    Str tag;            // the whole of it
    Str body;           // lines, each ended by '\n'
    unsigned rule;      // whose section it stands in, or 0
    size_t begin, end;  // of the body in the page
} Block;

typedef struct Page {
    Arena *arena;
    Str text;
    VEC(Block) blocks;
    VEC(Str) lines;  // outside of blocks
    unsigned problems;
    unsigned examples;
    unsigned per_rule[RULES + 1];
} Page;

static void problem(Page *page, uint32_t line, const char *text, Str detail) {
    fprintf(stderr, "%s:%u: %s%.*s\n", page_path, line, text, STR_ARG(detail));
    page->problems++;
}

static Str after(Str s, size_t count) { return (Str){s.text + count, s.size - count}; }

// ---- reading

// The number that a heading begins with ("### 14. Pads"), 0 for other headings.
static unsigned heading_rule(Str line) {
    Str rest;
    while (str_starts(line, STR("#"))) line = after(line, 1);
    Str number = str_cut(str_trim(line), '.', &rest);
    uint64_t value = 0;
    bool overflow = false;
    bool good = str_to_u64(number, &value, &overflow) && !overflow && value <= RULES;
    return good ? (unsigned)value : 0;
}

static void page_read(Page *page) {
    OsError error;
    if (!os_read_file(page->arena, page_path, SIZE_LIMIT, &page->text, &error))
        fail_msg("cannot read %s: %s", page_path, error.text);
    Block block = {0};
    bool open = false;
    uint32_t number = 0;
    unsigned rule = 0;
    for (Str rest = page->text, line; rest.size > 0;) {
        size_t at = (size_t)(rest.text - page->text.text);
        line = str_cut(rest, '\n', &rest);
        number++;
        bool fence = str_starts(line, STR("```"));
        if (fence && open) {
            block.end = at;
            block.body = (Str){page->text.text + block.begin, block.end - block.begin};
            vec_push(page->arena, &page->blocks, block);
            open = false;
        } else if (fence) {
            size_t begin = at + line.size + 1;
            block = (Block){number, str_trim(after(line, 3)), {"", 0}, rule, begin, begin};
            open = true;
        } else if (!open) {
            if (str_starts(line, STR("##"))) rule = heading_rule(line);
            vec_push(page->arena, &page->lines, line);
        }
    }
    if (open) problem(page, block.line, "a block that is not closed", (Str){"", 0});
}

// ---- running

// Cuts the first word off a tag.
static Str next_word(Str *tag) {
    Str rest, word = str_cut(*tag, ' ', &rest);
    *tag = str_trim(rest);
    return word;
}

static const char *block_folder(Page *page, const Block *block) {
    const char *folder =
        arena_printf(page->arena, "%s/docs/language/line-%u", TEST_BINARY_DIR, block->line);
    const char *command = arena_printf(page->arena, "rm -rf '%s' && mkdir -p '%s'", folder, folder);
    ProcessResult result;
    Process process = {command, ".", TEST_BINARY_DIR, SECONDS, false};
    assert_true(process_run(page->arena, &process, &result));
    assert_int_equal(result.status, 0);
    return folder;
}

static void write_file(Page *page, const char *path, Str text) {
    OsError error;
    if (!os_write_file(page->arena, path, text, &error))
        fail_msg("cannot write %s: %s", path, error.text);
}

// The example as a filetest; false when the tag is none of an example.
static bool example_text(Page *page, const Block *block, const Block *output, StrBuf *text) {
    Str tag = block->tag;
    next_word(&tag);
    Str kind = next_word(&tag);
    strbuf_add(text, block->body);
    if (str_equal(kind, STR("check")) || str_equal(kind, STR("error"))) {
        strbuf_printf(text, "// RUN-ERRORS: tilec check --json %%s\n");
        return true;
    }
    Str status = STR("0");
    if (str_equal(kind, STR("fail")))
        status = next_word(&tag);
    else if (!str_equal(kind, STR("run")))
        return false;
    strbuf_printf(text, "// RUN: tilec run %%s %.*s\n// OUT:\n", STR_ARG(tag));
    if (!output) problem(page, block->line, "no ```output block follows", (Str){"", 0});
    for (Str rest = output ? output->body : (Str){"", 0}; rest.size > 0;) {
        Str line = str_cut(rest, '\n', &rest);
        strbuf_printf(text, line.size > 0 ? "//| %.*s\n" : "//|\n", STR_ARG(line));
    }
    strbuf_printf(text, "// EXIT: %.*s\n", STR_ARG(status));
    return true;
}

static void run_block(Page *page, const Block *block, const char *folder, const Block *output) {
    StrBuf text = strbuf(page->arena), report = strbuf(page->arena);
    if (!example_text(page, block, output, &text)) {
        problem(page, block->line, "an unknown kind of example: ", block->tag);
        return;
    }
    Script script = script_read(page->arena, strbuf_str(&text), STR("//"));
    bool wants_errors = str_equal(block->tag, STR("tile error"));
    size_t errors = 0;
    for (size_t i = 0; i < script.expectations.count; i++)
        errors += str_equal(script.expectations.data[i].severity, STR("error"));
    if (wants_errors != (errors > 0)) {
        problem(page, block->line,
                wants_errors ? "no error is named by '//!'" : "errors are named in a ",
                wants_errors ? (Str){"", 0} : block->tag);
        return;
    }
    const char *path = arena_printf(page->arena, "%s/example.tile", folder);
    write_file(page, path, strbuf_str(&text));
    CaseOptions options = {.tool_folder = TEST_BINARY_DIR, .scratch = folder, .seconds = SECONDS};
    page->examples++;
    page->per_rule[block->rule]++;
    if (!case_run(page->arena, &options, path, &report))
        problem(page, block->line, "the example fails:\n", strbuf_str(&report));
}

// The folder of the example that this block is of, made for its first block; true when the block
// was a file that is now there.
static bool block_is_file(Page *page, const Block *block, const char **folder) {
    Str name = after(block->tag, sizeof "tile file " - 1);
    if (!*folder) *folder = block_folder(page, block);
    if (!str_starts(block->tag, STR("tile file "))) return false;
    write_file(page, arena_printf(page->arena, "%s/%.*s", *folder, STR_ARG(name)), block->body);
    return true;
}

static bool has_output(const Block *block) {
    return str_starts(block->tag, STR("tile run")) || str_starts(block->tag, STR("tile fail "));
}

static bool is_tile(const Block *block) {
    return str_equal(block->tag, STR("tile")) || str_starts(block->tag, STR("tile "));
}

static void run_examples(Page *page) {
    const char *folder = NULL;
    for (size_t i = 0; i < page->blocks.count; i++) {
        const Block *block = &page->blocks.data[i];
        bool more = i + 1 < page->blocks.count;
        const Block *output = more ? block + 1 : NULL;
        if (output && !str_equal(output->tag, STR("output"))) output = NULL;
        if (is_tile(block)) {
            if (block_is_file(page, block, &folder)) continue;
            run_block(page, block, folder, output);
            folder = NULL;
        } else if (str_equal(block->tag, STR("output"))) {
            bool follows = i > 0 && has_output(block - 1);
            if (!follows) problem(page, block->line, "output of nothing", (Str){"", 0});
        } else if (!str_equal(block->tag, STR("text")) && !str_equal(block->tag, STR("ebnf")) &&
                   !str_equal(block->tag, STR("sh")) && !str_equal(block->tag, STR("c"))) {
            problem(page, block->line, "a block with the unknown tag: ", block->tag);
        }
    }
}

static void test_examples(void **state) {
    Page *page = *state;
    run_examples(page);
    assert_true(page->examples > 0);
    for (unsigned rule = 1; rule <= RULES; rule++) {
        if (page->per_rule[rule] > 0) continue;
        fprintf(stderr, "%s: rule %u has no example\n", page_path, rule);
        page->problems++;
    }
    assert_int_equal(page->problems, 0);
}

// ---- tables

// Is there a row of a table that begins with `name` in backticks, or with `name(` for functions?
static bool has_row(const Page *page, const char *name, const char *mark) {
    const char *begin = arena_printf(page->arena, "| `%s%s", name, mark);
    for (size_t i = 0; i < page->lines.count; i++)
        if (str_starts(page->lines.data[i], str(begin))) return true;
    return false;
}

static unsigned missing_rows(const Page *page, const char *const *names, size_t count,
                             const char *mark) {
    unsigned missing = 0;
    for (size_t i = 0; i < count; i++) {
        if (has_row(page, names[i], mark)) continue;
        fprintf(stderr, "%s: no row of a table begins with `%s%s\n", page_path, names[i], mark);
        missing++;
    }
    return missing;
}

static void test_builtins(void **state) {
    static const char *const names[] = {
#define BUILTIN(name, text) #text,
#include "frontend/tile/builtin/builtin.def"
#undef BUILTIN
    };
    assert_int_equal(missing_rows(*state, names, sizeof names / sizeof *names, "("), 0);
}

static void test_diagnostic_codes(void **state) {
    static const char *const slugs[] = {
#define DIAG(name, slug) slug,
#include "base/diag.def"
#undef DIAG
    };
    assert_int_equal(missing_rows(*state, slugs, sizeof slugs / sizeof *slugs, "` |"), 0);
}

static void test_types(void **state) {
    const char *names[DTYPES];
    for (int t = 0; t < DTYPES; t++) names[t] = dtype_name((Dtype)t);
    assert_int_equal(missing_rows(*state, names, DTYPES, "` |"), 0);
}

// Every token that the language has is a terminal of the grammar.
static void test_grammar(void **state) {
    static const char *const tokens[] = {
#define KEYWORD(name, text) text,
#define PUNCT(name, text) text,
#include "frontend/tile/token.def"
    };
    // These are read only to say that the language has not got them.
    static const char *const foreign[] = {".", "?", "->", "++", "--"};
    Page *page = *state;
    StrBuf grammar = strbuf(page->arena);
    for (size_t i = 0; i < page->blocks.count; i++)
        if (str_equal(page->blocks.data[i].tag, STR("ebnf")))
            strbuf_add(&grammar, page->blocks.data[i].body);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        bool expected = true;
        for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++)
            expected = expected && strcmp(tokens[i], foreign[k]) != 0;
        const char *quoted = arena_printf(page->arena, "\"%s\"", tokens[i]);
        if ((strstr(grammar.text, quoted) != NULL) != expected)
            fail_msg("the grammar %s the token %s", expected ? "lacks" : "has", quoted);
    }
}

// ---- blessing

// The output that the example has now; false after a problem.
static bool bless_one(Page *page, const Block *block, const char *folder, Str *output) {
    StrBuf text = strbuf(page->arena), report = strbuf(page->arena);
    example_text(page, block, block + 1, &text);
    const char *path = arena_printf(page->arena, "%s/example.tile", folder);
    write_file(page, path, strbuf_str(&text));
    CaseOptions options = {TEST_BINARY_DIR, folder, SECONDS, true};
    OsError error;
    Str blessed;
    if (!case_run(page->arena, &options, path, &report)) {
        problem(page, block->line, "not blessed:\n", strbuf_str(&report));
        return false;
    }
    if (!os_read_file(page->arena, path, SIZE_LIMIT, &blessed, &error)) return false;
    Script script = script_read(page->arena, blessed, STR("//"));
    *output = script.runs.data[0].expected;
    return true;
}

static int bless(Page *page) {
    StrBuf out = strbuf(page->arena);
    const char *folder = NULL;
    size_t at = 0;
    for (size_t i = 0; i + 1 < page->blocks.count; i++) {
        const Block *block = &page->blocks.data[i], *output = block + 1;
        if (!is_tile(block) || block_is_file(page, block, &folder)) continue;
        Str found;
        if (has_output(block) && str_equal(output->tag, STR("output")) &&
            bless_one(page, block, folder, &found)) {
            strbuf_add(&out, (Str){page->text.text + at, output->begin - at});
            strbuf_add(&out, found);
            at = output->end;
        }
        folder = NULL;
    }
    strbuf_add(&out, after(page->text, at));
    write_file(page, page_path, strbuf_str(&out));
    return page->problems > 0;
}

int main(int argc, char **argv) {
    Page page = {.arena = arena_create()};
    page_read(&page);
    int status;
    if (argc > 1 && strcmp(argv[1], "--bless") == 0) {
        status = bless(&page);
    } else {
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_prestate(test_examples, &page),
            cmocka_unit_test_prestate(test_builtins, &page),
            cmocka_unit_test_prestate(test_diagnostic_codes, &page),
            cmocka_unit_test_prestate(test_types, &page),
            cmocka_unit_test_prestate(test_grammar, &page),
        };
        status = cmocka_run_group_tests(tests, NULL, NULL);
    }
    arena_destroy(page.arena);
    return status;
}
