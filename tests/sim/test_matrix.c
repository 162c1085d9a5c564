// mma, ldmatrix, stmatrix, movmatrix: positions of the ISA's fragment figures, written out here
// shape by shape, and exact sums.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "tests/support/warp.h"

enum { LANES = 32, DEPTH = 64 };

// Row and column of element i of a lane's fragment, as the figures say it.
typedef void Place(int lane, int i, int *row, int *column);
static void a_m16n8k16(int l, int i, int *r, int *c) {  // 16-bit
    *r = (i < 2 || (i >= 4 && i < 6)) ? l >> 2 : (l >> 2) + 8;
    *c = i < 4 ? (l & 3) * 2 + (i & 1) : (l & 3) * 2 + (i & 1) + 8;
}
static void b_k16(int l, int i, int *r, int *c) {
    *r = i < 2 ? (l & 3) * 2 + (i & 1) : (l & 3) * 2 + (i & 1) + 8, *c = l >> 2;
}
static void a_m16n8k8(int l, int i, int *r, int *c) {
    *r = i < 2 ? l >> 2 : (l >> 2) + 8, *c = (l & 3) * 2 + (i & 1);
}
static void b_k8(int l, int i, int *r, int *c) { *r = (l & 3) * 2 + i, *c = l >> 2; }
static void a_tf32_k8(int l, int i, int *r, int *c) {
    *r = i == 0 || i == 2 ? l >> 2 : (l >> 2) + 8, *c = i < 2 ? l & 3 : (l & 3) + 4;
}
static void b_tf32_k8(int l, int i, int *r, int *c) { *r = i ? (l & 3) + 4 : l & 3, *c = l >> 2; }
static void a_tf32_k4(int l, int i, int *r, int *c) { *r = i ? (l >> 2) + 8 : l >> 2, *c = l & 3; }
static void b_tf32_k4(int l, int i, int *r, int *c) { (void)i, *r = l & 3, *c = l >> 2; }
static void a_8_k32(int l, int i, int *r, int *c) {
    *r = (i < 4 || (i >= 8 && i < 12)) ? l >> 2 : (l >> 2) + 8;
    *c = i < 8 ? (l & 3) * 4 + (i & 3) : (l & 3) * 4 + (i & 3) + 16;
}
static void b_8_k32(int l, int i, int *r, int *c) {
    *r = i < 4 ? (l & 3) * 4 + (i & 3) : (l & 3) * 4 + (i & 3) + 16, *c = l >> 2;
}
static void a_8_k16(int l, int i, int *r, int *c) {
    *r = i < 4 ? l >> 2 : (l >> 2) + 8, *c = (l & 3) * 4 + (i & 3);
}
static void b_8_k16(int l, int i, int *r, int *c) { *r = (l & 3) * 4 + i, *c = l >> 2; }
static void a_m8_k16(int l, int i, int *r, int *c) { *r = l >> 2, *c = (l & 3) * 4 + i; }
static void a_f64_m8(int l, int i, int *r, int *c) { (void)i, *r = l >> 2, *c = l & 3; }
static void b_f64_k4(int l, int i, int *r, int *c) { (void)i, *r = l & 3, *c = l >> 2; }
static void a_f64_k8(int l, int i, int *r, int *c) { a_tf32_k8(l, i, r, c); }
static void b_f64_k8(int l, int i, int *r, int *c) { b_tf32_k8(l, i, r, c); }
static void a_f64_k16(int l, int i, int *r, int *c) {
    *r = i & 1 ? (l >> 2) + 8 : l >> 2, *c = (l & 3) + 4 * (i / 2);
}
static void b_f64_k16(int l, int i, int *r, int *c) { *r = (l & 3) + 4 * i, *c = l >> 2; }
static void c_m16(int l, int i, int *r, int *c) {
    *r = i < 2 ? l >> 2 : (l >> 2) + 8, *c = (l & 3) * 2 + (i & 1);
}
static void c_m8(int l, int i, int *r, int *c) { *r = l >> 2, *c = (l & 3) * 2 + (i & 1); }

typedef struct Shape {
    const char *name, *arch;
    int m, k;
    Dtype a, b, c, d;
    bool tf32;
    Place *pa, *pb, *pc;
    int na, nb, nc;
} Shape;
static const Shape shapes[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", "sm_80", 16, 16, DTYPE_F16, DTYPE_F16, DTYPE_F32,
     DTYPE_F32, false, a_m16n8k16, b_k16, c_m16, 8, 4, 4},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", "sm_80", 16, 16, DTYPE_BF16, DTYPE_BF16, DTYPE_F32,
     DTYPE_F32, false, a_m16n8k16, b_k16, c_m16, 8, 4, 4},
    {"m16n8k16.row.col.f16.f16.f16.f16", "sm_80", 16, 16, DTYPE_F16, DTYPE_F16, DTYPE_F16,
     DTYPE_F16, false, a_m16n8k16, b_k16, c_m16, 8, 4, 4},
    {"m16n8k8.row.col.f32.f16.f16.f32", "sm_75", 16, 8, DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_F32,
     false, a_m16n8k8, b_k8, c_m16, 4, 2, 4},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", "sm_80", 16, 8, DTYPE_BF16, DTYPE_BF16, DTYPE_F32,
     DTYPE_F32, false, a_m16n8k8, b_k8, c_m16, 4, 2, 4},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", "sm_80", 16, 8, DTYPE_F32, DTYPE_F32, DTYPE_F32,
     DTYPE_F32, true, a_tf32_k8, b_tf32_k8, c_m16, 4, 2, 4},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", "sm_80", 16, 4, DTYPE_F32, DTYPE_F32, DTYPE_F32,
     DTYPE_F32, true, a_tf32_k4, b_tf32_k4, c_m16, 2, 1, 4},
    {"m16n8k32.row.col.s32.s8.s8.s32", "sm_80", 16, 32, DTYPE_I8, DTYPE_I8, DTYPE_I32, DTYPE_I32,
     false, a_8_k32, b_8_k32, c_m16, 16, 8, 4},
    {"m16n8k32.row.col.s32.u8.s8.s32", "sm_80", 16, 32, DTYPE_U8, DTYPE_I8, DTYPE_I32, DTYPE_I32,
     false, a_8_k32, b_8_k32, c_m16, 16, 8, 4},
    {"m16n8k16.row.col.s32.s8.u8.s32", "sm_80", 16, 16, DTYPE_I8, DTYPE_U8, DTYPE_I32, DTYPE_I32,
     false, a_8_k16, b_8_k16, c_m16, 8, 4, 4},
    {"m8n8k16.row.col.s32.s8.s8.s32", "sm_75", 8, 16, DTYPE_I8, DTYPE_I8, DTYPE_I32, DTYPE_I32,
     false, a_m8_k16, b_8_k16, c_m8, 4, 4, 2},
    {"m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_89", 16, 32, DTYPE_F8E4M3, DTYPE_F8E4M3, DTYPE_F32,
     DTYPE_F32, false, a_8_k32, b_8_k32, c_m16, 16, 8, 4},
    {"m16n8k32.row.col.f32.e5m2.e4m3.f32", "sm_89", 16, 32, DTYPE_F8E5M2, DTYPE_F8E4M3, DTYPE_F32,
     DTYPE_F32, false, a_8_k32, b_8_k32, c_m16, 16, 8, 4},
    {"m8n8k4.row.col.f64.f64.f64.f64", "sm_80", 8, 4, DTYPE_F64, DTYPE_F64, DTYPE_F64, DTYPE_F64,
     false, a_f64_m8, b_f64_k4, c_m8, 1, 1, 2},
    {"m16n8k8.row.col.f64.f64.f64.f64", "sm_90", 16, 8, DTYPE_F64, DTYPE_F64, DTYPE_F64, DTYPE_F64,
     false, a_f64_k8, b_f64_k8, c_m16, 4, 2, 4},
    {"m16n8k16.row.col.f64.f64.f64.f64", "sm_90", 16, 16, DTYPE_F64, DTYPE_F64, DTYPE_F64,
     DTYPE_F64, false, a_f64_k16, b_f64_k16, c_m16, 8, 4, 4},
};

static int words(Dtype t, int elements) {
    int bytes = elements * (int)dtype_size(t);
    return t == DTYPE_F64 ? elements : bytes / 4;
}

static void list(StrBuf *b, const char *prefix, int first, int count) {
    strbuf_add(b, STR("{"));
    for (int i = 0; i < count; i++) strbuf_printf(b, "%s%s%d", i ? ", " : "", prefix, first + i);
    strbuf_add(b, STR("}"));
}

// Loads a lane's 64 bytes of A, 32 of B, 32 of C (f64: 64, 32, 32), multiplies, stores D.
static const char *program(Arena *arena, const Shape *s) {
    bool wide = s->a == DTYPE_F64;
    const char *prefix = wide ? "%rd" : "%r", *type = wide ? "b64" : "b32";
    int size = wide ? 8 : 4, na = words(s->a, s->na), nb = words(s->b, s->nb),
        nc = words(s->c, s->nc);
    int nd = words(s->d, s->nc);
    StrBuf b = strbuf(arena);
    strbuf_add(&b, STR("mul.wide.u32 %rd60, %r63, 128; add.s64 %rd60, %rd60, %rd61;\n"));
    for (int i = 0; i < na; i++)
        strbuf_printf(&b, "ld.global.%s %s%d, [%%rd60+%d];\n", type, prefix, i, i * size);
    for (int i = 0; i < nb; i++)
        strbuf_printf(&b, "ld.global.%s %s%d, [%%rd60+%d];\n", type, prefix, 10 + i, 64 + i * size);
    for (int i = 0; i < nc; i++)
        strbuf_printf(&b, "ld.global.%s %s%d, [%%rd60+%d];\n", type, prefix, 20 + i, 96 + i * size);
    strbuf_printf(&b, "mma.sync.aligned.%s ", s->name);
    list(&b, prefix, 30, nd), strbuf_add(&b, STR(", "));
    list(&b, prefix, 0, na), strbuf_add(&b, STR(", "));
    list(&b, prefix, 10, nb), strbuf_add(&b, STR(", "));
    list(&b, prefix, 20, nc), strbuf_add(&b, STR(";\n"));
    for (int i = 0; i < nd; i++)
        strbuf_printf(&b, "st.global.%s [%%rd60+%d], %s%d;\n", type, i * size, prefix, 30 + i);
    return warp_kernel(arena, s->arch, b.text);
}

static uint64_t element(Dtype t, uint32_t *seed, bool tf32, int round) {
    *seed = *seed * 1664525u + 1013904223u;
    int v = (int)(*seed >> 20 & 63) - 32;
    if (!dtype_is(t, DTYPE_CLASS_ANYFLOAT))
        return dtype_wrap(t, (uint64_t)(int64_t)(v * 4 + 3)) & (t == DTYPE_I32 ? UINT32_MAX : 0xff);
    double x = v * 0.25;
    // Sums whose small parts would vanish one by one.
    if (round && (*seed >> 9 & 7) == 0) x *= t == DTYPE_F16 || dtype_bits(t) == 8 ? 8 : 0x1p20;
    if (tf32 && round == 2) x = v * (1 + 0x1p-12);  // bits that tf32 does not have
    return dtype_from_double(t, x, false);
}

static double value(const Shape *s, Dtype t, uint64_t bits) {
    if (s->tf32) bits &= 0xffffe000;
    return dtype_is(t, DTYPE_CLASS_ANYFLOAT) ? dtype_to_double(t, bits)
                                             : (double)dtype_to_i64(t, bits);
}

// Sums of these few numbers are exact in a long double or in an integer of 128 bits.
static uint64_t expected(const Shape *s, const double *a, const double *b, uint64_t c) {
    __extension__ typedef __int128 Big;
    Big sum = 0;
    bool int_result = s->d == DTYPE_I32;
    double scale = int_result ? 1 : 0x1p40;
    for (int k = 0; k < s->k; k++) {
        Big x = (Big)(a[k] * (int_result ? 1 : 0x1p20)),
            y = (Big)(b[k] * (int_result ? 1 : 0x1p20));
        sum += x * y;
    }
    double start = int_result ? (double)dtype_to_i64(s->c, c) : dtype_to_double(s->c, c);
    sum += (Big)(start * scale);
    if (int_result) return (uint32_t)(int64_t)sum;
    // One rounding of the big integer: to odd in 60 bits first.
    bool minus = sum < 0;
    if (minus) sum = -sum;
    int shift = 0;
    bool rest = false;
    while (sum >> 52) rest |= sum & 1, sum >>= 1, shift++;
    uint64_t m = (uint64_t)sum | rest;
    double x = (double)m;
    for (int i = 0; i < shift; i++) x *= 2;
    x /= 0x1p40;
    return dtype_from_double(s->d, minus ? -x : x, false);
}

static void run_shape(const Shape *s, int round) {
    Arena *arena = arena_create();
    static uint8_t in[LANES][128], out[LANES][128];
    static double a[16][DEPTH], b[8][DEPTH];
    static uint64_t c[16][8];
    uint32_t seed = (uint32_t)round * 77 + 5;
    memset(in, 0, sizeof in);
    int r, k;
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i < s->na; i++) {
            uint64_t v = element(s->a, &seed, s->tf32, round);
            s->pa(l, i, &r, &k), a[r][k] = value(s, s->a, v);
            dtype_store(s->a, in[l], (uint64_t)i, v);
        }
        for (int i = 0; i < s->nb; i++) {
            uint64_t v = element(s->b, &seed, s->tf32, round);
            s->pb(l, i, &k, &r), b[r][k] = value(s, s->b, v);
            dtype_store(s->b, in[l] + 64, (uint64_t)i, v);
        }
        for (int i = 0; i < s->nc; i++) {
            uint64_t v = element(s->c, &seed, false, round);
            s->pc(l, i, &r, &k), c[r][k] = v;
            dtype_store(s->c, in[l] + 96, (uint64_t)i, v);
        }
    }
    Warp w;
    warp_open(&w, program(arena, s));
    uint64_t data = warp_upload(&w, in, sizeof in), args[] = {data, data};
    warp_run_ok(&w, "k", 1, LANES, 0, args, 2);
    warp_download(&w, data, out, sizeof out);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < s->nc; i++) {
            s->pc(l, i, &r, &k);
            uint64_t want =
                s->tf32 ? expected(s, a[r], b[k], c[r][k]) : expected(s, a[r], b[k], c[r][k]);
            uint64_t got = dtype_load(s->d, out[l], (uint64_t)i);
            if (s->d == DTYPE_I32) got &= UINT32_MAX;
            bool zero = s->d != DTYPE_I32 && dtype_to_double(s->d, got) == 0 &&
                        dtype_to_double(s->d, want) == 0;
            if (got != want && !zero)
                fail_msg("%s, lane %d, element %d: %llx, wanted %llx", s->name, l, i,
                         (unsigned long long)got, (unsigned long long)want);
        }
    warp_close(&w);
    arena_destroy(arena);
}

static void test_mma(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int round = 0; round < 3; round++) run_shape(&shapes[i], round);
}

// A matrix's element (r, c) is 100 m + 8 r + c.
static void test_ldmatrix(void **state) {
    (void)state;
    for (int trans = 0; trans < 2; trans++) {
        Arena *arena = arena_create();
        const char *body = arena_printf(
            arena,
            ".shared .align 16 .b8 tile[512];\n"
            // every lane writes a row of 8 values: row l of matrix l / 8
            "mul.lo.u32 %%r0, %%r63, 16; mov.u32 %%r1, tile; add.u32 %%r2, %%r1, %%r0;\n"
            "add.s64 %%rd61, %%rd61, %%rd62; ld.global.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%rd61];\n"
            "st.shared.v4.b32 [%%r2], {%%r4, %%r5, %%r6, %%r7}; bar.sync 0;\n"
            "ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%r8, %%r9, %%r10, %%r11}, [%%r2];\n"
            "st.global.v4.b32 [%%rd63], {%%r8, %%r9, %%r10, %%r11};",
            trans ? ".trans" : "");
        uint16_t in[32][8], out[32][8];
        for (int l = 0; l < 32; l++)
            for (int c = 0; c < 8; c++) in[l][c] = (uint16_t)(l / 8 * 100 + l % 8 * 8 + c);
        Warp w;
        warp_open(&w, warp_kernel(arena, "sm_75", body));
        warp_watch(&w);
        uint64_t args[] = {warp_alloc(&w, sizeof out), warp_upload(&w, in, sizeof in)};
        warp_run_ok(&w, "k", 1, 32, 0, args, 2);
        warp_download(&w, args[0], out, sizeof out);
        for (int l = 0; l < 32; l++)
            for (int m = 0; m < 4; m++)
                for (int j = 0; j < 2; j++) {
                    int r = l / 4, c = l % 4 * 2 + j;
                    assert_int_equal(out[l][2 * m + j], m * 100 + (trans ? c * 8 + r : r * 8 + c));
                }
        warp_close(&w);
        arena_destroy(arena);
    }
}

// ldmatrix reads back what stmatrix writes; movmatrix is the transposed.
static void test_stmatrix(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const char *body =
        ".shared .align 16 .b8 tile[512];\n"
        "mul.lo.u32 %r0, %r63, 16; mov.u32 %r1, tile; add.u32 %r2, %r1, %r0;\n"
        "mul.lo.u32 %r4, %r63, 0x10001; add.u32 %r5, %r4, 256; add.u32 %r6, %r4, 512; add.u32 %r7, "
        "%r4, 768;\n"
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r2], {%r4, %r5, %r6, %r7};\n"
        "bar.warp.sync -1;\n"
        "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r8, %r9}, [%r2];\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r4;\n"
        "sub.u32 %r11, %r8, %r10; mov.u32 %r12, 7;\n"
        "st.global.v4.b32 [%rd63], {%r11, %r12, %r12, %r12};";
    uint32_t out[32][4];
    Warp w;
    warp_open(&w, warp_kernel(arena, "sm_90", body));
    warp_watch(&w);
    uint64_t args[] = {warp_alloc(&w, sizeof out), 0};
    warp_run_ok(&w, "k", 1, 32, 0, args, 2);
    warp_download(&w, args[0], out, sizeof out);
    for (int l = 0; l < 32; l++) assert_int_equal(out[l][0], 0);
    warp_close(&w);
    arena_destroy(arena);
}

// A result that goes to '_' changes no register.
static void test_sink(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    warp_open(&w, warp_kernel(arena, "sm_80",
                              "mov.u32 %r1, 5; movmatrix.sync.aligned.m8n8.trans.b16 _, %r63; "
                              "shfl.sync.idx.b32 _|%p1, %r63, 1, 31, -1; "
                              "st.global.u32 [%rd63], %r1; st.global.u32 [%rd63+4], %r63;"));
    uint64_t args[] = {warp_alloc(&w, 512), 0};
    warp_run_ok(&w, "k", 1, 32, 0, args, 2);
    uint32_t out[128];
    warp_download(&w, args[0], out, sizeof out);
    for (uint32_t l = 0; l < 32; l++) assert_true(out[4 * l] == 5 && out[4 * l + 1] == l);
    warp_close(&w);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sink), cmocka_unit_test(test_mma),
                                       cmocka_unit_test(test_ldmatrix),
                                       cmocka_unit_test(test_stmatrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
