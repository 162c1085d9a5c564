// A number with its error bound: the rules of docs/numerics.md §5, by which the references of the
// examples compute the value and the bound side by side.
//
// Purpose: a reference is written once, as plain loops over Num, and its bound follows from the
// rules; nothing is tuned by hand. Rule E (same bits) is not used: a reference knows nothing of
// what we compute. Invariants: |any conforming result - v| <= e; e = infinity says that anything is
// right.
//
//     Num total = num_exact(0);
//     Num y = num_cast(DTYPE_F16, f32_div(f32_exp(x), total));
#ifndef TILEC_TESTS_EXAMPLES_NUM_H
#define TILEC_TESTS_EXAMPLES_NUM_H

#include <stdint.h>

#include "base/dtype.h"

typedef struct Num {
    double v, e;
} Num;

static inline Num num_exact(double v) { return (Num){v, 0}; }
// Half an ulp of type t at magnitude w, and the relative error u of one rounding.
double num_half(Dtype t, double w);
double num_unit(Dtype t);
// R(v, p): the value v rounded once to t, with p the part that comes from the operands.
Num num_round_to(Dtype t, double v, double p);
// The result of one correctly rounded operation on exact operands: v rounded to t, exact.
Num num_rounded(Dtype t, double v);
// `count` further roundings to t that v went through, each relative: e + count·u·|v|.
Num num_more(Dtype t, Num a, double count);

Num num_neg(Num a);
Num num_add(Dtype t, Num a, Num b);
Num num_sub(Dtype t, Num a, Num b);
Num num_mul(Dtype t, Num a, Num b);
Num num_div(Dtype t, Num a, Num b);
Num num_fma(Dtype t, Num a, Num b, Num c);
Num num_sqrt(Dtype t, Num a);
Num num_rsqrt(Dtype t, Num a);
Num num_exp(Dtype t, Num a);
Num num_log(Dtype t, Num a);
Num num_erf(Dtype t, Num a);
Num num_sigmoid(Dtype t, Num a);
Num num_sin(Dtype t, Num a);
Num num_cos(Dtype t, Num a);
Num num_pow(Dtype t, Num a, Num b);  // a - e > 0
Num num_round(Num a);                // half to even
Num num_max(Num a, Num b);
Num num_cast(Dtype t, Num a);
Num num_cast_int(Dtype t, Num a);

// Sums, in any order, accumulated in type `accumulator`.
typedef struct NumSum {
    double v, e, magnitude, n;
} NumSum;
void num_sum_add(NumSum *s, Num a);
Num num_sum(Dtype accumulator, const NumSum *s);

// Inner products of dot().
typedef struct NumDot {
    double least;  // operands below it may count as 0
    double unit;   // of the sums' roundings; 0: the accumulator's
    double v, e, magnitude, k;
} NumDot;
void num_dot_add(NumDot *d, Num a, Num b);
Num num_dot(Dtype accumulator, const NumDot *d);

// Most kernels compute in f32.
static inline Num f32_add(Num a, Num b) { return num_add(DTYPE_F32, a, b); }
static inline Num f32_sub(Num a, Num b) { return num_sub(DTYPE_F32, a, b); }
static inline Num f32_mul(Num a, Num b) { return num_mul(DTYPE_F32, a, b); }
static inline Num f32_div(Num a, Num b) { return num_div(DTYPE_F32, a, b); }
static inline Num f32_exp(Num a) { return num_exp(DTYPE_F32, a); }

#endif
