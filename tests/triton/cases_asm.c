// Inline assembly that works on registers.
#include <math.h>
#include <stdint.h>

#include "tests/triton/cases.h"

enum { N = 256 };

void case_asm_reals(Rig *r) {
    Array *x = array_random(r, TILEC_F32, N, -9, 9), *y = array_random(r, TILEC_F32, N, -9, 9);
    Array *out = array_new(r, TILEC_F32, 4 * N);
    run(r, "asm.py", "reals", TILEC_SPEC(TILEC_CONST("N", N)), GRID(1, 1, 1),
        TILEC_ARGS(view1(x), view1(y), view1(out)));
    for (int i = 0; i < N; i++) {
        float a = (float)get(x, i), b = (float)get(y, i), product = a * b, quotient = a / b;
        exact(out, i, product + b);
        exact(out, N + i, a < 0 ? -quotient : quotient + 1.0f);
        exact(out, 2 * N + i, copysign(fmax(fabsf(a), fabsf(b)), a * b));
        exact(out, 3 * N + i, fmaf(a, b, 2));
    }
}

static uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = a | (uint64_t)b << 32;
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t nibble = selector >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 0xff;
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        sum |= byte << (8 * i);
    }
    return sum;
}

void case_asm_words(Rig *r) {
    Array *x = array_ints(r, TILEC_I32, N, INT32_MIN, INT64_C(1) << 31);
    Array *y = array_ints(r, TILEC_I32, N, INT32_MIN, INT64_C(1) << 31);
    Array *out = array_new(r, TILEC_U32, 5 * N);
    run(r, "asm.py", "words", TILEC_SPEC(TILEC_CONST("N", N)), GRID(1, 1, 1),
        TILEC_ARGS(view1(x), view1(y), view1(out)));
    for (int i = 0; i < N; i++) {
        uint32_t a = (uint32_t)get_int(x, i), b = (uint32_t)get_int(y, i), m = 0x80808080;
        same(out, i, permuted(a, b, 0x50b6));
        same(out, N + i, (a & m) | (b & ~m));  // 0xE4: a where the mask is, else b
        same(out, 2 * N + i, b << 11 | a >> 21);
        uint32_t swapped = a << 16 | a >> 16;
        same(out, 3 * N + i, b >= 0x80000000 ? swapped >> 5 & 0x1ff : b);
        same(out, 4 * N + i, (uint32_t)(b * 3 + (a >> 31 ? UINT32_MAX : 0)));
    }
}

static uint32_t four_bits(double v) {
    static const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    uint32_t best = 0;
    for (uint32_t k = 1; k < 8; k++) {
        double now = fabs(fabs(v) - values[k]), before = fabs(fabs(v) - values[best]);
        if (now < before || (now == before && k % 2 == 0)) best = k;
    }
    return best | (signbit(v) ? 8 : 0);
}

void case_asm_conversions(Rig *r) {
    static const double given[] = {0, -0.0, 0.25, 0.75, -1.25, 1.75, 2.5, -3.5, 5, 5.1, 1e9, -1e-9};
    Array *x = array_random(r, TILEC_F32, N, -8, 8), *y = array_random(r, TILEC_F32, N, -500, 500);
    Array *half = array_new(r, TILEC_F16, 2 * N), *byte = array_new(r, TILEC_F8E4M3, 2 * N);
    Array *out = array_new(r, TILEC_U32, 5 * N);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) set(x, (int64_t)i, given[i]);
    run(r, "asm.py", "conversions", TILEC_SPEC(TILEC_CONST("N", N)), GRID(1, 1, 1),
        TILEC_ARGS(view1(x), view1(y), view1(out)));
    for (int i = 0; i < N; i++) {
        double a = get(x, i), b = get(y, i);
        double most = 448, c = fmin(fmax(a, -most), most), d = fmin(fmax(b, -most), most);
        uint32_t codes = four_bits(b) | four_bits(a) << 4;
        same(out, i, codes);
        set(byte, 0, d), set(byte, 1, c);
        same(out, N + i, byte->data[0] | byte->data[1] << 8);
        int power;
        double part = frexp(a, &power);  // |part| is from 0.5 to 1
        same(out, 2 * N + i, a == 0 ? 0 : power + 126 + (fabs(part) > 0.5 ? 1 : 0));
        set(half, 0, b), set(half, 1, a);
        same(out, 3 * N + i,
             half->data[0] | half->data[1] << 8 | half->data[2] << 16 |
                 (int64_t)((uint32_t)half->data[3] << 24));
        static const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
        for (int k = 0; k < 2; k++) {
            uint32_t code = codes >> (4 * k) & 15;
            set(half, k, copysign(values[code & 7], code & 8 ? -1.0 : 1.0));
        }
        same(out, 4 * N + i,
             half->data[0] | half->data[1] << 8 | half->data[2] << 16 |
                 (int64_t)((uint32_t)half->data[3] << 24));
    }
}

void case_asm_packed(Rig *r) {
    Array *x = array_ints(r, TILEC_U8, N, 0, 256), *out = array_new(r, TILEC_U8, N);
    Array *wide = array_new(r, TILEC_U16, N);
    run(r, "asm.py", "packed", TILEC_SPEC(TILEC_CONST("N", N)), GRID(1, 1, 1),
        TILEC_ARGS(view1(x), view1(out), view1(wide)));
    for (int i = 0; i < N; i++) {
        static const int masks[] = {0x7f, 0x3f, 0x1f, 0x0f};
        int64_t v = get_int(x, i);
        same(out, i, (v & masks[i % 4]) ^ v);
        // The selector 0x5140 takes byte 0 or 1 twice: as the upper byte with zeros below it.
        same(wide, i, (v << 7) & 0xffff);
    }
}
