#include "passes/cpu/emit/transpose.h"
#include "passes/cpu/tuning.h"

// ---- the exchange -------------------------------------------------------------------------------

static IrValue *shuffle(Lower *l, IrBuilder *b, IrValue *x, IrValue *y, uint32_t count,
                        const int64_t *from) {
    const IrType *t = ir_with_shape(l->module, x->type, 1, &count);
    IrValue *operands[2] = {x, y};
    IrOp *op = ir_op(b, IR_VEC_SHUFFLE, 2, operands, 1, &t, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_LANES, count, from);
    return ir_result(op, 0);
}

// Swaps bit `bit` of the place in a row with that bit of the row's number.
static void exchange_bit(Lower *l, IrBuilder *b, IrValue **row, uint32_t count, uint32_t bit,
                         uint32_t units, uint32_t group) {
    uint32_t elements = units * group;
    int64_t *low = arena_new(l->scratch, int64_t, elements),
            *high = arena_new(l->scratch, int64_t, elements);
    for (uint32_t i = 0; i < elements; i++) {
        bool second = i / group & bit;
        low[i] = second ? elements + i - bit * group : i;
        high[i] = second ? elements + i : i + bit * group;
    }
    for (uint32_t r = 0; r < count; r++) {
        if (r & bit) continue;
        IrValue *x = row[r], *y = row[r + bit];
        row[r] = shuffle(l, b, x, y, elements, low);
        row[r + bit] = shuffle(l, b, x, y, elements, high);
    }
}

void transpose_exchange(Lower *l, IrBuilder *b, IrValue **row, uint32_t units, uint32_t group) {
    for (uint32_t bit = 1; bit < units; bit *= 2) exchange_bit(l, b, row, units, bit, units, group);
}

// ---- loads --------------------------------------------------------------------------------------

static bool same_place(const LanePlace *a, const LanePlace *b) {
    for (uint32_t d = 0; d < a->rank; d++) {
        const Coord *x = &a->at[d], *y = &b->at[d];
        if (x->kind != y->kind || x->value != y->value || x->loop != y->loop) return false;
    }
    return true;
}

const TransposeBlock *transpose_find(const Nest *nest, const LanePlace *place, uint32_t of,
                                     bool buffer) {
    for (size_t i = 0; i < nest->transpose_blocks.count; i++) {
        const TransposeBlock *s = &nest->transpose_blocks.data[i];
        if (s->of == of && s->buffer == buffer && same_place(&s->place, place)) return s;
    }
    return NULL;
}

// Loads rows from `row` on and transposes them half by half, so that few are in registers at once.
static void load_rows(Lower *l, IrBuilder *b, IrValue **row, IrValue *const *pointer,
                      uint32_t count, uint32_t units) {
    if (count == 1) {
        const IrType *t = ir_tile(l->module, pointer[0]->type->elem, 1, &units);
        IrValue *operands[3] = {pointer[0], NULL, NULL};
        row[0] = ir_result(ir_op(b, IR_CPU_LOAD, 3, operands, 1, &t, 0, NULL), 0);
        return;
    }
    uint32_t half = count / 2;
    load_rows(l, b, row, pointer, half, units);
    load_rows(l, b, row + half, pointer + half, half, units);
    exchange_bit(l, b, row, count, half, units, 1);
}

// NULL if too many rows were skipped.
static IrValue *point_at_row(Nest *nest, IrBuilder *b, RowSteps *rows, uint32_t row) {
    enum { NEAR = 4 };
    uint32_t distance = row - rows->row;
    if (distance == 0) return rows->fourth;
    if (distance > NEAR) return NULL;
    IrBuilder *top = nest_builder(nest, 0);
    IrValue *by = lower_mul(top, rows->stride, lower_i64(top, distance));
    IrValue *pointer = ir_ptr_add(b, rows->fourth, by);
    if (distance == NEAR) *rows = (RowSteps){rows->stride, pointer, row};
    return pointer;
}

IrValue *transpose_step_pointer(const Lower *l, Nest *nest, IrBuilder *b, uint32_t of,
                                LanePlace place, IrValue *pointer, IrValue *stride) {
    for (size_t i = 0; i < nest->stepped.count; i++) {
        SteppedAccess *known = &nest->stepped.data[i];
        if (known->of != of || !same_place(&known->place, &place)) continue;
        IrValue *stepped = point_at_row(nest, b, &known->rows, nest->side_at);
        return stepped ? stepped : pointer;
    }
    SteppedAccess first = {of, place, {stride, pointer, nest->side_at}};
    vec_push(l->scratch, &nest->stepped, first);
    return pointer;
}

// Concatenates the vectors of `count` squares.
static IrValue *side_by_side(Lower *l, IrBuilder *b, IrValue *const *part, uint32_t step,
                             uint32_t count) {
    if (count == 1) return part[0];
    IrValue *x = side_by_side(l, b, part, step, count / 2);
    IrValue *y = side_by_side(l, b, part + (size_t)step * (count / 2), step, count / 2);
    uint32_t lanes = 2 * x->type->shape[0];
    int64_t *from = arena_new(l->scratch, int64_t, lanes);
    for (uint32_t i = 0; i < lanes; i++) from[i] = i;
    return shuffle(l, b, x, y, lanes, from);
}

const TransposeBlock *transpose_load(Lower *l, Nest *nest, const TransposeSource *source,
                                     LanePlace place) {
    uint32_t lanes = nest->lanes, sides = nest->sides, count = lanes / sides;
    IrBuilder *b = nest_builder(nest, source->depth);
    IrValue **pointer = arena_new(l->scratch, IrValue *, lanes);
    IrValue **part = arena_new(l->scratch, IrValue *, lanes);
    RowSteps rows = {source->stride, source->pointer, 0};
    for (uint32_t i = 0; i < lanes; i++) pointer[i] = point_at_row(nest, b, &rows, i);
    for (uint32_t i = 0; i < count; i++)
        load_rows(l, b, part + (size_t)i * sides, pointer + (size_t)i * sides, sides, sides);
    TransposeBlock block = {.of = source->of, .buffer = source->buffer, .place = place};
    block.row = arena_new(l->scratch, IrValue *, sides);
    for (uint32_t r = 0; r < sides; r++) block.row[r] = side_by_side(l, b, part + r, sides, count);
    vec_push(l->scratch, &nest->transpose_blocks, block);
    return &nest->transpose_blocks.data[nest->transpose_blocks.count - 1];
}

// ---- choosing -----------------------------------------------------------------------------------

bool transpose_fits(const Nest *nest, Coord c) {
    return nest->axis < 0 && nest->lane >= 0 && c.kind == COORD_LOOP &&
           c.loop != (uint32_t)nest->lane && nest->shape[c.loop] > 1;
}

static uint32_t least(uint32_t x, uint32_t y) { return x < y ? x : y; }

// A square has a register of the widest elements in each row. As many squares are next to each
// other as all registers hold, so that long runs are stored at once, at least whole cache lines.
// The body is repeated for each coordinate of the side, so long bodies get small squares.
void transpose_choose(const Lower *l, Nest *nest, uint32_t bytes) {
    nest->sides = 1;
    nest->side = nest->survey.transpose_side;
    if (nest->side < 0 || nest->lanes < 2) return;
    if (nest->survey.transpose_bytes > bytes) bytes = nest->survey.transpose_bytes;
    uint32_t vector = l->machine->vector_bytes / bytes, line = CPU_LINE_BYTES / bytes;
    uint32_t held = l->machine->vector_registers, extent = nest->shape[nest->lane];
    uint32_t run = held > vector ? held : vector, lanes = nest->lanes;
    if (!nest->pack) lanes = least(extent, line > run ? line : run);
    uint32_t sides = least(least(vector, lanes), nest->shape[nest->side]);
    while (sides > TUNE_TRANSPOSE_FEW && sides * nest->survey.work > TUNE_TRANSPOSE_OPS) sides /= 2;
    if (sides < 2 || sides * nest->survey.work > TUNE_TRANSPOSE_OPS) return;
    nest->sides = sides;
    nest->lanes = lanes;
}

static bool is_beside(const Nest *nest, const ValueMemo *memo) {
    for (uint32_t d = 0; d < memo->place.rank; d++)
        if (memo->place.at[d].kind == COORD_LOOP && memo->place.at[d].loop == (uint32_t)nest->side)
            return false;
    return true;
}

void transpose_drop_memos(Lower *l, Nest *nest) { value_forget(l, nest, is_beside); }
