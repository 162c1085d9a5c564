// Reductions, scans, histograms. Built-in ones go from first to last; sums and products of floats
// narrower than f64 are kept in f32 and rounded once to the element type.
#include "ir/interp/internal.h"

// ---- built-in combiners -------------------------------------------------------------------------

typedef struct Accumulator {
    Dtype elem;
    IrReduce kind;
    bool any;       // has taken an element
    uint64_t bits;  // everything except float sums and products
    double wide;    // float sums and products of f64
    float narrow;   // of narrower types
    int32_t place;  // argmin, argmax
} Accumulator;

static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }
static bool adds(IrReduce kind) { return kind == IR_REDUCE_SUM || kind == IR_REDUCE_PROD; }

static uint64_t least_or_greatest(Dtype t, bool greatest) {
    if (is_float(t)) {
        bool saturate = !dtype_float(t)->has_inf;
        return dtype_from_double(t, greatest ? HUGE_VAL : -HUGE_VAL, saturate);
    }
    if (t == DTYPE_BOOL) return greatest;
    return greatest ? dtype_int_max(t) : dtype_wrap(t, (uint64_t)dtype_int_min(t));
}

static uint64_t identity(IrReduce kind, Dtype t) {
    switch (kind) {
    case IR_REDUCE_SUM: return 0;
    case IR_REDUCE_PROD: return is_float(t) ? dtype_from_double(t, 1, true) : 1;
    case IR_REDUCE_MIN: return least_or_greatest(t, true);
    case IR_REDUCE_MAX: return least_or_greatest(t, false);
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return dtype_from_double(t, (double)NAN, true);
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_ANY:
    case IR_REDUCE_CUSTOM: return 0;
    case IR_REDUCE_ALL: return 1;
    }
    return 0;
}

static void add_float(Accumulator *s, uint64_t bits) {
    bool product = s->kind == IR_REDUCE_PROD;
    if (s->elem == DTYPE_F64) {
        double x = dtype_to_double(s->elem, bits);
        s->wide = !s->any ? x : product ? s->wide * x : s->wide + x;
    } else {
        float x = dtype_to_float(s->elem, bits);
        s->narrow = !s->any ? x : product ? s->narrow * x : s->narrow + x;
    }
}

// A NaN is ordered before everything, the first one first; zeros are equal.
static bool before(const Accumulator *s, uint64_t bits) {
    if (is_float(s->elem)) {
        double x = dtype_to_double(s->elem, bits), best = dtype_to_double(s->elem, s->bits);
        if (isnan(best) || isnan(x)) return !isnan(best);
        return s->kind == IR_REDUCE_ARGMIN ? x < best : x > best;
    }
    uint64_t operands[2] = {bits, s->bits}, result = 0;
    if (s->elem == DTYPE_BOOL) return s->kind == IR_REDUCE_ARGMIN ? bits < s->bits : bits > s->bits;
    ir_eval(s->kind == IR_REDUCE_ARGMIN ? IR_LT : IR_GT, s->elem, operands, &result);
    return result != 0;
}

IrOpcode reduce_opcode(IrReduce kind, Dtype t) {
    bool logical = t == DTYPE_BOOL;
    switch (kind) {
    case IR_REDUCE_SUM: return logical ? IR_XOR : IR_ADD;
    case IR_REDUCE_PROD: return logical ? IR_AND : IR_MUL;
    case IR_REDUCE_MIN: return logical ? IR_AND : IR_MIN;
    case IR_REDUCE_MAX: return logical ? IR_OR : IR_MAX;
    case IR_REDUCE_MINNUM: return IR_MINNUM;
    case IR_REDUCE_MAXNUM: return IR_MAXNUM;
    case IR_REDUCE_ANY: return IR_OR;
    case IR_REDUCE_ALL: return IR_AND;
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_CUSTOM: break;
    }
    return IR_OPCODES;
}

static void take(Accumulator *s, uint64_t bits, int32_t place) {
    if (s->kind == IR_REDUCE_ARGMIN || s->kind == IR_REDUCE_ARGMAX) {
        if (!s->any || before(s, bits)) {
            s->bits = bits;
            s->place = place;
        }
    } else if (adds(s->kind) && is_float(s->elem)) {
        add_float(s, bits);
    } else {
        uint64_t operands[2] = {s->any ? s->bits : identity(s->kind, s->elem), bits};
        // The first element is combined with itself or the identity: a NaN becomes the quiet one.
        if (!s->any && is_float(s->elem)) operands[0] = bits;
        ir_eval(reduce_opcode(s->kind, s->elem), s->elem, operands, &s->bits);
    }
    s->any = true;
}

static uint64_t taken(const Accumulator *s) {
    if (!s->any) return identity(s->kind, s->elem);
    if (s->kind == IR_REDUCE_ARGMIN || s->kind == IR_REDUCE_ARGMAX) return (uint32_t)s->place;
    if (!adds(s->kind) || !is_float(s->elem)) return s->bits;
    if (s->elem == DTYPE_F64)
        return dtype_from_double(s->elem, isnan(s->wide) ? (double)NAN : s->wide, true);
    return dtype_from_float(s->elem, isnan(s->narrow) ? (float)NAN : s->narrow, true);
}

// ---- shadows of one line ------------------------------------------------------------------------

// A lane whose mask is undecided may or may not take part.
static ShadowValue undecided_term(IrReduce kind, ShadowValue s, bool on) {
    if (kind != IR_REDUCE_SUM) return (ShadowValue){s.v, HUGE_VAL};
    double reach = fabs(s.v) + s.e;
    return on ? (ShadowValue){s.v, reach} : (ShadowValue){0, reach};
}

typedef struct ReduceLine {
    const InterpSlot *x, *mask;
    uint64_t first, stride, n;
} ReduceLine;

static bool lane_on(const ReduceLine *l, uint64_t k) {
    return !l->mask || slot_get(l->mask, slot_lane(l->mask, l->first + k * l->stride));
}

static bool lane_undecided(const ReduceLine *l, uint64_t k) {
    return l->mask && l->mask->shadowed &&
           shadow_get(l->mask, slot_lane(l->mask, l->first + k * l->stride)).e > 0;
}

static ShadowValue line_shadow(InterpRun *run, const ReduceLine *l, IrReduce kind, uint64_t x) {
    ArenaMark mark = arena_mark(run->scratch);
    uint64_t *bits = arena_new(run->scratch, uint64_t, l->n);
    ShadowValue *shadows = arena_new(run->scratch, ShadowValue, l->n);
    uint32_t n = 0;
    for (uint64_t k = 0; k < l->n; k++) {
        uint64_t at = l->first + k * l->stride;
        bool on = lane_on(l, k), undecided = lane_undecided(l, k);
        if (!on && !undecided) continue;
        bits[n] = slot_get(l->x, at);
        shadows[n] = shadow_get(l->x, at);
        if (undecided) shadows[n] = undecided_term(kind, shadows[n], on);
        n++;
    }
    ShadowTerms terms = {l->x->elem, n, bits, shadows};
    ShadowValue s = shadow_reduce(&terms, kind, x);
    arena_reset(run->scratch, mark);
    return s;
}

static bool needs_shadow(const InterpRun *run, const InterpSlot *x, const InterpSlot *mask,
                         IrReduce kind) {
    if (!run->shadow) return false;
    return x->shadowed || (mask && mask->shadowed) || (adds(kind) && is_float(x->elem));
}

// ---- reduce -------------------------------------------------------------------------------------

// The same as take(), for lines of f32 without masked lanes.
static bool reduce_f32(IrReduce kind, const ReduceLine *l, uint64_t *bits) {
    const float *x = (const float *)(const void *)l->x->data + l->first;
    float s = x[0];
    if (l->mask || isnan(s)) return false;
    if (kind == IR_REDUCE_SUM) {
        for (uint64_t k = 1; k < l->n; k++) s += x[k * l->stride];
    } else if (kind == IR_REDUCE_MAX) {
        for (uint64_t k = 1; k < l->n; k++) {
            float y = x[k * l->stride];
            if (isnan(y) || (y == 0 && s == 0)) return false;  // left to the general path
            s = y > s ? y : s;
        }
    } else {
        return false;
    }
    *bits = dtype_from_float(DTYPE_F32, isnan(s) ? (float)NAN : s, true);
    return true;
}

static uint64_t reduce_line(IrReduce kind, const ReduceLine *l) {
    uint64_t bits;
    if (l->x->elem == DTYPE_F32 && reduce_f32(kind, l, &bits)) return bits;
    Accumulator s = {.elem = l->x->elem, .kind = kind};
    for (uint64_t k = 0; k < l->n; k++)
        if (lane_on(l, k)) take(&s, slot_get(l->x, l->first + k * l->stride), (int32_t)k);
    return taken(&s);
}

static void reduce_operand(InterpRun *run, const IrOp *op, const InterpSlot *mask,
                           const InterpSlot *x, InterpSlot *r) {
    IrReduce kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE);
    AxisLines l = lines_of(x->type, ir_attr_int(op, IR_ATTR_AXIS));
    ShadowValue *shadow = needs_shadow(run, x, mask, kind) ? slot_shadow_blank(run, r) : NULL;
    for (uint64_t o = 0; o < l.outer; o++)
        for (uint64_t i = 0; i < l.inner; i++) {
            ReduceLine line = {x, mask, o * l.n * l.inner + i, l.inner, l.n};
            uint64_t at = o * l.inner + i;
            slot_put(r, at, reduce_line(kind, &line));
            if (shadow) shadow[at] = line_shadow(run, &line, kind, slot_get(r, at));
        }
}

typedef struct Tuple {
    uint32_t n;  // values in one state
    uint64_t lanes;
    Scalar *states;  // lanes × n
} Tuple;

// The combiner over states first to last.
static bool fold(InterpRun *run, InterpFrame *frame, const IrOp *op, const Tuple *t,
                 Scalar *state) {
    Scalar *inputs = arena_new(run->scratch, Scalar, 2 * t->n);
    memcpy(state, t->states, t->n * sizeof *state);
    for (uint64_t k = 1; k < t->lanes; k++) {
        memcpy(inputs, state, t->n * sizeof *state);
        memcpy(inputs + t->n, t->states + k * t->n, t->n * sizeof *state);
        TRY(combine(run, frame, op, inputs, state));
    }
    return true;
}

// The same as a balanced tree, neighbours first; the states are used up.
static bool fold_tree(InterpRun *run, InterpFrame *frame, const IrOp *op, Tuple *t) {
    Scalar *outputs = arena_new(run->scratch, Scalar, t->n);
    while (t->lanes > 1) {
        uint64_t half = t->lanes / 2;
        for (uint64_t k = 0; k < half; k++) {
            TRY(combine(run, frame, op, t->states + 2 * k * t->n, outputs));
            memcpy(t->states + k * t->n, outputs, t->n * sizeof *outputs);
        }
        if (t->lanes & 1)
            memmove(t->states + half * t->n, t->states + (t->lanes - 1) * t->n,
                    t->n * sizeof *outputs);
        t->lanes = half + (t->lanes & 1);
    }
    return true;
}

static Tuple tuple_collect(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t first,
                           ReduceLine line, bool *undecided) {
    Tuple t = {.n = op->operand_count - first};
    t.states = arena_new(run->scratch, Scalar, t.n * line.n);
    for (uint64_t k = 0; k < line.n; k++) {
        if (lane_undecided(&line, k)) *undecided = true;
        if (!lane_on(&line, k)) continue;
        uint64_t at = line.first + k * line.stride;
        for (uint32_t v = 0; v < t.n; v++) {
            const InterpSlot *x = operand_slot(run, frame, op, first + v);
            Scalar *s = &t.states[t.lanes * t.n + v];
            s->bits = slot_get(x, at);
            if (run->shadow) s->shadow = shadow_get(x, at);
        }
        t.lanes++;
    }
    return t;
}

static bool reduce_custom_line(InterpRun *run, InterpFrame *frame, const IrOp *op, ReduceLine line,
                               uint64_t at) {
    bool undecided = false;
    Tuple t = tuple_collect(run, frame, op, 1, line, &undecided);
    Scalar *state = arena_new(run->scratch, Scalar, t.n);
    if (t.lanes) TRY(fold(run, frame, op, &t, state));
    if (run->shadow && t.lanes) TRY(fold_tree(run, frame, op, &t));
    for (uint32_t v = 0; v < t.n; v++) {
        InterpSlot *r = slot_of(run, frame, ir_result(op, v));
        slot_put(r, at, state[v].bits);
        if (!run->shadow) continue;
        double e = t.lanes ? 2 * fmax(state[v].shadow.e, t.states[v].shadow.e) : 0;
        r->shadow[at] = (ShadowValue){state[v].shadow.v, undecided ? HUGE_VAL : e};
    }
    return true;
}

static bool reduce_custom(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *mask = operand_slot(run, frame, op, 0);
    const InterpSlot *x = operand_slot(run, frame, op, 1);
    AxisLines l = lines_of(x->type, ir_attr_int(op, IR_ATTR_AXIS));
    for (uint32_t v = 0; v < op->result_count; v++) {
        InterpSlot *r = result_slot(run, frame, op, v);
        if (run->shadow) slot_shadow_blank(run, r);
    }
    for (uint64_t o = 0; o < l.outer; o++)
        for (uint64_t i = 0; i < l.inner; i++) {
            ArenaMark arena = arena_mark(run->scratch);
            ReduceLine line = {x, mask, o * l.n * l.inner + i, l.inner, l.n};
            TRY(reduce_custom_line(run, frame, op, line, o * l.inner + i));
            arena_reset(run->scratch, arena);
        }
    return true;
}

bool execute_reduce(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (ir_attr_int(op, IR_ATTR_REDUCE) == IR_REDUCE_CUSTOM) return reduce_custom(run, frame, op);
    const InterpSlot *mask = operand_slot(run, frame, op, 0);
    for (uint32_t v = 0; v < op->result_count; v++)
        reduce_operand(run, op, mask, operand_slot(run, frame, op, 1 + v),
                       result_slot(run, frame, op, v));
    return true;
}

// ---- scan ---------------------------------------------------------------------------------------

typedef struct Direction {
    bool reverse, exclusive;
    uint64_t n;
} Direction;

static Direction direction_of(const IrOp *op, uint64_t n) {
    return (Direction){ir_attr_int(op, IR_ATTR_REVERSE) != 0,
                       ir_attr_int(op, IR_ATTR_EXCLUSIVE) != 0, n};
}

static uint64_t scan_index(Direction d, uint64_t k) { return d.reverse ? d.n - 1 - k : k; }

// The element at which the interpreter stored its own prefix of k terms; an exclusive scan does not
// store the prefix of all terms.
static uint64_t prefix_place(Direction d, const ReduceLine *line, uint64_t k) {
    return line->first + scan_index(d, k < d.n ? k : d.n - 1) * line->stride;
}

static void scan_shadow(Direction d, const ReduceLine *line, IrReduce kind, InterpSlot *r) {
    ShadowFold prefix = shadow_fold(line->x->elem, kind);
    for (uint64_t k = 0; k < d.n; k++) {
        uint64_t at = prefix_place(d, line, k);
        if (d.exclusive) r->shadow[at] = shadow_folded(&prefix, slot_get(r, at));
        uint64_t so_far = slot_get(r, prefix_place(d, line, d.exclusive ? k + 1 : k));
        shadow_fold_take(&prefix, shadow_get(line->x, at), so_far);
        if (!d.exclusive) r->shadow[at] = shadow_folded(&prefix, so_far);
    }
}

static void scan_operand(InterpRun *run, const IrOp *op, const InterpSlot *x, InterpSlot *r) {
    IrReduce kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE);
    AxisLines l = lines_of(x->type, ir_attr_int(op, IR_ATTR_AXIS));
    Direction d = direction_of(op, l.n);
    bool shadow = needs_shadow(run, x, NULL, kind);
    if (shadow) slot_shadow_blank(run, r);
    for (uint64_t o = 0; o < l.outer; o++)
        for (uint64_t i = 0; i < l.inner; i++) {
            ReduceLine line = {x, NULL, o * l.n * l.inner + i, l.inner, l.n};
            Accumulator s = {.elem = x->elem, .kind = kind};
            for (uint64_t k = 0; k < l.n; k++) {
                uint64_t at = line.first + scan_index(d, k) * line.stride;
                if (d.exclusive) slot_put(r, at, taken(&s));
                take(&s, slot_get(x, at), 0);
                if (!d.exclusive) slot_put(r, at, taken(&s));
            }
            if (shadow) scan_shadow(d, &line, kind, r);
        }
}

static void scan_put(InterpRun *run, InterpFrame *frame, const IrOp *op, uint64_t at,
                     const Scalar *state) {
    for (uint32_t v = 0; v < op->result_count; v++) {
        InterpSlot *r = slot_of(run, frame, ir_result(op, v));
        slot_put(r, at, state[v].bits);
        if (run->shadow) r->shadow[at] = (ShadowValue){state[v].shadow.v, 2 * state[v].shadow.e};
    }
}

static bool scan_custom_line(InterpRun *run, InterpFrame *frame, const IrOp *op, ReduceLine line,
                             Direction d) {
    uint32_t n = op->operand_count;
    Scalar *state = arena_new(run->scratch, Scalar, n);
    Scalar *inputs = arena_new(run->scratch, Scalar, 2 * n);
    for (uint64_t k = 0; k < d.n; k++) {
        uint64_t at = line.first + scan_index(d, k) * line.stride;
        if (d.exclusive) scan_put(run, frame, op, at, state);
        for (uint32_t v = 0; v < n; v++) {
            const InterpSlot *x = operand_slot(run, frame, op, v);
            inputs[v] = state[v];
            inputs[n + v].bits = slot_get(x, at);
            if (run->shadow) inputs[n + v].shadow = shadow_get(x, at);
        }
        if (k == 0)
            memcpy(state, inputs + n, n * sizeof *state);
        else
            TRY(combine(run, frame, op, inputs, state));
        if (!d.exclusive) scan_put(run, frame, op, at, state);
    }
    return true;
}

bool execute_scan(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (ir_attr_int(op, IR_ATTR_REDUCE) != IR_REDUCE_CUSTOM) {
        for (uint32_t v = 0; v < op->result_count; v++)
            scan_operand(run, op, operand_slot(run, frame, op, v), result_slot(run, frame, op, v));
        return true;
    }
    const InterpSlot *x = operand_slot(run, frame, op, 0);
    AxisLines l = lines_of(x->type, ir_attr_int(op, IR_ATTR_AXIS));
    Direction d = direction_of(op, l.n);
    for (uint32_t v = 0; v < op->result_count; v++) {
        InterpSlot *r = result_slot(run, frame, op, v);
        if (run->shadow) slot_shadow_blank(run, r);
    }
    for (uint64_t o = 0; o < l.outer; o++)
        for (uint64_t i = 0; i < l.inner; i++) {
            ArenaMark mark = arena_mark(run->scratch);
            ReduceLine line = {x, NULL, o * l.n * l.inner + i, l.inner, l.n};
            TRY(scan_custom_line(run, frame, op, line, d));
            arena_reset(run->scratch, mark);
        }
    return true;
}

// ---- histogram ----------------------------------------------------------------------------------

void execute_histogram(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *mask = operand_slot(run, frame, op, 0);
    InterpSlot *x = operand_slot(run, frame, op, 1);
    InterpSlot *r = result_slot(run, frame, op, 0);
    memset(r->data, 0, (size_t)r->count * r->size);
    for (uint32_t i = 0; i < x->count; i++) {
        int64_t value;
        if (mask && !slot_get(mask, slot_lane(mask, i))) continue;
        if (!slot_i64(x, i, &value) || value < 0 || value >= (int64_t)r->count) continue;
        slot_put(r, (uint64_t)value, slot_get(r, (uint64_t)value) + 1);
    }
    if (run->shadow && shadow_any(run, frame, op)) slot_set_undecided(run, r);
}
