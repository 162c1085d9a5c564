// Compiles kernels one after another on a device, with LLVM mapped: what
// scripts/compile-cost.sh counts the instructions of.
//
//     bench_compile DEVICE < JOBS        a job is a line: FILE KERNEL [T=f16 …]
//
// Each job is one call of `compile_job`, but the first job is two: the first call maps LLVM and
// prepares the target. Prints each job with "done", or "refused" and the reason. Only the public
// API is used, so that the program can be linked with the library of another commit.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

enum { LINE = 1024, ENTRIES = 8, WORDS = ENTRIES + 2 };

typedef struct Job {
    const char *file, *kernel;
    char *text;
    size_t size;
    tilec_spec_entry entries[ENTRIES];
    size_t spec_count;
} Job;

static _Noreturn void fail(const char *what, const char *why) {
    fprintf(stderr, "bench_compile: error: %s: %s\n", what, why);
    exit(2);
}

static tilec_dtype dtype_of(const char *name) {
    static const struct {
        const char *name;
        tilec_dtype dtype;
    } types[] = {{"f16", TILEC_F16}, {"bf16", TILEC_BF16},     {"f32", TILEC_F32},
                 {"f64", TILEC_F64}, {"f8e4m3", TILEC_F8E4M3}, {"f8e5m2", TILEC_F8E5M2}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) return types[i].dtype;
    fail(name, "no type that jobs name");
}

static void read_text(Job *job) {
    enum { MOST = 1 << 20 };
    FILE *f = fopen(job->file, "rb");
    job->text = malloc(MOST);
    if (!f || !job->text) fail(job->file, "cannot be read");
    job->size = fread(job->text, 1, MOST, f);
    fclose(f);
}

static Job parse(char *line) {
    Job job = {0};
    char *words[WORDS];
    size_t count = 0;
    for (char *w = strtok(line, " \n"); w && count < WORDS; w = strtok(NULL, " \n"))
        words[count++] = w;
    if (count < 2) fail(line, "a job has a file and a kernel");
    job.file = words[0], job.kernel = words[1];
    for (size_t i = 2; i < count; i++) {
        char *value = strchr(words[i], '=');
        if (!value) fail(words[i], "expected NAME=TYPE");
        *value++ = 0;
        job.entries[i - 2] =
            (tilec_spec_entry){.kind = TILEC_SPEC_TYPE, .name = words[i], .dtype = dtype_of(value)};
    }
    job.spec_count = count - 2;
    read_text(&job);
    return job;
}

// Not static and never inlined: callgrind knows it by its name.
__attribute__((noinline)) tilec_status compile_job(tilec_context *context, tilec_device *device,
                                                   const Job *job);
tilec_status compile_job(tilec_context *context, tilec_device *device, const Job *job) {
    tilec_spec spec = {.count = job->spec_count, .entries = job->entries};
    tilec_kernel *kernel = NULL;
    tilec_status s = tilec_kernel_from_source(context, device, job->file, job->text, job->size,
                                              job->kernel, &spec, &kernel);
    tilec_kernel_destroy(kernel);
    return s;
}

int main(int argc, char **argv) {
    char line[LINE], said[LINE];
    tilec_context_options o = {.size = sizeof o, .cpu_threads = 1, .cache_folder = ""};
    tilec_context *context = NULL;
    tilec_device *device = NULL;
    if (argc != 2) fail("usage", "bench_compile DEVICE < JOBS");
    if (tilec_context_create(&o, &context) || tilec_device_open(context, argv[1], &device))
        fail(argv[1], context ? tilec_last_error(context) : "no context");
    for (bool first = true; fgets(line, sizeof line, stdin); first = false) {
        line[strcspn(line, "\n")] = 0;
        memcpy(said, line, sizeof said);
        Job job = parse(line);
        if (first) compile_job(context, device, &job);
        tilec_status s = compile_job(context, device, &job);
        const char *why = s ? tilec_last_error(context) : "";
        printf("%s: %s%.*s\n", said, s ? "refused: " : "done", (int)strcspn(why, "\n"), why);
        free(job.text);
    }
    tilec_context_destroy(context);
    return 0;
}
