// tilec tune FILE KERNEL: tries the consts of the kernel's tune space and keeps the fastest.
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/os/os_folder.h"
#include "base/os/os_mutex.h"
#include "base/os/os_thread.h"
#include "base/status.h"
#include "compile/jit/compiler.h"
#include "compile/report/tuner.h"
#include "tools/front.h"
#include "tools/measure.h"
#include "tools/progress.h"

static const CliOption options[] = {
    {"device", "D", "interp, cpu or cpu:THREADS, cuda:N, hip:N, sim:ARCH, or auto (default)",
     false},
    SETTINGS_OPTIONS,
    FRONT_LIMIT_OPTION,
    {"in", "NAME=F.npy", "an array from a NumPy file", true},
    {"seed", "S", "fills arrays without --in (default 1)", false},
    {"table", "FILE", "keep the result here instead of in the user's table", false},
};

enum { CANDIDATES_MAX = 4096, THREADS_MAX = 16, DUELS = 7, SHOWN = 20 };

typedef struct Candidate {
    int64_t *values;  // one for each name
    tilec_kernel *kernel;
    const char *failure;  // why it cannot be used: it does not compile, or requires fails
    double seconds;       // of one launch, when it was measured
    double score;         // relative to the first candidate: the smallest score wins
    unsigned repeats;
} Candidate;

static const double HOPELESS = 1.3;

typedef struct Search {
    Run *run;
    const FrontTune **names;
    size_t name_count;
    Candidate *candidates;
    size_t count;
    _Atomic size_t next;  // to compile
    OsMutex *lock;        // protects the arena
    Progress *progress;
    Str where;  // path of the table; empty: the result is not kept
} Search;

// ---- The space ----

// Tries consts, and on GPUs options: only GPUs have warps and asynchronous copies.
static bool is_tried(const Run *r, Symbol name) {
    CodeTarget target;
    bool gpu = compiler_target_of(r->device, &target) && code_target_is_gpu(target);
    return !frontend_spec_find(&r->settings.spec, name) && (gpu || !frontend_is_option(name));
}

static int find_space(Search *s) {
    Run *r = s->run;
    const FrontTune *space;
    size_t n = frontend_tune_space(r->unit->file, r->kernel, r->settings.spec.target, &space);
    s->count = 1;
    s->names = arena_new(r->cli->arena, const FrontTune *, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!is_tried(r, space[i].name)) continue;
        if (s->count * space[i].count > CANDIDATES_MAX)
            return cli_fail(r->cli, EXIT_INPUT, DIAG_TUNE, "give some of them with --set",
                            "the tune space of '%s' has more than %d candidates", r->kernel->name,
                            CANDIDATES_MAX);
        s->names[s->name_count++] = &space[i];
        s->count *= space[i].count;
    }
    if (s->name_count) return EXIT_FINE;
    return cli_fail(
        r->cli, EXIT_INPUT, DIAG_TUNE,
        arena_printf(r->cli->arena, "write: tune %s { NAME: 64, 128; }", r->kernel->name),
        "kernel '%s' has no consts to try that are not set", r->kernel->name);
}

// The i-th candidate. The last name varies fastest, so that the first candidate is the one without
// tuning.
static void fill_candidate(const Search *s, size_t index) {
    Candidate *c = &s->candidates[index];
    c->values = arena_new(s->run->cli->arena, int64_t, s->name_count);
    for (size_t k = s->name_count; k-- > 0;) {
        c->values[k] = s->names[k]->values[index % s->names[k]->count];
        index /= s->names[k]->count;
    }
}

static void candidate_text(const Search *s, const Candidate *c, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (size_t k = 0; k < s->name_count && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%lld", k ? " " : "",
                                 s->names[k]->name, (long long)c->values[k]);
}

// ---- Compiling, by several threads ----

static void first_line(Search *s, Candidate *c) {
    const char *text = tilec_last_error(s->run->context), *end = strchr(text, '\n');
    os_mutex_lock(s->lock);
    c->failure = arena_text(s->run->cli->arena, text, end ? (size_t)(end - text) : strlen(text));
    os_mutex_unlock(s->lock);
}

// The state that all candidates share, and a thread's own copy of the settings.
typedef struct TuneWorker {
    Search *search;
    tilec_spec_entry *all;
    tilec_spec given;
    const char *path;
    Str text;
} TuneWorker;

static void compile_one(const TuneWorker *w, Candidate *c) {
    Search *s = w->search;
    tilec_spec_entry *all = w->all;
    tilec_spec spec = {w->given.count + s->name_count, all};
    if (w->given.count) memcpy(all, w->given.entries, w->given.count * sizeof *all);
    for (size_t k = 0; k < s->name_count; k++) {
        Symbol name = s->names[k]->name;
        tilec_spec_kind kind = frontend_is_option(name) ? TILEC_SPEC_OPTION : TILEC_SPEC_CONST;
        all[w->given.count + k] = (tilec_spec_entry){kind, name, 0, c->values[k]};
    }
    if (tilec_kernel_from_source(s->run->context, s->run->device, w->path, w->text.text,
                                 w->text.size, s->run->kernel->name, &spec, &c->kernel))
        first_line(s, c);
}

static void compile_some(void *argument) {
    TuneWorker *w = argument;
    Search *s = w->search;
    for (;;) {
        size_t i = atomic_fetch_add(&s->next, 1);
        if (i >= s->count) return;
        progress_say(s->progress, "compiling %zu of %zu", i + 1, s->count);
        compile_one(w, &s->candidates[i]);
    }
}

static void compile_all(Search *s) {
    OsThread *threads[THREADS_MAX] = {0};
    TuneWorker workers[THREADS_MAX], w = {.search = s, .given = run_spec(s->run)};
    w.text = run_source(s->run, &w.path);
    unsigned n = os_cpu_count() < THREADS_MAX ? os_cpu_count() : THREADS_MAX;
    for (unsigned i = 0; i < n; i++) {
        workers[i] = w;
        workers[i].all =
            arena_new(s->run->cli->arena, tilec_spec_entry, w.given.count + s->name_count);
    }
    for (unsigned i = 1; i < n && i < s->count; i++)
        threads[i] = os_thread_start("tilec-tune", compile_some, &workers[i]);
    compile_some(&workers[0]);
    for (unsigned i = 1; i < n; i++)
        if (threads[i]) os_thread_join(threads[i]);
}

// ---- Measuring ----

// Measures a candidate alternately with the best so far: A, B, A, B, …; the median of the ratios
// decides. A candidate that is clearly slower after three measurements is dropped.
static bool is_faster(Search *s, Candidate *c, Candidate *best) {
    double ratios[DUELS], times[DUELS], sorted[DUELS];
    for (size_t i = 0; i < DUELS;) {
        double b = 0;
        if (measure_sample(s->run, best->kernel, best->repeats, &b) ||
            measure_sample(s->run, c->kernel, c->repeats, &times[i])) {
            first_line(s, c);
            return false;
        }
        ratios[i] = times[i] / b;
        memcpy(sorted, ratios, ++i * sizeof *sorted);
        double ratio = measure_median(sorted, i);
        c->score = ratio * best->score;
        memcpy(sorted, times, i * sizeof *sorted);
        c->seconds = measure_median(sorted, i);
        if (i == 3 && ratio > HOPELESS) return false;
    }
    return c->score < best->score;
}

static Candidate *measure_all(Search *s) {
    Candidate *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        Candidate *c = &s->candidates[i];
        if (c->failure) continue;
        char text[200];
        candidate_text(s, c, text, sizeof text);
        progress_say(s->progress, "measuring %zu of %zu: %s", i + 1, s->count, text);
        if (measure_calibrate(s->run, c->kernel, &c->repeats, &c->seconds)) {
            first_line(s, c);
            continue;
        }
        if (!best) c->score = 1;
        if (!best || is_faster(s, c, best)) best = c;
    }
    return best;
}

// ---- The result ----

// A file that is not a table, or has lines that would be lost, is not overwritten. It is checked
// before anything is measured, and read again when the result is known, because another process may
// have written it in the meantime.
static int read_table(const Search *s, TuneTable **table) {
    Cli *cli = s->run->cli;
    *table = tune_read(cli->arena, s->where);
    if (!(*table)->problems.count) return EXIT_FINE;
    const TuneProblem *p = &(*table)->problems.data[0];
    const char *help = "fix the file or remove it; --table FILE or TILEC_TUNE_FILE names another";
    const char *line = p->line ? arena_printf(cli->arena, "line %u: ", p->line) : "";
    return cli_fail(cli, EXIT_INPUT, DIAG_TUNE, help, "'%.*s' is left as it is: %s%s",
                    STR_ARG(s->where), line, p->text);
}

static int find_table(Search *s) {
    Cli *cli = s->run->cli;
    TuneTable *table;
    s->where = cli_has(cli, "table") ? cli_value(cli, "table") : tune_path(cli->arena);
    return read_table(s, &table);
}

// Another process that keeps a result at the same time waits. Its result is read again and
// preserved.
static int keep_row(const Search *s, const TuneRow *row) {
    // seconds; after that we go on even if another process still holds the folder
    enum { PATIENCE = 10 };
    Cli *cli = s->run->cli;
    Arena *arena = cli->arena;
    const char *path = cli_text(cli, s->where), *slash = strrchr(path, '/');
    OsError error;
    if (slash && slash > path && !cli_has(cli, "table")) {
        const char *folder = arena_text(arena, path, (size_t)(slash - path));
        os_folder_close(os_folder_open(arena, folder, true, &error));
    }
    OsLock lock;
    os_lock_beside(arena, path, PATIENCE, &lock);
    TuneTable *table;
    int status = read_table(s, &table);
    if (!status) {
        tune_put(arena, table, row);
        StrBuf text = strbuf(arena);
        tune_print(table, &text);
        if (!os_write_file(arena, path, strbuf_str(&text), &error))
            status =
                cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot write '%s': %s", path, error.text);
    }
    os_unlock_beside(&lock);
    return status;
}

static int keep(Search *s, const Candidate *best) {
    Run *r = s->run;
    Arena *arena = r->cli->arena;
    TuneRow row = run_tune_key(r);
    TuneNames names = run_tune_names(r, &row);
    row.target = str(arena_printf(arena, "%s", names.text[0]));
    for (size_t k = 0; k < s->name_count; k++) {
        TuneSetting value = {str(s->names[k]->name), best->values[k]};
        vec_push(arena, &row.consts, value);
    }
    return s->where.size ? keep_row(s, &row) : EXIT_FINE;
}

static void print_text(const Search *s, const Candidate *best) {
    char text[200];
    size_t failed = 0, slow = 0;
    for (size_t i = 0; i < s->count; i++) {
        const Candidate *c = &s->candidates[i];
        failed += c->failure != NULL;
        if (c->failure) continue;
        double ratio = c->score / best->score;
        if (s->count > SHOWN && ratio > HOPELESS) {
            slow++;
            continue;
        }
        candidate_text(s, c, text, sizeof text);
        printf("%-32s %10.4g us  %.2f%s\n", text, c->seconds * 1e6, ratio,
               c == best ? "  fastest" : "");
    }
    if (slow)
        printf("%zu candidate%s that take%s more than %.1f times as long not shown\n", slow,
               slow == 1 ? "" : "s", slow == 1 ? "s" : "", HOPELESS);
    if (failed) printf("%zu of %zu candidates cannot be used here\n", failed, s->count);
    candidate_text(s, best, text, sizeof text);
    printf("%s on %s: %s\n", s->run->kernel->name, tilec_device_name(s->run->device), text);
    if (s->where.size) printf("kept in %.*s\n", STR_ARG(s->where));
    if (s->run->device->api->simulated)
        printf(MEASURE_SIMULATED "; the result is kept for this device only\n");
}

static void print_json(const Search *s, const Candidate *best) {
    Json *j = &s->run->cli->json_out;
    json_key(j, "kernel"), json_str(j, str(s->run->kernel->name));
    json_key(j, "device"), json_str(j, str(tilec_device_name(s->run->device)));
    json_key(j, "simulated"), json_bool(j, s->run->device->api->simulated);
    json_key(j, "table"), json_str(j, s->where);
    json_key(j, "best"), json_uint(j, (uint64_t)(best - s->candidates));
    json_key(j, "candidates"), json_open(j, '[');
    for (size_t i = 0; i < s->count; i++) {
        const Candidate *c = &s->candidates[i];
        json_open(j, '{');
        json_key(j, "consts"), json_open(j, '{');
        for (size_t k = 0; k < s->name_count; k++)
            json_key(j, s->names[k]->name), json_int(j, c->values[k]);
        json_close(j, '}');
        if (c->failure)
            json_key(j, "failure"), json_str(j, str(c->failure));
        else
            json_key(j, "seconds"), json_double(j, c->seconds), json_key(j, "ratio"),
                json_double(j, c->score / best->score);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static int search(Search *s) {
    Run *r = s->run;
    int status = find_table(s);
    if (!status) status = run_make_args(r);
    if (status) return status;
    s->candidates = arena_array(r->cli->arena, sizeof *s->candidates, s->count);
    for (size_t i = 0; i < s->count; i++) fill_candidate(s, i);
    s->progress = progress_begin(r->cli, "compiling %zu candidates", s->count);
    compile_all(s);
    const Candidate *best = measure_all(s);
    progress_end(s->progress);
    if (!best)
        return cli_fail(r->cli, EXIT_INPUT, DIAG_TUNE, s->candidates[0].failure,
                        "none of %zu candidates can be launched", s->count);
    status = keep(s, best);
    if (status) return status;
    if (r->cli->json)
        print_json(s, best);
    else if (!r->cli->quiet)
        print_text(s, best);
    return EXIT_FINE;
}

static int tune(Cli *cli) {
    Run r;
    Search s = {.run = &r, .lock = os_mutex_create_long()};
    int status = run_open(cli, &r);
    if (!status) status = find_space(&s);
    if (!status) status = search(&s);
    for (size_t i = 0; i < s.count && s.candidates; i++)
        tilec_kernel_destroy(s.candidates[i].kernel);
    run_close(&r);
    os_mutex_destroy(s.lock);
    return status;
}

const CliCommand command_tune = {
    .name = "tune",
    .usage = "FILE KERNEL [options]",
    .summary = "find the fastest consts of a kernel's tune space, and keep them",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 2,
    .max_operands = 2,
    .run = tune,
};
