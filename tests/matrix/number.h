// Numbers as exact fractions: the references' own idea of every element type, made for being
// obviously right and not for speed; nothing of base/dtype.c is used.
//
// Invariants: a finite number is m times 2^x with a sign; `m` may carry a lowest bit that stands
// for "and something more" (see number_jam). Rounding looks for the two neighbours of a number
// among the bit patterns of a format by bisection and takes the nearer, ties to even. Ownership:
// plain values.
//
//     Number x = number_of(DTYPE_F16, 0x3c00);             // 1
//     uint64_t bits = number_round(DTYPE_F8E4M3, x, true);  // 0x38
#ifndef TILEC_TESTS_MATRIX_NUMBER_H
#define TILEC_TESTS_MATRIX_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

typedef enum NumberKind { NUMBER_FINITE, NUMBER_INFINITE, NUMBER_NAN } NumberKind;

typedef struct Number {
    NumberKind kind;
    bool negative;
    Uint128 m;
    int x;
} Number;

// A format, as the references know it: 1 sign, `exponent` and `fraction` bits.
typedef struct Format {
    int exponent, fraction, bias;
    bool ieee;         // the highest exponent is infinities and NaNs
    bool one_nan;      // fnuz: the pattern of -0 is the NaN
    uint64_t highest;  // the pattern of the greatest finite number
} Format;
const Format *format_of(Dtype t);  // NULL: no float

bool type_is_float(Dtype t);
bool type_is_signed(Dtype t);  // of integers
int type_width(Dtype t);
uint64_t type_mask(Dtype t);

Int128 integer_of(Dtype t, uint64_t bits);
uint64_t integer_wrap(Dtype t, Int128 value);
Int128 integer_least(Dtype t);
Int128 integer_greatest(Dtype t);

Number number_of(Dtype t, uint64_t bits);  // of a float
Number number_from_integer(Int128 value);
Number number_nan(void);
// To the nearest; beyond the greatest: saturated, or what the format has there.
uint64_t number_round(Dtype t, Number n, bool saturate);
uint64_t nan_bits(Dtype t);
bool bits_are_nan(Dtype t, uint64_t bits);

bool number_is_zero(Number n);
int number_compare(Number a, Number b);  // of no NaNs: -1, 0, 1; zeros are equal
Number number_negate(Number n);
Number number_add(Number a, Number b);
Number number_multiply(Number a, Number b);
Number number_divide(Number a, Number b);
Number number_root(Number n);
Number number_remainder(Number a, Number b);
// The whole number below (-1), above (1) or nearest, ties to even (0).
Number number_whole(Number n, int direction);
// Towards zero, within the type; a NaN gives 0.
uint64_t number_to_integer(Dtype t, Number n);

long double number_value(Number n);
long double element_value(Dtype t, uint64_t bits);  // of any type
// Half the distance of neighbours in the format around a magnitude (docs/numerics.md).
long double format_half(Dtype t, long double magnitude);
long double format_greatest(Dtype t);

#endif
