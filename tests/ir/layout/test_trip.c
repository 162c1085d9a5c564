// Trips through shared memory: the swizzle found holds every element once, serves both sides, and
// is free of conflicts, over shapes, element sizes, warps and machines.
#include "tests/ir/layout/support.h"

// Wavefronts of a warp's access counted over its lanes; the memory's word of each lane and element.
static uint32_t counted(const Layout *l, const Layout *memory, uint32_t vector, uint32_t bits,
                        const SharedBanks *banks, bool store, uint32_t reg) {
    uint32_t bytes = vector * bits / 8, lanes = layout_size(l, LAYOUT_LANE), total = 0;
    const SharedPhase *phase = &(store ? banks->store : banks->load)[bytes <= 4   ? 0
                                                                     : bytes <= 8 ? 1
                                                                                  : 2];
    LayoutMap map;
    assert_true(layout_map_between(l, memory, &map));
    bool served[64] = {0};
    for (uint32_t first = 0; first < lanes; first++) {
        if (served[first]) continue;
        static bool asked[64][1 << 10];
        memset(asked, 0, sizeof asked);
        for (uint32_t k = 0; k < 1u << phase->count; k++) {
            uint32_t lane = first;
            for (uint32_t i = 0; i < phase->count; i++) {
                if (k >> i & 1) lane ^= phase->lanes[i];
            }
            served[lane] = true;
            uint32_t at =
                layout_map_apply(&map, layout_input(l, layout_at(reg, lane, 0))) & ~(vector - 1);
            for (uint32_t v = 0; v < vector; v++) {
                uint32_t word = (at + v) * bits / 32;
                asked[word % banks->banks][word / banks->banks] = true;
            }
        }
        uint32_t worst = 0;
        for (uint32_t b = 0; b < banks->banks; b++) {
            uint32_t words = 0;
            for (uint32_t w = 0; w < 1 << 10; w++) words += asked[b][w];
            worst = words > worst ? words : worst;
        }
        total += worst;
    }
    return total;
}

// A lane holds the whole of each vector that it moves.
static void holds_vectors(const Layout *l, const Layout *memory, uint32_t vector) {
    assert_true(layout_shared_vector(l, memory, 8, vector) >= vector);
    // In the same order in all lanes and warps.
    LayoutMap map;
    assert_true(layout_map_between(l, memory, &map));
    for (uint32_t i = l->dim_bits[LAYOUT_REG]; i < l->bits; i++) {
        assert_int_equal(map.bases[i] & (vector - 1), 0);
    }
}

static LayoutTrip check_plain(const Layout *store, const Layout *load, uint32_t bits,
                              const SharedBanks *banks) {
    LayoutTrip trip;
    LayoutSide from = {.layout = store}, to = {.layout = load};
    assert_true(layout_trip(&from, &to, bits, banks, &trip));
    assert_true(layout_same_shape(&trip.memory, store));
    assert_int_equal(trip.memory.bits, store->tile_bits);
    assert_true(layout_surjective(&trip.memory) && layout_injective(&trip.memory));
    assert_true(trip.store_vector * bits <= 128 && trip.load_vector * bits <= 128);
    holds_vectors(store, &trip.memory, trip.store_vector);
    holds_vectors(load, &trip.memory, trip.load_vector);
    assert_int_equal(trip.store.wavefronts, trip.store.phases);
    assert_int_equal(trip.load.wavefronts, trip.load.phases);
    assert_int_equal(counted(store, &trip.memory, trip.store_vector, bits, banks, true, 0),
                     trip.store.wavefronts);
    assert_int_equal(counted(load, &trip.memory, trip.load_vector, bits, banks, false, 0),
                     trip.load.wavefronts);
    return trip;
}

static Layout blocked(const uint32_t *shape, uint32_t fast, uint32_t elements, uint32_t lanes,
                      uint32_t warp_lanes, uint32_t warps) {
    LayoutBlocked b = {.rank = 2, .shape = {shape[0], shape[1]}};
    uint32_t slow = 1 - fast;
    b.elements[fast] = elements;
    b.elements[slow] = 1;
    b.lanes[fast] = lanes;
    b.lanes[slow] = warp_lanes / lanes;
    b.warps[fast] = 1;
    b.warps[slow] = warps;
    b.order[0] = (uint8_t)fast;
    b.order[1] = (uint8_t)slow;
    return layout_blocked(&b);
}

// Rows in, columns out: every size, every element, both vendors.
static void transposes(void **state) {
    (void)state;
    const struct {
        const SharedBanks *banks;
        uint32_t lanes;
    } machines[] = {{&banks_nvidia, 32}, {&banks_gfx9, 64}, {&banks_gfx950, 64}, {&banks_rdna, 32}};
    for (uint32_t m = 0; m < 4; m++) {
        for (uint32_t rows = 16; rows <= 128; rows *= 2) {
            for (uint32_t columns = 16; columns <= 128; columns *= 2) {
                for (uint32_t bits = 8; bits <= 64; bits *= 2) {
                    for (uint32_t warps = 1; warps <= 8; warps *= 8) {
                        uint32_t shape[] = {rows, columns}, vector = 128 / bits;
                        uint32_t across = columns / vector, down = rows / vector;
                        uint32_t lanes = machines[m].lanes;
                        across = across < lanes ? across : lanes;
                        down = down < lanes ? down : lanes;
                        Layout store = blocked(shape, 1, vector, across ? across : 1, lanes, warps);
                        Layout load = blocked(shape, 0, vector, down ? down : 1, lanes, warps);
                        check_plain(&store, &load, bits, machines[m].banks);
                        check_plain(&store, &store, bits, machines[m].banks);
                    }
                }
            }
        }
    }
}

static void the_widest_vector_is_used(void **state) {
    (void)state;
    uint32_t shape[] = {64, 64};
    Layout rows = blocked(shape, 1, 8, 8, 32, 4);
    Layout c1 = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_C);
    Layout c = layout_tile(&c1, shape, 2, (int8_t[]){0, 0}, NULL, NULL);
    LayoutTrip trip = check_plain(&c, &rows, 16, &banks_nvidia);
    assert_int_equal(trip.store_vector, 2);  // an accumulator has pairs
    assert_int_equal(trip.load_vector, 8);   // 16 bytes
    trip = check_plain(&rows, &rows, 16, &banks_nvidia);
    assert_true(trip.store_vector == 8 && trip.load_vector == 8);
    assert_int_equal(trip.load.wavefronts, 4);
    // The caller says how many bytes a side may move at once.
    LayoutSide narrow = {.layout = &rows, .max_bytes = 4}, wide = {.layout = &rows};
    assert_true(layout_trip(&narrow, &wide, 16, &banks_nvidia, &trip));
    assert_int_equal(trip.store_vector, 2);
    assert_int_equal(trip.store.wavefronts, 1);
    assert_int_equal(trip.load.wavefronts, trip.load.phases);
}

// Copies cannot be narrower than what they bring: a factor of 32 bits that is stored by rows of 16
// bytes is read word by word, and both without conflicts.
static void no_access_is_narrower(void **state) {
    (void)state;
    Layout b1 = layout_mma((LayoutMma){16, 8, 8, 32}, LAYOUT_OPERAND_B);
    for (uint32_t n = 32; n <= 128; n *= 2) {
        uint32_t shape[] = {32, n};
        Layout in = blocked(shape, 1, 4, n / 4, 32, 4);
        Layout b = layout_tile(&b1, shape, 2, (int8_t[]){-1, 1}, NULL, NULL);
        LayoutSide store = {.layout = &in, .min_bytes = 16};
        LayoutSide load = {.layout = &b, .max_bytes = 4};
        LayoutTrip trip;
        assert_true(layout_trip(&store, &load, 32, &banks_nvidia, &trip));
        assert_int_equal(trip.store_vector, 4);
        assert_int_equal(trip.load_vector, 1);
        assert_int_equal(trip.store.wavefronts, trip.store.phases);
        assert_int_equal(trip.load.wavefronts, 1);
        assert_int_equal(counted(&b, &trip.memory, 1, 32, &banks_nvidia, false, 0), 1);
        // Matrices have their rows along K, a copy along N.
        load = (LayoutSide){.layout = &b, .move = LAYOUT_MOVE_MATRIX};
        assert_false(layout_trip(&store, &load, 32, &banks_nvidia, &trip));
        store.min_bytes = 0;
        assert_true(layout_trip(&store, &load, 32, &banks_nvidia, &trip));
    }
}

// A blocked copy in by 16 bytes, ldmatrix out: the loop of a matrix product.
static void operands_by_ldmatrix(void **state) {
    (void)state;
    for (uint32_t k = 16; k <= 128; k *= 2) {
        for (uint32_t m = 16; m <= 256; m *= 2) {
            LayoutMma mma = {16, 8, 16, 16};
            Layout a1 = layout_mma(mma, LAYOUT_OPERAND_A), b1 = layout_mma(mma, LAYOUT_OPERAND_B);
            uint32_t a_shape[] = {m, k}, b_shape[] = {k, m};
            Layout a = layout_tile(&a1, a_shape, 2, (int8_t[]){0, -1}, NULL, NULL);
            Layout b = layout_tile(&b1, b_shape, 2, (int8_t[]){-1, 1}, NULL, NULL);
            uint32_t a_lanes = k / 8 < 32 ? k / 8 : 32, b_lanes = m / 8 < 32 ? m / 8 : 32;
            Layout a_in = blocked(a_shape, 1, 8, a_lanes, 32, 4);
            Layout b_in = blocked(b_shape, 1, 8, b_lanes, 32, 4);
            LayoutTrip trip;
            LayoutSide store = {.layout = &a_in};
            LayoutSide load = {.layout = &a, .move = LAYOUT_MOVE_MATRIX};
            assert_true(layout_trip(&store, &load, 16, &banks_nvidia, &trip));
            assert_int_equal(trip.store_vector, 8);
            assert_int_equal(trip.store.wavefronts, trip.store.phases);
            assert_int_equal(trip.load.phases, 4);
            assert_int_equal(trip.load.wavefronts, 4);
            assert_int_equal(counted(&a_in, &trip.memory, 8, 16, &banks_nvidia, true, 0), 4);
            LayoutMatrix matrix;
            assert_true(layout_matrix(&a, &trip.memory, 16, false, 4, &matrix));
            // B as it is in memory, K down: .trans.
            store.layout = &b_in;
            load = (LayoutSide){.layout = &b, .move = LAYOUT_MOVE_TRANSPOSED};
            assert_true(layout_trip(&store, &load, 16, &banks_nvidia, &trip));
            assert_int_equal(trip.store_vector, 8);
            assert_int_equal(trip.store.wavefronts, trip.store.phases);
            assert_int_equal(trip.load.wavefronts, trip.load.phases);
            assert_true(layout_matrix(&b, &trip.memory, 16, true, 4, &matrix));
            // Without .trans there are no rows of 16 bytes.
            load.move = LAYOUT_MOVE_MATRIX;
            bool found = layout_trip(&store, &load, 16, &banks_nvidia, &trip);
            if (found) assert_true(trip.store_vector < 8);
        }
    }
}

// stmatrix of an accumulator, then rows of 16 bytes out to global memory.
static void results_by_stmatrix(void **state) {
    (void)state;
    uint32_t shape[] = {64, 128};
    Layout c = layout_wgmma(128), rows = blocked(shape, 1, 8, 16, 32, 4);
    LayoutSide store = {.layout = &c, .move = LAYOUT_MOVE_MATRIX}, load = {.layout = &rows};
    LayoutTrip trip;
    assert_true(layout_trip(&store, &load, 16, &banks_nvidia, &trip));
    assert_int_equal(trip.load_vector, 8);
    assert_int_equal(trip.store.wavefronts, 4);
    assert_int_equal(trip.load.wavefronts, 4);
    // And from one accumulator to another, both by matrices.
    Layout same = layout_wgmma(128);
    load = (LayoutSide){.layout = &same, .move = LAYOUT_MOVE_MATRIX};
    assert_true(layout_trip(&store, &load, 16, &banks_nvidia, &trip));
    assert_int_equal(trip.load.wavefronts, 4);
    load.move = LAYOUT_MOVE_TRANSPOSED;
    assert_false(layout_trip(&store, &load, 16, &banks_nvidia, &trip));
    // 64-bit elements are not for matrices; nor are other shapes.
    load.move = LAYOUT_MOVE_MATRIX;
    assert_false(layout_trip(&store, &load, 64, &banks_nvidia, &trip));
    Layout other = layout_wgmma(64);
    load.layout = &other;
    assert_false(layout_trip(&store, &load, 16, &banks_nvidia, &trip));
}

// Random layouts: whatever both sides are, there is a memory without conflicts.
static void anything_to_anything(void **state) {
    (void)state;
    Dice dice = dice_roll(1);
    for (int t = 0; t < 3000; t++) {
        uint32_t shape[] = {1u << any_below(&dice, 6), 1u << any_below(&dice, 7)};
        uint32_t bits = 8u << any_below(&dice, 4);
        bool amd = t % 4 == 0;
        uint32_t lanes = amd ? 6 : 5;
        Layout store = any_cover(&dice, 2, shape, 5 + any_below(&dice, 2), lanes, 2);
        Layout load = t % 2 ? any_cover(&dice, 2, shape, 5, lanes, 3)
                            : any_mixed(&dice, 2, shape, 5, lanes, 3);
        check_plain(&store, &load, bits, amd ? &banks_gfx9 : &banks_nvidia);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transposes),
        cmocka_unit_test(the_widest_vector_is_used),
        cmocka_unit_test(no_access_is_narrower),
        cmocka_unit_test(operands_by_ldmatrix),
        cmocka_unit_test(results_by_stmatrix),
        cmocka_unit_test(anything_to_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
