// The manager runs passes over functions; it does the verifying, dumping and timing.
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/recover.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"
#include "passes/passes.h"

static const PassInfo infos[PASSES] = {
#define PASS(name, function, levels, what) \
    [PASS_##name] = {#function, LEVELS_##levels, what, pass_##function},
#include "passes/passes.def"
#undef PASS
};

const PassInfo *pass_info(PassId id) { return &infos[id]; }

bool pass_from_text(Str text, PassId *id) {
    for (int i = 0; i < PASSES; i++) {
        if (str_equal(text, str(infos[i].text))) {
            *id = (PassId)i;
            return true;
        }
    }
    return false;
}

typedef struct Manager {
    PassId pass;  // that runs, on this function
    const IrFunc *func;
    IrModule *module;
    const PassOptions *options;
    Diags *diags;
    Arena *scratch;
    Machine machine;
    PassAnalyses *analyses;
    const Recovery *region;  // that fails when the time is up; NULL: there is no limit
} Manager;

static bool wants_dump(const PassOptions *options, PassId pass) {
    if (!options->dump) return false;
    if (options->dump_all) return true;
    for (size_t i = 0; i < options->dump_after_count; i++) {
        if (options->dump_after[i] == pass) return true;
    }
    return false;
}

// The function of a defect goes into a note, so that a report of the defect has the code that
// reproduces it.
static bool verified(const Manager *m, PassId pass, const IrFunc *f) {
    size_t before = diags_count(m->diags);
    if (ir_verify_func(f, m->scratch, m->diags)) return true;
    StrBuf text = strbuf(m->scratch), first = strbuf(m->scratch);
    ir_print_func(f, &text);
    if (diags_count(m->diags) > before) strbuf_add(&first, diags_get(m->diags, before)->text);
    diag_error(m->diags, f->span, DIAG_PASS,
               "defect: '%s' left invalid IR in '%s': expected verified IR, found: %s",
               infos[pass].text, f->name, first.text);
    diag_note(m->diags, (Span){0}, "%s", text.text);
    diag_help(m->diags, "this is a defect of tilec itself; please report it with this text");
    return false;
}

// The kept analysis must equal a new one: otherwise a pass has changed something and not reported
// it.
static bool analyses_hold(const Manager *m, PassId pass, const IrFunc *f) {
    IrRanges *kept = pass_analyses_ranges(m->analyses, f);
    if (!kept || ir_ranges_same(kept, ir_ranges(m->scratch, f, IR_TRUST_CHECKED))) return true;
    diag_error(m->diags, f->span, DIAG_PASS,
               "defect: '%s' changed what is known of values in '%s', and did not say that it "
               "changed anything",
               infos[pass].text, f->name);
    diag_help(m->diags, "this is a defect of tilec itself; please report it with this text");
    return false;
}

static void count_ops(const IrBlock *block, uint32_t *count) {
    IR_EACH_OP(op, block) {
        ++*count;
        for (uint32_t i = 0; i < op->region_count; i++) count_ops(op->regions[i], count);
    }
}

static uint32_t ops_of(const IrFunc *f) {
    uint32_t count = 0;
    for (size_t i = 0; i < f->sections.count; i++) {
        count_ops(f->sections.data[i].block, &count);
    }
    return count;
}

// From level cpu_tile on, decisions about a function are valid only until it is lowered: no other
// pass may change it before that.
static bool runs_at(PassLevels levels, IrLevel level) {
    switch (level) {
    case IR_LEVEL_GPU: return levels == LEVELS_ALL;
    case IR_LEVEL_CPU_TILE:
    case IR_LEVEL_CPU_NEST: return levels == LEVELS_CPU;
    default: return true;
    }
}

static bool run_on_func(Manager *m, PassId pass, IrFunc *f, bool last, bool *changed) {
    m->pass = pass;
    m->func = f;
    if (!runs_at(infos[pass].levels, f->level)) return true;
    ArenaMark mark = arena_mark(m->scratch);
    size_t errors = diags_errors(m->diags);
    PassContext context = {.scratch = m->scratch,
                           .diags = m->diags,
                           .machine = &m->machine,
                           .facts = m->options->facts,
                           .mapped = m->options->mapped,
                           .remarks = m->options->remarks,
                           .analyses = m->analyses};
    if (m->region) recover_deadline(m->region, m->options->limit.end);
    bool did = infos[pass].run(f, &context);
    if (m->region) recover_deadline(m->region, 0);
    *changed |= did;
    if (did && !context.keeps_ranges) pass_analyses_drop(m->analyses, f);
    bool fine = diags_errors(m->diags) == errors;
    // A function that the pass has not changed was verified before. The last step is verified in
    // any case: a pass may have changed something and not said so.
    if (fine && m->options->verify)
        fine = (!(did || last) || verified(m, pass, f)) && analyses_hold(m, pass, f);
    if (wants_dump(m->options, pass)) m->options->dump(m->options->user, pass, f);
    arena_reset(m->scratch, mark);
    return fine;
}

bool pass_limit_holds(const PassLimit *limit, const IrFunc *f, const char *what, Diags *diags) {
    if (!limit->end || os_time_ns() < limit->end) return true;
    diag_error(diags, f->span, DIAG_LIMIT, "compiling '%s' took more than %u second%s (in %s)",
               f->name, limit->seconds, limit->seconds == 1 ? "" : "s", what);
    diag_help(diags,
              "shorter code takes less: loops that run (`for`) instead of `for const`, smaller "
              "tiles; or allow more: TILEC_COMPILE_SECONDS, --compile-seconds, compile_seconds");
    return false;
}

static bool in_time(const Manager *m) {
    char what[64];
    snprintf(what, sizeof what, "the pass '%s'", infos[m->pass].text);
    return pass_limit_holds(&m->options->limit, m->func, what, m->diags);
}

// Runs one pass over all functions. The time is that of the pass and of verifying, without counting
// ops.
static bool run_step(Manager *m, PassId pass, bool last) {
    bool changed = false, fine = true;
    uint64_t start = os_time_ns();
    for (size_t i = 0; i < m->module->funcs.count && fine; i++) {
        IrFunc *f = m->module->funcs.data[i];
        fine = run_on_func(m, pass, f, last, &changed) && in_time(m);
    }
    if (!m->options->timings) return fine;
    PassTiming timing = {.pass = pass, .ns = os_time_ns() - start, .changed = changed};
    for (size_t i = 0; i < m->module->funcs.count; i++) {
        timing.ops_after += ops_of(m->module->funcs.data[i]);
    }
    vec_push(m->module->arena, m->options->timings, timing);
    return fine;
}

static bool run_steps(Manager *m, const PassStep *steps, size_t count) {
    bool fine = true;
    m->scratch = arena_create();
    for (size_t i = 0; i < count && fine; i++) fine = run_step(m, steps[i].pass, i + 1 == count);
    arena_destroy(m->scratch);
    return fine;
}

// The caller's analyses are changed only when all has gone well.
static bool run_with_own_analyses(Manager *m, const PassStep *steps, size_t count) {
    PassAnalyses *own = pass_analyses_create();
    m->analyses = own;
    bool fine = run_steps(m, steps, count);
    if (m->options->analyses) pass_analyses_move(m->options->analyses, own);
    pass_analyses_destroy(own);
    return fine;
}

static bool run_to_deadline(Manager *m, const PassStep *steps, size_t count) {
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        if (!recover_timed_out()) os_out_of_memory();
        return in_time(m);
    }
    m->region = &r;
    bool fine = run_with_own_analyses(m, steps, count);
    m->region = NULL;
    recover_end(&r);
    return fine;
}

bool passes_run(IrModule *m, const PassStep *steps, size_t count, const PassOptions *options,
                Diags *diags) {
    static const PassOptions none = {0};
    Manager manager = {.module = m, .options = options ? options : &none, .diags = diags};
    manager.machine = manager.options->machine
                          ? *manager.options->machine
                          : machine_of_cpu((CpuTarget){.level = CPU_X86_64_V3});
    if (manager.options->limit.end) return run_to_deadline(&manager, steps, count);
    if (!manager.options->analyses) return run_with_own_analyses(&manager, steps, count);
    manager.analyses = manager.options->analyses;
    return run_steps(&manager, steps, count);
}

// ---- "a,b,c" ------------------------------------------------------------------------------------

enum { ALL_NAMES = (int)PASSES + (int)PIPELINES };

typedef VEC(PassStep) Steps;

static void report_unknown(Arena *arena, Str name, Diags *diags) {
    Str known[ALL_NAMES];
    StrBuf list = strbuf(arena);
    for (int i = 0; i < PASSES; i++) {
        known[i] = str(infos[i].text);
        strbuf_printf(&list, "%s%s", i ? ", " : "", infos[i].text);
    }
    for (int i = 0; i < PIPELINES; i++) {
        known[(int)PASSES + i] = str(pipeline_name((PipelineId)i));
        strbuf_printf(&list, ", %s", pipeline_name((PipelineId)i));
    }
    diag_error(diags, (Span){0}, DIAG_USAGE, "unknown pass '%.*s'; there are: %s", STR_ARG(name),
               list.text);
    Str nearest = str_nearest(name, known, ALL_NAMES);
    if (nearest.size) diag_help(diags, "did you mean '%.*s'?", STR_ARG(nearest));
}

static bool add_step(Arena *arena, Str name, Steps *steps, Diags *diags) {
    PassId pass;
    PipelineId pipeline;
    if (pass_from_text(name, &pass)) {
        PassStep step = {pass, "asked for by name"};
        vec_push(arena, steps, step);
        return true;
    }
    if (!pipeline_from_text(name, &pipeline)) {
        report_unknown(arena, name, diags);
        return false;
    }
    size_t count;
    const PassStep *more = pipeline_steps(pipeline, &count);
    for (size_t i = 0; i < count; i++) vec_push(arena, steps, more[i]);
    return true;
}

const PassStep *passes_parse(Arena *arena, Str list, size_t *count, Diags *diags) {
    Steps steps = {0};
    bool fine = true;
    for (Str rest = list; rest.size > 0;) {
        Str name = str_trim(str_cut(rest, ',', &rest));
        fine &= add_step(arena, name, &steps, diags);
    }
    *count = steps.count;
    if (!fine) return NULL;
    // No steps are a list as well: NULL is an error.
    return steps.data ? steps.data : arena_new(arena, PassStep, 1);
}
