// thread.mma and thread.wgmma: the fragments of lanes are assembled by their layouts, multiplied,
// and split again. Sums of floats are computed in double, starting from the accumulator, in the
// order of k, and rounded once; docs/numerics.md says how far a machine may differ.
#include "ir/analysis/layout_infer.h"
#include "ir/interp/internal.h"

enum { LANES_MAX = 64 };

typedef struct Fragments {
    Layout layout;
    uint32_t operand;
    uint32_t lanes;
    InterpSlot *slots[LANES_MAX];
} Fragments;

static Fragments fragments_of(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t first,
                              uint32_t operand, MatrixShape shape) {
    Fragments f = {.operand = operand};
    f.layout = layout_fragment(shape, (LayoutOperand)operand);
    f.lanes = layout_size(&f.layout, LAYOUT_LANE);
    for (uint32_t lane = 0; lane < f.lanes; lane++)
        f.slots[lane] = operand_slot(run, frame_thread(frame, first + lane), op, operand);
    return f;
}

// Elements in row-major order.
static uint64_t *gathered(InterpRun *run, const Fragments *f) {
    uint64_t *all = arena_new(run->scratch, uint64_t, layout_elements(&f->layout));
    for (uint32_t lane = 0; lane < f->lanes; lane++)
        for (uint32_t r = 0; r < f->slots[lane]->count; r++)
            all[layout_apply(&f->layout, layout_at(r, lane, 0))] = slot_get(f->slots[lane], r);
    return all;
}

typedef struct MmaProduct {
    const uint64_t *a, *b, *c;
    Dtype a_type, b_type, c_type;
    MatrixShape shape;
} MmaProduct;

static uint64_t whole_sum(const MmaProduct *p, uint32_t i, uint32_t j) {
    uint64_t sum = p->c[i * p->shape.n + j];
    for (uint32_t k = 0; k < p->shape.k; k++)
        sum += (uint64_t)dtype_to_i64(p->a_type, p->a[i * p->shape.k + k]) *
               (uint64_t)dtype_to_i64(p->b_type, p->b[k * p->shape.n + j]);
    return sum & UINT32_MAX;
}

// For tf32 (and xf32, which has twice the factors) the instruction reads the upper 19 bits.
static double factor(const MmaProduct *p, Dtype t, uint64_t bits) {
    bool exact = p->shape.unit == MATRIX_UNIT_MFMA && p->shape.m * p->shape.k == 64;
    if (t == DTYPE_F32 && !exact) bits &= ~UINT64_C(0x1fff);
    return dtype_to_double(t, bits);
}

static uint64_t float_sum(const MmaProduct *p, uint32_t i, uint32_t j) {
    double sum = dtype_to_double(p->c_type, p->c[i * p->shape.n + j]);
    for (uint32_t k = 0; k < p->shape.k; k++) {
        double a = factor(p, p->a_type, p->a[i * p->shape.k + k]);
        sum = fma(a, factor(p, p->b_type, p->b[k * p->shape.n + j]), sum);
    }
    return dtype_from_double(p->c_type, isnan(sum) ? (double)NAN : sum, true);
}

static void warp_product(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t first) {
    Dtype a_type = ir_operand(op, 0)->type->elem;
    MatrixShape shape = ir_mma_shape(op);
    Fragments f[3];
    for (uint32_t i = 0; i < 3; i++) f[i] = fragments_of(run, frame, op, first, i, shape);
    MmaProduct p = {gathered(run, &f[0]),
                    gathered(run, &f[1]),
                    gathered(run, &f[2]),
                    a_type,
                    ir_operand(op, 1)->type->elem,
                    op->results[0].type->elem,
                    shape};
    bool whole = dtype_is(p.c_type, DTYPE_CLASS_INT);
    for (uint32_t lane = 0; lane < f[2].lanes; lane++) {
        InterpSlot *r = result_slot(run, frame_thread(frame, first + lane), op, 0);
        for (uint32_t i = 0; i < r->count; i++) {
            uint32_t e = layout_apply(&f[2].layout, layout_at(i, lane, 0));
            uint32_t row = e / shape.n, column = e % shape.n;
            slot_put(r, i, whole ? whole_sum(&p, row, column) : float_sum(&p, row, column));
        }
    }
}

void thread_mma(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    uint32_t lanes = ir_lane_count(frame->func);
    for (uint32_t first = 0; first + lanes <= frame_threads(frame); first += lanes)
        warp_product(run, frame, op, first);
}

// ---- four warps together ------------------------------------------------------------------------

enum { GROUP = 128 };

// A factor that begins at the pointer of the group's first thread, read by its descriptor.
static uint64_t *read_factor(InterpRun *run, InterpFrame *first, const IrOp *op, uint32_t operand,
                             MatrixShape shape) {
    enum { FIELDS = 5 };
    const int64_t *fields = ir_attr(op, IR_ATTR_FACTORS)->u.ints.items + (size_t)FIELDS * operand;
    LayoutDescriptor d = {(uint32_t)fields[0], (uint32_t)fields[2], (uint32_t)fields[1],
                          fields[3] != 0};
    InterpPlace p = slot_place(operand_slot(run, first, op, operand), 0);
    Dtype elem = ir_operand(op, operand)->type->elem;
    uint64_t base = run->interp->buffers.data[p.origin].low;
    uint32_t start = (uint32_t)(p.address - base) + (uint32_t)fields[4] * shape.bits / 8;
    uint32_t side = operand ? shape.n : shape.m;
    uint64_t *all = arena_new(run->scratch, uint64_t, (size_t)side * shape.k);
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t k = 0; k < shape.k; k++) {
            uint32_t at = layout_descriptor_at(&d, start, i, k, shape.bits);
            all[operand ? k * shape.n + i : i * shape.k + k] = memory_read(elem, base + at);
        }
    return all;
}

static uint64_t *group_values(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t first,
                              uint32_t operand, const Layout *l) {
    uint64_t *all = arena_new(run->scratch, uint64_t, layout_elements(l));
    for (uint32_t t = 0; t < GROUP; t++) {
        const InterpSlot *x = operand_slot(run, frame_thread(frame, first + t), op, operand);
        for (uint32_t r = 0; x && r < x->count; r++)
            all[layout_apply(l, layout_at(r, t % 32, t / 32))] = slot_get(x, r);
    }
    return all;
}

static void group_product(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t first) {
    MatrixShape shape = ir_mma_shape(op);
    Layout a = layout_wgmma_a(shape.bits), sum = layout_wgmma(shape.n);
    bool in_memory = ir_operand(op, 0)->type->kind == IR_PTR;
    InterpFrame *begin = frame_thread(frame, first);
    MmaProduct p = {in_memory ? read_factor(run, begin, op, 0, shape)
                              : group_values(run, frame, op, first, 0, &a),
                    read_factor(run, begin, op, 1, shape),
                    group_values(run, frame, op, first, 2, &sum),
                    ir_operand(op, 0)->type->elem,
                    ir_operand(op, 1)->type->elem,
                    op->results[0].type->elem,
                    shape};
    bool whole = dtype_is(p.c_type, DTYPE_CLASS_INT);
    for (uint32_t t = 0; t < GROUP; t++) {
        InterpSlot *r = result_slot(run, frame_thread(frame, first + t), op, 0);
        for (uint32_t i = 0; i < r->count; i++) {
            uint32_t e = layout_apply(&sum, layout_at(i, t % 32, t / 32));
            slot_put(r, i, (whole ? whole_sum : float_sum)(&p, e / shape.n, e % shape.n));
        }
    }
}

void thread_wgmma(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    for (uint32_t first = 0; first + GROUP <= frame_threads(frame); first += GROUP)
        group_product(run, frame, op, first);
}
