#include "compile/aot/build.h"

#include <stdatomic.h>
#include <string.h>

#include <tilec/version.h>

#include "base/map.h"
#include "base/os/os_fork.h"
#include "base/os/os_mutex.h"
#include "base/os/os_thread.h"
#include "base/recover.h"
#include "base/status.h"
#include "compile/aot/archive.h"
#include "compile/jit/plugin.h"
#include "compile/pipeline/diag_wire.h"
#include "runtime/meta_wire.h"
#include "runtime/values.h"

#define SOVERSION_(major) SOVERSION2_(major)
#define SOVERSION2_(major) #major
#define BUILD_SOVERSION SOVERSION_(TILEC_VERSION_MAJOR)

// ---- One job: a function for a target ----

typedef VEC(BuiltCode) BuiltCodes;

typedef struct Job {
    const BuildPlan *plan;
    uint32_t function, target;
    Arena *arena;  // for the results of the job
    bool good, no_memory;
    ArchivePacked packed;
    Str diags;  // as bytes
    BuiltFunction made;
    BuiltCodes codes;       // for GPUs: also written as files of their own
    VEC(ArMember) objects;  // for CPUs: its entries, in order
} Job;

// The state of one job; it is freed at the job's end.
typedef struct JobState {
    Job *job;
    Unit *unit;
    const FrontKernel *kernel;
    CodeTarget target;
    Machine machine;
    char target_name[CODE_TARGET_NAME_MAX];
    VEC(FrontSpec) specs;
    uint32_t entries;
    bool refused;  // by the tool that makes machine code of PTX
} JobState;

static const BuildFunction *function_of(const Job *j) { return &j->plan->functions[j->function]; }

static bool is_gpu(const JobState *b) { return code_target_is_gpu(b->target); }

// The name of an object depends only on what it is made from. So the same code has the same bytes,
// whether it comes from the cache or not, in any function and library.
static Str object_symbol(Arena *arena, const JobState *b, const IrFunc *func, uint32_t variant,
                         const HashKey *key) {
    char hex[HASH_HEX + 1];
    hash_hex(key, hex);
    StrBuf name = strbuf(arena);
    strbuf_printf(&name, "tilec_%.*s_%s_%.16s", STR_ARG(code_entry(arena, func, variant)),
                  b->target_name, hex);
    for (size_t i = 0; i < name.size; i++)
        if (name.text[i] == '-' || name.text[i] == '+') name.text[i] = '_';
    return strbuf_str(&name);
}

static const Compiled *compile(JobState *b, const FrontSpec *spec) {
    CompileOptions o = {.variants = compile_variants_of(b->target)};
    o.passes.machine = &b->machine;
    unit_begin(b->unit, b->job->plan->services->seconds);
    return unit_compile(b->unit, b->kernel, spec, &o);
}

static bool find_or_make(JobState *b, const Compiled *compiled, const CodeOptions *o,
                         const HashKey *key, Code *code) {
    const CodeServices *s = b->job->plan->services;
    return code_find(b->unit->arena, s, o, key, code) ||
           code_make(b->unit, compiled, o, s, key, code);
}

static void keep_code(JobState *b, const CodeOptions *o, uint32_t alternative, Str bytes,
                      const char *extension, bool cached) {
    BuiltCode c = {.function = b->job->function,
                   .target = b->job->target,
                   .alternative = alternative,
                   .variant = o->variant,
                   .bytes = bytes,
                   .extension = extension,
                   .cached = cached};
    vec_push(b->job->arena, &b->job->codes, c);
}

static Str copy(Arena *arena, Str text) {
    return (Str){arena_text(arena, text.text, text.size), text.size};
}

// A driver would refuse the PTX, too. Only the first of a job's codes is reported.
static void warn_refused(JobState *b, Str tool, size_t first) {
    Diags *diags = b->unit->diags;
    Str message = STR("it made no machine code");
    for (size_t i = diags_count(diags); i-- > first;)
        if (diags_get(diags, i)->severity == DIAG_ERROR) message = diags_get(diags, i)->text;
    diags_truncate(diags, first);
    if (b->refused) return;
    b->refused = true;
    diag_warning(
        diags, (Span){0}, DIAG_UNSUPPORTED,
        "%.*s does not accept the code of '%.*s' for %s: %.*s; the library has only PTX, which "
        "a driver may not accept either",
        STR_ARG(tool), STR_ARG(function_of(b->job)->symbol), b->target_name, STR_ARG(message));
}

// Machine code in addition to PTX, if a tool that knows the architecture is installed.
static Str make_cubin(JobState *b, const HashKey *key, Str ptx) {
    const CodeServices *s = b->job->plan->services;
    Cubin cubin;
    size_t before = diags_count(b->unit->diags);
    Str tool = s->cubin ? cubin_tool(s->cubin, b->unit->arena, ptx, NULL) : STR("");
    if (!tool.size) return STR("");
    bool made = code_cubin(b->unit, s, key, ptx, &cubin);
    if (!made) warn_refused(b, tool, before);
    if (made) diags_truncate(b->unit->diags, before);
    return made ? cubin.bytes : STR("");
}

static void keep_gpu(JobState *b, const CodeOptions *o, const HashKey *key, const Code *code,
                     uint32_t alternative, ArchiveCode *out) {
    bool ptx = code_target_takes_ptx(b->target);
    out->bytes = copy(b->job->arena, code->bytes);
    keep_code(b, o, alternative, out->bytes, ptx ? "ptx" : "hsaco", code->cached);
    if (!ptx) return;
    out->cubin = copy(b->job->arena, make_cubin(b, key, code->bytes));
    if (out->cubin.size) keep_code(b, o, alternative, out->cubin, "cubin", code->cached);
}

static void keep_object(JobState *b, const CodeOptions *o, const Code *code, uint32_t alternative,
                        ArchiveCode *out) {
    Arena *arena = b->job->arena;
    Str *symbol = arena_new(arena, Str, 1);
    *symbol = copy(arena, code->notes.entry);
    const char *name = arena_printf(arena, "%.*s.%s.%u.%u.o", STR_ARG(function_of(b->job)->symbol),
                                    b->target_name, alternative, o->variant);
    ArMember m = {str(name), copy(arena, code->bytes), 1, symbol};
    out->entry = b->entries++;
    vec_push(arena, &b->job->objects, m);
    keep_code(b, o, alternative, m.bytes, "o", code->cached);
}

static bool make_variant(JobState *b, const Compiled *compiled, uint32_t alternative,
                         uint32_t variant, ArchiveCode *out, MetaVariant *meta) {
    const BuildPlan *plan = b->job->plan;
    CodeOptions o = {.target = b->target,
                     .variant = variant,
                     .file_names = true,
                     .output = is_gpu(b) ? code_output(b->target) : CODEGEN_OBJECT,
                     .lines = plan->lines,
                     .object_version = plan->object_version};
    HashKey key = code_key(b->unit->arena, compiled, &o);
    if (!is_gpu(b)) o.entry = object_symbol(b->unit->arena, b, compiled->func, variant, &key);
    Code code;
    TRY(find_or_make(b, compiled, &o, &key, &code));
    code_note_variant(&code.notes, meta);
    if (is_gpu(b))
        keep_gpu(b, &o, &key, &code, alternative, out);
    else
        keep_object(b, &o, &code, alternative, out);
    return true;
}

// Lowering changes the function, so it is compiled again for each variant but the first.
static bool make_alternative(JobState *b, uint32_t number, ArchiveAlternative *out) {
    const FrontSpec *spec = &b->specs.data[number];
    const Compiled *compiled = compile(b, spec);
    TRY(compiled);
    uint32_t count = compiled->meta->variant_count;
    ArchiveCode *codes = arena_new(b->job->arena, ArchiveCode, count);
    MetaVariant *variants =
        arena_copy(b->unit->arena, compiled->meta->variants, count * sizeof *variants);
    for (uint32_t v = 0; v < count; v++) {
        const Compiled *own = v ? compile(b, spec) : compiled;
        TRY(own && make_variant(b, own, number, v, &codes[v], &variants[v]));
    }
    compiled->meta->variants = variants;
    *out = (ArchiveAlternative){compiled->meta, codes};
    return true;
}

static FrontSpec spec_of(const JobState *b, const BuildAlternative *a) {
    FrontSpec spec = {.target = str(b->target_name), .math = function_of(b->job)->math};
    for (uint32_t i = 0; i < a->count; i++) {
        const BuildBinding *from = &a->bindings[i];
        IrBinding binding = {.name = intern(b->unit->names, from->name),
                             .is_type = from->is_type,
                             .pointer = from->pointer,
                             .type = from->type,
                             .value = from->value};
        if (from->text.size) binding.text = intern(b->unit->names, from->text);
        vec_push(b->unit->arena, &spec.bindings, binding);
    }
    return spec;
}

static bool same_specs(const FrontSpec *a, const FrontSpec *b) {
    TRY(a->bindings.count == b->bindings.count);
    for (size_t i = 0; i < a->bindings.count; i++) {
        const IrBinding *x = &a->bindings.data[i], *y = frontend_spec_find(b, x->name);
        TRY(y && x->is_type == y->is_type && x->text == y->text);
        TRY(x->value == y->value && (!x->is_type || x->type == y->type));
        TRY(x->pointer == y->pointer);
    }
    return true;
}

static void add_spec(JobState *b, const FrontSpec *spec) {
    for (size_t i = 0; i < b->specs.count; i++)
        if (same_specs(&b->specs.data[i], spec)) return;
    vec_push(b->unit->arena, &b->specs, *spec);
}

// Settings have precedence over the table: a row with another value for one of them is never used.
static bool is_as_tuned(const JobState *b, const TuneRow *row, const FrontSpec *spec) {
    for (size_t i = 0; i < row->consts.count; i++) {
        const TuneSetting *s = &row->consts.data[i];
        const IrBinding *x = frontend_spec_find(spec, intern(b->unit->names, s->name));
        TRY(x && !x->is_type && x->value == s->value);
    }
    return true;
}

bool build_device_takes(const BuildPlan *plan, Str device, uint32_t *target) {
    CodeTarget t;
    uint32_t best = 0;
    if (!code_target_parse(device, &t)) return false;
    ArchivePlace place = {t.gpu, t.cpu};
    for (uint32_t i = 0; i < plan->target_count; i++) {
        ArchiveTarget code = {
            .known = true, .gpu = plan->targets[i].gpu, .cpu = plan->targets[i].cpu};
        uint32_t fit = archive_fit(&code, &place);
        if (fit > best) best = fit, *target = i;
    }
    return best > 0;
}

// Adds the consts that were tuned for this kernel, on devices that run this target's code, as more
// alternatives after the given ones.
static void add_tuned(JobState *b) {
    const TuneTable *table = b->job->plan->tuned;
    TuneRow key = tune_key(b->unit->arena, b->kernel, str(b->target_name));
    key.types = tune_types(b->unit->arena, b->kernel, &b->specs.data[0]);
    for (size_t i = 0; table && i < table->rows.count; i++) {
        const TuneRow *row = &table->rows.data[i];
        uint32_t target;
        if (!str_equal(row->kernel, key.kernel) || !str_equal(row->source, key.source) ||
            !str_equal(row->types, key.types) ||
            !build_device_takes(b->job->plan, row->target, &target) || target != b->job->target)
            continue;
        FrontSpec spec = spec_of(b, &function_of(b->job)->alternatives[0]);
        tune_apply(b->unit->arena, b->unit->names, b->kernel, row, &spec);
        if (is_as_tuned(b, row, &spec)) add_spec(b, &spec);
    }
}

static MetaKernel *keep_meta(Arena *arena, const MetaKernel *meta) {
    StrBuf bytes = strbuf(arena);
    meta_write(meta, &bytes);
    WireReader r = {.bytes = strbuf_str(&bytes)};
    MetaKernel *kept = meta_read(&r, arena);
    CHECK(kept, "metadata of %.*s does not read back", STR_ARG(meta->name));
    return kept;
}

// A C function has one type for each parameter. False: the alternatives take something else.
static bool join_params(Arena *arena, BuiltFunction *f, uint32_t *alternative, uint32_t *wrong) {
    MetaKernel *params = arena_copy(arena, f->metas[0], sizeof *params);
    MetaArg *args = arena_copy(arena, params->args, params->arg_count * sizeof *args);
    params->args = args;
    f->params = params;
    for (uint32_t i = 1; i < f->count; i++) {
        *alternative = i;
        TRY(rt_values_join(args, params->arg_count, f->metas[i], wrong));
    }
    return true;
}

static bool find_params(JobState *b, BuiltFunction *f) {
    uint32_t other, wrong;
    if (join_params(b->unit->arena, f, &other, &wrong)) return true;
    const MetaKernel *x = f->metas[0], *y = f->metas[other];
    if (x->arg_count != y->arg_count)
        diag_error(b->unit->diags, b->kernel->span, DIAG_SPECIALIZE,
                   "alternatives of '%.*s' take %u and %u arguments",
                   STR_ARG(function_of(b->job)->symbol), x->arg_count, y->arg_count);
    else
        diag_error(b->unit->diags, b->kernel->span, DIAG_SPECIALIZE,
                   "alternatives of '%.*s' take %s%s and %s%s for '%.*s', and no type of C has "
                   "the values of both",
                   STR_ARG(function_of(b->job)->symbol),
                   x->args[wrong].kind == META_POINTER ? "*" : "", dtype_name(x->args[wrong].dtype),
                   y->args[wrong].kind == META_POINTER ? "*" : "", dtype_name(y->args[wrong].dtype),
                   STR_ARG(x->args[wrong].name));
    diag_help(b->unit->diags, "make it another function: --specialize 'NAME=%s …'",
              b->kernel->name);
    return false;
}

static BuiltFunction keep_function(Arena *arena, const BuiltFunction *f) {
    const MetaKernel **metas = arena_new(arena, const MetaKernel *, f->count);
    for (uint32_t i = 0; i < f->count; i++) metas[i] = keep_meta(arena, f->metas[i]);
    BuiltFunction kept = {.count = f->count, .metas = metas};
    uint32_t other, wrong;
    CHECK(join_params(arena, &kept, &other, &wrong), "parameters that were joined do not join");
    return kept;
}

static bool make_alternatives(JobState *b, ArchiveAlternative *alternatives, uint32_t given) {
    const MetaKernel **metas = arena_new(b->unit->arena, const MetaKernel *, given);
    for (uint32_t i = 0; i < b->specs.count; i++) {
        TRY(make_alternative(b, i, &alternatives[i]));
        if (i < given) metas[i] = alternatives[i].meta;
    }
    BuiltFunction f = {.count = given, .metas = metas};
    TRY(find_params(b, &f));
    b->job->made = keep_function(b->job->arena, &f);
    return true;
}

static bool do_job_with(JobState *b) {
    Job *j = b->job;
    const BuildFunction *f = function_of(j);
    b->target = j->plan->targets[j->target];
    b->machine = code_target_machine(b->target);
    code_target_name(b->target, b->target_name);
    b->kernel = unit_kernel(b->unit, f->kernel);
    TRY(b->kernel);
    for (uint32_t i = 0; i < f->alternative_count; i++) {
        FrontSpec spec = spec_of(b, &f->alternatives[i]);
        add_spec(b, &spec);
    }
    uint32_t given = (uint32_t)b->specs.count;
    add_tuned(b);
    ArchiveAlternative *alternatives =
        arena_new(b->unit->arena, ArchiveAlternative, b->specs.count);
    TRY(make_alternatives(b, alternatives, given));
    TuneRow key = tune_key(b->unit->arena, b->kernel, str(b->target_name));
    ArchiveGroupCode group = {.kernel = key.kernel,
                              .source = key.source,
                              .count = (uint32_t)b->specs.count,
                              .alternatives = alternatives};
    j->packed = archive_pack_group(j->arena, &group);
    return true;
}

// Spans of two units of one source are equal, because both have the same texts in the same order.
static void keep_diags(Job *j, const Diags *diags, size_t first) {
    StrBuf bytes = strbuf(j->arena);
    wire_put_diags(&bytes, diags, first);
    j->diags = strbuf_str(&bytes);
}

// The state that a thread keeps from one job to the next. Without it, each of many kernels in a
// file would parse the whole file.
typedef struct BuildWorker {
    Unit *unit;  // NULL: none
    uint32_t source;
    size_t loaded;  // diagnostics from its loading, which the plan's unit has, too
} BuildWorker;

enum { UNIT_MAX = 64 << 20 };  // bytes, including what was compiled in it

static void leave_unit(BuildWorker *k) {
    if (k->unit) unit_destroy(k->unit);
    k->unit = NULL;
}

static void take_unit(BuildWorker *k, const Job *j) {
    uint32_t source = function_of(j)->source;
    if (k->unit && k->source == source && arena_used(k->unit->arena) < UNIT_MAX) return;
    leave_unit(k);
    Unit *unit = unit_load_again(j->plan->units[source]);
    *k = (BuildWorker){unit, source, diags_errors(unit->diags) ? 0 : diags_count(unit->diags)};
}

static void do_job(BuildWorker *k, Job *j) {
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        j->no_memory = true;
        j->arena = NULL;
        return;
    }
    take_unit(k, j);
    recover_keep_all();
    j->arena = arena_create();
    JobState b = {.job = j, .unit = k->unit};
    j->good = !diags_errors(b.unit->diags) && do_job_with(&b) && !diags_errors(b.unit->diags);
    keep_diags(j, b.unit->diags, k->loaded);
    if (j->good)
        diags_truncate(b.unit->diags, k->loaded);
    else
        leave_unit(k);
    recover_keep_all();
    recover_end(&r);
}

// ---- All jobs ----

typedef struct BuildWork {
    const BuildPlan *plan;
    Job *jobs;
    uint32_t count;
    _Atomic uint32_t next, done;
    OsMutex *lock;
} BuildWork;

static void work(void *user) {
    BuildWork *w = user;
    BuildWorker worker = {0};
    for (uint32_t i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
        do_job(&worker, &w->jobs[i]);
        if (!w->plan->progress) continue;
        os_mutex_lock(w->lock);
        w->plan->progress(w->plan->user, atomic_fetch_add(&w->done, 1) + 1, w->count);
        os_mutex_unlock(w->lock);
    }
    leave_unit(&worker);
}

enum { THREADS_MAX = 256 };

static void run_jobs(BuildWork *w) {
    OsThread *threads[THREADS_MAX];
    uint32_t wanted = w->plan->threads < THREADS_MAX ? w->plan->threads : THREADS_MAX, count = 0;
    w->lock = os_mutex_create_long();
    while (count + 1 < wanted && count + 1 < w->count) {
        threads[count] = os_thread_start("tilec-build", work, w);
        if (!threads[count]) break;
        count++;
    }
    work(w);
    while (count) os_thread_join(threads[--count]);
    os_mutex_destroy(w->lock);
}

static bool same_diag(const Diag *a, const Diag *b) {
    return a->code == b->code && a->span.begin == b->span.begin && a->span.end == b->span.end &&
           str_equal(a->text, b->text);
}

// A diagnostic that several jobs report is kept once. If it is an error, a note names the target of
// the first of them.
static void add_diags(const Job *j, Arena *scratch) {
    Unit *unit = j->plan->units[function_of(j)->source];
    Diags *found = diags_create(scratch, unit->sources);
    WireReader r = {.bytes = j->diags};
    wire_diags(&r, found);
    for (size_t i = 0; i < diags_count(found); i++) {
        const Diag *d = diags_get(found, i);
        bool known = false;
        for (size_t k = 0; !known && k < diags_count(unit->diags); k++)
            known = same_diag(diags_get(unit->diags, k), d);
        if (known) continue;
        diag_copy(unit->diags, d);
        char name[CODE_TARGET_NAME_MAX];
        if (d->severity == DIAG_ERROR)
            diag_note(unit->diags, (Span){0}, "building %.*s for %s",
                      STR_ARG(function_of(j)->symbol),
                      code_target_name(j->plan->targets[j->target], name));
    }
}

static bool finish_jobs(Arena *arena, const BuildWork *w) {
    bool good = true;
    for (uint32_t i = 0; i < w->count; i++) {
        const Job *j = &w->jobs[i];
        add_diags(j, arena);
        good = good && j->good;
    }
    return good;
}

static void free_jobs(const BuildWork *w) {
    for (uint32_t i = 0; i < w->count; i++) arena_destroy(w->jobs[i].arena);
}

// If a job ran out of memory, this thread reports that, after the memory of the other jobs is
// freed.
static void require_memory(const BuildWork *w) {
    bool ran_out = false;
    for (uint32_t i = 0; i < w->count; i++) ran_out = ran_out || w->jobs[i].no_memory;
    if (!ran_out) return;
    free_jobs(w);
    os_out_of_memory();
}

// ---- Their results together ----

static uint64_t interface_of(const Str *prototypes, uint32_t count) {
    Hash hash = hash_begin();
    hash_number(&hash, ARCHIVE_ABI);
    for (uint32_t i = 0; i < count; i++) hash_text(&hash, prototypes[i]);
    HashKey key = hash_end(&hash);
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number = number << 8 | key.bytes[i];
    return number ? number : 1;
}

// The rows that one of the groups may use.
static Str tuned_text(Arena *arena, const BuildPlan *plan) {
    TuneTable *kept = arena_new(arena, TuneTable, 1);
    for (size_t i = 0; plan->tuned && i < plan->tuned->rows.count; i++) {
        const TuneRow *row = &plan->tuned->rows.data[i];
        for (uint32_t f = 0; f < plan->function_count; f++) {
            Unit *unit = plan->units[plan->functions[f].source];
            const FrontKernel *kernel = frontend_find(unit->file, plan->functions[f].kernel);
            TuneRow key = tune_key(arena, kernel, row->target);
            if (!str_equal(row->kernel, key.kernel) || !str_equal(row->source, key.source) ||
                tune_is_simulated(row->target))
                continue;
            vec_push(arena, &kept->rows, *row);
            break;
        }
    }
    StrBuf out = strbuf(arena);
    if (kept->rows.count) tune_print(kept, &out);
    return strbuf_str(&out);
}

typedef struct Entries {
    VEC(Str) symbols;
    // by a part of the symbol's hash: the symbols whose object is already in the library
    Map members;
} Entries;

// Functions with equal code share an object.
static bool is_new(Arena *arena, Entries *entries, Str symbol) {
    HashKey key = hash_of(symbol.text, symbol.size);
    uint64_t part;
    memcpy(&part, key.bytes, sizeof part);
    if (map_find(&entries->members, part)) return false;
    map_put(arena, &entries->members, part, 1);
    return true;
}

// Copies the results of a job, because the job's arena is freed.
static void gather_job(Arena *arena, const Job *j, Built *built, Entries *entries) {
    for (size_t o = 0; o < j->objects.count; o++) {
        ArMember m = j->objects.data[o];
        Str *symbol = arena_new(arena, Str, 1);
        *symbol = copy(arena, m.symbols[0]);
        m = (ArMember){copy(arena, m.name), copy(arena, m.bytes), 1, symbol};
        vec_push(arena, &entries->symbols, *symbol);
        if (is_new(arena, entries, *symbol)) vec_push(arena, &built->members, m);
    }
    for (size_t c = 0; c < j->codes.count; c++) {
        BuiltCode code = j->codes.data[c];
        code.bytes = copy(arena, code.bytes);
        vec_push(arena, &built->codes, code);
    }
    BuiltFunction *f = &built->functions[j->function];
    if (!f->count) *f = keep_function(arena, &j->made);
}

static ArchiveGroupRow *gather(Arena *arena, const BuildWork *w, Built *built, Entries *entries) {
    ArchiveGroupRow *rows = arena_new(arena, ArchiveGroupRow, w->count);
    for (uint32_t i = 0; i < w->count; i++) {
        const Job *j = &w->jobs[i];
        rows[i] = (ArchiveGroupRow){.function = j->function,
                                    .target = j->target,
                                    .first_entry = (uint32_t)entries->symbols.count,
                                    .packed = j->packed};
        rows[i].packed.bytes = copy(arena, j->packed.bytes);
        if (code_target_is_gpu(w->plan->targets[j->target]))
            built->packed_bytes += j->packed.bytes.size;
        gather_job(arena, j, built, entries);
    }
    return rows;
}

static void write_archive(Arena *arena, const BuildWork *w, const ArchiveGroupRow *rows,
                          Built *built) {
    const BuildPlan *plan = w->plan;
    Str *names = arena_new(arena, Str, plan->function_count);
    Str *prototypes = arena_new(arena, Str, plan->function_count);
    Str *targets = arena_new(arena, Str, plan->target_count);
    for (uint32_t i = 0; i < plan->function_count; i++) {
        names[i] = plan->functions[i].symbol;
        prototypes[i] = build_prototype(arena, names[i], built->functions[i].params);
    }
    for (uint32_t i = 0; i < plan->target_count; i++) {
        char name[CODE_TARGET_NAME_MAX];
        targets[i] = copy(arena, str(code_target_name(plan->targets[i], name)));
    }
    built->interface_number = interface_of(prototypes, plan->function_count);
    Str tuned = tuned_text(arena, plan);
    ArchivePlan a = {.name = plan->name,
                     .command = plan->command,
                     .interface_number = built->interface_number,
                     .target_count = plan->target_count,
                     .targets = targets,
                     .function_count = plan->function_count,
                     .functions = names,
                     .prototypes = prototypes,
                     .group_count = w->count,
                     .groups = rows};
    if (tuned.size) a.tuned = archive_pack_text(arena, tuned);
    built->archive = archive_write(arena, &a);
}

// The first member: data and stubs. It defines the symbols that users of the library refer to.
static bool add_object(Arena *arena, const BuildPlan *plan, const Entries *entries, Built *built) {
    Diags *diags = plan->units[0]->diags;
    const CodegenApi *api = plugin_open(plan->services->plugin, diags);
    TRY(api);
    CodegenStub *stubs = arena_new(arena, CodegenStub, plan->function_count);
    Str *symbols = arena_new(arena, Str, plan->function_count + 1);
    for (uint32_t i = 0; i < plan->function_count; i++) {
        uint32_t count;
        symbols[i] = plan->functions[i].symbol;
        const ArchiveValue *values = build_values(arena, built->functions[i].params, &count);
        stubs[i] = (CodegenStub){symbols[i], count, values};
    }
    const char *archive = arena_printf(arena, "%.*s_archive", STR_ARG(plan->name));
    symbols[plan->function_count] = str(archive);
    CodegenLibrary library = {.host = plan->host,
                              .archive_symbol = str(archive),
                              .bytes = built->archive,
                              .entry_count = (uint32_t)entries->symbols.count,
                              .entries = entries->symbols.data,
                              .stub_count = plan->function_count,
                              .stubs = stubs,
                              .no_memory = os_out_of_memory};
    const char *name = arena_printf(arena, "%.*s.o", STR_ARG(plan->name));
    ArMember m = {str(name), STR(""), plan->function_count + 1, symbols};
    OsNoFork whole;
    os_no_fork_begin(&whole);
    bool good = api->library(arena, &library, &m.bytes, diags);
    os_no_fork_end(&whole);
    vec_push(arena, &built->members, m);
    return good;
}

bool build_library(Arena *arena, const BuildPlan *plan, Built *built) {
    *built = (Built){.functions = arena_new(arena, BuiltFunction, plan->function_count)};
    BuildWork w = {.plan = plan, .count = plan->function_count * plan->target_count};
    w.jobs = arena_new(arena, Job, w.count);
    for (uint32_t i = 0; i < w.count; i++)
        w.jobs[i] = (Job){
            .plan = plan, .function = i / plan->target_count, .target = i % plan->target_count};
    run_jobs(&w);
    require_memory(&w);
    Entries entries = {0};
    bool good = finish_jobs(arena, &w);
    if (good) write_archive(arena, &w, gather(arena, &w, built, &entries), built);
    free_jobs(&w);
    return good && add_object(arena, plan, &entries, built);
}

bool build_shared(Arena *arena, const BuildPlan *plan, const Built *built, Str soname,
                  Str *shared) {
    Diags *diags = plan->units[0]->diags;
    const CodegenApi *api = plugin_open(plan->services->plugin, diags);
    TRY(api);
    Str *objects = arena_new(arena, Str, built->members.count);
    for (size_t i = 0; i < built->members.count; i++) objects[i] = built->members.data[i].bytes;
    const ArMember *first = &vec_last(&built->members);
    CodegenSharedLibrary library = {.host = plan->host,
                                    .soname = soname,
                                    .runtime = STR("libtilec_rt.so." BUILD_SOVERSION),
                                    .object_count = (uint32_t)built->members.count,
                                    .objects = objects,
                                    .export_count = first->symbol_count,
                                    .exports = first->symbols,
                                    .no_memory = os_out_of_memory};
    OsNoFork whole;
    os_no_fork_begin(&whole);
    bool good = api->link_shared(arena, &library, shared, diags);
    os_no_fork_end(&whole);
    return good;
}
