// The shadow of whole ops: slots' shadows, elementwise ops lane by lane, reductions, dot.
#include "ir/interp/internal.h"

// ---- slots --------------------------------------------------------------------------------------

ShadowValue shadow_exact(Dtype elem, uint64_t bits) {
    if (dtype_is(elem, DTYPE_CLASS_ANYFLOAT)) return (ShadowValue){dtype_to_double(elem, bits), 0};
    if (elem == DTYPE_BOOL) return (ShadowValue){bits != 0, 0};
    if (dtype_signed(elem)) return (ShadowValue){(double)dtype_to_i64(elem, bits), 0};
    return (ShadowValue){(double)bits, 0};
}

ShadowValue shadow_get(const InterpSlot *s, uint64_t i) {
    if (s->type->kind == IR_PTR) return (ShadowValue){0, s->shadowed ? s->shadow[i].e : 0};
    if (s->shadowed && dtype_is(s->elem, DTYPE_CLASS_ANYFLOAT)) return s->shadow[i];
    ShadowValue exact = shadow_exact(s->elem, slot_get(s, i));
    if (s->shadowed) exact.e = s->shadow[i].e;  // an integer stands for its own v
    return exact;
}

ShadowValue *slot_shadow_blank(InterpRun *run, InterpSlot *s) {
    if (!s->shadow) s->shadow = arena_new(run->interp->arena, ShadowValue, s->count);
    s->shadowed = true;
    return s->shadow;
}

ShadowValue *slot_shadow(InterpRun *run, InterpSlot *s) {
    if (s->shadowed) return s->shadow;
    ShadowValue *shadow = slot_shadow_blank(run, s);
    s->shadowed = false;
    for (uint32_t i = 0; i < s->count; i++) shadow[i] = shadow_get(s, i);
    s->shadowed = true;
    return shadow;
}

void slot_set_undecided(InterpRun *run, InterpSlot *s) {
    if (!run->shadow) return;
    ShadowValue *shadow = slot_shadow(run, s);
    for (uint32_t i = 0; i < s->count; i++) shadow[i].e = HUGE_VAL;
}

bool shadow_any(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const InterpSlot *s = operand_slot(run, frame, op, i);
        if (s && s->shadowed) return true;
    }
    return false;
}

// ---- elementwise --------------------------------------------------------------------------------

static void shadow_places(InterpRun *run, const IrOp *op, InterpSlot *const *in, InterpSlot *r) {
    ShadowValue *shadow = slot_shadow_blank(run, r);
    for (uint32_t i = 0; i < r->count; i++) {
        double e = 0;
        for (uint32_t k = 0; k < op->operand_count; k++)
            if (shadow_get(in[k], slot_lane(in[k], i)).e > 0) e = HUGE_VAL;
        bool number = r->type->kind != IR_PTR;
        shadow[i] = (ShadowValue){number ? shadow_exact(r->elem, slot_get(r, i)).v : 0, e};
    }
}

void shadow_elementwise(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    bool same_bits = !run->relaxed_math && !run->combining;
    InterpSlot *r = slot_of(run, frame, ir_result(op, 0));
    bool is_float = r->type->kind == IR_TILE && dtype_is(r->elem, DTYPE_CLASS_ANYFLOAT);
    bool exact = same_bits && !ir_op_is(op->code, IR_FAMILY_FUNCTION);
    if (!shadow_any(run, frame, op) && (exact || !is_float)) return;
    InterpSlot *in[3] = {NULL, NULL, NULL};
    bool places = r->type->kind == IR_PTR;
    for (uint32_t k = 0; k < op->operand_count && k < 3; k++) {
        in[k] = operand_slot(run, frame, op, k);
        places = places || in[k]->type->kind == IR_PTR;
    }
    if (places) {
        shadow_places(run, op, in, r);
        return;
    }
    ShadowLane lane = {.code = op->code,
                       .from = in[0]->elem,
                       .to = r->elem,
                       .same_bits = same_bits,
                       .approximate = run->approximate,
                       .n = op->operand_count};
    if (op->code == IR_CAST) lane.saturate = ir_attr_int(op, IR_ATTR_SATURATE) != 0;
    ShadowValue *shadow = slot_shadow_blank(run, r);
    for (uint32_t i = 0; i < r->count; i++) {
        for (uint32_t k = 0; k < lane.n; k++) {
            uint64_t at = slot_lane(in[k], i);
            lane.in[k] = shadow_get(in[k], at);
            lane.bits[k] = slot_get(in[k], at);
        }
        lane.result = slot_get(r, i);
        shadow[i] = shadow_lane(&lane);
    }
}

// ---- reductions ---------------------------------------------------------------------------------

static ShadowValue narrowed(Dtype t, Dtype wide, double v, double p, bool certain) {
    double e = t == wide ? p : p + half_ulp(t, fabs(v) + p);
    return shadow_finish(t, dtype_is(t, DTYPE_CLASS_FP8), v, e, certain);
}

static Dtype accumulator_of(Dtype t) { return t == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32; }

ShadowFold shadow_fold(Dtype elem, IrReduce kind) {
    bool product = kind == IR_REDUCE_PROD;
    ShadowFold f = {.elem = elem, .kind = kind, .exact = true, .finite = true, .certain = true};
    f.v = f.magnitude = f.reach = product ? 1 : 0;
    f.small = f.large = 1;
    f.lowest = 10000;
    return f;
}

static void take_term(ShadowFold *f, ShadowValue s) {
    f->v += s.v;
    f->magnitude += fabs(s.v);
    f->reach += fabs(s.v) + s.e;
    if (!isfinite(s.v)) f->finite = false;
    if (!f->exact || !f->finite || s.v == 0) return;
    int last = last_bit(s.v);
    if (last < f->lowest) f->lowest = last;
}

static void take_factor(ShadowFold *f, ShadowValue s) {
    double most = fabs(s.v) + s.e;
    f->v *= s.v;
    f->magnitude *= fabs(s.v);
    f->reach *= most;
    if (fabs(s.v) < 1) f->small *= fabs(s.v);
    if (most > 1) f->large *= most;
    if (s.e > 0 && (isinf(s.e) || fabs(s.v) <= s.e)) f->certain = false;
}

static bool is_extreme(IrReduce kind) {
    return kind == IR_REDUCE_MIN || kind == IR_REDUCE_MAX || kind == IR_REDUCE_MINNUM ||
           kind == IR_REDUCE_MAXNUM;
}

static void take_extreme(ShadowFold *f, ShadowValue s, uint64_t x) {
    ShadowLane lane = {.code = reduce_opcode(f->kind, f->elem),
                       .from = f->elem,
                       .to = f->elem,
                       .same_bits = true,
                       .n = 2,
                       .result = x,
                       .in = {f->extreme, s}};
    f->extreme = f->n ? shadow_lane(&lane) : s;
}

void shadow_fold_take(ShadowFold *f, ShadowValue s, uint64_t x) {
    if (s.e != 0) f->exact = false;
    f->error += s.e;
    if (f->kind == IR_REDUCE_SUM)
        take_term(f, s);
    else if (f->kind == IR_REDUCE_PROD)
        take_factor(f, s);
    else
        take_extreme(f, s, x);
    f->n++;
}

// Rule S: no order of the additions rounds.
static bool sums_exactly(const ShadowFold *f, int precision) {
    if (!f->exact || !f->finite) return false;
    return f->magnitude == 0 || f->magnitude < ldexp(1, f->lowest + precision);
}

static ShadowValue folded_sum(const ShadowFold *f, uint64_t x) {
    Dtype wide = accumulator_of(f->elem);
    const DtypeFloat *format = dtype_float(wide);
    double p = f->error;
    if (sums_exactly(f, format->precision)) return shadow_exact(f->elem, x);
    if (isnan(f->v) || isinf(f->v))
        return shadow_finish(f->elem, dtype_is(f->elem, DTYPE_CLASS_FP8), f->v, p,
                             isfinite(p) != 0);
    p += 2 * f->n * ldexp(1, -format->precision) * f->reach + ldexp(f->n, -53) * f->magnitude;
    if (f->reach > format->greatest) p = HUGE_VAL;  // some order may overflow in between
    return narrowed(f->elem, wide, f->v, p, true);
}

static ShadowValue folded_product(const ShadowFold *f, uint64_t x) {
    if (f->n == 1 && f->exact) return shadow_exact(f->elem, x);
    Dtype wide = accumulator_of(f->elem);
    const DtypeFloat *format = dtype_float(wide);
    double u = ldexp(1, -format->precision) + ldexp(1, -53);
    double p = f->reach - f->magnitude + 2 * f->n * u * f->reach;
    bool leaves =
        f->large > format->greatest || (f->v != 0 && f->small < ldexp(1, format->min_exponent));
    if (isfinite(f->v) && leaves) p = HUGE_VAL;
    return narrowed(f->elem, wide, f->v, p, f->certain);
}

static ShadowValue folded_integers(const ShadowFold *f, uint64_t x) {
    double e = f->kind != IR_REDUCE_SUM && f->error > 0 ? HUGE_VAL : f->error;
    ShadowValue s = shadow_exact(f->elem, x);
    double high = (double)dtype_int_max(f->elem), low = (double)dtype_int_min(f->elem);
    s.e = e == 0 || (s.v + e <= high && s.v - e >= low) ? e : HUGE_VAL;
    return s;
}

static ShadowValue folded_extreme(const ShadowFold *f, uint64_t x) {
    if (f->exact) return shadow_exact(f->elem, x);
    bool is_float = dtype_is(f->elem, DTYPE_CLASS_ANYFLOAT);
    return (ShadowValue){is_float ? f->extreme.v : shadow_exact(f->elem, x).v, f->extreme.e};
}

ShadowValue shadow_folded(const ShadowFold *f, uint64_t x) {
    if (!f->n) return shadow_exact(f->elem, x);
    if (is_extreme(f->kind)) return folded_extreme(f, x);
    if (!dtype_is(f->elem, DTYPE_CLASS_ANYFLOAT)) return folded_integers(f, x);
    return f->kind == IR_REDUCE_SUM ? folded_sum(f, x) : folded_product(f, x);
}

static ShadowValue reduce_folded(const ShadowTerms *t, IrReduce kind, uint64_t x) {
    ShadowFold f = shadow_fold(t->elem, kind);
    for (uint32_t i = 0; i < t->n; i++) shadow_fold_take(&f, t->shadows[i], x);
    return shadow_folded(&f, x);
}

// The position is certain if the winner's comparison with every other element is.
static ShadowValue reduce_place(const ShadowTerms *t, uint64_t x, const uint64_t winner_bits) {
    ShadowValue s = {(double)(uint32_t)x, 0};
    uint32_t winner = 0;
    while (winner < t->n && t->bits[winner] != winner_bits) winner++;
    if (winner == t->n) winner = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        ShadowValue a = t->shadows[i], w = t->shadows[winner];
        if (i == winner || (a.e == 0 && w.e == 0)) continue;
        if (isnan(w.v) && w.e == 0 && !isinf(a.e)) continue;
        if (!(fabs(a.v - w.v) > a.e + w.e)) s.e = HUGE_VAL;
    }
    return s;
}

static ShadowValue reduce_logic(const ShadowTerms *t, IrReduce kind, uint64_t x) {
    bool settles = kind == IR_REDUCE_ANY, decided = true;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->shadows[i].e > 0)
            decided = false;
        else if ((t->bits[i] != 0) == settles)
            return (ShadowValue){(double)(x != 0), 0};
    }
    return (ShadowValue){(double)(x != 0), decided ? 0 : HUGE_VAL};
}

// The winner: least or greatest, as the interpreter chose it.
static uint64_t winner_of(const ShadowTerms *t, IrReduce kind) {
    uint64_t best = t->n ? t->bits[0] : 0;
    bool least = kind == IR_REDUCE_ARGMIN;
    for (uint32_t i = 1; i < t->n; i++) {
        double x = shadow_exact(t->elem, t->bits[i]).v, y = shadow_exact(t->elem, best).v;
        if (isnan(y)) break;
        if (isnan(x) || (least ? x < y : x > y)) best = t->bits[i];
    }
    return best;
}

ShadowValue shadow_reduce(const ShadowTerms *t, IrReduce kind, uint64_t x) {
    switch (kind) {
    case IR_REDUCE_SUM:
    case IR_REDUCE_PROD:
    case IR_REDUCE_MIN:
    case IR_REDUCE_MAX:
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return reduce_folded(t, kind, x);
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX: return reduce_place(t, x, winner_of(t, kind));
    case IR_REDUCE_ANY:
    case IR_REDUCE_ALL: return reduce_logic(t, kind, x);
    case IR_REDUCE_CUSTOM: break;  // reduce.c runs the combiner
    }
    return (ShadowValue){0, HUGE_VAL};
}

// ---- dot ----------------------------------------------------------------------------------------

// v, e and |v| + e of an operand, and the facts that rule S and the precisions need about it.
typedef struct ShadowMatrix {
    ShadowValue *s;
    double greatest;
    int lowest;
    bool finite;
} ShadowMatrix;

static ShadowMatrix matrix_of(InterpRun *run, const InterpSlot *s) {
    ShadowMatrix m = {arena_new(run->scratch, ShadowValue, s->count), 0, 10000, true};
    for (uint32_t i = 0; i < s->count; i++) {
        m.s[i] = shadow_get(s, i);
        double v = fabs(m.s[i].v);
        if (!isfinite(v)) {
            m.finite = false;
            continue;
        }
        m.greatest = fmax(m.greatest, v);
        if (v != 0 && last_bit(v) < m.lowest) m.lowest = last_bit(v);
    }
    return m;
}

// Numbers of this type are multiples of 2^this.
static int least_bit(Dtype t) {
    const DtypeFloat *f = dtype_float(t);
    return f->min_exponent - f->precision + 1;
}

typedef struct DotBound {
    Dtype wide;
    uint64_t k;
    int precision;      // bits that sums keep
    int lowest;         // products are multiples of 2^lowest
    bool exact;         // no operand has an error
    double least;       // operands below it may be flushed to 0
    bool flushes;       // subnormal sums may be flushed as well
    bool inexact_sums;  // exact sums may be computed inexactly
    double relative;    // of the operands' representation, times |A||B|
    double absolute;
} DotBound;

static DotBound dot_bound(const InterpRun *run, const IrOp *op, const InterpSlot *a, Dtype wide,
                          uint64_t k, const ShadowMatrix *x, const ShadowMatrix *y) {
    enum { SHORT = 13 };
    DotBound d = {.wide = wide, .k = k, .lowest = x->lowest + y->lowest};
    d.precision = dtype_float(wide)->precision;
    bool unit = ir_attr_int(op, IR_ATTR_PRECISION) == IR_PRECISION_UNIT;
    if (unit && run->launch->short_sums && wide != DTYPE_F64 && d.precision > SHORT)
        d.precision = SHORT;
    int64_t precision = a->elem == DTYPE_F32 ? ir_attr_int(op, IR_ATTR_PRECISION) : 0;
    bool inexact = a->elem == DTYPE_F64 || (a->elem == DTYPE_F32 && wide != DTYPE_F64) ||
                   d.lowest < least_bit(wide);
    if (inexact) d.absolute = (double)k * half_ulp(wide, 0);
    if (wide == DTYPE_F64) return d;
    double low_parts = (double)k * ldexp(1, -126) * (x->greatest + y->greatest);
    double dropped = ldexp(1, run->approximate ? -10 : -11);
    if (precision == IR_PRECISION_TF32) d.relative = 2 * dropped + dropped * dropped;
    if (precision == IR_PRECISION_TF32X3) d.relative = ldexp(3, -22);
    if (precision == IR_PRECISION_BF16X3) d.relative = ldexp(3, -16);
    if (precision == IR_PRECISION_TF32X3 || precision == IR_PRECISION_BF16X3) {
        d.absolute += low_parts;
        d.k = 3 * k;
    }
    return d;
}

typedef struct DotSums {
    double v, magnitude, reach, part;
    double lost;  // of products with an operand that may be subnormal
} DotSums;

// Multiplied as f16 or bf16 if the unit does not take the type itself.
static bool is_half(Dtype factor) {
    return factor == DTYPE_F16 || factor == DTYPE_BF16 || dtype_is(factor, DTYPE_CLASS_FP8);
}

// The magnitude below which the device takes operands of a type as 0, if it does.
static double least_kept(const InterpRun *run, Dtype factor, Dtype sum) {
    switch (run->launch->flushes) {
    case IR_FLUSHES_NONE: return 0;
    case IR_FLUSHES_BF16: return factor == DTYPE_BF16 && sum == DTYPE_F32 ? ldexp(1, -126) : 0;
    case IR_FLUSHES_HALVES:
        if (factor == DTYPE_BF16) return ldexp(1, -126);
        return factor == DTYPE_F16 || dtype_is(factor, DTYPE_CLASS_FP8) ? ldexp(1, -14) : 0;
    }
    UNREACHABLE("flushes %d", (int)run->launch->flushes);
}

// The part of an operand that the device may take as 0.
static double flushed(double least, ShadowValue s) {
    double reach = fabs(s.v) + s.e;
    return fabs(s.v) - s.e < least ? fmin(reach, least) : 0;
}

static double product_lost(double least, ShadowValue a, ShadowValue b) {
    double x = flushed(least, a), y = flushed(least, b), lost = 0;
    if (x > 0) lost += x * (fabs(b.v) + b.e);
    if (y > 0) lost += y * (fabs(a.v) + a.e);
    return isnan(lost) ? HUGE_VAL : lost;
}

static void dot_term(const DotBound *bound, DotSums *d, ShadowValue a, ShadowValue b) {
    if (bound->least > 0) d->lost += product_lost(bound->least, a, b);
    double v = a.v * b.v;
    d->v += v;
    d->magnitude += fabs(v);
    d->reach += (fabs(a.v) + a.e) * (fabs(b.v) + b.e);
    if (a.e > 0 || b.e > 0) d->part += fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e;
}

static ShadowValue dot_shadow(const DotBound *b, const DotSums *d, ShadowValue c, Dtype t,
                              uint64_t x) {
    const DtypeFloat *f = dtype_float(b->wide);
    double v = d->v + c.v, magnitude = d->magnitude + fabs(c.v);
    double reach = d->reach + fabs(c.v) + c.e;
    bool exact = b->exact && c.e == 0 && d->lost == 0;
    if (!isfinite(v)) return (ShadowValue){v, exact ? 0 : HUGE_VAL};
    int lowest = b->lowest;
    if (c.v != 0 && last_bit(c.v) < lowest) lowest = last_bit(c.v);
    // Sums are multiples of 2^lowest: if that is not subnormal, no sum is.
    bool sums_flushed = b->flushes && (!exact || lowest < -126);
    bool kept = exact && !sums_flushed && !b->inexact_sums && lowest >= least_bit(b->wide);
    if (kept && b->relative == 0 && magnitude < ldexp(1, lowest + b->precision))
        return shadow_exact(t, x);
    double e = c.e + d->part + 2 * (double)(b->k + 2) * ldexp(1, -b->precision) * reach +
               ldexp((double)b->k + 1, -53) * magnitude + b->relative * d->reach + b->absolute +
               d->lost;
    if (sums_flushed) e += (double)(b->k + 1) * ldexp(1, -126);
    if (reach > f->greatest) e = HUGE_VAL;
    return shadow_finish(t, false, v, e, true);
}

void shadow_dot(InterpRun *run, const IrOp *op, InterpSlot *a, InterpSlot *b, InterpSlot *c,
                InterpSlot *r) {
    bool shadowed = a->shadowed || b->shadowed || (c && c->shadowed);
    if (dtype_is(r->elem, DTYPE_CLASS_INT)) {
        if (shadowed) slot_set_undecided(run, r);
        return;
    }
    uint32_t rank = a->type->rank;
    uint64_t m = a->type->shape[rank - 2], k = a->type->shape[rank - 1];
    uint64_t n = b->type->shape[rank - 1];
    ShadowMatrix x = matrix_of(run, a), y = matrix_of(run, b);
    DotBound bound = dot_bound(run, op, a, r->elem, k, &x, &y);
    bound.exact = !a->shadowed && !b->shadowed;
    bound.least = least_kept(run, a->elem, r->elem);
    bound.inexact_sums = run->launch->loose_pairs && r->elem != DTYPE_F64 && is_half(a->elem);
    if (bound.inexact_sums) bound.k = 3 * k;
    bound.flushes =
        bound.inexact_sums || (bound.least > 0 && run->launch->flushes == IR_FLUSHES_BF16);
    ShadowValue *shadow = slot_shadow_blank(run, r);
    DotSums *row = arena_new(run->scratch, DotSums, n);
    for (uint64_t i = 0; i < r->count / n; i++) {
        uint64_t batch = i / m;
        memset(row, 0, n * sizeof *row);
        for (uint64_t p = 0; p < k; p++)
            for (uint64_t j = 0; j < n; j++)
                dot_term(&bound, &row[j], x.s[i * k + p], y.s[(batch * k + p) * n + j]);
        for (uint64_t j = 0; j < n; j++) {
            ShadowValue start = c ? shadow_get(c, i * n + j) : (ShadowValue){0, 0};
            shadow[i * n + j] = dot_shadow(&bound, &row[j], start, r->elem, slot_get(r, i * n + j));
        }
    }
}
