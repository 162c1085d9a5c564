// f32, f64 and f32x2. NaN results are the hardware's single NaN (f32) or the host's NaN (f64).
#include <math.h>

#include "sim/machine/number/approx.h"
#include "sim/machine/number/exact.h"
#include "sim/machine/number/number.h"
#include "sim/machine/ops.h"

static inline float saturated(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }

static float finish(const SimInstr *i, float x) {
    if (i->flags & SIM_FTZ) x = sim_flush(x);
    if (i->flags & SIM_SAT) x = saturated(x);
    return sim_canonical(x);
}
static inline float start(const SimInstr *i, float x) {
    return i->flags & SIM_FTZ ? sim_flush(x) : x;
}
// Rounds a double that was rounded to odd to f32, with the instruction's rounding.
static float narrow(const SimInstr *i, double odd) {
    if (i->round == SIM_RN || odd - odd != 0) return (float)odd;
    return sim_f32_bits((uint32_t)sim_number_round(&sim_f32, odd, (SimRound)i->round, false));
}
// If a sum is exactly zero, the rounding mode determines its sign.
static double zero_sum(const SimInstr *i, double a, double b, double s) {
    if (s == 0 && i->round == SIM_RM && a == -b && !(a == 0 && !signbit(a) == !signbit(b)))
        return -0.0;
    return s;
}

static inline bool plain(const SimInstr *i) {
    return i->round == SIM_RN && !(i->flags & (SIM_FTZ | SIM_SAT));
}
static float slow_add(const SimInstr *i, float x, float y) {
    x = start(i, x), y = start(i, y);
    return finish(i, narrow(i, zero_sum(i, x, y, sim_add_odd(x, y))));
}
static float slow_sub(const SimInstr *i, float x, float y) { return slow_add(i, x, -y); }
// Products with .ftz become 0 where they are subnormal before they are rounded.
static float finish_product(const SimInstr *i, double odd) {
    bool lost = i->flags & SIM_FTZ && odd < 0x1p-126 && odd > -0x1p-126;
    return finish(i, lost ? (float)copysign(0, odd) : narrow(i, odd));
}
static float slow_mul(const SimInstr *i, float x, float y) {
    return finish_product(i, (double)start(i, x) * (double)start(i, y));
}
static float slow_fma(const SimInstr *i, float x, float y, float z) {
    double p = (double)start(i, x) * (double)start(i, y), c = start(i, z);
    return finish_product(i, zero_sum(i, p, c, sim_add_odd(p, c)));
}
// The quotient and the root in double, with the exact sign of the error.
static float slow_div(const SimInstr *i, float x, float y) {
    x = start(i, x), y = start(i, y);
    if (i->flags & SIM_APPROX || i->round == SIM_RN) return finish(i, x / y);
    double q = (double)x / (double)y;
    if (q - q != 0 || q == 0) return finish(i, (float)q);
    double rest = fma(-q, (double)y, (double)x);
    return finish(i, narrow(i, sim_make_odd(q, y > 0 ? rest : -rest)));
}
static float slow_sqrt(const SimInstr *i, float x) {
    x = start(i, x);
    if (i->flags & SIM_APPROX || i->round == SIM_RN) return finish(i, sqrtf(x));
    double r = sqrt((double)x);
    if (r - r != 0 || r == 0) return finish(i, (float)r);
    return finish(i, narrow(i, sim_make_odd(r, fma(-r, r, (double)x))));
}

#define BINARY_F32(name, quick, slow)                                                           \
    static void name(SimWarp *w, const SimInstr *i) {                                           \
        LaneF32 *d = SIM_REG(w, i->d, LaneF32);                                                 \
        const LaneF32 *a = SIM_REG(w, i->a, LaneF32), *b = SIM_REG(w, i->b, LaneF32);           \
        if (plain(i)) {                                                                         \
            SIM_EACH_LANE(w, const float x = a[l]; const float y = b[l]; const float r = quick; \
                          d[l] = r == r ? r : sim_f32_bits(0x7fffffff););                       \
        } else {                                                                                \
            SIM_EACH_LANE(w, d[l] = slow(i, a[l], b[l]););                                      \
        }                                                                                       \
    }
BINARY_F32(ADD_F32, x + y, slow_add)
BINARY_F32(SUB_F32, x - y, slow_sub)
BINARY_F32(MUL_F32, x *y, slow_mul)
BINARY_F32(DIV_F32, x / y, slow_div)

static void FMA_F32(SimWarp *w, const SimInstr *i) {
    LaneF32 *d = SIM_REG(w, i->d, LaneF32);
    const LaneF32 *a = SIM_REG(w, i->a, LaneF32), *b = SIM_REG(w, i->b, LaneF32);
    const LaneF32 *c = SIM_REG(w, i->c, LaneF32);
    if (plain(i)) {
        SIM_EACH_LANE(w,
                      const float r = (float)sim_fma_odd((double)a[l], (double)b[l], (double)c[l]);
                      d[l] = r == r ? r : sim_f32_bits(0x7fffffff););
    } else {
        SIM_EACH_LANE(w, d[l] = slow_fma(i, a[l], b[l], c[l]););
    }
}

static float float_extreme(const SimInstr *i, float x, float y, bool greatest) {
    x = start(i, x), y = start(i, y);
    uint32_t sign = (sim_bits_f32(x) ^ sim_bits_f32(y)) & 0x80000000;
    if (i->flags & SIM_XORSIGN) x = fabsf(x), y = fabsf(y);
    float r;
    if (x != x || y != y)
        r = i->flags & SIM_NAN || (x != x && y != y) ? sim_f32_bits(0x7fffffff) : x != x ? y : x;
    else if (x == y)
        r = sim_f32_bits(greatest ? sim_bits_f32(x) & sim_bits_f32(y)
                                  : sim_bits_f32(x) | sim_bits_f32(y));
    else
        r = (x < y) != greatest ? x : y;
    if (i->flags & SIM_XORSIGN && r == r) r = sim_f32_bits(sim_bits_f32(r) | sign);
    return r;
}
static double least64(double x, double y, bool greatest) {
    if (x != x) return y;
    if (y != y) return x;
    if (x == y) return !signbit(x) == greatest ? x : y;
    return (x < y) != greatest ? x : y;
}

#define ANY_2(name, T, ...)                                                             \
    static void name(SimWarp *w, const SimInstr *i) {                                   \
        T *d = SIM_REG(w, i->d, T);                                                     \
        const T *a = SIM_REG(w, i->a, T), *b = SIM_REG(w, i->b, T);                     \
        SIM_EACH_LANE(w, const T x = a[l]; const T y = b[l]; d[l] = (T)(__VA_ARGS__);); \
    }
#define ANY_1(name, T, ...)                                           \
    static void name(SimWarp *w, const SimInstr *i) {                 \
        T *d = SIM_REG(w, i->d, T);                                   \
        const T *a = SIM_REG(w, i->a, T);                             \
        SIM_EACH_LANE(w, const T x = a[l]; d[l] = (T)(__VA_ARGS__);); \
    }
// The extreme of two values or, when operand c is present, three.
static void extreme(SimWarp *w, const SimInstr *i, bool greatest) {
    LaneF32 *d = SIM_REG(w, i->d, LaneF32);
    const LaneF32 *a = SIM_REG(w, i->a, LaneF32), *b = SIM_REG(w, i->b, LaneF32);
    if (i->c.number >= 0) {
        const LaneF32 *c = SIM_REG(w, i->c, LaneF32);
        SIM_EACH_LANE(
            w, d[l] = float_extreme(i, float_extreme(i, a[l], b[l], greatest), c[l], greatest););
    } else {
        SIM_EACH_LANE(w, d[l] = float_extreme(i, a[l], b[l], greatest););
    }
}
static void MIN_F32(SimWarp *w, const SimInstr *i) { extreme(w, i, false); }
static void MAX_F32(SimWarp *w, const SimInstr *i) { extreme(w, i, true); }
ANY_2(MIN_F64, LaneF64, least64(x, y, false))
ANY_2(MAX_F64, LaneF64, least64(x, y, true))

static float recip(const SimInstr *i, float x) { return slow_div(i, 1.0f, x); }
static float rsqrt_of(const SimInstr *i, float x) {
    x = start(i, x);
    return finish(i, (float)(1.0 / sqrt((double)x)));
}
ANY_1(SQRT_F32, LaneF32, slow_sqrt(i, x))
ANY_1(RCP_F32, LaneF32, recip(i, x))
ANY_1(RSQRT_F32, LaneF32, rsqrt_of(i, x))
ANY_1(SIN_F32, LaneF32, finish(i, sim_approx_sin(start(i, x))))
ANY_1(COS_F32, LaneF32, finish(i, sim_approx_cos(start(i, x))))
ANY_1(LG2_F32, LaneF32, finish(i, sim_approx_lg2(start(i, x))))
ANY_1(EX2_F32, LaneF32, finish(i, sim_approx_ex2(start(i, x))))
ANY_1(TANH_F32, LaneF32, sim_approx_tanh(x))
// These are additions to ptxas, so that a NaN loses its sign and payload.
static uint32_t with_sign(const SimInstr *i, uint32_t bits, uint32_t clear, uint32_t flip) {
    float x = start(i, sim_f32_bits(bits));
    return x != x ? sim_bits_f32(sim_canonical(x)) : (sim_bits_f32(x) & ~clear) ^ flip;
}
ANY_1(ABS_F32, LaneU32, with_sign(i, x, 0x80000000, 0))
ANY_1(NEG_F32, LaneU32, with_sign(i, x, 0, 0x80000000))
ANY_1(ABS_F64, LaneU64, x & ~(UINT64_C(1) << 63))
ANY_1(NEG_F64, LaneU64, x ^ (UINT64_C(1) << 63))
// copysign: the sign of a, the magnitude of b.
ANY_2(COPYSIGN_F32, LaneU32, (x & 0x80000000) | (y & 0x7fffffff))
ANY_2(COPYSIGN_F64, LaneU64, (x >> 63 << 63) | (y & ~(UINT64_C(1) << 63)))

// ---- f64: the host's arithmetic, with a step to the neighbour for the other roundings ----

static double step64(const SimInstr *i, double r, double error) {
    if (i->round == SIM_RN || error == 0 || error != error || r - r != 0) return r;
    bool down = i->round == SIM_RM || (i->round == SIM_RZ && r > 0);
    bool up = i->round == SIM_RP || (i->round == SIM_RZ && r < 0);
    if (down && error < 0) return nextafter(r, -(double)__builtin_inff());
    if (up && error > 0) return nextafter(r, (double)__builtin_inff());
    return r;
}
static double add64(const SimInstr *i, double x, double y) {
    double s = x + y, t = s - x;
    return step64(i, zero_sum(i, x, y, s), (x - (s - t)) + (y - t));
}
static double mul64(const SimInstr *i, double x, double y) {
    double p = x * y;
    return i->round == SIM_RN ? p : step64(i, p, fma(x, y, -p));
}
static double div64(const SimInstr *i, double x, double y) {
    double q = x / y;
    if (i->round == SIM_RN) return q;
    double rest = fma(-q, y, x);
    return step64(i, q, y > 0 ? rest : -rest);
}
static double sqrt64(const SimInstr *i, double x) {
    double r = sqrt(x);
    return i->round == SIM_RN ? r : step64(i, r, fma(-r, r, x));
}
static double fma64(const SimInstr *i, double x, double y, double z) {
    double r = fma(x, y, z);
    if (i->round == SIM_RN || r - r != 0 || r == 0) return zero_sum(i, x * y, z, r);
    SimExact e;
    sim_exact_clear(&e);
    sim_exact_add(&e, x, y);
    sim_exact_add(&e, z, 1.0);
    return sim_f64_bits(sim_exact_round(&e, &sim_f64, (SimRound)i->round));
}
ANY_2(ADD_F64, LaneF64, add64(i, x, y))
ANY_2(SUB_F64, LaneF64, add64(i, x, -y))
ANY_2(MUL_F64, LaneF64, mul64(i, x, y))
ANY_2(DIV_F64, LaneF64, div64(i, x, y))
ANY_1(RCP_F64, LaneF64, div64(i, 1.0, x))
ANY_1(SQRT_F64, LaneF64, sqrt64(i, x))
ANY_1(RSQRT_F64, LaneF64, 1.0 / sqrt(x))
static void FMA_F64(SimWarp *w, const SimInstr *i) {
    LaneF64 *d = SIM_REG(w, i->d, LaneF64);
    const LaneF64 *a = SIM_REG(w, i->a, LaneF64), *b = SIM_REG(w, i->b, LaneF64);
    const LaneF64 *c = SIM_REG(w, i->c, LaneF64);
    SIM_EACH_LANE(w, d[l] = fma64(i, a[l], b[l], c[l]););
}

// ---- f32x2 ----

#define HALVES(name, ...)                                                             \
    static void name(SimWarp *w, const SimInstr *i) {                                 \
        LaneF32 *d = SIM_REG(w, i->d, LaneF32);                                       \
        const LaneF32 *a = SIM_REG(w, i->a, LaneF32), *b = SIM_REG(w, i->b, LaneF32); \
        const LaneF32 *c = i->c.number < 0 ? b : SIM_REG(w, i->c, LaneF32);           \
        SIM_EACH_LANE(                                                                \
            w, for (uint32_t n = 2 * l; n < 2 * l + 2; n++) {                         \
                const float x = a[n], y = b[n], z = c[n];                             \
                (void)z;                                                              \
                d[n] = __VA_ARGS__;                                                   \
            });                                                                       \
    }
HALVES(ADD_F32X2, slow_add(i, x, y))
HALVES(SUB_F32X2, slow_sub(i, x, y))
HALVES(MUL_F32X2, slow_mul(i, x, y))
HALVES(FMA_F32X2, slow_fma(i, x, y, z))

// ---- testp: the kind of a number; `immediate` ----

static bool is_kind(uint64_t magnitude, unsigned mantissa, uint64_t infinity, uint64_t kind) {
    bool finite = magnitude < infinity, normal = finite && magnitude >> mantissa;
    switch (kind) {
    case 0: return finite;
    case 1: return magnitude == infinity;
    case 2: return magnitude <= infinity;
    case 3: return magnitude > infinity;
    case 4: return normal || !magnitude;
    default: return finite && !normal && magnitude;
    }
}
static void TESTP_F32(SimWarp *w, const SimInstr *i) {
    const LaneU32 *a = SIM_REG(w, i->a, LaneU32);
    uint32_t r = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        r |= (uint32_t)is_kind(a[l] & 0x7fffffff, 23, 0x7f800000, i->immediate) << l;
    sim_set_pred(w, i->d, r);
}
static void TESTP_F64(SimWarp *w, const SimInstr *i) {
    const LaneU64 *a = SIM_REG(w, i->a, LaneU64);
    uint32_t r = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        r |= (uint32_t)is_kind(a[l] << 1 >> 1, 52, UINT64_C(0x7ff) << 52, i->immediate) << l;
    sim_set_pred(w, i->d, r);
}

// ---- f32 with f16 or bf16, which are converted; the last operand is f32 ----

#define WIDENED_SUM(op, type, value, sum)                            \
    static void op##_WIDENED_##type(SimWarp *w, const SimInstr *i) { \
        const LaneU16 *a = SIM_REG(w, i->a, LaneU16);                \
        const LaneF32 *b = SIM_REG(w, i->b, LaneF32);                \
        LaneF32 *d = SIM_REG(w, i->d, LaneF32);                      \
        SIM_EACH_LANE(w, d[l] = sum(i, value(a[l]), b[l]););         \
    }
#define WIDENED_FMA(type, value)                                               \
    static void FMA_WIDENED_##type(SimWarp *w, const SimInstr *i) {            \
        const LaneU16 *a = SIM_REG(w, i->a, LaneU16);                          \
        const LaneU16 *b = SIM_REG(w, i->b, LaneU16);                          \
        const LaneF32 *c = SIM_REG(w, i->c, LaneF32);                          \
        LaneF32 *d = SIM_REG(w, i->d, LaneF32);                                \
        SIM_EACH_LANE(w, d[l] = slow_fma(i, value(a[l]), value(b[l]), c[l]);); \
    }
#define WIDENED(type, value)                \
    WIDENED_SUM(ADD, type, value, slow_add) \
    WIDENED_SUM(SUB, type, value, slow_sub) \
    WIDENED_FMA(type, value)
WIDENED(F16, sim_f16_value)
WIDENED(BF16, sim_bf16_value)

#define ROW(op, type) {SIM_OP_##op, SIM_##type, SIM_NONE, op##_##type},
#define ROWS_BOTH(op) ROW(op, F32) ROW(op, F64)
static const SimLaneRow rows[] = {
    ROWS_BOTH(ADD) ROWS_BOTH(SUB) ROWS_BOTH(MUL) ROWS_BOTH(DIV) ROWS_BOTH(FMA)     //
    ROWS_BOTH(MIN) ROWS_BOTH(MAX) ROWS_BOTH(SQRT) ROWS_BOTH(RCP) ROWS_BOTH(RSQRT)  //
    ROWS_BOTH(ABS) ROWS_BOTH(NEG) ROWS_BOTH(COPYSIGN) ROWS_BOTH(TESTP)             //
    ROW(SIN, F32) ROW(COS, F32) ROW(LG2, F32) ROW(EX2, F32) ROW(TANH, F32)         //
    ROW(ADD, F32X2) ROW(SUB, F32X2) ROW(MUL, F32X2) ROW(FMA, F32X2)                //
    ROW(ADD_WIDENED, F16) ROW(SUB_WIDENED, F16) ROW(FMA_WIDENED, F16)              //
    ROW(ADD_WIDENED, BF16) ROW(SUB_WIDENED, BF16) ROW(FMA_WIDENED, BF16)};
const SimLaneTable sim_lanes_float = {rows, sizeof rows / sizeof *rows};
