// Layers of a network: while one is computed, the weights of the next are copied to the device.
//
//     ./layers [DEVICE]      of any kind
#include <stdio.h>
#include <string.h>
#include <tilec/tilec.h>

enum { N = 128, LAYERS = 6 };
// The programs that the device runs at once share the rows.
static const char text[] =
    "kernel layer(f32 w[N, N], f32 x[N], f32 y[N], const N = 128, const B = 16)\n"
    "    grid(min(units(), cdiv(N, B)))\n{\n    let v = expand(x[0 +: N], axis = 0);\n"
    "    for r in program(0) .. cdiv(N, B) step programs(0)\n"
    "        y[r * B +: B] = max(sum(w[r * B +: B, 0 +: N] * v, axis = 1), 0.0);\n}\n"
    "tune layer { B: 16, 8, 32; }\n";

static tilec_status run(tilec_context *ctx, const char *name, float *y) {
    tilec_device *dev = NULL;
    tilec_kernel *k = NULL;
    tilec_stream *copies = NULL, *work = NULL;  // the device's first stream
    tilec_event *there[2], *left[2];
    tilec_buffer w[2], x[2];
    tilec_device_info info = {.size = sizeof info};
    float(*weights)[N][N] = NULL, one = 1;
    tilec_status s = tilec_device_open(ctx, name, &dev);
    if (!s) s = tilec_device_describe(dev, &info);
    const tilec_spec *tune = TILEC_SPEC(TILEC_TUNE(0.1));  // the first launch measures
    if (!s) s = tilec_kernel_from_source(ctx, dev, "l", text, strlen(text), NULL, tune, &k);
    if (!s) s = tilec_stream_create(dev, &copies);
    if (!s) s = tilec_host_alloc(dev, LAYERS * sizeof *weights, (void **)&weights);
    for (int i = 0; !s && i < LAYERS * N; i++)  // each layer doubles, and moves by its number
        weights[i / N][i % N][(i % N + i / N) % N] = 2;
    for (int i = 0; !s && i < 2; i++) {
        s = tilec_buffer_create_async(dev, copies, sizeof *weights, &w[i]);
        if (!s) s = tilec_buffer_create_async(dev, work, N * sizeof *y, &x[i]);
        if (!s) s = tilec_event_create(dev, &there[i]);
        if (!s) s = tilec_event_create(dev, &left[i]);
    }
    if (!s) s = tilec_buffer_fill(dev, work, x[0], 0, &one, sizeof one, N * sizeof one);
    for (int l = 0, i = 0; !s && l < LAYERS; l++, i = !i) {
        s = tilec_stream_wait_event(copies, left[i]);  // the layer before the last has read w[i]
        if (!s) s = tilec_buffer_write_async(dev, copies, w[i], 0, weights[l], sizeof *weights);
        if (!s) s = tilec_event_record(there[i], copies);
        if (!s) s = tilec_stream_wait_event(work, there[i]);
        if (!s)
            s = tilec_launch(k, work,
                             TILEC_ARGS(tilec_buffer_view2(TILEC_F32, w[i], N, N),
                                        tilec_buffer_view1(TILEC_F32, x[i], N),
                                        tilec_buffer_view1(TILEC_F32, x[!i], N)));
        if (!s) s = tilec_event_record(left[i], work);
    }
    if (!s) s = tilec_buffer_read_async(dev, work, x[LAYERS % 2], 0, y, N * sizeof *y);
    if (!s) s = tilec_device_synchronize(dev);
    if (!s) fprintf(stderr, "%s: %u multiprocessors\n", name, info.multiprocessors);
    if (!s) printf("ones through %d layers: %g\n", LAYERS, (double)y[0]);
    return s;
}

int main(int argc, char **argv) {
    tilec_context *ctx = NULL;
    float y[N] = {0};
    if (tilec_context_create(NULL, &ctx)) return 1;
    if (run(ctx, argc > 1 ? argv[1] : "auto", y)) fprintf(stderr, "%s\n", tilec_last_error(ctx));
    tilec_context_destroy(ctx);
    return y[0] != 1 << LAYERS || y[N - 1] != 1 << LAYERS;
}
