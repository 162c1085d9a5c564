// NVIDIA's fragments against the formulas of the PTX ISA, stated here for each shape as the
// document does: by lane and by index of the fragment's element.
#include "tests/ir/layout/support.h"

typedef struct Place {
    uint32_t row, column;
} Place;

typedef Place (*Formula)(uint32_t lane, uint32_t i);

// groupID and threadID_in_group of the document.
#define GROUP (lane >> 2)
#define THREAD (lane % 4)

// ---- A operands

static Place a_m16n8k8_16(uint32_t lane, uint32_t i) {
    return (Place){i < 2 ? GROUP : GROUP + 8, THREAD * 2 + (i & 1)};
}
static Place a_m16n8k16_16(uint32_t lane, uint32_t i) {
    bool upper = i < 2 || (i >= 4 && i < 6);
    uint32_t column = THREAD * 2 + (i & 1);
    return (Place){upper ? GROUP : GROUP + 8, i < 4 ? column : column + 8};
}
static Place a_m16n8k4_tf32(uint32_t lane, uint32_t i) {
    return (Place){i == 0 ? GROUP : GROUP + 8, THREAD};
}
static Place a_m16n8k8_32(uint32_t lane, uint32_t i) {
    return (Place){i == 0 || i == 2 ? GROUP : GROUP + 8, i < 2 ? THREAD : THREAD + 4};
}
static Place a_m8n8k4_f64(uint32_t lane, uint32_t i) {
    assert_int_equal(i, 0);
    return (Place){GROUP, THREAD};
}
static Place a_m16n8k16_f64(uint32_t lane, uint32_t i) {
    uint32_t column = i % 2 == 0 ? i * 2 + THREAD : i * 2 - 2 + THREAD;
    return (Place){i % 2 == 0 ? GROUP : GROUP + 8, column};
}
static Place a_m8n8k16_8(uint32_t lane, uint32_t i) { return (Place){GROUP, THREAD * 4 + i}; }
static Place a_m16n8k16_8(uint32_t lane, uint32_t i) {
    return (Place){i < 4 ? GROUP : GROUP + 8, THREAD * 4 + (i & 3)};
}
static Place a_m16n8k32_8(uint32_t lane, uint32_t i) {
    bool upper = i < 4 || (i >= 8 && i < 12);
    uint32_t column = THREAD * 4 + (i & 3);
    return (Place){upper ? GROUP : GROUP + 8, i < 8 ? column : column + 16};
}
static Place a_m8n8k32_4(uint32_t lane, uint32_t i) { return (Place){GROUP, THREAD * 8 + i}; }
static Place a_m16n8k32_4(uint32_t lane, uint32_t i) {
    return (Place){i < 8 ? GROUP : GROUP + 8, THREAD * 8 + (i & 7)};
}
static Place a_m16n8k64_4(uint32_t lane, uint32_t i) {
    bool upper = i < 8 || (i >= 16 && i < 24);
    uint32_t column = THREAD * 8 + (i & 7);
    return (Place){upper ? GROUP : GROUP + 8, i < 16 ? column : column + 32};
}

// ---- B operands

static Place b_k8_16(uint32_t lane, uint32_t i) { return (Place){THREAD * 2 + i, GROUP}; }
static Place b_k16_16(uint32_t lane, uint32_t i) {
    uint32_t row = THREAD * 2 + (i & 1);
    return (Place){i < 2 ? row : row + 8, GROUP};
}
static Place b_k4_32(uint32_t lane, uint32_t i) {
    assert_int_equal(i, 0);
    return (Place){THREAD, GROUP};
}
static Place b_k8_32(uint32_t lane, uint32_t i) {
    return (Place){i == 0 ? THREAD : THREAD + 4, GROUP};
}
static Place b_k16_f64(uint32_t lane, uint32_t i) { return (Place){THREAD + i * 4, GROUP}; }
static Place b_k16_8(uint32_t lane, uint32_t i) { return (Place){THREAD * 4 + i, GROUP}; }
static Place b_k32_8(uint32_t lane, uint32_t i) {
    uint32_t row = THREAD * 4 + (i & 3);
    return (Place){i < 4 ? row : row + 16, GROUP};
}
static Place b_k32_4(uint32_t lane, uint32_t i) { return (Place){THREAD * 8 + i, GROUP}; }
static Place b_k64_4(uint32_t lane, uint32_t i) {
    uint32_t row = THREAD * 8 + (i & 7);
    return (Place){i < 8 ? row : row + 32, GROUP};
}

// ---- accumulators

static Place c_m16n8(uint32_t lane, uint32_t i) {
    return (Place){i < 2 ? GROUP : GROUP + 8, THREAD * 2 + (i & 1)};
}
static Place c_m8n8(uint32_t lane, uint32_t i) { return (Place){GROUP, THREAD * 2 + i}; }

static const struct {
    LayoutMma mma;
    Formula a, b, c;
} shapes[] = {
    {{16, 8, 8, 16}, a_m16n8k8_16, b_k8_16, c_m16n8},
    {{16, 8, 16, 16}, a_m16n8k16_16, b_k16_16, c_m16n8},
    {{16, 8, 4, 32}, a_m16n8k4_tf32, b_k4_32, c_m16n8},
    {{16, 8, 8, 32}, a_m16n8k8_32, b_k8_32, c_m16n8},
    {{8, 8, 4, 64}, a_m8n8k4_f64, b_k4_32, c_m8n8},
    {{16, 8, 4, 64}, a_m16n8k4_tf32, b_k4_32, c_m16n8},
    {{16, 8, 8, 64}, a_m16n8k8_32, b_k8_32, c_m16n8},
    {{16, 8, 16, 64}, a_m16n8k16_f64, b_k16_f64, c_m16n8},
    {{8, 8, 16, 8}, a_m8n8k16_8, b_k16_8, c_m8n8},
    {{16, 8, 16, 8}, a_m16n8k16_8, b_k16_8, c_m16n8},
    {{16, 8, 32, 8}, a_m16n8k32_8, b_k32_8, c_m16n8},
    {{8, 8, 32, 4}, a_m8n8k32_4, b_k32_4, c_m8n8},
    {{16, 8, 32, 4}, a_m16n8k32_4, b_k32_4, c_m16n8},
    {{16, 8, 64, 4}, a_m16n8k64_4, b_k64_4, c_m16n8},
};

static void check(const Layout *l, uint32_t rows, uint32_t columns, Formula formula) {
    assert_int_equal(layout_extent(l, 0), rows);
    assert_int_equal(layout_extent(l, 1), columns);
    assert_int_equal(layout_size(l, LAYOUT_LANE), 32);
    assert_int_equal(layout_size(l, LAYOUT_REG) * 32, rows * columns);
    assert_true(layout_distributed(l));
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; i < layout_size(l, LAYOUT_REG); i++) {
            Place want = formula(lane, i);
            assert_int_equal(held(l, i, lane, 0), want.row * columns + want.column);
        }
    }
}

static void fragments_of_mma(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        LayoutMma mma = shapes[s].mma;
        assert_true(
            matrix_shape_exists((MatrixShape){MATRIX_UNIT_MMA, mma.m, mma.n, mma.k, mma.bits}));
        Layout a = layout_mma(mma, LAYOUT_OPERAND_A);
        Layout b = layout_mma(mma, LAYOUT_OPERAND_B);
        Layout c = layout_mma(mma, LAYOUT_OPERAND_C);
        check(&a, mma.m, mma.k, shapes[s].a);
        check(&b, mma.k, mma.n, shapes[s].b);
        check(&c, mma.m, mma.n, shapes[s].c);
    }
    assert_false(matrix_shape_exists((MatrixShape){MATRIX_UNIT_MMA, 16, 8, 32, 16}));
    assert_false(matrix_shape_exists((MatrixShape){MATRIX_UNIT_MMA, 16, 16, 16, 16}));
    assert_false(matrix_shape_exists((MatrixShape){MATRIX_UNIT_MMA, 16, 8, 16, 32}));
}

// Lane l receives of matrix j the elements 2(l % 4) and the next of row l / 4; with .trans of that
// column. Row r of matrix j is where lane 8j + r says.
static void fragments_of_ldmatrix(void **state) {
    (void)state;
    for (uint32_t count = 1; count <= 4; count *= 2) {
        Layout plain = layout_ldmatrix(count, false), trans = layout_ldmatrix(count, true);
        Layout rows = layout_ldmatrix_rows(count);
        assert_true(layout_distributed(&plain) && layout_distributed(&trans));
        assert_int_equal(layout_size(&plain, LAYOUT_REG), 2 * count);
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t c[IR_MAX_RANK];
            for (uint32_t j = 0; j < count; j++) {
                for (uint32_t half = 0; half < 2; half++) {
                    layout_coords(&plain, held(&plain, 2 * j + half, lane, 0), c);
                    assert_true(c[0] == j && c[1] == lane / 4 && c[2] == lane % 4 * 2 + half);
                    layout_coords(&trans, held(&trans, 2 * j + half, lane, 0), c);
                    assert_true(c[0] == j && c[2] == lane / 4 && c[1] == lane % 4 * 2 + half);
                }
            }
            assert_int_equal(held(&rows, 0, lane, 0), lane % (8 * count));
        }
    }
    // Four matrices, two by two down then across, are an A operand of m16n8k16.
    Layout four = layout_ldmatrix(4, false);
    Layout blocks = layout_reshape(&four, 4, (uint32_t[]){2, 2, 8, 8});
    Layout turned = layout_permute(&blocks, (uint32_t[]){1, 2, 0, 3});
    Layout whole = layout_reshape(&turned, 2, (uint32_t[]){16, 16});
    Layout a = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_A);
    assert_true(layout_equal(&whole, &a));
}

// Warp w has rows 16w and up; element i is in row 8 * (i / 2 % 2) and column 8 * (i / 4), added to
// the row and column of mma.
static void fragments_of_wgmma(void **state) {
    (void)state;
    for (uint32_t n = 8; n <= 256; n *= 2) {
        Layout l = layout_wgmma(n);
        assert_true(layout_distributed(&l));
        assert_int_equal(layout_size(&l, LAYOUT_REG), n / 2);
        for (uint32_t warp = 0; warp < 4; warp++) {
            for (uint32_t lane = 0; lane < 32; lane++) {
                for (uint32_t i = 0; i < n / 2; i++) {
                    uint32_t row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
                    uint32_t column = 8 * (i / 4) + lane % 4 * 2 + i % 2;
                    assert_int_equal(held(&l, i, lane, warp), row * n + column);
                }
            }
        }
    }
    for (uint32_t bits = 8; bits <= 32; bits *= 2) {
        Layout a = layout_wgmma_a(bits);
        uint32_t k = 256 / bits;
        Layout one = bits == 32 ? layout_mma((LayoutMma){16, 8, k, 32}, LAYOUT_OPERAND_A)
                                : layout_mma((LayoutMma){16, 8, k, bits}, LAYOUT_OPERAND_A);
        for (uint32_t input = 0; input < 1u << a.bits; input++) {
            LayoutPoint at = layout_point(&a, input);
            assert_int_equal(
                layout_apply(&a, at),
                at.at[LAYOUT_WARP] * 16 * k + held(&one, at.at[LAYOUT_REG], at.at[LAYOUT_LANE], 0));
        }
    }
}

// ---- memory that wgmma reads

// The swizzle of address bits, from the table of the PTX ISA.
static uint32_t swizzled(uint32_t address, uint32_t width) {
    uint32_t mask = width == 128 ? 0x70 : width == 64 ? 0x30 : 0x10;
    return address ^ (address >> 3 & mask);
}

// TMA writes columns of up to 128 bytes, each row by row.
static uint32_t place_in_box(uint32_t rows, uint32_t columns, uint32_t bytes, uint32_t row,
                             uint32_t column) {
    uint32_t width = columns * bytes > 128 ? 128 : columns * bytes, per = width / bytes;
    uint32_t at = column / per * rows * width + row * width + column % per * bytes;
    return swizzled(at, width);
}

static void boxes_are_as_tma_writes_them(void **state) {
    (void)state;
    for (uint32_t bytes = 1; bytes <= 4; bytes *= 2)
        for (uint32_t rows = 4; rows <= 256; rows *= 2)
            for (uint32_t columns = 8; columns <= 256; columns *= 2) {
                Layout box;
                bool fits = layout_box(2, (uint32_t[]){rows, columns}, 8 * bytes, &box);
                assert_int_equal(fits, rows >= 8 && columns * bytes >= 32);
                for (uint32_t e = 0; fits && e < rows * columns; e++) {
                    uint32_t at =
                        place_in_box(rows, columns, bytes, e / columns, e % columns) / bytes;
                    assert_int_equal(layout_apply_input(&box, at), e);
                }
            }
}

// Every element of a factor is where the instruction reads it, whatever part of the tile it takes.
static void check_reads(const Layout *memory, LayoutOperand operand, uint32_t side, uint32_t bits,
                        bool along) {
    LayoutDescriptor d;
    uint32_t inverse[LAYOUT_MAX_TILE_BITS], bytes = bits / 8, depth = 256 / bits;
    bool a = operand == LAYOUT_OPERAND_A;
    assert_true(layout_descriptor(memory, operand, side, bits, &d));
    assert_int_equal(d.transposed, !along);
    assert_true(layout_invert(memory, inverse));
    uint32_t long_side = layout_extent(memory, a ? 0 : 1),
             k_side = layout_extent(memory, a ? 1 : 0);
    for (uint32_t i0 = 0; i0 < long_side; i0 += side)
        for (uint32_t k0 = 0; k0 < k_side; k0 += depth) {
            uint32_t start = 0;
            for (uint32_t i = i0; i < i0 + side; i++)
                for (uint32_t k = k0; k < k0 + depth; k++) {
                    uint32_t coords[2] = {a ? i : k, a ? k : i}, place = 0;
                    uint32_t e = layout_element(memory, coords);
                    for (uint32_t bit = 0; e >> bit; bit++)
                        if (e >> bit & 1) place ^= inverse[bit];
                    if (i == i0 && k == k0) start = place * bytes;
                    assert_int_equal(layout_descriptor_at(&d, start, i - i0, k - k0, bits),
                                     place * bytes);
                }
        }
}

static void descriptors_find_every_element(void **state) {
    (void)state;
    for (uint32_t bits = 8; bits <= 32; bits *= 2)
        for (uint32_t side = 16; side <= 256; side *= 2)
            for (uint32_t k = 256 / bits; k <= 128; k *= 2)
                for (uint32_t more = 1; more <= 2; more++) {
                    uint32_t n = side * more;
                    Layout box, turned;
                    if (n > 256) continue;
                    assert_true(layout_box(2, (uint32_t[]){n, k}, bits, &box));
                    turned = layout_permute(&box, (uint32_t[]){1, 0});
                    check_reads(&box, LAYOUT_OPERAND_A, side, bits, true);
                    check_reads(&turned, LAYOUT_OPERAND_B, side, bits, true);
                    LayoutDescriptor d;
                    if (!layout_box(2, (uint32_t[]){k, n}, bits, &box)) continue;
                    turned = layout_permute(&box, (uint32_t[]){1, 0});
                    if (bits == 16) {  // others must have K along the neighbours
                        check_reads(&turned, LAYOUT_OPERAND_A, side, bits, false);
                        check_reads(&box, LAYOUT_OPERAND_B, side, bits, false);
                    } else {
                        assert_false(layout_descriptor(&box, LAYOUT_OPERAND_B, side, bits, &d));
                    }
                }
}

static void other_memories_have_no_descriptor(void **state) {
    (void)state;
    LayoutDescriptor d;
    uint32_t shape[] = {64, 64};
    Layout plain = layout_plain(2, shape, NULL);
    Layout other = layout_swizzled(2, shape, NULL, 8, 2, 8);
    assert_false(layout_descriptor(&plain, LAYOUT_OPERAND_A, 64, 16, &d));
    assert_false(layout_descriptor(&other, LAYOUT_OPERAND_A, 64, 16, &d));
    Layout box;
    assert_true(layout_box(2, shape, 16, &box));
    assert_false(layout_descriptor(&box, LAYOUT_OPERAND_A, 128, 16, &d));  // more rows than it has
    Layout thin;
    assert_true(layout_box(2, (uint32_t[]){8, 64}, 16, &thin));
    assert_false(layout_descriptor(&thin, LAYOUT_OPERAND_B, 64, 16, &d));  // less of K
}

// A tile's accumulator: the place of each element, computed by plain arithmetic.
static void an_instruction_over_a_tile(void **state) {
    (void)state;
    Layout one = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_C);
    int8_t warps[] = {0, 0, 1};
    Layout l = layout_tile(&one, (uint32_t[]){128, 64}, 3, warps, NULL, NULL);
    assert_true(layout_distributed(&l));
    assert_int_equal(layout_size(&l, LAYOUT_REG), 32);
    for (uint32_t warp = 0; warp < 8; warp++) {
        for (uint32_t lane = 0; lane < 32; lane++) {
            for (uint32_t r = 0; r < 32; r++) {
                Place in = c_m16n8(lane, r % 4);
                uint32_t across = r / 4 % 4, down = r / 16;  // columns repeat first
                uint32_t row = in.row + 16 * (warp % 4) + 64 * down;
                uint32_t column = in.column + 8 * (warp / 4) + 16 * across;
                assert_int_equal(held(&l, r, lane, warp), row * 64 + column);
            }
        }
    }
    // Two instructions side by side in a warp, then the warps, rows repeating first.
    l = layout_tile(&one, (uint32_t[]){128, 64}, 3, warps, (uint32_t[]){1, 2}, (uint8_t[]){0, 1});
    for (uint32_t warp = 0; warp < 8; warp++) {
        for (uint32_t lane = 0; lane < 32; lane++) {
            for (uint32_t r = 0; r < 32; r++) {
                Place in = c_m16n8(lane, r % 4);
                uint32_t row = in.row + 16 * (warp % 4) + 64 * (r / 8 % 2);
                uint32_t column = in.column + 8 * (r / 4 % 2) + 16 * (warp / 4) + 32 * (r / 16);
                assert_int_equal(held(&l, r, lane, warp), row * 64 + column);
            }
        }
    }
}

// The operands of a warp's instructions are the rows and columns of its accumulator.
static void operands_follow_the_accumulator(void **state) {
    (void)state;
    LayoutMma mma = {16, 8, 16, 16};
    Layout a1 = layout_mma(mma, LAYOUT_OPERAND_A), b1 = layout_mma(mma, LAYOUT_OPERAND_B);
    Layout c1 = layout_mma(mma, LAYOUT_OPERAND_C);
    Layout c = layout_tile(&c1, (uint32_t[]){64, 32}, 2, (int8_t[]){0, 1}, NULL, NULL);
    Layout a = layout_tile(&a1, (uint32_t[]){64, 32}, 2, (int8_t[]){0, -1}, NULL, NULL);
    Layout b = layout_tile(&b1, (uint32_t[]){32, 32}, 2, (int8_t[]){-1, 1}, NULL, NULL);
    for (uint32_t warp = 0; warp < 4; warp++) {
        bool rows_c[64] = {0}, rows_a[64] = {0}, columns_c[32] = {0}, columns_b[32] = {0};
        for (uint32_t input = 0; input < 1u << 5; input++) {
            for (uint32_t r = 0; r < layout_size(&c, LAYOUT_REG); r++) {
                uint32_t e = held(&c, r, input, warp);
                rows_c[e / 32] = columns_c[e % 32] = true;
            }
            for (uint32_t r = 0; r < layout_size(&a, LAYOUT_REG); r++) {
                rows_a[held(&a, r, input, warp) / 32] = true;
            }
            for (uint32_t r = 0; r < layout_size(&b, LAYOUT_REG); r++) {
                columns_b[held(&b, r, input, warp) % 32] = true;
            }
        }
        assert_memory_equal(rows_a, rows_c, sizeof rows_a);
        assert_memory_equal(columns_b, columns_c, sizeof columns_b);
    }
}

// A tile smaller than the instruction: what is past its end is held again.
static void short_tiles_replicate(void **state) {
    (void)state;
    Layout one = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_C);
    Layout l = layout_tile(&one, (uint32_t[]){8, 8}, 1, (int8_t[]){0}, NULL, NULL);
    assert_true(layout_surjective(&l));
    assert_int_equal(layout_size(&l, LAYOUT_REG), 4);
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t r = 0; r < 4; r++) {
            Place in = c_m16n8(lane, r);
            assert_int_equal(held(&l, r, lane, 1), in.row % 8 * 8 + in.column);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_of_mma),
        cmocka_unit_test(fragments_of_ldmatrix),
        cmocka_unit_test(fragments_of_wgmma),
        cmocka_unit_test(boxes_are_as_tma_writes_them),
        cmocka_unit_test(descriptors_find_every_element),
        cmocka_unit_test(other_memories_have_no_descriptor),
        cmocka_unit_test(an_instruction_over_a_tile),
        cmocka_unit_test(operands_follow_the_accumulator),
        cmocka_unit_test(short_tiles_replicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
