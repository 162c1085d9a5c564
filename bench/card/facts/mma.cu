// Matrix products: how sums are formed (probes, and models that are compared with random products),
// the bounds of docs/numerics.md, integers, f64, and wgmma against mma.sync.
#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include "common.cuh"
enum Kind { H16F, H16H, H8F, H8H, B16K, B8K, T8, T4, E4, E5, E45, E54, NK };
struct Info {
    const char *name;
    Fm a, b;
    int kb, k, size;
    bool half;
};
static const Info infos[NK] = {{"f16.m16n8k16.f32", F16, F16, 32, 16, 2, false},
                               {"f16.m16n8k16.f16", F16, F16, 32, 16, 2, true},
                               {"f16.m16n8k8.f32", F16, F16, 16, 8, 2, false},
                               {"f16.m16n8k8.f16", F16, F16, 16, 8, 2, true},
                               {"bf16.m16n8k16", BF16, BF16, 32, 16, 2, false},
                               {"bf16.m16n8k8", BF16, BF16, 16, 8, 2, false},
                               {"tf32.m16n8k8", TF32, TF32, 32, 8, 4, false},
                               {"tf32.m16n8k4", TF32, TF32, 16, 4, 4, false},
                               {"e4m3.m16n8k32", E4M3, E4M3, 32, 32, 1, false},
                               {"e5m2.m16n8k32", E5M2, E5M2, 32, 32, 1, false},
                               {"e4m3.e5m2.m16n8k32", E4M3, E5M2, 32, 32, 1, false},
                               {"e5m2.e4m3.m16n8k32", E5M2, E4M3, 32, 32, 1, false}};

#define MMA4(T)                                                                                 \
    asm volatile("mma.sync.aligned." T " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define MMA2(T)                                                                        \
    asm volatile("mma.sync.aligned." T " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                      \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define MMF4(T)                                                                                 \
    asm volatile("mma.sync.aligned." T " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define MMF2(T)                                                                        \
    asm volatile("mma.sync.aligned." T " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                      \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]))
template <int K>
__device__ __forceinline__ void mma1(const u32 *a, const u32 *b, u32 *c) {
    float f[4];
    if (K == H16H) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, "
            "{%0,%1};"
            : "+r"(c[0]), "+r"(c[1])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        return;
    }
    if (K == H8H) {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
            : "+r"(c[0]), "+r"(c[1])
            : "r"(a[0]), "r"(a[1]), "r"(b[0]));
        return;
    }
    for (int i = 0; i < 4; i++) f[i] = __uint_as_float(c[i]);
    if (K == H16F) MMF4("m16n8k16.row.col.f32.f16.f16.f32");
    if (K == H8F) MMF2("m16n8k8.row.col.f32.f16.f16.f32");
    if (K == B16K) MMF4("m16n8k16.row.col.f32.bf16.bf16.f32");
    if (K == B8K) MMF2("m16n8k8.row.col.f32.bf16.bf16.f32");
    if (K == T8) MMF4("m16n8k8.row.col.f32.tf32.tf32.f32");
    if (K == T4) MMF2("m16n8k4.row.col.f32.tf32.tf32.f32");
    if (K == E4) MMF4("m16n8k32.row.col.f32.e4m3.e4m3.f32");
    if (K == E5) MMF4("m16n8k32.row.col.f32.e5m2.e5m2.f32");
    if (K == E45) MMF4("m16n8k32.row.col.f32.e4m3.e5m2.f32");
    if (K == E54) MMF4("m16n8k32.row.col.f32.e5m2.e4m3.f32");
    for (int i = 0; i < 4; i++) c[i] = __float_as_uint(f[i]);
}
HD constexpr int kb_of(int k) { return k == H8F || k == H8H || k == B8K || k == T4 ? 16 : 32; }
// A[problem][16][steps*kb], B[problem][8][steps*kb], C and D [problem][16][8]. Of split operands A
// and B are the high parts, A2 and B2 the low ones; three products are added for each step.
template <int K>
__global__ void mma_run(const u8 *A, const u8 *B, const u8 *A2, const u8 *B2, const u32 *C, u32 *D,
                        int n, int steps) {
    const int KB = kb_of(K), AR = KB / 8, BR = KB / 16;
    const bool half = K == H16H || K == H8H;
    int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
    for (int p = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; p < n;
         p += gridDim.x * (blockDim.x / 32)) {
        size_t line = (size_t)steps * KB;
        u32 c[4] = {0, 0, 0, 0}, a[4], b[2], a2[4], b2[2];
        const u32 *cp = C + (size_t)p * 128;
        if (half)
            for (int r = 0; r < 2; r++)
                c[r] = (cp[(g + 8 * r) * 8 + 2 * t] & 0xffff) | cp[(g + 8 * r) * 8 + 2 * t + 1]
                                                                    << 16;
        else
            for (int r = 0; r < 4; r++) c[r] = cp[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2];
        for (int s = 0; s < steps; s++) {
            for (int r = 0; r < AR; r++) {
                size_t at = ((size_t)p * 16 + g + 8 * (r % 2)) * line + (size_t)s * KB +
                            16 * (r / 2) + 4 * t;
                a[r] = *(const u32 *)(A + at);
                if (A2) a2[r] = *(const u32 *)(A2 + at);
            }
            for (int r = 0; r < BR; r++) {
                size_t at = ((size_t)p * 8 + g) * line + (size_t)s * KB + 16 * r + 4 * t;
                b[r] = *(const u32 *)(B + at);
                if (B2) b2[r] = *(const u32 *)(B2 + at);
            }
            if (A2) {
                mma1<K>(a, b2, c);
                mma1<K>(a2, b, c);
            }
            mma1<K>(a, b, c);
        }
        u32 *dp = D + (size_t)p * 128;
        if (half)
            for (int r = 0; r < 2; r++) {
                dp[(g + 8 * r) * 8 + 2 * t] = c[r] & 0xffff;
                dp[(g + 8 * r) * 8 + 2 * t + 1] = c[r] >> 16;
            }
        else
            for (int r = 0; r < 4; r++) dp[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2] = c[r];
    }
}
typedef void (*RunFn)(const u8 *, const u8 *, const u8 *, const u8 *, const u32 *, u32 *, int, int);
static const RunFn run_of[NK] = {mma_run<H16F>, mma_run<H16H>, mma_run<H8F>, mma_run<H8H>,
                                 mma_run<B16K>, mma_run<B8K>,  mma_run<T8>,  mma_run<T4>,
                                 mma_run<E4>,   mma_run<E5>,   mma_run<E45>, mma_run<E54>};

template <class T>
struct Dev {
    T *p;
    size_t n;
    explicit Dev(size_t count) : p(NULL), n(count) { CK(cudaMalloc(&p, n * sizeof(T))); }
    explicit Dev(const std::vector<T> &v) : Dev(v.size()) {
        CK(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Dev() { cudaFree(p); }
    void get(std::vector<T> &v) {
        v.resize(n);
        CK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    }
};
struct Batch {
    Kind kind;
    Info f;
    int n;
    std::vector<u8> A, B;
    std::vector<u32> C, D;
    Batch(Kind k, int count)
        : kind(k),
          f(infos[k]),
          n(count),
          A((size_t)count * 16 * f.kb),
          B((size_t)count * 8 * f.kb),
          C((size_t)count * 128) {}
    void put(std::vector<u8> &v, int lines, int p, int line, int k, u32 bits) {
        memcpy(&v[((size_t)p * lines + line) * f.kb + (size_t)k * f.size], &bits, f.size);
    }
    u32 get(const std::vector<u8> &v, int lines, int p, int line, int k) const {
        u32 b = 0;
        memcpy(&b, &v[((size_t)p * lines + line) * f.kb + (size_t)k * f.size], f.size);
        return b;
    }
    void a(int p, int r, int k, u32 bits) { put(A, 16, p, r, k, bits); }
    void b(int p, int c, int k, u32 bits) { put(B, 8, p, c, k, bits); }
    void run() {
        Dev<u8> dA(A), dB(B);
        Dev<u32> dC(C), dD(C.size());
        run_of[kind]<<<(n + 3) / 4 < 4096 ? (n + 3) / 4 : 4096, 128>>>(dA.p, dB.p, NULL, NULL, dC.p,
                                                                       dD.p, n, 1);
        LAUNCHED();
        dD.get(D);
    }
};
static u32 enc(Fm f, double v) { return f == TF32 ? u_of((float)v) : round_to(f, v, RN, false); }
static double dec(Fm f, u32 b) { return f == TF32 ? (double)f_of(b & 0xffffe000u) : value(f, b); }

// One probe: products a[k] * b[k] as bits, and c; element (0, 0) of a problem of its own.
struct Probe {
    std::vector<u32> a, b;
    u32 c;
    u32 d;
};
struct Probes {
    Kind kind;
    Info f;
    std::vector<Probe> all;
    explicit Probes(Kind k) : kind(k), f(infos[k]) {}
    int add(const std::vector<std::pair<double, double>> &terms, double c) {  // terms by position
        Probe p;
        p.a.assign(f.k, 0);
        p.b.assign(f.k, 0);
        for (size_t i = 0; i < terms.size() && (int)i < f.k; i++) {
            p.a[i] = enc(f.a, terms[i].first);
            p.b[i] = enc(f.b, terms[i].second);
        }
        p.c = f.half ? round_to(F16, c, RN, false) : u_of((float)c);
        all.push_back(p);
        return (int)all.size() - 1;
    }
    int raw(const std::vector<std::pair<u32, u32>> &terms, u32 c) {
        Probe p;
        p.a.assign(f.k, 0);
        p.b.assign(f.k, 0);
        for (size_t i = 0; i < terms.size() && (int)i < f.k; i++) {
            p.a[i] = terms[i].first;
            p.b[i] = terms[i].second;
        }
        p.c = c;
        all.push_back(p);
        return (int)all.size() - 1;
    }
    void run() {
        Batch t(kind, (int)all.size());
        for (size_t p = 0; p < all.size(); p++) {
            for (int k = 0; k < f.k; k++) {
                t.a((int)p, 0, k, all[p].a[k]);
                t.b((int)p, 0, k, all[p].b[k]);
            }
            t.C[p * 128] = all[p].c;
        }
        t.run();
        for (size_t p = 0; p < all.size(); p++) all[p].d = t.D[p * 128];
    }
    u32 d(int i) const { return all[i].d; }
    double v(int i) const { return f.half ? value(F16, all[i].d) : (double)f_of(all[i].d); }
};
typedef std::vector<std::pair<double, double>> Terms;
static double p2(int e) { return ldexp(1, e); }
static std::pair<double, double> power(int e, double m = 1) {
    int h = e >= 0 ? e / 2 : -((1 - e) / 2);
    return {m * p2(h), p2(e - h)};
}
static Terms at(int k, std::vector<std::pair<int, std::pair<double, double>>> list) {
    Terms t(k, {0, 0});
    for (auto &x : list) t[x.first] = x.second;
    return t;
}
static std::pair<double, double> neg(std::pair<double, double> x) { return {-x.first, x.second}; }

static void probe_kind(Kind kind) {
    Probes q(kind);
    const Info &f = q.f;
    const int K = f.k, E = kind == E4 || kind == E45 || kind == E54 ? 14 : f.half ? 14 : 28;
    const int low = f.a == E4M3 || f.b == E4M3 ? 25 : 45, first = 8;
    // How far below the greatest addend a small one is kept.
    enum { CFGS = 6 };
    static const char *const cfg_name[CFGS] = {"p,-p,small",   "c,-p,small",
                                               "p,-p,c=small", "2.25p,-2.25p,small",
                                               "p,-p,-small",  "p,-p,1.75*small"};
    std::vector<int> id[CFGS];
    for (int s = first; s <= low; s++) {
        auto big = power(E), small = power(E - s),
             more = std::pair<double, double>(power(E - s).first * 1.75, power(E - s).second);
        std::pair<double, double> fat(power(E).first * 1.5, power(E).second * 1.5);
        id[0].push_back(q.add({big, neg(big), small}, 0));
        id[1].push_back(q.add({neg(big), small}, p2(E)));
        id[2].push_back(q.add({big, neg(big)}, p2(E - s)));
        id[3].push_back(q.add({fat, neg(fat), small}, 0));
        id[4].push_back(q.add({big, neg(big), neg(small)}, 0));
        id[5].push_back(q.add({big, neg(big), more}, 0));
    }
    // Rounding: c = 2^B (1 + odd ulp), a product of x ulp.
    const int B = f.half ? 0 : 12, U = f.half ? -10 : -23;
    static const double xs[] = {0.25, 0.5, 0.75, 0.96875, 1.25, 1.5, 1.75};
    std::vector<int> rounding;
    for (int s = 0; s < 4; s++)
        for (double x : xs) {
            double base = p2(B) * (1 + (s & 1) * p2(U));
            int e;
            double fr = frexp(x, &e);
            fr *= 2;
            e--;
            if (f.a == E4M3 || f.a == E5M2)
                if (fr != 1 && fr != 1.5 && fr != 1.25 && fr != 1.75) fr = 1.75;
            auto pr = power(B + U + e, fr);
            rounding.push_back(q.add({s & 2 ? neg(pr) : pr}, s & 2 ? -base : base));
        }
    // Groups: two great products that cancel, and a small one.
    const int far = f.a == E4M3 || f.b == E4M3 ? 24 : f.half ? 34 : 40;
    std::vector<std::pair<int, int>> pairs = {
        {0, 1}, {2, 3}, {0, K / 2}, {K / 2, K / 2 + 1}, {K - 2, K - 1}, {0, K - 1}};
    std::vector<std::vector<int>> lost;
    for (auto pr : pairs) {
        std::vector<int> l;
        for (int k = 0; k < K; k++) {
            if (k == pr.first || k == pr.second) {
                l.push_back(-1);
                continue;
            }
            l.push_back(q.add(
                at(K, {{pr.first, power(E)}, {pr.second, neg(power(E))}, {k, power(E - far)}}), 0));
        }
        l.push_back(q.add(at(K, {{pr.first, power(E)}, {pr.second, neg(power(E))}}), p2(E - far)));
        lost.push_back(l);
    }
    std::vector<std::vector<int>> lostc;
    for (int j : {0, 1, K / 2, K - 1}) {  // c cancels with product j
        std::vector<int> l;
        for (int k = 0; k < K; k++)
            l.push_back(k == j ? -1
                               : q.add(at(K, {{j, neg(power(E))}, {k, power(E - far)}}), p2(E)));
        lostc.push_back(l);
    }
    // Subnormals, special values.
    struct Named {
        const char *name;
        int id;
    };
    std::vector<Named> sp;
    Form fa = form(f.a), fb = form(f.b);
    u32 oneA = f.a == TF32 ? 0x3f800000 : enc(f.a, 1),
        oneB = f.b == TF32 ? 0x3f800000 : enc(f.b, 1);
    u32 greatA = f.a == TF32 ? 0x7f7fe000 : fa.greatest,
        greatB = f.b == TF32 ? 0x7f7fe000 : fb.greatest;
    u32 infA = f.a == TF32 ? 0x7f800000 : fa.inf, nanA = f.a == TF32   ? 0x7fc00000
                                                         : f.a == F16  ? 0x7e00
                                                         : f.a == BF16 ? 0x7fc0
                                                                       : fa.nan;
    u32 signA = f.a == TF32 ? 0x80000000 : 1u << (fa.bits - 1);
    u32 leastA = f.a == TF32 ? 0x2000 : 1, leastB = f.b == TF32 ? 0x2000 : 1;
    u32 bigB = f.b == TF32 || f.b == BF16 ? enc(f.b, p2(120)) : enc(f.b, p2(f.b == E4M3 ? 8 : 15));
    u32 mx = f.half ? 0x7bff : 0x7f7fffff, inf = f.half ? 0x7c00 : 0x7f800000,
        sgn = f.half ? 0x8000 : 0x80000000, one = f.half ? 0x3c00 : 0x3f800000;
#define SP(n, ...) sp.push_back({n, q.raw(__VA_ARGS__)})
    SP("least_a*big", {{leastA, bigB}}, 0);
    SP("big*least_b", {{bigB, leastB}}, 0);
    SP("least*one", {{leastA, oneB}}, 0);
    SP("c=least", {{0, 0}}, 1);
    SP("c=-least", {{0, 0}}, sgn | 1);
    SP("c=subn+subn product", {{leastA, oneB}}, f.half ? 0x200 : 0x00400000);
    SP("p=2^-100*2^-45 (bf16,tf32)",
       {{f.size == 4 ? u_of(ldexpf(1, -100)) : enc(f.a, p2(-100)),
         f.size == 4 ? u_of(ldexpf(1, -45)) : enc(f.b, p2(-45))}},
       0);
    SP("p=1.5*2^-149 (bf16,tf32)",
       {{f.size == 4 ? u_of(ldexpf(1.5f, -100)) : enc(f.a, 1.5 * p2(-100)),
         f.size == 4 ? u_of(ldexpf(1, -49)) : enc(f.b, p2(-49))}},
       0);
    SP("great*great", {{greatA, greatB}}, 0);
    SP("c=max,+great*great", {{greatA, greatB}}, mx);
    SP("-great*great", {{greatA | signA, greatB}}, 0);
    SP("great^2-great^2", {{greatA, greatB}, {greatA | signA, greatB}}, 0);
    SP("great^2-great^2 c=max", {{greatA, greatB}, {greatA | signA, greatB}}, mx);
    SP("c=max+half ulp",
       {{f.size == 4 ? u_of(ldexpf(1, 60))
                     : enc(f.a, p2(f.a == BF16 ? 60
                                   : f.half    ? 2
                                               : 8)),
         f.size == 4 ? u_of(ldexpf(1, 43))
                     : enc(f.b, p2(f.b == BF16 ? 43
                                   : f.half    ? 2
                                               : 8))}},
       mx);
    SP("c=max+1 ulp",
       {{f.size == 4 ? u_of(ldexpf(1, 60))
                     : enc(f.a, p2(f.a == BF16 ? 60
                                   : f.half    ? 3
                                               : 8)),
         f.size == 4 ? u_of(ldexpf(1, 44))
                     : enc(f.b, p2(f.b == BF16 ? 44
                                   : f.half    ? 2
                                               : 8))}},
       mx);
    SP("nan*1", {{nanA, oneB}}, 0);
    SP("-nan*1", {{nanA | signA, oneB}}, 0);
    SP("c=nan payload", {{oneA, oneB}}, f.half ? 0x7e12 : 0x7fc12345);
    SP("c=-snan", {{oneA, oneB}}, f.half ? 0xfc12 : 0xff812345);
    if (infA) {
        SP("inf*1", {{infA, oneB}}, 0);
        SP("-inf*1", {{infA | signA, oneB}}, 0);
        SP("inf*0", {{infA, 0}}, 0);
        SP("inf-inf", {{infA, oneB}, {infA | signA, oneB}}, 0);
    }
    SP("c=inf", {{oneA, oneB}}, inf);
    SP("c=inf,p=-great", {{greatA | signA, greatB}}, inf);
    SP("c=-inf", {{oneA, oneB}}, inf | sgn);
    SP("zeros c=-0", {{0, 0}}, sgn);
    {
        std::vector<std::pair<u32, u32>> z(K, {signA, oneB});
        SP("all -0 c=-0", z, sgn);
        SP("all -0 c=+0", z, 0);
    }
    SP("1-1 c=+0", {{oneA, oneB}, {oneA | signA, oneB}}, 0);
    SP("1-1 c=-0", {{oneA, oneB}, {oneA | signA, oneB}}, sgn);
    SP("c=-1,p=1", {{oneA, oneB}}, one | sgn);
    // tf32: the low 13 bits.
    int tf_first = (int)q.all.size();
    if (f.a == TF32) {
        for (u32 b = 0; b < 0x4000; b++) q.raw({{0x3fc00000 | b, oneB}}, 0);
        for (u32 b = 0; b < 0x4000; b++) q.raw({{oneA, 0xbfc00000 | b}}, 0);
        for (u32 b = 0; b < 0x4000; b++) q.raw({{0x7f7fc000 | b, oneB}}, 0);
        for (u32 b = 0; b < 0x4000; b++) q.raw({{b, 0x3f800000}}, 0);  // subnormal low bits
        for (u32 b = 0x7f800001; b < 0x7f804001; b++)
            q.raw({{b, 0x3f800000}}, 0);  // NaN whose bits are all low
    }
    q.run();
    std::string j, t;
    for (int c = 0; c < CFGS; c++) {
        int last = -1, odd = -1;
        for (size_t i = 0; i < id[c].size(); i++)
            if (q.d(id[c][i]) & ~sgn) last = (int)i + first;
        for (size_t i = 0; i < id[c].size();
             i++) {  // the first that is not exactly the small addend
            int s = (int)i + first;
            double want = p2(E - s) * (c == 4 ? -1 : c == 5 ? 1.75 : 1);
            if (q.v(id[c][i]) != want) {
                odd = s;
                break;
            }
        }
        std::string near;
        for (int s = last - 3; s <= last + 2; s++)
            if (s >= first && s <= low)
                near += fmt("%s2^-%d:%.4g", near.empty() ? "" : " ", s,
                            q.v(id[c][s - first]) * p2(s - E));
        j += fmt("%s\"%s\":{\"last_kept\":%d,\"first_inexact\":%d,\"near\":\"%s\"}",
                 j.empty() ? "" : ",", cfg_name[c], last, odd, near.c_str());
        t += fmt("\n       %-20s last kept 2^-%d, first inexact 2^-%d%s   (result / small: %s)",
                 cfg_name[c], last, odd, last == low ? " (limit of the test)" : "", near.c_str());
    }
    std::string r;
    for (size_t i = 0; i < rounding.size(); i++) {
        int s = (int)(i / 7);
        s32 diff = (s32)((q.d(rounding[i]) & ~sgn) - (q.all[rounding[i]].c & ~sgn));
        if (i % 7 == 0)
            r += fmt("%s[%s%s]", i ? " " : "", s & 2 ? "-" : "+", s & 1 ? "odd" : "even");
        r += fmt(" %.4g:%d", xs[i % 7], diff);
    }
    j += ",\"rounding_ulps\":\"" + r + "\"";
    t += "\n       rounding c + x ulp -> ulps added: " + r;
    std::string gr;
    for (size_t i = 0; i < pairs.size(); i++) {
        gr += fmt(" (%d,%d)", pairs[i].first, pairs[i].second);
        for (int k = 0; k <= K; k++)
            gr += k == K                   ? (q.d(lost[i][k]) & ~sgn ? "|c." : "|cx")
                  : lost[i][k] < 0         ? "B"
                  : q.d(lost[i][k]) & ~sgn ? "."
                                           : "x";
    }
    int js[] = {0, 1, K / 2, K - 1};
    for (size_t i = 0; i < lostc.size(); i++) {
        gr += fmt(" (c,%d)", js[i]);
        for (int k = 0; k < K; k++)
            gr += lostc[i][k] < 0 ? "B" : q.d(lostc[i][k]) & ~sgn ? "." : "x";
    }
    j += ",\"lost\":\"" + gr + "\"";
    t += "\n       small addend lost (x) or kept (.) next to B,-B:" + gr;
    j += ",\"special\":{";
    t += "\n       special:";
    for (size_t i = 0; i < sp.size(); i++) {
        j += fmt("%s\"%s\":\"%0*x\"", i ? "," : "", sp[i].name, f.half ? 4 : 8, q.d(sp[i].id));
        t += fmt(" [%s]=%0*x", sp[i].name, f.half ? 4 : 8, q.d(sp[i].id));
    }
    j += "}";
    if (f.a == TF32) {
        int cut = 0, rna = 0, rne = 0, n = 0, wrong = 0;
        std::string firsts;
        for (size_t i = tf_first; i < q.all.size(); i++) {
            bool ofa = q.all[i].a[0] != oneA;
            u32 x = ofa ? q.all[i].a[0] : q.all[i].b[0], d = q.all[i].d;
            u32 c = x & 0xffffe000, a = (x + 0x1000) & 0xffffe000,
                e = (x + 0xfff + (x >> 13 & 1)) & 0xffffe000;
            n++;
            cut += d == c;
            rna += d == a;
            rne += d == e;
            bool nan = (x & 0x7fffffff) > 0x7f800000;
            if (d != c && !nan && wrong++ < 4) firsts += fmt(" %08x->%08x", x, d);
        }
        u32 n1 = q.all[q.all.size() - 0x4000].d, n2 = q.all[q.all.size() - 0x4000 + 0x1fff].d,
            n3 = q.all.back().d;
        j +=
            fmt(",\"tf32\":{\"n\":%d,\"cut\":%d,\"rna\":%d,\"rne\":%d,\"not_cut_numbers\":%d,\"nan_"
                "low_bits\":[\"%08x\",\"%08x\",\"%08x\"]}",
                n, cut, rna, rne, wrong, n1, n2, n3);
        t +=
            fmt("\n       tf32 operands: of %d: equal to cut %d, to nearest-away %d, to "
                "nearest-even %d; numbers not cut %d%s; NaN 7f800001 -> %08x, 7f802000 -> %08x, "
                "7f804000 -> %08x (cut would give inf for the first)",
                n, cut, rna, rne, wrong, firsts.c_str(), n1, n2, n3);
    }
    fact("c", f.name, j.c_str(), t.c_str());
}

// ---- integers and f64 ----
__global__ void mma_int(const u32 *A, const u32 *B, const u32 *C, u32 *D,
                        int n) {  // kinds s8.s8, u8.u8, s8.u8, u8.s8, s8 satfinite
    int lane = threadIdx.x & 31;
    for (int p = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; p < n;
         p += gridDim.x * (blockDim.x / 32)) {
        const u32 *a = A + (p * 32 + lane) * 4, *b = B + (p * 32 + lane) * 2;
        u32 c[4];
#define I8(T, slot)                                                                 \
    do {                                                                            \
        for (int i = 0; i < 4; i++) c[i] = C[(p * 32 + lane) * 4 + i];              \
        MMA4(T);                                                                    \
        for (int i = 0; i < 4; i++) D[((p * 5 + slot) * 32 + lane) * 4 + i] = c[i]; \
    } while (0)
        I8("m16n8k32.row.col.s32.s8.s8.s32", 0);
        I8("m16n8k32.row.col.s32.u8.u8.s32", 1);
        I8("m16n8k32.row.col.s32.s8.u8.s32", 2);
        I8("m16n8k32.row.col.s32.u8.s8.s32", 3);
        I8("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4);
    }
}
static void ints() {
    const int N = 2000;
    std::vector<u32> A(N * 128), B(N * 64), C(N * 128), D;
    for (size_t i = 0; i < A.size(); i++) A[i] = i % 512 < 128 ? 0x80808080u : (u32)mix(i);
    for (size_t i = 0; i < B.size(); i++)
        B[i] = i % 256 < 64 ? 0x80808080u : (u32)mix(i + 77777777);
    for (size_t i = 0; i < C.size(); i++)
        C[i] = i % 3 ? (u32)mix(i + 99999999) : i & 1 ? 0x7ffffff0u : 0x80000010u;
    Dev<u32> a(A), b(B), c(C), d((size_t)N * 5 * 128);
    mma_int<<<N / 4, 128>>>(a.p, b.p, c.p, d.p, N);
    LAUNCHED();
    d.get(D);
    static const char *const names[] = {"s8.s8", "u8.u8", "s8.u8", "u8.s8", "s8.satfinite"};
    for (int slot = 0; slot < 5; slot++) {
        long wrong = 0;
        std::string firsts;
        for (int p = 0; p < N; p++)
            for (int lane = 0; lane < 32; lane++)
                for (int r = 0; r < 4; r++) {
                    int row = lane / 4 + 8 * (r / 2), col = 2 * (lane % 4) + r % 2;
                    s64 sum = 0;
                    for (int k = 0; k < 32; k++) {
                        int al = (row % 8) * 4 + k % 16 / 4, ar = (row / 8) + 2 * (k / 16),
                            bl = col * 4 + k % 16 / 4, br = k / 16;
                        u8 x = (u8)(A[(p * 32 + al) * 4 + ar] >> (8 * (k % 4))),
                           y = (u8)(B[(p * 32 + bl) * 2 + br] >> (8 * (k % 4)));
                        bool sa = slot == 0 || slot == 2 || slot == 4,
                             sb = slot == 0 || slot == 3 || slot == 4;
                        sum += (sa ? (int)(int8_t)x : (int)x) * (sb ? (int)(int8_t)y : (int)y);
                    }
                    s64 whole = sum + (s32)C[(p * 32 + lane) * 4 + r];
                    u32 want = (u32)whole;
                    if (slot == 4)
                        want = whole > 2147483647LL    ? 0x7fffffffu
                               : whole < -2147483648LL ? 0x80000000u
                                                       : (u32)whole;
                    u32 got = D[((p * 5 + slot) * 32 + lane) * 4 + r];
                    if (got != want && wrong++ < 3) firsts += fmt(" got %08x want %08x", got, want);
                }
        fact("c", (std::string("mma.m16n8k32.") + names[slot]).c_str(),
             fmt("\"n\":%d,\"wrong\":%ld,\"first\":\"%s\"", N * 128, wrong, firsts.c_str()).c_str(),
             fmt("n=%d wrong=%ld%s", N * 128, wrong, firsts.c_str()).c_str());
    }
}
__global__ void mma_double(const double *A, const double *B, const double *C, double *D, int n) {
    int lane = threadIdx.x & 31;
    for (int p = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; p < n;
         p += gridDim.x * (blockDim.x / 32)) {
        double a = A[p * 32 + lane], b = B[p * 32 + lane], c0 = C[p * 64 + lane * 2],
               c1 = C[p * 64 + lane * 2 + 1];
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(c0), "+d"(c1)
                     : "d"(a), "d"(b));
        D[p * 64 + lane * 2] = c0;
        D[p * 64 + lane * 2 + 1] = c1;
    }
}
static void doubles() {
    const int N = 20000;
    std::vector<double> A(N * 32), B(N * 32), C(N * 64), D;
    auto rnd = [](u64 s, int p) {
        u64 h = mix(s);
        int spread = p % 3 == 0 ? 1 : p % 3 == 1 ? 8 : 60;
        return d_of((h & 0x800fffffffffffffull) | (u64)(1023 + (int)(h >> 52 & 0x7ff) % spread)
                                                      << 52);
    };
    for (int p = 0; p < N; p++) {
        for (int i = 0; i < 32; i++) {
            A[p * 32 + i] = rnd(p * 1000ull + i, p);
            B[p * 32 + i] = rnd(p * 1000ull + 100 + i, p);
        }
        for (int i = 0; i < 64; i++) C[p * 64 + i] = p % 5 == 0 ? 0 : rnd(p * 1000ull + 200 + i, p);
    }
    Dev<double> a(A), b(B), c(C), d(C.size());
    mma_double<<<N / 4, 128>>>(a.p, b.p, c.p, d.p, N);
    LAUNCHED();
    d.get(D);
    long up = 0, down = 0, exact = 0, n = 0;
    for (int p = 0; p < N; p++)
        for (int lane = 0; lane < 32; lane++)
            for (int r = 0; r < 2; r++) {
                int row = lane / 4, col = 2 * (lane % 4) + r;
                double s = C[p * 64 + lane * 2 + r], e = s, got = D[p * 64 + lane * 2 + r];
                __float128 q = s;
                for (int k = 0; k < 4; k++) {
                    double x = A[p * 32 + row * 4 + k], y = B[p * 32 + col * 4 + k];
                    s = fma(x, y, s);
                    q += (__float128)x * y;
                }
                for (int k = 3; k >= 0; k--)
                    e = fma(A[p * 32 + row * 4 + k], B[p * 32 + col * 4 + k], e);
                n++;
                up += got == s;
                down += got == e;
                exact += got == (double)q;
            }
    fact("c", "mma.m8n8k4.f64",
         fmt("\"n\":%ld,\"fma_chain_ascending\":%ld,\"fma_chain_descending\":%ld,\"nearest_of_113_"
             "bit_sum\":%ld",
             n, up, down, exact)
             .c_str(),
         fmt("n=%ld equal to: chain of fma k=0..3 %ld, k=3..0 %ld, one rounding (as the simulator) "
             "%ld",
             n, up, down, exact)
             .c_str());
}
void part_mma_probe() {
    for (int k = 0; k < NK; k++) probe_kind((Kind)k);
    ints();
    doubles();
}

// ---- models ----
// How a unit may form a sum: groups of G addends along k, each aligned so that F bits below the
// greatest exponent are kept.
struct Model {
    int G, F;
    int cut;    // how dropped bits round: 0 towards zero, 1 down, 2 to nearest
    int fin;    // the result: 0 cut, 1 rounded to nearest, 2 cut to F + 1 bits
    int norm;   // exponents are those of the products, not the sums of their factors' exponents
    int cmode;  // c is 0 an addend of the group, 1 added after it, rounded to nearest
    int perm;   // the groups interleave along k
};
struct Term {
    int e, en;
    s64 m;
};  // m * 2^(e - 40): unnormalised exponent e, normalised exponent en (|m| scaled to 2^(en-40))
struct Case {
    Term t[32];
    Term c;
    bool zero[32], czero;
    u32 d;
    int k;
};
static s64 aligned(s64 m, int sh, int cut) {  // m >> sh by the rule
    if (sh <= 0) return m << (-sh > 20 ? 20 : -sh);
    if (sh > 62) sh = 62;
    s64 a = m < 0 ? -m : m;
    if (cut == 0) {
        a >>= sh;
        return m < 0 ? -a : a;
    }
    if (cut == 1) return m >> sh;
    s64 q = a >> sh, r = a & ((1ll << sh) - 1), h = 1ll << (sh - 1);
    q += r > h || (r == h && (q & 1));
    return m < 0 ? -q : q;
}
// A value v = m * 2^e, as a Term: m of at most 2^41.
static bool term_of(double v, int unnorm, Term *t) {
    if (v == 0) return false;
    int e;
    double fr = frexp(v, &e);  // |fr| in [0.5, 1)
    t->en = e - 1;
    t->e = unnorm;
    t->m = (s64)ldexp(fr, 41);  // v = m * 2^(en - 40); exact: at most 24+ bits
    return true;
}
static int raw_exp(Fm f, u32 b) {
    Form g = form(f);
    if (f == TF32) {
        int e = (int)(b >> 23 & 255);
        return (e ? e : 1) - 127;
    }
    int e = (int)((b & ((1u << (g.bits - 1)) - 1)) >> (g.p - 1));
    return (e ? e : 1) - g.bias;
}
static u32 simulate(const Case &x, const Model &m, bool half) {
    double acc_v = x.czero ? 0.0 : ldexp((double)x.c.m, x.c.en - 40);
    u32 bits = 0;
    int groups = (x.k + m.G - 1) / m.G;
    for (int g = 0; g < groups; g++) {
        int emax = -100000, idx[33], n = 0;
        for (int i = 0; i < m.G; i++) {
            int k = m.perm == 0 ? g * m.G + i : i * groups + g;
            if (k >= x.k || x.zero[k]) continue;
            idx[n++] = k;
            int e = m.norm ? x.t[k].en : x.t[k].e;
            if (e > emax) emax = e;
        }
        Term c;
        bool cz = acc_v == 0;
        if (!cz) {
            term_of(acc_v, 0, &c);
            int lim = half ? -14 : -126;
            c.e = c.en < lim ? lim : c.en;
        }
        if (!cz && m.cmode == 0 && (m.norm ? c.en : c.e) > emax) emax = m.norm ? c.en : c.e;
        if (emax == -100000) {
            if (m.cmode == 0 || cz) continue;
            emax = c.en;
        }
        s64 s = 0;
        for (int i = 0; i < n; i++)
            s += aligned(x.t[idx[i]].m, emax - m.F - (x.t[idx[i]].en - 40), m.cut);
        if (!cz && m.cmode == 0) s += aligned(c.m, emax - m.F - (c.en - 40), m.cut);
        double v = ldexp((double)s, emax - m.F);
        if (m.cmode == 1) v = add_odd(v, acc_v);
        if (half) {  // f16: the model rounds at the end of each group
            bits = round_to(F16, v, m.fin == 1 ? RN : RZ, false);
            acc_v = value(F16, bits);
        } else if (m.fin == 2 && m.F < 23 && v != 0) {
            int e;
            frexp(v, &e);
            double q = ldexp(1, e - 1 - m.F);
            v = trunc(v / q) * q;
            bits = round_to(F32, v, RZ, false);
            acc_v = f_of(bits);
        } else {
            bits = round_to(F32, v, m.fin == 1 ? RN : RZ, false);
            acc_v = f_of(bits);
        }
    }
    return bits;
}
static bool same(u32 a, u32 b, bool half) {
    u32 s = half ? 0x7fff : 0x7fffffff;
    return a == b || (!(a & s) && !(b & s));
}
static u32 random_operand(Fm f, u64 h, int spread) {
    Form g = form(f == TF32 ? TF32 : f);
    int mid = f == E4M3 ? 7 : f == E5M2 ? 15 : f == F16 ? 15 : 127;
    int e = mid + (int)(h >> 40 & 0xff) % (2 * spread + 1) - spread;
    if (e < 1) e = 1;
    if (f == E4M3 && e > 14) e = 14;
    if (f == E5M2 && e > 30) e = 30;
    if (f == F16 && e > 29) e = 29;
    u32 man = (u32)h & ((1u << (g.p - 1)) - 1), s = (u32)(h >> 39 & 1);
    if (f == TF32) return s << 31 | (u32)e << 23 | man << 13;
    return s << (g.bits - 1) | (u32)e << (g.p - 1) | man;
}
struct Fit {
    std::string name, json, text;
};
static const int FIT_N = 120;
static void fit_fill(Batch &t) {
    const Kind kind = t.kind;
    const Info &f = infos[kind];
    const int N = FIT_N;
    for (int p = 0; p < N; p++) {
        int spread = 1 + p % 6;
        if (f.a == BF16 || f.a == TF32) spread = 1 + p % 10;
        for (int r = 0; r < 16; r++)
            for (int k = 0; k < f.k; k++)
                t.a(p, r, k,
                    random_operand(f.a, mix(p * 100003ull + r * 97 + k * 7919ull * 31 + kind),
                                   spread));
        for (int c = 0; c < 8; c++)
            for (int k = 0; k < f.k; k++)
                t.b(p, c, k,
                    random_operand(f.b,
                                   mix(p * 100019ull + c * 89 + k * 7907ull * 37 + 5555555 + kind),
                                   spread));
        for (int i = 0; i < 128; i++) {
            u64 h = mix(p * 1000ull + i + 123456789);
            int ce = (int)(h >> 32 & 0xff) % (4 * spread + 5) - 2 * spread - 2;
            double c = ldexp(1.0 + (double)(h & 0x7fffff) / 8388608.0, ce) * (h >> 63 ? -1 : 1);
            if (p % 4 == 0) c = 0;
            t.C[p * 128 + i] = f.half ? round_to(F16, c, RZ, true) : u_of((float)c);
        }
    }
}
static void fit(const Batch &t, Fit *out) {
    const Info &f = infos[t.kind];
    const int N = FIT_N;
    std::vector<Case> cases;
    for (int p = 0; p < N; p++)
        for (int i = 0; i < 128; i++) {
            Case x;
            memset(&x, 0, sizeof x);
            x.k = f.k;
            x.d = t.D[p * 128 + i];
            u32 cb = t.C[p * 128 + i];
            double c = f.half ? value(F16, cb) : (double)f_of(cb);
            x.czero = !term_of(c, 0, &x.c);
            for (int k = 0; k < f.k; k++) {
                u32 a = t.get(t.A, 16, p, i / 8, k), b = t.get(t.B, 8, p, i % 8, k);
                double v = dec(f.a, a) * dec(f.b, b);
                x.zero[k] = !term_of(v, raw_exp(f.a, a) + raw_exp(f.b, b), &x.t[k]);
            }
            u32 s = f.half ? 0x7c00 : 0x7f800000;
            if ((x.d & s) == s) continue;
            cases.push_back(x);
        }
    struct Best {
        Model m;
        int hit;
    };
    std::vector<Best> best;
    int tried = 0;
    double until = now() + 3.0;
    std::vector<size_t> pick;
    for (size_t i = 0; i < 192; i++) pick.push_back((i * 2654435761u) % cases.size());
    bool cutoff = false;
    for (int G = f.k; G >= 2; G /= 2)
        for (int perm = 0; perm < (G == f.k ? 1 : 2); perm++)
            for (int norm = 0; norm < 2; norm++)
                for (int cut = 0; cut < 3; cut++)
                    for (int fin = 0; fin < 3; fin++)
                        for (int cmode = 0; cmode < 2; cmode++)
                            for (int F = 10; F <= 36; F++) {
                                if (fin == 2 && (F >= 23 || f.half)) continue;
                                if (now() > until) {
                                    cutoff = true;
                                    continue;
                                }
                                Model m = {G, F, cut, fin, norm, cmode, perm};
                                int hit = 0;
                                for (size_t i = 0; i < pick.size(); i++) {
                                    hit += same(simulate(cases[pick[i]], m, f.half),
                                                cases[pick[i]].d, f.half);
                                    if (i == 23 && hit < 8) break;
                                }
                                best.push_back({m, hit});
                                tried++;
                            }
    std::sort(best.begin(), best.end(), [](const Best &a, const Best &b) { return a.hit > b.hit; });
    // The exact sum rounded once (what the simulator computes), for comparison.
    int exact = 0;
    Model ex = {f.k, 45, 0, 1, 0, 0, 0};
    for (auto &x : cases) exact += same(simulate(x, ex, f.half), x.d, f.half);
    std::string
        j = fmt("\"n\":%zu,\"models\":%d,\"cut_short\":%s,\"equal_to_exact_sum_rn\":%d,\"best\":[",
                cases.size(), tried, cutoff ? "true" : "false", exact),
        s;
    s = fmt("n=%zu, %d models%s; equal to the exact sum rounded once (simulator): %d (%.2f %%)",
            cases.size(), tried, cutoff ? " (stopped by time)" : "", exact,
            100.0 * exact / cases.size());
    for (int i = 0; i < 4 && i < (int)best.size(); i++) {
        const Model &m = best[i].m;
        int hit = 0;
        std::string miss;
        int missed = 0;
        for (auto &x : cases) {
            u32 y = simulate(x, m, f.half);
            if (same(y, x.d, f.half))
                hit++;
            else if (i == 0 && missed++ < 2)
                miss += fmt(" hw %08x model %08x", x.d, y);
        }
        static const char *const cuts[] = {"toward 0", "down", "nearest"}, *const fins[] = {
                                                                               "RZ", "RN",
                                                                               "RZ to F+1 bits"};
        j +=
            fmt("%s{\"group\":%d,\"bits_below\":%d,\"align\":\"%s\",\"final\":\"%s\","
                "\"normalised\":%d,\"c\":\"%s\",\"perm\":%d,\"equal\":%d}",
                i ? "," : "", m.G, m.F, cuts[m.cut], fins[m.fin], m.norm,
                m.cmode ? "after" : "with", m.perm, hit);
        s +=
            fmt("\n       group %2d, %d bits below the greatest exponent (%s), aligned %s, result "
                "%s, c %s products%s: equal %d (%.3f %%)%s",
                m.G, m.F, m.norm ? "normalised" : "sum of exponents", cuts[m.cut], fins[m.fin],
                m.cmode ? "after" : "with", m.perm ? ", interleaved" : "", hit,
                100.0 * hit / cases.size(), miss.c_str());
    }
    out->name = std::string("model ") + f.name;
    out->json = j + "]";
    out->text = s;
}
void part_mma_fit() {
    const std::vector<Kind> kinds = {H16F, B16K, T8, E4, E5, H16H, H8F, B8K, T4};
    std::vector<std::unique_ptr<Batch>> runs;
    std::vector<Fit> fits(kinds.size());
    for (Kind k : kinds) {
        runs.emplace_back(new Batch(k, FIT_N));
        fit_fill(*runs.back());
        runs.back()->run();
    }
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kinds.size(); i++)
        threads.emplace_back([&, i] { fit(*runs[i], &fits[i]); });
    for (auto &t : threads) t.join();
    for (auto &x : fits) fact("c", x.name.c_str(), x.json.c_str(), x.text.c_str());
}

// ---- bounds of docs/numerics.md ----
enum Prep { PLAIN, CUT, SCALED, SPLIT, BSPLIT };
HD float tf32_of(float x) {
    u32 u = (u_of(x) + 0x1000) & 0xffffe000u;
    return x == x ? f_of(u) : f_of(0x7fc00000);
}
HD float original(int mode, u64 h, u64 k, float amp) {
    float u = (float)(u32)(h >> 40) * 0x1p-24f;
    switch (mode) {
    case 0: return u;
    case 1: return 2 * u - 1;
    case 2: {
        float s = (float)(u32)(h >> 8 & 0xffffff) * 0x1p-24f + 1;
        return ((h & 1) ? -s : s) * f_of((u32)(127 + (int)(h >> 1 & 7) - 4) << 23);
    }
    case 3: return f_of(0x3fffffff) * ((h & 1) ? 0.5f : 1.0f);  // all mantissa bits
    case 4:
        return k == 0 ? amp
                      : 1.9375f * ((h & 1) ? 0.5f : 1.0f) * 0.0625f;  // one great product first
    default: return (h & 2 ? -1.0f : 1.0f) * f_of(0x3fffffff) * ((h & 1) ? 0.5f : 1.0f);
    }
}
// Operands as bits of the kind (high, low), and the f32 that they stand for.
__global__ void gen(int kind_a, int size, int prep, int mode, u64 seed, u64 elements, u64 line,
                    u8 *hi, u8 *lo, float *orig) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < elements;
         i += (u64)gridDim.x * blockDim.x) {
        float amp = kind_a == E4M3 ? 16.0f : kind_a == E5M2 || kind_a == F16 ? 64.0f : 256.0f;
        float x = original(mode, mix(i * 0x9e3779b97f4a7c15ull + seed), i % line, amp);
        if (prep == PLAIN) {
            u32 b;
            if (kind_a == TF32) {
                x = f_of(u_of(x) & 0xffffe000u);
                b = u_of(x);
            } else {
                b = round_to((Fm)kind_a, x, RZ, true);
                x = (float)value((Fm)kind_a, b);
            }
            if (size == 1)
                hi[i] = (u8)b;
            else if (size == 2)
                ((u16 *)hi)[i] = (u16)b;
            else
                ((u32 *)hi)[i] = b;
        } else if (prep == CUT)
            ((u32 *)hi)[i] = u_of(x);
        else if (prep == SCALED)
            ((u32 *)hi)[i] = u_of(x * f_of(0x3f801000));
        else if (prep == SPLIT) {
            float h = tf32_of(x);
            ((u32 *)hi)[i] = u_of(h);
            ((u32 *)lo)[i] = u_of(tf32_of(x - h));
        } else {
            u32 h = round_to(BF16, x, RN, false);
            ((u16 *)hi)[i] = (u16)h;
            ((u16 *)lo)[i] = (u16)round_to(BF16, x - f_of(h << 16), RN, false);
        }
        orig[i] = x;
    }
}
struct Worst {
    unsigned long long over, ratio, rel;
    double sum_err;
};
__global__ void judge(const float *A, const float *B, const u32 *C, const u32 *D, int n, u64 line,
                      int half, double u, double rep, double k_factor, Worst *w) {
    for (int o = blockIdx.x * blockDim.x + threadIdx.x; o < n * 128; o += gridDim.x * blockDim.x) {
        int p = o / 128, r = o % 128 / 8, c = o % 8;
        const float *a = A + ((u64)p * 16 + r) * line, *b = B + ((u64)p * 8 + c) * line;
        double s = half ? value(F16, C[o]) : (double)f_of(C[o]), total = 0, acc = fabs(s);
        for (u64 k = 0; k < line; k++) {
            double x = (double)a[k] * b[k];
            s += x;
            total += fabs(x);
        }
        double got = half ? value(F16, D[o]) : (double)f_of(D[o]), err = fabs(got - s);
        double bound = 2 * (k_factor * (double)line + 2) * u * (total + acc) + rep * total;
        float ratio = (float)(err / bound), rel = (float)(err / (total + acc));
        if (!(err <= bound)) atomicAdd(&w->over, 1ull);
        atomicMax(&w->ratio, (unsigned long long)u_of(ratio) << 32 | (u32)o);
        atomicMax(&w->rel, (unsigned long long)u_of(rel) << 32 | (u32)o);
    }
}
static void bound(Kind kind, Prep prep, const char *name, double u, double rep, double kf,
                  int n_limit) {
    const Info &f = infos[kind];
    static const int lengths[] = {32, 256, 4096};
    std::string j, t;
    for (int length : lengths) {
        int n = length == 4096 ? n_limit : n_limit / 2, steps = length / f.k;
        if (part_left() < 0.4) {
            t += "\n       skipped: time";
            break;
        }
        u64 ea = (u64)n * 16 * length, eb = (u64)n * 8 * length;
        bool two = prep == SPLIT || prep == BSPLIT;
        Dev<u8> ah(ea * f.size), al(two ? ea * f.size : 1), bh(eb * f.size),
            bl(two ? eb * f.size : 1);
        Dev<float> ao(ea), bo(eb);
        for (int mode = 0; mode < 6; mode++) {
            gen<<<2048, 256>>>(f.a, f.size, prep, mode, 1 + mode, ea, length, ah.p, al.p, ao.p);
            gen<<<2048, 256>>>(f.b, f.size, prep, mode, 1001 + mode, eb, length, bh.p, bl.p, bo.p);
            std::vector<u32> C((size_t)n * 128, 0);
            if (mode == 1)
                for (size_t i = 0; i < C.size(); i++) {
                    float c = ((float)(u32)(mix(i) >> 40) * 0x1p-23f - 1) * 4;
                    C[i] = f.half ? round_to(F16, c, RN, false) : u_of(c);
                }
            Dev<u32> c(C), d(C.size());
            Dev<Worst> w(1);
            CK(cudaMemset(w.p, 0, sizeof(Worst)));
            run_of[kind]<<<1024, 128>>>(ah.p, bh.p, two ? al.p : NULL, two ? bl.p : NULL, c.p, d.p,
                                        n, steps);
            judge<<<1024, 128>>>(ao.p, bo.p, c.p, d.p, n, length, f.half, u, rep, kf, w.p);
            LAUNCHED();
            Worst r;
            CK(cudaMemcpy(&r, w.p, sizeof r, cudaMemcpyDeviceToHost));
            float ratio = f_of((u32)(r.ratio >> 32)), rel = f_of((u32)(r.rel >> 32));
            j +=
                fmt("%s{\"K\":%d,\"mode\":%d,\"n\":%d,\"over\":%llu,\"max_err_by_bound\":%.5g,"
                    "\"max_err_by_sum\":%.5g}",
                    j.empty() ? "" : ",", length, mode, n * 128, r.over, ratio, rel);
            t += fmt("%s%d:%llu/%.3g(2^%.1f)",
                     mode ? "  "
                          : fmt("\n       K=%-4d n=%d  mode:over/err by bound(err by sum) ", length,
                                n * 128)
                                .c_str(),
                     mode, r.over, ratio, rel > 0 ? log2(rel) : -99.0);
        }
    }
    fact("c", (std::string("bound ") + name).c_str(), ("\"runs\":[" + j + "]").c_str(), t.c_str());
}
void part_bounds() {
    const double u = 0x1p-24;
    bound(H16F, PLAIN, "f16 f32-acc", u, 0, 1, 800);
    bound(B16K, PLAIN, "bf16 f32-acc", u, 0, 1, 800);
    bound(E4, PLAIN, "e4m3 (u=2^-13)", 0x1p-13, 0, 1, 800);
    bound(E5, PLAIN, "e5m2 (u=2^-13)", 0x1p-13, 0, 1, 800);
    bound(E4, PLAIN, "e4m3 (u=2^-24)", u, 0, 1, 400);
    bound(E5, PLAIN, "e5m2 (u=2^-24)", u, 0, 1, 400);
    bound(T8, SCALED, "tf32, x*(1+2^-11)", u, 2 * 0x1p-11 + 0x1p-22, 1, 800);
    bound(T8, CUT, "tf32 approx (cut)", u, 2 * 0x1p-10 + 0x1p-20, 1, 800);
    bound(T8, PLAIN, "tf32 of exact tf32", u, 0, 1, 400);
    bound(T8, SPLIT, "tf32x3", u, 3 * 0x1p-22, 3, 400);
    bound(B8K, BSPLIT, "bf16x3 (k8)", u, 3 * 0x1p-16, 3, 400);
    bound(B16K, BSPLIT, "bf16x3 (k16)", u, 3 * 0x1p-16, 3, 400);
    bound(H16H, PLAIN, "f16 f16-acc (u=2^-11)", 0x1p-11, 0, 1, 400);
}

// ---- wgmma: A in registers, B in shared memory without swizzle ----
// One warpgroup; K of 32 bytes; n = 8. B: 8 columns of 32 bytes; core matrices of 8 x 16 bytes.
template <int T>
__global__ void wgmma_run(const u8 *A, const u8 *B, const u32 *C, u32 *D, int n) {
    __shared__ __align__(128) u8 sb[256];
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    for (int p = blockIdx.x; p < n; p += gridDim.x) {
        __syncthreads();
        for (int i = threadIdx.x; i < 256; i += 128) {
            int col = i / 32, byte = i % 32;
            sb[(byte / 16) * 128 + col * 16 + byte % 16] = B[(size_t)p * 256 + i];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        u32 a[4];
        float f[4];
        for (int r = 0; r < 4; r++)
            a[r] = warp == 0 ? *(const u32 *)(A + ((size_t)p * 16 + g + 8 * (r % 2)) * 32 +
                                              16 * (r / 2) + 4 * t)
                             : 0;
        for (int r = 0; r < 4; r++)
            f[r] = warp == 0 ? f_of(C[(size_t)p * 128 + (g + 8 * (r / 2)) * 8 + 2 * t + r % 2]) : 0;
        u32 base = (u32)__cvta_generic_to_shared(sb);
        u64 desc = (u64)((base & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#define WG(TY, TAIL)                                                                     \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." TY \
                 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, 1, 1" TAIL "; }"                 \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(desc))
        if (T == 0) WG("m64n8k16.f32.f16.f16", ", 0");
        if (T == 1) WG("m64n8k16.f32.bf16.bf16", ", 0");
        if (T == 2) WG("m64n8k8.f32.tf32.tf32", "");
        if (T == 3) WG("m64n8k32.f32.e4m3.e4m3", "");
        if (T == 4) WG("m64n8k32.f32.e5m2.e5m2", "");
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;"
                     : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])::"memory");
        if (warp == 0)
            for (int r = 0; r < 4; r++)
                D[(size_t)p * 128 + (g + 8 * (r / 2)) * 8 + 2 * t + r % 2] = u_of(f[r]);
    }
}
void part_wgmma() {
    const std::vector<Kind> kinds = {H16F, B16K, T8, E4, E5};
    std::vector<std::unique_ptr<Batch>> runs;
    std::vector<Fit> fits(kinds.size());
    for (size_t i = 0; i < kinds.size(); i++) {
        runs.emplace_back(new Batch(kinds[i], FIT_N));
        Batch &t = *runs.back();
        fit_fill(t);
        t.run();
        std::vector<u32> mma = t.D;
        Dev<u8> a(t.A), b(t.B);
        Dev<u32> c(t.C), d(t.C.size());
        if (i == 0) wgmma_run<0><<<60, 128>>>(a.p, b.p, c.p, d.p, t.n);
        if (i == 1) wgmma_run<1><<<60, 128>>>(a.p, b.p, c.p, d.p, t.n);
        if (i == 2) wgmma_run<2><<<60, 128>>>(a.p, b.p, c.p, d.p, t.n);
        if (i == 3) wgmma_run<3><<<60, 128>>>(a.p, b.p, c.p, d.p, t.n);
        if (i == 4) wgmma_run<4><<<60, 128>>>(a.p, b.p, c.p, d.p, t.n);
        LAUNCHED();
        d.get(t.D);
        long eq = 0, far = 0;
        double worst = 0;
        for (size_t k = 0; k < mma.size(); k++) {
            double x = f_of(t.D[k]), y = f_of(mma[k]), e = fabs(x - y);
            eq += t.D[k] == mma[k];
            worst = std::max(worst, e);
            far += e > 0.05 * std::max(fabs(x), fabs(y)) + 1e-3;
        }
        fact("c", (std::string("wgmma ") + t.f.name).c_str(),
             fmt("\"n\":%zu,\"equal_to_mma_sync\":%ld,\"far\":%ld,\"max_difference\":%.6g",
                 mma.size(), eq, far, worst)
                 .c_str(),
             fmt("n=%zu: same bits as mma.sync %ld, more than 5 %% away %ld (many: this test's "
                 "layout is wrong), greatest difference %.4g",
                 mma.size(), eq, far, worst)
                 .c_str());
    }
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kinds.size(); i++)
        threads.emplace_back([&, i] { fit(*runs[i], &fits[i]); });
    for (auto &t : threads) t.join();
    for (auto &x : fits) fact("c", ("wgmma " + x.name).c_str(), x.json.c_str(), x.text.c_str());
}
