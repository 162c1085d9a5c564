// The command `tilec`: finds the subcommand, parses its options, runs it.
#include <stdio.h>
#include <string.h>
#include <tilec/tilec.h>

#include "base/os.h"
#include "tools/cli.h"

static const CliCommand *const commands[] = {&command_check, &command_run, &command_emit,
                                             &command_opt, &command_devices};
enum { COMMANDS = sizeof commands / sizeof *commands };

// Options that every command has.
static const CliOption common[] = {
    {"json", NULL, "print one JSON object instead of text", false},
    {"quiet", NULL, "errors only", false},
    {"color", "WHEN", "auto (default), always or never", false},
    {"help", NULL, "this text", false},
};
enum { COMMON = sizeof common / sizeof *common };

static void print_usage(FILE *out) {
    fprintf(out, "tilec %s: compiles and runs tile kernels\n\nusage: tilec COMMAND …\n\n",
            tilec_version());
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out,
            "\n  tilec COMMAND --help tells more; tilec --version prints the version\n"
            "exit status: 0 fine, 1 the input is wrong, 2 wrong usage, 3 a check failed,\n"
            "             4 not available here, 70 a defect of tilec\n");
}

static void print_option(const CliOption *o) {
    char left[64];
    snprintf(left, sizeof left, "%s%s%s%s", o->name[1] ? "--" : "-", o->name,
             o->argument ? " " : "", o->argument ? o->argument : "");
    printf("  %-24s %s%s\n", left, o->help, o->repeat ? " (may be repeated)" : "");
}

static void print_command_help(const CliCommand *c) {
    printf("usage: tilec %s %s\n\n%s\n\n", c->name, c->usage, c->summary);
    for (size_t i = 0; i < c->option_count; i++) print_option(&c->options[i]);
    for (size_t i = 0; i < COMMON; i++) print_option(&common[i]);
}

static const CliOption *find_option(const CliCommand *c, Str name) {
    for (size_t i = 0; i < c->option_count; i++)
        if (str_equal(name, str(c->options[i].name))) return &c->options[i];
    for (size_t i = 0; i < COMMON; i++)
        if (str_equal(name, str(common[i].name))) return &common[i];
    return NULL;
}

static int unknown_option(const Cli *cli, Str name) {
    Str names[64];
    size_t n = 0;
    for (size_t i = 0; i < cli->command->option_count; i++)
        names[n++] = str(cli->command->options[i].name);
    for (size_t i = 0; i < COMMON; i++) names[n++] = str(common[i].name);
    Str nearest = str_nearest(name, names, n);
    if (nearest.size)
        return cli_usage_error(cli, "unknown option '--%.*s'; did you mean '--%.*s'?",
                               STR_ARG(name), STR_ARG(nearest));
    return cli_usage_error(cli, "unknown option '--%.*s'", STR_ARG(name));
}

// One argument that begins with '-'; *i moves past the value it takes.
static int parse_option(Cli *cli, int argc, char **argv, int *i) {
    Str text = str(argv[*i]), value = {0}, name;
    bool dashes = str_starts(text, STR("--"));
    name = (Str){text.text + (dashes ? 2 : 1), text.size - (dashes ? 2 : 1)};
    bool inline_value = memchr(name.text, '=', name.size) != NULL;
    if (inline_value) name = str_cut(name, '=', &value);
    if (str_equal(name, STR("h"))) name = STR("help");
    const CliOption *o = find_option(cli->command, name);
    if (!o || (!dashes && name.size > 1 && !str_equal(name, STR("help"))))
        return unknown_option(cli, name);
    if (!o->argument && inline_value) return cli_usage_error(cli, "--%s takes no value", o->name);
    if (o->argument && !inline_value) {
        if (*i + 1 >= argc)
            return cli_usage_error(cli, "--%s takes a value: %s", o->name, o->argument);
        value = str(argv[++*i]);
    }
    if (!o->repeat && cli_has(cli, o->name))
        return cli_usage_error(cli, "--%s is given twice", o->name);
    CliArg arg = {o, value};
    vec_push(cli->arena, &cli->args, arg);
    return EXIT_FINE;
}

static int parse(Cli *cli, int argc, char **argv) {
    bool only_operands = false;
    // --json and --quiet count from the first error on, wherever they stand.
    for (int i = 0; i < argc; i++) {
        cli->json = cli->json || strcmp(argv[i], "--json") == 0;
        cli->quiet = cli->quiet || strcmp(argv[i], "--quiet") == 0;
    }
    for (int i = 0; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
            int status = parse_option(cli, argc, argv, &i);
            if (status) return status;
        } else {
            vec_push(cli->arena, &cli->operands, str(argv[i]));
        }
    }
    return EXIT_FINE;
}

static int set_color(Cli *cli) {
    Str when = cli_value(cli, "color");
    bool terminal = os_is_terminal(stderr) && !os_env("NO_COLOR");
    if (!when.size || str_equal(when, STR("auto")))
        cli->color = terminal;
    else if (str_equal(when, STR("always")))
        cli->color = true;
    else if (!str_equal(when, STR("never")))
        return cli_usage_error(cli, "--color takes auto, always or never, found '%.*s'",
                               STR_ARG(when));
    return EXIT_FINE;
}

static int run_command(Cli *cli, int argc, char **argv) {
    int status = parse(cli, argc, argv);
    if (status) return status;
    if (cli_has(cli, "help")) {
        print_command_help(cli->command);
        return EXIT_FINE;
    }
    status = set_color(cli);
    if (status) return status;
    size_t n = cli->operands.count;
    if (n < cli->command->min_operands)
        return cli_usage_error(cli, "usage: tilec %s %s", cli->command->name, cli->command->usage);
    if (n > cli->command->max_operands)
        return cli_usage_error(cli, "unexpected '%.*s'",
                               STR_ARG(cli->operands.data[cli->command->max_operands]));
    return cli->command->run(cli);
}

static int unknown_command(const char *name) {
    fprintf(stderr, "tilec: error: unknown command '%s' [usage]\nhelp: commands are:", name);
    for (size_t i = 0; i < COMMANDS; i++) fprintf(stderr, " %s", commands[i]->name);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("tilec %s\n", tilec_version());
        return EXIT_FINE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_usage(stdout);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i]->name)) continue;
        Cli cli = {.arena = arena_create(), .command = commands[i]};
        int status = run_command(&cli, argc - 2, argv + 2);
        arena_destroy(cli.arena);
        return status;
    }
    return unknown_command(argv[1]);
}
