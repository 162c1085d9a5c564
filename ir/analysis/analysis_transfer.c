// Ranges: the range of each op's result, from its operands' ranges.
//
// Interval ends are computed in 128 bits. range_between says whether the result fits its type (then
// it is the exact number) or may wrap (then it has only the type's range, and a power of two as
// divisor).
#include "ir/analysis/analysis_internal.h"

typedef struct Sides {
    const IrType *type;  // of the result
    IrRange a, b;
    bool constant_b;  // b is a single known number
    bool counts;      // a is not negative, by IR_MATH_WRAP
    bool *exact;
} Sides;

static bool fits(const IrType *type, Int128 min, Int128 max) {
    IrRange full = range_full(type);
    return min >= (type->elem == DTYPE_U64 ? 0 : full.min) && max <= full.max;
}

// A u64 that may pass INT64_MAX has no usable interval.
static bool countable(const IrType *type, const IrRange *range) {
    return range->known && !range_is_full_u64(type, range);
}

static uint64_t power_of_two_in(uint64_t divisor) { return divisor & (0 - divisor); }

static uint64_t multiply_divisors(uint64_t a, uint64_t b) {
    if (a == IR_ZERO_DIVISOR || b == IR_ZERO_DIVISOR) return IR_ZERO_DIVISOR;
    uint64_t product;
    if (!__builtin_mul_overflow(a, b, &product) && product < IR_ZERO_DIVISOR >> 1) return product;
    a = power_of_two_in(a);
    b = power_of_two_in(b);
    if (__builtin_mul_overflow(a, b, &product) || product > IR_ZERO_DIVISOR >> 1) {
        return IR_ZERO_DIVISOR >> 1;
    }
    return product;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void set_run(IrRange *range, int d, uint32_t run, uint64_t first) {
    range->contiguous[d] = run;
    range->first[d] = first < range->divisor ? range->divisor : first;
}

// ---- sums ---------------------------------------------------------------------------------------

// The runs of a + b (or a - b): one side is contiguous, the other constant.
static void runs_of_sum(const Sides *s, IrRange *range, bool minus) {
    for (uint32_t d = 0; d < s->type->rank; d++) {
        range->constant[d] = least(s->a.constant[d], s->b.constant[d]);
        uint32_t run = least(s->a.contiguous[d], s->b.constant[d]);
        uint32_t turned = minus ? 1 : least(s->a.constant[d], s->b.contiguous[d]);
        const IrRange *runs = run >= turned ? &s->a : &s->b, *stays = run >= turned ? &s->b : &s->a;
        if (turned > run) run = turned;
        uint64_t first = runs->first[d];
        if (run < runs->contiguous[d]) first = range_gcd(first, run);
        set_run(range, (int)d, run, range_gcd(first, stays->divisor));
    }
}

// A sum that may wrap does so between two multiples of a power of two: inside of aligned groups the
// elements are still neighbours.
static void runs_of_wrapping_sum(const Sides *s, IrRange *range, bool minus) {
    runs_of_sum(s, range, minus);
    for (uint32_t d = 0; d < s->type->rank; d++) {
        uint64_t aligned = power_of_two_in(range->first[d]);
        if (range->contiguous[d] > aligned) range->contiguous[d] = (uint32_t)aligned;
        set_run(range, (int)d, range->contiguous[d], aligned);
    }
}

static IrRange range_sum(const Sides *s, bool minus) {
    uint64_t divisor = range_gcd(s->a.divisor, s->b.divisor);
    if (!countable(s->type, &s->a) || !countable(s->type, &s->b)) {
        IrRange range = range_full(s->type);
        range.divisor = power_of_two_in(divisor);
        for (int d = 0; d < IR_MAX_RANK; d++) range.first[d] = range.divisor;
        return range;
    }
    Int128 min = (Int128)s->a.min + (minus ? -(Int128)s->b.max : s->b.min);
    Int128 max = (Int128)s->a.max + (minus ? -(Int128)s->b.min : s->b.max);
    *s->exact = fits(s->type, min, max);
    IrRange range = range_between(s->type, min, max, divisor);
    (*s->exact ? runs_of_sum : runs_of_wrapping_sum)(s, &range, minus);
    return range;
}

// ---- products -----------------------------------------------------------------------------------

static void runs_of_constant_sides(const Sides *s, IrRange *range) {
    for (uint32_t d = 0; d < s->type->rank; d++) {
        range->constant[d] = least(s->a.constant[d], s->b.constant[d]);
    }
}

static IrRange range_product(const Sides *s) {
    uint64_t divisor = multiply_divisors(s->a.divisor, s->b.divisor);
    IrRange range;
    if (!countable(s->type, &s->a) || !countable(s->type, &s->b)) {
        range = range_between(s->type, 1, 0, divisor);
    } else {
        Int128 ends[4] = {(Int128)s->a.min * s->b.min, (Int128)s->a.min * s->b.max,
                          (Int128)s->a.max * s->b.min, (Int128)s->a.max * s->b.max};
        Int128 min = ends[0], max = ends[0];
        for (int i = 1; i < 4; i++) {
            if (ends[i] < min) min = ends[i];
            if (ends[i] > max) max = ends[i];
        }
        *s->exact = fits(s->type, min, max);
        range = range_between(s->type, min, max, divisor);
    }
    runs_of_constant_sides(s, &range);
    if (s->constant_b && s->b.min == 1) return s->a;
    return range;
}

// The aligned power of two that divides the starts of x's runs, as far as a run reaches.
static uint32_t run_within(const IrRange *x, uint32_t d, uint64_t size) {
    uint64_t aligned = power_of_two_in(x->first[d]);
    if (aligned > size) aligned = size;
    return x->contiguous[d] < aligned ? x->contiguous[d] : (uint32_t)aligned;
}

// The runs of x / size for a power of two: `size` neighbours have the same quotient.
static void runs_of_quotient(const Sides *s, IrRange *range, int64_t size) {
    bool power = size > 0 && (size & (size - 1)) == 0 && s->a.min >= 0;
    for (uint32_t d = 0; d < s->type->rank; d++) {
        uint32_t run = power ? run_within(&s->a, d, (uint64_t)size) : 1;
        range->constant[d] = s->a.constant[d] > run ? s->a.constant[d] : run;
    }
}

static IrRange range_quotient(const Sides *s) {
    if (!countable(s->type, &s->a) || !countable(s->type, &s->b)) {
        if (s->constant_b && s->b.min > 1) {  // a u64 divided by 2 or more is below 2^63
            return range_between(s->type, 0, INT64_MAX, 1);
        }
        return range_full(s->type);
    }
    if (s->constant_b && s->b.min > 0) {
        int64_t c = s->b.min;
        uint64_t divisor = 1;
        if (s->a.divisor == IR_ZERO_DIVISOR)
            divisor = IR_ZERO_DIVISOR;
        else if (s->a.divisor % (uint64_t)c == 0)
            divisor = s->a.divisor / (uint64_t)c;
        *s->exact = false;
        IrRange range = range_between(s->type, s->a.min / c, s->a.max / c, divisor);
        runs_of_quotient(s, &range, c);
        return range;
    }
    // |a / b| <= |a|, and the least number divided by -1 is itself.
    bool negatives = s->b.min < 0;
    Int128 magnitude = s->a.max > 0 ? s->a.max : 0;
    if (-(Int128)s->a.min > magnitude) magnitude = -(Int128)s->a.min;
    Int128 min = negatives ? -magnitude : s->a.min < 0 ? s->a.min : 0;
    Int128 max = negatives ? magnitude : s->a.max > 0 ? s->a.max : 0;
    IrRange range = range_between(s->type, min, max, 1);
    runs_of_constant_sides(s, &range);
    return range;
}

// The runs of x % n for a number n that is only known to be a multiple of a power of two: in
// aligned groups of that size the quotient is the same, unless x may be negative.
static void runs_of_remainder(const Sides *s, IrRange *range) {
    bool ordered = s->a.min >= 0 || s->counts;
    uint64_t size = power_of_two_in(s->b.divisor);
    for (uint32_t d = 0; d < s->type->rank && ordered; d++) {
        if (s->b.constant[d] < s->type->shape[d]) continue;
        if (s->a.constant[d] >= s->type->shape[d]) {
            range->constant[d] = s->a.constant[d];
            continue;
        }
        uint32_t run = run_within(&s->a, d, size);
        if (run > 1) set_run(range, (int)d, run, range_gcd(run, size));
    }
}

static IrRange range_remainder(const Sides *s) {
    if (!s->constant_b || s->b.min <= 0 || !countable(s->type, &s->a)) {
        uint64_t divisor = range_gcd(s->a.divisor, s->b.divisor);
        if (!countable(s->type, &s->a) || !countable(s->type, &s->b)) {
            if (!(s->constant_b && s->b.min > 0)) return range_full(s->type);
            return range_between(s->type, 0, s->b.min - 1, 1);
        }
        // The remainder has a's sign and its magnitude is at most a's; x % 0 is x.
        Int128 min = s->a.min < 0 ? s->a.min : 0, max = s->a.max > 0 ? s->a.max : 0;
        if (s->b.min > 0) {
            if (min < 1 - (Int128)s->b.max) min = 1 - (Int128)s->b.max;
            if (max > (Int128)s->b.max - 1) max = (Int128)s->b.max - 1;
        }
        IrRange range = range_between(s->type, min, max, divisor);
        runs_of_remainder(s, &range);
        return range;
    }
    int64_t c = s->b.min;
    if (s->a.min >= 0 && s->a.max < c) return s->a;
    if (s->a.divisor == IR_ZERO_DIVISOR || s->a.divisor % (uint64_t)c == 0) {
        return range_constant(s->type, 0);
    }
    int64_t min = s->a.min >= 0 ? 0 : s->a.min > 1 - c ? s->a.min : 1 - c;
    int64_t max = s->a.max <= 0 ? 0 : s->a.max < c - 1 ? s->a.max : c - 1;
    IrRange range = range_between(s->type, min, max, range_gcd(s->a.divisor, (uint64_t)c));
    for (uint32_t d = 0; d < s->type->rank; d++) {
        range.constant[d] = s->a.constant[d];
        if (s->a.min < 0 || (c & (c - 1)) != 0) continue;
        uint32_t run = run_within(&s->a, d, (uint64_t)c);
        uint64_t first = run < s->a.contiguous[d] ? range_gcd(s->a.first[d], run) : s->a.first[d];
        set_run(&range, (int)d, run, range_gcd(first, (uint64_t)c));
    }
    return range;
}

// ---- bits ---------------------------------------------------------------------------------------

// All ones up to the highest bit of x >= 0.
static int64_t ones_over(int64_t x) {
    uint64_t ones = (uint64_t)x;
    for (int shift = 1; shift < 64; shift *= 2) ones |= ones >> shift;
    return (int64_t)ones;
}

static IrRange range_bits(const Sides *s, IrOpcode code) {
    bool a_positive = s->a.min >= 0, b_positive = s->b.min >= 0;
    uint64_t a = power_of_two_in(s->a.divisor), b = power_of_two_in(s->b.divisor);
    if (code == IR_AND) {
        // x & (2^k - 1) is x % 2^k for an x that is not negative.
        if (s->constant_b && b_positive && a_positive && s->b.min < INT64_MAX &&
            (s->b.min & (s->b.min + 1)) == 0) {
            Sides rest = *s;
            rest.b = range_constant(s->type, s->b.min + 1);
            if (fits(s->type, s->b.min + 1, s->b.min + 1)) return range_remainder(&rest);
        }
        if (!a_positive && !b_positive) return range_full(s->type);
        int64_t max = a_positive && b_positive ? (s->a.max < s->b.max ? s->a.max : s->b.max)
                      : a_positive             ? s->a.max
                                               : s->b.max;
        IrRange range = range_between(s->type, 0, max, a > b ? a : b);
        runs_of_constant_sides(s, &range);
        return range;
    }
    if (!a_positive || !b_positive) return range_full(s->type);
    IrRange range = range_between(s->type, 0, ones_over(s->a.max | s->b.max), a < b ? a : b);
    runs_of_constant_sides(s, &range);
    return range;
}

static IrRange range_shift(const Sides *s, IrOpcode code) {
    unsigned width = dtype_bits(s->type->elem);
    if (!s->constant_b || s->b.min < 0 || s->b.min >= (int64_t)width || s->b.min > 62 ||
        !countable(s->type, &s->a)) {
        return range_full(s->type);
    }
    int64_t scale = INT64_C(1) << s->b.min;
    Sides times = *s;
    IrType wide = *s->type;
    wide.elem = DTYPE_I64;  // the factor may not be a number of the type: 1 << 7 in i8
    times.b = range_constant(&wide, scale);
    if (code == IR_SHL) return range_product(&times);
    uint64_t divisor = 1;
    if (s->a.divisor == IR_ZERO_DIVISOR)
        divisor = IR_ZERO_DIVISOR;
    else if (s->a.divisor % (uint64_t)scale == 0)
        divisor = s->a.divisor / (uint64_t)scale;
    IrRange range = range_between(s->type, s->a.min >> s->b.min, s->a.max >> s->b.min, divisor);
    runs_of_quotient(s, &range, scale);
    return range;
}

static IrRange range_extreme(const Sides *s, IrOpcode code) {
    if (!countable(s->type, &s->a) || !countable(s->type, &s->b)) return range_full(s->type);
    bool low = code == IR_MIN;
    int64_t min = (s->a.min < s->b.min) == low ? s->a.min : s->b.min;
    int64_t max = (s->a.max < s->b.max) == low ? s->a.max : s->b.max;
    IrRange range = range_between(s->type, min, max, range_gcd(s->a.divisor, s->b.divisor));
    runs_of_constant_sides(s, &range);
    return range;
}

// Is it not negative with the freedom of IR_MATH_WRAP?
static bool counts_up(const IrRanges *r, const IrValue *v, int depth) {
    IrRange range = range_get(r, v);
    if (range.known && range.min >= 0) return true;
    if (!(r->func->math & IR_MATH_WRAP) || !v->def || depth == 0) return false;
    const IrValue *a = ir_operand(v->def, 0);
    switch (v->def->code) {
    case IR_ADD:
    case IR_MUL:
        return counts_up(r, a, depth - 1) && counts_up(r, ir_operand(v->def, 1), depth - 1);
    case IR_DIV:
    case IR_REM:
    case IR_CAST:
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_PERMUTE:
    case IR_GPU_CONVERT: return counts_up(r, a, depth - 1);
    default: return false;
    }
}

static IrRange range_binary(const IrRanges *r, const IrOp *op, bool *exact) {
    enum { COUNTS_DEPTH = 8 };
    Sides s = {.type = op->results[0].type,
               .a = range_get(r, ir_operand(op, 0)),
               .b = range_get(r, ir_operand(op, 1)),
               .counts = op->code == IR_REM && counts_up(r, ir_operand(op, 0), COUNTS_DEPTH),
               .exact = exact};
    if (!s.a.known || !s.b.known) return range_full(s.type);
    s.constant_b = s.b.min == s.b.max;
    switch (op->code) {
    case IR_ADD: return range_sum(&s, false);
    case IR_SUB: return range_sum(&s, true);
    case IR_MUL: return range_product(&s);
    case IR_DIV: return range_quotient(&s);
    case IR_REM: return range_remainder(&s);
    case IR_MIN:
    case IR_MAX: return range_extreme(&s, op->code);
    case IR_AND:
    case IR_OR:
    case IR_XOR: return range_bits(&s, op->code);
    case IR_SHL:
    case IR_SHR: return range_shift(&s, op->code);
    default: break;
    }
    return range_full(s.type);
}

// ---- one operand --------------------------------------------------------------------------------

static IrRange range_negated(const IrType *type, const IrRange *x, bool *exact) {
    if (!countable(type, x)) return range_full(type);
    Int128 min = -(Int128)x->max, max = -(Int128)x->min;
    *exact = fits(type, min, max);
    IrRange range = range_between(type, min, max, x->divisor);
    for (uint32_t d = 0; d < type->rank; d++) range.constant[d] = x->constant[d];
    return range;
}

static IrRange range_absolute(const IrType *type, const IrRange *x) {
    if (!countable(type, x)) return range_full(type);
    if (x->min >= 0) return *x;
    bool ignored;
    if (x->max <= 0) return range_negated(type, x, &ignored);
    Int128 max = -(Int128)x->min > x->max ? -(Int128)x->min : x->max;
    // The absolute value of the least integer is itself.
    if (!fits(type, 0, max)) return range_between(type, x->min, max, x->divisor);
    return range_between(type, 0, max, x->divisor);
}

static IrRange range_flipped(const IrType *type, const IrRange *x) {
    if (!dtype_signed(type->elem)) return range_full(type);
    IrRange range = range_between(type, -1 - (Int128)x->max, -1 - (Int128)x->min, 1);
    for (uint32_t d = 0; d < type->rank; d++) range.constant[d] = x->constant[d];
    return range;
}

static IrRange range_cast(const IrRanges *r, const IrOp *op, bool *exact) {
    const IrType *type = op->results[0].type, *from = ir_operand(op, 0)->type;
    if (from->kind == IR_TILE && from->elem == DTYPE_BOOL && op->code == IR_CAST) {
        return range_between(type, 0, 1, 1);
    }
    IrRange x = range_get(r, ir_operand(op, 0));
    if (!x.known || from->kind != IR_TILE || !dtype_is(from->elem, DTYPE_CLASS_INT)) {
        return range_full(type);
    }
    if (countable(from, &x) && fits(type, x.min, x.max)) {
        *exact = true;
        return x;
    }
    IrRange range = range_between(type, 1, 0, x.divisor);
    for (uint32_t d = 0; d < type->rank; d++) range.constant[d] = x.constant[d];
    return range;
}

// One of the values, or 0.
static IrRange range_looked_up(const IrType *type, const IrOp *op) {
    if (!dtype_is(type->elem, DTYPE_CLASS_INT)) return range_full(type);
    const IrAttr *values = ir_attr(op, IR_ATTR_VALUES);
    Int128 min = 0, max = 0;
    uint64_t divisor = IR_ZERO_DIVISOR;
    for (uint32_t i = 0; i < values->u.consts.count; i++) {
        int64_t value = dtype_to_i64(type->elem, values->u.consts.items[i]);
        if (value < 0 && !dtype_signed(type->elem)) return range_full(type);
        if (value < min) min = value;
        if (value > max) max = value;
        divisor = range_gcd(divisor, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    }
    return range_between(type, min, max, divisor);
}

// ---- shapes -------------------------------------------------------------------------------------

static void drop_runs(IrRange *range) {
    for (int d = 0; d < IR_MAX_RANK; d++) {
        range->contiguous[d] = range->constant[d] = 1;
        range->first[d] = range->divisor;
    }
}

static IrRange range_stretched(const IrType *type, const IrType *from, IrRange range) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (from->rank != 0 && from->shape[d] == type->shape[d]) continue;
        range.contiguous[d] = 1;
        range.first[d] = range.divisor;
        range.constant[d] = type->shape[d];
    }
    return range;
}

// Runs stay with their dimension if only dimensions of 1 are added or removed.
static IrRange range_reshaped(const IrType *type, const IrType *from, const IrRange *x) {
    IrRange range = *x;
    drop_runs(&range);
    uint32_t k = 0;
    for (uint32_t d = 0; d < type->rank; d++) {
        if (type->shape[d] == 1) continue;
        while (k < from->rank && from->shape[k] == 1) k++;
        if (k == from->rank || from->shape[k] != type->shape[d]) {
            drop_runs(&range);
            break;
        }
        range.contiguous[d] = x->contiguous[k];
        range.first[d] = x->first[k];
        range.constant[d] = x->constant[k++];
    }
    if (x->min == x->max) return range_constant(type, x->min);
    return range;
}

static IrRange range_permuted(const IrOp *op, const IrRange *x) {
    IrRange range = *x;
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    for (uint32_t d = 0; d < perm->u.ints.count && d < IR_MAX_RANK; d++) {
        int64_t from = perm->u.ints.items[d];
        range.contiguous[d] = x->contiguous[from];
        range.constant[d] = x->constant[from];
        range.first[d] = x->first[from];
    }
    return range;
}

static IrRange range_iota(const IrType *type) {
    IrRange range = range_between(type, 0, (Int128)type->shape[0] - 1, 1);
    range.contiguous[0] = type->shape[0];
    range.first[0] = IR_ZERO_DIVISOR;
    return range;
}

// The elements of several operands together, in any order.
static IrRange range_mixed(const IrRanges *r, const IrOp *op, uint32_t first, uint32_t last) {
    IrRange range = range_get(r, ir_operand(op, first));
    for (uint32_t i = first + 1; i <= last; i++) {
        IrRange more = range_get(r, ir_operand(op, i));
        range = range_join(&range, &more);
    }
    drop_runs(&range);
    return range;
}

static IrRange range_selected(const IrRanges *r, const IrOp *op) {
    IrRange a = range_get(r, ir_operand(op, 1)), b = range_get(r, ir_operand(op, 2));
    IrRange range = range_join(&a, &b);
    // With a condition for each lane, neighbours may come from different arms.
    if (ir_operand(op, 0)->type->rank != 0) drop_runs(&range);
    return range;
}

// ---- reductions ---------------------------------------------------------------------------------

static IrRange range_sums(const IrType *type, const IrRange *x, uint64_t count, bool any_count) {
    if (!countable(type, x)) return range_full(type);
    Int128 min = (Int128)x->min * (Int128)count, max = (Int128)x->max * (Int128)count;
    if (any_count) {  // from none to all
        if (min > 0) min = 0;
        if (max < 0) max = 0;
    }
    return range_between(type, min, max, x->divisor);
}

static IrRange range_reduced(const IrRanges *r, const IrOp *op, uint32_t i) {
    const IrType *type = op->results[i].type;
    IrReduce kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE);
    if (kind == IR_REDUCE_CUSTOM) return range_full(type);
    const IrValue *x = ir_operand(op, 1);
    uint64_t extent = x->type->shape[ir_attr_int(op, IR_ATTR_AXIS)];
    if (kind == IR_REDUCE_ARGMIN || kind == IR_REDUCE_ARGMAX) {
        return range_between(type, 0, (Int128)extent - 1, 1);
    }
    IrRange range = range_get(r, x);
    if (!range.known) return range_full(type);
    bool masked = ir_operand(op, 0) != NULL;
    if (kind == IR_REDUCE_SUM) return range_sums(type, &range, extent, masked);
    // The identity, which an empty mask gives, is a limit of the type.
    if (masked || (kind != IR_REDUCE_MIN && kind != IR_REDUCE_MAX)) return range_full(type);
    drop_runs(&range);
    return range;
}

static IrRange range_scanned(const IrRanges *r, const IrOp *op, uint32_t i) {
    const IrType *type = op->results[i].type;
    IrReduce kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE);
    if (kind != IR_REDUCE_SUM) return range_full(type);
    IrRange x = range_get(r, ir_operand(op, i));
    if (!x.known) return range_full(type);
    return range_sums(type, &x, type->shape[ir_attr_int(op, IR_ATTR_AXIS)], true);
}

// ---- every op -----------------------------------------------------------------------------------

static IrRange range_of_extent(const IrRanges *r, const IrOp *op) {
    const IrRange *extent = range_extent(r, ir_attr(op, IR_ATTR_EXTENT)->u.name);
    return extent ? *extent : range_between(op->results[0].type, 0, LIMIT_EXTENT, 1);
}

static IrRange range_of_const(const IrOp *op) {
    const IrType *type = op->results[0].type;
    uint64_t bits = ir_attr(op, IR_ATTR_VALUE)->u.bits;
    if (type->elem == DTYPE_U64 && bits > INT64_MAX) return range_full(type);
    return range_constant(type, dtype_to_i64(type->elem, bits));
}

static IrRange range_moved(const IrRanges *r, const IrOp *op, uint32_t i, const IrRange *x) {
    const IrType *type = op->results[i].type, *from = ir_operand(op, 0)->type;
    IrRange range = *x, zero = range_constant(type, 0);
    switch (op->code) {
    case IR_BROADCAST: return range_stretched(type, from, range);
    case IR_RESHAPE: return range_reshaped(type, from, x);
    case IR_PERMUTE: return range_permuted(op, x);
    case IR_JOIN:
    case IR_CAT: return range_mixed(r, op, 0, 1);
    case IR_SPLIT: break;
    case IR_GATHER: range = range_join(&range, &zero); break;
    default: break;
    }
    drop_runs(&range);
    return range;
}

enum { THREADS_MAX = 1 << 15 };  // of a program: 32 for each of at most 1024 warps

static IrRange range_of_grid(const IrOp *op) {
    bool all = op->code == IR_PROGRAMS, narrow = ir_attr_int(op, IR_ATTR_NARROW) != 0;
    int64_t count = narrow ? LIMIT_NARROW_GRID : LIMIT_GRID;
    return range_between(op->results[0].type, all, all ? count : count - 1, 1);
}

static IrRange range_of_packed(const IrRanges *r, const IrOp *op) {
    IrRange range = range_get(r, ir_operand(op, 0));
    for (uint32_t i = 1; i < op->operand_count && range.known; i++) {
        IrRange more = range_get(r, ir_operand(op, i));
        range = more.known ? range_join(&range, &more) : more;
    }
    if (!range.known) return range_full(op->results[0].type);
    drop_runs(&range);
    return range;
}

IrRange range_of_op(const IrRanges *r, const IrOp *op, uint32_t i, bool *exact) {
    const IrType *type = op->results[i].type;
    const IrValue *first = op->operand_count ? ir_operand(op, 0) : NULL;
    IrRange x = first ? range_get(r, first) : range_nothing();
    switch (ir_op_info(op->code)->rule) {
    case IR_RULE_CONST: return range_of_const(op);
    case IR_RULE_SCALAR_I64: return range_of_grid(op);
    case IR_RULE_UNITS: return range_between(type, 1, LIMIT_GRID, 1);
    case IR_RULE_THREAD_ID: return range_between(type, 0, THREADS_MAX - 1, 1);
    case IR_RULE_THREAD_PACK: return range_of_packed(r, op);
    case IR_RULE_VEC_LANE:
        if (!x.known) break;
        drop_runs(&x);
        return x;
    case IR_RULE_EXTENT: return range_of_extent(r, op);
    case IR_RULE_IOTA: return range_iota(type);
    case IR_RULE_BINARY:
    case IR_RULE_SHIFT: return range_binary(r, op, exact);
    case IR_RULE_UNARY:
        if (op->code == IR_POPCOUNT || op->code == IR_CLZ || op->code == IR_CTZ)
            return range_between(type, 0, dtype_bits(type->elem), 1);
        if (!x.known) break;
        if (op->code == IR_NEG) return range_negated(type, &x, exact);
        if (op->code == IR_ABS) return range_absolute(type, &x);
        if (op->code == IR_NOT) return range_flipped(type, &x);
        break;
    case IR_RULE_SELECT: return range_selected(r, op);
    case IR_RULE_CAST:
    case IR_RULE_BITCAST: return range_cast(r, op, exact);
    case IR_RULE_LOOKUP: return range_looked_up(type, op);
    case IR_RULE_BROADCAST:
    case IR_RULE_RESHAPE:
    case IR_RULE_PERMUTE:
    case IR_RULE_JOIN:
    case IR_RULE_SPLIT:
    case IR_RULE_CAT:
    case IR_RULE_GATHER:
        if (x.known) return range_moved(r, op, i, &x);
        break;
    case IR_RULE_REDUCE: return range_reduced(r, op, i);
    case IR_RULE_SCAN: return range_scanned(r, op, i);
    case IR_RULE_SORT:
        x = range_get(r, ir_operand(op, i));
        drop_runs(&x);
        return x;
    case IR_RULE_TOPK: {
        uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
        if (i == 1) return range_between(type, 0, (Int128)first->type->shape[axis] - 1, 1);
        drop_runs(&x);
        return x;
    }
    case IR_RULE_HISTOGRAM: return range_between(type, 0, ir_operand(op, 1)->type->count, 1);
    default: break;  // values from memory, calls, products: anything that the type allows
    }
    return range_full(type);
}
