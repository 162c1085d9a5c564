// The code of a kernel does not grow with its tiles: at most 1.1 times from 64 to 512, counted in
// ops of lowered IR and in instructions of LLVM as it is handed to LLVM.
//
// Where the machine has masks, 64 numbers of a row stay in registers: there are no loops, and less
// code than any longer row has. A limit taken from the code at 64 would demand loops that bring
// nothing. So these kernels are named, and compared from 256 to 1024, where all have loops; and
// none of their widths from 64 on has more code than 512 has.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "compile/pipeline/compile.h"
#include "tests/support/codegen_plugin.h"

typedef struct Example {
    const char *file, *kernel;
    bool typed;     // takes T
    bool straight;  // 64 numbers are computed without loops
    const char *consts[4];
} Example;

static const Example examples[] = {
#define GROWTH(file, kernel, typed, straight, ...) {#file, kernel, typed, straight, {__VA_ARGS__}},
#include "tests/support/growth.def"
#undef GROWTH
};

static void bind(Unit *u, const FrontKernel *kernel, FrontSpec *spec, const char *name,
                 bool is_type, int64_t value) {
    bool known = false;
    for (const FrontParam *p = kernel->params; p; p = p->next)
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

typedef struct Size {
    uint32_t ops, instructions;
} Size;

// Each line of a body that is indented and no comment. 0 where LLVM is not at hand.
static uint32_t instructions_in(Arena *arena, const IrFunc *func, CpuLevel level, Diags *diags) {
#ifdef TEST_CODEGEN
    CodegenOptions o = {
        .target.cpu = {.level = level}, .output = CODEGEN_LLVM, .entry = STR("entry")};
    Str text;
    assert_true(codegen_plugin()->compile(arena, func, &o, &text, diags));
    uint32_t count = 0;
    bool within = false;
    while (text.size) {
        Str line = str_cut(text, '\n', &text);
        if (str_starts(line, STR("define"))) within = true;
        if (str_starts(line, STR("}"))) within = false;
        count += within && str_starts(line, STR("  ")) && !str_starts(line, STR("  ;"));
    }
    return count;
#else
    (void)arena, (void)func, (void)level, (void)diags;
    return 0;
#endif
}

static Size size_of(const Example *e, CpuLevel level, int64_t width) {
    char path[128];
    snprintf(path, sizeof path, "examples/%s.tile", e->file);
    Unit *u = unit_load_file(path);
    const FrontKernel *kernel = unit_kernel(u, e->kernel ? str(e->kernel) : STR(""));
    assert_non_null(kernel);
    FrontSpec spec = {0};
    if (e->typed) bind(u, kernel, &spec, "T", true, 0);
    for (int i = 0; i < 4 && e->consts[i]; i++) bind(u, kernel, &spec, e->consts[i], false, width);
    Machine machine = machine_of_cpu((CpuTarget){.level = level});
    CompileOptions options = {.passes = {.machine = &machine, .facts = FACT_DISJOINT}};
    options.steps = passes_parse(u->arena, STR("tile,cpu"), &options.step_count, u->diags);
    const Compiled *c = unit_compile(u, kernel, &spec, &options);
    if (!c) {
        StrBuf text = strbuf(u->arena);
        diags_text(u->diags, (DiagStyle){0}, &text);
        fail_msg("%s does not compile: %s", e->file, text.text);
    }
    Size size = {ops_in(ir_body(c->func)), instructions_in(u->arena, c->func, level, u->diags)};
    unit_destroy(u);
    return size;
}

static bool is_more(Size large, Size small) {
    return (double)large.ops > 1.1 * (double)small.ops ||
           (double)large.instructions > 1.1 * (double)small.instructions;
}

static bool grows(const Example *e, CpuLevel level, int64_t from, int64_t to) {
    Size small = size_of(e, level, from), large = size_of(e, level, to);
    bool more = is_more(large, small);
    if (more)
        print_message("%s: %u ops, %u instructions with tiles of %d; %u, %u with tiles of %d\n",
                      e->file, small.ops, small.instructions, (int)from, large.ops,
                      large.instructions, (int)to);
    return more;
}

enum { EXAMPLES = sizeof examples / sizeof *examples };

static void tiles_cost_no_code(void **state) {
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        assert_false(grows(&examples[i], CPU_X86_64_V2, 64, 512));
        assert_false(grows(&examples[i], CPU_X86_64_V3, 64, 512));
        if (!examples[i].straight) assert_false(grows(&examples[i], CPU_X86_64_V4, 64, 512));
    }
}

// The exception is one for less code only, and the comparison does see what grows.
static void only_rows_in_registers_are_less(void **state) {
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        if (!examples[i].straight) continue;
        assert_true(grows(&examples[i], CPU_X86_64_V4, 64, 512));
        assert_false(grows(&examples[i], CPU_X86_64_V4, 256, 1024));
        for (int64_t width = 64; width <= 1024; width *= 2)
            assert_false(grows(&examples[i], CPU_X86_64_V4, 512, width));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_cost_no_code),
        cmocka_unit_test(only_rows_in_registers_are_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
