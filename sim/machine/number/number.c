#include "sim/machine/number/number.h"

const SimFormat sim_f16 = {16, 11, 15, 0x7bff, 0x7c00, 0x7fff};
const SimFormat sim_bf16 = {16, 8, 127, 0x7f7f, 0x7f80, 0x7fff};
const SimFormat sim_tf32 = {19, 11, 127, 0x3fbff, 0x3fc00, 0x3ffff};
const SimFormat sim_f32 = {32, 24, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff};
const SimFormat sim_f64 = {
    64, 53, 1023, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000};
const SimFormat sim_e4m3 = {8, 4, 7, 0x7e, 0, 0x7f};
const SimFormat sim_e5m2 = {8, 3, 15, 0x7b, 0x7c, 0x7f};
const SimFormat sim_e2m1 = {4, 2, 1, 0x7, 0, 0};
const SimFormat sim_e2m3 = {6, 4, 1, 0x1f, 0, 0};
const SimFormat sim_e3m2 = {6, 3, 3, 0x1f, 0, 0};

const SimFormat *sim_format(SimType element) {
    switch (element) {
    case SIM_F16:
    case SIM_F16X2: return &sim_f16;
    case SIM_BF16:
    case SIM_BF16X2: return &sim_bf16;
    case SIM_TF32: return &sim_tf32;
    case SIM_F32:
    case SIM_F32X2: return &sim_f32;
    case SIM_F64: return &sim_f64;
    case SIM_E4M3:
    case SIM_E4M3X2: return &sim_e4m3;
    case SIM_E5M2:
    case SIM_E5M2X2: return &sim_e5m2;
    case SIM_E2M1X2: return &sim_e2m1;
    case SIM_E2M3X2: return &sim_e2m3;
    case SIM_E3M2X2: return &sim_e3m2;
    default: return NULL;
    }
}

static bool rounds_up(SimRound round, bool negative, bool odd, bool half, bool rest) {
    switch (round) {
    case SIM_RN: return half && (rest || odd);
    case SIM_RNA: return half;
    case SIM_RM: return negative && (half || rest);
    case SIM_RP: return !negative && (half || rest);
    case SIM_RZ:
    case SIM_RS: return false;
    }
    return false;
}

static uint64_t overflow(const SimFormat *f, bool negative, SimRound round, bool saturate) {
    bool inward =
        round == SIM_RZ || (round == SIM_RM && !negative) || (round == SIM_RP && negative);
    if (saturate || inward) return f->greatest;
    if (f->infinity) return f->infinity;
    return f->nan ? f->nan : f->greatest;
}

uint64_t sim_number_pack(const SimFormat *f, bool negative, uint64_t significand, int exponent,
                         bool sticky, SimRound round, bool saturate) {
    uint64_t sign = (uint64_t)negative << (f->bits - 1);
    if (!significand) return sign;  // callers pass at least one bit if the value is not zero
    int p = f->precision, least = 1 - f->bias - (p - 1);
    int top = 63 - __builtin_clzll(significand);
    int quantum = exponent + top - (p - 1);
    if (quantum < least) quantum = least;
    int shift = quantum - exponent;
    uint64_t kept = significand;
    bool half = false, rest = sticky;
    if (shift > 64) {
        kept = 0, rest = true;
    } else if (shift > 0) {
        kept = shift == 64 ? 0 : significand >> shift;
        half = significand >> (shift - 1) & 1;
        rest |= (significand & ((UINT64_C(1) << (shift - 1)) - 1)) != 0;
    } else {
        kept <<= -shift;
    }
    kept += rounds_up(round, negative, kept & 1, half, rest);
    // A carry out of the significand increments the exponent, as it should.
    uint64_t bits = kept;
    if (kept >> (p - 1)) bits += (uint64_t)(quantum - least) << (p - 1);
    return sign | (bits > f->greatest ? overflow(f, negative, round, saturate) : bits);
}

uint64_t sim_number_round(const SimFormat *f, double value, SimRound round, bool saturate) {
    uint64_t u = sim_bits_f64(value), low = u & ((UINT64_C(1) << 52) - 1);
    bool negative = u >> 63;
    int exponent = (int)(u >> 52 & 0x7ff);
    uint64_t sign = (uint64_t)negative << (f->bits - 1);
    if (exponent == 0x7ff) {
        if (low) return f->nan;
        if (f->infinity && !saturate) return sign | f->infinity;
        return sign | (saturate || !f->nan ? f->greatest : f->nan);
    }
    if (exponent) low |= UINT64_C(1) << 52;
    return sim_number_pack(f, negative, low, (exponent ? exponent : 1) - 1075, false, round,
                           saturate);
}

static double power_of_two(int e) {
    if (e >= -1022) return sim_f64_bits((uint64_t)(e + 1023) << 52);
    return sim_f64_bits(UINT64_C(1) << (e + 1074));
}

double sim_number_value(const SimFormat *f, uint64_t bits) {
    if (f->bits == 64) return sim_f64_bits(bits);
    uint64_t mantissa_mask = (UINT64_C(1) << (f->precision - 1)) - 1;
    bool negative = bits >> (f->bits - 1) & 1;
    uint64_t magnitude = bits & ((UINT64_C(1) << (f->bits - 1)) - 1);
    double sign = negative ? -1.0 : 1.0;
    if (f->infinity && magnitude == f->infinity) return sign * (double)__builtin_inff();
    if (f->nan && magnitude > f->greatest) return (double)__builtin_nanf("");
    int exponent = (int)(magnitude >> (f->precision - 1));
    uint64_t m = magnitude & mantissa_mask;
    if (exponent) m |= mantissa_mask + 1;
    return sign * (double)m *
           power_of_two((exponent ? exponent : 1) - f->bias - (f->precision - 1));
}
