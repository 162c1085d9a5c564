// Two streams that work in parallel, an event that orders them, and events that measure time.
//
//     ./streams_events [DEVICE]        the times go to standard error
#include <stdio.h>
#include <string.h>
#include <tilec/tilec.h>

static const char source[] =
    "kernel fill(f32 x[N], f32 value, const B = 256) grid(cdiv(N, B)) {\n"
    "    x[program(0) * B +: B] = value;\n"
    "}\n"
    "kernel add(f32 x[N], f32 y[N], const B = 256) grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    y[i +: B] = x[i +: B] + y[i +: B];\n"
    "}\n";

enum { N = 1 << 14 };
static float x[N], y[N];

typedef struct Program {
    tilec_context *ctx;
    tilec_device *dev;
    tilec_kernel *fill, *add;
    tilec_stream *left, *right;
    tilec_event *begin, *filled, *end;
} Program;

static tilec_status kernel(Program *p, const char *name, tilec_kernel **k) {
    return tilec_kernel_from_source(p->ctx, p->dev, "streams.tile", source, strlen(source), name,
                                    NULL, k);
}

static int set_up(Program *p, const char *device) {
    return tilec_device_open(p->ctx, device, &p->dev) || kernel(p, "fill", &p->fill) ||
           kernel(p, "add", &p->add) || tilec_stream_create(p->dev, &p->left) ||
           tilec_stream_create(p->dev, &p->right) || tilec_event_create(p->dev, &p->begin) ||
           tilec_event_create(p->dev, &p->filled) || tilec_event_create(p->dev, &p->end);
}

static int run(Program *p) {
    tilec_view vx = tilec_view1(TILEC_F32, x, N), vy = tilec_view1(TILEC_F32, y, N);
    // Both fills may run at the same time.
    if (tilec_event_record(p->begin, p->left) ||
        tilec_launch(p->fill, p->left, TILEC_ARGS(vx, 1.5f)) ||
        tilec_launch(p->fill, p->right, TILEC_ARGS(vy, 2.0f)))
        return 1;
    // The sum waits for x, which the other stream fills; the host does not wait.
    if (tilec_event_record(p->filled, p->left) || tilec_stream_wait_event(p->right, p->filled) ||
        tilec_launch(p->add, p->right, TILEC_ARGS(vx, vy)) || tilec_event_record(p->end, p->right))
        return 1;
    int done = 0;
    if (tilec_event_query(p->end, &done)) return 1;
    fprintf(stderr, "%s while the host goes on\n", done ? "done" : "still working");
    uint64_t ns = 0;
    if (tilec_stream_synchronize(p->left) || tilec_stream_synchronize(p->right) ||
        tilec_event_elapsed_ns(p->begin, p->end, &ns))
        return 1;
    fprintf(stderr, "%g us from begin to end\n", (double)ns / 1000);
    printf("y[0] = %g, y[%d] = %g\n", (double)y[0], N - 1, (double)y[N - 1]);
    return 0;
}

int main(int argc, char **argv) {
    Program p = {0};
    if (tilec_context_create(NULL, &p.ctx)) {
        fputs("streams_events: no context\n", stderr);
        return 1;
    }
    int failed = set_up(&p, argc > 1 ? argv[1] : "auto") || run(&p);
    if (failed) fprintf(stderr, "streams_events: %s\n", tilec_last_error(p.ctx));
    tilec_context_destroy(p.ctx);
    return failed;
}
