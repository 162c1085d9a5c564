// The cost of accesses, against counting address by address.
#include "tests/ir/layout/support.h"

// The longest run of elements along an axis that every lane holds from each aligned position of its
// own.
static uint32_t counted_contiguity(const Layout *l, uint32_t axis) {
    uint32_t best = 1;
    for (uint32_t run = 2; run <= layout_extent(l, axis); run *= 2) {
        for (uint32_t reg = 0; reg < layout_size(l, LAYOUT_REG); reg++) {
            uint32_t c[IR_MAX_RANK];
            layout_coords(l, held(l, reg, 1, 0), c);
            uint32_t first = c[axis] & ~(run - 1);
            for (uint32_t i = 0; i < run; i++) {
                c[axis] = first + i;
                bool found = false;
                for (uint32_t r = 0; r < layout_size(l, LAYOUT_REG) && !found; r++) {
                    found = held(l, r, 1, 0) == layout_element(l, c);
                }
                if (!found) return best;
            }
        }
        best = run;
    }
    return best;
}

static void contiguity(void **state) {
    (void)state;
    Dice dice = dice_roll(1);
    uint32_t seen = 0;
    for (int t = 0; t < 1000; t++) {
        uint32_t shape[] = {8, 16};
        Layout l =
            t % 2 ? any_cover(&dice, 2, shape, 5, 1, 1) : any_mixed(&dice, 2, shape, 5, 1, 1);
        for (uint32_t axis = 0; axis < 2; axis++) {
            uint32_t run = layout_contiguity(&l, axis);
            assert_int_equal(run, counted_contiguity(&l, axis));
            seen |= run;
            uint32_t registers[5];
            assert_true(layout_run_registers(&l, axis, run, registers));
            assert_false(layout_run_registers(&l, axis, run * 2, registers));
            assert_true(layout_run_registers(&l, axis, run, registers));
            for (uint32_t i = 0; i < run; i++) {
                uint32_t distance = 0, c[IR_MAX_RANK] = {0};
                for (uint32_t b = 0; b < 5; b++) {
                    if (i >> b & 1) distance ^= registers[b];
                }
                c[axis] = i;
                assert_int_equal(held(&l, distance, 0, 0), layout_element(&l, c));
            }
        }
    }
    assert_true((seen & 15) == 15);  // runs of 1, 2, 4 and 8 all occurred
}

static void width_of_global_accesses(void **state) {
    (void)state;
    Layout l = layout_blocked(&(LayoutBlocked){.rank = 2,
                                               .shape = {32, 128},
                                               .elements = {1, 8},
                                               .lanes = {2, 16},
                                               .warps = {4, 1},
                                               .order = {1, 0}});
    static const struct {
        LayoutMemory memory;
        uint32_t vector;
    } cases[] = {
        {{2, 1, 16, 8, 0, 16}, 8},  // everything known: 16 bytes
        {{2, 1, 256, 0, 64, 16}, 8},
        {{2, 1, 8, 8, 0, 16}, 4},   // the base is a multiple of 8 bytes only
        {{2, 1, 16, 2, 0, 16}, 2},  // rows begin at multiples of 2 elements
        {{2, 1, 16, 8, 4, 16}, 4},  // the view ends at a multiple of 4
        {{2, 1, 16, 8, 5, 16}, 1},
        {{2, 1, 0, 8, 0, 16}, 1},  // nothing known
        {{4, 1, 16, 8, 0, 16}, 4},
        {{1, 1, 16, 8, 0, 16}, 8},  // as far as the lane's run goes
        {{4, 1, 32, 8, 0, 32}, 8},  // 32-byte accesses
        {{8, 1, 16, 8, 0, 16}, 2},
        {{2, 0, 16, 8, 0, 16}, 1},    // the other axis is the fast one
        {{2, 1, 48, 24, 40, 16}, 8},  // powers of two in them count
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(layout_vector(&l, &cases[i].memory), cases[i].vector);
    }
}

static void sectors_of_an_access(void **state) {
    (void)state;
    // A row of 32 lanes by 8 16-bit elements: 512 bytes.
    Layout l = layout_blocked(&(LayoutBlocked){.rank = 2,
                                               .shape = {8, 256},
                                               .elements = {1, 8},
                                               .lanes = {1, 32},
                                               .warps = {4, 1},
                                               .order = {1, 0}});
    int64_t strides[] = {256 * 2, 2};
    assert_int_equal(layout_sectors(&l, 0, 0, 8, 1, 2, 0, strides), 16);
    assert_int_equal(layout_sectors(&l, 7, 3, 8, 1, 2, 0, strides), 16);
    assert_int_equal(layout_sectors(&l, 0, 0, 8, 1, 2, 16, strides), 17);
    assert_int_equal(layout_sectors(&l, 0, 0, 8, 1, 2, -16, strides), 17);
    assert_int_equal(layout_sectors(&l, 0, 0, 1, 1, 2, 0, strides), 16);
    // Down a column of a wide matrix: a sector for each.
    Layout down = layout_identity(LAYOUT_LANE, 2, (uint32_t[]){32, 1});
    assert_int_equal(layout_sectors(&down, 0, 0, 1, 1, 4, 0, (int64_t[]){4096, 4}), 32);
    assert_int_equal(layout_sectors(&down, 0, 0, 1, 1, 4, 0, (int64_t[]){-4096, 4}), 32);
    assert_int_equal(layout_sectors(&down, 0, 0, 1, 1, 4, 0, (int64_t[]){0, 4}), 1);
    assert_int_equal(layout_sectors(&down, 0, 0, 1, 1, 4, 0, (int64_t[]){8, 4}), 8);
}

// ---- bank conflicts

// Words asked of each bank by the lanes of a phase, counted; phases by the rule's lane groups as
// lists, not as spans.
static uint32_t counted_wavefronts(const Layout *l, const Layout *shared, uint32_t vector,
                                   uint32_t bits, uint32_t banks, const uint8_t *groups,
                                   uint32_t group_size, uint32_t reg, uint32_t warp) {
    LayoutMap map;
    assert_true(layout_map_between(l, shared, &map));
    uint32_t lanes = layout_size(l, LAYOUT_LANE), total = 0;
    for (uint32_t g = 0; g < lanes / group_size; g++) {
        static bool asked[64][1 << 8];
        memset(asked, 0, sizeof asked);
        for (uint32_t i = 0; i < group_size; i++) {
            uint32_t lane = groups[g * group_size + i];
            uint32_t first =
                layout_map_apply(&map, layout_input(l, layout_at(reg, lane, warp))) & ~(vector - 1);
            for (uint32_t v = 0; v < vector; v++) {
                uint32_t word = (first + v) * bits / 32;
                assert_true(word / banks < 1 << 8);
                asked[word % banks][word / banks] = true;
            }
        }
        uint32_t worst = 0;
        for (uint32_t b = 0; b < banks; b++) {
            uint32_t words = 0;
            for (uint32_t w = 0; w < 1 << 8; w++) words += asked[b][w];
            if (words > worst) worst = words;
        }
        total += worst;
    }
    return total;
}

// Vectors of the memory that a lane holds whole: the lowest offset bits are registers' bases.
static Layout vectored(Dice *dice, const Layout *shared, uint32_t vector, uint32_t lane_bits) {
    uint32_t shape[IR_MAX_RANK], free[LAYOUT_MAX_TILE_BITS], count = 0;
    layout_shape(shared, shape);
    Layout l = layout_empty(shared->rank, shape);
    for (uint32_t i = 0; i < shared->bits; i++) {
        if (UINT32_C(1) << i < vector) {
            layout_add(&l, LAYOUT_REG, shared->bases[i]);
        } else {
            free[count++] = shared->bases[i];
        }
    }
    for (uint32_t i = 0; i < lane_bits; i++) {
        uint32_t basis = 0;
        for (uint32_t j = 0; j < count; j++) {
            if (dice_chance(dice, 100 / count + 5)) basis ^= free[j];
        }
        layout_add(&l, LAYOUT_LANE, basis);
    }
    layout_add(&l, LAYOUT_REG, free[any_below(dice, count)]);
    layout_add(&l, LAYOUT_WARP, free[any_below(dice, count)]);
    return l;
}

// The lanes of each phase, phase by phase, for the rules that serve them in order.
static void in_order(uint8_t *groups) {
    for (uint32_t i = 0; i < 64; i++) groups[i] = (uint8_t)i;
}

static void check_conflicts(Dice *dice, const SharedBanks *rule, uint32_t banks, uint32_t lane_bits,
                            bool store, uint32_t width, const uint8_t *groups,
                            uint32_t group_size) {
    uint32_t worst = 0, best = UINT32_MAX;
    for (int t = 0; t < 100; t++) {
        uint32_t bits = 8u << any_below(dice, 4);
        uint32_t vector = width * 8 / bits;
        if (vector == 0 || width * 8 < bits) continue;
        Layout shared = layout_identity(LAYOUT_OFFSET, 2, (uint32_t[]){32, 64});
        for (uint32_t i = 0; i < 6; i++) {
            shared.bases[6 + any_below(dice, 5)] ^= shared.bases[any_below(dice, 6)];
        }
        Layout l = vectored(dice, &shared, vector, lane_bits);
        LayoutConflicts c = layout_conflicts(&l, &shared, vector, bits, rule, store);
        assert_int_equal(c.phases, (1u << lane_bits) / group_size);
        for (uint32_t reg = 0; reg < layout_size(&l, LAYOUT_REG); reg += vector) {
            for (uint32_t warp = 0; warp < 2; warp++) {
                uint32_t counted = counted_wavefronts(&l, &shared, vector, bits, banks, groups,
                                                      group_size, reg, warp);
                assert_int_equal(c.wavefronts, counted);
            }
        }
        if (c.wavefronts / c.phases > worst) worst = c.wavefronts / c.phases;
        if (c.wavefronts / c.phases < best) best = c.wavefronts / c.phases;
        assert_true(layout_shared_vector(&l, &shared, bits, 16) >= vector);
    }
    assert_true(best == 1 && worst >= 4);
}

static void bank_conflicts(void **state) {
    (void)state;
    Dice dice = dice_roll(2);
    uint8_t groups[64];
    in_order(groups);
    for (uint32_t store = 0; store < 2; store++) {
        check_conflicts(&dice, &banks_nvidia, 32, 5, store, 4, groups, 32);
        check_conflicts(&dice, &banks_nvidia, 32, 5, store, 8, groups, 16);
        check_conflicts(&dice, &banks_nvidia, 32, 5, store, 16, groups, 8);
        check_conflicts(&dice, &banks_rdna, 32, 5, store, 16, groups, 8);
        check_conflicts(&dice, &banks_gfx9, 32, 6, store, 4, groups, 32);
        check_conflicts(&dice, &banks_gfx9, 32, 6, store, 8, groups, 16);
    }
    check_conflicts(&dice, &banks_gfx9, 32, 6, true, 16, groups, 8);
    check_conflicts(&dice, &banks_gfx950, 64, 6, true, 16, groups, 16);
    // 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27; the upper lanes likewise.
    static const uint8_t gfx9[] = {0, 20, 4, 16, 8, 28, 12, 24};
    for (uint32_t i = 0; i < 64; i++) groups[i] = (uint8_t)(gfx9[i / 4 % 8] + i % 4 + i / 32 * 32);
    check_conflicts(&dice, &banks_gfx9, 32, 6, false, 16, groups, 8);
    // 0-3, 12-15, 20-27; the rest of a half.
    static const uint8_t gfx950[] = {0, 12, 20, 24, 4, 8, 16, 28};
    for (uint32_t i = 0; i < 64; i++) {
        groups[i] = (uint8_t)(gfx950[i / 4 % 8] + i % 4 + i / 32 * 32);
    }
    check_conflicts(&dice, &banks_gfx950, 64, 6, false, 16, groups, 16);
}

// The well-known cases.
static void conflicts_by_hand(void **state) {
    (void)state;
    Layout row = layout_identity(LAYOUT_LANE, 2, (uint32_t[]){1, 32});
    Layout memory = layout_plain(2, (uint32_t[]){1, 32}, NULL);
    LayoutConflicts c = layout_conflicts(&row, &memory, 1, 32, &banks_nvidia, false);
    assert_true(c.phases == 1 && c.wavefronts == 1);
    // A column of a 32 by 32 matrix of words: all in one bank. With a swizzle: none.
    Layout column = layout_zeros(LAYOUT_REG, 0, 2, (uint32_t[]){32, 32});
    layout_add_steps(&column, LAYOUT_LANE, 0, 1, 32);
    layout_add_steps(&column, LAYOUT_REG, 1, 1, 32);
    memory = layout_plain(2, (uint32_t[]){32, 32}, NULL);
    c = layout_conflicts(&column, &memory, 1, 32, &banks_nvidia, false);
    assert_int_equal(c.wavefronts, 32);
    memory = layout_swizzled(2, (uint32_t[]){32, 32}, NULL, 1, 1, 32);
    c = layout_conflicts(&column, &memory, 1, 32, &banks_nvidia, false);
    assert_int_equal(c.wavefronts, 1);
    // Bytes: four lanes share a word.
    Layout bytes = layout_identity(LAYOUT_LANE, 1, (uint32_t[]){32});
    memory = layout_plain(1, (uint32_t[]){32}, NULL);
    c = layout_conflicts(&bytes, &memory, 1, 8, &banks_nvidia, true);
    assert_int_equal(c.wavefronts, 1);
}

// Element (r, c) stands at r * columns + (c ^ phase * vec).
static void swizzled_memory(void **state) {
    (void)state;
    for (uint32_t vec = 1; vec <= 8; vec *= 2) {
        for (uint32_t per = 1; per <= 4; per *= 2) {
            for (uint32_t max = 1; max <= 8; max *= 2) {
                Layout l = layout_swizzled(2, (uint32_t[]){32, 64}, NULL, vec, per, max);
                Layout turned =
                    layout_swizzled(2, (uint32_t[]){64, 32}, (uint8_t[]){0, 1}, vec, per, max);
                assert_true(layout_surjective(&l) && layout_injective(&l));
                for (uint32_t row = 0; row < 32; row++) {
                    for (uint32_t column = 0; column < 64; column++) {
                        uint32_t offset = row * 64 + (column ^ (row / per % max * vec));
                        assert_int_equal(layout_apply_input(&l, offset), row * 64 + column);
                        assert_int_equal(layout_apply_input(&turned, offset), column * 32 + row);
                    }
                }
            }
        }
    }
    Layout deep = layout_swizzled(3, (uint32_t[]){2, 8, 8}, NULL, 1, 1, 8);
    assert_int_equal(layout_apply_input(&deep, 64 + 3 * 8 + 5), 64 + 3 * 8 + (5 ^ 3));
}

// ---- ldmatrix

// Every lane's registers, as the instruction gives them when lane i addresses what the plan says.
static void check_matrix(const Layout *l, const Layout *shared, uint32_t bits, bool transposed,
                         uint32_t count) {
    LayoutMatrix m;
    LayoutMap map;
    assert_true(layout_map_between(l, shared, &map));
    assert_true(layout_matrix(l, shared, bits, transposed, 4, &m));
    assert_int_equal(m.count, count);
    uint32_t per_register = 1u << m.packed, matrix_mask = 0;
    for (uint32_t i = 0; 1u << i < count; i++) matrix_mask |= 1u << m.matrix_bits[i];
    for (uint32_t input = 0; input < 1u << l->bits; input++) {
        LayoutPoint at = layout_point(l, input);
        uint32_t reg = at.at[LAYOUT_REG], lane = at.at[LAYOUT_LANE];
        // The instruction that loads it: its base is what its other registers and the warp add.
        uint32_t base = reg & ~(matrix_mask | (per_register - 1));
        uint32_t start = layout_map_apply(
            &map, layout_input(l, (LayoutPoint){{base, 0, at.at[LAYOUT_WARP], 0, 0}}));
        uint32_t matrix = 0;
        for (uint32_t i = 0; 1u << i < count; i++) {
            matrix |= (reg >> m.matrix_bits[i] & 1) << i;
        }
        uint32_t part = reg % per_register, row = lane / 4, place = lane % 4 * per_register + part;
        if (transposed) {
            row = lane % 4 * 2 + part;
            place = lane / 4;
        }
        uint32_t address = start;
        for (uint32_t i = 0; i < 5; i++) {
            if ((8 * matrix + row) >> i & 1) address ^= m.row_lanes[i];
        }
        assert_int_equal(address % (128 / bits), 0);
        assert_int_equal(address + place, layout_map_apply(&map, input));
    }
    // Eight rows a matrix, counted.
    uint32_t total = 0;
    for (uint32_t matrix = 0; matrix < count; matrix++) {
        uint32_t words[32] = {0}, worst = 0;
        for (uint32_t row = 0; row < 8; row++) {
            uint32_t address = 0;
            for (uint32_t i = 0; i < 5; i++) {
                if ((8 * matrix + row) >> i & 1) address ^= m.row_lanes[i];
            }
            for (uint32_t w = 0; w < 4; w++) words[(address * bits / 32 + w) % 32]++;
        }
        for (uint32_t b = 0; b < 32; b++) worst = words[b] > worst ? words[b] : worst;
        total += worst;
    }
    assert_int_equal(layout_matrix_wavefronts(&m, bits), total);
}

static void matrices_from_memory(void **state) {
    (void)state;
    LayoutMma half = {16, 8, 16, 16}, byte = {16, 8, 32, 8}, word = {16, 8, 8, 32};
    Layout a1 = layout_mma(half, LAYOUT_OPERAND_A), b1 = layout_mma(half, LAYOUT_OPERAND_B);
    Layout a = layout_tile(&a1, (uint32_t[]){64, 64}, 1, (int8_t[]){0}, NULL, NULL);
    Layout b = layout_tile(&b1, (uint32_t[]){64, 64}, 1, (int8_t[]){1}, NULL, NULL);
    Layout plain = layout_plain(2, (uint32_t[]){64, 64}, NULL);
    Layout swizzled = layout_swizzled(2, (uint32_t[]){64, 64}, NULL, 8, 1, 8);
    check_matrix(&a, &plain, 16, false, 4);
    check_matrix(&a, &swizzled, 16, false, 4);
    check_matrix(&b, &swizzled, 16, true, 4);  // K down the memory's rows: .trans
    LayoutMatrix m;
    assert_true(layout_matrix(&a, &plain, 16, false, 4, &m));
    assert_int_equal(layout_matrix_wavefronts(&m, 16), 32);
    assert_true(layout_matrix(&a, &swizzled, 16, false, 4, &m));
    assert_int_equal(layout_matrix_wavefronts(&m, 16), 4);
    assert_true(layout_matrix(&a, &swizzled, 16, false, 2, &m));
    assert_int_equal(m.count, 2);
    assert_false(layout_matrix(&a, &swizzled, 16, true, 4, &m));
    assert_false(layout_matrix(&b, &swizzled, 16, false, 4, &m));
    // A swizzle of less than 16 bytes tears the rows apart.
    Layout torn = layout_swizzled(2, (uint32_t[]){64, 64}, NULL, 4, 1, 8);
    assert_false(layout_matrix(&a, &torn, 16, false, 4, &m));
    Layout a8 = layout_mma(byte, LAYOUT_OPERAND_A), a32 = layout_mma(word, LAYOUT_OPERAND_A);
    Layout tile8 = layout_tile(&a8, (uint32_t[]){32, 64}, 0, NULL, NULL, NULL);
    Layout tile32 = layout_tile(&a32, (uint32_t[]){32, 16}, 0, NULL, NULL, NULL);
    Layout memory8 = layout_swizzled(2, (uint32_t[]){32, 64}, NULL, 16, 2, 4);
    Layout memory32 = layout_swizzled(2, (uint32_t[]){32, 16}, NULL, 4, 2, 4);
    check_matrix(&tile8, &memory8, 8, false, 4);
    check_matrix(&tile32, &memory32, 32, false, 4);
    assert_false(layout_matrix(&tile8, &memory8, 8, true, 4, &m));
    // The smallest: one matrix.
    Layout one = layout_ldmatrix(1, false);
    Layout rows = layout_plain(3, (uint32_t[]){1, 8, 8}, NULL);
    check_matrix(&one, &rows, 16, false, 1);
    Layout pair = layout_ldmatrix(2, true);
    rows = layout_plain(3, (uint32_t[]){2, 8, 8}, NULL);
    check_matrix(&pair, &rows, 16, true, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contiguity),           cmocka_unit_test(width_of_global_accesses),
        cmocka_unit_test(sectors_of_an_access), cmocka_unit_test(bank_conflicts),
        cmocka_unit_test(conflicts_by_hand),    cmocka_unit_test(swizzled_memory),
        cmocka_unit_test(matrices_from_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
