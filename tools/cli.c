#include "tools/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/os.h"

bool cli_has(const Cli *cli, const char *option) {
    for (size_t i = 0; i < cli->args.count; i++)
        if (strcmp(cli->args.data[i].option->name, option) == 0) return true;
    return false;
}

Str cli_value(const Cli *cli, const char *option) {
    for (size_t i = cli->args.count; i-- > 0;)
        if (strcmp(cli->args.data[i].option->name, option) == 0) return cli->args.data[i].value;
    return STR("");
}

bool cli_number(const Cli *cli, const char *option, int64_t fallback, int64_t min, int64_t max,
                int64_t *value) {
    *value = fallback;
    if (!cli_has(cli, option)) return true;
    Str text = cli_value(cli, option);
    uint64_t number;
    bool overflow = false;
    if (str_to_u64(text, &number, &overflow) && !overflow && number <= (uint64_t)max &&
        (int64_t)number >= min) {
        *value = (int64_t)number;
        return true;
    }
    cli_usage_error(cli, "--%s takes a number from %lld to %lld, found '%.*s'", option,
                    (long long)min, (long long)max, STR_ARG(text));
    return false;
}

int cli_usage_error(const Cli *cli, const char *format, ...) {
    StrBuf b = strbuf(cli->arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&b, format, args);
    va_end(args);
    if (cli->json) {
        StrBuf out = strbuf(cli->arena);
        strbuf_printf(&out, "{\"status\":\"usage\",\"error\":");
        strbuf_quoted(&out, strbuf_str(&b));
        printf("%s}\n", out.text);
    }
    fprintf(stderr, "tilec %s: error: %s [usage]\n", cli->command->name, b.text);
    if (!cli->quiet) fprintf(stderr, "help: tilec %s --help\n", cli->command->name);
    return EXIT_USAGE;
}

void cli_diags_text(const Cli *cli, const Diags *diags) {
    StrBuf b = strbuf(cli->arena);
    diags_text(diags, (DiagStyle){.color = cli->color, .quiet = cli->quiet}, &b);
    fwrite(b.text, 1, b.size, stderr);
}

void cli_diags(const Cli *cli, const Diags *diags) {
    if (!cli->json) {
        cli_diags_text(cli, diags);
        return;
    }
    StrBuf b = strbuf(cli->arena);
    strbuf_add(&b, STR("{\"diagnostics\":"));
    diags_json(diags, &b);
    strbuf_printf(&b, ",\"errors\":%zu,\"warnings\":%zu}\n", diags_errors(diags),
                  diags_warnings(diags));
    fwrite(b.text, 1, b.size, stdout);
}

int cli_output(const Cli *cli, Str text) {
    Str path = cli_value(cli, "o");
    if (!path.size) {
        bool good = fwrite(text.text, 1, text.size, stdout) == text.size && fflush(stdout) == 0;
        if (!good)
            fprintf(stderr, "tilec %s: error: cannot write to standard output [io]\n",
                    cli->command->name);
        return good ? EXIT_FINE : EXIT_INPUT;
    }
    OsError error;
    if (os_write_file(cli->arena, arena_text(cli->arena, path.text, path.size), text, &error))
        return EXIT_FINE;
    fprintf(stderr, "tilec %s: error: cannot write '%.*s': %s [io]\n", cli->command->name,
            STR_ARG(path), error.text);
    return EXIT_INPUT;
}
