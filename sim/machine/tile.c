// ldmatrix and stmatrix: matrices of 8 rows of 16 bytes; movmatrix.
#include <string.h>

#include "sim/machine/ops.h"

// Rows of matrix m come from lanes 8m to 8m+7. Element j of lane l is [l / 4][2 (l % 4) + j], or
// the transposed.
static void touch_rows(SimWarp *w, const SimInstr *i, const SimTileOp *op, SimTouch *t,
                       const uint8_t *data) {
    const SimAccessOp *a = &op->access;
    *t = (SimTouch){.space = a->space,
                    .kind = op->store ? SIM_ACCESS_MATRIX_STORE : SIM_ACCESS_MATRIX_LOAD,
                    .bytes = 16,
                    .data = data};
    uint32_t rows = 8u * op->matrices;
    t->mask = rows == 32 ? UINT32_MAX : (1u << rows) - 1;
    for (uint32_t l = 0; l < rows; l++) {
        uint64_t base = a->fixed  ? 0
                        : a->wide ? SIM_REG(w, a->address, LaneU64)[l]
                                  : SIM_REG(w, a->address, LaneU32)[l];
        t->address[l] = (base + (uint64_t)a->offset) & ~SIM_WINDOW_MASK;
    }
    t->space = SIM_SPACE_SHARED;
    if (w->poison && !a->fixed && (sim_poison_of(w, a->address) & t->mask)) {
        uint32_t mask = w->mask;
        w->mask = t->mask;
        sim_poison_check(w, i, a->address, SIM_POISON_ADDRESS);
        w->mask = mask;
    }
    sim_touch(w, i, t);
}

static bool row_poison(const SimTouch *t, uint32_t row, uint32_t column) {
    return t->poison[row] && sim_poison_any(t->poison[row], t->poison_at[row] + 2 * column, 2);
}

void sim_tile_load(SimWarp *w, const SimInstr *i) {
    const SimTileOp *op = i->detail;
    SimTouch t;
    touch_rows(w, i, op, &t, NULL);
    if (w->run->stop) return;
    for (uint32_t m = 0; m < op->matrices; m++) {
        LaneU32 *d = SIM_REG(w, op->values[m], LaneU32);
        uint32_t poison = 0;
        for (uint32_t l = 0; l < SIM_LANES; l++) {
            uint32_t value = 0;
            for (uint32_t j = 0; j < 2; j++) {
                uint32_t r = l / 4, c = 2 * (l % 4) + j;
                uint32_t row = 8 * m + (op->transposed ? c : r), column = op->transposed ? r : c;
                uint16_t half;
                memcpy(&half, t.host[row] + (size_t)2 * column, 2);
                value |= (uint32_t)half << (16 * j);
                if (w->poison) poison |= (uint32_t)row_poison(&t, row, column) << l;
            }
            d[l] = value;
        }
        if (w->poison) sim_poison_put(w, op->values[m], poison);
    }
}

static void fill_rows(const SimWarp *w, const SimTileOp *op, uint8_t *data) {
    for (uint32_t m = 0; m < op->matrices; m++) {
        const LaneU32 *a = SIM_REG(w, op->values[m], LaneU32);
        for (uint32_t l = 0; l < SIM_LANES; l++)
            for (uint32_t j = 0; j < 2; j++) {
                uint32_t r = l / 4, c = 2 * (l % 4) + j;
                uint32_t row = 8 * m + (op->transposed ? c : r), column = op->transposed ? r : c;
                uint16_t half = (uint16_t)(a[l] >> (16 * j));
                memcpy(data + 32 * (size_t)row + (size_t)2 * column, &half, 2);
            }
    }
}

static void poison_rows(SimWarp *w, const SimTileOp *op, const SimTouch *t) {
    for (uint32_t m = 0; m < op->matrices; m++)
        for (uint32_t l = 0; l < SIM_LANES; l++)
            for (uint32_t j = 0; j < 2; j++) {
                uint32_t r = l / 4, c = 2 * (l % 4) + j;
                uint32_t row = 8 * m + (op->transposed ? c : r), column = op->transposed ? r : c;
                sim_poison_set(t->poison[row], t->poison_at[row] + 2 * column, 2,
                               sim_poison_of(w, op->values[m]) >> l & 1);
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
    if (w->poison) poison_rows(w, op, &t);
}

// movmatrix: an 8 by 8 matrix of 16-bit values in the lanes' registers, transposed.
void sim_tile_transpose(SimWarp *w, const SimInstr *i) {
    uint32_t a[SIM_LANES];
    memcpy(a, w->regs + i->a.at, sizeof a);
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    uint32_t bad = w->poison ? sim_poison_of(w, i->a) : 0, poison = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint32_t value = 0;
        for (uint32_t j = 0; j < 2; j++) {
            uint32_t r = 2 * (l % 4) + j, c = l / 4, from = 4 * r + c / 2;
            value |= (a[from] >> (16 * (c & 1)) & 0xffff) << (16 * j);
            poison |= (bad >> from & 1) << l;
        }
        d[l] = value;
    }
    if (w->poison) sim_poison_put(w, i->d, poison);
}
