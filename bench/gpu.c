// The speed of kernels on a device, compared with its own copy rate, and the cost of a launch,
// compared with the bare driver's: vector add, softmax, matmul, attention, launch.
//
//     bench_gpu [--device D] [--small] [--json FILE]
//
// Run it in the folder that contains examples/. Rows: name, seconds of one launch (the best of five
// samples), the rate, and its fraction of the copy rate. --small: extents for simulated devices. A
// row that cannot be measured gives the reason, and the status is 1.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

#include "base/os/os.h"
#include "runtime/context.h"
#include "runtime/cuda/state.h"

enum { SAMPLES = 5, LAUNCHES = 2000, ARGS_MAX = 5, EXTENTS = 4 };

typedef struct Bench {
    const char *device_name;
    bool small;
    FILE *json;
    tilec_context *context;
    tilec_device *device;
    double budget;  // seconds of a sample
    double copy;    // bytes a second
    int failures, rows;
} Bench;

typedef struct Array {
    int64_t extent[EXTENTS];
    int rank;
} Array;

typedef struct Case {
    const char *name, *file, *kernel;
    tilec_dtype type;
    bool typed;  // the kernel has a type parameter T
    tilec_spec_entry entries[8];
    size_t entry_count;
    Array arrays[ARGS_MAX];
    int array_count;
    double scale;  // for attention; 0: no scalar argument
    double bytes, flops;
} Case;

// ---- Rows ----

static void put_row(Bench *b, const char *name, double seconds, double bytes, double flops) {
    double ratio = b->copy > 0 && bytes > 0 ? bytes / seconds / b->copy : 0;
    printf("%-22s %12.3f us", name, seconds * 1e6);
    if (bytes > 0) printf(" %10.2f GB/s", bytes / seconds * 1e-9);
    if (flops > 0) printf(" %10.3f TFLOP/s", flops / seconds * 1e-12);
    if (ratio > 0) printf("  %5.3f of copy", ratio);
    printf("\n");
    if (!b->json) return;
    fprintf(b->json, "%s{\"name\":\"%s\",\"seconds\":%.9g", b->rows++ ? ",\n " : "", name, seconds);
    if (bytes > 0) fprintf(b->json, ",\"bytesPerSecond\":%.6g", bytes / seconds);
    if (flops > 0) fprintf(b->json, ",\"flopsPerSecond\":%.6g", flops / seconds);
    if (ratio > 0) fprintf(b->json, ",\"ofCopyRate\":%.4f", ratio);
    fprintf(b->json, "}");
}

static void put_missing(Bench *b, const char *name, const char *why, bool failed) {
    int line = (int)strcspn(why, "\n");
    printf("%-22s not measured: %.*s\n", name, line, why);
    b->failures += failed;
    if (!b->json) return;
    fprintf(b->json, "%s{\"name\":\"%s\",\"notMeasured\":\"", b->rows++ ? ",\n " : "", name);
    for (int i = 0; i < line; i++)
        if (why[i] >= ' ' && why[i] != '"' && why[i] != '\\') fputc(why[i], b->json);
    fprintf(b->json, "\"}");
}

// ---- Time ----

typedef tilec_status Work(Bench *b, void *user);

static tilec_status run_times(Bench *b, Work *work, void *user, uint32_t times, double *seconds) {
    uint64_t begin = os_time_ns();
    tilec_status s = TILEC_OK;
    for (uint32_t i = 0; i < times && !s; i++) s = work(b, user);
    if (!s) s = tilec_device_synchronize(b->device);
    *seconds = (double)(os_time_ns() - begin) * 1e-9;
    return s;
}

// Measures one piece of work: each sample repeats it until its time is filled; the best of some
// samples counts.
static tilec_status measure(Bench *b, Work *work, void *user, double *best) {
    double seconds = 0;
    uint32_t times = 1;
    tilec_status s = run_times(b, work, user, 1, &seconds);  // also compiles and allocates
    while (!s) {
        s = run_times(b, work, user, times, &seconds);
        if (s || seconds >= b->budget || times > 1u << 20) break;
        times *= seconds * 4 < b->budget ? 4 : 2;
    }
    *best = seconds / times;
    for (int i = 1; i < SAMPLES && !s; i++) {
        s = run_times(b, work, user, times, &seconds);
        if (seconds / times < *best) *best = seconds / times;
    }
    return s;
}

// ---- The copy rate ----

typedef struct Copy {
    tilec_buffer from, to;
    size_t size;
} Copy;

static tilec_status copy(Bench *b, void *user) {
    const Copy *c = user;
    return tilec_buffer_copy(b->device, NULL, c->to, 0, c->from, 0, c->size);
}

static void bench_copy(Bench *b) {
    Copy c = {.size = b->small ? 1 << 16 : (size_t)256 << 20};
    double seconds = 0;
    tilec_status s = tilec_buffer_create(b->device, c.size, &c.from);
    if (!s) s = tilec_buffer_create(b->device, c.size, &c.to);
    if (!s) s = measure(b, copy, &c, &seconds);
    if (s) {
        put_missing(b, "copy", tilec_last_error(b->context), true);
    } else {
        b->copy = 2 * (double)c.size / seconds;
        put_row(b, "copy", seconds, 2 * (double)c.size, 0);
    }
    tilec_buffer_destroy(b->device, c.from);
    tilec_buffer_destroy(b->device, c.to);
}

// ---- Kernels ----

typedef struct Ready {
    tilec_kernel *kernel;
    tilec_buffer buffers[ARGS_MAX];
    tilec_arg args[ARGS_MAX + 1];
    size_t count;
} Ready;

static tilec_status launch(Bench *b, void *user) {
    const Ready *r = user;
    (void)b;
    return tilec_launch(r->kernel, NULL, r->args, r->count);
}

// Small numbers of all kinds, whose products stay finite.
static tilec_status fill(Bench *b, tilec_buffer buffer, tilec_dtype type, size_t size) {
    uint8_t *bytes = malloc(size + 4);
    if (!bytes) return TILEC_OUT_OF_MEMORY;
    uint32_t random = 1;
    for (size_t i = 0; i < size; i += 2) {
        random = random * 1664525u + 1013904223u;
        uint16_t half = (uint16_t)(0x2c00 + (random >> 20) % 0x800);  // f16: 1/16 to 1/4
        float single = (float)(random >> 24) / 256;
        if (type == TILEC_F16)
            memcpy(bytes + i, &half, 2);
        else if (i % 4 == 0)
            memcpy(bytes + i, &single, 4);
    }
    tilec_status s = tilec_buffer_write(b->device, NULL, buffer, 0, bytes, size);
    free(bytes);
    return s;
}

static tilec_status make_ready(Bench *b, const Case *c, Ready *r) {
    tilec_spec spec = {c->entry_count, c->entries};
    tilec_status s =
        tilec_kernel_from_file(b->context, b->device, c->file, c->kernel, &spec, &r->kernel);
    for (int i = 0; i < c->array_count && !s; i++) {
        const Array *a = &c->arrays[i];
        uint64_t count = 1;
        for (int d = 0; d < a->rank; d++) count *= (uint64_t)a->extent[d];
        size_t size = tilec_dtype_bytes(c->type, count);
        s = tilec_buffer_create(b->device, size, &r->buffers[i]);
        if (!s) s = fill(b, r->buffers[i], c->type, size);
        r->args[r->count++] =
            tilec_arg_view(tilec_view_of_buffer(c->type, r->buffers[i], a->rank, a->extent));
    }
    if (c->scale > 0) r->args[r->count++] = tilec_arg_double(c->scale);
    return s;
}

static void end_ready(Bench *b, Ready *r) {
    tilec_device_synchronize(b->device);
    tilec_kernel_destroy(r->kernel);
    for (int i = 0; i < ARGS_MAX; i++) tilec_buffer_destroy(b->device, r->buffers[i]);
}

static void bench_case(Bench *b, const Case *c) {
    Ready r = {0};
    double seconds = 0;
    tilec_status s = make_ready(b, c, &r);
    if (!s) s = measure(b, launch, &r, &seconds);
    if (s)
        put_missing(b, c->name, tilec_last_error(b->context), true);
    else
        put_row(b, c->name, seconds, c->bytes, c->flops);
    end_ready(b, &r);
}

#define TYPE_OF(t) \
    { TILEC_SPEC_TYPE, "T", t, 0 }
#define CONST_OF(name, n) \
    { TILEC_SPEC_CONST, name, TILEC_BOOL, n }
#define OPTION_OF(name, n) \
    { TILEC_SPEC_OPTION, name, TILEC_BOOL, n }

static void bench_add(Bench *b) {
    int64_t n = b->small ? 4096 : (int64_t)64 << 20;
    Array x = {{n}, 1};
    Case c = {"vector add f32",
              "examples/vector_add.tile",
              "add",
              TILEC_F32,
              true,
              {TYPE_OF(TILEC_F32)},
              1,
              {x, x, x},
              3,
              0,
              12.0 * (double)n,
              0};
    bench_case(b, &c);
}

static void bench_softmax(Bench *b) {
    int64_t rows = b->small ? 8 : 16384, columns = b->small ? 1000 : 4096;
    Array x = {{rows, columns}, 2};
    Case c = {"softmax f32",
              "examples/softmax.tile",
              "softmax",
              TILEC_F32,
              false,
              {CONST_OF("W", b->small ? 1024 : 4096), OPTION_OF("warps", 4)},
              2,
              {x, x},
              2,
              0,
              8.0 * (double)rows * (double)columns,
              0};
    bench_case(b, &c);
}

static void bench_matmul(Bench *b) {
    int64_t n = b->small ? 64 : 4096;
    Array x = {{n, n}, 2};
    Case c = {"matmul f16",
              "examples/matmul.tile",
              "matmul",
              TILEC_F16,
              true,
              {TYPE_OF(TILEC_F16), OPTION_OF("math.contract", 1), OPTION_OF("math.approx", 1)},
              3,
              {x, x, x},
              3,
              0,
              0,
              2.0 * (double)n * (double)n * (double)n};
    bench_case(b, &c);
}

static void bench_attention(Bench *b) {
    int64_t batch = b->small ? 1 : 4, heads = b->small ? 1 : 16, m = b->small ? 64 : 2048, d = 64;
    Array x = {{batch, heads, m, d}, 4};
    double flops = 4.0 * (double)(batch * heads * d) * (double)m * (double)m;
    Case c = {"attention f16",
              "examples/attention.tile",
              "attention",
              TILEC_F16,
              true,
              {TYPE_OF(TILEC_F16), CONST_OF("BD", 64), OPTION_OF("math.contract", 1),
               OPTION_OF("math.approx", 1)},
              4,
              {x, x, x, x},
              4,
              0.125,
              0,
              flops};
    bench_case(b, &c);
}

// ---- Launches ----

// It has as many bytes of arguments as the kernel it is compared with.
static const char empty_text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry empty(.param .align 16 .b8 block[56])\n{\nret;\n}\n";

typedef struct Bare {
    GpuDriver driver;
    GpuContext context;
    GpuModule module;
    GpuFunction function;
    void *stream;
} Bare;

static GpuResult open_bare(Bench *b, Bare *bare) {
    int ordinal = b->device_name[4] == ':' ? atoi(b->device_name + 5) : 0;
    GpuNumber device;
    GpuResult r = gpu_driver_open(b->context, &cuda_backend, &bare->driver) ? CUDA_ERROR_NO_DEVICE
                                                                            : CUDA_SUCCESS;
    if (!r) r = bare->driver.device_get(&device, ordinal);
    if (!r) r = bare->driver.primary_retain(&bare->context, device);
    if (!r) r = bare->driver.push_current(bare->context);
    if (!r) r = bare->driver.module_load(&bare->module, empty_text, 0, NULL, NULL);
    if (!r) r = bare->driver.module_function(&bare->function, bare->module, "empty");
    if (!r && tilec_stream_native(b->device->first, &bare->stream)) r = CUDA_ERROR_INVALID_HANDLE;
    return r;
}

static tilec_status launch_bare(Bench *b, void *user) {
    const Bare *bare = user;
    unsigned char block[56] = {0};
    size_t size = sizeof block;
    (void)b;
    void *extra[] = {(void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT, block,
                     (void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT, &size,
                     (void *)CU_LAUNCH_PARAM_END_AS_INT};
    GpuResult r =
        bare->driver.launch_kernel(bare->function, 1, 1, 1, 32, 1, 1, 0, bare->stream, NULL, extra);
    return r ? TILEC_INTERNAL : TILEC_OK;
}

// Measures the calls alone; the device works later. The best of some samples counts.
static tilec_status time_calls(Bench *b, Work *work, void *user, double *best) {
    int count = b->small ? 20 : LAUNCHES;
    tilec_status s = work(b, user);
    *best = 1e9;
    for (int i = 0; i < SAMPLES && !s; i++) {
        s = tilec_device_synchronize(b->device);
        uint64_t begin = os_time_ns();
        for (int k = 0; k < count && !s; k++) s = work(b, user);
        double seconds = (double)(os_time_ns() - begin) * 1e-9 / count;
        if (seconds < *best) *best = seconds;
    }
    return s ? s : tilec_device_synchronize(b->device);
}

static void bench_bare(Bench *b) {
    Bare bare;
    double seconds;
    if (strncmp(b->device_name, "cuda", 4) != 0) {
        put_missing(b, "launch, bare driver", "the device does not use a driver", false);
        return;
    }
    memset(&bare, 0, sizeof bare);
    GpuResult r = open_bare(b, &bare);
    if (r || time_calls(b, launch_bare, &bare, &seconds))
        put_missing(b, "launch, bare driver", "the driver fails", true);
    else
        put_row(b, "launch, bare driver", seconds, 0, 0);
    if (bare.module) bare.driver.module_unload(bare.module);
    if (bare.context) bare.driver.pop_current(&bare.context);
}

static void bench_launch(Bench *b) {
    Array x = {{64}, 1};
    Case c = {"launch", "examples/vector_add.tile",
              "add",    TILEC_F32,
              true,     {TYPE_OF(TILEC_F32), CONST_OF("B", 64)},
              2,        {x, x, x},
              3,        0,
              0,        0};
    Ready r = {0};
    double seconds;
    tilec_status s = make_ready(b, &c, &r);
    if (!s) s = time_calls(b, launch, &r, &seconds);
    if (s)
        put_missing(b, c.name, tilec_last_error(b->context), true);
    else
        put_row(b, c.name, seconds, 0, 0);
    end_ready(b, &r);
    bench_bare(b);
}

// ---- All ----

static bool read_options(Bench *b, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0)
            b->small = true;
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            b->device_name = argv[++i];
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            b->json = fopen(argv[++i], "w");
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    Bench b = {.device_name = "cuda:0"};
    if (!read_options(&b, argc, argv)) {
        fprintf(stderr, "usage: bench_gpu [--device D] [--small] [--json FILE]\n");
        return 2;
    }
    b.budget = b.small ? 0.001 : 0.05;
    if (tilec_context_create(NULL, &b.context)) return 1;
    if (tilec_device_open(b.context, b.device_name, &b.device)) {
        fprintf(stderr, "bench_gpu: %s\n", tilec_last_error(b.context));
        return 1;
    }
    if (b.json) fprintf(b.json, "[");
    bench_copy(&b);
    bench_add(&b);
    bench_softmax(&b);
    bench_matmul(&b);
    bench_attention(&b);
    bench_launch(&b);
    if (b.json) fprintf(b.json, "]\n");
    bool written = !b.json || fclose(b.json) == 0;
    tilec_context_destroy(b.context);
    return b.failures || !written;
}
