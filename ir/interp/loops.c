// Elementwise loops for the most frequent types. The results equal those of ir_eval, to the bit:
// tests/interp compares them.
#include <math.h>

#include "ir/interp/internal.h"

// Arithmetic's NaN is the positive quiet one.
static inline float quiet_f32(float v) { return v == v ? v : (float)NAN; }
static inline double quiet_f64(double v) { return v == v ? v : (double)NAN; }

#define LOOP2(T, R, expression)                               \
    do {                                                      \
        const T *x = a, *y = b;                               \
        R *r = result;                                        \
        for (uint64_t i = 0; i < n; i++) r[i] = (expression); \
        return true;                                          \
    } while (0)
#define LOOP1(T, R, expression)                               \
    do {                                                      \
        const T *x = a;                                       \
        R *r = result;                                        \
        for (uint64_t i = 0; i < n; i++) r[i] = (expression); \
        return true;                                          \
    } while (0)

static inline float least_f32(float x, float y) {
    if (x != x || y != y) return (float)NAN;
    if (x == y) return signbit(x) ? x : y;
    return x < y ? x : y;
}

static inline float greatest_f32(float x, float y) {
    if (x != x || y != y) return (float)NAN;
    if (x == y) return signbit(x) ? y : x;
    return x > y ? x : y;
}

static inline float least_number_f32(float x, float y) {
    return x != x ? quiet_f32(y) : least_f32(x, y != y ? x : y);
}

static inline float greatest_number_f32(float x, float y) {
    return x != x ? quiet_f32(y) : greatest_f32(x, y != y ? x : y);
}

static bool loop_f32(IrOpcode code, uint64_t n, void *result, const void *a, const void *b,
                     const void *c) {
    switch (code) {
    case IR_ADD: LOOP2(float, float, quiet_f32(x[i] + y[i]));
    case IR_SUB: LOOP2(float, float, quiet_f32(x[i] - y[i]));
    case IR_MUL: LOOP2(float, float, quiet_f32(x[i] * y[i]));
    case IR_DIV: LOOP2(float, float, quiet_f32(x[i] / y[i]));
    case IR_MIN: LOOP2(float, float, least_f32(x[i], y[i]));
    case IR_MAX: LOOP2(float, float, greatest_f32(x[i], y[i]));
    case IR_MINNUM: LOOP2(float, float, least_number_f32(x[i], y[i]));
    case IR_MAXNUM: LOOP2(float, float, greatest_number_f32(x[i], y[i]));
    case IR_EQ: LOOP2(float, uint8_t, x[i] == y[i]);
    case IR_NE: LOOP2(float, uint8_t, x[i] != y[i]);
    case IR_LT: LOOP2(float, uint8_t, x[i] < y[i]);
    case IR_LE: LOOP2(float, uint8_t, x[i] <= y[i]);
    case IR_GT: LOOP2(float, uint8_t, x[i] > y[i]);
    case IR_GE: LOOP2(float, uint8_t, x[i] >= y[i]);
    case IR_NEG: LOOP1(uint32_t, uint32_t, x[i] ^ UINT32_C(0x80000000));
    case IR_ABS: LOOP1(uint32_t, uint32_t, x[i] & UINT32_C(0x7fffffff));
    case IR_SQRT: LOOP1(float, float, quiet_f32(sqrtf(x[i])));
    case IR_FMA: {
        const float *z = c;
        LOOP2(float, float, quiet_f32(fmaf(x[i], y[i], z[i])));
    }
    default: return false;  // left to ir_eval
    }
}

static bool loop_f64(IrOpcode code, uint64_t n, void *result, const void *a, const void *b) {
    switch (code) {
    case IR_ADD: LOOP2(double, double, quiet_f64(x[i] + y[i]));
    case IR_SUB: LOOP2(double, double, quiet_f64(x[i] - y[i]));
    case IR_MUL: LOOP2(double, double, quiet_f64(x[i] * y[i]));
    case IR_DIV: LOOP2(double, double, quiet_f64(x[i] / y[i]));
    case IR_LT: LOOP2(double, uint8_t, x[i] < y[i]);
    case IR_GT: LOOP2(double, uint8_t, x[i] > y[i]);
    default: return false;  // left to ir_eval
    }
}

// Both signs: wrapping arithmetic is that of the unsigned type U, order that of S.
#define INTEGER_LOOP(name, S, U)                                                              \
    static bool name(IrOpcode code, uint64_t n, void *result, const void *a, const void *b) { \
        switch (code) {                                                                       \
        case IR_ADD: LOOP2(U, U, x[i] + y[i]);                                                \
        case IR_SUB: LOOP2(U, U, x[i] - y[i]);                                                \
        case IR_MUL: LOOP2(U, U, x[i] * y[i]);                                                \
        case IR_NEG: LOOP1(U, U, 0 - x[i]);                                                   \
        case IR_NOT: LOOP1(U, U, ~x[i]);                                                      \
        case IR_AND: LOOP2(U, U, x[i] & y[i]);                                                \
        case IR_OR: LOOP2(U, U, x[i] | y[i]);                                                 \
        case IR_XOR: LOOP2(U, U, x[i] ^ y[i]);                                                \
        case IR_EQ: LOOP2(U, uint8_t, x[i] == y[i]);                                          \
        case IR_NE: LOOP2(U, uint8_t, x[i] != y[i]);                                          \
        case IR_LT: LOOP2(S, uint8_t, x[i] < y[i]);                                           \
        case IR_LE: LOOP2(S, uint8_t, x[i] <= y[i]);                                          \
        case IR_GT: LOOP2(S, uint8_t, x[i] > y[i]);                                           \
        case IR_GE: LOOP2(S, uint8_t, x[i] >= y[i]);                                          \
        case IR_MIN: LOOP2(S, S, x[i] < y[i] ? x[i] : y[i]);                                  \
        case IR_MAX: LOOP2(S, S, x[i] > y[i] ? x[i] : y[i]);                                  \
        default: return false; /* ir_eval has it */                                           \
        }                                                                                     \
    }
INTEGER_LOOP(loop_i32, int32_t, uint32_t)
INTEGER_LOOP(loop_u32, uint32_t, uint32_t)
INTEGER_LOOP(loop_i64, int64_t, uint64_t)
#undef INTEGER_LOOP

// Bools in tiles are 0 or 1.
static bool loop_bool(IrOpcode code, uint64_t n, void *result, const void *a, const void *b) {
    switch (code) {
    case IR_AND: LOOP2(uint8_t, uint8_t, x[i] & y[i]);
    case IR_OR: LOOP2(uint8_t, uint8_t, x[i] | y[i]);
    case IR_XOR:
    case IR_NE: LOOP2(uint8_t, uint8_t, x[i] ^ y[i]);
    case IR_EQ: LOOP2(uint8_t, uint8_t, x[i] == y[i]);
    case IR_NOT: LOOP1(uint8_t, uint8_t, x[i] ^ 1);
    default: return false;  // left to ir_eval
    }
}

bool loop_elementwise(IrOpcode code, Dtype elem, uint64_t n, void *result, const void *a,
                      const void *b, const void *c) {
    if (elem == DTYPE_F32) return loop_f32(code, n, result, a, b, c);
    if (elem == DTYPE_F64) return loop_f64(code, n, result, a, b);
    if (elem == DTYPE_I32) return loop_i32(code, n, result, a, b);
    if (elem == DTYPE_U32) return loop_u32(code, n, result, a, b);
    if (elem == DTYPE_I64) return loop_i64(code, n, result, a, b);
    if (elem == DTYPE_BOOL) return loop_bool(code, n, result, a, b);
    return false;
}

bool loop_cast(Dtype to, Dtype from, uint64_t n, void *result, const void *a) {
    if (to == DTYPE_I64 && from == DTYPE_I32) LOOP1(int32_t, int64_t, x[i]);
    if (to == DTYPE_I64 && from == DTYPE_U32) LOOP1(uint32_t, int64_t, x[i]);
    if (to == DTYPE_I32 && from == DTYPE_I64) LOOP1(uint64_t, uint32_t, (uint32_t)x[i]);
    if (to == DTYPE_F32 && from == DTYPE_I32) LOOP1(int32_t, float, (float)x[i]);
    if (to == DTYPE_F32 && from == DTYPE_BOOL) LOOP1(uint8_t, float, x[i] ? 1.0F : 0.0F);
    if (to == DTYPE_F32 && from == DTYPE_F16) LOOP1(uint16_t, float, dtype_to_float(from, x[i]));
    if (to == DTYPE_F32 && from == DTYPE_BF16) LOOP1(uint16_t, float, dtype_to_float(from, x[i]));
    if (to == DTYPE_F16 && from == DTYPE_F32)
        LOOP1(float, uint16_t, (uint16_t)dtype_from_float(to, x[i], true));
    if (to == DTYPE_BF16 && from == DTYPE_F32)
        LOOP1(float, uint16_t, (uint16_t)dtype_from_float(to, x[i], true));
    return false;
}
