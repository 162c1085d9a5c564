// Products in flight (wgmma): a positive control for each rule, next to the same kernel that keeps
// it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/control.h"

// A: 64 rows of 128 bytes at 0, B: 8 rows at 8192, both with the swizzle of 128 bytes.
#define TILE                                                                                   \
    ".shared .align 1024 .b8 tile[10240]; mov.u32 %r0, 0; shl.b32 %r11, %r63, 4; mov.u32 "     \
    "%r10, tile; add.u32 %r12, %r10, %r11; mov.u64 %rd10, 0x4000004000000000; mov.u64 %rd11, " \
    "0x4000004000000200; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, "      \
    "0f00000000; mov.f32 %f3, "                                                                \
    "0f00000000;"
#define ZEROS "{%r0, %r0, %r0, %r0};"
#define FILL                                                                      \
    "st.shared.v4.u32 [%r12], " ZEROS "st.shared.v4.u32 [%r12+2048], " ZEROS      \
    "st.shared.v4.u32 [%r12+4096], " ZEROS "st.shared.v4.u32 [%r12+6144], " ZEROS \
    "st.shared.v4.u32 [%r12+8192], " ZEROS
#define PROXY "fence.proxy.async;"
#define BARRIER "bar.sync 0;"
#define READY TILE FILL PROXY BARRIER
#define FENCE "wgmma.fence.sync.aligned;"
#define SHAPE "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
#define SUM "{%f0, %f1, %f2, %f3}, "
#define PRODUCT_OF(a, b) SHAPE SUM a ", " b ", 1, 1, 1, 0, 0;"
#define PRODUCT PRODUCT_OF("%rd10", "%rd11")
#define COMMIT "wgmma.commit_group.sync.aligned;"
#define WAIT "wgmma.wait_group.sync.aligned 0;"
#define OUT "st.global.v4.f32 [%rd63], {%f0, %f1, %f2, %f3};"
#define FROM_REGISTERS(a) \
    "mov.b32 %r20, 0;" FENCE SHAPE SUM "{" a ", " a ", " a ", " a "}, %rd11, 1, 1, 1, 0;"
// The second warpgroup writes what the first one multiplies.
#define OTHERS(first, second)                                              \
    TILE "setp.ge.u32 %p0, %r63, 128; @%p0 bra O;" FILL PROXY              \
         "barrier.sync 1, 128;" FENCE PRODUCT COMMIT first WAIT second OUT \
         "bra E;\nO: barrier.sync 0, 256; st.shared.v4.u32 [%r12+6144], " ZEROS "\nE:"
#define COPY(ready)                                                                                \
    TILE FILL "cp.async.ca.shared.global [%r12+8192], [%rd61], 16; cp.async.wait_all;" ready FENCE \
        PRODUCT COMMIT WAIT OUT
#define ONE_WARP(warp, ...) "shr.u32 %r20, %r63, 5; setp.eq.u32 %p1, %r20, " warp "; " __VA_ARGS__

static const WarpControl controls[] = {
    // Generic writes that the async proxy reads.
    {TILE FILL BARRIER FENCE PRODUCT COMMIT WAIT OUT, READY FENCE PRODUCT COMMIT WAIT OUT,
     SIM_FINDING_PROXY, "no fence.proxy.async", 128, 1, 1},
    // The reader may fence, after the barrier, but only for itself.
    {TILE FILL BARRIER ONE_WARP("2", "@!%p1 bra L;") PROXY "\nL:" FENCE PRODUCT COMMIT WAIT OUT,
     TILE FILL BARRIER PROXY FENCE PRODUCT COMMIT WAIT OUT, SIM_FINDING_PROXY, "a write of thread",
     128, 1, 1},
    {TILE FILL PROXY FENCE PRODUCT COMMIT WAIT OUT, READY FENCE PRODUCT COMMIT WAIT OUT,
     SIM_FINDING_RACE, "nothing orders them", 128, 1, 1},
    {COPY(BARRIER), COPY(PROXY BARRIER), SIM_FINDING_PROXY, "no fence.proxy.async", 128, 1, 1},
    {TILE FILL PROXY
     "cp.async.ca.shared.global [%r12+8192], [%rd61], 16; cp.async.wait_all;" BARRIER FENCE PRODUCT
         COMMIT WAIT OUT,
     COPY(PROXY BARRIER), SIM_FINDING_PROXY, "no fence.proxy.async", 128, 1, 1},
    // A value that nothing has written is a factor.
    {TILE PROXY BARRIER FENCE PRODUCT COMMIT WAIT OUT, READY FENCE PRODUCT COMMIT WAIT OUT,
     SIM_FINDING_POISON, "stored to global", 128, 1, 1},
    // wgmma.fence: before the first product; after other uses of the registers.
    {READY PRODUCT COMMIT WAIT OUT, READY FENCE PRODUCT COMMIT WAIT OUT, SIM_FINDING_FENCE,
     "the first one", 128, 1, 1},
    {READY FENCE PRODUCT COMMIT WAIT "mul.f32 %f1, %f1, 0f40000000;" PRODUCT COMMIT WAIT OUT,
     READY FENCE PRODUCT COMMIT WAIT "mul.f32 %f1, %f1, 0f40000000;" FENCE PRODUCT COMMIT WAIT OUT,
     SIM_FINDING_FENCE, "another instruction used a register", 128, 1, 1},
    {READY FENCE PRODUCT "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " SUM
                         "%rd10, %rd11, 1, 1, 1, 0, 0;" COMMIT WAIT OUT,
     READY FENCE PRODUCT PRODUCT COMMIT WAIT OUT, SIM_FINDING_FENCE, "another shape", 128, 1, 1},
    // The results before the wait.
    {READY FENCE PRODUCT COMMIT OUT WAIT, READY FENCE PRODUCT COMMIT WAIT OUT, SIM_FINDING_FLIGHT,
     "reads a result", 128, 1, 1},
    {READY FENCE PRODUCT WAIT OUT, READY FENCE PRODUCT COMMIT WAIT OUT, SIM_FINDING_FLIGHT,
     "reads a result", 128, 1, 1},
    {READY FENCE PRODUCT COMMIT "wgmma.wait_group.sync.aligned 1;" OUT,
     READY FENCE PRODUCT COMMIT WAIT OUT, SIM_FINDING_FLIGHT, "reads a result", 128, 1, 1},
    {READY FENCE PRODUCT COMMIT "mov.f32 %f3, 0f00000000;" WAIT OUT,
     READY FENCE PRODUCT COMMIT WAIT "mov.f32 %f3, 0f00000000;" OUT, SIM_FINDING_FLIGHT,
     "writes a result", 128, 1, 1},
    // A in registers.
    {READY FROM_REGISTERS("%r20") COMMIT "mov.b32 %r20, 1;" WAIT OUT,
     READY FROM_REGISTERS("%r20") COMMIT "add.u32 %r21, %r20, 1;" WAIT "mov.b32 %r20, 1;" OUT,
     SIM_FINDING_FLIGHT, "writes an operand", 128, 1, 1},
    {READY FENCE "mov.b32 %r20, 0;" SHAPE SUM
                 "{%r20, %r20, %r20, %r20}, %rd11, 1, 1, 1, 0;" COMMIT WAIT OUT,
     READY FROM_REGISTERS("%r20") COMMIT WAIT OUT, SIM_FINDING_FENCE, "another instruction used",
     128, 1, 1},
    // The factors are written while a product is in flight.
    {READY FENCE PRODUCT COMMIT "st.shared.u32 [%r12], %r0;" WAIT OUT,
     READY FENCE PRODUCT COMMIT WAIT BARRIER "st.shared.u32 [%r12], %r0;" OUT, SIM_FINDING_RACE,
     "a read in flight", 128, 1, 1},
    {READY FENCE PRODUCT COMMIT WAIT "st.shared.u32 [%r12+8192], %r0;" OUT,
     READY FENCE PRODUCT COMMIT WAIT BARRIER "st.shared.u32 [%r12+8192], %r0;" OUT,
     SIM_FINDING_RACE, "an asynchronous read of warp", 128, 1, 1},
    {OTHERS("barrier.sync 0, 256;", ""), OTHERS("", "barrier.sync 0, 256;"), SIM_FINDING_RACE,
     "a read in flight", 256, 1, 1},
    // Descriptors.
    {READY "mov.u64 %rd10, 0x4000004000000008;" FENCE PRODUCT COMMIT WAIT OUT,
     READY "mov.u64 %rd10, 0x4000004000000002;" FENCE PRODUCT COMMIT WAIT OUT,
     SIM_FINDING_ALIGNMENT, "middle of the swizzle's pattern", 128, 1, 1},
    {READY "mov.u64 %rd10, 0x4000004000000280;" FENCE PRODUCT COMMIT WAIT OUT,
     READY FENCE PRODUCT COMMIT WAIT OUT, SIM_FINDING_BOUNDS, "the block has 10240 bytes", 128, 1,
     1},
    {READY ONE_WARP("2", "@%p1 add.u64 %rd10, %rd10, 2;") FENCE PRODUCT COMMIT WAIT OUT,
     READY ONE_WARP("7", "@%p1 add.u64 %rd10, %rd10, 2;") FENCE PRODUCT COMMIT WAIT OUT,
     SIM_FINDING_KINDS, "another descriptor of A", 128, 1, 1},
    {READY "setp.eq.u32 %p1, %r63, 5; @%p1 add.u64 %rd11, %rd11, 2;" FENCE PRODUCT COMMIT WAIT OUT,
     READY FENCE PRODUCT COMMIT WAIT OUT, SIM_FINDING_KINDS, "in lane 5 of warp 0", 128, 1, 1},
    // All four warps, and whole warpgroups.
    {READY ONE_WARP("3", "@%p1 bra E;") FENCE PRODUCT COMMIT WAIT OUT "\nE:",
     READY ONE_WARP("4", "@%p1 bra E;") FENCE PRODUCT COMMIT WAIT OUT "\nE:", SIM_FINDING_KINDS,
     "has ended without it", 128, 1, 1},
    {READY ONE_WARP("1", "@%p1 bra L;") FENCE PRODUCT COMMIT
     "bra W;\nL:" FENCE PRODUCT PRODUCT COMMIT "\nW:" WAIT OUT,
     READY FENCE PRODUCT COMMIT WAIT OUT, SIM_FINDING_KINDS, "executed another instruction", 128, 1,
     1},
};

static void test_controls(void **state) {
    (void)state;
    warp_controls(controls, sizeof controls / sizeof *controls);
}

// Half of a warpgroup.
static void test_half(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    warp_open(&w, warp_kernel(arena, "sm_90a", FENCE));
    SimResult r = warp_run(&w, "k", 1, 64, 0, (uint64_t[]){warp_alloc(&w, 1024), 0}, 2);
    assert_int_equal(r.outcome, SIM_FAILED);
    assert_non_null(strstr(r.text, "needs four whole warps"));
    warp_close(&w);
    arena_destroy(arena);
}

static void refused(const char *arch, const char *body, const char *message) {
    Arena *arena = arena_create();
    Str said = warp_refused(arena, warp_kernel(arena, arch, body));
    if (!strstr(said.text, message)) fail_msg("%s: %s", body, said.text);
    arena_destroy(arena);
}

static void test_refused(void **state) {
    (void)state;
    refused("sm_90", FENCE, "needs the target sm_90a");
    refused("sm_100a", COMMIT, "needs the target sm_90a");
    refused("sm_80", PRODUCT, "needs the target sm_90a");
    refused("sm_90a",
            "wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 " SUM
            "%rd0, %rd1, 1, 1, 1, 0, 0;",
            "unknown shape");
    refused("sm_90a",
            "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 " SUM
            "%rd0, %rd1, 1, 1, 1, 0, 0;",
            "4 registers where the shape has 8");
    refused("sm_90a", SHAPE SUM "%rd0, %rd1, 1, 1, 2, 0, 0;", "1 or -1 is expected");
    refused("sm_90a", SHAPE SUM "%rd0, %rd1, 1, 1, 1, 0;", "too few operands");
    refused("sm_90a",
            "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%f0, %f1}, %rd0, %rd1, "
            "1, 1, 1, 0, 0;",
            "is not supported");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_controls), cmocka_unit_test(test_half),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
