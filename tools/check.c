// tilec check FILE…: parses, checks types, reports every error.
#include <stdio.h>

#include "tools/front.h"
#include "tools/progress.h"

static const CliOption options[] = {
    {"werror", NULL, "warnings count as errors for the exit status", false},
};

static void check_file(Cli *cli, Str path) {
    Progress *p = progress_begin(cli, "checking %.*s", STR_ARG(path));
    Unit *u = front_load(cli, path);
    if (u->file && !diags_errors(u->diags)) frontend_check(u->file, u->diags);
    progress_end(p);
    front_report(cli, u);
    unit_destroy(u);
}

static int run(Cli *cli) {
    for (size_t i = 0; i < cli->operands.count; i++) check_file(cli, cli->operands.data[i]);
    if (cli->errors && !cli->quiet && !cli->json)
        fprintf(stderr, "%zu error%s\n", cli->errors, cli->errors == 1 ? "" : "s");
    bool good = !cli->errors && !(cli->warnings && cli_has(cli, "werror"));
    return good ? EXIT_OK : EXIT_INPUT;
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
