// Loads, stores and atomics of every unit, and the bounds of buffers.
#include "tests/support/amd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 64 };

typedef struct Case {
    const char *processor, *body;
    // Word 0 of thread t's result: x its inputs, all of them.
    uint32_t (*expected)(uint32_t t, uint32_t (*x)[4]);
} Case;

// The resource of 40 threads' bytes from argument 0 on, in s[24:27]; v22 is the thread's offset.
#define RESOURCE                                                           \
    "s_mov_b32 s24, s20\ns_and_b32 s25, s21, 0xffff\ns_mov_b32 s26, 640\n" \
    "s_mov_b32 s27, 0x27000\nv_lshlrev_b32_e32 v22, 4, v0\n"
#define RESOURCE11                                                         \
    "s_mov_b32 s24, s20\ns_and_b32 s25, s21, 0xffff\ns_mov_b32 s26, 648\n" \
    "s_mov_b32 s27, 0x31014000\nv_lshlrev_b32_e32 v22, 4, v0\n"

// The resource of all memory that is less than 2^31 bytes after argument 0, as compilers make it;
// the offsets of odd threads are beyond it. Word 3 of each generation: a format, and how bounds are
// meant.
#define WHOLE(flags)                                                              \
    "s_mov_b32 s24, s20\ns_and_b32 s25, s21, 0xffff\ns_mov_b32 s26, 0x80000000\n" \
    "s_mov_b32 s27, " flags                                                       \
    "\nv_lshlrev_b32_e32 v22, 4, v0\nv_and_b32_e32 v23, 1, v0\n"                  \
    "v_lshlrev_b32_e32 v23, 31, v23\nv_or_b32_e32 v22, v22, v23\n"
#define WHOLE_9 WHOLE("0x27000")
#define WHOLE_10 WHOLE("0x31016000")
#define WHOLE_11 WHOLE("0x30016000")
// Only whether there are records counts: what is beyond them is touched.
#define RECORDS_11                                                        \
    "s_mov_b32 s24, s20\ns_and_b32 s25, s21, 0xffff\ns_mov_b32 s26, 16\n" \
    "s_mov_b32 s27, 0x20016000\nv_lshlrev_b32_e32 v22, 4, v0\n"

static uint32_t even(uint32_t t, uint32_t (*x)[4]) { return t % 2 ? 0 : x[t][3]; }
static uint32_t within(uint32_t t, uint32_t (*x)[4]) { return t < 40 ? x[t][0] : 0; }
static uint32_t third_within(uint32_t t, uint32_t (*x)[4]) {
    return t < 40 ? x[t][2] : t == 40 ? 0 : 0;
}
static uint32_t first_within(uint32_t t, uint32_t (*x)[4]) { return t <= 40 ? x[t][0] : 0; }
static uint32_t next_within(uint32_t t, uint32_t (*x)[4]) { return t < 39 ? x[t + 1][0] : 0; }
static uint32_t byte_of(uint32_t t, uint32_t (*x)[4]) { return x[t][0] >> 8 & 255; }
static uint32_t signed_of(uint32_t t, uint32_t (*x)[4]) {
    return (uint32_t)(int32_t)(int8_t)(x[t][0] >> 8);
}
static uint32_t halves(uint32_t t, uint32_t (*x)[4]) {
    return (x[t][1] & 0xffff) << 16 | (x[t][0] & 0xffff);
}
static uint32_t neighbour(uint32_t t, uint32_t (*x)[4]) { return x[t ^ 1][0]; }
static uint32_t sum_two(uint32_t t, uint32_t (*x)[4]) { return x[t ^ 1][0] + x[t ^ 1][1]; }
static uint32_t second(uint32_t t, uint32_t (*x)[4]) { return x[t][1]; }
static uint32_t same(uint32_t t, uint32_t (*x)[4]) { return x[t][3]; }
static uint32_t before(uint32_t t, uint32_t (*x)[4]) {
    (void)x;
    return 5 * t;
}
static uint32_t greatest(uint32_t t, uint32_t (*x)[4]) {
    (void)t, (void)x;
    return 63;
}
static uint32_t across(uint32_t t, uint32_t (*x)[4]) { return x[t][0] >> 24 | x[t][1] << 8; }
static uint32_t moved(uint32_t t, uint32_t (*x)[4]) {
    return (x[t][3] & 0xff000000) | x[t][0] >> 8;
}
static uint32_t scalar_byte(uint32_t t, uint32_t (*x)[4]) {
    (void)t;
    return x[0][1] >> 8 & 255;
}
// The first word of a column of what 16 lanes have read, rows of 16 elements.
static uint32_t column(uint32_t t, uint32_t (*x)[4], uint32_t bits) {
    uint32_t word = 0, each = 64 / bits;
    for (uint32_t k = 0; k < 32 / bits; k++) {
        uint32_t linear = 16 * k + t % 16, lane = t / 16 * 16 + linear / each;
        uint32_t at = linear % each * bits;
        word |= (x[lane][at / 32] >> at % 32 & ((1u << bits) - 1)) << (k * bits);
    }
    return word;
}
static uint32_t column16(uint32_t t, uint32_t (*x)[4]) { return column(t, x, 16); }
static uint32_t column8(uint32_t t, uint32_t (*x)[4]) { return column(t, x, 8); }
static uint32_t column4(uint32_t t, uint32_t (*x)[4]) { return column(t, x, 4); }
static uint32_t scalar(uint32_t t, uint32_t (*x)[4]) {
    (void)t;
    return x[0][2] + x[1][0];
}

static const Case cases[] = {
    {"gfx942", RESOURCE "buffer_load_dword v16, v22, s[24:27], 0 offen\ns_waitcnt vmcnt(0)",
     within},
    {"gfx942",
     RESOURCE "buffer_load_dwordx4 v[30:33], v22, s[24:27], 0 offen\n"
              "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v32",
     third_within},
    {"gfx942",
     RESOURCE "s_mov_b32 s4, 16\nbuffer_load_dword v16, v22, s[24:27], s4 offen\n"
              "s_waitcnt vmcnt(0)",
     next_within},
    // Half a vector of thread 40 is within the 648 bytes.
    {"gfx1100",
     RESOURCE11 "buffer_load_b128 v[30:33], v22, s[24:27], 0 offen\n"
                "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v30",
     first_within},
    {"gfx1100",
     RESOURCE11 "buffer_load_b128 v[30:33], v22, s[24:27], 0 offen\n"
                "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v32",
     third_within},
    {"gfx90a",
     WHOLE_9 "buffer_load_dword v16, v22, s[24:27], 0 offen offset:12\ns_waitcnt vmcnt(0)", even},
    {"gfx950",
     WHOLE_9 "buffer_load_dwordx4 v[30:33], v22, s[24:27], 0 offen\ns_waitcnt vmcnt(0)\n"
             "v_mov_b32_e32 v16, v33",
     even},
    // On gfx9 the offset that all lanes share counts.
    {"gfx942",
     WHOLE_9 "s_mov_b32 s4, 12\nbuffer_load_dword v16, v22, s[24:27], s4 offen\n"
             "s_waitcnt vmcnt(0)",
     even},
    {"gfx1030",
     WHOLE_10 "buffer_load_dwordx4 v[30:33], v22, s[24:27], 0 offen\ns_waitcnt vmcnt(0)\n"
              "v_mov_b32_e32 v16, v33",
     even},
    {"gfx1100",
     WHOLE_11 "buffer_load_b128 v[30:33], v22, s[24:27], 0 offen\ns_waitcnt vmcnt(0)\n"
              "v_mov_b32_e32 v16, v33",
     even},
    {"gfx1201",
     WHOLE_11 "buffer_load_b32 v16, v22, s[24:27], null offen offset:12\ns_wait_loadcnt 0x0", even},
    {"gfx1100",
     RECORDS_11 "buffer_load_b32 v16, v22, s[24:27], 0 offen offset:12\ns_waitcnt vmcnt(0)", same},
    {"gfx942", "global_load_ubyte v16, v[10:11], off offset:1\ns_waitcnt vmcnt(0)", byte_of},
    {"gfx942", "global_load_sbyte v16, v[10:11], off offset:1\ns_waitcnt vmcnt(0)", signed_of},
    {"gfx942",
     "v_lshlrev_b32_e32 v22, 4, v0\nglobal_load_sbyte v16, v22, s[20:21] offset:1\n"
     "s_waitcnt vmcnt(0)",
     signed_of},
    {"gfx942", "flat_load_ubyte v16, v[10:11] offset:1\ns_waitcnt vmcnt(0) lgkmcnt(0)", byte_of},
    {"gfx942",
     "global_load_short_d16 v16, v[10:11], off\n"
     "global_load_short_d16_hi v16, v[10:11], off offset:4\ns_waitcnt vmcnt(0)",
     halves},
    {"gfx1201",
     "global_load_d16_b16 v16, v[10:11], off\n"
     "global_load_d16_hi_b16 v16, v[10:11], off offset:4\ns_wait_loadcnt 0x0",
     halves},
    {"gfx942",
     "v_lshlrev_b32_e32 v22, 2, v0\nv_xor_b32_e32 v23, 4, v22\nds_write_b32 v22, v12\n"
     "ds_read_b32 v16, v23\ns_waitcnt lgkmcnt(0)",
     neighbour},
    {"gfx942",
     "v_lshlrev_b32_e32 v22, 4, v0\nv_xor_b32_e32 v23, 16, v22\n"
     "ds_write_b128 v22, v[12:15]\nds_read_b128 v[30:33], v23\ns_waitcnt lgkmcnt(0)\n"
     "v_mov_b32_e32 v16, v30",
     neighbour},
    {"gfx942",
     "v_lshlrev_b32_e32 v22, 3, v0\nv_xor_b32_e32 v23, 8, v22\n"
     "ds_write2_b32 v22, v12, v13 offset1:1\nds_read2_b32 v[30:31], v23 offset1:1\n"
     "s_waitcnt lgkmcnt(0)\nv_add_u32_e32 v16, v30, v31",
     sum_two},
    {"gfx1100",
     "v_lshlrev_b32_e32 v22, 2, v0\nv_xor_b32_e32 v23, 4, v22\n"
     "ds_store_2addr_stride64_b32 v22, v12, v13 offset1:1\n"
     "ds_load_2addr_stride64_b32 v[30:31], v23 offset1:1\n"
     "s_waitcnt lgkmcnt(0)\nv_add_nc_u32_e32 v16, v30, v31",
     sum_two},
    {"gfx950",
     "v_lshlrev_b32_e32 v22, 3, v0\nds_write_b64 v22, v[12:13]\n"
     "ds_read_b64_tr_b16 v[16:17], v22\ns_waitcnt lgkmcnt(0)",
     column16},
    {"gfx950",
     "v_lshlrev_b32_e32 v22, 3, v0\nds_write_b64 v22, v[12:13]\n"
     "ds_read_b64_tr_b8 v[16:17], v22\ns_waitcnt lgkmcnt(0)",
     column8},
    {"gfx950",
     "v_lshlrev_b32_e32 v22, 3, v0\nds_write_b64 v22, v[12:13]\n"
     "ds_read_b64_tr_b4 v[16:17], v22\ns_waitcnt lgkmcnt(0)",
     column4},
    // LDS of 160 KiB has addresses of 18 bits, in M0, too.
    {"gfx950",
     "v_lshlrev_b32_e32 v22, 2, v0\nv_add_u32_e32 v22, 0x11000, v22\ns_mov_b32 m0, 0x11000\n"
     "global_load_lds_dword v[10:11], off offset:4\ns_waitcnt vmcnt(0)\n"
     "ds_read_b32 v16, v22 offset:4\ns_waitcnt lgkmcnt(0)",
     second},
    {"gfx942",
     "scratch_store_dwordx4 off, v[12:15], off offset:16\n"
     "scratch_load_dword v16, off, off offset:28\ns_waitcnt vmcnt(0)",
     same},
    // The shared offset steps over all lanes' words: 8 bytes of each.
    {"gfx1030",
     "s_mov_b32 s4, 0\ns_brev_b32 s5, 1\ns_mov_b32 s6, -1\ns_mov_b32 s7, 0\n"
     "s_movk_i32 s8, 0x100\nbuffer_store_dword v15, off, s[4:7], s8 offset:4\n"
     "buffer_load_dword v16, off, s[4:7], 0 offset:12\ns_waitcnt vmcnt(0)",
     same},
    {"gfx90a",
     "s_mov_b32 s4, 0\ns_brev_b32 s5, 1\ns_mov_b32 s6, -1\ns_mov_b32 s7, 0\n"
     "s_movk_i32 s8, 0x200\nbuffer_store_dword v15, off, s[4:7], s8 offset:4\n"
     "buffer_load_dword v16, off, s[4:7], 0 offset:12\ns_waitcnt vmcnt(0)",
     same},
    {"gfx942",
     "v_mov_b32_e32 v20, 0\nv_mov_b32_e32 v21, 0\nds_write_b32 v20, v21\n"
     "v_mov_b32_e32 v22, 5\nds_add_rtn_u32 v16, v20, v22\ns_waitcnt lgkmcnt(0)",
     before},
    {"gfx942",
     "v_mov_b32_e32 v20, 0\nv_mov_b32_e32 v21, 0\nds_write_b32 v20, v21\n"
     "ds_max_u32 v20, v0\nds_read_b32 v16, v20\ns_waitcnt lgkmcnt(0)",
     greatest},
    {"gfx942",
     "v_mov_b32_e32 v20, 0\nv_mov_b32_e32 v21, 5\n"
     "global_atomic_add v16, v20, v21, s[22:23] sc0\ns_waitcnt vmcnt(0)",
     before},
    {"gfx1201",
     "v_mov_b32_e32 v20, 0\nv_mov_b32_e32 v21, 5\n"
     "global_atomic_add_u32 v16, v20, v21, s[22:23] th:TH_ATOMIC_RETURN\n"
     "s_wait_loadcnt 0x0",
     before},
    {"gfx942",
     "s_load_dwordx2 s[4:5], s[20:21], 0x8\ns_mov_b32 s6, 16\n"
     "s_load_dword s7, s[20:21], s6\ns_waitcnt lgkmcnt(0)\ns_add_u32 s4, s4, s7\n"
     "v_mov_b32_e32 v16, s4",
     scalar},
    {"gfx1201", "s_load_u8 s4, s[20:21], 0x5\ns_wait_kmcnt 0x0\nv_mov_b32_e32 v16, s4",
     scalar_byte},
    // Wherever a word begins.
    {"gfx942", "global_load_dword v16, v[10:11], off offset:3\ns_waitcnt vmcnt(0)", across},
    {"gfx1201", "global_load_b32 v16, v[10:11], off offset:3\ns_wait_loadcnt 0x0", across},
    {"gfx942",
     "global_store_dword v[10:11], v12, off offset:11\n"
     "global_load_dword v20, v[10:11], off offset:12\ns_waitcnt vmcnt(0)\n"
     "v_mov_b32_e32 v16, v20",
     moved},
};

static uint32_t processor_lds(const char *processor) {
    return strcmp(processor, "gfx950") == 0 ? 80 * 1024 : 1024;
}

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Arena *arena = arena_create();
        Warp w;
        uint32_t x[THREADS][4], y[THREADS][4], zero[4] = {0};
        uint32_t threads = c->processor[3] == '9' || strstr(c->body, "buffer") ? 64 : 32;
        for (uint32_t t = 0; t < THREADS * 4; t++) x[t / 4][t % 4] = t * 2654435761u;
        amd_open(&w, &(AmdSource){.processor = c->processor,
                                  .text = amd_kernel(arena, c->processor, c->body),
                                  .args = 2,
                                  .lds = processor_lds(c->processor),
                                  .scratch = 64});
        warp_watch(&w);
        w.observer_count = 2;  // lanes of one wave write one place here
        uint64_t at = warp_upload(&w, x, sizeof x), other = warp_upload(&w, zero, sizeof zero);
        warp_run_ok(&w, "k", 1, threads, 0, (uint64_t[]){at, other}, 2);
        warp_download(&w, at, y, sizeof y);
        for (uint32_t t = 0; t < threads; t++)
            if (y[t][0] != c->expected(t, x))
                fail_msg("%s '%s' thread %u: %08x, expected %08x", c->processor, c->body, t,
                         y[t][0], c->expected(t, x));
        warp_close(&w);
        arena_destroy(arena);
    }
}

// Stores beyond a buffer's records are not made; an access outside of memory is a finding.
static void test_bounds(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    uint32_t x[THREADS][4], y[THREADS][4];
    memset(x, 1, sizeof x);
    const char *body = RESOURCE
        "v_mov_b32_e32 v20, 9\n"
        "buffer_store_dword v20, v22, s[24:27], 0 offen offset:4\n"
        "v_mov_b32_e32 v17, v13\nv_mov_b32_e32 v16, v12";
    const char *text = amd_kernel(arena, "gfx90a", body);
    const char *end = strstr(text, "v_mov_b32_e32 v17, v13");
    text = arena_printf(arena, "%.*ss_endpgm", (int)(end - text), text);
    amd_open(&w, &(AmdSource){"gfx90a", text, .args = 2});
    warp_watch(&w);
    uint64_t at = warp_upload(&w, x, sizeof x);
    warp_run_ok(&w, "k", 1, THREADS, 0, (uint64_t[]){at, at}, 2);
    warp_download(&w, at, y, sizeof y);
    for (uint32_t t = 0; t < THREADS; t++) assert_int_equal(y[t][1], t < 40 ? 9 : 0x01010101);
    warp_close(&w);
    amd_open(&w, &(AmdSource){"gfx90a", amd_kernel(arena, "gfx90a", "s_nop 0"), .args = 2});
    warp_watch(&w);
    at = warp_upload(&w, x, sizeof x - 16);
    SimResult r = warp_run(&w, "k", 1, THREADS, 0, (uint64_t[]){at, at}, 2);
    assert_int_equal(r.outcome, SIM_FAILED);
    assert_true(warp_found(&w, SIM_FINDING_BOUNDS));
    warp_close(&w);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
