// tilec devices: what can run kernels here.
#include <stdio.h>

#include "tools/cli.h"

static int run(Cli *cli) {
    if (cli->json)
        printf(
            "{\"devices\":[{\"name\":\"interp\",\"description\":\"the reference "
            "interpreter\"}]}\n");
    else
        printf("interp   the reference interpreter: exact, slow, always there\n");
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
