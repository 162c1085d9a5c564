// Views: every lane of every selection against a plain reference, near the edges and very far away.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/tir.h"

enum { W = 8, GUARD = 40, CELLS = 2 * GUARD + 16 };

static const int64_t far_offsets[] = {
    INT64_C(1) << 40,    -(INT64_C(1) << 40), (INT64_C(1) << 40) + 1,
    INT64_C(1) << 62,    -(INT64_C(1) << 62), INT64_C(1) << 31,
    -(INT64_C(1) << 31), INT64_C(1) << 32,    -(INT64_C(1) << 32),
    INT64_MAX,           INT64_MIN,           INT64_MAX - W,
    INT64_MIN + W,       INT64_MAX - 1};
enum { FAR = sizeof far_offsets / sizeof *far_offsets };

static int64_t offset_of(int64_t k) { return k < FAR ? far_offsets[k] : k - FAR - 2 * W; }

static int64_t offsets_for(int64_t extent) { return FAR + 4 * W + extent + 1; }

static bool lane_inside(int64_t offset, int64_t lane, int64_t extent) {
    if (offset >= extent || offset < -(int64_t)W) return false;
    return offset + lane >= 0 && offset + lane < extent;
}

static void reads_give_the_element_or_the_pad(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view i32[N], %%i: i64, %%p: i32, %%r: view i32[8]) { body {\n"
        "%%0 = view_load %%x, %%p, %%i {select = [8]} : i32[8]\n"
        "%%1 = const {value = 0} : i64\n"
        "view_store %%r, %%0, _, %%1 {select = [8]}\n"
        "return\n} }");
    int32_t memory[CELLS], result[W];
    for (int i = 0; i < CELLS; i++) memory[i] = 1000 + i;
    for (int64_t extent = 0; extent <= 16; extent++)
        for (int64_t k = 0; k < offsets_for(extent); k++)
            for (int mode = 0; mode < 3; mode++) {  // plain, sanitize, shadow
                int64_t offset = offset_of(k), eight = W;
                IrArg args[] = {tir_view(memory + GUARD, 1, &extent), tir_scalar((uint64_t)offset),
                                tir_scalar(77), tir_view(result, 1, &eight)};
                t->launch.sanitize = mode == 1;
                t->launch.shadow = mode == 2;
                assert_int_equal(tir_run(t, args, 4, 1), IR_RUN_DONE);
                for (int64_t w = 0; w < W; w++) {
                    bool in = lane_inside(offset, w, extent);
                    assert_int_equal(result[w], in ? 1000 + GUARD + offset + w : 77);
                }
            }
    tir_free(t);
}

static void writes_outside_are_dropped(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view i32[N], %%i: i64) { body {\n"
        "%%0 = iota : i32[8]\n"
        "view_store %%x, %%0, _, %%i {select = [8]}\n"
        "return\n} }");
    for (int64_t extent = 0; extent <= 16; extent++)
        for (int64_t k = 0; k < offsets_for(extent); k++) {
            int64_t offset = offset_of(k);
            int32_t memory[CELLS];
            for (int i = 0; i < CELLS; i++) memory[i] = -1;
            IrArg args[] = {tir_view(memory + GUARD, 1, &extent), tir_scalar((uint64_t)offset)};
            assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_DONE);
            for (int64_t i = -GUARD; i < CELLS - GUARD; i++) {
                bool hit = i >= 0 && i < extent && offset <= i && i - W < offset;
                assert_int_equal(memory[GUARD + i], hit ? (int32_t)(i - offset) : -1);
            }
        }
    tir_free(t);
}

// A matrix with every stride: rows backwards, columns of a transposed one, gaps.
static void strides_and_two_dimensions(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: strided view i32[M, N], %%i: i64, %%j: i64, %%r: view i32[4, 4], "
        "%%s: view bool[4, 4]) { body {\n"
        "%%0 = const {value = -5} : i32\n"
        "%%1 = view_load %%x, %%0, %%i, %%j {select = [4, 4]} : i32[4,4]\n"
        "%%2 = view_inside %%x, %%i, %%j {select = [4, 4]} : bool[4,4]\n"
        "%%3 = const {value = 0} : i64\n"
        "view_store %%r, %%1, _, %%3, %%3 {select = [4, 4]}\n"
        "view_store %%s, %%2, _, %%3, %%3 {select = [4, 4]}\n"
        "return\n} }");
    static const int64_t strides[][2] = {{7, 1},   {1, 6},  {-7, 1}, {7, -1},
                                         {-1, -6}, {14, 2}, {0, 1}};
    int32_t memory[200], result[16];
    uint8_t inside[16];
    int64_t four[2] = {4, 4};
    for (int i = 0; i < 200; i++) memory[i] = i;
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)
        for (int64_t i = -6; i < 8; i++)
            for (int64_t j = -6; j < 9; j++) {
                IrArg args[] = {{.data = memory + 100,
                                 .extent = {5, 6},
                                 .stride = {strides[s][0], strides[s][1]}},
                                tir_scalar((uint64_t)i),
                                tir_scalar((uint64_t)j),
                                tir_view(result, 2, four),
                                tir_view(inside, 2, four)};
                assert_int_equal(tir_run(t, args, 5, 1), IR_RUN_DONE);
                for (int64_t k = 0; k < 16; k++) {
                    int64_t row = i + k / 4, column = j + k % 4;
                    bool in = row >= 0 && row < 5 && column >= 0 && column < 6;
                    int64_t want = 100 + row * strides[s][0] + column * strides[s][1];
                    assert_int_equal(inside[k], in);
                    assert_int_equal(result[k], in ? want : -5);
                }
            }
    tir_free(t);
}

// x[a, i +: 4, b] with tiles a: [2,1] and b: [1,2]: their lanes stand where the first one stands.
static void tile_indices_gather_and_scatter(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view i32[3, 5, 4], %%a: view i64[2, 1], %%b: view i32[1, 2], %%i: i64, "
        "%%r: view i32[2, 2, 4], %%y: view i32[3, 5, 4]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%a, _, %%0, %%0 {select = [2, 1]} : i64[2,1]\n"
        "%%2 = view_load %%b, _, %%0, %%0 {select = [1, 2]} : i32[1,2]\n"
        "%%3 = const {value = -9} : i32\n"
        "%%4 = view_load %%x, %%3, %%1, %%i, %%2 {select = [0, 4, 0]} : i32[2,2,4]\n"
        "view_store %%r, %%4, _, %%0, %%0, %%0 {select = [2, 2, 4]}\n"
        "view_store %%y, %%4, _, %%1, %%i, %%2 {select = [0, 4, 0]}\n"
        "return\n} }");
    int32_t x[60], y[60], result[16];
    int64_t shape[3] = {3, 5, 4}, out[3] = {2, 2, 4}, left[2] = {2, 1}, right[2] = {1, 2};
    for (int i = 0; i < 60; i++) x[i] = i;
    static const int64_t as[] = {-1, 0, 2, 3, INT64_MIN, INT64_MAX};
    static const int32_t bs[] = {-1, 0, 3, 4, INT32_MIN};
    for (size_t p = 0; p < 36; p++)
        for (size_t q = 0; q < 25; q++)
            for (int64_t i = -4; i < 6; i++) {
                int64_t a[2] = {as[p / 6], as[p % 6]};
                int32_t b[2] = {bs[q / 5], bs[q % 5]};
                for (int k = 0; k < 60; k++) y[k] = -1;
                IrArg args[] = {tir_view(x, 3, shape),    tir_view(a, 2, left),
                                tir_view(b, 2, right),    tir_scalar((uint64_t)i),
                                tir_view(result, 3, out), tir_view(y, 3, shape)};
                assert_int_equal(tir_run(t, args, 6, 1), IR_RUN_DONE);
                int written = 0;
                for (int k = 0; k < 16; k++) {
                    int64_t row = a[k / 8], middle = i + k % 4, last = b[(k / 4) % 2];
                    bool in =
                        row >= 0 && row < 3 && middle >= 0 && middle < 5 && last >= 0 && last < 4;
                    int64_t at = in ? row * 20 + middle * 4 + last : 0;
                    assert_int_equal(result[k], in ? at : -9);
                    if (in) assert_int_equal(y[at], x[at]);
                    written += in;
                }
                for (int k = 0; k < 60; k++)
                    if (y[k] != -1) assert_int_equal(y[k], k);
                if (written == 0)
                    for (int k = 0; k < 60; k++) assert_int_equal(y[k], -1);
            }
    tir_free(t);
}

static void scalar_indices_drop_dimensions(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view u8[3, 4], %%i: u64, %%j: i8, %%r: view u8[1]) { body {\n"
        "%%0 = view_load %%x, _, %%i, %%j {select = [0, 0]} : u8\n"
        "%%1 = const {value = 0} : i64\n"
        "view_store %%r, %%0, _, %%1 {select = [0]}\n"
        "return\n} }");
    uint8_t x[12], r[1];
    int64_t shape[2] = {3, 4}, one = 1;
    for (uint8_t i = 0; i < 12; i++) x[i] = (uint8_t)(i + 1);
    static const uint64_t rows[] = {0, 1, 2, 3, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 40};
    for (size_t k = 0; k < 7; k++)
        for (int j = -128; j < 128; j++) {
            IrArg args[] = {tir_view(x, 2, shape), tir_scalar(rows[k]),
                            tir_scalar((uint64_t)j & 0xff), tir_view(r, 1, &one)};
            assert_int_equal(tir_run(t, args, 4, 1), IR_RUN_DONE);
            bool in = rows[k] < 3 && j >= 0 && j < 4;
            assert_int_equal(r[0], in ? x[rows[k] * 4 + (uint64_t)j] : 0);
        }
    tir_free(t);
}

static void packed_elements(void **state) {
    (void)state;
    for (int sign = 0; sign < 2; sign++) {
        const char *packed = sign ? "i4" : "u4", *wide = sign ? "i8" : "u8";
        Tir *t = tir_load(
            "kernel @k(%%x: view %s[2, 8], %%i: i64, %%r: view %s[2, 4], %%y: view %s[2, 8]) {\n"
            "body {\n"
            "%%0 = const {value = 0} : i64\n"
            "%%1 = view_load %%x, _, %%0, %%i {select = [2, 4]} : %s[2,4]\n"
            "view_store %%r, %%1, _, %%0, %%0 {select = [2, 4]}\n"
            "view_store %%y, %%1, _, %%0, %%i {select = [2, 4]}\n"
            "return\n} }",
            packed, wide, packed, wide);
        uint8_t x[8], y[8];
        int8_t r[8];
        int64_t shape[2] = {2, 8}, out[2] = {2, 4};
        for (unsigned i = 0; i < 8; i++) x[i] = (uint8_t)(0x10 * (2 * i + 1) + 2 * i);
        for (int64_t i = -8; i < 12; i += 2) {
            memset(y, 0x5a, sizeof y);
            IrArg args[] = {tir_view(x, 2, shape), tir_scalar((uint64_t)i), tir_view(r, 2, out),
                            tir_view(y, 2, shape)};
            assert_int_equal(tir_run(t, args, 4, 1), IR_RUN_DONE);
            for (int64_t k = 0; k < 8; k++) {
                int64_t column = i + k % 4;
                int nibble = (int)((k / 4) * 8 + column) & 15;
                int value = sign && nibble > 7 ? nibble - 16 : nibble;
                bool in = column >= 0 && column < 8;
                assert_int_equal(r[k], in ? value : 0);
            }
            for (int64_t k = 0; k < 16; k++) {
                bool hit = k % 8 >= i && k % 8 < i + 4;
                unsigned got = (k & 1) ? y[k / 2] >> 4U : y[k / 2] & 15U;
                assert_int_equal(got, hit ? (unsigned)k : (k & 1) ? 5U : 10U);
            }
        }
        tir_free(t);
    }
}

static void bools_are_any_byte_that_is_not_zero(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view bool[4], %%y: view bool[4]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%x, _, %%0 {select = [4]} : bool[4]\n"
        "view_store %%y, %%1, _, %%0 {select = [4]}\n"
        "return\n} }");
    uint8_t x[4] = {0, 1, 2, 255}, y[4] = {9, 9, 9, 9};
    int64_t four = 4;
    IrArg args[] = {tir_view(x, 1, &four), tir_view(y, 1, &four)};
    assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_DONE);
    assert_memory_equal(y, ((uint8_t[]){0, 1, 1, 1}), 4);
    tir_free(t);
}

static void masks_drop_lanes(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view i16[N], %%m: view bool[8], %%i: i64) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%m, _, %%0 {select = [8]} : bool[8]\n"
        "%%2 = const {value = 7} : i16[8]\n"
        "view_store %%x, %%2, %%1, %%i {select = [8]}\n"
        "return\n} }");
    int64_t n = 10, eight = 8;
    for (unsigned bits = 0; bits < 256; bits++)
        for (int64_t i = -3; i < 6; i++) {
            int16_t x[10] = {0};
            uint8_t mask[8];
            for (unsigned k = 0; k < 8; k++) mask[k] = (uint8_t)((bits >> k) & 1U);
            IrArg args[] = {tir_view(x, 1, &n), tir_view(mask, 1, &eight), tir_scalar((uint64_t)i)};
            assert_int_equal(tir_run(t, args, 3, 1), IR_RUN_DONE);
            for (int64_t k = 0; k < 10; k++) {
                bool hit = k >= i && k < i + 8 && mask[k - i];
                assert_int_equal(x[k], hit ? 7 : 0);
            }
        }
    tir_free(t);
}

// An attribute `inside` that is false is a defect of the code that set it: it is reported, and
// memory stays safe.
static void false_proofs_are_told(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view i32[N], %%i: i64) { body {\n"
        "%%0 = const {value = 1} : i32[4]\n"
        "view_store %%x, %%0, _, %%i {select = [4], inside = [1]}\n"
        "return\n} }");
    int32_t x[6] = {0};
    int64_t n = 6;
    IrArg args[] = {tir_view(x, 1, &n), tir_scalar(2)};
    assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_DONE);
    args[1] = tir_scalar(3);
    assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_FINDINGS);
    assert_true(tir_reported(t, "dimension 0 is marked inside and is not"));
    tir_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_give_the_element_or_the_pad),
        cmocka_unit_test(writes_outside_are_dropped),
        cmocka_unit_test(strides_and_two_dimensions),
        cmocka_unit_test(tile_indices_gather_and_scatter),
        cmocka_unit_test(scalar_indices_drop_dimensions),
        cmocka_unit_test(packed_elements),
        cmocka_unit_test(bools_are_any_byte_that_is_not_zero),
        cmocka_unit_test(masks_drop_lanes),
        cmocka_unit_test(false_proofs_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
