// A layer of experts as inference engines compute it: one open source, three kernels of it.
//
//     ./moe_jit [DEVICE]      in the folder of moe.py
#include <stdio.h>
#include <tilec/tilec.h>

#include "check.h"

enum { BLOCK = 16 };

// The layer on a device.
typedef struct Layer {
    const Moe *moe;
    tilec_device *dev;
    tilec_kernel *up, *down, *add;
    tilec_buffer x, up_w, down_w, hidden, said, y, weights, slots, expert_of, used;
} Layer;

static tilec_status send(Layer *l, const void *from, size_t size, tilec_buffer *to) {
    tilec_status s = tilec_buffer_create(l->dev, size, to);
    return s || !from ? s : tilec_buffer_write(l->dev, NULL, *to, 0, from, size);
}

static tilec_status send_all(Layer *l) {
    const Moe *m = l->moe;
    size_t tokens = (size_t)m->tokens, slots = tokens * (size_t)m->top;
    size_t experts = (size_t)m->experts, used = (size_t)m->used;
    size_t in = (size_t)m->in, hidden = (size_t)m->hidden, out = (size_t)m->out;
    tilec_status s = send(l, m->x, tokens * in * sizeof *m->x, &l->x);
    if (!s) s = send(l, m->up, experts * hidden * in * sizeof *m->up, &l->up_w);
    if (!s) s = send(l, m->down, experts * out * hidden * sizeof *m->down, &l->down_w);
    if (!s) s = send(l, NULL, slots * hidden * sizeof *m->x, &l->hidden);
    if (!s) s = send(l, NULL, slots * out * sizeof *m->y, &l->said);
    if (!s) s = send(l, NULL, tokens * out * sizeof *m->y, &l->y);
    if (!s) s = send(l, m->weights, slots * sizeof *m->weights, &l->weights);
    if (!s) s = send(l, m->slots, used * sizeof *m->slots, &l->slots);
    if (!s) s = send(l, m->expert_of, used / BLOCK * sizeof *m->expert_of, &l->expert_of);
    return s ? s : send(l, &m->used, sizeof m->used, &l->used);
}

// The file is read once. Its first kernel is made twice, with other constexprs.
static tilec_status make(tilec_context *ctx, Layer *l) {
    tilec_source *source = NULL;
    char top[16];
    snprintf(top, sizeof top, "%d", l->moe->top);
#define TILES                                                                  \
    TILEC_VALUE("BM", "16"), TILEC_VALUE("BN", "32"), TILEC_VALUE("BK", "32"), \
        TILEC_VALUE("GROUP", "4"), TILEC_OPTION("warps", 4)
    tilec_status s = tilec_source_open(ctx, "moe.py", &source);
    if (!s)
        s = tilec_kernel_from_open(
            source, l->dev, "experts",
            TILEC_SPEC(TILES, TILEC_VALUE("TOP", top), TILEC_VALUE("WEIGHTED", "False"),
                       TILEC_VALUE("ACTIVATION", "'relu'")),
            &l->up);
    if (!s)
        s = tilec_kernel_from_open(
            source, l->dev, "experts",
            TILEC_SPEC(TILES, TILEC_VALUE("TOP", "1"), TILEC_VALUE("WEIGHTED", "True"),
                       TILEC_VALUE("ACTIVATION", "None")),
            &l->down);
    if (!s)
        s = tilec_kernel_from_open(source, l->dev, "add_slots",
                                   TILEC_SPEC(TILEC_VALUE("TOP", top), TILEC_VALUE("BN", "64")),
                                   &l->add);
    tilec_source_close(source);
    return s;
}

// One product with the experts' matrices, n × k each. The grid is the program's: it knows how many
// blocks there are.
static tilec_status product(const Layer *l, tilec_kernel *k, tilec_view x, tilec_buffer w,
                            tilec_view y, int n, int depth) {
    const Moe *m = l->moe;
    const int64_t grid[3] = {m->used / BLOCK * ((n + 31) / 32), 1, 1};
    int slots = m->tokens * m->top;
    return tilec_launch_grid(
        k, NULL, -1, grid,
        TILEC_ARGS(x, tilec_buffer_view3(TILEC_F16, w, m->experts, n, depth), y,
                   tilec_buffer_view1(TILEC_F32, l->weights, slots),
                   tilec_buffer_view1(TILEC_I32, l->slots, m->used),
                   tilec_buffer_view1(TILEC_I32, l->expert_of, m->used / BLOCK),
                   tilec_buffer_view1(TILEC_I32, l->used, 1), n, depth, slots, depth, 1, n * depth,
                   depth, 1, n, 1));
}

static tilec_status compute(const Layer *l) {
    const Moe *m = l->moe;
    int slots = m->tokens * m->top;
    const int64_t grid[3] = {m->tokens, (m->out + 63) / 64, 1};
    tilec_view hidden = tilec_buffer_view2(TILEC_F16, l->hidden, slots, m->hidden);
    tilec_view said = tilec_buffer_view2(TILEC_F32, l->said, slots, m->out);
    tilec_status s = product(l, l->up, tilec_buffer_view2(TILEC_F16, l->x, m->tokens, m->in),
                             l->up_w, hidden, m->hidden, m->in);
    if (!s) s = product(l, l->down, hidden, l->down_w, said, m->out, m->hidden);
    if (!s)
        s = tilec_launch_grid(
            l->add, NULL, -1, grid,
            TILEC_ARGS(said, tilec_buffer_view2(TILEC_F32, l->y, m->tokens, m->out), m->out));
    return s ? s
             : tilec_buffer_read(l->dev, NULL, l->y, 0, m->y,
                                 (size_t)m->tokens * (size_t)m->out * sizeof *m->y);
}

int main(int argc, char **argv) {
    tilec_context *ctx = NULL;
    Moe moe = moe_make(37, 5, 2, 48, 72, 40, BLOCK);
    Layer l = {.moe = &moe};
    if (tilec_context_create(NULL, &ctx)) return 1;
    int failed = tilec_device_open(ctx, argc > 1 ? argv[1] : "auto", &l.dev) || make(ctx, &l) ||
                 send_all(&l) || compute(&l);
    if (failed)
        fprintf(stderr, "%s\n", tilec_last_error(ctx));
    else
        failed = !moe_check(&moe);
    tilec_context_destroy(ctx);
    moe_free(&moe);
    return failed;
}
