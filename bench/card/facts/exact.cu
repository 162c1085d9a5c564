// Instructions with one right result, compared bit by bit with references that compute what the
// simulator computes. Where all operands can be tried, all are.
#include "common.cuh"
struct Res {
    unsigned long long differ, nan_only, first, last;
};
enum Kd { KI, KF32, KF16, KBF16, KF64, KE4, KE5 };
HD bool nan_bits(int k, u64 x) {
    switch (k) {
    case KF32: return (x & 0x7fffffff) > 0x7f800000;
    case KF16: return (x & 0x7fff) > 0x7c00;
    case KBF16: return (x & 0x7fff) > 0x7f80;
    case KF64: return (x << 1) > 0xffe0000000000000ull;
    case KE4: return (x & 0x7f) == 0x7f;
    case KE5: return (x & 0x7f) > 0x7c;
    default: return false;
    }
}
template <class F>
__global__ void cmp(Res *r, u64 n, u64 step) {
    unsigned long long d = 0, nn = 0, first = ~0ull, last = 0;
    for (u64 i0 = blockIdx.x * (u64)blockDim.x + threadIdx.x; i0 < n;
         i0 += (u64)gridDim.x * blockDim.x) {
        u64 i = i0 * step, a, b, c;
        F::gen(i, a, b, c);
        u64 y = F::hw(a, b, c), w = F::ref(a, b, c);
        if (y == w) continue;
        d++;
        if (nan_bits(F::kind, y) && nan_bits(F::kind, w))
            nn++;
        else {
            if (i < first) first = i;
            if (i > last) last = i;
        }
    }
    if (d) {
        atomicAdd(&r->differ, d);
        atomicAdd(&r->nan_only, nn);
    }
    if (first != ~0ull) {
        atomicMin(&r->first, first);
        atomicMax(&r->last, last);
    }
}
// Five numbers for each index: three operands, the card's result, the reference's.
template <class F>
__global__ void eval(const u64 *idx, u64 *out, int n) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        u64 a, b, c;
        F::gen(idx[k], a, b, c);
        u64 *o = out + k * 5;
        o[0] = a;
        o[1] = b;
        o[2] = c;
        o[3] = F::hw(a, b, c);
        o[4] = F::ref(a, b, c);
    }
}
template <class F>
static void run(const char *name, u64 n, u64 step = 1) {
    if (part_left() < 0.4) {
        fact("b", name, "\"skipped\":true", "skipped: time");
        return;
    }
    Res z = {0, 0, ~0ull, 0}, *d, r;
    enum { S = 4096 };
    CK(cudaMalloc(&d, sizeof z));
    CK(cudaMemcpy(d, &z, sizeof z, cudaMemcpyHostToDevice));
    cmp<F><<<full_grid(), 256>>>(d, n, step);
    LAUNCHED();
    CK(cudaMemcpy(&r, d, sizeof r, cudaMemcpyDeviceToHost));
    std::vector<u64> idx(S), out(S * 5);
    idx[0] = r.first == ~0ull ? 0 : r.first;
    idx[1] = r.last;
    for (int i = 2; i < S; i++) idx[i] = mix(i) % n * step;
    u64 *di, *dout;
    CK(cudaMalloc(&di, S * 8));
    CK(cudaMalloc(&dout, S * 40));
    CK(cudaMemcpy(di, idx.data(), S * 8, cudaMemcpyHostToDevice));
    eval<F><<<16, 256>>>(di, dout, S);
    LAUNCHED();
    CK(cudaMemcpy(out.data(), dout, S * 40, cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    CK(cudaFree(di));
    CK(cudaFree(dout));
    int host = 0;
    for (int i = 0; i < S; i++)
        host += F::ref(out[i * 5], out[i * 5 + 1], out[i * 5 + 2]) != out[i * 5 + 4];
    std::string nan, t = fmt("n=%llu differ=%llu", (unsigned long long)n, r.differ);
    if (r.differ) t += fmt(" (NaN bits only: %llu)", r.nan_only);
    std::string j =
        fmt("\"n\":%llu,\"differ\":%llu,\"nan_bits_only\":%llu,\"host_reference_differs\":%d",
            (unsigned long long)n, r.differ, r.nan_only, host);
    if (r.differ > r.nan_only)
        for (int k = 0; k < 2; k++) {
            u64 *o = &out[k * 5];
            j += fmt(",\"%s\":[\"%llx\",\"%llx\",\"%llx\",\"%llx\",\"%llx\"]", k ? "last" : "first",
                     (unsigned long long)o[0], (unsigned long long)o[1], (unsigned long long)o[2],
                     (unsigned long long)o[3], (unsigned long long)o[4]);
            t += fmt(" %s %llx,%llx,%llx -> %llx want %llx;", k ? "last" : "first",
                     (unsigned long long)o[0], (unsigned long long)o[1], (unsigned long long)o[2],
                     (unsigned long long)o[3], (unsigned long long)o[4]);
        }
    else if (r.differ)
        for (int i = 0; i < S; i++)
            if (out[i * 5 + 3] != out[i * 5 + 4]) {
                u64 *o = &out[i * 5];
                t += fmt(" e.g. %llx,%llx -> %llx want %llx", (unsigned long long)o[0],
                         (unsigned long long)o[1], (unsigned long long)o[3],
                         (unsigned long long)o[4]);
                break;
            }
    if (host) t += fmt(" HOST REFERENCE DIFFERS %d", host);
    fact("b", name, j.c_str(), t.c_str());
}

// ---- inputs ----
HD u32 special_f32(u32 k) {
    switch (k & 31) {
    case 0: return 0;
    case 1: return 0x80000000;
    case 2: return 0x7f800000;
    case 3: return 0xff800000;
    case 4: return 0x7fc00000;
    case 5: return 0xffc00001;
    case 6: return 0x7f800001;
    case 7: return 0xff812345;
    case 8: return 1;
    case 9: return 0x80000001;
    case 10: return 0x007fffff;
    case 11: return 0x807fffff;
    case 12: return 0x00800000;
    case 13: return 0x80800000;
    case 14: return 0x7f7fffff;
    case 15: return 0xff7fffff;
    case 16: return 0x3f800000;
    case 17: return 0xbf800000;
    case 18: return 0x3f800001;
    case 19: return 0x3f7fffff;
    case 20: return 0x00400000;
    case 21: return 0x4f000000;
    case 22: return 0xcf000000;
    case 23: return 0x5f000000;
    case 24: return 0x33800000;
    case 25: return 0x7f7ffffe;
    case 26: return 0x00800001;
    case 27: return 0x01000000;
    case 28: return 0x0b800000;
    case 29: return 0x7f000000;
    case 30: return 0x3f000000;
    default: return 0xbf000000;
    }
}
HD u32 special_int(u32 k) {
    switch (k & 15) {
    case 0: return 0;
    case 1: return 1;
    case 2: return 0xffffffff;
    case 3: return 0x80000000;
    case 4: return 0x7fffffff;
    case 5: return 31;
    case 6: return 32;
    case 7: return 33;
    case 8: return 63;
    case 9: return 64;
    case 10: return 65;
    case 11: return 255;
    case 12: return 256;
    case 13: return 0x80000001;
    case 14: return 0x00ff00ff;
    default: return 2;
    }
}
struct G32 {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        a = (u32)i;
        b = c = 0;
    }
};
struct G16 {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        a = (u16)i;
        b = c = 0;
    }
};
struct G1616 {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        a = (u16)(i >> 16);
        b = (u16)i;
        c = (u16)mix(i);
    }
};
struct GF {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        u64 h = mix(i), h2 = mix(i + 0x1234567);
        u32 x = (u32)h, y = (u32)(h >> 32), z = (u32)h2, k = (u32)(h2 >> 32);
        switch (i & 15) {
        case 0:
        case 1:
        case 2: break;
        case 3:
        case 4:
        case 5:
            x = (x & 0x807fffff) | (120 + (k & 15)) << 23;
            y = (y & 0x807fffff) | (120 + (k >> 4 & 15)) << 23;
            z = (z & 0x807fffff) | (120 + (k >> 8 & 15)) << 23;
            break;
        case 6:
            x = special_f32(k);
            y = special_f32(k >> 5);
            z = special_f32(k >> 10);
            break;
        case 7: x = special_f32(k); break;
        case 8: y = special_f32(k); break;
        case 9: z = special_f32(k); break;
        case 10:
        case 11: {
            x = (x & 0x807fffff) | (127 + (k & 7)) << 23;
            y = (y & 0x807fffff) | 127u << 23;
            z = u_of(-(f_of(x) * f_of(y))) ^ (k >> 8 & 3);
            break;
        }
        case 12:
            x = (x & 0x807fffff) | (20 + (k & 31)) << 23;
            y = (y & 0x807fffff) | (60 + (k >> 5 & 31)) << 23;
            z &= 0x81ffffff;
            break;
        case 13:
            x &= 0x80ffffff;
            y &= 0x81ffffff;
            z &= 0x80ffffff;
            break;
        case 14: y = (x & 0xff000000) ^ (y & 0x80ffffff); break;
        default:
            x = (x & 0x807fffff) | (190 + (k & 63)) << 23;
            y = (y & 0x807fffff) | (180 + (k >> 6 & 63)) << 23;
            break;
        }
        a = x;
        b = y;
        c = z;
    }
};
struct GI {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        u64 h = mix(i), h2 = mix(i + 0x7654321);
        u32 x = (u32)h, y = (u32)(h >> 32), z = (u32)h2, k = (u32)(h2 >> 32);
        if (k & 1) x = special_int(k >> 1);
        if (k & 0x20)
            y = special_int(k >> 6);
        else if (k & 0x400)
            y = y % 70;
        if (k & 0x800)
            z = special_int(k >> 12);
        else if (k & 0x10000)
            z = z % 70;
        a = x;
        b = y;
        c = z;
    }
};
struct GL {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {  // 64-bit a and b, 32-bit c
        u64 h = mix(i), h2 = mix(i + 0x7654321), k = mix(i + 99);
        a = k & 1   ? (u64)(s64)(s32)special_int((u32)(k >> 1))
            : k & 2 ? h >> 32
            : k & 4 ? 1ull << 63
                    : h;
        b = k & 16 ? (u64)(s64)(s32)special_int((u32)(k >> 5)) : k & 512 ? h2 % 300 : h2;
        c = k & 1024   ? special_int((u32)(k >> 12))
            : k & 2048 ? (u32)(k >> 20) % 300
                       : (u32)(k >> 32);
    }
};

// ---- forms of instructions ----
#define OP(name, gens, kd, HWCODE, REFEXPR)                             \
    struct name : gens {                                                \
        static const int kind = kd;                                     \
        static __device__ __forceinline__ u64 hw(u64 a, u64 b, u64 c) { \
            (void)a;                                                    \
            (void)b;                                                    \
            (void)c;                                                    \
            HWCODE                                                      \
        }                                                               \
        static HD u64 ref(u64 a, u64 b, u64 c) {                        \
            (void)a;                                                    \
            (void)b;                                                    \
            (void)c;                                                    \
            return (u64)(REFEXPR);                                      \
        }                                                               \
    };
#define A_f f_of((u32)a)
#define A_r (u32) a
#define A_l a
#define A_h (u16) a
#define A_d d_of(a)
#define B_f f_of((u32)b)
#define B_r (u32) b
#define B_l b
#define B_h (u16) b
#define B_d d_of(b)
#define C_f f_of((u32)c)
#define C_r (u32) c
#define C_l c
#define C_h (u16) c
#define C_d d_of(c)
#define T_f float
#define T_r u32
#define T_l u64
#define T_h u16
#define T_d double
#define U_f(y) u_of(y)
#define U_r(y) (y)
#define U_l(y) (y)
#define U_h(y) (y)
#define U_d(y) ud_of(y)
#define X1(ins, o, i)                            \
    T_##o y;                                     \
    asm(ins " %0, %1;" : "=" #o(y) : #i(A_##i)); \
    return U_##o(y);
#define X2(ins, o, i, j)                                        \
    T_##o y;                                                    \
    asm(ins " %0, %1, %2;" : "=" #o(y) : #i(A_##i), #j(B_##j)); \
    return U_##o(y);
#define X3(ins, o, i, j, k)                                                    \
    T_##o y;                                                                   \
    asm(ins " %0, %1, %2, %3;" : "=" #o(y) : #i(A_##i), #j(B_##j), #k(C_##k)); \
    return U_##o(y);

// ---- references ----
HD u32 fl(u32 x) { return x & 0x7f800000 ? x : x & 0x80000000; }
HD u32 flh(u32 x) { return x & 0x7c00 ? x : x & 0x8000; }
HD double f32(u64 x) { return (double)f_of((u32)x); }
HD double f32z(u64 x) { return (double)f_of(fl((u32)x)); }
HD double h16(u64 x) { return value(F16, (u32)x & 0xffff); }
HD double b16(u64 x) { return value(BF16, (u32)x & 0xffff); }
HD double zero_sum(double a, double b, double s, Rn m) {
    return s == 0 && m == RM && a == -b && !(a == 0 && (ud_of(a) >> 63) == (ud_of(b) >> 63))
               ? d_of(1ull << 63)
               : s;
}
HD u32 r_add(double a, double b, Rn m = RN) {
    return round_to(F32, zero_sum(a, b, add_odd(a, b), m), m, false);
}
HD u32 r_fma(double a, double b, double c, Rn m = RN) {
    double p = a * b;
    return round_to(F32, zero_sum(p, c, add_odd(p, c), m), m, false);
}
HD u32 sat01(u32 x) {
    float f = f_of(x);
    return f > 0 ? f < 1 ? x : 0x3f800000 : 0;
}
HD u32 relu16(u32 x, u32 inf) { return (x & 0x8000) && (x & 0x7fff) <= inf ? 0 : x; }
HD bool isnan32(u32 x) { return (x & 0x7fffffff) > 0x7f800000; }
HD u32 ext32(u32 x, u32 y, bool gt, bool keep, bool ftz = false, bool xs = false) {
    if (ftz) {
        x = fl(x);
        y = fl(y);
    }
    u32 s = (x ^ y) & 0x80000000;
    if (xs) {
        x &= 0x7fffffff;
        y &= 0x7fffffff;
    }
    u32 r;
    if (isnan32(x) || isnan32(y)) {
        if (keep || (isnan32(x) && isnan32(y))) return 0x7fffffff;
        r = isnan32(x) ? y : x;
    } else {
        s32 kx = x >> 31 ? -(s32)(x & 0x7fffffff) - 1 : (s32)x,
            ky = y >> 31 ? -(s32)(y & 0x7fffffff) - 1 : (s32)y;
        r = (kx < ky) != gt ? x : y;
    }
    return xs ? r | s : r;
}
HD u32 ext16(u32 x, u32 y, bool gt, bool keep, u32 inf, bool xs = false) {
    u32 s = (x ^ y) & 0x8000;
    if (xs) {
        x &= 0x7fff;
        y &= 0x7fff;
    }
    bool nx = (x & 0x7fff) > inf, ny = (y & 0x7fff) > inf;
    u32 r;
    if (nx || ny) {
        if (keep || (nx && ny)) return 0x7fff;
        return nx ? y : x;
    }
    s32 kx = x & 0x8000 ? -(s32)(x & 0x7fff) - 1 : (s32)x,
        ky = y & 0x8000 ? -(s32)(y & 0x7fff) - 1 : (s32)y;
    r = (kx < ky) != gt ? x : y;
    return xs ? r | s : r;
}
HD u64 ext64(u64 x, u64 y, bool gt) {
    if (nan_bits(KF64, x)) return y;
    if (nan_bits(KF64, y)) return x;
    s64 kx = x >> 63 ? -(s64)(x & ~(1ull << 63)) - 1 : (s64)x,
        ky = y >> 63 ? -(s64)(y & ~(1ull << 63)) - 1 : (s64)y;
    return (kx < ky) != gt ? x : y;
}
HD u64 whole(double m, bool neg, Rn r) {
    u64 w = (u64)m;
    double rest = m - (double)w;
    if (r == RN) return w + (rest > 0.5 || (rest == 0.5 && (w & 1)));
    if (r == RM) return w + (neg && rest > 0);
    if (r == RP) return w + (!neg && rest > 0);
    return w;
}
HD u64 to_int(double x, int bits, bool sign, Rn r, bool from64 = false) {
    u64 mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (x != x) return from64 || bits == 64 ? 1ull << (bits - 1) : 0;
    bool neg = x < 0;
    double m = neg ? -x : x;
    u64 w = m >= 0x1p64 ? ~0ull : m >= 0x1p53 ? (u64)m : whole(m, neg, r);
    if (neg && !w) neg = false;
    if (sign) {
        u64 most = (1ull << (bits - 1)) - 1;
        return (neg ? w > most + 1 ? ~most : 0 - w : w > most ? most : w) & mask;
    }
    return neg ? 0 : w > mask ? mask : w;
}
HD double integral(double x, Rn r) {
    if (x != x || x - x != 0 || x >= 0x1p53 || x <= -0x1p53) return x;
    u64 s = ud_of(x) >> 63;
    double w = (double)whole(s ? -x : x, s, r);
    return d_of(ud_of(w) | s << 63);
}
HD u32 int_f(Fm f, bool sign, u64 x, int bits, Rn r) {
    bool neg = sign && x >> (bits - 1) & 1;
    u64 m = bits == 64 ? x : x & ((1ull << bits) - 1);
    if (neg) {
        m = 0 - (bits == 64 ? x : (u64)((s64)(x << (64 - bits)) >> (64 - bits)));
    }
    return pack(f, neg, m, 0, false, r, false);
}

// ---- conversions ----
OP(CF16, G32, KF16, X1("cvt.rn.f16.f32", h, f), round_to(F16, f32(a), RN, false))
OP(CF16Z, G32, KF16, X1("cvt.rz.f16.f32", h, f), round_to(F16, f32(a), RZ, false))
OP(CF16X, G32, KI, u32 y; asm("cvt.rn.f16x2.f32 %0, %1, %2;"
                              : "=r"(y)
                              : "f"(A_f), "f"(1.0f));
   return y;, (u64)round_to(F16, f32(a), RN, false) << 16 | 0x3c00)
OP(CF16R, G32, KF16, X1("cvt.rn.relu.f16.f32", h, f),
   relu16(round_to(F16, f32(a), RN, false), 0x7c00))
OP(CBF, G32, KBF16, X1("cvt.rn.bf16.f32", h, f), round_to(BF16, f32(a), RN, false))
OP(CBFZ, G32, KBF16, X1("cvt.rz.bf16.f32", h, f), round_to(BF16, f32(a), RZ, false))
OP(CBFR, G32, KBF16, X1("cvt.rn.relu.bf16.f32", h, f),
   relu16(round_to(BF16, f32(a), RN, false), 0x7f80))
OP(CTF, G32, KF32, X1("cvt.rna.tf32.f32", r, f), (u64)round_to(TF32, f32(a), RNA, false) << 13)
#define FP8(name, k, ins, f, rel)                       \
    OP(name, G32, k, u16 y; asm(ins " %0, %1, %2;"      \
                                : "=h"(y)               \
                                : "f"(1.0f), "f"(A_f)); \
       return y & 255;                                  \
       , round_to(f, rel && !(f32(a) > 0) && f32(a) == f32(a) ? 0.0 : f32(a), RN, true))
FP8(CE4, KE4, "cvt.rn.satfinite.e4m3x2.f32", E4M3, false)
FP8(CE5, KE5, "cvt.rn.satfinite.e5m2x2.f32", E5M2, false)
FP8(CE4R, KE4, "cvt.rn.satfinite.relu.e4m3x2.f32", E4M3, true)
OP(CE4H, G16, KE4, u16 y; asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;"
                              : "=h"(y)
                              : "r"((u32)a | 0x3c000000));
   return y & 255;, round_to(E4M3, h16(a), RN, true))
OP(CE5H, G16, KE5, u16 y; asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;"
                              : "=h"(y)
                              : "r"((u32)a | 0x3c000000));
   return y & 255;, round_to(E5M2, h16(a), RN, true))
OP(CHE4, G16, KF16, u32 y; asm("cvt.rn.f16x2.e4m3x2 %0, %1;"
                               : "=r"(y)
                               : "h"((u16)a));
   return y & 0xffff;, round_to(F16, value(E4M3, (u32)a & 255), RN, false))
OP(CHE5, G16, KF16, u32 y; asm("cvt.rn.f16x2.e5m2x2 %0, %1;"
                               : "=r"(y)
                               : "h"((u16)a));
   return y >> 16;, round_to(F16, value(E5M2, (u32)a >> 8), RN, false))
OP(CHF, G16, KF32, X1("cvt.f32.f16", f, h), round_to(F32, h16(a), RN, false))
OP(CBHF, G16, KF32, X1("cvt.f32.bf16", f, h), round_to(F32, b16(a), RN, false))
#define TOI(name, ins, o, bits, sign, r) \
    OP(name, G32, KI, X1(ins, o, f), to_int(f32(a), bits, sign, r))
TOI(IS32Z, "cvt.rzi.s32.f32", r, 32, true, RZ)
TOI(IS32N, "cvt.rni.s32.f32", r, 32, true, RN)
TOI(IS32M, "cvt.rmi.s32.f32", r, 32, true, RM)
TOI(IS32P, "cvt.rpi.s32.f32", r, 32, true, RP)
TOI(IU32Z, "cvt.rzi.u32.f32", r, 32, false, RZ)
TOI(IU32N, "cvt.rni.u32.f32", r, 32, false, RN)
TOI(IS64Z, "cvt.rzi.s64.f32", l, 64, true, RZ)
TOI(IU64Z, "cvt.rzi.u64.f32", l, 64, false, RZ)
TOI(IS16Z, "cvt.rzi.s16.f32", h, 16, true, RZ)
TOI(IU16Z, "cvt.rzi.u16.f32", h, 16, false, RZ)
OP(IS8Z, G32, KI, u32 y; asm("cvt.rzi.s8.f32 %0, %1;"
                             : "=r"(y)
                             : "f"(A_f));
   return y & 255;, to_int(f32(a), 8, true, RZ))
OP(IU8Z, G32, KI, u32 y; asm("cvt.rzi.u8.f32 %0, %1;"
                             : "=r"(y)
                             : "f"(A_f));
   return y & 255;, to_int(f32(a), 8, false, RZ))
OP(IS32ZF, G32, KI, X1("cvt.rmi.ftz.s32.f32", r, f), to_int(f32z(a), 32, true, RM))
OP(IH32, G16, KI, X1("cvt.rzi.s32.f16", r, h), to_int(h16(a), 32, true, RZ))
OP(IH16, G16, KI, X1("cvt.rzi.s16.f16", h, h), to_int(h16(a), 16, true, RZ))
OP(IH64, G16, KI, X1("cvt.rzi.s64.f16", l, h), to_int(h16(a), 64, true, RZ))
OP(RNI, G32, KF32, X1("cvt.rni.f32.f32", f, f), round_to(F32, integral(f32(a), RN), RN, false))
OP(RMI, G32, KF32, X1("cvt.rmi.f32.f32", f, f), round_to(F32, integral(f32(a), RM), RN, false))
OP(RPI, G32, KF32, X1("cvt.rpi.f32.f32", f, f), round_to(F32, integral(f32(a), RP), RN, false))
OP(RZI, G32, KF32, X1("cvt.rzi.f32.f32", f, f), round_to(F32, integral(f32(a), RZ), RN, false))
OP(RNIH, G16, KF16, X1("cvt.rni.f16.f16", h, h), round_to(F16, integral(h16(a), RN), RN, false))
OP(RMIH, G16, KF16, X1("cvt.rmi.f16.f16", h, h), round_to(F16, integral(h16(a), RM), RN, false))
OP(SATF, G32, KF32, X1("cvt.sat.f32.f32", f, f), sat01(round_to(F32, f32(a), RN, false)))
OP(FS32, G32, KF32, X1("cvt.rn.f32.s32", f, r), int_f(F32, true, a, 32, RN))
OP(FU32, G32, KF32, X1("cvt.rn.f32.u32", f, r), int_f(F32, false, a, 32, RN))
OP(FS32Z, G32, KF32, X1("cvt.rz.f32.s32", f, r), int_f(F32, true, a, 32, RZ))
OP(HS32, G32, KF16, X1("cvt.rn.f16.s32", h, r), int_f(F16, true, a, 32, RN))
OP(HU32, G32, KF16, X1("cvt.rn.f16.u32", h, r), int_f(F16, false, a, 32, RN))
OP(HS16, G16, KF16, X1("cvt.rn.f16.s16", h, h), int_f(F16, true, a, 16, RN))
OP(FS64, GL, KF32, X1("cvt.rn.f32.s64", f, l), int_f(F32, true, a, 64, RN))
OP(FU64, GL, KF32, X1("cvt.rn.f32.u64", f, l), int_f(F32, false, a, 64, RN))
OP(SQRN, G32, KF32, X1("sqrt.rn.f32", f, f), round_to(F32, sqrt(f32(a)), RN, false))
OP(RCRN, G32, KF32, X1("rcp.rn.f32", f, f), round_to(F32, 1.0 / f32(a), RN, false))
OP(ABSF, G32, KF32, X1("abs.f32", f, f), (u32)a & 0x7fffffff)
OP(ABSFZ, G32, KF32, X1("abs.ftz.f32", f, f), fl((u32)a) & 0x7fffffff)
OP(NEGF, G32, KF32, X1("neg.f32", f, f), (u32)a ^ 0x80000000)
OP(NEGFZ, G32, KF32, X1("neg.ftz.f32", f, f), fl((u32)a) ^ 0x80000000)
#define TESTP(name, w, e)                                                                         \
    OP(name, G32, KI, u32 y; asm("{ .reg .pred p; testp." w ".f32 p, %1; selp.u32 %0, 1, 0, p; }" \
                                 : "=r"(y)                                                        \
                                 : "f"(A_f));                                                     \
       return y;, e)
TESTP(TPN, "normal", ((u32)a & 0x7fffffff) < 0x7f800000 && ((u32)a & 0x7f800000))
TESTP(TPS, "subnormal", ((u32)a & 0x7fffffff) < 0x800000 && ((u32)a & 0x7fffffff))
TESTP(TPF, "finite", ((u32)a & 0x7fffffff) < 0x7f800000)
TESTP(TPB, "number", ((u32)a & 0x7fffffff) <= 0x7f800000)
TESTP(TPI, "infinite", ((u32)a & 0x7fffffff) == 0x7f800000)
TESTP(TPX, "notanumber", ((u32)a & 0x7fffffff) > 0x7f800000)
void part_exact_cvt() {
    const u64 ALL = 1ull << 32, H = 1 << 16;
    run<CF16>("cvt.rn.f16.f32", ALL);
    run<CF16X>("cvt.rn.f16x2.f32", ALL);
    run<CBF>("cvt.rn.bf16.f32", ALL);
    run<CTF>("cvt.rna.tf32.f32", ALL);
    run<CE4>("cvt.rn.satfinite.e4m3x2.f32", ALL);
    run<CE5>("cvt.rn.satfinite.e5m2x2.f32", ALL);
    run<CHE4>("cvt.rn.f16x2.e4m3x2", H);
    run<CHE5>("cvt.rn.f16x2.e5m2x2", H);
    run<CE4H>("cvt.rn.satfinite.e4m3x2.f16x2", H);
    run<CE5H>("cvt.rn.satfinite.e5m2x2.f16x2", H);
    run<CHF>("cvt.f32.f16", H);
    run<CBHF>("cvt.f32.bf16", H);
    run<IS32Z>("cvt.rzi.s32.f32", ALL);
    run<IU32Z>("cvt.rzi.u32.f32", ALL);
    run<IS64Z>("cvt.rzi.s64.f32", ALL);
    run<IU64Z>("cvt.rzi.u64.f32", ALL);
    run<IS16Z>("cvt.rzi.s16.f32", ALL);
    run<IU16Z>("cvt.rzi.u16.f32", ALL);
    run<IS8Z>("cvt.rzi.s8.f32", ALL);
    run<IU8Z>("cvt.rzi.u8.f32", ALL);
    run<IH32>("cvt.rzi.s32.f16", H);
    run<IH16>("cvt.rzi.s16.f16", H);
    run<IH64>("cvt.rzi.s64.f16", H);
    run<RNI>("cvt.rni.f32.f32", ALL);
    run<RMI>("cvt.rmi.f32.f32", ALL);
    run<RPI>("cvt.rpi.f32.f32", ALL);
    run<RZI>("cvt.rzi.f32.f32", ALL);
    run<RNIH>("cvt.rni.f16.f16", H);
    run<RMIH>("cvt.rmi.f16.f16", H);
    run<FS32>("cvt.rn.f32.s32", ALL);
    run<FU32>("cvt.rn.f32.u32", ALL);
    run<HS32>("cvt.rn.f16.s32", ALL);
    run<HU32>("cvt.rn.f16.u32", ALL);
    run<HS16>("cvt.rn.f16.s16", H);
    run<FS64>("cvt.rn.f32.s64", 1 << 26);
    run<FU64>("cvt.rn.f32.u64", 1 << 26);
    run<SQRN>("sqrt.rn.f32", ALL);
    run<RCRN>("rcp.rn.f32", ALL);
    run<ABSF>("abs.f32", ALL);
    run<NEGF>("neg.f32", ALL);
    run<TPN>("testp.normal.f32", ALL);
    run<TPS>("testp.subnormal.f32", ALL);
    run<TPF>("testp.finite.f32", ALL);
    run<TPB>("testp.number.f32", ALL);
    run<TPI>("testp.infinite.f32", ALL);
    run<TPX>("testp.notanumber.f32", ALL);
    run<ABSFZ>("abs.ftz.f32", ALL / 9, 9);
    run<NEGFZ>("neg.ftz.f32", ALL / 9, 9);
    run<CF16Z>("cvt.rz.f16.f32", ALL / 9, 9);
    run<CF16R>("cvt.rn.relu.f16.f32", ALL / 9, 9);
    run<CBFZ>("cvt.rz.bf16.f32", ALL / 9, 9);
    run<CBFR>("cvt.rn.relu.bf16.f32", ALL / 9, 9);
    run<CE4R>("cvt.rn.satfinite.relu.e4m3x2.f32", ALL / 9, 9);
    run<IS32N>("cvt.rni.s32.f32", ALL / 9, 9);
    run<IS32M>("cvt.rmi.s32.f32", ALL / 9, 9);
    run<IS32P>("cvt.rpi.s32.f32", ALL / 9, 9);
    run<IU32N>("cvt.rni.u32.f32", ALL / 9, 9);
    run<IS32ZF>("cvt.rmi.ftz.s32.f32", ALL / 9, 9);
    run<SATF>("cvt.sat.f32.f32", ALL / 9, 9);
    run<FS32Z>("cvt.rz.f32.s32", ALL / 9, 9);
}

// ---- f32, two and three operands ----
OP(ADD, GF, KF32, X2("add.rn.f32", f, f, f), r_add(f32(a), f32(b)))
OP(SUB, GF, KF32, X2("sub.rn.f32", f, f, f), r_add(f32(a), -f32(b)))
OP(MUL, GF, KF32, X2("mul.rn.f32", f, f, f), round_to(F32, f32(a) * f32(b), RN, false))
OP(FMA, GF, KF32, X3("fma.rn.f32", f, f, f, f), r_fma(f32(a), f32(b), f32(c)))
OP(DIV, GF, KF32, X2("div.rn.f32", f, f, f), round_to(F32, f32(a) / f32(b), RN, false))
OP(ADDZ, GF, KF32, X2("add.rz.f32", f, f, f), r_add(f32(a), f32(b), RZ))
OP(ADDM, GF, KF32, X2("add.rm.f32", f, f, f), r_add(f32(a), f32(b), RM))
OP(FMAP, GF, KF32, X3("fma.rp.f32", f, f, f, f), r_fma(f32(a), f32(b), f32(c), RP))
OP(FMAZ, GF, KF32, X3("fma.rz.f32", f, f, f, f), r_fma(f32(a), f32(b), f32(c), RZ))
OP(MULM, GF, KF32, X2("mul.rm.f32", f, f, f), round_to(F32, f32(a) * f32(b), RM, false))
OP(DIVZ, GF, KF32, X2("div.rz.f32", f, f, f),
   (f32(a) / f32(b)) - (f32(a) / f32(b)) != 0 || f32(a) / f32(b) == 0
       ? round_to(F32, f32(a) / f32(b), RZ, false)
       : round_to(F32,
                  make_odd(f32(a) / f32(b), f32(b) > 0 ? fma(-(f32(a) / f32(b)), f32(b), f32(a))
                                                       : -fma(-(f32(a) / f32(b)), f32(b), f32(a))),
                  RZ, false))
OP(ADDF, GF, KF32, X2("add.rn.ftz.f32", f, f, f), fl(r_add(f32z(a), f32z(b))))
OP(MULF, GF, KF32, X2("mul.rn.ftz.f32", f, f, f), fl(round_to(F32, f32z(a) * f32z(b), RN, false)))
OP(FMAF, GF, KF32, X3("fma.rn.ftz.f32", f, f, f, f), fl(r_fma(f32z(a), f32z(b), f32z(c))))
OP(DIVFZ, GF, KF32, X2("div.rn.ftz.f32", f, f, f), fl(round_to(F32, f32z(a) / f32z(b), RN, false)))
OP(ADDS, GF, KF32, X2("add.rn.sat.f32", f, f, f), sat01(r_add(f32(a), f32(b))))
OP(FMAS, GF, KF32, X3("fma.rn.sat.f32", f, f, f, f), sat01(r_fma(f32(a), f32(b), f32(c))))
OP(MIN, GF, KF32, X2("min.f32", f, f, f), ext32((u32)a, (u32)b, false, false))
OP(MAX, GF, KF32, X2("max.f32", f, f, f), ext32((u32)a, (u32)b, true, false))
OP(MINN, GF, KF32, X2("min.NaN.f32", f, f, f), ext32((u32)a, (u32)b, false, true))
OP(MAXN, GF, KF32, X2("max.NaN.f32", f, f, f), ext32((u32)a, (u32)b, true, true))
OP(MINF, GF, KF32, X2("min.ftz.f32", f, f, f), ext32((u32)a, (u32)b, false, false, true))
OP(MAXX, GF, KF32, X2("max.xorsign.abs.f32", f, f, f),
   ext32((u32)a, (u32)b, true, false, false, true))
OP(MAXNX, GF, KF32, X2("max.NaN.xorsign.abs.f32", f, f, f),
   ext32((u32)a, (u32)b, true, true, false, true))
OP(CPS, GF, KF32, X2("copysign.f32", f, f, f), ((u32)a & 0x80000000) | ((u32)b & 0x7fffffff))
OP(SETLT, GF, KI, u32 y; asm("set.ltu.u32.f32 %0, %1, %2;"
                             : "=r"(y)
                             : "f"(A_f), "f"(B_f));
   return y;, !(f32(a) >= f32(b)) ? 0xffffffffu : 0)
OP(SETEQ, GF, KI, u32 y; asm("set.eq.ftz.u32.f32 %0, %1, %2;"
                             : "=r"(y)
                             : "f"(A_f), "f"(B_f));
   return y;, f32z(a) == f32z(b) ? 0xffffffffu : 0)
OP(SLCT, GF, KF32, X3("slct.f32.f32", f, f, f, f), f32(c) >= 0 ? (u32)a : (u32)b)
OP(QUOT, GF, KF32, float t; float y; asm("rcp.approx.ftz.f32 %0, %1;"
                                         : "=f"(t)
                                         : "f"(B_f));
   asm("mul.rn.f32 %0, %1, %2;"
       : "=f"(y)
       : "f"(A_f), "f"(t));
   return u_of(y);
   , round_to(F32, f32(a) * (double)f_of(fl(round_to(F32, 1.0 / f32z(b), RN, false))), RN, false))
void part_exact_f32() {
    const u64 N = 1ull << 30, S = 1ull << 28;
    run<FMA>("fma.rn.f32", N);
    run<ADD>("add.rn.f32", N);
    run<SUB>("sub.rn.f32", S);
    run<MUL>("mul.rn.f32", N);
    run<DIV>("div.rn.f32", N);
    run<MIN>("min.f32", S);
    run<MAX>("max.f32", S);
    run<MINN>("min.NaN.f32", S);
    run<MAXN>("max.NaN.f32", S);
    run<CPS>("copysign.f32", S);
    run<MINF>("min.ftz.f32", S);
    run<MAXX>("max.xorsign.abs.f32", S);
    run<MAXNX>("max.NaN.xorsign.abs.f32", S);
    run<ADDZ>("add.rz.f32", S);
    run<ADDM>("add.rm.f32", S);
    run<FMAP>("fma.rp.f32", S);
    run<FMAZ>("fma.rz.f32", S);
    run<MULM>("mul.rm.f32", S);
    run<DIVZ>("div.rz.f32", S);
    run<ADDF>("add.rn.ftz.f32", S);
    run<MULF>("mul.rn.ftz.f32", S);
    run<FMAF>("fma.rn.ftz.f32", S);
    run<DIVFZ>("div.rn.ftz.f32", S);
    run<ADDS>("add.rn.sat.f32", S);
    run<FMAS>("fma.rn.sat.f32", S);
    run<SETLT>("set.ltu.u32.f32", S);
    run<SETEQ>("set.eq.ftz.u32.f32", S);
    run<SLCT>("slct.f32.f32", S);
    run<QUOT>("a*rcp.approx.ftz(b) as sim", S);
}

// ---- f16 and bf16 ----
#define H_OPS(S, KD, FM, T, V, INF)                                                               \
    OP(ADD##S, G1616, KD, X2("add.rn" T, h, h, h), round_to(FM, add_odd(V(a), V(b)), RN, false))  \
    OP(SUB##S, G1616, KD, X2("sub.rn" T, h, h, h), round_to(FM, add_odd(V(a), -V(b)), RN, false)) \
    OP(MUL##S, G1616, KD, X2("mul.rn" T, h, h, h), round_to(FM, V(a) * V(b), RN, false))          \
    OP(FMA##S, G1616, KD, X3("fma.rn" T, h, h, h, h),                                             \
       round_to(FM, add_odd(V(a) * V(b), V(c)), RN, false))                                       \
    OP(FMAR##S, G1616, KD, X3("fma.rn.relu" T, h, h, h, h),                                       \
       relu16(round_to(FM, add_odd(V(a) * V(b), V(c)), RN, false), INF))                          \
    OP(MIN##S, G1616, KD, X2("min" T, h, h, h), ext16((u32)a, (u32)b, false, false, INF))         \
    OP(MAX##S, G1616, KD, X2("max" T, h, h, h), ext16((u32)a, (u32)b, true, false, INF))          \
    OP(MINN##S, G1616, KD, X2("min.NaN" T, h, h, h), ext16((u32)a, (u32)b, false, true, INF))     \
    OP(MAXN##S, G1616, KD, X2("max.NaN" T, h, h, h), ext16((u32)a, (u32)b, true, true, INF))      \
    OP(MAXX##S, G1616, KD, X2("max.xorsign.abs" T, h, h, h),                                      \
       ext16((u32)a, (u32)b, true, false, INF, true))                                             \
    OP(ABS##S, G16, KD, X1("abs" T, h, h), (u32)a & 0x7fff)                                       \
    OP(NEG##S, G16, KD, X1("neg" T, h, h), (u32)a ^ 0x8000)
H_OPS(h, KF16, F16, ".f16", h16, 0x7c00)
H_OPS(b, KBF16, BF16, ".bf16", b16, 0x7f80)
OP(ADDhz, G1616, KF16, X2("add.rn.ftz.f16", h, h, h),
   flh(round_to(F16, add_odd(h16(flh((u32)a)), h16(flh((u32)b))), RN, false)))
OP(FMAhz, G1616, KF16, X3("fma.rn.ftz.f16", h, h, h, h),
   flh(round_to(F16, add_odd(h16(flh((u32)a)) * h16(flh((u32)b)), h16(flh((u32)c))), RN, false)))
OP(ADDhs, G1616, KF16, X2("add.rn.sat.f16", h, h, h),
   (h16(a) + h16(b)) > 0
       ? round_to(F16, h16(a) + h16(b) < 1 ? add_odd(h16(a), h16(b)) : 1.0, RN, false)
       : 0)
struct GX2 {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        a = (u32)mix(i);
        b = (u32)(mix(i) >> 32);
        c = (u32)mix(i + 5);
    }
};
OP(FMAX2, GX2, KI, X3("fma.rn.f16x2", r, r, r, r),
   (u64)round_to(F16, add_odd(h16(a) * h16(b), h16(c)), RN, false) |
       (u64)round_to(F16, add_odd(h16(a >> 16) * h16(b >> 16), h16(c >> 16)), RN, false) << 16)
OP(FMABX2, GX2, KI, X3("fma.rn.bf16x2", r, r, r, r),
   (u64)round_to(BF16, add_odd(b16(a) * b16(b), b16(c)), RN, false) |
       (u64)round_to(BF16, add_odd(b16(a >> 16) * b16(b >> 16), b16(c >> 16)), RN, false) << 16)
OP(SETh, G1616, KI, u16 y; asm("{ .reg .pred p; setp.lt.f16 p, %1, %2; selp.u16 %0, 1, 0, p; }"
                               : "=h"(y)
                               : "h"(A_h), "h"(B_h));
   return y;, h16(a) < h16(b))
OP(SEThe, G1616, KI, u16 y; asm("{ .reg .pred p; setp.neu.f16 p, %1, %2; selp.u16 %0, 1, 0, p; }"
                                : "=h"(y)
                                : "h"(A_h), "h"(B_h));
   return y;, h16(a) != h16(b))
void part_exact_half() {
    const u64 ALL = 1ull << 32;
#define RUN_H(S, T)                 \
    run<ADD##S>("add.rn" T, ALL);   \
    run<SUB##S>("sub.rn" T, ALL);   \
    run<MUL##S>("mul.rn" T, ALL);   \
    run<FMA##S>("fma.rn" T, ALL);   \
    run<MIN##S>("min" T, ALL);      \
    run<MAX##S>("max" T, ALL);      \
    run<MINN##S>("min.NaN" T, ALL); \
    run<MAXN##S>("max.NaN" T, ALL); \
    run<ABS##S>("abs" T, 1 << 16);  \
    run<NEG##S>("neg" T, 1 << 16)
    RUN_H(h, ".f16");
    RUN_H(b, ".bf16");
    run<FMARh>("fma.rn.relu.f16", ALL);
    run<FMARb>("fma.rn.relu.bf16", ALL);
    run<MAXXh>("max.xorsign.abs.f16", ALL);
    run<MAXXb>("max.xorsign.abs.bf16", ALL);
    run<SETh>("setp.lt.f16", ALL);
    run<SEThe>("setp.neu.f16", ALL);
    run<ADDhz>("add.rn.ftz.f16", ALL);
    run<FMAhz>("fma.rn.ftz.f16", ALL);
    run<ADDhs>("add.rn.sat.f16", ALL);
    run<FMAX2>("fma.rn.f16x2", 1 << 28);
    run<FMABX2>("fma.rn.bf16x2", 1 << 28);
}

// ---- integers ----
HD int clz32(u32 x) { return x ? clz64((u64)x) - 32 : 32; }
HD u64 field(u64 x, u32 at, u32 length, u32 bits, bool sign) {
    at &= 255;
    length &= 255;
    u32 last = at + length ? at + length - 1 : 0;
    if (last > bits - 1) last = bits - 1;
    u64 s = sign && length ? x >> last & 1 : 0, r = 0;
    for (u32 k = 0; k < bits; k++) {
        u64 bit = k < length && at + k < bits ? x >> (at + k) & 1 : s;
        r |= bit << k;
    }
    return r;
}
HD u64 insert(u64 x, u64 into, u32 at, u32 length, u32 bits) {
    at &= 255;
    length &= 255;
    for (u32 k = 0; k < length && at + k < bits; k++)
        into = (into & ~(1ull << (at + k))) | (x >> k & 1) << (at + k);
    return into;
}
HD u64 hi64(u64 x, u64 y) {
    u64 a = x >> 32, b = (u32)x, c = y >> 32, d = (u32)y, m = a * d + (b * d >> 32),
        q = b * c + (u32)m;
    return a * c + (m >> 32) + (q >> 32);
}
HD u64 his64(s64 x, s64 y) {
    return hi64((u64)x, (u64)y) - (x < 0 ? (u64)y : 0) - (y < 0 ? (u64)x : 0);
}
HD u32 dp4(u32 a, u32 b, u32 c, bool sa, bool sb) {
    for (int k = 0; k < 4; k++) {
        u32 x = a >> 8 * k & 255, y = b >> 8 * k & 255;
        c += (u32)((sa ? (int)(int8_t)x : (int)x) * (sb ? (int)(int8_t)y : (int)y));
    }
    return c;
}
HD u32 dp2(u32 a, u32 b, u32 c, bool s, int at) {
    for (int k = 0; k < 2; k++) {
        u32 x = a >> 16 * k & 0xffff, y = b >> (at + 8 * k) & 255;
        c += (u32)((s ? (int)(int16_t)x : (int)x) * (s ? (int)(int8_t)y : (int)y));
    }
    return c;
}
HD u32 prmt_of(u32 x, u32 y, u32 sel, int mode) {
    u64 v = (u64)y << 32 | x;
    u32 r = 0, s = sel & 3;
    for (u32 n = 0; n < 4; n++) {
        u32 f = mode == 0   ? sel >> 4 * n & 7
                : mode == 1 ? s + n
                : mode == 2 ? (s - n) & 7
                : mode == 3 ? s
                : mode == 4 ? (n > s ? n : s)
                : mode == 5 ? (n < s ? n : s)
                            : (s & 1) * 2 + (n & 1);
        u32 byte = (u32)(v >> 8 * f) & 255;
        if (mode == 0 && (sel >> 4 * n & 8)) byte = byte & 128 ? 255 : 0;
        r |= byte << 8 * n;
    }
    return r;
}
struct GP {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        u64 h = mix(i >> 16);
        a = (u32)h;
        b = (u32)(h >> 32);
        c = i & 0xffff;
        if (i >> 20 & 1) c |= (h & 0xffff) << 16;
    }
};
OP(SHL, GI, KI, X2("shl.b32", r, r, r), (u32)b > 31 ? 0 : (u32)a << (u32)b)
OP(SHRU, GI, KI, X2("shr.u32", r, r, r), (u32)b > 31 ? 0 : (u32)a >> (u32)b)
OP(SHRS, GI, KI, X2("shr.s32", r, r, r), (u32)((s32)(u32)a >> ((u32)b > 31 ? 31 : (u32)b)))
OP(SHL16, GI, KI, u16 y; asm("shl.b16 %0, %1, %2;"
                             : "=h"(y)
                             : "h"((u16)a), "r"((u32)b));
   return y;, (u32)b > 15 ? 0 : (u16)((u16)a << (u32)b))
OP(SHRS16, GI, KI, u16 y; asm("shr.s16 %0, %1, %2;"
                              : "=h"(y)
                              : "h"((u16)a), "r"((u32)b));
   return y;, (u16)((s32)(int16_t)(u16)a >> ((u32)b > 15 ? 15 : (u32)b)))
OP(SHL64, GL, KI, u64 y; asm("shl.b64 %0, %1, %2;"
                             : "=l"(y)
                             : "l"(a), "r"((u32)c));
   return y;, (u32)c > 63 ? 0 : a << (u32)c)
OP(SHRU64, GL, KI, u64 y; asm("shr.u64 %0, %1, %2;"
                              : "=l"(y)
                              : "l"(a), "r"((u32)c));
   return y;, (u32)c > 63 ? 0 : a >> (u32)c)
OP(SHRS64, GL, KI, u64 y; asm("shr.s64 %0, %1, %2;"
                              : "=l"(y)
                              : "l"(a), "r"((u32)c));
   return y;, (u64)((s64)a >> ((u32)c > 63 ? 63 : (u32)c)))
OP(SHFLC, GI, KI, X3("shf.l.clamp.b32", r, r, r, r),
   (u32)((((u64)(u32)b << 32 | (u32)a) << ((u32)c > 32 ? 32 : (u32)c)) >> 32))
OP(SHFLW, GI, KI, X3("shf.l.wrap.b32", r, r, r, r),
   (u32)((((u64)(u32)b << 32 | (u32)a) << ((u32)c & 31)) >> 32))
OP(SHFRC, GI, KI, X3("shf.r.clamp.b32", r, r, r, r),
   (u32)(((u64)(u32)b << 32 | (u32)a) >> ((u32)c > 32 ? 32 : (u32)c)))
OP(SHFRW, GI, KI, X3("shf.r.wrap.b32", r, r, r, r),
   (u32)(((u64)(u32)b << 32 | (u32)a) >> ((u32)c & 31)))
OP(BFEU, GI, KI, X3("bfe.u32", r, r, r, r), field((u32)a, (u32)b, (u32)c, 32, false))
OP(BFES, GI, KI, X3("bfe.s32", r, r, r, r), field((u32)a, (u32)b, (u32)c, 32, true))
OP(BFEU6, GL, KI, u64 y; asm("bfe.u64 %0, %1, %2, %3;"
                             : "=l"(y)
                             : "l"(a), "r"((u32)b), "r"((u32)c));
   return y;, field(a, (u32)b, (u32)c, 64, false))
OP(BFES6, GL, KI, u64 y; asm("bfe.s64 %0, %1, %2, %3;"
                             : "=l"(y)
                             : "l"(a), "r"((u32)b), "r"((u32)c));
   return y;, field(a, (u32)b, (u32)c, 64, true))
OP(BFI, GI, KI, u32 y; u32 o = (u32)mix(a); asm("bfi.b32 %0, %1, %2, %3, %4;"
                                                : "=r"(y)
                                                : "r"((u32)a), "r"(o), "r"((u32)b), "r"((u32)c));
   return y;, insert((u32)a, (u32)mix(a), (u32)b, (u32)c, 32))
OP(BFI6, GL, KI, u64 y; u64 o = mix(a); asm("bfi.b64 %0, %1, %2, %3, %4;"
                                            : "=l"(y)
                                            : "l"(a), "l"(o), "r"((u32)b), "r"((u32)c));
   return y;, insert(a, mix(a), (u32)b, (u32)c, 64))
OP(BFU, GI, KI, X1("bfind.u32", r, r), (u32)a ? (u32)(31 - clz32((u32)a)) : 0xffffffffu)
OP(BFS, GI, KI, X1("bfind.s32", r, r),
   ((u32)a >> 31 ? ~(u32)a : (u32)a) ? (u32)(31 - clz32((u32)a >> 31 ? ~(u32)a : (u32)a))
                                     : 0xffffffffu)
OP(BFSU, GI, KI, X1("bfind.shiftamt.u32", r, r), (u32)a ? (u32)clz32((u32)a) : 0xffffffffu)
OP(BFSS, GI, KI, X1("bfind.shiftamt.s32", r, r),
   ((u32)a >> 31 ? ~(u32)a : (u32)a) ? (u32)clz32((u32)a >> 31 ? ~(u32)a : (u32)a) : 0xffffffffu)
OP(BF64, GL, KI, u32 y; asm("bfind.s64 %0, %1;"
                            : "=r"(y)
                            : "l"(a));
   return y;, (a >> 63 ? ~a : a) ? (u32)(63 - clz64(a >> 63 ? ~a : a)) : 0xffffffffu)
HD u32 ones_of(u32 x) {
    u32 n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}
OP(POPC, GI, KI, X1("popc.b32", r, r), ones_of((u32)a))
OP(CLZ, GI, KI, X1("clz.b32", r, r), clz32((u32)a))
OP(BREV, GI, KI, X1("brev.b32", r, r), [](u32 x) {
    u32 r = 0;
    for (int k = 0; k < 32; k++) r |= (x >> k & 1) << (31 - k);
    return r;
}((u32)a))
OP(BMSKC, GI, KI, X2("bmsk.clamp.b32", r, r, r),
   (u32)a > 31 ? 0 : (u32)(((u32)b > 31 ? 0xffffffffull : (1ull << (u32)b) - 1) << (u32)a))
OP(BMSKW, GI, KI, X2("bmsk.wrap.b32", r, r, r),
   (u32)(((1ull << ((u32)b & 31)) - 1) << ((u32)a & 31)))
OP(SZU, GI, KI, X2("szext.clamp.u32", r, r, r),
   (u32)b > 31 ? (u32)a : (u32)a & ((1u << (u32)b) - 1))
OP(SZS, GI, KI, X2("szext.clamp.s32", r, r, r),
   (u32)b > 31   ? (u32)a
   : (u32)b == 0 ? 0
                 : (u32)((s32)((u32)a << (32 - (u32)b)) >> (32 - (u32)b)))
OP(SZW, GI, KI, X2("szext.wrap.s32", r, r, r),
   ((u32)b & 31) == 0 ? 0 : (u32)((s32)((u32)a << (32 - ((u32)b & 31))) >> (32 - ((u32)b & 31))))
OP(SADS, GI, KI, X3("sad.s32", r, r, r, r),
   (u32)c + ((s32)(u32)a < (s32)(u32)b ? (u32)b - (u32)a : (u32)a - (u32)b))
OP(SADU, GI, KI, X3("sad.u32", r, r, r, r),
   (u32)c + ((u32)a < (u32)b ? (u32)b - (u32)a : (u32)a - (u32)b))
OP(MHS, GI, KI, X2("mul.hi.s32", r, r, r), (u32)((u64)((s64)(s32)(u32)a *(s32)(u32)b) >> 32))
OP(MHU, GI, KI, X2("mul.hi.u32", r, r, r), (u32)((u64)(u32)a *(u32)b >> 32))
OP(MHS6, GL, KI, u64 y; asm("mul.hi.s64 %0, %1, %2;"
                            : "=l"(y)
                            : "l"(a), "l"(b));
   return y;, his64((s64)a, (s64)b))
OP(MHU6, GL, KI, u64 y; asm("mul.hi.u64 %0, %1, %2;"
                            : "=l"(y)
                            : "l"(a), "l"(b));
   return y;, hi64(a, b))
OP(DIVS, GI, KI, X2("div.s32", r, r, r),
   (u32)b == 0             ? 0xffffffffu
   : (u32)b == 0xffffffffu ? 0 - (u32)a
                           : (u32)((s32)(u32)a / (s32)(u32)b))
OP(DIVU, GI, KI, X2("div.u32", r, r, r), (u32)b == 0 ? 0xffffffffu : (u32)a / (u32)b)
OP(REMS, GI, KI, X2("rem.s32", r, r, r),
   (u32)b == 0             ? (u32)a
   : (u32)b == 0xffffffffu ? 0
                           : (u32)((s32)(u32)a % (s32)(u32)b))
OP(REMU, GI, KI, X2("rem.u32", r, r, r), (u32)b == 0 ? (u32)a : (u32)a % (u32)b)
OP(DIVS6, GL, KI, u64 y; asm("div.s64 %0, %1, %2;"
                             : "=l"(y)
                             : "l"(a), "l"(b));
   return y;, b == 0       ? ~0ull
              : b == ~0ull ? 0 - a
                           : (u64)((s64)a / (s64)b))
OP(REMU6, GL, KI, u64 y; asm("rem.u64 %0, %1, %2;"
                             : "=l"(y)
                             : "l"(a), "l"(b));
   return y;, b == 0 ? a : a % b)
OP(ABSI, GI, KI, X1("abs.s32", r, r), (u32)a >> 31 ? 0 - (u32)a : (u32)a)
OP(ADDSAT, GI, KI, X2("add.sat.s32", r, r, r), [](s64 x) {
    return (u32)(x > 2147483647LL ? 2147483647LL : x < -2147483648LL ? -2147483648LL : x);
}((s64)(s32)(u32)a + (s32)(u32)b))
OP(DP4SS, GI, KI, X3("dp4a.s32.s32", r, r, r, r), dp4((u32)a, (u32)b, (u32)c, true, true))
OP(DP4SU, GI, KI, X3("dp4a.s32.u32", r, r, r, r), dp4((u32)a, (u32)b, (u32)c, true, false))
OP(DP4UU, GI, KI, X3("dp4a.u32.u32", r, r, r, r), dp4((u32)a, (u32)b, (u32)c, false, false))
OP(DP2L, GI, KI, X3("dp2a.lo.s32.s32", r, r, r, r), dp2((u32)a, (u32)b, (u32)c, true, 0))
OP(DP2H, GI, KI, X3("dp2a.hi.u32.u32", r, r, r, r), dp2((u32)a, (u32)b, (u32)c, false, 16))
OP(CVS, GI, KI, u32 y; asm("cvt.sat.s8.s32 %0, %1;"
                           : "=r"(y)
                           : "r"((u32)a));
   return y;, (u32)((s32)(u32)a > 127    ? 127
                    : (s32)(u32)a < -128 ? -128
                                         : (s32)(u32)a))
OP(CVU, GI, KI, u32 y; asm("cvt.sat.u8.s32 %0, %1;"
                           : "=r"(y)
                           : "r"((u32)a));
   return y;, (u32)((s32)(u32)a > 255 ? 255
                    : (s32)(u32)a < 0 ? 0
                                      : (s32)(u32)a))
OP(CVN, GI, KI, u32 y; asm("cvt.s8.s32 %0, %1;"
                           : "=r"(y)
                           : "r"((u32)a));
   return y;, (u32)(s32)(int8_t)(u8)a)
OP(PRMT, GP, KI, X3("prmt.b32", r, r, r, r), prmt_of((u32)a, (u32)b, (u32)c, 0))
#define PM(n, m, w) OP(n, GI, KI, X3("prmt.b32." w, r, r, r, r), prmt_of((u32)a, (u32)b, (u32)c, m))
PM(PM1, 1, "f4e")
PM(PM2, 2, "b4e")
PM(PM3, 3, "rc8") PM(PM4, 4, "ecl") PM(PM5, 5, "ecr") PM(PM6, 6, "rc16") template <int L, int N>
struct Lop {
    static __device__ __forceinline__ u32 go(u32 x, u32 y, u32 z, u32 k) {
        return k < L + N / 2 ? Lop<L, N / 2>::go(x, y, z, k)
                             : Lop<L + N / 2, N / 2>::go(x, y, z, k);
    }
};
template <int L>
struct Lop<L, 1> {
    static __device__ __forceinline__ u32 go(u32 x, u32 y, u32 z, u32) {
        u32 r;
        asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(z), "n"(L));
        return r;
    }
};
typedef Lop<0, 256> LopAll;
struct GLop {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        u64 h = mix(i >> 8), g = mix(i >> 8 ^ 0xabcdef00000ull);
        a = h;
        b = (u32)g;
        c = i & 255;
    }
};
OP(LOP, GLop, KI, return LopAll::go((u32)a, (u32)(a >> 32), (u32)b, (u32)c);
   , [](u32 x, u32 y, u32 z, u32 t) {
       u32 r = 0;
       for (int k = 0; k < 8; k++)
           if (t >> k & 1) r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
       return r;
   }((u32)a, (u32)(a >> 32), (u32)b, (u32)c))
void part_exact_int() {
    const u64 N = 1 << 24;
#define RI(T, n) run<T>(n, N)
    RI(SHL, "shl.b32");
    RI(SHRU, "shr.u32");
    RI(SHRS, "shr.s32");
    RI(SHL16, "shl.b16");
    RI(SHRS16, "shr.s16");
    RI(SHL64, "shl.b64");
    RI(SHRU64, "shr.u64");
    RI(SHRS64, "shr.s64");
    RI(SHFLC, "shf.l.clamp.b32");
    RI(SHFLW, "shf.l.wrap.b32");
    RI(SHFRC, "shf.r.clamp.b32");
    RI(SHFRW, "shf.r.wrap.b32");
    RI(BFEU, "bfe.u32");
    RI(BFES, "bfe.s32");
    RI(BFEU6, "bfe.u64");
    RI(BFES6, "bfe.s64");
    RI(BFI, "bfi.b32");
    RI(BFI6, "bfi.b64");
    RI(BFU, "bfind.u32");
    RI(BFS, "bfind.s32");
    RI(BFSU, "bfind.shiftamt.u32");
    RI(BFSS, "bfind.shiftamt.s32");
    RI(BF64, "bfind.s64");
    RI(POPC, "popc.b32");
    RI(CLZ, "clz.b32");
    RI(BREV, "brev.b32");
    RI(BMSKC, "bmsk.clamp.b32");
    RI(BMSKW, "bmsk.wrap.b32");
    RI(SZU, "szext.clamp.u32");
    RI(SZS, "szext.clamp.s32");
    RI(SZW, "szext.wrap.s32");
    RI(SADS, "sad.s32");
    RI(SADU, "sad.u32");
    RI(MHS, "mul.hi.s32");
    RI(MHU, "mul.hi.u32");
    RI(MHS6, "mul.hi.s64");
    RI(MHU6, "mul.hi.u64");
    RI(DIVS, "div.s32");
    RI(DIVU, "div.u32");
    RI(REMS, "rem.s32");
    RI(REMU, "rem.u32");
    RI(DIVS6, "div.s64");
    RI(REMU6, "rem.u64");
    RI(ABSI, "abs.s32");
    RI(ADDSAT, "add.sat.s32");
    RI(DP4SS, "dp4a.s32.s32");
    RI(DP4SU, "dp4a.s32.u32");
    RI(DP4UU, "dp4a.u32.u32");
    RI(DP2L, "dp2a.lo.s32.s32");
    RI(DP2H, "dp2a.hi.u32.u32");
    RI(CVS, "cvt.sat.s8.s32");
    RI(CVU, "cvt.sat.u8.s32");
    RI(CVN, "cvt.s8.s32");
    RI(PRMT, "prmt.b32");
    RI(PM1, "prmt.b32.f4e");
    RI(PM2, "prmt.b32.b4e");
    RI(PM3, "prmt.b32.rc8");
    RI(PM4, "prmt.b32.ecl");
    RI(PM5, "prmt.b32.ecr");
    RI(PM6, "prmt.b32.rc16");
    RI(LOP, "lop3.b32 (all tables)");
}

// ---- f64 ----
struct GD {
    static HD void gen(u64 i, u64 &a, u64 &b, u64 &c) {
        u64 h = mix(i), g = mix(i + 0x111), k = mix(i + 0x222);
        const u64 man = 0x800fffffffffffffull;
        switch (i & 7) {
        case 0: break;
        case 1:
        case 2:
            h = (h & man) | (1015 + (k & 15)) << 52;
            g = (g & man) | (1015 + (k >> 4 & 15)) << 52;
            break;
        case 3:
            h = (h & man) | (1 + (k & 63)) << 52;
            g = (g & man) | (1000 + (k >> 6 & 63)) << 52;
            break;
        case 4: h &= 0x801fffffffffffffull; break;
        case 5: {
            float f = f_of(special_f32((u32)k));
            h = ud_of((double)f);
            if (k & 256) h ^= 1;
            break;
        }
        case 6: {
            h = ud_of((double)f_of((u32)h));
            if (k & 1) h += (k >> 1 & 7) - 3;
            break;
        }
        default: h = (h & man) | (1023 + (k & 63)) << 52; break;
        }
        a = h;
        b = g;
        c = mix(i + 0x333);
    }
};
OP(D_RCP, GD, KF64, X1("rcp.rn.f64", d, d), ud_of(1.0 / d_of(a)))
OP(D_DIV, GD, KF64, X2("div.rn.f64", d, d, d), ud_of(d_of(a) / d_of(b)))
OP(D_SQ, GD, KF64, X1("sqrt.rn.f64", d, d), ud_of(sqrt(d_of(a))))
OP(D_ADD, GD, KF64, X2("add.rn.f64", d, d, d), ud_of(d_of(a) + d_of(b)))
OP(D_MUL, GD, KF64, X2("mul.rn.f64", d, d, d), ud_of(d_of(a) * d_of(b)))
OP(D_FMA, GD, KF64, X3("fma.rn.f64", d, d, d, d), ud_of(fma(d_of(a), d_of(b), d_of(c))))
OP(D_MIN, GD, KF64, X2("min.f64", d, d, d), ext64(a, b, false))
OP(D_MAX, GD, KF64, X2("max.f64", d, d, d), ext64(a, b, true))
OP(D_F32, GD, KF32, X1("cvt.rn.f32.f64", f, d), round_to(F32, d_of(a), RN, false))
OP(D_F32Z, GD, KF32, X1("cvt.rz.f32.f64", f, d), round_to(F32, d_of(a), RZ, false))
OP(D_F16, GD, KF16, X1("cvt.rn.f16.f64", h, d), round_to(F16, d_of(a), RN, false))
OP(D_S32, GD, KI, X1("cvt.rzi.s32.f64", r, d), to_int(d_of(a), 32, true, RZ, true))
OP(D_U32, GD, KI, X1("cvt.rzi.u32.f64", r, d), to_int(d_of(a), 32, false, RZ, true))
OP(D_S64, GD, KI, X1("cvt.rzi.s64.f64", l, d), to_int(d_of(a), 64, true, RZ, true))
OP(D_U64, GD, KI, X1("cvt.rzi.u64.f64", l, d), to_int(d_of(a), 64, false, RZ, true))
OP(D_NI, GD, KF64, X1("cvt.rni.f64.f64", d, d), ud_of(integral(d_of(a), RN)))
OP(D_MI, GD, KF64, X1("cvt.rmi.f64.f64", d, d), ud_of(integral(d_of(a), RM)))
OP(D_OF, G32, KF64, X1("cvt.f64.f32", d, f), ud_of((double)f_of((u32)a)))
OP(D_OFS, GL, KF64, X1("cvt.rn.f64.s64", d, l), ud_of((double)(s64)a))
OP(D_ABS, GD, KF64, X1("abs.f64", d, d), a & ~(1ull << 63))
OP(D_NEG, GD, KF64, X1("neg.f64", d, d), a ^ 1ull << 63)
// The hardware's results, checked by the host's arithmetic.
template <class F>
static void host_run(const char *name, int n) {
    if (part_left() < 0.5) {
        fact("b", name, "\"skipped\":true", "skipped: time");
        return;
    }
    std::vector<u64> idx(n), out((size_t)n * 5);
    for (int i = 0; i < n; i++) idx[i] = (u64)i;
    u64 *di, *dout;
    CK(cudaMalloc(&di, (size_t)n * 8));
    CK(cudaMalloc(&dout, (size_t)n * 40));
    CK(cudaMemcpy(di, idx.data(), (size_t)n * 8, cudaMemcpyHostToDevice));
    eval<F><<<full_grid(), 256>>>(di, dout, n);
    LAUNCHED();
    CK(cudaMemcpy(out.data(), dout, (size_t)n * 40, cudaMemcpyDeviceToHost));
    CK(cudaFree(di));
    CK(cudaFree(dout));
    long differ = 0, nan = 0;
    std::string firsts, nans;
    for (int i = 0; i < n; i++) {
        u64 *o = &out[(size_t)i * 5], w = F::ref(o[0], o[1], o[2]);
        if (o[3] == w) continue;
        differ++;
        if (nan_bits(F::kind, o[3]) && nan_bits(F::kind, w)) {
            if (nan++ < 1)
                nans =
                    fmt(" NaN %llx,%llx -> %llx host %llx", (unsigned long long)o[0],
                        (unsigned long long)o[1], (unsigned long long)o[3], (unsigned long long)w);
        } else if (differ - nan < 4)
            firsts += fmt(" %llx,%llx,%llx -> %llx want %llx;", (unsigned long long)o[0],
                          (unsigned long long)o[1], (unsigned long long)o[2],
                          (unsigned long long)o[3], (unsigned long long)w);
    }
    fact("b", name,
         fmt("\"n\":%d,\"differ\":%ld,\"nan_bits_only\":%ld,\"first\":\"%s\",\"nan\":\"%s\"", n,
             differ, nan, firsts.c_str(), nans.c_str())
             .c_str(),
         fmt("n=%d differ=%ld (NaN bits only: %ld)%s%s", n, differ, nan, firsts.c_str(),
             nans.c_str())
             .c_str());
}
template <int W>
__global__ void approx64(const u64 *x, u64 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = d_of(x[i]), r;
    if (W == 0) asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    if (W == 1) asm("rsqrt.approx.f64 %0, %1;" : "=d"(r) : "d"(v));
    if (W == 2) asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    y[i] = ud_of(r);
}
template <int W>
static void approximate64(const char *name) {
    const int n = 1 << 21;
    std::vector<u64> x(n), y(n);
    static const u64 sp[] = {0,
                             1ull << 63,
                             0x7ff0000000000000,
                             0xfff0000000000000,
                             0x7ff8000000000000,
                             0xfff8000000000001,
                             1,
                             0x000fffffffffffff,
                             0x0010000000000000,
                             0x7fefffffffffffff,
                             0x3ff0000000000000,
                             0xbff0000000000000,
                             0x7fd0000000000000};
    const int ns = sizeof sp / sizeof *sp;
    for (int i = 0; i < n; i++)
        x[i] = i < ns ? sp[i]
                      : (mix(i) & 0x000fffffffffffffull) |
                            (u64)(i & 1 ? 1023 + (i >> 1 & 1) : 100 + mix(i + 7) % 1800) << 52;
    u64 *dx, *dy;
    CK(cudaMalloc(&dx, n * 8));
    CK(cudaMalloc(&dy, n * 8));
    CK(cudaMemcpy(dx, x.data(), n * 8, cudaMemcpyHostToDevice));
    approx64<W><<<n / 256, 256>>>(dx, dy, n);
    LAUNCHED();
    CK(cudaMemcpy(y.data(), dy, n * 8, cudaMemcpyDeviceToHost));
    CK(cudaFree(dx));
    CK(cudaFree(dy));
    double worst = 0;
    u64 at = 0;
    long low = 0;
    for (int i = ns; i < n; i++) {
        double v = d_of(x[i]), r = W ? 1.0 / sqrt(v) : 1.0 / v, e = fabs(d_of(y[i]) - r) / r;
        if (e > worst) {
            worst = e;
            at = x[i];
        }
        low += (u32)y[i] != 0;
    }
    std::string s;
    for (int i = 0; i < ns; i++)
        s += fmt(" %016llx->%016llx", (unsigned long long)x[i], (unsigned long long)y[i]);
    fact("a", name,
         fmt("\"n\":%d,\"max_relative\":%.6g,\"at\":\"%016llx\",\"low_word_not_0\":%ld,\"special\":"
             "\"%s\"",
             n, worst, (unsigned long long)at, low, s.c_str())
             .c_str(),
         fmt("max relative error %.6g (2^%.2f) at %016llx, low word not 0: %ld of %d\n       %s",
             worst, log2(worst), (unsigned long long)at, low, n, s.c_str())
             .c_str());
}
void part_f64() {
    const int N = 1 << 19;
    host_run<D_DIV>("div.rn.f64", N);
    host_run<D_SQ>("sqrt.rn.f64", N);
    host_run<D_RCP>("rcp.rn.f64", N);
    host_run<D_FMA>("fma.rn.f64", N);
    host_run<D_ADD>("add.rn.f64", N);
    host_run<D_MUL>("mul.rn.f64", N);
    host_run<D_MIN>("min.f64", N);
    host_run<D_MAX>("max.f64", N);
    host_run<D_F32>("cvt.rn.f32.f64", N);
    host_run<D_F32Z>("cvt.rz.f32.f64", N);
    host_run<D_F16>("cvt.rn.f16.f64", N);
    host_run<D_S32>("cvt.rzi.s32.f64", N);
    host_run<D_U32>("cvt.rzi.u32.f64", N);
    host_run<D_S64>("cvt.rzi.s64.f64", N);
    host_run<D_U64>("cvt.rzi.u64.f64", N);
    host_run<D_NI>("cvt.rni.f64.f64", N);
    host_run<D_MI>("cvt.rmi.f64.f64", N);
    host_run<D_OF>("cvt.f64.f32", N);
    host_run<D_OFS>("cvt.rn.f64.s64", N);
    host_run<D_ABS>("abs.f64", N);
    host_run<D_NEG>("neg.f64", N);
    approximate64<0>("rcp.approx.ftz.f64");
    approximate64<1>("rsqrt.approx.f64");
    approximate64<2>("rsqrt.approx.ftz.f64");
}

// ---- atomics: memory holds x, y is added ----
struct AtomOut {
    u32 g32[64], s32_[64], r32[64], h[64], b[64], hx[64], bx[64], fs[64], hr[64], olds[64];
    u64 d[64];
    u32 cas, cas_old;
};
__global__ void atoms(const u32 *x, const u32 *y, int n, AtomOut *o) {
    __shared__ u32 sm[64];
    __shared__ u32 sh[64];
    int i = threadIdx.x;
    if (i < n) {
        u32 old, t = y[i];
        float f = f_of(t), r;
        o->g32[i] = x[i];
        o->r32[i] = x[i];
        o->fs[i] = x[i];
        sm[i] = x[i];
        o->d[i] = ud_of((double)f_of(x[i]) * 0x1p-900);
        u16 hx = (u16)x[i], hy = (u16)y[i], ho;
        o->h[i] = hx;
        o->b[i] = (u16)(x[i] >> 16);
        o->hx[i] = hx | 0x3c000000;
        o->bx[i] = (x[i] >> 16) | 0x3f800000;
        o->hr[i] = hx;
        sh[i] = hx;
        __syncwarp(__activemask());
        asm volatile("atom.relaxed.gpu.global.add.f32 %0, [%1], %2;"
                     : "=f"(r)
                     : "l"(&o->g32[i]), "f"(f)
                     : "memory");
        o->olds[i] = u_of(r);
        asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(&o->r32[i]), "f"(f)
                     : "memory");
        asm volatile("atom.relaxed.sys.add.f32 %0, [%1], %2;"
                     : "=f"(r)
                     : "l"(&o->fs[i]), "f"(f)
                     : "memory");
        asm volatile("atom.shared.add.f32 %0, [%1], %2;"
                     : "=f"(r)
                     : "r"((u32)__cvta_generic_to_shared(&sm[i])), "f"(f)
                     : "memory");
        asm volatile("atom.relaxed.gpu.add.noftz.f16 %0, [%1], %2;"
                     : "=h"(ho)
                     : "l"(&o->h[i]), "h"(hy)
                     : "memory");
        asm volatile("atom.shared.add.noftz.f16 %0, [%1], %2;"
                     : "=h"(ho)
                     : "r"((u32)__cvta_generic_to_shared(&sh[i])), "h"(hy)
                     : "memory");
        asm volatile("red.relaxed.gpu.global.add.noftz.f16 [%0], %1;" ::"l"(&o->hr[i]), "h"(hy)
                     : "memory");
        asm volatile("atom.relaxed.gpu.add.noftz.bf16 %0, [%1], %2;"
                     : "=h"(ho)
                     : "l"(&o->b[i]), "h"((u16)(y[i] >> 16))
                     : "memory");
        asm volatile("atom.relaxed.gpu.add.noftz.f16x2 %0, [%1], %2;"
                     : "=r"(old)
                     : "l"(&o->hx[i]), "r"((u32)hy)
                     : "memory");
        asm volatile("atom.relaxed.gpu.add.noftz.bf16x2 %0, [%1], %2;"
                     : "=r"(old)
                     : "l"(&o->bx[i]), "r"(y[i] >> 16)
                     : "memory");
        double dr;
        asm volatile("atom.relaxed.gpu.add.f64 %0, [%1], %2;"
                     : "=d"(dr)
                     : "l"(&o->d[i]), "d"((double)f * 0x1p-900)
                     : "memory");
        __threadfence();
        o->s32_[i] = sm[i];
        o->h[i] |= (u32)sh[i] << 16;
    }
}
__global__ void cas16(u32 *word, u32 *old) {
    u16 r;
    asm volatile("atom.relaxed.gpu.cas.b16 %0, [%1], %2, %3;"
                 : "=h"(r)
                 : "l"((char *)word + 2), "h"((u16)0x1234), "h"((u16)0xabcd)
                 : "memory");
    *old = r;
}
void part_atomics() {
    // f32 pairs; the f16 pairs are their low halves, the bf16 pairs their high halves.
    static const u32 xs[][2] = {
        {0x00000001, 0x00000001}, {0x00400001, 0x00000200}, {0x007fffff, 0x00000001},
        {0x00800000, 0x80000001}, {0x80000001, 0x00000000}, {0x00800000, 0x807fffff},
        {0x7f800000, 0xff800000}, {0x7fc12345, 0x3f800000}, {0xff812345, 0x3f800000},
        {0x7f7fffff, 0x73000000}, {0x7f7fffff, 0x72ffffff}, {0x80000000, 0x80000000},
        {0x00000000, 0x80000000}, {0x3f800000, 0xbf800000}, {0x3f800001, 0x33800000},
        {0x3f800000, 0x33800000}, {0x3f800000, 0x33800001}, {0x3f807bff, 0x33804c00},
        {0x00017c00, 0x0001fc00}, {0x3f807e12, 0x3f803c00}, {0x00408001, 0x00200000},
        {0x3f8003ff, 0x3f800001}, {0x3f800400, 0x3f808001}, {0x3f808000, 0x3f808000},
        {0x01000000, 0x80ffffff}, {0x01800000, 0x81700000}};
    const int n = sizeof xs / sizeof *xs;
    std::vector<u32> x(n), y(n);
    for (int i = 0; i < n; i++) x[i] = xs[i][0], y[i] = xs[i][1];
    u32 *dx, *dy;
    AtomOut *d;
    std::vector<AtomOut> o(1);
    CK(cudaMalloc(&dx, n * 4));
    CK(cudaMalloc(&dy, n * 4));
    CK(cudaMalloc(&d, sizeof *d));
    CK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dy, y.data(), n * 4, cudaMemcpyHostToDevice));
    CK(cudaMemset(d, 0, sizeof *d));
    atoms<<<1, 64>>>(dx, dy, n, d);
    LAUNCHED();
    CK(cudaMemcpy(o.data(), d, sizeof *d, cudaMemcpyDeviceToHost));
    const AtomOut &r = o[0];
    struct {
        const char *name;
        int kind;
    } rows[] = {{"atom.global.add.f32", 0},
                {"atom.sys.add.f32 (generic)", 1},
                {"red.global.add.f32", 2},
                {"atom.shared.add.f32", 3},
                {"atom.add.noftz.f16", 4},
                {"atom.shared.add.noftz.f16", 5},
                {"red.add.noftz.f16", 6},
                {"atom.add.noftz.bf16", 7},
                {"atom.add.noftz.f16x2", 8},
                {"atom.add.noftz.bf16x2", 9},
                {"atom.add.f64 (scaled by 2^-900)", 10}};
    for (auto &row : rows) {
        int differ = 0, nan = 0, flushed = 0;
        std::string s;
        for (int i = 0; i < n; i++) {
            u64 got = 0, want = 0;
            int kd = KF32;
            u32 a = x[i], b = y[i];
            if (row.kind <= 3) {
                got = row.kind == 0   ? r.g32[i]
                      : row.kind == 1 ? r.fs[i]
                      : row.kind == 2 ? r.r32[i]
                                      : r.s32_[i];
                want = r_add(f32(a), f32(b));
                flushed += got == fl(r_add(f32z(a), f32z(b))) && got != want;
            } else if (row.kind == 10) {
                got = r.d[i];
                want = ud_of((double)f_of(a) * 0x1p-900 + (double)f_of(b) * 0x1p-900);
                kd = KF64;
            } else {
                bool bf = row.kind == 7 || row.kind == 9;
                if (bf) {
                    a >>= 16;
                    b >>= 16;
                }
                kd = bf ? KBF16 : KF16;
                got = row.kind == 4   ? r.h[i] & 0xffff
                      : row.kind == 5 ? r.h[i] >> 16
                      : row.kind == 6 ? r.hr[i] & 0xffff
                      : row.kind == 7 ? r.b[i] & 0xffff
                      : row.kind == 8 ? r.hx[i] & 0xffff
                                      : r.bx[i] & 0xffff;
                want = bf ? round_to(BF16, add_odd(b16(a), b16(b)), RN, false)
                          : round_to(F16, add_odd(h16(a), h16(b)), RN, false);
                a &= 0xffff;
                b &= 0xffff;
            }
            if (got == want) continue;
            differ++;
            nan += nan_bits(kd, got) && nan_bits(kd, want);
            if (differ < 12)
                s += fmt(" %x+%x=%llx(want %llx)", a, b, (unsigned long long)got,
                         (unsigned long long)want);
        }
        fact("b", row.name,
             fmt("\"n\":%d,\"differ\":%d,\"nan_bits_only\":%d,\"as_if_flushed\":%d,\"differences\":"
                 "\"%s\"",
                 n, differ, nan, flushed, s.c_str())
                 .c_str(),
             fmt("n=%d differ=%d (NaN bits only %d; as if subnormals were flushed %d)%s", n, differ,
                 nan, flushed, s.c_str())
                 .c_str());
    }
    int bad = 0;
    for (int i = 0; i < n; i++) bad += r.olds[i] != x[i];
    u32 word[2] = {0x12345678, 0};
    CK(cudaMemcpy(dx, word, 8, cudaMemcpyHostToDevice));
    cas16<<<1, 1>>>(dx, dx + 1);
    LAUNCHED();
    CK(cudaMemcpy(word, dx, 8, cudaMemcpyDeviceToHost));
    fact("b", "atom old values, cas.b16",
         fmt("\"old_wrong\":%d,\"cas_word\":\"%08x\",\"cas_old\":\"%04x\"", bad, word[0], word[1])
             .c_str(),
         fmt("old values wrong %d; cas.b16 word %08x (want abcd5678), old %04x (want 1234)", bad,
             word[0], word[1])
             .c_str());
}
