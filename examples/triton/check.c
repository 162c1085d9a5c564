#include "check.h"

#include <stdio.h>
#include <stdlib.h>

static void *take(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory) return memory;
    fputs("out of memory\n", stderr);
    exit(1);
}

// A sequence of numbers that is the same everywhere.
static unsigned next(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

// -2 to 2, in 16 bits
static half_bits half_of(int value) {
    static const half_bits bits[] = {0x0000, 0x3c00, 0x4000};
    return (half_bits)(bits[value < 0 ? -value : value] | (value < 0 ? 0x8000 : 0));
}

static int whole_of(half_bits bits) {
    int value = (bits & 0x7fff) == 0 ? 0 : (bits & 0x7fff) == 0x3c00 ? 1 : 2;
    return bits & 0x8000 ? -value : value;
}

static half_bits *random_halves(size_t count, unsigned most, unsigned *state) {
    half_bits *list = take(count, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = half_of((int)(next(state) % (2 * most + 1)) - (int)most);
    return list;
}

static int same(const char *name, const float *found, const float *expected, size_t count) {
    size_t wrong = 0, first = 0;
    for (size_t i = count; i-- > 0;)
        if (!(found[i] == expected[i])) wrong++, first = i;
    if (wrong)
        printf("%s: %zu of %zu numbers are wrong; number %zu is %g, expected %g\n", name, wrong,
               count, first, (double)found[first], (double)expected[first]);
    else
        printf("%s: %zu numbers are right\n", name, count);
    return !wrong;
}

// ---- The matrix product

Matmul matmul_make(int m, int n, int k) {
    unsigned state = 1;
    Matmul x = {.m = m, .n = n, .k = k};
    x.a = random_halves((size_t)m * (size_t)k, 2, &state);
    x.b = random_halves((size_t)k * (size_t)n, 2, &state);
    x.c = take((size_t)m * (size_t)n, sizeof *x.c);
    x.expected = take((size_t)m * (size_t)n, sizeof *x.expected);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int l = 0; l < k; l++) sum += whole_of(x.a[i * k + l]) * whole_of(x.b[l * n + j]);
            x.expected[i * n + j] = (float)sum * (sum < 0 ? 0.25f : 1.0f);
        }
    return x;
}

int matmul_check(const Matmul *x) {
    return same("matmul", x->c, x->expected, (size_t)x->m * (size_t)x->n);
}

void matmul_free(Matmul *x) {
    free(x->a), free(x->b), free(x->c), free(x->expected);
    *x = (Matmul){0};
}

// ---- The layer of experts

// A token's experts are different ones.
static void choose_experts(Moe *m, unsigned *state) {
    for (int t = 0; t < m->tokens; t++) {
        int first = (int)(next(state) % (unsigned)m->experts);
        int step = 1 + (int)(next(state) % (unsigned)(m->experts - 1)) / m->top;
        for (int i = 0; i < m->top; i++) {
            m->chosen[t * m->top + i] = (first + i * step) % m->experts;
            m->weights[t * m->top + i] = 0.25f * (float)(1 + next(state) % 4);
        }
    }
}

// The list of each expert is padded to whole blocks.
static void sort_slots(Moe *m) {
    int count = m->tokens * m->top, most = count + m->experts * (m->block - 1);
    m->slots = take((size_t)most + 1, sizeof *m->slots);
    m->expert_of = take((size_t)(most / m->block) + 1, sizeof *m->expert_of);
    m->used = 0;
    for (int e = 0; e < m->experts; e++) {
        for (int s = 0; s < count; s++)
            if (m->chosen[s] == e) {
                if (m->used % m->block == 0) m->expert_of[m->used / m->block] = e;
                m->slots[m->used++] = s;
            }
        while (m->used % m->block) m->slots[m->used++] = count;
    }
}

static float expert_says(const Moe *m, int expert, int o, const int *hidden) {
    int sum = 0;
    for (int h = 0; h < m->hidden; h++)
        sum += hidden[h] *
               whole_of(m->down[((size_t)expert * (size_t)m->out + (size_t)o) * (size_t)m->hidden +
                                (size_t)h]);
    return (float)sum;
}

static void expect_slot(Moe *m, int token, int i, int *hidden) {
    int expert = m->chosen[token * m->top + i];
    for (int h = 0; h < m->hidden; h++) {
        const half_bits *row =
            &m->up[((size_t)expert * (size_t)m->hidden + (size_t)h) * (size_t)m->in];
        hidden[h] = 0;
        for (int l = 0; l < m->in; l++)
            hidden[h] += whole_of(m->x[token * m->in + l]) * whole_of(row[l]);
        if (hidden[h] < 0) hidden[h] = 0;
    }
    for (int o = 0; o < m->out; o++)
        m->expected[token * m->out + o] +=
            m->weights[token * m->top + i] * expert_says(m, expert, o, hidden);
}

Moe moe_make(int tokens, int experts, int top, int in, int hidden, int out, int block) {
    unsigned state = 7;
    Moe m = {.tokens = tokens, .experts = experts, .top = top, .block = block};
    m.in = in, m.hidden = hidden, m.out = out;
    m.x = random_halves((size_t)tokens * (size_t)in, 2, &state);
    m.up = random_halves((size_t)experts * (size_t)hidden * (size_t)in, 1, &state);
    m.down = random_halves((size_t)experts * (size_t)out * (size_t)hidden, 1, &state);
    m.chosen = take((size_t)tokens * (size_t)top, sizeof *m.chosen);
    m.weights = take((size_t)tokens * (size_t)top, sizeof *m.weights);
    m.y = take((size_t)tokens * (size_t)out, sizeof *m.y);
    m.expected = take((size_t)tokens * (size_t)out, sizeof *m.expected);
    choose_experts(&m, &state);
    sort_slots(&m);
    int *scratch = take((size_t)hidden, sizeof *scratch);
    for (int t = 0; t < tokens; t++)
        for (int i = 0; i < top; i++) expect_slot(&m, t, i, scratch);
    free(scratch);
    return m;
}

int moe_check(const Moe *m) {
    return same("experts", m->y, m->expected, (size_t)m->tokens * (size_t)m->out);
}

void moe_free(Moe *m) {
    free(m->x), free(m->up), free(m->down), free(m->chosen), free(m->weights);
    free(m->y), free(m->expected), free(m->slots), free(m->expert_of);
    *m = (Moe){0};
}
