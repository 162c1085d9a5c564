// The scalar unit: one function for each operation, with up to three operands of 32 or 64 bits.
#include <math.h>

#include "sim/amd/function.h"
#include "sim/machine/number/approx.h"

#define SCALAR(name, ...)                  \
    uint64_t amd_s_##name(AmdScalars *x) { \
        const uint64_t a = x->a, b = x->b; \
        (void)a, (void)b;                  \
        return (uint64_t)(__VA_ARGS__);    \
    }
#define A32 ((uint32_t)a)
#define B32 ((uint32_t)b)
#define SA ((int32_t)(uint32_t)a)
#define SB ((int32_t)(uint32_t)b)

// Sets scc if the result is not zero.
static uint64_t sets(AmdScalars *x, uint64_t result) {
    x->scc = result != 0;
    return result;
}
static uint64_t carries(AmdScalars *x, uint32_t result, bool carry) {
    x->scc = carry;
    return result;
}
#define SETS32(name, ...) SCALAR(name, sets(x, (uint32_t)(__VA_ARGS__)))
#define SETS64(name, ...) SCALAR(name, sets(x, (uint64_t)(__VA_ARGS__)))

SCALAR(mov, a)
uint64_t amd_s_cmov(AmdScalars *x) {
    const AmdOperand *d = &x->instr->d[0];
    return x->scc ? x->a : amd_scalar(x->wave, d, d->words);
}
SETS32(not32, ~a)
SETS64(not64, ~a)
static uint64_t reversed(uint64_t v, uint32_t bits) {
    uint64_t r = 0;
    for (uint32_t n = 0; n < bits; n++) r |= (v >> n & 1) << (bits - 1 - n);
    return r;
}
SCALAR(brev32, reversed(a, 32))
SCALAR(brev64, reversed(a, 64))
SETS32(bcnt1, __builtin_popcountll(a))
SETS32(bcnt0_32, 32 - __builtin_popcount(A32))
SETS32(bcnt0_64, 64 - __builtin_popcountll(a))
SCALAR(ctz, a ? (uint32_t)__builtin_ctzll(a) : UINT32_MAX)
SCALAR(clz32, A32 ? (uint32_t)__builtin_clz(A32) : UINT32_MAX)
SCALAR(clz64, a ? (uint32_t)__builtin_clzll(a) : UINT32_MAX)
static uint32_t sign_length(uint32_t v) {
    uint32_t other = (int32_t)v < 0 ? ~v : v;
    return other ? (uint32_t)__builtin_clz(other) : UINT32_MAX;
}
SCALAR(cls32, sign_length(A32))
SCALAR(sext8, (uint32_t)(int8_t)a)
SCALAR(sext16, (uint32_t)(int16_t)a)
SETS32(abs, SA < 0 ? 0u - A32 : A32)

// ---- Sums ----

SCALAR(add_u32, carries(x, A32 + B32, A32 + B32 < A32))
SCALAR(sub_u32, carries(x, A32 - B32, A32 < B32))
static bool overflows(int64_t v) { return v != (int32_t)v; }
SCALAR(add_i32, carries(x, A32 + B32, overflows((int64_t)SA + SB)))
SCALAR(sub_i32, carries(x, A32 - B32, overflows((int64_t)SA - SB)))
SCALAR(addc_u32, carries(x, A32 + B32 + x->scc, ((uint64_t)A32 + B32 + x->scc) >> 32 != 0))
SCALAR(subb_u32, carries(x, A32 - B32 - x->scc, (uint64_t)A32 < (uint64_t)B32 + x->scc))
SCALAR(add_u64, a + b)
SCALAR(sub_u64, a - b)
SCALAR(mul_u64, a *b)
SCALAR(mul_i32, A32 *B32)
SCALAR(mul_hi_u32, (uint64_t)A32 *B32 >> 32)
SCALAR(mul_hi_i32, (uint32_t)((uint64_t)((int64_t)SA *SB) >> 32))
SETS32(absdiff, SA > SB ? A32 - B32 : B32 - A32)
SCALAR(min_i32, carries(x, SA < SB ? A32 : B32, SA < SB))
SCALAR(max_i32, carries(x, SA > SB ? A32 : B32, SA > SB))
SCALAR(min_u32, carries(x, A32 < B32 ? A32 : B32, A32 < B32))
SCALAR(max_u32, carries(x, A32 > B32 ? A32 : B32, A32 > B32))
SCALAR(cselect, x->scc ? a : b)
#define SHIFT_ADD(n) \
    SCALAR(lshl##n##_add, carries(x, (A32 << (n)) + B32, ((uint64_t)A32 << (n)) + B32 > UINT32_MAX))
SHIFT_ADD(1)
SHIFT_ADD(2)
SHIFT_ADD(3)
SHIFT_ADD(4)

// ---- Bits ----

SETS64(and, a &b)
SETS64(or, a | b)
SETS64(xor, a ^ b)
SETS64(andn2, a & ~b)
SETS32(orn2_32, a | ~b)
SETS64(orn2_64, a | ~b)
SETS32(nand32, ~(a &b))
SETS64(nand64, ~(a &b))
SETS32(nor32, ~(a | b))
SETS64(nor64, ~(a | b))
SETS32(xnor32, ~(a ^ b))
SETS64(xnor64, ~(a ^ b))
SETS32(lshl32, A32 << (b & 31))
SETS64(lshl64, a << (b & 63))
SETS32(lshr32, A32 >> (b & 31))
SETS64(lshr64, a >> (b & 63))
SETS32(ashr32, SA >> (b & 31))
SETS64(ashr64, (int64_t)a >> (b & 63))
SCALAR(bfm32, ((1u << (a & 31)) - 1) << (b & 31))
SCALAR(bfm64, ((UINT64_C(1) << (a & 63)) - 1) << (b & 63))
static uint64_t field(uint64_t v, uint64_t given, uint32_t bits, bool sign) {
    uint32_t select = (uint32_t)given;
    uint32_t offset = select & (bits - 1), width = select >> 16 & 127;
    if (!width) return 0;
    v = offset < bits ? v >> offset : 0;
    if (width + offset > bits) width = bits - offset;
    if (width >= 64) return v;
    uint64_t low = v & ((UINT64_C(1) << width) - 1);
    return sign && low >> (width - 1) & 1 ? low | ~UINT64_C(0) << width : low;
}
SETS32(bfe_u32, field(A32, b, 32, false))
SETS32(bfe_i32, field(A32, b, 32, true))
SETS64(bfe_u64, field(a, b, 64, false))
SETS64(bfe_i64, field(a, b, 64, true))
SCALAR(pack_ll, (a & 0xffff) | (B32 & 0xffff) << 16)
SCALAR(pack_lh, (a & 0xffff) | (B32 & 0xffff0000))
SCALAR(pack_hh, (A32 >> 16) | (B32 & 0xffff0000))
SCALAR(pack_hl, (A32 >> 16) | (B32 & 0xffff) << 16)
SCALAR(bitset0, A32 & ~(1u << (b & 31)))
SCALAR(bitset1, A32 | 1u << (b & 31))

// ---- Comparisons ----

#define COMPARES(name, ...) SCALAR(name, carries(x, 0, (__VA_ARGS__)))
COMPARES(cmp_eq, a == b)
COMPARES(cmp_lg, a != b)
COMPARES(cmp_gt_i, SA > SB)
COMPARES(cmp_ge_i, SA >= SB)
COMPARES(cmp_lt_i, SA < SB)
COMPARES(cmp_le_i, SA <= SB)
COMPARES(cmp_gt_u, A32 > B32)
COMPARES(cmp_ge_u, A32 >= B32)
COMPARES(cmp_lt_u, A32 < B32)
COMPARES(cmp_le_u, A32 <= B32)
COMPARES(bitcmp0, !(a >> (b & 63) & 1))
COMPARES(bitcmp1, a >> (b & 63) & 1)

// ---- The mask of lanes ----

static uint64_t save(AmdScalars *x, uint64_t exec) {
    AmdWave *w = x->wave;
    uint64_t old = amd_exec(w);
    exec &= amd_wave_mask(w);
    w->scalars[AMD_EXEC] = (uint32_t)exec;
    if (w->lanes == 64) w->scalars[AMD_EXEC + 1] = (uint32_t)(exec >> 32);
    x->scc = exec != 0;
    return old;
}
SCALAR(and_save, save(x, a &amd_exec(x->wave)))
SCALAR(or_save, save(x, a | amd_exec(x->wave)))
SCALAR(xor_save, save(x, a ^ amd_exec(x->wave)))
SCALAR(andn2_save, save(x, a & ~amd_exec(x->wave)))
SCALAR(andn1_save, save(x, ~a &amd_exec(x->wave)))
SCALAR(getpc, x->wave->run->image + x->instr->address)

// ---- Floats ----

static float f(uint64_t v) { return sim_f32_bits((uint32_t)v); }
SCALAR(add_f32, sim_bits_f32(amd_quiet(f(a) + f(b))))
SCALAR(sub_f32, sim_bits_f32(amd_quiet(f(a) - f(b))))
SCALAR(mul_f32, sim_bits_f32(amd_quiet(f(a) * f(b))))
SCALAR(fma_f32,
       sim_bits_f32(amd_quiet((float)sim_fma_odd((double)f(a), (double)f(b), (double)f(x->c)))))
SCALAR(cvt_f32_i32, sim_bits_f32((float)SA))
SCALAR(cvt_f32_u32, sim_bits_f32((float)A32))
static int32_t to_signed(float v) {
    if (v != v) return 0;
    return v >= 2147483648.0f ? INT32_MAX : v <= -2147483648.0f ? INT32_MIN : (int32_t)v;
}
static uint32_t to_unsigned(float v) {
    if (v != v || v <= 0) return 0;
    return v >= 4294967296.0f ? UINT32_MAX : (uint32_t)v;
}
SCALAR(cvt_i32_f32, (uint32_t)to_signed(f(a)))
SCALAR(cvt_u32_f32, to_unsigned(f(a)))

static uint32_t of_half(double odd) { return amd_f16_of(odd); }
static float h(uint64_t v) { return sim_f16_value((uint32_t)v & 0xffff); }
#define FLOAT(name, ...) SCALAR(name, sim_bits_f32(amd_quiet((float)(__VA_ARGS__))))
FLOAT(ceil_f32, ceilf(f(a)))
FLOAT(floor_f32, floorf(f(a)))
FLOAT(trunc_f32, truncf(f(a)))
FLOAT(rndne_f32, rintf(f(a)))
FLOAT(rcp_f32, sim_flush(1 / sim_flush(f(a))))
FLOAT(rsq_f32, sim_flush((float)(1 / sqrt((double)sim_flush(f(a))))))
FLOAT(sqrt_f32, sqrtf(sim_flush(f(a))))
FLOAT(exp_f32, sim_flush(sim_approx_ex2(sim_flush(f(a)))))
FLOAT(log_f32, sim_flush(sim_approx_lg2(sim_flush(f(a)))))
// Zeros are ordered by their signs; if one operand is NaN, the other one is the result.
static float extreme(float x, float y, bool greatest) {
    if (x != x) return y;
    if (y != y) return x;
    if (x == y) return (signbit(x) != 0) == greatest ? y : x;
    return (x < y) != greatest ? x : y;
}
static float strict(float x, float y, bool greatest) {
    return x != x ? x : y != y ? y : extreme(x, y, greatest);
}
FLOAT(min_f32, extreme(f(a), f(b), false))
FLOAT(max_f32, extreme(f(a), f(b), true))
FLOAT(minimum_f32, strict(f(a), f(b), false))
FLOAT(maximum_f32, strict(f(a), f(b), true))
SCALAR(add_f16, of_half((double)h(a) + (double)h(b)))
SCALAR(sub_f16, of_half((double)h(a) - (double)h(b)))
SCALAR(mul_f16, of_half((double)h(a) * (double)h(b)))
SCALAR(fma_f16, of_half(sim_fma_odd((double)h(a), (double)h(b), (double)h(x->c))))
#define HALF(name, ...) SCALAR(name, of_half((double)(__VA_ARGS__)))
HALF(ceil_f16, ceilf(h(a)))
HALF(floor_f16, floorf(h(a)))
HALF(trunc_f16, truncf(h(a)))
HALF(rndne_f16, rintf(h(a)))
HALF(min_f16, extreme(h(a), h(b), false))
HALF(max_f16, extreme(h(a), h(b), true))
HALF(minimum_f16, strict(h(a), h(b), false))
HALF(maximum_f16, strict(h(a), h(b), true))
HALF(rcp_f16, 1 / h(a))
HALF(rsq_f16, 1 / sqrt((double)h(a)))
HALF(sqrt_f16, sqrtf(h(a)))
HALF(exp_f16, sim_approx_ex2(h(a)))
HALF(log_f16, sim_approx_lg2(h(a)))
SCALAR(cvt_f16_f32, of_half((double)f(a)))
FLOAT(cvt_f32_f16, h(a))
FLOAT(cvt_hi_f32_f16, h(a >> 16))
static uint32_t cut(float x) {
    return x == x ? (uint32_t)sim_number_round(&sim_f16, (double)x, SIM_RZ, false) : 0x7e00;
}
SCALAR(cvt_pk_rtz, cut(f(a)) | cut(f(b)) << 16)
#define ORDERS(type, v)                                     \
    COMPARES(cmp_lt_##type, v(a) < v(b))                    \
    COMPARES(cmp_eq_##type, v(a) == v(b))                   \
    COMPARES(cmp_le_##type, v(a) <= v(b))                   \
    COMPARES(cmp_gt_##type, v(a) > v(b))                    \
    COMPARES(cmp_lg_##type, v(a) < v(b) || v(a) > v(b))     \
    COMPARES(cmp_ge_##type, v(a) >= v(b))                   \
    COMPARES(cmp_o_##type, v(a) == v(a) && v(b) == v(b))    \
    COMPARES(cmp_u_##type, v(a) != v(a) || v(b) != v(b))    \
    COMPARES(cmp_nge_##type, !(v(a) >= v(b)))               \
    COMPARES(cmp_nlg_##type, !(v(a) < v(b) || v(a) > v(b))) \
    COMPARES(cmp_ngt_##type, !(v(a) > v(b)))                \
    COMPARES(cmp_nle_##type, !(v(a) <= v(b)))               \
    COMPARES(cmp_neq_##type, !(v(a) == v(b)))               \
    COMPARES(cmp_nlt_##type, !(v(a) < v(b)))
ORDERS(f32, f)
ORDERS(f16, h)

// ---- Running them ----

static bool saves(const AmdRow *row) {
    AmdScalarFunction *s = row->scalar;
    return s == amd_s_and_save || s == amd_s_or_save || s == amd_s_xor_save ||
           s == amd_s_andn2_save || s == amd_s_andn1_save;
}
static bool reads_scc(const AmdRow *row) {
    AmdScalarFunction *s = row->scalar;
    return s == amd_s_addc_u32 || s == amd_s_subb_u32 || s == amd_s_cselect || s == amd_s_cmov;
}

static uint32_t operand_words(const AmdOperand *o) { return amd_slot(o->type) / 4; }

// Is scc poison? For bit operations it is known if a known bit is set; for others only if all bits
// are known.
static bool scc_poison(const AmdInstr *i, uint64_t any, uint64_t value, uint64_t poison) {
    if (!any) return false;
    if (i->row->poison > AMD_BITS_ABC || !i->results) return true;
    return poison && !(value & ~poison);
}

void amd_run_scalar(AmdWave *w, const AmdInstr *i) {
    uint64_t values[3] = {0}, poison[3] = {0}, bits = 0, any = 0;
    for (uint32_t n = 0; n < i->operands && n < 3; n++) {
        uint32_t words = operand_words(&i->s[n]);
        values[n] = amd_scalar(w, &i->s[n], words);
        poison[n] = amd_scalar_poison(w, &i->s[n], words);
        bool half = i->s[n].type == AMD_F16;
        uint64_t sign = half ? 0x8000 : 0x80000000;
        if (words == 1) values[n] = (uint32_t)values[n];
        if (half) values[n] &= 0xffff, poison[n] &= 0xffff;
        if (i->s[n].absolute) values[n] &= ~sign;
        if (i->s[n].negated) values[n] ^= sign;
        any |= poison[n];
    }
    bool scc_unknown = reads_scc(i->row) && w->scc_poison;
    if (scc_unknown) any = UINT64_MAX;
    AmdScalars x = {values[0], values[1], values[2], w->scc, w, i};
    if (any && saves(i->row)) {
        amd_report_poison(w, i, SIM_POISON_BRANCH, any & amd_wave_mask(w));
        any = 0;
    }
    if (any) bits = scc_unknown ? UINT64_MAX : amd_poison_scalar(i, &x, poison);
    uint64_t value = i->row->scalar(&x);
    if (i->writes_scc) {
        w->scc = x.scc;
        w->scc_poison = scc_poison(i, any, value, bits);
    }
    if (i->results) amd_scalar_put(w, i, &i->d[0], operand_words(&i->d[0]), value, bits);
}
