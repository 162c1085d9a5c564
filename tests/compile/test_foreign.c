// The examples as code of processors that this machine is not, within the bounds of the
// interpreter's shadow.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compile/report/compare.h"
#include "tests/support/any_launch.h"
#include "tests/support/foreign.h"
#include "tests/support/jitted.h"

typedef struct Example {
    const char *file, *kernel;
} Example;

#define EXAMPLE(file, kernel, ...) {"examples/" #file ".tile", #kernel},
static const Example examples[] = {
#include "tests/examples/examples.def"
};
#undef EXAMPLE
enum { EXAMPLES = sizeof examples / sizeof *examples, SEEDS = 400 };

// ---- one kernel ---------------------------------------------------------------------------------

static void bind_types(Unit *u, const FrontKernel *kernel, FrontSpec *spec, Dtype type) {
    static const struct {
        const char *name;
        Dtype fixed;
    } rows[] = {{"T", DTYPES}, {"A", DTYPE_F8E4M3}, {"B", DTYPE_F8E4M3}, {"C", DTYPE_BF16}};
    for (const FrontParam *p = kernel->params; p; p = p->next)
        for (int i = 0; i < 4; i++) {
            if (p->kind != FRONT_TYPE || !str_equal(str(p->name), str(rows[i].name))) continue;
            IrBinding b = {.name = p->name, .is_type = true, .type = rows[i].fixed};
            if (rows[i].fixed == DTYPES) b.type = type;
            vec_push(u->arena, &spec->bindings, b);
        }
}

static const Compiled *compiled_of(Unit *u, const Example *e, Dtype type) {
    const FrontKernel *kernel = unit_kernel(u, str(e->kernel));
    assert_non_null(kernel);
    FrontSpec spec = {0};
    bind_types(u, kernel, &spec, type);
    const CompileOptions options = {.elaborate_only = true};
    return unit_compile(u, kernel, &spec, &options);
}

static void grid_of(AnyLaunch *l, const IrFunc *f) {
    IrInterp *interp = ir_interp_create(l->arena, f);
    for (size_t i = 0; i < f->sections.count; i++) {
        uint64_t grid[3] = {1, 1, 1};
        if (f->sections.data[i].kind != IR_GRID) continue;
        const IrSection *s = &f->sections.data[i];
        uint32_t rank = s->block->last->operand_count;
        assert_true(ir_interp_section(interp, s, &l->launch, rank, grid));
        for (int d = 0; d < 3; d++) l->launch.grid[d] = (int64_t)grid[d];
    }
    ir_interp_destroy(interp);
}

static void compare_all(const Example *e, Dtype type, const Compare *c, const AnyLaunch *want,
                        const AnyLaunch *got, uint64_t *elements) {
    for (uint32_t i = 0; i < want->count; i++) {
        const AnyBuffer *w = &want->buffers[i], *g = &got->buffers[i];
        CompareReport report = {0};
        for (uint64_t k = 0; k < w->elements && w->data; k++)
            compare_element(c, w->elem, w->data, k, dtype_load(g->elem, g->data, k), &report);
        if (report.wrong)
            fail_msg("%s of %s: %llu elements of %s are wrong, [%llu] is %a, not %a within %a",
                     e->kernel, dtype_name(type), (unsigned long long)report.wrong, w->name,
                     (unsigned long long)report.worst_index, report.worst_value,
                     report.worst_expected, report.worst_bound);
        *elements += report.elements;
    }
}

// False where the made-up arguments are none that the kernel takes.
static bool run_example(const Example *e, Dtype type, CpuTarget target, uint64_t seed,
                        uint64_t *elements) {
    Unit *u = unit_load_file(e->file), *v = unit_load_file(e->file);
    const Compiled *plain = compiled_of(u, e, type), *coded = compiled_of(v, e, type);
    AnyLaunch *want = NULL, *got = NULL;
    if (plain && coded) want = any_launch(u->arena, plain->func, seed, ANY_EXACT);
    if (want) got = any_launch(v->arena, coded->func, seed, ANY_EXACT);
    bool fine = got && any_launch_allowed(want, plain->func);
    if (fine) {
        grid_of(want, plain->func);
        memcpy(got->launch.grid, want->launch.grid, sizeof got->launch.grid);
        const int64_t *grid = want->launch.grid;
        const CompareLaunch launch = {.args = want->args, .grid = {grid[0], grid[1], grid[2]}};
        Compare *c = compare_run(u->arena, plain, &launch, u->diags);
        const JittedOptions o = {.target = target};
        IrOutcome outcome = IR_RUN_DONE;
        StrBuf text = strbuf(v->arena);
        bool ran =
            c && jitted_run(coded->module, coded->func, &o, &got->launch, &outcome, v->diags);
        diags_text(v->diags, (DiagStyle){0}, &text);
        if (!ran || outcome != IR_RUN_DONE)
            fail_msg("%s of %s: ended with %d: %s", e->kernel, dtype_name(type), (int)outcome,
                     text.text ? text.text : "");
        compare_all(e, type, c, want, got, elements);
        compare_destroy(c);
    }
    unit_destroy(u), unit_destroy(v);
    return fine;
}

static void examples_agree(CpuTarget target) {
    static const Dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    char name[CPU_NAME_MAX];
    const char *why = jitted_possible() ? foreign_missing(target) : "libtilec_llvm was not built";
    if (why) {
        print_message("skipped: %s\n", why);
        skip();
    }
    uint32_t ran = 0;
    uint64_t elements = 0;
    for (int i = 0; i < EXAMPLES; i++)
        for (int t = 0; t < 3; t++) {
            bool fine = false;
            for (uint64_t seed = 1; seed <= SEEDS && !fine; seed++)
                fine = run_example(&examples[i], types[t], target, seed, &elements);
            ran += fine;
            if (!fine)
                print_message("left out: %s of %s: the made-up arguments do not fit\n",
                              examples[i].kernel, dtype_name(types[t]));
        }
    print_message("examples as code of %s: %u ran, %llu elements compared\n",
                  cpu_target_name(target, name), ran, (unsigned long long)elements);
    assert_true(ran > EXAMPLES);
}

static void test_aarch64(void **state) {
    (void)state;
    examples_agree((CpuTarget){CPU_AARCH64, 0});
}

static void test_v4(void **state) {
    (void)state;
    examples_agree((CpuTarget){CPU_X86_64_V4, 0});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_aarch64), cmocka_unit_test(test_v4)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
