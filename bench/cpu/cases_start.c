// Start-up costs: launches of empty kernels, and a fresh process with the disk cache.
#include "bench/cpu/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "bench/cpu/cases.h"

static const char *const empty_source = "kernel empty(i64 n) grid(n) { }\n";

static void empty(Bench *bench, const char *name, int64_t programs, bool region) {
    if (!bench_is_selected(bench, name)) return;
    Row row = {.name = name};
    tilec_arg args[] = {tilec_arg_int(programs)};
    kernels_add(
        bench, &row,
        &(KernelJob){.source = empty_source, .kernel = "empty", .args = args, .arg_count = 1});
    void *self = NULL;
    Runner *run = region ? peers_region(bench, &self) : NULL;
    row_add(&row, "libomp, empty region", ROLE_PEER, run, self);
    if (programs <= 64) add_pocl(bench, &row, &(PoclJob){.kernel = "empty", .items = {programs}});
    row_measure(bench, &row);
}

void case_launch(Bench *bench) {
    empty(bench, "empty kernel, 1 program", 1, false);
    empty(bench, "empty kernel, 64 programs", 64, true);
    empty(bench, "empty kernel, 1000000 programs", 1000000, false);
}

// ---- A fresh process ----

static bool llvm_is_mapped(void) {
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found = found || strstr(line, "LLVM") || strstr(line, "tilec_llvm");
    if (maps) fclose(maps);
    return found;
}

int start_fresh(const char *cache) {
    uint64_t begin = os_time_ns();
    static float x[1024], y[1024], z[1024];
    tilec_context *context = NULL;
    tilec_device *device = NULL;
    tilec_kernel *kernel = NULL;
    tilec_context_options o = {.size = sizeof o, .cpu_threads = 1, .cache_folder = cache};
    tilec_arg args[] = {tilec_arg_view(tilec_view1(TILEC_F32, x, 1024)),
                        tilec_arg_view(tilec_view1(TILEC_F32, y, 1024)),
                        tilec_arg_view(tilec_view1(TILEC_F32, z, 1024))};
    bool good = !tilec_context_create(&o, &context) &&
                !tilec_device_open(context, "cpu", &device) &&
                !tilec_kernel_from_file(context, device, "examples/vector_add.tile", "add",
                                        TILEC_SPEC(TILEC_TYPE("T", TILEC_F32)), &kernel) &&
                !tilec_launch(kernel, NULL, args, 3) && !tilec_device_synchronize(device);
    uint64_t took = os_time_ns() - begin;
    if (good)
        printf("%.3f ms from main to the end of the first launch; LLVM is %smapped\n",
               (double)took * 1e-6, llvm_is_mapped() ? "" : "not ");
    else
        printf("failed: %s\n", context ? tilec_last_error(context) : "no context");
    tilec_context_destroy(context);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
