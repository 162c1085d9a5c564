// Products: which instruction, how its operands are spread.
#include "passes/gpu/dot.h"

#include "base/os.h"

// ---- the instruction ----------------------------------------------------------------------------

typedef struct Form {
    Dtype factor;    // of either sign: I8; of either format: F8E4M3
    uint32_t least;  // architecture
    LayoutMma mma;
} Form;

// Of one factor: the better ones first.
static const Form forms[] = {
    {DTYPE_F16, 80, {16, 8, 16, 16}},  {DTYPE_F16, 75, {16, 8, 8, 16}},
    {DTYPE_BF16, 80, {16, 8, 16, 16}}, {DTYPE_BF16, 80, {16, 8, 8, 16}},
    {DTYPE_F32, 80, {16, 8, 8, 32}},   {DTYPE_F64, 80, {8, 8, 4, 64}},
    {DTYPE_I8, 80, {16, 8, 32, 8}},    {DTYPE_I8, 80, {16, 8, 16, 8}},
    {DTYPE_I8, 75, {8, 8, 16, 8}},     {DTYPE_F8E4M3, 89, {16, 8, 32, 8}},
};

static bool find_form(Dtype factor, uint32_t k, const Machine *machine, LayoutMma *mma) {
    if (machine->gpu.vendor != GPU_NVIDIA) return false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const Form *f = &forms[i];
        if (f->factor != factor || machine->gpu.number < f->least || k < f->mma.k) continue;
        *mma = f->mma;
        return true;
    }
    return false;
}

uint32_t gpu_dot_least_k(Dtype factor, const Machine *machine) {
    uint32_t least = 0;
    if (machine->gpu.vendor != GPU_NVIDIA) return 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const Form *f = &forms[i];
        if (f->factor != factor || machine->gpu.number < f->least) continue;
        if (!least || f->mma.k < least) least = f->mma.k;
    }
    return least;
}

static bool is_ocp8(Dtype t) { return t == DTYPE_F8E4M3 || t == DTYPE_F8E5M2; }

// The sum that the unit has of such factors, where the result is to be of this type. Of f64, which
// no unit adds up for narrow factors: false.
static bool sum_of(Dtype factor, Dtype result, Dtype *sum) {
    *sum = result;
    if (factor == DTYPE_I8 || factor == DTYPE_F64) return true;
    if (result == DTYPE_F16 && factor == DTYPE_F16) return true;
    *sum = DTYPE_F32;
    return result == DTYPE_F32 || result == DTYPE_F16;
}

static bool with_factor(GpuDot *d, Dtype factor, Dtype result, uint32_t k, const Machine *machine) {
    if (!sum_of(factor, result, &d->sum)) return false;
    return d->matrix = find_form(factor, k, machine, &d->mma);
}

// In f32 what is narrower; f16 exact in it is fp8.
static void choose_plain(GpuDot *d, Dtype a, Dtype b, Dtype result) {
    d->sum = result == DTYPE_F16 ? DTYPE_F32 : result;
    d->a_elem = dtype_is(a, DTYPE_CLASS_FP8) ? DTYPE_F16 : a;
    d->b_elem = dtype_is(b, DTYPE_CLASS_FP8) ? DTYPE_F16 : b;
}

static void choose(GpuDot *d, const IrOp *op, const Machine *machine) {
    const IrType *ta = ir_operand(op, 0)->type;
    Dtype a = ta->elem, b = ir_operand(op, 1)->type->elem, result = op->results[0].type->elem;
    int64_t precision = ir_attr_int(op, IR_ATTR_PRECISION);
    uint32_t k = ta->shape[ta->rank - 1];
    d->a_elem = a;
    d->b_elem = b;
    if (a == DTYPE_F16 || a == DTYPE_BF16 || a == DTYPE_F64) {
        if (with_factor(d, a, result, k, machine)) return;
    } else if (a == DTYPE_I8 || a == DTYPE_U8) {
        if (with_factor(d, DTYPE_I8, result, k, machine)) return;
    } else if (a == DTYPE_F32 && precision != IR_PRECISION_IEEE) {
        d->split = precision != IR_PRECISION_TF32;
        Dtype factor = precision == IR_PRECISION_BF16X3 ? DTYPE_BF16 : DTYPE_F32;
        d->a_elem = d->b_elem = factor;
        if (with_factor(d, factor, result, k, machine)) return;
        d->split = false;
    } else if (dtype_is(a, DTYPE_CLASS_FP8)) {
        if (is_ocp8(a) && with_factor(d, DTYPE_F8E4M3, result, k, machine)) return;
        d->a_elem = d->b_elem = DTYPE_F16;
        if (result != DTYPE_F16 && with_factor(d, DTYPE_F16, result, k, machine)) return;
        if (result == DTYPE_F16 && with_factor(d, DTYPE_F16, DTYPE_F32, k, machine)) return;
    }
    choose_plain(d, a, b, result);
}

// ---- warps --------------------------------------------------------------------------------------

typedef struct Walk {
    const IrValue *seen[256];
    uint32_t count;
} Walk;

// Is the value a product, changed elementwise at most? False, too, when that is hard to see.
static bool is_of_product(Walk *w, const IrValue *v) {
    if (!spread_is_tile(v) || !v->def) return false;
    if (v->def->code == IR_DOT) return true;
    if (spread_rule(v->def) != SPREAD_SAME && v->def->code != IR_GPU_CONVERT) return false;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->seen[i] == v) return false;
    if (w->count == sizeof w->seen / sizeof *w->seen) return false;
    w->seen[w->count++] = v;
    for (uint32_t i = 0; i < v->def->operand_count; i++)
        if (is_of_product(w, ir_operand(v->def, i))) return true;
    return false;
}

// Of products that follow one another in a block the rows stay with their warp: the sum of one is
// the factor of the next as it is.
static bool keeps_rows(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        Walk walk = {.count = 0};
        if (op->code == IR_DOT && is_of_product(&walk, ir_operand(op, 0))) return true;
    }
    return false;
}

// Batches first, then squares; what is left over replicates.
static void share_warps(uint32_t warps, uint32_t rank, const uint32_t *shape, LayoutMma step,
                        bool rows_first, int8_t *axes) {
    uint32_t batch = rank == 3 ? shape[0] : 1, m = shape[rank - 2], n = shape[rank - 1];
    for (uint32_t bit = 0; warps >> (bit + 1); bit++) {
        bool by_m = m > step.m, by_n = n > step.n;
        axes[bit] = -1;
        if (batch > 1) {
            axes[bit] = 0;
            batch /= 2;
        } else if (by_m && (rows_first || !by_n || m >= n)) {
            axes[bit] = (int8_t)(rank - 2);
            m /= 2;
        } else if (by_n) {
            axes[bit] = (int8_t)(rank - 1);
            n /= 2;
        }
    }
}

// ---- layouts ------------------------------------------------------------------------------------

static Layout fragment_over(const IrType *type, LayoutMma mma, LayoutOperand operand,
                            uint32_t warps, const int8_t *axes) {
    Layout one = layout_mma(mma, operand);
    if (type->rank == 3) one = layout_expand(&one, 0);
    uint32_t bits = (uint32_t)__builtin_ctz(warps);
    int8_t own[LAYOUT_MAX_BITS];
    int8_t inner = (int8_t)(operand == LAYOUT_OPERAND_A ? type->rank - 1 : type->rank - 2);
    for (uint32_t i = 0; i < bits; i++)
        own[i] = operand != LAYOUT_OPERAND_C && axes[i] == inner ? -1 : axes[i];
    return layout_tile(&one, type->shape, bits, own, NULL, NULL);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Four by four elements a lane where there are so many, so that each that is read is used often.
static Layout plain_layout(const IrType *type, uint32_t warps) {
    enum { SIDE = 4, LANES_ACROSS = 8 };
    uint32_t m = type->rank - 2, n = type->rank - 1, threads = GPU_LANES * warps;
    uint32_t share = type->count > threads ? type->count / threads : 1;
    LayoutBlocked b = {.rank = type->rank};
    for (uint32_t d = 0; d < type->rank; d++) {
        b.shape[d] = type->shape[d];
        b.order[d] = (uint8_t)(type->rank - 1 - d);
        b.elements[d] = b.lanes[d] = b.warps[d] = 1;
    }
    b.elements[n] = least(least(SIDE, share), type->shape[n]);
    b.elements[m] = least(least(SIDE, share / b.elements[n]), type->shape[m]);
    b.lanes[n] = least(LANES_ACROSS, type->shape[n] / b.elements[n]);
    b.lanes[m] = least(GPU_LANES / b.lanes[n], type->shape[m] / b.elements[m]);
    b.lanes[n] *= GPU_LANES / (b.lanes[n] * b.lanes[m]);  // a narrow tile: more, or replicated
    LayoutMma step = {.m = b.elements[m] * b.lanes[m], .n = b.elements[n] * b.lanes[n]};
    int8_t axes[LAYOUT_MAX_BITS];
    share_warps(warps, type->rank, type->shape, step, false, axes);
    for (uint32_t bit = 0; warps >> (bit + 1); bit++)
        b.warps[axes[bit] < 0 ? n : (uint32_t)axes[bit]] *= 2;
    return layout_blocked(&b);
}

GpuDot gpu_dot_plan(const IrOp *op, uint32_t warps, const Machine *machine) {
    GpuDot d = {0};
    choose(&d, op, machine);
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type;
    const IrType *c = op->results[0].type;
    if (!d.matrix) {
        d.c = plain_layout(c, warps);
        return d;
    }
    int8_t axes[LAYOUT_MAX_BITS];
    share_warps(warps, c->rank, c->shape, d.mma, keeps_rows(op->block), axes);
    d.a = fragment_over(a, d.mma, LAYOUT_OPERAND_A, warps, axes);
    d.b = fragment_over(b, d.mma, LAYOUT_OPERAND_B, warps, axes);
    d.c = fragment_over(c, d.mma, LAYOUT_OPERAND_C, warps, axes);
    return d;
}

Layout gpu_dot_layout(const IrOp *op, uint32_t warps, const Machine *machine) {
    return gpu_dot_plan(op, warps, machine).c;
}

uint32_t gpu_dot_depth(const IrOp *op, uint32_t warps, const Machine *machine) {
    GpuDot d = gpu_dot_plan(op, warps, machine);
    return d.matrix && d.mma.bits == 8 ? 4 : 1;
}

// ---- operands -----------------------------------------------------------------------------------

// As fragments in few enough registers?
static bool fits_registers(const IrType *type, const Layout *l) {
    enum { MOST = 64 };
    return layout_size(l, LAYOUT_REG) * ir_elem_size(type) / 4 <= MOST;
}

// What is made outside the loop that the product is in becomes fragments once, where it is made.
static void convert_where_made(IrOp *op, uint32_t i, const Layout *wanted) {
    IrValue *v = ir_operand(op, i);
    IrBlock *block = v->def ? v->def->block : v->block;
    if (!spread_is_tile(v) || !block || block == op->block) return;
    if (layout_equal(v->type->layout, wanted) || !fits_registers(v->type, wanted)) return;
    IrBuilder b = ir_builder_at_end(block);
    b.before = v->def ? v->def->next : block->first;
    b.span = op->span;
    const IrType *type = ir_with_layout(b.module, v->type, wanted);
    ir_set_operand(op, i, ir_result(ir_op(&b, IR_GPU_CONVERT, 1, &v, 1, &type, 0, NULL), 0));
}

// Factors of the same block stay as they are: the product moves them itself, step by step along K,
// so that no more than a step of them is in registers.
void gpu_fit_dot(IrOp *op, uint32_t warps, const Machine *machine) {
    GpuDot d = gpu_dot_plan(op, warps, machine);
    if (!d.matrix) return;
    convert_where_made(op, 0, &d.a);
    convert_where_made(op, 1, &d.b);
}

// ---- threads ------------------------------------------------------------------------------------

void threads_dot(Threads *t, const IrOp *op) {
    GpuDot d = gpu_dot_plan(op, (uint32_t)t->func->warps, t->machine);
    gpu_dot_remarks(t->remarks, op, &d, t->machine);
    const Layout *l = op->results[0].type->layout;
    Dtype result = op->results[0].type->elem;
    IrValue *acc = threads_operand(t, op, 2);
    if (acc) acc = threads_move(t, acc, l, &d.c);
    if (acc && result != d.sum) acc = ir_cast(&t->b, acc, d.sum, false);
    IrValue *r = d.matrix ? threads_dot_matrix(t, op, &d, acc) : threads_dot_plain(t, op, &d, acc);
    if (result != d.sum) r = ir_cast(&t->b, r, result, false);
    threads_define(t, op, 0, threads_move(t, r, &d.c, l));
}
