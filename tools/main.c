// The command `tilec`: finds the subcommand, parses its options, runs it, finishes its output.
#include <stdio.h>
#include <string.h>
#include <tilec/tilec.h>

#include "base/os/os.h"
#include "tools/cli.h"

static const CliCommand *const commands[] = {
    &command_check, &command_run,   &command_emit, &command_explain, &command_build,
    &command_opt,   &command_bench, &command_tune, &command_devices, &command_cache};
enum { COMMANDS = sizeof commands / sizeof *commands };

// Options that every command has.
static const CliOption common[] = {
    {"json", NULL, "print one JSON object instead of text", false},
    {"quiet", NULL, "print only errors", false},
    {"color", "WHEN", "auto (default), always or never", false},
    {"help", NULL, "print this text", false},
};
enum { COMMON = sizeof common / sizeof *common };

static void print_usage(FILE *out) {
    fprintf(out, "tilec %s: compiles and runs tile kernels\n\nusage: tilec COMMAND …\n\n",
            tilec_version());
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out,
            "\n  tilec COMMAND --help lists its options; tilec --version prints the version\n"
            "exit status: 0 fine, 1 the input is wrong, 2 wrong usage, 3 a check failed,\n"
            "             4 not available here, 70 a defect of tilec\n");
}

static const char *dashes(const char *option) { return option[1] ? "--" : "-"; }

static void print_option(const CliOption *o) {
    char left[64];
    snprintf(left, sizeof left, "%s%s%s%s", dashes(o->name), o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
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

// Reports the beginning of the argument, and the options that exist.
static int unknown_option(Cli *cli, Str text, Str name) {
    const CliCommand *c = cli->command;
    Str *names = arena_new(cli->arena, Str, c->option_count + COMMON);
    size_t n = 0;
    StrBuf help = strbuf(cli->arena);
    for (size_t i = 0; i < c->option_count; i++) names[n++] = str(c->options[i].name);
    for (size_t i = 0; i < COMMON; i++) names[n++] = str(common[i].name);
    Str nearest = str_nearest(name, names, n);
    if (nearest.size) {
        strbuf_printf(&help, "did you mean '%s%.*s'?", dashes(nearest.text), STR_ARG(nearest));
    } else {
        strbuf_printf(&help, "options of tilec %s are:", c->name);
        for (size_t i = 0; i < n; i++)
            strbuf_printf(&help, " %s%.*s", dashes(names[i].text), STR_ARG(names[i]));
    }
    Str word = str_cut(text, '=', &(Str){0});
    return cli_fail(cli, EXIT_USAGE, DIAG_USAGE, help.text, "unknown option '%.*s'", STR_ARG(word));
}

// One argument that begins with '-'; *i moves past the value that it takes.
static int parse_option(Cli *cli, int argc, char **argv, int *i) {
    Str text = str(argv[*i]), value = {0};
    size_t prefix = str_starts(text, STR("--")) ? 2 : 1;
    Str name = {text.text + prefix, text.size - prefix};
    bool inline_value = memchr(name.text, '=', name.size) != NULL;
    if (inline_value) name = str_cut(name, '=', &value);
    if (prefix == 1 && str_equal(name, STR("h"))) {
        name = STR("help");
        prefix = 2;
    }
    const CliOption *o = find_option(cli->command, name);
    if (!o || (prefix == 1) != (name.size == 1)) return unknown_option(cli, text, name);
    const char *dash = dashes(o->name);
    if (!o->argument && inline_value)
        return cli_usage_error(cli, "%s%s takes no value", dash, o->name);
    if (o->argument && !inline_value) {
        if (*i + 1 >= argc)
            return cli_usage_error(cli, "%s%s takes a value: %s", dash, o->name, o->argument);
        value = str(argv[++*i]);
    }
    if (!o->repeat && cli_has(cli, o->name))
        return cli_usage_error(cli, "%s%s is given twice", dash, o->name);
    CliArg arg = {o, value};
    vec_push(cli->arena, &cli->args, arg);
    return EXIT_OK;
}

static int parse(Cli *cli, int argc, char **argv) {
    bool only_operands = false;
    // --json and --quiet apply from the first error on, in any position.
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
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
    return EXIT_OK;
}

static bool is_set(const char *variable) {
    const char *value = os_env(variable);
    return value && value[0];
}

static int set_color(Cli *cli) {
    Str when = cli_value(cli, "color");
    const char *terminal = os_env("TERM");
    cli->color = os_is_terminal(stderr) && !is_set("NO_COLOR") &&
                 !(terminal && strcmp(terminal, "dumb") == 0);
    if (!cli_has(cli, "color") || str_equal(when, STR("auto"))) return EXIT_OK;
    cli->color = str_equal(when, STR("always"));
    if (cli->color || str_equal(when, STR("never"))) return EXIT_OK;
    return cli_usage_error(cli, "--color takes auto, always or never, found '%.*s'", STR_ARG(when));
}

// A usage line begins with the required operands.
static const char *missing_operand(const CliCommand *command, size_t given) {
    if (strncmp(command->usage, "FILE", 4) != 0) return "what to do";
    return given == 0 ? "a file" : "the kernel";
}

static int run_command(Cli *cli, int argc, char **argv) {
    int status = parse(cli, argc, argv);
    if (status) return status;
    if (cli_has(cli, "help")) {
        cli->json = false;
        print_command_help(cli->command);
        return EXIT_OK;
    }
    status = set_color(cli);
    if (status) return status;
    size_t n = cli->operands.count;
    if (n < cli->command->min_operands)
        return cli_usage_error(cli, "%s is missing: tilec %s %s", missing_operand(cli->command, n),
                               cli->command->name, cli->command->usage);
    if (n > cli->command->max_operands)
        return cli_usage_error(cli, "unexpected '%.*s': tilec %s %s",
                               STR_ARG(cli->operands.data[cli->command->max_operands]),
                               cli->command->name, cli->command->usage);
    return cli->command->run(cli);
}

static const char *status_word(int status) {
    switch (status) {
    case EXIT_OK: return "ok";
    case EXIT_INPUT: return "input";
    case EXIT_USAGE: return "usage";
    case EXIT_MISMATCH: return "failed";
    case EXIT_UNAVAILABLE: return "unavailable";
    }
    return "defect";
}

static void print_object(Cli *cli, int status) {
    json_close(&cli->json_out, '}');
    Str members = {cli->members.text + 1, cli->members.size - 2};
    printf("{\"status\":\"%s\"%s", status_word(status), members.size ? "," : "");
    fwrite(members.text, 1, members.size, stdout);
    printf(",\"diagnostics\":[");
    fwrite(cli->diagnostics.text, 1, cli->diagnostics.size, stdout);
    printf("],\"errors\":%zu,\"warnings\":%zu}\n", cli->errors, cli->warnings);
}

// A result that could not be written is an error.
static int finish_output(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "tilec: error: cannot write to standard output [io]\n");
    return status ? status : EXIT_INPUT;
}

static int command(const CliCommand *c, int argc, char **argv) {
    Arena *arena = arena_create();
    Cli cli = {
        .arena = arena, .command = c, .members = strbuf(arena), .diagnostics = strbuf(arena)};
    cli.json_out = json_begin(&cli.members);
    json_open(&cli.json_out, '{');
    int status = run_command(&cli, argc, argv);
    if (cli.json) print_object(&cli, status);
    arena_destroy(arena);
    return finish_output(status);
}

static int unknown_command(const char *name) {
    fprintf(stderr, "tilec: error: unknown command '%s' [usage]\nhelp: commands are:", name);
    for (size_t i = 0; i < COMMANDS; i++) fprintf(stderr, " %s", commands[i]->name);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

static const CliCommand *find_command(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0) return commands[i];
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *first = argv[1];
    if (!strcmp(first, "--version")) {
        printf("tilec %s\n", tilec_version());
        return finish_output(EXIT_OK);
    }
    bool help = !strcmp(first, "--help") || !strcmp(first, "-h") || !strcmp(first, "help");
    if (help && argc == 2) {
        print_usage(stdout);
        return finish_output(EXIT_OK);
    }
    const CliCommand *c = find_command(help ? argv[2] : first);
    if (!c) return unknown_command(help ? argv[2] : first);
    if (!help) return command(c, argc - 2, argv + 2);
    print_command_help(c);
    return finish_output(EXIT_OK);
}
