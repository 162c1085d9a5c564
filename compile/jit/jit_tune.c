#include "compile/jit/jit_tune.h"

#include <stdio.h>

#include "base/os/os.h"
#include "base/recover.h"
#include "base/status.h"
#include "compile/jit/compiler.h"
#include "compile/tune/predict.h"
#include "runtime/context.h"
#include "runtime/launch.h"
#include "target/cpu.h"

// ---- Rows ----

// The named extents of the arguments, rounded up. False when the arguments do not fit the kernel;
// the launch then reports that.
static bool find_shape(const Jit *jit, Arena *arena, const tilec_arg *args, size_t count,
                       TuneRow *key) {
    for (const FrontExtent *e = jit->kernel->extents; e; e = e->next) {
        TuneSetting found = {.name = str(e->name), .value = -1};
        size_t i = 0;
        for (const FrontParam *p = jit->kernel->params; p; p = p->next) {
            if (p->kind == FRONT_TYPE || p->kind == FRONT_CONST) continue;
            if (i == count) return false;
            const tilec_arg *arg = &args[i++];
            if (p->kind != FRONT_VIEW) continue;
            for (uint32_t d = 0; d < p->rank && d < TILEC_MAX_RANK; d++)
                if (p->extents[d] == e->name && arg->kind == TILEC_ARG_VIEW)
                    found.value = arg->view.extent[d];
        }
        if (found.value < 0) return false;
        found.value = tune_bucket(found.value);
        vec_push(arena, &key->shape, found);
    }
    return true;
}

bool jit_tune_key(const Jit *jit, Arena *arena, const tilec_arg *args, size_t count,
                  const FrontSpec *spec, TuneRow *key) {
    *key = jit->tune_key;
    key->types = tune_types(arena, jit->kernel, spec);
    return find_shape(jit, arena, args, count, key);
}

// The row under any of the device's names.
static bool find_row(const tilec_kernel *kernel, TuneRow *key, TuneRow *row) {
    const Jit *jit = kernel->source;
    const Compiler *c = compiler_of(kernel->context);
    const TuneRow *found = NULL;
    os_mutex_lock(c->rows);
    for (uint32_t i = 0; !found && i < jit->tune_names.count; i++) {
        key->target = str(jit->tune_names.text[i]);
        found = tune_find(c->tuned, key);
    }
    if (found) *row = *found;
    os_mutex_unlock(c->rows);
    return found != NULL;
}

bool jit_tune_row(const tilec_kernel *kernel, const tilec_arg *args, size_t count,
                  const FrontSpec *spec, TuneRow *row) {
    const Jit *jit = kernel->source;
    TuneRow key;
    return jit_tune_key(jit, jit->source->scratch, args, count, spec, &key) &&
           find_row(kernel, &key, row);
}

bool jit_is_tuned(const tilec_kernel *kernel) {
    const Jit *jit = kernel->source;
    const Compiler *c = compiler_of(kernel->context);
    TuneRow key = jit->tune_key;
    bool known = false;
    os_mutex_lock(c->rows);
    for (uint32_t i = 0; !known && i < jit->tune_names.count; i++) {
        key.target = str(jit->tune_names.text[i]);
        known = tune_knows(c->tuned, &key);
    }
    os_mutex_unlock(c->rows);
    return known;
}

static void add_row(const tilec_kernel *kernel, const TuneRow *from) {
    const Compiler *c = compiler_of(kernel->context);
    os_mutex_lock(c->rows);
    TuneRow row = tune_copy(c->tune_arena, from);
    if (row.consts.count || !tune_find(c->tuned, &row)) tune_put(c->tune_arena, c->tuned, &row);
    os_mutex_unlock(c->rows);
}

// ---- What cannot be measured ----

static const char *effect_of_op(const IrOp *op) {
    bool writes = ir_changes_memory(op);
    switch (op->code) {
    case IR_PRINT: return "it prints";
    case IR_ATOMIC:
    case IR_ATOMIC_CAS:
    case IR_VIEW_ATOMIC:
    case IR_VIEW_CAS:
        if (ir_attr_int(op, IR_ATTR_SCOPE) == IR_SCOPE_SYSTEM)
            return "it uses atomics of the system's scope";
        break;
    default: break;
    }
    return writes && ir_operand(op, 0)->type->kind == IR_PTR ? "it writes through pointers" : NULL;
}

static const char *effect_in(const IrBlock *block) {
    const char *effect = NULL;
    IR_EACH_OP(op, block) {
        effect = effect_of_op(op);
        for (uint32_t i = 0; !effect && i < op->region_count; i++)
            effect = effect_in(op->regions[i]);
        if (effect) break;
    }
    return effect;
}

// ---- Arrays that candidates write ----

typedef struct Saved {
    uint64_t first;
    size_t size;
    void *copy;
} Saved;

enum { MESSAGE_MAX = 400 };

typedef struct Measure {
    tilec_kernel *kernel;
    tilec_stream *stream;
    const tilec_arg *args;
    size_t count;
    double seconds;
    bool again;  // also where the table has a row
    Arena *arena;
    TuneRow key;
    FrontSpec spec;
    TuneSearch search;
    bool idle;            // there is nothing to measure, or nothing to choose
    bool forever;         // idle or refused, and so for all launches of the kernel
    bool started;         // from here on a failure is of measuring, not of the launch
    const char *refusal;  // why the launch cannot be measured
    char found[MESSAGE_MAX], not_kept[MESSAGE_MAX];  // to be logged
    const MetaKernel *meta;                          // of the default
    const LaunchInput *inputs;
    bool written[LAUNCH_MAX_ARGS], read[LAUNCH_MAX_ARGS];  // by any candidate
    uint32_t saved_count;
    Saved saved[LAUNCH_MAX_ARGS];
} Measure;

static bool overlap(const LaunchInput *a, const LaunchInput *b) {
    return a->first < b->last && b->first < a->last;
}

// Does a launch read what it, or another one, writes? A pointer may read anything.
static bool reads_what_it_writes(const Measure *m) {
    const MetaKernel *meta = m->meta;
    for (uint32_t w = 0; w < meta->arg_count; w++)
        for (uint32_t r = 0; m->written[w] && r < meta->arg_count; r++)
            if (m->read[r] && (r == w || meta->args[r].kind == META_POINTER ||
                               overlap(&m->inputs[w], &m->inputs[r])))
                return true;
    return false;
}

// Between the rows of some views is memory of others, which must not be written.
static bool has_gaps(const tilec_view *v, const LaunchInput *in) {
    uint64_t bits = dtype_bits((Dtype)v->dtype);
    for (int32_t d = 0; d < v->rank; d++) bits *= (uint64_t)v->extent[d];
    return (bits + 7) / 8 != in->last - in->first;
}

static void note_uses(Measure *m, const MetaKernel *meta) {
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        m->written[i] |= meta->args[i].written;
        m->read[i] |= meta->args[i].read;
    }
}

static const char *note_arrays(Measure *m) {
    for (uint32_t i = 0; i < m->meta->arg_count; i++) {
        const LaunchInput *in = &m->inputs[i];
        if (!m->written[i] || in->first == in->last) continue;
        if (has_gaps(&m->args[i].view, in))
            return arena_printf(m->arena, "it writes '%.*s', between whose rows is other memory",
                                STR_ARG(m->meta->args[i].name));
        m->saved[m->saved_count++] =
            (Saved){.first = in->first, .size = (size_t)(in->last - in->first)};
    }
    return NULL;
}

static tilec_status save(Measure *m) {
    tilec_device *d = m->kernel->device;
    tilec_status s = TILEC_OK;
    for (uint32_t i = 0; i < m->saved_count && !s; i++) {
        Saved *a = &m->saved[i];
        s = d->api->alloc(d, a->size, &a->copy);
        if (s) a->copy = NULL;
        if (!s)
            s = d->api->copy(d, m->stream->state, a->copy, (const void *)(uintptr_t)a->first,
                             a->size);
    }
    return s ? s : d->api->stream_synchronize(d, m->stream->state);
}

static tilec_status restore(void *measure) {
    Measure *m = measure;
    tilec_device *d = m->kernel->device;
    tilec_status s = TILEC_OK;
    for (uint32_t i = 0; i < m->saved_count && !s; i++)
        s = d->api->copy(d, m->stream->state, (void *)(uintptr_t)m->saved[i].first,
                         m->saved[i].copy, m->saved[i].size);
    return s ? s : d->api->stream_synchronize(d, m->stream->state);
}

static void free_saved(Measure *m) {
    tilec_device *d = m->kernel->device;
    for (uint32_t i = 0; i < m->saved_count; i++)
        if (m->saved[i].copy) d->api->free(d, m->saved[i].copy, m->saved[i].size);
    m->saved_count = 0;
}

// ---- Measuring ----

static tilec_status launch(void *measure, tilec_kernel *candidate) {
    const Measure *m = measure;
    tilec_status s = tilec_launch(candidate, m->stream, m->args, m->count);
    return s ? s : tilec_stream_synchronize(m->stream);
}

// Candidates may have other effects than the default, since their consts are conditions.
static const char *effect_of(Measure *m, tilec_kernel *candidate) {
    const Jit *jit = candidate->source;
    if (source_lock(jit->source)) return "it cannot be locked";
    const IrFunc *f = jit_tile_ir(candidate, m->arena, &jit->spec);
    os_mutex_unlock(jit->source->lock);
    return f ? effect_in(ir_body(f)) : "it does not compile";
}

static tilec_status ready(void *measure) {
    Measure *m = measure;
    TuneSearch *s = &m->search;
    for (size_t i = 0; i < s->count; i++) {
        TuneCandidate *c = &s->candidates[i];
        if (c->failure || c->left_out) continue;
        c->failure = effect_of(m, c->kernel);
        c->status = TILEC_UNSUPPORTED;
        if (!c->failure && c->kernel->loaded) note_uses(m, c->kernel->loaded->meta);
    }
    m->refusal = note_arrays(m);
    if (m->refusal) return TILEC_UNSUPPORTED;
    if (reads_what_it_writes(m)) s->timed.before = restore;
    return save(m);
}

static void find_space(Measure *m) {
    const Jit *jit = m->kernel->source;
    TuneSearch *s = &m->search;
    s->arena = m->arena;
    s->device = m->kernel->device;
    const SourceFile *file = jit->kernel->file;
    s->source = (TuneSource){.path = arena_text(m->arena, file->path.text, file->path.size),
                             .text = file->text,
                             .kernel = jit->kernel->name,
                             .given = tune_given(m->arena, jit->kernel, &m->spec)};
    s->timed = (Timed){.user = m, .launch = launch};
    s->ready = ready;
    s->budget = m->seconds;
    s->whole = true;
    if (!tune_space(s, jit->source->unit->file, jit->kernel, &m->spec))
        m->refusal = arena_printf(m->arena, "its tune space has more than %d candidates",
                                  TUNE_CANDIDATES_MAX);
    if (s->count == 1) m->idle = m->forever = true;
    TuneLaunch asked = {jit->source->unit, jit->kernel, &m->spec, m->args, m->count};
    if (!m->refusal) tune_predict(s, &asked);
}

static const char *refusal_of(const Measure *m) {
    const Jit *jit = m->kernel->source;
    const IrFunc *f;
    if (jit->switches.sanitize) return "it is compiled with sanitize";
    f = jit_tile_ir(m->kernel, m->arena, &m->spec);
    return f ? effect_in(ir_body(f)) : "it does not compile";
}

// Checks the launch, and finds out what it writes and whether it can be measured. The kernel's
// mutex is held.
static tilec_status plan(Measure *m) {
    tilec_kernel *k = m->kernel;
    const RtLoaded *loaded;
    TuneRow row;
    LaunchPlan launch_of = launch_plan(arena_new(m->arena, LaunchBuffers, 1));
    tilec_status s = jit_specialize(k, &m->spec, &loaded);
    if (s) return s;
    RtUnits units = {k, loaded};
    rt_kernel_units(&units, &launch_of);
    s = launch_prepare(k->context, k->device, loaded->meta, m->args, m->count, NULL, &launch_of);
    if (s) return s;
    m->idle = launch_of.empty ||
              !jit_tune_key(k->source, m->arena, m->args, m->count, &m->spec, &m->key) ||
              (!m->again && find_row(k, &m->key, &row));
    if (m->idle) return TILEC_OK;
    m->refusal = refusal_of(m);
    m->forever = m->refusal != NULL;
    if (m->refusal) return TILEC_OK;
    m->meta = loaded->meta;
    m->inputs = launch_of.inputs;
    note_uses(m, loaded->meta);
    find_space(m);
    return TILEC_OK;
}

static void keep_in_file(Measure *m, const TuneRow *row) {
    const char *named = os_env("TILEC_TUNE_FILE");
    Str path = tune_path(m->arena);
    if (!path.size) return;
    TuneKept kept = tune_keep(m->arena, path, !named, row);
    if (kept.fault || kept.error)
        snprintf(m->not_kept, sizeof m->not_kept,
                 "what was measured for %s is not kept in %.*s: %s; fix the file, or name another "
                 "one in TILEC_TUNE_FILE",
                 m->kernel->name, STR_ARG(path), kept.fault ? kept.fault : kept.error);
}

// Kernels of the same source on the device look for the row from now on.
static void announce(const tilec_kernel *kernel) {
    const TuneRow *key = &((const Jit *)kernel->source)->tune_key;
    os_mutex_lock(kernel->context->lock);
    for (RtOwned *o = kernel->device->kernels; o; o = o->next) {
        tilec_kernel *k = (tilec_kernel *)o;
        const Jit *jit = k->of_library ? NULL : k->source;
        if (!jit || !str_equal(jit->tune_key.source, key->source) ||
            !str_equal(jit->tune_key.kernel, key->kernel))
            continue;
        k->by_shape = true;
        atomic_fetch_add(&k->choices, 1);
    }
    os_mutex_unlock(kernel->context->lock);
}

// The candidates are alive, so the code of the best one is found in memory.
static tilec_status take_row(Measure *m, const TuneRow *row) {
    tilec_kernel *k = m->kernel;
    Jit *jit = k->source;
    const RtLoaded *loaded;
    add_row(k, row);
    announce(k);
    tilec_status s = source_lock(jit->source);
    if (s) return s;
    if (tune_apply(m->arena, jit->source->unit->names, jit->kernel, row, &m->spec))
        (void)jit_specialize(k, &m->spec, &loaded);  // without it the default runs
    os_mutex_unlock(jit->source->lock);
    rt_begin(k->context);
    return TILEC_OK;
}

// "matmul on cpu for T=f32 M=512 N=512: BM=64 is the best of 18 that were measured (separated, 2
// s)"
static void describe(Measure *m, const TuneCandidate *best, const char *outcome) {
    const TuneSearch *s = &m->search;
    StrBuf text = strbuf(m->arena);
    char consts[200];
    size_t failed = 0, measured = 0, pruned = 0;
    const TuneCandidate *first = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const TuneCandidate *c = &s->candidates[i];
        failed += c->failure != NULL;
        measured += !c->failure && !c->left_out;
        pruned += c->pruned;
        if (c->failure && !first) first = c;
    }
    strbuf_printf(&text, "%s on %s for %.*s", m->kernel->name, tilec_device_name(s->device),
                  STR_ARG(m->key.types));
    for (size_t i = 0; i < m->key.shape.count; i++)
        strbuf_printf(&text, " %.*s=%lld", STR_ARG(m->key.shape.data[i].name),
                      (long long)m->key.shape.data[i].value);
    tune_candidate_text(s, best, consts, sizeof consts);
    strbuf_printf(&text, ": %s %s %zu that were measured (%s, %.2g s)", consts, outcome, measured,
                  tune_end_name(s->end), s->seconds);
    if (pruned) strbuf_printf(&text, "; %zu are slow by their estimates", pruned);
    if (measured + failed + pruned < s->count)
        strbuf_printf(&text, "; for %zu the time was over", s->count - measured - failed - pruned);
    if (first) {
        tune_candidate_text(s, first, consts, sizeof consts);
        strbuf_printf(&text, "; %zu cannot be used, such as %s: %s", failed, consts,
                      first->failure);
    }
    snprintf(m->found, sizeof m->found, "%s", text.text);
}

// A result says something if several choices were measured, or all that there are.
static bool is_telling(const TuneSearch *s) {
    size_t measured = 0, left_out = 0;
    for (size_t i = 0; i < s->count; i++) {
        const TuneCandidate *c = &s->candidates[i];
        measured += !c->failure && !c->left_out;
        left_out += c->left_out && !c->pruned;
    }
    return measured > 1 || !left_out;
}

// Would it replace a row that has more consts, because the kernel's specialisation fixes some?
static bool is_partial(const Measure *m, const TuneRow *row) {
    TuneRow key = m->key, known;
    return find_row(m->kernel, &key, &known) && known.consts.count > row->consts.count;
}

static tilec_status none_launched(const Measure *m) {
    const TuneCandidate *first = m->search.candidates;
    return rt_fail(m->kernel->context, first->status,
                   "%s: none of %zu candidates can be launched; the first one: %s", m->kernel->name,
                   m->search.count, first->failure);
}

// A failed launch of one candidate is none of the search. A row without consts, which is in memory
// only, keeps later launches from measuring again.
static tilec_status search(Measure *m) {
    const Jit *jit = m->kernel->source;
    TuneRow row = m->key;
    row.target = str(jit->tune_names.text[0]);
    TuneCandidate *best = tune_search(&m->search);
    if (m->refusal) return take_row(m, &row);
    tilec_status s = m->search.ready_status;
    if (!s) s = restore(m);
    if (s) return s;
    bool telling = best && is_telling(&m->search);
    if (telling) tune_consts(m->arena, &m->search, best, &row);
    if (telling && is_partial(m, &row)) {
        describe(m, best, "is not kept, since a result for more consts exists; it is the best of");
        return TILEC_OK;
    }
    s = take_row(m, &row);
    if (!s && best) describe(m, best, telling ? "is the best of" : "runs, the only one of");
    if (!s && telling) keep_in_file(m, &row);
    return s || best ? s : none_launched(m);
}

static bool is_captured(const Measure *m) {
    tilec_device *d = m->kernel->device;
    return d->api->captured && d->api->captured(d, m->stream->state);
}

static tilec_status prepare(Measure *m) {
    tilec_kernel *k = m->kernel;
    Jit *jit = k->source;
    tilec_status s = source_lock(jit->source);
    if (s) return s;
    s = jit_bind(k, m->arena, m->args, m->count, &m->spec);
    if (!s) s = plan(m);
    if (m->forever) jit->never_tuned = true;
    os_mutex_unlock(jit->source->lock);
    if (!s && !m->idle && !m->refusal && is_captured(m)) m->refusal = "its stream is captured";
    // A failure of earlier work of the stream is not a candidate's.
    return s || m->idle || m->refusal ? s : tilec_stream_synchronize(m->stream);
}

static void end(Measure *m) {
    free_saved(m);
    tune_search_end(&m->search);
    arena_destroy(m->arena);
}

// The result of a measurement, for the caller.
typedef struct Outcome {
    tilec_status status;
    bool started, forever;
    char refusal[MESSAGE_MAX], found[MESSAGE_MAX], not_kept[MESSAGE_MAX];
} Outcome;

static void tell(const Measure *m, Outcome *o) {
    o->started = m->started;
    o->forever = m->forever;
    snprintf(o->refusal, sizeof o->refusal, "%s", m->refusal ? m->refusal : "");
    snprintf(o->found, sizeof o->found, "%s", m->found);
    snprintf(o->not_kept, sizeof o->not_kept, "%s", m->not_kept);
}

// Fills in the outcome. `asked` has the launch, and lives in no arena yet.
static void measure(const Measure *asked, Outcome *o) {
    Measure *volatile made = NULL;
    Recovery r;
    *o = (Outcome){0};
    if (RECOVER_FAILED(&r)) {
        if (made) end(made);
        o->status = rt_no_memory(asked->kernel->context);
        return;
    }
    Arena *arena = arena_create();
    Measure *m = arena_new(arena, Measure, 1);
    *m = *asked;
    m->arena = arena;
    arena_keep(arena);
    made = m;
    o->status = prepare(m);
    m->started = !o->status && !m->idle && !m->refusal;
    if (m->started) o->status = search(m);
    tell(m, o);
    recover_keep_all();
    recover_end(&r);
    end(m);
}

// The callbacks may make calls that measure.
static void log_outcome(const tilec_kernel *kernel, const Outcome *o) {
    if (o->found[0]) rt_log(kernel->context, TILEC_NOTE, "%s", o->found);
    if (o->not_kept[0]) rt_log(kernel->context, TILEC_WARNING, "%s", o->not_kept);
}

// ---- TILEC_TUNE ----

// Does a launch of these arguments have to be measured?
static tilec_status is_due(const tilec_kernel *kernel, const tilec_arg *args, size_t count,
                           bool *due) {
    Jit *jit = kernel->source;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(kernel->context);
    tilec_status s = source_lock(jit->source);
    if (!s) {
        FrontSpec spec;
        TuneRow row;
        *due = !jit->never_tuned;
        if (*due) {
            arena_reset(jit->source->scratch, (ArenaMark){0});
            s = jit_bind(kernel, jit->source->scratch, args, count, &spec);
            *due = !s && !jit_tune_row(kernel, args, count, &spec, &row);
        }
        os_mutex_unlock(jit->source->lock);
    }
    recover_end(&r);
    return s;
}

// Without a result the default runs; this is logged once for each kernel.
static tilec_status run_default(const tilec_kernel *kernel, const Outcome *o, bool *settled) {
    Jit *jit = kernel->source;
    const char *why = o->refusal[0] ? o->refusal : tilec_last_error(kernel->context);
    *settled = o->forever;
    if (!atomic_exchange(&jit->reported, true))
        rt_log(kernel->context, TILEC_NOTE,
               "%s is not measured (TILEC_TUNE), and runs with its default consts: %s",
               kernel->name, why);
    rt_begin(kernel->context);
    return TILEC_OK;
}

tilec_status jit_tune(tilec_kernel *kernel, tilec_stream *stream, const tilec_arg *args,
                      size_t count, bool waits, bool *settled) {
    const Compiler *c = compiler_of(kernel->context);
    const Jit *jit = kernel->source;
    bool due = false;
    tilec_status s = is_due(kernel, args, count, &due);
    if (s || !due) return s;
    if (waits) os_mutex_lock(c->measuring);
    if (!waits && !os_mutex_try(c->measuring)) {
        *settled = false;
        return TILEC_OK;
    }
    os_mutex_mark_consistent(c->measuring);
    Outcome o;
    measure(&(Measure){.kernel = kernel,
                       .stream = stream ? stream : kernel->device->first,
                       .args = args,
                       .count = count,
                       .seconds = (double)jit->switches.tune_ms / 1000},
            &o);
    os_mutex_unlock(c->measuring);
    log_outcome(kernel, &o);
    if (o.refusal[0] || (o.status && o.started)) return run_default(kernel, &o, settled);
    return o.status;
}

// ---- tilec_tune ----

static tilec_status check_call(const tilec_kernel *kernel, const tilec_stream *stream,
                               const tilec_arg *args, size_t count, double seconds) {
    tilec_context *c = kernel->context;
    if (!args && count) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the arguments are NULL");
    if (!(seconds > 0 && seconds <= TUNE_MS_MAX / 1000))
        return rt_fail(c, TILEC_INVALID_ARGUMENT,
                       "the time for measuring is %g seconds, expected more than 0 and at most %d",
                       seconds, TUNE_MS_MAX / 1000);
    if (kernel->of_library)
        return rt_fail(c, TILEC_UNSUPPORTED,
                       "%s belongs to a built library, which has no compiler: measure it with "
                       "`tilec tune`, and give the table to `tilec build --tune` or "
                       "tilec_library_tune",
                       kernel->name);
    if (stream && stream->device != kernel->device) return rt_kernel_other_device(kernel, stream);
    return TILEC_OK;
}

tilec_status tilec_tune(tilec_kernel *kernel, tilec_stream *stream, const tilec_arg *args,
                        size_t count, double seconds) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = kernel->context;
    rt_begin(c);
    tilec_status s = check_call(kernel, stream, args, count, seconds);
    if (s) return s;
    uint64_t mode = cpu_float_mode_usual();
    OsMutex *measuring = compiler_of(c)->measuring;
    os_mutex_lock(measuring);
    os_mutex_mark_consistent(measuring);
    Outcome o;
    measure(&(Measure){.kernel = kernel,
                       .stream = stream ? stream : kernel->device->first,
                       .args = args,
                       .count = count,
                       .seconds = seconds,
                       .again = true},
            &o);
    os_mutex_unlock(measuring);
    cpu_float_mode_restore(mode);
    log_outcome(kernel, &o);
    if (o.refusal[0])
        return rt_fail(c, TILEC_UNSUPPORTED, "%s cannot be measured: %s", kernel->name, o.refusal);
    return o.status;
}
