// The errors of the approximate functions at every f32, f16 and bf16, and of quotients at billions
// of pairs.
#include "common.cuh"
enum { NC = 6 };
struct Acc {
    unsigned long long n[NC], over[NC], ulp[NC], abs[NC], zero[NC], bad[NC];
};
// ulp and abs: the greatest error as float bits << 32 | argument
struct One {
    u32 n[NC], over[NC], ulp[NC], ua[NC], abs[NC], aa[NC], zero[NC], bad[NC];
};

HD double ulp_scale(double r, int p, int emin) {  // 1 / ulp(r)
    int e = (int)(ud_of(r) >> 52 & 0x7ff) - 1023;
    if (e < emin) e = emin;
    return pow2(-(e - (p - 1)));
}
HD bool is_nan(double x) { return x != x; }
HD bool is_inf(double x) { return x == x && x - x != 0; }

template <class F>
__device__ __forceinline__ void note(One &o, int c, u32 arg, double y, double r) {
    double err = 0, sc = 0;
    bool bad = false, over = false;
    if (is_nan(r))
        bad = !is_nan(y);
    else if (is_inf(r))
        bad = y != r;
    else if (r == 0)
        bad = y != 0 || (ud_of(y) >> 63) != (ud_of(r) >> 63);
    else if (fabs(r) >= F::huge())
        bad = !is_inf(y) || (y > 0) != (r > 0);
    else if (y - y != 0)
        bad = true;
    else {
        err = fabs(y - r);
        sc = err * ulp_scale(r, F::P, F::EMIN);
        over = sc > 0.5;
    }
    float a = (float)err, s = (float)sc;
    bool z = y == 0 && r != 0;
#pragma unroll
    for (int k = 0; k < NC; k++)
        if (k == c) {
            o.n[k]++;
            o.over[k] += over;
            o.zero[k] += z;
            o.bad[k] += bad;
            if (u_of(s) > o.ulp[k]) {
                o.ulp[k] = u_of(s);
                o.ua[k] = arg;
            }
            if (u_of(a) > o.abs[k]) {
                o.abs[k] = u_of(a);
                o.aa[k] = arg;
            }
        }
}
__device__ __forceinline__ void clear(One &o) {
#pragma unroll
    for (int k = 0; k < NC; k++)
        o.n[k] = o.over[k] = o.ulp[k] = o.ua[k] = o.abs[k] = o.aa[k] = o.zero[k] = o.bad[k] = 0;
}
__device__ __forceinline__ void flush(const One &o, Acc *acc) {
#pragma unroll
    for (int k = 0; k < NC; k++) {
        if (!o.n[k]) continue;
        atomicAdd(&acc->n[k], o.n[k]);
        if (o.over[k]) atomicAdd(&acc->over[k], o.over[k]);
        if (o.zero[k]) atomicAdd(&acc->zero[k], o.zero[k]);
        if (o.bad[k]) atomicAdd(&acc->bad[k], o.bad[k]);
        if (o.ulp[k]) atomicMax(&acc->ulp[k], (unsigned long long)o.ulp[k] << 32 | o.ua[k]);
        if (o.abs[k]) atomicMax(&acc->abs[k], (unsigned long long)o.abs[k] << 32 | o.aa[k]);
    }
}
template <class F>
__global__ void unary_err(Acc *acc, u64 n, u64 step) {
    One o;
    clear(o);
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n;
         i += (u64)gridDim.x * blockDim.x) {
        u32 x = (u32)(i * step);
        double v = F::in(x), r = F::ref(v), y = F::out(F::hw(x));
        note<F>(o, F::cls(x, v, r), x, y, r);
    }
    flush(o, acc);
}
template <class F>
__global__ void unary_at(const u32 *x, u32 *y, double *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = F::hw(x[i]);
        r[i] = F::ref(F::in(x[i]));
    }
}

struct BaseF32 {
    static const int P = 24, EMIN = -126;
    static const Fm FM = F32;
    static HD double huge() { return pow2(127) * (2 - 0x1p-24); }
    static HD double in(u32 x) { return (double)f_of(x); }
    static HD double out(u32 y) { return (double)f_of(y); }
    static u64 count() { return 1ull << 32; }
    static HD int cls(u32 x, double v, double r) {
        if (is_nan(v) || is_inf(v) || v == 0) return 5;
        if (fabs(v) < 0x1p-126) return 1;
        if (is_nan(r) || is_inf(r) || r == 0) return 5;
        if (fabs(r) < 0x1p-126) return 2;
        if (fabs(r) >= huge()) return 3;
        return 0;
    }
};
struct BaseCircle : BaseF32 {
    static HD int cls(u32 x, double v, double r) {
        double a = fabs(v);
        if (is_nan(v) || is_inf(v) || v == 0) return 5;
        if (a < 0x1p-126) return 1;
        if (a <= 3.14159274101257324) return 0;
        if (a <= 314.159265) return 2;
        if (a <= 0x1p20) return 3;
        return 4;
    }
};
#define FN1(name, base, ins, cons, expr)                                        \
    struct name : base {                                                        \
        static __device__ __forceinline__ u32 hw(u32 x) {                       \
            float y;                                                            \
            asm(ins " %0, %1;" : "=f"(y) : "f"(f_of(x)));                       \
            return u_of(y);                                                     \
        }                                                                       \
        static __device__ __forceinline__ double ref(double v) { return expr; } \
    };
FN1(Ex2, BaseF32, "ex2.approx.f32", f, exp2(v))
FN1(Ex2F, BaseF32, "ex2.approx.ftz.f32", f, exp2(v))
FN1(Lg2, BaseF32, "lg2.approx.f32", f, log2(v))
FN1(Lg2F, BaseF32, "lg2.approx.ftz.f32", f, log2(v))
FN1(Rcp, BaseF32, "rcp.approx.f32", f, 1.0 / v)
FN1(RcpF, BaseF32, "rcp.approx.ftz.f32", f, 1.0 / v)
FN1(Rsq, BaseF32, "rsqrt.approx.f32", f, 1.0 / sqrt(v))
FN1(RsqF, BaseF32, "rsqrt.approx.ftz.f32", f, 1.0 / sqrt(v))
FN1(Sq, BaseF32, "sqrt.approx.f32", f, sqrt(v))
FN1(SqF, BaseF32, "sqrt.approx.ftz.f32", f, sqrt(v))
FN1(SqRn, BaseF32, "sqrt.rn.f32", f, sqrt(v))
FN1(RcpRn, BaseF32, "rcp.rn.f32", f, 1.0 / v)
FN1(Sin, BaseCircle, "sin.approx.f32", f, sin(v))
FN1(SinF, BaseCircle, "sin.approx.ftz.f32", f, sin(v))
FN1(Cos, BaseCircle, "cos.approx.f32", f, cos(v))
FN1(CosF, BaseCircle, "cos.approx.ftz.f32", f, cos(v))
FN1(Tanh, BaseF32, "tanh.approx.f32", f, tanh(v))
template <Fm FMT, int PP, int EM>
struct BaseHalf {
    static const int P = PP, EMIN = EM;
    static const Fm FM = FMT;
    static HD double huge() { return FMT == F16 ? 65520.0 : pow2(127) * (2 - 0x1p-8); }
    static HD double in(u32 x) { return value(FMT, x); }
    static HD double out(u32 y) { return value(FMT, y); }
    static u64 count() { return 1u << 16; }
    static HD int cls(u32 x, double v, double r) {
        if (is_nan(v) || is_inf(v) || v == 0) return 5;
        if (fabs(v) < pow2(EM)) return 1;
        if (is_nan(r) || is_inf(r) || r == 0) return 5;
        if (fabs(r) < pow2(EM)) return 2;
        if (fabs(r) >= huge()) return 3;
        return 0;
    }
};
#define FNH(name, fm, p, em, ins, expr)                                         \
    struct name : BaseHalf<fm, p, em> {                                         \
        static __device__ __forceinline__ u32 hw(u32 x) {                       \
            u16 y;                                                              \
            asm(ins " %0, %1;" : "=h"(y) : "h"((u16)x));                        \
            return y;                                                           \
        }                                                                       \
        static __device__ __forceinline__ double ref(double v) { return expr; } \
    };
FNH(Ex2H, F16, 11, -14, "ex2.approx.f16", exp2(v))
FNH(TanhH, F16, 11, -14, "tanh.approx.f16", tanh(v))
FNH(Ex2B, BF16, 8, -126, "ex2.approx.ftz.bf16", exp2(v))
FNH(TanhB, BF16, 8, -126, "tanh.approx.bf16", tanh(v))
struct Ex2H2 : BaseHalf<F16, 11, -14> {
    static __device__ __forceinline__ u32 hw(u32 x) {
        u32 y;
        asm("ex2.approx.f16x2 %0, %1;" : "=r"(y) : "r"(x << 16 | 0x3c00));
        return y >> 16;
    }
    static __device__ __forceinline__ double ref(double v) { return exp2(v); }
};

static const char *const class_name[2][NC] = {
    {"normal", "subn.in", "subn.out", "overflow", "?", "special"},
    {"|x|<=pi", "subn.in", "<=100pi", "<=2^20", "huge", "special"}};
static void report(const char *part, const char *name, const Acc &a, int circle,
                   const std::string &extra, const char *const *names) {
    std::string j, t;
    for (int k = 0; k < NC; k++) {
        if (!a.n[k]) continue;
        float ulp = f_of((u32)(a.ulp[k] >> 32)), ab = f_of((u32)(a.abs[k] >> 32));
        const char *cn = names ? names[k] : class_name[circle][k];
        j +=
            fmt("%s\"%s\":{\"n\":%llu,\"over_half\":%llu,\"max_ulp\":%.6g,\"at\":\"%08x\",\"max_"
                "abs\":%.6g,\"abs_at\":\"%08x\",\"zeros\":%llu,\"wrong_special\":%llu}",
                j.empty() ? "" : ",", cn, a.n[k], a.over[k], ulp, (u32)a.ulp[k], ab, (u32)a.abs[k],
                a.zero[k], a.bad[k]);
        t +=
            fmt("\n       %-9s n=%-11llu >0.5ulp=%-11llu max %.6g ulp at %08x, abs %.4g (2^%.2f) "
                "at %08x, zeros=%llu, bad specials=%llu",
                cn, a.n[k], a.over[k], ulp, (u32)a.ulp[k], ab, ab > 0 ? log2(ab) : 0.0,
                (u32)a.abs[k], a.zero[k], a.bad[k]);
    }
    if (!extra.empty()) j += "," + extra;
    fact(part, name, j.c_str(), t.c_str());
}
static const u32 special32[] = {0x00000000,          0x80000000,
                                0x7f800000,          0xff800000,
                                0x7fc00000,          0xffc00000,
                                0x7f800001,          0xff812345,
                                0x7fffffff,          1,
                                0x80000001,          0x00400000,
                                0x007fffff,          0x807fffff,
                                0x00800000,          0x80800000,
                                0x7f7fffff,          0xff7fffff,
                                0x3f800000,          0xbf800000,
                                0x43000000 /*128*/,  0xc2fc0000 /*-126*/,
                                0xc2fe0000 /*-127*/, 0xc3150000 /*-149*/,
                                0xc3160000 /*-150*/, 0x7e800000 /*2^126*/,
                                0x7e800001,          0x7f000000,
                                0x40490fdb,          0x3fc90fdb,
                                0x49800000};
template <class F>
static void unary(const char *name, bool ftz, int circle = 0) {
    if (part_left() < 0.5) {
        fact("a", name, "\"skipped\":true", "skipped: time");
        return;
    }
    Acc *d, a;
    CK(cudaMalloc(&d, sizeof *d));
    CK(cudaMemset(d, 0, sizeof *d));
    unary_err<F><<<F::count() < 1 << 20 ? 16 : full_grid(), 256>>>(d, F::count(), 1);
    LAUNCHED();
    CK(cudaMemcpy(&a, d, sizeof a, cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    // Specials, against what the simulator gives: the nearest number, canonical NaN, ftz.
    std::vector<u32> xs;
    for (u32 x : special32)
        xs.push_back(F::FM == F32    ? x
                     : F::FM == BF16 ? x >> 16
                                     : round_to(F16, (double)f_of(x), RN, false));
    if (F::FM == F16)
        for (u32 x : {1u, 0x8001u, 0x3ffu, 0x400u, 0x7c01u, 0xfe00u, 0x4c00u, 0x4bffu, 0xcb80u,
                      0xcbc0u, 0xce40u, 0xce80u})
            xs.push_back(x);
    int n = (int)xs.size();
    u32 *dx, *dy;
    double *dr;
    CK(cudaMalloc(&dx, n * 4));
    CK(cudaMalloc(&dy, n * 4));
    CK(cudaMalloc(&dr, n * 8));
    CK(cudaMemcpy(dx, xs.data(), n * 4, cudaMemcpyHostToDevice));
    unary_at<F><<<1, 64>>>(dx, dy, dr, n);
    LAUNCHED();
    std::vector<u32> ys(n);
    std::vector<double> rs(n);
    CK(cudaMemcpy(ys.data(), dy, n * 4, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(rs.data(), dr, n * 8, cudaMemcpyDeviceToHost));
    CK(cudaFree(dx));
    CK(cudaFree(dy));
    CK(cudaFree(dr));
    std::string sp = "\"specials\":{", diff;
    int differ = 0;
    for (int i = 0; i < n; i++) {
        u32 want = round_to(F::FM, rs[i], RN, false);
        Form f = form(F::FM);
        u32 sign = 1u << (f.bits - 1), expmask = f.inf;
        if (ftz && !(xs[i] & expmask))
            want = 0xdeadbeef;  // a flushed operand: printed, not compared
        if (ftz && want != 0xdeadbeef && !(want & expmask)) want &= sign;
        sp += fmt("%s\"%0*x\":\"%0*x\"", i ? "," : "", f.bits / 4, xs[i], f.bits / 4, ys[i]);
        if (ys[i] != want) {
            differ++;
            diff += fmt(" %0*x->%0*x", f.bits / 4, xs[i], f.bits / 4, ys[i]);
            if (want != 0xdeadbeef) diff += fmt("(%0*x)", f.bits / 4, want);
        }
    }
    sp += fmt("},\"specials_not_nearest\":%d", differ);
    report("a", name, a, circle, sp, NULL);
    printf("       specials that differ from the nearest number (or flushed operands): %s\n",
           diff.c_str());
}
void part_approx() {
    unary<Ex2F>("ex2.approx.ftz.f32", true);
    unary<Ex2>("ex2.approx.f32", false);
    unary<RcpF>("rcp.approx.ftz.f32", true);
    unary<RsqF>("rsqrt.approx.ftz.f32", true);
    unary<SinF>("sin.approx.ftz.f32", true, 1);
    unary<CosF>("cos.approx.ftz.f32", true, 1);
    unary<Sq>("sqrt.approx.f32", false);
    unary<SqRn>("sqrt.rn.f32", false);
    unary<RcpRn>("rcp.rn.f32", false);
    unary<Rcp>("rcp.approx.f32", false);
    unary<Rsq>("rsqrt.approx.f32", false);
    unary<SqF>("sqrt.approx.ftz.f32", true);
    unary<Lg2>("lg2.approx.f32", false);
    unary<Lg2F>("lg2.approx.ftz.f32", true);
    unary<Tanh>("tanh.approx.f32", false);
    unary<Sin>("sin.approx.f32", false, 1);
    unary<Cos>("cos.approx.f32", false, 1);
}
void part_half_approx() {
    unary<Ex2H>("ex2.approx.f16", false);
    unary<Ex2H2>("ex2.approx.f16x2 (high half)", false);
    unary<TanhH>("tanh.approx.f16", false);
    unary<Ex2B>("ex2.approx.ftz.bf16", true);
    unary<TanhB>("tanh.approx.bf16", false);
}

// ---- division: pairs ----
HD void pair_of(u32 i, u32 *a, u32 *b) {
    u64 h = mix(i);
    u32 x = (u32)h, y = (u32)(h >> 32);
    switch (i & 7) {
    case 0:
    case 1: break;  // any bits
    case 2:
    case 3:
    case 4:
        x = (x & 0x807fffff) | (96 + (x >> 23 & 63)) << 23;
        y = (y & 0x807fffff) | (96 + (y >> 23 & 63)) << 23;
        break;
    case 5: y = (y & 0x80ffffff) | 0x7e000000; break;                  // divisors around 2^126
    case 6: x = (x & 0x807fffff) | (1 + (x >> 23 & 31)) << 23; break;  // small dividends
    default: y &= 0x81ffffff; break;  // small or subnormal divisors
    }
    *a = x;
    *b = y;
}
struct BaseDiv : BaseF32 {
    static HD int cls(double a, double b, double r) {
        if (is_nan(r) || is_inf(r) || r == 0 || a - a != 0 || b - b != 0) return 5;
        if (fabs(a) < 0x1p-126 || fabs(b) < 0x1p-126) return 1;
        if (fabs(b) > 0x1p126) return 2;
        if (fabs(r) < 0x1p-126) return 3;
        if (fabs(r) >= huge()) return 4;
        return 0;
    }
};
#define FN2(name, code)                                          \
    struct name : BaseDiv {                                      \
        static __device__ __forceinline__ u32 hw(u32 a, u32 b) { \
            float y, x = f_of(a), d = f_of(b);                   \
            code;                                                \
            return u_of(y);                                      \
        }                                                        \
    };
FN2(DivA, asm("div.approx.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(d)))
FN2(DivAF, asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(d)))
FN2(DivF, asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(d)))
FN2(DivFF, asm("div.full.ftz.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(d)))
FN2(DivRn, asm("div.rn.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(d)))
FN2(Quot, float t; asm("rcp.approx.ftz.f32 %0, %1;"
                       : "=f"(t)
                       : "f"(d));
    asm("mul.rn.f32 %0, %1, %2;"
        : "=f"(y)
        : "f"(x), "f"(t)))
template <class F>
__global__ void binary_err(Acc *acc, u64 n) {
    One o;
    clear(o);
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n;
         i += (u64)gridDim.x * blockDim.x) {
        u32 a, b;
        pair_of((u32)i, &a, &b);
        double x = f_of(a), d = f_of(b), r = x / d, y = f_of(F::hw(a, b));
        note<F>(o, F::cls(x, d, r), (u32)i, y, r);
    }
    flush(o, acc);
}
template <class F>
static void binary(const char *name, u64 n) {
    static const char *const names[] = {"normal",   "subn.in",  "b>2^126",
                                        "subn.out", "overflow", "special"};
    if (part_left() < 0.5) {
        fact("a", name, "\"skipped\":true", "skipped: time");
        return;
    }
    Acc *d, a;
    CK(cudaMalloc(&d, sizeof *d));
    CK(cudaMemset(d, 0, sizeof *d));
    binary_err<F><<<full_grid(), 256>>>(d, n);
    LAUNCHED();
    CK(cudaMemcpy(&a, d, sizeof a, cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    std::string e = "\"worst\":{", t;
    for (int k = 0; k < NC; k++) {
        u32 x, y;
        pair_of((u32)a.ulp[k], &x, &y);
        e += fmt("%s\"%s\":[\"%08x\",\"%08x\"]", k ? "," : "", names[k], x, y);
        if (a.n[k]) t += fmt(" %s: %08x/%08x", names[k], x, y);
    }
    report("a", name, a, 0, e + "}", names);
    printf("       worst pairs:%s\n", t.c_str());
}
void part_binary() {
    binary<Quot>("a*rcp.approx.ftz(b) (tilec /)", 1ull << 32);
    binary<DivRn>("div.rn.f32", 1ull << 32);
    binary<DivF>("div.full.f32", 1ull << 32);
    binary<DivA>("div.approx.f32", 1ull << 32);
    binary<DivFF>("div.full.ftz.f32", 1ull << 31);
    binary<DivAF>("div.approx.ftz.f32", 1ull << 31);
}
