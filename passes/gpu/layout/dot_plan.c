// Products: which instruction is used, and how its operands are distributed.
#include "passes/gpu/layout/dot_plan.h"

#include "base/os/os.h"
#include "passes/gpu/tuning.h"

// ---- the instruction ----------------------------------------------------------------------------

// The sums have the result's type if the unit has such sums, else f32, from which narrow results
// are cast. False for f64, which no unit sums up for narrow factors.
static bool with_factors(GpuDot *d, Dtype a, Dtype b, Dtype result, uint32_t k,
                         const Machine *machine) {
    bool widens = result == DTYPE_F16 || result == DTYPE_F32;
    d->sum = result;
    const MatrixOp *op = matrix_choose(machine->chip, a, b, result, d->exact, k);
    if (!op && widens && !dtype_is(a, DTYPE_CLASS_INT)) {
        d->sum = DTYPE_F32;
        op = matrix_choose(machine->chip, a, b, DTYPE_F32, d->exact, k);
    }
    if (op) d->product = op->shape;
    return d->matrix = op != NULL;
}

static bool with_factor(GpuDot *d, Dtype factor, Dtype result, uint32_t k, const Machine *machine) {
    return with_factors(d, factor, factor, result, k, machine);
}

static bool with_all_bits(GpuDot *d, Dtype result, uint32_t k, const Machine *machine) {
    d->exact = true;
    if (with_factor(d, DTYPE_F32, result, k, machine)) return true;
    return d->exact = false;
}

// For f32: with all bits, with those of tf32, or in parts. Three products of parts of tf32 are not
// cheaper than one of all bits.
static bool choose_single(GpuDot *d, IrPrecision precision, Dtype result, uint32_t k,
                          const Machine *machine) {
    bool whole = precision == IR_PRECISION_IEEE || precision == IR_PRECISION_TF32X3;
    if (whole && with_all_bits(d, result, k, machine)) return true;
    if (precision == IR_PRECISION_IEEE) return false;
    d->split = precision != IR_PRECISION_TF32;
    d->a_elem = d->b_elem = precision == IR_PRECISION_BF16X3 ? DTYPE_BF16 : DTYPE_F32;
    if (with_factor(d, d->a_elem, result, k, machine)) return true;
    d->split = false;
    d->a_elem = d->b_elem = DTYPE_F32;
    return with_all_bits(d, result, k, machine);
}

// Sums of f16 are computed in f32; factors of fp8 are cast to f16, which is exact.
static void choose_plain(GpuDot *d, Dtype a, Dtype b, Dtype result, uint32_t k,
                         const Machine *machine) {
    d->sum = result == DTYPE_F16 ? DTYPE_F32 : result;
    d->a_elem = dtype_is(a, DTYPE_CLASS_FP8) ? DTYPE_F16 : a;
    d->b_elem = dtype_is(b, DTYPE_CLASS_FP8) ? DTYPE_F16 : b;
    bool pairs = machine->f16_dot && d->a_elem == DTYPE_F16 && d->sum == DTYPE_F32 && k > 1;
    d->group = pairs ? 2 : 1;
}

static void choose(GpuDot *d, const IrOp *op, const Machine *machine) {
    const IrType *ta = ir_operand(op, 0)->type;
    Dtype a = ta->elem, b = ir_operand(op, 1)->type->elem, result = op->results[0].type->elem;
    uint32_t k = ta->shape[ta->rank - 1];
    d->a_elem = a;
    d->b_elem = b;
    IrPrecision precision = (IrPrecision)ir_attr_int(op, IR_ATTR_PRECISION);
    bool fp8 = dtype_is(a, DTYPE_CLASS_FP8);
    bool too_short = fp8 && precision == IR_PRECISION_IEEE && machine->short_sums;
    if (a == DTYPE_F32) {
        if (choose_single(d, precision, result, k, machine)) return;
    } else if (!too_short && with_factors(d, a, b, result, k, machine)) {
        return;
    }
    if (fp8) {
        d->a_elem = d->b_elem = DTYPE_F16;
        Dtype sum = result == DTYPE_F16 ? DTYPE_F32 : result;
        if (with_factor(d, DTYPE_F16, sum, k, machine)) return;
    }
    choose_plain(d, a, b, result, k, machine);
}

// ---- warps --------------------------------------------------------------------------------------

typedef struct ProductWalk {
    const IrValue *seen[256];
    uint32_t count;
} ProductWalk;

// Is the value a product, changed elementwise at most? False as well if that is hard to decide.
static bool is_of_product(ProductWalk *w, const IrValue *v) {
    if (!ir_value_is_tile(v) || !v->def) return false;
    if (v->def->code == IR_DOT) return true;
    if (layout_rule(v->def) != LAYOUT_RULE_SAME && v->def->code != IR_GPU_CONVERT) return false;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->seen[i] == v) return false;
    if (w->count == sizeof w->seen / sizeof *w->seen) return false;
    w->seen[w->count++] = v;
    for (uint32_t i = 0; i < v->def->operand_count; i++)
        if (is_of_product(w, ir_operand(v->def, i))) return true;
    return false;
}

// For products that follow one another in a block, the rows stay with their warp: the sum of one is
// the factor of the next without a conversion.
static bool keeps_rows(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        ProductWalk walk = {.count = 0};
        if (op->code == IR_DOT && is_of_product(&walk, ir_operand(op, 0))) return true;
    }
    return false;
}

// Batches first, then squares; remaining warps replicate.
static void share_warps(uint32_t warps, uint32_t rank, const uint32_t *shape, MatrixShape step,
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

static Layout fragment_over(const IrType *type, MatrixShape product, LayoutOperand operand,
                            uint32_t bits, const int8_t *axes) {
    Layout one = layout_fragment(product, operand);
    if (type->rank == 3) one = layout_expand(&one, 0);
    int8_t own[LAYOUT_MAX_BITS];  // of the warps beyond those that execute an instruction
    int8_t inner = (int8_t)(operand == LAYOUT_OPERAND_A ? type->rank - 1 : type->rank - 2);
    for (uint32_t i = 0; i < bits; i++)
        own[i] = operand != LAYOUT_OPERAND_C && axes[i] == inner ? -1 : axes[i];
    return layout_tile(&one, type->shape, bits, own, NULL, NULL);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Four by four elements per lane if there are enough, so that each element that is read is used
// often.
static Layout plain_layout(const IrType *type, GpuThreads threads) {
    uint32_t m = type->rank - 2, n = type->rank - 1, total = gpu_thread_count(threads);
    uint32_t share = type->count > total ? type->count / total : 1;
    LayoutBlocked b = {.rank = type->rank};
    for (uint32_t d = 0; d < type->rank; d++) {
        b.shape[d] = type->shape[d];
        b.order[d] = (uint8_t)(type->rank - 1 - d);
        b.elements[d] = b.lanes[d] = b.warps[d] = 1;
    }
    b.elements[n] = least(least(TUNE_DOT_SIDE, share), type->shape[n]);
    b.elements[m] = least(least(TUNE_DOT_SIDE, share / b.elements[n]), type->shape[m]);
    b.lanes[n] = least(TUNE_DOT_LANES, type->shape[n] / b.elements[n]);
    b.lanes[m] = least(threads.lanes / b.lanes[n], type->shape[m] / b.elements[m]);
    b.lanes[n] *= threads.lanes / (b.lanes[n] * b.lanes[m]);  // a narrow tile: more elements per
                                                              // lane, or replicas
    MatrixShape step = {.m = b.elements[m] * b.lanes[m], .n = b.elements[n] * b.lanes[n]};
    int8_t axes[LAYOUT_MAX_BITS];
    share_warps(threads.warps, type->rank, type->shape, step, false, axes);
    for (uint32_t bit = 0; threads.warps >> (bit + 1); bit++)
        b.warps[axes[bit] < 0 ? n : (uint32_t)axes[bit]] *= 2;
    return layout_blocked(&b);
}

// A warp's part of an axis.
static uint32_t share_along(uint32_t warps, const int8_t *axes, const uint32_t *shape, uint32_t d) {
    uint32_t share = shape[d];
    for (uint32_t bit = 0; warps >> (bit + 1); bit++) share >>= axes[bit] == (int8_t)d;
    return share;
}

// MFMA with twice the rows and columns, if a warp has that many: half as many instructions, and
// each needs less of the factors.
static MatrixShape enlarged(const GpuDot *d, const IrType *c, uint32_t warps, bool rows_first,
                            const Chip *chip) {
    enum { SIDE = 32 };
    MatrixShape p = d->product, large = {p.unit, SIDE, SIDE, p.k / 2, p.bits};
    if (!matrix_find(chip, large, d->a_elem, d->b_elem, d->sum)) return p;
    int8_t axes[LAYOUT_MAX_BITS];
    share_warps(warps, c->rank, c->shape, p, rows_first, axes);
    bool fits = share_along(warps, axes, c->shape, c->rank - 2u) >= SIDE &&
                share_along(warps, axes, c->shape, c->rank - 1u) >= SIDE;
    return fits ? large : p;
}

// ---- four warps together ------------------------------------------------------------------------

// The sums cannot be spilled while they are in flight, and ptxas refuses an instruction whose sums
// leave too few registers for the rest.
static bool sums_fit(const IrType *c, GpuThreads threads) {
    enum { FILE = 65536, MOST = 255, REST = 32 };
    uint32_t own = least(FILE / gpu_thread_count(threads), MOST);
    return c->count / gpu_thread_count(threads) + REST <= own;
}

static bool is_loaded(const IrValue *v) {
    while (v->def && v->def->code == IR_PERMUTE) v = ir_operand(v->def, 0);
    return v->def && (v->def->code == IR_VIEW_LOAD || v->def->code == IR_LOAD);
}

static Dtype wide_sum(const GpuDot *d) {
    return dtype_is(d->sum, DTYPE_CLASS_INT) ? DTYPE_I32 : DTYPE_F32;
}

// Are neighbours in memory along K, for both factors?
static bool lies_along_k(const IrOp *op) {
    const IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1);
    bool transposed = b->def && b->def->code == IR_PERMUTE && is_loaded(ir_operand(b->def, 0));
    return transposed && !(a->def && a->def->code == IR_PERMUTE);
}

// The instruction of four warps for these types; NULL: the machine has none.
static const MatrixOp *of_four_warps(const GpuDot *d, const Machine *machine) {
    if (!machine->wgmma || !d->matrix || d->exact || d->split || d->sum == DTYPE_F64) return NULL;
    return matrix_choose_wgmma(machine->chip, d->a_elem, d->b_elem, wide_sum(d));
}

// wgmma takes 64 rows at a time, and factors of 32 bytes along K and more along the neighbours.
// Smaller tiles would waste more than it gains.
const char *gpu_wgmma_missing(const IrOp *op, const GpuDot *d, const Machine *machine) {
    enum { GROUP = 4, N_MIN = 16 };
    const IrType *c = op->results[0].type, *a = ir_operand(op, 0)->type;
    const MatrixOp *row = of_four_warps(d, machine);
    GpuThreads threads = gpu_threads(op->block->func);
    if (!row) return NULL;
    if (threads.warps < GROUP) return "there are fewer than 4 warps";
    if (c->shape[c->rank - 2] < row->shape.m) return "the tile has fewer than 64 rows";
    if (c->shape[c->rank - 1] < N_MIN) return "the tile has fewer than 16 columns";
    if (a->shape[a->rank - 1] < row->shape.k) return "the tile has less than 32 bytes along K";
    if (!sums_fit(c, threads)) return "the sums take too many registers of each thread";
    if (row->shape.bits == 8 && !lies_along_k(op)) return "K is not along the rows of both factors";
    return NULL;
}

static bool suits_wgmma(const GpuDot *d, const IrOp *op, const Machine *machine) {
    return of_four_warps(d, machine) && !gpu_wgmma_missing(op, d, machine);
}

// Groups of warps share rows first: each instruction then reads all of B's columns for its rows.
static MatrixShape by_wgmma(GpuDot *d, const IrType *c, uint32_t warps, const Chip *chip,
                            int8_t *axes) {
    enum { N_MAX = 256 };
    d->sum = wide_sum(d);
    MatrixShape p = matrix_choose_wgmma(chip, d->a_elem, d->b_elem, d->sum)->shape;
    p.n = 2 * p.n;
    share_warps(warps / 4, c->rank, c->shape, p, true, axes);
    p.n = least(share_along(warps / 4, axes, c->shape, c->rank - 1u), N_MAX);
    return p;
}

// ---- on the op ----------------------------------------------------------------------------------

static IrPlan plan_kind(const GpuDot *d) {
    if (d->matrix) return d->exact ? IR_PLAN_EXACT : d->split ? IR_PLAN_SPLIT : IR_PLAN_MATRIX;
    return d->group > 1 ? IR_PLAN_PAIRS : IR_PLAN_FMA;
}

void gpu_dot_plan(IrOp *op, const Machine *machine) {
    GpuDot d = {0};
    choose(&d, op, machine);
    ir_attr_set_int(op, IR_ATTR_PLAN, plan_kind(&d));
    ir_attr_set_ints(op, IR_ATTR_ELEMS, 3, (int64_t[]){d.a_elem, d.b_elem, d.sum});
    if (!d.matrix) return;
    const IrType *c = op->results[0].type;
    uint32_t warps = gpu_threads(op->block->func).warps, bits = (uint32_t)__builtin_ctz(warps);
    int8_t axes[LAYOUT_MAX_BITS];
    int64_t numbers[LAYOUT_MAX_BITS];
    bool rows_first = keeps_rows(op->block);
    MatrixShape p;
    if (suits_wgmma(&d, op, machine)) {
        p = by_wgmma(&d, c, warps, machine->chip, axes);
        ir_attr_set_ints(op, IR_ATTR_ELEMS, 3, (int64_t[]){d.a_elem, d.b_elem, d.sum});
        bits -= 2;
    } else {
        p = enlarged(&d, c, warps, rows_first, machine->chip);
        share_warps(warps, c->rank, c->shape, p, rows_first, axes);
    }
    for (uint32_t i = 0; i < bits; i++) numbers[i] = axes[i];
    ir_attr_set_ints(op, IR_ATTR_INSTRUCTION, 4, (int64_t[]){p.m, p.n, p.k, p.unit});
    ir_attr_set_ints(op, IR_ATTR_WARPS, bits, numbers);
}

static void read_matrix(GpuDot *d, const IrOp *op) {
    const int64_t *p = ir_attr(op, IR_ATTR_INSTRUCTION)->u.ints.items;
    const IrAttr *numbers = ir_attr(op, IR_ATTR_WARPS);
    uint32_t bits = numbers->u.ints.count;
    int8_t axes[LAYOUT_MAX_BITS];
    for (uint32_t i = 0; i < bits; i++) axes[i] = (int8_t)numbers->u.ints.items[i];
    d->product = (MatrixShape){(MatrixUnit)p[3], (uint32_t)p[0], (uint32_t)p[1], (uint32_t)p[2],
                               dtype_bits(d->a_elem)};
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type;
    d->a = fragment_over(a, d->product, LAYOUT_OPERAND_A, bits, axes);
    d->b = fragment_over(b, d->product, LAYOUT_OPERAND_B, bits, axes);
    d->c = fragment_over(op->results[0].type, d->product, LAYOUT_OPERAND_C, bits, axes);
}

GpuDot gpu_dot_of(const IrOp *op) {
    IrPlan plan = (IrPlan)ir_attr_int(op, IR_ATTR_PLAN);
    const IrAttr *elems = ir_attr(op, IR_ATTR_ELEMS);
    CHECK(plan != IR_PLAN_NONE, "a dot of the gpu level has no plan");
    GpuDot d = {.matrix = plan >= IR_PLAN_MATRIX,
                .exact = plan == IR_PLAN_EXACT,
                .split = plan == IR_PLAN_SPLIT,
                .a_elem = (Dtype)elems->u.ints.items[0],
                .b_elem = (Dtype)elems->u.ints.items[1],
                .sum = (Dtype)elems->u.ints.items[2]};
    if (d.matrix) {
        read_matrix(&d, op);
    } else {
        d.group = plan == IR_PLAN_PAIRS ? 2 : 1;
        d.c = plain_layout(op->results[0].type, gpu_threads(op->block->func));
    }
    return d;
}

Layout gpu_dot_layout(const IrOp *op) { return gpu_dot_of(op).c; }

GpuDepth gpu_dot_depth(const IrOp *op, const Machine *machine) {
    GpuDot d = gpu_dot_of(op);
    bool transposed = machine->matrix_load && d.product.bits == 16;
    if (!d.matrix || d.product.bits >= 32 || transposed) return (GpuDepth){1, 0};
    if (machine->matrix_load) return (GpuDepth){4, 0};
    GpuDepth deep = {.elements = 4};
    Layout one = layout_fragment(d.product, LAYOUT_OPERAND_B);
    for (uint32_t i = 0; i < one.dim_bits[LAYOUT_LANE]; i++) {
        uint32_t coords[IR_MAX_RANK];
        layout_coords(&one, layout_basis(&one, LAYOUT_LANE, i), coords);
        deep.late |= coords[0];
    }
    return deep;
}

// ---- operands -----------------------------------------------------------------------------------

// Do the fragments fit in few enough registers?
static bool fits_registers(const IrType *type, const Layout *l) {
    return layout_size(l, LAYOUT_REG) * ir_elem_size(type) / 4 <= TUNE_DOT_REGISTERS;
}

// A factor that is computed outside of the product's loop is converted to fragments once, where it
// is computed.
static void convert_where_made(IrOp *op, uint32_t i, const Layout *wanted) {
    IrValue *v = ir_operand(op, i);
    IrBlock *block = v->def ? v->def->block : v->block;
    if (!ir_value_is_tile(v) || !block || block == op->block) return;
    if (layout_equal(v->type->layout, wanted) || !fits_registers(v->type, wanted)) return;
    IrBuilder b = ir_builder_at_end(block);
    b.before = v->def ? v->def->next : block->first;
    b.span = op->span;
    const IrType *type = ir_with_layout(b.module, v->type, wanted);
    ir_set_operand(op, i, ir_result(ir_op(&b, IR_GPU_CONVERT, 1, &v, 1, &type, 0, NULL), 0));
}

bool gpu_dot_by_wgmma(const IrOp *op) {
    const IrAttr *p = ir_attr(op, IR_ATTR_INSTRUCTION);
    return p->u.ints.count == 4 && p->u.ints.items[3] == MATRIX_UNIT_WGMMA;
}

bool gpu_factor_in_registers(const IrOp *op) {
    const IrValue *a = ir_operand(op, 0);
    if (!gpu_dot_by_wgmma(op) || is_loaded(a)) return false;
    GpuDot d = gpu_dot_of(op);
    return layout_conversion(a->type->layout, &d.a) <= LAYOUT_CONVERT_REGISTERS;
}

bool gpu_factor_memory(const IrUse *use, Layout *memory) {
    const IrOp *user = use->user;
    const IrType *type = use->value->type;
    if (user->code == IR_PERMUTE) {
        if (!user->results[0].uses) return false;
        for (const IrUse *of = user->results[0].uses; of; of = of->next) {
            Layout transposed;
            if (of->user->code != IR_DOT || !gpu_factor_memory(of, &transposed)) return false;
        }
    } else if (user->code != IR_DOT || use == &user->operands[2] || !gpu_dot_by_wgmma(user)) {
        return false;
    }
    return layout_box(type->rank, type->shape, dtype_bits(type->elem), memory);
}

// Factors of the same block stay as they are: the product moves them itself, step by step along K,
// so that only one step of them is in registers.
void gpu_fit_dot(IrOp *op) {
    GpuDot d = gpu_dot_of(op);
    if (!d.matrix) return;
    if (gpu_dot_by_wgmma(op)) {  // a load goes to memory, from where the unit reads it
        if (!is_loaded(ir_operand(op, 0))) convert_where_made(op, 0, &d.a);
        return;
    }
    convert_where_made(op, 0, &d.a);
    convert_where_made(op, 1, &d.b);
}
