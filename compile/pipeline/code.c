#include "compile/pipeline/code.h"

#include "base/os/os_fork.h"
#include "base/status.h"
#include "compile/jit/child.h"
#include "compile/pipeline/attempts.h"
#include "compile/pipeline/defect.h"

Defect code_defect(const Unit *unit, const Compiled *compiled, const CodeOptions *options,
                   Str entry) {
    return (Defect){.arena = unit->arena,
                    .func = compiled->func,
                    .target = options->target,
                    .entry = entry,
                    .facts = compiled->meta->variants[options->variant].facts};
}

CodegenOutput code_output(CodeTarget target) {
    return code_target_takes_ptx(target) ? CODEGEN_ASM : CODEGEN_SHARED;
}

static CodegenSchedule first_schedule(const IrFunc *func, const CodeOptions *options,
                                      const CodeNotes *notes) {
    AttemptProgram program = {options->target, notes->threads, ir_lane_count(func)};
    return attempts_first(&program, notes->shared_bytes);
}

bool code_generate(Unit *unit, const Compiled *compiled, const CodeOptions *options,
                   const CodeServices *services, IrRanges *ranges, Code *code) {
    const CodeNotes *notes = &code->notes;
    CodegenOptions o = {.target = options->target,
                        .output = options->output,
                        .entry = notes->entry,
                        .schedule = first_schedule(compiled->func, options, notes),
                        .ranges = ranges,
                        .lines = options->lines,
                        .object_version = options->object_version,
                        .times = options->times,
                        .remarks = options->remarks};
    // LLVM cannot be interrupted, so with a time limit it runs in a process that can be ended.
    if (services->in_child || unit->limit.end) {
        ChildJob job = {.func = compiled->func,
                        .options = &o,
                        .library = services->library,
                        .limit = unit->limit};
        return child_compile(unit->arena, &job, &code->bytes, unit->diags);
    }
    const CodegenApi *api = plugin_open(services->plugin, unit->diags);
    Defect defect = code_defect(unit, compiled, options, notes->entry);
    o.on_defect = defect_report;
    o.user = &defect;
    o.no_memory = os_out_of_memory;
    if (!api) return false;
    OsNoFork whole;
    os_no_fork_begin(&whole);
    AttemptJob job = {
        .api = api, .func = compiled->func, .options = &o, .idle = plugin_begin(services->plugin)};
    bool fine = attempts_compile(unit->arena, &job, &code->bytes, unit->diags);
    plugin_end(services->plugin);
    os_no_fork_end(&whole);
    return fine;
}

// False: this output is not stored.
static bool kind_of(const CodeOptions *options, CacheKind *kind) {
    bool gpu = code_target_is_gpu(options->target);
    *kind = code_target_takes_ptx(options->target) ? CACHE_PTX
            : gpu                                  ? CACHE_HSACO
            : options->output == CODEGEN_OBJECT    ? CACHE_OBJECT
                                                   : CACHE_SHARED;
    return options->output == code_output(options->target) || *kind == CACHE_OBJECT;
}

bool code_find(Arena *arena, const CodeServices *services, const CodeOptions *options,
               const HashKey *key, Code *code) {
    CacheEntry entry;
    CacheKind kind;
    if (!services->cache || !kind_of(options, &kind) ||
        !cache_find(services->cache, kind, key, arena, &entry))
        return false;
    *code = (Code){.bytes = entry.code, .path = entry.folder_path, .cached = true};
    return code_notes_read(arena, entry.notes, &code->notes);
}

void code_keep(Unit *unit, const CodeServices *services, const CodeOptions *options,
               const HashKey *key, Code *code) {
    CacheKind kind;
    if (!key || !services->cache || !kind_of(options, &kind)) return;
    StrBuf notes = strbuf(unit->arena);
    code_notes_write(&code->notes, &notes);
    CacheEntry kept = {.code = code->bytes, .notes = strbuf_str(&notes)};
    cache_keep(services->cache, kind, key, unit->arena, &kept);
    code->path = kept.folder_path;
}

// The tool and its version are part of the key: a newer one may make better code.
bool code_cubin(Unit *unit, const CodeServices *services, const HashKey *key, Str ptx,
                Cubin *cubin) {
    Str tool = cubin_tool(services->cubin, unit->arena, ptx, unit->diags);
    if (!tool.size) return false;
    Hash hash = hash_begin();
    hash_text(&hash, STR("cubin"));
    hash_bytes(&hash, key, sizeof *key);
    hash_text(&hash, tool);
    HashKey own = hash_end(&hash);
    CacheEntry entry;
    *cubin = (Cubin){0};
    if (services->cache && cache_find(services->cache, CACHE_CUBIN, &own, unit->arena, &entry)) {
        cubin->bytes = entry.code;
        return true;
    }
    TRY(cubin_make(services->cubin, unit->arena, unit->sources, ptx, cubin, unit->diags));
    entry = (CacheEntry){.code = cubin->bytes, .notes = STR("")};
    if (services->cache) cache_keep(services->cache, CACHE_CUBIN, &own, unit->arena, &entry);
    return true;
}

void code_note_variant(const CodeNotes *notes, MetaVariant *variant) {
    variant->entry = notes->entry;
    variant->scratch_bytes = notes->scratch_bytes;
    variant->shared_bytes = notes->shared_bytes;
    if (notes->threads) variant->block[0] = notes->threads;
    variant->site_count = notes->site_count;
    variant->sites = notes->sites;
    variant->map_count = notes->map_count;
    variant->maps = notes->maps;
}
