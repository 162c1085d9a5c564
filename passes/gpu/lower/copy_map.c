// Copies by tensor maps: the hardware copies whole boxes, which one thread of the program begins.
// They arrive at barriers in shared memory, where all threads wait for them.
#include "passes/gpu/lower/access.h"

static IrValue *first_thread(Threads *t) {
    return ir_binary(&t->b, IR_EQ, t->thread, threads_i32(t, 0));
}

// `made` is for the warp that only copies, if the op is.
static void keep_producer(const IrOp *op, IrOp *made) {
    ir_attr_set_int(made, IR_ATTR_PRODUCER, ir_attr_int(op, IR_ATTR_PRODUCER));
}

static void init(Threads *t, const IrOp *op) {
    uint32_t count = (uint32_t)ir_attr_int(op, IR_ATTR_COUNT);
    IrValue *bars = threads_shared(t, DTYPE_U64, count), *first = first_thread(t);
    for (uint32_t i = 0; i < count; i++) {
        IrValue *operands[2] = {threads_at(t, bars, threads_i32(t, i)), first};
        IrOp *made = ir_op(&t->b, IR_THREAD_MBARRIER_INIT, 2, operands, 0, NULL, 0, NULL);
        ir_attr_set_int(made, IR_ATTR_ARRIVALS, ir_attr_int(op, IR_ATTR_ARRIVALS));
    }
    keep_producer(op, threads_barrier(t));
    threads_define(t, op, 0, bars);
}

static uint32_t count_of(const IrValue *bars) {
    return (uint32_t)ir_attr_int(bars->def, IR_ATTR_COUNT);
}

static void end(Threads *t, const IrOp *op) {
    IrValue *bars = threads_operand(t, op, 0);
    threads_barrier(t);
    IrValue *first = first_thread(t);
    for (uint32_t i = 0; i < count_of(ir_operand(op, 0)); i++) {
        IrValue *operands[2] = {threads_at(t, bars, threads_i32(t, i)), first};
        ir_op(&t->b, IR_THREAD_MBARRIER_END, 2, operands, 0, NULL, 0, NULL);
    }
    threads_barrier(t);
}

static void expect(Threads *t, const IrOp *op) {
    IrValue *at = threads_at(t, threads_operand(t, op, 0), threads_operand(t, op, 1));
    IrValue *operands[2] = {at, access_both(t, t->when, first_thread(t))};
    IrOp *made = ir_op(&t->b, IR_THREAD_MBARRIER_EXPECT, 2, operands, 0, NULL, 0, NULL);
    ir_attr_set_int(made, IR_ATTR_COUNT, ir_attr_int(op, IR_ATTR_COUNT));
    keep_producer(op, made);
}

// One lane arrives for its warp.
static void arrive(Threads *t, const IrOp *op) {
    IrValue *at = threads_at(t, threads_operand(t, op, 0), threads_operand(t, op, 1));
    IrValue *lane = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, ir_lane_count(t->func) - 1));
    IrValue *first = ir_binary(&t->b, IR_EQ, lane, threads_i32(t, 0));
    IrValue *operands[2] = {at, access_both(t, t->when, first)};
    ir_op(&t->b, IR_THREAD_MBARRIER_ARRIVE, 2, operands, 0, NULL, 0, NULL);
}

static void wait(Threads *t, const IrOp *op) {
    IrValue *at = threads_at(t, threads_operand(t, op, 0), threads_operand(t, op, 1));
    IrValue *operands[2] = {at, threads_operand(t, op, 2)};
    keep_producer(op, ir_op(&t->b, IR_THREAD_MBARRIER_WAIT, 2, operands, 0, NULL, 0, NULL));
}

// ---- loads --------------------------------------------------------------------------------------

// A start as i32. One beyond that is outside of every view that has a map, and so is the nearest
// i32, whatever is added to it within a box.
static IrValue *start_of(Threads *t, IrValue *index, const IrValue *known) {
    IrRange range = ir_range_of(t->ranges, known);
    bool low = range.known && range.min >= INT32_MIN, high = range.known && range.max <= INT32_MAX;
    if (index->type->elem != DTYPE_I64) index = access_i64(t, index);
    if (!low) index = ir_binary(&t->b, IR_MAX, index, threads_i64(t, INT32_MIN));
    if (!high) index = ir_binary(&t->b, IR_MIN, index, threads_i64(t, INT32_MAX));
    return ir_cast(&t->b, index, DTYPE_I32, false);
}

typedef struct MapLoad {
    const IrMap *map;
    const IrOp *load;
    IrValue *start[IR_MAX_VIEW_RANK];
    int axis[IR_MAX_VIEW_RANK];  // of the tile; -1: a scalar index
    uint32_t inverse[LAYOUT_MAX_TILE_BITS];
} MapLoad;

static void load_box(Threads *t, const IrOp *op, const MapLoad *m, const uint32_t *coords,
                     IrValue *bar, IrValue *mask) {
    const Layout *memory = ir_operand(op, 0)->type->layout;
    uint32_t element = layout_element(memory, coords), offset = 0, rank = m->map->rank;
    for (uint32_t i = 0; element >> i; i++)
        if (element >> i & 1) offset ^= m->inverse[i];
    IrValue *operands[4 + IR_MAX_VIEW_RANK] = {
        threads_at(t, threads_operand(t, op, 0), threads_i32(t, offset)),
        threads_value(t, ir_operand(m->load, 0)), bar, mask};
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t more = m->axis[d] < 0 ? 0 : coords[m->axis[d]];
        operands[4 + d] =
            more ? ir_binary(&t->b, IR_ADD, m->start[d], threads_i32(t, more)) : m->start[d];
    }
    IrOp *made = ir_op(&t->b, IR_THREAD_TMA_LOAD, 4 + rank, operands, 0, NULL, 0, NULL);
    ir_attr_set_int(made, IR_ATTR_MAP, ir_attr_int(op, IR_ATTR_MAP));
    keep_producer(op, made);
}

// The first element of the next box; false: there is none.
static bool next_box(const IrType *x, const uint32_t *step, uint32_t *coords) {
    for (uint32_t a = x->rank; a-- > 0;) {
        coords[a] += step[a];
        if (coords[a] < x->shape[a]) return true;
        coords[a] = 0;
    }
    return false;
}

static void load(Threads *t, const IrOp *op) {
    const IrOp *from = ir_operand(op, 1)->def;
    const IrType *x = from->results[0].type;
    const int64_t *widths = ir_attr(from, IR_ATTR_SELECT)->u.ints.items;
    MapLoad m = {.map = &t->func->maps.data[ir_attr_int(op, IR_ATTR_MAP)], .load = from};
    uint32_t step[IR_MAX_RANK], coords[IR_MAX_RANK] = {0}, rank = m.map->rank;
    int axis = 0;
    CHECK(layout_invert(ir_operand(op, 0)->type->layout, m.inverse), "memory without a place");
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t i = ir_view_index_start(from->code) + d;
        m.start[d] = start_of(t, threads_operand(t, from, i), ir_operand(from, i));
        m.axis[d] = widths[d] ? axis : -1;
        if (widths[d]) step[axis++] = m.map->box[rank - 1 - d];
    }
    IrValue *bar = threads_at(t, threads_operand(t, op, 2), threads_operand(t, op, 3));
    IrValue *mask = access_both(t, t->when, first_thread(t));
    do load_box(t, op, &m, coords, bar, mask);
    while (next_box(x, step, coords));
}

void threads_map(Threads *t, const IrOp *op) {
    switch (op->code) {
    case IR_GPU_MBARRIER: init(t, op); return;
    case IR_GPU_MBARRIER_EXPECT: expect(t, op); return;
    case IR_GPU_MBARRIER_ARRIVE: arrive(t, op); return;
    case IR_GPU_MBARRIER_WAIT: wait(t, op); return;
    case IR_GPU_MBARRIER_END: end(t, op); return;
    case IR_GPU_TMA_LOAD: load(t, op); return;
    default: break;
    }
}
