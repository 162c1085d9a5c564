#include "tools/front.h"

#include "target/gpu_card.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "ir/text/text.h"

static Unit *load_stdin(Cli *cli) {
    Str text;
    OsError error;
    if (os_read_stdin(cli->arena, SOURCE_MAX, &text, &error))
        return unit_load_text(STR(FRONT_STDIN), text);
    Unit *u = unit_load_text(STR(FRONT_STDIN), STR(""));
    diags_truncate(u->diags, 0);
    u->file = NULL;
    diag_error(u->diags, (Span){0}, DIAG_IO, "cannot read standard input: %s", error.text);
    return u;
}

Unit *front_load(Cli *cli, Str path) {
    return str_equal(path, STR("-")) ? load_stdin(cli) : unit_load_file(cli_text(cli, path));
}

void front_report(Cli *cli, Unit *unit) {
    diags_sort(unit->diags);
    cli_diags(cli, unit->diags);
}

static bool has_option(const Cli *cli, const char *name) {
    for (size_t i = 0; i < cli->command->option_count; i++)
        if (strcmp(cli->command->options[i].name, name) == 0) return true;
    return false;
}

int front_seconds(Cli *cli, unsigned *seconds) {
    const char *wanted = os_env("TILEC_COMPILE_SECONDS");
    bool asked = has_option(cli, "compile-seconds") && cli_has(cli, "compile-seconds");
    *seconds = 0;
    if (!asked && (!wanted || !wanted[0])) return EXIT_OK;
    Str text = asked ? cli_value(cli, "compile-seconds") : str(wanted);
    if (compile_seconds_parse(text, seconds)) return EXIT_OK;
    return cli_usage_error(cli, "%s is '%.*s', expected " COMPILE_SECONDS_TEXT,
                           asked ? "--compile-seconds" : "TILEC_COMPILE_SECONDS", STR_ARG(text));
}

int front_open(Cli *cli, Unit **unit, const FrontKernel **kernel) {
    unsigned seconds;
    *unit = NULL;
    int status = front_seconds(cli, &seconds);
    if (status) return status;
    *unit = front_load(cli, cli->operands.data[0]);
    if (diags_errors((*unit)->diags)) {
        front_report(cli, *unit);
        return EXIT_INPUT;
    }
    size_t before = diags_count((*unit)->diags);
    bool named = cli->operands.count > 1;
    *kernel = unit_kernel(*unit, named ? cli->operands.data[1] : STR(""));
    unit_begin(*unit, seconds);
    if (*kernel) return EXIT_OK;
    front_report(cli, *unit);
    diags_truncate((*unit)->diags, before);
    // A file that has only functions is a wrong input; all else is a wrong choice of the kernel.
    return (*unit)->file->kernel_count || named ? EXIT_USAGE : EXIT_INPUT;
}

// The target for another usual name of one; NULL: not known.
static const char *usual_target(Str name) {
    static const char *const names[][2] = {
        {"sse4.2", "x86-64-v2"}, {"avx2", "x86-64-v3"},   {"haswell", "x86-64-v3"},
        {"x86", "x86-64-v3"},    {"x86-64", "x86-64-v3"}, {"x86_64", "x86-64-v3"},
        {"amd64", "x86-64-v3"},  {"avx512", "x86-64-v4"}, {"skylake-avx512", "x86-64-v4"},
        {"arm", "aarch64"},      {"arm64", "aarch64"},    {"armv8", "aarch64"},
        {"neon", "aarch64"},     {"cpu", "native"},       {"host", "native"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(name, str(names[i][0]))) return names[i][1];
    return NULL;
}

static bool names_vendor(Str name) {
    static const char *const names[] = {"gpu", "nvidia", "cuda", "ptx", "amd", "hip", "rocm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(name, str(names[i]))) return true;
    return false;
}

static int fail_unknown(Cli *cli, Str name) {
    static const char *const others[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+bf16",
                                         "aarch64",   "native",    "interp"};
    enum { OTHERS = sizeof others / sizeof *others, NAMES = OTHERS + GPU_TARGETS_MAX };
    Str known[NAMES];
    char gpus[NAMES][GPU_NAME_MAX];
    size_t count = 0;
    GpuTarget gpu;
    for (; gpu_target_at(count, &gpu); count++)
        known[count] = str(gpu_target_name(gpu, gpus[count]));
    for (size_t i = 0; i < OTHERS; i++) known[count++] = str(others[i]);
    Str lower = str_lower(cli->arena, name), nearest = str_nearest(lower, known, count);
    const char *meant = "", *card = gpu_card_target(name), *usual = usual_target(lower);
    if (usual) nearest = str(usual);
    if (names_vendor(lower))
        meant = "; a target is an architecture, such as sm_90a or gfx942";
    else if (card)
        meant = arena_printf(cli->arena, ", but a card of that name: its target is %s", card);
    else if (nearest.size)
        meant = arena_printf(cli->arena, "; did you mean '%.*s'?", STR_ARG(nearest));
    return cli_fail(cli, EXIT_INPUT, DIAG_UNSUPPORTED,
                    "targets are: sm_75 … sm_121a, gfx600 … gfx12-generic, x86-64-v2, x86-64-v3, "
                    "x86-64-v4, x86-64-v4+bf16, aarch64, native, interp; tilec devices "
                    "--targets lists all, with cards",
                    "there is no target '%.*s'%s", STR_ARG(name), meant);
}

int front_target(Cli *cli, Str name, bool needs_code, CodeTarget *target, bool *has_code) {
    *has_code = code_target_parse(name, target);
    if (*has_code) return EXIT_OK;
    if (!str_equal(name, STR("interp"))) return fail_unknown(cli, name);
    if (!needs_code) return EXIT_OK;
    return cli_fail(cli, EXIT_UNAVAILABLE, DIAG_UNSUPPORTED,
                    "targets with code are: x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4+bf16, "
                    "aarch64, native, sm_75 … sm_121a, gfx600 … gfx12-generic",
                    "this version makes no code for '%.*s'", STR_ARG(name));
}

static void dump(void *user, PassId pass, const IrFunc *f) {
    FrontPasses *p = user;
    StrBuf text = strbuf(p->cli->arena);
    ir_print_func(f, &text);
    FrontDump row = {pass, strbuf_str(&text)};
    vec_push(p->cli->arena, &p->dumps, row);
}

static bool parse_dumps(FrontPasses *p, Str list, Diags *diags) {
    p->options.dump = dump;
    p->options.user = p;
    if (str_equal(list, STR("all"))) {
        p->options.dump_all = true;
        return true;
    }
    size_t n;
    const PassStep *steps = passes_parse(p->cli->arena, list, &n, diags);
    if (!steps) return false;
    PassId *ids = arena_new(p->cli->arena, PassId, n + 1);
    for (size_t i = 0; i < n; i++) ids[i] = steps[i].pass;
    p->options.dump_after = ids;
    p->options.dump_after_count = n;
    return true;
}

int front_passes(Cli *cli, Diags *diags, FrontPasses *passes) {
    *passes = (FrontPasses){.cli = cli};
    if (cli_has(cli, "time-passes")) passes->options.timings = &passes->timings;
    if (!cli_has(cli, "dump-after")) return EXIT_OK;
    if (parse_dumps(passes, cli_value(cli, "dump-after"), diags)) return EXIT_OK;
    cli_diags(cli, diags);
    return EXIT_USAGE;
}

bool front_code(FrontPasses *passes, Unit *unit, const Compiled *compiled,
                const CodeOptions *options, Code *code) {
    CodeServices services = {.plugin = plugin_create(NULL)};
    CodeOptions o = *options;
    o.times = &passes->codegen;
    passes->generated = code_make(unit, compiled, &o, &services, NULL, code);
    plugin_destroy(services.plugin);
    return passes->generated;
}

CubinMaker *front_cubin_maker(Cli *cli) {
    PtxBy by;
    Str problem;
    if (!ptx_by_environment(cli->arena, &by, &problem))
        cli_warn(
            cli, DIAG_IO,
            arena_printf(cli->arena, "%.*s; using any tool that is installed", STR_ARG(problem)));
    return cubin_maker_create(by == PTX_BY_DRIVER ? PTX_BY_ANY : by);
}

int front_status(const Diags *diags) {
    int status = EXIT_INPUT;
    for (size_t i = 0; i < diags_count(diags); i++) {
        DiagCode code = diags_get(diags, i)->code;
        if (code == DIAG_UNAVAILABLE || code == DIAG_UNSUPPORTED) status = EXIT_UNAVAILABLE;
        if (code == DIAG_DEFECT || code == DIAG_PASS) return EXIT_DEFECT;
    }
    return status;
}

typedef struct Stage {
    const char *name;
    uint64_t ns;
} Stage;
enum { STAGES = 4 };

static void stages_of(const CodegenTimes *t, Stage stages[STAGES]) {
    stages[0] = (Stage){"codegen.build", t->build};
    stages[1] = (Stage){"codegen.optimise", t->optimise};
    stages[2] = (Stage){"codegen.emit", t->emit};
    stages[3] = (Stage){"codegen.link", t->link};
}

static void codegen_json(const FrontPasses *p, Json *j) {
    Stage stages[STAGES];
    stages_of(&p->codegen, stages);
    json_key(j, "codegen"), json_open(j, '{');
    for (int i = 0; i < STAGES; i++)
        json_key(j, strchr(stages[i].name, '.') + 1), json_double(j, (double)stages[i].ns * 1e-9);
    json_close(j, '}');
}

static void codegen_text(const FrontPasses *p) {
    Stage stages[STAGES];
    stages_of(&p->codegen, stages);
    for (int i = 0; i < STAGES; i++)
        fprintf(stderr, "%10.1f us  %s\n", (double)stages[i].ns / 1000, stages[i].name);
}

static void report_json(const FrontPasses *p) {
    Json *j = &p->cli->json_out;
    if (p->options.dump) {
        json_key(j, "dumps"), json_open(j, '[');
        for (size_t i = 0; i < p->dumps.count; i++) {
            json_open(j, '{');
            json_key(j, "after"), json_str(j, str(pass_info(p->dumps.data[i].pass)->text));
            json_key(j, "text"), json_str(j, p->dumps.data[i].text);
            json_close(j, '}');
        }
        json_close(j, ']');
    }
    if (!p->options.timings) return;
    json_key(j, "passes"), json_open(j, '[');
    for (size_t i = 0; i < p->timings.count; i++) {
        const PassTiming *t = &p->timings.data[i];
        json_open(j, '{');
        json_key(j, "pass"), json_str(j, str(pass_info(t->pass)->text));
        json_key(j, "seconds"), json_double(j, (double)t->ns * 1e-9);
        json_key(j, "changed"), json_bool(j, t->changed);
        json_key(j, "ops"), json_uint(j, t->ops_after);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (p->generated) codegen_json(p, j);
}

void front_passes_report(FrontPasses *passes) {
    if (passes->cli->json) {
        report_json(passes);
        return;
    }
    for (size_t i = 0; i < passes->dumps.count; i++) {
        const FrontDump *d = &passes->dumps.data[i];
        fprintf(stderr, "// after %s\n%.*s", pass_info(d->pass)->text, STR_ARG(d->text));
    }
    for (size_t i = 0; i < passes->timings.count; i++) {
        const PassTiming *t = &passes->timings.data[i];
        fprintf(stderr, "%10.1f us  %-12s %s, %u ops\n", (double)t->ns / 1000,
                pass_info(t->pass)->text, t->changed ? "changed" : "same", t->ops_after);
    }
    if (passes->generated && passes->options.timings) codegen_text(passes);
}

bool front_binding(const Unit *unit, const FrontKernel *kernel, const FrontParam *param, Str text,
                   IrBinding *b) {
    *b = (IrBinding){.name = param->name};
    if (param->kind == FRONT_CONST) {
        if (!str_to_i64(text, &b->value)) {
            b->value = 0;
            b->text = intern(unit->names, text);
        }
        return true;
    }
    if (str_equal(text, STR("None"))) {
        b->text = intern(unit->names, text);
        return true;
    }
    FrontDescriptor descriptor;
    if (frontend_descriptor(kernel->in->frontend, text, &descriptor)) {
        b->is_type = true;
        b->type = descriptor.type;
        b->text = intern(unit->names, text);
        return true;
    }
    bool pointer = str_starts(text, STR("*"));
    bool scalar = param->kind == FRONT_SCALAR && !(pointer && front_may_be_pointer(param));
    b->pointer = pointer && param->kind == FRONT_SCALAR;
    if (pointer) text = (Str){text.text + 1, text.size - 1};
    Str fact, type = str_cut(text, ':', &fact);
    if (pointer == scalar || !frontend_type_name(kernel->in->frontend, type, &b->type))
        return false;
    if (type.size < text.size) {
        if (str_equal(fact, STR("16")))
            b->value = 16;
        else if (scalar && str_equal(fact, STR("1")))
            b->value = 1;
        else
            return false;
    }
    b->is_type = true;
    return true;
}

int front_math(Cli *cli, Str list, unsigned *math) {
    for (Str word; str_item(&list, &word);) {
        if (str_equal(word, STR("contract")))
            *math |= IR_MATH_CONTRACT;
        else if (str_equal(word, STR("approx")))
            *math |= IR_MATH_APPROX;
        else
            return cli_usage_error(cli, "--math takes contract and approx, found '%.*s'",
                                   STR_ARG(word));
    }
    return EXIT_OK;
}
