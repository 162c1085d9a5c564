// A product by a ring, written by hand: a warp copies stages of A and B by TMA, two warpgroups
// multiply them by wgmma, full and empty mbarriers connect them, and results leave through staging
// by TMA. Compared with a plain product; and each of the protocol's parts is needed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/machine/number/number.h"
#include "tests/support/warp.h"

enum { ROWS = 128, DEPTH = 64, STAGES = 4, A_BYTES = ROWS * DEPTH * 2, ROW_TILES = 64 };

typedef struct Ring {
    uint32_t columns, cluster;  // of a tile; blocks
    bool turned;                // B is [K, N]
    uint32_t pending;           // groups in flight
    uint32_t m, n, k, blocks;
} Ring;

static uint32_t b_bytes(const Ring *r) { return r->columns * DEPTH * 2; }
static uint32_t stage(const Ring *r, uint32_t s) { return s * (A_BYTES + b_bytes(r)); }
static uint32_t full(const Ring *r, uint32_t s) { return stage(r, STAGES) + 8 * s; }
static uint32_t empty(const Ring *r, uint32_t s) { return full(r, STAGES) + 8 * s; }
static uint32_t staging(const Ring *r) { return stage(r, STAGES) + 1024; }
// Tile t is row t % ROW_TILES and column t / ROW_TILES.
static uint32_t tiles(const Ring *r) { return (r->n / r->columns - 1) * ROW_TILES + r->m / ROWS; }

// ---- The kernel ----
// Blocks of 384 threads: warpgroup 0 copies, 1 and 2 multiply 64 rows each.

static const char frame[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 sm[];\n"
    ".visible .entry k(.param .align 64 .b8 pa[128], .param .align 64 .b8 pb[128], .param .align "
    "64 .b8 pc[128], .param .u32 pk, .param .u32 ptiles)\n.reqntid 384\n{\n"
    ".reg .pred %done, %wait, %p, %one, %more, %send; .reg .b16 %both; .reg .b64 %ma, %mb, %mc, "
    "%da, %db, %ta, %tb; .reg .f32 %f<128>; .reg .b32 %sm, %t, %k, %tiles, %turns, %group, %tile, "
    "%row, %column, %at, %turn, %parity, %x, %y, %z, %to, %bar, %rank, %peer, %lane, %step, %base, "
    "%swap, %v<4>;\n"
    "mov.u32 %sm, sm; mov.u32 %t, %tid.x; ld.param.u32 %k, [pk]; ld.param.u32 %tiles, [ptiles]; "
    "mov.b64 %ma, pa; cvta.param.u64 %ma, %ma; mov.b64 %mb, pb; cvta.param.u64 %mb, %mb; mov.b64 "
    "%mc, pc; cvta.param.u64 %mc, %mc; shr.u32 %turns, %k, 8; mov.u32 %rank, %cluster_ctarank; "
    "mov.u32 %tile, %ctaid.x; mov.b16 %both, 3; shr.u32 %group, %t, 7; mov.u32 %step, %nctaid.x;\n";

static void put_begin(StrBuf *t, const Ring *r) {
    strbuf_add(t, str(frame));
    strbuf_printf(t, "setp.ne.u32 %%p, %%t, 0; @%%p bra READY;\n");
    for (uint32_t s = 0; s < STAGES; s++)
        strbuf_printf(t,
                      "mbarrier.init.shared.b64 [%%sm+%u], 1; mbarrier.init.shared.b64 [%%sm+%u], "
                      "%u;\n",
                      full(r, s), empty(r, s), 8 * r->cluster);
    strbuf_printf(t, "fence.mbarrier_init.release.cluster;\nREADY:\n%s\n",
                  r->cluster > 1 ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
                                 : "bar.sync 0;");
    strbuf_printf(t, "setp.ne.u32 %%p, %%group, 0; @%%p bra MULTIPLY;\n");
}

#define LOAD(multicast) \
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes" multicast

// In a cluster each block brings half of B, for both.
static void put_b(StrBuf *t, const Ring *r) {
    uint32_t boxes = r->turned ? r->columns / 64 : 1;
    if (r->cluster > 1) {
        strbuf_printf(
            t,
            "mad.lo.u32 %%z, %%rank, %u, %%to; mad.lo.u32 %%y, %%rank, %u, %%column; " LOAD(
                ".multicast::cluster") " [%%z], [%%mb, {%%at, %%y}], [%%bar], %%both;\n",
            b_bytes(r) / 2, r->columns / 2);
        return;
    }
    for (uint32_t n = 0; n < boxes; n++)
        strbuf_printf(t,
                      "add.u32 %%y, %%column, %u; " LOAD("") " [%%to+%u], [%%mb, {%s}], [%%bar];\n",
                      64 * n, 8192 * n, r->turned ? "%y, %at" : "%at, %column");
}

static void put_producer(StrBuf *t, const Ring *r) {
    strbuf_printf(
        t,
        "setmaxnreg.dec.sync.aligned.u32 40; setp.ge.u32 %%p, %%t, 32; @%%p bra END; "
        "elect.sync %%x|%%p, -1; @!%%p bra END; mov.u32 %%parity, 1;\n"
        "PTILE: setp.ge.u32 %%done, %%tile, %%tiles; @%%done bra END; and.b32 %%row, "
        "%%tile, %d; mul.lo.u32 %%row, %%row, %d; shr.u32 %%column, %%tile, 6; mul.lo.u32 "
        "%%column, %%column, %u; mov.u32 %%at, 0; mov.u32 %%turn, 0;\nPTURN:\n",
        ROW_TILES - 1, ROWS, r->columns);
    for (uint32_t s = 0; s < STAGES; s++) {
        strbuf_printf(t,
                      "P%u: mbarrier.try_wait.parity.shared.b64 %%wait, [%%sm+%u], %%parity; "
                      "@!%%wait bra P%u; mbarrier.arrive.expect_tx.shared.b64 _, [%%sm+%u], %u; "
                      "add.u32 %%bar, %%sm, %u; add.u32 %%to, %%sm, %u; " LOAD(
                          "") " [%%to], [%%ma, {%%at, %%row}], [%%bar]; add.u32 %%to, %%to, %d;\n",
                      s, empty(r, s), s, full(r, s), A_BYTES + b_bytes(r), full(r, s), stage(r, s),
                      A_BYTES);
        put_b(t, r);
        strbuf_printf(t, "add.u32 %%at, %%at, %d;\n", DEPTH);
    }
    strbuf_printf(t,
                  "xor.b32 %%parity, %%parity, 1; add.u32 %%turn, %%turn, 1; setp.lt.u32 %%more, "
                  "%%turn, %%turns; @%%more bra PTURN; add.u32 %%tile, %%tile, %%step; bra "
                  "PTILE;\n");
}

static void put_arrive(StrBuf *t, const Ring *r, uint32_t s, const char *guard) {
    if (r->cluster > 1)
        strbuf_printf(t, "@%s mbarrier.arrive.shared::cluster.b64 _, [%%peer+%u];\n", guard, 8 * s);
    else
        strbuf_printf(t, "@%s mbarrier.arrive.shared.b64 _, [%%sm+%u];\n", guard, empty(r, s));
}

static void put_products(StrBuf *t, const Ring *r, uint32_t s) {
    uint32_t along = r->turned ? 128 : 2;  // 16 of K, in units of 16 bytes
    strbuf_printf(t,
                  "C%u: mbarrier.try_wait.parity.shared.b64 %%wait, [%%sm+%u], %%parity; @!%%wait "
                  "bra C%u;\nwgmma.fence.sync.aligned;\n",
                  s, full(r, s), s);
    for (uint32_t k = 0; k < DEPTH / 16; k++) {
        strbuf_printf(
            t,
            "add.u64 %%ta, %%da, %u; add.u64 %%tb, %%db, %u; wgmma.mma_async.sync.aligned."
            "m64n%uk16.f32.bf16.bf16 {",
            stage(r, s) / 16 + 2 * k, stage(r, s) / 16 + along * k, r->columns);
        for (uint32_t n = 0; n < r->columns / 2; n++) strbuf_printf(t, "%s%%f%u", n ? "," : "", n);
        strbuf_printf(t, "}, %%ta, %%tb, 1, 1, 1, 0, %d;\n", r->turned);
    }
    strbuf_printf(t, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned %u;\n",
                  r->pending);
}

// A slot is free when the products of it are over: those of the slot before the last one.
static void put_consumer(StrBuf *t, const Ring *r) {
    uint64_t wide =
        r->turned ? UINT64_C(0x4000004000000000) | 8192 / 16 << 16 : UINT64_C(0x4000004000000000);
    strbuf_printf(t,
                  "MULTIPLY: setmaxnreg.inc.sync.aligned.u32 232; mov.u32 %%parity, 0; sub.u32 "
                  "%%group, %%group, 1; shl.b32 %%x, %%group, 13; add.u32 %%x, %%x, %%sm; shr.u32 "
                  "%%x, %%x, 4; cvt.u64.u32 %%da, %%x; or.b64 %%da, %%da, 0x4000004000000000; "
                  "add.u32 %%x, %%sm, %d; shr.u32 %%x, %%x, 4; cvt.u64.u32 %%db, %%x; or.b64 %%db, "
                  "%%db, %lld; and.b32 %%lane, %%t, 31; setp.lt.u32 %%one, %%lane, %u;\n",
                  A_BYTES, (long long)wide, r->cluster);
    if (r->cluster > 1)
        strbuf_printf(
            t, "add.u32 %%x, %%sm, %u; @%%one mapa.shared::cluster.u32 %%peer, %%x, %%lane;\n",
            empty(r, 0));
    strbuf_printf(t,
                  "CTILE: setp.ge.u32 %%done, %%tile, %%tiles; @%%done bra CEND; mov.u32 %%turn, "
                  "0;\n");
    for (uint32_t n = 0; n < r->columns / 2; n++)
        strbuf_printf(t, "mov.f32 %%f%u, 0f00000000;\n", n);
    strbuf_printf(t, "CTURN:\n");
    for (uint32_t s = 0; s < STAGES; s++) {
        put_products(t, r, s);
        if (!s && r->pending)
            strbuf_printf(t, "setp.ne.u32 %%p, %%turn, 0; and.pred %%send, %%one, %%p;\n");
        put_arrive(t, r, (s + STAGES - r->pending) % STAGES, !s && r->pending ? "%send" : "%one");
    }
    strbuf_printf(t,
                  "xor.b32 %%parity, %%parity, 1; add.u32 %%turn, %%turn, 1; setp.lt.u32 %%more, "
                  "%%turn, %%turns; @%%more bra CTURN; wgmma.wait_group.sync.aligned 0;\n");
    if (r->pending) put_arrive(t, r, STAGES - 1, "%one");
}

// 64 columns at a time: into staging with the swizzle of 128 bytes, and by TMA to C.
static void put_results(StrBuf *t, const Ring *r) {
    strbuf_printf(
        t,
        "and.b32 %%x, %%t, 127; setp.ne.u32 %%p, %%x, 0; shr.u32 %%y, %%x, 5; and.b32 "
        "%%z, %%lane, 15; mad.lo.u32 %%z, %%y, 16, %%z; shl.b32 %%to, %%group, 13; "
        "add.u32 %%to, %%to, %%sm; add.u32 %%to, %%to, %u; shl.b32 %%base, %%z, 7; "
        "add.u32 %%base, %%base, %%to; and.b32 %%swap, %%z, 7; shr.u32 %%y, %%lane, 4; "
        "and.b32 %%row, %%tile, %d; mul.lo.u32 %%row, %%row, %d; shl.b32 %%x, %%group, 6; "
        "add.u32 %%row, %%row, %%x; shr.u32 %%column, %%tile, 6; mul.lo.u32 %%column, "
        "%%column, %u; add.u32 %%bar, %%group, 1;\n",
        staging(r), ROW_TILES - 1, ROWS, r->columns);
    for (uint32_t j = 0; j < r->columns / 64; j++) {
        strbuf_printf(t,
                      "@%%p bra G%u; cp.async.bulk.wait_group.read 0;\nG%u: barrier.sync %%bar, "
                      "128;\n",
                      j, j);
        for (uint32_t q = 0; q < 4; q++) {
            for (uint32_t v = 0; v < 4; v++)
                strbuf_printf(t, "cvt.rn.bf16x2.f32 %%v%u, %%f%u, %%f%u;\n", v,
                              32 * j + 8 * q + 2 * v + 1, 32 * j + 8 * q + 2 * v);
            strbuf_printf(t,
                          "add.u32 %%x, %%y, %u; xor.b32 %%x, %%x, %%swap; shl.b32 %%x, %%x, 4; "
                          "add.u32 %%x, %%x, %%base; stmatrix.sync.aligned.m8n8.x4.shared.b16 "
                          "[%%x], {%%v0, %%v1, %%v2, %%v3};\n",
                          2 * q);
        }
        strbuf_printf(t,
                      "fence.proxy.async.shared::cta;\nbarrier.sync %%bar, 128; @%%p bra S%u; "
                      "add.u32 %%x, %%column, %u; cp.async.bulk.tensor.2d.global.shared::cta.bulk_"
                      "group [%%mc, {%%x, %%row}], [%%to]; cp.async.bulk.commit_group;\nS%u:\n",
                      j, 64 * j, j);
    }
    strbuf_printf(t,
                  "add.u32 %%tile, %%tile, %%step; bra CTILE;\nCEND: cp.async.bulk.wait_group "
                  "0;\n");
}

static char *kernel(Arena *arena, const Ring *r) {
    StrBuf t = strbuf(arena);
    put_begin(&t, r);
    put_producer(&t, r);
    put_consumer(&t, r);
    put_results(&t, r);
    strbuf_printf(&t, "END: %s\nret;\n}\n",
                  r->cluster > 1 ? "barrier.cluster.arrive; barrier.cluster.wait;" : "");
    return t.text;
}

// ---- Arrays ----

static float value(uint32_t line, uint32_t k, uint32_t salt) {
    return (float)((int)((line * 40503u + k * 10007u + line * k * 977u + salt) >> 5) % 9 - 4);
}

static GpuMap map_of(uint64_t address, uint64_t inner, uint64_t outer, uint32_t rows) {
    GpuMapFacts f = {.type = GPU_MAP_BF16,
                     .rank = 2,
                     .address = address,
                     .dims = {inner, outer},
                     .strides = {2 * inner},
                     .box = {64, rows},
                     .steps = {1, 1},
                     .swizzle = GPU_MAP_SWIZZLE_128};
    GpuMap m;
    const char *wrong = gpu_map_encode(&f, &m);
    if (wrong) fail_msg("%s", wrong);
    return m;
}

static uint64_t upload(Warp *w, uint32_t lines, uint32_t depth, bool turned, uint32_t salt) {
    uint16_t *data = malloc(2 * (size_t)lines * depth);
    assert_non_null(data);
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t k = 0; k < depth; k++)
            data[turned ? k * lines + line : line * depth + k] =
                (uint16_t)(sim_bits_f32(value(line, k, salt)) >> 16);
    uint64_t address = warp_upload(w, data, 2 * (size_t)lines * depth);
    free(data);
    return address;
}

// Every few elements.
static bool is_right(Warp *w, const Ring *r, uint64_t c) {
    uint16_t *data = malloc(2 * (size_t)r->m * r->n);
    assert_non_null(data);
    warp_download(w, c, data, 2 * (size_t)r->m * r->n);
    bool right = true;
    for (uint32_t i = 0; i < r->m; i += 7)
        for (uint32_t j = 0; j < r->n; j += 5) {
            float sum = 0;
            for (uint32_t k = 0; k < r->k; k++) sum += value(i, k, 0) * value(j, k, 3);
            right &= data[i * r->n + j] == sim_bf16_round(sum);
        }
    free(data);
    return right;
}

static SimResult launch(Warp *w, const Ring *r, uint64_t *c) {
    uint64_t a = upload(w, r->m, r->k, false, 0), b = upload(w, r->n, r->k, r->turned, 3);
    *c = warp_alloc(w, 2 * (size_t)r->m * r->n);
    uint32_t rows = r->columns / r->cluster;
    GpuMap maps[3] = {map_of(a, r->k, r->m, ROWS),
                      r->turned ? map_of(b, r->n, r->k, 64) : map_of(b, r->k, r->n, rows),
                      map_of(*c, r->n, r->m, 64)};
    for (int n = 0; n < 3; n++) w->maps[n] = &maps[n], w->cluster[n] = n ? 1 : r->cluster;
    uint64_t args[] = {0, 0, 0, r->k, tiles(r)};
    return warp_run(w, "k", r->blocks, 384, staging(r) + 16384, args, 5);
}

static void check(const Ring *r, uint64_t seeds) {
    Arena *arena = arena_create();
    const char *text = kernel(arena, r);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        Warp w;
        uint64_t c;
        warp_open(&w, text);
        warp_watch(&w);
        w.seed = seed;
        SimResult result = launch(&w, r, &c);
        if (result.outcome != SIM_DONE) fail_msg("%s", result.text);
        if (w.findings->list.count) fail_msg("%.*s", STR_ARG(w.findings->list.data[0].text));
        if (!is_right(&w, r, c)) fail_msg("a wrong sum, seed %llu", (unsigned long long)seed);
        warp_close(&w);
    }
    arena_destroy(arena);
}

static void test_products(void **state) {
    (void)state;
    static const Ring rings[] = {
        {256, 1, false, 1, 128, 256, 256, 1}, {64, 1, true, 1, 256, 128, 512, 1},
        {64, 1, false, 1, 256, 128, 512, 3},  {64, 1, true, 0, 128, 64, 256, 2},
        {128, 2, false, 1, 256, 128, 512, 2}, {64, 2, false, 0, 256, 128, 256, 4},
    };
    for (size_t n = 0; n < sizeof rings / sizeof *rings; n++) check(&rings[n], 3);
}

// ---- Each part of the protocol is needed ----

typedef struct Change {
    const char *from, *to;
    uint32_t number;  // of the occurrence, from 0
    const char *found;
} Change;

static const char *changed(Arena *arena, const char *text, const Change *c) {
    const char *at = strstr(text, c->from);
    for (uint32_t n = 0; at && n < c->number; n++) at = strstr(at + 1, c->from);
    if (!at) fail_msg("'%s' is not in the kernel", c->from);
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, c->to, at + strlen(c->from));
}

static bool is_found(const Warp *w, const SimResult *r, const char *text) {
    bool found = strstr(r->text, text) != NULL;
    for (size_t n = 0; n < w->findings->list.count; n++)
        found |= strstr(w->findings->list.data[n].text.text, text) != NULL;
    return found;
}

static void check_change(const Ring *r, const Change *change) {
    Arena *arena = arena_create();
    const char *text = changed(arena, kernel(arena, r), change);
    bool found = false;
    for (uint64_t seed = 0; seed < 5 && !found; seed++) {
        Warp w;
        uint64_t c;
        warp_open(&w, text);
        warp_watch(&w);
        w.seed = seed;
        SimResult result = launch(&w, r, &c);
        found = is_found(&w, &result, change->found);
        if (!found && seed == 4 && w.findings->list.count)
            print_message("%.*s\n", STR_ARG(w.findings->list.data[0].text));
        if (!found && seed == 4) print_message("%s\n", result.text);
        warp_close(&w);
    }
    if (!found) fail_msg("'%s' for '%s': not found", change->to, change->from);
    arena_destroy(arena);
}

static void test_changes(void **state) {
    (void)state;
    static const Change changes[] = {
        // Fences and waits.
        {"fence.mbarrier_init.release.cluster;", "", 0, "no fence.mbarrier_init"},
        {"wgmma.fence.sync.aligned;", "", 0, "wgmma.fence must come before it"},
        {"fence.proxy.async.shared::cta;", "", 0, "no fence.proxy.async"},
        {"cp.async.bulk.wait_group.read 0;", "", 0, "a read in flight"},
        {"barrier.sync %bar, 128;", "", 1, "nothing orders them"},
        {"CEND: cp.async.bulk.wait_group 0;", "CEND:", 0, "nothing has waited for"},
        {"wgmma.commit_group.sync.aligned;", "", 2, "in flight"},
        {"wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;", 1,
         "nothing orders them"},
        {"@!%wait bra C2;", "", 0, "nothing orders them"},
        {"@!%wait bra P2;", "", 0, "nothing orders them"},
        {"bar.sync 0;", "", 0, "no mbarrier was initialised"},
        // Parities, counts, bytes, places.
        {"mov.u32 %parity, 1;", "mov.u32 %parity, 0;", 0, "8 of 8 arrivals"},
        {"mov.u32 %parity, 0;", "mov.u32 %parity, 1;", 0, "nothing orders them"},
        {"], 8;", "], 7;", 2, "nothing orders them"},
        {"], 8;", "], 9;", 1, "1 of 9 arrivals"},
        {", 24576;", ", 24560;", 1, "-16 bytes are missing"},
        {", 24576;", ", 24592;", 1, "16 bytes are missing"},
        {"], 1; mbarrier", "], 2; mbarrier", 1, "1 of 2 arrivals"},
        {"[%bar];", "[%bar+8];", 0, "bytes are missing"},
        {"setmaxnreg.inc.sync.aligned.u32 232;", "setmaxnreg.inc.sync.aligned.u32 240;", 0,
         "setmaxnreg.inc"},
        {"setmaxnreg.dec.sync.aligned.u32 40;", "", 0, "setmaxnreg.inc"},
        {"cvta.param.u64 %mb, %mb;", "cvta.param.u64 %mb, %mb; add.s64 %mb, %mb, 64;", 0,
         "these 128 bytes are not a tensor map"},
        {"add.u32 %to, %to, 16384;", "add.u32 %to, %to, 16448;", 0,
         "begins at a multiple of 128 bytes"},
    };
    static const Ring ring = {64, 1, false, 1, 256, 64, 512, 1};
    for (size_t n = 0; n < sizeof changes / sizeof *changes; n++) check_change(&ring, &changes[n]);
    static const Change pairs[] = {
        {"barrier.cluster.arrive; barrier.cluster.wait;", "", 0, "a block that has ended"},
        {"mov.b16 %both, 3;", "mov.b16 %both, 1;", 0, "bytes are missing"},
        {"mov.b16 %both, 3;", "mov.b16 %both, 7;", 0, "blocks that do not exist"},
        {"], 16;", "], 8;", 1, "arrivals"},
        {"setp.lt.u32 %one, %lane, 2;", "setp.lt.u32 %one, %lane, 1;", 0, "16 of 16 arrivals"},
    };
    static const Ring pair = {64, 2, false, 1, 256, 64, 512, 2};
    for (size_t n = 0; n < sizeof pairs / sizeof *pairs; n++) check_change(&pair, &pairs[n]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
