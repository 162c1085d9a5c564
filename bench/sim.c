// The warp machine's speed: lane-instructions a second on one core, bare and with all observers.
//
//     bench_sim
//
// One kernel is a loop of mixed arithmetic, shared memory and barriers; the other one of matrix
// products.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "sim/machine/machine.h"
#include "sim/observe/observe.h"
#include "sim/ptx/ptx.h"

static const char model[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 tile[];\n"
    ".visible .entry mixed(.param .u64 out)\n{\n.reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 "
    "%rd<8>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile;\n"
    "add.u32 %r4, %r3, %r2; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; mov.u32 %r5, 0;\n"
    "mov.u32 %r6, %r1; mov.b32 %r7, 0f3F800000; mov.b32 %r8, 0f3F7FF000;\n"
    "L: fma.rn.f32 %r7, %r7, %r8, %r8; mul.f32 %r9, %r7, %r8; add.f32 %r10, %r9, %r7; max.f32 "
    "%r11, %r10, %r9;\n"
    "add.u32 %r12, %r6, %r5; xor.b32 %r13, %r12, %r6; shl.b32 %r14, %r13, 3; mad.lo.u32 %r6, %r14, "
    "5, %r12;\n"
    "and.b32 %r15, %r6, 255; shr.u32 %r16, %r6, 7; selp.b32 %r17, %r15, %r16, %p1; setp.lt.u32 "
    "%p1, %r17, %r5;\n"
    "st.shared.u32 [%r4], %r6; bar.sync 0; xor.b32 %r18, %r2, 128; add.u32 %r19, %r3, %r18; "
    "ld.shared.u32 %r20, [%r19];\n"
    "bar.sync 0; add.u32 %r6, %r6, %r20; cvt.rn.f32.u32 %r21, %r15; shfl.sync.bfly.b32 %r22, %r21, "
    "1, 31, -1;\n"
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 2000; @%p2 bra L;\nst.global.u32 [%rd3], "
    "%r6;\nret;\n}\n"
    ".visible .entry product(.param .u64 out)\n{\n.reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 "
    "%rd<8>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; "
    "add.u32 %r4, %r3, %r2;\n"
    "mov.u32 %r5, 0; mov.b32 %r6, 0x3c003800; st.shared.v4.b32 [%r4], {%r6, %r6, %r6, %r6}; "
    "bar.sync 0;\n"
    "mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;\n"
    "L: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r10, %r11, "
    "%r12, %r13}, {%r10, %r12},"
    " {%r20, %r21, %r22, %r23};\n"
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 500; @%p2 bra L;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r20;\nret;\n}\n";

typedef struct Bench {
    Arena *arena;
    const SimProgram *program;
} Bench;

static uint32_t all_observers(Arena *arena, const SimObserver **list) {
    SimFindings *f = sim_findings_create(arena);
    SimCounts *counts;
    const SimObserver *all[] = {sim_observe_bounds(arena, f),
                                sim_observe_poison(arena, f),
                                sim_observe_races(arena, f),
                                sim_observe_divergence(arena, f),
                                sim_observe_coalescing(arena, f, NULL),
                                sim_observe_banks(arena, f, NULL),
                                sim_observe_counts(arena, &counts)};
    memcpy(list, all, sizeof all);
    return sizeof all / sizeof *all;
}

static void measure(const Bench *b, const SimKernel *k, bool watched) {
    SimMemory *memory = sim_memory_create(watched);
    uint64_t out = 0, *variables = arena_new(b->arena, uint64_t, b->program->variable_count + 1);
    const SimObserver *list[8];
    uint8_t *params = arena_alloc(b->arena, k->param_bytes + 8);
    if (!sim_memory_alloc(memory, 1 << 20, "out", &out)) return;
    if (!sim_program_load(b->program, memory, variables)) return;
    memcpy(params, &out, 8);
    SimLaunch l = {.kernel = k,
                   .memory = memory,
                   .variables = variables,
                   .grid = {2, 1, 1},
                   .block = {256, 1, 1},
                   .shared = 8192,
                   .params = params,
                   .observers = list,
                   .observer_count = watched ? all_observers(b->arena, list) : 0};
    uint64_t best = UINT64_MAX;
    SimResult r = {0};
    for (int n = 0; n < 5; n++) {
        uint64_t begin = os_time_ns();
        r = sim_run(&l);
        uint64_t took = os_time_ns() - begin;
        best = took < best ? took : best;
    }
    if (r.outcome != SIM_DONE) printf("%s\n", r.text);
    printf("%-10.*s %-14s %8.1f M lane-instructions/s  (%llu warp instructions)\n",
           STR_ARG(k->name), watched ? "all observers" : "bare",
           (double)r.lane_steps * 1e3 / (double)best, (unsigned long long)r.steps);
    sim_memory_destroy(memory);
}

int main(void) {
    Bench b = {.arena = arena_create()};
    Sources *sources = sources_create(b.arena);
    Diags *diags = diags_create(b.arena, sources);
    b.program = ptx_read(b.arena, source_add(sources, STR("bench.ptx"), str(model)), diags);
    if (!b.program) {
        StrBuf text = strbuf(b.arena);
        diags_text(diags, (DiagStyle){0}, &text);
        fputs(text.text, stderr);
        return 1;
    }
    for (uint32_t i = 0; i < b.program->kernel_count; i++)
        for (int watched = 0; watched < 2; watched++) measure(&b, &b.program->kernels[i], watched);
    arena_destroy(b.arena);
    return 0;
}
