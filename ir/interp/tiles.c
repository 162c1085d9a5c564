// cpu.tiles: a block of a product in memory, in steps of 64 bytes along the depth.
#include "ir/interp/internal.h"

enum { STEP_BYTES = 64 };

typedef struct InterpTiles {
    const IrOp *op;
    const InterpSlot *to, *acc, *a, *b;
    int64_t to_step, acc_step, a_step, b_step;
    uint32_t rows, columns;
    uint32_t group;  // neighbours along the depth that are adjacent in b
    uint32_t depth;  // of a step
    uint64_t *sums;
} InterpTiles;

static int64_t operand_int(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t i) {
    const InterpSlot *s = operand_slot(run, frame, op, i);
    return s ? (int64_t)slot_get(s, 0) : 0;
}

static InterpTiles tiles_of(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpTiles t = {.op = op,
                     .to = operand_slot(run, frame, op, 0),
                     .to_step = operand_int(run, frame, op, 1),
                     .acc = operand_slot(run, frame, op, 2),
                     .acc_step = operand_int(run, frame, op, 3),
                     .a = operand_slot(run, frame, op, 4),
                     .a_step = operand_int(run, frame, op, 5),
                     .b = operand_slot(run, frame, op, 6),
                     .b_step = operand_int(run, frame, op, 7),
                     .rows = (uint32_t)ir_attr_int(op, IR_ATTR_ROWS),
                     .columns = (uint32_t)ir_attr_int(op, IR_ATTR_COLUMNS)};
    uint32_t size = (uint32_t)dtype_size(t.a->elem);
    t.group = 4 / size;
    t.depth = STEP_BYTES / size;
    t.sums = arena_new(run->scratch, uint64_t, t.rows * t.columns);
    return t;
}

// The elements there; 0 where the address is in no buffer.
static uint64_t *fetch(InterpRun *run, const InterpTiles *t, const InterpSlot *p,
                       const InterpRuns *runs) {
    InterpAccess a = access_rows(run, t->op, p, runs, TOUCH_READ);
    uint64_t *x = arena_new(run->scratch, uint64_t, a.count);
    for (uint32_t i = 0; i < a.count; i++)
        if (a.on[i]) x[i] = memory_read(a.elem, a.place[i].address);
    return x;
}

static uint64_t add_product(const InterpTiles *t, uint64_t sum, uint64_t x, uint64_t y) {
    if (t->to->elem == DTYPE_I32)
        return (uint32_t)sum +
               (uint32_t)(dtype_to_i64(t->a->elem, x) * dtype_to_i64(t->b->elem, y));
    float f = fmaf(flush_subnormal(dtype_to_float(DTYPE_BF16, x)),
                   flush_subnormal(dtype_to_float(DTYPE_BF16, y)),
                   flush_subnormal(dtype_to_float(DTYPE_F32, sum)));
    return dtype_from_float(DTYPE_F32, isnan(f) ? (float)NAN : flush_subnormal(f), true);
}

static void add_step(InterpRun *run, const InterpTiles *t, int64_t k) {
    uint32_t wide = t->columns * t->group;
    int64_t row = (int64_t)((uint64_t)k / t->group * (uint64_t)t->b_step);
    const uint64_t *a = fetch(run, t, t->a, &(InterpRuns){k, t->rows, t->depth, t->a_step});
    const uint64_t *b =
        fetch(run, t, t->b, &(InterpRuns){row, t->depth / t->group, wide, t->b_step});
    for (uint32_t i = 0; i < t->rows; i++)
        for (uint32_t j = 0; j < t->columns; j++) {
            uint64_t *sum = &t->sums[i * t->columns + j];
            for (uint32_t n = 0; n < t->depth; n++) {
                uint64_t y = b[n / t->group * wide + j * t->group + n % t->group];
                *sum = add_product(t, *sum, a[i * t->depth + n], y);
            }
        }
}

static void put_sums(InterpRun *run, const InterpTiles *t) {
    InterpRuns runs = {0, t->rows, t->columns, t->to_step};
    InterpAccess to = access_rows(run, t->op, t->to, &runs, TOUCH_WRITE);
    run->changed = true;
    for (uint32_t i = 0; i < to.count; i++) {
        if (!to.on[i]) continue;
        memory_write(to.elem, to.place[i].address, t->sums[i] & UINT32_MAX);
        // Bounds of lowered code are those of the tile code it came from.
        if (run->shadow)
            pages_put_shadow(run->interp->pages, to.place[i].address, to.elem,
                             (ShadowValue){0, HUGE_VAL});
    }
}

bool execute_cpu_tiles(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpTiles t = tiles_of(run, frame, op);
    int64_t depth = operand_int(run, frame, op, 8);
    if (t.acc) {
        InterpRuns runs = {0, t.rows, t.columns, t.acc_step};
        t.sums = fetch(run, &t, t.acc, &runs);
    }
    for (int64_t k = 0; k < depth; k += t.depth) {
        ArenaMark mark = arena_mark(run->scratch);
        if (!execute_step(run)) return false;
        add_step(run, &t, k);
        arena_reset(run->scratch, mark);
        if (depth - k <= t.depth) break;  // and k cannot overflow
    }
    put_sums(run, &t);
    return true;
}
