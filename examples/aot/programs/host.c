// Calls every kernel of the library on the best device of this machine, or on the named one, and
// checks the results. It needs only the C library to run: no compiler, no toolkit, no tilec.
//
//     ./host [DEVICE]        cpu, cuda, cuda:1, hip, …
#include <ops.h>
#include <stdio.h>

#include "check.h"

typedef struct Host {
    tilec_context *context;
    tilec_device *device;
    tilec_library *library;
    tilec_stream *stream;
} Host;

static int failed(const Host *h, const char *what) {
    fprintf(stderr, "host: %s: %s\n", what, tilec_last_error(h->context));
    return 0;
}

static int set_up(Host *h, const char *device) {
    tilec_archive_info info;
    if (tilec_context_create(NULL, &h->context)) {
        fputs("host: no context\n", stderr);
        return 0;
    }
    if (device ? tilec_device_open(h->context, device, &h->device)
               : tilec_device_open_for(h->context, &ops_archive, &h->device))
        return failed(h, "no device");
    if (ops_load(h->device, &h->library)) return failed(h, "the library is not loaded");
    h->stream = tilec_device_stream(h->device);
    if (tilec_archive_describe(h->context, &ops_archive, &info)) return failed(h, "the archive");
    printf("library %s: %u functions for", info.name, (unsigned)info.function_count);
    for (uint32_t i = 0; i < info.target_count; i++)
        printf(" %s", tilec_archive_target(&ops_archive, i));
    printf("\ndevice %s\n", tilec_device_name(h->device));
    return 1;
}

// ---- Memory of the device ----

static int to_device(const Host *h, const void *from, size_t size, tilec_buffer *buffer) {
    if (tilec_buffer_create(h->device, size, buffer)) return failed(h, "no memory on the device");
    if (from && tilec_buffer_write(h->device, h->stream, *buffer, 0, from, size))
        return failed(h, "not written");
    return 1;
}

// Waits for the stream's earlier work.
static int from_device(const Host *h, tilec_buffer buffer, void *to, size_t size) {
    return !tilec_buffer_read(h->device, h->stream, buffer, 0, to, size) || failed(h, "not read");
}

// ---- Kernels ----

static int softmax(const Host *h) {
    enum { R = 3, C = 100 };
    static float x[R * C], y[R * C];
    tilec_buffer dx, dy;
    fill(x, R * C, 1);
    if (!to_device(h, x, sizeof x, &dx) || !to_device(h, NULL, sizeof y, &dy)) return 0;
    if (ops_softmax(h->stream, tilec_buffer_view2(TILEC_F32, dx, R, C),
                    tilec_buffer_view2(TILEC_F32, dy, R, C)))
        return failed(h, "softmax");
    return from_device(h, dy, y, sizeof y) && check_softmax(x, y, R, C);
}

static int rmsnorm(const Host *h) {
    enum { R = 2, C = 1100 };  // a row is longer than a tile
    static float x[R * C], before[R * C], after[R * C], weight[C], y[R * C];
    const float eps = 1e-6f;
    tilec_buffer dx, dresidual, dweight, dy;
    fill(x, R * C, 2), fill(before, R * C, 3), fill(weight, C, 4);
    if (!to_device(h, x, sizeof x, &dx) || !to_device(h, before, sizeof before, &dresidual) ||
        !to_device(h, weight, sizeof weight, &dweight) || !to_device(h, NULL, sizeof y, &dy))
        return 0;
    if (ops_add_rmsnorm_f32(h->stream, tilec_buffer_view2(TILEC_F32, dx, R, C),
                            tilec_buffer_view2(TILEC_F32, dresidual, R, C),
                            tilec_buffer_view1(TILEC_F32, dweight, C),
                            tilec_buffer_view2(TILEC_F32, dy, R, C), eps))
        return failed(h, "add_rmsnorm");
    return from_device(h, dresidual, after, sizeof after) && from_device(h, dy, y, sizeof y) &&
           check_rmsnorm(x, before, after, weight, y, R, C, eps);
}

enum { M = 33, N = 47, K = 80 };

static int matmul(const Host *h) {
    static float a[M * K], b[K * N], c[M * N];
    const Matmul shape = {M, N, K, 1, 0};
    tilec_buffer da, db, dc;
    fill(a, M * K, 5), fill(b, K * N, 6);
    if (!to_device(h, a, sizeof a, &da) || !to_device(h, b, sizeof b, &db) ||
        !to_device(h, NULL, sizeof c, &dc))
        return 0;
    if (ops_matmul_f32(h->stream, tilec_buffer_view2(TILEC_F32, da, M, K),
                       tilec_buffer_view2(TILEC_F32, db, K, N),
                       tilec_buffer_view2(TILEC_F32, dc, M, N)))
        return failed(h, "matmul of f32");
    return from_device(h, dc, c, sizeof c) && check_matmul("matmul of f32", a, b, c, shape);
}

// The other function of the same kernel. C has no f16, so numbers are passed as their bits.
static int matmul_half(const Host *h) {
    static float a[M * K], b[K * N], c[M * N];
    static uint16_t ha[M * K], hb[K * N], hc[M * N];
    const Matmul shape = {M, N, K, 1, 1.0 / (1 << 11)};
    tilec_buffer da, db, dc;
    fill_coarse(a, M * K, 7), fill_coarse(b, K * N, 8);
    for (int i = 0; i < M * K; i++) ha[i] = half_of(a[i]);
    for (int i = 0; i < K * N; i++) hb[i] = half_of(b[i]);
    if (!to_device(h, ha, sizeof ha, &da) || !to_device(h, hb, sizeof hb, &db) ||
        !to_device(h, NULL, sizeof hc, &dc))
        return 0;
    if (ops_matmul_f16(h->stream, tilec_buffer_view2(TILEC_F16, da, M, K),
                       tilec_buffer_view2(TILEC_F16, db, K, N),
                       tilec_buffer_view2(TILEC_F16, dc, M, N)))
        return failed(h, "matmul of f16");
    if (!from_device(h, dc, hc, sizeof hc)) return 0;
    for (int i = 0; i < M * N; i++) c[i] = float_of(hc[i]);
    return check_matmul("matmul of f16", a, b, c, shape);
}

static int attention(const Host *h) {
    enum { B = 1, H = 2, G = 1, QUERIES = 20, KEYS = 70, D = 32 };
    static float q[B * H * QUERIES * D], k[B * G * KEYS * D], v[B * G * KEYS * D];
    static float y[B * H * QUERIES * D];
    const Attention shape = {B, H, G, QUERIES, KEYS, D, 0.25f};
    tilec_buffer dq, dk, dv, dy;
    fill(q, sizeof q / sizeof *q, 9), fill(k, sizeof k / sizeof *k, 10);
    fill(v, sizeof v / sizeof *v, 11);
    if (!to_device(h, q, sizeof q, &dq) || !to_device(h, k, sizeof k, &dk) ||
        !to_device(h, v, sizeof v, &dv) || !to_device(h, NULL, sizeof y, &dy))
        return 0;
    if (ops_attention_f32(h->stream, tilec_buffer_view4(TILEC_F32, dq, B, H, QUERIES, D),
                          tilec_buffer_view4(TILEC_F32, dk, B, G, KEYS, D),
                          tilec_buffer_view4(TILEC_F32, dv, B, G, KEYS, D),
                          tilec_buffer_view4(TILEC_F32, dy, B, H, QUERIES, D), shape.scale))
        return failed(h, "attention");
    return from_device(h, dy, y, sizeof y) && check_attention(q, k, v, y, shape);
}

// A row that is longer than a tile: `requires C <= W` of the kernel refuses it before anything
// runs.
static int refusal(const Host *h) {
    static float x[5000];
    tilec_view view = tilec_view2(TILEC_F32, x, 1, 5000);
    if (ops_softmax(h->stream, view, view) != TILEC_LAUNCH_REFUSED) return 0;
    printf("refused: %s\n", tilec_last_error(h->context));
    return 1;
}

int main(int argc, char **argv) {
    Host h = {0};
    int good = set_up(&h, argc > 1 ? argv[1] : NULL) && softmax(&h) && rmsnorm(&h) && matmul(&h) &&
               matmul_half(&h) && attention(&h) && refusal(&h);
    tilec_context_destroy(h.context);  // and everything that belongs to the context
    puts(good ? "all as expected" : "failed");
    return good ? 0 : 1;
}
