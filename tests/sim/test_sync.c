// Collectives, barriers, asynchronous copies, atomics, divergence.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/warp.h"

// Runs the body on one block under several seeds; out: 4 words a thread.
static void run_body(const char *body, uint32_t threads, const void *in, size_t in_size,
                     uint32_t (*out)[4], uint64_t seed) {
    Arena *arena = arena_create();
    Warp w;
    warp_open(&w, warp_kernel(arena, "sm_90", body));
    warp_watch(&w);
    w.seed = seed;
    uint64_t args[] = {warp_alloc(&w, threads * 16), in ? warp_upload(&w, in, in_size) : 0};
    warp_run_ok(&w, "k", 1, threads, 0, args, 2);
    warp_download(&w, args[0], out, threads * 16);
    warp_close(&w);
    arena_destroy(arena);
}

#define STORE4 "st.global.v4.b32 [%rd63], {%r0, %r1, %r2, %r3};"

static void test_shfl(void **state) {
    (void)state;
    uint32_t out[32][4];
    run_body(
        "mul.lo.u32 %r10, %r63, 10;"
        "shfl.sync.up.b32 %r0|%p0, %r10, 3, 0, -1; shfl.sync.down.b32 %r1, "
        "%r10, 2, 0x1f, -1;"
        "shfl.sync.bfly.b32 %r2, %r10, 5, 31, 0xffffffff; shfl.sync.idx.b32 "
        "%r3, %r10, 2, 0x181f, "
        "-1;"
        "@!%p0 add.u32 %r0, %r0, 1000;" STORE4,
        32, NULL, 0, out, 0);
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(out[l][0], l < 3 ? l * 10 + 1000 : (l - 3) * 10);
        assert_int_equal(out[l][1], l + 2 > 31 ? l * 10 : (l + 2) * 10);
        assert_int_equal(out[l][2], (l ^ 5) * 10);
        assert_int_equal(out[l][3], (l / 8 * 8 + 2) * 10);
    }
}

static void test_votes(void **state) {
    (void)state;
    uint32_t out[32][4];
    run_body(
        "and.b32 %r10, %r63, 3; setp.eq.u32 %p0, %r10, 1;"
        "vote.sync.ballot.b32 %r0, %p0, -1; match.any.sync.b32 %r1, %r10, -1;"
        "redux.sync.add.u32 %r2, %r63, -1; vote.sync.any.pred %p1, %p0, -1;"
        "vote.sync.all.pred %p2, !%p0, -1; selp.b32 %r3, 2, 0, %p1; @%p2 add.u32 "
        "%r3, %r3, "
        "1;" STORE4,
        32, NULL, 0, out, 0);
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(out[l][0], 0x22222222);
        assert_int_equal(out[l][1], 0x11111111u << (l & 3));
        assert_int_equal(out[l][2], 31 * 32 / 2);
        assert_int_equal(out[l][3], 2);
    }
}

// Members of a collective come in two parts, from the two sides of a branch
// that leads there.
static void test_divergence(void **state) {
    (void)state;
    uint32_t out[32][4];
    run_body(
        "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;"
        "L0: setp.ge.u32 %p0, %r0, %r63; @%p0 bra L1; add.u32 %r0, %r0, 1;"
        "and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra L2; add.u32 "
        "%r1, %r1, %r0; bra L0;"
        "L2: add.u32 %r2, %r2, %r0; bra L0;\nL1: activemask.b32 %r3;" STORE4,
        32, NULL, 0, out, 0);
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t odd = 0, even = 0;
        for (uint32_t i = 1; i <= l; i++) *(i & 1 ? &odd : &even) += i;
        assert_int_equal(out[l][0], l);
        assert_int_equal(out[l][1], odd);
        assert_int_equal(out[l][2], even);
        assert_int_equal(out[l][3], UINT32_MAX);
    }
}

// A lock that lanes of one warp take in turns: each must make progress while
// the others wait.
static void test_progress(void **state) {
    (void)state;
    uint32_t out[64][4];
    for (uint64_t seed = 0; seed < 4; seed++) {
        run_body(
            ".shared .align 4 .u32 lock; .shared .align 4 .u32 count;\n"
            "setp.eq.u32 %p0, %r63, 0; @%p0 st.shared.u32 [lock], 0; @%p0 "
            "st.shared.u32 [count], 0;"
            "bar.sync 0;\n"
            "L0: atom.acquire.cta.shared.cas.b32 %r4, [lock], 0, 1; "
            "setp.ne.u32 %p1, %r4, 0; @%p1 "
            "bra L0;"
            "ld.volatile.shared.u32 %r5, [count]; add.u32 %r5, %r5, 1; "
            "st.volatile.shared.u32 "
            "[count], %r5;"
            "atom.release.cta.shared.exch.b32 %r6, [lock], 0;\n bar.sync 0;"
            "ld.shared.u32 %r0, [count]; mov.u32 %r1, 0; mov.u32 %r2, 0; "
            "mov.u32 %r3, 0;" STORE4,
            64, NULL, 0, out, seed);
        for (int l = 0; l < 64; l++) assert_int_equal(out[l][0], 64);
    }
}

// Two warps make, two take, through named barriers.
static void test_named_barriers(void **state) {
    (void)state;
    uint32_t out[128][4];
    for (uint64_t seed = 0; seed < 8; seed++) {
        run_body(
            ".shared .align 4 .b8 buffer[256];\n"
            "mov.u32 %r10, buffer; and.b32 %r11, %r63, 63; shl.b32 %r12, "
            "%r11, 2; add.u32 %r10, "
            "%r10, %r12;"
            "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; "
            "mov.u32 %r20, 0;"
            "setp.ge.u32 %p0, %r63, 64; @%p0 bra TAKE;\n"
            "MAKE: bar.sync 1, 128; mad.lo.u32 %r13, %r20, 100, %r11; "
            "st.shared.u32 [%r10], %r13;"
            "bar.arrive 2, 128; add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, "
            "3; @%p1 bra MAKE; "
            "bra END;\n"
            "TAKE: bar.arrive 1, 128; bar.sync 2, 128; mov.u32 %r14, buffer; "
            "xor.b32 %r15, %r12, 4;"
            "add.u32 %r14, %r14, %r15; ld.shared.u32 %r16, [%r14]; add.u32 "
            "%r0, %r0, %r16;"
            "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 3; @%p1 bra "
            "TAKE;\nEND:" STORE4,
            128, NULL, 0, out, seed);
        for (uint32_t l = 0; l < 64; l++) assert_int_equal(out[64 + l][0], 300 + 3 * (l ^ 1));
    }
}

// The same through mbarriers: one counts full buffers, one empty ones.
static void test_mbarriers(void **state) {
    (void)state;
    uint32_t out[128][4];
    for (uint64_t seed = 0; seed < 8; seed++) {
        run_body(
            ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared "
            ".align 4 .b8 buffer[256];\n"
            "mov.u32 %r10, buffer; and.b32 %r11, %r63, 63; shl.b32 %r12, "
            "%r11, 2; add.u32 %r10, %r10, %r12;"
            "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; "
            "mov.u32 %r20, 0;"
            "setp.ne.u32 %p0, %r63, 0; @%p0 bra READY;"
            "mbarrier.init.shared.b64 [full], 64; "
            "mbarrier.init.shared::cta.b64 [empty], 64;\nREADY: bar.sync 0;"
            "setp.ge.u32 %p0, %r63, 64; @%p0 bra TAKE;\n"
            "MAKE: and.b32 %r21, %r20, 1; xor.b32 %r21, %r21, 1;\n"
            "W0: mbarrier.try_wait.parity.shared::cta.b64 %p3, [empty], %r21; "
            "@!%p3 bra W0;"
            "mad.lo.u32 %r13, %r20, 100, %r11; st.shared.u32 [%r10], %r13;"
            "mbarrier.arrive.shared.b64 %rd4, [full]; add.u32 %r20, %r20, 1; "
            "setp.lt.u32 %p1, %r20, 3;"
            "@%p1 bra MAKE; bra END;\n"
            "TAKE: and.b32 %r21, %r20, 1;\n"
            "W1: mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], %r21, "
            "1000; @!%p3 bra W1;"
            "mov.u32 %r14, buffer; xor.b32 %r15, %r12, 4;"
            "add.u32 %r14, %r14, %r15; ld.shared.u32 %r16, [%r14]; add.u32 "
            "%r0, %r0, %r16;"
            "mbarrier.arrive.release.cta.shared::cta.b64 _, [empty];"
            "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 3; @%p1 bra "
            "TAKE;\nEND:" STORE4,
            128, NULL, 0, out, seed);
        for (uint32_t l = 0; l < 64; l++) assert_int_equal(out[64 + l][0], 300 + 3 * (l ^ 1));
    }
}

static void test_barrier_reduction(void **state) {
    (void)state;
    uint32_t out[96][4];
    run_body(
        "setp.lt.u32 %p0, %r63, 40; bar.red.popc.u32 %r0, 0, %p0; "
        "bar.red.or.pred %p1, 0, %p0;"
        "bar.red.and.pred %p2, 0, !%p0; selp.b32 %r1, 1, 0, %p1; selp.b32 "
        "%r2, 1, 0, %p2; mov.u32 "
        "%r3, 0;" STORE4,
        96, NULL, 0, out, 3);
    for (int l = 0; l < 96; l++) {
        assert_int_equal(out[l][0], 40);
        assert_int_equal(out[l][1], 1);
        assert_int_equal(out[l][2], 0);
    }
}

// Groups of copies: what was waited for is there, and the tail of a short
// source is zeros.
static void test_copies(void **state) {
    (void)state;
    uint32_t in[64][4], out[64][4];
    for (int i = 0; i < 64; i++)
        for (int n = 0; n < 4; n++) in[i][n] = (uint32_t)(i * 4 + n + 1);
    run_body(
        ".shared .align 16 .b8 buffer[2048];\n"
        "add.s64 %rd61, %rd61, %rd62; mov.u32 %r10, buffer; shl.b32 %r11, %r63, "
        "4; add.u32 %r12, "
        "%r10, %r11;"
        "cp.async.cg.shared.global [%r12], [%rd61], 16; cp.async.commit_group;\n"
        "mov.u32 %r20, 8; cp.async.ca.shared.global.L2::128B [%r12+1024], "
        "[%rd61], 16, %r20;"
        "cp.async.commit_group;\ncp.async.wait_group 1; bar.sync 0;"
        "xor.b32 %r13, %r11, 16; add.u32 %r14, %r10, %r13; ld.shared.v2.u32 "
        "{%r0, %r1}, [%r14];"
        "cp.async.wait_all; bar.sync 0; ld.shared.u32 %r2, "
        "[%r14+1028]; ld.shared.u32 %r3, [%r14+1032];" STORE4,
        64, in, sizeof in, out, 5);
    for (int l = 0; l < 64; l++) {
        assert_int_equal(out[l][0], in[l ^ 1][0]);
        assert_int_equal(out[l][1], in[l ^ 1][1]);
        assert_int_equal(out[l][2], in[l ^ 1][1]);
        assert_int_equal(out[l][3], 0);
    }
}

typedef struct Atom {
    const char *text;  // of %r63, on a word that begins as `start`
    uint32_t start, end;
} Atom;

static void test_atomics(void **state) {
    (void)state;
    static const Atom rows[] = {
        {"atom.global.add.u32 %r0, [%rd61], %r63;", 5, 5 + 496},
        {"red.relaxed.gpu.global.max.s32 [%rd61], %r63;", 0xfffffff0, 31},
        {"red.global.min.u32 [%rd61], %r63;", 9, 0},
        {"atom.global.inc.u32 %r0, [%rd61], 9;", 0, 2},
        {"atom.global.xor.b32 %r0, [%rd61], %r63;", 0x100, 0x100},
        {"atom.global.or.b32 %r0, [%rd61], %r63;", 0x100, 0x11f},
        {"cvt.rn.f32.u32 %f0, %r63; red.global.add.f32 [%rd61], %f0;", 0, 0x43f80000},
        {"mov.b32 %r1, 0x3c003c00; red.global.add.noftz.f16x2 [%rd61], %r1;", 0, 0x50005000},
        {"atom.global.cas.b32 %r0, [%rd61], %r63, 77;", 9, 77},
        {"atom.global.exch.b32 %r0, [%rd61], %r63;", 3, 31},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *arena = arena_create();
        Warp w;
        warp_open(&w, warp_kernel(arena, "sm_90", rows[i].text));
        uint32_t word = rows[i].start;
        uint64_t args[] = {warp_alloc(&w, 512), warp_upload(&w, &word, 4)};
        warp_run_ok(&w, "k", 1, 32, 0, args, 2);
        warp_download(&w, args[1], &word, 4);
        if (word != rows[i].end) fail_msg("%s: %x, wanted %x", rows[i].text, word, rows[i].end);
        warp_close(&w);
        arena_destroy(arena);
    }
}

static const char printer[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".global .align 1 .b8 text[14] = {104, 105, 32, 37, 53, 100, 32, 37, 46, "
    "49, 102, 33, 10, 0};\n"
    ".visible .entry k() {\n.local .align 8 .b8 depot[16];\n.reg .b64 "
    "%rd<9>;\n.reg .b32 %r<5>;\n"
    "mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; mov.u32 %r1, -7; "
    "st.local.u32 [%rd1], %r1;\n"
    "mov.u64 %rd5, 0d3FF8000000000000; st.local.u64 [%rd1+8], %rd5;\n"
    "mov.u64 %rd3, text; cvta.global.u64 %rd4, %rd3;\n"
    "{ .param .b64 p0; st.param.b64 [p0], %rd4; .param .b64 p1; st.param.b64 "
    "[p1], %rd2;\n"
    ".param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r2, [q]; "
    "}\nret;\n}\n";

static void test_print(void **state) {
    (void)state;
    Warp w;
    warp_open(&w, printer);
    warp_run_ok(&w, "k", 1, 1, 0, NULL, 0);
    assert_string_equal(w.printed.text, "hi    -7 1.5!\n");
    warp_close(&w);
}

static void test_switch(void **state) {
    (void)state;
    uint32_t out[32][4];
    run_body(
        "and.b32 %r10, %r63, 3; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;"
        "T: .branchtargets A, B, C, A;\n brx.idx %r10, T;\n"
        "A: mov.u32 %r0, 100; bra E;\nB: mov.u32 %r0, 200; bra E;\nC: mov.u32 "
        "%r0, 300;\nE: "
        "activemask.b32 %r1;" STORE4,
        32, NULL, 0, out, 0);
    static const uint32_t want[] = {100, 200, 300, 100};
    for (int l = 0; l < 32; l++) {
        assert_int_equal(out[l][0], want[l & 3]);
        assert_int_equal(out[l][1], UINT32_MAX);
    }
}

// A label belongs to its braces, and hides one of the same name around them.
static void test_labels(void **state) {
    (void)state;
    uint32_t out[32][4];
    run_body(
        "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;"
        "{ A: add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 3; @%p0 bra A; }\n"
        "{ A: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 5; @%p0 bra A; }\n"
        "A: add.u32 %r2, %r2, 1; { setp.ge.u32 %p0, %r2, 7; @%p0 bra E;\n"
        "{ bra A; add.u32 %r3, %r3, 1;\nA: }\n bra B; }\nB: bra A;\nE:" STORE4,
        32, NULL, 0, out, 0);
    for (int l = 0; l < 32; l++) {
        assert_int_equal(out[l][0], 3);
        assert_int_equal(out[l][1], 5);
        assert_int_equal(out[l][2], 7);
        assert_int_equal(out[l][3], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shfl),           cmocka_unit_test(test_votes),
        cmocka_unit_test(test_divergence),     cmocka_unit_test(test_progress),
        cmocka_unit_test(test_named_barriers), cmocka_unit_test(test_barrier_reduction),
        cmocka_unit_test(test_mbarriers),      cmocka_unit_test(test_copies),
        cmocka_unit_test(test_atomics),        cmocka_unit_test(test_print),
        cmocka_unit_test(test_switch),         cmocka_unit_test(test_labels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
