// Dtype: the element types of the language, and their exact arithmetic.
//
// Purpose: the one module that knows widths, names and the bits of each format. The front end
// (literals), the interpreter, constant folding, .npy files and tests use it.
// Invariants: an element is passed as its raw bits in the low bits of a uint64_t ("bits"), with the
// upper bits zero. i4 and u4 are for storage only: two in a byte, the low half first. Every
// conversion to a float format rounds once, to nearest, ties to even; it follows language rules 22
// and 23 exactly.
//
//     uint64_t h = dtype_from_double(DTYPE_F16, 0.1, true);
//     double d = dtype_to_double(DTYPE_F16, h);
#ifndef TILEC_BASE_DTYPE_H
#define TILEC_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef enum Dtype {
#define DTYPE(name, text, bits, class) DTYPE_##name,
#include "base/dtype.def"
#undef DTYPE
    DTYPES
} Dtype;

typedef enum DtypeClass {
    DTYPE_CLASS_BOOL = 1,
    DTYPE_CLASS_SINT = 2,
    DTYPE_CLASS_UINT = 4,
    DTYPE_CLASS_FLOAT = 8,
    DTYPE_CLASS_FP8 = 16,
    DTYPE_CLASS_PACKED = 32,
} DtypeClass;

enum {
    DTYPE_CLASS_INT = DTYPE_CLASS_SINT | DTYPE_CLASS_UINT,
    DTYPE_CLASS_ANYFLOAT = DTYPE_CLASS_FLOAT | DTYPE_CLASS_FP8,
    DTYPE_CLASS_NUMBER = DTYPE_CLASS_INT | DTYPE_CLASS_ANYFLOAT,
    DTYPE_CLASS_ANY = DTYPE_CLASS_NUMBER | DTYPE_CLASS_BOOL,  // what a tile may hold
};

const char *dtype_name(Dtype t);
bool dtype_from_name(Str name, Dtype *t);
DtypeClass dtype_class(Dtype t);
unsigned dtype_bits(Dtype t);
// Bytes of one element of a tile or pointer; i4 and u4 (packed) count as 1 only where noted.
size_t dtype_size(Dtype t);
// Bytes of `count` packed or plain elements in a row; SIZE_MAX when there are too many.
size_t dtype_storage(Dtype t, uint64_t count);

static inline bool dtype_is(Dtype t, unsigned classes) { return (dtype_class(t) & classes) != 0; }
static inline bool dtype_signed(Dtype t) { return dtype_is(t, DTYPE_CLASS_SINT) || t == DTYPE_I4; }

// Facts of a float format.
typedef struct DtypeFloat {
    int precision;     // bits of the significand, with the hidden one (11 for f16)
    int min_exponent;  // exponent of the least normal number: 2^min_exponent
    int max_exponent;  // exponent of the greatest finite number: 2^max_exponent <= x <
                       // 2^(max_exponent+1)
    bool has_inf;
    bool has_negative_zero;  // false for the fnuz formats
    double greatest;         // the greatest finite value
} DtypeFloat;
const DtypeFloat *dtype_float(Dtype t);  // NULL if t is not a float

// Converts between float formats and double, with exact rounding. `saturate` clamps overflow and
// infinities to the greatest finite value for fp8; it is ignored for other formats (overflow gives
// infinity). Without it an fp8 overflow gives inf (e5m2) or NaN (the formats without infinities).
// Bits of f64 are unchanged, NaN payloads included; a NaN narrows to a NaN of the same sign (the
// fnuz formats have one NaN).
uint64_t dtype_from_double(Dtype t, double value, bool saturate);
double dtype_to_double(Dtype t, uint64_t bits);
// The same from f32. It is faster than going through double; the result is the same.
uint64_t dtype_from_float(Dtype t, float value, bool saturate);
float dtype_to_float(Dtype t, uint64_t bits);  // t narrower than f64

// Integers: sign-extends or zero-extends the low bits of `bits` to 64; the other direction wraps.
int64_t dtype_to_i64(Dtype t, uint64_t bits);
uint64_t dtype_wrap(Dtype t, uint64_t value);
// Greatest and least value; for unsigned the least is 0.
int64_t dtype_int_min(Dtype t);
uint64_t dtype_int_max(Dtype t);

// Any cast of the language (rule 22), bits to bits: wraps, truncates and saturates, rounds once.
uint64_t dtype_cast(Dtype to, Dtype from, uint64_t bits, bool saturate);

bool dtype_is_nan(Dtype t, uint64_t bits);
// Element i of a packed or plain array in memory (little endian).
uint64_t dtype_load(Dtype t, const void *base, uint64_t i);
void dtype_store(Dtype t, void *base, uint64_t i, uint64_t bits);
// Writes the value as text that the language reads back: "true", "-3", "1.5", "inf", "nan".
void dtype_text(Dtype t, uint64_t bits, StrBuf *out);

#endif
