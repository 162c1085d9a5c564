#include "compile/tune/search.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/os/os_thread.h"
#include "base/recover.h"
#include "compile/device/sim_device.h"
#include "compile/jit/compiler.h"

enum {
    THREADS_MAX = 16,
    ROUNDS_MAX = 1001,
    ROUNDS_FAR = 3,   // after these, candidates that are far slower leave
    ROUNDS_SURE = 12  // the fewest rounds for a confidence interval
};
static const double FAR = 1.3;
// How many times the least estimate is hopeless. For each of 60 launches on a CPU the candidates
// that this leaves have one that is as fast as the best of all; nothing was compared on GPUs.
static const double PRUNED_CPU = 1.5, PRUNED_GPU = 4;

void tune_candidate_text(const TuneSearch *s, const TuneCandidate *c, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (size_t k = 0; k < s->name_count && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%lld", k ? " " : "",
                                 s->names[k]->name, (long long)c->values[k]);
}

const char *tune_end_name(TuneEnd end) {
    switch (end) {
    case TUNE_SEPARATED: return "separated";
    case TUNE_EQUAL: return "equal";
    case TUNE_TIME_OVER: return "budget";
    case TUNE_ROUNDS_OVER: return "rounds";
    case TUNE_INTERRUPTED: return "interrupted";
    case TUNE_COUNTED: break;
    }
    return "counted";
}

__attribute__((format(printf, 2, 3))) static void report_progress(const TuneSearch *s,
                                                                  const char *format, ...) {
    char text[300];
    va_list args;
    if (!s->progress) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    s->progress(s->progress_user, text);
}

static double since(uint64_t begin) { return (double)(os_time_ns() - begin) * 1e-9; }

// ---- The space ----

// Only GPUs have warps and asynchronous copies.
static bool is_tried(const TuneSearch *s, const FrontSpec *spec, Symbol name) {
    CodeTarget target;
    bool gpu = compiler_target_of(s->device, &target) && code_target_is_gpu(target);
    return !frontend_spec_find(spec, name) && (gpu || !frontend_is_option(name));
}

// The i-th candidate. The last name varies fastest, so that the first candidate is the one without
// tuning.
static void fill_candidate(const TuneSearch *s, size_t index) {
    TuneCandidate *c = &s->candidates[index];
    c->values = arena_new(s->arena, int64_t, s->name_count);
    for (size_t k = s->name_count; k-- > 0;) {
        if (s->names[k]->joint) {
            c->values[k] = s->names[k]->values[index];
            continue;
        }
        c->values[k] = s->names[k]->values[index % s->names[k]->count];
        index /= s->names[k]->count;
    }
}

bool tune_space(TuneSearch *s, FrontFile *file, const FrontKernel *kernel, const FrontSpec *spec) {
    const FrontTune *space;
    size_t n = frontend_tune_space(file, kernel, spec->target, &space);
    s->count = 1;
    s->names = arena_new(s->arena, const FrontTune *, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!is_tried(s, spec, space[i].name)) continue;
        size_t more = space[i].joint && s->name_count ? 1 : space[i].count;
        if (s->count * more > TUNE_CANDIDATES_MAX) return false;
        s->names[s->name_count++] = &space[i];
        s->count *= more;
    }
    s->candidates = arena_array(s->arena, sizeof *s->candidates, s->count);
    for (size_t i = 0; i < s->count; i++) fill_candidate(s, i);
    return true;
}

static bool is_param(const FrontKernel *kernel, Symbol name) {
    for (const FrontParam *p = kernel->params; p; p = p->next)
        if (p->name == name) return true;
    return false;
}

tilec_spec tune_given(Arena *arena, const FrontKernel *kernel, const FrontSpec *spec) {
    tilec_spec_entry *e = arena_new(arena, tilec_spec_entry, spec->bindings.count + 3);
    size_t n = 0;
    for (size_t i = 0; i < spec->bindings.count; i++) {
        const IrBinding *b = &spec->bindings.data[i];
        tilec_spec_kind kind = b->text                     ? TILEC_SPEC_VALUE
                               : b->is_type                ? TILEC_SPEC_TYPE
                               : is_param(kernel, b->name) ? TILEC_SPEC_CONST
                                                           : TILEC_SPEC_OPTION;
        int64_t value = b->text ? (int64_t)(intptr_t)b->text : b->value;
        e[n++] = (tilec_spec_entry){kind, b->name, (tilec_dtype)b->type, value};
    }
    if (spec->math & IR_MATH_CONTRACT)
        e[n++] = (tilec_spec_entry){TILEC_SPEC_OPTION, "math.contract", 0, 1};
    if (spec->math & IR_MATH_APPROX)
        e[n++] = (tilec_spec_entry){TILEC_SPEC_OPTION, "math.approx", 0, 1};
    return (tilec_spec){n, e};
}

void tune_consts(Arena *arena, const TuneSearch *s, const TuneCandidate *c, TuneRow *row) {
    for (size_t k = 0; k < s->name_count; k++) {
        TuneSetting value = {str(s->names[k]->name), c->values[k]};
        vec_push(arena, &row->consts, value);
    }
}

// ---- Compiling, by several threads ----

// Notes the failure, in the words of its first line.
static void fail(TuneSearch *s, TuneCandidate *c, tilec_status status) {
    const char *text = tilec_last_error(s->device->context), *end = strchr(text, '\n');
    os_mutex_lock(s->lock);
    c->failure = arena_text(s->arena, text, end ? (size_t)(end - text) : strlen(text));
    os_mutex_unlock(s->lock);
    c->status = status;
    c->active = false;
}

// The state that all candidates share, and a thread's own room for a specialisation.
typedef struct TuneWorker {
    TuneSearch *search;
    tilec_spec_entry *all;
} TuneWorker;

// An option of 0 is one that a configuration does not give.
static tilec_spec_entry entry_of(Symbol name, int64_t value) {
    if (!frontend_is_option(name)) return (tilec_spec_entry){TILEC_SPEC_CONST, name, 0, value};
    if (value) return (tilec_spec_entry){TILEC_SPEC_OPTION, name, 0, value};
    return (tilec_spec_entry){TILEC_SPEC_VALUE, name, 0, (int64_t)(intptr_t) "None"};
}

static void compile_one(const TuneWorker *w, TuneCandidate *c) {
    TuneSearch *s = w->search;
    const TuneSource *from = &s->source;
    tilec_spec_entry *all = w->all;
    tilec_spec spec = {from->given.count + s->name_count, all};
    if (from->given.count) memcpy(all, from->given.entries, from->given.count * sizeof *all);
    for (size_t k = 0; k < s->name_count; k++) {
        Symbol name = s->names[k]->name;
        all[from->given.count + k] = entry_of(name, c->values[k]);
    }
    tilec_status status =
        tilec_kernel_from_source(s->device->context, s->device, from->path, from->text.text,
                                 from->text.size, from->kernel, &spec, &c->kernel);
    if (status) fail(s, c, status);
}

// A thread of ours is in no region of recovery.
static void compile_safely(const TuneWorker *w, TuneCandidate *c) {
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        c->failure = "out of memory";
        c->status = TILEC_OUT_OF_MEMORY;
        return;
    }
    compile_one(w, c);
    recover_keep_all();
    recover_end(&r);
}

// Candidates that are slow by their estimates are not even compiled. The default is.
static void prune(TuneSearch *s) {
    CodeTarget target;
    bool gpu = compiler_target_of(s->device, &target) && code_target_is_gpu(target);
    double least = INFINITY;
    for (size_t i = 0; i < s->count; i++) least = fmin(least, s->candidates[i].estimate);
    for (size_t i = 1; i < s->count && least > 0 && isfinite(least); i++) {
        TuneCandidate *c = &s->candidates[i];
        c->pruned = c->left_out = c->estimate > least * (gpu ? PRUNED_GPU : PRUNED_CPU);
    }
}

static void compile_some(void *argument) {
    TuneWorker *w = argument;
    TuneSearch *s = w->search;
    for (;;) {
        size_t i = atomic_fetch_add(&s->next, 1);
        if (i >= s->count) return;
        TuneCandidate *c = &s->candidates[i];
        if (c->pruned) continue;
        report_progress(s, "compiling %zu of %zu", i + 1, s->count);
        c->left_out = i && s->whole && since(s->begin) > s->budget / 2;
        if (!c->left_out) compile_safely(w, c);
    }
}

static void compile_all(TuneSearch *s) {
    OsThread *threads[THREADS_MAX] = {0};
    TuneWorker workers[THREADS_MAX];
    unsigned n = os_cpu_count() < THREADS_MAX ? os_cpu_count() : THREADS_MAX;
    for (unsigned i = 0; i < n; i++)
        workers[i] = (TuneWorker){
            s, arena_new(s->arena, tilec_spec_entry, s->source.given.count + s->name_count)};
    for (unsigned i = 1; i < n && i < s->count; i++)
        threads[i] = os_thread_start("tilec-tune", compile_some, &workers[i]);
    compile_some(&workers[0]);
    for (unsigned i = 1; i < n; i++)
        if (threads[i]) os_thread_join(threads[i]);
}

// ---- The budget ----

// Is it time to stop? `fewest`: the budget counts only once there is something to compare.
static bool is_over(TuneSearch *s, uint64_t begin, bool fewest) {
    if (s->interrupts && os_interrupt_received(&s->interrupt)) {
        s->end = TUNE_INTERRUPTED;
        return true;
    }
    if (fewest || since(begin) < s->budget) return false;
    s->end = TUNE_TIME_OVER;
    return true;
}

static void leave_out(TuneSearch *s, size_t from) {
    for (size_t i = from; i < s->count; i++) {
        s->candidates[i].left_out |= !s->candidates[i].failure;
        s->candidates[i].active = false;
    }
}

// ---- Medians ----

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The ratios of two candidates' times in the rounds of both, sorted.
static unsigned ratios_of(const TuneCandidate *c, const TuneCandidate *to, double *ratios) {
    unsigned n = c->rounds < to->rounds ? c->rounds : to->rounds;
    for (unsigned i = 0; i < n; i++) ratios[i] = c->times[i] / to->times[i];
    qsort(ratios, n, sizeof *ratios, compare_doubles);
    return n;
}

static double median_of(const double *sorted, unsigned n) {
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double ratio_of(const TuneCandidate *c, const TuneCandidate *to) {
    double ratios[ROUNDS_MAX];
    unsigned n = ratios_of(c, to, ratios);
    return n ? median_of(ratios, n) : 1;
}

// The ranks of the 95 % confidence interval of a median.
static unsigned confidence_rank(unsigned n) {
    double rank = floor((n - 1.96 * sqrt(n)) / 2);
    return rank > 0 ? (unsigned)rank : 0;
}

// ---- Rounds ----

static TuneCandidate *first_active(const TuneSearch *s) {
    for (size_t i = 0; i < s->count; i++)
        if (s->candidates[i].active) return &s->candidates[i];
    return NULL;
}

// The candidate that no other one beats in the rounds of both.
static TuneCandidate *fastest(const TuneSearch *s, TuneCandidate *best) {
    for (size_t tries = 0; tries < s->count; tries++) {
        TuneCandidate *before = best;
        for (size_t i = 0; i < s->count; i++) {
            TuneCandidate *c = &s->candidates[i];
            if (c->active && c != best && ratio_of(c, best) < 1) best = c;
        }
        if (best == before) break;
    }
    return best;
}

static double least(const TuneCandidate *c) {
    double least = c->times[0];
    for (unsigned i = 1; i < c->rounds; i++) least = fmin(least, c->times[i]);
    return least;
}

static bool is_slower(const TuneCandidate *c, const TuneCandidate *best, bool early) {
    double ratios[ROUNDS_MAX], least_ratio = least(c) / least(best);
    unsigned n = ratios_of(c, best, ratios);
    if (n >= ROUNDS_FAR && least_ratio > FAR && median_of(ratios, n) > FAR) return true;
    return !early && n >= ROUNDS_SURE && ratios[confidence_rank(n)] > 1 && least_ratio > 1;
}

// Is the interval within TUNE_SAME of 1?
static bool is_equal(const TuneCandidate *c, const TuneCandidate *best) {
    double ratios[ROUNDS_MAX];
    unsigned n = ratios_of(c, best, ratios), low = confidence_rank(n);
    return n > ROUNDS_SURE && ratios[low] > 1 - TUNE_SAME && ratios[n - 1 - low] < 1 + TUNE_SAME;
}

static size_t divisor(size_t a, size_t b) { return b ? divisor(b, a % b) : a; }

// Each round has another order, so that no candidate meets the turns of other work every time. All
// candidates are reached, because the step and their number have no common divisor.
static size_t step_of(size_t count, unsigned round) {
    size_t step = 1 + round * 7 % count;
    while (divisor(step, count) != 1) step++;
    return step;
}

static void grow_times(const TuneSearch *s, TuneCandidate *c) {
    enum { FIRST = 16 };
    if (s->rounds < c->capacity) return;
    unsigned capacity = c->capacity ? 2 * c->capacity : FIRST;
    double *times = arena_new(s->arena, double, capacity);
    if (c->capacity) memcpy(times, c->times, c->capacity * sizeof *times);
    c->times = times;
    c->capacity = capacity;
}

// One sample of each candidate; false: stopped within the round, which does not count.
static bool run_round(TuneSearch *s, uint64_t begin) {
    bool few = !s->whole && s->rounds < ROUNDS_FAR;
    size_t offset = (size_t)(os_time_ns() % s->count), step = step_of(s->count, s->rounds);
    for (size_t k = 0; k < s->count; k++) {
        TuneCandidate *c = &s->candidates[(offset + k * step) % s->count];
        if (!c->active) continue;
        if (is_over(s, begin, few)) return false;
        grow_times(s, c);
        tilec_status failed = timing_steady(&s->timed, c->kernel, c->repeats, &c->times[s->rounds]);
        if (failed) fail(s, c, failed);
    }
    s->rounds++;
    for (size_t i = 0; i < s->count; i++)
        if (s->candidates[i].active) s->candidates[i].rounds = s->rounds;
    return true;
}

static void report_round(const TuneSearch *s, uint64_t begin) {
    size_t active = 0;
    for (size_t i = 0; i < s->count; i++) active += s->candidates[i].active;
    double left = s->budget - since(begin);
    report_progress(s, "measuring, round %u: %zu of %zu left, at most %.0f s more", s->rounds + 1,
                    active, s->count, left > 0 ? left : 0);
}

// After a round: who leaves? True: the search has its answer. Other work of the machine comes and
// goes in tenths of a second, so a tenth of the budget must have passed before a small difference
// counts.
static bool judge(TuneSearch *s, const TuneCandidate *best, uint64_t begin) {
    size_t rivals = 0, equal = 0;
    bool early = since(begin) < s->budget / 10;
    for (size_t i = 0; i < s->count; i++) {
        TuneCandidate *c = &s->candidates[i];
        if (!c->active || c == best) continue;
        c->active = !is_slower(c, best, early);
        rivals += c->active;
        equal += c->active && !early && is_equal(c, best);
    }
    s->end = rivals ? TUNE_EQUAL : TUNE_SEPARATED;
    return rivals == equal;
}

static TuneCandidate *run_rounds(TuneSearch *s, uint64_t begin) {
    TuneCandidate *best = first_active(s);
    while (best && s->rounds < ROUNDS_MAX) {
        report_round(s, begin);
        if (!run_round(s, begin)) break;
        if (!best->active) best = first_active(s);  // it failed
        if (best) best = fastest(s, best);
        if (best && judge(s, best, begin)) return best;
        s->end = s->rounds == ROUNDS_MAX ? TUNE_ROUNDS_OVER : TUNE_TIME_OVER;
    }
    return best && best->rounds ? best : NULL;
}

// The first launches compile what is missing, and tell how many launches a sample has.
static void calibrate_all(TuneSearch *s, uint64_t begin) {
    for (size_t i = 0; i < s->count; i++) {
        TuneCandidate *c = &s->candidates[i];
        char text[200];
        if (c->failure || c->left_out) continue;
        if (is_over(s, begin, !first_active(s))) {
            leave_out(s, i);
            return;
        }
        tune_candidate_text(s, c, text, sizeof text);
        report_progress(s, "trying %zu of %zu: %s", i + 1, s->count, text);
        c->active = true;
        tilec_status failed = timing_calibrate(&s->timed, c->kernel, &c->repeats, &c->seconds);
        if (failed) fail(s, c, failed);
    }
}

// Stopped before the first round ended: the first launches are all that is known.
static TuneCandidate *first_guess(const TuneSearch *s) {
    TuneCandidate *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        TuneCandidate *c = &s->candidates[i];
        if (c->active && (!best || c->seconds < best->seconds)) best = c;
    }
    for (size_t i = 0; best && i < s->count; i++)
        s->candidates[i].ratio = s->candidates[i].seconds / best->seconds;
    return best;
}

static void fill_in(const TuneSearch *s, const TuneCandidate *best) {
    for (size_t i = 0; best && i < s->count; i++) {
        TuneCandidate *c = &s->candidates[i];
        double sorted[ROUNDS_MAX];
        if (c->failure || c->left_out) continue;
        if (!c->rounds) {
            c->left_out = true;
            continue;
        }
        c->ratio = ratio_of(c, best);
        memcpy(sorted, c->times, c->rounds * sizeof *sorted);
        qsort(sorted, c->rounds, sizeof *sorted, compare_doubles);
        c->seconds = median_of(sorted, c->rounds);
        c->spread = (sorted[c->rounds * 3 / 4] - sorted[c->rounds / 4]) / 2 / (c->seconds + 1e-12);
    }
}

// A search that left candidates out is not sure, however far the others are apart.
static void decide_end(TuneSearch *s) {
    for (size_t i = 0; i < s->count; i++)
        if (s->candidates[i].left_out && !s->candidates[i].pruned &&
            (s->end == TUNE_SEPARATED || s->end == TUNE_EQUAL))
            s->end = TUNE_TIME_OVER;
}

// ---- Counting, on a simulated device ----

// Rough weights: the parts of a launch that compete for a multiprocessor, in warps' issue slots. A
// sector takes the memory as long as four of them, a product of matrices its unit as long as eight.
static double cost_of(const SimTally *t) {
    return (double)t->instructions + 4 * (double)t->sectors + (double)t->wavefronts +
           8 * (double)t->matrix;
}

static TuneCandidate *count_all(TuneSearch *s, uint64_t begin) {
    TuneCandidate *best = NULL;
    s->end = TUNE_COUNTED;
    for (size_t i = 0; i < s->count; i++) {
        TuneCandidate *c = &s->candidates[i];
        SimTally tally = {0};
        if (c->failure || c->left_out) continue;
        if (is_over(s, begin, !best)) {
            leave_out(s, i);
            break;
        }
        report_progress(s, "counting %zu of %zu", i + 1, s->count);
        sim_device_tally(s->device, &tally);
        tilec_status failed = s->timed.launch(s->timed.user, c->kernel);
        sim_device_tally(s->device, NULL);
        if (failed) fail(s, c, failed);
        c->cost = cost_of(&tally);
        if (!failed && (!best || c->cost < best->cost)) best = c;
    }
    for (size_t i = 0; best && i < s->count; i++)
        s->candidates[i].ratio = s->candidates[i].cost / best->cost;
    return best;
}

// ---- All of it ----

TuneCandidate *tune_search(TuneSearch *s) {
    s->lock = os_mutex_create_long();
    s->begin = os_time_ns();
    if (!s->exhaustive) prune(s);
    compile_all(s);
    if (s->ready) s->ready_status = s->ready(s->timed.user);
    if (s->interrupts) os_interrupt_begin(&s->interrupt);
    uint64_t begin = s->whole ? s->begin : os_time_ns();
    TuneCandidate *best = NULL;
    if (s->ready_status) {
        s->end = TUNE_TIME_OVER;
    } else if (s->device->api->simulated) {
        best = count_all(s, begin);
    } else {
        calibrate_all(s, begin);
        best = run_rounds(s, begin);
        if (best)
            fill_in(s, best);
        else
            best = first_guess(s);
        decide_end(s);
    }
    s->seconds = since(begin);
    if (s->interrupts) os_interrupt_end(&s->interrupt);
    os_mutex_destroy(s->lock);
    return best;
}

void tune_search_end(TuneSearch *s) {
    for (size_t i = 0; i < s->count && s->candidates; i++)
        tilec_kernel_destroy(s->candidates[i].kernel);
    s->candidates = NULL;
    s->count = 0;
}
