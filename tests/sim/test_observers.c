// A positive control for each observer, next to the same kernel without the mistake; and faults.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/warp.h"

typedef struct Control {
    const char *wrong, *right;  // bodies
    SimFindingKind kind;
    uint32_t threads;
    const char *text;  // part of the finding
    uint32_t blocks;
} Control;

#define ZERO "mov.u32 %r0, 0;"
#define STORE "st.global.u32 [%rd63], %r0;"
#define TILE                                                                                      \
    ".shared .align 16 .b8 tile[1024]; mov.u32 %r10, tile; shl.b32 %r11, %r63, 2; add.u32 %r12, " \
    "%r10, %r11;"
#define NEIGHBOUR "xor.b32 %r13, %r11, 128; add.u32 %r14, %r10, %r13;"

#define OWN_WORD "mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd0, %r1, 4; add.s64 %rd0, %rd63, %rd0;"
// Reads what another lane of the warp wrote.
#define OTHER_LANE                                                                           \
    TILE ZERO                                                                                \
        "st.shared.u32 [%r12], %r0; bar.warp.sync -1; xor.b32 %r13, %r11, 4; add.u32 %r14, " \
        "%r10, %r13; ld.shared.u32 %r1, [%r14];"
// The neighbour's place in global memory.
#define FAR_NEIGHBOUR(by)                                             \
    "xor.b32 %r13, %r63, " by                                         \
    "; mul.wide.u32 %rd0, %r13, 16; ld.param.u64 %rd1, [k_param_0]; " \
    "add.s64 %rd0, %rd0, %rd1;"
// The block that comes last reads what the other one wrote.
#define LAST_READS(before, atom, after)                                                         \
    OWN_WORD "mov.u32 %r0, 7; st.global.u32 [%rd0], %r0;" before atom " %r2, [%rd61], 1;" after \
             "setp.ne.u32 %p0, %r2, 0; @%p0 bra E; xor.b32 %r3, %r1, 1; mul.wide.u32 %rd1, "    \
             "%r3, 4; add.s64 %rd1, %rd63, %rd1; ld.global.u32 %r4, [%rd1];\nE:"
// Warp 1 waits for a flag of warp 0's, and reads what it wrote.
#define FLAG(before, after)                                                                     \
    TILE ZERO                                                                                   \
        "setp.ge.u32 %p0, %r63, 32; st.volatile.shared.u32 [tile+512], %r0; bar.sync 0; "       \
        "@%p0 bra L; st.shared.u32 [%r12], %r0; bar.warp.sync -1; mov.u32 %r1, 1;" before       \
        "st.volatile.shared.u32 [tile+512], %r1; bra E;\n"                                      \
        "L: ld.volatile.shared.u32 %r2, [tile+512]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;" after \
            NEIGHBOUR "ld.shared.u32 %r1, [%r14];\nE:"

static const Control controls[] = {
    {ZERO "st.global.u32 [%rd63+4096], %r0;", ZERO STORE, SIM_FINDING_BOUNDS, 32,
     "after the beginning of buffer", 1},
    {TILE ZERO "st.shared.u32 [%r12+1000], %r0;", TILE ZERO "st.shared.u32 [%r12], %r0;",
     SIM_FINDING_BOUNDS, 32, "shared memory", 1},
    {"ld.global.u32 %r0, [%rd63+2];", "ld.global.u32 %r0, [%rd63+4];", SIM_FINDING_ALIGNMENT, 32,
     "not aligned", 1},
    {STORE, ZERO STORE, SIM_FINDING_POISON, 32, "stored to global", 1},
    {TILE "ld.shared.u32 %r0, [%r12];" STORE,
     TILE ZERO "st.shared.u32 [%r12], %r0; ld.shared.u32 %r0, [%r12];" STORE, SIM_FINDING_POISON,
     32, "stored to global", 1},
    {"setp.eq.u32 %p0, %r5, 0; @%p0 bra L;\nL:",
     "mov.u32 %r5, 1; setp.eq.u32 %p0, %r5, 0; @%p0 bra L;\nL:", SIM_FINDING_POISON, 32,
     "decides a branch", 1},
    // One half of a pair was written, the other is read.
    {ZERO "mov.b64 %rd1, {%r5, %r0}; mov.b64 {%r0, _}, %rd1;" STORE,
     ZERO "mov.b64 %rd1, {%r5, %r0}; mov.b64 {_, %r0}, %rd1;" STORE, SIM_FINDING_POISON, 32,
     "stored to global", 1},
    {ZERO "mov.b64 %rd1, {%r0, %r5}; add.u64 %rd1, %rd1, 0; mov.b64 {%r0, _}, %rd1;" STORE,
     ZERO "mov.b64 %rd1, {%r0, %r0}; add.u64 %rd1, %rd1, 0; mov.b64 {%r0, _}, %rd1;" STORE,
     SIM_FINDING_POISON, 32, "stored to global", 1},
    // The wait is for the wrong group.
    {TILE "cp.async.ca.shared.global [%r12], [%rd61], 4; cp.async.commit_group; "
          "cp.async.wait_group 1; ld.shared.u32 %r0, [%r12];" STORE,
     TILE "cp.async.ca.shared.global [%r12], [%rd61], 4; cp.async.commit_group; "
          "cp.async.wait_group 0; ld.shared.u32 %r0, [%r12];" STORE,
     SIM_FINDING_POISON, 32, "waited for", 1},
    // Another warp reads without a barrier.
    {TILE NEIGHBOUR ZERO "st.shared.u32 [%r12], %r0; ld.shared.u32 %r1, [%r14];",
     TILE NEIGHBOUR ZERO "st.shared.u32 [%r12], %r0; bar.sync 0; ld.shared.u32 %r1, [%r14];",
     SIM_FINDING_RACE, 64, "nothing orders them", 1},
    // It writes what was read.
    {TILE NEIGHBOUR ZERO
     "st.shared.u32 [%r12], %r0; bar.sync 0; ld.shared.u32 %r1, [%r14]; st.shared.u32 [%r12], %r0;",
     TILE NEIGHBOUR ZERO "st.shared.u32 [%r12], %r0; bar.sync 0; ld.shared.u32 %r1, [%r14]; "
                         "bar.sync 0; st.shared.u32 [%r12], %r0;",
     SIM_FINDING_RACE, 64, "nothing orders them", 1},
    // Lanes of one warp need bar.warp.sync.
    {TILE ZERO "st.shared.u32 [%r12], %r0; xor.b32 %r13, %r11, 4; add.u32 %r14, %r10, %r13; "
               "ld.shared.u32 %r1, [%r14];",
     TILE ZERO "st.shared.u32 [%r12], %r0; bar.warp.sync -1; xor.b32 %r13, %r11, 4; add.u32 %r14, "
               "%r10, %r13; ld.shared.u32 %r1, [%r14];",
     SIM_FINDING_RACE, 32, "a write", 1},
    // A lane writes what another one of its warp has read; a shuffle waits for what was read.
    {OTHER_LANE "st.shared.u32 [%r12], %r1;",
     OTHER_LANE "bar.warp.sync -1; st.shared.u32 [%r12], %r1;", SIM_FINDING_RACE, 32,
     "a read of thread", 1},
    {OTHER_LANE "st.shared.u32 [%r12], %r1; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;",
     OTHER_LANE "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; st.shared.u32 [%r12], %r2;",
     SIM_FINDING_RACE, 32, "a read of thread", 1},
    {TILE ZERO "setp.eq.u32 %p0, %r63, 0; @%p0 st.shared.u32 [tile], %r0; bar.warp.sync -1; "
               "ld.shared.u32 %r1, [tile]; @%p0 st.shared.u32 [tile], %r1;",
     TILE ZERO "setp.eq.u32 %p0, %r63, 0; @%p0 st.shared.u32 [tile], %r0; bar.warp.sync -1; "
               "ld.shared.u32 %r1, [tile]; bar.warp.sync -1; @%p0 st.shared.u32 [tile], %r1;",
     SIM_FINDING_RACE, 32, "a read of warp 0", 1},
    // Lanes of one store: different values at one place; the same value is fine.
    {TILE "st.shared.u32 [tile], %r63;", TILE ZERO "st.shared.u32 [tile], %r0;", SIM_FINDING_RACE,
     32, "a write", 1},
    {TILE ZERO "setp.eq.u32 %p0, %r63, 1; selp.u32 %r1, 0, 7, %p0; st.shared.u32 [tile], %r0; "
               "bar.warp.sync -1; setp.lt.u32 %p0, %r63, 2; @%p0 st.shared.u32 [tile], %r1;",
     TILE ZERO "setp.eq.u32 %p0, %r63, 1; selp.u32 %r1, 0, 7, %p0; st.shared.u32 [tile], %r0; "
               "bar.warp.sync -1; setp.lt.u32 %p0, %r63, 2; @%p0 st.shared.u32 [tile], 7;",
     SIM_FINDING_RACE, 32, "a write of thread 0", 1},
    // Warps, and two stores of lanes of one warp: as much; and they write what others read.
    {TILE "shr.u32 %r0, %r63, 5; st.shared.u32 [tile], %r0;", TILE "st.shared.u32 [tile], 5;",
     SIM_FINDING_RACE, 64, "a write", 1},
    {"ld.param.u64 %rd1, [k_param_0]; shr.u32 %r0, %r63, 5; st.global.u32 [%rd1], %r0;",
     "ld.param.u64 %rd1, [k_param_0]; st.global.u32 [%rd1], 5;", SIM_FINDING_RACE, 64, "a write",
     1},
    {TILE "setp.eq.u32 %p0, %r63, 0; @%p0 st.shared.u32 [tile], 5; @!%p0 st.shared.u32 [tile], 6;",
     TILE "setp.eq.u32 %p0, %r63, 0; @%p0 st.shared.u32 [tile], 5; @!%p0 st.shared.u32 [tile], 5;",
     SIM_FINDING_RACE, 32, "a write of thread 0", 1},
    {TILE "st.shared.u32 [tile], 5; ld.shared.u32 %r0, [tile];", TILE "st.shared.u32 [tile], 5;",
     SIM_FINDING_RACE, 64, "a write", 1},
    {TILE
     "st.shared.u32 [tile], 5; bar.sync 0; ld.shared.u32 %r0, [tile]; st.shared.u32 [tile], 5;",
     TILE "st.shared.u32 [tile], 5; bar.sync 0; st.shared.u32 [tile], 5;", SIM_FINDING_RACE, 64,
     "a read", 1},
    // One of the bytes differs; the value that an atomic will have written is not known.
    {TILE "shr.u32 %r0, %r63, 5; shl.b32 %r0, %r0, 16; mov.u32 %r1, 3; "
          "st.shared.v2.u32 [tile], {%r1, %r0};",
     TILE "mov.u32 %r0, 4; mov.u32 %r1, 3; st.shared.v2.u32 [tile], {%r1, %r0};", SIM_FINDING_RACE,
     64, "a write", 1},
    {TILE
     "shr.u32 %r0, %r63, 5; setp.eq.u32 %p0, %r0, 0; @%p0 atom.shared.exch.b32 %r1, [tile], 5; "
     "@!%p0 st.shared.u32 [tile], 5;",
     TILE "atom.shared.exch.b32 %r1, [tile], 5;", SIM_FINDING_RACE, 64, "a write", 1},
    // A copy waited for by its own thread only.
    {TILE NEIGHBOUR
     "cp.async.ca.shared.global [%r12], [%rd61], 4; cp.async.wait_all; ld.shared.u32 %r1, [%r14];",
     TILE NEIGHBOUR "cp.async.ca.shared.global [%r12], [%rd61], 4; cp.async.wait_all; bar.sync 0; "
                    "ld.shared.u32 %r1, [%r14];",
     SIM_FINDING_RACE, 64, "nothing orders them", 1},
    // Through global memory: another warp, another lane, another block.
    {ZERO STORE FAR_NEIGHBOUR("32") "ld.global.u32 %r1, [%rd0];",
     ZERO STORE "bar.sync 0;" FAR_NEIGHBOUR("32") "ld.global.u32 %r1, [%rd0];", SIM_FINDING_RACE,
     64, "of buffer in global memory", 1},
    {FAR_NEIGHBOUR("32") "ld.global.u32 %r1, [%rd0];" ZERO STORE,
     FAR_NEIGHBOUR("32") "ld.global.u32 %r1, [%rd0]; bar.sync 0;" ZERO STORE, SIM_FINDING_RACE, 64,
     "global memory", 1},
    {ZERO STORE FAR_NEIGHBOUR("1") "ld.global.u32 %r1, [%rd0];",
     ZERO STORE "bar.warp.sync -1;" FAR_NEIGHBOUR("1") "ld.global.u32 %r1, [%rd0];",
     SIM_FINDING_RACE, 32, "a write of thread", 1},
    {ZERO STORE, OWN_WORD ZERO "st.global.u32 [%rd0], %r0;", SIM_FINDING_RACE, 32, "blocks ", 4},
    {ZERO "red.global.add.u32 [%rd63], 1; st.global.u32 [%rd63], %r0;",
     "red.global.add.u32 [%rd63], 1;", SIM_FINDING_RACE, 32, "blocks ", 4},
    // An atomic for the block only.
    {"red.relaxed.cta.global.add.u32 [%rd63], 1;", "red.relaxed.gpu.global.add.u32 [%rd63], 1;",
     SIM_FINDING_RACE, 32, "blocks ", 4},
    // Bytes of one word, and one byte of a word.
    {OWN_WORD ZERO "st.global.u32 [%rd0], %r0; st.global.u8 [%rd63+5], %r0;",
     OWN_WORD ZERO "st.global.u8 [%rd0+1], %r0; st.global.u8 [%rd0+3], %r0;", SIM_FINDING_RACE, 32,
     "byte 5 of", 4},
    {LAST_READS("", "atom.global.inc.u32", ""),
     LAST_READS("membar.gl;", "atom.global.inc.u32", "membar.gl;"), SIM_FINDING_RACE, 1, "blocks ",
     2},
    {LAST_READS("membar.cta;", "atom.global.inc.u32", "membar.cta;"),
     LAST_READS("", "atom.acq_rel.gpu.global.inc.u32", ""), SIM_FINDING_RACE, 1, "blocks ", 2},
    {LAST_READS("membar.gl;", "atom.global.inc.u32", ""),
     LAST_READS("fence.acq_rel.gpu;", "atom.global.inc.u32", "fence.acq_rel.gpu;"),
     SIM_FINDING_FENCE, 1, "no fence", 2},
    {FLAG("", ""), FLAG("membar.cta;", "membar.cta;"), SIM_FINDING_FENCE, 64, "no fence", 1},
    {FLAG("membar.cta;", ""), FLAG("membar.cta;", "membar.cta;"), SIM_FINDING_FENCE, 64, "no fence",
     1},
    {FLAG("", "membar.cta;"), FLAG("membar.cta;", "membar.cta;"), SIM_FINDING_FENCE, 64, "no fence",
     1},
    {"setp.lt.u32 %p0, %r63, 16; @%p0 bra L; bar.sync 0; bra E;\nL: bar.sync 0;\nE:", "bar.sync 0;",
     SIM_FINDING_DIVERGED, 32, "bar.sync", 1},
};

static void run_control(const Control *c, const char *body, bool wrong) {
    Arena *arena = arena_create();
    Warp w;
    const char *text = arena_printf(arena, ".loc 1 7 3\n%s", body);
    warp_open(&w, arena_printf(arena, "%s.file 1 \"k.tile\"\n", warp_kernel(arena, "sm_80", text)));
    warp_watch(&w);
    uint32_t in = 1;
    uint64_t args[] = {warp_alloc(&w, c->threads * 16), warp_upload(&w, &in, 4)};
    // The neighbour's word exists for both warps' order.
    for (w.seed = 0; w.seed < 8; w.seed++) warp_run(&w, "k", c->blocks, c->threads, 0, args, 2);
    bool found = wrong && warp_found(&w, c->kind);
    for (size_t i = 0; !wrong && i < w.findings->list.count; i++)
        found |= sim_finding_is_error(w.findings->list.data[i].kind);
    if (found != wrong)
        fail_msg("%s: %s", body, wrong ? "nothing was found" : "something was found");
    bool told = false;
    for (size_t i = 0; wrong && i < w.findings->list.count; i++) {
        const SimFinding *f = &w.findings->list.data[i];
        assert_true(f->line.text_line > 0);
        assert_int_equal(f->line.line, 7);
        assert_true(str_ends(f->line.file, STR("k.tile")));
        if (f->kind != c->kind || told) continue;
        if (!strstr(f->text.text, c->text)) fail_msg("%s: %.*s", body, STR_ARG(f->text));
        told = true;
    }
    warp_close(&w);
    arena_destroy(arena);
}

static void test_controls(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        run_control(&controls[i], controls[i].wrong, true);
        run_control(&controls[i], controls[i].right, false);
    }
}

static SimTraffic traffic(const char *body, bool global, uint64_t in_size) {
    Arena *arena = arena_create();
    Warp w;
    const char *placed = arena_printf(arena, ".loc 1 7 3\n%s", body);
    warp_open(&w,
              arena_printf(arena, "%s.file 1 \"k.tile\"\n", warp_kernel(arena, "sm_80", placed)));
    SimTrafficTable *table;
    w.observers[0] = global ? sim_observe_coalescing(w.arena, w.findings, &table)
                            : sim_observe_banks(w.arena, w.findings, &table);
    w.observer_count = 1;
    uint64_t args[] = {warp_alloc(&w, 512), warp_alloc(&w, in_size)};
    SimResult r = warp_run(&w, "k", 1, 32, 0, args, 2);
    assert_int_equal(r.outcome, SIM_DONE);
    SimTraffic t = table->load;
    assert_int_equal(t.units > t.ideal,
                     warp_found(&w, global ? SIM_FINDING_UNCOALESCED : SIM_FINDING_CONFLICT));
    for (size_t i = 0; i < w.findings->list.count; i++)
        assert_true(w.findings->list.data[i].line.line == 7 &&
                    str_ends(w.findings->list.data[i].line.file, STR("k.tile")));
    warp_close(&w);
    arena_destroy(arena);
    return t;
}

// Steps of `step` bytes from lane to lane.
static SimTraffic global_steps(int step, const char *type) {
    Arena *arena = arena_create();
    const char *body = arena_printf(arena,
                                    "mul.wide.u32 %%rd0, %%r63, %d; add.s64 %%rd0, %%rd0, %%rd61;"
                                    "ld.global.%s, [%%rd0];",
                                    step, type);
    SimTraffic t = traffic(body, true, 8192);
    arena_destroy(arena);
    return t;
}
static SimTraffic shared_steps(int step, const char *type) {
    Arena *arena = arena_create();
    const char *body = arena_printf(arena,
                                    ".shared .align 16 .b8 tile[8192]; mov.u32 %%r10, tile;"
                                    "mad.lo.u32 %%r11, %%r63, %d, %%r10; ld.shared.%s, [%%r11];",
                                    step, type);
    SimTraffic t = traffic(body, false, 16);
    arena_destroy(arena);
    return t;
}

static void test_sectors(void **state) {
    (void)state;
    assert_int_equal(global_steps(4, "u32 %r0").units, 4);
    assert_int_equal(global_steps(16, "v4.u32 {%r0, %r1, %r2, %r3}").units, 16);
    assert_int_equal(global_steps(0, "u32 %r0").units, 1);
    assert_int_equal(global_steps(0, "u32 %r0").ideal, 1);
    SimTraffic t = global_steps(64, "u32 %r0");
    assert_int_equal(t.units, 32);
    assert_int_equal(t.ideal, 4);
}

static void test_banks(void **state) {
    (void)state;
    assert_int_equal(shared_steps(4, "u32 %r0").units, 1);
    assert_int_equal(shared_steps(0, "u32 %r0").units, 1);
    assert_int_equal(shared_steps(8, "u32 %r0").units, 2);
    assert_int_equal(shared_steps(128, "u32 %r0").units, 32);
    assert_int_equal(shared_steps(132, "u32 %r0").units, 1);
    assert_int_equal(shared_steps(16, "v4.u32 {%r0, %r1, %r2, %r3}").units, 4);
    assert_int_equal(shared_steps(128, "v4.u32 {%r0, %r1, %r2, %r3}").units, 32);
}

static void test_counts(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    warp_open(&w, warp_kernel(arena, "sm_80",
                              "setp.lt.u32 %p0, %r63, 8; @%p0 add.u32 %r0, %r63, 1; bar.sync 0;"));
    SimCounts *c;
    w.observers[0] = sim_observe_counts(w.arena, &c);
    w.observer_count = 1;
    uint64_t args[] = {warp_alloc(&w, 1024), 0};
    SimResult r = warp_run(&w, "k", 3, 64, 0, args, 2);
    assert_int_equal(r.outcome, SIM_DONE);
    // 5 before the body, 3 of it, the return: 2 warps in each of 3 blocks
    assert_int_equal(c->total, 9 * 6);
    assert_int_equal(c->total_lanes, (8 * 64 + 8) * 3);
    assert_int_equal(r.steps, c->total);
    assert_int_equal(c->barriers, 3);
    warp_close(&w);
    arena_destroy(arena);
}

static SimResult run_plain(const char *body, uint32_t threads, uint64_t limit) {
    Arena *arena = arena_create();
    Warp w;
    warp_open(&w, warp_kernel(arena, "sm_80", body));
    w.step_limit = limit;
    uint64_t args[] = {warp_alloc(&w, 4096), 0};
    SimResult r = warp_run(&w, "k", 1, threads, 0, args, 2);
    r.line.file = (Str){0};
    warp_close(&w);
    arena_destroy(arena);
    return r;
}

static void test_faults(void **state) {
    (void)state;
    SimResult r = run_plain("trap;", 32, 0);
    assert_true(r.outcome == SIM_FAILED && r.fault == SIM_FAULT_TRAP);
    r = run_plain("L: bra L;", 32, 1000);
    assert_true(r.outcome == SIM_FAILED && r.fault == SIM_FAULT_LIMIT);
    r = run_plain("setp.lt.u32 %p0, %r63, 32; @%p0 bar.sync 1, 64;", 64, 100000);
    assert_true(r.outcome == SIM_FAILED && r.fault == SIM_FAULT_DEADLOCK);
    assert_non_null(strstr(r.text, "bar.sync"));
    r = run_plain("bar.sync 17;", 32, 0);
    assert_true(r.outcome == SIM_FAILED && r.fault == SIM_FAULT_USE);
    r = run_plain("mov.u32 %r0, 0; shfl.sync.idx.b32 %r1, %r0, 0, 31, -2;", 32, 0);
    assert_true(r.outcome == SIM_FAILED && r.fault == SIM_FAULT_USE);
    assert_non_null(strstr(r.text, "lane 0 of warp 0 executes it"));
    r = run_plain("mov.u64 %rd0, 16; ld.global.u32 %r0, [%rd0];", 32, 0);
    assert_true(r.outcome == SIM_FAILED && r.fault == SIM_FAULT_BOUNDS);
    r = run_plain("", 2000, 0);
    assert_int_equal(r.outcome, SIM_REFUSED);
}

// A place outside all memory gives one finding: that it is outside.
static void test_nowhere(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    warp_open(&w, warp_kernel(arena, "sm_80", "mov.u64 %rd0, 16; st.global.u32 [%rd0], %r63;"));
    warp_watch(&w);
    warp_run(&w, "k", 1, 64, 0, (uint64_t[]){warp_alloc(&w, 512), 0}, 2);
    assert_true(warp_found(&w, SIM_FINDING_BOUNDS));
    assert_false(warp_found(&w, SIM_FINDING_RACE));
    warp_close(&w);
    arena_destroy(arena);
}

static void test_freed(void **state) {
    (void)state;
    SimMemory *m = sim_memory_create(true);
    uint64_t a, b;
    assert_true(sim_memory_alloc(m, 100, "a", &a));
    assert_true(sim_memory_alloc(m, 100, "b", &b));
    assert_non_null(sim_memory_find(m, a + 99, 1));
    assert_null(sim_memory_find(m, a + 99, 2));
    assert_null(sim_memory_find(m, a - 1, 1));
    assert_true(sim_memory_free(m, a));
    assert_false(sim_memory_free(m, a));
    assert_null(sim_memory_find(m, a, 1));
    assert_string_equal(sim_memory_nearest(m, a + 3)->name, "a");
    uint64_t c;
    assert_true(sim_memory_alloc(m, 100, "c", &c));
    assert_true(c > b);
    sim_memory_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_controls), cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_banks),    cmocka_unit_test(test_counts),
        cmocka_unit_test(test_faults),   cmocka_unit_test(test_freed),
        cmocka_unit_test(test_nowhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
