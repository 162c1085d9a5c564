// The shadow's rules for one lane: docs/numerics.md §5, row by row. All arithmetic is in double, as
// written there.
#include "ir/interp/internal.h"

// ---- rounding -----------------------------------------------------------------------------------

double half_ulp(Dtype t, double w) {
    const DtypeFloat *f = dtype_float(t);
    if (isnan(w) || isinf(w)) return w;
    int exponent = w == 0 ? f->min_exponent : ilogb(w);
    if (exponent < f->min_exponent) exponent = f->min_exponent;
    return ldexp(1, exponent - f->precision);
}

int last_bit(double x) {
    int exponent;
    uint64_t m = (uint64_t)ldexp(fabs(frexp(x, &exponent)), 53);
    exponent -= 53;
    while ((m & 1) == 0) {
        m >>= 1;
        exponent++;
    }
    return exponent;
}

// The ends of the interval that an operand may be in, rounded outwards: e may be below the double's
// own ulp of v.
static double low_end(ShadowValue s) { return s.e > 0 ? nextafter(s.v - s.e, -HUGE_VAL) : s.v; }
static double high_end(ShadowValue s) { return s.e > 0 ? nextafter(s.v + s.e, HUGE_VAL) : s.v; }

static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }

// The rounding of the shadow's own arithmetic; it may be subnormal only where f64's is.
static double own_rounding(Dtype t, double v) {
    return ldexp(fabs(v), -53) + (t == DTYPE_F64 ? ldexp(1, -1073) : 0);
}

static double rounded(Dtype t, double v, double p) {
    return p + half_ulp(t, fabs(v) + p) + own_rounding(t, v);
}

static double math_rounded(Dtype t, double v, double p, bool approximate) {
    double w = fabs(v) + p, ulps = approximate ? 32 : 4;
    double own = t == DTYPE_F64 || t == DTYPE_F32 ? ulps * half_ulp(t, w)
                                                  : ulps * half_ulp(DTYPE_F32, w) + half_ulp(t, w);
    return p + own + own_rounding(t, v);
}

ShadowValue shadow_finish(Dtype t, bool saturates, double v, double e, bool certain) {
    const DtypeFloat *f = dtype_float(t);
    if (isnan(v)) return (ShadowValue){v, certain ? 0 : HUGE_VAL};
    if (saturates) {
        if (isinf(v)) return (ShadowValue){copysign(f->greatest, v), certain ? 0 : HUGE_VAL};
        return (ShadowValue){fmax(-f->greatest, fmin(f->greatest, v)), isnan(e) ? HUGE_VAL : e};
    }
    if (isinf(v)) return (ShadowValue){f->has_inf ? v : (double)NAN, certain ? 0 : HUGE_VAL};
    if (isnan(e)) return (ShadowValue){v, HUGE_VAL};
    double limit = f->greatest + half_ulp(t, f->greatest);
    if (fabs(v) - e >= limit)
        return (ShadowValue){f->has_inf ? copysign(HUGE_VAL, v) : (double)NAN, 0};
    if (fabs(v) + e >= limit) e = HUGE_VAL;
    return (ShadowValue){v, e};
}

ShadowValue shadow_join(ShadowValue chosen, ShadowValue other) {
    double apart =
        chosen.v == other.v || (isnan(chosen.v) && isnan(other.v)) ? 0 : fabs(other.v - chosen.v);
    if (isnan(apart)) return (ShadowValue){chosen.v, HUGE_VAL};
    return (ShadowValue){chosen.v, fmax(chosen.e, apart + other.e)};
}

// ---- functions ----------------------------------------------------------------------------------

static long double wide_function(IrOpcode code, long double x) {
    switch (code) {
    case IR_FLOOR: return floorl(x);
    case IR_CEIL: return ceill(x);
    case IR_ROUND: return rintl(x);
    case IR_SQRT: return sqrt((double)x);  // the correctly rounded one
    case IR_RSQRT: return 1 / sqrtl(x);
    case IR_EXP: return expl(x);
    case IR_EXP2: return exp2l(x);
    case IR_LOG: return logl(x);
    case IR_LOG2: return log2l(x);
    case IR_SIN: return sinl(x);
    case IR_COS: return cosl(x);
    case IR_TAN: return tanl(x);
    case IR_TANH: return tanhl(x);
    case IR_ERF: return erfl(x);
    case IR_LOG1P: return log1pl(x);
    case IR_EXPM1: return expm1l(x);
    case IR_LOG10: return log10l(x);
    case IR_SINH: return sinhl(x);
    case IR_COSH: return coshl(x);
    case IR_ATAN: return atanl(x);
    case IR_ASIN: return asinl(x);
    case IR_ACOS: return acosl(x);
    case IR_CBRT: return cbrtl(x);
    case IR_ERFC: return erfcl(x);
    case IR_SIGMOID: return 1 / (1 + expl(-x));
    default: return (long double)NAN;  // not a function of one operand
    }
}

// To half an ulp of double: the double functions of a libm may be off by 2 ulp, which is all that
// f64 may be.
static double function(IrOpcode code, double x) { return (double)wide_function(code, x); }

static double spread(IrOpcode code, ShadowValue a, double v) {
    double high = function(code, high_end(a)), low = function(code, low_end(a));
    if (high == v && low == v) return 0;  // infinities
    return fmax(fabs(high - v), fabs(v - low));
}

static bool crosses_pole(ShadowValue a) {
    double pi = 3.14159265358979323846;
    return a.e > 0 && floor(low_end(a) / pi + 0.5) != floor(high_end(a) / pi + 0.5);
}

static bool reaches_zero(ShadowValue a) { return a.e > 0 && low_end(a) <= 0 && high_end(a) > 0; }

// The effect of the operand's uncertainty on the result; infinite if any result is possible.
static double function_part(const ShadowLane *l, double v) {
    ShadowValue a = l->in[0];
    double slope;
    if (a.e == 0) return 0;
    switch (l->code) {
    case IR_SIN: slope = fabs(cos(a.v)); return fmin(2, slope * a.e + a.e * a.e / 2);
    case IR_COS: slope = fabs(sin(a.v)); return fmin(2, slope * a.e + a.e * a.e / 2);
    case IR_TAN: return crosses_pole(a) ? HUGE_VAL : spread(l->code, a, v);
    case IR_COSH: return fmax(spread(l->code, a, v), fabs(a.v) < a.e ? v - 1 : 0);
    case IR_ASIN:
    case IR_ACOS:
        if (low_end(a) > 1 || high_end(a) < -1) return 0;
        return low_end(a) < -1 || high_end(a) > 1 ? HUGE_VAL : spread(l->code, a, v);
    case IR_LOG1P:
        if (high_end(a) < -1) return 0;
        return low_end(a) <= -1 ? HUGE_VAL : spread(l->code, a, v);
    case IR_LOG:
    case IR_LOG2:
    case IR_LOG10:
    case IR_RSQRT:
        if (high_end(a) <= 0) return high_end(a) < 0 ? 0 : HUGE_VAL;
        return reaches_zero(a) ? HUGE_VAL : spread(l->code, a, v);
    case IR_SQRT:
        if (high_end(a) < 0) return 0;
        if (low_end(a) < 0) return HUGE_VAL;
        return fmax(0, v - sqrt(low_end(a)));
    default: return spread(l->code, a, v);  // rising everywhere, or falling
    }
}

// math(approx): absolute bounds of the circular functions, what exp loses by the size of its
// argument, flushed subnormals.
static double approximate_part(const ShadowLane *l, double v, double e) {
    double least = ldexp(1, dtype_float(l->to)->min_exponent);
    bool circular = l->code == IR_SIN || l->code == IR_COS || l->code == IR_TAN;
    for (uint32_t i = 0; i < l->n; i++) {
        double magnitude = fabs(l->in[i].v);
        if (magnitude != 0 && magnitude - l->in[i].e < least) return HUGE_VAL;
        if (circular && magnitude + l->in[i].e > 3.1415927) return HUGE_VAL;
    }
    if (circular) e += ldexp(1, -20);
    double reach = fabs(l->in[0].v) + l->in[0].e;
    if ((l->code == IR_EXP || l->code == IR_SIGMOID) && isfinite(reach)) e += reach * ldexp(v, -23);
    return fabs(v) - e < least ? e + least : e;
}

static ShadowValue lane_function(const ShadowLane *l) {
    double v = function(l->code, l->in[0].v);
    double p = function_part(l, v), e;
    if (l->code == IR_FLOOR || l->code == IR_CEIL || l->code == IR_ROUND)
        return shadow_finish(l->to, false, v, p, true);
    if (l->code == IR_SQRT)
        e = l->approximate ? p + 4 * half_ulp(l->to, fabs(v) + p) : p;
    else
        e = math_rounded(l->to, v, p, l->approximate);
    if (l->code == IR_SQRT) e = l->approximate ? e + ldexp(v, -53) : rounded(l->to, v, p);
    if (l->approximate) e = approximate_part(l, v, e);
    bool fp8 = dtype_is(l->to, DTYPE_CLASS_FP8);
    bool certain = !isinf(p) && !isnan(p);
    return shadow_finish(l->to, fp8, v, e, certain);
}

static ShadowValue lane_power(const ShadowLane *l) {
    ShadowValue a = l->in[0], b = l->in[1];
    double v = (double)powl(a.v, b.v), p = 0, low = low_end(a), high = high_end(a);
    if (a.e > 0 || b.e > 0) {
        bool whole = b.e == 0 && b.v >= 0 && floor(b.v) == b.v;
        if (isnan(v) || (low <= 0 && !whole)) return (ShadowValue){v, HUGE_VAL};
        double reach[3] = {low, high, low < 0 && high > 0 ? 0 : low};
        for (int i = 0; i < 3; i++)
            for (int k = -1; k <= 1; k += 2)
                p = fmax(p, fabs((double)powl(reach[i], b.v + k * b.e) - v));
    }
    double e = math_rounded(l->to, v, p, l->approximate);
    if (l->approximate) e = approximate_part(l, v, e);
    return shadow_finish(l->to, dtype_is(l->to, DTYPE_CLASS_FP8), v, e, isfinite(p) != 0);
}

// The angle jumps where x is negative and y changes its sign; a zero of y has one sign.
static bool crosses_cut(ShadowValue y, ShadowValue x) {
    if (low_end(x) > 0 || low_end(y) > 0 || high_end(y) < 0) return false;
    return y.e > 0 || high_end(x) >= 0;
}

// Where it does not jump, its extremes are at corners.
static ShadowValue lane_angle(const ShadowLane *l) {
    ShadowValue y = l->in[0], x = l->in[1];
    double v = (double)atan2l(y.v, x.v), p = 0;
    if (isnan(y.v) || isnan(x.v)) return (ShadowValue){v, 0};
    // The reciprocal of a large number is subnormal.
    bool large = fmax(fabs(x.v) + x.e, fabs(y.v) + y.e) > 0x1p126;
    if (l->approximate && l->to != DTYPE_F64 && large) return (ShadowValue){v, HUGE_VAL};
    if (x.e > 0 || y.e > 0) {
        if (crosses_cut(y, x)) return (ShadowValue){v, HUGE_VAL};
        double ys[2] = {low_end(y), high_end(y)}, xs[2] = {low_end(x), high_end(x)};
        for (int i = 0; i < 4; i++) p = fmax(p, fabs((double)atan2l(ys[i / 2], xs[i % 2]) - v));
    }
    double e = math_rounded(l->to, v, p, l->approximate);
    if (l->approximate) e = approximate_part(l, v, e);
    return shadow_finish(l->to, dtype_is(l->to, DTYPE_CLASS_FP8), v, e, true);
}

// ---- arithmetic ---------------------------------------------------------------------------------

static bool holds_zero(ShadowValue s) { return s.e > 0 && fabs(s.v) <= s.e; }

// Is an infinity or NaN in the result the same for every value that the operands may have? It is if
// the operands have it. An overflow of the shadow's double counts as well, except for f64, where
// the bound itself may have overflowed.
static bool is_certain(const ShadowLane *l, double p) {
    bool exact = true;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!isfinite(l->in[i].v)) return true;
        exact = exact && l->in[i].e == 0;
    }
    return isfinite(p) && (exact || l->to != DTYPE_F64);
}

// Infinity times an interval that contains zero can be anything; exact zero makes a NaN, for
// certain.
static bool product_open(ShadowValue a, ShadowValue b) {
    return (isinf(a.v) && holds_zero(b)) || (isinf(b.v) && holds_zero(a));
}

static double product_part(ShadowValue a, ShadowValue b) {
    double part = 0;
    if (b.e > 0) part += fabs(a.v) * b.e;
    if (a.e > 0) part += fabs(b.v) * a.e;
    return a.e > 0 && b.e > 0 ? part + a.e * b.e : part;
}

static ShadowValue lane_divide(const ShadowLane *l) {
    ShadowValue a = l->in[0], b = l->in[1];
    double v = a.v / b.v;
    if (holds_zero(b) || (b.v == 0 && holds_zero(a))) return (ShadowValue){v, HUGE_VAL};
    // Hardware may compute a division by the reciprocal, which is subnormal there.
    if (l->approximate && l->to != DTYPE_F64 && fabs(b.v) + b.e > 0x1p126)
        return (ShadowValue){v, isinf(b.v) && b.e == 0 ? 0 : HUGE_VAL};
    double least = fabs(b.v) - b.e, p = 0;
    if (a.e > 0) p += a.e / least;
    if (b.e > 0) p += fabs(v) * (b.e / least);  // in this order |v| may be subnormal
    double e = rounded(l->to, v, p);
    if (l->approximate)
        e = approximate_part(l, v, p + 5 * half_ulp(l->to, fabs(v) + p) + ldexp(fabs(v), -53));
    return shadow_finish(l->to, dtype_is(l->to, DTYPE_CLASS_FP8), v, e, is_certain(l, p));
}

static ShadowValue lane_remainder(const ShadowLane *l) {
    ShadowValue a = l->in[0], b = l->in[1];
    double v = fmod(a.v, b.v);
    if (a.e == 0 && b.e == 0) return (ShadowValue){v, 0};
    if (isnan(a.v) || isnan(b.v) || isinf(a.v)) return (ShadowValue){v, 0};
    if (fabs(b.v) <= b.e) return (ShadowValue){v, HUGE_VAL};
    double quotient = a.v / b.v;
    double reach = isinf(b.v) ? 0 : (a.e + fabs(quotient) * b.e) / (fabs(b.v) - b.e);
    double low = trunc(quotient - reach), high = trunc(quotient + reach);
    if (low != high || !isfinite(quotient)) return (ShadowValue){v, HUGE_VAL};
    double q = fabs(low);
    return (ShadowValue){v, a.e + (q == 0 ? 0 : q * b.e)};
}

static ShadowValue lane_rounded(const ShadowLane *l, double v, double p) {
    bool fp8 = dtype_is(l->to, DTYPE_CLASS_FP8);
    return shadow_finish(l->to, fp8, v, rounded(l->to, v, p), is_certain(l, p));
}

static double extreme(IrOpcode code, double x, double y) {
    if (isnan(x) || isnan(y)) return (double)NAN;
    return code == IR_MIN ? fmin(x, y) : fmax(x, y);
}

static ShadowValue lane_extreme(const ShadowLane *l) {
    ShadowValue a = l->in[0], b = l->in[1];
    double v = extreme(l->code, a.v, b.v);
    if (isnan(v) || (a.e == 0 && b.e == 0)) return (ShadowValue){v, 0};
    double high = extreme(l->code, high_end(a), high_end(b));
    double low = extreme(l->code, low_end(a), low_end(b));
    double e = high == v && low == v ? 0 : fmax(high - v, v - low);
    return (ShadowValue){v, isnan(e) ? HUGE_VAL : e};
}

// A NaN that is certain leaves the other; one that is not may be a number elsewhere.
static ShadowValue lane_number_extreme(const ShadowLane *l) {
    ShadowValue a = l->in[0], b = l->in[1];
    if (isnan(a.v)) return a.e == 0 ? b : (ShadowValue){b.v, HUGE_VAL};
    if (isnan(b.v)) return b.e == 0 ? a : (ShadowValue){a.v, HUGE_VAL};
    ShadowLane numbers = *l;
    numbers.code = l->code == IR_MINNUM ? IR_MIN : IR_MAX;
    return lane_extreme(&numbers);
}

// The sign of a NaN that arithmetic made is unspecified, so either sign may come of one.
static ShadowValue lane_copysign(const ShadowLane *l) {
    ShadowValue a = l->in[0], b = l->in[1];
    double v = dtype_float(l->to)->has_negative_zero || a.v != 0 ? copysign(a.v, b.v) : 0;
    bool decided = !isnan(b.v) && (b.e == 0 || fabs(b.v) > b.e);
    if (isnan(v) || decided) return (ShadowValue){v, a.e};
    return (ShadowValue){v, a.e + 2 * fabs(a.v)};
}

static ShadowValue lane_float(const ShadowLane *l) {
    ShadowValue a = l->in[0], b = l->in[1];
    switch (l->code) {
    case IR_NEG: return (ShadowValue){-a.v, a.e};
    case IR_ABS: return (ShadowValue){fabs(a.v), a.e};
    case IR_ADD: return lane_rounded(l, a.v + b.v, a.e + b.e);
    case IR_SUB: return lane_rounded(l, a.v - b.v, a.e + b.e);
    case IR_MUL:
        if (product_open(a, b)) return (ShadowValue){a.v * b.v, HUGE_VAL};
        return lane_rounded(l, a.v * b.v, product_part(a, b));
    case IR_FMA:
        if (product_open(a, b)) return (ShadowValue){a.v * b.v, HUGE_VAL};
        return lane_rounded(l, fma(a.v, b.v, l->in[2].v), product_part(a, b) + l->in[2].e);
    case IR_DIV: return lane_divide(l);
    case IR_REM: return lane_remainder(l);
    case IR_MIN:
    case IR_MAX: return lane_extreme(l);
    case IR_MINNUM:
    case IR_MAXNUM: return lane_number_extreme(l);
    case IR_POW: return lane_power(l);
    case IR_ATAN2: return lane_angle(l);
    case IR_COPYSIGN: return lane_copysign(l);
    default: return lane_function(l);  // one operand
    }
}

// ---- integers, decisions ------------------------------------------------------------------------

static ShadowValue in_range(Dtype t, uint64_t x, double e) {
    ShadowValue s = shadow_exact(t, x);
    double high = (double)dtype_int_max(t), low = (double)dtype_int_min(t);
    s.e = e == 0 || (s.v + e <= high && s.v - e >= low) ? e : HUGE_VAL;
    return s;
}

static ShadowValue lane_integer(const ShadowLane *l) {
    ShadowValue a = l->in[0], b = l->in[1];
    switch (l->code) {
    case IR_NEG: return in_range(l->to, l->result, a.e);
    case IR_ADD:
    case IR_SUB: return in_range(l->to, l->result, a.e + b.e);
    case IR_MUL: return in_range(l->to, l->result, product_part(a, b));
    case IR_MIN:
    case IR_MAX: {
        ShadowValue s = lane_extreme(l);
        return in_range(l->to, l->result, s.e);
    }
    default:
        return (ShadowValue){shadow_exact(l->to, l->result).v, HUGE_VAL};  // bits, shifts, division
    }
}

static bool is_decided(ShadowValue a, ShadowValue b) {
    if (a.e == 0 && b.e == 0) return true;
    if ((isnan(a.v) && a.e == 0) || (isnan(b.v) && b.e == 0)) return true;
    return fabs(a.v - b.v) > a.e + b.e;
}

static ShadowValue lane_decision(const ShadowLane *l, bool decided) {
    return (ShadowValue){(double)(l->result != 0), decided ? 0 : HUGE_VAL};
}

static ShadowValue lane_bool(const ShadowLane *l) {
    bool settles = l->code == IR_OR;  // the operand value that alone decides the result
    bool decided = true;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->in[i].e > 0)
            decided = false;
        else if ((l->code == IR_AND || l->code == IR_OR) && (l->bits[i] != 0) == settles)
            return lane_decision(l, true);
    }
    return lane_decision(l, decided);
}

// ---- casts --------------------------------------------------------------------------------------

static double cast_to_integer(Dtype t, double x) {
    if (isnan(x)) return 0;
    return fmax((double)dtype_int_min(t), fmin((double)dtype_int_max(t), trunc(x)));
}

static ShadowValue cast_float_to_integer(const ShadowLane *l) {
    ShadowValue a = l->in[0], s = shadow_exact(l->to, l->result);
    if (isnan(a.v)) return (ShadowValue){s.v, a.e > 0 ? HUGE_VAL : 0};
    double middle = cast_to_integer(l->to, a.v);
    double high = cast_to_integer(l->to, high_end(a)) - middle;
    double low = middle - cast_to_integer(l->to, low_end(a));
    return (ShadowValue){s.v, fmax(high, low) + fabs(s.v - middle)};
}

static bool holds_type(Dtype wide, Dtype narrow) {
    return (double)dtype_int_max(wide) >= (double)dtype_int_max(narrow) &&
           dtype_int_min(wide) <= dtype_int_min(narrow);
}

static ShadowValue lane_cast(const ShadowLane *l) {
    ShadowValue a = l->in[0];
    if (l->to == DTYPE_BOOL) return lane_decision(l, is_decided(a, (ShadowValue){0, 0}));
    if (is_float(l->to)) {
        bool saturates = dtype_is(l->to, DTYPE_CLASS_FP8) && l->saturate;
        double e = a.e + half_ulp(l->to, fabs(a.v) + a.e);
        if (!is_float(l->from)) e += ldexp(fabs(a.v), -53);
        return shadow_finish(l->to, saturates, a.v, e, true);
    }
    if (is_float(l->from)) return cast_float_to_integer(l);
    ShadowValue s = shadow_exact(l->to, l->result);
    if (l->from == DTYPE_BOOL)
        s.e = 1;  // e was infinite: the other value is one away
    else
        s.e = holds_type(l->to, l->from) ? a.e : HUGE_VAL;
    return s;
}

// ---- one lane -----------------------------------------------------------------------------------

static bool is_comparison(IrOpcode code) {
    return code == IR_EQ || code == IR_NE || code == IR_LT || code == IR_LE || code == IR_GT ||
           code == IR_GE;
}

static ShadowValue lane_select(const ShadowLane *l) {
    ShadowValue chosen = l->in[l->bits[0] ? 1 : 2], other = l->in[l->bits[0] ? 2 : 1];
    return l->in[0].e == 0 ? chosen : shadow_join(chosen, other);
}

ShadowValue shadow_lane(const ShadowLane *l) {
    bool exact = true, open = false;
    for (uint32_t i = 0; i < l->n; i++) {
        exact = exact && l->in[i].e == 0;
        open = open || isinf(l->in[i].e);
    }
    ShadowValue plain = shadow_exact(l->to, l->result);
    // Functions: the interpreter calls the host's library for them, not the expansion.
    bool rounds = is_float(l->to) && (!l->same_bits || ir_op_is(l->code, IR_FAMILY_FUNCTION));
    if (exact && !rounds) return plain;
    if (l->code == IR_SELECT) return lane_select(l);
    if (l->from == DTYPE_BOOL && l->code != IR_CAST) return lane_bool(l);
    if (open && l->from != DTYPE_BOOL) return (ShadowValue){plain.v, HUGE_VAL};
    if (l->code == IR_BITCAST || l->code == IR_LOOKUP)
        return (ShadowValue){plain.v, exact ? 0 : HUGE_VAL};
    if (l->code == IR_CAST) return lane_cast(l);
    if (is_comparison(l->code)) return lane_decision(l, is_decided(l->in[0], l->in[1]));
    return is_float(l->to) ? lane_float(l) : lane_integer(l);
}
