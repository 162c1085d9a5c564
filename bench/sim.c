// The warp machine's speed: lane-instructions a second on one core, without and with all observers.
//
//     bench_sim
//     bench_sim [--bare | --observed] FILE.ptx GRID SHARED ARG...
//
// A lane-instruction is one PTX instruction executed by one lane whose guard is true, whatever it
// does: an mma.sync is 32. With a file: its first kernel, on GRID blocks with SHARED dynamic bytes,
// on arrays f16:COUNT and f32:COUNT of normal numbers, and on i64:N, f32=X (bench/sim.sh has the
// kernels of the documented table). Without one, built-in kernels: a loop of mixed arithmetic,
// shared memory and barriers; matrix products of numbers with close exponents, and with distant
// ones; asynchronous copies to shared memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "sim/machine/machine.h"
#include "sim/machine/number/number.h"
#include "sim/observe/observe.h"
#include "sim/ptx/ptx.h"

// A loop of two loads of fragments and four products; `values` stores two f16 in %r6.
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

enum { PARAMS_MAX = 512, SAMPLE_NS = 400 * 1000 * 1000, TEXT_MAX_BYTES = 16 << 20 };

typedef struct Bench {
    Arena *arena;
    const SimProgram *program;
    uint32_t grid, shared;
    char **args;  // arguments of the kernel
    int arg_count;
    uint64_t random;
    bool not_bare, not_observed;
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

// Roughly normal: the sum of twelve uniform numbers.
static float normal(Bench *b) {
    float sum = -6;
    for (int n = 0; n < 12; n++) {
        b->random = b->random * UINT64_C(6364136223846793005) + 1442695040888963407;
        sum += (float)(b->random >> 40) * 0x1p-24f;
    }
    return sum;
}

static bool fill_array(Bench *b, SimMemory *memory, bool half, uint64_t count, uint64_t *address) {
    size_t size = half ? 2 : 4;
    uint8_t *data = arena_alloc(b->arena, count * size + 1);
    for (uint64_t n = 0; n < count; n++) {
        float x = normal(b);
        uint16_t h = (uint16_t)sim_f16_round(x);
        memcpy(data + n * size, half ? (void *)&h : (void *)&x, size);
    }
    return sim_memory_alloc(memory, count * size, "array", address) &&
           sim_memory_write(memory, *address, data, count * size);
}

// Stores one argument in 8 bytes.
static bool put_arg(Bench *b, SimMemory *memory, const char *arg, uint8_t *to) {
    const char *value = arg + 4;
    uint64_t bits = 0;
    if (!strncmp(arg, "i64:", 4)) {
        bits = strtoull(value, NULL, 10);
    } else if (!strncmp(arg, "f32=", 4)) {
        bits = sim_bits_f32(strtof(value, NULL));
    } else if (!strncmp(arg, "f32:", 4) || !strncmp(arg, "f16:", 4)) {
        if (!fill_array(b, memory, arg[1] == '1', strtoull(value, NULL, 10), &bits)) return false;
    } else {
        fprintf(stderr, "bench_sim: '%s' is not an argument\n", arg);
        return false;
    }
    memcpy(to, &bits, sizeof bits);
    return true;
}

static bool measure(Bench *b, const SimKernel *k, bool watched) {
    SimMemory *memory = sim_memory_create(watched);
    uint64_t *variables = arena_new(b->arena, uint64_t, b->program->variable_count + 1);
    const SimObserver *list[8];
    uint8_t params[PARAMS_MAX] = {0};
    bool good = k->param_bytes <= sizeof params && sim_program_load(b->program, memory, variables);
    for (int n = 0; good && n < b->arg_count; n++)
        good = 8u * (unsigned)n < sizeof params &&
               put_arg(b, memory, b->args[n], params + (size_t)8 * (unsigned)n);
    SimLaunch l = {.kernel = k,
                   .memory = memory,
                   .variables = variables,
                   .grid = {b->grid, 1, 1},
                   .block = {k->reqntid[0] ? k->reqntid[0] : 256, 1, 1},
                   .device = {GPU_NVIDIA, b->program->arch, b->program->arch_a, false},
                   .shared = b->shared,
                   .params = params,
                   .observers = list,
                   .observer_count = watched ? all_observers(b->arena, list) : 0};
    uint64_t best = UINT64_MAX;
    SimResult r = {0};
    uint64_t first = os_time_ns();
    while (good && os_time_ns() - first < SAMPLE_NS) {
        uint64_t begin = os_time_ns();
        r = sim_run(&l);
        uint64_t took = os_time_ns() - begin;
        best = took < best ? took : best;
    }
    if (r.outcome != SIM_DONE) printf("%s\n", r.text);
    printf("%-24.*s %-14s %8.1f M lane-instructions/s  (%llu warp instructions)\n",
           STR_ARG(k->name), watched ? "all observers" : "bare",
           (double)r.lane_steps * 1e3 / (double)best, (unsigned long long)r.steps);
    sim_memory_destroy(memory);
    return good && r.outcome == SIM_DONE;
}

static bool measure_all(Bench *b, const char *name, Str text) {
    b->arena = arena_create();
    Sources *sources = sources_create(b->arena);
    Diags *diags = diags_create(b->arena, sources);
    b->program = ptx_read(b->arena, source_add(sources, str(name), text), diags);
    if (!b->program) {
        StrBuf said = strbuf(b->arena);
        diags_text(diags, (DiagStyle){0}, &said);
        fputs(said.text, stderr);
    }
    bool good = b->program != NULL;
    for (uint32_t i = 0; good && i < b->program->kernel_count; i++)
        good &= (b->not_bare || measure(b, &b->program->kernels[i], false)) &&
                (b->not_observed || measure(b, &b->program->kernels[i], true));
    arena_destroy(b->arena);
    return good;
}

static int measure_file(int count, char **words) {
    bool bare = !strcmp(words[1], "--bare"), observed = !strcmp(words[1], "--observed");
    words += bare | observed, count -= bare | observed;
    if (count < 4) return 1;
    Bench b = {.not_bare = observed,
               .not_observed = bare,
               .grid = (uint32_t)strtoul(words[2], NULL, 10),
               .shared = (uint32_t)strtoul(words[3], NULL, 10),
               .args = words + 4,
               .arg_count = count - 4};
    Arena *arena = arena_create();
    Str text;
    OsError error;
    bool good = os_read_file(arena, words[1], TEXT_MAX_BYTES, &text, &error);
    if (!good) fprintf(stderr, "bench_sim: %s\n", error.text);
    good = good && measure_all(&b, words[1], text);
    arena_destroy(arena);
    return good ? 0 : 1;
}

int main(int count, char **words) {
    static char array[] = "f32:262144";
    char *args[] = {array};
    bool good = true;
    if (count > 3) return measure_file(count, words);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        Bench b = {.grid = 2, .shared = 8192, .args = args, .arg_count = 1};
        good &= measure_all(&b, "bench.ptx", str(models[i]));
    }
    return good ? 0 : 1;
}
