// tilec devices: what can run kernels here, and what cannot, and why.
#include <stdio.h>
#include <tilec/tilec.h>

#include "tools/cli.h"

// In the order of preference. `mend` says what a device needs that is not there.
static const struct {
    const char *name, *what, *mend;
} rows[] = {
    {"interp", "the reference interpreter: exact, slow, always there", ""},
    {"cpu", "this machine's processor", "this version generates no code for it"},
    {"cuda", "NVIDIA GPUs", "this version generates no code for them"},
    {"hip", "AMD GPUs", "this version generates no code for them"},
    {"sim", "GPUs, simulated", "this version has no simulator"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void add_json(Json *j, size_t i, bool found) {
    json_open(j, '{');
    json_key(j, "name"), json_str(j, str(rows[i].name));
    json_key(j, "description"), json_str(j, str(rows[i].what));
    json_key(j, "available"), json_bool(j, found);
    if (found)
        json_key(j, "version"), json_str(j, str(tilec_version()));
    else
        json_key(j, "missing"), json_str(j, str(rows[i].mend));
    json_close(j, '}');
}

static int run(Cli *cli) {
    tilec_context *context = NULL;
    if (tilec_context_create(NULL, &context))
        return cli_fail(cli, EXIT_DEFECT, DIAG_UNSUPPORTED, NULL, "no context can be made");
    json_key(&cli->json_out, "devices"), json_open(&cli->json_out, '[');
    for (size_t i = 0; i < ROWS; i++) {
        tilec_device *device = NULL;
        bool found = tilec_device_open(context, rows[i].name, &device) == TILEC_OK;
        add_json(&cli->json_out, i, found);
        if (cli->json || (cli->quiet && !found)) continue;
        if (found)
            printf("%-8s %s (tilec %s)\n", rows[i].name, rows[i].what, tilec_version());
        else
            printf("%-8s %s: not available, %s\n", rows[i].name, rows[i].what, rows[i].mend);
    }
    json_close(&cli->json_out, ']');
    tilec_context_destroy(context);
    return EXIT_FINE;
}

const CliCommand command_devices = {
    .name = "devices",
    .usage = "[options]",
    .summary = "what can run kernels here",
    .options = NULL,
    .option_count = 0,
    .max_operands = 0,
    .run = run,
};
