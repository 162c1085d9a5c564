// The pipeline, step by step: load, elaborate, tile passes, metadata, lower, generate.
#include "compile/pipeline/compile.h"

#include "base/status.h"
#include "compile/pipeline/choose_maps.h"
#include "compile/pipeline/launch_build.h"
#include "compile/pipeline/launch_guard.h"
#include "ir/verify/verify.h"

// ---- Load: a source becomes kernels whose names are bound

static Unit *load(Unit *u, const SourceFile *file) {
    FrontInput in = {.arena = u->arena,
                     .sources = u->sources,
                     .names = u->names,
                     .import = unit_import,
                     .user = u,
                     .any_name = u->is_text};
    if (file) u->file = frontend_load(&in, file, u->diags);
    // A file with errors is not compiled: all its errors are reported at once.
    if (u->file && diags_errors(u->diags)) {
        frontend_check(u->file, u->diags);
        diags_sort(u->diags);
    }
    return u;
}

Unit *unit_load_file(const char *path) {
    Unit *u = unit_create();
    return load(u, unit_file(u, str(path), (Span){0}, u->diags));
}

Unit *unit_load_text(Str name, Str text) {
    Unit *u = unit_create();
    u->is_text = true;
    const SourceFile *file = source_add(u->sources, name, text);
    if (!file)
        diag_error(u->diags, (Span){0}, DIAG_TOO_LARGE, "'%.*s' is larger than %d MiB",
                   STR_ARG(name), SOURCE_MAX >> 20);
    return load(u, file);
}

Unit *unit_load_again(const Unit *unit) {
    Unit *u = unit_create();
    const SourceFile *first = sources_count(unit->sources) ? sources_get(unit->sources, 0) : NULL;
    u->given = unit->sources;
    u->is_text = unit->is_text;
    return load(u, first ? unit_file(u, first->path, (Span){0}, u->diags) : NULL);
}

// ---- Elaborate, tile passes, metadata: a kernel and what it is specialised to become a Compiled

CompileVariants compile_variants_of(CodeTarget target) {
    if (!code_target_is_gpu(target)) return VARIANTS_CPU;
    if (target.gpu.vendor == GPU_AMD) return VARIANTS_BUFFERS;
    return code_target_machine(target).wgmma ? VARIANTS_MAPS : VARIANTS_GPU;
}

static void add_variants(Arena *arena, const Compiled *c, CompileVariants variants, Str target) {
    GpuTarget gpu;
    LaunchGpuFacts facts = {.buffers = variants == VARIANTS_BUFFERS};
    switch (variants) {
    case VARIANTS_NONE: return;
    case VARIANTS_CPU: launch_add_variants(arena, c->meta); return;
    case VARIANTS_MAPS:
        facts.mapped = choose_mapped_views(c->func, c->meta);
        facts.persistent = facts.mapped && gpu_target_parse(target, &gpu) &&
                           choose_persistent(c->func, chip_of(gpu));
        break;
    case VARIANTS_GPU:
    case VARIANTS_BUFFERS: break;
    }
    launch_add_gpu_variants(arena, c->meta, facts);
}

const Compiled *unit_compile(Unit *unit, const FrontKernel *kernel, const FrontSpec *spec,
                             const CompileOptions *options) {
    static const CompileOptions defaults = {0};
    if (!options) options = &defaults;
    Compiled *c = arena_new(unit->arena, Compiled, 1);
    // Elaborate: tile IR of this specialisation.
    c->module = ir_module_create(unit->arena, unit->sources, unit->names);
    c->func = frontend_elaborate(unit->file, c->module, kernel, spec, unit->diags);
    if (!c->func) return NULL;
    if (!ir_verify(c->module, unit->diags)) return NULL;
    if (!pass_limit_holds(&unit->limit, c->func, "the front end", unit->diags)) return NULL;
    // Tile passes.
    if (!options->elaborate_only) {
        size_t count = options->step_count;
        const PassStep *steps =
            options->steps ? options->steps : pipeline_steps(PIPELINE_TILE, &count);
        PassOptions passes = options->passes;
        passes.limit = unit->limit;
        if (!passes_run(c->module, steps, count, &passes, unit->diags)) return NULL;
    }
    // Metadata: all that a launch needs to know.
    c->meta = launch_build_meta(unit->arena, c->func, unit->diags);
    if (!c->meta) return NULL;
    add_variants(unit->arena, c, options->variants, spec->target);
    return c;
}

// ---- Lower and generate: a Compiled becomes the code of one variant

static uint32_t ops_in(const IrBlock *block) {
    uint32_t count = 0;
    IR_EACH_OP(op, block) {
        count++;
        for (uint32_t i = 0; i < op->region_count; i++) count += ops_in(op->regions[i]);
    }
    return count;
}

// Some passes compare pairs of accesses, and each op becomes many instructions. A body that would
// take too long to compile is therefore rejected here.
static bool length_is_sensible(const IrFunc *f, Diags *diags) {
    enum { OPS_MAX = 131072 };
    uint32_t count = ir_body(f) ? ops_in(ir_body(f)) : 0;
    if (count <= OPS_MAX) return true;
    diag_error(diags, f->span, DIAG_LIMIT,
               "kernel '%s' is too long: %u operations, the limit is %d", f->name, count, OPS_MAX);
    diag_help(
        diags,
        "use loops that run (`for`) instead of `for const`, smaller tiles, or several kernels");
    return false;
}

bool code_lower(Unit *unit, const Compiled *compiled, const CodeOptions *options,
                PassAnalyses *analyses) {
    TRY(length_is_sensible(compiled->func, unit->diags));
    Machine machine = code_target_machine(options->target);
    PassOptions passes = options->passes;
    passes.machine = &machine;
    passes.limit = unit->limit;
    passes.analyses = analyses;
    passes.facts = compiled->meta->variants[options->variant].facts;
    if (passes.facts & FACT_MAPPED)
        passes.mapped = choose_mapped_views(compiled->func, compiled->meta);
    size_t count;
    const PassStep *steps =
        pipeline_steps(code_target_is_gpu(options->target) ? PIPELINE_GPU : PIPELINE_CPU, &count);
    Defect defect = code_defect(unit, compiled, options, str(compiled->func->name));
    defect_begin(&defect);
    bool fine = passes_run(compiled->module, steps, count, &passes, unit->diags);
    defect_end(&defect);
    return fine;
}

static bool lower_and_generate(Unit *unit, const Compiled *compiled, const CodeOptions *options,
                               const CodeServices *services, PassAnalyses *analyses, Code *code) {
    Str entry = options->entry.size ? options->entry
                                    : code_entry(unit->arena, compiled->func, options->variant);
    // Lower: the function becomes one of the target's level.
    TRY(code_lower(unit, compiled, options, analyses));
    code->notes = code_notes_of(unit->arena, compiled->func, options->file_names);
    code->notes.entry = entry;
    // Generate, with the facts about the function that are still valid.
    IrRanges *ranges = pass_analyses_ranges(analyses, compiled->func);
    return code_generate(unit, compiled, options, services, ranges, code);
}

bool code_make(Unit *unit, const Compiled *compiled, const CodeOptions *options,
               const CodeServices *services, const HashKey *key, Code *code) {
    *code = (Code){0};
    PassAnalyses *analyses = pass_analyses_create();
    bool fine = lower_and_generate(unit, compiled, options, services, analyses, code);
    pass_analyses_destroy(analyses);
    if (fine) code_keep(unit, services, options, key, code);
    return fine;
}
