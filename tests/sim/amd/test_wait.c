// A value that is used before its wait is poison: each wait is compared with the same code without
// it.
#include "tests/support/amd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Case {
    const char *processor, *body;
    bool poisoned;
    uint32_t lds;
} Case;

// 62 more of an access: the next one is the 64th, which does not fit a counter.
#define TEN(access) access access access access access access access access access access
#define SIXTY_TWO(access) \
    TEN(access) TEN(access) TEN(access) TEN(access) TEN(access) TEN(access) access access
#define LOADED "global_load_dword v20, v[10:11], off\n"
#define LOAD "global_load_dword v21, v[10:11], off\n"
#define STORE "global_store_dword v[10:11], v12, off\n"
#define STORE_BESIDE "global_store_dword v[10:11], v12, off offset:4\n"
#define READ "ds_read_b32 v21, v22\n"
#define GFX11_STORE "global_store_b32 v[10:11], v12, off\n"
#define GFX11_READ "ds_load_b32 v21, v22\n"
#define PLACED "v_lshlrev_b32_e32 v22, 2, v0\nds_write_b32 v22, v12\ns_waitcnt lgkmcnt(0)\n"
#define TAKEN "v_mov_b32_e32 v16, v20"

static const Case cases[] = {
    // A load of its own thread's first word into v20.
    {"gfx942", "global_load_dword v20, v[10:11], off\nv_mov_b32_e32 v16, v20", true, 0},
    {"gfx942", "global_load_dword v20, v[10:11], off\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v20",
     false, 0},
    {"gfx942",
     "global_load_dword v20, v[10:11], off\nglobal_load_dword v21, v[10:11], off offset:4\n"
     "s_waitcnt vmcnt(1)\nv_mov_b32_e32 v16, v20",
     false, 0},
    {"gfx942",
     "global_load_dword v20, v[10:11], off\nglobal_load_dword v21, v[10:11], off offset:4\n"
     "s_waitcnt vmcnt(1)\nv_mov_b32_e32 v16, v21",
     true, 0},
    // The position of the first bit: bits beyond one that is set do not matter.
    {"gfx942", LOADED "v_ffbl_b32_e32 v16, v20", true, 0},
    {"gfx942", LOADED "v_or_b32_e32 v16, 0x100, v20\nv_ffbl_b32_e32 v16, v16", true, 0},
    {"gfx942", LOADED "v_or_b32_e32 v16, 1, v20\nv_ffbl_b32_e32 v16, v16", false, 0},
    {"gfx942", LOADED "v_or_b32_e32 v16, 1, v20\nv_ffbh_u32_e32 v16, v16", true, 0},
    {"gfx942", LOADED "v_or_b32_e32 v16, 0x80000000, v20\nv_ffbh_u32_e32 v16, v16", false, 0},
    // gfx9 counts stores with loads, gfx10 and later apart.
    {"gfx942",
     "global_store_dword v[10:11], v12, off\nglobal_load_dword v20, v[10:11], off\n"
     "s_waitcnt vmcnt(1)\nv_mov_b32_e32 v16, v20",
     true, 0},
    {"gfx1100",
     "global_load_b32 v20, v[10:11], off\nglobal_store_b32 v[10:11], v12, off\n"
     "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v20",
     false, 0},
    {"gfx1100",
     "global_load_b32 v20, v[10:11], off\ns_waitcnt_vscnt null, 0x0\nv_mov_b32_e32 v16, v20", true,
     0},
    {"gfx1201", "global_load_b32 v20, v[10:11], off\ns_wait_dscnt 0x0\nv_mov_b32_e32 v16, v20",
     true, 0},
    {"gfx1201", "global_load_b32 v20, v[10:11], off\ns_wait_loadcnt 0x0\nv_mov_b32_e32 v16, v20",
     false, 0},
    {"gfx1201",
     "global_load_b32 v20, v[10:11], off\nglobal_inv scope:SCOPE_DEV\ns_wait_loadcnt 0x1\n"
     "v_mov_b32_e32 v16, v20",
     false, 0},
    // Scalar loads come in any order: only waiting for all of them is sure.
    {"gfx942",
     "s_load_dword s30, s[20:21], 0x0\ns_load_dword s31, s[20:21], 0x4\ns_waitcnt lgkmcnt(1)\n"
     "v_mov_b32_e32 v16, s30",
     true, 0},
    {"gfx942",
     "s_load_dword s30, s[20:21], 0x0\ns_load_dword s31, s[20:21], 0x4\ns_waitcnt lgkmcnt(0)\n"
     "v_mov_b32_e32 v16, s30",
     false, 0},
    // A value that is written before the load has come may be overwritten when it does.
    {"gfx942",
     "global_load_dword v20, v[10:11], off\nv_mov_b32_e32 v20, 0\ns_waitcnt vmcnt(0)\n"
     "v_mov_b32_e32 v16, v20",
     true, 0},
    {"gfx942",
     "global_load_dword v20, v[10:11], off\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v20, 0\n"
     "v_mov_b32_e32 v16, v20",
     false, 0},
    {"gfx942",
     "s_load_dword s30, s[20:21], 0x0\ns_and_b32 s30, s30, 0\ns_waitcnt lgkmcnt(0)\n"
     "v_mov_b32_e32 v16, s30",
     true, 0},
    {"gfx942",
     "global_load_short_d16 v20, v[10:11], off\nglobal_load_short_d16_hi v20, v[10:11], off\n"
     "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v20",
     false, 0},
    {"gfx942",
     "global_load_ushort v20, v[10:11], off\nglobal_load_short_d16_hi v20, v[10:11], off\n"
     "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v20",
     false, 0},
    {"gfx942",
     "global_load_ushort v20, v[10:11], off\nglobal_load_short_d16_hi v20, v[10:11], off\n"
     "s_waitcnt vmcnt(1)\nv_mov_b32_e32 v16, v20",
     true, 0},
    // Loads to one register: the later one wins if they come in order, else the value is not known.
    {"gfx942",
     "global_load_dwordx2 v[20:21], v[10:11], off\nglobal_load_dword v20, v[10:11], off\n"
     "s_waitcnt vmcnt(0)\nv_add_u32_e32 v16, v20, v21",
     false, 0},
    {"gfx942",
     "global_load_dwordx2 v[20:21], v[10:11], off\nglobal_load_dword v20, v[10:11], off\n"
     "s_waitcnt vmcnt(1)\nv_mov_b32_e32 v16, v21",
     false, 0},
    {"gfx942",
     "global_load_dwordx2 v[20:21], v[10:11], off\nglobal_load_dword v20, v[10:11], off\n"
     "s_waitcnt vmcnt(1)\nv_mov_b32_e32 v16, v20",
     true, 0},
    {"gfx942",
     "s_load_dword s30, s[20:21], 0x0\ns_load_dword s30, s[20:21], 0x4\ns_waitcnt lgkmcnt(0)\n"
     "v_mov_b32_e32 v16, s30",
     true, 0},
    {"gfx942",
     "v_lshlrev_b32_e32 v22, 2, v0\nds_write_b32 v22, v12\nds_read_b32 v20, v22\n"
     "global_load_dword v20, v[10:11], off\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
     "v_mov_b32_e32 v16, v20",
     true, 1024},
    // LDS: reads are waited for.
    {"gfx942",
     "v_lshlrev_b32_e32 v22, 2, v0\nds_write_b32 v22, v12\nds_read_b32 v20, v22\n"
     "v_mov_b32_e32 v16, v20",
     true, 1024},
    {"gfx942",
     "v_lshlrev_b32_e32 v22, 2, v0\nds_write_b32 v22, v12\nds_read_b32 v20, v22\n"
     "s_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v16, v20",
     false, 1024},
    // Straight to LDS.
    {"gfx942",
     "s_mov_b32 m0, 0\nglobal_load_lds_dword v[10:11], off\nv_and_b32_e32 v22, 63, v0\n"
     "v_lshlrev_b32_e32 v22, 2, v22\nds_read_b32 v20, v22\ns_waitcnt lgkmcnt(0)\n"
     "v_mov_b32_e32 v16, v20",
     true, 1024},
    // A counter that is full holds the wave until the oldest has come: loads, stores, LDS.
    {"gfx942", LOADED SIXTY_TWO(LOAD) TAKEN, true, 0},
    {"gfx942", LOADED SIXTY_TWO(LOAD) LOAD TAKEN, false, 0},
    {"gfx942", LOADED SIXTY_TWO(STORE) TAKEN, true, 0},
    {"gfx942", LOADED SIXTY_TWO(STORE) STORE TAKEN, false, 0},
    {"gfx1100", LOADED SIXTY_TWO(GFX11_STORE) TEN(GFX11_STORE) TAKEN, true, 0},
    {"gfx942", PLACED "ds_read_b32 v20, v22\n" SIXTY_TWO(READ) TAKEN, true, 1024},
    {"gfx942", PLACED "ds_read_b32 v20, v22\n" SIXTY_TWO(READ) READ TAKEN, false, 1024},
    {"gfx1100", PLACED "ds_load_b32 v20, v22\n" SIXTY_TWO(GFX11_READ) GFX11_READ TAKEN, false,
     1024},
    {"gfx942", PLACED "ds_read_b32 v20, v22\n" SIXTY_TWO(STORE) TEN(STORE) TAKEN, true, 1024},
    // Registers that were never written, whole and in part.
    {"gfx942", "v_add_u32_e32 v16, v40, v12", true, 0},
    {"gfx942", "v_and_b32_e32 v16, 0, v40", false, 0},
    {"gfx942", "v_mov_b32_e32 v16, s40", true, 0},
    {"gfx942", "v_lshlrev_b32_e32 v40, 16, v40\nv_and_b32_e32 v16, 0xffff, v40", false, 0},
    {"gfx942",
     "global_load_short_d16 v40, v[10:11], off\ns_waitcnt vmcnt(0)\n"
     "v_and_b32_e32 v16, 0xffff, v40",
     false, 0},
    {"gfx942",
     "global_load_short_d16 v40, v[10:11], off\ns_waitcnt vmcnt(0)\n"
     "v_lshrrev_b32_e32 v16, 16, v40",
     true, 0},
    // A choice by scc takes the bits of what is chosen, and all is unknown where scc is.
    {"gfx1030",
     "s_lshl_b32 s40, s40, 16\ns_cmp_eq_u32 s20, s20\ns_cselect_b32 s41, s40, 1\n"
     "s_and_b32 s41, s41, 0xffff\nv_mov_b32_e32 v16, s41",
     false, 0},
    {"gfx1030",
     "s_lshl_b32 s40, s40, 16\ns_cmp_eq_u32 s20, s20\ns_cselect_b32 s41, s40, 1\n"
     "v_mov_b32_e32 v16, s41",
     true, 0},
    {"gfx1030", "s_cmp_lg_u32 s20, s20\ns_cselect_b32 s41, s40, 1\nv_mov_b32_e32 v16, s41", false,
     0},
    {"gfx1030", "s_cmp_eq_u32 s40, 0\ns_cselect_b32 s41, 1, 2\nv_mov_b32_e32 v16, s41", true, 0},
    // Only five bits of a shift count are read, and only the converted byte of a word.
    {"gfx942", "v_lshlrev_b32_e32 v16, v40, v12", true, 0},
    {"gfx942", "v_lshlrev_b32_e32 v40, 5, v40\nv_lshlrev_b32_e32 v16, v40, v12", false, 0},
    {"gfx942", "v_lshlrev_b32_e32 v40, 4, v40\nv_lshlrev_b32_e32 v16, v40, v12", true, 0},
    {"gfx942", "v_lshlrev_b32_e32 v40, 16, v40\nv_cvt_f32_ubyte1_e32 v16, v40", false, 0},
    {"gfx942", "v_lshlrev_b32_e32 v40, 16, v40\nv_cvt_f32_ubyte2_e32 v16, v40", true, 0},
};

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Arena *arena = arena_create();
        Warp w;
        uint32_t data[128][4] = {{1}};
        uint32_t threads = 128;
        amd_open(&w, &(AmdSource){.processor = c->processor,
                                  .text = amd_kernel(arena, c->processor, c->body),
                                  .args = 2,
                                  .lds = c->lds});
        warp_watch(&w);
        w.observer_count = 2;  // bounds and poison
        uint64_t at = warp_upload(&w, data, sizeof data);
        SimResult r = warp_run(&w, "k", 1, threads, 0, (uint64_t[]){at, at}, 2);
        if (r.outcome != SIM_DONE) fail_msg("%s: '%s': %s", c->processor, c->body, r.text);
        if (warp_found(&w, SIM_FINDING_POISON) != c->poisoned)
            fail_msg("%s: '%s': %s", c->processor, c->body,
                     c->poisoned ? "nothing is found" : "poison is found");
        warp_close(&w);
        arena_destroy(arena);
    }
}

// v22: the thread's own place in LDS, v23: that of one of the other wave.
#define PLACES "v_lshlrev_b32_e32 v22, 2, v0\nv_xor_b32_e32 v23, 0x100, v22\n"
#define WAITED "s_waitcnt lgkmcnt(0)\n"
#define READ_BACK "ds_read_b32 v20, v23\n" WAITED "v_mov_b32_e32 v16, v20"
#define WRITTEN PLACES "ds_write_b32 v22, v12\n" WAITED
#define AGAIN "ds_write_b32 v22, v13\n" WAITED "v_mov_b32_e32 v16, v20"
// Into the array, and all threads' look at its first word.
#define STORED "v_mov_b32_e32 v30, 0\nglobal_store_dword v[10:11], v12, off\n"
#define SEEN "global_load_dword v20, v30, s[20:21]\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v20"
#define GOT "v_mov_b32_e32 v30, 0\nglobal_load_dword v20, v30, s[20:21]\n"
#define PUT "global_store_dword v[10:11], v12, off\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v16, v20"

// A wait must come before the barrier, too, for what other threads read or write.
static void test_races(void **state) {
    (void)state;
    static const struct {
        const char *processor, *body;
        bool race;
    } races[] = {
        {"gfx90a", WRITTEN READ_BACK, true},
        {"gfx90a", WRITTEN "s_barrier\n" READ_BACK, false},
        {"gfx942", PLACES "ds_write_b32 v22, v12\ns_barrier\n" READ_BACK, true},
        {"gfx942", WRITTEN "s_barrier\nds_read_b32 v20, v23\n" WAITED "s_barrier\n" AGAIN, false},
        {"gfx942", WRITTEN "s_barrier\nds_read_b32 v20, v23\ns_barrier\n" AGAIN, true},
        {"gfx942", WRITTEN "s_barrier\nds_add_u32 v22, v12\ns_barrier\n" READ_BACK, true},
        {"gfx942", WRITTEN "s_barrier\nds_add_u32 v22, v12\n" WAITED "s_barrier\n" READ_BACK,
         false},
        {"gfx942", STORED "s_barrier\n" SEEN "\ns_barrier", true},
        {"gfx942", STORED "s_waitcnt vmcnt(0)\ns_barrier\n" SEEN "\ns_barrier", false},
        // The counter is full: the first store has come, the others are to another word.
        {"gfx942", STORED SIXTY_TWO(STORE_BESIDE) "s_barrier\n" SEEN "\ns_barrier", true},
        {"gfx942", STORED SIXTY_TWO(STORE_BESIDE) STORE_BESIDE "s_barrier\n" SEEN "\ns_barrier",
         false},
        {"gfx942", GOT "s_barrier\n" PUT "\ns_barrier", true},
        {"gfx942", GOT "s_waitcnt vmcnt(0)\ns_barrier\n" PUT "\ns_barrier", false},
        {"gfx1201",
         PLACES "ds_store_b32 v22, v12\ns_wait_dscnt 0x0\ns_barrier_signal -1\n"
                "s_barrier_wait 0xffff\nds_load_b32 v20, v23\ns_wait_dscnt 0x0\n"
                "v_mov_b32_e32 v16, v20",
         false},
        {"gfx1201",
         PLACES "ds_store_b32 v22, v12\ns_barrier_signal -1\ns_barrier_wait 0xffff\n"
                "ds_load_b32 v20, v23\ns_wait_dscnt 0x0\nv_mov_b32_e32 v16, v20",
         true},
    };
    for (size_t i = 0; i < sizeof races / sizeof *races; i++) {
        Arena *arena = arena_create();
        Warp w;
        uint32_t data[128][4] = {{1}};
        amd_open(&w, &(AmdSource){races[i].processor,
                                  amd_kernel(arena, races[i].processor, races[i].body), .args = 2,
                                  .lds = 1024});
        warp_watch(&w);
        uint64_t at = warp_upload(&w, data, sizeof data);
        SimResult r = warp_run(&w, "k", 1, 128, 0, (uint64_t[]){at, at}, 2);
        if (r.outcome != SIM_DONE) fail_msg("'%s': %s", races[i].body, r.text);
        if (warp_found(&w, SIM_FINDING_RACE) != races[i].race)
            fail_msg("%s: '%s': %s", races[i].processor, races[i].body,
                     races[i].race ? "nothing is found" : "a race is found");
        warp_close(&w);
        arena_destroy(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_races)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
