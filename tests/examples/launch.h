// Launches runs through the public C API; on devices with memory of their own, by buffers.
#ifndef TILEC_TESTS_EXAMPLES_LAUNCH_H
#define TILEC_TESTS_EXAMPLES_LAUNCH_H

#include <tilec/tilec.h>
#include "tests/examples/examples.h"

enum { LAUNCHER_OPTIONS = 4 };

typedef struct Launcher {
    tilec_context *context;
    tilec_device *device;
    bool own_memory;
    bool unsupported;                 // the last run could not be compiled for this device
    char text[1024];                  // what went wrong in it
    const tilec_spec_entry *options;  // of all runs, at most LAUNCHER_OPTIONS; set by the caller
    int option_count;
} Launcher;

// NULL, or what went wrong (valid until the next call).
const char *launcher_open(Launcher *launcher, const char *device);
const char *launcher_run(Launcher *launcher, const Example *example, Run *run);
void launcher_close(Launcher *launcher);

#endif
