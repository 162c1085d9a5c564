// AMD's fragments against formulas stated here as the ISA documents and AMD's matrix instruction
// calculator give them, by lane and by index of the element in the lane's registers.
#include "tests/ir/layout/support.h"

typedef struct Operand {
    uint32_t side;  // row of A, column of B
    uint32_t k;
} Operand;

// ---- MFMA

// Lanes take the rows, then runs of K of k * mn / 64 elements.
static void operands_of_mfma(void **state) {
    (void)state;
    static const LayoutMfma all[] = {
        {32, 2, 32}, {16, 4, 32}, {32, 4, 32},  {16, 8, 32},  {32, 4, 16},
        {16, 8, 16}, {32, 8, 16}, {16, 16, 16}, {32, 16, 16}, {16, 32, 16},
        {32, 8, 8},  {16, 16, 8}, {32, 16, 8},  {16, 32, 8},  {32, 32, 8},
        {16, 64, 8}, {32, 64, 4}, {16, 128, 4}, {16, 4, 64},
    };
    for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
        LayoutMfma m = all[s];
        assert_true(matrix_shape_exists((MatrixShape){MATRIX_UNIT_MFMA, m.mn, m.mn, m.k, m.bits}));
        Layout a = layout_mfma(m, LAYOUT_OPERAND_A), b = layout_mfma(m, LAYOUT_OPERAND_B);
        uint32_t each = m.k * m.mn / 64;
        assert_int_equal(layout_size(&a, LAYOUT_REG), each);
        assert_int_equal(layout_size(&a, LAYOUT_LANE), 64);
        assert_true(layout_distributed(&a) && layout_distributed(&b));
        for (uint32_t lane = 0; lane < 64; lane++) {
            for (uint32_t i = 0; i < each; i++) {
                uint32_t k = lane / m.mn * each + i;
                assert_int_equal(held(&a, i, lane, 0), lane % m.mn * m.k + k);
                assert_int_equal(held(&b, i, lane, 0), k * m.mn + lane % m.mn);
            }
        }
    }
    assert_false(matrix_shape_exists((MatrixShape){MATRIX_UNIT_MFMA, 32, 32, 2, 64}));
    assert_false(matrix_shape_exists((MatrixShape){MATRIX_UNIT_MFMA, 16, 16, 16, 32}));
}

// 32 bytes a lane: 16 of the first half of K, 16 of the second.
static void operands_of_wide_mfma(void **state) {
    (void)state;
    for (uint32_t mn = 16; mn <= 32; mn *= 2) {
        LayoutMfma m = {mn, mn == 16 ? 128 : 64, 8};
        Layout a = layout_mfma(m, LAYOUT_OPERAND_A), b = layout_mfma(m, LAYOUT_OPERAND_B);
        assert_int_equal(layout_size(&a, LAYOUT_REG), 32);
        for (uint32_t lane = 0; lane < 64; lane++) {
            for (uint32_t i = 0; i < 32; i++) {
                uint32_t k = i / 16 * (m.k / 2) + lane / mn * 16 + i % 16;
                assert_int_equal(held(&a, i, lane, 0), lane % mn * m.k + k);
                assert_int_equal(held(&b, i, lane, 0), k * mn + lane % mn);
            }
        }
    }
}

static void accumulators_of_mfma(void **state) {
    (void)state;
    Layout large = layout_mfma((LayoutMfma){32, 8, 16}, LAYOUT_OPERAND_C);
    Layout small = layout_mfma((LayoutMfma){16, 16, 16}, LAYOUT_OPERAND_C);
    Layout wide = layout_mfma((LayoutMfma){16, 4, 64}, LAYOUT_OPERAND_C);
    assert_int_equal(layout_size(&large, LAYOUT_REG), 16);
    assert_int_equal(layout_size(&small, LAYOUT_REG), 4);
    assert_int_equal(layout_size(&wide, LAYOUT_REG), 4);
    for (uint32_t lane = 0; lane < 64; lane++) {
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t row = i % 4 + 4 * (lane / 32) + 8 * (i / 4);
            assert_int_equal(held(&large, i, lane, 0), row * 32 + lane % 32);
        }
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(held(&small, i, lane, 0), (4 * (lane / 16) + i) * 16 + lane % 16);
            // Doubles: the lanes' rows are neighbours, the registers' four apart.
            assert_int_equal(held(&wide, i, lane, 0), (lane / 16 + 4 * i) * 16 + lane % 16);
        }
    }
}

// ---- WMMA

// The place of an operand's element along K, by the calculator's tables.
static uint32_t wmma_k(LayoutWmma w, uint32_t lane, uint32_t i) {
    if (w.generation == 11) return i;
    uint32_t half = lane / 16 % 2, upper = lane / 32;
    switch (w.bits * 100 + w.k) {
    case 1616:  // v0, v1 of both halves, then v2, v3; on 64 lanes those are the upper lanes'
        if (w.lanes == 64) return 8 * upper + 4 * half + i;
        return 8 * (i / 4) + 4 * half + i % 4;
    case 816:  // v0 and v1, or v0 of the lanes 32 apart
        return 8 * half + 4 * upper + i;
    case 416:  // one register; of 64 lanes the upper ones hold the same
        return 8 * half + i;
    case 432: return 16 * half + 8 * upper + i;
    default: fail(); return 0;
    }
}

static void fragments_of_wmma(void **state) {
    (void)state;
    static const LayoutWmma all[] = {
        {11, 32, 16, 16}, {11, 32, 16, 8},  {11, 32, 16, 4}, {11, 64, 16, 16}, {11, 64, 16, 8},
        {11, 64, 16, 4},  {12, 32, 16, 16}, {12, 32, 16, 8}, {12, 32, 16, 4},  {12, 32, 32, 4},
        {12, 64, 16, 16}, {12, 64, 16, 8},  {12, 64, 16, 4}, {12, 64, 32, 4},
    };
    for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
        LayoutWmma w = all[s];
        Layout a = layout_wmma(w, LAYOUT_OPERAND_A), b = layout_wmma(w, LAYOUT_OPERAND_B);
        Layout c = layout_wmma(w, LAYOUT_OPERAND_C);
        assert_true(layout_distributed(&a) && layout_distributed(&b) && layout_distributed(&c));
        assert_int_equal(layout_size(&a, LAYOUT_LANE), w.lanes);
        assert_int_equal(layout_size(&c, LAYOUT_REG), 256 / w.lanes);
        for (uint32_t lane = 0; lane < w.lanes; lane++) {
            for (uint32_t i = 0; i < layout_size(&a, LAYOUT_REG); i++) {
                uint32_t k = wmma_k(w, lane, i);
                assert_int_equal(held(&a, i, lane, 0), lane % 16 * w.k + k);
                assert_int_equal(held(&b, i, lane, 0), k * 16 + lane % 16);
            }
            for (uint32_t i = 0; i < 256 / w.lanes; i++) {
                uint32_t row = i * (w.lanes / 16) + lane / 16;
                if (w.generation == 12) {
                    row = 8 * (lane / 16 % 2) + 4 * (lane / 32) + i;
                }
                assert_int_equal(held(&c, i, lane, 0), row * 16 + lane % 16);
            }
        }
    }
    assert_false(matrix_shape_exists((MatrixShape){MATRIX_UNIT_WMMA3, 16, 16, 32, 4}));
}

// ---- blocked layouts, for both vendors

static void blocked(void **state) {
    (void)state;
    Dice dice = dice_roll(1);
    for (int t = 0; t < 300; t++) {
        LayoutBlocked b = {.rank = 2};
        b.order[0] = (uint8_t)any_below(&dice, 2);
        b.order[1] = (uint8_t)(1 - b.order[0]);
        uint32_t lane_split = any_below(&dice, 6), warp_split = any_below(&dice, 3);
        uint32_t lanes[] = {lane_split, 5 - lane_split}, warps[] = {warp_split, 2 - warp_split};
        for (uint32_t i = 0; i < 2; i++) {
            b.shape[i] = 1u << any_below(&dice, 9);
            b.elements[i] = 1u << any_below(&dice, 4);
            b.lanes[i] = 1u << lanes[i];
            b.warps[i] = 1u << warps[i];
        }
        Layout l = layout_blocked(&b);
        assert_true(layout_distributed(&l));
        assert_int_equal(layout_free_bits(&l, LAYOUT_REG), 0);
        assert_int_equal(l.dim_bits[LAYOUT_LANE], 5);
        assert_int_equal(l.dim_bits[LAYOUT_WARP], 2);
        uint32_t fast = b.order[0], slow = b.order[1];
        uint32_t own[2];
        for (uint32_t i = 0; i < 2; i++) {
            own[i] = b.elements[i] < b.shape[i] ? b.elements[i] : b.shape[i];
        }
        for (uint32_t input = 0; input < 1u << l.bits; input++) {
            LayoutPoint at = layout_point(&l, input);
            uint32_t c[IR_MAX_RANK], reg = at.at[LAYOUT_REG], want[2], rest[2], again[2];
            uint32_t lane = at.at[LAYOUT_LANE], warp = at.at[LAYOUT_WARP];
            layout_coords(&l, layout_apply(&l, at), c);
            want[fast] = reg % own[fast];
            want[slow] = reg / own[fast] % own[slow];
            rest[fast] = lane % b.lanes[fast] + b.lanes[fast] * (warp % b.warps[fast]);
            rest[slow] = lane / b.lanes[fast] + b.lanes[slow] * (warp / b.warps[fast]);
            uint32_t left = reg / own[0] / own[1];
            for (uint32_t i = 0; i < 2; i++) {
                uint32_t axis = i == 0 ? fast : slow;
                uint32_t tile = own[axis] * b.lanes[axis] * b.warps[axis];
                uint32_t times = b.shape[axis] > tile ? b.shape[axis] / tile : 1;
                again[axis] = left % times;
                left /= times;
                uint32_t sum = want[axis] + own[axis] * rest[axis] + tile * again[axis];
                assert_int_equal(c[axis], sum % b.shape[axis]);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_of_mfma),
        cmocka_unit_test(operands_of_wide_mfma),
        cmocka_unit_test(accumulators_of_mfma),
        cmocka_unit_test(fragments_of_wmma),
        cmocka_unit_test(blocked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
