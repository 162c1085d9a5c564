// ldmatrix and stmatrix: matrices of 8 rows of 16 bytes; movmatrix.
#include <string.h>

#include "sim/machine/ops.h"

typedef uint16_t TileRow __attribute__((vector_size(16)));
typedef union TileMatrix {
    TileRow row[8];
    uint32_t pair[SIM_LANES];  // by lane: [l / 4][2 (l % 4)] and the one after it
} TileMatrix;

#define INTERLEAVED(a, b, first)                                                             \
    __builtin_shufflevector(a, b, first, (first) + 8, (first) + 1, (first) + 9, (first) + 2, \
                            (first) + 10, (first) + 3, (first) + 11)
// Shuffling row i and row i + 4 into rows 2i and 2i + 1, three times, gives the columns.
static void transpose(TileMatrix *m) {
    for (int round = 0; round < 3; round++) {
        TileMatrix from = *m;
        for (int n = 0; n < 4; n++) {
            m->row[2 * n] = INTERLEAVED(from.row[n], from.row[n + 4], 0);
            m->row[2 * n + 1] = INTERLEAVED(from.row[n], from.row[n + 4], 4);
        }
    }
}

// Rows of matrix m come from lanes 8m to 8m+7. Element j of lane l is [l / 4][2 (l % 4) + j], or
// its transpose.
static void touch_rows(SimWarp *w, const SimInstr *i, const SimTileOp *op, SimTouch *t,
                       const uint8_t *data) {
    const SimAccessOp *a = &op->access;
    t->space = SIM_SPACE_SHARED, t->far = false;
    t->kind = op->store ? SIM_ACCESS_MATRIX_STORE : SIM_ACCESS_MATRIX_LOAD;
    t->order = SIM_ORDER_WEAK, t->scope = SIM_SCOPE_CTA;
    t->bytes = 16, t->data = data;
    uint32_t rows = 8u * op->matrices, mask = w->mask;
    t->mask = rows == 32 ? UINT32_MAX : (1u << rows) - 1;
    w->mask = t->mask;
    sim_addresses(w, a, t->address);
    for (uint32_t l = 0; l < rows; l++) t->address[l] &= ~SIM_WINDOW_MASK;
    if (w->poison && !a->fixed) sim_poison_check(w, i, a->address, SIM_POISON_ADDRESS);
    w->mask = mask;
    sim_touch(w, i, t);
}

// The position of the element's bytes in memory.
static uint64_t poison_at(const SimTileOp *op, const SimTouch *t, uint32_t m, uint32_t l,
                          uint32_t j, uint8_t **bits) {
    uint32_t r = l / 4, c = 2 * (l % 4) + j;
    uint32_t row = 8 * m + (op->transposed ? c : r), column = op->transposed ? r : c;
    *bits = t->poison[row];
    return t->poison_at[row] + 2 * (uint64_t)column;
}

static uint32_t poison_loaded(const SimTileOp *op, const SimTouch *t, uint32_t m) {
    uint32_t poison = 0;
    uint8_t *bits;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        for (uint32_t j = 0; j < 2; j++) {
            uint64_t at = poison_at(op, t, m, l, j, &bits);
            poison |= (uint32_t)sim_poison_any_few(bits, at, 2) << l;
        }
    return poison;
}

void sim_tile_load(SimWarp *w, const SimInstr *i) {
    const SimTileOp *op = i->detail;
    SimTouch t;
    touch_rows(w, i, op, &t, NULL);
    if (w->run->stop) return;
    bool clean = !w->poison || sim_touch_is_clean(&t);
    for (uint32_t m = 0; m < op->matrices; m++) {
        TileMatrix matrix;
        for (uint32_t r = 0; r < 8; r++)
            memcpy(&matrix.row[r], t.host[8 * m + r], sizeof matrix.row[r]);
        if (op->transposed) transpose(&matrix);
        memcpy(w->regs + op->values[m].at, &matrix, sizeof matrix);
        if (w->poison) sim_poison_put(w, op->values[m], clean ? 0 : poison_loaded(op, &t, m));
    }
}

static void fill_rows(const SimWarp *w, const SimTileOp *op, uint8_t *data) {
    for (uint32_t m = 0; m < op->matrices; m++) {
        TileMatrix matrix;
        memcpy(&matrix, w->regs + op->values[m].at, sizeof matrix);
        if (op->transposed) transpose(&matrix);
        for (uint32_t r = 0; r < 8; r++)
            memcpy(data + 32 * (8 * (size_t)m + r), &matrix.row[r], sizeof matrix.row[r]);
    }
}

static void poison_stored(SimWarp *w, const SimTileOp *op, const SimTouch *t) {
    uint32_t any = 0;
    uint8_t *bits;
    for (uint32_t m = 0; m < op->matrices; m++) any |= sim_poison_of(w, op->values[m]);
    if (!any && sim_touch_is_clean(t)) return;
    for (uint32_t m = 0; m < op->matrices; m++)
        for (uint32_t l = 0; l < SIM_LANES; l++)
            for (uint32_t j = 0; j < 2; j++) {
                uint64_t at = poison_at(op, t, m, l, j, &bits);
                sim_poison_set_few(bits, at, 2, sim_poison_of(w, op->values[m]) >> l & 1);
            }
}

void sim_tile_store(SimWarp *w, const SimInstr *i) {
    const SimTileOp *op = i->detail;
    uint8_t data[32 * SIM_LANES] = {0};
    fill_rows(w, op, data);
    SimTouch t;
    touch_rows(w, i, op, &t, data);
    if (w->run->stop) return;
    for (uint32_t l = 0; l < 8u * op->matrices; l++) memcpy(t.host[l], data + 32 * (size_t)l, 16);
    if (w->poison) poison_stored(w, op, &t);
}

// movmatrix: transposes an 8 by 8 matrix of 16-bit values in the lanes' registers.
void sim_tile_transpose(SimWarp *w, const SimInstr *i) {
    TileMatrix matrix;
    memcpy(&matrix, w->regs + i->a.at, sizeof matrix);
    transpose(&matrix);
    memcpy(w->regs + i->d.at, &matrix, sizeof matrix);
    if (!w->poison) return;
    uint32_t bad = sim_poison_of(w, i->a), poison = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        for (uint32_t j = 0; j < 2; j++) {
            uint32_t r = 2 * (l % 4) + j, c = l / 4, from = 4 * r + c / 2;
            poison |= (bad >> from & 1) << l;
        }
    sim_poison_put(w, i->d, poison);
}
