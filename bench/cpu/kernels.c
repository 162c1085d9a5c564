#include "bench/cpu/kernels.h"

#include <string.h>

typedef struct KernelRun {
    tilec_device *device;
    tilec_kernel *kernel;
    const tilec_arg *args;
    size_t arg_count;
} KernelRun;

// The first line of the error message.
static const char *failure(const Bench *bench, tilec_context *context) {
    const char *text = tilec_last_error(context), *end = strchr(text, '\n');
    return arena_text(bench->arena, text, end ? (size_t)(end - text) : strlen(text));
}

Kernels *kernels_open(Bench *bench) {
    Kernels *k = arena_new(bench->arena, Kernels, 1);
    tilec_context_options o = {.size = sizeof o, .cpu_threads = bench->threads};
    if (tilec_context_create(&o, &k->context))
        k->failure = "no context";
    else if (tilec_device_open(k->context, "cpu", &k->device))
        k->failure = failure(bench, k->context);
    bench->kernels = k;
    return k;
}

void kernels_close(Kernels *k) { tilec_context_destroy(k->context); }

static void launch(void *self) {
    const KernelRun *r = self;
    tilec_launch(r->kernel, NULL, r->args, r->arg_count);
    tilec_device_synchronize(r->device);
}

static tilec_status compile(const Kernels *k, const KernelJob *job, tilec_kernel **kernel) {
    if (job->file)
        return tilec_kernel_from_file(k->context, k->device, job->file, job->kernel, job->spec,
                                      kernel);
    return tilec_kernel_from_source(k->context, k->device, "bench.tile", job->source,
                                    strlen(job->source), job->kernel, job->spec, kernel);
}

void kernels_add(Bench *bench, Row *row, const KernelJob *job) {
    Kernels *k = bench->kernels;
    if (!k->device) {
        row->failure = k->failure;
        return;
    }
    KernelRun *r = arena_new(bench->arena, KernelRun, 1);
    r->device = k->device;
    r->args = arena_copy(bench->arena, job->args, (job->arg_count + 1) * sizeof *job->args);
    r->arg_count = job->arg_count;
    tilec_status status = compile(k, job, &r->kernel);
    if (!status) status = tilec_launch(r->kernel, NULL, r->args, r->arg_count);
    if (!status) status = tilec_device_synchronize(k->device);
    if (status)
        row->failure = failure(bench, k->context);
    else
        row_add(row, job->name ? job->name : "tilec", ROLE_TILEC, launch, r);
}
