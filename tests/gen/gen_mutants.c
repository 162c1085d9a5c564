// Mutants of kernels through all back ends, and mutants of the code that these make.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/pipeline/compile.h"
#include "frontend/tile/tile.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"
#include "sim/amd/amd.h"
#include "sim/ptx/ptx.h"
#include "tests/gen/gen.h"
#include "tests/gen/gen_mutate.h"
#include "tests/gen/gen_mutate_code.h"
#include "tests/gen/gen_source.h"
#include "tests/support/any_launch.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/dice.h"
#include "tests/support/lowered.h"
#include "tests/support/sim_fuzz.h"
#include "tests/support/simulated.h"
#include "tests/support/tir.h"

enum { STEPS = 20000, CHANGES_MAX = 16, CODES = 12, CODE_CHANGES_MAX = 4, SHARED = 4096 };

typedef struct World {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
} World;

static World world(void) {
    World w = {.arena = arena_create()};
    w.sources = sources_create(w.arena);
    w.names = interner_create(w.arena);
    w.diags = diags_create(w.arena, w.sources);
    return w;
}

static bool problem_is(const World *w, Arena *arena, Str *problem, uint64_t seed, const char *what,
                       Str more) {
    StrBuf text = strbuf(arena);
    strbuf_printf(&text, "seed %llu: %s\n", (unsigned long long)seed, what);
    diags_text(w->diags, (DiagStyle){0}, &text);
    strbuf_printf(&text, "----\n%.*s\n", STR_ARG(more));
    *problem = strbuf_str(&text);
    return false;
}

static IrModule *parse(const World *w, Str text) {
    const SourceFile *file = source_add(w->sources, STR("mutant.tir"), text);
    IrModule *m = ir_parse(w->arena, w->sources, w->names, file, w->diags);
    return m && ir_verify(m, w->diags) ? m : NULL;
}

static IrFunc *kernel_of(const IrModule *m) {
    for (size_t i = 0; i < m->funcs.count; i++)
        if (m->funcs.data[i]->is_kernel) return m->funcs.data[i];
    return NULL;
}

static void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void trace(const char *format, ...) {
    if (!getenv("TILEC_TEST_TRACE")) return;
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

// ---- what is mutated ----------------------------------------------------------------------------

static void from_source(const World *w, IrModule *m, uint64_t seed) {
    Str text = gen_source(w->arena, seed);
    const SourceFile *source = source_add(w->sources, STR("random.tile"), text);
    TileFile *file = tile_load(w->arena, w->sources, w->names, source, NULL, NULL, w->diags);
    if (tile_check(file, w->diags))
        tile_elaborate(file, m, tile_kernel(file, 0), &(FrontSpec){0}, w->diags);
}

// A kernel of the examples, of small tiles: with matrix products, shared memory, loops of loads.
static IrModule *from_example(const World *w, uint64_t seed) {
    static const char *const names[] = {"attention", "conv2d",  "cumsum",   "fp8_matmul",
                                        "groupnorm", "matmul",  "quantize", "reduce",
                                        "sort",      "softmax", "swiglu",   "transpose"};
    static const Dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    Dice dice = dice_roll(seed);
    const char *name = names[dice_below(&dice, sizeof names / sizeof *names)];
    const char *path = arena_printf(w->arena, "examples/%s.tile", name);
    Str text = str(tir_read(w->arena, path));
    const SourceFile *source = source_add(w->sources, str(path), text);
    TileFile *file = tile_load(w->arena, w->sources, w->names, source, NULL, NULL, w->diags);
    if (diags_errors(w->diags) || !tile_kernel_count(file)) return NULL;
    const AstKernel *kernel = tile_kernel(file, dice_below(&dice, tile_kernel_count(file)));
    FrontSpec spec = {.math = 0};
    for (const AstDecl *d = kernel->params; d; d = d->next) {
        IrBinding b = {.name = d->name, .is_type = d->kind == DECL_TYPE_PARAM};
        b.type = types[dice_below(&dice, 3)];
        b.value = (int64_t)16 << dice_below(&dice, 2);
        bool tile = d->kind == DECL_CONST_PARAM && (d->name[0] == 'B' || d->name[0] == 'W');
        if (b.is_type || tile) vec_push(w->arena, &spec.bindings, b);
    }
    IrModule *m = ir_module_create(w->arena, w->sources, w->names);
    return tile_elaborate(file, m, kernel, &spec, w->diags) ? m : NULL;
}

// A chain, a kernel of everything, one of the language, one of the examples.
static Str some_kernel(const World *w, uint64_t seed, Arena *arena) {
    IrModule *m = seed / 12 % 5 == 0 ? from_example(w, seed) : NULL;
    GenSize size = {.statements = (uint32_t)(seed / 4 % 3) * 6 + 4, .depth = 2};
    bool example = m != NULL;
    if (!m) m = ir_module_create(w->arena, w->sources, w->names);
    if (example)
        trace("an example");
    else if (seed % 4 == 0)
        from_source(w, m, seed);
    else if (seed % 4 == 1)
        gen_chain(m, seed);
    else
        gen_kernel(m, seed, size);
    StrBuf text = strbuf(arena);
    ir_print_module(m, &text);
    return strbuf_str(&text);
}

// ---- IR -----------------------------------------------------------------------------------------

// Refused for a reason that a user could read, or not at all.
static bool is_defect(const Diags *diags) {
    for (size_t i = 0; i < diags_count(diags); i++) {
        const Diag *d = diags_get(diags, i);
        if (d->code == DIAG_DEFECT || d->code == DIAG_IR_INVALID) return true;
    }
    return false;
}

static bool lower_cpu(IrModule *m, CpuTarget target, unsigned facts, Diags *diags) {
    Machine machine = machine_of_cpu(target);
    PassOptions options = {.machine = &machine, .facts = facts, .verify = true};
    size_t tile_count, cpu_count;
    const PassStep *tile = pipeline_steps(PIPELINE_TILE, &tile_count);
    const PassStep *cpu = pipeline_steps(PIPELINE_CPU, &cpu_count);
    return passes_run(m, tile, tile_count, &options, diags) &&
           passes_run(m, cpu, cpu_count, &options, diags);
}

// False where it is refused.
static bool to_code(const World *w, IrModule *m, CodeTarget target, uint64_t choice, Str *code) {
    IrFunc *f = kernel_of(m);
    unsigned facts = (unsigned)(choice / 5 % 16);
    bool gpu = code_target_is_gpu(target);
    bool fine = gpu ? lowered_to_threads_of(m, target.gpu, choice, facts, w->diags)
                    : lower_cpu(m, target.cpu, facts, w->diags);
    if (!fine) return false;
    CodeNotes notes = code_notes_of(w->arena, f, false);
    (void)notes;
    CodegenOptions o = {.target = target,
                        .output = gpu ? code_output(target) : CODEGEN_OBJECT,
                        .entry = STR("kernel_entry"),
                        .lines = choice % 3 == 0};
    return codegen_plugin()->compile(w->arena, f, &o, code, w->diags);
}

static CodeTarget some_target(unsigned kind, Dice *dice) {
    static const char *const names[3][8] = {
        {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+amx-bf16", "aarch64", "x86-64-v4+bf16",
         "x86-64-v3", "aarch64"},
        {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"},
        {"gfx906", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1151", "gfx1201"}};
    CodeTarget target;
    if (!code_target_parse(str(names[kind][dice_below(dice, 8)]), &target)) abort();
    return target;
}

static bool compiles(Str text, uint64_t seed, unsigned kind, Arena *arena, Str *problem) {
    World w = world();
    Dice dice = dice_roll(seed ^ (kind + 1) * 0x9e3779b9u);
    CodeTarget target = some_target(kind, &dice);
    IrModule *m = parse(&w, text);
    Str code = {0};
    char name[CODE_TARGET_NAME_MAX];
    bool fine = to_code(&w, m, target, dice_next(&dice) >> 8, &code);
    bool silent = !fine && !diags_errors(w.diags);
    trace("%s: %s", code_target_name(target, name), fine ? "code" : "refused");
    bool good = !silent && !is_defect(w.diags);
    if (!good) {
        const char *what = arena_printf(w.arena, "for %s", code_target_name(target, name));
        problem_is(&w, arena, problem, seed, what, text);
    }
    arena_destroy(w.arena);
    return good;
}

// ---- the same on the warp machine ---------------------------------------------------------------

// Programs and lanes that a mutation made share an element come in any order. All orders leave the
// same element if the op adds integers, but what each finds there differs.
static bool atomic_is_fit(const IrOp *op) {
    int64_t rmw = ir_attr_int(op, IR_ATTR_RMW);
    return (rmw == IR_RMW_ADD || rmw == IR_RMW_SUB) && !ir_result(op, 0)->uses;
}

// Does it have one answer? Sums of floats depend on their order, and the bits of NaNs are not
// defined.
static bool op_is_fit(const IrOp *op) {
    bool floats = false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *v = ir_operand(op, i);
        floats = floats || (v && dtype_is(v->type->elem, DTYPE_CLASS_ANYFLOAT));
    }
    switch (ir_op_info(op->code)->rule) {
    case IR_RULE_REDUCE:
    case IR_RULE_SCAN: {
        int64_t kind = ir_attr_int(op, IR_ATTR_REDUCE);
        return !floats ||
               (kind != IR_REDUCE_SUM && kind != IR_REDUCE_PROD && kind != IR_REDUCE_CUSTOM);
    }
    case IR_RULE_BITCAST:
    case IR_RULE_DOT: return !floats;
    case IR_RULE_ATOMIC:
    case IR_RULE_VIEW_ATOMIC: return !floats && atomic_is_fit(op);
    case IR_RULE_ATOMIC_CAS:
    case IR_RULE_VIEW_CAS: return false;
    default: return op->code != IR_ASSUME;
    }
}

static bool block_is_fit(const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (!op_is_fit(op)) return false;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (!block_is_fit(op->regions[i])) return false;
    }
    return true;
}

static bool is_fit(const IrModule *m) {
    for (size_t i = 0; i < m->funcs.count; i++) {
        const IrFunc *f = m->funcs.data[i];
        if (f->math) return false;
        for (size_t k = 0; k < f->sections.count; k++)
            if (!block_is_fit(f->sections.data[k].block)) return false;
    }
    return true;
}

static bool run_watched(const World *w, Str text, uint64_t seed, const AnyLaunch *plain,
                        Arena *arena, Str *problem) {
    IrModule *m = parse(w, text);
    IrFunc *f = kernel_of(m);
    bool fit = is_fit(m);
    AnyLaunch *l = any_launch(w->arena, f, seed, ANY_SPECIAL);
    SimulatedOptions options = {.choice = seed / 7, .facts = lowered_facts(f, l->args)};
    IrOutcome outcome;
    // Its message does not matter: races between lanes, say, which the interpreter does not look
    // for.
    bool done = simulated_run(m, f, &options, &l->launch, &outcome, w->diags);
    trace("runs: %s%s", done ? "to its end" : "is stopped", fit ? ", fit" : "");
    if (!done || !fit || outcome != IR_RUN_DONE) return true;
    AnyLaunch before = *plain;
    before.printed = l->printed;
    Str difference = any_launch_difference(w->arena, &before, l, false);
    return !difference.size || problem_is(w, arena, problem, seed, difference.text, text);
}

static bool run(Str text, uint64_t seed, Arena *arena, Str *problem) {
    World w = world();
    IrModule *m = parse(&w, text);
    any_launch_expand(m, w.diags);
    IrFunc *f = kernel_of(m);
    AnyLaunch *plain = any_launch(w.arena, f, seed, ANY_SPECIAL);
    bool ran = plain && any_launch_allowed(plain, f) &&
               any_launch_run(plain, f, STEPS, w.diags) == IR_RUN_DONE;
    bool good = !ran || run_watched(&w, text, seed, plain, arena, problem);
    arena_destroy(w.arena);
    return good;
}

bool gen_check_mutants(uint64_t seed, Arena *arena, Str *problem) {
    World w = world();
    Dice dice = dice_roll(seed);
    Str text = some_kernel(&w, seed, w.arena);
    uint64_t changes = dice_below(&dice, CHANGES_MAX) + 1;
    for (uint64_t tries = 0; changes && tries < 3 * CHANGES_MAX; tries++)
        changes -= gen_mutate(w.arena, text, &dice, &text);
    trace("%.*s\n%llu changes are left", STR_ARG(text), (unsigned long long)changes);
    bool fine = true;
    for (unsigned kind = 0; fine && kind < 3; kind++)
        fine = compiles(text, seed, kind, arena, problem);
    fine = fine && run(text, seed, arena, problem);
    arena_destroy(w.arena);
    return fine;
}

// ---- code ---------------------------------------------------------------------------------------

static const SimProgram *read_code(const World *w, GpuTarget gpu, Str code) {
    if (gpu.vendor == GPU_AMD)
        return amd_read(w->arena, code, (GpuDisassembler){codegen_plugin()->amd_disassemble, NULL},
                        w->diags);
    const SourceFile *file = source_add(w->sources, STR("mutant.ptx"), code);
    return file ? ptx_read(w->arena, file, w->diags) : NULL;
}

// Its end is a word, or a result.
static bool runs(GpuTarget gpu, Str code, uint64_t seed, Arena *arena, Str *problem) {
    World w = world();
    const SimProgram *p = read_code(&w, gpu, code);
    bool good = p || diags_errors(w.diags);
    if (!good) problem_is(&w, arena, problem, seed, "refused, and nothing was said", (Str){0});
    SimFuzz how = {.device = {gpu.vendor, p ? p->arch : 0, p && p->arch_a, false},
                   .base = gpu.vendor == GPU_AMD ? SIM_AMD_BASE : 0,
                   .threads = 64,
                   .shared = SHARED,
                   .registers_max = 1 << 14};
    trace("%s", p ? "is read" : "is refused");
    if (p) sim_fuzz(w.arena, p, &how);
    arena_destroy(w.arena);
    return good;
}

bool gen_check_code_mutants(uint64_t seed, Arena *arena, Str *problem) {
    World w = world();
    Dice dice = dice_roll(seed);
    static const char *const names[] = {"sm_75",  "sm_80",   "sm_90",   "gfx90a",
                                        "gfx942", "gfx1030", "gfx1100", "gfx1201"};
    CodeTarget target;
    if (!code_target_parse(str(names[dice_below(&dice, 8)]), &target)) abort();
    Str text = some_kernel(&w, seed, w.arena), code;
    IrModule *m = parse(&w, text);
    bool fine = true;
    if (m && to_code(&w, m, target, dice_next(&dice) >> 8, &code)) {
        for (int i = 0; fine && i < CODES; i++) {
            Str mutant = code;
            for (uint64_t n = dice_below(&dice, CODE_CHANGES_MAX) + 1; n > 0; n--)
                mutant = target.gpu.vendor == GPU_AMD ? gen_mutate_object(w.arena, mutant, &dice)
                                                      : gen_mutate_ptx(w.arena, mutant, &dice);
            fine = runs(target.gpu, mutant, seed, arena, problem);
        }
    }
    arena_destroy(w.arena);
    return fine;
}
