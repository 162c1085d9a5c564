#include "tests/matrix/number.h"

#include <math.h>
#include <stddef.h>

// ---- types --------------------------------------------------------------------------------------

const Format *format_of(Dtype t) {
    static const Format formats[DTYPES] = {
        [DTYPE_F16] = {5, 10, 15, true, false, 0x7bff},
        [DTYPE_BF16] = {8, 7, 127, true, false, 0x7f7f},
        [DTYPE_F32] = {8, 23, 127, true, false, 0x7f7fffff},
        [DTYPE_F64] = {11, 52, 1023, true, false, UINT64_C(0x7fefffffffffffff)},
        [DTYPE_F8E4M3] = {4, 3, 7, false, false, 0x7e},
        [DTYPE_F8E5M2] = {5, 2, 15, true, false, 0x7b},
        [DTYPE_F8E4M3FNUZ] = {4, 3, 8, false, true, 0x7f},
        [DTYPE_F8E5M2FNUZ] = {5, 2, 16, false, true, 0x7f},
    };
    return formats[t].exponent ? &formats[t] : NULL;
}

bool type_is_float(Dtype t) { return format_of(t) != NULL; }

bool type_is_signed(Dtype t) {
    return t == DTYPE_I8 || t == DTYPE_I16 || t == DTYPE_I32 || t == DTYPE_I64 || t == DTYPE_I4;
}

int type_width(Dtype t) {
    static const int widths[DTYPES] = {
        [DTYPE_BOOL] = 1,       [DTYPE_I8] = 8,     [DTYPE_I16] = 16,   [DTYPE_I32] = 32,
        [DTYPE_I64] = 64,       [DTYPE_U8] = 8,     [DTYPE_U16] = 16,   [DTYPE_U32] = 32,
        [DTYPE_U64] = 64,       [DTYPE_F16] = 16,   [DTYPE_BF16] = 16,  [DTYPE_F32] = 32,
        [DTYPE_F64] = 64,       [DTYPE_F8E4M3] = 8, [DTYPE_F8E5M2] = 8, [DTYPE_F8E4M3FNUZ] = 8,
        [DTYPE_F8E5M2FNUZ] = 8, [DTYPE_I4] = 4,     [DTYPE_U4] = 4,
    };
    return widths[t];
}

uint64_t type_mask(Dtype t) {
    return type_width(t) == 64 ? UINT64_MAX : (UINT64_C(1) << type_width(t)) - 1;
}

// ---- integers -----------------------------------------------------------------------------------

static Int128 power_of_two(int n) { return (Int128)1 << n; }

Int128 integer_of(Dtype t, uint64_t bits) {
    Int128 value = (Int128)(bits & type_mask(t));
    bool negative = type_is_signed(t) && value >= power_of_two(type_width(t) - 1);
    return negative ? value - power_of_two(type_width(t)) : value;
}

uint64_t integer_wrap(Dtype t, Int128 value) { return (uint64_t)value & type_mask(t); }

Int128 integer_least(Dtype t) { return type_is_signed(t) ? -power_of_two(type_width(t) - 1) : 0; }

Int128 integer_greatest(Dtype t) {
    return power_of_two(type_width(t) - (type_is_signed(t) ? 1 : 0)) - 1;
}

// ---- formats ------------------------------------------------------------------------------------

static Number zero(bool negative) { return (Number){NUMBER_FINITE, negative, 0, 0}; }
static Number infinity(bool negative) { return (Number){NUMBER_INFINITE, negative, 0, 0}; }
Number number_nan(void) { return (Number){NUMBER_NAN, false, 0, 0}; }

// The magnitude of a pattern without sign, as though the highest exponent were like the others.
static Number magnitude(const Format *f, uint64_t pattern) {
    int exponent = (int)(pattern >> f->fraction);
    uint64_t fraction = pattern & ((UINT64_C(1) << f->fraction) - 1);
    int x = 1 - f->bias - f->fraction;
    if (exponent == 0) return (Number){NUMBER_FINITE, false, fraction, x};
    Uint128 m = (Uint128)fraction + ((Uint128)1 << f->fraction);
    return (Number){NUMBER_FINITE, false, m, x + exponent - 1};
}

Number number_of(Dtype t, uint64_t bits) {
    const Format *f = format_of(t);
    uint64_t sign = UINT64_C(1) << (f->exponent + f->fraction);
    uint64_t pattern = bits & (sign - 1);
    if (f->one_nan && bits == sign) return number_nan();
    if (f->ieee && pattern == f->highest + 1) return infinity((bits & sign) != 0);
    if (pattern > f->highest) return number_nan();
    Number n = magnitude(f, pattern);
    n.negative = (bits & sign) != 0;
    return n;
}

uint64_t nan_bits(Dtype t) {
    const Format *f = format_of(t);
    if (f->one_nan) return UINT64_C(1) << (f->exponent + f->fraction);
    return f->ieee ? f->highest + 1 + (UINT64_C(1) << (f->fraction - 1)) : f->highest + 1;
}

bool bits_are_nan(Dtype t, uint64_t bits) {
    return type_is_float(t) && number_of(t, bits).kind == NUMBER_NAN;
}

Number number_from_integer(Int128 value) {
    return (Number){NUMBER_FINITE, value < 0, value < 0 ? -(Uint128)value : (Uint128)value, 0};
}

// ---- order --------------------------------------------------------------------------------------

static int length(Uint128 m) {
    uint64_t high = (uint64_t)(m >> 64), low = (uint64_t)m;
    if (high) return 128 - __builtin_clzll(high);
    return low ? 64 - __builtin_clzll(low) : 0;
}

bool number_is_zero(Number n) { return n.kind == NUMBER_FINITE && n.m == 0; }

static int compare_magnitudes(Number a, Number b) {
    if (a.m == 0 || b.m == 0) return (a.m != 0) - (b.m != 0);
    int top = length(a.m) + a.x, other = length(b.m) + b.x;
    if (top != other) return top < other ? -1 : 1;
    if (a.x > b.x) a.m <<= a.x - b.x;  // to the length that the other has
    if (b.x > a.x) b.m <<= b.x - a.x;
    return (a.m > b.m) - (a.m < b.m);
}

int number_compare(Number a, Number b) {
    if (number_is_zero(a) && number_is_zero(b)) return 0;
    if (a.negative != b.negative) return a.negative ? -1 : 1;
    int order;
    if (a.kind == NUMBER_INFINITE || b.kind == NUMBER_INFINITE)
        order = (a.kind == NUMBER_INFINITE) - (b.kind == NUMBER_INFINITE);
    else
        order = compare_magnitudes(a, b);
    return a.negative ? -order : order;
}

// ---- rounding -----------------------------------------------------------------------------------

// The greatest pattern that is not above n; the next one may be one past the highest.
static uint64_t pattern_below(const Format *f, Number n) {
    uint64_t low = 0, high = f->highest + 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (compare_magnitudes(magnitude(f, middle), n) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// A pattern's magnitude and half a step.
static Number halfway(const Format *f, uint64_t pattern) {
    Number n = magnitude(f, pattern);
    return (Number){NUMBER_FINITE, false, 2 * n.m + 1, n.x - 1};
}

static uint64_t beyond(Dtype t, bool saturate) {
    const Format *f = format_of(t);
    if (saturate && type_width(t) == 8) return f->highest;
    return f->ieee ? f->highest + 1 : nan_bits(t);
}

uint64_t number_round(Dtype t, Number n, bool saturate) {
    const Format *f = format_of(t);
    uint64_t sign = UINT64_C(1) << (f->exponent + f->fraction), pattern;
    if (n.kind == NUMBER_NAN) return nan_bits(t);
    if (n.kind == NUMBER_INFINITE) {
        pattern = beyond(t, saturate);
    } else {
        pattern = pattern_below(f, n);
        int side = compare_magnitudes(n, halfway(f, pattern));
        if (side > 0 || (side == 0 && (pattern & 1))) pattern++;
        if (pattern > f->highest) pattern = beyond(t, saturate);
    }
    if (f->one_nan && (pattern == 0 || pattern == sign)) return pattern;
    return n.negative ? pattern | sign : pattern;
}

// ---- arithmetic ---------------------------------------------------------------------------------

// Shifts right so that the lowest bit says whether anything was lost: enough for rounding, which
// looks at far fewer bits.
static Number number_jam(Number n, int x) {
    int shift = x - n.x;
    if (shift <= 0 || n.m == 0) return n;
    Uint128 kept = shift >= 128 ? 0 : n.m >> shift;
    bool lost = shift >= 128 || (kept << shift) != n.m;
    return (Number){n.kind, n.negative, kept | lost, x};
}

// With the highest bit at a place, exactly.
static Number raised(Number n, int bits) {
    int shift = bits - length(n.m);
    if (shift > 0 && n.m != 0) {
        n.m <<= shift;
        n.x -= shift;
    }
    return n;
}

Number number_negate(Number n) {
    n.negative = !n.negative;
    return n;
}

Number number_add(Number a, Number b) {
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return number_nan();
    if (a.kind == NUMBER_INFINITE && b.kind == NUMBER_INFINITE && a.negative != b.negative)
        return number_nan();
    if (a.kind == NUMBER_INFINITE) return a;
    if (b.kind == NUMBER_INFINITE) return b;
    if (a.m == 0 && b.m == 0) return zero(a.negative && b.negative);
    if (a.m == 0) return b;
    if (b.m == 0) return a;
    if (compare_magnitudes(a, b) < 0) {
        Number swap = a;
        a = b;
        b = swap;
    }
    a = raised(a, 126);
    b = raised(b, 126);
    b = number_jam(b, a.x);
    Uint128 m = a.negative == b.negative ? a.m + b.m : a.m - b.m;
    return m == 0 ? zero(false) : (Number){NUMBER_FINITE, a.negative, m, a.x};
}

// The mantissas' product fits: 53 bits each at most.
Number number_multiply(Number a, Number b) {
    bool negative = a.negative != b.negative;
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return number_nan();
    if (a.kind == NUMBER_INFINITE || b.kind == NUMBER_INFINITE)
        return number_is_zero(a) || number_is_zero(b) ? number_nan() : infinity(negative);
    return (Number){NUMBER_FINITE, negative, a.m * b.m, a.x + b.x};
}

Number number_divide(Number a, Number b) {
    bool negative = a.negative != b.negative;
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return number_nan();
    if (a.kind == NUMBER_INFINITE)
        return b.kind == NUMBER_INFINITE ? number_nan() : infinity(negative);
    if (b.kind == NUMBER_INFINITE) return zero(negative);
    if (b.m == 0) return a.m == 0 ? number_nan() : infinity(negative);
    if (a.m == 0) return zero(negative);
    a = raised(a, 125);
    Uint128 quotient = a.m / b.m;
    bool rest = a.m % b.m != 0;
    return (Number){NUMBER_FINITE, negative, 2 * quotient + rest, a.x - b.x - 1};
}

Number number_root(Number n) {
    if (n.kind == NUMBER_NAN || number_is_zero(n)) return n;
    if (n.negative) return number_nan();
    if (n.kind == NUMBER_INFINITE) return n;
    n = raised(n, 125);
    if (n.x % 2 != 0) {
        n.m *= 2;
        n.x--;
    }
    Uint128 root = 0;
    for (int bit = 62; bit >= 0; bit--) {
        Uint128 tried = root + ((Uint128)1 << bit);
        if (tried * tried <= n.m) root = tried;
    }
    bool rest = root * root != n.m;
    return (Number){NUMBER_FINITE, false, 2 * root + rest, n.x / 2 - 1};
}

// a - trunc(a / b) * b by long division: binary digits of a brought down one by one.
Number number_remainder(Number a, Number b) {
    if (a.kind != NUMBER_FINITE || b.kind == NUMBER_NAN || number_is_zero(b)) return number_nan();
    if (b.kind == NUMBER_INFINITE || a.m == 0) return a;
    int down = a.x;
    if (b.x > a.x) {  // both in the finer unit
        if (b.x - a.x > 64) return a;
        b.m <<= b.x - a.x;
        b.x = a.x;
    }
    Uint128 rest = a.m % b.m;
    for (; down > b.x; down--) rest = rest * 2 % b.m;
    return rest == 0 ? zero(a.negative) : (Number){NUMBER_FINITE, a.negative, rest, b.x};
}

Number number_whole(Number n, int direction) {
    if (n.kind != NUMBER_FINITE || n.m == 0 || n.x >= 0) return n;
    int shift = -n.x > 127 ? 127 : -n.x;  // mantissas of elements are far shorter
    Uint128 whole = n.m >> shift, rest = n.m - (whole << shift), half = (Uint128)1 << (shift - 1);
    bool up = false;
    if (direction == 0) up = rest > half || (rest == half && (whole & 1));
    if (direction < 0) up = n.negative && rest != 0;
    if (direction > 0) up = !n.negative && rest != 0;
    return (Number){NUMBER_FINITE, n.negative, whole + up, 0};
}

uint64_t number_to_integer(Dtype t, Number n) {
    if (n.kind == NUMBER_NAN) return 0;
    if (n.kind == NUMBER_INFINITE || (n.m != 0 && length(n.m) + n.x > 100))
        return integer_wrap(t, n.negative ? integer_least(t) : integer_greatest(t));
    Uint128 m = n.x >= 0 ? n.m << n.x : n.x <= -128 ? 0 : n.m >> -n.x;
    Int128 value = n.negative ? -(Int128)m : (Int128)m;
    if (value < integer_least(t)) value = integer_least(t);
    if (value > integer_greatest(t)) value = integer_greatest(t);
    return integer_wrap(t, value);
}

// ---- as long double -----------------------------------------------------------------------------

long double number_value(Number n) {
    long double value = n.kind == NUMBER_NAN ? (long double)NAN : HUGE_VALL;
    if (n.kind == NUMBER_FINITE) value = ldexpl((long double)n.m, n.x);
    return n.negative ? -value : value;
}

long double element_value(Dtype t, uint64_t bits) {
    if (type_is_float(t)) return number_value(number_of(t, bits));
    return (long double)integer_of(t, bits);
}

long double format_half(Dtype t, long double size) {
    const Format *f = format_of(t);
    int least = 1 - f->bias, exponent = least;
    if (size > 0 && isfinite(size)) {
        frexpl(size, &exponent);
        exponent--;
    }
    return ldexpl(1, (exponent > least ? exponent : least) - f->fraction - 1);
}

long double format_greatest(Dtype t) {
    const Format *f = format_of(t);
    return number_value(magnitude(f, f->highest));
}
