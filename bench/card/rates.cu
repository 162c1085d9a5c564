// Rates, latencies and bandwidths of a Hopper card, for a cost model: rates OUT.json [SECTION...]
//
//     python3 wgmma.py >wgmma.cuh
//     nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o rates rates.cu
//
// Each section runs in a process of its own with a limit of seconds. Clocks are those of the SM.
// Kernels that must not be optimised away write their result under a condition that never holds.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "wgmma.cuh"

typedef unsigned long long u64;
typedef uint32_t u32;

// ---- reporting
static FILE *g_out;
static void say(const char *unit, double value, const char *format, ...) {
    char name[200];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    fprintf(g_out, "%s\t%.6g\t%s\n", name, value, unit);
    fflush(g_out);
}
#define CHECK(x)                                                              \
    do {                                                                      \
        cudaError_t code_ = (x);                                              \
        if (code_ != cudaSuccess) {                                           \
            fprintf(g_out, "FAILED line %d %s: %s\t0\terror\n", __LINE__, #x, \
                    cudaGetErrorString(code_));                               \
            fflush(g_out);                                                    \
            _exit(2);                                                         \
        }                                                                     \
    } while (0)

static int g_sms = 132;
static u64 *g_clocks;  // one number for each block
static u32 *g_sink;

static double median(std::vector<double> v) {
    if (v.empty()) return 0;
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

// The median over blocks of the clocks that the last launch took.
static double clocks(int blocks) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<u64> host(blocks);
    CHECK(cudaMemcpy(host.data(), g_clocks, blocks * 8, cudaMemcpyDeviceToHost));
    std::vector<double> v(host.begin(), host.end());
    return median(v);
}

// Seconds of a launch between events: the least of `times` after a first one.
template <class F>
static double seconds(F launch, int times = 3) {
    cudaEvent_t a, b;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    double least = 1e30;
    for (int i = 0; i <= times; i++) {
        CHECK(cudaEventRecord(a));
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(b));
        CHECK(cudaEventSynchronize(b));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, a, b));
        if (i) least = std::min(least, ms * 1e-3);
    }
    CHECK(cudaEventDestroy(a));
    CHECK(cudaEventDestroy(b));
    return least;
}

// ---- device helpers
__device__ __forceinline__ u32 hash(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}
// Two bf16 (or f16) of random sign and mantissa, 0.5 <= |x| < 2
__device__ __forceinline__ u32 halves(u32 x) { return (hash(x) & 0x80ff80ffu) | 0x3f003f00u; }
__device__ __forceinline__ u32 shared_address(const void *p) {
    return (u32)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ u64 now() {
    u64 t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}
struct Span {
    u64 start;
    __device__ __forceinline__ Span(u64 *least) {
        if (threadIdx.x == 0) least[0] = ~0ull, least[1] = 0;
        __syncthreads();
        start = now();
    }
    __device__ __forceinline__ void end(u64 *least, u64 *out) {
        u64 stop = now();
        atomicMin(&least[0], start);
        atomicMax(&least[1], stop);
        __syncthreads();
        if (threadIdx.x == 0) out[blockIdx.x] = least[1] - least[0];
    }
};

// ---- ALU and mma.sync rates
template <class Op>
__global__ void rate(u64 *out, int rounds, u32 seed, u32 *sink) {
    __shared__ u64 least[2];
    Op op;
    op.init(hash(seed + threadIdx.x * 97 + blockIdx.x * 65537));
    Span span(least);
#pragma unroll 1
    for (int i = 0; i < rounds; i++) op.step();
    span.end(least, out);
    u32 r = op.result();
    if (r == 0x9e3779b9u && seed == 0x1234567u) sink[0] = r;
}

#define UNARY(NAME, ASM)                                                                      \
    struct NAME {                                                                             \
        static constexpr int N = 128;                                                         \
        float x[8];                                                                           \
        __device__ __forceinline__ void init(u32 s) {                                         \
            for (int j = 0; j < 8; j++) x[j] = 0.5f + (hash(s + j) & 1023) * 0.001f;          \
        }                                                                                     \
        __device__ __forceinline__ void step() {                                              \
            _Pragma("unroll") for (int r = 0; r < 16; r++)                                    \
                _Pragma("unroll") for (int j = 0; j < 8; j++) asm volatile(ASM : "+f"(x[j])); \
        }                                                                                     \
        __device__ __forceinline__ u32 result() {                                             \
            float t = 0;                                                                      \
            for (int j = 0; j < 8; j++) t += x[j];                                            \
            return __float_as_uint(t);                                                        \
        }                                                                                     \
    };
UNARY(Ex2, "ex2.approx.ftz.f32 %0, %0;")
UNARY(Rcp, "{ .reg .f32 t; rcp.approx.ftz.f32 t, %0; add.ftz.f32 %0, t, 0f3F000000; }")
UNARY(Rsqrt, "rsqrt.approx.ftz.f32 %0, %0;")
UNARY(Lg2, "lg2.approx.ftz.f32 %0, %0;")
UNARY(Sqrt, "sqrt.approx.ftz.f32 %0, %0;")
UNARY(Tanh, "tanh.approx.f32 %0, %0;")
UNARY(Sin, "sin.approx.ftz.f32 %0, %0;")

#define INTEGER(NAME, ASM, ...)                                                              \
    struct NAME {                                                                            \
        static constexpr int N = 128;                                                        \
        u32 x[8], a, b;                                                                      \
        __device__ __forceinline__ void init(u32 s) {                                        \
            for (int j = 0; j < 8; j++) x[j] = halves(s + j);                                \
            a = halves(s + 9), b = halves(s + 10);                                           \
        }                                                                                    \
        __device__ __forceinline__ void step() {                                             \
            _Pragma("unroll") for (int r = 0; r < 16; r++)                                   \
                _Pragma("unroll") for (int j = 0; j < 8;                                     \
                                       j++) asm volatile(ASM : "+r"(x[j]) : "r"(a), "r"(b)); \
        }                                                                                    \
        __device__ __forceinline__ u32 result() {                                            \
            u32 t = 0;                                                                       \
            for (int j = 0; j < 8; j++) t ^= x[j];                                           \
            return t;                                                                        \
        }                                                                                    \
    };
#define REAL(NAME, ASM)                                                                      \
    struct NAME {                                                                            \
        static constexpr int N = 128;                                                        \
        float x[8], a, b;                                                                    \
        __device__ __forceinline__ void init(u32 s) {                                        \
            for (int j = 0; j < 8; j++) x[j] = 0.5f + (hash(s + j) & 1023) * 0.001f;         \
            a = 0.5f + (hash(s + 9) & 1023) * 0.0005f, b = (hash(s + 10) & 1023) * 0.001f;   \
        }                                                                                    \
        __device__ __forceinline__ void step() {                                             \
            _Pragma("unroll") for (int r = 0; r < 16; r++)                                   \
                _Pragma("unroll") for (int j = 0; j < 8;                                     \
                                       j++) asm volatile(ASM : "+f"(x[j]) : "f"(a), "f"(b)); \
        }                                                                                    \
        __device__ __forceinline__ u32 result() {                                            \
            float t = 0;                                                                     \
            for (int j = 0; j < 8; j++) t += x[j];                                           \
            return __float_as_uint(t);                                                       \
        }                                                                                    \
    };
REAL(Fma, "fma.rn.f32 %0, %0, %1, %2;")
REAL(Mul, "mul.rn.f32 %0, %0, %1;")
REAL(Add, "add.rn.f32 %0, %0, %1;")
REAL(Max, "{ .reg .f32 t; max.f32 t, %0, %1; min.f32 %0, t, %2; }")  // two instructions
INTEGER(Fma16x2, "fma.rn.f16x2 %0, %0, %1, %2;")
INTEGER(FmaBf16x2, "fma.rn.bf16x2 %0, %0, %1, %2;")
INTEGER(Ex2F16x2, "ex2.approx.f16x2 %0, %0;")
INTEGER(Mad, "mad.lo.s32 %0, %0, %1, %2;")
INTEGER(AddInt, "add.s32 %0, %0, %1;")
INTEGER(Lop3, "lop3.b32 %0, %0, %1, %2, 0x96;")
INTEGER(Shift, "shf.l.wrap.b32 %0, %0, %1, %2;")
INTEGER(Prmt, "prmt.b32 %0, %0, %1, %2;")
INTEGER(Select,
        "{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %0, %2, p; }")  // two instructions
INTEGER(CvtF16x2, "{ .reg .f32 t; mov.b32 t, %0; cvt.rn.f16x2.f32 %0, t, t; }")
INTEGER(CvtBf16x2, "{ .reg .f32 t; mov.b32 t, %0; cvt.rn.bf16x2.f32 %0, t, t; }")
INTEGER(CvtF32F16,
        "{ .reg .f32 t; .reg .b16 l, h; mov.b32 {l, h}, %0; cvt.f32.f16 t, l; mov.b32 %0, t; }")
INTEGER(CvtF32I32, "{ .reg .f32 t; cvt.rn.f32.s32 t, %0; mov.b32 %0, t; }")
INTEGER(CvtE4m3,
        "{ .reg .f32 t; .reg .b16 h; mov.b32 t, %0; cvt.rn.satfinite.e4m3x2.f32 h, t, t; mov.b32 "
        "%0, {h, h}; }")
INTEGER(Shfl, "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;")
INTEGER(Redux, "redux.sync.add.s32 %0, %0, 0xffffffff;")
INTEGER(Vote,
        "{ .reg .pred p, q; setp.lt.u32 p, %0, %1; vote.sync.any.pred q, p, 0xffffffff; selp.b32 "
        "%0, %1, %2, q; }")

struct FmaF64 {
    static constexpr int N = 128;
    double x[8], a, b;
    __device__ __forceinline__ void init(u32 s) {
        for (int j = 0; j < 8; j++) x[j] = 0.5 + (hash(s + j) & 1023) * 0.001;
        a = 0.7, b = 0.1 + (s & 7);
    }
    __device__ __forceinline__ void step() {
#pragma unroll
        for (int r = 0; r < 16; r++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x[j]) : "d"(a), "d"(b));
    }
    __device__ __forceinline__ u32 result() {
        double t = 0;
        for (int j = 0; j < 8; j++) t += x[j];
        return (u32)__double_as_longlong(t);
    }
};

#define MMA(NAME, ASM_, CTYPE, CON, CHAINS, REPEAT)                                       \
    struct NAME {                                                                         \
        static constexpr int N = CHAINS * REPEAT;                                         \
        CTYPE c[CHAINS][4];                                                               \
        u32 a[4], b[2];                                                                   \
        __device__ __forceinline__ void init(u32 s) {                                     \
            for (int j = 0; j < CHAINS; j++)                                              \
                for (int i = 0; i < 4; i++) c[j][i] = 0;                                  \
            for (int i = 0; i < 4; i++) a[i] = halves(s + i);                             \
            for (int i = 0; i < 2; i++) b[i] = halves(s + 8 + i);                         \
        }                                                                                 \
        __device__ __forceinline__ void step() {                                          \
            _Pragma("unroll") for (int r = 0; r < REPEAT; r++)                            \
                _Pragma("unroll") for (int j = 0; j < CHAINS; j++) asm volatile(          \
                    "mma.sync.aligned." ASM_ : "+" CON(c[j][0]), "+" CON(c[j][1]),        \
                    "+" CON(c[j][2]), "+" CON(c[j][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), \
                    "r"(a[3]), "r"(b[0]), "r"(b[1]));                                     \
        }                                                                                 \
        __device__ __forceinline__ u32 result() {                                         \
            CTYPE t = 0;                                                                  \
            for (int j = 0; j < CHAINS; j++)                                              \
                for (int i = 0; i < 4; i++) t += c[j][i];                                 \
            return (u32)t;                                                                \
        }                                                                                 \
    };
#define TAIL " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
MMA(MmaF16, "m16n8k16.row.col.f32.f16.f16.f32" TAIL, float, "f", 8, 4)
MMA(MmaBf16, "m16n8k16.row.col.f32.bf16.bf16.f32" TAIL, float, "f", 8, 4)
MMA(MmaTf32, "m16n8k8.row.col.f32.tf32.tf32.f32" TAIL, float, "f", 8, 4)
MMA(MmaS8, "m16n8k32.row.col.s32.s8.s8.s32" TAIL, int, "r", 8, 4)
// On sm_90 this is unpacking and two f16 products. The factors change, else ptxas unpacks them
// once.
struct MmaE4m3 {
    static constexpr int N = 16;
    float c[8][4];
    u32 a[8][4], b[8][2];
    __device__ __forceinline__ void init(u32 s) {
        for (int j = 0; j < 8; j++) {
            for (int i = 0; i < 4; i++) c[j][i] = 0, a[j][i] = hash(s + j * 8 + i) & 0xb7b7b7b7u;
            for (int i = 0; i < 2; i++) b[j][i] = hash(s + j * 8 + 4 + i) & 0xb7b7b7b7u;
        }
    }
    __device__ __forceinline__ void step() {
#pragma unroll
        for (int r = 0; r < 2; r++)
#pragma unroll
            for (int j = 0; j < 8; j++) {
                asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32" TAIL
                             : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
                             : "r"(a[j][0]), "r"(a[j][1]), "r"(a[j][2]), "r"(a[j][3]), "r"(b[j][0]),
                               "r"(b[j][1]));
                for (int i = 0; i < 4; i++)
                    asm volatile("xor.b32 %0, %0, %1;"
                                 : "+r"(a[j][i])
                                 : "r"(b[j][i & 1] & 0x07070707u));
            }
    }
    __device__ __forceinline__ u32 result() {
        float t = 0;
        for (int j = 0; j < 8; j++)
            for (int i = 0; i < 4; i++) t += c[j][i];
        return (u32)t;
    }
};
MMA(MmaF16One, "m16n8k16.row.col.f32.f16.f16.f32" TAIL, float, "f", 1, 32)
MMA(MmaBf16Two, "m16n8k16.row.col.f32.bf16.bf16.f32" TAIL, float, "f", 2, 16)
MMA(MmaBf16Four, "m16n8k16.row.col.f32.bf16.bf16.f32" TAIL, float, "f", 4, 8)
MMA(MmaTf32One, "m16n8k8.row.col.f32.tf32.tf32.f32" TAIL, float, "f", 1, 32)
MMA(MmaS8One, "m16n8k32.row.col.s32.s8.s8.s32" TAIL, int, "r", 1, 32)

// Lanes that one SM computes in a clock.
template <class Op>
static void alu(const char *name, double per = 1) {
    for (int warps : {4, 8, 16, 32}) {
        int rounds = 64;
        double least = 1e30;
        for (int k = 0; k < 3; k++) {
            rate<Op><<<g_sms, warps * 32>>>(g_clocks, rounds, 17 + k, g_sink);
            least = std::min(least, clocks(g_sms));
        }
        double instructions = (double)Op::N * per * rounds * warps;
        say("lanes/clk/SM", instructions * 32 / least, "alu %s warps %d", name, warps);
    }
}

template <class Op>
static void one_chain(const char *name, int per_step) {
    double least = 1e30;
    for (int k = 0; k < 3; k++) {
        rate<Op><<<1, 32>>>(g_clocks, 64, 17 + k, g_sink);
        least = std::min(least, clocks(1));
    }
    say("clk", least / (64.0 * per_step), "latency %s", name);
}

template <class Op>
static void mma(const char *name, double multiply_adds, int warps_most = 16) {
    for (int warps : {1, 4, 8, 16}) {
        if (warps > warps_most) break;
        int rounds = 128;
        double least = 1e30;
        for (int k = 0; k < 3; k++) {
            rate<Op><<<g_sms, warps * 32>>>(g_clocks, rounds, 17 + k, g_sink);
            least = std::min(least, clocks(g_sms));
        }
        double count = (double)Op::N * rounds * warps;
        say("clk/instr/SM", least / count, "mma.sync %s warps %d", name, warps);
        say("MAC/clk/SM", multiply_adds * count / least, "mma.sync %s warps %d rate", name, warps);
    }
}

static void section_alu() {
    alu<Fma>("fma.f32");
    alu<Mul>("mul.f32");
    alu<Add>("add.f32");
    alu<Max>("max+min.f32", 2);
    alu<Fma16x2>("fma.f16x2");
    alu<FmaBf16x2>("fma.bf16x2");
    alu<FmaF64>("fma.f64");
    alu<Ex2>("ex2.approx.ftz.f32");
    alu<Ex2F16x2>("ex2.approx.f16x2");
    alu<Rcp>("rcp.approx.ftz.f32 with an add");
    alu<Rsqrt>("rsqrt.approx.ftz.f32");
    alu<Lg2>("lg2.approx.ftz.f32");
    alu<Sqrt>("sqrt.approx.ftz.f32");
    alu<Tanh>("tanh.approx.f32");
    alu<Sin>("sin.approx.ftz.f32");
    alu<Mad>("mad.lo.s32");
    alu<AddInt>("iadd3", 0.5);
    alu<Lop3>("lop3.b32");
    alu<Shift>("shf.b32");
    alu<Prmt>("prmt.b32");
    alu<Select>("setp+selp", 2);
    alu<CvtF16x2>("cvt.rn.f16x2.f32");
    alu<CvtBf16x2>("cvt.rn.bf16x2.f32");
    alu<CvtF32F16>("cvt.f32.f16");
    alu<CvtF32I32>("cvt.f32.s32");
    alu<CvtE4m3>("cvt.e4m3x2.f32");
    alu<Shfl>("shfl.bfly");
    alu<Redux>("redux.add.s32");
    alu<Vote>("setp+vote+selp", 3);
}

static void section_mma() {
    mma<MmaF16>("f16 m16n8k16 8 chains", 16 * 8 * 16);
    mma<MmaBf16>("bf16 m16n8k16 8 chains", 16 * 8 * 16);
    mma<MmaBf16Four>("bf16 m16n8k16 4 chains", 16 * 8 * 16);
    mma<MmaBf16Two>("bf16 m16n8k16 2 chains", 16 * 8 * 16);
    mma<MmaTf32>("tf32 m16n8k8 8 chains", 16 * 8 * 8);
    mma<MmaS8>("s8 m16n8k32 8 chains", 16 * 8 * 32);
    mma<MmaE4m3>("e4m3 m16n8k32 8 chains", 16 * 8 * 32, 8);  // more warps have too few registers
    one_chain<MmaF16One>("mma.sync f16 m16n8k16", 32);
    one_chain<MmaTf32One>("mma.sync tf32 m16n8k8", 32);
    one_chain<MmaS8One>("mma.sync s8 m16n8k32", 32);
}

// ---- wgmma
__device__ __forceinline__ void wg_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wg_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N>
__device__ __forceinline__ void wg_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

enum { SS, RS, E4M3, TF32 };
template <int KIND, int NN>
__device__ __forceinline__ void product(float (&d)[NN / 2], const u32 (&a)[4], u64 da, u64 db) {
    if constexpr (KIND == E4M3) wgmma_e4m3_ss_256(d, da, db);
    if constexpr (KIND == TF32) wgmma_tf32_ss_256(d, da, db);
    if constexpr (KIND == SS && NN == 64) wgmma_bf16_ss_64(d, da, db);
    if constexpr (KIND == SS && NN == 128) wgmma_bf16_ss_128(d, da, db);
    if constexpr (KIND == SS && NN == 192) wgmma_bf16_ss_192(d, da, db);
    if constexpr (KIND == SS && NN == 256) wgmma_bf16_ss_256(d, da, db);
    if constexpr (KIND == RS && NN == 64) wgmma_bf16_rs_64(d, a, db);
    if constexpr (KIND == RS && NN == 128) wgmma_bf16_rs_128(d, a, db);
    if constexpr (KIND == RS && NN == 192) wgmma_bf16_rs_192(d, a, db);
    if constexpr (KIND == RS && NN == 256) wgmma_bf16_rs_256(d, a, db);
}

// B: two stages of 256 rows x 128 bytes; A: two stages a warpgroup of 64 rows x 128 bytes; 128-byte
// swizzle, K-major. WAIT 1: groups of four products, one group in flight; WAIT 0: each group of PER
// products waited for.
template <int KIND, int NN, int WAIT, int PER>
__global__ void __launch_bounds__(256, 1) wgmma_rate(u64 *out, int rounds, u32 seed, u32 *sink) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ u64 least[2];
    for (int i = threadIdx.x; i < (65536 + 32768) / 4; i += blockDim.x) {
        u32 h = hash(i + seed * 7919 + blockIdx.x * 104729);
        ((u32 *)memory)[i] = KIND == E4M3   ? (h & 0x87878787u) | 0x30303030u
                             : KIND == TF32 ? (h & 0x807fffffu) | 0x3f000000u
                                            : halves(i + seed * 31);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    u32 group = __shfl_sync(0xffffffffu, threadIdx.x >> 7, 0);
    u32 base = shared_address(memory);
    u64 high = (u64)0x40000040u << 32;
    u64 db = high | ((base >> 4) & 0x3fff);
    u64 da = high | (((base + 65536 + group * 16384) >> 4) & 0x3fff);
    float d[NN / 2];
    for (int i = 0; i < NN / 2; i++) d[i] = 0;
    u32 a[4];
    for (int i = 0; i < 4; i++) a[i] = halves(seed + threadIdx.x * 4 + i);
    Span span(least);
#pragma unroll 1
    for (int t = 0; t < rounds; t++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            wg_fence();
#pragma unroll
            for (int k = 0; k < PER; k++)
                product<KIND, NN>(d, a, da + half * 512 + (k & 3) * 2,
                                  db + half * 2048 + (k & 3) * 2);
            wg_commit();
            wg_wait<WAIT>();
        }
    }
    wg_wait<0>();
    span.end(least, out);
    float r = 0;
    for (int i = 0; i < NN / 2; i++) r += d[i];
    if (__float_as_uint(r) == 0x9e3779b9u && seed == 0x1234567u) sink[0] = 1;
}

static constexpr int WG_SHARED = 65536 + 32768;
template <int KIND, int NN, int WAIT, int PER>
static void wgmma_one(const char *name, int groups, double multiply_adds) {
    auto kernel = wgmma_rate<KIND, NN, WAIT, PER>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, WG_SHARED));
    int rounds = 100;
    double least = 1e30;
    for (int k = 0; k < 3; k++) {
        kernel<<<g_sms, groups * 128, WG_SHARED>>>(g_clocks, rounds, 17 + k, g_sink);
        least = std::min(least, clocks(g_sms));
    }
    double count = 2.0 * PER * rounds * groups;
    if (WAIT == 0) {
        say("clk", least / (2.0 * rounds), "wgmma %s groups of %d waited for, warpgroups %d", name,
            PER, groups);
    } else {
        say("clk/instr/SM", least / count, "wgmma %s warpgroups %d", name, groups);
        say("MAC/clk/SM", multiply_adds * count / least, "wgmma %s warpgroups %d rate", name,
            groups);
    }
}

template <int KIND, int NN>
static void wgmma_shape(const char *name, int k) {
    for (int groups : {1, 2}) wgmma_one<KIND, NN, 1, 4>(name, groups, 64.0 * NN * k);
}

static void section_wgmma() {
    wgmma_shape<SS, 64>("bf16 ss n64 k16", 16);
    wgmma_shape<SS, 128>("bf16 ss n128 k16", 16);
    wgmma_shape<SS, 192>("bf16 ss n192 k16", 16);
    wgmma_shape<SS, 256>("bf16 ss n256 k16", 16);
    wgmma_shape<RS, 64>("bf16 rs n64 k16", 16);
    wgmma_shape<RS, 128>("bf16 rs n128 k16", 16);
    wgmma_shape<RS, 256>("bf16 rs n256 k16", 16);
    wgmma_shape<E4M3, 256>("e4m3 ss n256 k32", 32);
    wgmma_shape<TF32, 256>("tf32 ss n256 k8", 8);
    for (int groups : {1, 2}) {
        wgmma_one<SS, 64, 0, 1>("bf16 ss n64", groups, 0);
        wgmma_one<SS, 128, 0, 1>("bf16 ss n128", groups, 0);
        wgmma_one<SS, 256, 0, 1>("bf16 ss n256", groups, 0);
        wgmma_one<SS, 256, 0, 4>("bf16 ss n256", groups, 0);
        wgmma_one<SS, 128, 0, 4>("bf16 ss n128", groups, 0);
        wgmma_one<SS, 128, 0, 8>("bf16 ss n128", groups, 0);
        wgmma_one<RS, 128, 0, 4>("bf16 rs n128", groups, 0);
    }
    // The clock under load, with half a second of products on all SMs.
    auto kernel = wgmma_rate<SS, 256, 1, 4>;
    int rounds = 60000;  // 8 products of 128 clocks for each of two groups: 0.07 s a launch
    for (int k = 0; k < 6; k++) {
        double s =
            seconds([&] { kernel<<<g_sms, 256, WG_SHARED>>>(g_clocks, rounds, 99, g_sink); }, 1);
        double c = clocks(g_sms);
        double flops = 2.0 * 64 * 256 * 16 * 8 * 2 * (double)rounds * g_sms;
        say("MHz", c / s * 1e-6, "clock under wgmma load, after %d launches", 2 * k + 2);
        say("TFLOP/s", flops / s * 1e-12, "wgmma bf16 ss n256 sustained, after %d launches",
            2 * k + 2);
    }
}

// ---- shared memory, barriers
template <int WIDTH>  // 0 ldmatrix.x4, 4 8 16 ld.shared; -4 -8 -16 st.shared; 1 stmatrix.x4
__global__ void shared_rate(u64 *out, int rounds, u32 seed, u32 *sink) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ u64 least[2];
    for (int i = threadIdx.x; i < 32768 / 4; i += blockDim.x) ((u32 *)memory)[i] = hash(i + seed);
    constexpr int lane_bytes = WIDTH == 0 || WIDTH == 1 ? 16 : WIDTH < 0 ? -WIDTH : WIDTH;
    u32 at = shared_address(memory) + (threadIdx.x & 31) * lane_bytes;
    u32 r[8][4];
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++) r[j][i] = hash(seed + j * 4 + i + threadIdx.x);
    u32 sum = 0;
    Span span(least);
#pragma unroll 1
    for (int t = 0; t < rounds; t++) {
        at ^= 4096;
#pragma unroll
        for (int q = 0; q < 4; q++) {
#pragma unroll
            for (int j = 0; j < 8; j++) {
                u32 to = at + (q & 1) * 8192 + j * 32 * lane_bytes;
                if constexpr (WIDTH == 0)
                    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                                 : "=r"(r[j][0]), "=r"(r[j][1]), "=r"(r[j][2]), "=r"(r[j][3])
                                 : "r"(to + (q >> 1) * 32 * 16 * 8)
                                 : "memory");
                if constexpr (WIDTH == 1)
                    asm volatile(
                        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0,%1,%2,%3};" ::"r"(
                            r[j][0]),
                        "r"(r[j][1]), "r"(r[j][2]), "r"(r[j][3]), "r"(to)
                        : "memory");
                if constexpr (WIDTH == 16)
                    asm volatile("ld.volatile.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                                 : "=r"(r[j][0]), "=r"(r[j][1]), "=r"(r[j][2]), "=r"(r[j][3])
                                 : "r"(to)
                                 : "memory");
                if constexpr (WIDTH == 8)
                    asm volatile("ld.volatile.shared.v2.b32 {%0,%1}, [%2];"
                                 : "=r"(r[j][0]), "=r"(r[j][1])
                                 : "r"(to)
                                 : "memory");
                if constexpr (WIDTH == 4)
                    asm volatile("ld.volatile.shared.b32 %0, [%1];"
                                 : "=r"(r[j][0])
                                 : "r"(to)
                                 : "memory");
                if constexpr (WIDTH == -16)
                    asm volatile("st.volatile.shared.v4.b32 [%4], {%0,%1,%2,%3};" ::"r"(r[j][0]),
                                 "r"(r[j][1]), "r"(r[j][2]), "r"(r[j][3]), "r"(to)
                                 : "memory");
                if constexpr (WIDTH == -8)
                    asm volatile("st.volatile.shared.v2.b32 [%2], {%0,%1};" ::"r"(r[j][0]),
                                 "r"(r[j][1]), "r"(to)
                                 : "memory");
                if constexpr (WIDTH == -4)
                    asm volatile("st.volatile.shared.b32 [%1], %0;" ::"r"(r[j][0]), "r"(to)
                                 : "memory");
            }
            if constexpr (WIDTH >= 0 && WIDTH != 1) {
#pragma unroll
                for (int j = 0; j < 8; j++)
                    for (int i = 0; i < (WIDTH == 8 ? 2 : WIDTH == 4 ? 1 : 4); i++) sum ^= r[j][i];
            }
        }
    }
    u32 s = sum;
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++) s ^= r[j][i];
    if (s == 0x9e3779b9u && seed == 0x1234567u) sink[0] = s;
    span.end(least, out);
}

template <int WIDTH>
static void shared_one(const char *name, int lane_bytes) {
    for (int warps : {1, 4, 8, 16, 32}) {
        int rounds = 64;
        double least = 1e30;
        for (int k = 0; k < 3; k++) {
            shared_rate<WIDTH><<<g_sms, warps * 32, 32768>>>(g_clocks, rounds, 17 + k, g_sink);
            least = std::min(least, clocks(g_sms));
        }
        say("B/clk/SM", 32.0 * rounds * warps * 32 * lane_bytes / least, "shared %s warps %d", name,
            warps);
    }
}

__global__ void barrier_cost(u64 *out, int rounds) {
    __shared__ u64 least[2];
    Span span(least);
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        __syncthreads();
        __syncthreads();
        __syncthreads();
        __syncthreads();
    }
    span.end(least, out);
}
__global__ void named_barrier_cost(u64 *out, int rounds) {  // each 128 threads have their own
    __shared__ u64 least[2];
    u32 id = (threadIdx.x >> 7) + 1;
    Span span(least);
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        asm volatile("barrier.sync %0, 128;" ::"r"(id) : "memory");
        asm volatile("barrier.sync %0, 128;" ::"r"(id) : "memory");
    }
    span.end(least, out);
}
template <bool RELAXED>
__global__ void __cluster_dims__(2, 1, 1) cluster_barrier_cost(u64 *out, int rounds) {
    __shared__ u64 least[2];
    Span span(least);
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        if (RELAXED)
            asm volatile(
                "barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;" ::
                    : "memory");
        else
            asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::
                             : "memory");
    }
    span.end(least, out);
}
// One warp arrives at an mbarrier of count 1 and waits for it: the cost of a step of a ring.
__global__ void mbarrier_cost(u64 *out, int rounds) {
    __shared__ u64 least[2];
    __shared__ __align__(8) u64 bar;
    u32 b = shared_address(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory");
    Span span(least);
    u32 parity = 0;
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == 0)
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(b) : "memory");
        asm volatile(
            "{\n.reg .pred p;\nL%=:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
            "L%=;\n}" ::"r"(b),
            "r"(parity)
            : "memory");
        parity ^= 1;
    }
    span.end(least, out);
}

static void section_shared() {
    shared_one<0>("ldmatrix.x4", 16);
    shared_one<1>("stmatrix.x4", 16);
    shared_one<16>("ld.v4", 16);
    shared_one<8>("ld.v2", 8);
    shared_one<4>("ld.b32", 4);
    shared_one<-16>("st.v4", 16);
    shared_one<-8>("st.v2", 8);
    shared_one<-4>("st.b32", 4);
    for (int threads : {32, 64, 128, 256, 512, 1024}) {
        barrier_cost<<<g_sms, threads>>>(g_clocks, 256);
        say("clk", clocks(g_sms) / 1024, "__syncthreads threads %d", threads);
    }
    for (int threads : {128, 256, 512, 1024}) {
        named_barrier_cost<<<g_sms, threads>>>(g_clocks, 256);
        say("clk", clocks(g_sms) / 512, "barrier.sync id,128 in a block of %d", threads);
    }
    cluster_barrier_cost<true><<<g_sms / 2 * 2, 256>>>(g_clocks, 256);
    say("clk", clocks(g_sms / 2 * 2) / 256, "barrier.cluster of 2 x 256 threads, relaxed");
    cluster_barrier_cost<false><<<g_sms / 2 * 2, 256>>>(g_clocks, 256);
    say("clk", clocks(g_sms / 2 * 2) / 256, "barrier.cluster of 2 x 256 threads");
    mbarrier_cost<<<g_sms, 32>>>(g_clocks, 256);
    say("clk", clocks(g_sms) / 256, "mbarrier arrive + try_wait, one warp");
}

// ---- latency
#define CHAIN(NAME, ASM)                                                                     \
    struct NAME {                                                                            \
        float x, a, b;                                                                       \
        __device__ __forceinline__ void init(u32 s) {                                        \
            x = 0.5f + (s & 1023) * 0.001f, a = 0.5f + (hash(s) & 1023) * 0.0005f, b = 0.1f; \
        }                                                                                    \
        __device__ __forceinline__ void step() {                                             \
            _Pragma("unroll") for (int r = 0; r < 64;                                        \
                                   r++) asm volatile(ASM : "+f"(x) : "f"(a), "f"(b));        \
        }                                                                                    \
        __device__ __forceinline__ u32 result() { return __float_as_uint(x); }               \
    };
CHAIN(FmaChain, "fma.rn.f32 %0, %0, %1, %2;")
CHAIN(Ex2Chain, "ex2.approx.ftz.f32 %0, %0;")
CHAIN(RcpChain, "{ .reg .f32 t; rcp.approx.ftz.f32 t, %0; add.ftz.f32 %0, t, %2; }")
CHAIN(MadChain,
      "{ .reg .b32 t, u, v; mov.b32 t, %0; mov.b32 u, %1; mov.b32 v, %2; mad.lo.s32 t, t, u, v; "
      "mov.b32 %0, t; }")
CHAIN(AddIntChain,
      "{ .reg .b32 t, u; mov.b32 t, %0; mov.b32 u, %1; add.s32 t, t, u; mov.b32 %0, t; }")
CHAIN(ShflChain,
      "{ .reg .b32 t; mov.b32 t, %0; shfl.sync.bfly.b32 t, t, 1, 31, 0xffffffff; mov.b32 %0, t; }")
CHAIN(CvtChain, "{ .reg .b32 t; cvt.rn.f16x2.f32 t, %0, %0; mov.b32 %0, t; }")

__global__ void chase_shared(u64 *out, int hops, u32 *sink) {
    __shared__ u32 next[1024];
    u32 base = shared_address(next);
    for (int i = threadIdx.x; i < 1024; i += 32) next[i] = base + ((i * 33 + 7) & 1023) * 4;
    __syncthreads();
    u32 p = base;
    u64 t0 = now();
#pragma unroll 16
    for (int i = 0; i < hops; i++) asm volatile("ld.shared.b32 %0, [%0];" : "+r"(p)::"memory");
    u32 keep = p;
    asm volatile("" ::"r"(keep) : "memory");
    if (p == 1) sink[0] = p;
    u64 t1 = now();
    if (threadIdx.x == 0) out[0] = t1 - t0;
}

// MODE 0: L1 allowed (ca), 1: L2 only (cg)
template <int MODE>
__global__ void chase(u64 start, u64 *out, int hops, u32 *sink) {
    u64 p = start;
    u64 t0 = now();
#pragma unroll 4
    for (int i = 0; i < hops; i++) {
        if (MODE == 0)
            asm volatile("ld.global.ca.b64 %0, [%0];" : "+l"(p)::"memory");
        else
            asm volatile("ld.global.cg.b64 %0, [%0];" : "+l"(p)::"memory");
    }
    if (p == 1) sink[0] = 1;  // waits for the last load
    u64 t1 = now();
    out[0] = t1 - t0;
    out[1] = p;
}

__global__ void link(u64 base, const u32 *order, u32 count, u64 stride, u64 lines) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        u64 from = base + (u64)order[i] * stride + (hash(order[i]) % lines) * 128;
        u64 to = base + (u64)order[(i + 1) % count] * stride +
                 (hash(order[(i + 1) % count]) % lines) * 128;
        *(u64 *)from = to;
    }
}
__global__ void link_self(u64 base, u32 count, u64 stride) {
    for (u32 i = threadIdx.x; i < count; i += blockDim.x)
        *(u64 *)(base + i * stride) = base + i * stride;
}

static std::vector<u32> shuffled(u32 count) {
    std::vector<u32> v(count);
    for (u32 i = 0; i < count; i++) v[i] = i;
    u64 s = 88172645463325252ull;
    for (u32 i = count - 1; i; i--) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        std::swap(v[i], v[s % (i + 1)]);
    }
    return v;
}

static char *g_flush;
static void flush_l2() {
    if (!g_flush) CHECK(cudaMalloc(&g_flush, 256 << 20));
    CHECK(cudaMemset(g_flush, 0x5a, 256 << 20));
}

// Clocks of a load in a chain over `count` nodes, each in its own piece of `stride` bytes.
static double chain_of(char *memory, u32 count, u64 stride, int hops, bool warm, bool l1) {
    auto order = shuffled(count);
    u32 *device;
    CHECK(cudaMalloc(&device, count * 4));
    CHECK(cudaMemcpy(device, order.data(), count * 4, cudaMemcpyHostToDevice));
    link<<<64, 256>>>((u64)memory, device, count, stride, stride / 128);
    CHECK(cudaDeviceSynchronize());
    u64 start;
    {
        u32 o = order[0];
        u32 x = o;  // hash() on the host
        x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
        start = (u64)memory + (u64)o * stride + (x % (stride / 128)) * 128;
    }
    flush_l2();
    double c = 0;
    for (int k = 0; k < (warm ? 2 : 1); k++) {
        if (l1)
            chase<0><<<1, 1>>>(start, g_clocks, hops, g_sink);
        else
            chase<1><<<1, 1>>>(start, g_clocks, hops, g_sink);
        c = clocks(1);
    }
    CHECK(cudaFree(device));
    return c / hops;
}

// One thread copies 16 bytes (cp.async) or `bytes` (bulk copy) and waits, at addresses that were
// not touched before
__global__ void async_latency(const char *memory, u64 stride, int count, u64 *out, u32 *sink) {
    __shared__ __align__(16) u32 to[4];
    u32 a = shared_address(to);
    u64 total = 0;
    for (int i = 0; i < count; i++) {
        u64 t0 = now();
        asm volatile(
            "cp.async.cg.shared.global [%0], [%1], 16;\n cp.async.commit_group;\n "
            "cp.async.wait_group 0;" ::"r"(a),
            "l"(memory + i * stride)
            : "memory");
        u64 t1 = now();
        total += t1 - t0;
    }
    out[0] = total;
    if (to[0] == 0x9e3779b9u && count == -1) sink[0] = 1;
}
__global__ void bulk_latency(const char *memory, u64 stride, int count, u32 bytes, u64 *out) {
    extern __shared__ __align__(1024) unsigned char to[];
    __shared__ __align__(8) u64 bar;
    u32 a = shared_address(to), b = shared_address(&bar);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n fence.mbarrier_init.release.cluster;" ::"r"(b)
                 : "memory");
    u64 total = 0;
    u32 parity = 0;
    for (int i = 0; i < count; i++) {
        u64 t0 = now();
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(bytes)
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(a),
            "l"(memory + i * stride), "r"(bytes), "r"(b)
            : "memory");
        asm volatile(
            "{\n.reg .pred p;\nL%=:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
            "L%=;\n}" ::"r"(b),
            "r"(parity)
            : "memory");
        u64 t1 = now();
        total += t1 - t0;
        parity ^= 1;
    }
    out[0] = total;
}

static void section_latency() {
    one_chain<FmaChain>("fma.f32", 64);
    one_chain<MadChain>("mad.lo.s32", 64);
    one_chain<AddIntChain>("iadd3", 32);
    one_chain<Ex2Chain>("ex2.approx", 64);
    one_chain<RcpChain>("rcp.approx + add", 64);
    one_chain<ShflChain>("shfl", 64);
    one_chain<CvtChain>("cvt.f16x2.f32", 64);
    chase_shared<<<1, 32>>>(g_clocks, 1024, g_sink);
    chase_shared<<<1, 32>>>(g_clocks, 1024, g_sink);
    say("clk", clocks(1) / 1024, "latency shared load");
    u64 big = 4ull << 30;
    char *memory;
    CHECK(cudaMalloc(&memory, big));
    say("clk", chain_of(memory, 64, 128, 1024, true, true), "latency L1 hit, 8 KB");
    say("clk", chain_of(memory, 1024, 128, 4096, true, true), "latency L1 hit, 128 KB");
    for (u64 kb : {512, 2048, 8192, 16384, 32768})
        say("clk", chain_of(memory, kb * 1024 / 512, 512, kb * 1024 / 512, true, false),
            "latency L2 hit, chain over %d KB", (int)kb);
    {  // one line at a time: near and far
        link_self<<<1, 256>>>((u64)memory, 512, 4096);
        CHECK(cudaDeviceSynchronize());
        std::vector<double> each;
        for (int i = 0; i < 256; i++) {
            chase<1><<<1, 1>>>((u64)memory + i * 4096ull, g_clocks, 64, g_sink);
            each.push_back(clocks(1) / 64);
        }
        std::sort(each.begin(), each.end());
        say("clk", each[0], "latency L2 hit, one line, least");
        say("clk", each[64], "latency L2 hit, one line, quarter");
        say("clk", each[128], "latency L2 hit, one line, median");
        say("clk", each[192], "latency L2 hit, one line, three quarters");
        say("clk", each[255], "latency L2 hit, one line, most");
    }
    say("clk", chain_of(memory, 2048, 32768, 2048, false, false),
        "latency DRAM, 64 MB, 2048 lines");
    say("clk", chain_of(memory, 4096, 262144, 4096, false, false),
        "latency DRAM, 1 GB, 4096 lines");
    say("clk", chain_of(memory, 8192, 524288, 8192, false, false),
        "latency DRAM, 4 GB, 8192 lines");
    flush_l2();
    async_latency<<<1, 1>>>(memory + 65536, 1048576 + 4096, 2000, g_clocks, g_sink);
    say("clk", clocks(1) / 2000, "latency cp.async 16 B from DRAM");
    async_latency<<<1, 1>>>(memory + 65536, 2048, 2000, g_clocks, g_sink);
    async_latency<<<1, 1>>>(memory + 65536, 2048, 2000, g_clocks, g_sink);
    say("clk", clocks(1) / 2000, "latency cp.async 16 B from L2");
    CHECK(cudaFuncSetAttribute(bulk_latency, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    for (int bytes : {128, 2048, 16384, 49152}) {
        flush_l2();
        bulk_latency<<<1, 1, 65536>>>(memory, 1048576 + 4096, 2000, bytes, g_clocks);
        say("clk", clocks(1) / 2000, "latency bulk copy of %d B from DRAM", bytes);
        bulk_latency<<<1, 1, 65536>>>(memory, 0, 2000, bytes, g_clocks);
        say("clk", clocks(1) / 2000, "latency bulk copy of %d B from L2", bytes);
    }
    CHECK(cudaFree(memory));
}

// ---- atomics
// KIND 0: red.add.u32, 1: red.add.f32, 2: atom.add.u32 (the value is used), 3: atom.add.f32, 4:
// red.add.noftz.f16x2, 5: red.v4.f32
template <int KIND>
__global__ void atomics(char *memory, u64 thread_stride, u64 block_stride, int rounds, u64 *out,
                        u32 *sink) {
    __shared__ u64 least[2];
    char *p = memory + threadIdx.x * thread_stride + blockIdx.x * block_stride;
    u32 v = 1;
    float f = 1.0f;
    Span span(least);
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if constexpr (KIND == 0)
                asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
            if constexpr (KIND == 1)
                asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(f) : "memory");
            if constexpr (KIND == 2)
                asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(v) : "l"(p) : "memory");
            if constexpr (KIND == 3)
                asm volatile("atom.global.add.f32 %0, [%1], %0;" : "+f"(f) : "l"(p) : "memory");
            if constexpr (KIND == 4)
                asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(p), "r"(0x3c003c00u)
                             : "memory");
            if constexpr (KIND == 5)
                asm volatile("red.global.add.v4.f32 [%0], {%1,%1,%1,%1};" ::"l"(p), "f"(f)
                             : "memory");
        }
    }
    if (v == 0x9e3779b9u && f == 3.5f && rounds == -1) sink[0] = 1;
    span.end(least, out);
}

template <int KIND>
static void atomic_one(const char *name, char *memory) {
    int rounds = 32;
    u64 wide = KIND == 5 ? 16 : 4;
    struct {
        const char *what;
        int blocks, threads;
        u64 ts, bs;
    } cases[] = {
        {"one thread", 1, 1, 0, 0},
        {"same address, one warp", 1, 32, 0, 0},
        {"same address, all SMs, one thread each", g_sms, 1, 0, 0},
        {"same address, all SMs, one warp each", g_sms, 32, 0, 0},
        {"own addresses, one warp", 1, 32, wide, 0},
        {"an address a block, all SMs, 256 threads each", g_sms, 256, 0, 4096},
        {"own addresses, all SMs, 256 threads each", g_sms, 256, wide, 256 * wide},
        {"own addresses, all SMs, 1024 threads each", g_sms, 1024, wide, 1024 * wide},
    };
    for (auto &c : cases) {
        double s = seconds(
            [&] {
                atomics<KIND>
                    <<<c.blocks, c.threads>>>(memory, c.ts, c.bs, rounds, g_clocks, g_sink);
            },
            2);
        double k = clocks(c.blocks);
        double lanes = (double)c.blocks * c.threads * rounds * 4;
        say("clk/instr", k / (rounds * 4.0), "atomic %s %s", name, c.what);
        if (c.blocks > 1)
            say("ns/lane", s * 1e9 / lanes, "atomic %s %s, time over all lanes", name, c.what);
    }
}

static void section_atomics() {
    char *memory;
    CHECK(cudaMalloc(&memory, 64 << 20));
    CHECK(cudaMemset(memory, 0, 64 << 20));
    atomic_one<0>("red.u32", memory);
    atomic_one<1>("red.f32", memory);
    atomic_one<2>("atom.u32", memory);
    atomic_one<3>("atom.f32", memory);
    atomic_one<4>("red.f16x2", memory);
    atomic_one<5>("red.v4.f32", memory);
}

// ---- global bandwidth
// Every block reads chunks of blockDim * U vectors, one after the other; U loads of a thread are in
// flight
template <int BYTES, int U, bool CG>
__global__ void reading(const char *memory, u64 bytes, int rounds, u32 *sink) {
    u32 s = 0;
    u64 chunk = (u64)blockDim.x * BYTES * U;
    for (int r = 0; r < rounds; r++) {
#pragma unroll 1
        for (u64 at = blockIdx.x * chunk; at + chunk <= bytes; at += gridDim.x * chunk) {
            const char *p = memory + at + threadIdx.x * BYTES;
            u32 v[U][4];
#pragma unroll
            for (int j = 0; j < U; j++) {
                const char *q = p + (u64)j * blockDim.x * BYTES;
                if constexpr (BYTES == 16 && !CG)
                    asm volatile("ld.global.L1::no_allocate.v4.b32 {%0,%1,%2,%3}, [%4];"
                                 : "=r"(v[j][0]), "=r"(v[j][1]), "=r"(v[j][2]), "=r"(v[j][3])
                                 : "l"(q)
                                 : "memory");
                if constexpr (BYTES == 16 && CG)
                    asm volatile("ld.global.cg.v4.b32 {%0,%1,%2,%3}, [%4];"
                                 : "=r"(v[j][0]), "=r"(v[j][1]), "=r"(v[j][2]), "=r"(v[j][3])
                                 : "l"(q)
                                 : "memory");
                if constexpr (BYTES == 8)
                    asm volatile("ld.global.L1::no_allocate.v2.b32 {%0,%1}, [%2];"
                                 : "=r"(v[j][0]), "=r"(v[j][1])
                                 : "l"(q)
                                 : "memory");
                if constexpr (BYTES == 4)
                    asm volatile("ld.global.L1::no_allocate.b32 %0, [%1];"
                                 : "=r"(v[j][0])
                                 : "l"(q)
                                 : "memory");
            }
#pragma unroll
            for (int j = 0; j < U; j++)
                for (int i = 0; i < BYTES / 4; i++)
                    asm volatile("xor.b32 %0, %0, %1;" : "+r"(s) : "r"(v[j][i]) : "memory");
        }
    }
    if (s == 0x9e3779b9u && rounds == -7) sink[0] = s;
}
template <int BYTES>
__global__ void writing(char *memory, u64 bytes) {
    u32 h = hash(threadIdx.x + blockIdx.x * 1024);
    u64 chunk = (u64)blockDim.x * BYTES;
    for (u64 at = blockIdx.x * chunk; at + chunk <= bytes; at += gridDim.x * chunk) {
        char *p = memory + at + threadIdx.x * BYTES;
        if constexpr (BYTES == 16)
            asm volatile("st.global.v4.b32 [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(h) : "memory");
        if constexpr (BYTES == 8)
            asm volatile("st.global.v2.b32 [%0], {%1,%1};" ::"l"(p), "r"(h) : "memory");
        if constexpr (BYTES == 4)
            asm volatile("st.global.b32 [%0], %1;" ::"l"(p), "r"(h) : "memory");
    }
}
__global__ void copying(const uint4 *from, uint4 *to, u64 count) {
    u64 step = (u64)gridDim.x * blockDim.x;
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    for (; i + 3 * step < count; i += 4 * step) {
        uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        to[i] = a, to[i + step] = b, to[i + 2 * step] = c, to[i + 3 * step] = d;
    }
    for (; i < count; i += step) to[i] = from[i];
}

template <int U>
static void in_flight(const char *memory, u64 bytes) {
    for (int warps : {1, 2, 4, 8, 16, 32}) {
        u64 size = warps * U <= 2 ? bytes / 4 : bytes;
        double s = seconds(
            [&] { reading<16, U, false><<<g_sms, warps * 32>>>(memory, size, 1, g_sink); }, 2);
        say("GB/s", size / s * 1e-9, "dram 16 B a lane, warps %d an SM, %d in flight (%d B an SM)",
            warps, U, warps * U * 512);
    }
}

// A ring of bulk copies: one thread issues them and waits for them.
__global__ void bulk_ring(const char *memory, u64 bytes, u32 piece, u32 slots, u32 *sink) {
    extern __shared__ __align__(1024) unsigned char to[];
    __shared__ __align__(8) u64 bars[32];
    if (threadIdx.x) return;
    u32 a = shared_address(to), b = shared_address(bars);
    for (u32 i = 0; i < slots; i++)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b + 8 * i) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    u64 count = bytes / piece,
        mine = blockIdx.x < count ? (count - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
    u64 issued = 0;
    auto issue = [&](u64 i) {
        u32 s = i % slots;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b + 8 * s),
                     "r"(piece)
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(a + s * piece),
            "l"(memory + (blockIdx.x + i * gridDim.x) * piece), "r"(piece), "r"(b + 8 * s)
            : "memory");
    };
    for (; issued < slots && issued < mine; issued++) issue(issued);
    for (u64 i = 0; i < mine; i++) {
        u32 s = i % slots, parity = (i / slots) & 1;
        asm volatile(
            "{\n.reg .pred p;\nL%=:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
            "L%=;\n}" ::"r"(b + 8 * s),
            "r"(parity)
            : "memory");
        if (issued < mine) issue(issued++);
    }
    if (to[0] == 77 && bytes == 1) sink[0] = 1;
}

static void section_dram() {
    u64 bytes = 1ull << 30;
    char *memory, *other;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMalloc(&other, bytes));
    writing<16><<<g_sms * 8, 256>>>(memory, bytes);
    CHECK(cudaDeviceSynchronize());
    for (int blocks : {1, 2}) {
        double s = seconds(
            [&] { reading<16, 4, false><<<g_sms * blocks, 1024>>>(memory, bytes, 1, g_sink); });
        say("GB/s", bytes / s * 1e-9, "dram read 16 B a lane, %d threads an SM, 4 in flight",
            blocks * 1024);
        s = seconds(
            [&] { reading<8, 4, false><<<g_sms * blocks, 1024>>>(memory, bytes, 1, g_sink); });
        say("GB/s", bytes / s * 1e-9, "dram read 8 B a lane, %d threads an SM, 4 in flight",
            blocks * 1024);
        s = seconds(
            [&] { reading<4, 4, false><<<g_sms * blocks, 1024>>>(memory, bytes, 1, g_sink); });
        say("GB/s", bytes / s * 1e-9, "dram read 4 B a lane, %d threads an SM, 4 in flight",
            blocks * 1024);
        s = seconds(
            [&] { reading<4, 1, false><<<g_sms * blocks, 1024>>>(memory, bytes, 1, g_sink); });
        say("GB/s", bytes / s * 1e-9, "dram read 4 B a lane, %d threads an SM, 1 in flight",
            blocks * 1024);
        s = seconds([&] { writing<16><<<g_sms * blocks, 1024>>>(memory, bytes); });
        say("GB/s", bytes / s * 1e-9, "dram write 16 B a lane, %d threads an SM", blocks * 1024);
        s = seconds([&] { writing<4><<<g_sms * blocks, 1024>>>(memory, bytes); });
        say("GB/s", bytes / s * 1e-9, "dram write 4 B a lane, %d threads an SM", blocks * 1024);
        s = seconds([&] {
            copying<<<g_sms * blocks, 1024>>>((uint4 *)memory, (uint4 *)other, bytes / 16);
        });
        say("GB/s", 2.0 * bytes / s * 1e-9, "dram copy (read + written), %d threads an SM",
            blocks * 1024);
    }
    double s = seconds([&] { cudaMemcpyAsync(other, memory, bytes, cudaMemcpyDeviceToDevice); });
    say("GB/s", 2.0 * bytes / s * 1e-9, "cudaMemcpy device to device (read + written)");
    in_flight<1>(memory, bytes);
    in_flight<2>(memory, bytes);
    in_flight<4>(memory, bytes);
    in_flight<8>(memory, bytes);
    CHECK(cudaFuncSetAttribute(bulk_ring, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    struct {
        int piece, slots;
    } rings[] = {{2048, 4},  {2048, 16}, {4096, 4},  {8192, 4},
                 {16384, 2}, {16384, 4}, {16384, 8}, {49152, 4}};
    for (auto r : rings) {
        s = seconds(
            [&] { bulk_ring<<<g_sms, 32, 200 << 10>>>(memory, bytes, r.piece, r.slots, g_sink); },
            2);
        say("GB/s", bytes / s * 1e-9, "dram bulk copies of %d B, %d in flight an SM", r.piece,
            r.slots);
    }
}

static void section_l2() {
    char *memory;
    CHECK(cudaMalloc(&memory, 64 << 20));
    writing<16><<<g_sms * 8, 256>>>(memory, 64 << 20);
    CHECK(cudaDeviceSynchronize());
    for (int mb : {16, 24, 32, 40, 48}) {
        // A whole number of rounds of all blocks, so that their parts are equal.
        u64 chunk = 1024ull * 16 * 4 * g_sms;
        u64 bytes = (u64)(mb << 20) / chunk * chunk;
        if (!bytes) bytes = chunk;
        int rounds = (int)((1ull << 31) / bytes);
        double s = seconds(
            [&] { reading<16, 4, true><<<g_sms, 1024>>>(memory, bytes, rounds, g_sink); }, 2);
        say("GB/s", (double)bytes * rounds / s * 1e-9,
            "l2 read 16 B a lane, %.1f MB, 1024 threads an SM, 4 in flight", bytes / 1048576.0);
    }
    u64 chunk = 1024ull * 16 * 4 * g_sms, bytes = (16ull << 20) / chunk * chunk;
    double s =
        seconds([&] { reading<16, 4, true><<<g_sms * 2, 1024>>>(memory, bytes, 128, g_sink); }, 2);
    say("GB/s", (double)bytes * 128 / s * 1e-9,
        "l2 read 16 B a lane, %.1f MB, 2048 threads an SM, 4 in flight", bytes / 1048576.0);
    s = seconds([&] { reading<16, 8, true><<<g_sms, 512>>>(memory, bytes, 128, g_sink); }, 2);
    say("GB/s", (double)bytes * 128 / s * 1e-9,
        "l2 read 16 B a lane, %.1f MB, 512 threads an SM, 8 in flight", bytes / 1048576.0);
    for (int warps : {1, 2, 4, 8, 16}) {
        u64 c = warps * 32ull * 16 * 4 * g_sms, b = (16ull << 20) / c * c;
        s = seconds([&] { reading<16, 4, true><<<g_sms, warps * 32>>>(memory, b, 32, g_sink); }, 2);
        say("GB/s", (double)b * 32 / s * 1e-9, "l2 read 16 B a lane, warps %d an SM, 4 in flight",
            warps);
    }
    CHECK(cudaFuncSetAttribute(bulk_ring, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    struct {
        int piece, slots;
    } rings[] = {{2048, 16}, {16384, 4}, {16384, 8}, {32768, 6}};
    for (auto r : rings) {  // the same 16 MB again and again: each launch reads it once, after one
                            // launch that brings it into L2
        u64 c = (u64)r.piece * g_sms, b = (24ull << 20) / c * c;
        s = seconds(
            [&] {
                for (int k = 0; k < 8; k++)
                    bulk_ring<<<g_sms, 32, 200 << 10>>>(memory, b, r.piece, r.slots, g_sink);
            },
            2);
        say("GB/s", (double)b * 8 / s * 1e-9,
            "l2 bulk copies of %d B, %d in flight an SM (8 launches)", r.piece, r.slots);
    }
    // Stores that stay in L2.
    s = seconds(
        [&] {
            for (int k = 0; k < 8; k++) writing<16><<<g_sms * 2, 1024>>>(memory, 16 << 20);
        },
        2);
    say("GB/s", 8.0 * (16 << 20) / s * 1e-9, "l2 write 16 B a lane, 16 MB (8 launches)");
}

// ---- launches, clock
__global__ void nothing() {}
__global__ void spin(u64 *out, u64 span) {
    u64 g0, g1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g0)::"memory");
    u64 c0 = now();
    u64 c1;
    do c1 = now();
    while (c1 - c0 < span);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g1)::"memory");
    out[0] = (c1 - c0) * 1000 / (g1 - g0 ? g1 - g0 : 1);
}
static double wall() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static void section_launch() {
    int value;
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, 0));
    say("", prop.multiProcessorCount, "SMs of %s", prop.name);
    say("MB", prop.l2CacheSize / 1048576.0, "L2 size");
    say("GB", prop.totalGlobalMem / 1e9, "memory");
    say("B", prop.sharedMemPerBlockOptin, "shared memory of a block at most");
    if (cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0) == cudaSuccess)
        say("MHz", value * 1e-3, "SM clock, attribute");
    if (cudaDeviceGetAttribute(&value, cudaDevAttrMemoryClockRate, 0) == cudaSuccess)
        say("MHz", value * 1e-3, "memory clock, attribute");
    if (cudaDeviceGetAttribute(&value, cudaDevAttrGlobalMemoryBusWidth, 0) == cudaSuccess)
        say("bit", value, "memory bus");
    for (int k = 0; k < 3; k++) {
        spin<<<1, 1>>>(g_clocks, 20000000);
        say("MHz", clocks(1), "clock of a spinning thread");
    }
    for (int k = 0; k < 100; k++) nothing<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    for (int blocks : {1, g_sms}) {
        double t = wall();
        for (int k = 0; k < 2000; k++) nothing<<<blocks, 128>>>();
        double issued = wall() - t;
        CHECK(cudaDeviceSynchronize());
        say("us", (wall() - t) / 2000 * 1e6, "launch back to back, %d blocks", blocks);
        say("us", issued / 2000 * 1e6, "launch back to back, %d blocks, the host's part", blocks);
        std::vector<double> each;
        for (int k = 0; k < 200; k++) {
            t = wall();
            nothing<<<blocks, 128>>>();
            cudaDeviceSynchronize();
            each.push_back(wall() - t);
        }
        say("us", median(each) * 1e6, "launch and wait, %d blocks", blocks);
    }
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < 500; k++) nothing<<<g_sms, 128, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 2; k++) {
        double t = wall();
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        if (k) say("us", (wall() - t) / 500 * 1e6, "kernel in a graph of 500, %d blocks", g_sms);
    }
}

// ---- sections in processes
struct Section {
    const char *name;
    void (*work)();
    int limit;
};
static const Section SECTIONS[] = {
    {"launch", section_launch, 8},
    {"wgmma", section_wgmma, 10},
    {"mma", section_mma, 8},
    {"alu", section_alu, 10},
    {"shared", section_shared, 8},
    {"dram", section_dram, 10},
    {"l2", section_l2, 8},
    {"latency", section_latency, 12},
    {"atomics", section_atomics, 10},
};

struct Row {
    std::string section, name, unit;
    double value;
};
static std::vector<Row> g_rows;
static std::vector<std::pair<std::string, std::string>> g_ends;

static std::string quoted(const std::string &s) {
    std::string t = "\"";
    for (char c : s) {
        if (c == '"' || c == '\\') t += '\\';
        if ((unsigned char)c >= 32) t += c;
    }
    return t + "\"";
}
static void save(const char *path) {
    std::string fresh = std::string(path) + ".new";
    FILE *f = fopen(fresh.c_str(), "w");
    if (!f) return;
    fprintf(f, "{\"rows\": [\n");
    for (size_t i = 0; i < g_rows.size(); i++)
        fprintf(f, "%s{\"section\": %s, \"name\": %s, \"value\": %.6g, \"unit\": %s}",
                i ? ",\n" : "", quoted(g_rows[i].section).c_str(), quoted(g_rows[i].name).c_str(),
                std::isfinite(g_rows[i].value) ? g_rows[i].value : -1.0,
                quoted(g_rows[i].unit).c_str());
    fprintf(f, "\n], \"sections\": [\n");
    for (size_t i = 0; i < g_ends.size(); i++)
        fprintf(f, "%s{\"section\": %s, \"end\": %s}", i ? ",\n" : "",
                quoted(g_ends[i].first).c_str(), quoted(g_ends[i].second).c_str());
    fprintf(f, "\n]}\n");
    fclose(f);
    rename(fresh.c_str(), path);
}

static void section(const Section &s, const char *path) {
    int ends[2];
    if (pipe(ends)) return;
    fflush(stdout);
    double begin = wall();
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        g_out = fdopen(ends[1], "w");
        CHECK(cudaSetDevice(0));
        CHECK(cudaFree(0));
        CHECK(cudaDeviceGetAttribute(&g_sms, cudaDevAttrMultiProcessorCount, 0));
        CHECK(cudaMalloc(&g_clocks, 1 << 16));
        CHECK(cudaMalloc(&g_sink, 1 << 12));
        s.work();
        CHECK(cudaDeviceSynchronize());
        fflush(g_out);
        _exit(0);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::string text;
    bool killed = false, open = true;
    int status = 0;
    std::string end;
    while (true) {
        if (open) {
            struct pollfd p = {ends[0], POLLIN, 0};
            poll(&p, 1, 20);
            char buffer[4096];
            ssize_t n;
            while ((n = read(ends[0], buffer, sizeof buffer)) > 0) text.append(buffer, n);
            if (n == 0) open = false;
        } else {
            usleep(5000);
        }
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid) {
            char buffer[4096];
            ssize_t n;
            while (open && (n = read(ends[0], buffer, sizeof buffer)) > 0) text.append(buffer, n);
            end = killed                ? "killed at its limit"
                  : WIFSIGNALED(status) ? "signal"
                  : WEXITSTATUS(status) ? "failed"
                                        : "ok";
            break;
        }
        if (!killed && wall() - begin > s.limit) kill(pid, SIGKILL), killed = true;
        if (killed && wall() - begin > s.limit + 5) {
            end = "killed, does not end";
            break;
        }
    }
    close(ends[0]);
    size_t at = 0;
    while (at < text.size()) {
        size_t stop = text.find('\n', at);
        if (stop == std::string::npos) break;
        std::string line = text.substr(at, stop - at);
        at = stop + 1;
        size_t a = line.find('\t'), b = a == std::string::npos ? a : line.find('\t', a + 1);
        if (b == std::string::npos) continue;
        Row r = {s.name, line.substr(0, a), line.substr(b + 1), atof(line.c_str() + a + 1)};
        g_rows.push_back(r);
        printf("%-72s %12.5g %s\n", r.name.c_str(), r.value, r.unit.c_str());
    }
    char took[64];
    snprintf(took, sizeof took, "%s, %.2f s", end.c_str(), wall() - begin);
    printf("-- %s: %s\n", s.name, took);
    fflush(stdout);
    g_ends.push_back({s.name, took});
    save(path);
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "rates OUT.json [SECTION...]\n");
        return 2;
    }
    setvbuf(stdout, nullptr, _IOLBF, 0);
    for (const Section &s : SECTIONS) {
        bool wanted = count == 2;
        for (int i = 2; i < count; i++) wanted |= !strcmp(words[i], s.name);
        if (wanted) section(s, words[1]);
    }
    return 0;
}
