// The command line: commands as tables, options parsed and helped from the same rows.
//
// Exit status (design of the house): 0 fine, 1 the input is wrong, 2 wrong usage, 3 a comparison or
// sanitizer check failed, 4 device or target not available here, 70 a defect of tilec.
// Invariants: diagnostics and usage errors go to standard error; results go to standard output, as
// one JSON object under --json.
//
//     static const CliOption options[] = {{"seed", "N", "fills arrays from this seed", false}, …};
//     Str seed = cli_value(cli, "seed");
#ifndef TILEC_TOOLS_CLI_H
#define TILEC_TOOLS_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/vec.h"

enum {
    EXIT_FINE = 0,
    EXIT_INPUT = 1,
    EXIT_USAGE = 2,
    EXIT_MISMATCH = 3,
    EXIT_UNAVAILABLE = 4,
    EXIT_DEFECT = 70
};

typedef struct CliOption {
    const char *name;      // "set"
    const char *argument;  // "NAME=VALUE"; NULL: a switch
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
};

bool cli_has(const Cli *cli, const char *option);
// The last value given, or an empty text.
Str cli_value(const Cli *cli, const char *option);
// A whole number in [min, max]; `fallback` when the option is absent; reports and returns false
// else.
bool cli_number(const Cli *cli, const char *option, int64_t fallback, int64_t min, int64_t max,
                int64_t *value);
// "tilec run: …" on standard error; returns EXIT_USAGE.
int cli_usage_error(const Cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Prints diagnostics as text on standard error, or as JSON {"diagnostics": […], …} on standard
// output.
void cli_diags(const Cli *cli, const Diags *diags);
void cli_diags_text(const Cli *cli, const Diags *diags);
// Writes a result to -o FILE or standard output.
int cli_output(const Cli *cli, Str text);

extern const CliCommand command_check, command_run, command_emit, command_opt, command_devices;

#endif
