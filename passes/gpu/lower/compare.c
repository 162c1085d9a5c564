// Comparisons of integers. They are done in 32 bits if one side is known to fit, and once for
// registers whose elements cannot differ: x < n is the same for all x of an aligned group whose
// size divides n. If both sides are coordinates plus a part that all threads share (j + iota(64) <=
// i + iota(16), a causal mask), one difference is compared with a constant for each register.
#include "passes/gpu/lower/affine.h"
#include "passes/gpu/lower/threads.h"

// ---- 32 bits ------------------------------------------------------------------------------------

// Strictly inside: values beyond may then be clamped to 32 bits and are still beyond.
static bool fits(IrRange range) {
    return range.known && range.min > INT32_MIN && range.max < INT32_MAX;
}

static IrValue *like(Threads *t, const IrValue *x, int64_t value) {
    uint64_t all = UINT64_MAX >> (64 - dtype_bits(x->type->elem));
    return ir_const_bits(&t->b, x->type, (uint64_t)value & all);
}

static IrValue *narrowed(Threads *t, IrValue *x, IrRange range) {
    if (!range.known || range.max > INT32_MAX)
        x = ir_binary(&t->b, IR_MIN, x, like(t, x, INT32_MAX));
    if (!range.known || range.min < INT32_MIN)
        x = ir_binary(&t->b, IR_MAX, x, like(t, x, INT32_MIN));
    return ir_cast(&t->b, x, DTYPE_I32, false);
}

// ---- registers that cannot differ ---------------------------------------------------------------

// x < n and x >= n, in either order.
static bool agrees_in_groups(IrOpcode code, uint32_t x) {
    if (x == 0) return code == IR_LT || code == IR_GE;
    return code == IR_GT || code == IR_LE;
}

static bool is_flat(const IrValue *v, const IrRange *range, uint32_t axis) {
    return !v->type->rank || range->constant[axis] >= v->type->shape[axis];
}

uint32_t gpu_compare_run(const IrRanges *known, const IrOp *op, uint32_t axis) {
    IrRange ranges[2];
    for (uint32_t i = 0; i < 2; i++) {
        ranges[i] = ir_range_of(known, ir_operand(op, i));
        if (!ranges[i].known) return 1;
    }
    for (uint32_t x = 0; x < 2; x++) {
        const IrValue *v = ir_operand(op, x), *n = ir_operand(op, 1 - x);
        if (!is_flat(n, &ranges[1 - x], axis)) continue;
        if (is_flat(v, &ranges[x], axis)) return op->results[0].type->shape[axis];
        if (!agrees_in_groups(op->code, x)) continue;
        uint64_t all = ranges[x].contiguous[axis] | ranges[x].first[axis] | ranges[1 - x].divisor;
        uint64_t group = all & (0 - all);
        return group < v->type->shape[axis] ? (uint32_t)group : v->type->shape[axis];
    }
    return 1;
}

static bool same_group(const Layout *l, uint32_t a, uint32_t b, uint32_t axis, uint32_t group) {
    for (uint32_t d = 0; d < l->rank; d++) {
        uint32_t apart = threads_offset(l, a, d) ^ threads_offset(l, b, d);
        if (apart && (d != axis || apart >= group)) return false;
    }
    return true;
}

// For each register, the index of its group's first register among those first ones, which are
// counted and listed.
static uint32_t leaders_of(const Layout *l, uint32_t axis, uint32_t group, uint32_t *leaders,
                           uint32_t *place) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < layout_size(l, LAYOUT_REG); r++) {
        uint32_t k = 0;
        while (k < count && !same_group(l, leaders[k], r, axis, group)) k++;
        if (k == count) leaders[count++] = r;
        place[r] = k;
    }
    return count;
}

// ---- differences --------------------------------------------------------------------------------

// The difference of the scalars of both sides, in 32 bits: a value beyond 2^30 may be clamped to
// that, since constants and coordinates are far smaller.
static IrValue *scalars_apart(Threads *t, const GpuAffine *x, const GpuAffine *y) {
    const GpuAffine *lines[2] = {x, y};
    const int64_t most = INT64_C(1) << 30;
    IrValue *sum = NULL;
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < lines[k]->count; i++) {
            IrValue *v = threads_value(t, lines[k]->scalars[i]);
            if (v->type->elem != DTYPE_I64) v = ir_cast(&t->b, v, DTYPE_I64, false);
            if (!sum) sum = threads_i64(t, 0);
            bool minus = lines[k]->minus[i] != (k == 1);
            sum = ir_binary(&t->b, minus ? IR_SUB : IR_ADD, sum, v);
        }
    }
    if (!sum) return NULL;
    int64_t min = x->min - y->max, max = x->max - y->min;
    bool narrow = min >= INT32_MIN && max <= INT32_MAX;
    if (narrow) sum = ir_cast(&t->b, sum, DTYPE_I32, false);
    if (max > most) sum = ir_binary(&t->b, IR_MIN, sum, like(t, sum, most));
    if (min < -most) sum = ir_binary(&t->b, IR_MAX, sum, like(t, sum, -most));
    return narrow ? sum : ir_cast(&t->b, sum, DTYPE_I32, false);
}

static IrValue *coordinate(Threads *t, const Layout *l, const GpuAffine *line) {
    return line->axis >= 0 ? threads_coord(t, l, (uint32_t)line->axis) : NULL;
}

static int64_t constant_of(const Layout *l, const GpuAffine *line, uint32_t reg) {
    return line->number + (line->axis >= 0 ? threads_offset(l, reg, (uint32_t)line->axis) : 0);
}

static bool is_affine(const Threads *t, const IrOp *op, uint32_t side, const Layout *l,
                      GpuAffine *line) {
    const int64_t most = INT64_C(1) << 28;
    return gpu_affine(t->ranges, ir_operand(op, side), line) && line->number <= most &&
           line->number >= -most && (line->axis < 0 || threads_disjoint(l, (uint32_t)line->axis));
}

// These registers of the comparison of x + a with y + b, as one of x - y with b - a; NULL: it does
// not have this form, or this is not cheaper.
static IrValue *compared_apart(Threads *t, const IrOp *op, uint32_t count, const uint32_t *regs) {
    enum { FEW = 4 };
    const Layout *l = op->results[0].type->layout;
    GpuAffine x, y;
    if (!is_affine(t, op, 0, l, &x) || !is_affine(t, op, 1, l, &y) || (x.axis < 0 && y.axis < 0))
        return NULL;
    bool narrow = x.min - y.max >= INT32_MIN && x.max - y.min <= INT32_MAX;
    if (count < (narrow ? 2 : FEW)) return NULL;
    IrValue *apart = scalars_apart(t, &x, &y), *a = coordinate(t, l, &x), *b = coordinate(t, l, &y);
    IrValue *lanes = !b ? a : ir_binary(&t->b, IR_SUB, a ? a : threads_i32(t, 0), b);
    apart = apart ? ir_binary(&t->b, IR_ADD, lanes, apart) : lanes;
    IrValue **limits = arena_new(t->scratch, IrValue *, count);
    for (uint32_t i = 0; i < count; i++)
        limits[i] = threads_i32(t, constant_of(l, &y, regs[i]) - constant_of(l, &x, regs[i]));
    return ir_binary(&t->b, op->code, threads_splat(t, apart, count),
                     threads_pack(t, count, limits));
}

// ---- the op -------------------------------------------------------------------------------------

static IrValue *compared(Threads *t, const IrOp *op, IrValue **sides) {
    IrRange ranges[2];
    for (int i = 0; i < 2; i++) ranges[i] = ir_range_of(t->ranges, ir_operand(op, (uint32_t)i));
    bool wide = sides[0]->type->elem == DTYPE_I64 && (fits(ranges[0]) || fits(ranges[1]));
    for (int i = 0; i < 2 && wide; i++) sides[i] = narrowed(t, sides[i], ranges[i]);
    return ir_binary(&t->b, op->code, sides[0], sides[1]);
}

void threads_compare(Threads *t, const IrOp *op) {
    const IrType *type = op->results[0].type;
    IrValue *sides[2] = {threads_operand(t, op, 0), threads_operand(t, op, 1)};
    uint32_t axis = 0, group = 1;
    for (uint32_t d = 0; d < type->rank; d++) {
        uint32_t along = gpu_compare_run(t->ranges, op, d);
        if (along <= group) continue;
        group = along;
        axis = d;
    }
    uint32_t count = type->rank ? layout_size(type->layout, LAYOUT_REG) : 1, some = count;
    uint32_t *leaders = arena_new(t->scratch, uint32_t, count);
    uint32_t *place = arena_new(t->scratch, uint32_t, count);
    for (uint32_t r = 0; r < count; r++) leaders[r] = r;
    if (group > 1) some = leaders_of(type->layout, axis, group, leaders, place);
    IrValue *result = type->rank ? compared_apart(t, op, some, leaders) : NULL;
    if (!result) {
        for (int i = 0; i < 2 && some < count; i++)
            if (sides[i]->type->rank) sides[i] = threads_pick(t, sides[i], some, leaders);
        result = compared(t, op, sides);
    }
    threads_define(t, op, 0, group > 1 ? threads_pick(t, result, count, place) : result);
}
