// Compiling: the time from source to callable, and the cost of larger tiles.
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "bench/cpu/cases.h"

typedef struct CompileRun {
    tilec_context *context;
    tilec_device *device;
    const char *file, *kernel;
    Str source;
    const tilec_spec *spec;
    unsigned turn;
    tilec_status status;
} CompileRun;

// A comment that is new in each run makes each text different, so that no cache has it.
static void compile_once(void *self) {
    CompileRun *r = self;
    Arena *arena = arena_create();
    char *text = arena_printf(arena, "// %u\n%.*s", ++r->turn, STR_ARG(r->source));
    tilec_kernel *kernel = NULL;
    r->status = tilec_kernel_from_source(r->context, r->device, r->file, text, strlen(text),
                                         r->kernel, r->spec, &kernel);
    if (!r->status) {
        tilec_function_pointer callable;
        r->status = tilec_function(kernel, &callable);
    }
    tilec_kernel_destroy(kernel);
    arena_destroy(arena);
}

// Prepares for measuring, with LLVM loaded; returns the reason if it fails.
static const char *open_run(Bench *bench, CompileRun *run, const char *device) {
    OsError error;
    tilec_context_options o = {.size = sizeof o, .cpu_threads = 1, .cache_folder = ""};
    if (!os_read_file(bench->arena, run->file, 1 << 20, &run->source, &error))
        return arena_printf(bench->arena, "%s", error.text);
    if (tilec_context_create(&o, &run->context) ||
        tilec_device_open(run->context, device, &run->device))
        return "no device";
    compile_once(run);
    return run->status ? arena_printf(bench->arena, "%s", tilec_last_error(run->context)) : NULL;
}

static void compile_kernel(Bench *bench, const char *file, const char *kernel, const char *device,
                           tilec_dtype dtype) {
    const char *name = arena_printf(bench->arena, "compile %s, %s", kernel, device);
    if (!bench_is_selected(bench, name)) return;
    CompileRun run = {.file = file, .kernel = kernel, .spec = TILEC_SPEC(TILEC_TYPE("T", dtype))};
    Row row = {.name = name, .failure = open_run(bench, &run, device)};
    if (!row.failure) row_add(&row, "tilec", ROLE_TILEC, compile_once, &run);
    row_measure(bench, &row);
    tilec_context_destroy(run.context);
}

// A simulated GPU gets the same input as its driver would: PTX, or a linked code object.
void case_compile(Bench *bench) {
    static const struct {
        const char *file, *kernel;
    } kernels[] = {{"examples/vector_add.tile", "add"},
                   {"examples/matmul.tile", "matmul"},
                   {"examples/attention.tile", "attention"}};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        compile_kernel(bench, kernels[i].file, kernels[i].kernel, "cpu", TILEC_F32);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        compile_kernel(bench, kernels[i].file, kernels[i].kernel, "sim:sm_80", TILEC_F16);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        compile_kernel(bench, kernels[i].file, kernels[i].kernel, "sim:gfx942", TILEC_F16);
}

// ---- Larger tiles ----

typedef struct Growth {
    const char *name, *file, *kernel;
    bool typed;
    const char *consts[4];
} Growth;

static const Growth growths[] = {
#define GROWTH(file, kernel, typed, straight, ...) \
    {#file, "examples/" #file ".tile", kernel, typed, {__VA_ARGS__}},
#include "tests/support/growth.def"
#undef GROWTH
};

static const tilec_spec *spec_of(Bench *bench, const Growth *g, int64_t width) {
    tilec_spec_entry *entries = arena_new(bench->arena, tilec_spec_entry, 5);
    tilec_spec *spec = arena_new(bench->arena, tilec_spec, 1);
    spec->entries = entries;
    if (g->typed) entries[spec->count++] = (tilec_spec_entry)TILEC_TYPE("T", TILEC_F32);
    for (size_t i = 0; i < 4 && g->consts[i]; i++)
        entries[spec->count++] = (tilec_spec_entry)TILEC_CONST(g->consts[i], width);
    return spec;
}

// Rows of 64 numbers are often computed without loops, which is less code than for any other row.
// So rows grow from 256 to 1024, where all have loops.
static void grow(Bench *bench, const Growth *g) {
    bool row = !g->consts[1];
    int64_t small = row ? 256 : 64, large = row ? 1024 : 512;
    const char *name = arena_printf(bench->arena, "growth of %s", g->name);
    if (!bench_is_selected(bench, name)) return;
    CompileRun runs[2] = {{.file = g->file, .kernel = g->kernel, .spec = spec_of(bench, g, large)},
                          {.file = g->file, .kernel = g->kernel, .spec = spec_of(bench, g, small)}};
    Row both = {.name = name};
    for (size_t i = 0; i < 2 && !both.failure; i++) both.failure = open_run(bench, &runs[i], "cpu");
    const char *text = arena_printf(bench->arena, "tiles of %d", (int)large);
    const char *other = arena_printf(bench->arena, "tiles of %d", (int)small);
    if (!both.failure) {
        row_add(&both, text, ROLE_TILEC, compile_once, &runs[0]);
        row_add(&both, other, ROLE_PEER, compile_once, &runs[1]);
    }
    row_measure(bench, &both);
    for (size_t i = 0; i < 2; i++) tilec_context_destroy(runs[i].context);
}

void case_growth(Bench *bench) {
    for (size_t i = 0; i < sizeof growths / sizeof growths[0]; i++) grow(bench, &growths[i]);
}
