// The tune space: which candidates a kernel's consts and options have for a target.
#include <string.h>

#include "frontend/tile/elaborate.h"

static const struct {
    const char *family, *prefix;
} families[] = {
    {"nvidia", "sm_"}, {"amd", "gfx"},    {"cdna", "gfx9"},   {"rdna", "gfx10"}, {"rdna", "gfx11"},
    {"rdna", "gfx12"}, {"cpu", "x86-64"}, {"cpu", "aarch64"}, {"cpu", "native"}, {"cpu", "cpu"},
};
enum { FAMILY_ROWS = sizeof families / sizeof *families };

static bool family_matches(Str target, Str family) {
    for (size_t i = 0; i < FAMILY_ROWS; i++)
        if (str_equal(family, str(families[i].family)) &&
            str_starts(target, str(families[i].prefix)))
            return true;
    return false;
}

// The length of the run of characters of `set` in `s`, from `at` on.
static size_t run_of(Str s, size_t at, const char *set) {
    size_t n = 0;
    while (at + n < s.size && s.text[at + n] && strchr(set, s.text[at + n])) n++;
    return n;
}

// sm_<1 to 3 digits>[a|f] and gfx<1 to 5 hexadecimal digits>. A short one is a prefix of several
// names, and a line may give one.
static bool is_numbered(Str name) {
    if (str_starts(name, STR("gfx"))) {
        size_t digits = run_of(name, 3, "0123456789abcdef");
        return digits >= 1 && digits <= 5 && 3 + digits == name.size;
    }
    if (!str_starts(name, STR("sm_"))) return false;
    size_t digits = run_of(name, 3, "0123456789");
    size_t end = 3 + digits;
    if (end < name.size && (name.text[end] == 'a' || name.text[end] == 'f')) end++;
    return digits >= 1 && digits <= 3 && end == name.size;
}

// gfx<digits and dashes>-generic.
static bool is_generic(Str name) {
    Str tail = STR("-generic");
    if (!str_starts(name, STR("gfx")) || name.size <= 3 + tail.size) return false;
    Str end = {name.text + name.size - tail.size, tail.size};
    return str_equal(end, tail) && 3 + run_of(name, 3, "0123456789-") == name.size - tail.size + 1;
}

bool tile_tune_target_known(Str name) {
    static const char *const names[] = {
        "x86-64",         "x86-64-v2",      "x86-64-v3", "x86-64-v4", "x86-64-v2+bf16",
        "x86-64-v3+bf16", "x86-64-v4+bf16", "aarch64",   "native",    "interp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(name, str(names[i]))) return true;
    for (size_t i = 0; i < FAMILY_ROWS; i++)
        if (str_equal(name, str(families[i].family))) return true;
    return is_numbered(name) || is_generic(name);
}

// How closely a line's target matches this one: 0 not at all, 1 a line for all targets, 2 a family,
// then by the length of the common prefix (sm_90 for sm_90a, gfx94 for gfx942).
static size_t target_rank(Str line, Str target) {
    if (!line.size) return 1;
    if (!target.size) return 0;
    if (family_matches(target, line)) return 2;
    return str_starts(target, line) ? 2 + line.size : 0;
}

static bool tune_values(Elab *e, const AstTuneEntry *entry, FrontTune *tune) {
    int64_t *values = arena_new(tile_of(e)->file->arena, int64_t, entry->values.count + 1);
    const char *what = arena_printf(e->scratch, "a value of '%s'", entry->name);
    for (size_t i = 0; i < entry->values.count; i++)
        TRY(el_const_range(e, entry->values.data[i], what, INT64_MIN, INT64_MAX, &values[i]));
    *tune =
        (FrontTune){.name = entry->name, .count = (uint32_t)entry->values.count, .values = values};
    return true;
}

FrontTune el_tune_find(Elab *e, const AstKernel *kernel, Symbol name, Str target) {
    const AstTuneEntry *best = NULL;
    size_t best_rank = 0;
    for (size_t t = 0; t < kernel->tunes.count; t++) {
        const AstTune *tune = kernel->tunes.data[t];
        size_t rank = target_rank(tune->target, target);
        if (rank <= best_rank) continue;
        for (size_t i = 0; i < tune->entries.count; i++) {
            const AstTuneEntry *entry = &tune->entries.data[i];
            if (entry->name != name || !entry->values.count) continue;
            best = entry;
            best_rank = rank;
        }
    }
    FrontTune found = {.name = name};
    if (best) tune_values(e, best, &found);
    return found;
}

size_t tile_tune_space(TileFile *file, const AstKernel *kernel, Str target,
                       const FrontTune **space) {
    TileElab t;
    Elab *e = &t.elab;
    Frame frame = {0};
    IrModule *module = ir_module_create(file->arena, file->sources, file->names);
    Diags *diags = diags_create(file->arena, file->sources);  // the check reports the mistake
    el_begin(&t, file, module, diags, arena_create());
    t.frame = &frame;
    t.kernel = kernel;
    e->func = ir_func_create(module, kernel->decl->name, false);
    e->b = ir_builder_at_end(ir_block_create(e->func));
    t.place = EL_IN_CONST;
    VEC(FrontTune) found = {0};
    for (size_t n = 0; n < kernel->tunes.count; n++) {
        const AstTune *tune = kernel->tunes.data[n];
        for (size_t i = 0; i < tune->entries.count; i++) {
            bool seen = false;
            for (size_t k = 0; k < found.count; k++)
                seen = seen || found.data[k].name == tune->entries.data[i].name;
            if (seen) continue;
            FrontTune one = el_tune_find(e, kernel, tune->entries.data[i].name, target);
            if (one.count) vec_push(file->arena, &found, one);
        }
    }
    arena_destroy(e->scratch);
    *space = found.data;
    return found.count;
}
