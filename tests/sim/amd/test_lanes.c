// Instructions of the vector and scalar unit against C, on all lanes and on some.
#include "tests/support/amd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/machine/number/number.h"

enum { THREADS = 128, WORDS = 4 };

typedef uint32_t Words[WORDS];

static float f(uint32_t u) { return sim_f32_bits(u); }
static uint32_t u(float x) { return sim_bits_f32(x == x ? x : sim_f32_bits(0x7fc00000)); }
static uint64_t wide(const uint32_t *x) { return x[0] | (uint64_t)x[1] << 32; }
static double d(const uint32_t *x) { return sim_f64_bits(wide(x)); }
static void put(uint32_t *y, uint64_t v) { y[0] = (uint32_t)v, y[1] = (uint32_t)(v >> 32); }

// `name9`, `name11`: what gfx942 and gfx1100 call it; NULL: they have it not. In the operands of
// the text v12 to v15 are the inputs, v16 to v19 the results.
typedef struct Case {
    const char *name9, *name11, *operands;
    void (*expected)(const uint32_t *x, uint32_t *y);
} Case;

#define REF(name, ...)                                 \
    static void name(const uint32_t *x, uint32_t *y) { \
        (void)x;                                       \
        __VA_ARGS__;                                   \
    }
#define R1(name, ...) REF(name, y[0] = (uint32_t)(__VA_ARGS__))

R1(r_add, x[0] + x[1])
R1(r_sub, x[0] - x[1])
R1(r_add_clamp, x[0] + x[1] < x[0] ? UINT32_MAX : x[0] + x[1])
R1(r_mul_lo, x[0] * x[1])
R1(r_mul_hi, (uint64_t)x[0] * x[1] >> 32)
R1(r_mul_hi_s, (uint64_t)((int64_t)(int32_t)x[0] * (int32_t)x[1]) >> 32)
REF(r_mad64, put(y, (uint64_t)x[0] * x[1] + wide(x + 2)))
R1(r_and, x[0] & x[1])
R1(r_and_or, (x[0] & x[1]) | x[2])
R1(r_shl, x[0] << (x[1] & 31))
R1(r_ashr, (uint32_t)((int32_t)x[0] >> (x[1] & 31)))
REF(r_shl64, put(y, wide(x) << (x[2] & 63)))
R1(r_lshl_add, (x[0] << (x[1] & 31)) + x[2])
R1(r_bfe, x[0] >> 5 & 0x3ff)
R1(r_bfe_s, (uint32_t)((int32_t)(x[0] << 17) >> 22))
R1(r_bfi, (x[0] & x[1]) | (~x[0] & x[2]))
R1(r_perm, (x[1] & 255) | (x[0] & 0xff00) | (x[0] >> 24) << 16 | 0xff000000)
R1(r_alignbit, (uint32_t)(((uint64_t)x[0] << 32 | x[1]) >> 7))
R1(r_min_s, (int32_t)x[0] < (int32_t)x[1] ? x[0] : x[1])
R1(r_med3, x[0] < x[1] ? (x[1] < x[2]   ? x[1]
                          : x[0] < x[2] ? x[2]
                                        : x[0])
                       : (x[0] < x[2]   ? x[0]
                          : x[1] < x[2] ? x[2]
                                        : x[1]))
R1(r_popcount, (uint32_t)__builtin_popcount(x[0]) + x[1])
R1(r_clz, x[0] ? (uint32_t)__builtin_clz(x[0]) : UINT32_MAX)
R1(r_mul24, (uint32_t)((int32_t)(x[0] << 8) >> 8) * (uint32_t)((int32_t)(x[1] << 8) >> 8))
R1(r_dot4,
   x[2] + (uint32_t)((int8_t)x[0] * (int8_t)x[1] + (int8_t)(x[0] >> 8) * (int8_t)(x[1] >> 8) +
                     (int8_t)(x[0] >> 16) * (int8_t)(x[1] >> 16) +
                     (int8_t)(x[0] >> 24) * (int8_t)(x[1] >> 24)))
R1(r_fadd, u(f(x[0]) + f(x[1])))
R1(r_fsub_abs, u(fabsf(f(x[0])) - -f(x[1])))
R1(r_fmul_omod, u(f(x[0]) * f(x[1]) * 4))
static float clamped(float v) { return v > 0 ? v < 1 ? v : 1 : 0; }  // NaN: 0
R1(r_fmul_clamp, u(clamped(f(x[0]) * f(x[1]))))
R1(r_fma, u(fmaf(f(x[0]), f(x[1]), f(x[2]))))
R1(r_fmaak, u(fmaf(f(x[0]), f(x[1]), 3.5f)))
R1(r_fmamk, u(fmaf(f(x[0]), 3.5f, f(x[1]))))
// fmaxf may give either of two zeros; the instruction gives +0.
R1(r_fmax, f(x[0]) == 0 && f(x[1]) == 0 ? x[0] & x[1] : u(fmaxf(f(x[0]), f(x[1]))))
R1(r_floor, u(floorf(f(x[0]))))
R1(r_rndne, u(rintf(f(x[0]))))
R1(r_ldexp, u(ldexpf(f(x[0]), (int8_t)x[1])))
R1(r_sqrt, u(sqrtf(f(x[0] & 0x7f800000 ? x[0] & 0x7fffffff : 0))))  // denormals are 0
R1(r_i2f, u((float)(int32_t)x[0]))
R1(r_u2f, u((float)x[0]))
R1(r_f2i, (uint32_t)(f(x[0]) != f(x[0])   ? 0
                     : f(x[0]) >= 0x1p31f ? INT32_MAX
                     : f(x[0]) < -0x1p31f ? INT32_MIN
                                          : (int32_t)f(x[0])))
R1(r_select, f(x[0]) < f(x[1]) ? x[3] : x[2])
R1(r_select_int, (int32_t)x[0] >= (int32_t)x[1] ? x[3] : x[2])
static uint32_t half(double v) {
    uint32_t h = (uint32_t)sim_number_round(&sim_f16, v, SIM_RN, false);
    return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h;
}
static double hv(uint32_t h) { return sim_number_value(&sim_f16, h & 0xffff); }
R1(r_hadd, half(hv(x[0]) + hv(x[1])))
R1(r_hmul_high, half(hv(x[0] >> 16) * hv(x[1])))
R1(r_pk_add, half(hv(x[0]) + hv(x[1])) | half(hv(x[0] >> 16) + hv(x[1] >> 16)) << 16)
R1(r_pk_mul_swap, half(hv(x[0] >> 16) * -hv(x[1])) | half(hv(x[0]) * hv(x[1] >> 16)) << 16)
R1(r_pk_add16, ((x[0] + x[1]) & 0xffff) | ((x[0] >> 16) + (x[1] >> 16)) << 16)
R1(r_f2h, half((double)f(x[0])))
R1(r_h2f, u((float)hv(x[0])))
static uint32_t half_cut(uint32_t x) {
    uint32_t h = (uint32_t)sim_number_round(&sim_f16, (double)f(x), SIM_RZ, false);
    return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h;
}
R1(r_pkrtz, half_cut(x[0]) | half_cut(x[1]) << 16)
static uint64_t q(double v) { return v == v ? sim_bits_f64(v) : UINT64_C(0x7ff8) << 48; }
REF(r_dadd, put(y, q(d(x) + d(x + 2))))
REF(r_dmul, put(y, q(-d(x) * fabs(d(x + 2)))))
REF(r_dfma, put(y, q(fma(d(x), d(x + 2), 0.5))))
R1(r_d2f, u((float)d(x)))
REF(r_f2d, put(y, q((double)f(x[0]))))
R1(r_dlt, d(x) < d(x + 2) ? 1 : 0)
R1(r_mix, u((float)(hv(x[0] >> 16) * (double)f(x[1]) + hv(x[2]))))
R1(r_mix_one, u((float)(hv(x[2]) - (double)f(x[0]))))
R1(r_mixlo, half((double)fmaf(f(x[0] & 0x9fffffff), f(x[1] & 0x9fffffff), (float)hv(x[2]))))
R1(r_sum16, (x[0] & 0xffff) + (x[1] >> 16))
R1(r_divide, u(f(x[0]) / f(x[1])))
// A quotient of numbers with fixed exponents.
REF(r_small_quotient, uint64_t n = wide(x), m = wide(x + 2);
    n = (n & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x0170000000000000);
    m = (m & UINT64_C(0x801fffffffffffff)) | UINT64_C(0x4160000000000000);
    put(y, sim_bits_f64(sim_f64_bits(n) / sim_f64_bits(m))))
static uint32_t h3(uint32_t a, uint32_t b, uint32_t c, bool most) {
    a &= 0xffff, b &= 0xffff, c &= 0xffff;
    uint32_t r = (a < b) == most ? b : a;
    return (r < c) == most ? c : r;
}
R1(r_min3_u16, h3(x[0], x[1], x[2], false))
R1(r_max3_i16, h3(x[0] ^ 0x8000, x[1] ^ 0x8000, x[2] ^ 0x8000, true) ^ 0x8000)
R1(r_turned, x[0] << 16 | x[0] >> 16)
R1(r_byte1, u((float)(x[0] >> 8 & 255)))
R1(r_carry, x[0] + x[1] < x[0])

// A quotient of f32 as LLVM makes it: v22 and v23 scaled, v21 the reciprocal, v24 the quotient.
#define DIVISION                                                                            \
    "v_rcp_f32_e32 v21, v22\nv_fma_f32 v20, -v22, v21, 1.0\nv_fma_f32 v21, v20, v21, v21\n" \
    "v_mul_f32_e32 v24, v23, v21\nv_fma_f32 v20, -v22, v24, v23\n"                          \
    "v_fma_f32 v24, v20, v21, v24\nv_fma_f32 v22, -v22, v24, v23\n"                         \
    "v_div_fmas_f32 v20, v22, v21, v24\nv_div_fixup_f32"

// The same of f64, of numbers around 2^-1000 and 2^23: most quotients are subnormal, and have
// nearly all bits of a double. v[22:23] is the denominator, v[20:21] the numerator.
#define SMALL_QUOTIENT(null, vcc)                                             \
    "v_mov_b32_e32 v20, v12\nv_and_b32_e32 v21, 0x800fffff, v13\n"            \
    "v_or_b32_e32 v21, 0x01700000, v21\nv_mov_b32_e32 v22, v14\n"             \
    "v_and_b32_e32 v23, 0x801fffff, v15\nv_or_b32_e32 v23, 0x41600000, v23\n" \
    "v_div_scale_f64 v[24:25], " null                                         \
    ", v[22:23], v[22:23], v[20:21]\n"                                        \
    "v_rcp_f64_e32 v[26:27], v[24:25]\n"                                      \
    "v_fma_f64 v[28:29], -v[24:25], v[26:27], 1.0\n"                          \
    "v_fma_f64 v[26:27], v[26:27], v[28:29], v[26:27]\n"                      \
    "v_div_scale_f64 v[30:31], " vcc                                          \
    ", v[20:21], v[22:23], v[20:21]\n"                                        \
    "v_mul_f64 v[28:29], v[30:31], v[26:27]\n"                                \
    "v_fma_f64 v[24:25], -v[24:25], v[28:29], v[30:31]\n"                     \
    "v_div_fmas_f64 v[24:25], v[24:25], v[26:27], v[28:29]\nv_div_fixup_f64"

static const Case cases[] = {
    {SMALL_QUOTIENT("s[4:5]", "vcc"), SMALL_QUOTIENT("null", "vcc_lo"),
     "v[16:17], v[24:25], v[22:23], v[20:21]", r_small_quotient},
    {"v_div_scale_f32 v22, s[4:5], v13, v13, v12\nv_div_scale_f32 v23, vcc, v12, v13, "
     "v12\n" DIVISION,
     "v_div_scale_f32 v22, null, v13, v13, v12\nv_div_scale_f32 v23, vcc_lo, v12, v13, "
     "v12\n" DIVISION,
     "v16, v20, v13, v12", r_divide},
    {NULL, "v_mov_b32_e32 v16, v12\nv_swap_b16", "v16.l, v16.h", r_turned},
    {"v_min3_u16", NULL, "v16, v12, v13, v14", r_min3_u16},
    {"v_max3_i16", NULL, "v16, v12, v13, v14", r_max3_i16},
    {"v_cvt_f32_ubyte1_e32", "v_cvt_f32_ubyte1_e32", "v16, v12", r_byte1},
    {"v_add_u32_e32", "v_add_nc_u32_e32", "v16, v12, v13", r_add},
    {"v_sub_u32_e64", "v_sub_nc_u32_e64", "v16, v12, v13", r_sub},
    {"v_add_u32_e64", "v_add_nc_u32_e64", "v16, v12, v13 clamp", r_add_clamp},
    {"v_mul_lo_u32", "v_mul_lo_u32", "v16, v12, v13", r_mul_lo},
    {"v_mul_hi_u32", "v_mul_hi_u32", "v16, v12, v13", r_mul_hi},
    {"v_mul_hi_i32", "v_mul_hi_i32", "v16, v12, v13", r_mul_hi_s},
    {"v_mad_u64_u32", NULL, "v[16:17], s[4:5], v12, v13, v[14:15]", r_mad64},
    {NULL, "v_mad_u64_u32", "v[16:17], null, v12, v13, v[14:15]", r_mad64},
    {"v_and_b32_e32", "v_and_b32_e32", "v16, v12, v13", r_and},
    {"v_and_or_b32", "v_and_or_b32", "v16, v12, v13, v14", r_and_or},
    {"v_lshlrev_b32_e32", "v_lshlrev_b32_e32", "v16, v13, v12", r_shl},
    {"v_ashrrev_i32_e32", "v_ashrrev_i32_e32", "v16, v13, v12", r_ashr},
    {"v_lshlrev_b64", "v_lshlrev_b64", "v[16:17], v14, v[12:13]", r_shl64},
    {"v_lshl_add_u32", "v_lshl_add_u32", "v16, v12, v13, v14", r_lshl_add},
    {"v_bfe_u32", "v_bfe_u32", "v16, v12, 5, 10", r_bfe},
    {"v_bfe_i32", "v_bfe_i32", "v16, v12, 5, 10", r_bfe_s},
    {"v_bfi_b32", "v_bfi_b32", "v16, v12, v13, v14", r_bfi},
    {"v_perm_b32", "v_perm_b32", "v16, v12, v13, 0xd070500", r_perm},
    {"v_alignbit_b32", "v_alignbit_b32", "v16, v12, v13, 7", r_alignbit},
    {"v_min_i32_e32", "v_min_i32_e32", "v16, v12, v13", r_min_s},
    {"v_med3_u32", "v_med3_u32", "v16, v12, v13, v14", r_med3},
    {"v_bcnt_u32_b32", "v_bcnt_u32_b32", "v16, v12, v13", r_popcount},
    {"v_ffbh_u32_e32", "v_clz_i32_u32_e32", "v16, v12", r_clz},
    {"v_mul_i32_i24_e32", "v_mul_i32_i24_e32", "v16, v12, v13", r_mul24},
    {"v_dot4_i32_i8", NULL, "v16, v12, v13, v14", r_dot4},
    {NULL, "v_dot4_i32_iu8", "v16, v12, v13, v14 neg_lo:[1,1,0]", r_dot4},
    {"v_add_f32_e32", "v_add_f32_e32", "v16, v12, v13", r_fadd},
    {"v_sub_f32_e64", "v_sub_f32_e64", "v16, |v12|, -v13", r_fsub_abs},
    {"v_mul_f32_e64", "v_mul_f32_e64", "v16, v12, v13 mul:4", r_fmul_omod},
    {"v_mul_f32_e64", "v_mul_f32_e64", "v16, v12, v13 clamp", r_fmul_clamp},
    {"v_fma_f32", "v_fma_f32", "v16, v12, v13, v14", r_fma},
    {"v_fmaak_f32", "v_fmaak_f32", "v16, v12, v13, 0x40600000", r_fmaak},
    {"v_fmamk_f32", "v_fmamk_f32", "v16, v12, 0x40600000, v13", r_fmamk},
    {"v_max_f32_e32", "v_max_f32_e32", "v16, v12, v13", r_fmax},
    {"v_floor_f32_e32", "v_floor_f32_e32", "v16, v12", r_floor},
    {"v_rndne_f32_e32", "v_rndne_f32_e32", "v16, v12", r_rndne},
    {"v_bfe_i32 v18, v13, 0, 8\nv_ldexp_f32", "v_bfe_i32 v18, v13, 0, 8\nv_ldexp_f32",
     "v16, v12, v18\nv_mov_b32_e32 v18, 0", r_ldexp},
    {"v_sqrt_f32_e64", "v_sqrt_f32_e64", "v16, |v12|", r_sqrt},
    {"v_cvt_f32_i32_e32", "v_cvt_f32_i32_e32", "v16, v12", r_i2f},
    {"v_cvt_f32_u32_e32", "v_cvt_f32_u32_e32", "v16, v12", r_u2f},
    {"v_cvt_i32_f32_e32", "v_cvt_i32_f32_e32", "v16, v12", r_f2i},
    {"v_cmp_lt_f32_e32 vcc, v12, v13\nv_cndmask_b32_e32", NULL, "v16, v14, v15, vcc", r_select},
    {NULL, "v_cmp_lt_f32_e64 s4, v12, v13\nv_cndmask_b32_e64", "v16, v14, v15, s4", r_select},
    {"v_cmp_ge_i32_e64 s[6:7], v12, v13\nv_cndmask_b32_e64", NULL, "v16, v14, v15, s[6:7]",
     r_select_int},
    {"v_add_f16_e32", NULL, "v16, v12, v13", r_hadd},
    {NULL, "v_add_f16_e32", "v16.l, v12.l, v13.l", r_hadd},
    {"v_mul_f16_e64", NULL, "v16, v12, v13 op_sel:[1,0,0]", r_hmul_high},
    {NULL, "v_mul_f16_e64", "v16.l, v12.h, v13.l", r_hmul_high},
    {"v_mul_f16_sdwa", NULL,
     "v16, v12, v13 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0",
     r_hmul_high},
    {"v_add_u32_sdwa", NULL,
     "v16, v12, v13 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1", r_sum16},
    {"v_pk_add_f16", "v_pk_add_f16", "v16, v12, v13", r_pk_add},
    {"v_pk_mul_f16", "v_pk_mul_f16", "v16, v12, v13 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]",
     r_pk_mul_swap},
    {"v_pk_add_u16", "v_pk_add_u16", "v16, v12, v13", r_pk_add16},
    {"v_cvt_f16_f32_e32", NULL, "v16, v12", r_f2h},
    {"v_cvt_f32_f16_e32", NULL, "v16, v12", r_h2f},
    {"v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32_e32", "v16, v12, v13", r_pkrtz},
    {"v_add_f64", "v_add_f64", "v[16:17], v[12:13], v[14:15]", r_dadd},
    {"v_mul_f64", "v_mul_f64", "v[16:17], -v[12:13], |v[14:15]|", r_dmul},
    {"v_fma_f64", "v_fma_f64", "v[16:17], v[12:13], v[14:15], 0.5", r_dfma},
    {"v_cvt_f32_f64_e32", "v_cvt_f32_f64_e32", "v16, v[12:13]", r_d2f},
    {"v_cvt_f64_f32_e32", "v_cvt_f64_f32_e32", "v[16:17], v12", r_f2d},
    {"v_cmp_lt_f64_e32 vcc, v[12:13], v[14:15]\nv_cndmask_b32_e64", NULL, "v16, 0, 1, vcc", r_dlt},
    {NULL, "v_fma_mix_f32", "v16, v12, v13, v14 op_sel:[1,0,0] op_sel_hi:[1,0,1]", r_mix},
    {NULL, "v_fma_mix_f32", "v16, -v12, 1.0, v14 op_sel_hi:[0,1,1]", r_mix_one},
    {"v_and_b32_e32 v20, 0x9fffffff, v12\nv_and_b32_e32 v21, 0x9fffffff, v13\nv_fma_mixlo_f16",
     "v_and_b32_e32 v20, 0x9fffffff, v12\nv_and_b32_e32 v21, 0x9fffffff, v13\nv_fma_mixlo_f16",
     "v16, v20, v21, v14 op_sel_hi:[0,0,1]", r_mixlo},
    {"v_add_co_u32_e32 v17, vcc, v12, v13\nv_mov_b32_e32 v17, 0\nv_cndmask_b32_e64", NULL,
     "v16, 0, 1, vcc", r_carry},
    {NULL, "v_dual_mov_b32", "v17, 0 :: v_dual_add_f32 v16, v12, v13", r_fadd},
};

// ---- Inputs: numbers of many kinds, and random bits ----

static uint32_t random_word(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 3 ^ *state << 13;
}

static void fill(Words *x, uint32_t seed) {
    static const uint32_t special[] = {0,          1,          0x80000000, 0x3f800000,
                                       0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0x00000001, 0x807fffff, 0x42c80000, 0x3c003c00,
                                       0xc0007bff, 0xffffffff, 0x7fffffff, 0x3fe00000};
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t n = 0; n < WORDS; n++) {
            uint32_t r = random_word(&seed);
            x[t][n] = r % 3 ? r ^ random_word(&seed) << 7 : special[r / 3 % 16];
            if (n && r % 5 == 0) x[t][n] = x[t][n - 1];
        }
}

static const char *on_some_lanes(Arena *arena, bool wide_wave, const char *body) {
    return wide_wave ? arena_printf(arena,
                                    "s_mov_b64 s[30:31], exec\ns_mov_b32 exec_lo, 0xf0f0ff03\n"
                                    "s_mov_b32 exec_hi, 0x8000fff1\n%s\ns_mov_b64 exec, s[30:31]",
                                    body)
                     : arena_printf(arena,
                                    "s_mov_b32 s30, exec_lo\ns_mov_b32 exec_lo, 0xf0f0ff03\n%s\n"
                                    "s_mov_b32 exec_lo, s30",
                                    body);
}
static bool is_on(bool wide_wave, uint32_t t) {
    uint32_t word = wide_wave && t % 64 >= 32 ? 0x8000fff1 : 0xf0f0ff03;
    return word >> (t % 32) & 1;
}

static void run_case(const char *processor, const char *name, const Case *c, bool some) {
    Arena *arena = arena_create();
    Warp w;
    Words x[THREADS], y[THREADS];
    bool wide_wave = processor[3] == '9';
    const char *body = arena_printf(arena, "%s %s", name, c->operands);
    const char *text =
        amd_kernel(arena, processor, some ? on_some_lanes(arena, wide_wave, body) : body);
    amd_open(&w, &(AmdSource){.processor = processor, .text = text, .args = 2});
    warp_watch(&w);
    fill(x, 7);
    uint64_t at = warp_upload(&w, x, sizeof x);
    warp_run_ok(&w, "k", 1, THREADS, 0, (uint64_t[]){at, 0}, 2);
    warp_download(&w, at, y, sizeof y);
    for (uint32_t t = 0; t < THREADS; t++) {
        Words z = {0};
        if (!some || is_on(wide_wave, t)) c->expected(x[t], z);
        for (uint32_t n = 0; n < WORDS; n++)
            if (y[t][n] != z[n])
                fail_msg("%s '%s' thread %u word %u: %08x, expected %08x (of %08x %08x %08x %08x)",
                         processor, body, t, n, y[t][n], z[n], x[t][0], x[t][1], x[t][2], x[t][3]);
    }
    warp_close(&w);
    arena_destroy(arena);
}

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int some = 0; some < 2; some++) {
            if (cases[i].name9) run_case("gfx942", cases[i].name9, &cases[i], some);
            if (cases[i].name11) run_case("gfx1100", cases[i].name11, &cases[i], some);
        }
}

// ---- The scalar unit: results through a lane ----

static void run_scalar(const char *processor, const char *before, const char *text,
                       uint32_t expected) {
    Arena *arena = arena_create();
    Warp w;
    uint32_t y[64][WORDS] = {{0}};
    const char *body = arena_printf(arena, "%s\n%s\nv_mov_b32_e32 v16, s8", before, text);
    amd_open(&w, &(AmdSource){processor, amd_kernel(arena, processor, body), .args = 2});
    warp_watch(&w);
    uint64_t at = warp_upload(&w, y, sizeof y);
    warp_run_ok(&w, "k", 1, 64, 0, (uint64_t[]){at, 0}, 2);
    warp_download(&w, at, y, sizeof y);
    if (y[31][0] != expected) fail_msg("'%s': %08x, expected %08x", text, y[31][0], expected);
    warp_close(&w);
    arena_destroy(arena);
}

static void test_scalars(void **state) {
    (void)state;
    static const struct {
        const char *text;  // of s4 = 0xf0001234, s5 = 7, s[6:7] = 0x8000000000000010 to s8
        uint32_t expected;
    } rows[] = {
        {"s_add_u32 s8, s4, s4\ns_addc_u32 s8, s5, s5", 15},
        {"s_sub_u32 s8, s5, s4\ns_subb_u32 s8, s5, 0", 6},
        {"s_mul_i32 s8, s5, s5", 49},
        {"s_mul_hi_u32 s8, s4, s5", 6},
        {"s_lshl_b32 s8, s5, 4", 112},
        {"s_ashr_i32 s8, s4, 28", 0xffffffff},
        {"s_lshr_b64 s[8:9], s[6:7], 4\ns_mov_b32 s8, s9", 0x08000000},
        {"s_bfe_u32 s8, s4, 0x80004", 0x23},
        {"s_bfe_i32 s8, s4, 0x4001c", 0xffffffff},
        {"s_ff1_i32_b64 s8, s[6:7]", 4},
        {"s_flbit_i32_b32 s8, s5", 29},
        {"s_bcnt1_i32_b64 s8, s[6:7]", 2},
        {"s_cmp_lt_i32 s4, s5\ns_cselect_b32 s8, 1, 2", 1},
        {"s_cmp_lt_u32 s4, s5\ns_cselect_b32 s8, 1, 2", 2},
        {"s_cmpk_eq_i32 s5, 0x7\ns_cselect_b32 s8, 1, 2", 1},
        {"s_bitcmp1_b32 s5, 2\ns_cselect_b32 s8, 1, 2", 1},
        {"s_min_i32 s8, s4, s5", 0xf0001234},
        {"s_max_u32 s8, s4, s5", 0xf0001234},
        {"s_abs_i32 s8, s4", 0x0fffedcc},
        {"s_movk_i32 s8, 0xfff0", 0xfffffff0},
        {"s_mov_b32 s8, s5\ns_addk_i32 s8, 0xfffe", 5},
        {"s_andn2_b32 s8, s5, 2", 5},
        {"s_bfm_b32 s8, 4, 8", 0xf00},
        {"s_brev_b32 s8, s5", 0xe0000000},
        {"s_sext_i32_i16 s8, s4", 0x1234},
        {"s_lshl2_add_u32 s8, s5, s5", 35},
        {"s_pack_ll_b32_b16 s8, s4, s5", 0x00071234},
        {"s_mov_b32 s8, 0\ns_branch 1\ns_mov_b32 s8, 1\ns_add_i32 s8, s8, 5", 5},
        {"s_mov_b32 s8, 0\ns_add_i32 s8, s8, 1\ns_cmp_lg_u32 s8, 10\ns_cbranch_scc1 65533", 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_scalar("gfx942",
                   "s_mov_b32 s4, 0xf0001234\ns_mov_b32 s5, 7\ns_mov_b32 s6, 16\ns_brev_b32 s7, 1",
                   rows[i].text, rows[i].expected);
}

// Zeros are ordered by their signs, whichever operand is which.
static void test_scalar_zeros(void **state) {
    (void)state;
    static const char *const codes[] = {"min_num", "max_num", "minimum", "maximum"};
    for (int code = 0; code < 4; code++)
        for (int swap = 0; swap < 2; swap++)
            for (int half = 0; half < 2; half++) {
                char text[64];
                snprintf(text, sizeof text, "s_%s_f%d s8, %s", codes[code], half ? 16 : 32,
                         swap ? "s5, s4" : "s4, s5");
                uint32_t minus = half ? 0x8000 : 0x80000000;
                run_scalar("gfx1201",
                           half ? "s_mov_b32 s4, 0x8000\ns_mov_b32 s5, 0"
                                : "s_brev_b32 s4, 1\ns_mov_b32 s5, 0",
                           text, code % 2 ? 0 : minus);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_scalars),
                                       cmocka_unit_test(test_scalar_zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
