// Lane functions: conversions and comparisons.
#include <math.h>

#include "sim/amd/function.h"

#define U LaneU32
#define S LaneS32
#define F LaneF32
#define D LaneF64

// ---- Numbers and integers ----

static inline int32_t to_signed(double x) {
    if (x != x) return 0;
    x = trunc(x);
    return x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
}
static inline uint32_t to_unsigned(double x) {
    if (x != x) return 0;
    x = trunc(x);
    return x >= 4294967295.0 ? UINT32_MAX : x <= 0 ? 0 : (uint32_t)x;
}
AMD_FUNCTION_1(cvt_f32_i32, F, S, p)
AMD_FUNCTION_1(cvt_f32_u32, F, U, p)
AMD_FUNCTION_1(cvt_i32_f32, S, F, to_signed((double)p))
AMD_FUNCTION_1(cvt_u32_f32, U, F, to_unsigned((double)p))
AMD_FUNCTION_1(cvt_f64_i32, D, S, p)
AMD_FUNCTION_1(cvt_f64_u32, D, U, p)
AMD_FUNCTION_1(cvt_i32_f64, S, D, to_signed(p))
AMD_FUNCTION_1(cvt_u32_f64, U, D, to_unsigned(p))
AMD_FUNCTION_1(cvt_f32_f64, F, D, amd_quiet((float)p))
AMD_FUNCTION_1(cvt_f64_f32, D, F, amd_quiet64((double)p))
AMD_FUNCTION_1(cvt_i32_i16, S, U, (int16_t)p)
AMD_FUNCTION_1(cvt_f32_ubyte0, F, U, p & 255)
AMD_FUNCTION_1(cvt_f32_ubyte1, F, U, p >> 8 & 255)
AMD_FUNCTION_1(cvt_f32_ubyte2, F, U, p >> 16 & 255)
AMD_FUNCTION_1(cvt_f32_ubyte3, F, U, p >> 24)

static inline uint32_t half_of(float x) {
    uint32_t h = sim_f16_round(x);
    return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h;
}
static inline int32_t within(int32_t x, int32_t low, int32_t high) {
    return x < low ? low : x > high ? high : x;
}
AMD_FUNCTION_1(cvt_f16_f32, U, F, half_of(p))
AMD_FUNCTION_1(cvt_f32_f16, F, U, amd_quiet(sim_f16_value(p & 0xffff)))
AMD_FUNCTION_1(cvt_f16_i16, U, U, half_of((float)(int16_t)p))
AMD_FUNCTION_1(cvt_f16_u16, U, U, half_of((float)(p & 0xffff)))
AMD_FUNCTION_1(cvt_i16_f16, U, U,
               within(to_signed((double)sim_f16_value(p & 0xffff)), INT16_MIN, INT16_MAX) & 0xffff)
AMD_FUNCTION_1(cvt_u16_f16, U, U,
               within(to_signed((double)sim_f16_value(p & 0xffff)), 0, UINT16_MAX))

static inline uint32_t half_to_zero(float x) {
    uint32_t h = (uint32_t)sim_number_round(&sim_f16, (double)x, SIM_RZ, false);
    return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h;
}
static inline uint32_t bf16_of(float x) {
    uint32_t h = sim_bf16_round(x);
    return (h & 0x7fff) > 0x7f80 ? 0x7fc0 : h;
}
AMD_FUNCTION_2(cvt_pkrtz_f16_f32, U, F, F, half_to_zero(p) | half_to_zero(q) << 16)
AMD_FUNCTION_2(cvt_pk_f16_f32, U, F, F, half_of(p) | half_of(q) << 16)
AMD_FUNCTION_2(cvt_pk_bf16_f32, U, F, F, bf16_of(p) | bf16_of(q) << 16)
AMD_FUNCTION_2(cvt_pk_u16_u32, U, U, U, (p > 0xffff ? 0xffff : p) | (q > 0xffff ? 0xffff : q) << 16)
AMD_FUNCTION_2(cvt_pk_i16_i32, U, S, S,
               ((uint32_t)within(p, INT16_MIN, INT16_MAX) & 0xffff) |
                   (uint32_t)within(q, INT16_MIN, INT16_MAX) << 16)
AMD_FUNCTION_1(cvt_f32_bf16, U, U, p << 16)

// ---- Eight bits ----
// gfx942's formats have no infinities and no negative zero (fnuz); later processors use OCP's.

static const SimFormat e4m3_fnuz = {8, 4, 8, 0x7f, 0, 0};
static const SimFormat e5m2_fnuz = {8, 3, 16, 0x7f, 0, 0};

static bool is_fnuz(const AmdLanes *x) { return x->wave->kernel->processor == 0x942; }

static float value8(uint32_t bits, bool is_bf8, bool fnuz) {
    bits &= 255;
    if (fnuz && bits == 0x80) return sim_f32_bits(0x7fc00000);
    const SimFormat *f = fnuz ? is_bf8 ? &e5m2_fnuz : &e4m3_fnuz : is_bf8 ? &sim_e5m2 : &sim_e4m3;
    return amd_quiet((float)sim_number_value(f, bits));
}
static uint32_t round8(float x, bool is_bf8, bool fnuz) {
    const SimFormat *f = fnuz ? is_bf8 ? &e5m2_fnuz : &e4m3_fnuz : is_bf8 ? &sim_e5m2 : &sim_e4m3;
    if (x != x) return fnuz ? 0x80 : 0x7f;
    // Halfway from the greatest number to the next one: from here on rounding goes beyond the
    // range.
    if (fnuz && fabsf(x) >= (is_bf8 ? 61440.0f : 248.0f)) return 0x80;
    uint32_t h = (uint32_t)sim_number_round(f, (double)x, SIM_RN, fnuz);
    return fnuz && h == 0x80 ? 0 : h;  // there is no negative zero
}

// The byte or half that the operand's selection names.
static uint32_t selected(const AmdLanes *x) {
    const AmdInstr *i = x->instr;
    if (i->sdwa.present) return 0;  // the operand is that byte already
    if (i->immediate) return 8 * (uint32_t)(i->immediate & 3);
    return (i->op_sel & 1 ? 16u : 0) + (i->op_sel & 2 ? 8u : 0);
}

static void from8(const AmdLanes *x, bool is_bf8) {
    F *d = x->d;
    const U *a = x->a;
    uint32_t shift = selected(x);
    bool fnuz = is_fnuz(x);
    AMD_EACH(x, d[l] = value8(a[l] >> shift, is_bf8, fnuz);)
}
void amd_cvt_f32_fp8(const AmdLanes *x) { from8(x, false); }
void amd_cvt_f32_bf8(const AmdLanes *x) { from8(x, true); }

static void pair_from8(const AmdLanes *x, bool is_bf8) {
    F *d = x->d;
    const U *a = x->a;
    uint32_t shift = x->instr->sdwa.present ? 0 : x->instr->op_sel & 1 ? 16 : 0;
    bool fnuz = is_fnuz(x);
    AMD_EACH(x, d[2 * l] = value8(a[l] >> shift, is_bf8, fnuz);
             d[2 * l + 1] = value8(a[l] >> (shift + 8), is_bf8, fnuz);)
}
void amd_cvt_pk_f32_fp8(const AmdLanes *x) { pair_from8(x, false); }
void amd_cvt_pk_f32_bf8(const AmdLanes *x) { pair_from8(x, true); }

static void to8(const AmdLanes *x, bool is_bf8) {
    U *d = x->d;
    const F *a = x->a, *b = x->b;
    bool fnuz = is_fnuz(x);
    AMD_EACH(x, d[l] = round8(a[l], is_bf8, fnuz) | round8(b[l], is_bf8, fnuz) << 8;)
}
void amd_cvt_pk_fp8_f32(const AmdLanes *x) { to8(x, false); }
void amd_cvt_pk_bf8_f32(const AmdLanes *x) { to8(x, true); }

// ---- Comparisons ----

#define COMPARE(name, T, ...) AMD_FUNCTION_2(name, U, T, T, (__VA_ARGS__) ? 1 : 0)
#define INTS(type, T, V)                              \
    COMPARE(cmp_f_##type, T, (void)p, (void)q, false) \
    COMPARE(cmp_lt_##type, T, (V)p < (V)q)            \
    COMPARE(cmp_eq_##type, T, (V)p == (V)q)           \
    COMPARE(cmp_le_##type, T, (V)p <= (V)q)           \
    COMPARE(cmp_gt_##type, T, (V)p > (V)q)            \
    COMPARE(cmp_ne_##type, T, (V)p != (V)q)           \
    COMPARE(cmp_ge_##type, T, (V)p >= (V)q)           \
    COMPARE(cmp_t_##type, T, (void)p, (void)q, true)
INTS(i16, U, int16_t)
INTS(u16, U, uint16_t)
INTS(i32, U, int32_t)
INTS(u32, U, uint32_t)
INTS(i64, LaneU64, int64_t)
INTS(u64, LaneU64, uint64_t)

#define FLOATS(type, T, V)                                    \
    COMPARE(cmp_f_##type, T, (void)p, (void)q, false)         \
    COMPARE(cmp_lt_##type, T, V(p) < V(q))                    \
    COMPARE(cmp_eq_##type, T, V(p) == V(q))                   \
    COMPARE(cmp_le_##type, T, V(p) <= V(q))                   \
    COMPARE(cmp_gt_##type, T, V(p) > V(q))                    \
    COMPARE(cmp_lg_##type, T, V(p) < V(q) || V(p) > V(q))     \
    COMPARE(cmp_ge_##type, T, V(p) >= V(q))                   \
    COMPARE(cmp_o_##type, T, V(p) == V(p) && V(q) == V(q))    \
    COMPARE(cmp_u_##type, T, V(p) != V(p) || V(q) != V(q))    \
    COMPARE(cmp_nge_##type, T, !(V(p) >= V(q)))               \
    COMPARE(cmp_nlg_##type, T, !(V(p) < V(q) || V(p) > V(q))) \
    COMPARE(cmp_ngt_##type, T, !(V(p) > V(q)))                \
    COMPARE(cmp_nle_##type, T, !(V(p) <= V(q)))               \
    COMPARE(cmp_neq_##type, T, !(V(p) == V(q)))               \
    COMPARE(cmp_nlt_##type, T, !(V(p) < V(q)))                \
    COMPARE(cmp_tru_##type, T, (void)p, (void)q, true)
#define SAME(x) (x)
#define HALF(x) sim_f16_value((x)&0xffff)
FLOATS(f16, U, HALF)
FLOATS(f32, F, SAME)
FLOATS(f64, D, SAME)

// Bits of the second operand: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0,
// +denormal, +normal, +infinity.
static uint32_t class_of(uint64_t bits, uint32_t size, uint32_t precision) {
    uint64_t fraction = bits & ((UINT64_C(1) << (precision - 1)) - 1);
    uint64_t exponents = (UINT64_C(1) << (size - precision)) - 1;
    uint64_t exponent = bits >> (precision - 1) & exponents;
    bool negative = bits >> (size - 1) & 1;
    if (exponent == exponents && fraction) return fraction >> (precision - 2) & 1 ? 2 : 1;
    uint32_t n = exponent == exponents ? 0 : exponent ? 1 : fraction ? 2 : 3;
    return negative ? 4u << n : 512u >> n;
}
AMD_FUNCTION_2(cmp_class_f16, U, U, U, (class_of(p, 16, 11) & q) != 0)
AMD_FUNCTION_2(cmp_class_f32, U, U, U, (class_of(p, 32, 24) & q) != 0)
AMD_FUNCTION_2(cmp_class_f64, U, LaneU64, U, (class_of(p, 64, 53) & q) != 0)
