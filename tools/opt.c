// tilec opt FILE.tir --passes=…: runs passes on IR text, for developers of passes.
#include <stdio.h>

#include "base/os/os.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "tools/front.h"

static const CliOption options[] = {
    {"passes", "LIST", "passes and pipelines in order: simplify,cse,dce or tile", false},
    {"verify", NULL, "verify after each pass (always done before and at the end)", false},
    FRONT_PASS_OPTIONS,
    {"o", "OUT", "write there instead of to standard output", false},
};

static int optimize(Cli *cli, IrModule *m, Diags *diags) {
    FrontPasses passes;
    int status = front_passes(cli, diags, &passes);
    if (status) return status;
    passes.options.verify = cli_has(cli, "verify");
    size_t n = 0;
    const PassStep *steps = NULL;
    if (cli_has(cli, "passes")) {
        steps = passes_parse(cli->arena, cli_value(cli, "passes"), &n, diags);
        if (!steps) {
            cli_diags(cli, diags);
            return EXIT_USAGE;
        }
    }
    bool good = !steps || passes_run(m, steps, n, &passes.options, diags);
    front_passes_report(&passes);
    bool whole = !good || ir_verify(m, diags);
    cli_diags(cli, diags);
    if (!whole) return EXIT_DEFECT;  // the passes broke IR that was valid before
    if (!good) return EXIT_INPUT;
    StrBuf out = strbuf(cli->arena);
    ir_print_module(m, &out);
    return cli_output(cli, "text", strbuf_str(&out));
}

static bool read_text(Cli *cli, Str path, Str *text) {
    OsError error;
    bool pipe = str_equal(path, STR("-"));
    if (pipe ? os_read_stdin(cli->arena, SOURCE_MAX, text, &error)
             : os_read_file(cli->arena, cli_text(cli, path), SOURCE_MAX, text, &error))
        return true;
    cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot read '%.*s': %s", STR_ARG(path), error.text);
    return false;
}

static int run(Cli *cli) {
    Arena *arena = cli->arena;
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    Str path = cli->operands.data[0], text;
    if (!read_text(cli, path, &text)) return EXIT_INPUT;
    if (str_equal(path, STR("-"))) path = STR(FRONT_STDIN);
    const SourceFile *file = source_add(sources, path, text);
    IrModule *m = ir_parse(arena, sources, interner_create(arena), file, diags);
    const Frontend *source = frontend_of(path);
    if (!m && source && str_ends(path, str(source->suffix)))
        return cli_fail(
            cli, EXIT_INPUT, DIAG_IR_SYNTAX, "make some with tilec emit FILE --as tile-ir",
            "'%.*s' is not IR text: by its name it is %s source", STR_ARG(path), source->language);
    if (!m || !ir_verify(m, diags)) {
        diags_sort(diags);
        cli_diags(cli, diags);
        return EXIT_INPUT;
    }
    if (!m->funcs.count)
        return cli_fail(cli, EXIT_INPUT, DIAG_IR_SYNTAX, "a kernel begins with 'kernel @name('",
                        "'%.*s' has no functions", STR_ARG(path));
    return optimize(cli, m, diags);
}

const CliCommand command_opt = {
    .name = "opt",
    .usage = "FILE.tir [options]",
    .summary = "run passes on the text form of the IR",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
