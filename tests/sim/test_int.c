// Integer instructions against plain C, on random and extreme values.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/warp.h"

enum { LANES = 32, ROUNDS = 8 };
typedef struct In {
    uint32_t a, b, c, e;
} In;
typedef uint64_t Reference(In x);
typedef struct Case {
    const char *body;  // from %r0 %r1 %r2 %r3 (and %rd0 = r0:r1, %rd1 = r2:r3) to %r4 or %rd4
    bool wide;
    Reference *want;
} Case;

static uint64_t low64(In x) { return (uint64_t)x.b << 32 | x.a; }
static uint64_t high64(In x) { return (uint64_t)x.e << 32 | x.c; }
#define REF(name, ...) \
    static uint64_t name(In x) { return (uint64_t)(__VA_ARGS__); }
#define S(v) ((int32_t)(v))
__extension__ typedef __int128 S128;
__extension__ typedef unsigned __int128 U128;

static int64_t saturate(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}
static uint32_t naive_bfe(uint32_t a, uint32_t at, uint32_t len, bool sign) {
    uint32_t r = 0;
    at &= 255, len &= 255;
    uint32_t last = at + len - 1 < 31 ? at + len - 1 : 31;
    uint32_t fill = sign && len ? a >> last & 1 : 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t bit = i < len && at + i < 32 ? a >> (at + i) & 1 : fill;
        r |= bit << i;
    }
    return r;
}
static uint32_t naive_bfi(uint32_t a, uint32_t b, uint32_t at, uint32_t len) {
    at &= 255, len &= 255;
    for (uint32_t i = 0; i < len && at + i < 32; i++)
        b = (b & ~(1u << (at + i))) | (a >> i & 1) << (at + i);
    return b;
}
static uint32_t naive_prmt(uint32_t a, uint32_t b, uint32_t s) {
    uint8_t bytes[8];
    memcpy(bytes, &a, 4), memcpy(bytes + 4, &b, 4);
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t v = bytes[s >> (4 * i) & 7];
        if (s >> (4 * i) & 8) v = v & 128 ? 255 : 0;
        r |= v << (8 * i);
    }
    return r;
}
static uint32_t naive_dp4a(uint32_t a, uint32_t b, uint32_t c) {
    int8_t x[4];
    uint8_t y[4];
    memcpy(x, &a, 4), memcpy(y, &b, 4);
    for (int i = 0; i < 4; i++) c += (uint32_t)(x[i] * y[i]);
    return c;
}
static uint32_t naive_lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) {
        unsigned n = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1);
        r |= (uint32_t)(table >> n & 1) << i;
    }
    return r;
}
static uint32_t naive_brev(uint32_t a) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) r = r << 1 | (a >> i & 1);
    return r;
}
static uint32_t count(uint64_t a) {
    uint32_t n = 0;
    for (; a; a &= a - 1) n++;
    return n;
}
static uint32_t leading(uint64_t a, int bits) {
    int n = 0;
    while (n < bits && !(a >> (bits - 1 - n) & 1)) n++;
    return (uint32_t)n;
}

REF(add, x.a + x.b)
REF(sub, x.a - x.b)
REF(add_sat, (uint32_t)saturate((int64_t)S(x.a) + S(x.b)))
REF(sub_sat, (uint32_t)saturate((int64_t)S(x.a) - S(x.b)))
REF(mul_lo, x.a *x.b)
REF(mul_hi_u, (uint64_t)x.a *x.b >> 32)
REF(mul_hi_s, (uint32_t)((int64_t)S(x.a) * S(x.b) >> 32))
REF(mul_wide_u, (uint64_t)x.a *x.b)
REF(mul_wide_s, (int64_t)S(x.a) * S(x.b))
REF(mad_lo, x.a *x.b + x.c)
REF(mad_wide_s, (uint64_t)((int64_t)S(x.a) * S(x.b)) + high64(x))
REF(mad_hi_u, (uint32_t)(((uint64_t)x.a * x.b >> 32) + x.c))
REF(mul_hi_u64, (uint64_t)((U128)low64(x) * high64(x) >> 64))
REF(mul_hi_s64, (uint64_t)((S128)(int64_t)low64(x) * (int64_t)high64(x) >> 64))
REF(div_u, x.a / (x.b | 1))
REF(div_s, (uint32_t)((int64_t)S(x.a) / S(x.b | 1)))
REF(rem_u, x.a % (x.b | 1))
REF(rem_s, (uint32_t)((int64_t)S(x.a) % S(x.b | 1)))
REF(min_s, (uint32_t)(S(x.a) < S(x.b) ? x.a : x.b))
REF(max_u, x.a > x.b ? x.a : x.b)
REF(abs_s, S(x.a) < 0 ? 0u - x.a : x.a)
REF(sad_s, x.c + (uint32_t)(S(x.a) < S(x.b) ? (int64_t)S(x.b) - S(x.a) : (int64_t)S(x.a) - S(x.b)))
REF(popc, count(x.a))
REF(popc64, count(low64(x)))
REF(clz, leading(x.a, 32))
REF(clz64, leading(low64(x), 64))
REF(bfind_u, x.a ? 31 - leading(x.a, 32) : UINT32_MAX)
REF(bfind_s,
    (uint32_t)((S(x.a) < 0 ? ~x.a : x.a) ? 31 - leading(S(x.a) < 0 ? ~x.a : x.a, 32) : UINT32_MAX))
REF(brev, naive_brev(x.a))
REF(bfe_u, naive_bfe(x.a, x.b & 63, x.c & 63, false))
REF(bfe_s, naive_bfe(x.a, x.b & 63, x.c & 63, true))
REF(bfi, naive_bfi(x.a, x.e, x.b & 63, x.c & 63))
REF(prmt, naive_prmt(x.a, x.b, x.c))
REF(dp4a, naive_dp4a(x.a, x.b, x.c))
REF(lop3, naive_lop3(x.a, x.b, x.c, 0xca))
REF(shl, (x.b & 63) > 31 ? 0 : x.a << (x.b & 63))
REF(shr_u, (x.b & 63) > 31 ? 0 : x.a >> (x.b & 63))
REF(shr_s, (uint32_t)(S(x.a) >> ((x.b & 63) > 31 ? 31 : x.b & 63)))
REF(shl64, (x.c & 127) > 63 ? 0 : low64(x) << (x.c & 127))
REF(shr64, (uint64_t)((int64_t)low64(x) >> ((x.c & 127) > 63 ? 63 : x.c & 127)))
REF(shf_l, (uint32_t)((low64(x) << (x.c & 31)) >> 32))
REF(shf_r, (x.c & 63) > 31 ? x.b : (uint32_t)(low64(x) >> (x.c & 63)))
REF(selp, S(x.a) < S(x.b) ? x.c : x.e)
REF(slct, S(x.c) >= 0 ? x.a : x.b)
REF(logic, ((x.a & x.b) | x.c) ^ ~x.e)
REF(carry, low64(x) + high64(x))
REF(borrow, low64(x) - high64(x))
REF(mul24, (uint32_t)(uint16_t)x.a *(uint16_t)x.b)
REF(pack, (uint64_t)x.c << 32 | x.a)
REF(halves, (x.a >> 16) | (x.b & 0xffff) << 16)
REF(set, S(x.a) < S(x.b) ? UINT32_MAX : 0)
REF(setp_and, (x.a >= x.b && S(x.c) != S(x.e)) * 2u + (x.a < x.b && S(x.c) != S(x.e)))

static const Case cases[] = {
    {"add.s32 %r4, %r0, %r1;", false, add},
    {"sub.u32 %r4, %r0, %r1;", false, sub},
    {"add.sat.s32 %r4, %r0, %r1;", false, add_sat},
    {"sub.sat.s32 %r4, %r0, %r1;", false, sub_sat},
    {"mul.lo.s32 %r4, %r0, %r1;", false, mul_lo},
    {"mul.hi.u32 %r4, %r0, %r1;", false, mul_hi_u},
    {"mul.hi.s32 %r4, %r0, %r1;", false, mul_hi_s},
    {"mul.wide.u32 %rd4, %r0, %r1;", true, mul_wide_u},
    {"mul.wide.s32 %rd4, %r0, %r1;", true, mul_wide_s},
    {"mad.lo.s32 %r4, %r0, %r1, %r2;", false, mad_lo},
    {"mad.wide.s32 %rd4, %r0, %r1, %rd1;", true, mad_wide_s},
    {"mad.hi.u32 %r4, %r0, %r1, %r2;", false, mad_hi_u},
    {"mul.hi.u64 %rd4, %rd0, %rd1;", true, mul_hi_u64},
    {"mul.hi.s64 %rd4, %rd0, %rd1;", true, mul_hi_s64},
    {"or.b32 %r5, %r1, 1; div.u32 %r4, %r0, %r5;", false, div_u},
    {"or.b32 %r5, %r1, 1; div.s32 %r4, %r0, %r5;", false, div_s},
    {"or.b32 %r5, %r1, 1; rem.u32 %r4, %r0, %r5;", false, rem_u},
    {"or.b32 %r5, %r1, 1; rem.s32 %r4, %r0, %r5;", false, rem_s},
    {"min.s32 %r4, %r0, %r1;", false, min_s},
    {"max.u32 %r4, %r0, %r1;", false, max_u},
    {"abs.s32 %r4, %r0;", false, abs_s},
    {"sad.s32 %r4, %r0, %r1, %r2;", false, sad_s},
    {"popc.b32 %r4, %r0;", false, popc},
    {"popc.b64 %r4, %rd0;", false, popc64},
    {"clz.b32 %r4, %r0;", false, clz},
    {"clz.b64 %r4, %rd0;", false, clz64},
    {"bfind.u32 %r4, %r0;", false, bfind_u},
    {"bfind.s32 %r4, %r0;", false, bfind_s},
    {"brev.b32 %r4, %r0;", false, brev},
    {"and.b32 %r5, %r1, 63; and.b32 %r6, %r2, 63; bfe.u32 %r4, %r0, %r5, %r6;", false, bfe_u},
    {"and.b32 %r5, %r1, 63; and.b32 %r6, %r2, 63; bfe.s32 %r4, %r0, %r5, %r6;", false, bfe_s},
    {"and.b32 %r5, %r1, 63; and.b32 %r6, %r2, 63; bfi.b32 %r4, %r0, %r3, %r5, %r6;", false, bfi},
    {"prmt.b32 %r4, %r0, %r1, %r2;", false, prmt},
    {"dp4a.s32.u32 %r4, %r0, %r1, %r2;", false, dp4a},
    {"lop3.b32 %r4, %r0, %r1, %r2, 0xca;", false, lop3},
    {"and.b32 %r5, %r1, 63; shl.b32 %r4, %r0, %r5;", false, shl},
    {"and.b32 %r5, %r1, 63; shr.u32 %r4, %r0, %r5;", false, shr_u},
    {"and.b32 %r5, %r1, 63; shr.s32 %r4, %r0, %r5;", false, shr_s},
    {"and.b32 %r5, %r2, 127; shl.b64 %rd4, %rd0, %r5;", true, shl64},
    {"and.b32 %r5, %r2, 127; shr.s64 %rd4, %rd0, %r5;", true, shr64},
    {"shf.l.wrap.b32 %r4, %r0, %r1, %r2;", false, shf_l},
    {"and.b32 %r5, %r2, 63; shf.r.clamp.b32 %r4, %r0, %r1, %r5;", false, shf_r},
    {"setp.lt.s32 %p0, %r0, %r1; selp.b32 %r4, %r2, %r3, %p0;", false, selp},
    {"slct.u32.s32 %r4, %r0, %r1, %r2;", false, slct},
    {"and.b32 %r5, %r0, %r1; or.b32 %r5, %r5, %r2; not.b32 %r6, %r3; xor.b32 %r4, %r5, %r6;", false,
     logic},
    {"add.cc.u32 %r4, %r0, %r2; addc.u32 %r5, %r1, %r3; mov.b64 %rd4, {%r4, %r5};", true, carry},
    {"sub.cc.u32 %r4, %r0, %r2; subc.u32 %r5, %r1, %r3; mov.b64 %rd4, {%r4, %r5};", true, borrow},
    {"cvt.u16.u32 %h0, %r0; cvt.u16.u32 %h1, %r1; mul.wide.u16 %r4, %h0, %h1;", false, mul24},
    {"mov.b64 %rd4, {%r0, %r2};", true, pack},
    {"mov.b32 {%h0, %h1}, %r0; mov.b32 {%h2, %h3}, %r1; mov.b32 %r4, {%h1, %h2};", false, halves},
    {"set.lt.u32.s32 %r4, %r0, %r1;", false, set},
    {"setp.ne.s32 %p3, %r2, %r3; setp.hs.and.u32 %p0|%p1, %r0, %r1, %p3;"
     "selp.b32 %r5, 2, 0, %p0; selp.b32 %r6, 1, 0, %p1; or.b32 %r4, %r5, %r6;",
     false, setp_and},
};

static uint32_t next_random(uint32_t *s) {
    static const uint32_t extremes[] = {0, 1, UINT32_MAX, 0x80000000, 0x7fffffff, 31, 32, 0x8000};
    *s = *s * 1664525u + 1013904223u;
    uint32_t v = *s >> 3 ^ *s << 13;
    return v % 5 ? v : extremes[v / 5 % 8];
}

static void run_case(const Case *c, uint32_t *seed) {
    In in[LANES];
    uint64_t out[2 * LANES];
    uint32_t *words = &in[0].a;
    for (int i = 0; i < 4 * LANES; i++) words[i] = next_random(seed);
    Arena *arena = arena_create();
    const char *body = arena_printf(
        arena,
        "add.s64 %%rd61, %%rd61, %%rd62; ld.global.v4.u32 {%%r0, %%r1, %%r2, %%r3}, [%%rd61];"
        "mov.b64 %%rd0, {%%r0, %%r1}; mov.b64 %%rd1, {%%r2, %%r3};\n%s\nst.global.%s [%%rd63], %s;",
        c->body, c->wide ? "u64" : "u32", c->wide ? "%rd4" : "%r4");
    Warp w;
    warp_open(&w, warp_kernel(arena, "sm_80", body));
    warp_watch(&w);
    uint64_t args[] = {warp_alloc(&w, sizeof out), warp_upload(&w, in, sizeof in)};
    warp_run_ok(&w, "k", 1, LANES, 0, args, 2);
    warp_download(&w, args[0], out, sizeof out);
    for (int l = 0; l < LANES; l++) {
        uint64_t want = c->want(in[l]), got = out[2 * (size_t)l];
        if (!c->wide) want &= UINT32_MAX, got &= UINT32_MAX;
        if (got != want)
            fail_msg("%s (%x, %x, %x, %x): %llx, wanted %llx", c->body, in[l].a, in[l].b, in[l].c,
                     in[l].e, (unsigned long long)got, (unsigned long long)want);
    }
    warp_close(&w);
    arena_destroy(arena);
}

static void test_all(void **state) {
    (void)state;
    uint32_t seed = 7;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 0; n < ROUNDS; n++) run_case(&cases[i], &seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
