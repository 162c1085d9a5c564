// Loads a library of kernels that was unknown when this program was compiled: dlopen, then its
// functions by name, with a type (dlsym) or without (tilec_library_call).
//
//     ./loader ./libops_plugin.so [DEVICE]
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <tilec/library.h>

#include "check.h"

typedef struct Loader {
    void *file;
    const tilec_archive *archive;
    tilec_context *context;
    tilec_device *device;
    tilec_library *library;
    tilec_stream *stream;
} Loader;

static int failed(const Loader *l, const char *what) {
    fprintf(stderr, "loader: %s: %s\n", what, tilec_last_error(l->context));
    return 0;
}

static int open_file(Loader *l, const char *path) {
    l->file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    l->archive = l->file ? dlsym(l->file, "ops_plugin_archive") : NULL;
    if (!l->archive) fprintf(stderr, "loader: %s\n", dlerror());
    return l->archive != NULL;
}

static int open_library(Loader *l, const char *device) {
    if (tilec_context_create(NULL, &l->context)) {
        fputs("loader: no context\n", stderr);
        return 0;
    }
    if (device ? tilec_device_open(l->context, device, &l->device)
               : tilec_device_open_for(l->context, l->archive, &l->device))
        return failed(l, "no device");
    // Without a header the number of its interface is unknown: 0.
    if (tilec_library_load(l->device, l->archive, 0, &l->library))
        return failed(l, "the library is not loaded");
    l->stream = tilec_device_stream(l->device);
    return 1;
}

// Lists the contents of the library, which this program does not know in advance.
static int list(const Loader *l) {
    tilec_archive_info info;
    tilec_function_info f;
    if (tilec_archive_describe(l->context, l->archive, &info)) return failed(l, "the archive");
    for (uint32_t i = 0; i < info.function_count; i++) {
        if (tilec_archive_function(l->context, l->archive, i, &f)) return failed(l, "a function");
        printf("%s\n", f.prototype);
    }
    return 1;
}

static tilec_view on_device(const Loader *l, float *values, int64_t rows, int64_t columns) {
    size_t size = (size_t)(rows * columns) * sizeof *values;
    tilec_buffer buffer = {0};
    if (tilec_buffer_create(l->device, size, &buffer) ||
        tilec_buffer_write(l->device, l->stream, buffer, 0, values, size))
        failed(l, "no memory on the device");
    return tilec_buffer_view2(TILEC_F32, buffer, rows, columns);
}

static int read_back(const Loader *l, tilec_view view, float *to) {
    size_t size = (size_t)(view.extent[0] * view.extent[1]) * sizeof *to;
    return !tilec_buffer_read(l->device, l->stream, view.buffer, 0, to, size) ||
           failed(l, "not read");
}

enum { R = 2, C = 300 };

// The type that the header would declare.
typedef tilec_status Softmax(tilec_stream *stream, tilec_view x, tilec_view y);

static int by_symbol(const Loader *l) {
    static float x[R * C], y[R * C];
    void *symbol = dlsym(l->file, "ops_softmax");
    Softmax *softmax;
    if (!symbol) return 0;
    memcpy(&softmax, &symbol, sizeof softmax);  // C has no cast for this
    fill(x, R * C, 1);
    tilec_view vx = on_device(l, x, R, C), vy = on_device(l, y, R, C);
    if (softmax(l->stream, vx, vy)) return failed(l, "softmax");
    return read_back(l, vy, y) && check_softmax(x, y, R, C);
}

// The addresses of the arguments, in the order of the prototype; a generic runner makes them from
// its own data. tilec_library_kernel describes each argument.
static int by_name(const Loader *l) {
    static float x[R * C], before[R * C], after[R * C], weight[C], y[R * C];
    const char *name = "ops_add_rmsnorm_f32";
    float eps = 1e-5f;
    tilec_kernel *kernel;
    tilec_param param;
    size_t count;
    fill(x, R * C, 2), fill(before, R * C, 3), fill(weight, C, 4);
    if (tilec_library_kernel(l->library, name, &kernel) || tilec_kernel_param_count(kernel, &count))
        return failed(l, name);
    for (size_t i = 0; i < count; i++) {
        if (tilec_kernel_param(kernel, i, &param)) return failed(l, name);
        printf("%s%s%s", i ? ", " : "arguments: ", tilec_dtype_name(param.dtype),
               param.kind == TILEC_PARAM_VIEW ? "[]" : "");
        printf(" %s", param.name);
    }
    tilec_view vx = on_device(l, x, R, C), vresidual = on_device(l, before, R, C);
    tilec_view vweight = on_device(l, weight, 1, C), vy = on_device(l, y, R, C);
    vweight.rank = 1, vweight.extent[0] = C, vweight.stride[0] = 1;
    const void *values[] = {&vx, &vresidual, &vweight, &vy, &eps};
    printf("\n");
    if (count != sizeof values / sizeof *values) return 0;
    if (tilec_library_call(l->library, name, l->stream, values)) return failed(l, name);
    return read_back(l, vresidual, after) && read_back(l, vy, y) &&
           check_rmsnorm(x, before, after, weight, y, R, C, eps);
}

// An unknown name is an error that lists the available ones.
static int by_wrong_name(const Loader *l) {
    tilec_kernel *kernel;
    if (!tilec_library_kernel(l->library, "ops_sofmax", &kernel)) return 0;
    printf("not there: %s\n", tilec_last_error(l->context));
    return 1;
}

int main(int argc, char **argv) {
    Loader l = {0};
    if (argc < 2) {
        fputs("usage: loader LIBRARY.so [DEVICE]\n", stderr);
        return 2;
    }
    int good = open_file(&l, argv[1]) && open_library(&l, argc > 2 ? argv[2] : NULL) && list(&l) &&
               by_symbol(&l) && by_name(&l) && by_wrong_name(&l);
    // In this order: code that may still run must not be unloaded.
    tilec_context_destroy(l.context);
    if (l.file) dlclose(l.file);
    puts(good ? "all as expected" : "failed");
    return good ? 0 : 1;
}
