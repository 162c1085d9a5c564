// Products by the matrix unit: fragments of each instruction, chained along K.
#include "passes/gpu/lower/dot.h"

// A factor, as fragments: in registers, or in shared memory until a fragment is needed.
typedef struct MmaFactor {
    const Layout *layout;
    uint32_t registers;  // of a fragment: the lowest ones
    IrValue *x;
    ThreadsTrip *trip;      // NULL: x has the required layout
    bool in_memory;         // with the element type of memory, not that of the multiplication
    IrValue **high, **low;  // by fragment; NULL: not loaded yet
    Dtype elem;
} MmaFactor;

// ---- elements -----------------------------------------------------------------------------------

static IrValue *splat_bits(Threads *t, const IrType *type, uint64_t bits) {
    return ir_const_bits(&t->b, type, bits);
}

// f32 rounded to the nearest tf32; ties go to the larger one. The unit reads the upper 19 bits, but
// the value that is subtracted must not have any other bits.
static IrValue *tf32_of(Threads *t, IrValue *x) {
    const IrType *words = threads_vector(t, DTYPE_U32, x->type->count);
    IrValue *bits = ir_bitcast(&t->b, x, words);
    bits = ir_binary(&t->b, IR_ADD, bits, splat_bits(t, words, 0x1000));
    bits = ir_binary(&t->b, IR_AND, bits, splat_bits(t, words, UINT32_MAX << 13));
    IrValue *number = ir_binary(&t->b, IR_EQ, x, x);
    IrValue *nan = splat_bits(t, x->type, 0x7fc00000);
    return ir_ternary(&t->b, IR_SELECT, number, ir_bitcast(&t->b, bits, x->type), nan);
}

// The factor that the unit gets if it is not split. NVIDIA's unit drops the bits that tf32 does not
// have, which math(approx) allows. Otherwise x is multiplied by 1 + 2^-11: what the unit then keeps
// is x if x is a tf32, and within 2^-11 of x if not.
static IrValue *whole(Threads *t, const GpuDot *d, IrValue *x, Dtype to) {
    if (x->type->elem != to) return ir_cast(&t->b, x, to, false);
    if (to != DTYPE_F32 || d->exact || (t->func->math & IR_MATH_APPROX)) return x;
    if (d->product.unit != MATRIX_UNIT_MMA) return tf32_of(t, x);
    return ir_binary(&t->b, IR_MUL, x, splat_bits(t, x->type, 0x3f801000));
}

static IrValue *rounded(Threads *t, IrValue *x, Dtype to) {
    return to == DTYPE_F32 ? tf32_of(t, x) : ir_cast(&t->b, x, to, false);
}

// The remainder that rounding left, rounded; 0 for infinities.
static IrValue *rest_of(Threads *t, IrValue *x, IrValue *high, Dtype to) {
    IrValue *h = to == DTYPE_F32 ? high : ir_cast(&t->b, high, DTYPE_F32, false);
    IrValue *rest = ir_binary(&t->b, IR_SUB, x, h);
    IrValue *size = ir_unary(&t->b, IR_ABS, h);
    IrValue *finite = ir_binary(&t->b, IR_LT, size, splat_bits(t, x->type, 0x7f800000));
    rest = ir_ternary(&t->b, IR_SELECT, finite, rest, splat_bits(t, x->type, 0));
    return rounded(t, rest, to);
}

// ---- factors ------------------------------------------------------------------------------------

static MmaFactor factor_of(Threads *t, const IrOp *op, const GpuDot *d, uint32_t i) {
    const IrType *type = ir_operand(op, i)->type;
    MmaFactor f = {.layout = i ? &d->b : &d->a, .elem = i ? d->b_elem : d->a_elem};
    Layout one = layout_fragment(d->product, i ? LAYOUT_OPERAND_B : LAYOUT_OPERAND_A);
    f.registers = layout_size(&one, LAYOUT_REG);
    uint32_t fragments = layout_size(f.layout, LAYOUT_REG) / f.registers;
    f.high = arena_new(t->scratch, IrValue *, fragments);
    f.low = arena_new(t->scratch, IrValue *, fragments);
    if ((f.trip = threads_read(t, ir_operand(op, i)))) {
        f.in_memory = true;
        return f;
    }
    f.x = threads_operand(t, op, i);
    if (!d->split) f.x = whole(t, d, f.x, f.elem);
    if (layout_conversion(type->layout, f.layout) <= LAYOUT_CONVERT_REGISTERS)
        f.x = threads_move(t, f.x, type->layout, f.layout);
    else
        f.trip = threads_trip(t, f.x, type->layout, f.layout);
    return f;
}

// The fragment that begins with this element.
static uint32_t fragment_at(const MmaFactor *f, uint32_t element) {
    uint32_t fragments = layout_size(f->layout, LAYOUT_REG) / f->registers;
    for (uint32_t i = 0; i < fragments; i++)
        if (layout_apply(f->layout, layout_at(i * f->registers, 0, 0)) == element) return i;
    UNREACHABLE("no fragment begins with element %u", element);
}

static void make_fragment(Threads *t, const GpuDot *d, MmaFactor *f, uint32_t fragment) {
    uint32_t regs[64];
    if (f->high[fragment]) return;
    for (uint32_t i = 0; i < f->registers; i++) regs[i] = fragment * f->registers + i;
    IrValue *x = f->trip ? threads_trip_load(t, f->trip, f->registers, regs)
                         : threads_pick(t, f->x, f->registers, regs);
    if (f->in_memory && !d->split) x = whole(t, d, x, f->elem);
    f->high[fragment] = d->split ? rounded(t, x, f->elem) : x;
    if (d->split) f->low[fragment] = rest_of(t, x, f->high[fragment], f->elem);
}

// ---- products -----------------------------------------------------------------------------------

static IrValue *multiply(Threads *t, const GpuDot *d, IrValue *a, IrValue *b, IrValue *acc) {
    IrValue *operands[3] = {a, b, acc};
    const IrType *type = acc->type;
    IrOp *op = ir_op(&t->b, IR_THREAD_MMA, 3, operands, 1, &type, 0, NULL);
    const MatrixShape *p = &d->product;
    int64_t shape[4] = {p->m, p->n, p->k, p->unit};
    ir_attr_set_ints(op, IR_ATTR_SELECT, p->unit == MATRIX_UNIT_MMA ? 3 : 4, shape);
    return ir_result(op, 0);
}

typedef struct SumTile {
    uint32_t coords[IR_MAX_RANK];  // of the sum's first element: batch, row, column
} SumTile;

static IrValue *step(Threads *t, const GpuDot *d, MmaFactor *f, const SumTile *tile, uint32_t k,
                     IrValue *acc) {
    uint32_t rank = d->c.rank, at[2][IR_MAX_RANK], fragment[2];
    for (uint32_t i = 0; i < rank; i++) at[0][i] = at[1][i] = tile->coords[i];
    at[0][rank - 1] = at[1][rank - 2] = k;
    for (int i = 0; i < 2; i++) {
        fragment[i] = fragment_at(&f[i], layout_element(f[i].layout, at[i]));
        make_fragment(t, d, &f[i], fragment[i]);
    }
    IrValue *a = f[0].high[fragment[0]], *b = f[1].high[fragment[1]];
    if (d->split) {  // small terms first
        acc = multiply(t, d, a, f[1].low[fragment[1]], acc);
        acc = multiply(t, d, f[0].low[fragment[0]], b, acc);
    }
    return multiply(t, d, a, b, acc);
}

IrValue *threads_dot_matrix(Threads *t, const IrOp *op, const GpuDot *d, IrValue *acc) {
    MmaFactor f[2];
    for (uint32_t i = 0; i < 2; i++) f[i] = factor_of(t, op, d, i);
    bool moves = (f[0].trip && !f[0].in_memory) || (f[1].trip && !f[1].in_memory);
    if (moves) threads_barrier(t);
    Layout one = layout_fragment(d->product, LAYOUT_OPERAND_C);
    uint32_t size = layout_size(&one, LAYOUT_REG);
    uint32_t count = layout_size(&d->c, LAYOUT_REG) / size, regs[16];
    SumTile *tiles = arena_new(t->scratch, SumTile, count);
    IrValue **sums = arena_new(t->scratch, IrValue *, count);
    const IrType *type = threads_vector(t, d->sum, size);
    for (uint32_t i = 0; i < count; i++) {
        layout_coords(&d->c, layout_apply(&d->c, layout_at(i * size, 0, 0)), tiles[i].coords);
        for (uint32_t r = 0; r < size; r++) regs[r] = i * size + r;
        sums[i] = acc ? threads_pick(t, acc, size, regs) : ir_const_bits(&t->b, type, 0);
    }
    const IrType *a = ir_operand(op, 0)->type;
    for (uint32_t k = 0; k < a->shape[a->rank - 1]; k += d->product.k)
        for (uint32_t i = 0; i < count; i++) sums[i] = step(t, d, f, &tiles[i], k, sums[i]);
    if (moves) threads_barrier(t);
    return threads_pack(t, count, sums);
}
