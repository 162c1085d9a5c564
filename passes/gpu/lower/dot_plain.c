// Products without a matrix unit: both factors are in shared memory, and a loop over K reads, for
// each thread, the parts of a column of a and a row of b that its elements of the sum need. If an
// instruction multiplies neighbours along K (a group), they are neighbours in memory.
#include "passes/gpu/lower/dot.h"
#include "passes/gpu/tuning.h"

// A factor in memory: [batch][K / group][M or N][group].
typedef struct PlainFactor {
    IrValue *memory;
    IrValue *base;  // the thread's part of the offset, i32
    uint32_t group;
    uint32_t row;      // elements of a group of K
    uint32_t vector;   // elements of an access
    uint32_t *starts;  // of the accesses: offsets from base
    uint32_t count;
    uint32_t *lanes;  // by register of the sum, one group each: its position among the elements
                      // read
} PlainFactor;

// The offset on the axes that a factor has: batch (in whole matrices) and row or column.
static uint32_t offset_of(const PlainFactor *f, const Layout *c, uint32_t reg, uint32_t axis,
                          uint32_t matrix) {
    uint32_t offset = threads_offset(c, reg, axis) * f->group;
    return c->rank == 3 ? threads_offset(c, reg, 0) * matrix + offset : offset;
}

static uint32_t access_at(PlainFactor *f, uint32_t start) {
    for (uint32_t i = 0; i < f->count; i++)
        if (f->starts[i] == start) return i;
    f->starts[f->count] = start;
    return f->count++;
}

static void find_accesses(Threads *t, PlainFactor *f, const Layout *c, uint32_t axis,
                          uint32_t matrix) {
    uint32_t regs = layout_size(c, LAYOUT_REG);
    f->starts = arena_new(t->scratch, uint32_t, regs);
    f->lanes = arena_new(t->scratch, uint32_t, regs * f->group);
    for (uint32_t r = 0; r < regs; r++) {
        uint32_t offset = offset_of(f, c, r, axis, matrix), inside = offset % f->vector;
        uint32_t lane = access_at(f, offset - inside) * f->vector + inside;
        for (uint32_t i = 0; i < f->group; i++) f->lanes[r * f->group + i] = lane + i;
    }
}

static IrValue *base_of(Threads *t, const PlainFactor *f, const Layout *c, uint32_t axis,
                        uint32_t matrix) {
    CHECK(threads_disjoint(c, axis) && threads_disjoint(c, 0), "a sum that is not blocked");
    IrValue *at = threads_coord(t, c, axis);
    if (f->group > 1) at = ir_binary(&t->b, IR_MUL, at, threads_i32(t, f->group));
    if (c->rank < 3) return at;
    IrValue *batch = threads_coord(t, c, 0);
    return ir_binary(&t->b, IR_ADD, at, ir_binary(&t->b, IR_MUL, batch, threads_i32(t, matrix)));
}

// Moves pairs of K, which come after `across` elements of the fastest axis, before these.
static Layout paired(const Layout *memory, uint32_t across) {
    uint8_t order[LAYOUT_MAX_BITS], k = 0;
    while (across >> (k + 1)) k++;
    for (uint8_t i = 0; i < LAYOUT_MAX_BITS; i++) order[i] = i > k ? i : i ? i - 1 : k;
    return layout_reorder(memory, LAYOUT_OFFSET, order);
}

// The factor along the axis that it shares with the sum.
static PlainFactor factor_of(Threads *t, const IrOp *op, const GpuDot *d, uint32_t i) {
    static const uint8_t a_order[2][3] = {{0, 1}, {1, 2, 0}}, b_order[2][3] = {{1, 0}, {2, 1, 0}};
    const IrType *type = ir_operand(op, i)->type;
    uint32_t three = type->rank == 3, axis = i ? type->rank - 1 : type->rank - 2;
    Dtype elem = i ? d->b_elem : d->a_elem;
    IrValue *x = threads_operand(t, op, i);
    if (type->elem != elem) x = ir_cast(&t->b, x, elem, false);
    PlainFactor f = {.group = d->group, .row = type->shape[axis] * d->group};
    uint32_t matrix = type->shape[i ? axis - 1 : axis + 1] * type->shape[axis];
    f.vector = layout_contiguity(&d->c, axis) * d->group;
    while (f.vector * dtype_size(elem) > GPU_ACCESS_BYTES) f.vector /= 2;
    Layout memory = layout_plain(type->rank, type->shape, i ? b_order[three] : a_order[three]);
    if (d->group == 2) memory = paired(&memory, type->shape[axis]);
    f.memory = threads_shared(t, elem, type->count);
    threads_trip_store(t, f.memory, x, type->layout, &memory);
    find_accesses(t, &f, &d->c, axis, matrix);
    f.base = base_of(t, &f, &d->c, axis, matrix);
    return f;
}

// For each register, its factor at this K (p: the thread's pointer into K's row), in the sum's type
// except for groups.
static IrValue *read(Threads *t, const PlainFactor *f, IrValue *p, uint32_t regs, Dtype sum) {
    IrValue **parts = arena_new(t->scratch, IrValue *, f->count);
    uint32_t bytes = f->vector * (uint32_t)dtype_size(p->type->elem);
    for (uint32_t i = 0; i < f->count; i++) {
        IrValue *at = f->starts[i] ? threads_at(t, p, threads_i64(t, f->starts[i])) : p;
        parts[i] = threads_load(t, at, f->vector, bytes, NULL, NULL);
    }
    IrValue *x = threads_pack(t, f->count, parts);
    if (f->group == 1 && x->type->elem != sum) x = ir_cast(&t->b, x, sum, false);
    return threads_pick(t, x, regs * f->group, f->lanes);
}

static IrValue *add_products(Threads *t, uint32_t group, IrValue *a, IrValue *b, IrValue *acc) {
    if (group > 1) {
        IrValue *operands[3] = {acc, a, b};
        return ir_result(ir_op(&t->b, IR_VEC_DOT2, 3, operands, 1, &acc->type, 0, NULL), 0);
    }
    if (!dtype_is(acc->type->elem, DTYPE_CLASS_INT)) return ir_ternary(&t->b, IR_FMA, a, b, acc);
    return ir_binary(&t->b, IR_ADD, acc, ir_binary(&t->b, IR_MUL, a, b));
}

// TUNE_DOT_UNROLL (or fewer) steps from k on; k counts groups.
static IrValue *steps(Threads *t, const PlainFactor *f, IrValue *k, uint32_t count, IrValue *acc) {
    IrValue *rows[2];
    for (int i = 0; i < 2; i++) {
        IrValue *row = ir_binary(&t->b, IR_MUL, k, threads_i64(t, f[i].row));
        rows[i] = threads_at(t, threads_at(t, f[i].memory, f[i].base), row);
    }
    for (uint32_t s = 0; s < count; s++) {
        IrValue *x[2];
        for (int i = 0; i < 2; i++) {
            IrValue *p = s ? threads_at(t, rows[i], threads_i64(t, s * f[i].row)) : rows[i];
            x[i] = read(t, &f[i], p, acc->type->count, acc->type->elem);
        }
        acc = add_products(t, f->group, x[0], x[1], acc);
    }
    return acc;
}

static IrValue *loop(Threads *t, const PlainFactor *f, uint32_t extent, IrValue *acc) {
    uint32_t count = extent < TUNE_DOT_UNROLL ? extent : TUNE_DOT_UNROLL;
    if (count == extent) return steps(t, f, threads_i64(t, 0), count, acc);
    IrValue *operands[4] = {threads_i64(t, 0), threads_i64(t, extent), threads_i64(t, count), acc};
    const IrType *type = acc->type;
    IrBlock *body = ir_block_create(t->func);
    IrValue *k = ir_block_add_arg(body, operands[0]->type);
    IrValue *carried = ir_block_add_arg(body, type);
    IrOp *op = ir_op(&t->b, IR_FOR, 4, operands, 1, &type, 1, &body);
    IrBuilder here = t->b;
    t->b = ir_builder_at_end(body);
    t->b.span = here.span;
    IrValue *next = steps(t, f, k, count, carried);
    ir_yield(&t->b, 1, &next);
    t->b = here;
    return ir_result(op, 0);
}

IrValue *threads_dot_plain(Threads *t, const IrOp *op, const GpuDot *d, IrValue *acc) {
    const IrType *a = ir_operand(op, 0)->type;
    PlainFactor f[2];
    for (uint32_t i = 0; i < 2; i++) f[i] = factor_of(t, op, d, i);
    threads_barrier(t);
    uint32_t regs = layout_size(&d->c, LAYOUT_REG);
    if (!acc) acc = ir_const_bits(&t->b, threads_vector(t, d->sum, regs), 0);
    IrValue *r = loop(t, f, a->shape[a->rank - 1] / d->group, acc);
    threads_barrier(t);
    return r;
}
