#include "compile/code.h"

#include "base/status.h"
#include "compile/child.h"
#include "compile/defect.h"

static Defect defect_of(const Unit *unit, const Compiled *compiled, const CodeOptions *options,
                        Str entry) {
    return (Defect){.arena = unit->arena,
                    .func = compiled->func,
                    .target = options->target,
                    .entry = entry,
                    .facts = compiled->meta->variants[options->variant].facts};
}

bool code_lower(Unit *unit, const Compiled *compiled, const CodeOptions *options) {
    Machine machine = machine_of_cpu(options->target);
    PassOptions passes = options->passes;
    passes.machine = &machine;
    passes.facts = compiled->meta->variants[options->variant].facts;
    size_t count;
    const PassStep *steps = pipeline_steps(PIPELINE_CPU, &count);
    Defect defect = defect_of(unit, compiled, options, str(compiled->func->name));
    defect_begin(&defect);
    bool fine = passes_run(compiled->module, steps, count, &passes, unit->diags);
    defect_end(&defect);
    return fine;
}

static bool generate(Unit *unit, const Compiled *compiled, const CodeOptions *options,
                     const CodeServices *services, Str entry, Str *output) {
    CodegenCpuOptions o = {.target = options->target,
                           .output = options->output,
                           .entry = entry,
                           .lines = options->lines,
                           .times = options->times};
    if (services->in_child) {
        ChildJob job = {.func = compiled->func, .options = &o, .library = services->library};
        return child_compile(unit->arena, &job, output, unit->diags);
    }
    const CodegenApi *api = plugin_open(services->plugin, unit->diags);
    Defect defect = defect_of(unit, compiled, options, entry);
    o.on_defect = defect_say;
    o.user = &defect;
    return api && api->cpu_compile(unit->arena, compiled->func, &o, output, unit->diags);
}

bool code_find(Arena *arena, const CodeServices *services, const HashKey *key, Code *code) {
    CacheEntry entry;
    if (!services->cache || !cache_find(services->cache, key, arena, &entry)) return false;
    *code = (Code){.bytes = entry.code, .path = entry.path, .cached = true};
    return code_notes_read(arena, entry.notes, &code->notes);
}

bool code_make(Unit *unit, const Compiled *compiled, const CodeOptions *options,
               const CodeServices *services, const HashKey *key, Code *code) {
    *code = (Code){0};
    Str entry = code_entry(unit->arena, compiled->func, options->variant);
    TRY(code_lower(unit, compiled, options));
    code->notes = code_notes_of(unit->arena, compiled->func);
    code->notes.entry = entry;
    TRY(generate(unit, compiled, options, services, entry, &code->bytes));
    if (!key || !services->cache || options->output != CODEGEN_SHARED) return true;
    StrBuf notes = strbuf(unit->arena);
    code_notes_write(&code->notes, &notes);
    CacheEntry kept = {.code = code->bytes, .notes = strbuf_str(&notes)};
    cache_keep(services->cache, key, unit->arena, &kept);
    code->path = kept.path;
    return true;
}

void code_note_variant(const CodeNotes *notes, MetaVariant *variant) {
    variant->entry = notes->entry;
    variant->scratch_bytes = notes->scratch_bytes;
    variant->site_count = notes->site_count;
    variant->sites = notes->sites;
}
