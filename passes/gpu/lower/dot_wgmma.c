// Products by wgmma: four warps multiply together, from shared memory, while their threads go on.
#include "passes/gpu/lower/dot.h"

// A factor: in shared memory, or a in the registers of its fragments.
typedef struct WgmmaFactor {
    LayoutOperand operand;
    IrValue *x;     // a pointer to where the factor of this group of warps begins, or a vector
    Layout layout;  // of the memory; of the vector
    bool in_memory;
    bool stored;  // for this product only
    LayoutDescriptor how;
    uint32_t inverse[LAYOUT_MAX_TILE_BITS];  // of the memory
} WgmmaFactor;

static uint32_t side_of(const GpuDot *d, LayoutOperand operand) {
    return operand == LAYOUT_OPERAND_A ? d->product.m : d->product.n;
}

static uint32_t offset_of(const WgmmaFactor *f, const uint32_t *coords) {
    uint32_t element = layout_element(&f->layout, coords), offset = 0;
    for (uint32_t i = 0; element >> i; i++)
        if (element >> i & 1) offset ^= f->inverse[i];
    return offset;
}

// A position of the sum becomes one of the factor, at this k.
static void coords_of(const WgmmaFactor *f, const uint32_t *sum, uint32_t k, uint32_t *coords) {
    uint32_t rank = f->layout.rank;
    for (uint32_t i = 0; i < rank; i++) coords[i] = sum[i];
    coords[f->operand == LAYOUT_OPERAND_A ? rank - 1 : rank - 2] = k;
}

// ---- where it is --------------------------------------------------------------------------------

// The place of the group's rows or columns. All threads of a warp have the same, which a shuffle
// makes certain.
static IrValue *of_group(Threads *t, const WgmmaFactor *f, const GpuDot *d, IrValue *p) {
    uint32_t lanes[GPU_LANE_BITS_MAX] = {0}, warps[LAYOUT_MAX_BITS] = {0}, all = 0;
    for (uint32_t i = 2; i < d->c.dim_bits[LAYOUT_WARP]; i++) {
        uint32_t sum[IR_MAX_RANK], coords[IR_MAX_RANK];
        layout_coords(&d->c, layout_basis(&d->c, LAYOUT_WARP, i), sum);
        coords_of(f, sum, 0, coords);
        all |= warps[i] = offset_of(f, coords);
    }
    if (!all) return p;
    IrValue *by = threads_linear(t, lanes, 5, warps, d->c.dim_bits[LAYOUT_WARP]);
    return threads_at(t, p, threads_from_lane(t, by, threads_i32(t, 0)));
}

// Does the unit read the factor from this memory?
static bool reads(WgmmaFactor *f, const GpuDot *d, const Layout *memory) {
    f->layout = *memory;
    return layout_invert(memory, f->inverse) &&
           layout_descriptor(memory, f->operand, side_of(d, f->operand), d->product.bits, &f->how);
}

static IrValue *cast_to(Threads *t, IrValue *x, Dtype elem) {
    return x->type->elem == elem ? x : ir_cast(&t->b, x, elem, false);
}

// The value in registers.
static IrValue *value_of(Threads *t, const IrOp *op, uint32_t i) {
    ThreadsTrip *trip = threads_read(t, ir_operand(op, i));
    return trip ? threads_trip_load_all(t, trip) : threads_operand(t, op, i);
}

// Neighbours along the last axis but one.
static bool transposed_box(const IrType *type, uint32_t bits, Layout *box) {
    uint32_t shape[IR_MAX_RANK], order[IR_MAX_RANK], rank = type->rank;
    for (uint32_t i = 0; i < rank; i++) order[i] = i;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    for (uint32_t i = 0; i < rank; i++) shape[i] = type->shape[order[i]];
    if (!layout_box(rank, shape, bits, box)) return false;
    *box = layout_permute(box, order);
    return true;
}

static void store_factor(Threads *t, WgmmaFactor *f, const GpuDot *d, const IrType *type,
                         IrValue *x) {
    Layout box;
    bool fits = layout_box(type->rank, type->shape, d->product.bits, &box) && reads(f, d, &box);
    if (!fits) fits = transposed_box(type, d->product.bits, &box) && reads(f, d, &box);
    CHECK(fits, "a factor that wgmma can't read");
    f->x = threads_shared(t, x->type->elem, type->count);
    threads_trip_store(t, f->x, x, type->layout, &box);
    f->in_memory = f->stored = true;
}

static WgmmaFactor factor_of(Threads *t, const IrOp *op, const GpuDot *d, LayoutOperand operand) {
    uint32_t i = operand == LAYOUT_OPERAND_A ? 0 : 1;
    const IrValue *v = ir_operand(op, i), *place = threads_read_place(v);
    Dtype elem = i ? d->b_elem : d->a_elem;
    WgmmaFactor f = {.operand = operand};
    if (place && v->type->elem == elem && reads(&f, d, place->type->layout)) {
        f.x = threads_value(t, place);
        f.in_memory = true;
    } else {
        IrValue *x = cast_to(t, value_of(t, op, i), elem);
        if (operand == LAYOUT_OPERAND_A) {
            f.layout = d->a;
            f.x = threads_move(t, x, v->type->layout, &d->a);
        } else {
            store_factor(t, &f, d, v->type, x);
        }
    }
    if (f.in_memory) f.x = of_group(t, &f, d, f.x);
    return f;
}

// ---- products -----------------------------------------------------------------------------------

// The registers of a's fragment that begins at this row and k.
static IrValue *fragment_of(Threads *t, const WgmmaFactor *f, const uint32_t *coords, Dtype elem) {
    uint32_t regs[32], count = 4 * 32 / dtype_bits(elem);
    uint32_t element = layout_element(&f->layout, coords);
    for (uint32_t at = 0; at < layout_size(&f->layout, LAYOUT_REG); at += count) {
        if (layout_apply(&f->layout, layout_at(at, 0, 0)) != element) continue;
        for (uint32_t i = 0; i < count; i++) regs[i] = at + i;
        return threads_pick(t, f->x, count, regs);
    }
    UNREACHABLE("no fragment begins with element %u", element);
}

static IrValue *multiply(Threads *t, const GpuDot *d, const WgmmaFactor *f, const uint32_t *sum,
                         uint32_t k, IrValue *acc, const IrType *type) {
    IrValue *operands[3] = {NULL, NULL, acc};
    int64_t factors[10] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t coords[IR_MAX_RANK];
        coords_of(&f[i], sum, k, coords);
        operands[i] = f[i].in_memory ? f[i].x : fragment_of(t, &f[i], coords, d->a_elem);
        if (!f[i].in_memory) continue;
        const LayoutDescriptor *how = &f[i].how;
        const int64_t fields[5] = {how->swizzle, how->sbo, how->lbo, how->transposed,
                                   offset_of(&f[i], coords)};
        for (uint32_t n = 0; n < 5; n++) factors[5 * i + n] = fields[n];
    }
    IrOp *op = ir_op(&t->b, IR_THREAD_WGMMA, 3, operands, 1, &type, 0, NULL);
    const MatrixShape *p = &d->product;
    ir_attr_set_ints(op, IR_ATTR_SELECT, 4, (int64_t[]){p->m, p->n, p->k, p->unit});
    ir_attr_set_ints(op, IR_ATTR_FACTORS, 10, factors);
    return ir_result(op, 0);
}

static IrValue *wait_for(Threads *t, const WgmmaFactor *f, IrValue *sums, int64_t ahead) {
    IrValue *operands[3] = {sums, f[0].x, f[1].x};
    IrOp *op = ir_op(&t->b, IR_THREAD_WGMMA_WAIT, 3, operands, 1, &sums->type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_COUNT, ahead);
    return ir_result(op, 0);
}

// Sums that a loop carries, or that the step before left in flight, are in their registers.
static bool is_computed(const IrValue *acc) {
    const IrOp *op = acc->def;
    return op && (op->code != IR_THREAD_WGMMA_WAIT || !ir_attr_int(op, IR_ATTR_COUNT));
}

IrValue *threads_dot_wgmma(Threads *t, const IrOp *op, const GpuDot *d, IrValue *acc) {
    WgmmaFactor f[2] = {factor_of(t, op, d, LAYOUT_OPERAND_A),
                        factor_of(t, op, d, LAYOUT_OPERAND_B)};
    bool stored = f[0].stored || f[1].stored;
    if (stored) threads_barrier(t);
    uint32_t size = d->product.n / 2, count = layout_size(&d->c, LAYOUT_REG) / size;
    uint32_t *regs = arena_new(t->scratch, uint32_t, size);
    IrValue **sums = arena_new(t->scratch, IrValue *, count);
    const IrType *type = threads_vector(t, d->sum, size), *a = ir_operand(op, 0)->type;
    if (acc && count > 1 && is_computed(acc))
        acc = ir_result(ir_op(&t->b, IR_THREAD_WGMMA_BEGIN, 1, &acc, 1, &acc->type, 0, NULL), 0);
    for (uint32_t i = 0; i < count && acc; i++) {
        for (uint32_t r = 0; r < size; r++) regs[r] = i * size + r;
        sums[i] = threads_pick(t, acc, size, regs);
    }
    for (uint32_t k = 0; k < a->shape[a->rank - 1]; k += d->product.k)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at[IR_MAX_RANK];
            layout_coords(&d->c, layout_apply(&d->c, layout_at(i * size, 0, 0)), at);
            sums[i] = multiply(t, d, f, at, k, sums[i], type);
        }
    ir_op(&t->b, IR_THREAD_WGMMA_COMMIT, 0, NULL, 0, NULL, 0, NULL);
    IrValue *r = wait_for(t, f, threads_pack(t, count, sums), ir_attr_int(op, IR_ATTR_AHEAD));
    if (stored) threads_barrier(t);
    return r;
}
