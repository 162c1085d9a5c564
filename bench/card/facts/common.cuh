// Shared by the parts of `facts`: numbers of all formats with their roundings, random bits, and the
// output of a fact. A fact is a line of text and an object of JSON. A failed call of CUDA ends the
// part (`die`); the main program starts the next one in a new process.
#pragma once
#include <cuda_runtime.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#define HD __host__ __device__ __forceinline__

double now();
// Seconds left for this part.
double part_left();
// Writes one fact: the kind (a: approximations, b: exact instructions, c: products), the name, the
// other members of the JSON object, and the text of the line.
void fact(const char *kind, const char *name, const char *members, const char *text);
std::string fmt(const char *f, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void die(const char *what, const char *file, int line);
#define CK(x)                                                        \
    do {                                                             \
        cudaError_t e_ = (x);                                        \
        if (e_ != cudaSuccess) {                                     \
            fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_)); \
            die(cudaGetErrorString(e_), __FILE__, __LINE__);         \
        }                                                            \
    } while (0)
#define LAUNCHED()                   \
    do {                             \
        CK(cudaGetLastError());      \
        CK(cudaDeviceSynchronize()); \
    } while (0)

// The blocks of a grid that fills the card.
inline int full_grid() {
    static int n;
    if (!n) {
        cudaDeviceProp p;
        CK(cudaGetDeviceProperties(&p, 0));
        n = p.multiProcessorCount * 8;
    }
    return n;
}

HD u64 mix(u64 x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
HD float f_of(u32 u) {
#ifdef __CUDA_ARCH__
    return __uint_as_float(u);
#else
    float f;
    memcpy(&f, &u, 4);
    return f;
#endif
}
HD u32 u_of(float f) {
#ifdef __CUDA_ARCH__
    return __float_as_uint(f);
#else
    u32 u;
    memcpy(&u, &f, 4);
    return u;
#endif
}
HD double d_of(u64 u) {
#ifdef __CUDA_ARCH__
    return __longlong_as_double((long long)u);
#else
    double f;
    memcpy(&f, &u, 8);
    return f;
#endif
}
HD u64 ud_of(double f) {
#ifdef __CUDA_ARCH__
    return (u64)__double_as_longlong(f);
#else
    u64 u;
    memcpy(&u, &f, 8);
    return u;
#endif
}
HD int clz64(u64 x) {
#ifdef __CUDA_ARCH__
    return __clzll((long long)x);
#else
    return x ? __builtin_clzll(x) : 64;
#endif
}
// Formats: bits, precision, bias; greatest, infinity (0: none), NaN.
enum Fm { F16, BF16, TF32, F32, E4M3, E5M2 };
enum Rn { RN, RZ, RM, RP, RNA };
struct Form {
    int bits, p, bias;
    u32 greatest, inf, nan;
};
HD Form form(Fm f) {
    switch (f) {
    case F16: return Form{16, 11, 15, 0x7bff, 0x7c00, 0x7fff};
    case BF16: return Form{16, 8, 127, 0x7f7f, 0x7f80, 0x7fff};
    case TF32: return Form{19, 11, 127, 0x3fbff, 0x3fc00, 0x3ffff};
    case F32: return Form{32, 24, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff};
    case E4M3: return Form{8, 4, 7, 0x7e, 0, 0x7f};
    default: return Form{8, 3, 15, 0x7b, 0x7c, 0x7f};
    }
}
// Rounds significand * 2^exponent with that sign; sticky: the exact number is a bit greater.
HD u32 pack(Fm fm, bool neg, u64 sig, int exponent, bool sticky, Rn mode, bool sat) {
    Form f = form(fm);
    u32 sign = neg ? 1u << (f.bits - 1) : 0;
    if (!sig) return sign;
    int least = 1 - f.bias - (f.p - 1), top = 63 - clz64(sig);
    int q = exponent + top - (f.p - 1);
    if (q < least) q = least;
    int sh = q - exponent;
    u64 kept;
    bool half = false, rest = sticky;
    if (sh > 64) {
        kept = 0;
        rest = true;
    } else if (sh == 64) {
        kept = 0;
        half = sig >> 63;
        rest = rest || (sig << 1);
    } else if (sh > 0) {
        kept = sig >> sh;
        half = sig >> (sh - 1) & 1;
        rest = rest || (sig & ((1ull << (sh - 1)) - 1));
    } else
        kept = sig << -sh;
    bool up = false;
    if (mode == RN)
        up = half && (rest || (kept & 1));
    else if (mode == RNA)
        up = half;
    else if (mode == RM)
        up = neg && (half || rest);
    else if (mode == RP)
        up = !neg && (half || rest);
    kept += up;
    u64 bits = kept;
    if (kept >> (f.p - 1)) bits += (u64)(q - least) << (f.p - 1);
    if (bits <= f.greatest) return sign | (u32)bits;
    bool inward = mode == RZ || (mode == RM && !neg) || (mode == RP && neg);
    if (sat || inward) return sign | f.greatest;
    return f.inf ? sign | f.inf : f.nan;
}
HD u32 round_to(Fm fm, double v, Rn mode, bool sat) {
    Form f = form(fm);
    u64 u = ud_of(v), low = u & 0xfffffffffffffull;
    bool neg = u >> 63;
    int e = (int)(u >> 52 & 0x7ff);
    u32 sign = neg ? 1u << (f.bits - 1) : 0;
    if (e == 0x7ff) {
        if (low) return f.nan;
        if (f.inf && !sat) return sign | f.inf;
        return sat || !f.nan ? sign | f.greatest : f.nan;
    }
    if (e) low |= 1ull << 52;
    return pack(fm, neg, low, (e ? e : 1) - 1075, false, mode, sat);
}
// 2^e for e from -1022 to 1023.
HD double pow2(int e) { return d_of((u64)(e + 1023) << 52); }
HD double value(Fm fm, u32 b) {
    Form f = form(fm);
    if (fm == F32) return (double)f_of(b);
    bool neg = b >> (f.bits - 1) & 1;
    u32 m = b & ((1u << (f.bits - 1)) - 1);
    double s = neg ? -1.0 : 1.0;
    if (f.inf && m == f.inf) return s * d_of(0x7ff0000000000000ull);
    if (m > f.greatest) return d_of(0x7ff8000000000000ull);
    int e = (int)(m >> (f.p - 1));
    u32 q = m & ((1u << (f.p - 1)) - 1);
    if (e) q |= 1u << (f.p - 1);
    return s * (double)q * pow2((e ? e : 1) - f.bias - (f.p - 1));
}
// s with its last bit set if the sum was not exact (err is the rest): a later rounding is right.
HD double make_odd(double s, double err) {
    u64 u = ud_of(s);
    if (!(err != 0) || err != err || s - s != 0 || (u & 1)) return s;
    bool up = (err > 0) == (s > 0);
    return d_of(up ? u + 1 : u - 1);
}
HD double add_odd(double a, double b) {
    double s = a + b, t = s - a;
    double err = (a - (s - t)) + (b - t);
    return make_odd(s, err);
}
