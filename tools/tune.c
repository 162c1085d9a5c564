// tilec tune FILE KERNEL: tries the consts of the kernel's tune space and keeps the fastest, for
// one set of extents or for a file of them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "compile/tune/predict.h"
#include "tools/front.h"
#include "tools/progress.h"
#include "tools/run.h"

static const CliOption options[] = {
    {"device", "D", "interp, cpu or cpu:THREADS, cuda:N, hip:N, sim:ARCH, or auto (default)",
     false},
    SETTINGS_OPTIONS,
    FRONT_LIMIT_OPTION,
    {"in", "NAME=F.npy", "an array from a NumPy file", true},
    {"grid", "X[,Y[,Z]]", "the grid of a .py kernel: numbers, or expressions", false},
    {"seed", "S", "fills arrays without --in (default 1)", false},
    {"shapes", "FILE", "tunes for each line of settings in it, such as: M=64 N=64", false},
    {"seconds", "S", "measures for at most about S seconds (default 10)", false},
    {"all", NULL, "measures and shows all candidates, also slow ones", false},
    {"table", "FILE", "keep the result here instead of in the user's table", false},
};

enum { SHOWN = 20, SECONDS = 10, SECONDS_MAX = 86400 };
static const double HOPELESS = 1.3;

typedef struct Search {
    TuneSearch s;
    Run *run;
    Str where;  // path of the table; empty: the result is not kept
    Str title;  // printed above the candidates; empty: nothing
} Search;

// ---- The space ----

static tilec_status launch(void *run, tilec_kernel *kernel) { return run_launch(run, kernel); }

static void print_progress(void *progress, const char *text) {
    progress_print(progress, "%s", text);
}

static int find_space(Search *search) {
    TuneSearch *s = &search->s;
    Run *r = search->run;
    s->arena = r->cli->arena;
    s->device = r->device;
    s->source = (TuneSource){.kernel = r->kernel->name, .given = run_spec(r)};
    s->source.text = run_source(r, &s->source.path);
    s->timed = (Timed){.user = r, .launch = launch};
    s->interrupts = true;
    if (!tune_space(s, r->unit->file, r->kernel, &r->settings.spec))
        return cli_fail(r->cli, EXIT_INPUT, DIAG_TUNE, "give some of them with --set",
                        "the tune space of '%s' has more than %d candidates", r->kernel->name,
                        TUNE_CANDIDATES_MAX);
    if (s->name_count) return EXIT_OK;
    return cli_fail(
        r->cli, EXIT_INPUT, DIAG_TUNE,
        arena_printf(r->cli->arena, "write: tune %s { NAME: 64, 128; }", r->kernel->name),
        "kernel '%s' has no consts to try that are not set", r->kernel->name);
}

// ---- The result ----

static int refuse_table(const Search *s, const char *why) {
    const char *help = "fix the file or remove it; --table FILE or TILEC_TUNE_FILE names another";
    return cli_fail(s->run->cli, EXIT_INPUT, DIAG_TUNE, help, "'%.*s' is left as it is: %s",
                    STR_ARG(s->where), why);
}

// It is checked before anything is measured.
static int find_table(Search *s) {
    Cli *cli = s->run->cli;
    s->where = cli_has(cli, "table") ? cli_value(cli, "table") : tune_path(cli->arena);
    const char *why = tune_fault(cli->arena, tune_read(cli->arena, s->where));
    return why ? refuse_table(s, why) : EXIT_OK;
}

static int keep(const Search *search, const TuneCandidate *best) {
    Run *r = search->run;
    Cli *cli = r->cli;
    TuneRow row = run_tune_key(r);
    TuneNames names = run_tune_names(r, &row);
    row.target = str(arena_printf(cli->arena, "%s", names.text[0]));
    tune_consts(cli->arena, &search->s, best, &row);
    if (!search->where.size) return EXIT_OK;
    TuneKept kept = tune_keep(cli->arena, search->where, !cli_has(cli, "table"), &row);
    if (kept.fault) return refuse_table(search, kept.fault);
    if (!kept.error) return EXIT_OK;
    return cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot write '%.*s': %s",
                    STR_ARG(search->where), kept.error);
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

static void print_candidate(const Search *search, const TuneCandidate *c,
                            const TuneCandidate *best) {
    const TuneSearch *s = &search->s;
    char text[200];
    TimeUnit unit = unit_of(best->seconds);
    const char *mark = c == best ? s->end == TUNE_COUNTED ? "  least" : "  fastest" : "";
    tune_candidate_text(s, c, text, sizeof text);
    if (c->failure)
        printf("%-32s cannot be used: %s\n", text, c->failure);
    else if (c->left_out)
        printf("%-32s was not measured\n", text);
    else if (s->device->api->simulated)
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
    case TUNE_ROUNDS_OVER:
        printf("it is not sure: after %u rounds, %.1f s, %zu other%s may be as fast\n", s->rounds,
               s->seconds, equal, equal == 1 ? "" : "s");
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
    bool all = cli_has(search->run->cli, "all");
    char text[200];
    size_t failed = 0, slow = 0, left_out = 0, pruned = 0;
    const TuneCandidate *first_failed = NULL;
    if (search->title.size) printf("%.*s\n", STR_ARG(search->title));
    for (size_t i = 0; i < s->count; i++) {
        const TuneCandidate *c = &s->candidates[i];
        failed += c->failure != NULL;
        left_out += c->left_out && !c->pruned;
        pruned += c->pruned;
        if (c->failure && !first_failed) first_failed = c;
        bool far = !c->failure && !c->left_out && s->count > SHOWN && c->ratio > HOPELESS;
        slow += far;
        if (all || (!far && !c->failure && !c->left_out)) print_candidate(search, c, best);
    }
    if (slow && !all)
        printf("%zu candidate%s more than %.1f times as slow not shown; --all shows %s\n", slow,
               slow == 1 ? " that is" : "s that are", HOPELESS, slow == 1 ? "it" : "them");
    if (failed) printf("%zu of %zu candidates cannot be used here\n", failed, s->count);
    if (failed && !all) print_candidate(search, first_failed, best);
    if (pruned)
        printf(
            "%zu of %zu candidates were not tried: they are slow by their estimates; --all "
            "tries them\n",
            pruned, s->count);
    if (left_out) printf("%zu of %zu candidates were not measured\n", left_out, s->count);
    print_end(s, best);
    tune_candidate_text(s, best, text, sizeof text);
    printf("%s on %s: %s\n", s->source.kernel, tilec_device_name(s->device), text);
    if (search->where.size) printf("kept in %.*s\n", STR_ARG(search->where));
    if (s->device->api->simulated)
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
    if (c->estimate > 0 && isfinite(c->estimate))
        json_key(j, "estimate"), json_double(j, c->estimate);
    if (c->failure) {
        json_key(j, "failure"), json_str(j, str(c->failure));
    } else if (c->left_out) {
        json_key(j, "measured"), json_bool(j, false);
    } else if (s->device->api->simulated) {
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
    Json *j = &search->run->cli->json_out;
    json_key(j, "kernel"), json_str(j, str(s->source.kernel));
    json_key(j, "device"), json_str(j, str(tilec_device_name(s->device)));
    json_key(j, "simulated"), json_bool(j, s->device->api->simulated);
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
    Run *r = search->run;
    int status = find_table(search);
    if (!status) status = run_make_args(r);
    if (status) return status;
    TuneLaunch asked = {r->unit, r->kernel, &r->settings.spec, r->args,
                        r->compiled->meta->arg_count};
    tune_predict(s, &asked);
    Progress *progress = progress_begin(r->cli, "compiling %zu candidates", s->count);
    s->progress = print_progress;
    s->progress_user = progress;
    s->exhaustive = cli_has(r->cli, "all");
    const TuneCandidate *best = tune_search(s);
    progress_end(progress);
    if (!best)
        return cli_fail(r->cli, EXIT_INPUT, DIAG_TUNE, s->candidates[0].failure,
                        "none of %zu candidates can be launched", s->count);
    status = keep(search, best);
    if (status) return status;
    if (r->cli->json)
        print_json(search, best);
    else if (!r->cli->quiet)
        print_text(search, best);
    return EXIT_OK;
}

// `title`: the line of the file of extents, or empty.
static int tune_one(Cli *cli, Str title, int64_t seconds, bool *interrupted) {
    Run r;
    Search s = {.title = title, .run = &r, .s = {.budget = (double)seconds}};
    int status = run_open(cli, &r);
    if (!status) status = find_space(&s);
    if (!status) status = search(&s);
    *interrupted = s.s.interrupt.received;
    tune_search_end(&s.s);
    run_close(&r);
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
    int status = EXIT_OK;
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
