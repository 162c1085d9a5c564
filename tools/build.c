// tilec build FILE…: kernels to a library: one archive of objects, one header, every target.
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "compile/aot/build.h"
#include "tools/build_plan.h"
#include "tools/front.h"
#include "tools/progress.h"

static const CliOption options[] = {
    {"o", "LIB.a", "the static library", false},
    {"shared", "LIB.so", "a shared library", false},
    {"header", "FILE.h", "the C header", false},
    {"target", "T,T,…", "sm_80, sm_90a, gfx942, gfx1100, x86-64-v3, native, …", true},
    {"specialize", "LINE", "'KERNEL NAME=VALUE,… …' or 'FUNCTION=KERNEL NAME=VALUE,… …'", true},
    {"set", "NAME=VALUE,…", "a type, const or option (warps, …) of all kernels that have it", true},
    {"grid", "[KERNEL=]EXPR", "the grid of a kernel of a .py file, or of all of them", true},
    {"kernels", "LIST", "these kernels only", false},
    {"name", "NAME", "of the library: NAME_load, NAME_archive (default: from -o)", false},
    {"prefix", "TEXT", "the prefix of all functions' names", false},
    {"math", "LIST", "contract, approx: allow fused multiply-add, fast functions", false},
    {"tune", "FILE", "a table of `tilec tune`: its results are built, too, and chosen by shape",
     false},
    {"lines", NULL, "line tables, for debuggers and profilers", false},
    {"object-version", "N", "of AMD's code objects: 4, 5 or 6 (default: 5)", false},
    {"host", "ARCH", "the caller's architecture: x86-64-v2, aarch64 (default: of the targets)",
     false},
    {"manifest", "FILE", "what was built, as JSON", false},
    {"depfile", "FILE", "its sources, for make and ninja", false},
    {"codes", "DIR", "PTX, cubins, code objects and objects as separate files", false},
    FRONT_LIMIT_OPTION,
    {"j", "N", "compilations at a time (default: one for each processor)", false},
};

typedef struct Build {
    Cli *cli;
    BuildPlan plan;
    Built built;
    CodeServices services;
    Progress *progress;
    uint64_t begun;
    _Atomic bool cache_warned;
    char cache_message[512];
} Build;

// ---- Before ----

// "out/libmy-kernels.a" gives my_kernels.
static Str name_of(Cli *cli, Str path) {
    path = str_file_name(path);
    if (str_starts(path, STR("lib"))) path.text += 3, path.size -= 3;
    StrBuf b = strbuf(cli->arena);
    for (size_t i = 0; i < path.size && path.text[i] != '.'; i++)
        strbuf_char(&b, str_word_char(path.text[i]) ? path.text[i] : '_');
    return str_is_identifier(strbuf_str(&b)) ? strbuf_str(&b) : STR("kernels");
}

static int choose_name(Build *b) {
    Cli *cli = b->cli;
    if (!cli_has(cli, "o") && !cli_has(cli, "shared"))
        return cli_usage_error(cli,
                               "where is the library to go? -o libNAME.a, or --shared FILE.so");
    Str name = cli_value(cli, "name");
    b->plan.name = name.size ? name
                             : name_of(cli, cli_has(cli, "o") ? cli_value(cli, "o")
                                                              : cli_value(cli, "shared"));
    if (name.size && !str_is_identifier(name))
        return cli_usage_error(cli, "--name takes a C identifier, found '%.*s'", STR_ARG(name));
    // Names with this beginning are reserved for tilec.
    if (str_equal(b->plan.name, STR("tilec")) || str_starts(b->plan.name, STR("tilec_")))
        return cli_usage_error(cli, "'%.*s' is tilec's own name; give another one with --name",
                               STR_ARG(b->plan.name));
    return EXIT_OK;
}

static int load_sources(Build *b) {
    Cli *cli = b->cli;
    size_t n = cli->operands.count;
    const char **paths = arena_new(cli->arena, const char *, n);
    Unit **units = arena_new(cli->arena, Unit *, n);
    int status = EXIT_OK;
    b->plan.paths = paths;
    b->plan.units = units;
    for (size_t i = 0; i < n; i++) {
        if (str_equal(cli->operands.data[i], STR("-")))
            return cli_usage_error(cli, "build reads files, not standard input");
        for (size_t k = 0; k < i; k++)
            if (str_equal(cli->operands.data[i], cli->operands.data[k]))
                return cli_usage_error(cli, "'%s' is given twice", paths[k]);
        paths[i] = cli_text(cli, cli->operands.data[i]);
        units[i] = unit_load_file(paths[i]);
        b->plan.source_count++;
        if (!diags_errors(units[i]->diags)) continue;
        front_report(cli, units[i]);
        diags_truncate(units[i]->diags, 0);
        status = EXIT_INPUT;
    }
    return status;
}

static int read_table(Build *b) {
    Cli *cli = b->cli;
    if (!cli_has(cli, "tune")) return EXIT_OK;
    Str path = cli_value(cli, "tune");
    if (!os_path_exists(cli_text(cli, path)))
        return cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot read '%.*s': there is no such file",
                        STR_ARG(path));
    TuneTable *table = tune_read(cli->arena, path);
    b->plan.tuned = table;
    for (size_t i = 0; i < table->problems.count; i++) {
        const TuneProblem *p = &table->problems.data[i];
        return cli_fail(cli, EXIT_INPUT, DIAG_TUNE, NULL, "%.*s:%u: %s", STR_ARG(path), p->line,
                        p->text);
    }
    return EXIT_OK;
}

static int read_numbers(Build *b) {
    enum { THREADS_MAX = 256 };
    int64_t threads, version;
    if (!cli_number(b->cli, "j", os_cpu_count(), 1, THREADS_MAX, &threads)) return EXIT_USAGE;
    if (!cli_number(b->cli, "object-version", 0, 4, 6, &version)) return EXIT_USAGE;
    b->plan.threads = (uint32_t)threads;
    b->plan.object_version = (uint32_t)version;
    b->plan.lines = cli_has(b->cli, "lines");
    return EXIT_OK;
}

static const char *const outputs[] = {"o", "shared", "header", "manifest", "depfile"};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

static bool is_source(const Build *b, Str path) {
    if (cli_has(b->cli, "tune") && os_path_same(b->cli->arena, path, cli_value(b->cli, "tune")))
        return true;
    for (uint32_t i = 0; i < b->plan.source_count; i++) {
        const Sources *sources = b->plan.units[i]->sources;
        for (size_t k = 0; k < sources_count(sources); k++)
            if (os_path_same(b->cli->arena, path, sources_get(sources, k)->path)) return true;
    }
    return false;
}

// Does another output, or --codes, have the same path?
static bool is_asked_twice(const Build *b, size_t output) {
    Cli *cli = b->cli;
    Str path = cli_value(cli, outputs[output]);
    if (cli_has(cli, "codes") && os_path_same(cli->arena, path, cli_value(cli, "codes")))
        return true;
    for (size_t k = 0; k < output; k++)
        if (cli_has(cli, outputs[k]) && os_path_same(cli->arena, path, cli_value(cli, outputs[k])))
            return true;
    return false;
}

// Before the work begins: an output that cannot be written is reported, and nothing is written.
static int check_outputs(const Build *b) {
    OsError error;
    Cli *cli = b->cli;
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (!cli_has(cli, outputs[i])) continue;
        Str path = cli_value(cli, outputs[i]);
        if (is_asked_twice(b, i))
            return cli_usage_error(cli, "'%.*s' is asked for as two outputs", STR_ARG(path));
        if (is_source(b, path))
            return cli_usage_error(cli, "'%.*s' is an input: it is not overwritten", STR_ARG(path));
        if (!os_path_writable(cli->arena, cli_text(cli, path), &error))
            return cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot write '%.*s': %s",
                            STR_ARG(path), error.text);
    }
    return EXIT_OK;
}

static int prepare(Build *b) {
    int status = choose_name(b);
    if (!status) status = read_numbers(b);
    if (!status) status = build_plan_targets(b->cli, &b->plan);
    if (!status) status = read_table(b);
    if (!status) status = load_sources(b);
    if (!status) status = check_outputs(b);
    if (!status) status = build_plan_functions(b->cli, &b->plan);
    if (!status) b->plan.command = build_plan_command(b->cli, &b->plan);
    return status;
}

// ---- After ----

static int write_file(const Build *b, Str path, Str bytes) {
    OsError error;
    Cli *cli = b->cli;
    if (os_write_file(cli->arena, cli_text(cli, path), bytes, &error)) return EXIT_OK;
    return cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot write '%.*s': %s", STR_ARG(path),
                    error.text);
}

static int make_library(Build *b, Str *bytes) {
    const Built *built = &b->built;
    if (!cli_has(b->cli, "o")) return EXIT_OK;
    if (ar_write(b->cli->arena, built->members.data, (uint32_t)built->members.count, bytes))
        return EXIT_OK;
    return cli_fail(b->cli, EXIT_INPUT, DIAG_TOO_LARGE, "build fewer kernels or targets at once",
                    "the library would be larger than 4 GiB");
}

static int make_shared(Build *b, Str *bytes) {
    Str soname = str_file_name(cli_value(b->cli, "shared"));
    if (!cli_has(b->cli, "shared")) return EXIT_OK;
    if (build_shared(b->cli->arena, &b->plan, &b->built, soname, bytes)) return EXIT_OK;
    front_report(b->cli, b->plan.units[0]);
    int status = front_status(b->plan.units[0]->diags);
    diags_truncate(b->plan.units[0]->diags, 0);
    return status;
}

// Escapes a path for GNU make and ninja.
static void add_escaped(StrBuf *out, Str path) {
    for (size_t i = 0; i < path.size; i++) {
        char c = path.text[i];
        if (strchr(" \t#:", c)) strbuf_char(out, '\\');
        if (c == '$') strbuf_char(out, '$');
        strbuf_char(out, c);
    }
}

typedef struct Depends {
    StrBuf rule, empty;
} Depends;

// With this rule a source that was removed does not stop make.
static void add_depend(Depends *d, Str path) {
    strbuf_printf(&d->rule, " \\\n  ");
    add_escaped(&d->rule, path);
    add_escaped(&d->empty, path);
    strbuf_printf(&d->empty, ":\n");
}

// Imports are files of the units, too.
static Str make_depfile(const Build *b) {
    Cli *cli = b->cli;
    Depends d = {strbuf(cli->arena), strbuf(cli->arena)};
    add_escaped(&d.rule, cli_value(cli, cli_has(cli, "o") ? "o" : "shared"));
    strbuf_char(&d.rule, ':');
    for (uint32_t i = 0; i < b->plan.source_count; i++)
        for (size_t k = 0; k < sources_count(b->plan.units[i]->sources); k++)
            add_depend(&d, sources_get(b->plan.units[i]->sources, k)->path);
    if (cli_has(cli, "tune")) add_depend(&d, cli_value(cli, "tune"));
    strbuf_printf(&d.rule, "\n%s", d.empty.text);
    return strbuf_str(&d.rule);
}

static int write_codes(Build *b) {
    Str folder = cli_value(b->cli, "codes");
    OsError error;
    if (!folder.size) return EXIT_OK;
    if (!os_make_folder(cli_text(b->cli, folder), &error))
        return cli_fail(b->cli, EXIT_INPUT, DIAG_IO, NULL, "cannot make the folder '%.*s': %s",
                        STR_ARG(folder), error.text);
    for (size_t i = 0; i < b->built.codes.count; i++) {
        const BuiltCode *c = &b->built.codes.data[i];
        char target[CODE_TARGET_NAME_MAX];
        const char *path = arena_printf(b->cli->arena, "%.*s/%.*s.%s.%u.%u.%s", STR_ARG(folder),
                                        STR_ARG(b->plan.functions[c->function].symbol),
                                        code_target_name(b->plan.targets[c->target], target),
                                        c->alternative, c->variant, c->extension);
        int status = write_file(b, str(path), c->bytes);
        if (status) return status;
    }
    return EXIT_OK;
}

// Everything is made before anything is written. The library comes last: if it exists, all outputs
// do.
static int write_all(Build *b) {
    Cli *cli = b->cli;
    Arena *arena = cli->arena;
    Str library = STR(""), shared = STR("");
    int status = make_library(b, &library);
    if (!status) status = make_shared(b, &shared);
    if (!status) status = write_codes(b);
    if (!status && cli_has(cli, "header"))
        status = write_file(b, cli_value(cli, "header"), build_header(arena, &b->plan, &b->built));
    if (!status && cli_has(cli, "manifest"))
        status =
            write_file(b, cli_value(cli, "manifest"), build_manifest(arena, &b->plan, &b->built));
    if (!status && cli_has(cli, "depfile"))
        status = write_file(b, cli_value(cli, "depfile"), make_depfile(b));
    if (!status && cli_has(cli, "shared")) status = write_file(b, cli_value(cli, "shared"), shared);
    return !status && cli_has(cli, "o") ? write_file(b, cli_value(cli, "o"), library) : status;
}

static void print_done(const Build *b) {
    Cli *cli = b->cli;
    size_t cached = 0;
    for (size_t i = 0; i < b->built.codes.count; i++) cached += b->built.codes.data[i].cached;
    if (cli->json) {
        Str manifest = build_manifest(cli->arena, &b->plan, &b->built);
        json_key(&cli->json_out, "built"), json_raw(&cli->json_out, str_trim(manifest));
        json_key(&cli->json_out, "cached"), json_uint(&cli->json_out, cached);
        return;
    }
    if (cli->quiet) return;
    double seconds = (double)(os_time_ns() - b->begun) / 1e9;
    printf(
        "%.*s: %u function%s for %u target%s, %zu pieces of code (%zu from the cache), GPUs' "
        "%.1f KB packed, %.2f s\n",
        STR_ARG(b->plan.name), b->plan.function_count, b->plan.function_count == 1 ? "" : "s",
        b->plan.target_count, b->plan.target_count == 1 ? "" : "s", b->built.codes.count, cached,
        (double)b->built.packed_bytes / 1000, seconds);
}

static void progress(void *user, uint32_t done, uint32_t all) {
    Build *b = user;
    progress_print(b->progress, "building %.*s: %u of %u", STR_ARG(b->plan.name), done, all);
}

static int report(Build *b) {
    int status = EXIT_OK;
    for (uint32_t i = 0; i < b->plan.source_count; i++) {
        Unit *unit = b->plan.units[i];
        front_report(b->cli, unit);
        if (diags_errors(unit->diags)) {
            int own = front_status(unit->diags);
            if (own > status) status = own;
        }
        diags_truncate(unit->diags, 0);
    }
    return status;
}

// The first message of the cache, from any thread, is printed at the end.
static void note_cache(void *user, const char *text) {
    Build *b = user;
    if (!atomic_exchange(&b->cache_warned, true))
        snprintf(b->cache_message, sizeof b->cache_message, "%s", text);
}

// If the driver compiles PTX where the library runs, no tool compiles it here.
static CubinMaker *make_cubin_maker(Cli *cli) {
    const char *by = os_env("TILEC_PTX_COMPILER");
    return by && strcmp(by, "driver") == 0 ? NULL : front_cubin_maker(cli);
}

// The reason why no function uses the row; NULL if one may, or if its kernel is not built here.
static const char *why_unused(const Build *b, const TuneRow *row) {
    const char *why = NULL;
    uint32_t target;
    for (uint32_t f = 0; f < b->plan.function_count; f++) {
        const BuildFunction *function = &b->plan.functions[f];
        if (!str_equal(function->kernel, row->kernel)) continue;
        const FrontFile *file = b->plan.units[function->source]->file;
        TuneRow key = tune_key(b->cli->arena, frontend_find(file, row->kernel), row->target);
        if (!str_equal(key.source, row->source))
            why = "the source has changed since: run tilec tune again";
        else if (tune_is_simulated(row->target))
            return "times of the simulator do not apply to a GPU: run tilec tune on the device, or "
                   "remove '" TUNE_SIMULATED "' from the row to use it anyway";
        else
            return build_device_takes(&b->plan, row->target, &target)
                       ? NULL
                       : "code of none of the targets runs on this device";
    }
    return why;
}

// Warns of rows that no function uses.
static void warn_of_rows(Build *b) {
    const TuneTable *table = b->plan.tuned;
    for (size_t i = 0; table && i < table->rows.count; i++) {
        const TuneRow *row = &table->rows.data[i];
        const char *why = why_unused(b, row);
        if (why)
            cli_warn(b->cli, DIAG_TUNE,
                     arena_printf(b->cli->arena, "the table's row of %.*s for %.*s is not used: %s",
                                  STR_ARG(row->kernel), STR_ARG(row->target), why));
    }
}

static int compile(Build *b) {
    unsigned seconds;
    int limit = front_seconds(b->cli, &seconds);
    if (limit) return limit;
    b->services = (CodeServices){.plugin = plugin_create(NULL),
                                 .cache = cache_create(NULL, note_cache, b),
                                 .cubin = make_cubin_maker(b->cli)};
    b->services.seconds = seconds;
    b->plan.services = &b->services;
    b->plan.progress = progress;
    b->plan.user = b;
    b->progress = progress_begin(b->cli, "building %.*s", STR_ARG(b->plan.name));
    bool good = build_library(b->cli->arena, &b->plan, &b->built);
    progress_end(b->progress);
    warn_of_rows(b);
    if (b->cache_warned) cli_warn(b->cli, DIAG_IO, b->cache_message);
    int status = report(b);
    if (good && !status) status = write_all(b);
    if (good && !status) print_done(b);
    cubin_maker_destroy(b->services.cubin);
    cache_destroy(b->services.cache);
    plugin_destroy(b->services.plugin);
    return good || status ? status : EXIT_DEFECT;
}

static int run(Cli *cli) {
    Build b = {.cli = cli, .begun = os_time_ns()};
    int status = prepare(&b);
    if (!status) status = compile(&b);
    for (uint32_t i = 0; i < b.plan.source_count; i++) unit_destroy(b.plan.units[i]);
    return status;
}

const CliCommand command_build = {
    .name = "build",
    .usage = "FILE… -o LIB.a --header FILE.h --target T,T,… [options]",
    .summary = "compiles kernels ahead of time: a library for any device, and its C header",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 4096,
    .run = run,
};
