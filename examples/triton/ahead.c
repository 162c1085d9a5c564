// The same kernels without a compiler: a library that `tilec build` made of matmul.py and moe.py.
// Pointers are addresses on the device. ops_matmul has two alternatives; a launch takes the first
// that its arguments fit. The functions of moe.py take their grid, the last three numbers.
//
//     ./ahead [DEVICE]      without a name the best device that the library has code for
#include <ops.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { BLOCK = 16 };

typedef struct Program {
    tilec_context *ctx;
    tilec_device *dev;
    tilec_stream *stream;
} Program;

// New memory of the device: its address, and the buffer, for copies.
typedef struct Memory {
    tilec_buffer buffer;
    void *at;
} Memory;

static tilec_status take(const Program *p, const void *from, size_t size, Memory *to) {
    tilec_status s = tilec_buffer_create(p->dev, size, &to->buffer);
    if (!s && from) s = tilec_buffer_write(p->dev, p->stream, to->buffer, 0, from, size);
    return s ? s : tilec_buffer_address(p->dev, to->buffer, &to->at, NULL);
}

static tilec_status matmul(const Program *p, const Matmul *x) {
    size_t m = (size_t)x->m, n = (size_t)x->n, k = (size_t)x->k;
    Memory a, b, c;
    tilec_status s = take(p, x->a, m * k * sizeof *x->a, &a);
    if (!s) s = take(p, x->b, k * n * sizeof *x->b, &b);
    if (!s) s = take(p, NULL, m * n * sizeof *x->c, &c);
    if (!s)
        s = ops_matmul(p->stream, a.at, b.at, c.at, x->m, x->n, x->k, x->k, 1, x->n, 1, x->n, 1);
    return s ? s : tilec_buffer_read(p->dev, p->stream, c.buffer, 0, x->c, m * n * sizeof *x->c);
}

static tilec_status experts(const Program *p, const Moe *m) {
    size_t tokens = (size_t)m->tokens, slots = tokens * (size_t)m->top, used = (size_t)m->used;
    size_t count = (size_t)m->experts, in = (size_t)m->in, hidden = (size_t)m->hidden;
    size_t out = (size_t)m->out;
    int n = m->tokens * m->top, blocks = m->used / BLOCK;
    Memory x, up, down, inner, said, y, weights, list, expert_of, used_at;
    tilec_status s = take(p, m->x, tokens * in * sizeof *m->x, &x);
    if (!s) s = take(p, m->up, count * hidden * in * sizeof *m->up, &up);
    if (!s) s = take(p, m->down, count * out * hidden * sizeof *m->down, &down);
    if (!s) s = take(p, NULL, slots * hidden * sizeof *m->x, &inner);
    if (!s) s = take(p, NULL, slots * out * sizeof *m->y, &said);
    if (!s) s = take(p, NULL, tokens * out * sizeof *m->y, &y);
    if (!s) s = take(p, m->weights, slots * sizeof *m->weights, &weights);
    if (!s) s = take(p, m->slots, used * sizeof *m->slots, &list);
    if (!s) s = take(p, m->expert_of, (size_t)blocks * sizeof *m->expert_of, &expert_of);
    if (!s) s = take(p, &m->used, sizeof m->used, &used_at);
    if (!s)
        s = ops_experts_up(p->stream, x.at, up.at, inner.at, weights.at, list.at, expert_of.at,
                           used_at.at, m->hidden, m->in, n, m->in, 1, m->hidden * m->in, m->in, 1,
                           m->hidden, 1, blocks * ((m->hidden + 31) / 32), 1, 1);
    if (!s)
        s = ops_experts_down(p->stream, inner.at, down.at, said.at, weights.at, list.at,
                             expert_of.at, used_at.at, m->out, m->hidden, n, m->hidden, 1,
                             m->out * m->hidden, m->hidden, 1, m->out, 1,
                             blocks * ((m->out + 31) / 32), 1, 1);
    if (!s) s = ops_add_slots(p->stream, said.at, y.at, m->out, m->tokens, (m->out + 63) / 64, 1);
    if (s) return s;
    return tilec_buffer_read(p->dev, p->stream, y.buffer, 0, m->y, tokens * out * sizeof *m->y);
}

// Both alternatives require dense rows, and the first one strides of multiples of 16.
static int refuses(const Program *p) {
    tilec_status s = ops_matmul(p->stream, NULL, NULL, NULL, 1, 1, 1, 1, 2, 1, 1, 1, 1);
    const char *said = tilec_last_error(p->ctx);
    if (s == TILEC_LAUNCH_REFUSED && strstr(said, "none fits")) return 1;
    printf("a launch that no alternative fits was not refused so: %s\n", said);
    return 0;
}

int main(int argc, char **argv) {
    Program p = {NULL, NULL, NULL};
    tilec_library *library = NULL;
    Matmul small = matmul_make(100, 75, 50), wide = matmul_make(128, 96, 64);
    Moe moe = moe_make(37, 5, 2, 48, 72, 40, BLOCK);
    if (tilec_context_create(NULL, &p.ctx)) return 1;
    tilec_status s = argc > 1 ? tilec_device_open(p.ctx, argv[1], &p.dev)
                              : tilec_device_open_for(p.ctx, &ops_archive, &p.dev);
    if (!s) s = ops_load(p.dev, &library);
    if (!s) p.stream = tilec_device_stream(p.dev);
    if (!s) s = matmul(&p, &small);
    if (!s) s = matmul(&p, &wide);
    if (!s) s = experts(&p, &moe);
    if (s) fprintf(stderr, "%s\n", tilec_last_error(p.ctx));
    int failed =
        s || !matmul_check(&small) || !matmul_check(&wide) || !moe_check(&moe) || !refuses(&p);
    tilec_context_destroy(p.ctx);
    matmul_free(&small), matmul_free(&wide), moe_free(&moe);
    return failed;
}
