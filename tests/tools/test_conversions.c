// How many conversions between layouts the examples are left with, outside of loops and inside; and
// what `tilec run` counts of a launch.
#include <setjmp.h>  // cmocka.h needs these four
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
//
#include <cmocka.h>
#include <string.h>

#include "tests/support/tool.h"

typedef struct Example {
    const char *file, *kernel, *types;
} Example;

static const Example examples[] = {
#define EXAMPLE(file, kernel, dims, work, ...) {#file, #kernel, #__VA_ARGS__},
#include "tests/examples/examples.def"
#undef EXAMPLE
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

// Those that have any; of the example's first type, on sm_80.
static const struct {
    const char *kernel;
    int outside, inside;
} rows[] = {
    {"matmul", 1, 0},  // from the matrix unit to stores of 16 bytes
    {"batched_matmul", 1, 0}, {"linear_relu", 1, 0}, {"fp8_matmul", 1, 0},
    {"fp8_linear", 1, 0},     {"attention", 2, 0},    // and the queries to the matrix unit
    {"transposed", 1, 0},     {"scatter_add", 1, 0},  // an index tile
    {"conv2d", 2, 0},                                 // the sum, and an index tile
    {"grouped_matmul", 0, 2},  // the sum, and the rows of a group: in the loop over groups of rows
};

static void lower(Tool *t, const Example *e) {
    char type[16];
    size_t size = strcspn(e->types, ",");
    assert_true(size < sizeof type);
    for (size_t i = 0; i <= size; i++)
        type[i] = (char)(i < size && e->types[i] >= 'A' && e->types[i] <= 'Z' ? e->types[i] + 32
                         : i < size                                           ? e->types[i]
                                                                              : 0);
    // Some kernels have no type parameter, one has three.
    const char *own = arena_printf(t->arena, "--set T=%s", type);
    if (strncmp(e->kernel, "fp8_", 4) == 0)
        own = arena_printf(t->arena, "--set A=%s --set B=%s --set C=f16", type, type);
    tool_run(t, 0,
             "grep -q 'kernel %s(.*type' $S/examples/%s.tile && own='%s'; tilec emit "
             "$S/examples/%s.tile %s $own --target sm_80 --as thread-ir --dump-after gpu_fences -o "
             "out.tir",
             e->kernel, e->file, own, e->file, e->kernel);
}

// Ops of the body stand four blanks in.
static void count(Str dump, int *outside, int *inside) {
    *outside = *inside = 0;
    for (Str line, rest = dump; rest.size;) {
        line = str_cut(rest, '\n', &rest);
        size_t blanks = 0;
        while (blanks < line.size && line.text[blanks] == ' ') blanks++;
        for (size_t i = blanks; i + 11 <= line.size; i++)
            if (memcmp(line.text + i, "gpu.convert", 11) == 0) ++*(blanks > 4 ? inside : outside);
    }
}

static void conversions(void **state) {
    (void)state;
    bool good = true;
    for (size_t i = 0; i < EXAMPLES; i++) {
        Tool *t = tool_open();
        int outside, inside, expected[2] = {0};
        lower(t, &examples[i]);
        count(t->last.errors, &outside, &inside);
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            if (strcmp(rows[k].kernel, examples[i].kernel) != 0) continue;
            expected[0] = rows[k].outside;
            expected[1] = rows[k].inside;
        }
        if (outside != expected[0] || inside != expected[1]) {
            print_error(
                "%s: expected %d conversions outside of loops and %d inside, found %d, %d\n",
                examples[i].kernel, expected[0], expected[1], outside, inside);
            good = false;
        }
        tool_close(t);
    }
    assert_true(good);
}

// The counts of the warp machine come with the answer: 32 by 32 elements there and back.
static void counts(void **state) {
    (void)state;
#ifdef TEST_CODEGEN
    Tool *t = tool_open();
    const JsonValue *j = tool_json(t, 0,
                                   "tilec run $S/examples/transpose.tile --set T=f32 --set M=32 "
                                   "--set N=32 --device sim:sm_80 --json");
    tool_number_at(j, "counts.accesses", 16);
    tool_number_at(j, "counts.bytes", 8192);
    tool_number_at(j, "counts.sectors", 256);
    tool_number_at(j, "counts.leastSectors", 256);
    tool_run(t, 0,
             "tilec run $S/examples/transpose.tile --set T=f32 --set M=32 --set N=32 "
             "--device sim:sm_80 --stats");
    assert_true(tool_output_has(t, "  sectors                    256\n"));
    tool_fails(t, 2, "--stats is for simulated devices, but 'interp' is not simulated",
               "tilec run $S/examples/transpose.tile --set T=f32 --set M=32 --set N=32 "
               "--device interp --stats");
    tool_close(t);
#else
    print_message(
        "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conversions), cmocka_unit_test(counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
