// Lane functions: bits and integers.
#include "sim/amd/function.h"

#define U LaneU32
#define S LaneS32
#define W LaneU64
#define U1(name, ...) AMD_FUNCTION_1(name, U, U, __VA_ARGS__)
#define U2(name, ...) AMD_FUNCTION_2(name, U, U, U, __VA_ARGS__)
#define U3(name, ...) AMD_FUNCTION_3(name, U, U, U, U, __VA_ARGS__)
#define S2(name, ...) AMD_FUNCTION_2(name, U, S, S, __VA_ARGS__)
#define S3(name, ...) AMD_FUNCTION_3(name, U, S, S, S, __VA_ARGS__)

// ---- Bits ----

U1(mov_b32, p)
AMD_FUNCTION_1(mov_b64, W, W, p)
U1(not_b32, ~p)
static inline uint32_t reversed(uint32_t x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
U1(bfrev_b32, reversed(p))
U1(clz_b32, p ? (uint32_t)__builtin_clz(p) : UINT32_MAX)
U1(ctz_b32, p ? (uint32_t)__builtin_ctz(p) : UINT32_MAX)
static inline uint32_t sign_length(uint32_t x) {
    uint32_t other = (int32_t)x < 0 ? ~x : x;
    return other ? (uint32_t)__builtin_clz(other) : UINT32_MAX;
}
U1(cls_i32, sign_length(p))
U2(bcnt_b32, (uint32_t)__builtin_popcount(p) + q)
U2(mbcnt_lo, (uint32_t)__builtin_popcount(l >= 32 ? p : p & ((1u << l) - 1)) + q)
U2(mbcnt_hi, (uint32_t)__builtin_popcount(l > 32 ? p & ((1u << (l - 32)) - 1) : 0) + q)
U2(and_b32, p &q)
U2(or_b32, p | q)
U2(xor_b32, p ^ q)
U2(xnor_b32, ~(p ^ q))
U3(and_or_b32, (p & q) | r)
U3(or3_b32, p | q | r)
U3(xor3_b32, p ^ q ^ r)
U3(bfi_b32, (p & q) | (~p & r))
U2(bfm_b32, ((1u << (p & 31)) - 1) << (q & 31))
U3(cndmask_b32, r & 1 ? q : p)

void amd_bitop3_b32(const AmdLanes *x) {
    U *d = x->d;
    const U *a = x->a, *b = x->b, *c = x->c;
    uint32_t table = (uint32_t)x->instr->immediate;
    AMD_EACH(
        x, uint32_t v = 0; for (uint32_t n = 0; n < 8; n++) {
            uint32_t all = table >> n & 1 ? UINT32_MAX : 0;
            v |= all & (n & 4 ? a[l] : ~a[l]) & (n & 2 ? b[l] : ~b[l]) & (n & 1 ? c[l] : ~c[l]);
        } d[l] = v;)
}

static inline uint32_t field(uint32_t x, uint32_t offset, uint32_t width) {
    offset &= 31, width &= 31;
    return x >> offset & ((1u << width) - 1);
}
static inline uint32_t signed_field(uint32_t x, uint32_t offset, uint32_t width) {
    offset &= 31, width &= 31;
    uint32_t left = offset + width < 32 ? 32 - offset - width : 0;
    uint32_t up = 32 - width;
    if (!width) return 0;
    if (offset + width >= 32) return (uint32_t)((int32_t)x >> offset);
    return (uint32_t)((int32_t)(x << left) >> up);
}
U3(bfe_u32, field(p, q, r))
U3(bfe_i32, signed_field(p, q, r))

// Selectors 0 to 3 are bytes of b, 4 to 7 bytes of a; 8 to 11 give signs, 12 gives 0, larger ones
// 255.
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t select) {
    uint64_t all = (uint64_t)a << 32 | b;
    uint32_t result = 0;
    for (uint32_t n = 0; n < 4; n++) {
        uint32_t s = select >> (8 * n) & 255, byte;
        if (s < 8)
            byte = (uint32_t)(all >> (8 * s)) & 255;
        else if (s < 12)
            byte = all >> (16 * (s - 8) + 15) & 1 ? 255 : 0;
        else
            byte = s == 12 ? 0 : 255;
        result |= byte << (8 * n);
    }
    return result;
}
U3(perm_b32, permuted(p, q, r))
U3(alignbit_b32, ((uint64_t)p << 32 | q) >> (r & 31))
U3(alignbyte_b32, ((uint64_t)p << 32 | q) >> (8 * (r & 3)))
U2(lshlrev_b32, q << (p & 31))
U2(lshrrev_b32, q >> (p & 31))
U2(ashrrev_i32, (int32_t)q >> (p & 31))
U2(lshlrev_b16, q << (p & 15) & 0xffff)
U2(lshrrev_b16, (q & 0xffff) >> (p & 15))
U2(ashrrev_i16, ((int32_t)(int16_t)q >> (p & 15)) & 0xffff)
AMD_FUNCTION_2(lshlrev_b64, W, U, W, q << (p & 63))
AMD_FUNCTION_2(lshrrev_b64, W, U, W, q >> (p & 63))
AMD_FUNCTION_2(ashrrev_i64, W, U, LaneS64, q >> (p & 63))
U3(lshl_or_b32, p << (q & 31) | r)
U2(pack_b32, (p & 0xffff) | q << 16)

void amd_pk_mov_b32(const AmdLanes *x) {
    W *d = x->d;
    const W *a = x->a, *b = x->b;
    uint32_t low = x->instr->op_sel & 1 ? 32 : 0, high = x->instr->op_sel & 2 ? 32 : 0;
    AMD_EACH(x, d[l] = (a[l] >> low & UINT32_MAX) | b[l] >> high << 32;)
}

// ---- Sums ----

// With clamp, results saturate at the ends of their range.
#define CLAMPED_2(name, T, A, wide, least, greatest)                                              \
    void amd_##name(const AmdLanes *x) {                                                          \
        U *d = x->d;                                                                              \
        const A *a = x->a, *b = x->b;                                                             \
        const int64_t low = (least), high = (greatest);                                           \
        if (x->instr->clamp)                                                                      \
            AMD_EACH(x, const int64_t p = (T)a[l]; const int64_t q = (T)b[l]; int64_t v = (wide); \
                     d[l] = (uint32_t)(v < low    ? low                                           \
                                       : v > high ? high                                          \
                                                  : v);)                                          \
        else                                                                                      \
            AMD_EACH(x, const int64_t p = (T)a[l]; const int64_t q = (T)b[l];                     \
                     d[l] = (uint32_t)(wide);)                                                    \
    }
CLAMPED_2(add_u32, uint32_t, U, p + q, 0, UINT32_MAX)
CLAMPED_2(sub_u32, uint32_t, U, p - q, 0, UINT32_MAX)
CLAMPED_2(subrev_u32, uint32_t, U, q - p, 0, UINT32_MAX)
CLAMPED_2(add_i32, int32_t, U, p + q, INT32_MIN, INT32_MAX)
CLAMPED_2(sub_i32, int32_t, U, p - q, INT32_MIN, INT32_MAX)
CLAMPED_2(add_u16, uint16_t, U, p + q, 0, UINT16_MAX)
CLAMPED_2(sub_u16, uint16_t, U, p - q, 0, UINT16_MAX)
CLAMPED_2(subrev_u16, uint16_t, U, q - p, 0, UINT16_MAX)
CLAMPED_2(add_i16, int16_t, U, p + q, INT16_MIN, INT16_MAX)
CLAMPED_2(sub_i16, int16_t, U, p - q, INT16_MIN, INT16_MAX)

AMD_FUNCTION_2C(add_co_u32, U, U, U, p + q, p + q < p)
AMD_FUNCTION_2C(sub_co_u32, U, U, U, p - q, p < q)
AMD_FUNCTION_2C(subrev_co_u32, U, U, U, q - p, q < p)
AMD_FUNCTION_3C(addc_co_u32, U, U, U, U, p + q + (r & 1),
                (uint32_t)(((uint64_t)p + q + (r & 1)) >> 32))
AMD_FUNCTION_3C(subb_co_u32, U, U, U, U, p - q - (r & 1), (uint64_t)p < (uint64_t)q + (r & 1))
AMD_FUNCTION_3C(subbrev_co_u32, U, U, U, U, q - p - (r & 1), (uint64_t)q < (uint64_t)p + (r & 1))
U3(add3_u32, p + q + r)
U3(lshl_add_u32, (p << (q & 31)) + r)
U3(add_lshl_u32, (p + q) << (r & 31))
U3(xad_u32, (p ^ q) + r)
AMD_FUNCTION_3(lshl_add_u64, W, W, U, W, (p << (q & 7)) + r)

// ---- Products ----

static inline uint32_t u24(uint32_t x) { return x & 0xffffff; }
static inline int32_t s24(uint32_t x) { return (int32_t)(x << 8) >> 8; }
U2(mul_lo_u32, p *q)
U2(mul_hi_u32, (uint64_t)p *q >> 32)
U2(mul_hi_i32, (uint64_t)((int64_t)(int32_t)p *(int32_t)q) >> 32)
U2(mul_i32_i24, (int64_t)s24(p) * s24(q))
U2(mul_u32_u24, u24(p) * u24(q))
U2(mul_hi_i32_i24, (uint64_t)((int64_t)s24(p) * s24(q)) >> 32)
U2(mul_hi_u32_u24, (uint64_t)u24(p) * u24(q) >> 32)
U3(mad_i32_i24, (uint32_t)((int64_t)s24(p) * s24(q)) + r)
U3(mad_u32_u24, u24(p) * u24(q) + r)
AMD_FUNCTION_3C(mad_u64_u32, W, U, U, W, (uint64_t)p *q + r, (uint64_t)p *q + r < r)
static inline bool signed_carry(uint32_t p, uint32_t q, uint64_t r) {
    int64_t sum;
    return __builtin_add_overflow((int64_t)(int32_t)p * (int32_t)q, (int64_t)r, &sum);
}
AMD_FUNCTION_3C(mad_i64_i32, W, U, U, W, (uint64_t)((int64_t)(int32_t)p *(int32_t)q) + r,
                signed_carry(p, q, r))
U3(mad_u32_u16, (p & 0xffff) * (q & 0xffff) + r)
U3(mad_i32_i16, (uint32_t)((int32_t)(int16_t)p *(int16_t)q) + r)
U2(mul_lo_u16, p *q & 0xffff)
U3(mad_u16, (p * q + r) & 0xffff)

static inline uint32_t dot4_signed(uint32_t a, uint32_t b, bool a_signed, bool b_signed) {
    uint32_t sum = 0;
    for (uint32_t n = 0; n < 32; n += 8) {
        int32_t p = (int32_t)(a >> n & 255), q = (int32_t)(b >> n & 255);
        if (a_signed) p = (int8_t)p;
        if (b_signed) q = (int8_t)q;
        sum += (uint32_t)(p * q);
    }
    return sum;
}
U3(dot4_i32_i8, dot4_signed(p, q, true, true) + r)
U3(dot4_u32_u8, dot4_signed(p, q, false, false) + r)
void amd_dot4_i32_iu8(const AmdLanes *x) {
    U *d = x->d;
    const U *a = x->a, *b = x->b, *c = x->c;
    bool first = x->instr->neg_lo & 1, second = x->instr->neg_lo >> 1 & 1;
    AMD_EACH(x, d[l] = dot4_signed(a[l], b[l], first, second) + c[l];)
}
U3(dot2_i32_i16, (uint32_t)((int32_t)(int16_t)p *(int16_t)q) +
                     (uint32_t)((int32_t)(int16_t)(p >> 16) * (int16_t)(q >> 16)) + r)
U3(dot2_u32_u16, (p & 0xffff) * (q & 0xffff) + (p >> 16) * (q >> 16) + r)

// ---- Extremes ----

#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MOST(x, y) ((x) > (y) ? (x) : (y))
#define MIDDLE(x, y, z) MOST(LEAST(x, y), LEAST(MOST(x, y), z))
S2(min_i32, LEAST(p, q))
S2(max_i32, MOST(p, q))
U2(min_u32, LEAST(p, q))
U2(max_u32, MOST(p, q))
S3(min3_i32, LEAST(LEAST(p, q), r))
S3(max3_i32, MOST(MOST(p, q), r))
S3(med3_i32, MIDDLE(p, q, r))
U3(min3_u32, LEAST(LEAST(p, q), r))
U3(max3_u32, MOST(MOST(p, q), r))
U3(med3_u32, MIDDLE(p, q, r))
S3(maxmin_i32, LEAST(MOST(p, q), r))
S3(minmax_i32, MOST(LEAST(p, q), r))
U3(maxmin_u32, LEAST(MOST(p, q), r))
U3(minmax_u32, MOST(LEAST(p, q), r))
static inline uint32_t h_least(uint32_t p, uint32_t q) {
    return (uint32_t)LEAST((int16_t)p, (int16_t)q) & 0xffff;
}
static inline uint32_t h_most(uint32_t p, uint32_t q) {
    return (uint32_t)MOST((int16_t)p, (int16_t)q) & 0xffff;
}
U2(min_i16, h_least(p, q))
U2(max_i16, h_most(p, q))
U2(min_u16, LEAST(p & 0xffff, q & 0xffff))
U2(max_u16, MOST(p & 0xffff, q & 0xffff))
U3(min3_i16, h_least(h_least(p, q), r))
U3(max3_i16, h_most(h_most(p, q), r))
U3(min3_u16, LEAST(LEAST(p & 0xffff, q & 0xffff), r & 0xffff))
U3(max3_u16, MOST(MOST(p & 0xffff, q & 0xffff), r & 0xffff))
U3(med3_i16, h_most(h_least(p, q), h_least(h_most(p, q), r)))
U3(med3_u16, MIDDLE(p & 0xffff, q & 0xffff, r & 0xffff))

static inline uint32_t distance(uint32_t p, uint32_t q) { return p > q ? p - q : q - p; }
U3(sad_u32, distance(p, q) + r)
U3(sad_u8, distance(p & 255, q & 255) + distance(p >> 8 & 255, q >> 8 & 255) +
               distance(p >> 16 & 255, q >> 16 & 255) + distance(p >> 24, q >> 24) + r)

// ---- Pairs of halves ----

static inline uint32_t clamp16(int32_t v, int32_t low, int32_t high, bool clamp) {
    return (uint32_t)(!clamp ? v : v < low ? low : v > high ? high : v) & 0xffff;
}
#define PAIR(name, T, least, greatest, ...)                                                    \
    static inline uint32_t half_##name(uint32_t a, uint32_t b, uint32_t c, bool clamp) {       \
        const int32_t p = (T)a, q = (T)b, r = (T)c;                                            \
        (void)r;                                                                               \
        return clamp16((int32_t)(__VA_ARGS__), least, greatest, clamp);                        \
    }                                                                                          \
    void amd_pk_##name(const AmdLanes *x) {                                                    \
        U *d = x->d;                                                                           \
        const U *a = x->a, *b = x->b, *c = x->c ? x->c : x->a;                                 \
        const bool clamp = x->instr->clamp;                                                    \
        AMD_EACH(x, const uint32_t low = half_##name(a[l], b[l], c[l], clamp);                 \
                 const uint32_t high = half_##name(a[l] >> 16, b[l] >> 16, c[l] >> 16, clamp); \
                 d[l] = low | high << 16;)                                                     \
    }
PAIR(add_u16, uint16_t, 0, UINT16_MAX, p + q)
PAIR(sub_u16, uint16_t, 0, UINT16_MAX, p - q)
PAIR(add_i16, int16_t, INT16_MIN, INT16_MAX, p + q)
PAIR(sub_i16, int16_t, INT16_MIN, INT16_MAX, p - q)
PAIR(mul_lo_u16, uint16_t, 0, UINT16_MAX, (uint32_t)p *(uint32_t)q)
PAIR(mad_u16, uint16_t, 0, UINT16_MAX, (uint32_t)p *(uint32_t)q + (uint32_t)r)
PAIR(min_i16, int16_t, INT16_MIN, INT16_MAX, LEAST(p, q))
PAIR(max_i16, int16_t, INT16_MIN, INT16_MAX, MOST(p, q))
PAIR(min_u16, uint16_t, 0, UINT16_MAX, LEAST(p, q))
PAIR(max_u16, uint16_t, 0, UINT16_MAX, MOST(p, q))
PAIR(lshlrev_b16, uint16_t, 0, UINT16_MAX, (uint32_t)q << (p & 15))
PAIR(lshrrev_b16, uint16_t, 0, UINT16_MAX, q >> (p & 15))
PAIR(ashrrev_i16, int16_t, INT16_MIN, INT16_MAX, q >> (p & 15))
