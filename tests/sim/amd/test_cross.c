// Moves between lanes, against where each lane's value comes from.
#include "tests/support/amd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NOBODY = 1000 };  // 0

// The lane whose first word lane l gets.
typedef uint32_t From(uint32_t l);
static uint32_t quad(uint32_t l) { return (l & ~3u) + (uint32_t[]){1, 0, 3, 2}[l & 3]; }
static uint32_t shr1(uint32_t l) { return l % 16 ? l - 1 : NOBODY; }
static uint32_t shl3(uint32_t l) { return l % 16 < 13 ? l + 3 : NOBODY; }
static uint32_t ror4(uint32_t l) { return (l & ~15u) + (l + 12) % 16; }
static uint32_t mirror(uint32_t l) { return l ^ 15; }
static uint32_t half_mirror(uint32_t l) { return l ^ 7; }
static uint32_t share(uint32_t l) { return (l & ~15u) + 5; }
static uint32_t xmask(uint32_t l) { return l ^ 9; }
static uint32_t bcast15(uint32_t l) { return l < 16 ? NOBODY : (l & ~15u) - 1; }
static uint32_t bcast31(uint32_t l) { return l < 32 ? NOBODY : 31; }
static uint32_t dpp8(uint32_t l) { return (l & ~7u) + 7 - l % 8; }
static uint32_t wave_shr(uint32_t l) { return l ? l - 1 : NOBODY; }
static uint32_t swap16(uint32_t l) { return l ^ 16; }
static uint32_t bit_mask(uint32_t l) { return (l & 32) + (((l & 0x1e) ^ 2) | 1); }
static uint32_t around(uint32_t l) { return l ^ 21; }
static uint32_t other_row(uint32_t l) { return ((l & ~15u) ^ 16) + 15 - l % 16; }
static uint32_t other_half(uint32_t l) { return l ^ 32; }
static uint32_t first(uint32_t l) { return l * 0; }
static uint32_t fifth(uint32_t l) { return l * 0 + 5; }

#define DPP(what) "s_nop 1\nv_mov_b32_dpp v16, v12 " what " row_mask:0xf bank_mask:0xf bound_ctrl:1"
static const struct {
    const char *processor, *body;
    From *from;
} cases[] = {
    {"gfx942", DPP("quad_perm:[1,0,3,2]"), quad},
    {"gfx942", DPP("row_shr:1"), shr1},
    {"gfx942", DPP("row_shl:3"), shl3},
    {"gfx942", DPP("row_ror:4"), ror4},
    {"gfx1100", DPP("row_ror:4"), ror4},
    {"gfx942", DPP("row_mirror"), mirror},
    {"gfx942", DPP("row_half_mirror"), half_mirror},
    {"gfx942", DPP("row_newbcast:5"), share},
    {"gfx1100", DPP("row_share:5"), share},
    {"gfx1100", DPP("row_xmask:9"), xmask},
    {"gfx942", DPP("row_bcast:15"), bcast15},
    {"gfx942", DPP("row_bcast:31"), bcast31},
    {"gfx942", DPP("wave_shr:1"), wave_shr},
    {"gfx1100", "v_mov_b32_dpp v16, v12 dpp8:[7,6,5,4,3,2,1,0]", dpp8},
    {"gfx942", "ds_swizzle_b32 v16, v12 offset:swizzle(SWAP,16)\ns_waitcnt lgkmcnt(0)", swap16},
    {"gfx942",
     "ds_swizzle_b32 v16, v12 offset:swizzle(BITMASK_PERM, \"pppi1\")\n"
     "s_waitcnt lgkmcnt(0)",
     bit_mask},
    {"gfx942",
     "v_xor_b32_e32 v20, 21, v0\nv_lshlrev_b32_e32 v20, 2, v20\n"
     "ds_bpermute_b32 v16, v20, v12\ns_waitcnt lgkmcnt(0)",
     around},
    {"gfx1201",
     "v_xor_b32_e32 v20, 21, v0\nv_lshlrev_b32_e32 v20, 2, v20\n"
     "ds_bpermute_b32 v16, v20, v12\ns_wait_dscnt 0x0",
     around},
    {"gfx942",
     "v_xor_b32_e32 v20, 21, v0\nv_lshlrev_b32_e32 v20, 2, v20\n"
     "ds_permute_b32 v16, v20, v12\ns_waitcnt lgkmcnt(0)",
     around},
    {"gfx1100",
     "s_mov_b32 s4, 0x89abcdef\ns_mov_b32 s5, 0x01234567\n"
     "v_permlanex16_b32 v16, v12, s4, s5",
     other_row},
    {"gfx942",
     "v_mov_b32_e32 v20, v12\nv_mov_b32_e32 v21, v12\ns_nop 1\n"
     "v_readfirstlane_b32 s4, v12\nv_mov_b32_e32 v16, s4",
     first},
    {"gfx942", "v_readlane_b32 s4, v12, 5\nv_mov_b32_e32 v16, s4", fifth},
    {"gfx950",
     "v_mov_b32_e32 v20, v12\nv_mov_b32_e32 v21, v12\n"
     "v_permlane32_swap_b32_e32 v20, v21\nv_cmp_gt_u32_e32 vcc, 32, v0\n"
     "v_cndmask_b32_e32 v16, v20, v21, vcc",
     other_half},
};

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_create();
        Warp w;
        uint32_t x[64][4] = {{0}}, y[64][4];
        uint32_t lanes = cases[i].processor[3] == '9' ? 64 : 32;
        for (uint32_t l = 0; l < 64; l++) x[l][0] = 100 + l;
        amd_open(&w, &(AmdSource){.processor = cases[i].processor,
                                  .text = amd_kernel(arena, cases[i].processor, cases[i].body),
                                  .args = 2});
        warp_watch(&w);
        uint64_t at = warp_upload(&w, x, sizeof x);
        warp_run_ok(&w, "k", 1, lanes, 0, (uint64_t[]){at, at}, 2);
        warp_download(&w, at, y, sizeof y);
        for (uint32_t l = 0; l < lanes; l++) {
            uint32_t from = cases[i].from(l), expected = from == NOBODY ? 0 : 100 + from;
            if (y[l][0] != expected)
                fail_msg("%s '%s' lane %u: %u, expected %u", cases[i].processor, cases[i].body, l,
                         y[l][0], expected);
        }
        warp_close(&w);
        arena_destroy(arena);
    }
}

// Lanes without a source, or that the masks leave out, keep what the result held.
static void test_masks(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    uint32_t x[64][4] = {{0}}, y[64][4];
    for (uint32_t l = 0; l < 64; l++) x[l][0] = 100 + l;
    const char *body =
        "v_mov_b32_e32 v16, 7\ns_nop 1\n"
        "v_add_u32_dpp v16, v12, v12 row_shr:2 row_mask:0x5 bank_mask:0xe";
    amd_open(&w, &(AmdSource){"gfx942", amd_kernel(arena, "gfx942", body), .args = 2});
    uint64_t at = warp_upload(&w, x, sizeof x);
    warp_run_ok(&w, "k", 1, 64, 0, (uint64_t[]){at, at}, 2);
    warp_download(&w, at, y, sizeof y);
    for (uint32_t l = 0; l < 64; l++) {
        bool written = l / 16 % 2 == 0 && l % 16 >= 4;
        assert_int_equal(y[l][0], written ? 100 + l - 2 + 100 + l : 7);
    }
    warp_close(&w);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_masks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
