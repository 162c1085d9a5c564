// Bulk copies and tensor copies: boxes of all ranks, types and swizzles, in and out, reductions;
// against loops over the elements.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/machine/number/number.h"
#include "tests/support/warp.h"

enum { SHARED = 32768, ARRAY = 1 << 18, AT = 1024 };

typedef struct Box {
    GpuMapType type;
    uint32_t rank;
    uint32_t dims[GPU_MAP_RANK], box[GPU_MAP_RANK], steps[GPU_MAP_RANK];
    GpuMapSwizzle swizzle;
    int32_t at[GPU_MAP_RANK];
    bool nan;
} Box;

// ---- Where an element is ----

static uint32_t count_along(const Box *b, uint32_t d) {
    return (b->box[d] + b->steps[d] - 1) / b->steps[d];
}
static uint32_t elements(const Box *b) {
    uint32_t count = 1;
    for (uint32_t d = 0; d < b->rank; d++) count *= count_along(b, d);
    return count;
}
static uint32_t size_of(const Box *b) { return gpu_map_type_bytes(b->type); }

// Byte of element n in shared memory: rows as wide as the swizzle, whose units are exchanged.
static uint32_t shared_place(const Box *b, uint32_t n) {
    uint32_t at = AT + n * size_of(b), width = 16u << b->swizzle;
    uint32_t row = at / width, unit = at % width / 16;
    uint32_t other = b->swizzle == GPU_MAP_SWIZZLE_128  ? unit ^ row % 8
                     : b->swizzle == GPU_MAP_SWIZZLE_64 ? unit ^ row / 2 % 4
                     : b->swizzle == GPU_MAP_SWIZZLE_32 ? unit ^ row / 4 % 2
                                                        : unit;
    return row * width + other * 16 + at % 16;
}

// Strides are rounded up to 16 bytes.
static uint64_t stride(const Box *b, uint32_t d) {
    uint64_t bytes = size_of(b);
    for (uint32_t n = 0; n < d; n++) bytes = (bytes * b->dims[n] + 15) & ~UINT64_C(15);
    return bytes;
}

// False: the element is outside.
static bool global_place(const Box *b, uint32_t n, uint64_t *at) {
    bool inside = true;
    *at = 0;
    for (uint32_t d = 0; d < b->rank; d++) {
        int64_t c = b->at[d] + (int64_t)(n % count_along(b, d)) * b->steps[d];
        inside &= c >= 0 && c < b->dims[d];
        *at += (uint64_t)c * (d ? stride(b, d) : size_of(b));
        n /= count_along(b, d);
    }
    return inside;
}

// ---- Kernels ----

static GpuMap map_of(const Box *b, uint64_t address) {
    GpuMapFacts f = {
        .type = b->type, .rank = b->rank, .address = address, .swizzle = b->swizzle, .nan = b->nan};
    for (uint32_t d = 0; d < b->rank; d++) {
        f.dims[d] = b->dims[d], f.box[d] = b->box[d], f.steps[d] = b->steps[d];
        if (d) f.strides[d - 1] = stride(b, d);
    }
    GpuMap m;
    const char *wrong = gpu_map_encode(&f, &m);
    if (wrong) fail_msg("%s", wrong);
    return m;
}

static void put_coordinates(StrBuf *t, const Box *b) {
    for (uint32_t d = 0; d < b->rank; d++) strbuf_printf(t, "%s%d", d ? ", " : "", b->at[d]);
}

// The kernel's frame: 32 threads, shared memory copied from `in` before, to `out` after.
static void put_head(StrBuf *t) {
    strbuf_printf(t,
                  ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 1024 .b8 "
                  "sm[];\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 in, .param "
                  ".u64 out)\n{\n.reg .pred %%p<4>; .reg .b32 %%r<8>; .reg .b64 %%rd<8>;\n.shared "
                  ".align 8 .b8 bar[8];\n"
                  "mov.b64 %%rd0, map; cvta.param.u64 %%rd0, %%rd0; ld.param.u64 %%rd1, [in]; "
                  "ld.param.u64 %%rd2, [out]; mov.u32 %%r0, %%tid.x; setp.eq.u32 %%p0, %%r0, 0; "
                  "mov.u32 %%r1, sm; shl.b32 %%r2, %%r0, 2; cvt.u64.u32 %%rd3, %%r2; add.s64 "
                  "%%rd1, %%rd1, %%rd3; add.s64 %%rd2, %%rd2, %%rd3; add.u32 %%r2, %%r2, %%r1;\n");
}
static void put_loop(StrBuf *t, const char *label, const char *body) {
    strbuf_printf(t,
                  "mov.u32 %%r3, 0; mov.u32 %%r4, %%r2;\n%s: %s add.u32 %%r4, %%r4, 128; add.u32 "
                  "%%r3, %%r3, 128; setp.lt.u32 %%p1, %%r3, %d; @%%p1 bra %s;\n",
                  label, body, SHARED, label);
}
#define IN "ld.global.b32 %r5, [%rd1]; st.shared.b32 [%r4], %r5; add.s64 %rd1, %rd1, 128;"
#define OUT "ld.shared.b32 %r5, [%r4]; st.global.b32 [%rd2], %r5; add.s64 %rd2, %rd2, 128;"

static const char *load_kernel(Arena *arena, const Box *b) {
    StrBuf t = strbuf(arena);
    put_head(&t);
    put_loop(&t, "I", IN);
    strbuf_printf(&t,
                  "fence.proxy.async; bar.sync 0; @!%%p0 bra W; mbarrier.init.shared.b64 [bar], 1; "
                  "fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 _, "
                  "[bar], %u; cp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::"
                  "complete_tx::bytes [%%r1+%d], [%%rd0, {",
                  elements(b) * size_of(b), b->rank, AT);
    put_coordinates(&t, b);
    strbuf_printf(&t,
                  "}], [bar];\nW: bar.sync 0;\nV: mbarrier.try_wait.parity.shared.b64 %%p2, "
                  "[bar], 0; @!%%p2 bra V;\n");
    put_loop(&t, "O", OUT);
    strbuf_printf(&t, "ret;\n}\n");
    return t.text;
}

static const char *store_kernel(Arena *arena, const Box *b, const char *copy) {
    StrBuf t = strbuf(arena);
    put_head(&t);
    put_loop(&t, "I", IN);
    strbuf_printf(&t,
                  "fence.proxy.async.shared::cta; bar.sync 0; @!%%p0 bra E; %s.%ud.global.shared::"
                  "cta%s.bulk_group [%%rd0, {",
                  strncmp(copy, "cp.reduce", 9) ? copy : "cp.reduce.async.bulk.tensor", b->rank,
                  strncmp(copy, "cp.reduce", 9) ? "" : copy + strlen("cp.reduce"));
    put_coordinates(&t, b);
    strbuf_printf(&t,
                  "}], [%%r1+%d]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
                  "E: ret;\n}\n",
                  AT);
    return t.text;
}

// ---- Checks ----

static void fill(uint8_t *to, size_t size, uint32_t s) {
    for (size_t n = 0; n < size; n++) s = s * 1664525u + 1013904223u, to[n] = (uint8_t)(s >> 24);
}

static void run(Warp *w, const Box *b, uint64_t array, uint64_t in, uint64_t out) {
    GpuMap m = map_of(b, array);
    w->maps[0] = &m;
    warp_run_ok(w, "k", 1, 32, SHARED, (uint64_t[]){0, in, out}, 3);
}

static void check_load(const Box *b) {
    Arena *arena = arena_create();
    static uint8_t array[ARRAY], before[SHARED], after[SHARED], want[SHARED];
    Warp w;
    warp_open(&w, load_kernel(arena, b));
    warp_watch(&w);
    fill(array, sizeof array, 1), fill(before, sizeof before, 2);
    memcpy(want, before, sizeof want);
    for (uint32_t n = 0; n < elements(b); n++) {
        uint64_t at;
        bool inside = global_place(b, n, &at);
        if (inside)
            memcpy(want + shared_place(b, n), array + at, size_of(b));
        else
            memset(want + shared_place(b, n), b->nan ? 0xff : 0, size_of(b));
    }
    uint64_t x = warp_upload(&w, array, ARRAY), in = warp_upload(&w, before, SHARED);
    for (w.seed = 0; w.seed < 6; w.seed++) {
        uint64_t out = warp_alloc(&w, SHARED);
        run(&w, b, x, in, out);
        warp_download(&w, out, after, SHARED);
        for (uint32_t n = 0; n < SHARED; n++)
            if (after[n] != want[n])
                fail_msg("rank %u, type %d, swizzle %d: byte %u is %02x, not %02x", b->rank,
                         (int)b->type, (int)b->swizzle, n, after[n], want[n]);
    }
    warp_close(&w);
    arena_destroy(arena);
}

static void check_store(const Box *b) {
    Arena *arena = arena_create();
    static uint8_t array[ARRAY], before[SHARED], after[ARRAY], want[ARRAY];
    Warp w;
    warp_open(&w, store_kernel(arena, b, "cp.async.bulk.tensor"));
    warp_watch(&w);
    fill(array, sizeof array, 1), fill(before, sizeof before, 2);
    memcpy(want, array, sizeof want);
    for (uint32_t n = 0; n < elements(b); n++) {
        uint64_t at;
        if (global_place(b, n, &at)) memcpy(want + at, before + shared_place(b, n), size_of(b));
    }
    uint64_t in = warp_upload(&w, before, SHARED);
    for (w.seed = 0; w.seed < 6; w.seed++) {
        uint64_t x = warp_upload(&w, array, ARRAY);
        run(&w, b, x, in, 0);
        warp_download(&w, x, after, ARRAY);
        assert_memory_equal(after, want, ARRAY);
    }
    warp_close(&w);
    arena_destroy(arena);
}

static void test_boxes(void **state) {
    (void)state;
    static const Box boxes[] = {
        {GPU_MAP_U8, 1, {1000}, {256}, {1}, GPU_MAP_SWIZZLE_NONE, {100}, false},
        {GPU_MAP_BF16, 2, {100, 50}, {64, 32}, {1, 1}, GPU_MAP_SWIZZLE_128, {0, 0}, false},
        {GPU_MAP_BF16, 2, {100, 50}, {64, 32}, {1, 1}, GPU_MAP_SWIZZLE_128, {70, 40}, false},
        {GPU_MAP_F16, 2, {100, 50}, {32, 20}, {1, 1}, GPU_MAP_SWIZZLE_64, {-5, -3}, false},
        {GPU_MAP_U16, 2, {77, 50}, {16, 64}, {1, 1}, GPU_MAP_SWIZZLE_32, {70, 1}, false},
        {GPU_MAP_F32, 2, {60, 40}, {32, 33}, {1, 1}, GPU_MAP_SWIZZLE_128, {31, -1}, true},
        {GPU_MAP_F64, 3, {20, 10, 6}, {8, 4, 3}, {1, 1, 1}, GPU_MAP_SWIZZLE_64, {15, 8, 4}, false},
        {GPU_MAP_U32,
         3,
         {20, 10, 6},
         {20, 4, 3},
         {1, 1, 1},
         GPU_MAP_SWIZZLE_NONE,
         {1, 2, 3},
         false},
        {GPU_MAP_S64,
         4,
         {6, 5, 4, 3},
         {2, 5, 4, 3},
         {1, 1, 1, 1},
         GPU_MAP_SWIZZLE_NONE,
         {5, 0, -1, 1},
         false},
        {GPU_MAP_U8,
         5,
         {32, 3, 4, 3, 5},
         {32, 2, 2, 3, 4},
         {1, 1, 1, 1, 1},
         GPU_MAP_SWIZZLE_32,
         {0, 1, -1, 1, 2},
         false},
        {GPU_MAP_F32, 2, {64, 40}, {32, 16}, {2, 3}, GPU_MAP_SWIZZLE_NONE, {40, 30}, false},
        {GPU_MAP_BF16, 2, {64, 64}, {64, 64}, {1, 1}, GPU_MAP_SWIZZLE_128, {-64, 0}, false},
    };
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        check_load(&boxes[i]);
        check_store(&boxes[i]);
    }
}

// ---- Reductions: integers, and numbers that are exact ----

static double number(const Box *b, const uint8_t *p) {
    uint64_t bits = 0;
    memcpy(&bits, p, size_of(b));
    switch (b->type) {
    case GPU_MAP_F16: return sim_number_value(&sim_f16, bits);
    case GPU_MAP_BF16: return sim_number_value(&sim_bf16, bits);
    case GPU_MAP_F32: return sim_number_value(&sim_f32, bits);
    case GPU_MAP_F64: return sim_number_value(&sim_f64, bits);
    case GPU_MAP_S32: return (int32_t)bits;
    default: return (double)bits;
    }
}
static void put_number(const Box *b, uint8_t *p, double x) {
    const SimFormat *f = b->type == GPU_MAP_F16    ? &sim_f16
                         : b->type == GPU_MAP_BF16 ? &sim_bf16
                         : b->type == GPU_MAP_F32  ? &sim_f32
                         : b->type == GPU_MAP_F64  ? &sim_f64
                                                   : NULL;
    uint64_t bits = f ? sim_number_round(f, x, SIM_RN, false) : (uint64_t)(int64_t)x;
    memcpy(p, &bits, size_of(b));
}

static double reduced(const char *op, double x, double y) {
    if (!strcmp(op, "add")) return x + y;
    if (!strcmp(op, "min")) return x < y ? x : y;
    if (!strcmp(op, "max")) return x > y ? x : y;
    int64_t a = (int64_t)x, b = (int64_t)y;
    return (double)(!strcmp(op, "and") ? (a & b) : !strcmp(op, "or") ? (a | b) : (a ^ b));
}

static void check_reduction(GpuMapType type, const char *op) {
    Arena *arena = arena_create();
    Box b = {type, 2, {40, 20}, {16, 16}, {1, 1}, GPU_MAP_SWIZZLE_NONE, {30, 10}, false};
    static uint8_t array[ARRAY], before[SHARED], after[ARRAY];
    Warp w;
    warp_open(&w, store_kernel(arena, &b, arena_printf(arena, "cp.reduce.%s", op)));
    warp_watch(&w);
    for (uint32_t n = 0; n < 1024; n++) {
        put_number(&b, array + n * size_of(&b), n % 13);
        put_number(&b, before + AT + n * size_of(&b), n % 7);
    }
    uint64_t x = warp_upload(&w, array, ARRAY), in = warp_upload(&w, before, SHARED);
    run(&w, &b, x, in, 0);
    warp_download(&w, x, after, ARRAY);
    for (uint32_t n = 0; n < elements(&b); n++) {
        uint64_t at;
        if (!global_place(&b, n, &at)) continue;
        double want = reduced(op, number(&b, array + at), number(&b, before + shared_place(&b, n)));
        assert_true(number(&b, after + at) == want);
        memcpy(array + at, after + at, size_of(&b));
    }
    assert_memory_equal(array, after, ARRAY);
    warp_close(&w);
    arena_destroy(arena);
}

static void test_reductions(void **state) {
    (void)state;
    static const GpuMapType types[] = {GPU_MAP_F16, GPU_MAP_BF16, GPU_MAP_F32,
                                       GPU_MAP_U32, GPU_MAP_S32,  GPU_MAP_U64};
    static const char *const ops[] = {"add", "min", "max", "and", "or", "xor"};
    for (int t = 0; t < 6; t++)
        for (int n = 0; n < (t < 3 ? 3 : 6); n++) check_reduction(types[t], ops[n]);
}

// ---- Maps ----

static void test_maps(void **state) {
    (void)state;
    const GpuMapFacts good = {.type = GPU_MAP_BF16,
                              .rank = 2,
                              .address = 4096,
                              .dims = {100, 50},
                              .strides = {208},
                              .box = {64, 32},
                              .steps = {1, 1},
                              .swizzle = GPU_MAP_SWIZZLE_128};
    GpuMap m;
    GpuMapFacts f = good, back;
    assert_null(gpu_map_encode(&f, &m));
    assert_true(gpu_map_decode(&m, &back));
    assert_true(back.dims[1] == 50 && back.strides[0] == 208 && back.box[0] == 64);
    m.tag[0] = 'T';
    assert_false(gpu_map_decode(&m, &back));
    f = good, f.rank = 6, assert_non_null(gpu_map_encode(&f, &m));
    f = good, f.address = 8, assert_non_null(gpu_map_encode(&f, &m));
    f = good, f.dims[0] = 0, assert_non_null(gpu_map_encode(&f, &m));
    f = good, f.strides[0] = 200, assert_non_null(gpu_map_encode(&f, &m));
    f = good, f.strides[0] = UINT64_C(1) << 40, assert_non_null(gpu_map_encode(&f, &m));
    f = good, f.box[1] = 257, assert_non_null(gpu_map_encode(&f, &m));
    f = good, f.box[0] = 60, assert_non_null(gpu_map_encode(&f, &m));
    f = good, f.box[0] = 128, assert_non_null(gpu_map_encode(&f, &m));
    f = good, f.steps[0] = 9, assert_non_null(gpu_map_encode(&f, &m));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_boxes),
                                       cmocka_unit_test(test_reductions),
                                       cmocka_unit_test(test_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
