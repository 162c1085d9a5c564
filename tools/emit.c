// tilec emit FILE [KERNEL]: what a kernel becomes, at the stages that exist so far.
#include <string.h>

#include "ir/text.h"
#include "tools/front.h"
#include "tools/settings.h"

static const CliOption options[] = {
    SETTINGS_OPTIONS,
    {"target", "T", "whose `tune` lines count: sm_80, gfx942, x86-64-v4, … (default: none)", false},
    {"as", "FORM", "tile-ir (default) or metadata", false},
    {"passes", "LIST", "passes and pipelines to run (default: tile); none: as written", false},
    FRONT_PASS_OPTIONS,
    {"o", "OUT", "write there instead of to standard output", false},
};

// A plain name of a target, or a family with a number: sm_90a, gfx1100.
static bool target_known(Str target) {
    static const char *const names[] = {"interp",    "native",         "aarch64",  "x86-64-v2",
                                        "x86-64-v3", "x86-64-v4+bf16", "x86-64-v4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(target, str(names[i]))) return true;
    bool nvidia = str_starts(target, STR("sm_")), amd = str_starts(target, STR("gfx"));
    if ((!nvidia && !amd) || target.size < 5 || target.size > 8) return false;
    const char *rest = amd ? "0123456789abcdef" : "0123456789af";
    for (size_t i = 3; i < target.size; i++) {
        bool last = i + 1 == target.size;
        if (!memchr(rest, target.text[i], amd || last ? strlen(rest) : 10)) return false;
    }
    return true;
}

static int write_form(Cli *cli, const Compiled *c, Str form) {
    StrBuf out = strbuf(cli->arena);
    bool metadata = str_equal(form, STR("metadata"));
    if (metadata)
        meta_json(c->meta, &out);
    else
        ir_print_module(c->module, &out);
    if (cli->json) {
        json_key(&cli->json_out, "kernel"), json_str(&cli->json_out, c->meta->name);
        json_key(&cli->json_out, "form"), json_str(&cli->json_out, form);
    }
    if (metadata && cli->json && !cli_has(cli, "o")) {
        json_key(&cli->json_out, "metadata"), json_raw(&cli->json_out, strbuf_str(&out));
        return EXIT_FINE;
    }
    if (metadata) strbuf_char(&out, '\n');
    return cli_output(cli, "text", strbuf_str(&out));
}

static int emit(Cli *cli, Unit *u, const AstKernel *kernel, Str form) {
    Settings s;
    FrontPasses passes;
    int status = settings_parse(cli, u, kernel, &s);
    s.spec.target = cli_value(cli, "target");
    if (!status) status = settings_require_types(&s);
    if (!status) status = front_passes(cli, u->diags, &passes);
    if (status) return status;
    passes.options.verify = true;
    CompileOptions o = {.passes = passes.options};
    Str list = cli_value(cli, "passes");
    o.elaborate_only = str_equal(list, STR("none"));
    if (cli_has(cli, "passes") && !o.elaborate_only) {
        o.steps = passes_parse(cli->arena, list, &o.step_count, u->diags);
        if (!o.steps) {
            front_report(cli, u);
            return EXIT_USAGE;
        }
    }
    const Compiled *c = unit_compile(u, kernel, &s.spec, &o);
    front_report(cli, u);
    front_passes_report(&passes);
    if (!c || diags_errors(u->diags)) return EXIT_INPUT;
    return write_form(cli, c, form);
}

static int check_options(Cli *cli, Str form) {
    static const char *const later[] = {"llvm", "asm", "object"};
    Str target = cli_value(cli, "target");
    if (cli_has(cli, "target") && !target_known(target))
        return cli_fail(cli, EXIT_UNAVAILABLE, DIAG_UNSUPPORTED,
                        "targets are: sm_75 … sm_120, gfx90a … gfx1201, x86-64-v2, x86-64-v3, "
                        "x86-64-v4, x86-64-v4+bf16, aarch64, native, interp",
                        "there is no target '%.*s'", STR_ARG(target));
    if (str_equal(form, STR("tile-ir")) || str_equal(form, STR("metadata"))) return EXIT_FINE;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (str_equal(form, str(later[i])))
            return cli_fail(cli, EXIT_UNAVAILABLE, DIAG_UNSUPPORTED,
                            "forms of this version are: tile-ir, metadata",
                            "this version makes no code, so there is no %s", later[i]);
    return cli_usage_error(cli, "--as takes tile-ir or metadata, found '%.*s'", STR_ARG(form));
}

static int run(Cli *cli) {
    Str form = cli_has(cli, "as") ? cli_value(cli, "as") : STR("tile-ir");
    int status = check_options(cli, form);
    if (status) return status;
    Unit *u;
    const AstKernel *kernel;
    status = front_open(cli, &u, &kernel);
    if (!status) status = emit(cli, u, kernel, form);
    unit_destroy(u);
    return status;
}

const CliCommand command_emit = {
    .name = "emit",
    .usage = "FILE [KERNEL] [options]",
    .summary = "print what a kernel becomes: tile IR, metadata",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
