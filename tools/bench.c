// tilec bench FILE [KERNEL]: measures how long a launch takes, and computes bytes and operations
// per second.
#include <stdio.h>

#include "base/status.h"
#include "tools/front.h"
#include "tools/measure.h"
#include "tools/progress.h"

static const CliOption options[] = {
    {"device", "D", "interp, cpu or cpu:THREADS, cuda:N, hip:N, sim:ARCH, or auto (default)",
     false},
    SETTINGS_OPTIONS,
    FRONT_LIMIT_OPTION,
    {"in", "NAME=F.npy", "an array from a NumPy file", true},
    {"grid", "X[,Y[,Z]]", "this grid instead of the kernel's own", false},
    {"seed", "S", "fills arrays without --in (default 1)", false},
    {"flops", "N", "operations of one launch, instead of those of its dots", false},
};

static const double BUDGET = 1.0;  // seconds

typedef struct BenchResult {
    Timing timing;
    double bytes, flops;
} BenchResult;

// "12.3 us": three to four digits and a unit that fits.
static void print_seconds(double seconds) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i < 3 && seconds < units[i].unit) i++;
    printf("%.4g %s", seconds / units[i].unit, units[i].name);
}

static void print_text(const Run *r, const BenchResult *result) {
    const Timing *t = &result->timing;
    printf("%s on %s: ", r->kernel->name, tilec_device_name(r->device));
    print_seconds(t->median);
    printf(" a launch (");
    print_seconds(t->least);
    printf(" to ");
    print_seconds(t->greatest);
    printf(", %u samples of %u)\n", t->samples, t->repeats);
    RunConst consts[RUN_CONSTS];
    uint32_t count;
    run_launched_consts(r, consts, &count);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%.*s=%lld", i ? " " : "  with ", STR_ARG(consts[i].name),
               (long long)consts[i].value);
    if (count) printf(" instead of the default%s\n", count > 1 ? "s" : "");
    if (r->device->api->simulated) printf("  " MEASURE_SIMULATED "\n");
    if (result->bytes > 0)
        printf("  %.6g MB read and written: %.4g GB/s\n", result->bytes * 1e-6,
               result->bytes / t->median * 1e-9);
    if (result->flops > 0)
        printf("  %.6g million operations: %.4g GFLOP/s\n", result->flops * 1e-6,
               result->flops / t->median * 1e-9);
}

static void print_json(const Run *r, const BenchResult *result) {
    Json *j = &r->cli->json_out;
    const Timing *t = &result->timing;
    json_key(j, "kernel"), json_str(j, r->compiled->meta->name);
    json_key(j, "device"), json_str(j, str(tilec_device_name(r->device)));
    json_key(j, "simulated"), json_bool(j, r->device->api->simulated);
    json_key(j, "grid"), json_open(j, '[');
    int64_t grid[3];
    run_launched_grid(r, grid);
    for (int d = 0; d < 3; d++) json_int(j, grid[d]);
    json_close(j, ']');
    RunConst consts[RUN_CONSTS];
    uint32_t count;
    run_launched_consts(r, consts, &count);
    json_key(j, "consts"), json_open(j, '{');
    for (uint32_t i = 0; i < count; i++)
        json_key(j, arena_text(r->cli->arena, consts[i].name.text, consts[i].name.size)),
            json_int(j, consts[i].value);
    json_close(j, '}');
    json_key(j, "seconds"), json_double(j, t->median);
    json_key(j, "least"), json_double(j, t->least);
    json_key(j, "greatest"), json_double(j, t->greatest);
    json_key(j, "samples"), json_uint(j, t->samples);
    json_key(j, "repeats"), json_uint(j, t->repeats);
    json_key(j, "bytes"), json_double(j, result->bytes);
    json_key(j, "bytesPerSecond"), json_double(j, result->bytes / t->median);
    json_key(j, "flops"), json_double(j, result->flops);
    json_key(j, "flopsPerSecond"), json_double(j, result->flops / t->median);
}

static int measure(Run *r, int64_t flops) {
    int status = run_make_kernel(r);
    if (!status) status = run_make_args(r);
    if (status) return status;
    BenchResult result = {0};
    Progress *p = progress_begin(r->cli, "measuring %s", r->kernel->name);
    tilec_status s = measure_launches(r, r->handle, BUDGET, &result.timing);
    progress_end(p);
    if (s) return run_api_error(r, s);
    run_compute_grid(r);
    result.bytes = measure_bytes(r);
    result.flops = flops >= 0 ? (double)flops : measure_flops(r);
    if (r->cli->json)
        print_json(r, &result);
    else if (!r->cli->quiet)
        print_text(r, &result);
    return EXIT_OK;
}

static int bench(Cli *cli) {
    int64_t flops;
    if (!cli_number(cli, "flops", -1, 0, INT64_MAX, &flops)) return EXIT_USAGE;
    Run r;
    int status = run_open(cli, &r);
    if (!status) status = measure(&r, flops);
    run_close(&r);
    return status;
}

const CliCommand command_bench = {
    .name = "bench",
    .usage = "FILE [KERNEL] [options]",
    .summary = "measure how long a launch takes",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 2,
    .run = bench,
};
