#include "tools/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"

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

char *cli_text(const Cli *cli, Str text) { return arena_text(cli->arena, text.text, text.size); }

bool cli_number(Cli *cli, const char *option, int64_t fallback, int64_t min, int64_t max,
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
    cli_usage_error(cli, "%s%s takes a number from %lld to %lld, found '%.*s'",
                    option[1] ? "--" : "-", option, (long long)min, (long long)max, STR_ARG(text));
    return false;
}

static void fail(Cli *cli, DiagCode code, const char *help, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));
static void fail(Cli *cli, DiagCode code, const char *help, const char *format, va_list args) {
    StrBuf text = strbuf(cli->arena);
    strbuf_vprintf(&text, format, args);
    Diags *d = diags_create(cli->arena, sources_create(cli->arena));
    diag_error(d, (Span){0}, code, "%s", text.text);
    if (help) diag_help(d, "%s", help);
    cli_diags(cli, d);
}

int cli_fail(Cli *cli, int status, DiagCode code, const char *help, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail(cli, code, help, format, args);
    va_end(args);
    return status;
}

int cli_usage_error(Cli *cli, const char *format, ...) {
    const char *help = arena_printf(cli->arena, "see tilec %s --help", cli->command->name);
    va_list args;
    va_start(args, format);
    fail(cli, DIAG_USAGE, help, format, args);
    va_end(args);
    return EXIT_USAGE;
}

void cli_warn(Cli *cli, DiagCode code, const char *text) {
    Diags *d = diags_create(cli->arena, sources_create(cli->arena));
    diag_warning(d, (Span){0}, code, "%s", text);
    cli_diags(cli, d);
}

static void add_rows(Cli *cli, const Diags *diags) {
    StrBuf one = strbuf(cli->arena);
    diags_json(diags, &one);
    // Joins several JSON arrays: removes their brackets and puts commas between them.
    Str inner = str_trim((Str){one.text + 1, one.size - 2});
    if (!inner.size) return;
    if (cli->diagnostics.size) strbuf_char(&cli->diagnostics, ',');
    strbuf_add(&cli->diagnostics, inner);
}

void cli_diags(Cli *cli, const Diags *diags) {
    cli->errors += diags_errors(diags);
    cli->warnings += diags_warnings(diags);
    if (cli->json) {
        add_rows(cli, diags);
        return;
    }
    StrBuf b = strbuf(cli->arena);
    diags_text(diags, (DiagStyle){.color = cli->color, .quiet = cli->quiet}, &b);
    fwrite(b.text, 1, b.size, stderr);
}

int cli_output(Cli *cli, const char *key, Str text) {
    Str path = cli_value(cli, "o");
    if (cli_has(cli, "o") && !str_equal(path, STR("-"))) {
        OsError error;
        if (!os_write_file(cli->arena, cli_text(cli, path), text, &error))
            return cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot write '%.*s': %s",
                            STR_ARG(path), error.text);
        if (cli->json) json_key(&cli->json_out, "out"), json_str(&cli->json_out, path);
    } else if (cli->json) {
        json_key(&cli->json_out, key), json_str(&cli->json_out, text);
    } else {
        fwrite(text.text, 1, text.size, stdout);  // main checks whether it could be written
    }
    return EXIT_OK;
}
