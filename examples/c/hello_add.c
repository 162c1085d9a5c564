// Adds two arrays on any device: the smallest complete program.
//
//     ./hello_add [DEVICE]        "auto" (the default), "cpu", "interp", …
#include <stdio.h>
#include <string.h>
#include <tilec/tilec.h>

static const char source[] =
    "kernel add(f32 x[N], f32 y[N], f32 sum[N], const B = 1024) grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    sum[i +: B] = x[i +: B] + y[i +: B];   // elements past N are neither read nor written\n"
    "}\n";

enum { N = 10000 };
static float x[N], y[N], sum[N];

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "auto";
    tilec_context *ctx = NULL;
    tilec_device *dev = NULL;
    tilec_kernel *add = NULL;
    if (tilec_context_create(NULL, &ctx)) {
        fputs("hello_add: no context\n", stderr);
        return 1;
    }
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 0.5f;
    }
    // Each call returns TILEC_OK, which is 0, or explains the error in tilec_last_error().
    int failed =
        tilec_device_open(ctx, name, &dev) ||
        tilec_kernel_from_source(ctx, dev, "add.tile", source, strlen(source), "add", NULL, &add) ||
        tilec_launch(add, NULL,
                     TILEC_ARGS(tilec_view1(TILEC_F32, x, N), tilec_view1(TILEC_F32, y, N),
                                tilec_view1(TILEC_F32, sum, N))) ||
        tilec_device_synchronize(dev);
    if (failed)
        fprintf(stderr, "hello_add: %s\n", tilec_last_error(ctx));
    else
        printf("%g + %g = %g\n", (double)x[N - 1], (double)y[N - 1], (double)sum[N - 1]);
    tilec_context_destroy(ctx);  // and everything made from it
    return failed;
}
