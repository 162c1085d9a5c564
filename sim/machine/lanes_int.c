// Integer arithmetic, lane by lane.
#include "base/str.h"
#include "sim/machine/ops.h"

// X(arity, operation, type, result of x, y, z). Sums and products use unsigned types, so they wrap.
#define INT_ROWS(X)                                                                               \
    X(2, ADD, U16, x + y)                                                                         \
    X(2, ADD, U32, x + y)                                                                         \
    X(2, ADD, U64, x + y)                                                                         \
    X(2, SUB, U16, x - y)                                                                         \
    X(2, SUB, U32, x - y)                                                                         \
    X(2, SUB, U64, x - y)                                                                         \
    X(2, ADD_SAT, S32, clamp32((int64_t)x + y))                                                   \
    X(2, SUB_SAT, S32, clamp32((int64_t)x - y))                                                   \
    X(2, MUL_LO, U16, (uint32_t)x *y)                                                             \
    X(2, MUL_LO, U32, x *y)                                                                       \
    X(2, MUL_LO, U64, x *y)                                                                       \
    X(2, MUL_HI, U16, (uint32_t)x *y >> 16)                                                       \
    X(2, MUL_HI, S16, x *y >> 16)                                                                 \
    X(2, MUL_HI, U32, (uint64_t)x *y >> 32)                                                       \
    X(2, MUL_HI, S32, (int64_t)x *y >> 32)                                                        \
    X(2, MUL_HI, U64, high_unsigned(x, y))                                                        \
    X(2, MUL_HI, S64, high_signed(x, y))                                                          \
    X(3, MAD_LO, U16, (uint32_t)x *y + z)                                                         \
    X(3, MAD_LO, U32, x *y + z)                                                                   \
    X(3, MAD_LO, U64, x *y + z)                                                                   \
    X(3, MAD_HI, U32, ((uint64_t)x * y >> 32) + z)                                                \
    X(3, MAD_HI, S32, (uint32_t)((int64_t)x * y >> 32) + (uint32_t)z)                             \
    X(3, MAD_HI, U64, high_unsigned(x, y) + z)                                                    \
    X(3, MAD_HI, S64, (uint64_t)high_signed(x, y) + (uint64_t)z)                                  \
    X(2, DIV, U16, y ? x / y : UINT16_MAX)                                                        \
    X(2, DIV, S16, y ? x / y : -1)                                                                \
    X(2, DIV, U32, y ? x / y : UINT32_MAX)                                                        \
    X(2, DIV, S32, y ? (int64_t)x / y : -1)                                                       \
    X(2, DIV, U64, y ? x / y : UINT64_MAX)                                                        \
    X(2, DIV, S64, y == -1 ? (int64_t) - (uint64_t)x : y ? x / y : -1)                            \
    X(2, REM, U16, y ? x % y : UINT16_MAX)                                                        \
    X(2, REM, S16, y ? x % y : -1)                                                                \
    X(2, REM, U32, y ? x % y : UINT32_MAX)                                                        \
    X(2, REM, S32, y ? (int64_t)x % y : -1)                                                       \
    X(2, REM, U64, y ? x % y : UINT64_MAX)                                                        \
    X(2, REM, S64, y == -1 ? 0 : y ? x % y : -1)                                                  \
    X(1, ABS, S16, x < 0 ? -x : x)                                                                \
    X(1, ABS, S32, x < 0 ? -(uint32_t)x : (uint32_t)x)                                            \
    X(1, ABS, S64, x < 0 ? -(uint64_t)x : (uint64_t)x)                                            \
    X(1, NEG, U16, -x)                                                                            \
    X(1, NEG, U32, -x)                                                                            \
    X(1, NEG, U64, -x)                                                                            \
    X(2, MIN, U16, x < y ? x : y)                                                                 \
    X(2, MIN, S16, x < y ? x : y)                                                                 \
    X(2, MIN, U32, x < y ? x : y)                                                                 \
    X(2, MIN, S32, x < y ? x : y)                                                                 \
    X(2, MIN, U64, x < y ? x : y)                                                                 \
    X(2, MIN, S64, x < y ? x : y)                                                                 \
    X(2, MAX, U16, x > y ? x : y)                                                                 \
    X(2, MAX, S16, x > y ? x : y)                                                                 \
    X(2, MAX, U32, x > y ? x : y)                                                                 \
    X(2, MAX, S32, x > y ? x : y)                                                                 \
    X(2, MAX, U64, x > y ? x : y)                                                                 \
    X(2, MAX, S64, x > y ? x : y)                                                                 \
    X(3, SAD, U16, z + (x < y ? y - x : x - y))                                                   \
    X(3, SAD, S16, z + (x < y ? y - x : x - y))                                                   \
    X(3, SAD, U32, z + (x < y ? y - x : x - y))                                                   \
    X(3, SAD, S32, (uint32_t)z + (x < y ? (uint32_t)y - (uint32_t)x : (uint32_t)x - (uint32_t)y)) \
    X(3, SAD, U64, z + (x < y ? y - x : x - y))                                                   \
    X(3, SAD, S64, (uint64_t)z + (x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y)) \
    X(2, ADD, U16X2, pair(x, y, add16))                                                           \
    X(2, SUB, U16X2, pair(x, y, sub16))                                                           \
    X(2, MIN, U16X2, pair(x, y, minu16))                                                          \
    X(2, MAX, U16X2, pair(x, y, maxu16))                                                          \
    X(2, MIN, S16X2, pair(x, y, mins16))                                                          \
    X(2, MAX, S16X2, pair(x, y, maxs16))

#define LANE_U16 LaneU16
#define LANE_S16 LaneS16
#define LANE_U32 LaneU32
#define LANE_S32 LaneS32
#define LANE_U64 LaneU64
#define LANE_S64 LaneS64
#define LANE_U16X2 LaneU32
#define LANE_S16X2 LaneU32

static inline int32_t clamp32(int64_t x) {
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}
static inline uint64_t high_unsigned(uint64_t x, uint64_t y) {
    return (uint64_t)((Uint128)x * y >> 64);
}
static inline int64_t high_signed(int64_t x, int64_t y) { return (int64_t)((Int128)x * y >> 64); }

static inline uint32_t add16(uint32_t x, uint32_t y) { return x + y; }
static inline uint32_t sub16(uint32_t x, uint32_t y) { return x - y; }
static inline uint32_t minu16(uint32_t x, uint32_t y) { return x < y ? x : y; }
static inline uint32_t maxu16(uint32_t x, uint32_t y) { return x > y ? x : y; }
static inline uint32_t mins16(uint32_t x, uint32_t y) { return (int16_t)x < (int16_t)y ? x : y; }
static inline uint32_t maxs16(uint32_t x, uint32_t y) { return (int16_t)x > (int16_t)y ? x : y; }
static inline uint32_t pair(uint32_t x, uint32_t y, uint32_t (*half)(uint32_t, uint32_t)) {
    return (half(x & 0xffff, y & 0xffff) & 0xffff) | half(x >> 16, y >> 16) << 16;
}

#define OPERAND_1(T) const T *a = SIM_REG(w, i->a, T);
#define OPERAND_2(T) OPERAND_1(T) const T *b = SIM_REG(w, i->b, T);
#define OPERAND_3(T) OPERAND_2(T) const T *c = SIM_REG(w, i->c, T);
#define VALUE_1(T) const T x = a[l];
#define VALUE_2(T) VALUE_1(T) const T y = b[l];
#define VALUE_3(T) VALUE_2(T) const T z = c[l];
#define DEFINE(arity, op, type, ...)                                                         \
    static void op##_##type(SimWarp *w, const SimInstr *i) {                                 \
        LANE_##type *d = SIM_REG(w, i->d, LANE_##type);                                      \
        OPERAND_##arity(LANE_##type)                                                         \
            SIM_EACH_LANE(w, VALUE_##arity(LANE_##type) d[l] = (LANE_##type)(__VA_ARGS__);); \
    }
INT_ROWS(DEFINE)

// Results that are twice as wide as the operands.
#define WIDE_ROWS(X)         \
    X(U16, LaneU16, LaneU32) \
    X(S16, LaneS16, LaneU32) \
    X(U32, LaneU32, LaneU64) \
    X(S32, LaneS32, LaneU64)
#define DEFINE_WIDE(type, N, W)                                                               \
    static void MUL_WIDE_##type(SimWarp *w, const SimInstr *i) {                              \
        W *d = SIM_REG(w, i->d, W);                                                           \
        OPERAND_2(N)                                                                          \
        SIM_EACH_LANE(w, VALUE_2(N) d[l] = (W)((int64_t)x * (int64_t)y););                    \
    }                                                                                         \
    static void MAD_WIDE_##type(SimWarp *w, const SimInstr *i) {                              \
        W *d = SIM_REG(w, i->d, W);                                                           \
        OPERAND_2(N)                                                                          \
        const W *c = SIM_REG(w, i->c, W);                                                     \
        SIM_EACH_LANE(w, VALUE_2(N) d[l] = (W)((uint64_t)((int64_t)x * (int64_t)y) + c[l]);); \
    }
// As int64_t, the product of two u32 would overflow.
#define DEFINE_WIDE_U32(type, N, W)                                  \
    static void MUL_WIDE_##type(SimWarp *w, const SimInstr *i) {     \
        W *d = SIM_REG(w, i->d, W);                                  \
        OPERAND_2(N)                                                 \
        SIM_EACH_LANE(w, VALUE_2(N) d[l] = (uint64_t)x * y;);        \
    }                                                                \
    static void MAD_WIDE_##type(SimWarp *w, const SimInstr *i) {     \
        W *d = SIM_REG(w, i->d, W);                                  \
        OPERAND_2(N)                                                 \
        const W *c = SIM_REG(w, i->c, W);                            \
        SIM_EACH_LANE(w, VALUE_2(N) d[l] = (uint64_t)x * y + c[l];); \
    }
DEFINE_WIDE(U16, LaneU16, LaneU32)
DEFINE_WIDE(S16, LaneS16, LaneU32)
DEFINE_WIDE(S32, LaneS32, LaneU64)
DEFINE_WIDE_U32(U32, LaneU32, LaneU64)

// Carries: one bit for each lane, in addition to the registers.
#define DEFINE_CARRY(type, N)                                                              \
    static void sum_##type(SimWarp *w, const SimInstr *i, bool in, bool out, bool minus) { \
        N *d = SIM_REG(w, i->d, N);                                                        \
        OPERAND_2(N)                                                                       \
        uint32_t carry = w->carry;                                                         \
        SIM_EACH_LANE(w, N x = a[l]; N y = b[l]; N from = (N)(in ? carry >> l & 1 : 0);    \
                      N s = minus ? x - y : x + y; N t = minus ? s - from : s + from;      \
                      bool over = minus ? (x < y) | (s < from) : (s < x) | (t < s);        \
                      if (out) w->carry = (w->carry & ~(1u << l)) | (uint32_t)over << l;   \
                      d[l] = t;);                                                          \
    }                                                                                      \
    static void ADD_CC_##type(SimWarp *w, const SimInstr *i) {                             \
        sum_##type(w, i, false, true, false);                                              \
    }                                                                                      \
    static void SUB_CC_##type(SimWarp *w, const SimInstr *i) {                             \
        sum_##type(w, i, false, true, true);                                               \
    }                                                                                      \
    static void ADDC_##type(SimWarp *w, const SimInstr *i) {                               \
        sum_##type(w, i, true, i->flags &SIM_CARRY, false);                                \
    }                                                                                      \
    static void SUBC_##type(SimWarp *w, const SimInstr *i) {                               \
        sum_##type(w, i, true, i->flags &SIM_CARRY, true);                                 \
    }
DEFINE_CARRY(U32, LaneU32)
DEFINE_CARRY(U64, LaneU64)

#define DEFINE_MAD_CARRY(type, N, low, high)                                                    \
    static void mad_##type(SimWarp *w, const SimInstr *i, bool upper, bool in, bool out) {      \
        N *d = SIM_REG(w, i->d, N);                                                             \
        OPERAND_3(N)                                                                            \
        for (uint32_t l = 0; l < SIM_LANES; l++) {                                              \
            if (!(w->mask >> l & 1)) continue;                                                  \
            N x = a[l], y = b[l];                                                               \
            Uint128 t =                                                                         \
                (Uint128)(N)(upper ? (high) : (low)) + c[l] + (in ? w->carry >> l & 1 : 0);     \
            if (out)                                                                            \
                w->carry = (w->carry & ~(1u << l)) | (uint32_t)(t >> (8 * sizeof(N)) & 1) << l; \
            d[l] = (N)t;                                                                        \
        }                                                                                       \
    }                                                                                           \
    static void MAD_CC_LO_##type(SimWarp *w, const SimInstr *i) { mad_##type(w, i, 0, 0, 1); }  \
    static void MAD_CC_HI_##type(SimWarp *w, const SimInstr *i) { mad_##type(w, i, 1, 0, 1); }  \
    static void MADC_LO_##type(SimWarp *w, const SimInstr *i) {                                 \
        mad_##type(w, i, 0, 1, i->flags &SIM_CARRY);                                            \
    }                                                                                           \
    static void MADC_HI_##type(SimWarp *w, const SimInstr *i) {                                 \
        mad_##type(w, i, 1, 1, i->flags &SIM_CARRY);                                            \
    }
DEFINE_MAD_CARRY(U32, LaneU32, x *y, (uint64_t)x *y >> 32)
DEFINE_MAD_CARRY(U64, LaneU64, x *y, high_unsigned(x, y))

// Sums of products of bytes and half words: `type` is the type of a, `from` that of b.
static int32_t part(uint32_t x, uint32_t at, uint32_t bits, bool sign) {
    uint32_t v = x >> at & ((1u << bits) - 1);
    return sign && v >> (bits - 1) ? (int32_t)v - (int32_t)(1u << bits) : (int32_t)v;
}
static void dot_parts(SimWarp *w, const SimInstr *i, uint32_t a_bits, uint32_t parts,
                      uint32_t b_at) {
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    OPERAND_3(LaneU32)
    bool sa = i->type == SIM_S32, sb = i->from == SIM_S32;
    SIM_EACH_LANE(w, uint32_t sum = c[l];
                  for (uint32_t n = 0; n < parts; n++) sum +=
                  (uint32_t)(part(a[l], n * a_bits, a_bits, sa) * part(b[l], b_at + n * 8, 8, sb));
                  d[l] = sum;);
}
static void DP4A_U32(SimWarp *w, const SimInstr *i) { dot_parts(w, i, 8, 4, 0); }
static void DP2A_LO_U32(SimWarp *w, const SimInstr *i) { dot_parts(w, i, 16, 2, 0); }
static void DP2A_HI_U32(SimWarp *w, const SimInstr *i) { dot_parts(w, i, 16, 2, 16); }

#define ROW(op, type) {SIM_OP_##op, SIM_##type, SIM_NONE, op##_##type},
#define ROW_OF(arity, op, type, ...) ROW(op, type)
#define ROW_WIDE(type, N, W) ROW(MUL_WIDE, type) ROW(MAD_WIDE, type)
#define ROWS_CARRY(type) \
    ROW(ADD_CC, type)    \
    ROW(SUB_CC, type)    \
    ROW(ADDC, type)      \
    ROW(SUBC, type) ROW(MAD_CC_LO, type) ROW(MAD_CC_HI, type) ROW(MADC_LO, type) ROW(MADC_HI, type)
static const SimLaneRow rows[] = {INT_ROWS(ROW_OF) WIDE_ROWS(ROW_WIDE) ROWS_CARRY(U32) ROWS_CARRY(
    U64) ROW(DP4A, U32) ROW(DP2A_LO, U32) ROW(DP2A_HI, U32)};
const SimLaneTable sim_lanes_int = {rows, sizeof rows / sizeof *rows};
