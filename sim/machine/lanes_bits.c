// Bits: logic, shifts, fields, permutations.
#include "sim/machine/ops.h"

#define UNARY(name, T, ...)                                           \
    static void name(SimWarp *w, const SimInstr *i) {                 \
        T *d = SIM_REG(w, i->d, T);                                   \
        const T *a = SIM_REG(w, i->a, T);                             \
        SIM_EACH_LANE(w, const T x = a[l]; d[l] = (T)(__VA_ARGS__);); \
    }
#define BINARY(name, T, ...)                                                            \
    static void name(SimWarp *w, const SimInstr *i) {                                   \
        T *d = SIM_REG(w, i->d, T);                                                     \
        const T *a = SIM_REG(w, i->a, T), *b = SIM_REG(w, i->b, T);                     \
        SIM_EACH_LANE(w, const T x = a[l]; const T y = b[l]; d[l] = (T)(__VA_ARGS__);); \
    }
// The shift amount is a u32 for every type.
#define SHIFT(name, T, ...)                                                                    \
    static void name(SimWarp *w, const SimInstr *i) {                                          \
        T *d = SIM_REG(w, i->d, T);                                                            \
        const T *a = SIM_REG(w, i->a, T);                                                      \
        const LaneU32 *b = SIM_REG(w, i->b, LaneU32);                                          \
        SIM_EACH_LANE(w, const T x = a[l]; const uint32_t y = b[l]; d[l] = (T)(__VA_ARGS__);); \
    }
// The result is a u32 for every type.
#define COUNT(name, T, ...)                                                  \
    static void name(SimWarp *w, const SimInstr *i) {                        \
        LaneU32 *d = SIM_REG(w, i->d, LaneU32);                              \
        const T *a = SIM_REG(w, i->a, T);                                    \
        SIM_EACH_LANE(w, const T x = a[l]; d[l] = (uint32_t)(__VA_ARGS__);); \
    }

#define LOGIC(type, T)           \
    BINARY(AND_##type, T, x &y)  \
    BINARY(OR_##type, T, x | y)  \
    BINARY(XOR_##type, T, x ^ y) \
    UNARY(NOT_##type, T, ~x)     \
    UNARY(CNOT_##type, T, x == 0)
LOGIC(B16, LaneU16)
LOGIC(B32, LaneU32)
LOGIC(B64, LaneU64)

SHIFT(SHL_B16, LaneU16, y > 15 ? 0 : x << y)
SHIFT(SHL_B32, LaneU32, y > 31 ? 0 : x << (y & 31))
SHIFT(SHL_B64, LaneU64, y > 63 ? 0 : x << (y & 63))
SHIFT(SHR_U16, LaneU16, y > 15 ? 0 : x >> y)
SHIFT(SHR_U32, LaneU32, y > 31 ? 0 : x >> (y & 31))
SHIFT(SHR_U64, LaneU64, y > 63 ? 0 : x >> (y & 63))
SHIFT(SHR_S16, LaneS16, x >> (y > 15 ? 15 : y))
SHIFT(SHR_S32, LaneS32, x >> (y > 31 ? 31 : y))
SHIFT(SHR_S64, LaneS64, x >> (y > 63 ? 63 : y))

COUNT(POPC_B32, LaneU32, __builtin_popcount(x))
COUNT(POPC_B64, LaneU64, __builtin_popcountll(x))
COUNT(CLZ_B32, LaneU32, x ? __builtin_clz(x) : 32)
COUNT(CLZ_B64, LaneU64, x ? __builtin_clzll(x) : 64)

static uint32_t highest(uint64_t x, uint32_t bits, bool shift) {
    if (!x) return UINT32_MAX;
    uint32_t at = 63 - (uint32_t)__builtin_clzll(x);
    return shift ? bits - 1 - at : at;
}
#define FIND(type, T, bits, magnitude)                      \
    COUNT(BFIND_##type, T, highest(magnitude, bits, false)) \
    COUNT(BFIND_SHIFT_##type, T, highest(magnitude, bits, true))
FIND(U32, LaneU32, 32, x)
FIND(S32, LaneS32, 32, (uint32_t)(x < 0 ? ~x : x))
FIND(U64, LaneU64, 64, x)
FIND(S64, LaneS64, 64, (uint64_t)(x < 0 ? ~x : x))

static uint64_t reverse(uint64_t x, uint32_t bits) {
    uint64_t r = 0;
    for (uint32_t n = 0; n < bits; n++) r |= (x >> n & 1) << (bits - 1 - n);
    return r;
}
UNARY(BREV_B32, LaneU32, reverse(x, 32))
UNARY(BREV_B64, LaneU64, reverse(x, 64))

// Position and length are taken modulo 256; the field ends at the end of the value.
static uint64_t field(uint64_t x, uint32_t at, uint32_t length, uint32_t bits, bool sign) {
    at &= 255, length &= 255;
    uint32_t last = at + length ? at + length - 1 : 0;
    bool top = sign && length && x >> (last < bits - 1 ? last : bits - 1) & 1;
    uint64_t low = at > 63 ? 0 : x >> at;
    uint64_t keep = length > 63 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
    uint64_t there = at >= bits       ? 0
                     : bits - at > 63 ? UINT64_MAX
                                      : (UINT64_C(1) << (bits - at)) - 1;
    uint64_t r = low & keep & there;
    return top ? r | ~(keep & there) : r;
}
#define FIELD(name, T, U, bits, sign)                                                 \
    static void name(SimWarp *w, const SimInstr *i) {                                 \
        T *d = SIM_REG(w, i->d, T);                                                   \
        const T *a = SIM_REG(w, i->a, T);                                             \
        const LaneU32 *b = SIM_REG(w, i->b, LaneU32), *c = SIM_REG(w, i->c, LaneU32); \
        SIM_EACH_LANE(w, d[l] = (T)field((U)a[l], b[l], c[l], bits, sign););          \
    }
FIELD(BFE_U32, LaneU32, uint32_t, 32, false)
FIELD(BFE_S32, LaneU32, uint32_t, 32, true)
FIELD(BFE_U64, LaneU64, uint64_t, 64, false)
FIELD(BFE_S64, LaneU64, uint64_t, 64, true)

static uint64_t insert(uint64_t x, uint64_t into, uint32_t at, uint32_t length) {
    at &= 255, length &= 255;
    if (at > 63) return into;
    uint64_t mask = (length > 63 ? UINT64_MAX : (UINT64_C(1) << length) - 1) << at;
    return (into & ~mask) | (x << at & mask);
}
#define INSERT(name, T)                                                               \
    static void name(SimWarp *w, const SimInstr *i) {                                 \
        T *d = SIM_REG(w, i->d, T);                                                   \
        const T *a = SIM_REG(w, i->a, T), *b = SIM_REG(w, i->b, T);                   \
        const LaneU32 *c = SIM_REG(w, i->c, LaneU32), *e = SIM_REG(w, i->e, LaneU32); \
        SIM_EACH_LANE(w, d[l] = (T)insert(a[l], b[l], c[l], e[l]););                  \
    }
INSERT(BFI_B32, LaneU32)
INSERT(BFI_B64, LaneU64)

static uint32_t mask_of(uint32_t at, uint32_t length, bool wrap) {
    if (wrap) at &= 31, length &= 31;
    uint64_t m = length > 31 ? UINT32_MAX : (UINT64_C(1) << length) - 1;
    return at > 31 ? 0 : (uint32_t)(m << at);
}
BINARY(BMSK_B32, LaneU32, mask_of(x, y, i->flags &SIM_WRAP))

static uint32_t extend(uint32_t x, uint32_t n, bool wrap, bool sign) {
    if (wrap) n &= 31;
    if (n > 31) return x;
    if (!n) return 0;
    uint32_t low = x & ((1u << n) - 1);
    return sign && low >> (n - 1) ? low | ~((1u << n) - 1) : low;
}
BINARY(SZEXT_U32, LaneU32, extend(x, y, i->flags &SIM_WRAP, false))
BINARY(SZEXT_S32, LaneU32, extend(x, y, i->flags &SIM_WRAP, true))

// ---- Two words and a third ----

#define TERNARY(name, ...)                                                            \
    static void name(SimWarp *w, const SimInstr *i) {                                 \
        LaneU32 *d = SIM_REG(w, i->d, LaneU32);                                       \
        const LaneU32 *a = SIM_REG(w, i->a, LaneU32), *b = SIM_REG(w, i->b, LaneU32); \
        const LaneU32 *c = SIM_REG(w, i->c, LaneU32);                                 \
        SIM_EACH_LANE(w, const uint32_t x = a[l]; const uint32_t y = b[l];            \
                      const uint32_t z = c[l]; d[l] = (uint32_t)(__VA_ARGS__););      \
    }
static inline uint32_t amount(uint32_t z, unsigned flags) {
    return flags & SIM_WRAP ? z & 31 : z > 32 ? 32 : z;
}
TERNARY(SHF_L_B32, (((uint64_t)y << 32 | x) << amount(z, i->flags)) >> 32)
TERNARY(SHF_R_B32, ((uint64_t)y << 32 | x) >> amount(z, i->flags))

// Modes of prmt, in `immediate`: by the selector, or one of the six special modes.
static uint32_t permute(uint32_t x, uint32_t y, uint32_t selector, uint64_t mode) {
    uint64_t bytes = (uint64_t)y << 32 | x;
    uint32_t r = 0, s = selector & 3;
    for (uint32_t n = 0; n < 4; n++) {
        uint32_t from = selector >> (4 * n) & 7;
        bool sign = mode == 0 && (selector >> (4 * n) & 8);
        switch (mode) {
        case 1: from = s + n; break;                  // f4e
        case 2: from = (s - n) & 7; break;            // b4e
        case 3: from = s; break;                      // rc8
        case 4: from = n > s ? n : s; break;          // ecl
        case 5: from = n < s ? n : s; break;          // ecr
        case 6: from = (s & 1) * 2 + (n & 1); break;  // rc16
        default: break;
        }
        uint32_t byte = (uint32_t)(bytes >> (8 * from)) & 255;
        if (sign) byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * n);
    }
    return r;
}
TERNARY(PRMT_B32, permute(x, y, z, i->immediate))

static inline uint32_t lookup(uint32_t x, uint32_t y, uint32_t z, uint64_t table) {
    uint32_t r = 0;
    for (uint32_t n = 0; n < 8; n++)
        if (table >> n & 1) r |= (n & 4 ? x : ~x) & (n & 2 ? y : ~y) & (n & 1 ? z : ~z);
    return r;
}
TERNARY(LOP3_B32, lookup(x, y, z, i->immediate))

#define ROW(op, type) {SIM_OP_##op, SIM_##type, SIM_NONE, op##_##type},
#define ROWS_LOGIC(type) ROW(AND, type) ROW(OR, type) ROW(XOR, type) ROW(NOT, type) ROW(CNOT, type)
#define ROWS_FIND(type) ROW(BFIND, type) ROW(BFIND_SHIFT, type)
static const SimLaneRow rows[] = {
    ROWS_LOGIC(B16) ROWS_LOGIC(B32) ROWS_LOGIC(B64)                                            //
    ROW(SHL, B16) ROW(SHL, B32) ROW(SHL, B64)                                                  //
    ROW(SHR, U16) ROW(SHR, U32) ROW(SHR, U64)                                                  //
    ROW(SHR, S16) ROW(SHR, S32) ROW(SHR, S64)                                                  //
    ROW(POPC, B32) ROW(POPC, B64) ROW(CLZ, B32) ROW(CLZ, B64)                                  //
    ROWS_FIND(U32) ROWS_FIND(S32) ROWS_FIND(U64) ROWS_FIND(S64) ROW(BREV, B32) ROW(BREV, B64)  //
    ROW(BFE, U32) ROW(BFE, S32) ROW(BFE, U64) ROW(BFE, S64)                                    //
    ROW(BFI, B32) ROW(BFI, B64) ROW(BMSK, B32)                                                 //
    ROW(SZEXT, U32) ROW(SZEXT, S32) ROW(SHF_L, B32) ROW(SHF_R, B32)                            //
    ROW(PRMT, B32) ROW(LOP3, B32)};
const SimLaneTable sim_lanes_bits = {rows, sizeof rows / sizeof *rows};
