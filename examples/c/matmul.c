// A matrix product in device buffers, with every error handled: errors in the source, which are
// available as data, errors of a launch, and errors of a running kernel.
//
//     ./matmul [DEVICE]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

static const char source[] =
    "kernel matmul(type T, T a[M, K], T b[K, N], f32 c[M, N],\n"
    "              const BM = 32, const BN = 32, const BK = 32)\n"
    "    requires K % 8 == 0\n"
    "    grid(cdiv(M, BM), cdiv(N, BN))\n"
    "{\n"
    "    let i = program(0) * BM;\n"
    "    let j = program(1) * BN;\n"
    "    var acc = zeros(f32, BM, BN);\n"
    "    for k in 0 .. K step BK\n"
    "        acc = dot(a[i +: BM, k +: BK], b[k +: BK, j +: BN], acc);\n"
    "    c[i +: BM, j +: BN] = acc;\n"
    "}\n";

enum { M = 50, N = 40, K = 64 };

typedef struct Program {
    tilec_context *ctx;
    tilec_device *dev;
    tilec_kernel *matmul;
    tilec_buffer a, b, c;
    float *host;  // a, b and c, one after the other
} Program;

// Prints the error as a compiler would.
static int report(const Program *p, const char *what) {
    fprintf(stderr, "%s: %s\n", what, tilec_last_error(p->ctx));
    return 0;
}

// A source with a mistake: its diagnostics say where it is and how to fix it.
static int show_diagnostics(const Program *p) {
    static const char wrong[] = "kernel k(f32 x[N]) grid(1) {\n    x[0] = sqroot(x[1]);\n}\n";
    tilec_kernel *none = NULL;
    tilec_status s = tilec_kernel_from_source(p->ctx, p->dev, "wrong.tile", wrong, strlen(wrong),
                                              NULL, NULL, &none);
    if (s != TILEC_INVALID_SOURCE) return 0;
    for (size_t i = 0; i < tilec_diagnostic_count(p->ctx); i++) {
        tilec_diagnostic d;
        if (tilec_diagnostic_get(p->ctx, i, &d)) return 0;
        printf("%s:%u:%u: [%s] %s\n", d.file, (unsigned)d.line, (unsigned)d.column, d.code,
               d.message);
    }
    return 1;
}

static int set_up(Program *p, const char *device) {
    if (tilec_context_create(NULL, &p->ctx)) {
        fputs("matmul: no context\n", stderr);
        return 0;
    }
    if (tilec_device_open(p->ctx, device, &p->dev)) return report(p, "no device");
    // T is taken from the arguments of each launch; BM is given here; BN and BK have defaults.
    if (tilec_kernel_from_source(p->ctx, p->dev, "matmul.tile", source, strlen(source), "matmul",
                                 TILEC_SPEC(TILEC_CONST("BM", 16)), &p->matmul))
        return report(p, "the kernel does not compile");
    if (tilec_buffer_create(p->dev, M * K * sizeof(float), &p->a) ||
        tilec_buffer_create(p->dev, K * N * sizeof(float), &p->b) ||
        tilec_buffer_create(p->dev, M * N * sizeof(float), &p->c))
        return report(p, "no memory on the device");
    p->host = malloc((M * K + K * N + M * N) * sizeof(float));
    return p->host != NULL;
}

static int multiply(const Program *p) {
    float *a = p->host, *b = a + M * K, *c = b + K * N;
    for (int i = 0; i < M * K; i++) a[i] = (float)(i % 7) - 3;
    for (int i = 0; i < K * N; i++) b[i] = (float)(i % 5) - 2;
    if (tilec_buffer_write(p->dev, NULL, p->a, 0, a, M * K * sizeof(float)) ||
        tilec_buffer_write(p->dev, NULL, p->b, 0, b, K * N * sizeof(float)))
        return report(p, "cannot write");
    tilec_view va = tilec_buffer_view2(TILEC_F32, p->a, M, K);
    tilec_view vb = tilec_buffer_view2(TILEC_F32, p->b, K, N);
    tilec_view vc = tilec_buffer_view2(TILEC_F32, p->c, M, N);
    if (tilec_launch(p->matmul, NULL, TILEC_ARGS(va, vb, vc))) return report(p, "not launched");
    // A failure of the running kernel is reported here at the latest.
    if (tilec_device_synchronize(p->dev)) return report(p, "failed");
    if (tilec_buffer_read(p->dev, NULL, p->c, 0, c, M * N * sizeof(float)))
        return report(p, "cannot read");
    return 1;
}

static int check(const Program *p) {
    const float *a = p->host, *b = a + M * K, *c = b + K * N;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += (double)a[i * K + k] * (double)b[k * N + j];
            if (fabs(sum - (double)c[i * N + j]) > 1e-3) {
                fprintf(stderr, "c[%d, %d] is %g, expected %g\n", i, j, (double)c[i * N + j], sum);
                return 0;
            }
        }
    return 1;
}

// Arguments that do not fit are refused before anything runs, and the next launch works.
static int show_refusals(const Program *p) {
    tilec_view vb = tilec_buffer_view2(TILEC_F32, p->b, K, N);
    tilec_view vc = tilec_buffer_view2(TILEC_F32, p->c, M, N);
    tilec_view narrow = tilec_buffer_view2(TILEC_F32, p->a, M, K - 4);
    tilec_view large = tilec_buffer_view2(TILEC_F32, p->a, M + 1, K);
    if (tilec_launch(p->matmul, NULL, TILEC_ARGS(narrow, vb, vc)) != TILEC_LAUNCH_REFUSED) return 0;
    printf("refused: %s\n", tilec_last_error(p->ctx));
    if (tilec_launch(p->matmul, NULL, TILEC_ARGS(large, vb, vc)) != TILEC_LAUNCH_REFUSED) return 0;
    printf("refused: %s\n", tilec_last_error(p->ctx));
    return 1;
}

int main(int argc, char **argv) {
    Program p = {0};
    int good = set_up(&p, argc > 1 ? argv[1] : "auto") && show_diagnostics(&p) &&
               show_refusals(&p) && multiply(&p) && check(&p);
    if (good) printf("%d x %d x %d: as expected\n", M, N, K);
    tilec_buffer_destroy(p.dev, p.c);
    tilec_buffer_destroy(p.dev, p.b);
    tilec_buffer_destroy(p.dev, p.a);
    tilec_kernel_destroy(p.matmul);
    tilec_context_destroy(p.ctx);
    free(p.host);
    return good ? 0 : 1;
}
