// Mathematical functions as plain arithmetic: the interface between the files of this folder.
//
// Every function here is built for one element type, f32 or f64, on values of any shape; narrower
// types are converted to f32 and back (passes/expand_math.c).
// Invariants: elementwise ops only, no control flow, every op correctly rounded, so that the bits
// are the same on every target. A NaN propagates through the arithmetic; clamps are written such
// that a NaN passes them.
// Ownership: built ops belong to the module; a Math is a value.
//
//     Math m = math_begin(&b, x->type, func->math, false);
//     IrValue *y = math_exp(&m, x);
#ifndef TILEC_PASSES_MATH_MATH_H
#define TILEC_PASSES_MATH_MATH_H

#include "ir/build.h"

typedef struct Math {
    IrBuilder *b;
    const IrType *real;  // f32 or f64, in the operands' shape
    const IrType *sint;  // i32 or i64
    const IrType *word;  // u32 or u64
    bool wide;           // f64
    bool approx;         // math(approx)
    bool hardware;       // f32 of a GPU under math(approx): exp2, rsqrt, sin, cos stay ops, since
                         // the GPU has them
    int fraction;        // bits after the point of a significand: 23 or 52
    int bias;            // of the exponent: 127 or 1023
    double magic;        // 1.5 * 2^fraction: adding it rounds to an integer in the low bits
} Math;

Math math_begin(IrBuilder *b, const IrType *real, unsigned options, bool gpu);

// ---- the functions: the bounds stand in docs/numerics.md
IrValue *math_exp(Math *m, IrValue *x);
IrValue *math_exp2(Math *m, IrValue *x);
IrValue *math_sigmoid(Math *m, IrValue *x);
IrValue *math_tanh(Math *m, IrValue *x);
IrValue *math_erf(Math *m, IrValue *x);
IrValue *math_log(Math *m, IrValue *x);
IrValue *math_log2(Math *m, IrValue *x);
IrValue *math_rsqrt(Math *m, IrValue *x);
IrValue *math_sin(Math *m, IrValue *x);
IrValue *math_cos(Math *m, IrValue *x);
IrValue *math_tan(Math *m, IrValue *x);
IrValue *math_pow(Math *m, IrValue *x, IrValue *y);
IrValue *math_expm1(Math *m, IrValue *x);
IrValue *math_log1p(Math *m, IrValue *x);
IrValue *math_log10(Math *m, IrValue *x);
IrValue *math_sinh(Math *m, IrValue *x);
IrValue *math_cosh(Math *m, IrValue *x);
IrValue *math_atan(Math *m, IrValue *x);
IrValue *math_atan2(Math *m, IrValue *y, IrValue *x);
IrValue *math_asin(Math *m, IrValue *x);
IrValue *math_acos(Math *m, IrValue *x);
IrValue *math_cbrt(Math *m, IrValue *x);
IrValue *math_erfc(Math *m, IrValue *x);
// Takes every float type.
IrValue *math_copysign(IrBuilder *b, IrValue *x, IrValue *y);
// Philox 4x32-10: four u32 values of offset's shape.
void math_random(IrBuilder *b, IrValue *seed, IrValue *offset, IrValue **results);

// ---- pieces
// 2^high * 2^low for the sum of an integer-valued `high` and a small rest: the last step of exp2
// and pow.
IrValue *math_exp2_sum(Math *m, IrValue *high, IrValue *low);
// exp(x) - 1 for x of at most 0 (f64: 60 or so) and at least -60 or so, as scale * part + (scale -
// 1).
typedef struct MathExpm1 {
    IrValue *scale;  // a power of two
    IrValue *part;
} MathExpm1;
MathExpm1 math_expm1_parts(Math *m, IrValue *x);
// exp(x + low) = 2^n (1 + part) (1 + lost), for a low that is small and an x whose 2^n is at least
// the square of the least power of the type.
typedef struct MathExp {
    IrValue *rounded;  // magic + n
    IrValue *part, *lost;
} MathExp;
MathExp math_exp_parts(Math *m, IrValue *x, IrValue *low);
// p * 2^n, also where the result is subnormal.
IrValue *math_exp_scale(Math *m, IrValue *p, const MathExp *by);
// x = mantissa * 2^exponent for positive finite x, the mantissa within [sqrt(1/2), sqrt(2)).
typedef struct MathParts {
    IrValue *rest;      // mantissa - 1
    IrValue *exponent;  // an integer, as a float
} MathParts;
MathParts math_split(Math *m, IrValue *x);

// ---- arithmetic in short
IrValue *math_const(Math *m, double value);  // the value must be representable in the type
IrValue *math_int(Math *m, uint64_t value);  // of m->sint, low bits
IrValue *math_word(Math *m, uint64_t value);
IrValue *math_nan(Math *m);

static inline IrValue *math_add(Math *m, IrValue *x, IrValue *y) {
    return ir_binary(m->b, IR_ADD, x, y);
}
static inline IrValue *math_sub(Math *m, IrValue *x, IrValue *y) {
    return ir_binary(m->b, IR_SUB, x, y);
}
static inline IrValue *math_mul(Math *m, IrValue *x, IrValue *y) {
    return ir_binary(m->b, IR_MUL, x, y);
}
static inline IrValue *math_div(Math *m, IrValue *x, IrValue *y) {
    return ir_binary(m->b, IR_DIV, x, y);
}
static inline IrValue *math_fma(Math *m, IrValue *x, IrValue *y, IrValue *z) {
    return ir_ternary(m->b, IR_FMA, x, y, z);
}
static inline IrValue *math_select(Math *m, IrValue *c, IrValue *x, IrValue *y) {
    return ir_ternary(m->b, IR_SELECT, c, x, y);
}
static inline IrValue *math_compare(Math *m, IrOpcode code, IrValue *x, IrValue *y) {
    return ir_binary(m->b, code, x, y);
}
static inline IrValue *math_abs(Math *m, IrValue *x) { return ir_unary(m->b, IR_ABS, x); }
static inline IrValue *math_neg(Math *m, IrValue *x) { return ir_unary(m->b, IR_NEG, x); }
static inline IrValue *math_and(Math *m, IrValue *x, IrValue *y) {
    return ir_binary(m->b, IR_AND, x, y);
}
static inline IrValue *math_or(Math *m, IrValue *x, IrValue *y) {
    return ir_binary(m->b, IR_OR, x, y);
}
static inline IrValue *math_xor(Math *m, IrValue *x, IrValue *y) {
    return ir_binary(m->b, IR_XOR, x, y);
}
// By a constant below the width.
IrValue *math_shl(Math *m, IrValue *x, int by);
IrValue *math_shr(Math *m, IrValue *x, int by);
static inline IrValue *math_as_real(Math *m, IrValue *x) { return ir_bitcast(m->b, x, m->real); }
static inline IrValue *math_as_int(Math *m, IrValue *x) { return ir_bitcast(m->b, x, m->sint); }
static inline IrValue *math_as_word(Math *m, IrValue *x) { return ir_bitcast(m->b, x, m->word); }
// c0 + c1 x + c2 x² + …, by Horner's rule.
IrValue *math_poly(Math *m, IrValue *x, const double *coefficients, int count);
#define MATH_POLY(m, x, table) math_poly(m, x, table, (int)(sizeof(table) / sizeof *(table)))
// The lesser of x and a constant; a NaN stays.
IrValue *math_at_most(Math *m, IrValue *x, double limit);
IrValue *math_at_least(Math *m, IrValue *x, double limit);
// The magnitude of `magnitude`, whose sign is clear, with the sign of `sign`.
IrValue *math_with_sign(Math *m, IrValue *magnitude, IrValue *sign);
// 2^n from magic + bias + n, the sum from which n was rounded: n within the normal exponents.
IrValue *math_power_of_two(Math *m, IrValue *rounded);
// An integer of m->sint below 2^22 (2^51) in magnitude, as a float.
IrValue *math_float_of(Math *m, IrValue *x);
// (s + ds) / (c + dc) nearly rounded once: ds and dc (ds may be NULL) are the rounding errors of s
// and c.
IrValue *math_quotient(Math *m, IrValue *s, IrValue *ds, IrValue *c, IrValue *dc);

#endif
