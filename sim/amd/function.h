// Shared by the files of lane functions: macros that define one function on a line.
//
// Invariants: a function computes all lanes, whatever the wave's mask is, so it must be defined for
// every value. p, q, r, s are the operands of the lane; T, A, B, C are the types of the result and
// of the operands.
//
//     AMD_FUNCTION_2(add_u32, LaneU32, LaneU32, LaneU32, p + q)
#ifndef TILEC_SIM_AMD_FUNCTION_H
#define TILEC_SIM_AMD_FUNCTION_H

#include "sim/amd/wave.h"
#include "sim/machine/number/number.h"

#define AMD_FUNCTION_1(name, T, A, ...)                         \
    void amd_##name(const AmdLanes *x) {                        \
        T *d = x->d;                                            \
        const A *a = x->a;                                      \
        AMD_EACH(x, const A p = a[l]; d[l] = (T)(__VA_ARGS__);) \
    }
#define AMD_FUNCTION_2(name, T, A, B, ...)                                        \
    void amd_##name(const AmdLanes *x) {                                          \
        T *d = x->d;                                                              \
        const A *a = x->a;                                                        \
        const B *b = x->b;                                                        \
        AMD_EACH(x, const A p = a[l]; const B q = b[l]; d[l] = (T)(__VA_ARGS__);) \
    }
#define AMD_FUNCTION_3(name, T, A, B, C, ...)                             \
    void amd_##name(const AmdLanes *x) {                                  \
        T *d = x->d;                                                      \
        const A *a = x->a;                                                \
        const B *b = x->b;                                                \
        const C *c = x->c;                                                \
        AMD_EACH(x, const A p = a[l]; const B q = b[l]; const C r = c[l]; \
                 d[l] = (T)(__VA_ARGS__);)                                \
    }
// Two results: the second, e, is one bit for each lane.
#define AMD_FUNCTION_2C(name, T, A, B, value, carry)                                        \
    void amd_##name(const AmdLanes *x) {                                                    \
        T *d = x->d;                                                                        \
        LaneU32 *e = x->e;                                                                  \
        const A *a = x->a;                                                                  \
        const B *b = x->b;                                                                  \
        AMD_EACH(x, const A p = a[l]; const B q = b[l]; d[l] = (T)(value); e[l] = (carry);) \
    }
#define AMD_FUNCTION_3C(name, T, A, B, C, value, carry)                                      \
    void amd_##name(const AmdLanes *x) {                                                     \
        T *d = x->d;                                                                         \
        LaneU32 *e = x->e;                                                                   \
        const A *a = x->a;                                                                   \
        const B *b = x->b;                                                                   \
        const C *c = x->c;                                                                   \
        AMD_EACH(x, const A p = a[l]; const B q = b[l]; const C r = c[l]; d[l] = (T)(value); \
                 e[l] = (carry);)                                                            \
    }

// The NaN that results become.
static inline float amd_quiet(float x) { return x == x ? x : sim_f32_bits(0x7fc00000); }
static inline double amd_quiet64(double x) {
    return x == x ? x : sim_f64_bits(UINT64_C(0x7ff8) << 48);
}

// Converts a double that was rounded to odd to a half.
static inline uint32_t amd_f16_of(double odd) {
    float near = (float)odd;
    double error = odd - (double)near;
    uint32_t u = sim_bits_f32(near), even = ~u & 1;
    even &= (error != 0) & (error == error) & (near - near == 0) & (near != 0);
    uint32_t up = (error > 0) == (near > 0);
    u += (even & up) - (even & ~up & 1);
    uint32_t h = sim_f16_round(sim_f32_bits(u));
    return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h;
}

#endif
