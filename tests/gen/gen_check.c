// The properties that every random program must have, and shrinking one that fails.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// cmocka wants these first
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ir/edit.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"
#include "tests/gen/gen.h"
#include "tests/gen/gen_claims.h"
#include "tests/support/any_launch.h"
#include "tests/support/compiled.h"
#include "tests/support/dice.h"
#include "tests/support/jitted.h"
#include "tests/support/lowered.h"
#include "tests/support/simulated.h"

// A call of pow or random is a few hundred steps, a block in called loops runs 450 times.
enum { STEPS = 400000, ORDERS = 3, ORDER_LENGTH = 8, SHRINK_TRIES = 3000 };

// A module of its own in an arena of its own, so that a try leaves no memory allocated.
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

static Str said(const World *w) {
    StrBuf text = strbuf(w->arena);
    diags_text(w->diags, (DiagStyle){0}, &text);
    return strbuf_str(&text);
}

static Str print(const World *w, const IrModule *m) {
    StrBuf out = strbuf(w->arena);
    ir_print_module(m, &out);
    return strbuf_str(&out);
}

static IrModule *parse(const World *w, Str text) {
    const SourceFile *file = source_add(w->sources, STR("random.tir"), text);
    IrModule *m = ir_parse(w->arena, w->sources, w->names, file, w->diags);
    return m && ir_verify(m, w->diags) ? m : NULL;
}

static bool problem_is(Arena *arena, Str *problem, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool problem_is(Arena *arena, Str *problem, const char *format, ...) {
    StrBuf text = strbuf(arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    *problem = strbuf_str(&text);
    return false;
}

static IrFunc *kernel_of(const IrModule *m) {
    for (size_t i = 0; i < m->funcs.count; i++)
        if (m->funcs.data[i]->is_kernel) return m->funcs.data[i];
    return NULL;
}

// ---- one try ------------------------------------------------------------------------------------

// The kernel as it is: right, and fit for comparing. NULL with *problem set.
static AnyLaunch *run_plain(const World *w, Str text, uint64_t seed, Arena *arena, Str *problem) {
    IrModule *m = parse(w, text);
    const IrFunc *f = m ? kernel_of(m) : NULL;
    if (!f) {
        problem_is(arena, problem, "does not parse and verify:\n%.*s", STR_ARG(said(w)));
        return NULL;
    }
    any_launch_expand(m, w->diags);
    AnyLaunch *l = any_launch(w->arena, f, seed, ANY_SPECIAL);
    if (!l || !any_launch_allowed(l, f)) {
        problem_is(arena, problem, "no launch is allowed");
        return NULL;
    }
    IrOutcome outcome = any_launch_run(l, f, STEPS, w->diags);
    if (outcome == IR_RUN_DONE) return l;
    problem_is(arena, problem, "its run ends with outcome %d:\n%.*s", (int)outcome,
               STR_ARG(said(w)));
    return NULL;
}

static const char claims[] = "claims", code[] = "code", quick_code[] = "code, quickly made";

static CpuTarget some_cpu(uint64_t seed) {
    CpuTarget targets[4];
    return targets[seed / 7 % compiled_targets(targets)];
}

// As code of a target, with the facts of the launch or without.
static bool run_code(const World *w, Str text, uint64_t seed, JittedOptions options,
                     AnyLaunch *plain, Arena *arena, Str *problem) {
    char target[CPU_NAME_MAX];
    IrModule *m = parse(w, text);
    IrFunc *f = kernel_of(m);
    if (seed / 28 % 2) options.facts = lowered_facts(f, plain->args);
    cpu_target_name(options.target, target);
    AnyLaunch *l = any_launch(w->arena, f, seed, ANY_SPECIAL);
    any_launch_prints(l);
    IrOutcome outcome = IR_RUN_DONE;
    if (getenv("TILEC_TEST_TRACE")) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    if (!jitted_run(m, f, &options, &l->launch, &outcome, w->diags) || outcome != IR_RUN_DONE)
        return problem_is(arena, problem, "code for %s, facts %u, ends with outcome %d:\n%.*s",
                          target, options.facts, (int)outcome, STR_ARG(said(w)));
    Str difference = any_launch_difference(arena, plain, l, false);
    if (!difference.size) return true;
    return problem_is(arena, problem, "code for %s, facts %u, another result: %.*s\n%.*s", target,
                      options.facts, STR_ARG(difference), STR_ARG(print(w, m)));
}

// The same bits in any order of the lines: programs of a GPU print when they run.
static Str sorted(Arena *arena, Str text) {
    VEC(Str) lines = {0};
    while (text.size) {
        Str line = str_cut(text, '\n', &text);
        vec_push(arena, &lines, line);
        for (size_t i = lines.count - 1; i && str_compare(lines.data[i], lines.data[i - 1]) < 0;
             i--) {
            line = lines.data[i];
            lines.data[i] = lines.data[i - 1];
            lines.data[i - 1] = line;
        }
    }
    StrBuf all = strbuf(arena);
    for (size_t i = 0; i < lines.count; i++) strbuf_printf(&all, "%.*s\n", STR_ARG(lines.data[i]));
    return strbuf_str(&all);
}

static bool run_gpu(const World *w, Str text, uint64_t seed, const GenTarget *target,
                    AnyLaunch *plain, Arena *arena, Str *problem) {
    IrModule *m = parse(w, text);
    IrFunc *f = kernel_of(m);
    SimulatedOptions options = {.choice = seed / 7, .gpu = target->gpu};
    options.facts = lowered_facts(f, plain->args);
    AnyLaunch *l = any_launch(w->arena, f, seed, ANY_SPECIAL);
    any_launch_prints(l);
    IrOutcome outcome = IR_RUN_DONE;
    if (!simulated_run(m, f, &options, &l->launch, &outcome, w->diags) || outcome != IR_RUN_DONE)
        return problem_is(arena, problem, "code for %s ends with outcome %d:\n%.*s", target->name,
                          (int)outcome, STR_ARG(said(w)));
    AnyLaunch before = *plain;
    before.printed = strbuf(arena),
    strbuf_add(&before.printed, sorted(arena, strbuf_str(&plain->printed)));
    Str lines = sorted(arena, strbuf_str(&l->printed));
    l->printed = strbuf(arena), strbuf_add(&l->printed, lines);
    Str difference = any_launch_difference(arena, &before, l, false);
    if (!difference.size) return true;
    return problem_is(arena, problem, "code for %s, another result: %.*s\n%.*s", target->name,
                      STR_ARG(difference), STR_ARG(print(w, m)));
}

static const GenTarget *target_named(const char *name) {
    for (size_t i = 0; i < GEN_TARGETS; i++)
        if (gen_targets[i].kind != GEN_PASSES && !strcmp(gen_targets[i].name, name))
            return &gen_targets[i];
    return NULL;
}

// The same text after these passes (or with the claims of the analyses as asserts).
static bool run_passed(const World *w, Str text, uint64_t seed, const char *passes,
                       AnyLaunch *plain, Arena *arena, Str *problem) {
    if (passes == code || passes == quick_code) {
        JittedOptions options = {.quick = passes == quick_code, .target = some_cpu(seed)};
        return run_code(w, text, seed, options, plain, arena, problem);
    }
    const GenTarget *target = target_named(passes);
    if (target && target->kind == GEN_GPU)
        return run_gpu(w, text, seed, target, plain, arena, problem);
    if (target)
        return run_code(w, text, seed, (JittedOptions){.target = target->cpu}, plain, arena,
                        problem);
    IrModule *m = parse(w, text);
    size_t count = 0;
    bool fine = true;
    if (passes == claims) {
        for (size_t i = 0; i < m->funcs.count; i++) gen_claims(m->funcs.data[i]);
        fine = ir_verify(m, w->diags);
    } else {
        const PassStep *steps = passes_parse(w->arena, str(passes), &count, w->diags);
        bool gpu = strstr(passes, "gpu") != NULL;
        Machine machine = gpu ? lowered_gpu(seed) : lowered_machine(seed);
        PassOptions options = {.verify = true, .machine = &machine};
        options.facts = lowered_knows_facts(seed) ? lowered_facts(kernel_of(m), plain->args) : 0;
        if (gpu) kernel_of(m)->warps = (int)lowered_warps(seed);
        fine = passes_run(m, steps, count, &options, w->diags);
    }
    if (!fine) return problem_is(arena, problem, "a pass failed:\n%.*s", STR_ARG(said(w)));
    any_launch_expand(m, w->diags);
    const IrFunc *f = kernel_of(m);
    AnyLaunch *l = any_launch(w->arena, f, seed, ANY_SPECIAL);
    // Loops over elements take many more steps than tile ops.
    bool counts = passes != claims && f->level == IR_LEVEL_TILE;
    IrOutcome outcome = any_launch_run(l, f, counts ? 2 * STEPS : 0, w->diags);
    if (outcome != IR_RUN_DONE)
        return problem_is(arena, problem, "then its run ends with outcome %d:\n%.*s\n%.*s",
                          (int)outcome, STR_ARG(said(w)), STR_ARG(print(w, m)));
    Str difference = any_launch_difference(arena, plain, l, false);
    if (!difference.size) return true;
    return problem_is(arena, problem, "another result: %.*s\n%.*s", STR_ARG(difference),
                      STR_ARG(print(w, m)));
}

// ---- shrinking ----------------------------------------------------------------------------------

static bool is_result(Str problem) { return strstr(problem.text, "another result") != NULL; }

// In the same way: a kernel with another result does not become one with a race.
static bool still_fails(Str text, uint64_t seed, const char *passes, Arena *arena, Str *problem) {
    World w = world();
    Str now = {0};
    AnyLaunch *plain = run_plain(&w, text, seed, w.arena, &now);
    bool fails = plain && !run_passed(&w, text, seed, passes, plain, arena, &now) &&
                 is_result(now) == is_result(*problem);
    if (fails) *problem = now;
    arena_destroy(w.arena);
    return fails;
}

static IrOp *find_in(const IrBlock *block, uint32_t *at) {
    IR_EACH_OP(op, block) {
        if ((*at)-- == 0) return op;
        for (uint32_t i = 0; i < op->region_count; i++) {
            IrOp *found = find_in(op->regions[i], at);
            if (found) return found;
        }
    }
    return NULL;
}

static IrOp *find_op(const IrModule *m, uint32_t at) {
    for (size_t i = 0; i < m->funcs.count; i++) {
        const IrFunc *f = m->funcs.data[i];
        for (size_t k = 0; k < f->sections.count; k++) {
            IrOp *found = find_in(f->sections.data[k].block, &at);
            if (found) return found;
        }
    }
    return NULL;
}

// A number that is a pointer's: the interpreter trusts what it does not find in a buffer.
static bool is_address(const IrValue *v) {
    for (const IrUse *use = v->uses; use; use = use->next)
        if (use->user->code == IR_BITCAST && use->user->results[0].type->kind == IR_PTR)
            return true;
    return false;
}

bool gen_drop(IrOp *op) {
    if (ir_op_info(op->code)->effect == IR_EFFECT_END) return false;
    if (op->code == IR_CONST && ir_attr(op, IR_ATTR_VALUE)->u.bits == 0) return ir_unused(op);
    IrBuilder b = ir_builder_before(op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const IrValue *result = ir_result(op, i);
        if (result->uses && (result->type->kind != IR_TILE || is_address(result))) return false;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        IrValue *result = ir_result(op, i);
        if (result->uses) ir_replace_all(result, ir_const_bits(&b, result->type, 0));
    }
    return true;
}

static bool shrink_at(uint32_t at, Str *text, uint64_t seed, const char *passes, Arena *arena,
                      Str *problem, bool *end) {
    World w = world();
    IrModule *m = parse(&w, *text);
    IrOp *op = find_op(m, at);
    *end = !op;
    bool fails = false;
    if (op && gen_drop(op)) {
        ir_erase(op);
        Str smaller = print(&w, m);
        fails = still_fails(smaller, seed, passes, arena, problem);
        if (fails) *text = (Str){arena_text(arena, smaller.text, smaller.size), smaller.size};
    }
    arena_destroy(w.arena);
    return fails;
}

static Str shrink(Str text, uint64_t seed, const char *passes, Arena *arena, Str *problem) {
    int tries = 0;
    for (bool again = true; again && tries < SHRINK_TRIES;) {
        again = false;
        bool end = false;
        for (uint32_t at = 0; !end && tries < SHRINK_TRIES; tries++) {
            if (shrink_at(at, &text, seed, passes, arena, problem, &end))
                again = true;
            else
                at++;
        }
    }
    return text;
}

static bool failed(uint64_t seed, Str text, const char *passes, Arena *arena, Str *problem) {
    // Hardware reports no races, which a smaller kernel may have.
    if (passes && !getenv("TILEC_TEST_GPU")) text = shrink(text, seed, passes, arena, problem);
    Str what = *problem;
    return problem_is(arena, problem,
                      "seed %llu (tilec opt FILE.tir --passes=%s): %.*s\n"
                      "---- the kernel\n%.*s",
                      (unsigned long long)seed, passes ? passes : "none", STR_ARG(what),
                      STR_ARG(text));
}

// ---- everything ---------------------------------------------------------------------------------

static bool check_text(Str text, uint64_t seed, Arena *arena, Str *problem) {
    World w = world();
    IrModule *m = parse(&w, text);
    Str again = m ? print(&w, m) : STR("nothing");
    bool fine = str_equal(text, again) ||
                problem_is(arena, problem, "prints as something else:\n%.*s\n%.*s", STR_ARG(again),
                           STR_ARG(said(&w)));
    fine = fine && run_plain(&w, text, seed, arena, problem);
    arena_destroy(w.arena);
    return fine;
}

static bool check_passes(Str text, uint64_t seed, const char *passes, Arena *arena, Str *problem) {
    World w = world();
    AnyLaunch *plain = run_plain(&w, text, seed, arena, problem);
    bool fine = plain && run_passed(&w, text, seed, passes, plain, arena, problem);
    arena_destroy(w.arena);
    return fine || failed(seed, text, passes, arena, problem);
}

// Calls and random are gone before a kernel is lowered.
static const char *text_of(PassId pass) {
    return pass == PASS_CPU_LOWER_ASSERTS ? "inline,expand_math,cpu_lower_asserts"
           : pass == PASS_CPU_LOWER       ? "inline,expand_math,cpu_loops"
           : pass == PASS_GPU_LAYOUT      ? "inline,expand_math,gpu_layout"
                                          : pass_info(pass)->text;
}

// Passes that lower, of one kind of machine: no order has both kinds.
static bool is_for(PassId pass, bool gpu) {
    const char *other = gpu ? "cpu_" : "gpu_";
    return pass == PASS_LEGALIZE || strncmp(pass_info(pass)->text, other, 4) != 0;
}

static const char *some_order(Dice *dice, Arena *arena) {
    StrBuf list = strbuf(arena);
    bool gpu = dice_below(dice, 2) != 0;
    for (uint64_t n = dice_below(dice, ORDER_LENGTH) + 2; n > 0;) {
        PassId pass = (PassId)dice_below(dice, PASSES);
        if (!is_for(pass, gpu)) continue;
        n--;
        strbuf_printf(&list, "%s%s", list.size ? "," : "", text_of(pass));
    }
    return list.text;
}

static bool check_orders(Str text, uint64_t seed, Arena *arena, Str *problem) {
    Dice dice = dice_roll(seed ^ 0x5bd1e995u);
    if (!check_passes(text, seed, "tile", arena, problem)) return false;
    if (!check_passes(text, seed, claims, arena, problem)) return false;
    if (!check_passes(text, seed, "tile,cpu_loops", arena, problem)) return false;
    if (!check_passes(text, seed, "tile,cpu", arena, problem)) return false;
    if (!check_passes(text, seed, "tile,gpu", arena, problem)) return false;
    for (int i = 0; i < PASSES; i++)
        if (!check_passes(text, seed, text_of((PassId)i), arena, problem)) return false;
    for (int i = 0; i < ORDERS; i++)
        if (!check_passes(text, seed, some_order(&dice, arena), arena, problem)) return false;
    return true;
}

static Str text_of_seed(uint64_t seed, GenSize size, bool chain, Arena *arena) {
    World w = world();
    IrModule *m = ir_module_create(w.arena, w.sources, w.names);
    if (chain)
        gen_chain(m, seed);
    else
        gen_kernel(m, seed, size);
    Str text = print(&w, m);
    text = (Str){arena_text(arena, text.text, text.size), text.size};
    arena_destroy(w.arena);
    return text;
}

bool gen_check_code(uint64_t seed, GenCode how, Arena *arena, Str *problem) {
    Str text = text_of_seed(seed, how.size, how.chain, arena);
    const char *as = how.foreign ? how.foreign : how.quick ? quick_code : code;
    return check_passes(text, seed, as, arena, problem);
}

GenPlanted gen_check_planted(uint64_t seed, GenCode how, JittedPlant plant) {
    World w = world();
    Str problem, text = text_of_seed(seed, how.size, how.chain, w.arena);
    JittedOptions options = {
        .target = some_cpu(seed), .quick = how.quick, .plant = plant, .plant_at = seed};
    bool planted = false;
    options.planted = &planted;
    if (how.foreign) options.target = target_named(how.foreign)->cpu;
    AnyLaunch *plain = run_plain(&w, text, seed, w.arena, &problem);
    bool same = !plain || run_code(&w, text, seed, options, plain, w.arena, &problem);
    arena_destroy(w.arena);
    if (!planted) return GEN_NO_PLACE;
    return same ? GEN_MISSED : GEN_FOUND_OUT;
}

bool gen_check_text(Str text, uint64_t seed, const GenTarget *const *targets, size_t count,
                    Arena *arena, Str *problem) {
    for (size_t i = 0; i < count; i++)
        if (!check_passes(text, seed, targets[i]->name, arena, problem)) return false;
    return true;
}

bool gen_check_targets(uint64_t seed, const GenTarget *const *targets, size_t count, Arena *arena,
                       Str *problem) {
    // Three chains to one kernel of everything else.
    GenSize size = {.statements = (uint32_t)(seed / 4 % 3) * 6 + 4,
                    .depth = (uint32_t)(seed / 12 % 3) + 1,
                    .apart = true};
    Str text = text_of_seed(seed, size, seed % 4 != 0, arena);
    return gen_check_text(text, seed, targets, count, arena, problem);
}

bool gen_check(uint64_t seed, GenSize size, uint64_t counts[IR_OPCODES], Arena *arena,
               Str *problem) {
    World w = world();
    IrModule *m = ir_module_create(w.arena, w.sources, w.names);
    gen_kernel(m, seed, size);
    gen_count(m, counts);
    Str text = print(&w, m);
    bool fine = true;
    if (!ir_verify(m, w.diags))
        fine = problem_is(arena, problem, "does not verify:\n%.*s", STR_ARG(said(&w)));
    fine = fine && check_text(text, seed, arena, problem);
    if (!fine) failed(seed, text, NULL, arena, problem);
    fine = fine && check_orders(text, seed, arena, problem);
    arena_destroy(w.arena);
    return fine;
}
