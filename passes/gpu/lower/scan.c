// Scans: registers of a lane one after the other, then lanes of a warp in steps of 1, 2, 4, …, then
// warps through shared memory.
//
// The tile is first moved to a layout in which each lane holds neighbours along the axis, lanes
// follow lanes and warps follow warps. So every thread has a segment of a line, for as many lines
// as its other registers hold. The prefix, everything before a segment, is computed from the
// results of whole segments and then combined with each of the segment's elements. In a reverse
// scan, "before" means a higher coordinate.
#include "ir/reduce.h"
#include "passes/gpu/lower/combine.h"

typedef struct ScanLowering {
    Combiner c;
    const IrOp *op;
    uint32_t first;  // operand and result of value 0
    Layout layout;
    uint32_t n, lines;              // registers along the axis; lines of a thread
    uint32_t lane_bits, warp_bits;  // the lowest, which move along the axis
    bool reverse, exclusive;
    CombineState *x;  // by position along the axis in the scan's order: a register of each line
} ScanLowering;

// The elements before: a state, if there are any (NULL: there never are).
typedef struct Prefix {
    CombineState x;
    IrValue *has;  // bool scalar
} Prefix;

// ---- the layout ---------------------------------------------------------------------------------

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// `count` bits of a dimension, along `axis` from its lowest unused bit on.
static void add_bits(Layout *l, LayoutDim dim, uint32_t axis, uint32_t count, uint32_t *used) {
    for (uint32_t i = 0; i < count; i++) layout_add_step(l, dim, axis, 1u << used[axis]++);
}

// As many bits as possible along the other axes, the last one first; then replicas.
static void fill(Layout *l, LayoutDim dim, uint32_t axis, uint32_t count, uint32_t *used) {
    for (uint32_t d = l->rank; d-- > 0;) {
        if (d == axis) continue;
        uint32_t some = least(count, l->axis_bits[d] - used[d]);
        add_bits(l, dim, d, some, used);
        count -= some;
    }
    while (dim != LAYOUT_REG && count-- > 0) layout_add(l, dim, 0);
}

// Registers along the axis, as many as each thread has; then lanes, then warps.
Layout gpu_scan_layout(const IrType *type, uint32_t axis, GpuThreads threads) {
    uint32_t warp_bits = (uint32_t)__builtin_ctz(threads.warps);
    uint32_t lane_bits = (uint32_t)__builtin_ctz(threads.lanes),
             thread_bits = lane_bits + warp_bits;
    uint32_t used[IR_MAX_RANK] = {0};
    Layout l = layout_empty(type->rank, type->shape);
    uint32_t along = l.axis_bits[axis], all = l.tile_bits;
    uint32_t regs = least(along, all > thread_bits ? all - thread_bits : 0);
    uint32_t lanes = least(along - regs, lane_bits), more = along - regs - lanes;
    add_bits(&l, LAYOUT_REG, axis, regs, used);
    add_bits(&l, LAYOUT_LANE, axis, lanes, used);
    fill(&l, LAYOUT_LANE, axis, lane_bits - lanes, used);
    add_bits(&l, LAYOUT_WARP, axis, more, used);
    fill(&l, LAYOUT_WARP, axis, warp_bits - more, used);
    fill(&l, LAYOUT_REG, axis, all, used);
    return l;
}

static uint32_t bits_along(const Layout *l, LayoutDim dim, uint32_t axis) {
    uint32_t start = layout_axis_start(l, axis), end = start + l->axis_bits[axis], count = 0;
    for (uint32_t i = 0; i < l->dim_bits[dim]; i++) {
        uint32_t basis = layout_basis(l, dim, i);
        count += basis >> start != 0 && basis >> end == 0;
    }
    return count;
}

static void choose_layout(ScanLowering *s, const IrType *type, uint32_t axis, GpuThreads threads) {
    s->layout = gpu_scan_layout(type, axis, threads);
    s->lane_bits = bits_along(&s->layout, LAYOUT_LANE, axis);
    s->warp_bits = bits_along(&s->layout, LAYOUT_WARP, axis);
    s->n = 1u << bits_along(&s->layout, LAYOUT_REG, axis);
    s->lines = layout_size(&s->layout, LAYOUT_REG) / s->n;
}

// ---- a thread's stretches -----------------------------------------------------------------------

static void load(Threads *t, ScanLowering *s) {
    CombineState all = combine_empty(t, &s->c);
    for (uint32_t i = 0; i < s->c.values; i++) {
        const IrValue *v = ir_operand(s->op, s->first + i);
        IrValue *x = threads_move(t, threads_value(t, v), v->type->layout, &s->layout);
        Dtype elem = combine_elem(s->c.kind, x->type->elem);
        all.part[i] = x->type->elem == elem ? x : ir_cast(&t->b, x, elem, true);
    }
    s->x = arena_new(t->scratch, CombineState, s->n);
    uint32_t *regs = arena_new(t->scratch, uint32_t, s->lines);
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t place = s->reverse ? s->n - 1 - k : k;
        for (uint32_t i = 0; i < s->lines; i++) regs[i] = i * s->n + place;
        s->x[k] = combine_pick(t, &s->c, &all, s->lines, regs);
    }
    combine_quiet_nan(t, &s->c, &s->x[0]);
    for (uint32_t k = 1; k < s->n; k++) s->x[k] = combine_states(t, &s->c, &s->x[k - 1], &s->x[k]);
}

// ---- prefixes -----------------------------------------------------------------------------------

// The position in the scan's order: the lane's, or the warp's number among those of its line.
static IrValue *position(Threads *t, const ScanLowering *s, uint32_t shift, uint32_t bits) {
    int64_t mask = (INT64_C(1) << bits) - 1;
    IrValue *x = ir_binary(&t->b, IR_SHR, t->thread, threads_i32(t, shift));
    x = ir_binary(&t->b, IR_AND, x, threads_i32(t, mask));
    return s->reverse ? ir_binary(&t->b, IR_SUB, threads_i32(t, mask), x) : x;
}

static CombineState from_earlier_lane(Threads *t, const ScanLowering *s, const CombineState *x,
                                      uint32_t by) {
    CombineState r = combine_empty(t, &s->c);
    IrOpcode away = s->reverse ? IR_ADD : IR_SUB;
    IrValue *lane = ir_binary(&t->b, away, t->thread, threads_i32(t, by));
    lane = ir_binary(&t->b, IR_AND, lane, threads_i32(t, ir_lane_count(t->func) - 1));
    for (uint32_t i = 0; i < s->c.parts; i++) r.part[i] = threads_from_lane(t, x->part[i], lane);
    return r;
}

// `sum` becomes the combination of all lanes up to this one.
static Prefix scan_lanes(Threads *t, const ScanLowering *s, CombineState *sum) {
    Prefix p = {0};
    if (!s->lane_bits) return p;
    IrValue *at = position(t, s, 0, s->lane_bits);
    for (uint32_t by = 1; by < 1u << s->lane_bits; by *= 2) {
        CombineState early = from_earlier_lane(t, s, sum, by);
        IrValue *has = ir_binary(&t->b, IR_GE, at, threads_i32(t, by));
        CombineState both = combine_where(t, &s->c, has, &early, sum);
        *sum = combine_choose(t, &s->c, has, &both, sum);
    }
    p.x = from_earlier_lane(t, s, sum, 1);
    p.has = ir_binary(&t->b, IR_GE, at, threads_i32(t, 1));
    return p;
}

// Every warp's sum, which its last lanes have, is stored for the warps after it.
static Prefix scan_warps(Threads *t, const ScanLowering *s, const CombineState *sum) {
    Prefix p = {0};
    if (!s->warp_bits) return p;
    uint32_t count = 1u << s->warp_bits, lanes = (1u << s->lane_bits) - 1;
    uint32_t all = ir_lane_count(t->func);
    ExchangeBuffer buffer = combine_exchange_buffer(t, &s->c, sum);
    remark(t->remarks, t->b.span, REASON_SCAN_SHARED, NULL, REMARK(count));
    combine_store(t, &s->c, &buffer, sum);
    threads_barrier(t);
    IrValue *at = position(t, s, (uint32_t)__builtin_ctz(all), s->warp_bits);
    int64_t mask = lanes | (count - 1) * all;
    IrValue *from = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, ~mask));
    for (uint32_t g = 0; g + 1 < count; g++) {
        uint32_t warp = s->reverse ? count - 1 - g : g;
        CombineState x =
            combine_load(t, &s->c, &buffer, from, warp * all + (s->reverse ? 0 : lanes));
        IrValue *has = ir_binary(&t->b, IR_GT, at, threads_i32(t, g));
        if (g) {
            CombineState both = combine_where(t, &s->c, has, &p.x, &x);
            x = combine_choose(t, &s->c, has, &both, &p.x);
        } else {
            p.has = has;
        }
        p.x = x;
    }
    threads_barrier(t);
    return p;
}

// x before y.
static Prefix join(Threads *t, const ScanLowering *s, const Prefix *x, const Prefix *y) {
    if (!x->has) return *y;
    if (!y->has) return *x;
    IrValue *where = ir_binary(&t->b, IR_AND, x->has, y->has);
    CombineState both = combine_where(t, &s->c, where, &x->x, &y->x);
    Prefix p = {.has = ir_binary(&t->b, IR_OR, x->has, y->has)};
    p.x = combine_choose(t, &s->c, x->has, &both, &y->x);
    p.x = combine_choose(t, &s->c, y->has, &p.x, &x->x);
    return p;
}

// ---- the end ------------------------------------------------------------------------------------

// The first element of an exclusive scan; -0 is only the value that sums begin with.
static CombineState shown_identity(Threads *t, const ScanLowering *s) {
    CombineState r = combine_empty(t, &s->c);
    bool zero = s->c.custom || s->c.kind == IR_REDUCE_SUM;
    for (uint32_t i = 0; i < s->c.parts; i++) {
        const IrType *type = s->x[0].part[i]->type;
        r.part[i] =
            ir_const_bits(&t->b, type, zero ? 0 : ir_reduce_identity(s->c.kind, type->elem));
    }
    return r;
}

static CombineState behind(Threads *t, const ScanLowering *s, const Prefix *p,
                           const CombineState *x) {
    if (!p->has) return *x;
    CombineState both = combine_where(t, &s->c, p->has, &p->x, x);
    return combine_choose(t, &s->c, p->has, &both, x);
}

static void finish(Threads *t, ScanLowering *s, const Prefix *p) {
    CombineState *y = arena_new(t->scratch, CombineState, s->n);
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t place = s->reverse ? s->n - 1 - k : k;
        if (!s->exclusive) {
            y[place] = behind(t, s, p, &s->x[k]);
        } else if (k) {
            y[place] = behind(t, s, p, &s->x[k - 1]);
        } else {
            y[place] = shown_identity(t, s);
            if (p->has) y[place] = combine_choose(t, &s->c, p->has, &p->x, &y[place]);
        }
    }
    CombineState all = combine_pack(t, &s->c, s->n, y);
    uint32_t count = s->n * s->lines, *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t r = 0; r < count; r++) regs[r] = r % s->n * s->lines + r / s->n;
    all = combine_pick(t, &s->c, &all, count, regs);
    for (uint32_t i = 0; i < s->c.values; i++) {
        const IrType *type = s->op->results[s->first + i].type;
        IrValue *x = all.part[i];
        if (x->type->elem != type->elem) x = ir_cast(&t->b, x, type->elem, true);
        threads_define(t, s->op, s->first + i, threads_move(t, x, &s->layout, type->layout));
    }
}

static void scan_some(Threads *t, const IrOp *op, uint32_t first, uint32_t values) {
    ScanLowering s = {.c = combine_of(op, values, false), .op = op, .first = first};
    s.reverse = ir_attr_int(op, IR_ATTR_REVERSE) != 0;
    s.exclusive = ir_attr_int(op, IR_ATTR_EXCLUSIVE) != 0;
    choose_layout(&s, ir_operand(op, 0)->type, (uint32_t)ir_attr_int(op, IR_ATTR_AXIS),
                  gpu_threads(t->func));
    load(t, &s);
    CombineState sum = s.x[s.n - 1];
    Prefix lanes = scan_lanes(t, &s, &sum), warps = scan_warps(t, &s, &sum);
    Prefix p = join(t, &s, &warps, &lanes);
    finish(t, &s, &p);
}

void threads_scan(Threads *t, const IrOp *op) {
    bool custom = ir_attr_int(op, IR_ATTR_REDUCE) == IR_REDUCE_CUSTOM;
    if (custom) {
        scan_some(t, op, 0, op->operand_count);
        return;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) scan_some(t, op, i, 1);
}
