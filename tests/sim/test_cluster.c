// Clusters, mbarriers, named barriers, pools of registers: a positive control for each rule, next
// to the same kernel that keeps it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/control.h"

#define WORDS                                                                                 \
    ".shared .align 16 .b8 words[1024]; mov.u32 %r10, words; shl.b32 %r11, %r63, 2; add.u32 " \
    "%r12, %r10, %r11; mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mapa.shared::"  \
    "cluster.u32 %r22, %r12, %r21; mov.u32 %r0, 7;"
#define MEET "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
#define PUT "st.shared::cluster.u32 [%r22], %r0;"
#define GET "ld.shared.u32 %r1, [%r12];"
#define OUT "setp.eq.u32 %p5, %r20, 0; @%p5 st.global.u32 [%rd63], %r1;"
#define FIRST "setp.eq.u32 %p0, %r63, 0;"

// Both blocks arrive at the mbarriers of both, and wait for their own.
#define ARRIVALS(count, fence, meet)                                                           \
    ".shared .align 8 .b8 bar[8];" FIRST "@%p0 mbarrier.init.shared.b64 [bar], " count         \
    ";" fence meet                                                                             \
    "mov.u32 %r10, bar; mov.u32 %r20, 0; mapa.shared::cluster.u32 %r1, %r10, 0; mapa.shared::" \
    "cluster.u32 %r2, %r10, 1; @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, "   \
    "[%r1]; @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n"              \
    "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], %r20; @!%p1 bra " \
    "W; " MEET
#define INIT_FENCE "fence.mbarrier_init.release.cluster;"

// Thread 0 makes an mbarrier of one arrival.
#define OBJECT(init) ".shared .align 8 .b8 bar[16]; mov.u32 %r20, 0;" FIRST init
#define ONE "@%p0 mbarrier.init.shared.b64 [bar], 1;"
#define ARRIVE "@%p0 mbarrier.arrive.shared.b64 _, [bar];"
#define WAIT(label, parity)                                                \
    "\n" label ": mbarrier.try_wait.parity.shared.b64 %p1, [bar], " parity \
    "; @!%p1 "                                                             \
    "bra " label ";"

#define PLACE ".shared .align 4 .b8 place[4];"
#define ROLE(warps) "setp.ge.u32 %p2, %r63, " warps "; @%p2 bra O;"

static const WarpControl controls[] = {
    // Shared memory of the other block.
    {WORDS PUT GET OUT, WORDS MEET PUT MEET GET OUT, SIM_FINDING_RACE, "blocks ", 32, 2, 2},
    {WORDS MEET PUT "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" GET OUT,
     WORDS MEET PUT
     "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" GET OUT,
     SIM_FINDING_RACE, "blocks ", 32, 2, 2},
    {WORDS MEET "st.shared.u32 [%r22], %r0;" MEET GET OUT, WORDS MEET PUT MEET GET OUT,
     SIM_FINDING_BOUNDS, "outside", 32, 2, 2},
    {WORDS MEET "setp.eq.u32 %p1, %r20, 1; @%p1 bra E;" PUT "\nE:",
     WORDS MEET "setp.eq.u32 %p1, %r20, 1; @%p1 bra L;" PUT "\nL:" MEET, SIM_FINDING_BOUNDS,
     "memory of a block that has ended", 32, 2, 2},
    {WORDS "mapa.shared::cluster.u32 %r22, %r12, 2;", WORDS, SIM_FINDING_KINDS, "the cluster has 2",
     32, 2, 2},
    // Barriers of the cluster.
    {"barrier.cluster.wait;", MEET, SIM_FINDING_KINDS, "have not arrived", 32, 2, 2},
    {"barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;", MEET,
     SIM_FINDING_KINDS, "not waited", 32, 2, 2},
    {WORDS "setp.eq.u32 %p1, %r20, 1; @%p1 bra L;" MEET MEET "bra E;\nL:" MEET
           "mov.u32 %r1, 0;\nW: mbarrier.try_wait.parity.shared.b64 %p1, [words], 0;\nE:",
     WORDS "setp.eq.u32 %p1, %r20, 1; @%p1 bra L;" MEET "\nL:", SIM_FINDING_KINDS,
     "no mbarrier was initialised", 32, 2, 2},
    // mbarriers of the cluster.
    {ARRIVALS("2", "", MEET), ARRIVALS("2", INIT_FENCE, MEET), SIM_FINDING_INIT,
     "no fence.mbarrier_init", 32, 2, 2},
    {ARRIVALS("1", INIT_FENCE, MEET), ARRIVALS("2", INIT_FENCE, MEET), SIM_FINDING_KINDS,
     "1 of 1 arrivals and 0 bytes are missing", 32, 2, 2},
    {ARRIVALS("3", INIT_FENCE, MEET), ARRIVALS("2", INIT_FENCE, MEET), SIM_FINDING_KINDS,
     "1 of 3 arrivals and 0 bytes are missing", 32, 2, 2},
    // Life of an mbarrier.
    {OBJECT(ONE ONE), OBJECT(ONE "@%p0 mbarrier.inval.shared.b64 [bar];" ONE), SIM_FINDING_KINDS,
     "there is an mbarrier at byte 0", 64, 1, 1},
    {OBJECT("mbarrier.init.shared.b64 [bar], 1;"), OBJECT(ONE), SIM_FINDING_KINDS,
     "there is an mbarrier at byte 0", 64, 1, 1},
    {OBJECT("@%p0 mbarrier.init.shared.b64 [bar], 0;"), OBJECT(ONE), SIM_FINDING_KINDS,
     "the count is 1 to 1048575", 64, 1, 1},
    {OBJECT(ONE "@%p0 mbarrier.inval.shared.b64 [bar];") ARRIVE, OBJECT(ONE) ARRIVE,
     SIM_FINDING_KINDS, "no mbarrier was initialised", 64, 1, 1},
    {OBJECT("") ARRIVE, OBJECT(ONE) ARRIVE, SIM_FINDING_KINDS, "no mbarrier was initialised", 64, 1,
     1},
    {OBJECT(ONE) WAIT("W", "1"), OBJECT(ONE) "bar.sync 0;" WAIT("W", "1"), SIM_FINDING_RACE,
     "nothing orders them", 64, 1, 1},
    {OBJECT(ONE) "@%p0 mbarrier.arrive.shared.b64 _, [bar], 2;",
     OBJECT(ONE) "@%p0 mbarrier.arrive.shared.b64 _, [bar], 1;", SIM_FINDING_KINDS,
     "2 arrivals at an mbarrier whose phase waits for 1", 64, 1, 1},
    {OBJECT(ONE) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;" ARRIVE,
     OBJECT(ONE) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;", SIM_FINDING_KINDS,
     "1 arrivals at an mbarrier whose phase waits for 0", 64, 1, 1},
    {OBJECT(ONE) "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048576;",
     OBJECT(ONE) "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048575;",
     SIM_FINDING_KINDS, "1048576 bytes: an mbarrier counts at most 1048575", 64, 1, 1},
    // Waiting for nothing: who, and for what.
    {OBJECT(ONE) "bar.sync 0;" WAIT("W", "0"), OBJECT(ONE) "bar.sync 0;" ARRIVE WAIT("W", "0"),
     SIM_FINDING_KINDS, "parity 0 of the mbarrier at byte 0, where 1 of 1 arrivals", 64, 1, 1},
    {OBJECT(ONE) "bar.sync 0; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;" WAIT("W",
                                                                                            "0"),
     OBJECT(ONE) "bar.sync 0;" ARRIVE WAIT("W", "0"), SIM_FINDING_KINDS, "48 bytes are missing", 64,
     1, 1},
    {OBJECT(ONE) "bar.sync 0;" ARRIVE WAIT("V", "0") WAIT("W", "1"),
     OBJECT(ONE) "bar.sync 0;" ARRIVE WAIT("V", "0") WAIT("W", "0"), SIM_FINDING_KINDS,
     "parity 1 of the mbarrier", 64, 1, 1},
    {OBJECT(ONE) "bar.sync 0;" ROLE("32") WAIT("W", "0") "bra E;\nO: bar.sync 1, 64;\nE:",
     OBJECT(ONE) "bar.sync 0;" ROLE("32") ARRIVE WAIT("W", "0") "bar.sync 1, 64; bra E;\nO: bar."
                                                                "sync 1, 64;\nE:",
     SIM_FINDING_KINDS, "; lanes ffffffff of warp 1 wait at 'bar.sync'", 64, 1, 1},
    // An arrival does not publish later accesses.
    {PLACE ROLE("32") "bar.arrive 1, 64; st.shared.u32 [place], 7; bra E;\nO: bar.sync 1, 64; "
                      "ld.shared.u32 %r1, [place];\nE:",
     PLACE ROLE("32") "st.shared.u32 [place], 7; bar.arrive 1, 64; bra E;\nO: bar.sync 1, 64; "
                      "ld.shared.u32 %r1, [place];\nE:",
     SIM_FINDING_RACE, "nothing orders them", 64, 1, 1},
    // Registers: 65536 / 256 = 256 a thread at the beginning.
    {"setp.lt.u32 %p0, %r63, 96; @%p0 setmaxnreg.dec.sync.aligned.u32 40;",
     ROLE("128") "setmaxnreg.dec.sync.aligned.u32 40;\nO:", SIM_FINDING_KINDS,
     "has ended without it", 256, 1, 1},
    {"setmaxnreg.dec.sync.aligned.u32 40;",
     "setp.lt.u32 %p0, %r63, 128; @%p0 setmaxnreg.dec.sync.aligned.u32 40;", SIM_FINDING_KINDS,
     "by whole warpgroups", 160, 1, 1},
    {ROLE("128") "setmaxnreg.dec.sync.aligned.u32 40; bra E;\nO: setmaxnreg.dec.sync.aligned.u32 "
                 "136; setmaxnreg.inc.sync.aligned.u32 240; setmaxnreg.dec.sync.aligned.u32 "
                 "232;\nE:",
     ROLE("128") "setmaxnreg.dec.sync.aligned.u32 40; bra E;\nO: setmaxnreg.dec.sync.aligned.u32 "
                 "136; setmaxnreg.inc.sync.aligned.u32 232;\nE:",
     SIM_FINDING_KINDS, "wait at 'setmaxnreg.inc", 384, 1, 1},
    {"setmaxnreg.inc.sync.aligned.u32 40;", "setmaxnreg.dec.sync.aligned.u32 40;",
     SIM_FINDING_KINDS, "has 168 registers a thread", 384, 1, 1},
};

static void test_controls(void **state) {
    (void)state;
    warp_controls(controls, sizeof controls / sizeof *controls);
}

// Ranks, places and sizes of clusters in two dimensions.
static void test_places(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    warp_open(&w,
              warp_kernel(arena, "sm_90",
                          "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x; "
                          "mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %rd0, %r3, 16; add.s64 "
                          "%rd0, %rd63, %rd0; mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, "
                          "%clusterid.x; mov.u32 %r6, %clusterid.y; mov.u32 %r7, "
                          "%cluster_nctaid.x; mad.lo.u32 %r7, %r7, 10, %r6; st.global.v4.u32 "
                          "[%rd0], {%r3, %r4, %r5, %r7};"));
    warp_watch(&w);
    for (int d = 0; d < 3; d++) w.cluster[d] = d == 2 ? 1 : 2 - (uint32_t)d % 2;
    w.cluster[1] = 2;
    for (int d = 0; d < 3; d++) w.grid[d] = d == 2 ? 1 : 4;
    uint32_t out[16][4];
    uint64_t args[] = {warp_alloc(&w, sizeof out), 0};
    for (w.seed = 0; w.seed < 4; w.seed++) {
        warp_run_ok(&w, "k", 1, 1, 0, args, 2);
        warp_download(&w, args[0], out, sizeof out);
        for (uint32_t n = 0; n < 16; n++) {
            uint32_t x = n % 4, y = n / 4;
            assert_int_equal(out[n][0], n);
            assert_int_equal(out[n][1], x % 2 + y % 2 * 2);
            assert_int_equal(out[n][2], x / 2);
            assert_int_equal(out[n][3], 20 + y / 2);
        }
    }
    warp_close(&w);
    arena_destroy(arena);
}

static void refused(const char *arch, uint32_t blocks, uint32_t cluster, const char *text) {
    Arena *arena = arena_create();
    Warp w;
    warp_open(&w, warp_kernel(arena, arch, ""));
    for (int d = 0; d < 3; d++) w.cluster[d] = d ? 1 : cluster;
    SimResult r = warp_run(&w, "k", blocks, 32, 0, (uint64_t[]){warp_alloc(&w, 512), 0}, 2);
    assert_int_equal(r.outcome, SIM_REFUSED);
    if (!strstr(r.text, text)) fail_msg("%s", r.text);
    warp_close(&w);
    arena_destroy(arena);
}

static void test_refused(void **state) {
    (void)state;
    refused("sm_80", 4, 2, "sm_90 was the first");
    refused("sm_90", 5, 2, "does not consist of clusters");
    refused("sm_90", 16, 16, "8 is the most");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_controls),
                                       cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
