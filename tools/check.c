// tilec check FILE…: parse, type-check, report every error.
#include <stdio.h>

#include "base/json.h"
#include "compile/compile.h"
#include "tools/cli.h"

static const CliOption options[] = {
    {"werror", NULL, "warnings count as errors for the exit status", false},
};

static void add_json(StrBuf *all, const Diags *diags, bool *any) {
    StrBuf one = strbuf(all->arena);
    diags_json(diags, &one);
    // One array out of the files' arrays: brackets off, commas between.
    Str inner = str_trim((Str){one.text + 1, one.size - 2});
    if (!inner.size) return;
    if (*any) strbuf_char(all, ',');
    strbuf_add(all, inner);
    *any = true;
}

static int run(Cli *cli) {
    size_t errors = 0, warnings = 0;
    StrBuf json = strbuf(cli->arena);
    bool any = false;
    for (size_t i = 0; i < cli->operands.count; i++) {
        Str path = cli->operands.data[i];
        Unit *u = unit_load_file(arena_text(cli->arena, path.text, path.size));
        if (u->file) tile_check(u->file, u->diags);
        diags_sort(u->diags);
        errors += diags_errors(u->diags);
        warnings += diags_warnings(u->diags);
        if (cli->json)
            add_json(&json, u->diags, &any);
        else
            cli_diags_text(cli, u->diags);
        unit_destroy(u);
    }
    if (cli->json)
        printf("{\"diagnostics\":[%s],\"errors\":%zu,\"warnings\":%zu}\n", json.text, errors,
               warnings);
    else if (errors && !cli->quiet)
        fprintf(stderr, "%zu error%s\n", errors, errors == 1 ? "" : "s");
    return errors || (warnings && cli_has(cli, "werror")) ? EXIT_INPUT : EXIT_FINE;
}

const CliCommand command_check = {
    .name = "check",
    .usage = "FILE… [options]",
    .summary = "parse and type-check, report every error",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run,
};
