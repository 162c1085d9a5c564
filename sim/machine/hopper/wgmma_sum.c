// The arithmetic of wgmma: a warp's 16 rows, 8 columns at a time.
#include <string.h>

#include "sim/machine/fragment.h"
#include "sim/machine/hopper/wgmma.h"
#include "sim/machine/product.h"

typedef uint8_t FactorLines[8][SIM_FACTOR_BYTES];

// Where a line of 8 goes: columns in the order of results, rows as they are.
static uint32_t place(bool columns, uint32_t line) {
    return columns ? sim_column_place(line) : line;
}

// Reads 8 lines, given the addresses of their chunks (sim_descriptor_chunks).
static void gather(const uint8_t *shared, const uint32_t *chunks, bool transposed, bool columns,
                   uint8_t to[][SIM_FACTOR_BYTES]) {
    for (uint32_t n = 0; n < SIM_CHUNKS_OF_8; n++) {
        const uint8_t *from = shared + chunks[n];
        if (!transposed) {
            memcpy(to[place(columns, n / 2)] + n % 2 * SIM_CHUNK, from, SIM_CHUNK);
            continue;
        }
        for (uint32_t e = 0; e < 8; e++) memcpy(to[place(columns, e)] + 2 * n, from + 2 * e, 2);
    }
}

// Which of 8 lines have a byte that is poison.
static uint32_t poisoned(const uint8_t *poison, const uint32_t *chunks, bool transposed) {
    uint32_t lines = 0;
    for (uint32_t n = 0; n < SIM_CHUNKS_OF_8; n++) {
        if (!sim_poison_any_few(poison, chunks[n], SIM_CHUNK)) continue;
        if (!transposed) lines |= 1u << n / 2;
        for (uint32_t e = 0; transposed && e < 8; e++)
            lines |= (uint32_t)sim_poison_any_few(poison, chunks[n] + 2 * e, 2) << e;
    }
    return lines;
}

static void read_rows(const SimWarp *w, const SimProduct *p, uint8_t to[][SIM_FACTOR_BYTES]) {
    const SimWgmmaOp *op = p->instr->detail;
    if (op->registers) {
        sim_rows_read(w, op->ra, op->a, to[0]);
        return;
    }
    for (uint32_t g = 0; g < 2; g++)
        gather(w->block->shared, p->a + SIM_CHUNKS_OF_8 * g, op->transposed_a, false, to + 8 * g);
}

static uint32_t poisoned_rows(const SimWarp *w, const SimProduct *p) {
    const SimWgmmaOp *op = p->instr->detail;
    const uint8_t *poison = w->block->shared_poison;
    if (op->registers) return p->rows;
    return poisoned(poison, p->a, op->transposed_a) |
           poisoned(poison, p->a + SIM_CHUNKS_OF_8, op->transposed_a) << 8;
}

// The registers of 8 columns.
static uint32_t registers_of(const SimWgmmaOp *op) { return op->d == SIM_F16 ? 2 : 4; }

// The poison of results apart from their being in flight.
static void flow_poison(SimWarp *w, const SimProduct *p, uint32_t g, uint32_t rows) {
    const SimWgmmaOp *op = p->instr->detail;
    uint32_t columns =
        poisoned(w->block->shared_poison, p->b + SIM_CHUNKS_OF_8 * g, op->transposed_b);
    for (uint32_t r = 0; r < registers_of(op); r++) {
        uint32_t *real = &w->products->real[op->rd[g * registers_of(op) + r].number];
        *real = (p->adds ? *real : 0) | sim_result_poison(op->d, r, rows, columns);
    }
}

static void begin_floats(SimFloats *f, const SimWgmmaOp *op, uint8_t a[][SIM_FACTOR_BYTES]) {
    f->m = SIM_ROWS, f->k = op->k;
    sim_floats_of(op->a, a[0], f->m * f->k, f->a);
    for (uint32_t n = 0; op->negative && n < f->m * f->k; n++) f->a[n] = -f->a[n];
}

static void multiply_floats(SimFloats *f, const SimWgmmaOp *op, const uint8_t *b, const uint32_t *c,
                            uint32_t *d) {
    bool narrow = op->a == SIM_E4M3 || op->a == SIM_E5M2;
    sim_floats_of(op->b, b, SIM_COLUMNS * f->k, f->b);
    if (narrow)
        sim_product_narrow(f, op->a, op->b, op->d, c, d);
    else
        sim_product_floats(f, op->a, op->b, op->d, c, op->d, d);
}

void sim_product_compute(SimWarp *w, const SimProduct *p) {
    const SimWgmmaOp *op = p->instr->detail;
    uint8_t a[SIM_ROWS][SIM_FACTOR_BYTES], b[SIM_COLUMNS][SIM_FACTOR_BYTES];
    uint32_t c[SIM_RESULTS], d[SIM_RESULTS], count = registers_of(op);
    bool ints = op->d == SIM_S32;
    SimFloats floats;
    SimInts whole = {.m = SIM_ROWS, .k = op->k, .saturate = op->saturate};
    read_rows(w, p, a);
    if (ints)
        sim_ints_of(op->a, a[0], whole.m * whole.k, whole.a);
    else
        begin_floats(&floats, op, a);
    uint32_t rows = w->poison ? poisoned_rows(w, p) : 0;
    for (uint32_t g = 0; g < op->n / 8u; g++) {
        const SimOperand *results = op->rd + g * count;
        gather(w->block->shared, p->b + SIM_CHUNKS_OF_8 * g, op->transposed_b, true, b);
        memset(c, 0, sizeof c);
        if (p->adds) sim_results_read(w, op->d, results, count, c);
        if (ints) {
            sim_ints_of(op->b, b[0], SIM_COLUMNS * whole.k, whole.b);
            sim_product_ints(&whole, c, d);
        } else {
            multiply_floats(&floats, op, b[0], c, d);
        }
        sim_results_write(w, op->d, results, count, d);
        if (w->poison) flow_poison(w, p, g, rows);
    }
}
