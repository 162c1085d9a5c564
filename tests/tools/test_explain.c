// `tilec explain`: what it says as text and as data, what it refuses; and that every reason has a
// test in which it is given and one in which it is not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/os/os.h"
#include "ir/remark.h"
#include "tests/tools/kernels.h"

static const char *const source =
    "kernel mm(type T, T a[M, K], T b[K, N], f32 c[M, N], const B = 64)\n"
    "    requires M % 64 == 0, N % 64 == 0, K % 64 == 0\n"
    "    grid(M / B, N / B)\n"
    "{\n"
    "    let i = program(0) * B;\n"
    "    let j = program(1) * B;\n"
    "    var acc = zeros(f32, B, B);\n"
    "    for k in 0 .. K step B\n"
    "        acc = dot(a[i +: B, k +: B], b[k +: B, j +: B], acc);\n"
    "    c[i +: B, j +: B] = acc;\n"
    "}\n";

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "k.tile", str(source));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

// No tool of NVIDIA's.
#define BARE "TILEC_PTXAS=/none/ptxas TILEC_NVJITLINK=/none/lib.so "

static void says(const Tool *t, const char *text) {
    if (!tool_output_has(t, text))
        fail_msg("expected '%s', found: %.*s%.*s", text, STR_ARG(t->last.output),
                 STR_ARG(t->last.errors));
}

static void text_of_a_gpu(void **state) {
    Tool *t = *state;
    tool_run(t, 0, BARE "tilec explain k.tile --target sm_80 --set T=f16");
    assert_int_equal(t->last.errors.size, 0);
    says(t, "mm for sm_80: T=f16, B=64\n");
    says(t, ", counted from 0: ");
    says(t,
         "arrays and rows begin at multiples of 16 bytes, extents and offsets of elements are "
         "below 2^31\n");
    says(t, "  threads             128, in 4 warps\n");
    says(t, "  registers, spills   not measured: install ptxas");
    says(t, " bytes of 166912\n");
    says(t, "limited by ");
    says(t, "mma.m16n8k16 of f16 and f16 into f32");
    says(t,
         "load of 'a': 16 bytes per lane in each access, 16 sectors per request (16 at best) (3 "
         "times)\n");
    tool_run(t, 0, BARE "tilec explain k.tile --target sm_80 --set T=f32");
    says(t,
         "k.tile:9:15: dot of f32 and f32 into f32 with precision `ieee` is computed without the "
         "matrix unit [dot-ieee]\n");
    says(t,
         "            acc = dot(a[i +: B, k +: B], b[k +: B, j +: B], acc);\n"
         "                  ^~~");
    says(t, "help: `dot(…, precision = tf32x3)` keeps about 21 bits");
}

// No two variants read the same.
static void text_of_variants(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec explain k.tile --target gfx942 --set T=f16 --variant 3");
    says(t, "are below 2^31\n");
    tool_run(t, 0, "tilec explain k.tile --target gfx942 --set T=f16 --variant 4");
    says(t, "are below 2^31, views end at most 2^31 bytes after their first element\n");
}

static void text_of_amd(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec explain k.tile --target gfx942 --set T=f16");
    assert_int_equal(t->last.errors.size, 0);
    says(t, "mm for gfx942: T=f16, B=64\n");
    says(t, "  threads             256, in 4 waves of 64\n");
    says(t, "  vector registers    ");
    says(t, " per thread\n");
    says(t, " per wave\n");
    says(t,
         "  spills              0 vector and 0 scalar registers; scratch memory 0 bytes per "
         "thread\n");
    says(t, " bytes of 65536\n");
    says(t, " of 32 waves: ");
    says(t, " at once on a compute unit, limited by ");
    says(t, "mfma.m");
    says(t, "load of 'a': 16 bytes per lane in each access, 32 sectors per request (32 at best)");
    assert_false(tool_output_has(t, "ptxas"));
    tool_run(t, 0, "tilec explain k.tile --target gfx1100 --set T=f16");
    says(t, "in 4 waves of 32\n");
    says(t, " of 64 waves: ");
    says(t, " at once on a work-group processor, limited by ");
    says(t, "wmma.m16n16k16 of f16 and f16 into f32");
    tool_run(t, 0, "tilec explain k.tile --target gfx1030 --set T=f16 --only dot-no-instruction");
    says(t, "is computed without the matrix unit: the target has no such instruction");
}

// The text shows the metadata of the object.
static void data_of_amd(void **state) {
    Tool *t = *state;
    const JsonValue *o = tool_json(t, 0, "tilec explain k.tile --json --target gfx90a --set T=f16");
    tool_number_at(o, "resources.lanes", 64);
    double registers = tool_at(o, "resources.registers")->number;
    assert_true(registers > 16 && registers <= 512);
    assert_true(tool_at(o, "resources.scalarRegisters")->number > 8);
    tool_number_at(o, "resources.spilledRegisters", 0);
    tool_number_at(o, "resources.scratchBytes", 0);
    assert_true(tool_at(o, "resources.codeBytes")->number > 100);
    tool_number_at(o, "resources.occupancy.warpsMost", 32);
    tool_run(t, 0, "tilec emit k.tile --as asm --target gfx90a --set T=f16");
    char text[64];
    snprintf(text, sizeof text, "    .vgpr_count:     %d\n", (int)registers);
    says(t, text);
}

static void text_of_a_cpu(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec explain k.tile --target x86-64-v4 --set T=f32");
    says(t, "mm for x86-64-v4: T=f32, B=64\n");
    says(t, "  vectors             64 bytes, 32 registers\n");
    says(t, "blocks of 12 rows by 32 columns are kept in registers; f32, 1 products per step\n");
    says(t, "mul-adds     bytes   vectors    clocks  bound by\n");
    says(t, "clocks: an estimate for a Skylake-X core");
    assert_false(tool_output_has(t, "warps"));
}

static const JsonValue *remark_of(const JsonValue *object, const char *code) {
    const JsonValue *list = tool_at(object, "remarks");
    for (const JsonValue *r = list->first; r; r = r->next)
        if (str_equal(json_get(r, "code")->string, str(code))) return r;
    fail_msg("no remark '%s'", code);
    return NULL;
}

static void data(void **state) {
    Tool *t = *state;
    const JsonValue *o =
        tool_json(t, 0, BARE "tilec explain k.tile --json --target sm_80 --set T=f16");
    tool_text_at(o, "kernel", "mm");
    tool_text_at(o, "target", "sm_80");
    assert_true(tool_at(o, "variant.count")->number > tool_at(o, "variant.number")->number);
    tool_number_at(o, "resources.threads", 128);
    assert_int_equal(tool_at(o, "resources.registers")->kind, JSON_NULL);
    tool_number_at(o, "resources.occupancy.warpsMost", 64);
    tool_text_at(o, "loops.0.kind", "kernel");
    tool_text_at(o, "loops.1.kind", "for");
    tool_number_at(o, "loops.1.line", 8);
    const JsonValue *r = remark_of(o, "access");
    tool_text_at(r, "kind", "done");
    tool_number_at(r, "numbers.bytes", 16);
    tool_number_at(r, "numbers.sectors", 16);
    tool_number_at(r, "line", 9);
    tool_text_at(r, "file", "k.tile");
    o = tool_json(t, 0, "tilec explain k.tile --json --target x86-64-v3 --set T=f32");
    tool_number_at(o, "resources.vectorBytes", 32);
    assert_true(tool_at(o, "resources.codeBytes")->number > 100);
}

// All matrix products of the kernel: 64·64·64 of 16·8·16, by four warps.
static void products_are_the_least(void **state) {
    Tool *t = *state;
    const JsonValue *o =
        tool_json(t, 0, BARE "tilec explain k.tile --json --target sm_80 --set T=f16");
    double found = 0;
    for (const JsonValue *l = tool_at(o, "loops")->first; l; l = l->next)
        found += json_get(l, "matrixOps")->number;
    assert_int_equal((int)found, 64 * 64 * 64 / (16 * 8 * 16) / 4);
    tool_number_at(remark_of(o, "dot-matrix-unit"), "numbers.count", found);
}

#define PTXAS                                                                               \
    "#!/bin/sh\n"                                                                           \
    "[ \"$1\" = --version ] && echo ', V13.0.88' && exit 0\n"                               \
    "cat >/dev/null\n"                                                                      \
    "echo 'ptxas info    :     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill " \
    "loads' >&2\n"                                                                          \
    "echo 'ptxas info    : Used 168 registers, 400 bytes cmem[0]' >&2\n"                    \
    "printf '\\177ELF'\n"

static void what_ptxas_measures(void **state) {
    Tool *t = *state;
    tool_file(t, "ptxas", STR(PTXAS));
    tool_run(t, 0, "chmod +x ptxas");
    tool_run(t, 0, "TILEC_PTXAS=$PWD/ptxas tilec explain k.tile --target sm_80 --set T=f16");
    says(t, "  registers           168 per thread (measured by ptxas 13.0.88)\n");
    says(t, "  spills              12 bytes stored, 16 bytes loaded; stack 8 bytes\n");
    says(t, "[register-spills-early]");
    const JsonValue *o = tool_json(
        t, 0, "TILEC_PTXAS=$PWD/ptxas tilec explain k.tile --json --target sm_80 --set T=f16");
    tool_number_at(o, "resources.registers", 168);
    tool_number_at(o, "resources.spillLoadBytes", 16);
    tool_text_at(o, "resources.measuredBy", "ptxas 13.0.88");
}

static size_t occurrences(const char *text, const char *what) {
    size_t count = 0;
    while ((text = strstr(text, what)) != NULL) text++, count++;
    return count;
}

// One drawing, well formed as far as its brackets go.
static void drawing(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "tilec explain k.tile --target sm_80 --set T=f16 --set B=16 --svg - >out.svg");
    Str svg = tool_read(t, "out.svg");
    assert_true(str_starts(svg, STR("<svg ")) && str_ends(svg, STR("</svg>\n")));
    assert_true(occurrences(svg.text, "<svg ") > 2);
    assert_int_equal(occurrences(svg.text, "<svg "), occurrences(svg.text, "</svg>"));
    // The numbers outside of the squares are black, and the ground of a page may be dark.
    assert_non_null(
        strstr(svg.text, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\""));
    const JsonValue *o =
        tool_json(t, 0, BARE "tilec explain k.tile --json --target sm_80 --set T=f16 --svg k.svg");
    tool_text_at(o, "svg", "k.svg");
    assert_true(str_starts(tool_read(t, "k.svg"), STR("<svg ")));
}

// The dearest reason comes first, what to change once for each, and what costs least under --all.
static void dearest_first(void **state) {
    Tool *t = *state;
    tool_run(t, 0, BARE "tilec explain k.tile --target sm_80 --set T=f32");
    const char *heading = "what was not done, and what to change, by estimated cost\n";
    const char *found = strstr(t->last.output.text, heading);
    assert_non_null(found);
    const char *first = strchr(found, '\n') + 1;
    assert_true(strncmp(first, "k.tile:9:15: dot of f32 and f32", 31) == 0);
    size_t count = 0;
    for (const char *at = found; (at = strstr(at, "help: the check goes away")); at++) count++;
    assert_true(count <= 1);
    const JsonValue *o =
        tool_json(t, 0, BARE "tilec explain k.tile --target sm_80 --set T=f32 --json");
    double dearest = tool_at(remark_of(o, "dot-ieee"), "cost")->number;
    for (const JsonValue *r = tool_at(o, "remarks")->first; r; r = r->next)
        if (json_get(r, "cost")) assert_true(json_get(r, "cost")->number <= dearest);
    tool_run(t, 0, BARE "tilec explain $S/examples/attention.tile --target sm_89 --set T=f32");
    says(t, "more that cost less or as much, shown by --all: mask-kept");
    assert_false(tool_output_has(t, " [mask-kept]"));
    tool_run(t, 0,
             BARE "tilec explain $S/examples/attention.tile --target sm_89 --set T=f32 --all");
    says(t, " [mask-kept]\n");
    assert_false(tool_output_has(t, "shown by --all"));
}

static void refusals(void **state) {
    Tool *t = *state;
    tool_fails(t, 2,
               "tilec: error: there is no remark code 'dot-iee'; did you mean 'dot-ieee'? [usage]\n"
               "help: see tilec explain --help\n",
               "tilec explain k.tile --only dot-iee");
    tool_fails(t, 2,
               "tilec: error: --svg draws the layouts of tiles on GPUs: --target sm_80 [usage]\n"
               "help: see tilec explain --help\n",
               "tilec explain k.tile --target x86-64-v3 --set T=f32 --svg x.svg");
    tool_run(t, 2, "tilec explain k.tile --target sm_80 --set T=f32 --variant 7");
    says(t, " variants, counted from 0; there is no variant 7 [usage]\n");
    tool_run(t, 1, "tilec explain k.tile --target gfx94 --set T=f32");
    says(t, "there is no target 'gfx94'; did you mean 'gfx942'?");
    tool_run(t, 1, "tilec explain k.tile --target sm_80 --set T=f16 --svg none/x.svg");
    says(t, "cannot write 'none/x.svg'");
}

// ---- the table ----------------------------------------------------------------------------------

// Is there a blessed line that ends with the code, other than the one that says it is not given?
static void has_both(Str file, const char *slug) {
    char end[80], none[80];
    bool yes = false, no = false;
    snprintf(end, sizeof end, " [%s]", slug);
    snprintf(none, sizeof none, "//| no remark [%s]", slug);
    while (file.size) {
        Str line = str_cut(file, '\n', &file);
        bool negative = str_equal(line, str(none));
        no = no || negative;
        yes = yes || (!negative && str_starts(line, STR("//| ")) && str_ends(line, str(end)));
    }
    if (!yes || !no)
        fail_msg("reason '%s': %s", slug, yes ? "no test in which it is not given" : "no test");
}

static void every_reason_is_tested(void **state) {
    (void)state;
    Arena *arena = arena_create();
    int missed = 0;
    for (int i = 0; i < REASONS; i++) {
        const ReasonInfo *info = reason_info((Reason)i);
        missed += info->kind == REASON_MISSED;
        char *name = arena_text(arena, info->slug, strlen(info->slug));
        for (char *p = name; *p; p++)
            if (*p == '-') *p = '_';
        const char *path = arena_printf(arena, "tests/files/explain/%s.tile", name);
        Str text;
        OsError error;
        if (!os_read_file(arena, path, 1 << 20, &text, &error))
            fail_msg("%s: %s", path, error.text);
        has_both(text, info->slug);
    }
    assert_true(missed >= 25);
    arena_destroy(arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(text_of_a_gpu),
        TEST(text_of_variants),
        TEST(text_of_amd),
        TEST(data_of_amd),
        TEST(text_of_a_cpu),
        TEST(data),
        TEST(products_are_the_least),
        TEST(what_ptxas_measures),
        TEST(drawing),
        TEST(dearest_first),
        TEST(refusals),
        cmocka_unit_test(every_reason_is_tested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
