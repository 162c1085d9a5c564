// tilec tune FILE KERNEL: tries the consts of the kernel's tune space and keeps the fastest, for
// one set of extents or for a file of them.
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/os/os_folder.h"
#include "base/status.h"
#include "compile/jit/compiler.h"
#include "compile/report/tuner.h"
#include "tools/front.h"
#include "tools/tune_search.h"

static const CliOption options[] = {
    {"device", "D", "interp, cpu or cpu:THREADS, cuda:N, hip:N, sim:ARCH, or auto (default)",
     false},
    SETTINGS_OPTIONS,
    FRONT_LIMIT_OPTION,
    {"in", "NAME=F.npy", "an array from a NumPy file", true},
    {"seed", "S", "fills arrays without --in (default 1)", false},
    {"shapes", "FILE", "tunes for each line of settings in it, such as: M=64 N=64", false},
    {"seconds", "S", "measures for at most about S seconds (default 10)", false},
    {"all", NULL, "shows all candidates, also slow ones and those that cannot be used", false},
    {"table", "FILE", "keep the result here instead of in the user's table", false},
};

enum { CANDIDATES_MAX = 4096, SHOWN = 20, SECONDS = 10, SECONDS_MAX = 86400 };
static const double HOPELESS = 1.3;

typedef struct Search {
    TuneSearch s;
    Str where;  // path of the table; empty: the result is not kept
    Str title;  // printed above the candidates; empty: nothing
} Search;

// ---- The space ----

// Tries consts, and on GPUs options: only GPUs have warps and asynchronous copies.
static bool is_tried(const Run *r, Symbol name) {
    CodeTarget target;
    bool gpu = compiler_target_of(r->device, &target) && code_target_is_gpu(target);
    return !frontend_spec_find(&r->settings.spec, name) && (gpu || !frontend_is_option(name));
}

static int find_space(TuneSearch *s) {
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
static void fill_candidate(const TuneSearch *s, size_t index) {
    TuneCandidate *c = &s->candidates[index];
    c->values = arena_new(s->run->cli->arena, int64_t, s->name_count);
    for (size_t k = s->name_count; k-- > 0;) {
        c->values[k] = s->names[k]->values[index % s->names[k]->count];
        index /= s->names[k]->count;
    }
}

// ---- The result ----

// A file that is not a table, or has lines that would be lost, is not overwritten. It is checked
// before anything is measured, and read again when the result is known, because another process may
// have written it in the meantime.
static int read_table(const Search *s, TuneTable **table) {
    Cli *cli = s->s.run->cli;
    *table = tune_read(cli->arena, s->where);
    if (!(*table)->problems.count) return EXIT_FINE;
    const TuneProblem *p = &(*table)->problems.data[0];
    const char *help = "fix the file or remove it; --table FILE or TILEC_TUNE_FILE names another";
    const char *line = p->line ? arena_printf(cli->arena, "line %u: ", p->line) : "";
    return cli_fail(cli, EXIT_INPUT, DIAG_TUNE, help, "'%.*s' is left as it is: %s%s",
                    STR_ARG(s->where), line, p->text);
}

static int find_table(Search *s) {
    Cli *cli = s->s.run->cli;
    TuneTable *table;
    s->where = cli_has(cli, "table") ? cli_value(cli, "table") : tune_path(cli->arena);
    return read_table(s, &table);
}

// Another process that keeps a result at the same time waits. Its result is read again and
// preserved.
static int keep_row(const Search *s, const TuneRow *row) {
    // seconds; after that we go on even if another process still holds the folder
    enum { PATIENCE = 10 };
    Cli *cli = s->s.run->cli;
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

static int keep(const Search *search, const TuneCandidate *best) {
    const TuneSearch *s = &search->s;
    Run *r = s->run;
    Arena *arena = r->cli->arena;
    TuneRow row = run_tune_key(r);
    TuneNames names = run_tune_names(r, &row);
    row.target = str(arena_printf(arena, "%s", names.text[0]));
    for (size_t k = 0; k < s->name_count; k++) {
        TuneSetting value = {str(s->names[k]->name), best->values[k]};
        vec_push(arena, &row.consts, value);
    }
    return search->where.size ? keep_row(search, &row) : EXIT_FINE;
}

// ---- Text ----

// All times of one table are in the unit of the fastest.
typedef struct TimeUnit {
    const char *name;
    double scale;
} TimeUnit;

static TimeUnit unit_of(double seconds) {
    if (seconds >= 1) return (TimeUnit){"s", 1};
    if (seconds >= 1e-3) return (TimeUnit){"ms", 1e3};
    return seconds >= 1e-6 ? (TimeUnit){"us", 1e6} : (TimeUnit){"ns", 1e9};
}

static void print_candidate(const TuneSearch *s, const TuneCandidate *c,
                            const TuneCandidate *best) {
    char text[200];
    TimeUnit unit = unit_of(best->seconds);
    const char *mark = c == best ? s->end == TUNE_COUNTED ? "  least" : "  fastest" : "";
    tune_candidate_text(s, c, text, sizeof text);
    if (c->failure)
        printf("%-32s cannot be used: %s\n", text, c->failure);
    else if (c->left_out)
        printf("%-32s was not measured\n", text);
    else if (s->run->device->api->simulated)
        printf("%-32s %12.0f  %.2f%s\n", text, c->cost, c->ratio, mark);
    else
        printf("%-32s %10.4g %s +- %.1f%%  %.3f%s\n", text, c->seconds * unit.scale, unit.name,
               c->spread * 100, c->ratio, mark);
}

static void print_end(const TuneSearch *s, const TuneCandidate *best) {
    size_t equal = 0;
    for (size_t i = 0; i < s->count; i++)
        equal += s->candidates[i].active && &s->candidates[i] != best;
    switch (s->end) {
    case TUNE_SEPARATED:
        if (s->count > 1)
            printf("it is faster than all others for sure, after %u rounds, %.1f s\n", s->rounds,
                   s->seconds);
        return;
    case TUNE_EQUAL:
        printf("%zu other%s equal within %.0f %%, after %u rounds, %.1f s\n", equal,
               equal == 1 ? " is" : "s are", TUNE_SAME * 100, s->rounds, s->seconds);
        return;
    case TUNE_TIME_OVER:
        printf(
            "it is not sure: after %u rounds, %.1f s, %zu other%s may be as fast; --seconds gives "
            "more time\n",
            s->rounds, s->seconds, equal, equal == 1 ? "" : "s");
        return;
    case TUNE_INTERRUPTED:
        printf("it is the best so far: interrupted after %u rounds, %.1f s\n", s->rounds,
               s->seconds);
        return;
    case TUNE_COUNTED:
        printf(
            "ranked by counted cost, not by time: instructions + 4 sectors + wavefronts + 8 "
            "matrix operations\n");
    }
}

static void print_text(const Search *search, const TuneCandidate *best) {
    const TuneSearch *s = &search->s;
    bool all = cli_has(s->run->cli, "all");
    char text[200];
    size_t failed = 0, slow = 0, left_out = 0;
    const TuneCandidate *first_failed = NULL;
    if (search->title.size) printf("%.*s\n", STR_ARG(search->title));
    for (size_t i = 0; i < s->count; i++) {
        const TuneCandidate *c = &s->candidates[i];
        failed += c->failure != NULL;
        left_out += c->left_out;
        if (c->failure && !first_failed) first_failed = c;
        bool far = !c->failure && !c->left_out && s->count > SHOWN && c->ratio > HOPELESS;
        slow += far;
        if (all || (!far && !c->failure && !c->left_out)) print_candidate(s, c, best);
    }
    if (slow && !all)
        printf("%zu candidate%s more than %.1f times as slow not shown; --all shows %s\n", slow,
               slow == 1 ? " that is" : "s that are", HOPELESS, slow == 1 ? "it" : "them");
    if (failed) printf("%zu of %zu candidates cannot be used here\n", failed, s->count);
    if (failed && !all) print_candidate(s, first_failed, best);
    if (left_out) printf("%zu of %zu candidates were not measured\n", left_out, s->count);
    print_end(s, best);
    tune_candidate_text(s, best, text, sizeof text);
    printf("%s on %s: %s\n", s->run->kernel->name, tilec_device_name(s->run->device), text);
    if (search->where.size) printf("kept in %.*s\n", STR_ARG(search->where));
    if (s->run->device->api->simulated)
        printf(
            "simulated: counts of the simulator, not times of a GPU; the result is kept for this "
            "device only\n");
}

// ---- JSON ----

static void add_candidate(Json *j, const TuneSearch *s, const TuneCandidate *c) {
    json_open(j, '{');
    json_key(j, "consts"), json_open(j, '{');
    for (size_t k = 0; k < s->name_count; k++)
        json_key(j, s->names[k]->name), json_int(j, c->values[k]);
    json_close(j, '}');
    if (c->failure) {
        json_key(j, "failure"), json_str(j, str(c->failure));
    } else if (c->left_out) {
        json_key(j, "measured"), json_bool(j, false);
    } else if (s->run->device->api->simulated) {
        json_key(j, "cost"), json_double(j, c->cost);
        json_key(j, "ratio"), json_double(j, c->ratio);
    } else {
        json_key(j, "seconds"), json_double(j, c->seconds);
        json_key(j, "spread"), json_double(j, c->spread);
        json_key(j, "rounds"), json_uint(j, c->rounds);
        json_key(j, "ratio"), json_double(j, c->ratio);
    }
    json_close(j, '}');
}

static void print_json(const Search *search, const TuneCandidate *best) {
    const TuneSearch *s = &search->s;
    Json *j = &s->run->cli->json_out;
    json_key(j, "kernel"), json_str(j, str(s->run->kernel->name));
    json_key(j, "device"), json_str(j, str(tilec_device_name(s->run->device)));
    json_key(j, "simulated"), json_bool(j, s->run->device->api->simulated);
    json_key(j, "table"), json_str(j, search->where);
    json_key(j, "ended"), json_str(j, str(tune_end_name(s->end)));
    json_key(j, "rounds"), json_uint(j, s->rounds);
    json_key(j, "best"), json_uint(j, (uint64_t)(best - s->candidates));
    json_key(j, "candidates"), json_open(j, '[');
    for (size_t i = 0; i < s->count; i++) add_candidate(j, s, &s->candidates[i]);
    json_close(j, ']');
}

// ---- One set of extents ----

static int search(Search *search) {
    TuneSearch *s = &search->s;
    Run *r = s->run;
    int status = find_table(search);
    if (!status) status = run_make_args(r);
    if (status) return status;
    s->candidates = arena_array(r->cli->arena, sizeof *s->candidates, s->count);
    for (size_t i = 0; i < s->count; i++) fill_candidate(s, i);
    const TuneCandidate *best = tune_search(s);
    if (!best)
        return cli_fail(r->cli, EXIT_INPUT, DIAG_TUNE, s->candidates[0].failure,
                        "none of %zu candidates can be launched", s->count);
    status = keep(search, best);
    if (status) return status;
    if (r->cli->json)
        print_json(search, best);
    else if (!r->cli->quiet)
        print_text(search, best);
    return EXIT_FINE;
}

// `title`: the line of the file of extents, or empty.
static int tune_one(Cli *cli, Str title, int64_t seconds, bool *interrupted) {
    Run r;
    Search s = {.title = title,
                .s = {.run = &r, .lock = os_mutex_create_long(), .budget = (double)seconds}};
    int status = run_open(cli, &r);
    if (!status) status = find_space(&s.s);
    if (!status) status = search(&s);
    *interrupted = s.s.interrupt.came;
    tune_search_end(&s.s);
    run_close(&r);
    os_mutex_destroy(s.s.lock);
    return status;
}

// ---- A file of extents ----

// The settings of a line become those of --set, as long as the line is tuned for.
static size_t add_settings(Cli *cli, Str line) {
    const CliOption *set = options;
    size_t count = 0;
    while (strcmp(set->name, "set") != 0) set++;
    while (line.size) {
        Str word = str_cut(line, ' ', &line);
        CliArg arg = {set, word};
        if (!word.size) continue;
        vec_push(cli->arena, &cli->args, arg);
        count++;
    }
    return count;
}

static int tune_lines(Cli *cli, Str text, int64_t seconds) {
    int status = EXIT_FINE;
    bool interrupted = false;
    size_t tuned = 0;
    if (cli->json) json_key(&cli->json_out, "tuned"), json_open(&cli->json_out, '[');
    while (text.size && !status && !interrupted) {
        Str comment, line = str_cut(str_cut(text, '\n', &text), '#', &comment);
        size_t given = cli->args.count;
        if (!add_settings(cli, str_trim(line))) continue;
        if (cli->json) json_open(&cli->json_out, '{');
        status = tune_one(cli, str_trim(line), seconds, &interrupted);
        fflush(stdout);
        if (cli->json) json_close(&cli->json_out, '}');
        cli->args.count = given;
        tuned++;
    }
    if (cli->json) json_close(&cli->json_out, ']');
    if (tuned || status) return status;
    return cli_fail(cli, EXIT_INPUT, DIAG_TUNE, "write a line for each: M=64 N=64",
                    "'%.*s' has no line with settings", STR_ARG(cli_value(cli, "shapes")));
}

static int tune(Cli *cli) {
    enum { FILE_MAX = 1 << 20 };
    int64_t seconds;
    bool interrupted;
    if (!cli_number(cli, "seconds", SECONDS, 1, SECONDS_MAX, &seconds)) return EXIT_USAGE;
    if (!cli_has(cli, "shapes")) return tune_one(cli, STR(""), seconds, &interrupted);
    Str text;
    OsError error;
    const char *path = cli_text(cli, cli_value(cli, "shapes"));
    if (!os_read_file(cli->arena, path, FILE_MAX, &text, &error))
        return cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot read '%s': %s", path, error.text);
    return tune_lines(cli, text, seconds);
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
