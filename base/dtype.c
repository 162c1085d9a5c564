#include "base/dtype.h"

#include <math.h>
#include <string.h>

#include "base/os/os.h"

typedef struct Facts {
    const char *name;
    unsigned bits;
    DtypeClass class;
} Facts;

static const Facts facts[] = {
#define DTYPE(name, text, bits, class) {#text, bits, DTYPE_CLASS_##class},
#include "base/dtype.def"
#undef DTYPE
};

// The float formats: facts for users, the bits of the greatest finite value, and the bits of the
// NaN that arithmetic produces.
typedef struct DtypeFormat {
    DtypeFloat facts;
    uint64_t greatest;
    uint64_t nan;
} DtypeFormat;

static const DtypeFormat formats[DTYPES] = {
    [DTYPE_F16] = {{11, -14, 15, true, true, 65504}, 0x7bff, 0x7e00},
    [DTYPE_BF16] = {{8, -126, 127, true, true, 0x1.fep127}, 0x7f7f, 0x7fc0},
    [DTYPE_F32] = {{24, -126, 127, true, true, 0x1.fffffep127}, 0x7f7fffff, 0x7fc00000},
    [DTYPE_F64] = {{53, -1022, 1023, true, true, 0x1.fffffffffffffp1023},
                   0x7fefffffffffffff,
                   0x7ff8000000000000},
    [DTYPE_F8E4M3] = {{4, -6, 8, false, true, 448}, 0x7e, 0x7f},
    [DTYPE_F8E5M2] = {{3, -14, 15, true, true, 57344}, 0x7b, 0x7e},
    [DTYPE_F8E4M3FNUZ] = {{4, -7, 7, false, false, 240}, 0x7f, 0x80},
    [DTYPE_F8E5M2FNUZ] = {{3, -15, 15, false, false, 57344}, 0x7f, 0x80},
};

const char *dtype_name(Dtype t) { return facts[t].name; }
DtypeClass dtype_class(Dtype t) { return facts[t].class; }
unsigned dtype_bits(Dtype t) { return facts[t].bits; }
size_t dtype_size(Dtype t) { return facts[t].bits < 8 ? 1 : facts[t].bits / 8; }

bool dtype_from_name(Str name, Dtype *t) {
    for (int i = 0; i < DTYPES; i++)
        if (str_equal(name, str(facts[i].name))) {
            *t = (Dtype)i;
            return true;
        }
    return false;
}

size_t dtype_storage(Dtype t, uint64_t count) {
    if (facts[t].bits < 8) return (size_t)(count / 2 + count % 2);
    return count > SIZE_MAX / dtype_size(t) ? SIZE_MAX : (size_t)count * dtype_size(t);
}

const DtypeFloat *dtype_float(Dtype t) {
    return dtype_is(t, DTYPE_CLASS_ANYFLOAT) ? &formats[t].facts : NULL;
}

// ---- Float formats -----------------------------------------------------------------------------

static uint64_t double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double bits_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

// Rounds the magnitude of a finite double to the bits of the format, to nearest even. Above the
// greatest value the bits simply continue, so that overflow is a comparison.
static uint64_t round_magnitude(const DtypeFloat *f, uint64_t bits) {
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t significand = (bits & 0xfffffffffffff) | 1ull << 52;
    if (exponent == -1023)
        return 0;  // subnormal doubles are below half of every narrower format's
                   // least number
    int top = f->precision - 1, shift = 52 - top;
    if (exponent < f->min_exponent) {
        shift += f->min_exponent - exponent;
        exponent = f->min_exponent;
    }
    if (shift > 54) return 0;
    uint64_t kept = significand >> shift, rest = significand & ((1ull << shift) - 1);
    uint64_t half = 1ull << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    // A carry out of the significand increments the exponent, as it should.
    return ((uint64_t)(exponent - f->min_exponent + 1) << top) + kept - (1ull << top);
}

uint64_t dtype_from_double(Dtype t, double value, bool saturate) {
    if (t == DTYPE_F64) return double_bits(value);
    if (t == DTYPE_F32) return float_bits((float)value);  // rounds once, in hardware
    const DtypeFormat *f = &formats[t];
    uint64_t bits = double_bits(value), sign = bits >> 63 << (facts[t].bits - 1);
    bits &= ~(1ull << 63);
    if (isnan(value)) return f->facts.has_negative_zero ? f->nan | sign : f->nan;
    bool clamps = saturate && dtype_is(t, DTYPE_CLASS_FP8);
    uint64_t magnitude = isinf(value) ? UINT64_MAX : round_magnitude(&f->facts, bits);
    if (magnitude > f->greatest) {
        if (clamps) return f->greatest | sign;
        if (f->facts.has_inf) return (f->greatest + 1) | sign;
        return f->facts.has_negative_zero ? f->nan | sign : f->nan;
    }
    if (magnitude == 0 && !f->facts.has_negative_zero) return 0;
    return magnitude | sign;
}

double dtype_to_double(Dtype t, uint64_t bits) {
    if (t == DTYPE_F64) return bits_double(bits);
    if (t == DTYPE_F32) return (double)bits_float(bits);
    const DtypeFormat *f = &formats[t];
    unsigned width = facts[t].bits;
    int top = f->facts.precision - 1;
    uint64_t sign = bits >> (width - 1) << 63, magnitude = bits & ((1ull << (width - 1)) - 1);
    if (!f->facts.has_negative_zero && sign && !magnitude) return (double)NAN;
    if (magnitude > f->greatest) {
        bool infinite = f->facts.has_inf && magnitude == f->greatest + 1;
        return bits_double((infinite ? 0x7ff0000000000000 : 0x7ff8000000000000) | sign);
    }
    uint64_t exponent = magnitude >> top, fraction = magnitude & ((1ull << top) - 1);
    if (exponent == 0) {
        // 2^(min_exponent - top) as a double: every format's least number is a normal double.
        double least = bits_double((uint64_t)(f->facts.min_exponent - top + 1023) << 52);
        return bits_double(double_bits((double)fraction * least) | sign);
    }
    uint64_t biased = exponent - 1 + (uint64_t)(f->facts.min_exponent + 1023);
    return bits_double(sign | biased << 52 | fraction << (52 - top));
}

uint64_t dtype_from_float(Dtype t, float value, bool saturate) {
    return t == DTYPE_F32 ? float_bits(value) : dtype_from_double(t, (double)value, saturate);
}

float dtype_to_float(Dtype t, uint64_t bits) {
    return t == DTYPE_F32 ? bits_float(bits) : (float)dtype_to_double(t, bits);
}

bool dtype_is_nan(Dtype t, uint64_t bits) {
    return dtype_is(t, DTYPE_CLASS_ANYFLOAT) && isnan(dtype_to_double(t, bits));
}

// ---- Integers ----------------------------------------------------------------------------------

uint64_t dtype_wrap(Dtype t, uint64_t value) {
    unsigned bits = t == DTYPE_BOOL ? 1 : facts[t].bits;
    return bits == 64 ? value : value & ((1ull << bits) - 1);
}

int64_t dtype_to_i64(Dtype t, uint64_t bits) {
    if (!dtype_signed(t) || facts[t].bits == 64) return (int64_t)bits;
    uint64_t sign = 1ull << (facts[t].bits - 1);
    return (int64_t)((bits ^ sign) - sign);
}

int64_t dtype_int_min(Dtype t) {
    return dtype_signed(t) ? (int64_t)(0 - (1ull << (facts[t].bits - 1))) : 0;
}

uint64_t dtype_int_max(Dtype t) {
    if (t == DTYPE_BOOL) return 1;
    unsigned bits = facts[t].bits - dtype_signed(t);
    return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

// ---- Casts -------------------------------------------------------------------------------------

// An integer as a double that rounds to every format of at most 51 bits as the integer itself
// would. If the integer does not fit 53 bits, the lowest bit is set for the bits that were cut off
// (round to odd).
static double odd_double(uint64_t magnitude) {
    if (magnitude < 1ull << 53) return (double)magnitude;
    uint64_t kept = magnitude >> 11, rest = magnitude & 0x7ff;
    return (double)(kept | (rest != 0)) * 2048.0;
}

static uint64_t int_to_float(Dtype to, bool negative, uint64_t magnitude, bool saturate) {
    if (to == DTYPE_F64) {
        double d = (double)magnitude;
        return double_bits(negative ? -d : d);
    }
    double d = odd_double(magnitude);
    return dtype_from_double(to, negative ? -d : d, saturate);
}

static uint64_t float_to_int(Dtype to, double value) {
    if (isnan(value)) return 0;
    if (dtype_signed(to)) {
        double limit = -(double)dtype_int_min(to);  // a power of two
        if (value >= limit) return dtype_int_max(to);
        if (value <= -limit) return dtype_wrap(to, (uint64_t)dtype_int_min(to));
        return dtype_wrap(to, (uint64_t)(int64_t)value);
    }
    double limit = 2.0 * (double)(dtype_int_max(to) / 2 + 1);
    if (value >= limit) return dtype_int_max(to);
    return value <= 0 ? 0 : (uint64_t)value;
}

uint64_t dtype_cast(Dtype to, Dtype from, uint64_t bits, bool saturate) {
    bool from_float = dtype_is(from, DTYPE_CLASS_ANYFLOAT);
    if (to == DTYPE_BOOL) return from_float ? dtype_to_double(from, bits) != 0 : bits != 0;
    if (dtype_is(to, DTYPE_CLASS_ANYFLOAT)) {
        // Same type: a move, payloads kept; but an fp8 infinity saturates.
        if (from == to && !(saturate && dtype_is(to, DTYPE_CLASS_FP8))) return bits;
        if (from_float) return dtype_from_double(to, dtype_to_double(from, bits), saturate);
        int64_t value = dtype_to_i64(from, bits);
        bool negative = dtype_signed(from) && value < 0;
        return int_to_float(to, negative, negative ? 0 - (uint64_t)value : bits, saturate);
    }
    if (from_float) return float_to_int(to, dtype_to_double(from, bits));
    return dtype_wrap(to, (uint64_t)dtype_to_i64(from, bits));
}

// ---- Memory and text ---------------------------------------------------------------------------

uint64_t dtype_load(Dtype t, const void *base, uint64_t i) {
    const uint8_t *bytes = base;
    if (facts[t].bits < 8) return bytes[i / 2] >> (i % 2 * 4) & 0xf;
    uint64_t bits = 0;
    switch (facts[t].bits) {
    case 8: bits = bytes[i]; break;
    case 16: bits = (uint64_t)(bytes[i * 2] | bytes[i * 2 + 1] << 8); break;
    case 32: {
        uint32_t word;
        memcpy(&word, bytes + i * 4, 4);
        bits = word;
        break;
    }
    case 64: memcpy(&bits, bytes + i * 8, 8); break;
    default: UNREACHABLE("width of %s", facts[t].name);
    }
    return t == DTYPE_BOOL ? bits != 0 : bits;
}

void dtype_store(Dtype t, void *base, uint64_t i, uint64_t bits) {
    uint8_t *bytes = base;
    if (facts[t].bits < 8) {
        unsigned shift = i % 2 * 4;
        bytes[i / 2] = (uint8_t)((bytes[i / 2] & ~(0xfu << shift)) | (bits & 0xf) << shift);
        return;
    }
    memcpy(bytes + i * dtype_size(t), &bits, dtype_size(t));  // little endian
}

// The shortest decimal that rounds to the same bits of this type.
static void float_text(Dtype t, uint64_t bits, StrBuf *out) {
    double value = dtype_to_double(t, bits);
    bool whole = fabs(value) < 0x1p24 && value == floor(value);  // in full, not rounded
    if (!isfinite(value) || whole || t == DTYPE_F64 || t == DTYPE_F32) {
        strbuf_double(out, value, t != DTYPE_F64);
        return;
    }
    size_t start = out->size;
    for (int digits = 1; digits <= 17; digits++) {
        double back = 0;
        out->size = start;
        strbuf_digits(out, value, digits);
        bool read = str_to_double((Str){out->text + start, out->size - start}, &back);
        if (!read || dtype_from_double(t, back, true) != bits) continue;
        out->size = start;
        strbuf_double(out, back, false);  // the same digits, whole numbers in full
        return;
    }
}

void dtype_text(Dtype t, uint64_t bits, StrBuf *out) {
    switch (dtype_class(t)) {
    case DTYPE_CLASS_BOOL: strbuf_add(out, bits ? STR("true") : STR("false")); return;
    case DTYPE_CLASS_FLOAT:
    case DTYPE_CLASS_FP8: float_text(t, bits, out); return;
    case DTYPE_CLASS_SINT:
    case DTYPE_CLASS_UINT:
    case DTYPE_CLASS_PACKED: break;
    }
    if (dtype_signed(t))
        strbuf_printf(out, "%lld", (long long)dtype_to_i64(t, bits));
    else
        strbuf_printf(out, "%llu", (unsigned long long)bits);
}
