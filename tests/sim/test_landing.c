// Bulk copies: a positive control for each rule, next to the same kernel that keeps it. Their size
// is small here; test_ring.c has whole protocols.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/control.h"

// Thread 0 copies 512 bytes of `out` into shared memory.
#define PLACE                                                                                   \
    ".shared .align 128 .b8 sm[1024]; .shared .align 8 .b8 bar[16]; setp.eq.u32 %p0, %r63, 0; " \
    "shl.b32 %r1, %r63, 2; mov.u32 %r2, sm; add.u32 %r2, %r2, %r1; mov.u32 %r3, 7; "            \
    "ld.param.u64 %rd0, [k_param_0];"
#define SOURCE "st.global.v4.u32 [%rd63], {%r3, %r3, %r3, %r3};"
#define BAR "@%p0 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;"
#define FENCE "fence.proxy.async;"
#define MEET "bar.sync 0;"
#define READY PLACE SOURCE BAR FENCE MEET
#define EXPECT(bytes) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " bytes ";"
#define LOAD_TO(to, bytes, bar)                                                   \
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" to \
    "], [%rd0], " bytes ", [" bar "];"
#define LOAD LOAD_TO("sm", "512", "bar")
#define WAIT(label, parity) \
    "\n" label ": mbarrier.try_wait.parity.shared.b64 %p1, [bar], " parity "; @!%p1 bra " label ";"
#define GET "ld.shared.u32 %r4, [%r2];"
#define PUT "st.shared.u32 [%r2], %r3;"
#define OUT "st.global.u32 [%rd63], %r4;"

#define STORE "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [sm], 256;"
#define STORE_WARP "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [sm], 128;"
#define COMMIT "@%p0 cp.async.bulk.commit_group;"
#define READ "@%p0 cp.async.bulk.wait_group.read 0;"
#define DONE "@%p0 cp.async.bulk.wait_group 0;"
#define FILLED PLACE SOURCE PUT FENCE MEET

// Both blocks get what block 0 copies.
#define PAIR(mask) \
    PLACE BAR FENCE "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" EXPECT("512") \
        "mov.u32 %r20, %cluster_ctarank; setp.eq.and.u32 %p2, %r20, 0, %p0; mov.b16 %h0, " mask   \
        "; @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"    \
        "cluster [sm], [%rd0], 512, [bar], %h0;" WAIT("W", "0") GET
#define APART "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"

static const WarpControl controls[] = {
    // Reading too early.
    {READY EXPECT("512") LOAD GET, READY EXPECT("512") LOAD WAIT("W", "0") GET, SIM_FINDING_RACE,
     "a copy", 32, 1, 1},
    {READY EXPECT("512") LOAD WAIT("W", "1") GET, READY EXPECT("512") LOAD WAIT("W", "0") GET,
     SIM_FINDING_RACE, "a copy", 32, 1, 1},
    {READY EXPECT("512") LOAD "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;" GET,
     READY EXPECT("512") LOAD WAIT("W", "0") GET, SIM_FINDING_RACE, "a copy", 32, 1, 1},
    {READY EXPECT("512") LOAD GET OUT WAIT("W", "0"), READY EXPECT("512") LOAD WAIT("W", "0") GET,
     SIM_FINDING_POISON, "stored to global", 32, 1, 1},
    // Bytes: too few, too many, for another mbarrier, landing without an mbarrier.
    {READY EXPECT("496") LOAD WAIT("W", "0") GET, READY EXPECT("512") LOAD WAIT("W", "0") GET,
     SIM_FINDING_KINDS, "-16 bytes are missing", 32, 1, 1},
    {READY EXPECT("528") LOAD WAIT("W", "0") GET, READY EXPECT("512") LOAD WAIT("W", "0") GET,
     SIM_FINDING_KINDS, "0 of 1 arrivals and 16 bytes are missing", 32, 1, 1},
    {READY EXPECT("512") LOAD_TO("sm", "512", "bar+8") WAIT("W", "0") GET,
     READY EXPECT("512") LOAD WAIT("W", "0") GET, SIM_FINDING_KINDS,
     "no mbarrier was initialised at byte", 32, 1, 1},
    {PLACE SOURCE FENCE "@%p0 mbarrier.init.shared.b64 [bar], 1;" MEET EXPECT("512")
         LOAD WAIT("W", "0") GET,
     PLACE SOURCE BAR FENCE MEET EXPECT("512") LOAD WAIT("W", "0") GET, SIM_FINDING_INIT,
     "no fence.mbarrier_init", 32, 1, 1},
    // Sizes and addresses.
    {READY EXPECT("500") LOAD_TO("sm", "500", "bar") WAIT("W", "0"),
     READY EXPECT("512") LOAD WAIT("W", "0"), SIM_FINDING_KINDS, "a multiple of 16", 32, 1, 1},
    {READY EXPECT("512") LOAD_TO("sm+8", "512", "bar") WAIT("W", "0"),
     READY EXPECT("512") LOAD WAIT("W", "0"), SIM_FINDING_ALIGNMENT, "a multiple of 16", 32, 1, 1},
    {READY EXPECT("512") LOAD_TO("sm+640", "512", "bar") WAIT("W", "0"),
     READY EXPECT("512") LOAD WAIT("W", "0"), SIM_FINDING_BOUNDS, "leaves the block's", 32, 1, 1},
    {READY EXPECT("528") LOAD_TO("sm", "528", "bar") WAIT("W", "0"),
     READY EXPECT("512") LOAD WAIT("W", "0"), SIM_FINDING_BOUNDS, "global memory", 32, 1, 1},
    // Writing or reading what a copy writes, without a fence or an order.
    {PLACE SOURCE BAR MEET PUT MEET EXPECT("512") LOAD WAIT("W", "0") GET,
     PLACE SOURCE BAR MEET PUT FENCE MEET EXPECT("512") LOAD WAIT("W", "0") GET, SIM_FINDING_PROXY,
     "a write of thread", 32, 1, 1},
    {READY PUT GET MEET EXPECT("512") LOAD WAIT("W", "0"),
     READY PUT GET FENCE MEET EXPECT("512") LOAD WAIT("W", "0"), SIM_FINDING_PROXY,
     "no fence.proxy.async", 32, 1, 1},
    {READY EXPECT("512") LOAD PUT WAIT("W", "0"), READY EXPECT("512") LOAD WAIT("W", "0") MEET PUT,
     SIM_FINDING_RACE, "a copy", 32, 1, 1},
    {READY EXPECT("512") LOAD WAIT("V", "0") GET FENCE EXPECT("512") LOAD WAIT("W", "1"),
     READY EXPECT("512") LOAD WAIT("V", "0") GET FENCE MEET EXPECT("512") LOAD WAIT("W", "1"),
     SIM_FINDING_RACE, "a read of", 64, 1, 1},
    // The source of a copy.
    {READY EXPECT("512") LOAD OUT WAIT("W", "0"), READY EXPECT("512") LOAD WAIT("W", "0") GET OUT,
     SIM_FINDING_RACE, "a read of", 32, 1, 1},
    {PLACE SOURCE BAR "fence.proxy.async.shared::cta;" MEET EXPECT("512") LOAD WAIT("W", "0"),
     READY EXPECT("512") LOAD WAIT("W", "0"), SIM_FINDING_PROXY, "in global memory", 32, 1, 1},
    // Stores: staging is written before, and again after.
    {PLACE SOURCE PUT MEET STORE COMMIT DONE, FILLED STORE COMMIT DONE, SIM_FINDING_PROXY,
     "no fence.proxy.async", 64, 1, 1},
    {PLACE SOURCE PUT FENCE STORE COMMIT DONE, FILLED STORE COMMIT DONE, SIM_FINDING_RACE,
     "nothing orders them", 64, 1, 1},
    {FILLED STORE COMMIT MEET PUT DONE, FILLED STORE COMMIT READ MEET PUT DONE, SIM_FINDING_RACE,
     "a read in flight", 64, 1, 1},
    {FILLED STORE COMMIT "@%p0 cp.async.bulk.wait_group.read 1;" MEET PUT DONE,
     FILLED STORE COMMIT COMMIT "@%p0 cp.async.bulk.wait_group.read 1;" MEET PUT DONE,
     SIM_FINDING_RACE, "a read in flight", 64, 1, 1},
    {FILLED STORE DONE, FILLED STORE COMMIT DONE, SIM_FINDING_KINDS, "nothing has waited for", 64,
     1, 1},
    {FILLED STORE COMMIT, FILLED STORE COMMIT READ, SIM_FINDING_KINDS, "nothing has waited for", 64,
     1, 1},
    {FILLED STORE COMMIT READ "@%p0 ld.global.u32 %r4, [%rd0];",
     FILLED STORE COMMIT DONE "@%p0 ld.global.u32 %r4, [%rd0];", SIM_FINDING_RACE,
     "a copy in flight", 64, 1, 1},
    {PLACE SOURCE FENCE MEET STORE COMMIT DONE, FILLED STORE COMMIT DONE, SIM_FINDING_POISON,
     "stored to global memory", 64, 1, 1},
    // The lanes of one warp need an order, too.
    {PLACE SOURCE PUT FENCE STORE_WARP COMMIT DONE,
     PLACE SOURCE PUT FENCE "bar.warp.sync -1;" STORE_WARP COMMIT DONE, SIM_FINDING_RACE,
     "a write of thread", 32, 1, 1},
    // From copy to copy no fence is needed.
    {READY EXPECT("512") LOAD STORE COMMIT DONE WAIT("W", "0"),
     READY EXPECT("512") LOAD WAIT("W", "0") STORE COMMIT DONE, SIM_FINDING_RACE,
     "nothing orders them", 32, 1, 1},
    // A block ends while something is in flight in its memory.
    {READY EXPECT("512") LOAD, READY EXPECT("512") LOAD WAIT("W", "0"), SIM_FINDING_KINDS,
     "nothing has waited for", 32, 1, 1},
    {PAIR("1") APART, PAIR("3") APART, SIM_FINDING_KINDS, "512 bytes are missing", 32, 2, 2},
    {PAIR("5") APART, PAIR("3") APART, SIM_FINDING_KINDS, "blocks that do not exist", 32, 2, 2},
};

static void test_controls(void **state) {
    (void)state;
    warp_controls(controls, sizeof controls / sizeof *controls);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_controls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
