// bench_cpu: tilec on the CPU against its peers, in one process; scripts/bench.sh runs it.
//
//     bench_cpu [--threads N] [--quick] [--json] [--hand LIB] [--onednn LIB] [--blas LIB]
//               [--openmp LIB] [--opencl LIB] [FILTER]
//     bench_cpu --fresh CACHE      one process with the disk cache
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "bench/cpu/cases.h"
#include "bench/cpu/start.h"

static void (*const cases[])(Bench *) = {case_peaks,     case_streams, case_rows,
                                         case_transpose, case_matmul,  case_attention,
                                         case_launch,    case_compile, case_growth};

typedef struct Arguments {
    PeerPaths paths;
    const char *fresh;
} Arguments;

static bool value_of(int argc, char **argv, int *i, const char *name, const char **value) {
    if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc) return false;
    *value = argv[++*i];
    return true;
}

static bool parse(int argc, char **argv, Bench *bench, Arguments *a) {
    const char *threads = "1";
    for (int i = 1; i < argc; i++) {
        if (value_of(argc, argv, &i, "--threads", &threads)) continue;
        if (value_of(argc, argv, &i, "--hand", &a->paths.hand)) continue;
        if (value_of(argc, argv, &i, "--onednn", &a->paths.onednn)) continue;
        if (value_of(argc, argv, &i, "--blas", &a->paths.blas)) continue;
        if (value_of(argc, argv, &i, "--openmp", &a->paths.openmp)) continue;
        if (value_of(argc, argv, &i, "--opencl", &a->paths.opencl)) continue;
        if (value_of(argc, argv, &i, "--fresh", &a->fresh)) continue;
        if (strcmp(argv[i], "--quick") == 0)
            bench->quick = true;
        else if (strcmp(argv[i], "--json") == 0)
            bench->json = true;
        else if (argv[i][0] == '-' || bench->filter)
            return false;
        else
            bench->filter = argv[i];
    }
    bench->threads = (unsigned)strtoul(threads, NULL, 10);
    return bench->threads >= 1;
}

// Fills the arrays with numbers in [-1, 1), which also touches all pages before anything is
// measured.
static bool make_arrays(Bench *bench) {
    float **arrays[] = {&bench->x, &bench->y, &bench->z};
    for (size_t k = 0; k < 3; k++) {
        float *p = os_pages_map((size_t)BENCH_ELEMENTS * sizeof *p);
        if (!p) return false;
        for (int64_t i = 0; i < BENCH_ELEMENTS; i++)
            p[i] = (float)(i * 2654435761 % 2048) / 1024.0f - 1.0f;
        *arrays[k] = p;
    }
    return true;
}

static int run(Bench *bench, const Arguments *arguments) {
    StrBuf json = strbuf(bench->arena);
    bench->out = json_begin(&json);
    json_open(&bench->out, '[');
    bench->budget = bench->quick ? 0.25 : 1.5;
    if (!make_arrays(bench)) {
        fprintf(stderr, "bench_cpu: no memory for three arrays of 256 MiB\n");
        return EXIT_FAILURE;
    }
    Peers *peers = peers_open(bench, &arguments->paths);
    if (!bench->json) peers_print_missing(peers);
    Kernels *kernels = kernels_open(bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) cases[i](bench);
    kernels_close(kernels);
    json_close(&bench->out, ']');
    if (bench->json) printf("%s\n", json.text);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    Bench bench = {.arena = arena_create()};
    Arguments arguments = {0};
    int status = EXIT_FAILURE;
    if (!parse(argc, argv, &bench, &arguments))
        fprintf(stderr, "usage: bench_cpu [--threads N] [--quick] [--json] [--hand LIB] …\n");
    else if (arguments.fresh)
        status = start_fresh(arguments.fresh);
    else
        status = run(&bench, &arguments);
    arena_destroy(bench.arena);
    return status;
}
