// Two shared libraries of one name, with a kernel of one name: each runs its own, also where their
// names meet (RTLD_GLOBAL).
//
//     twins FIRST.so SECOND.so        twice x, and three times x
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <tilec/library.h>

typedef tilec_status Kernel(tilec_stream *stream, tilec_view x, tilec_view y);

static int run(tilec_context *ctx, tilec_device *dev, void *file, float expected) {
    float x = 1, y = 0;
    tilec_library *lib = NULL;
    const tilec_archive *archive = (const tilec_archive *)dlsym(file, "twin_archive");
    void *symbol = dlsym(file, "scaled");
    Kernel *kernel;
    memcpy(&kernel, &symbol, sizeof kernel);
    if (!archive || !symbol || tilec_library_load(dev, archive, 0, &lib) ||
        kernel(tilec_device_stream(dev), tilec_view1(TILEC_F32, &x, 1),
               tilec_view1(TILEC_F32, &y, 1)) ||
        tilec_device_synchronize(dev)) {
        printf("failed: %s\n", tilec_last_error(ctx));
        return 1;
    }
    printf("%g times\n", y);
    return y < expected || y > expected;
}

int main(int argc, char **argv) {
    tilec_context *ctx = NULL;
    tilec_device *dev = NULL;
    if (argc != 3 || tilec_context_create(NULL, &ctx) || tilec_device_open(ctx, "cpu", &dev))
        return 2;
    void *first = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    void *second = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
    int failed = !first || !second || run(ctx, dev, first, 2) + run(ctx, dev, second, 3);
    tilec_context_destroy(ctx);
    return failed;
}
