// The warp machine's speed: lane-instructions a second on one core, bare and with all observers.
//
//     bench_sim
//
// Kernels: a loop of mixed arithmetic, shared memory and barriers; matrix products of numbers whose
// exponents are near each other, and are not; copies to shared memory under way.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "sim/machine/machine.h"
#include "sim/observe/observe.h"
#include "sim/ptx/ptx.h"

// A loop of two loads of fragments and four products; `values` puts two f16 into %r6.
#define MATRICES(name, values) \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .pred %p<4>; .reg .b32 %r<64>; .reg .b64 " \
    "%rd<8>;\n"                                                                                   \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; "     \
    "add.u32 %r4, %r3, %r2; mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2; mov.u32 %r5, "  \
    "0;\n" values                                                                                 \
    "st.shared.v4.b32 [%r4], {%r6, %r6, %r6, %r6}; bar.sync 0; mov.u32 %r20, 0; mov.u32 %r21, 0; " \
    "mov.u32 %r22, 0; mov.u32 %r23, 0; mov.u32 %r24, 0; mov.u32 %r25, 0; mov.u32 %r26, 0; "       \
    "mov.u32 %r27, 0;\n"                                                                          \
    "L: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];\n"              \
    "xor.b32 %r7, %r4, 1024; ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r14, %r15, %r16, "  \
    "%r17}, [%r7];\n" MMA("%r14, %r15", "%r20, %r21, %r22, %r23")                                 \
        MMA("%r16, %r17", "%r24, %r25, %r26, %r27") MMA("%r14, %r16", "%r20, %r21, %r22, %r23")   \
            MMA("%r15, %r17", "%r24, %r25, %r26, %r27")                                           \
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 200; @%p2 bra L;\n"                               \
    "add.u32 %r20, %r20, %r24; st.global.u32 [%rd3], %r20;\nret;\n}\n"
#define MMA(b, c)                                                                              \
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {" c "}, {%r10, %r11, %r12, %r13}, {" b \
    "}, "                                                                                      \
    "{" c "};\n"

#define HEAD \
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 tile[];\n"
static const char mixed[] = HEAD
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
    "%r6;\nret;\n}\n";
static const char products[] =
    HEAD MATRICES("product", "and.b32 %r6, %r1, 0x03030303; or.b32 %r6, %r6, 0x3c003800;")
    // Exponents from -14 to 0: sums need more than a double.
    MATRICES("spread", "mul.lo.u32 %r6, %r1, 0x9e3779b9; and.b32 %r6, %r6, 0xbbffbbff;");
static const char copies[] = HEAD
    ".visible .entry copies(.param .u64 out)\n{\n.reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 "
    "%rd<8>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; "
    "add.u32 %r4, %r3, %r2;\n"
    "mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2; mov.u32 %r5, 0; mov.u32 %r6, 0;\n"
    "st.global.v4.b32 [%rd3], {%r6, %r6, %r6, %r6};\n"
    "L: cp.async.cg.shared.global [%r4], [%rd3], 16; cp.async.cg.shared.global [%r4+4096], [%rd3], "
    "16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
    "xor.b32 %r7, %r4, 512; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, "
    "[%r7]; ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r14, %r15, %r16, %r17}, [%r7+4096];\n"
    "add.u32 %r6, %r10, %r14; bar.sync 0;\n"
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 300; @%p2 bra L;\n"
    "st.global.u32 [%rd3], %r6;\nret;\n}\n";

static const char *const models[] = {mixed, products, copies};

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

static bool measure_all(const char *model) {
    Bench b = {.arena = arena_create()};
    Sources *sources = sources_create(b.arena);
    Diags *diags = diags_create(b.arena, sources);
    b.program = ptx_read(b.arena, source_add(sources, STR("bench.ptx"), str(model)), diags);
    if (!b.program) {
        StrBuf text = strbuf(b.arena);
        diags_text(diags, (DiagStyle){0}, &text);
        fputs(text.text, stderr);
    }
    for (uint32_t i = 0; b.program && i < b.program->kernel_count; i++)
        for (int watched = 0; watched < 2; watched++) measure(&b, &b.program->kernels[i], watched);
    arena_destroy(b.arena);
    return b.program != NULL;
}

int main(void) {
    bool good = true;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) good &= measure_all(models[i]);
    return good ? 0 : 1;
}
