// Matrix instructions against plain loops, with the maps of AMD's documents written out again.
#include "tests/support/amd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/machine/number/number.h"

enum { MOST = 32, DEEP = 64 };

typedef enum Element { F32, F64, F16, BF16, I8, FP8, FNUZ } Element;

typedef struct Case {
    const char *processor, *name;
    uint32_t m, k, blocks;
    Element a, c;
} Case;

// Products of one block fill v[20:..] (A), v[40:..] (B), v[60:..] (C and D).
static const Case cases[] = {
    {"gfx90a", "v_mfma_f32_32x32x8f16", 32, 8, 1, F16, F32},
    {"gfx90a", "v_mfma_f32_16x16x16f16", 16, 16, 1, F16, F32},
    {"gfx90a", "v_mfma_f32_32x32x8bf16_1k", 32, 8, 1, BF16, F32},
    {"gfx90a", "v_mfma_f32_32x32x4f16", 32, 4, 2, F16, F32},
    {"gfx90a", "v_mfma_f32_4x4x4f16", 4, 4, 16, F16, F32},
    {"gfx90a", "v_mfma_f32_32x32x2f32", 32, 2, 1, F32, F32},
    {"gfx90a", "v_mfma_f64_16x16x4f64", 16, 4, 1, F64, F64},
    {"gfx90a", "v_mfma_i32_32x32x8i8", 32, 8, 1, I8, I8},
    {"gfx942", "v_mfma_f32_16x16x16_bf16", 16, 16, 1, BF16, F32},
    {"gfx942", "v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, F16, F32},
    {"gfx942", "v_mfma_i32_16x16x32_i8", 16, 32, 1, I8, I8},
    {"gfx942", "v_mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, FNUZ, F32},
    {"gfx942", "v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, F64, F64},
    {"gfx950", "v_mfma_f32_16x16x32_f16", 16, 32, 1, F16, F32},
    {"gfx950", "v_mfma_f32_32x32x16_bf16", 32, 16, 1, BF16, F32},
    {"gfx950", "v_mfma_i32_16x16x64_i8", 16, 64, 1, I8, I8},
    {"gfx950", "v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, FP8, F32},
    {"gfx1100", "v_wmma_f32_16x16x16_f16", 16, 16, 1, F16, F32},
    {"gfx1100", "v_wmma_f32_16x16x16_bf16", 16, 16, 1, BF16, F32},
    {"gfx1100", "v_wmma_i32_16x16x16_iu8", 16, 16, 1, I8, I8},
    {"gfx1201", "v_wmma_f32_16x16x16_f16", 16, 16, 1, F16, F32},
    {"gfx1201", "v_wmma_f32_16x16x16_bf16", 16, 16, 1, BF16, F32},
    {"gfx1201", "v_wmma_f32_16x16x16_fp8_fp8", 16, 16, 1, FP8, F32},
    {"gfx1201", "v_wmma_i32_16x16x16_iu8", 16, 16, 1, I8, I8},
};

static uint32_t bits_of(Element e) {
    return e == F64 ? 64 : e == F32 ? 32 : e == F16 || e == BF16 ? 16 : 8;
}
static uint64_t encode(Element e, int v) {
    static const SimFormat fnuz = {8, 4, 8, 0x7f, 0, 0};
    switch (e) {
    case F64: return sim_bits_f64(v);
    case F32: return sim_bits_f32((float)v);
    case F16: return sim_f16_round((float)v);
    case BF16: return sim_bf16_round((float)v);
    case FP8: return sim_number_round(&sim_e4m3, v, SIM_RN, false);
    case FNUZ: return sim_number_round(&fnuz, v, SIM_RN, false);
    case I8: return (uint8_t)v;
    }
    return 0;
}

typedef struct Matrices {
    int a[16][MOST][DEEP], b[16][MOST][DEEP], c[16][MOST][MOST];
} Matrices;

static void fill(const Case *t, Matrices *m) {
    uint32_t state = 5;
    for (uint32_t n = 0; n < t->blocks; n++)
        for (uint32_t r = 0; r < t->m; r++) {
            for (uint32_t k = 0; k < t->k; k++) {
                state = state * 1664525 + 1013904223, m->a[n][r][k] = (int)(state >> 24) % 7 - 3;
                state = state * 1664525 + 1013904223, m->b[n][r][k] = (int)(state >> 24) % 7 - 3;
            }
            for (uint32_t j = 0; j < t->m; j++)
                state = state * 1664525 + 1013904223, m->c[n][r][j] = (int)(state >> 20) % 100;
        }
}

// ---- Maps: where a lane's element lies ----

static bool is_wmma(const Case *t) { return t->name[2] == 'w'; }

static void operand_place(const Case *t, uint32_t lane, uint32_t e, uint32_t *block, uint32_t *line,
                          uint32_t *k) {
    *block = 0;
    if (is_wmma(t)) {
        *line = lane % 16;
        *k = t->processor[4] == '1' ? e : lane / 16 * 8 + e;
        return;
    }
    uint32_t each = t->k * t->m * t->blocks / 64;
    *line = lane % t->m;
    *block = lane / t->m % t->blocks;
    *k = lane / (t->m * t->blocks) * each + e;
}

static void result_place(const Case *t, uint32_t lane, uint32_t r, uint32_t *block, uint32_t *row,
                         uint32_t *column) {
    *block = 0, *column = lane % t->m;
    if (is_wmma(t))
        *row = t->processor[4] == '1' ? 2 * r + lane / 16 : lane / 16 * 8 + r;
    else if (t->m == 32)
        *block = r / 16, *row = r % 16 / 4 * 8 + lane / 32 * 4 + r % 4;
    else if (t->m == 16 && t->c == F64)
        *row = r * 4 + lane / 16;
    else if (t->m == 16)
        *block = r / 4, *row = lane / 16 * 4 + r % 4;
    else if (t->c == F64)
        *block = lane / 4 % 4, *row = lane / 16;
    else
        *block = lane / 4, *row = r;
}

static uint32_t elements(const Case *t) {
    if (is_wmma(t)) return t->processor[4] == '1' ? 16 : 8;
    return t->k * t->m * t->blocks / 64;
}
static uint32_t lanes_of(const Case *t) { return is_wmma(t) ? 32 : 64; }
static uint32_t results(const Case *t) { return t->m * t->m * t->blocks / lanes_of(t); }
static uint32_t words(uint32_t count, Element e) { return count * bits_of(e) / 32; }
static uint32_t result_words(const Case *t) { return results(t) * (t->c == F64 ? 2 : 1); }

// ---- A case: registers are loaded from and stored to 512 bytes of a lane ----

enum { LANE = 512, B_AT = 64, C_AT = 128 };

static void put_bits(uint8_t *to, uint32_t n, uint32_t bits, uint64_t v) {
    memcpy(to + (size_t)n * bits / 8, &v, bits / 8);
}

static const char *kernel(Arena *arena, const Case *t) {
    StrBuf b = strbuf(arena);
    bool new_names = t->processor[3] == '1', twelve = strncmp(t->processor, "gfx12", 5) == 0;
    uint32_t ab = words(elements(t), t->a), c = result_words(t);
    strbuf_printf(&b,
                  "%s s[20:21], s[0:1], 0x0\n%s\nv_and_b32_e32 v0, 0x3ff, v0\n"
                  "v_lshlrev_b32_e32 v1, 9, v0\n",
                  new_names ? "s_load_b64" : "s_load_dwordx2",
                  twelve ? "s_wait_kmcnt 0x0" : "s_waitcnt lgkmcnt(0)");
    const char *load = new_names ? "global_load_b32" : "global_load_dword";
    const char *store = new_names ? "global_store_b32" : "global_store_dword";
    const uint32_t count[] = {ab, ab, c}, first[] = {20, 40, 60}, at[] = {0, B_AT, C_AT};
    for (uint32_t n = 0; n < 3; n++)
        for (uint32_t i = 0; i < count[n]; i++)
            strbuf_printf(&b, "%s v%u, v1, s[20:21] offset:%u\n", load, first[n] + i,
                          at[n] + 4 * i);
    strbuf_printf(&b, "%s\n", twelve ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)");
    char sources[2][24];
    for (uint32_t n = 0; n < 2; n++)
        if (ab > 1)
            snprintf(sources[n], sizeof sources[n], "v[%u:%u]", first[n], first[n] + ab - 1);
        else
            snprintf(sources[n], sizeof sources[n], "v%u", first[n]);
    strbuf_printf(&b, "%s v[60:%u], %s, %s, v[60:%u]%s\n", t->name, 60 + c - 1, sources[0],
                  sources[1], 60 + c - 1, is_wmma(t) && t->a == I8 ? " neg_lo:[1,1,0]" : "");
    for (uint32_t i = 0; i < c; i++)
        strbuf_printf(&b, "%s v1, v%u, s[20:21] offset:%u\n", store, 60 + i, C_AT + 4 * i);
    strbuf_add(&b, STR("s_endpgm"));
    return b.text;
}

static void run_case(const Case *t) {
    Arena *arena = arena_create();
    Warp w;
    Matrices *m = arena_new(arena, Matrices, 1);
    uint8_t(*data)[LANE] = arena_alloc(arena, 64 * LANE);
    uint32_t block, row, column, lanes = lanes_of(t);
    fill(t, m);
    for (uint32_t l = 0; l < lanes; l++) {
        for (uint32_t e = 0; e < elements(t); e++) {
            operand_place(t, l, e, &block, &row, &column);
            put_bits(data[l], e, bits_of(t->a), encode(t->a, m->a[block][row][column]));
            put_bits(data[l] + B_AT, e, bits_of(t->a), encode(t->a, m->b[block][row][column]));
        }
        for (uint32_t r = 0; r < results(t); r++) {
            result_place(t, l, r, &block, &row, &column);
            int v = m->c[block][row][column];
            put_bits(data[l] + C_AT, r, t->c == F64 ? 64 : 32,
                     t->c == I8 ? (uint32_t)v : encode(t->c, v));
        }
    }
    amd_open(&w, &(AmdSource){.processor = t->processor, .text = kernel(arena, t), .args = 1});
    warp_watch(&w);
    uint64_t at = warp_upload(&w, data, (size_t)lanes * LANE);
    warp_run_ok(&w, "k", 1, lanes, 0, &at, 1);
    warp_download(&w, at, data, (size_t)lanes * LANE);
    for (uint32_t l = 0; l < lanes; l++)
        for (uint32_t r = 0; r < results(t); r++) {
            result_place(t, l, r, &block, &row, &column);
            int sum = m->c[block][row][column];
            for (uint32_t k = 0; k < t->k; k++) sum += m->a[block][row][k] * m->b[block][column][k];
            uint64_t expected = t->c == I8 ? (uint32_t)sum : encode(t->c, sum), found = 0;
            memcpy(&found, data[l] + C_AT + (size_t)r * (t->c == F64 ? 8 : 4), t->c == F64 ? 8 : 4);
            if (found != expected)
                fail_msg("%s %s lane %u result %u: %llx, expected %llx (%d)", t->processor, t->name,
                         l, r, (unsigned long long)found, (unsigned long long)expected, sum);
        }
    warp_close(&w);
    arena_destroy(arena);
}

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i]);
}

// One rounding of the exact sum: a small product added to two great ones that cancel.
static void test_exact(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    static const Case t = {"gfx942", "v_mfma_f32_32x32x2_f32", 32, 2, 1, F32, F32};
    uint8_t(*data)[LANE] = arena_alloc(arena, 64 * LANE);
    for (uint32_t l = 0; l < 64; l++) {
        put_bits(data[l], 0, 32, sim_bits_f32(l < 32 ? 0x1p60f : 1));
        put_bits(data[l] + B_AT, 0, 32, sim_bits_f32(l < 32 ? 0x1p30f : 0x1p-20f));
        for (uint32_t r = 0; r < 16; r++) put_bits(data[l] + C_AT, r, 32, sim_bits_f32(-0x1p90f));
    }
    amd_open(&w, &(AmdSource){.processor = t.processor, .text = kernel(arena, &t), .args = 1});
    uint64_t at = warp_upload(&w, data, 64 * LANE);
    warp_run_ok(&w, "k", 1, 64, 0, &at, 1);
    warp_download(&w, at, data, 64 * LANE);
    uint32_t d;
    memcpy(&d, data[17] + C_AT + 12, 4);
    assert_int_equal(d, sim_bits_f32(0x1p-20f));
    warp_close(&w);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
