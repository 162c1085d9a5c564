// tilec emit FILE [KERNEL]: what a kernel becomes, at the stages that exist so far.
#include <stdio.h>

#include "ir/text.h"
#include "tools/settings.h"

static const CliOption options[] = {
    SETTINGS_OPTIONS,
    {"target", "T", "for `tune … for T`; interp (default) has no code of its own", false},
    {"as", "FORM", "tile-ir (default) or metadata", false},
    {"passes", "LIST",
     "passes and pipelines to run (default: tile); none: as the front end made it", false},
    {"o", "OUT", "write there instead of standard output", false},
};

static int emit(Cli *cli, Unit *u, const AstKernel *kernel, Str form) {
    Settings s;
    int status = settings_parse(cli, u, kernel, &s);
    s.spec.target = cli_value(cli, "target");
    if (!status) status = settings_require_types(&s);
    if (status) return status;
    CompileOptions o = {.passes = {.verify = true}};
    Str passes = cli_value(cli, "passes");
    o.elaborate_only = str_equal(passes, STR("none"));
    if (passes.size && !o.elaborate_only) {
        o.steps = passes_parse(cli->arena, passes, &o.step_count, u->diags);
        if (!o.steps) {
            cli_diags_text(cli, u->diags);
            return EXIT_USAGE;
        }
    }
    const Compiled *c = unit_compile(u, kernel, &s.spec, &o);
    if (!c || diags_errors(u->diags)) {
        cli_diags(cli, u->diags);
        return EXIT_INPUT;
    }
    cli_diags_text(cli, u->diags);
    StrBuf out = strbuf(cli->arena);
    if (str_equal(form, STR("metadata"))) {
        meta_json(c->meta, &out);
        strbuf_char(&out, '\n');
    } else {
        ir_print_module(c->module, &out);
    }
    return cli_output(cli, strbuf_str(&out));
}

static int run(Cli *cli) {
    Str form = cli_value(cli, "as"), target = cli_value(cli, "target");
    if (!form.size) form = STR("tile-ir");
    bool later = str_equal(form, STR("llvm")) || str_equal(form, STR("asm")) ||
                 str_equal(form, STR("object"));
    if (!later && !str_equal(form, STR("tile-ir")) && !str_equal(form, STR("metadata")))
        return cli_usage_error(cli, "--as takes tile-ir or metadata, found '%.*s'", STR_ARG(form));
    if (later) {
        fprintf(stderr,
                "tilec emit: error: no code generator for target '%.*s' in this version "
                "[unsupported]\n",
                STR_ARG(target));
        return EXIT_UNAVAILABLE;
    }
    Str path = cli->operands.data[0];
    Unit *u = unit_load_file(arena_text(cli->arena, path.text, path.size));
    int status = EXIT_INPUT;
    if (diags_errors(u->diags)) {
        cli_diags(cli, u->diags);
    } else {
        const AstKernel *k =
            unit_kernel(u, cli->operands.count > 1 ? cli->operands.data[1] : STR(""));
        if (k) {
            status = emit(cli, u, k, form);
        } else {
            cli_diags(cli, u->diags);
            status = EXIT_USAGE;
        }
    }
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
