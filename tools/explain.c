// tilec explain FILE [KERNEL]: what a kernel costs on a target, and why.
#include "tools/explain.h"

#include <stdio.h>

#include "compile/pipeline/launch_guard.h"
#include "tools/front.h"
#include "tools/progress.h"
#include "tools/settings.h"

static const CliOption options[] = {
    SETTINGS_OPTIONS,
    FRONT_LIMIT_OPTION,
    {"target", "T", "x86-64-v4, aarch64, sm_80, gfx942, native (default), …; see `tilec emit`",
     false},
    {"variant", "N", "number of the variant in the metadata (default: the likeliest one)", false},
    {"only", "CODE", "shows only the remarks with this code; docs/explain.md lists the codes",
     false},
    {"all", NULL, "shows all remarks, not only those that cost most", false},
    {"svg", "FILE", "draws the layouts of the kernel's tiles into FILE; -: standard output", false},
};

typedef struct ExplainCommand {
    Cli *cli;
    Unit *unit;
    const FrontKernel *kernel;
    Settings settings;
    CodeTarget target;
    int64_t variant;  // -1: the likeliest one
    bool has_only;
    Reason only;
    Explain e;
} ExplainCommand;

static int failed(ExplainCommand *c) {
    front_report(c->cli, c->unit);
    return front_status(c->unit->diags);
}

static int parse_target(ExplainCommand *c) {
    Str target = cli_value(c->cli, "target");
    bool has_code;
    if (cli_has(c->cli, "target") && !str_equal(target, STR("native")))
        return front_target(c->cli, target, true, &c->target, &has_code);
    c->target.cpu = cpu_native();
    return EXIT_OK;
}

static int parse_only(ExplainCommand *c) {
    Str only = cli_value(c->cli, "only");
    c->has_only = cli_has(c->cli, "only");
    if (!c->has_only || reason_from_slug(only, &c->only)) return EXIT_OK;
    Str known[REASONS];
    for (int i = 0; i < REASONS; i++) known[i] = str(reason_info((Reason)i)->slug);
    Str nearest = str_nearest(only, known, REASONS);
    if (!nearest.size)
        return cli_usage_error(c->cli, "there is no remark code '%.*s'", STR_ARG(only));
    return cli_usage_error(c->cli, "there is no remark code '%.*s'; did you mean '%.*s'?",
                           STR_ARG(only), STR_ARG(nearest));
}

static int check_svg(ExplainCommand *c) {
    if (!cli_has(c->cli, "svg")) return EXIT_OK;
    if (!code_target_is_gpu(c->target))
        return cli_usage_error(c->cli, "--svg draws the layouts of tiles on GPUs: --target sm_80");
    if (c->cli->json && str_equal(cli_value(c->cli, "svg"), STR("-")))
        return cli_usage_error(c->cli, "--svg with --json needs a file");
    return EXIT_OK;
}

static int parse(ExplainCommand *c) {
    int status = parse_target(c);
    if (!status) status = parse_only(c);
    if (!status) status = check_svg(c);
    if (!status && !cli_number(c->cli, "variant", -1, 0, 100, &c->variant)) status = EXIT_USAGE;
    return status;
}

static const Compiled *compile(ExplainCommand *c) {
    char name[CODE_TARGET_NAME_MAX];
    c->settings.spec.target = str(cli_text(c->cli, str(code_target_name(c->target, name))));
    Machine machine = code_target_machine(c->target);
    CompileOptions o = {.passes = {.verify = true, .machine = &machine}};
    o.variants = compile_variants_of(c->target);
    return unit_compile(c->unit, c->kernel, &c->settings.spec, &o);
}

static int make(ExplainCommand *c) {
    const Compiled *compiled = compile(c);
    if (!compiled || diags_errors(c->unit->diags)) return failed(c);
    uint32_t count = compiled->meta->variant_count;
    uint32_t variant =
        c->variant < 0 ? launch_likely_variant(compiled->meta) : (uint32_t)c->variant;
    if (variant >= count)
        return cli_usage_error(
            c->cli, "the kernel has %u variant%s, counted from 0; there is no variant %u", count,
            count == 1 ? "" : "s", variant);
    CodeServices services = {.plugin = plugin_create(NULL), .cubin = front_cubin_maker(c->cli)};
    Progress *p = progress_begin(c->cli, "compiling %s", c->kernel->name);
    bool fine = explain(c->unit, compiled, c->target, variant, &services, &c->e);
    progress_end(p);
    plugin_destroy(services.plugin);
    cubin_maker_destroy(services.cubin);
    return fine ? EXIT_OK : failed(c);
}

// Writes the drawing; the status is 1 if that fails.
static int draw(ExplainCommand *c) {
    Str path = cli_value(c->cli, "svg");
    StrBuf out = strbuf(c->cli->arena);
    explain_svg(c->unit, &c->e, &out);
    if (str_equal(path, STR("-"))) {
        fwrite(out.text, 1, out.size, stdout);
        return EXIT_OK;
    }
    OsError error;
    if (!os_write_file(c->cli->arena, cli_text(c->cli, path), strbuf_str(&out), &error))
        return cli_fail(c->cli, EXIT_INPUT, DIAG_IO, NULL, "cannot write '%.*s': %s", STR_ARG(path),
                        error.text);
    if (c->cli->json) json_key(&c->cli->json_out, "svg"), json_str(&c->cli->json_out, path);
    return EXIT_OK;
}

static void show(ExplainCommand *c) {
    if (c->cli->json) {
        if (c->has_only)
            explain_json_remarks(&c->cli->json_out, c->unit, &c->e, &c->only);
        else
            explain_json(&c->cli->json_out, c->unit, &c->e);
        return;
    }
    StrBuf out = strbuf(c->cli->arena);
    if (c->has_only)
        explain_text_only(c->cli, c->unit, &c->e, c->only, &out);
    else
        explain_text(c->cli, c->unit, &c->e, &out);
    fwrite(out.text, 1, out.size, stdout);
}

static int explain_kernel(ExplainCommand *c) {
    int status = settings_parse(c->cli, c->unit, c->kernel, &c->settings);
    if (!status) status = settings_require_types(&c->settings);
    if (!status) status = make(c);
    if (status) return status;
    front_report(c->cli, c->unit);
    if (cli_has(c->cli, "svg")) status = draw(c);
    bool drawn = cli_has(c->cli, "svg") && str_equal(cli_value(c->cli, "svg"), STR("-"));
    if (!status && !drawn) show(c);
    return status;
}

static int run(Cli *cli) {
    ExplainCommand c = {.cli = cli};
    int status = parse(&c);
    if (!status) status = front_open(cli, &c.unit, &c.kernel);
    if (!status) status = explain_kernel(&c);
    unit_destroy(c.unit);
    return status;
}

const CliCommand command_explain = {
    .name = "explain",
    .usage = "FILE [KERNEL] [options]",
    .summary = "show what a kernel costs on a target, and why",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
