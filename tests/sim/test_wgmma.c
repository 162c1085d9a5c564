// wgmma against plain sums: types, shapes, layouts of factors in shared memory, which are written
// out here on their own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/machine/number/number.h"
#include "sim/machine/product.h"
#include "tests/support/warp.h"

enum { ROWS = 64, STEPS = 2, B_AT = 16384, SHARED = 65536, THREADS = 128 };

typedef struct Case {
    const char *a, *b, *d;  // types
    uint32_t n;
    uint32_t width_a, width_b;  // of the swizzle; 16: none
    bool transposed_a, transposed_b, registers;
    bool begins;  // scale-d is false
    int scale_a, scale_b;
} Case;

// ---- Elements: small integers, exact in all types ----

static uint32_t size_of(const char *type) {
    return !strcmp(type, "tf32") ? 4 : type[strlen(type) - 1] == '6' ? 2 : 1;
}
static uint32_t depth_of(const Case *c) { return 32 / size_of(c->a); }

static int element(const char *type, uint32_t line, uint32_t k) {
    int v = (int)((line * 40503u + k * 10007u + line * k * 977u) >> 5) % 9;
    return type[0] == 'u' ? v : v - 4;
}

static uint32_t bits_of(const char *type, int v) {
    if (!strcmp(type, "tf32")) return sim_bits_f32((float)v);
    if (!strcmp(type, "f16")) return sim_f16_round((float)v);
    if (!strcmp(type, "bf16")) return sim_bits_f32((float)v) >> 16;
    if (!strcmp(type, "e4m3")) return (uint32_t)sim_number_round(&sim_e4m3, v, SIM_RN, false);
    if (!strcmp(type, "e5m2")) return (uint32_t)sim_number_round(&sim_e5m2, v, SIM_RN, false);
    return (uint32_t)v & 255;
}

// ---- Layouts: 8 rows of `width` bytes, whose units of 16 bytes are exchanged ----

static uint32_t exchanged(uint32_t width, uint32_t row, uint32_t unit) {
    return width == 128  ? unit ^ row % 8
           : width == 64 ? unit ^ row / 2 % 4
           : width == 32 ? unit ^ row / 4 % 2
                         : unit;
}

// Rows are lines; a box of `width` bytes along k after the other.
static uint32_t place_straight(uint32_t width, uint32_t lines, uint32_t line, uint32_t byte) {
    uint32_t box = byte / width, unit = byte % width / 16;
    return box * lines * width + line * width + exchanged(width, line, unit) * 16 + byte % 16;
}
// Rows are steps along k; a box of `width` bytes of lines after the other.
static uint32_t place_turned(uint32_t width, uint32_t depth, uint32_t line, uint32_t k) {
    uint32_t box = line * 2 / width, unit = line * 2 % width / 16;
    return box * depth * width + k * width + exchanged(width, k, unit) * 16 + line * 2 % 16;
}

static void fill(uint8_t *to, const char *type, uint32_t lines, uint32_t depth, uint32_t width,
                 bool turned) {
    uint32_t size = size_of(type);
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t k = 0; k < depth; k++) {
            uint32_t bits = bits_of(type, element(type, line, k));
            uint32_t at = turned ? place_turned(width, depth, line, k)
                                 : place_straight(width, lines, line, k * size);
            memcpy(to + at, &bits, size);
        }
}

// ---- Descriptors ----

static uint64_t descriptor(uint32_t at, uint32_t width, uint32_t leading, uint32_t stride) {
    uint64_t mode = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
    return at >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | mode << 62;
}

// Each step is 32 bytes along k.
static uint64_t descriptor_of(uint32_t at, uint32_t width, bool turned, uint32_t lines,
                              uint32_t depth, uint32_t step) {
    uint32_t k = depth / STEPS;
    if (turned && width == 16)  // leading and stride are swapped
        return descriptor(at + step * k * 16, 16, 8 * 16, depth * 16);
    if (turned) return descriptor(at + step * k * width, width, depth * width, 8 * width);
    uint32_t byte = step * 32, box = byte / width * lines * width;
    return descriptor(at + box + byte % width, width, lines * 16, 8 * width);
}

// ---- The kernel ----

static void put_list(StrBuf *b, const char *prefix, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) strbuf_printf(b, "%s%s%u", i ? ", " : "", prefix, i);
}

static uint32_t results_of(const Case *c) { return !strcmp(c->d, "f16") ? c->n / 4 : c->n / 2; }
static bool is_float(const Case *c) { return strcmp(c->d, "s32") != 0; }
static bool has_turns(const Case *c) { return size_of(c->a) == 2; }

static void put_product(StrBuf *b, const Case *c, uint32_t step) {
    uint32_t depth = STEPS * depth_of(c);
    uint64_t da = descriptor_of(0, c->width_a, c->transposed_a, ROWS, depth, step);
    uint64_t db = descriptor_of(B_AT, c->width_b, c->transposed_b, c->n, depth, step);
    strbuf_printf(b, "// begin inline asm\n{ .reg .pred p; .reg .b64 a, b;\nmov.b64 a, %lld;\n",
                  (long long)da);
    strbuf_printf(b, "mov.b64 b, %lld;\nsetp.ne.b32 p, %%r5, 0;\n", (long long)db);
    strbuf_printf(b, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s {", c->n, depth_of(c), c->d,
                  c->a, c->b);
    put_list(b, "%d", results_of(c));
    if (c->registers)
        strbuf_printf(b, "}, {%%a%u, %%a%u, %%a%u, %%a%u}, b, ", 4 * step, 4 * step + 1,
                      4 * step + 2, 4 * step + 3);
    else
        strbuf_printf(b, "}, a, b, ");
    strbuf_printf(b, step || !c->begins ? "1" : "p");
    if (is_float(c)) strbuf_printf(b, ", %d, %d", c->scale_a, c->scale_b);
    if (has_turns(c) && !c->registers) strbuf_printf(b, ", %d", c->transposed_a);
    if (has_turns(c)) strbuf_printf(b, ", %d", c->transposed_b);
    strbuf_printf(b, ";\n}\n// end inline asm\n");
}

// Every thread copies its part of the image; then the products.
static const char *kernel(Arena *arena, const Case *c) {
    StrBuf b = strbuf(arena);
    strbuf_printf(&b,
                  ".version 8.0\n.target sm_90a\n.address_size 64\n"
                  ".extern .shared .align 1024 .b8 sm[];\n"
                  ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 rows)\n{\n"
                  ".reg .pred %%p<4>; .reg .b32 %%r<16>; .reg .b64 %%rd<16>; .reg .b32 %%a<8>; "
                  ".reg .%s %%d<%u>;\n"
                  "ld.param.u64 %%rd0, [in]; ld.param.u64 %%rd1, [out]; ld.param.u64 %%rd5, "
                  "[rows]; mov.u32 %%r0, %%tid.x; mov.u32 %%r5, 0;\n"
                  "shl.b32 %%r1, %%r0, 4; cvt.u64.u32 %%rd2, %%r1; mov.u32 %%r2, sm; add.u32 "
                  "%%r2, %%r2, %%r1; add.s64 %%rd0, %%rd0, %%rd2;\nmov.u32 %%r3, 0;\n"
                  "L: ld.global.v4.b32 {%%r6, %%r7, %%r8, %%r9}, [%%rd0]; st.shared.v4.b32 "
                  "[%%r2], {%%r6, %%r7, %%r8, %%r9};\n"
                  "add.s64 %%rd0, %%rd0, 2048; add.u32 %%r2, %%r2, 2048; add.u32 %%r3, %%r3, "
                  "2048; setp.lt.u32 %%p0, %%r3, %d; @%%p0 bra L;\n",
                  is_float(c) && strcmp(c->d, "f16") ? "f32" : "b32", results_of(c), SHARED);
    for (uint32_t n = 0; n < results_of(c); n++)
        strbuf_printf(&b, "mov.b32 %%d%u, %s;\n", n, c->begins ? "0x7fc00000" : "0");
    strbuf_printf(&b, "mul.wide.u32 %%rd6, %%r0, 32; add.s64 %%rd5, %%rd5, %%rd6;\n");
    for (uint32_t n = 0; n < 8; n++)
        strbuf_printf(&b, "ld.global.b32 %%a%u, [%%rd5+%u];\n", n, 4 * n);
    strbuf_printf(&b, "fence.proxy.async.shared::cta;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n");
    for (uint32_t step = 0; step < STEPS; step++) put_product(&b, c, step);
    strbuf_printf(&b,
                  "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
                  "mul.wide.u32 %%rd3, %%r0, 512; add.s64 %%rd1, %%rd1, %%rd3;\n");
    for (uint32_t n = 0; n < results_of(c); n++)
        strbuf_printf(&b, "st.global.b32 [%%rd1+%u], %%d%u;\n", 4 * n, n);
    strbuf_printf(&b, "ret;\n}\n");
    return b.text;
}

// A in registers: those of thread `t`, by the ISA's figures.
static void fill_rows(const Case *c, uint32_t t, uint32_t *regs) {
    uint32_t size = size_of(c->a), each = 4 / size, lane = t % 32;
    for (uint32_t n = 0; n < 8; n++) {
        uint32_t row = 16 * (t / 32) + lane / 4 + 8 * (n % 2);
        uint32_t k = n / 4 * depth_of(c) + n % 4 / 2 * depth_of(c) / 2 + lane % 4 * each;
        regs[n] = 0;
        for (uint32_t e = 0; e < each; e++)
            regs[n] |= bits_of(c->a, element(c->a, row, k + e)) << (8 * size * e);
    }
}

static int expected(const Case *c, uint32_t row, uint32_t column) {
    int sum = 0;
    for (uint32_t k = 0; k < STEPS * depth_of(c); k++)
        sum += element(c->a, row, k) * element(c->b, column, k);
    return is_float(c) ? sum * c->scale_a * c->scale_b : sum;
}

static double result(const Case *c, const uint32_t *regs, uint32_t row, uint32_t column) {
    uint32_t t = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    bool half = !strcmp(c->d, "f16");
    uint32_t n =
        column / 8 * (half ? 2 : 4) + row / 8 % 2 * (half ? 1 : 2) + (half ? 0 : column % 2);
    uint32_t bits = regs[t * 128 + n];
    if (half) return (double)sim_f16_value(bits >> 16 * (column % 2) & 0xffff);
    return is_float(c) ? (double)sim_f32_bits(bits) : (double)(int32_t)bits;
}

static void check(const Case *c) {
    Arena *arena = arena_create();
    Warp w;
    static uint8_t image[SHARED];
    static uint32_t rows[THREADS * 8], out[THREADS * 128];
    uint32_t depth = STEPS * depth_of(c);
    memset(image, 0, sizeof image);
    fill(image, c->a, ROWS, depth, c->width_a, c->transposed_a);
    fill(image + B_AT, c->b, c->n, depth, c->width_b, c->transposed_b);
    for (uint32_t t = 0; t < THREADS; t++) fill_rows(c, t, rows + 8 * t);
    warp_open(&w, kernel(arena, c));
    warp_watch(&w);
    for (w.seed = 0; w.seed < 4; w.seed++) {
        uint64_t args[] = {warp_upload(&w, image, sizeof image), warp_alloc(&w, sizeof out),
                           warp_upload(&w, rows, sizeof rows)};
        warp_run_ok(&w, "k", 1, THREADS, SHARED, args, 3);
        memset(out, 0, sizeof out);
        uint8_t used[512];
        for (uint32_t t = 0; t < THREADS; t++) {
            warp_download(&w, args[1] + 512 * t, used, 4 * results_of(c));
            memcpy(out + t * 128, used, 4 * results_of(c));
        }
        for (uint32_t row = 0; row < ROWS; row++)
            for (uint32_t column = 0; column < c->n; column++)
                if (result(c, out, row, column) != expected(c, row, column))
                    fail_msg("%s.%s.%s n %u, widths %u %u, turned %d %d: [%u, %u] is %g, not %d",
                             c->d, c->a, c->b, c->n, c->width_a, c->width_b, c->transposed_a,
                             c->transposed_b, row, column, result(c, out, row, column),
                             expected(c, row, column));
    }
    warp_close(&w);
    arena_destroy(arena);
}

static void test_types(void **state) {
    (void)state;
    static const Case cases[] = {
        {"f16", "f16", "f32", 64, 128, 128, false, false, false, false, 1, 1},
        {"f16", "f16", "f16", 24, 128, 128, false, false, false, true, 1, 1},
        {"bf16", "bf16", "f32", 256, 128, 128, false, false, false, true, 1, 1},
        {"tf32", "tf32", "f32", 16, 128, 128, false, false, false, false, 1, 1},
        {"e4m3", "e4m3", "f32", 32, 128, 128, false, false, false, false, 1, 1},
        {"e5m2", "e4m3", "f16", 8, 128, 128, false, false, false, true, 1, 1},
        {"s8", "u8", "s32", 48, 128, 128, false, false, false, false, 1, 1},
        {"u8", "s8", "s32", 8, 64, 32, false, false, false, true, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(&cases[i]);
}

static void test_layouts(void **state) {
    (void)state;
    static const uint32_t widths[] = {128, 64, 32, 16};
    for (int a = 0; a < 4; a++)
        for (int turned = 0; turned < 4; turned++) {
            Case c = {"bf16",     "bf16",     "f32", 128,  widths[a], widths[(a + turned) % 4],
                      turned & 1, turned & 2, false, true, 1,         1};
            check(&c);
        }
}

static void test_registers(void **state) {
    (void)state;
    static const char *const types[][2] = {
        {"f16", "f32"}, {"bf16", "f32"}, {"tf32", "f32"}, {"e4m3", "f32"}, {"s8", "s32"}};
    for (int n = 0; n < 5; n++) {
        Case c = {types[n][0], types[n][0], types[n][1], 16,         128, 64,
                  false,       false,       true,        n % 2 == 0, 1,   1};
        check(&c);
    }
}

static void test_scales(void **state) {
    (void)state;
    for (int n = 0; n < 4; n++) {
        Case c = {"f16",      "f16",          "f32",         8, 32, 128, false, true, false,
                  n % 2 == 0, n & 1 ? -1 : 1, n & 2 ? -1 : 1};
        check(&c);
    }
}

// Sums of 8-bit floats: 13 bits below the greatest exponent count, and 14 bits of the sum.
static float narrow_sum(const float *products, uint32_t count, float c) {
    static SimFloats p;
    uint32_t sums[SIM_RESULTS], out[SIM_RESULTS];
    memset(&p, 0, sizeof p);
    p.m = SIM_ROWS, p.k = 32;
    for (uint32_t n = 0; n < count; n++) {  // factors: a small number and a power of two
        p.a[n] = products[n], p.b[n] = 1;
        for (; p.a[n] >= 16 || p.a[n] <= -16; p.b[n] *= 2) p.a[n] /= 2;
    }
    for (uint32_t n = 0; n < SIM_RESULTS; n++) sums[n] = sim_bits_f32(c);
    sim_product_narrow(&p, SIM_E4M3, SIM_E4M3, SIM_F32, sums, out);
    return sim_f32_bits(out[0]);
}

static void test_narrow(void **state) {
    (void)state;
    assert_true(narrow_sum((float[]){4096, 1}, 2, 0) == 4097);
    assert_true(narrow_sum((float[]){4096, 0.5f}, 2, 0) == 4096.5f);
    assert_true(narrow_sum((float[]){4096, 0.25f}, 2, 0) == 4096);
    assert_true(narrow_sum((float[]){-4096, -0.25f}, 2, 0) == -4096);
    assert_true(narrow_sum((float[]){4096, 0.25f, 0.25f, -4096}, 4, 0) == 0);
    // The sum reaches the next power of two, and loses its last bit.
    assert_true(narrow_sum((float[]){7680, 512, 0.5f}, 3, 0) == 8192);
    // The sum so far is an addend like the products.
    assert_true(narrow_sum((float[]){1}, 1, 8192) == 8193);
    assert_true(narrow_sum((float[]){1}, 1, 16384) == 16384);
    assert_true(narrow_sum((float[]){4096}, 1, 0.25f) == 4096);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_layouts),
                                       cmocka_unit_test(test_registers),
                                       cmocka_unit_test(test_scales),
                                       cmocka_unit_test(test_narrow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
