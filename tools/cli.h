// The command line: commands are tables; parsing and --help use the same rows.
//
// Exit status (design of the house): 0 fine, 1 the input is wrong, 2 wrong usage, 3 a comparison or
// sanitizer check failed, 4 device or target not available here, 70 a defect of tilec. Invariants:
// errors and warnings go to standard error, results to standard output. Under --json nothing goes
// to standard error, and standard output is one object, also when the command fails:
//     {"status": "ok", …the command's own members…, "diagnostics": […], "errors": 0, "warnings": 0}
// main closes and prints it; commands add members through `cli->json_out` and report through
// cli_diags and cli_fail. Ownership: everything is allocated in the command's arena.
//
//     static const CliOption options[] = {{"seed", "N", "fills arrays from this seed", false}, …};
//     if (cli_has(cli, "seed")) parse(cli_value(cli, "seed"));
//     return cli_usage_error(cli, "--grid takes up to three numbers");
#ifndef TILEC_TOOLS_CLI_H
#define TILEC_TOOLS_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"

enum {
    EXIT_OK = 0,
    EXIT_INPUT = 1,
    EXIT_USAGE = 2,
    EXIT_MISMATCH = 3,
    EXIT_UNAVAILABLE = 4,
    EXIT_DEFECT = 70
};

typedef struct CliOption {
    const char *name;      // "set"; of one letter: "-o"
    const char *argument;  // "NAME=VALUE"; NULL for a switch
    const char *help;
    bool repeat;  // may be given several times
} CliOption;

typedef struct Cli Cli;
typedef struct CliCommand {
    const char *name;
    const char *usage;    // "FILE [KERNEL] [options]"
    const char *summary;  // one line
    const CliOption *options;
    size_t option_count;
    size_t min_operands, max_operands;
    int (*run)(Cli *cli);
} CliCommand;

typedef struct CliArg {
    const CliOption *option;
    Str value;
} CliArg;

struct Cli {
    Arena *arena;
    const CliCommand *command;
    VEC(Str) operands;
    VEC(CliArg) args;
    bool json, quiet, color;
    StrBuf members;      // under --json: the object so far, beginning with '{'
    Json json_out;       // writes into `members`
    StrBuf diagnostics;  // under --json: the reported diagnostics as rows, with commas
    size_t errors, warnings;
};

bool cli_has(const Cli *cli, const char *option);
// The last value given, or an empty text.
Str cli_value(const Cli *cli, const char *option);
// An operand or value as a C text.
char *cli_text(const Cli *cli, Str text);
// A whole number in [min, max], or `fallback` when the option is absent. Otherwise reports and
// returns false.
bool cli_number(Cli *cli, const char *option, int64_t fallback, int64_t min, int64_t max,
                int64_t *value);
// Reports one error that has no place in a file; `help` may be NULL. Returns `status`.
int cli_fail(Cli *cli, int status, DiagCode code, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// The same for wrong usage; the help refers to the command's --help.
int cli_usage_error(Cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Reports one warning that has no place in a file.
void cli_warn(Cli *cli, DiagCode code, const char *text);
// Reports collected diagnostics, as text or rows of the object; call it once for each list.
void cli_diags(Cli *cli, const Diags *diags);
// Writes a text result to -o FILE or standard output; under --json without -o as member `key`.
int cli_output(Cli *cli, const char *key, Str text);

extern const CliCommand command_check, command_run, command_emit, command_opt, command_devices,
    command_cache, command_bench, command_tune, command_explain, command_build;

#endif
