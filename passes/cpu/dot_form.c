#include "passes/cpu/dot_form.h"

#include "base/os/os.h"
#include "passes/cpu/tuning.h"

static uint32_t at_most(uint32_t x, uint32_t limit) { return x < limit ? x : limit; }

// Takes as many accumulators as possible while registers remain for a row of b, an element of a and
// a product.
static DotBlock choose_block(const Machine *m, const DotForm *d) {
    uint32_t size = (uint32_t)dtype_size(d->sum);
    DotBlock block = {.lanes = at_most(d->n, m->vector_bytes / size)};
    uint32_t vectors = d->n / block.lanes;
    block.rows = m->vector_registers >= 32 ? TUNE_DOT_ROWS_32
                 : m->fma                  ? TUNE_DOT_ROWS_FMA
                                           : TUNE_DOT_ROWS;
    block.vectors = at_most(vectors, TUNE_DOT_VECTORS);
    // With one or two rows, only many columns keep the arithmetic units busy.
    if (d->m <= 2) block.vectors = at_most(vectors, m->vector_registers / 4 / d->m);
    if (d->tiles) block.vectors = at_most(vectors, 2), block.rows = 2 * DOT_TILE_ROWS;
    CHECK(block.vectors <= DOT_MAX_VECTORS, "%u vectors in a row", block.vectors);
    block.rows = at_most(d->m, block.rows);
    return block;
}

DotBlock dot_thin_block(const Machine *machine, const DotForm *d) {
    DotBlock block = d->block;
    uint32_t vectors = d->n / block.lanes;
    block.rows = TUNE_DOT_THIN_ROWS;
    block.vectors = at_most(vectors, machine->vector_registers / (2 * TUNE_DOT_THIN_ROWS));
    return block;
}

static Dtype other_sign(Dtype t) { return t == DTYPE_I8 ? DTYPE_U8 : DTYPE_I8; }

// Only whole tile registers are used. The instructions do not convert, so the sum has their type.
static bool fits_tiles(const Machine *m, const DotForm *d, const IrOp *op, Dtype a, Dtype b) {
    bool pairs = m->bf16_tiles && a == DTYPE_BF16 && b == DTYPE_BF16;
    bool fours = m->i8_tiles && dot_is_byte(a) && dot_is_byte(b);
    Dtype sum = pairs ? DTYPE_F32 : DTYPE_I32;
    if ((!pairs && !fours) || op->results[0].type->elem != sum) return false;
    return d->m >= DOT_TILE_ROWS && d->n >= DOT_TILE_ROWS && d->k * dtype_size(a) >= DOT_TILE_BYTES;
}

// Instructions that multiply several neighbours take the operands unconverted; otherwise both
// operands are converted to the type of the sum.
static void choose_parts(const Machine *m, DotForm *d, const IrOp *op, Dtype a, Dtype b) {
    if (d->tiles) {
        d->part_a = a;
        d->part_b = b;
        d->group = DOT_TILE_BYTES / DOT_TILE_ROWS / (uint32_t)dtype_size(a);
        return;
    }
    d->part_a = d->part_b = d->sum;
    if (d->block.lanes < m->vector_bytes / 4) return;
    // The pair instructions flush subnormals to 0, which docs/numerics.md allows for f32 results
    // only.
    bool wide = op->results[0].type->elem == DTYPE_F32;
    bool pairs = m->bf16_dot && a == DTYPE_BF16 && wide && d->k >= 2;
    bool bytes = dot_is_byte(a) && dot_is_byte(b) && d->sum == DTYPE_I32;
    bool fours = m->i8_dot && bytes && d->k >= 4;
    // Pairs of i16 take bytes of any sign.
    if (!fours && m->i16_dot && bytes && d->k >= 2) {
        d->group = 2;
        d->part_a = d->part_b = DTYPE_I16;
        return;
    }
    if (!pairs && !fours) return;
    d->group = pairs ? 2 : 4;
    d->flipped = fours && a == b;
    d->part_a = d->flipped ? other_sign(a) : a;
    d->part_b = b;
}

DotForm dot_form(const Machine *machine, const IrOp *op) {
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type;
    uint32_t r = a->rank;
    DotForm d = {.batch = r == 3 ? a->shape[0] : 1, .group = 1};
    d.m = a->shape[r - 2];
    d.k = a->shape[r - 1];
    d.n = b->shape[r - 1];
    Dtype result = op->results[0].type->elem;
    d.sum = result == DTYPE_F16 ? DTYPE_F32 : result;
    d.tiles = fits_tiles(machine, &d, op, a->elem, b->elem);
    d.block = choose_block(machine, &d);
    choose_parts(machine, &d, op, a->elem, b->elem);
    return d;
}

uint32_t dot_preferred_depth(const Machine *machine, const IrOp *op) {
    DotForm d = dot_form(machine, op);
    return (d.tiles ? TUNE_DOT_TILES_DEPTH_BYTES : TUNE_DOT_DEPTH_BYTES) /
           (uint32_t)dtype_size(d.part_a);
}

uint32_t dot_steps(const DotForm *d) {
    enum { TILE_STEPS = DOT_TILE_BYTES / 4 };
    uint32_t steps = d->k / d->group;
    if (d->tiles) return TILE_STEPS;
    return steps < TUNE_DOT_STEPS ? steps : TUNE_DOT_STEPS;
}
