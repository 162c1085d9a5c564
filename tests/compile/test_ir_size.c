// The lowered IR of a kernel does not grow with its tiles: at most 1.1 times from 256 to 1024.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "compile/compile.h"

typedef struct Example {
    const char *file, *kernel;
    const char *types[2], *consts[3];
} Example;

static const Example examples[] = {
    {"adam", NULL, {"T"}, {"B"}},
    {"attention", NULL, {"T"}, {"BM", "BN"}},
    {"axpy", NULL, {"T"}, {"B"}},
    {"batched_matmul", NULL, {"T"}, {"BM", "BN", "BK"}},
    {"cumsum", "row_cumsum", {"T"}, {"W"}},
    {"gelu", NULL, {"T"}, {"W"}},
    {"layernorm", NULL, {"T"}, {"W"}},
    {"matmul", "matmul", {"T"}, {"BM", "BN", "BK"}},
    {"matmul", "matmul_i8", {NULL}, {"BM", "BN", "BK"}},
    {"rmsnorm", NULL, {"T"}, {"W"}},
    {"softmax", "softmax", {NULL}, {"W"}},
    {"sort", "sort_rows", {"T"}, {"W"}},
    {"transpose", NULL, {"T"}, {"BM", "BN"}},
    {"vector_add", "add", {"T"}, {"B"}},
};

static void bind(Unit *u, const AstKernel *kernel, TileSpec *spec, const char *name, bool is_type,
                 int64_t value) {
    bool known = false;
    for (const AstDecl *p = kernel->params; p; p = p->next)
        known = known || str_equal(str(p->name), str(name));
    if (!known) return;
    IrBinding b = {.name = intern(u->names, str(name)), .is_type = is_type, .value = value};
    if (is_type) b.type = DTYPE_F32;
    vec_push(u->arena, &spec->bindings, b);
}

static uint32_t ops_in(const IrBlock *block) {
    uint32_t count = 0;
    IR_EACH_OP(op, block) {
        count++;
        for (uint32_t i = 0; i < op->region_count; i++) count += ops_in(op->regions[i]);
    }
    return count;
}

static uint32_t size_of(const Example *e, int64_t width) {
    char path[128];
    snprintf(path, sizeof path, "examples/%s.tile", e->file);
    Unit *u = unit_load_file(path);
    const AstKernel *kernel = unit_kernel(u, e->kernel ? str(e->kernel) : STR(""));
    assert_non_null(kernel);
    TileSpec spec = {0};
    for (int i = 0; i < 2 && e->types[i]; i++) bind(u, kernel, &spec, e->types[i], true, 0);
    for (int i = 0; i < 3 && e->consts[i]; i++) bind(u, kernel, &spec, e->consts[i], false, width);
    Machine machine = machine_of_cpu((CpuTarget){.level = CPU_X86_64_V4});
    CompileOptions options = {.passes = {.machine = &machine, .facts = FACT_DISJOINT}};
    options.steps = passes_parse(u->arena, STR("tile,cpu"), &options.step_count, u->diags);
    const Compiled *c = unit_compile(u, kernel, &spec, &options);
    if (!c) {
        StrBuf text = strbuf(u->arena);
        diags_text(u->diags, (DiagStyle){0}, &text);
        fail_msg("%s does not compile: %s", e->file, text.text);
    }
    uint32_t count = ops_in(ir_body(c->func));
    unit_destroy(u);
    return count;
}

enum { SMALL = 256, LARGE = 1024 };

static void tiles_cost_no_code(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        // A row of one vector, or of few, is even less code.
        uint32_t small = size_of(&examples[i], SMALL), large = size_of(&examples[i], LARGE);
        if ((double)large > 1.1 * (double)small)
            fail_msg("%s: %u ops with tiles of %d, %u with tiles of %d", examples[i].file, small,
                     SMALL, large, LARGE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_cost_no_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
