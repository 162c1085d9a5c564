// A kernel of a Python file, compiled while the program runs. The types of its parameters come from
// the arguments: views for pointers, numbers for numbers.
//
//     ./matmul_jit [DEVICE]      in the folder of matmul.py
#include <stdio.h>
#include <tilec/tilec.h>

#include "check.h"

// A buffer of the device with these numbers.
static tilec_status send(tilec_device *dev, const void *from, size_t size, tilec_buffer *to) {
    tilec_status s = tilec_buffer_create(dev, size, to);
    return s ? s : tilec_buffer_write(dev, NULL, *to, 0, from, size);
}

static tilec_status run(tilec_context *ctx, const char *name, const Matmul *x) {
    tilec_device *dev = NULL;
    tilec_kernel *k = NULL;
    tilec_buffer a, b, c;
    size_t m = (size_t)x->m, n = (size_t)x->n, depth = (size_t)x->k;
    // Constexprs are given as Python writes them; ACTIVATION is a function of the file.
    const tilec_spec *spec =
        TILEC_SPEC(TILEC_VALUE("BM", "64"), TILEC_VALUE("BN", "64"), TILEC_VALUE("BK", "32"),
                   TILEC_VALUE("GROUP", "4"), TILEC_VALUE("ACTIVATION", "leaky_relu"),
                   TILEC_OPTION("warps", 4), TILEC_GRID("triton.cdiv(M, BM) * triton.cdiv(N, BN)"));
    tilec_status s = tilec_device_open(ctx, name, &dev);
    if (!s) s = tilec_kernel_from_file(ctx, dev, "matmul.py", "matmul", spec, &k);
    if (!s) s = send(dev, x->a, m * depth * sizeof *x->a, &a);
    if (!s) s = send(dev, x->b, depth * n * sizeof *x->b, &b);
    if (!s) s = tilec_buffer_create(dev, m * n * sizeof *x->c, &c);
    if (!s)
        s = tilec_launch(k, NULL,
                         TILEC_ARGS(tilec_buffer_view2(TILEC_F16, a, x->m, x->k),
                                    tilec_buffer_view2(TILEC_F16, b, x->k, x->n),
                                    tilec_buffer_view2(TILEC_F32, c, x->m, x->n), x->m, x->n, x->k,
                                    x->k, 1, x->n, 1, x->n, 1));  // strides
    return s ? s : tilec_buffer_read(dev, NULL, c, 0, x->c, m * n * sizeof *x->c);
}

int main(int argc, char **argv) {
    tilec_context *ctx = NULL;
    if (tilec_context_create(NULL, &ctx)) return 1;
    int failed = 0;
    // The second has strides of multiples of 16, for which the kernel is compiled once more.
    static const int sizes[][3] = {{100, 75, 50}, {128, 96, 64}};
    for (int i = 0; i < 2 && !failed; i++) {
        Matmul x = matmul_make(sizes[i][0], sizes[i][1], sizes[i][2]);
        failed = run(ctx, argc > 1 ? argv[1] : "auto", &x) != TILEC_OK;
        if (failed)
            fprintf(stderr, "%s\n", tilec_last_error(ctx));
        else
            failed = !matmul_check(&x);
        matmul_free(&x);
    }
    tilec_context_destroy(ctx);
    return failed;
}
