// A kernel that is compiled at run time and called like any C function.
//
//     ./function_pointer [DEVICE]      of those that use the host's memory
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tilec/tilec.h>

static const char source[] =
    "kernel softmax(f32 x[R, C], f32 y[R, C], const W = 64) requires C <= W grid(R) {\n"
    "    let r = program(0);\n"
    "    let v = x[r, 0 +: W] or -inf;\n"
    "    let e = exp(v - max(v));\n"
    "    y[r, 0 +: W] = e / sum(e);\n"
    "}\n";

// A view is a pointer followed by its extents, each passed where it is first mentioned.
typedef tilec_status Softmax(const float *x, int64_t R, int64_t C, float *y);

// This code knows only the function it was given, nothing of tilec.
static double total(Softmax *softmax, const float *x, int64_t rows, int64_t columns) {
    float y[64];
    double sum = 0;
    for (int64_t r = 0; r < rows; r++) {
        if (softmax(x + r * columns, 1, columns, y)) return NAN;
        for (int64_t c = 0; c < columns; c++) sum += (double)y[c];
    }
    return sum;
}

int main(int argc, char **argv) {
    tilec_context *ctx = NULL;
    tilec_device *dev = NULL;
    tilec_kernel *k = NULL;
    tilec_function_pointer f = NULL;
    const char *signature = NULL;
    if (tilec_context_create(NULL, &ctx)) {
        fputs("function_pointer: no context\n", stderr);
        return 1;
    }
    int failed = tilec_device_open(ctx, argc > 1 ? argv[1] : "auto", &dev) ||
                 tilec_kernel_from_source(ctx, dev, "softmax.tile", source, strlen(source),
                                          "softmax", NULL, &k) ||
                 tilec_function_signature(k, &signature) || tilec_function(k, &f);
    if (failed) {
        fprintf(stderr, "function_pointer: %s\n", tilec_last_error(ctx));
    } else {
        float x[3 * 50];
        for (int i = 0; i < 150; i++) x[i] = (float)(i % 11);
        Softmax *softmax = (Softmax *)f;
        printf("%s\n", signature);
        printf("sum of 3 rows: %.4f\n", total(softmax, x, 3, 50));
        // Like every launch, it checks its arguments and returns the status.
        printf("65 columns: %s\n", tilec_status_text(softmax(x, 1, 65, x)));
    }
    tilec_context_destroy(ctx);  // this also frees the function
    return failed;
}
